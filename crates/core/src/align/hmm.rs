//! The hidden Markov model of word alignment: posteriors of one direction for one sentence pair.
//!
//! In: emission probabilities, jump weights. Out: `Posteriors`, and expected jumps while training.
//! How: forward-backward with scaling (Vogel et al., 1996). Each state has a NULL twin that
//! remembers it (Och and Ney,
//! 2003); a twin passes on to the same states, so state and twin share one forward number and NULL
//! costs nothing extra. The weight of a step depends on its distance alone, so the steps out of a
//! state are a stretch of one short list, and what the list gives is scaled to 1 by state.
//! Cost: O(words · live states · states), in rows of eight numbers; states with almost no
//! probability are skipped.
//! Not: Viterbi; no logarithm or exponential is taken while training.

use super::jump::{DISTANCES, JumpCounts, Jumps, distance_index, edge_index};
use super::lanes::{LANES, add_products, add_stretches, change_from, lane_sum, write_from, zeros};
use super::pair::{Emissions, Posteriors};
use crate::narrow::to_f32;

/// States that have less than this share of what the likeliest has pass nothing on.
const LIVE: f32 = 1e-4;

/// Scratch memory; one per thread. Lists by state are padded with zeros to `stride`.
#[derive(Debug, Default)]
pub struct Hmm {
    /// The number of states, padded.
    stride: usize,
    /// Weights of steps by distance, from `-stride`; and with the sign of the distance changed.
    steps: Vec<f32>,
    steps_back: Vec<f32>,
    /// By state: what turns the weights of the steps out of it into probabilities.
    step_scales: Vec<f32>,
    /// Sums of the weights up to each distance.
    sums: Vec<f64>,
    first: Vec<f32>,
    /// By word, then state: forward probability of the state or its twin, and of the state alone,
    /// both in units of `totals`, which is by word.
    forward: Vec<f32>,
    forward_real: Vec<f32>,
    totals: Vec<f32>,
    /// Of the current word, by state; scaled so that forward · backward is 1.
    backward: Vec<f32>,
    leaving: Vec<f32>,
    reached: Vec<f32>,
    /// What the current word has of `backward` where it is emitted, between `stride` zeros on
    /// either side.
    emitted: Vec<f32>,
    /// By distance, from `-stride`: what left a state times what was emitted so far from it,
    /// summed over words and states.
    flow: Vec<f32>,
}

