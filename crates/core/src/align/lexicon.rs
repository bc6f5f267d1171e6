//! Lexical translation probabilities: one weight per word pair, for both directions.
//!
//! In: expected counts of links. Out: p(target word | source word) and p(source word | target
//! word), also for NULL.
//! How: agreement training (Liang, Taskar and Klein, 2006) gives both directions the same counts,
//! so one weight serves both, scaled by the sum of its row or column. A row is a small
//! open-addressing table of target words.
//! Cost: 11 bytes per pair, and 11 for its count during training; up to 24 of each after pairs were
//! dropped, because a row shrinks only when it has more slots than it can use. The total never
//! grows. A lookup touches one or two cache lines.
//! Not: pairs that never co-occur; their probability is `FLOOR`.

use super::fixed_point::{SharedSum, shared_sums};
use super::word_numbering::UNKNOWN;
use crate::error::{Error, Place, Result};
use crate::job::Job;
use crate::narrow::{low_u32, to_f32, to_u32, to_usize};
use crate::parallel::each;
use crate::storage::{Unwire, Wire};
use std::ops::Range;

/// Probability of a word pair without an entry; far below any relevant learned value.
pub const FLOOR: f32 = 1e-7;

/// Pseudo-count of each word under NULL, for rare words never linked to NULL.
const NULL_SMOOTHING: f64 = 0.01;

/// Target word of a free slot.
const NO_WORD: u32 = UNKNOWN;

/// A free slot.
pub const FREE_ENTRY: LexiconEntry = LexiconEntry { tgt: NO_WORD, weight: 0.0 };

/// An entry of the lexicon.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LexiconEntry {
    /// Number of the target word.
    pub tgt: u32,
    /// Expected count, or weight.
    pub weight: f32,
}

impl LexiconEntry {
    /// Return whether the slot is free.
    #[inline]
    pub fn is_free(&self) -> bool {
        self.tgt == NO_WORD
    }
}

/// Scales and NULL probabilities of the words of one side.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SideScale {
    /// Factor by word from a weight to the probability of the other word given this word.
    pub given: Vec<f32>,
    /// Probability of each word given NULL.
    pub null: Vec<f32>,
}

/// Lexical translation probabilities of both directions.
#[derive(Debug, Clone, Default)]
pub struct TranslationLexicon {
    row_start: Vec<u32>,
    pairs: usize,
    /// Word and weight are adjacent: a lookup waits for memory once.
    slots: Vec<LexiconEntry>,
    /// Scales of the source words.
    pub src: SideScale,
    /// Scales of the target words.
    pub tgt: SideScale,
}

/// Expected link counts of one EM iteration.
#[derive(Debug)]
pub struct LexiconCounts {
    /// Whether a single thread counts, which needs no atomic addition.
    pub is_single_threaded: bool,
    /// Counts by slot.
    pub cells: Vec<SharedSum>,
    /// NULL counts of the source words.
    pub src_null: Vec<SharedSum>,
    /// NULL counts of the target words.
    pub tgt_null: Vec<SharedSum>,
}

impl LexiconCounts {
    /// Add a share to a sum.
    #[inline]
    pub fn add(&self, sum: &SharedSum, share: f32) {
        if self.is_single_threaded { sum.add_exclusive(share) } else { sum.add(share) }
    }

    /// Return all sums: by slot, by source word, by target word.
    pub fn lists(&mut self) -> [&mut Vec<SharedSum>; 3] {
        [&mut self.cells, &mut self.src_null, &mut self.tgt_null]
    }
}

impl TranslationLexicon {
    /// Create an empty lexicon; `push_row` appends source words.
    pub fn new() -> Self {
        TranslationLexicon { row_start: vec![0], ..TranslationLexicon::default() }
    }

    /// Append the next source word with its distinct target words.
    pub fn push_row(&mut self, entries: &[LexiconEntry]) -> Result<()> {
        let start = self.slots.len();
        let end = start + row_slots(entries.len());
        let end_index =
            u32::try_from(end).ok().filter(|&end| end != NO_WORD).ok_or_else(|| Error::Limit {
                place: Place { file: "align".into(), line: None },
                found: "too many pairs of words that occur together".into(),
                limit: "4,294,967,294; give less memory, or align the text in parts".into(),
            })?;
        self.slots.resize(end, FREE_ENTRY);
        fill_row(&mut self.slots[start..], entries);
        self.pairs += entries.len();
        self.row_start.push(end_index);
        Ok(())
    }

