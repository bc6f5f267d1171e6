//! A search on one sentence: its inputs, the empty hypothesis, future costs and groups.

use crate::decode::ids::HypId;
use crate::decode::lm::contexts::LmContextTable;
use crate::decode::models::ModelSet;
use crate::decode::options::cache::OptionCache;
use crate::decode::options::collection::OptionCollection;
use crate::decode::options::scoring::ScoringConfig;
use crate::decode::search::arena::{HypothesisRow, SearchArena};
use crate::decode::search::grouping::{Bucket, GroupKey, HypothesisGroup, HypothesisGrouping};
use crate::decode::search::hypothesis::{Hypothesis, RecombinationKey};
use crate::decode::settings::SearchSettings;
use crate::error::Result;
use crate::feature::{OptionId, PathScorer, ReorderingState};
use crate::job::Job;
use crate::narrow::{to_f32, to_u32};
use crate::reorder::ReorderingConstraints;
use crate::reorder::orientation::NO_BLOCKS;
use crate::reorder::prune::Chooser;
use std::ops::Range;

/// Statistics of a search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchStats {
    /// Number of scored extensions.
    pub scored: u64,
    /// Number of created hypotheses.
    pub created: u64,
    /// Number of recombined hypotheses.
    pub recombined: u64,
    /// Number of hypotheses dropped by histogram and threshold pruning.
    pub pruned: u64,
    /// Number of option lists skipped by early pruning.
    pub pruned_early: u64,
    /// Jump lengths of the best translation: `jumps[d]` phrases start `d` words from the end of the
    /// phrase before.
    pub jumps: Vec<u32>,
}

/// A search on one sentence.
pub struct SentenceSearch<'s> {
    pub settings: &'s SearchSettings,
    pub models: &'s ModelSet<'s>,
    pub scoring: &'s ScoringConfig<'s>,
    pub options: &'s OptionCollection,
    /// Walls and zones, if there are any.
    pub constraints: Option<&'s ReorderingConstraints>,
    pub option_cache: &'s OptionCache,
    pub contexts: &'s mut LmContextTable,
    pub arena: &'s mut SearchArena,
    pub paths: &'s [Box<dyn PathScorer + 's>],
    pub stats: SearchStats,
    pub job: &'s Job,
    pub length: u32,
    /// Whether recombined hypotheses are kept as arcs.
    pub keep_arcs: bool,
    /// Maximum distance of an extension to the best score of its stack.
    pub slack: f64,
    pub jump_weight: f64,
    pub path_weights: &'s [f64],
    pub keeps_blocks: bool,
    pub keeps_start: bool,
    /// Index of the path feature for early pruning, and the chooser with its rules.
    pub pruning: Option<(usize, Chooser)>,
}

impl SentenceSearch<'_> {
    /// Start the sentence with the empty hypothesis, id 0.
    pub fn start(&mut self) {
        let SearchArena {
            coverages,
            stacks,
            hyps,
            rows,
            groups,
            states,
            early_pruning,
            lm_scores,
            ..
        } = &mut *self.arena;
        coverages.reset(self.length, &self.options.future);
        let rules = self.pruning.as_ref().map(|(_, chooser)| chooser.rules());
        early_pruning.restart(self.length, self.options, rules);
        stacks.clear();
        rows.clear();
        groups.clear();
        lm_scores.restart();
        states.restart(self.paths.len());
        let row: Vec<u32> = self.paths.iter().map(|path| path.start()).collect();
        let path = states.id(&row);
        let context = self.contexts.start(&self.scoring.lms);
        hyps.restart(Hypothesis {
            key: RecombinationKey {
                context,
                path,
                blocks: NO_BLOCKS,
                ..RecombinationKey::default()
            },
            score: 0.0,
            back: HypId::NONE,
            option: OptionId::NONE,
            arc: HypId::NONE,
        });
    }

    /// Return the weighted score with the future cost.
    pub fn total(&self, hyp: HypId) -> f64 {
        let Hypothesis { key, score, .. } = self.arena.hyps.get(hyp);
        score + self.future_cost(key)
    }

    /// Return the future cost of hypotheses with this key.
    pub fn future_cost(&self, key: &RecombinationKey) -> f64 {
        let coverages = &self.arena.coverages;
        let mut distortion_ahead = self.distortion_ahead(
            coverages.gap(key.coverage),
            key.end,
            coverages.covered(key.coverage),
        );
        // Gap losses come from path features only.
        let is_open = || key.end < self.length && !coverages.get(key.coverage).has(key.end);
        if !self.paths.is_empty() && is_open() {
            distortion_ahead -= self.options.future.gap_loss(key.end);
        }
        f64::from(coverages.future(key.coverage) + distortion_ahead)
    }

    /// Return the future cost of distortion; 0 if all words are translated.
    pub(super) fn distortion_ahead(&self, gap: u32, end: u32, covered: u32) -> f32 {
        if covered == self.length {
            return 0.0;
        }
        let cost = self.settings.distortion.ahead(gap, end, covered);
        to_f32(-(self.jump_weight * f64::from(cost)))
    }

    pub(super) fn reordering(&self, group: &HypothesisGroup) -> ReorderingState<'_> {
        ReorderingState {
            cov: self.arena.coverages.get(group.coverage),
            gap: self.arena.coverages.gap(group.coverage),
            end: group.end,
            top: group.top,
            mode: group.mode,
        }
    }

    /// Finish a stack: end the recombination with its hypotheses.
    pub fn close(&mut self) {
        self.arena.hyps.close();
        self.arena.recent.restart(to_u32(self.arena.hyps.all().len()));
    }

    /// Return an error if the job was cancelled.
    pub fn check(&self) -> Result<()> {
        self.job.check()
    }
}

