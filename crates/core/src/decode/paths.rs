//! The path features at work on a sentence, weighted.

use crate::corpus::SrcPos;
use crate::feature::{OptionId, PathScorer};
use crate::narrow::to_f32;

/// Scorers with their weights.
#[derive(Clone, Copy)]
pub struct Seated<'a> {
    pub scorers: &'a [Box<dyn PathScorer + 'a>],
    pub weights: &'a [f64],
}

impl Seated<'_> {
    fn sum(&self, value: impl Fn(f64, &dyn PathScorer) -> f64) -> f32 {
        let each = self.scorers.iter().zip(self.weights);
        to_f32(each.map(|(scorer, &weight)| value(weight, &**scorer)).sum::<f64>())
    }

    /// What they say of a phrase alone.
    pub fn alone(&self, phrase: OptionId) -> f32 {
        self.sum(|weight, scorer| weight * f64::from(scorer.alone(phrase)))
    }

    /// The most that a step may give for a phrase. With a negative weight the most a feature may
    /// say is the least it is worth, so there is no hope from it.
    pub fn hope(&self, phrase: OptionId) -> f32 {
        self.sum(|weight, scorer| weight.max(0.0) * f64::from(scorer.hope(phrase)))
    }

    /// What a gap loses that starts at a word.
    pub fn loss(&self, word: SrcPos) -> f32 {
        self.sum(|weight, scorer| weight.max(0.0) * f64::from(scorer.loss(word)))
    }
}
