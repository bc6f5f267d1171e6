//! A space as a set of orders: its name, and which orders of n items are in it.
//!
//! In: a name such as `ibm:4` or `itg:10`, and an order. Out: yes or no.
//! How: definitions i.1. The decoder's own `Space` says what may come next; trees whose inverted
//! nodes are at most so wide are known here only.
//! Cost: O(n) for trees, O(n · window) for the others.

use super::steps::Steps;
use crate::error::{Error, Result};
use crate::reorder::Space;
use crate::reorder::order::inverse;
use std::fmt;

/// A set of orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Orders {
    /// What may come next.
    pub space: Space,
    /// The most items under an inverted node; only `itg` looks at it.
    pub widest: u32,
}

/// No bound.
const ANY_WIDTH: u32 = u32::MAX;

impl Orders {
    /// The set of this name: one of the decoder's, or `itg:K`, whose trees exchange two pieces only
    /// when they have at most K items together.
    pub fn named(name: &str) -> Result<Orders> {
        if let Some(("itg", widest)) = name.split_once(':')
            && let Ok(widest) = widest.parse()
        {
            return Ok(Orders { space: Space::Itg, widest });
        }
        let known = Space::named(name).map_err(|_| Error::Argument {
            name: "space".into(),
            found: format!("`{name}`"),
            expected: "`mono`, `mj1`, `mj2`, `ibm:K` (K > 0), `itg`, `itg:K` or `dl:K` (-1: no \
                       limit)"
                .into(),
        })?;
        Ok(Orders { space: known, widest: ANY_WIDTH })
    }

    /// Whether trees make these orders.
    pub fn are_trees(self) -> bool {
        self.space == Space::Itg
    }

    /// Whether an order is one of them; fails on anything but a permutation, and on one that is
    /// too long to follow step by step.
    pub fn contain(self, order: &[u32]) -> Result<bool> {
        if inverse(order).is_none() {
            return Err(no_permutation(order.len()));
        }
        if self.are_trees() {
            return Ok(self.reduces(order));
        }
        let steps = Steps::new(self, order.len())?;
        let mut place = steps.start();
        let mut words = Vec::new();
        for &word in order {
            steps.next_words(&place, &mut words);
            if !words.contains(&word) {
                return Ok(false);
            }
            match steps.after(&place, word) {
                Some(next) => place = next,
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Whether shift-reduce parsing joins the whole order to one block, inverted ones not too wide.
    ///
    /// Joining as early as possible is right with a bound too: blocks that follow one another
    /// inverted end up under inverted nodes as wide as all of them in any tree.
    fn reduces(self, order: &[u32]) -> bool {
        let mut blocks: Vec<(u32, u32)> = Vec::new();
        for &word in order {
            let mut top = (word, word + 1);
            while let Some(&below) = blocks.last() {
                if below.1 == top.0 {
                    top = (below.0, top.1);
                } else if top.1 == below.0 {
                    top = (top.0, below.1);
                    if top.1 - top.0 > self.widest {
                        return false;
                    }
                } else {
                    break;
                }
                blocks.pop();
            }
            blocks.push(top);
        }
        blocks.len() <= 1
    }
}

pub(super) fn no_permutation(length: usize) -> Error {
    Error::Argument {
        name: "order".into(),
        found: format!("{length} numbers that are no permutation"),
        expected: "each number from 0 up exactly once".into(),
    }
}

impl fmt::Display for Orders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.space, self.widest) {
            (Space::Itg, widest) if widest != ANY_WIDTH => write!(f, "itg:{widest}"),
            (space, _) => write!(f, "{space}"),
        }
    }
}