    /// Return the number of source words.
    pub fn src_len(&self) -> usize {
        self.row_start.len() - 1
    }

    /// Return the number of word pairs.
    pub fn pair_count(&self) -> usize {
        self.pairs
    }

    /// Return the number of slots, free ones included.
    pub fn slot_count(&self) -> usize {
        self.slots.len()
    }

    /// Return the row of a source word for lookups.
    pub fn row(&self, src: u32) -> LexiconRow<'_> {
        if src == UNKNOWN {
            return LexiconRow { start: 0, slots: &[] };
        }
        let range = self.row_range(src as usize);
        LexiconRow { start: to_u32(range.start), slots: &self.slots[range] }
    }

    fn row_range(&self, src: usize) -> Range<usize> {
        self.row_start[src] as usize..self.row_start[src + 1] as usize
    }

    /// Return the entries of a source word by ascending target word.
    pub fn entries(&self, src: usize) -> Vec<LexiconEntry> {
        let mut entries: Vec<LexiconEntry> =
            self.row_range(src).filter_map(|slot| self.entry(slot)).collect();
        entries.sort_unstable_by_key(|entry| entry.tgt);
        entries
    }

    fn entry(&self, slot: usize) -> Option<LexiconEntry> {
        Some(self.slots[slot]).filter(|entry| entry.tgt != NO_WORD)
    }

    /// Create zero counts for this lexicon and `tgt_len` target words.
    pub fn new_counts(&self, tgt_len: usize, is_single_threaded: bool) -> LexiconCounts {
        LexiconCounts {
            is_single_threaded,
            cells: shared_sums(self.slots.len()),
            src_null: shared_sums(self.src_len()),
            tgt_null: shared_sums(tgt_len),
        }
    }

    /// Set the initial probabilities from the marginals. The NULL distribution is proportional to
    /// frequency.
    pub fn set_initial(&mut self, src_sums: &[f64], tgt_sums: &[f64], discount: f32) {
        self.src.null = normalize(src_sums);
        self.tgt.null = normalize(tgt_sums);
        self.set_scales(src_sums, tgt_sums, discount);
    }

    /// Set the probabilities from expected counts, and reset the counts to 0.
    pub fn update(&mut self, counts: &mut LexiconCounts, discount: f32, job: &Job) -> Result<()> {
        let size = self.slots.len().div_ceil(job.threads()).max(1);
        let slots = self.slots.chunks_mut(size).zip(counts.cells.chunks_mut(size));
        each(slots.collect(), job, |(slots, cells)| {
            for (entry, count) in slots.iter_mut().zip(cells) {
                entry.weight = to_f32(count.take());
            }
            Ok(())
        })?;
        let (src_sums, tgt_sums) = self.shared_sums(counts.tgt_null.len(), job)?;
        self.set_scales(&src_sums, &tgt_sums, discount);
        let smoothed = |sums: &mut [SharedSum]| {
            sums.iter_mut().map(|sum| sum.take() + NULL_SMOOTHING).collect::<Vec<f64>>()
        };
        self.src.null = normalize(&smoothed(&mut counts.src_null));
        self.tgt.null = normalize(&smoothed(&mut counts.tgt_null));
        Ok(())
    }

    /// Return the sums of the weights by source word and by target word.
    pub(super) fn sums(&self, tgt_len: usize) -> (Vec<f64>, Vec<f64>) {
        let mut tgt_sums = vec![0f64; tgt_len];
        self.sum_targets(0, &mut tgt_sums);
        (self.sum_sources(0..self.src_len()), tgt_sums)
    }

    /// Compute `sums` in parallel. Each thread sums a range of source words, then a range of target
    /// words in row order, so the rounding equals that of one thread.
    fn shared_sums(&self, tgt_len: usize, job: &Job) -> Result<(Vec<f64>, Vec<f64>)> {
        let rows = self.split_rows(job.threads());
        let src_sums = each(rows, job, |rows| Ok(self.sum_sources(rows)))?.concat();
        let mut tgt_sums = vec![0f64; tgt_len];
        let width = tgt_len.div_ceil(job.threads()).max(1);
        let pieces = (0..).step_by(width).zip(tgt_sums.chunks_mut(width));
        each(pieces.collect(), job, |(first, sums)| {
            self.sum_targets(first, sums);
            Ok(())
        })?;
        Ok((src_sums, tgt_sums))
    }

    fn sum_sources(&self, rows: Range<usize>) -> Vec<f64> {
        let sum = |src: usize| {
            let entries = self.slots[self.row_range(src)].iter().filter(|entry| !entry.is_free());
            entries.fold(0.0, |sum, entry| sum + f64::from(entry.weight))
        };
        rows.map(sum).collect()
    }

    /// Add weights to the sums of the target words from `first` on.
    fn sum_targets(&self, first: usize, sums: &mut [f64]) {
        for entry in self.slots.iter().filter(|entry| !entry.is_free()) {
            if let Some(sum) = sums.get_mut((entry.tgt as usize).wrapping_sub(first)) {
                *sum += f64::from(entry.weight);
            }
        }
    }

    /// Split the source words into ranges with about equal numbers of slots.
    fn split_rows(&self, pieces: usize) -> Vec<Range<usize>> {
        let slots = self.row_start.last().map_or(0, |&end| end as usize);
        let bound = |piece: usize| {
            let slot = to_u32(slots * piece / pieces);
            self.row_start[1..].partition_point(|&end| end < slot)
        };
        let end =
            |piece: usize| if piece + 1 == pieces { self.src_len() } else { bound(piece + 1) };
        (0..pieces).map(|piece| if piece == 0 { 0 } else { bound(piece) }..end(piece)).collect()
    }

    /// Set the scales of both directions. `discount` links of each word are reserved for unseen
    /// pairs; this affects rare words most and prevents them from becoming garbage collectors.
    fn set_scales(&mut self, src_sums: &[f64], tgt_sums: &[f64], discount: f32) {
        let scales = |sums: &[f64]| {
            sums.iter().map(|sum| to_f32(1.0 / (sum + f64::from(discount)))).collect()
        };
        self.src.given = scales(src_sums);
        self.tgt.given = scales(tgt_sums);
    }

    /// Drop pairs whose probability is below `threshold` in both directions.
    pub fn prune(&mut self, threshold: f32, job: &Job) -> Result<()> {
        let scales = (std::mem::take(&mut self.src), std::mem::take(&mut self.tgt));
        let is_kept = |src: usize, entry: &LexiconEntry| {
            let scale = scales.0.given[src].max(scales.1.given[entry.tgt as usize]);
            entry.weight * scale >= threshold
        };
        let done = self.retain(sparse_row_slots, is_kept, job);
        (self.src, self.tgt) = scales;
        done
    }

    /// Write the lexicon with the positions of its free slots, so that counts by slot match
    /// anywhere.
    pub fn write(&self, wire: &mut Wire) -> Result<()> {
        wire.u32s(&self.row_start)?;
        wire.number(self.pairs as u64)?;
        wire.sparse(self.slots.iter().map(|entry| {
            let packed = u64::from(entry.tgt) << 32 | u64::from(entry.weight.to_bits());
            (!entry.is_free()).then_some(packed)
        }))?;
        for side in [&self.src, &self.tgt] {
            wire.f32s(&side.given)?;
            wire.f32s(&side.null)?;
        }
        Ok(())
    }

    /// Read the output of `write`, for `tgt_len` target words.
    pub fn read(wire: &mut Unwire, tgt_len: usize) -> Result<Self> {
        let row_start = wire.read_u32s()?;
        let pairs = to_usize(wire.number()?);
        let mut slots = Vec::new();
        wire.read_sparse(
            &mut slots,
            || FREE_ENTRY,
            |entry, packed| {
                let weight = f32::from_bits(low_u32(packed));
                *entry = LexiconEntry { tgt: low_u32(packed >> 32), weight };
            },
        )?;
        let mut sides = [SideScale::default(), SideScale::default()];
        for side in &mut sides {
            *side = SideScale { given: wire.read_f32s()?, null: wire.read_f32s()? };
        }
        let [src, tgt] = sides;
        let lexicon = TranslationLexicon { row_start, pairs, slots, src, tgt };
        if lexicon.is_consistent(tgt_len) {
            Ok(lexicon)
        } else {
            Err(wire.wrong("a broken lexicon"))
        }
    }

    /// Return whether all indices are in range and each row has a free slot, so that every probe
    /// ends.
    fn is_consistent(&self, tgt_len: usize) -> bool {
        let rows_fit = self.row_start.is_sorted()
            && self.row_start.first() == Some(&0)
            && self.row_start.last().is_some_and(|&end| end as usize == self.slots.len());
        let src_len = self.row_start.len().saturating_sub(1);
        let has_free = |src: usize| {
            let row = &self.slots[self.row_range(src)];
            row.is_empty() || row.iter().any(|entry| entry.tgt == NO_WORD)
        };
        rows_fit
            && self.slots.iter().all(|entry| entry.tgt == NO_WORD || (entry.tgt as usize) < tgt_len)
            && (0..src_len).all(has_free)
            && [&self.src.given, &self.src.null].iter().all(|list| list.len() == src_len)
            && [&self.tgt.given, &self.tgt.null].iter().all(|list| list.len() == tgt_len)
    }

    /// Drop pairs in place; a shrunk row never ends after its former end. Each thread compacts a
    /// range of rows, then the ranges are joined. `wanted` returns the number of slots for a number
    /// of pairs.
    pub fn retain(
        &mut self,
        wanted: fn(usize) -> usize,
        is_kept: impl Fn(usize, &LexiconEntry) -> bool + Sync,
        job: &Job,
    ) -> Result<()> {
        let (mut slots, row_start) = (std::mem::take(&mut self.slots), &self.row_start);
        let (mut pieces, mut remaining) = (Vec::new(), &mut slots[..]);
        for rows in self.split_rows(job.threads()) {
            let length = row_start[rows.end] - row_start[rows.start];
            let (piece, others) = std::mem::take(&mut remaining).split_at_mut(length as usize);
            pieces.push((rows, piece));
            remaining = others;
        }
        let kept = each(pieces, job, |(rows, piece)| {
            let of_piece = &row_start[rows.start..=rows.end];
            Ok((
                rows.clone(),
                compact(piece, of_piece, wanted, |row, e| is_kept(rows.start + row, e)),
            ))
        })?;
        let mut end = 0;
        self.pairs = 0;
        let mut ends = vec![0];
        for (rows, (lengths, pairs)) in kept {
            let start = row_start[rows.start] as usize;
            let length = lengths.iter().sum::<usize>();
            slots.copy_within(start..start + length, end);
            for row in lengths {
                end += row;
                ends.push(to_u32(end));
            }
            self.pairs += pairs;
        }
        self.row_start = ends;
        slots.truncate(end);
        slots.shrink_to_fit();
        self.slots = slots;
        Ok(())
    }
}

