//! The seat of a language model.

use std::hash::{Hash, Hasher};

/// What a language model remembers of the words so far: a few cells, of which the first `used`
/// decide whether two states are equal. A model may keep more behind them, such as back-offs,
/// as long as equal states score alike. A state fills a line of the cache.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub struct LmState {
    /// Word ids first, then whatever follows from them; see `LmState::beyond`.
    pub cells: [u32; LmState::CELLS],
    /// How many cells count in a comparison.
    pub used: u32,
}

impl LmState {
    /// Room for seven words and their back-offs, so for models up to order 8, and an end.
    pub const CELLS: usize = 15;
    /// Most words.
    pub const WORDS: usize = LmState::CELLS / 2;

    /// A state that remembers nothing.
    pub const EMPTY: LmState = LmState { cells: [0; LmState::CELLS], used: 0 };

    /// The cells that count.
    pub fn key(&self) -> &[u32] {
        &self.cells[..self.used as usize]
    }

    /// What a model whose states nest adds to a glance that matched so many cells, whatever the
    /// word: it keeps these sums in the upper half of the cells, as bits of an `f32`, with 0 for
    /// all of them at the end.
    #[inline]
    pub fn beyond(&self, matched: u32) -> f32 {
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

/// What a model says of a word, and how far back it had to look for it.
#[derive(Debug, Clone, Copy)]
pub struct Glance {
    /// The natural log probability, but for what `LmState::beyond` adds.
    pub score: f32,
    /// Cells of the state that were looked at: any state that begins with them is answered alike,
    /// and leads to the same state. More than the state has if a longer one may be answered
    /// differently.
    pub seen: u32,
    /// How many cells of the state were of use, at most seven: the state's `beyond` adds the rest.
    pub matched: u32,
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

    /// Whether the first cells of a state are a state as well, one that knows less. Then answers
    /// can be shared by all states that begin alike, as far as `glance` looked.
    fn nests(&self) -> bool {
        false
    }

    /// As `score`, which is the sum of the glance's score and the state's `beyond`. Only models
    /// whose states nest are asked.
    fn glance(&self, state: &LmState, word: u32, next: &mut LmState) -> Glance {
        let score = self.score(state, word, next);
        Glance { score, seen: state.used + 1, matched: state.used }
    }

    /// The natural log probability that the sentence ends after `state`.
    fn end(&self, state: &LmState) -> f32;
}
