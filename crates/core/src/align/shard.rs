//! A text to learn from, in the numbers of a model: the whole text, or a part of it.
//!
//! In: sentence pairs as numbers of words. Out: the same pairs, block by block, as often as wanted.
//! How: frequent words have small numbers, which take a byte or two. What goes over the limit is
//! read from a temporary file, a block at a time, so that memory does not grow with the text.
//! Cost: about 1.7 bytes a word.
//! Not: pairs that can have no links (a side is blank, or has over `MAX_WORDS` words); they are
//! only counted.

use super::diagonal::Shapes;
use super::numbered::MAX_WORDS;
use super::words::{Numbering, UNKNOWN};
use crate::corpus::{Bitext, Vocab};
use crate::error::{Error, Place, Result};
use crate::job::Job;
use crate::narrow::{to_u32, to_usize};
use crate::parallel::BLOCK;
use crate::storage::{Cursor, TempFile, TempFolder, write_number};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Sentence pairs to learn from.
#[derive(Debug)]
pub struct Shard {
    /// The first blocks; those after `memory.len()` bytes are in the file.
    memory: Vec<u8>,
    file: TempFile,
    limit: usize,
    /// Where each block starts, and where the last ends.
    starts: Vec<u64>,
    /// The block that is being filled.
    open: Vec<u8>,
    pairs: usize,
    /// What was left out.
    pub left_out: LeftOut,
    /// How many pairs have each number of target and of source words.
    pub shapes: Shapes,
}

/// Pairs that can have no links.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// A side is blank.
    pub blank: usize,
    /// A side has over `MAX_WORDS` words.
    pub too_long: usize,
}

/// The words of a pair, by number.
#[derive(Debug, Default)]
pub struct Words {
    /// Of the source.
    pub src: Vec<u32>,
    /// Of the target.
    pub tgt: Vec<u32>,
}

impl Words {
    /// Both sides, the source first.
    pub fn sides(&mut self) -> [&mut Vec<u32>; 2] {
        [&mut self.src, &mut self.tgt]
    }
}

impl Shard {
    /// An empty text that keeps up to `limit` bytes in memory.
    pub fn new(limit: usize, folder: &Arc<TempFolder>) -> Self {
        Shard {
            memory: Vec::new(),
            file: TempFile::new(folder.clone()),
            limit,
            starts: vec![0],
            open: Vec::new(),
            pairs: 0,
            left_out: LeftOut::default(),
            shapes: Shapes::new(),
        }
    }

    /// Adds a pair.
    pub fn push(&mut self, words: &Words) -> Result<()> {
        let lens = (words.src.len(), words.tgt.len());
        if lens.0.min(lens.1) == 0 {
            self.left_out.blank += 1;
            return Ok(());
        }
        if lens.0.max(lens.1) > MAX_WORDS {
            self.left_out.too_long += 1;
            return Ok(());
        }
        *self.shapes.entry((lens.1, lens.0)).or_default() += 1;
        for side in [&words.src, &words.tgt] {
            write_number(&mut self.open, side.len() as u64);
            side.iter().for_each(|&word| write_number(&mut self.open, u64::from(word)));
        }
        self.pairs += 1;
        if self.pairs.is_multiple_of(BLOCK) { self.close() } else { Ok(()) }
    }

    fn close(&mut self) -> Result<()> {
        if self.open.is_empty() {
            return Ok(());
        }
        let fits = self.file.is_empty() && self.memory.len() + self.open.len() <= self.limit;
        if fits {
            self.memory.extend_from_slice(&self.open);
        } else {
            self.file.push(&self.open)?;
        }
        self.starts.push(self.memory.len() as u64 + self.file.len());
        self.open.clear();
        Ok(())
    }

    /// Adds the bytes of a whole block; blocks but the last have `BLOCK` pairs.
    pub(super) fn push_block(&mut self, bytes: &[u8]) -> Result<()> {
        self.open.extend_from_slice(bytes);
        self.close()
    }

