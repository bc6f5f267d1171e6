//! Several models as one: a linear mixture of their probabilities, as a back-off model.
//!
//! In: models and their weights. Out: `GramLists` with the n-grams of all of them.
//! How: every n-gram that some model has gets the weighted sum of what all models say of it, each
//! backing off in its own way; what is left after a context goes to the words not seen there, in
//! proportion to the mixture for the shorter context. (Static interpolation, as SRILM's.) A word
//! that a model does not know has no probability there, so that every context still sums to 1;
//! `<unk>` stands for words that none of them knows.
//! Cost: two sorts per order; look-ups of each model for each context and each n-gram.
//! Not: a mixture looked up in all models for every word. The two differ only for n-grams that no
//! model has.

use super::estimate::{Backoffs, Setting, score_words};
use super::grams::Grams;
use super::key::{Key, bits_for};
use super::lists::{GramLists, Scored};
use super::model::Model;
use super::share::Shares;
use super::state::State;
use super::{BOS, MAX_ORDER, RESERVED, UNK};
use crate::Job;
use crate::corpus::{Vocab, WordId};
use crate::error::{Error, Result};
use crate::narrow::{to_f32, to_u32};
use crate::storage::{Sorter, Spool, TempFolder};
use std::path::Path;

/// N-grams between two looks at the job.
const BLOCK: u64 = 1 << 16;
/// A word that a model does not know.
const MISSING: WordId = WordId::MAX;
/// The least that is left for words not seen after a context: a logarithm has to be finite.
const LEAST: f64 = 1e-30;

/// Mixes models by weights that sum to 1. Sorting takes up to `memory` bytes; more goes to `folder`.
pub fn mix(
    models: &[&Model],
    weights: &[f64],
    memory: usize,
    folder: Option<&Path>,
    job: &Job,
) -> Result<GramLists> {
    check(models, weights)?;
    let counted: Vec<_> =
        models.iter().copied().zip(weights.iter().copied()).filter(|(_, w)| *w > 0.0).collect();
    let mixture = Mixture::new(&counted);
    let order = counted.iter().map(|(model, _)| model.order()).max().unwrap_or(1);
    let bits = bits_for(mixture.vocab.len());
    let folder = TempFolder::new(folder);
    let shares = Shares::new(&[], 1);
    let setting = Setting { bits, share: memory / 2 / order, folder: &folder, shares: &shares };
    match (to_u32(order) * bits).div_ceil(64) {
        1 => run::<1>(mixture, order, setting, job),
        2 => run::<2>(mixture, order, setting, job),
        3 => run::<3>(mixture, order, setting, job),
        _ => run::<4>(mixture, order, setting, job),
    }
}

fn check(models: &[&Model], weights: &[f64]) -> Result<()> {
    let is_share = |weight: &f64| (0.0..=1.0).contains(weight);
    let sum: f64 = weights.iter().sum();
    if models.is_empty() || models.len() != weights.len() {
        let found = format!("{} for {} models", weights.len(), models.len());
        return Err(argument(found, "a weight for each model".into()));
    }
    if !weights.iter().all(is_share) || (sum - 1.0).abs() > 1e-6 {
        let found: Vec<_> = weights.iter().map(f64::to_string).collect();
        return Err(argument(found.join(" "), "shares that sum to 1".into()));
    }
    Ok(())
}

fn argument(found: String, expected: String) -> Error {
    Error::Argument { name: "weights".into(), found, expected }
}

/// The models with one vocabulary.
struct Mixture<'a> {
    models: Vec<Weighted<'a>>,
    vocab: Vocab,
}

struct Weighted<'a> {
    model: &'a Model,
    weight: f64,
    /// The number that the model has for each word of the mixture.
    numbers: Vec<WordId>,
}

