//! A training text, or a shard of one, in word numbers.
//!
//! In: sentence pairs as word numbers. Out: the same pairs in blocks, any number of times.
//! How: frequent words have small numbers, which take one or two bytes. Blocks beyond the memory
//! limit are in a temporary file and read one by one.
//! Cost: about 1.7 bytes per word.
//! Not: pairs without possible links (a side is blank or has more than `MAX_WORDS` words); they are
//! only counted.

use super::word_numbering::MAX_WORDS;
use super::word_numbering::{UNKNOWN, WordNumbering};
use crate::corpus::{Bitext, Vocab};
use crate::error::{Error, Place, Result};
use crate::job::Job;
use crate::narrow::{to_u32, to_usize};
use crate::parallel::BLOCK;
use crate::storage::{Cursor, TempFile, TempFolder, write_number};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Number of sentence pairs by (target words, source words).
pub type LengthCounts = BTreeMap<(usize, usize), u64>;

/// Sentence pairs for training.
#[derive(Debug)]
pub struct TextShard {
    /// The first blocks; blocks after `memory.len()` bytes are in the file.
    memory: Vec<u8>,
    file: TempFile,
    limit: usize,
    /// Offset of each block, and the end of the last.
    starts: Vec<u64>,
    /// Bytes of the unfinished block.
    open_block: Vec<u8>,
    pairs: usize,
    /// Counts of skipped pairs.
    pub skipped: SkippedPairs,
    /// Number of pairs by target and source length.
    pub length_counts: LengthCounts,
}

/// Counts of sentence pairs that cannot have links.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SkippedPairs {
    /// A side is blank.
    pub blank: usize,
    /// A side has more than `MAX_WORDS` words.
    pub too_long: usize,
}

/// The word numbers of a sentence pair.
#[derive(Debug, Default)]
pub struct PairWords {
    /// Source words.
    pub src: Vec<u32>,
    /// Target words.
    pub tgt: Vec<u32>,
}

impl PairWords {
    /// Return both sides, the source first.
    pub fn sides(&mut self) -> [&mut Vec<u32>; 2] {
        [&mut self.src, &mut self.tgt]
    }
}

impl TextShard {
    /// Create an empty text that keeps up to `limit` bytes in memory.
    pub fn new(limit: usize, folder: &Arc<TempFolder>) -> Self {
        TextShard {
            memory: Vec::new(),
            file: TempFile::new(folder.clone()),
            limit,
            starts: vec![0],
            open_block: Vec::new(),
            pairs: 0,
            skipped: SkippedPairs::default(),
            length_counts: LengthCounts::new(),
        }
    }

    /// Append a pair, or count it as skipped.
    pub fn push(&mut self, words: &PairWords) -> Result<()> {
        let lens = (words.src.len(), words.tgt.len());
        if lens.0.min(lens.1) == 0 {
            self.skipped.blank += 1;
            return Ok(());
        }
        if lens.0.max(lens.1) > MAX_WORDS {
            self.skipped.too_long += 1;
            return Ok(());
        }
        *self.length_counts.entry((lens.1, lens.0)).or_default() += 1;
        for side in [&words.src, &words.tgt] {
            write_number(&mut self.open_block, side.len() as u64);
            side.iter().for_each(|&word| write_number(&mut self.open_block, u64::from(word)));
        }
        self.pairs += 1;
        if self.pairs.is_multiple_of(BLOCK) { self.close_block() } else { Ok(()) }
    }

    fn close_block(&mut self) -> Result<()> {
        if self.open_block.is_empty() {
            return Ok(());
        }
        let fits = self.file.is_empty() && self.memory.len() + self.open_block.len() <= self.limit;
        if fits {
            self.memory.extend_from_slice(&self.open_block);
        } else {
            self.file.push(&self.open_block)?;
        }
        self.starts.push(self.memory.len() as u64 + self.file.len());
        self.open_block.clear();
        Ok(())
    }

    /// Append the bytes of a whole block. All blocks but the last have `BLOCK` pairs.
    pub(super) fn push_block(&mut self, bytes: &[u8]) -> Result<()> {
        self.open_block.extend_from_slice(bytes);
        self.close_block()
    }

    /// Finish writing whole blocks with a total of `pairs` pairs.
    pub(super) fn finish_with(mut self, pairs: usize) -> Result<Self> {
        self.pairs = pairs;
        if self.blocks() != pairs.div_ceil(BLOCK) {
            return Err(damage_error());
        }
        self.finish()
    }

    /// Return the length counts as a list of triples: target words, source words, pairs.
    pub(super) fn flat_length_counts(&self) -> Vec<u64> {
        let flat = |(&(tgt, src), &pairs): (&(usize, usize), &u64)| [tgt as u64, src as u64, pairs];
        self.length_counts.iter().flat_map(flat).collect()
    }

