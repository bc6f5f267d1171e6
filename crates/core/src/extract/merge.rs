//! Many runs become one.
//!
//! In: runs whose phrases are in one order. Out: the run that all their sentence pairs together
//! would have given.
//! How: the lists of target phrases are merged first, which gives every run's target phrases
//! their new numbers. Where those do not fit memory, the runs are rewritten with them, one after
//! the other and in slices if need be. Then source phrases and entries go by once, counts of
//! equal pairs added.
//! Cost: one pass over all runs, or two; a few MB in memory beside the numbers that fit.

use super::entry::Entry;
use super::heads::Heads;
use super::phrases::ListWriter;
use super::run::{EntryReader, Run};
use crate::Job;
use crate::error::{Error, Place, Result};
use crate::storage::{Blob, BlobWriter, TempFolder, write_number};
use std::sync::Arc;

/// Source phrases between two looks at the job.
const BLOCK: u64 = 1 << 14;

/// A run, and the new codes of its source and target words when they have other ones.
pub struct Part {
    /// The run.
    pub run: Run,
    /// New code by old code, of source words and of target words.
    pub codes: Option<Arc<(Vec<u32>, Vec<u32>)>>,
    /// What to call it when it is damaged.
    pub place: Place,
    /// Whether how often its source phrases were extracted is counted with another part.
    is_counted: bool,
    /// New number by old number of target phrases; none when entries have the new ones.
    numbers: Option<Vec<u32>>,
}

impl Part {
    /// A run to be merged.
    pub fn new(run: Run, codes: Option<Arc<(Vec<u32>, Vec<u32>)>>, place: Place) -> Self {
        Part { run, codes, place, is_counted: false, numbers: None }
    }
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
    memory: usize,
    folder: &TempFolder,
    job: &Job,
) -> Result<Run> {
    if let [Part { codes: None, .. }] = &parts[..]
        && let Some(Part { run, .. }) = parts.pop()
    {
        return Ok(run);
    }
    let (tgt, tgt_phrases, numbers) = merge_targets(&parts, ends.1, memory, folder, job)?;
    let all: u64 = parts.iter().map(|part| 4 * part.run.tgt_phrases).sum();
    let fit = all <= memory as u64 / 4;
    let mut renumbered = Vec::new();
    for (mut part, numbers) in parts.into_iter().zip(&numbers) {
        part.run.tgt = Blob::Memory(Vec::new());
        if fit {
            part.numbers = Some(decoded(numbers.bytes()));
            renumbered.push(part);
        } else {
            part.run.tgt_phrases = tgt_phrases.max(part.run.tgt_phrases);
            renumber(part, numbers, memory / 4, folder, &mut renumbered)?;
        }
        job.check()?;
    }
    drop(numbers);
    let mut run = merge_entries(&renumbered, ends.0, memory, folder, job)?;
    run.tgt = tgt;
    run.tgt_phrases = tgt_phrases;
    Ok(run)
}

/// The list of all target phrases, how many they are, and for each part their new numbers, four
/// bytes each.
fn merge_targets(
    parts: &[Part],
    end: u32,
    memory: usize,
    folder: &TempFolder,
    job: &Job,
) -> Result<(Blob, u64, Vec<Blob>)> {
    let mut tgt = BlobWriter::new(memory / 8, folder);
    let share = memory / (8 * parts.len());
    let mut numbers: Vec<_> = parts.iter().map(|_| BlobWriter::new(share, folder)).collect();
    let mut list = ListWriter::default();
    let mut heads = Heads::new(parts, false, end, memory / 8)?;
    let mut tgt_phrases = 0u64;
    while let Some(phrase) = heads.next()? {
        let number = u32::try_from(tgt_phrases).map_err(|_| too_many())?;
        for &part in phrase.parts {
            numbers[part].buffer.extend_from_slice(&number.to_le_bytes());
            numbers[part].settle()?;
        }
        list.push(&mut tgt.buffer, phrase.words, phrase.count);
        tgt.settle()?;
        tgt_phrases += 1;
        if tgt_phrases.is_multiple_of(BLOCK) {
            job.check()?;
        }
    }
    drop(heads);
    let numbers: Vec<Blob> = numbers.into_iter().map(BlobWriter::finish).collect::<Result<_>>()?;
    for (part, numbers) in parts.iter().zip(&numbers) {
        if 4 * part.run.tgt_phrases != numbers.bytes().len() as u64 {
            return Err(damaged(&part.place));
        }
    }
    Ok((tgt.finish()?, tgt_phrases, numbers))
}

