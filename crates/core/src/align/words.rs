//! The words of one side of an aligner, as dense numbers.
//!
//! In: a training text, or the words of a saved model. Out: the number of a word, by vocab id.
//! How: ids come from one vocab shared by both sides; tables want dense numbers per side, frequent
//! words first.
//! Rare words that begin alike share a number, so that endings do not scatter what little is known
//! of them.
//! Cost: O(words + vocab).
//! Not: a stemmer; the beginning of a word is a poor man's stem in every language with endings.

use crate::corpus::{Bitext, Vocab};
use crate::narrow::to_u32;

/// The number of every word the model does not know.
pub const UNKNOWN: u32 = u32::MAX;

/// Words that occur at least this often stand for themselves.
const FREQUENT: u64 = 5;

/// Letters by which rare words are known.
const STEM_LETTERS: usize = 6;

/// From vocab ids to the numbers of one side.
#[derive(Debug, Clone, Default)]
pub struct Numbering(Vec<u32>);

impl Numbering {
    /// Numbers the words of `vocab` as a model does that knows `names`.
    pub fn new(names: &Vocab, vocab: &Vocab) -> Self {
        let number = |id| {
            let word = vocab.word(id);
            names.id(word).or_else(|| names.id(&stem_name(word))).unwrap_or(UNKNOWN)
        };
        Numbering((0..to_u32(vocab.len())).map(number).collect())
    }

    /// The number of a word, or `UNKNOWN`.
    pub fn number(&self, id: u32) -> u32 {
        self.0.get(id as usize).copied().unwrap_or(UNKNOWN)
    }
}

/// How often the words of a text occur on each side.
#[derive(Debug, Clone, Default)]
pub struct WordCounts {
    /// The words of both sides.
    pub vocab: Vocab,
    counts: [Vec<u64>; 2],
}

impl WordCounts {
    /// The counts of a whole bitext; its ids stay what they are.
    pub fn of(bitext: &Bitext) -> Self {
        let vocab = bitext.vocab().clone();
        let counts = [bitext.src(), bitext.tgt()].map(|side| {
            let mut counts = vec![0; vocab.len()];
            side.ids().iter().for_each(|&id| counts[id as usize] += 1);
            counts
        });
        WordCounts { vocab, counts }
    }

    /// Counts the words of a pair of lines.
    pub fn add_lines(&mut self, src: &str, tgt: &str) {
        for (side, line) in [src, tgt].into_iter().enumerate() {
            line.split_whitespace().for_each(|word| self.add(side, word, 1));
        }
    }

    /// Counts a word of a side, 0 the source and 1 the target.
    pub fn add(&mut self, side: usize, word: &str, count: u64) {
        let id = self.vocab.intern(word) as usize;
        let counts = &mut self.counts[side];
        if counts.len() <= id {
            counts.resize(id + 1, 0);
        }
        // Counts that are read from a file may be anything.
        counts[id] = counts[id].saturating_add(count);
    }

    /// The words of a side that occur there, with their counts, in the order of their ids.
    pub fn of_side(&self, side: usize) -> impl Iterator<Item = (&str, u64)> {
        let seen = (0u32..).zip(&self.counts[side]).filter(|&(_, &count)| count > 0);
        seen.map(|(id, &count)| (self.vocab.word(id), count))
    }

    /// The names under which a model knows the words of each side.
    pub fn names(&self) -> [Vocab; 2] {
        [0, 1].map(|side| names(self.of_side(side)))
    }
}

/// The names under which a model knows words that occur so often, most frequent first, ties by
/// name.
fn names<'a>(words: impl Iterator<Item = (&'a str, u64)>) -> Vocab {
    let mut stems = Vocab::default();
    let mut stem_totals: Vec<u64> = Vec::new();
    let mut totals: Vec<(u64, &str)> = Vec::new();
    for (word, count) in words {
        if count >= FREQUENT {
            totals.push((count, word));
            continue;
        }
        let stem = stems.intern(&stem_name(word)) as usize;
        stem_totals.resize(stems.len(), 0);
        stem_totals[stem] += count;
    }
    totals.extend((0u32..).zip(&stem_totals).map(|(stem, &total)| (total, stems.word(stem))));
    totals.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    let mut names = Vocab::default();
    totals.iter().for_each(|(_, name)| _ = names.intern(name));
    names
}

/// The name of a rare word: its beginning and a space, which no word contains. Numbers stay whole.
fn stem_name(word: &str) -> String {
    if word.contains(char::is_numeric) {
        return word.to_owned();
    }
    let mut name: String = word.chars().take(STEM_LETTERS).collect();
    name.push(' ');
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_words_share_a_number_with_words_that_begin_alike() {
        let mut counts = WordCounts::default();
        counts.add_lines("the the the the the minister ministers 1234567 1234568", "");
        let [names, _] = counts.names();
        let mut vocab = counts.vocab;
        let listed: Vec<&str> = (0..4).map(|number| names.word(number)).collect();
        assert_eq!(listed, ["the", "minist ", "1234567", "1234568"]);
        let new = vocab.intern("ministerial");
        let other = vocab.intern("unheard");
        let numbering = Numbering::new(&names, &vocab);
        assert_eq!(numbering.number(new), 1);
        assert_eq!(numbering.number(other), UNKNOWN);
        assert_eq!(numbering.number(9999), UNKNOWN);
    }
}
