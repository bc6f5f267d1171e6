//! Are the two sides of a phrase pair together more often than chance would have it?
//!
//! In: a corpus, and the phrases of a table. Out: −ln p of a pair by Fisher's exact test, one-sided
//! (Johnson, Martin, Foster and Kuhn, 2007), from the number of sentence pairs that
//! contain the source phrase, the target phrase, and both, aligned or not.
//! How: for every phrase the sorted list of its sentence pairs; lists are intersected.
//! Cost: 4 bytes a phrase occurrence of either side; an intersection a pair, quick because
//! one of the lists is mostly short.

use crate::Job;
use crate::corpus::Text;
use crate::error::{Error, Result};
use crate::extract::{ListReader, PhraseSet};
use crate::narrow::{to_u32, to_usize};
use crate::storage::Blob;
use rustc_hash::FxHashMap;

/// Distance of the named thresholds from that of a pair seen once, both sides once.
const EPSILON: f64 = 0.001;
/// Sentences between two looks at the job.
const BLOCK: usize = 1 << 10;

/// Least −ln p of a pair that is kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Threshold {
    /// Just above that of a pair whose sides each occur once, so that those are dropped.
    AlphaPlus,
    /// Just below it, so that those are kept.
    AlphaMinus,
    /// This number.
    Value(f64),
}

impl Threshold {
    /// The threshold of a name (`a+e`, `a-e`) or number.
    pub fn named(name: &str) -> Result<Self> {
        let value = name.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0);
        match (name, value) {
            ("a+e", _) => Ok(Threshold::AlphaPlus),
            ("a-e", _) => Ok(Threshold::AlphaMinus),
            (_, Some(value)) => Ok(Threshold::Value(value)),
            _ => Err(Error::Argument {
                name: "significance".into(),
                found: format!("`{name}`"),
                expected: "`a+e`, `a-e` or a number of at least 0".into(),
            }),
        }
    }

    fn value(self, sentences: u64) -> f64 {
        let alpha = (sentences.max(1) as f64).ln();
        match self {
            Threshold::AlphaPlus => alpha + EPSILON,
            Threshold::AlphaMinus => alpha - EPSILON,
            Threshold::Value(value) => value,
        }
    }
}

/// Fisher's exact test for a corpus of some size.
#[derive(Debug)]
pub struct Fisher {
    sentences: u64,
    ln_factorials: Vec<f64>,
}

/// Values of the test that a thread has found: by the numbers of sentence pairs with both phrases,
/// the source phrase, the target phrase.
pub type Known = FxHashMap<(u32, u32, u32), f64>;

impl Fisher {
    /// The test for so many sentence pairs.
    pub fn new(sentences: u64) -> Self {
        let mut ln_factorials = Vec::with_capacity(to_usize(sentences) + 1);
        let mut sum = 0.0;
        ln_factorials.push(sum);
        for number in 1..=sentences {
            sum += (number as f64).ln();
            ln_factorials.push(sum);
        }
        Fisher { sentences, ln_factorials }
    }

    /// −ln p for the numbers of sentence pairs with both phrases, the source phrase, the target
    /// phrase; never below 0.
    pub fn minus_ln_p(&self, both: u32, src: u32, tgt: u32) -> f64 {
        self.compute(u64::from(both), u64::from(src), u64::from(tgt)).max(0.0)
    }

    fn compute(&self, both: u64, src: u64, tgt: u64) -> f64 {
        let all = self.sentences;
        if (both, src, tgt) == (1, 1, 1) {
            return (all as f64).ln(); // exactly, so that the named thresholds hold
        }
        let both = both.max((src + tgt).saturating_sub(all));
        let ln = |number: u64| self.ln_factorials[to_usize(number)];
        let choose = |from: u64, some: u64| ln(from) - ln(some) - ln(from - some);
        let first = choose(src, both) + choose(all - src, tgt - both) - choose(all, tgt);
        let (mut term, mut sum) = (1.0f64, 1.0f64);
        for k in both..src.min(tgt) {
            let up = (src - k) as f64 * (tgt - k) as f64;
            let down = (k + 1) as f64 * (all + k + 1 - src - tgt) as f64;
            term *= up / down;
            sum += term;
            if term < sum * 1e-18 {
                break;
            }
        }
        if sum.is_finite() { -(first + sum.ln()) } else { 0.0 }
    }
}

/// For every phrase of a list the sentences that contain it.
#[derive(Debug)]
struct Postings {
    starts: Vec<u64>,
    sentences: Vec<u32>,
}

impl Postings {
    /// `list` holds phrases as codes, `codes` the code of each word id of `text`, if it has one.
    fn new(
        list: &Blob,
        text: &Text,
        codes: &[Option<u32>],
        max_length: usize,
        job: &Job,
    ) -> Result<Self> {
        let mut set = PhraseSet::default();
        let mut reader = ListReader::new(list);
        while !reader.is_at_end() && reader.advance().is_some() {
            set.intern(&reader.phrase);
        }
        // First all phrases of all sentences in a row, then sorted by phrase.
        let mut met: Vec<u32> = Vec::new();
        let mut ends: Vec<usize> = Vec::with_capacity(text.len());
        let mut last = vec![u32::MAX; set.len()];
        let mut starts = vec![0u64; set.len() + 1];
        let mut words: Vec<Option<u32>> = Vec::new();
        let mut phrase: Vec<u32> = Vec::new();
        for (number, ids) in text.sentences().enumerate() {
            words.clear();
            words.extend(ids.iter().map(|&id| codes[id as usize]));
            for first in 0..words.len() {
                phrase.clear();
                for word in words[first..].iter().take(max_length) {
                    let Some(word) = word else { break };
                    phrase.push(*word);
                    let Some(place) = set.find(&phrase) else { continue };
                    if std::mem::replace(&mut last[place as usize], to_u32(number))
                        != to_u32(number)
                    {
                        met.push(place);
                        starts[place as usize + 1] += 1;
                    }
                }
            }
            ends.push(met.len());
            if number % BLOCK == 0 {
                job.check()?;
            }
        }
        for place in 0..set.len() {
            starts[place + 1] += starts[place];
        }
        let mut next = starts.clone();
        let mut sentences = vec![0; met.len()];
        let mut start = 0;
        for (number, &end) in ends.iter().enumerate() {
            for &place in &met[start..end] {
                let slot = &mut next[place as usize];
                sentences[to_usize(*slot)] = to_u32(number);
                *slot += 1;
            }
            start = end;
        }
        Ok(Postings { starts, sentences })
    }

