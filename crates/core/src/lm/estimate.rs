//! From adjusted counts to probabilities and backoffs (definitions l.1, steps 3 to 5).
//!
//! In: n-grams sorted by context, discounts. Out: n-grams in suffix order with both scores.
//! How: two passes over each order. By context: the sum of the counts and what the discounts
//! leave over. By suffix: an n-gram meets the one without its oldest word, whose probability
//! it is mixed with; shorter orders come first.
//! Cost: one sort per order; sums and products in `f64`. Threads share the first pass by order, the
//! second by the newest word.

use super::BOS;
use super::count::{taken, unpack_count};
use super::discount::Discount;
use super::grams::NO_EXTENSION;
use super::key::Key;
use super::lists::{Scored, WordScores};
use super::share::Shares;
use crate::Job;
use crate::error::Result;
use crate::narrow::to_f32;
use crate::parallel;
use crate::storage::{Joined, Sorter, Spool, TempFolder};
use std::sync::{Arc, Mutex};

/// N-grams between two looks at the job.
const BLOCK: u64 = 1 << 16;

/// What the passes need to know.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// Bits of a word in a key.
    pub bits: u32,
    /// Bytes that each sorter or spool may use.
    pub share: usize,
    /// Where the rest goes.
    pub folder: &'a Arc<TempFolder>,
    /// How words are dealt out to threads.
    pub shares: &'a Shares,
}

/// The direct part of an n-gram's probability and the weight of the shorter n-gram's.
type Parts = (f64, f64);

/// N-grams of one share after the pass by context.
pub struct Discounted<const W: usize> {
    /// N-grams to be sorted by suffix.
    by_suffix: Sorter<Key<W>, Parts>,
    /// Contexts in suffix order, with what is left for words not seen after them.
    contexts: Spool<(Key<W>, f64)>,
}

/// Takes the discounts from the counts of one order, which come sorted by context; for each share
/// what is left.
pub fn discount_order<const W: usize>(
    order: usize,
    counts: Vec<Sorter<Key<W>, u64>>,
    discount: &Discount,
    setting: Setting<'_>,
    job: &Job,
) -> Result<Vec<Discounted<W>>> {
    let Setting { bits, share, folder, shares } = setting;
    let empty = |_| Discounted {
        by_suffix: Sorter::new(folder, share / shares.len(), None),
        contexts: Spool::new(folder, share / shares.len()),
    };
    let mut done: Vec<_> = (0..shares.len()).map(empty).collect();
    let mut group: Vec<(u32, u64)> = Vec::new();
    let mut context = None;
    for (number, record) in Joined::of(counts)?.enumerate() {
        let (key, packed) = record?;
        let front = key.first(order - 1, bits);
        if let Some(last) = context.replace(front).filter(|last| *last != front) {
            discount_group(last, &group, discount, setting, &mut done)?;
            group.clear();
        }
        group.push((key.word(order - 1, bits), packed));
        if (number as u64).is_multiple_of(BLOCK) {
            job.check()?;
        }
    }
    if let Some(last) = context {
        discount_group(last, &group, discount, setting, &mut done)?;
    }
    let finished =
        |part: Discounted<W>| Ok(Discounted { contexts: part.contexts.finish()?, ..part });
    done.into_iter().map(finished).collect()
}

/// The words seen after one context.
fn discount_group<const W: usize>(
    context: Key<W>,
    group: &[(u32, u64)],
    discount: &Discount,
    Setting { bits, shares, .. }: Setting<'_>,
    done: &mut [Discounted<W>],
) -> Result<()> {
    let (mut sum, mut left) = (0, 0.0);
    let mut is_kept = false;
    for &(_, packed) in group {
        let (count, is_pruned) = unpack_count(packed);
        sum += count;
        left += if is_pruned { count as f64 } else { discount.of(count) };
        is_kept |= !is_pruned;
    }
    if !is_kept {
        // Nothing is left of this context; whoever asks gets the shorter one's answer.
        return Ok(());
    }
    let gamma = left / sum as f64;
    for &(word, packed) in group {
        let (count, is_pruned) = unpack_count(packed);
        if !is_pruned {
            let direct = (count as f64 - discount.of(count)) / sum as f64;
            let key = context.extended(word, bits);
            done[shares.of(word)].by_suffix.push(key, (direct, gamma))?;
        }
    }
    done[shares.of(context.word(0, bits))].contexts.push((context, gamma))
}

/// Probability of every word by itself, mixed with the uniform distribution.
pub fn unigrams(counts: &[u64], discount: &Discount) -> Vec<f64> {
    let sum = counts.iter().sum::<u64>() as f64;
    let left: f64 = counts.iter().map(|&count| discount.of(count)).sum();
    // `<s>` is never predicted, so it has no share of the uniform distribution.
    let uniform = left / sum / (counts.len() - 1) as f64;
    let mut probs: Vec<f64> =
        counts.iter().map(|&count| (count as f64 - discount.of(count)) / sum + uniform).collect();
    probs[BOS as usize] = 1.0;
    probs
}

/// Probabilities of the order before, asked for in suffix order.
enum Shorter<'a, const W: usize> {
    Words(&'a [f64]),
    Grams(Box<dyn Iterator<Item = Result<(Key<W>, f64)>> + 'a>, Option<(Key<W>, f64)>),
}

impl<const W: usize> Shorter<'_, W> {
    /// The probability of an n-gram that is there; later calls ask for the same or a later one.
    fn prob(&mut self, key: Key<W>, bits: u32) -> Result<f64> {
        match self {
            Shorter::Words(probs) => Ok(probs[key.word(0, bits) as usize]),
            Shorter::Grams(grams, current) => loop {
                match current {
                    Some((at, prob)) if *at == key => return Ok(*prob),
                    _ => *current = grams.next().transpose()?,
                }
                assert!(current.is_some(), "an n-gram's ending is an n-gram of the text");
            },
        }
    }
}

