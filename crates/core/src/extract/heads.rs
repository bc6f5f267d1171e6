//! The next phrase of many sorted lists at once.
//!
//! In: runs whose phrases are in one order, and bounds. Out: every phrase within the bounds once, in
//! that order, with the runs that have it and how often it was extracted in all of them.
//! How: a heap of the runs by the phrase at hand; reading begins at the nearest mark of each run.
//! Cost: O(log runs) comparisons a phrase of a run; a window of each list is resident.

use super::marks::{GAP, Mark};
use super::merge::{Part, damaged};
use super::phrases::ListReader;
use super::words::compare;
use crate::error::Result;
use std::cmp::Ordering;

/// Phrases between two others, in new codes; none for the start and the end of the lists.
#[derive(Debug, Clone, Default)]
pub struct Bounds {
    /// The phrase before the first.
    pub after: Option<Vec<u32>>,
    /// The last phrase.
    pub until: Option<Vec<u32>>,
}

impl Bounds {
    /// Bounds that cut the lists of all parts into pieces of about `bytes`.
    pub fn cut(parts: &[Part], by_src: bool, end: u32, bytes: usize) -> Result<Vec<Bounds>> {
        let mut phrases = Vec::new();
        for part in parts {
            let marks = if by_src { &part.run.src_marks } else { &part.run.tgt_marks };
            for mark in marks {
                let mut phrase = Vec::new();
                recode(part, by_src, end, &mark.before, &mut phrase)?;
                phrases.push(phrase);
            }
        }
        phrases.sort_unstable_by(|first, second| compare(first, second, end));
        phrases.dedup();
        let mut pieces = vec![Bounds::default()];
        let step = (bytes / GAP).max(1);
        for phrase in phrases.into_iter().skip(step - 1).step_by(step) {
            if let Some(last) = pieces.last_mut() {
                last.until = Some(phrase.clone());
            }
            pieces.push(Bounds { after: Some(phrase), until: None });
        }
        Ok(pieces)
    }
}

/// Where a part begins within bounds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Start {
    /// A place among its entries.
    pub entries: usize,
    /// How many phrases of that place on are before the bounds.
    pub skipped: usize,
}

/// The next phrase of every list.
pub struct Heads<'p> {
    parts: &'p [Part],
    by_src: bool,
    end: u32,
    until: Option<&'p [u32]>,
    /// Where each part begins.
    pub starts: Vec<Start>,
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
    /// The lists of source or of target phrases within bounds; `end` is the code of the end of a
    /// phrase. About `memory` bytes of all lists are resident.
    pub fn between(
        parts: &'p [Part],
        by_src: bool,
        end: u32,
        bounds: &'p Bounds,
        memory: usize,
    ) -> Result<Self> {
        let mut heads = Heads {
            parts,
            by_src,
            end,
            until: bounds.until.as_deref(),
            starts: Vec::new(),
            readers: Vec::new(),
            phrases: vec![Vec::new(); parts.len()],
            before: Vec::new(),
            heap: Vec::with_capacity(parts.len()),
            taken: Vec::new(),
        };
        let window = memory / parts.len().max(1);
        (0..parts.len()).try_for_each(|part| heads.seek(part, bounds.after.as_deref(), window))?;
        Ok(heads)
    }

    /// Goes to the first phrase of the next part that is within the bounds.
    fn seek(&mut self, part: usize, after: Option<&[u32]>, window: usize) -> Result<()> {
        let Part { run, .. } = &self.parts[part];
        let list = if self.by_src { &run.src } else { &run.tgt };
        let bytes = |start: usize| start..list.bytes().len();
        let mark = match after {
            Some(after) => self.last_mark(part, after)?,
            None => None,
        };
        let mut start = Start::default();
        let reader = match mark {
            Some(mark) => {
                start.entries = mark.entries;
                let phrase = &mut self.phrases[part];
                recode(&self.parts[part], self.by_src, self.end, &mark.before, phrase)?;
                ListReader::between(list, bytes(mark.list), &mark.before, window)
            }
            None => ListReader::within(list, window),
        };
        self.readers.push(reader);
        while self.advance(part)? {
            let is_before = |after| compare(&self.phrases[part], after, self.end).is_le();
            if !after.is_some_and(is_before) {
                self.heap.push(part);
                self.rise(self.heap.len() - 1);
                break;
            }
            start.skipped += 1;
        }
        self.starts.push(start);
        Ok(())
    }

    /// The last mark of a part that has no phrase behind `after` before it.
    fn last_mark(&self, part: usize, after: &[u32]) -> Result<Option<&'p Mark>> {
        let Part { run, .. } = &self.parts[part];
        let marks = if self.by_src { &run.src_marks } else { &run.tgt_marks };
        let (mut low, mut high) = (0, marks.len());
        let mut phrase = Vec::new();
        while low < high {
            let middle = (low + high) / 2;
            recode(&self.parts[part], self.by_src, self.end, &marks[middle].before, &mut phrase)?;
            if compare(&phrase, after, self.end).is_le() { low = middle + 1 } else { high = middle }
        }
        Ok(low.checked_sub(1).map(|at| &marks[at]))
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
        let is_behind = |until| compare(&self.phrases[first], until, self.end).is_gt();
        if self.until.is_some_and(is_behind) {
            return Ok(None);
        }
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
        recode(&self.parts[part], self.by_src, self.end, &reader.phrase, phrase)?;
        let is_first = self.before.is_empty();
        if !is_first && compare(&self.before, phrase, self.end) != Ordering::Less {
            return Err(broken());
        }
        Ok(true)
    }
}

/// Puts a phrase of a part into `out`, in new codes; `end` is none of them.
pub fn recode(
    part: &Part,
    by_src: bool,
    end: u32,
    phrase: &[u32],
    out: &mut Vec<u32>,
) -> Result<()> {
    out.clear();
    let Some(codes) = &part.codes else {
        out.extend_from_slice(phrase);
        return Ok(());
    };
    let codes = if by_src { &codes.0 } else { &codes.1 };
    for &old in phrase {
        let new = codes.get(old as usize).copied().filter(|&new| new != end);
        out.push(new.ok_or_else(|| damaged(&part.place))?);
    }
    Ok(())
}
