//! What all searches share: groups of hypotheses, edges, and the score of an extension.
//!
//! Hypotheses that agree in coverage and last position form a group: the same spans may follow
//! them, at the same distance. A group and a list of options make an edge, a grid of rows
//! (hypotheses) and columns (options). Within it jump and future cost are the same everywhere,
//! orientation is a look-up, and only language models and path features have to be asked.

use crate::decode::ids::{CoverId, HypId, LmContextId, OptionListId};
use crate::decode::lm::caches::LmScoreCache;
use crate::decode::search::early_pruning::Choosing;
use crate::decode::search::grouping::{Dealing, Group};
use crate::decode::search::hypothesis::{Hyps, Recent};
use crate::decode::search::interners::{Covers, States};
use crate::feature::{OptionId, Span};
use crate::reorder::orientation::{NO_BLOCKS, Outlook, StackId, Stacks};

/// A group and a list that may follow it.
#[derive(Debug, Clone, Copy)]
pub struct Edge {
    pub group: u32,
    /// Where the rows of the group are.
    pub rows: (u32, u32),
    /// Where the sorted options of the list start, and how many there are.
    pub first: u32,
    pub columns: u32,
    /// The words that the list covers.
    pub span: Span,
    /// WeightedLms distortion.
    pub jump: f32,
    /// FutureCosts cost after it.
    pub future: f32,
    /// Coverage after it; none until it is asked for.
    pub cover: CoverId,
    /// The orientation stack after it by that before it, as it was asked for last.
    pub blocks: Option<(StackId, StackId)>,
}

/// A hypothesis of a group, with all that its extensions look at, once it is extended.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    pub hyp: HypId,
    /// Whether all the rest is known.
    pub is_known: bool,
    pub context: LmContextId,
    pub path: u32,
    pub blocks: StackId,
    pub score: f64,
    /// What `prev` orientation looks back to.
    pub before: Span,
    /// What `next` orientation looks ahead to, and what it says of each class.
    pub outlook: Outlook,
    pub next: [f32; 4],
}

impl Row {
    /// The row of a hypothesis that nobody has extended.
    pub fn new(hyp: HypId) -> Self {
        Row {
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

/// A row of an edge: what does not depend on the option.
#[derive(Debug, Clone, Copy)]
pub struct RowStart {
    /// Its place among the rows of all groups.
    pub row: u32,
    /// Where the options start, sorted for its orientation class.
    pub first: u32,
    /// The score of the hypothesis with what the step adds, whatever the option.
    pub base: f64,
}

/// A row and a column of an edge, scored.
#[derive(Debug, Clone, Copy)]
pub struct Scored {
    pub score: f64,
    pub option: OptionId,
    pub context: LmContextId,
    pub path: u32,
}

/// Memory of a search, kept between sentences.
#[derive(Debug, Default)]
pub struct Arena {
    pub covers: Covers,
    pub stacks: Stacks,
    pub hyps: Hyps,
    /// The hypotheses of all groups.
    pub rows: Vec<Row>,
    pub groups: Vec<Group>,
    pub states: States,
    pub choosing: Choosing,
    /// Lanes that may follow a group.
    pub lists: Vec<OptionListId>,
    /// States of the path features after a step.
    pub after: Vec<u32>,
    pub dealing: Dealing,
    pub recent: Recent,
    pub lm_scores: LmScoreCache,
}
