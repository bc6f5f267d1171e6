//! The seat of a model of the next word at the decoder: a path feature, and early pruning.
//!
//! In: the words of a sentence with their layers, or given numbers, and the phrases that may be
//! used in it. Out: for each phrase added, ln P of the jump to its first word and of the jumps
//! inside it, so that a complete translation has one factor a source word (definitions b.5); how
//! likely each word is to come next (definitions c).
//! How: where a jump is worth the same whatever is translated, the inside of a phrase is worked
//! out once a sentence. Otherwise that is a guess, taken back as soon as the coverage is known.
//! Phrases of the same words in the same order share all that is worked out.
//! Cost: one look-up a phrase added, or one a word of it when nobody asked lately; no allocation.

use super::Judge;
use super::kept::Kept;
use super::matrix::Matrix;
use super::rater::{Link, Rater};
use crate::corpus::SrcPos;
use crate::error::{Error, Place, Result};
use crate::feature::{
    Coverage, OptionAlignment, OptionId, PathFeature, PathScorer, ReorderingState, SourceSentence,
    Span, check_name,
};
use crate::narrow::to_u32;
use crate::reorder::annotated::annotated;
use crate::reorder::order::MeanOrder;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::hash::Hasher;
use std::ops::Range;
use std::sync::Arc;

/// Where the scores of pairs of words come from.
#[derive(Clone)]
pub enum Scores {
    /// A trained model.
    Model(Arc<dyn Judge>),
    /// They are given with each sentence, by the name of the feature.
    Given,
}

/// A model of the next word as a feature of its own name.
#[derive(Clone)]
pub struct Jumps {
    name: String,
    scores: Scores,
}

impl Jumps {
    /// The feature of this name.
    pub fn new(name: &str, scores: Scores) -> Result<Self> {
        check_name(name)?;
        Ok(Jumps { name: name.into(), scores })
    }

