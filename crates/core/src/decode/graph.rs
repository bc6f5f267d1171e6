//! The search graph: all ways that lead to a complete translation.

use super::id::HypId;
use super::replay::Replay;
use super::search::Arena;
use super::translation::GraphArc;
use crate::feature::OptionId;

/// All arcs that lie on some way to the last hypothesis.
pub fn graph(replay: &Replay<'_>, arena: &Arena, last: HypId) -> Vec<GraphArc> {
    let hyps = arena.hyps.all();
    let mut reached = vec![false; hyps.len()];
    let mut open = vec![last];
    let mut arcs = Vec::new();
    while let Some(to) = open.pop() {
        if std::mem::replace(&mut reached[to.index()], true) || replay.src.is_empty() {
            continue;
        }
        let mut arc = to;
        while arc != HypId::NONE && hyps[arc.index()].choice != OptionId::NONE {
            let hyp = hyps[arc.index()];
            arcs.push(GraphArc {
                from: hyp.back.0,
                to: to.0,
                src: replay.options.choice(hyp.choice).span,
                words: replay.words(hyp.choice).map(str::to_owned).collect(),
                score: hyp.score - hyps[hyp.back.index()].score,
            });
            open.push(hyp.back);
            arc = hyp.arc;
        }
    }
    arcs.sort_by_key(|arc| arc.to);
    arcs
}
