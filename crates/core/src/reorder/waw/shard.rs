//! Samples of a corpus that lies in shards, each written down by a task of its own, anywhere.
//!
//! In: the shards, cut between blocks of `BLOCK` sentences, and the files that earlier tasks wrote.
//! Out: files for later tasks; at the end the `Trainer` that `Trainer::new` makes of the whole
//! corpus: the same features, the same rows.
//! How: `find_candidates` of every shard → `write_samples` of every shard → `read_samples`. What
//! fires in n samples fires in n divided by the number of shards or more in one of them, so that
//! shards name all features that may be kept. Their samples are then written with the numbers of
//! these, and counted; those that fire too rarely in all are dropped when the samples are read.
//! Cost: that of `Trainer::new`, features that are dropped late, and another reading of the rows.
//! Not: many shards of rare features: with as many as a feature has to fire, all are candidates.

use super::count::{BLOCK, Features, Tally, tally};
use super::options::Options;
use super::rows::{self, Reader, Rows};
use super::template::Shapes;
use super::train::{Trainer, check, fill};
use crate::Job;
use crate::error::Result;
use crate::reorder::Corpus;
use crate::storage::{Unwire, Wire, WireKind};
use std::path::{Path, PathBuf};

const CANDIDATES: WireKind = *b"wwwwcand";
const SAMPLES: WireKind = *b"wwwwsamp";

/// A feature that is not kept.
const DROPPED: u32 = u32::MAX;

/// Writes the features of one of so many shards that may be kept.
pub fn find_candidates(
    corpus: &Corpus,
    options: &Options,
    shards: u32,
    out: &Path,
    job: &Job,
) -> Result<()> {
    let least = options.min_count.div_ceil(shards.max(1));
    let mut wire = Wire::create(out, CANDIDATES)?;
    let mut tallies = match corpus.text().words() {
        0 => Vec::new(),
        _ => {
            check(corpus, options)?;
            tally(corpus, &Shapes::new(options), options, least, job)?
        }
    };
    tallies.sort_unstable();
    wire.u64s(&tallies.iter().map(|&(print, _)| print).collect::<Vec<_>>())?;
    wire.u32s(&tallies.iter().map(|&(_, count)| count).collect::<Vec<_>>())?;
    wire.finish()
}

/// What any shard found, numbered; the counts are those of shards that found it.
fn candidates(found: &[PathBuf], job: &Job) -> Result<Features> {
    let mut all: Vec<Tally> = Vec::new();
    for path in found {
        job.check()?;
        let mut wire = Unwire::open(path, CANDIDATES)?;
        let (prints, counts) = (wire.read_u64s()?, wire.read_u32s()?);
        if prints.len() != counts.len() {
            return Err(wire.wrong("fingerprints without counts"));
        }
        all.extend(prints.into_iter().zip(counts));
    }
    all.sort_unstable();
    all.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        kept.1 = if is_same { kept.1.saturating_add(next.1) } else { kept.1 };
        is_same
    });
    Ok(Features::of(&all))
}

/// Writes the samples of a shard with what all shards `found`; rows go through `folder` beyond
/// `memory` bytes.
pub fn write_samples(
    corpus: &Corpus,
    options: &Options,
    found: &[PathBuf],
    (memory, folder): (usize, Option<&Path>),
    out: &Path,
    job: &Job,
) -> Result<()> {
    let features = candidates(found, job)?;
    let shapes = Shapes::new(options);
    let (rows, samples) = fill(corpus, &shapes, options, &features, memory, folder, job)?;
    let (mut counts, mut buffer, mut row) = (vec![0_u32; features.len()], Vec::new(), Vec::new());
    for number in 0..rows.blocks() {
        job.check()?;
        rows.with(number, &mut buffer, |bytes| {
            let mut reader = Reader::new(bytes);
            while reader.next(&mut row).is_some() {
                row.iter().for_each(|&number| counts[number as usize] += 1);
            }
        })?;
    }
    let mut wire = Wire::create(out, SAMPLES)?;
    wire.number(samples)?;
    wire.u32s(&counts)?;
    wire.number(rows.blocks() as u64)?;
    for number in 0..rows.blocks() {
        rows.with(number, &mut buffer, |bytes| wire.u8s(bytes))??;
    }
    wire.finish()
}

/// The samples of all shards, given in the order of the corpus, which has so many sentences.
pub fn read_samples(
    options: Options,
    sentences: usize,
    found: &[PathBuf],
    samples: &[PathBuf],
    (memory, folder): (usize, Option<&Path>),
    job: &Job,
) -> Result<Trainer> {
    options.check()?;
    let candidates = candidates(found, job)?;
    let mut wires: Vec<Unwire> =
        samples.iter().map(|path| Unwire::open(path, SAMPLES)).collect::<Result<_>>()?;
    let (mut count, mut sums) = (0, vec![0; candidates.len()]);
    for wire in &mut wires {
        count += wire.number()?;
        let counts = wire.read_u32s()?;
        if counts.len() != sums.len() {
            return Err(wire.wrong("samples of other features"));
        }
        sums.iter_mut().zip(counts).for_each(|(sum, count): (&mut u32, u32)| *sum += count);
    }
    let tallies = candidates.fingerprints.iter().copied().zip(sums);
    let kept: Vec<Tally> = tallies.filter(|&(_, count)| count >= options.min_count).collect();
    let features = Features::of(&kept);
    let number_of = |&print: &u64| features.number(print).unwrap_or(DROPPED);
    let numbers: Vec<u32> = candidates.fingerprints.iter().map(number_of).collect();
    drop((candidates, kept));
    let rows = Rows::new(sentences.div_ceil(BLOCK), memory, folder);
    let mut next = 0;
    for wire in &mut wires {
        for _ in 0..wire.number()? {
            job.check()?;
            let bytes = renumbered(&wire.read_u8s()?, &numbers).filter(|_| next < rows.blocks());
            rows.put(next, bytes.ok_or_else(|| wire.wrong("samples of another corpus"))?)?;
            next += 1;
        }
    }
    Ok(Trainer { options, features, rows, samples: count })
}

/// Rows with other numbers of features, without those that are dropped; none when a number has no
/// other.
fn renumbered(bytes: &[u8], numbers: &[u32]) -> Option<Vec<u8>> {
    let (mut reader, mut row, mut out) = (Reader::new(bytes), Vec::new(), Vec::new());
    while let Some(label) = reader.next(&mut row) {
        if row.iter().any(|&number| number as usize >= numbers.len()) {
            return None;
        }
        row.iter_mut().for_each(|number| *number = numbers[*number as usize]);
        row.retain(|&number| number != DROPPED);
        rows::push(&mut out, label, &mut row);
    }
    Some(out)
}
