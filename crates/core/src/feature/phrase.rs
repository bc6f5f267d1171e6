//! The interface of a phrase table with orientation scores.

use crate::align::Link;
use crate::corpus::WordId;
use crate::error::Result;
use crate::feature::Span;

/// A translation of a source phrase, with the scores needed for pruning.
#[derive(Debug, Clone, Copy)]
pub struct PhraseEntry<'a> {
    /// Target word ids of the table.
    pub tgt: &'a [WordId],
    /// Natural logs of the translation scores.
    pub tm: &'a [f32],
    /// Position of the details in the table.
    pub place: u64,
}

/// Details of a translation, loaded after pruning.
#[derive(Debug, Clone, Default)]
pub struct PhraseDetails {
    /// Natural logs of the orientation scores: the classes of `prev`, then those of `next`; empty
    /// if the pair has none.
    pub orientation: Vec<f32>,
    /// Alignment links inside the pair, as offsets.
    pub links: Vec<Link>,
}

/// A table of phrase pairs.
pub trait PhraseModel: Sync {
    /// Return the id of a source word; none if no phrase contains it.
    fn source_id(&self, word: &str) -> Option<WordId>;

    /// Return the target word with an id.
    fn target_word(&self, id: WordId) -> &str;

    /// Return the length of the longest source phrase.
    fn longest(&self) -> usize;

    /// Return the number of translation scores of a pair.
    fn tm_scores(&self) -> usize;

    /// Call `each` for every translation of a source phrase, always in the same order. Return an
    /// error if the table is damaged.
    fn find(&self, src: &[WordId], each: &mut dyn FnMut(PhraseEntry<'_>)) -> Result<()>;

    /// Load the details of a translation that `find` returned for this source phrase.
    fn details(&self, src: &[WordId], place: u64, details: &mut PhraseDetails) -> Result<()>;
}

/// Id of a translation option of the current sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct OptionId(pub u32);

impl OptionId {
    /// No option.
    pub const NONE: Self = OptionId(u32::MAX);

    /// Return the id as an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Source span and alignment of a translation option.
#[derive(Debug, Clone, Copy)]
pub struct OptionAlignment<'a> {
    /// The source words it covers.
    pub span: Span,
    /// Alignment links inside the pair, as offsets.
    pub links: &'a [Link],
}
