//! Language model contexts as numbers, with all answers remembered.
//!
//! In: a context and a phrase. Out: how much better or worse the phrase scores there than on its
//! own, weighted and summed over the language models, and the context after it.
//! How: equal contexts get equal numbers, so that hypotheses compare numbers; a phrase in a
//! context is worked out once, and only as far as the context reaches into the phrase.
//! Cost: one probe for a known pair. Gains are forgotten after each sentence, contexts when there
//! are too many of them.

use super::id::ItemId;
use crate::feature::{LanguageModel, LmState};
use crate::narrow::{to_f32, to_u32, to_usize};
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// Number of a context.
pub type ContextId = u32;

/// Contexts kept before everything is forgotten between two sentences.
const FULL: usize = 1 << 17;

/// One word of a phrase on its own: the context after it, and the score of the words behind it.
#[derive(Debug, Clone, Copy)]
pub struct Inner {
    pub context: ContextId,
    pub rest: f32,
}

/// A phrase as the language models see it.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// For each word its number in each model.
    pub words: &'a [u32],
    /// What each word leads to without context.
    pub inner: &'a [Inner],
    /// Weighted score without context.
    pub alone: f32,
}

/// The contexts met so far.
#[derive(Debug, Default)]
pub struct Contexts {
    /// One state per model, context after context.
    states: Vec<LmState>,
    ids: HashTable<ContextId>,
    /// Weighted score of the sentence's end after each context; NaN when not asked yet.
    ends: Vec<f32>,
    memo: Memo,
    now: Vec<LmState>,
    next: Vec<LmState>,
}

/// The language models with their weights.
#[derive(Clone, Copy)]
pub struct Weighted<'a> {
    pub lms: &'a [&'a dyn LanguageModel],
    pub weights: &'a [f64],
}

fn hash(states: &[LmState]) -> u64 {
    FxBuildHasher.hash_one(states)
}

impl Contexts {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.states.clear();
        self.ids.clear();
        self.ends.clear();
        self.memo.restart();
    }

    /// Forgets gains, before each sentence: most are of no use in another sentence, and a small
    /// table stays in cache.
    pub fn next_sentence(&mut self) {
        self.memo.restart();
    }

    /// Whether it is time to forget.
    pub fn is_full(&self) -> bool {
        self.ends.len() > FULL
    }

    /// The context before the first word.
    pub fn start(&mut self, lms: Weighted<'_>) -> ContextId {
        let states: Vec<LmState> = lms.lms.iter().map(|lm| lm.start()).collect();
        self.intern(&states)
    }

    /// The weighted score of a phrase without context.
    pub fn alone(&mut self, lms: Weighted<'_>, words: &[u32]) -> f32 {
        self.now.clear();
        self.now.extend(lms.lms.iter().map(|lm| lm.empty()));
        self.next.clear();
        self.next.extend_from_slice(&self.now);
        let mut total = 0.0;
        for ids in words.chunks_exact(lms.lms.len().max(1)) {
            total += advance(lms, &self.now, ids, &mut self.next);
            std::mem::swap(&mut self.now, &mut self.next);
        }
        to_f32(total)
    }

    /// What each word of a phrase leads to without context.
    pub fn inner(&mut self, lms: Weighted<'_>, words: &[u32], inner: &mut Vec<Inner>) {
        let mut now: Vec<LmState> = lms.lms.iter().map(|lm| lm.empty()).collect();
        let mut next = now.clone();
        inner.clear();
        for ids in words.chunks_exact(lms.lms.len().max(1)) {
            let score = advance(lms, &now, ids, &mut next);
            std::mem::swap(&mut now, &mut next);
            inner.push(Inner { context: self.intern(&now), rest: to_f32(score) });
        }
        let mut rest = 0.0;
        for word in inner.iter_mut().rev() {
            rest += std::mem::replace(&mut word.rest, rest);
        }
    }

    /// What a phrase gains by standing in a context, and the context after it; `line` tells more
    /// about the phrase when it must be worked out.
    #[inline]
    pub fn gain<'a>(
        &mut self,
        lms: Weighted<'_>,
        context: ContextId,
        phrase: ItemId,
        line: impl FnOnce() -> Line<'a>,
    ) -> (f32, ContextId) {
        if let Some(known) = self.memo.get(context, phrase) {
            return known;
        }
        let answer = self.work_out(lms, context, line());
        self.memo.put(context, phrase, answer);
        answer
    }

    fn work_out(
        &mut self,
        lms: Weighted<'_>,
        context: ContextId,
        line: Line<'_>,
    ) -> (f32, ContextId) {
        let models = lms.lms.len();
        if line.words.is_empty() {
            return (0.0, context);
        }
        let Contexts { states, now, next, .. } = self;
        let state = |id: ContextId| id as usize * models..(id as usize + 1) * models;
        now.resize(models, LmState::EMPTY);
        next.resize(models, LmState::EMPTY);
        let mut total = 0.0;
        let mut before = &states[state(context)];
        for (ids, inner) in line.words.chunks_exact(models).zip(line.inner) {
            total += advance(lms, before, ids, next);
            std::mem::swap(now, next);
            before = now;
            if *before == states[state(inner.context)] {
                // The context reaches no further: the rest is as without it.
                let last = line.inner.last().map_or(context, |last| last.context);
                return (to_f32(total + f64::from(inner.rest)) - line.alone, last);
            }
        }
        let now = std::mem::take(&mut self.now);
        let after = self.intern(&now);
        self.now = now;
        (to_f32(total) - line.alone, after)
    }

    /// Weighted score of the sentence's end after a context.
    pub fn end(&mut self, lms: Weighted<'_>, context: ContextId) -> f32 {
        let known = self.ends[context as usize];
        if !known.is_nan() {
            return known;
        }
        let states = &self.states[context as usize * lms.lms.len()..];
        let score: f64 = lms
            .lms
            .iter()
            .zip(lms.weights)
            .zip(states)
            .map(|((lm, weight), state)| weight * f64::from(lm.end(state)))
            .sum();
        self.ends[context as usize] = to_f32(score);
        to_f32(score)
    }

    fn intern(&mut self, of: &[LmState]) -> ContextId {
        let Contexts { states, ids, ends, .. } = self;
        let models = of.len();
        let state = |id: ContextId| id as usize * models..(id as usize + 1) * models;
        let known = ids.find(hash(of), |&id| states[state(id)] == *of);
        if let Some(&id) = known {
            return id;
        }
        let id = to_u32(ends.len());
        states.extend_from_slice(of);
        ends.push(f32::NAN);
        ids.insert_unique(hash(of), id, |&id| hash(&states[state(id)]));
        id
    }
}

