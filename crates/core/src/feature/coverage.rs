//! Spans of source words, and coverages: the set of translated words.
//!
//! Spans are half-open here (`start..end`); the definitions and traces write them inclusive.

use crate::narrow::to_u32;
use std::fmt;

/// Bits in one block of a coverage.
const BLOCK: u32 = u64::BITS;

/// A span of source words, from `start` up to but not including `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// The first word.
    pub start: u32,
    /// The word after the last.
    pub end: u32,
}

impl Span {
    /// Create the span `start..end`.
    pub const fn new(start: u32, end: u32) -> Self {
        Span { start, end }
    }

    /// Return the number of words.
    pub const fn len(self) -> u32 {
        self.end - self.start
    }

    /// Return whether the span is empty.
    pub const fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Return whether a word is inside.
    pub const fn has(self, word: u32) -> bool {
        self.start <= word && word < self.end
    }

    /// Return the smallest span that contains both.
    pub fn hull(self, other: Span) -> Span {
        Span::new(self.start.min(other.start), self.end.max(other.end))
    }

    /// Return whether one span ends where the other starts.
    pub fn touches(self, other: Span) -> bool {
        self.end == other.start || other.end == self.start
    }
}

/// Writes inclusive positions, as in the definitions and traces: `3-4`; `-` if empty.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("-");
        }
        write!(f, "{}-{}", self.start, self.end - 1)
    }
}

/// The translated words of a sentence; a borrowed bit set.
#[derive(Debug, Clone, Copy)]
pub struct Coverage<'a> {
    blocks: &'a [u64],
    length: u32,
}

impl<'a> Coverage<'a> {
    /// Create a view of these bits for a sentence of `length` words; bits beyond it are ignored.
    pub fn new(blocks: &'a [u64], length: u32) -> Self {
        debug_assert_eq!(blocks.len(), Coverage::blocks_for(length));
        Coverage { blocks, length }
    }

    /// Return the number of blocks for a sentence of this length.
    pub fn blocks_for(length: u32) -> usize {
        length.div_ceil(BLOCK).max(1) as usize
    }

    /// Set the bits of a span.
    pub fn mark(blocks: &mut [u64], span: Span) {
        let mut start = span.start;
        while start < span.end {
            let first = start % BLOCK;
            let count = (span.end - start).min(BLOCK - first);
            blocks[(start / BLOCK) as usize] |= u64::MAX >> (BLOCK - count) << first;
            start += count;
        }
    }

