//! What is translated around a word that may come next, as eight bits (definitions b.7).
//!
//! In: the words translated so far, and a word. Out: a code below 32, and the bits it stands for.
//! How: a word after one that is translated tends to come next; so does one between two that are,
//! and the first that was left behind. Before the sentence everything counts as translated, after
//! it nothing does.
//! Cost: a few looks at the coverage.

use crate::feature::Coverage;
use crate::narrow::to_u8;

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
        let open_before = cov.free_before(word);
        let is_last = cov.next_free(word + 1) == cov.length();
        Around::new(cov, word, open_before, is_last)
    }

    /// The same, where it is known already how many words before it are open, and whether any is
    /// after it.
    #[inline]
    pub fn new(cov: Coverage<'_>, word: u32, open_before: u32, is_last: bool) -> Around {
        let before = word == 0 || cov.has(word - 1);
        let after = word + 1 < cov.length() && cov.has(word + 1);
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
