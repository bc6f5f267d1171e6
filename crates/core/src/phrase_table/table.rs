//! A phrase table on disk, mapped and ready.
//!
//! In: a file that `TableWriter` wrote. Out: all options of a source phrase by one look-up,
//! without allocation; words and their ids.
//! How: opening checks the header and the small parts; a look-up follows the index to a block and
//! checks its checksum, and reading checks every bound. So a damaged file gives an error or
//! valid options, and opening takes milliseconds whatever the size.
//! Cost: O(options); the file's pages are shared between processes.

use super::format::{
    Contents, PARTS, Part, RowScores, SEAL, SHORT, START, STEPS, evidence, hash, slot,
};
use crate::align::Link;
use crate::corpus::WordId;
use crate::error::{Error, Place, Result};
use crate::orientation::{Direction, Model, Orientation};
use crate::storage::{Blob, Cursor, Flaw, long_at, map};
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
}

impl PhraseTable {
    /// Opens a table.
    pub fn open(path: &Path) -> Result<Self> {
        PhraseTable::from_blob(Blob::of_file(map(path)?), Place::file(path))
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
        let contents = Contents::from_flags(flags as u32)?;
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

    fn part(&self, part: Part) -> &[u8] {
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
        let none = Options { table: self, cursor: Cursor::new(&[]), src_len: 0, count: 0, left: 0 };
        let index = self.part(Part::Index);
        let slots = (index.len() / 8) as u64;
        if slots == 0 || src.is_empty() {
            return Ok(none);
        }
        let hash = hash(src.iter().copied());
        let first = slot(hash, slots);
        for step in 0..slots {
            let at = (first + step) % slots;
            let entry = long_at(index, at as usize * 8).ok_or_else(|| self.damaged())?;
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

    /// Every source phrase with its options, sorted by spelling.
    pub fn blocks(&self) -> Blocks<'_> {
        Blocks { table: self, at: self.parts[Part::Blocks as usize].start, left: self.src_phrases }
    }

    /// The block at a place in the file, and where the next one begins.
    fn block(&self, at: usize) -> Result<(WordIter<'_>, Options<'_>, usize)> {
        self.read_block(at).ok_or_else(|| self.damaged())
    }

    fn read_block(&self, at: usize) -> Option<(WordIter<'_>, Options<'_>, usize)> {
        let range = &self.parts[Part::Blocks as usize];
        let mut cursor =
            Cursor::new(self.blob.bytes().get(range.contains(&at).then_some(at..range.end)?)?);
        let checksum = u32::from_le_bytes(cursor.array()?);
        let length = usize::try_from(cursor.number()?).ok()?;
        let body = cursor.bytes(length)?;
        if xxh3_64(body) as u32 != checksum {
            return None;
        }
        let next = range.end - cursor.rest().len();
        let mut cursor = Cursor::new(body);
        let src_len = cursor.small()? as usize;
        let words = WordIter { cursor, left: src_len };
        for _ in 0..src_len {
            (cursor.small()? < self.src_words as u32).then_some(())?;
        }
        let count = if self.contents.counts { cursor.number()? } else { 0 };
        let left = cursor.number()?;
        let sound = (1..=self.max_length).contains(&src_len);
        sound.then_some((words, Options { table: self, cursor, src_len, count, left }, next))
    }

    fn damaged(&self) -> Error {
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

/// Words of one side of a table.
#[derive(Debug, Clone, Copy)]
pub struct Words<'t> {
    bytes: &'t [u8],
    len: usize,
}

impl<'t> Words<'t> {
    fn new(bytes: &'t [u8]) -> Option<Self> {
        let len = u32::from_le_bytes(Cursor::new(bytes).array()?) as usize;
        (bytes.len() >= len.checked_mul(8)?.checked_add(4)?).then_some(Words { bytes, len })
    }

    /// Makes sure that every word and id can be read; the number of words.
    fn check(self) -> Option<usize> {
        let letters = std::str::from_utf8(self.letters()).ok()?;
        let mut last = 0;
        for id in 0..self.len {
            let end = self.number(id)? as usize;
            (end > last && letters.is_char_boundary(end)).then_some(())?;
            (self.number(self.len + id)? < self.len as u32).then_some(())?;
            last = end;
        }
        (last == letters.len()).then_some(self.len)
    }

    fn number(self, at: usize) -> Option<u32> {
        Cursor::new(self.bytes.get(4 + 4 * at..)?).array().map(u32::from_le_bytes)
    }

    fn letters(self) -> &'t [u8] {
        &self.bytes[4 + 8 * self.len..]
    }

    /// Number of words.
    pub fn len(self) -> usize {
        self.len
    }

    /// Whether there is no word.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The word with this id; none when there is no such id.
    pub fn word(self, id: WordId) -> Option<&'t str> {
        let id = id as usize;
        let end = (id < self.len).then(|| self.number(id))??;
        let start = if id == 0 { 0 } else { self.number(id - 1)? };
        std::str::from_utf8(self.letters().get(start as usize..end as usize)?).ok()
    }

    /// The id of a word; none when the table does not have it.
    pub fn id(self, word: &str) -> Option<WordId> {
        let (mut low, mut high) = (0, self.len);
        while low < high {
            let middle = (low + high) / 2;
            let id = self.number(self.len + middle)?;
            match self.word(id)?.cmp(word) {
                std::cmp::Ordering::Equal => return Some(id),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }
}

/// The words of a phrase.
#[derive(Debug, Clone, Copy)]
pub struct WordIter<'t> {
    cursor: Cursor<'t>,
    left: usize,
}

impl Iterator for WordIter<'_> {
    type Item = WordId;

    fn next(&mut self) -> Option<WordId> {
        self.left = self.left.checked_sub(1)?;
        self.cursor.small()
    }
}

/// Goes through the table.
#[derive(Debug)]
pub struct Blocks<'t> {
    table: &'t PhraseTable,
    at: usize,
    left: u64,
}

