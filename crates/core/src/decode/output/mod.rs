//! Results of a search.

pub mod derivation;
pub mod nbest;
pub mod search_graph;
pub mod suggest;
pub mod translation;
