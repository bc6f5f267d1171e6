//! Words dealt out to threads, so that each has its own n-grams.
//!
//! In: how often each word occurs. Out: neighbouring numbers of words, about as many occurrences in
//! each share. N-grams of a share are those whose newest word is in it: in suffix order they stand
//! together, and so do the shorter ones that they end in, so that threads need nothing of each
//! other.

use crate::corpus::WordId;

/// The shares of the words.
#[derive(Debug, Clone)]
pub struct Shares {
    /// The first word of each share but the first.
    bounds: Vec<WordId>,
}

impl Shares {
    /// Deals words out by how often they occur.
    pub fn new(frequencies: &[u64], shares: usize) -> Self {
        let total: u64 = frequencies.iter().sum();
        let mut bounds = Vec::new();
        let (mut sum, mut due) = (0, 1);
        for (word, frequency) in (0..).zip(frequencies) {
            if due < shares as u64 && sum > 0 && sum >= total * due / shares as u64 {
                bounds.push(word);
                due = (sum * shares as u64 / total.max(1) + 1).max(due + 1);
            }
            sum += frequency;
        }
        Shares { bounds }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.bounds.len() + 1
    }

    /// The share of a word.
    #[inline]
    pub fn of(&self, word: WordId) -> usize {
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
            frequencies in proptest::collection::vec(0_u64..9, 1..200), shares in 1_usize..6,
        ) {
            let dealt = Shares::new(&frequencies, shares);
            prop_assert!(dealt.len() <= shares);
            let of: Vec<usize> = (0..frequencies.len() as u32).map(|word| dealt.of(word)).collect();
            prop_assert!(of.is_sorted());
            let total: u64 = frequencies.iter().sum();
            for share in 0..dealt.len() {
                let sum: u64 = (0..of.len()).filter(|&at| of[at] == share).map(|at| frequencies[at]).sum();
                prop_assert!(sum <= total / shares as u64 + 9, "{share}: {sum} of {total}");
            }
        }
    }
}
