//! Language model contexts as numbers, with all answers remembered.
//!
//! In: a context and a phrase. Out: how much better or worse the phrase scores there than on its
//! own, weighted and summed over the language models, and the context after it.
//! How: equal contexts get equal numbers, so that hypotheses compare numbers. A phrase is walked
//! word by word, and only as far as the context reaches into it; each step is worked out once.
//! Where one model tells how far back it looked, a step is shared by all contexts that agree that
//! far: contexts that end in the same word mostly share it (Heafield, Kayser and Manning, 2014).
//! Cost: one or two probes for a known step. Steps and contexts are forgotten between two sentences
//! when there are too many of them.

use crate::decode::ids::ContextId;
use crate::decode::lm::caches::{Memo, Step};
use crate::feature::{Glance, LanguageModel, LmState};
use crate::narrow::{to_f32, to_u32};
use crate::numbering::{Numbering, mix};
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// Contexts kept before everything is forgotten between two sentences.
const FULL: usize = 1 << 17;

/// One word of a phrase on its own.
#[derive(Debug, Clone, Copy)]
pub struct Inner {
    /// The word, as `Contexts::word` numbers it.
    word: u32,
    /// The context after it.
    context: ContextId,
    /// The score of the words behind it.
    rest: f32,
}

/// A phrase as the language models see it.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// What each word leads to without context.
    pub inner: &'a [Inner],
    /// Weighted score without context.
    pub alone: f32,
}

/// The words of a phrase that were walked through without context.
#[derive(Debug, Default)]
pub struct Walk {
    /// The states before the first word, and after each.
    states: Vec<LmState>,
    /// Each word with its weighted score, and the score of all words up to it.
    words: Vec<(u32, f64, f64)>,
}

/// The contexts met so far.
#[derive(Debug, Default)]
pub struct Contexts {
    /// One state per model, context after context.
    states: Vec<LmState>,
    ids: Numbering,
    /// Weighted score of the sentence's end after each context; NaN when not asked yet.
    ends: Vec<f32>,
    memo: Memo,
    next: Vec<LmState>,
    /// For each word met its number in each model.
    words: Vec<u32>,
    word_ids: HashTable<u32>,
}

/// The language models with their weights.
#[derive(Clone, Copy)]
pub struct Weighted<'a> {
    pub lms: &'a [&'a dyn LanguageModel],
    weights: &'a [f64],
    /// The first weight.
    weight: f64,
    /// Whether there is one model, whose contexts nest.
    nests: bool,
}

impl<'a> Weighted<'a> {
    /// Models and the weight of each.
    pub fn new(lms: &'a [&'a dyn LanguageModel], weights: &'a [f64]) -> Self {
        let weight = weights.first().copied().unwrap_or_default();
        Weighted { lms, weights, weight, nests: lms.len() == 1 && lms[0].nests() }
    }

    /// Whether nothing they say makes a phrase better: probabilities have logarithms up to 0.
    pub fn take_away(&self) -> bool {
        self.weights.iter().all(|&weight| weight >= 0.0)
    }
}

/// The hash of a context: its cells, one after the other.
fn hash(states: &[LmState]) -> u64 {
    let add = |hash, &cell: &u32| mix(hash, cell.into());
    states.iter().fold(0, |hash, state| state.key().iter().fold(add(hash, &state.used), add))
}

impl Contexts {
    /// Forgets everything but the numbers of words.
    pub fn clear(&mut self) {
        self.states.clear();
        // Room that is not used costs nothing, and lists that have it are never moved.
        self.states.reserve(FULL);
        self.ids.clear();
        self.ends.clear();
        self.ends.reserve(FULL);
        self.memo.restart();
    }

    /// Forgets steps if they are many, before each sentence.
    pub fn next_sentence(&mut self) {
        if self.memo.is_full() {
            self.memo.restart();
        }
    }

    /// Whether it is time to forget.
    pub fn is_full(&self) -> bool {
        self.ends.len() > FULL
    }

    /// The number of a word; words that the models can't tell apart have the same.
    pub fn word(&mut self, lms: &Weighted<'_>, text: &str) -> u32 {
        let Contexts { words, word_ids, .. } = self;
        let models = lms.lms.len();
        if models == 0 {
            return 0;
        }
        let ids: Vec<u32> = lms.lms.iter().map(|lm| lm.word(text)).collect();
        let of = |word: u32| word as usize * models..(word as usize + 1) * models;
        let hash = |ids: &[u32]| FxBuildHasher.hash_one(ids);
        if let Some(&word) = word_ids.find(hash(&ids), |&word| words[of(word)] == ids) {
            return word;
        }
        let word = to_u32(words.len() / models);
        words.extend_from_slice(&ids);
        word_ids.insert_unique(hash(&ids), word, |&word| hash(&words[of(word)]));
        word
    }

