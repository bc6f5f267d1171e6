//! Numbers that depend on what is translated, kept for hypotheses that share it.
//!
//! In: a head (the last word, say), a coverage, a number. Out: the number, when both are asked for
//! again. How: a table of fixed size; a new number takes the place of an older one with the same
//! hash. Cost: one hash and a look; no allocation after the first.

use crate::feature::Coverage;
use crate::narrow::{to_u32, to_usize};
use std::hash::Hasher;

/// Numbers that are kept, a power of two.
const KEPT: usize = 1 << 12;

/// Numbers by head and coverage.
#[derive(Debug)]
pub struct Kept {
    /// Blocks of bits of a coverage.
    width: usize,
    /// The head and the coverage of each, one after the other; none known: empty.
    keys: Vec<u64>,
    values: Vec<f32>,
}

impl Kept {
    /// A table for a sentence of this length.
    pub fn new(length: usize) -> Self {
        let width = Coverage::blocks_for(to_u32(length));
        Kept { width, keys: Vec::new(), values: Vec::new() }
    }

    /// The number, or where it will be kept. No head has all of its bits set.
    #[inline]
    pub fn place(&mut self, head: u64, cov: Coverage<'_>) -> Result<f32, usize> {
        let stride = self.width + 1;
        if self.values.is_empty() {
            self.keys.resize(KEPT * stride, u64::MAX);
            self.values.resize(KEPT, 0.0);
        }
        let mut hasher = rustc_hash::FxHasher::default();
        hasher.write_u64(head);
        cov.blocks().iter().for_each(|&block| hasher.write_u64(block));
        let place = to_usize(hasher.finish()) & (KEPT - 1);
        let key = &self.keys[place * stride..][..stride];
        // A block or two: quicker one by one than by a call.
        match key[0] == head && key[1..].iter().eq(cov.blocks()) {
            true => Ok(self.values[place]),
            false => Err(place),
        }
    }

    /// Keeps a number where `place` said.
    pub fn keep(&mut self, place: usize, head: u64, cov: Coverage<'_>, value: f32) {
        let key = &mut self.keys[place * (self.width + 1)..][..self.width + 1];
        key[0] = head;
        key[1..].copy_from_slice(cov.blocks());
        self.values[place] = value;
    }
}