    /// Add length counts in the form of `flat_length_counts`.
    pub(super) fn add_flat_length_counts(&mut self, flat: &[u64]) {
        for shape in flat.chunks_exact(3) {
            let pairs =
                self.length_counts.entry((to_usize(shape[0]), to_usize(shape[1]))).or_default();
            *pairs = pairs.saturating_add(shape[2]);
        }
    }

    /// Finish writing.
    pub fn finish(mut self) -> Result<Self> {
        self.close_block()?;
        self.open_block = Vec::new();
        self.memory.shrink_to_fit();
        Ok(self)
    }

    /// Return the number of pairs that can have links.
    pub fn len(&self) -> usize {
        self.pairs
    }

    /// Return the number of all pairs, with the skipped ones.
    pub fn all_pairs(&self) -> usize {
        self.pairs + self.skipped.blank + self.skipped.too_long
    }

    /// Return the size of the text in bytes, in memory and on disk.
    pub fn bytes(&self) -> usize {
        to_usize(self.starts[self.starts.len() - 1])
    }

    /// Return the number of blocks of up to `BLOCK` pairs.
    pub fn blocks(&self) -> usize {
        self.starts.len() - 1
    }

    /// Return a reader of a block; `buffer` is scratch memory.
    pub fn block<'a>(&'a self, number: usize, buffer: &'a mut Vec<u8>) -> Result<ShardBlock<'a>> {
        let (start, end) = (self.starts[number], self.starts[number + 1]);
        let in_memory = self.memory.len() as u64;
        if end <= in_memory {
            return Ok(ShardBlock(Cursor::new(&self.memory[to_usize(start)..to_usize(end)])));
        }
        buffer.resize(to_usize(end - start), 0);
        self.file.read(start - in_memory, buffer)?;
        Ok(ShardBlock(Cursor::new(buffer)))
    }
}

/// A reader of the pairs of a block.
#[derive(Debug)]
pub struct ShardBlock<'a>(Cursor<'a>);

impl<'a> ShardBlock<'a> {
    /// Return the bytes of the block before the first read.
    pub fn bytes(&self) -> &'a [u8] {
        self.0.rest()
    }

    /// Read the next pair; return false at the end of the block.
    pub fn next(&mut self, words: &mut PairWords) -> Result<bool> {
        if self.0.is_at_end() {
            return Ok(false);
        }
        for side in [&mut words.src, &mut words.tgt] {
            read_side(&mut self.0, side).ok_or_else(damage_error)?;
        }
        Ok(true)
    }
}

fn read_side(bytes: &mut Cursor<'_>, side: &mut Vec<u32>) -> Option<()> {
    let len = bytes.small().filter(|&len| len <= to_u32(MAX_WORDS))?;
    side.clear();
    for _ in 0..len {
        side.push(bytes.small()?);
    }
    Some(())
}

/// Append the lines of files as word numbers; `vocab` contains their words.
pub fn number_files(
    files: &[(PathBuf, PathBuf)],
    vocab: &Vocab,
    numbers: &[WordNumbering; 2],
    text: &mut TextShard,
    job: &Job,
) -> Result<()> {
    let number =
        |side: usize, word: &str| vocab.id(word).map_or(UNKNOWN, |id| numbers[side].number(id));
    let mut words = PairWords::default();
    for (src, tgt) in files {
        Bitext::visit_files(src, tgt, job, |src, tgt| {
            for (side, (numbers, line)) in words.sides().into_iter().zip([src, tgt]).enumerate() {
                numbers.clear();
                numbers.extend(line.split_whitespace().map(|word| number(side, word)));
            }
            text.push(&words)
        })?;
    }
    Ok(())
}

fn damage_error() -> Error {
    Error::Format {
        place: Place::file(Path::new("temporary file")),
        found: "numbers that are not ours".into(),
        expected: "the text as it was written".into(),
        advice: "is the disk full, or did something else write there?".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_pushed_is_read_with_any_memory(
            pairs in prop::collection::vec(
                (prop::collection::vec(0u32..70_000, 0..9), prop::collection::vec(0u32..300, 0..9)),
                0..700,
            ),
            limit in 0usize..3000,
        ) {
            let mut shard = TextShard::new(limit, &TempFolder::new(None));
            for (src, tgt) in &pairs {
                shard.push(&PairWords { src: src.clone(), tgt: tgt.clone() }).unwrap();
            }
            let shard = shard.finish().unwrap();
            prop_assert_eq!(shard.all_pairs(), pairs.len());
            let is_alignable = |pair: &&(Vec<u32>, Vec<u32>)| !pair.0.is_empty() && !pair.1.is_empty();
            let (mut words, mut buffer) = (PairWords::default(), Vec::new());
            for _ in 0..2 {
                let mut kept = pairs.iter().filter(is_alignable);
                for number in 0..shard.blocks() {
                    let mut block = shard.block(number, &mut buffer).unwrap();
                    while block.next(&mut words).unwrap() {
                        let (src, tgt) = kept.next().unwrap();
                        prop_assert_eq!((src, tgt), (&words.src, &words.tgt));
                    }
                }
                prop_assert!(kept.next().is_none());
            }
        }
    }
}
