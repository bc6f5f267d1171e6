//! Early pruning: the option lists that a path feature keeps (definitions c).
//!
//! In: the lists that the reordering space allows, as one run per start. Out: the lists whose entry
//! word the feature keeps, and all lists with a start in the non-prunable zone.
//! How: the entry words of a run are bits of a word, so a run without kept entry words is skipped
//! as a whole.
//! Cost: a few instructions per run, and a test of each list of the other runs; no allocation.

use crate::corpus::SrcPos;
use crate::decode::ids::{CoverageId, OptionListId};
use crate::decode::options::collection::{OptionCollection, OptionList};
use crate::feature::Span;
use crate::narrow::to_u32;
use crate::reorder::prune::Prune;
use std::ops::Range;

/// Bits of a block.
const BLOCK: u32 = u64::BITS;
/// Bit shared by all entry words 63 or more words after the start of their span.
const FAR: u64 = 1 << (BLOCK - 1);

/// Memory of early pruning, kept between sentences.
#[derive(Debug, Default)]
pub struct EarlyPruning {
    /// By list: the entry words of this list and of those before it with the same start; bit i
    /// stands for the word i words after the start.
    entries_to: Vec<u64>,
    /// By list: the number of lists with a single entry word before it; one more for the end.
    singles: Vec<u32>,
    /// The key of the allowed lists in `runs`; none if they must be computed.
    place: Option<AllowedKey>,
    /// The allowed lists, by start.
    runs: Vec<StartRun>,
    /// The entry words of the allowed lists, and the kept ones.
    entries: WordSet,
    entry_words: Vec<SrcPos>,
    kept: WordSet,
    words: Vec<SrcPos>,
    /// The score of each entry word.
    scores: Vec<f32>,
    /// Whether skipped lists are counted by stack.
    counts: bool,
    /// Number of skipped lists, by the number of words translated after them.
    left_out: Vec<u64>,
}

/// The coverage and the range of starts, which determine the allowed lists in a space without a
/// state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AllowedKey {
    pub coverage: CoverageId,
    pub starts: Span,
}

/// A contiguous range of lists with the same start.
#[derive(Debug, Clone, Copy)]
struct StartRun {
    start: u32,
    lists: (u32, u32),
    /// Their entry words; bit i stands for the word i words after the start.
    entries: u64,
}

/// Return the bit of an entry word in a span that starts at `start`.
fn entry_bit(start: u32, entry: SrcPos) -> u64 {
    1 << (entry.0 - start).min(BLOCK - 1)
}

impl EarlyPruning {
    /// Start a sentence, after its options were ranked.
    pub fn restart(&mut self, length: u32, options: &OptionCollection, rules: Option<&Prune>) {
        self.counts = rules.is_some_and(|rules| rules.saves);
        self.left_out.clear();
        self.left_out.resize(length as usize + 1, 0);
        if rules.is_none() {
            return;
        }
        let EarlyPruning { entries_to, singles, .. } = self;
        entries_to.clear();
        singles.clear();
        let (mut before, mut count) = ((u32::MAX, 0), 0);
        for &OptionList { span, entry, parts, .. } in options.lists() {
            singles.push(count);
            let others = if before.0 == span.start { before.1 } else { 0 };
            if parts == 0 {
                count += 1;
                before = (span.start, others | entry_bit(span.start, entry));
            }
            entries_to.push(before.1);
        }
        singles.push(count);
        self.entries.restart(length);
        self.kept.restart(length);
        self.place = None;
    }

    /// Return the number of skipped lists to the stack of `covered` words; 0 unless the rules need
    /// it.
    pub fn left_out(&self, covered: usize) -> u64 {
        self.left_out[covered]
    }

    /// Compute the allowed lists, unless the key equals the last one. `allowed` calls its argument
    /// with the lists of each start.
    pub fn allow(
        &mut self,
        options: &OptionCollection,
        place: Option<AllowedKey>,
        allowed: impl FnOnce(&mut dyn FnMut(Range<u32>)),
    ) {
        if place.is_some() && place == self.place {
            return;
        }
        let EarlyPruning { entries_to, runs, entries, entry_words, .. } = self;
        runs.clear();
        entries.clear();
        allowed(&mut |lists: Range<u32>| {
            let Some(last) = lists.end.checked_sub(1).filter(|_| !lists.is_empty()) else { return };
            let start = options.list(OptionListId(last)).span.start;
            let bits = match entries_to[last as usize] {
                // All lists with this start, up to some length.
                known if place.is_some() && known & FAR == 0 => known,
                _ => collect_entries(options, start, lists.clone(), entries),
            };
            entries.add_from(start, bits & !FAR);
            runs.push(StartRun { start, lists: (lists.start, lists.end), entries: bits });
        });
        entry_words.clear();
        entries.for_each(|word| entry_words.push(SrcPos(word)));
        self.place = place;
    }

