//! Training as tasks over shards of a text, on any machine.
//!
//! In: text files, and the files of earlier tasks. Out: files for later tasks; at the end an
//! `Aligner` that equals the result of `Aligner::fit_files` on the whole text, byte for byte.
//! How: `count_words` of each shard → `number_words` → `write_shard` and `count_pairs` of each
//! shard → `start` → `expect` of each shard and `update`, until done → `finish`. All sums are
//! integers, so the number and order of shards do not matter.
//! Cost: a file between tasks; a task over a shard holds the shard and the lexicon.
//! Not: placement of tasks; see `wayword.align.parts` in Python.

use super::aligner::{Aligner, AlignerSummary};
use super::cooccurrence::{MarginalCounts, count_cooccurrences};
use super::e_step::ExpectedCounts;
use super::lexicon_builder::LexiconBuilder;
use super::options::AlignerOptions;
use super::text_shard::{PairWords, SkippedPairs, TextShard, number_files};
use super::train::AlignerTraining;
use super::word_numbering::{WordCounts, WordNumbering};
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

/// Count the words of a shard.
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

/// Number the words of all shards.
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

/// Write a shard in word numbers.
pub fn write_shard(
    files: &[(PathBuf, PathBuf)],
    names: &Path,
    options: &AlignerOptions,
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
    let numbers = [0, 1].map(|side| WordNumbering::new(&names[side], &counts.vocab));
    let mut shard = options.new_shard();
    number_files(files, &counts.vocab, &numbers, &mut shard, job)?;
    let shard = shard.finish()?;
    let mut wire = Wire::create(out, SHARD)?;
    shard.write(&mut wire)?;
    wire.finish()
}

