//! The hidden Markov model of word alignment: posteriors of one direction for one sentence pair.
//!
//! In: emission probabilities, jump weights. Out: `Posteriors`, and expected jumps while training.
//! How: forward-backward with scaling (Vogel et al., 1996). Each state has a NULL twin that
//! remembers it (Och and Ney,
//! 2003); a twin passes on to the same states, so state and twin share one forward number and NULL
//! costs nothing extra.
//! Cost: O(words · live states · states), in rows of eight numbers; states with almost no
//! probability are skipped.
//! Not: Viterbi; no logarithm or exponential is taken.

use super::jump::{DISTANCES, JumpCounts, Jumps, distance_index, edge_index};
use super::pair::{Emissions, Posteriors};

/// States with less than this share of the probability pass nothing on.
const LIVE: f32 = 1e-6;

/// Numbers handled at once; rows are padded to a multiple of it.
const LANES: usize = 8;

/// Scratch memory; one per thread.
#[derive(Debug, Default)]
pub struct Hmm {
    /// Row length: the number of states, padded.
    stride: usize,
    first: Vec<f32>,
    /// Probability of a step, by state left, then state reached; and the other way round.
    steps: Vec<f32>,
    steps_back: Vec<f32>,
    /// By word, then state: forward probability of the state or its twin, and of the state alone.
    forward: Vec<f32>,
    forward_real: Vec<f32>,
    /// Of the current word, by state.
    backward: Vec<f32>,
    reached: Vec<f32>,
    emitted: Vec<f32>,
    /// Sums over words of what left a state times what was emitted in another.
    flow: Vec<f32>,
    live: Vec<(usize, f32)>,
    /// Of the words of the pair, without what ends it.
    log_likelihood: f32,
}

