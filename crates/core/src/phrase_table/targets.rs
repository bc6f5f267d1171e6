//! The target phrase of every pair, while pairs go by in order of their source phrases.
//!
//! In: the list of target phrases, and the entries of all source phrases. Out: for each entry, in
//! their order, the words of its target phrase, how often that was extracted, and how many source
//! phrases it has.
//! How: a list that fits memory is kept there in a compact form. One that does not is joined with
//! the entries before they go by: their numbers are dealt out to files by range, and each range,
//! which fits, writes down what its numbers stand for, in the order they came. Reading those files
//! side by side gives the phrases without a search.
//! Cost: about 13 bytes a target phrase; or one more pass over the entries and 15 bytes a pair on
//! disk.

use crate::Job;
use crate::error::{Error, Result};
use crate::extract::{Counts, Entry, EntryReader, ListReader, damaged};
use crate::narrow::to_u32;
use crate::storage::{Blob, BlobWriter, Cursor, Pass, write_number};

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
    Joined { ranges: Vec<Blob>, width: usize },
}

impl Targets {
    /// Prepares for one walk through the entries; `partners` are counted when asked for.
    pub fn new(counts: &Counts, memory: usize, partners: bool, job: &Job) -> Result<Self> {
        let broken = || damaged(&counts.place);
        let run = &counts.run;
        let size = run.tgt.bytes().len() * 3 / 2;
        let phrases = usize::try_from(run.tgt_phrases).map_err(|_| broken())?;
        let ranges = (size + EACH * phrases).div_ceil((memory / 2).max(1 << 16));
        if ranges > 1 {
            // A range needs half of what the whole might take, for there are buffers beside it.
            return joined(counts, phrases.div_ceil(2 * ranges), memory / 4, partners, job);
        }
        let mut list = ListReader::new(&run.tgt);
        let mut whole = Phrases::read(&mut list, counts, usize::MAX).ok_or_else(broken)?;
        if whole.places.len() != phrases {
            return Err(broken());
        }
        if partners {
            whole.partners = vec![0; phrases];
            each_target(counts, |tgt| {
                whole.partners[tgt as usize] += 1;
                Ok(())
            })?;
        }
        Ok(Targets { known: Known::Whole(whole) })
    }

    /// A walk through the target phrases of the entries.
    pub(super) fn walk(&self) -> Walk<'_> {
        match &self.known {
            Known::Whole(phrases) => Walk::Whole(phrases),
            Known::Joined { ranges, width } => {
                Walk::Joined { ranges: ranges.iter().map(Pass::new).collect(), width: *width }
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

/// Calls `take` with the target phrase of every entry.
fn each_target(counts: &Counts, mut take: impl FnMut(u32) -> Result<()>) -> Result<()> {
    let broken = || -> Error { damaged(&counts.place) };
    let mut entries = EntryReader::new(&counts.run);
    let mut entry = Entry::default();
    for _ in 0..counts.run.src_phrases {
        for _ in 0..entries.begin().ok_or_else(broken)? {
            entries.read(&mut entry).ok_or_else(broken)?;
            take(entry.tgt)?;
        }
    }
    Ok(())
}

/// Joins entries and target phrases by ranges of so many phrases.
fn joined(
    counts: &Counts,
    width: usize,
    memory: usize,
    partners: bool,
    job: &Job,
) -> Result<Targets> {
    let broken = || damaged(&counts.place);
    let folder = counts.folder();
    let phrases = usize::try_from(counts.run.tgt_phrases).map_err(|_| broken())?;
    let ranges = phrases.div_ceil(width);
    let buffer = (memory / (2 * ranges)).min(1 << 18);
    let mut dealt: Vec<_> = (0..ranges).map(|_| BlobWriter::new(buffer, folder)).collect();
    each_target(counts, |tgt| {
        let range = &mut dealt[tgt as usize / width];
        range.buffer.extend_from_slice(&to_u32(tgt as usize % width).to_le_bytes());
        range.settle()
    })?;
    let dealt: Vec<Blob> = dealt.into_iter().map(BlobWriter::finish).collect::<Result<_>>()?;
    let mut list = ListReader::new(&counts.run.tgt);
    let mut joined = Vec::new();
    let mut seen = 0;
    for numbers in dealt {
        job.check()?;
        let mut of_range = Phrases::read(&mut list, counts, width).ok_or_else(broken)?;
        seen += of_range.places.len();
        if partners {
            of_range.partners = vec![0; of_range.places.len()];
            each_number(&numbers, |number| {
                *of_range.partners.get_mut(number).ok_or_else(broken)? += 1;
                Ok(())
            })?;
        }
        let mut out = BlobWriter::new(buffer, folder);
        each_number(&numbers, |number| {
            let mut cursor = of_range.at(number).ok_or_else(broken)?;
            let start = cursor.rest();
            skip(&mut cursor).ok_or_else(broken)?;
            write_number(&mut out.buffer, of_range.partners(number));
            out.buffer.extend_from_slice(&start[..start.len() - cursor.rest().len()]);
            out.settle()
        })?;
        joined.push(out.finish()?);
    }
    if seen != phrases || !list.is_at_end() {
        return Err(broken());
    }
    Ok(Targets { known: Known::Joined { ranges: joined, width } })
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
