//! The best order that exchanging neighbouring pieces can lead to, in one pass over a chart.
//!
//! In: the pair matrix of a sentence and an order. Out: the best of all orders that come from it
//! by a binary bracketing whose nodes may exchange their two halves (the neighbourhood of
//! separable permutations: exponentially many), and what it gains.
//! How: Δ(i,j,k), the gain of exchanging (i,j] and (j,k], does not depend on the order inside
//! either piece, so a bracketing's gain is the sum over its nodes (Tromble and Eisner, 2009;
//! definitions h.3). Δ is a difference of sums over rectangles, looked up in O(1).
//! Ties: pieces are exchanged only for a gain; of equal splits the first is taken.
//! Cost: O(n³) time, O(n²) memory that is used again.

use super::pairs::Pairs;
use crate::narrow::to_u16;

/// The most words of a sentence: back-pointers are 16 bits.
pub const LONGEST: usize = 1 << 14;

/// Memory for charts.
#[derive(Debug, Default)]
pub struct Chart {
    /// Corners, one more than words.
    side: usize,
    /// `sums[x][y]`: gain of all exchanges of one of the first x words with one of the first y.
    sums: Vec<f64>,
    /// The same with rows and columns exchanged, so that a loop over splits is a walk along rows.
    turned: Vec<f64>,
    /// The best gain inside a span, by start and end, and by end and start.
    best: Vec<f64>,
    best_turned: Vec<f64>,
    /// The split of a span, and whether its halves are exchanged.
    splits: Vec<(u16, bool)>,
    reordered: Vec<u32>,
    spans: Vec<(usize, usize)>,
}

impl Chart {
    /// Moves `order` to the best order of its neighbourhood; returns the gain, 0 when it stays.
    /// Pieces are exchanged only when they have at most `widest` words together.
    pub fn step(&mut self, pairs: &Pairs, order: &mut Vec<u32>, widest: usize) -> f64 {
        debug_assert!(order.len() <= LONGEST);
        if order.len() < 2 {
            return 0.0;
        }
        self.sum_up(pairs, order);
        self.fill(widest);
        let gain = self.best[self.side - 1];
        if gain > 0.0 {
            self.read_off(order);
        }
        gain
    }

    /// Steps until nothing is gained; the number of steps that gained.
    pub fn climb(&mut self, pairs: &Pairs, order: &mut Vec<u32>, widest: usize) -> usize {
        let mut steps = 0;
        while self.step(pairs, order, widest) > 0.0 {
            steps += 1;
        }
        steps
    }

    fn sum_up(&mut self, pairs: &Pairs, order: &[u32]) {
        let side = order.len() + 1;
        self.side = side;
        for table in [&mut self.sums, &mut self.turned, &mut self.best, &mut self.best_turned] {
            table.clear();
            table.resize(side * side, 0.0);
        }
        self.splits.resize(side * side, (0, false));
        for (x, &first) in order.iter().enumerate() {
            let mut row = 0.0;
            for (y, &second) in order.iter().enumerate() {
                if y > x {
                    row += pairs.gain(first, second);
                }
                let sum = self.sums[x * side + y + 1] + row;
                self.sums[(x + 1) * side + y + 1] = sum;
                self.turned[(y + 1) * side + x + 1] = sum;
            }
        }
    }

    fn fill(&mut self, widest: usize) {
        let side = self.side;
        for width in 2..side {
            for start in 0..side - width {
                let end = start + width;
                let (gain, split) = if width <= widest {
                    self.best_split::<true>(start, end)
                } else {
                    self.best_split::<false>(start, end)
                };
                self.best[start * side + end] = gain;
                self.best_turned[end * side + start] = gain;
                self.splits[start * side + end] = split;
            }
        }
    }

    fn best_split<const MAY_TURN: bool>(&self, start: usize, end: usize) -> (f64, (u16, bool)) {
        let side = self.side;
        let inner = start + 1..end;
        let left = &self.best[start * side..][inner.clone()];
        let right = &self.best_turned[end * side..][inner.clone()];
        let to_end = &self.turned[end * side..][inner.clone()];
        let to_split = &self.sums[start * side..][inner.clone()];
        let corner = self.sums[start * side + end];
        let mut best = (f64::NEG_INFINITY, (0, false));
        for (at, split) in inner.enumerate() {
            let mut gain = left[at] + right[at];
            let mut is_turned = false;
            if MAY_TURN {
                let delta = to_end[at] - corner - self.sums[split * side + split] + to_split[at];
                is_turned = delta > 0.0;
                gain += delta.max(0.0);
            }
            if gain > best.0 {
                best = (gain, (to_u16(split), is_turned));
            }
        }
        best
    }

    /// The order at the end of the back-pointers.
    fn read_off(&mut self, order: &mut Vec<u32>) {
        self.reordered.clear();
        self.spans.clear();
        self.spans.push((0, order.len()));
        while let Some((start, end)) = self.spans.pop() {
            if end - start == 1 {
                self.reordered.push(order[start]);
                continue;
            }
            let (split, is_turned) = self.splits[start * self.side + end];
            let halves = ((start, split as usize), (split as usize, end));
            let (first, second) = if is_turned { (halves.1, halves.0) } else { halves };
            self.spans.extend([second, first]);
        }
        std::mem::swap(order, &mut self.reordered);
    }
}
