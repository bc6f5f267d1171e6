//! Dense word numbers of each side of an aligner.
//!
//! In: a training text, or the words of a saved model. Out: the number of a word, by vocabulary id.
//! How: ids come from one vocabulary of both sides; tables need dense numbers per side, frequent
//! words first. Rare words with the same prefix share a number, which pools the statistics of
//! inflected forms.
//! Cost: O(words + vocabulary).
//! Not: a stemmer; a prefix approximates the stem in languages with suffixes.

use crate::corpus::{Bitext, Text, Vocab};
use crate::narrow::to_u32;

/// The number of every unknown word.
pub const UNKNOWN: u32 = u32::MAX;

/// Minimal frequency of a word with a number of its own.
const FREQUENT: u64 = 5;

/// Length of the prefix of a rare word, in characters.
const STEM_LETTERS: usize = 6;

/// A map from vocabulary ids to the word numbers of one side.
#[derive(Debug, Clone, Default)]
pub struct WordNumbering(Vec<u32>);

impl WordNumbering {
    /// Number the words of `vocab` by a model's vocabulary `names`.
    pub fn new(names: &Vocab, vocab: &Vocab) -> Self {
        let number = |id| {
            let word = vocab.word(id);
            names.id(word).or_else(|| names.id(&stem_name(word))).unwrap_or(UNKNOWN)
        };
        WordNumbering((0..to_u32(vocab.len())).map(number).collect())
    }

    /// Return the number of a word, or `UNKNOWN`.
    pub fn number(&self, id: u32) -> u32 {
        self.0.get(id as usize).copied().unwrap_or(UNKNOWN)
    }
}

/// Maximal sentence length. Longer lines are rarely sentences, and the cost is quadratic.
pub const MAX_WORDS: usize = 1000;

/// A bitext with the word numbers of both sides.
#[derive(Debug, Clone, Copy)]
pub struct NumberedBitext<'a> {
    /// The source side.
    pub src: &'a Text,
    /// The target side.
    pub tgt: &'a Text,
    /// Word numbers of the source side.
    pub src_numbers: &'a WordNumbering,
    /// Word numbers of the target side.
    pub tgt_numbers: &'a WordNumbering,
}

impl<'a> NumberedBitext<'a> {
    /// Combine a bitext with the numberings of its sides.
    pub fn new(bitext: &'a Bitext, [src_numbers, tgt_numbers]: [&'a WordNumbering; 2]) -> Self {
        NumberedBitext { src: bitext.src(), tgt: bitext.tgt(), src_numbers, tgt_numbers }
    }

    /// Return the number of sentence pairs.
    pub fn len(&self) -> usize {
        self.src.len()
    }

    /// Return whether pair `k` can have links: each side has 1 to `MAX_WORDS` words.
    pub fn is_alignable(&self, k: usize) -> bool {
        let fits = |side: &[u32]| (1..=MAX_WORDS).contains(&side.len());
        fits(self.src.sentence(k)) && fits(self.tgt.sentence(k))
    }
}

/// Word frequencies of each side of a text.
#[derive(Debug, Clone, Default)]
pub struct WordCounts {
    /// Vocabulary of both sides.
    pub vocab: Vocab,
    counts: [Vec<u64>; 2],
}

impl WordCounts {
    /// Count the words of a bitext; its ids remain valid.
    pub fn count(bitext: &Bitext) -> Self {
        let vocab = bitext.vocab().clone();
        let counts = [bitext.src(), bitext.tgt()].map(|side| {
            let mut counts = vec![0; vocab.len()];
            side.ids().iter().for_each(|&id| counts[id as usize] += 1);
            counts
        });
        WordCounts { vocab, counts }
    }

    /// Count the words of a pair of lines.
    pub fn add_lines(&mut self, src: &str, tgt: &str) {
        for (side, line) in [src, tgt].into_iter().enumerate() {
            line.split_whitespace().for_each(|word| self.add(side, word, 1));
        }
    }

    /// Add `count` occurrences of a word to a side (0: source, 1: target).
    pub fn add(&mut self, side: usize, word: &str, count: u64) {
        let id = self.vocab.intern(word) as usize;
        let counts = &mut self.counts[side];
        if counts.len() <= id {
            counts.resize(id + 1, 0);
        }
        // Counts read from a file may be arbitrary.
        counts[id] = counts[id].saturating_add(count);
    }

    /// Return the words that occur on a side with their counts, in the order of ids.
    pub fn of_side(&self, side: usize) -> impl Iterator<Item = (&str, u64)> {
        let seen = (0u32..).zip(&self.counts[side]).filter(|&(_, &count)| count > 0);
        seen.map(|(id, &count)| (self.vocab.word(id), count))
    }

    /// Return the model's vocabulary of each side: words and prefixes of rare words.
    pub fn names(&self) -> [Vocab; 2] {
        [0, 1].map(|side| names(self.of_side(side)))
    }
}

/// Return the model's vocabulary for words with these counts, most frequent first, ties by name.
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

/// Return the name of a rare word: its prefix and a space, which no word contains. Words with
/// digits are not shortened.
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
        let numbering = WordNumbering::new(&names, &vocab);
        assert_eq!(numbering.number(new), 1);
        assert_eq!(numbering.number(other), UNKNOWN);
        assert_eq!(numbering.number(9999), UNKNOWN);
    }
}
