//! A mapped n-gram model and its queries.
//!
//! In: a state (the relevant history) and a word. Out: the log probability of the word and the next
//! state. How: one probe per order from the unigram up; the sign of a probability tells whether a
//! longer n-gram exists, so a probe that must fail is skipped. The state carries the backoffs of
//! the history.
//! Cost: no allocation; mapping a file takes the time to check its header.
//! Safety: every read is bounds-checked, so damaged bytes give wrong scores at worst; `verified`
//! detects the damage and is called before scores are returned to the user.

use super::binary_layout::{
    BinaryHeader, BinaryLayout, CACHE_LINE, FORMER_MAGIC, LAST_FLAG, LONG_SLOT, ProbingTable, SEAL,
    SHORT_SLOT, extend_hash, home_line, read_score, stored_hash, unigram_hash, word_hash,
};
use super::ngram::{NgramIter, ScoredNgram, has_extension};
use super::ngram_source::NgramSource;
use super::ngram_state::NgramState;
use super::{BOS, EOS, MAX_ORDER, UNK};
use crate::corpus::WordId;
use crate::error::{Error, Place, Result};
use crate::narrow::{to_u8, to_u32, to_usize};
use crate::storage::{
    Check, Flaw, in_memory, long_at as long, map_open, prefer_large_pages, read_only,
    short_at as short,
};
use memmap2::{Mmap, MmapMut};
use std::path::{Path, PathBuf};

/// Number of queries whose memory loads overlap.
pub(super) const PREFETCH_BATCH: usize = 16;

/// A trained n-gram model; immutable and shared by threads.
#[derive(Debug)]
pub struct Model {
    bytes: Mmap,
    header: BinaryHeader,
    layout: BinaryLayout,
    digest: u64,
    path: Option<PathBuf>,
    /// Background comparison with the checksum, for a mapped file that was not verified on opening.
    check: Option<Check>,
}

/// The result of a query, like KenLM's `FullScoreReturn`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NgramMatch {
    /// Natural logarithm of the word's probability.
    pub score: f32,
    /// Length of the longest matching n-gram.
    pub order: u8,
}

/// The longest n-gram that matches a word and its history.
pub(super) struct NgramLookup {
    /// Absolute value of its log probability (natural logarithm).
    pub prob: f32,
    /// Its length in words.
    pub order: usize,
    /// Number of history words that were examined, plus one if a word beyond the history could
    /// matter.
    pub seen: u32,
    /// Number of words in the state after it.
    pub len: usize,
}

/// Return whether `start` begins with the magic bytes of a binary model of this or the former
/// version.
pub fn is_binary_model(start: &[u8]) -> bool {
    start.starts_with(&SEAL.magic) || start.starts_with(FORMER_MAGIC)
}

impl Model {
    /// Map a file. Check its header and size, and with `verify` its checksum.
    pub fn open(path: &Path, verify: bool) -> Result<Self> {
        let (file, bytes) = map_open(path)?;
        let mut model = Model::from_bytes(bytes, Some(path), verify)?;
        if !verify {
            let sealed = SEAL.open(&model.bytes).map_err(|flaw| model.error(flaw))?;
            let range = SEAL.size() as u64..model.bytes.len() as u64;
            model.check = Some(Check::begin(file, range, sealed.checksum));
        }
        Ok(model)
    }

