//! The edges of a group: the option lists that may follow it.

use crate::corpus::SrcPos;
use crate::decode::ids::{CoverageId, OptionListId};
use crate::decode::options::collection::OptionList;
use crate::decode::search::arena::SearchEdge;
use crate::decode::search::early_pruning::AllowedKey;
use crate::decode::search::grouping::HypothesisGroup;
use crate::decode::search::sentence_search::SentenceSearch;
use crate::feature::{ReorderingState, Span};
use crate::narrow::to_f32;
use crate::reorder::prune::Chooser;
use std::ops::Range;

impl SentenceSearch<'_> {
    /// Call `each` with the length and the edge of every option list that may follow a group.
    pub fn edges(&mut self, group_id: u32, mut each: impl FnMut(u32, SearchEdge)) {
        let group = self.arena.groups[group_id as usize];
        let mut lists = std::mem::take(&mut self.arena.lists);
        lists.clear();
        match self.pruning.take() {
            Some((place, mut chooser)) => {
                self.prune(group_id, place, &mut chooser, &mut lists);
                self.pruning = Some((place, chooser));
            }
            None => self.allowed(&group, |run| lists.extend(run.map(OptionListId))),
        }
        let cov = self.arena.coverages.get(group.coverage);
        let gap = self.arena.coverages.gap(group.coverage);
        let covered = self.arena.coverages.covered(group.coverage);
        let total_future = self.arena.coverages.future(group.coverage);
        let future = &self.options.future;
        let mut hole = Span::default();
        let mut start = u32::MAX;
        // Future cost outside the gap, and of the part of the gap before the span.
        let (mut without, mut left) = (0.0, 0.0);
        for &number in &lists {
            let &OptionList { span, count, first, .. } = self.options.list(number);
            if span.start != start {
                start = span.start;
                if start >= hole.end {
                    hole = Span::new(cov.free_run_start(start), cov.next_covered(start));
                    without = total_future - future.of_gap(hole.start, hole.end);
                }
                left = future.of_gap(hole.start, start);
            }
            let cost = self.settings.distortion.cost(gap, group.end, span);
            let next_gap = if span.start == gap { cov.next_free(span.end) } else { gap };
            let right = left + future.of_span(span.end, hole.end);
            let edge = SearchEdge {
                group: group_id,
                rows: group.rows,
                first,
                columns: count,
                span,
                jump: to_f32(-(self.jump_weight * f64::from(cost))),
                future: without
                    + right
                    + self.distortion_ahead(next_gap, span.end, covered + span.len()),
                coverage: CoverageId::NONE,
                blocks: None,
            };
            each(span.len(), edge);
        }
        self.arena.lists = lists;
    }

    /// Call `each` with the lists on untranslated spans that the space, the reordering constraints
    /// and the order of unknown words allow; one range per start, shorter spans first.
    fn allowed(&self, group: &HypothesisGroup, mut each: impl FnMut(Range<u32>)) {
        let reordering = self.reordering(group);
        let space = self.settings.space;
        let window = space.window(&reordering);
        let is_bound_enough = self.constraints.is_none() && !space.remembers();
        let mut start = reordering.cov.next_free(window.start);
        while start < window.end {
            let free = reordering.cov.next_covered(start);
            for start in start..free.min(window.end) {
                if !self.options.may_start(reordering.cov, start) {
                    continue;
                }
                let end = free.min(space.last_end(&reordering, start));
                let mut lists = self.options.lists_within(start, end);
                if is_bound_enough {
                    each(lists);
                    continue;
                }
                while !lists.is_empty() {
                    let span = self.options.list(OptionListId(lists.start)).span;
                    let of_span = self.options.list_ids(span);
                    lists.start = of_span.end;
                    if self.admits(&reordering, span) {
                        each(of_span);
                    }
                }
            }
            start = reordering.cov.next_free(free);
        }
    }

    /// Return whether the space and the reordering constraints allow a span.
    fn admits(&self, reordering: &ReorderingState<'_>, span: Span) -> bool {
        let space = self.settings.space;
        let has = |span: Span| self.options.has(span);
        space.admits(reordering, span, has)
            && self
                .constraints
                .is_none_or(|constraints| constraints.admit(space, reordering, span, &has))
    }

    /// Return the key of the allowed lists; none if the space has a state or there are constraints.
    fn allowed_key(&self, group: &HypothesisGroup) -> Option<AllowedKey> {
        let space = self.settings.space;
        let is_bound = self.constraints.is_none() && !space.remembers();
        is_bound.then(|| {
            let reordering = self.reordering(group);
            let window = space.window(&reordering);
            let end = reordering.cov.last_free().map_or(0, |last| last + 1);
            let starts = Span::new(reordering.cov.next_free(window.start), window.end.min(end));
            AllowedKey { coverage: group.coverage, starts }
        })
    }

    /// Write the lists that the space allows and the path feature at index `place` keeps to
    /// `lists`. Groups with one coverage are neighbors and mostly share the allowed lists.
    fn prune(
        &mut self,
        number: u32,
        place: usize,
        chooser: &mut Chooser,
        lists: &mut Vec<OptionListId>,
    ) {
        let group = self.arena.groups[number as usize];
        let mut early_pruning = std::mem::take(&mut self.arena.early_pruning);
        early_pruning
            .allow(self.options, self.allowed_key(&group), |each| self.allowed(&group, each));
        let state = self.arena.states.get(&group.path)[place];
        let reordering = self.reordering(&group);
        let choose = |words: &mut Vec<SrcPos>, scores: &mut Vec<f32>| {
            self.paths[place].score_next_words(state, &reordering, words, scores);
            chooser.choose(group.end, words, scores)
        };
        let covered = self.arena.coverages.covered(group.coverage);
        self.stats.pruned_early += early_pruning.choose(self.options, covered, choose, lists);
        self.arena.early_pruning = early_pruning;
    }

    /// Return the pop limit of the stack of `covered` words; 0: no limit.
    pub fn pop_limit(&self, covered: usize, edges: usize) -> usize {
        let limit = self.settings.pop_limit;
        self.pruning.as_ref().map_or(limit, |(_, chooser)| {
            chooser.rules().pops(limit, edges, self.arena.early_pruning.left_out(covered))
        })
    }
}