    /// Return the bits.
    pub fn blocks(self) -> &'a [u64] {
        self.blocks
    }

    /// Return the number of words of the sentence.
    pub fn length(self) -> u32 {
        self.length
    }

    /// Return whether a word is translated.
    pub fn has(self, position: u32) -> bool {
        self.blocks[(position / BLOCK) as usize] >> (position % BLOCK) & 1 == 1
    }

    /// Return the first untranslated word from `from` on, or the length of the sentence.
    pub fn next_free(self, from: u32) -> u32 {
        self.next(from, u64::MAX)
    }

    /// Return the first translated word from `from` on, or the length of the sentence.
    pub fn next_covered(self, from: u32) -> u32 {
        self.next(from, 0)
    }

    /// Return the first bit from `from` on that is set after exclusive-or with `flip`.
    fn next(self, from: u32, flip: u64) -> u32 {
        if from >= self.length {
            return self.length;
        }
        let first = (from / BLOCK) as usize;
        let mut bits = (self.blocks[first] ^ flip) & (u64::MAX << (from % BLOCK));
        let mut block = first;
        while bits == 0 {
            block += 1;
            if block == self.blocks.len() {
                return self.length;
            }
            bits = self.blocks[block] ^ flip;
        }
        (to_u32(block) * BLOCK + bits.trailing_zeros()).min(self.length)
    }

    /// Return the start of the run of untranslated words that ends just before `before`; `before`
    /// itself if the word before it is translated or does not exist.
    pub fn free_run_start(self, before: u32) -> u32 {
        let mut block = (before / BLOCK) as usize;
        let below = (1 << (before % BLOCK)) - 1;
        let mut bits = self.blocks.get(block).map_or(0, |bits| bits & below);
        while bits == 0 {
            let Some(lower) = block.checked_sub(1) else { return 0 };
            block = lower;
            bits = self.blocks[block];
        }
        (to_u32(block) + 1) * BLOCK - bits.leading_zeros()
    }

    /// Return whether no word of the span is translated.
    pub fn is_free(self, span: Span) -> bool {
        self.next_covered(span.start) >= span.end
    }

    /// Return the number of untranslated words before a position.
    pub fn free_before(self, position: u32) -> u32 {
        let (whole, rest) = ((position / BLOCK) as usize, position % BLOCK);
        let covered: u32 = self.blocks[..whole].iter().map(|block| block.count_ones()).sum();
        let below = (1_u64 << rest) - 1;
        let part = self.blocks.get(whole).map_or(0, |block| (block & below).count_ones());
        position - covered - part
    }

    /// Return the first untranslated word, or the length of the sentence.
    pub fn first_gap(self) -> u32 {
        self.next_free(0)
    }

    /// Return the last untranslated word, if there is one.
    pub fn last_free(self) -> Option<u32> {
        let mut end = self.length;
        while end > 0 {
            let first = (end - 1) / BLOCK * BLOCK;
            let open = !self.blocks[(first / BLOCK) as usize] & u64::MAX >> (BLOCK - (end - first));
            if open != 0 {
                return Some(first + BLOCK - 1 - open.leading_zeros());
            }
            end = first;
        }
        None
    }

    /// Iterate over the maximal runs of untranslated words, left to right.
    pub fn gaps(self) -> impl Iterator<Item = Span> + 'a {
        let mut from = 0;
        std::iter::from_fn(move || {
            let start = self.next_free(from);
            from = self.next_covered(start);
            (start < self.length).then_some(Span::new(start, from))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn scans_equal_a_look_at_every_word(
            covered in proptest::collection::vec(any::<bool>(), 0..150),
            from in 0u32..150,
        ) {
            let length = covered.len() as u32;
            let mut blocks = vec![0; Coverage::blocks_for(length)];
            for (at, _) in covered.iter().enumerate().filter(|(_, is)| **is) {
                Coverage::mark(&mut blocks, Span::new(at as u32, at as u32 + 1));
            }
            let cov = Coverage::new(&blocks, length);
            let find = |wanted: bool| {
                (from..length).find(|&at| covered[at as usize] == wanted).unwrap_or(length)
            };
            prop_assert_eq!(cov.next_free(from), find(false));
            prop_assert_eq!(cov.next_covered(from), find(true));
            let position = from.min(length);
            let run = (0..position).rev().take_while(|&at| !covered[at as usize]).count() as u32;
            prop_assert_eq!(cov.free_run_start(position), position - run);
            let before = (0..position).filter(|&at| !covered[at as usize]).count();
            prop_assert_eq!(cov.free_before(position) as usize, before);
            let last = (0..length).rev().find(|&at| !covered[at as usize]);
            prop_assert_eq!(cov.last_free(), last);
            let mut marked = blocks.clone();
            Coverage::mark(&mut marked, Span::new(from.min(length / 2), length / 2));
            let is_marked = |at: u32| at >= from.min(length / 2) && at < length / 2;
            for at in 0..length {
                let expected = covered[at as usize] || is_marked(at);
                prop_assert_eq!(Coverage::new(&marked, length).has(at), expected);
            }
            let gaps: Vec<Span> = cov.gaps().collect();
            let free: u32 = gaps.iter().map(|gap| gap.len()).sum();
            prop_assert_eq!(free as usize, covered.iter().filter(|is| !**is).count());
            for gap in gaps {
                prop_assert!(cov.is_free(gap));
                prop_assert_eq!(cov.free_run_start(gap.end), gap.start);
                prop_assert!(gap.end == length || cov.has(gap.end));
            }
        }
    }
}