/// The backoffs of an order, asked for in suffix order.
pub struct Backoffs<I: Iterator> {
    contexts: std::iter::Peekable<I>,
}

impl<const W: usize, I: Iterator<Item = Result<(Key<W>, f64)>>> Backoffs<I> {
    /// The backoffs of these contexts, which come in suffix order.
    pub fn new(contexts: I) -> Self {
        Backoffs { contexts: contexts.peekable() }
    }

    /// The logarithm of what is left after this n-gram.
    pub fn of(&mut self, key: &Key<W>) -> Result<f32> {
        match self.contexts.next_if(|next| next.as_ref().map_or(true, |(at, _)| at == key)) {
            Some(context) => Ok(in_table(context?.1.ln())),
            None => Ok(NO_EXTENSION),
        }
    }
}

/// A backoff as it is kept: the sign of 0 says that the n-gram has extensions.
pub fn in_table(backoff: f64) -> f32 {
    to_f32(backoff) + 0.0
}

/// Mixes the orders, the shortest first, a share of the words in each thread. Unigrams, and then for
/// each order the n-grams by suffix, share after share.
pub fn interpolate<const W: usize>(
    probs: &[f64],
    orders: Vec<Vec<Discounted<W>>>,
    setting: Setting<'_>,
    job: &Job,
) -> Result<(WordScores, Vec<Vec<Scored<W>>>)> {
    let mut words = word_scores(probs);
    for part in orders.first().into_iter().flatten() {
        add_backoffs(&mut words, &part.contexts, setting.bits)?;
    }
    let mut higher: Vec<Vec<Scored<W>>> = orders.iter().map(|_| Vec::new()).collect();
    let mut by_share: Vec<Vec<Discounted<W>>> =
        (0..setting.shares.len()).map(|_| Vec::new()).collect();
    for order in orders {
        by_share.iter_mut().zip(order).for_each(|(parts, part)| parts.push(part));
    }
    let by_share: Vec<_> = by_share.into_iter().map(|parts| Mutex::new(Some(parts))).collect();
    let work = |(): &mut (), share: usize| {
        let parts = taken(&by_share[share]).unwrap_or_default();
        interpolate_share(probs, parts, setting, job)
    };
    let (shares, _) = parallel::map(by_share.len(), 1, job, || (), work)?;
    for share in shares {
        higher.iter_mut().zip(share).for_each(|(parts, scored)| parts.push(scored));
    }
    Ok((words, higher))
}

/// The n-grams of one share, of all orders.
fn interpolate_share<const W: usize>(
    probs: &[f64],
    orders: Vec<Discounted<W>>,
    setting: Setting<'_>,
    job: &Job,
) -> Result<Vec<Scored<W>>> {
    let Setting { bits, share, folder, shares } = setting;
    let share = share / shares.len();
    let mut contexts = Vec::new();
    let mut by_suffix = Vec::new();
    for order in orders {
        contexts.push(order.contexts);
        by_suffix.push(order.by_suffix);
    }
    contexts.push(Spool::new(folder, share));
    let mut scored: Vec<Scored<W>> = Vec::new();
    let mut last: Option<Spool<(Key<W>, f64)>> = None;
    let longest = by_suffix.len();
    for (index, sorter) in by_suffix.into_iter().enumerate() {
        let length = index + 1;
        let mut shorter = match &last {
            None => Shorter::Words(probs),
            Some(spool) => Shorter::Grams(Box::new(spool.iter()?), None),
        };
        let mut backoffs = Backoffs::new(contexts[index + 1].iter()?);
        let mut of_order = Spool::new(folder, share);
        let mut own_probs = Spool::new(folder, share);
        for (number, record) in sorter.finish()?.enumerate() {
            let (key, (direct, gamma)) = record?;
            let prob = direct + gamma * shorter.prob(key.first(length, bits), bits)?;
            of_order.push((key, (to_f32(prob.ln()), backoffs.of(&key)?)))?;
            if length < longest {
                own_probs.push((key, prob))?;
            }
            if (number as u64).is_multiple_of(BLOCK) {
                job.check()?;
            }
        }
        scored.push(of_order.finish()?);
        drop(shorter);
        last = Some(own_probs.finish()?);
    }
    Ok(scored)
}

/// The scores of words by themselves, with what is left after those that are contexts.
pub fn score_words<const W: usize>(
    probs: &[f64],
    contexts: &Spool<(Key<W>, f64)>,
    bits: u32,
) -> Result<WordScores> {
    let mut scores = word_scores(probs);
    add_backoffs(&mut scores, contexts, bits)?;
    Ok(scores)
}

fn word_scores(probs: &[f64]) -> WordScores {
    probs.iter().map(|prob| (to_f32(prob.ln()), NO_EXTENSION)).collect()
}

fn add_backoffs<const W: usize>(
    scores: &mut WordScores,
    contexts: &Spool<(Key<W>, f64)>,
    bits: u32,
) -> Result<()> {
    for context in contexts.iter()? {
        let (key, gamma) = context?;
        scores[key.word(0, bits) as usize].1 = in_table(gamma.ln());
    }
    Ok(())
}
