//! From counts to the finished table: scores, pruning, orientation probabilities.
//!
//! In: `Counts`, and the corpus when pairs are tested for significance. Out: a table file.
//! How: source phrases go by once, each with all its pairs and their target phrases (`targets`), so
//! both relative frequencies are at hand. Threads score stretches of them (`score`), which are
//! written in order. With a discount the pairs go by once more before, to be counted by their counts.
//! Cost: one pass, within the memory of the options; beyond it stay the words of both sides and the
//! different orientation scores, some 20 bytes each. A test for significance needs 4 bytes an
//! occurrence of a phrase beside.

use super::blocks::NewBlocks;
use super::discount::{CountsOfCounts, Discount, Discounter};
use super::format::{Contents, NewWords, RowScores, TableWriter};
use super::lexical::Lexicon;
use super::options::TableOptions;
use super::score::{Scorer, Worker};
use super::significance::{Phrases, Significance, Threshold};
use super::targets::Targets;
use crate::Job;
use crate::corpus::{Bitext, Text};
use crate::error::{Error, Result};
use crate::extract::{Counts, Entry, Row, Stretch, Words, damaged};
use crate::narrow::{to_f32, to_usize};
use crate::ordered::{WAITING, in_order};
use crate::orientation::ROWS;
use crate::parallel::map;
use crate::storage::{Blob, left_of};
use std::path::Path;

/// Most stretches: where each begins among the target phrases is kept in memory.
const MOST_STRETCHES: usize = 1 << 13;

/// What became of the counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// Sentence pairs counted.
    pub sentences: u64,
    /// Occurrences of phrase pairs.
    pub occurrences: u64,
    /// Different phrase pairs.
    pub extracted: u64,
    /// Pairs in the table.
    pub pairs: u64,
    /// Pairs dropped for their count, for their rank, and for lack of significance.
    pub dropped: [u64; 3],
    /// Bytes of the table.
    pub bytes: u64,
    /// How often each model saw each orientation, over all occurrences.
    pub orientations: [Row; ROWS],
}

impl Summary {
    /// Adds what became of other pairs.
    fn add(&mut self, other: &Summary) {
        self.occurrences += other.occurrences;
        self.extracted += other.extracted;
        let dropped = self.dropped.iter_mut().zip(other.dropped);
        dropped.for_each(|(sum, count)| *sum += count);
        let rows = self.orientations.iter_mut().flatten().zip(other.orientations.iter().flatten());
        rows.for_each(|(sum, count)| *sum += count);
    }
}

/// Makes the table. A test for significance needs the corpus.
pub fn build(
    counts: &Counts,
    corpus: Option<&Bitext>,
    options: &TableOptions,
    path: &Path,
    recipe: &str,
    job: &Job,
) -> Result<Summary> {
    options.check()?;
    let significance = match (options.significance, corpus) {
        (Some(threshold), Some(corpus)) => Some(significance(counts, corpus, threshold, job)?),
        (Some(_), None) => return Err(no_corpus()),
        (None, _) => None,
    };
    let memory = left_of(options.memory);
    let stretches = stretches(counts, memory, job);
    let wants_partners = options.discount == Discount::KneserNey;
    let targets = Targets::new(counts, &stretches, memory / 2, wants_partners, job)?;
    let of_counts = match options.discount {
        Discount::None => CountsOfCounts::default(),
        _ => count_counts(counts, &stretches, job)?,
    };
    let memory = left_of(options.memory);
    let numbered = |words: &Words| {
        NewWords::new((0..words.len()).map(|at| (words.word(at), words.frequency(at))))
    };
    let (src_words, src_ids) = numbered(&counts.src_words);
    let (tgt_words, tgt_ids) = numbered(&counts.tgt_words);
    let has_models = options.models.contains(&true);
    let contents = Contents {
        packed: options.packed,
        counts: options.counts,
        models: options.models,
        msd: has_models,
        mslr: has_models,
    };
    let scorer = Scorer {
        counts,
        options,
        contents,
        significance,
        targets,
        discounter: Discounter::new(options.discount, &of_counts),
        lexicon: Lexicon::new(counts, memory / 4)?,
        ids: (src_ids, tgt_ids),
        window: memory / (16 * job.threads()),
    };
    let recipe_of = (counts.max_length, counts.sentences);
    let mut writer = TableWriter::create(path, contents, recipe_of, memory / 4, counts.folder())?;
    let mut summary = write_blocks(&scorer, &stretches, &mut writer, job)?;
    drop(scorer);
    (summary.bytes, summary.pairs) = writer.finish(&src_words, &tgt_words, recipe, job)?;
    Ok(summary)
}

