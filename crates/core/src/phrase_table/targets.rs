//! The target phrase of every pair, while pairs go by in order of their source phrases.
//!
//! In: the list of target phrases, and the entries of all source phrases. Out: for each entry, in
//! their order, the words of its target phrase, how often that was extracted, and how many source
//! phrases it has.
//! How: a list that fits memory is kept there in a compact form. One that does not is joined with
//! the entries before they go by: their numbers are dealt out to files by range, and each range,
//! which fits, writes down what its numbers stand for, in the order they came. Reading those files
//! side by side gives the phrases without a search. Threads share all of it: stretches of entries,
//! and ranges.
//! Cost: about 13 bytes a target phrase; or one more pass over the entries and 15 bytes a pair on
//! disk.

use crate::Job;
use crate::error::Result;
use crate::extract::{Counts, ListReader, Stretch, damaged};
use crate::narrow::to_u32;
use crate::ordered::in_order;
use crate::parallel::map;
use crate::storage::{Blob, BlobWriter, Cursor, Pass, write_number};
use std::ops::Range;

/// Phrases whose places are counted from the same start.
const BLOCK: usize = 1 << 16;
/// Bytes that a target phrase takes beside those of the list.
const EACH: usize = 8;

/// What is known of a target phrase.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// How often it was extracted.
    pub count: u64,
    /// How many source phrases go with it; 0 when that is not asked for.
    pub partners: u64,
}

/// Some target phrases in a compact form: count, length, places of the words.
#[derive(Debug, Default)]
pub(super) struct Phrases {
    bytes: Vec<u8>,
    starts: Vec<u64>,
    places: Vec<u32>,
    partners: Vec<u32>,
}

impl Phrases {
    /// Takes the next `most` phrases of a list.
    fn read(list: &mut ListReader<'_>, counts: &Counts, most: usize) -> Option<Self> {
        let mut phrases = Phrases::default();
        while phrases.places.len() < most && !list.is_at_end() {
            list.advance()?;
            if phrases.places.len().is_multiple_of(BLOCK) {
                phrases.starts.push(phrases.bytes.len() as u64);
            }
            let start = phrases.starts.last().copied().unwrap_or_default();
            phrases.places.push(to_u32(phrases.bytes.len() as u64 - start));
            write_number(&mut phrases.bytes, list.count);
            write_number(&mut phrases.bytes, list.phrase.len() as u64);
            (list.phrase.len() <= counts.max_length).then_some(())?;
            for &code in &list.phrase {
                write_number(&mut phrases.bytes, counts.tgt_words.place(code)? as u64);
            }
        }
        Some(phrases)
    }

    /// A cursor at a phrase.
    fn at(&self, number: usize) -> Option<Cursor<'_>> {
        let start = self.starts.get(number / BLOCK)? + u64::from(*self.places.get(number)?);
        Some(Cursor::new(self.bytes.get(usize::try_from(start).ok()?..)?))
    }

    fn partners(&self, number: usize) -> u64 {
        self.partners.get(number).map_or(0, |&partners| partners.into())
    }
}

/// Puts the words' places into `words`; the phrase's count.
fn read(cursor: &mut Cursor<'_>, words: &mut Vec<u32>) -> Option<u64> {
    let count = cursor.number()?;
    words.clear();
    for _ in 0..cursor.number()? {
        words.push(cursor.small()?);
    }
    Some(count)
}

/// The target phrases of all pairs.
#[derive(Debug)]
pub struct Targets {
    known: Known,
}

#[derive(Debug)]
enum Known {
    /// All of them.
    Whole(Phrases),
    /// Those of each range, in the order of the pairs.
    Joined { ranges: Vec<Joined>, width: usize, window: usize },
}

/// The target phrases of a range, once for each pair.
#[derive(Debug)]
struct Joined {
    bytes: Blob,
    /// Where the pairs of each stretch begin.
    starts: Vec<usize>,
}

impl Joined {
    /// Reads it from a stretch on.
    fn pass(&self, stretch: usize, window: usize) -> Pass<'_> {
        Pass::between(&self.bytes, self.starts[stretch]..self.bytes.bytes().len(), window)
    }
}

