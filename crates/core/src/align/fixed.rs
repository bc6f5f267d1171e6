//! Expected counts as integers, so that the order of additions cannot change a sum.
//!
//! In: shares between 0 and 1. Out: their sum, the same for every number of threads.
//! How: fixed point with 32 bits after the point; integer addition is associative, that of floats
//! is not.
//! Cost: one atomic addition; 8 bytes.
//! Not: negative counts, or sums of 2^32 and more.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const ONE: f64 = (1u64 << 32) as f64;

/// From here to twice as much, the last bit of a number is worth 1.
const WHOLE: f64 = (1u64 << 52) as f64;

/// The largest share that is told apart: far over the words of a sentence.
const MOST: f32 = (1u32 << 19) as f32;

/// A share as fixed point, to the nearest; what is not positive counts as nothing.
#[inline]
pub fn to_fixed(share: f32) -> u64 {
    let share = if share > 0.0 { f64::from(share.min(MOST)) } else { 0.0 };
    // What a conversion does in many steps, and for one number at a time.
    (share * ONE + WHOLE).to_bits() - WHOLE.to_bits()
}

/// The value of a fixed-point sum.
pub fn from_fixed(sum: u64) -> f64 {
    sum as f64 / ONE
}

/// A sum that many threads add to.
#[derive(Debug, Default)]
pub struct SharedSum(AtomicU64);

impl SharedSum {
    /// Adds a share.
    #[inline]
    pub fn add(&self, share: f32) {
        self.0.fetch_add(to_fixed(share), Relaxed);
    }

    /// Adds to the sum when no other thread does, which is quicker.
    #[inline]
    pub fn add_alone(&self, share: f32) {
        self.0.store(self.0.load(Relaxed) + to_fixed(share), Relaxed);
    }

    /// The sum in fixed point.
    pub fn fixed(&mut self) -> &mut u64 {
        self.0.get_mut()
    }

    /// Returns the sum and starts again at 0.
    pub fn take(&mut self) -> f64 {
        from_fixed(std::mem::take(self.0.get_mut()))
    }
}

/// `len` sums that start at 0.
pub fn shared_sums(len: usize) -> Vec<SharedSum> {
    std::iter::repeat_with(SharedSum::default).take(len).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded_and_bounded() {
        assert_eq!(
            [1.0, 0.5, 2f32.powi(-32), 2f32.powi(-34)].map(to_fixed),
            [1 << 32, 1 << 31, 1, 0]
        );
        assert_eq!([0.0, -1.0, f32::NAN, -0.0].map(to_fixed), [0; 4]);
        assert_eq!([1000.25, f32::INFINITY].map(to_fixed), [(4001 << 32) / 4, 1 << 51]);
        assert_eq!(from_fixed(to_fixed(0.3)), f64::from(0.3f32));
    }
}
