//! Writes the binary model format, like KenLM's `build_binary`.
//!
//! In: any `NgramSource`. Out: the bytes of a mapped model, in a file or in memory.
//! How: one hash table of cache lines per order. Entries are sorted by hash; each is in its home
//! line or follows the entry before it. The table is written sequentially, equal n-grams give equal
//! bytes, and a probe stops at the first larger hash, mostly in its first line. The sign of a
//! probability tells whether a longer n-gram ends with this one; the sign of a backoff of 0 tells
//! whether one starts with it.
//! Threads share blocks of n-grams, then parts of a table.
//! Cost: one sort per order. 21 bytes per n-gram (17 for the longest) for queries, and 4 that are
//! only read when n-grams are listed.

use super::MAX_ORDER;
use super::binary_layout::{
    BinaryHeader, BinaryLayout, CACHE_LINE, FREE_HASH, HEADER_BYTES, LAST_FLAG, LONG_SLOT,
    ProbingTable, SEAL, SHORT_SLOT, extend_hash, home_line, stored_hash, unigram_hash, word_hash,
};
use super::count::take_once;
use super::model::Model;
use super::ngram::ScoredNgram;
use super::ngram_key::NgramKey;
use super::ngram_source::NgramSource;
use super::suffix_trie::SuffixTrie;
use crate::Job;
use crate::corpus::WordId;
use crate::error::{Error, Place, Result};
use crate::narrow::{to_u32, to_usize};
use crate::ordered::in_order;
use crate::parallel;
use crate::storage::{
    BodySum, SealedFile, Sorter, Spool, TempFolder, in_memory, prefer_large_pages,
};
use memmap2::MmapMut;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Number of n-grams per block of a thread and between two checks for cancellation.
const BLOCK: u64 = 1 << 14;
/// Number of hash seeds to try. A collision of 64-bit hashes is so rare that a few suffice.
const SEEDS: u64 = 8;
/// Number of hash ranges of a table that are sorted separately.
const HASH_RANGES: usize = 64;
/// Number of bytes of finished lines to buffer before writing.
const BUFFER_BYTES: usize = 1 << 18;

/// Destination of the bytes.
enum BinaryTarget<'a> {
    File(&'a mut SealedFile),
    Memory(&'a mut MmapMut, Box<BodySum>),
}

/// A writer of the regions after the header, in file order.
struct BinarySink<'a> {
    target: BinaryTarget<'a>,
    at: usize,
}

impl BinarySink<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.target {
            BinaryTarget::File(file) => file.write(bytes)?,
            BinaryTarget::Memory(memory, sum) => {
                sum.update(bytes);
                memory[self.at..self.at + bytes.len()].copy_from_slice(bytes);
            }
        }
        self.at += bytes.len();
        Ok(())
    }

    /// Write zeros up to byte offset `place`.
    fn skip_to(&mut self, place: usize) -> Result<()> {
        let gap = place - self.at;
        self.write(&[0; 64][..gap])
    }
}

/// Reason why a model was not written.
enum BuildFailure {
    /// Two hashes are equal or a table overflows: another seed may succeed.
    Seed,
    /// An error that does not depend on the seed.
    Other(Error),
}

impl From<Error> for BuildFailure {
    fn from(error: Error) -> Self {
        BuildFailure::Other(error)
    }
}

/// Write a model to a file that can be mapped. Sorting uses up to `memory` bytes.
pub fn write_binary(ngrams: &dyn NgramSource, path: &Path, memory: usize, job: &Job) -> Result<()> {
    let folder = TempFolder::new(None);
    try_seeds(ngrams, path, |header, layout| {
        let mut file = SealedFile::create(path, SEAL)?;
        build(ngrams, header, layout, BinaryTarget::File(&mut file), (&folder, memory), job)?;
        Ok(file.finish(&header.to_numbers())?)
    })
}

/// Build a model in memory. Sorting uses up to `memory` bytes.
pub fn build_model(ngrams: &dyn NgramSource, memory: usize, job: &Job) -> Result<Model> {
    let folder = TempFolder::new(None);
    let name = Path::new("model");
    let bytes = try_seeds(ngrams, name, |header, layout| {
        let mut bytes = in_memory(layout.size)?;
        prefer_large_pages(&bytes);
        let target = BinaryTarget::Memory(&mut bytes, Box::default());
        if let BinaryTarget::Memory(bytes, sum) =
            build(ngrams, header, layout, target, (&folder, memory), job)?
        {
            bytes[..HEADER_BYTES].copy_from_slice(&sum.header(&SEAL, &header.to_numbers()));
        }
        Ok(bytes)
    })?;
    Model::from_memory(bytes)
}

