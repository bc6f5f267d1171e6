//! The seat of a phrase table with its orientation scores.

use crate::align::Link;
use crate::corpus::WordId;
use crate::error::Result;
use crate::feature::Span;

/// One translation of a source phrase, as the table holds it: what it is chosen by.
#[derive(Debug, Clone, Copy)]
pub struct PhraseEntry<'a> {
    /// Target words, in the table's own numbers.
    pub tgt: &'a [WordId],
    /// Natural logs of the translation scores.
    pub tm: &'a [f32],
    /// Where the table finds its details again.
    pub place: u64,
}

/// The rest of a translation, which is only asked for when it was chosen.
#[derive(Debug, Clone, Default)]
pub struct PhraseDetails {
    /// Natural logs of the orientation scores: the classes of `prev`, then those of `next`;
    /// empty when the pair has none.
    pub orientation: Vec<f32>,
    /// Links inside the pair, counted from its first words.
    pub links: Vec<Link>,
}

/// A table of phrase pairs.
pub trait PhraseModel: Sync {
    /// The number of a source word, none when no phrase holds it.
    fn source_id(&self, word: &str) -> Option<WordId>;

    /// The target word of this number.
    fn target_word(&self, id: WordId) -> &str;

    /// Length of the longest source phrase.
    fn longest(&self) -> usize;

    /// How many translation scores a pair has.
    fn tm_scores(&self) -> usize;

    /// Calls `each` for every translation of this source phrase, always in the same order.
    /// Fails when the table turns out to be damaged.
    fn find(&self, src: &[WordId], each: &mut dyn FnMut(PhraseEntry<'_>)) -> Result<()>;

    /// Fills in the details of a translation that `find` gave for this source phrase.
    fn details(&self, src: &[WordId], place: u64, details: &mut PhraseDetails) -> Result<()>;
}

/// Number of a phrase the decoder may use in the present sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct OptionId(pub u32);

impl OptionId {
    /// Stands for none.
    pub const NONE: Self = OptionId(u32::MAX);

    /// Its place among all phrases of the sentence.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A phrase the decoder may use in the present sentence.
#[derive(Debug, Clone, Copy)]
pub struct Phrase<'a> {
    /// The source words it covers.
    pub span: Span,
    /// Links inside the pair, counted from its first words.
    pub links: &'a [Link],
}
