//! The file of a phrase table: its parts, and writing them.
//!
//! ```text
//! header        sealed with `wwphrase`; its numbers: flags and the longest phrase, source
//!               phrases, pairs, sentences; place, length and checksum of every part
//! blocks        one per source phrase, sorted: see below
//! index         (u64) by hash of the source phrase: top 24 bits of evidence, 40 bits of place
//! source words  number, end of each word's letters (u32), places by spelling (u32), letters
//! target words  the same
//! rows          (f32 × 7) ln p of M, S, DL, DR, then of M, S, D
//! sets          (u32 × rows of an option) numbers of rows: prev and next of each model
//! recipe        text: how the table was made
//! ```
//!
//! A block: checksum (u32) and length of the rest; number of source words and their ids; with
//! counts, how often the phrase was extracted; number of options; the options. An option: number
//! of target words and their ids; number of links and the links (a byte each, the source position
//! in the upper half, or two bytes when phrases may be longer than 16); four scores (f32, or
//! u16 in steps of 1/512 below 0 when packed); with counts, those of the pair and of the target
//! phrase; with orientation, the number of its set plus one, 0 for none.
//!
//! All numbers are little-endian; sizes, ids and counts inside blocks have seven bits a byte.
//! Words are numbered by falling frequency, equal ones by spelling, so that ids are short.

use super::blocks::NewBlocks;
use super::index::IndexWriter;
use crate::Job;
use crate::corpus::WordId;
use crate::error::Result;
use crate::narrow::{low_u32, to_u16, to_u32, whole};
use crate::orientation::{Model, ROWS};
use crate::storage::{Seal, SealedFile, TempFolder, write_number};
use hashbrown::HashTable;
use std::path::Path;
use std::sync::Arc;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// The header.
pub(crate) const SEAL: Seal = Seal {
    magic: *b"wwphrase",
    version: 2,
    numbers: 4 + PARTS * 3,
    what: "a phrase table",
    advice: "copy the file again, or make it again with `wayword extract`",
};
/// Length of the header.
pub(super) const START: usize = SEAL.size();
/// Steps of a packed score below one natural logarithm.
pub(super) const STEPS: f32 = 512.0;
/// Lowest score that is stored.
pub(super) const FLOOR: f32 = -100.0;
/// Longest phrases whose links take one byte each.
pub(super) const SHORT: usize = 16;

/// Parts of the file, in order.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part {
    Blocks,
    Index,
    SrcWords,
    TgtWords,
    Rows,
    Sets,
    Recipe,
}

pub(super) const PARTS: usize = 7;

/// What a table holds besides phrases and scores.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Contents {
    /// Scores take 16 bits instead of 32.
    pub packed: bool,
    /// Extraction counts are kept.
    pub counts: bool,
    /// Orientation models, by their place in `Model::ALL`.
    pub models: [bool; 3],
    /// Probabilities of M, S and D are known.
    pub msd: bool,
    /// Probabilities of M, S, DL and DR are known.
    pub mslr: bool,
}

impl Contents {
    pub(super) fn flags(self) -> u32 {
        let bits = [self.packed, self.counts, self.msd, self.mslr];
        let bits = bits.into_iter().chain(self.models);
        bits.enumerate().map(|(at, bit)| u32::from(bit) << at).sum()
    }

    pub(super) fn from_flags(flags: u32) -> Option<Self> {
        let bit = |at: u32| flags >> at & 1 == 1;
        let models = [bit(4), bit(5), bit(6)];
        let contents =
            Contents { packed: bit(0), counts: bit(1), msd: bit(2), mslr: bit(3), models };
        (flags < 1 << 7).then_some(contents)
    }

    /// Number of orientation rows of an option.
    pub fn rows(self) -> usize {
        2 * self.models.iter().filter(|&&has| has).count()
    }

    /// The place of a model's `prev` row in an option's set.
    pub(super) fn row_of(self, model: Model) -> Option<usize> {
        let before = self.models[..model as usize].iter().filter(|&&has| has).count();
        self.models[model as usize].then_some(2 * before)
    }
}

