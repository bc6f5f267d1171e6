//! BLEU of one sentence, as it is: clipped, with its brevity penalty.
//!
//! In: references and a string. Out: BLEU from 0 to 1, where a precision of nothing counts as 1e-10
//! (definitions i.2); for choosing between strings of different lengths.
//! Cost: linear in the words of the string; memory is used again.

use super::counts::EPSILON;
use super::grams::{EMPTY, Grams};

/// The references of a sentence, and how often each n-gram may match.
#[derive(Debug, Default)]
pub struct Clipped {
    grams: Grams,
    /// The most times that one reference has each n-gram.
    most: Vec<u32>,
    used: Vec<u32>,
    lengths: Vec<usize>,
}

impl Clipped {
    /// Makes it the scorer of these references.
    pub fn read(&mut self, refs: &[Vec<&str>]) {
        self.grams.read(refs, |_| true);
        self.lengths = refs.iter().map(Vec::len).collect();
        self.most = vec![0; self.grams.len()];
        self.used = vec![0; self.grams.len()];
        for words in refs {
            self.count(words);
            for (most, used) in self.most.iter_mut().zip(&self.used) {
                *most = (*used).max(*most);
            }
        }
    }

    /// Counts the n-grams of a string; the number of each order that is not above its most.
    fn count(&mut self, words: &[&str]) -> [u32; 4] {
        self.used.fill(0);
        let mut matched = [0; 4];
        let mut at = EMPTY;
        for word in words {
            at = self.grams.step(at, self.grams.word(word));
            let mut gram = at;
            while gram != EMPTY {
                self.used[gram as usize] += 1;
                if self.used[gram as usize] <= self.most[gram as usize] {
                    matched[self.grams.length(gram) - 1] += 1;
                }
                gram = self.grams.shorter(gram);
            }
        }
        matched
    }

    /// For each n-gram how often a string has it, and how often it may match.
    pub fn uses(&mut self, words: &[&str]) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.count(words);
        self.used.iter().copied().zip(self.most.iter().copied())
    }

    /// BLEU of a string.
    pub fn score(&mut self, words: &[&str]) -> f64 {
        let matched = self.count(words);
        let precision = |(order, &matched): (usize, &u32)| {
            let possible = words.len() as f64 - order as f64;
            if matched == 0 { EPSILON } else { f64::from(matched) / possible }.ln()
        };
        let mean = matched.iter().enumerate().map(precision).sum::<f64>() / 4.0;
        mean.exp() * brevity(words.len(), &self.lengths)
    }
}

/// The brevity penalty of a string of so many words; the closest reference counts, of two the
/// shorter.
pub fn brevity(words: usize, refs: &[usize]) -> f64 {
    let closest = refs.iter().min_by_key(|&&length| (length.abs_diff(words), length));
    match closest {
        Some(&length) if words < length && words > 0 => (1.0 - length as f64 / words as f64).exp(),
        Some(&length) if length > 0 && words == 0 => 0.0,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_counts_no_oftener_than_a_reference_has_it() {
        let mut clipped = Clipped::default();
        clipped.read(&[vec!["the", "cat", "sat"], vec!["the", "the", "end"]]);
        assert_eq!(clipped.count(&["the", "the", "the"]), [2, 1, 0, 0]);
        assert_eq!(clipped.count(&["the", "cat", "sat"]), [3, 2, 1, 0]);
        clipped.read(&[vec!["a", "b", "c", "d", "e"]]);
        assert!((clipped.score(&["a", "b", "c", "d", "e"]) - 1.0).abs() < 1e-12);
        let short = clipped.score(&["a", "b", "c", "d"]);
        assert!((short - (1.0f64 - 1.25).exp()).abs() < 1e-12);
        assert_eq!(clipped.score(&[]), 0.0);
    }
}
