//! Everything that was counted in some sentence pairs: what a phrase table is made of.
//!
//! In: a bitext with links (`count`), or files of counts. Out: `Counts`, which can be written, read
//! and merged. Merging the counts of the shards of a corpus gives, byte for byte, the counts of the
//! corpus; so does any number of threads and any limit of memory.
//!
//! The file: sealed with the magic word `wwcounts`; then the recipe, the words of both sides, link
//! counts, and the run's three parts.
//! Cost: the words of both sides in memory; all else is read as it is needed.

use super::count::combine;
use super::linked::LinkCounts;
use super::merge::damaged;
use super::orientation::Strictness;
use super::run::Run;
use super::words::Words;
use super::{Counter, Piece};
use crate::Job;
use crate::align::WordAlignments;
use crate::corpus::Bitext;
use crate::error::{Error, Place, Result};
use crate::narrow::to_u8;
use crate::storage::{Blob, Cursor, Flaw, Seal, SealedFile, TempFolder, map, write_number};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;

pub(crate) const SEAL: Seal = Seal {
    magic: *b"wwcounts",
    version: 2,
    numbers: 0,
    what: "a file of counts",
    advice: "make one with `wayword extract SRC TGT LINKS --counts FILE`",
};

/// Longest phrase that can be asked for.
pub const MAX_LENGTH: usize = 100;
/// Least memory that can be asked for.
pub const MIN_MEMORY: usize = 1 << 20;
/// What to extract, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtractOptions {
    /// Longest phrase of either side, in words.
    pub max_length: usize,
    /// What counts as a neighbour.
    pub strictness: Strictness,
    /// Bytes of memory that the process keeps to, as far as it can: counts beyond go to disk.
    pub memory: usize,
    /// Where temporary files go; none for the system's own place.
    pub temp_dir: Option<PathBuf>,
}

impl Default for ExtractOptions {
    fn default() -> Self {
        ExtractOptions {
            max_length: 7,
            strictness: Strictness::Strict,
            memory: 1 << 30,
            temp_dir: None,
        }
    }
}

impl ExtractOptions {
    pub(super) fn check(&self) -> Result<()> {
        let wrong = |name: &str, found: usize, expected: String| Error::Argument {
            name: name.into(),
            found: found.to_string(),
            expected,
        };
        if !(1..=MAX_LENGTH).contains(&self.max_length) {
            return Err(wrong("max_length", self.max_length, format!("1 to {MAX_LENGTH} words")));
        }
        if self.memory < MIN_MEMORY {
            return Err(wrong("memory", self.memory, format!("at least {MIN_MEMORY} bytes")));
        }
        Ok(())
    }
}

/// What was counted.
#[derive(Debug)]
pub struct Counts {
    /// Longest phrase of either side.
    pub max_length: usize,
    /// What counted as a neighbour.
    pub strictness: Strictness,
    /// Number of sentence pairs.
    pub sentences: u64,
    /// Source words.
    pub src_words: Words,
    /// Target words.
    pub tgt_words: Words,
    /// How often words are linked.
    pub links: LinkCounts,
    /// Phrases and phrase pairs.
    pub run: Run,
    /// Where it comes from, for messages.
    pub place: Place,
    /// Keeps temporary files until they are no longer needed.
    pub(super) folder: Arc<TempFolder>,
}

impl Counts {
    /// Extracts and counts the phrase pairs of a bitext.
    pub fn of(
        bitext: &Bitext,
        links: &WordAlignments,
        options: &ExtractOptions,
        job: &Job,
    ) -> Result<Self> {
        let mut counter = Counter::new(options)?;
        job.begin(bitext.len() as u64);
        counter.add(bitext, links, job)?;
        counter.finish(job)
    }

    /// Adds up the counts of several parts of a corpus, in any order.
    pub fn merge(parts: Vec<Counts>, options: &ExtractOptions, job: &Job) -> Result<Self> {
        options.check()?;
        let Some(first) = parts.first() else {
            return Err(Error::Argument {
                name: "shards".into(),
                found: "none".into(),
                expected: "at least one file of counts".into(),
            });
        };
        let (max_length, strictness) = (first.max_length, first.strictness);
        let odd = |part: &&Counts| (part.max_length, part.strictness) != (max_length, strictness);
        if let Some(odd) = parts.iter().find(odd) {
            return Err(other_recipe(first, odd));
        }
        let options = ExtractOptions { max_length, strictness, ..options.clone() };
        let sentences = parts.iter().map(|part| part.sentences).sum();
        let (mut folders, mut pieces) = (Vec::new(), Vec::new());
        for Counts { src_words, tgt_words, links, run, place, folder, .. } in parts {
            let words = (src_words, tgt_words);
            pieces.push(Piece { words, runs: vec![run], links: vec![links], place });
            folders.push(folder); // kept until their files are merged
        }
        let folder = TempFolder::new(options.temp_dir.as_deref());
        combine(pieces, sentences, &options, folder, job)
    }

