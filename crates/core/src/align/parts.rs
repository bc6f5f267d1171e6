//! A training whose text lies in parts, each counted by a task of its own, anywhere.
//!
//! In: files of text, and the files that earlier tasks wrote. Out: files for later tasks; at the
//! end an `Aligner`, the one that `Aligner::fit_files` learns from the same text, byte for byte.
//! How: `count_words` of every part → `number_words` → `write_shard` and `count_pairs` of every part
//! → `start` → `expect` of every part, `update`, until it is done → `finish`. All that is added up
//! is a whole number, so that the number and the order of the parts change nothing.
//! Cost: a file of numbers between tasks; tasks over parts hold one part and the lexicon.
//! Not: where tasks run, which Python decides (`wayword.align.parts`).

use super::build::Builder;
use super::cooccur::{Chances, cooccurrences};
use super::expect::Counts;
use super::shard::{LeftOut, Shard, Words, number_lines};
use super::train::Training;
use super::words::{Numbering, WordCounts};
use super::{Aligner, FitOptions, FitSummary};
use crate::corpus::{Bitext, Vocab};
use crate::error::{Error, Result};
use crate::job::Job;
use crate::narrow::{to_u32, to_usize};
use crate::storage::{Unwire, Wire, WireKind};
use std::path::{Path, PathBuf};

const WORDS: WireKind = *b"wwalwrds";
const NAMES: WireKind = *b"wwalname";
const SHARD: WireKind = *b"wwalshrd";
const PAIRS: WireKind = *b"wwalpair";
const STATE: WireKind = *b"wwalstat";
const COUNTS: WireKind = *b"wwalcnts";

/// Counts the words of a part of a text.
pub fn count_words(files: &[(PathBuf, PathBuf)], out: &Path, job: &Job) -> Result<()> {
    let mut counts = WordCounts::default();
    for (src, tgt) in files {
        Bitext::visit_files(src, tgt, job, |src, tgt| {
            counts.add_lines(src, tgt);
            Ok(())
        })?;
    }
    let mut wire = Wire::create(out, WORDS)?;
    for side in [0, 1] {
        wire.number(counts.of_side(side).count() as u64)?;
        for (word, count) in counts.of_side(side) {
            wire.u8s(word.as_bytes())?;
            wire.number(count)?;
        }
    }
    wire.finish()
}

/// Numbers the words of all parts.
pub fn number_words(counts: &[PathBuf], out: &Path, job: &Job) -> Result<()> {
    let mut sum = WordCounts::default();
    for path in counts {
        job.check()?;
        let mut wire = Unwire::open(path, WORDS)?;
        for side in [0, 1] {
            for _ in 0..wire.number()? {
                let word = read_text(&mut wire)?;
                sum.add(side, &word, wire.number()?);
            }
        }
    }
    let mut wire = Wire::create(out, NAMES)?;
    for names in sum.names() {
        wire.number(names.len() as u64)?;
        for number in 0..to_u32(names.len()) {
            wire.u8s(names.word(number).as_bytes())?;
        }
    }
    wire.finish()
}

fn read_text(wire: &mut Unwire) -> Result<String> {
    String::from_utf8(wire.read_u8s()?).map_err(|_| wire.wrong("a word that is not UTF-8"))
}

fn read_names(path: &Path) -> Result<[Vocab; 2]> {
    let mut wire = Unwire::open(path, NAMES)?;
    let mut names = [Vocab::default(), Vocab::default()];
    for side in &mut names {
        for _ in 0..wire.number()? {
            side.intern(&read_text(&mut wire)?);
        }
    }
    Ok(names)
}

/// Writes a part of the text in numbers.
pub fn write_shard(
    files: &[(PathBuf, PathBuf)],
    names: &Path,
    options: &FitOptions,
    out: &Path,
    job: &Job,
) -> Result<()> {
    let mut counts = WordCounts::default();
    for (src, tgt) in files {
        Bitext::visit_files(src, tgt, job, |src, tgt| {
            counts.add_lines(src, tgt);
            Ok(())
        })?;
    }
    let names = read_names(names)?;
    let numbers = [0, 1].map(|side| Numbering::new(&names[side], &counts.vocab));
    let mut shard = options.empty_shard();
    number_lines(files, &counts.vocab, &numbers, &mut shard, job)?;
    let shard = shard.finish()?;
    let mut wire = Wire::create(out, SHARD)?;
    shard.write(&mut wire)?;
    wire.finish()
}

