//! Zero-order models: IBM Model 1, and IBM Model 2 with a diagonal prior.
//!
//! In: a sentence pair, a tension per direction. Out: posteriors, or the expected distance from the
//! diagonal.
//! How: Dyer, Chahuneau and Smith (2013): the prior of a state is proportional to exp(-tension ·
//! distance), with positions relative to the sentence length; tension 0 is Model 1 (Brown et al.,
//! 1993). Along a row the prior is geometric, so a row costs two exponentials. The tension is
//! fitted so that the expected distance equals the observed one.
//! Cost: O(words · states) per sentence pair.
//! Not: jumps; see `hmm`.

use super::fixed_point::{from_fixed, to_fixed};
use super::sentence_pair::{EmissionProbs, LinkPosteriors};
use super::text_shard::LengthCounts;
use crate::narrow::{to_usize, whole};

/// Search range of the tension.
const TENSION_RANGE: (f32, f32) = (0.1, 20.0);

/// Number of bisection steps: precision of about 0.0001.
const BISECTION_STEPS: usize = 18;

/// Initial tension.
pub const INITIAL_TENSION: f32 = 4.0;

/// Write the normalized prior of each state for generated word `word` of `words`.
pub fn fill_prior(tension: f32, (word, words): (usize, usize), prior: &mut [f32]) {
    let states = prior.len();
    if tension == 0.0 {
        prior.fill(1.0 / states as f32);
        return;
    }
    let diagonal = (word as f32 + 0.5) / words as f32 * states as f32 - 0.5;
    let ratio = (-tension / states as f32).exp();
    // First state at or after the diagonal.
    let right = to_usize(whole(f64::from(diagonal.ceil()))).min(states);
    let mut value = (-tension / states as f32 * (right as f32 - diagonal).abs()).exp();
    for weight in &mut prior[right..] {
        *weight = value;
        value *= ratio;
    }
    let mut value = (-tension / states as f32 * (diagonal - right as f32 + 1.0).abs()).exp();
    for weight in prior[..right].iter_mut().rev() {
        *weight = value;
        value *= ratio;
    }
    let scale = 1.0 / prior.iter().sum::<f32>();
    prior.iter_mut().for_each(|weight| *weight *= scale);
}

/// Return the relative distance of `state` of `states` from the diagonal at `word` of `words`.
pub fn distance((word, words): (usize, usize), (state, states): (usize, usize)) -> f32 {
    ((word as f32 + 0.5) / words as f32 - (state as f32 + 0.5) / states as f32).abs()
}

/// Compute the posteriors of a sentence pair and return the log-likelihood of its generated words;
/// `prior` is scratch memory.
pub fn compute_posteriors(
    emissions: &EmissionProbs,
    tension: f32,
    null_prob: f32,
    prior: &mut Vec<f32>,
    posteriors: &mut LinkPosteriors,
) -> f32 {
    let (words, states) = (emissions.words(), emissions.real.len());
    posteriors.reset(words, states);
    prior.resize(states, 0.0);
    let mut log_likelihood = 0.0;
    for word in 0..words {
        fill_prior(tension, (word, words), prior);
        let row = posteriors.real.row_mut(word);
        let null = null_prob * emissions.null[word];
        let mut total = null;
        for ((posterior, emission), weight) in
            row.iter_mut().zip(emissions.real.row(word)).zip(prior.iter())
        {
            *posterior = (1.0 - null_prob) * weight * emission;
            total += *posterior;
        }
        row.iter_mut().for_each(|posterior| *posterior /= total);
        posteriors.null[word] = null / total;
        log_likelihood += total.max(f32::MIN_POSITIVE).ln();
    }
    log_likelihood
}

/// Expected distances from the diagonal in one direction, in fixed point.
#[derive(Debug, Clone, Default)]
pub struct DistanceCounts {
    distance: u64,
    links: u64,
}

impl DistanceCounts {
    /// Add the links of source word `src` of `src_len` with each target word.
    pub fn add_row(&mut self, (src, src_len): (usize, usize), shares: &[f32]) {
        let mut sum = 0.0;
        for (tgt, share) in shares.iter().enumerate() {
            sum += share * distance((tgt, shares.len()), (src, src_len));
        }
        self.add(sum, shares.iter().sum());
    }

    /// Add a mass of `links` whose distances sum to `distance`.
    fn add(&mut self, distance: f32, links: f32) {
        self.distance += to_fixed(distance);
        self.links += to_fixed(links);
    }

    /// Return both sums, in fixed point.
    pub fn sums(&mut self) -> [&mut u64; 2] {
        [&mut self.distance, &mut self.links]
    }

    /// Add the counts of another worker.
    pub fn merge(&mut self, other: &DistanceCounts) {
        self.distance += other.distance;
        self.links += other.links;
    }

    fn mean(&self) -> f64 {
        from_fixed(self.distance) / from_fixed(self.links).max(f64::MIN_POSITIVE)
    }
}

/// Find the tension with which the prior has the observed mean distance, by bisection.
pub fn fit_tension(counts: &DistanceCounts, length_counts: &LengthCounts) -> f32 {
    let (mut low, mut high) = TENSION_RANGE;
    for _ in 0..BISECTION_STEPS {
        let middle = 0.5 * (low + high);
        if expected_distance(middle, length_counts) > counts.mean() {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// Return the mean distance over all words of all sentence pairs under the prior.
fn expected_distance(tension: f32, length_counts: &LengthCounts) -> f64 {
    let mut prior = Vec::new();
    let (mut sum, mut total) = (0f64, 0f64);
    for (&(words, states), &pairs) in length_counts {
        prior.resize(states, 0.0);
        for word in 0..words {
            fill_prior(tension, (word, words), &mut prior);
            let expected: f32 = (0..)
                .zip(&prior)
                .map(|(state, weight)| weight * distance((word, words), (state, states)))
                .sum();
            sum += f64::from(expected) * pairs as f64;
        }
        total += words as f64 * pairs as f64;
    }
    sum / total.max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prior_is_the_exponential_of_the_distance() {
        for (word, words, states) in [(0, 1, 1), (0, 3, 5), (2, 3, 5), (6, 7, 2), (3, 4, 9)] {
            let mut prior = vec![0.0; states];
            fill_prior(4.0, (word, words), &mut prior);
            let weights: Vec<f32> = (0..states)
                .map(|state| (-4.0 * distance((word, words), (state, states))).exp())
                .collect();
            let total: f32 = weights.iter().sum();
            for (value, weight) in prior.iter().zip(&weights) {
                assert!((value - weight / total).abs() < 1e-5, "{prior:?} {weights:?}");
            }
        }
    }

    #[test]
    fn fitting_finds_the_tension_that_made_the_counts() {
        let length_counts = LengthCounts::from([((8, 10), 3), ((5, 4), 2)]);
        let mut counts = DistanceCounts::default();
        counts.add(expected_distance(6.0, &length_counts) as f32, 1.0);
        assert!((fit_tension(&counts, &length_counts) - 6.0).abs() < 0.01);
    }
}
