//! The index of a table: where the block of each source phrase is, by its hash.
//!
//! In: hash and place of every source phrase, in order of their blocks. Out: the bytes of an
//! open-addressing hash table, four of five slots in use.
//! How: phrases are put into the first free slot behind the one of their hash, in their order. The
//! table is made in chunks of slots that fit the processor's memory, which threads share: phrases are
//! dealt out by chunk; what finds no free slot in its chunk goes on in the next at its own time, so
//! that the table is the same. As a chunk mostly hands on the same whatever comes to it, all are
//! filled once to see what they hand on, and again with what comes to them.
//! Cost: 8 bytes a slot and 32 a phrase, in memory or on disk.

use super::format::{evidence, slot};
use crate::Job;
use crate::error::{Error, Place, Result};
use crate::narrow::to_usize;
use crate::ordered::in_order;
use crate::parallel::map;
use crate::storage::{Spool, TempFolder};
use std::sync::Arc;

/// Slots of a chunk, and most chunks, each of which may have a file.
const CHUNK: u64 = 1 << 16;
const MOST_CHUNKS: u64 = 1 << 8;

/// Hash and place of a source phrase.
type Entry = (u64, u64);

/// The index in the making.
pub struct IndexWriter {
    places: Spool<Entry>,
    memory: usize,
    folder: Arc<TempFolder>,
}

impl IndexWriter {
    /// An empty index that takes about so many bytes of memory.
    pub fn new(memory: usize, folder: &Arc<TempFolder>) -> Self {
        let places = Spool::new(folder, memory / 2);
        IndexWriter { places, memory, folder: folder.clone() }
    }

    /// Adds the next source phrase.
    pub fn push(&mut self, hash: u64, place: u64) -> Result<()> {
        self.places.push((hash, place))
    }

    /// Number of source phrases.
    pub fn len(&self) -> u64 {
        self.places.len()
    }

    /// Hands the bytes of the index to `write`, piece by piece.
    pub fn finish(
        self,
        job: &Job,
        mut write: impl FnMut(&[u8]) -> Result<()> + Send,
    ) -> Result<()> {
        let slots = self.places.len() + self.places.len() / 4 + 1;
        let most = (self.memory as u64 / 16).max(1 << 8).min(slots);
        let chunk_slots = most.min(CHUNK.max(slots.div_ceil(MOST_CHUNKS)));
        let chunks = slots.div_ceil(chunk_slots);
        let chunk_slots = slots.div_ceil(chunks); // the last one about as large as the others
        let dealt = self.deal(slots, chunks, chunk_slots)?;
        let chunk = |number: usize| {
            let start = number as u64 * chunk_slots;
            Chunk::new(start, slots.min(start + chunk_slots), slots)
        };
        let fill = |number: usize, left: &[Entry]| filled(chunk(number), &dealt[number], left);
        if dealt.len() == 1 {
            return write(&fill(0, &[])?.bytes());
        }
        let hand_on = |(): &mut (), number: usize| Ok(fill(number, &[])?.left);
        let (handed_on, _) = map(dealt.len(), 1, job, || (), hand_on)?;
        // What the last chunk has no room for begins again at the first slot. A chunk with a free
        // slot hands on the same whatever came to it, for nothing got past that slot.
        let came_to = |number: usize| match number {
            0 => &handed_on[dealt.len() - 1],
            _ => &handed_on[number - 1],
        };
        let work = |(): &mut (), number: usize| Ok((number, fill(number, came_to(number))?));
        let mut left = came_to(0).clone();
        in_order(
            dealt.len(),
            job,
            || (),
            work,
            |(number, mut chunk)| {
                if left != *came_to(number) {
                    chunk = fill(number, &left)?; // the one before has no free slot
                }
                left = std::mem::take(&mut chunk.left);
                write(&chunk.bytes())
            },
        )?;
        if left == *came_to(0) { Ok(()) } else { Err(crowded()) }
    }

