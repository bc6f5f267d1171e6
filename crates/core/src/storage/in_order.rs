//! Takes what threads finish in any order, and hands it on in its own.
//!
//! In: numbered pieces, each once. Out: calls of one function, from 0 up.
//! How: a piece whose turn has not come waits in memory; whoever brings the next one hands on all
//! that are ready. Nobody waits for a piece that may never come.
//! Cost: a lock for each piece, held while pieces are handed on.

use crate::error::Result;
use std::collections::BTreeMap;
use std::mem::take;
use std::sync::Mutex;

/// A function that gets its pieces in order.
pub struct InOrder<T, F> {
    state: Mutex<State<T, F>>,
}

struct State<T, F> {
    next: usize,
    waiting: BTreeMap<usize, T>,
    each: F,
}

impl<T: Default, F: FnMut(&T) -> Result<()>> InOrder<T, F> {
    /// Calls `each` for every piece.
    pub fn new(each: F) -> Self {
        InOrder { state: Mutex::new(State { next: 0, waiting: BTreeMap::new(), each }) }
    }

    /// Brings a piece. If it has to wait, it is taken and an empty one left.
    pub fn put(&self, number: usize, piece: &mut T) -> Result<()> {
        let mut state = self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let State { next, waiting, each } = &mut *state;
        if number != *next {
            waiting.insert(number, take(piece));
            return Ok(());
        }
        each(piece)?;
        *next += 1;
        while let Some(piece) = waiting.remove(next) {
            each(&piece)?;
            *next += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pieces_come_out_by_number(order in Just((0..30).collect::<Vec<usize>>()).prop_shuffle()) {
            let mut seen = Vec::new();
            let in_order = InOrder::new(|piece: &String| { seen.push(piece.clone()); Ok(()) });
            for number in order {
                in_order.put(number, &mut number.to_string()).unwrap();
            }
            drop(in_order);
            prop_assert_eq!(seen, (0..30).map(|number| number.to_string()).collect::<Vec<_>>());
        }
    }
}
