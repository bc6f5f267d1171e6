//! Counting: sentence pairs go in, a piece of the corpus at a time, and `Counts` come out.
//!
//! In: pieces of a bitext with their links; one piece, or files that are read in pieces. Out:
//! `Counts`, the same for any pieces, threads and memory.
//! How: each piece numbers its words by spelling, each thread collects the blocks of its sentences
//! in runs; at the end the words of all pieces are one list, and all runs are merged.
//! Cost: what is counted of `memory` that is left beside the piece; then the disk.

use super::counts::{Counts, ExtractOptions};
use super::grid::Grid;
use super::linked::{LinkCounter, LinkCounts, LinkPart, merge_links};
use super::merge::{Part, merge};
use super::run::{Collector, Run};
use super::words::Words;
use crate::Job;
use crate::align::{Link, WordAlignments};
use crate::corpus::{Bitext, LineReader, ReadOptions};
use crate::error::{Error, Place, Result};
use crate::narrow::to_u32;
use crate::parallel::{BLOCK, each, for_each_block};
use crate::storage::{TempFolder, give_back, left_of};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Most memory one thread uses for counting; phrases are numbered with 32 bits.
const MAX_MEMORY: usize = 12 << 30;

/// What was counted of a piece of the corpus.
pub struct Piece {
    pub words: (Words, Words),
    pub runs: Vec<Run>,
    pub links: Vec<LinkCounts>,
    pub place: Place,
}

/// Counts the phrase pairs of a corpus, piece by piece.
pub struct Counter {
    options: ExtractOptions,
    folder: Arc<TempFolder>,
    pieces: Vec<Piece>,
    sentences: u64,
}

impl Counter {
    /// Nothing counted yet.
    pub fn new(options: &ExtractOptions) -> Result<Self> {
        options.check()?;
        let folder = TempFolder::new(options.temp_dir.as_deref());
        Ok(Counter { options: options.clone(), folder, pieces: Vec::new(), sentences: 0 })
    }

    /// Adds sentence pairs with their links.
    pub fn add(&mut self, bitext: &Bitext, links: &WordAlignments, job: &Job) -> Result<()> {
        check_links(bitext, links)?;
        let (src_words, src_codes) = Words::of(bitext.src(), bitext, "source")?;
        let (tgt_words, tgt_codes) = Words::of(bitext.tgt(), bitext, "target")?;
        let threads = job.threads().min(bitext.len().div_ceil(BLOCK)).max(1);
        let memory = left_of(self.options.memory) / threads;
        let task = Task {
            bitext,
            links,
            options: &self.options,
            codes: (&src_codes, &tgt_codes),
            words: (&src_words, &tgt_words),
            memory: memory.min(MAX_MEMORY),
            is_first: self.pieces.is_empty(),
            folder: &self.folder,
        };
        let workers = for_each_block(
            bitext.len(),
            BLOCK,
            job,
            || task.worker(),
            |worker, sentences| {
                sentences.into_iter().try_for_each(|number| task.count(worker, number))
            },
        )?;
        // Sorting what is left takes long enough to be shared as well.
        let results = each(workers, job, |worker| task.finish(worker))?;
        let (mut runs, mut links) = (Vec::new(), Vec::new());
        for (of_thread, linked) in results {
            runs.extend(of_thread);
            links.extend(linked);
        }
        let place = Place { file: "counts".into(), line: None };
        self.pieces.push(Piece { words: (src_words, tgt_words), runs, links, place });
        self.sentences += bitext.len() as u64;
        give_back();
        Ok(())
    }

    /// Adds the sentence pairs of two files with the links of a third, as many at a time as a part
    /// of memory holds.
    pub fn add_files(&mut self, src: &Path, tgt: &Path, links: &Path, job: &Job) -> Result<()> {
        let mut files = Files::open(src, tgt, links)?;
        job.begin(0);
        loop {
            let (bitext, linked) = files.read(self.options.memory / PIECE, job)?;
            if bitext.is_empty() && !self.pieces.is_empty() {
                return Ok(());
            }
            self.add(&bitext, &linked, job)?;
        }
    }

    /// What was counted.
    pub fn finish(self, job: &Job) -> Result<Counts> {
        combine(self.pieces, self.sentences, &self.options, self.folder, job)
    }
}

/// The share of memory that a piece of the corpus may take.
const PIECE: usize = 8;

/// A corpus in three files.
struct Files {
    src: LineReader,
    tgt: LineReader,
    links: LineReader,
    path: PathBuf,
    lines: u64,
}

