//! Counts n-grams and adjusts the counts for Kneser-Ney smoothing.
//!
//! In: a corpus of word ids. Out: the adjusted count of each n-gram (definitions l.1, step 1): its
//! frequency for the longest n-grams and those that start with `<s>`, otherwise the number of
//! distinct words before it.
//! How: sort all windows of `order` words by suffix. N-grams with a common suffix are then
//! adjacent, and one pass counts the windows and the distinct preceding words of every n-gram.
//! Cost: one sort of the corpus in bounded memory; threads partition it by the newest word.

use super::ngram_key::NgramKey;
use super::vocab_partition::VocabPartition;
use super::{BOS, EOS, MAX_ORDER};
use crate::Job;
use crate::corpus::WordId;
use crate::error::Result;
use crate::narrow::to_usize;
use crate::parallel;
use crate::storage::{Sorted, Sorter, Spool, TempFolder};
use std::sync::{Arc, Mutex};

/// Number of windows or n-grams between two checks for cancellation.
const CHECK_INTERVAL: u64 = 1 << 16;

/// Options of counting.
#[derive(Clone, Copy)]
pub struct NgramCountOptions<'a> {
    /// Length of the longest n-grams.
    pub order: usize,
    /// Bits per word in a key.
    pub bits: u32,
    /// Memory limit in bytes.
    pub memory: usize,
    /// Pruning threshold by order: n-grams with at most this frequency are dropped.
    pub prune: &'a [u64],
    /// Assignment of n-grams to threads.
    pub partition: &'a VocabPartition,
}

/// A consumer of the adjusted counts of one vocabulary range: n-grams in suffix order, each after
/// the longer n-grams that end with it.
pub trait CountSink<const W: usize>: Send {
    /// Add the n-gram of the newest `length` words of the key.
    fn add(&mut self, key: &NgramKey<W>, length: usize, count: u64, is_pruned: bool) -> Result<()>;
}

/// Sorters of n-grams by context (the context in suffix order, then the newest word), with counts
/// as `pack_count` encodes them. One sorter per order from 2 up.
pub struct ContextSorters<const W: usize> {
    /// Sorters by order, from order 2 up.
    pub orders: Vec<Sorter<NgramKey<W>, u64>>,
    bits: u32,
}

impl<const W: usize> ContextSorters<W> {
    /// Create the sorters of one vocabulary range.
    pub fn new(folder: &Arc<TempFolder>, options: NgramCountOptions<'_>) -> Self {
        let NgramCountOptions { order, bits, memory, partition, .. } = options;
        let sorter_memory = memory / 2 / order / partition.len();
        ContextSorters {
            orders: (2..=order).map(|_| Sorter::new(folder, sorter_memory, None)).collect(),
            bits,
        }
    }
}

impl<const W: usize> CountSink<W> for ContextSorters<W> {
    fn add(&mut self, key: &NgramKey<W>, length: usize, count: u64, is_pruned: bool) -> Result<()> {
        if length == 1 {
            return Ok(());
        }
        let mut by_context = key.context(self.bits).first(length - 1, self.bits);
        by_context.set(length - 1, key.word(0, self.bits), self.bits);
        self.orders[length - 2].push(by_context, pack_count(count, is_pruned))
    }
}

/// Statistics of the n-grams of all orders.
pub struct NgramTotals {
    /// Adjusted count of each word.
    pub unigrams: Vec<u64>,
    /// By order, the number of n-grams with the adjusted counts 1, 2, 3 and 4.
    pub counts_of_counts: Vec<[u64; 4]>,
    /// By order, the number of n-grams kept.
    pub kept: Vec<u64>,
    /// By order, the number of n-grams pruned.
    pub pruned: Vec<u64>,
}

impl NgramTotals {
    fn new(vocab_size: usize, order: usize) -> Self {
        NgramTotals {
            unigrams: vec![0; vocab_size],
            counts_of_counts: vec![[0; 4]; order],
            kept: vec![0; order],
            pruned: vec![0; order],
        }
    }

    fn add(&mut self, more: &NgramTotals) {
        let add = |sums: &mut [u64], more: &[u64]| {
            sums.iter_mut().zip(more).for_each(|(sum, count)| *sum += count);
        };
        add(&mut self.unigrams, &more.unigrams);
        add(&mut self.kept, &more.kept);
        add(&mut self.pruned, &more.pruned);
        add(self.counts_of_counts.as_flattened_mut(), more.counts_of_counts.as_flattened());
    }
}