impl<'a> Mixture<'a> {
    fn new(counted: &[(&'a Model, f64)]) -> Self {
        let mut vocab = Vocab::default();
        for word in RESERVED {
            vocab.intern(word);
        }
        let mut numbers = vec![Vec::new(); counted.len()];
        for (of_model, (model, _)) in numbers.iter_mut().zip(counted) {
            for id in 0..to_u32(model.words()) {
                let word = vocab.intern(&String::from_utf8_lossy(model.word(id))) as usize;
                if of_model.len() <= word {
                    of_model.resize(word + 1, MISSING);
                }
                of_model[word] = id;
            }
        }
        let models = numbers.into_iter().zip(counted).map(|(mut numbers, &(model, weight))| {
            numbers.resize(vocab.len(), MISSING);
            Weighted { model, weight, numbers }
        });
        Mixture { models: models.collect(), vocab }
    }

    /// The states of all models after a context, its newest word first.
    fn states(&self, context: &[WordId], states: &mut Vec<State>) {
        states.clear();
        states.extend(self.models.iter().map(|part| part.state(context)));
    }

    /// The probability of a word after these states.
    fn prob(&self, states: &[State], word: WordId) -> f64 {
        self.models.iter().zip(states).map(|(part, state)| part.prob(state, word)).sum()
    }
}

impl Weighted<'_> {
    fn state(&self, context: &[WordId]) -> State {
        let mut state = State::EMPTY;
        for &word in context.iter().rev() {
            if word == BOS {
                state = self.model.begin();
                continue;
            }
            let mut next = State::EMPTY;
            let number = self.numbers[word as usize];
            self.model.score(&state, if number == MISSING { UNK } else { number }, &mut next);
            state = next;
        }
        state
    }

    fn prob(&self, state: &State, word: WordId) -> f64 {
        match self.numbers[word as usize] {
            MISSING => 0.0,
            number => {
                let score = self.model.score(state, number, &mut State::EMPTY.clone());
                self.weight * f64::from(score).exp()
            }
        }
    }
}

/// An order of the mixture: n-grams with their probabilities, and what is left after contexts.
struct Mixed<const W: usize> {
    by_suffix: Sorter<Key<W>, f64>,
    contexts: Spool<(Key<W>, f64)>,
}

fn run<const W: usize>(
    mixture: Mixture<'_>,
    order: usize,
    setting: Setting<'_>,
    job: &Job,
) -> Result<GramLists> {
    let Setting { bits, share, folder, .. } = setting;
    let mut contexts = Vec::new();
    let mut by_suffix = Vec::new();
    for length in 2..=order {
        let keys = union::<W>(&mixture, length, setting, job)?;
        let mixed = mix_order(&mixture, length, keys, setting, job)?;
        contexts.push(mixed.contexts);
        by_suffix.push(mixed.by_suffix);
    }
    contexts.push(Spool::new(folder, share));
    let none = vec![State::EMPTY; mixture.models.len()];
    let mut probs: Vec<f64> =
        (0..to_u32(mixture.vocab.len())).map(|word| mixture.prob(&none, word)).collect();
    probs[BOS as usize] = 1.0; // never predicted, as in every model
    let words = score_words(&probs, &contexts[0], bits)?;
    let mut higher: Vec<Scored<W>> = Vec::new();
    for (index, sorter) in by_suffix.into_iter().enumerate() {
        let mut backoffs = Backoffs::new(contexts[index + 1].iter()?);
        let mut list = Spool::new(folder, share);
        for record in sorter.finish()? {
            let (key, prob) = record?;
            list.push((key, (to_f32(prob.ln()), backoffs.of(&key)?)))?;
        }
        higher.push(list.finish()?);
    }
    let higher = higher.into_iter().map(|list| vec![list]).collect();
    Ok(GramLists::new(mixture.vocab, words, higher, bits))
}

/// The n-grams of one length of all models, each once, with the newest word last: by context.
fn union<const W: usize>(
    mixture: &Mixture<'_>,
    length: usize,
    setting: Setting<'_>,
    job: &Job,
) -> Result<Sorter<Key<W>, u32>> {
    let mut keys = Sorter::new(setting.folder, setting.share, Some(|one, _| one));
    for part in mixture.models.iter().filter(|part| part.model.order() >= length) {
        let mut ids = vec![UNK; part.model.words()];
        for (word, &number) in part.numbers.iter().enumerate().filter(|(_, n)| **n != MISSING) {
            ids[number as usize] = to_u32(word);
        }
        for (number, gram) in part.model.grams(length)?.enumerate() {
            let gram = gram?;
            let word = |at: usize| ids.get(gram.words[at] as usize).copied().unwrap_or(UNK);
            let mut key = Key::EMPTY;
            for at in 1..length {
                key.set(at - 1, word(at), setting.bits);
            }
            key.set(length - 1, word(0), setting.bits);
            keys.push(key, 0)?;
            if (number as u64).is_multiple_of(BLOCK) {
                job.check()?;
            }
        }
    }
    Ok(keys)
}

/// The probabilities of all n-grams of one length, and what they leave over after each context.
fn mix_order<const W: usize>(
    mixture: &Mixture<'_>,
    length: usize,
    keys: Sorter<Key<W>, u32>,
    setting: Setting<'_>,
    job: &Job,
) -> Result<Mixed<W>> {
    let Setting { bits, share, folder, .. } = setting;
    let mut mixed =
        Mixed { by_suffix: Sorter::new(folder, share, None), contexts: Spool::new(folder, share) };
    let (mut states, mut shorter) = (Vec::new(), Vec::new());
    let mut current: Option<Key<W>> = None;
    let (mut seen, mut seen_shorter) = (0.0, 0.0);
    for (number, record) in keys.finish()?.enumerate() {
        let (key, _) = record?;
        let context = key.first(length - 1, bits);
        if current != Some(context) {
            if let Some(last) = current.replace(context) {
                mixed.contexts.push((last, left_over(seen, seen_shorter)))?;
            }
            (seen, seen_shorter) = (0.0, 0.0);
            let words: [WordId; MAX_ORDER] = context.words(length - 1, bits);
            mixture.states(&words[..length - 1], &mut states);
            mixture.states(&words[..length - 2], &mut shorter);
        }
        let word = key.word(length - 1, bits);
        let prob = mixture.prob(&states, word);
        seen += prob;
        seen_shorter += mixture.prob(&shorter, word);
        mixed.by_suffix.push(context.extended(word, bits), prob)?;
        if (number as u64).is_multiple_of(BLOCK) {
            job.check()?;
        }
    }
    if let Some(last) = current {
        mixed.contexts.push((last, left_over(seen, seen_shorter)))?;
    }
    mixed.contexts = mixed.contexts.finish()?;
    Ok(mixed)
}

/// The backoff that gives what is left of 1 to the words not seen.
fn left_over(seen: f64, seen_shorter: f64) -> f64 {
    let (left, share) = (1.0 - seen, 1.0 - seen_shorter);
    if share < LEAST { 1.0 } else { (left / share).max(LEAST) }
}

#[cfg(test)]
mod tests {
    use super::super::tests::model;
    use super::super::write_image_in_memory;
    use super::*;

