//! Jumps from word to word: what every model of the next source word shares.
//!
//! In: a model that weighs jumps (`Judge`), be it a logistic regression or a network, and a
//! sentence. Out: how likely each untranslated word is to come next, given the last one and what
//! is translated; a feature of the decoder that prunes; figures that say how good the model is.
//! How: the weight of a jump comes from the two words alone (`Matrix`), what is translated around
//! the word jumped to is added to it (`Around`), and `Rater` makes probabilities of them
//! (definitions b).
//! Not: the models, which are in `waw` and `neural`.

mod around;
mod evaluate;
mod feature;
mod kept;
mod matrix;
mod rater;
mod reach;
mod samples;
#[cfg(test)]
mod tests;

pub use around::{Around, BITS};
pub use evaluate::{Compared, Decided, Places, Ranked, evaluate};
pub use feature::{Jumps, Scores};
pub use matrix::{Matrix, Weigh};
pub use rater::{Link, Rater, ln_sigmoid};
pub use reach::{Kept, Reached, reach};
pub use samples::{Sample, Walk, Window};

use crate::corpus::annotated::{Annotation, Sentence};

/// A model that weighs jumps; shared by threads.
pub trait Judge: Send + Sync {
    /// What it looks at besides the words.
    fn needs(&self) -> Annotation;

    /// How far away wrong answers were when it learned.
    fn window(&self) -> Window;

    /// Goes to work on a sentence, which has what is needed.
    fn rater<'a>(&'a self, src: &Sentence<'_>) -> Rater<'a>;
}
