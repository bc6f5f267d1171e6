//! What a translation is worth before its context is known.
//!
//! In: entries of the table, unknown words, translations given with a sentence. Out: rows with the
//! weighted score of everything but the language models, which the stock adds.

use crate::align::Link;
use crate::corpus::WordId;
use crate::decode::input::markup::Given;
use crate::decode::lm::contexts::{Contexts, Walk, Weighted};
use crate::decode::models::{Layout, Models};
use crate::decode::settings::Oov;
use crate::error::Result;
use crate::feature::{PhraseDetails, PhraseEntry};
use crate::narrow::{to_f32, to_u32};
use std::ops::Range;

/// Stands for the source word itself among target words.
pub const COPY: WordId = WordId::MAX;

/// Translations of one source phrase before they are cut.
#[derive(Debug, Default)]
pub struct Scratch {
    pub words: Vec<WordId>,
    pub tm: Vec<f32>,
    pub rows: Vec<Row>,
    /// The words as the contexts number them.
    pub lm_words: Vec<u32>,
    /// Of the row that is kept.
    pub details: PhraseDetails,
    pub walk: Walk,
}

/// One of them.
#[derive(Debug, Clone)]
pub struct Row {
    /// Weighted score without context, as far as it is known.
    pub alone: f32,
    /// The language models' share of it.
    pub lm: f32,
    pub words: Range<usize>,
    pub origin: Origin,
}

/// Where a translation comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The table, at this place.
    Table(u64),
    /// The source word itself, as it has no translation.
    Unknown,
    /// The user.
    Given,
}

/// What the stock needs to know of the system.
pub struct Pricing<'a> {
    pub models: &'a Models<'a>,
    pub layout: &'a Layout,
    pub weights: &'a [f64],
    pub lms: Weighted<'a>,
    pub oov: Oov,
    /// Translations kept per source phrase; 0 for all.
    pub limit: usize,
}

impl Scratch {
    /// Makes it empty.
    pub fn clear(&mut self) {
        self.words.clear();
        self.tm.clear();
        self.rows.clear();
        self.lm_words.clear();
    }

    /// Takes an entry of the table, scored but for the language models.
    pub fn take(&mut self, pricing: &Pricing<'_>, entry: PhraseEntry<'_>) {
        let mut score = 0.0;
        for (&value, weight) in entry.tm.iter().zip(&pricing.weights[pricing.layout.tm.clone()]) {
            score += f64::from(value) * weight;
        }
        self.tm.extend_from_slice(entry.tm);
        self.tm.resize((self.rows.len() + 1) * pricing.layout.tm.len(), 0.0);
        self.push(pricing, score, entry.tgt, Origin::Table(entry.place));
    }

    /// The translation of an unknown word: itself, or nothing.
    pub fn pass_through(&mut self, pricing: &Pricing<'_>) {
        self.tm.resize(pricing.layout.tm.len(), 0.0);
        let penalty = -pricing.weights[pricing.layout.oov];
        let words: &[WordId] = match pricing.oov {
            Oov::Copy => &[COPY],
            Oov::Drop => &[],
        };
        self.push(pricing, penalty, words, Origin::Unknown);
    }

    /// Takes a translation given with the sentence: its log probability is shared out equally
    /// among the translation scores.
    pub fn take_given(&mut self, pricing: &Pricing<'_>, words: &[WordId], given: &Given) {
        let weights = &pricing.weights[pricing.layout.tm.clone()];
        let share = given.log_prob / weights.len().max(1) as f32;
        self.tm.resize(weights.len(), share);
        let score = weights.iter().sum::<f64>() * f64::from(share);
        self.push(pricing, score, words, Origin::Given);
    }

    fn push(&mut self, pricing: &Pricing<'_>, score: f64, words: &[WordId], origin: Origin) {
        let Pricing { layout, weights, .. } = pricing;
        let alone = score + weights[layout.pp] - weights[layout.wp] * words.len() as f64;
        let first = self.words.len();
        self.words.extend_from_slice(words);
        let words = first..self.words.len();
        self.rows.push(Row { alone: to_f32(alone), lm: 0.0, words, origin });
    }

    /// Adds what the language models say without context. They can only take away from a row, so
    /// that those too far behind the best `limit` without them are left out, at minus infinity.
    /// A table lists translations that begin alike side by side: most of their words are walked
    /// through once.
    pub fn score(&mut self, lms: &Weighted<'_>, contexts: &mut Contexts, limit: usize) {
        let Scratch { rows, lm_words, walk, .. } = self;
        let mut score = |row: &mut Row| {
            row.lm = contexts.walk(lms, &lm_words[row.words.clone()], walk);
            row.alone += row.lm;
        };
        if rows.len() <= limit || !lms.take_away() {
            return rows.iter_mut().for_each(score);
        }
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.select_nth_unstable_by(limit, |&a, &b| rows[b].alone.total_cmp(&rows[a].alone));
        let (first, rest) = order.split_at_mut(limit);
        first.sort_unstable();
        rest.sort_unstable();
        let mut least = f32::INFINITY;
        for &row in &*first {
            score(&mut rows[row]);
            least = least.min(rows[row].alone);
        }
        for &row in &*rest {
            if rows[row].alone < least {
                rows[row].alone = f32::NEG_INFINITY;
            } else {
                score(&mut rows[row]);
            }
        }
    }

    /// Finds out the rest about a row of a phrase of these source words: each word of it is linked
    /// to each target word unless the table knows better.
    pub fn detail(&mut self, pricing: &Pricing<'_>, row: usize, src: &[WordId]) -> Result<()> {
        let Row { words, origin, .. } = &self.rows[row];
        if let Origin::Table(place) = *origin {
            return pricing.models.phrases.details(src, place, &mut self.details);
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

/// Weighted `prev` and `next` scores of each class.
pub fn weigh_orientation(pricing: &Pricing<'_>, scores: &[f32]) -> ([f32; 4], [f32; 4]) {
    let mut sides = [[0.0; 4]; 2];
    let Some(orientation) = pricing.models.orientation.filter(|_| !scores.is_empty()) else {
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
            let weight = pricing.weights[pricing.layout.lr.start + at];
            *score = to_f32(f64::from(scores[at]) * weight);
        }
        column += width;
    }
    (sides[0], sides[1])
}

/// The aligned word with the smallest mean target position, ties to the left; else the first.
pub fn entry_of(length: usize, links: &[Link]) -> u32 {
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