impl<'t> Iterator for Blocks<'t> {
    type Item = Result<(WordIter<'t>, Options<'t>)>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        match self.table.block(self.at) {
            Ok((words, options, next)) => {
                self.at = next;
                Some(Ok((words, options)))
            }
            Err(error) => {
                self.left = 0;
                Some(Err(error))
            }
        }
    }
}

/// The options of a source phrase, sorted by the spelling of the target phrase.
#[derive(Debug, Clone, Copy)]
pub struct Options<'t> {
    table: &'t PhraseTable,
    cursor: Cursor<'t>,
    src_len: usize,
    count: u64,
    left: u64,
}

impl<'t> Options<'t> {
    /// Number of options that are left.
    pub fn len(&self) -> usize {
        self.left as usize
    }

    /// Whether none is left.
    pub fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// How often the source phrase was extracted; 0 when the table does not know.
    pub fn src_count(&self) -> u64 {
        self.count
    }

    fn read(&mut self) -> Option<OptionView<'t>> {
        let contents = self.table.contents;
        let cursor = &mut self.cursor;
        let tgt_len = cursor.small()? as usize;
        (1..=self.table.max_length).contains(&tgt_len).then_some(())?;
        let tgt = WordIter { cursor: *cursor, left: tgt_len };
        for _ in 0..tgt_len {
            (cursor.small()? < self.table.tgt_words as u32).then_some(())?;
        }
        let is_short = self.table.max_length <= SHORT;
        let links = cursor.small()? as usize;
        let links = cursor.bytes(links.checked_mul(if is_short { 1 } else { 2 })?)?;
        let links = LinkIter { bytes: links, is_short };
        let inside = |link: Link| link.src.index() < self.src_len && link.tgt.index() < tgt_len;
        links.clone().all(inside).then_some(())?;
        let mut scores = [0.0; 4];
        for score in &mut scores {
            *score = if contents.packed {
                -f32::from(u16::from_le_bytes(cursor.array()?)) / STEPS
            } else {
                f32::from_le_bytes(cursor.array()?)
            };
            score.is_finite().then_some(())?;
        }
        let counts =
            if contents.counts { Some((cursor.number()?, cursor.number()?)) } else { None };
        let set = if contents.rows() > 0 { cursor.small()? } else { 0 };
        let set = match set.checked_sub(1) {
            Some(set) => {
                let length = contents.rows() * 4;
                let start = (set as usize).checked_mul(length)?;
                Some(self.table.part(Part::Sets).get(start..start.checked_add(length)?)?)
            }
            None => None,
        };
        Some(OptionView { table: self.table, tgt, links, scores, counts, set })
    }
}

impl<'t> Iterator for Options<'t> {
    type Item = Result<OptionView<'t>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        Some(self.read().ok_or_else(|| {
            self.left = 0;
            self.table.damaged()
        }))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.left as usize))
    }
}

/// The links inside a phrase pair.
#[derive(Debug, Clone)]
pub struct LinkIter<'t> {
    bytes: &'t [u8],
    is_short: bool,
}

impl Iterator for LinkIter<'_> {
    type Item = Link;

    fn next(&mut self) -> Option<Link> {
        if self.is_short {
            let (&both, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            return Some(Link::new(u32::from(both >> 4), u32::from(both & 15)));
        }
        let ([src, tgt], rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(Link::new(u32::from(*src), u32::from(*tgt)))
    }
}

/// One translation of a source phrase.
#[derive(Debug, Clone)]
pub struct OptionView<'t> {
    table: &'t PhraseTable,
    tgt: WordIter<'t>,
    links: LinkIter<'t>,
    /// ln φ(f|e), ln lex(f|e), ln φ(e|f), ln lex(e|f).
    pub scores: [f32; 4],
    /// How often the pair and the target phrase were extracted, if the table knows.
    pub counts: Option<(u64, u64)>,
    set: Option<&'t [u8]>,
}

impl<'t> OptionView<'t> {
    /// The target words.
    pub fn tgt(&self) -> impl Iterator<Item = WordId> + use<'t> {
        self.tgt
    }

    /// The links inside the pair, sorted.
    pub fn links(&self) -> impl Iterator<Item = Link> + use<'t> {
        self.links.clone()
    }

    /// ln p of M, S, DL, DR, then of M, S, D by one model towards one neighbour; none when the
    /// table does not have the model, or the pair no scores of it.
    pub fn orientation(&self, model: Model, direction: Direction) -> Option<&'t RowScores> {
        let at = self.table.contents.row_of(model)? + direction as usize;
        let number = Cursor::new(self.set?.get(4 * at..)?).array().map(u32::from_le_bytes)?;
        self.table.rows.get(number as usize)
    }

    /// The scores of an orientation model, direction by direction, those that are there.
    pub fn rows(&self, orientation: Orientation) -> impl Iterator<Item = &'t [f32]> {
        let row = move |direction| self.orientation(orientation.model, direction);
        orientation.directions().filter_map(row).map(move |row| &row[orientation.classes.range()])
    }
}