/// ln p of M, S, DL, DR, then of M, S, D.
pub type RowScores = [f32; 7];

/// One translation of a source phrase, ready to be written.
#[derive(Debug, Clone, Default)]
pub struct NewOption {
    /// Target words.
    pub tgt: Vec<WordId>,
    /// Source and target position of each link, two bytes a link.
    pub links: Vec<u8>,
    /// The four scores, as natural logarithms.
    pub scores: [f32; 4],
    /// How often the pair and the target phrase were extracted.
    pub counts: (u64, u64),
    /// The place of its orientation scores, from `NewBlocks::add_set`.
    pub set: Option<u32>,
}

/// The words of a table with their ids.
#[derive(Debug, Default)]
pub struct NewWords {
    /// Words by id.
    words: Vec<String>,
}

impl NewWords {
    /// Numbers words by falling frequency, then spelling; also the id of each word given.
    pub fn new<'a>(words: impl Iterator<Item = (&'a str, u64)>) -> (Self, Vec<WordId>) {
        let words: Vec<_> = words.collect();
        let mut order: Vec<usize> = (0..words.len()).collect();
        order.sort_unstable_by_key(|&at| (std::cmp::Reverse(words[at].1), words[at].0));
        let mut ids = vec![0; words.len()];
        for (id, &at) in order.iter().enumerate() {
            ids[at] = to_u32(id);
        }
        let words = order.iter().map(|&at| words[at].0.to_owned()).collect();
        (NewWords { words }, ids)
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&to_u32(self.words.len()).to_le_bytes());
        let mut end = 0u32;
        for word in &self.words {
            end += to_u32(word.len());
            out.extend_from_slice(&end.to_le_bytes());
        }
        let mut order: Vec<u32> = (0..to_u32(self.words.len())).collect();
        order.sort_unstable_by_key(|&id| &self.words[id as usize]);
        order.iter().for_each(|id| out.extend_from_slice(&id.to_le_bytes()));
        self.words.iter().for_each(|word| out.extend_from_slice(word.as_bytes()));
    }
}

