//! What a model consists of, whoever holds it: text, ARPA file or mapped file.
//!
//! Writers take any `Grams`, so every kind of model can be written in every form.

use super::MAX_ORDER;
use super::trie::Trie;
use crate::corpus::WordId;
use crate::error::Result;
use crate::narrow::to_usize;
use std::ops::Range;

/// The backoff of an n-gram that no longer one begins with and that has no backoff: nothing
/// can tell it from an empty context. Equal to 0, told apart by its sign.
pub const NO_EXTENSION: f32 = -0.0;

/// Whether a context with this backoff can still change a score.
pub fn matters(backoff: f32) -> bool {
    backoff.to_bits() != NO_EXTENSION.to_bits()
}

/// One n-gram with its scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gram {
    /// The words, newest first; only the first `order` count.
    pub words: [WordId; MAX_ORDER],
    /// Natural logarithm of the last word's probability after the others.
    pub prob: f32,
    /// Natural logarithm of what is left for words not seen after this n-gram.
    pub backoff: f32,
}

/// The n-grams of one order, by suffix: last word first, then the one before it.
pub type GramIter<'a> = Box<dyn Iterator<Item = Result<Gram>> + 'a>;

/// A model as a list of n-grams: closed (what an n-gram begins or ends with is there too).
pub trait Grams: Sync {
    /// Length of the longest n-grams.
    fn order(&self) -> usize;

    /// Number of n-grams of an order; of order 1, the number of words.
    fn count(&self, order: usize) -> u64;

    /// The letters of a word.
    fn word(&self, id: WordId) -> &[u8];

    /// All n-grams of an order in suffix order.
    fn grams(&self, order: usize) -> Result<GramIter<'_>>;

    /// How many n-grams to visit at once. Visits that begin at a multiple of this are quick.
    fn block(&self) -> u64 {
        u64::MAX
    }

    /// The n-grams as a tree, if they are one.
    fn trie(&self) -> Option<&Trie> {
        None
    }

    /// Shows the n-grams of an order whose numbers are in a range, in suffix order.
    fn visit(
        &self,
        order: usize,
        range: Range<u64>,
        each: &mut dyn FnMut(&Gram) -> Result<()>,
    ) -> Result<()> {
        let (skipped, count) = (to_usize(range.start), to_usize(range.end - range.start));
        self.grams(order)?.skip(skipped).take(count).try_for_each(|gram| each(&gram?))
    }
}
