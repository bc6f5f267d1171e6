//! A model as sorted lists of n-grams, the form between estimation (or ARPA) and the writers.

use super::MAX_ORDER;
use super::ngram::{NgramIter, ScoredNgram};
use super::ngram_key::NgramKey;
use super::ngram_source::NgramSource;
use super::suffix_trie::SuffixTrie;
use crate::corpus::{Vocab, WordId};
use crate::error::Result;
use crate::narrow::{to_u32, to_usize};
use crate::storage::Spool;
use std::ops::Range;

/// Number of n-grams per visited block.
const BLOCK: u64 = 1 << 14;

/// The n-grams of one order in suffix order, with natural logarithms of probability and backoff.
pub type ScoredSpool<const W: usize> = Spool<(NgramKey<W>, (f32, f32))>;

/// Natural logarithms of probability and backoff of each word, by word id.
pub type UnigramScores = Vec<(f32, f32)>;

/// An n-gram model as a vocabulary, unigram scores and lists of longer n-grams.
pub struct NgramLists {
    vocab: Vocab,
    words: UnigramScores,
    higher: Box<dyn HigherOrderNgrams>,
    counts: Vec<u64>,
}

impl NgramLists {
    /// Create a model from unigram scores and the lists of the orders from 2 up. The lists of one
    /// order are concatenated; each is in suffix order.
    pub fn new<const W: usize>(
        vocab: Vocab,
        words: UnigramScores,
        higher: Vec<Vec<ScoredSpool<W>>>,
        bits: u32,
    ) -> Self {
        let of_order = |lists: &Vec<ScoredSpool<W>>| lists.iter().map(Spool::len).sum();
        let counts = [words.len() as u64].into_iter().chain(higher.iter().map(of_order));
        let counts = counts.collect();
        NgramLists { vocab, words, higher: Box::new(KeyedNgrams { bits, higher }), counts }
    }

    /// Create a model from unigram scores and a trie of scored n-grams.
    pub fn from_trie(vocab: Vocab, words: UnigramScores, trie: SuffixTrie) -> Self {
        let counts = trie.levels.iter().map(|level| level.words.len() as u64).collect();
        NgramLists { vocab, words, higher: Box::new(trie), counts }
    }
}

impl NgramSource for NgramLists {
    fn order(&self) -> usize {
        self.counts.len()
    }

    fn count(&self, order: usize) -> u64 {
        self.counts[order - 1]
    }

    fn word(&self, id: WordId) -> &[u8] {
        self.vocab.word(id).as_bytes()
    }

    fn ngrams(&self, order: usize) -> Result<NgramIter<'_>> {
        if order > 1 {
            return self.higher.ngrams(order);
        }
        Ok(Box::new((0..self.words.len()).map(|id| Ok(self.unigram(id)))))
    }

    fn block(&self) -> u64 {
        BLOCK
    }

    fn trie(&self) -> Option<&SuffixTrie> {
        self.higher.trie()
    }

    fn visit(
        &self,
        order: usize,
        range: Range<u64>,
        each: &mut dyn FnMut(&ScoredNgram) -> Result<()>,
    ) -> Result<()> {
        if order > 1 {
            return self.higher.visit(order, range, each);
        }
        range.map(to_usize).try_for_each(|id| each(&self.unigram(id)))
    }
}

impl NgramLists {
    fn unigram(&self, id: usize) -> ScoredNgram {
        let mut words = [0; MAX_ORDER];
        words[0] = to_u32(id);
        let (prob, backoff) = self.words[id];
        ScoredNgram { words, prob, backoff }
    }
}

/// Storage of the n-grams of order 2 and above.
pub trait HigherOrderNgrams: Send + Sync {
    /// Return all n-grams of an order in suffix order.
    fn ngrams(&self, order: usize) -> Result<NgramIter<'_>>;

    /// Return the trie if the n-grams are stored as one.
    fn trie(&self) -> Option<&SuffixTrie> {
        None
    }

    /// Call `each` for the n-grams of an order whose ordinals are in `range`.
    fn visit(
        &self,
        order: usize,
        range: Range<u64>,
        each: &mut dyn FnMut(&ScoredNgram) -> Result<()>,
    ) -> Result<()>;
}

struct KeyedNgrams<const W: usize> {
    bits: u32,
    higher: Vec<Vec<ScoredSpool<W>>>,
}

impl<const W: usize> HigherOrderNgrams for KeyedNgrams<W> {
    fn ngrams(&self, order: usize) -> Result<NgramIter<'_>> {
        let lists: Vec<_> =
            self.higher[order - 2].iter().map(Spool::iter).collect::<Result<_>>()?;
        Ok(Box::new(lists.into_iter().flatten().map(move |record| {
            let (key, (prob, backoff)) = record?;
            Ok(ScoredNgram { words: key.words(order, self.bits), prob, backoff })
        })))
    }

    fn visit(
        &self,
        order: usize,
        range: Range<u64>,
        each: &mut dyn FnMut(&ScoredNgram) -> Result<()>,
    ) -> Result<()> {
        let mut first = 0;
        for list in &self.higher[order - 2] {
            let end = first + list.len();
            let (from, to) = (range.start.max(first), range.end.min(end));
            if from < to {
                list.visit(from - first..to - first, |(key, (prob, backoff))| {
                    each(&ScoredNgram { words: key.words(order, self.bits), prob, backoff })
                })?;
            }
            first = end;
        }
        Ok(())
    }
}

impl HigherOrderNgrams for SuffixTrie {
    fn trie(&self) -> Option<&SuffixTrie> {
        Some(self)
    }

    fn ngrams(&self, order: usize) -> Result<NgramIter<'_>> {
        let all = 0..self.levels[order - 1].words.len() as u64;
        Ok(Box::new(self.iter(order, all).map(Ok)))
    }

    fn visit(
        &self,
        order: usize,
        range: Range<u64>,
        each: &mut dyn FnMut(&ScoredNgram) -> Result<()>,
    ) -> Result<()> {
        self.iter(order, range).try_for_each(|ngram| each(&ngram))
    }
}
