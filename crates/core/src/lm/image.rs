//! Lays a model out for look-ups.
//!
//! In: any `Grams`. Out: the bytes of a mapped model, in a file or in memory.
//! How: one hash table per order, made of lines as the processor loads them; entries are sorted
//! by hash and each stands in its home line or right after the one before it. So the table is
//! written front to back without a random access, the same n-grams always give the same bytes,
//! and a search ends at the first larger hash, mostly in its first line. Whether an n-gram can be extended to the left is kept in the
//! sign of its probability, to the right in the sign of a backoff of 0.
//! Threads share n-grams, then parts of the table.
//! Cost: one sort per order. 21 bytes an n-gram (17 of the longest) for queries, and 4 that are
//! only read when the n-grams are listed again.

use super::count::taken;
use super::grams::{Gram, Grams};
use super::key::Key;
use super::layout::{
    FREE, HEADER, Header, LINE, Layout, SEAL, SHORT_SLOT, SLOT, Table, first_hash, home, next_hash,
    stored,
};
use super::trie::Trie;
use super::{MAX_ORDER, Model};
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
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// N-grams that a thread takes at once, or between two looks at the job.
const BLOCK: u64 = 1 << 14;
/// In a list of n-grams: this one is the last that ends like it.
pub const LAST: u32 = 1 << 31;
/// Two words or n-grams with one hash are so rare that trying again this often is enough.
const SEEDS: u64 = 8;
/// Parts of a table that are sorted by themselves.
const PARTS: usize = 64;
/// Bytes of lines that are written at once.
const READY: usize = 1 << 18;

/// Where the bytes of an image go.
enum Target<'a> {
    File(&'a mut SealedFile),
    Memory(&'a mut MmapMut, Box<BodySum>),
}

/// Writes what follows the header, one part after the other.
struct Sink<'a> {
    target: Target<'a>,
    at: usize,
}

impl Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.target {
            Target::File(file) => file.write(bytes)?,
            Target::Memory(memory, sum) => {
                sum.update(bytes);
                memory[self.at..self.at + bytes.len()].copy_from_slice(bytes);
            }
        }
        self.at += bytes.len();
        Ok(())
    }

    /// Fills up with zeros to where a part begins.
    fn skip_to(&mut self, place: usize) -> Result<()> {
        let gap = place - self.at;
        self.write(&[0; 64][..gap])
    }
}

/// Why an image was not finished.
enum Trouble {
    /// Two hashes were equal or a table ran over: another seed will do.
    Seed,
    /// Something that another seed does not help.
    Other(Error),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Trouble::Other(error)
    }
}

/// Writes a model to a file that can be mapped; `memory` bounds what sorting uses.
pub fn write_image(grams: &dyn Grams, path: &Path, memory: usize, job: &Job) -> Result<()> {
    let folder = TempFolder::new(None);
    with_seed(grams, path, |header, layout| {
        let mut file = SealedFile::create(path, SEAL)?;
        build(grams, header, layout, Target::File(&mut file), (&folder, memory), job)?;
        Ok(file.finish(&header.to_numbers())?)
    })
}

/// The same without a file.
pub fn write_image_in_memory(grams: &dyn Grams, memory: usize, job: &Job) -> Result<Model> {
    let folder = TempFolder::new(None);
    let name = Path::new("model");
    let bytes = with_seed(grams, name, |header, layout| {
        let mut bytes = in_memory(layout.size)?;
        prefer_large_pages(&bytes);
        let target = Target::Memory(&mut bytes, Box::default());
        if let Target::Memory(bytes, sum) =
            build(grams, header, layout, target, (&folder, memory), job)?
        {
            bytes[..HEADER].copy_from_slice(&sum.header(&SEAL, &header.to_numbers()));
        }
        Ok(bytes)
    })?;
    Model::from_memory(bytes)
}

