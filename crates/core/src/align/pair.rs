//! One sentence pair as the models see it: its words in model numbers and the word pairs the
//! lexicon knows.
//!
//! In: vocabulary ids of two sentences. Out: `Cell`s, and dense emission probabilities per
//! direction.
//! How: one look-up per cell of the sentence pair; everything after works on what was found.
//! Cost: O(source words · target words) look-ups; the memory is reused from pair to pair.
//! Not: sentence pairs without links (`has_links`).

use super::lanes::{LANES, zeros};
use super::lexicon::{FLOOR, Lexicon};
use super::numbered::Numbered;
use super::shard::Words;
use super::words::UNKNOWN;
use crate::narrow::to_u16;

/// Probability of an unknown word given the same word on the other side: names and numbers stay
/// what they are.
const SAME_WORD: f32 = 0.1;

/// Which side a directional model generates; the positions of the other side are its states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Target words are generated, each from one source word.
    Target,
    /// Source words are generated, each from one target word.
    Source,
}

impl Direction {
    /// Both directions, in the order of arrays that hold something for each.
    pub const BOTH: [Direction; 2] = [Direction::Target, Direction::Source];
}

/// Two words of a sentence pair that the lexicon knows as a pair.
#[derive(Debug, Clone, Copy)]
pub struct Cell {
    /// Source position.
    pub src: u16,
    /// Target position.
    pub tgt: u16,
    /// Where the lexicon counts it.
    pub slot: u32,
    /// Its weight there.
    pub weight: f32,
}

/// A sentence pair; reuse one for many pairs.
#[derive(Debug, Default)]
pub struct Pair {
    /// The words by model number.
    pub words: Words,
    /// What the lexicon knows, by source position, then target position.
    pub cells: Vec<Cell>,
    /// Cells with the same word on both sides where the model does not know one of them.
    same: Vec<(usize, usize)>,
}

impl Pair {
    /// Takes up sentence pair `k`, for which `has_links` holds.
    pub fn load(&mut self, lexicon: &Lexicon, text: &Numbered<'_>, k: usize) {
        let (src_ids, tgt_ids) = (text.src.sentence(k), text.tgt.sentence(k));
        let Words { src, tgt } = &mut self.words;
        src.clear();
        src.extend(src_ids.iter().map(|&id| text.src_numbers.number(id)));
        tgt.clear();
        tgt.extend(tgt_ids.iter().map(|&id| text.tgt_numbers.number(id)));
        self.find_cells(lexicon);
        self.find_same(src_ids, tgt_ids);
    }

    /// Looks up the pairs of words that were put into `words`.
    pub fn find_cells(&mut self, lexicon: &Lexicon) {
        self.cells.clear();
        for (i, &src) in self.words.src.iter().enumerate() {
            let row = lexicon.row(src);
            for (j, &tgt) in self.words.tgt.iter().enumerate() {
                if let Some((slot, weight)) = row.find(tgt).filter(|&(_, weight)| weight > 0.0) {
                    self.cells.push(Cell { src: to_u16(i), tgt: to_u16(j), slot, weight });
                }
            }
        }
    }

    fn find_same(&mut self, src_ids: &[u32], tgt_ids: &[u32]) {
        self.same.clear();
        if !self.words.src.contains(&UNKNOWN) && !self.words.tgt.contains(&UNKNOWN) {
            return;
        }
        for (i, src_id) in src_ids.iter().enumerate() {
            for (j, tgt_id) in tgt_ids.iter().enumerate() {
                if src_id == tgt_id
                    && (self.words.src[i] == UNKNOWN || self.words.tgt[j] == UNKNOWN)
                {
                    self.same.push((i, j));
                }
            }
        }
    }

    /// Numbers of generated words and of states in a direction.
    pub fn shape(&self, direction: Direction) -> (usize, usize) {
        match direction {
            Direction::Target => (self.words.tgt.len(), self.words.src.len()),
            Direction::Source => (self.words.src.len(), self.words.tgt.len()),
        }
    }

