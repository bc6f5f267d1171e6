//! Parts of a text whose n-grams are counted by themselves, wherever there is room.
//!
//! In: a `Corpus` that holds a part of the text; later the files of all parts, in the order of the
//! text. Out: a file for each part; `Parts`, from which the model of the whole text is estimated,
//! byte for byte the one that the text itself gives.
//! How: a file has the part's words in order of first appearance, so that those of all parts, one
//! after the other, get the numbers that they have in the whole text; windows of words are sorted
//! again under these numbers, and equal ones added up.
//! Cost: windows are written, read and sorted once more; words of all parts are in memory.
//! Not: a format that is kept; these files end with the training they belong to.
//!
//! The file: sealed with the magic word `wwngrams`; then the order, sentences, words, longest
//! sentence; the number of different words, of each its length, its letters and how often it
//! occurs; then the windows in suffix order: how many of the newest words are those of the window
//! before, the other ones up to the start of the sentence, and how often the window occurs.

use super::count::{Corpus, CountOptions, Size, count_windows, frequencies};
use super::key::{Key, bits_for};
use super::share::Shares;
use super::train::{TrainOptions, checked};
use super::{BOS, EOS, MAX_ORDER, RESERVED};
use crate::Job;
use crate::corpus::{Vocab, WordId};
use crate::error::{Error, Place, Result};
use crate::narrow::to_u32;
use crate::storage::{Cursor, Flaw, Seal, SealedFile, Sorter, TempFolder, map, write_number};
use memmap2::Mmap;
use std::path::Path;
use std::sync::Arc;

pub(crate) const SEAL: Seal = Seal {
    magic: *b"wwngrams",
    version: 1,
    numbers: 0,
    what: "a file of counted n-grams",
    advice: "count this part of the text again",
};

/// Bytes that are written at once.
const BLOCK: usize = 1 << 16;
/// Nothing occurs more often in a part of a text; sums of all parts stay far from the largest number.
const MOST: u64 = 1 << 40;
/// Windows between two looks at the job.
const LOOK: u64 = 1 << 16;

/// Counts the n-grams of a part of a text up to the order of the options, and writes them.
pub fn write_part(corpus: Corpus, options: &TrainOptions, path: &Path, job: &Job) -> Result<()> {
    checked(options)?;
    let (size, bits) = (corpus.size(), bits_for(corpus.vocab().len()));
    let order = size.order(options.order);
    match (to_u32(order) * bits).div_ceil(64) {
        1 => write::<1>(corpus, options, (order, bits), path, job),
        2 => write::<2>(corpus, options, (order, bits), path, job),
        3 => write::<3>(corpus, options, (order, bits), path, job),
        _ => write::<4>(corpus, options, (order, bits), path, job),
    }
}

fn write<const W: usize>(
    corpus: Corpus,
    options: &TrainOptions,
    (order, bits): (usize, u32),
    path: &Path,
    job: &Job,
) -> Result<()> {
    let (size, folder) = (corpus.size(), corpus.folder().clone());
    let (vocab, ids) = corpus.into_parts()?;
    let frequencies = frequencies(&ids, vocab.len())?;
    let mut file = SealedFile::create(path, SEAL)?;
    let mut block = front(options.order, size, &vocab, &frequencies);
    let shares = Shares::new(&frequencies, 1);
    let memory = options.memory;
    let count = CountOptions { order, bits, memory, prune: &[], shares: &shares };
    let sorters = count_windows::<W>(&ids, &folder, count, job)?;
    drop(ids);
    let mut last: Option<Key<W>> = None;
    for sorter in sorters {
        for (number, window) in sorter.finish()?.enumerate() {
            let (window, count) = window?;
            let shared = last.map_or(0, |last| last.shared(&window, bits).min(order));
            write_number(&mut block, shared as u64);
            for index in shared..order {
                let word = window.word(index, bits);
                write_number(&mut block, u64::from(word));
                if word == BOS {
                    break;
                }
            }
            write_number(&mut block, count);
            last = Some(window);
            if block.len() >= BLOCK {
                file.write(&block)?;
                block.clear();
            }
            if (number as u64).is_multiple_of(LOOK) {
                job.check()?;
            }
        }
    }
    file.write(&block)?;
    file.finish(&[])
}

/// What a file begins with.
fn front(order: usize, size: Size, vocab: &Vocab, frequencies: &[u64]) -> Vec<u8> {
    let mut front = Vec::new();
    let kinds = vocab.len() - RESERVED.len();
    for number in [order as u64, size.sentences, size.words, size.longest, kinds as u64] {
        write_number(&mut front, number);
    }
    for (id, &frequency) in frequencies.iter().enumerate().skip(RESERVED.len()) {
        let word = vocab.word(to_u32(id));
        write_number(&mut front, word.len() as u64);
        front.extend(word.as_bytes());
        write_number(&mut front, frequency);
    }
    front
}

/// The n-grams of all parts of a text.
pub struct Parts {
    vocab: Vocab,
    frequencies: Vec<u64>,
    files: Vec<Part>,
    size: Size,
    order: usize,
    folder: Arc<TempFolder>,
}

/// The windows of a part.
pub struct Part {
    place: Place,
    map: Mmap,
    /// Where they begin.
    start: usize,
    /// By the number of a word in the part, its number in the whole text.
    renumbered: Vec<WordId>,
}

