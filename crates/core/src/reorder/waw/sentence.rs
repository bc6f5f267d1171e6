//! A source sentence with its tags and chunks, and its numbers ready for the templates.
//!
//! In: words, or factored tokens (`word|POS|chunk`). Out: `Sentence`, text by layer and position;
//! `Prepared`, the same as hashes with both ends of the sentence filled up.
//! Positions count from 1 here; before them everything is `<s>`, after them `</s>`.
//! Cost: one hash a word and layer.

use crate::corpus::unescape_bars as unescape;
use std::borrow::Cow;
use xxhash_rust::xxh3::xxh3_64;

/// What stands before the first word, in every layer.
pub const START: &str = "<s>";
/// What stands after the last word, in every layer.
pub const END: &str = "</s>";
/// The type of a word outside all chunks.
pub const OUTSIDE: &str = "O";

/// What a template can look at.
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

/// Number of layers.
pub const LAYERS: usize = 4;
/// Layers that can be looked at as lists.
const LISTS: usize = 2;

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
            self.groups.push(at as u32);
            return Ok(());
        }
        let Some((opens @ ("B" | "I"), kind)) =
            tag.split_once('-').filter(|(_, kind)| !kind.is_empty() && *kind != OUTSIDE)
        else {
            let expected = "`O`, `B-NP` or `I-NP`".into();
            return Err(BadToken { at, found: format!("chunk tag `{tag}`"), expected });
        };
        let group = match opens {
            "B" => at as u32,
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

    /// The last noun of an NP, the last verb of a VP, else the last word of the chunk (SPEC Q-07).
    fn find_heads(&mut self) {
        let Sentence { tags, types, heads, groups, .. } = self;
        let mut start = 0;
        while start < groups.len() {
            let same = |at: &usize| groups[*at] == groups[start];
            let end = (start..groups.len()).take_while(same).last().unwrap_or(start);
            let leads = |at: &usize| can_head(&types[start], &tags[*at]);
            let head = (start..=end).rev().find(leads).unwrap_or(end);
            heads.resize(end + 1, head as u32);
            start = end + 1;
        }
    }

    /// Number of words.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there is no word.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether there are tags; a sentence without words has everything.
    pub fn has_tags(&self) -> bool {
        self.tags.len() == self.words.len()
    }

    /// Whether there are chunks.
    pub fn has_chunks(&self) -> bool {
        self.types.len() == self.words.len()
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
        let at = position as usize - 1;
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

/// What each further word of a list multiplies the ones before it by.
const STEP: u64 = 0xa076_1d64_78bd_642f;

/// The hash of a list of hashes; that of a single one is itself.
pub fn list_of(words: impl Iterator<Item = u64>) -> u64 {
    words.fold(0, |sum: u64, word| sum.wrapping_mul(STEP).wrapping_add(word))
}

/// A sentence as hashes; the memory is reused.
#[derive(Debug, Default)]
pub struct Prepared {
    length: usize,
    /// Layer after layer; a layer has two places before the sentence and two after it.
    cells: Vec<u64>,
    /// For words and tags, hashes of all beginnings of the sentence.
    sums: Vec<u64>,
    /// Powers of `STEP`.
    powers: Vec<u64>,
    /// For words and tags, by position: where the same stood last, or 0.
    before: Vec<u32>,
    /// Where it stands next, or a place behind the sentence.
    after: Vec<u32>,
    groups: Vec<u32>,
}

impl Prepared {
    /// Takes up a sentence of so many words; `cell` gives the hash in a layer at a position from
    /// 0, for layers that are there. `groups` is empty without chunks.
    pub fn fill(
        &mut self,
        length: usize,
        has: [bool; LAYERS],
        groups: &[u32],
        cell: impl Fn(usize, usize) -> u64,
    ) {
        self.length = length;
        self.cells.clear();
        self.sums.clear();
        self.before.clear();
        self.after.clear();
        self.groups.clear();
        self.groups.extend_from_slice(groups);
        let (start, end) = (hash_of(START), hash_of(END));
        for (layer, has) in has.into_iter().enumerate() {
            self.cells.extend([start; 3]);
            match has {
                true => self.cells.extend((0..length).map(|at| cell(layer, at))),
                false => self.cells.resize(self.cells.len() + length, 0),
            }
            self.cells.push(end);
        }
        for layer in 0..LISTS {
            self.find_repeats(layer);
        }
        while self.powers.len() <= length {
            self.powers.push(self.powers.last().map_or(1, |power| power.wrapping_mul(STEP)));
        }
    }

    /// Takes up a sentence of text.
    pub fn fill_from(&mut self, src: &Sentence<'_>) {
        let (tags, chunks) = (src.has_tags(), src.has_chunks());
        self.fill(src.len(), [true, tags, chunks, chunks], &src.groups, |layer, at| {
            hash_of(match layer {
                0 => &src.words[at],
                1 => &src.tags[at],
                2 => &src.types[at],
                _ => &src.words[src.heads[at] as usize],
            })
        });
    }

    /// Running sums, and where the same stood before.
    fn find_repeats(&mut self, layer: usize) {
        let own = &self.cells[layer * self.stride() + 3..][..self.length];
        let mut sum = 0_u64;
        self.sums.push(sum);
        let first = self.after.len();
        self.after.resize(first + self.length, u32::MAX);
        for (at, &cell) in own.iter().enumerate() {
            sum = sum.wrapping_mul(STEP).wrapping_add(cell);
            self.sums.push(sum);
            // Sentences are short, and the word before is most often not far.
            let last = own[..at].iter().rposition(|&other| other == cell);
            self.before.push(last.map_or(0, |last| last as u32 + 1));
            if let Some(last) = last {
                self.after[first + last] = at as u32 + 1;
            }
        }
    }

    fn stride(&self) -> usize {
        self.length + 4
    }

    /// Number of words.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there is no word.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// What stands so far from a position, from -2 to 1.
    #[inline]
    pub fn at(&self, layer: Layer, position: u32, offset: i8) -> u64 {
        let place = (layer as usize * self.stride() + position as usize + 2) as isize;
        self.cells[(place + isize::from(offset)) as usize]
    }

    /// The list of what stands between two positions.
    #[inline]
    pub fn list(&self, layer: Layer, low: usize, high: usize) -> u64 {
        let sums = &self.sums[layer as usize * (self.length + 1)..][..=self.length];
        sums[high - 1].wrapping_sub(sums[low].wrapping_mul(self.powers[high - 1 - low]))
    }

    /// Whether what stands at a position does not stand between it and `low` as well.
    #[inline]
    pub fn is_first(&self, layer: Layer, position: usize, low: usize) -> bool {
        self.before[layer as usize * self.length + position - 1] as usize <= low
    }

    /// Whether what stands at a position does not stand between it and `high` as well.
    #[inline]
    pub fn is_last(&self, layer: Layer, position: usize, high: usize) -> bool {
        self.after[layer as usize * self.length + position - 1] as usize >= high
    }

    /// Whether two positions are in one chunk.
    #[inline]
    pub fn same_chunk(&self, from: u32, to: u32) -> bool {
        from > 0 && self.groups[from as usize - 1] == self.groups[to as usize - 1]
    }
}
