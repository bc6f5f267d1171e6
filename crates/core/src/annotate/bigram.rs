//! Text as pairs of neighbouring words, for clustering.
//!
//! In: lines of words. Out: `Units` (what is clustered: words, and one stand-in for all rare words
//! that look alike) and for every unit its neighbours on both sides with counts.
//! How: a word that occurs too rarely is replaced by its shape and its last two letters, or by its
//! shape alone when that is rare as well; so a new word has a class, too.
//! Cost: one pass and two sorts of the distinct pairs; 8 bytes a pair and side.

use super::form::shape_of;
use crate::corpus::{LineReader, Text, Vocab};
use crate::error::Result;
use crate::job::Job;
use crate::narrow::to_u32;
use std::path::Path;

/// Lines between two looks at the job.
const BLOCK: usize = 1 << 12;
/// Letters of a rare word's ending that its stand-in keeps.
const ENDING: usize = 2;
/// Begins the name of a stand-in; a token cannot, because a space is in it.
const MARK: char = ' ';

/// What is clustered, most frequent first.
#[derive(Debug, Default)]
pub(super) struct Units {
    /// Words, and stand-ins (their names begin with a space).
    pub names: Vocab,
    /// How often each occurs.
    pub counts: Vec<u64>,
}

/// Neighbours of every unit on one side: units and how often, in the order of units.
#[derive(Debug, Default)]
pub(super) struct Neighbours {
    starts: Vec<usize>,
    pairs: Vec<(u32, u32)>,
}

impl Neighbours {
    /// The neighbours of a unit.
    pub fn of(&self, unit: usize) -> &[(u32, u32)] {
        &self.pairs[self.starts[unit]..self.starts[unit + 1]]
    }

    /// From pairs of a unit and its neighbour, sorted here and counted.
    fn count(mut found: Vec<(u32, u32)>, units: usize) -> Self {
        found.sort_unstable();
        let mut neighbours = Neighbours { starts: vec![0; units + 1], pairs: Vec::new() };
        for same in found.chunk_by(|left, right| left == right) {
            let (unit, neighbour) = same[0];
            neighbours.pairs.push((neighbour, u32::try_from(same.len()).unwrap_or(u32::MAX)));
            neighbours.starts[unit as usize + 1] = neighbours.pairs.len();
        }
        let mut last = 0;
        for start in &mut neighbours.starts {
            last = last.max(*start);
            *start = last;
        }
        neighbours
    }
}

/// A text as units; the number after the last unit is the edge of a sentence.
#[derive(Debug, Default)]
pub(super) struct Bigrams {
    pub units: Units,
    pub before: Neighbours,
    pub after: Neighbours,
    /// Number of sentences with words in them.
    pub sentences: u64,
}

/// Reads a file of lines.
pub(super) fn read(path: &Path, job: &Job) -> Result<(Text, Vocab)> {
    let mut lines = LineReader::open(path)?;
    let (mut text, mut vocab) = (Text::default(), Vocab::default());
    while let Some(line) = lines.next_str()? {
        text.push_line(line, &mut vocab);
        if text.len().is_multiple_of(BLOCK) {
            job.check()?;
        }
    }
    Ok((text, vocab))
}

/// The stand-in of a rare word: its shape and its ending, or its shape alone.
pub(super) fn stand_in(word: &str, with_ending: bool) -> String {
    let shape = shape_of(word);
    if !with_ending {
        return format!("{MARK}{shape}");
    }
    let lower = word.to_lowercase();
    let start = lower.char_indices().rev().take(ENDING).last().map_or(0, |(at, _)| at);
    format!("{MARK}{shape}-{}", &lower[start..])
}

/// Numbers the units of a text by falling frequency and counts their neighbours.
pub(super) fn count(text: &Text, vocab: &Vocab, min_count: u64, job: &Job) -> Result<Bigrams> {
    let mut counts = vec![0_u64; vocab.len()];
    text.ids().iter().for_each(|&word| counts[word as usize] += 1);
    let (chosen, unit_of) = choose_units(vocab, &counts, min_count);
    let (units, renamed) = by_frequency(&chosen);
    let edge = to_u32(units.counts.len());
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let mut sentences = 0;
    for (number, sentence) in text.sentences().enumerate() {
        if number.is_multiple_of(BLOCK) {
            job.check()?;
        }
        let mut last = edge;
        for &word in sentence {
            let unit = renamed[unit_of[word as usize] as usize];
            before.push((unit, last));
            if last != edge {
                after.push((last, unit));
            }
            last = unit;
        }
        if !sentence.is_empty() {
            after.push((last, edge));
            sentences += 1;
        }
    }
    let before = Neighbours::count(before, units.counts.len());
    job.check()?;
    let after = Neighbours::count(after, units.counts.len());
    Ok(Bigrams { units, before, after, sentences })
}

/// Units in order of appearance, and the unit of each word.
fn choose_units(vocab: &Vocab, counts: &[u64], min_count: u64) -> (Units, Vec<u32>) {
    let mut endings = Units::default();
    let is_rare = |word: u32| counts[word as usize] < min_count;
    let words = 0..to_u32(vocab.len());
    for word in words.clone().filter(|&word| is_rare(word)) {
        endings.add(&stand_in(vocab.word(word), true), counts[word as usize]);
    }
    let mut units = Units::default();
    let unit_of = words
        .map(|word| {
            let (name, count) = (vocab.word(word), counts[word as usize]);
            if !is_rare(word) {
                return units.add(name, count);
            }
            let long = stand_in(name, true);
            let is_common =
                endings.names.id(&long).is_some_and(|id| endings.counts[id as usize] >= min_count);
            units.add(&if is_common { long } else { stand_in(name, false) }, count)
        })
        .collect();
    (units, unit_of)
}

/// The same units by falling frequency, and the new number of each.
fn by_frequency(found: &Units) -> (Units, Vec<u32>) {
    let mut order: Vec<u32> = (0..to_u32(found.counts.len())).collect();
    order.sort_by_key(|&unit| std::cmp::Reverse(found.counts[unit as usize]));
    let mut units = Units::default();
    let mut renamed = vec![0; order.len()];
    for unit in order {
        renamed[unit as usize] = units.add(found.names.word(unit), found.counts[unit as usize]);
    }
    (units, renamed)
}

impl Units {
    fn add(&mut self, name: &str, count: u64) -> u32 {
        let id = self.names.intern(name);
        if id as usize == self.counts.len() {
            self.counts.push(0);
        }
        self.counts[id as usize] += count;
        id
    }
}
