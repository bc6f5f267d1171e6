//! Caches of language model scores: of single words (`LmTransitionCache`) and of phrases
//! (`LmScoreCache`).
//!
//! The transition cache is a hash table with open addressing, at most half full, with 64-bit hashes
//! as keys; a collision of all 64 bits is as unlikely as in the models. It is kept between
//! sentences until it is too large for the CPU caches. The score cache has one slot per hash and
//! overwrites it: most pairs of context and phrase recur in many coverages of the same sentence.

use crate::decode::ids::{LmContextId, TargetPhraseId};
use crate::narrow::to_usize;

/// Score and next context of a word after a context, in 8 bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LmTransition {
    /// Score without backoff if states nest; else weighted and summed over the models.
    pub score: f32,
    /// The next context, three bits of `matched` and one of `is_shared`.
    packed: u32,
}

impl LmTransition {
    /// Marks a suffix too short to determine the transition.
    pub const OPEN: LmTransition = LmTransition { score: 0.0, packed: u32::MAX - 1 };
    /// The largest context id that fits.
    const LAST: LmContextId = (1 << 28) - 2;

    /// Pack a transition; `None` if the id of the next context is too large.
    pub fn new(score: f32, next: LmContextId, matched: u32, is_shared: bool) -> Option<Self> {
        let packed = next << 4 | (matched & 7) << 1 | u32::from(is_shared);
        (next <= LmTransition::LAST).then_some(LmTransition { score, packed })
    }

    /// Return the next context.
    pub fn next(&self) -> LmContextId {
        self.packed >> 4
    }

    /// Return the number of matched context words; the backoff of the others is added to the score.
    pub fn matched(&self) -> u32 {
        self.packed >> 1 & 7
    }

    /// Return whether longer contexts with this suffix share the transition.
    pub fn is_shared(&self) -> bool {
        self.packed & 1 == 1
    }

    /// Return whether only a longer suffix determines the transition.
    pub fn is_open(&self) -> bool {
        self.packed == LmTransition::OPEN.packed
    }
}

/// Transitions by the hash of a context suffix and a word.
#[derive(Debug, Default)]
pub struct LmTransitionCache {
    slots: Vec<TransitionSlot>,
    /// Number of low bits of a hash that do not select a slot.
    shift: u32,
    used: usize,
}

#[derive(Debug, Clone, Copy)]
struct TransitionSlot {
    key: u64,
    transition: LmTransition,
}

/// Minimum number of slots.
const MIN_SLOTS: usize = 1 << 12;

/// Number of transitions above which the cache is cleared between two sentences.
const MAX_KEPT: usize = 1 << 15;

const EMPTY: TransitionSlot = TransitionSlot { key: u64::MAX, transition: LmTransition::OPEN };

/// Return the shift that leaves the upper bits of a hash, which are mixed best, as a slot index.
fn shift(slots: usize) -> u32 {
    64 - slots.trailing_zeros()
}

impl LmTransitionCache {
    /// Return whether the cache should be cleared.
    pub fn is_full(&self) -> bool {
        self.used > MAX_KEPT
    }

    /// Remove all transitions; keep room for as many as were used.
    pub fn restart(&mut self) {
        let slots = (self.used * 2).next_power_of_two().max(MIN_SLOTS);
        self.slots.clear();
        self.slots.resize(slots, EMPTY);
        self.shift = shift(slots);
        self.used = 0;
    }

