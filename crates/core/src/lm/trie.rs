//! N-grams by suffix as a tree: below each stand those that end with it, by the word before.
//!
//! In: n-grams in suffix order, each after the longer ones that end with it. Out: a level for
//! each order, in which an n-gram is one word, its count, and where the next level's end that end
//! with it. So no n-gram holds its words, and the number of one is its place in its level.
//! Cost: 12 bytes an n-gram, and later 8 for the scores in place of the count.
//! Not: larger than memory; for that n-grams are sorted (`estimate`).

use super::MAX_ORDER;
use super::count::Sink;
use super::grams::{Gram, GramIter};
use super::key::Key;
use super::lists::Tables;
use crate::corpus::WordId;
use crate::error::Result;
use crate::narrow::{to_u32, to_usize};
use std::ops::Range;

/// The n-grams of one order.
#[derive(Default)]
pub struct Level {
    /// The oldest word of each.
    pub words: Vec<WordId>,
    /// How often each counts.
    pub counts: Vec<u32>,
    /// Where those of the next level end that end with it.
    pub ends: Vec<u32>,
    /// Logarithms of probability and backoff, once they are known.
    pub scores: Vec<(f32, f32)>,
}

impl Level {
    /// The n-grams of the next level that end with this one.
    #[inline]
    pub fn below(&self, at: usize) -> Range<usize> {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        start as usize..self.ends[at] as usize
    }
}

/// The n-grams of one share of the words, from order 1 up.
pub struct Branch {
    bits: u32,
    levels: Vec<Level>,
}

impl Branch {
    /// An empty one for n-grams of up to `order` words of so many bits.
    pub fn new(order: usize, bits: u32) -> Self {
        Branch { bits, levels: (0..order).map(|_| Level::default()).collect() }
    }
}

impl<const W: usize> Sink<W> for Branch {
    fn add(&mut self, key: &Key<W>, length: usize, count: u64, _is_pruned: bool) -> Result<()> {
        let end = self.levels.get(length).map_or(0, |below| to_u32(below.words.len()));
        let level = &mut self.levels[length - 1];
        level.words.push(key.word(length - 1, self.bits));
        level.counts.push(to_u32(count));
        level.ends.push(end);
        Ok(())
    }
}

/// All n-grams, from order 1 up; the first level has every word at its number.
pub struct Trie {
    /// Its levels.
    pub levels: Vec<Level>,
}

impl Trie {
    /// Joins the branches of all shares, which follow each other.
    pub fn of(branches: Vec<Branch>, words: usize) -> Self {
        let mut levels: Vec<Level> = Vec::new();
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
        levels[0] = with_all_words(&levels[0], words);
        Trie { levels }
    }

    /// Shows n-grams of an order, whether a longer one ends with each, and whether it is the last of
    /// those that end alike.
    pub fn visit_marked(
        &self,
        order: usize,
        range: Range<u64>,
        mut each: impl FnMut(Gram, bool, bool) -> Result<()>,
    ) -> Result<()> {
        let mut walk = self.walk(order, range);
        let is_longest = order == self.levels.len();
        while let Some(gram) = walk.next() {
            let next = walk.places[order - 1];
            let is_extended = !is_longest && !self.levels[order - 1].below(next - 1).is_empty();
            let is_last =
                order == 1 || self.levels[order - 2].ends[walk.places[order - 2]] as usize == next;
            each(gram, is_extended, is_last)?;
        }
        Ok(())
    }

    /// Shows the oldest words of n-grams of an order from 2 up, and whether each is the last of
    /// those that end alike.
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

    fn walk(&self, order: usize, range: Range<u64>) -> Walk<'_> {
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
        Walk { levels: &self.levels[..order], places, words, end: to_usize(range.end) }
    }
}

/// The level of words by themselves, with those that are no n-gram's newest word.
fn with_all_words(level: &Level, words: usize) -> Level {
    let mut all = Level {
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

/// Goes through the n-grams of one order.
struct Walk<'a> {
    levels: &'a [Level],
    /// By level, the n-gram that this one ends with.
    places: [usize; MAX_ORDER],
    /// Its words.
    words: [WordId; MAX_ORDER],
    end: usize,
}

impl Iterator for Walk<'_> {
    type Item = Gram;

    #[inline]
    fn next(&mut self) -> Option<Gram> {
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
        Some(Gram { words: self.words, prob, backoff })
    }
}

impl Tables for Trie {
    fn trie(&self) -> Option<&Trie> {
        Some(self)
    }

    fn grams(&self, order: usize) -> Result<GramIter<'_>> {
        let all = 0..self.levels[order - 1].words.len() as u64;
        Ok(Box::new(self.walk(order, all).map(Ok)))
    }

    fn visit(
        &self,
        order: usize,
        range: Range<u64>,
        each: &mut dyn FnMut(&Gram) -> Result<()>,
    ) -> Result<()> {
        self.walk(order, range).try_for_each(|gram| each(&gram))
    }
}
