//! Answers of the language models by the hash of a context and a word.
//!
//! Two of them would have to share all 64 bits of a hash to be confused, as in the models themselves.
//! Open addressing, never more than half full. Sentences share what they ask about common words;
//! a table that has become large is emptied between two of them, as a small one stays in cache.

use crate::decode::ids::{ContextId, ItemId};
use crate::narrow::to_usize;

/// What a word does after a context, in eight bytes: four answers fill a line of the cache.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Its score; that of a glance where contexts nest, else weighted and summed over the models.
    pub score: f32,
    /// The context after it, three bits for `matched` and one for `is_shared`.
    rest: u32,
}

impl Step {
    /// Nothing is known by this context: one with more words decides.
    pub const OPEN: Step = Step { score: 0.0, rest: u32::MAX - 1 };
    /// Contexts with higher numbers, if there were ever so many, have no steps.
    const LAST: ContextId = (1 << 28) - 2;

    /// A step; none that leads to a context whose number is too high.
    pub fn new(score: f32, next: ContextId, matched: u32, is_shared: bool) -> Option<Self> {
        let rest = next << 4 | (matched & 7) << 1 | u32::from(is_shared);
        (next <= Step::LAST).then_some(Step { score, rest })
    }

    /// The context after it.
    pub fn next(&self) -> ContextId {
        self.rest >> 4
    }

    /// Where the cells begin that the glance leaves open.
    pub fn matched(&self) -> u32 {
        self.rest >> 1 & 7
    }

    /// Whether it holds for contexts with more words, too.
    pub fn is_shared(&self) -> bool {
        self.rest & 1 == 1
    }

    /// Whether a context with more words decides.
    pub fn is_open(&self) -> bool {
        self.rest == Step::OPEN.rest
    }
}

/// The answers.
#[derive(Debug, Default)]
pub struct Memo {
    slots: Vec<Slot>,
    /// Bits of a hash that do not say where the search for it starts.
    shift: u32,
    used: usize,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    key: u64,
    step: Step,
}

/// Room made at least.
const LEAST: usize = 1 << 12;

/// Answers that a table may hold for the next sentence.
const FULL: usize = 1 << 15;

const EMPTY: Slot = Slot { key: u64::MAX, step: Step::OPEN };

/// Bits that are left when the upper ones, which are mixed best, are the number of a slot.
fn shift(slots: usize) -> u32 {
    64 - slots.trailing_zeros()
}

impl Memo {
    /// Whether it is time to forget.
    pub fn is_full(&self) -> bool {
        self.used > FULL
    }

    /// Forgets everything, and makes as much room as was used.
    pub fn restart(&mut self) {
        let slots = (self.used * 2).next_power_of_two().max(LEAST);
        self.slots.clear();
        self.slots.resize(slots, EMPTY);
        self.shift = shift(slots);
        self.used = 0;
    }

    /// The answer under a hash, if it is known.
    #[inline]
    pub fn get(&self, key: u64) -> Option<Step> {
        let mut at = to_usize(key >> self.shift);
        loop {
            let slot = self.slots.get(at)?;
            if slot.key == key {
                return Some(slot.step);
            }
            if slot.key == u64::MAX {
                return None;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// Remembers an answer.
    pub fn put(&mut self, key: u64, step: Step) {
        if (self.used + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let at = place(&self.slots, key);
        self.used += usize::from(self.slots[at].key == u64::MAX);
        self.slots[at] = Slot { key, step };
    }

    /// Remembers that a context with more words decides, unless an answer is known.
    pub fn open(&mut self, key: u64) {
        if (self.used + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let at = place(&self.slots, key);
        if self.slots[at].key == u64::MAX {
            self.used += 1;
            self.slots[at] = Slot { key, step: Step::OPEN };
        }
    }

    fn grow(&mut self) {
        let mut wider = vec![EMPTY; (self.slots.len() * 2).max(LEAST)];
        for &slot in self.slots.iter().filter(|slot| slot.key != u64::MAX) {
            let at = place(&wider, slot.key);
            wider[at] = slot;
        }
        self.shift = shift(wider.len());
        self.slots = wider;
    }
}

/// The place of a key, or the empty one where it belongs.
#[inline]
fn place(slots: &[Slot], key: u64) -> usize {
    let mask = slots.len() - 1;
    let mut at = to_usize(key >> shift(slots.len()));
    while slots[at].key != u64::MAX && slots[at].key != key {
        at = (at + 1) & mask;
    }
    at
}

/// Places kept, a power of two.
const SCORE_SLOTS: usize = 1 << 12;

/// The last answers of a sentence.
#[derive(Debug, Default)]
pub struct Gains {
    places: Vec<LmScoreSlot>,
}

#[derive(Debug, Clone, Copy)]
struct LmScoreSlot {
    key: u64,
    gain: f32,
    after: ContextId,
}

/// No context has the highest number.
const EMPTY_SCORE: LmScoreSlot = LmScoreSlot { key: u64::MAX, gain: 0.0, after: 0 };

fn key_of(context: ContextId, item: ItemId) -> u64 {
    u64::from(context) << 32 | u64::from(item.0)
}

fn score_slot(key: u64) -> usize {
    to_usize(key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SCORE_SLOTS.trailing_zeros()))
}

impl Gains {
    /// Forgets everything: numbers of translations and contexts hold for one sentence.
    pub fn restart(&mut self) {
        self.places.clear();
        self.places.resize(SCORE_SLOTS, EMPTY_SCORE);
    }

    /// What a translation gains in a context, and the context after it.
    #[inline]
    pub fn get(&self, context: ContextId, item: ItemId) -> Option<(f32, ContextId)> {
        let key = key_of(context, item);
        let found = self.places.get(score_slot(key))?;
        (found.key == key).then_some((found.gain, found.after))
    }

    /// Notes an answer.
    #[inline]
    pub fn put(&mut self, context: ContextId, item: ItemId, (gain, after): (f32, ContextId)) {
        let key = key_of(context, item);
        if let Some(slot) = self.places.get_mut(score_slot(key)) {
            *slot = LmScoreSlot { key, gain, after };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// What is packed into a step comes out again, and no step is taken for an open one.
        #[test]
        fn a_step_is_what_it_was_made_of(
            score in -50.0_f32..0.0,
            next in prop_oneof![0..=Step::LAST, Just(Step::LAST)],
            matched in 0_u32..8,
            is_shared: bool,
        ) {
            let step = Step::new(score, next, matched, is_shared).unwrap();
            let found = (step.score, step.next(), step.matched(), step.is_shared());
            prop_assert_eq!(found, (score, next, matched, is_shared));
            prop_assert!(!step.is_open());
        }
    }

    #[test]
    fn a_context_with_too_high_a_number_has_no_step() {
        assert_eq!(Step::new(0.0, Step::LAST + 1, 0, false), None);
        assert!(Step::OPEN.is_open() && !Step::OPEN.is_shared());
    }
}
