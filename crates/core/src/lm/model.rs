//! Answers queries from a mapped model.
//!
//! In: a state (what is known of the words before) and a word. Out: the word's score and the
//! next state. How: one probe per order, from the word by itself to the longest n-gram, and no
//! probe that is known to fail; backoffs of the history are in the state already.
//! Cost: no allocation; mapping a file takes the time to check its header.
//! Safety: every read is bounds-checked, so damaged bytes give wrong scores at worst, and
//! `verified`, to be asked before scores go out, finds them.

use super::grams::{Gram, GramIter, Grams, matters};
use super::image::{LAST, word_hash};
use super::layout::{
    FORMER_MAGIC, Header, LINE, Layout, SEAL, SHORT_SLOT, SLOT, Table, first_hash, home, next_hash,
    score, stored,
};
use super::state::State;
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

/// Queries whose loads are under way at the same time.
pub(super) const TOGETHER: usize = 16;

/// A language model; shared by threads, never changed.
#[derive(Debug)]
pub struct Model {
    bytes: Mmap,
    header: Header,
    layout: Layout,
    digest: u64,
    path: Option<PathBuf>,
    /// Under way when the bytes are those of a file that was not verified.
    check: Option<Check>,
}

/// The answer to a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Match {
    /// Natural logarithm of the word's probability.
    pub score: f32,
    /// Length of the n-gram that was found.
    pub order: u8,
}

/// The longest n-gram that was found for a word.
pub(super) struct Walk {
    /// The logarithm of its probability, without the sign.
    pub prob: f32,
    /// Its length.
    pub order: usize,
    /// Words of the history that were looked at, and one more if an older word might matter.
    pub seen: u32,
    /// Words of the state after it.
    pub len: usize,
}

/// Whether these bytes begin a file of this format.
pub fn is_image(start: &[u8]) -> bool {
    start.starts_with(&SEAL.magic) || start.starts_with(FORMER_MAGIC)
}

impl Model {
    /// Maps a file; its header and size are checked, and all of it with `verify`.
    pub fn open(path: &Path, verify: bool) -> Result<Self> {
        let (file, bytes) = map_open(path)?;
        let mut model = Model::from_bytes(bytes, Some(path), verify)?;
        if !verify {
            let sealed = SEAL.open(&model.bytes).map_err(|flaw| model.wrong(flaw))?;
            let range = SEAL.size() as u64..model.bytes.len() as u64;
            model.check = Some(Check::begin(file, range, sealed.checksum));
        }
        Ok(model)
    }

