//! The phrase oracle: the best translation that the decoder's table and space can reach.
//!
//! In: a phrase table, a space of the decoder, a sentence, its references, and translations that are
//! known to be within reach. Out: of all that the search finds and all that is known the string
//! with the highest BLEU; and the words of the references that no phrase offers.
//! How: the decoder itself searches, with its own spaces and options, for a language model that
//! counts the references' n-grams: a word costs 1 and each n-gram that it completes brings
//! 1/(4·p·r^(n−1)), the linear form of BLEU of Tromble and others (2008), p = 0.85, r = 0.72. BLEU
//! counts an n-gram no oftener than a reference has it, so after each search those that the best
//! string has too often bring less, and those that it has too seldom get some of that back
//! (Lagrangian relaxation). All strings found are compared by BLEU itself (`clipped`).
//! Definitions i.8.
//! Cost: up to `ROUNDS` searches a sentence and space. Not exact: the search prunes; but what is
//! known to be within reach is never beaten downward.

use super::clipped::Clipped;
use super::grams::{EMPTY, Grams};
use crate::decode::{Decoder, ModelSet, OutputOptions, SearchSettings, TranslationRequest};
use crate::error::Result;
use crate::feature::{LanguageModel, LmState, PhraseModel};
use crate::job::Job;
use crate::narrow::{to_i32, to_u32};
use rustc_hash::FxHashSet;

/// Precision of words, and how it falls with the order of n-grams.
const PRECISION: f32 = 0.85;
const FALL: f32 = 0.72;

/// Searches for one sentence, at most.
const ROUNDS: usize = 6;

/// A language model that knows the references of one sentence.
#[derive(Debug, Default)]
pub struct ReferenceModel {
    grams: Grams,
    /// What each n-gram has lost for being used too often.
    lost: Vec<f32>,
    /// What a word brings that completes each n-gram, with all shorter ones.
    worth: Vec<f32>,
}

/// What an n-gram of this length brings.
fn reward(length: usize) -> f32 {
    1.0 / (4.0 * PRECISION * FALL.powi(to_i32(length) - 1))
}

impl ReferenceModel {
    /// The model of these references.
    pub fn of(refs: &[Vec<&str>]) -> ReferenceModel {
        let mut grams = Grams::default();
        grams.read(refs, |_| true);
        let lost = vec![0.0; grams.len()];
        let mut model = ReferenceModel { grams, lost, worth: Vec::new() };
        model.add_up();
        model
    }

    fn add_up(&mut self) {
        self.worth = vec![-1.0; self.grams.len()];
        for gram in 1..to_u32(self.grams.len()) {
            let mut at = gram;
            while at != EMPTY {
                let own = reward(self.grams.length(at)) - self.lost[at as usize];
                self.worth[gram as usize] += own;
                at = self.grams.shorter(at);
            }
        }
    }

    /// Takes from n-grams that were used too often and gives back to the others; whether there are
    /// any. `uses` has for each n-gram how often it was used and how often it may be.
    fn settle(&mut self, uses: impl Iterator<Item = (u32, u32)>, round: usize) -> bool {
        let mut is_over = false;
        for (gram, (used, most)) in uses.enumerate().skip(1) {
            is_over |= used > most;
            let step = reward(self.grams.length(to_u32(gram))) / (1 + round) as f32;
            let excess = used as f32 - most as f32;
            self.lost[gram] = (self.lost[gram] + step * excess).max(0.0);
        }
        self.add_up();
        is_over
    }
}

impl LanguageModel for ReferenceModel {
    fn word(&self, word: &str) -> u32 {
        self.grams.word(word)
    }

    fn start(&self) -> LmState {
        LmState::EMPTY
    }

    fn score(&self, state: &LmState, word: u32, next: &mut LmState) -> f32 {
        let before = if state.used == 0 { EMPTY } else { state.cells[0] };
        let gram = self.grams.step(before, word);
        let context = self.grams.followed(gram);
        *next = LmState::EMPTY;
        next.cells[0] = context;
        next.used = u32::from(context != EMPTY);
        self.worth[gram as usize]
    }

