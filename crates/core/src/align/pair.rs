//! One sentence pair as the models see it: its words in model numbers and the word pairs the
//! lexicon knows.
//!
//! In: vocabulary ids of two sentences. Out: the weights of all cells, and emission probabilities
//! per direction.
//! How: one look-up per cell of the sentence pair; everything after works on what was found.
//! Cost: O(source words · target words) look-ups; the memory is reused from pair to pair.
//! Not: sentence pairs without links (`has_links`).

use super::lanes::{LANES, zeros};
use super::lexicon::{Entry, FLOOR, FREE, Lexicon};
use super::numbered::Numbered;
use super::shard::Words;
use super::words::UNKNOWN;
use crate::narrow::to_u32;

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

/// A sentence pair; reuse one for many pairs.
#[derive(Debug, Default)]
pub struct Pair {
    /// The words by model number.
    pub words: Words,
    /// By source position, then target position: the weight of the two words, 0 where the lexicon
    /// does not know them as a pair.
    pub weights: Rows,
    /// The same for where the lexicon counts them; rows are as long as those of `weights`.
    slots: Vec<u32>,
    /// Of a row: what the lexicon has where a search begins, and where searches go on.
    homes: Vec<Entry>,
    missed: Vec<u32>,
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
        let Pair { words: Words { src, tgt }, weights, slots, homes, missed, .. } = self;
        weights.reset(src.len(), tgt.len());
        let stride = weights.stride();
        slots.resize(src.len() * stride, 0);
        homes.resize(src.len() * stride, FREE);
        missed.resize(tgt.len() + 1, 0);
        // All searches begin before one goes on, so that they wait for memory together.
        for (place, &src) in src.iter().enumerate() {
            let row = lexicon.row(src);
            let places = place * stride..place * stride + tgt.len();
            row.begin(tgt, &mut slots[places.clone()], &mut homes[places]);
        }
        for (place, &src) in src.iter().enumerate() {
            let places = place * stride..place * stride + tgt.len();
            let (homes, slots) = (&homes[places.clone()], &mut slots[places]);
            let weights = weights.row_mut(place);
            let mut misses = 0;
            for (number, ((home, &tgt), weight)) in
                homes.iter().zip(&*tgt).zip(&mut *weights).enumerate()
            {
                *weight = if home.tgt == tgt { home.weight } else { 0.0 };
                missed[misses] = to_u32(number);
                misses += usize::from(home.tgt != tgt && !home.is_free());
            }
            let row = lexicon.row(src);
            for &number in &missed[..misses] {
                let number = number as usize;
                (slots[number], weights[number]) = row.go_on(tgt[number], slots[number]);
            }
        }
    }

    /// Where the lexicon counts the cells of a source word, by target position.
    pub fn slots(&self, src: usize) -> &[u32] {
        &self.slots[src * self.weights.stride()..][..self.words.tgt.len()]
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
        match direction {
            Direction::Target => {
                fill(&mut out.null, &self.words.tgt, &lexicon.tgt.null, FLOOR);
                fill(&mut out.scales, &self.words.src, &lexicon.src.given, 0.0);
                for (src, &scale) in out.scales.iter().enumerate() {
                    for (tgt, &weight) in self.weights.row(src).iter().enumerate() {
                        out.real.row_mut(tgt)[src] = (weight * scale).max(FLOOR);
                    }
                }
            }
            Direction::Source => {
                fill(&mut out.null, &self.words.src, &lexicon.src.null, FLOOR);
                fill(&mut out.scales, &self.words.tgt, &lexicon.tgt.given, 0.0);
                for src in 0..words {
                    let cells = self.weights.row(src).iter().zip(&out.scales);
                    for (prob, (weight, scale)) in out.real.row_mut(src).iter_mut().zip(cells) {
                        *prob = (weight * scale).max(FLOOR);
                    }
                }
            }
        }
        for &(src, tgt) in &self.same {
            match direction {
                Direction::Target => out.real.row_mut(tgt)[src] = SAME_WORD,
                Direction::Source => out.real.row_mut(src)[tgt] = SAME_WORD,
            }
        }
    }
}

/// What a list has for each of the words, `unknown` for words that it does not know.
pub fn fill(out: &mut Vec<f32>, words: &[u32], list: &[f32], unknown: f32) {
    out.clear();
    out.extend(words.iter().map(|&word| list.get(word as usize).copied().unwrap_or(unknown)));
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

    /// Length of a row with the zeros behind it.
    pub fn stride(&self) -> usize {
        self.stride
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
    /// By state: what turns weights into probabilities; scratch memory.
    scales: Vec<f32>,
}

impl Emissions {
    /// Those with these numbers.
    #[cfg(test)]
    pub fn new(real: Rows, null: Vec<f32>) -> Self {
        Emissions { real, null, scales: Vec::new() }
    }

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
