//! Which lists may follow a group when the search is pruned by a path feature.
//!
//! In: the lists that the space allows, a run of them for each start. Out: those entered at words
//! that the feature keeps, and those that start where it spares all.
//! How: the words that the lists of a run are entered at are bits, so a run without a word that is
//! kept is passed over as a whole: most of what is left out is never looked at.
//! Cost: a few instructions a run, and a look at each list of the runs that are left; no allocation.

use crate::corpus::SrcPos;
use crate::decode::ids::{CoverId, OptionListId};
use crate::decode::options::collection::{OptionCollection, OptionList};
use crate::feature::Span;
use crate::narrow::to_u32;
use crate::reorder::prune::Prune;
use std::ops::Range;

/// Bits of a block.
const BLOCK: u32 = u64::BITS;
/// Set for entries so far from the start of their span that they have no bit of their own.
const FAR: u64 = 1 << (BLOCK - 1);

/// Memory of a option, kept between sentences.
#[derive(Debug, Default)]
pub struct Choosing {
    /// By list: the words that it and those before it with the same start are entered at, a bit
    /// for each distance from the start.
    entries_to: Vec<u64>,
    /// By list: how many lists of single entries there are before it; one more for the end.
    singles: Vec<u32>,
    /// Which lists the space allows; none when that is to be found out.
    place: Option<Place>,
    /// These lists, by start.
    runs: Vec<Run>,
    /// The words that they are entered at, and those of them that are kept.
    entries: Words,
    entry_words: Vec<SrcPos>,
    kept: Words,
    words: Vec<SrcPos>,
    /// What the feature says of each word.
    scores: Vec<f32>,
    /// Whether it is asked how many lists are left out.
    counts: bool,
    /// Lanes left out, by the number of words translated after them.
    left_out: Vec<u64>,
}

/// What decides which lists a space without a memory allows: a coverage, and from which
/// untranslated word to which they may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub cover: CoverId,
    pub starts: Span,
}

/// Lanes that begin at one word, one after the other.
#[derive(Debug, Clone, Copy)]
struct Run {
    start: u32,
    lists: (u32, u32),
    /// The words that they are entered at, a bit for each distance from the start.
    entries: u64,
}

/// Where a span that starts at `start` is entered, as a bit.
fn bit(start: u32, entry: SrcPos) -> u64 {
    1 << (entry.0 - start).min(BLOCK - 1)
}

impl Choosing {
    /// Begins a sentence, whose options are there.
    pub fn restart(&mut self, length: u32, options: &OptionCollection, rules: Option<&Prune>) {
        self.counts = rules.is_some_and(|rules| rules.saves);
        self.left_out.clear();
        self.left_out.resize(length as usize + 1, 0);
        if rules.is_none() {
            return;
        }
        let Choosing { entries_to, singles, .. } = self;
        entries_to.clear();
        singles.clear();
        let (mut before, mut count) = ((u32::MAX, 0), 0);
        for &OptionList { span, entry, parts, .. } in options.lists() {
            singles.push(count);
            let others = if before.0 == span.start { before.1 } else { 0 };
            if parts == 0 {
                count += 1;
                before = (span.start, others | bit(span.start, entry));
            }
            entries_to.push(before.1);
        }
        singles.push(count);
        self.entries.restart(length);
        self.kept.restart(length);
        self.place = None;
    }

    /// How many lists to the stack of so many translated words were left out; only counted where
    /// the rules ask for it.
    pub fn left_out(&self, covered: usize) -> u64 {
        self.left_out[covered]
    }

    /// Finds out which lists may follow, unless that is known from the last time. `allowed` calls
    /// back for the lists of each start.
    pub fn allow(
        &mut self,
        options: &OptionCollection,
        place: Option<Place>,
        allowed: impl FnOnce(&mut dyn FnMut(Range<u32>)),
    ) {
        if place.is_some() && place == self.place {
            return;
        }
        let Choosing { entries_to, runs, entries, entry_words, .. } = self;
        runs.clear();
        entries.clear();
        allowed(&mut |lists: Range<u32>| {
            let Some(last) = lists.end.checked_sub(1).filter(|_| !lists.is_empty()) else { return };
            let start = options.list(OptionListId(last)).span.start;
            let bits = match entries_to[last as usize] {
                // All lists with this start, up to some length.
                known if place.is_some() && known & FAR == 0 => known,
                _ => look_for_entries(options, start, lists.clone(), entries),
            };
            entries.add_from(start, bits & !FAR);
            runs.push(Run { start, lists: (lists.start, lists.end), entries: bits });
        });
        entry_words.clear();
        entries.for_each(|word| entry_words.push(SrcPos(word)));
        self.place = place;
    }

