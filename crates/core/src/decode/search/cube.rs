//! Cube pruning: the best extensions first, up to a limit per stack (Huang and Chiang, 2007).
//!
//! In: a search that holds the empty hypothesis. Out: the complete ones, recombined into one.
//! How: each stack has one queue over all its edges, in the order of scores with the future cost.
//! Each row of an edge is walked from its best option on, and a row starts when the one two above
//! it has: in another context a lower row may well be the better one. A stack is full when what is
//! left is too far behind the best to matter, or at the limit. With no limit the search is exact.
//! Cost: O(log) queue work and one score for each corner and each hypothesis.

use crate::decode::ids::HypId;
use crate::decode::search::arena::{Edge, RowStart, Scored};
use crate::decode::search::sentence_search::Searcher;
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
    column: u32,
    start: RowStart,
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
        search.close();
        cube.pop(search, covered + 1)?;
    }
    Ok(cube.stack.first().copied().unwrap_or_default())
}

impl Cube {
    /// Fills the stack of hypotheses that cover so many words.
    fn pop(&mut self, search: &mut Searcher<'_>, covered: usize) -> Result<()> {
        let mut edges = std::mem::take(&mut self.edges[covered]);
        let complete = covered == search.length as usize;
        let Cube { heap, cells, stack, .. } = self;
        cells.clear();
        let mut tickets = std::mem::take(heap).into_vec();
        tickets.clear();
        // What is too far behind the best would wait in vain.
        let (mut first, mut last) = (0, 0);
        for (number, edge) in edges.iter().enumerate() {
            if number % LISTEN == LISTEN - 1 {
                search.check()?;
            }
            let (total, cell) = open(search, (to_u32(number), edge), 0, complete);
            let ticket_of = ticket(total, cells.len());
            if ticket_of > first {
                (first, last) = (ticket_of, ticket(total - search.slack, 0));
            }
            if ticket_of >= last {
                tickets.push(ticket_of);
                cells.push(cell);
            }
        }
        // Turning a vector into a heap is cheaper than pushing its elements.
        *heap = BinaryHeap::from(tickets);
        let limit = search.pop_limit(covered, edges.len());
        let mut popped = 0;
        while let Some(&best) = heap.peek().filter(|&&best| best >= last) {
            let number = number_of(best);
            let cell = &mut cells[number];
            let (edge_number, start) = (cell.edge, cell.start);
            let edge = &mut edges[edge_number as usize];
            if let Some(hyp) = search.make(edge, start.row, &cell.scored, complete) {
                stack.push(hyp);
            }
            popped += 1;
            if popped == limit {
                break;
            }
            if popped % LISTEN == 0 {
                search.check()?;
            }
            let column = cell.column + 1;
            let mut next = 0;
            if column < edge.columns {
                cell.column = column;
                cell.scored = search.score(edge, &start, column, complete);
                next = ticket(cell.scored.score + f64::from(edge.future), number);
            }
            // What comes next in a row takes its place in the queue: cheaper than pop and push.
            if next < last {
                heap.pop();
            } else if let Some(mut top) = heap.peek_mut() {
                *top = next;
            }
            if column == 1 {
                let row = Searcher::rank(edge, &start);
                let below = if row == 0 { 1 } else { row + AHEAD };
                for row in below..(row + AHEAD + 1).min(search.rows(edge)) {
                    let (total, cell) = open(search, (edge_number, edge), row, complete);
                    let ticket = ticket(total, cells.len());
                    if ticket >= last {
                        heap.push(ticket);
                        cells.push(cell);
                    }
                }
            }
        }
        heap.clear();
        edges.clear();
        self.edges[covered] = edges;
        Ok(())
    }
}

/// The first cell of a row of an edge, and its score with the future cost.
#[inline(always)]
fn open(
    search: &mut Searcher<'_>,
    (number, edge): (u32, &Edge),
    row: u32,
    complete: bool,
) -> (f64, Cell) {
    let start = search.row(edge, row);
    let scored = search.score(edge, &start, 0, complete);
    let cell = Cell { edge: number, column: 0, start, scored };
    (scored.score + f64::from(edge.future), cell)
}
