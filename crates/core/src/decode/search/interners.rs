//! Interners: coverages (`CoverageTable`) and states of path features (`PathStateTable`) as ids.

use crate::decode::ids::CoverageId;
use crate::decode::options::future_cost::FutureCosts;
use crate::feature::{Coverage, Span};
use crate::narrow::to_u32;
use crate::numbering::{Numbering, mix};
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// All coverages of a sentence; equal coverages share an id, and 0 is the empty coverage.
#[derive(Debug, Default)]
pub struct CoverageTable {
    blocks: Vec<u64>,
    width: usize,
    length: u32,
    infos: Vec<CoverageInfo>,
    ids: Numbering,
    scratch: Vec<u64>,
}

#[derive(Debug, Clone, Copy)]
struct CoverageInfo {
    gap: u32,
    covered: u32,
    future: f32,
}

fn hash(blocks: &[u64]) -> u64 {
    // The multiplication mixes upper bits too little.
    blocks.iter().fold(0, |hash, &block| mix(hash ^ block >> 32, block))
}

impl CoverageTable {
    /// Start a sentence.
    pub fn reset(&mut self, length: u32, future: &FutureCosts) {
        self.length = length;
        self.width = Coverage::blocks_for(length);
        self.blocks.clear();
        self.infos.clear();
        self.ids.clear();
        self.scratch.clear();
        self.scratch.resize(self.width, 0);
        self.intern(future);
    }

    /// Return a coverage.
    pub fn get(&self, coverage: CoverageId) -> Coverage<'_> {
        let at = coverage.index() * self.width;
        Coverage::new(&self.blocks[at..at + self.width], self.length)
    }

    /// Return the first untranslated word.
    pub fn gap(&self, coverage: CoverageId) -> u32 {
        self.infos[coverage.index()].gap
    }

    /// Return the number of translated words.
    pub fn covered(&self, coverage: CoverageId) -> u32 {
        self.infos[coverage.index()].covered
    }

    /// Return the future cost without distortion, as if no gap started at the end of the last
    /// phrase.
    pub fn future(&self, coverage: CoverageId) -> f32 {
        self.infos[coverage.index()].future
    }

    /// Return the coverage after a span is added.
    pub fn extend(&mut self, coverage: CoverageId, span: Span, future: &FutureCosts) -> CoverageId {
        let at = coverage.index() * self.width;
        self.scratch.copy_from_slice(&self.blocks[at..at + self.width]);
        Coverage::mark(&mut self.scratch, span);
        self.intern(future)
    }

    /// Return the id of the coverage in `scratch`.
    fn intern(&mut self, future: &FutureCosts) -> CoverageId {
        let CoverageTable { blocks, width, length, infos, ids, scratch } = self;
        let width = *width;
        let of = |id: u32| id as usize * width..(id as usize + 1) * width;
        let is_equal = |id: u32| blocks[of(id)] == scratch[..];
        let (id, is_new) = ids.number(hash(scratch), to_u32(infos.len()), is_equal);
        if !is_new {
            return CoverageId(id);
        }
        let cov = Coverage::new(scratch, *length);
        let cost = cov.gaps().map(|gap| future.of_gap(gap.start, gap.end)).sum();
        let covered = scratch.iter().map(|block| block.count_ones()).sum();
        infos.push(CoverageInfo { gap: cov.first_gap(), covered, future: cost });
        blocks.extend_from_slice(scratch);
        CoverageId(id)
    }
}

/// All rows of path feature states of a sentence; equal rows share an id.
#[derive(Debug, Default)]
pub struct PathStateTable {
    rows: Vec<u32>,
    width: usize,
    ids: HashTable<u32>,
}

fn hash_states(row: &[u32]) -> u64 {
    FxBuildHasher.hash_one(row)
}

impl PathStateTable {
    /// Start a sentence with `width` path features.
    pub fn restart(&mut self, width: usize) {
        self.rows.clear();
        self.ids.clear();
        self.width = width;
    }

    /// Return the states with an id.
    pub fn get<'a>(&'a self, id: &'a u32) -> &'a [u32] {
        let at = *id as usize * self.width;
        if self.width == 1 { std::slice::from_ref(id) } else { &self.rows[at..at + self.width] }
    }

    /// Return the id of a row of states.
    pub fn id(&mut self, row: &[u32]) -> u32 {
        let PathStateTable { rows, width, ids } = self;
        let width = *width;
        // With one feature, its state is the id.
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
