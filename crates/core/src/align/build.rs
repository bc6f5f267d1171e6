//! Builds the first lexicon from the words that occur together, within a limit.
//!
//! In: the rows of `cooccur`, the most pairs there is room for. Out: a `Lexicon`.
//! How: pairs are ranked by w² / (w_src · w_tgt), how much of what both words have by chance they
//! have with each other. Two words that always stand together have 1; two frequent words that met
//! by accident, or a rare word and an article, have next to nothing and make up most pairs of a
//! large text. When there are too many, the lowest rank rises until an eighth of the room is free
//! again, for the rows before as well.
//! Cost: 8 bytes a slot of the lexicon.
//! Not: anything that depends on the number of threads or parts; rows come in one order.

use super::cooccur::Chances;
use super::fixed::from_fixed;
use super::lexicon::{Entry, Lexicon, row_slots};
use crate::error::Result;
use crate::job::Job;
use crate::narrow::to_f32;

/// Ranks are the top bits of a positive f32, which sort as numbers do: 32 ranks for a factor of 2.
const RANK_SHIFT: u32 = 18;
const RANKS: usize = 1 << (32 - RANK_SHIFT);

/// A lexicon in the making.
pub struct Builder<'a> {
    lexicon: Lexicon,
    chances: &'a Chances,
    room: usize,
    /// Ranks below this are left out.
    lowest: usize,
    /// By rank: pairs seen, kept or not.
    seen: Vec<u64>,
    left_out: u64,
    entries: Vec<Entry>,
}

impl<'a> Builder<'a> {
    /// A lexicon that will keep up to `room` pairs.
    pub fn new(chances: &'a Chances, room: usize) -> Self {
        let (lexicon, seen) = (Lexicon::new(), vec![0; RANKS]);
        Builder { lexicon, chances, room, lowest: 0, seen, left_out: 0, entries: Vec::new() }
    }

    /// Adds the next source word with its target words, ascending, and their weights in fixed
    /// point.
    pub fn push_row(&mut self, row: &[(u32, u64)]) -> Result<()> {
        let src = self.lexicon.src_len();
        let mut entries = std::mem::take(&mut self.entries);
        for &(tgt, sum) in row {
            let entry = Entry { tgt, weight: to_f32(from_fixed(sum)) };
            let rank = rank(self.chances, src, &entry);
            self.seen[rank] += 1;
            if rank >= self.lowest {
                entries.push(entry);
            } else {
                self.left_out += 1;
            }
        }
        self.lexicon.push_row(&entries)?;
        entries.clear();
        self.entries = entries;
        if self.lexicon.pair_count() > self.room {
            self.make_room()?;
        }
        Ok(())
    }

    fn make_room(&mut self) -> Result<()> {
        let wanted = (self.room - self.room / 8) as u64;
        let mut kept = 0;
        let full = self.seen.iter().rposition(|&pairs| {
            kept += pairs;
            kept > wanted
        });
        self.lowest = full.map_or(0, |rank| rank + 1);
        let before = self.lexicon.pair_count();
        let (chances, lowest) = (self.chances, self.lowest);
        let is_kept = |src: usize, entry: &Entry| rank(chances, src, entry) >= lowest;
        // Rows give up all they can: room is counted in pairs, and slots are what takes memory.
        self.lexicon.retain(row_slots, is_kept, &Job::default())?;
        self.left_out += (before - self.lexicon.pair_count()) as u64;
        Ok(())
    }

    /// The lexicon with its first probabilities, and the number of pairs that found no room.
    pub fn finish(mut self, discount: f32) -> (Lexicon, u64) {
        let sums = |sums: &[u64]| sums.iter().map(|&sum| from_fixed(sum)).collect::<Vec<f64>>();
        self.lexicon.start(&sums(&self.chances.src), &sums(&self.chances.tgt), discount);
        (self.lexicon, self.left_out)
    }
}

fn rank(chances: &Chances, src: usize, entry: &Entry) -> usize {
    let by_chance = from_fixed(chances.src[src]) * from_fixed(chances.tgt[entry.tgt as usize]);
    let weight = f64::from(entry.weight);
    let share = to_f32(weight * weight / by_chance.max(f64::MIN_POSITIVE));
    (share.to_bits() >> RANK_SHIFT) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align::fixed::to_fixed;

    #[test]
    fn what_is_left_out_gives_up_its_slots() {
        let (words, room) = (400, 4_000);
        let sums = vec![to_fixed(100.0); words];
        let chances = Chances::from_sums(sums.clone(), sums);
        let mut builder = Builder::new(&chances, room);
        for src in 0..400u32 {
            // Every second pair has little, and is the first to go.
            let weight = |tgt: u32| if (src + tgt).is_multiple_of(2) { 0.01 } else { 1.0 };
            let row: Vec<_> = (0..40).map(|tgt| (tgt, to_fixed(weight(tgt)))).collect();
            builder.push_row(&row).unwrap();
            let pairs_and_free = room + room / 3 + words; // as the budget has it
            assert!(builder.lexicon.slot_count() <= pairs_and_free, "{src}");
        }
        assert!(builder.left_out > 0);
    }
}
