//! Data of a search: groups of hypotheses, edges, and scored extensions.
//!
//! Hypotheses with equal coverage and last position form a group: the same spans may follow them,
//! at the same distance. A group and an option list form an edge, a grid of rows (hypotheses) and
//! columns (options). Distortion and future cost are constant within an edge, orientation is a
//! look-up; only the language models and path features are scored per cell.

use crate::decode::ids::{CoverageId, HypId, LmContextId, OptionListId};
use crate::decode::lm::caches::LmScoreCache;
use crate::decode::search::early_pruning::EarlyPruning;
use crate::decode::search::grouping::{HypothesisGroup, HypothesisGrouping};
use crate::decode::search::hypothesis::{HypothesisStore, RecombinationCache};
use crate::decode::search::interners::{CoverageTable, PathStateTable};
use crate::feature::{OptionId, Span};
use crate::reorder::orientation::{NO_BLOCKS, Outlook, StackId, Stacks};

/// A group and an option list that may follow it.
#[derive(Debug, Clone, Copy)]
pub struct SearchEdge {
    pub group: u32,
    /// Range of the rows of the group.
    pub rows: (u32, u32),
    /// Index of the first ranked option of the list; `columns` is their number.
    pub first: u32,
    pub columns: u32,
    /// The words that the list covers.
    pub span: Span,
    /// Weighted distortion.
    pub jump: f32,
    /// Future cost after it.
    pub future: f32,
    /// Coverage after it; `NONE` until it is computed.
    pub coverage: CoverageId,
    /// The orientation stack before and after the edge that was computed last.
    pub blocks: Option<(StackId, StackId)>,
}

/// A hypothesis of a group with the data that its extensions need; loaded on first use.
#[derive(Debug, Clone, Copy)]
pub struct HypothesisRow {
    pub hyp: HypId,
    /// Whether the other fields are loaded.
    pub is_known: bool,
    pub context: LmContextId,
    pub path: u32,
    pub blocks: StackId,
    pub score: f64,
    /// The span that `prev` orientation compares with.
    pub before: Span,
    /// The spans that `next` orientation compares with; `next` holds its weighted scores.
    pub outlook: Outlook,
    pub next: [f32; 4],
}

impl HypothesisRow {
    /// Create a row that is not loaded.
    pub fn new(hyp: HypId) -> Self {
        HypothesisRow {
            hyp,
            is_known: false,
            context: 0,
            path: 0,
            blocks: NO_BLOCKS,
            score: 0.0,
            before: Span::default(),
            outlook: Outlook::default(),
            next: [0.0; 4],
        }
    }
}

/// A row of an edge: the part of a score that does not depend on the option.
#[derive(Debug, Clone, Copy)]
pub struct EdgeRow {
    /// Index in the rows of all groups.
    pub row: u32,
    /// Index of the first option ranked for the orientation class of the row.
    pub first: u32,
    /// Score of the hypothesis plus distortion and `next` orientation.
    pub base: f64,
}

/// The score and states of an extension: a cell of an edge.
#[derive(Debug, Clone, Copy)]
pub struct ScoredExtension {
    pub score: f64,
    pub option: OptionId,
    pub context: LmContextId,
    pub path: u32,
}

/// Memory of a search, kept between sentences.
#[derive(Debug, Default)]
pub struct SearchArena {
    pub coverages: CoverageTable,
    pub stacks: Stacks,
    pub hyps: HypothesisStore,
    /// The rows of all groups.
    pub rows: Vec<HypothesisRow>,
    pub groups: Vec<HypothesisGroup>,
    pub states: PathStateTable,
    pub early_pruning: EarlyPruning,
    /// Option lists that may follow a group; scratch.
    pub lists: Vec<OptionListId>,
    /// States of the path features after an extension; scratch.
    pub after: Vec<u32>,
    pub grouping: HypothesisGrouping,
    pub recent: RecombinationCache,
    pub lm_scores: LmScoreCache,
}
