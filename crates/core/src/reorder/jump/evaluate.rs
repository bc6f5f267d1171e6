//! How well a model tells which word comes next (definitions b.6).
//!
//! In: a model and annotated sentences with their orders. Out: counts from which precision, recall
//! and ranking accuracy follow, beside those of plain distance; counts can be added.
//! How: the classifier is asked about all samples as in training; the ranking walks along each
//! order and asks for the place of the right word among all within the distortion limit. What a
//! model gains is squared sentence by sentence, for the interval of the gain.
//! Cost: one evaluation of the model a pair of words, O(n · limit) pairs a sentence.

use super::rater::Rater;
use super::samples::Walk;
use super::{Judge, Window};
use crate::Job;
use crate::error::{Error, Result};
use crate::feature::{Coverage, ReorderingState, Span};
use crate::narrow::to_u32;
use crate::parallel::for_each_block;
use crate::reorder::{Corpus, Space};

/// Sentences per block of work.
pub const BLOCK: usize = 64;
/// Jumps backward further than this are long.
pub const LONG_BACK: u32 = 7;
/// Jumps forward further than this are long.
pub const LONG_FORWARD: u32 = 6;

/// Decisions of a classifier at P >= 0.5.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Decided {
    /// Right jumps found.
    pub found: u64,
    /// Right jumps missed.
    pub missed: u64,
    /// Wrong jumps taken for right.
    pub wrong: u64,
    /// Wrong jumps seen as such.
    pub refused: u64,
}

/// Places of the right word, over decisions of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Places {
    /// Number of decisions.
    pub decisions: u64,
    /// The right word was first.
    pub first: u64,
    /// It was among the first three.
    pub among_three: u64,
}

/// Ranking under one distortion limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ranked {
    /// All decisions.
    pub all: Places,
    /// Those whose right word lies beyond the limit; they count as failures.
    pub beyond: u64,
    /// Long jumps backward within the limit.
    pub long_back: Places,
    /// Long jumps forward within the limit.
    pub long_forward: Places,
}

/// A model beside plain distance, which puts the nearest word first, under one distortion limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Compared {
    /// The model's places.
    pub model: Ranked,
    /// Those of plain distance.
    pub distance: Ranked,
    /// Over sentences, the squares of how often more the model has the right word first.
    pub first_squares: u64,
    /// The same for among the first three.
    pub among_three_squares: u64,
}

impl Compared {
    /// Takes up a sentence.
    fn add(&mut self, model: &Ranked, distance: &Ranked) {
        self.model.join(model);
        self.distance.join(distance);
        self.first_squares += model.all.first.abs_diff(distance.all.first).pow(2);
        let more = model.all.among_three.abs_diff(distance.all.among_three);
        self.among_three_squares += more.pow(2);
    }

    fn join(&mut self, other: &Compared) {
        self.model.join(&other.model);
        self.distance.join(&other.distance);
        self.first_squares += other.first_squares;
        self.among_three_squares += other.among_three_squares;
    }
}

impl Places {
    fn add(&mut self, place: Option<usize>) {
        self.decisions += 1;
        self.first += u64::from(place == Some(0));
        self.among_three += u64::from(place.is_some_and(|place| place < 3));
    }

    fn join(&mut self, other: &Places) {
        self.decisions += other.decisions;
        self.first += other.first;
        self.among_three += other.among_three;
    }
}

#[derive(Default)]
struct Tester {
    walk: Walk,
    decided: Decided,
    compared: Vec<Compared>,
}

/// Puts a model to the test.
pub fn evaluate(
    model: &dyn Judge,
    corpus: &Corpus,
    limits: &[u32],
    job: &Job,
) -> Result<(Decided, Vec<Compared>)> {
    fits(model, corpus)?;
    job.begin(corpus.len() as u64);
    let testers = for_each_block(corpus.len(), BLOCK, job, Tester::default, |tester, block| {
        tester.compared.resize(limits.len(), Compared::default());
        block.into_iter().for_each(|number| tester.test(model, corpus, limits, number));
        Ok(())
    })?;
    let mut decided = Decided::default();
    let mut compared = vec![Compared::default(); limits.len()];
    for tester in testers {
        decided.found += tester.decided.found;
        decided.missed += tester.decided.missed;
        decided.wrong += tester.decided.wrong;
        decided.refused += tester.decided.refused;
        for (sum, part) in compared.iter_mut().zip(&tester.compared) {
            sum.join(part);
        }
    }
    Ok((decided, compared))
}