    /// Write the kept lists to `lists`; return the number of skipped ones. `covered` is the number
    /// of translated words. `keep` removes words from its first argument, uses the second as
    /// scratch for scores, and returns the range of starts that are never pruned.
    pub fn choose(
        &mut self,
        options: &OptionCollection,
        covered: u32,
        keep: impl FnOnce(&mut Vec<SrcPos>, &mut Vec<f32>) -> Span,
        lists: &mut Vec<OptionListId>,
    ) -> u64 {
        let EarlyPruning {
            singles, runs, entry_words, kept, words, scores, counts, left_out, ..
        } = self;
        lists.clear();
        scores.clear();
        words.clone_from(entry_words);
        let spared = keep(words, scores);
        kept.clear();
        words.iter().for_each(|word| kept.add_from(word.0, 1));
        let mut count = 0;
        for &StartRun { start, lists: (first, end), entries } in &*runs {
            let is_spared = spared.has(start);
            let is_empty = entries & (kept.from(start) | FAR) == 0 && !is_spared;
            if is_empty && !*counts {
                count += u64::from(singles[end as usize] - singles[first as usize]);
                continue;
            }
            for number in first..end {
                let OptionList { span, entry, parts, .. } = *options.list(OptionListId(number));
                if parts > 0 {
                    // If the lists of all entry words are kept, replace them by the list of the span.
                    let at = lists.len().checked_sub(parts as usize);
                    if let Some(at) = at.filter(|&at| lists[at].0 == number - parts) {
                        lists.truncate(at);
                        lists.push(OptionListId(number));
                    }
                } else if is_spared || kept.from(entry.0) & 1 == 1 {
                    lists.push(OptionListId(number));
                } else {
                    left_out[(covered + span.len()) as usize] += 1;
                    count += 1;
                }
            }
        }
        count
    }
}

/// Return the entry words of some lists as bits, and add them to `entries`.
fn collect_entries(
    options: &OptionCollection,
    start: u32,
    lists: Range<u32>,
    entries: &mut WordSet,
) -> u64 {
    let mut bits = 0;
    for &OptionList { entry, parts, .. } in
        &options.lists()[lists.start as usize..lists.end as usize]
    {
        if parts == 0 {
            bits |= entry_bit(start, entry);
            entries.add_from(entry.0, 1);
        }
    }
    bits
}

/// A set of words of a sentence.
#[derive(Debug, Default)]
struct WordSet {
    /// Bits, with one empty block at the end.
    blocks: Vec<u64>,
}

impl WordSet {
    /// Clear the set and resize it for a sentence.
    fn restart(&mut self, length: u32) {
        self.blocks.clear();
        self.blocks.resize((length / BLOCK) as usize + 2, 0);
    }

    fn clear(&mut self) {
        self.blocks.fill(0);
    }

    /// Add words: bit i of `bits` stands for the word `first + i`.
    #[inline]
    fn add_from(&mut self, first: u32, bits: u64) {
        let (block, shift) = ((first / BLOCK) as usize, first % BLOCK);
        self.blocks[block] |= bits << shift;
        // Two shifts, because a shift by 64 bits is undefined.
        self.blocks[block + 1] |= bits >> (BLOCK - 1 - shift) >> 1;
    }

    /// Return the words from `first` on: bit i stands for the word `first + i`.
    #[inline]
    fn from(&self, first: u32) -> u64 {
        let (block, shift) = ((first / BLOCK) as usize, first % BLOCK);
        self.blocks[block] >> shift | self.blocks[block + 1] << (BLOCK - 1 - shift) << 1
    }

    fn for_each(&self, mut each: impl FnMut(u32)) {
        for (number, &block) in self.blocks.iter().enumerate() {
            let mut bits = block;
            while bits != 0 {
                each(to_u32(number) * BLOCK + bits.trailing_zeros());
                bits &= bits - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn words_are_found_again_from_any_word_on(
            given in prop::collection::vec((0u32..130, any::<u64>()), 0..4),
            first in 0u32..192,
        ) {
            let mut words = WordSet::default();
            words.restart(192);
            let mut expected = BTreeSet::new();
            for &(start, bits) in &given {
                // Words of the sentence only.
                let bits = bits & (u64::MAX >> (start + BLOCK).saturating_sub(192));
                words.add_from(start, bits);
                expected.extend((0..BLOCK).filter(|at| bits >> at & 1 == 1).map(|at| start + at));
            }
            let mut listed = Vec::new();
            words.for_each(|word| listed.push(word));
            prop_assert!(listed.iter().eq(&expected));
            for at in 0..BLOCK {
                let has = words.from(first) >> at & 1 == 1;
                prop_assert_eq!(has, expected.contains(&(first + at)));
            }
        }
    }
}
