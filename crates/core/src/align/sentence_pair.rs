//! A sentence pair for the models: its word numbers and its lexicon entries.
//!
//! In: vocabulary ids of two sentences. Out: the weights of all cells, and emission probabilities
//! per direction.
//! How: one lookup per cell of the sentence pair; all later steps use the results.
//! Cost: O(source words · target words) lookups; buffers are reused.
//! Not: sentence pairs without possible links (`is_alignable`).

use super::lane_ops::{LANES, fill_zeros};
use super::lexicon::{FLOOR, FREE_ENTRY, LexiconEntry, TranslationLexicon};
use super::text_shard::PairWords;
use super::word_numbering::NumberedBitext;
use super::word_numbering::UNKNOWN;
use crate::narrow::to_u32;

/// Probability of an unknown word given the same word on the other side, such as names and numbers.
const IDENTICAL_WORD_PROB: f32 = 0.1;

/// The side that a directional model generates; positions of the other side are its states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelDirection {
    /// Target words are generated, each by one source word.
    Target,
    /// Source words are generated, each by one target word.
    Source,
}

impl ModelDirection {
    /// Both directions, in the order of all arrays by direction.
    pub const BOTH: [ModelDirection; 2] = [ModelDirection::Target, ModelDirection::Source];
}

/// A sentence pair with its lexicon entries; reusable for many pairs.
#[derive(Debug, Default)]
pub struct SentencePair {
    /// Word numbers.
    pub words: PairWords,
    /// Weights by source and target position; 0 without a lexicon entry.
    pub weights: PaddedMatrix,
    /// Lexicon slots, in the layout of `weights`.
    slots: Vec<u32>,
    /// Entries of the home slots, and the cells of a row whose probe continues.
    homes: Vec<LexiconEntry>,
    missed: Vec<u32>,
    /// Cells with identical words of which the model knows at most one.
    identical: Vec<(usize, usize)>,
}

impl SentencePair {
    /// Load sentence pair `k`, which must be alignable.
    pub fn load(&mut self, lexicon: &TranslationLexicon, text: &NumberedBitext<'_>, k: usize) {
        let (src_ids, tgt_ids) = (text.src.sentence(k), text.tgt.sentence(k));
        let PairWords { src, tgt } = &mut self.words;
        src.clear();
        src.extend(src_ids.iter().map(|&id| text.src_numbers.number(id)));
        tgt.clear();
        tgt.extend(tgt_ids.iter().map(|&id| text.tgt_numbers.number(id)));
        self.look_up_cells(lexicon);
        self.find_identical(src_ids, tgt_ids);
    }

    /// Look up all word pairs of `words`.
    pub fn look_up_cells(&mut self, lexicon: &TranslationLexicon) {
        let SentencePair { words: PairWords { src, tgt }, weights, slots, homes, missed, .. } =
            self;
        weights.reset(src.len(), tgt.len());
        let stride = weights.stride();
        slots.resize(src.len() * stride, 0);
        homes.resize(src.len() * stride, FREE_ENTRY);
        missed.resize(tgt.len() + 1, 0);
        // Start all probes before continuing any, so that memory accesses overlap.
        for (place, &src) in src.iter().enumerate() {
            let row = lexicon.row(src);
            let places = place * stride..place * stride + tgt.len();
            row.probe_home(tgt, &mut slots[places.clone()], &mut homes[places]);
        }
        for (place, &src) in src.iter().enumerate() {
            let places = place * stride..place * stride + tgt.len();
            let (homes, slots) = (&homes[places.clone()], &mut slots[places]);
            let weights = weights.row_mut(place);
            let mut misses = 0;
            for (number, ((home_slot, &tgt), weight)) in
                homes.iter().zip(&*tgt).zip(&mut *weights).enumerate()
            {
                *weight = if home_slot.tgt == tgt { home_slot.weight } else { 0.0 };
                missed[misses] = to_u32(number);
                misses += usize::from(home_slot.tgt != tgt && !home_slot.is_free());
            }
            let row = lexicon.row(src);
            for &number in &missed[..misses] {
                let number = number as usize;
                (slots[number], weights[number]) = row.continue_probe(tgt[number], slots[number]);
            }
        }
    }

    /// Return the lexicon slots of a source position, by target position.
    pub fn slots(&self, src: usize) -> &[u32] {
        &self.slots[src * self.weights.stride()..][..self.words.tgt.len()]
    }

    fn find_identical(&mut self, src_ids: &[u32], tgt_ids: &[u32]) {
        self.identical.clear();
        if !self.words.src.contains(&UNKNOWN) && !self.words.tgt.contains(&UNKNOWN) {
            return;
        }
        for (i, src_id) in src_ids.iter().enumerate() {
            for (j, tgt_id) in tgt_ids.iter().enumerate() {
                if src_id == tgt_id
                    && (self.words.src[i] == UNKNOWN || self.words.tgt[j] == UNKNOWN)
                {
                    self.identical.push((i, j));
                }
            }
        }
    }

