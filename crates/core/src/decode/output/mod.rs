//! Results of a search. The files in the order of the data flow:
//!
//! * `translation`: the types of all results
//! * `derivation`: exact feature values of a derivation
//! * `nbest`: the n best paths through the recombined hypotheses
//! * `search_graph`: arcs and stacks of a finished search
//! * `suggest`: completion of a typed prefix

pub mod derivation;
pub mod nbest;
pub mod search_graph;
pub mod suggest;
pub mod translation;
