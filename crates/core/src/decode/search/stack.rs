//! Stack search: every extension of every surviving hypothesis.
//!
//! In: a search with the empty hypothesis. Out: the complete hypotheses, recombined into one.
//! How: one stack per number of translated words; the best `stack_size` of each are extended. An
//! extension below the worst of a full stack is skipped unless arcs are kept for an n-best list.
//! Cost: stack size · spans · options per stack; a stack holds at most twice its size.

use crate::decode::ids::HypId;
use crate::decode::search::sentence_search::SentenceSearch;
use crate::error::Result;

/// Margin below the worst score of a full stack; larger than rounding differences of future costs.
const SCORE_MARGIN: f64 = 1e-3;

/// Run the search; return the best complete hypothesis.
pub fn run(search: &mut SentenceSearch<'_>) -> Result<HypId> {
    let length = search.length as usize;
    let limit = search.settings.stack_size;
    let mut stacks: Vec<Vec<HypId>> = vec![Vec::new(); length + 1];
    stacks[0].push(HypId(0));
    // The worst kept score of each full stack, with the future cost.
    let mut worst_kept = vec![f64::NEG_INFINITY; length + 1];
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
                let is_complete = after == length;
                for row in 0..search.rows(edge) {
                    let row = search.row(edge, row);
                    for column in 0..edge.columns {
                        let scored = search.score(edge, &row, column, is_complete);
                        let total = scored.score + f64::from(edge.future);
                        if total < worst_kept[after] - SCORE_MARGIN && !search.keep_arcs {
                            continue;
                        }
                        stacks[after].extend(search.create(edge, row.row, &scored, is_complete));
                    }
                }
                if limit > 0 && stacks[after].len() > 2 * limit {
                    worst_kept[after] = prune(search, &mut stacks[after], limit);
                }
            }
        }
    }
    Ok(stacks[length].first().copied().unwrap_or_default())
}

/// Keep the best `limit` hypotheses of a stack; ties keep the older. Return the worst kept score.
fn prune(search: &mut SentenceSearch<'_>, stack: &mut Vec<HypId>, limit: usize) -> f64 {
    let mut order: Vec<(f64, usize)> =
        stack.iter().enumerate().map(|(age, &hyp)| (search.total(hyp), age)).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut kept: Vec<usize> = order[..limit].iter().map(|&(_, age)| age).collect();
    kept.sort_unstable();
    let dropped: Vec<HypId> = order[limit..].iter().map(|&(_, age)| stack[age]).collect();
    *stack = kept.into_iter().map(|age| stack[age]).collect();
    search.stats.pruned += dropped.len() as u64;
    search.arena.hyps.discard(&dropped);
    order[limit - 1].0
}
