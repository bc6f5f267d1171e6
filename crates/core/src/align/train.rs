//! Trains the two directional models of an aligner so that they agree.
//!
//! In: a text in model numbers, `FitOptions`. Out: a lexicon and a model of order.
//! How: passes of expectation (`expect`) and maximisation (`update`), first of a model without
//! memory, then of the HMM. The counts of a pass over parts of a text add up (`Counts::add`), so
//! that parts may be counted anywhere.
//! Cost: a pass over the text per iteration; memory for the lexicon and its counts. The number of
//! threads or parts cannot change a result.
//! Not: the choice of links, see `decode`.

use super::diagonal::{self, DistanceCounts, INITIAL_TENSION, Shapes};
use super::expect::{Counts, HmmWorker, PriorWorker};
use super::jump::Jumps;
use super::lexicon::{FLOOR, Lexicon, LexiconCounts};
use super::pair::Pair;
use super::shard::Shard;
use super::{FitOptions, Method, Order};
use crate::error::Result;
use crate::job::Job;
use crate::narrow::to_usize;
use crate::parallel::{BLOCK, for_each_block};
use crate::storage::{Unwire, Wire};

/// Pairs of words under this probability in both directions are dropped after each pass.
const KEPT_PROB: f32 = 1e-4;

/// A model between two passes.
#[derive(Debug, Clone)]
pub struct Training {
    options: FitOptions,
    tgt_len: usize,
    shapes: Shapes,
    /// What is known of pairs of words.
    pub lexicon: Lexicon,
    tension: f32,
    jumps: [Jumps; 2],
    passes: usize,
}

impl Training {
    /// What training starts from: `tgt_len` target words, a first lexicon, and how many sentence
    /// pairs have each shape.
    pub fn new(options: &FitOptions, tgt_len: usize, lexicon: Lexicon, shapes: &Shapes) -> Self {
        let is_diagonal = options.method == Method::Diagonal;
        Training {
            options: options.clone(),
            tgt_len,
            shapes: if is_diagonal { shapes.clone() } else { Shapes::new() },
            lexicon,
            tension: if is_diagonal { INITIAL_TENSION } else { 0.0 },
            jumps: [Jumps::initial(), Jumps::initial()],
            passes: 0,
        }
    }

    /// Passes over the text in all.
    pub fn all_passes(options: &FitOptions) -> usize {
        options.lexical_iterations
            + if options.method == Method::Hmm { options.order_iterations } else { 0 }
    }

    /// Whether every pass was made.
    pub fn is_done(&self) -> bool {
        self.passes == Training::all_passes(&self.options)
    }

    fn has_memory(&self) -> bool {
        self.passes >= self.options.lexical_iterations
    }

    /// Counts the links of a text, or of a part of it.
    pub fn expect(&self, text: &Shard, job: &Job) -> Result<Counts> {
        let mut counts = Counts {
            lexicon: self.lexicon.zero_counts(self.tgt_len, job.threads() == 1),
            jumps: Default::default(),
            distances: DistanceCounts::default(),
        };
        let (lexicon, null_prob) = (&self.lexicon, self.options.null_prob);
        let sums = &counts.lexicon;
        if self.has_memory() {
            let workers = self.pass(text, job, |worker: &mut HmmWorker, pair| {
                worker.count(pair, lexicon, &self.jumps, null_prob, sums);
            })?;
            for worker in &workers {
                let sums = counts.jumps.iter_mut().zip(&worker.jumps);
                sums.for_each(|(sum, jumps)| sum.merge(jumps));
            }
        } else {
            let workers = self.pass(text, job, |worker: &mut PriorWorker, pair| {
                worker.count(pair, lexicon, self.tension, null_prob, sums);
            })?;
            workers.iter().for_each(|worker| counts.distances.merge(&worker.distances));
        }
        Ok(counts)
    }

