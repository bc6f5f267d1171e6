//! A space that looks only near the first open item, as a small machine of shapes and arcs.
//!
//! In: a set of orders. Out: its shapes (which items beyond the first open one are taken, and where
//! the last one was), what may come next in each, and the nearest order of any gold order.
//! How: `Steps`, and so the decoder's own space, is asked once for each shape, in the middle of a
//! long sentence; a sentence is then a walk through layers of one more item taken each, and of all
//! ways to a shape the one that lost the fewest pairs is kept. Ties: the way first seen stays.
//! Cost: some 400 shapes for `dl:6`, twice as many with each step of the limit; a sentence takes
//! shapes × arcs × items. Too many shapes: no machine.

use super::orders::Orders;
use super::steps::{LONGEST, Shape, Steps, Taken};
use crate::narrow::to_u32;
use rustc_hash::FxHashMap;

/// The most shapes of a machine.
const MOST: usize = 1 << 12;
const UNSEEN: u32 = u32::MAX;

/// An item that may come next.
#[derive(Debug, Clone, Copy)]
struct Arc {
    /// How far it is from the first open item.
    ahead: u32,
    shape: u32,
}

/// The shapes and arcs of a set of orders.
#[derive(Debug)]
pub struct Machine {
    shapes: Vec<Shape>,
    arcs: Vec<Vec<Arc>>,
}

/// A way to a shape.
#[derive(Debug, Clone, Copy)]
struct Way {
    shape: u32,
    lost: u32,
    word: u32,
    before: u32,
}

/// Memory of a walk, used again.
#[derive(Debug, Default)]
pub struct Walk {
    ways: Vec<Way>,
    /// The way to each shape of the next layer.
    of_shape: Vec<u32>,
    /// For each word those that the gold order has before it.
    lower: Vec<Taken>,
}

impl Machine {
    /// The machine of a set of orders; none when it would be too large.
    pub fn of(orders: Orders) -> Option<Machine> {
        let steps = Steps::new(orders, LONGEST).ok()?;
        let mut machine = Machine { shapes: vec![Shape::default()], arcs: Vec::new() };
        let mut known: FxHashMap<Shape, u32> = FxHashMap::default();
        known.insert(Shape::default(), 0);
        let mut words = Vec::new();
        while machine.arcs.len() < machine.shapes.len() {
            let place = steps.place_of(machine.shapes[machine.arcs.len()]);
            steps.next_words(&place, &mut words);
            let mut arcs = Vec::new();
            for &word in &words {
                let shape = steps.shape_of(&steps.after(&place, word)?)?;
                let number = *known.entry(shape).or_insert(to_u32(machine.shapes.len()));
                if number as usize == machine.shapes.len() {
                    machine.shapes.push(shape);
                }
                arcs.push(Arc { ahead: word - Steps::MIDDLE, shape: number });
            }
            machine.arcs.push(arcs);
            if machine.shapes.len() > MOST {
                return None;
            }
        }
        Some(machine)
    }

    /// The nearest order to that of `ranks`, at most `LONGEST` of them.
    pub fn nearest(&self, ranks: &[u32], walk: &mut Walk) -> Option<Vec<u32>> {
        walk.begin(ranks, self.shapes.len());
        let mut layer = 0..1;
        for taken in 0..to_u32(ranks.len()) {
            let start = walk.ways.len();
            for number in layer {
                self.extend(number, taken, to_u32(ranks.len()), walk);
            }
            layer = start..walk.ways.len();
            for way in &walk.ways[start..] {
                walk.of_shape[way.shape as usize] = UNSEEN;
            }
        }
        let best = layer.min_by_key(|&number| walk.ways[number].lost)?;
        Some(walk.way_to(best, ranks.len()))
    }

    fn extend(&self, number: usize, taken: u32, length: u32, walk: &mut Walk) {
        let way = walk.ways[number];
        let ahead = self.shapes[way.shape as usize].ahead;
        let gap = taken - ahead.count_ones();
        let open = open_items(gap, ahead);
        for arc in &self.arcs[way.shape as usize] {
            let word = gap + arc.ahead;
            if word >= length {
                continue;
            }
            let lower = &walk.lower[word as usize];
            let pairs: u32 = lower.iter().zip(&open).map(|(a, b)| (a & b).count_ones()).sum();
            let lost = way.lost + pairs;
            let next = Way { shape: arc.shape, lost, word, before: to_u32(number) };
            let known = &mut walk.of_shape[arc.shape as usize];
            if *known == UNSEEN {
                *known = to_u32(walk.ways.len());
                walk.ways.push(next);
            } else if lost < walk.ways[*known as usize].lost {
                walk.ways[*known as usize] = next;
            }
        }
    }
}

/// All items from `gap` on but those taken beyond it.
fn open_items(gap: u32, ahead: u64) -> Taken {
    let mut open = [u64::MAX; 4];
    let (block, bit) = (gap as usize / 64, gap % 64);
    open[..block].fill(0);
    open[block] = (u64::MAX << bit) & !(ahead << bit);
    if bit > 0 && block + 1 < open.len() {
        open[block + 1] = !(ahead >> (64 - bit));
    }
    open
}

impl Walk {
    fn begin(&mut self, ranks: &[u32], shapes: usize) {
        self.of_shape.clear();
        self.of_shape.resize(shapes, UNSEEN);
        self.ways.clear();
        self.ways.push(Way { shape: 0, lost: 0, word: 0, before: 0 });
        self.lower.clear();
        for &rank in ranks {
            let mut lower = Taken::default();
            for (word, _) in ranks.iter().enumerate().filter(|(_, other)| **other < rank) {
                lower[word / 64] |= 1 << (word % 64);
            }
            self.lower.push(lower);
        }
    }

    fn way_to(&self, number: usize, length: usize) -> Vec<u32> {
        let mut order = Vec::with_capacity(length);
        let mut way = self.ways[number];
        for _ in 0..length {
            order.push(way.word);
            way = self.ways[way.before as usize];
        }
        order.reverse();
        order
    }
}
