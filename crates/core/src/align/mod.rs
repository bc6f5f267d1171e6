//! Word alignment: which words of two sentences translate each other.
//!
//! In: a bitext. Out: a trained `Aligner`, which can be saved, and links with their posteriors for
//! any sentence pair.
//! How: IBM Model 1, then an HMM in both directions, trained to agree (Liang, Taskar and Klein,
//! 2006); or, quicker,
//! IBM Model 2 with a prior for the diagonal (Dyer et al., 2013). Links are chosen by posterior or
//! by a heuristic.
//! Cost: linear in the number of sentence pairs; memory for the distinct pairs of words seen
//! together, within `FitOptions::memory`.
//! Not: phrases.
//!
//! The stage reads top to bottom: `words`, `numbered` and `shard` number the text, `budget` shares
//! out memory, `cooccur`, `build` and `lexicon` hold the pairs of words, `diagonal`, `jump`,
//! `lanes` and `hmm` give posteriors, `expect` and `train` learn (`parts`: in tasks over parts of a text), `decode` and `symmetrise` choose links,
//! `features` judges pairs, `rates` tells which words are nearly always linked, `file` keeps the model.

mod budget;
mod build;
mod cooccur;
mod decode;
mod diagonal;
mod expect;
mod features;
mod file;
mod fixed;
mod hmm;
mod jump;
mod lanes;
mod lexicon;
mod links;
mod numbered;
mod pair;
pub mod parts;
mod rates;
mod shard;
mod symmetrise;
mod train;
mod words;

#[cfg(test)]
mod tests;

pub use decode::{Aligned, Choice, Decoder};
pub use features::{FEATURES, FeatureRow};
pub(crate) use file::SEAL;
pub use links::{Link, Links};
pub use numbered::MAX_WORDS;
pub use symmetrise::{Heuristic, symmetrise, symmetrise_all};

use crate::Job;
use crate::corpus::{Bitext, Vocab};
use crate::error::{Error, Result};
use build::Builder;
use cooccur::{Chances, cooccurrences};
use features::Frequencies;
use jump::Jumps;
use lexicon::Lexicon;
use shard::{Shard, Words, number_lines};
use std::path::PathBuf;
use std::sync::OnceLock;
use train::Training;
use words::{Numbering, WordCounts};

/// Which model of order an aligner learns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// IBM Model 1, then an HMM: the best links.
    Hmm,
    /// IBM Model 2 with a prior for the diagonal: less time, for languages of similar order.
    Diagonal,
}

/// What training can be told.
#[derive(Debug, Clone, PartialEq)]
pub struct FitOptions {
    /// The model of order.
    pub method: Method,
    /// Passes of the model without memory (Model 1, or the diagonal model).
    pub lexical_iterations: usize,
    /// Passes of the HMM.
    pub order_iterations: usize,
    /// Probability that a word comes from NULL, before the word is known.
    pub null_prob: f32,
    /// Links of each word set aside for unseen partners, in the model without memory.
    pub first_discount: f32,
    /// The same in the HMM.
    pub discount: f32,
    /// Bytes of memory that training keeps to. Where they do not suffice, pairs of words that
    /// hardly ever occur together are left out, and the text is read from a temporary file.
    pub memory: usize,
    /// Where temporary files go; none for the system's place.
    pub temp_dir: Option<PathBuf>,
}

impl Default for FitOptions {
    fn default() -> Self {
        FitOptions {
            method: Method::Hmm,
            lexical_iterations: 6,
            order_iterations: 4,
            null_prob: 0.2,
            first_discount: 20.0,
            discount: 4.0,
            memory: 2 << 30,
            temp_dir: None,
        }
    }
}

impl FitOptions {
    fn check(&self) -> Result<()> {
        let settings = [
            ("null_prob", self.null_prob, 1e-4, 0.99),
            ("first_discount", self.first_discount, 1e-3, 1e6),
            ("discount", self.discount, 1e-3, 1e6),
        ];
        for (name, value, least, most) in settings {
            if !(least..=most).contains(&value) {
                return Err(Error::Argument {
                    name: name.into(),
                    found: value.to_string(),
                    expected: format!("{least} to {most}"),
                });
            }
        }
        Ok(())
    }
}

/// Most numbers of a calibration.
pub const MAX_CALIBRATION: usize = 256;

/// The trained model of order.
#[derive(Debug, Clone, PartialEq)]
enum Order {
    /// How strongly links keep to the diagonal.
    Diagonal { tension: f32 },
    /// Jumps of each direction.
    Hmm(Box<[Jumps; 2]>),
}

/// What training saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FitSummary {
    /// Sentence pairs in the text.
    pub pairs: usize,
    /// Pairs left out because a side is blank.
    pub blank: usize,
    /// Pairs left out because a side has over `MAX_WORDS` words.
    pub too_long: usize,
    /// Pairs of words in the finished lexicon.
    pub lexicon: usize,
    /// Pairs of words that occur together and found no room in memory.
    pub no_room: u64,
}

