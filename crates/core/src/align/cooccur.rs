//! Finds which words occur together, and how often by chance they would be linked.
//!
//! In: a text in model numbers. Out: for each source word its target words and their weights.
//! How: the weights are the expected counts of the first pass of IBM Model 1 (Brown et al., 1993),
//! where all links of a sentence pair are equally likely; in fixed point, so that the counts of
//! parts of a text add up to those of the whole. As many source words are counted at once as there
//! is room for, in a pass over the text.
//! Cost: one look-up per cell of the sentence pairs, and a reading of the text for each range of
//! source words.
//! Not: which pairs are worth keeping; see `build`.

use super::fixed::to_fixed;
use super::shard::{Shard, Words};
use super::words::UNKNOWN;
use crate::error::Result;
use crate::job::Job;
use crate::narrow::to_usize;
use crate::ordered::in_order_within;
use std::ops::Range;

/// Bytes of a slot of a table: a target word and its sum.
const SLOT: usize = size_of::<u32>() + size_of::<u64>();

/// Tables take at least this many bytes, however little memory there is.
const LEAST_ROOM: usize = 64 << 20;

/// What the words of a text would have by chance, in fixed point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chances {
    /// By source word: the sum of its weights.
    pub src: Vec<u64>,
    /// By target word.
    pub tgt: Vec<u64>,
    /// By source word: the cells of sentence pairs it stands in.
    cells: Vec<u64>,
}

impl Chances {
    /// Those with these sums, of which no more is known.
    pub fn from_sums(src: Vec<u64>, tgt: Vec<u64>) -> Self {
        Chances { src, tgt, cells: Vec::new() }
    }

    /// Those of a text of so many source and target words.
    pub fn of(text: &Shard, (src_len, tgt_len): (usize, usize), job: &Job) -> Result<Self> {
        let mut chances =
            Chances { src: vec![0; src_len], tgt: vec![0; tgt_len], cells: vec![0; src_len] };
        visit(text, job, |words| {
            let share = share(words);
            for &src in &words.src {
                chances.src[src as usize] += share * words.tgt.len() as u64;
                chances.cells[src as usize] += words.tgt.len() as u64;
            }
            for &tgt in &words.tgt {
                chances.tgt[tgt as usize] += share * words.src.len() as u64;
            }
        })?;
        Ok(chances)
    }
}

/// Both directions choose among the other side's words and NULL; agreement is their geometric mean.
fn share(words: &Words) -> u64 {
    to_fixed(1.0 / ((words.src.len() + 1) as f32 * (words.tgt.len() + 1) as f32).sqrt())
}

fn visit(text: &Shard, job: &Job, mut visit: impl FnMut(&Words)) -> Result<()> {
    let (mut words, mut buffer) = (Words::default(), Vec::new());
    for number in 0..text.blocks() {
        job.check()?;
        let mut block = text.block(number, &mut buffer)?;
        while block.next(&mut words)? {
            visit(&words);
        }
    }
    Ok(())
}

/// Target words of a source word, ascending, and their weights in fixed point.
pub type CountRow = Vec<(u32, u64)>;

/// Hands the row of every source word to `take`, in the order of their numbers.
pub fn cooccurrences(
    text: &Shard,
    chances: &Chances,
    memory: usize,
    job: &Job,
    mut take: impl FnMut(&CountRow) -> Result<()> + Send,
) -> Result<()> {
    // One table more than threads: while its rows are handed over, others are filled.
    let tables = job.threads() + usize::from(job.threads() > 1);
    let room = (memory / tables).min(LEAST_ROOM.max(4 * text.bytes()));
    let ranges = ranges(chances, room / SLOT, job.threads());
    let count = |(): &mut (), number: usize| {
        let mut table = Table::new(chances, ranges[number].clone());
        visit(text, job, |words| table.add(words))?;
        table.sort_rows();
        Ok(table)
    };
    let mut row = CountRow::new();
    in_order_within(
        tables,
        ranges.len(),
        job,
        || (),
        count,
        |table: Table| {
            table.words.clone().try_for_each(|src| {
                table.read_row(src, &mut row);
                take(&row)
            })
        },
    )?;
    Ok(())
}