/// Drop pairs of consecutive rows and move the remaining ones to the front. Return the slots of
/// each row and the number of pairs.
fn compact(
    slots: &mut [LexiconEntry],
    starts: &[u32],
    wanted: fn(usize) -> usize,
    is_kept: impl Fn(usize, &LexiconEntry) -> bool,
) -> (Vec<usize>, usize) {
    let (mut lengths, mut pairs, mut start) = (Vec::new(), 0, 0);
    let mut entries = Vec::new();
    for (row, bounds) in starts.windows(2).enumerate() {
        let [from, to] = [bounds[0], bounds[1]].map(|slot| (slot - starts[0]) as usize);
        let old = &slots[from..to];
        entries.extend(old.iter().filter(|e| !e.is_free() && is_kept(row, e)).copied());
        let length = (to - from).min(wanted(entries.len()));
        fill_row(&mut slots[start..start + length], &entries);
        start += length;
        lengths.push(length);
        pairs += entries.len();
        entries.clear();
    }
    (lengths, pairs)
}

/// Write entries into the slots of a row.
fn fill_row(row: &mut [LexiconEntry], entries: &[LexiconEntry]) {
    row.fill(FREE_ENTRY);
    for entry in entries {
        let mut slot = home_slot(entry.tgt, row.len());
        while row[slot].tgt != NO_WORD {
            slot = if slot + 1 == row.len() { 0 } else { slot + 1 };
        }
        row[slot] = *entry;
    }
}