impl Parts {
    /// Opens the files of all parts of a text, in its order; temporary files go to `temp_dir`
    /// (none: the system's place).
    pub fn open(paths: &[impl AsRef<Path>], temp_dir: Option<&Path>) -> Result<Self> {
        let mut vocab = Vocab::default();
        for word in RESERVED {
            vocab.intern(word);
        }
        let mut parts = Parts {
            vocab,
            frequencies: vec![0; RESERVED.len()],
            files: Vec::new(),
            size: Size::default(),
            order: 0,
            folder: TempFolder::new(temp_dir),
        };
        paths.iter().try_for_each(|path| parts.add(path.as_ref()))?;
        Ok(parts)
    }

    fn add(&mut self, path: &Path) -> Result<()> {
        let place = Place::file(path);
        let map = map(path)?;
        SEAL.open(&map)
            .and_then(|sealed| sealed.verify())
            .map_err(|flaw| SEAL.error(place.clone(), flaw))?;
        let body = map.get(SEAL.size()..).unwrap_or_default();
        let mut cursor = Cursor::new(body);
        let (order, renumbered) = self.read_front(&mut cursor).ok_or_else(|| damaged(&place))?;
        if !self.files.is_empty() && order != self.order {
            return Err(Error::Mismatch {
                place,
                found: format!("order {order}, but {} has {}", self.files[0].place, self.order),
                advice: "count all parts of a text with the same order".into(),
            });
        }
        self.order = order;
        let start = map.len() - cursor.rest().len();
        self.files.push(Part { place, map, start, renumbered });
        Ok(())
    }

    /// The order of a file, and the numbers of its words; none if it makes no sense.
    fn read_front(&mut self, cursor: &mut Cursor<'_>) -> Option<(usize, Vec<WordId>)> {
        let order = usize::try_from(cursor.number()?).ok()?;
        let mut size = || cursor.number().filter(|&number| number <= MOST);
        let (sentences, words, longest) = (size()?, size()?, size()?);
        let kinds = cursor.number()?;
        let mut renumbered: Vec<WordId> = (0..to_u32(RESERVED.len())).collect();
        for _ in 0..kinds {
            let length = usize::try_from(cursor.number()?).ok()?;
            let id = self.vocab.intern(str::from_utf8(cursor.bytes(length)?).ok()?);
            let frequency = cursor.number().filter(|&frequency| frequency <= MOST)?;
            if id as usize == self.frequencies.len() {
                self.frequencies.push(0);
            }
            let sum = &mut self.frequencies[id as usize];
            *sum = sum.checked_add(frequency)?;
            renumbered.push(id);
        }
        self.size.sentences = self.size.sentences.checked_add(sentences)?;
        self.size.words = self.size.words.checked_add(words)?;
        self.size.longest = self.size.longest.max(longest);
        self.frequencies[EOS as usize] = self.size.sentences;
        (1..=MAX_ORDER).contains(&order).then_some((order, renumbered))
    }

    /// Length of the longest n-grams that were counted; 0 without any part.
    pub fn order(&self) -> usize {
        self.order
    }

    pub(super) fn into_text(self) -> (Size, Vocab, Vec<u64>, Vec<Part>, Arc<TempFolder>) {
        (self.size, self.vocab, self.frequencies, self.files, self.folder)
    }
}

/// All windows of the text, to be sorted by suffix and equal ones added up, by share of their newest
/// words.
pub fn join_windows<const W: usize>(
    files: &[Part],
    folder: &Arc<TempFolder>,
    options: CountOptions<'_>,
    job: &Job,
) -> Result<Vec<Sorter<Key<W>, u64>>> {
    let share = options.memory / 2 / options.shares.len();
    let sorter = |_| Sorter::new(folder, share, Some(u64::saturating_add));
    let mut sorters: Vec<_> = (0..options.shares.len()).map(sorter).collect();
    for file in files {
        file.push_all(&mut sorters, options, job)?;
    }
    Ok(sorters)
}

impl Part {
    fn push_all<const W: usize>(
        &self,
        sorters: &mut [Sorter<Key<W>, u64>],
        options: CountOptions<'_>,
        job: &Job,
    ) -> Result<()> {
        let CountOptions { order, bits, shares, .. } = options;
        let mut cursor = Cursor::new(&self.map[self.start..]);
        let mut window = Window { words: [0; MAX_ORDER], length: 0 };
        let mut number = 0_u64;
        while !cursor.is_at_end() {
            let count = window
                .read(&mut cursor, &self.renumbered, order)
                .ok_or_else(|| damaged(&self.place))?;
            let key = Key::of(&window.words[..window.length], bits);
            sorters[shares.of(window.words[0])].push(key, count)?;
            number += 1;
            if number.is_multiple_of(LOOK) {
                job.check()?;
            }
        }
        Ok(())
    }
}

/// A window of a file, its words by their numbers in the whole text, newest first.
struct Window {
    words: [WordId; MAX_ORDER],
    length: usize,
}

impl Window {
    /// Reads what differs from the window before, and how often it occurs; none if it makes no sense.
    fn read(
        &mut self,
        cursor: &mut Cursor<'_>,
        renumbered: &[WordId],
        order: usize,
    ) -> Option<u64> {
        let shared = usize::try_from(cursor.number()?).ok()?;
        let is_whole = shared > 0 && self.words[shared.min(MAX_ORDER) - 1] == BOS;
        if shared > self.length || is_whole {
            return None;
        }
        self.length = shared;
        while self.length < order {
            let word = *renumbered.get(cursor.small()? as usize)?;
            self.words[self.length] = word;
            self.length += 1;
            if word == BOS {
                break;
            }
        }
        let count = cursor.number()?;
        (self.length > 0 && (1..=MOST).contains(&count)).then_some(count)
    }
}

fn damaged(place: &Place) -> Error {
    SEAL.error(place.clone(), Flaw::new("counts that make no sense"))
}