impl Targets {
    /// Prepares for a walk through the entries of each stretch; `partners` are counted when asked
    /// for.
    pub fn new(
        counts: &Counts,
        stretches: &[Stretch],
        memory: usize,
        partners: bool,
        job: &Job,
    ) -> Result<Self> {
        let broken = || damaged(&counts.place);
        let run = &counts.run;
        let size = run.tgt.bytes().len() * 3 / 2;
        let phrases = usize::try_from(run.tgt_phrases).map_err(|_| broken())?;
        let size = size + EACH * phrases;
        if size > (memory / 2).max(1 << 16) {
            // A range needs half of what the whole might take, for there are buffers beside it.
            let ranges = 2 * size.div_ceil((memory / (2 * job.threads())).max(1 << 16));
            return joined(counts, stretches, phrases.div_ceil(ranges), memory / 4, partners, job);
        }
        let mut list = ListReader::new(&run.tgt);
        let mut whole = Phrases::read(&mut list, counts, usize::MAX).ok_or_else(broken)?;
        if whole.places.len() != phrases {
            return Err(broken());
        }
        if partners {
            whole.partners = vec![0; phrases];
            each_target(counts, stretches, job, |tgt| {
                whole.partners[tgt as usize] += 1;
                Ok(())
            })?;
        }
        Ok(Targets { known: Known::Whole(whole) })
    }

    /// A walk through the target phrases of the entries of a stretch.
    pub(super) fn walk(&self, stretch: usize) -> Walk<'_> {
        match &self.known {
            Known::Whole(phrases) => Walk::Whole(phrases),
            Known::Joined { ranges, width, window } => {
                let ranges = ranges.iter().map(|range| range.pass(stretch, *window)).collect();
                Walk::Joined { ranges, width: *width }
            }
        }
    }
}

/// Goes through the target phrases of the entries, in their order.
pub(super) enum Walk<'t> {
    /// All are at hand.
    Whole(&'t Phrases),
    /// Each range in the order of its entries.
    Joined {
        /// What is left of each range.
        ranges: Vec<Pass<'t>>,
        /// Target phrases of a range.
        width: usize,
    },
}

impl Walk<'_> {
    /// What is known of the next entry's target phrase, whose number is given; the places of its
    /// words go into `words`.
    pub fn next(&mut self, number: u32, words: &mut Vec<u32>) -> Option<Target> {
        let number = number as usize;
        match self {
            Walk::Whole(phrases) => {
                let count = read(&mut phrases.at(number)?, words)?;
                Some(Target { count, partners: phrases.partners(number) })
            }
            Walk::Joined { ranges, width } => {
                let pass = ranges.get_mut(number / *width)?;
                pass.settle();
                let partners = pass.cursor.number()?;
                Some(Target { count: read(&mut pass.cursor, words)?, partners })
            }
        }
    }
}

/// Calls `take` with the target phrase of every entry, in order.
fn each_target(
    counts: &Counts,
    stretches: &[Stretch],
    job: &Job,
    mut take: impl FnMut(u32) -> Result<()> + Send,
) -> Result<()> {
    each_stretch(counts, stretches, job, |targets| targets.into_iter().try_for_each(&mut take))
}

/// Calls `take` with the target phrases of the entries of every stretch, in order.
fn each_stretch(
    counts: &Counts,
    stretches: &[Stretch],
    job: &Job,
    take: impl FnMut(Vec<u32>) -> Result<()> + Send,
) -> Result<()> {
    let read = |(): &mut (), number: usize| {
        let (_, mut entries) = counts.run.read(&stretches[number], 1 << 16);
        let mut targets = Vec::new();
        let mut read_all = || {
            for _ in 0..stretches[number].count() {
                for _ in 0..entries.begin()? {
                    targets.push(entries.read_target()?);
                }
            }
            Some(())
        };
        read_all().ok_or_else(|| damaged(&counts.place))?;
        Ok(targets)
    };
    in_order(stretches.len(), job, || (), read, take).map(|_| ())
}

/// The numbers of a range's target phrases, from its first, in the order of the entries.
struct Dealt {
    numbers: Blob,
    /// How many there are before each stretch.
    before: Vec<u64>,
}

/// Joins entries and target phrases by ranges of so many phrases.
fn joined(
    counts: &Counts,
    stretches: &[Stretch],
    width: usize,
    memory: usize,
    partners: bool,
    job: &Job,
) -> Result<Targets> {
    let phrases = usize::try_from(counts.run.tgt_phrases).map_err(|_| damaged(&counts.place))?;
    let ranges = phrases.div_ceil(width);
    let buffer = (memory / (2 * ranges)).min(1 << 18);
    let dealt = deal(counts, stretches, (ranges, width), buffer, job)?;
    let join = |(): &mut (), number: usize| {
        let first = number * width;
        let range = first..phrases.min(first + width);
        let mut of_range = phrases_of(counts, &range).ok_or_else(|| damaged(&counts.place))?;
        if partners {
            count_partners(&dealt[number], &mut of_range, counts)?;
        }
        write_joined(&dealt[number], &of_range, counts, buffer)
    };
    let (ranges, _) = map(ranges, 1, job, || (), join)?;
    let window = memory / (ranges.len().max(1) * job.threads());
    Ok(Targets { known: Known::Joined { ranges, width, window } })
}

