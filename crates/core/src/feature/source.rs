//! A source sentence with its annotation.
//!
//! In: words, and the layers of annotators and external models. Out: a value that every path
//! feature receives. Missing layers are empty or none. Cost: a few references; the caller owns the
//! text.

/// A source sentence.
#[derive(Debug, Clone, Copy, Default)]
pub struct SourceSentence<'a> {
    /// The words.
    pub words: &'a [&'a str],
    /// Parts of speech, one per word.
    pub tags: Option<&'a [&'a str]>,
    /// Chunks.
    pub chunks: Option<ChunkAnnotation<'a>>,
    /// Matrices of external models, by the name of the path feature.
    pub matrices: &'a [NamedMatrix<'a>],
    /// Index in the batch, from 0.
    pub number: usize,
}

/// The chunks of a sentence, word by word.
#[derive(Debug, Clone, Copy)]
pub struct ChunkAnnotation<'a> {
    /// The type of each word's chunk; `O` outside.
    pub types: &'a [&'a str],
    /// Position of the head of each word's chunk, from 0.
    pub heads: &'a [u32],
    /// Start of each word's chunk, from 0; a word outside is a chunk of its own.
    pub starts: &'a [u32],
}

/// Log probabilities for a sentence: `length + 1` rows of `length` values; the first row is for the
/// start of the sentence.
#[derive(Debug, Clone, Copy)]
pub struct NamedMatrix<'a> {
    /// Name of the path feature.
    pub feature: &'a str,
    /// The values, row by row.
    pub cells: &'a [f32],
}

impl<'a> SourceSentence<'a> {
    /// Create a sentence without annotation.
    pub fn of(words: &'a [&'a str]) -> Self {
        SourceSentence { words, ..SourceSentence::default() }
    }

    /// Return the matrix for a path feature.
    pub fn matrix(&self, feature: &str) -> Option<&'a [f32]> {
        let mut named = self.matrices.iter().filter(|matrix| matrix.feature == feature);
        named.next().map(|matrix| matrix.cells)
    }
}
