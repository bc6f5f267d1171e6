//! The model's seat at the decoder: a path feature, and early pruning.
//!
//! In: the words of a sentence with their layers, or given numbers, and the phrases that may be
//! used in it. Out: for each phrase added, ln P of the jump to its first word and of the jumps
//! inside it, so that a complete translation has one factor a source word (definitions b.5); how
//! likely each word is to come next (definitions c).
//! Cost: one look-up a phrase added; the inside of a phrase is worked out once a sentence.

use super::matrix::Matrix;
use super::model::Model;
use super::prepared::Prepared;
use crate::corpus::SrcPos;
use crate::error::{Error, Place, Result};
use crate::feature::{Here, OptionId, PathFeature, PathScorer, Phrase, Source, check_name};
use crate::reorder::annotated::annotated;
use crate::reorder::order::MeanOrder;
use std::sync::Arc;

/// Where the scores of pairs of words come from.
#[derive(Debug, Clone)]
pub enum Scores {
    /// A trained model.
    Model(Arc<Model>),
    /// They are given with each sentence, by the name of the feature.
    Given,
}

/// A word-after-word model as a feature of its own name.
#[derive(Debug, Clone)]
pub struct Waw {
    name: String,
    scores: Scores,
}

impl Waw {
    /// The feature of this name.
    pub fn new(name: &str, scores: Scores) -> Result<Self> {
        check_name(name)?;
        Ok(Waw { name: name.into(), scores })
    }

    fn matrix<'m>(&'m self, source: &Source<'_>) -> Result<Matrix<'m>> {
        match &self.scores {
            Scores::Model(model) => {
                let mut prepared = Prepared::default();
                let needs = model.recipe().options.templates.needs();
                prepared.fill_from(&annotated(source, needs, &self.name)?);
                Ok(Matrix::lazy(model, prepared))
            }
            Scores::Given => {
                let length = source.words.len();
                let cells = source.matrix(&self.name).unwrap_or_default();
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

impl PathFeature for Waw {
    fn name(&self) -> &str {
        &self.name
    }

    fn rates(&self) -> bool {
        true
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
}

impl PathScorer for Scorer<'_> {
    fn alone(&self, phrase: OptionId) -> f32 {
        self.insides[phrase.index()].sum
    }

    fn step(&self, state: u32, _: &Here<'_>, phrase: OptionId) -> (f32, u32) {
        let Inside { first, last, .. } = self.insides[phrase.index()];
        (self.matrix.get(state, first), last)
    }

    fn hope(&self, phrase: OptionId) -> f32 {
        self.hopes[self.insides[phrase.index()].first as usize - 1].any
    }

    fn loss(&self, word: SrcPos) -> f32 {
        let Hope { any, other } = self.hopes[word.index()];
        other - any
    }

    fn rate(&self, state: u32, _: &Here<'_>, words: &[SrcPos], scores: &mut Vec<f32>) {
        scores.extend(words.iter().map(|&word| self.matrix.get(state, word.0 + 1)));
    }
}
