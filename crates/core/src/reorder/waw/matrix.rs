//! ln P(to | from) for the pairs of words of one sentence, each worked out when first asked for.
//!
//! In: a model and an annotated sentence, or given probabilities. Out: one number per pair.
//! Jumps inside phrases go further than the decoder's limit, so no bound on the distance would
//! be enough (SPEC Q-09). How: what the features of a row begin with is worked out once a row, and
//! a feature of one word between the ends once for that word and the end it is seen from.
//! Cost: 4 bytes a pair, and 4 a pair and template of words between; some twenty look-ups for
//! each pair that is asked for, however long the jump.

use super::model::Model;
use super::sentence::Prepared;
use super::template::Heads;
use super::train::ln_sigmoid;
use std::cell::Cell;

/// Features that are looked up together.
const TOGETHER: usize = 32;

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
    /// The row asked about last, and what its features begin with.
    row: Cell<(u32, Heads)>,
    /// Weights of features of words between: by template, the word, and the word jumped to;
    /// NaN: not asked. None when they depend on the word jumped from as well.
    between: Option<Vec<Cell<f32>>>,
}

impl<'a> Asked<'a> {
    fn new(model: &'a Model, src: Prepared) -> Self {
        let size = src.len() * src.len();
        let between = model.shapes().apart().map(|count| vec![Cell::new(f32::NAN); count * size]);
        let row = Cell::new((0, model.shapes().heads(&src, 0)));
        Asked { model, src, row, between }
    }

    fn score(&self, from: u32, to: u32) -> f32 {
        let Some(between) = &self.between else { return self.model.score(&self.src, from, to) };
        let mut margin = self.whole(from, to);
        // Two walks, so that what is not known yet waits for memory together.
        let (mut unknown, mut count) = ([(0, 0); TOGETHER], 0);
        let shapes = self.model.shapes();
        shapes.between(&self.src, from, to, |number, word, fingerprint| {
            let at = self.place(number, word, to);
            if between[at].get().is_nan() {
                unknown[count] = (at, fingerprint());
                count += 1;
                if count == TOGETHER {
                    self.learn(between, &unknown);
                    count = 0;
                }
            }
        });
        self.learn(between, &unknown[..count]);
        shapes.between(&self.src, from, to, |number, word, _| {
            margin += f64::from(between[self.place(number, word, to)].get());
        });
        ln_sigmoid(margin) as f32
    }

    /// The sum of the features that are there once a jump, with the bias.
    fn whole(&self, from: u32, to: u32) -> f64 {
        let Asked { model, src, row, .. } = self;
        let (known, mut heads) = row.get();
        if known != from {
            heads = model.shapes().heads(src, from);
            row.set((from, heads));
        }
        let (mut prints, mut count) = (Heads::default(), 0);
        model.shapes().whole(src, &heads, from, to, |print| {
            prints[count] = print;
            count += 1;
        });
        let prints = &prints[..count];
        model.touch(prints.iter().copied());
        prints.iter().fold(model.recipe().bias, |sum, &print| sum + f64::from(model.weight(print)))
    }

    /// Place of a feature of a word between.
    fn place(&self, number: usize, word: u32, to: u32) -> usize {
        let length = self.src.len();
        (number * length + to as usize - 1) * length + word as usize - 1
    }

    /// Looks features of words between up.
    fn learn(&self, between: &[Cell<f32>], unknown: &[(usize, u64)]) {
        self.model.touch(unknown.iter().map(|&(_, print)| print));
        for &(at, print) in unknown {
            between[at].set(self.model.weight(print));
        }
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
