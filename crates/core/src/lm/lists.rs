//! A model as sorted lists of n-grams, before it is laid out for look-ups.
//!
//! Estimation and the ARPA reader make it; writers read it as `Grams`.

use super::MAX_ORDER;
use super::grams::{Gram, GramIter, Grams};
use super::key::Key;
use super::trie::Trie;
use crate::corpus::{Vocab, WordId};
use crate::error::Result;
use crate::narrow::{to_u32, to_usize};
use crate::storage::Spool;
use std::ops::Range;

/// N-grams that are visited at once.
const BLOCK: u64 = 1 << 14;

/// N-grams of one order, by suffix, with natural logarithms of probability and backoff.
pub type Scored<const W: usize> = Spool<(Key<W>, (f32, f32))>;

/// The same two scores of every word, by number.
pub type WordScores = Vec<(f32, f32)>;

/// Words and n-grams.
pub struct GramLists {
    vocab: Vocab,
    words: WordScores,
    higher: Box<dyn Tables>,
    counts: Vec<u64>,
}

impl GramLists {
    /// The model of these words and n-grams, the orders from 2 up, each in one or more lists that
    /// follow each other.
    pub fn new<const W: usize>(
        vocab: Vocab,
        words: WordScores,
        higher: Vec<Vec<Scored<W>>>,
        bits: u32,
    ) -> Self {
        let of_order = |lists: &Vec<Scored<W>>| lists.iter().map(Spool::len).sum();
        let counts = [words.len() as u64].into_iter().chain(higher.iter().map(of_order));
        let counts = counts.collect();
        GramLists { vocab, words, higher: Box::new(Keyed { bits, higher }), counts }
    }

    /// The model of these words and the n-grams of a tree.
    pub fn of_trie(vocab: Vocab, words: WordScores, trie: Trie) -> Self {
        let counts = trie.levels.iter().map(|level| level.words.len() as u64).collect();
        GramLists { vocab, words, higher: Box::new(trie), counts }
    }
}

impl Grams for GramLists {
    fn order(&self) -> usize {
        self.counts.len()
    }

    fn count(&self, order: usize) -> u64 {
        self.counts[order - 1]
    }

    fn word(&self, id: WordId) -> &[u8] {
        self.vocab.word(id).as_bytes()
    }

    fn grams(&self, order: usize) -> Result<GramIter<'_>> {
        if order > 1 {
            return self.higher.grams(order);
        }
        Ok(Box::new((0..self.words.len()).map(|id| Ok(self.unigram(id)))))
    }

    fn block(&self) -> u64 {
        BLOCK
    }

    fn trie(&self) -> Option<&Trie> {
        self.higher.trie()
    }

    fn visit(
        &self,
        order: usize,
        range: Range<u64>,
        each: &mut dyn FnMut(&Gram) -> Result<()>,
    ) -> Result<()> {
        if order > 1 {
            return self.higher.visit(order, range, each);
        }
        range.map(to_usize).try_for_each(|id| each(&self.unigram(id)))
    }
}

impl GramLists {
    fn unigram(&self, id: usize) -> Gram {
        let mut words = [0; MAX_ORDER];
        words[0] = to_u32(id);
        let (prob, backoff) = self.words[id];
        Gram { words, prob, backoff }
    }
}

/// N-grams from order 2 up, however they are kept.
pub trait Tables: Send + Sync {
    /// All n-grams of an order.
    fn grams(&self, order: usize) -> Result<GramIter<'_>>;

    /// All of them as a tree, if they are one.
    fn trie(&self) -> Option<&Trie> {
        None
    }

    /// Shows a range of them.
    fn visit(
        &self,
        order: usize,
        range: Range<u64>,
        each: &mut dyn FnMut(&Gram) -> Result<()>,
    ) -> Result<()>;
}

struct Keyed<const W: usize> {
    bits: u32,
    higher: Vec<Vec<Scored<W>>>,
}

impl<const W: usize> Tables for Keyed<W> {
    fn grams(&self, order: usize) -> Result<GramIter<'_>> {
        let lists: Vec<_> =
            self.higher[order - 2].iter().map(Spool::iter).collect::<Result<_>>()?;
        Ok(Box::new(lists.into_iter().flatten().map(move |record| {
            let (key, (prob, backoff)) = record?;
            Ok(Gram { words: key.words(order, self.bits), prob, backoff })
        })))
    }

    fn visit(
        &self,
        order: usize,
        range: Range<u64>,
        each: &mut dyn FnMut(&Gram) -> Result<()>,
    ) -> Result<()> {
        let mut first = 0;
        for list in &self.higher[order - 2] {
            let end = first + list.len();
            let (from, to) = (range.start.max(first), range.end.min(end));
            if from < to {
                list.visit(from - first..to - first, |(key, (prob, backoff))| {
                    each(&Gram { words: key.words(order, self.bits), prob, backoff })
                })?;
            }
            first = end;
        }
        Ok(())
    }
}
