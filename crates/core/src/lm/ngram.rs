//! A scored n-gram and the encoding of its backoff weight.

use super::MAX_ORDER;
use crate::corpus::WordId;
use crate::error::Result;

/// The backoff (0) of an n-gram that is not the context of a longer one. A state may drop such a
/// context without changing any score. Equal to 0 and distinguished by its sign bit, as in KenLM.
pub const NO_EXTENSION: f32 = -0.0;

/// Return whether a context with this backoff can change the score of a later word.
pub fn has_extension(backoff: f32) -> bool {
    backoff.to_bits() != NO_EXTENSION.to_bits()
}

/// An n-gram with its log probability and log backoff.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoredNgram {
    /// Word ids, newest first; only the first `order` entries are used.
    pub words: [WordId; MAX_ORDER],
    /// Natural logarithm of the probability of the newest word given the others.
    pub prob: f32,
    /// Natural logarithm of the backoff weight of this n-gram as a context.
    pub backoff: f32,
}

/// An iterator over the n-grams of one order in suffix order: sorted by the last word, then by the
/// word before it, and so on.
pub type NgramIter<'a> = Box<dyn Iterator<Item = Result<ScoredNgram>> + 'a>;