    /// Refuses a damaged model, once all of it was compared with its checksum. Ask before what
    /// was scored with it goes out.
    pub fn verified(&self) -> Result<()> {
        let path = self.path.as_deref().unwrap_or(Path::new("model"));
        match self.check.as_ref().map_or(Ok(true), Check::is_sound) {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.wrong(Flaw::new("bytes that do not fit their checksum"))),
            Err(source) => Err(Error::io(path, source)),
        }
    }

    fn wrong(&self, flaw: Flaw) -> Error {
        SEAL.error(Place::file(self.path.as_deref().unwrap_or(Path::new("model"))), flaw)
    }

    /// A model in memory.
    pub(super) fn from_memory(bytes: MmapMut) -> Result<Self> {
        Model::from_bytes(read_only(bytes)?, None, false)
    }

    /// A copy of bytes that `bytes` gave.
    pub fn from_copy(bytes: &[u8]) -> Result<Self> {
        let mut copy = in_memory(bytes.len())?;
        prefer_large_pages(&copy);
        copy[..bytes.len()].copy_from_slice(bytes);
        Model::from_bytes(read_only(copy)?, None, true)
    }

    /// The same model in memory instead of a mapped file: quicker to query, as the system can
    /// use larger pages, but all of it is read now.
    pub fn into_memory(self) -> Result<Self> {
        let path = self.path.clone();
        Ok(Model { path, ..Model::from_copy(&self.bytes)? })
    }

    fn from_bytes(bytes: Mmap, path: Option<&Path>, verify: bool) -> Result<Self> {
        let wrong = |flaw| SEAL.error(Place::file(path.unwrap_or(Path::new("model"))), flaw);
        let sealed = SEAL.open(&bytes).map_err(wrong)?;
        let header = Header::from_numbers(&sealed.numbers).map_err(wrong)?;
        let layout = Layout::new(&header).ok_or_else(|| wrong(Flaw::new("impossible sizes")))?;
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

    /// The file that is mapped.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The model as bytes, as they are or would be in a file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// A number that tells this model from others.
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// Length of the longest n-grams.
    pub fn order(&self) -> usize {
        self.header.order
    }

    /// Number of words, with the reserved ones.
    pub fn words(&self) -> usize {
        to_usize(self.header.counts[0])
    }

    /// The number of a word; `UNK` when the model does not know it.
    pub fn id(&self, word: &str) -> WordId {
        let hash = word_hash(word.as_bytes(), self.header.seed);
        let slot = self.find::<SHORT_SLOT>(&self.layout.vocab, hash);
        slot.and_then(|slot| short(slot, 8)).unwrap_or(UNK)
    }

    /// The number of a word of a text, where the model's own marks are words like any other.
    pub fn text_id(&self, word: &str) -> WordId {
        match self.id(word) {
            BOS | EOS => UNK,
            id => id,
        }
    }

    /// The state at the start of a sentence.
    pub fn begin(&self) -> State {
        let mut state = State::EMPTY;
        let (_, backoff) = self.unigram(BOS);
        state.words[0] = BOS;
        state.backoffs[0] = backoff;
        state.len = u8::from(matters(backoff));
        state
    }

    /// Scores a word after `state`; `next` becomes the state after it.
    #[inline]
    pub fn score(&self, state: &State, word: WordId, next: &mut State) -> f32 {
        self.look_up(state, word, next).score
    }

    /// Scores a word and tells which n-gram was found; `next` becomes the state after it.
    #[inline]
    pub fn look_up(&self, state: &State, word: WordId, next: &mut State) -> Match {
        let Walk { prob, order, len, .. } =
            self.walk(state.words(), word, |place, word, backoff| {
                next.words[place] = word;
                next.backoffs[place] = backoff;
            });
        next.len = to_u8(len);
        Match { score: state.backed_off(order - 1) - prob, order: to_u8(order) }
    }

    /// Finds the longest n-gram of a word and what stood before it. `keep` gets what the state
    /// after it is made of: place, word and backoff, newest first.
    #[inline]
    pub(super) fn walk(
        &self,
        history: &[WordId],
        word: WordId,
        mut keep: impl FnMut(usize, WordId, f32),
    ) -> Walk {
        let (mut prob, backoff) = self.unigram(word);
        keep(0, word, backoff);
        let mut len = usize::from(matters(backoff));
        let (mut order, mut seen) = (1, 0);
        let mut hash = first_hash(self.header.seed, word);
        for (&older, table) in history.iter().zip(&self.layout.tables) {
            if prob.is_sign_positive() {
                break;
            }
            seen += 1;
            hash = next_hash(hash, older);
            if order + 1 == self.header.order {
                if let Some(slot) = self.find::<SHORT_SLOT>(table, stored(hash)) {
                    prob = score(slot, 8).unwrap_or(prob);
                    order += 1;
                }
                break;
            }
            let Some(slot) = self.find::<SLOT>(table, stored(hash)) else { break };
            prob = score(slot, 8).unwrap_or(prob);
            let backoff = score(slot, 12).unwrap_or_default();
            keep(order, older, backoff);
            order += 1;
            if matters(backoff) {
                len = order;
            }
        }
        if order == history.len() + 1 && prob.is_sign_negative() {
            seen += 1;
        }
        Walk { prob: prob.abs(), order, seen, len }
    }

    /// Scores many words, each after its own state: `next[k]` becomes the state after
    /// `queries[k]`, and `each` gets the answers in order. The look-ups of a few queries wait
    /// for memory together, so this is quicker than one by one in a large model.
    pub fn look_up_all(
        &self,
        queries: &[(State, WordId)],
        next: &mut [State],
        mut each: impl FnMut(Match),
    ) {
        for (queries, next) in queries.chunks(TOGETHER).zip(next.chunks_mut(TOGETHER)) {
            let touched = queries
                .iter()
                .fold(0, |sum, (state, word)| sum ^ self.touch(*word, state.words().iter()));
            std::hint::black_box(touched);
            for ((state, word), next) in queries.iter().zip(next) {
                each(self.look_up(state, *word, next));
            }
        }
    }

    /// Loads the lines that a look-up may need, whatever comes out of the first ones. The
    /// result means nothing; it only must be used, or the loads would be left out.
    #[inline]
    pub(super) fn touch<'a>(&self, word: WordId, history: impl Iterator<Item = &'a WordId>) -> u64 {
        let mut hash = first_hash(self.header.seed, word);
        let mut sum = 0;
        for (&older, table) in history.zip(&self.layout.tables) {
            hash = next_hash(hash, older);
            let line = table.range.start + to_usize(home(hash, table.homes)) * LINE;
            sum ^= long(&self.bytes, line).unwrap_or_default();
        }
        sum
    }

    #[inline]
    fn unigram(&self, word: WordId) -> (f32, f32) {
        let table = &self.bytes[self.layout.unigrams.clone()];
        let at = |word: WordId| table.get(8 * word as usize..);
        let slot = at(word).filter(|slot| slot.len() >= 8).or_else(|| at(UNK)).unwrap_or_default();
        (score(slot, 0).unwrap_or_default(), score(slot, 4).unwrap_or_default())
    }

    /// The slot with this hash. Within a line all slots are compared, without a branch to
    /// guess: the number of smaller hashes is where it must be.
    #[inline]
    fn find<const SIZE: usize>(&self, table: &Table, hash: u64) -> Option<&[u8]> {
        let lines = self.bytes.get(table.range.clone())?;
        let mut at = to_usize(home(hash, table.homes)) * LINE;
        loop {
            let line: &[u8; LINE] = lines.get(at..)?.first_chunk()?;
            let smaller = |slot: usize| usize::from(long(line, slot * SIZE) < Some(hash));
            let place = (0..LINE / SIZE).map(smaller).sum::<usize>();
            if place < LINE / SIZE {
                let slot = &line[place * SIZE..];
                return (long(slot, 0) == Some(hash)).then_some(slot);
            }
            at += LINE;
        }
    }

    pub(super) fn find_gram(&self, words: &[WordId]) -> Option<(f32, f32)> {
        let order = words.len();
        if order == 1 {
            return Some(self.unigram(words[0]));
        }
        let first = first_hash(self.header.seed, words[0]);
        let hash = words[1..].iter().fold(first, |hash, &word| next_hash(hash, word));
        let table = &self.layout.tables[order - 2];
        if order == self.header.order {
            let slot = self.find::<SHORT_SLOT>(table, stored(hash))?;
            Some((score(slot, 8)?, super::grams::NO_EXTENSION))
        } else {
            let slot = self.find::<SLOT>(table, stored(hash))?;
            Some((score(slot, 8)?, score(slot, 12)?))
        }
    }

    fn list_damaged(&self) -> Error {
        let name = self.path.as_deref().unwrap_or(Path::new("model"));
        SEAL.error(Place::file(name), Flaw::new("a list of n-grams that does not fit the tables"))
    }
}