    const NEWS: [&str; 5] = ["a b c a b", "a b d", "c a b c", "b a x", "x a b"];
    const TALK: [&str; 6] = ["b a y", "y y b", "a b y c", "c c a", "b c", "a"];

    fn mixed(models: &[&Model], weights: &[f64]) -> Model {
        let lists = mix(models, weights, 1 << 20, None, &Job::default()).unwrap();
        write_image_in_memory(&lists, 1 << 20, &Job::default()).unwrap()
    }

    /// All words of the mixture, `<unk>` and `</s>` among them, without `<s>`.
    fn words(model: &Model) -> Vec<String> {
        let word = |id| String::from_utf8(model.word(id).to_vec()).unwrap();
        (0..model.words() as WordId).filter(|id| *id != BOS).map(word).collect()
    }

    /// The probability of a word after others, oldest first; 0 for a word the model has not.
    fn prob(model: &Model, context: &[&str], word: &str) -> f64 {
        let mut state = State::EMPTY;
        for word in context {
            let mut next = State::EMPTY;
            if *word == "<s>" {
                next = model.begin();
            } else {
                model.score(&state, model.id(word), &mut next);
            }
            state = next;
        }
        if word != "<unk>" && model.id(word) == UNK {
            return 0.0;
        }
        f64::from(model.score(&state, model.id(word), &mut State::EMPTY.clone())).exp()
    }