    fn of(&self, phrase: u32) -> &[u32] {
        let phrase = phrase as usize;
        &self.sentences[to_usize(self.starts[phrase])..to_usize(self.starts[phrase + 1])]
    }
}

/// Number of sentences in both sorted lists.
fn in_both(first: &[u32], second: &[u32]) -> u32 {
    let (short, mut long) =
        if first.len() < second.len() { (first, second) } else { (second, first) };
    let mut count = 0;
    for &sentence in short {
        // Gallop: double the step until it is too far, then halve.
        let mut step = 1;
        while step < long.len() && long[step] < sentence {
            step *= 2;
        }
        let from = step / 2;
        let to = long.len().min(step + 1);
        let at = from + long[from..to].partition_point(|&other| other < sentence);
        count += u32::from(long.get(at) == Some(&sentence));
        long = &long[at..];
        if long.is_empty() {
            break;
        }
    }
    count
}

/// Tells which phrase pairs are significant in a corpus.
#[derive(Debug)]
pub struct Significance {
    fisher: Fisher,
    threshold: f64,
    src: Postings,
    tgt: Postings,
}

/// One side of the corpus, and the phrases to look for.
pub struct Phrases<'a> {
    /// The sorted list of phrases, as codes.
    pub list: &'a Blob,
    /// The sentences.
    pub text: &'a Text,
    /// The code of each word id of the sentences.
    pub codes: Vec<Option<u32>>,
}

impl Significance {
    /// Finds the phrases of both sides in the corpus.
    pub fn new(
        src: &Phrases<'_>,
        tgt: &Phrases<'_>,
        max_length: usize,
        threshold: Threshold,
        job: &Job,
    ) -> Result<Self> {
        let sentences = src.text.len() as u64;
        Ok(Significance {
            fisher: Fisher::new(sentences),
            threshold: threshold.value(sentences),
            src: Postings::new(src.list, src.text, &src.codes, max_length, job)?,
            tgt: Postings::new(tgt.list, tgt.text, &tgt.codes, max_length, job)?,
        })
    }

    /// Whether a pair of phrases, by number in their lists, passes the test.
    pub fn keeps(&self, src: u32, tgt: u32, known: &mut Known) -> bool {
        let (src, tgt) = (self.src.of(src), self.tgt.of(tgt));
        let both = in_both(src, tgt);
        let key = (both, to_u32(src.len()), to_u32(tgt.len()));
        let value =
            *known.entry(key).or_insert_with(|| self.fisher.minus_ln_p(key.0, key.1, key.2));
        both > 0 && value >= self.threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_worked_examples() {
        let fisher = Fisher::new(1000);
        let expected = [
            ((1, 1, 1), 6.907755),
            ((2, 2, 2), 13.121363),
            ((1, 2, 1), 6.214608),
            ((1, 2, 2), 5.521962),
            ((2, 2, 3), 12.022751),
            ((3, 5, 4), 15.241130),
            ((10, 20, 15), 33.840043),
        ];
        for ((both, src, tgt), value) in expected {
            assert!((fisher.minus_ln_p(both, src, tgt) - value).abs() < 1e-6, "{both} {src} {tgt}");
        }
        assert_eq!(fisher.minus_ln_p(1, 1, 1), 1000f64.ln());
        assert!(Threshold::AlphaPlus.value(1000) > 1000f64.ln());
        assert!(Threshold::AlphaMinus.value(1000) < 1000f64.ln());
        assert!(Threshold::named("-1").is_err());
        assert_eq!(Threshold::named("3.5").unwrap(), Threshold::Value(3.5));
    }

    proptest! {
        #[test]
        fn fisher_equals_the_sum_of_all_tables(all in 1u64..30, src in 1u64..30, tgt in 1u64..30, both in 0u64..30) {
            let (src, tgt) = (src.min(all), tgt.min(all));
            let both = both.min(src).min(tgt).max((src + tgt).saturating_sub(all));
            let choose = |from: u64, some: u64| -> f64 {
                (0..some).map(|k| (from - k) as f64 / (k + 1) as f64).product()
            };
            let slow: f64 = (both..=src.min(tgt))
                .map(|k| choose(src, k) * choose(all - src, tgt - k) / choose(all, tgt))
                .sum();
            let fast = Fisher::new(all).minus_ln_p(both as u32, src as u32, tgt as u32);
            prop_assert!((fast - (-slow.ln()).max(0.0)).abs() < 1e-9, "{} {}", fast, -slow.ln());
        }

        #[test]
        fn galloping_counts_what_sets_count(
            first in proptest::collection::btree_set(0u32..60, 0..20),
            second in proptest::collection::btree_set(0u32..60, 0..60),
        ) {
            let lists: (Vec<u32>, Vec<u32>) =
                (first.iter().copied().collect(), second.iter().copied().collect());
            let both: BTreeSet<_> = first.intersection(&second).collect();
            prop_assert_eq!(in_both(&lists.0, &lists.1), both.len() as u32);
        }
    }
}
