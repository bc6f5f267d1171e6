//! What all searches share: groups of hypotheses, edges, and the score of an extension.
//!
//! Hypotheses that agree in coverage and last position form a group: the same spans may follow
//! them, at the same distance. A group and a lane of options make an edge, a grid of rows
//! (hypotheses) and columns (options). Within it jump and future cost are the same everywhere,
//! orientation is a look-up, and only language models and path features have to be asked.

use super::choosing::{Choosing, Place};
use super::context::{ContextId, Contexts};
use super::covers::Covers;
use super::gains::Gains;
use super::group::{Dealing, Group};
use super::hyp::{Hyp, Hyps, Key};
use super::id::{CoverId, HypId, ItemId, LaneId};
use super::model::Models;
use super::options::{Lane, Options, Ranked};
use super::pricing::Pricing;
use super::recent::{Extension, Recent};
use super::settings::Settings;
use super::states::States;
use super::stock::Stock;
use super::translation::Statistics;
use crate::corpus::SrcPos;
use crate::error::Result;
use crate::feature::{Coverage, Here, OptionId, PathScorer, Span};
use crate::job::Job;
use crate::narrow::{to_f32, to_u32};
use crate::orientation::{Class, Model};
use crate::reorder::Fences;
use crate::reorder::orientation::{NO_BLOCKS, Outlook, StackId, Stacks, prev_class};
use crate::reorder::prune::Chooser;
use std::ops::Range;

/// A group and a lane that may follow it.
#[derive(Debug, Clone, Copy)]
pub struct Edge {
    pub group: u32,
    /// Where the rows of the group are.
    rows: (u32, u32),
    /// Where the sorted options of the lane start, and how many there are.
    first: u32,
    pub columns: u32,
    /// The words that the lane covers.
    pub span: Span,
    /// Weighted distortion.
    jump: f32,
    /// Future cost after it.
    pub future: f32,
    /// Coverage after it; none until it is asked for.
    cover: CoverId,
    /// The orientation stack after it by that before it, as it was asked for last.
    blocks: Option<(StackId, StackId)>,
}

/// A hypothesis of a group, with all that its extensions look at, once it is extended.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    pub hyp: HypId,
    /// Whether all the rest is known.
    is_known: bool,
    context: ContextId,
    path: u32,
    blocks: StackId,
    score: f64,
    /// What `prev` orientation looks back to.
    before: Span,
    /// What `next` orientation looks ahead to, and what it says of each class.
    outlook: Outlook,
    next: [f32; 4],
}

impl Row {
    /// The row of a hypothesis that nobody has extended.
    pub fn new(hyp: HypId) -> Self {
        Row {
            hyp,
            is_known: false,
            context: 0,
            path: 0,
            blocks: NO_BLOCKS,
            score: 0.0,
            before: Span::default(),
            outlook: Outlook::default(),
            next: [0.0; 4],
        }
    }
}

/// A row of an edge: what does not depend on the option.
#[derive(Debug, Clone, Copy)]
pub struct RowStart {
    /// Its place among the rows of all groups.
    pub row: u32,
    /// Where the options start, sorted for its orientation class.
    first: u32,
    /// The score of the hypothesis with what the step adds, whatever the option.
    base: f64,
}

/// A row and a column of an edge, scored.
#[derive(Debug, Clone, Copy)]
pub struct Scored {
    pub score: f64,
    pub choice: OptionId,
    pub context: ContextId,
    pub path: u32,
}

/// Memory of a search, kept between sentences.
#[derive(Debug, Default)]
pub struct Arena {
    pub covers: Covers,
    pub stacks: Stacks,
    pub hyps: Hyps,
    /// The hypotheses of all groups.
    pub rows: Vec<Row>,
    pub groups: Vec<Group>,
    states: States,
    choosing: Choosing,
    /// Lanes that may follow a group.
    lanes: Vec<LaneId>,
    /// States of the path features after a step.
    after: Vec<u32>,
    pub dealing: Dealing,
    pub recent: Recent,
    gains: Gains,
}

