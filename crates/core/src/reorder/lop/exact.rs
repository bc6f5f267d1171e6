//! The best of all orders of a short sentence, for study: dynamic programming over sets of words.
//!
//! In: a pair matrix. Out: an order that no other beats.
//! How: best(M ∪ {x}) = best(M) + what it is worth to have all of M before x (Held and Karp, 1962;
//! definitions h.4). Ties: the word of the smallest number goes last.
//! Cost: O(2ⁿ·n) time, 12 bytes a set, so at most `LONGEST` words.

use super::pairs::Pairs;
use crate::error::{Error, Result};
use crate::narrow::to_u8;

/// The most words: 12 MB for each word more than 20.
pub const LONGEST: usize = 20;

/// The best of all orders.
pub fn best_order(pairs: &Pairs) -> Result<Vec<u32>> {
    let length = pairs.len();
    if length > LONGEST {
        return Err(Error::Argument {
            name: "sentence".into(),
            found: format!("{length} words"),
            expected: format!("at most {LONGEST} for an exact solution by sets of words"),
        });
    }
    let sets = 1_usize << length;
    let mut best = vec![f64::NEG_INFINITY; sets];
    let mut last = vec![0_u8; sets];
    best[0] = 0.0;
    for set in 1..sets {
        for word in (0..length).filter(|word| set >> word & 1 == 1) {
            let others = set & !(1 << word);
            let before = (0..length).filter(|other| others >> other & 1 == 1);
            let worth = best[others] + before.map(|other| pairs.get(other, word)).sum::<f64>();
            if worth > best[set] {
                (best[set], last[set]) = (worth, to_u8(word));
            }
        }
    }
    let mut order = Vec::with_capacity(length);
    let mut set = sets - 1;
    while set != 0 {
        order.push(u32::from(last[set]));
        set &= !(1 << last[set]);
    }
    order.reverse();
    Ok(order)
}
