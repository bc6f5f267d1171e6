//! The nearest order of `ibm:K`, by inserting the items one after the other.
//!
//! In: the rank of each item in the gold order, and K. Out: the order of `ibm:K` with the fewest
//! pairs put differently.
//! How: an order is in `ibm:K` when at most K-1 lower items come after each item. So item j, inserted
//! into the order of the items below it, may have at most K-1 of them behind it, and all that
//! matters of an order is its last K-1 items. Of those only the ranks matter, and higher ones are
//! better: whatever is inserted later before an item of a lower rank could be inserted before one
//! of a higher rank, for no more. An order that is no better in pairs lost nor in any of its last
//! ranks is dropped.
//! Cost: n steps; few orders remain after each, for they are kept only where both may still win.

use crate::narrow::to_u32;

/// One order of the items so far.
#[derive(Debug, Clone, Copy)]
struct Node {
    lost: u32,
    before: u32,
    /// How many items are behind the one inserted last.
    behind: u32,
}

/// Finds nearest orders one after the other, with memory that is used again.
#[derive(Debug, Default)]
pub struct Insertion {
    nodes: Vec<Node>,
    /// The ranks of the last items of each kept order, as many as matter.
    tails: Vec<u32>,
    next_tails: Vec<u32>,
    kept: Vec<u32>,
    next: Vec<u32>,
    tail: Vec<u32>,
}

impl Insertion {
    /// The nearest order; none when more than `most` orders would have to be kept in all.
    pub fn find(&mut self, ranks: &[u32], words: u32, most: usize) -> Option<Vec<u32>> {
        let reach = (words as usize - 1).min(ranks.len().saturating_sub(1));
        self.nodes.clear();
        self.tails.clear();
        self.kept.clear();
        self.nodes.push(Node { lost: 0, before: 0, behind: 0 });
        self.kept.push(0);
        for (item, &rank) in ranks.iter().enumerate() {
            let turned = to_u32(ranks[..item].iter().filter(|&&other| other > rank).count());
            self.insert(item.min(reach), reach, rank, turned);
            if self.nodes.len() > most {
                return None;
            }
        }
        let best = self.kept.iter().min_by_key(|&&node| self.nodes[node as usize].lost);
        Some(self.way_to(*best?, ranks.len()))
    }

    /// Inserts an item into every kept order, wherever it may go; `turned` items below it have a
    /// higher rank, `width` is how many last items an order has now.
    fn insert(&mut self, width: usize, reach: usize, rank: u32, turned: u32) {
        self.next.clear();
        self.next_tails.clear();
        for at in 0..self.kept.len() {
            let number = self.kept[at];
            let mut lost = self.nodes[number as usize].lost + turned;
            for behind in 0..=width.min(reach) {
                let tail = &self.tails[at * width..(at + 1) * width];
                if behind > 0 {
                    let passed = tail[width - behind];
                    lost = if passed > rank { lost - 1 } else { lost + 1 };
                }
                self.tail.clear();
                self.tail.extend_from_slice(&tail[..width - behind]);
                self.tail.push(rank);
                self.tail.extend_from_slice(&tail[width - behind..]);
                let start = self.tail.len() - reach.min(self.tail.len());
                self.tail.drain(..start);
                self.keep(Node { lost, before: number, behind: to_u32(behind) });
            }
        }
        std::mem::swap(&mut self.kept, &mut self.next);
        std::mem::swap(&mut self.tails, &mut self.next_tails);
    }

    /// Keeps the order with `self.tail` unless another is at least as good; drops those it beats.
    fn keep(&mut self, node: Node) {
        let width = self.tail.len();
        let tail_of = |tails: &[u32], at: usize| tails[at * width..(at + 1) * width].to_vec();
        let beats = |first: &[u32], second: &[u32]| first.iter().zip(second).all(|(a, b)| a >= b);
        for at in 0..self.next.len() {
            let other = self.nodes[self.next[at] as usize];
            let tail = &self.next_tails[at * width..(at + 1) * width];
            if other.lost <= node.lost && beats(tail, &self.tail) {
                return;
            }
        }
        let mut at = 0;
        while at < self.next.len() {
            let other = self.nodes[self.next[at] as usize];
            let tail = &self.next_tails[at * width..(at + 1) * width];
            if node.lost <= other.lost && beats(&self.tail, tail) {
                let last = self.next.len() - 1;
                let moved = tail_of(&self.next_tails, last);
                self.next_tails[at * width..(at + 1) * width].copy_from_slice(&moved);
                self.next_tails.truncate(last * width);
                self.next.swap_remove(at);
            } else {
                at += 1;
            }
        }
        self.next.push(to_u32(self.nodes.len()));
        self.next_tails.extend_from_slice(&self.tail);
        self.nodes.push(node);
    }

    /// The order of a node, by inserting once more.
    fn way_to(&self, number: u32, length: usize) -> Vec<u32> {
        let mut node = self.nodes[number as usize];
        let mut behind = Vec::with_capacity(length);
        for _ in 0..length {
            behind.push(node.behind as usize);
            node = self.nodes[node.before as usize];
        }
        let mut order = Vec::with_capacity(length);
        for (item, &behind) in behind.iter().rev().enumerate() {
            order.insert(item - behind, to_u32(item));
        }
        order
    }
}
