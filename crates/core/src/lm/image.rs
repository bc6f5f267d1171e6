//! Lays a model out for look-ups.
//!
//! In: any `Grams`. Out: the bytes of a mapped model, in a file or in memory.
//! How: one hash table per order, made of lines as the processor loads them; entries are sorted
//! by hash and each stands in its home line or right after the one before it. So the table is
//! written front to back without a random access, the same n-grams always give the same bytes,
//! and a search ends at the first larger hash, mostly in its first line. Whether an n-gram can be extended to the left is kept in the
//! sign of its probability, to the right in the sign of a backoff of 0.
//! Cost: one sort per order. 21 bytes an n-gram (17 of the longest) for queries, and 4 that are
//! only read when the n-grams are listed again.

use super::grams::{Gram, Grams};
use super::key::Key;
use super::layout::{
    FREE, HEADER, Header, LINE, Layout, SEAL, SHORT_SLOT, SLOT, Table, first_hash, home, next_hash,
    stored,
};
use super::{MAX_ORDER, Model};
use crate::Job;
use crate::error::{Error, Place, Result};
use crate::narrow::to_u32;
use crate::parallel;
use crate::storage::{
    BodySum, Record, SealedFile, Sorted, Sorter, Spool, TempFolder, in_memory, prefer_large_pages,
};
use memmap2::MmapMut;
use std::path::Path;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Entries between two looks at the job.
const BLOCK: u64 = 1 << 16;
/// In a list of n-grams: this one is the last that ends like it.
pub const LAST: u32 = 1 << 31;
/// Two words or n-grams with one hash are so rare that trying again this often is enough.
const SEEDS: u64 = 8;

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
    with_extensions(grams, 1, job, |gram, _| {
        sink.write(&gram.prob.to_le_bytes())?;
        sink.write(&gram.backoff.to_le_bytes())
    })?;
    // As many orders at a time as there are threads, each with its part of the memory.
    let together = job.threads().clamp(1, layout.tables.len().max(1));
    let room = (room.0, room.1 / 2 / together);
    let mut lists = Vec::new();
    for (block, tables) in layout.tables.chunks(together).enumerate() {
        let first = block * together + 2;
        let work = |(): &mut (), at: usize| by_hash(grams, first + at, header.seed, room, job);
        let (sorted, _) = parallel::map(tables.len(), 1, job, || (), work)?;
        for ((order, table), (entries, list)) in (first..).zip(tables).zip(sorted) {
            lists.push(list);
            sink.skip_to(table.range.start)?;
            if order == header.order {
                write_table(
                    entries,
                    table,
                    &mut sink,
                    |(prob, _), slot: &mut [u8; SHORT_SLOT]| {
                        slot[8..].copy_from_slice(&prob.to_le_bytes());
                    },
                )?;
            } else {
                write_table(
                    entries,
                    table,
                    &mut sink,
                    |(prob, backoff), slot: &mut [u8; SLOT]| {
                        slot[8..12].copy_from_slice(&prob.to_le_bytes());
                        slot[12..].copy_from_slice(&backoff.to_le_bytes());
                    },
                )?;
            }
        }
    }
    for (place, list) in layout.lists.iter().zip(lists) {
        sink.skip_to(place.start)?;
        for oldest in list.iter()? {
            sink.write(&oldest?.to_le_bytes())?;
        }
    }
    sink.skip_to(layout.size)?;
    Ok(sink.target)
}

/// The scores of n-grams by hash, and the oldest words of all of them in their order.
type Hashed = (Sorted<Key<1>, (f32, f32)>, Spool<u32>);

