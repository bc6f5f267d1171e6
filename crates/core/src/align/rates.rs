//! How often a trained aligner links each word.
//!
//! In: a trained aligner and the words of a text. Out: by word of a side, the share of its
//! occurrences that has a partner, 0 to 1.
//! How: the lexicon holds the expected links of a word, `c`, and its probability given NULL, `n`.
//! Over all words, one in `1 + LINKED_TO_NULL` is taken to have no partner, so `c_all` links stand
//! beside `c_all / LINKED_TO_NULL` words of NULL, and the rate is
//! `c / (c + n · c_all / LINKED_TO_NULL + 1)`; the 1 keeps words seen once or twice from being sure.
//! Cost: one pass over the lexicon.
//! Not: which partner a word has.

use super::Aligner;
use super::words::{Numbering, UNKNOWN};
use crate::corpus::Vocab;
use crate::narrow::{to_f32, to_u32};

/// Words with a partner for each word without.
const LINKED_TO_NULL: f64 = 4.0;

impl Aligner {
    /// The rates of the words of `vocab` on the source side and on the target side; 0 for a word
    /// the aligner does not know.
    pub fn link_rates(&self, vocab: &Vocab) -> [Vec<f32>; 2] {
        let links: [Vec<f64>; 2] = self.lexicon.sums(self.tgt_names.len()).into();
        let names = [&self.src_names, &self.tgt_names];
        let occurrences = self.occurrences();
        [0, 1].map(|side| {
            let numbers = Numbering::new(names[side], vocab);
            let rate = |id| match numbers.number(id) {
                UNKNOWN => 0.0,
                word => to_f32(links[side][word as usize] / occurrences[side][word as usize]),
            };
            (0..to_u32(vocab.len())).map(rate).collect()
        })
    }

    /// By side and word, about how often training saw it, and 1 more.
    pub(super) fn occurrences(&self) -> [Vec<f64>; 2] {
        let links: [Vec<f64>; 2] = self.lexicon.sums(self.tgt_names.len()).into();
        let nulls = [&self.lexicon.src.null, &self.lexicon.tgt.null];
        [0, 1].map(|side| {
            let of_null = links[side].iter().sum::<f64>() / LINKED_TO_NULL;
            let words = links[side].iter().zip(nulls[side]);
            words.map(|(links, null)| links + f64::from(*null) * of_null + 1.0).collect()
        })
    }
}
