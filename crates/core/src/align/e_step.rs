//! The E step: expected counts of links over sentence pairs.
//!
//! In: a text in word numbers, the lexicon and position model of the last iteration. Out:
//! `ExpectedCounts`, in fixed point, so that counts of shards add up exactly.
//! How: agreement training (Liang, Taskar and Klein, 2006): both directions share the count of a
//! link. Zero-order models count the geometric mean of the two posteriors, which explores; the HMM
//! counts the product, which decides. The unlinked mass of a word goes to NULL.
//! Cost: a scan of the text; 8 bytes per slot of the lexicon. Threads share one set of counts.
//! Not: the M step; see `train`.

use super::diagonal::{self, DistanceCounts};
use super::fixed_point::SharedSum;
use super::hmm::ForwardBackward;
use super::jump::{JumpCounts, JumpWeights};
use super::lane_ops::{LANES, combine_in_place, combine_into, lane_dot, lane_sum};
use super::lexicon::{LexiconCounts, SideScale, TranslationLexicon};
use super::sentence_pair::{
    EmissionProbs, LinkPosteriors, ModelDirection, PaddedMatrix, SentencePair, gather,
};
use super::text_shard::PairWords;
use crate::error::Result;
use crate::storage::{Unwire, Wire};

/// Minimal counted posterior of the zero-order models, and of the HMM.
const MIN_POSTERIOR: f32 = 1e-4;
const MIN_HMM_POSTERIOR: f32 = 1e-6;

/// Expected counts of one EM iteration.
#[derive(Debug)]
pub struct ExpectedCounts {
    /// Links and NULL counts.
    pub lexicon: LexiconCounts,
    /// Jumps of each direction; empty for zero-order models.
    pub jumps: [JumpCounts; 2],
    /// Distances of links from the diagonal; empty for the HMM.
    pub distances: DistanceCounts,
}

impl ExpectedCounts {
    /// Create counts that fit any lexicon, without values.
    pub fn empty() -> Self {
        let lists = LexiconCounts {
            is_single_threaded: true,
            cells: Vec::new(),
            src_null: Vec::new(),
            tgt_null: Vec::new(),
        };
        ExpectedCounts {
            lexicon: lists,
            jumps: Default::default(),
            distances: DistanceCounts::default(),
        }
    }

    /// Write the counts for another task.
    pub fn write(&mut self, wire: &mut Wire) -> Result<()> {
        for list in self.lexicon.lists() {
            wire.sparse(list.iter_mut().map(|sum| Some(*sum.fixed()).filter(|&sum| sum > 0)))?;
        }
        for list in self.jumps.iter_mut().flat_map(JumpCounts::lists) {
            wire.u64s(list)?;
        }
        self.distances.sums().into_iter().try_for_each(|sum| wire.number(*sum))
    }

    /// Add the counts of a shard, as written by `write`.
    pub fn add(&mut self, wire: &mut Unwire) -> Result<()> {
        for list in self.lexicon.lists() {
            wire.read_sparse(list, SharedSum::default, |sum, more| *sum.fixed() += more)?;
        }
        self.add_order(wire)
    }

    fn add_order(&mut self, wire: &mut Unwire) -> Result<()> {
        for list in self.jumps.iter_mut().flat_map(JumpCounts::lists) {
            let values = wire.read_u64s()?;
            if values.len() != list.len() {
                return Err(wire.wrong("counts of other jumps"));
            }
            list.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        }
        for sum in self.distances.sums() {
            *sum += wire.number()?;
        }
        Ok(())
    }
}

/// Scratch memory and counts of a thread for zero-order models.
#[derive(Default)]
pub struct ZeroOrderWorker {
    unlinked: UnlinkedMass,
    /// Prior by direction, generated word and state; unused without tension, like `weighted`.
    prior: [Vec<f32>; 2],
    /// By direction: weights by source and target position, times the prior relative to the uniform
    /// one.
    weighted: [PaddedMatrix; 2],
    /// Scratch memory by position.
    src: SideScratch,
    tgt: SideScratch,
    shares: Vec<f32>,
    /// Distances counted so far.
    pub distances: DistanceCounts,
}