/// Refuses text without the layers that a model looks at.
pub fn fits(model: &dyn Judge, corpus: &Corpus) -> Result<()> {
    let needs = model.needs();
    if corpus.is_empty() || corpus.text().annotation().covers(needs) {
        return Ok(());
    }
    let layers = if needs.chunks { "tags and chunks" } else { "tags" };
    Err(Error::Argument {
        name: "model".into(),
        found: format!("one that looks at {layers}, which the text does not have"),
        expected: "text annotated as the training text was".into(),
    })
}

impl Tester {
    fn test(&mut self, model: &dyn Judge, corpus: &Corpus, limits: &[u32], number: usize) {
        let order = corpus.order(number);
        let rater = model.rater(&corpus.text().sentence(number));
        let Tester { walk, decided, compared } = self;
        decided.add(&rater, walk, &order, model.window());
        for (&limit, compared) in limits.iter().zip(compared) {
            let [mut ranked, mut distance] = [Ranked::default(); 2];
            walk.steps(&order, |from, next, cov| {
                let step = Step { limit, from, next, cov };
                ranked.add(|to| rater.score(cov, from, to), &step);
                distance.add(|_| 0.0, &step);
            });
            compared.add(&ranked, &distance);
        }
    }
}

impl Decided {
    /// Asks about all samples of a sentence.
    fn add(&mut self, rater: &Rater<'_>, walk: &mut Walk, order: &[u32], window: Window) {
        let half = 0.5_f32.ln();
        walk.steps(order, |from, next, cov| {
            let is_sample = |to: &u32| *to != next && !cov.has(*to - 1);
            let wrong = window.around(from, to_u32(order.len())).filter(is_sample);
            for to in std::iter::once(next).chain(wrong) {
                let yes = rater.log_prob(cov, from, to) >= half;
                *match (to == next, yes) {
                    (true, true) => &mut self.found,
                    (true, false) => &mut self.missed,
                    (false, true) => &mut self.wrong,
                    (false, false) => &mut self.refused,
                } += 1;
            }
        });
    }
}

/// A step of a walk; positions from 1, `from` may be 0.
struct Step<'a> {
    limit: u32,
    from: u32,
    next: u32,
    cov: Coverage<'a>,
}

impl Step<'_> {
    /// Whether the decoder may come to a word and still fill the first gap.
    fn reaches(&self, to: u32) -> bool {
        let Step { limit, from: end, cov, .. } = *self;
        let here =
            ReorderingState { cov, gap: cov.first_gap(), end, top: Span::default(), mode: 0 };
        Space::Dl(Some(limit)).admits(&here, Span::new(to - 1, to), |_| true)
    }
}

impl Ranked {
    fn join(&mut self, other: &Ranked) {
        self.all.join(&other.all);
        self.beyond += other.beyond;
        self.long_back.join(&other.long_back);
        self.long_forward.join(&other.long_forward);
    }

    /// Ranks the words that may come next, and notes the place of the right one: among all within
    /// the limit, and where the jump is long, among those that the decoder may reach.
    fn add(&mut self, score: impl Fn(u32) -> f32, step: &Step<'_>) {
        let &Step { limit, from, next, cov } = step;
        // By score, then distance, then forward before backward, then position.
        let key = |to: u32| (score(to), jump(from, to), to <= from, to);
        let right = key(next);
        let is_before = |other: (f32, u32, bool, u32)| {
            let rest = (other.1, other.2, other.3).cmp(&(right.1, right.2, right.3));
            right.0.total_cmp(&other.0).then(rest).is_lt()
        };
        if right.1 > limit {
            self.all.add(None);
            self.beyond += 1;
            return;
        }
        let last = (from + 1).saturating_add(limit).min(cov.length());
        let better = ((from + 1).saturating_sub(limit).max(1)..=last)
            .filter(|&to| !cov.has(to - 1) && to != next && is_before(key(to)));
        let (mut place, mut within_reach) = (0, 0);
        for to in better {
            place += 1;
            within_reach += usize::from(step.reaches(to));
        }
        self.all.add(Some(place));
        let of_long = step.reaches(next).then_some(within_reach);
        if next <= from && right.1 > LONG_BACK {
            self.long_back.add(of_long);
        } else if next > from && right.1 > LONG_FORWARD {
            self.long_forward.add(of_long);
        }
    }
}

/// D(from, to) = |to - from - 1|.
pub fn jump(from: u32, to: u32) -> u32 {
    to.abs_diff(from + 1)
}
