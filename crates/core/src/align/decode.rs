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
use super::hmm::Hmm;
use super::links::{Link, Links};
use super::numbered::Numbered;
use super::pair::{Direction, Emissions, Pair, Posteriors};
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

    /// The links of all sentence pairs of a bitext, and the posterior of each link.
    pub fn align(&self, bitext: &Bitext, choice: Choice, job: &Job) -> Result<(Links, Vec<f32>)> {
        choice.check()?;
        let text = Numbered::new(bitext, [&self.src_numbers, &self.tgt_numbers]);
        job.begin(text.len() as u64);
        let workers = for_each_block(text.len(), BLOCK, job, Worker::default, |worker, block| {
            let mut links = Vec::new();
            let mut counts = Vec::with_capacity(block.len());
            let start = block.start;
            for k in block {
                let before = links.len();
                worker.align(self.aligner, &text, k, choice, &mut links);
                counts.push(links.len() - before);
            }
            worker.blocks.push((start, counts, links));
            Ok(())
        })?;
        Ok(joined(workers))
    }
}

/// Puts the blocks of all threads in the order of the text.
fn joined(workers: Vec<Worker>) -> (Links, Vec<f32>) {
    let mut blocks: Vec<_> = workers.into_iter().flat_map(|worker| worker.blocks).collect();
    blocks.sort_unstable_by_key(|&(start, ..)| start);
    let (mut links, mut posteriors) = (Links::default(), Vec::new());
    for (_, counts, found) in blocks {
        let mut rest = &found[..];
        for count in counts {
            let (of_sentence, others) = rest.split_at(count);
            // Links are found in the order in which `Links` keeps them, so the rows match.
            links.push(of_sentence.iter().map(|scored| scored.link));
            posteriors.extend(of_sentence.iter().map(|scored| scored.posterior));
            rest = others;
        }
    }
    (links, posteriors)
}

/// Scratch memory of a thread, and the blocks it has done: first sentence, links per sentence,
/// links.
#[derive(Default)]
struct Worker {
    pair: Pair,
    emissions: Emissions,
    hmm: Hmm,
    prior: Vec<f32>,
    posteriors: [Posteriors; 2],
    blocks: Vec<(usize, Vec<usize>, Vec<ScoredLink>)>,
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
                    (self.pair.src.len(), self.pair.tgt.len()),
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
            match &aligner.order {
                Order::Hmm(jumps) => {
                    self.hmm.run(&self.emissions, &jumps[side], aligner.null_prob, posteriors, None)
                }
                Order::Diagonal { tension } => {
                    diagonal::run(
                        &self.emissions,
                        *tension,
                        aligner.null_prob,
                        &mut self.prior,
                        posteriors,
                    );
                }
            }
        }
    }

    fn posterior(&self, link: Link) -> f32 {
        let (src, tgt) = (link.src.index(), link.tgt.index());
        0.5 * (self.posteriors[0].of_word(tgt)[src] + self.posteriors[1].of_word(src)[tgt])
    }

    fn links_over(&self, threshold: f32, out: &mut Vec<ScoredLink>) {
        for src in 0..self.pair.src.len() {
            for tgt in 0..self.pair.tgt.len() {
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
