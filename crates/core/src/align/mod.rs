//! Word alignment: which source word and which target word mean the same.
//!
//! `links` holds alignments and reads and writes them in Pharaoh's form (`0-0 1-2`).

mod links;

pub use links::{Link, Links};
