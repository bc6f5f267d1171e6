//! Counts co-occurring word pairs and their marginals.
//!
//! In: a text in word numbers. Out: for each source word its target words and their weights.
//! How: the weights are the expected counts of the first iteration of IBM Model 1 (Brown et al.,
//! 1993), in which all links of a sentence pair are equally likely. They are in fixed point, so
//! counts of shards add up exactly. Each scan of the text counts as many source words as fit into
//! memory.
//! Cost: one lookup per cell of the sentence pairs, and one scan of the text per range of source
//! words.
//! Not: selection of pairs; see `lexicon_builder`.

use super::fixed_point::to_fixed;
use super::text_shard::{PairWords, TextShard};
use super::word_numbering::UNKNOWN;
use crate::error::Result;
use crate::job::Job;
use crate::narrow::to_usize;
use crate::ordered::in_order_within;
use std::ops::Range;

/// Bytes of a table slot: a target word and its sum.
const SLOT: usize = size_of::<u32>() + size_of::<u64>();

/// Minimal size of a table in bytes, even if memory is short.
const MIN_TABLE_BYTES: usize = 64 << 20;

/// Marginal sums of the weights, in fixed point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarginalCounts {
    /// Sum of the weights of each source word.
    pub src: Vec<u64>,
    /// Sum of the weights of each target word.
    pub tgt: Vec<u64>,
    /// Number of cells of sentence pairs that contain each source word.
    cells: Vec<u64>,
}

impl MarginalCounts {
    /// Create marginals from sums, without cell counts.
    pub fn from_sums(src: Vec<u64>, tgt: Vec<u64>) -> Self {
        MarginalCounts { src, tgt, cells: Vec::new() }
    }

    /// Compute the marginals of a text with these vocabulary sizes.
    pub fn count(text: &TextShard, (src_len, tgt_len): (usize, usize), job: &Job) -> Result<Self> {
        let mut marginals = MarginalCounts {
            src: vec![0; src_len],
            tgt: vec![0; tgt_len],
            cells: vec![0; src_len],
        };
        visit_pairs(text, job, |words| {
            let share = uniform_share(words);
            for &src in &words.src {
                marginals.src[src as usize] += share * words.tgt.len() as u64;
                marginals.cells[src as usize] += words.tgt.len() as u64;
            }
            for &tgt in &words.tgt {
                marginals.tgt[tgt as usize] += share * words.src.len() as u64;
            }
        })?;
        Ok(marginals)
    }
}

/// Return the weight of a cell: both directions choose uniformly among the words of the other side
/// and NULL; agreement is their geometric mean.
fn uniform_share(words: &PairWords) -> u64 {
    to_fixed(1.0 / ((words.src.len() + 1) as f32 * (words.tgt.len() + 1) as f32).sqrt())
}

fn visit_pairs(text: &TextShard, job: &Job, mut visit: impl FnMut(&PairWords)) -> Result<()> {
    let (mut words, mut buffer) = (PairWords::default(), Vec::new());
    for number in 0..text.blocks() {
        job.check()?;
        let mut block = text.block(number, &mut buffer)?;
        while block.next(&mut words)? {
            visit(&words);
        }
    }
    Ok(())
}

/// Target words of a source word in ascending order, with their weights in fixed point.
pub type CooccurrenceRow = Vec<(u32, u64)>;

/// Count all co-occurrences and call `take` with the row of each source word in ascending order.
pub fn count_cooccurrences(
    text: &TextShard,
    marginals: &MarginalCounts,
    memory: usize,
    job: &Job,
    mut take: impl FnMut(&CooccurrenceRow) -> Result<()> + Send,
) -> Result<()> {
    // One table more than threads, so that threads count while rows are taken.
    let tables = job.threads() + usize::from(job.threads() > 1);
    let slot_limit = (memory / tables).min(MIN_TABLE_BYTES.max(4 * text.bytes()));
    let ranges = split_sources(marginals, slot_limit / SLOT, job.threads());
    let count = |(): &mut (), number: usize| {
        let mut table = CooccurrenceTable::new(marginals, ranges[number].clone());
        visit_pairs(text, job, |words| table.add(words))?;
        table.sort_rows();
        Ok(table)
    };
    let mut row = CooccurrenceRow::new();
    in_order_within(
        tables,
        ranges.len(),
        job,
        || (),
        count,
        |table: CooccurrenceTable| {
            table.words.clone().try_for_each(|src| {
                table.read_row(src, &mut row);
                take(&row)
            })
        },
    )?;
    Ok(())
}

/// Return the maximal number of slots of a row: a third more than pairs, and one free.
fn max_slots(marginals: &MarginalCounts, src: usize) -> usize {
    let pairs = to_usize(marginals.cells[src]).min(marginals.tgt.len());
    pairs + pairs / 3 + 1
}

