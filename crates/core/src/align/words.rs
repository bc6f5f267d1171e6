//! The words of one side of an aligner, as dense numbers.
//!
//! In: a training text, or the words of a saved model. Out: the number of a word, by vocab id.
//! How: ids come from one vocab shared by both sides; tables want dense numbers per side, frequent
//! words first.
//! Rare words that begin alike share a number, so that endings do not scatter what little is known
//! of them.
//! Cost: O(words + vocab).
//! Not: a stemmer; the beginning of a word is a poor man's stem in every language with endings.

use crate::corpus::{Text, Vocab};
use crate::narrow::to_u32;
use rustc_hash::FxHashMap;

/// The number of every word the model does not know.
pub const UNKNOWN: u32 = u32::MAX;

/// Words that occur at least this often stand for themselves.
const FREQUENT: u32 = 5;

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

/// The names under which a model knows the words of `text`, most frequent first, ties by name.
pub fn names(text: &Text, vocab: &Vocab) -> Vocab {
    let mut counts = vec![0u32; vocab.len()];
    for &id in text.ids() {
        counts[id as usize] += 1;
    }
    let mut totals: FxHashMap<String, u32> = FxHashMap::default();
    for (id, count) in (0u32..).zip(counts).filter(|&(_, count)| count > 0) {
        let word = vocab.word(id);
        let name = if count >= FREQUENT { word.to_owned() } else { stem_name(word) };
        *totals.entry(name).or_default() += count;
    }
    let mut totals: Vec<(String, u32)> = totals.into_iter().collect();
    totals.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let mut names = Vocab::default();
    totals.iter().for_each(|(name, _)| _ = names.intern(name));
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
        let mut vocab = Vocab::default();
        let mut text = Text::default();
        text.push_line("the the the the the minister ministers 1234567 1234568", &mut vocab);
        let names = names(&text, &vocab);
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