    /// Applies `work` to every sentence pair.
    fn pass<W: Default + Send>(
        &self,
        text: &Shard,
        job: &Job,
        work: impl Fn(&mut W, &Pair) + Sync,
    ) -> Result<Vec<W>> {
        let make = || (W::default(), Pair::default(), Vec::new());
        let workers =
            for_each_block(text.len(), BLOCK, job, make, |(worker, pair, buffer), pairs| {
                let mut block = text.block(pairs.start / BLOCK, buffer)?;
                while block.next(&mut pair.words)? {
                    pair.find_cells(&self.lexicon);
                    work(worker, pair);
                }
                Ok(())
            })?;
        Ok(workers.into_iter().map(|(worker, ..)| worker).collect())
    }

    /// Makes probabilities from the counts of the whole text.
    pub fn update(&mut self, mut counts: Counts, job: &Job) -> Result<()> {
        if self.has_memory() {
            self.lexicon.update(&mut counts.lexicon, self.options.discount, job)?;
            drop(counts.lexicon);
            self.jumps = counts.jumps.map(|jumps| jumps.estimate());
        } else {
            self.lexicon.update(&mut counts.lexicon, self.options.first_discount, job)?;
            drop(counts.lexicon);
            if self.options.method == Method::Diagonal {
                self.tension = diagonal::fit_tension(&counts.distances, &self.shapes);
            }
        }
        self.lexicon.prune(KEPT_PROB, job)?;
        self.passes += 1;
        Ok(())
    }

    /// How many words there are on each side.
    pub fn words(&self) -> [usize; 2] {
        [self.lexicon.src_len(), self.tgt_len]
    }

    /// Whether counts belong to this lexicon.
    pub fn fits(&self, counts: &Counts) -> bool {
        let LexiconCounts { cells, src_null, tgt_null, .. } = &counts.lexicon;
        cells.len() == self.lexicon.slot_count()
            && src_null.len() == self.lexicon.src_len()
            && tgt_null.len() == self.tgt_len
    }

    /// Writes the state for another task.
    pub fn write(&self, wire: &mut Wire) -> Result<()> {
        wire.number(self.tgt_len as u64)?;
        wire.number(self.passes as u64)?;
        let shape =
            |(&(tgt, src), &pairs): (&(usize, usize), &u64)| [tgt as u64, src as u64, pairs];
        wire.u64s(&self.shapes.iter().flat_map(shape).collect::<Vec<_>>())?;
        wire.f32s(&[self.tension])?;
        for list in self.jumps.clone().iter_mut().flat_map(Jumps::lists) {
            wire.f32s(list)?;
        }
        self.lexicon.write(wire)
    }

    /// Reads what `write` wrote; options are those it was begun with.
    pub fn read(wire: &mut Unwire, options: &FitOptions) -> Result<Self> {
        let (tgt_len, passes) = (to_usize(wire.number()?), to_usize(wire.number()?));
        let flat = wire.read_u64s()?;
        let shape = |s: &[u64]| ((to_usize(s[0]), to_usize(s[1])), s[2]);
        let shapes = flat.chunks_exact(3).map(shape).collect();
        let [tension] = wire.read_f32s()?[..] else { return Err(wire.wrong("no tension")) };
        let mut jumps = [Jumps::initial(), Jumps::initial()];
        for list in jumps.iter_mut().flat_map(Jumps::lists) {
            let values = wire.read_f32s()?;
            if values.len() != list.len() {
                return Err(wire.wrong("other jumps"));
            }
            *list = values;
        }
        let lexicon = Lexicon::read(wire, tgt_len)?;
        let options = options.clone();
        Ok(Training { options, tgt_len, shapes, lexicon, tension, jumps, passes })
    }

    /// The finished model.
    pub fn finish(mut self, job: &Job) -> Result<(Lexicon, Order)> {
        // What is under the floor cannot change a link; it only makes the saved file larger.
        self.lexicon.prune(FLOOR, job)?;
        let order = match self.options.method {
            Method::Diagonal => Order::Diagonal { tension: self.tension },
            Method::Hmm => Order::Hmm(Box::new(self.jumps)),
        };
        Ok((self.lexicon, order))
    }
}