/// The target words of one source word.
#[derive(Debug, Clone, Copy)]
pub struct LexiconRow<'a> {
    start: u32,
    slots: &'a [LexiconEntry],
}

impl LexiconRow<'_> {
    /// Read the home slot of each target word: its index and its entry. A word with a free home
    /// slot is not in the row.
    #[inline]
    pub fn probe_home(&self, tgt: &[u32], slots: &mut [u32], homes: &mut [LexiconEntry]) {
        if self.slots.is_empty() {
            homes.fill(FREE_ENTRY);
            return;
        }
        for ((slot, home_entry), &tgt) in slots.iter_mut().zip(homes).zip(tgt) {
            let at = home_slot(tgt, self.slots.len());
            *slot = self.start + to_u32(at);
            *home_entry = self.slots[at];
        }
    }

    /// Continue the probe of a target word after `slot`, which holds another word. Return its slot
    /// and weight, or a free slot and 0.
    #[inline]
    pub fn continue_probe(&self, tgt: u32, slot: u32) -> (u32, f32) {
        let mut at = to_usize(slot - self.start);
        loop {
            at = if at + 1 == self.slots.len() { 0 } else { at + 1 };
            let entry = self.slots[at];
            if entry.tgt == tgt || entry.is_free() {
                let weight = if entry.tgt == tgt { entry.weight } else { 0.0 };
                return (self.start + to_u32(at), weight);
            }
        }
    }
}

