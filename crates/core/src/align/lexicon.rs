//! The lexicon: one weight per pair of words seen together, read as a probability in both
//! directions.
//!
//! In: expected counts of links. Out: p(target word | source word) and p(source word | target
//! word), also for NULL.
//! How: training by agreement (Liang, Taskar and Klein, 2006) gives both directions the same
//! counts, so one weight
//! serves both, scaled by the sum of its row or of its column. A row is a small open-addressing
//! table of target words.
//! Cost: 11 bytes per pair, and 11 more for counts while training; up to 24 of each where pairs
//! were dropped after a pass, as a row gives up room only when it has more than it can use: never
//! more in all than before. A look-up touches one or two cache lines.
//! Not: pairs never seen together; they share a floor (`FLOOR`).

use super::fixed::{SharedSum, shared_sums};
use super::words::UNKNOWN;
use crate::error::{Error, Place, Result};
use crate::job::Job;
use crate::narrow::{low_u32, to_f32, to_u32, to_usize};
use crate::parallel::each;
use crate::storage::{Unwire, Wire};
use std::ops::Range;

/// Probability of a word given one it was never linked with; far below any learned value that
/// matters.
pub const FLOOR: f32 = 1e-7;

/// Pseudo-count of each word under NULL, against rare words that NULL never took.
const NULL_SMOOTHING: f64 = 0.01;

/// Marks a free slot of a row.
const EMPTY: u32 = UNKNOWN;

/// A slot without a pair.
pub const FREE: Entry = Entry { tgt: EMPTY, weight: 0.0 };

/// A pair of words in the lexicon.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// Number of the target word.
    pub tgt: u32,
    /// Its expected count or weight.
    pub weight: f32,
}

impl Entry {
    /// Whether the slot is without a pair.
    #[inline]
    pub fn is_free(&self) -> bool {
        self.tgt == EMPTY
    }
}

/// What the lexicon knows of the words of one side.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SideScale {
    /// By word: what turns a weight into the probability of the other word given this one.
    pub given: Vec<f32>,
    /// By word: its probability given NULL.
    pub null: Vec<f32>,
}

/// Word translation probabilities of both directions.
#[derive(Debug, Clone, Default)]
pub struct Lexicon {
    row_start: Vec<u32>,
    pairs: usize,
    /// Word and weight side by side: a look-up waits for memory once.
    slots: Vec<Entry>,
    /// The source words.
    pub src: SideScale,
    /// The target words.
    pub tgt: SideScale,
}

/// Expected counts of one pass over the text.
#[derive(Debug)]
pub struct LexiconCounts {
    /// Whether one thread counts alone.
    pub is_alone: bool,
    /// By slot.
    pub cells: Vec<SharedSum>,
    /// By source word, without a partner.
    pub src_null: Vec<SharedSum>,
    /// By target word, without a partner.
    pub tgt_null: Vec<SharedSum>,
}

impl LexiconCounts {
    /// Adds a share to one of the sums.
    #[inline]
    pub fn add(&self, sum: &SharedSum, share: f32) {
        if self.is_alone { sum.add_alone(share) } else { sum.add(share) }
    }

    /// All sums: by slot, by source word, by target word.
    pub fn lists(&mut self) -> [&mut Vec<SharedSum>; 3] {
        [&mut self.cells, &mut self.src_null, &mut self.tgt_null]
    }
}

impl Lexicon {
    /// A lexicon without pairs, to which `push_row` adds one source word after the other.
    pub fn new() -> Self {
        Lexicon { row_start: vec![0], ..Lexicon::default() }
    }

    /// Adds the next source word with its target words, each at most once.
    pub fn push_row(&mut self, entries: &[Entry]) -> Result<()> {
        let start = self.slots.len();
        let end = start + row_slots(entries.len());
        let end_index =
            u32::try_from(end).ok().filter(|&end| end != EMPTY).ok_or_else(|| Error::Limit {
                place: Place { file: "align".into(), line: None },
                found: "too many pairs of words that occur together".into(),
                limit: "4,294,967,294; give less memory, or align the text in parts".into(),
            })?;
        self.slots.resize(end, FREE);
        fill_row(&mut self.slots[start..], entries);
        self.pairs += entries.len();
        self.row_start.push(end_index);
        Ok(())
    }

