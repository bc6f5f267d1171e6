//! Estimation of a model from text: runs the passes in order.
//!
//! In: an `LmCorpus`, or the `CountShards` of one, and options. Out: an `EstimatedModel`, which is
//! an `NgramSource` for the ARPA and the binary writer, with an `LmTrainSummary`.
//! Not: writing; the caller chooses the format.

use super::corpus::{CorpusSize, LmCorpus};
use super::count::{
    ContextSorters, NgramCountOptions, NgramTotals, SortedWindows, adjust_counts, frequencies,
    sort_text_windows, sort_windows, take_once,
};
use super::count_shards::{CountShard, CountShards, sort_shard_windows};
use super::discount::CountDiscount;
use super::ngram::{NgramIter, ScoredNgram};
use super::ngram_key::bits_for;
use super::ngram_lists::NgramLists;
use super::ngram_source::NgramSource;
use super::options::{LmTrainOptions, validate_options};
use super::sorted_estimation::{SortOptions, discount_ngrams, interpolate, unigram_probs};
use super::suffix_trie::{SuffixTrie, TrieBranch};
use super::trie_estimation::smooth_trie;
use super::vocab_partition::VocabPartition;
use crate::Job;
use crate::corpus::{Vocab, WordId};
use crate::error::{Error, Place, Result};
use crate::narrow::to_u32;
use crate::parallel;
use crate::storage::{Spool, TempFolder};
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Peak bytes per n-gram of the estimation in a trie, with the windows it is built from.
const TRIE_BYTES: u64 = 36;

/// Statistics of estimating a model.
#[derive(Debug, Clone, PartialEq)]
pub struct LmTrainSummary {
    /// Number of sentences of the text.
    pub sentences: u64,
    /// Number of words of the text, without sentence marks.
    pub words: u64,
    /// Number of n-grams of the model, by order.
    pub counts: Vec<u64>,
    /// Number of pruned n-grams, by order.
    pub pruned: Vec<u64>,
    /// Discounts by order.
    pub discounts: Vec<CountDiscount>,
    /// Remarks for the user, one sentence each.
    pub notes: Vec<String>,
}

/// A model estimated from text, with its statistics.
pub struct EstimatedModel {
    lists: NgramLists,
    summary: LmTrainSummary,
}

/// Estimate an interpolated modified Kneser-Ney model.
pub fn estimate(corpus: LmCorpus, options: &LmTrainOptions, job: &Job) -> Result<EstimatedModel> {
    let (size, folder) = (corpus.size(), corpus.folder().clone());
    let (vocab, ids) = corpus.into_parts()?;
    let frequencies = frequencies(&ids, vocab.len())?;
    TrainingText { size, vocab, frequencies, source: WindowSource::Ids(ids), folder }
        .estimate(options, job)
}

/// Estimate a model from the counts of all shards of a text. The result equals that of `estimate`
/// on the whole text, byte for byte.
pub fn estimate_from_shards(
    parts: CountShards,
    options: &LmTrainOptions,
    job: &Job,
) -> Result<EstimatedModel> {
    let (size, vocab, frequencies, files, folder) = parts.into_text();
    TrainingText { size, vocab, frequencies, source: WindowSource::CountShards(files), folder }
        .estimate(options, job)
}

/// A text before its windows are sorted.
struct TrainingText {
    size: CorpusSize,
    vocab: Vocab,
    /// Frequency of each word id.
    frequencies: Vec<u64>,
    source: WindowSource,
    folder: Arc<TempFolder>,
}

/// Origin of the windows of words.
enum WindowSource {
    Ids(Spool<WordId>),
    CountShards(Vec<CountShard>),
}

impl TrainingText {
    fn estimate(self, options: &LmTrainOptions, job: &Job) -> Result<EstimatedModel> {
        let prune = validate_options(options)?;
        if self.size.sentences == 0 {
            return Err(empty_text_error());
        }
        let order = self.size.order(options.order);
        let bits = bits_for(self.vocab.len());
        match (to_u32(order) * bits).div_ceil(64) {
            1 => estimate_with_width::<1>(self, options, (order, bits), &prune, job),
            2 => estimate_with_width::<2>(self, options, (order, bits), &prune, job),
            3 => estimate_with_width::<3>(self, options, (order, bits), &prune, job),
            _ => estimate_with_width::<4>(self, options, (order, bits), &prune, job),
        }
    }
}

fn estimate_with_width<const W: usize>(
    text: TrainingText,
    options: &LmTrainOptions,
    (order, bits): (usize, u32),
    prune: &[u64],
    job: &Job,
) -> Result<EstimatedModel> {
    let TrainingText {
        size: CorpusSize { sentences, words, .. },
        vocab,
        frequencies,
        source,
        folder,
    } = text;
    let partition = VocabPartition::new(&frequencies, job.threads());
    let count =
        NgramCountOptions { order, bits, memory: options.memory, prune, partition: &partition };
    // Counts from files may be inconsistent, but the trie needs every context.
    let is_whole = matches!(source, WindowSource::Ids(_));
    let windows = match source {
        WindowSource::Ids(ids) => sort_text_windows::<W>(&ids, &folder, count, job)?,
        WindowSource::CountShards(files) => sort_shard_windows::<W>(&files, &folder, count, job)?,
    };
    let windows = sort_windows(windows, count, job)?;
    let fits = is_whole && fits_in_trie(windows.ngrams, count, sentences + words);
    let EstimatedModel { mut summary, lists } = if fits {
        let branch = || TrieBranch::new(order, bits);
        let (totals, branches) = adjust_counts(windows, branch, vocab.len(), count, job)?;
        let discounts: Vec<_> =
            totals.counts_of_counts.iter().map(CountDiscount::estimate).collect();
        let mut trie = SuffixTrie::join(branches, vocab.len());
        let unigram_scores = smooth_trie(&mut trie, &discounts, job)?;
        EstimatedModel {
            summary: summarize(totals, discounts),
            lists: NgramLists::from_trie(vocab, unigram_scores, trie),
        }
    } else {
        estimate_by_sorting(windows, vocab, &folder, count, job)?
    };
    let (kept, discounts) = (&mut summary.counts, &mut summary.discounts);
    kept[0] = lists.count(1);
    summary.notes = collect_notes(options, count.order, kept, discounts);
    let order = lists.order();
    kept.truncate(order);
    summary.pruned.truncate(order);
    discounts.truncate(order);
    Ok(EstimatedModel { lists, summary: LmTrainSummary { sentences, words, ..summary } })
}

