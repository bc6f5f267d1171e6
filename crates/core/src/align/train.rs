//! Trains the two directional models of an aligner so that they agree.
//!
//! In: a bitext in model numbers, `FitOptions`. Out: a lexicon and a model of order.
//! How: Liang, Taskar and Klein (2006): a link counts for both directions by what both think of it.
//! The models without
//! memory count the geometric mean of the two posteriors, which lets them explore; the HMM counts
//! the product,
//! which lets it decide. What a word does not give to links goes to NULL.
//! Cost: a pass over the text per iteration; memory for the lexicon and its counts. Threads share
//! one set of counts,
//! in fixed point, so that their number cannot change a result.
//! Not: the choice of links, see `decode`.

use super::cooccur::cooccurrences;
use super::diagonal::{self, DistanceCounts, INITIAL_TENSION, Shapes};
use super::hmm::Hmm;
use super::jump::{JumpCounts, Jumps};
use super::lexicon::{FLOOR, Lexicon, LexiconCounts};
use super::numbered::Numbered;
use super::pair::{Cell, Direction, Emissions, Pair, Posteriors};
use super::{FitOptions, Method, Order};
use crate::error::Result;
use crate::job::Job;
use crate::parallel::{BLOCK, for_each_block};

/// Links less likely than this are not counted by the models without memory, and by the HMM.
const COUNTED: f32 = 1e-4;
const COUNTED_BY_HMM: f32 = 1e-6;

/// Pairs of words under this probability in both directions are dropped after each pass of a model
/// without memory.
const KEPT_PROB: f32 = 1e-5;

/// Learns a lexicon and an order model; `lens` are the numbers of source and target words that have
/// a number.
pub fn train(
    text: &Numbered<'_>,
    lens: (usize, usize),
    options: &FitOptions,
    job: &Job,
) -> Result<(Lexicon, Order)> {
    let passes = options.lexical_iterations + options.order_iterations;
    job.begin((passes * text.len()) as u64);
    let lexicon = cooccurrences(text, lens, job)?;
    let tgt_len = lens.1;
    let mut trainer = Trainer { text, tgt_len, options, job, lexicon };
    trainer.lexicon.start(tgt_len, options.first_discount);
    let tension = trainer.run_without_memory()?;
    let order = match options.method {
        Method::Diagonal => Order::Diagonal { tension },
        Method::Hmm => Order::Hmm(Box::new(trainer.run_hmm()?)),
    };
    // What is under the floor cannot change a link; it only makes the saved file larger.
    Ok((trainer.lexicon.pruned(FLOOR)?, order))
}

struct Trainer<'a> {
    text: &'a Numbered<'a>,
    tgt_len: usize,
    options: &'a FitOptions,
    job: &'a Job,
    lexicon: Lexicon,
}

