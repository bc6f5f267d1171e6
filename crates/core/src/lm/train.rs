//! Estimates a model from text: the passes in their order.
//!
//! In: a `Corpus`, or `Parts` of one that were counted before, and options. Out: an `Estimate`,
//! which is `Grams` and can be written as ARPA or as an image, with a `Summary` of what was counted.
//! Not: writing; the caller chooses the form.

use super::MAX_ORDER;
use super::count::{
    ByContext, Corpus, CountOptions, Size, Tally, Windows, adjust, count_windows, frequencies,
    sort_windows, taken,
};
use super::discount::Discount;
use super::estimate::{Setting, discount_order, interpolate, unigrams};
use super::grams::{Gram, GramIter, Grams};
use super::key::bits_for;
use super::lists::GramLists;
use super::parts::{Part, Parts, join_windows};
use super::share::Shares;
use super::smooth::smooth;
use super::trie::{Branch, Trie};
use crate::Job;
use crate::corpus::{Vocab, WordId};
use crate::error::{Error, Place, Result};
use crate::narrow::to_u32;
use crate::parallel;
use crate::storage::{Spool, TempFolder};
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Bytes an n-gram while a tree of them is scored, and of the windows that it is made from.
const TREE_BYTES: u64 = 36;

/// How a model is estimated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrainOptions {
    /// Length of the longest n-grams.
    pub order: usize,
    /// N-grams that occur no more often than this are dropped: a number per order from 1 up;
    /// the last counts for all further orders.
    pub prune: Vec<u64>,
    /// Bytes that sorting may use.
    pub memory: usize,
}

/// What was counted and how it was discounted.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Sentences of the text.
    pub sentences: u64,
    /// Words of the text, without sentence marks.
    pub words: u64,
    /// N-grams of the model, by order.
    pub counts: Vec<u64>,
    /// N-grams that were dropped, by order.
    pub pruned: Vec<u64>,
    /// Discounts by order.
    pub discounts: Vec<Discount>,
    /// What a careful user wants to know, one sentence each.
    pub notes: Vec<String>,
}

/// A model estimated from text.
pub struct Estimate {
    lists: GramLists,
    summary: Summary,
}

/// Estimates an interpolated modified Kneser-Ney model.
pub fn estimate(corpus: Corpus, options: &TrainOptions, job: &Job) -> Result<Estimate> {
    let (size, folder) = (corpus.size(), corpus.folder().clone());
    let (vocab, ids) = corpus.into_parts()?;
    let frequencies = frequencies(&ids, vocab.len())?;
    Text { size, vocab, frequencies, source: Source::Ids(ids), folder }.estimate(options, job)
}

/// Estimates the model of a text whose parts were counted by themselves: that of `estimate`, byte
/// for byte.
pub fn estimate_parts(parts: Parts, options: &TrainOptions, job: &Job) -> Result<Estimate> {
    let (size, vocab, frequencies, files, folder) = parts.into_text();
    Text { size, vocab, frequencies, source: Source::Parts(files), folder }.estimate(options, job)
}

/// A text of which all is known but its n-grams.
struct Text {
    size: Size,
    vocab: Vocab,
    /// How often each word occurs.
    frequencies: Vec<u64>,
    source: Source,
    folder: Arc<TempFolder>,
}

/// Where windows of words come from.
enum Source {
    Ids(Spool<WordId>),
    Parts(Vec<Part>),
}

impl Text {
    fn estimate(self, options: &TrainOptions, job: &Job) -> Result<Estimate> {
        let prune = checked(options)?;
        if self.size.sentences == 0 {
            return Err(no_text());
        }
        let order = self.size.order(options.order);
        let bits = bits_for(self.vocab.len());
        match (to_u32(order) * bits).div_ceil(64) {
            1 => run::<1>(self, options, (order, bits), &prune, job),
            2 => run::<2>(self, options, (order, bits), &prune, job),
            3 => run::<3>(self, options, (order, bits), &prune, job),
            _ => run::<4>(self, options, (order, bits), &prune, job),
        }
    }
}

fn run<const W: usize>(
    text: Text,
    options: &TrainOptions,
    (order, bits): (usize, u32),
    prune: &[u64],
    job: &Job,
) -> Result<Estimate> {
    let Text { size: Size { sentences, words, .. }, vocab, frequencies, source, folder } = text;
    let shares = Shares::new(&frequencies, job.threads());
    let count = CountOptions { order, bits, memory: options.memory, prune, shares: &shares };
    // Counts that were read from files may not fit together, and a tree needs every context.
    let is_whole = matches!(source, Source::Ids(_));
    let windows = match source {
        Source::Ids(ids) => count_windows::<W>(&ids, &folder, count, job)?,
        Source::Parts(files) => join_windows::<W>(&files, &folder, count, job)?,
    };
    let windows = sort_windows(windows, count, job)?;
    let fits = is_whole && fits(windows.ngrams, count, sentences + words);
    let Made { mut summary, lists } = if fits {
        let branch = || Branch::new(order, bits);
        let (tally, branches) = adjust(windows, branch, vocab.len(), count, job)?;
        let discounts: Vec<_> = tally.of_counts.iter().map(Discount::estimate).collect();
        let mut trie = Trie::of(branches, vocab.len());
        let word_scores = smooth(&mut trie, &discounts, job)?;
        Made {
            summary: summary(tally, discounts),
            lists: GramLists::of_trie(vocab, word_scores, trie),
        }
    } else {
        by_sorting(windows, vocab, &folder, count, job)?
    };
    let (kept, discounts) = (&mut summary.counts, &mut summary.discounts);
    kept[0] = lists.count(1);
    summary.notes = notes(options, count.order, kept, discounts);
    let order = lists.order();
    kept.truncate(order);
    summary.pruned.truncate(order);
    discounts.truncate(order);
    Ok(Estimate { lists, summary: Summary { sentences, words, ..summary } })
}

