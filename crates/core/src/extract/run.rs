//! Occurrences of phrase pairs, collected until memory is short, then sorted and folded.
//!
//! In: blocks of sentence pairs. Out: `Run`s: a sorted list of source phrases, one of target
//! phrases, and for every source phrase its entries in order of the target phrase.
//! How: phrases and link patterns are numbered, an occurrence is sixteen bytes; a counting sort
//! by source phrase, then a small sort inside each.
//! Cost: about 16 bytes an occurrence and 30 a distinct phrase until the run is written.

use super::entry::Entry;
use super::grid::Block;
use super::marks::{Mark, Marker, Stretch, stretches};
use super::orientation::Orientations;
use super::phrases::{ListReader, ListWriter, PhraseSet};
use crate::align::Link;
use crate::error::Result;
use crate::narrow::{low_u8, to_u8};
use crate::storage::{Blob, BlobWriter, Pass, TempFolder, write_number};
use std::ops::Range;

/// Sorted counts of some sentence pairs.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// The list of source phrases.
    pub src: Blob,
    /// The list of target phrases.
    pub tgt: Blob,
    /// For each source phrase the number of its entries, then the entries; each begins with
    /// its target phrase as the distance to the one before, plus one.
    pub entries: Blob,
    /// Number of source phrases.
    pub src_phrases: u64,
    /// Number of target phrases.
    pub tgt_phrases: u64,
    /// Number of phrase pairs.
    pub pairs: u64,
    /// Where readers of source phrases and their entries can begin, beside the start.
    pub src_marks: Vec<Mark>,
    /// Where readers of target phrases can begin.
    pub tgt_marks: Vec<Mark>,
}

impl Run {
    /// Finds the marks of a run that was read from a file; none when it is damaged.
    pub fn find_marks(&mut self) -> Option<()> {
        let (mut src, mut list) = (Marker::default(), ListReader::new(&self.src));
        let mut entries = EntryReader::new(self);
        for number in 0..self.src_phrases {
            src.offer(number, (list.place(), entries.place()), &list.phrase);
            list.advance()?;
            entries.begin()?;
            entries.skip()?;
        }
        let (mut tgt, mut list) = (Marker::default(), ListReader::new(&self.tgt));
        for number in 0..self.tgt_phrases {
            tgt.offer(number, (list.place(), 0), &list.phrase);
            list.advance()?;
        }
        drop((list, entries));
        (self.src_marks, self.tgt_marks) = (src.marks, tgt.marks);
        Some(())
    }

    /// Source phrases and entries in stretches of about `bytes`.
    pub fn stretches(&self, bytes: usize) -> Vec<Stretch> {
        let lengths = (self.src.bytes().len(), self.entries.bytes().len());
        stretches(&self.src_marks, (self.src_phrases, lengths.0, lengths.1), bytes)
    }

