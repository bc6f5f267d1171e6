//! A phrase table on disk, mapped and ready.
//!
//! In: a file that `TableWriter` wrote. Out: all options of a source phrase by one look-up,
//! without allocation; words and their ids.
//! How: opening checks the header and the small parts; a look-up follows the index to a block and
//! checks its checksum, the index is compared with its own in the background (`verified`), and
//! reading checks every bound. So a damaged file gives an error, and opening takes milliseconds
//! whatever the size.
//! Cost: O(options); the file's pages are shared between processes.

use super::format::{Contents, PARTS, Part, RowScores, SEAL, START, evidence, hash, slot};
use super::view::{Blocks, OptionView, Options, WordIter};
use super::words::Words;
use crate::corpus::WordId;
use crate::error::{Error, Place, Result};
use crate::narrow::{low_u32, to_u32, to_usize};
use crate::storage::{Blob, Check, Cursor, Flaw, long_at, map_open};
use std::ops::Range;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

/// Scores by phrase pair.
#[derive(Debug)]
pub struct PhraseTable {
    blob: Blob,
    place: Place,
    contents: Contents,
    max_length: usize,
    src_phrases: u64,
    pairs: u64,
    sentences: u64,
    parts: [Range<usize>; PARTS],
    checksums: [u64; PARTS],
    digest: u64,
    rows: Vec<RowScores>,
    src_words: usize,
    tgt_words: usize,
    /// Of the index, under way when the table is that of a file.
    check: Option<Check>,
}

impl PhraseTable {
    /// Opens a table.
    pub fn open(path: &Path) -> Result<Self> {
        let (file, map) = map_open(path)?;
        let mut table = PhraseTable::from_blob(Blob::of_file(map), Place::file(path))?;
        let Range { start, end } = table.parts[Part::Index as usize];
        let checksum = table.checksums[Part::Index as usize];
        table.check = Some(Check::begin(file, start as u64..end as u64, checksum));
        Ok(table)
    }

