//! The words of one side of a table, by id and by spelling.
//!
//! In: their part of the file: number, end of each word's letters, ids by spelling, letters.
//! Out: word by id, id by word. Cost: a look-up by spelling is a binary search.

use crate::corpus::WordId;
use crate::narrow::to_u32;
use crate::storage::short_at;

/// Words of one side of a table.
#[derive(Debug, Clone, Copy)]
pub struct Words<'t> {
    pub(super) bytes: &'t [u8],
    pub(super) len: usize,
}

impl<'t> Words<'t> {
    pub(super) fn new(bytes: &'t [u8]) -> Option<Self> {
        let len = short_at(bytes, 0)? as usize;
        (bytes.len() >= len.checked_mul(8)?.checked_add(4)?).then_some(Words { bytes, len })
    }

    /// Makes sure that every word and id can be read; the number of words.
    pub(super) fn check(self) -> Option<usize> {
        let letters = std::str::from_utf8(self.letters()).ok()?;
        let mut last = 0;
        for id in 0..self.len {
            let end = self.number(id)? as usize;
            (end > last && letters.is_char_boundary(end)).then_some(())?;
            (self.number(self.len + id)? < to_u32(self.len)).then_some(())?;
            last = end;
        }
        (last == letters.len()).then_some(self.len)
    }

    fn number(self, at: usize) -> Option<u32> {
        short_at(self.bytes, 4 + 4 * at)
    }

    fn letters(self) -> &'t [u8] {
        &self.bytes[4 + 8 * self.len..]
    }

    /// Number of words.
    pub fn len(self) -> usize {
        self.len
    }

    /// Whether there is no word.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The word with this id; none when there is no such id.
    pub fn word(self, id: WordId) -> Option<&'t str> {
        let id = id as usize;
        let end = (id < self.len).then(|| self.number(id))??;
        let start = if id == 0 { 0 } else { self.number(id - 1)? };
        std::str::from_utf8(self.letters().get(start as usize..end as usize)?).ok()
    }

    /// The id of a word; none when the table does not have it.
    pub fn id(self, word: &str) -> Option<WordId> {
        let (mut low, mut high) = (0, self.len);
        while low < high {
            let middle = (low + high) / 2;
            let id = self.number(self.len + middle)?;
            match self.word(id)?.cmp(word) {
                std::cmp::Ordering::Equal => return Some(id),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }
}