/// Encode a count and the pruning flag in one integer.
pub fn pack_count(count: u64, is_pruned: bool) -> u64 {
    count << 1 | u64::from(is_pruned)
}

/// Decode the result of `pack_count`.
pub fn unpack_count(packed: u64) -> (u64, bool) {
    (packed >> 1, packed & 1 == 1)
}

/// Return the frequency of each word id.
pub fn frequencies(ids: &Spool<WordId>, vocab_size: usize) -> Result<Vec<u64>> {
    let mut frequencies = vec![0; vocab_size];
    for id in ids.iter()? {
        frequencies[id? as usize] += 1;
    }
    Ok(frequencies)
}

/// Push all windows of the text into one sorter per vocabulary range, which adds up equal windows.
/// The thread of each range scans the whole text.
pub fn sort_text_windows<const W: usize>(
    ids: &Spool<WordId>,
    folder: &Arc<TempFolder>,
    options: NgramCountOptions<'_>,
    job: &Job,
) -> Result<Vec<Sorter<NgramKey<W>, u64>>> {
    let work = |(): &mut (), range: usize| push_range_windows(ids, range, folder, options, job);
    Ok(parallel::map(options.partition.len(), 1, job, || (), work)?.0)
}

/// Push the windows whose newest word is in one range.
fn push_range_windows<const W: usize>(
    ids: &Spool<WordId>,
    range: usize,
    folder: &Arc<TempFolder>,
    options: NgramCountOptions<'_>,
    job: &Job,
) -> Result<Sorter<NgramKey<W>, u64>> {
    let NgramCountOptions { order, bits, memory, partition, .. } = options;
    let start = NgramKey::EMPTY.push(BOS, order, bits);
    let mut sorter = Sorter::new(folder, memory / 2 / partition.len(), Some(|a, b| a + b));
    let mut window: NgramKey<W> = start;
    for (number, id) in ids.iter()?.enumerate() {
        let id = id?;
        window = window.push(id, order, bits);
        if partition.range_of(id) == range {
            sorter.push(window, 1)?;
        }
        if id == EOS {
            window = start;
        }
        if (number as u64).is_multiple_of(CHECK_INTERVAL) {
            job.check()?;
        }
    }
    Ok(sorter)
}

/// Running counts of the suffixes of the current window, by length.
struct OpenNgrams<S> {
    raw: [u64; MAX_ORDER + 1],
    before: [u64; MAX_ORDER + 1],
    totals: NgramTotals,
    sink: S,
}

/// Windows of the text in suffix order.
pub struct SortedWindows<const W: usize> {
    /// Sorted windows by range of the newest word.
    pub ranges: Vec<Sorted<NgramKey<W>, u64>>,
    /// Total number of n-grams of all orders; `None` if windows are on disk.
    pub ngrams: Option<u64>,
}

/// Sort the windows, one range per thread.
pub fn sort_windows<const W: usize>(
    windows: Vec<Sorter<NgramKey<W>, u64>>,
    options: NgramCountOptions<'_>,
    job: &Job,
) -> Result<SortedWindows<W>> {
    let windows: Vec<_> = windows.into_iter().map(|sorter| Mutex::new(Some(sorter))).collect();
    let work = |(): &mut (), range: usize| {
        let sorted = take_once(&windows[range]).map(Sorter::finish).transpose()?;
        Ok(sorted.map(|sorted| (ngrams_in(&sorted, options), sorted)))
    };
    let (sorted, _) = parallel::map(windows.len(), 1, job, || (), work)?;
    let (counts, ranges): (Vec<_>, _) = sorted.into_iter().flatten().unzip();
    Ok(SortedWindows { ranges, ngrams: counts.into_iter().sum() })
}

fn ngrams_in<const W: usize>(
    windows: &Sorted<NgramKey<W>, u64>,
    NgramCountOptions { order, bits, .. }: NgramCountOptions<'_>,
) -> Option<u64> {
    let Sorted::Memory(records) = windows else { return None };
    let records = records.as_slice();
    let pairs = records.iter().zip(records.iter().skip(1));
    let shared = pairs.map(|((key, _), (next, _))| key.shared(next, bits).min(order) as u64);
    Some((records.len() * order) as u64 - shared.sum::<u64>())
}

