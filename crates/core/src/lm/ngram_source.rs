//! The interface of every stored n-gram model: estimated from text, read from ARPA, or mapped.
//!
//! Writers take any `NgramSource`, so each kind of model can be written in each format.

use super::ngram::{NgramIter, ScoredNgram};
use super::suffix_trie::SuffixTrie;
use crate::corpus::WordId;
use crate::error::Result;
use crate::narrow::to_usize;
use std::ops::Range;

/// An n-gram model as lists of scored n-grams. The lists are closed: every prefix and every suffix
/// of a listed n-gram is listed, too.
pub trait NgramSource: Sync {
    /// Return the length of the longest n-grams.
    fn order(&self) -> usize;

    /// Return the number of n-grams of an order; for order 1, the size of the vocabulary.
    fn count(&self, order: usize) -> u64;

    /// Return the bytes of a word.
    fn word(&self, id: WordId) -> &[u8];

    /// Return all n-grams of an order in suffix order.
    fn ngrams(&self, order: usize) -> Result<NgramIter<'_>>;

    /// Return the block size for `visit`. A visit that starts at a multiple of it skips no n-grams.
    fn block(&self) -> u64 {
        u64::MAX
    }

    /// Return the n-grams as a trie if the source stores them as one.
    fn trie(&self) -> Option<&SuffixTrie> {
        None
    }

    /// Call `each` for the n-grams of an order whose ordinals are in `range`, in suffix order.
    fn visit(
        &self,
        order: usize,
        range: Range<u64>,
        each: &mut dyn FnMut(&ScoredNgram) -> Result<()>,
    ) -> Result<()> {
        let (skipped, count) = (to_usize(range.start), to_usize(range.end - range.start));
        self.ngrams(order)?.skip(skipped).take(count).try_for_each(|ngram| each(&ngram?))
    }
}
