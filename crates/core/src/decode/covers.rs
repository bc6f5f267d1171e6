//! The coverages met in a sentence, as numbers.

use super::future::Future;
use super::id::CoverId;
use crate::feature::{Coverage, Span};
use crate::narrow::to_u32;
use crate::numbering::{Numbering, mix};

/// All coverages met; equal ones have equal numbers, and 0 is the empty one.
#[derive(Debug, Default)]
pub struct Covers {
    blocks: Vec<u64>,
    width: usize,
    length: u32,
    facts: Vec<Facts>,
    ids: Numbering,
    scratch: Vec<u64>,
}

#[derive(Debug, Clone, Copy)]
struct Facts {
    gap: u32,
    covered: u32,
    future: f32,
}

fn hash(blocks: &[u64]) -> u64 {
    // Upper bits alone would mix little.
    blocks.iter().fold(0, |hash, &block| mix(hash ^ block >> 32, block))
}

impl Covers {
    /// Starts a sentence.
    pub fn reset(&mut self, length: u32, future: &Future) {
        self.length = length;
        self.width = Coverage::blocks_for(length);
        self.blocks.clear();
        self.facts.clear();
        self.ids.clear();
        self.scratch.clear();
        self.scratch.resize(self.width, 0);
        self.intern(future);
    }

    /// The coverage of this number.
    pub fn get(&self, cover: CoverId) -> Coverage<'_> {
        let at = cover.index() * self.width;
        Coverage::new(&self.blocks[at..at + self.width], self.length)
    }

    /// The first untranslated word.
    pub fn gap(&self, cover: CoverId) -> u32 {
        self.facts[cover.index()].gap
    }

    /// How many words are translated.
    pub fn covered(&self, cover: CoverId) -> u32 {
        self.facts[cover.index()].covered
    }

    /// The future cost, as if no gap started where the last phrase ended; jumps aside.
    pub fn future(&self, cover: CoverId) -> f32 {
        self.facts[cover.index()].future
    }

    /// The coverage after a span is added.
    pub fn extend(&mut self, cover: CoverId, span: Span, future: &Future) -> CoverId {
        let at = cover.index() * self.width;
        self.scratch.copy_from_slice(&self.blocks[at..at + self.width]);
        Coverage::mark(&mut self.scratch, span);
        self.intern(future)
    }

    /// The number of the coverage in the scratch.
    fn intern(&mut self, future: &Future) -> CoverId {
        let Covers { blocks, width, length, facts, ids, scratch } = self;
        let width = *width;
        let of = |id: u32| id as usize * width..(id as usize + 1) * width;
        let is_own = |id: u32| blocks[of(id)] == scratch[..];
        let (id, is_new) = ids.number(hash(scratch), to_u32(facts.len()), is_own);
        if !is_new {
            return CoverId(id);
        }
        let cov = Coverage::new(scratch, *length);
        let cost = cov.gaps().map(|gap| future.of_gap(gap.start, gap.end)).sum();
        let covered = scratch.iter().map(|block| block.count_ones()).sum();
        facts.push(Facts { gap: cov.first_gap(), covered, future: cost });
        blocks.extend_from_slice(scratch);
        CoverId(id)
    }
}