    /// Refuses a table with a damaged index, once all of that was compared with its checksum. Ask
    /// before what was looked up goes out; blocks of options are compared as they are read.
    pub fn verified(&self) -> Result<()> {
        match self.check.as_ref().map_or(Ok(true), Check::is_sound) {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.damaged()),
            Err(source) => Err(Error::io(Path::new(&self.place.file), source)),
        }
    }

    /// A table whose bytes are at hand; messages name `place`.
    pub fn from_blob(blob: Blob, place: Place) -> Result<Self> {
        let sealed = SEAL.open(blob.bytes()).map_err(|flaw| SEAL.error(place.clone(), flaw))?;
        let (numbers, digest) = (sealed.numbers, sealed.digest);
        let damaged = damaged(&place, "a table");
        PhraseTable::read(blob, place, &numbers, digest).ok_or(damaged)
    }

    fn read(blob: Blob, place: Place, numbers: &[u64], digest: u64) -> Option<Self> {
        let (&[flags, src_phrases, pairs, sentences], numbers) = numbers.split_first_chunk()?;
        let contents = Contents::from_flags(low_u32(flags))?;
        let max_length = (flags >> 32) as usize;
        let mut parts: [Range<usize>; PARTS] = Default::default();
        let mut checksums = [0; PARTS];
        let (told, _) = numbers.as_chunks::<3>();
        for ((range, sum), &[start, length, checksum]) in
            parts.iter_mut().zip(&mut checksums).zip(told)
        {
            let start = usize::try_from(start).ok()?;
            let end = start.checked_add(usize::try_from(length).ok()?)?;
            *range = (start >= START && end <= blob.bytes().len()).then_some(start..end)?;
            *sum = checksum;
        }
        let mut table = PhraseTable {
            blob,
            place,
            contents,
            max_length,
            src_phrases,
            pairs,
            sentences,
            parts,
            checksums,
            digest,
            rows: Vec::new(),
            src_words: 0,
            tgt_words: 0,
            check: None,
        };
        let small = [Part::SrcWords, Part::TgtWords, Part::Rows, Part::Sets, Part::Recipe];
        if !small.into_iter().all(|part| table.is_sound(part)) {
            return None;
        }
        table.src_words = Words::new(table.part(Part::SrcWords))?.check()?;
        table.tgt_words = Words::new(table.part(Part::TgtWords))?.check()?;
        table.rows = rows(table.part(Part::Rows))?;
        std::str::from_utf8(table.part(Part::Recipe)).ok()?;
        Some(table)
    }

    pub(super) fn part(&self, part: Part) -> &[u8] {
        &self.blob.bytes()[self.parts[part as usize].clone()]
    }

    fn is_sound(&self, part: Part) -> bool {
        xxh3_64(self.part(part)) == self.checksums[part as usize]
    }

    /// Reads the whole file and compares its checksum.
    pub fn verify(&self) -> Result<()> {
        let checked = SEAL.open(self.blob.bytes()).and_then(|sealed| sealed.verify());
        checked.map_err(|flaw| SEAL.error(self.place.clone(), flaw))
    }

    /// What the table holds.
    pub fn contents(&self) -> Contents {
        self.contents
    }

    /// Longest phrase of either side.
    pub fn max_length(&self) -> usize {
        self.max_length
    }

    /// Number of source phrases.
    pub fn src_phrases(&self) -> u64 {
        self.src_phrases
    }

    /// Number of phrase pairs.
    pub fn pairs(&self) -> u64 {
        self.pairs
    }

    /// Number of sentence pairs it was made from; 0 when not known.
    pub fn sentences(&self) -> u64 {
        self.sentences
    }

    /// A number that tells this table from others.
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// How the table was made.
    pub fn recipe(&self) -> &str {
        std::str::from_utf8(self.part(Part::Recipe)).unwrap_or_default()
    }

    /// Number of bytes on disk.
    pub fn bytes(&self) -> u64 {
        self.blob.bytes().len() as u64
    }

    /// The source words.
    pub fn src_words(&self) -> Words<'_> {
        Words { bytes: self.part(Part::SrcWords), len: self.src_words }
    }

    /// The target words.
    pub fn tgt_words(&self) -> Words<'_> {
        Words { bytes: self.part(Part::TgtWords), len: self.tgt_words }
    }

    /// All options of a source phrase; none when the table does not have it.
    pub fn options(&self, src: &[WordId]) -> Result<Options<'_>> {
        let none = Options::none(self);
        let index = self.part(Part::Index);
        let slots = (index.len() / 8) as u64;
        if slots == 0 || src.is_empty() {
            return Ok(none);
        }
        let hash = hash(src.iter().copied());
        let first = slot(hash, slots);
        for step in 0..slots {
            let at = (first + step) % slots;
            let entry = long_at(index, to_usize(at) * 8).ok_or_else(|| self.damaged())?;
            if entry == 0 {
                break;
            }
            if entry >> 40 != evidence(hash) {
                continue;
            }
            let (words, options, _) = self.block((entry & 0xff_ffff_ffff) as usize)?;
            if words.eq(src.iter().copied()) {
                return Ok(options);
            }
        }
        Ok(none)
    }

    /// Orientation scores by number.
    pub(super) fn row(&self, number: u32) -> Option<&RowScores> {
        self.rows.get(number as usize)
    }

    /// Every source phrase with its options, sorted by spelling.
    pub fn blocks(&self) -> Blocks<'_> {
        Blocks { table: self, at: self.parts[Part::Blocks as usize].start, left: self.src_phrases }
    }

    /// The block at a place in the file, and where the next one begins.
    pub(super) fn block(&self, at: usize) -> Result<(WordIter<'_>, Options<'_>, usize)> {
        self.read_block(at).ok_or_else(|| self.damaged())
    }

    fn read_block(&self, at: usize) -> Option<(WordIter<'_>, Options<'_>, usize)> {
        let range = &self.parts[Part::Blocks as usize];
        let mut cursor =
            Cursor::new(self.blob.bytes().get(range.contains(&at).then_some(at..range.end)?)?);
        let checksum = u32::from_le_bytes(cursor.array()?);
        let length = usize::try_from(cursor.number()?).ok()?;
        let body = cursor.bytes(length)?;
        if low_u32(xxh3_64(body)) != checksum {
            return None;
        }
        let next = range.end - cursor.rest().len();
        let end = next;
        let mut cursor = Cursor::new(body);
        let src_len = cursor.small()? as usize;
        let words = WordIter { cursor, left: src_len };
        for _ in 0..src_len {
            (cursor.small()? < to_u32(self.src_words)).then_some(())?;
        }
        let count = if self.contents.counts { cursor.number()? } else { 0 };
        let left = cursor.number()?;
        let sound = (1..=self.max_length).contains(&src_len);
        sound.then_some((words, Options { table: self, cursor, end, src_len, count, left }, next))
    }

    /// The option of a source phrase of so many words that stands at a place that `Options` told.
    pub(super) fn option_at(&self, src_len: usize, place: u64) -> Result<OptionView<'_>> {
        let range = &self.parts[Part::Blocks as usize];
        let (at, end) = (to_usize(place), range.end);
        let bytes = if range.contains(&at) { self.blob.bytes().get(at..end) } else { None };
        let cursor = Cursor::new(bytes.ok_or_else(|| self.damaged())?);
        let mut options = Options { table: self, cursor, end, src_len, count: 0, left: 1 };
        options.next().unwrap_or_else(|| Err(self.damaged()))
    }

    pub(super) fn damaged(&self) -> Error {
        damaged(&self.place, "this part of the table")
    }
}

fn damaged(place: &Place, what: &str) -> Error {
    SEAL.error(place.clone(), Flaw::new(format!("{what} is damaged or cut short")))
}

fn rows(bytes: &[u8]) -> Option<Vec<RowScores>> {
    let mut cursor = Cursor::new(bytes);
    let mut rows = Vec::with_capacity(bytes.len() / size_of::<RowScores>());
    while !cursor.is_at_end() {
        let mut row = [0.0; 7];
        for score in &mut row {
            *score = f32::from_le_bytes(cursor.array()?);
            score.is_finite().then_some(())?;
        }
        rows.push(row);
    }
    Some(rows)
}
