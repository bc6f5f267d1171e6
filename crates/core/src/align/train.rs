//! EM training of the two directional models, with agreement.
//!
//! In: a text in word numbers, `AlignerOptions`. Out: a lexicon and a position model.
//! How: E step (`expect`) and M step (`update`), first of a zero-order model, then of the HMM.
//! Counts of shards of a text add up (`ExpectedCounts::add`), so shards can be counted anywhere.
//! Cost: a scan of the text per iteration; memory for the lexicon and its counts. The number of
//! threads or shards does not change the result.
//! Not: selection of links; see `text_aligner`.

use super::aligner::PositionModel;
use super::diagonal::{self, DistanceCounts, INITIAL_TENSION};
use super::e_step::{ExpectedCounts, HmmWorker, ZeroOrderWorker};
use super::jump::JumpWeights;
use super::lexicon::{FLOOR, LexiconCounts, TranslationLexicon};
use super::options::{AlignerOptions, AlignmentModel};
use super::sentence_pair::SentencePair;
use super::text_shard::{LengthCounts, TextShard};
use crate::error::Result;
use crate::job::Job;
use crate::narrow::to_usize;
use crate::parallel::{BLOCK, for_each_block};
use crate::storage::{Unwire, Wire};

/// Word pairs below this probability in both directions are dropped after each iteration.
const MIN_PROB: f32 = 1e-4;

/// The model between two EM iterations.
#[derive(Debug, Clone)]
pub struct AlignerTraining {
    options: AlignerOptions,
    tgt_len: usize,
    length_counts: LengthCounts,
    /// Current lexical translation probabilities.
    pub lexicon: TranslationLexicon,
    tension: f32,
    jumps: [JumpWeights; 2],
    iterations: usize,
}

impl AlignerTraining {
    /// Create the initial model from the number of target words, an initial lexicon and the length
    /// counts of the text.
    pub fn new(
        options: &AlignerOptions,
        tgt_len: usize,
        lexicon: TranslationLexicon,
        length_counts: &LengthCounts,
    ) -> Self {
        let is_diagonal = options.method == AlignmentModel::Diagonal;
        AlignerTraining {
            options: options.clone(),
            tgt_len,
            length_counts: if is_diagonal { length_counts.clone() } else { LengthCounts::new() },
            lexicon,
            tension: if is_diagonal { INITIAL_TENSION } else { 0.0 },
            jumps: [JumpWeights::initial(), JumpWeights::initial()],
            iterations: 0,
        }
    }

    /// Return the total number of EM iterations.
    pub fn total_iterations(options: &AlignerOptions) -> usize {
        options.lexical_iterations
            + if options.method == AlignmentModel::Hmm { options.order_iterations } else { 0 }
    }

    /// Return whether all iterations are done.
    pub fn is_done(&self) -> bool {
        self.iterations == AlignerTraining::total_iterations(&self.options)
    }

    fn is_hmm_iteration(&self) -> bool {
        self.iterations >= self.options.lexical_iterations
    }

    /// E step: compute the expected counts of a text or a shard.
    pub fn expect(&self, text: &TextShard, job: &Job) -> Result<ExpectedCounts> {
        let mut counts = ExpectedCounts {
            lexicon: self.lexicon.new_counts(self.tgt_len, job.threads() == 1),
            jumps: Default::default(),
            distances: DistanceCounts::default(),
        };
        let (lexicon, null_prob) = (&self.lexicon, self.options.null_prob);
        let sums = &counts.lexicon;
        if self.is_hmm_iteration() {
            let workers = self.visit_pairs(text, job, |worker: &mut HmmWorker, pair| {
                worker.count(pair, lexicon, &self.jumps, null_prob, sums);
            })?;
            for worker in &workers {
                let sums = counts.jumps.iter_mut().zip(&worker.jumps);
                sums.for_each(|(sum, jumps)| sum.merge(jumps));
            }
        } else {
            let workers = self.visit_pairs(text, job, |worker: &mut ZeroOrderWorker, pair| {
                worker.count(pair, lexicon, self.tension, null_prob, sums);
            })?;
            workers.iter().for_each(|worker| counts.distances.merge(&worker.distances));
        }
        Ok(counts)
    }