/// Scratch memory for the words of a side, padded with zeros.
#[derive(Default)]
struct SideScratch {
    /// Factor from a weight to the probability of a word of the other side.
    given: Vec<f32>,
    /// Total probability of the word.
    total: Vec<f32>,
}

impl SideScratch {
    /// Initialize with the NULL probability; each state has the prior `share`.
    fn start(&mut self, words: &[u32], scale: &SideScale, (share, null_prob): (f32, f32)) {
        let padded = words.len().next_multiple_of(LANES);
        gather(&mut self.given, words, &scale.given, 0.0);
        self.given.iter_mut().for_each(|given| *given *= share);
        self.given.resize(padded, 0.0);
        gather(&mut self.total, words, &scale.null, 0.0);
        self.total.iter_mut().for_each(|total| *total *= null_prob);
        self.total.resize(padded, 0.0);
    }

    /// Replace `given` by the factor with which a weight gives the geometric mean of both
    /// posteriors.
    fn finish(&mut self) {
        for (given, total) in self.given.iter_mut().zip(&self.total) {
            *given = (*given / total.max(f32::MIN_POSITIVE)).sqrt();
        }
    }
}

impl ZeroOrderWorker {
    /// Count the links of a sentence pair.
    pub fn count(
        &mut self,
        pair: &SentencePair,
        lexicon: &TranslationLexicon,
        tension: f32,
        null_prob: f32,
        counts: &LexiconCounts,
    ) {
        let PairWords { src, tgt } = &pair.words;
        let real_prob = 1.0 - null_prob;
        self.src.start(src, &lexicon.src, (real_prob / src.len() as f32, null_prob));
        self.tgt.start(tgt, &lexicon.tgt, (real_prob / tgt.len() as f32, null_prob));
        if tension > 0.0 {
            self.apply_diagonal_prior(pair, tension);
        }
        let [to_tgt, to_src] = match &self.weighted {
            [to_tgt, to_src] if tension > 0.0 => [to_tgt, to_src],
            _ => [&pair.weights; 2],
        };
        for place in 0..src.len() {
            let given = self.src.given[place];
            combine_in_place(&mut self.tgt.total, to_tgt.padded(place), |total, weight| {
                total + given * weight
            });
            self.src.total[place] += lane_dot(to_src.padded(place), &self.tgt.given);
        }
        self.src.finish();
        self.tgt.finish();
        self.unlinked.start(pair);
        self.shares.resize(to_tgt.stride(), 0.0);
        for place in 0..src.len() {
            let by_src = self.src.given[place];
            let rows = (to_tgt.padded(place), to_src.padded(place));
            combine_into(&mut self.shares, rows.0, rows.1, |a, b| (a * b).sqrt() * by_src);
            combine_in_place(&mut self.shares, &self.tgt.given, |share, by_tgt| {
                let share = share * by_tgt;
                if share > MIN_POSTERIOR { share } else { 0.0 }
            });
            self.unlinked.subtract(place, &self.shares);
            for (&share, &slot) in self.shares.iter().zip(pair.slots(place)) {
                if share > 0.0 {
                    counts.add(&counts.cells[slot as usize], share);
                }
            }
            if tension > 0.0 {
                self.distances.add_row((place, src.len()), &self.shares[..tgt.len()]);
            }
        }
        self.unlinked.add_to_null(pair, counts);
    }

