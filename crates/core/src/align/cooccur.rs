//! Finds which words occur together, and how often by chance they would be linked.
//!
//! In: a bitext. Out: a `Lexicon` with a pair for every two words of one sentence pair.
//! How: row by row through an index from source words to sentences. The weights are the expected
//! counts of the first
//! pass of IBM Model 1 (Brown et al., 1993), where all links of a sentence pair are equally likely.
//! Cost: one addition per cell of the sentence pairs, into an array that fits the cache; memory for
//! the pairs alone.
//! Not: sentence pairs with a blank side or one over `MAX_WORDS` words.

use super::lexicon::{Entry, Lexicon};
use super::numbered::Numbered;
use crate::error::Result;
use crate::job::Job;
use crate::narrow::to_u32;

/// Source words between two checks for a cancel.
const CHECK_EVERY: usize = 64;

/// Builds the lexicon of all words that occur together, of `src_len` source and `tgt_len` target
/// words.
pub fn cooccurrences(
    text: &Numbered<'_>,
    (src_len, tgt_len): (usize, usize),
    job: &Job,
) -> Result<Lexicon> {
    let index = SentenceIndex::new(text, src_len);
    let mut sums = Sums { weight: vec![0.0; tgt_len], touched: Vec::new() };
    let mut lexicon = Lexicon::new();
    for src in 0..src_len {
        if src % CHECK_EVERY == 0 {
            job.check()?;
        }
        for &sentence in index.sentences(src) {
            sums.add_sentence(text, sentence as usize);
        }
        lexicon.push_row(sums.drain())?;
    }
    Ok(lexicon)
}

/// For each source word, the sentences it occurs in, once per occurrence.
struct SentenceIndex {
    start: Vec<usize>,
    sentences: Vec<u32>,
}

impl SentenceIndex {
    fn new(text: &Numbered<'_>, src_len: usize) -> Self {
        let mut start = vec![0usize; src_len + 2];
        visit_words(text, |word, _| start[word as usize + 2] += 1);
        for word in 2..start.len() {
            start[word] += start[word - 1];
        }
        // start[word + 1] is now where the word begins, and after filling where it ends
        let mut sentences = vec![0u32; start[src_len + 1]];
        visit_words(text, |word, sentence| {
            let slot = &mut start[word as usize + 1];
            sentences[*slot] = to_u32(sentence);
            *slot += 1;
        });
        SentenceIndex { start, sentences }
    }

    fn sentences(&self, word: usize) -> &[u32] {
        &self.sentences[self.start[word]..self.start[word + 1]]
    }
}

fn visit_words(text: &Numbered<'_>, mut visit: impl FnMut(u32, usize)) {
    for k in 0..text.len() {
        if text.has_links(k) {
            for &id in text.src.sentence(k) {
                visit(text.src_numbers.number(id), k);
            }
        }
    }
}

/// Sums for one source word, by target word; `touched` are those above 0.
struct Sums {
    weight: Vec<f32>,
    touched: Vec<u32>,
}

impl Sums {
    fn add_sentence(&mut self, text: &Numbered<'_>, k: usize) {
        let (src_len, tgt_ids) = (text.src.sentence(k).len(), text.tgt.sentence(k));
        // both directions choose among the other side's words and NULL; agreement is their
        // geometric mean
        let share = 1.0 / ((src_len + 1) as f32 * (tgt_ids.len() + 1) as f32).sqrt();
        for &id in tgt_ids {
            let number = text.tgt_numbers.number(id);
            let weight = &mut self.weight[number as usize];
            if *weight == 0.0 {
                self.touched.push(number);
            }
            *weight += share;
        }
    }

    fn drain(&mut self) -> impl ExactSizeIterator<Item = Entry> + '_ {
        self.touched
            .drain(..)
            .map(|tgt| Entry { tgt, weight: std::mem::take(&mut self.weight[tgt as usize]) })
    }
}
