//! The next phrase of many sorted lists at once.
//!
//! In: runs whose phrases are in one order. Out: every phrase once, in that order, with the runs
//! that have it and how often it was extracted in all of them.
//! How: a heap of the runs by the phrase at hand.
//! Cost: O(log runs) comparisons a phrase of a run; a window of each list is resident.

use super::merge::{Part, damaged};
use super::phrases::ListReader;
use super::words::compare;
use crate::error::Result;
use std::cmp::Ordering;

/// The next phrase of every list.
pub struct Heads<'p> {
    parts: &'p [Part],
    by_src: bool,
    end: u32,
    readers: Vec<ListReader<'p>>,
    /// The phrase at hand, in new codes.
    phrases: Vec<Vec<u32>>,
    /// The phrase before it.
    before: Vec<u32>,
    /// Parts whose lists have not ended, the one with the smallest phrase first.
    heap: Vec<usize>,
    /// Parts that had the phrase last given.
    taken: Vec<usize>,
}

/// A phrase of some parts.
pub struct Head<'h> {
    /// Its words in new codes.
    pub words: &'h [u32],
    /// The parts that have it, ascending.
    pub parts: &'h [usize],
    /// How often it was extracted in all of them.
    pub count: u64,
}

impl<'p> Heads<'p> {
    /// The lists of source or of target phrases; `end` is the code of the end of a phrase. About
    /// `memory` bytes of all lists are resident.
    pub fn new(parts: &'p [Part], by_src: bool, end: u32, memory: usize) -> Result<Self> {
        let list = |part: &'p Part| if by_src { &part.run.src } else { &part.run.tgt };
        let window = memory / parts.len().max(1);
        Ok(Heads {
            parts,
            by_src,
            end,
            readers: parts.iter().map(|part| ListReader::within(list(part), window)).collect(),
            phrases: vec![Vec::new(); parts.len()],
            before: Vec::new(),
            heap: Vec::with_capacity(parts.len()),
            taken: (0..parts.len()).collect(),
        })
    }

    /// The next phrase; none at the end of all lists.
    pub fn next(&mut self) -> Result<Option<Head<'_>>> {
        for at in 0..self.taken.len() {
            let part = self.taken[at];
            if self.advance(part)? {
                self.heap.push(part);
                self.rise(self.heap.len() - 1);
            }
        }
        self.taken.clear();
        let Some(&first) = self.heap.first() else { return Ok(None) };
        let mut count = 0;
        while let Some(&part) = self.heap.first() {
            if part != first && self.phrases[part] != self.phrases[first] {
                break;
            }
            self.heap.swap_remove(0);
            self.sink(0);
            self.taken.push(part);
            count += self.parts[part].counted(self.readers[part].count);
        }
        Ok(Some(Head { words: &self.phrases[first], parts: &self.taken, count }))
    }

    /// Whether the phrase of one place in the heap goes before that of another.
    fn precedes(&self, one: usize, other: usize) -> bool {
        let (one, other) = (self.heap[one], self.heap[other]);
        match compare(&self.phrases[one], &self.phrases[other], self.end) {
            Ordering::Equal => one < other,
            order => order == Ordering::Less,
        }
    }

    fn rise(&mut self, mut at: usize) {
        while at > 0 && self.precedes(at, (at - 1) / 2) {
            self.heap.swap(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
    }

    fn sink(&mut self, mut at: usize) {
        loop {
            let (left, right) = (2 * at + 1, 2 * at + 2);
            if left >= self.heap.len() {
                return;
            }
            let has_right = right < self.heap.len();
            let child = if has_right && self.precedes(right, left) { right } else { left };
            if !self.precedes(child, at) {
                return;
            }
            self.heap.swap(child, at);
            at = child;
        }
    }

    /// Reads the next phrase of a part; false at the end of its list.
    fn advance(&mut self, part: usize) -> Result<bool> {
        let broken = || damaged(&self.parts[part].place);
        let (phrase, reader) = (&mut self.phrases[part], &mut self.readers[part]);
        if reader.is_at_end() {
            return Ok(false);
        }
        reader.advance().ok_or_else(broken)?;
        std::mem::swap(&mut self.before, phrase);
        phrase.clear();
        match &self.parts[part].codes {
            None => phrase.extend_from_slice(&reader.phrase),
            Some(codes) => {
                let codes = if self.by_src { &codes.0 } else { &codes.1 };
                for &old in &reader.phrase {
                    let new = codes.get(old as usize).copied().filter(|&new| new != self.end);
                    phrase.push(new.ok_or_else(broken)?);
                }
            }
        }
        let is_first = self.before.is_empty();
        if !is_first && compare(&self.before, phrase, self.end) != Ordering::Less {
            return Err(broken());
        }
        Ok(true)
    }
}
