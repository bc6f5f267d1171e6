//! Learns the weights of a labeller: an averaged perceptron, trained as it will be used.
//!
//! In: sentences as forms, labels of an earlier pass, gold labels. Out: a `Labeller`.
//! How: label greedily with what is known so far and correct each mistake (Collins, 2002); the
//! weights are the averages over all steps. The history a word sees is the labels just guessed,
//! so that training meets the mistakes that tagging will make. Weights are whole numbers until
//! they are averaged, so the result does not depend on the order of additions.
//! Cost: epochs · words · features; 4 bytes per feature of a word.

use super::feature::{EDGE, View, push_fixed, push_history};
use super::form::Form;
use super::labeller::{Follows, Labeller, Weight};
use crate::error::Result;
use crate::job::Job;
use crate::narrow::{to_f32, to_u32, to_usize};
use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64;

/// A word that occurs less often tells nothing about its tags.
const LEAST_SEEN: u32 = 5;
/// A tag is among those of a word from this share of its occurrences on.
const SHARE_OF_TAG: u32 = 20;
/// Sentences between two looks at the job.
const BLOCK: usize = 64;

/// A sentence to learn from.
#[derive(Debug, Clone)]
pub(super) struct Example {
    pub forms: Vec<Form>,
    /// Labels of an earlier pass, plus 1; empty for the first.
    pub known: Vec<u64>,
    /// What is right.
    pub gold: Vec<u16>,
}

/// How to learn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Recipe {
    pub epochs: usize,
    pub seed: u64,
}

/// The weight of a label while it is learned.
#[derive(Debug, Clone, Copy)]
struct Cell {
    label: u16,
    weight: i32,
    /// Sum of the weight over all steps before `since`.
    total: i64,
    since: u32,
}

#[derive(Default)]
struct Learner {
    ids: FxHashMap<u64, u32>,
    keys: Vec<u64>,
    rows: Vec<Vec<Cell>>,
    step: u32,
}

impl Learner {
    fn row_of(&mut self, key: u64) -> u32 {
        let Learner { ids, keys, rows, .. } = self;
        *ids.entry(key).or_insert_with(|| {
            keys.push(key);
            rows.push(Vec::new());
            to_u32(keys.len()) - 1
        })
    }

    fn add(&self, row: u32, scores: &mut [i32]) {
        for cell in &self.rows[row as usize] {
            scores[usize::from(cell.label)] += cell.weight;
        }
    }

    fn change(&mut self, row: u32, label: u16, by: i32) {
        let step = self.step;
        let row = &mut self.rows[row as usize];
        let place = row.iter().position(|cell| cell.label == label).unwrap_or_else(|| {
            row.push(Cell { label, weight: 0, total: 0, since: step });
            row.len() - 1
        });
        let cell = &mut row[place];
        cell.total += i64::from(cell.weight) * i64::from(step - cell.since);
        cell.since = step;
        cell.weight += by;
    }

