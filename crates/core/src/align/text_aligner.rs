//! Alignment of texts with a trained aligner.
//!
//! In: a bitext. Out: links with their posteriors.
//! How: the posterior of a link is the mean over both directions. Links are selected by a
//! threshold, or each direction selects the best partner of each word and a heuristic symmetrizes
//! the two.
//! Cost: one run of both directional models per sentence pair.
//! Not: training; the aligner does not change.

use super::aligner::{Aligner, PositionModel};
use super::diagonal;
use super::hmm::ForwardBackward;
use super::pair_features::{FEATURES, FeatureRow, LogFrequencies, compute_features};
use super::sentence_pair::{EmissionProbs, LinkPosteriors, ModelDirection, SentencePair};
use super::symmetrize::{SymmetrizationHeuristic, symmetrize};
use super::text_shard::PairWords;
use super::word_alignments::{Link, WordAlignments};
use super::word_numbering::NumberedBitext;
use super::word_numbering::WordNumbering;
use crate::corpus::{Bitext, Vocab};
use crate::error::{Error, Result};
use crate::job::Job;
use crate::parallel::{BLOCK, for_each_block};

/// Rule for selecting links.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LinkSelection {
    /// Links with at least this posterior.
    Threshold(f32),
    /// Best links of each direction, combined by a heuristic.
    Heuristic(SymmetrizationHeuristic),
}

impl LinkSelection {
    /// Return an error if the threshold is outside (0, 1].
    fn validate(self) -> Result<()> {
        match self {
            LinkSelection::Threshold(threshold) if !(threshold > 0.0 && threshold <= 1.0) => {
                Err(Error::Argument {
                    name: "threshold".into(),
                    found: threshold.to_string(),
                    expected: "a number above 0 and at most 1".into(),
                })
            }
            _ => Ok(()),
        }
    }
}

impl Default for LinkSelection {
    fn default() -> Self {
        LinkSelection::Threshold(0.45)
    }
}

/// A link with its posterior.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ScoredLink {
    /// The link.
    pub link: Link,
    /// Mean posterior of both directions, 0 to 1.
    pub posterior: f32,
}

/// An aligner for texts of one vocabulary.
#[derive(Debug)]
pub struct TextAligner<'a> {
    aligner: &'a Aligner,
    src_numbers: WordNumbering,
    tgt_numbers: WordNumbering,
}

impl Aligner {
    /// Create an aligner for texts whose words are numbered by `vocab`.
    pub fn text_aligner(&self, vocab: &Vocab) -> TextAligner<'_> {
        TextAligner::new(self, vocab)
    }
}

impl<'a> TextAligner<'a> {
    pub(super) fn new(aligner: &'a Aligner, vocab: &Vocab) -> Self {
        TextAligner {
            aligner,
            src_numbers: WordNumbering::new(&aligner.src_names, vocab),
            tgt_numbers: WordNumbering::new(&aligner.tgt_names, vocab),
        }
    }

    /// Align all sentence pairs of a bitext; with `wants_features`, compute the features of each
    /// pair.
    pub fn align(
        &self,
        bitext: &Bitext,
        selection: LinkSelection,
        wants_features: bool,
        job: &Job,
    ) -> Result<AlignedText> {
        selection.validate()?;
        let text = NumberedBitext::new(bitext, [&self.src_numbers, &self.tgt_numbers]);
        let frequencies = wants_features.then(|| self.aligner.frequencies());
        job.begin(text.len() as u64);
        let workers =
            for_each_block(text.len(), BLOCK, job, AlignmentWorker::default, |worker, block| {
                let mut done = AlignedBlock { start: block.start, ..AlignedBlock::default() };
                for k in block {
                    let before = done.links.len();
                    worker.align(self.aligner, &text, k, selection, &mut done.links);
                    done.counts.push(done.links.len() - before);
                    if let Some(frequencies) = frequencies {
                        let row =
                            text.is_alignable(k).then(|| worker.features(&text, k, frequencies));
                        done.features.push(row.unwrap_or(NO_FEATURES));
                    }
                }
                worker.done.push(done);
                Ok(())
            })?;
        Ok(join_blocks(workers))
    }
}

/// Features of a pair that cannot have links.
const NO_FEATURES: FeatureRow = [f32::NAN; FEATURES];

/// The alignment of a text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AlignedText {
    /// Links of each pair.
    pub links: WordAlignments,
    /// Posterior of each link.
    pub posteriors: Vec<f32>,
    /// Features of each pair, if requested; NaN if a side is blank or too long.
    pub features: Vec<FeatureRow>,
}

/// Concatenate the blocks of all threads in text order.
fn join_blocks(workers: Vec<AlignmentWorker>) -> AlignedText {
    let mut blocks: Vec<_> = workers.into_iter().flat_map(|worker| worker.done).collect();
    blocks.sort_unstable_by_key(|done| done.start);
    let mut aligned = AlignedText::default();
    for done in blocks {
        let mut remaining = &done.links[..];
        for count in done.counts {
            let (of_sentence, others) = remaining.split_at(count);
            // Links are in the order of `WordAlignments`, so posteriors match.
            aligned.links.push(of_sentence.iter().map(|scored| scored.link));
            aligned.posteriors.extend(of_sentence.iter().map(|scored| scored.posterior));
            remaining = others;
        }
        aligned.features.extend(done.features);
    }
    aligned
}

