//! Word alignment: which words of two sentences translate each other.
//!
//! In: a bitext. Out: a trained `Aligner`, which can be saved, and links with their posteriors for
//! any sentence pair.
//! How: IBM Model 1, then an HMM in both directions, trained to agree (Liang, Taskar and Klein,
//! 2006); or, quicker,
//! IBM Model 2 with a prior for the diagonal (Dyer et al., 2013). Links are chosen by posterior or
//! by a heuristic.
//! Cost: linear in the number of sentence pairs; memory for the distinct pairs of words seen
//! together.
//! Not: phrases.
//!
//! The stage reads top to bottom: `words` and `numbered` number the text, `cooccur` and `lexicon`
//! hold the pairs of words,
//! `diagonal`, `jump` and `hmm` give posteriors, `train` learns, `decode` and `symmetrise` choose
//! links, `rates` tells which words are nearly always linked, `file` keeps the model.

mod cooccur;
mod decode;
mod diagonal;
mod file;
mod fixed;
mod hmm;
mod jump;
mod lexicon;
mod links;
mod numbered;
mod pair;
mod rates;
mod symmetrise;
mod train;
mod words;

#[cfg(test)]
mod tests;

pub use decode::{Choice, Decoder};
pub(crate) use file::SEAL;
pub use links::{Link, Links};
pub use numbered::MAX_WORDS;
pub use symmetrise::{Heuristic, symmetrise, symmetrise_all};

use crate::Job;
use crate::corpus::{Bitext, Vocab};
use crate::error::{Error, Result};
use jump::Jumps;
use lexicon::Lexicon;
use numbered::Numbered;
use words::Numbering;

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
}

/// A trained aligner; immutable, shared by threads.
#[derive(Debug, Clone)]
pub struct Aligner {
    src_names: Vocab,
    tgt_names: Vocab,
    lexicon: Lexicon,
    order: Order,
    null_prob: f32,
    summary: Option<FitSummary>,
}

impl Aligner {
    /// Learns from a bitext.
    pub fn fit(bitext: &Bitext, options: &FitOptions, job: &Job) -> Result<Aligner> {
        options.check()?;
        let vocab = bitext.vocab();
        let src_names = words::names(bitext.src(), vocab);
        let tgt_names = words::names(bitext.tgt(), vocab);
        let numbers = [Numbering::new(&src_names, vocab), Numbering::new(&tgt_names, vocab)];
        let text = Numbered::new(bitext, numbers.each_ref());
        let lens = (src_names.len(), tgt_names.len());
        let (lexicon, order) = train::train(&text, lens, options, job)?;
        let summary = Some(FitSummary { lexicon: lexicon.pair_count(), ..summarise(&text) });
        let null_prob = options.null_prob;
        Ok(Aligner { src_names, tgt_names, lexicon, order, null_prob, summary })
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

fn summarise(text: &Numbered<'_>) -> FitSummary {
    let mut summary = FitSummary { pairs: text.len(), ..FitSummary::default() };
    for k in (0..text.len()).filter(|&k| !text.has_links(k)) {
        if text.src.sentence(k).is_empty() || text.tgt.sentence(k).is_empty() {
            summary.blank += 1;
        } else {
            summary.too_long += 1;
        }
    }
    summary
}
