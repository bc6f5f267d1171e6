//! A pass over written samples under either objective (definitions b.4, b.7).
//!
//! In: rows of samples, and a learner that weighs a row and learns from what was missing. Out: the
//! log likelihood of the rows.
//! How: under `Each` every row is a question of its own; under `Choice` the rows of a step, of
//! which the first is the right one, share one probability.
//! Cost: two looks at each row; the memory of a step is used again.

use super::options::Objective;
use super::rows::Reader;
use crate::reorder::jump::ln_sigmoid;

/// Weighs rows and learns from them.
pub trait Learner {
    /// The sum of the weights of a row.
    fn margin(&self, numbers: &[u32]) -> f64;

    /// Takes in how far the probability of a row was below what it should have been.
    fn learn(&mut self, numbers: &[u32], missing: f64);
}

/// Memory of a pass.
#[derive(Debug, Default)]
pub struct Pass {
    numbers: Vec<u32>,
    /// The rows of a step, one after the other, and where each ends.
    step: Vec<u32>,
    ends: Vec<usize>,
    margins: Vec<f64>,
}

impl Pass {
    /// Goes through rows; returns their log likelihood, each by the weights it was met with.
    pub fn run(&mut self, bytes: &[u8], objective: Objective, learner: &mut impl Learner) -> f64 {
        match objective {
            Objective::Each => self.each(bytes, learner),
            Objective::Choice => self.choices(bytes, learner),
        }
    }

    fn each(&mut self, bytes: &[u8], learner: &mut impl Learner) -> f64 {
        let mut value = 0.0;
        let mut reader = Reader::new(bytes);
        while let Some(is_next) = reader.next(&mut self.numbers) {
            let margin = learner.margin(&self.numbers);
            value += ln_sigmoid(if is_next { margin } else { -margin });
            learner.learn(&self.numbers, f64::from(u8::from(is_next)) - sigmoid(margin));
        }
        value
    }

    fn choices(&mut self, bytes: &[u8], learner: &mut impl Learner) -> f64 {
        let mut value = 0.0;
        let mut reader = Reader::new(bytes);
        self.ends.clear();
        self.step.clear();
        while let Some(is_next) = reader.next(&mut self.numbers) {
            if is_next {
                value += self.finish(learner);
            }
            self.step.extend_from_slice(&self.numbers);
            self.ends.push(self.step.len());
        }
        value + self.finish(learner)
    }

    /// Learns from the rows of a step and forgets them.
    fn finish(&mut self, learner: &mut impl Learner) -> f64 {
        let Pass { step, ends, margins, .. } = self;
        let mut value = 0.0;
        // A word without rivals teaches nothing.
        if ends.len() > 1 {
            let start = |row: usize| if row == 0 { 0 } else { ends[row - 1] };
            margins.clear();
            margins.extend((0..ends.len()).map(|row| learner.margin(&step[start(row)..ends[row]])));
            let best = margins.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = margins.iter().map(|margin| (margin - best).exp()).sum();
            value = margins[0] - best - sum.ln();
            for row in 0..ends.len() {
                let right = f64::from(u8::from(row == 0));
                let missing = right - (margins[row] - best).exp() / sum;
                learner.learn(&step[start(row)..ends[row]], missing);
            }
        }
        step.clear();
        ends.clear();
        value
    }
}

/// The logistic function.
fn sigmoid(margin: f64) -> f64 {
    if margin >= 0.0 {
        1.0 / (1.0 + (-margin).exp())
    } else {
        let exp = margin.exp();
        exp / (1.0 + exp)
    }
}