fn try_seeds<T>(
    ngrams: &dyn NgramSource,
    path: &Path,
    write: impl Fn(&BinaryHeader, &BinaryLayout) -> std::result::Result<T, BuildFailure>,
) -> Result<T> {
    let mut counts = [0; MAX_ORDER];
    for order in 1..=ngrams.order() {
        counts[order - 1] = ngrams.count(order);
    }
    let letters = (0..u32::try_from(counts[0]).unwrap_or(u32::MAX))
        .map(|id| ngrams.word(id).len() as u64)
        .sum();
    let too_large = || Error::Limit {
        place: Place::file(path),
        found: format!("{} words with {letters} letters in bytes", counts[0]),
        limit: "2^31 words and 2^32 bytes".into(),
    };
    for seed in 1..=SEEDS {
        let header = BinaryHeader { order: ngrams.order(), seed, counts, letters };
        let layout = BinaryLayout::new(&header)
            .filter(|_| counts[0] < u64::from(LAST_FLAG))
            .ok_or_else(too_large)?;
        match write(&header, &layout) {
            Ok(done) => return Ok(done),
            Err(BuildFailure::Other(error)) => return Err(error),
            Err(BuildFailure::Seed) => {}
        }
    }
    let found = format!("equal hashes with {SEEDS} seeds");
    Err(Error::Limit { place: Place::file(path), found, limit: "different n-grams".into() })
}

/// Folder for temporary files and memory limit of sorting in bytes.
type SortSpace<'a> = (&'a Arc<TempFolder>, usize);

/// Write all regions after the header.
fn build<'a>(
    ngrams: &dyn NgramSource,
    header: &BinaryHeader,
    layout: &BinaryLayout,
    target: BinaryTarget<'a>,
    room: SortSpace<'_>,
    job: &Job,
) -> std::result::Result<BinaryTarget<'a>, BuildFailure> {
    let mut sink = BinarySink { target, at: HEADER_BYTES };
    write_words(ngrams, header, layout, room, &mut sink)?;
    sink.skip_to(layout.unigrams.start)?;
    visit_with_extensions(ngrams, 1, 0..header.counts[0], job, |ngram, _| {
        sink.write(&ngram.prob.to_le_bytes())?;
        sink.write(&ngram.backoff.to_le_bytes())
    })?;
    let mut lists = Vec::new();
    for (order, table) in (2..).zip(&layout.tables) {
        sink.skip_to(table.range.start)?;
        let write = if order == header.order {
            write_order::<SHORT_SLOT>
        } else {
            write_order::<LONG_SLOT>
        };
        lists.push(write(ngrams, order, header.seed, table, &mut sink, room, job)?);
    }
    for ((order, place), list) in (2..).zip(&layout.lists).zip(lists) {
        sink.skip_to(place.start)?;
        if let Some(trie) = ngrams.trie() {
            write_list(trie, order, &mut sink, job)?;
        }
        if let Some(list) = list {
            list.iter()?.try_for_each(|oldest| sink.write(&oldest?.to_le_bytes()))?;
        }
    }
    sink.skip_to(layout.size)?;
    Ok(sink.target)
}

/// Log probability and log backoff.
type NgramScores = (f32, f32);

/// N-grams of one thread, scattered by hash range.
struct ScatteredNgrams {
    /// One sorter per hash range of the table.
    parts: Vec<Sorter<NgramKey<1>, NgramScores>>,
    /// The oldest words in suffix order, for a source that one thread reads sequentially.
    list: Option<Spool<u32>>,
}

