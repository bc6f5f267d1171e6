//! Edges of a group.

use crate::corpus::SrcPos;
use crate::decode::ids::{CoverId, OptionListId};
use crate::decode::options::collection::OptionList;
use crate::decode::search::arena::Edge;
use crate::decode::search::early_pruning::Place;
use crate::decode::search::grouping::Group;
use crate::decode::search::sentence_search::Searcher;
use crate::feature::{Here, Span};
use crate::narrow::to_f32;
use crate::reorder::prune::Chooser;
use std::ops::Range;

impl Searcher<'_> {
    /// Calls `each` for every list that may follow a group.
    pub fn edges(&mut self, number_of_group: u32, mut each: impl FnMut(u32, Edge)) {
        let group = self.arena.groups[number_of_group as usize];
        let mut lists = std::mem::take(&mut self.arena.lists);
        lists.clear();
        match self.pruning.take() {
            Some((place, mut chooser)) => {
                self.prune(number_of_group, place, &mut chooser, &mut lists);
                self.pruning = Some((place, chooser));
            }
            None => self.allowed(&group, |run| lists.extend(run.map(OptionListId))),
        }
        let cov = self.arena.covers.get(group.cover);
        let gap = self.arena.covers.gap(group.cover);
        let covered = self.arena.covers.covered(group.cover);
        let whole = self.arena.covers.future(group.cover);
        let future = &self.options.future;
        let mut hole = Span::default();
        let mut start = u32::MAX;
        // What lies before the hole and behind it, and what is left of it before the span.
        let (mut without, mut left) = (0.0, 0.0);
        for &number in &lists {
            let &OptionList { span, count, first, .. } = self.options.list(number);
            if span.start != start {
                start = span.start;
                if start >= hole.end {
                    hole = Span::new(cov.free_run_start(start), cov.next_covered(start));
                    without = whole - future.of_gap(hole.start, hole.end);
                }
                left = future.of_gap(hole.start, start);
            }
            let cost = self.settings.distortion.cost(gap, group.end, span);
            let next_gap = if span.start == gap { cov.next_free(span.end) } else { gap };
            let rest = left + future.of_span(span.end, hole.end);
            let edge = Edge {
                group: number_of_group,
                rows: group.rows,
                first,
                columns: count,
                span,
                jump: to_f32(-(self.jump_weight * f64::from(cost))),
                future: without + rest + self.ahead(next_gap, span.end, covered + span.len()),
                cover: CoverId::NONE,
                blocks: None,
            };
            each(span.len(), edge);
        }
        self.arena.lists = lists;
    }

    /// Calls `each` for the lists on untranslated spans that the space, the walls and the order of
    /// unknown words allow, as runs of numbers with one start, by start, then length.
    fn allowed(&self, group: &Group, mut each: impl FnMut(Range<u32>)) {
        let here = self.here(group);
        let space = self.settings.space;
        let window = space.window(&here);
        let is_bound_enough = self.fences.is_none() && !space.remembers();
        let mut start = here.cov.next_free(window.start);
        while start < window.end {
            let free = here.cov.next_covered(start);
            for start in start..free.min(window.end) {
                if !self.options.may_start(here.cov, start) {
                    continue;
                }
                let end = free.min(space.last_end(&here, start));
                let mut lists = self.options.lists_within(start, end);
                if is_bound_enough {
                    each(lists);
                    continue;
                }
                while !lists.is_empty() {
                    let span = self.options.list(OptionListId(lists.start)).span;
                    let of_span = self.options.list_ids(span);
                    lists.start = of_span.end;
                    if self.admits(&here, span) {
                        each(of_span);
                    }
                }
            }
            start = here.cov.next_free(free);
        }
    }

    /// Whether the space and the walls allow a span.
    fn admits(&self, here: &Here<'_>, span: Span) -> bool {
        let space = self.settings.space;
        let has = |span: Span| self.options.has(span);
        space.admits(here, span, has)
            && self.fences.is_none_or(|fences| fences.admit(space, here, span, &has))
    }

    /// What decides which lists may follow, where that is known before they are looked at.
    fn place(&self, group: &Group) -> Option<Place> {
        let space = self.settings.space;
        let is_bound = self.fences.is_none() && !space.remembers();
        is_bound.then(|| {
            let here = self.here(group);
            let window = space.window(&here);
            let end = here.cov.last_free().map_or(0, |last| last + 1);
            let starts = Span::new(here.cov.next_free(window.start), window.end.min(end));
            Place { cover: group.cover, starts }
        })
    }

    /// The lists that the space allows and that are worth trying to the path feature at `place`.
    /// Groups of one coverage stand side by side, and most share what the space allows.
    fn prune(
        &mut self,
        number: u32,
        place: usize,
        chooser: &mut Chooser,
        lists: &mut Vec<OptionListId>,
    ) {
        let group = self.arena.groups[number as usize];
        let mut choosing = std::mem::take(&mut self.arena.choosing);
        choosing.allow(self.options, self.place(&group), |each| self.allowed(&group, each));
        let state = self.arena.states.get(&group.path)[place];
        let here = self.here(&group);
        let choose = |words: &mut Vec<SrcPos>, scores: &mut Vec<f32>| {
            self.paths[place].rate(state, &here, words, scores);
            chooser.choose(group.end, words, scores)
        };
        let covered = self.arena.covers.covered(group.cover);
        self.stats.narrowed += choosing.choose(self.options, covered, choose, lists);
        self.arena.choosing = choosing;
    }

    /// Hypotheses that the stack of so many translated words may make of its edges; 0: any number.
    pub fn pop_limit(&self, covered: usize, edges: usize) -> usize {
        let limit = self.settings.pop_limit;
        self.pruning.as_ref().map_or(limit, |(_, chooser)| {
            chooser.rules().pops(limit, edges, self.arena.choosing.left_out(covered))
        })
    }
}