    #[test]
    fn every_context_sums_to_one_and_every_known_ngram_is_the_weighted_sum() {
        let (news, talk) = (model(NEWS, 4, 1 << 20), model(TALK, 3, 1 << 20));
        let both = mixed(&[&news, &talk], &[0.3, 0.7]);
        assert_eq!(both.order(), 4);
        let words = words(&both);
        let contexts = [
            &["<s>"][..],
            &["a"],
            &["a", "b"],
            &["<s>", "a", "b"],
            &["b", "a"],
            &["y"],
            &["x", "a"],
            &["c", "x"],
            &[],
        ];
        for context in contexts {
            let sum: f64 = words.iter().map(|word| prob(&both, context, word)).sum();
            assert!((sum - 1.0).abs() < 1e-5, "{context:?}: {sum}");
        }
        for order in 1..=4 {
            for gram in both.grams(order).unwrap() {
                let gram = gram.unwrap();
                let text: Vec<_> = gram.words[..order]
                    .iter()
                    .rev()
                    .map(|&id| std::str::from_utf8(both.word(id)).unwrap())
                    .collect();
                let (word, context) = text.split_last().unwrap();
                if *word == "<s>" {
                    continue;
                }
                let expected = 0.3 * prob(&news, context, word) + 0.7 * prob(&talk, context, word);
                let found = f64::from(-gram.prob.abs()).exp();
                assert!((found - expected).abs() < 1e-6, "{text:?}: {found} {expected}");
            }
        }
    }

    #[test]
    fn a_model_that_counts_nothing_leaves_the_other_as_it_was() {
        let (news, talk) = (model(NEWS, 3, 1 << 20), model(TALK, 3, 1 << 20));
        let alone = mixed(&[&news, &talk], &[1.0, 0.0]);
        assert_eq!(alone.words(), news.words());
        for line in ["a b c", "x x a", "q a b"] {
            let (one, other) =
                (alone.score_line(line, (true, true)), news.score_line(line, (true, true)));
            assert!((one.score - other.score).abs() < 1e-4, "{line}");
        }
    }

    #[test]
    fn little_memory_changes_nothing() {
        let (news, talk) = (model(NEWS, 4, 1 << 20), model(TALK, 4, 1 << 20));
        let one = |memory| {
            let lists = mix(&[&news, &talk], &[0.5, 0.5], memory, None, &Job::default()).unwrap();
            write_image_in_memory(&lists, 1 << 20, &Job::default()).unwrap()
        };
        assert_eq!(one(1 << 20).bytes(), one(64).bytes());
    }

    #[test]
    fn weights_that_are_no_shares_are_refused() {
        let news = model(NEWS, 2, 1 << 20);
        let wrong = |weights: &[f64]| {
            mix(&[&news, &news], weights, 1 << 20, None, &Job::default()).err().unwrap().to_string()
        };
        assert_eq!(
            wrong(&[1.0]),
            "weights: found 1 for 2 models; expected a weight for each model"
        );
        assert!(wrong(&[0.5, 0.6]).starts_with("weights: found 0.5 0.6; expected shares"));
        assert!(wrong(&[-0.5, 1.5]).contains("expected shares that sum to 1"));
    }
}
