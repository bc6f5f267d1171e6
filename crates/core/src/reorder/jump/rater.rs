//! How likely each untranslated word of one sentence is to come next.
//!
//! In: the weights of its jumps, what each word gains by what is translated around it, and what
//! the weights mean. Out: scores that words are ranked by, and log probabilities (definitions b.1,
//! b.7).
//! How: the probability of a choice is a share of the sum over all words in the window, which
//! depends on the last word and on what is translated. Hypotheses share both, so sums are kept by
//! them, in a table of fixed size. A sum adds products of e^weight and e^gain, each of which is
//! worked out once a sentence; where these leave the range of numbers, logs are added instead.
//! Cost: a look-up for a score; for a log probability another one, or a sum over the window. No
//! allocation after the first.

use super::around::{Around, BITS, Gains};
use super::kept::Kept;
use super::matrix::Matrix;
use super::samples::Window;
use crate::corpus::SrcPos;
use crate::feature::{Coverage, Span};
use crate::narrow::{to_f32, to_u32};
use std::cell::{Cell, RefCell};

/// What the weight of a jump means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// It is the log probability itself, whatever is translated.
    Ready,
    /// Each jump is right or wrong by itself: the weight is that of a logistic function.
    Apart,
    /// One of the words in the window is right: weights are compared.
    Choice(Window),
}

/// A model at work on one sentence; one thread's.
pub struct Rater<'a> {
    matrix: Matrix<'a>,
    /// e^weight of each jump, like the cells of the matrix; NaN: not asked.
    odds: Vec<Cell<f32>>,
    /// By word; empty when the model does not look around.
    gains: Vec<Gains>,
    /// e^gain, likewise.
    boosts: Vec<Gains>,
    link: Link,
    sums: RefCell<Sums>,
}

impl<'a> Rater<'a> {
    /// Rates by these weights; `around` says what each bit brings a word, and is empty when the
    /// model does not look around.
    pub fn new(matrix: Matrix<'a>, around: &[[f32; BITS]], link: Link) -> Self {
        debug_assert!(around.is_empty() || around.len() == matrix.len());
        let gains: Vec<Gains> = around.iter().map(Gains::of).collect();
        let boosts = gains.iter().map(Gains::exp).collect();
        let cells = match link {
            Link::Choice(_) => (matrix.len() + 1) * matrix.len(),
            Link::Ready | Link::Apart => 0,
        };
        let odds = vec![Cell::new(f32::NAN); cells];
        let kept = Kept::new(matrix.len());
        let sums = Sums { kept, scores: Vec::new(), covered: Vec::new() };
        Rater { matrix, odds, gains, boosts, link, sums: RefCell::new(sums) }
    }

    /// Number of words.
    pub fn len(&self) -> usize {
        self.matrix.len()
    }

    /// Whether there is no word.
    pub fn is_empty(&self) -> bool {
        self.matrix.is_empty()
    }

    /// Whether a jump is worth the same whatever is translated.
    pub fn is_fixed(&self) -> bool {
        self.link == Link::Ready
    }

    /// What words are ranked by, up to a constant of all that come after the same word; positions
    /// from 1, `from` may be 0.
    #[inline]
    pub fn score(&self, cov: Coverage<'_>, from: u32, to: u32) -> f32 {
        let weight = self.matrix.get(from, to);
        match self.link {
            Link::Ready => weight,
            Link::Apart | Link::Choice(_) => self.linked(weight + self.gain(cov, to)),
        }
    }

    /// Adds the scores of untranslated words to `scores`; they count from 0, left to right.
    pub fn rate(&self, cov: Coverage<'_>, from: u32, words: &[SrcPos], scores: &mut Vec<f32>) {
        let (Some(first), Some(last)) = (words.first(), words.last()) else { return };
        let row = self.matrix.row(from);
        if self.gains.is_empty() {
            return scores.extend(words.iter().map(|word| self.linked(row.get(word.0 + 1))));
        }
        let mut rest = words.iter().peekable();
        Around::each_open(cov, Span::new(first.0, last.0 + 1), |word, around| {
            if rest.next_if(|next| next.0 == word).is_some() {
                let gain = self.gains[word as usize].get(around);
                scores.push(self.linked(row.get(word + 1) + gain));
            }
        });
    }

