//! Scores of candidate translations without context.
//!
//! In: entries of the phrase table, unknown words, markup translations. Out: candidates with the
//! weighted isolated score of all features of a phrase pair.

use crate::align::Link;
use crate::corpus::WordId;
use crate::decode::input::markup::MarkupTranslation;
use crate::decode::lm::contexts::{LmContextTable, PrefixScores, WeightedLms};
use crate::decode::models::{FeatureLayout, ModelSet};
use crate::decode::settings::OovPolicy;
use crate::error::Result;
use crate::feature::{PhraseDetails, PhraseEntry};
use crate::narrow::{to_f32, to_u32};
use std::ops::Range;

/// Target word id that stands for a copy of the source word.
pub const COPY_SOURCE_WORD: WordId = WordId::MAX;

/// Candidate translations of one source phrase, before histogram pruning.
#[derive(Debug, Default)]
pub struct CandidateBuffer {
    pub words: Vec<WordId>,
    pub tm: Vec<f32>,
    pub candidates: Vec<PhraseCandidate>,
    /// The words as ids of the LM context table.
    pub lm_words: Vec<u32>,
    /// Details of the candidate loaded last.
    pub details: PhraseDetails,
    pub prefix: PrefixScores,
}

/// A candidate translation.
#[derive(Debug, Clone)]
pub struct PhraseCandidate {
    /// Weighted score without context; the language models are added last.
    pub isolated_score: f32,
    /// Weighted language model score without context.
    pub lm: f32,
    pub words: Range<usize>,
    pub origin: PhraseOrigin,
}

/// The origin of a translation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhraseOrigin {
    /// The phrase table, with the handle of the entry.
    Table(u64),
    /// A source word without a translation.
    Unknown,
    /// The markup of the sentence.
    Markup,
}

/// Models, weights and settings that the isolated scores depend on.
pub struct ScoringConfig<'a> {
    pub models: &'a ModelSet<'a>,
    pub layout: &'a FeatureLayout,
    pub weights: &'a [f64],
    pub lms: WeightedLms<'a>,
    pub oov: OovPolicy,
    /// Maximum number of target phrases per source phrase; 0: no limit.
    pub limit: usize,
}

impl CandidateBuffer {
    /// Remove all candidates.
    pub fn clear(&mut self) {
        self.words.clear();
        self.tm.clear();
        self.candidates.clear();
        self.lm_words.clear();
    }

    /// Add an entry of the phrase table, scored without the language models.
    pub fn add_entry(&mut self, scoring: &ScoringConfig<'_>, entry: PhraseEntry<'_>) {
        let mut score = 0.0;
        for (&value, weight) in entry.tm.iter().zip(&scoring.weights[scoring.layout.tm.clone()]) {
            score += f64::from(value) * weight;
        }
        self.tm.extend_from_slice(entry.tm);
        self.tm.resize((self.candidates.len() + 1) * scoring.layout.tm.len(), 0.0);
        self.push(scoring, score, entry.tgt, PhraseOrigin::Table(entry.place));
    }

    /// Add the translation of an unknown word: its copy, or no word.
    pub fn add_unknown_word(&mut self, scoring: &ScoringConfig<'_>) {
        self.tm.resize(scoring.layout.tm.len(), 0.0);
        let penalty = -scoring.weights[scoring.layout.oov];
        let words: &[WordId] = match scoring.oov {
            OovPolicy::Copy => &[COPY_SOURCE_WORD],
            OovPolicy::Drop => &[],
        };
        self.push(scoring, penalty, words, PhraseOrigin::Unknown);
    }

    /// Add a markup translation; each translation score gets an equal share of its log probability.
    pub fn add_markup_translation(
        &mut self,
        scoring: &ScoringConfig<'_>,
        words: &[WordId],
        given: &MarkupTranslation,
    ) {
        let weights = &scoring.weights[scoring.layout.tm.clone()];
        let share = given.log_prob / weights.len().max(1) as f32;
        self.tm.resize(weights.len(), share);
        let score = weights.iter().sum::<f64>() * f64::from(share);
        self.push(scoring, score, words, PhraseOrigin::Markup);
    }

