//! Sequences that may be larger than memory.
//!
//! In: records one by one and a budget in bytes. Out: the same records, in order (`Spool`) or
//! sorted by key with equal keys joined (`Sorter`). What goes over the budget is written to a
//! folder of its own, which is removed at the end; what fits never touches the disk.
//! Cost: sorting blocks in memory and one merge of the sorted runs.

use super::temp::{BUFFER, TempFolder, TempWriter};
use crate::error::{Error, Result};
use crate::narrow::to_usize;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Runs that are merged at once; more are merged into one first.
const MAX_RUNS: usize = 64;

/// A value of fixed size that can be written to disk and read again.
pub trait Record: Copy + Send {
    /// Its number of bytes on disk.
    const SIZE: usize;
    /// Writes it to the front of `out`.
    fn put(&self, out: &mut [u8]);
    /// Reads it from the front of `bytes`.
    fn get(bytes: &[u8]) -> Self;
}

macro_rules! number_records {
    ($($number:ty),*) => {$(
        impl Record for $number {
            const SIZE: usize = size_of::<$number>();
            fn put(&self, out: &mut [u8]) {
                out[..Self::SIZE].copy_from_slice(&self.to_le_bytes());
            }
            fn get(bytes: &[u8]) -> Self {
                let mut array = [0; Self::SIZE];
                array.copy_from_slice(&bytes[..Self::SIZE]);
                <$number>::from_le_bytes(array)
            }
        }
    )*};
}
number_records!(u32, u64, u128, f32, f64);

/// The value of records that are all key.
impl Record for () {
    const SIZE: usize = 0;
    fn put(&self, _out: &mut [u8]) {}
    fn get(_bytes: &[u8]) -> Self {}
}

impl<A: Record, B: Record> Record for (A, B) {
    const SIZE: usize = A::SIZE + B::SIZE;
    fn put(&self, out: &mut [u8]) {
        self.0.put(out);
        self.1.put(&mut out[A::SIZE..]);
    }
    fn get(bytes: &[u8]) -> Self {
        (A::get(bytes), B::get(&bytes[A::SIZE..]))
    }
}

/// Writes records to a temporary file.
struct RunWriter {
    file: TempWriter,
    block: Vec<u8>,
}

impl RunWriter {
    fn create(folder: &TempFolder) -> Result<Self> {
        Ok(RunWriter { file: TempWriter::create(folder)?, block: Vec::with_capacity(2 * BUFFER) })
    }

    #[inline]
    fn push<R: Record>(&mut self, record: &R) -> Result<()> {
        let start = self.block.len();
        self.block.resize(start + R::SIZE, 0);
        record.put(&mut self.block[start..]);
        if start < BUFFER { Ok(()) } else { self.write() }
    }

    fn write(&mut self) -> Result<()> {
        self.file.write(&self.block)?;
        self.block.clear();
        Ok(())
    }

    /// Hands all records to the system, so that they can be read.
    fn flush(&mut self) -> Result<()> {
        self.write()?;
        self.file.flush()
    }
}

/// Reads the records of a temporary file.
struct RunReader<R> {
    path: PathBuf,
    file: File,
    left: u64,
    block: Vec<u8>,
    at: usize,
    kind: std::marker::PhantomData<R>,
}

impl<R: Record> RunReader<R> {
    fn open(path: &Path, left: u64) -> Result<Self> {
        let file = File::open(path).map_err(|source| Error::io(path, source))?;
        let (path, kind) = (path.into(), std::marker::PhantomData);
        Ok(RunReader { path, file, left, block: Vec::new(), at: 0, kind })
    }

    /// Leaves out the first `start` records.
    fn open_at(path: &Path, start: u64, left: u64) -> Result<Self> {
        let mut reader = Self::open(path, left)?;
        let place = SeekFrom::Start(start * R::SIZE as u64);
        reader.file.seek(place).map_err(|source| Error::io(path, source))?;
        Ok(reader)
    }