    /// Readers of a stretch, each with about so many bytes resident.
    pub fn read(&self, stretch: &Stretch, memory: usize) -> (ListReader<'_>, EntryReader<'_>) {
        let Stretch { list, entries, before, .. } = stretch;
        let phrases = ListReader::between(&self.src, list.clone(), before, memory);
        (phrases, EntryReader::between(self, entries.clone(), memory))
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Occurrence {
    src: u32,
    tgt: u32,
    pattern: u32,
    orientations: Orientations,
}

/// Phrase numbers of the spans of the sentence at hand, by start and length.
#[derive(Debug, Default)]
struct Spans {
    numbers: Vec<u32>,
    max_length: usize,
}

const UNKNOWN: u32 = u32::MAX;

impl Spans {
    fn reset(&mut self, words: usize, max_length: usize) {
        self.max_length = max_length;
        self.numbers.clear();
        self.numbers.resize(words * max_length, UNKNOWN);
    }

    #[inline]
    fn number(&mut self, words: &[u32], (first, last): (u32, u32), set: &mut PhraseSet) -> u32 {
        let (first, last) = (first as usize, last as usize);
        let slot = &mut self.numbers[first * self.max_length + last - first];
        if *slot == UNKNOWN {
            *slot = set.intern(&words[first..=last]);
        }
        set.count(*slot);
        *slot
    }
}

/// Collects occurrences and makes runs of them.
#[derive(Debug, Default)]
pub struct Collector {
    src: PhraseSet,
    tgt: PhraseSet,
    /// Link patterns, as phrases whose words are links.
    patterns: PhraseSet,
    occurrences: Vec<Occurrence>,
    src_spans: Spans,
    tgt_spans: Spans,
    own: Vec<u32>,
}

impl Collector {
    /// Prepares for the next sentence pair.
    pub fn begin(&mut self, lengths: (usize, usize), max_length: usize) {
        self.src_spans.reset(lengths.0, max_length);
        self.tgt_spans.reset(lengths.1, max_length);
    }

    /// Adds a block of the sentence pair whose words (as codes) are given.
    #[inline]
    pub fn add(
        &mut self,
        words: (&[u32], &[u32]),
        block: Block,
        links: &[Link],
        orientations: Orientations,
    ) {
        let (first, start) = (block.src.first.0, block.tgt.first.0);
        self.own.clear();
        self.own.extend(links.iter().map(|link| (link.src.0 - first) << 8 | (link.tgt.0 - start)));
        self.occurrences.push(Occurrence {
            src: self.src_spans.number(words.0, (first, block.src.last.0), &mut self.src),
            tgt: self.tgt_spans.number(words.1, (start, block.tgt.last.0), &mut self.tgt),
            pattern: self.patterns.intern(&self.own),
            orientations,
        });
    }

    /// Bytes in use, with what the sort will need.
    pub fn memory(&self) -> usize {
        let phrases = self.src.memory() + self.tgt.memory() + self.patterns.memory();
        2 * size_of::<Occurrence>() * self.occurrences.len()
            + phrases
            + 24 * (self.src.len() + self.tgt.len())
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.occurrences.is_empty()
    }

    /// Makes a run of what was added, and is empty again. `ends` are the codes of the end of a
    /// source and of a target phrase.
    pub fn finish(&mut self, ends: (u32, u32), spill: bool, folder: &TempFolder) -> Result<Run> {
        let limit = if spill { 1 << 20 } else { usize::MAX };
        let (src_order, src_places) = self.src.sorted(ends.0);
        let (tgt_order, tgt_places) = self.tgt.sorted(ends.1);
        let (tgt, tgt_marks) = write_list(&self.tgt, &tgt_order, limit, folder)?;
        drop(tgt_order);
        let (starts, sorted) = self.sort(&src_places, &tgt_places);
        drop((src_places, tgt_places));
        let mut run = self.write_entries(&src_order, &starts, sorted, limit, folder)?;
        (run.tgt, run.tgt_phrases, run.tgt_marks) = (tgt, self.tgt.len() as u64, tgt_marks);
        self.src.clear();
        self.tgt.clear();
        self.patterns.clear();
        Ok(run)
    }

    /// Occurrences by place of the source phrase, and where each phrase's own begin.
    fn sort(&mut self, src_places: &[u32], tgt_places: &[u32]) -> (Vec<usize>, Vec<Occurrence>) {
        let mut starts = vec![0usize; src_places.len() + 1];
        for occurrence in &mut self.occurrences {
            occurrence.src = src_places[occurrence.src as usize];
            occurrence.tgt = tgt_places[occurrence.tgt as usize];
            starts[occurrence.src as usize + 1] += 1;
        }
        for place in 0..src_places.len() {
            starts[place + 1] += starts[place];
        }
        let mut next = starts.clone();
        let mut sorted = vec![Occurrence::default(); self.occurrences.len()];
        for occurrence in self.occurrences.drain(..) {
            let slot = &mut next[occurrence.src as usize];
            sorted[*slot] = occurrence;
            *slot += 1;
        }
        (starts, sorted)
    }

    /// The run without target phrases.
    fn write_entries(
        &self,
        order: &[u32],
        starts: &[usize],
        mut sorted: Vec<Occurrence>,
        limit: usize,
        folder: &TempFolder,
    ) -> Result<Run> {
        let (mut src, mut list) = (BlobWriter::new(limit, folder), ListWriter::default());
        let mut out = BlobWriter::new(limit, folder);
        let (mut entry, mut pairs) = (Entry::default(), 0);
        let (mut fold, mut marker) = (Fold::default(), Marker::default());
        for (bounds, (place, &number)) in starts.windows(2).zip((0..).zip(order)) {
            marker.offer(place, (src.size(), out.size()), list.last());
            list.push(&mut src.buffer, self.src.phrase(number), self.src.frequency(number));
            src.settle()?;
            let group = &mut sorted[bounds[0]..bounds[1]];
            group.sort_unstable_by_key(|one| (u64::from(one.tgt) << 32) | u64::from(one.pattern));
            let by_pair = group.chunk_by(|first, second| first.tgt == second.tgt);
            let count = by_pair.clone().count() as u64;
            write_number(&mut out.buffer, count);
            pairs += count;
            let mut last = 0;
            for pair in by_pair {
                fold.fold(pair, &self.patterns, &mut entry);
                write_number(&mut out.buffer, u64::from(entry.tgt + 1 - last));
                last = entry.tgt + 1;
                entry.write(&mut out.buffer);
            }
            out.settle()?;
        }
        Ok(Run {
            src: src.finish()?,
            entries: out.finish()?,
            src_phrases: order.len() as u64,
            pairs,
            src_marks: marker.marks,
            ..Run::default()
        })
    }
}

fn write_list(
    set: &PhraseSet,
    order: &[u32],
    limit: usize,
    folder: &TempFolder,
) -> Result<(Blob, Vec<Mark>)> {
    let mut out = BlobWriter::new(limit, folder);
    let (mut list, mut marker) = (ListWriter::default(), Marker::default());
    for (place, &number) in (0..).zip(order) {
        marker.offer(place, (out.size(), 0), list.last());
        list.push(&mut out.buffer, set.phrase(number), set.frequency(number));
        out.settle()?;
    }
    Ok((out.finish()?, marker.marks))
}

/// Makes an entry of the occurrences of one pair.
#[derive(Debug, Default)]
struct Fold {
    patterns: Vec<(u32, u64)>,
    links: Vec<u8>,
}

impl Fold {
    fn fold(&mut self, occurrences: &[Occurrence], patterns: &PhraseSet, entry: &mut Entry) {
        entry.reset(occurrences[0].tgt);
        self.patterns.clear();
        for alike in occurrences.chunk_by(|first, second| first.pattern == second.pattern) {
            self.patterns.push((alike[0].pattern, alike.len() as u64));
        }
        if self.patterns.len() > 1 {
            self.patterns.sort_unstable_by_key(|&(pattern, _)| patterns.phrase(pattern));
        }
        for &(pattern, count) in &self.patterns {
            self.links.clear();
            for &link in patterns.phrase(pattern) {
                self.links.extend_from_slice(&[to_u8(link >> 8), low_u8(u64::from(link))]);
            }
            entry.push_pattern(&self.links, count);
        }
        occurrences.iter().for_each(|one| entry.add_orientations(one.orientations));
    }
}

/// Reads the entries of one source phrase after the other.
#[derive(Debug)]
pub struct EntryReader<'a> {
    pass: Pass<'a>,
    tgt_phrases: u64,
    left: u64,
    last: u64,
}

impl<'a> EntryReader<'a> {
    /// A reader before the first source phrase.
    pub fn new(run: &'a Run) -> Self {
        EntryReader::of(run, Pass::new(&run.entries))
    }

