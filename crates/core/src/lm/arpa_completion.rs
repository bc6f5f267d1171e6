//! Adds the missing prefixes and suffixes of n-grams that were read from ARPA.
//!
//! In: n-grams of all orders, sorted. Out: closed lists, with `NO_EXTENSION` on contexts that
//! nothing extends. An added n-gram gets the probability of backing off and no backoff, so no score
//! changes.

use super::ngram::{NO_EXTENSION, has_extension};
use super::ngram_key::NgramKey;

/// An n-gram of an ARPA file.
#[derive(Debug, Clone, Copy)]
pub struct ArpaEntry<const W: usize> {
    /// Packed words.
    pub key: NgramKey<W>,
    /// Natural logarithm of the probability; NaN while unknown.
    pub prob: f32,
    /// Natural logarithm of the backoff, `NO_EXTENSION` for 0.
    pub backoff: f32,
    /// Line number in the file; 0 for an added n-gram.
    pub line: u64,
}

/// Add missing n-grams and flag extended contexts; `orders` starts with order 2.
pub fn complete<const W: usize>(
    words: &mut [(f32, f32)],
    orders: &mut [Vec<ArpaEntry<W>>],
    bits: u32,
) {
    for index in (1..orders.len()).rev() {
        let (shorter, longer) = orders.split_at_mut(index);
        let (shorter, longer) = (&mut shorter[index - 1], &longer[0]);
        let endings = longer.iter().map(|entry| entry.key.first(index + 1, bits));
        add_missing(shorter, endings);
        let mut contexts: Vec<_> = longer.iter().map(|entry| entry.key.context(bits)).collect();
        contexts.sort_unstable();
        add_missing(shorter, contexts.iter().copied());
        mark_extended(shorter, &contexts);
    }
    if let Some(pairs) = orders.first() {
        for entry in pairs {
            let (_, backoff) = &mut words[entry.key.word(1, bits) as usize];
            if !has_extension(*backoff) {
                *backoff = 0.0;
            }
        }
    }
    for index in 0..orders.len() {
        let (shorter, of_order) = orders.split_at_mut(index);
        for entry in of_order[0].iter_mut().filter(|entry| entry.prob.is_nan()) {
            entry.prob = backoff_prob(entry.key, index, words, shorter, bits);
        }
    }
    reset_longest_backoffs(words, orders);
}

/// Add those of the sorted keys `needed` that are not in the list.
fn add_missing<const W: usize>(
    entries: &mut Vec<ArpaEntry<W>>,
    needed: impl Iterator<Item = NgramKey<W>>,
) {
    let mut known = entries.iter().map(|entry| entry.key).peekable();
    let mut missing: Vec<ArpaEntry<W>> = Vec::new();
    for key in needed {
        while known.next_if(|at| *at < key).is_some() {}
        if known.peek() != Some(&key) && missing.last().is_none_or(|last| last.key != key) {
            missing.push(ArpaEntry { key, prob: f32::NAN, backoff: NO_EXTENSION, line: 0 });
        }
    }
    if !missing.is_empty() {
        entries.append(&mut missing);
        entries.sort_unstable_by_key(|entry| entry.key);
    }
}

/// Clear `NO_EXTENSION` on the n-grams that are contexts. All contexts must be in the list.
fn mark_extended<const W: usize>(entries: &mut [ArpaEntry<W>], contexts: &[NgramKey<W>]) {
    let mut contexts = contexts.iter().peekable();
    for entry in entries {
        let mut is_extended = false;
        while contexts.next_if(|at| **at == entry.key).is_some() {
            is_extended = true;
        }
        if is_extended && !has_extension(entry.backoff) {
            entry.backoff = 0.0;
        }
    }
}

/// Return the probability that backing off gives to an n-gram missing in the file.
fn backoff_prob<const W: usize>(
    key: NgramKey<W>,
    index: usize,
    words: &[(f32, f32)],
    shorter: &[Vec<ArpaEntry<W>>],
    bits: u32,
) -> f32 {
    let (context, ending) = (key.context(bits), key.first(index + 1, bits));
    let scores = |key: NgramKey<W>| match index {
        0 => words[key.word(0, bits) as usize],
        _ => {
            let list = &shorter[index - 1];
            let place = list.binary_search_by_key(&key, |entry| entry.key).ok();
            place.map_or((0.0, 0.0), |at| (list[at].prob, list[at].backoff))
        }
    };
    // A positive backoff could raise the sum above log 1.
    (scores(context).1 + scores(ending).0).min(0.0)
}

/// Reset the backoffs of the longest n-grams, which are never contexts, whatever the file says.
fn reset_longest_backoffs<const W: usize>(
    words: &mut [(f32, f32)],
    orders: &mut [Vec<ArpaEntry<W>>],
) {
    match orders.last_mut() {
        Some(longest) => longest.iter_mut().for_each(|entry| entry.backoff = NO_EXTENSION),
        None => words.iter_mut().for_each(|(_, backoff)| *backoff = NO_EXTENSION),
    }
}
