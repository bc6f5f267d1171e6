//! Learned linear ordering: which of two source words should come first, for all pairs of words.
//!
//! In: annotated sentences and the order their links imply; or a pair matrix from elsewhere.
//! Out: a matrix of preferences for a sentence, the order it likes best, a feature of the decoder.
//! How: two models over one kind of table. The pair model (Tromble and Eisner, 2009; definitions
//! h) scores pairs of words and is searched by steps over exponentially many neighbours. The joint
//! model (definitions o) also scores the nodes of bracketings, and is searched exactly.
//! Cost: O(n³) a sentence for either, with small constants.
//!
//! The stage reads top to bottom: `hashed` holds a sentence, `slots` the places of weights,
//! `pair_features` and `span_features` say what is looked at; `pairs`, `chart` and `exact` order by
//! pairs, `tree`, `inside` and `nbest` by bracketings; `gold` says what links want, `perceptron`
//! and `field` learn it, `model` keeps what was learned, `feature` brings it to the decoder.

mod chart;
mod exact;
mod feature;
mod field;
mod gold;
mod hashed;
mod inside;
mod model;
mod nbest;
mod pair_features;
mod pairs;
mod perceptron;
mod slots;
mod span_features;
#[cfg(test)]
mod tests;
mod tree;

pub use chart::{Chart, LONGEST};
pub use exact::{LONGEST as LONGEST_EXACT, best_order};
pub use feature::{Lop, Scorer};
pub use field::{Field, Options as FieldOptions};
pub use gold::{Reference, Wishes, opinion};
pub use hashed::Hashed;
pub use inside::{Contradictions, Cost, Expected, Free, Inside, Turned, Which};
pub(crate) use model::SEAL;
pub use model::{Choice, Kind, Model, Orderer, Recipe, VERSION};
pub use nbest::{Nbest, Ranked};
pub use pair_features::{PairParts, form, suffix, texts};
pub use pairs::Pairs;
pub use perceptron::{Options as PerceptronOptions, Perceptron, log_odds};
pub use slots::{Mapped, Slots, Weights};
pub use tree::{BestTree, Corners, Extra, Nodes, Nothing};