impl Trainer<'_> {
    /// Runs Model 1 or the diagonal model; returns the tension.
    fn run_without_memory(&mut self) -> Result<f32> {
        let is_diagonal = self.options.method == Method::Diagonal;
        let shapes = if is_diagonal { self.shapes() } else { Shapes::new() };
        let mut tension = if is_diagonal { INITIAL_TENSION } else { 0.0 };
        for _ in 0..self.options.lexical_iterations {
            let mut counts = self.lexicon.zero_counts(self.tgt_len);
            let workers: Vec<PriorWorker> = self.pass(|worker: &mut PriorWorker, lexicon, k| {
                worker.pair.load(lexicon, self.text, k);
                worker.count(lexicon, tension, self.options.null_prob, &counts);
            })?;
            self.lexicon.update(&mut counts, self.options.first_discount);
            drop(counts);
            self.lexicon = self.lexicon.pruned(KEPT_PROB)?;
            if is_diagonal {
                let mut distances = DistanceCounts::default();
                workers.iter().for_each(|worker| distances.merge(&worker.distances));
                tension = diagonal::fit_tension(&distances, &shapes);
            }
        }
        Ok(tension)
    }

    fn run_hmm(&mut self) -> Result<[Jumps; 2]> {
        let mut jumps = [Jumps::initial(), Jumps::initial()];
        let mut counts = self.lexicon.zero_counts(self.tgt_len);
        for _ in 0..self.options.order_iterations {
            let workers: Vec<HmmWorker> = self.pass(|worker: &mut HmmWorker, lexicon, k| {
                worker.pair.load(lexicon, self.text, k);
                worker.count(lexicon, &jumps, self.options.null_prob, &counts);
            })?;
            self.lexicon.update(&mut counts, self.options.discount);
            let mut sums: [JumpCounts; 2] = Default::default();
            for worker in &workers {
                sums.iter_mut().zip(&worker.jumps).for_each(|(sum, jumps)| sum.merge(jumps));
            }
            jumps = sums.map(|sum| sum.estimate());
        }
        Ok(jumps)
    }

    /// Applies `work` to every sentence pair that can have links.
    fn pass<W: Default + Send>(
        &self,
        work: impl Fn(&mut W, &Lexicon, usize) + Sync,
    ) -> Result<Vec<W>> {
        for_each_block(self.text.len(), BLOCK, self.job, W::default, |worker, block| {
            for k in block.filter(|&k| self.text.has_links(k)) {
                work(worker, &self.lexicon, k);
            }
            Ok(())
        })
    }

    fn shapes(&self) -> Shapes {
        let mut shapes = Shapes::new();
        for k in (0..self.text.len()).filter(|&k| self.text.has_links(k)) {
            *shapes
                .entry((self.text.tgt.sentence(k).len(), self.text.src.sentence(k).len()))
                .or_default() += 1;
        }
        shapes
    }
}

/// Scratch memory and counts of a thread for models without memory.
#[derive(Default)]
struct PriorWorker {
    pair: Pair,
    rest: Rest,
    /// By direction, generated word and state; unused without tension.
    prior: [Vec<f32>; 2],
    /// By cell: probability of its target word from its source word, and the other way round.
    probs: Vec<(f32, f32)>,
    /// By target position and by source position: 1 / the probability of the word.
    tgt_scales: Vec<f32>,
    src_scales: Vec<f32>,
    distances: DistanceCounts,
}

impl PriorWorker {
    /// Counts the links of the loaded pair.
    fn count(&mut self, lexicon: &Lexicon, tension: f32, null_prob: f32, counts: &LexiconCounts) {
        self.start_scales(lexicon, null_prob);
        self.fill_probs(lexicon, 1.0 - null_prob);
        if tension > 0.0 {
            self.weigh_by_distance(tension);
        }
        self.fill_scales();
        self.rest.start(&self.pair);
        let (mut distance, mut links) = (0.0, 0.0);
        for (cell, (to_tgt, to_src)) in self.pair.cells.iter().zip(&self.probs) {
            let (src, tgt) = (usize::from(cell.src), usize::from(cell.tgt));
            let share = (to_tgt * self.tgt_scales[tgt] * to_src * self.src_scales[src]).sqrt();
            if share > COUNTED {
                counts.cells[cell.slot as usize].add(share);
                self.rest.take(cell, share);
                links += share;
                distance += share
                    * diagonal::distance((tgt, self.pair.tgt.len()), (src, self.pair.src.len()));
            }
        }
        self.distances.add(distance, links);
        self.rest.give_to_null(&self.pair, counts);
    }

    /// Starts the probability of each word with that of NULL.
    fn start_scales(&mut self, lexicon: &Lexicon, null_prob: f32) {
        self.tgt_scales.clear();
        self.tgt_scales
            .extend(self.pair.tgt.iter().map(|&word| null_prob * lexicon.tgt.null[word as usize]));
        self.src_scales.clear();
        self.src_scales
            .extend(self.pair.src.iter().map(|&word| null_prob * lexicon.src.null[word as usize]));
    }

