//! Answers of the language models by the hash of a context and a word.
//!
//! Two of them would have to share all 64 bits of a hash to be confused, as in the models themselves.
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

/// Where the search for a key starts: its upper bits are mixed best.
fn home(key: u64, slots: usize) -> usize {
    to_usize(key >> (64 - slots.trailing_zeros()))
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

    /// The answer under a hash, if it is known.
    #[inline]
    pub fn get(&self, key: u64) -> Option<&Step> {
        let slot = &self.slots[place(&self.slots, key)];
        (slot.key == key).then_some(&slot.step)
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
        self.slots = wider;
    }
}

/// The place of a key, or the empty one where it belongs.
#[inline]
fn place(slots: &[Slot], key: u64) -> usize {
    let mask = slots.len() - 1;
    let mut at = home(key, slots.len());
    while slots[at].key != u64::MAX && slots[at].key != key {
        at = (at + 1) & mask;
    }
    at
}
