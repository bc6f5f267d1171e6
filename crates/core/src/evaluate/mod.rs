//! What metrics count, sentence by sentence: pairs of words and their order, and edits.
//!
//! Scores, references and resampling are Python (`wayword.evaluate`).

mod pairs;
mod ter;

pub use pairs::{BINS, PairCounter, PairCounts, Reversed, UNLINKED, link_keys};
pub use ter::Edits;
