//! Search: the best translation of a sentence under all models.
//!
//! In: source sentences with their annotation, models behind the traits of `feature`, weights and
//! settings.
//! Out: the n best translations with the exact value of each feature, traces, statistics and the
//! search graph. How: the target is built from left to right by phrases, with a coverage of the
//! source words (Koehn, Och and Marcu, 2003); cube pruning by default.
//! Cost: about `pop_limit` hypotheses per source word; each worker keeps its memory between
//! sentences.
//! Not: any concrete model; reading or writing files.
//!
//! The files in the order of the data flow:
//!
//! * `settings`, `models`, `config`: settings, models and weights of a decoder
//! * `input`: requests and marked-up sentences
//! * `ids`: typed ids of hypotheses, coverages, option lists and target phrases
//! * `lm`: language model contexts and cached scores
//! * `options`: translation options of a sentence and their future costs
//! * `search`: stack search and cube pruning
//! * `output`: translations, n-best lists, search graph, completions
//! * `worker`: translates sentence by sentence in one thread
//! * `decoder`: distributes sentences over the workers

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
pub use input::markup::{MarkedSentence, Markup, MarkupMode, MarkupTranslation};
pub use input::request::{OutputOptions, TranslationRequest};
pub use models::{FeatureLayout, ModelSet};
pub use output::suggest::{Suggestion, TypedPrefix};
pub use output::translation::{
    DerivationStep, GraphArc, HypothesisSnapshot, StackSnapshot, TgtSpan, Translation,
    TranslationResult,
};
pub use search::sentence_search::SearchStats;
pub use settings::{OovPolicy, SearchAlgorithm, SearchSettings};
pub use worker::{DecoderWorker, MAX_WORDS, WorkerMemory};
