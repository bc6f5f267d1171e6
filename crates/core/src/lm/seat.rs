//! The language model in its seat at the decoder.
//!
//! In: the decoder's `LmState`, which holds seven words and their backoffs as plain cells.
//! Out: the scores of `Model`, and the next state.
//! Cost: a copy of sixty bytes a word besides the look-up.

use super::model::Walk;
use super::{EOS, MAX_ORDER, Model, State};
use crate::feature::{Glance, LanguageModel, LmState};
use crate::narrow::{to_u8, to_u32};

/// Words of a state; its backoffs stand in as many cells behind them.
const WORDS: usize = MAX_ORDER - 1;

impl From<&State> for LmState {
    fn from(state: &State) -> Self {
        let mut cells = [0; LmState::CELLS];
        cells[..WORDS].copy_from_slice(&state.words);
        for (cell, backoff) in cells[WORDS..].iter_mut().zip(state.backoffs) {
            *cell = backoff.to_bits();
        }
        LmState { cells, used: to_u32(state.words().len()) }
    }
}

impl From<&LmState> for State {
    fn from(state: &LmState) -> Self {
        let mut words = [0; WORDS];
        words.copy_from_slice(&state.cells[..WORDS]);
        let mut backoffs = [0.0; WORDS];
        for (backoff, cell) in backoffs.iter_mut().zip(&state.cells[WORDS..]) {
            *backoff = f32::from_bits(*cell);
        }
        State { words, backoffs, len: to_u8(state.used) }
    }
}

/// The words of a state, newest first.
fn words(state: &LmState) -> &[u32] {
    &state.cells[..(state.used as usize).min(WORDS)]
}

impl LanguageModel for Model {
    fn word(&self, word: &str) -> u32 {
        self.text_id(word)
    }

    fn start(&self) -> LmState {
        LmState::from(&self.begin())
    }

    fn score(&self, state: &LmState, word: u32, next: &mut LmState) -> f32 {
        let Glance { score, matched, .. } = self.glance(state, word, next);
        self.beyond(state, matched) + score
    }

    fn nests(&self) -> bool {
        true
    }

    fn glance(&self, state: &LmState, word: u32, next: &mut LmState) -> Glance {
        let Walk { prob, order, seen, len } =
            self.walk(words(state), word, |place, word, backoff| {
                next.cells[place] = word;
                next.cells[WORDS + place] = backoff.to_bits();
            });
        next.used = to_u32(len);
        Glance { score: -prob, seen, matched: to_u32(order - 1) }
    }

    fn beyond(&self, state: &LmState, matched: u32) -> f32 {
        let backoffs = &state.cells[WORDS..][..words(state).len()];
        backoffs.iter().skip(matched as usize).map(|&cell| f32::from_bits(cell)).sum()
    }

    fn end(&self, state: &LmState) -> f32 {
        Model::score(self, &State::from(state), EOS, &mut State::default())
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
        let (mut state, mut cells) = (model.begin(), model.start());
        for &word in &words {
            let (mut next, mut next_cells) = (State::EMPTY, LmState::EMPTY);
            let expected = Model::score(&model, &state, word, &mut next);
            assert_eq!(LanguageModel::score(&model, &cells, word, &mut next_cells), expected);
            assert_eq!(next_cells.key(), next.words());
            (state, cells) = (next, next_cells);
        }
        assert_eq!(model.end(&cells), Model::score(&model, &state, EOS, &mut State::default()));
    }
}