    /// The same, with about so many bytes of the entries resident.
    pub fn within(run: &'a Run, memory: usize) -> Self {
        EntryReader::of(run, Pass::within(&run.entries, memory))
    }

    /// A reader of a part of the entries.
    pub fn between(run: &'a Run, bytes: Range<usize>, memory: usize) -> Self {
        EntryReader::of(run, Pass::between(&run.entries, bytes, memory))
    }

    fn of(run: &'a Run, pass: Pass<'a>) -> Self {
        EntryReader { pass, tgt_phrases: run.tgt_phrases, left: 0, last: 0 }
    }

    /// Goes to the next source phrase: the number of its entries. Entries of the phrase before
    /// must have been read.
    pub fn begin(&mut self) -> Option<u64> {
        self.pass.settle();
        self.left = self.pass.cursor.number()?;
        self.last = 0;
        Some(self.left)
    }

    /// Where the reader is among all entries.
    pub fn place(&self) -> usize {
        self.pass.place()
    }

    /// Goes past all entries of the source phrase; none when they are damaged.
    pub fn skip(&mut self) -> Option<()> {
        for _ in 0..std::mem::take(&mut self.left) {
            self.pass.cursor.number()?;
            Entry::skip(&mut self.pass.cursor)?;
        }
        Some(())
    }

    /// Reads the next entry of the source phrase; none when it is damaged. What was written of it
    /// behind the target phrase.
    pub fn read(&mut self, entry: &mut Entry) -> Option<&'a [u8]> {
        let tgt = self.next_target()?;
        let before = self.pass.cursor.rest();
        entry.read(&mut self.pass.cursor, tgt)?;
        Some(&before[..before.len() - self.pass.cursor.rest().len()])
    }

    /// The target phrase of the next entry of the source phrase; none when it is damaged.
    pub fn read_target(&mut self) -> Option<u32> {
        let tgt = self.next_target()?;
        Entry::skip(&mut self.pass.cursor)?;
        Some(tgt)
    }

    fn next_target(&mut self) -> Option<u32> {
        self.left = self.left.checked_sub(1)?;
        self.last = self.last.checked_add(self.pass.cursor.number()?)?;
        let tgt = self.last.checked_sub(1).filter(|&tgt| tgt < self.tgt_phrases)?;
        u32::try_from(tgt).ok()
    }
}
