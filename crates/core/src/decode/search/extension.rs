//! Extensions: score an option after a hypothesis and create the new hypothesis.

use crate::decode::ids::{CoverageId, HypId, TargetPhraseId};
use crate::decode::options::collection::RankedOption;
use crate::decode::search::arena::{EdgeRow, HypothesisRow, ScoredExtension, SearchEdge};
use crate::decode::search::grouping::HypothesisGroup;
use crate::decode::search::hypothesis::{ExtensionKey, Hypothesis, RecombinationKey};
use crate::decode::search::sentence_search::SentenceSearch;
use crate::feature::{Coverage, OptionId, PathScorer, ReorderingState, Span};
use crate::orientation::{Class, Model};
use crate::reorder::orientation::{Outlook, StackId, prev_class};

/// Return the value of a path feature for an option, including the end of a complete translation,
/// and the state after it.
fn extend_path(
    scorer: &dyn PathScorer,
    state: u32,
    reordering: &ReorderingState<'_>,
    option: OptionId,
    is_complete: bool,
) -> (f64, u32) {
    let (value, after) = scorer.extend(state, reordering, option);
    let end = if is_complete { scorer.finish(after) } else { 0.0 };
    (f64::from(value + end), after)
}

impl SentenceSearch<'_> {
    /// Return the number of hypotheses of an edge.
    pub fn rows(&self, edge: &SearchEdge) -> u32 {
        edge.rows.1 - edge.rows.0
    }

    /// Return the index of a row within its edge.
    pub fn rank(edge: &SearchEdge, start: &EdgeRow) -> u32 {
        start.row - edge.rows.0
    }

    /// Return a row of an edge.
    #[inline(always)]
    pub fn row(&mut self, edge: &SearchEdge, row: u32) -> EdgeRow {
        let at = edge.rows.0 + row;
        let mut row = &self.arena.rows[at as usize];
        if !row.is_known {
            self.arena.rows[at as usize] = self.load_row(row.hyp);
            row = &self.arena.rows[at as usize];
        }
        let next = row.next[row.outlook.class(edge.span) as usize];
        let class = prev_class(row.before, edge.span);
        EdgeRow {
            row: at,
            first: edge.first + self.options.class_start(class, edge.columns),
            base: row.score + f64::from(edge.jump + next),
        }
    }

    /// Score the extension of a row by an option.
    #[inline(always)]
    pub fn score(
        &mut self,
        edge: &SearchEdge,
        start: &EdgeRow,
        column: u32,
        is_complete: bool,
    ) -> ScoredExtension {
        let RankedOption { score: isolated_score, option, phrase } =
            self.options.ranked(start.first + column);
        let HypothesisRow { context: before, path: path_before, .. } =
            self.arena.rows[start.row as usize];
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
        if is_complete {
            score +=
                f64::from(self.contexts.end(lms, context)) + self.final_score(edge.span, phrase);
        }
        let mut path = 0;
        if !self.paths.is_empty() {
            let group = self.arena.groups[edge.group as usize];
            let (value, after) = self.extend_paths(&group, path_before, option, is_complete);
            score += value;
            path = after;
        }
        ScoredExtension { score, option, context, path }
    }

    /// Return the score of ending with this phrase: final jump and final `next` orientation.
    fn final_score(&self, span: Span, phrase: TargetPhraseId) -> f64 {
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

    /// Return the weighted value of all path features for an option, and the id of their states
    /// after it.
    fn extend_paths(
        &mut self,
        group: &HypothesisGroup,
        path: u32,
        option: OptionId,
        is_complete: bool,
    ) -> (f64, u32) {
        // With one feature, its state is the id.
        if let ([scorer], [weight]) = (self.paths, self.path_weights) {
            let (value, after) =
                extend_path(&**scorer, path, &self.reordering(group), option, is_complete);
            return (weight * value, after);
        }
        let mut states = std::mem::take(&mut self.arena.after);
        states.clear();
        let mut total = 0.0;
        let reordering = self.reordering(group);
        let before = self.arena.states.get(&path);
        for ((scorer, &state), weight) in self.paths.iter().zip(before).zip(self.path_weights) {
            let (value, after) = extend_path(&**scorer, state, &reordering, option, is_complete);
            states.push(after);
            total += weight * value;
        }
        let after = self.arena.states.id(&states);
        self.arena.after = states;
        (total, after)
    }

    /// Create the hypothesis of a scored cell; return its id unless it was recombined.
    pub fn create(
        &mut self,
        edge: &mut SearchEdge,
        row: u32,
        scored: &ScoredExtension,
        is_complete: bool,
    ) -> Option<HypId> {
        self.stats.created += 1;
        let &ScoredExtension { score, option, context, path } = scored;
        let HypothesisRow { hyp: back, blocks, .. } = self.arena.rows[row as usize];
        let extension = ExtensionKey { group: edge.group, option, context, path, blocks };
        let slot = extension.slot();
        let known = if is_complete { None } else { self.arena.recent.get(slot, &extension) };
        if let Some(twin) = known
            && !self.keep_arcs
            && score <= self.arena.hyps.get(twin).score
        {
            self.stats.recombined += 1;
            return None;
        }
        let key = match known {
            Some(twin) => self.arena.hyps.get(twin).key,
            None if is_complete => RecombinationKey {
                coverage: self.coverage_after(edge),
                ..RecombinationKey::default()
            },
            None => self.recombination_key(edge, blocks, scored),
        };
        let hyp = Hypothesis { key, score, back, option, arc: HypId::NONE };
        let (id, is_new) = match known {
            Some(twin) => (twin, false),
            None => self.arena.hyps.find_or_insert(&hyp),
        };
        self.arena.recent.put(slot, extension, id);
        if is_new {
            return Some(id);
        }
        self.stats.recombined += 1;
        self.arena.hyps.recombine(id, hyp, self.keep_arcs);
        None
    }

    /// Return the coverage after an edge.
    fn coverage_after(&mut self, edge: &mut SearchEdge) -> CoverageId {
        if edge.coverage == CoverageId::NONE {
            let group = &self.arena.groups[edge.group as usize];
            edge.coverage =
                self.arena.coverages.extend(group.coverage, edge.span, &self.options.future);
        }
        edge.coverage
    }

    /// Return the recombination key of an extension; `below` is the orientation stack before it.
    fn recombination_key(
        &mut self,
        edge: &mut SearchEdge,
        below: StackId,
        scored: &ScoredExtension,
    ) -> RecombinationKey {
        let &ScoredExtension { context, path, option, .. } = scored;
        let span = edge.span;
        let coverage = self.coverage_after(edge);
        let mut key = RecombinationKey {
            coverage,
            context,
            path,
            end: span.end,
            ..RecombinationKey::default()
        };
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
        // The start matters only while the word before the phrase is untranslated.
        let open = |cov: Coverage<'_>| span.start > 0 && !cov.has(span.start - 1);
        if self.keeps_start && open(self.arena.coverages.get(coverage)) {
            key.start = span.start;
        }
        if self.settings.space.remembers() {
            let group = &self.arena.groups[edge.group as usize];
            key.mode = self.settings.space.after(&self.reordering(group), span);
        }
        key
    }

    /// Load the data that the extensions of a hypothesis need.
    fn load_row(&self, hyp: HypId) -> HypothesisRow {
        let Hypothesis { key, score, option, .. } = self.arena.hyps.get(hyp);
        let span = match *option {
            OptionId::NONE => Span::default(),
            option => self.options.option(option).span,
        };
        let (before, outlook) = self.orientation_context(key, span);
        HypothesisRow {
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

    /// Return the spans that orientation compares with before and after `span`.
    fn orientation_context(&self, key: &RecombinationKey, span: Span) -> (Span, Outlook) {
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
        let cov = self.arena.coverages.get(key.coverage);
        let test = self.settings.next_test;
        (before, Outlook::new(orientation.model, test, cov, span))
    }
}
