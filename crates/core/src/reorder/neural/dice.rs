//! Random numbers that are the same on every machine and for any number of threads.
//!
//! In: a seed, and what the numbers are for. Out: numbers that look random. Each purpose has numbers
//! of its own, so that it does not matter in which order purposes are served.

use crate::narrow::to_usize;

/// Random numbers that are the same everywhere (SplitMix, Steele and others, 2014).
#[derive(Debug, Clone, Copy)]
pub struct Dice(u64);

impl Dice {
    /// Numbers of a seed, for one purpose.
    pub fn new(seed: u64, what: u64) -> Dice {
        Dice(seed).apart(what)
    }

    /// Others, for something else.
    pub fn apart(self, what: u64) -> Dice {
        let mut dice = Dice(self.0 ^ what.wrapping_mul(0xd6e8_feb8_6659_fd93));
        dice.next();
        dice
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// From 0 up to 1.
    pub fn share(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1_u64 << 24) as f32
    }

    /// Puts items in a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = (u128::from(self.next()) * (last as u128 + 1)) >> 64;
            items.swap(last, to_usize(other));
        }
    }
}