    /// Return the numbers of generated words and of states in a direction.
    pub fn shape(&self, direction: ModelDirection) -> (usize, usize) {
        match direction {
            ModelDirection::Target => (self.words.tgt.len(), self.words.src.len()),
            ModelDirection::Source => (self.words.src.len(), self.words.tgt.len()),
        }
    }

    /// Compute the emission probabilities of a direction.
    pub fn fill_emissions(
        &self,
        lexicon: &TranslationLexicon,
        direction: ModelDirection,
        out: &mut EmissionProbs,
    ) {
        let (words, states) = self.shape(direction);
        out.real.reset(words, states);
        match direction {
            ModelDirection::Target => {
                gather(&mut out.null, &self.words.tgt, &lexicon.tgt.null, FLOOR);
                gather(&mut out.scales, &self.words.src, &lexicon.src.given, 0.0);
                for (src, &scale) in out.scales.iter().enumerate() {
                    for (tgt, &weight) in self.weights.row(src).iter().enumerate() {
                        out.real.row_mut(tgt)[src] = (weight * scale).max(FLOOR);
                    }
                }
            }
            ModelDirection::Source => {
                gather(&mut out.null, &self.words.src, &lexicon.src.null, FLOOR);
                gather(&mut out.scales, &self.words.tgt, &lexicon.tgt.given, 0.0);
                for src in 0..words {
                    let cells = self.weights.row(src).iter().zip(&out.scales);
                    for (prob, (weight, scale)) in out.real.row_mut(src).iter_mut().zip(cells) {
                        *prob = (weight * scale).max(FLOOR);
                    }
                }
            }
        }
        for &(src, tgt) in &self.identical {
            match direction {
                ModelDirection::Target => out.real.row_mut(tgt)[src] = IDENTICAL_WORD_PROB,
                ModelDirection::Source => out.real.row_mut(src)[tgt] = IDENTICAL_WORD_PROB,
            }
        }
    }
}

/// Collect the values of words from a list, `unknown` for words beyond its end.
pub fn gather(out: &mut Vec<f32>, words: &[u32], list: &[f32], unknown: f32) {
    out.clear();
    out.extend(words.iter().map(|&word| list.get(word as usize).copied().unwrap_or(unknown)));
}

/// A matrix by generated word and state; rows are padded with zeros to a multiple of `LANES`.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct PaddedMatrix {
    states: usize,
    stride: usize,
    values: Vec<f32>,
}

impl PaddedMatrix {
    /// Resize to `words` times `states` zeros.
    pub fn reset(&mut self, words: usize, states: usize) {
        self.states = states;
        self.stride = states.next_multiple_of(LANES);
        fill_zeros(&mut self.values, words * self.stride);
    }

    /// Return the number of states.
    pub fn len(&self) -> usize {
        self.states
    }

    /// Return the length of a padded row.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Return the row of a word, by state.
    #[inline]
    pub fn row(&self, word: usize) -> &[f32] {
        &self.padded(word)[..self.states]
    }

    /// Return the mutable row of a word.
    #[inline]
    pub fn row_mut(&mut self, word: usize) -> &mut [f32] {
        let states = self.states;
        &mut self.padded_mut(word)[..states]
    }

    /// Return the padded row of a word.
    #[inline]
    pub fn padded(&self, word: usize) -> &[f32] {
        &self.values[word * self.stride..][..self.stride]
    }

    /// Return the mutable padded row of a word; the padding must stay 0.
    #[inline]
    pub fn padded_mut(&mut self, word: usize) -> &mut [f32] {
        &mut self.values[word * self.stride..][..self.stride]
    }
}

/// Probability of each generated word given each state and given NULL.
#[derive(Debug, Default)]
pub struct EmissionProbs {
    /// By word, then state.
    pub real: PaddedMatrix,
    /// By word.
    pub null: Vec<f32>,
    /// Factors from weights to probabilities, by state; scratch memory.
    scales: Vec<f32>,
}

impl EmissionProbs {
    /// Create emissions from these values.
    #[cfg(test)]
    pub fn new(real: PaddedMatrix, null: Vec<f32>) -> Self {
        EmissionProbs { real, null, scales: Vec::new() }
    }

    /// Return the number of generated words.
    pub fn words(&self) -> usize {
        self.null.len()
    }
}

/// Posterior probability that each generated word comes from each state.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct LinkPosteriors {
    /// By word, then state.
    pub real: PaddedMatrix,
    /// Posterior of NULL, by word.
    pub null: Vec<f32>,
}

impl LinkPosteriors {
    /// Resize to `words` times `states` zeros.
    pub fn reset(&mut self, words: usize, states: usize) {
        self.real.reset(words, states);
        fill_zeros(&mut self.null, words);
    }

    /// Return the posteriors of a word, by state.
    #[inline]
    pub fn of_word(&self, word: usize) -> &[f32] {
        self.real.row(word)
    }
}
