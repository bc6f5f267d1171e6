//! Jump weights of the HMM: the distance between the states of consecutive words.
//!
//! In: expected counts of jumps. Out: a weight per distance, for all sentence lengths.
//! How: distances up to 8 are separate, longer ones are in groups of doubling size; interpolated
//! with a uniform distribution (after Vogel et al., 1996; Och and Ney, 2003). The first and the
//! last word have separate distributions.
//! Cost: 257 values per direction.
//! Not: jumps that depend on words.

use super::fixed_point::{from_fixed, to_fixed};
use crate::narrow::{to_f32, to_isize, to_usize};

/// Maximal distinct distance; longer jumps count as this long.
const MAX_JUMP: usize = 64;

/// Interpolation weight of the uniform distribution.
const UNIFORM_WEIGHT: f64 = 0.02;

/// Number of distances from `-MAX_JUMP` to `MAX_JUMP`.
pub const DISTANCES: usize = 2 * MAX_JUMP + 1;

/// Number of distances from a sentence boundary.
pub const EDGE_DISTANCES: usize = MAX_JUMP + 1;

/// Return the index of the weight of a jump.
#[inline(always)]
pub fn distance_index(from: usize, to: usize) -> usize {
    (to + MAX_JUMP).saturating_sub(from).min(2 * MAX_JUMP)
}

/// Return the index of the weight of a distance from a sentence boundary.
#[inline(always)]
pub fn edge_index(distance: usize) -> usize {
    distance.min(MAX_JUMP)
}

/// Unnormalized jump weights; each sentence normalizes the jumps inside it.
#[derive(Debug, Clone, PartialEq)]
pub struct JumpWeights {
    /// Weights by `distance_index`.
    pub step: Vec<f32>,
    /// Weights by distance of the first state from the start.
    pub first: Vec<f32>,
    /// Weights by distance of the last state from the end.
    pub last: Vec<f32>,
}

impl JumpWeights {
    /// Return all weights.
    pub fn lists(&mut self) -> [&mut Vec<f32>; 3] {
        [&mut self.step, &mut self.first, &mut self.last]
    }

    /// Return the initial weights: a jump of 1 is best, and weights decay with the distance from
    /// it.
    pub fn initial() -> Self {
        let decay = |distance: f32| (1.0 + distance).powf(-1.5);
        let step = (0..DISTANCES).map(|index| decay((index as f32 - MAX_JUMP as f32 - 1.0).abs()));
        JumpWeights {
            step: step.collect(),
            first: (0..EDGE_DISTANCES).map(|distance| decay(distance as f32)).collect(),
            last: vec![1.0; EDGE_DISTANCES],
        }
    }
}

/// Expected counts of jumps, in fixed point.
#[derive(Debug, Clone)]
pub struct JumpCounts {
    step: Vec<u64>,
    first: Vec<u64>,
    last: Vec<u64>,
}

impl Default for JumpCounts {
    fn default() -> Self {
        JumpCounts {
            step: vec![0; DISTANCES],
            first: vec![0; EDGE_DISTANCES],
            last: vec![0; EDGE_DISTANCES],
        }
    }
}

impl JumpCounts {
    /// Add the expected jumps of a sentence, by `distance_index`.
    pub fn add_steps(&mut self, shares: &[f32; DISTANCES]) {
        for (sum, &share) in self.step.iter_mut().zip(shares) {
            *sum += to_fixed(share);
        }
    }

    /// Add the posteriors of the first and of the last generated word, by state.
    pub fn add_edges(&mut self, first: &[f32], last: &[f32]) {
        for (distance, &share) in first.iter().enumerate() {
            self.first[edge_index(distance)] += to_fixed(share);
        }
        for (distance, &share) in last.iter().rev().enumerate() {
            self.last[edge_index(distance)] += to_fixed(share);
        }
    }

    /// Return all sums, in fixed point.
    pub fn lists(&mut self) -> [&mut Vec<u64>; 3] {
        [&mut self.step, &mut self.first, &mut self.last]
    }

    /// Add the counts of another worker.
    pub fn merge(&mut self, other: &JumpCounts) {
        for (sums, others) in [
            (&mut self.step, &other.step),
            (&mut self.first, &other.first),
            (&mut self.last, &other.last),
        ] {
            for (sum, other) in sums.iter_mut().zip(others) {
                *sum += other;
            }
        }
    }

    /// Estimate the jump weights from these counts.
    pub fn estimate(&self) -> JumpWeights {
        JumpWeights {
            step: smooth(&self.step, MAX_JUMP),
            first: smooth(&self.first, 0),
            last: smooth(&self.last, 0),
        }
    }
}

/// Return the signed group of a distance: 0 to 8 are separate, then 9–12, 13–20, 21–36 and beyond.
fn group(distance: isize) -> isize {
    let group = match distance.unsigned_abs() {
        near @ 0..=8 => to_isize(near),
        9..=12 => 9,
        13..=20 => 10,
        21..=36 => 11,
        _ => 12,
    };
    group * distance.signum()
}

/// Distribute counts evenly inside their groups and interpolate with the uniform distribution;
/// `zero` is the index of distance 0.
fn smooth(counts: &[u64], zero: usize) -> Vec<f32> {
    let group_at = |index: usize| to_usize(group(to_isize(index) - to_isize(zero)) + 12);
    let mut sums = [(0u64, 0u32); 25];
    for (index, &count) in counts.iter().enumerate() {
        let (sum, size) = &mut sums[group_at(index)];
        *sum += count;
        *size += 1;
    }
    let total = from_fixed(counts.iter().sum()).max(f64::MIN_POSITIVE);
    let weight = |index| {
        let (sum, size) = sums[group_at(index)];
        let share = from_fixed(sum) / f64::from(size) / total;
        to_f32((1.0 - UNIFORM_WEIGHT) * share + UNIFORM_WEIGHT / counts.len() as f64)
    };
    (0..counts.len()).map(weight).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_jumps_count_as_the_farthest() {
        assert_eq!(distance_index(0, 1), MAX_JUMP + 1);
        assert_eq!(distance_index(900, 0), 0);
        assert_eq!(distance_index(0, 900), 2 * MAX_JUMP);
        assert_eq!(edge_index(900), MAX_JUMP);
    }

    #[test]
    fn estimates_sum_to_one_and_are_never_zero() {
        let mut counts = JumpCounts::default();
        let mut shares = [0f32; DISTANCES];
        shares[distance_index(0, 1)] = 3.0;
        shares[distance_index(0, 10)] = 1.0;
        counts.add_steps(&shares);
        let jumps = counts.estimate();
        assert!((jumps.step.iter().sum::<f32>() - 1.0).abs() < 1e-4);
        assert!(
            jumps.step.iter().chain(&jumps.first).chain(&jumps.last).all(|&weight| weight > 0.0)
        );
        assert_eq!(jumps.step[distance_index(0, 9)], jumps.step[distance_index(0, 12)]);
        // one group
    }
}
