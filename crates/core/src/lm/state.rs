//! What a model has to remember of the words before.
//!
//! A state is a plain value: no allocation, compared by its words alone. The backoffs of its
//! contexts come along, so that the next word needs no further look-up for them.

use super::MAX_ORDER;
use crate::corpus::WordId;
use std::hash::{Hash, Hasher};

/// The words of the history that can still change a score, newest first.
#[derive(Debug, Clone, Copy)]
pub struct State {
    pub(super) words: [WordId; MAX_ORDER - 1],
    /// Backoff of the context made of the newest word, the newest two, and so on.
    pub(super) backoffs: [f32; MAX_ORDER - 1],
    pub(super) len: u8,
}

impl State {
    /// No history: the middle of an unknown text.
    pub const EMPTY: Self =
        State { words: [0; MAX_ORDER - 1], backoffs: [0.0; MAX_ORDER - 1], len: 0 };

    /// The words that count, newest first.
    pub fn words(&self) -> &[WordId] {
        &self.words[..usize::from(self.len).min(MAX_ORDER - 1)]
    }

    /// What it costs that only `matched` words of the history were of use. The oldest word comes
    /// first, so that sums for fewer words can go on from those for more.
    pub(super) fn backed_off(&self, matched: usize) -> f32 {
        self.backoffs[..self.words().len()].iter().skip(matched).rev().sum()
    }
}

impl Default for State {
    fn default() -> Self {
        State::EMPTY
    }
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        self.words() == other.words()
    }
}

impl Eq for State {}

impl Hash for State {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.words().hash(hasher);
    }
}
