//! Discounted phrase counts: less trust in pairs that were seen once or twice.
//!
//! In: how many pairs were seen how often. Out: p(e|f) from counts, by plain relative frequency,
//! Good-Turing or Kneser-Ney (Foster, Kuhn and Johnson, 2006).
//! Good-Turing gives a pair seen c ≤ 5 times the count (c+1)·n(c+1)/n(c), when that is
//! smaller than c and both numbers of pairs are known; the phrase's own count stays as it is.
//! Kneser-Ney takes D = n(1)/(n(1)+2·n(2)) off every count and gives it to the distribution of
//! phrases by the number of different phrases they go with.

use crate::narrow::to_usize;

/// How to make probabilities of counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Discount {
    /// Relative frequencies.
    #[default]
    None,
    /// Good-Turing.
    GoodTuring,
    /// Kneser-Ney.
    KneserNey,
}

impl Discount {
    /// Names and values.
    pub const ALL: [(&'static str, Discount); 3] = [
        ("none", Discount::None),
        ("good-turing", Discount::GoodTuring),
        ("kneser-ney", Discount::KneserNey),
    ];

    /// The word for it in options.
    pub fn name(self) -> &'static str {
        Discount::ALL[self as usize].0
    }
}

/// Counts up to this are discounted by Good-Turing.
const FEW: usize = 5;

/// Number of pairs by how often they were seen, up to one more than `FEW`.
pub type CountsOfCounts = [u64; FEW + 2];

/// What is known of one direction of a phrase pair.
#[derive(Debug, Clone, Copy)]
pub struct Evidence {
    /// How often the pair was seen.
    pub pair: u64,
    /// How often the given phrase was seen.
    pub given: u64,
    /// Different partners of the given phrase.
    pub given_partners: u64,
    /// Different partners of the other phrase.
    pub other_partners: u64,
    /// Number of pairs in all.
    pub pairs: u64,
}

/// A discount with its numbers.
#[derive(Debug, Clone)]
pub struct Discounter {
    discount: Discount,
    adjusted: [f64; FEW + 1],
    absolute: f64,
}

impl Discounter {
    /// Prepares a discount for counts of which so many are 1, 2, and so on.
    pub fn new(discount: Discount, of_counts: &CountsOfCounts) -> Self {
        let n = |count: usize| of_counts[count] as f64;
        let mut adjusted = [0.0; FEW + 1];
        for (count, slot) in adjusted.iter_mut().enumerate().skip(1) {
            let turing = (count + 1) as f64 * n(count + 1) / n(count);
            let usable = turing > 0.0 && turing < count as f64;
            *slot = if usable { turing } else { count as f64 };
        }
        let absolute = if n(1) > 0.0 { n(1) / (n(1) + 2.0 * n(2)) } else { 0.0 };
        Discounter { discount, adjusted, absolute }
    }

    /// p(other|given).
    pub fn probability(&self, evidence: Evidence) -> f64 {
        let Evidence { pair, given, given_partners, other_partners, pairs } = evidence;
        let plain = pair as f64 / given as f64;
        match self.discount {
            Discount::None => plain,
            Discount::GoodTuring => {
                let adjusted = self.adjusted.get(to_usize(pair)).copied();
                adjusted.map_or(plain, |count| count / given as f64)
            }
            Discount::KneserNey => {
                let lower = other_partners as f64 / pairs as f64;
                let left = self.absolute * given_partners as f64 / given as f64;
                (pair as f64 - self.absolute).max(0.0) / given as f64 + left * lower
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kneser_ney_sums_to_one_over_the_phrases() {
        // One source phrase with targets seen 3, 1 and 1 times; another with 2 of the first.
        let discounter = Discounter::new(Discount::KneserNey, &[0, 2, 1, 1, 0, 0, 0]);
        let p = |pair, other_partners| {
            let evidence = Evidence { pair, given: 5, given_partners: 3, other_partners, pairs: 4 };
            discounter.probability(evidence)
        };
        // D = 2 / (2 + 2·1) = 0.5; (3−.5)/5 + .5·3/5·2/4 = 0.65
        assert!((p(3, 2) - 0.65).abs() < 1e-12);
        assert!((p(3, 2) + p(1, 1) + p(1, 1) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn good_turing_lowers_small_counts_only_where_it_can() {
        let discounter = Discounter::new(Discount::GoodTuring, &[0, 100, 20, 10, 40, 0, 0]);
        let p = |pair| {
            let evidence =
                Evidence { pair, given: 10, given_partners: 1, other_partners: 1, pairs: 1 };
            discounter.probability(evidence)
        };
        assert!((p(1) - 0.04).abs() < 1e-12); // 2·20/100 = 0.4 instead of 1
        assert!((p(2) - 0.15).abs() < 1e-12); // 3·10/20 = 1.5 instead of 2
        assert!((p(3) - 0.3).abs() < 1e-12); // 4·40/10 = 16 is no discount
        assert!((p(4) - 0.4).abs() < 1e-12); // nothing was seen five times
        assert!((p(9) - 0.9).abs() < 1e-12);
    }
}