    /// Reads the next block of records, of which there are more.
    #[cold]
    fn refill(&mut self) -> Result<()> {
        let records = to_usize(self.left.min((BUFFER / R::SIZE) as u64 + 1));
        self.block.resize(records * R::SIZE, 0);
        self.at = 0;
        self.file.read_exact(&mut self.block).map_err(|source| Error::io(&self.path, source))
    }
}

impl<R: Record> Iterator for RunReader<R> {
    type Item = Result<R>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        if self.at == self.block.len()
            && let Err(error) = self.refill()
        {
            self.left = 0;
            return Some(Err(error));
        }
        self.left -= 1;
        let record = R::get(&self.block[self.at..]);
        self.at += R::SIZE;
        Some(Ok(record))
    }
}

/// A sequence that is written once and read any number of times.
pub struct Spool<R> {
    block: Vec<R>,
    limit: usize,
    folder: Arc<TempFolder>,
    file: Option<RunWriter>,
    len: u64,
}

impl<R: Record> Spool<R> {
    /// An empty sequence that keeps up to `memory` bytes in memory.
    pub fn new(folder: &Arc<TempFolder>, memory: usize) -> Self {
        let limit = (memory / size_of::<R>()).max(1);
        Spool { block: Vec::new(), limit, folder: folder.clone(), file: None, len: 0 }
    }

    /// Number of records.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds a record at the end.
    #[inline]
    pub fn push(&mut self, record: R) -> Result<()> {
        self.len += 1;
        self.block.push(record);
        if self.block.len() >= self.limit { self.spill() } else { Ok(()) }
    }

    fn spill(&mut self) -> Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(RunWriter::create(&self.folder)?),
        };
        self.block.drain(..).try_for_each(|record| file.push(&record))
    }

    /// Ends the writing.
    pub fn finish(mut self) -> Result<Self> {
        if self.file.is_some() {
            self.spill()?;
            self.block = Vec::new();
        }
        if let Some(file) = &mut self.file {
            file.flush()?;
        }
        Ok(self)
    }

    /// Shows the records whose numbers are in a range, once the writing has ended.
    pub fn visit(&self, range: Range<u64>, mut each: impl FnMut(R) -> Result<()>) -> Result<()> {
        match &self.file {
            Some(file) => {
                let left = range.end - range.start;
                RunReader::open_at(file.file.path(), range.start, left)?
                    .try_for_each(|record| each(record?))
            }
            None => self.block[to_usize(range.start)..to_usize(range.end)]
                .iter()
                .try_for_each(|record| each(*record)),
        }
    }

    /// All records in order, once the writing has ended.
    pub fn iter(&self) -> Result<impl Iterator<Item = Result<R>> + '_> {
        let reader = match &self.file {
            Some(file) => Some(RunReader::open(file.file.path(), self.len)?),
            None => None,
        };
        Ok(self.block.iter().map(|record| Ok(*record)).chain(reader.into_iter().flatten()))
    }
}

/// Sorts records by key; values of equal keys are joined when there is a way to.
pub struct Sorter<K, V> {
    block: Vec<(K, V)>,
    limit: usize,
    folder: Arc<TempFolder>,
    runs: Vec<(PathBuf, u64)>,
    join: Option<fn(V, V) -> V>,
}

impl<K: Record + Ord, V: Record> Sorter<K, V> {
    /// An empty sorter that keeps up to `memory` bytes in memory.
    pub fn new(folder: &Arc<TempFolder>, memory: usize, join: Option<fn(V, V) -> V>) -> Self {
        let limit = (memory / size_of::<(K, V)>()).max(2);
        Sorter { block: Vec::new(), limit, folder: folder.clone(), runs: Vec::new(), join }
    }

    /// Adds a record.
    #[inline]
    pub fn push(&mut self, key: K, value: V) -> Result<()> {
        if self.block.len() >= self.limit {
            self.make_room()?;
        }
        self.block.push((key, value));
        Ok(())
    }