    /// The averages, as a labeller.
    fn finish(self, labels: Vec<String>, lexicon: Vec<(u64, u64)>) -> Labeller {
        let steps = f64::from(self.step.max(1));
        let mut order: Vec<u32> = (0..to_u32(self.keys.len())).collect();
        order.sort_unstable_by_key(|&row| self.keys[row as usize]);
        let (mut keys, mut ends, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        for row in order {
            let before = weights.len();
            for cell in &self.rows[row as usize] {
                let rest = i64::from(cell.weight) * i64::from(self.step - cell.since);
                let total = cell.total + rest;
                if total != 0 {
                    let weight = to_f32(total as f64 / steps);
                    weights.push(Weight { label: cell.label, weight });
                }
            }
            if weights.len() > before {
                weights[before..].sort_unstable_by_key(|weight| weight.label);
                keys.push(self.keys[row as usize]);
                ends.push(to_u32(weights.len()));
            }
        }
        Labeller::new(labels, lexicon, keys, ends, weights)
    }
}

/// What tags each word had, for words seen often enough, by ascending hash of the word.
fn lexicon_of(examples: &[&Example]) -> Vec<(u64, u64)> {
    let mut pairs: Vec<(u64, u16)> = examples
        .iter()
        .flat_map(|example| example.forms.iter().zip(&example.gold))
        .map(|(form, &label)| (form.word, label))
        .collect();
    pairs.sort_unstable();
    let of_one_word = pairs.chunk_by(|left, right| left.0 == right.0);
    of_one_word.filter(|pairs| to_u32(pairs.len()) >= LEAST_SEEN).map(tags_of).collect()
}

/// The word, and a hash of the tags that have their share of it.
fn tags_of(pairs: &[(u64, u16)]) -> (u64, u64) {
    let mut tags = Vec::new();
    for of_one_tag in pairs.chunk_by(|left, right| left.1 == right.1) {
        if to_u32(of_one_tag.len()) * SHARE_OF_TAG >= to_u32(pairs.len()) {
            tags.extend(of_one_tag[0].1.to_le_bytes());
        }
    }
    (pairs[0].0, xxh3_64(&tags) | 1)
}

/// Rows of the fixed features of all words, sentence after sentence.
struct Fixed {
    rows: Vec<u32>,
    /// Where the rows of each word end.
    ends: Vec<usize>,
}

fn number_fixed(
    learner: &mut Learner,
    examples: &[&Example],
    lexical: &[Vec<u64>],
    job: &Job,
) -> Result<Fixed> {
    let mut keys = Vec::new();
    let mut fixed = Fixed { rows: Vec::new(), ends: Vec::new() };
    for (number, (example, lexical)) in examples.iter().zip(lexical).enumerate() {
        if number.is_multiple_of(BLOCK) {
            job.check()?;
        }
        let view = View { forms: &example.forms, lexical, known: &example.known };
        for place in 0..example.forms.len() {
            keys.clear();
            push_fixed(&view, place, &mut keys);
            fixed.rows.extend(keys.iter().map(|&key| learner.row_of(key)));
            fixed.ends.push(fixed.rows.len());
        }
    }
    Ok(fixed)
}

/// Learns to give the gold labels.
pub(super) fn learn(
    examples: &[&Example],
    labels: &[String],
    recipe: Recipe,
    job: &Job,
) -> Result<Labeller> {
    let mut learner = Learner::default();
    let lexicon = lexicon_of(examples);
    let words: FxHashMap<u64, u64> = lexicon.iter().copied().collect();
    let lexical: Vec<Vec<u64>> = examples
        .iter()
        .map(|example| {
            let tags = |form: &Form| words.get(&form.word).copied().unwrap_or_default();
            example.forms.iter().map(tags).collect()
        })
        .collect();
    let fixed = number_fixed(&mut learner, examples, &lexical, job)?;
    let starts: Vec<usize> = examples
        .iter()
        .scan(0, |word, example| {
            *word += example.forms.len();
            Some(*word - example.forms.len())
        })
        .collect();
    let follows = Follows::of(labels);
    let mut order: Vec<usize> = (0..examples.len()).collect();
    let mut chance = Chance(recipe.seed);
    let (mut scores, mut keys) = (vec![0; labels.len()], Vec::new());
    for _ in 0..recipe.epochs {
        chance.shuffle(&mut order);
        for (number, &sentence) in order.iter().enumerate() {
            if number.is_multiple_of(BLOCK) {
                job.check()?;
            }
            let example = examples[sentence];
            let view =
                View { forms: &example.forms, lexical: &lexical[sentence], known: &example.known };
            let mut last = [EDGE; 2];
            let mut last_label = None;
            for (place, &gold) in example.gold.iter().enumerate() {
                let word = starts[sentence] + place;
                let start = if word == 0 { 0 } else { fixed.ends[word - 1] };
                let rows = &fixed.rows[start..fixed.ends[word]];
                keys.clear();
                push_history(&view, place, last, &mut keys);
                scores.fill(0);
                rows.iter().for_each(|&row| learner.add(row, &mut scores));
                for key in &keys {
                    if let Some(&row) = learner.ids.get(key) {
                        learner.add(row, &mut scores);
                    }
                }
                let label = follows.best(&scores, last_label);
                learner.step += 1;
                if label != gold {
                    for &row in rows {
                        learner.change(row, gold, 1);
                        learner.change(row, label, -1);
                    }
                    for &key in &keys {
                        let row = learner.row_of(key);
                        learner.change(row, gold, 1);
                        learner.change(row, label, -1);
                    }
                }
                last = [u64::from(label) + 1, last[0]];
                last_label = Some(label);
            }
            job.advance(1);
        }
    }
    Ok(learner.finish(labels.to_vec(), lexicon))
}

/// Numbers that look random and are the same on every machine (splitmix64).
pub(super) struct Chance(pub u64);

impl Chance {
    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Puts items into another order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, to_usize(self.next() % (last as u64 + 1)));
        }
    }
}