    /// The context before the first word.
    pub fn start(&mut self, lms: &Weighted<'_>) -> ContextId {
        let states: Vec<LmState> = lms.lms.iter().map(|lm| lm.start()).collect();
        self.intern(&states)
    }

    /// Walks through a phrase without context; returns the weighted score. `walk` keeps what each
    /// word leads to: phrases that begin like the last one are walked from where they differ.
    pub fn walk(&mut self, lms: &Weighted<'_>, words: &[u32], walk: &mut Walk) -> f32 {
        let models = lms.lms.len();
        let Walk { states, words: walked } = walk;
        if states.is_empty() {
            states.extend(lms.lms.iter().map(|lm| lm.empty()));
        }
        let same = words.iter().zip(&*walked).take_while(|(word, (known, ..))| *word == known);
        let first = same.count();
        walked.truncate(first);
        let mut total = walked.last().map_or(0.0, |&(.., total)| total);
        for (place, &word) in words.iter().enumerate().skip(first) {
            states.resize((place + 2) * models, LmState::EMPTY);
            let (before, after) = states[place * models..].split_at_mut(models);
            let score = advance(lms, before, &self.words[word as usize * models..], after);
            total += score;
            walked.push((word, score, total));
        }
        to_f32(total)
    }

    /// Adds what each word of the last phrase that was walked through leads to without context.
    /// Only then its contexts get numbers: most phrases are walked through and left.
    pub fn inner(&mut self, lms: &Weighted<'_>, walk: &Walk, inner: &mut Vec<Inner>) {
        let models = lms.lms.len();
        let first = inner.len();
        for (place, &(word, score, _)) in walk.words.iter().enumerate() {
            let context = self.intern(&walk.states[(place + 1) * models..(place + 2) * models]);
            inner.push(Inner { word, context, rest: to_f32(score) });
        }
        let mut rest = 0.0;
        for word in inner[first..].iter_mut().rev() {
            rest += std::mem::replace(&mut word.rest, rest);
        }
    }

    /// What a phrase gains by standing in a context, and the context after it.
    #[inline]
    pub fn gain(
        &mut self,
        lms: &Weighted<'_>,
        mut context: ContextId,
        line: Line<'_>,
    ) -> (f32, ContextId) {
        if line.inner.is_empty() {
            return (0.0, context);
        }
        let mut total = 0.0;
        for inner in line.inner {
            let (score, next) = self.step(lms, context, inner.word);
            total += score;
            context = next;
            if context == inner.context {
                // The context reaches no further: the rest is as without it.
                let last = line.inner.last().map_or(context, |last| last.context);
                return (to_f32(total + f64::from(inner.rest)) - line.alone, last);
            }
        }
        (to_f32(total) - line.alone, context)
    }

    /// The weighted score of a word after a context, and the context after it.
    #[inline(always)]
    fn step(&mut self, lms: &Weighted<'_>, context: ContextId, word: u32) -> (f64, ContextId) {
        if !lms.nests {
            return self.step_of_all(lms, context, word);
        }
        let state = &self.states[context as usize];
        for (key, is_last) in keys(state, word) {
            let Some(step) = self.memo.get(key) else { break };
            if step.is_shared() || is_last && !step.is_open() {
                return (weigh(lms, state, step.score, step.matched()), step.next());
            }
        }
        self.ask(lms, context, word)
    }

    /// Asks the model about a step that is not known.
    #[cold]
    fn ask(&mut self, lms: &Weighted<'_>, context: ContextId, word: u32) -> (f64, ContextId) {
        let mut after = LmState::EMPTY;
        let state = &self.states[context as usize];
        let Glance { score, seen, matched } =
            lms.lms[0].glance(state, self.words[word as usize], &mut after);
        let next = self.intern(&[after]);
        let state = &self.states[context as usize];
        let is_shared = seen <= state.used.max(1);
        // The shortest context that decides it has the answer, those before it refer to it.
        for (place, (key, is_last)) in (1..).zip(keys(state, word)) {
            if place < seen && !is_last {
                self.memo.open(key);
                continue;
            }
            if let Some(step) = Step::new(score, next, matched, is_shared) {
                self.memo.put(key, step);
            }
            break;
        }
        (weigh(lms, state, score, matched), next)
    }