/// A trained aligner; immutable, shared by threads.
#[derive(Debug, Clone)]
pub struct Aligner {
    src_names: Vocab,
    tgt_names: Vocab,
    lexicon: Lexicon,
    order: Order,
    null_prob: f32,
    /// How features make a score; empty as long as nothing was fitted.
    calibration: Vec<f32>,
    summary: Option<FitSummary>,
    frequencies: OnceLock<Frequencies>,
}

impl Aligner {
    /// Learns from a bitext.
    pub fn fit(bitext: &Bitext, options: &FitOptions, job: &Job) -> Result<Aligner> {
        options.check()?;
        let counts = WordCounts::of(bitext);
        let (names, numbers) = number(&counts);
        let mut text = options.empty_shard();
        let mut words = Words::default();
        for k in 0..bitext.len() {
            let ids = [bitext.src().sentence(k), bitext.tgt().sentence(k)];
            for ((side, ids), numbers) in words.sides().into_iter().zip(ids).zip(&numbers) {
                side.clear();
                side.extend(ids.iter().map(|&id| numbers.number(id)));
            }
            text.push(&words)?;
        }
        drop((counts, numbers));
        Aligner::learn(names, &text.finish()?, options, job)
    }

    /// Learns from pairs of files with a sentence of whitespace-separated words on each line; the
    /// text is read twice and never held whole.
    pub fn fit_files(
        files: &[(PathBuf, PathBuf)],
        options: &FitOptions,
        job: &Job,
    ) -> Result<Aligner> {
        options.check()?;
        let mut counts = WordCounts::default();
        for (src, tgt) in files {
            Bitext::visit_files(src, tgt, job, |src, tgt| {
                counts.add_lines(src, tgt);
                Ok(())
            })?;
        }
        let (names, numbers) = number(&counts);
        let mut text = options.empty_shard();
        number_lines(files, &counts.vocab, &numbers, &mut text, job)?;
        drop((counts, numbers));
        Aligner::learn(names, &text.finish()?, options, job)
    }

    fn learn(names: [Vocab; 2], text: &Shard, options: &FitOptions, job: &Job) -> Result<Aligner> {
        let lens = (names[0].len(), names[1].len());
        let room = options.room(&names)?;
        job.begin((Training::all_passes(options) * text.len()) as u64);
        let chances = Chances::of(text, lens, job)?;
        let mut builder = Builder::new(&chances, room.pairs);
        cooccurrences(text, &chances, room.counting, job, |row| builder.push_row(row))?;
        let (lexicon, no_room) = builder.finish(options.first_discount);
        drop(chances);
        let mut training = Training::new(options, lens.1, lexicon, &text.shapes);
        while !training.is_done() {
            let counts = training.expect(text, job)?;
            training.update(counts, job)?;
        }
        let (lexicon, order) = training.finish(job)?;
        let summary = FitSummary {
            pairs: text.all_pairs(),
            blank: text.left_out.blank,
            too_long: text.left_out.too_long,
            lexicon: lexicon.pair_count(),
            no_room,
        };
        let mut aligner = Aligner::new(names, lexicon, order, options.null_prob);
        aligner.summary = Some(summary);
        Ok(aligner)
    }

    fn new(names: [Vocab; 2], lexicon: Lexicon, order: Order, null_prob: f32) -> Aligner {
        let [src_names, tgt_names] = names;
        let (calibration, frequencies) = (Vec::new(), OnceLock::new());
        let summary = None;
        Aligner {
            src_names,
            tgt_names,
            lexicon,
            order,
            null_prob,
            calibration,
            summary,
            frequencies,
        }
    }

    /// How features make a score, as it was fitted; empty as long as nothing was.
    pub fn calibration(&self) -> &[f32] {
        &self.calibration
    }

    /// The same aligner with another calibration, of up to `MAX_CALIBRATION` finite numbers.
    pub fn calibrated(&self, calibration: Vec<f32>) -> Result<Aligner> {
        let is_good = calibration.iter().all(|value| value.is_finite());
        if !is_good || calibration.len() > MAX_CALIBRATION {
            return Err(Error::Argument {
                name: "calibration".into(),
                found: format!("{} numbers", calibration.len()),
                expected: format!("up to {MAX_CALIBRATION} finite numbers"),
            });
        }
        Ok(Aligner { calibration, ..self.clone() })
    }

    fn frequencies(&self) -> &Frequencies {
        self.frequencies.get_or_init(|| Frequencies::of(self))
    }

    /// What training saw; none for an aligner that was loaded.
    pub fn summary(&self) -> Option<FitSummary> {
        self.summary
    }

    /// Prepares to align texts whose words are numbered by `vocab`.
    pub fn decoder(&self, vocab: &Vocab) -> Decoder<'_> {
        Decoder::new(self, vocab)
    }
}

/// The names of the words of each side, and the number of each word of the counts.
fn number(counts: &WordCounts) -> ([Vocab; 2], [Numbering; 2]) {
    let names = counts.names();
    let numbers = [0, 1].map(|side| Numbering::new(&names[side], &counts.vocab));
    (names, numbers)
}
