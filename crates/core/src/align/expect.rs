//! Expected counts of links, from one sentence pair after the other.
//!
//! In: a text in model numbers, the lexicon and order model of the pass before. Out: `Counts`, in
//! fixed point, so that those of parts of a text add up to those of the whole.
//! How: Liang, Taskar and Klein (2006): a link counts for both directions by what both think of it.
//! The models without memory count the geometric mean of the two posteriors, which lets them
//! explore; the HMM counts the product, which lets it decide. What a word does not give to links
//! goes to NULL.
//! Cost: a pass over the text; 8 bytes a slot of the lexicon. Threads share one set of counts.
//! Not: probabilities from the counts, which `train` makes.

use super::diagonal::{self, DistanceCounts};
use super::fixed::SharedSum;
use super::hmm::Hmm;
use super::jump::{JumpCounts, Jumps};
use super::lanes::{LANES, change_from, lane_dot, lane_sum, write_from};
use super::lexicon::{Lexicon, LexiconCounts, SideScale};
use super::pair::{Direction, Emissions, Pair, Posteriors, Rows, fill};
use super::shard::Words;
use crate::error::Result;
use crate::storage::{Unwire, Wire};

/// Links less likely than this are not counted by the models without memory, and by the HMM.
const COUNTED: f32 = 1e-4;
const COUNTED_BY_HMM: f32 = 1e-6;

/// What a pass over a text counts.
#[derive(Debug)]
pub struct Counts {
    /// Links and words without.
    pub lexicon: LexiconCounts,
    /// Jumps of each direction; none in models without memory.
    pub jumps: [JumpCounts; 2],
    /// How far links are from the diagonal; none in the HMM.
    pub distances: DistanceCounts,
}

impl Counts {
    /// Nothing was counted, and nothing is known of the lexicon.
    pub fn none() -> Self {
        let lists = LexiconCounts {
            is_alone: true,
            cells: Vec::new(),
            src_null: Vec::new(),
            tgt_null: Vec::new(),
        };
        Counts { lexicon: lists, jumps: Default::default(), distances: DistanceCounts::default() }
    }

    /// Writes them for another task.
    pub fn write(&mut self, wire: &mut Wire) -> Result<()> {
        for list in self.lexicon.lists() {
            wire.sparse(list.iter_mut().map(|sum| Some(*sum.fixed()).filter(|&sum| sum > 0)))?;
        }
        for list in self.jumps.iter_mut().flat_map(JumpCounts::lists) {
            wire.u64s(list)?;
        }
        self.distances.sums().into_iter().try_for_each(|sum| wire.number(*sum))
    }

    /// Adds what a part counted, as `write` wrote it.
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

/// Scratch memory and counts of a thread for models without memory.
#[derive(Default)]
pub struct PriorWorker {
    rest: Rest,
    /// By direction, generated word and state; unused without tension, like `weighed`.
    prior: [Vec<f32>; 2],
    /// By direction: the weights of the pair by source position, then target position, times the
    /// shares of the states.
    weighed: [Rows; 2],
    /// By position: probability of the word; then what its part of a link is multiplied by.
    src: Side,
    tgt: Side,
    shares: Vec<f32>,
    /// What was counted so far.
    pub distances: DistanceCounts,
}

/// Scratch memory for the words of a side, padded with zeros.
#[derive(Default)]
struct Side {
    /// What turns a weight into a probability of a word of the other side.
    given: Vec<f32>,
    /// The probability of the word itself.
    total: Vec<f32>,
}

impl Side {
    /// Starts with the probability from NULL; a state has `share` of the probability.
    fn start(&mut self, words: &[u32], scale: &SideScale, (share, null_prob): (f32, f32)) {
        let padded = words.len().next_multiple_of(LANES);
        fill(&mut self.given, words, &scale.given, 0.0);
        self.given.iter_mut().for_each(|given| *given *= share);
        self.given.resize(padded, 0.0);
        fill(&mut self.total, words, &scale.null, 0.0);
        self.total.iter_mut().for_each(|total| *total *= null_prob);
        self.total.resize(padded, 0.0);
    }

    /// Turns totals into what a weight is multiplied by, for each of its two words, to give the
    /// geometric mean of the posteriors of both directions.
    fn finish(&mut self) {
        for (given, total) in self.given.iter_mut().zip(&self.total) {
            *given = (*given / total.max(f32::MIN_POSITIVE)).sqrt();
        }
    }
}

impl PriorWorker {
    /// Counts the links of a pair.
    pub fn count(
        &mut self,
        pair: &Pair,
        lexicon: &Lexicon,
        tension: f32,
        null_prob: f32,
        counts: &LexiconCounts,
    ) {
        let Words { src, tgt } = &pair.words;
        let real_prob = 1.0 - null_prob;
        self.src.start(src, &lexicon.src, (real_prob / src.len() as f32, null_prob));
        self.tgt.start(tgt, &lexicon.tgt, (real_prob / tgt.len() as f32, null_prob));
        if tension > 0.0 {
            self.weigh_by_distance(pair, tension);
        }
        let [to_tgt, to_src] = match &self.weighed {
            [to_tgt, to_src] if tension > 0.0 => [to_tgt, to_src],
            _ => [&pair.weights; 2],
        };
        for place in 0..src.len() {
            let given = self.src.given[place];
            change_from(&mut self.tgt.total, to_tgt.padded(place), |total, weight| {
                total + given * weight
            });
            self.src.total[place] += lane_dot(to_src.padded(place), &self.tgt.given);
        }
        self.src.finish();
        self.tgt.finish();
        self.rest.start(pair);
        self.shares.resize(to_tgt.stride(), 0.0);
        for place in 0..src.len() {
            let by_src = self.src.given[place];
            let rows = (to_tgt.padded(place), to_src.padded(place));
            write_from(&mut self.shares, rows.0, rows.1, |a, b| (a * b).sqrt() * by_src);
            change_from(&mut self.shares, &self.tgt.given, |share, by_tgt| {
                let share = share * by_tgt;
                if share > COUNTED { share } else { 0.0 }
            });
            self.rest.take(place, &self.shares);
            for (&share, &slot) in self.shares.iter().zip(pair.slots(place)) {
                if share > 0.0 {
                    counts.add(&counts.cells[slot as usize], share);
                }
            }
            if tension > 0.0 {
                self.distances.add_row((place, src.len()), &self.shares[..tgt.len()]);
            }
        }
        self.rest.give_to_null(pair, counts);
    }