    /// A step of models that do not tell how far back they looked, or of several.
    fn step_of_all(
        &mut self,
        lms: &Weighted<'_>,
        context: ContextId,
        word: u32,
    ) -> (f64, ContextId) {
        let key = mix(u64::from(context) + 1, word.into());
        if let Some(step) = self.memo.get(key) {
            return (step.score.into(), step.next());
        }
        let models = lms.lms.len();
        let mut after = std::mem::take(&mut self.next);
        after.clear();
        after.resize(models, LmState::EMPTY);
        let now = &self.states[context as usize * models..];
        let score = advance(lms, now, &self.words[word as usize * models..], &mut after);
        let next = self.intern(&after);
        self.next = after;
        if let Some(step) = Step::new(to_f32(score), next, 0, false) {
            self.memo.put(key, step);
        }
        (to_f32(score).into(), next)
    }

    /// Weighted score of the sentence's end after a context.
    pub fn end(&mut self, lms: &Weighted<'_>, context: ContextId) -> f32 {
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
        let is_own = |id: ContextId| states[state(id)] == *of;
        let (id, is_new) = ids.number(hash(of), to_u32(ends.len()), is_own);
        if !is_new {
            return id;
        }
        of.iter().for_each(|state| states.push(*state));
        ends.push(f32::NAN);
        id
    }
}

/// The hashes of a word after the newest word of a context, after its newest two, and so on up to
/// all of them, which is marked as the last; one for a context without words.
#[inline]
fn keys(state: &LmState, word: u32) -> impl Iterator<Item = (u64, bool)> + '_ {
    let words = state.key();
    let mut key = mix(0, u64::from(word) + 1);
    let mut place = 0;
    std::iter::from_fn(move || {
        if place > 0 && place >= words.len() {
            return None;
        }
        key = words.get(place).map_or(key, |&older| mix(key, u64::from(older) + 1));
        place += 1;
        Some((key, place >= words.len()))
    })
}

/// The weighted score of what a glance from this context said.
#[inline]
fn weigh(lms: &Weighted<'_>, state: &LmState, score: f32, matched: u32) -> f64 {
    lms.weight * f64::from(state.beyond(matched) + score)
}

/// Weighted score of one word in all models; `next` is filled with the states after it.
fn advance(lms: &Weighted<'_>, now: &[LmState], ids: &[u32], next: &mut [LmState]) -> f64 {
    let mut total = 0.0;
    for (model, (lm, weight)) in lms.lms.iter().zip(lms.weights).enumerate() {
        total += weight * f64::from(lm.score(&now[model], ids[model], &mut next[model]));
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lm::Model;
    use crate::lm::tests::model;
    use proptest::prelude::*;

    /// The same model, which does not tell how far back it looks.
    struct Plain<'a>(&'a Model);

    impl LanguageModel for Plain<'_> {
        fn word(&self, word: &str) -> u32 {
            self.0.word(word)
        }

        fn start(&self) -> LmState {
            LanguageModel::start(self.0)
        }

        fn score(&self, state: &LmState, word: u32, next: &mut LmState) -> f32 {
            LanguageModel::score(self.0, state, word, next)
        }

        fn end(&self, state: &LmState) -> f32 {
            LanguageModel::end(self.0, state)
        }
    }

    /// The gain of each phrase of a text after those before it, with the models' weight 0.5.
    fn gains(lm: &dyn LanguageModel, texts: &[Vec<Vec<&str>>]) -> Vec<f32> {
        let lms = [lm];
        let lms = &Weighted::new(&lms, &[0.5]);
        let mut contexts = Contexts::default();
        contexts.clear();
        let (mut found, mut walk) = (Vec::new(), Walk::default());
        for text in texts {
            let mut context = contexts.start(lms);
            for phrase in text {
                let words: Vec<u32> = phrase.iter().map(|word| contexts.word(lms, word)).collect();
                let mut inner = Vec::new();
                let alone = contexts.walk(lms, &words, &mut walk);
                contexts.inner(lms, &walk, &mut inner);
                let line = Line { inner: &inner, alone };
                let (gain, after) = contexts.gain(lms, context, line);
                found.push(gain);
                context = after;
            }
            found.push(contexts.end(lms, context));
        }
        found
    }

    proptest! {
        /// Steps shared by contexts that end alike are those of each context by itself.
        #[test]
        fn sharing_changes_no_score(
            texts in prop::collection::vec(
                prop::collection::vec(
                    prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "d", "x"]), 0..4),
                    0..6,
                ),
                1..8,
            ),
        ) {
            let lines = ["a b c a b", "a b d a", "c a b c", "b a", "d d a b c", "c a b d"];
            let lm = model(lines, 4, 1 << 20);
            for (shared, own) in gains(&lm, &texts).into_iter().zip(gains(&Plain(&lm), &texts)) {
                prop_assert!((shared - own).abs() < 1e-5, "{shared} instead of {own}");
            }
        }
    }
}