    /// Probabilities of the cells when all states are equally likely.
    fn fill_probs(&mut self, lexicon: &Lexicon, real_prob: f32) {
        let Pair { src, tgt, cells, .. } = &self.pair;
        let (by_src, by_tgt) = (real_prob / src.len() as f32, real_prob / tgt.len() as f32);
        self.probs.clear();
        self.probs.extend(cells.iter().map(|cell| {
            let src_scale = lexicon.src.given[src[usize::from(cell.src)] as usize];
            let tgt_scale = lexicon.tgt.given[tgt[usize::from(cell.tgt)] as usize];
            (by_src * src_scale * cell.weight, by_tgt * tgt_scale * cell.weight)
        }));
    }

    /// Exchanges the equal shares of states for those of the diagonal model.
    fn weigh_by_distance(&mut self, tension: f32) {
        for (direction, prior) in Direction::BOTH.into_iter().zip(&mut self.prior) {
            let (words, states) = self.pair.shape(direction);
            prior.resize(words * states, 0.0);
            for (word, row) in prior.chunks_exact_mut(states).enumerate() {
                diagonal::fill_prior(tension, (word, words), row);
            }
        }
        let (src_len, tgt_len) = (self.pair.src.len(), self.pair.tgt.len());
        for (cell, (to_tgt, to_src)) in self.pair.cells.iter().zip(&mut self.probs) {
            let (src, tgt) = (usize::from(cell.src), usize::from(cell.tgt));
            *to_tgt *= self.prior[0][tgt * src_len + src] * src_len as f32;
            *to_src *= self.prior[1][src * tgt_len + tgt] * tgt_len as f32;
        }
    }

    fn fill_scales(&mut self) {
        for (cell, (to_tgt, to_src)) in self.pair.cells.iter().zip(&self.probs) {
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
struct HmmWorker {
    pair: Pair,
    rest: Rest,
    emissions: Emissions,
    hmm: Hmm,
    posteriors: [Posteriors; 2],
    jumps: [JumpCounts; 2],
}

impl HmmWorker {
    /// Counts the links and the jumps of the loaded pair.
    fn count(
        &mut self,
        lexicon: &Lexicon,
        jumps: &[Jumps; 2],
        null_prob: f32,
        counts: &LexiconCounts,
    ) {
        for (side, direction) in Direction::BOTH.into_iter().enumerate() {
            self.pair.emissions(lexicon, direction, &mut self.emissions);
            let jump_counts = Some(&mut self.jumps[side]);
            self.hmm.run(
                &self.emissions,
                &jumps[side],
                null_prob,
                &mut self.posteriors[side],
                jump_counts,
            );
        }
        self.rest.start(&self.pair);
        let [by_tgt, by_src] = &self.posteriors;
        for cell in &self.pair.cells {
            let (src, tgt) = (usize::from(cell.src), usize::from(cell.tgt));
            let share = by_tgt.of_word(tgt)[src] * by_src.of_word(src)[tgt];
            if share > COUNTED_BY_HMM {
                counts.cells[cell.slot as usize].add(share);
                self.rest.take(cell, share);
            }
        }
        self.rest.give_to_null(&self.pair, counts);
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
        for (rest, words) in [(&mut self.src, &pair.src), (&mut self.tgt, &pair.tgt)] {
            rest.clear();
            rest.resize(words.len(), 1.0);
        }
    }

    fn take(&mut self, cell: &Cell, share: f32) {
        self.src[usize::from(cell.src)] -= share;
        self.tgt[usize::from(cell.tgt)] -= share;
    }

    fn give_to_null(&self, pair: &Pair, counts: &LexiconCounts) {
        let sides =
            [(&self.src, &pair.src, &counts.src_null), (&self.tgt, &pair.tgt, &counts.tgt_null)];
        for (rest, words, sums) in sides {
            for (&rest, &word) in rest.iter().zip(words) {
                sums[word as usize].add(rest.max(0.0));
            }
        }
    }
}
