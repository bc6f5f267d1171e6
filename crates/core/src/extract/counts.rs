//! Everything that was counted in some sentence pairs: what a phrase table is made of.
//!
//! In: a bitext with links, or files of counts. Out: `Counts`, which can be written, read and
//! merged. Merging the counts of the shards of a corpus gives, byte for byte, the counts of the
//! corpus; so does any number of threads and any limit of memory.
//!
//! The file: sealed with the magic word `wwcounts`; then the recipe, the words of both sides, link
//! counts, and the run's three parts.

use super::grid::Grid;
use super::merge::{Part, damaged, merge};
use super::orientation::Strictness;
use super::run::{Collector, Run};
use super::words::{LinkCount, LinkCounter, Words};
use crate::Job;
use crate::align::{Link, Links};
use crate::corpus::Bitext;
use crate::error::{Error, Place, Result};
use crate::narrow::{to_u8, to_u32};
use crate::parallel;
use crate::storage::{Blob, Cursor, Seal, SealedFile, TempFolder, map, write_number};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
/// Most memory one thread uses for counting; phrases are numbered with 32 bits.
const MAX_MEMORY: usize = 12 << 30;
/// Sentence pairs between two looks at the job.
const BLOCK: usize = 256;

/// What to extract, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtractOptions {
    /// Longest phrase of either side, in words.
    pub max_length: usize,
    /// What counts as a neighbour.
    pub strictness: Strictness,
    /// Bytes of memory for counting; beyond them counts go to disk.
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
    fn check(&self) -> Result<()> {
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
    /// How often words are linked, sorted.
    pub links: Vec<LinkCount>,
    /// Phrases and phrase pairs.
    pub run: Run,
    /// Where it comes from, for messages.
    pub place: Place,
    /// Keeps temporary files until they are no longer needed.
    _folder: Option<Arc<TempFolder>>,
}

impl Counts {
    /// Extracts and counts the phrase pairs of a bitext.
    pub fn of(bitext: &Bitext, links: &Links, options: &ExtractOptions, job: &Job) -> Result<Self> {
        options.check()?;
        check_links(bitext, links)?;
        let (src_words, src_codes) = Words::of(bitext.src(), bitext, "source")?;
        let (tgt_words, tgt_codes) = Words::of(bitext.tgt(), bitext, "target")?;
        let folder = TempFolder::new(options.temp_dir.as_deref());
        job.begin(bitext.len() as u64);
        let threads = job.threads().min(bitext.len().div_ceil(BLOCK)).max(1);
        let task = Task {
            bitext,
            links,
            options,
            codes: (&src_codes, &tgt_codes),
            words: (&src_words, &tgt_words),
            memory: (options.memory / threads).min(MAX_MEMORY),
            folder: &folder,
            job,
        };
        let bound = |part: usize| bitext.len() * part / threads;
        let work = |(): &mut (), part| task.work(bound(part)..bound(part + 1));
        let (results, _) = parallel::map(threads, 1, job, || (), work)?;
        let place = Place { file: "counts".into(), line: None };
        let mut parts = Vec::new();
        let mut linked = LinkCounter::default();
        for (runs, counter) in results {
            let part = |run| Part { run, codes: None, place: place.clone() };
            parts.extend(runs.into_iter().map(part));
            for LinkCount { src, tgt, count } in counter.sorted() {
                linked.add(src, tgt, count);
            }
        }
        let ends = (src_words.end_code(), tgt_words.end_code());
        let run = merge(parts, ends, options.memory / 4, &folder, job)?;
        Ok(Counts {
            max_length: options.max_length,
            strictness: options.strictness,
            sentences: bitext.len() as u64,
            src_words,
            tgt_words,
            links: linked.sorted(),
            run,
            place,
            _folder: Some(folder),
        })
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
        let words: Vec<&Words> = parts.iter().map(|part| &part.src_words).collect();
        let (src_words, src_codes) = Words::union(&words);
        let words: Vec<&Words> = parts.iter().map(|part| &part.tgt_words).collect();
        let (tgt_words, tgt_codes) = Words::union(&words);
        let mut linked = LinkCounter::default();
        for (part, codes) in parts.iter().zip(src_codes.iter().zip(&tgt_codes)) {
            for &LinkCount { src, tgt, count } in &part.links {
                let src = new_word(src, &part.src_words, codes.0, &src_words);
                let tgt = new_word(tgt, &part.tgt_words, codes.1, &tgt_words);
                linked.add(src, tgt, count);
            }
        }
        let sentences = parts.iter().map(|part| part.sentences).sum();
        let folder = TempFolder::new(options.temp_dir.as_deref());
        let ends = (src_words.end_code(), tgt_words.end_code());
        let codes = src_codes.into_iter().zip(tgt_codes);
        let runs = parts.into_iter().zip(codes);
        let runs =
            runs.map(|(part, codes)| Part { run: part.run, codes: Some(codes), place: part.place });
        let run = merge(runs.collect(), ends, options.memory / 4, &folder, job)?;
        let place = Place { file: "counts".into(), line: None };
        let links = linked.sorted();
        Ok(Counts {
            max_length,
            strictness,
            sentences,
            src_words,
            tgt_words,
            links,
            run,
            place,
            _folder: Some(folder),
        })
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
        write_number(&mut front, self.links.len() as u64);
        for link in &self.links {
            write_number(&mut front, u64::from(link.src));
            write_number(&mut front, u64::from(link.tgt));
            write_number(&mut front, link.count);
        }
        let Run { src, tgt, entries, src_phrases, tgt_phrases, pairs } = &self.run;
        for number in [*src_phrases, *tgt_phrases, *pairs] {
            write_number(&mut front, number);
        }
        let blobs = [src.bytes(), tgt.bytes(), entries.bytes()];
        for blob in blobs {
            write_number(&mut front, blob.len() as u64);
        }
        write(&front)?;
        blobs.iter().try_for_each(|blob| write(blob))
    }

