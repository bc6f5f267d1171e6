//! Kneser-Ney estimation by sorting: from adjusted counts to probabilities and backoffs
//! (definitions l.1, steps 3 to 5).
//!
//! In: n-grams sorted by context, discounts. Out: n-grams in suffix order with both scores.
//! How: two passes over each order, as in lmplz. By context: sum the counts and the discounts,
//! which give the backoff of the context. By suffix: interpolate each n-gram with the n-gram
//! without its oldest word; lower orders come first.
//! Cost: one sort per order; sums and products in `f64`. Threads share the first pass by order, the
//! second by the newest word.

use super::BOS;
use super::count::{take_once, unpack_count};
use super::discount::CountDiscount;
use super::ngram::NO_EXTENSION;
use super::ngram_key::NgramKey;
use super::ngram_lists::{ScoredSpool, UnigramScores};
use super::vocab_partition::VocabPartition;
use crate::Job;
use crate::error::Result;
use crate::narrow::to_f32;
use crate::parallel;
use crate::storage::{Joined, Sorter, Spool, TempFolder};
use std::sync::{Arc, Mutex};

/// Number of n-grams between two checks for cancellation.
const CHECK_INTERVAL: u64 = 1 << 16;

/// Options of the sorts and spools of estimation.
#[derive(Clone, Copy)]
pub struct SortOptions<'a> {
    /// Bits per word in a key.
    pub bits: u32,
    /// Memory limit in bytes of each sorter or spool.
    pub memory: usize,
    /// Folder for records beyond the memory limit.
    pub folder: &'a Arc<TempFolder>,
    /// Assignment of n-grams to threads.
    pub partition: &'a VocabPartition,
}

/// The discounted probability of an n-gram and the interpolation weight of the lower order.
type InterpolationTerms = (f64, f64);

/// The n-grams of one vocabulary range after the pass by context.
pub struct DiscountedNgrams<const W: usize> {
    /// N-grams, to be sorted by suffix.
    by_suffix: Sorter<NgramKey<W>, InterpolationTerms>,
    /// Contexts in suffix order, with their backoff weights.
    contexts: Spool<(NgramKey<W>, f64)>,
}

/// Discount the counts of one order, which are sorted by context. Return the result by vocabulary
/// range.
pub fn discount_ngrams<const W: usize>(
    order: usize,
    counts: Vec<Sorter<NgramKey<W>, u64>>,
    discount: &CountDiscount,
    options: SortOptions<'_>,
    job: &Job,
) -> Result<Vec<DiscountedNgrams<W>>> {
    let SortOptions { bits, memory, folder, partition } = options;
    let empty = |_| DiscountedNgrams {
        by_suffix: Sorter::new(folder, memory / partition.len(), None),
        contexts: Spool::new(folder, memory / partition.len()),
    };
    let mut done: Vec<_> = (0..partition.len()).map(empty).collect();
    let mut group: Vec<(u32, u64)> = Vec::new();
    let mut context = None;
    for (number, record) in Joined::of(counts)?.enumerate() {
        let (key, packed) = record?;
        let front = key.first(order - 1, bits);
        if let Some(last) = context.replace(front).filter(|last| *last != front) {
            discount_context(last, &group, discount, options, &mut done)?;
            group.clear();
        }
        group.push((key.word(order - 1, bits), packed));
        if (number as u64).is_multiple_of(CHECK_INTERVAL) {
            job.check()?;
        }
    }
    if let Some(last) = context {
        discount_context(last, &group, discount, options, &mut done)?;
    }
    let finished = |part: DiscountedNgrams<W>| {
        Ok(DiscountedNgrams { contexts: part.contexts.finish()?, ..part })
    };
    done.into_iter().map(finished).collect()
}

