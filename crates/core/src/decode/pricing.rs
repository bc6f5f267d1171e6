//! What a translation is worth before its context is known.
//!
//! In: entries of the table, unknown words, translations given with a sentence. Out: rows with the
//! weighted score of everything but the language models, which the stock adds.

use super::context::{Walked, Weighted};
use super::markup::Given;
use super::model::{Layout, Models};
use super::settings::Oov;
use super::stock::COPY;
use crate::align::Link;
use crate::corpus::WordId;
use crate::feature::PhraseEntry;
use crate::narrow::{to_f32, to_u32};
use std::ops::Range;

/// Translations of one source phrase before they are cut.
#[derive(Debug, Default)]
pub struct Scratch {
    pub words: Vec<WordId>,
    pub tm: Vec<f32>,
    pub orientation: Vec<f32>,
    pub links: Vec<Link>,
    pub rows: Vec<Row>,
    pub lm_words: Vec<u32>,
    pub walked: Walked,
}

/// One of them.
#[derive(Debug, Clone)]
pub struct Row {
    /// Weighted score without context, as far as it is known.
    pub alone: f32,
    /// The language models' share of it.
    pub lm: f32,
    pub words: Range<usize>,
    /// Where the language models walked through them.
    pub walk: Range<usize>,
    pub links: Range<usize>,
    pub has_orientation: bool,
    pub is_unknown: bool,
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
        self.orientation.clear();
        self.links.clear();
        self.rows.clear();
        self.lm_words.clear();
        self.walked.clear();
    }

    /// Takes an entry of the table, scored but for the language models.
    pub fn take(&mut self, pricing: &Pricing<'_>, entry: PhraseEntry<'_>) {
        let layout = pricing.layout;
        let mut score = 0.0;
        for (&value, weight) in entry.tm.iter().zip(&pricing.weights[layout.tm.clone()]) {
            score += f64::from(value) * weight;
        }
        self.tm.extend_from_slice(entry.tm);
        self.tm.resize((self.rows.len() + 1) * layout.tm.len(), 0.0);
        let has_orientation = !entry.orientation.is_empty();
        self.orientation.extend_from_slice(entry.orientation);
        self.orientation.resize((self.rows.len() + 1) * layout.lr.len(), 0.0);
        self.push(pricing, score, entry.tgt, entry.links).has_orientation = has_orientation;
    }

    /// The translation of an unknown word: itself, or nothing.
    pub fn pass_through(&mut self, pricing: &Pricing<'_>) {
        self.tm.resize(pricing.layout.tm.len(), 0.0);
        let penalty = -pricing.weights[pricing.layout.oov];
        let row = match pricing.oov {
            Oov::Copy => self.push(pricing, penalty, &[COPY], &[Link::new(0, 0)]),
            Oov::Drop => self.push(pricing, penalty, &[], &[]),
        };
        row.is_unknown = true;
    }

    /// Takes a translation given with the sentence: its log probability is shared out equally
    /// among the translation scores, and each source word is linked to each target word.
    pub fn take_given(&mut self, pricing: &Pricing<'_>, words: &[WordId], given: &Given) {
        let weights = &pricing.weights[pricing.layout.tm.clone()];
        let share = given.log_prob / weights.len().max(1) as f32;
        self.tm.resize(weights.len(), share);
        let score = weights.iter().sum::<f64>() * f64::from(share);
        let (src, tgt) = (given.span.len(), to_u32(words.len()));
        let links: Vec<Link> =
            (0..src).flat_map(|src| (0..tgt).map(move |tgt| Link::new(src, tgt))).collect();
        self.push(pricing, score, words, &links);
    }

    fn push(
        &mut self,
        pricing: &Pricing<'_>,
        score: f64,
        words: &[WordId],
        links: &[Link],
    ) -> &mut Row {
        let Pricing { layout, weights, .. } = pricing;
        let alone = score + weights[layout.pp] - weights[layout.wp] * words.len() as f64;
        let starts = (self.words.len(), self.links.len());
        self.words.extend_from_slice(words);
        self.links.extend_from_slice(links);
        let at = self.rows.len();
        self.rows.push(Row {
            alone: to_f32(alone),
            lm: 0.0,
            words: starts.0..self.words.len(),
            walk: 0..0,
            links: starts.1..self.links.len(),
            has_orientation: false,
            is_unknown: false,
        });
        &mut self.rows[at]
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
