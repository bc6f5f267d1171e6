//! Types of the results of a search.

use crate::align::Link;
use crate::corpus::{SrcPos, TgtPos};
use crate::decode::search::sentence_search::SearchStats;
use crate::feature::Span;
use std::ops::Range;

/// A phrase of a derivation: its source and target words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DerivationStep {
    /// Source words.
    pub src: Span,
    /// Target words.
    pub tgt: TgtSpan,
}

/// A run of target words, from `start` up to but not including `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TgtSpan {
    /// The first word.
    pub start: TgtPos,
    /// The word after the last.
    pub end: TgtPos,
}

impl TgtSpan {
    /// Return the positions of its words.
    pub fn range(self) -> Range<usize> {
        self.start.index()..self.end.index()
    }
}

/// A translation of a sentence.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Translation {
    /// Target words.
    pub words: Vec<String>,
    /// Weighted sum of the features.
    pub score: f64,
    /// Value of each feature, in the order of the weights.
    pub features: Vec<f64>,
    /// Phrases in target order.
    pub steps: Vec<DerivationStep>,
    /// Alignment links of all phrases, in target order of the phrases.
    pub links: Vec<Link>,
    /// Source words without a translation, from left to right.
    pub unknown: Vec<SrcPos>,
}

/// An arc of the search graph.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphArc {
    /// The hypothesis before the arc; 0 is the empty one.
    pub from: u32,
    /// The hypothesis after the arc.
    pub to: u32,
    /// Source words of the phrase.
    pub src: Span,
    /// Target words of the phrase.
    pub words: Vec<String>,
    /// Weighted score of the phrase in context.
    pub score: f64,
}

/// The hypotheses with the same number of translated words.
#[derive(Debug, Clone, PartialEq)]
pub struct StackSnapshot {
    /// Number of hypotheses after recombination.
    pub kept: u32,
    /// Number of hypotheses recombined with them.
    pub recombined: u32,
    /// Number of kept hypotheses outside all complete translations.
    pub abandoned: u32,
    /// The best of them, best first.
    pub best: Vec<HypothesisSnapshot>,
}

/// A hypothesis of a finished search.
#[derive(Debug, Clone, PartialEq)]
pub struct HypothesisSnapshot {
    /// Id; 0 is the empty hypothesis.
    pub number: u32,
    /// Id of the hypothesis before the last phrase.
    pub back: u32,
    /// Source words of its last phrase.
    pub src: Span,
    /// Target words of its last phrase.
    pub words: Vec<String>,
    /// Translated source words.
    pub covered: Vec<u32>,
    /// Weighted score without the future cost.
    pub score: f64,
    /// Weighted score with the future cost.
    pub total: f64,
    /// Number of hypotheses recombined with it.
    pub recombined: u32,
    /// Whether a complete translation contains it.
    pub is_alive: bool,
}

/// All results of a search on one sentence.
#[derive(Debug, Clone, PartialEq)]
pub struct TranslationResult {
    /// The best translations, best first; never empty.
    pub best: Vec<Translation>,
    /// Statistics of the search.
    pub stats: SearchStats,
    /// Arcs on all paths to a complete translation, sorted by target; empty unless requested.
    pub graph: Vec<GraphArc>,
    /// The best hypotheses of each stack; empty unless requested.
    pub stacks: Vec<StackSnapshot>,
}
