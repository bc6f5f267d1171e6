//! A sentence to be translated, as models see it.
//!
//! In: words, and what annotators and models outside know of them. Out: one value that goes from
//! the border to every path feature. Layers that are not there are empty or none; no text is
//! split again on the way. Cost: a few references; the caller keeps the text.

/// A sentence to be translated.
#[derive(Debug, Clone, Copy, Default)]
pub struct Source<'a> {
    /// The words.
    pub words: &'a [&'a str],
    /// Parts of speech, one a word.
    pub tags: Option<&'a [&'a str]>,
    /// Chunks of words.
    pub chunks: Option<Chunks<'a>>,
    /// Numbers that path features get from outside, by the name of the feature.
    pub matrices: &'a [NamedMatrix<'a>],
    /// Its place among the sentences given together, from 0.
    pub number: usize,
}

/// The chunks of a sentence, word by word.
#[derive(Debug, Clone, Copy)]
pub struct Chunks<'a> {
    /// The type of each word's chunk; `O` outside.
    pub types: &'a [&'a str],
    /// Where the head of each word's chunk stands, from 0.
    pub heads: &'a [u32],
    /// Where each word's chunk starts, from 0; a word outside stands alone.
    pub starts: &'a [u32],
}

/// Log probabilities of a sentence: `length + 1` rows of `length` numbers, the first of the
/// sentence's start.
#[derive(Debug, Clone, Copy)]
pub struct NamedMatrix<'a> {
    /// The path feature it is for.
    pub feature: &'a str,
    /// The numbers, row by row.
    pub cells: &'a [f32],
}

impl<'a> Source<'a> {
    /// A sentence of which nothing is known but its words.
    pub fn of(words: &'a [&'a str]) -> Self {
        Source { words, ..Source::default() }
    }

    /// The numbers given for a path feature.
    pub fn matrix(&self, feature: &str) -> Option<&'a [f32]> {
        let mut named = self.matrices.iter().filter(|matrix| matrix.feature == feature);
        named.next().map(|matrix| matrix.cells)
    }
}
