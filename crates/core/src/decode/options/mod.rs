//! Translation options of a sentence.

pub mod cache;
pub mod collection;
pub mod future_cost;
pub mod scoring;
