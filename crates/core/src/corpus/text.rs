//! Many sentences as one flat array of word ids.
//!
//! Sentence `k` is `ids[offsets[k]..offsets[k + 1]]`, so that a corpus is two allocations
//! whatever its number of lines, and numpy can look at it without a copy.

use super::{Vocab, WordId};
use crate::narrow::to_usize;

/// One side of a bitext: sentences of word ids.
#[derive(Debug, Clone)]
pub struct Text {
    ids: Vec<WordId>,
    offsets: Vec<u64>,
}

impl Default for Text {
    fn default() -> Self {
        Text { ids: Vec::new(), offsets: vec![0] }
    }
}

impl Text {
    /// Number of sentences.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no sentence.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The words of one sentence; panics when there is no such sentence.
    pub fn sentence(&self, number: usize) -> &[WordId] {
        &self.ids[to_usize(self.offsets[number])..to_usize(self.offsets[number + 1])]
    }

    /// All sentences in order.
    pub fn sentences(&self) -> impl ExactSizeIterator<Item = &[WordId]> {
        (0..self.len()).map(|number| self.sentence(number))
    }

    /// All words of all sentences, one after the other.
    pub fn ids(&self) -> &[WordId] {
        &self.ids
    }

    /// Where each sentence starts in `ids`, and one more entry for the end.
    pub fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    /// Adds a sentence of whitespace-separated words.
    pub fn push_line(&mut self, line: &str, vocab: &mut Vocab) {
        self.ids.extend(line.split_whitespace().map(|word| vocab.intern(word)));
        self.offsets.push(self.ids.len() as u64);
    }

    /// Gives back the memory that growing left unused.
    pub fn shrink(&mut self) {
        self.ids.shrink_to_fit();
        self.offsets.shrink_to_fit();
    }
}