    /// Replace the uniform prior by the diagonal prior.
    fn apply_diagonal_prior(&mut self, pair: &SentencePair, tension: f32) {
        for (direction, prior) in ModelDirection::BOTH.into_iter().zip(&mut self.prior) {
            let (words, states) = pair.shape(direction);
            prior.resize(words * states, 0.0);
            for (word, row) in prior.chunks_exact_mut(states).enumerate() {
                diagonal::fill_prior(tension, (word, words), row);
            }
        }
        let (src_len, tgt_len) = (pair.words.src.len(), pair.words.tgt.len());
        self.weighted.iter_mut().for_each(|rows| rows.reset(src_len, tgt_len));
        for src in 0..src_len {
            for (tgt, &weight) in pair.weights.row(src).iter().enumerate() {
                let shares =
                    (self.prior[0][tgt * src_len + src], self.prior[1][src * tgt_len + tgt]);
                self.weighted[0].row_mut(src)[tgt] = weight * shares.0 * src_len as f32;
                self.weighted[1].row_mut(src)[tgt] = weight * shares.1 * tgt_len as f32;
            }
        }
    }
}

/// Scratch memory and counts of a thread for the HMM.
#[derive(Default)]
pub struct HmmWorker {
    unlinked: UnlinkedMass,
    emissions: EmissionProbs,
    forward_backward: ForwardBackward,
    posteriors: [LinkPosteriors; 2],
    shares: Vec<f32>,
    /// Jumps counted so far.
    pub jumps: [JumpCounts; 2],
}

impl HmmWorker {
    /// Count the links and the jumps of a sentence pair.
    pub fn count(
        &mut self,
        pair: &SentencePair,
        lexicon: &TranslationLexicon,
        jumps: &[JumpWeights; 2],
        null_prob: f32,
        counts: &LexiconCounts,
    ) {
        for (side, direction) in ModelDirection::BOTH.into_iter().enumerate() {
            pair.fill_emissions(lexicon, direction, &mut self.emissions);
            let jump_counts = Some(&mut self.jumps[side]);
            self.forward_backward.run(
                &self.emissions,
                &jumps[side],
                null_prob,
                &mut self.posteriors[side],
                jump_counts,
            );
        }
        self.unlinked.start(pair);
        let [by_tgt, by_src] = &self.posteriors;
        self.shares.resize(pair.weights.stride(), 0.0);
        for src in 0..pair.words.src.len() {
            self.shares.fill(0.0);
            let known = by_src.of_word(src).iter().zip(pair.weights.row(src));
            for (tgt, ((&share, &weight), &slot)) in known.zip(pair.slots(src)).enumerate() {
                // The product with the other direction is not larger.
                if share > MIN_HMM_POSTERIOR && weight > 0.0 {
                    let share = share * by_tgt.of_word(tgt)[src];
                    if share > MIN_HMM_POSTERIOR {
                        counts.add(&counts.cells[slot as usize], share);
                        self.shares[tgt] = share;
                    }
                }
            }
            self.unlinked.subtract(src, &self.shares);
        }
        self.unlinked.add_to_null(pair, counts);
    }
}

/// Mass of the words of a sentence pair that is not linked yet, padded.
#[derive(Default)]
struct UnlinkedMass {
    src: Vec<f32>,
    tgt: Vec<f32>,
}

impl UnlinkedMass {
    fn start(&mut self, pair: &SentencePair) {
        for (unlinked, words) in
            [(&mut self.src, &pair.words.src), (&mut self.tgt, &pair.words.tgt)]
        {
            unlinked.clear();
            unlinked.resize(words.len().next_multiple_of(LANES), 1.0);
        }
    }

    /// Subtract the links of a source word.
    fn subtract(&mut self, src: usize, shares: &[f32]) {
        self.src[src] -= lane_sum(shares);
        combine_in_place(&mut self.tgt, shares, |unlinked, share| unlinked - share);
    }

    fn add_to_null(&self, pair: &SentencePair, counts: &LexiconCounts) {
        let sides = [
            (&self.src, &pair.words.src, &counts.src_null),
            (&self.tgt, &pair.words.tgt, &counts.tgt_null),
        ];
        for (unlinked, words, sums) in sides {
            for (&unlinked, &word) in unlinked.iter().zip(words) {
                counts.add(&sums[word as usize], unlinked.max(0.0));
            }
        }
    }
}
