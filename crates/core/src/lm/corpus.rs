//! The training text as a stream of word ids, spilled to disk beyond a memory limit.

use super::{EOS, RESERVED};
use crate::Job;
use crate::corpus::{LineReader, Vocab, WordId};
use crate::error::{Error, Place, Result};
use crate::narrow::to_u32;
use crate::parallel;
use crate::storage::{Spool, TempFolder};
use std::path::Path;
use std::sync::Arc;

/// Number of bytes of text that a thread converts to word ids at once.
const TEXT_BLOCK: usize = 1 << 20;

/// Size of a training text.
#[derive(Debug, Clone, Copy, Default)]
pub struct CorpusSize {
    /// Number of sentences.
    pub sentences: u64,
    /// Number of words, without sentence marks.
    pub words: u64,
    /// Length of the longest sentence in words.
    pub longest: u64,
}

impl CorpusSize {
    /// Limit `order` to the longest n-gram of the text: a sentence with `<s>` and `</s>`.
    pub fn order(&self, order: usize) -> usize {
        order.min(usize::try_from(self.longest).unwrap_or(usize::MAX).saturating_add(2))
    }
}

/// A training text as word ids; every sentence ends with `</s>`.
pub struct LmCorpus {
    vocab: Vocab,
    ids: Spool<WordId>,
    sentences: u64,
    longest: u64,
    folder: Arc<TempFolder>,
}

impl LmCorpus {
    /// Create an empty corpus that keeps up to `memory` bytes of text in memory and the remainder
    /// in `temp_dir` (`None`: the system's temporary folder).
    pub fn new(memory: usize, temp_dir: Option<&Path>) -> Self {
        let mut vocab = Vocab::default();
        for word in RESERVED {
            vocab.intern(word);
        }
        let folder = TempFolder::new(temp_dir);
        LmCorpus { vocab, ids: Spool::new(&folder, memory / 4), sentences: 0, longest: 0, folder }
    }

    /// Add a sentence of whitespace-separated words; `place` locates an error.
    pub fn push(&mut self, line: &str, place: impl FnOnce() -> Place) -> Result<()> {
        let mut length = 0;
        for word in line.split_whitespace() {
            let id = self.vocab.intern(word);
            if (id as usize) < RESERVED.len() {
                return Err(reserved_word_error(place(), word));
            }
            self.ids.push(id)?;
            length += 1;
        }
        self.longest = self.longest.max(length);
        self.sentences += 1;
        self.ids.push(EOS)
    }

    /// Add the lines of a file, plain or compressed.
    pub fn read(&mut self, path: &Path, job: &Job) -> Result<()> {
        let mut lines = LineReader::open(path)?;
        let mut number = 0;
        let mut ending = None;
        while ending.is_none() {
            let mut blocks = Vec::new();
            while blocks.len() < job.threads() && ending.is_none() {
                let (mut text, before) = (String::new(), number);
                ending = read_block(&mut lines, &mut text, &mut number);
                blocks.push((text, before));
            }
            let work = |(): &mut (), block: usize| {
                let (text, before) = &blocks[block];
                LmCorpus::from_lines(text, |line| Place::line(path, before + line))
            };
            let (parts, _) = parallel::map(blocks.len(), 1, job, || (), work)?;
            parts.iter().try_for_each(|part| self.extend(part))?;
            job.advance(number - blocks.first().map_or(0, |(_, before)| *before));
        }
        ending.unwrap_or(Ok(()))
    }

    /// Create an in-memory corpus from lines.
    fn from_lines(text: &str, place: impl Fn(u64) -> Place) -> Result<Self> {
        let mut corpus = LmCorpus::new(usize::MAX, None);
        for (number, line) in (1..).zip(text.split_terminator('\n')) {
            corpus.push(line, || place(number))?;
        }
        Ok(corpus)
    }

    /// Append the sentences of another corpus and renumber its words.
    fn extend(&mut self, other: &LmCorpus) -> Result<()> {
        let words = 0..to_u32(other.vocab.len());
        let numbers: Vec<_> = words.map(|id| self.vocab.intern(other.vocab.word(id))).collect();
        for id in other.ids.iter()? {
            self.ids.push(numbers[id? as usize])?;
        }
        self.longest = self.longest.max(other.longest);
        self.sentences += other.sentences;
        Ok(())
    }

    /// Return the number of sentences.
    pub fn sentences(&self) -> u64 {
        self.sentences
    }

    /// Return the size of the text.
    pub fn size(&self) -> CorpusSize {
        let (sentences, longest) = (self.sentences, self.longest);
        CorpusSize { sentences, words: self.ids.len() - sentences, longest }
    }

    /// Return the vocabulary; the reserved words come first.
    pub fn vocab(&self) -> &Vocab {
        &self.vocab
    }

    pub(super) fn folder(&self) -> &Arc<TempFolder> {
        &self.folder
    }

    /// Finish reading and return the vocabulary and all word ids.
    pub(super) fn into_parts(self) -> Result<(Vocab, Spool<WordId>)> {
        Ok((self.vocab, self.ids.finish()?))
    }
}

/// Append lines to `text` until it has `TEXT_BLOCK` bytes, and count them. Return `Some` at the end
/// of the file or on an error.
fn read_block(lines: &mut LineReader, text: &mut String, number: &mut u64) -> Option<Result<()>> {
    while text.len() < TEXT_BLOCK {
        match lines.next_str() {
            Ok(Some(line)) => {
                text.push_str(line);
                text.push('\n');
                *number += 1;
            }
            Ok(None) => return Some(Ok(())),
            Err(error) => return Some(Err(error)),
        }
    }
    None
}

fn reserved_word_error(place: Place, word: &str) -> Error {
    Error::Format {
        place,
        found: format!("the word `{word}`"),
        expected: "text without the model's own marks".into(),
        advice: "sentence marks are added by themselves; take them out or spell them otherwise"
            .into(),
    }
}
