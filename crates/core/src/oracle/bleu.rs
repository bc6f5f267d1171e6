//! The BLEU oracle: the best string that a space of orders makes of given phrases.
//!
//! In: references, and candidates: phrases that stay whole, in source order. Out: which candidate in
//! which order comes nearest to the references (definitions i.2 to i.4).
//! How: every candidate by itself, through the lattice of the space or a chart of trees; of their
//! answers that with the highest approximate BLEU times brevity penalty, the first of equals. What
//! is chosen grows with the space, as long as nothing is pruned.
//! Cost: see `layered` and `tree`; lattices are made once for each number of phrases and shared.

use super::clipped::brevity;
use super::front::Pruning;
use super::grams::Grams;
use super::lattice::Lattice;
use super::layered::{Layered, Ordered};
use super::orders::Orders;
use super::tree::TreeChart;
use crate::error::{Error, Result};
use crate::job::Job;
use crate::parallel;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{Arc, Mutex};

/// Room for rounding where scores are compared with a floor.
const NEARLY: f64 = 1.0 - 1e-9;
/// What a first look keeps.
const QUICK: Pruning = Pruning { beam: 0.0, keep: 8 };

/// A sentence to be ordered.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Problem {
    /// References, in words.
    pub refs: Vec<Vec<String>>,
    /// Candidates: for each its phrases, in words.
    pub candidates: Vec<Vec<Vec<String>>>,
}

/// The best order of the best candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct Best {
    /// The candidate.
    pub candidate: usize,
    /// Its phrases as they come.
    pub order: Vec<u32>,
    /// Approximate BLEU, 0 to 1.
    pub score: f64,
    /// Matches of orders 1 to 4.
    pub matched: [u32; 4],
    /// Whether nothing was pruned that might have won.
    pub is_exact: bool,
}

/// A space at work.
#[derive(Debug)]
pub struct Oracle {
    orders: Orders,
    pruning: Pruning,
    /// States of a lattice, at most.
    most: usize,
    lattices: Mutex<FxHashMap<usize, Arc<Lattice>>>,
}

/// The memory of a thread.
#[derive(Debug, Default)]
struct Worker {
    grams: Grams,
    layered: Layered,
    chart: TreeChart,
}

impl Oracle {
    /// The oracle of a set of orders; `most` bounds the states of its lattices.
    pub fn new(orders: Orders, pruning: Pruning, most: usize) -> Result<Oracle> {
        if !(0.0..=1.0).contains(&pruning.beam) {
            return Err(Error::Argument {
                name: "beam".into(),
                found: pruning.beam.to_string(),
                expected: "a number from 0 (off) to 1".into(),
            });
        }
        Ok(Oracle { orders, pruning, most, lattices: Mutex::default() })
    }

    /// The best orders of many sentences; none for a sentence without candidates.
    pub fn all(&self, problems: &[Problem], job: &Job) -> Result<Vec<Option<Best>>> {
        job.begin(problems.len() as u64);
        let solve = |worker: &mut Worker, number: usize| {
            let best = self.best(worker, &problems[number])?;
            job.advance(1);
            Ok(best)
        };
        let (all, _) = parallel::map(problems.len(), 1, job, Worker::default, solve)?;
        Ok(all)
    }

    fn best(&self, worker: &mut Worker, problem: &Problem) -> Result<Option<Best>> {
        let refs: Vec<Vec<&str>> = problem.refs.iter().map(|words| texts(words)).collect();
        let phrases = problem.candidates.iter().flatten().flatten();
        let there: FxHashSet<&str> = phrases.map(String::as_str).collect();
        worker.grams.read(&refs, |word| there.contains(word));
        let lengths: Vec<usize> = refs.iter().map(Vec::len).collect();
        let mut best: Option<(f64, Best)> = None;
        for (candidate, phrases) in problem.candidates.iter().enumerate() {
            let numbers = |words: &Vec<String>| -> Vec<u32> {
                words.iter().map(|word| worker.grams.word(word)).collect()
            };
            let items: Vec<Vec<u32>> = phrases.iter().map(numbers).collect();
            let words: usize = items.iter().map(Vec::len).sum();
            let penalty = brevity(words, &lengths);
            let known = best.as_ref().map_or(0.0, |(known, _)| *known);
            let floor = if penalty > 0.0 { known / penalty } else { 0.0 };
            let Some(ordered) = self.order(worker, &items, floor * NEARLY)? else { continue };
            let Ordered { order, counts, is_exact } = ordered;
            let score = counts.score(words);
            let worth = score * penalty;
            if best.as_ref().is_none_or(|(known, _)| worth > *known) {
                let matched = counts.all();
                best = Some((worth, Best { candidate, order, score, matched, is_exact }));
            }
        }
        Ok(best.map(|(_, best)| best))
    }

    /// The best order of a candidate; none when it scores below `floor`.
    fn order(
        &self,
        worker: &mut Worker,
        items: &[Vec<u32>],
        floor: f64,
    ) -> Result<Option<Ordered>> {
        let Worker { grams, layered, chart } = worker;
        let words = items.iter().map(Vec::len).sum();
        if self.orders.are_trees() {
            // A quick look first: what it finds tells what need not be tried.
            let widest = self.orders.widest;
            let quick = chart.best(widest, items, grams, QUICK, floor);
            let found = quick.as_ref().map_or(0.0, |quick| quick.counts.score(words) * NEARLY);
            let best = chart.best(widest, items, grams, self.pruning, floor.max(found));
            // A narrow beam may lose what the quick look has.
            return Ok(best.or(quick));
        }
        let lattice = self.lattice(items.len())?;
        Ok(layered.best(&lattice, items, grams, self.pruning, floor))
    }

    fn lattice(&self, items: usize) -> Result<Arc<Lattice>> {
        let mut lattices = self.lattices.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(known) = lattices.get(&items) {
            return Ok(Arc::clone(known));
        }
        let lattice = Arc::new(Lattice::of(self.orders, items, self.most)?);
        lattices.insert(items, Arc::clone(&lattice));
        Ok(lattice)
    }
}

fn texts(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}