impl Files {
    fn open(src: &Path, tgt: &Path, links: &Path) -> Result<Self> {
        let path = links.to_path_buf();
        let [src, tgt, links] = [src, tgt, links].map(LineReader::open);
        Ok(Files { src: src?, tgt: tgt?, links: links?, path, lines: 0 })
    }

    /// The next sentence pairs, about as many as go into `memory`; none at the end.
    fn read(&mut self, memory: usize, job: &Job) -> Result<(Bitext, WordAlignments)> {
        let (mut bitext, mut linked) = (Bitext::default(), WordAlignments::default());
        let mut of_line = Vec::new();
        let mut used = 0;
        while used < memory {
            let (src, tgt) = (self.src.next_str()?, self.tgt.next_str()?);
            let links = self.links.next_str()?;
            let (Some(src), Some(tgt), Some(links)) = (src, tgt, links) else {
                let is_whole = [src.is_none(), tgt.is_none(), links.is_none()] == [true; 3];
                return if is_whole { Ok((bitext, linked)) } else { Err(self.uneven()) };
            };
            bitext.push(src, tgt, ReadOptions::default());
            of_line.clear();
            let place = Place::line(&self.path, self.lines + 1);
            WordAlignments::parse_line(links, place.clone(), &mut of_line)?;
            let number = bitext.len() - 1;
            let lengths =
                (bitext.src().sentence(number).len(), bitext.tgt().sentence(number).len());
            WordAlignments::check_inside(&of_line, lengths, place)?;
            used += 4 * (lengths.0 + lengths.1) + 8 * of_line.len() + 24;
            linked.push(of_line.iter().copied());
            self.lines += 1;
            if bitext.len().is_multiple_of(BLOCK) {
                job.check()?;
            }
        }
        Ok((bitext, linked))
    }

    /// What to say of files that do not end together.
    fn uneven(&mut self) -> Error {
        let advice = "do all files come from the same corpus?".into();
        let mut shorter = None;
        let mut longer = None;
        let lines = self.lines;
        for file in [&mut self.src, &mut self.tgt, &mut self.links] {
            let place = file.place();
            if place.line == Some(lines) { &mut shorter } else { &mut longer }.get_or_insert(place);
        }
        let place = longer.unwrap_or_else(|| self.src.place());
        let shorter = shorter.map_or_else(String::new, |place| place.file);
        let found = format!("{shorter} has only {lines} lines");
        Error::Mismatch { place, found, advice }
    }
}

/// Makes one list of the words of all pieces, and one run of all runs.
pub(super) fn combine(
    mut pieces: Vec<Piece>,
    sentences: u64,
    options: &ExtractOptions,
    folder: Arc<TempFolder>,
    job: &Job,
) -> Result<Counts> {
    let memory = left_of(options.memory);
    let (words, codes) = union(&mut pieces);
    let mut renumbered = Vec::new();
    for (piece, codes) in pieces.iter().zip(&codes) {
        renumbered.push(codes.as_ref().map(|codes| new_numbers(piece, codes, &words)));
    }
    let mut parts = Vec::new();
    for (piece, numbers) in pieces.iter().zip(&renumbered) {
        let part = |counts| LinkPart { counts, numbers: numbers.as_ref() };
        parts.extend(piece.links.iter().map(part));
    }
    let links = merge_links(&parts, memory / 8, &folder)?;
    drop(parts);
    drop(renumbered);
    let ends = (words.0.end_code(), words.1.end_code());
    let mut parts = Vec::new();
    for (piece, codes) in pieces.into_iter().zip(codes) {
        let Piece { runs, place, .. } = piece;
        parts.extend(runs.into_iter().map(|run| Part::new(run, codes.clone(), place.clone())));
    }
    let run = merge(parts, ends, memory, &folder, job)?;
    give_back();
    Ok(Counts {
        max_length: options.max_length,
        strictness: options.strictness,
        sentences,
        src_words: words.0,
        tgt_words: words.1,
        links,
        run,
        place: Place { file: "counts".into(), line: None },
        folder,
    })
}

/// New codes of source and of target words by old ones; none when they are the same.
type Codes = Option<Arc<(Vec<u32>, Vec<u32>)>>;

/// The words of all pieces, and each piece's new codes.
fn union(pieces: &mut [Piece]) -> ((Words, Words), Vec<Codes>) {
    if let [piece] = pieces {
        return (piece.words.clone(), vec![None]);
    }
    let lists: Vec<&Words> = pieces.iter().map(|piece| &piece.words.0).collect();
    let (src_words, src_codes) = Words::union(&lists);
    let lists: Vec<&Words> = pieces.iter().map(|piece| &piece.words.1).collect();
    let (tgt_words, tgt_codes) = Words::union(&lists);
    let codes = src_codes.into_iter().zip(tgt_codes);
    ((src_words, tgt_words), codes.map(|codes| Some(Arc::new(codes))).collect())
}

