//! Search: the best translation of a sentence under all models.
//!
//! In: sentences with what is known of them, models behind the traits of `feature`, weights and
//! settings.
//! Out: the n best translations with the exact value of each feature, traces, statistics and the
//! search graph. How: phrases are put down from left to right in the target while a coverage
//! keeps track of the source (Koehn, Och and Marcu, 2003); cube pruning by default.
//! Cost: about `pop_limit` hypotheses a source word; memory is kept in a worker per thread.
//! Not: any concrete model; reading or writing files.

mod config;
mod decoder;
mod ids;
mod input;
mod lm;
mod models;
mod options;
mod output;
mod search;
mod settings;
mod worker;

pub use decoder::Decoder;
pub use input::markup::{Given, Marked, Markup, MarkupMode};
pub use input::request::{Request, Wanted};
pub use models::{Layout, Models};
pub use output::suggest::{Suggestion, TypedPrefix};
pub use output::translation::{
    DerivationStep, GraphArc, HypothesisSnapshot, StackSnapshot, TgtSpan, Translation,
    TranslationResult,
};
pub use search::sentence_search::SearchStats;
pub use settings::{Oov, Search, Settings};
pub use worker::{MAX_WORDS, Memory, Worker};
