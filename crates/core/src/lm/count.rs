//! Counts n-grams, the way Kneser and Ney need them.
//!
//! In: sentences. Out: for every n-gram its adjusted count (definitions l.1, step 1): how often it
//! occurs for the longest ones and those at the start of a sentence, else how many different
//! words stand before it.
//! How: all windows of `order` words are sorted by suffix; then n-grams that end alike stand
//! together and one pass counts the windows and the words before every shorter n-gram.
//! Cost: one sort of the corpus, in bounded memory; threads share it by the newest word.

use super::key::Key;
use super::share::Shares;
use super::{BOS, EOS, MAX_ORDER, RESERVED};
use crate::Job;
use crate::corpus::{LineReader, Vocab, WordId};
use crate::error::{Error, Place, Result};
use crate::narrow::{to_u32, to_usize};
use crate::parallel;
use crate::storage::{Sorted, Sorter, Spool, TempFolder};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Windows or n-grams between two looks at the job.
const BLOCK: u64 = 1 << 16;
/// Bytes of text that a thread turns into numbers at once.
const TEXT: usize = 1 << 20;

/// How much text there is.
#[derive(Debug, Clone, Copy, Default)]
pub struct Size {
    /// Number of sentences.
    pub sentences: u64,
    /// Number of words; sentence marks are not counted.
    pub words: u64,
    /// Words of the longest sentence.
    pub longest: u64,
}

impl Size {
    /// The longest n-grams there are of up to `order` words: a sentence has two marks besides its
    /// words.
    pub fn order(&self, order: usize) -> usize {
        order.min(usize::try_from(self.longest).unwrap_or(usize::MAX).saturating_add(2))
    }
}

/// Sentences as word numbers; every sentence ends with `</s>`.
pub struct Corpus {
    vocab: Vocab,
    ids: Spool<WordId>,
    sentences: u64,
    longest: u64,
    folder: Arc<TempFolder>,
}

impl Corpus {
    /// An empty corpus that keeps up to `memory` bytes of its text in memory and the rest in
    /// `temp_dir` (none: the system's place).
    pub fn new(memory: usize, temp_dir: Option<&Path>) -> Self {
        let mut vocab = Vocab::default();
        for word in RESERVED {
            vocab.intern(word);
        }
        let folder = TempFolder::new(temp_dir);
        Corpus { vocab, ids: Spool::new(&folder, memory / 4), sentences: 0, longest: 0, folder }
    }

    /// Adds a sentence of whitespace-separated words; `place` is for the error.
    pub fn push(&mut self, line: &str, place: impl FnOnce() -> Place) -> Result<()> {
        let mut length = 0;
        for word in line.split_whitespace() {
            let id = self.vocab.intern(word);
            if (id as usize) < RESERVED.len() {
                return Err(reserved(place(), word));
            }
            self.ids.push(id)?;
            length += 1;
        }
        self.longest = self.longest.max(length);
        self.sentences += 1;
        self.ids.push(EOS)
    }

    /// Adds the lines of a file, plain or compressed.
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
                Corpus::of_lines(text, |line| Place::line(path, before + line))
            };
            let (parts, _) = parallel::map(blocks.len(), 1, job, || (), work)?;
            parts.iter().try_for_each(|part| self.extend(part))?;
            job.advance(number - blocks.first().map_or(0, |(_, before)| *before));
        }
        ending.unwrap_or(Ok(()))
    }

    /// The corpus of some lines, in memory.
    fn of_lines(text: &str, place: impl Fn(u64) -> Place) -> Result<Self> {
        let mut corpus = Corpus::new(usize::MAX, None);
        for (number, line) in (1..).zip(text.split_terminator('\n')) {
            corpus.push(line, || place(number))?;
        }
        Ok(corpus)
    }

    /// Adds the sentences of another corpus, whose words get numbers of ours.
    fn extend(&mut self, other: &Corpus) -> Result<()> {
        let words = 0..to_u32(other.vocab.len());
        let numbers: Vec<_> = words.map(|id| self.vocab.intern(other.vocab.word(id))).collect();
        for id in other.ids.iter()? {
            self.ids.push(numbers[id? as usize])?;
        }
        self.longest = self.longest.max(other.longest);
        self.sentences += other.sentences;
        Ok(())
    }

    /// Number of sentences.
    pub fn sentences(&self) -> u64 {
        self.sentences
    }

    /// How much text it has.
    pub fn size(&self) -> Size {
        let (sentences, longest) = (self.sentences, self.longest);
        Size { sentences, words: self.ids.len() - sentences, longest }
    }

    /// The words, the reserved ones first.
    pub fn vocab(&self) -> &Vocab {
        &self.vocab
    }

    pub(super) fn folder(&self) -> &Arc<TempFolder> {
        &self.folder
    }

    /// Ends the reading; the vocabulary and all words.
    pub(super) fn into_parts(self) -> Result<(Vocab, Spool<WordId>)> {
        Ok((self.vocab, self.ids.finish()?))
    }
}

