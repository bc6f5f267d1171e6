//! The order oracle: the order in a space that is nearest to a given one.
//!
//! In: a set of orders and a gold order. Out: the order in the set that puts the fewest pairs of
//! items differently (Kendall's distance), exactly.
//! How: a gold order of the set is its own answer. Trees: the chart of linear ordering, from source
//! order, where a pair is worth 1 as the gold order has it (definitions i.7). `ibm:K`: see
//! `insertion`. Spaces that look only near the first open item, `mj1`, `mj2` and `dl:K`: see
//! `machine`. Where that is too large (large K): a search over places in the order of pairs lost so
//! far; an item that is taken while k items that should come before it are not loses k pairs.
//! Ties: places first seen come first, items are tried from left to right.
//! Cost: O(n³) for trees, O(n) for the others but the search, which takes as many places as lose
//! fewer pairs than the answer; beyond a number of places there is no answer.

use super::insertion::Insertion;
use super::machine::{Machine, Walk};
use super::orders::{Orders, no_permutation};
use super::steps::{LONGEST, Place, Steps, Taken};
use crate::error::Result;
use crate::narrow::to_u32;
use crate::reorder::Space;
use crate::reorder::lop::{Chart, LONGEST as LONGEST_CHART, Pairs};
use crate::reorder::order::{inverse, inversions};
use rustc_hash::FxHashMap;

/// How far the nearest order is from gold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Distance {
    /// Number of items.
    pub length: u32,
    /// Pairs that the gold order reverses.
    pub gold: u64,
    /// Pairs that the nearest order reverses.
    pub nearest: u64,
    /// Pairs that the two put differently.
    pub wrong: u64,
}

/// A place on the way, and how it was reached.
#[derive(Debug)]
struct Step {
    place: Place,
    /// The items taken, by their rank in the gold order.
    ranks: Taken,
    taken: u32,
    lost: u32,
    word: u32,
    before: u32,
}

/// Finds nearest orders one after the other, with memory that is used again.
#[derive(Debug, Default)]
pub struct Nearest {
    chart: Chart,
    pairs: Pairs,
    insertion: Insertion,
    /// The machine of the set that was asked for last, if it has one.
    machine: Option<(Orders, Option<Machine>)>,
    walk: Walk,
    steps: Vec<Step>,
    /// Steps by pairs lost.
    queue: Vec<Vec<u32>>,
    known: FxHashMap<Place, u32>,
    words: Vec<u32>,
}

impl Nearest {
    /// The nearest order of the set; none when more than `most` places would have to be looked at,
    /// or the order is too long for that.
    pub fn find(&mut self, orders: Orders, gold: &[u32], most: usize) -> Result<Option<Vec<u32>>> {
        let ranks = inverse(gold).ok_or_else(|| no_permutation(gold.len()))?;
        let longest = if orders.are_trees() { LONGEST_CHART } else { LONGEST };
        match orders.space {
            Space::Mono => return Ok(Some((0..to_u32(gold.len())).collect())),
            Space::Dl(None) => return Ok(Some(gold.to_vec())),
            _ if gold.len() > longest => return Ok(None),
            _ if orders.contain(gold)? => return Ok(Some(gold.to_vec())),
            Space::Itg => return Ok(Some(self.by_chart(&ranks, orders.widest))),
            Space::Ibm(words) => return Ok(self.insertion.find(&ranks, words, most)),
            Space::Mj1 | Space::Mj2 | Space::Dl(Some(_)) => {}
        }
        if self.machine.as_ref().is_none_or(|(of, _)| *of != orders) {
            self.machine = Some((orders, Machine::of(orders)));
        }
        match &self.machine {
            Some((_, Some(machine))) => Ok(machine.nearest(&ranks, &mut self.walk)),
            _ => Ok(self.by_search(Steps::new(orders, gold.len())?, &ranks, most)),
        }
    }

