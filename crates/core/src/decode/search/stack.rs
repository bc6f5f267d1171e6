//! Stack search: every extension of every hypothesis that survives.
//!
//! In: a search that holds the empty hypothesis. Out: the complete ones, recombined into one.
//! How: stacks by number of translated words; the best `stack_size` of each are extended.
//! An extension that is clearly behind those of a full stack is not made, unless as an arc of a list.
//! Cost: stack size · spans · options per stack; a stack never holds more than twice its size.

use crate::decode::ids::HypId;
use crate::decode::search::sentence_search::Searcher;
use crate::error::Result;

/// How far behind the last of a full stack an extension is clearly behind: sums of the future cost
/// in another order differ by less.
const CLEARLY: f64 = 1e-3;

/// Runs the search; returns the best complete hypothesis.
pub fn run(search: &mut Searcher<'_>) -> Result<HypId> {
    let length = search.length as usize;
    let limit = search.settings.stack_size;
    let mut stacks: Vec<Vec<HypId>> = vec![Vec::new(); length + 1];
    stacks[0].push(HypId(0));
    // What the last of a full stack scored with its future cost.
    let mut least = vec![f64::NEG_INFINITY; length + 1];
    let mut edges = Vec::new();
    for covered in 0..length {
        let mut stack = std::mem::take(&mut stacks[covered]);
        let groups = search.group(&mut stack, limit);
        for group in groups {
            search.check()?;
            edges.clear();
            search.edges(group, |_, edge| edges.push(edge));
            for edge in &mut edges {
                search.check()?;
                let after = covered + edge.span.len() as usize;
                let complete = after == length;
                for row in 0..search.rows(edge) {
                    let row = search.row(edge, row);
                    for column in 0..edge.columns {
                        let scored = search.score(edge, &row, column, complete);
                        let total = scored.score + f64::from(edge.future);
                        if total < least[after] - CLEARLY && !search.keep_arcs {
                            continue;
                        }
                        stacks[after].extend(search.make(edge, row.row, &scored, complete));
                    }
                }
                if limit > 0 && stacks[after].len() > 2 * limit {
                    least[after] = thin(search, &mut stacks[after], limit);
                }
            }
        }
    }
    Ok(stacks[length].first().copied().unwrap_or_default())
}

/// Keeps the best of a stack in the making; equal scores go to the older. Returns the least score.
fn thin(search: &mut Searcher<'_>, stack: &mut Vec<HypId>, limit: usize) -> f64 {
    let mut order: Vec<(f64, usize)> =
        stack.iter().enumerate().map(|(age, &hyp)| (search.total(hyp), age)).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut kept: Vec<usize> = order[..limit].iter().map(|&(_, age)| age).collect();
    kept.sort_unstable();
    let dropped: Vec<HypId> = order[limit..].iter().map(|&(_, age)| stack[age]).collect();
    *stack = kept.into_iter().map(|age| stack[age]).collect();
    search.stats.pruned += dropped.len() as u64;
    search.arena.hyps.give_up(&dropped);
    order[limit - 1].0
}
