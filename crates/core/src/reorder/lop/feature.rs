//! The model's seat at the decoder: a path feature, and early pruning.
//!
//! In: a sentence with the layers that the model looks at. Out: for each phrase added, what it
//! costs that untranslated words before it will come after it; over a whole translation the values
//! add up to the score of its order, words inside a phrase in source order (definitions h.6).
//! How: a pair that keeps its order is counted at the end, all at once, and taken back as soon as
//! it is turned round, so that translations of different words can be compared on the way.
//! Cost: one look-up for each gap before the phrase; no state.

use super::model::{Model, Orderer};
use super::pairs::Pairs;
use crate::corpus::SrcPos;
use crate::error::Result;
use crate::feature::{
    OptionAlignment, OptionId, PathFeature, PathScorer, ReorderingState, SourceSentence, Span,
    check_name,
};
use crate::narrow::to_f32;
use crate::reorder::annotated::annotated;
use std::sync::Arc;

/// A linear-ordering model as a feature of its own name.
#[derive(Debug, Clone)]
pub struct Lop {
    name: String,
    model: Arc<Model>,
}

impl Lop {
    /// The feature of this name.
    pub fn new(name: &str, model: Arc<Model>) -> Result<Self> {
        check_name(name)?;
        Ok(Lop { name: name.into(), model })
    }
}

impl PathFeature for Lop {
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
        let needs =
            crate::corpus::annotated::Annotation { tags: self.model.recipe().tags, chunks: false };
        let sentence = annotated(source, needs, &self.name)?;
        let pairs = Orderer::default().pairs(&self.model, &sentence);
        Ok(Box::new(Scorer::new(&pairs, phrases)))
    }
}

/// The feature at work on a sentence.
#[derive(Debug)]
pub struct Scorer {
    /// `sums[x][y]`: the sum of the pair matrix over the first x and the first y words.
    sums: Vec<f64>,
    side: usize,
    kept: f64,
    spans: Vec<Span>,
}

impl Scorer {
    /// The feature of a pair matrix, for these phrases.
    pub fn new(pairs: &Pairs, phrases: &[OptionAlignment<'_>]) -> Self {
        let side = pairs.len() + 1;
        let mut sums = vec![0.0; side * side];
        for x in 0..pairs.len() {
            let mut row = 0.0;
            for y in 0..pairs.len() {
                row += if y > x { pairs.get(x, y) } else { 0.0 };
                sums[(x + 1) * side + y + 1] = sums[x * side + y + 1] + row;
            }
        }
        let kept = sums.last().copied().unwrap_or_default();
        Scorer { sums, side, kept, spans: phrases.iter().map(|phrase| phrase.span).collect() }
    }

    /// What it is worth that the untranslated words before a span come before it.
    fn lost(&self, here: &ReorderingState<'_>, span: Span) -> f64 {
        let sum = |x: u32, y: u32| self.sums[x as usize * self.side + y as usize];
        let mut lost = 0.0;
        let mut start = here.gap;
        while start < span.start {
            let end = here.cov.next_covered(start).min(span.start);
            lost += sum(end, span.end) - sum(start, span.end) - sum(end, span.start)
                + sum(start, span.start);
            start = here.cov.next_free(end);
        }
        lost
    }
}

impl PathScorer for Scorer {
    fn extend(&self, state: u32, here: &ReorderingState<'_>, phrase: OptionId) -> (f32, u32) {
        (to_f32(-self.lost(here, self.spans[phrase.index()])), state)
    }

    fn finish(&self, _: u32) -> f32 {
        to_f32(self.kept)
    }

    fn score_next_words(
        &self,
        _: u32,
        here: &ReorderingState<'_>,
        words: &[SrcPos],
        scores: &mut Vec<f32>,
    ) {
        let word = |word: &SrcPos| to_f32(-self.lost(here, Span::new(word.0, word.0 + 1)));
        scores.extend(words.iter().map(word));
    }
}
