//! From a word alignment to an order of the source words.
//!
//! In: the links of a sentence, and a heuristic. Out: `order`, where `order[t]` is the source
//! position translated t-th; its inverse is the rank, where `rank[j]` is when word j comes.
//! How: every source word gets a sort key, and the positions are sorted by it, equal keys in
//! source order (definitions a). Keys are fractions and compared exactly.
//! Cost: O(n log n) a sentence.

use crate::align::Link;
use crate::error::{Error, Place, Result, named};
use crate::narrow::to_u32;
use std::cmp::Ordering;

/// How unaligned and multiply aligned source words get their place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heuristic {
    /// Mean target position; an unaligned word lies half-way between its aligned neighbours.
    Mean,
    /// First target position; unaligned words go to the front.
    Leftmost,
    /// First target position; an unaligned word follows the aligned word before it.
    Attach,
}

impl Heuristic {
    /// All heuristics with the names used in options.
    pub const ALL: [(&'static str, Heuristic); 3] = [
        ("mean", Heuristic::Mean),
        ("leftmost", Heuristic::Leftmost),
        ("attach", Heuristic::Attach),
    ];

    /// The heuristic of this name.
    pub fn named(name: &str) -> Result<Heuristic> {
        named("heuristic", name, &Heuristic::ALL)
    }
}

/// A sort key: a non-negative fraction, compared without rounding.
#[derive(Debug, Clone, Copy)]
struct Key {
    above: u64,
    below: u64,
}

impl Key {
    const ZERO: Key = Key { above: 0, below: 1 };

    fn between(self, other: Key) -> Key {
        Key {
            above: self.above * other.below + other.above * self.below,
            below: 2 * self.below * other.below,
        }
    }