    /// The phrases by chunk, in their order.
    fn deal(self, slots: u64, chunks: u64, chunk_slots: u64) -> Result<Vec<Spool<Entry>>> {
        let places = self.places.finish()?;
        if chunks == 1 {
            return Ok(vec![places]);
        }
        let share = (self.memory / 2) / to_usize(chunks);
        let mut dealt: Vec<_> = (0..chunks).map(|_| Spool::new(&self.folder, share)).collect();
        for entry in places.iter()? {
            let entry = entry?;
            dealt[to_usize(slot(entry.0, slots) / chunk_slots)].push(entry)?;
        }
        dealt.into_iter().map(Spool::finish).collect()
    }
}

fn filled(mut chunk: Chunk, entries: &Spool<Entry>, left: &[Entry]) -> Result<Chunk> {
    let mut left = left.iter().peekable();
    for entry in entries.iter()? {
        let entry = entry?;
        while let Some(earlier) = left.next_if(|earlier| earlier.1 < entry.1) {
            chunk.put(*earlier);
        }
        chunk.put(entry);
    }
    left.for_each(|entry| chunk.put(*entry));
    Ok(chunk)
}

/// Neighbouring slots of the table.
struct Chunk {
    start: u64,
    slots: u64,
    table: Vec<u64>,
    /// Phrases that found no free slot, in their order.
    left: Vec<Entry>,
}

impl Chunk {
    fn new(start: u64, end: u64, slots: u64) -> Self {
        Chunk { start, slots, table: vec![0; to_usize(end - start)], left: Vec::new() }
    }

    /// Puts a phrase into the first free slot; one whose slot is in another chunk begins at the
    /// first.
    fn put(&mut self, entry: Entry) {
        let home = slot(entry.0, self.slots).checked_sub(self.start).map_or(0, to_usize);
        let home = if home < self.table.len() { home } else { 0 };
        let is_free = |taken: &u64| *taken == 0;
        let behind = self.table[home..].iter().position(is_free).map(|free| home + free);
        let is_whole = self.table.len() as u64 == self.slots;
        let before = || self.table[..home].iter().position(is_free).filter(|_| is_whole);
        match behind.or_else(before) {
            Some(free) => self.table[free] = evidence(entry.0) << 40 | entry.1,
            None => self.left.push(entry),
        }
    }

    fn bytes(&self) -> Vec<u8> {
        self.table.iter().flat_map(|slot| slot.to_le_bytes()).collect()
    }
}

fn crowded() -> Error {
    Error::Limit {
        place: Place { file: "index of the table".into(), line: None },
        found: "so many source phrases of similar hashes that they do not fit their chunk".into(),
        limit: "the memory given".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn index(hashes: &[u64], memory: usize, threads: usize) -> Vec<u8> {
        let mut writer = IndexWriter::new(memory, &TempFolder::new(None));
        for (place, &hash) in (1..).zip(hashes) {
            writer.push(hash, place).unwrap();
        }
        let mut bytes = Vec::new();
        let write = |some: &[u8]| {
            bytes.extend_from_slice(some);
            Ok(())
        };
        writer.finish(&Job::new(threads), write).unwrap();
        bytes
    }

    /// Phrase by phrase into one table, as the format has it.
    fn slow(hashes: &[u64]) -> Vec<u8> {
        let slots = hashes.len() + hashes.len() / 4 + 1;
        let mut table = vec![0u64; slots];
        for (place, &hash) in (1..).zip(hashes) {
            let mut at = slot(hash, slots as u64) as usize;
            while table[at] != 0 {
                at = (at + 1) % slots;
            }
            table[at] = evidence(hash) << 40 | place;
        }
        table.iter().flat_map(|slot| slot.to_le_bytes()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn chunks_give_the_index_that_one_table_gives(
            hashes in proptest::collection::vec(any::<u64>(), 0..5000), is_late in any::<bool>(),
        ) {
            // Hashes near the end fill the last slots, so that many go on at the first.
            let late = |(at, hash): (usize, &u64)| if at % 40 == 0 { u64::MAX - hash % 9 } else { *hash };
            let hashes: Vec<u64> = if is_late {
                hashes.iter().enumerate().map(late).collect()
            } else {
                hashes
            };
            let whole = slow(&hashes);
            prop_assert!(index(&hashes, 1 << 20, 1) == whole);
            prop_assert!(index(&hashes, 1 << 14, 1) == whole);
            prop_assert!(index(&hashes, 1 << 12, 3) == whole);
        }
    }
}