    /// Takes over the records of another sorter, and its memory.
    pub fn absorb(&mut self, other: Self) -> Result<()> {
        self.limit = self.limit.saturating_add(other.limit);
        self.runs.extend(other.runs);
        other.block.into_iter().try_for_each(|(key, value)| self.push(key, value))
    }

    /// All records by ascending key.
    pub fn finish(mut self) -> Result<Sorted<K, V>> {
        if self.runs.is_empty() {
            self.sort_block();
            return Ok(Sorted::Memory(self.block.into_iter()));
        }
        if !self.block.is_empty() {
            self.spill()?;
        }
        self.block = Vec::new();
        Merge::open(&self.runs, self.join, self.folder).map(Sorted::Merge)
    }

    /// Joining alone may be enough; a block that is still half full goes to disk.
    fn make_room(&mut self) -> Result<()> {
        self.sort_block();
        if self.block.len() > self.limit / 2 { self.spill() } else { Ok(()) }
    }

    fn sort_block(&mut self) {
        self.block.sort_unstable_by_key(|record| record.0);
        let Some(join) = self.join else { return };
        self.block.dedup_by(|next, kept| {
            let equal = next.0 == kept.0;
            if equal {
                kept.1 = join(kept.1, next.1);
            }
            equal
        });
    }

    fn spill(&mut self) -> Result<()> {
        self.sort_block();
        let block = std::mem::take(&mut self.block);
        self.write_run(block.iter().map(|record| Ok(*record)))?;
        self.block = block;
        self.block.clear();
        if self.runs.len() >= MAX_RUNS {
            let merge = Merge::open(&self.runs, self.join, self.folder.clone())?;
            let old = std::mem::take(&mut self.runs);
            self.write_run(merge)?;
            for (path, _) in old {
                fs::remove_file(&path).map_err(|source| Error::io(&path, source))?;
            }
        }
        Ok(())
    }

    fn write_run(&mut self, records: impl Iterator<Item = Result<(K, V)>>) -> Result<()> {
        let mut writer = RunWriter::create(&self.folder)?;
        let mut count = 0;
        for record in records {
            writer.push(&record?)?;
            count += 1;
        }
        writer.flush()?;
        self.runs.push((writer.file.path().into(), count));
        Ok(())
    }
}

/// Sorted records.
pub enum Sorted<K, V> {
    /// From memory.
    Memory(std::vec::IntoIter<(K, V)>),
    /// From runs on disk.
    Merge(Merge<K, V>),
}

impl<K: Record + Ord, V: Record> Iterator for Sorted<K, V> {
    type Item = Result<(K, V)>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Sorted::Memory(records) => records.next().map(Ok),
            Sorted::Merge(merge) => merge.next(),
        }
    }
}

/// Several sorted sequences of different keys as one.
pub struct Joined<K, V> {
    parts: Vec<Sorted<K, V>>,
    heads: Vec<Option<(K, V)>>,
}

impl<K: Record + Ord, V: Record> Joined<K, V> {
    /// All records of these sorters by ascending key; no key is in two of them.
    pub fn of(sorters: Vec<Sorter<K, V>>) -> Result<Self> {
        let parts = sorters.into_iter().map(Sorter::finish).collect::<Result<Vec<_>>>()?;
        let mut joined = Joined { heads: parts.iter().map(|_| None).collect(), parts };
        if joined.parts.len() > 1 {
            for part in 0..joined.parts.len() {
                joined.heads[part] = joined.parts[part].next().transpose()?;
            }
        }
        Ok(joined)
    }
}

impl<K: Record + Ord, V: Record> Iterator for Joined<K, V> {
    type Item = Result<(K, V)>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if let [only] = &mut self.parts[..] {
            return only.next();
        }
        let mut least: Option<(usize, K)> = None;
        for (part, head) in self.heads.iter().enumerate() {
            if let Some((key, _)) = head
                && least.is_none_or(|(_, known)| *key < known)
            {
                least = Some((part, *key));
            }
        }
        let (part, _) = least?;
        let head = self.heads[part].take();
        match self.parts[part].next().transpose() {
            Ok(next) => self.heads[part] = next,
            Err(error) => return Some(Err(error)),
        }
        head.map(Ok)
    }
}

