//! A space as a machine: where a partial order stands, and which items may come next.
//!
//! In: a set of orders and a length. Out: places and steps between them; two partial orders at
//! equal places go on alike.
//! How: the decoder's own `Space` is asked, with every item a phrase of one word. Trees keep a
//! stack of blocks beside the coverage.
//! Cost: a place is some 60 bytes; a step is a scan of the window.

use super::orders::Orders;
use crate::error::{Error, Place as Where, Result};
use crate::feature::{Coverage, ReorderingState, Span};
use crate::narrow::{low_u64, to_i32, to_u32};
use crate::reorder::Space;

/// Blocks of 64 items in a coverage.
const BLOCKS: usize = 4;
/// The most items of an order that is followed step by step.
pub const LONGEST: usize = 64 * BLOCKS;

/// Which items are taken.
pub type Taken = [u64; BLOCKS];

/// Where a partial order stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    /// Items taken.
    pub taken: Taken,
    /// The item after the last one; 0 where the space does not look at it.
    end: u32,
    /// What the space itself remembers.
    mode: u8,
    /// Blocks that trees have joined so far, the last on top.
    blocks: Vec<Span>,
}

/// A place without where it is: what is taken beyond the first open item.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Items taken beyond the first open one, which is bit 0.
    pub ahead: u64,
    /// The item after the last one, counted from the first open one.
    end: i32,
    mode: u8,
}

/// The machine of a set of orders of so many items.
#[derive(Debug, Clone, Copy)]
pub struct Steps {
    orders: Orders,
    length: u32,
}

impl Steps {
    /// The machine; fails when there are too many items.
    pub fn new(orders: Orders, length: usize) -> Result<Steps> {
        if length > LONGEST {
            return Err(Error::Limit {
                place: Where { file: format!("space {orders}"), line: None },
                found: format!("an order of {length} items"),
                limit: format!("{LONGEST}"),
            });
        }
        Ok(Steps { orders, length: to_u32(length) })
    }

    /// Before the first item.
    pub fn start(&self) -> Place {
        Place { taken: [0; BLOCKS], end: 0, mode: Space::SETTLED, blocks: Vec::new() }
    }

    /// Where `place_of` puts the first open item: far from both ends.
    pub const MIDDLE: u32 = 64;

    /// The shape of a place; none where what is taken is too far apart.
    pub fn shape_of(&self, place: &Place) -> Option<Shape> {
        let gap = self.here(place).gap;
        let (block, bit) = (gap as usize / 64, gap % 64);
        let block_at = |at: usize| u128::from(place.taken.get(at).copied().unwrap_or(0));
        let both = (block_at(block) | block_at(block + 1) << 64) >> bit;
        let beyond: u32 = place.taken.iter().map(|bits| bits.count_ones()).sum();
        let ahead = low_u64(both);
        let end = if self.looks_at_end() { to_i32(place.end) - to_i32(gap) } else { 0 };
        let is_whole = beyond == gap + ahead.count_ones() && place.blocks.is_empty();
        is_whole.then_some(Shape { ahead, end, mode: place.mode })
    }

    /// A place of a shape, with its first open item at `MIDDLE`.
    pub fn place_of(&self, shape: Shape) -> Place {
        let mut taken = [0; BLOCKS];
        taken[0] = u64::MAX;
        taken[1] = shape.ahead;
        let end = if self.looks_at_end() { to_i32(Self::MIDDLE) + shape.end } else { 0 };
        Place { taken, end: to_u32(end.max(0)), mode: shape.mode, blocks: Vec::new() }
    }

    fn looks_at_end(&self) -> bool {
        matches!(self.orders.space, Space::Dl(Some(_)))
    }

    fn here<'a>(&self, place: &'a Place) -> ReorderingState<'a> {
        let blocks = &place.taken[..Coverage::blocks_for(self.length)];
        let cov = Coverage::new(blocks, self.length);
        let top = place.blocks.last().copied().unwrap_or_default();
        ReorderingState { cov, gap: cov.first_gap(), end: place.end, top, mode: place.mode }
    }

    /// The items that may come next, from left to right.
    pub fn next_words(&self, place: &Place, words: &mut Vec<u32>) {
        words.clear();
        let space = self.orders.space;
        let here = self.here(place);
        let window = space.window(&here);
        let has = |span: Span| span.len() == 1;
        let mut word = here.cov.next_free(window.start);
        while word < window.end {
            let span = Span::new(word, word + 1);
            if span.end <= space.last_end(&here, word) && space.admits(&here, span, has) {
                words.push(word);
            }
            word = here.cov.next_free(word + 1);
        }
    }

    /// The place after an item that may come next; none where an inverted node would be too wide.
    pub fn after(&self, place: &Place, word: u32) -> Option<Place> {
        let span = Span::new(word, word + 1);
        let space = self.orders.space;
        let mut taken = place.taken;
        Coverage::mark(&mut taken, span);
        let mode = space.after(&self.here(place), span);
        let end = if self.looks_at_end() { span.end } else { 0 };
        let blocks = if space.needs_blocks() { self.joined(&place.blocks, span)? } else { vec![] };
        Some(Place { taken, end, mode, blocks })
    }

    /// The stack after a block is put on it and joined with those it touches.
    fn joined(&self, below: &[Span], span: Span) -> Option<Vec<Span>> {
        let mut blocks = below.to_vec();
        let mut top = span;
        while let Some(&below) = blocks.last().filter(|below| below.touches(top)) {
            let is_inverted = top.end == below.start;
            top = top.hull(below);
            if is_inverted && top.len() > self.orders.widest {
                return None;
            }
            blocks.pop();
        }
        blocks.push(top);
        Some(blocks)
    }
}