    /// Return an error if the file is damaged. Wait for the comparison with the checksum to finish;
    /// call this before returning scores.
    pub fn verified(&self) -> Result<()> {
        let path = self.path.as_deref().unwrap_or(Path::new("model"));
        match self.check.as_ref().map_or(Ok(true), Check::is_sound) {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.error(Flaw::new("bytes that do not fit their checksum"))),
            Err(source) => Err(Error::io(path, source)),
        }
    }

    fn error(&self, flaw: Flaw) -> Error {
        SEAL.error(Place::file(self.path.as_deref().unwrap_or(Path::new("model"))), flaw)
    }

    /// Create a model from the bytes of `binary_writer`.
    pub(super) fn from_memory(bytes: MmapMut) -> Result<Self> {
        Model::from_bytes(read_only(bytes)?, None, false)
    }

    /// Create a model from a copy of the bytes that `bytes` returned.
    pub fn from_copy(bytes: &[u8]) -> Result<Self> {
        let mut copy = in_memory(bytes.len())?;
        prefer_large_pages(&copy);
        copy[..bytes.len()].copy_from_slice(bytes);
        Model::from_bytes(read_only(copy)?, None, true)
    }

    /// Copy a mapped model into memory. Queries are faster because the system can use larger pages,
    /// but the whole file is read at once.
    pub fn into_memory(self) -> Result<Self> {
        let path = self.path.clone();
        Ok(Model { path, ..Model::from_copy(&self.bytes)? })
    }

    fn from_bytes(bytes: Mmap, path: Option<&Path>, verify: bool) -> Result<Self> {
        let wrong = |flaw| SEAL.error(Place::file(path.unwrap_or(Path::new("model"))), flaw);
        let sealed = SEAL.open(&bytes).map_err(wrong)?;
        let header = BinaryHeader::from_numbers(&sealed.numbers).map_err(wrong)?;
        let layout =
            BinaryLayout::new(&header).ok_or_else(|| wrong(Flaw::new("impossible sizes")))?;
        if bytes.len() != layout.size {
            let found = format!("{} bytes instead of {}", bytes.len(), layout.size);
            return Err(wrong(Flaw::new(found)));
        }
        if verify {
            sealed.verify().map_err(wrong)?;
        }
        let digest = sealed.digest;
        let path = path.map(Path::to_path_buf);
        Ok(Model { bytes, header, layout, digest, path, check: None })
    }

    /// Return the path of the mapped file, if any.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Return the content of the model file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Return the digest of the model's content.
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// Return the length of the longest n-grams.
    pub fn order(&self) -> usize {
        self.header.order
    }

    /// Return the size of the vocabulary, with the reserved words.
    pub fn vocab_size(&self) -> usize {
        to_usize(self.header.counts[0])
    }

    /// Return the id of a word, `UNK` for an unknown word.
    pub fn id(&self, word: &str) -> WordId {
        let hash = word_hash(word.as_bytes(), self.header.seed);
        let slot = self.find::<SHORT_SLOT>(&self.layout.vocab, hash);
        slot.and_then(|slot| short(slot, 8)).unwrap_or(UNK)
    }

    /// Return the id of a word of a text. `<s>` and `</s>` in a text are ordinary words, so they
    /// map to `UNK`.
    pub fn text_id(&self, word: &str) -> WordId {
        match self.id(word) {
            BOS | EOS => UNK,
            id => id,
        }
    }

    /// Return the state at the start of a sentence (`<s>` as its only word).
    pub fn bos_state(&self) -> NgramState {
        let mut state = NgramState::EMPTY;
        let (_, backoff) = self.unigram(BOS);
        state.words[0] = BOS;
        state.backoffs[0] = backoff;
        state.len = u8::from(has_extension(backoff));
        state
    }

    /// Return the log probability of a word after `state` and set `next` to the state after it.
    #[inline]
    pub fn score(&self, state: &NgramState, word: WordId, next: &mut NgramState) -> f32 {
        self.look_up(state, word, next).score
    }

    /// Return the log probability of a word and the length of the matching n-gram; set `next`.
    #[inline]
    pub fn look_up(&self, state: &NgramState, word: WordId, next: &mut NgramState) -> NgramMatch {
        let NgramLookup { prob, order, len, .. } =
            self.find_longest(state.words(), word, |place, word, backoff| {
                next.words[place] = word;
                next.backoffs[place] = backoff;
            });
        next.len = to_u8(len);
        NgramMatch { score: state.backoff_sum(order - 1) - prob, order: to_u8(order) }
    }

    /// Find the longest n-gram that ends with `word` and is preceded by `history` (newest first).
    /// Call `keep` for each word of the next state: its position, word id and backoff, newest
    /// first.
    #[inline]
    pub(super) fn find_longest(
        &self,
        history: &[WordId],
        word: WordId,
        mut keep: impl FnMut(usize, WordId, f32),
    ) -> NgramLookup {
        let (mut prob, backoff) = self.unigram(word);
        keep(0, word, backoff);
        let mut len = usize::from(has_extension(backoff));
        let (mut order, mut seen) = (1, 0);
        let mut hash = unigram_hash(self.header.seed, word);
        for (&older, table) in history.iter().zip(&self.layout.tables) {
            if prob.is_sign_positive() {
                break;
            }
            seen += 1;
            hash = extend_hash(hash, older);
            if order + 1 == self.header.order {
                if let Some(slot) = self.find::<SHORT_SLOT>(table, stored_hash(hash)) {
                    prob = read_score(slot, 8).unwrap_or(prob);
                    order += 1;
                }
                break;
            }
            let Some(slot) = self.find::<LONG_SLOT>(table, stored_hash(hash)) else { break };
            prob = read_score(slot, 8).unwrap_or(prob);
            let backoff = read_score(slot, 12).unwrap_or_default();
            keep(order, older, backoff);
            order += 1;
            if has_extension(backoff) {
                len = order;
            }
        }
        if order == history.len() + 1 && prob.is_sign_negative() {
            seen += 1;
        }
        NgramLookup { prob: prob.abs(), order, seen, len }
    }

    /// Query many words, each after its own state: set `next[k]` to the state after `queries[k]`
    /// and call `each` with the results in order. The memory loads of `PREFETCH_BATCH` queries
    /// overlap, which is faster than single queries in a large model.
    pub fn look_up_all(
        &self,
        queries: &[(NgramState, WordId)],
        next: &mut [NgramState],
        mut each: impl FnMut(NgramMatch),
    ) {
        for (queries, next) in queries.chunks(PREFETCH_BATCH).zip(next.chunks_mut(PREFETCH_BATCH)) {
            let prefetched = queries
                .iter()
                .fold(0, |sum, (state, word)| sum ^ self.prefetch(*word, state.words().iter()));
            std::hint::black_box(prefetched);
            for ((state, word), next) in queries.iter().zip(next) {
                each(self.look_up(state, *word, next));
            }
        }
    }

    /// Load the cache lines that a query may need. Return a meaningless value that the caller must
    /// consume, or the compiler would drop the loads.
    #[inline]
    pub(super) fn prefetch<'a>(
        &self,
        word: WordId,
        history: impl Iterator<Item = &'a WordId>,
    ) -> u64 {
        let mut hash = unigram_hash(self.header.seed, word);
        let mut sum = 0;
        for (&older, table) in history.zip(&self.layout.tables) {
            hash = extend_hash(hash, older);
            let line = table.range.start + to_usize(home_line(hash, table.home_lines)) * CACHE_LINE;
            sum ^= long(&self.bytes, line).unwrap_or_default();
        }
        sum
    }

    #[inline]
    fn unigram(&self, word: WordId) -> (f32, f32) {
        let table = &self.bytes[self.layout.unigrams.clone()];
        let at = |word: WordId| table.get(8 * word as usize..);
        let slot = at(word).filter(|slot| slot.len() >= 8).or_else(|| at(UNK)).unwrap_or_default();
        (read_score(slot, 0).unwrap_or_default(), read_score(slot, 4).unwrap_or_default())
    }

    /// Return the slot with this hash. Compare all slots of a line without branches: the number of
    /// smaller hashes is the index of the slot.
    #[inline]
    fn find<const SIZE: usize>(&self, table: &ProbingTable, hash: u64) -> Option<&[u8]> {
        let lines = self.bytes.get(table.range.clone())?;
        let mut at = to_usize(home_line(hash, table.home_lines)) * CACHE_LINE;
        loop {
            let line: &[u8; CACHE_LINE] = lines.get(at..)?.first_chunk()?;
            let smaller = |slot: usize| usize::from(long(line, slot * SIZE) < Some(hash));
            let place = (0..CACHE_LINE / SIZE).map(smaller).sum::<usize>();
            if place < CACHE_LINE / SIZE {
                let slot = &line[place * SIZE..];
                return (long(slot, 0) == Some(hash)).then_some(slot);
            }
            at += CACHE_LINE;
        }
    }

    pub(super) fn find_ngram(&self, words: &[WordId]) -> Option<(f32, f32)> {
        let order = words.len();
        if order == 1 {
            return Some(self.unigram(words[0]));
        }
        let first = unigram_hash(self.header.seed, words[0]);
        let hash = words[1..].iter().fold(first, |hash, &word| extend_hash(hash, word));
        let table = &self.layout.tables[order - 2];
        if order == self.header.order {
            let slot = self.find::<SHORT_SLOT>(table, stored_hash(hash))?;
            Some((read_score(slot, 8)?, super::ngram::NO_EXTENSION))
        } else {
            let slot = self.find::<LONG_SLOT>(table, stored_hash(hash))?;
            Some((read_score(slot, 8)?, read_score(slot, 12)?))
        }
    }

    fn list_damaged(&self) -> Error {
        let name = self.path.as_deref().unwrap_or(Path::new("model"));
        SEAL.error(Place::file(name), Flaw::new("a list of n-grams that does not fit the tables"))
    }
}

