//! Features: names, weights, and the interfaces of models that score a translation.
//!
//! In: models of other stages. Out: the traits through which the decoder uses them.
//! How: a phrase feature depends on the phrase pair only (`PhraseModel`); a path feature has a
//! small state (`LanguageModel`, `PathFeature`; distortion and orientation are built in). Scores
//! are natural logarithms, higher is better (definitions g.1).
//! Not: any concrete model.
//!
//! The files in the order of the data flow:
//!
//! * `source`: a source sentence with its annotation
//! * `coverage`: spans and coverages of source words
//! * `phrase`: interface of phrase tables
//! * `lm`: interface of language models
//! * `path`: interface of path features
//! * `weights`: weights by feature name

mod coverage;
mod lm;
mod path;
mod phrase;
mod source;
mod weights;

pub use coverage::{Coverage, Span};
pub use lm::{LanguageModel, LmLookup, LmState};
pub use path::{PathFeature, PathScorer, ReorderingState, check_name};
pub use phrase::{OptionAlignment, OptionId, PhraseDetails, PhraseEntry, PhraseModel};
pub use source::{ChunkAnnotation, NamedMatrix, SourceSentence};
pub use weights::FeatureWeights;
