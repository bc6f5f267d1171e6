//! Translation options of a sentence. The files in the order of the data flow:
//!
//! * `scoring`: scores of the candidate translations of a source phrase, without context
//! * `cache`: the best target phrases of each source phrase, kept between sentences
//! * `future_cost`: estimated score of each untranslated span
//! * `collection`: the options of a sentence, by span and sorted

pub mod cache;
pub mod collection;
pub mod future_cost;
pub mod scoring;
