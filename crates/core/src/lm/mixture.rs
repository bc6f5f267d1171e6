//! Static linear interpolation of models into one backoff model, as in SRILM.
//!
//! In: models and their weights. Out: `NgramLists` with the n-grams of all models.
//! How: each n-gram of any model gets the weighted sum of the probabilities of all models, each
//! backing off on its own. The remaining mass of a context goes to the unseen words in proportion
//! to the mixture for the shorter context. An unknown word has probability 0 in a model, so every
//! context sums to 1; `<unk>` stands for the words unknown to all models.
//! Cost: two sorts per order; queries of each model for each context and each n-gram.
//! Not: dynamic interpolation, which queries all models for every word. The two differ only for
//! n-grams that no model lists.

use super::model::Model;
use super::ngram_key::{NgramKey, bits_for};
use super::ngram_lists::{NgramLists, ScoredSpool};
use super::ngram_source::NgramSource;
use super::ngram_state::NgramState;
use super::sorted_estimation::{BackoffCursor, SortOptions, score_unigrams};
use super::vocab_partition::VocabPartition;
use super::{BOS, MAX_ORDER, RESERVED, UNK};
use crate::Job;
use crate::corpus::{Vocab, WordId};
use crate::error::{Error, Result};
use crate::narrow::{to_f32, to_u32};
use crate::storage::{Sorter, Spool, TempFolder};
use std::path::Path;

/// Number of n-grams between two checks for cancellation.
const CHECK_INTERVAL: u64 = 1 << 16;
/// Id of a mixture word that a model does not know.
const MISSING: WordId = WordId::MAX;
/// Minimal backoff weight; its logarithm must be finite.
const MIN_BACKOFF: f64 = 1e-30;

/// Interpolate models by weights that sum to 1. Sorting uses up to `memory` bytes; more goes to
/// `folder`.
pub fn mix_models(
    models: &[&Model],
    weights: &[f64],
    memory: usize,
    folder: Option<&Path>,
    job: &Job,
) -> Result<NgramLists> {
    validate_weights(models, weights)?;
    let counted: Vec<_> =
        models.iter().copied().zip(weights.iter().copied()).filter(|(_, w)| *w > 0.0).collect();
    let mixture = ModelMixture::new(&counted);
    let order = counted.iter().map(|(model, _)| model.order()).max().unwrap_or(1);
    let bits = bits_for(mixture.vocab.len());
    let folder = TempFolder::new(folder);
    let partition = VocabPartition::new(&[], 1);
    let options =
        SortOptions { bits, memory: memory / 2 / order, folder: &folder, partition: &partition };
    match (to_u32(order) * bits).div_ceil(64) {
        1 => mix_with_width::<1>(mixture, order, options, job),
        2 => mix_with_width::<2>(mixture, order, options, job),
        3 => mix_with_width::<3>(mixture, order, options, job),
        _ => mix_with_width::<4>(mixture, order, options, job),
    }
}

fn validate_weights(models: &[&Model], weights: &[f64]) -> Result<()> {
    let is_share = |weight: &f64| (0.0..=1.0).contains(weight);
    let sum: f64 = weights.iter().sum();
    if models.is_empty() || models.len() != weights.len() {
        let found = format!("{} for {} models", weights.len(), models.len());
        return Err(weights_error(found, "a weight for each model".into()));
    }
    if !weights.iter().all(is_share) || (sum - 1.0).abs() > 1e-6 {
        let found: Vec<_> = weights.iter().map(f64::to_string).collect();
        return Err(weights_error(found.join(" "), "shares that sum to 1".into()));
    }
    Ok(())
}

fn weights_error(found: String, expected: String) -> Error {
    Error::Argument { name: "weights".into(), found, expected }
}

/// Models that share one vocabulary.
struct ModelMixture<'a> {
    models: Vec<MixtureComponent<'a>>,
    vocab: Vocab,
}

struct MixtureComponent<'a> {
    model: &'a Model,
    weight: f64,
    /// Word id of the model for each word id of the mixture.
    numbers: Vec<WordId>,
}

