//! Answers of the language models by context and word.
//!
//! Open addressing, never more than half full. Sentences share what they ask about common words;
//! a table that has become large is emptied between two of them, as a small one stays in cache.

use super::context::ContextId;
use crate::narrow::to_usize;

/// What a word does after a context.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// Its score; that of a glance where contexts nest, else weighted and summed over the models.
    pub score: f64,
    /// The context after it.
    pub next: ContextId,
    /// Where the cells begin that the glance leaves open.
    pub matched: u8,
    /// Whether it holds for contexts with more words, too.
    pub is_shared: bool,
}

impl Step {
    /// Nothing is known by this context: one with more words decides.
    pub const OPEN: Step = Step { score: 0.0, next: ContextId::MAX, matched: 0, is_shared: false };

    /// Whether a context with more words decides.
    pub fn is_open(&self) -> bool {
        self.next == ContextId::MAX
    }
}

/// The answers.
#[derive(Debug, Default)]
pub struct Memo {
    slots: Vec<Slot>,
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

/// No context has the highest number, so no key is that of an empty slot.
fn key_of(context: ContextId, word: u32) -> u64 {
    u64::from(context) << 32 | u64::from(word)
}

/// Where the search for a key starts; the high bits of a product are well mixed.
fn home(key: u64, slots: usize) -> usize {
    to_usize(key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - slots.trailing_zeros()))
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
        self.used = 0;
    }

    /// The answer for a context and a word, if it is known.
    #[inline]
    pub fn get(&self, context: ContextId, word: u32) -> Option<&Step> {
        let key = key_of(context, word);
        let mask = self.slots.len() - 1;
        let mut at = home(key, self.slots.len());
        loop {
            let slot = &self.slots[at & mask];
            if slot.key == key {
                return Some(&slot.step);
            }
            if slot.key == u64::MAX {
                return None;
            }
            at += 1;
        }
    }

    /// Remembers an answer.
    pub fn put(&mut self, context: ContextId, word: u32, step: Step) {
        if (self.used + 1) * 2 > self.slots.len() {
            self.grow();
        }
        self.used +=
            usize::from(insert(&mut self.slots, Slot { key: key_of(context, word), step }));
    }

    fn grow(&mut self) {
        let mut wider = vec![EMPTY; (self.slots.len() * 2).max(LEAST)];
        for &slot in self.slots.iter().filter(|slot| slot.key != u64::MAX) {
            insert(&mut wider, slot);
        }
        self.slots = wider;
    }
}

/// Whether it took an empty slot.
fn insert(slots: &mut [Slot], slot: Slot) -> bool {
    let mask = slots.len() - 1;
    let mut at = home(slot.key, slots.len());
    while slots[at & mask].key != u64::MAX && slots[at & mask].key != slot.key {
        at += 1;
    }
    std::mem::replace(&mut slots[at & mask], slot).key == u64::MAX
}
