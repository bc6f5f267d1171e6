//! Forward-backward of the HMM alignment model, for one direction of one sentence pair.
//!
//! In: emission probabilities, jump weights. Out: `LinkPosteriors`, and expected jumps in training.
//! How: forward-backward with scaling (Vogel et al., 1996). Each state has a NULL twin that
//! remembers its position (Och and Ney, 2003). State and twin have the same transitions, so they
//! share one forward value and NULL has no extra cost. The weight of a jump depends on its distance
//! only, so the jumps out of a state are a window of one short list, normalized by state.
//! Cost: O(words · live states · states), in rows of eight values; states with negligible
//! probability are skipped.
//! Not: Viterbi; training computes no logarithms or exponentials.

use super::jump::{DISTANCES, JumpCounts, JumpWeights, distance_index, edge_index};
use super::lane_ops::{
    LANES, add_cross_correlation, add_scaled_windows, combine_in_place, combine_into, fill_zeros,
    lane_sum,
};
use super::sentence_pair::{EmissionProbs, LinkPosteriors};
use crate::narrow::to_f32;

/// States below this share of the maximum are not propagated.
const MIN_LIVE_SHARE: f32 = 1e-4;

/// Forward-backward with its scratch memory; one per thread. Lists by state are padded to `stride`.
#[derive(Debug, Default)]
pub struct ForwardBackward {
    /// Number of states, padded.
    stride: usize,
    /// Jump weights by distance from `-stride` on; and the same with reversed sign of the distance.
    steps: Vec<f32>,
    steps_back: Vec<f32>,
    /// Normalization factor of the jumps out of each state.
    step_scales: Vec<f32>,
    /// Cumulative sums of the jump weights.
    sums: Vec<f64>,
    first: Vec<f32>,
    /// Forward probabilities by word and state, of the state or its twin and of the state alone,
    /// both relative to `totals`, which is by word.
    forward: Vec<f32>,
    forward_real: Vec<f32>,
    totals: Vec<f32>,
    /// Backward row of the current word, scaled so that the sum of forward · backward is 1.
    backward: Vec<f32>,
    outgoing: Vec<f32>,
    incoming: Vec<f32>,
    /// Emission times `backward` of the current word, between `stride` zeros on either side.
    emitted: Vec<f32>,
    /// By distance from `-stride` on: outgoing mass times emitted mass, summed over words and
    /// states.
    jump_mass: Vec<f32>,
}

