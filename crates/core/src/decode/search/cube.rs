//! Cube pruning: create the best extensions first, up to a limit per stack (Huang and Chiang,
//! 2007).
//!
//! In: a search with the empty hypothesis. Out: the complete hypotheses, recombined into one.
//! How: each stack has a priority queue over all its edges, ordered by score plus future cost. A
//! row of an edge is read from its best option on. A row is opened when the row two above it has
//! been read, because a lower row may score better in context. A stack is finished at the limit, or
//! when the next extension is too far below the best. Without a limit the search is exact.
//! Cost: O(log n) queue work and one score for each opened cell and each hypothesis.

use crate::decode::ids::HypId;
use crate::decode::search::arena::{EdgeRow, ScoredExtension, SearchEdge};
use crate::decode::search::sentence_search::SentenceSearch;
use crate::error::Result;
use crate::narrow::{low_u32, to_f32, to_u32};
use std::collections::BinaryHeap;

/// Number of rows that are open below the last row read.
const OPEN_ROWS: u32 = 2;
/// Number of extensions between two checks for cancellation; without a limit a stack may be huge.
const CANCEL_INTERVAL: usize = 1 << 12;

/// Memory of the queue, kept between sentences.
#[derive(Debug, Default)]
pub struct CubeQueue {
    heap: BinaryHeap<u64>,
    cells: Vec<GridCell>,
    /// Edges by the number of words translated after them.
    edges: Vec<Vec<SearchEdge>>,
    stack: Vec<HypId>,
}

/// A cell in the grid of an edge.
#[derive(Debug, Clone, Copy)]
struct GridCell {
    edge: u32,
    column: u32,
    start: EdgeRow,
    scored: ScoredExtension,
}

/// Return a queue priority: higher scores first, then smaller cell indices.
fn priority(score: f64, number: usize) -> u64 {
    let bits = to_f32(score).to_bits();
    let ordered = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
    u64::from(ordered) << 32 | u64::from(!to_u32(number))
}

fn cell_index(priority: u64) -> usize {
    !low_u32(priority) as usize
}

/// Run the search; return the best complete hypothesis.
pub fn run(search: &mut SentenceSearch<'_>, cube: &mut CubeQueue) -> Result<HypId> {
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
        cube.fill_stack(search, covered + 1)?;
    }
    Ok(cube.stack.first().copied().unwrap_or_default())
}

impl CubeQueue {
    /// Fill the stack of hypotheses that cover `covered` words.
    fn fill_stack(&mut self, search: &mut SentenceSearch<'_>, covered: usize) -> Result<()> {
        let mut edges = std::mem::take(&mut self.edges[covered]);
        let is_complete = covered == search.length as usize;
        let CubeQueue { heap, cells, stack, .. } = self;
        cells.clear();
        let mut priorities = std::mem::take(heap).into_vec();
        priorities.clear();
        // Do not queue edges that are too far below the best.
        let (mut first, mut last) = (0, 0);
        for (number, edge) in edges.iter().enumerate() {
            if number % CANCEL_INTERVAL == CANCEL_INTERVAL - 1 {
                search.check()?;
            }
            let (total, cell) = open_row(search, (to_u32(number), edge), 0, is_complete);
            let priority_of = priority(total, cells.len());
            if priority_of > first {
                (first, last) = (priority_of, priority(total - search.slack, 0));
            }
            if priority_of >= last {
                priorities.push(priority_of);
                cells.push(cell);
            }
        }
        // Turning a vector into a heap is cheaper than pushing its elements.
        *heap = BinaryHeap::from(priorities);
        let limit = search.pop_limit(covered, edges.len());
        let mut popped = 0;
        while let Some(&best) = heap.peek().filter(|&&best| best >= last) {
            let number = cell_index(best);
            let cell = &mut cells[number];
            let (edge_number, start) = (cell.edge, cell.start);
            let edge = &mut edges[edge_number as usize];
            if let Some(hyp) = search.create(edge, start.row, &cell.scored, is_complete) {
                stack.push(hyp);
            }
            popped += 1;
            if popped == limit {
                break;
            }
            if popped % CANCEL_INTERVAL == 0 {
                search.check()?;
            }
            let column = cell.column + 1;
            let mut next = 0;
            if column < edge.columns {
                cell.column = column;
                cell.scored = search.score(edge, &start, column, is_complete);
                next = priority(cell.scored.score + f64::from(edge.future), number);
            }
            // Replace the top of the queue by the next cell of the row: cheaper than pop and push.
            if next < last {
                heap.pop();
            } else if let Some(mut top) = heap.peek_mut() {
                *top = next;
            }
            if column == 1 {
                let row = SentenceSearch::rank(edge, &start);
                let below = if row == 0 { 1 } else { row + OPEN_ROWS };
                for row in below..(row + OPEN_ROWS + 1).min(search.rows(edge)) {
                    let (total, cell) = open_row(search, (edge_number, edge), row, is_complete);
                    let priority = priority(total, cells.len());
                    if priority >= last {
                        heap.push(priority);
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

/// Return the first cell of a row of an edge, and its score with the future cost.
#[inline(always)]
fn open_row(
    search: &mut SentenceSearch<'_>,
    (number, edge): (u32, &SearchEdge),
    row: u32,
    is_complete: bool,
) -> (f64, GridCell) {
    let start = search.row(edge, row);
    let scored = search.score(edge, &start, 0, is_complete);
    let cell = GridCell { edge: number, column: 0, start, scored };
    (scored.score + f64::from(edge.future), cell)
}
