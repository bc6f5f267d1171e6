//! How a mapped model lies in its file; `docs/lm.md` has the table.
//!
//! In: the numbers in the header. Out: where each part begins, with every sum checked, so that
//! a damaged header gives an error and never a place outside the file.
//! All numbers are little-endian; parts begin at multiples of 64 bytes.

use super::MAX_ORDER;
use crate::narrow::to_usize;
use crate::storage::{Checked, Flaw, Seal, short_at};
use std::ops::Range;

/// The header: order, seed, numbers of n-grams by order, letters.
pub const SEAL: Seal = Seal {
    magic: *b"wwlmodel",
    version: 2,
    numbers: MAX_ORDER + 3,
    what: "a language model",
    advice: "copy the file again, or make it again from text or ARPA",
};
/// How files of version 1 began.
pub const FORMER_MAGIC: &[u8] = b"wayword lm\r\n";
/// Bytes of the header.
pub const HEADER: usize = SEAL.size();
/// Bytes of a slot that holds hash, probability and backoff.
pub const SLOT: usize = 16;
/// Bytes of a slot that holds a hash and one number.
pub const SHORT_SLOT: usize = 12;
/// The hash in a slot that is not used; no n-gram has it.
pub const FREE: u64 = u64::MAX;

/// Bytes of a line: what the processor loads at once. Slots never straddle two.
pub const LINE: usize = 64;
/// Of four slots, three are used on average.
const FILL: (u64, u64) = (3, 4);
/// Lines after the last home for what runs over; more never happens with a good hash.
const OVERRUN: u64 = 256;

/// A hash table of lines with some slots each; entries stand in the order of their hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Its bytes in the file.
    pub range: Range<usize>,
    /// Number of lines that are the home of a hash.
    pub homes: u64,
    /// Number of lines.
    pub lines: u64,
}

/// The line where the search for a hash begins.
pub fn home(hash: u64, homes: u64) -> u64 {
    ((u128::from(hash) * u128::from(homes)) >> 64) as u64
}

/// The hash of a word by itself; `seed` is the file's.
pub fn first_hash(seed: u64, word: u32) -> u64 {
    next_hash(seed, word)
}

/// The hash of an n-gram with one more word before it.
pub fn next_hash(hash: u64, word: u32) -> u64 {
    let word = (u64::from(word) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (hash.rotate_left(29) ^ word).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

/// The hash as it is stored: never `FREE`.
pub fn stored(hash: u64) -> u64 {
    hash.min(FREE - 1)
}

/// The numbers a header holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Length of the longest n-grams.
    pub order: usize,
    /// What hashes begin with.
    pub seed: u64,
    /// Number of n-grams by order.
    pub counts: [u64; MAX_ORDER],
    /// Bytes of all words.
    pub letters: u64,
}

/// Where everything lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Where each word's letters end, 4 bytes a word.
    pub ends: Range<usize>,
    /// The letters of all words.
    pub letters: Range<usize>,
    /// From the hash of a word to its number.
    pub vocab: Table,
    /// Probability and backoff, 8 bytes a word.
    pub unigrams: Range<usize>,
    /// From order 2 up.
    pub tables: Vec<Table>,
    /// From order 2 up: the oldest word of each n-gram in suffix order, 4 bytes each.
    pub lists: Vec<Range<usize>>,
    /// Bytes of the file.
    pub size: usize,
}

/// Places parts one after the other; none when a sum does not fit.
struct Places(u64);

impl Places {
    fn take(&mut self, count: u64, size: usize) -> Option<Range<usize>> {
        let start = self.0.checked_next_multiple_of(LINE as u64)?;
        let end = start.checked_add(count.checked_mul(size as u64)?)?;
        self.0 = end;
        Some(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
    }

    fn table(&mut self, count: u64, slot: usize) -> Option<Table> {
        let per_line = (LINE / slot) as u64;
        let homes = (count.checked_mul(FILL.1)? / FILL.0 / per_line).checked_add(1)?;
        let lines = homes.checked_add(count.div_ceil(per_line).min(OVERRUN))?;
        Some(Table { range: self.take(lines, LINE)?, homes, lines })
    }
}

impl Layout {
    /// The layout of a file with these numbers; none when there can be no such file.
    pub fn new(header: &Header) -> Option<Self> {
        let words = header.counts[0];
        if u32::try_from(words).is_err() || u32::try_from(header.letters).is_err() {
            return None;
        }
        let mut places = Places(HEADER as u64);
        let ends = places.take(words, 4)?;
        let letters = places.take(header.letters, 1)?;
        let vocab = places.table(words, SHORT_SLOT)?;
        let unigrams = places.take(words, 8)?;
        let mut tables = Vec::new();
        let mut lists = Vec::new();
        for order in 2..=header.order {
            let slot = if order == header.order { SHORT_SLOT } else { SLOT };
            tables.push(places.table(header.counts[order - 1], slot)?);
        }
        for order in 2..=header.order {
            lists.push(places.take(header.counts[order - 1], 4)?);
        }
        let size = usize::try_from(places.0).ok()?;
        Some(Layout { ends, letters, vocab, unigrams, tables, lists, size })
    }
}

impl Header {
    /// The numbers of the header.
    pub fn to_numbers(&self) -> Vec<u64> {
        let mut numbers = vec![self.order as u64, self.seed];
        numbers.extend(self.counts);
        numbers.push(self.letters);
        numbers
    }

    /// Reads the numbers of a header, or says what is wrong.
    pub fn from_numbers(numbers: &[u64]) -> Checked<Self> {
        let [order, seed, counts @ .., letters] = numbers else {
            return Err(Flaw::new("too few numbers"));
        };
        let mut header = Header {
            order: to_usize(*order),
            seed: *seed,
            counts: [0; MAX_ORDER],
            letters: *letters,
        };
        if !(1..=MAX_ORDER as u64).contains(order) || counts.len() != MAX_ORDER || counts[0] < 3 {
            let words = counts.first().unwrap_or(&0);
            return Err(Flaw::new(format!("a model of order {order} with {words} words")));
        }
        header.counts.copy_from_slice(counts);
        Ok(header)
    }
}

/// The four bytes at a place as a score; none outside.
#[inline]
pub fn score(bytes: &[u8], at: usize) -> Option<f32> {
    short_at(bytes, at).map(f32::from_bits)
}
