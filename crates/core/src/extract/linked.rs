//! How often each source word is linked to each target word.
//!
//! In: links of sentence pairs, one by one. Out: `LinkCounts`: sorted, seven bits a byte, in memory
//! or on disk; those of several threads, pieces or shards add up.
//! How: counted in a map until it is too large, which is then sorted and written down.
//! Cost: at most the memory given; a merge of what was written.

use super::words::Words;
use crate::error::Result;
use crate::narrow::{low_u32, to_u32};
use crate::storage::{Blob, BlobWriter, Cursor, Pass, TempFolder, write_number};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Bytes that a word pair takes in the map, with room to grow and to be sorted.
const EACH: usize = 64;

/// How often a source word is linked to a target word. Number 0 stands for "no word", others are
/// the word's place plus one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkCount {
    /// The source word.
    pub src: u32,
    /// The target word.
    pub tgt: u32,
    /// Number of links.
    pub count: u64,
}

impl LinkCount {
    fn read(cursor: &mut Cursor<'_>) -> Option<Self> {
        let (src, tgt) = (cursor.small()?, cursor.small()?);
        Some(LinkCount { src, tgt, count: cursor.number()? })
    }

    fn write(&self, out: &mut Vec<u8>) {
        write_number(out, u64::from(self.src));
        write_number(out, u64::from(self.tgt));
        write_number(out, self.count);
    }

    fn key(&self) -> u64 {
        u64::from(self.src) << 32 | u64::from(self.tgt)
    }
}

/// Sorted counts of links.
#[derive(Debug, Clone)]
pub struct LinkCounts {
    /// Source word, target word and count of each.
    pub(super) blob: Blob,
    /// How many there are.
    pub len: u64,
}

impl LinkCounts {
    /// The counts in order.
    pub fn iter(&self) -> impl Iterator<Item = LinkCount> + '_ {
        LinkReader::within(self, usize::MAX)
    }

    /// How many bytes the next `len` counts take at the cursor; none when they are not in order or
    /// name words beyond the last of either side.
    pub(super) fn skip(
        cursor: &mut Cursor<'_>,
        len: u64,
        words: (&Words, &Words),
    ) -> Option<usize> {
        let start = cursor.rest().len();
        let mut last = None;
        for _ in 0..len {
            let link = LinkCount::read(cursor)?;
            let known = link.src as usize <= words.0.len() && link.tgt as usize <= words.1.len();
            (known && last < Some(link.key())).then_some(())?;
            last = Some(link.key());
        }
        Some(start - cursor.rest().len())
    }
}

struct LinkReader<'a> {
    pass: Pass<'a>,
}

impl<'a> LinkReader<'a> {
    fn within(counts: &'a LinkCounts, memory: usize) -> Self {
        LinkReader { pass: Pass::within(&counts.blob, memory) }
    }
}

impl Iterator for LinkReader<'_> {
    type Item = LinkCount;

    fn next(&mut self) -> Option<LinkCount> {
        self.pass.settle();
        LinkCount::read(&mut self.pass.cursor)
    }
}

/// Counts links while sentences go by.
pub struct LinkCounter<'f> {
    counts: FxHashMap<u64, u64>,
    most: usize,
    folder: &'f TempFolder,
    runs: Vec<LinkCounts>,
}

impl<'f> LinkCounter<'f> {
    /// A counter that keeps up to so many bytes in memory.
    pub fn new(memory: usize, folder: &'f TempFolder) -> Self {
        let most = (memory / EACH).max(1 << 10);
        LinkCounter { counts: FxHashMap::default(), most, folder, runs: Vec::new() }
    }

    /// Counts one link.
    pub fn add(&mut self, src: u32, tgt: u32) {
        *self.counts.entry(u64::from(src) << 32 | u64::from(tgt)).or_default() += 1;
    }

    /// To be called after a sentence pair.
    pub fn settle(&mut self) -> Result<()> {
        if self.counts.len() > self.most { self.write(0) } else { Ok(()) }
    }

    fn write(&mut self, limit: usize) -> Result<()> {
        let mut sorted: Vec<(u64, u64)> = self.counts.drain().collect();
        sorted.sort_unstable();
        let mut out = BlobWriter::new(limit, self.folder);
        for &(key, count) in &sorted {
            LinkCount { src: to_u32(key >> 32), tgt: low_u32(key), count }.write(&mut out.buffer);
            out.settle()?;
        }
        self.runs.push(LinkCounts { blob: out.finish()?, len: sorted.len() as u64 });
        Ok(())
    }

    /// What was counted, in one or several parts.
    pub fn finish(mut self) -> Result<Vec<LinkCounts>> {
        self.write(usize::MAX)?;
        Ok(self.runs)
    }
}

/// Counts to be added up, and the new number of each source and target word if they have others.
pub struct LinkPart<'a> {
    /// The counts.
    pub counts: &'a LinkCounts,
    /// New number by old number, of source words and of target words.
    pub numbers: Option<&'a (Vec<u32>, Vec<u32>)>,
}

impl LinkPart<'_> {
    fn renumber(&self, link: LinkCount) -> LinkCount {
        let Some((src, tgt)) = self.numbers else { return link };
        LinkCount { src: src[link.src as usize], tgt: tgt[link.tgt as usize], ..link }
    }
}

/// Adds up parts; new numbers keep the order of the old ones.
pub fn merge_links(
    parts: &[LinkPart<'_>],
    memory: usize,
    folder: &TempFolder,
) -> Result<LinkCounts> {
    if let [LinkPart { counts, numbers: None }] = parts {
        return Ok((*counts).clone());
    }
    let window = memory / (2 * parts.len().max(1));
    let mut readers: Vec<_> =
        parts.iter().map(|part| LinkReader::within(part.counts, window)).collect();
    let mut heads = BinaryHeap::new();
    let mut advance = |part: usize, heads: &mut BinaryHeap<_>| {
        if let Some(link) = readers[part].next() {
            let link = parts[part].renumber(link);
            heads.push(Reverse((link.key(), part, link.count)));
        }
    };
    (0..parts.len()).for_each(|part| advance(part, &mut heads));
    let mut out = BlobWriter::new(memory / 2, folder);
    let mut len = 0;
    while let Some(Reverse((key, part, mut count))) = heads.pop() {
        advance(part, &mut heads);
        while let Some(&Reverse((next, part, more))) = heads.peek().filter(|head| head.0.0 == key) {
            debug_assert_eq!(next, key);
            heads.pop();
            count += more;
            advance(part, &mut heads);
        }
        LinkCount { src: to_u32(key >> 32), tgt: low_u32(key), count }.write(&mut out.buffer);
        out.settle()?;
        len += 1;
    }
    drop(readers);
    Ok(LinkCounts { blob: out.finish()?, len })
}