/// Most slots that a row may need: a third more than it has pairs, and one that stays free.
fn slots(chances: &Chances, src: usize) -> usize {
    let pairs = to_usize(chances.cells[src]).min(chances.tgt.len());
    pairs + pairs / 3 + 1
}

/// Runs of source words whose tables have up to `room` slots, and about as many each, so that all
/// threads have the same to do; a word that needs more is alone.
fn ranges(chances: &Chances, room: usize, threads: usize) -> Vec<Range<usize>> {
    let all: usize = (0..chances.src.len()).map(|src| slots(chances, src)).sum();
    let tables = all.div_ceil(room.max(1)).next_multiple_of(threads).max(1);
    let room = room.min(all / tables + all / tables / 32);
    let mut ranges = Vec::new();
    let (mut start, mut taken) = (0, 0);
    for src in 0..chances.src.len() {
        let wanted = slots(chances, src);
        if src > start && taken + wanted > room {
            ranges.push(start..src);
            (start, taken) = (src, 0);
        }
        taken += wanted;
    }
    if start < chances.src.len() {
        ranges.push(start..chances.src.len());
    }
    ranges
}

/// Sums for a range of source words; a row is a small table of target words.
struct Table {
    words: Range<usize>,
    starts: Vec<usize>,
    tgt: Vec<u32>,
    sums: Vec<u64>,
}

impl Table {
    fn new(chances: &Chances, words: Range<usize>) -> Self {
        let mut starts = vec![0];
        let mut end = 0;
        for src in words.clone() {
            end += slots(chances, src);
            starts.push(end);
        }
        Table { words, starts, tgt: vec![UNKNOWN; end], sums: vec![0; end] }
    }

    fn add(&mut self, words: &Words) {
        let share = share(words);
        for &src in &words.src {
            let src = src as usize;
            if !self.words.contains(&src) {
                continue;
            }
            let row = self.row(src);
            let (tgt, sums) = (&mut self.tgt[row.clone()], &mut self.sums[row]);
            for &word in &words.tgt {
                let slot = seek(tgt, word);
                tgt[slot] = word;
                sums[slot] += share;
            }
        }
    }

    fn row(&self, src: usize) -> Range<usize> {
        let number = src - self.words.start;
        self.starts[number]..self.starts[number + 1]
    }

    /// Puts what each row has in order at its beginning; by the thread that counted, as the rows are
    /// handed over by one thread alone.
    fn sort_rows(&mut self) {
        let mut pairs = CountRow::new();
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

    fn read_row(&self, src: usize, row: &mut CountRow) {
        let slots = self.row(src);
        let seen = self.tgt[slots.clone()].iter().zip(&self.sums[slots]);
        row.clear();
        row.extend(seen.take_while(|&(&tgt, _)| tgt != UNKNOWN).map(|(&tgt, &sum)| (tgt, sum)));
    }
}

/// The slot of a target word in a row, or the free one where it belongs.
fn seek(row: &[u32], word: u32) -> usize {
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
            room in 0usize..300,
            threads in 1usize..4,
        ) {
            let mut text = Shard::new(1 << 20, &TempFolder::new(None));
            let mut expected = BTreeMap::new();
            for (src, tgt) in pairs {
                let words = Words { src, tgt };
                for &src in &words.src {
                    for &tgt in &words.tgt {
                        *expected.entry((src, tgt)).or_insert(0) += share(&words);
                    }
                }
                text.push(&words).unwrap();
            }
            let (text, job) = (text.finish().unwrap(), Job::new(threads));
            let chances = Chances::of(&text, (12, 9), &job).unwrap();
            let (mut rows, mut src) = (BTreeMap::new(), 0);
            cooccurrences(&text, &chances, room, &job, |row| {
                rows.extend(row.iter().map(|&(tgt, sum)| ((src, tgt), sum)));
                src += 1;
                Ok(())
            }).unwrap();
            prop_assert_eq!(src, 12);
            let of = |word: u32| expected.iter().filter(move |((s, _), _)| *s == word);
            for word in 0..12 {
                let sum: u64 = of(word).map(|(_, sum)| sum).sum();
                prop_assert_eq!(chances.src[word as usize], sum);
            }
            prop_assert_eq!(rows, expected);
        }
    }
}