impl ForwardBackward {
    /// Compute the posteriors of a sentence pair and add its expected jumps to `counts`. Use AVX2
    /// where available; the result is identical bit by bit.
    pub fn run(
        &mut self,
        emissions: &EmissionProbs,
        jumps: &JumpWeights,
        null_prob: f32,
        posteriors: &mut LinkPosteriors,
        counts: Option<&mut JumpCounts>,
    ) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            #[expect(unsafe_code, reason = "the processor was just asked whether it can")]
            unsafe {
                return self.run_avx2(emissions, jumps, null_prob, posteriors, counts);
            }
        }
        self.run_plain(emissions, jumps, null_prob, posteriors, counts);
    }

    /// `run_plain`, compiled for AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn run_avx2(
        &mut self,
        emissions: &EmissionProbs,
        jumps: &JumpWeights,
        null_prob: f32,
        posteriors: &mut LinkPosteriors,
        counts: Option<&mut JumpCounts>,
    ) {
        self.run_plain(emissions, jumps, null_prob, posteriors, counts);
    }

    #[inline(always)]
    fn run_plain(
        &mut self,
        emissions: &EmissionProbs,
        jumps: &JumpWeights,
        null_prob: f32,
        posteriors: &mut LinkPosteriors,
        counts: Option<&mut JumpCounts>,
    ) {
        let (words, states) = (emissions.words(), emissions.real.len());
        self.prepare(jumps, words, states, null_prob);
        self.run_forward(emissions, null_prob);
        posteriors.reset(words, states);
        self.start_backward(jumps, states);
        for word in (0..words).rev() {
            self.compute_posteriors(word, posteriors);
            if word > 0 {
                self.step_backward(word, emissions, null_prob, counts.is_some());
            }
        }
        if let Some(counts) = counts {
            counts.add_steps(&self.expected_steps());
            counts.add_edges(posteriors.of_word(0), posteriors.of_word(words - 1));
        }
    }

    /// Return the log-likelihood of the generated words of the last pair, without the final jump.
    pub fn log_likelihood(&self) -> f32 {
        self.totals.iter().map(|total| total.max(f32::MIN_POSITIVE).ln()).sum()
    }

    /// Resize the scratch memory and normalize the jumps inside the sentence.
    #[inline(always)]
    fn prepare(&mut self, jumps: &JumpWeights, words: usize, states: usize, null_prob: f32) {
        let stride = states.next_multiple_of(LANES);
        self.stride = stride;
        for vector in [&mut self.forward, &mut self.forward_real] {
            vector.resize(words * stride, 0.0); // every row is written before it is read
        }
        self.totals.resize(words, 0.0);
        self.outgoing.resize(stride, 0.0);
        for vector in [&mut self.first, &mut self.step_scales, &mut self.backward] {
            fill_zeros(vector, stride);
        }
        fill_zeros(&mut self.incoming, stride);
        fill_zeros(&mut self.emitted, 3 * stride);
        fill_zeros(&mut self.jump_mass, 2 * stride);
        self.steps.clear();
        self.steps.extend((0..2 * stride).map(|at| jumps.step[distance_index(stride, at)]));
        self.steps_back.clear();
        self.steps_back.extend((0..2 * stride).map(|at| jumps.step[distance_index(at, stride)]));
        for (state, weight) in self.first[..states].iter_mut().enumerate() {
            *weight = jumps.first[edge_index(state)];
        }
        let scale = inverse(self.first.iter().sum());
        self.first.iter_mut().for_each(|weight| *weight *= scale);
        self.scale_steps(states, null_prob);
    }

    /// Scale the jumps out of each state, all inside the sentence, to sum to 1 - `null_prob`.
    #[inline(always)]
    fn scale_steps(&mut self, states: usize, null_prob: f32) {
        self.sums.clear();
        let mut sum = 0.0;
        for &weight in &self.steps {
            self.sums.push(sum);
            sum += f64::from(weight);
        }
        self.sums.push(sum);
        for (state, scale) in self.step_scales[..states].iter_mut().enumerate() {
            let start = self.stride - state;
            *scale =
                (1.0 - null_prob) * inverse(to_f32(self.sums[start + states] - self.sums[start]));
        }
    }

    #[inline(always)]
    fn run_forward(&mut self, emissions: &EmissionProbs, null_prob: f32) {
        let stride = self.stride;
        let mut scale = 1.0;
        for word in 0..emissions.words() {
            let (done, following) = self.forward.split_at_mut(word * stride);
            let before = match word {
                0 => {
                    self.incoming.copy_from_slice(&self.first);
                    self.incoming.iter_mut().for_each(|incoming| *incoming *= 1.0 - null_prob);
                    &self.first[..]
                }
                _ => {
                    let before = &done[(word - 1) * stride..];
                    let leave = |share, step_scale| share * scale * step_scale;
                    combine_into(&mut self.outgoing, before, &self.step_scales, leave);
                    self.incoming.fill(0.0);
                    let start = |state| stride - state;
                    add_scaled_windows(
                        &self.outgoing,
                        MIN_LIVE_SHARE,
                        &self.steps,
                        start,
                        &mut self.incoming,
                    );
                    before
                }
            };
            let null = null_prob * emissions.null[word] * scale;
            let current = &mut following[..stride];
            let real = &mut self.forward_real[word * stride..][..stride];
            let emission = emissions.real.padded(word);
            combine_into(real, &self.incoming, emission, |incoming, emission| incoming * emission);
            combine_into(current, real, before, |real, before| real + null * before);
            self.totals[word] = lane_sum(current);
            scale = inverse(self.totals[word]);
        }
    }

    /// Initialize the backward row of the last word.
    #[inline(always)]
    fn start_backward(&mut self, jumps: &JumpWeights, states: usize) {
        for (state, backward) in self.backward[..states].iter_mut().enumerate() {
            *backward = jumps.last[edge_index(states - 1 - state)];
        }
        let last = &self.forward[self.forward.len() - self.stride..];
        combine_into(&mut self.incoming, last, &self.backward, |last, backward| last * backward);
        let scale = inverse(lane_sum(&self.incoming));
        self.backward.iter_mut().for_each(|backward| *backward *= scale);
    }

    /// Compute the posteriors of a word from its forward row and the current backward row.
    #[inline(always)]
    fn compute_posteriors(&self, word: usize, posteriors: &mut LinkPosteriors) {
        let forward = &self.forward_real[word * self.stride..][..self.stride];
        let row = posteriors.real.padded_mut(word);
        combine_into(row, forward, &self.backward, |forward, backward| {
            let posterior = forward * backward;
            if posterior < 1.0 { posterior } else { 1.0 }
        });
        posteriors.null[word] = (1.0 - lane_sum(row)).max(0.0);
    }

    /// Move the backward row from `word` to the word before, and accumulate the jumps between their
    /// states.
    #[inline(always)]
    fn step_backward(
        &mut self,
        word: usize,
        emissions: &EmissionProbs,
        null_prob: f32,
        wants_jumps: bool,
    ) {
        let stride = self.stride;
        let emitted = &mut self.emitted[stride..2 * stride];
        combine_into(emitted, emissions.real.padded(word), &self.backward, |emission, backward| {
            emission * backward
        });
        self.incoming.fill(0.0);
        add_scaled_windows(
            emitted,
            MIN_LIVE_SHARE,
            &self.steps_back,
            |state| stride - state,
            &mut self.incoming,
        );
        let null = null_prob * emissions.null[word];
        combine_in_place(&mut self.incoming, &self.step_scales, |incoming, scale| incoming * scale);
        combine_in_place(&mut self.backward, &self.incoming, |backward, incoming| {
            incoming + null * backward
        });
        let before = &self.forward[(word - 1) * stride..word * stride];
        combine_into(&mut self.incoming, before, &self.backward, |before, backward| {
            before * backward
        });
        let scale = inverse(lane_sum(&self.incoming));
        self.backward.iter_mut().for_each(|backward| *backward *= scale);
        if wants_jumps {
            self.add_jump_mass(word - 1, scale);
        }
    }

    /// Accumulate the jumps from the states of a word to those of the next, which `emitted` holds.
    #[inline(always)]
    fn add_jump_mass(&mut self, word: usize, scale: f32) {
        let stride = self.stride;
        let before = &self.forward[word * stride..][..stride];
        let leave = |share, step_scale| share * step_scale * scale;
        combine_into(&mut self.outgoing, before, &self.step_scales, leave);
        add_cross_correlation(&self.outgoing, MIN_LIVE_SHARE, &self.emitted, &mut self.jump_mass);
    }

    #[inline(always)]
    fn expected_steps(&self) -> [f32; DISTANCES] {
        let mut shares = [0f32; DISTANCES];
        for (at, (jump_mass, step)) in self.jump_mass.iter().zip(&self.steps).enumerate() {
            shares[distance_index(self.stride, at)] += jump_mass * step;
        }
        shares
    }
}

