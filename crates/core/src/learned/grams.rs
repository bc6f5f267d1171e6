//! A small language model of the learned target text, mixed into a trained one.
//!
//! In: learned target sentences. Out: the probability of a word after one or two learned words.
//! How: where a context was learned, its words share λ = c/(c + κ·d) of the probability, c its count
//! and d its different followers (Witten and Bell, 1991); κ is large, so a little text moves little
//! unless two words of context agree. The decoder's state holds the learned context in two cells
//! before those of the trained model.

use crate::corpus::Vocab;
use crate::feature::{LanguageModel, LmState};
use crate::lm::Model;
use crate::narrow::{to_f32, to_u32};
use rustc_hash::FxHashMap;

/// κ of contexts of one word and of two.
const DOUBT: [f64; 2] = [20.0, 1.0];
/// Cells of the learned context in a state.
const CONTEXT: usize = 2;
/// Marks the numbers of learned words.
const OWN: u32 = 1 << 31;
/// Numbers in contexts: none, the start of a sentence, its end; words follow.
const NONE: u32 = 0;
const START: u32 = 1;
const END: u32 = 2;
const FIRST: u32 = 3;

/// The newest word and the one before it.
type Context = (u32, u32);

/// What was seen after a context.
#[derive(Debug, Default)]
struct Followers {
    total: u32,
    counts: FxHashMap<u32, u32>,
}

/// Counts of words after contexts of one and two words.
#[derive(Debug, Default)]
pub struct Grams {
    vocab: Vocab,
    after: FxHashMap<Context, Followers>,
}

impl Grams {
    /// Counts sentences.
    pub fn new<'a>(sentences: impl Iterator<Item = &'a [String]>) -> Self {
        let mut grams = Grams::default();
        for words in sentences {
            let (mut newest, mut before) = (START, NONE);
            let ids: Vec<u32> = words.iter().map(|word| FIRST + grams.vocab.intern(word)).collect();
            for word in ids.into_iter().chain([END]) {
                grams.count((newest, NONE), word);
                if before != NONE {
                    grams.count((newest, before), word);
                }
                (newest, before) = (word, newest);
            }
        }
        grams
    }

    fn count(&mut self, context: Context, word: u32) {
        let followers = self.after.entry(context).or_default();
        followers.total += 1;
        *followers.counts.entry(word).or_default() += 1;
    }

    /// The words, by number.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        (0..to_u32(self.vocab.len())).map(|id| self.vocab.word(id))
    }

    /// The context after a word; words that lead nowhere are forgotten.
    fn next(&self, (newest, _): Context, word: u32) -> Context {
        if word == NONE {
            return (NONE, NONE);
        }
        let both = (word, newest);
        let is_known = newest != NONE && self.after.contains_key(&both);
        if is_known { both } else { (word, NONE) }
    }

    /// The log probability of a word after a context, from the trained model's.
    fn mix(&self, trained: f32, (newest, before): Context, word: u32) -> f32 {
        if newest == NONE {
            return trained;
        }
        let mut prob = f64::from(trained).exp();
        let contexts = [(newest, NONE), (newest, before)];
        let known = if before == NONE { 1 } else { 2 };
        for (context, doubt) in contexts.iter().zip(DOUBT).take(known) {
            let Some(followers) = self.after.get(context) else { continue };
            let total = f64::from(followers.total);
            let share = total / (total + doubt * followers.counts.len() as f64);
            let count = followers.counts.get(&word).copied().unwrap_or_default();
            prob = (1.0 - share) * prob + share * f64::from(count) / total;
        }
        to_f32(prob.ln())
    }
}

/// A trained language model with what was learned mixed in.
pub struct MixedLm<'a> {
    pub lm: &'a Model,
    pub grams: &'a Grams,
    /// The trained model's numbers of the learned words.
    pub ids: &'a [u32],
}

impl MixedLm<'_> {
    /// Whether a state has room for a learned context beside the model's own.
    pub fn fits(lm: &Model) -> bool {
        CONTEXT + 2 * (lm.order() - 1) <= LmState::CELLS
    }

    /// A state of both: the context, the words of the trained state, their back-offs.
    fn packed(&self, (newest, before): (u32, u32), trained: &LmState) -> LmState {
        let words = trained.used as usize;
        let mut cells = [0; LmState::CELLS];
        (cells[0], cells[1]) = (newest, before);
        cells[CONTEXT..CONTEXT + words].copy_from_slice(&trained.cells[..words]);
        let backoffs = &trained.cells[LmState::WORDS..][..words];
        cells[CONTEXT + words..CONTEXT + 2 * words].copy_from_slice(backoffs);
        LmState { cells, used: to_u32(CONTEXT + words) }
    }

    fn unpacked(&self, state: &LmState) -> (Context, LmState) {
        let words = (state.used as usize).saturating_sub(CONTEXT);
        let mut trained = LmState::EMPTY;
        trained.cells[..words].copy_from_slice(&state.cells[CONTEXT..CONTEXT + words]);
        trained.cells[LmState::WORDS..][..words]
            .copy_from_slice(&state.cells[CONTEXT + words..CONTEXT + 2 * words]);
        trained.used = to_u32(words);
        ((state.cells[0], state.cells[1]), trained)
    }
}

impl LanguageModel for MixedLm<'_> {
    fn word(&self, word: &str) -> u32 {
        self.grams.vocab.id(word).map_or_else(|| self.lm.word(word), |id| OWN | id)
    }

    fn start(&self) -> LmState {
        self.packed((START, NONE), &LanguageModel::start(self.lm))
    }

    fn empty(&self) -> LmState {
        self.packed((NONE, NONE), &self.lm.empty())
    }

    fn score(&self, state: &LmState, word: u32, next: &mut LmState) -> f32 {
        let (context, before) = self.unpacked(state);
        let own = word & !OWN;
        let (id, word) =
            if word & OWN == 0 { (NONE, word) } else { (FIRST + own, self.ids[own as usize]) };
        let mut after = LmState::EMPTY;
        let trained = LanguageModel::score(self.lm, &before, word, &mut after);
        *next = self.packed(self.grams.next(context, id), &after);
        self.grams.mix(trained, context, id)
    }

    fn end(&self, state: &LmState) -> f32 {
        let (context, before) = self.unpacked(state);
        self.grams.mix(self.lm.end(&before), context, END)
    }
}
