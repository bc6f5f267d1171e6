//! Scores of whole sentences.
//!
//! In: words. Out: one score per word, or their sum with the numbers that perplexity needs.
//! `<s>` is the history of the first word and not scored; `</s>` is scored like a word.

use super::model::{Model, TOGETHER};
use super::state::State;
use super::{BOS, EOS, MAX_ORDER, UNK};
use crate::corpus::WordId;

/// Words that can matter for the next one.
const HISTORY: usize = MAX_ORDER - 1;

/// The score of one word.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WordScore {
    /// Natural logarithm of its probability.
    pub score: f32,
    /// Length of the n-gram that was found.
    pub order: u8,
    /// Whether the model does not know the word.
    pub is_unknown: bool,
}

/// The scores of one or more sentences, summed up.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SentenceScore {
    /// Natural logarithm of the probability of all words.
    pub score: f64,
    /// The same without words that the model does not know.
    pub known_score: f64,
    /// Words that were scored, `</s>` among them.
    pub tokens: u64,
    /// Those the model does not know.
    pub unknown: u64,
}

impl SentenceScore {
    /// Adds another sentence.
    pub fn add(&mut self, other: &Self) {
        self.score += other.score;
        self.known_score += other.known_score;
        self.tokens += other.tokens;
        self.unknown += other.unknown;
    }
}

impl Model {
    /// Scores the words of a sentence one by one. With `bos` it starts a sentence, with `eos`
    /// it ends one.
    pub fn score_words(
        &self,
        words: impl Iterator<Item = WordId>,
        (bos, eos): (bool, bool),
        mut each: impl FnMut(WordScore),
    ) {
        let mut state = if bos { self.begin() } else { State::EMPTY };
        let mut next = State::EMPTY;
        let mut words = words.chain(eos.then_some(EOS));
        // The words of one round after the history that its first words may need.
        let mut window = [BOS; HISTORY + TOGETHER];
        let mut known = usize::from(bos);
        loop {
            let mut end = known;
            for word in words.by_ref().take(TOGETHER) {
                window[end] = word;
                end += 1;
            }
            if end == known {
                return;
            }
            let touched = (known..end)
                .fold(0, |sum, at| sum ^ self.touch(window[at], window[..at].iter().rev()));
            std::hint::black_box(touched);
            for &word in &window[known..end] {
                let answer = self.look_up(&state, word, &mut next);
                each(WordScore {
                    score: answer.score,
                    order: answer.order,
                    is_unknown: word == UNK,
                });
                std::mem::swap(&mut state, &mut next);
            }
            known = end.min(HISTORY);
            window.copy_within(end - known..end, 0);
        }
    }

    /// Scores a line of whitespace-separated words.
    pub fn score_line(&self, line: &str, marks: (bool, bool)) -> SentenceScore {
        let mut sum = SentenceScore::default();
        let words = line.split_whitespace().map(|word| self.text_id(word));
        self.score_words(words, marks, |word| {
            sum.tokens += 1;
            sum.score += f64::from(word.score);
            if word.is_unknown {
                sum.unknown += 1;
            } else {
                sum.known_score += f64::from(word.score);
            }
        });
        sum
    }
}
