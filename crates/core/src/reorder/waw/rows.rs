//! Training samples as short rows of bytes, in memory or on disk.
//!
//! In: samples as numbers of features. Out: the same again, block by block, as often as asked.
//! How: a row is its length and label, then the differences of its sorted numbers, seven bits a
//! byte; frequent features have small numbers, so most take one or two bytes.
//! Cost: some 15 bytes a sample with all templates. Beyond the given memory blocks go to a
//! temporary file, which is read front to back by each pass.

use crate::error::Result;
use crate::storage::{Cursor, TempFile, TempFolder, write_number};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Rows of bytes by block.
#[derive(Debug)]
pub struct Rows {
    blocks: Vec<OnceLock<Block>>,
    in_memory: AtomicUsize,
    memory: usize,
    file: TempFile,
}

#[derive(Debug)]
enum Block {
    Memory(Vec<u8>),
    Disk { start: u64, length: usize },
}

impl Rows {
    /// Room for so many blocks; beyond `memory` bytes they go to a file in `folder`.
    pub fn new(blocks: usize, memory: usize, folder: Option<&Path>) -> Self {
        Rows {
            blocks: std::iter::repeat_with(OnceLock::new).take(blocks).collect(),
            in_memory: AtomicUsize::new(0),
            memory,
            file: TempFile::new(TempFolder::new(folder)),
        }
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Bytes in memory and on disk.
    pub fn bytes(&self) -> (u64, u64) {
        (self.in_memory.load(Relaxed) as u64, self.file.len())
    }

    /// Keeps the rows of a block; each is put once.
    pub fn put(&self, number: usize, mut bytes: Vec<u8>) -> Result<()> {
        let length = bytes.len();
        let block = if self.in_memory.fetch_add(length, Relaxed) + length <= self.memory {
            bytes.shrink_to_fit();
            Block::Memory(bytes)
        } else {
            self.in_memory.fetch_sub(length, Relaxed);
            Block::Disk { start: self.file.push(&bytes)?, length }
        };
        let is_first = self.blocks[number].set(block).is_ok();
        debug_assert!(is_first, "a block is put once");
        Ok(())
    }

    /// Hands the rows of a block to `run`; `buffer` is used for those on disk.
    pub fn with<T>(
        &self,
        number: usize,
        buffer: &mut Vec<u8>,
        run: impl FnOnce(&[u8]) -> T,
    ) -> Result<T> {
        match self.blocks[number].get() {
            None => Ok(run(&[])),
            Some(Block::Memory(bytes)) => Ok(run(bytes)),
            Some(&Block::Disk { start, length }) => {
                buffer.resize(length, 0);
                self.file.read(start, buffer)?;
                Ok(run(buffer))
            }
        }
    }
}

/// Adds a row: its label and the numbers of its features, which are sorted here.
pub fn push(bytes: &mut Vec<u8>, label: bool, numbers: &mut [u32]) {
    numbers.sort_unstable();
    write_number(bytes, (numbers.len() as u64) << 1 | u64::from(label));
    let mut last = 0;
    for &number in &*numbers {
        write_number(bytes, u64::from(number - last));
        last = number;
    }
}

/// Reads rows one after the other.
pub struct Reader<'a> {
    cursor: Cursor<'a>,
}

impl<'a> Reader<'a> {
    /// All rows of a block.
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { cursor: Cursor::new(bytes) }
    }

    /// The next row: its label, and its numbers into `numbers`; none at the end.
    #[inline]
    pub fn next(&mut self, numbers: &mut Vec<u32>) -> Option<bool> {
        let head = self.cursor.number()?;
        numbers.clear();
        let mut last = 0;
        for _ in 0..head >> 1 {
            last += self.cursor.small()?;
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
