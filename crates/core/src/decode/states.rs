//! The states of all path features together, as one number.

use crate::narrow::to_u32;
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// Rows of states met in a sentence; equal rows have equal numbers.
#[derive(Debug, Default)]
pub struct States {
    rows: Vec<u32>,
    width: usize,
    ids: HashTable<u32>,
}

fn hash(row: &[u32]) -> u64 {
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
        if let Some(&id) = ids.find(hash(row), |&id| rows[of(id)] == *row) {
            return id;
        }
        let id = to_u32(rows.len() / width);
        rows.extend_from_slice(row);
        ids.insert_unique(hash(row), id, |&id| hash(&rows[of(id)]));
        id
    }
}
