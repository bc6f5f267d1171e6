//! Division of the memory limit of training.
//!
//! In: bytes. Out: the maximal number of word pairs in the lexicon, and the bytes for counting
//! them.
//! How: an eighth is for the text; the remainder after the vocabulary and the program is for the
//! lexicon and its counts. While the lexicon is built it has no counts, so their half is available
//! to the tables of `cooccurrence`.
//! Not: memory of the caller, such as a bitext.

use super::options::AlignerOptions;
use super::text_shard::TextShard;
use crate::corpus::Vocab;
use crate::error::{Error, Result};
use crate::storage::TempFolder;

/// Bytes of the program and the scratch memory of threads; constant, because the number of threads
/// must not change the result.
const PROGRAM_BYTES: usize = 56 << 20;

/// Bytes of the scales, counts and sums of a word.
const WORD_BYTES: usize = 48;

/// Bytes of a lexicon slot and its count; four slots hold three pairs.
const SLOT_BYTES: usize = 16;

/// Minimal useful size of the lexicon in bytes.
const MIN_LEXICON_BYTES: usize = 16 << 20;

/// Memory limits of a training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryBudget {
    /// Maximal number of word pairs in the lexicon.
    pub pairs: usize,
    /// Bytes for counting co-occurrences.
    pub counting: usize,
}

impl AlignerOptions {
    /// Create an empty text with its part of the memory.
    pub(super) fn new_shard(&self) -> TextShard {
        TextShard::new(self.memory / 8, &TempFolder::new(self.temp_dir.as_deref()))
    }

    /// Compute the limits of the lexicon after the vocabulary and the text.
    pub(super) fn budget(&self, names: &[Vocab; 2]) -> Result<MemoryBudget> {
        let words: usize = names.iter().map(|names| names.bytes() + WORD_BYTES * names.len()).sum();
        let reserved = PROGRAM_BYTES + words;
        let available = (self.memory - self.memory / 8).checked_sub(reserved);
        let available =
            available.filter(|&available| available >= MIN_LEXICON_BYTES).ok_or_else(|| {
                Error::Argument {
                    name: "memory".into(),
                    found: format!("{} MB", self.memory >> 20),
                    expected: format!(
                        "at least {} MB for a text of such words",
                        (((reserved + MIN_LEXICON_BYTES) / 7 * 8) >> 20) + 1
                    ),
                }
            })?;
        Ok(MemoryBudget {
            pairs: (available / SLOT_BYTES * 3 / 4).saturating_sub(names[0].len()),
            counting: available / 2,
        })
    }
}
