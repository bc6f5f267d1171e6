//! Annotated source sentences with the order in which they are translated.
//!
//! In: factored source text, the target text and the links between them, line by line.
//! Out: word, tag, chunk type and chunk head of every word as numbers, and orders by the mean of
//! target positions (SPEC a.1).
//! Cost: one pass, 4 bytes a word and layer, and the vocabulary.

use super::sentence::{LAYERS, Prepared, Sentence, hash_of};
use crate::Job;
use crate::align::{Link, Links};
use crate::corpus::{LineReader, Vocab, WordId};
use crate::error::{Error, Place, Result};
use crate::reorder::order::{Heuristic, order_from_links};
use std::borrow::Cow;
use std::path::Path;

/// Lines between two looks at the job.
const BLOCK: usize = 1 << 12;

/// Sentences and their orders.
#[derive(Debug, Clone, Default)]
pub struct Corpus {
    vocab: Vocab,
    /// Hash of each word, tag and type, by number.
    hashes: Vec<u64>,
    words: Vec<WordId>,
    tags: Vec<WordId>,
    types: Vec<WordId>,
    heads: Vec<u32>,
    groups: Vec<u32>,
    orders: Vec<u32>,
    /// Where each sentence ends.
    ends: Vec<usize>,
}

impl Corpus {
    /// Reads factored source text (`word`, `word|POS` or `word|POS|chunk`), target text and links.
    pub fn read(src: &Path, tgt: &Path, links: &Path, job: &Job) -> Result<Self> {
        let mut corpus = Corpus::default();
        let mut files = [LineReader::open(src)?, LineReader::open(tgt)?, LineReader::open(links)?];
        let mut factors = 0;
        let mut own = Vec::new();
        loop {
            let [src_lines, tgt_lines, link_lines] = &mut files;
            let number = corpus.len() as u64 + 1;
            let (src_line, tgt_line, link_line) =
                (src_lines.next_str()?, tgt_lines.next_str()?, link_lines.next_str()?);
            let (Some(src_line), Some(tgt_line), Some(link_line)) = (src_line, tgt_line, link_line)
            else {
                let lines = [(src, src_line), (tgt, tgt_line), (links, link_line)];
                uneven(&lines.map(|(path, line)| (path, line.is_some())), number - 1)?;
                return Ok(corpus);
            };
            if factors == 0 {
                let first = src_line.split_whitespace().next();
                factors = first.map_or(0, |token| token.split('|').count());
            }
            let sentence = Sentence::of_factors(src_line.split_whitespace(), factors)
                .map_err(|bad| bad_token(Place::line(src, number), src_line, bad))?;
            own.clear();
            Links::parse_line(link_line, Place::line(links, number), &mut own)?;
            let lengths = (sentence.len(), tgt_line.split_whitespace().count());
            Links::check_inside(&own, lengths, Place::line(links, number))?;
            corpus.push(&sentence, &own)?;
            if corpus.len().is_multiple_of(BLOCK) {
                job.check()?;
                job.advance(BLOCK as u64);
            }
        }
    }

    /// Adds a sentence; all with words must have the same layers.
    pub fn push(&mut self, sentence: &Sentence<'_>, links: &[Link]) -> Result<()> {
        let layers = (sentence.has_tags(), sentence.has_chunks());
        if !sentence.is_empty()
            && !self.words.is_empty()
            && layers != (self.has_tags(), self.has_chunks())
        {
            return Err(Error::Argument {
                name: "sentences".into(),
                found: format!("other layers at number {}", self.len() + 1),
                expected: "those of the first".into(),
            });
        }
        self.orders.extend(order_from_links(sentence.len(), links, Heuristic::Mean)?);
        let Corpus { vocab, hashes, words, tags, types, .. } = self;
        let mut intern = |text: &str| {
            let id = vocab.intern(text);
            if id as usize == hashes.len() {
                hashes.push(hash_of(text));
            }
            id
        };
        for at in 1..=sentence.len() as i64 {
            use super::sentence::Layer::{Chunk, Tag, Word};
            words.push(intern(sentence.at(Word, at)));
            if sentence.has_tags() {
                tags.push(intern(sentence.at(Tag, at)));
            }
            if sentence.has_chunks() {
                types.push(intern(sentence.at(Chunk, at)));
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

    /// Whether there are tags.
    pub fn has_tags(&self) -> bool {
        self.tags.len() == self.words.len()
    }

    /// Whether there are chunks.
    pub fn has_chunks(&self) -> bool {
        self.types.len() == self.words.len()
    }

    fn range(&self, number: usize) -> std::ops::Range<usize> {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        start..self.ends[number]
    }

    /// The order of a sentence, from 0.
    pub fn order(&self, number: usize) -> &[u32] {
        &self.orders[self.range(number)]
    }

    /// Makes a sentence ready for the templates.
    pub fn prepare(&self, number: usize, out: &mut Prepared) {
        let range = self.range(number);
        let chunks = self.has_chunks();
        let has: [bool; LAYERS] = [true, self.has_tags(), chunks, chunks];
        let groups = if chunks { &self.groups[range.clone()] } else { &[] };
        let (first, hash) = (range.start, |id: WordId| self.hashes[id as usize]);
        out.fill(range.len(), has, groups, |layer, at| match layer {
            0 => hash(self.words[first + at]),
            1 => hash(self.tags[first + at]),
            2 => hash(self.types[first + at]),
            _ => hash(self.words[first + self.heads[first + at] as usize]),
        });
    }

    /// The text of a sentence.
    pub fn sentence(&self, number: usize) -> Sentence<'_> {
        let range = self.range(number);
        let texts = |layer: &[WordId]| -> Vec<Cow<'_, str>> {
            let own = layer.get(range.clone()).unwrap_or_default();
            own.iter().map(|&id| Cow::Borrowed(self.vocab.word(id))).collect()
        };
        let numbers = |layer: &[u32]| layer.get(range.clone()).unwrap_or_default().to_vec();
        Sentence::of_layers(
            texts(&self.words),
            texts(&self.tags),
            texts(&self.types),
            numbers(&self.heads),
            numbers(&self.groups),
        )
        .unwrap_or_default()
    }
}

/// What to say about a bad token of a factored line.
fn bad_token(place: Place, line: &str, bad: super::sentence::BadToken) -> Error {
    let token = line.split_whitespace().nth(bad.at).unwrap_or_default();
    let token: String = token.chars().take(40).collect();
    Error::Format {
        place,
        found: format!("token {} (`{token}`): {}", bad.at + 1, bad.found),
        expected: bad.expected,
        advice: "write a `|` inside a word as `&#124;`".into(),
    }
}

/// Complains when some files go on where others have ended.
fn uneven(files: &[(&Path, bool)], lines: u64) -> Result<()> {
    let longer = files.iter().find(|(_, goes_on)| *goes_on);
    let shorter = files.iter().find(|(_, goes_on)| !goes_on);
    match (longer, shorter) {
        (Some((longer, _)), Some((shorter, _))) => Err(Error::Mismatch {
            place: Place::line(longer, lines + 1),
            found: format!("{} has only {lines} lines", shorter.display()),
            advice: "do all files come from the same corpus?".into(),
        }),
        _ => Ok(()),
    }
}