/// Merges sorted runs; equal keys come in the order of the runs.
pub struct Merge<K, V> {
    runs: Vec<RunReader<(K, V)>>,
    values: Vec<Option<V>>,
    heap: BinaryHeap<Reverse<(K, usize)>>,
    join: Option<fn(V, V) -> V>,
    /// Keeps the files until they are read.
    _folder: Arc<TempFolder>,
}

impl<K: Record + Ord, V: Record> Merge<K, V> {
    fn open(
        runs: &[(PathBuf, u64)],
        join: Option<fn(V, V) -> V>,
        folder: Arc<TempFolder>,
    ) -> Result<Self> {
        let runs: Vec<_> =
            runs.iter().map(|(path, len)| RunReader::open(path, *len)).collect::<Result<_>>()?;
        let values = runs.iter().map(|_| None).collect();
        let mut merge = Merge { runs, values, heap: BinaryHeap::new(), join, _folder: folder };
        for run in 0..merge.runs.len() {
            merge.advance(run)?;
        }
        Ok(merge)
    }

    fn advance(&mut self, run: usize) -> Result<()> {
        if let Some(record) = self.runs[run].next() {
            let (key, value) = record?;
            self.values[run] = Some(value);
            self.heap.push(Reverse((key, run)));
        }
        Ok(())
    }

    fn pop(&mut self) -> Result<Option<(K, V)>> {
        let Some(Reverse((key, run))) = self.heap.pop() else { return Ok(None) };
        let value = self.values[run].take();
        self.advance(run)?;
        Ok(value.map(|value| (key, value)))
    }

    fn next_joined(&mut self) -> Result<Option<(K, V)>> {
        let Some((key, mut value)) = self.pop()? else { return Ok(None) };
        if let Some(join) = self.join {
            while self.heap.peek().is_some_and(|Reverse((next, _))| *next == key) {
                if let Some((_, more)) = self.pop()? {
                    value = join(value, more);
                }
            }
        }
        Ok(Some((key, value)))
    }
}

impl<K: Record + Ord, V: Record> Iterator for Merge<K, V> {
    type Item = Result<(K, V)>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_joined().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn sorting_with_any_memory_is_counting_in_a_map(
            words in proptest::collection::vec(0_u32..40, 0..400),
            memory in 0_usize..4000,
        ) {
            let folder = TempFolder::new(None);
            let mut sorter = Sorter::new(&folder, memory, Some(|a: u64, b: u64| a + b));
            let mut other = Sorter::new(&folder, memory / 2, Some(|a: u64, b: u64| a + b));
            let mut spool = Spool::new(&folder, memory);
            let mut expected = BTreeMap::new();
            for &word in &words {
                if word % 3 == 0 { &mut other } else { &mut sorter }.push(word, 1).unwrap();
                spool.push(word).unwrap();
                *expected.entry(word).or_insert(0) += 1;
            }
            sorter.absorb(other).unwrap();
            let sorted: Vec<(u32, u64)> =
                sorter.finish().unwrap().collect::<Result<_>>().unwrap();
            prop_assert_eq!(sorted, expected.into_iter().collect::<Vec<_>>());
            let spool = spool.finish().unwrap();
            for _ in 0..2 {
                let again: Vec<u32> = spool.iter().unwrap().collect::<Result<_>>().unwrap();
                prop_assert_eq!(&again, &words);
            }
            let (start, end) = (words.len() / 3, words.len() / 2);
            let mut part = Vec::new();
            let range = start as u64..end as u64;
            spool.visit(range, |word| { part.push(word); Ok(()) }).unwrap();
            prop_assert_eq!(&part, &words[start..end]);
        }
    }
}