/// The new numbers of a piece's words as links have them: 0 for no word, else the place plus one.
fn new_numbers(
    piece: &Piece,
    codes: &(Vec<u32>, Vec<u32>),
    words: &(Words, Words),
) -> (Vec<u32>, Vec<u32>) {
    let numbers = |old: &Words, codes: &[u32], new: &Words| {
        let number = |place| new.place(codes[old.code(place) as usize]);
        let places = (0..old.len()).map(|place| number(place).map_or(0, |at| to_u32(at) + 1));
        std::iter::once(0).chain(places).collect()
    };
    (numbers(&piece.words.0, &codes.0, &words.0), numbers(&piece.words.1, &codes.1, &words.1))
}

/// What threads count, and how.
struct Task<'a> {
    bitext: &'a Bitext,
    links: &'a WordAlignments,
    options: &'a ExtractOptions,
    codes: (&'a [u32], &'a [u32]),
    words: (&'a Words, &'a Words),
    memory: usize,
    /// Whether counts that are few may stay in memory.
    is_first: bool,
    folder: &'a TempFolder,
}

/// What a thread has counted, and its scratch memory.
struct Worker<'a> {
    grid: Grid,
    collector: Collector,
    linked: LinkCounter<'a>,
    runs: Vec<Run>,
    src: Vec<u32>,
    tgt: Vec<u32>,
}

impl<'a> Task<'a> {
    fn worker(&self) -> Worker<'a> {
        Worker {
            grid: Grid::default(),
            collector: Collector::default(),
            linked: LinkCounter::new(self.memory / 12, self.folder),
            runs: Vec::new(),
            src: Vec::new(),
            tgt: Vec::new(),
        }
    }

    fn ends(&self) -> (u32, u32) {
        (self.words.0.end_code(), self.words.1.end_code())
    }

    /// Counts the blocks of a sentence pair.
    fn count(&self, worker: &mut Worker<'_>, number: usize) -> Result<()> {
        let Worker { grid, collector, linked, runs, src, tgt } = worker;
        let coded = |ids: &[u32], codes: &[u32], out: &mut Vec<u32>| {
            out.clear();
            out.extend(ids.iter().map(|&id| codes[id as usize]));
        };
        coded(self.bitext.src().sentence(number), self.codes.0, src);
        coded(self.bitext.tgt().sentence(number), self.codes.1, tgt);
        let links = self.links.sentence(number);
        self.count_links(src, tgt, links, linked);
        let (lengths, max_length) = ((src.len(), tgt.len()), self.options.max_length);
        collector.begin(lengths, max_length);
        let strictness = self.options.strictness;
        grid.extract(lengths, links, max_length, strictness, |block, own, seen| {
            collector.add((src, tgt), block, own, seen);
        });
        linked.settle()?;
        if collector.memory() > self.memory / 12 * 11 {
            runs.push(collector.finish(self.ends(), true, self.folder)?);
        }
        Ok(())
    }

    /// Everything that a thread has counted.
    fn finish(&self, worker: Worker<'_>) -> Result<(Vec<Run>, Vec<LinkCounts>)> {
        let Worker { mut collector, linked, mut runs, .. } = worker;
        if !collector.is_empty() || runs.is_empty() {
            let spill = !self.is_first || !runs.is_empty() || collector.memory() > self.memory / 3;
            runs.push(collector.finish(self.ends(), spill, self.folder)?);
        }
        Ok((runs, linked.finish()?))
    }

    /// Counts linked words; an unaligned word is linked to "no word".
    fn count_links(&self, src: &[u32], tgt: &[u32], links: &[Link], linked: &mut LinkCounter<'_>) {
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
                linked.add(word, 0);
            }
            while let Some(link) = links.get(at).filter(|link| link.src.index() == column) {
                let row = link.tgt.index();
                linked.add(word, number(self.words.1, tgt[row]));
                seen[row / 64] |= 1 << (row % 64);
                at += 1;
            }
            column += 1;
        }
        for (row, &code) in tgt.iter().enumerate() {
            if seen[row / 64] >> (row % 64) & 1 == 0 {
                linked.add(0, number(self.words.1, code));
            }
        }
    }
}

pub(super) fn check_links(bitext: &Bitext, links: &WordAlignments) -> Result<()> {
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
