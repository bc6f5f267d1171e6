//! ln P(to | from) for the pairs of words of one sentence, each worked out when first asked for.
//!
//! In: a model and an annotated sentence, or given probabilities. Out: one number per pair.
//! Jumps inside phrases go further than the decoder's limit, so no bound on the distance would
//! be enough (SPEC Q-09). Cost: 4 bytes a pair, one evaluation for each pair that is asked for.

use super::model::Model;
use super::sentence::Prepared;
use std::cell::Cell;

/// Log probabilities of a sentence; one thread's.
pub struct Matrix<'a> {
    length: usize,
    /// Row of the word before (0: the start), column of the word after, from 1; NaN: not asked.
    cells: Vec<Cell<f32>>,
    model: Option<(&'a Model, Prepared)>,
}

impl<'a> Matrix<'a> {
    /// The matrix of a prepared sentence, empty to begin with.
    pub fn lazy(model: &'a Model, src: Prepared) -> Self {
        let length = src.len();
        let cells = vec![Cell::new(f32::NAN); (length + 1) * length];
        Matrix { length, cells, model: Some((model, src)) }
    }

    /// A matrix of given log probabilities, row by row: `length + 1` rows of `length` numbers.
    pub fn given(length: usize, cells: &[f32]) -> Self {
        debug_assert_eq!(cells.len(), (length + 1) * length);
        Matrix { length, cells: cells.iter().copied().map(Cell::new).collect(), model: None }
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
        let score = match &self.model {
            Some((model, src)) => model.score(src, from, to),
            None => f32::NEG_INFINITY,
        };
        cell.set(score);
        score
    }
}