/// Discount the counts of the words seen after one context.
fn discount_context<const W: usize>(
    context: NgramKey<W>,
    group: &[(u32, u64)],
    discount: &CountDiscount,
    SortOptions { bits, partition, .. }: SortOptions<'_>,
    done: &mut [DiscountedNgrams<W>],
) -> Result<()> {
    let (mut sum, mut left) = (0, 0.0);
    let mut is_kept = false;
    for &(_, packed) in group {
        let (count, is_pruned) = unpack_count(packed);
        sum += count;
        left += if is_pruned { count as f64 } else { discount.amount(count) };
        is_kept |= !is_pruned;
    }
    if !is_kept {
        // The context is pruned; queries back off to the shorter context.
        return Ok(());
    }
    let gamma = left / sum as f64;
    for &(word, packed) in group {
        let (count, is_pruned) = unpack_count(packed);
        if !is_pruned {
            let direct = (count as f64 - discount.amount(count)) / sum as f64;
            let key = context.extended(word, bits);
            done[partition.range_of(word)].by_suffix.push(key, (direct, gamma))?;
        }
    }
    done[partition.range_of(context.word(0, bits))].contexts.push((context, gamma))
}

/// Return the probability of each word, interpolated with the uniform distribution.
pub fn unigram_probs(counts: &[u64], discount: &CountDiscount) -> Vec<f64> {
    let sum = counts.iter().sum::<u64>() as f64;
    let left: f64 = counts.iter().map(|&count| discount.amount(count)).sum();
    // `<s>` is never predicted, so the uniform distribution excludes it.
    let uniform = left / sum / (counts.len() - 1) as f64;
    let mut probs: Vec<f64> = counts
        .iter()
        .map(|&count| (count as f64 - discount.amount(count)) / sum + uniform)
        .collect();
    probs[BOS as usize] = 1.0;
    probs
}

/// Probabilities of the next lower order, read in suffix order.
enum LowerOrderProbs<'a, const W: usize> {
    Unigrams(&'a [f64]),
    Ngrams(Box<dyn Iterator<Item = Result<(NgramKey<W>, f64)>> + 'a>, Option<(NgramKey<W>, f64)>),
}

impl<const W: usize> LowerOrderProbs<'_, W> {
    /// Return the probability of a listed n-gram. Keys of successive calls must not descend.
    fn prob(&mut self, key: NgramKey<W>, bits: u32) -> Result<f64> {
        match self {
            LowerOrderProbs::Unigrams(probs) => Ok(probs[key.word(0, bits) as usize]),
            LowerOrderProbs::Ngrams(ngrams, current) => loop {
                match current {
                    Some((at, prob)) if *at == key => return Ok(*prob),
                    _ => *current = ngrams.next().transpose()?,
                }
                assert!(current.is_some(), "an n-gram's ending is an n-gram of the text");
            },
        }
    }
}

/// A reader of the backoffs of one order in suffix order.
pub struct BackoffCursor<I: Iterator> {
    contexts: std::iter::Peekable<I>,
}

impl<const W: usize, I: Iterator<Item = Result<(NgramKey<W>, f64)>>> BackoffCursor<I> {
    /// Create a reader of contexts, which must be in suffix order.
    pub fn new(contexts: I) -> Self {
        BackoffCursor { contexts: contexts.peekable() }
    }

    /// Return the log backoff of an n-gram. Keys of successive calls must ascend.
    pub fn read(&mut self, key: &NgramKey<W>) -> Result<f32> {
        match self.contexts.next_if(|next| next.as_ref().map_or(true, |(at, _)| at == key)) {
            Some(context) => Ok(encode_backoff(context?.1.ln())),
            None => Ok(NO_EXTENSION),
        }
    }
}

/// Encode a log backoff of a context; 0 gets the sign of an extended n-gram.
pub fn encode_backoff(backoff: f64) -> f32 {
    to_f32(backoff) + 0.0
}