    fn rater<'m>(&'m self, source: &SourceSentence<'_>) -> Result<Rater<'m>> {
        match &self.scores {
            Scores::Model(model) => Ok(model.rater(&annotated(source, model.needs(), &self.name)?)),
            Scores::Given => {
                let length = source.words.len();
                let cells = source.matrix(&self.name).unwrap_or_default();
                if cells.len() == (length + 1) * length {
                    return Ok(Rater::new(Matrix::given(length, cells), &[], Link::Ready));
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

impl PathFeature for Jumps {
    fn name(&self) -> &str {
        &self.name
    }

    fn has_next_word_scores(&self) -> bool {
        true
    }

    fn prepare<'a>(
        &'a self,
        source: &SourceSentence<'a>,
        phrases: &[OptionAlignment<'a>],
    ) -> Result<Box<dyn PathScorer + 'a>> {
        Ok(Box::new(Scorer::new(self.rater(source)?, phrases)))
    }
}

/// The words of a phrase in the order they are translated.
#[derive(Debug, Clone)]
struct Inside {
    /// Its words, in `Scorer::words`; where they begin tells different ones apart.
    words: Range<u32>,
    /// ln P of the jumps from one to the next; a guess unless jumps are fixed.
    sum: f32,
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

/// The feature at work on a sentence; its state is the last translated word.
struct Scorer<'a> {
    rater: Rater<'a>,
    hopes: Vec<Hope>,
    insides: Vec<Inside>,
    /// The words of all phrases, from 1, in the order they are translated.
    words: Vec<u32>,
    /// What taking the words of a phrase is worth, by them, the last word and the coverage.
    paths: RefCell<Kept>,
}

/// The first phrase of each order of words, by a hash of them.
type Known = FxHashMap<u64, usize>;

/// A coverage that is guessed; its memory is used again.
struct Guess {
    blocks: Vec<u64>,
    length: u32,
}

impl Guess {
    fn new(rater: &Rater<'_>) -> Guess {
        let length = to_u32(rater.len());
        Guess { blocks: vec![0; Coverage::blocks_for(length)], length }
    }

    /// These words are translated, and no others. Where jumps are fixed, nobody looks.
    fn cover(&mut self, rater: &Rater<'_>, spans: [Span; 2]) -> Coverage<'_> {
        if !rater.is_fixed() {
            self.blocks.fill(0);
            spans.iter().for_each(|&span| Coverage::mark(&mut self.blocks, span));
        }
        Coverage::new(&self.blocks, self.length)
    }
}

impl<'a> Scorer<'a> {
    fn new(rater: Rater<'a>, phrases: &[OptionAlignment<'_>]) -> Self {
        let hopes = hopes(&rater);
        let insides = Vec::with_capacity(phrases.len());
        let paths = RefCell::new(Kept::new(rater.len()));
        let mut scorer = Scorer { rater, hopes, insides, words: Vec::new(), paths };
        let (mut order, mut guess) = (MeanOrder::default(), Guess::new(&scorer.rater));
        let mut known = Known::default();
        let mut last: Option<&OptionAlignment<'_>> = None;
        for phrase in phrases {
            let twin =
                scorer.insides.last().filter(|_| last.is_some_and(|last| alike(last, phrase)));
            match twin.cloned() {
                Some(twin) => scorer.insides.push(twin),
                None => scorer.enter(&mut order, &mut guess, &mut known, phrase),
            }
            last = Some(phrase);
        }
        scorer
    }

    /// Takes up a phrase: its inside is worth what it is when all before the phrase is translated.
    fn enter(
        &mut self,
        order: &mut MeanOrder,
        guess: &mut Guess,
        known: &mut Known,
        phrase: &OptionAlignment<'_>,
    ) {
        let Span { start, .. } = phrase.span;
        let first = self.words.len();
        // Most phrases are words.
        if phrase.span.len() == 1 {
            self.words.push(start + 1);
        } else {
            let order = order.of(phrase.span.len() as usize, phrase.links);
            self.words.extend(order.iter().map(|word| start + word + 1));
        }
        let mut hasher = rustc_hash::FxHasher::default();
        self.words[first..].iter().for_each(|&word| hasher.write_u32(word));
        let twin = *known.entry(hasher.finish()).or_insert(self.insides.len());
        if let Some(twin) = self.insides.get(twin)
            && self.words[twin.words.start as usize..twin.words.end as usize] == self.words[first..]
        {
            self.insides.push(twin.clone());
            self.words.truncate(first);
            return;
        }
        let sum = match self.words[first..] {
            [from, ref rest @ ..] if !rest.is_empty() => {
                let spans = [Span::new(0, start), Span::new(from - 1, from)];
                self.rater.path(guess.cover(&self.rater, spans), from, rest)
            }
            _ => 0.0,
        };
        self.insides.push(Inside { words: to_u32(first)..to_u32(self.words.len()), sum });
    }

    fn words(&self, phrase: OptionId) -> &[u32] {
        let Range { start, end } = self.insides[phrase.index()].words;
        &self.words[start as usize..end as usize]
    }
}

/// Whether it is plain that both phrases have their words in the same order.
fn alike(one: &OptionAlignment<'_>, other: &OptionAlignment<'_>) -> bool {
    one.span == other.span && (one.span.len() == 1 || one.links == other.links)
}

/// What may be hoped for each word. What is translated before a jump is guessed to be all words up
/// to the one jumped from, but the one jumped to.
fn hopes(rater: &Rater<'_>) -> Vec<Hope> {
    let length = to_u32(rater.len());
    let mut guess = Guess::new(rater);
    let mut log_prob = |from: u32, to: u32| {
        let spans = [Span::new(0, from.min(to - 1)), Span::new(to.min(from), from)];
        rater.log_prob(guess.cover(rater, spans), from, to)
    };
    let mut best = |to: u32| {
        let near = to.saturating_sub(NEAR + 1)..=(to + NEAR).min(length);
        let others = near.filter(|&from| from != to && from + 1 != to);
        let other = others.map(|from| log_prob(from, to)).fold(LEAST, f32::max);
        Hope { any: log_prob(to - 1, to).max(other), other }
    };
    (1..=length).map(&mut best).collect()
}

impl PathScorer for Scorer<'_> {
    fn isolated_score(&self, phrase: OptionId) -> f32 {
        self.insides[phrase.index()].sum
    }

    fn extend(&self, state: u32, here: &ReorderingState<'_>, phrase: OptionId) -> (f32, u32) {
        let words = self.words(phrase);
        let (Some(&first), Some(&last)) = (words.first(), words.last()) else {
            return (0.0, state);
        };
        if self.rater.is_fixed() {
            return (self.rater.log_prob(here.cov, state, first), last);
        }
        let Inside { words: Range { start, .. }, sum } = self.insides[phrase.index()];
        let head = u64::from(state) << 32 | u64::from(start);
        let known = self.paths.borrow_mut().place(head, here.cov);
        let value = known.unwrap_or_else(|place| {
            let value = self.rater.path(here.cov, state, words);
            self.paths.borrow_mut().keep(place, head, here.cov, value);
            value
        });
        (value - sum, last)
    }

    fn upper_bound(&self, phrase: OptionId) -> f32 {
        let first = self.words(phrase).first().map_or(0, |&word| word as usize - 1);
        self.hopes[first].any
    }

    fn gap_loss(&self, word: SrcPos) -> f32 {
        let Hope { any, other } = self.hopes[word.index()];
        other - any
    }

    fn score_next_words(
        &self,
        state: u32,
        here: &ReorderingState<'_>,
        words: &[SrcPos],
        scores: &mut Vec<f32>,
    ) {
        self.rater.rate(here.cov, state, words, scores);
    }
}