    /// Writes the emission probabilities of a direction.
    pub fn emissions(&self, lexicon: &Lexicon, direction: Direction, out: &mut Emissions) {
        let (words, states) = self.shape(direction);
        out.real.reset(words, states);
        (0..words).for_each(|word| out.real.row_mut(word).fill(FLOOR));
        out.null.clear();
        let (generated, scales) = match direction {
            Direction::Target => (&self.words.tgt, &lexicon.tgt.null),
            Direction::Source => (&self.words.src, &lexicon.src.null),
        };
        out.null.extend(
            generated.iter().map(|&word| scales.get(word as usize).copied().unwrap_or(FLOOR)),
        );
        self.fill_real(lexicon, direction, &mut out.real);
    }

    fn fill_real(&self, lexicon: &Lexicon, direction: Direction, real: &mut Rows) {
        let at = |src: usize, tgt: usize| match direction {
            Direction::Target => (tgt, src),
            Direction::Source => (src, tgt),
        };
        for cell in &self.cells {
            let (src, tgt) = (usize::from(cell.src), usize::from(cell.tgt));
            let scale = match direction {
                Direction::Target => lexicon.src.given[self.words.src[src] as usize],
                Direction::Source => lexicon.tgt.given[self.words.tgt[tgt] as usize],
            };
            let (word, state) = at(src, tgt);
            real.row_mut(word)[state] = (cell.weight * scale).max(FLOOR);
        }
        for &(src, tgt) in &self.same {
            let (word, state) = at(src, tgt);
            real.row_mut(word)[state] = SAME_WORD;
        }
    }
}

/// Numbers by generated word, then state; rows are padded with zeros to a multiple of `LANES`.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Rows {
    states: usize,
    stride: usize,
    values: Vec<f32>,
}

impl Rows {
    /// Makes room for `words` words and `states` states, all 0.
    pub fn reset(&mut self, words: usize, states: usize) {
        self.states = states;
        self.stride = states.next_multiple_of(LANES);
        zeros(&mut self.values, words * self.stride);
    }

    /// Number of states.
    pub fn len(&self) -> usize {
        self.states
    }

    /// The numbers of one word, by state.
    #[inline]
    pub fn row(&self, word: usize) -> &[f32] {
        &self.padded(word)[..self.states]
    }

    /// The same, to be changed.
    #[inline]
    pub fn row_mut(&mut self, word: usize) -> &mut [f32] {
        let states = self.states;
        &mut self.padded_mut(word)[..states]
    }

    /// The numbers of one word with the zeros behind them.
    #[inline]
    pub fn padded(&self, word: usize) -> &[f32] {
        &self.values[word * self.stride..][..self.stride]
    }

    /// The same, to be changed; zeros must stay.
    #[inline]
    pub fn padded_mut(&mut self, word: usize) -> &mut [f32] {
        &mut self.values[word * self.stride..][..self.stride]
    }
}

/// Probability of each generated word given each state, word by word, and given NULL.
#[derive(Debug, Default)]
pub struct Emissions {
    /// By word, then state.
    pub real: Rows,
    /// By word.
    pub null: Vec<f32>,
}

impl Emissions {
    /// Number of generated words.
    pub fn words(&self) -> usize {
        self.null.len()
    }
}

/// Probability that each generated word comes from each state, given the sentence pair.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Posteriors {
    /// By word, then state.
    pub real: Rows,
    /// By word: that it comes from NULL.
    pub null: Vec<f32>,
}

impl Posteriors {
    /// Makes room for `words` words and `states` states, all 0.
    pub fn reset(&mut self, words: usize, states: usize) {
        self.real.reset(words, states);
        zeros(&mut self.null, words);
    }

    /// The posteriors of one word, by state.
    #[inline]
    pub fn of_word(&self, word: usize) -> &[f32] {
        self.real.row(word)
    }
}
