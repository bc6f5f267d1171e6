//! A small network that says which word is translated right after which.
//!
//! In: source sentences, with tags if wanted, and links to their translations. Out: a model of the
//! next word (`jump::Judge`), which the decoder uses as it uses any other.
//! How: gated recurrent units read the sentence in both directions; each word asks for what comes
//! next, each other one answers (definitions b.8). It is trained here, by gradients that are
//! written out, and used here: no framework is needed for either.
//! The same network can learn which of two words comes first instead: then it is a linear-ordering
//! model (`lop::Model`).
//! Cost: see `net` and `train`.
//! Not: words that it has not seen, but for what stands around them; the end of the sentence.
//!
//! The stage reads bottom up: `numbers` multiplies, `shape` says where parameters are, `pack` puts
//! sentences side by side, `encoder` and `net` make weights of words, `train` learns, `model` keeps.

mod dice;
mod encoder;
mod model;
mod net;
mod numbers;
mod pack;
mod shape;
#[cfg(test)]
mod tests;
mod train;
mod vocabulary;

pub(crate) use model::SEAL;
pub use model::{Head, Model, Recipe, VERSION};
pub use net::Said;
pub use shape::{Block, Shape, Sizes};
pub use train::{Lesson, Options, Passed, Trainer, Wish};
pub use vocabulary::Vocabulary;
