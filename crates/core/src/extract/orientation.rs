//! Orientation of a block towards what stands before and after it in the target.
//!
//! In: the `Grid` of a sentence pair with its corners marked. Out: one `Class` per
//! model, direction and block.
//! How: the word model looks at single links, the phrase model at blocks up to the maximum
//! phrase length, the hierarchical model at blocks of any size (Galley and Manning, 2008). All
//! blocks mark the corners they have, then a question is one look at a bit.
//! Cost: O(1) a block and model, after O(target²) a sentence for the corners.

use super::grid::Grid;
use crate::narrow::to_u32;
use crate::orientation::{Class, Direction, Model, row_of};

/// What counts as a neighbour for the phrase and the hierarchical model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Strictness {
    /// Corners of blocks only, as the model is defined.
    #[default]
    Strict,
    /// As Moses does: also an isolated link at the corner; towards the next phrase, blocks that
    /// end where they should begin. Besides, its choice between equally frequent links of a
    /// pair, and its rounding of word probabilities.
    Moses,
}

impl Strictness {
    /// Names and values.
    pub const ALL: [(&'static str, Strictness); 2] =
        [("strict", Strictness::Strict), ("moses", Strictness::Moses)];

    /// The word for it in options.
    pub fn name(self) -> &'static str {
        Strictness::ALL[self as usize].0
    }
}

/// The orientations of one occurrence, two bits for each of the `ROWS`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Orientations(pub u16);

impl Orientations {
    /// The class in one row.
    pub fn get(self, row: usize) -> Class {
        Class::ALL[usize::from(self.0 >> (2 * row)) & 3]
    }

    fn set(&mut self, model: Model, direction: Direction, class: Class) {
        self.0 |= (class as u16) << (2 * row_of(model, direction));
    }
}

/// The corners of the blocks of one sentence pair, for one limit on their size.
///
/// A block's last target word and last source word are one of its corners, and so on; a bit
/// per target row and source column tells whether some block has that corner.
#[derive(Debug, Default)]
pub(super) struct Corners {
    last_last: Vec<u64>,
    last_first: Vec<u64>,
    first_first: Vec<u64>,
    first_last: Vec<u64>,
    /// By last target row, the right-most first column plus one; 0 when there is no block.
    furthest_start: Vec<u32>,
    /// By first target row, the left-most last column; a huge one when there is no block.
    nearest_end: Vec<u32>,
    stride: usize,
}

const NO_BLOCK: u32 = u32::MAX;

impl Corners {
    /// Forgets all corners and makes room for a sentence pair.
    pub fn reset(&mut self, rows: usize, stride: usize) {
        self.stride = stride;
        let bits = [
            &mut self.last_last,
            &mut self.last_first,
            &mut self.first_first,
            &mut self.first_last,
        ];
        for bits in bits {
            bits.clear();
            bits.resize(rows * stride, 0);
        }
        self.furthest_start.clear();
        self.furthest_start.resize(rows, 0);
        self.nearest_end.clear();
        self.nearest_end.resize(rows, NO_BLOCK);
    }

    /// Marks blocks on target rows `rows` whose first column is any of `starts` and whose last
    /// column is any of `ends`.
    pub fn mark(&mut self, rows: (usize, usize), starts: (usize, usize), ends: (usize, usize)) {
        let (first, last) = (rows.0 * self.stride, rows.1 * self.stride);
        for column in starts.0..=starts.1 {
            let (word, bit) = (column / 64, 1 << (column % 64));
            self.first_first[first + word] |= bit;
            self.last_first[last + word] |= bit;
        }
        for column in ends.0..=ends.1 {
            let (word, bit) = (column / 64, 1 << (column % 64));
            self.first_last[first + word] |= bit;
            self.last_last[last + word] |= bit;
        }
        let start = &mut self.furthest_start[rows.1];
        *start = (*start).max(to_u32(starts.1) + 1);
        let end = &mut self.nearest_end[rows.0];
        *end = (*end).min(to_u32(ends.0));
    }

    fn has(&self, bits: &[u64], row: usize, column: Option<usize>) -> bool {
        column.is_some_and(|column| bits[row * self.stride + column / 64] >> (column % 64) & 1 == 1)
    }

    /// Whether a block that ends in the row before `block` speaks for monotone, swap, left.
    fn before(&self, row: usize, Sides { u, v, .. }: Sides, src_len: usize) -> (bool, bool, bool) {
        (
            self.has(&self.last_last, row, u.checked_sub(1)),
            self.has(&self.last_first, row, behind(v, src_len)),
            self.furthest_start[row] as usize > v + 2,
        )
    }

    /// The same of a block that begins in the row behind `block`.
    fn after(&self, row: usize, Sides { u, v, .. }: Sides, src_len: usize) -> (bool, bool, bool) {
        let end = self.nearest_end[row];
        (
            self.has(&self.first_first, row, behind(v, src_len)),
            self.has(&self.first_last, row, u.checked_sub(1)),
            end != NO_BLOCK && (end as usize + 1) < u,
        )
    }