impl NgramSource for Model {
    fn order(&self) -> usize {
        self.header.order
    }

    fn count(&self, order: usize) -> u64 {
        self.header.counts[order - 1]
    }

    fn word(&self, id: WordId) -> &[u8] {
        let ends = &self.bytes[self.layout.ends.clone()];
        let end = |id: usize| short(ends, 4 * id).unwrap_or_default() as usize;
        let start = if id == 0 { 0 } else { end(id as usize - 1) };
        let letters = &self.bytes[self.layout.letters.clone()];
        letters.get(start..end(id as usize)).unwrap_or_default()
    }

    fn ngrams(&self, order: usize) -> Result<NgramIter<'_>> {
        if order == 1 {
            return Ok(Box::new((0..to_u32(self.vocab_size())).map(|id| {
                let (prob, backoff) = self.unigram(id);
                let mut words = [0; MAX_ORDER];
                words[0] = id;
                Ok(ScoredNgram { words, prob, backoff })
            })));
        }
        let shorter = self.ngrams(order - 1)?;
        Ok(Box::new(ExtensionIter { model: self, order, shorter, current: None, at: 0 }))
    }
}

/// An iterator over the n-grams of an order, driven by the n-grams that they extend to the left.
struct ExtensionIter<'a> {
    model: &'a Model,
    order: usize,
    shorter: NgramIter<'a>,
    current: Option<ScoredNgram>,
    at: u64,
}

