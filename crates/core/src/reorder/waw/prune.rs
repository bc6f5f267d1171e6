//! Early reordering pruning: which words are worth jumping to (SPEC c).
//!
//! In: the phrases that the space allows, by the word they are entered at, and a score for each
//! such word. Out: those worth trying. How: words are ranked by score; the best so many stay, if
//! they are not too far below the best one; phrases near the end of the last one stay anyway.
//! The best word always stays, so this makes no dead end.
//! Cost: one look at each phrase, and a partial sort of the distinct words; no allocation.

use crate::error::{Error, Result};
use crate::feature::Candidate;
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
}

impl Default for Prune {
    fn default() -> Self {
        Prune { top: 3, threshold: 0.1, zone: Some(5) }
    }
}

impl Prune {
    /// Reads what `Display` writes: `waw(top=3,threshold=0.1,zone=5)`; what is left out takes its
    /// default, and `waw` alone is enough.
    pub fn named(name: &str) -> Result<Prune> {
        let parsed = match name.strip_prefix("waw") {
            Some("") => Some(Prune::default()),
            Some(rest) => rest
                .strip_prefix('(')
                .and_then(|rest| rest.strip_suffix(')'))
                .and_then(|inside| inside.split(',').try_fold(Prune::default(), Prune::with)),
            None => None,
        };
        parsed.ok_or_else(|| Error::Argument {
            name: "space".into(),
            found: format!("`+{name}`"),
            expected: "`+waw(top=N,threshold=T,zone=Z)` with N >= 0, T from 0 to 1, Z >= -1".into(),
        })
    }

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
            _ => return None,
        })
    }
}

impl fmt::Display for Prune {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let zone = self.zone.map_or(-1, i64::from);
        write!(f, "waw(top={},threshold={},zone={zone})", self.top, self.threshold)
    }
}

/// A word that phrases are entered at.
#[derive(Debug, Clone, Copy)]
struct Entry {
    score: f32,
    distance: u32,
    word: u32,
}

/// Memory of a choice, reused for all hypotheses of a sentence.
#[derive(Debug, Default)]
pub struct Chooser {
    entries: Vec<Entry>,
    /// By word: the round in which it was last seen, and in which it was last kept.
    seen: Vec<(u32, u32)>,
    round: u32,
}

impl Chooser {
    /// Takes back candidates that are not worth trying. `end` is the word after the last phrase;
    /// `score` is the log score of a word; words count from 0.
    pub fn choose(
        &mut self,
        prune: &Prune,
        end: u32,
        candidates: &mut [Candidate],
        score: impl Fn(u32) -> f32,
    ) {
        self.round += 1;
        self.entries.clear();
        for candidate in &*candidates {
            let at = candidate.entry as usize;
            if self.seen.len() <= at {
                self.seen.resize(at + 1, (0, 0));
            }
            if std::mem::replace(&mut self.seen[at].0, self.round) != self.round {
                self.entries.push(Entry {
                    score: score(candidate.entry),
                    distance: distance(end, candidate.entry),
                    word: candidate.entry,
                });
            }
        }
        let best = self.entries.iter().map(|entry| entry.score).fold(f32::NEG_INFINITY, f32::max);
        if prune.threshold > 0.0 {
            let least = best + prune.threshold.ln() as f32;
            self.entries.retain(|entry| entry.score >= least);
        }
        let top = prune.top as usize;
        if top > 0 && top < self.entries.len() {
            self.entries.select_nth_unstable_by(top - 1, |a, b| {
                let by_score = b.score.total_cmp(&a.score);
                by_score.then((a.distance, a.word).cmp(&(b.distance, b.word)))
            });
            self.entries.truncate(top);
        }
        for entry in &self.entries {
            self.seen[entry.word as usize].1 = self.round;
        }
        for candidate in candidates {
            let near = prune.zone.is_some_and(|zone| distance(end, candidate.span.start) <= zone);
            candidate.kept &= near || self.seen[candidate.entry as usize].1 == self.round;
        }
    }
}
