//! Tags for words: taggers learned from treebanks, and classes learned from plain text.
//!
//! In: sentences with tags and perhaps chunk labels, or plain text. Out: a `Tagger`, immutable
//! and shared by threads, or `Classes`, one class for every word.
//! How: a greedy averaged perceptron over hashed features that need nothing but letters; exchange
//! clustering of a class bigram model (Kneser and Ney, 1993; Martin, Liermann and Ney, 1998).
//! Cost: some fifty thousand words a second to tag, or more; clustering is words · classes · neighbours.
//! Not: tokenisation, morphology, parsing; reading treebanks, which Python does.

mod bigram;
mod exchange;
mod feature;
mod file;
mod form;
mod labeller;
mod learn;
mod tagger;
#[cfg(test)]
mod tests;

pub use exchange::{ClassOptions, ClassSummary, Classes};
pub(crate) use file::SEAL;
pub use tagger::{FitOptions, Layers, Tagger, Treebank, Worker};
