//! A sentence as hashes, ready for the templates.
//!
//! In: an annotated sentence, as text or out of a corpus. Out: the hash at any position of a layer
//! with both ends of the sentence filled up, and of the list between any two positions.
//! How: lists are differences of running sums, so that a list costs what a word does.
//! Positions count from 1 here; before them everything is `<s>`, after them `</s>`.
//! Cost: one hash a word and layer; the memory is reused.

use crate::corpus::annotated::{AnnotatedText, END, Layer, START, Sentence, hash_of};
use crate::narrow::{to_i64, to_isize, to_u32, to_usize};

/// Layers that can be looked at as lists.
const LISTS: usize = 2;
/// What each further word of a list multiplies the ones before it by.
const STEP: u64 = 0xa076_1d64_78bd_642f;

/// The hash of a list of hashes; that of a single one is itself.
pub fn list_of(words: impl Iterator<Item = u64>) -> u64 {
    words.fold(0, |sum: u64, word| sum.wrapping_mul(STEP).wrapping_add(word))
}

/// A sentence as hashes; the memory is reused.
#[derive(Debug, Default)]
pub struct Prepared {
    length: usize,
    /// Layer after layer; a layer has two places before the sentence and two after it.
    cells: Vec<u64>,
    /// For words and tags, hashes of all beginnings of the sentence.
    sums: Vec<u64>,
    /// Powers of `STEP`.
    powers: Vec<u64>,
    /// For words and tags, by position: where the same stood last, or 0.
    before: Vec<u32>,
    /// Where it stands next, or a place behind the sentence.
    after: Vec<u32>,
    groups: Vec<u32>,
}

impl Prepared {
    /// Takes up a sentence of text.
    pub fn fill_from(&mut self, src: &Sentence<'_>) {
        self.begin(src.len(), src.groups());
        for layer in Layer::ALL {
            let texts = (1..=to_i64(src.len())).map(|at| src.at(layer, at));
            self.push_layer(src.annotation().has(layer).then(|| texts.map(hash_of)));
        }
        self.finish();
    }

    /// Takes up a sentence of a corpus.
    pub fn fill_from_text(&mut self, text: &AnnotatedText, number: usize) {
        self.begin(text.range(number).len(), text.groups(number));
        for layer in Layer::ALL {
            self.push_layer(text.annotation().has(layer).then(|| text.hashes(number, layer)));
        }
        self.finish();
    }

    /// Forgets the last sentence. `groups` is empty without chunks.
    fn begin(&mut self, length: usize, groups: &[u32]) {
        self.length = length;
        self.cells.clear();
        self.sums.clear();
        self.before.clear();
        self.after.clear();
        self.groups.clear();
        self.groups.extend_from_slice(groups);
    }

    /// Takes up the hashes of the next layer, when the sentence has it.
    fn push_layer(&mut self, hashes: Option<impl Iterator<Item = u64>>) {
        self.cells.extend([hash_of(START); 3]);
        match hashes {
            Some(hashes) => self.cells.extend(hashes),
            None => self.cells.resize(self.cells.len() + self.length, 0),
        }
        self.cells.push(hash_of(END));
    }

    /// Works out what lists are made of, once all layers are there.
    fn finish(&mut self) {
        for layer in 0..LISTS {
            self.find_repeats(layer);
        }
        while self.powers.len() <= self.length {
            self.powers.push(self.powers.last().map_or(1, |power| power.wrapping_mul(STEP)));
        }
    }

    /// Running sums, and where the same stood before.
    fn find_repeats(&mut self, layer: usize) {
        let cells = &self.cells[layer * self.stride() + 3..][..self.length];
        let mut sum = 0_u64;
        self.sums.push(sum);
        let first = self.after.len();
        self.after.resize(first + self.length, u32::MAX);
        for (at, &cell) in cells.iter().enumerate() {
            sum = sum.wrapping_mul(STEP).wrapping_add(cell);
            self.sums.push(sum);
            // Sentences are short, and the word before is most often not far.
            let last = cells[..at].iter().rposition(|&other| other == cell);
            self.before.push(last.map_or(0, |last| to_u32(last) + 1));
            if let Some(last) = last {
                self.after[first + last] = to_u32(at) + 1;
            }
        }
    }

    fn stride(&self) -> usize {
        self.length + 4
    }

    /// Number of words.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there is no word.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// What stands so far from a position, from -2 to 1.
    #[inline]
    pub fn at(&self, layer: Layer, position: u32, offset: i8) -> u64 {
        let place = to_isize(layer as usize * self.stride() + position as usize + 2);
        self.cells[to_usize(place + isize::from(offset))]
    }

    /// The list of what stands between two positions.
    #[inline]
    pub fn list(&self, layer: Layer, low: usize, high: usize) -> u64 {
        let sums = &self.sums[layer as usize * (self.length + 1)..][..=self.length];
        sums[high - 1].wrapping_sub(sums[low].wrapping_mul(self.powers[high - 1 - low]))
    }

    /// Whether what stands at a position does not stand between it and `low` as well.
    #[inline]
    pub fn is_first(&self, layer: Layer, position: usize, low: usize) -> bool {
        self.before[layer as usize * self.length + position - 1] as usize <= low
    }

    /// Whether what stands at a position does not stand between it and `high` as well.
    #[inline]
    pub fn is_last(&self, layer: Layer, position: usize, high: usize) -> bool {
        self.after[layer as usize * self.length + position - 1] as usize >= high
    }

    /// Whether two positions are in one chunk.
    #[inline]
    pub fn same_chunk(&self, from: u32, to: u32) -> bool {
        from > 0 && self.groups[from as usize - 1] == self.groups[to as usize - 1]
    }
}
