//! Python's view of `wayword::evaluate`.

use crate::border::enter;
use crate::view::View;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use std::collections::HashMap;
use std::sync::Arc;
use wayword::align::Link;
use wayword::error::Error;
use wayword::evaluate::{self, Edits, PairCounter, PairCounts, Reversed};
use wayword::narrow::to_u32;
use wayword::parallel::{self, BLOCK};

/// The types of keys and of counts, as numpy names them.
const KEYS: &str = if cfg!(target_endian = "little") { "<u4" } else { ">u4" };
const COUNTS: &str = if cfg!(target_endian = "little") { "<f8" } else { ">f8" };
/// Four counts of words and pairs, and three numbers a bin, twice.
const COLUMNS: usize = 4 + 2 * 3 * evaluate::BINS;

/// The smallest target position of every source word, sentence after sentence.
#[pyfunction]
pub fn link_keys(
    py: Python<'_>,
    links: Vec<Vec<(u32, u32)>>,
    lengths: Vec<usize>,
) -> PyResult<View> {
    let keys = enter(py, 1, None, |_| {
        let mut keys = Vec::with_capacity(lengths.iter().sum());
        for (of_pair, &length) in links.iter().zip(&lengths) {
            let of_pair: Vec<Link> = of_pair.iter().map(|&(i, j)| Link::new(i, j)).collect();
            keys.extend(evaluate::link_keys(length, &of_pair)?);
        }
        Ok(keys)
    })?;
    Ok(View::of(Arc::new(keys), KEYS, |own: &Vec<u32>| own))
}

/// Counts of word pairs by two translations, a row a sentence: linked words, their weight, pairs
/// that one side reverses, their weight; then for each distance pairs reversed by both, by the
/// first and by the second; then the same for pairs with weight.
#[pyfunction]
pub fn pair_counts(
    py: Python<'_>,
    first: &[u8],
    second: &[u8],
    lengths: Vec<usize>,
    weights: Option<&[u8]>,
) -> PyResult<View> {
    let rows = enter(py, 1, None, |_| {
        let (first, second) = (keys_of(first), keys_of(second));
        let weights: Option<Vec<f64>> = weights.map(|bytes| {
            bytes.as_chunks::<8>().0.iter().map(|&bytes| f64::from_ne_bytes(bytes)).collect()
        });
        let words: usize = lengths.iter().sum();
        for (name, length) in [
            ("first", first.len()),
            ("second", second.len()),
            ("weights", weights.as_ref().map_or(words, Vec::len)),
        ] {
            if length != words {
                return Err(Error::Argument {
                    name: name.into(),
                    found: format!("{length} words"),
                    expected: format!("{words}"),
                });
            }
        }
        let mut counter = PairCounter::default();
        let mut rows = Vec::with_capacity(lengths.len());
        let mut start = 0;
        for length in lengths {
            let words = start..start + length;
            let of_sentence = weights.as_ref().map(|weights| &weights[words.clone()]);
            let counts = counter.count(&first[words.clone()], &second[words], of_sentence);
            rows.push(row(&counts));
            start += length;
        }
        Ok(rows)
    })?;
    let rows = Arc::new(rows);
    Ok(View::of(rows, COUNTS, |own: &Vec<[f64; COLUMNS]>| own).in_columns(COLUMNS))
}

fn keys_of(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks::<4>().0.iter().map(|&bytes| u32::from_ne_bytes(bytes)).collect()
}

fn row(counts: &PairCounts) -> [f64; COLUMNS] {
    let mut numbers = [0.0; COLUMNS];
    numbers[0] = f64::from(counts.linked);
    numbers[1] = counts.weight;
    numbers[2] = f64::from(counts.wrong);
    numbers[3] = counts.wrong_weight;
    let bins = counts.reversed.iter().chain(&counts.weighted);
    for (cells, &Reversed { both, first, second }) in numbers[4..].chunks_mut(3).zip(bins) {
        cells.copy_from_slice(&[both, first, second].map(f64::from));
    }
    numbers
}

/// The least edits that turn each text into one of its references; words are parted by one space.
#[pyfunction]
pub fn ter_edits(
    py: Python<'_>,
    texts: Vec<PyBackedStr>,
    refs: Vec<Vec<PyBackedStr>>,
    threads: usize,
) -> PyResult<Vec<u32>> {
    enter(py, threads, None, |job| {
        if texts.len() != refs.len() {
            return Err(Error::Argument {
                name: "refs".into(),
                found: format!("those of {} texts", refs.len()),
                expected: format!("those of {}", texts.len()),
            });
        }
        let least = |edits: &mut Edits, number: usize| {
            let mut known = HashMap::new();
            let words = numbers(&texts[number], &mut known);
            let of_refs = refs[number].iter();
            let counts = of_refs.map(|text| edits.count(&words, &numbers(text, &mut known)));
            Ok(counts.min().unwrap_or_default())
        };
        Ok(parallel::map(texts.len(), BLOCK, job, Edits::default, least)?.0)
    })
}

/// The words of a text as numbers, the same for the same word.
fn numbers<'t>(text: &'t str, known: &mut HashMap<&'t str, u32>) -> Vec<u32> {
    let words = text.split(' ').filter(|word| !word.is_empty());
    words
        .map(|word| {
            let next = to_u32(known.len());
            *known.entry(word).or_insert(next)
        })
        .collect()
}
