//! Early reordering pruning: which words are worth jumping to (definitions c).
//!
//! In: the words that phrases which the space allows are entered at, and a score for each, which
//! comes from any path feature that rates words. Out: those worth jumping to.
//! How: words are ranked by score; the best so many stay, if they are not too far below the best
//! one; phrases that start near the end of the last one stay anyway. The best word always stays,
//! so this makes no dead end. With `pops=kept` a stack makes as many fewer hypotheses as pruning
//! left it fewer edges.
//! Cost: one look at each word and a partial sort; no allocation.

use crate::corpus::SrcPos;
use crate::error::{Error, Result};
use crate::feature::{Span, check_name};
use crate::narrow::{to_f32, to_usize, whole};
use crate::reorder::distortion::distance;
use std::fmt;

/// How much is pruned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prune {
    /// So many words stay; 0: any number.
    pub top: u32,
    /// Words stay that are at least so likely, compared to the best; 0: any.
    pub threshold: f64,
    /// Phrases that start at most so far from the end of the last one stay; none: no such phrase.
    pub zone: Option<u32>,
    /// Whether a stack makes as many fewer hypotheses as it has fewer edges.
    pub saves: bool,
}

impl Default for Prune {
    fn default() -> Self {
        Prune { top: 3, threshold: 0.1, zone: Some(5), saves: false }
    }
}

/// Hypotheses that are made anyway where pruning saves them.
const LEAST_POPS: usize = 20;

/// Pruning by a path feature: `waw(top=3,threshold=0.1,zone=5)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Pruning {
    /// The name of the path feature.
    pub feature: String,
    /// How much is pruned.
    pub rules: Prune,
}

impl Pruning {
    /// Reads what `Display` writes; what is left out takes its default, and a name alone is
    /// enough.
    pub fn named(text: &str) -> Result<Pruning> {
        let (feature, rules) = match text.split_once('(') {
            Some((feature, rest)) => {
                let inside = rest.strip_suffix(')');
                let fields = inside.map(|inside| inside.split(','));
                (feature, fields.and_then(|mut f| f.try_fold(Prune::default(), Prune::with)))
            }
            None => (text, Some(Prune::default())),
        };
        match rules.filter(|_| check_name(feature).is_ok()) {
            Some(rules) => Ok(Pruning { feature: feature.into(), rules }),
            None => Err(Error::Argument {
                name: "space".into(),
                found: format!("`+{text}`"),
                expected: "`+FEATURE(top=N,threshold=T,zone=Z)` with N >= 0, T from 0 to 1, \
                           Z >= -1, or also pops=kept"
                    .into(),
            }),
        }
    }
}

impl fmt::Display for Pruning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Prune { top, threshold, zone, saves } = self.rules;
        let zone = zone.map_or(-1, i64::from);
        let pops = if saves { ",pops=kept" } else { "" };
        write!(f, "{}(top={top},threshold={threshold},zone={zone}{pops})", self.feature)
    }
}

impl Prune {
    fn with(self, field: &str) -> Option<Prune> {
        let (name, value) = field.split_once('=')?;
        Some(match name.trim() {
            "top" => Prune { top: value.trim().parse().ok()?, ..self },
            "threshold" => {
                let threshold: f64 = value.trim().parse().ok()?;
                (0.0..=1.0).contains(&threshold).then_some(Prune { threshold, ..self })?
            }
            "zone" if value.trim() == "-1" => Prune { zone: None, ..self },
            "zone" => Prune { zone: Some(value.trim().parse().ok()?), ..self },
            "pops" => match value.trim() {
                "all" => Prune { saves: false, ..self },
                "kept" => Prune { saves: true, ..self },
                _ => return None,
            },
            _ => return None,
        })
    }

    /// The pop limit of a stack of which so many edges were kept and left out; 0: no limit.
    pub fn pops(&self, limit: usize, kept: usize, left_out: u64) -> usize {
        if !self.saves || limit == 0 {
            return limit;
        }
        let share = kept as f64 / (kept as f64 + left_out as f64).max(1.0);
        to_usize(whole((limit as f64 * share).ceil())).max(LEAST_POPS.min(limit))
    }

    /// Where phrases may start that stay anyway; `end` is the word after the last phrase.
    pub fn spared(&self, end: u32) -> Span {
        self.zone.map_or(Span::default(), |zone| {
            Span::new(end.saturating_sub(zone), end.saturating_add(zone).saturating_add(1))
        })
    }
}

/// A word that phrases are entered at.
#[derive(Debug, Clone, Copy)]
struct Entry {
    score: f32,
    distance: u32,
    word: SrcPos,
}

/// Chooses words; its memory is reused for all hypotheses of a sentence.
#[derive(Debug)]
pub struct Chooser {
    prune: Prune,
    /// What may lie between a word and the best one.
    margin: f32,
    entries: Vec<Entry>,
}

impl Chooser {
    /// Chooses by these rules.
    pub fn new(prune: Prune) -> Self {
        // The log of 0 is no bound.
        Chooser { prune, margin: to_f32(prune.threshold.ln()), entries: Vec::new() }
    }

    /// Its rules.
    pub fn rules(&self) -> &Prune {
        &self.prune
    }

    /// Takes words back that are not worth jumping to, and returns where phrases may start that
    /// stay anyway. `end` is the word after the last phrase; `scores` are logs, one a word; no word
    /// comes twice.
    pub fn choose(&mut self, end: u32, words: &mut Vec<SrcPos>, scores: &[f32]) -> Span {
        let Chooser { prune, margin, entries } = self;
        let best = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let least = best + *margin;
        let scored = words.iter().zip(scores).filter(|(_, score)| **score >= least);
        entries.clear();
        entries.extend(scored.map(|(&word, &score)| Entry {
            score,
            distance: distance(end, word.0),
            word,
        }));
        let top = prune.top as usize;
        if top > 0 && top < entries.len() {
            entries.select_nth_unstable_by(top - 1, |a, b| {
                let by_score = b.score.total_cmp(&a.score);
                by_score.then((a.distance, a.word).cmp(&(b.distance, b.word)))
            });
            entries.truncate(top);
        }
        words.clear();
        words.extend(entries.iter().map(|entry| entry.word));
        prune.spared(end)
    }
}

#[cfg(test)]
mod tests;