/// Return 1 / `total`, or 0 for a total of 0.
#[inline(always)]
fn inverse(total: f32) -> f32 {
    if total > 0.0 { 1.0 / total } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::super::sentence_pair::PaddedMatrix;
    use super::*;

    /// Return a small random sentence pair: three to five words, two to four states.
    fn example(seed: u32) -> (EmissionProbs, JumpWeights) {
        let mut seed = seed;
        let mut random = move || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) as f32 / (1 << 24) as f32 + 0.01
        };
        let (words, states) = (3 + seed as usize % 3, 2 + seed as usize % 3);
        let mut jumps = JumpWeights::initial();
        for weight in jumps.step.iter_mut().chain(&mut jumps.first).chain(&mut jumps.last) {
            *weight = random();
        }
        let mut real = PaddedMatrix::default();
        real.reset(words, states);
        (0..words).for_each(|word| real.row_mut(word).fill_with(&mut random));
        (EmissionProbs::new(real, (0..words).map(|_| random()).collect()), jumps)
    }

    /// Compute posteriors by summing over all paths; state `s + states` is the NULL twin of `s`.
    fn enumerate_paths(
        emissions: &EmissionProbs,
        jumps: &JumpWeights,
        null_prob: f32,
    ) -> LinkPosteriors {
        let (words, states) = (emissions.words(), emissions.real.len());
        let step = |from: usize, to: usize| {
            let total: f32 = (0..states).map(|state| jumps.step[distance_index(from, state)]).sum();
            jumps.step[distance_index(from, to)] / total
        };
        let first_total: f32 = (0..states).map(|state| jumps.first[edge_index(state)]).sum();
        let mut sums = LinkPosteriors::default();
        sums.reset(words, states);
        let mut all = 0.0;
        for path in 0..(2 * states).pow(words as u32) {
            let node = |word: usize| path / (2 * states).pow(word as u32) % (2 * states);
            let mut prob = jumps.last[edge_index(states - 1 - node(words - 1) % states)];
            for word in 0..words {
                let (state, is_null) = (node(word) % states, node(word) >= states);
                let first = word == 0;
                prob *= match (first, is_null) {
                    (true, _) => jumps.first[edge_index(state)] / first_total,
                    (false, false) => step(node(word - 1) % states, state),
                    (false, true) => f32::from(u8::from(node(word - 1) % states == state)),
                };
                prob *= if is_null {
                    null_prob * emissions.null[word]
                } else {
                    (1.0 - null_prob) * emissions.real.row(word)[state]
                };
            }
            all += prob;
            for word in 0..words {
                match node(word) {
                    state if state < states => sums.real.row_mut(word)[state] += prob,
                    _ => sums.null[word] += prob,
                }
            }
        }
        for word in 0..words {
            sums.real.row_mut(word).iter_mut().for_each(|sum| *sum /= all);
            sums.null[word] /= all;
        }
        sums
    }

    #[test]
    fn posteriors_equal_the_sum_over_all_paths() {
        let mut hmm = ForwardBackward::default();
        for seed in 0..40 {
            let (emissions, jumps) = example(seed);
            let mut posteriors = LinkPosteriors::default();
            hmm.run(&emissions, &jumps, 0.2, &mut posteriors, None);
            let expected = enumerate_paths(&emissions, &jumps, 0.2);
            for word in 0..emissions.words() {
                let real = posteriors.of_word(word).iter().zip(expected.of_word(word));
                for (found, expected) in
                    real.chain([(&posteriors.null[word], &expected.null[word])])
                {
                    assert!((found - expected).abs() < 1e-4, "seed {seed}: {found}, {expected}");
                }
            }
        }
    }

    #[test]
    fn expected_jumps_are_one_less_than_the_linked_words_at_most() {
        let (emissions, jumps) = example(7);
        let (mut hmm, mut posteriors) = (ForwardBackward::default(), LinkPosteriors::default());
        hmm.run(&emissions, &jumps, 1e-4, &mut posteriors, Some(&mut JumpCounts::default()));
        let total: f32 = hmm.expected_steps().iter().sum();
        assert!((total - (emissions.words() - 1) as f32).abs() < 0.01, "{total}");
    }

    #[test]
    fn long_sentences_stay_finite() {
        let (words, states) = (1000, 1000);
        let mut real = PaddedMatrix::default();
        real.reset(words, states);
        (0..words).for_each(|word| real.row_mut(word).fill(1e-7));
        let emissions = EmissionProbs::new(real, vec![1e-9; words]);
        let (mut hmm, mut posteriors) = (ForwardBackward::default(), LinkPosteriors::default());
        hmm.run(
            &emissions,
            &JumpWeights::initial(),
            0.2,
            &mut posteriors,
            Some(&mut JumpCounts::default()),
        );
        let is_share = |value: &f32| (0.0..=1.0).contains(value);
        assert!((0..words).all(|word| posteriors.of_word(word).iter().all(is_share)));
        assert!(posteriors.null.iter().all(is_share));
        assert!(
            (posteriors.of_word(500).iter().sum::<f32>() + posteriors.null[500] - 1.0).abs() < 1e-3
        );
    }
}