/// The alignment of a block: first sentence, links per sentence, links, features.
#[derive(Default)]
struct AlignedBlock {
    start: usize,
    counts: Vec<usize>,
    links: Vec<ScoredLink>,
    features: Vec<FeatureRow>,
}

/// Scratch memory and finished blocks of a thread.
#[derive(Default)]
struct AlignmentWorker {
    pair: SentencePair,
    emissions: EmissionProbs,
    forward_backward: ForwardBackward,
    prior: Vec<f32>,
    posteriors: [LinkPosteriors; 2],
    /// Log-likelihood of the generated words, by direction.
    likelihoods: [f32; 2],
    /// Words of the pair in the word numbers of the other side.
    elsewhere: PairWords,
    done: Vec<AlignedBlock>,
}

impl AlignmentWorker {
    /// Append the links of sentence pair `k`.
    fn align(
        &mut self,
        aligner: &Aligner,
        text: &NumberedBitext<'_>,
        k: usize,
        selection: LinkSelection,
        out: &mut Vec<ScoredLink>,
    ) {
        if !text.is_alignable(k) {
            return;
        }
        self.find_posteriors(aligner, text, k);
        match selection {
            LinkSelection::Threshold(threshold) => self.push_links_above(threshold, out),
            LinkSelection::Heuristic(heuristic) => {
                let [by_tgt, by_src] =
                    ModelDirection::BOTH.map(|direction| self.best_links(direction));
                let links = symmetrize(
                    &by_src,
                    &by_tgt,
                    (self.pair.words.src.len(), self.pair.words.tgt.len()),
                    heuristic,
                );
                out.extend(
                    links
                        .into_iter()
                        .map(|link| ScoredLink { link, posterior: self.posterior(link) }),
                );
            }
        }
    }

    fn find_posteriors(&mut self, aligner: &Aligner, text: &NumberedBitext<'_>, k: usize) {
        self.pair.load(&aligner.lexicon, text, k);
        for (side, direction) in ModelDirection::BOTH.into_iter().enumerate() {
            self.pair.fill_emissions(&aligner.lexicon, direction, &mut self.emissions);
            let posteriors = &mut self.posteriors[side];
            self.likelihoods[side] = match &aligner.position_model {
                PositionModel::Hmm(jumps) => {
                    let jumps = &jumps[side];
                    self.forward_backward.run(
                        &self.emissions,
                        jumps,
                        aligner.null_prob,
                        posteriors,
                        None,
                    );
                    self.forward_backward.log_likelihood()
                }
                PositionModel::Diagonal { tension } => diagonal::compute_posteriors(
                    &self.emissions,
                    *tension,
                    aligner.null_prob,
                    &mut self.prior,
                    posteriors,
                ),
            };
        }
    }

    /// Compute the features of pair `k`, which was aligned last.
    fn features(
        &mut self,
        text: &NumberedBitext<'_>,
        k: usize,
        frequencies: &LogFrequencies,
    ) -> FeatureRow {
        let (src, tgt) = (text.src.sentence(k), text.tgt.sentence(k));
        let PairWords { src: src_there, tgt: tgt_there } = &mut self.elsewhere;
        src_there.clear();
        src_there.extend(src.iter().map(|&id| text.tgt_numbers.number(id)));
        tgt_there.clear();
        tgt_there.extend(tgt.iter().map(|&id| text.src_numbers.number(id)));
        let same = tgt.iter().filter(|id| src.contains(id)).count();
        let words = &self.pair.words;
        compute_features(
            words,
            &self.elsewhere,
            same,
            &self.posteriors,
            self.likelihoods,
            frequencies,
        )
    }

    fn posterior(&self, link: Link) -> f32 {
        let (src, tgt) = (link.src.index(), link.tgt.index());
        0.5 * (self.posteriors[0].of_word(tgt)[src] + self.posteriors[1].of_word(src)[tgt])
    }

    fn push_links_above(&self, threshold: f32, out: &mut Vec<ScoredLink>) {
        for src in 0..self.pair.words.src.len() {
            for tgt in 0..self.pair.words.tgt.len() {
                let link = Link::at(src, tgt);
                let posterior = self.posterior(link);
                if posterior >= threshold {
                    out.push(ScoredLink { link, posterior });
                }
            }
        }
    }

    /// Return the best state of each generated word, unless NULL is more probable; the first of
    /// equals.
    fn best_links(&self, direction: ModelDirection) -> Vec<Link> {
        let posteriors = match direction {
            ModelDirection::Target => &self.posteriors[0],
            ModelDirection::Source => &self.posteriors[1],
        };
        let best = |word: usize| {
            let mut best = (posteriors.null[word], None);
            for (state, &posterior) in posteriors.of_word(word).iter().enumerate() {
                if posterior > best.0 {
                    best = (posterior, Some(state));
                }
            }
            best.1.map(|state| match direction {
                ModelDirection::Target => Link::at(state, word),
                ModelDirection::Source => Link::at(word, state),
            })
        };
        (0..posteriors.null.len()).filter_map(best).collect()
    }
}
