//! N-grams packed into one to four 64-bit integers, newest word first.
//!
//! In: word ids of a fixed number of bits. Out: keys whose integer order is the suffix order of the
//! n-grams: by the last word, then by the word before it, and so on. N-grams with a common suffix
//! are adjacent, and the key of the suffix is a prefix of their keys.
//! Cost: shifts and masks. `W`, the number of integers, is chosen once per model.

use super::MAX_ORDER;
use crate::corpus::WordId;
use crate::narrow::{low_u32, to_u32};
use crate::storage::Record;
use std::cmp::Ordering;

/// An n-gram in `W` times 64 bits; the newest word is in the highest bits, unused bits are 0.
#[derive(Debug, Clone, Copy)]
pub struct NgramKey<const W: usize>(pub [u64; W]);

// Written by hand: the derived code compares slices by a function call, and comparison dominates
// sorting.
impl<const W: usize> PartialEq for NgramKey<W> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        let mut differing = 0;
        for index in 0..W {
            differing |= self.0[index] ^ other.0[index];
        }
        differing == 0
    }
}

impl<const W: usize> Eq for NgramKey<W> {}

impl<const W: usize> Ord for NgramKey<W> {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        for index in 0..W {
            if self.0[index] != other.0[index] {
                return self.0[index].cmp(&other.0[index]);
            }
        }
        Ordering::Equal
    }
}

impl<const W: usize> PartialOrd for NgramKey<W> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }

    #[inline]
    fn lt(&self, other: &Self) -> bool {
        if W == 2 {
            let whole = |key: &Self| u128::from(key.0[0]) << 64 | u128::from(key.0[1]);
            return whole(self) < whole(other);
        }
        self.cmp(other) == Ordering::Less
    }
}

/// Return the number of bits of the largest word id below `words`.
pub fn bits_for(words: usize) -> u32 {
    (usize::BITS - words.saturating_sub(1).leading_zeros()).max(1)
}

impl<const W: usize> NgramKey<W> {
    /// The key of the empty n-gram.
    pub const EMPTY: Self = NgramKey([0; W]);

    /// Pack words, newest first.
    pub fn from_words(words: &[WordId], bits: u32) -> Self {
        let mut key = NgramKey::EMPTY;
        for (index, &word) in words.iter().enumerate() {
            key.set(index, word, bits);
        }
        key
    }

    /// Append a newer word and drop the words beyond the newest `order`.
    #[inline]
    pub fn push(self, word: WordId, order: usize, bits: u32) -> Self {
        self.extended(word, bits).first(order, bits)
    }

    /// Append a newer word without dropping any; the key must have room.
    #[inline]
    pub fn extended(self, word: WordId, bits: u32) -> Self {
        let mut key = self.shift_right(bits);
        key.set(0, word, bits);
        key
    }

    /// Remove the newest word: return the context of the n-gram.
    #[inline]
    pub fn context(self, bits: u32) -> Self {
        let mut key = self;
        for index in 0..W {
            let carry = if index + 1 < W { self.0[index + 1] >> (64 - bits) } else { 0 };
            key.0[index] = (self.0[index] << bits) | carry;
        }
        key
    }

    /// Keep the newest `words` words.
    #[inline]
    pub fn first(self, words: usize, bits: u32) -> Self {
        let mut key = self;
        let total = to_u32(words) * bits;
        for (index, part) in key.0.iter_mut().enumerate() {
            match total.saturating_sub(64 * to_u32(index)) {
                0 => *part = 0,
                keep if keep < 64 => *part &= u64::MAX << (64 - keep),
                _ => {}
            }
        }
        key
    }

    /// Write a word at an index (0 is the newest); the bits there must be 0.
    #[inline]
    pub fn set(&mut self, index: usize, word: WordId, bits: u32) {
        let (part, room) = bit_position(index, bits);
        let word = u64::from(word);
        if room >= bits {
            self.0[part] |= word << (room - bits);
        } else {
            self.0[part] |= word >> (bits - room);
            self.0[part + 1] |= word << (64 - (bits - room));
        }
    }

