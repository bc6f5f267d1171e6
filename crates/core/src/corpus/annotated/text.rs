//! Many annotated sentences as numbers.
//!
//! In: sentences, all with the same layers. Out: word, tag, chunk type and chunk head of every
//! word as text or as a hash.
//! Cost: 4 bytes a word and layer, and the vocabulary with one hash for each of its entries.

use super::sentence::{Annotation, Layer, Sentence, hash_of};
use crate::corpus::{Vocab, WordId};
use crate::error::{Error, Result};
use crate::narrow::to_i64;
use std::borrow::Cow;
use std::ops::Range;

/// Sentences with their layers.
#[derive(Debug, Clone, Default)]
pub struct AnnotatedText {
    vocab: Vocab,
    /// Hash of each word, tag and type, by number.
    hashes: Vec<u64>,
    words: Vec<WordId>,
    tags: Vec<WordId>,
    types: Vec<WordId>,
    heads: Vec<u32>,
    groups: Vec<u32>,
    /// Where each sentence ends.
    ends: Vec<usize>,
}

impl AnnotatedText {
    /// Adds a sentence; all with words must have the same layers.
    pub fn push(&mut self, sentence: &Sentence<'_>) -> Result<()> {
        let annotation = sentence.annotation();
        if !sentence.is_empty() && !self.words.is_empty() && annotation != self.annotation() {
            return Err(Error::Argument {
                name: "sentences".into(),
                found: format!("other layers at number {}", self.len() + 1),
                expected: "those of the first".into(),
            });
        }
        let AnnotatedText { vocab, hashes, words, tags, types, .. } = self;
        let mut intern = |text: &str| {
            let id = vocab.intern(text);
            if id as usize == hashes.len() {
                hashes.push(hash_of(text));
            }
            id
        };
        for at in 1..=to_i64(sentence.len()) {
            words.push(intern(sentence.at(Layer::Word, at)));
            if annotation.tags {
                tags.push(intern(sentence.at(Layer::Tag, at)));
            }
            if annotation.chunks {
                types.push(intern(sentence.at(Layer::Chunk, at)));
            }
        }
        self.heads.extend_from_slice(sentence.heads());
        self.groups.extend_from_slice(sentence.groups());
        self.ends.push(self.words.len());
        Ok(())
    }

    /// Number of sentences.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no sentence.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Number of words.
    pub fn words(&self) -> usize {
        self.words.len()
    }

    /// What there is besides the words.
    pub fn annotation(&self) -> Annotation {
        let is_full = |layer: &[WordId]| layer.len() == self.words.len();
        Annotation { tags: is_full(&self.tags), chunks: is_full(&self.types) }
    }

    /// Where the words of a sentence stand among all words; panics when there is no such sentence.
    pub fn range(&self, number: usize) -> Range<usize> {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        start..self.ends[number]
    }

    /// The hashes of a sentence in a layer, word by word; panics when the layer is not there.
    pub fn hashes(&self, number: usize, layer: Layer) -> impl Iterator<Item = u64> {
        let range = self.range(number);
        let first = range.start;
        range.map(move |at| {
            let id = match layer {
                Layer::Word => self.words[at],
                Layer::Tag => self.tags[at],
                Layer::Chunk => self.types[at],
                Layer::Head => self.words[first + self.heads[at] as usize],
            };
            self.hashes[id as usize]
        })
    }

    /// Where the chunk of each word of a sentence starts, from 0; empty without chunks.
    pub fn groups(&self, number: usize) -> &[u32] {
        self.groups.get(self.range(number)).unwrap_or_default()
    }

    /// The text of a sentence.
    pub fn sentence(&self, number: usize) -> Sentence<'_> {
        let range = self.range(number);
        let texts = |layer: &[WordId]| -> Vec<Cow<'_, str>> {
            let ids = layer.get(range.clone()).unwrap_or_default();
            ids.iter().map(|&id| Cow::Borrowed(self.vocab.word(id))).collect()
        };
        let heads = self.heads.get(range.clone()).unwrap_or_default().to_vec();
        Sentence::of_layers(
            texts(&self.words),
            texts(&self.tags),
            texts(&self.types),
            heads,
            self.groups(number).to_vec(),
        )
        .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_come_back_as_they_were() {
        let lines = ["the|DET|B-NP cat|NOUN|I-NP", "", "sat|VERB|B-VP down|ADV|I-VP .|.|O"];
        let mut text = AnnotatedText::default();
        for line in lines {
            text.push(&Sentence::of_factors(line.split_whitespace(), 3).unwrap()).unwrap();
        }
        assert_eq!((text.len(), text.words()), (3, 5));
        for (number, line) in lines.into_iter().enumerate() {
            let sentence = Sentence::of_factors(line.split_whitespace(), 3).unwrap();
            assert_eq!(text.sentence(number), sentence);
            for layer in Layer::ALL {
                let hashes: Vec<u64> =
                    (1..=sentence.len() as i64).map(|at| hash_of(sentence.at(layer, at))).collect();
                assert_eq!(text.hashes(number, layer).collect::<Vec<_>>(), hashes);
            }
        }
    }

    #[test]
    fn other_layers_are_refused() {
        let mut text = AnnotatedText::default();
        text.push(&Sentence::of_words(["a"])).unwrap();
        let error = text.push(&Sentence::of_factors(["a|X"], 2).unwrap()).unwrap_err();
        let expected = "sentences: found other layers at number 2; expected those of the first";
        assert_eq!(error.to_string(), expected);
        assert_eq!(text.len(), 1);
    }
}
