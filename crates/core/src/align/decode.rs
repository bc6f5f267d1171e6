//! Aligns sentence pairs with a trained aligner.
//!
//! In: texts, or one sentence pair at a time. Out: links with their posteriors.
//! How: both directions give each link a posterior; a link's own posterior is the mean of the two.
//! Links are those over
//! a threshold, or each direction chooses the likeliest partner of each word and a heuristic joins
//! the choices.
//! Cost: one pass of both directional models per sentence pair.
//! Not: learning; the aligner does not change.

use super::diagonal;
use super::features::{FEATURES, FeatureRow, Frequencies, features};
use super::hmm::Hmm;
use super::links::{Link, Links};
use super::numbered::Numbered;
use super::pair::{Direction, Emissions, Pair, Posteriors};
use super::shard::Words;
use super::symmetrise::{Heuristic, symmetrise};
use super::words::Numbering;
use super::{Aligner, Order};
use crate::corpus::{Bitext, Vocab};
use crate::error::{Error, Result};
use crate::job::Job;
use crate::parallel::{BLOCK, for_each_block};

/// Which links are chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Choice {
    /// Those whose posterior is at least this.
    Threshold(f32),
    /// Those a heuristic makes of the best links of each direction.
    Heuristic(Heuristic),
}

impl Choice {
    /// Fails when no link could ever be chosen, or all would be.
    fn check(self) -> Result<()> {
        match self {
            Choice::Threshold(threshold) if !(threshold > 0.0 && threshold <= 1.0) => {
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

impl Default for Choice {
    fn default() -> Self {
        Choice::Threshold(0.45)
    }
}

/// A link and how sure the aligner is of it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ScoredLink {
    /// The link.
    pub link: Link,
    /// Mean posterior of both directions, 0 to 1.
    pub posterior: f32,
}

/// An aligner for texts of one vocabulary.
#[derive(Debug)]
pub struct Decoder<'a> {
    aligner: &'a Aligner,
    src_numbers: Numbering,
    tgt_numbers: Numbering,
}

impl<'a> Decoder<'a> {
    pub(super) fn new(aligner: &'a Aligner, vocab: &Vocab) -> Self {
        Decoder {
            aligner,
            src_numbers: Numbering::new(&aligner.src_names, vocab),
            tgt_numbers: Numbering::new(&aligner.tgt_names, vocab),
        }
    }

    /// The links of all sentence pairs of a bitext, and what is thought of each pair if
    /// `wants_features`.
    pub fn align(
        &self,
        bitext: &Bitext,
        choice: Choice,
        wants_features: bool,
        job: &Job,
    ) -> Result<Aligned> {
        choice.check()?;
        let text = Numbered::new(bitext, [&self.src_numbers, &self.tgt_numbers]);
        let frequencies = wants_features.then(|| self.aligner.frequencies());
        job.begin(text.len() as u64);
        let workers = for_each_block(text.len(), BLOCK, job, Worker::default, |worker, block| {
            let mut done = Done { start: block.start, ..Done::default() };
            for k in block {
                let before = done.links.len();
                worker.align(self.aligner, &text, k, choice, &mut done.links);
                done.counts.push(done.links.len() - before);
                if let Some(frequencies) = frequencies {
                    let row = text.has_links(k).then(|| worker.features(&text, k, frequencies));
                    done.features.push(row.unwrap_or(NONE));
                }
            }
            worker.done.push(done);
            Ok(())
        })?;
        Ok(joined(workers))
    }
}

/// The row of a pair that can have no links.
const NONE: FeatureRow = [f32::NAN; FEATURES];

/// A text with its links.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Aligned {
    /// The links of each pair.
    pub links: Links,
    /// The posterior of each link.
    pub posteriors: Vec<f32>,
    /// What is thought of each pair, if it was asked for; not numbers where a side is blank or too
    /// long.
    pub features: Vec<FeatureRow>,
}

/// Puts the blocks of all threads in the order of the text.
fn joined(workers: Vec<Worker>) -> Aligned {
    let mut blocks: Vec<_> = workers.into_iter().flat_map(|worker| worker.done).collect();
    blocks.sort_unstable_by_key(|done| done.start);
    let mut aligned = Aligned::default();
    for done in blocks {
        let mut rest = &done.links[..];
        for count in done.counts {
            let (of_sentence, others) = rest.split_at(count);
            // Links are found in the order in which `Links` keeps them, so the rows match.
            aligned.links.push(of_sentence.iter().map(|scored| scored.link));
            aligned.posteriors.extend(of_sentence.iter().map(|scored| scored.posterior));
            rest = others;
        }
        aligned.features.extend(done.features);
    }
    aligned
}

/// A block of sentences with their links: first sentence, links per sentence, links, features.
#[derive(Default)]
struct Done {
    start: usize,
    counts: Vec<usize>,
    links: Vec<ScoredLink>,
    features: Vec<FeatureRow>,
}

/// Scratch memory of a thread, and the blocks it has done.
#[derive(Default)]
struct Worker {
    pair: Pair,
    emissions: Emissions,
    hmm: Hmm,
    prior: Vec<f32>,
    posteriors: [Posteriors; 2],
    /// By direction: of the generated words.
    likelihoods: [f32; 2],
    /// The words of the pair in the numbers of the other side.
    elsewhere: Words,
    done: Vec<Done>,
}

impl Worker {
    /// Adds the links of sentence pair `k`.
    fn align(
        &mut self,
        aligner: &Aligner,
        text: &Numbered<'_>,
        k: usize,
        choice: Choice,
        out: &mut Vec<ScoredLink>,
    ) {
        if !text.has_links(k) {
            return;
        }
        self.find_posteriors(aligner, text, k);
        match choice {
            Choice::Threshold(threshold) => self.links_over(threshold, out),
            Choice::Heuristic(heuristic) => {
                let [by_tgt, by_src] = Direction::BOTH.map(|direction| self.best_links(direction));
                let links = symmetrise(
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

    fn find_posteriors(&mut self, aligner: &Aligner, text: &Numbered<'_>, k: usize) {
        self.pair.load(&aligner.lexicon, text, k);
        for (side, direction) in Direction::BOTH.into_iter().enumerate() {
            self.pair.emissions(&aligner.lexicon, direction, &mut self.emissions);
            let posteriors = &mut self.posteriors[side];
            self.likelihoods[side] = match &aligner.order {
                Order::Hmm(jumps) => {
                    let jumps = &jumps[side];
                    self.hmm.run(&self.emissions, jumps, aligner.null_prob, posteriors, None);
                    self.hmm.log_likelihood()
                }
                Order::Diagonal { tension } => diagonal::run(
                    &self.emissions,
                    *tension,
                    aligner.null_prob,
                    &mut self.prior,
                    posteriors,
                ),
            };
        }
    }

    /// What is thought of pair `k`, which was aligned last.
    fn features(&mut self, text: &Numbered<'_>, k: usize, frequencies: &Frequencies) -> FeatureRow {
        let (src, tgt) = (text.src.sentence(k), text.tgt.sentence(k));
        let Words { src: src_there, tgt: tgt_there } = &mut self.elsewhere;
        src_there.clear();
        src_there.extend(src.iter().map(|&id| text.tgt_numbers.number(id)));
        tgt_there.clear();
        tgt_there.extend(tgt.iter().map(|&id| text.src_numbers.number(id)));
        let same = tgt.iter().filter(|id| src.contains(id)).count();
        let words = &self.pair.words;
        features(words, &self.elsewhere, same, &self.posteriors, self.likelihoods, frequencies)
    }

    fn posterior(&self, link: Link) -> f32 {
        let (src, tgt) = (link.src.index(), link.tgt.index());
        0.5 * (self.posteriors[0].of_word(tgt)[src] + self.posteriors[1].of_word(src)[tgt])
    }

    fn links_over(&self, threshold: f32, out: &mut Vec<ScoredLink>) {
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

    /// The likeliest state of each generated word, unless NULL is likelier; the first of equals.
    fn best_links(&self, direction: Direction) -> Vec<Link> {
        let posteriors = match direction {
            Direction::Target => &self.posteriors[0],
            Direction::Source => &self.posteriors[1],
        };
        let best = |word: usize| {
            let mut best = (posteriors.null[word], None);
            for (state, &posterior) in posteriors.of_word(word).iter().enumerate() {
                if posterior > best.0 {
                    best = (posterior, Some(state));
                }
            }
            best.1.map(|state| match direction {
                Direction::Target => Link::at(state, word),
                Direction::Source => Link::at(word, state),
            })
        };
        (0..posteriors.null.len()).filter_map(best).collect()
    }
}