/// Scan the sorted windows and adjust the counts of all n-grams, one range per thread. Return the
/// statistics and the sink of each range.
pub fn adjust_counts<const W: usize, S: CountSink<W>>(
    windows: SortedWindows<W>,
    make: impl Fn() -> S + Sync,
    vocab_size: usize,
    options: NgramCountOptions<'_>,
    job: &Job,
) -> Result<(NgramTotals, Vec<S>)> {
    let windows: Vec<_> =
        windows.ranges.into_iter().map(|sorted| Mutex::new(Some(sorted))).collect();
    let work = |(): &mut (), range: usize| {
        let adjust_range = |windows| adjust_range_counts(windows, make(), vocab_size, options, job);
        take_once(&windows[range]).map(adjust_range).transpose()
    };
    let (ranges, _) = parallel::map(windows.len(), 1, job, || (), work)?;
    let mut all = NgramTotals::new(vocab_size, options.order);
    let mut sinks = Vec::new();
    for (totals, sink) in ranges.into_iter().flatten() {
        all.add(&totals);
        sinks.push(sink);
    }
    Ok((all, sinks))
}

/// Take the value out of a slot that threads share; later calls return `None`.
pub fn take_once<T>(place: &Mutex<Option<T>>) -> Option<T> {
    place.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take()
}

/// Adjust the counts of one range.
fn adjust_range_counts<const W: usize, S: CountSink<W>>(
    windows: Sorted<NgramKey<W>, u64>,
    sink: S,
    vocab_size: usize,
    options: NgramCountOptions<'_>,
    job: &Job,
) -> Result<(NgramTotals, S)> {
    let NgramCountOptions { order, bits, .. } = options;
    let mut open = OpenNgrams {
        raw: [0; MAX_ORDER + 1],
        before: [0; MAX_ORDER + 1],
        totals: NgramTotals::new(vocab_size, order),
        sink,
    };
    let mut last: Option<(NgramKey<W>, usize)> = None;
    for (number, window) in windows.enumerate() {
        let (window, count) = window?;
        let shared = match last {
            None => 0,
            Some((key, length)) => {
                let shared = key.shared(&window, bits).min(length);
                open.close(&key, shared + 1..=length, options)?;
                shared
            }
        };
        let length = window_length(&window, shared, order, bits);
        open.raw[length] = count;
        open.before[length] = 0;
        last = Some((window, length));
        if (number as u64).is_multiple_of(CHECK_INTERVAL) {
            job.check()?;
        }
    }
    if let Some((key, length)) = last {
        open.close(&key, 1..=length, options)?;
    }
    Ok((open.totals, open.sink))
}

/// Return the length of a window: up to `<s>`, which is not among the newest `shared` words.
fn window_length<const W: usize>(
    window: &NgramKey<W>,
    shared: usize,
    order: usize,
    bits: u32,
) -> usize {
    (shared..order).find(|&index| window.word(index, bits) == BOS).map_or(order, |index| index + 1)
}

impl<S> OpenNgrams<S> {
    /// Pass the n-grams of `lengths` that end `key` to the sink, the longest first; no later window
    /// ends with them.
    #[inline]
    fn close<const W: usize>(
        &mut self,
        key: &NgramKey<W>,
        lengths: std::ops::RangeInclusive<usize>,
        NgramCountOptions { order, bits, prune, .. }: NgramCountOptions<'_>,
    ) -> Result<()>
    where
        S: CountSink<W>,
    {
        let OpenNgrams { raw, before, totals, sink } = self;
        for length in lengths.rev() {
            let raw_count = std::mem::take(&mut raw[length]);
            let words_before = std::mem::take(&mut before[length]);
            let is_raw = length == order || key.word(length - 1, bits) == BOS;
            let count = if is_raw { raw_count } else { words_before };
            raw[length - 1] += raw_count;
            before[length - 1] += 1;
            if let Some(counted) = totals.counts_of_counts[length - 1].get_mut(to_usize(count) - 1)
            {
                *counted += 1;
            }
            let is_pruned = raw_count <= prune[length - 1];
            let total = if is_pruned { &mut totals.pruned } else { &mut totals.kept };
            total[length - 1] += 1;
            if length == 1 {
                totals.unigrams[key.word(0, bits) as usize] = count;
            }
            sink.add(key, length, count, is_pruned)?;
        }
        Ok(())
    }
}
