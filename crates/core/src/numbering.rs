//! Equal things under one number: the index of a list that somebody else keeps.
//!
//! In: the hash of a thing, and a test whether a number is its own. Out: its number.
//! How: open addressing, never more than half full. A slot holds a number and 32 bits of its hash,
//! which also say where it belongs: unequal things are hardly ever compared, and nothing is hashed
//! again when the table grows.
//! Cost: about a dozen instructions for a known thing, as hot loops want it.
//! Not: more than 2^32 - 1 numbers; hashes that hostile input can't foresee.

use crate::narrow::{low_u32, to_usize};

/// Slots made at first, a power of two.
const LEAST: usize = 1 << 6;

/// Odd numbers whose bits are well mixed.
const FACTORS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93];

/// Adds a value to a hash; the upper half of the result is what `Numbering` looks at.
#[inline]
pub fn mix(hash: u64, value: u64) -> u64 {
    (hash.rotate_left(29) ^ value.wrapping_mul(FACTORS[0])).wrapping_mul(FACTORS[1])
}

/// Numbers by the hashes of their things.
#[derive(Debug, Clone, Default)]
pub struct Numbering {
    /// The upper half of a hash, then a number and 1; 0 where nothing stands.
    slots: Vec<u64>,
    used: usize,
    /// Smaller numbers are forgotten: where they stand is room for others.
    floor: u32,
}

#[inline]
fn number_in(slot: u64) -> u32 {
    low_u32(slot).wrapping_sub(1)
}

impl Numbering {
    /// Forgets all numbers, and keeps the memory.
    pub fn clear(&mut self) {
        self.slots.fill(0);
        self.used = 0;
        self.floor = 0;
    }

    /// Forgets all numbers, which are smaller than `floor`, and no new one is; the memory is not
    /// touched.
    pub fn forget_below(&mut self, floor: u32) {
        self.used = 0;
        self.floor = floor;
    }

    /// Whether nothing stands there.
    #[inline]
    fn is_empty(&self, slot: u64) -> bool {
        low_u32(slot) <= self.floor
    }

    /// Where the search for a hash or a slot starts.
    #[inline]
    fn home(&self, hash: u64) -> usize {
        to_usize(hash >> 32) & (self.slots.len() - 1)
    }

    /// The number of a thing, if it has one.
    #[inline]
    pub fn find(&self, hash: u64, is_own: impl Fn(u32) -> bool) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let slot = self.slots[self.search(hash, is_own)];
        (!self.is_empty(slot)).then(|| number_in(slot))
    }

    /// The number of a thing, and whether it is new: then it gets the number `next`.
    #[inline]
    pub fn number(&mut self, hash: u64, next: u32, is_own: impl Fn(u32) -> bool) -> (u32, bool) {
        if (self.used + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let at = self.search(hash, is_own);
        let slot = self.slots[at];
        if !self.is_empty(slot) {
            return (number_in(slot), false);
        }
        self.slots[at] = hash >> 32 << 32 | u64::from(next + 1);
        self.used += 1;
        (next, true)
    }

    /// The slot of a thing, or the empty one where it would stand.
    #[inline]
    fn search(&self, hash: u64, is_own: impl Fn(u32) -> bool) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = self.home(hash);
        loop {
            let slot = self.slots[at];
            if self.is_empty(slot) || (slot ^ hash) >> 32 == 0 && is_own(number_in(slot)) {
                return at;
            }
            at = (at + 1) & mask;
        }
    }

    /// Takes a number away from its thing.
    pub fn remove(&mut self, hash: u64, number: u32) {
        if self.find(hash, |other| other == number).is_none() {
            return;
        }
        let mask = self.slots.len() - 1;
        let mut hole = self.search(hash, |other| other == number);
        self.used -= 1;
        // What stands behind it and belongs before it moves up, or it would not be found.
        let mut at = hole;
        loop {
            self.slots[hole] = 0;
            loop {
                at = (at + 1) & mask;
                if self.is_empty(self.slots[at]) {
                    return;
                }
                let way = at.wrapping_sub(self.home(self.slots[at])) & mask;
                if way >= at.wrapping_sub(hole) & mask {
                    break;
                }
            }
            self.slots[hole] = self.slots[at];
            hole = at;
        }
    }

    #[cold]
    fn grow(&mut self) {
        let wider = vec![0; (self.slots.len() * 2).max(LEAST)];
        for slot in std::mem::replace(&mut self.slots, wider) {
            if !self.is_empty(slot) {
                let at = self.search(slot, |_| false);
                self.slots[at] = slot;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Things come and go as in a map, with hashes good and bad.
        #[test]
        fn it_is_a_map(
            steps in prop::collection::vec((0_u64..90, 0..12), 0..400),
            bits in 0_u32..8,
        ) {
            let hash = |thing: u64| mix(0, thing) >> (8 * bits) >> 32 << 32;
            let mut numbering = Numbering::default();
            let mut things = Vec::new();
            let mut twin: BTreeMap<u64, u32> = BTreeMap::new();
            for (thing, step) in steps {
                let is_own = |number: u32| things[number as usize] == thing;
                if step == 0 && thing < 20 {
                    numbering.forget_below(things.len() as u32);
                    twin.clear();
                } else if step < 5 {
                    if let Some(number) = twin.remove(&thing) {
                        numbering.remove(hash(thing), number);
                    }
                } else {
                    let next = things.len() as u32;
                    let (number, is_new) = numbering.number(hash(thing), next, is_own);
                    prop_assert_eq!(is_new, !twin.contains_key(&thing));
                    prop_assert_eq!(number, *twin.entry(thing).or_insert(next));
                    things.push(thing);
                }
                for (&thing, &number) in &twin {
                    let is_own = |number: u32| things[number as usize] == thing;
                    prop_assert_eq!(numbering.find(hash(thing), is_own), Some(number));
                }
            }
            numbering.clear();
            prop_assert!(twin.keys().all(|&thing| numbering.find(hash(thing), |_| true).is_none()));
        }
    }
}
