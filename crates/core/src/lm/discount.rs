//! Discounts of modified Kneser-Ney smoothing for the counts 1, 2 and 3 or more.
//!
//! In: the counts of counts of an order, for the (adjusted) counts 1 to 4. Out: three discounts.
//! How: Chen and Goodman's closed form (definitions l.1, step 2). If it has no valid solution, as
//! for few sentences or few distinct words, fixed discounts and the reason.

use crate::narrow::to_usize;

/// Discounts for texts too small to estimate them.
pub const FALLBACK: [f64; 3] = [0.5, 1.0, 1.5];

/// The discounts of one order.
#[derive(Debug, Clone, PartialEq)]
pub struct CountDiscount {
    /// Amounts subtracted from the counts 1, 2 and 3 or more.
    pub amounts: [f64; 3],
    /// Reason why the amounts are the fallback.
    pub fallback: Option<String>,
}

impl CountDiscount {
    /// Estimate the discounts of an order from its counts of counts (1 to 4).
    pub fn estimate(counts_of_counts: &[u64; 4]) -> Self {
        match closed_form(counts_of_counts) {
            Ok(amounts) => CountDiscount { amounts, fallback: None },
            Err(reason) => CountDiscount { amounts: FALLBACK, fallback: Some(reason) },
        }
    }

    /// Return the amount subtracted from a count.
    pub fn amount(&self, count: u64) -> f64 {
        match count {
            0 => 0.0,
            1 | 2 => self.amounts[to_usize(count) - 1],
            _ => self.amounts[2],
        }
    }
}

fn closed_form(counts_of_counts: &[u64; 4]) -> Result<[f64; 3], String> {
    if let Some(count) = (1..=3).find(|&count| counts_of_counts[count - 1] == 0) {
        return Err(format!("no n-gram has the count {count}"));
    }
    let n = counts_of_counts.map(|number| number as f64);
    let y = n[0] / (n[0] + 2.0 * n[1]);
    let mut amounts = [0.0; 3];
    for (index, amount) in amounts.iter_mut().enumerate() {
        let count = index as f64 + 1.0;
        *amount = count - (count + 1.0) * y * n[index + 1] / n[index];
        // A discount of 0 would leave no probability for unseen words.
        if !(*amount > 0.0 && *amount <= count) {
            return Err(format!("the discount of count {count} would be {amount:.3}"));
        }
    }
    Ok(amounts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn discounts_follow_the_closed_form() {
        let discount = CountDiscount::estimate(&[10, 5, 3, 2]);
        let y = 10.0 / 20.0;
        assert_eq!(discount.fallback, None);
        assert_eq!(discount.amounts[0], 1.0 - 2.0 * y * 5.0 / 10.0);
        assert_eq!(discount.amounts[1], 2.0 - 3.0 * y * 3.0 / 5.0);
        assert_eq!(discount.amounts[2], 3.0 - 4.0 * y * 2.0 / 3.0);
        assert_eq!(
            [0, 1, 2, 3, 9].map(|count| discount.amount(count))[3..],
            [discount.amounts[2]; 2]
        );
    }

    #[test]
    fn what_cannot_be_estimated_falls_back_and_says_why() {
        let reason = |counts| CountDiscount::estimate(&counts).fallback.unwrap_or_default();
        assert_eq!(reason([0, 1, 1, 1]), "no n-gram has the count 1");
        assert_eq!(reason([5, 2, 0, 1]), "no n-gram has the count 3");
        assert_eq!(reason([9, 1, 1, 9]), "the discount of count 2 would be -0.455"); // 2 - 3 · 9/11
        assert_eq!(CountDiscount::estimate(&[0; 4]).amounts, FALLBACK);
    }
}