impl ExtensionIter<'_> {
    fn advance(&mut self) -> Result<Option<ScoredNgram>> {
        let ExtensionIter { model, order, .. } = *self;
        if self.at == model.header.counts[order - 1] {
            return Ok(None);
        }
        while self.current.is_none() {
            match self.shorter.next().transpose()? {
                // Only an n-gram with a negative sign has longer n-grams that end with it.
                Some(ngram) => self.current = Some(ngram).filter(|g| g.prob.is_sign_negative()),
                None => return Err(model.list_damaged()),
            }
        }
        let (Some(current), Some(entry)) = (
            self.current,
            short(&model.bytes[model.layout.lists[order - 2].clone()], 4 * to_usize(self.at)),
        ) else {
            return Err(model.list_damaged());
        };
        self.at += 1;
        if entry & LAST_FLAG != 0 {
            self.current = None;
        }
        let mut ngram = current;
        ngram.words[order - 1] = entry & !LAST_FLAG;
        let scores = model.find_ngram(&ngram.words[..order]);
        (ngram.prob, ngram.backoff) = scores.ok_or_else(|| model.list_damaged())?;
        Ok(Some(ngram))
    }
}

impl Iterator for ExtensionIter<'_> {
    type Item = Result<ScoredNgram>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance().transpose()
    }
}
