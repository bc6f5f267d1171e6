//! The search graph and the stacks of a finished search, for inspection.
//!
//! In: a search, and the number of hypotheses per stack. Out: the arcs on all paths to a complete
//! translation; for each stack the best hypotheses with their scores, the number of recombined
//! hypotheses, and whether a complete translation contains them.
//! Cost: linear in the hypotheses.

use crate::decode::ids::HypId;
use crate::decode::output::derivation::DerivationScorer;
use crate::decode::output::translation::{GraphArc, HypothesisSnapshot, StackSnapshot};
use crate::decode::search::arena::SearchArena;
use crate::decode::search::hypothesis::Hypothesis;
use crate::decode::search::sentence_search::SentenceSearch;
use crate::feature::{OptionId, Span};
use crate::narrow::to_u32;

/// Return all arcs on a path to the last hypothesis.
pub fn search_graph(
    scorer: &DerivationScorer<'_>,
    arena: &SearchArena,
    last: HypId,
) -> Vec<GraphArc> {
    let hyps = arena.hyps.all();
    let mut reached = vec![false; hyps.len()];
    let mut open = vec![last];
    let mut arcs = Vec::new();
    while let Some(to) = open.pop() {
        if std::mem::replace(&mut reached[to.index()], true) || scorer.src.is_empty() {
            continue;
        }
        let mut arc = to;
        while arc != HypId::NONE && hyps[arc.index()].option != OptionId::NONE {
            let hyp = hyps[arc.index()];
            arcs.push(GraphArc {
                from: hyp.back.0,
                to: to.0,
                src: scorer.options.option(hyp.option).span,
                words: scorer.words(hyp.option).map(str::to_owned).collect(),
                score: hyp.score - hyps[hyp.back.index()].score,
            });
            open.push(hyp.back);
            arc = hyp.arc;
        }
    }
    arcs.sort_by_key(|arc| arc.to);
    arcs
}

impl SentenceSearch<'_> {
    /// Return the best `limit` hypotheses of each stack; `last` is the complete hypothesis.
    pub fn stacks(
        &self,
        scorer: &DerivationScorer<'_>,
        last: HypId,
        limit: usize,
    ) -> Vec<StackSnapshot> {
        if scorer.src.is_empty() {
            return Vec::new();
        }
        let hyps = self.arena.hyps.all();
        let is_alive = self.find_alive(last);
        let mut is_head = vec![true; hyps.len()];
        for hyp in hyps.iter().filter(|hyp| hyp.arc != HypId::NONE) {
            is_head[hyp.arc.index()] = false;
        }
        self.arena.hyps.discarded().iter().for_each(|hyp| is_head[hyp.index()] = false);
        let mut by_covered: Vec<Vec<HypId>> = vec![Vec::new(); self.length as usize + 1];
        for number in (0..hyps.len()).filter(|&number| is_head[number]) {
            let covered = self.arena.coverages.covered(hyps[number].key.coverage);
            by_covered[covered as usize].push(HypId(to_u32(number)));
        }
        let stack = |mut heads: Vec<HypId>| {
            heads.sort_by(|&a, &b| self.total(b).total_cmp(&self.total(a)).then(a.cmp(&b)));
            let recombined = heads.iter().map(|&head| self.count_recombined(head)).sum();
            let abandoned = to_u32(heads.iter().filter(|head| !is_alive[head.index()]).count());
            let show = |&head: &HypId| self.snapshot(scorer, head, is_alive[head.index()]);
            let best = heads.iter().take(limit).map(show).collect();
            StackSnapshot { kept: to_u32(heads.len()), recombined, abandoned, best }
        };
        by_covered.into_iter().map(stack).collect()
    }

    /// Return for each hypothesis whether it is on a path to the complete hypothesis.
    fn find_alive(&self, last: HypId) -> Vec<bool> {
        let hyps = self.arena.hyps.all();
        let mut is_alive = vec![false; hyps.len()];
        let mut open = vec![last];
        while let Some(head) = open.pop() {
            if std::mem::replace(&mut is_alive[head.index()], true) {
                continue;
            }
            let mut arc = head;
            while arc != HypId::NONE {
                let Hypothesis { back, option, arc: next, .. } = hyps[arc.index()];
                if option != OptionId::NONE {
                    open.push(back);
                }
                arc = next;
            }
        }
        is_alive
    }

    /// Return the number of hypotheses recombined with this one.
    fn count_recombined(&self, head: HypId) -> u32 {
        let (mut count, mut arc) = (0, self.arena.hyps.get(head).arc);
        while arc != HypId::NONE {
            count += 1;
            arc = self.arena.hyps.get(arc).arc;
        }
        count
    }

    fn snapshot(
        &self,
        scorer: &DerivationScorer<'_>,
        head: HypId,
        is_alive: bool,
    ) -> HypothesisSnapshot {
        let hyp = self.arena.hyps.get(head);
        let cov = self.arena.coverages.get(hyp.key.coverage);
        let is_start = hyp.option == OptionId::NONE;
        let words = |option| scorer.words(option).map(str::to_owned).collect();
        HypothesisSnapshot {
            number: head.0,
            back: if is_start { 0 } else { hyp.back.0 },
            src: if is_start { Span::default() } else { self.options.option(hyp.option).span },
            words: if is_start { Vec::new() } else { words(hyp.option) },
            covered: (0..self.length).filter(|&word| cov.has(word)).collect(),
            score: hyp.score,
            total: self.total(head),
            recombined: self.count_recombined(head),
            is_alive,
        }
    }
}
