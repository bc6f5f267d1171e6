//! Where the weights of features stand: a table of fixed size, looked up by fingerprint.
//!
//! In: the fingerprint of a feature. Out: places in a table of 2ᵇ numbers.
//! How: features are hashed; two may share a place, which costs little while most places are free
//! or rare. All forms of a feature (with each distance, with each label) stand in one line of 16
//! numbers, which is what memory brings at a time.
//! Not: a list of the features; `explain` makes their texts anew from the sentence.

use crate::error::{Error, Result};
use crate::narrow::{low_u64, to_usize};

/// Numbers in a line.
const LINE: u64 = 16;
/// Sizes that make sense, as powers of two.
const BITS: std::ops::RangeInclusive<u32> = 8..=28;

/// The size of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slots {
    bits: u32,
}

impl Slots {
    /// The least power of two.
    pub const FEWEST: u32 = *BITS.start();

    /// A table of 2^`bits` numbers.
    pub fn new(bits: u32) -> Result<Self> {
        if !BITS.contains(&bits) {
            return Err(Error::Argument {
                name: "bits".into(),
                found: bits.to_string(),
                expected: format!("a number from {} to {}", BITS.start(), BITS.end()),
            });
        }
        Ok(Slots { bits })
    }

    /// The power of two.
    pub fn bits(self) -> u32 {
        self.bits
    }

    /// How many numbers the table has.
    pub fn len(self) -> usize {
        1 << self.bits
    }

    /// Whether there is none: never.
    pub fn is_empty(self) -> bool {
        false
    }

    /// The place of a form of a feature; forms are numbered from 0 to 15.
    #[inline]
    pub fn place(self, print: u64, form: u64) -> usize {
        let line = print >> (64 - (self.bits - LINE.trailing_zeros()));
        to_usize(line * LINE + (print.wrapping_add(form) & (LINE - 1)))
    }
}

/// Something that holds weights by place.
pub trait Weights {
    /// The weight at a place; 0 outside.
    fn at(&self, place: usize) -> f32;
}

impl Weights for [f32] {
    #[inline]
    fn at(&self, place: usize) -> f32 {
        self.get(place).copied().unwrap_or_default()
    }
}

/// Weights as they stand in a file.
#[derive(Debug, Clone, Copy)]
pub struct Mapped<'a>(pub &'a [u8]);

impl Weights for Mapped<'_> {
    #[inline]
    fn at(&self, place: usize) -> f32 {
        let bytes = self.0.get(place * 4..).and_then(<[u8]>::first_chunk::<4>);
        bytes.map_or(0.0, |&bytes| f32::from_le_bytes(bytes))
    }
}

/// Mixes two hashes: a product of 128 bits folded in two.
#[inline]
pub fn mix(first: u64, second: u64) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let product = u128::from(first ^ ODD) * u128::from(second ^ 0xd6e8_feb8_6659_fd93);
    low_u64(product) ^ ((product >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_of_a_feature_have_places_of_their_own_in_one_line() {
        let slots = Slots::new(10).unwrap();
        for print in [0, 5, u64::MAX, 0x1234_5678_9abc_def0] {
            let mut places: Vec<usize> = (0..16).map(|form| slots.place(print, form)).collect();
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), 16);
            assert_eq!(places[0] / 16, places[15] / 16);
            assert!(places[15] < slots.len());
        }
        assert_eq!(
            Slots::new(3).unwrap_err().to_string(),
            "bits: found 3; expected a number from 8 to 28"
        );
    }
}
