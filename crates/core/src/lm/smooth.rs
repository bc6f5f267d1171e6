//! From counts in a tree to probabilities and backoffs (definitions l.1, steps 3 to 5).
//!
//! In: a `Trie` of adjusted counts, discounts. Out: the scores of all its n-grams: to the last bit
//! those of `estimate`, which sorts them and needs less memory.
//! How: an n-gram's context (all words but the newest) is found in the tree. The n-grams that end
//! alike have contexts that end alike, in the same order, so that the search is short. A sum for
//! each context gives what the discounts leave over.
//! Cost: a look at some place of memory for each n-gram, twice. Threads share n-grams in the search,
//! contexts in the sums, so that every sum is added up in one order.

use super::count::taken;
use super::discount::Discount;
use super::estimate::{in_table, unigrams};
use super::grams::NO_EXTENSION;
use super::lists::WordScores;
use super::trie::{Level, Trie};
use crate::Job;
use crate::error::Result;
use crate::narrow::{to_f32, to_u32};
use crate::parallel;
use std::ops::Range;
use std::sync::Mutex;

/// N-grams that a thread takes at once.
const BLOCK: usize = 1 << 12;

/// What the words after one context have in common: the sum of their counts, and what the discounts
/// take from them, later as its share of the sum.
type Context = (f64, f64);

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

/// Values that threads fill in: block b of them has `sizes[b]`, and `work` gets its number.
fn filled<T: Copy + Default + Send>(
    sizes: impl Iterator<Item = usize>,
    job: &Job,
    work: impl Fn(usize, &mut [T]) + Sync,
) -> Result<Vec<T>> {
    let sizes: Vec<usize> = sizes.collect();
    let mut values = vec![T::default(); sizes.iter().sum()];
    let mut rest = &mut values[..];
    let mut blocks = Vec::new();
    for size in sizes {
        let (block, others) = rest.split_at_mut(size);
        blocks.push(Mutex::new(Some(block)));
        rest = others;
    }
    let each = |(): &mut (), number: usize| {
        if let Some(block) = taken(&blocks[number]) {
            work(number, block);
        }
        Ok(())
    };
    parallel::map(blocks.len(), 1, job, || (), each)?;
    drop(blocks);
    Ok(values)
}

/// Values for the n-grams of a level: `work` gets a block of their parents, and room for a value
/// of each n-gram that ends with one.
fn filled_below<T: Copy + Default + Send>(
    parents: &Level,
    job: &Job,
    work: impl Fn(Range<usize>, &mut [T]) + Sync,
) -> Result<Vec<T>> {
    let count = parents.words.len();
    let block = |number: usize| number * BLOCK..count.min((number + 1) * BLOCK);
    let size = |number: usize| {
        let Range { start, end } = block(number);
        parents.below(end - 1).end - parents.below(start).start
    };
    let sizes = (0..count.div_ceil(BLOCK)).map(size);
    filled(sizes, job, |number, values| work(block(number), values))
}

/// For each n-gram of a level the number of its context in the level above.
fn find_contexts(
    grandparents: &Level,
    parents: &Level,
    level: &Level,
    contexts_of: &[u32],
    job: &Job,
) -> Result<Vec<u32>> {
    filled_below(parents, job, |block, found| {
        let mut found = found.iter_mut();
        for parent in block {
            let own = &level.words[parents.below(parent)];
            if own.is_empty() {
                continue;
            }
            // The context of the parent, and what ends with it: our contexts are among those.
            let range = grandparents.below(contexts_of[parent] as usize);
            let (mut at, among) = (range.start, &parents.words[..range.end]);
            for (&word, place) in own.iter().zip(&mut found) {
                at += distance(&among[at..], word);
                *place = to_u32(at);
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
    let sizes = (0..contexts).step_by(size).map(|first| size.min(contexts - first));
    filled(sizes, job, |share, sums: &mut [Context]| {
        let first = share * size;
        for (&context, &count) in contexts_of.iter().zip(counts) {
            if let Some((sum, left)) = sums.get_mut((context as usize).wrapping_sub(first)) {
                *sum += f64::from(count);
                *left += discount.of(u64::from(count));
            }
        }
        for (sum, left) in sums.iter_mut().filter(|(sum, _)| *sum > 0.0) {
            *left /= *sum;
        }
    })
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
    filled_below(parents, job, |block, probs| {
        let mut probs = probs.iter_mut();
        for parent in block {
            for (at, prob) in parents.below(parent).zip(&mut probs) {
                let count = level.counts[at];
                let (sum, left) = contexts[contexts_of[at] as usize];
                let direct = (f64::from(count) - discount.of(u64::from(count))) / sum;
                *prob = direct + left * shorter[parent];
            }
        }
    })
}

/// Keeps the logarithms of probabilities and of what is left for other words.
fn score(level: &mut Level, probs: &[f64], contexts: Option<&[Context]>, job: &Job) -> Result<()> {
    let sizes = probs.chunks(BLOCK).map(<[f64]>::len);
    level.scores = filled(sizes, job, |number, scores: &mut [(f32, f32)]| {
        for (at, score) in (number * BLOCK..).zip(scores) {
            let backoff = match contexts.map(|contexts| contexts[at]) {
                Some((sum, left)) if sum > 0.0 => in_table(left.ln()),
                _ => NO_EXTENSION,
            };
            *score = (to_f32(probs[at].ln()), backoff);
        }
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
