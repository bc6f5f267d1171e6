//! The n best ways through the recombined hypotheses.
//!
//! In: hypotheses with their arcs, and the complete one. Out: paths, best first, lazily.
//! How: a path differs from an earlier one by an arc at one place and is the best from there
//! back to the start; places before the last deviation are not touched, so each path comes once.
//! Cost: O(arcs on the path) a path.

use crate::decode::ids::HypId;
use crate::decode::search::hypothesis::Hyp;
use crate::feature::OptionId;
use crate::narrow::to_u32;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Stands for the path before the first.
const FIRST: u32 = u32::MAX;

/// An iterator over complete paths, best first.
pub struct Paths<'a> {
    hyps: &'a [Hyp],
    /// Those that were returned.
    known: Vec<Vec<HypId>>,
    queue: BinaryHeap<Detour>,
    /// Detours queued so far.
    queued: u32,
}

/// A path not yet written out: an earlier one up to `at`, where it takes `arc` instead.
#[derive(Debug, Clone, Copy)]
struct Detour {
    score: f64,
    age: u32,
    parent: u32,
    at: u32,
    arc: HypId,
}

impl PartialEq for Detour {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Detour {}

impl PartialOrd for Detour {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Detour {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(other.age.cmp(&self.age))
    }
}

impl<'a> Paths<'a> {
    /// All paths to a complete hypothesis.
    pub fn new(hyps: &'a [Hyp], last: HypId) -> Self {
        let score = hyps[last.index()].score;
        let first = Detour { score, age: 0, parent: FIRST, at: 0, arc: last };
        Paths { hyps, known: Vec::new(), queue: BinaryHeap::from(vec![first]), queued: 1 }
    }

    /// Queues every way to leave this path after its last detour.
    fn branch(&mut self, path: &[HypId], from: usize, score: f64) {
        for (at, &step) in path.iter().enumerate().skip(from) {
            let best = self.hyps[step.index()];
            let mut arc = best.arc;
            while arc != HypId::NONE {
                let other = self.hyps[arc.index()];
                self.queue.push(Detour {
                    score: score - (best.score - other.score),
                    age: self.queued,
                    parent: to_u32(self.known.len()),
                    at: to_u32(at),
                    arc,
                });
                self.queued += 1;
                arc = other.arc;
            }
        }
    }
}

impl Iterator for Paths<'_> {
    type Item = Vec<OptionId>;

    /// The options of the next path, in target order.
    fn next(&mut self) -> Option<Vec<OptionId>> {
        let Detour { score, parent, at, arc, .. } = self.queue.pop()?;
        let mut path = match self.known.get(parent as usize) {
            Some(parent) => parent[..at as usize].to_vec(),
            None => Vec::new(),
        };
        let mut step = arc;
        while self.hyps[step.index()].option != OptionId::NONE {
            path.push(step);
            step = self.hyps[step.index()].back;
        }
        // The place of the detour has had all its arcs queued with the parent.
        let from = if parent == FIRST { 0 } else { at as usize + 1 };
        self.branch(&path, from, score);
        let options = path.iter().rev().map(|&step| self.hyps[step.index()].option).collect();
        self.known.push(path);
        Some(options)
    }
}
