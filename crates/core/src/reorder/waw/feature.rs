//! The model's seat at the decoder: the feature `waw`, and early pruning.
//!
//! In: the words of a sentence with their factors, and the phrases that may be used in it.
//! Out: for each phrase added, ln P of the jump to its first word and of the jumps inside it, so
//! that a complete translation has one factor a source word (SPEC b.5); which phrases are worth
//! trying next (SPEC c).
//! Cost: one look-up a phrase added; the inside of a phrase is worked out once a sentence.

use super::matrix::Matrix;
use super::model::Model;
use super::prepared::Prepared;
use super::prune::{Chooser, Prune};
use crate::corpus::annotated::{BadToken, FACTORS, Sentence};
use crate::error::{Error, Place, Result};
use crate::feature::{Here, PathFeature, PathScorer, Phrase, Source, Span};
use crate::reorder::order::MeanOrder;
use std::cell::RefCell;

/// Where the scores of pairs of words come from.
#[derive(Debug, Clone, Copy)]
pub enum Scores<'a> {
    /// A trained model.
    Model(&'a Model),
    /// For each sentence its log probabilities, `length + 1` rows of `length` numbers; the first
    /// row is the sentence's start.
    Given(&'a [Vec<f32>]),
}

/// The feature `waw`.
#[derive(Debug, Clone, Copy)]
pub struct Waw<'a> {
    /// Scores of pairs of words.
    pub scores: Scores<'a>,
    /// How the choice of the next phrase is narrowed, if it is.
    pub prune: Option<Prune>,
}

impl Waw<'_> {
    fn matrix<'m>(&'m self, source: &Source<'_>) -> Result<Matrix<'m>> {
        match self.scores {
            Scores::Model(model) => {
                let mut prepared = Prepared::default();
                prepared.fill_from(&annotated(source, model)?);
                Ok(Matrix::lazy(model, prepared))
            }
            Scores::Given(matrices) => {
                let length = source.words.len();
                let cells = matrices.get(source.number).map(Vec::as_slice).unwrap_or_default();
                if cells.len() == (length + 1) * length {
                    return Ok(Matrix::given(length, cells));
                }
                Err(Error::Mismatch {
                    place: Place { file: "matrix".into(), line: Some(source.number as u64 + 1) },
                    found: format!("{} numbers for {length} words", cells.len()),
                    advice: format!("give {} rows of {length}, the start first", length + 1),
                })
            }
        }
    }
}

/// The sentence with as many layers as its tokens have, which must be enough for the model.
fn annotated<'a>(source: &Source<'a>, model: &Model) -> Result<Sentence<'a>> {
    let place = || Place { file: "sentence".into(), line: Some(source.number as u64 + 1) };
    let templates = model.recipe().options.templates;
    let needed = 1 + usize::from(templates.needs_tags()) + usize::from(templates.needs_chunks());
    if needed == 1 {
        return Ok(Sentence::of_words(source.words.iter().copied()));
    }
    let factors = source.tokens.first().map_or(needed, |token| token.split('|').count());
    if !(needed..=FACTORS).contains(&factors) {
        let forms = ["word", "word|POS", "word|POS|chunk"];
        return Err(Error::Format {
            place: place(),
            found: format!("tokens with {factors} factors"),
            expected: format!("`{}`, which the model looks at", forms[needed - 1]),
            advice: "annotate the text as the training text was".into(),
        });
    }
    Sentence::of_factors(source.tokens.iter().copied(), factors).map_err(|bad| {
        let BadToken { at, found, expected } = bad;
        Error::Format {
            place: place(),
            found: format!("token {} (`{}`): {found}", at + 1, source.tokens[at]),
            expected,
            advice: "write a `|` inside a word as `&#124;`".into(),
        }
    })
}