    /// Return the word at an index (0 is the newest).
    #[inline]
    pub fn word(&self, index: usize, bits: u32) -> WordId {
        let (part, room) = bit_position(index, bits);
        let mask = u64::MAX >> (64 - bits);
        let word = if room >= bits {
            self.0[part] >> (room - bits)
        } else {
            (self.0[part] << (bits - room)) | (self.0[part + 1] >> (64 - (bits - room)))
        };
        low_u32(word & mask)
    }

    /// Unpack `order` words, newest first; the remaining entries are 0.
    #[inline]
    pub fn words(&self, order: usize, bits: u32) -> [WordId; MAX_ORDER] {
        let mut words = [0; MAX_ORDER];
        for (index, word) in words.iter_mut().enumerate().take(order) {
            *word = self.word(index, bits);
        }
        words
    }

    /// Return the length in words of the common suffix of two different n-grams.
    #[inline]
    pub fn shared(&self, other: &Self, bits: u32) -> usize {
        for index in 0..W {
            let differing = self.0[index] ^ other.0[index];
            if differing != 0 {
                return ((64 * to_u32(index) + differing.leading_zeros()) / bits) as usize;
            }
        }
        (64 * to_u32(W) / bits) as usize
    }

    #[inline]
    fn shift_right(self, bits: u32) -> Self {
        let mut key = self;
        for index in (0..W).rev() {
            let carry = if index > 0 { self.0[index - 1] << (64 - bits) } else { 0 };
            key.0[index] = (self.0[index] >> bits) | carry;
        }
        key
    }
}

/// Return the integer that holds the first bit of a word and the bits available there.
#[inline]
fn bit_position(index: usize, bits: u32) -> (usize, u32) {
    let start = to_u32(index) * bits;
    ((start / 64) as usize, 64 - start % 64)
}

impl<const W: usize> Record for NgramKey<W> {
    const SIZE: usize = 8 * W;
    #[inline]
    fn put(&self, out: &mut [u8]) {
        for (part, bytes) in self.0.iter().zip(out.chunks_exact_mut(8)) {
            part.put(bytes);
        }
    }
    #[inline]
    fn get(bytes: &[u8]) -> Self {
        let mut parts = [0; W];
        for (part, bytes) in parts.iter_mut().zip(bytes.chunks_exact(8)) {
            *part = u64::get(bytes);
        }
        NgramKey(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Number of bits and two n-grams of words that fit them.
    fn ngrams() -> impl Strategy<Value = (u32, Vec<u32>, Vec<u32>)> {
        (1_u32..=32, 1_usize..=8).prop_flat_map(|(bits, order)| {
            let words =
                || proptest::collection::vec(0..=(u64::MAX >> (64 - bits)) as u32, order..=order);
            (Just(bits), words(), words())
        })
    }

    proptest! {
        #[test]
        fn keys_hold_words_and_compare_as_their_words_do((bits, a, b) in ngrams()) {
            let (x, y) = (NgramKey::<4>::from_words(&a, bits), NgramKey::<4>::from_words(&b, bits));
            prop_assert_eq!(&x.words(a.len(), bits)[..a.len()], &a[..]);
            prop_assert_eq!(x.cmp(&y), a.cmp(&b));
            prop_assert_eq!(x.context(bits), NgramKey::from_words(&a[1..], bits));
            prop_assert_eq!(x.first(a.len() / 2, bits), NgramKey::from_words(&a[..a.len() / 2], bits));
            let mut newer = vec![b[0]];
            newer.extend(&a[..a.len() - 1]);
            prop_assert_eq!(x.push(b[0], a.len(), bits), NgramKey::from_words(&newer, bits));
            if a != b {
                let shared = a.iter().zip(&b).take_while(|(p, q)| p == q).count();
                prop_assert_eq!(x.shared(&y, bits), shared);
            }
        }
    }

    #[test]
    fn bits_hold_the_largest_id() {
        assert_eq!([1, 2, 3, 4, 5, 256, 257].map(bits_for), [1, 1, 2, 2, 3, 8, 9]);
    }
}
