//! The matrix of a linear ordering problem: what it is worth to have one word before another.
//!
//! In: a number for each ordered pair of words. Out: the score of an order, the sum over all pairs
//! of words as they stand in it (definitions h.1).
//! How: numbers are rounded to multiples of 2⁻³⁰, so that sums of them are exact in any order of
//! adding, and two orders of the same worth are seen to be so.
//! Cost: 8 bytes a pair; the memory is used again.

/// Steps between two numbers that are told apart.
const STEPS: f64 = (1_u64 << 30) as f64;
/// The largest number kept: sums over the pairs of any sentence stay exact below 2²³.
const MOST: f64 = 1000.0;

/// What it is worth to have a word before another; 0 where nothing was said.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pairs {
    length: usize,
    cells: Vec<f64>,
}

impl Pairs {
    /// A matrix of zeros.
    pub fn new(length: usize) -> Self {
        let mut pairs = Pairs::default();
        pairs.clear(length);
        pairs
    }

    /// Makes it a matrix of zeros for a sentence of this length.
    pub fn clear(&mut self, length: usize) {
        self.length = length;
        self.cells.clear();
        self.cells.resize(length * length, 0.0);
    }

    /// Number of words.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there is no word.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Sets what it is worth to have a word before another, rounded.
    #[inline]
    pub fn set(&mut self, before: usize, after: usize, worth: f64) {
        self.cells[before * self.length + after] = rounded(worth);
    }

    /// What it is worth to have a word before another.
    #[inline]
    pub fn get(&self, before: usize, after: usize) -> f64 {
        self.cells[before * self.length + after]
    }

    /// What is gained when two words that stand as `first`, `second` change places.
    #[inline]
    pub fn gain(&self, first: u32, second: u32) -> f64 {
        let (first, second) = (first as usize, second as usize);
        self.get(second, first) - self.get(first, second)
    }

    /// The score of an order.
    pub fn score(&self, order: &[u32]) -> f64 {
        let rest = |at: usize| order[at + 1..].iter().map(move |&later| (order[at], later));
        let pairs = (0..order.len()).flat_map(rest);
        pairs.map(|(first, later)| self.get(first as usize, later as usize)).sum()
    }
}

/// A number that sums exactly with its like; NaN becomes 0.
fn rounded(worth: f64) -> f64 {
    if worth.is_nan() {
        return 0.0;
    }
    (worth.clamp(-MOST, MOST) * STEPS).round_ties_even() / STEPS
}
