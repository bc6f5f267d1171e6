//! The word-after-word model: how likely is a source word to be translated right after another?
//!
//! In: annotated source sentences with links to their translations. Out: a model that gives
//! P(next = j | last = i) for any two words; a feature of the decoder, and a guide to what it tries.
//! How: a logistic regression over words, tags and chunks at and between both ends (Bisazza and
//! Federico, 2013; definitions b and c), trained on every decision that translating a bitext takes.
//! Cost: see `train` for learning, `matrix` for use.
//! Not: the optimiser, which is Python's; a model of the sentence's end.
//!
//! The stage reads top to bottom: `prepared` holds a sentence, `template` and `around` say what is
//! learned from it, `count` and `rows` write it down (`shard`: in tasks over parts of a text), `objective` and `train` learn, `model` keeps what was
//! learned, `matrix` uses it. What it shares with other models of the next word is in `jump`.

mod around;
mod count;
mod matrix;
mod model;
mod objective;
mod options;
mod prepared;
mod rows;
mod shard;
mod template;
mod train;

#[cfg(test)]
mod tests;

pub use count::BLOCK;
pub(crate) use model::SEAL;
pub use model::{Model, Recipe, VERSION};
pub use options::{Anchor, Objective, Options, Templates};
pub use prepared::Prepared;
pub use shard::{find_candidates, read_samples, write_samples};
pub use template::{Ends, Firing, Shapes};
pub use train::{Slope, Trainer};
