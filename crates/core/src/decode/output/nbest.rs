//! The n best paths through the recombined hypotheses.
//!
//! In: hypotheses with their arcs, and the complete one. Out: paths, best first, lazily.
//! How: a path deviates from an earlier path by an arc at one position, and follows the best path
//! from there back to the start. Later deviations come only before that position, so no path occurs
//! twice.
//! Cost: O(arcs on the path) per path.

use crate::decode::ids::HypId;
use crate::decode::search::hypothesis::Hypothesis;
use crate::feature::OptionId;
use crate::narrow::to_u32;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Parent of the first path.
const FIRST: u32 = u32::MAX;

/// An iterator over complete paths, best first.
pub struct NbestPaths<'a> {
    hyps: &'a [Hypothesis],
    /// Paths returned so far.
    known: Vec<Vec<HypId>>,
    queue: BinaryHeap<PathDeviation>,
    /// Number of queued deviations.
    queued: u32,
}

/// A path in the queue: its parent up to `at`, where it takes `arc` instead.
#[derive(Debug, Clone, Copy)]
struct PathDeviation {
    score: f64,
    age: u32,
    parent: u32,
    at: u32,
    arc: HypId,
}

impl PartialEq for PathDeviation {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for PathDeviation {}

impl PartialOrd for PathDeviation {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for PathDeviation {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(other.age.cmp(&self.age))
    }
}

impl<'a> NbestPaths<'a> {
    /// Iterate over all paths to a complete hypothesis.
    pub fn new(hyps: &'a [Hypothesis], last: HypId) -> Self {
        let score = hyps[last.index()].score;
        let first = PathDeviation { score, age: 0, parent: FIRST, at: 0, arc: last };
        NbestPaths { hyps, known: Vec::new(), queue: BinaryHeap::from(vec![first]), queued: 1 }
    }

    /// Queue all deviations from a path at the positions from `from` on.
    fn branch(&mut self, path: &[HypId], from: usize, score: f64) {
        for (at, &step) in path.iter().enumerate().skip(from) {
            let best = self.hyps[step.index()];
            let mut arc = best.arc;
            while arc != HypId::NONE {
                let other = self.hyps[arc.index()];
                self.queue.push(PathDeviation {
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

impl Iterator for NbestPaths<'_> {
    type Item = Vec<OptionId>;

    /// Return the options of the next path, in target order.
    fn next(&mut self) -> Option<Vec<OptionId>> {
        let PathDeviation { score, parent, at, arc, .. } = self.queue.pop()?;
        let mut path = match self.known.get(parent as usize) {
            Some(parent) => parent[..at as usize].to_vec(),
            None => Vec::new(),
        };
        let mut step = arc;
        while self.hyps[step.index()].option != OptionId::NONE {
            path.push(step);
            step = self.hyps[step.index()].back;
        }
        // All arcs at the deviation itself were queued with the parent.
        let from = if parent == FIRST { 0 } else { at as usize + 1 };
        self.branch(&path, from, score);
        let options = path.iter().rev().map(|&step| self.hyps[step.index()].option).collect();
        self.known.push(path);
        Some(options)
    }
}
