//! The word-after-word model: how likely is a source word to be translated right after another?
//!
//! In: annotated source sentences with links to their translations. Out: a model that gives
//! P(next = j | last = i) for any two words; a feature of the decoder, and a guide to what it tries.
//! How: a logistic regression over words, tags and chunks at and between both ends (Bisazza and
//! Federico, 2013; definitions b and c), trained on every decision that translating a bitext takes.
//! Cost: see `train` for learning, `matrix` for use.
//! Not: the optimiser, which is Python's; a model of the sentence's end.
//!
//! The stage reads top to bottom: `prepared` holds a sentence, `samples` and `template`
//! say what is learned from it, `count` and `rows` write it down, `train` learns, `model` keeps
//! what was learned, `matrix` and `feature` use it, `evaluate` puts it to the test.

mod count;
mod evaluate;
mod feature;
mod matrix;
mod model;
mod options;
mod prepared;
mod rows;
mod samples;
mod template;
mod train;

#[cfg(test)]
mod tests;

pub use evaluate::{Compared, Decided, Places, Ranked, evaluate};
pub use feature::{Scores, Waw};
pub use matrix::Matrix;
pub use model::{Model, Recipe, VERSION};
pub use options::{Anchor, Options, Templates, Window};
pub use prepared::Prepared;
pub use samples::{Sample, Walk};
pub use template::{Ends, Firing, Shapes};
pub use train::{Slope, Trainer};
