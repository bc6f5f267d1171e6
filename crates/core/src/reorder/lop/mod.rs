//! Learned linear ordering: which of two source words should come first, for all pairs of words.
//!
//! In: annotated sentences and the order their links imply; or a pair matrix from elsewhere.
//! Out: a matrix of preferences for a sentence, the order it likes best, a feature of the decoder.
//! How: Tromble and Eisner (2009), definitions h.

mod chart;
mod exact;
mod pairs;
#[cfg(test)]
mod tests;

pub use chart::{Chart, LONGEST};
pub use exact::{LONGEST as LONGEST_EXACT, best_order};
pub use pairs::Pairs;