/// Write the table of an order. Threads scatter the n-grams by hash range, then sort each range;
/// lines are written in order. Return the list of oldest words if it was collected.
fn write_order<const SIZE: usize>(
    ngrams: &dyn NgramSource,
    order: usize,
    seed: u64,
    table: &ProbingTable,
    sink: &mut BinarySink<'_>,
    (folder, memory): SortSpace<'_>,
    job: &Job,
) -> std::result::Result<Option<Spool<u32>>, BuildFailure> {
    let count = ngrams.count(order);
    let size = if ngrams.trie().is_some() { BLOCK } else { count.max(1) };
    let blocks = split_into_blocks(count, size);
    let sorter_memory = memory / 2 / HASH_RANGES / job.threads().min(blocks.len()).max(1);
    let make = || ScatteredNgrams {
        parts: (0..HASH_RANGES).map(|_| Sorter::new(folder, sorter_memory, None)).collect(),
        list: ngrams.trie().is_none().then(|| Spool::new(folder, memory / 8)),
    };
    let scatter = |ScatteredNgrams { parts, list }: &mut ScatteredNgrams, block: usize| {
        visit_with_extensions(ngrams, order, blocks[block].clone(), job, |ngram, is_last| {
            if let Some(list) = list {
                list.push(encode_list_entry(ngram.words[order - 1], is_last))?;
            }
            let words = &ngram.words[..order];
            let first = unigram_hash(seed, words[0]);
            let hash =
                stored_hash(words[1..].iter().fold(first, |hash, &word| extend_hash(hash, word)));
            let part = to_usize(home_line(hash, HASH_RANGES as u64));
            parts[part].push(NgramKey([hash]), (ngram.prob, ngram.backoff))
        })
    };
    let (_, scattered) = parallel::map(blocks.len(), 1, job, make, scatter)?;
    let mut parts: Vec<Vec<_>> = (0..HASH_RANGES).map(|_| Vec::new()).collect();
    let mut list = None;
    for of_thread in scattered {
        parts.iter_mut().zip(of_thread.parts).for_each(|(part, sorter)| part.push(sorter));
        list = of_thread.list;
    }
    let parts: Vec<_> = parts.into_iter().map(|part| Mutex::new(Some(part))).collect();
    let mut lines = ProbingTableWriter::<SIZE>::new(table);
    let take = |entries: Vec<(NgramKey<1>, NgramScores)>| {
        for (NgramKey([hash]), (prob, backoff)) in entries {
            lines.add(hash, sink, |value| {
                value[..4].copy_from_slice(&prob.to_le_bytes());
                if let Some(place) = value.get_mut(4..8) {
                    place.copy_from_slice(&backoff.to_le_bytes());
                }
            })?;
        }
        Ok(())
    };
    let sort = |(): &mut (), part: usize| {
        let mut sorters = take_once(&parts[part]).unwrap_or_default().into_iter();
        let Some(mut sorter) = sorters.next() else { return Ok(Vec::new()) };
        sorters.try_for_each(|other| sorter.absorb(other))?;
        sorter.finish()?.collect::<Result<Vec<_>>>()
    };
    in_order(HASH_RANGES, job, || (), sort, take)?;
    lines.finish(sink)?;
    Ok(list.map(Spool::finish).transpose()?)
}

/// Encode a list entry.
fn encode_list_entry(oldest: WordId, is_last: bool) -> u32 {
    if is_last { oldest | LAST_FLAG } else { oldest }
}

/// Write the list of oldest words of an order from a trie.
fn write_list(trie: &SuffixTrie, order: usize, sink: &mut BinarySink<'_>, job: &Job) -> Result<()> {
    let blocks = split_into_blocks(trie.levels[order - 1].words.len() as u64, BLOCK);
    let work = |(): &mut (), block: usize| {
        let mut list = Vec::new();
        trie.visit_oldest(order, blocks[block].clone(), |oldest, is_last| {
            list.extend(encode_list_entry(oldest, is_last).to_le_bytes());
        });
        Ok(list)
    };
    in_order(blocks.len(), job, || (), work, |list| sink.write(&list))?;
    Ok(())
}

/// Split the ordinals of `count` n-grams into ranges of `size`.
fn split_into_blocks(count: u64, size: u64) -> Vec<Range<u64>> {
    let starts = (0..count.div_ceil(size)).map(|block| block * size);
    starts.map(|start| start..count.min(start + size)).collect()
}

fn write_words(
    ngrams: &dyn NgramSource,
    header: &BinaryHeader,
    layout: &BinaryLayout,
    (folder, memory): SortSpace<'_>,
    sink: &mut BinarySink<'_>,
) -> std::result::Result<(), BuildFailure> {
    let words = 0..to_u32(header.counts[0]);
    sink.skip_to(layout.ends.start)?;
    let mut end = 0;
    for id in words.clone() {
        end += to_u32(ngrams.word(id).len());
        sink.write(&end.to_le_bytes())?;
    }
    sink.skip_to(layout.letters.start)?;
    for id in words.clone() {
        sink.write(ngrams.word(id))?;
    }
    let mut sorter = Sorter::new(folder, memory, None);
    for id in words {
        sorter.push(NgramKey([word_hash(ngrams.word(id), header.seed)]), id)?;
    }
    sink.skip_to(layout.vocab.range.start)?;
    let mut lines = ProbingTableWriter::<SHORT_SLOT>::new(&layout.vocab);
    for entry in sorter.finish()? {
        let (NgramKey([hash]), id) = entry?;
        lines.add(hash, sink, |value| value.copy_from_slice(&id.to_le_bytes()))?;
    }
    lines.finish(sink)
}

