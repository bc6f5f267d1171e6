//! A trained pass over a sentence: one label a word, from left to right.
//!
//! In: a `View` of a sentence. Out: label numbers, in a buffer of the caller.
//! How: the sum of the weights of a word's features for each label; the best label is taken at
//! once and seen by the words after it; of equals, the one that came first in training.
//! Cost: a look-up per feature and an addition per weight.

use super::feature::{EDGE, View, push_fixed, push_history};
use crate::narrow::{to_u16, to_usize};
use rustc_hash::FxHashMap;

/// One weight of a feature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Weight {
    pub label: u16,
    pub weight: f32,
}

/// Features with their weights, and the names of the labels.
#[derive(Debug, Clone, Default)]
pub(super) struct Labeller {
    /// Names of the labels.
    pub labels: Vec<String>,
    /// What tags a word had in training: hash of the word, hash of the tags; by ascending word.
    pub lexicon: Vec<(u64, u64)>,
    /// Keys of the features, ascending.
    pub keys: Vec<u64>,
    /// `weights[ends[n - 1]..ends[n]]` are those of feature `n`.
    pub ends: Vec<u32>,
    pub weights: Vec<Weight>,
    rows: Slots,
    words: FxHashMap<u64, u64>,
    follows: Follows,
}

/// Memory of one thread, used again for every sentence.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    pub lexical: Vec<u64>,
    pub keys: Vec<u64>,
    pub scores: Vec<f32>,
}

impl Labeller {
    /// Puts the parts together and makes their tables.
    pub fn new(
        labels: Vec<String>,
        lexicon: Vec<(u64, u64)>,
        keys: Vec<u64>,
        ends: Vec<u32>,
        weights: Vec<Weight>,
    ) -> Self {
        let rows = Slots::of(&keys, &ends);
        let words = lexicon.iter().copied().collect();
        let follows = Follows::of(&labels);
        Labeller { labels, lexicon, keys, ends, weights, rows, words, follows }
    }

    /// Labels a sentence; `out` receives one number a word.
    pub fn label(
        &self,
        forms: &[super::form::Form],
        known: &[u64],
        buffers: &mut Buffers,
        out: &mut Vec<u16>,
    ) {
        let Buffers { lexical, keys, scores } = buffers;
        lexical.clear();
        lexical.extend(
            forms.iter().map(|form| self.words.get(&form.word).copied().unwrap_or_default()),
        );
        let view = View { forms, lexical, known };
        out.clear();
        let mut last = [EDGE; 2];
        for place in 0..forms.len() {
            keys.clear();
            push_fixed(&view, place, keys);
            push_history(&view, place, last, keys);
            scores.clear();
            scores.resize(self.labels.len(), 0.0);
            for &key in &*keys {
                for weight in &self.weights[self.rows.range(key)] {
                    scores[usize::from(weight.label)] += weight.weight;
                }
            }
            let label = self.follows.best(scores, out.last().copied());
            out.push(label);
            last = [u64::from(label) + 1, last[0]];
        }
    }
}

/// Which labels may follow which: `I-NP` continues a chunk of its own type and opens none.
///
/// A label without such a beginning may stand anywhere; a `*` at its end marks a head.
#[derive(Debug, Clone, Default)]
pub(super) struct Follows {
    /// For each label the type it continues, and the type it leaves open, from 1; 0 for none.
    types: Vec<(u16, u16)>,
}

impl Follows {
    /// Reads the rule off the names of labels.
    pub fn of(labels: &[String]) -> Self {
        let mut names: Vec<&str> = Vec::new();
        let mut number = |name| {
            let name: &str = str::trim_end_matches(name, '*');
            let known = names.iter().position(|known| *known == name);
            let place = known.unwrap_or_else(|| {
                names.push(name);
                names.len() - 1
            });
            to_u16(place) + 1
        };
        let types = labels
            .iter()
            .map(|label| match (label.strip_prefix("B-"), label.strip_prefix("I-")) {
                (Some(name), _) => (0, number(name)),
                (_, Some(name)) => (number(name), number(name)),
                _ => (0, 0),
            })
            .collect();
        Follows { types }
    }

    /// The label with the highest score among those that may stand after `last`.
    pub fn best<T: PartialOrd + Copy>(&self, scores: &[T], last: Option<u16>) -> u16 {
        let open = last.map_or(0, |last| self.types[usize::from(last)].1);
        let mut best: Option<(u16, T)> = None;
        for (label, (&score, &(continues, _))) in (0..).zip(scores.iter().zip(&self.types)) {
            let is_better = best.is_none_or(|(_, highest)| score > highest);
            if is_better && (continues == 0 || continues == open) {
                best = Some((label, score));
            }
        }
        best.map_or(0, |(label, _)| label)
    }
}

/// Where the weights of a feature are: a table of one memory line a look-up.
#[derive(Debug, Clone, Default)]
struct Slots {
    /// Key, start and end; an empty range is a free slot. Never full, its size a power of two.
    slots: Vec<(u64, u32, u32)>,
}

impl Slots {
    /// A table of features with the ends of their weights.
    fn of(keys: &[u64], ends: &[u32]) -> Self {
        let size = (keys.len() * 2 + 2).next_power_of_two();
        let mut slots = vec![(0, 0, 0); size];
        let mut start = 0;
        for (&key, &end) in keys.iter().zip(ends) {
            if end > start {
                let mut place = to_usize(key) & (size - 1);
                while slots[place].1 != slots[place].2 {
                    place = (place + 1) & (size - 1);
                }
                slots[place] = (key, start, end);
            }
            start = end;
        }
        Slots { slots }
    }

    /// The range of a feature's weights; empty when it has none.
    fn range(&self, key: u64) -> std::ops::Range<usize> {
        let mask = self.slots.len() - 1;
        let mut place = to_usize(key) & mask;
        loop {
            let (held, start, end) = self.slots[place];
            if held == key || start == end {
                return start as usize..end as usize;
            }
            place = (place + 1) & mask;
        }
    }
}
