//! Completes a list of n-grams so that look-ups can go from short to long.
//!
//! In: n-grams of all orders, sorted. Out: the same with every beginning and ending of an
//! n-gram present, and with the mark on contexts that nothing extends.
//! An n-gram that is added has the score that backing off gives and no backoff of its own, so
//! all answers stay as they were.

use super::grams::{NO_EXTENSION, matters};
use super::key::Key;

/// An n-gram as it was read.
#[derive(Debug, Clone, Copy)]
pub struct Entry<const W: usize> {
    /// Its words.
    pub key: Key<W>,
    /// Natural logarithm of its probability; NaN until it is known.
    pub prob: f32,
    /// Natural logarithm of its backoff, `NO_EXTENSION` for 0.
    pub backoff: f32,
    /// The line it stood in.
    pub line: u64,
}

/// Adds what is missing and marks what is extended; `orders` begin with order 2.
pub fn complete<const W: usize>(words: &mut [(f32, f32)], orders: &mut [Vec<Entry<W>>], bits: u32) {
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
            if !matters(*backoff) {
                *backoff = 0.0;
            }
        }
    }
    for index in 0..orders.len() {
        let (shorter, own) = orders.split_at_mut(index);
        for entry in own[0].iter_mut().filter(|entry| entry.prob.is_nan()) {
            entry.prob = backed_off(entry.key, index, words, shorter, bits);
        }
    }
    forget_backoffs(words, orders);
}

/// Adds the n-grams, which come sorted, that are not in the list.
fn add_missing<const W: usize>(entries: &mut Vec<Entry<W>>, needed: impl Iterator<Item = Key<W>>) {
    let mut known = entries.iter().map(|entry| entry.key).peekable();
    let mut missing: Vec<Entry<W>> = Vec::new();
    for key in needed {
        while known.next_if(|at| *at < key).is_some() {}
        if known.peek() != Some(&key) && missing.last().is_none_or(|last| last.key != key) {
            missing.push(Entry { key, prob: f32::NAN, backoff: NO_EXTENSION, line: 0 });
        }
    }
    if !missing.is_empty() {
        entries.append(&mut missing);
        entries.sort_unstable_by_key(|entry| entry.key);
    }
}

/// Takes the mark off the n-grams, all of which are in the list, that begin longer ones.
fn mark_extended<const W: usize>(entries: &mut [Entry<W>], contexts: &[Key<W>]) {
    let mut contexts = contexts.iter().peekable();
    for entry in entries {
        let mut is_extended = false;
        while contexts.next_if(|at| **at == entry.key).is_some() {
            is_extended = true;
        }
        if is_extended && !matters(entry.backoff) {
            entry.backoff = 0.0;
        }
    }
}

/// The score of an n-gram that no file gave.
fn backed_off<const W: usize>(
    key: Key<W>,
    index: usize,
    words: &[(f32, f32)],
    shorter: &[Vec<Entry<W>>],
    bits: u32,
) -> f32 {
    let (context, ending) = (key.context(bits), key.first(index + 1, bits));
    let scores = |key: Key<W>| match index {
        0 => words[key.word(0, bits) as usize],
        _ => {
            let list = &shorter[index - 1];
            let place = list.binary_search_by_key(&key, |entry| entry.key).ok();
            place.map_or((0.0, 0.0), |at| (list[at].prob, list[at].backoff))
        }
    };
    // A backoff above 0 could lift the sum above it, where no probability is.
    (scores(context).1 + scores(ending).0).min(0.0)
}

/// The longest n-grams are no context, whatever the file says.
fn forget_backoffs<const W: usize>(words: &mut [(f32, f32)], orders: &mut [Vec<Entry<W>>]) {
    match orders.last_mut() {
        Some(longest) => longest.iter_mut().for_each(|entry| entry.backoff = NO_EXTENSION),
        None => words.iter_mut().for_each(|(_, backoff)| *backoff = NO_EXTENSION),
    }
}
