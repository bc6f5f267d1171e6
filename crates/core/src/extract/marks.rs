//! Places in a run where a reader can begin, so that threads can share it.
//!
//! In: a run while it is written. Out: a `Mark` every few KB, and the parts between them.
//! Cost: some 100 bytes for 16 KB of a run. Files of counts have none, and are read as one part.

use crate::narrow::to_usize;
use std::ops::Range;

/// Bytes of a run between two marks, at least.
pub const GAP: usize = 1 << 14;

/// A place between two phrases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// Phrases before it.
    pub number: u64,
    /// Where it is in the list of phrases.
    pub list: usize,
    /// Where the entries of the next phrase begin; 0 for target phrases.
    pub entries: usize,
    /// The phrase before it.
    pub before: Vec<u32>,
}

/// Notes marks while a run is written.
#[derive(Debug, Default)]
pub struct Marker {
    /// What was noted.
    pub marks: Vec<Mark>,
    last: usize,
}

impl Marker {
    /// Offers a place behind a phrase: how many phrases are before it, and where it is in the list
    /// and among the entries.
    #[inline]
    pub fn offer(&mut self, number: u64, (list, entries): (usize, usize), before: &[u32]) {
        if list + entries >= self.last + GAP {
            self.last = list + entries;
            self.marks.push(Mark { number, list, entries, before: before.to_vec() });
        }
    }
}

/// Neighbouring source phrases of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch {
    /// Their numbers.
    pub phrases: Range<u64>,
    /// Their part of the list.
    pub list: Range<usize>,
    /// Their part of the entries.
    pub entries: Range<usize>,
    /// The phrase before them.
    pub before: Vec<u32>,
}

/// Cuts a run of so many phrases, and bytes of list and entries, at marks into stretches of about
/// `bytes`.
pub fn stretches(
    marks: &[Mark],
    (phrases, list, entries): (u64, usize, usize),
    bytes: usize,
) -> Vec<Stretch> {
    let mut stretches = Vec::new();
    let end = Mark { number: phrases, list, entries, before: Vec::new() };
    let mut start = &Mark { number: 0, list: 0, entries: 0, before: Vec::new() };
    for mark in marks.iter().chain([&end]) {
        let is_last = mark.number == phrases;
        if is_last || mark.list - start.list + mark.entries - start.entries >= bytes {
            stretches.push(Stretch {
                phrases: start.number..mark.number,
                list: start.list..mark.list,
                entries: start.entries..mark.entries,
                before: start.before.clone(),
            });
            start = mark;
        }
        if is_last {
            break; // the end, or a mark there
        }
    }
    stretches
}

impl Stretch {
    /// How many phrases it has.
    pub fn count(&self) -> usize {
        to_usize(self.phrases.end - self.phrases.start)
    }
}
