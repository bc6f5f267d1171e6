//! The seat of a language model.

use std::hash::{Hash, Hasher};

/// What a language model remembers of the words so far: a few cells, of which the first `used`
/// decide whether two states are equal. A model may keep more behind them, such as back-offs,
/// as long as equal states score alike.
#[derive(Debug, Clone, Copy)]
pub struct LmState {
    /// Word ids first, then whatever follows from them.
    pub cells: [u32; LmState::CELLS],
    /// How many cells count in a comparison.
    pub used: u32,
}

impl LmState {
    /// Room for seven words and their back-offs, so for models up to order 8.
    pub const CELLS: usize = 14;

    /// A state that remembers nothing.
    pub const EMPTY: LmState = LmState { cells: [0; LmState::CELLS], used: 0 };

    /// The cells that count.
    pub fn key(&self) -> &[u32] {
        &self.cells[..self.used as usize]
    }
}

impl Default for LmState {
    fn default() -> Self {
        LmState::EMPTY
    }
}

impl PartialEq for LmState {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for LmState {}

impl Hash for LmState {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.key().hash(hasher);
    }
}

/// A model of the target words, read left to right.
///
/// Each call is a pure function of its arguments: the decoder remembers the answers.
pub trait LanguageModel: Sync {
    /// The model's own number of a word; that of its unknown word when it does not know it.
    fn word(&self, word: &str) -> u32;

    /// The state before the first word of a sentence.
    fn start(&self) -> LmState;

    /// The state that knows no context.
    fn empty(&self) -> LmState {
        LmState::EMPTY
    }

    /// The natural log probability of a word after `state`, and the state after it.
    fn score(&self, state: &LmState, word: u32, next: &mut LmState) -> f32;

    /// The natural log probability that the sentence ends after `state`.
    fn end(&self, state: &LmState) -> f32;
}
