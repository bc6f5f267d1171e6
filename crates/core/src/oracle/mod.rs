//! How good the order could be: the best that a space of orders allows, whatever the models say.
//!
//! In: a space by name, and sentences with their links, references or phrase options.
//! Out: the space itself (membership, lattice), the order in it that is nearest to a given one,
//! the order of phrases with the best BLEU, and the best translation within the decoder's reach.
//! How: Dreyer, Hall and Khudanpur (2007), definitions i; each file says what it changes.
//! Not: counting and sampling, which need large numbers, and all reports; those are Python.

mod bleu;
mod candidates;
mod clipped;
mod counts;
mod front;
mod grams;
mod insertion;
mod lattice;
mod layered;
mod machine;
mod nearest;
mod orders;
mod reach;
mod steps;
#[cfg(test)]
mod tests;
mod tree;

pub use bleu::{Best, Oracle, Problem};
pub use candidates::{Monotone, Piece, candidates};
pub use clipped::Clipped;
pub use front::Pruning;
pub use lattice::{Arc, Lattice};
pub use nearest::{Distance, Nearest};
pub use orders::Orders;
pub use reach::{Reached, missing, reach};
pub use steps::LONGEST;
