//! Extensions of hypotheses.

use crate::decode::ids::{CoverId, HypId, TargetPhraseId};
use crate::decode::options::collection::RankedOption;
use crate::decode::search::arena::{Edge, Row, RowStart, Scored};
use crate::decode::search::grouping::Group;
use crate::decode::search::hypothesis::{Extension, Hyp, Key};
use crate::decode::search::sentence_search::Searcher;
use crate::feature::{Coverage, Here, OptionId, PathScorer, Span};
use crate::orientation::{Class, Model};
use crate::reorder::orientation::{Outlook, StackId, prev_class};

/// What a path feature says of an option, with the end if it is the last, and its state after it.
fn step(
    scorer: &dyn PathScorer,
    state: u32,
    here: &Here<'_>,
    option: OptionId,
    complete: bool,
) -> (f64, u32) {
    let (value, after) = scorer.step(state, here, option);
    let end = if complete { scorer.finish(after) } else { 0.0 };
    (f64::from(value + end), after)
}

impl Searcher<'_> {
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
        let RankedOption { score: isolated_score, option, phrase } =
            self.options.ranked(start.first + column);
        let Row { context: before, path: path_before, .. } = self.arena.rows[start.row as usize];
        let lms = &self.scoring.lms;
        let (lm_delta, context) = match self.arena.lm_scores.get(before, phrase) {
            Some(known) => known,
            None => {
                let scored = self.contexts.score_in_context(
                    lms,
                    before,
                    self.option_cache.lm_phrase(phrase),
                );
                self.arena.lm_scores.put(before, phrase, scored);
                scored
            }
        };
        let mut score = start.base + f64::from(isolated_score + lm_delta);
        self.stats.scored += 1;
        if complete {
            score += f64::from(self.contexts.end(lms, context)) + self.ending(edge.span, phrase);
        }
        let mut path = 0;
        if !self.paths.is_empty() {
            let group = self.arena.groups[edge.group as usize];
            let (value, after) = self.step_paths(&group, path_before, option, complete);
            score += value;
            path = after;
        }
        Scored { score, option, context, path }
    }

    /// What ending with this phrase adds, the language models aside.
    fn ending(&self, span: Span, phrase: TargetPhraseId) -> f64 {
        let mut score = 0.0;
        if self.settings.final_jump {
            let jump = self.settings.distortion.last(span.end, self.length);
            score -= self.jump_weight * f64::from(jump);
        }
        if self.settings.final_next {
            let class = if span.end == self.length { Class::M } else { Class::Dr };
            score += f64::from(
                self.option_cache.next_scores(self.option_cache.phrase(phrase).next)
                    [class as usize],
            );
        }
        score
    }

    /// What path features say of an option, weighted, and their states after it.
    fn step_paths(
        &mut self,
        group: &Group,
        path: u32,
        option: OptionId,
        complete: bool,
    ) -> (f64, u32) {
        // The state of a single feature is its own number.
        if let ([scorer], [weight]) = (self.paths, self.path_weights) {
            let (value, after) = step(&**scorer, path, &self.here(group), option, complete);
            return (weight * value, after);
        }
        let mut states = std::mem::take(&mut self.arena.after);
        states.clear();
        let mut total = 0.0;
        let here = self.here(group);
        let before = self.arena.states.get(&path);
        for ((scorer, &state), weight) in self.paths.iter().zip(before).zip(self.path_weights) {
            let (value, after) = step(&**scorer, state, &here, option, complete);
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
        let &Scored { score, option, context, path } = scored;
        let Row { hyp: back, blocks, .. } = self.arena.rows[row as usize];
        let extension = Extension { group: edge.group, option, context, path, blocks };
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
        let hyp = Hyp { key, score, back, option, arc: HypId::NONE };
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
        let &Scored { context, path, option, .. } = scored;
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
            key.next = self.option_cache.phrase(self.options.option(option).phrase).next;
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
        let Hyp { key, score, option, .. } = self.arena.hyps.get(hyp);
        let span = match *option {
            OptionId::NONE => Span::default(),
            option => self.options.option(option).span,
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
            next: *self.option_cache.next_scores(key.next),
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
}
