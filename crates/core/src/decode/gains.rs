//! What phrases gained in contexts lately.
//!
//! In: a context and a translation. Out: what the language models said, if they were asked lately.
//! How: a place for each hash; what is overwritten is worked out again. The same words before the
//! same phrase are met in many coverages, so that most questions of a sentence are repeated.
//! Cost: one look.

use super::context::ContextId;
use super::id::ItemId;
use crate::narrow::to_usize;

/// Places kept, a power of two.
const PLACES: usize = 1 << 12;

/// The last answers of a sentence.
#[derive(Debug, Default)]
pub struct Gains {
    places: Vec<Place>,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    key: u64,
    gain: f32,
    after: ContextId,
}

/// No context has the highest number.
const EMPTY: Place = Place { key: u64::MAX, gain: 0.0, after: 0 };

fn key_of(context: ContextId, item: ItemId) -> u64 {
    u64::from(context) << 32 | u64::from(item.0)
}

fn place(key: u64) -> usize {
    to_usize(key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - PLACES.trailing_zeros()))
}

impl Gains {
    /// Forgets everything: numbers of translations and contexts hold for one sentence.
    pub fn restart(&mut self) {
        self.places.clear();
        self.places.resize(PLACES, EMPTY);
    }

    /// What a translation gains in a context, and the context after it.
    #[inline]
    pub fn get(&self, context: ContextId, item: ItemId) -> Option<(f32, ContextId)> {
        let key = key_of(context, item);
        let found = self.places.get(place(key))?;
        (found.key == key).then_some((found.gain, found.after))
    }

    /// Notes an answer.
    #[inline]
    pub fn put(&mut self, context: ContextId, item: ItemId, (gain, after): (f32, ContextId)) {
        let key = key_of(context, item);
        if let Some(slot) = self.places.get_mut(place(key)) {
            *slot = Place { key, gain, after };
        }
    }
}