    /// Number of source words.
    pub fn src_len(&self) -> usize {
        self.row_start.len() - 1
    }

    /// Number of pairs of words.
    pub fn pair_count(&self) -> usize {
        self.pairs
    }

    /// Number of slots, free ones too.
    pub fn slot_count(&self) -> usize {
        self.slots.len()
    }

    /// The row of a source word, in which many target words can be looked up.
    pub fn row(&self, src: u32) -> Row<'_> {
        if src == UNKNOWN {
            return Row { start: 0, slots: &[] };
        }
        let range = self.row_range(src as usize);
        Row { start: to_u32(range.start), slots: &self.slots[range] }
    }

    fn row_range(&self, src: usize) -> Range<usize> {
        self.row_start[src] as usize..self.row_start[src + 1] as usize
    }

    /// The pairs of a source word, by ascending target word.
    pub fn entries(&self, src: usize) -> Vec<Entry> {
        let mut entries: Vec<Entry> =
            self.row_range(src).filter_map(|slot| self.entry(slot)).collect();
        entries.sort_unstable_by_key(|entry| entry.tgt);
        entries
    }

    fn entry(&self, slot: usize) -> Option<Entry> {
        Some(self.slots[slot]).filter(|entry| entry.tgt != EMPTY)
    }

    /// Counts that start at 0, of the shape of this lexicon with `tgt_len` target words; `is_alone`
    /// when one thread counts.
    pub fn zero_counts(&self, tgt_len: usize, is_alone: bool) -> LexiconCounts {
        LexiconCounts {
            is_alone,
            cells: shared_sums(self.slots.len()),
            src_null: shared_sums(self.src_len()),
            tgt_null: shared_sums(tgt_len),
        }
    }

    /// Makes the first probabilities from what each word has by chance; NULL gives words by their
    /// frequency.
    pub fn start(&mut self, src_sums: &[f64], tgt_sums: &[f64], discount: f32) {
        self.src.null = distribution(src_sums);
        self.tgt.null = distribution(tgt_sums);
        self.scale(src_sums, tgt_sums, discount);
    }

    /// Makes probabilities from expected counts, which start again at 0.
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
        self.scale(&src_sums, &tgt_sums, discount);
        let smoothed = |sums: &mut [SharedSum]| {
            sums.iter_mut().map(|sum| sum.take() + NULL_SMOOTHING).collect::<Vec<f64>>()
        };
        self.src.null = distribution(&smoothed(&mut counts.src_null));
        self.tgt.null = distribution(&smoothed(&mut counts.tgt_null));
        Ok(())
    }

    /// Sums of the weights by source word and by target word.
    pub(super) fn sums(&self, tgt_len: usize) -> (Vec<f64>, Vec<f64>) {
        let mut tgt_sums = vec![0f64; tgt_len];
        self.sum_targets(0, &mut tgt_sums);
        (self.sum_sources(0..self.src_len()), tgt_sums)
    }

    /// The same by the threads of a job. Each adds up some source words, and some target words in
    /// the order of the rows, so that sums are rounded as one thread rounds them.
    fn shared_sums(&self, tgt_len: usize, job: &Job) -> Result<(Vec<f64>, Vec<f64>)> {
        let rows = self.row_pieces(job.threads());
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

    /// Adds weights to the sums of target words from `first` on.
    fn sum_targets(&self, first: usize, sums: &mut [f64]) {
        for entry in self.slots.iter().filter(|entry| !entry.is_free()) {
            if let Some(sum) = sums.get_mut((entry.tgt as usize).wrapping_sub(first)) {
                *sum += f64::from(entry.weight);
            }
        }
    }

    /// Cuts the source words into so many pieces with about as many slots each.
    fn row_pieces(&self, pieces: usize) -> Vec<Range<usize>> {
        let slots = self.row_start.last().map_or(0, |&end| end as usize);
        let bound = |piece: usize| {
            let slot = to_u32(slots * piece / pieces);
            self.row_start[1..].partition_point(|&end| end < slot)
        };
        let end =
            |piece: usize| if piece + 1 == pieces { self.src_len() } else { bound(piece + 1) };
        (0..pieces).map(|piece| if piece == 0 { 0 } else { bound(piece) }..end(piece)).collect()
    }

    /// Finds the scales of both directions. `discount` links of every word are set aside for words
    /// it was not seen
    /// with; this costs rare words most and keeps them from collecting whatever else is in their
    /// sentences.
    fn scale(&mut self, src_sums: &[f64], tgt_sums: &[f64], discount: f32) {
        let scales = |sums: &[f64]| {
            sums.iter().map(|sum| to_f32(1.0 / (sum + f64::from(discount)))).collect()
        };
        self.src.given = scales(src_sums);
        self.tgt.given = scales(tgt_sums);
    }

    /// Drops pairs whose probability is under `threshold` in both directions.
    pub fn prune(&mut self, threshold: f32, job: &Job) -> Result<()> {
        let scales = (std::mem::take(&mut self.src), std::mem::take(&mut self.tgt));
        let is_kept = |src: usize, entry: &Entry| {
            let scale = scales.0.given[src].max(scales.1.given[entry.tgt as usize]);
            entry.weight * scale >= threshold
        };
        let done = self.retain(roomy_slots, is_kept, job);
        (self.src, self.tgt) = scales;
        done
    }

    /// Writes it with the places of its free slots, so that counts by slot fit it anywhere.
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

    /// Reads what `write` wrote, for `tgt_len` target words.
    pub fn read(wire: &mut Unwire, tgt_len: usize) -> Result<Self> {
        let row_start = wire.read_u32s()?;
        let pairs = to_usize(wire.number()?);
        let mut slots = Vec::new();
        wire.read_sparse(
            &mut slots,
            || FREE,
            |entry, packed| {
                let weight = f32::from_bits(low_u32(packed));
                *entry = Entry { tgt: low_u32(packed >> 32), weight };
            },
        )?;
        let mut sides = [SideScale::default(), SideScale::default()];
        for side in &mut sides {
            *side = SideScale { given: wire.read_f32s()?, null: wire.read_f32s()? };
        }
        let [src, tgt] = sides;
        let lexicon = Lexicon { row_start, pairs, slots, src, tgt };
        if lexicon.is_whole(tgt_len) { Ok(lexicon) } else { Err(wire.wrong("a broken lexicon")) }
    }

    /// Whether nothing in it points outside, and each row has a free slot, so that searches end.
    fn is_whole(&self, tgt_len: usize) -> bool {
        let rows_fit = self.row_start.is_sorted()
            && self.row_start.first() == Some(&0)
            && self.row_start.last().is_some_and(|&end| end as usize == self.slots.len());
        let src_len = self.row_start.len().saturating_sub(1);
        let has_free = |src: usize| {
            let row = &self.slots[self.row_range(src)];
            row.is_empty() || row.iter().any(|entry| entry.tgt == EMPTY)
        };
        rows_fit
            && self.slots.iter().all(|entry| entry.tgt == EMPTY || (entry.tgt as usize) < tgt_len)
            && (0..src_len).all(has_free)
            && [&self.src.given, &self.src.null].iter().all(|list| list.len() == src_len)
            && [&self.tgt.given, &self.tgt.null].iter().all(|list| list.len() == tgt_len)
    }

    /// Drops pairs in place: a row with fewer pairs never ends behind where it ended before. Each
    /// thread moves the rows of a piece to its front; then the pieces are moved together. `wanted`
    /// says how many of its slots a row of so many pairs keeps.
    pub fn retain(
        &mut self,
        wanted: fn(usize) -> usize,
        is_kept: impl Fn(usize, &Entry) -> bool + Sync,
        job: &Job,
    ) -> Result<()> {
        let (mut slots, row_start) = (std::mem::take(&mut self.slots), &self.row_start);
        let (mut pieces, mut rest) = (Vec::new(), &mut slots[..]);
        for rows in self.row_pieces(job.threads()) {
            let length = row_start[rows.end] - row_start[rows.start];
            let (piece, others) = std::mem::take(&mut rest).split_at_mut(length as usize);
            pieces.push((rows, piece));
            rest = others;
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

/// Drops pairs of some rows, which begin at `starts` of the lexicon, and moves what is left to the
/// front: the slots of each row, and the number of pairs.
fn compact(
    slots: &mut [Entry],
    starts: &[u32],
    wanted: fn(usize) -> usize,
    is_kept: impl Fn(usize, &Entry) -> bool,
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

/// Writes the pairs of a row into its slots.
fn fill_row(row: &mut [Entry], entries: &[Entry]) {
    row.fill(FREE);
    for entry in entries {
        let mut slot = home(entry.tgt, row.len());
        while row[slot].tgt != EMPTY {
            slot = if slot + 1 == row.len() { 0 } else { slot + 1 };
        }
        row[slot] = *entry;
    }
}

/// The target words of one source word.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    start: u32,
    slots: &'a [Entry],
}

impl Row<'_> {
    /// Begins a search for each of the target words: the slot where it begins, and what is there.
    /// A word is not in the row if the slot is free.
    #[inline]
    pub fn begin(&self, tgt: &[u32], slots: &mut [u32], homes: &mut [Entry]) {
        if self.slots.is_empty() {
            homes.fill(FREE);
            return;
        }
        for ((slot, home_entry), &tgt) in slots.iter_mut().zip(homes).zip(tgt) {
            let at = home(tgt, self.slots.len());
            *slot = self.start + to_u32(at);
            *home_entry = self.slots[at];
        }
    }

    /// Goes on with the search for a target word at the slot after `slot`, which holds another
    /// word: its slot and weight, or a free slot and 0.
    #[inline]
    pub fn go_on(&self, tgt: u32, slot: u32) -> (u32, f32) {
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

/// Slots for a row of `len` pairs: a third more, and always one that is empty, so that every search
/// ends.
pub fn row_slots(len: usize) -> usize {
    if len == 0 {
        return 0;
    }
    len + len / 3 + 1
}

/// Slots for a row of `len` pairs where there is room: two thirds of them stay empty, so that most
/// searches end where they begin.
fn roomy_slots(len: usize) -> usize {
    if len == 0 { 0 } else { 3 * len + 1 }
}

/// Where a search for `tgt` starts in a row of `len` slots.
#[inline]
fn home(tgt: u32, len: usize) -> usize {
    let hash = tgt.wrapping_mul(0x9E37_79B1); // 2^32 / golden ratio: spreads neighbouring numbers
    ((u64::from(hash) * len as u64) >> 32) as usize
}

fn distribution(counts: &[f64]) -> Vec<f32> {
    let total: f64 = counts.iter().sum();
    counts.iter().map(|&count| to_f32(count / total)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(tgt: u32, weight: f32) -> Entry {
        Entry { tgt, weight }
    }

    fn weight(row: Row<'_>, tgt: u32) -> f32 {
        let (mut slot, mut home) = ([0], [FREE]);
        row.begin(&[tgt], &mut slot, &mut home);
        match home[0] {
            entry if entry.is_free() => 0.0,
            entry if entry.tgt == tgt => entry.weight,
            _ => row.go_on(tgt, slot[0]).1,
        }
    }

    fn small() -> Lexicon {
        let mut lexicon = Lexicon::new();
        lexicon.push_row(&[entry(0, 3.0), entry(2, 1.0)]).unwrap();
        lexicon.push_row(&[]).unwrap();
        lexicon.push_row(&[entry(2, 1.0)]).unwrap();
        lexicon.start(&[4.0, 0.0, 1.0], &[3.0, 0.0, 2.0], 0.0);
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