fn summarize(totals: NgramTotals, discounts: Vec<CountDiscount>) -> LmTrainSummary {
    let NgramTotals { kept: counts, pruned, .. } = totals;
    LmTrainSummary { sentences: 0, words: 0, counts, pruned, discounts, notes: Vec::new() }
}

/// Return whether the trie of all n-grams fits into memory. The trie does not support pruning.
fn fits_in_trie(ngrams: Option<u64>, options: NgramCountOptions<'_>, tokens: u64) -> bool {
    let room = options.memory as u64;
    ngrams.is_some_and(|ngrams| ngrams.saturating_mul(TRIE_BYTES) <= room)
        && options.prune.iter().all(|&least| least == 0)
        && tokens < u64::from(u32::MAX)
}

/// Estimate a model of any size by sorting on disk.
fn estimate_by_sorting<const W: usize>(
    windows: SortedWindows<W>,
    vocab: Vocab,
    folder: &Arc<TempFolder>,
    count: NgramCountOptions<'_>,
    job: &Job,
) -> Result<EstimatedModel> {
    let sink = || ContextSorters::new(folder, count);
    let (totals, sinks) = adjust_counts(windows, sink, vocab.len(), count, job)?;
    let mut by_context: Vec<Vec<_>> = (2..=count.order).map(|_| Vec::new()).collect();
    for sink in sinks {
        by_context.iter_mut().zip(sink.orders).for_each(|(all, sorter)| all.push(sorter));
    }
    let discounts: Vec<_> = totals.counts_of_counts.iter().map(CountDiscount::estimate).collect();
    let memory = count.memory / 2 / count.order;
    let sort_options = SortOptions { bits: count.bits, memory, folder, partition: count.partition };
    let by_context: Vec<_> =
        by_context.into_iter().map(|counts| Mutex::new(Some(counts))).collect();
    // Start with the highest order, which has the most n-grams, to balance the threads.
    let work = |(): &mut (), item: usize| {
        let index = by_context.len() - 1 - item;
        let counts = take_once(&by_context[index]).unwrap_or_default();
        discount_ngrams(index + 2, counts, &discounts[index + 1], sort_options, job)
    };
    let (mut discounted, _) = parallel::map(by_context.len(), 1, job, || (), work)?;
    discounted.reverse();
    let word_probs = unigram_probs(&totals.unigrams, &discounts[0]);
    let (unigram_scores, mut higher) = interpolate(&word_probs, discounted, sort_options, job)?;
    let order = totals.kept.iter().rposition(|&count| count > 0).map_or(1, |index| index + 1);
    higher.truncate(order - 1);
    let lists = NgramLists::new(vocab, unigram_scores, higher, count.bits);
    Ok(EstimatedModel { summary: summarize(totals, discounts), lists })
}

fn empty_text_error() -> Error {
    Error::Format {
        place: Place { file: "text".into(), line: None },
        found: "no sentence".into(),
        expected: "at least one line".into(),
        advice: "is this the right file?".into(),
    }
}

fn collect_notes(
    options: &LmTrainOptions,
    order: usize,
    kept: &[u64],
    discounts: &[CountDiscount],
) -> Vec<String> {
    let mut notes = Vec::new();
    for (index, discount) in discounts.iter().enumerate() {
        if let Some(reason) = &discount.fallback {
            let [one, two, three] = discount.amounts;
            notes.push(format!(
                "order {}: discounts cannot be estimated ({reason}); used {one} {two} {three} \
                 instead, as is usual for small texts and for characters",
                index + 1
            ));
        }
    }
    if order < options.order {
        notes.push(format!(
            "order {order} instead of {}: no sentence is long enough for more",
            options.order
        ));
    }
    if let Some(index) = kept.iter().position(|&count| count == 0) {
        notes.push(format!("order {index} instead of {order}: pruning leaves no longer n-gram"));
    }
    notes
}

impl EstimatedModel {
    /// Return the statistics of the estimation.
    pub fn summary(&self) -> &LmTrainSummary {
        &self.summary
    }
}

impl NgramSource for EstimatedModel {
    fn order(&self) -> usize {
        self.lists.order()
    }

    fn count(&self, order: usize) -> u64 {
        self.lists.count(order)
    }

    fn word(&self, id: WordId) -> &[u8] {
        self.lists.word(id)
    }

    fn ngrams(&self, order: usize) -> Result<NgramIter<'_>> {
        self.lists.ngrams(order)
    }

    fn block(&self) -> u64 {
        self.lists.block()
    }

    fn trie(&self) -> Option<&SuffixTrie> {
        self.lists.trie()
    }

    fn visit(
        &self,
        order: usize,
        range: Range<u64>,
        each: &mut dyn FnMut(&ScoredNgram) -> Result<()>,
    ) -> Result<()> {
        self.lists.visit(order, range, each)
    }
}