/// A writer of the lines of one table, in order.
struct ProbingTableWriter<'a, const SIZE: usize> {
    table: &'a ProbingTable,
    /// The current line, the number of its used slots, and its index.
    line: [u8; CACHE_LINE],
    used: usize,
    number: u64,
    /// Finished lines that are not written yet.
    ready: Vec<u8>,
    last: Option<u64>,
    /// Whether two hashes are equal or the table overflows.
    is_seed_rejected: bool,
}

impl<'a, const SIZE: usize> ProbingTableWriter<'a, SIZE> {
    /// A line with only unused slots.
    const EMPTY_LINE: [u8; CACHE_LINE] = {
        let mut line = [0; CACHE_LINE];
        let mut at = 0;
        while at + SIZE <= CACHE_LINE {
            let mut byte = 0;
            while byte < 8 {
                line[at + byte] = FREE_HASH.to_le_bytes()[byte];
                byte += 1;
            }
            at += SIZE;
        }
        line
    };

    fn new(table: &'a ProbingTable) -> Self {
        let (line, ready) = (Self::EMPTY_LINE, Vec::new());
        ProbingTableWriter {
            table,
            line,
            used: 0,
            number: 0,
            ready,
            last: None,
            is_seed_rejected: false,
        }
    }

    /// Add an entry; hashes must ascend. `fill` writes the value into the slot.
    fn add(
        &mut self,
        hash: u64,
        sink: &mut BinarySink<'_>,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<()> {
        self.is_seed_rejected |= self.last.replace(hash) == Some(hash);
        while self.number < home_line(hash, self.table.home_lines) || self.used == CACHE_LINE / SIZE
        {
            self.end(sink)?;
        }
        self.is_seed_rejected |= self.number >= self.table.lines;
        let slot = &mut self.line[self.used * SIZE..][..SIZE];
        slot[..8].copy_from_slice(&hash.to_le_bytes());
        fill(&mut slot[8..]);
        self.used += 1;
        Ok(())
    }

    fn end(&mut self, sink: &mut BinarySink<'_>) -> Result<()> {
        self.ready.extend_from_slice(&self.line);
        self.line = Self::EMPTY_LINE;
        self.used = 0;
        self.number += 1;
        if self.ready.len() < BUFFER_BYTES {
            return Ok(());
        }
        if !self.is_seed_rejected {
            sink.write(&self.ready)?;
        }
        self.ready.clear();
        Ok(())
    }

    /// Write the remaining lines, or fail if the table needs another seed.
    fn finish(mut self, sink: &mut BinarySink<'_>) -> std::result::Result<(), BuildFailure> {
        while self.number < self.table.lines {
            self.end(sink)?;
        }
        if self.is_seed_rejected {
            return Err(BuildFailure::Seed);
        }
        Ok(sink.write(&self.ready)?)
    }
}

/// Call `each` for n-grams of an order and whether each is the last with its suffix. The sign of
/// the probability tells whether a longer n-gram ends with the n-gram.
fn visit_with_extensions(
    ngrams: &dyn NgramSource,
    order: usize,
    range: Range<u64>,
    job: &Job,
    mut each: impl FnMut(ScoredNgram, bool) -> Result<()>,
) -> Result<()> {
    let mut marked = |mut ngram: ScoredNgram, is_extended: bool, is_last: bool| {
        ngram.prob = if is_extended { -ngram.prob.abs() } else { ngram.prob.abs() };
        each(ngram, is_last)
    };
    match ngrams.trie() {
        Some(trie) => trie.visit_marked(order, range, marked),
        None => visit_merged(ngrams, order, job, &mut marked),
    }
}

/// Find both flags by merging the lists of this order and the next.
fn visit_merged(
    ngrams: &dyn NgramSource,
    order: usize,
    job: &Job,
    each: &mut dyn FnMut(ScoredNgram, bool, bool) -> Result<()>,
) -> Result<()> {
    let mut longer: super::ngram::NgramIter<'_> = if order < ngrams.order() {
        ngrams.ngrams(order + 1)?
    } else {
        Box::new(std::iter::empty())
    };
    let mut ahead = longer.next().transpose()?;
    let mut of_order = ngrams.ngrams(order)?.peekable();
    let mut number = 0_u64;
    while let Some(ngram) = of_order.next() {
        let ngram = ngram?;
        let mut is_extended = false;
        while let Some(next) = &ahead
            && next.words[..order] == ngram.words[..order]
        {
            is_extended = true;
            ahead = longer.next().transpose()?;
        }
        let is_last = match of_order.peek() {
            Some(Ok(next)) => next.words[..order - 1] != ngram.words[..order - 1],
            _ => true,
        };
        each(ngram, is_extended, is_last)?;
        number += 1;
        if number.is_multiple_of(BLOCK) {
            job.check()?;
        }
    }
    Ok(())
}
