//! Requests: a sentence to translate, and the requested output.

use crate::decode::input::markup::Markup;
use crate::feature::SourceSentence;

/// A sentence to translate, with its markup.
#[derive(Debug, Clone, Copy, Default)]
pub struct TranslationRequest<'a> {
    /// The sentence.
    pub source: SourceSentence<'a>,
    /// Markup translations, walls and zones.
    pub markup: Option<&'a Markup>,
}

impl<'a> TranslationRequest<'a> {
    /// Create a request without annotation and markup.
    pub fn of(words: &'a [&'a str]) -> Self {
        TranslationRequest { source: SourceSentence::of(words), markup: None }
    }
}

/// Output besides the best translation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputOptions {
    /// Length of the n-best list, at least 1.
    pub nbest: usize,
    /// Whether n-best lists contain each string once.
    pub distinct: bool,
    /// Whether to return the search graph.
    pub graph: bool,
    /// Number of hypotheses to return per stack.
    pub stacks: usize,
}

impl Default for OutputOptions {
    fn default() -> Self {
        OutputOptions { nbest: 1, distinct: false, graph: false, stacks: 0 }
    }
}