    /// Opens a file that `save` wrote.
    pub fn open(path: &Path) -> Result<Self> {
        let place = Place::file(path);
        let map = Arc::new(map(path)?);
        let checked = SEAL.open(&map).and_then(|sealed| sealed.verify());
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
        let mut links = Vec::new();
        for _ in 0..cursor.number()? {
            let (src, tgt, count) = (cursor.small()?, cursor.small()?, cursor.number()?);
            let known = src as usize <= src_words.len() && tgt as usize <= tgt_words.len();
            links.push(known.then_some(LinkCount { src, tgt, count })?);
        }
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
        let run = Run { src, tgt, entries, src_phrases, tgt_phrases, pairs };
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
            _folder: None,
        })
    }
}

/// The number of a linked word in the union of vocabularies.
fn new_word(number: u32, own: &Words, codes: &[u32], union: &Words) -> u32 {
    let Some(place) = number.checked_sub(1) else { return 0 };
    let code = codes[own.code(place as usize) as usize];
    union.place(code).map_or(0, |place| to_u32(place) + 1)
}

/// One thread's part of the work.
struct Task<'a> {
    bitext: &'a Bitext,
    links: &'a Links,
    options: &'a ExtractOptions,
    codes: (&'a [u32], &'a [u32]),
    words: (&'a Words, &'a Words),
    memory: usize,
    folder: &'a TempFolder,
    job: &'a Job,
}

impl Task<'_> {
    fn work(&self, sentences: Range<usize>) -> Result<(Vec<Run>, LinkCounter)> {
        let mut grid = Grid::default();
        let mut collector = Collector::default();
        let mut linked = LinkCounter::default();
        let mut runs = Vec::new();
        let ends = (self.words.0.end_code(), self.words.1.end_code());
        let (mut src, mut tgt) = (Vec::new(), Vec::new());
        let last = sentences.end;
        for number in sentences {
            let coded = |ids: &[u32], codes: &[u32], out: &mut Vec<u32>| {
                out.clear();
                out.extend(ids.iter().map(|&id| codes[id as usize]));
            };
            coded(self.bitext.src().sentence(number), self.codes.0, &mut src);
            coded(self.bitext.tgt().sentence(number), self.codes.1, &mut tgt);
            let links = self.links.sentence(number);
            self.count_links(&src, &tgt, links, &mut linked);
            let (lengths, max_length) = ((src.len(), tgt.len()), self.options.max_length);
            collector.begin(lengths, max_length);
            grid.extract(
                lengths,
                links,
                max_length,
                self.options.strictness,
                |block, own, seen| {
                    collector.add((&src, &tgt), block, own, seen);
                },
            );
            if collector.memory() > self.memory {
                runs.push(collector.finish(ends, true, self.folder)?);
            }
            if number % BLOCK == BLOCK - 1 || number + 1 == last {
                self.job.check()?;
                self.job.advance((number % BLOCK + 1) as u64);
            }
        }
        if !collector.is_empty() || runs.is_empty() {
            runs.push(collector.finish(ends, !runs.is_empty(), self.folder)?);
        }
        Ok((runs, linked))
    }

    /// Counts linked words; an unaligned word is linked to "no word".
    fn count_links(&self, src: &[u32], tgt: &[u32], links: &[Link], linked: &mut LinkCounter) {
        let number = |words: &Words, code: u32| words.place(code).map_or(0, |at| to_u32(at) + 1);
        let (mut column, mut at) = (0, 0);
        let mut seen = [0u64; 8];
        let mut long = Vec::new();
        if tgt.len() > 512 {
            long.resize(tgt.len().div_ceil(64), 0);
        }
        let seen = if long.is_empty() { &mut seen[..] } else { &mut long[..] };
        while column < src.len() {
            let word = number(self.words.0, src[column]);
            if links.get(at).is_none_or(|link| link.src.index() != column) {
                linked.add(word, 0, 1);
            }
            while let Some(link) = links.get(at).filter(|link| link.src.index() == column) {
                let row = link.tgt.index();
                linked.add(word, number(self.words.1, tgt[row]), 1);
                seen[row / 64] |= 1 << (row % 64);
                at += 1;
            }
            column += 1;
        }
        for (row, &code) in tgt.iter().enumerate() {
            if seen[row / 64] >> (row % 64) & 1 == 0 {
                linked.add(0, number(self.words.1, code), 1);
            }
        }
    }
}

pub(super) fn check_links(bitext: &Bitext, links: &Links) -> Result<()> {
    let place = |line| Place { file: "links".into(), line };
    let advice = || "do both come from the same corpus?".into();
    if links.len() != bitext.len() {
        let (found, expected) = (links.len(), bitext.len());
        let found = format!("links of {found} sentence pairs, but the text has {expected}");
        return Err(Error::Mismatch { place: place(None), found, advice: advice() });
    }
    for number in 0..bitext.len() {
        let src = bitext.src().sentence(number).len();
        let tgt = bitext.tgt().sentence(number).len();
        let outside = |link: &&Link| link.src.index() >= src || link.tgt.index() >= tgt;
        if let Some(link) = links.sentence(number).iter().find(outside) {
            let (i, j) = (link.src.0, link.tgt.0);
            let found = format!("link {i}-{j} is outside a sentence pair of {src} and {tgt} words");
            let place = place(Some(number as u64 + 1));
            return Err(Error::Mismatch { place, found, advice: advice() });
        }
    }
    Ok(())
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