    /// Apply `work` to every sentence pair, in parallel.
    fn visit_pairs<W: Default + Send>(
        &self,
        text: &TextShard,
        job: &Job,
        work: impl Fn(&mut W, &SentencePair) + Sync,
    ) -> Result<Vec<W>> {
        let make = || (W::default(), SentencePair::default(), Vec::new());
        let workers =
            for_each_block(text.len(), BLOCK, job, make, |(worker, pair, buffer), pairs| {
                let mut block = text.block(pairs.start / BLOCK, buffer)?;
                while block.next(&mut pair.words)? {
                    pair.look_up_cells(&self.lexicon);
                    work(worker, pair);
                }
                Ok(())
            })?;
        Ok(workers.into_iter().map(|(worker, ..)| worker).collect())
    }

    /// M step: update the probabilities from the counts of the whole text.
    pub fn update(&mut self, mut counts: ExpectedCounts, job: &Job) -> Result<()> {
        if self.is_hmm_iteration() {
            self.lexicon.update(&mut counts.lexicon, self.options.discount, job)?;
            drop(counts.lexicon);
            self.jumps = counts.jumps.map(|jumps| jumps.estimate());
        } else {
            self.lexicon.update(&mut counts.lexicon, self.options.first_discount, job)?;
            drop(counts.lexicon);
            if self.options.method == AlignmentModel::Diagonal {
                self.tension = diagonal::fit_tension(&counts.distances, &self.length_counts);
            }
        }
        self.lexicon.prune(MIN_PROB, job)?;
        self.iterations += 1;
        Ok(())
    }

    /// Return the vocabulary sizes of both sides.
    pub fn vocab_sizes(&self) -> [usize; 2] {
        [self.lexicon.src_len(), self.tgt_len]
    }

    /// Return whether counts belong to this lexicon.
    pub fn fits(&self, counts: &ExpectedCounts) -> bool {
        let LexiconCounts { cells, src_null, tgt_null, .. } = &counts.lexicon;
        cells.len() == self.lexicon.slot_count()
            && src_null.len() == self.lexicon.src_len()
            && tgt_null.len() == self.tgt_len
    }

    /// Write the model for another task.
    pub fn write(&self, wire: &mut Wire) -> Result<()> {
        wire.number(self.tgt_len as u64)?;
        wire.number(self.iterations as u64)?;
        let shape =
            |(&(tgt, src), &pairs): (&(usize, usize), &u64)| [tgt as u64, src as u64, pairs];
        wire.u64s(&self.length_counts.iter().flat_map(shape).collect::<Vec<_>>())?;
        wire.f32s(&[self.tension])?;
        for list in self.jumps.clone().iter_mut().flat_map(JumpWeights::lists) {
            wire.f32s(list)?;
        }
        self.lexicon.write(wire)
    }

    /// Read the output of `write`; `options` must be those of the training.
    pub fn read(wire: &mut Unwire, options: &AlignerOptions) -> Result<Self> {
        let (tgt_len, iterations) = (to_usize(wire.number()?), to_usize(wire.number()?));
        let flat = wire.read_u64s()?;
        let shape = |s: &[u64]| ((to_usize(s[0]), to_usize(s[1])), s[2]);
        let length_counts = flat.chunks_exact(3).map(shape).collect();
        let [tension] = wire.read_f32s()?[..] else { return Err(wire.wrong("no tension")) };
        let mut jumps = [JumpWeights::initial(), JumpWeights::initial()];
        for list in jumps.iter_mut().flat_map(JumpWeights::lists) {
            let values = wire.read_f32s()?;
            if values.len() != list.len() {
                return Err(wire.wrong("other jumps"));
            }
            *list = values;
        }
        let lexicon = TranslationLexicon::read(wire, tgt_len)?;
        let options = options.clone();
        Ok(AlignerTraining { options, tgt_len, length_counts, lexicon, tension, jumps, iterations })
    }

    /// Return the trained model.
    pub fn finish(mut self, job: &Job) -> Result<(TranslationLexicon, PositionModel)> {
        // Entries below the floor cannot change a link and only enlarge the file.
        self.lexicon.prune(FLOOR, job)?;
        let order = match self.options.method {
            AlignmentModel::Diagonal => PositionModel::Diagonal { tension: self.tension },
            AlignmentModel::Hmm => PositionModel::Hmm(Box::new(self.jumps)),
        };
        Ok((self.lexicon, order))
    }
}