fn with_seed<T>(
    grams: &dyn Grams,
    path: &Path,
    write: impl Fn(&Header, &Layout) -> std::result::Result<T, Trouble>,
) -> Result<T> {
    let mut counts = [0; MAX_ORDER];
    for order in 1..=grams.order() {
        counts[order - 1] = grams.count(order);
    }
    let letters = (0..u32::try_from(counts[0]).unwrap_or(u32::MAX))
        .map(|id| grams.word(id).len() as u64)
        .sum();
    let too_large = || Error::Limit {
        place: Place::file(path),
        found: format!("{} words with {letters} letters in bytes", counts[0]),
        limit: "2^31 words and 2^32 bytes".into(),
    };
    for seed in 1..=SEEDS {
        let header = Header { order: grams.order(), seed, counts, letters };
        let layout =
            Layout::new(&header).filter(|_| counts[0] < u64::from(LAST)).ok_or_else(too_large)?;
        match write(&header, &layout) {
            Ok(done) => return Ok(done),
            Err(Trouble::Other(error)) => return Err(error),
            Err(Trouble::Seed) => {}
        }
    }
    let found = format!("equal hashes with {SEEDS} seeds");
    Err(Error::Limit { place: Place::file(path), found, limit: "different n-grams".into() })
}

/// The temporary folder and the bytes that sorting may use.
type Room<'a> = (&'a Arc<TempFolder>, usize);

/// Writes everything but the header.
fn build<'a>(
    grams: &dyn Grams,
    header: &Header,
    layout: &Layout,
    target: Target<'a>,
    room: Room<'_>,
    job: &Job,
) -> std::result::Result<Target<'a>, Trouble> {
    let mut sink = Sink { target, at: HEADER };
    write_words(grams, header, layout, room, &mut sink)?;
    sink.skip_to(layout.unigrams.start)?;
    with_extensions(grams, 1, 0..header.counts[0], job, |gram, _| {
        sink.write(&gram.prob.to_le_bytes())?;
        sink.write(&gram.backoff.to_le_bytes())
    })?;
    let mut lists = Vec::new();
    for (order, table) in (2..).zip(&layout.tables) {
        sink.skip_to(table.range.start)?;
        let write =
            if order == header.order { write_order::<SHORT_SLOT> } else { write_order::<SLOT> };
        lists.push(write(grams, order, header.seed, table, &mut sink, room, job)?);
    }
    for ((order, place), list) in (2..).zip(&layout.lists).zip(lists) {
        sink.skip_to(place.start)?;
        if let Some(trie) = grams.trie() {
            write_list(trie, order, &mut sink, job)?;
        }
        if let Some(list) = list {
            list.iter()?.try_for_each(|oldest| sink.write(&oldest?.to_le_bytes()))?;
        }
    }
    sink.skip_to(layout.size)?;
    Ok(sink.target)
}

/// A probability and a backoff.
type Scores = (f32, f32);

/// What a thread has dealt out.
struct Dealt {
    /// For each part of the table, what falls into it, by hash.
    parts: Vec<Sorter<Key<1>, Scores>>,
    /// The list of an order that one thread goes through, as it would take long to do so again.
    list: Option<Spool<u32>>,
}

