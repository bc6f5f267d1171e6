//! The seats of features that depend on the path taken through the source sentence.
//!
//! A word-after-word model keeps the last translated word as its state; a linear-ordering model
//! needs the coverage alone. Both plug in here, and the first may also say which words are likely
//! to come next, for early pruning (definitions c), so the search knows neither of them.

use crate::corpus::SrcPos;
use crate::error::{Error, Result};
use crate::feature::{Coverage, OptionId, Phrase, Source, Span};

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
pub trait PathFeature: Send + Sync {
    /// The name its weight goes by.
    fn name(&self) -> &str;

    /// Whether its scorers can rate words, so that the search may be pruned by it.
    fn rates(&self) -> bool {
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
    fn isolated_score(&self, _phrase: OptionId) -> f32 {
        0.0
    }

    /// The rest of the value of adding a phrase, and the state after it; `here` is before the
    /// phrase.
    fn step(&self, state: u32, here: &Here<'_>, phrase: OptionId) -> (f32, u32);

    /// The value of stopping in this state.
    fn finish(&self, _state: u32) -> f32 {
        0.0
    }

    /// The most that `step` may give for a phrase: for the future cost, so a guess will do.
    fn upper_bound(&self, _phrase: OptionId) -> f32 {
        0.0
    }

    /// By how much hope falls for a word when the word before it was translated and something
    /// else after that one; not above 0.
    fn gap_loss(&self, _word: SrcPos) -> f32 {
        0.0
    }

    /// How likely each of some untranslated words, from left to right, is to come next, as logs, in
    /// their order; `scores` comes empty. Only asked where the feature says that it rates.
    fn rate(&self, _state: u32, _here: &Here<'_>, _words: &[SrcPos], _scores: &mut Vec<f32>) {}
}

/// Refuses a name that weights, spaces and n-best lists could not be read with again.
pub fn check_name(name: &str) -> Result<()> {
    let is_inner = |sign: char| sign.is_alphanumeric() || matches!(sign, '_' | '-' | '.');
    if name.starts_with(char::is_alphabetic) && name.chars().all(is_inner) {
        return Ok(());
    }
    Err(Error::Argument {
        name: "feature".into(),
        found: format!("the name `{name}`"),
        expected: "a letter, then letters, digits, `_`, `-` and `.`".into(),
    })
}
