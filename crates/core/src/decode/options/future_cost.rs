//! The future cost: a hopeful score for the words still to be translated (definitions g.3).
//!
//! In: the best isolated score of each span. Out: the best sum over ways to cut a span into
//! phrases. A gap whose left neighbour is translated is worth less to path features than its
//! words alone: the likeliest word to come from is gone, unless it was the last.
//! Cost: O(n² · longest phrase) time, O(n²) memory.

use crate::feature::Span;

/// Best scores of all spans of a sentence.
#[derive(Debug, Default)]
pub struct Future {
    /// Row of a start, column of an end; row lengths are `length + 1`.
    scores: Vec<f32>,
    /// By word: what a gap loses that starts there.
    losses: Vec<f32>,
    length: usize,
}

impl Future {
    /// Works out all spans of `length` words; `best` gives the isolated score of a phrase of at
    /// most `longest` words, minus infinity when there is none; `loss` what a gap loses by where
    /// it starts.
    pub fn fill(
        &mut self,
        length: u32,
        longest: u32,
        best: impl Fn(Span) -> f32,
        loss: impl Fn(u32) -> f32,
    ) {
        self.length = length as usize;
        self.losses.clear();
        self.losses.extend((0..length).map(loss));
        self.losses.push(0.0);
        self.scores.clear();
        self.scores.resize((self.length + 1) * (self.length + 1), f32::NEG_INFINITY);
        for start in (0..=length).rev() {
            let row = start as usize * (self.length + 1);
            self.scores[row + start as usize] = 0.0;
            for first in start + 1..=(start + longest).min(length) {
                let phrase = best(Span::new(start, first));
                if phrase == f32::NEG_INFINITY {
                    continue;
                }
                let after = first as usize * (self.length + 1);
                for end in first as usize..=self.length {
                    let score = phrase + self.scores[after + end];
                    let slot = &mut self.scores[row + end];
                    *slot = slot.max(score);
                }
            }
        }
    }

    /// The best score of a gap that the last phrase did not end at; 0 for an empty one.
    pub fn of_gap(&self, start: u32, end: u32) -> f32 {
        self.of(start, end) + if start < end { self.losses[start as usize] } else { 0.0 }
    }

    /// What a gap loses that starts at this word.
    pub fn loss(&self, start: u32) -> f32 {
        self.losses[start as usize]
    }

    /// The best score of a span.
    pub fn of(&self, start: u32, end: u32) -> f32 {
        self.scores[start as usize * (self.length + 1) + end as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_cut_is_that_of_the_specification() {
        let mut future = Future::default();
        future.fill(
            3,
            2,
            |span| match (span.start, span.end) {
                (0, 1) => -1.0,
                (1, 2) => -2.0,
                (2, 3) => -1.5,
                (0, 2) => -2.5,
                (1, 3) => -4.0,
                _ => f32::NEG_INFINITY,
            },
            |word| -0.25 * word as f32,
        );
        assert_eq!(future.of(0, 2), -2.5);
        assert_eq!(future.of(1, 3), -3.5);
        assert_eq!(future.of(0, 3), -4.0);
        assert_eq!(future.of(2, 2), 0.0);
        assert_eq!(future.of_gap(1, 3), -3.75);
        assert_eq!(future.of_gap(2, 2), 0.0);
    }
}
