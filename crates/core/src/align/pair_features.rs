//! Features of a sentence pair for estimating whether it is a translation.
//!
//! In: posteriors and likelihoods of both directions. Out: a feature vector for the calibration in
//! Python.
//! How: a side is explained if its words are much more probable given the other side than by
//! frequency; a word is linked if both directions agree.
//! Cost: one pass over the cells of the pair.
//! Not: the score, which is fitted (`wayword.align.quality`).

use super::lexicon::FLOOR;
use super::sentence_pair::LinkPosteriors;
use super::text_shard::PairWords;
use crate::narrow::to_f32;

/// Number of features, in this order: gain in log-likelihood per target word and per source word
/// over the unigram frequencies; links per word; shares of linked target and source words; longest
/// runs of unlinked target and source words (as shares); mean log-ratio of the frequencies on the
/// own and on the other side, of target and source words; share of target words that occur in the
/// source; numbers of target and source words.
pub const FEATURES: usize = 12;

/// The features of a sentence pair.
pub type FeatureRow = [f32; FEATURES];

/// Minimal agreement of a linked word.
const LINKED: f32 = 0.2;

/// Log frequencies of words by side and number, and those of unknown words.
#[derive(Debug, Clone)]
pub struct LogFrequencies([Vec<f32>; 2], [f32; 2]);

impl LogFrequencies {
    /// Create the log frequencies from the number of occurrences by side and word.
    pub fn new(occurrences: &[Vec<f64>; 2]) -> Self {
        let totals = occurrences.each_ref().map(|side| side.iter().sum::<f64>().max(1.0));
        let logarithm = |side: usize, count: f64| to_f32((count / totals[side]).ln());
        let of_side = |side: usize| {
            occurrences[side].iter().map(|&count| logarithm(side, count)).collect::<Vec<f32>>()
        };
        // An unseen word has the pseudo-count 1.
        LogFrequencies([of_side(0), of_side(1)], [logarithm(0, 1.0), logarithm(1, 1.0)])
    }

    /// Return the mean log-ratio of the word frequencies on this side and on the other side;
    /// unknown words have the minimal frequency.
    fn side_log_ratio(&self, side: usize, words: &[u32], other: &[u32]) -> f32 {
        let of = |side: usize, word: u32| {
            self.0[side].get(word as usize).copied().unwrap_or(self.1[side])
        };
        let ratio = |(&word, &other): (&u32, &u32)| of(side, word) - of(1 - side, other);
        words.iter().zip(other).map(ratio).sum::<f32>() / words.len() as f32
    }

    /// Return the unigram log-likelihood of the words of a side; unknown words have the floor
    /// probability.
    fn log_likelihood(&self, side: usize, words: &[u32]) -> f32 {
        let of_word = |&word: &u32| self.0[side].get(word as usize).copied();
        words.iter().map(|word| of_word(word).unwrap_or(FLOOR.ln())).sum()
    }
}

/// Compute the features of a pair. `elsewhere` holds its words in the numbers of the other side,
/// `same` is the number of target words in the source; `posteriors` and `likelihoods` are by
/// direction, the target first.
pub fn compute_features(
    words: &PairWords,
    elsewhere: &PairWords,
    same: usize,
    posteriors: &[LinkPosteriors; 2],
    likelihoods: [f32; 2],
    frequencies: &LogFrequencies,
) -> FeatureRow {
    let (src_len, tgt_len) = (words.src.len(), words.tgt.len());
    let [by_tgt, by_src] = posteriors;
    let (mut of_src, mut of_tgt) = (vec![0f32; src_len], vec![0f32; tgt_len]);
    for (tgt, of_tgt) in of_tgt.iter_mut().enumerate() {
        for (src, of_src) in of_src.iter_mut().enumerate() {
            let share = by_tgt.of_word(tgt)[src] * by_src.of_word(src)[tgt];
            *of_tgt += share;
            *of_src += share;
        }
    }
    let (src, tgt) = (src_len as f32, tgt_len as f32);
    let linked = |side: &[f32]| side.iter().filter(|&&share| share > LINKED).count() as f32;
    [
        (likelihoods[0] - frequencies.log_likelihood(1, &words.tgt)) / tgt,
        (likelihoods[1] - frequencies.log_likelihood(0, &words.src)) / src,
        2.0 * of_tgt.iter().sum::<f32>() / (src + tgt),
        linked(&of_tgt) / tgt,
        linked(&of_src) / src,
        longest_gap(&of_tgt) / tgt,
        longest_gap(&of_src) / src,
        frequencies.side_log_ratio(1, &words.tgt, &elsewhere.tgt),
        frequencies.side_log_ratio(0, &words.src, &elsewhere.src),
        same as f32 / tgt,
        tgt,
        src,
    ]
}

/// Return the length of the longest run of unlinked words.
fn longest_gap(shares: &[f32]) -> f32 {
    let runs = shares.split(|&share| share > LINKED).map(<[f32]>::len);
    runs.max().unwrap_or_default() as f32
}
