//! The blocks of one sentence pair: phrase pairs that agree with its links.
//!
//! In: lengths and links of a sentence pair. Out: every block up to the maximum length, with its
//! orientations, in order of target start, target end, source start (leftward), source end.
//! How: for every target span the source span its links reach; the span is a block when those
//! columns hold no more links than the rows do. Unaligned source words at the edges are taken in
//! all combinations, unaligned target words because all spans are tried (Och and Ney, 2004).
//! Cost: O(target²) a sentence, O(1) a block; no allocation once the scratch memory has grown.
//! Not: gaps, hierarchical rules.

use super::orientation::{Corners, Orientations, Sides, Strictness, orientations};
use crate::align::Link;
use crate::corpus::{SrcPos, TgtPos};
use crate::narrow::to_u32;

/// Neighbouring words, first and last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span<P> {
    /// The first word.
    pub first: P,
    /// The last word, which belongs to the span.
    pub last: P,
}

/// A source span and a target span whose links lead only to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Block {
    /// The source words.
    pub src: Span<SrcPos>,
    /// The target words.
    pub tgt: Span<TgtPos>,
}

/// Scratch memory for one sentence pair after the other.
#[derive(Debug, Default)]
pub struct Grid {
    pub(super) src_len: usize,
    pub(super) tgt_len: usize,
    /// Bits of linked columns by row, `stride` numbers a row.
    linked: Vec<u64>,
    stride: usize,
    rows: Vec<Row>,
    /// `starts[j]` is the number of links of columns before `j`.
    starts: Vec<u32>,
    /// By column, the first one of the unaligned columns right before it, and the last behind.
    reach: Vec<(u32, u32)>,
    /// Corners of blocks up to the maximum length, and of all blocks.
    pub(super) small: Corners,
    pub(super) any: Corners,
    /// Blocks without unaligned source edges, short enough to be phrase pairs.
    tight: Vec<Sides>,
}

/// The links of one target word.
#[derive(Debug, Clone, Copy)]
struct Row {
    min: u32,
    max: u32,
    links: u32,
}

const EMPTY: Row = Row { min: u32::MAX, max: 0, links: 0 };

impl Grid {
    /// Calls `found` with every block of the sentence pair, its links (absolute positions,
    /// sorted) and its orientations. The links must be sorted and inside the sentences.
    pub fn extract(
        &mut self,
        lengths: (usize, usize),
        links: &[Link],
        max_length: usize,
        strictness: Strictness,
        mut found: impl FnMut(Block, &[Link], Orientations),
    ) {
        self.place(lengths, links);
        self.find_blocks(max_length);
        for &Sides { u, v, s, t } in &self.tight {
            let (reach_left, reach_right) = (self.reach[u].0 as usize, self.reach[v].1 as usize);
            let inside = &links[self.starts[u] as usize..self.starts[v + 1] as usize];
            for first in (reach_left.max((v + 1).saturating_sub(max_length))..=u).rev() {
                for last in v..=reach_right.min(first + max_length - 1) {
                    let sides = Sides { u: first, v: last, s, t };
                    found(block(sides), inside, orientations(self, sides, strictness));
                }
            }
        }
    }

    /// Smallest and largest column linked to a row.
    pub(super) fn row(&self, row: usize) -> Option<(usize, usize)> {
        let Row { min, max, links } = self.rows[row];
        (links > 0).then_some((min as usize, max as usize))
    }

    pub(super) fn is_linked(&self, row: usize, column: usize) -> bool {
        self.linked[row * self.stride + column / 64] >> (column % 64) & 1 == 1
    }

    fn place(&mut self, (src_len, tgt_len): (usize, usize), links: &[Link]) {
        (self.src_len, self.tgt_len) = (src_len, tgt_len);
        self.stride = src_len.div_ceil(64);
        self.linked.clear();
        self.linked.resize(tgt_len * self.stride, 0);
        self.rows.clear();
        self.rows.resize(tgt_len, EMPTY);
        self.starts.clear();
        self.starts.resize(src_len + 1, 0);
        for link in links {
            let (column, row) = (link.src.index(), link.tgt.index());
            self.linked[row * self.stride + column / 64] |= 1 << (column % 64);
            let reach = &mut self.rows[row];
            reach.min = reach.min.min(link.src.0);
            reach.max = reach.max.max(link.src.0);
            reach.links += 1;
            self.starts[column + 1] += 1;
        }
        for column in 0..src_len {
            self.starts[column + 1] += self.starts[column];
        }
        self.find_reach();
        self.small.reset(tgt_len, self.stride);
        self.any.reset(tgt_len, self.stride);
        self.tight.clear();
    }

    fn find_reach(&mut self) {
        self.reach.clear();
        let mut first = 0;
        for column in 0..self.src_len {
            self.reach.push((first, 0));
            if self.starts[column + 1] > self.starts[column] {
                first = to_u32(column) + 1;
            }
        }
        let mut last = to_u32(self.src_len);
        for column in (0..self.src_len).rev() {
            self.reach[column].1 = last.saturating_sub(1);
            if self.starts[column + 1] > self.starts[column] {
                last = to_u32(column);
            }
        }
    }

    /// Finds all blocks without unaligned source edges, marks the corners of all of them and
    /// their extensions, and keeps the short ones.
    fn find_blocks(&mut self, max_length: usize) {
        for s in 0..self.tgt_len {
            let mut sum = EMPTY;
            for t in s..self.tgt_len {
                let row = self.rows[t];
                sum.min = sum.min.min(row.min);
                sum.max = sum.max.max(row.max);
                sum.links += row.links;
                if sum.links == 0 {
                    continue;
                }
                let (u, v) = (sum.min as usize, sum.max as usize);
                if self.starts[v + 1] - self.starts[u] != sum.links {
                    continue;
                }
                let (left, right) = (self.reach[u].0 as usize, self.reach[v].1 as usize);
                self.any.mark((s, t), (left, u), (v, right));
                if t - s < max_length && v - u < max_length {
                    let left = left.max((v + 1).saturating_sub(max_length));
                    let right = right.min(u + max_length - 1);
                    self.small.mark((s, t), (left, u), (v, right));
                    self.tight.push(Sides { u, v, s, t });
                }
            }
        }
    }
}

fn block(sides: Sides) -> Block {
    let Sides { u, v, s, t } = sides;
    Block {
        src: Span { first: SrcPos(to_u32(u)), last: SrcPos(to_u32(v)) },
        tgt: Span { first: TgtPos(to_u32(s)), last: TgtPos(to_u32(t)) },
    }
}
