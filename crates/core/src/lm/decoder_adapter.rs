//! The decoder's `LanguageModel` interface, implemented for `Model`.
//!
//! In: the decoder's `LmState`, whose cells hold seven words and seven sums of backoffs.
//! Out: the scores of `Model` and the next state.
//! Cost: a copy of 60 bytes per word in addition to the query.

use super::model::{Model, NgramLookup};
use super::ngram_state::NgramState;
use super::{EOS, MAX_ORDER};
use crate::feature::{LanguageModel, LmLookup, LmState};
use crate::narrow::to_u32;

/// Number of words in a state. The cells after them hold backoff sums: the sum charged if none of
/// the words matches, if only the newest matches, and so on.
const WORDS: usize = MAX_ORDER - 1;
const _: () = assert!(WORDS == LmState::WORDS);

impl From<&NgramState> for LmState {
    fn from(state: &NgramState) -> Self {
        let mut cells = [0; LmState::CELLS];
        cells[..WORDS].copy_from_slice(&state.words);
        for (matched, cell) in cells[WORDS..].iter_mut().enumerate() {
            *cell = state.backoff_sum(matched).to_bits();
        }
        LmState { cells, used: to_u32(state.words().len()) }
    }
}

/// Return the words of a state, newest first.
fn words(state: &LmState) -> &[u32] {
    &state.cells[..(state.used as usize).min(WORDS)]
}

impl LanguageModel for Model {
    fn word(&self, word: &str) -> u32 {
        self.text_id(word)
    }

    fn start(&self) -> LmState {
        LmState::from(&self.bos_state())
    }

    fn score(&self, state: &LmState, word: u32, next: &mut LmState) -> f32 {
        let LmLookup { score, matched, .. } = self.match_ngram(state, word, next);
        state.backoff_after(matched) + score
    }

    fn has_nested_states(&self) -> bool {
        true
    }

    fn match_ngram(&self, state: &LmState, word: u32, next: &mut LmState) -> LmLookup {
        let NgramLookup { prob, order, seen, len } =
            self.find_longest(words(state), word, |place, word, backoff| {
                next.cells[place] = word;
                next.cells[WORDS + place] = backoff.to_bits();
            });
        next.used = to_u32(len);
        next.cells[WORDS + len] = 0;
        let mut owed = 0.0;
        for cell in next.cells[WORDS..][..len].iter_mut().rev() {
            owed += f32::from_bits(*cell);
            *cell = owed.to_bits();
        }
        LmLookup { score: -prob, inspected: seen, matched: to_u32(order - 1) }
    }

    fn end(&self, state: &LmState) -> f32 {
        LanguageModel::score(self, state, EOS, &mut LmState::default())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::model;
    use super::*;

    #[test]
    fn the_decoder_sees_the_scores_of_the_model() {
        let model = model(["a b c a b", "a b d", "c a b c", "b a", "d d a b c"], 4, 1 << 20);
        let words: Vec<u32> = "a b x c a b c d".split(' ').map(|word| model.word(word)).collect();
        let (mut state, mut cells) = (model.bos_state(), model.start());
        for &word in &words {
            let (mut next, mut next_cells) = (NgramState::EMPTY, LmState::EMPTY);
            let expected = Model::score(&model, &state, word, &mut next);
            assert_eq!(LanguageModel::score(&model, &cells, word, &mut next_cells), expected);
            assert_eq!(next_cells.key(), next.words());
            (state, cells) = (next, next_cells);
        }
        assert_eq!(
            model.end(&cells),
            Model::score(&model, &state, EOS, &mut NgramState::default())
        );
    }
}
