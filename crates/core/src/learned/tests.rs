//! Tests of what was learned beside trained models.

use super::grams::{Grams, MixedLm};
use crate::feature::{LanguageModel, LmState};
use crate::lm::tests::model;

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

#[test]
fn probabilities_after_any_context_still_add_up_to_one() {
    let lm = model(["a b c a b", "a b d", "c a b c", "b a", "d d a b c"], 3, 1 << 20);
    let learned = [words("a c d"), words("a c c"), words("d c b")];
    let grams = Grams::new(learned.iter().map(Vec::as_slice));
    let ids: Vec<u32> = grams.words().map(|word| lm.text_id(word)).collect();
    let mixed = MixedLm { lm: &lm, grams: &grams, ids: &ids };
    for context in ["", "a", "a c", "b b", "d c"] {
        let mut state = mixed.start();
        let mut next = LmState::EMPTY;
        for word in context.split_whitespace() {
            mixed.score(&state, mixed.word(word), &mut next);
            state = next;
        }
        let every = ["a", "b", "c", "d", "never seen"].map(|word| mixed.word(word));
        let sum: f64 = every
            .iter()
            .map(|&word| f64::from(mixed.score(&state, word, &mut next)).exp())
            .sum::<f64>()
            + f64::from(mixed.end(&state)).exp();
        assert!((sum - 1.0).abs() < 1e-4, "{context}: {sum}");
    }
}

#[test]
fn a_learned_context_makes_its_word_likelier_and_others_less_so() {
    let lm = model(["a b c a b", "a b d", "c a b c", "b a", "d d a b c"], 3, 1 << 20);
    let learned = [words("a c d")];
    let grams = Grams::new(learned.iter().map(Vec::as_slice));
    let ids: Vec<u32> = grams.words().map(|word| lm.text_id(word)).collect();
    let mixed = MixedLm { lm: &lm, grams: &grams, ids: &ids };
    let after = |lm: &dyn LanguageModel, word: &str| {
        let (mut state, mut next) = (lm.start(), LmState::EMPTY);
        for word in ["a", "c"] {
            lm.score(&state, lm.word(word), &mut next);
            state = next;
        }
        lm.score(&state, lm.word(word), &mut next)
    };
    assert!(after(&mixed, "d") > after(&lm, "d"));
    assert!(after(&mixed, "a") < after(&lm, "a"));
}