/// Reads a part. All of its pairs must have words on both sides, with numbers below these.
fn read_shard(path: &Path, options: &FitOptions, [src, tgt]: [usize; 2]) -> Result<Shard> {
    let mut wire = Unwire::open(path, SHARD)?;
    let shard = Shard::read(&mut wire, options.empty_shard())?;
    let (mut words, mut buffer, mut pairs) = (Words::default(), Vec::new(), 0);
    let fits = |side: &[u32], end: usize| {
        !side.is_empty() && side.iter().all(|&word| (word as usize) < end)
    };
    for number in 0..shard.blocks() {
        let mut block = shard.block(number, &mut buffer)?;
        while block.next(&mut words)? {
            if !(fits(&words.src, src) && fits(&words.tgt, tgt)) {
                return Err(wire.wrong("words of another text"));
            }
            pairs += 1;
        }
    }
    if pairs == shard.len() { Ok(shard) } else { Err(wire.wrong("pairs without words")) }
}

/// Counts which words of a part occur together.
pub fn count_pairs(
    shard: &Path,
    names: &Path,
    options: &FitOptions,
    out: &Path,
    job: &Job,
) -> Result<()> {
    let names = read_names(names)?;
    let text = read_shard(shard, options, [names[0].len(), names[1].len()])?;
    let room = options.room(&names)?;
    let chances = Chances::of(&text, (names[0].len(), names[1].len()), job)?;
    let mut wire = Wire::create(out, PAIRS)?;
    for number in [text.all_pairs(), text.left_out.blank, text.left_out.too_long] {
        wire.number(number as u64)?;
    }
    wire.u64s(&text.flat_shapes())?;
    wire.u64s(&chances.src)?;
    wire.u64s(&chances.tgt)?;
    cooccurrences(&text, &chances, room.counting, job, |row| {
        wire.u32s(&row.iter().map(|&(tgt, _)| tgt).collect::<Vec<_>>())?;
        wire.u64s(&row.iter().map(|&(_, sum)| sum).collect::<Vec<_>>())
    })?;
    wire.finish()
}

/// Adds the values of a list to sums; the first list makes room for them.
fn add_list(sums: &mut Vec<u64>, values: &[u64], wire: &Unwire) -> Result<()> {
    if sums.is_empty() {
        sums.resize(values.len(), 0);
    }
    if sums.len() != values.len() {
        return Err(wire.wrong("counts of another vocabulary"));
    }
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
    Ok(())
}

/// Makes the first state from the pairs of words of all parts.
pub fn start(
    pairs: &[PathBuf],
    names: &Path,
    options: &FitOptions,
    out: &Path,
    job: &Job,
) -> Result<()> {
    options.check()?;
    let names = read_names(names)?;
    let room = options.room(&names)?;
    let mut parts: Vec<Unwire> =
        pairs.iter().map(|path| Unwire::open(path, PAIRS)).collect::<Result<_>>()?;
    let (mut summary, mut sums) = (FitSummary::default(), [Vec::new(), Vec::new()]);
    let mut text = options.empty_shard();
    for wire in &mut parts {
        summary.pairs += to_usize(wire.number()?);
        summary.blank += to_usize(wire.number()?);
        summary.too_long += to_usize(wire.number()?);
        text.add_flat_shapes(&wire.read_u64s()?);
        for sums in &mut sums {
            let values = wire.read_u64s()?;
            add_list(sums, &values, wire)?;
        }
    }
    let [src, tgt] = sums;
    let chances = Chances::from_sums(src, tgt);
    let mut builder = Builder::new(&chances, room.pairs);
    let mut row = Vec::new();
    for src in 0..names[0].len() {
        if src % 1024 == 0 {
            job.check()?;
        }
        row.clear();
        for wire in &mut parts {
            let (tgt, sums) = (wire.read_u32s()?, wire.read_u64s()?);
            row.extend(tgt.into_iter().zip(sums));
        }
        row.sort_unstable();
        row.dedup_by(|next, kept: &mut (u32, u64)| {
            let is_same = next.0 == kept.0;
            kept.1 += if is_same { next.1 } else { 0 };
            is_same
        });
        builder.push_row(&row)?;
    }
    let (lexicon, no_room) = builder.finish(options.first_discount);
    summary.no_room = no_room;
    let training = Training::new(options, names[1].len(), lexicon, &text.shapes);
    write_state(&training, &summary, out)
}

