//! What a search returns.

use crate::align::Link;
use crate::corpus::{SrcPos, TgtPos};
use crate::decode::search::sentence_search::SearchStats;
use crate::feature::Span;
use std::ops::Range;

/// A phrase of a translation: source words, and the target words they became.
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
    /// The places of its words.
    pub fn range(self) -> Range<usize> {
        self.start.index()..self.end.index()
    }
}

/// One way to translate a sentence.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Translation {
    /// Target words.
    pub words: Vec<String>,
    /// WeightedLms sum of the features.
    pub score: f64,
    /// Value of each feature, in the order of the weights.
    pub features: Vec<f64>,
    /// Phrases in target order.
    pub steps: Vec<DerivationStep>,
    /// Links from the phrases used, in the order of the target words' phrases.
    pub links: Vec<Link>,
    /// Source words that no model has a translation for, from left to right.
    pub unknown: Vec<SrcPos>,
}

/// One way from a partial translation to a longer one.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphArc {
    /// The shorter one; 0 is the empty translation.
    pub from: u32,
    /// The longer one.
    pub to: u32,
    /// Source words added.
    pub src: Span,
    /// Target words added.
    pub words: Vec<String>,
    /// WeightedLms score added.
    pub score: f64,
}

/// The hypotheses that translate so many words.
#[derive(Debug, Clone, PartialEq)]
pub struct StackSnapshot {
    /// Hypotheses that were told apart.
    pub kept: u32,
    /// Hypotheses that were merged with one of these.
    pub recombined: u32,
    /// Of those kept, how many no whole translation came of.
    pub abandoned: u32,
    /// The best of them, best first.
    pub best: Vec<HypothesisSnapshot>,
}

/// A hypothesis.
#[derive(Debug, Clone, PartialEq)]
pub struct HypothesisSnapshot {
    /// Its number; 0 is the empty one.
    pub number: u32,
    /// The one it extends.
    pub back: u32,
    /// Source words of its last phrase.
    pub src: Span,
    /// Target words of its last phrase.
    pub words: Vec<String>,
    /// Source words translated.
    pub covered: Vec<u32>,
    /// WeightedLms score so far.
    pub score: f64,
    /// The same with the future cost.
    pub total: f64,
    /// How many others were merged with it.
    pub recombined: u32,
    /// Whether a whole translation came of it.
    pub is_alive: bool,
}

/// Everything that is known about a sentence after the search.
#[derive(Debug, Clone, PartialEq)]
pub struct TranslationResult {
    /// The best translations, best first; never empty.
    pub best: Vec<Translation>,
    /// What the search did.
    pub stats: SearchStats,
    /// All ways that lead to a complete translation, if asked for; ordered by where they lead.
    pub graph: Vec<GraphArc>,
    /// The best hypotheses by number of translated words, if asked for.
    pub stacks: Vec<StackSnapshot>,
}
