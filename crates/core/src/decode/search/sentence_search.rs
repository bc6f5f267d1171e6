//! A search on one sentence.

use crate::decode::ids::HypId;
use crate::decode::lm::contexts::LmContextTable;
use crate::decode::models::Models;
use crate::decode::options::cache::OptionCache;
use crate::decode::options::collection::OptionCollection;
use crate::decode::options::scoring::ScoringConfig;
use crate::decode::search::arena::{Arena, Row};
use crate::decode::search::grouping::{Dealing, Group, Pile, Together};
use crate::decode::search::hypothesis::{Hyp, Key};
use crate::decode::settings::Settings;
use crate::error::Result;
use crate::feature::{Here, OptionId, PathScorer};
use crate::job::Job;
use crate::narrow::{to_f32, to_u32};
use crate::reorder::Fences;
use crate::reorder::orientation::NO_BLOCKS;
use crate::reorder::prune::Chooser;
use std::ops::Range;

/// What a search did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Extensions scored in full.
    pub scored: u64,
    /// Hypotheses made.
    pub made: u64,
    /// Of these, merged with one that cannot be told apart.
    pub recombined: u64,
    /// Dropped because their stack held better ones.
    pub pruned: u64,
    /// Spans that could have come next and that path features left out.
    pub narrowed: u64,
    /// Jumps of the best translation by length: `jumps[d]` phrases stand `d` words from the end
    /// of the phrase before.
    pub jumps: Vec<u32>,
}

/// A search at work on one sentence.
pub struct Searcher<'s> {
    pub settings: &'s Settings,
    pub models: &'s Models<'s>,
    pub scoring: &'s ScoringConfig<'s>,
    pub options: &'s OptionCollection,
    /// Walls and zones, if there are any.
    pub fences: Option<&'s Fences>,
    pub option_cache: &'s OptionCache,
    pub contexts: &'s mut LmContextTable,
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

impl Searcher<'_> {
    /// Makes the empty hypothesis, number 0.
    pub fn start(&mut self) {
        let Arena { covers, stacks, hyps, rows, groups, states, choosing, lm_scores, .. } =
            &mut *self.arena;
        covers.reset(self.length, &self.options.future);
        let rules = self.pruning.as_ref().map(|(_, chooser)| chooser.rules());
        choosing.restart(self.length, self.options, rules);
        stacks.clear();
        rows.clear();
        groups.clear();
        lm_scores.restart();
        states.restart(self.paths.len());
        let row: Vec<u32> = self.paths.iter().map(|path| path.start()).collect();
        let path = states.id(&row);
        let context = self.contexts.start(&self.scoring.lms);
        hyps.restart(Hyp {
            key: Key { context, path, blocks: NO_BLOCKS, ..Key::default() },
            score: 0.0,
            back: HypId::NONE,
            option: OptionId::NONE,
            arc: HypId::NONE,
        });
    }

    /// WeightedLms score with the future cost.
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
            ahead -= self.options.future.gap_loss(key.end);
        }
        f64::from(covers.future(key.cover) + ahead)
    }

    /// The future cost of jumps; none is left when all is translated.
    pub(super) fn ahead(&self, gap: u32, end: u32, covered: u32) -> f32 {
        if covered == self.length {
            return 0.0;
        }
        let cost = self.settings.distortion.ahead(gap, end, covered);
        to_f32(-(self.jump_weight * f64::from(cost)))
    }

    pub(super) fn here(&self, group: &Group) -> Here<'_> {
        Here {
            cov: self.arena.covers.get(group.cover),
            gap: self.arena.covers.gap(group.cover),
            end: group.end,
            top: group.top,
            mode: group.mode,
        }
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

impl Searcher<'_> {
    /// Drops what the beam does not hold and sorts the rest of a stack into groups; returns the
    /// range of the new groups. No more than `limit` are kept; 0: any number.
    pub fn group(&mut self, stack: &mut Vec<HypId>, limit: usize) -> Range<u32> {
        if limit > 0 && stack.len() > limit {
            self.keep_best(stack, limit);
        }
        let mut dealing = std::mem::take(&mut self.arena.dealing);
        dealing.clear();
        for &id in &*stack {
            let Hyp { key, score, .. } = self.arena.hyps.get(id);
            dealing.count(self.together(key), *score, id);
        }
        dealing.deal();
        let groups = self.add_groups(&dealing);
        self.arena.dealing = dealing;
        groups
    }

    /// The best of a stack; of equal ones those with the smaller coverage.
    fn keep_best(&mut self, stack: &mut Vec<HypId>, limit: usize) {
        stack.sort_by(|&a, &b| {
            let blocks =
                |hyp: HypId| self.arena.covers.get(self.arena.hyps.get(hyp).key.cover).blocks();
            self.total(b).total_cmp(&self.total(a)).then_with(|| blocks(a).cmp(blocks(b)))
        });
        self.stats.pruned += (stack.len() - limit) as u64;
        stack.truncate(limit);
    }

    fn together(&self, key: &Key) -> Together {
        let blocks = if self.settings.space.needs_blocks() { key.blocks } else { 0 };
        let path = if self.pruning.is_some() { key.path } else { 0 };
        Together(
            u64::from(key.cover.0) << 32 | u64::from(key.end),
            u64::from(blocks) << 32 | u64::from(path),
            key.mode,
        )
    }

    /// Adds the groups that were dealt, without what the beam does not hold. What is still to
    /// come is worth the same to all hypotheses of a group.
    fn add_groups(&mut self, dealing: &Dealing) -> Range<u32> {
        let Dealing { piles, order, dealt, .. } = dealing;
        let rest = |pile: &Pile| self.rest(&self.arena.hyps.get(dealt[pile.start].1).key);
        let bests = piles.iter().map(|pile| dealt[pile.start].0 + rest(pile));
        let least = bests.fold(f64::NEG_INFINITY, f64::max) + self.settings.beam();
        let first = to_u32(self.arena.groups.len());
        for &number in order {
            let pile = &piles[number as usize];
            let rest = self.rest(&self.arena.hyps.get(dealt[pile.start].1).key);
            let all = &dealt[pile.start..pile.end];
            let kept = &all[..all.partition_point(|(score, _)| score + rest >= least)];
            self.stats.pruned += (all.len() - kept.len()) as u64;
            let Some(&(_, best)) = kept.first() else { continue };
            let at = to_u32(self.arena.rows.len());
            self.arena.rows.extend(kept.iter().map(|&(_, hyp)| Row::new(hyp)));
            let Key { cover, end, mode, blocks, path, .. } = self.arena.hyps.get(best).key;
            self.arena.groups.push(Group {
                rows: (at, to_u32(self.arena.rows.len())),
                cover,
                end,
                top: self.arena.stacks.top(blocks),
                mode,
                path,
            });
        }
        first..to_u32(self.arena.groups.len())
    }
}
