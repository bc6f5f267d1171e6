//! Matched n-grams of orders 1 to 4, packed, and the score they give.
//!
//! In: how long a match is that ends at a word. Out: counts that add as one number, a comparison of
//! all four at once, and approximate BLEU (definitions i.2).

use crate::narrow::{low_u32, to_u32};
use std::ops::Add;

/// What a precision of nothing counts as.
pub const EPSILON: f64 = 1e-10;

const LANE: u32 = 16;
/// The highest bit of each lane, which no count reaches.
const HIGH: u64 = 0x8000_8000_8000_8000;

/// How many n-grams of each order match; up to 32,767 of each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Counts(u64);

impl Counts {
    /// Nothing.
    pub const NONE: Counts = Counts(0);

    /// So many matches of orders 1 to 4.
    #[inline]
    pub const fn of(one: u64, two: u64, three: u64, four: u64) -> Counts {
        Counts(one | two << LANE | three << (2 * LANE) | four << (3 * LANE))
    }

    /// One match of each order from `first` to `last`; nothing when there is no such order.
    pub fn orders(first: usize, last: usize) -> Counts {
        let lane = |order: usize| 1u64 << ((to_u32(order) - 1) * LANE);
        Counts((first.max(1)..=last).map(lane).sum())
    }

    /// The count of an order, 1 to 4.
    pub fn get(self, order: usize) -> u32 {
        low_u32(self.0 >> ((to_u32(order) - 1) * LANE)) & 0xffff
    }

    /// The counts of orders 1 to 4.
    pub fn all(self) -> [u32; 4] {
        [1, 2, 3, 4].map(|order| self.get(order))
    }

    /// Whether no count is below that of the other.
    #[inline]
    pub fn covers(self, other: Counts) -> bool {
        ((self.0 | HIGH) - other.0) & HIGH == HIGH
    }

    /// Approximate BLEU of a string of so many words: no clipping, no brevity penalty.
    pub fn score(self, words: usize) -> f64 {
        self.product(words).powf(0.25)
    }

    /// Its fourth power, which is quicker: the product of the precisions.
    pub fn product(self, words: usize) -> f64 {
        let precision = |order: usize| {
            let matched = f64::from(self.get(order));
            let possible = words as f64 - order as f64 + 1.0;
            if matched == 0.0 || possible <= 0.0 { EPSILON } else { matched / possible }
        };
        precision(1) * precision(2) * precision(3) * precision(4)
    }

    /// Less what the other has of each order; it must have no more.
    pub fn less(self, other: Counts) -> Counts {
        debug_assert!(self.covers(other));
        Counts(self.0 - other.0)
    }
}

impl Add for Counts {
    type Output = Counts;

    #[inline]
    fn add(self, other: Counts) -> Counts {
        Counts(self.0 + other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_add_and_compare_lane_by_lane() {
        let (two, four) = (Counts::orders(1, 2), Counts::orders(1, 4));
        assert_eq!((two + four).all(), [2, 2, 1, 1]);
        assert!(four.covers(two) && !two.covers(four));
        assert_eq!(Counts::orders(3, 2), Counts::NONE);
        assert!(!Counts::orders(2, 2).covers(Counts::orders(3, 3)));
    }

    #[test]
    fn scores_are_those_of_the_paper() {
        // to me if you could explain that: 7/7 5/6 3/5 2/4
        let mut counts = Counts::NONE;
        for order in [1, 2, 1, 2, 3, 4, 4] {
            counts = counts + Counts::orders(1, order);
        }
        assert_eq!(counts.all(), [7, 5, 3, 2]);
        assert!((counts.score(7) - 0.5f64.sqrt()).abs() < 1e-12);
        assert!((Counts::orders(1, 1).score(1) - 1e-10f64.powf(0.75)).abs() < 1e-15);
    }
}
