//! Many runs become one.
//!
//! In: runs whose phrases are in one order. Out: the run that all their sentence pairs together
//! would have given.
//! How: the lists of target phrases are merged first, which gives every run's target phrases
//! their new numbers. Where those do not fit memory, the runs are rewritten with them, one after
//! the other and in slices if need be. Then source phrases and entries go by once, counts of
//! equal pairs added. Threads share both passes: a piece of all lists between two phrases at a time,
//! put together in order.
//! Cost: one pass over all runs, or two; a few MB in memory beside the numbers that fit.

use super::entry::Entry;
use super::heads::{Bounds, Heads};
use super::marks::{Mark, Marker};
use super::phrases::ListWriter;
use super::run::{EntryReader, Run};
use crate::Job;
use crate::error::{Error, Place, Result};
use crate::ordered::{WAITING, in_order};
use crate::storage::{Blob, BlobWriter, TempFolder, write_number};
use std::sync::Arc;

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
    let (targets, numbers) = merge_targets(&parts, ends.1, memory, folder, job)?;
    let all: u64 = parts.iter().map(|part| 4 * part.run.tgt_phrases).sum();
    let fit = all <= memory as u64 / 4;
    let mut renumbered = Vec::new();
    for (mut part, numbers) in parts.into_iter().zip(&numbers) {
        part.run.tgt = Blob::default();
        if fit {
            part.numbers = Some(decoded(numbers.bytes()));
            renumbered.push(part);
        } else {
            part.run.tgt_phrases = targets.tgt_phrases.max(part.run.tgt_phrases);
            renumber(part, numbers, memory / 4, folder, &mut renumbered)?;
        }
        job.check()?;
    }
    drop(numbers);
    merge_entries(&renumbered, targets, ends.0, memory, folder, job)
}

/// Bytes of runs that a thread merges at a time, so that what waits fits memory.
fn piece_size(memory: usize, job: &Job) -> usize {
    (memory / (32 * WAITING * job.threads())).clamp(1 << 17, 1 << 21)
}

/// The list of all target phrases, with marks, and for each part their new numbers, four bytes each.
fn merge_targets(
    parts: &[Part],
    end: u32,
    memory: usize,
    folder: &TempFolder,
    job: &Job,
) -> Result<(Run, Vec<Blob>)> {
    let pieces = Bounds::cut(parts, false, end, piece_size(memory, job))?;
    let mut tgt = BlobWriter::new(memory / 8, folder);
    let share = memory / (8 * parts.len());
    let mut numbers: Vec<_> = parts.iter().map(|_| BlobWriter::new(share, folder)).collect();
    let mut run = Run::default();
    let work = |(): &mut (), piece: usize| {
        TargetPiece::merge(parts, end, &pieces[piece], memory / (8 * job.threads()))
    };
    in_order(
        pieces.len(),
        job,
        || (),
        work,
        |piece: TargetPiece| {
            let first = u32::try_from(run.tgt_phrases).map_err(|_| too_many())?;
            for (all, own) in numbers.iter_mut().zip(&piece.numbers) {
                for &number in own {
                    let number = first.checked_add(number).ok_or_else(too_many)?;
                    all.buffer.extend_from_slice(&number.to_le_bytes());
                }
                all.settle()?;
            }
            add_marks(&mut run.tgt_marks, piece.marks, run.tgt_phrases, (tgt.size(), 0));
            tgt.buffer.extend_from_slice(&piece.list);
            tgt.settle()?;
            run.tgt_phrases += u64::from(piece.phrases);
            Ok(())
        },
    )?;
    let numbers: Vec<Blob> = numbers.into_iter().map(BlobWriter::finish).collect::<Result<_>>()?;
    for (part, numbers) in parts.iter().zip(&numbers) {
        if 4 * part.run.tgt_phrases != numbers.bytes().len() as u64 {
            return Err(damaged(&part.place));
        }
    }
    run.tgt = tgt.finish()?;
    Ok((run, numbers))
}

/// Some neighbouring target phrases of all parts.
#[derive(Default)]
struct TargetPiece {
    list: Vec<u8>,
    marks: Vec<Mark>,
    phrases: u32,
    /// By part: the numbers of its phrases among those of the piece.
    numbers: Vec<Vec<u32>>,
}

impl TargetPiece {
    fn merge(parts: &[Part], end: u32, bounds: &Bounds, memory: usize) -> Result<Self> {
        let numbers = vec![Vec::new(); parts.len()];
        let mut piece = TargetPiece { numbers, ..TargetPiece::default() };
        let mut list = ListWriter::after(bounds.after.as_deref().unwrap_or_default());
        let mut marker = Marker::default();
        let mut heads = Heads::between(parts, false, end, bounds, memory)?;
        while let Some(phrase) = heads.next()? {
            for &part in phrase.parts {
                piece.numbers[part].push(piece.phrases);
            }
            marker.offer(u64::from(piece.phrases), (piece.list.len(), 0), list.last());
            list.push(&mut piece.list, phrase.words, phrase.count);
            piece.phrases = piece.phrases.checked_add(1).ok_or_else(too_many)?;
        }
        piece.marks = marker.marks;
        Ok(piece)
    }
}