/// Read a shard. Every pair must have words on both sides, with numbers below these limits.
fn read_shard(path: &Path, options: &AlignerOptions, [src, tgt]: [usize; 2]) -> Result<TextShard> {
    let mut wire = Unwire::open(path, SHARD)?;
    let shard = TextShard::read(&mut wire, options.new_shard())?;
    let (mut words, mut buffer, mut pairs) = (PairWords::default(), Vec::new(), 0);
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

/// Count the co-occurring word pairs of a shard.
pub fn count_pairs(
    shard: &Path,
    names: &Path,
    options: &AlignerOptions,
    out: &Path,
    job: &Job,
) -> Result<()> {
    let names = read_names(names)?;
    let text = read_shard(shard, options, [names[0].len(), names[1].len()])?;
    let budget = options.budget(&names)?;
    let marginals = MarginalCounts::count(&text, (names[0].len(), names[1].len()), job)?;
    let mut wire = Wire::create(out, PAIRS)?;
    for number in [text.all_pairs(), text.skipped.blank, text.skipped.too_long] {
        wire.number(number as u64)?;
    }
    wire.u64s(&text.flat_length_counts())?;
    wire.u64s(&marginals.src)?;
    wire.u64s(&marginals.tgt)?;
    count_cooccurrences(&text, &marginals, budget.counting, job, |row| {
        wire.u32s(&row.iter().map(|&(tgt, _)| tgt).collect::<Vec<_>>())?;
        wire.u64s(&row.iter().map(|&(_, sum)| sum).collect::<Vec<_>>())
    })?;
    wire.finish()
}

/// Add a list to sums of the same length; an empty list of sums takes the length of the first.
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

/// Create the initial model from the word pairs of all shards.
pub fn start(
    pairs: &[PathBuf],
    names: &Path,
    options: &AlignerOptions,
    out: &Path,
    job: &Job,
) -> Result<()> {
    options.validate()?;
    let names = read_names(names)?;
    let budget = options.budget(&names)?;
    let mut parts: Vec<Unwire> =
        pairs.iter().map(|path| Unwire::open(path, PAIRS)).collect::<Result<_>>()?;
    let (mut summary, mut sums) = (AlignerSummary::default(), [Vec::new(), Vec::new()]);
    let mut text = options.new_shard();
    for wire in &mut parts {
        summary.pairs += to_usize(wire.number()?);
        summary.blank += to_usize(wire.number()?);
        summary.too_long += to_usize(wire.number()?);
        text.add_flat_length_counts(&wire.read_u64s()?);
        for sums in &mut sums {
            let values = wire.read_u64s()?;
            add_list(sums, &values, wire)?;
        }
    }
    let [src, tgt] = sums;
    let marginals = MarginalCounts::from_sums(src, tgt);
    let mut builder = LexiconBuilder::new(&marginals, budget.pairs);
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
    let training = AlignerTraining::new(options, names[1].len(), lexicon, &text.length_counts);
    write_state(&training, &summary, out)
}

fn write_state(training: &AlignerTraining, summary: &AlignerSummary, out: &Path) -> Result<()> {
    let mut wire = Wire::create(out, STATE)?;
    for number in [summary.pairs, summary.blank, summary.too_long] {
        wire.number(number as u64)?;
    }
    wire.number(summary.no_room)?;
    training.write(&mut wire)?;
    wire.finish()
}

fn read_state(path: &Path, options: &AlignerOptions) -> Result<(AlignerTraining, AlignerSummary)> {
    let mut wire = Unwire::open(path, STATE)?;
    let [pairs, blank, too_long] = [wire.number()?, wire.number()?, wire.number()?].map(to_usize);
    let summary = AlignerSummary {
        pairs,
        blank,
        too_long,
        no_room: wire.number()?,
        ..AlignerSummary::default()
    };
    Ok((AlignerTraining::read(&mut wire, options)?, summary))
}

/// E step: compute the expected counts of a shard.
pub fn expect(
    shard: &Path,
    state: &Path,
    options: &AlignerOptions,
    out: &Path,
    job: &Job,
) -> Result<()> {
    let (training, _) = read_state(state, options)?;
    let text = read_shard(shard, options, training.vocab_sizes())?;
    job.begin(text.len() as u64);
    let mut counts = training.expect(&text, job)?;
    let mut wire = Wire::create(out, COUNTS)?;
    counts.write(&mut wire)?;
    wire.finish()
}

/// M step: update the model from the counts of all shards. Return whether all iterations are done.
pub fn update(
    state: &Path,
    counts: &[PathBuf],
    options: &AlignerOptions,
    out: &Path,
    job: &Job,
) -> Result<bool> {
    let (mut training, summary) = read_state(state, options)?;
    let mut sum = ExpectedCounts::empty();
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

/// Create the aligner after the last iteration.
pub fn finish(state: &Path, names: &Path, options: &AlignerOptions) -> Result<Aligner> {
    let (training, summary) = read_state(state, options)?;
    let names = read_names(names)?;
    let (lexicon, order) = training.finish(&Job::default())?;
    let lexicon_size = lexicon.pair_count();
    let mut aligner = Aligner::new(names, lexicon, order, options.null_prob);
    aligner.summary = Some(AlignerSummary { lexicon: lexicon_size, ..summary });
    Ok(aligner)
}

impl TextShard {
    fn write(&self, wire: &mut Wire) -> Result<()> {
        for number in [self.len(), self.skipped.blank, self.skipped.too_long] {
            wire.number(number as u64)?;
        }
        wire.u64s(&self.flat_length_counts())?;
        let mut buffer = Vec::new();
        wire.number(self.blocks() as u64)?;
        for number in 0..self.blocks() {
            wire.u8s(self.block(number, &mut buffer)?.bytes())?;
        }
        Ok(())
    }

    fn read(wire: &mut Unwire, mut shard: TextShard) -> Result<TextShard> {
        let pairs = to_usize(wire.number()?);
        let [blank, too_long] = [wire.number()?, wire.number()?].map(to_usize);
        shard.skipped = SkippedPairs { blank, too_long };
        shard.add_flat_length_counts(&wire.read_u64s()?);
        for _ in 0..wire.number()? {
            shard.push_block(&wire.read_u8s()?)?;
        }
        shard.finish_with(pairs)
    }
}
