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
use super::lexicon::{Lexicon, LexiconCounts};
use super::pair::{Cell, Direction, Emissions, Pair, Posteriors};
use super::shard::Words;
use super::wire::{Unwire, Wire};
use crate::error::Result;

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
    /// Writes them for another task.
    pub fn write(&mut self, wire: &mut Wire) -> Result<()> {
        for list in self.lexicon.lists() {
            wire.number(list.len() as u64)?;
            list.iter_mut().try_for_each(|sum| wire.number(*sum.fixed()))?;
        }
        for list in self.jumps.iter_mut().flat_map(JumpCounts::lists) {
            wire.u64s(list)?;
        }
        self.distances.sums().into_iter().try_for_each(|sum| wire.number(*sum))
    }

    /// Reads what `write` wrote.
    pub fn read(wire: &mut Unwire) -> Result<Self> {
        let mut lists = [Vec::new(), Vec::new(), Vec::new()];
        for list in &mut lists {
            for sum in wire.read_u64s()? {
                list.push(SharedSum::of(sum));
            }
        }
        let [cells, src_null, tgt_null] = lists;
        let lexicon = LexiconCounts { is_alone: true, cells, src_null, tgt_null };
        let mut counts =
            Counts { lexicon, jumps: Default::default(), distances: DistanceCounts::default() };
        counts.add_order(wire)?;
        Ok(counts)
    }

    /// Adds what another part counted.
    pub fn add(&mut self, wire: &mut Unwire) -> Result<()> {
        for list in self.lexicon.lists() {
            if wire.number()? != list.len() as u64 {
                return Err(wire.wrong("counts of another lexicon"));
            }
            for sum in list {
                *sum.fixed() += wire.number()?;
            }
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
    /// By direction, generated word and state; unused without tension.
    prior: [Vec<f32>; 2],
    /// By cell: probability of its target word from its source word, and the other way round.
    probs: Vec<(f32, f32)>,
    /// By target position and by source position: 1 / the probability of the word.
    tgt_scales: Vec<f32>,
    src_scales: Vec<f32>,
    /// What was counted so far.
    pub distances: DistanceCounts,
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
        self.start_scales(pair, lexicon, null_prob);
        self.fill_probs(pair, lexicon, 1.0 - null_prob);
        if tension > 0.0 {
            self.weigh_by_distance(pair, tension);
        }
        self.fill_scales(pair);
        self.rest.start(pair);
        let (mut distance, mut links) = (0.0, 0.0);
        for (cell, (to_tgt, to_src)) in pair.cells.iter().zip(&self.probs) {
            let (src, tgt) = (usize::from(cell.src), usize::from(cell.tgt));
            let share = (to_tgt * self.tgt_scales[tgt] * to_src * self.src_scales[src]).sqrt();
            if share > COUNTED {
                counts.add(&counts.cells[cell.slot as usize], share);
                self.rest.take(cell, share);
                links += share;
                distance += share
                    * diagonal::distance((tgt, pair.words.tgt.len()), (src, pair.words.src.len()));
            }
        }
        self.distances.add(distance, links);
        self.rest.give_to_null(pair, counts);
    }

    /// Starts the probability of each word with that of NULL.
    fn start_scales(&mut self, pair: &Pair, lexicon: &Lexicon, null_prob: f32) {
        self.tgt_scales.clear();
        self.tgt_scales
            .extend(pair.words.tgt.iter().map(|&word| null_prob * lexicon.tgt.null[word as usize]));
        self.src_scales.clear();
        self.src_scales
            .extend(pair.words.src.iter().map(|&word| null_prob * lexicon.src.null[word as usize]));
    }

    /// Probabilities of the cells when all states are equally likely.
    fn fill_probs(&mut self, pair: &Pair, lexicon: &Lexicon, real_prob: f32) {
        let Pair { words: Words { src, tgt }, cells, .. } = pair;
        let (by_src, by_tgt) = (real_prob / src.len() as f32, real_prob / tgt.len() as f32);
        self.probs.clear();
        self.probs.extend(cells.iter().map(|cell| {
            let src_scale = lexicon.src.given[src[usize::from(cell.src)] as usize];
            let tgt_scale = lexicon.tgt.given[tgt[usize::from(cell.tgt)] as usize];
            (by_src * src_scale * cell.weight, by_tgt * tgt_scale * cell.weight)
        }));
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
        for (cell, (to_tgt, to_src)) in pair.cells.iter().zip(&mut self.probs) {
            let (src, tgt) = (usize::from(cell.src), usize::from(cell.tgt));
            *to_tgt *= self.prior[0][tgt * src_len + src] * src_len as f32;
            *to_src *= self.prior[1][src * tgt_len + tgt] * tgt_len as f32;
        }
    }

    fn fill_scales(&mut self, pair: &Pair) {
        for (cell, (to_tgt, to_src)) in pair.cells.iter().zip(&self.probs) {
            self.tgt_scales[usize::from(cell.tgt)] += to_tgt;
            self.src_scales[usize::from(cell.src)] += to_src;
        }
        for total in self.tgt_scales.iter_mut().chain(&mut self.src_scales) {
            *total = 1.0 / total.max(f32::MIN_POSITIVE);
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
        for cell in &pair.cells {
            let (src, tgt) = (usize::from(cell.src), usize::from(cell.tgt));
            let share = by_tgt.of_word(tgt)[src] * by_src.of_word(src)[tgt];
            if share > COUNTED_BY_HMM {
                counts.add(&counts.cells[cell.slot as usize], share);
                self.rest.take(cell, share);
            }
        }
        self.rest.give_to_null(pair, counts);
    }
}

/// What the words of a pair have not yet given to links.
#[derive(Default)]
struct Rest {
    src: Vec<f32>,
    tgt: Vec<f32>,
}

impl Rest {
    fn start(&mut self, pair: &Pair) {
        for (rest, words) in [(&mut self.src, &pair.words.src), (&mut self.tgt, &pair.words.tgt)] {
            rest.clear();
            rest.resize(words.len(), 1.0);
        }
    }

    fn take(&mut self, cell: &Cell, share: f32) {
        self.src[usize::from(cell.src)] -= share;
        self.tgt[usize::from(cell.tgt)] -= share;
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
