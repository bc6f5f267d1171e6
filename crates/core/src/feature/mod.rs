//! What a translation is scored by: names, weights, and the traits a model comes in.
//!
//! In: models made by other stages. Out: the seats through which the decoder sees them.
//! How: a phrase feature depends on the phrase pair alone (`PhraseModel`); a path feature has a
//! small state (`LanguageModel`, `PathFeature`; distortion and orientation are built in).
//! Scores are natural logarithms, higher is better (definitions g.1).
//! Not: any concrete model.

mod coverage;
mod lm;
mod path;
mod phrase;
mod source;
mod weights;

pub use coverage::{Coverage, Span};
pub use lm::{Glance, LanguageModel, LmState};
pub use path::{Here, PathFeature, PathScorer, check_name};
pub use phrase::{OptionId, Phrase, PhraseDetails, PhraseEntry, PhraseModel};
pub use source::{Chunks, NamedMatrix, Source};
pub use weights::Weights;