/// A search at work on one sentence.
pub struct Searcher<'s> {
    pub settings: &'s Settings,
    pub models: &'s Models<'s>,
    pub pricing: &'s Pricing<'s>,
    pub options: &'s Options,
    /// Walls and zones, if there are any.
    pub fences: Option<&'s Fences>,
    pub stock: &'s Stock,
    pub contexts: &'s mut Contexts,
    pub arena: &'s mut Arena,
    pub paths: &'s [Box<dyn PathScorer + 's>],
    pub stats: Statistics,
    pub job: &'s Job,
    pub length: u32,
    /// Whether losers of a recombination are kept.
    pub keep_arcs: bool,
    /// How far behind the best of its stack an extension may be.
    pub slack: f64,
    pub jump_weight: f64,
    pub path_weights: &'s [f64],
    pub keeps_blocks: bool,
    pub keeps_start: bool,
    /// The place of the path feature that the search is pruned by, and what chooses by it.
    pub pruning: Option<(usize, Chooser)>,
}

/// What a path feature says of an option, with the end if it is the last, and its state after it.
fn step(
    scorer: &dyn PathScorer,
    state: u32,
    here: &Here<'_>,
    choice: OptionId,
    complete: bool,
) -> (f64, u32) {
    let (value, after) = scorer.step(state, here, choice);
    let end = if complete { scorer.finish(after) } else { 0.0 };
    (f64::from(value + end), after)
}

