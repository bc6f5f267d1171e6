//! ln P(to | from) for the pairs of words of one sentence, each worked out when first asked for.
//!
//! In: a model and an annotated sentence, or given probabilities. Out: one number per pair.
//! Jumps inside phrases go further than the decoder's limit, so no bound on the distance would
//! be enough (definitions Q-09). How: words between the ends are added up from the word jumped to on;
//! the sum of a jump is that of the next shorter one and one word more.
//! Cost: 12 bytes a pair; some twenty look-ups for each pair that is asked for, however long the
//! jump.

use super::model::Model;
use super::prepared::Prepared;
use super::template::Ends;
use super::train::ln_sigmoid;
use std::cell::Cell;

/// More features than a jump has, those of words between aside.
const MOST: usize = 32;

/// Log probabilities of a sentence; one thread's.
pub struct Matrix<'a> {
    length: usize,
    /// Row of the word before (0: the start), column of the word after, from 1; NaN: not asked.
    cells: Vec<Cell<f32>>,
    asked: Option<Asked<'a>>,
}

/// A model that is asked about a sentence.
struct Asked<'a> {
    model: &'a Model,
    src: Prepared,
    ends: Ends,
    /// By word jumped to, then word jumped from: the sum of what stands between; NaN: not asked.
    /// None when what stands between is weighed with the word jumped from.
    between: Option<Vec<Cell<f64>>>,
}

impl<'a> Asked<'a> {
    fn new(model: &'a Model, src: Prepared) -> Self {
        let size = src.len() * (src.len() + 1);
        let shapes = model.shapes();
        let is_apart = !shapes.between_needs_from();
        let mut ends = Ends::default();
        ends.fill(shapes, &src);
        Asked { between: is_apart.then(|| vec![Cell::new(f64::NAN); size]), model, src, ends }
    }

    fn score(&self, from: u32, to: u32) -> f32 {
        let (mut prints, mut count) = ([0; MOST], 0);
        self.model.shapes().whole(&self.src, &self.ends, (from, to), |print| {
            prints[count] = print;
            count += 1;
        });
        let prints = &prints[..count];
        self.model.touch(prints);
        let margin = self.model.recipe().bias + self.between(from, to);
        ln_sigmoid(prints.iter().fold(margin, |sum, &print| sum + self.weight(print))) as f32
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

impl<'a> Matrix<'a> {
    /// The matrix of a prepared sentence, empty to begin with.
    pub fn lazy(model: &'a Model, src: Prepared) -> Self {
        let length = src.len();
        let cells = vec![Cell::new(f32::NAN); (length + 1) * length];
        Matrix { length, cells, asked: Some(Asked::new(model, src)) }
    }

    /// A matrix of given log probabilities, row by row: `length + 1` rows of `length` numbers.
    pub fn given(length: usize, cells: &[f32]) -> Self {
        debug_assert_eq!(cells.len(), (length + 1) * length);
        Matrix { length, cells: cells.iter().copied().map(Cell::new).collect(), asked: None }
    }

    /// Number of words.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there is no word.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// ln P that the word at `to`, from 1, comes right after the one at `from`, from 1 or 0.
    #[inline]
    pub fn get(&self, from: u32, to: u32) -> f32 {
        let cell = &self.cells[from as usize * self.length + to as usize - 1];
        let known = cell.get();
        if !known.is_nan() {
            return known;
        }
        let score = match &self.asked {
            Some(asked) => asked.score(from, to),
            None => f32::NEG_INFINITY,
        };
        cell.set(score);
        score
    }
}