impl Hmm {
    /// Finds the posteriors of a sentence pair, and adds its expected jumps to `counts`; with wider
    /// registers where the processor has them, which changes no bit.
    pub fn run(
        &mut self,
        emissions: &Emissions,
        jumps: &Jumps,
        null_prob: f32,
        posteriors: &mut Posteriors,
        counts: Option<&mut JumpCounts>,
    ) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            #[expect(unsafe_code, reason = "the processor was just asked whether it can")]
            unsafe {
                return self.run_wide(emissions, jumps, null_prob, posteriors, counts);
            }
        }
        self.run_plain(emissions, jumps, null_prob, posteriors, counts);
    }

    /// `run_plain`, compiled for wider registers.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn run_wide(
        &mut self,
        emissions: &Emissions,
        jumps: &Jumps,
        null_prob: f32,
        posteriors: &mut Posteriors,
        counts: Option<&mut JumpCounts>,
    ) {
        self.run_plain(emissions, jumps, null_prob, posteriors, counts);
    }

    #[inline(always)]
    fn run_plain(
        &mut self,
        emissions: &Emissions,
        jumps: &Jumps,
        null_prob: f32,
        posteriors: &mut Posteriors,
        counts: Option<&mut JumpCounts>,
    ) {
        let (words, states) = (emissions.words(), emissions.real.len());
        self.prepare(jumps, words, states, null_prob);
        self.run_forward(emissions, null_prob);
        posteriors.reset(words, states);
        self.start_backward(jumps, states);
        for word in (0..words).rev() {
            self.read_posteriors(word, posteriors);
            if word > 0 {
                self.step_back(word, emissions, null_prob, counts.is_some());
            }
        }
        if let Some(counts) = counts {
            counts.add_steps(&self.expected_steps());
            counts.add_edges(posteriors.of_word(0), posteriors.of_word(words - 1));
        }
    }

    /// Log-likelihood of the generated words of the pair that was run last, without what ends it.
    pub fn log_likelihood(&self) -> f32 {
        self.totals.iter().map(|total| total.max(f32::MIN_POSITIVE).ln()).sum()
    }

    /// Sizes the scratch memory and normalises the jumps inside the sentence.
    #[inline(always)]
    fn prepare(&mut self, jumps: &Jumps, words: usize, states: usize, null_prob: f32) {
        let stride = states.next_multiple_of(LANES);
        self.stride = stride;
        for vector in [&mut self.forward, &mut self.forward_real] {
            vector.resize(words * stride, 0.0); // every row is written before it is read
        }
        self.totals.resize(words, 0.0);
        self.leaving.resize(stride, 0.0);
        for vector in [&mut self.first, &mut self.step_scales, &mut self.backward] {
            zeros(vector, stride);
        }
        zeros(&mut self.reached, stride);
        zeros(&mut self.emitted, 3 * stride);
        zeros(&mut self.flow, 2 * stride);
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

    /// Makes the steps out of each state, all of which end inside the sentence, sum to what NULL
    /// leaves.
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
    fn run_forward(&mut self, emissions: &Emissions, null_prob: f32) {
        let stride = self.stride;
        let mut scale = 1.0;
        for word in 0..emissions.words() {
            let (done, rest) = self.forward.split_at_mut(word * stride);
            let before = match word {
                0 => {
                    self.reached.copy_from_slice(&self.first);
                    self.reached.iter_mut().for_each(|reached| *reached *= 1.0 - null_prob);
                    &self.first[..]
                }
                _ => {
                    let before = &done[(word - 1) * stride..];
                    let leave = |share, step_scale| share * scale * step_scale;
                    write_from(&mut self.leaving, before, &self.step_scales, leave);
                    self.reached.fill(0.0);
                    let start = |state| stride - state;
                    add_stretches(&self.leaving, LIVE, &self.steps, start, &mut self.reached);
                    before
                }
            };
            let null = null_prob * emissions.null[word] * scale;
            let current = &mut rest[..stride];
            let real = &mut self.forward_real[word * stride..][..stride];
            let emission = emissions.real.padded(word);
            write_from(real, &self.reached, emission, |reached, emission| reached * emission);
            write_from(current, real, before, |real, before| real + null * before);
            self.totals[word] = lane_sum(current);
            scale = inverse(self.totals[word]);
        }
    }

    /// Sets the backward row of the last word.
    #[inline(always)]
    fn start_backward(&mut self, jumps: &Jumps, states: usize) {
        for (state, backward) in self.backward[..states].iter_mut().enumerate() {
            *backward = jumps.last[edge_index(states - 1 - state)];
        }
        let last = &self.forward[self.forward.len() - self.stride..];
        write_from(&mut self.reached, last, &self.backward, |last, backward| last * backward);
        let scale = inverse(lane_sum(&self.reached));
        self.backward.iter_mut().for_each(|backward| *backward *= scale);
    }

    /// Posteriors of a word, from its forward row and the current backward row.
    #[inline(always)]
    fn read_posteriors(&self, word: usize, posteriors: &mut Posteriors) {
        let forward = &self.forward_real[word * self.stride..][..self.stride];
        let row = posteriors.real.padded_mut(word);
        write_from(row, forward, &self.backward, |forward, backward| {
            let posterior = forward * backward;
            if posterior < 1.0 { posterior } else { 1.0 }
        });
        posteriors.null[word] = (1.0 - lane_sum(row)).max(0.0);
    }

    /// Moves the backward row from `word` to the word before, and notes the flow between their
    /// states.
    #[inline(always)]
    fn step_back(&mut self, word: usize, emissions: &Emissions, null_prob: f32, wants_flow: bool) {
        let stride = self.stride;
        let emitted = &mut self.emitted[stride..2 * stride];
        write_from(emitted, emissions.real.padded(word), &self.backward, |emission, backward| {
            emission * backward
        });
        self.reached.fill(0.0);
        add_stretches(emitted, LIVE, &self.steps_back, |state| stride - state, &mut self.reached);
        let null = null_prob * emissions.null[word];
        change_from(&mut self.reached, &self.step_scales, |reached, scale| reached * scale);
        change_from(&mut self.backward, &self.reached, |backward, reached| {
            reached + null * backward
        });
        let before = &self.forward[(word - 1) * stride..word * stride];
        write_from(&mut self.reached, before, &self.backward, |before, backward| before * backward);
        let scale = inverse(lane_sum(&self.reached));
        self.backward.iter_mut().for_each(|backward| *backward *= scale);
        if wants_flow {
            self.add_flow(word - 1, scale);
        }
    }

    /// Notes what left the states of a word for those of the next, which `emitted` holds.
    #[inline(always)]
    fn add_flow(&mut self, word: usize, scale: f32) {
        let stride = self.stride;
        let before = &self.forward[word * stride..][..stride];
        let leave = |share, step_scale| share * step_scale * scale;
        write_from(&mut self.leaving, before, &self.step_scales, leave);
        add_products(&self.leaving, LIVE, &self.emitted, &mut self.flow);
    }

    #[inline(always)]
    fn expected_steps(&self) -> [f32; DISTANCES] {
        let mut shares = [0f32; DISTANCES];
        for (at, (flow, step)) in self.flow.iter().zip(&self.steps).enumerate() {
            shares[distance_index(self.stride, at)] += flow * step;
        }
        shares
    }
}