/// Adds the marks of a piece that begins behind so many phrases and bytes.
fn add_marks(
    marks: &mut Vec<Mark>,
    of_piece: Vec<Mark>,
    phrases: u64,
    (list, entries): (usize, usize),
) {
    marks.extend(of_piece.into_iter().map(|mark| Mark {
        number: phrases + mark.number,
        list: list + mark.list,
        entries: entries + mark.entries,
        ..mark
    }));
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
        let (entries, src_marks) = renumbered(&part, first, &of_slice, window, folder)?;
        parts.push(Part {
            run: Run { entries, src_marks, ..part.run.clone() },
            codes: part.codes.clone(),
            place: part.place.clone(),
            is_counted: start > 0,
            numbers: None,
        });
    }
    Ok(())
}

/// The entries whose target phrases have numbers from `first` on, with their new numbers, and the
/// part's marks among them.
fn renumbered(
    part: &Part,
    first: usize,
    numbers: &[u32],
    window: usize,
    folder: &TempFolder,
) -> Result<(Blob, Vec<Mark>)> {
    let broken = || damaged(&part.place);
    let mut marks = part.run.src_marks.clone();
    let mut ahead = marks.iter_mut().peekable();
    let mut out = BlobWriter::new(0, folder);
    let mut reader = EntryReader::within(&part.run, window);
    let mut entry = Entry::default();
    let mut kept = Vec::new();
    for number in 0..part.run.src_phrases {
        if let Some(mark) = ahead.next_if(|mark| mark.number == number) {
            mark.entries = out.size();
        }
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
    Ok((out.finish()?, marks))
}

/// Adds source phrases and entries to a run that has target phrases.
fn merge_entries(
    parts: &[Part],
    targets: Run,
    end: u32,
    memory: usize,
    folder: &TempFolder,
    job: &Job,
) -> Result<Run> {
    let pieces = Bounds::cut(parts, true, end, piece_size(memory, job))?;
    let mut src = BlobWriter::new(memory / 8, folder);
    let mut entries = BlobWriter::new(memory / 8, folder);
    let mut run = targets;
    let work = |group: &mut Vec<Entry>, piece: usize| {
        EntryPiece::merge(parts, end, &pieces[piece], memory / (8 * job.threads()), group)
    };
    in_order(pieces.len(), job, Vec::new, work, |piece: EntryPiece| {
        let places = (src.size(), entries.size());
        add_marks(&mut run.src_marks, piece.marks, run.src_phrases, places);
        src.buffer.extend_from_slice(&piece.list);
        src.settle()?;
        entries.buffer.extend_from_slice(&piece.entries);
        entries.settle()?;
        run.src_phrases += piece.phrases;
        run.pairs += piece.pairs;
        Ok(())
    })?;
    (run.src, run.entries) = (src.finish()?, entries.finish()?);
    Ok(run)
}

/// Some neighbouring source phrases of all parts, with their entries.
#[derive(Default)]
struct EntryPiece {
    list: Vec<u8>,
    entries: Vec<u8>,
    marks: Vec<Mark>,
    phrases: u64,
    pairs: u64,
}

impl EntryPiece {
    fn merge(
        parts: &[Part],
        end: u32,
        bounds: &Bounds,
        memory: usize,
        group: &mut Vec<Entry>,
    ) -> Result<Self> {
        let mut piece = EntryPiece::default();
        let mut list = ListWriter::after(bounds.after.as_deref().unwrap_or_default());
        let mut marker = Marker::default();
        let mut heads = Heads::between(parts, true, end, bounds, memory)?;
        let mut readers = entry_readers(parts, &heads, memory / parts.len())?;
        while let Some(phrase) = heads.next()? {
            let mut used = 0;
            for &part in phrase.parts {
                let broken = || damaged(&parts[part].place);
                for _ in 0..readers[part].begin().ok_or_else(broken)? {
                    if used == group.len() {
                        group.push(Entry::default());
                    }
                    let entry = &mut group[used];
                    readers[part].read(entry).ok_or_else(broken)?;
                    if let Some(numbers) = &parts[part].numbers {
                        entry.tgt = numbers[entry.tgt as usize];
                    }
                    used += 1;
                }
            }
            marker.offer(piece.phrases, (piece.list.len(), piece.entries.len()), list.last());
            list.push(&mut piece.list, phrase.words, phrase.count);
            let is_mixed = phrase.parts.len() > 1;
            piece.pairs += write_group(&mut group[..used], is_mixed, &mut piece.entries);
            piece.phrases += 1;
        }
        piece.marks = marker.marks;
        Ok(piece)
    }
}

/// Readers of the entries of each part, at the phrases at hand.
fn entry_readers<'p>(
    parts: &'p [Part],
    heads: &Heads<'_>,
    window: usize,
) -> Result<Vec<EntryReader<'p>>> {
    let mut readers = Vec::new();
    for (part, start) in parts.iter().zip(&heads.starts) {
        let broken = || damaged(&part.place);
        let bytes = start.entries..part.run.entries.bytes().len();
        let mut reader = EntryReader::between(&part.run, bytes, window);
        for _ in 0..start.skipped {
            reader.begin().and_then(|_| reader.skip()).ok_or_else(broken)?;
        }
        readers.push(reader);
    }
    Ok(readers)
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
