//! The seats of features that depend on the path taken through the source sentence.
//!
//! A word-after-word model keeps the last translated word as its state; a linear-ordering model
//! needs the coverage alone. Both plug in here, and the first may also narrow down which phrases
//! come next (SPEC c), so the search knows neither of them.

use crate::error::Result;
use crate::feature::{Coverage, Phrase, Span};

/// A sentence to be translated, as path features see it.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The words.
    pub words: &'a [&'a str],
    /// The words with their factors, `word|POS|chunk`, where a feature reads factors; else the
    /// words again.
    pub tokens: &'a [&'a str],
    /// Its place among the sentences given together, from 0.
    pub number: usize,
}

/// Where a partial translation stands, as far as the choice of the next span goes.
#[derive(Debug, Clone, Copy)]
pub struct Here<'a> {
    /// The words translated so far.
    pub cov: Coverage<'a>,
    /// The first untranslated word.
    pub gap: u32,
    /// The word after the last phrase; 0 at the start.
    pub end: u32,
    /// The block of source words that the last phrase has merged into; empty at the start.
    /// Kept only in spaces that ask for it.
    pub top: Span,
    /// What the space itself remembers.
    pub mode: u8,
}

/// A feature with a state that fits in 32 bits.
pub trait PathFeature: Sync {
    /// The name its weight goes by.
    fn name(&self) -> &str;

    /// Whether its scorers narrow down what comes next; of several such features the first does.
    fn narrows(&self) -> bool {
        false
    }

    /// Whether sentences come as factored tokens (`word|POS|chunk`).
    fn reads_factors(&self) -> bool {
        false
    }

    /// Prepares for a sentence and the phrases that may be used in it, which its scorer knows by
    /// their place among them; fails when the sentence lacks what the feature looks at.
    fn sentence<'a>(
        &'a self,
        source: &Source<'a>,
        phrases: &[Phrase<'a>],
    ) -> Result<Box<dyn PathScorer + 'a>>;
}

/// A path feature at work on one sentence.
pub trait PathScorer {
    /// The state of the empty translation.
    fn start(&self) -> u32 {
        0
    }

    /// What of a phrase's value does not depend on the path.
    fn alone(&self, _phrase: u32) -> f32 {
        0.0
    }

    /// The rest of the value of adding a phrase, and the state after it; `here` is before the
    /// phrase.
    fn step(&self, state: u32, here: &Here<'_>, phrase: u32) -> (f32, u32);

    /// The value of stopping in this state.
    fn finish(&self, _state: u32) -> f32 {
        0.0
    }

    /// The most that `step` may give for a phrase: for the future cost, so a guess will do.
    fn hope(&self, _phrase: u32) -> f32 {
        0.0
    }

    /// By how much hope falls for a word when the word before it was translated and something
    /// else after that one; not above 0.
    fn loss(&self, _word: u32) -> f32 {
        0.0
    }

    /// Takes those of some words back that are not worth jumping to; at least one must stay.
    /// Returns where phrases may start that stay whatever word they are entered at.
    fn narrow(&self, _state: u32, _here: &Here<'_>, _words: &mut Vec<u32>) -> Span {
        Span::default()
    }
}
