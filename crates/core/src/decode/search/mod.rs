//! Stack search and cube pruning. The files in the order of the data flow:
//!
//! * `hypothesis`: hypotheses, recombination keys and the recombination cache
//! * `interners`: coverages and path feature states as ids
//! * `grouping`: hypotheses with common followers
//! * `early_pruning`: option lists that a path feature keeps
//! * `arena`: memory of a search; rows and edges
//! * `sentence_search`: a search on one sentence; future costs and groups
//! * `edges`: the option lists that may follow a group
//! * `extension`: scores of extensions, new hypotheses
//! * `cube`, `stack`: the two search algorithms

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
