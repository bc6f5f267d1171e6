//! Layout of the binary model file; `docs/lm.md` has the table.
//!
//! In: the numbers of the header. Out: the byte range of each region. All sums are checked for
//! overflow, so a damaged header gives an error and never a range outside the file.
//! Integers are little-endian; regions start at multiples of 64 bytes.

use super::MAX_ORDER;
use crate::narrow::to_usize;
use crate::storage::{Checked, Flaw, Seal, short_at};
use std::ops::Range;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Seal of the file; the numbers are order, seed, n-gram counts by order, and bytes of all words.
pub const SEAL: Seal = Seal {
    magic: *b"wwlmodel",
    version: 2,
    numbers: MAX_ORDER + 3,
    what: "a language model",
    advice: "copy the file again, or make it again from text or ARPA",
};
/// Magic bytes of version 1.
pub const FORMER_MAGIC: &[u8] = b"wayword lm\r\n";
/// Size of the header in bytes.
pub const HEADER_BYTES: usize = SEAL.size();
/// Bytes of a slot with hash, probability and backoff.
pub const LONG_SLOT: usize = 16;
/// Bytes of a slot with a hash and one 4-byte value.
pub const SHORT_SLOT: usize = 12;
/// Hash of an unused slot; `stored_hash` never returns it.
pub const FREE_HASH: u64 = u64::MAX;

/// Flag of a list entry: the last n-gram with its suffix.
pub const LAST_FLAG: u32 = 1 << 31;

/// Bytes of a cache line. No slot crosses a line boundary.
pub const CACHE_LINE: usize = 64;
/// Load factor of the tables, as a fraction.
const FILL: (u64, u64) = (3, 4);
/// Maximal number of lines after the last home line, for entries that overflow; more never occur
/// with a uniform hash.
const OVERFLOW_LINES: u64 = 256;

/// A hash table with linear probing over cache lines; entries are sorted by hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbingTable {
    /// Byte range in the file.
    pub range: Range<usize>,
    /// Number of lines at which a probe can start.
    pub home_lines: u64,
    /// Number of lines, with those for overflow.
    pub lines: u64,
}

/// Return the line at which the probe for a hash starts.
pub fn home_line(hash: u64, home_lines: u64) -> u64 {
    ((u128::from(hash) * u128::from(home_lines)) >> 64) as u64
}

/// Return the hash of a unigram; `seed` comes from the header.
pub fn unigram_hash(seed: u64, word: u32) -> u64 {
    extend_hash(seed, word)
}

/// Return the hash of an n-gram extended by one older word.
pub fn extend_hash(hash: u64, word: u32) -> u64 {
    let word = (u64::from(word) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (hash.rotate_left(29) ^ word).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

/// Return the hash in its stored form, which is never `FREE_HASH`.
pub fn stored_hash(hash: u64) -> u64 {
    hash.min(FREE_HASH - 1)
}

/// Return the stored hash of a word's bytes.
pub fn word_hash(word: &[u8], seed: u64) -> u64 {
    stored_hash(xxh3_64_with_seed(word, seed))
}

/// The numbers of the file header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BinaryHeader {
    /// Length of the longest n-grams.
    pub order: usize,
    /// Seed of all hashes.
    pub seed: u64,
    /// Number of n-grams by order.
    pub counts: [u64; MAX_ORDER],
    /// Bytes of all words.
    pub letters: u64,
}

/// Byte ranges of all regions of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BinaryLayout {
    /// End offsets of the words in `letters`, 4 bytes each.
    pub ends: Range<usize>,
    /// Bytes of all words, concatenated.
    pub letters: Range<usize>,
    /// Table from the hash of a word to its id.
    pub vocab: ProbingTable,
    /// Probability and backoff by word id, 8 bytes each.
    pub unigrams: Range<usize>,
    /// Tables of the n-grams, from order 2 up.
    pub tables: Vec<ProbingTable>,
    /// Oldest words of the n-grams in suffix order, 4 bytes each, from order 2 up.
    pub lists: Vec<Range<usize>>,
    /// Size of the file in bytes.
    pub size: usize,
}

/// An allocator of consecutive aligned regions; its methods return `None` on overflow.
struct RegionAllocator(u64);

impl RegionAllocator {
    fn take(&mut self, count: u64, size: usize) -> Option<Range<usize>> {
        let start = self.0.checked_next_multiple_of(CACHE_LINE as u64)?;
        let end = start.checked_add(count.checked_mul(size as u64)?)?;
        self.0 = end;
        Some(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
    }

    fn table(&mut self, count: u64, slot: usize) -> Option<ProbingTable> {
        let per_line = (CACHE_LINE / slot) as u64;
        let home_lines = (count.checked_mul(FILL.1)? / FILL.0 / per_line).checked_add(1)?;
        let lines = home_lines.checked_add(count.div_ceil(per_line).min(OVERFLOW_LINES))?;
        Some(ProbingTable { range: self.take(lines, CACHE_LINE)?, home_lines, lines })
    }
}

impl BinaryLayout {
    /// Compute the layout, or return `None` if the sizes are impossible.
    pub fn new(header: &BinaryHeader) -> Option<Self> {
        let words = header.counts[0];
        if u32::try_from(words).is_err() || u32::try_from(header.letters).is_err() {
            return None;
        }
        let mut places = RegionAllocator(HEADER_BYTES as u64);
        let ends = places.take(words, 4)?;
        let letters = places.take(header.letters, 1)?;
        let vocab = places.table(words, SHORT_SLOT)?;
        let unigrams = places.take(words, 8)?;
        let mut tables = Vec::new();
        let mut lists = Vec::new();
        for order in 2..=header.order {
            let slot = if order == header.order { SHORT_SLOT } else { LONG_SLOT };
            tables.push(places.table(header.counts[order - 1], slot)?);
        }
        for order in 2..=header.order {
            lists.push(places.take(header.counts[order - 1], 4)?);
        }
        let size = usize::try_from(places.0).ok()?;
        Some(BinaryLayout { ends, letters, vocab, unigrams, tables, lists, size })
    }
}

impl BinaryHeader {
    /// Return the header as numbers for the seal.
    pub fn to_numbers(&self) -> Vec<u64> {
        let mut numbers = vec![self.order as u64, self.seed];
        numbers.extend(self.counts);
        numbers.push(self.letters);
        numbers
    }

    /// Parse the numbers of a header.
    pub fn from_numbers(numbers: &[u64]) -> Checked<Self> {
        let [order, seed, counts @ .., letters] = numbers else {
            return Err(Flaw::new("too few numbers"));
        };
        let mut header = BinaryHeader {
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

/// Read a score at byte offset `at`; return `None` beyond the end.
#[inline]
pub fn read_score(bytes: &[u8], at: usize) -> Option<f32> {
    short_at(bytes, at).map(f32::from_bits)
}