/// Hash of a source phrase; it is part of the format.
#[inline]
pub(super) fn hash(words: impl IntoIterator<Item = WordId>) -> u64 {
    let mut hash = 0x9e37_79b9_7f4a_7c15u64;
    for word in words {
        hash = (hash ^ u64::from(word)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        hash ^= hash >> 32;
    }
    hash = hash.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ hash >> 29
}

/// Slot where the search for a hash begins.
#[inline]
pub(super) fn slot(hash: u64, slots: u64) -> u64 {
    ((u128::from(hash) * u128::from(slots)) >> 64) as u64
}

/// The evidence a slot keeps of a hash.
#[inline]
pub(super) fn evidence(hash: u64) -> u64 {
    hash & 0xff_ffff
}

/// A score in 16 bits.
pub(super) fn pack(score: f32) -> u16 {
    to_u16(whole(f64::from((-score * STEPS).round()).clamp(0.0, f64::from(u16::MAX))))
}

/// Writes a table, one source phrase after the other.
pub struct TableWriter {
    file: SealedFile,
    contents: Contents,
    max_length: usize,
    sentences: u64,
    hash: Xxh3,
    index: IndexWriter,
    pairs: u64,
    rows: Numbered,
    sets: Numbered,
    /// Scratch memory.
    out: Vec<u8>,
}

impl TableWriter {
    /// Begins a table, whose index takes about `memory` bytes and then files in `folder`.
    pub fn create(
        path: &Path,
        contents: Contents,
        (max_length, sentences): (usize, u64),
        memory: usize,
        folder: &Arc<TempFolder>,
    ) -> Result<Self> {
        Ok(TableWriter {
            file: SealedFile::create(path, SEAL)?,
            contents,
            max_length,
            sentences,
            hash: Xxh3::new(),
            index: IndexWriter::new(memory, folder),
            pairs: 0,
            rows: Numbered::new(4 * 7),
            sets: Numbered::new(4 * contents.rows()),
            out: Vec::new(),
        })
    }

    /// Writes the next blocks.
    pub fn write(&mut self, blocks: &NewBlocks) -> Result<()> {
        let numbers: Vec<u32> = blocks.sets.iter().map(|rows| self.set(rows)).collect();
        let TableWriter { file, index, out, .. } = self;
        out.clear();
        let start = file.size();
        let mut is_indexed = Ok(());
        blocks.each(&numbers, |hash, body| {
            let place = start + out.len() as u64;
            is_indexed = std::mem::replace(&mut is_indexed, Ok(())).and(index.push(hash, place));
            out.extend_from_slice(&low_u32(xxh3_64(body)).to_le_bytes());
            write_number(out, body.len() as u64);
            out.extend_from_slice(body);
        });
        is_indexed?;
        self.pairs += blocks.pairs() as u64;
        self.hash.update(&self.out);
        self.file.write(&self.out)
    }

    /// The number of a set of rows, which is added when new: the `prev` and the `next` row of each
    /// model the table has, then whatever.
    fn set(&mut self, rows: &[RowScores; ROWS]) -> u32 {
        let mut set = [0; 4 * ROWS];
        let mut bytes = [0; 4 * 7];
        let width = self.contents.rows();
        for (slot, row) in set.chunks_exact_mut(4).zip(&rows[..width]) {
            for (score, value) in bytes.chunks_exact_mut(4).zip(row) {
                score.copy_from_slice(&value.to_le_bytes());
            }
            slot.copy_from_slice(&self.rows.number(&bytes).to_le_bytes());
        }
        self.sets.number(&set[..4 * width])
    }

    /// Writes everything else and gives the file its name; the number of bytes and of pairs.
    pub fn finish(
        mut self,
        src: &NewWords,
        tgt: &NewWords,
        recipe: &str,
        job: &Job,
    ) -> Result<(u64, u64)> {
        let start = START as u64;
        let mut parts = vec![start, self.file.size() - start, self.hash.digest()];
        let phrases = self.index.len();
        let (at, mut sum) = (self.file.size(), Xxh3::new());
        self.index.finish(job, |bytes| {
            sum.update(bytes);
            self.file.write(bytes)
        })?;
        parts.extend([at, self.file.size() - at, sum.digest()]);
        let mut add = |file: &mut SealedFile, bytes: &[u8]| {
            parts.extend([file.size(), bytes.len() as u64, xxh3_64(bytes)]);
            file.write(bytes)
        };
        let mut bytes = Vec::new();
        for words in [src, tgt] {
            bytes.clear();
            words.write(&mut bytes);
            add(&mut self.file, &bytes)?;
        }
        for part in [&self.rows.bytes[..], &self.sets.bytes, recipe.as_bytes()] {
            add(&mut self.file, part)?;
        }
        let flags = u64::from(self.contents.flags()) | (self.max_length as u64) << 32;
        let mut numbers = vec![flags, phrases, self.pairs, self.sentences];
        numbers.append(&mut parts);
        let size = self.file.size();
        self.file.finish(&numbers)?;
        Ok((size, self.pairs))
    }
}

/// Values of some bytes each, numbered by first appearance.
struct Numbered {
    width: usize,
    bytes: Vec<u8>,
    numbers: HashTable<u32>,
}

impl Numbered {
    fn new(width: usize) -> Self {
        Numbered { width, bytes: Vec::new(), numbers: HashTable::new() }
    }

    /// The number of a value, which is added when new.
    fn number(&mut self, value: &[u8]) -> u32 {
        let Numbered { width, bytes, numbers } = self;
        let known = |number: u32| &bytes[number as usize * *width..][..*width];
        let hash = xxh3_64(value);
        if let Some(&number) = numbers.find(hash, |&number| known(number) == value) {
            return number;
        }
        let number = to_u32(numbers.len());
        numbers.insert_unique(hash, number, |&number| xxh3_64(known(number)));
        bytes.extend_from_slice(value);
        number
    }
}