fn write_state(training: &Training, summary: &FitSummary, out: &Path) -> Result<()> {
    let mut wire = Wire::create(out, STATE)?;
    for number in [summary.pairs, summary.blank, summary.too_long] {
        wire.number(number as u64)?;
    }
    wire.number(summary.no_room)?;
    training.write(&mut wire)?;
    wire.finish()
}

fn read_state(path: &Path, options: &FitOptions) -> Result<(Training, FitSummary)> {
    let mut wire = Unwire::open(path, STATE)?;
    let [pairs, blank, too_long] = [wire.number()?, wire.number()?, wire.number()?].map(to_usize);
    let summary =
        FitSummary { pairs, blank, too_long, no_room: wire.number()?, ..FitSummary::default() };
    Ok((Training::read(&mut wire, options)?, summary))
}

/// Counts the links of a part.
pub fn expect(
    shard: &Path,
    state: &Path,
    options: &FitOptions,
    out: &Path,
    job: &Job,
) -> Result<()> {
    let (training, _) = read_state(state, options)?;
    let text = read_shard(shard, options, training.words())?;
    job.begin(text.len() as u64);
    let mut counts = training.expect(&text, job)?;
    let mut wire = Wire::create(out, COUNTS)?;
    counts.write(&mut wire)?;
    wire.finish()
}

/// Makes the next state from the counts of all parts; whether every pass was made.
pub fn update(
    state: &Path,
    counts: &[PathBuf],
    options: &FitOptions,
    out: &Path,
    job: &Job,
) -> Result<bool> {
    let (mut training, summary) = read_state(state, options)?;
    let mut sum = Counts::none();
    for path in counts {
        job.check()?;
        sum.add(&mut Unwire::open(path, COUNTS)?)?;
    }
    if !training.fits(&sum) {
        return Err(Error::Argument {
            name: "counts".into(),
            found: "none, or those of another state".into(),
            expected: "those of every part".into(),
        });
    }
    if !training.is_done() {
        training.update(sum, job)?;
    }
    write_state(&training, &summary, out)?;
    Ok(training.is_done())
}

/// The aligner of a training of which every pass was made.
pub fn finish(state: &Path, names: &Path, options: &FitOptions) -> Result<Aligner> {
    let (training, summary) = read_state(state, options)?;
    let names = read_names(names)?;
    let (lexicon, order) = training.finish(&Job::default())?;
    let lexicon_size = lexicon.pair_count();
    let mut aligner = Aligner::new(names, lexicon, order, options.null_prob);
    aligner.summary = Some(FitSummary { lexicon: lexicon_size, ..summary });
    Ok(aligner)
}

impl Shard {
    fn write(&self, wire: &mut Wire) -> Result<()> {
        for number in [self.len(), self.left_out.blank, self.left_out.too_long] {
            wire.number(number as u64)?;
        }
        wire.u64s(&self.flat_shapes())?;
        let mut buffer = Vec::new();
        wire.number(self.blocks() as u64)?;
        for number in 0..self.blocks() {
            wire.u8s(self.block(number, &mut buffer)?.bytes())?;
        }
        Ok(())
    }

    fn read(wire: &mut Unwire, mut shard: Shard) -> Result<Shard> {
        let pairs = to_usize(wire.number()?);
        let [blank, too_long] = [wire.number()?, wire.number()?].map(to_usize);
        shard.left_out = LeftOut { blank, too_long };
        shard.add_flat_shapes(&wire.read_u64s()?);
        for _ in 0..wire.number()? {
            shard.push_block(&wire.read_u8s()?)?;
        }
        shard.finish_with(pairs)
    }
}
