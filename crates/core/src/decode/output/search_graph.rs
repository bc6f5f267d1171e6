//! The stacks of a finished search, for people to look at.
//!
//! In: a search and how many hypotheses of each stack are wanted. Out: by number of translated words
//! the best hypotheses, each with what it added, its score with and without the future cost, how
//! many others were recombined with it, and whether a whole translation came of it.
//! Cost: linear in the hypotheses.

use crate::decode::ids::HypId;
use crate::decode::output::derivation::Replay;
use crate::decode::output::translation::{GraphArc, ShownHyp, ShownStack};
use crate::decode::search::arena::Arena;
use crate::decode::search::hypothesis::Hyp;
use crate::decode::search::sentence_search::Searcher;
use crate::feature::{OptionId, Span};
use crate::narrow::to_u32;

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
        while arc != HypId::NONE && hyps[arc.index()].option != OptionId::NONE {
            let hyp = hyps[arc.index()];
            arcs.push(GraphArc {
                from: hyp.back.0,
                to: to.0,
                src: replay.options.option(hyp.option).span,
                words: replay.words(hyp.option).map(str::to_owned).collect(),
                score: hyp.score - hyps[hyp.back.index()].score,
            });
            open.push(hyp.back);
            arc = hyp.arc;
        }
    }
    arcs.sort_by_key(|arc| arc.to);
    arcs
}

impl Searcher<'_> {
    /// The best `most` hypotheses of each stack; `last` is the whole translation.
    pub fn stacks(&self, replay: &Replay<'_>, last: HypId, most: usize) -> Vec<ShownStack> {
        if replay.src.is_empty() {
            return Vec::new();
        }
        let hyps = self.arena.hyps.all();
        let is_alive = self.alive(last);
        let mut is_head = vec![true; hyps.len()];
        for hyp in hyps.iter().filter(|hyp| hyp.arc != HypId::NONE) {
            is_head[hyp.arc.index()] = false;
        }
        self.arena.hyps.given_up().iter().for_each(|hyp| is_head[hyp.index()] = false);
        let mut by_covered: Vec<Vec<HypId>> = vec![Vec::new(); self.length as usize + 1];
        for number in (0..hyps.len()).filter(|&number| is_head[number]) {
            let covered = self.arena.covers.covered(hyps[number].key.cover);
            by_covered[covered as usize].push(HypId(to_u32(number)));
        }
        let stack = |mut heads: Vec<HypId>| {
            heads.sort_by(|&a, &b| self.total(b).total_cmp(&self.total(a)).then(a.cmp(&b)));
            let recombined = heads.iter().map(|&head| self.merged(head)).sum();
            let abandoned = to_u32(heads.iter().filter(|head| !is_alive[head.index()]).count());
            let show = |&head: &HypId| self.shown(replay, head, is_alive[head.index()]);
            let best = heads.iter().take(most).map(show).collect();
            ShownStack { kept: to_u32(heads.len()), recombined, abandoned, best }
        };
        by_covered.into_iter().map(stack).collect()
    }

    /// Which hypotheses lie on a way to the whole translation.
    fn alive(&self, last: HypId) -> Vec<bool> {
        let hyps = self.arena.hyps.all();
        let mut is_alive = vec![false; hyps.len()];
        let mut open = vec![last];
        while let Some(head) = open.pop() {
            if std::mem::replace(&mut is_alive[head.index()], true) {
                continue;
            }
            let mut arc = head;
            while arc != HypId::NONE {
                let Hyp { back, option, arc: next, .. } = hyps[arc.index()];
                if option != OptionId::NONE {
                    open.push(back);
                }
                arc = next;
            }
        }
        is_alive
    }

    /// How many hypotheses were merged with this one.
    fn merged(&self, head: HypId) -> u32 {
        let (mut count, mut arc) = (0, self.arena.hyps.get(head).arc);
        while arc != HypId::NONE {
            count += 1;
            arc = self.arena.hyps.get(arc).arc;
        }
        count
    }

    fn shown(&self, replay: &Replay<'_>, head: HypId, is_alive: bool) -> ShownHyp {
        let hyp = self.arena.hyps.get(head);
        let cov = self.arena.covers.get(hyp.key.cover);
        let is_start = hyp.option == OptionId::NONE;
        let words = |option| replay.words(option).map(str::to_owned).collect();
        ShownHyp {
            number: head.0,
            back: if is_start { 0 } else { hyp.back.0 },
            src: if is_start { Span::default() } else { self.options.option(hyp.option).span },
            words: if is_start { Vec::new() } else { words(hyp.option) },
            covered: (0..self.length).filter(|&word| cov.has(word)).collect(),
            score: hyp.score,
            total: self.total(head),
            recombined: self.merged(head),
            is_alive,
        }
    }
}
