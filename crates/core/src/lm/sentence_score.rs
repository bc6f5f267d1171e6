//! Scores of words, sentences and texts.
//!
//! In: words. Out: a score per word, or the sums that perplexity needs.
//! `<s>` is the history of the first word and has no score; `</s>` is scored like a word.

use super::model::{Model, PREFETCH_BATCH};
use super::ngram_state::NgramState;
use super::{BOS, EOS, MAX_ORDER, UNK};
use crate::corpus::WordId;

/// Maximal number of history words.
const HISTORY: usize = MAX_ORDER - 1;

/// The score of a word in its sentence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WordScore {
    /// Natural logarithm of its probability.
    pub score: f32,
    /// Length of the longest matching n-gram.
    pub order: u8,
    /// Whether the word is unknown to the model.
    pub is_unknown: bool,
}

/// The total score of one or more sentences.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SentenceScore {
    /// Natural logarithm of the probability of all tokens.
    pub score: f64,
    /// The same without unknown words.
    pub known_score: f64,
    /// Number of scored tokens, `</s>` included.
    pub tokens: u64,
    /// Number of unknown words.
    pub unknown: u64,
}

impl SentenceScore {
    /// Add the score of another text.
    pub fn add(&mut self, other: &Self) {
        self.score += other.score;
        self.known_score += other.known_score;
        self.tokens += other.tokens;
        self.unknown += other.unknown;
    }
}

impl Model {
    /// Score the words of a sentence one by one. `bos`: start with the state after `<s>`; `eos`:
    /// score `</s>` at the end.
    pub fn score_words(
        &self,
        words: impl Iterator<Item = WordId>,
        (bos, eos): (bool, bool),
        mut each: impl FnMut(WordScore),
    ) {
        let mut state = if bos { self.bos_state() } else { NgramState::EMPTY };
        let mut next = NgramState::EMPTY;
        let mut words = words.chain(eos.then_some(EOS));
        // The words of the current batch, after the history of its first words.
        let mut window = [BOS; HISTORY + PREFETCH_BATCH];
        let mut known = usize::from(bos);
        loop {
            let mut end = known;
            for word in words.by_ref().take(PREFETCH_BATCH) {
                window[end] = word;
                end += 1;
            }
            if end == known {
                return;
            }
            let prefetched = (known..end)
                .fold(0, |sum, at| sum ^ self.prefetch(window[at], window[..at].iter().rev()));
            std::hint::black_box(prefetched);
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

    /// Score a line of whitespace-separated words.
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
