//! Training samples as short rows of bytes, in memory or on disk.
//!
//! In: samples as numbers of features. Out: the same again, block by block, as often as asked.
//! How: a row is its length and label, then the differences of its sorted numbers, seven bits a
//! byte; frequent features have small numbers, so most take one or two bytes.
//! Cost: some 15 bytes a sample with all templates. Beyond the given memory blocks go to a
//! temporary file, which is read front to back by each pass.

use crate::error::{Error, Result};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Rows of bytes by block.
#[derive(Debug)]
pub struct Rows {
    blocks: Vec<Mutex<Block>>,
    in_memory: AtomicUsize,
    memory: usize,
    spill: Mutex<Option<Spill>>,
    folder: PathBuf,
}

#[derive(Debug, Clone)]
enum Block {
    Memory(std::sync::Arc<Vec<u8>>),
    Disk { start: u64, length: usize },
}

/// The temporary file; it goes when this goes.
#[derive(Debug)]
struct Spill {
    file: Option<File>,
    path: PathBuf,
    length: u64,
}

impl Drop for Spill {
    fn drop(&mut self) {
        // Some systems remove no open file.
        self.file = None;
        let _ = fs::remove_file(&self.path);
    }
}

impl Rows {
    /// Room for so many blocks; beyond `memory` bytes they go to a file in `folder`.
    pub fn new(blocks: usize, memory: usize, folder: Option<&Path>) -> Self {
        let empty = || Mutex::new(Block::Memory(std::sync::Arc::default()));
        Rows {
            blocks: std::iter::repeat_with(empty).take(blocks).collect(),
            in_memory: AtomicUsize::new(0),
            memory,
            spill: Mutex::new(None),
            folder: folder.map_or_else(std::env::temp_dir, Path::to_path_buf),
        }
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Bytes in memory and on disk.
    pub fn bytes(&self) -> (u64, u64) {
        let spilled = self.spill.lock().ok().and_then(|s| s.as_ref().map(|s| s.length));
        (self.in_memory.load(Relaxed) as u64, spilled.unwrap_or(0))
    }

    /// Keeps the rows of a block.
    pub fn put(&self, number: usize, mut bytes: Vec<u8>) -> Result<()> {
        let length = bytes.len();
        let block = if self.in_memory.fetch_add(length, Relaxed) + length <= self.memory {
            bytes.shrink_to_fit();
            Block::Memory(bytes.into())
        } else {
            self.in_memory.fetch_sub(length, Relaxed);
            Block::Disk { start: self.spill(&bytes)?, length }
        };
        *self.blocks[number].lock().map_err(|_| Error::Interrupted)? = block;
        Ok(())
    }

    fn spill(&self, bytes: &[u8]) -> Result<u64> {
        static FILES: AtomicU64 = AtomicU64::new(0);
        let mut spill = self.spill.lock().map_err(|_| Error::Interrupted)?;
        if spill.is_none() {
            let number = FILES.fetch_add(1, Relaxed);
            let name = format!("wayword-waw-{}-{number}", std::process::id());
            let path = self.folder.join(name);
            let mut options = File::options();
            let file = options.read(true).write(true).create_new(true).open(&path);
            let file = Some(file.map_err(|source| Error::io(&path, source))?);
            *spill = Some(Spill { file, path, length: 0 });
        }
        let Some(Spill { file: Some(file), path, length }) = &mut *spill else {
            return Err(Error::Interrupted);
        };
        let start = *length;
        file.seek(SeekFrom::Start(start))
            .and_then(|_| file.write_all(bytes))
            .map_err(|source| Error::io(path, source))?;
        *length += bytes.len() as u64;
        Ok(start)
    }

    /// Hands the rows of a block to `run`; `buffer` is used for those on disk.
    pub fn with<T>(
        &self,
        number: usize,
        buffer: &mut Vec<u8>,
        run: impl FnOnce(&[u8]) -> T,
    ) -> Result<T> {
        let block = self.blocks[number].lock().map_err(|_| Error::Interrupted)?.clone();
        let (start, length) = match block {
            Block::Memory(bytes) => return Ok(run(&bytes)),
            Block::Disk { start, length } => (start, length),
        };
        buffer.resize(length, 0);
        {
            let mut spill = self.spill.lock().map_err(|_| Error::Interrupted)?;
            let Some(Spill { file: Some(file), path, .. }) = &mut *spill else {
                return Err(Error::Interrupted);
            };
            file.seek(SeekFrom::Start(start))
                .and_then(|_| file.read_exact(buffer))
                .map_err(|source| Error::io(path, source))?;
        }
        Ok(run(buffer))
    }
}

/// Adds a row: its label and the numbers of its features, which are sorted here.
pub fn push(bytes: &mut Vec<u8>, label: bool, numbers: &mut [u32]) {
    numbers.sort_unstable();
    put_number(bytes, (numbers.len() as u64) << 1 | u64::from(label));
    let mut last = 0;
    for &number in &*numbers {
        put_number(bytes, u64::from(number - last));
        last = number;
    }
}

fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads rows one after the other.
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// All rows of a block.
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { bytes, at: 0 }
    }

    #[inline]
    fn number(&mut self) -> u64 {
        let first = self.bytes[self.at];
        self.at += 1;
        if first < 0x80 {
            return u64::from(first);
        }
        let mut number = u64::from(first & 0x7f);
        let mut shift = 7;
        loop {
            let byte = self.bytes[self.at];
            self.at += 1;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return number;
            }
            shift += 7;
        }
    }

    /// The next row: its label, and its numbers into `numbers`; none at the end.
    #[inline]
    pub fn next(&mut self, numbers: &mut Vec<u32>) -> Option<bool> {
        if self.at == self.bytes.len() {
            return None;
        }
        let head = self.number();
        numbers.clear();
        let mut last = 0;
        for _ in 0..head >> 1 {
            last += self.number() as u32;
            numbers.push(last);
        }
        Some(head & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_come_back_sorted_from_memory_and_from_disk(
            blocks in proptest::collection::vec(
                proptest::collection::vec(
                    (any::<bool>(), proptest::collection::btree_set(0u32..3_000_000, 0..30)),
                    0..20,
                ),
                0..8,
            ),
            memory in 0usize..2000,
        ) {
            let rows = Rows::new(blocks.len(), memory, None);
            for (number, block) in blocks.iter().enumerate() {
                let mut bytes = Vec::new();
                for (label, ids) in block {
                    let mut ids: Vec<u32> = ids.iter().rev().copied().collect();
                    push(&mut bytes, *label, &mut ids);
                }
                rows.put(number, bytes).unwrap();
            }
            prop_assert!(rows.bytes().0 <= memory as u64);
            let mut buffer = Vec::new();
            for (number, block) in blocks.iter().enumerate() {
                rows.with(number, &mut buffer, |bytes| {
                    let mut reader = Reader::new(bytes);
                    let mut numbers = Vec::new();
                    for (label, ids) in block {
                        prop_assert_eq!(reader.next(&mut numbers), Some(*label));
                        prop_assert!(numbers.iter().eq(ids.iter()));
                    }
                    prop_assert_eq!(reader.next(&mut numbers), None);
                    Ok(())
                }).unwrap()?;
            }
        }
    }
}