/// Clears a vector and fills it with `len` zeros.
#[inline(always)]
fn zeros(vector: &mut Vec<f32>, len: usize) {
    vector.clear();
    vector.resize(len, 0.0);
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
        let (words, states) = (emissions.words(), emissions.states);
        self.prepare(jumps, words, states, null_prob);
        self.run_forward(emissions, null_prob);
        posteriors.reset(words, states);
        for (state, backward) in self.backward[..states].iter_mut().enumerate() {
            *backward = jumps.last[edge_index(states - 1 - state)];
        }
        for word in (0..words).rev() {
            self.read_posteriors(word, posteriors);
            if word > 0 {
                self.step_back(word, emissions, null_prob, counts.is_some());
            }
        }
        if let Some(counts) = counts {
            counts.add_steps(&self.expected_steps(states));
            counts.add_edges(posteriors.of_word(0), posteriors.of_word(words - 1));
        }
    }

    /// Log-likelihood of the generated words of the pair that was run last.
    pub fn log_likelihood(&self) -> f32 {
        self.log_likelihood
    }

    /// Sizes the scratch memory and normalises the jumps inside the sentence.
    #[inline(always)]
    fn prepare(&mut self, jumps: &Jumps, words: usize, states: usize, null_prob: f32) {
        let stride = states.next_multiple_of(LANES);
        self.stride = stride;
        for vector in [&mut self.steps, &mut self.steps_back, &mut self.flow] {
            zeros(vector, states * stride);
        }
        for vector in [&mut self.forward, &mut self.forward_real] {
            zeros(vector, words * stride);
        }
        for vector in [&mut self.first, &mut self.backward, &mut self.reached, &mut self.emitted] {
            zeros(vector, stride);
        }
        for (state, weight) in self.first[..states].iter_mut().enumerate() {
            *weight = jumps.first[edge_index(state)];
        }
        scale_to(&mut self.first, 1.0);
        for from in 0..states {
            let row = &mut self.steps[from * stride..(from + 1) * stride];
            for (to, weight) in row[..states].iter_mut().enumerate() {
                *weight = jumps.step[distance_index(from, to)];
            }
            scale_to(row, 1.0 - null_prob);
            for (to, &weight) in row[..states].iter().enumerate() {
                self.steps_back[to * stride + from] = weight;
            }
        }
    }

    #[inline(always)]
    fn run_forward(&mut self, emissions: &Emissions, null_prob: f32) {
        let stride = self.stride;
        self.log_likelihood = 0.0;
        for word in 0..emissions.words() {
            let (done, rest) = self.forward.split_at_mut(word * stride);
            let current = &mut rest[..emissions.states];
            let real = &mut self.forward_real[word * stride..][..emissions.states];
            let before = match word {
                0 => {
                    self.reached.copy_from_slice(&self.first);
                    self.reached.iter_mut().for_each(|reached| *reached *= 1.0 - null_prob);
                    &self.first[..]
                }
                _ => {
                    let before = &done[(word - 1) * stride..];
                    multiply(before, LIVE, &self.steps, stride, &mut self.live, &mut self.reached);
                    before
                }
            };
            let null = null_prob * emissions.null[word];
            let mut total = 0.0;
            for (state, &emission) in emissions.of_word(word).iter().enumerate() {
                real[state] = self.reached[state] * emission;
                current[state] = real[state] + null * before[state];
                total += current[state];
            }
            self.log_likelihood += total.max(f32::MIN_POSITIVE).ln();
            let scale = inverse(total);
            real.iter_mut().for_each(|value| *value *= scale);
            current.iter_mut().for_each(|value| *value *= scale);
        }
    }

    /// Posteriors of a word, from its forward row and the current backward row.
    #[inline(always)]
    fn read_posteriors(&self, word: usize, posteriors: &mut Posteriors) {
        let states = posteriors.states;
        let forward = &self.forward[word * self.stride..][..states];
        let forward_real = &self.forward_real[word * self.stride..][..states];
        let total: f32 = forward.iter().zip(&self.backward).map(|(f, b)| f * b).sum();
        let scale = inverse(total);
        let mut real_total = 0.0;
        for (state, posterior) in posteriors.real[word * states..][..states].iter_mut().enumerate()
        {
            *posterior = (forward_real[state] * self.backward[state] * scale).min(1.0);
            real_total += *posterior;
        }
        posteriors.null[word] = (1.0 - real_total).max(0.0);
    }

    /// Moves the backward row from `word` to the word before, and notes the flow between their
    /// states.
    #[inline(always)]
    fn step_back(&mut self, word: usize, emissions: &Emissions, null_prob: f32, wants_flow: bool) {
        let stride = self.stride;
        let mut highest = 0f32;
        for (state, &emission) in emissions.of_word(word).iter().enumerate() {
            self.emitted[state] = emission * self.backward[state];
            highest = highest.max(self.emitted[state]);
        }
        multiply(
            &self.emitted,
            LIVE * highest,
            &self.steps_back,
            stride,
            &mut self.live,
            &mut self.reached,
        );
        let null = null_prob * emissions.null[word];
        let before = &self.forward[(word - 1) * stride..word * stride];
        let mut total = 0.0;
        for ((reached, &backward), &before) in
            self.reached.iter_mut().zip(&self.backward).zip(before)
        {
            *reached += null * backward;
            total += before * *reached;
        }
        let scale = inverse(total);
        if wants_flow {
            let live = before.iter().enumerate().filter(|&(_, &share)| share > LIVE);
            for (state, share) in live {
                let row = &mut self.flow[state * stride..(state + 1) * stride];
                add_scaled(row, &self.emitted, share * scale);
            }
        }
        for (backward, reached) in self.backward.iter_mut().zip(&self.reached) {
            *backward = reached * scale;
        }
    }

    #[inline(always)]
    fn expected_steps(&self, states: usize) -> [f32; DISTANCES] {
        let mut shares = [0f32; DISTANCES];
        for from in 0..states {
            let row = from * self.stride..from * self.stride + states;
            for (to, (flow, step)) in
                self.flow[row.clone()].iter().zip(&self.steps[row]).enumerate()
            {
                shares[distance_index(from, to)] += flow * step;
            }
        }
        shares
    }
}