/// Split the source words into ranges with up to `slot_limit` slots and about equal work for all
/// threads. A word with more slots has its own range.
fn split_sources(
    marginals: &MarginalCounts,
    slot_limit: usize,
    threads: usize,
) -> Vec<Range<usize>> {
    let all: usize = (0..marginals.src.len()).map(|src| max_slots(marginals, src)).sum();
    let tables = all.div_ceil(slot_limit.max(1)).next_multiple_of(threads).max(1);
    let slot_limit = slot_limit.min(all / tables + all / tables / 32);
    let mut ranges = Vec::new();
    let (mut start, mut taken) = (0, 0);
    for src in 0..marginals.src.len() {
        let wanted = max_slots(marginals, src);
        if src > start && taken + wanted > slot_limit {
            ranges.push(start..src);
            (start, taken) = (src, 0);
        }
        taken += wanted;
    }
    if start < marginals.src.len() {
        ranges.push(start..marginals.src.len());
    }
    ranges
}

/// Sums for a range of source words; a row is an open-addressing table of target words.
struct CooccurrenceTable {
    words: Range<usize>,
    starts: Vec<usize>,
    tgt: Vec<u32>,
    sums: Vec<u64>,
}

impl CooccurrenceTable {
    fn new(marginals: &MarginalCounts, words: Range<usize>) -> Self {
        let mut starts = vec![0];
        let mut end = 0;
        for src in words.clone() {
            end += max_slots(marginals, src);
            starts.push(end);
        }
        CooccurrenceTable { words, starts, tgt: vec![UNKNOWN; end], sums: vec![0; end] }
    }

    fn add(&mut self, words: &PairWords) {
        let share = uniform_share(words);
        for &src in &words.src {
            let src = src as usize;
            if !self.words.contains(&src) {
                continue;
            }
            let row = self.row(src);
            let (tgt, sums) = (&mut self.tgt[row.clone()], &mut self.sums[row]);
            for &word in &words.tgt {
                let slot = find_slot(tgt, word);
                tgt[slot] = word;
                sums[slot] += share;
            }
        }
    }

    fn row(&self, src: usize) -> Range<usize> {
        let number = src - self.words.start;
        self.starts[number]..self.starts[number + 1]
    }

    /// Sort each row in place. The counting threads do this, because a single thread takes the
    /// rows.
    fn sort_rows(&mut self) {
        let mut pairs = CooccurrenceRow::new();
        for src in self.words.clone() {
            let slots = self.row(src);
            let (tgt, sums) = (&mut self.tgt[slots.clone()], &mut self.sums[slots]);
            let seen = tgt.iter().zip(sums.iter()).filter(|&(&tgt, _)| tgt != UNKNOWN);
            pairs.clear();
            pairs.extend(seen.map(|(&tgt, &sum)| (tgt, sum)));
            pairs.sort_unstable();
            tgt[pairs.len()..].fill(UNKNOWN);
            for (slot, &(word, sum)) in pairs.iter().enumerate() {
                (tgt[slot], sums[slot]) = (word, sum);
            }
        }
    }

    fn read_row(&self, src: usize, row: &mut CooccurrenceRow) {
        let slots = self.row(src);
        let seen = self.tgt[slots.clone()].iter().zip(&self.sums[slots]);
        row.clear();
        row.extend(seen.take_while(|&(&tgt, _)| tgt != UNKNOWN).map(|(&tgt, &sum)| (tgt, sum)));
    }
}

/// Return the slot of a target word in a row, or the free slot for it.
fn find_slot(row: &[u32], word: u32) -> usize {
    let hash = word.wrapping_mul(0x9E37_79B1); // 2^32 / golden ratio: spreads neighbouring numbers
    let mut slot = to_usize((u64::from(hash) * row.len() as u64) >> 32);
    while row[slot] != word && row[slot] != UNKNOWN {
        slot = if slot + 1 == row.len() { 0 } else { slot + 1 };
    }
    slot
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::TempFolder;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn any_room_and_threads_give_the_counts_of_a_map(
            pairs in prop::collection::vec(
                (prop::collection::vec(0u32..12, 1..6), prop::collection::vec(0u32..9, 1..6)),
                0..40,
            ),
            slot_limit in 0usize..300,
            threads in 1usize..4,
        ) {
            let mut text = TextShard::new(1 << 20, &TempFolder::new(None));
            let mut expected = BTreeMap::new();
            for (src, tgt) in pairs {
                let words = PairWords { src, tgt };
                for &src in &words.src {
                    for &tgt in &words.tgt {
                        *expected.entry((src, tgt)).or_insert(0) += uniform_share(&words);
                    }
                }
                text.push(&words).unwrap();
            }
            let (text, job) = (text.finish().unwrap(), Job::new(threads));
            let marginals = MarginalCounts::count(&text, (12, 9), &job).unwrap();
            let (mut rows, mut src) = (BTreeMap::new(), 0);
            count_cooccurrences(&text, &marginals, slot_limit, &job, |row| {
                rows.extend(row.iter().map(|&(tgt, sum)| ((src, tgt), sum)));
                src += 1;
                Ok(())
            }).unwrap();
            prop_assert_eq!(src, 12);
            let of = |word: u32| expected.iter().filter(move |((s, _), _)| *s == word);
            for word in 0..12 {
                let sum: u64 = of(word).map(|(_, sum)| sum).sum();
                prop_assert_eq!(marginals.src[word as usize], sum);
            }
            prop_assert_eq!(rows, expected);
        }
    }
}
