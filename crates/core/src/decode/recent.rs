//! Extensions made lately: most recombinations are found here.
//!
//! Rows of an edge mostly differ in words that the language models have forgotten after the next
//! phrase; then one row after the other makes the same hypothesis. What decides that is known
//! before anything is made. Cost: one look, no search; what is overwritten is found elsewhere.

use super::context::ContextId;
use super::id::HypId;
use crate::feature::OptionId;
use crate::narrow::to_usize;
use crate::reorder::orientation::StackId;

/// What decides about the hypothesis that an extension makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extension {
    /// The group that is extended.
    pub group: u32,
    /// The option it is extended by.
    pub choice: OptionId,
    /// The context after it.
    pub context: ContextId,
    /// The states of path features after it.
    pub path: u32,
    /// The orientation stack before it.
    pub blocks: StackId,
}

/// Stands where nothing is noted.
const NOTHING: Extension =
    Extension { group: 0, choice: OptionId::NONE, context: 0, path: 0, blocks: 0 };

/// Places kept, a power of two.
const PLACES: usize = 1 << 11;

/// The last extensions of a stack, and what they made.
#[derive(Debug, Default)]
pub struct Recent {
    /// Hypothesis 0, which no extension makes, where there is nothing.
    places: Vec<(Extension, HypId)>,
    /// The first hypothesis of the present stack, not 0: older ones do not count.
    first: u32,
}

impl Recent {
    /// Begins a stack whose hypotheses have numbers from `first` on.
    pub fn restart(&mut self, first: u32) {
        self.first = first.max(1);
        if first <= 1 {
            self.places.clear();
            self.places.resize(PLACES, (NOTHING, HypId(0)));
        }
    }

    /// The hypothesis that an equal extension has made.
    #[inline]
    pub fn get(&self, place: Place, extension: &Extension) -> Option<HypId> {
        let (known, hyp) = self.places.get(place.0)?;
        (hyp.0 >= self.first && known == extension).then_some(*hyp)
    }

    /// Notes what an extension has made.
    #[inline]
    pub fn note(&mut self, place: Place, extension: Extension, hyp: HypId) {
        if let Some(slot) = self.places.get_mut(place.0) {
            *slot = (extension, hyp);
        }
    }
}

/// Where an extension is noted.
#[derive(Debug, Clone, Copy)]
pub struct Place(usize);

impl Extension {
    /// Its place.
    #[inline]
    pub fn place(&self) -> Place {
        let Extension { group, choice, context, path, blocks } = *self;
        let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        let mixed = pair(context, choice.0).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ pair(group, blocks ^ path).wrapping_mul(0xd6e8_feb8_6659_fd93);
        Place(to_usize(mixed >> (64 - PLACES.trailing_zeros())))
    }
}
