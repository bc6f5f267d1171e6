//! Many runs become one.
//!
//! In: runs whose phrases are in one order. Out: the run that all their sentence pairs together
//! would have given.
//! How: the lists of target phrases are merged first, which gives every run's target phrases
//! their new numbers; then source phrases and entries go by once, counts of equal pairs added.
//! Cost: one pass over all runs; 4 bytes a run and target phrase in memory.

use super::entry::Entry;
use super::phrases::{ListReader, ListWriter};
use super::run::{EntryReader, Run};
use super::words::compare;
use crate::Job;
use crate::error::{Error, Place, Result};
use crate::storage::{Blob, BlobWriter, TempFolder, write_number};
use std::cmp::Ordering;

/// Runs merged at once; more of them are merged in several rounds.
const FAN_IN: usize = 64;

/// Source phrases between two looks at the job.
const BLOCK: u64 = 1 << 14;

/// A run, and the new codes of its source and target words when they have other ones.
pub struct Part {
    /// The run.
    pub run: Run,
    /// New code by old code, of source words and of target words.
    pub codes: Option<(Vec<u32>, Vec<u32>)>,
    /// What to call it when it is damaged.
    pub place: Place,
}

/// The error of a run that cannot be read.
pub fn damaged(place: &Place) -> Error {
    Error::Format {
        place: place.clone(),
        found: "counts that are damaged".into(),
        expected: "a whole file of counts".into(),
        advice: "extract this part again".into(),
    }
}

/// Merges runs; `ends` are the codes of the end of a source and of a target phrase.
pub fn merge(
    mut parts: Vec<Part>,
    ends: (u32, u32),
    limit: usize,
    folder: &TempFolder,
    job: &Job,
) -> Result<Run> {
    loop {
        match parts.pop() {
            Some(Part { run, codes: None, .. }) if parts.is_empty() => return Ok(run),
            Some(last) => parts.push(last),
            None => {}
        }
        let rest = parts.split_off(parts.len().min(FAN_IN));
        let limit = if rest.is_empty() { limit } else { 0 };
        let run = merge_some(&parts, ends, limit, folder, job)?;
        parts = rest;
        let place = Place { file: "temporary files".into(), line: None };
        parts.push(Part { run, codes: None, place });
    }
}

fn merge_some(
    parts: &[Part],
    ends: (u32, u32),
    limit: usize,
    folder: &TempFolder,
    job: &Job,
) -> Result<Run> {
    let mut tgt = BlobWriter::new(limit, folder);
    let mut numbers: Vec<Vec<u32>> = vec![Vec::new(); parts.len()];
    let mut list = ListWriter::default();
    let mut heads = Heads::new(parts, false, ends.1)?;
    let mut tgt_phrases = 0u64;
    while let Some(phrase) = heads.smallest() {
        let number = u32::try_from(tgt_phrases).map_err(|_| too_many())?;
        let mut count = 0;
        for &part in &phrase {
            numbers[part].push(number);
            count += heads.readers[part].count;
        }
        list.push(&mut tgt.buffer, &heads.phrases[phrase[0]], count);
        tgt.settle()?;
        heads.advance(&phrase)?;
        tgt_phrases += 1;
        if tgt_phrases.is_multiple_of(BLOCK) {
            job.check()?;
        }
    }
    let complete =
        parts.iter().zip(&numbers).find(|(part, own)| part.run.tgt_phrases != own.len() as u64);
    if let Some((part, _)) = complete {
        return Err(damaged(&part.place));
    }
    let tgt = tgt.finish()?;
    let mut run = merge_entries(parts, &numbers, ends.0, limit, folder, job)?;
    run.tgt = tgt;
    run.tgt_phrases = tgt_phrases;
    Ok(run)
}