/// 1 / `total`, or 0 when there is nothing to share.
#[inline(always)]
fn inverse(total: f32) -> f32 {
    if total > 0.0 { 1.0 / total } else { 0.0 }
}

#[inline(always)]
fn scale_to(row: &mut [f32], total: f32) {
    let scale = total * inverse(row.iter().sum());
    row.iter_mut().for_each(|value| *value *= scale);
}

#[inline(always)]
fn add_scaled(sums: &mut [f32], values: &[f32], scale: f32) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum += scale * value;
    }
}

/// `out` = `vector` · `matrix`, leaving out elements of the vector up to `least`.
#[inline(always)]
fn multiply(
    vector: &[f32],
    least: f32,
    matrix: &[f32],
    stride: usize,
    live: &mut Vec<(usize, f32)>,
    out: &mut [f32],
) {
    live.clear();
    live.extend(
        vector
            .iter()
            .enumerate()
            .filter(|&(_, &value)| value > least)
            .map(|(row, &value)| (row * stride, value)),
    );
    for (column, out) in (0..).step_by(LANES).zip(out.chunks_exact_mut(LANES)) {
        let mut sums = [0f32; LANES];
        for &(row, value) in live.iter() {
            let elements = &matrix[row + column..row + column + LANES];
            for (sum, element) in sums.iter_mut().zip(elements) {
                *sum += value * element;
            }
        }
        out.copy_from_slice(&sums);
    }
}

#[cfg(test)]
mod tests {
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
        let real = (0..words * states).map(|_| random()).collect();
        (Emissions { states, real, null: (0..words).map(|_| random()).collect() }, jumps)
    }

    /// Posteriors by summing over every path; state `s + states` is the NULL twin of `s`.
    fn by_enumeration(emissions: &Emissions, jumps: &Jumps, null_prob: f32) -> Posteriors {
        let (words, states) = (emissions.words(), emissions.states);
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
                    (1.0 - null_prob) * emissions.of_word(word)[state]
                };
            }
            all += prob;
            for word in 0..words {
                match node(word) {
                    state if state < states => sums.real[word * states + state] += prob,
                    _ => sums.null[word] += prob,
                }
            }
        }
        sums.real.iter_mut().chain(&mut sums.null).for_each(|sum| *sum /= all);
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
            let pairs = posteriors
                .real
                .iter()
                .zip(&expected.real)
                .chain(posteriors.null.iter().zip(&expected.null));
            for (found, expected) in pairs {
                assert!((found - expected).abs() < 1e-4, "seed {seed}: {found} is not {expected}");
            }
        }
    }

    #[test]
    fn expected_jumps_are_one_less_than_the_linked_words_at_most() {
        let (emissions, jumps) = example(7);
        let (mut hmm, mut posteriors) = (Hmm::default(), Posteriors::default());
        hmm.run(&emissions, &jumps, 1e-4, &mut posteriors, Some(&mut JumpCounts::default()));
        let total: f32 = hmm.expected_steps(emissions.states).iter().sum();
        assert!((total - (emissions.words() - 1) as f32).abs() < 0.01, "{total}");
    }

    #[test]
    fn long_sentences_stay_finite() {
        let (words, states) = (1000, 1000);
        let emissions =
            Emissions { states, real: vec![1e-7; words * states], null: vec![1e-9; words] };
        let (mut hmm, mut posteriors) = (Hmm::default(), Posteriors::default());
        hmm.run(
            &emissions,
            &Jumps::initial(),
            0.2,
            &mut posteriors,
            Some(&mut JumpCounts::default()),
        );
        let is_share = |value: &f32| (0.0..=1.0).contains(value);
        assert!(posteriors.real.iter().chain(&posteriors.null).all(is_share));
        assert!(
            (posteriors.of_word(500).iter().sum::<f32>() + posteriors.null[500] - 1.0).abs() < 1e-3
        );
    }
}
