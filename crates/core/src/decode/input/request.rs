//! What is asked of a search.

use crate::decode::input::markup::Markup;
use crate::feature::Source;

/// A sentence to be translated, and what its writer demands of the translation.
#[derive(Debug, Clone, Copy, Default)]
pub struct Request<'a> {
    /// The sentence.
    pub source: Source<'a>,
    /// Given translations, walls and zones.
    pub markup: Option<&'a Markup>,
}

impl<'a> Request<'a> {
    /// A sentence of which nothing is known but its words.
    pub fn of(words: &'a [&'a str]) -> Self {
        Request { source: Source::of(words), markup: None }
    }
}

/// What is wanted besides the best translation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// Length of the n-best list, at least 1.
    pub nbest: usize,
    /// Whether equal strings appear once.
    pub distinct: bool,
    /// Whether the search graph is returned.
    pub graph: bool,
    /// How many hypotheses of each stack are returned.
    pub stacks: usize,
}

impl Default for Wanted {
    fn default() -> Self {
        Wanted { nbest: 1, distinct: false, graph: false, stacks: 0 }
    }
}
