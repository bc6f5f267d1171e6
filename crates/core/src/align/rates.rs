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
        let (src_links, tgt_links) = self.lexicon.sums(self.tgt_names.len());
        let sides = [
            (&src_links, &self.lexicon.src.null, &self.src_names),
            (&tgt_links, &self.lexicon.tgt.null, &self.tgt_names),
        ];
        sides.map(|(links, null, names)| {
            let of_null = links.iter().sum::<f64>() / LINKED_TO_NULL;
            let numbers = Numbering::new(names, vocab);
            let rate = |id| match numbers.number(id) {
                UNKNOWN => 0.0,
                word => {
                    let (links, null) = (links[word as usize], f64::from(null[word as usize]));
                    to_f32(links / (links + null * of_null + 1.0))
                }
            };
            (0..to_u32(vocab.len())).map(rate).collect()
        })
    }
}
