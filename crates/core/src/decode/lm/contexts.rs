//! Language model contexts as ids, with cached transitions.
//!
//! In: a context and a phrase. Out: the LM score of the phrase in the context minus its isolated
//! score, weighted and summed over the language models, and the context after the phrase.
//! How: equal contexts share an id, so recombination compares ids. A phrase is scored word by word
//! until its context equals the one without left context. If a single model reports how many words
//! of the context it inspected, a transition is shared by all contexts with these last words
//! (Heafield, Kayser and Manning, 2014).
//! Cost: one or two probes for a cached transition. Transitions and contexts are cleared between
//! two sentences when they exceed a limit.

use crate::decode::ids::LmContextId;
use crate::decode::lm::caches::{LmTransition, LmTransitionCache};
use crate::feature::{LanguageModel, LmLookup, LmState};
use crate::narrow::{to_f32, to_u32};
use crate::numbering::{Numbering, mix};
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// Number of contexts above which the table is cleared between two sentences.
const MAX_CONTEXTS: usize = 1 << 17;

/// A word of a phrase, scored without left context.
#[derive(Debug, Clone, Copy)]
pub struct PhraseWord {
    /// Id of the word, from `LmContextTable::intern_word`.
    word: u32,
    /// The context after the word.
    context: LmContextId,
    /// Weighted score of the words after it.
    remaining_score: f32,
}

/// A phrase with its scores without left context.
#[derive(Debug, Clone, Copy)]
pub struct LmPhrase<'a> {
    /// The words.
    pub words: &'a [PhraseWord],
    /// Weighted score without left context.
    pub isolated_score: f32,
}

/// States and scores of the prefixes of the phrase that was scored last.
#[derive(Debug, Default)]
pub struct PrefixScores {
    /// The states before the first word and after each word, one per model.
    states: Vec<LmState>,
    /// Id, weighted score and cumulative score of each word.
    words: Vec<(u32, f64, f64)>,
}

/// All contexts met so far, by id.
#[derive(Debug, Default)]
pub struct LmContextTable {
    /// One state per model for each context.
    states: Vec<LmState>,
    ids: Numbering,
    /// Weighted score of the sentence end after each context; NaN until it is computed.
    end_scores: Vec<f32>,
    transitions: LmTransitionCache,
    next: Vec<LmState>,
    /// For each word, its id in each model.
    words: Vec<u32>,
    word_ids: HashTable<u32>,
}

/// Language models with their weights.
#[derive(Clone, Copy)]
pub struct WeightedLms<'a> {
    pub lms: &'a [&'a dyn LanguageModel],
    weights: &'a [f64],
    /// Weight of the first model.
    weight: f64,
    /// Whether there is a single model and its states nest.
    has_nested_states: bool,
}

impl<'a> WeightedLms<'a> {
    /// Combine models with their weights.
    pub fn new(lms: &'a [&'a dyn LanguageModel], weights: &'a [f64]) -> Self {
        let weight = weights.first().copied().unwrap_or_default();
        WeightedLms {
            lms,
            weights,
            weight,
            has_nested_states: lms.len() == 1 && lms[0].has_nested_states(),
        }
    }

    /// Return whether all weights are at least 0, so that no LM score raises the score of a phrase.
    pub fn has_nonnegative_weights(&self) -> bool {
        self.weights.iter().all(|&weight| weight >= 0.0)
    }
}

/// Hash the state cells of a context.
fn hash(states: &[LmState]) -> u64 {
    let add = |hash, &cell: &u32| mix(hash, cell.into());
    states.iter().fold(0, |hash, state| state.key().iter().fold(add(hash, &state.used), add))
}

impl LmContextTable {
    /// Remove all contexts and transitions; word ids stay valid.
    pub fn clear(&mut self) {
        self.states.clear();
        // Reserved memory that is not used costs nothing and avoids reallocation.
        self.states.reserve(MAX_CONTEXTS);
        self.ids.clear();
        self.end_scores.clear();
        self.end_scores.reserve(MAX_CONTEXTS);
        self.transitions.restart();
    }

    /// Clear the transitions before a sentence if there are too many.
    pub fn start_sentence(&mut self) {
        if self.transitions.is_full() {
            self.transitions.restart();
        }
    }

    /// Return whether the table should be cleared.
    pub fn is_full(&self) -> bool {
        self.end_scores.len() > MAX_CONTEXTS
    }