    fn push(
        &mut self,
        scoring: &ScoringConfig<'_>,
        score: f64,
        words: &[WordId],
        origin: PhraseOrigin,
    ) {
        let ScoringConfig { layout, weights, .. } = scoring;
        let isolated_score = score + weights[layout.pp] - weights[layout.wp] * words.len() as f64;
        let first = self.words.len();
        self.words.extend_from_slice(words);
        let words = first..self.words.len();
        self.candidates.push(PhraseCandidate {
            isolated_score: to_f32(isolated_score),
            lm: 0.0,
            words,
            origin,
        });
    }

    /// Add the language model scores without context. With nonnegative weights they only lower a
    /// score; candidates that cannot reach the best `limit` are set to minus infinity and not
    /// scored. Tables list translations with a common prefix next to each other, so most prefixes
    /// are scored once.
    pub fn add_lm_scores(
        &mut self,
        lms: &WeightedLms<'_>,
        contexts: &mut LmContextTable,
        limit: usize,
    ) {
        let CandidateBuffer { candidates, lm_words, prefix, .. } = self;
        let mut score = |candidate: &mut PhraseCandidate| {
            candidate.lm = contexts.score_isolated(lms, &lm_words[candidate.words.clone()], prefix);
            candidate.isolated_score += candidate.lm;
        };
        if candidates.len() <= limit || !lms.has_nonnegative_weights() {
            return candidates.iter_mut().for_each(score);
        }
        let mut order: Vec<usize> = (0..candidates.len()).collect();
        order.select_nth_unstable_by(limit, |&a, &b| {
            candidates[b].isolated_score.total_cmp(&candidates[a].isolated_score)
        });
        let (first, rest) = order.split_at_mut(limit);
        first.sort_unstable();
        rest.sort_unstable();
        let mut least = f32::INFINITY;
        for &candidate in &*first {
            score(&mut candidates[candidate]);
            least = least.min(candidates[candidate].isolated_score);
        }
        for &candidate in &*rest {
            if candidates[candidate].isolated_score < least {
                candidates[candidate].isolated_score = f32::NEG_INFINITY;
            } else {
                score(&mut candidates[candidate]);
            }
        }
    }

    /// Load the orientation scores and links of a candidate. Without a table entry, each source
    /// word is linked to each target word.
    pub fn load_details(
        &mut self,
        scoring: &ScoringConfig<'_>,
        candidate: usize,
        src: &[WordId],
    ) -> Result<()> {
        let PhraseCandidate { words, origin, .. } = &self.candidates[candidate];
        if let PhraseOrigin::Table(place) = *origin {
            return scoring.models.phrases.details(src, place, &mut self.details);
        }
        self.details.orientation.clear();
        self.details.links.clear();
        for src in 0..to_u32(src.len()) {
            let to_all = (0..to_u32(words.len())).map(|tgt| Link::new(src, tgt));
            self.details.links.extend(to_all);
        }
        Ok(())
    }
}

/// Return the weighted `prev` and `next` scores of each orientation class.
pub fn weigh_orientation(scoring: &ScoringConfig<'_>, scores: &[f32]) -> ([f32; 4], [f32; 4]) {
    let mut sides = [[0.0; 4]; 2];
    let Some(orientation) = scoring.models.orientation.filter(|_| !scores.is_empty()) else {
        return (sides[0], sides[1]);
    };
    let width = orientation.classes.names().len();
    let mut column = 0;
    for (side, has) in [orientation.prev, orientation.next].into_iter().enumerate() {
        if !has {
            continue;
        }
        for (class, score) in sides[side].iter_mut().enumerate() {
            let at = column + class.min(width - 1);
            let weight = scoring.weights[scoring.layout.lr.start + at];
            *score = to_f32(f64::from(scores[at]) * weight);
        }
        column += width;
    }
    (sides[0], sides[1])
}

/// Return the aligned word with the smallest mean target position, ties to the left; 0 without
/// links.
pub fn find_entry(length: usize, links: &[Link]) -> u32 {
    let mean = |word: usize| {
        let links_of_word = links.iter().filter(|link| link.src.index() == word);
        let (sum, count) =
            links_of_word.fold((0, 0), |(sum, count), link| (sum + link.tgt.0, count + 1));
        (count > 0).then_some((sum, count))
    };
    let mut best: Option<(usize, (u32, u32))> = None;
    for word in 0..length {
        let Some((sum, count)) = mean(word) else { continue };
        if best.is_none_or(|(_, (least, of))| sum * of < least * count) {
            best = Some((word, (sum, count)));
        }
    }
    best.map_or(0, |(word, _)| to_u32(word))
}
