//! What each jump of one sentence weighs by the two words alone, worked out when first asked for.
//!
//! In: something that weighs a jump, or given numbers. Out: one number per pair of words.
//! Jumps inside phrases go further than the decoder's limit, so no bound on the distance would
//! be enough (definitions Q-09). Cost: 4 bytes a pair.

use std::cell::Cell;

/// Weighs the jumps of one sentence.
pub trait Weigh {
    /// The weight of coming to the word at `to`, from 1, right after that at `from`, from 1 or 0.
    fn weigh(&self, from: u32, to: u32) -> f32;
}

/// Weights of a sentence; one thread's.
pub struct Matrix<'a> {
    length: usize,
    /// Row of the word before (0: the start), column of the word after, from 1; NaN: not asked.
    cells: Vec<Cell<f32>>,
    asked: Option<Box<dyn Weigh + 'a>>,
}

impl<'a> Matrix<'a> {
    /// The matrix of a sentence of `length` words, empty to begin with.
    pub fn lazy(length: usize, asked: impl Weigh + 'a) -> Self {
        let cells = vec![Cell::new(f32::NAN); (length + 1) * length];
        Matrix { length, cells, asked: Some(Box::new(asked)) }
    }

    /// A matrix of given numbers, row by row: `length + 1` rows of `length` numbers.
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

    /// The weight of coming to the word at `to`, from 1, right after that at `from`, from 1 or 0.
    #[inline]
    pub fn get(&self, from: u32, to: u32) -> f32 {
        self.row(from).get(to)
    }

    /// The weights of all jumps from a word, from 1 or 0.
    #[inline]
    pub fn row(&self, from: u32) -> Row<'_> {
        let cells = &self.cells[from as usize * self.length..][..self.length];
        Row { cells, from, asked: self.asked.as_deref() }
    }
}

/// The weights of all jumps from one word.
pub struct Row<'m> {
    cells: &'m [Cell<f32>],
    from: u32,
    asked: Option<&'m dyn Weigh>,
}

impl Row<'_> {
    /// The weight of coming to the word at `to`, from 1.
    #[inline]
    pub fn get(&self, to: u32) -> f32 {
        let cell = &self.cells[to as usize - 1];
        let known = cell.get();
        if !known.is_nan() {
            return known;
        }
        let weight = self.asked.map_or(f32::NEG_INFINITY, |asked| asked.weigh(self.from, to));
        cell.set(weight);
        weight
    }
}