/// Writes the table of an order. Threads deal its n-grams out by hash, then sort what falls into
/// each part of the table; the lines are filled in their order. Gives the list if it has it.
fn write_order<const SIZE: usize>(
    grams: &dyn Grams,
    order: usize,
    seed: u64,
    table: &Table,
    sink: &mut Sink<'_>,
    (folder, memory): Room<'_>,
    job: &Job,
) -> std::result::Result<Option<Spool<u32>>, Trouble> {
    let count = grams.count(order);
    let size = if grams.trie().is_some() { BLOCK } else { count.max(1) };
    let blocks = blocks(count, size);
    let share = memory / 2 / PARTS / job.threads().min(blocks.len()).max(1);
    let make = || Dealt {
        parts: (0..PARTS).map(|_| Sorter::new(folder, share, None)).collect(),
        list: grams.trie().is_none().then(|| Spool::new(folder, memory / 8)),
    };
    let deal = |Dealt { parts, list }: &mut Dealt, block: usize| {
        with_extensions(grams, order, blocks[block].clone(), job, |gram, is_last| {
            if let Some(list) = list {
                list.push(listed(gram.words[order - 1], is_last))?;
            }
            let words = &gram.words[..order];
            let first = first_hash(seed, words[0]);
            let hash = stored(words[1..].iter().fold(first, |hash, &word| next_hash(hash, word)));
            let part = to_usize(home(hash, PARTS as u64));
            parts[part].push(Key([hash]), (gram.prob, gram.backoff))
        })
    };
    let (_, dealt) = parallel::map(blocks.len(), 1, job, make, deal)?;
    let mut parts: Vec<Vec<_>> = (0..PARTS).map(|_| Vec::new()).collect();
    let mut list = None;
    for of_thread in dealt {
        parts.iter_mut().zip(of_thread.parts).for_each(|(part, sorter)| part.push(sorter));
        list = of_thread.list;
    }
    let parts: Vec<_> = parts.into_iter().map(|part| Mutex::new(Some(part))).collect();
    let mut lines = Lines::<SIZE>::new(table);
    let take = |entries: Vec<(Key<1>, Scores)>| {
        for (Key([hash]), (prob, backoff)) in entries {
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
        let mut sorters = taken(&parts[part]).unwrap_or_default().into_iter();
        let Some(mut sorter) = sorters.next() else { return Ok(Vec::new()) };
        sorters.try_for_each(|other| sorter.absorb(other))?;
        sorter.finish()?.collect::<Result<Vec<_>>>()
    };
    in_order(PARTS, job, || (), sort, take)?;
    lines.finish(sink)?;
    Ok(list.map(Spool::finish).transpose()?)
}

/// How a list has an n-gram.
fn listed(oldest: WordId, is_last: bool) -> u32 {
    if is_last { oldest | LAST } else { oldest }
}

/// Writes the list of an order of a tree.
fn write_list(trie: &Trie, order: usize, sink: &mut Sink<'_>, job: &Job) -> Result<()> {
    let blocks = blocks(trie.levels[order - 1].words.len() as u64, BLOCK);
    let work = |(): &mut (), block: usize| {
        let mut list = Vec::new();
        trie.visit_oldest(order, blocks[block].clone(), |oldest, is_last| {
            list.extend(listed(oldest, is_last).to_le_bytes());
        });
        Ok(list)
    };
    in_order(blocks.len(), job, || (), work, |list| sink.write(&list))?;
    Ok(())
}

/// All n-grams of an order, `size` of them in each range.
fn blocks(count: u64, size: u64) -> Vec<Range<u64>> {
    let starts = (0..count.div_ceil(size)).map(|block| block * size);
    starts.map(|start| start..count.min(start + size)).collect()
}

fn write_words(
    grams: &dyn Grams,
    header: &Header,
    layout: &Layout,
    (folder, memory): Room<'_>,
    sink: &mut Sink<'_>,
) -> std::result::Result<(), Trouble> {
    let words = 0..to_u32(header.counts[0]);
    sink.skip_to(layout.ends.start)?;
    let mut end = 0;
    for id in words.clone() {
        end += to_u32(grams.word(id).len());
        sink.write(&end.to_le_bytes())?;
    }
    sink.skip_to(layout.letters.start)?;
    for id in words.clone() {
        sink.write(grams.word(id))?;
    }
    let mut sorter = Sorter::new(folder, memory, None);
    for id in words {
        sorter.push(Key([word_hash(grams.word(id), header.seed)]), id)?;
    }
    sink.skip_to(layout.vocab.range.start)?;
    let mut lines = Lines::<SHORT_SLOT>::new(&layout.vocab);
    for entry in sorter.finish()? {
        let (Key([hash]), id) = entry?;
        lines.add(hash, sink, |value| value.copy_from_slice(&id.to_le_bytes()))?;
    }
    lines.finish(sink)
}

/// The hash of a word's letters.
pub fn word_hash(word: &[u8], seed: u64) -> u64 {
    stored(xxh3_64_with_seed(word, seed))
}

/// The lines of a table, filled one after the other.
struct Lines<'a, const SIZE: usize> {
    table: &'a Table,
    /// The line that is being filled, the slots of it that are used, and its number.
    line: [u8; LINE],
    used: usize,
    number: u64,
    /// Lines that are to be written.
    ready: Vec<u8>,
    last: Option<u64>,
    /// Two hashes were equal or the table ran over.
    is_spoilt: bool,
}

