//! Cube pruning: the best extensions first, up to a limit per stack (Huang and Chiang, 2007).
//!
//! In: a search that holds the empty hypothesis. Out: the complete ones, recombined into one.
//! How: each stack has one queue over all its edges, in the order of scores with the future cost.
//! Each row of an edge is walked from its best option on, and a row starts when the one two above
//! it has: in another context a lower row may well be the better one. With no limit the search is
//! exact.
//! Cost: O(log) queue work and one score for each corner and each hypothesis.

use super::id::HypId;
use super::search::{Edge, Scored, Searcher};
use crate::error::Result;
use crate::narrow::{low_u32, to_f32, to_u32};
use std::collections::BinaryHeap;

/// How many rows are open below the last one that was started.
const AHEAD: u32 = 2;
/// Steps between two looks whether somebody wants to stop: without a limit a stack may be huge.
const LISTEN: usize = 1 << 12;

/// Memory of the queue, kept between sentences.
#[derive(Debug, Default)]
pub struct Cube {
    heap: BinaryHeap<u64>,
    cells: Vec<Cell>,
    /// Edges by the number of words translated after them.
    edges: Vec<Vec<Edge>>,
    stack: Vec<HypId>,
}

/// A place in the grid of an edge.
#[derive(Debug, Clone, Copy)]
struct Cell {
    edge: u32,
    row: u32,
    column: u32,
    scored: Scored,
}

/// Orders by score, then by age: a larger number comes first.
fn ticket(score: f64, number: usize) -> u64 {
    let bits = to_f32(score).to_bits();
    let ordered = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
    u64::from(ordered) << 32 | u64::from(!to_u32(number))
}

fn number_of(ticket: u64) -> usize {
    !low_u32(ticket) as usize
}

/// Runs the search; returns the best complete hypothesis.
pub fn run(search: &mut Searcher<'_>, cube: &mut Cube) -> Result<HypId> {
    let length = search.length as usize;
    cube.edges.iter_mut().for_each(Vec::clear);
    if cube.edges.len() <= length {
        cube.edges.resize_with(length + 1, Vec::new);
    }
    cube.stack.clear();
    cube.stack.push(HypId(0));
    for covered in 0..length {
        search.check()?;
        let groups = search.group(&mut cube.stack, 0);
        for group in groups {
            search.edges(group, |words, edge| cube.edges[covered + words as usize].push(edge));
        }
        cube.stack.clear();
        search.arena.hyps.close();
        cube.pop(search, covered + 1)?;
    }
    Ok(cube.stack.first().copied().unwrap_or_default())
}

impl Cube {
    /// Fills the stack of hypotheses that cover so many words.
    fn pop(&mut self, search: &mut Searcher<'_>, covered: usize) -> Result<()> {
        let mut edges = std::mem::take(&mut self.edges[covered]);
        let complete = covered == search.length as usize;
        self.cells.clear();
        let mut tickets = std::mem::take(&mut self.heap).into_vec();
        tickets.clear();
        for (number, edge) in edges.iter().enumerate() {
            if number % LISTEN == LISTEN - 1 {
                search.check()?;
            }
            let scored = search.score(edge, 0, 0, complete);
            self.cells.push(Cell { edge: to_u32(number), row: 0, column: 0, scored });
            tickets.push(ticket(scored.score + f64::from(edge.future), number));
        }
        // Turning a vector into a heap is cheaper than pushing its elements.
        self.heap = BinaryHeap::from(tickets);
        let limit = search.pop_limit(covered, edges.len());
        let mut popped = 0;
        while let Some(best) = self.heap.pop() {
            let Cell { edge: number, row, column, scored } = self.cells[number_of(best)];
            let edge = &mut edges[number as usize];
            if let Some(hyp) = search.make(edge, row, scored, complete) {
                self.stack.push(hyp);
            }
            popped += 1;
            if popped == limit {
                break;
            }
            if popped % LISTEN == 0 {
                search.check()?;
            }
            if column + 1 < search.options.lane(edge.lane).count {
                self.push(search, edge, (number, row, column + 1), complete);
            }
            if column == 0 {
                let first = if row == 0 { 1 } else { row + AHEAD };
                for next in first..(row + AHEAD + 1).min(search.rows(edge)) {
                    self.push(search, edge, (number, next, 0), complete);
                }
            }
        }
        self.heap.clear();
        edges.clear();
        self.edges[covered] = edges;
        Ok(())
    }

    fn push(
        &mut self,
        search: &mut Searcher<'_>,
        edge: &Edge,
        at: (u32, u32, u32),
        complete: bool,
    ) {
        let (number, row, column) = at;
        let scored = search.score(edge, row, column, complete);
        self.heap.push(ticket(scored.score + f64::from(edge.future), self.cells.len()));
        self.cells.push(Cell { edge: number, row, column, scored });
    }
}
