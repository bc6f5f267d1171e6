//! Kneser-Ney estimation in memory: from a trie of adjusted counts to probabilities and backoffs
//! (definitions l.1, steps 3 to 5).
//!
//! In: a `SuffixTrie` of adjusted counts, discounts. Out: the scores of all its n-grams, bit for
//! bit those of `sorted_estimation`, which needs less memory.
//! How: look up the context of each n-gram (all words but the newest) in the trie. Siblings have
//! sibling contexts in the same order, so a galloping search is short. Sum counts and discounts by
//! context.
//! Cost: two random memory accesses per n-gram. Threads share n-grams in the search and contexts in
//! the sums, so every sum has a fixed order of addition.

use super::count::take_once;
use super::discount::CountDiscount;
use super::ngram::NO_EXTENSION;
use super::ngram_lists::UnigramScores;
use super::sorted_estimation::{encode_backoff, unigram_probs};
use super::suffix_trie::{SuffixTrie, TrieLevel};
use crate::Job;
use crate::error::Result;
use crate::narrow::{to_f32, to_u32};
use crate::parallel;
use std::ops::Range;
use std::sync::Mutex;

/// Number of n-grams per block of a thread.
const BLOCK: usize = 1 << 12;

/// Sum of the counts after a context, and sum of their discounts; the latter is then divided by the
/// former and is the backoff weight.
type ContextTotals = (f64, f64);

/// Score all n-grams of the trie and return the unigram scores.
pub fn smooth_trie(
    trie: &mut SuffixTrie,
    discounts: &[CountDiscount],
    job: &Job,
) -> Result<UnigramScores> {
    let counts: Vec<u64> = trie.levels[0].counts.iter().map(|&count| u64::from(count)).collect();
    let mut probs = unigram_probs(&counts, &discounts[0]);
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
        let contexts =
            sum_contexts(parents.words.len(), &contexts_of, &level.counts, discount, job)?;
        store_scores(parents, &probs, Some(&contexts), job)?;
        probs =
            interpolate_level(parents, level, &probs, (&contexts_of, &contexts), discount, job)?;
        level.counts = Vec::new();
    }
    if let Some(longest) = trie.levels.last_mut() {
        store_scores(longest, &probs, None, job)?;
    }
    Ok(trie.levels[0].scores.clone())
}

/// Fill a vector in parallel: block `b` has `sizes[b]` values, and `work` gets `b` and the block.
fn fill_blocks<T: Copy + Default + Send>(
    sizes: impl Iterator<Item = usize>,
    job: &Job,
    work: impl Fn(usize, &mut [T]) + Sync,
) -> Result<Vec<T>> {
    let sizes: Vec<usize> = sizes.collect();
    let mut values = vec![T::default(); sizes.iter().sum()];
    let mut remaining = &mut values[..];
    let mut blocks = Vec::new();
    for size in sizes {
        let (block, others) = remaining.split_at_mut(size);
        blocks.push(Mutex::new(Some(block)));
        remaining = others;
    }
    let each = |(): &mut (), number: usize| {
        if let Some(block) = take_once(&blocks[number]) {
            work(number, block);
        }
        Ok(())
    };
    parallel::map(blocks.len(), 1, job, || (), each)?;
    drop(blocks);
    Ok(values)
}

/// Fill one value per child in parallel: `work` gets a block of parents and the values of their
/// children.
fn fill_children<T: Copy + Default + Send>(
    parents: &TrieLevel,
    job: &Job,
    work: impl Fn(Range<usize>, &mut [T]) + Sync,
) -> Result<Vec<T>> {
    let count = parents.words.len();
    let block = |number: usize| number * BLOCK..count.min((number + 1) * BLOCK);
    let size = |number: usize| {
        let Range { start, end } = block(number);
        parents.children(end - 1).end - parents.children(start).start
    };
    let sizes = (0..count.div_ceil(BLOCK)).map(size);
    fill_blocks(sizes, job, |number, values| work(block(number), values))
}

/// Return the index of the context of each n-gram in the level above.
fn find_contexts(
    grandparents: &TrieLevel,
    parents: &TrieLevel,
    level: &TrieLevel,
    contexts_of: &[u32],
    job: &Job,
) -> Result<Vec<u32>> {
    fill_children(parents, job, |block, contexts| {
        let mut contexts = contexts.iter_mut();
        for parent in block {
            let siblings = &level.words[parents.children(parent)];
            if siblings.is_empty() {
                continue;
            }
            // The contexts of the children are children of the parent's context.
            let range = grandparents.children(contexts_of[parent] as usize);
            let (mut at, among) = (range.start, &parents.words[..range.end]);
            for (&word, place) in siblings.iter().zip(&mut contexts) {
                at += galloping_search(&among[at..], word);
                *place = to_u32(at);
            }
        }
    })
}

/// Return the index of a listed word in a sorted list, by a galloping search from the front.
#[inline]
fn galloping_search(words: &[u32], word: u32) -> usize {
    let mut reach = 1;
    while reach < words.len() && words[reach] <= word {
        reach *= 2;
    }
    let start = reach / 2;
    let end = words.len().min(reach);
    start + words[start..end].partition_point(|&at| at < word)
}

/// Sum counts and discounts by context; the n-grams of a context come in ascending order of words.
fn sum_contexts(
    contexts: usize,
    contexts_of: &[u32],
    counts: &[u32],
    discount: &CountDiscount,
    job: &Job,
) -> Result<Vec<ContextTotals>> {
    let size = contexts.div_ceil(job.threads()).max(1);
    let sizes = (0..contexts).step_by(size).map(|first| size.min(contexts - first));
    fill_blocks(sizes, job, |share, sums: &mut [ContextTotals]| {
        let first = share * size;
        for (&context, &count) in contexts_of.iter().zip(counts) {
            if let Some((sum, left)) = sums.get_mut((context as usize).wrapping_sub(first)) {
                *sum += f64::from(count);
                *left += discount.amount(u64::from(count));
            }
        }
        for (sum, left) in sums.iter_mut().filter(|(sum, _)| *sum > 0.0) {
            *left /= *sum;
        }
    })
}

/// Interpolate the discounted probability of each n-gram with the lower order.
fn interpolate_level(
    parents: &TrieLevel,
    level: &TrieLevel,
    shorter: &[f64],
    (contexts_of, contexts): (&[u32], &[ContextTotals]),
    discount: &CountDiscount,
    job: &Job,
) -> Result<Vec<f64>> {
    fill_children(parents, job, |block, probs| {
        let mut probs = probs.iter_mut();
        for parent in block {
            for (at, prob) in parents.children(parent).zip(&mut probs) {
                let count = level.counts[at];
                let (sum, left) = contexts[contexts_of[at] as usize];
                let direct = (f64::from(count) - discount.amount(u64::from(count))) / sum;
                *prob = direct + left * shorter[parent];
            }
        }
    })
}

/// Store logarithms of probabilities and backoffs in the level.
fn store_scores(
    level: &mut TrieLevel,
    probs: &[f64],
    contexts: Option<&[ContextTotals]>,
    job: &Job,
) -> Result<()> {
    let sizes = probs.chunks(BLOCK).map(<[f64]>::len);
    level.scores = fill_blocks(sizes, job, |number, scores: &mut [(f32, f32)]| {
        for (at, score) in (number * BLOCK..).zip(scores) {
            let backoff = match contexts.map(|contexts| contexts[at]) {
                Some((sum, left)) if sum > 0.0 => encode_backoff(left.ln()),
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
                prop_assert_eq!(galloping_search(&words, word), at);
            }
        }
    }
}
