//! Expected counts as fixed-point integers, whose sum does not depend on the order of additions.
//!
//! In: shares between 0 and 1. Out: their sum, identical for any number of threads.
//! How: 32 fractional bits; integer addition is associative, floating-point addition is not.
//! Cost: one atomic addition; 8 bytes.
//! Not: negative counts, or sums of 2^32 and more.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const SCALE: f64 = (1u64 << 32) as f64;

/// Between this number and twice this number, consecutive f64 values differ by 1.
const UNIT_SPACING: f64 = (1u64 << 52) as f64;

/// Maximal share, far above the length of a sentence.
const MAX_SHARE: f32 = (1u32 << 19) as f32;

/// Convert a share to fixed point, rounded to nearest; a share that is not positive gives 0.
#[inline]
pub fn to_fixed(share: f32) -> u64 {
    let share = if share > 0.0 { f64::from(share.min(MAX_SHARE)) } else { 0.0 };
    // Faster than a conversion instruction, and vectorizable.
    (share * SCALE + UNIT_SPACING).to_bits() - UNIT_SPACING.to_bits()
}

/// Convert a fixed-point sum to a number.
pub fn from_fixed(sum: u64) -> f64 {
    sum as f64 / SCALE
}

/// A sum that threads share.
#[derive(Debug, Default)]
pub struct SharedSum(AtomicU64);

impl SharedSum {
    /// Add a share atomically.
    #[inline]
    pub fn add(&self, share: f32) {
        self.0.fetch_add(to_fixed(share), Relaxed);
    }

    /// Add a share while no other thread does, which is faster.
    #[inline]
    pub fn add_exclusive(&self, share: f32) {
        self.0.store(self.0.load(Relaxed) + to_fixed(share), Relaxed);
    }

    /// Return the sum in fixed point.
    pub fn fixed(&mut self) -> &mut u64 {
        self.0.get_mut()
    }

    /// Return the sum and reset it to 0.
    pub fn take(&mut self) -> f64 {
        from_fixed(std::mem::take(self.0.get_mut()))
    }
}

/// Create `len` sums of 0.
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