/// Weighted score of one word in all models; `next` is filled with the states after it.
fn advance(lms: Weighted<'_>, now: &[LmState], ids: &[u32], next: &mut [LmState]) -> f64 {
    let mut total = 0.0;
    for (model, (lm, weight)) in lms.lms.iter().zip(lms.weights).enumerate() {
        total += weight * f64::from(lm.score(&now[model], ids[model], &mut next[model]));
    }
    total
}

/// Answers by pair of numbers: open addressing, never more than half full.
#[derive(Debug, Default)]
struct Memo {
    slots: Vec<Slot>,
    used: usize,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    key: u64,
    gain: f32,
    after: ContextId,
}

/// Room made at least.
const LEAST: usize = 1 << 12;

const EMPTY: Slot = Slot { key: u64::MAX, gain: 0.0, after: 0 };

fn key_of(context: ContextId, phrase: ItemId) -> u64 {
    u64::from(context) << 32 | u64::from(phrase.0)
}

/// Where the search for a key starts; the high bits of a product are well mixed.
fn home(key: u64, slots: usize) -> usize {
    to_usize(key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - slots.trailing_zeros()))
}

impl Memo {
    /// Forgets everything, and makes as much room as was used.
    fn restart(&mut self) {
        let slots = (self.used * 2).next_power_of_two().max(LEAST);
        self.slots.clear();
        self.slots.resize(slots, EMPTY);
        self.used = 0;
    }

    #[inline]
    fn get(&self, context: ContextId, phrase: ItemId) -> Option<(f32, ContextId)> {
        let key = key_of(context, phrase);
        let mask = self.slots.len() - 1;
        let mut at = home(key, self.slots.len());
        loop {
            let slot = &self.slots[at & mask];
            if slot.key == key {
                return Some((slot.gain, slot.after));
            }
            if slot.key == u64::MAX {
                return None;
            }
            at += 1;
        }
    }

    fn put(&mut self, context: ContextId, phrase: ItemId, (gain, after): (f32, ContextId)) {
        if self.used * 2 >= self.slots.len() {
            self.grow();
        }
        self.used += 1;
        insert(&mut self.slots, Slot { key: key_of(context, phrase), gain, after });
    }

    fn grow(&mut self) {
        let mut wider = vec![EMPTY; self.slots.len() * 2];
        for slot in self.slots.iter().filter(|slot| slot.key != u64::MAX) {
            insert(&mut wider, *slot);
        }
        self.slots = wider;
    }
}

fn insert(slots: &mut [Slot], slot: Slot) {
    let mask = slots.len() - 1;
    let mut at = home(slot.key, slots.len());
    while slots[at & mask].key != u64::MAX {
        at += 1;
    }
    slots[at & mask] = slot;
}
