//! Shards of a text whose n-grams are counted separately, on any machine.
//!
//! In: an `LmCorpus` with one shard of the text; later the files of all shards, in the order of the
//! text. Out: a file per shard; `CountShards`, which give the model of the whole text, byte for
//! byte.
//! How: a file lists the words of its shard in order of first occurrence, so the concatenated lists
//! give the word ids of the whole text. Windows are renumbered, sorted again, and equal windows
//! added up.
//! Cost: windows are written, read and sorted once more; the vocabulary of all shards is in memory.
//! Not: a stable format; the files are deleted after training.
//!
//! The file is sealed with the magic bytes `wwngrams`. It holds the order, the numbers of sentences
//! and words, the longest sentence and the number of distinct words; for each word its length,
//! bytes and frequency; then the windows in suffix order: the number of newest words shared with
//! the window before, the other words up to the start of the sentence, and the frequency of the
//! window.

use super::corpus::{CorpusSize, LmCorpus};
use super::count::{NgramCountOptions, frequencies, sort_text_windows};
use super::ngram_key::{NgramKey, bits_for};
use super::options::{LmTrainOptions, validate_options};
use super::vocab_partition::VocabPartition;
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

/// Number of bytes to buffer before writing.
const BLOCK: usize = 1 << 16;
/// Upper limit of a frequency in a shard; sums over all shards cannot overflow.
const MAX_FREQUENCY: u64 = 1 << 40;
/// Number of windows between two checks for cancellation.
const CHECK_INTERVAL: u64 = 1 << 16;

/// Count the n-grams of a shard up to the order of the options and write them to a file.
pub fn write_count_shard(
    corpus: LmCorpus,
    options: &LmTrainOptions,
    path: &Path,
    job: &Job,
) -> Result<()> {
    validate_options(options)?;
    let (size, bits) = (corpus.size(), bits_for(corpus.vocab().len()));
    let order = size.order(options.order);
    match (to_u32(order) * bits).div_ceil(64) {
        1 => write_with_width::<1>(corpus, options, (order, bits), path, job),
        2 => write_with_width::<2>(corpus, options, (order, bits), path, job),
        3 => write_with_width::<3>(corpus, options, (order, bits), path, job),
        _ => write_with_width::<4>(corpus, options, (order, bits), path, job),
    }
}

fn write_with_width<const W: usize>(
    corpus: LmCorpus,
    options: &LmTrainOptions,
    (order, bits): (usize, u32),
    path: &Path,
    job: &Job,
) -> Result<()> {
    let (size, folder) = (corpus.size(), corpus.folder().clone());
    let (vocab, ids) = corpus.into_parts()?;
    let frequencies = frequencies(&ids, vocab.len())?;
    let mut file = SealedFile::create(path, SEAL)?;
    let mut block = encode_header(options.order, size, &vocab, &frequencies);
    let partition = VocabPartition::new(&frequencies, 1);
    let memory = options.memory;
    let count = NgramCountOptions { order, bits, memory, prune: &[], partition: &partition };
    let sorters = sort_text_windows::<W>(&ids, &folder, count, job)?;
    drop(ids);
    let mut last: Option<NgramKey<W>> = None;
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
            if (number as u64).is_multiple_of(CHECK_INTERVAL) {
                job.check()?;
            }
        }
    }
    file.write(&block)?;
    file.finish(&[])
}

/// Encode the sizes and the vocabulary of a shard.
fn encode_header(order: usize, size: CorpusSize, vocab: &Vocab, frequencies: &[u64]) -> Vec<u8> {
    let mut header = Vec::new();
    let kinds = vocab.len() - RESERVED.len();
    for number in [order as u64, size.sentences, size.words, size.longest, kinds as u64] {
        write_number(&mut header, number);
    }
    for (id, &frequency) in frequencies.iter().enumerate().skip(RESERVED.len()) {
        let word = vocab.word(to_u32(id));
        write_number(&mut header, word.len() as u64);
        header.extend(word.as_bytes());
        write_number(&mut header, frequency);
    }
    header
}

/// The n-gram counts of all shards of a text.
pub struct CountShards {
    vocab: Vocab,
    frequencies: Vec<u64>,
    files: Vec<CountShard>,
    size: CorpusSize,
    order: usize,
    folder: Arc<TempFolder>,
}

/// The windows of a shard, in a mapped file.
pub struct CountShard {
    place: Place,
    map: Mmap,
    /// Byte offset of the first window.
    start: usize,
    /// Word id in the whole text, by word id in the shard.
    renumbered: Vec<WordId>,
}

