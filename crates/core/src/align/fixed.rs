//! Expected counts as integers, so that the order of additions cannot change a sum.
//!
//! In: shares between 0 and 1. Out: their sum, the same for every number of threads.
//! How: fixed point with 32 bits after the point; integer addition is associative, that of floats
//! is not.
//! Cost: one atomic addition; 8 bytes.
//! Not: negative counts, or sums of 2^32 and more.

use crate::narrow::whole;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const ONE: f64 = (1u64 << 32) as f64;

/// A share as fixed point; what is not positive counts as nothing.
#[inline]
pub fn to_fixed(share: f32) -> u64 {
    whole(f64::from(share) * ONE)
}

/// The value of a fixed-point sum.
pub fn from_fixed(sum: u64) -> f64 {
    sum as f64 / ONE
}

/// A sum that many threads add to.
#[derive(Debug, Default)]
pub struct SharedSum(AtomicU64);

impl SharedSum {
    /// A sum that starts at a value in fixed point.
    pub fn of(sum: u64) -> Self {
        SharedSum(AtomicU64::new(sum))
    }

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
