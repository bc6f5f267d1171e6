//! Pairs learned one by one, beside models that were trained and never change.
//!
//! In: sentence pairs with links, a mapped phrase table, language models. Out: an `Overlay`, whose
//! seats stand in for the table and the language models at the decoder: what was learned and what
//! was trained answer together.
//! How: the phrases of the pairs are counted, each pair for `WORTH` trained ones, and their scores
//! are those of both counts together; the whole sentence is a phrase too. A language model of the
//! learned target text is mixed in where its contexts occur (Witten and Bell, 1991).
//! Cost: building is linear in the phrases of all learned pairs; a question costs one look-up more.
//! Not: orientation scores of pairs that the table does not have, which are even.

mod grams;
mod phrases;
#[cfg(test)]
mod tests;

use crate::align::Link;
use crate::error::{Error, Result};
use crate::feature::{LanguageModel, PhraseModel};
use crate::lm::Model;
use crate::orientation::Orientation;
use crate::phrase_table::PhraseTable;
use grams::{Grams, MixedLm};
use phrases::{LearnedPhrases, MixedTable};

/// How many trained pairs a learned one stands for.
const WORTH: f32 = 20.0;

/// A sentence pair to learn from.
#[derive(Debug, Clone, Copy)]
pub struct Pair<'a> {
    /// Source words.
    pub src: &'a [String],
    /// Target words.
    pub tgt: &'a [String],
    /// Which words translate each other, sorted.
    pub links: &'a [Link],
}

/// What was learned, made to fit a table and language models.
#[derive(Debug)]
pub struct Overlay {
    phrases: LearnedPhrases,
    grams: Grams,
    /// For each language model its numbers of the words of `grams`.
    ids: Vec<Vec<u32>>,
}

impl Overlay {
    /// Learns from pairs, for a decoder with this table and these language models.
    pub fn new(table: &PhraseTable, lms: &[&Model], pairs: &[Pair<'_>]) -> Result<Overlay> {
        for pair in pairs {
            check(pair)?;
        }
        let phrases = LearnedPhrases::new(table, pairs)?;
        let grams = Grams::new(pairs.iter().map(|pair| pair.tgt));
        let ids = lms.iter().map(|lm| grams.words().map(|word| lm.text_id(word)).collect());
        Ok(Overlay { ids: ids.collect(), phrases, grams })
    }

    /// How many phrase pairs were learned.
    pub fn phrases(&self) -> usize {
        self.phrases.len()
    }

    /// The table's seat.
    pub fn table<'a>(
        &'a self,
        table: &'a PhraseTable,
        orientation: Option<Orientation>,
    ) -> impl PhraseModel + 'a {
        MixedTable { table, orientation, learned: &self.phrases }
    }

    /// The seat of the language model of this number; none when its states have no room for more,
    /// and it stays as it is.
    pub fn language_model<'a>(
        &'a self,
        number: usize,
        lm: &'a Model,
    ) -> Option<impl LanguageModel + 'a> {
        let ids = self.ids.get(number).filter(|_| MixedLm::fits(lm))?;
        Some(MixedLm { lm, grams: &self.grams, ids })
    }
}

fn check(pair: &Pair<'_>) -> Result<()> {
    let lengths = (pair.src.len(), pair.tgt.len());
    let is_inside = |link: &Link| link.src.index() < lengths.0 && link.tgt.index() < lengths.1;
    match pair.links.iter().find(|link| !is_inside(link)) {
        Some(link) => Err(Error::Argument {
            name: "links".into(),
            found: format!("{}-{}", link.src.0, link.tgt.0),
            expected: format!("places inside {} and {} words", lengths.0, lengths.1),
        }),
        None => Ok(()),
    }
}
