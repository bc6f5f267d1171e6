//! The coverages met in a sentence, as numbers.

use crate::decode::ids::CoverId;
use crate::decode::options::future_cost::FutureCosts;
use crate::feature::{Coverage, Span};
use crate::narrow::to_u32;
use crate::numbering::{Numbering, mix};
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

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
    // Upper bits isolated_score would mix little.
    blocks.iter().fold(0, |hash, &block| mix(hash ^ block >> 32, block))
}

impl Covers {
    /// Starts a sentence.
    pub fn reset(&mut self, length: u32, future: &FutureCosts) {
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
    pub fn extend(&mut self, cover: CoverId, span: Span, future: &FutureCosts) -> CoverId {
        let at = cover.index() * self.width;
        self.scratch.copy_from_slice(&self.blocks[at..at + self.width]);
        Coverage::mark(&mut self.scratch, span);
        self.intern(future)
    }

    /// The number of the coverage in the scratch.
    fn intern(&mut self, future: &FutureCosts) -> CoverId {
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

/// Rows of states met in a sentence; equal rows have equal numbers.
#[derive(Debug, Default)]
pub struct States {
    rows: Vec<u32>,
    width: usize,
    ids: HashTable<u32>,
}

fn hash_states(row: &[u32]) -> u64 {
    FxBuildHasher.hash_one(row)
}

impl States {
    /// Starts a sentence with so many path features.
    pub fn restart(&mut self, width: usize) {
        self.rows.clear();
        self.ids.clear();
        self.width = width;
    }

    /// The states of this number.
    pub fn get<'a>(&'a self, id: &'a u32) -> &'a [u32] {
        let at = *id as usize * self.width;
        if self.width == 1 { std::slice::from_ref(id) } else { &self.rows[at..at + self.width] }
    }

    /// The number of these states.
    pub fn id(&mut self, row: &[u32]) -> u32 {
        let States { rows, width, ids } = self;
        let width = *width;
        // The state of a single feature is a number already.
        if width < 2 {
            return row.first().copied().unwrap_or(0);
        }
        let of = |id: u32| id as usize * width..(id as usize + 1) * width;
        if let Some(&id) = ids.find(hash_states(row), |&id| rows[of(id)] == *row) {
            return id;
        }
        let id = to_u32(rows.len() / width);
        rows.extend_from_slice(row);
        ids.insert_unique(hash_states(row), id, |&id| hash_states(&rows[of(id)]));
        id
    }
}
