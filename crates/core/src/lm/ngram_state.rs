//! The state of an n-gram model: the words of the history that can change a score.
//!
//! A state is a plain value without allocation and compares by its words. It carries the backoffs
//! of its contexts, so the next query does not look them up.

use super::MAX_ORDER;
use crate::corpus::WordId;
use std::hash::{Hash, Hasher};

/// The relevant words of the history, newest first (KenLM's minimized state).
#[derive(Debug, Clone, Copy)]
pub struct NgramState {
    pub(super) words: [WordId; MAX_ORDER - 1],
    /// Backoffs of the contexts of the newest word, the two newest words, and so on.
    pub(super) backoffs: [f32; MAX_ORDER - 1],
    pub(super) len: u8,
}

impl NgramState {
    /// The state without history, for text that does not start a sentence.
    pub const EMPTY: Self =
        NgramState { words: [0; MAX_ORDER - 1], backoffs: [0.0; MAX_ORDER - 1], len: 0 };

    /// Return the words of the state, newest first.
    pub fn words(&self) -> &[WordId] {
        &self.words[..usize::from(self.len).min(MAX_ORDER - 1)]
    }

    /// Return the sum of the backoffs of the contexts longer than `matched` words. Add the longest
    /// context first, so that sums for fewer words extend those for more bit by bit.
    pub(super) fn backoff_sum(&self, matched: usize) -> f32 {
        self.backoffs[..self.words().len()].iter().skip(matched).rev().sum()
    }
}

impl Default for NgramState {
    fn default() -> Self {
        NgramState::EMPTY
    }
}

impl PartialEq for NgramState {
    fn eq(&self, other: &Self) -> bool {
        self.words() == other.words()
    }
}

impl Eq for NgramState {}

impl Hash for NgramState {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.words().hash(hasher);
    }
}