    /// Exchanges the equal shares of states for those of the diagonal model.
    fn weigh_by_distance(&mut self, pair: &Pair, tension: f32) {
        for (direction, prior) in Direction::BOTH.into_iter().zip(&mut self.prior) {
            let (words, states) = pair.shape(direction);
            prior.resize(words * states, 0.0);
            for (word, row) in prior.chunks_exact_mut(states).enumerate() {
                diagonal::fill_prior(tension, (word, words), row);
            }
        }
        let (src_len, tgt_len) = (pair.words.src.len(), pair.words.tgt.len());
        self.weighed.iter_mut().for_each(|rows| rows.reset(src_len, tgt_len));
        for src in 0..src_len {
            for (tgt, &weight) in pair.weights.row(src).iter().enumerate() {
                let shares =
                    (self.prior[0][tgt * src_len + src], self.prior[1][src * tgt_len + tgt]);
                self.weighed[0].row_mut(src)[tgt] = weight * shares.0 * src_len as f32;
                self.weighed[1].row_mut(src)[tgt] = weight * shares.1 * tgt_len as f32;
            }
        }
    }
}

/// Scratch memory and counts of a thread for the HMM.
#[derive(Default)]
pub struct HmmWorker {
    rest: Rest,
    emissions: Emissions,
    hmm: Hmm,
    posteriors: [Posteriors; 2],
    shares: Vec<f32>,
    /// What was counted so far.
    pub jumps: [JumpCounts; 2],
}

impl HmmWorker {
    /// Counts the links and the jumps of a pair.
    pub fn count(
        &mut self,
        pair: &Pair,
        lexicon: &Lexicon,
        jumps: &[Jumps; 2],
        null_prob: f32,
        counts: &LexiconCounts,
    ) {
        for (side, direction) in Direction::BOTH.into_iter().enumerate() {
            pair.emissions(lexicon, direction, &mut self.emissions);
            let jump_counts = Some(&mut self.jumps[side]);
            self.hmm.run(
                &self.emissions,
                &jumps[side],
                null_prob,
                &mut self.posteriors[side],
                jump_counts,
            );
        }
        self.rest.start(pair);
        let [by_tgt, by_src] = &self.posteriors;
        self.shares.resize(pair.weights.stride(), 0.0);
        for src in 0..pair.words.src.len() {
            self.shares.fill(0.0);
            let known = by_src.of_word(src).iter().zip(pair.weights.row(src));
            for (tgt, ((&share, &weight), &slot)) in known.zip(pair.slots(src)).enumerate() {
                // The other direction can only make it less.
                if share > COUNTED_BY_HMM && weight > 0.0 {
                    let share = share * by_tgt.of_word(tgt)[src];
                    if share > COUNTED_BY_HMM {
                        counts.add(&counts.cells[slot as usize], share);
                        self.shares[tgt] = share;
                    }
                }
            }
            self.rest.take(src, &self.shares);
        }
        self.rest.give_to_null(pair, counts);
    }
}

/// What the words of a pair have not yet given to links, padded.
#[derive(Default)]
struct Rest {
    src: Vec<f32>,
    tgt: Vec<f32>,
}

impl Rest {
    fn start(&mut self, pair: &Pair) {
        for (rest, words) in [(&mut self.src, &pair.words.src), (&mut self.tgt, &pair.words.tgt)] {
            rest.clear();
            rest.resize(words.len().next_multiple_of(LANES), 1.0);
        }
    }

    /// Takes off what a source word gives to the target words.
    fn take(&mut self, src: usize, shares: &[f32]) {
        self.src[src] -= lane_sum(shares);
        change_from(&mut self.tgt, shares, |rest, share| rest - share);
    }

    fn give_to_null(&self, pair: &Pair, counts: &LexiconCounts) {
        let sides = [
            (&self.src, &pair.words.src, &counts.src_null),
            (&self.tgt, &pair.words.tgt, &counts.tgt_null),
        ];
        for (rest, words, sums) in sides {
            for (&rest, &word) in rest.iter().zip(words) {
                counts.add(&sums[word as usize], rest.max(0.0));
            }
        }
    }
}