impl PathFeature for Waw<'_> {
    fn name(&self) -> &str {
        "waw"
    }

    fn narrows(&self) -> bool {
        self.prune.is_some()
    }

    fn reads_factors(&self) -> bool {
        match self.scores {
            Scores::Model(model) => model.recipe().options.templates.needs_tags(),
            Scores::Given(_) => false,
        }
    }

    fn sentence<'a>(
        &'a self,
        source: &Source<'a>,
        phrases: &[Phrase<'a>],
    ) -> Result<Box<dyn PathScorer + 'a>> {
        let matrix = self.matrix(source)?;
        let mut order = MeanOrder::default();
        Ok(Box::new(Scorer {
            insides: phrases.iter().map(|phrase| inside(&matrix, &mut order, phrase)).collect(),
            hopes: hopes(&matrix),
            matrix,
            chooser: self.prune.map(|prune| RefCell::new(Chooser::new(prune))),
        }))
    }
}

/// The words of a phrase in the order they are translated.
#[derive(Debug, Clone, Copy)]
struct Inside {
    /// Positions from 1.
    first: u32,
    last: u32,
    /// ln P of the jumps from one to the next.
    sum: f32,
}

fn inside(matrix: &Matrix<'_>, order: &mut MeanOrder, phrase: &Phrase<'_>) -> Inside {
    let position = |word: u32| phrase.span.start + word + 1;
    // Most phrases are words.
    if phrase.span.len() == 1 {
        return Inside { first: position(0), last: position(0), sum: 0.0 };
    }
    let order = order.of(phrase.span.len() as usize, phrase.links);
    let jumps = order.windows(2).map(|two| matrix.get(position(two[0]), position(two[1])));
    Inside {
        first: order.first().map_or(0, |&word| position(word)),
        last: order.last().map_or(0, |&word| position(word)),
        sum: jumps.sum(),
    }
}

/// What a jump is thought to bring at least, where nothing better is known.
const LEAST: f32 = -20.0;

/// The best ln P of coming to a word.
#[derive(Debug, Clone, Copy)]
struct Hope {
    /// From anywhere.
    any: f32,
    /// From anywhere but the word before.
    other: f32,
}

/// How far away the words are that a word is hoped to be reached from. Looking further changes
/// next to nothing, and costs a look at the model for each word more.
const NEAR: u32 = 4;

/// What may be hoped for each word.
fn hopes(matrix: &Matrix<'_>) -> Vec<Hope> {
    let length = matrix.len() as u32;
    let best = |to: u32| {
        let near = to.saturating_sub(NEAR + 1)..=(to + NEAR).min(length);
        let others = near.filter(|&from| from != to && from + 1 != to);
        let other = others.map(|from| matrix.get(from, to)).fold(LEAST, f32::max);
        Hope { any: matrix.get(to - 1, to).max(other), other }
    };
    (1..=length).map(best).collect()
}

/// The feature at work on a sentence; its state is the last translated word.
struct Scorer<'a> {
    matrix: Matrix<'a>,
    hopes: Vec<Hope>,
    insides: Vec<Inside>,
    chooser: Option<RefCell<Chooser>>,
}

impl PathScorer for Scorer<'_> {
    fn alone(&self, phrase: u32) -> f32 {
        self.insides[phrase as usize].sum
    }

    fn step(&self, state: u32, _: &Here<'_>, phrase: u32) -> (f32, u32) {
        let Inside { first, last, .. } = self.insides[phrase as usize];
        (self.matrix.get(state, first), last)
    }

    fn hope(&self, phrase: u32) -> f32 {
        self.hopes[self.insides[phrase as usize].first as usize - 1].any
    }

    fn loss(&self, word: u32) -> f32 {
        let Hope { any, other } = self.hopes[word as usize];
        other - any
    }

    fn narrow(&self, state: u32, here: &Here<'_>, words: &mut Vec<u32>) -> Span {
        let Some(chooser) = &self.chooser else { return Span::new(0, here.cov.length()) };
        let score = |word: u32| self.matrix.get(state, word + 1);
        chooser.borrow_mut().choose(here.end, words, score)
    }
}