/// The n-grams of an order as the image has them.
fn by_hash(
    grams: &dyn Grams,
    order: usize,
    seed: u64,
    (folder, memory): Room<'_>,
    job: &Job,
) -> Result<Hashed> {
    let mut sorter = Sorter::new(folder, memory, None);
    let mut list = Spool::new(folder, memory / 4);
    with_extensions(grams, order, job, |gram, is_last| {
        let words = &gram.words[..order];
        let first = first_hash(seed, words[0]);
        let hash = words[1..].iter().fold(first, |hash, &word| next_hash(hash, word));
        let oldest = gram.words[order - 1];
        list.push(if is_last { oldest | LAST } else { oldest })?;
        sorter.push(Key([stored(hash)]), (gram.prob, gram.backoff))
    })?;
    Ok((sorter.finish()?, list.finish()?))
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
    write_table(sorter.finish()?, &layout.vocab, sink, |id, slot: &mut [u8; SHORT_SLOT]| {
        slot[8..].copy_from_slice(&id.to_le_bytes());
    })
}

/// The hash of a word's letters.
pub fn word_hash(word: &[u8], seed: u64) -> u64 {
    stored(xxh3_64_with_seed(word, seed))
}

/// Writes the lines of a table; `fill` puts a value after the hash.
fn write_table<V: Record, const SIZE: usize>(
    entries: Sorted<Key<1>, V>,
    table: &Table,
    sink: &mut Sink<'_>,
    fill: impl Fn(V, &mut [u8; SIZE]),
) -> std::result::Result<(), Trouble> {
    let mut writer = Lines::<SIZE>::default();
    let mut last = None;
    for entry in entries {
        let (Key([hash]), value) = entry?;
        if last.replace(hash) == Some(hash) {
            return Err(Trouble::Seed);
        }
        while writer.number < home(hash, table.homes) || writer.used == LINE / SIZE {
            writer.end(sink)?;
        }
        if writer.number == table.lines {
            return Err(Trouble::Seed);
        }
        let mut slot = [0; SIZE];
        slot[..8].copy_from_slice(&hash.to_le_bytes());
        fill(value, &mut slot);
        writer.line[writer.used * SIZE..][..SIZE].copy_from_slice(&slot);
        writer.used += 1;
    }
    while writer.number < table.lines {
        writer.end(sink)?;
    }
    Ok(())
}

/// The line that is being filled.
struct Lines<const SIZE: usize> {
    line: [u8; LINE],
    used: usize,
    number: u64,
}

impl<const SIZE: usize> Default for Lines<SIZE> {
    fn default() -> Self {
        Lines { line: Self::FREE_LINE, used: 0, number: 0 }
    }
}

impl<const SIZE: usize> Lines<SIZE> {
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

    fn end(&mut self, sink: &mut Sink<'_>) -> Result<()> {
        sink.write(&self.line)?;
        *self = Lines { number: self.number + 1, ..Lines::default() };
        Ok(())
    }
}

/// Goes through the n-grams of an order, their probabilities with the sign that says whether a
/// longer n-gram ends with them; `each` also learns whether this is the last of those that end
/// alike.
fn with_extensions(
    grams: &dyn Grams,
    order: usize,
    job: &Job,
    mut each: impl FnMut(Gram, bool) -> Result<()>,
) -> Result<()> {
    let mut longer: super::grams::GramIter<'_> =
        if order < grams.order() { grams.grams(order + 1)? } else { Box::new(std::iter::empty()) };
    let mut ahead = longer.next().transpose()?;
    let mut of_order = grams.grams(order)?.peekable();
    let mut number = 0_u64;
    while let Some(gram) = of_order.next() {
        let mut gram = gram?;
        let mut is_extended = false;
        while let Some(next) = &ahead
            && next.words[..order] == gram.words[..order]
        {
            is_extended = true;
            ahead = longer.next().transpose()?;
        }
        gram.prob = if is_extended { -gram.prob.abs() } else { gram.prob.abs() };
        let is_last = match of_order.peek() {
            Some(Ok(next)) => next.words[..order - 1] != gram.words[..order - 1],
            _ => true,
        };
        each(gram, is_last)?;
        number += 1;
        if number.is_multiple_of(BLOCK) {
            job.check()?;
        }
    }
    Ok(())
}
