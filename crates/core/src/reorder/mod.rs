//! Word order: permutations of the source words, and (later) models that score them.
//!
//! In: links. Out: orders and ranks. See `order` for the definitions.

pub mod order;
