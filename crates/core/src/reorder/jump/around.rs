//! What is translated around a word that may come next, as eight bits (definitions b.7).
//!
//! In: the words translated so far, and a word. Out: a code below 32, and the bits it stands for.
//! How: a word after one that is translated tends to come next; so does one between two that are,
//! and the first that was left behind. Before the sentence everything counts as translated, after
//! it nothing does.
//! Cost: a few looks at the coverage.

use crate::feature::{Coverage, Span};
use crate::narrow::to_u8;

/// Bits of a block of a coverage.
const BLOCK: u32 = u64::BITS;
/// Number of bits.
pub const BITS: usize = 8;
/// Number of codes.
const CODES: usize = 32;
/// More untranslated words before a word than these are few, some, or many.
const FEW: u32 = 2;
const SOME: u32 = 6;

/// What is translated around a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Around(u8);

impl Around {
    /// Around an untranslated word, which counts from 0.
    #[inline]
    pub fn of(cov: Coverage<'_>, word: u32) -> Around {
        let before = word == 0 || cov.has(word - 1);
        let after = word + 1 < cov.length() && cov.has(word + 1);
        let is_last = cov.next_free(word + 1) == cov.length();
        Around::new((before, after), cov.free_before(word), is_last)
    }

    /// Calls `each` for every untranslated word of a span, with what is around it. What is
    /// translated before and after all words of a block is a shift of its bits.
    #[inline]
    pub fn each_open(cov: Coverage<'_>, within: Span, mut each: impl FnMut(u32, Around)) {
        let block = |number: u32| cov.blocks().get(number as usize).copied().unwrap_or(0);
        let last = cov.last_free();
        let mut open_before = cov.free_before(within.start);
        for number in within.start / BLOCK..within.end.div_ceil(BLOCK) {
            let first = number * BLOCK;
            let before = number.checked_sub(1).map_or(1, |number| block(number) >> (BLOCK - 1));
            let done_before = block(number) << 1 | before;
            let after = block(number) >> 1 | block(number + 1) << (BLOCK - 1);
            let done_after = after & !bits_from((cov.length() - 1).saturating_sub(first));
            let mut open = !block(number)
                & bits_from(within.start.saturating_sub(first))
                & !bits_from(within.end - first);
            while open != 0 {
                let at = open.trailing_zeros();
                open &= open - 1;
                let is_done = |done: u64| done >> at & 1 == 1;
                let sides = (is_done(done_before), is_done(done_after));
                each(first + at, Around::new(sides, open_before, Some(first + at) == last));
                open_before += 1;
            }
        }
    }

    /// Whether the words before and after it are translated, how many before it are open, and
    /// whether it is the last open one.
    #[inline]
    fn new((before, after): (bool, bool), open_before: u32, is_last: bool) -> Around {
        let place = match open_before {
            0 => 0,
            1..=FEW => 1,
            3..=SOME => 2,
            _ => 3,
        };
        Around(u8::from(before) | u8::from(after) << 1 | place << 2 | u8::from(is_last) << 4)
    }

    /// Whether a bit is set: the word before is translated (0), the word after (1), both (2); it
    /// is the first untranslated word (3), the last (4); one or two (5), three to six (6), or more
    /// (7) words before it are untranslated.
    pub fn has(self, bit: usize) -> bool {
        let Around(code) = self;
        let place = code >> 2 & 3;
        match bit {
            0 | 1 => code >> bit & 1 == 1,
            2 => code & 3 == 3,
            3 => place == 0,
            4 => code >> 4 == 1,
            _ => usize::from(place) + 4 == bit,
        }
    }

    /// The numbers of the bits that are set.
    pub fn bits(self) -> impl Iterator<Item = usize> {
        (0..BITS).filter(move |&bit| self.has(bit))
    }
}

/// All bits of a block from this one on.
#[inline]
fn bits_from(bit: u32) -> u64 {
    u64::MAX.checked_shl(bit).unwrap_or(0)
}

/// What a word gains by all that may be translated around it.
#[derive(Debug, Clone, Copy)]
pub struct Gains([f32; CODES]);

impl Gains {
    /// From what each bit brings.
    pub fn of(bits: &[f32; BITS]) -> Gains {
        let mut gains = [0.0; CODES];
        for (code, gain) in gains.iter_mut().enumerate() {
            *gain = Around(to_u8(code)).bits().map(|bit| bits[bit]).sum();
        }
        Gains(gains)
    }

    /// e to each of them.
    pub fn exp(&self) -> Gains {
        Gains(self.0.map(f32::exp))
    }

    /// What it gains here.
    #[inline]
    pub fn get(&self, Around(code): Around) -> f32 {
        self.0[usize::from(code)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::narrow::to_u32;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_open_words_are_met_with_what_is_around_each(
            covered in prop::collection::vec(any::<bool>(), 1..150),
            (a, b) in (0u32..150, 0u32..150),
        ) {
            let length = to_u32(covered.len());
            let mut blocks = vec![0; Coverage::blocks_for(length)];
            // What stands behind the sentence is not looked at.
            Coverage::mark(&mut blocks, Span::new(length, length.next_multiple_of(BLOCK)));
            for (at, _) in (0..).zip(&covered).filter(|(_, is)| **is) {
                Coverage::mark(&mut blocks, Span::new(at, at + 1));
            }
            let cov = Coverage::new(&blocks, length);
            let within = Span::new(a.min(b).min(length), a.max(b).min(length));
            let mut met = Vec::new();
            Around::each_open(cov, within, |word, around| met.push((word, around)));
            let open = (within.start..within.end).filter(|&word| !cov.has(word));
            let expected: Vec<_> = open.map(|word| (word, Around::of(cov, word))).collect();
            prop_assert_eq!(met, expected);
        }
    }
}
