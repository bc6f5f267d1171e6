//! From counts in a tree to probabilities and backoffs (definitions l.1, steps 3 to 5).
//!
//! In: a `Trie` of adjusted counts, discounts. Out: the scores of all its n-grams: to the last bit
//! those of `estimate`, which sorts them and needs less memory.
//! How: an n-gram's context (all words but the newest) is found in the tree. The n-grams that end
//! alike have contexts that end alike, in the same order, so that the search is short. A sum for
//! each context gives what the discounts leave over.
//! Cost: a look at some place of memory for each n-gram, twice. Threads share n-grams in the search,
//! contexts in the sums, so that every sum is added up in one order.

use super::discount::Discount;
use super::estimate::{in_table, unigrams};
use super::grams::NO_EXTENSION;
use super::lists::WordScores;
use super::trie::{Level, Trie};
use crate::Job;
use crate::error::Result;
use crate::narrow::{to_f32, to_u32};
use crate::parallel;

/// N-grams that a thread takes at once.
const BLOCK: usize = 1 << 14;

/// What the words after one context have in common.
#[derive(Clone, Copy, Default)]
struct Context {
    /// The sum of their counts.
    sum: f64,
    /// What the discounts take from them; later its share of the sum.
    left: f64,
}

/// Scores all n-grams of the tree; those of order 1 are given.
pub fn smooth(trie: &mut Trie, discounts: &[Discount], job: &Job) -> Result<WordScores> {
    let counts: Vec<u64> = trie.levels[0].counts.iter().map(|&count| u64::from(count)).collect();
    let mut probs = unigrams(&counts, &discounts[0]);
    let mut contexts_of: Vec<u32> = Vec::new();
    for index in 1..trie.levels.len() {
        let (shorter, longer) = trie.levels.split_at_mut(index);
        contexts_of = match shorter {
            [.., grandparents, parents] => {
                find_contexts(grandparents, parents, &longer[0], &contexts_of, job)?
            }
            _ => longer[0].words.clone(),
        };
        let (parents, level) = (&mut shorter[index - 1], &mut longer[0]);
        let discount = &discounts[index];
        let contexts = sum_up(parents.words.len(), &contexts_of, &level.counts, discount, job)?;
        score(parents, &probs, Some(&contexts), job)?;
        probs = mix(parents, level, &probs, (&contexts_of, &contexts), discount, job)?;
        level.counts = Vec::new();
    }
    if let Some(longest) = trie.levels.last_mut() {
        score(longest, &probs, None, job)?;
    }
    Ok(trie.levels[0].scores.clone())
}

/// Applies `work` to blocks of `0..items` and joins what it gives.
fn joined<T: Copy + Send>(
    items: usize,
    job: &Job,
    work: impl Fn(std::ops::Range<usize>, &mut Vec<T>) + Sync,
) -> Result<Vec<T>> {
    let size = if job.threads() == 1 { items.max(1) } else { BLOCK };
    let each = |(): &mut (), block: usize| {
        let mut values = Vec::new();
        work(block * size..items.min((block + 1) * size), &mut values);
        Ok(values)
    };
    let (mut blocks, _) = parallel::map(items.div_ceil(size), 1, job, || (), each)?;
    match &mut blocks[..] {
        [only] => Ok(std::mem::take(only)),
        _ => Ok(blocks.concat()),
    }
}

/// For each n-gram of a level the number of its context in the level above.
fn find_contexts(
    grandparents: &Level,
    parents: &Level,
    level: &Level,
    contexts_of: &[u32],
    job: &Job,
) -> Result<Vec<u32>> {
    joined(parents.words.len(), job, |block, found| {
        for parent in block {
            let own = &level.words[parents.below(parent)];
            if own.is_empty() {
                continue;
            }
            // The context of the parent, and what ends with it: our contexts are among those.
            let range = grandparents.below(contexts_of[parent] as usize);
            let (mut at, among) = (range.start, &parents.words[..range.end]);
            for &word in own {
                at += distance(&among[at..], word);
                found.push(to_u32(at));
            }
        }
    })
}

/// Where a word that is there stands in a sorted list: near the front, as a rule.
#[inline]
fn distance(words: &[u32], word: u32) -> usize {
    let mut reach = 1;
    while reach < words.len() && words[reach] <= word {
        reach *= 2;
    }
    let start = reach / 2;
    let end = words.len().min(reach);
    start + words[start..end].partition_point(|&at| at < word)
}

/// What the words after each context have in common; the words come in ascending order.
fn sum_up(
    contexts: usize,
    contexts_of: &[u32],
    counts: &[u32],
    discount: &Discount,
    job: &Job,
) -> Result<Vec<Context>> {
    let size = contexts.div_ceil(job.threads()).max(1);
    let each = |(): &mut (), share: usize| {
        let first = share * size;
        let mut sums = vec![Context::default(); size.min(contexts - first)];
        for (&context, &count) in contexts_of.iter().zip(counts) {
            if let Some(sum) = sums.get_mut((context as usize).wrapping_sub(first)) {
                sum.sum += f64::from(count);
                sum.left += discount.of(u64::from(count));
            }
        }
        for sum in sums.iter_mut().filter(|sum| sum.sum > 0.0) {
            sum.left /= sum.sum;
        }
        Ok(sums)
    };
    let (mut shares, _) = parallel::map(contexts.div_ceil(size), 1, job, || (), each)?;
    match &mut shares[..] {
        [only] => Ok(std::mem::take(only)),
        _ => Ok(shares.concat()),
    }
}

/// Mixes each n-gram's own share with the probability of the shorter one.
fn mix(
    parents: &Level,
    level: &Level,
    shorter: &[f64],
    (contexts_of, contexts): (&[u32], &[Context]),
    discount: &Discount,
    job: &Job,
) -> Result<Vec<f64>> {
    joined(parents.words.len(), job, |block, probs| {
        for parent in block {
            for at in parents.below(parent) {
                let count = level.counts[at];
                let Context { sum, left } = contexts[contexts_of[at] as usize];
                let direct = (f64::from(count) - discount.of(u64::from(count))) / sum;
                probs.push(direct + left * shorter[parent]);
            }
        }
    })
}

/// Keeps the logarithms of probabilities and of what is left for other words.
fn score(level: &mut Level, probs: &[f64], contexts: Option<&[Context]>, job: &Job) -> Result<()> {
    level.scores = joined(probs.len(), job, |block, scores| {
        scores.extend(block.map(|at| {
            let backoff = match contexts.map(|contexts| contexts[at]) {
                Some(context) if context.sum > 0.0 => in_table(context.left.ln()),
                _ => NO_EXTENSION,
            };
            (to_f32(probs[at].ln()), backoff)
        }));
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_word_is_found_where_it_stands(
            words in prop::collection::btree_set(0_u32..500, 1..80),
        ) {
            let words: Vec<u32> = words.into_iter().collect();
            for (at, &word) in words.iter().enumerate() {
                prop_assert_eq!(distance(&words, word), at);
            }
        }
    }
}
