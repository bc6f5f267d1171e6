//! A trie of n-grams by suffix: the children of an n-gram extend it by one older word.
//!
//! In: n-grams in suffix order, each after the longer n-grams that end with it. Out: one level per
//! order; an entry is the oldest word, the count and the end of its child range. The ordinal of an
//! n-gram is its index in its level.
//! Cost: 12 bytes per n-gram; later 8 bytes for the scores replace the count.
//! Not: n-grams beyond the memory limit; `sorted_estimation` handles those.

use super::MAX_ORDER;
use super::count::CountSink;
use super::ngram::ScoredNgram;
use super::ngram_key::NgramKey;
use crate::corpus::WordId;
use crate::error::Result;
use crate::narrow::{to_u32, to_usize};
use std::ops::Range;

/// The n-grams of one order, as parallel arrays.
#[derive(Default)]
pub struct TrieLevel {
    /// Oldest word of each n-gram.
    pub words: Vec<WordId>,
    /// Adjusted count of each n-gram.
    pub counts: Vec<u32>,
    /// End of the child range of each n-gram in the next level; the range starts at the end of the
    /// entry before.
    pub ends: Vec<u32>,
    /// Natural logarithms of probability and backoff; empty before smoothing.
    pub scores: Vec<(f32, f32)>,
}

impl TrieLevel {
    /// Return the index range of the children of the n-gram at index `at`.
    #[inline]
    pub fn children(&self, at: usize) -> Range<usize> {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        start as usize..self.ends[at] as usize
    }
}

/// The trie of one range of the vocabulary, from order 1 up.
pub struct TrieBranch {
    bits: u32,
    levels: Vec<TrieLevel>,
}

impl TrieBranch {
    /// Create an empty branch for n-grams of up to `order` words with `bits` bits per word.
    pub fn new(order: usize, bits: u32) -> Self {
        TrieBranch { bits, levels: (0..order).map(|_| TrieLevel::default()).collect() }
    }
}

impl<const W: usize> CountSink<W> for TrieBranch {
    fn add(
        &mut self,
        key: &NgramKey<W>,
        length: usize,
        count: u64,
        _is_pruned: bool,
    ) -> Result<()> {
        let end = self.levels.get(length).map_or(0, |below| to_u32(below.words.len()));
        let level = &mut self.levels[length - 1];
        level.words.push(key.word(length - 1, self.bits));
        level.counts.push(to_u32(count));
        level.ends.push(end);
        Ok(())
    }
}

/// A trie of all n-grams; the first level has one entry per word id.
pub struct SuffixTrie {
    /// Levels by order, from order 1 up.
    pub levels: Vec<TrieLevel>,
}

impl SuffixTrie {
    /// Concatenate the branches of consecutive vocabulary ranges.
    pub fn join(branches: Vec<TrieBranch>, words: usize) -> Self {
        let mut levels: Vec<TrieLevel> = Vec::new();
        for branch in branches {
            if levels.is_empty() {
                levels = branch.levels;
                continue;
            }
            let shifts: Vec<u32> =
                levels[1..].iter().map(|level| to_u32(level.words.len())).chain([0]).collect();
            for ((level, more), shift) in levels.iter_mut().zip(branch.levels).zip(shifts) {
                level.words.extend(more.words);
                level.counts.extend(more.counts);
                level.ends.extend(more.ends.iter().map(|end| end + shift));
            }
        }
        levels[0] = add_missing_words(&levels[0], words);
        SuffixTrie { levels }
    }

    /// Call `each` for n-grams of an order with two flags: whether a longer n-gram ends with this
    /// one, and whether it is the last child of its parent.
    pub fn visit_marked(
        &self,
        order: usize,
        range: Range<u64>,
        mut each: impl FnMut(ScoredNgram, bool, bool) -> Result<()>,
    ) -> Result<()> {
        let mut ngrams = self.iter(order, range);
        let is_longest = order == self.levels.len();
        while let Some(ngram) = ngrams.next() {
            let next = ngrams.places[order - 1];
            let is_extended = !is_longest && !self.levels[order - 1].children(next - 1).is_empty();
            let is_last = order == 1
                || self.levels[order - 2].ends[ngrams.places[order - 2]] as usize == next;
            each(ngram, is_extended, is_last)?;
        }
        Ok(())
    }

    /// Call `each` with the oldest word of each n-gram of an order from 2 up, and whether it is the
    /// last child of its parent.
    pub fn visit_oldest(
        &self,
        order: usize,
        range: Range<u64>,
        mut each: impl FnMut(WordId, bool),
    ) {
        let (parents, level) = (&self.levels[order - 2], &self.levels[order - 1]);
        let (start, end) = (to_usize(range.start), to_usize(range.end));
        let first = parents.ends.partition_point(|&end| end as usize <= start);
        let mut ends = parents.ends[first..].iter().map(|&end| end as usize).peekable();
        for at in start..end {
            while ends.next_if(|&end| end <= at).is_some() {}
            each(level.words[at], ends.peek() == Some(&(at + 1)));
        }
    }

    /// Return the n-grams of an order whose ordinals are in `range`, in suffix order.
    pub fn iter(&self, order: usize, range: Range<u64>) -> TrieIter<'_> {
        let mut places = [0; MAX_ORDER];
        let mut words = [0; MAX_ORDER];
        let mut place = to_usize(range.start);
        for index in (0..order).rev() {
            let level = &self.levels[index];
            if index + 1 < order {
                place = level.ends.partition_point(|&end| end as usize <= place);
            }
            places[index] = place;
            words[index] = level.words.get(place).copied().unwrap_or_default();
        }
        TrieIter { levels: &self.levels[..order], places, words, end: to_usize(range.end) }
    }
}

/// Return the first level with an entry for each of the `words` word ids.
fn add_missing_words(level: &TrieLevel, words: usize) -> TrieLevel {
    let mut all = TrieLevel {
        words: (0..to_u32(words)).collect(),
        counts: vec![0; words],
        ends: vec![0; words],
        scores: Vec::new(),
    };
    let mut known = level.words.iter().zip(&level.counts).zip(&level.ends).peekable();
    let mut end = 0;
    for word in 0..words {
        if let Some(((_, &count), &its_end)) = known.next_if(|((at, _), _)| **at as usize == word) {
            all.counts[word] = count;
            end = its_end;
        }
        all.ends[word] = end;
    }
    all
}

/// An iterator over the n-grams of one order.
pub struct TrieIter<'a> {
    levels: &'a [TrieLevel],
    /// By level, the index of the suffix of the current n-gram.
    places: [usize; MAX_ORDER],
    /// Words of the current n-gram, newest first.
    words: [WordId; MAX_ORDER],
    end: usize,
}

impl Iterator for TrieIter<'_> {
    type Item = ScoredNgram;

    #[inline]
    fn next(&mut self) -> Option<ScoredNgram> {
        let last = self.levels.len() - 1;
        let place = self.places[last];
        if place >= self.end {
            return None;
        }
        self.words[last] = self.levels[last].words[place];
        let mut below = place;
        for index in (0..last).rev() {
            let (level, at) = (&self.levels[index], &mut self.places[index]);
            if (level.ends[*at] as usize) > below {
                break;
            }
            while (level.ends[*at] as usize) <= below {
                *at += 1;
            }
            self.words[index] = level.words[*at];
            below = *at;
        }
        self.places[last] += 1;
        let (prob, backoff) = self.levels[last].scores[place];
        Some(ScoredNgram { words: self.words, prob, backoff })
    }
}
