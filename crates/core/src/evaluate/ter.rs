//! Edits and shifts of blocks that turn a translation into its reference: the counts of TER.
//!
//! In: the words of both as numbers. Out: the least edits that a greedy search finds (Snover et
//! al., 2006), the same number as sacrebleu's, whose search is that of Tercom.
//! How: blocks of words that stand elsewhere in the reference are shifted there, each time the one
//! that saves most edits, until none saves any; then words are inserted, deleted and substituted.
//! The edit distance looks only at cells near the diagonal. A shifted translation shares the rows
//! of the table up to the first word that moved, so only the rest is worked out.
//! Cost: for each candidate shift a part of the table, at most 50 cells a row; memory is kept.

use crate::narrow::{to_u32, to_usize, whole};

/// The longest block that is shifted, and how far apart its places may be.
const LONGEST: usize = 10;
const FURTHEST: usize = 50;
/// Cells to each side of the diagonal.
const BEAM: usize = 25;
/// Shifts that are tried for a sentence.
const MOST_TRIES: usize = 1000;
/// More edits than any sentence has.
const FAR: u32 = 1 << 30;

/// How a cell of the table is reached; of equal costs the first here wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// The same word, or another one in its place.
    Match,
    /// A word of the translation is deleted.
    Delete,
    /// A word of the reference is inserted.
    Insert,
}

/// Which words of the translation stand for which of the reference, and which are wrong.
#[derive(Debug, Default)]
struct Alignment {
    /// For each reference word one more than the place of the word it stands at, 0: before all.
    places: Vec<usize>,
    reference_errors: Vec<bool>,
    errors: Vec<bool>,
}

/// A shift, and what it is chosen by: edits saved, then length, then the earliest places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Shift {
    saved: i64,
    length: usize,
    start: std::cmp::Reverse<usize>,
    target: std::cmp::Reverse<usize>,
}

/// Counts edits; its memory is used again for every sentence.
#[derive(Debug, Default)]
pub struct Edits {
    words: Vec<u32>,
    shifted: Vec<u32>,
    /// Costs row by row, a row for each number of words of the translation.
    table: Vec<u32>,
    /// The rows of a shifted translation from the first that differs.
    rows: Vec<u32>,
    steps: Vec<Step>,
    alignment: Alignment,
}

impl Edits {
    /// The edits, shifts among them.
    pub fn count(&mut self, words: &[u32], reference: &[u32]) -> u32 {
        if reference.is_empty() {
            return to_u32(words.len());
        }
        self.words.clear();
        self.words.extend_from_slice(words);
        let (mut shifts, mut tries) = (0, 0);
        loop {
            self.fill(reference);
            let best = self.best_shift(reference, &mut tries);
            let Some(shift) = best.filter(|shift| shift.saved > 0 && tries < MOST_TRIES) else {
                break;
            };
            shifts += 1;
            self.shift(shift.start.0, shift.length, shift.target.0);
            std::mem::swap(&mut self.words, &mut self.shifted);
        }
        shifts + self.table[self.table.len() - 1]
    }

    /// Works out the whole table of the words as they stand.
    fn fill(&mut self, reference: &[u32]) {
        let (width, count) = (reference.len() + 1, self.words.len());
        self.table.clear();
        self.table.resize(width * (count + 1), FAR);
        (0..width).for_each(|at| self.table[at] = to_u32(at));
        let band = Band::new(count, reference.len());
        for row in 1..=count {
            let (above, here) = self.table[(row - 1) * width..].split_at_mut(width);
            band.fill(row, self.words[row - 1], reference, above, &mut here[..width]);
        }
    }

    /// The edit distance of the shifted words, which agree with the others before `first`.
    fn shifted_cost(&mut self, reference: &[u32], first: usize) -> u32 {
        let (width, count) = (reference.len() + 1, self.words.len());
        let band = Band::new(count, reference.len());
        self.rows.clear();
        self.rows.extend_from_slice(&self.table[first * width..][..width]);
        self.rows.resize(2 * width, FAR);
        for row in first + 1..=count {
            let (one, other) = self.rows.split_at_mut(width);
            let odd = (row - first) % 2 == 1;
            let (above, here) = if odd { (&*one, other) } else { (&*other, one) };
            here.fill(FAR);
            band.fill(row, self.shifted[row - 1], reference, above, here);
        }
        let last = if (count - first).is_multiple_of(2) { width } else { 2 * width };
        self.rows[last - 1]
    }

    /// The best shift of a block, whatever it saves; counts what was tried.
    fn best_shift(&mut self, reference: &[u32], tries: &mut usize) -> Option<Shift> {
        self.align(reference);
        let before = i64::from(self.table[self.table.len() - 1]);
        let mut best: Option<Shift> = None;
        for start in 0..self.words.len() {
            for place in 0..reference.len() {
                if place.abs_diff(start) > FURTHEST {
                    continue;
                }
                let rest = self.words[start..].iter().zip(&reference[place..]);
                let alike = rest.take(LONGEST).take_while(|(word, other)| word == other).count();
                for length in 1..=alike {
                    self.try_targets(reference, (start, place, length), before, tries, &mut best);
                    if *tries >= MOST_TRIES {
                        return best;
                    }
                }
            }
        }
        best
    }