/// Adds lines to a text until it is long enough, and counts them; at the end of the file, or where
/// it cannot be read, how it ended.
fn read_block(lines: &mut LineReader, text: &mut String, number: &mut u64) -> Option<Result<()>> {
    while text.len() < TEXT {
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

fn reserved(place: Place, word: &str) -> Error {
    Error::Format {
        place,
        found: format!("the word `{word}`"),
        expected: "text without the model's own marks".into(),
        advice: "sentence marks are added by themselves; take them out or spell them otherwise"
            .into(),
    }
}

/// What counting needs to know.
#[derive(Clone, Copy)]
pub struct CountOptions<'a> {
    /// Length of the longest n-grams.
    pub order: usize,
    /// Bits of a word in a key.
    pub bits: u32,
    /// Bytes that may be used.
    pub memory: usize,
    /// For each order, n-grams that occur no more often than this are dropped.
    pub prune: &'a [u64],
    /// How words are dealt out to threads.
    pub shares: &'a Shares,
}

/// Takes the n-grams of one share of the words, with their adjusted counts: in suffix order, each
/// after the longer ones that end with it.
pub trait Sink<const W: usize>: Send {
    /// Adds an n-gram: the newest `length` words of the key.
    fn add(&mut self, key: &Key<W>, length: usize, count: u64, is_pruned: bool) -> Result<()>;
}

/// From order 2 up, n-grams to be sorted by context (all words but the newest in suffix order, then
/// the newest), each with its count as `pack_count` wrote it.
pub struct ByContext<const W: usize> {
    /// By order.
    pub orders: Vec<Sorter<Key<W>, u64>>,
    bits: u32,
}

impl<const W: usize> ByContext<W> {
    /// Sorters for one of the shares.
    pub fn new(folder: &Arc<TempFolder>, options: CountOptions<'_>) -> Self {
        let CountOptions { order, bits, memory, shares, .. } = options;
        let share = memory / 2 / order / shares.len();
        ByContext { orders: (2..=order).map(|_| Sorter::new(folder, share, None)).collect(), bits }
    }
}

impl<const W: usize> Sink<W> for ByContext<W> {
    fn add(&mut self, key: &Key<W>, length: usize, count: u64, is_pruned: bool) -> Result<()> {
        if length == 1 {
            return Ok(());
        }
        let mut by_context = key.context(self.bits).first(length - 1, self.bits);
        by_context.set(length - 1, key.word(0, self.bits), self.bits);
        self.orders[length - 2].push(by_context, pack_count(count, is_pruned))
    }
}

/// How many n-grams there are.
pub struct Tally {
    /// The adjusted count of each word.
    pub unigrams: Vec<u64>,
    /// For each order, how many n-grams have the count 1, 2, 3, 4.
    pub of_counts: Vec<[u64; 4]>,
    /// For each order, n-grams that stay.
    pub kept: Vec<u64>,
    /// For each order, n-grams that are dropped.
    pub pruned: Vec<u64>,
}

impl Tally {
    fn new(vocab_size: usize, order: usize) -> Self {
        Tally {
            unigrams: vec![0; vocab_size],
            of_counts: vec![[0; 4]; order],
            kept: vec![0; order],
            pruned: vec![0; order],
        }
    }

    fn add(&mut self, more: &Tally) {
        let add = |sums: &mut [u64], more: &[u64]| {
            sums.iter_mut().zip(more).for_each(|(sum, count)| *sum += count);
        };
        add(&mut self.unigrams, &more.unigrams);
        add(&mut self.kept, &more.kept);
        add(&mut self.pruned, &more.pruned);
        add(self.of_counts.as_flattened_mut(), more.of_counts.as_flattened());
    }
}

/// A count and whether the n-gram is dropped, in one number.
pub fn pack_count(count: u64, is_pruned: bool) -> u64 {
    count << 1 | u64::from(is_pruned)
}

/// Undoes `pack_count`.
pub fn unpack_count(packed: u64) -> (u64, bool) {
    (packed >> 1, packed & 1 == 1)
}

/// How often each word occurs.
pub fn frequencies(ids: &Spool<WordId>, vocab_size: usize) -> Result<Vec<u64>> {
    let mut frequencies = vec![0; vocab_size];
    for id in ids.iter()? {
        frequencies[id? as usize] += 1;
    }
    Ok(frequencies)
}

/// All windows of the text, to be sorted by suffix and equal ones counted, by share of their newest
/// words. The thread of each share goes through the whole text, which is quick.
pub fn count_windows<const W: usize>(
    ids: &Spool<WordId>,
    folder: &Arc<TempFolder>,
    options: CountOptions<'_>,
    job: &Job,
) -> Result<Vec<Sorter<Key<W>, u64>>> {
    let work = |(): &mut (), share: usize| share_windows(ids, share, folder, options, job);
    Ok(parallel::map(options.shares.len(), 1, job, || (), work)?.0)
}

/// The windows of one share.
fn share_windows<const W: usize>(
    ids: &Spool<WordId>,
    share: usize,
    folder: &Arc<TempFolder>,
    options: CountOptions<'_>,
    job: &Job,
) -> Result<Sorter<Key<W>, u64>> {
    let CountOptions { order, bits, memory, shares, .. } = options;
    let start = Key::EMPTY.push(BOS, order, bits);
    let mut sorter = Sorter::new(folder, memory / 2 / shares.len(), Some(|a, b| a + b));
    let mut window: Key<W> = start;
    for (number, id) in ids.iter()?.enumerate() {
        let id = id?;
        window = window.push(id, order, bits);
        if shares.of(id) == share {
            sorter.push(window, 1)?;
        }
        if id == EOS {
            window = start;
        }
        if (number as u64).is_multiple_of(BLOCK) {
            job.check()?;
        }
    }
    Ok(sorter)
}

/// The n-grams of all orders that the last window ends with, still being counted.
struct Open<S> {
    raw: [u64; MAX_ORDER + 1],
    before: [u64; MAX_ORDER + 1],
    tally: Tally,
    sink: S,
}

/// Sorted windows of the text.
pub struct Windows<const W: usize> {
    /// By share of their newest words.
    pub shares: Vec<Sorted<Key<W>, u64>>,
    /// How many n-grams of all orders end them; not known if some are on disk.
    pub ngrams: Option<u64>,
}

/// Sorts the windows, a share in each thread.
pub fn sort_windows<const W: usize>(
    windows: Vec<Sorter<Key<W>, u64>>,
    options: CountOptions<'_>,
    job: &Job,
) -> Result<Windows<W>> {
    let windows: Vec<_> = windows.into_iter().map(|sorter| Mutex::new(Some(sorter))).collect();
    let work = |(): &mut (), share: usize| {
        let sorted = taken(&windows[share]).map(Sorter::finish).transpose()?;
        Ok(sorted.map(|sorted| (ngrams_in(&sorted, options), sorted)))
    };
    let (sorted, _) = parallel::map(windows.len(), 1, job, || (), work)?;
    let (counts, shares): (Vec<_>, _) = sorted.into_iter().flatten().unzip();
    Ok(Windows { shares, ngrams: counts.into_iter().sum() })
}

fn ngrams_in<const W: usize>(
    windows: &Sorted<Key<W>, u64>,
    CountOptions { order, bits, .. }: CountOptions<'_>,
) -> Option<u64> {
    let Sorted::Memory(records) = windows else { return None };
    let records = records.as_slice();
    let pairs = records.iter().zip(records.iter().skip(1));
    let shared = pairs.map(|((key, _), (next, _))| key.shared(next, bits).min(order) as u64);
    Some((records.len() * order) as u64 - shared.sum::<u64>())
}

/// Goes through the windows and adjusts the counts of all n-grams, a share in each thread; what
/// there is of each order, and the n-grams of all shares.
pub fn adjust<const W: usize, S: Sink<W>>(
    windows: Windows<W>,
    make: impl Fn() -> S + Sync,
    vocab_size: usize,
    options: CountOptions<'_>,
    job: &Job,
) -> Result<(Tally, Vec<S>)> {
    let windows: Vec<_> =
        windows.shares.into_iter().map(|sorted| Mutex::new(Some(sorted))).collect();
    let work = |(): &mut (), share: usize| {
        let adjust = |windows| adjust_share(windows, make(), vocab_size, options, job);
        taken(&windows[share]).map(adjust).transpose()
    };
    let (shares, _) = parallel::map(windows.len(), 1, job, || (), work)?;
    let mut all = Tally::new(vocab_size, options.order);
    let mut sinks = Vec::new();
    for (tally, sink) in shares.into_iter().flatten() {
        all.add(&tally);
        sinks.push(sink);
    }
    Ok((all, sinks))
}

/// What a thread takes over, once.
pub fn taken<T>(place: &Mutex<Option<T>>) -> Option<T> {
    place.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take()
}

/// The counts of the n-grams of one share.
fn adjust_share<const W: usize, S: Sink<W>>(
    windows: Sorted<Key<W>, u64>,
    sink: S,
    vocab_size: usize,
    options: CountOptions<'_>,
    job: &Job,
) -> Result<(Tally, S)> {
    let CountOptions { order, bits, .. } = options;
    let mut open = Open {
        raw: [0; MAX_ORDER + 1],
        before: [0; MAX_ORDER + 1],
        tally: Tally::new(vocab_size, order),
        sink,
    };
    let mut last: Option<(Key<W>, usize)> = None;
    for (number, window) in windows.enumerate() {
        let (window, count) = window?;
        let shared = match last {
            None => 0,
            Some((key, length)) => {
                let shared = key.shared(&window, bits).min(length);
                open.close(&key, shared + 1..=length, options)?;
                shared
            }
        };
        let length = length_of(&window, shared, order, bits);
        open.raw[length] = count;
        open.before[length] = 0;
        last = Some((window, length));
        if (number as u64).is_multiple_of(BLOCK) {
            job.check()?;
        }
    }
    if let Some((key, length)) = last {
        open.close(&key, 1..=length, options)?;
    }
    Ok((open.tally, open.sink))
}

/// Words of a window: up to the start of the sentence, which stands after `shared` words.
fn length_of<const W: usize>(window: &Key<W>, shared: usize, order: usize, bits: u32) -> usize {
    (shared..order).find(|&index| window.word(index, bits) == BOS).map_or(order, |index| index + 1)
}

impl<S> Open<S> {
    /// Writes down the n-grams that end in `key` and are complete, the longest first.
    #[inline]
    fn close<const W: usize>(
        &mut self,
        key: &Key<W>,
        lengths: std::ops::RangeInclusive<usize>,
        CountOptions { order, bits, prune, .. }: CountOptions<'_>,
    ) -> Result<()>
    where
        S: Sink<W>,
    {
        let Open { raw, before, tally, sink } = self;
        for length in lengths.rev() {
            let raw_count = std::mem::take(&mut raw[length]);
            let words_before = std::mem::take(&mut before[length]);
            let is_raw = length == order || key.word(length - 1, bits) == BOS;
            let count = if is_raw { raw_count } else { words_before };
            raw[length - 1] += raw_count;
            before[length - 1] += 1;
            if let Some(counted) = tally.of_counts[length - 1].get_mut(to_usize(count) - 1) {
                *counted += 1;
            }
            let is_pruned = raw_count <= prune[length - 1];
            let total = if is_pruned { &mut tally.pruned } else { &mut tally.kept };
            total[length - 1] += 1;
            if length == 1 {
                tally.unigrams[key.word(0, bits) as usize] = count;
            }
            sink.add(key, length, count, is_pruned)?;
        }
        Ok(())
    }
}