/// Interpolate the orders, the lowest first, one vocabulary range per thread. Return the unigram
/// scores and, for each order from 2 up, the scored n-grams by range.
pub fn interpolate<const W: usize>(
    probs: &[f64],
    orders: Vec<Vec<DiscountedNgrams<W>>>,
    options: SortOptions<'_>,
    job: &Job,
) -> Result<(UnigramScores, Vec<Vec<ScoredSpool<W>>>)> {
    let mut words = unigram_scores(probs);
    for part in orders.first().into_iter().flatten() {
        add_backoffs(&mut words, &part.contexts, options.bits)?;
    }
    let mut higher: Vec<Vec<ScoredSpool<W>>> = orders.iter().map(|_| Vec::new()).collect();
    let mut by_range: Vec<Vec<DiscountedNgrams<W>>> =
        (0..options.partition.len()).map(|_| Vec::new()).collect();
    for order in orders {
        by_range.iter_mut().zip(order).for_each(|(parts, part)| parts.push(part));
    }
    let by_range: Vec<_> = by_range.into_iter().map(|parts| Mutex::new(Some(parts))).collect();
    let work = |(): &mut (), range: usize| {
        let parts = take_once(&by_range[range]).unwrap_or_default();
        interpolate_range(probs, parts, options, job)
    };
    let (ranges, _) = parallel::map(by_range.len(), 1, job, || (), work)?;
    for scored_orders in ranges {
        higher.iter_mut().zip(scored_orders).for_each(|(parts, scored)| parts.push(scored));
    }
    Ok((words, higher))
}

/// Interpolate all orders of one vocabulary range.
fn interpolate_range<const W: usize>(
    probs: &[f64],
    orders: Vec<DiscountedNgrams<W>>,
    options: SortOptions<'_>,
    job: &Job,
) -> Result<Vec<ScoredSpool<W>>> {
    let SortOptions { bits, memory, folder, partition } = options;
    let memory = memory / partition.len();
    let mut contexts = Vec::new();
    let mut by_suffix = Vec::new();
    for order in orders {
        contexts.push(order.contexts);
        by_suffix.push(order.by_suffix);
    }
    contexts.push(Spool::new(folder, memory));
    let mut scored: Vec<ScoredSpool<W>> = Vec::new();
    let mut last: Option<Spool<(NgramKey<W>, f64)>> = None;
    let longest = by_suffix.len();
    for (index, sorter) in by_suffix.into_iter().enumerate() {
        let length = index + 1;
        let mut shorter = match &last {
            None => LowerOrderProbs::Unigrams(probs),
            Some(spool) => LowerOrderProbs::Ngrams(Box::new(spool.iter()?), None),
        };
        let mut backoffs = BackoffCursor::new(contexts[index + 1].iter()?);
        let mut of_order = Spool::new(folder, memory);
        let mut probs_of_order = Spool::new(folder, memory);
        for (number, record) in sorter.finish()?.enumerate() {
            let (key, (direct, gamma)) = record?;
            let prob = direct + gamma * shorter.prob(key.first(length, bits), bits)?;
            of_order.push((key, (to_f32(prob.ln()), backoffs.read(&key)?)))?;
            if length < longest {
                probs_of_order.push((key, prob))?;
            }
            if (number as u64).is_multiple_of(CHECK_INTERVAL) {
                job.check()?;
            }
        }
        scored.push(of_order.finish()?);
        drop(shorter);
        last = Some(probs_of_order.finish()?);
    }
    Ok(scored)
}

/// Return the scores of the unigrams, with the backoffs of those that are contexts.
pub fn score_unigrams<const W: usize>(
    probs: &[f64],
    contexts: &Spool<(NgramKey<W>, f64)>,
    bits: u32,
) -> Result<UnigramScores> {
    let mut scores = unigram_scores(probs);
    add_backoffs(&mut scores, contexts, bits)?;
    Ok(scores)
}

fn unigram_scores(probs: &[f64]) -> UnigramScores {
    probs.iter().map(|prob| (to_f32(prob.ln()), NO_EXTENSION)).collect()
}

fn add_backoffs<const W: usize>(
    scores: &mut UnigramScores,
    contexts: &Spool<(NgramKey<W>, f64)>,
    bits: u32,
) -> Result<()> {
    for context in contexts.iter()? {
        let (key, gamma) = context?;
        scores[key.word(0, bits) as usize].1 = encode_backoff(gamma.ln());
    }
    Ok(())
}