impl CountShards {
    /// Open the files of all shards, in the order of the text. Temporary files go to `temp_dir`
    /// (`None`: the system's temporary folder).
    pub fn open(paths: &[impl AsRef<Path>], temp_dir: Option<&Path>) -> Result<Self> {
        let mut vocab = Vocab::default();
        for word in RESERVED {
            vocab.intern(word);
        }
        let mut parts = CountShards {
            vocab,
            frequencies: vec![0; RESERVED.len()],
            files: Vec::new(),
            size: CorpusSize::default(),
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
        let (order, renumbered) =
            self.read_header(&mut cursor).ok_or_else(|| damage_error(&place))?;
        if !self.files.is_empty() && order != self.order {
            return Err(Error::Mismatch {
                place,
                found: format!("order {order}, but {} has {}", self.files[0].place, self.order),
                advice: "count all parts of a text with the same order".into(),
            });
        }
        self.order = order;
        let start = map.len() - cursor.rest().len();
        self.files.push(CountShard { place, map, start, renumbered });
        Ok(())
    }

    /// Read the order and the vocabulary of a shard. Return `None` if the values are inconsistent.
    fn read_header(&mut self, cursor: &mut Cursor<'_>) -> Option<(usize, Vec<WordId>)> {
        let order = usize::try_from(cursor.number()?).ok()?;
        let mut size = || cursor.number().filter(|&number| number <= MAX_FREQUENCY);
        let (sentences, words, longest) = (size()?, size()?, size()?);
        let kinds = cursor.number()?;
        let mut renumbered: Vec<WordId> = (0..to_u32(RESERVED.len())).collect();
        for _ in 0..kinds {
            let length = usize::try_from(cursor.number()?).ok()?;
            let id = self.vocab.intern(str::from_utf8(cursor.bytes(length)?).ok()?);
            let frequency = cursor.number().filter(|&frequency| frequency <= MAX_FREQUENCY)?;
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

    /// Return the order of the counts; 0 without shards.
    pub fn order(&self) -> usize {
        self.order
    }

    pub(super) fn into_text(
        self,
    ) -> (CorpusSize, Vocab, Vec<u64>, Vec<CountShard>, Arc<TempFolder>) {
        (self.size, self.vocab, self.frequencies, self.files, self.folder)
    }
}

/// Push the windows of all shards into one sorter per vocabulary range, which adds up equal
/// windows.
pub fn sort_shard_windows<const W: usize>(
    files: &[CountShard],
    folder: &Arc<TempFolder>,
    options: NgramCountOptions<'_>,
    job: &Job,
) -> Result<Vec<Sorter<NgramKey<W>, u64>>> {
    let sorter_memory = options.memory / 2 / options.partition.len();
    let sorter = |_| Sorter::new(folder, sorter_memory, Some(u64::saturating_add));
    let mut sorters: Vec<_> = (0..options.partition.len()).map(sorter).collect();
    for file in files {
        file.push_all(&mut sorters, options, job)?;
    }
    Ok(sorters)
}

impl CountShard {
    fn push_all<const W: usize>(
        &self,
        sorters: &mut [Sorter<NgramKey<W>, u64>],
        options: NgramCountOptions<'_>,
        job: &Job,
    ) -> Result<()> {
        let NgramCountOptions { order, bits, partition, .. } = options;
        let mut cursor = Cursor::new(&self.map[self.start..]);
        let mut window = ShardWindow { words: [0; MAX_ORDER], length: 0 };
        let mut number = 0_u64;
        while !cursor.is_at_end() {
            let count = window
                .read(&mut cursor, &self.renumbered, order)
                .ok_or_else(|| damage_error(&self.place))?;
            let key = NgramKey::from_words(&window.words[..window.length], bits);
            sorters[partition.range_of(window.words[0])].push(key, count)?;
            number += 1;
            if number.is_multiple_of(CHECK_INTERVAL) {
                job.check()?;
            }
        }
        Ok(())
    }
}

/// A decoded window; word ids of the whole text, newest first.
struct ShardWindow {
    words: [WordId; MAX_ORDER],
    length: usize,
}

impl ShardWindow {
    /// Decode the next window, which is stored as a difference, and return its frequency. Return
    /// `None` if the bytes are inconsistent.
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
        (self.length > 0 && (1..=MAX_FREQUENCY).contains(&count)).then_some(count)
    }
}

fn damage_error(place: &Place) -> Error {
    SEAL.error(place.clone(), Flaw::new("counts that make no sense"))
}