    /// Writes the lists worth trying after so many translated words to `lists`; returns how many
    /// are not. `keep` takes words back, with room for their scores, and returns where lists may
    /// start that stay anyway.
    pub fn choose(
        &mut self,
        options: &OptionCollection,
        covered: u32,
        keep: impl FnOnce(&mut Vec<SrcPos>, &mut Vec<f32>) -> Span,
        lists: &mut Vec<OptionListId>,
    ) -> u64 {
        let Choosing { singles, runs, entry_words, kept, words, scores, counts, left_out, .. } =
            self;
        lists.clear();
        scores.clear();
        words.clone_from(entry_words);
        let spared = keep(words, scores);
        kept.clear();
        words.iter().for_each(|word| kept.add_from(word.0, 1));
        let mut count = 0;
        for &Run { start, lists: (first, end), entries } in &*runs {
            let is_spared = spared.has(start);
            let is_empty = entries & (kept.from(start) | FAR) == 0 && !is_spared;
            if is_empty && !*counts {
                count += u64::from(singles[end as usize] - singles[first as usize]);
                continue;
            }
            for number in first..end {
                let OptionList { span, entry, parts, .. } = *options.list(OptionListId(number));
                if parts > 0 {
                    // One row of options instead of several, if all of them are kept.
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

/// The words that lists are entered at; those far from the start are added to all `entries`.
fn look_for_entries(
    options: &OptionCollection,
    start: u32,
    lists: Range<u32>,
    entries: &mut Words,
) -> u64 {
    let mut bits = 0;
    for &OptionList { entry, parts, .. } in
        &options.lists()[lists.start as usize..lists.end as usize]
    {
        if parts == 0 {
            bits |= bit(start, entry);
            entries.add_from(entry.0, 1);
        }
    }
    bits
}

/// A set of words, as bits.
#[derive(Debug, Default)]
struct Words {
    /// With an empty block behind the last one.
    blocks: Vec<u64>,
}

impl Words {
    /// Makes room for the words of a sentence.
    fn restart(&mut self, length: u32) {
        self.blocks.clear();
        self.blocks.resize((length / BLOCK) as usize + 2, 0);
    }

    fn clear(&mut self) {
        self.blocks.fill(0);
    }

    /// Adds words: a bit for each distance from the first.
    #[inline]
    fn add_from(&mut self, first: u32, bits: u64) {
        let (block, shift) = ((first / BLOCK) as usize, first % BLOCK);
        self.blocks[block] |= bits << shift;
        // Two steps, as a shift by all bits is none.
        self.blocks[block + 1] |= bits >> (BLOCK - 1 - shift) >> 1;
    }

    /// The words from a first one on, a bit for each distance from it.
    #[inline]
    fn from(&self, first: u32) -> u64 {
        let (block, shift) = ((first / BLOCK) as usize, first % BLOCK);
        self.blocks[block] >> shift | self.blocks[block + 1] << (BLOCK - 1 - shift) << 1
    }

    fn for_each(&self, mut each: impl FnMut(u32)) {
        for (number, &block) in self.blocks.iter().enumerate() {
            let mut rest = block;
            while rest != 0 {
                each(to_u32(number) * BLOCK + rest.trailing_zeros());
                rest &= rest - 1;
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
            let mut words = Words::default();
            words.restart(192);
            let mut expected = BTreeSet::new();
            for &(start, bits) in &given {
                // Words of the sentence only.
                let bits = bits & (u64::MAX >> (start + BLOCK).saturating_sub(192));
                words.add_from(start, bits);
                expected.extend((0..BLOCK).filter(|at| bits >> at & 1 == 1).map(|at| start + at));
            }
            let mut found = Vec::new();
            words.for_each(|word| found.push(word));
            prop_assert!(found.iter().eq(&expected));
            for at in 0..BLOCK {
                let has = words.from(first) >> at & 1 == 1;
                prop_assert_eq!(has, expected.contains(&(first + at)));
            }
        }
    }
}
