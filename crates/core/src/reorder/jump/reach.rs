//! What pruning would leave of the right orders, without decoding (definitions b.6).
//!
//! In: a model, annotated sentences with their orders, and spaces, pruned or not. Out: for each
//! space, how many words may come next at a step, how often the right one is among them, and how
//! many sentences can be walked through from start to end.
//! How: each word is a phrase of its own; every step is looked at as if all before it had been
//! right.
//! Cost: one evaluation of the model a pair of words; a look at each candidate a space.

use super::Judge;
use super::evaluate::{BLOCK, LONG_BACK, LONG_FORWARD, fits, jump};
use super::rater::Rater;
use super::samples::Walk;
use crate::Job;
use crate::corpus::SrcPos;
use crate::error::{Error, Result};
use crate::feature::{Coverage, ReorderingState, Span};
use crate::parallel::for_each_block;
use crate::reorder::prune::Chooser;
use crate::reorder::{Corpus, Shaped, Space};

/// Steps of one kind, and those whose right word may come next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kept {
    /// Number of steps.
    pub steps: u64,
    /// The right word was among the candidates.
    pub kept: u64,
}

/// What a space leaves of the right orders.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reached {
    /// All steps.
    pub all: Kept,
    /// Words that may come next, over all steps.
    pub candidates: u64,
    /// Long jumps backward, those beyond the limit too.
    pub long_back: Kept,
    /// Long jumps forward, those beyond the limit too.
    pub long_forward: Kept,
    /// Sentences with words.
    pub sentences: u64,
    /// Those whose whole order is left.
    pub whole: u64,
}

impl Kept {
    fn add(&mut self, is_kept: bool) {
        self.steps += 1;
        self.kept += u64::from(is_kept);
    }

    fn join(&mut self, other: &Kept) {
        self.steps += other.steps;
        self.kept += other.kept;
    }
}

impl Reached {
    fn join(&mut self, other: &Reached) {
        self.all.join(&other.all);
        self.candidates += other.candidates;
        self.long_back.join(&other.long_back);
        self.long_forward.join(&other.long_forward);
        self.sentences += other.sentences;
        self.whole += other.whole;
    }
}

/// Walks along all orders in each of the spaces.
pub fn reach(
    model: &dyn Judge,
    corpus: &Corpus,
    spaces: &[Shaped],
    job: &Job,
) -> Result<Vec<Reached>> {
    fits(model, corpus)?;
    spaces.iter().try_for_each(check)?;
    job.begin(corpus.len() as u64);
    let chooser = |s: &Shaped| s.pruning.as_ref().map(|pruning| Chooser::new(pruning.rules));
    let make = || Walker {
        walk: Walk::default(),
        choosers: spaces.iter().map(chooser).collect(),
        reached: vec![Reached::default(); spaces.len()],
        words: Vec::new(),
        chosen: Vec::new(),
        scores: Vec::new(),
    };
    let walkers = for_each_block(corpus.len(), BLOCK, job, make, |walker, block| {
        for number in block {
            let rater = model.rater(&corpus.text().sentence(number));
            walker.walk(&rater, spaces, &corpus.order(number));
        }
        Ok(())
    })?;
    let mut sums = vec![Reached::default(); spaces.len()];
    for walker in walkers {
        sums.iter_mut().zip(&walker.reached).for_each(|(sum, part)| sum.join(part));
    }
    Ok(sums)
}

/// Refuses spaces that look at more than coverage and the last word.
fn check(shaped: &Shaped) -> Result<()> {
    match shaped.space {
        Space::Mono | Space::Dl(_) | Space::Ibm(_) => Ok(()),
        space => Err(Error::Argument {
            name: "space".into(),
            found: format!("`{space}`"),
            expected: "`mono`, `dl:K` or `ibm:K`, pruned or not".into(),
        }),
    }
}

/// Memory of one thread.
struct Walker {
    walk: Walk,
    choosers: Vec<Option<Chooser>>,
    reached: Vec<Reached>,
    words: Vec<SrcPos>,
    chosen: Vec<SrcPos>,
    scores: Vec<f32>,
}

impl Walker {
    fn walk(&mut self, rater: &Rater<'_>, spaces: &[Shaped], order: &[u32]) {
        if order.is_empty() {
            return;
        }
        let Walker { walk, choosers, reached, words, chosen, scores } = self;
        for ((shaped, chooser), reached) in spaces.iter().zip(choosers).zip(reached) {
            let mut is_whole = true;
            walk.steps(order, |from, next, cov| {
                admitted(shaped.space, from, cov, words);
                if let Some(chooser) = chooser {
                    scores.clear();
                    scores.extend(words.iter().map(|word| rater.score(cov, from, word.0 + 1)));
                    chosen.clone_from(words);
                    let spared = chooser.choose(from, chosen, scores);
                    words.retain(|word| chosen.contains(word) || spared.has(word.0));
                }
                let is_kept = words.contains(&SrcPos(next - 1));
                reached.candidates += words.len() as u64;
                reached.all.add(is_kept);
                is_whole &= is_kept;
                if next <= from && jump(from, next) > LONG_BACK {
                    reached.long_back.add(is_kept);
                } else if next > from && jump(from, next) > LONG_FORWARD {
                    reached.long_forward.add(is_kept);
                }
            });
            reached.sentences += 1;
            reached.whole += u64::from(is_whole);
        }
    }
}

/// The untranslated words that a space allows after the one at `end`, from 1 or 0.
fn admitted(space: Space, end: u32, cov: Coverage<'_>, words: &mut Vec<SrcPos>) {
    let here = ReorderingState { cov, gap: cov.first_gap(), end, top: Span::default(), mode: 0 };
    let window = space.window(&here);
    words.clear();
    let is_allowed =
        |at: &u32| !cov.has(*at) && space.admits(&here, Span::new(*at, *at + 1), |_| true);
    words.extend((window.start..window.end).filter(is_allowed).map(SrcPos));
}
