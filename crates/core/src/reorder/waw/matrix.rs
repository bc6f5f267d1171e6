//! The model at work on one sentence: the weight of a jump, worked out when it is asked for.
//!
//! In: a model and an annotated sentence. Out: for two of its words the sum of the weights of all
//! features of the jump, or the log probability that it makes.
//! How: words between the ends are added up from the word jumped to on; the sum of a jump is that
//! of the next shorter one and one word more.
//! Cost: 8 bytes a pair; some twenty look-ups for each pair that is asked for, however long the
//! jump.

use super::model::Model;
use super::options::{Objective, Options};
use super::prepared::Prepared;
use super::template::Ends;
use crate::corpus::annotated::{Annotation, Sentence};
use crate::narrow::to_f32;
use crate::reorder::jump::{Judge, Link, Matrix, Rater, Weigh, Window, ln_sigmoid};
use std::cell::Cell;

/// More features than a jump has, those of words between aside.
const MOST: usize = 32;

impl Judge for Model {
    fn needs(&self) -> Annotation {
        self.recipe().options.templates.needs()
    }

    fn window(&self) -> Window {
        self.recipe().options.window
    }

    fn rater<'a>(&'a self, src: &Sentence<'_>) -> Rater<'a> {
        let Options { objective, coverage, window, .. } = self.recipe().options;
        let mut prepared = Prepared::default();
        prepared.fill_from(src);
        let around = match coverage {
            true => self.shapes().looks().table(self, &prepared),
            false => Vec::new(),
        };
        let link = match objective {
            Objective::Choice => Link::Choice(window),
            Objective::Each if coverage => Link::Apart,
            Objective::Each => Link::Ready,
        };
        let matrix = Matrix::lazy(src.len(), Asked::new(self, prepared, link == Link::Ready));
        Rater::new(matrix, &around, link)
    }
}

/// A model that is asked about a sentence.
struct Asked<'a> {
    model: &'a Model,
    src: Prepared,
    ends: Ends,
    /// By word jumped to, then word jumped from: the sum of what stands between; NaN: not asked.
    /// None when what stands between is weighed with the word jumped from.
    between: Option<Vec<Cell<f64>>>,
    /// Whether log probabilities are asked for, and not the sums that make them.
    is_ready: bool,
}

impl<'a> Asked<'a> {
    fn new(model: &'a Model, src: Prepared, is_ready: bool) -> Self {
        let size = src.len() * (src.len() + 1);
        let shapes = model.shapes();
        let is_apart = !shapes.between_needs_from();
        let mut ends = Ends::default();
        ends.fill(shapes, &src);
        let between = is_apart.then(|| vec![Cell::new(f64::NAN); size]);
        Asked { model, src, ends, between, is_ready }
    }

    fn weight(&self, print: u64) -> f64 {
        f64::from(self.model.weight(print))
    }

    /// The sum of the features of words between.
    fn between(&self, from: u32, to: u32) -> f64 {
        let nearer = |from: u32| if from < to { from + 1 } else { from - 1 };
        let Some(sums) = &self.between else {
            let others = std::iter::successors(Some(nearer(from)), |&at| Some(nearer(at)));
            let inside = others.take_while(|&at| at != to);
            return inside.map(|word| self.word(from, to, word)).sum();
        };
        let row = self.src.len() + 1;
        let sum = |from: u32| &sums[(to as usize - 1) * row + from as usize];
        // The nearest word whose sum is known, then back from there.
        let mut at = from;
        while sum(at).get().is_nan() && nearer(at) != to {
            at = nearer(at);
        }
        if sum(at).get().is_nan() {
            sum(at).set(0.0);
        }
        while at != from {
            let further = if from < to { at - 1 } else { at + 1 };
            sum(further).set(sum(at).get() + self.word(further, to, at));
            at = further;
        }
        sum(from).get()
    }

    /// What a word between brings.
    fn word(&self, from: u32, to: u32, word: u32) -> f64 {
        let mut sum = 0.0;
        let shapes = self.model.shapes();
        shapes.word_between(&self.src, &self.ends, (from, to), word, |print| {
            sum += self.weight(print);
        });
        sum
    }
}

impl Weigh for Asked<'_> {
    fn weigh(&self, from: u32, to: u32) -> f32 {
        let (mut prints, mut count) = ([0; MOST], 0);
        self.model.shapes().whole(&self.src, &self.ends, (from, to), |print| {
            prints[count] = print;
            count += 1;
        });
        let prints = &prints[..count];
        self.model.touch(prints);
        let start = self.model.recipe().bias + self.between(from, to);
        let sum = prints.iter().fold(start, |sum, &print| sum + self.weight(print));
        to_f32(if self.is_ready { ln_sigmoid(sum) } else { sum })
    }
}
