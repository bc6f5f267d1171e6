//! Pairs of source words: which ones two translations reverse, and which one alone does.
//!
//! In: for each sentence the links to a translation, as the smallest target position of each
//! source word (`link_keys`); weights of words. Out: `PairCounts` of two translations.
//! How: only words that are linked on both sides count (definitions j.5 and j.6). A pair is
//! reversed where the later word has the smaller key; equal keys keep the order.
//! Cost: O(n²) a sentence of n linked words, some 1 ns a pair.
//! Not: scores, references, penalties; those are Python (`wayword.evaluate.linked`).

use crate::align::Link;
use crate::error::{Error, Result};
use crate::narrow::to_u32;

/// The key of a source word that has no link.
pub const UNLINKED: u32 = u32::MAX;
/// Bins of the distance between two words: 1–2, 3–5, 6–10, more.
pub const BINS: usize = 4;

/// How many pairs are reversed in both translations, in the first, and in the second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reversed {
    /// In both.
    pub both: u32,
    /// In the first, whatever the second does.
    pub first: u32,
    /// In the second, whatever the first does.
    pub second: u32,
}

/// What two translations of a sentence do with its words.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PairCounts {
    /// Source words that are linked on both sides.
    pub linked: u32,
    /// Their weights together.
    pub weight: f64,
    /// Pairs that one of the two alone reverses.
    pub wrong: u32,
    /// The weights of both words of these pairs together.
    pub wrong_weight: f64,
    /// Reversed pairs by distance.
    pub reversed: [Reversed; BINS],
    /// Those of them with a word that has weight.
    pub weighted: [Reversed; BINS],
}

/// For each of `length` source words its smallest target position, or `UNLINKED`.
pub fn link_keys(length: usize, links: &[Link]) -> Result<Vec<u32>> {
    let mut keys = vec![UNLINKED; length];
    for link in links {
        let key = keys.get_mut(link.src.index()).ok_or_else(|| Error::Argument {
            name: "links".into(),
            found: format!("{}-{}", link.src.0, link.tgt.0),
            expected: format!("source positions below {length}"),
        })?;
        *key = link.tgt.0.min(*key);
    }
    Ok(keys)
}

/// A word that is linked on both sides.
#[derive(Debug, Clone, Copy)]
struct Judged {
    place: usize,
    first: u32,
    second: u32,
    weight: f64,
}

/// Counts pairs of words in sentence after sentence, with memory that is used again.
#[derive(Debug, Default)]
pub struct PairCounter {
    judged: Vec<Judged>,
}

impl PairCounter {
    /// The counts of a sentence from the keys of two translations. Without `weights` no word has
    /// any.
    pub fn count(&mut self, first: &[u32], second: &[u32], weights: Option<&[f64]>) -> PairCounts {
        self.judged.clear();
        for (place, (&first, &second)) in first.iter().zip(second).enumerate() {
            if first != UNLINKED && second != UNLINKED {
                let weight = weights.map_or(0.0, |weights| weights[place]);
                self.judged.push(Judged { place, first, second, weight });
            }
        }
        let mut counts = PairCounts {
            linked: to_u32(self.judged.len()),
            weight: self.judged.iter().map(|word| word.weight).sum(),
            ..PairCounts::default()
        };
        for (at, later) in self.judged.iter().enumerate() {
            for earlier in &self.judged[..at] {
                counts.add(*earlier, *later);
            }
        }
        counts
    }
}

impl PairCounts {
    fn add(&mut self, earlier: Judged, later: Judged) {
        let (first, second) = (earlier.first > later.first, earlier.second > later.second);
        if !first && !second {
            return;
        }
        let weight = earlier.weight + later.weight;
        if first != second {
            self.wrong += 1;
            self.wrong_weight += weight;
        }
        let bin = bin_of(later.place - earlier.place);
        self.reversed[bin].add(first, second);
        if weight > 0.0 {
            self.weighted[bin].add(first, second);
        }
    }
}

impl Reversed {
    fn add(&mut self, first: bool, second: bool) {
        self.both += u32::from(first && second);
        self.first += u32::from(first);
        self.second += u32::from(second);
    }
}

fn bin_of(distance: usize) -> usize {
    match distance {
        0..=2 => 0,
        3..=5 => 1,
        6..=10 => 2,
        _ => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(length: usize, links: &[(u32, u32)]) -> Vec<u32> {
        let links: Vec<Link> = links.iter().map(|&(src, tgt)| Link::new(src, tgt)).collect();
        link_keys(length, &links).unwrap()
    }

    /// *er hat den Tee getrunken*: *he has drunk the tea*.
    const REFERENCE: [(u32, u32); 5] = [(0, 0), (1, 1), (4, 2), (2, 3), (3, 4)];

    #[test]
    fn a_verb_left_behind_misses_two_pairs() {
        let straight = keys(5, &[(0, 0), (1, 1), (2, 2), (3, 3), (4, 4)]);
        let reference = keys(5, &REFERENCE);
        let counts = PairCounter::default().count(&straight, &reference, None);
        assert_eq!((counts.linked, counts.wrong), (5, 2));
        let missed = Reversed { both: 0, first: 0, second: 2 }; // 2-4 and 3-4: distances 2 and 1
        assert_eq!(
            counts.reversed,
            [missed, Reversed::default(), Reversed::default(), Reversed::default()]
        );
        assert_eq!(counts.weighted, [Reversed::default(); BINS]);
    }

    #[test]
    fn words_without_a_link_on_either_side_are_not_judged() {
        let output = keys(5, &[(0, 0), (1, 1), (4, 2), (3, 3)]);
        let verbs = [0.0, 1.0, 0.0, 0.0, 1.0];
        let counts = PairCounter::default().count(&output, &keys(5, &REFERENCE), Some(&verbs));
        assert_eq!((counts.linked, counts.wrong), (4, 0));
        assert_eq!(counts.reversed[0], Reversed { both: 1, first: 1, second: 1 });
        assert_eq!(counts.weighted[0], Reversed { both: 1, first: 1, second: 1 });
        assert!((counts.weight - 2.0).abs() < 1e-12);
    }

    #[test]
    fn the_smallest_position_counts_and_equal_ones_keep_the_order() {
        assert_eq!(keys(3, &[(1, 4), (1, 2), (0, 2)]), [2, 2, UNLINKED]);
        let counts = PairCounter::default().count(&[2, 2], &[1, 0], None);
        assert_eq!(counts.reversed[0], Reversed { both: 0, first: 0, second: 1 });
    }

    #[test]
    fn distances_have_four_bins() {
        assert_eq!([1, 2, 3, 5, 6, 10, 11, 99].map(bin_of), [0, 0, 1, 1, 2, 2, 3, 3]);
    }

    #[test]
    fn a_link_outside_is_refused() {
        let error = link_keys(2, &[Link::new(2, 0)]).unwrap_err();
        assert_eq!(error.to_string(), "links: found 2-0; expected source positions below 2");
    }
}
