//! Training of an aligner on a bitext or on files.
//!
//! How: count and number the words, write the text in word numbers, count co-occurrences, build the
//! initial lexicon, then run EM.

use super::aligner::{Aligner, AlignerSummary};
use super::cooccurrence::{MarginalCounts, count_cooccurrences};
use super::lexicon_builder::LexiconBuilder;
use super::options::AlignerOptions;
use super::text_shard::{PairWords, TextShard, number_files};
use super::train::AlignerTraining;
use super::word_numbering::{WordCounts, WordNumbering};
use crate::Job;
use crate::corpus::{Bitext, Vocab};
use crate::error::Result;
use std::path::PathBuf;

impl Aligner {
    /// Train on a bitext.
    pub fn fit(bitext: &Bitext, options: &AlignerOptions, job: &Job) -> Result<Aligner> {
        options.validate()?;
        let counts = WordCounts::count(bitext);
        let (names, numbers) = number_words(&counts);
        let mut text = options.new_shard();
        let mut words = PairWords::default();
        for k in 0..bitext.len() {
            let ids = [bitext.src().sentence(k), bitext.tgt().sentence(k)];
            for ((side, ids), numbers) in words.sides().into_iter().zip(ids).zip(&numbers) {
                side.clear();
                side.extend(ids.iter().map(|&id| numbers.number(id)));
            }
            text.push(&words)?;
        }
        drop((counts, numbers));
        Aligner::train(names, &text.finish()?, options, job)
    }

    /// Train on pairs of files with one sentence of whitespace-separated words per line. The text
    /// is read twice and never completely in memory.
    pub fn fit_files(
        files: &[(PathBuf, PathBuf)],
        options: &AlignerOptions,
        job: &Job,
    ) -> Result<Aligner> {
        options.validate()?;
        let mut counts = WordCounts::default();
        for (src, tgt) in files {
            Bitext::visit_files(src, tgt, job, |src, tgt| {
                counts.add_lines(src, tgt);
                Ok(())
            })?;
        }
        let (names, numbers) = number_words(&counts);
        let mut text = options.new_shard();
        number_files(files, &counts.vocab, &numbers, &mut text, job)?;
        drop((counts, numbers));
        Aligner::train(names, &text.finish()?, options, job)
    }

    fn train(
        names: [Vocab; 2],
        text: &TextShard,
        options: &AlignerOptions,
        job: &Job,
    ) -> Result<Aligner> {
        let lens = (names[0].len(), names[1].len());
        let budget = options.budget(&names)?;
        job.begin((AlignerTraining::total_iterations(options) * text.len()) as u64);
        let marginals = MarginalCounts::count(text, lens, job)?;
        let mut builder = LexiconBuilder::new(&marginals, budget.pairs);
        count_cooccurrences(text, &marginals, budget.counting, job, |row| builder.push_row(row))?;
        let (lexicon, no_room) = builder.finish(options.first_discount);
        drop(marginals);
        let mut training = AlignerTraining::new(options, lens.1, lexicon, &text.length_counts);
        while !training.is_done() {
            let counts = training.expect(text, job)?;
            training.update(counts, job)?;
        }
        let (lexicon, order) = training.finish(job)?;
        let summary = AlignerSummary {
            pairs: text.all_pairs(),
            blank: text.skipped.blank,
            too_long: text.skipped.too_long,
            lexicon: lexicon.pair_count(),
            no_room,
        };
        let mut aligner = Aligner::new(names, lexicon, order, options.null_prob);
        aligner.summary = Some(summary);
        Ok(aligner)
    }
}

/// Return the model's words of each side and the number of each word of the counts.
fn number_words(counts: &WordCounts) -> ([Vocab; 2], [WordNumbering; 2]) {
    let names = counts.names();
    let numbers = [0, 1].map(|side| WordNumbering::new(&names[side], &counts.vocab));
    (names, numbers)
}