    /// What Moses sees. In both directions it asks for blocks whose *last* target word is in the
    /// row, also behind the block; and it never looks for a jump from the last source word.
    fn as_moses(
        &self,
        row: usize,
        Sides { u, v, .. }: Sides,
        src_len: usize,
        direction: Direction,
    ) -> (bool, bool, bool) {
        let ends_before = self.has(&self.last_last, row, u.checked_sub(1));
        let starts_behind = self.has(&self.last_first, row, behind(v, src_len));
        let any = |bits: &[u64], columns: std::ops::Range<usize>| {
            columns.into_iter().any(|column| self.has(bits, row, Some(column)))
        };
        match direction {
            Direction::Prev => {
                (ends_before, starts_behind, any(&self.last_first, v + 2..src_len - 1))
            }
            Direction::Next => {
                (starts_behind, ends_before, any(&self.last_last, 0..u.saturating_sub(1)))
            }
        }
    }
}

fn behind(v: usize, src_len: usize) -> Option<usize> {
    Some(v + 1).filter(|&column| column < src_len)
}

/// A block, as plain numbers: source columns `u..=v`, target rows `s..=t`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sides {
    pub u: usize,
    pub v: usize,
    pub s: usize,
    pub t: usize,
}

/// The orientations of a block in all models and both directions.
pub(super) fn orientations(grid: &Grid, block: Sides, strictness: Strictness) -> Orientations {
    let mut all = Orientations::default();
    let prev = Seen::before(grid, block);
    let next = Seen::after(grid, block);
    for (direction, seen) in [(Direction::Prev, prev), (Direction::Next, next)] {
        all.set(Model::Word, direction, seen.by_word());
        all.set(Model::Phrase, direction, seen.by_block(&grid.small, strictness));
        all.set(Model::Hierarchical, direction, seen.by_block(&grid.any, strictness));
    }
    all
}

/// What a block sees in one direction.
enum Seen<'g> {
    /// The edge of the sentence: the answer of every model.
    Edge(Class),
    /// A target row with words, before or behind the block.
    Row { grid: &'g Grid, row: usize, block: Sides, direction: Direction },
}

impl<'g> Seen<'g> {
    fn before(grid: &'g Grid, block: Sides) -> Self {
        if block.s == 0 {
            return Seen::Edge(edge(block.u == 0));
        }
        Seen::Row { grid, row: block.s - 1, block, direction: Direction::Prev }
    }

    fn after(grid: &'g Grid, block: Sides) -> Self {
        if block.t + 1 == grid.tgt_len {
            return Seen::Edge(edge(block.v + 1 == grid.src_len));
        }
        Seen::Row { grid, row: block.t + 1, block, direction: Direction::Next }
    }

    fn by_word(&self) -> Class {
        let &Seen::Row { grid, row, block, direction } = self else { return self.at_edge() };
        let (monotone, swap) = self.linked();
        if monotone {
            return Class::M;
        }
        if swap {
            return Class::S;
        }
        // No link of this row leads into the block, so one bound tells all of them.
        let Some((min, max)) = grid.row(row) else { return Class::Dr };
        let left = match direction {
            Direction::Prev => min > block.v,
            Direction::Next => max < block.u,
        };
        if left { Class::Dl } else { Class::Dr }
    }

    fn by_block(&self, corners: &Corners, strictness: Strictness) -> Class {
        let &Seen::Row { grid, row, block, direction } = self else { return self.at_edge() };
        let (mut monotone, mut swap, left) = match (direction, strictness) {
            (Direction::Prev, Strictness::Strict) => corners.before(row, block, grid.src_len),
            (Direction::Next, Strictness::Strict) => corners.after(row, block, grid.src_len),
            (_, Strictness::Moses) => corners.as_moses(row, block, grid.src_len, direction),
        };
        if strictness == Strictness::Moses {
            let linked = self.linked();
            monotone |= linked.0;
            swap |= linked.1;
        }
        match (monotone, swap, left) {
            (true, _, _) => Class::M,
            (_, true, _) => Class::S,
            (_, _, true) => Class::Dl,
            _ => Class::Dr,
        }
    }

    /// Whether a link at the corner speaks for monotone and none for swap, and the reverse.
    fn linked(&self) -> (bool, bool) {
        let &Seen::Row { grid, row, block, direction } = self else { return (false, false) };
        let before = block.u > 0 && grid.is_linked(row, block.u - 1);
        let behind = block.v + 1 < grid.src_len && grid.is_linked(row, block.v + 1);
        match direction {
            Direction::Prev => (before && !behind, behind && !before),
            Direction::Next => (behind && !before, before && !behind),
        }
    }

    fn at_edge(&self) -> Class {
        match self {
            Seen::Edge(class) => *class,
            Seen::Row { .. } => Class::Dr,
        }
    }
}

fn edge(touches: bool) -> Class {
    if touches { Class::M } else { Class::Dr }
}
