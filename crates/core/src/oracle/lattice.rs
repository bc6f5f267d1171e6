//! The lattice of a space: the smallest layered automaton whose paths are its orders.
//!
//! In: a set of orders and a number of items. Out: states, numbered layer by layer, and arcs, each
//! with the item it takes; every path from the first state to the last is an order, and every
//! order of the set is one path (the paper's Figure 1).
//! How: places (`Steps`) layer by layer, then from the last layer back: those from which no way
//! leads to the end fall away, and those with the same arcs are one.
//! Cost: a hash look-up an arc; refused beyond a number of states.

use super::orders::Orders;
use super::steps::{Place, Steps};
use crate::error::{Error, Place as Where, Result};
use crate::narrow::to_u32;
use rustc_hash::FxHashMap;

/// A step from one state to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arc {
    /// The state before.
    pub from: u32,
    /// The item taken.
    pub word: u32,
    /// The state after.
    pub to: u32,
}

/// States in layers, and the arcs between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lattice {
    /// Number of states with so many items taken.
    pub layers: Vec<u32>,
    /// Arcs, by the state they start from and the item they take.
    pub arcs: Vec<Arc>,
}

/// An item, and the place in the next layer that it leads to.
type Way = (u32, u32);

impl Lattice {
    /// The lattice of orders of `length` items; fails when it takes more than `most` places.
    pub fn of(orders: Orders, length: usize, most: usize) -> Result<Lattice> {
        let layers = forward(&Steps::new(orders, length)?, orders, length, most)?;
        Ok(backward(layers))
    }

    /// Number of states.
    pub fn states(&self) -> u32 {
        self.layers.iter().sum()
    }
}

/// The ways from every place, layer by layer.
fn forward(
    steps: &Steps,
    orders: Orders,
    length: usize,
    most: usize,
) -> Result<Vec<Vec<Vec<Way>>>> {
    let mut layers = Vec::with_capacity(length + 1);
    let mut places = vec![steps.start()];
    let mut words = Vec::new();
    let mut made = 1;
    for _ in 0..length {
        let mut numbers: FxHashMap<Place, u32> = FxHashMap::default();
        let mut next_places = Vec::new();
        let mut layer = Vec::with_capacity(places.len());
        for place in &places {
            steps.next_words(place, &mut words);
            let mut ways = Vec::with_capacity(words.len());
            for &word in &words {
                let Some(next) = steps.after(place, word) else { continue };
                let number = *numbers.entry(next).or_insert_with_key(|next| {
                    next_places.push(next.clone());
                    to_u32(next_places.len() - 1)
                });
                ways.push((word, number));
            }
            layer.push(ways);
        }
        made += next_places.len();
        if made > most {
            return Err(Error::Limit {
                place: Where { file: format!("space {orders}"), line: None },
                found: format!("a lattice of {length} items has more than {most} states"),
                limit: "that; take fewer items or a smaller space".into(),
            });
        }
        layers.push(layer);
        places = next_places;
    }
    layers.push(vec![Vec::new(); places.len()]);
    Ok(layers)
}

/// Joins places that go on alike and leaves out dead ends, from the last layer back.
fn backward(layers: Vec<Vec<Vec<Way>>>) -> Lattice {
    // For each layer its states: the ways from each.
    let mut merged: Vec<Vec<Vec<Way>>> = Vec::with_capacity(layers.len());
    // For each place of the layer just done its state, none for a dead end.
    let mut states: Vec<Option<u32>> = Vec::new();
    for (back, layer) in layers.into_iter().rev().enumerate() {
        let mut known: FxHashMap<Vec<Way>, u32> = FxHashMap::default();
        let mut kept: Vec<Vec<Way>> = Vec::new();
        let mut numbers = Vec::with_capacity(layer.len());
        for ways in layer {
            let ways: Vec<Way> = ways
                .into_iter()
                .filter_map(|(word, to)| Some((word, states[to as usize]?)))
                .collect();
            let is_dead = back > 0 && ways.is_empty();
            numbers.push((!is_dead).then(|| {
                *known.entry(ways).or_insert_with_key(|ways| {
                    kept.push(ways.clone());
                    to_u32(kept.len() - 1)
                })
            }));
        }
        states = numbers;
        merged.push(kept);
    }
    merged.reverse();
    numbered(&merged)
}

/// States numbered through all layers.
fn numbered(merged: &[Vec<Vec<Way>>]) -> Lattice {
    let layers: Vec<u32> = merged.iter().map(|layer| to_u32(layer.len())).collect();
    let mut arcs = Vec::new();
    let mut first = 0;
    for layer in merged {
        let next = first + to_u32(layer.len());
        for (from, ways) in (first..).zip(layer) {
            arcs.extend(ways.iter().map(|&(word, to)| Arc { from, word, to: next + to }));
        }
        first = next;
    }
    Lattice { layers, arcs }
}