/// 1 / `total`, or 0 when there is nothing to share.
#[inline(always)]
fn inverse(total: f32) -> f32 {
    if total > 0.0 { 1.0 / total } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::super::pair::Rows;
    use super::*;

    /// A small random sentence pair: three to five words, two to four states.
    fn example(seed: u32) -> (Emissions, Jumps) {
        let mut seed = seed;
        let mut random = move || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) as f32 / (1 << 24) as f32 + 0.01
        };
        let (words, states) = (3 + seed as usize % 3, 2 + seed as usize % 3);
        let mut jumps = Jumps::initial();
        for weight in jumps.step.iter_mut().chain(&mut jumps.first).chain(&mut jumps.last) {
            *weight = random();
        }
        let mut real = Rows::default();
        real.reset(words, states);
        (0..words).for_each(|word| real.row_mut(word).fill_with(&mut random));
        (Emissions::new(real, (0..words).map(|_| random()).collect()), jumps)
    }

    /// Posteriors by summing over every path; state `s + states` is the NULL twin of `s`.
    fn by_enumeration(emissions: &Emissions, jumps: &Jumps, null_prob: f32) -> Posteriors {
        let (words, states) = (emissions.words(), emissions.real.len());
        let step = |from: usize, to: usize| {
            let total: f32 = (0..states).map(|state| jumps.step[distance_index(from, state)]).sum();
            jumps.step[distance_index(from, to)] / total
        };
        let first_total: f32 = (0..states).map(|state| jumps.first[edge_index(state)]).sum();
        let mut sums = Posteriors::default();
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
        let mut hmm = Hmm::default();
        for seed in 0..40 {
            let (emissions, jumps) = example(seed);
            let mut posteriors = Posteriors::default();
            hmm.run(&emissions, &jumps, 0.2, &mut posteriors, None);
            let expected = by_enumeration(&emissions, &jumps, 0.2);
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
        let (mut hmm, mut posteriors) = (Hmm::default(), Posteriors::default());
        hmm.run(&emissions, &jumps, 1e-4, &mut posteriors, Some(&mut JumpCounts::default()));
        let total: f32 = hmm.expected_steps().iter().sum();
        assert!((total - (emissions.words() - 1) as f32).abs() < 0.01, "{total}");
    }

    #[test]
    fn long_sentences_stay_finite() {
        let (words, states) = (1000, 1000);
        let mut real = Rows::default();
        real.reset(words, states);
        (0..words).for_each(|word| real.row_mut(word).fill(1e-7));
        let emissions = Emissions::new(real, vec![1e-9; words]);
        let (mut hmm, mut posteriors) = (Hmm::default(), Posteriors::default());
        hmm.run(
            &emissions,
            &Jumps::initial(),
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