impl<'a, const SIZE: usize> Lines<'a, SIZE> {
    /// A line none of whose slots is used.
    const FREE_LINE: [u8; LINE] = {
        let mut line = [0; LINE];
        let mut at = 0;
        while at + SIZE <= LINE {
            let mut byte = 0;
            while byte < 8 {
                line[at + byte] = FREE.to_le_bytes()[byte];
                byte += 1;
            }
            at += SIZE;
        }
        line
    };

    fn new(table: &'a Table) -> Self {
        let (line, ready) = (Self::FREE_LINE, Vec::new());
        Lines { table, line, used: 0, number: 0, ready, last: None, is_spoilt: false }
    }

    /// Adds an entry; hashes come in ascending order. `fill` puts its value into the slot.
    fn add(&mut self, hash: u64, sink: &mut Sink<'_>, fill: impl FnOnce(&mut [u8])) -> Result<()> {
        self.is_spoilt |= self.last.replace(hash) == Some(hash);
        while self.number < home(hash, self.table.homes) || self.used == LINE / SIZE {
            self.end(sink)?;
        }
        self.is_spoilt |= self.number >= self.table.lines;
        let slot = &mut self.line[self.used * SIZE..][..SIZE];
        slot[..8].copy_from_slice(&hash.to_le_bytes());
        fill(&mut slot[8..]);
        self.used += 1;
        Ok(())
    }

    fn end(&mut self, sink: &mut Sink<'_>) -> Result<()> {
        self.ready.extend_from_slice(&self.line);
        self.line = Self::FREE_LINE;
        self.used = 0;
        self.number += 1;
        if self.ready.len() < READY {
            return Ok(());
        }
        if !self.is_spoilt {
            sink.write(&self.ready)?;
        }
        self.ready.clear();
        Ok(())
    }

    /// Writes what is left of the table, unless it needs another seed.
    fn finish(mut self, sink: &mut Sink<'_>) -> std::result::Result<(), Trouble> {
        while self.number < self.table.lines {
            self.end(sink)?;
        }
        if self.is_spoilt {
            return Err(Trouble::Seed);
        }
        Ok(sink.write(&self.ready)?)
    }
}

/// Goes through n-grams of an order, their probabilities with the sign that says whether a longer
/// n-gram ends with them; `each` also learns whether this is the last of those that end alike.
fn with_extensions(
    grams: &dyn Grams,
    order: usize,
    range: Range<u64>,
    job: &Job,
    mut each: impl FnMut(Gram, bool) -> Result<()>,
) -> Result<()> {
    let mut marked = |mut gram: Gram, is_extended: bool, is_last: bool| {
        gram.prob = if is_extended { -gram.prob.abs() } else { gram.prob.abs() };
        each(gram, is_last)
    };
    match grams.trie() {
        Some(trie) => trie.visit_marked(order, range, marked),
        None => compared(grams, order, job, &mut marked),
    }
}

/// Finds the marks of all n-grams of an order by a look at the longer ones.
fn compared(
    grams: &dyn Grams,
    order: usize,
    job: &Job,
    each: &mut dyn FnMut(Gram, bool, bool) -> Result<()>,
) -> Result<()> {
    let mut longer: super::grams::GramIter<'_> =
        if order < grams.order() { grams.grams(order + 1)? } else { Box::new(std::iter::empty()) };
    let mut ahead = longer.next().transpose()?;
    let mut of_order = grams.grams(order)?.peekable();
    let mut number = 0_u64;
    while let Some(gram) = of_order.next() {
        let gram = gram?;
        let mut is_extended = false;
        while let Some(next) = &ahead
            && next.words[..order] == gram.words[..order]
        {
            is_extended = true;
            ahead = longer.next().transpose()?;
        }
        let is_last = match of_order.peek() {
            Some(Ok(next)) => next.words[..order - 1] != gram.words[..order - 1],
            _ => true,
        };
        each(gram, is_extended, is_last)?;
        number += 1;
        if number.is_multiple_of(BLOCK) {
            job.check()?;
        }
    }
    Ok(())
}