    /// Ends the writing of blocks that hold so many pairs.
    pub(super) fn finish_with(mut self, pairs: usize) -> Result<Self> {
        self.pairs = pairs;
        if self.blocks() != pairs.div_ceil(BLOCK) {
            return Err(cut());
        }
        self.finish()
    }

    /// The shapes as numbers: target words, source words, pairs, again and again.
    pub(super) fn flat_shapes(&self) -> Vec<u64> {
        let flat = |(&(tgt, src), &pairs): (&(usize, usize), &u64)| [tgt as u64, src as u64, pairs];
        self.shapes.iter().flat_map(flat).collect()
    }

    /// Adds shapes as `flat_shapes` gives them.
    pub(super) fn add_flat_shapes(&mut self, flat: &[u64]) {
        for shape in flat.chunks_exact(3) {
            let pairs = self.shapes.entry((to_usize(shape[0]), to_usize(shape[1]))).or_default();
            *pairs = pairs.saturating_add(shape[2]);
        }
    }

    /// Ends the writing.
    pub fn finish(mut self) -> Result<Self> {
        self.close()?;
        self.open = Vec::new();
        self.memory.shrink_to_fit();
        Ok(self)
    }

    /// Number of pairs that can have links.
    pub fn len(&self) -> usize {
        self.pairs
    }

    /// Number of all pairs that were added.
    pub fn all_pairs(&self) -> usize {
        self.pairs + self.left_out.blank + self.left_out.too_long
    }

    /// Bytes of the text, wherever they are.
    pub fn bytes(&self) -> usize {
        to_usize(self.starts[self.starts.len() - 1])
    }

    /// Number of blocks of up to `BLOCK` pairs.
    pub fn blocks(&self) -> usize {
        self.starts.len() - 1
    }

    /// The pairs of a block; `buffer` is scratch memory.
    pub fn block<'a>(&'a self, number: usize, buffer: &'a mut Vec<u8>) -> Result<Block<'a>> {
        let (start, end) = (self.starts[number], self.starts[number + 1]);
        let in_memory = self.memory.len() as u64;
        if end <= in_memory {
            return Ok(Block(Cursor::new(&self.memory[to_usize(start)..to_usize(end)])));
        }
        buffer.resize(to_usize(end - start), 0);
        self.file.read(start - in_memory, buffer)?;
        Ok(Block(Cursor::new(buffer)))
    }
}

/// The pairs of a block, one after the other.
#[derive(Debug)]
pub struct Block<'a>(Cursor<'a>);

impl<'a> Block<'a> {
    /// Its bytes, as long as nothing was read.
    pub fn bytes(&self) -> &'a [u8] {
        self.0.rest()
    }

    /// Reads the next pair; false at the end of the block.
    pub fn next(&mut self, words: &mut Words) -> Result<bool> {
        if self.0.is_at_end() {
            return Ok(false);
        }
        for side in [&mut words.src, &mut words.tgt] {
            read_side(&mut self.0, side).ok_or_else(cut)?;
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

/// Adds the lines of files to a text in numbers; `vocab` holds their words.
pub fn number_lines(
    files: &[(PathBuf, PathBuf)],
    vocab: &Vocab,
    numbers: &[Numbering; 2],
    text: &mut Shard,
    job: &Job,
) -> Result<()> {
    let number =
        |side: usize, word: &str| vocab.id(word).map_or(UNKNOWN, |id| numbers[side].number(id));
    let mut words = Words::default();
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

fn cut() -> Error {
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
            let mut shard = Shard::new(limit, &TempFolder::new(None));
            for (src, tgt) in &pairs {
                shard.push(&Words { src: src.clone(), tgt: tgt.clone() }).unwrap();
            }
            let shard = shard.finish().unwrap();
            prop_assert_eq!(shard.all_pairs(), pairs.len());
            let has_links = |pair: &&(Vec<u32>, Vec<u32>)| !pair.0.is_empty() && !pair.1.is_empty();
            let (mut words, mut buffer) = (Words::default(), Vec::new());
            for _ in 0..2 {
                let mut kept = pairs.iter().filter(has_links);
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
