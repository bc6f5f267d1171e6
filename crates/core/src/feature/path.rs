//! The interface of path features, which depend on the path through the source sentence.
//!
//! The state of a word-after-word model is the last translated word; a linear-ordering model needs
//! the coverage only. A feature may also score the next source words, for early pruning
//! (definitions c).

use crate::corpus::SrcPos;
use crate::error::{Error, Result};
use crate::feature::{Coverage, OptionAlignment, OptionId, SourceSentence, Span};

/// The part of a hypothesis that the choice of the next span depends on.
#[derive(Debug, Clone, Copy)]
pub struct ReorderingState<'a> {
    /// The translated words.
    pub cov: Coverage<'a>,
    /// The first untranslated word.
    pub gap: u32,
    /// The word after the last phrase; 0 at the start.
    pub end: u32,
    /// The block of source words that contains the last phrase; empty at the start, and in spaces
    /// that do not need it.
    pub top: Span,
    /// State of the reordering space.
    pub mode: u8,
}

/// A feature with a 32-bit state.
pub trait PathFeature: Send + Sync {
    /// Return the name of its weight.
    fn name(&self) -> &str;

    /// Return whether its scorers score next words, as early pruning needs.
    fn has_next_word_scores(&self) -> bool {
        false
    }

    /// Prepare for a sentence; `OptionId` is an index into `phrases`. Return an error if the
    /// sentence lacks an annotation that the feature needs.
    fn prepare<'a>(
        &'a self,
        source: &SourceSentence<'a>,
        phrases: &[OptionAlignment<'a>],
    ) -> Result<Box<dyn PathScorer + 'a>>;
}

/// A path feature prepared for one sentence.
pub trait PathScorer {
    /// Return the state of the empty hypothesis.
    fn start(&self) -> u32 {
        0
    }

    /// Return the part of the value of an option that does not depend on the path.
    fn isolated_score(&self, _phrase: OptionId) -> f32 {
        0.0
    }

    /// Return the part of the value of an option that depends on the path, and the next state;
    /// `here` is the reordering state before the option.
    fn extend(&self, state: u32, here: &ReorderingState<'_>, phrase: OptionId) -> (f32, u32);

    /// Return the value of ending in this state.
    fn finish(&self, _state: u32) -> f32 {
        0.0
    }

    /// Return an upper bound of `extend` for an option, for the future cost; an estimate is enough.
    fn upper_bound(&self, _phrase: OptionId) -> f32 {
        0.0
    }

    /// Return the change of the upper bound for a word if the word before it is translated, but not
    /// last; at most 0.
    fn gap_loss(&self, _word: SrcPos) -> f32 {
        0.0
    }

    /// Append the log probability of each of some untranslated words to be next, in their order, to
    /// the empty `scores`. Only called if `has_next_word_scores`.
    fn score_next_words(
        &self,
        _state: u32,
        _here: &ReorderingState<'_>,
        _words: &[SrcPos],
        _scores: &mut Vec<f32>,
    ) {
    }
}

/// Return an error for a name that cannot be parsed in weights, spaces and n-best lists.
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