impl SentenceSearch<'_> {
    /// Prune a stack and sort it into groups; return the range of the new groups. Keep at most
    /// `limit` hypotheses; 0: no limit.
    pub fn group(&mut self, stack: &mut Vec<HypId>, limit: usize) -> Range<u32> {
        if limit > 0 && stack.len() > limit {
            self.keep_best(stack, limit);
        }
        let mut grouping = std::mem::take(&mut self.arena.grouping);
        grouping.clear();
        for &id in &*stack {
            let Hypothesis { key, score, .. } = self.arena.hyps.get(id);
            grouping.count(self.group_key(key), *score, id);
        }
        grouping.sort();
        let groups = self.add_groups(&grouping);
        self.arena.grouping = grouping;
        groups
    }

    /// Keep the best `limit` hypotheses; ties keep the smaller coverage.
    fn keep_best(&mut self, stack: &mut Vec<HypId>, limit: usize) {
        stack.sort_by(|&a, &b| {
            let blocks = |hyp: HypId| {
                self.arena.coverages.get(self.arena.hyps.get(hyp).key.coverage).blocks()
            };
            self.total(b).total_cmp(&self.total(a)).then_with(|| blocks(a).cmp(blocks(b)))
        });
        self.stats.pruned += (stack.len() - limit) as u64;
        stack.truncate(limit);
    }

    fn group_key(&self, key: &RecombinationKey) -> GroupKey {
        let blocks = if self.settings.space.needs_blocks() { key.blocks } else { 0 };
        let path = if self.pruning.is_some() { key.path } else { 0 };
        GroupKey(
            u64::from(key.coverage.0) << 32 | u64::from(key.end),
            u64::from(blocks) << 32 | u64::from(path),
            key.mode,
        )
    }

    /// Add the sorted groups after threshold pruning. All hypotheses of a group have the same
    /// future cost.
    fn add_groups(&mut self, grouping: &HypothesisGrouping) -> Range<u32> {
        let HypothesisGrouping { buckets, order, sorted, .. } = grouping;
        let future_cost =
            |bucket: &Bucket| self.future_cost(&self.arena.hyps.get(sorted[bucket.start].1).key);
        let bests = buckets.iter().map(|bucket| sorted[bucket.start].0 + future_cost(bucket));
        let least = bests.fold(f64::NEG_INFINITY, f64::max) + self.settings.beam();
        let first = to_u32(self.arena.groups.len());
        for &number in order {
            let bucket = &buckets[number as usize];
            let future_cost = self.future_cost(&self.arena.hyps.get(sorted[bucket.start].1).key);
            let all = &sorted[bucket.start..bucket.end];
            let kept = &all[..all.partition_point(|(score, _)| score + future_cost >= least)];
            self.stats.pruned += (all.len() - kept.len()) as u64;
            let Some(&(_, best)) = kept.first() else { continue };
            let at = to_u32(self.arena.rows.len());
            self.arena.rows.extend(kept.iter().map(|&(_, hyp)| HypothesisRow::new(hyp)));
            let RecombinationKey { coverage, end, mode, blocks, path, .. } =
                self.arena.hyps.get(best).key;
            self.arena.groups.push(HypothesisGroup {
                rows: (at, to_u32(self.arena.rows.len())),
                coverage,
                end,
                top: self.arena.stacks.top(blocks),
                mode,
                path,
            });
        }
        first..to_u32(self.arena.groups.len())
    }
}
