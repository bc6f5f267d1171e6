//! How the memory of a training is shared out.
//!
//! In: bytes. Out: how many pairs of words the lexicon may hold, and the room for counting them.
//! How: an eighth goes to the text; of what the words and the program leave, all goes to the
//! lexicon and its counts. While the lexicon is built there are no counts yet, and their half is
//! lent to the tables of `cooccur`.
//! Not: what the caller keeps, such as a bitext.

use super::FitOptions;
use super::shard::Shard;
use crate::corpus::Vocab;
use crate::error::{Error, Result};
use crate::storage::TempFolder;

/// The program itself and the scratch memory of its threads, whose number must not matter.
const PROGRAM: usize = 56 << 20;

/// What both scales, counts and sums of a word take.
const WORD: usize = 48;

/// A slot of the lexicon and its count; four slots hold three pairs.
const SLOT: usize = 16;

/// A lexicon below this many bytes is of no use.
const LEAST: usize = 16 << 20;

/// The limits of a training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Most pairs of words in the lexicon.
    pub pairs: usize,
    /// Bytes for counting which words occur together.
    pub counting: usize,
}

impl FitOptions {
    /// A text that keeps to its share of the memory.
    pub(super) fn empty_shard(&self) -> Shard {
        Shard::new(self.memory / 8, &TempFolder::new(self.temp_dir.as_deref()))
    }

    /// What the names of the words and the text leave for the lexicon.
    pub(super) fn room(&self, names: &[Vocab; 2]) -> Result<Room> {
        let words: usize = names.iter().map(|names| names.bytes() + WORD * names.len()).sum();
        let taken = PROGRAM + words;
        let rest = (self.memory - self.memory / 8).checked_sub(taken);
        let rest = rest.filter(|&rest| rest >= LEAST).ok_or_else(|| Error::Argument {
            name: "memory".into(),
            found: format!("{} MB", self.memory >> 20),
            expected: format!(
                "at least {} MB for a text of such words",
                (((taken + LEAST) / 7 * 8) >> 20) + 1
            ),
        })?;
        Ok(Room { pairs: (rest / SLOT * 3 / 4).saturating_sub(names[0].len()), counting: rest / 2 })
    }
}
