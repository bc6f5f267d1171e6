//! Word order: permutations of the source words, the spaces they may be taken from, and what
//! a jump or a change of order costs.
//!
//! In: links; or spans of source words in the order in which they are translated.
//! Out: orders and ranks; which spans may come next; costs and orientation classes.

mod annotated;
pub mod constraints;
mod corpus;
pub mod distortion;
pub mod jump;
pub mod lop;
mod names;
pub mod neural;
pub mod order;
pub mod orientation;
pub mod prune;
pub mod space;
#[cfg(test)]
pub(crate) mod walk;
pub mod waw;

pub use constraints::ReorderingConstraints;
pub use corpus::Corpus;
pub use distortion::Distortion;
pub use prune::{Prune, Pruning};
pub use space::{Shaped, Space};