impl Grams for Model {
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

    fn grams(&self, order: usize) -> Result<GramIter<'_>> {
        if order == 1 {
            return Ok(Box::new((0..to_u32(self.words())).map(|id| {
                let (prob, backoff) = self.unigram(id);
                let mut words = [0; MAX_ORDER];
                words[0] = id;
                Ok(Gram { words, prob, backoff })
            })));
        }
        let shorter = self.grams(order - 1)?;
        Ok(Box::new(Extended { model: self, order, shorter, current: None, at: 0 }))
    }
}

/// The n-grams of an order, listed by the shorter ones they end with.
struct Extended<'a> {
    model: &'a Model,
    order: usize,
    shorter: GramIter<'a>,
    current: Option<Gram>,
    at: u64,
}

impl Extended<'_> {
    fn advance(&mut self) -> Result<Option<Gram>> {
        let Extended { model, order, .. } = *self;
        if self.at == model.header.counts[order - 1] {
            return Ok(None);
        }
        while self.current.is_none() {
            match self.shorter.next().transpose()? {
                // Only n-grams with this sign are the ending of longer ones.
                Some(gram) => self.current = Some(gram).filter(|g| g.prob.is_sign_negative()),
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
        if entry & LAST != 0 {
            self.current = None;
        }
        let mut gram = current;
        gram.words[order - 1] = entry & !LAST;
        let scores = model.find_gram(&gram.words[..order]);
        (gram.prob, gram.backoff) = scores.ok_or_else(|| model.list_damaged())?;
        Ok(Some(gram))
    }
}

impl Iterator for Extended<'_> {
    type Item = Result<Gram>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance().transpose()
    }
}