fn merge_entries(
    parts: &[Part],
    numbers: &[Vec<u32>],
    end: u32,
    limit: usize,
    folder: &TempFolder,
    job: &Job,
) -> Result<Run> {
    let mut src = BlobWriter::new(limit, folder);
    let mut out = BlobWriter::new(limit, folder);
    let mut list = ListWriter::default();
    let mut heads = Heads::new(parts, true, end)?;
    let mut entries: Vec<_> = parts.iter().map(|part| EntryReader::new(&part.run)).collect();
    let mut group: Vec<Entry> = Vec::new();
    let (mut src_phrases, mut pairs) = (0u64, 0u64);
    while let Some(phrase) = heads.smallest() {
        let mut count = 0;
        let mut used = 0;
        for &part in &phrase {
            count += heads.readers[part].count;
            let broken = || damaged(&parts[part].place);
            for _ in 0..entries[part].begin().ok_or_else(broken)? {
                if used == group.len() {
                    group.push(Entry::default());
                }
                entries[part].read(&mut group[used]).ok_or_else(broken)?;
                group[used].tgt = numbers[part][group[used].tgt as usize];
                used += 1;
            }
        }
        list.push(&mut src.buffer, &heads.phrases[phrase[0]], count);
        src.settle()?;
        pairs += write_group(&mut group[..used], phrase.len() > 1, &mut out.buffer);
        out.settle()?;
        heads.advance(&phrase)?;
        src_phrases += 1;
        if src_phrases.is_multiple_of(BLOCK) {
            job.check()?;
        }
    }
    let (src, entries) = (src.finish()?, out.finish()?);
    let tgt = Blob::Memory(Vec::new());
    Ok(Run { src, tgt, entries, src_phrases, tgt_phrases: 0, pairs })
}

/// Writes the entries of one source phrase, equal ones added up; how many are left.
fn write_group(group: &mut [Entry], mixed: bool, out: &mut Vec<u8>) -> u64 {
    let mut last = 0;
    let mut write = |entry: &Entry, out: &mut Vec<u8>| {
        write_number(out, u64::from(entry.tgt + 1 - last));
        last = entry.tgt + 1;
        entry.write(out);
    };
    if !mixed {
        write_number(out, group.len() as u64);
        group.iter().for_each(|entry| write(entry, out));
        return group.len() as u64;
    }
    group.sort_by_key(|entry| entry.tgt);
    let pairs = group.chunk_by(|first, second| first.tgt == second.tgt).count() as u64;
    write_number(out, pairs);
    for equal in group.chunk_by_mut(|first, second| first.tgt == second.tgt) {
        if let [first, others @ ..] = equal {
            others.iter().for_each(|other| first.merge(other));
            write(first, out);
        }
    }
    pairs
}

/// The next phrase of every list.
struct Heads<'p> {
    parts: &'p [Part],
    by_src: bool,
    end: u32,
    readers: Vec<ListReader<'p>>,
    /// The phrase at hand in new codes; empty when the list has ended.
    phrases: Vec<Vec<u32>>,
}

impl<'p> Heads<'p> {
    fn new(parts: &'p [Part], by_src: bool, end: u32) -> Result<Self> {
        let list = |part: &'p Part| if by_src { &part.run.src } else { &part.run.tgt };
        let readers = parts.iter().map(|part| ListReader::new(list(part).bytes())).collect();
        let phrases = vec![Vec::new(); parts.len()];
        let mut heads = Heads { parts, by_src, end, readers, phrases };
        heads.advance(&(0..parts.len()).collect::<Vec<_>>())?;
        Ok(heads)
    }

    /// The parts whose next phrase is the smallest; none at the end of all.
    fn smallest(&self) -> Option<Vec<usize>> {
        let mut smallest: Vec<usize> = Vec::with_capacity(self.phrases.len());
        for (part, phrase) in self.phrases.iter().enumerate() {
            if phrase.is_empty() {
                continue;
            }
            let order = match smallest.first() {
                Some(&first) => compare(phrase, &self.phrases[first], self.end),
                None => Ordering::Less,
            };
            if order == Ordering::Less {
                smallest.clear();
            }
            if order != Ordering::Greater {
                smallest.push(part);
            }
        }
        (!smallest.is_empty()).then_some(smallest)
    }

    fn advance(&mut self, parts: &[usize]) -> Result<()> {
        for &part in parts {
            let broken = || damaged(&self.parts[part].place);
            let phrase = &mut self.phrases[part];
            let reader = &mut self.readers[part];
            if reader.is_at_end() {
                phrase.clear();
                continue;
            }
            reader.advance().ok_or_else(broken)?;
            let codes = self.parts[part].codes.as_ref();
            let codes = codes.map(|(src, tgt)| if self.by_src { src } else { tgt });
            let before = std::mem::take(phrase);
            *phrase = match codes {
                None => reader.phrase.clone(),
                Some(codes) => reader
                    .phrase
                    .iter()
                    .map(|&old| codes.get(old as usize).copied().filter(|&new| new != self.end))
                    .collect::<Option<_>>()
                    .ok_or_else(broken)?,
            };
            if !before.is_empty() && compare(&before, phrase, self.end) != Ordering::Less {
                return Err(broken());
            }
        }
        Ok(())
    }
}

fn too_many() -> Error {
    Error::Limit {
        place: Place { file: "phrases".into(), line: None },
        found: "more distinct target phrases than can be numbered".into(),
        limit: "4294967296".into(),
    }
}