impl<'a> ModelMixture<'a> {
    fn new(counted: &[(&'a Model, f64)]) -> Self {
        let mut vocab = Vocab::default();
        for word in RESERVED {
            vocab.intern(word);
        }
        let mut numbers = vec![Vec::new(); counted.len()];
        for (of_model, (model, _)) in numbers.iter_mut().zip(counted) {
            for id in 0..to_u32(model.vocab_size()) {
                let word = vocab.intern(&String::from_utf8_lossy(model.word(id))) as usize;
                if of_model.len() <= word {
                    of_model.resize(word + 1, MISSING);
                }
                of_model[word] = id;
            }
        }
        let models = numbers.into_iter().zip(counted).map(|(mut numbers, &(model, weight))| {
            numbers.resize(vocab.len(), MISSING);
            MixtureComponent { model, weight, numbers }
        });
        ModelMixture { models: models.collect(), vocab }
    }

    /// Compute the states of all models after a context, its newest word first.
    fn states(&self, context: &[WordId], states: &mut Vec<NgramState>) {
        states.clear();
        states.extend(self.models.iter().map(|part| part.state(context)));
    }

    /// Return the probability of a word after these states.
    fn prob(&self, states: &[NgramState], word: WordId) -> f64 {
        self.models.iter().zip(states).map(|(part, state)| part.prob(state, word)).sum()
    }
}

impl MixtureComponent<'_> {
    fn state(&self, context: &[WordId]) -> NgramState {
        let mut state = NgramState::EMPTY;
        for &word in context.iter().rev() {
            if word == BOS {
                state = self.model.bos_state();
                continue;
            }
            let mut next = NgramState::EMPTY;
            let number = self.numbers[word as usize];
            self.model.score(&state, if number == MISSING { UNK } else { number }, &mut next);
            state = next;
        }
        state
    }

    fn prob(&self, state: &NgramState, word: WordId) -> f64 {
        match self.numbers[word as usize] {
            MISSING => 0.0,
            number => {
                let score = self.model.score(state, number, &mut NgramState::EMPTY.clone());
                self.weight * f64::from(score).exp()
            }
        }
    }
}

/// An order of the mixture: n-grams with their probabilities, and contexts with their backoffs.
struct MixedOrder<const W: usize> {
    by_suffix: Sorter<NgramKey<W>, f64>,
    contexts: Spool<(NgramKey<W>, f64)>,
}

fn mix_with_width<const W: usize>(
    mixture: ModelMixture<'_>,
    order: usize,
    options: SortOptions<'_>,
    job: &Job,
) -> Result<NgramLists> {
    let SortOptions { bits, memory, folder, .. } = options;
    let mut contexts = Vec::new();
    let mut by_suffix = Vec::new();
    for length in 2..=order {
        let keys = collect_keys::<W>(&mixture, length, options, job)?;
        let mixed = mix_order(&mixture, length, keys, options, job)?;
        contexts.push(mixed.contexts);
        by_suffix.push(mixed.by_suffix);
    }
    contexts.push(Spool::new(folder, memory));
    let none = vec![NgramState::EMPTY; mixture.models.len()];
    let mut probs: Vec<f64> =
        (0..to_u32(mixture.vocab.len())).map(|word| mixture.prob(&none, word)).collect();
    probs[BOS as usize] = 1.0; // never predicted, as in every model
    let words = score_unigrams(&probs, &contexts[0], bits)?;
    let mut higher: Vec<ScoredSpool<W>> = Vec::new();
    for (index, sorter) in by_suffix.into_iter().enumerate() {
        let mut backoffs = BackoffCursor::new(contexts[index + 1].iter()?);
        let mut list = Spool::new(folder, memory);
        for record in sorter.finish()? {
            let (key, prob) = record?;
            list.push((key, (to_f32(prob.ln()), backoffs.read(&key)?)))?;
        }
        higher.push(list.finish()?);
    }
    let higher = higher.into_iter().map(|list| vec![list]).collect();
    Ok(NgramLists::new(mixture.vocab, words, higher, bits))
}

/// Collect the distinct n-grams of one length of all models, sorted by context (the newest word
/// last).
fn collect_keys<const W: usize>(
    mixture: &ModelMixture<'_>,
    length: usize,
    options: SortOptions<'_>,
    job: &Job,
) -> Result<Sorter<NgramKey<W>, u32>> {
    let mut keys = Sorter::new(options.folder, options.memory, Some(|one, _| one));
    for part in mixture.models.iter().filter(|part| part.model.order() >= length) {
        let mut ids = vec![UNK; part.model.vocab_size()];
        for (word, &number) in part.numbers.iter().enumerate().filter(|(_, n)| **n != MISSING) {
            ids[number as usize] = to_u32(word);
        }
        for (number, ngram) in part.model.ngrams(length)?.enumerate() {
            let ngram = ngram?;
            let word = |at: usize| ids.get(ngram.words[at] as usize).copied().unwrap_or(UNK);
            let mut key = NgramKey::EMPTY;
            for at in 1..length {
                key.set(at - 1, word(at), options.bits);
            }
            key.set(length - 1, word(0), options.bits);
            keys.push(key, 0)?;
            if (number as u64).is_multiple_of(CHECK_INTERVAL) {
                job.check()?;
            }
        }
    }
    Ok(keys)
}

/// Compute the probabilities of all n-grams of one length and the backoff of each context.
fn mix_order<const W: usize>(
    mixture: &ModelMixture<'_>,
    length: usize,
    keys: Sorter<NgramKey<W>, u32>,
    options: SortOptions<'_>,
    job: &Job,
) -> Result<MixedOrder<W>> {
    let SortOptions { bits, memory, folder, .. } = options;
    let mut mixed = MixedOrder {
        by_suffix: Sorter::new(folder, memory, None),
        contexts: Spool::new(folder, memory),
    };
    let (mut states, mut shorter) = (Vec::new(), Vec::new());
    let mut current: Option<NgramKey<W>> = None;
    let (mut seen, mut seen_shorter) = (0.0, 0.0);
    for (number, record) in keys.finish()?.enumerate() {
        let (key, _) = record?;
        let context = key.first(length - 1, bits);
        if current != Some(context) {
            if let Some(last) = current.replace(context) {
                mixed.contexts.push((last, backoff_weight(seen, seen_shorter)))?;
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
        if (number as u64).is_multiple_of(CHECK_INTERVAL) {
            job.check()?;
        }
    }
    if let Some(last) = current {
        mixed.contexts.push((last, backoff_weight(seen, seen_shorter)))?;
    }
    mixed.contexts = mixed.contexts.finish()?;
    Ok(mixed)
}

/// Return the backoff that gives the remaining mass to the unseen words.
fn backoff_weight(seen: f64, seen_shorter: f64) -> f64 {
    let (left, left_shorter) = (1.0 - seen, 1.0 - seen_shorter);
    if left_shorter < MIN_BACKOFF { 1.0 } else { (left / left_shorter).max(MIN_BACKOFF) }
}

#[cfg(test)]
mod tests {
    use super::super::build_model;
    use super::super::tests::model;
    use super::*;

    const NEWS: [&str; 5] = ["a b c a b", "a b d", "c a b c", "b a x", "x a b"];
    const TALK: [&str; 6] = ["b a y", "y y b", "a b y c", "c c a", "b c", "a"];

    fn mixed(models: &[&Model], weights: &[f64]) -> Model {
        let lists = mix_models(models, weights, 1 << 20, None, &Job::default()).unwrap();
        build_model(&lists, 1 << 20, &Job::default()).unwrap()
    }

    /// Return all words of the mixture but `<s>`.
    fn words(model: &Model) -> Vec<String> {
        let word = |id| String::from_utf8(model.word(id).to_vec()).unwrap();
        (0..model.vocab_size() as WordId).filter(|id| *id != BOS).map(word).collect()
    }

    /// Return the probability of a word after a context, oldest word first; 0 for an unknown word.
    fn prob(model: &Model, context: &[&str], word: &str) -> f64 {
        let mut state = NgramState::EMPTY;
        for word in context {
            let mut next = NgramState::EMPTY;
            if *word == "<s>" {
                next = model.bos_state();
            } else {
                model.score(&state, model.id(word), &mut next);
            }
            state = next;
        }
        if word != "<unk>" && model.id(word) == UNK {
            return 0.0;
        }
        f64::from(model.score(&state, model.id(word), &mut NgramState::EMPTY.clone())).exp()
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
            for ngram in both.ngrams(order).unwrap() {
                let ngram = ngram.unwrap();
                let text: Vec<_> = ngram.words[..order]
                    .iter()
                    .rev()
                    .map(|&id| std::str::from_utf8(both.word(id)).unwrap())
                    .collect();
                let (word, context) = text.split_last().unwrap();
                if *word == "<s>" {
                    continue;
                }
                let expected = 0.3 * prob(&news, context, word) + 0.7 * prob(&talk, context, word);
                let found = f64::from(-ngram.prob.abs()).exp();
                assert!((found - expected).abs() < 1e-6, "{text:?}: {found} {expected}");
            }
        }
    }

    #[test]
    fn a_model_that_counts_nothing_leaves_the_other_as_it_was() {
        let (news, talk) = (model(NEWS, 3, 1 << 20), model(TALK, 3, 1 << 20));
        let alone = mixed(&[&news, &talk], &[1.0, 0.0]);
        assert_eq!(alone.vocab_size(), news.vocab_size());
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
            let lists =
                mix_models(&[&news, &talk], &[0.5, 0.5], memory, None, &Job::default()).unwrap();
            build_model(&lists, 1 << 20, &Job::default()).unwrap()
        };
        assert_eq!(one(1 << 20).bytes(), one(64).bytes());
    }

    #[test]
    fn weights_that_are_no_shares_are_refused() {
        let news = model(NEWS, 2, 1 << 20);
        let wrong = |weights: &[f64]| {
            mix_models(&[&news, &news], weights, 1 << 20, None, &Job::default())
                .err()
                .unwrap()
                .to_string()
        };
        assert_eq!(
            wrong(&[1.0]),
            "weights: found 1 for 2 models; expected a weight for each model"
        );
        assert!(wrong(&[0.5, 0.6]).starts_with("weights: found 0.5 0.6; expected shares"));
        assert!(wrong(&[-0.5, 1.5]).contains("expected shares that sum to 1"));
    }
}
