//! A sentence with its tags and chunks.
//!
//! In: words, or factored tokens (`word|POS|chunk`), or ready layers. Out: text by layer and
//! position. Positions count from 1; before them everything is `<s>`, after them `</s>`.
//! Cost: one pass; tokens without escapes are borrowed.
//! Not: finding tags and chunks, which `annotate` does.

use crate::corpus::factor::unescape_bars as unescape;
use crate::narrow::{to_u32, to_usize};
use std::borrow::Cow;
use xxhash_rust::xxh3::xxh3_64;

/// What stands before the first word, in every layer.
pub const START: &str = "<s>";
/// What stands after the last word, in every layer.
pub const END: &str = "</s>";
/// The type of a word outside all chunks.
pub const OUTSIDE: &str = "O";

/// What is known about a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    /// The word.
    Word,
    /// Its part of speech.
    Tag,
    /// The type of its chunk.
    Chunk,
    /// The head word of its chunk.
    Head,
}

impl Layer {
    /// All layers, in the order of their numbers.
    pub const ALL: [Layer; 4] = [Layer::Word, Layer::Tag, Layer::Chunk, Layer::Head];
}

/// What text is annotated with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Annotation {
    /// Tags.
    pub tags: bool,
    /// Chunks and their heads.
    pub chunks: bool,
}

impl Annotation {
    /// Whether there is such a layer.
    pub fn has(self, layer: Layer) -> bool {
        match layer {
            Layer::Word => true,
            Layer::Tag => self.tags,
            Layer::Chunk | Layer::Head => self.chunks,
        }
    }

    /// Whether there is all that is needed.
    pub fn covers(self, needed: Annotation) -> bool {
        self.tags >= needed.tags && self.chunks >= needed.chunks
    }
}

/// How tags of nouns and verbs begin in UD, Penn, STTS and UniDic.
const NOUNS: [&str; 3] = ["N", "PROPN", "名詞"];
const NOT_NOUNS: [&str; 2] = ["NUM", "NEG"];
const VERBS: [&str; 2] = ["V", "動詞"];

/// Number of factors of a token at most.
pub const FACTORS: usize = 3;

/// A sentence; layers that are not there are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sentence<'a> {
    words: Vec<Cow<'a, str>>,
    tags: Vec<Cow<'a, str>>,
    types: Vec<Cow<'a, str>>,
    /// Where the head of each word's chunk stands, from 0.
    heads: Vec<u32>,
    /// Where each word's chunk starts, from 0; a word outside stands alone.
    groups: Vec<u32>,
}

/// What is wrong with a factored token: its place from 0, and what was found and expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadToken {
    /// Place in the sentence, from 0.
    pub at: usize,
    /// What was found.
    pub found: String,
    /// What was expected.
    pub expected: String,
}

impl<'a> Sentence<'a> {
    /// A sentence of plain words.
    pub fn of_words(words: impl IntoIterator<Item = &'a str>) -> Self {
        Sentence { words: words.into_iter().map(Cow::Borrowed).collect(), ..Sentence::default() }
    }

    /// A sentence of tokens with `factors` factors each: word, tag, chunk.
    pub fn of_factors(
        tokens: impl IntoIterator<Item = &'a str>,
        factors: usize,
    ) -> Result<Self, BadToken> {
        let mut sentence = Sentence::default();
        for (at, token) in tokens.into_iter().enumerate() {
            let count = token.split('|').count();
            if count != factors || count > FACTORS {
                let expected = match factors {
                    1..=FACTORS => format!("{factors} as in the first token"),
                    _ => format!("1 to {FACTORS}"),
                };
                return Err(BadToken { at, found: format!("{count} factors"), expected });
            }
            for (layer, factor) in token.split('|').enumerate() {
                if factor.is_empty() {
                    let (found, expected) = ("an empty factor", "text on both sides of `|`");
                    return Err(BadToken { at, found: found.into(), expected: expected.into() });
                }
                match layer {
                    0 => sentence.words.push(unescape(factor)),
                    1 => sentence.tags.push(unescape(factor)),
                    _ => sentence.push_chunk(at, unescape(factor))?,
                }
            }
        }
        sentence.find_heads();
        Ok(sentence)
    }

    /// A sentence of ready layers; tags and chunks may be empty. Chunks are types, heads and
    /// starts by position. None when the layers do not fit each other.
    pub fn of_layers(
        words: Vec<Cow<'a, str>>,
        tags: Vec<Cow<'a, str>>,
        types: Vec<Cow<'a, str>>,
        heads: Vec<u32>,
        groups: Vec<u32>,
    ) -> Option<Self> {
        let length = words.len();
        let fits = |layer: usize| layer == 0 || layer == length;
        let inside = |at: &u32| (*at as usize) < length;
        let same = types.len() == heads.len() && types.len() == groups.len();
        (fits(tags.len()) && fits(types.len()) && same && heads.iter().all(inside))
            .then_some(Sentence { words, tags, types, heads, groups })
    }

