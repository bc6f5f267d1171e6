//! Where each parameter of the network stands in one long row of numbers.
//!
//! In: the sizes of the network. Out: the place of each matrix in the row, by name.
//! Matrices are kept row by row, a row for each input; gates stand side by side: update, reset,
//! candidate.

use crate::narrow::to_usize;
use crate::reorder::jump::BITS;
use std::ops::Range;

/// Jumps further than this are alike; their distances, those of no jump and one to fill up.
pub const FAR: u32 = 19;
/// Distances told apart.
pub const DISTANCES: usize = 2 * FAR as usize + 2;

/// The sizes of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Words and tags that have a row of their own, with those that stand for unknown ones.
    pub rows: usize,
    /// Numbers that stand for a word.
    pub embedding: usize,
    /// Numbers that each direction remembers.
    pub hidden: usize,
    /// Numbers by which the two ends of a jump are compared.
    pub key: usize,
    /// Whether it looks at what is translated around a word.
    pub coverage: bool,
}

/// A matrix of parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    start: usize,
    /// Number of rows.
    pub rows: usize,
    /// Numbers in a row.
    pub columns: usize,
}

impl Block {
    /// Its place in the row of all parameters.
    pub fn range(self) -> Range<usize> {
        self.start..self.start + self.rows * self.columns
    }
}

/// The parameters of one direction of the encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Way {
    /// From a word to the gates.
    pub input: Block,
    /// From what is remembered to the gates.
    pub recurrent: Block,
    /// Added to the gates.
    pub bias: Block,
    /// Added to what is remembered before the reset gate.
    pub inner_bias: Block,
}

/// Where everything stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// The sizes it was made of.
    pub sizes: Sizes,
    /// A row for each word and tag.
    pub embedding: Block,
    /// Left to right, and right to left.
    pub ways: [Way; 2],
    /// What a word looks for when it was translated last.
    pub query: Block,
    /// Added to it.
    pub query_bias: Block,
    /// What a word has to show when it may come next.
    pub key: Block,
    /// Added to it.
    pub key_bias: Block,
    /// What the start of the sentence looks for.
    pub start: Block,
    /// What a word looks for at each distance.
    pub far_query: Block,
    /// What a word shows at each distance.
    pub far_key: Block,
    /// The weight of each distance.
    pub far_bias: Block,
    /// What a word gains by what is translated around it; empty when nobody looks.
    pub around: Block,
    /// Added to it.
    pub around_bias: Block,
}

impl Shape {
    /// The places for these sizes.
    pub fn new(sizes: Sizes) -> Shape {
        let Sizes { rows, embedding, hidden, key, coverage } = sizes;
        let mut end = 0;
        let mut block = |rows: usize, columns: usize| {
            let start = end;
            end += rows * columns;
            Block { start, rows, columns }
        };
        let words = block(rows, embedding);
        let ways = [(); 2].map(|()| Way {
            input: block(embedding, 3 * hidden),
            recurrent: block(hidden, 3 * hidden),
            bias: block(1, 3 * hidden),
            inner_bias: block(1, hidden),
        });
        let bits = if coverage { BITS } else { 0 };
        Shape {
            sizes,
            embedding: words,
            ways,
            query: block(2 * hidden, key),
            query_bias: block(1, key),
            key: block(2 * hidden, key),
            key_bias: block(1, key),
            start: block(1, key),
            far_query: block(DISTANCES, key),
            far_key: block(DISTANCES, key),
            far_bias: block(1, DISTANCES),
            around: block(2 * hidden, bits),
            around_bias: block(1, bits),
        }
    }

    /// All parameters but the embedding, by name.
    pub fn dense(&self) -> [(&'static str, Block); 18] {
        let [forth, back] = &self.ways;
        [
            ("forth_input", forth.input),
            ("forth_recurrent", forth.recurrent),
            ("forth_bias", forth.bias),
            ("forth_inner_bias", forth.inner_bias),
            ("back_input", back.input),
            ("back_recurrent", back.recurrent),
            ("back_bias", back.bias),
            ("back_inner_bias", back.inner_bias),
            ("query", self.query),
            ("query_bias", self.query_bias),
            ("key", self.key),
            ("key_bias", self.key_bias),
            ("start", self.start),
            ("far_query", self.far_query),
            ("far_key", self.far_key),
            ("far_bias", self.far_bias),
            ("around", self.around),
            ("around_bias", self.around_bias),
        ]
    }

    /// Number of parameters.
    pub fn parameters(&self) -> usize {
        self.around_bias.range().end
    }

    /// Number of parameters of the embedding, which come first.
    pub fn embedded(&self) -> usize {
        self.embedding.range().end
    }
}

/// The place of a distance from one position to another, both from 1 or 0.
pub fn distance(from: u32, to: u32) -> usize {
    let clipped = (i64::from(to) - i64::from(from)).clamp(-i64::from(FAR), i64::from(FAR));
    to_usize(clipped + i64::from(FAR))
}
