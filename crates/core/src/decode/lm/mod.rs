//! Language models in the search. The files in the order of the data flow:
//!
//! * `caches`: cached scores of words and phrases after a context
//! * `contexts`: contexts as ids; scores of phrases without and with left context

pub mod caches;
pub mod contexts;
