//! Builds the initial lexicon from co-occurrences, within a limit.
//!
//! In: the rows of `cooccurrence`, the maximal number of pairs. Out: a `TranslationLexicon`.
//! How: rank pairs by w² / (w_src · w_tgt), an association score: 1 for two words that only occur
//! together, close to 0 for chance co-occurrences, which are most pairs of a large text. If there
//! are too many pairs, raise the minimal rank until an eighth of the limit is free, for earlier
//! rows as well.
//! Cost: 8 bytes per slot of the lexicon.
//! Not: results that depend on the number of threads or shards; rows come in a fixed order.

use super::cooccurrence::MarginalCounts;
use super::fixed_point::from_fixed;
use super::lexicon::{LexiconEntry, TranslationLexicon, row_slots};
use crate::error::Result;
use crate::job::Job;
use crate::narrow::to_f32;

/// Ranks are the upper bits of a positive f32, which are ordered like the number: 32 ranks per
/// factor of 2.
const RANK_SHIFT: u32 = 18;
const RANKS: usize = 1 << (32 - RANK_SHIFT);

/// A lexicon under construction.
pub struct LexiconBuilder<'a> {
    lexicon: TranslationLexicon,
    marginals: &'a MarginalCounts,
    max_pairs: usize,
    /// Minimal rank of a pair.
    min_rank: usize,
    /// Number of pairs by rank, dropped ones included.
    seen: Vec<u64>,
    dropped: u64,
    entries: Vec<LexiconEntry>,
}

impl<'a> LexiconBuilder<'a> {
    /// Create a builder of a lexicon with up to `max_pairs` pairs.
    pub fn new(marginals: &'a MarginalCounts, max_pairs: usize) -> Self {
        let (lexicon, seen) = (TranslationLexicon::new(), vec![0; RANKS]);
        LexiconBuilder {
            lexicon,
            marginals,
            max_pairs,
            min_rank: 0,
            seen,
            dropped: 0,
            entries: Vec::new(),
        }
    }

    /// Append the next source word with its target words in ascending order and their weights in
    /// fixed point.
    pub fn push_row(&mut self, row: &[(u32, u64)]) -> Result<()> {
        let src = self.lexicon.src_len();
        let mut entries = std::mem::take(&mut self.entries);
        for &(tgt, sum) in row {
            let entry = LexiconEntry { tgt, weight: to_f32(from_fixed(sum)) };
            let rank = association_rank(self.marginals, src, &entry);
            self.seen[rank] += 1;
            if rank >= self.min_rank {
                entries.push(entry);
            } else {
                self.dropped += 1;
            }
        }
        self.lexicon.push_row(&entries)?;
        entries.clear();
        self.entries = entries;
        if self.lexicon.pair_count() > self.max_pairs {
            self.raise_threshold()?;
        }
        Ok(())
    }

    fn raise_threshold(&mut self) -> Result<()> {
        let wanted = (self.max_pairs - self.max_pairs / 8) as u64;
        let mut kept = 0;
        let full = self.seen.iter().rposition(|&pairs| {
            kept += pairs;
            kept > wanted
        });
        self.min_rank = full.map_or(0, |rank| rank + 1);
        let before = self.lexicon.pair_count();
        let (marginals, min_rank) = (self.marginals, self.min_rank);
        let is_kept =
            |src: usize, entry: &LexiconEntry| association_rank(marginals, src, entry) >= min_rank;
        // Shrink the rows completely: the limit counts pairs, but slots take the memory.
        self.lexicon.retain(row_slots, is_kept, &Job::default())?;
        self.dropped += (before - self.lexicon.pair_count()) as u64;
        Ok(())
    }

    /// Return the lexicon with its initial probabilities and the number of dropped pairs.
    pub fn finish(mut self, discount: f32) -> (TranslationLexicon, u64) {
        let sums = |sums: &[u64]| sums.iter().map(|&sum| from_fixed(sum)).collect::<Vec<f64>>();
        self.lexicon.set_initial(&sums(&self.marginals.src), &sums(&self.marginals.tgt), discount);
        (self.lexicon, self.dropped)
    }
}

fn association_rank(marginals: &MarginalCounts, src: usize, entry: &LexiconEntry) -> usize {
    let by_chance = from_fixed(marginals.src[src]) * from_fixed(marginals.tgt[entry.tgt as usize]);
    let weight = f64::from(entry.weight);
    let share = to_f32(weight * weight / by_chance.max(f64::MIN_POSITIVE));
    (share.to_bits() >> RANK_SHIFT) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align::fixed_point::to_fixed;

    #[test]
    fn what_is_left_out_gives_up_its_slots() {
        let (words, max_pairs) = (400, 4_000);
        let sums = vec![to_fixed(100.0); words];
        let marginals = MarginalCounts::from_sums(sums.clone(), sums);
        let mut builder = LexiconBuilder::new(&marginals, max_pairs);
        for src in 0..400u32 {
            // Every second pair has a low rank and is dropped first.
            let weight = |tgt: u32| if (src + tgt).is_multiple_of(2) { 0.01 } else { 1.0 };
            let row: Vec<_> = (0..40).map(|tgt| (tgt, to_fixed(weight(tgt)))).collect();
            builder.push_row(&row).unwrap();
            let pairs_and_free = max_pairs + max_pairs / 3 + words; // as the memory budget assumes
            assert!(builder.lexicon.slot_count() <= pairs_and_free, "{src}");
        }
        assert!(builder.dropped > 0);
    }
}
