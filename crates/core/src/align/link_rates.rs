//! Link rates: the share of linked occurrences of each word.
//!
//! In: a trained aligner and the words of a text. Out: by side and word, the share of its
//! occurrences that have a link, 0 to 1.
//! How: the lexicon holds the expected links `c` of a word and its probability `n` given NULL. One
//! of `1 + LINKED_TO_NULL` words is assumed to be unlinked, so `c_all` links correspond to `c_all /
//! LINKED_TO_NULL` NULL words, and the rate is `c / (c + n · c_all / LINKED_TO_NULL + 1)`; adding 1
//! smooths the rate of rare words.
//! Cost: one pass over the lexicon.
//! Not: the partner of a word.

use super::aligner::Aligner;
use super::pair_features::LogFrequencies;
use super::word_numbering::{UNKNOWN, WordNumbering};
use crate::corpus::Vocab;
use crate::narrow::{to_f32, to_u32};

/// Assumed ratio of linked to unlinked words.
const LINKED_TO_NULL: f64 = 4.0;

impl Aligner {
    /// Return the link rates of the words of `vocab` on the source side and on the target side; 0
    /// for unknown words.
    pub fn link_rates(&self, vocab: &Vocab) -> [Vec<f32>; 2] {
        let links: [Vec<f64>; 2] = self.lexicon.sums(self.tgt_names.len()).into();
        let names = [&self.src_names, &self.tgt_names];
        let occurrences = self.occurrences();
        [0, 1].map(|side| {
            let numbers = WordNumbering::new(names[side], vocab);
            let rate = |id| match numbers.number(id) {
                UNKNOWN => 0.0,
                word => to_f32(links[side][word as usize] / occurrences[side][word as usize]),
            };
            (0..to_u32(vocab.len())).map(rate).collect()
        })
    }

    /// Estimate the frequency of each word in the training text, plus 1, by side.
    pub(super) fn occurrences(&self) -> [Vec<f64>; 2] {
        let links: [Vec<f64>; 2] = self.lexicon.sums(self.tgt_names.len()).into();
        let nulls = [&self.lexicon.src.null, &self.lexicon.tgt.null];
        [0, 1].map(|side| {
            let of_null = links[side].iter().sum::<f64>() / LINKED_TO_NULL;
            let words = links[side].iter().zip(nulls[side]);
            words.map(|(links, null)| links + f64::from(*null) * of_null + 1.0).collect()
        })
    }

    /// Return the log frequencies of all words, computed on first use.
    pub(super) fn frequencies(&self) -> &LogFrequencies {
        self.frequencies.get_or_init(|| LogFrequencies::new(&self.occurrences()))
    }
}