    /// What the weight of a jump and its gain make a score of.
    #[inline]
    fn linked(&self, weight: f32) -> f32 {
        match self.link {
            Link::Ready | Link::Choice(_) => weight,
            Link::Apart => to_f32(ln_sigmoid(f64::from(weight))),
        }
    }

    /// ln P that a word comes next.
    pub fn log_prob(&self, cov: Coverage<'_>, from: u32, to: u32) -> f32 {
        let score = self.score(cov, from, to);
        let Link::Choice(window) = self.link else { return score };
        let within = window.around(from, to_u32(self.len()));
        let Sums { kept, scores, .. } = &mut *self.sums.borrow_mut();
        let sum = match kept.place(u64::from(from), cov) {
            Ok(known) => known,
            Err(place) => {
                let open = Span::new(within.start() - 1, *within.end());
                let sum = self.log_sum(cov, from, open, scores);
                kept.keep(place, u64::from(from), cov, sum);
                sum
            }
        };
        if within.contains(&to) {
            return score - sum;
        }
        // A word beyond the window is one more to choose from.
        let best = sum.max(score);
        score - best - ((sum - best).exp() + (score - best).exp()).ln()
    }

    /// ln P of taking words, which count from 1, one after the other.
    pub fn path(&self, cov: Coverage<'_>, from: u32, words: &[u32]) -> f32 {
        let mut covered = std::mem::take(&mut self.sums.borrow_mut().covered);
        covered.clear();
        covered.extend_from_slice(cov.blocks());
        let (mut total, mut last) = (0.0, from);
        for &word in words {
            total += self.log_prob(Coverage::new(&covered, cov.length()), last, word);
            Coverage::mark(&mut covered, Span::new(word - 1, word));
            last = word;
        }
        self.sums.borrow_mut().covered = covered;
        total
    }

    #[inline]
    fn gain(&self, cov: Coverage<'_>, to: u32) -> f32 {
        let of_word = self.gains.get(to as usize - 1);
        of_word.map_or(0.0, |gains| gains.get(Around::of(cov, to - 1)))
    }

    /// The log of the sum of e^score over the untranslated words of a window.
    fn log_sum(&self, cov: Coverage<'_>, from: u32, within: Span, scores: &mut Vec<f32>) -> f32 {
        let mut sum = 0.0;
        Around::each_open(cov, within, |word, around| {
            let boost = self.boosts.get(word as usize).map_or(1.0, |boosts| boosts.get(around));
            sum += self.odds(from, word + 1) * boost;
        });
        if sum.is_normal() {
            return sum.ln();
        }
        scores.clear();
        Around::each_open(cov, within, |word, around| {
            let gain = self.gains.get(word as usize).map_or(0.0, |gains| gains.get(around));
            scores.push(self.matrix.get(from, word + 1) + gain);
        });
        let best = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        if best == f32::NEG_INFINITY {
            return best;
        }
        best + scores.iter().map(|score| (score - best).exp()).sum::<f32>().ln()
    }

    #[inline]
    fn odds(&self, from: u32, to: u32) -> f32 {
        let cell = &self.odds[from as usize * self.len() + to as usize - 1];
        let known = cell.get();
        if !known.is_nan() {
            return known;
        }
        let odds = self.matrix.get(from, to).exp();
        cell.set(odds);
        odds
    }
}

/// Sums by last word and coverage, and memory.
#[derive(Debug)]
struct Sums {
    kept: Kept,
    /// Memory of a sum.
    scores: Vec<f32>,
    /// Memory of a path.
    covered: Vec<u64>,
}

/// The log of the logistic function, without loss at either end.
pub fn ln_sigmoid(margin: f64) -> f64 {
    if margin < -30.0 { margin } else { -(-margin).exp().ln_1p() }
}