/// Deals the target phrases of all entries out to ranges.
fn deal(
    counts: &Counts,
    stretches: &[Stretch],
    (ranges, width): (usize, usize),
    buffer: usize,
    job: &Job,
) -> Result<Vec<Dealt>> {
    let folder = counts.folder();
    let mut writers: Vec<_> = (0..ranges).map(|_| BlobWriter::new(buffer, folder)).collect();
    let mut before: Vec<Vec<u64>> = vec![Vec::with_capacity(stretches.len()); ranges];
    each_stretch(counts, stretches, job, |targets| {
        for (before, writer) in before.iter_mut().zip(&writers) {
            before.push(writer.size() as u64 / 4);
        }
        targets.into_iter().try_for_each(|tgt| {
            let writer = &mut writers[tgt as usize / width];
            writer.buffer.extend_from_slice(&to_u32(tgt as usize % width).to_le_bytes());
            writer.settle()
        })
    })?;
    let dealt = writers.into_iter().zip(before);
    dealt.map(|(writer, before)| Ok(Dealt { numbers: writer.finish()?, before })).collect()
}

/// The phrases of a range, from the nearest mark on.
fn phrases_of(counts: &Counts, range: &Range<usize>) -> Option<Phrases> {
    let run = &counts.run;
    let first = range.start as u64;
    let mark = run.tgt_marks.partition_point(|mark| mark.number <= first).checked_sub(1);
    let mut list = match mark.map(|at| &run.tgt_marks[at]) {
        Some(mark) => {
            let bytes = mark.list..run.tgt.bytes().len();
            ListReader::between(&run.tgt, bytes, &mark.before, 1 << 20)
        }
        None => ListReader::new(&run.tgt),
    };
    let before = mark.map_or(0, |at| run.tgt_marks[at].number);
    (before..first).try_for_each(|_| list.advance())?;
    let phrases = Phrases::read(&mut list, counts, range.len())?;
    let is_whole = range.end as u64 != run.tgt_phrases || list.is_at_end();
    (phrases.places.len() == range.len() && is_whole).then_some(phrases)
}

fn count_partners(dealt: &Dealt, phrases: &mut Phrases, counts: &Counts) -> Result<()> {
    phrases.partners = vec![0; phrases.places.len()];
    each_number(&dealt.numbers, |number| {
        *phrases.partners.get_mut(number).ok_or_else(|| damaged(&counts.place))? += 1;
        Ok(())
    })
}

/// What the numbers of a range stand for.
fn write_joined(
    dealt: &Dealt,
    phrases: &Phrases,
    counts: &Counts,
    buffer: usize,
) -> Result<Joined> {
    let broken = || damaged(&counts.place);
    let mut out = BlobWriter::new(buffer, counts.folder());
    let mut starts = Vec::with_capacity(dealt.before.len());
    let mut written = 0;
    each_number(&dealt.numbers, |number| {
        while dealt.before.get(starts.len()) == Some(&written) {
            starts.push(out.size());
        }
        let mut cursor = phrases.at(number).ok_or_else(broken)?;
        let start = cursor.rest();
        skip(&mut cursor).ok_or_else(broken)?;
        write_number(&mut out.buffer, phrases.partners(number));
        out.buffer.extend_from_slice(&start[..start.len() - cursor.rest().len()]);
        written += 1;
        out.settle()
    })?;
    starts.resize(dealt.before.len(), out.size());
    Ok(Joined { bytes: out.finish()?, starts })
}

fn skip(cursor: &mut Cursor<'_>) -> Option<()> {
    cursor.number()?;
    for _ in 0..cursor.number()? {
        cursor.small()?;
    }
    Some(())
}

fn each_number(numbers: &Blob, mut take: impl FnMut(usize) -> Result<()>) -> Result<()> {
    numbers.pieces(|bytes| {
        for number in bytes.chunks_exact(4) {
            let number = u32::from_le_bytes([number[0], number[1], number[2], number[3]]);
            take(number as usize)?;
        }
        Ok(())
    })
}