    /// Return the transition with a key, if it is cached.
    #[inline]
    pub fn get(&self, key: u64) -> Option<LmTransition> {
        let mut at = to_usize(key >> self.shift);
        loop {
            let slot = self.slots.get(at)?;
            if slot.key == key {
                return Some(slot.transition);
            }
            if slot.key == u64::MAX {
                return None;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// Store a transition.
    pub fn put(&mut self, key: u64, transition: LmTransition) {
        if (self.used + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let at = find_slot(&self.slots, key);
        self.used += usize::from(self.slots[at].key == u64::MAX);
        self.slots[at] = TransitionSlot { key, transition };
    }

    /// Mark that only a longer suffix determines a transition, unless one is stored.
    pub fn open(&mut self, key: u64) {
        if (self.used + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let at = find_slot(&self.slots, key);
        if self.slots[at].key == u64::MAX {
            self.used += 1;
            self.slots[at] = TransitionSlot { key, transition: LmTransition::OPEN };
        }
    }

    fn grow(&mut self) {
        let mut wider = vec![EMPTY; (self.slots.len() * 2).max(MIN_SLOTS)];
        for &slot in self.slots.iter().filter(|slot| slot.key != u64::MAX) {
            let at = find_slot(&wider, slot.key);
            wider[at] = slot;
        }
        self.shift = shift(wider.len());
        self.slots = wider;
    }
}

/// Return the slot of a key, or the empty slot where it belongs.
#[inline]
fn find_slot(slots: &[TransitionSlot], key: u64) -> usize {
    let mask = slots.len() - 1;
    let mut at = to_usize(key >> shift(slots.len()));
    while slots[at].key != u64::MAX && slots[at].key != key {
        at = (at + 1) & mask;
    }
    at
}

/// Number of slots of the score cache, a power of two.
const SCORE_SLOTS: usize = 1 << 12;

/// LM score differences of recent pairs of context and target phrase, within a sentence.
#[derive(Debug, Default)]
pub struct LmScoreCache {
    slots: Vec<LmScoreSlot>,
}

#[derive(Debug, Clone, Copy)]
struct LmScoreSlot {
    key: u64,
    lm_delta: f32,
    after: LmContextId,
}

/// An empty slot; no context has the maximum id.
const EMPTY_SCORE: LmScoreSlot = LmScoreSlot { key: u64::MAX, lm_delta: 0.0, after: 0 };

fn score_key(context: LmContextId, phrase: TargetPhraseId) -> u64 {
    u64::from(context) << 32 | u64::from(phrase.0)
}

fn score_slot(key: u64) -> usize {
    to_usize(key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SCORE_SLOTS.trailing_zeros()))
}

impl LmScoreCache {
    /// Remove all scores; ids of phrases and contexts are valid within one sentence.
    pub fn restart(&mut self) {
        self.slots.clear();
        self.slots.resize(SCORE_SLOTS, EMPTY_SCORE);
    }

    /// Return the LM score difference of a phrase in a context, and the context after it.
    #[inline]
    pub fn get(&self, context: LmContextId, phrase: TargetPhraseId) -> Option<(f32, LmContextId)> {
        let key = score_key(context, phrase);
        let slot = self.slots.get(score_slot(key))?;
        (slot.key == key).then_some((slot.lm_delta, slot.after))
    }

    /// Store a score, and overwrite the one in its slot.
    #[inline]
    pub fn put(
        &mut self,
        context: LmContextId,
        phrase: TargetPhraseId,
        (lm_delta, after): (f32, LmContextId),
    ) {
        let key = score_key(context, phrase);
        if let Some(slot) = self.slots.get_mut(score_slot(key)) {
            *slot = LmScoreSlot { key, lm_delta, after };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Packing keeps all fields of a transition, and no transition looks open.
        #[test]
        fn a_step_is_what_it_was_made_of(
            score in -50.0_f32..0.0,
            next in prop_oneof![0..=LmTransition::LAST, Just(LmTransition::LAST)],
            matched in 0_u32..8,
            is_shared: bool,
        ) {
            let transition = LmTransition::new(score, next, matched, is_shared).unwrap();
            let slot = (transition.score, transition.next(), transition.matched(), transition.is_shared());
            prop_assert_eq!(slot, (score, next, matched, is_shared));
            prop_assert!(!transition.is_open());
        }
    }

    #[test]
    fn a_context_with_too_high_a_number_has_no_step() {
        assert_eq!(LmTransition::new(0.0, LmTransition::LAST + 1, 0, false), None);
        assert!(LmTransition::OPEN.is_open() && !LmTransition::OPEN.is_shared());
    }
}
