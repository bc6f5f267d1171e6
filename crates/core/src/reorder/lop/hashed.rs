//! A sentence as hashes of its words and tags, with both ends filled up.
//!
//! In: an annotated sentence, as text or out of a corpus. Out: hashes by position, from -1 (the
//! start) to the length (the end), and where the same tag stood last.
//! Cost: linear; the memory is used again.

use crate::corpus::annotated::{AnnotatedText, END, Layer, START, Sentence, hash_of};
use crate::narrow::{to_i64, to_u32};

/// A sentence as hashes; positions count from 0.
#[derive(Debug, Default, Clone)]
pub struct Hashed {
    /// One place before the sentence, one after it.
    words: Vec<u64>,
    tags: Vec<u64>,
    /// By position: one more than the place of the same tag before it, 0 when there is none.
    last_same: Vec<u32>,
    has_tags: bool,
}

impl Hashed {
    /// Takes up a sentence of text; tags only if they are wanted.
    pub fn fill(&mut self, src: &Sentence<'_>, wants_tags: bool) {
        let layer = |layer| (1..=to_i64(src.len())).map(move |at| hash_of(src.at(layer, at)));
        let tags = (wants_tags && src.annotation().tags).then(|| layer(Layer::Tag));
        self.take(src.len(), layer(Layer::Word), tags);
    }

    /// Takes up a sentence of a corpus; tags only if they are wanted.
    pub fn fill_from(&mut self, text: &AnnotatedText, number: usize, wants_tags: bool) {
        let wants_tags = wants_tags && text.annotation().tags;
        let tags = wants_tags.then(|| text.hashes(number, Layer::Tag));
        self.take(text.range(number).len(), text.hashes(number, Layer::Word), tags);
    }

    fn take(
        &mut self,
        length: usize,
        words: impl Iterator<Item = u64>,
        tags: Option<impl Iterator<Item = u64>>,
    ) {
        let Hashed { words: own_words, tags: own_tags, last_same, has_tags } = self;
        let (start, end) = (hash_of(START), hash_of(END));
        own_words.clear();
        own_words.push(start);
        own_words.extend(words);
        own_words.push(end);
        *has_tags = tags.is_some();
        own_tags.clear();
        own_tags.push(start);
        match tags {
            Some(tags) => own_tags.extend(tags),
            None => own_tags.resize(length + 1, 0),
        }
        own_tags.push(end);
        last_same.clear();
        let inner = &own_tags[1..=length];
        for (at, tag) in inner.iter().enumerate() {
            let last = inner[..at].iter().rposition(|other| other == tag);
            last_same.push(last.map_or(0, |last| to_u32(last) + 1));
        }
    }

    /// Number of words.
    pub fn len(&self) -> usize {
        self.last_same.len()
    }

    /// Whether there is no word.
    pub fn is_empty(&self) -> bool {
        self.last_same.is_empty()
    }

    /// Whether there are tags.
    pub fn has_tags(&self) -> bool {
        self.has_tags
    }

    /// The word at a position, counted from 1; 0 is the start.
    #[inline]
    pub fn word(&self, position: usize) -> u64 {
        self.words[position]
    }

    /// The tag at a position, counted from 1; 0 is the start.
    #[inline]
    pub fn tag(&self, position: usize) -> u64 {
        self.tags[position]
    }

    /// Whether the tag at a position, from 1, stands nowhere between `low` and it.
    #[inline]
    pub fn is_first(&self, position: usize, low: usize) -> bool {
        self.last_same[position - 1] as usize <= low
    }
}
