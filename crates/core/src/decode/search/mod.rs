//! Stack search and cube pruning.

pub mod arena;
pub mod cube;
pub mod early_pruning;
pub mod edges;
pub mod extension;
pub mod grouping;
pub mod hypothesis;
pub mod interners;
pub mod sentence_search;
pub mod stack;