    /// The distances of the order that `find` gives for `gold`.
    pub fn distance(gold: &[u32], nearest: &[u32]) -> Option<Distance> {
        let ranks = inverse(gold)?;
        let relabelled: Vec<u32> = nearest.iter().map(|&word| ranks[word as usize]).collect();
        Some(Distance {
            length: to_u32(gold.len()),
            gold: inversions(gold),
            nearest: inversions(nearest),
            wrong: inversions(&relabelled),
        })
    }

    fn by_chart(&mut self, ranks: &[u32], widest: u32) -> Vec<u32> {
        let length = ranks.len();
        self.pairs.clear(length);
        for (first, rank) in ranks.iter().enumerate() {
            for (second, other) in ranks.iter().enumerate() {
                if rank < other {
                    self.pairs.set(first, second, 1.0);
                }
            }
        }
        let mut order: Vec<u32> = (0..to_u32(length)).collect();
        self.chart.step(&self.pairs, &mut order, widest as usize);
        order
    }

    pub(super) fn by_search(
        &mut self,
        steps: Steps,
        ranks: &[u32],
        most: usize,
    ) -> Option<Vec<u32>> {
        self.steps.clear();
        self.known.clear();
        self.queue.iter_mut().for_each(Vec::clear);
        let start = Step {
            place: steps.start(),
            ranks: Taken::default(),
            taken: 0,
            lost: 0,
            word: 0,
            before: 0,
        };
        self.push(start);
        let mut lost = 0;
        while self.steps.len() <= most {
            // The queue grows while it is walked; what is added is never cheaper.
            let Some(number) = self.pop(&mut lost) else { break };
            let step = &self.steps[number as usize];
            if self.known.get(&step.place) != Some(&step.lost) {
                continue;
            }
            if step.taken as usize == ranks.len() {
                return Some(self.way_to(number));
            }
            self.extend(steps, ranks, number);
        }
        None
    }

    /// The next step that lost the fewest pairs.
    fn pop(&mut self, lost: &mut usize) -> Option<u32> {
        while *lost < self.queue.len() {
            if let Some(number) = self.queue[*lost].pop() {
                return Some(number);
            }
            *lost += 1;
        }
        None
    }

    fn push(&mut self, step: Step) {
        let lost = step.lost as usize;
        if self.known.get(&step.place).is_some_and(|&known| known <= step.lost) {
            return;
        }
        self.known.insert(step.place.clone(), step.lost);
        if self.queue.len() <= lost {
            self.queue.resize_with(lost + 1, Vec::new);
        }
        self.queue[lost].push(to_u32(self.steps.len()));
        self.steps.push(step);
    }

    fn extend(&mut self, steps: Steps, ranks: &[u32], number: u32) {
        let mut words = std::mem::take(&mut self.words);
        let step = &self.steps[number as usize];
        let (place, taken, lost, before) = (step.place.clone(), step.ranks, step.lost, step.taken);
        steps.next_words(&place, &mut words);
        let due = |word: u32| pairs_lost(&taken, ranks[word as usize]);
        // The last pushed is the first popped: the leftmost item goes last.
        for &word in words.iter().rev() {
            let Some(next) = steps.after(&place, word) else { continue };
            let rank = ranks[word as usize];
            let mut by_rank = taken;
            by_rank[rank as usize / 64] |= 1 << (rank % 64);
            self.push(Step {
                place: next,
                ranks: by_rank,
                taken: before + 1,
                lost: lost + due(word),
                word,
                before: number,
            });
        }
        self.words = words;
    }

    fn way_to(&self, number: u32) -> Vec<u32> {
        let mut order = Vec::new();
        let mut step = &self.steps[number as usize];
        while step.taken > 0 {
            order.push(step.word);
            step = &self.steps[step.before as usize];
        }
        order.reverse();
        order
    }
}

/// How many items of a lower rank are not taken yet.
fn pairs_lost(taken: &Taken, rank: u32) -> u32 {
    let (block, bit) = (rank as usize / 64, rank % 64);
    let full: u32 = taken[..block].iter().map(|bits| bits.count_ones()).sum();
    rank - full - (taken[block] & ((1 << bit) - 1)).count_ones()
}