    /// Takes up an IOB2 tag.
    fn push_chunk(&mut self, at: usize, tag: Cow<'a, str>) -> Result<(), BadToken> {
        if tag == OUTSIDE {
            self.types.push(tag);
            self.groups.push(to_u32(at));
            return Ok(());
        }
        let Some((opens @ ("B" | "I"), kind)) =
            tag.split_once('-').filter(|(_, kind)| !kind.is_empty() && *kind != OUTSIDE)
        else {
            let expected = "`O`, `B-NP` or `I-NP`".into();
            return Err(BadToken { at, found: format!("chunk tag `{tag}`"), expected });
        };
        let group = match opens {
            "B" => to_u32(at),
            _ if self.types.last().is_some_and(|last| *last == kind) => self.groups[at - 1],
            _ => {
                let found = format!("chunk tag `{tag}` continues nothing");
                return Err(BadToken {
                    at,
                    found,
                    expected: format!("`B-{kind}` to open a chunk"),
                });
            }
        };
        self.groups.push(group);
        let kind = match tag {
            Cow::Borrowed(tag) => Cow::Borrowed(&tag[2..]),
            Cow::Owned(ref tag) => Cow::Owned(tag[2..].to_owned()),
        };
        self.types.push(kind);
        Ok(())
    }

    /// The last noun of an NP, the last verb of a VP, else the last word of the chunk (definitions Q-07).
    fn find_heads(&mut self) {
        let Sentence { tags, types, heads, groups, .. } = self;
        let mut start = 0;
        while start < groups.len() {
            let same = |at: &usize| groups[*at] == groups[start];
            let end = (start..groups.len()).take_while(same).last().unwrap_or(start);
            let leads = |at: &usize| can_head(&types[start], &tags[*at]);
            let head = (start..=end).rev().find(leads).unwrap_or(end);
            heads.resize(end + 1, to_u32(head));
            start = end + 1;
        }
    }

    /// Some of its words with their layers, as a sentence of its own, without chunks.
    pub fn slice(&self, range: std::ops::Range<usize>) -> Sentence<'a> {
        let of = |layer: &[Cow<'a, str>]| -> Vec<Cow<'a, str>> {
            layer.get(range.clone()).unwrap_or_default().to_vec()
        };
        Sentence { words: of(&self.words), tags: of(&self.tags), ..Sentence::default() }
    }

    /// Number of words.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there is no word.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// What there is besides the words; a sentence without words has everything.
    pub fn annotation(&self) -> Annotation {
        let is_full = |layer: &[Cow<'_, str>]| layer.len() == self.words.len();
        Annotation { tags: is_full(&self.tags), chunks: is_full(&self.types) }
    }

    /// Where the chunk of each word starts, from 0.
    pub fn groups(&self) -> &[u32] {
        &self.groups
    }

    /// Where the head of each word's chunk stands, from 0.
    pub fn heads(&self) -> &[u32] {
        &self.heads
    }

    /// What stands at a position, from 1; any number is a position. Panics when the layer is not
    /// there.
    pub fn at(&self, layer: Layer, position: i64) -> &str {
        if position < 1 {
            return START;
        }
        let at = to_usize(position) - 1;
        if at >= self.len() {
            return END;
        }
        match layer {
            Layer::Word => &self.words[at],
            Layer::Tag => &self.tags[at],
            Layer::Chunk => &self.types[at],
            Layer::Head => &self.words[self.heads[at] as usize],
        }
    }

    /// Whether two positions, from 1, are in one chunk.
    pub fn same_chunk(&self, from: u32, to: u32) -> bool {
        from > 0 && self.groups[from as usize - 1] == self.groups[to as usize - 1]
    }
}

fn can_head(kind: &str, tag: &str) -> bool {
    let starts = |with: &[&str]| with.iter().any(|start| tag.starts_with(start));
    match kind {
        "NP" => starts(&NOUNS) && !starts(&NOT_NOUNS),
        "VP" => starts(&VERBS),
        _ => false,
    }
}

/// The hash of a word, a tag, a chunk type.
pub fn hash_of(text: &str) -> u64 {
    xxh3_64(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn factored_tokens_are_taken_apart() {
        let tokens = "the|DET|B-NP small|ADJ|I-NP cat|NOUN|I-NP sat|VERB|B-VP down|ADV|I-VP .|.|O";
        let src = Sentence::of_factors(tokens.split(' '), 3).unwrap();
        assert_eq!(src.groups(), [0, 0, 0, 3, 3, 5]);
        assert_eq!(src.heads(), [2, 2, 2, 3, 3, 5]);
        assert_eq!(src.at(Layer::Chunk, 5), "VP");
        assert_eq!(src.at(Layer::Head, 1), "cat");
        assert!(src.same_chunk(1, 3) && !src.same_chunk(3, 4) && !src.same_chunk(0, 1));
        let bad = |tokens: &str, factors| {
            let bad = Sentence::of_factors(tokens.split(' '), factors).unwrap_err();
            format!("{}: {}; {}", bad.at, bad.found, bad.expected)
        };
        assert_eq!(bad("a|X b", 2), "1: 1 factors; 2 as in the first token");
        assert_eq!(bad("a|b|O|d", 4), "0: 4 factors; 1 to 3");
        assert_eq!(bad("a||O", 3), "0: an empty factor; text on both sides of `|`");
        assert_eq!(
            bad("a|X|O b|X|I-NP", 3),
            "1: chunk tag `I-NP` continues nothing; `B-NP` to open a chunk"
        );
        assert_eq!(bad("a|X|NP", 3), "0: chunk tag `NP`; `O`, `B-NP` or `I-NP`");
    }

    proptest! {
        #[test]
        fn any_tokens_are_a_sentence_or_an_error(line in "[a-z|&;#124BIO-]{0,40}", factors in 0usize..5) {
            let _ = Sentence::of_factors(line.split_whitespace(), factors);
        }
    }
}