    fn end(&self, _state: &LmState) -> f32 {
        0.0
    }
}

/// The best translation within reach.
#[derive(Debug, Clone, PartialEq)]
pub struct Reached {
    /// Its words.
    pub words: Vec<String>,
    /// Its BLEU by itself, 0 to 1.
    pub score: f64,
}

/// The best translation of a sentence among `nbest` of a search and those known to be within reach.
pub fn reach(
    table: &dyn PhraseModel,
    request: &TranslationRequest<'_>,
    refs: &[Vec<&str>],
    known: &[Vec<&str>],
    settings: &SearchSettings,
    nbest: usize,
    job: &Job,
) -> Result<Reached> {
    let mut model = ReferenceModel::of(refs);
    let mut clipped = Clipped::default();
    clipped.read(refs);
    let mut best = Reached { words: Vec::new(), score: f64::NEG_INFINITY };
    for words in known {
        best.consider(words, &mut clipped);
    }
    for round in 0..ROUNDS {
        let found = search(table, &model, request, settings, nbest, job)?;
        for words in &found {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            best.consider(&words, &mut clipped);
        }
        let first: Vec<&str> = found[0].iter().map(String::as_str).collect();
        if !model.settle(clipped.uses(&first), round) {
            break;
        }
    }
    Ok(best)
}

impl Reached {
    /// Takes a string that scores more.
    fn consider(&mut self, words: &[&str], clipped: &mut Clipped) {
        let score = clipped.score(words);
        if score > self.score {
            let words = words.iter().map(|&word| word.to_owned()).collect();
            *self = Reached { words, score };
        }
    }
}

/// The best strings by the model; at least one.
fn search(
    table: &dyn PhraseModel,
    model: &ReferenceModel,
    request: &TranslationRequest<'_>,
    settings: &SearchSettings,
    nbest: usize,
    job: &Job,
) -> Result<Vec<Vec<String>>> {
    let models = ModelSet { phrases: table, lms: vec![model], orientation: None, paths: vec![] };
    let mut weights = models.weights()?;
    weights.set("lm", 1.0)?;
    let decoder = Decoder::new(models, weights, settings.clone())?;
    let wanted = OutputOptions { nbest, distinct: true, graph: false, stacks: 0 };
    let best = decoder.worker().translate(request, wanted, job)?.best;
    Ok(best.into_iter().map(|translation| translation.words).collect())
}

/// For each reference the words, by place, that no phrase for any part of the sentence offers; a
/// source word may stay as it is when the table has no translation for it alone.
pub fn missing(
    table: &dyn PhraseModel,
    words: &[&str],
    refs: &[Vec<&str>],
) -> Result<Vec<Vec<u32>>> {
    let ids: Vec<_> = words.iter().map(|word| table.source_id(word)).collect();
    let mut offered: FxHashSet<String> = FxHashSet::default();
    for start in 0..words.len() {
        for end in start + 1..=(start + table.longest()).min(words.len()) {
            let Some(src) = ids[start..end].iter().copied().collect::<Option<Vec<_>>>() else {
                break;
            };
            table.find(&src, &mut |entry| {
                offered.extend(entry.tgt.iter().map(|&id| table.target_word(id).to_owned()));
            })?;
        }
        let mut has_own = false;
        if let Some(id) = ids[start] {
            table.find(&[id], &mut |_| has_own = true)?;
        }
        if !has_own {
            offered.insert(words[start].to_owned());
        }
    }
    let places = |words: &Vec<&str>| {
        let lacks = |&(_, word): &(u32, &&str)| !offered.contains(*word);
        (0..).zip(words).filter(lacks).map(|(at, _)| at).collect()
    };
    Ok(refs.iter().map(places).collect())
}
