//! The interface of a language model.

use std::hash::{Hash, Hasher};

/// The state of a language model: cells, of which the first `used` determine equality. A model may
/// store more cells after them, such as backoffs, if equal states have equal scores. A state fills
/// a cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub struct LmState {
    /// Word ids, newest first, then values derived from them; see `LmState::backoff_after`.
    pub cells: [u32; LmState::CELLS],
    /// Number of cells that count in a comparison.
    pub used: u32,
}

impl LmState {
    /// Seven words with their backoffs (models up to order 8), and a final zero.
    pub const CELLS: usize = 15;
    /// Maximum number of words.
    pub const WORDS: usize = LmState::CELLS / 2;

    /// The state without context.
    pub const EMPTY: LmState = LmState { cells: [0; LmState::CELLS], used: 0 };

    /// Return the cells that determine equality.
    pub fn key(&self) -> &[u32] {
        &self.cells[..self.used as usize]
    }

    /// Return the sum of the backoffs of a nested state after `matched` words, for any next word.
    /// The sums are in the upper half of the cells, as bits of an `f32`; the last is 0.
    #[inline]
    pub fn backoff_after(&self, matched: u32) -> f32 {
        f32::from_bits(self.cells[LmState::WORDS + (matched & 7) as usize])
    }
}

impl Default for LmState {
    fn default() -> Self {
        LmState::EMPTY
    }
}

impl PartialEq for LmState {
    fn eq(&self, other: &Self) -> bool {
        // A few cells: quicker one by one than by a call.
        self.used == other.used && self.key().iter().zip(other.key()).all(|(a, b)| a == b)
    }
}

impl Eq for LmState {}

impl Hash for LmState {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.key().hash(hasher);
    }
}

/// The score of the longest matching n-gram, and the length of the inspected context.
#[derive(Debug, Clone, Copy)]
pub struct LmLookup {
    /// Natural log probability without the backoff of `LmState::backoff_after`.
    pub score: f32,
    /// Number of inspected cells: all states that begin with them have the same score and next
    /// state. Greater than `used` if a longer state may have another score.
    pub inspected: u32,
    /// Number of matched cells, at most seven; `LmState::backoff_after` adds the backoffs of the
    /// others.
    pub matched: u32,
}

/// A language model of the target words, from left to right.
///
/// Each method is a pure function of its arguments, so the decoder caches the results.
pub trait LanguageModel: Sync {
    /// Return the id of a word; the id of the unknown word if it is not in the vocabulary.
    fn word(&self, word: &str) -> u32;

    /// Return the state before the first word of a sentence.
    fn start(&self) -> LmState;

    /// Return the state without context.
    fn empty(&self) -> LmState {
        LmState::EMPTY
    }

    /// Return the natural log probability of a word after `state`; `next` receives the state after
    /// it.
    fn score(&self, state: &LmState, word: u32, next: &mut LmState) -> f32;

    /// Return whether each prefix of the cells of a state is a state with less context. Then the
    /// states with a common prefix share the scores that `match_ngram` found within it.
    fn has_nested_states(&self) -> bool {
        false
    }

    /// Return the match of a word after `state`. `score` is the sum of its score and the backoff of
    /// the state. Only called for models with nested states.
    fn match_ngram(&self, state: &LmState, word: u32, next: &mut LmState) -> LmLookup {
        let score = self.score(state, word, next);
        LmLookup { score, inspected: state.used + 1, matched: state.used }
    }

    /// Return the natural log probability of the sentence end after `state`.
    fn end(&self, state: &LmState) -> f32;
}
