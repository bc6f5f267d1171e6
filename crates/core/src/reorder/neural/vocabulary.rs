//! Which words and tags have a row of the embedding.
//!
//! In: a corpus, or the lists of a file. Out: the rows of each word of a sentence: that of the
//! word, and that of its tag when the model looks at tags.
//! How: the most frequent words that occur often enough; row 0 is for all others. Tags follow the
//! words, with a row for unknown ones before them.
//! Cost: one look-up a word and layer.

use crate::corpus::annotated::{Layer, Sentence};
use crate::narrow::{to_i64, to_u32};
use crate::reorder::Corpus;
use rustc_hash::FxHashMap;

/// Words and tags, each with a number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Vocabulary {
    words: Vec<String>,
    /// None: the model does not look at tags.
    tags: Option<Vec<String>>,
    word_rows: FxHashMap<String, u32>,
    tag_rows: FxHashMap<String, u32>,
}

impl Vocabulary {
    /// From lists; none when something stands in one of them twice.
    pub fn new(words: Vec<String>, tags: Option<Vec<String>>) -> Option<Vocabulary> {
        let rows = |texts: &[String], first: u32| -> FxHashMap<String, u32> {
            texts.iter().cloned().zip(first..).collect()
        };
        let word_rows = rows(&words, 1);
        let tag_rows = rows(tags.as_deref().unwrap_or_default(), to_u32(words.len()) + 2);
        let count = tags.as_ref().map_or(0, Vec::len);
        let is_distinct = word_rows.len() == words.len() && tag_rows.len() == count;
        is_distinct.then_some(Vocabulary { words, tags, word_rows, tag_rows })
    }

    /// The `most` most frequent words of a corpus that occur `min_count` times, and all tags if
    /// they are wanted.
    pub fn of(corpus: &Corpus, min_count: u32, most: usize, wants_tags: bool) -> Vocabulary {
        let words = counted(corpus, Layer::Word, min_count, most);
        let tags = wants_tags.then(|| counted(corpus, Layer::Tag, 1, most));
        Vocabulary::new(words, tags).unwrap_or_default()
    }

    /// Rows of the embedding that it takes.
    pub fn rows(&self) -> usize {
        self.words.len() + 1 + self.tags.as_ref().map_or(0, |tags| tags.len() + 1)
    }

    /// Rows that stand for one word.
    pub fn layers(&self) -> usize {
        1 + usize::from(self.tags.is_some())
    }

    /// The words, from row 1 on.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// The tags, if the model looks at them.
    pub fn tags(&self) -> Option<&[String]> {
        self.tags.as_deref()
    }

    /// Adds the rows of all words of a sentence.
    pub fn push_rows(&self, src: &Sentence<'_>, rows: &mut Vec<u32>) {
        for at in 1..=to_i64(src.len()) {
            rows.push(self.word_rows.get(src.at(Layer::Word, at)).copied().unwrap_or(0));
            if self.tags.is_some() {
                let unknown = to_u32(self.words.len()) + 1;
                rows.push(self.tag_rows.get(src.at(Layer::Tag, at)).copied().unwrap_or(unknown));
            }
        }
    }
}

/// What stands in a layer often enough, the most frequent first, then by text.
fn counted(corpus: &Corpus, layer: Layer, min_count: u32, most: usize) -> Vec<String> {
    let mut counts: FxHashMap<String, u32> = FxHashMap::default();
    for number in 0..corpus.len() {
        let src = corpus.text().sentence(number);
        for at in 1..=to_i64(src.len()) {
            let text = src.at(layer, at);
            match counts.get_mut(text) {
                Some(count) => *count += 1,
                None => drop(counts.insert(text.to_owned(), 1)),
            }
        }
    }
    let mut kept: Vec<(u32, String)> = Vec::new();
    kept.extend(counts.drain().filter(|(_, count)| *count >= min_count).map(|(t, c)| (!c, t)));
    kept.sort_unstable();
    kept.truncate(most);
    kept.into_iter().map(|(_, text)| text).collect()
}