/// Parts of the counts for threads to score, so that what waits to be written fits memory: three
/// bytes are written for one that is read.
fn stretches(counts: &Counts, memory: usize, job: &Job) -> Vec<Stretch> {
    let bytes = (memory / (64 * WAITING * job.threads())).clamp(1 << 16, 1 << 19);
    let all = counts.run.src.bytes().len() + counts.run.entries.bytes().len();
    counts.run.stretches(bytes.max(all / MOST_STRETCHES))
}

/// Scores all pairs and writes them.
fn write_blocks(
    scorer: &Scorer<'_>,
    stretches: &[Stretch],
    writer: &mut TableWriter,
    job: &Job,
) -> Result<Summary> {
    job.begin(scorer.counts.run.src_phrases);
    let work = |worker: &mut Worker<'_>, number: usize| {
        let stretch = &stretches[number];
        let blocks = worker.score(number, stretch).ok_or_else(|| damaged(&scorer.counts.place))?;
        job.advance(stretch.count() as u64);
        Ok(blocks)
    };
    let make = || Worker::new(scorer);
    let workers =
        in_order(stretches.len(), job, make, work, |blocks: NewBlocks| writer.write(&blocks))?;
    let mut summary = Summary { sentences: scorer.counts.sentences, ..Summary::default() };
    workers.into_iter().for_each(|worker| summary.add(&worker.finish()));
    Ok(summary)
}

fn significance<'c>(
    counts: &'c Counts,
    corpus: &'c Bitext,
    threshold: Threshold,
    job: &Job,
) -> Result<Significance> {
    let side = |list: &'c Blob, text: &'c Text, words: &Words| Phrases {
        list,
        text,
        codes: codes_in(corpus, words),
    };
    let src = side(&counts.run.src, corpus.src(), &counts.src_words);
    let tgt = side(&counts.run.tgt, corpus.tgt(), &counts.tgt_words);
    Significance::new(&src, &tgt, counts.max_length, threshold, job)
}

/// The code that each word of a corpus has in the counts.
fn codes_in(corpus: &Bitext, words: &Words) -> Vec<Option<u32>> {
    let mut codes = vec![None; corpus.vocab().len()];
    for place in 0..words.len() {
        if let Some(id) = corpus.vocab().id(words.word(place)) {
            codes[id as usize] = Some(words.code(place));
        }
    }
    codes
}

fn no_corpus() -> Error {
    Error::Argument {
        name: "significance".into(),
        found: "no corpus".into(),
        expected: "the source and target text that the counts were made from".into(),
    }
}

/// Smoothed ln p of M, S, DL, DR and of M, S, D.
pub fn row_scores(counts: &Row, smoothing: f64) -> RowScores {
    let [m, s, dl, dr] = counts.map(|count| count as f64);
    let total = m + s + dl + dr;
    let ln = |count: f64, classes: f64| {
        to_f32(((count + smoothing) / (total + smoothing * classes)).ln())
    };
    [ln(m, 4.0), ln(s, 4.0), ln(dl, 4.0), ln(dr, 4.0), ln(m, 3.0), ln(s, 3.0), ln(dl + dr, 3.0)]
}

/// How many pairs were seen how often.
fn count_counts(counts: &Counts, stretches: &[Stretch], job: &Job) -> Result<CountsOfCounts> {
    let count = |entry: &mut Entry, number: usize| {
        let stretch = &stretches[number];
        let mut of_counts = CountsOfCounts::default();
        let (_, mut entries) = counts.run.read(stretch, 1 << 20);
        let mut read_all = || {
            for _ in 0..stretch.count() {
                for _ in 0..entries.begin()? {
                    entries.read(entry)?;
                    if let Some(slot) = of_counts.get_mut(to_usize(entry.count)) {
                        *slot += 1;
                    }
                }
            }
            Some(())
        };
        read_all().ok_or_else(|| damaged(&counts.place))?;
        Ok(of_counts)
    };
    let (parts, _) = map(stretches.len(), 1, job, Entry::default, count)?;
    let mut sum = CountsOfCounts::default();
    for part in parts {
        sum.iter_mut().zip(part).for_each(|(sum, count)| *sum += count);
    }
    Ok(sum)
}