fn decoded(numbers: &[u8]) -> Vec<u32> {
    let number = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    numbers.chunks_exact(4).map(number).collect()
}

/// Adds the part with new numbers of target phrases to `parts`: a slice of them after the other,
/// so that the numbers of one slice fit memory.
fn renumber(
    part: Part,
    numbers: &Blob,
    memory: usize,
    folder: &TempFolder,
    parts: &mut Vec<Part>,
) -> Result<()> {
    let slice = (memory / 4).max(1 << 12) * 4;
    let window = memory / 8;
    for start in (0..numbers.bytes().len()).step_by(slice) {
        let end = numbers.bytes().len().min(start + slice);
        let of_slice = decoded(&numbers.bytes()[start..end]);
        numbers.release(start..end);
        let first = start / 4;
        let entries = renumbered(&part, first, &of_slice, window, folder)?;
        parts.push(Part {
            run: Run { entries, ..part.run.clone() },
            codes: part.codes.clone(),
            place: part.place.clone(),
            is_counted: start > 0,
            numbers: None,
        });
    }
    Ok(())
}

/// The entries whose target phrases have numbers from `first` on, with their new numbers.
fn renumbered(
    part: &Part,
    first: usize,
    numbers: &[u32],
    window: usize,
    folder: &TempFolder,
) -> Result<Blob> {
    let broken = || damaged(&part.place);
    let mut out = BlobWriter::new(0, folder);
    let mut reader = EntryReader::within(&part.run, window);
    let mut entry = Entry::default();
    let mut kept = Vec::new();
    for _ in 0..part.run.src_phrases {
        kept.clear();
        let mut count = 0;
        let mut last = 0;
        for _ in 0..reader.begin().ok_or_else(broken)? {
            let written = reader.read(&mut entry).ok_or_else(broken)?;
            let at = (entry.tgt as usize).checked_sub(first);
            let Some(&tgt) = at.and_then(|at| numbers.get(at)) else { continue };
            write_number(&mut kept, u64::from(tgt) + 1 - last);
            last = u64::from(tgt) + 1;
            kept.extend_from_slice(written);
            count += 1;
        }
        write_number(&mut out.buffer, count);
        out.buffer.extend_from_slice(&kept);
        if out.buffer.len() > 1 << 16 {
            out.settle()?;
        }
    }
    out.settle()?;
    out.finish()
}

fn merge_entries(
    parts: &[Part],
    end: u32,
    memory: usize,
    folder: &TempFolder,
    job: &Job,
) -> Result<Run> {
    let mut src = BlobWriter::new(memory / 8, folder);
    let mut out = BlobWriter::new(memory / 8, folder);
    let mut list = ListWriter::default();
    let mut heads = Heads::new(parts, true, end, memory / 8)?;
    let window = memory / (8 * parts.len());
    let mut entries: Vec<_> =
        parts.iter().map(|part| EntryReader::within(&part.run, window)).collect();
    let mut group: Vec<Entry> = Vec::new();
    let (mut src_phrases, mut pairs) = (0u64, 0u64);
    while let Some(phrase) = heads.next()? {
        let mut used = 0;
        for &part in phrase.parts {
            let broken = || damaged(&parts[part].place);
            for _ in 0..entries[part].begin().ok_or_else(broken)? {
                if used == group.len() {
                    group.push(Entry::default());
                }
                let entry = &mut group[used];
                entries[part].read(entry).ok_or_else(broken)?;
                if let Some(numbers) = &parts[part].numbers {
                    entry.tgt = numbers[entry.tgt as usize];
                }
                used += 1;
            }
        }
        list.push(&mut src.buffer, phrase.words, phrase.count);
        src.settle()?;
        pairs += write_group(&mut group[..used], phrase.parts.len() > 1, &mut out.buffer);
        out.settle()?;
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
        write_number(out, u64::from(entry.tgt) + 1 - last);
        last = u64::from(entry.tgt) + 1;
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

impl Part {
    /// How often a source phrase counts when it was extracted `count` times.
    pub(super) fn counted(&self, count: u64) -> u64 {
        if self.is_counted { 0 } else { count }
    }
}

fn too_many() -> Error {
    Error::Limit {
        place: Place { file: "phrases".into(), line: None },
        found: "more distinct target phrases than can be numbered".into(),
        limit: "4294967296".into(),
    }
}
