//! The k best orders of a sentence, all different.
//!
//! In: scores of the nodes of its bracketings. Out: orders from best to worst; the score of an
//! order is that of its best bracketing.
//! How: each span keeps its k best orders in each place of the node above. They come from a heap
//! of (split, label, order of the left half, order of the right half); many bracketings give the
//! same order, so orders are told apart by a hash that follows from those of the halves.
//! Cost: O(n³ + n²·k·log) time; k entries a span and place.

use super::slots::mix;
use super::span_features::PLACES;
use super::tree::{Both, Extra, LABELS, Nodes, ROOT, place_of};
use crate::narrow::{to_u8, to_u32};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// An order and its score over source order.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// The score of its best bracketing.
    pub score: f64,
    /// The order.
    pub order: Vec<u32>,
}

/// An order of a span: how it is made of orders of its halves.
#[derive(Debug, Clone, Copy)]
struct Entry {
    score: f64,
    hash: u64,
    split: u32,
    label: u8,
    /// Ranks of the two halves in their lists.
    ranks: [u32; 2],
}

/// An entry in a heap: the best score first, then the first split, straight before inverted.
#[derive(Debug, Clone, Copy)]
struct Candidate(Entry);

impl Candidate {
    fn key(&self) -> (u32, u8, [u32; 2]) {
        (self.0.split, self.0.label, self.0.ranks)
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.score.total_cmp(&other.0.score).then_with(|| other.key().cmp(&self.key()))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

/// Memory for lists of orders.
#[derive(Debug, Default)]
pub struct Nbest {
    side: usize,
    /// By span and place.
    lists: Vec<[Vec<Entry>; PLACES]>,
    heap: BinaryHeap<Candidate>,
    scores: Vec<Both>,
    powers: Vec<u64>,
}

impl Nbest {
    /// At most `most` orders.
    pub fn orders(&mut self, nodes: &Nodes, extra: &impl Extra, most: usize) -> Vec<Ranked> {
        let length = nodes.len();
        if length < 2 {
            return vec![Ranked { score: 0.0, order: (0..to_u32(length)).collect() }];
        }
        self.begin(length);
        for width in 2..=length {
            for start in 0..=length - width {
                self.fill(nodes, extra, (start, start + width), most);
            }
        }
        let best = self.lists[length][ROOT].iter().enumerate();
        best.map(|(rank, entry)| {
            let mut order = Vec::with_capacity(length);
            self.read_off((0, length, ROOT, rank), &mut order);
            Ranked { score: entry.score, order }
        })
        .collect()
    }

    fn begin(&mut self, length: usize) {
        self.side = length + 1;
        self.lists.clear();
        self.lists.resize_with(self.side * self.side, Default::default);
        self.powers.clear();
        self.powers.push(1);
        for word in 0..length {
            let last = self.powers[word];
            self.powers.push(last.wrapping_mul(0xa076_1d64_78bd_642f));
            let hash = mix(word as u64 + 1, 0x9e37);
            let entry = Entry { score: 0.0, hash, split: 0, label: 0, ranks: [0; 2] };
            let lists = &mut self.lists[word * self.side + word + 1];
            lists.iter_mut().for_each(|list| list.push(entry));
        }
    }

    fn fill(
        &mut self,
        nodes: &Nodes,
        extra: &impl Extra,
        (start, end): (usize, usize),
        most: usize,
    ) {
        self.scores.clear();
        for split in start + 1..end {
            let (own, more) = (nodes.score(start, split, end), extra.extra(start, split, end));
            self.scores.push([own[0] + more[0], own[1] + more[1]]);
        }
        for place in 0..PLACES {
            // Only the whole sentence stands at the root.
            let is_whole = end - start + 1 == self.side;
            if is_whole != (place == ROOT) {
                continue;
            }
            let worth = nodes.place(start, end, place);
            let list = self.best_of((start, end), worth, most);
            self.lists[start * self.side + end][place] = list;
        }
    }

    fn best_of(&mut self, (start, end): (usize, usize), worth: Both, most: usize) -> Vec<Entry> {
        let mut heap = std::mem::take(&mut self.heap);
        heap.clear();
        for split in start + 1..end {
            for label in 0..LABELS {
                heap.extend(self.candidate((start, end), (split, label), worth, [0, 0]));
            }
        }
        let mut list: Vec<Entry> = Vec::with_capacity(most);
        while list.len() < most
            && let Some(Candidate(entry)) = heap.pop()
        {
            let from = (entry.split as usize, usize::from(entry.label));
            let [left, right] = entry.ranks;
            heap.extend(self.candidate((start, end), from, worth, [left, right + 1]));
            // Each pair of ranks is reached in one way only.
            if right == 0 {
                heap.extend(self.candidate((start, end), from, worth, [left + 1, 0]));
            }
            if list.iter().all(|known| known.hash != entry.hash) {
                list.push(entry);
            }
        }
        self.heap = heap;
        list
    }

    /// The order of a span that comes from these orders of its halves, if there are such.
    fn candidate(
        &self,
        (start, end): (usize, usize),
        (split, label): (usize, usize),
        worth: Both,
        ranks: [u32; 2],
    ) -> Option<Candidate> {
        let left = &self.lists[start * self.side + split][place_of(label, false)];
        let right = &self.lists[split * self.side + end][place_of(label, true)];
        let (left, right) = (left.get(ranks[0] as usize)?, right.get(ranks[1] as usize)?);
        let own = self.scores[split - start - 1][label] + worth[label];
        let joined = |first: u64, second: u64, length: usize| {
            first.wrapping_mul(self.powers[length]).wrapping_add(second)
        };
        let hash = match label {
            0 => joined(left.hash, right.hash, end - split),
            _ => joined(right.hash, left.hash, split - start),
        };
        let score = own + left.score + right.score;
        Some(Candidate(Entry { score, hash, split: to_u32(split), label: to_u8(label), ranks }))
    }

    fn read_off(&self, whole: (usize, usize, usize, usize), order: &mut Vec<u32>) {
        let mut spans = vec![whole];
        while let Some((start, end, place, rank)) = spans.pop() {
            if end - start == 1 {
                order.push(to_u32(start));
                continue;
            }
            let entry = self.lists[start * self.side + end][place][rank];
            let (split, label) = (entry.split as usize, usize::from(entry.label));
            let [left, right] = entry.ranks.map(|rank| rank as usize);
            let left = (start, split, place_of(label, false), left);
            let right = (split, end, place_of(label, true), right);
            spans.extend(if label == 1 { [left, right] } else { [right, left] });
        }
    }
}
