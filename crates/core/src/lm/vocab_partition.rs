//! A partition of the vocabulary into ranges of word ids, one per thread.
//!
//! In: word frequencies. Out: consecutive ranges with about equal numbers of occurrences. A range
//! owns the n-grams whose newest word is in it. In suffix order these are adjacent, and so are
//! their suffixes, so threads are independent.

use crate::corpus::WordId;

/// Consecutive ranges of word ids.
#[derive(Debug, Clone)]
pub struct VocabPartition {
    /// First word of each range except the first.
    bounds: Vec<WordId>,
}

impl VocabPartition {
    /// Split the vocabulary into at most `ranges` ranges of about equal total frequency.
    pub fn new(frequencies: &[u64], ranges: usize) -> Self {
        let total: u64 = frequencies.iter().sum();
        let mut bounds = Vec::new();
        let (mut sum, mut due) = (0, 1);
        for (word, frequency) in (0..).zip(frequencies) {
            if due < ranges as u64 && sum > 0 && sum >= total * due / ranges as u64 {
                bounds.push(word);
                due = (sum * ranges as u64 / total.max(1) + 1).max(due + 1);
            }
            sum += frequency;
        }
        VocabPartition { bounds }
    }

    /// Return the number of ranges.
    pub fn len(&self) -> usize {
        self.bounds.len() + 1
    }

    /// Return the index of the range that contains a word.
    #[inline]
    pub fn range_of(&self, word: WordId) -> usize {
        self.bounds.iter().take_while(|&&bound| bound <= word).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn shares_are_neighbours_and_about_equal(
            frequencies in proptest::collection::vec(0_u64..9, 1..200), ranges in 1_usize..6,
        ) {
            let partition = VocabPartition::new(&frequencies, ranges);
            prop_assert!(partition.len() <= ranges);
            let of: Vec<usize> = (0..frequencies.len() as u32).map(|word| partition.range_of(word)).collect();
            prop_assert!(of.is_sorted());
            let total: u64 = frequencies.iter().sum();
            for range in 0..partition.len() {
                let sum: u64 = (0..of.len()).filter(|&at| of[at] == range).map(|at| frequencies[at]).sum();
                prop_assert!(sum <= total / ranges as u64 + 9, "{range}: {sum} of {total}");
            }
        }
    }
}
