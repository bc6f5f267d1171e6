//! Future costs: an estimate of the score of the untranslated words (definitions g.3).
//!
//! In: the best isolated score of each span. Out: for each span the best sum over its segmentations
//! into phrases. If the word before a gap is translated, path features lose their most likely
//! predecessor; the gap loss accounts for that, unless that word was translated last.
//! Cost: O(n² · longest phrase) time, O(n²) memory.

use crate::feature::Span;

/// The best isolated scores of all spans of a sentence.
#[derive(Debug, Default)]
pub struct FutureCosts {
    /// Row: start; column: end; each row has `length + 1` columns.
    scores: Vec<f32>,
    /// By word: the loss of a gap that starts there.
    gap_losses: Vec<f32>,
    length: usize,
}

impl FutureCosts {
    /// Compute the best scores of all spans of `length` words. `best` returns the isolated score of
    /// a phrase of at most `longest` words, minus infinity if there is none; `loss` returns the
    /// loss of a gap by its first word.
    pub fn compute(
        &mut self,
        length: u32,
        longest: u32,
        best: impl Fn(Span) -> f32,
        loss: impl Fn(u32) -> f32,
    ) {
        self.length = length as usize;
        self.gap_losses.clear();
        self.gap_losses.extend((0..length).map(loss));
        self.gap_losses.push(0.0);
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

    /// Return the best score of a gap that does not start at the end of the last phrase; 0 if
    /// empty.
    pub fn of_gap(&self, start: u32, end: u32) -> f32 {
        self.of_span(start, end) + if start < end { self.gap_losses[start as usize] } else { 0.0 }
    }

    /// Return the loss of a gap that starts at a word.
    pub fn gap_loss(&self, start: u32) -> f32 {
        self.gap_losses[start as usize]
    }

    /// Return the best score of a span.
    pub fn of_span(&self, start: u32, end: u32) -> f32 {
        self.scores[start as usize * (self.length + 1) + end as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_cut_is_that_of_the_specification() {
        let mut future = FutureCosts::default();
        future.compute(
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
        assert_eq!(future.of_span(0, 2), -2.5);
        assert_eq!(future.of_span(1, 3), -3.5);
        assert_eq!(future.of_span(0, 3), -4.0);
        assert_eq!(future.of_span(2, 2), 0.0);
        assert_eq!(future.of_gap(1, 3), -3.75);
        assert_eq!(future.of_gap(2, 2), 0.0);
    }
}
