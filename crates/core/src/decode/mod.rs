//! Search: the best translation of a sentence under all models.
//!
//! In: sentences with what is known of them, models behind the traits of `feature`, weights and
//! settings.
//! Out: the n best translations with the exact value of each feature, traces, statistics and the
//! search graph. How: phrases are put down from left to right in the target while a coverage
//! keeps track of the source (Koehn, Och and Marcu, 2003); cube pruning by default.
//! Cost: about `pop_limit` hypotheses a source word; memory is kept in a worker per thread.
//! Not: any concrete model; reading or writing files.

mod choosing;
mod context;
mod covers;
mod cube;
mod decoder;
mod future;
mod gains;
mod graph;
mod group;
mod hyp;
mod id;
mod markup;
mod memo;
mod model;
mod nbest;
mod options;
mod paths;
mod pricing;
mod recent;
mod replay;
mod request;
mod search;
mod settings;
mod shown;
mod stack;
mod states;
mod stock;
mod suggest;
mod translation;
mod worker;

pub use decoder::Decoder;
pub use markup::{Given, Marked, Markup, MarkupMode};
pub use model::{Layout, Models};
pub use request::{Request, Wanted};
pub use settings::{Oov, Search, Settings};
pub use shown::{ShownHyp, ShownStack};
pub use suggest::{Suggestion, Typed};
pub use translation::{GraphArc, Outcome, Statistics, Step, TgtSpan, Translation};
pub use worker::{MAX_WORDS, Memory, Worker};