    /// Where temporary files made of it go.
    pub fn folder(&self) -> &Arc<TempFolder> {
        &self.folder
    }

    /// Writes a file that `open` reads.
    pub fn save(&self, path: &Path) -> Result<()> {
        let mut file = SealedFile::create(path, SEAL)?;
        self.write(|bytes| file.write(bytes))?;
        file.finish(&[])
    }

    /// Hands the bytes after the header to `write`, one after the other.
    pub(super) fn write(&self, mut write: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut front = vec![self.strictness as u8, to_u8(self.max_length)];
        write_number(&mut front, self.sentences);
        self.src_words.write(&mut front);
        self.tgt_words.write(&mut front);
        write_number(&mut front, self.links.len);
        write(&front)?;
        self.links.blob.pieces(&mut write)?;
        front.clear();
        let Run { src, tgt, entries, src_phrases, tgt_phrases, pairs, .. } = &self.run;
        for number in [*src_phrases, *tgt_phrases, *pairs] {
            write_number(&mut front, number);
        }
        for blob in [src, tgt, entries] {
            write_number(&mut front, blob.bytes().len() as u64);
        }
        write(&front)?;
        [src, tgt, entries].iter().try_for_each(|blob| blob.pieces(&mut write))
    }

    /// Opens a file that `save` wrote.
    pub fn open(path: &Path) -> Result<Self> {
        let place = Place::file(path);
        let map = Arc::new(map(path)?);
        let checked = SEAL.open(&map).and_then(|sealed| {
            let body = Blob::Mapped(map.clone(), SEAL.size()..map.len());
            (sum(&body) == sealed.checksum)
                .then_some(())
                .ok_or(Flaw::new("bytes that do not fit their checksum"))
        });
        checked.map_err(|flaw| SEAL.error(place.clone(), flaw))?;
        Counts::read(&map, place.clone()).ok_or_else(|| damaged(&place))
    }

    fn read(map: &Arc<memmap2::Mmap>, place: Place) -> Option<Self> {
        let mut cursor = Cursor::new(map.get(SEAL.size()..)?);
        let [strictness, max_length] = cursor.array()?.map(usize::from);
        let strictness = Strictness::ALL.get(strictness)?.1;
        let sentences = cursor.number()?;
        let src_words = Words::read(&mut cursor)?;
        let tgt_words = Words::read(&mut cursor)?;
        let len = cursor.number()?;
        let start = map.len() - cursor.rest().len();
        let end = start + LinkCounts::skip(&mut cursor, len, (&src_words, &tgt_words))?;
        let links = LinkCounts { blob: Blob::Mapped(map.clone(), start..end), len };
        let (src_phrases, tgt_phrases) = (cursor.number()?, cursor.number()?);
        let pairs = cursor.number()?;
        let lengths = [cursor.number()?, cursor.number()?, cursor.number()?];
        let mut start = map.len() - cursor.rest().len();
        let mut blob = |length: u64| {
            let end = start.checked_add(usize::try_from(length).ok()?)?;
            let range = std::mem::replace(&mut start, end)..end;
            (end <= map.len()).then(|| Blob::Mapped(map.clone(), range))
        };
        let (src, tgt, entries) = (blob(lengths[0])?, blob(lengths[1])?, blob(lengths[2])?);
        let mut run = Run { src, tgt, entries, src_phrases, tgt_phrases, pairs, ..Run::default() };
        run.find_marks()?;
        let whole = start == map.len() && (1..=MAX_LENGTH).contains(&max_length);
        whole.then_some(Counts {
            max_length,
            strictness,
            sentences,
            src_words,
            tgt_words,
            links,
            run,
            place,
            folder: TempFolder::new(None),
        })
    }
}

/// The checksum of bytes of any number.
fn sum(body: &Blob) -> u64 {
    let mut sum = Xxh3::new();
    let taken = body.pieces(|bytes| {
        sum.update(bytes);
        Ok(())
    });
    debug_assert!(taken.is_ok());
    sum.digest()
}

fn other_recipe(first: &Counts, odd: &Counts) -> Error {
    let recipe =
        |part: &Counts| format!("maximum length {}, {}", part.max_length, part.strictness.name());
    Error::Mismatch {
        place: odd.place.clone(),
        found: format!("{}, but {} has {}", recipe(odd), first.place, recipe(first)),
        advice: "extract all parts of a corpus with the same options".into(),
    }
}