impl Searcher<'_> {
    /// Makes the empty hypothesis, number 0.
    pub fn start(&mut self) {
        let Arena { covers, stacks, hyps, rows, groups, states, choosing, gains, .. } =
            &mut *self.arena;
        covers.reset(self.length, &self.options.future);
        let rules = self.pruning.as_ref().map(|(_, chooser)| chooser.rules());
        choosing.restart(self.length, self.options, rules);
        stacks.clear();
        rows.clear();
        groups.clear();
        gains.restart();
        states.restart(self.paths.len());
        let row: Vec<u32> = self.paths.iter().map(|path| path.start()).collect();
        let path = states.id(&row);
        let context = self.contexts.start(&self.pricing.lms);
        hyps.restart(Hyp {
            key: Key { context, path, blocks: NO_BLOCKS, ..Key::default() },
            score: 0.0,
            back: HypId::NONE,
            choice: OptionId::NONE,
            arc: HypId::NONE,
        });
    }

    /// Weighted score with the future cost.
    pub fn total(&self, hyp: HypId) -> f64 {
        let Hyp { key, score, .. } = self.arena.hyps.get(hyp);
        score + self.rest(key)
    }

    /// The future cost of hypotheses with this key.
    pub fn rest(&self, key: &Key) -> f64 {
        let covers = &self.arena.covers;
        let mut ahead = self.ahead(covers.gap(key.cover), key.end, covers.covered(key.cover));
        // Without path features no gap loses anything.
        let is_open = || key.end < self.length && !covers.get(key.cover).has(key.end);
        if !self.paths.is_empty() && is_open() {
            ahead -= self.options.future.loss(key.end);
        }
        f64::from(covers.future(key.cover) + ahead)
    }

    /// The future cost of jumps; none is left when all is translated.
    fn ahead(&self, gap: u32, end: u32, covered: u32) -> f32 {
        if covered == self.length {
            return 0.0;
        }
        let cost = self.settings.distortion.ahead(gap, end, covered);
        to_f32(-(self.jump_weight * f64::from(cost)))
    }

    fn here(&self, group: &Group) -> Here<'_> {
        Here {
            cov: self.arena.covers.get(group.cover),
            gap: self.arena.covers.gap(group.cover),
            end: group.end,
            top: group.top,
            mode: group.mode,
        }
    }

    /// Calls `each` for every lane that may follow a group.
    pub fn edges(&mut self, number_of_group: u32, mut each: impl FnMut(u32, Edge)) {
        let group = self.arena.groups[number_of_group as usize];
        let mut lanes = std::mem::take(&mut self.arena.lanes);
        lanes.clear();
        match self.pruning.take() {
            Some((place, mut chooser)) => {
                self.prune(number_of_group, place, &mut chooser, &mut lanes);
                self.pruning = Some((place, chooser));
            }
            None => self.allowed(&group, |run| lanes.extend(run.map(LaneId))),
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
        for &number in &lanes {
            let &Lane { span, count, first, .. } = self.options.lane(number);
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
            let rest = left + future.of(span.end, hole.end);
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
        self.arena.lanes = lanes;
    }

    /// Calls `each` for the lanes on untranslated spans that the space, the walls and the order of
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
                let mut lanes = self.options.lanes_within(start, end);
                if is_bound_enough {
                    each(lanes);
                    continue;
                }
                while !lanes.is_empty() {
                    let span = self.options.lane(LaneId(lanes.start)).span;
                    let of_span = self.options.lane_numbers(span);
                    lanes.start = of_span.end;
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

    /// What decides which lanes may follow, where that is known before they are looked at.
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

    /// The lanes that the space allows and that are worth trying to the path feature at `place`.
    /// Groups of one coverage stand side by side, and most share what the space allows.
    fn prune(&mut self, number: u32, place: usize, chooser: &mut Chooser, lanes: &mut Vec<LaneId>) {
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
        self.stats.narrowed += choosing.choose(self.options, covered, choose, lanes);
        self.arena.choosing = choosing;
    }

    /// Hypotheses that the stack of so many translated words may make of its edges; 0: any number.
    pub fn pop_limit(&self, covered: usize, edges: usize) -> usize {
        let limit = self.settings.pop_limit;
        self.pruning.as_ref().map_or(limit, |(_, chooser)| {
            chooser.rules().pops(limit, edges, self.arena.choosing.left_out(covered))
        })
    }

    /// Number of hypotheses of an edge.
    pub fn rows(&self, edge: &Edge) -> u32 {
        edge.rows.1 - edge.rows.0
    }

    /// Which row of an edge it is.
    pub fn rank(edge: &Edge, start: &RowStart) -> u32 {
        start.row - edge.rows.0
    }

    /// A row of an edge.
    #[inline(always)]
    pub fn row(&mut self, edge: &Edge, row: u32) -> RowStart {
        let at = edge.rows.0 + row;
        let mut row = &self.arena.rows[at as usize];
        if !row.is_known {
            self.arena.rows[at as usize] = self.row_of(row.hyp);
            row = &self.arena.rows[at as usize];
        }
        let next = row.next[row.outlook.class(edge.span) as usize];
        let class = prev_class(row.before, edge.span);
        RowStart {
            row: at,
            first: edge.first + self.options.class_start(class, edge.columns),
            base: row.score + f64::from(edge.jump + next),
        }
    }

    /// The score of extending a hypothesis of an edge by an option.
    #[inline(always)]
    pub fn score(&mut self, edge: &Edge, start: &RowStart, column: u32, complete: bool) -> Scored {
        let Ranked { score: alone, choice, item } = self.options.ranked(start.first + column);
        let Row { context: before, path: path_before, .. } = self.arena.rows[start.row as usize];
        let lms = &self.pricing.lms;
        let (gain, context) = match self.arena.gains.get(before, item) {
            Some(known) => known,
            None => {
                let gained = self.contexts.gain(lms, before, self.stock.line(item));
                self.arena.gains.put(before, item, gained);
                gained
            }
        };
        let mut score = start.base + f64::from(alone + gain);
        self.stats.scored += 1;
        if complete {
            score += f64::from(self.contexts.end(lms, context)) + self.ending(edge.span, item);
        }
        let mut path = 0;
        if !self.paths.is_empty() {
            let group = self.arena.groups[edge.group as usize];
            let (value, after) = self.step_paths(&group, path_before, choice, complete);
            score += value;
            path = after;
        }
        Scored { score, choice, context, path }
    }

    /// What ending with this phrase adds, the language models aside.
    fn ending(&self, span: Span, item: ItemId) -> f64 {
        let mut score = 0.0;
        if self.settings.final_jump {
            let jump = self.settings.distortion.last(span.end, self.length);
            score -= self.jump_weight * f64::from(jump);
        }
        if self.settings.final_next {
            let class = if span.end == self.length { Class::M } else { Class::Dr };
            score += f64::from(self.stock.next_row(self.stock.item(item).next)[class as usize]);
        }
        score
    }

    /// What path features say of an option, weighted, and their states after it.
    fn step_paths(
        &mut self,
        group: &Group,
        path: u32,
        choice: OptionId,
        complete: bool,
    ) -> (f64, u32) {
        // The state of a single feature is its own number.
        if let ([scorer], [weight]) = (self.paths, self.path_weights) {
            let (value, after) = step(&**scorer, path, &self.here(group), choice, complete);
            return (weight * value, after);
        }
        let mut states = std::mem::take(&mut self.arena.after);
        states.clear();
        let mut total = 0.0;
        let here = self.here(group);
        let before = self.arena.states.get(&path);
        for ((scorer, &state), weight) in self.paths.iter().zip(before).zip(self.path_weights) {
            let (value, after) = step(&**scorer, state, &here, choice, complete);
            states.push(after);
            total += weight * value;
        }
        let after = self.arena.states.id(&states);
        self.arena.after = states;
        (total, after)
    }

    /// Makes the hypothesis of a scored row and column; returns its number when it is new.
    pub fn make(
        &mut self,
        edge: &mut Edge,
        row: u32,
        scored: &Scored,
        complete: bool,
    ) -> Option<HypId> {
        self.stats.made += 1;
        let &Scored { score, choice, context, path } = scored;
        let Row { hyp: back, blocks, .. } = self.arena.rows[row as usize];
        let extension = Extension { group: edge.group, choice, context, path, blocks };
        let place = extension.place();
        let known = if complete { None } else { self.arena.recent.get(place, &extension) };
        if let Some(twin) = known
            && !self.keep_arcs
            && score <= self.arena.hyps.get(twin).score
        {
            self.stats.recombined += 1;
            return None;
        }
        let key = match known {
            Some(twin) => self.arena.hyps.get(twin).key,
            None if complete => Key { cover: self.cover(edge), ..Key::default() },
            None => self.key(edge, blocks, scored),
        };
        let hyp = Hyp { key, score, back, choice, arc: HypId::NONE };
        let (made, is_new) = match known {
            Some(twin) => (twin, false),
            None => self.arena.hyps.enter(&hyp),
        };
        self.arena.recent.note(place, extension, made);
        if is_new {
            return Some(made);
        }
        self.stats.recombined += 1;
        self.arena.hyps.recombine(made, hyp, self.keep_arcs);
        None
    }

    /// The coverage after an edge.
    fn cover(&mut self, edge: &mut Edge) -> CoverId {
        if edge.cover == CoverId::NONE {
            let group = &self.arena.groups[edge.group as usize];
            edge.cover = self.arena.covers.extend(group.cover, edge.span, &self.options.future);
        }
        edge.cover
    }

    /// All that the future of an extension depends on; `below` is the orientation stack before it.
    fn key(&mut self, edge: &mut Edge, below: StackId, scored: &Scored) -> Key {
        let &Scored { context, path, choice, .. } = scored;
        let span = edge.span;
        let cover = self.cover(edge);
        let mut key = Key { cover, context, path, end: span.end, ..Key::default() };
        if self.keeps_blocks {
            key.blocks = match edge.blocks {
                Some((before, after)) if before == below => after,
                _ => self.arena.stacks.push(below, span, self.settings.reduce),
            };
            edge.blocks = Some((below, key.blocks));
        }
        if self.models.orientation.is_some_and(|orientation| orientation.next) {
            key.next = self.stock.item(self.options.choice(choice).item).next;
        }
        // Once the word to its left is taken, nobody can tell where the phrase started.
        let open = |cov: Coverage<'_>| span.start > 0 && !cov.has(span.start - 1);
        if self.keeps_start && open(self.arena.covers.get(cover)) {
            key.start = span.start;
        }
        if self.settings.space.remembers() {
            let group = &self.arena.groups[edge.group as usize];
            key.mode = self.settings.space.after(&self.here(group), span);
        }
        key
    }

    /// What the extensions of a hypothesis look at.
    fn row_of(&self, hyp: HypId) -> Row {
        let Hyp { key, score, choice, .. } = self.arena.hyps.get(hyp);
        let span = match *choice {
            OptionId::NONE => Span::default(),
            choice => self.options.choice(choice).span,
        };
        let (before, outlook) = self.look_around(key, span);
        Row {
            hyp,
            is_known: true,
            context: key.context,
            path: key.path,
            blocks: key.blocks,
            score: *score,
            before,
            outlook,
            next: *self.stock.next_row(key.next),
        }
    }

    /// What orientation looks back and ahead to after `span`.
    fn look_around(&self, key: &Key, span: Span) -> (Span, Outlook) {
        let Some(orientation) = self.models.orientation else {
            return (span, Outlook::default());
        };
        let before = match orientation.model {
            Model::Hierarchical => self.arena.stacks.top(key.blocks),
            Model::Phrase | Model::Word => span,
        };
        if !orientation.next {
            return (before, Outlook::default());
        }
        let cov = self.arena.covers.get(key.cover);
        let test = self.settings.next_test;
        (before, Outlook::new(orientation.model, test, cov, span))
    }

    /// The stack is complete: nothing is recombined with its hypotheses any more.
    pub fn close(&mut self) {
        self.arena.hyps.close();
        self.arena.recent.restart(to_u32(self.arena.hyps.all().len()));
    }

    /// Looks whether somebody wants to stop.
    pub fn check(&self) -> Result<()> {
        self.job.check()
    }
}