    /// Return the id of a word; words with equal ids in all models share an id.
    pub fn intern_word(&mut self, lms: &WeightedLms<'_>, text: &str) -> u32 {
        let LmContextTable { words, word_ids, .. } = self;
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

    /// Return the context before the first word of a sentence.
    pub fn start(&mut self, lms: &WeightedLms<'_>) -> LmContextId {
        let states: Vec<LmState> = lms.lms.iter().map(|lm| lm.start()).collect();
        self.intern(&states)
    }

    /// Score a phrase without left context; return the weighted score. `prefix` keeps the states of
    /// the last phrase, so that only the words after the common prefix are scored.
    pub fn score_isolated(
        &mut self,
        lms: &WeightedLms<'_>,
        words: &[u32],
        prefix: &mut PrefixScores,
    ) -> f32 {
        let models = lms.lms.len();
        let PrefixScores { states, words: prefix_words } = prefix;
        if states.is_empty() {
            states.extend(lms.lms.iter().map(|lm| lm.empty()));
        }
        let same =
            words.iter().zip(&*prefix_words).take_while(|(word, (known, ..))| *word == known);
        let first = same.count();
        prefix_words.truncate(first);
        let mut total = prefix_words.last().map_or(0.0, |&(.., total)| total);
        for (place, &word) in words.iter().enumerate().skip(first) {
            states.resize((place + 2) * models, LmState::EMPTY);
            let (before, after) = states[place * models..].split_at_mut(models);
            let score = score_word(lms, before, &self.words[word as usize * models..], after);
            total += score;
            prefix_words.push((word, score, total));
        }
        to_f32(total)
    }

    /// Append the words of the phrase scored last to `phrase_words`. Contexts get ids only here,
    /// because most phrases are scored and discarded.
    pub fn add_phrase_words(
        &mut self,
        lms: &WeightedLms<'_>,
        prefix: &PrefixScores,
        phrase_words: &mut Vec<PhraseWord>,
    ) {
        let models = lms.lms.len();
        let first = phrase_words.len();
        for (place, &(word, score, _)) in prefix.words.iter().enumerate() {
            let context = self.intern(&prefix.states[(place + 1) * models..(place + 2) * models]);
            phrase_words.push(PhraseWord { word, context, remaining_score: to_f32(score) });
        }
        let mut remaining = 0.0;
        for word in phrase_words[first..].iter_mut().rev() {
            remaining += std::mem::replace(&mut word.remaining_score, remaining);
        }
    }

    /// Return the score of a phrase in a context minus its isolated score, and the context after
    /// it.
    #[inline]
    pub fn score_in_context(
        &mut self,
        lms: &WeightedLms<'_>,
        mut context: LmContextId,
        lm_phrase: LmPhrase<'_>,
    ) -> (f32, LmContextId) {
        if lm_phrase.words.is_empty() {
            return (0.0, context);
        }
        let mut total = 0.0;
        for word in lm_phrase.words {
            let (score, next) = self.transition(lms, context, word.word);
            total += score;
            context = next;
            if context == word.context {
                // From here on all scores equal those without left context.
                let last = lm_phrase.words.last().map_or(context, |last| last.context);
                return (
                    to_f32(total + f64::from(word.remaining_score)) - lm_phrase.isolated_score,
                    last,
                );
            }
        }
        (to_f32(total) - lm_phrase.isolated_score, context)
    }

    /// Return the weighted score of a word after a context, and the context after the word.
    #[inline(always)]
    fn transition(
        &mut self,
        lms: &WeightedLms<'_>,
        context: LmContextId,
        word: u32,
    ) -> (f64, LmContextId) {
        if !lms.has_nested_states {
            return self.transition_of_all(lms, context, word);
        }
        let state = &self.states[context as usize];
        for (key, is_last) in suffix_keys(state, word) {
            let Some(transition) = self.transitions.get(key) else { break };
            if transition.is_shared() || is_last && !transition.is_open() {
                return (
                    weigh_score(lms, state, transition.score, transition.matched()),
                    transition.next(),
                );
            }
        }
        self.query_model(lms, context, word)
    }

    /// Query the model for a transition that is not cached, and cache it.
    #[cold]
    fn query_model(
        &mut self,
        lms: &WeightedLms<'_>,
        context: LmContextId,
        word: u32,
    ) -> (f64, LmContextId) {
        let mut after = LmState::EMPTY;
        let state = &self.states[context as usize];
        let LmLookup { score, inspected, matched } =
            lms.lms[0].match_ngram(state, self.words[word as usize], &mut after);
        let next = self.intern(&[after]);
        let state = &self.states[context as usize];
        let is_shared = inspected <= state.used.max(1);
        // Store the transition at the shortest suffix that determines it; mark shorter ones.
        for (place, (key, is_last)) in (1..).zip(suffix_keys(state, word)) {
            if place < inspected && !is_last {
                self.transitions.open(key);
                continue;
            }
            if let Some(transition) = LmTransition::new(score, next, matched, is_shared) {
                self.transitions.put(key, transition);
            }
            break;
        }
        (weigh_score(lms, state, score, matched), next)
    }

    /// Return a transition of several models, or of a model without nested states.
    fn transition_of_all(
        &mut self,
        lms: &WeightedLms<'_>,
        context: LmContextId,
        word: u32,
    ) -> (f64, LmContextId) {
        let key = mix(u64::from(context) + 1, word.into());
        if let Some(transition) = self.transitions.get(key) {
            return (transition.score.into(), transition.next());
        }
        let models = lms.lms.len();
        let mut after = std::mem::take(&mut self.next);
        after.clear();
        after.resize(models, LmState::EMPTY);
        let now = &self.states[context as usize * models..];
        let score = score_word(lms, now, &self.words[word as usize * models..], &mut after);
        let next = self.intern(&after);
        self.next = after;
        if let Some(transition) = LmTransition::new(to_f32(score), next, 0, false) {
            self.transitions.put(key, transition);
        }
        (to_f32(score).into(), next)
    }

    /// Return the weighted score of the sentence end after a context.
    pub fn end(&mut self, lms: &WeightedLms<'_>, context: LmContextId) -> f32 {
        let known = self.end_scores[context as usize];
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
        self.end_scores[context as usize] = to_f32(score);
        to_f32(score)
    }

    fn intern(&mut self, of: &[LmState]) -> LmContextId {
        let LmContextTable { states, ids, end_scores, .. } = self;
        let models = of.len();
        let state = |id: LmContextId| id as usize * models..(id as usize + 1) * models;
        let is_equal = |id: LmContextId| states[state(id)] == *of;
        let (id, is_new) = ids.number(hash(of), to_u32(end_scores.len()), is_equal);
        if !is_new {
            return id;
        }
        of.iter().for_each(|state| states.push(*state));
        end_scores.push(f32::NAN);
        id
    }
}

/// Iterate over the hashes of `word` after the last word of a context, after its last two, and so
/// on; the flag marks the longest. A context without words has one hash.
#[inline]
fn suffix_keys(state: &LmState, word: u32) -> impl Iterator<Item = (u64, bool)> + '_ {
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

/// Return the weighted score of an n-gram match plus the backoff of the context.
#[inline]
fn weigh_score(lms: &WeightedLms<'_>, state: &LmState, score: f32, matched: u32) -> f64 {
    lms.weight * f64::from(state.backoff_after(matched) + score)
}

/// Score a word in all models; `next` receives the states after it.
fn score_word(lms: &WeightedLms<'_>, now: &[LmState], ids: &[u32], next: &mut [LmState]) -> f64 {
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

    /// A model that does not report how many words it inspected.
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

    /// Return the LM score differences of the phrases of each text, with weight 0.5.
    fn gains(lm: &dyn LanguageModel, texts: &[Vec<Vec<&str>>]) -> Vec<f32> {
        let lms = [lm];
        let lms = &WeightedLms::new(&lms, &[0.5]);
        let mut contexts = LmContextTable::default();
        contexts.clear();
        let (mut scores, mut prefix) = (Vec::new(), PrefixScores::default());
        for text in texts {
            let mut context = contexts.start(lms);
            for phrase in text {
                let words: Vec<u32> =
                    phrase.iter().map(|word| contexts.intern_word(lms, word)).collect();
                let mut phrase_words = Vec::new();
                let isolated_score = contexts.score_isolated(lms, &words, &mut prefix);
                contexts.add_phrase_words(lms, &prefix, &mut phrase_words);
                let lm_phrase = LmPhrase { words: &phrase_words, isolated_score };
                let (gain, after) = contexts.score_in_context(lms, context, lm_phrase);
                scores.push(gain);
                context = after;
            }
            scores.push(contexts.end(lms, context));
        }
        scores
    }

    proptest! {
        /// Sharing transitions between contexts with a common suffix does not change scores.
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