    fn compare(&self, other: &Key) -> Ordering {
        let left = u128::from(self.above) * u128::from(other.below);
        left.cmp(&(u128::from(other.above) * u128::from(self.below)))
    }
}

/// The order of a sentence of `length` source words that its links imply.
///
/// Duplicate links count once; a link whose source lies outside the sentence is an error.
pub fn order_from_links(length: usize, links: &[Link], heuristic: Heuristic) -> Result<Vec<u32>> {
    check_source(length, links)?;
    let mut links = links.to_vec();
    links.sort_unstable();
    Ok(order_of_links(length, &links, heuristic))
}

/// Refuses a link whose source lies outside a sentence of `length` words.
pub fn check_source(length: usize, links: &[Link]) -> Result<()> {
    match links.iter().max().filter(|link| link.src.index() >= length) {
        Some(link) => Err(outside(*link, length)),
        None => Ok(()),
    }
}

/// The order that sorted links inside a sentence imply.
pub fn order_of_links(length: usize, links: &[Link], heuristic: Heuristic) -> Vec<u32> {
    let mut links = links.to_vec();
    links.dedup();
    let keys = match heuristic {
        Heuristic::Mean => mean_keys(length, &links),
        Heuristic::Leftmost => {
            leftmost_keys(length, &links).map(|key| key.unwrap_or(Key::ZERO)).collect()
        }
        Heuristic::Attach => attach_keys(length, &links),
    };
    let mut order: Vec<u32> = (0..to_u32(length)).collect();
    order.sort_by(|&a, &b| keys[a as usize].compare(&keys[b as usize]));
    order
}

/// The rank of each linked word by the mean of its target positions, equal means alike; none for
/// a word without links. The links are sorted.
pub fn ranks_of_links(length: usize, links: &[Link]) -> Vec<Option<u32>> {
    let mut links = links.to_vec();
    links.dedup();
    let keys: Vec<Option<Key>> = by_word(length, &links).map(mean_key).collect();
    let mut linked: Vec<(Key, usize)> =
        keys.iter().enumerate().filter_map(|(word, key)| Some(((*key)?, word))).collect();
    linked.sort_by(|a, b| a.0.compare(&b.0));
    let mut ranks = vec![None; length];
    let mut rank = 0;
    for (at, (key, word)) in linked.iter().enumerate() {
        let is_new = at > 0 && linked[at - 1].0.compare(key) == Ordering::Less;
        rank += u32::from(is_new);
        ranks[*word] = Some(rank);
    }
    ranks
}

/// Orders by `Heuristic::Mean` with memory that is used again, for many small spans.
#[derive(Debug, Default)]
pub struct MeanOrder {
    links: Vec<Link>,
    keys: Vec<Option<Key>>,
    order: Vec<u32>,
}

impl MeanOrder {
    /// The order of `length` words; links outside them are left out.
    pub fn of(&mut self, length: usize, links: &[Link]) -> &[u32] {
        let MeanOrder { links: own, keys, order } = self;
        order.clear();
        order.extend(0..to_u32(length));
        if length < 2 {
            return order;
        }
        own.clear();
        own.extend(links.iter().filter(|link| link.src.index() < length));
        own.sort_unstable();
        own.dedup();
        keys.clear();
        keys.extend(by_word(length, own).map(mean_key));
        fill_gaps(keys);
        let key = |word: u32| keys[word as usize].unwrap_or(Key::ZERO);
        // Insertion keeps equal keys in order, and phrases are short.
        for at in 1..length {
            let word = order[at];
            let mut to = at;
            while to > 0 && key(order[to - 1]).compare(&key(word)) == Ordering::Greater {
                order[to] = order[to - 1];
                to -= 1;
            }
            order[to] = word;
        }
        order
    }
}

fn outside(link: Link, length: usize) -> Error {
    Error::Mismatch {
        place: Place { file: "links".into(), line: None },
        found: format!(
            "link {}-{} is outside the sentence (source has {length} words)",
            link.src.0, link.tgt.0
        ),
        advice: "do links and text come from the same corpus?".into(),
    }
}

/// The links of each source word in turn; `links` is sorted.
fn by_word(length: usize, links: &[Link]) -> impl Iterator<Item = &[Link]> {
    let mut rest = links;
    (0..to_u32(length)).map(move |word| {
        let count = rest.iter().take_while(|link| link.src.0 == word).count();
        let (of_word, others) = rest.split_at(count);
        rest = others;
        of_word
    })
}

/// Keys count target positions from 1, so that 0 can stand before all of them.
fn leftmost_keys(length: usize, links: &[Link]) -> impl Iterator<Item = Option<Key>> {
    let first =
        |of_word: &[Link]| Some(Key { above: u64::from(of_word.first()?.tgt.0) + 1, below: 1 });
    by_word(length, links).map(first)
}

fn attach_keys(length: usize, links: &[Link]) -> Vec<Key> {
    let last = |state: &mut Key, key: Option<Key>| {
        *state = key.unwrap_or(*state);
        Some(*state)
    };
    leftmost_keys(length, links).scan(Key::ZERO, last).collect()
}

fn mean_keys(length: usize, links: &[Link]) -> Vec<Key> {
    let mut keys: Vec<Option<Key>> = by_word(length, links).map(mean_key).collect();
    fill_gaps(&mut keys);
    keys.into_iter().map(|key| key.unwrap_or(Key::ZERO)).collect()
}

/// Gives unaligned words the mean of the aligned neighbours, or the key of the one there is.
fn fill_gaps(keys: &mut [Option<Key>]) {
    let mut left = None;
    let mut at = 0;
    while at < keys.len() {
        if keys[at].is_some() {
            left = keys[at];
            at += 1;
            continue;
        }
        let end = (at..keys.len()).find(|&at| keys[at].is_some()).unwrap_or(keys.len());
        let right = keys.get(end).copied().flatten();
        let key = match (left, right) {
            (Some(before), Some(after)) => Some(before.between(after)),
            (before, after) => before.or(after),
        };
        keys[at..end].fill(key);
        at = end;
    }
}

fn mean_key(own: &[Link]) -> Option<Key> {
    let sum: u64 = own.iter().map(|link| u64::from(link.tgt.0) + 1).sum();
    (!own.is_empty()).then_some(Key { above: sum, below: own.len() as u64 })
}

/// The inverse of a permutation: order to rank and rank to order. None for anything else.
pub fn inverse(permutation: &[u32]) -> Option<Vec<u32>> {
    const UNSEEN: u32 = u32::MAX;
    let mut result = vec![UNSEEN; permutation.len()];
    for (position, &value) in permutation.iter().enumerate() {
        let slot = result.get_mut(value as usize).filter(|slot| **slot == UNSEEN)?;
        *slot = to_u32(position);
    }
    Some(result)
}

/// Number of pairs of positions that stand in the wrong order, by merge sort.
pub fn inversions(values: &[u32]) -> u64 {
    let mut sorted = values.to_vec();
    let mut scratch = values.to_vec();
    count_and_sort(&mut sorted, &mut scratch)
}

fn count_and_sort(values: &mut [u32], scratch: &mut [u32]) -> u64 {
    let middle = values.len() / 2;
    if middle == 0 {
        return 0;
    }
    let (left, right) = values.split_at_mut(middle);
    let mut count = count_and_sort(left, &mut scratch[..middle]);
    count += count_and_sort(right, &mut scratch[middle..]);
    let (mut i, mut j) = (0, 0);
    for slot in scratch.iter_mut() {
        if j == right.len() || (i < left.len() && left[i] <= right[j]) {
            *slot = left[i];
            i += 1;
        } else {
            count += (left.len() - i) as u64;
            *slot = right[j];
            j += 1;
        }
    }
    values.copy_from_slice(scratch);
    count
}

/// Kendall's distance of two orders: the share of pairs of words that they put differently,
/// from 0 (equal) to 1 (reversed); 0 for fewer than two words.
/// None when the two are not permutations of one length.
///
/// It matters that these are orders: the distance of two permutations is in general not that
/// of their inverses.
pub fn kendall_distance(first: &[u32], second: &[u32]) -> Option<f64> {
    if first.len() != second.len() {
        return None;
    }
    inverse(first)?;
    let second_rank = inverse(second)?;
    let relabelled: Vec<u32> = first.iter().map(|&word| second_rank[word as usize]).collect();
    let n = first.len() as u64;
    let pairs = n * n.saturating_sub(1) / 2;
    Some(if pairs == 0 { 0.0 } else { inversions(&relabelled) as f64 / pairs as f64 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn permutation() -> impl Strategy<Value = Vec<u32>> {
        (0u32..12).prop_flat_map(|n| Just((0..n).collect::<Vec<_>>()).prop_shuffle())
    }

    proptest! {
        #[test]
        fn inversions_equal_the_double_loop(values in proptest::collection::vec(0u32..9, 0..20)) {
            let slow = (0..values.len())
                .flat_map(|j| (0..j).map(move |i| (i, j)))
                .filter(|&(i, j)| values[i] > values[j])
                .count();
            prop_assert_eq!(inversions(&values), slow as u64);
        }

        #[test]
        fn the_inverse_of_the_inverse_is_the_permutation(order in permutation()) {
            let rank = inverse(&order).unwrap();
            prop_assert_eq!(inverse(&rank).unwrap(), order);
        }

        #[test]
        fn orders_with_reused_memory_are_the_same(
            cases in proptest::collection::vec(
                (0usize..9, proptest::collection::vec((0u32..9, 0u32..5), 0..14)), 0..5),
        ) {
            let mut order = MeanOrder::default();
            for (length, links) in cases {
                let links: Vec<Link> = links.into_iter()
                    .filter(|&(src, _)| (src as usize) < length)
                    .map(|(src, tgt)| Link::new(src, tgt))
                    .collect();
                let slow = order_from_links(length, &links, Heuristic::Mean).unwrap();
                prop_assert_eq!(order.of(length, &links), slow);
            }
        }

        #[test]
        fn every_heuristic_gives_a_permutation(
            length in 0usize..9,
            links in proptest::collection::vec((0u32..9, 0u32..9), 0..20),
        ) {
            let links: Vec<Link> = links.into_iter()
                .filter(|&(src, _)| (src as usize) < length)
                .map(|(src, tgt)| Link::new(src, tgt))
                .collect();
            for (_, heuristic) in Heuristic::ALL {
                prop_assert!(inverse(&order_from_links(length, &links, heuristic).unwrap()).is_some());
            }
        }
    }
}