/// A model, and what was counted.
struct Made {
    summary: Summary,
    lists: GramLists,
}

fn summary(tally: Tally, discounts: Vec<Discount>) -> Summary {
    let Tally { kept: counts, pruned, .. } = tally;
    Summary { sentences: 0, words: 0, counts, pruned, discounts, notes: Vec::new() }
}

/// Whether all n-grams fit into memory as a tree. What is pruned has no place there.
fn fits(ngrams: Option<u64>, options: CountOptions<'_>, tokens: u64) -> bool {
    let room = options.memory as u64;
    ngrams.is_some_and(|ngrams| ngrams.saturating_mul(TREE_BYTES) <= room)
        && options.prune.iter().all(|&least| least == 0)
        && tokens < u64::from(u32::MAX)
}

/// Estimates a model of any size.
fn by_sorting<const W: usize>(
    windows: Windows<W>,
    vocab: Vocab,
    folder: &Arc<TempFolder>,
    count: CountOptions<'_>,
    job: &Job,
) -> Result<Made> {
    let sink = || ByContext::new(folder, count);
    let (tally, sinks) = adjust(windows, sink, vocab.len(), count, job)?;
    let mut by_context: Vec<Vec<_>> = (2..=count.order).map(|_| Vec::new()).collect();
    for sink in sinks {
        by_context.iter_mut().zip(sink.orders).for_each(|(all, sorter)| all.push(sorter));
    }
    let discounts: Vec<_> = tally.of_counts.iter().map(Discount::estimate).collect();
    let share = count.memory / 2 / count.order;
    let setting = Setting { bits: count.bits, share, folder, shares: count.shares };
    let by_context: Vec<_> =
        by_context.into_iter().map(|counts| Mutex::new(Some(counts))).collect();
    // The longest n-grams are the most; whoever begins with them has the least to do later.
    let work = |(): &mut (), item: usize| {
        let index = by_context.len() - 1 - item;
        let counts = taken(&by_context[index]).unwrap_or_default();
        discount_order(index + 2, counts, &discounts[index + 1], setting, job)
    };
    let (mut discounted, _) = parallel::map(by_context.len(), 1, job, || (), work)?;
    discounted.reverse();
    let word_probs = unigrams(&tally.unigrams, &discounts[0]);
    let (word_scores, mut higher) = interpolate(&word_probs, discounted, setting, job)?;
    let order = tally.kept.iter().rposition(|&count| count > 0).map_or(1, |index| index + 1);
    higher.truncate(order - 1);
    let lists = GramLists::new(vocab, word_scores, higher, count.bits);
    Ok(Made { summary: summary(tally, discounts), lists })
}

/// The pruning thresholds of all orders, or what is wrong with the options.
pub(super) fn checked(options: &TrainOptions) -> Result<Vec<u64>> {
    if !(1..=MAX_ORDER).contains(&options.order) {
        return Err(Error::Argument {
            name: "order".into(),
            found: options.order.to_string(),
            expected: format!("a number from 1 to {MAX_ORDER}"),
        });
    }
    let mut prune = options.prune.clone();
    let is_fine = prune.first().is_none_or(|&first| first == 0)
        && prune.len() <= options.order
        && prune.is_sorted();
    if !is_fine {
        let found: Vec<_> = prune.iter().map(u64::to_string).collect();
        return Err(Error::Argument {
            name: "prune".into(),
            found: found.join(" "),
            expected: "at most one number per order, the first 0, none below the one before".into(),
        });
    }
    prune.resize(options.order, prune.last().copied().unwrap_or(0));
    Ok(prune)
}

fn no_text() -> Error {
    Error::Format {
        place: Place { file: "text".into(), line: None },
        found: "no sentence".into(),
        expected: "at least one line".into(),
        advice: "is this the right file?".into(),
    }
}

fn notes(
    options: &TrainOptions,
    order: usize,
    kept: &[u64],
    discounts: &[Discount],
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

impl Estimate {
    /// What was counted.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }
}

impl Grams for Estimate {
    fn order(&self) -> usize {
        self.lists.order()
    }

    fn count(&self, order: usize) -> u64 {
        self.lists.count(order)
    }

    fn word(&self, id: WordId) -> &[u8] {
        self.lists.word(id)
    }

    fn grams(&self, order: usize) -> Result<GramIter<'_>> {
        self.lists.grams(order)
    }

    fn block(&self) -> u64 {
        self.lists.block()
    }

    fn trie(&self) -> Option<&Trie> {
        self.lists.trie()
    }

    fn visit(
        &self,
        order: usize,
        range: Range<u64>,
        each: &mut dyn FnMut(&Gram) -> Result<()>,
    ) -> Result<()> {
        self.lists.visit(order, range, each)
    }
}
