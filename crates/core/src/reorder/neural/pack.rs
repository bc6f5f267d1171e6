//! Sentences of different lengths side by side, without anything to fill them up.
//!
//! In: sentences, longest first. Out: for each step of a walk through all of them the rows that
//! are still going on, which stand together; a row is a word of a sentence.
//! How: at step t the first so many sentences have a word left. Right to left, step t is the t-th
//! word from the end, so both directions have as many rows at each step.

use std::ops::Range;

/// Where the words of some sentences stand.
#[derive(Debug, Default)]
pub struct Pack {
    lengths: Vec<usize>,
    /// Where the rows of each step begin; one more for the end.
    starts: Vec<usize>,
}

impl Pack {
    /// Takes up sentences of these lengths, the longest first.
    pub fn fill(&mut self, lengths: impl Iterator<Item = usize>) {
        self.lengths.clear();
        self.lengths.extend(lengths);
        debug_assert!(self.lengths.is_sorted_by(|a, b| a >= b));
        self.starts.clear();
        self.starts.push(0);
        let (mut end, mut going) = (0, self.lengths.len());
        for step in 0..self.lengths.first().copied().unwrap_or_default() {
            while going > 0 && self.lengths[going - 1] <= step {
                going -= 1;
            }
            end += going;
            self.starts.push(end);
        }
    }

    /// Number of steps.
    pub fn steps(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.starts.last().copied().unwrap_or_default()
    }

    /// The rows of a step.
    pub fn at(&self, step: usize) -> Range<usize> {
        self.starts[step]..self.starts[step + 1]
    }

    /// The lengths of the sentences.
    pub fn lengths(&self) -> &[usize] {
        &self.lengths
    }

    /// The row of a word, left to right.
    pub fn row(&self, sentence: usize, word: usize) -> usize {
        self.starts[word] + sentence
    }

    /// The row of a word, right to left.
    pub fn row_back(&self, sentence: usize, word: usize) -> usize {
        self.row(sentence, self.lengths[sentence] - 1 - word)
    }
}