/// Return the number of slots for a row of `len` pairs: a third more, with at least one free slot,
/// so that every probe ends.
pub fn row_slots(len: usize) -> usize {
    if len == 0 {
        return 0;
    }
    len + len / 3 + 1
}

/// Return the number of slots for a sparse row of `len` pairs: two thirds are free, so most probes
/// end at the home slot.
fn sparse_row_slots(len: usize) -> usize {
    if len == 0 { 0 } else { 3 * len + 1 }
}

/// Return the first slot of the probe for `tgt` in a row of `len` slots.
#[inline]
fn home_slot(tgt: u32, len: usize) -> usize {
    let hash = tgt.wrapping_mul(0x9E37_79B1); // 2^32 / golden ratio: spreads neighbouring numbers
    ((u64::from(hash) * len as u64) >> 32) as usize
}

fn normalize(counts: &[f64]) -> Vec<f32> {
    let total: f64 = counts.iter().sum();
    counts.iter().map(|&count| to_f32(count / total)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(tgt: u32, weight: f32) -> LexiconEntry {
        LexiconEntry { tgt, weight }
    }

    fn weight(row: LexiconRow<'_>, tgt: u32) -> f32 {
        let (mut slot, mut home_slot) = ([0], [FREE_ENTRY]);
        row.probe_home(&[tgt], &mut slot, &mut home_slot);
        match home_slot[0] {
            entry if entry.is_free() => 0.0,
            entry if entry.tgt == tgt => entry.weight,
            _ => row.continue_probe(tgt, slot[0]).1,
        }
    }

    fn small() -> TranslationLexicon {
        let mut lexicon = TranslationLexicon::new();
        lexicon.push_row(&[entry(0, 3.0), entry(2, 1.0)]).unwrap();
        lexicon.push_row(&[]).unwrap();
        lexicon.push_row(&[entry(2, 1.0)]).unwrap();
        lexicon.set_initial(&[4.0, 0.0, 1.0], &[3.0, 0.0, 2.0], 0.0);
        lexicon
    }

    #[test]
    fn rows_find_what_was_pushed_and_nothing_else() {
        let lexicon = small();
        assert_eq!(weight(lexicon.row(0), 0), 3.0);
        assert_eq!(weight(lexicon.row(0), 1), 0.0);
        assert_eq!(weight(lexicon.row(1), 0), 0.0);
        assert_eq!(weight(lexicon.row(0), UNKNOWN), 0.0);
        assert_eq!(weight(lexicon.row(UNKNOWN), 0), 0.0);
        assert_eq!(lexicon.entries(0), vec![entry(0, 3.0), entry(2, 1.0)]);
    }

    #[test]
    fn one_weight_serves_both_directions() {
        let lexicon = small();
        let weight = weight(lexicon.row(0), 2);
        assert_eq!(weight * lexicon.src.given[0], 0.25); // 1 of the 4 links of source word 0
        assert_eq!(weight * lexicon.tgt.given[2], 0.5); // 1 of the 2 links of target word 2
    }

    #[test]
    fn pruning_asks_both_directions() {
        let mut lexicon = small();
        lexicon.prune(0.3, &Job::new(2)).unwrap();
        assert_eq!(lexicon.pair_count(), 3); // 0.25 one way, but 0.5 the other
        lexicon.prune(0.6, &Job::new(3)).unwrap();
        assert_eq!(lexicon.pair_count(), 2);
        assert_eq!(lexicon.entries(0), vec![entry(0, 3.0)]);
    }
}
