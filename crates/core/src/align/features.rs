//! What the models think of a sentence pair as a whole.
//!
//! In: the posteriors and likelihoods of both directions for a pair. Out: a row of numbers from
//! which Python learns how likely the pair is a translation.
//! How: a side is explained when its words are far likelier given the other side than by their
//! frequency alone; words are linked when both directions think so.
//! Cost: one pass over the cells of the pair.
//! Not: the score itself, which is fitted (`wayword.align.quality`).

use super::Aligner;
use super::lexicon::FLOOR;
use super::pair::Posteriors;
use super::shard::Words;
use crate::narrow::to_f32;

/// Numbers of a row, in this order: gain in log-likelihood per target word and per source word over
/// the words' frequencies, links per word, shares of target and of source words that are linked,
/// longest runs of target and of source words that are not (as shares), by how much target and
/// source words are more at home on their own side than on the other, the share of target words that
/// stand in the source as they are, numbers of target and of source words.
pub const FEATURES: usize = 12;

/// A row of features.
pub type FeatureRow = [f32; FEATURES];

/// Agreement from which a word counts as linked.
const LINKED: f32 = 0.2;

/// Logarithms of the words' frequencies, by side and number, and those of unknown words.
#[derive(Debug, Clone)]
pub struct Frequencies([Vec<f32>; 2], [f32; 2]);

impl Frequencies {
    /// Those an aligner remembers: of links, and of words without.
    pub fn of(aligner: &Aligner) -> Self {
        let occurrences = aligner.occurrences();
        let totals = occurrences.each_ref().map(|side| side.iter().sum::<f64>().max(1.0));
        let logarithm = |side: usize, count: f64| to_f32((count / totals[side]).ln());
        let of_side = |side: usize| {
            occurrences[side].iter().map(|&count| logarithm(side, count)).collect::<Vec<f32>>()
        };
        // 1 is what a word has that was never seen.
        Frequencies([of_side(0), of_side(1)], [logarithm(0, 1.0), logarithm(1, 1.0)])
    }

    /// Mean log-ratio of the words of a pair under two numberings: by their own side and by the
    /// other; words that a side does not know are as rare there as can be.
    fn at_home(&self, side: usize, own: &[u32], other: &[u32]) -> f32 {
        let of = |side: usize, word: u32| {
            self.0[side].get(word as usize).copied().unwrap_or(self.1[side])
        };
        let ratio = |(&own, &other): (&u32, &u32)| of(side, own) - of(1 - side, other);
        own.iter().zip(other).map(ratio).sum::<f32>() / own.len() as f32
    }

    /// Log-likelihood of the words of a side; those that are not known are as likely as a model
    /// without links finds them.
    fn of_side(&self, side: usize, words: &[u32]) -> f32 {
        let of_word = |&word: &u32| self.0[side].get(word as usize).copied();
        words.iter().map(|word| of_word(word).unwrap_or(FLOOR.ln())).sum()
    }
}

/// The row of a pair; `elsewhere` are its words in the numbers of the other side, `same` is how many
/// target words stand in the source; `posteriors` and `likelihoods` are by direction, the target first.
pub fn features(
    words: &Words,
    elsewhere: &Words,
    same: usize,
    posteriors: &[Posteriors; 2],
    likelihoods: [f32; 2],
    frequencies: &Frequencies,
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
        (likelihoods[0] - frequencies.of_side(1, &words.tgt)) / tgt,
        (likelihoods[1] - frequencies.of_side(0, &words.src)) / src,
        2.0 * of_tgt.iter().sum::<f32>() / (src + tgt),
        linked(&of_tgt) / tgt,
        linked(&of_src) / src,
        longest_gap(&of_tgt) / tgt,
        longest_gap(&of_src) / src,
        frequencies.at_home(1, &words.tgt, &elsewhere.tgt),
        frequencies.at_home(0, &words.src, &elsewhere.src),
        same as f32 / tgt,
        tgt,
        src,
    ]
}

/// The longest run of words that are not linked.
fn longest_gap(shares: &[f32]) -> f32 {
    let runs = shares.split(|&share| share > LINKED).map(<[f32]>::len);
    runs.max().unwrap_or_default() as f32
}