    /// Tries to shift a block to all places around that of the same words in the reference.
    fn try_targets(
        &mut self,
        reference: &[u32],
        (start, place, length): (usize, usize, usize),
        before: i64,
        tries: &mut usize,
        best: &mut Option<Shift>,
    ) {
        let Alignment { places, reference_errors, errors } = &self.alignment;
        let is_right = |errors: &[bool], from: usize| !errors[from..from + length].contains(&true);
        if is_right(errors, start) || is_right(reference_errors, place) {
            return;
        }
        if (start + 1..=start + length).contains(&places[place]) {
            return;
        }
        let mut last = None;
        for at in place..=place + length {
            let target = match at.checked_sub(1) {
                None => 0,
                Some(at) if at < reference.len() => self.alignment.places[at],
                Some(_) => break,
            };
            if last.replace(target) == Some(target) {
                continue;
            }
            self.shift(start, length, target);
            let saved = before - i64::from(self.shifted_cost(reference, start.min(target)));
            let shift = Shift {
                saved,
                length,
                start: std::cmp::Reverse(start),
                target: std::cmp::Reverse(target),
            };
            *tries += 1;
            if best.is_none_or(|known| shift > known) {
                *best = Some(shift);
            }
        }
    }

    /// Writes the words with a block moved to `shifted`.
    fn shift(&mut self, start: usize, length: usize, target: usize) {
        let (words, end) = (&self.words, start + length);
        let block = &words[start..end];
        // A target within the block means so many places further.
        let after = if target > end { target } else { (target + length).min(words.len()) };
        self.shifted.clear();
        if target < start {
            self.shifted.extend_from_slice(&words[..target]);
            self.shifted.extend_from_slice(block);
            self.shifted.extend_from_slice(&words[target..start]);
            self.shifted.extend_from_slice(&words[end..]);
        } else {
            self.shifted.extend_from_slice(&words[..start]);
            self.shifted.extend_from_slice(&words[end..after]);
            self.shifted.extend_from_slice(block);
            self.shifted.extend_from_slice(&words[after..]);
        }
    }

    /// Walks back through the table and notes what stands for what.
    fn align(&mut self, reference: &[u32]) {
        let width = reference.len() + 1;
        let (mut row, mut column) = (self.words.len(), reference.len());
        self.steps.clear();
        while row > 0 || column > 0 {
            let step = self.step(reference, row, column, width);
            row -= usize::from(step != Step::Insert);
            column -= usize::from(step != Step::Delete);
            self.steps.push(step);
        }
        let Alignment { places, reference_errors, errors } = &mut self.alignment;
        places.clear();
        reference_errors.clear();
        errors.clear();
        for step in self.steps.iter().rev() {
            let is_wrong = *step != Step::Match
                || self.words[errors.len()] != reference[reference_errors.len()];
            if *step != Step::Insert {
                errors.push(is_wrong);
            }
            if *step != Step::Delete {
                places.push(errors.len());
                reference_errors.push(is_wrong);
            }
        }
    }

    /// How a cell was reached.
    fn step(&self, reference: &[u32], row: usize, column: usize, width: usize) -> Step {
        let cost = |row: usize, column: usize| self.table[row * width + column];
        let here = cost(row, column);
        if row == 0 {
            return Step::Insert;
        }
        if column == 0 {
            return Step::Delete;
        }
        let other = u32::from(self.words[row - 1] != reference[column - 1]);
        if cost(row - 1, column - 1) + other == here {
            Step::Match
        } else if cost(row - 1, column) + 1 == here {
            Step::Delete
        } else {
            Step::Insert
        }
    }
}

/// The cells of a table that are worked out.
struct Band {
    count: usize,
    ratio: f64,
    beam: usize,
}

impl Band {
    fn new(count: usize, reference: usize) -> Self {
        let ratio = if count == 0 { 1.0 } else { reference as f64 / count as f64 };
        // Where one is very much longer, rows have to overlap nevertheless.
        let wide = ratio / 2.0 > BEAM as f64;
        let beam = if wide { to_usize(whole((ratio / 2.0 + BEAM as f64).ceil())) } else { BEAM };
        Band { count, ratio, beam }
    }

    /// Works out a row below another one; all its cells are far before.
    fn fill(&self, row: usize, word: u32, reference: &[u32], above: &[u32], here: &mut [u32]) {
        let diagonal = to_usize(whole((row as f64 * self.ratio).floor()));
        let first = diagonal.saturating_sub(self.beam);
        let end = match row == self.count {
            true => here.len(),
            false => here.len().min(diagonal + self.beam),
        };
        for column in first..end {
            here[column] = match column.checked_sub(1) {
                None => above[0] + 1,
                Some(before) => {
                    let other = u32::from(word != reference[before]);
                    let least = (above[before] + other).min(above[column] + 1);
                    least.min(here[before] + 1).min(FAR)
                }
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edits(words: &str, reference: &str) -> u32 {
        let numbers =
            |text: &str| text.split_whitespace().map(|w| w.as_bytes()[0].into()).collect();
        let (words, reference): (Vec<u32>, Vec<u32>) = (numbers(words), numbers(reference));
        Edits::default().count(&words, &reference)
    }

    #[test]
    fn edits_and_shifts_are_counted() {
        assert_eq!(edits("a b c", "a b c"), 0);
        assert_eq!(edits("a x c", "a b c"), 1);
        assert_eq!(edits("a c", "a b c"), 1);
        // One shift instead of two deletions and two insertions.
        assert_eq!(edits("c d a b e", "a b c d e"), 1);
        assert_eq!(edits("", "a b"), 2);
        assert_eq!(edits("a b", ""), 2);
        assert_eq!(edits("", ""), 0);
    }
}
