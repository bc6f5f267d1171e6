//! Groups: hypotheses of a stack after which the same spans may come.
//!
//! In: a stack as it was filled. Out: its survivors, by group and from best to worst.
//! Cost: one sort of small numbers.

use super::hyp::{Hyp, Key};
use super::id::{CoverId, HypId};
use super::search::Searcher;
use crate::feature::Span;
use crate::narrow::to_u32;
use std::ops::Range;

/// Hypotheses after which the same spans may come.
#[derive(Debug, Clone, Copy)]
pub struct Group {
    /// Place of its hypotheses in `rows`.
    pub rows: (u32, u32),
    pub cover: CoverId,
    pub end: u32,
    pub top: Span,
    pub mode: u8,
    pub path: u32,
}

impl Group {
    /// Whether the space allows the same after both.
    pub fn stands_like(&self, other: &Group) -> bool {
        let of = |group: &Group| (group.cover, group.end, group.top, group.mode);
        of(self) == of(other)
    }
}

/// What hypotheses of one group have in common, as numbers that compare fast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Together(u64, u64, u8);

/// A hypothesis in the order of a stack: by group, then from best to worst, then by age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    together: Together,
    score: u64,
    id: HypId,
}

/// A number that is smaller for a larger score.
fn descending(score: f64) -> u64 {
    let bits = score.to_bits();
    if bits >> 63 == 1 { bits } else { !bits & !(1 << 63) }
}

impl Searcher<'_> {
    /// Drops what the beam does not hold and sorts the rest of a stack into groups; returns the
    /// range of the new groups.
    pub fn group(&mut self, stack: &mut Vec<HypId>, limit: usize) -> Range<u32> {
        let all = stack.len();
        let best = stack.iter().map(|&hyp| self.total(hyp)).fold(f64::NEG_INFINITY, f64::max);
        let least = best + self.settings.beam();
        stack.retain(|&hyp| self.total(hyp) >= least);
        if limit > 0 && stack.len() > limit {
            stack.sort_by(|&a, &b| {
                let blocks =
                    |hyp: HypId| self.arena.covers.get(self.arena.hyps.get(hyp).key.cover).blocks();
                self.total(b).total_cmp(&self.total(a)).then_with(|| blocks(a).cmp(blocks(b)))
            });
            stack.truncate(limit);
        }
        self.stats.pruned += (all - stack.len()) as u64;
        let itg = self.settings.space.needs_blocks();
        let mut order = std::mem::take(&mut self.arena.order);
        order.clear();
        order.extend(stack.iter().map(|&id| {
            let Hyp { key, score, .. } = self.arena.hyps.get(id);
            let blocks = if itg { key.blocks } else { 0 };
            let path = if self.pruning.is_some() { key.path } else { 0 };
            let together = Together(
                u64::from(key.cover.0) << 32 | u64::from(key.end),
                u64::from(blocks) << 32 | u64::from(path),
                key.mode,
            );
            Place { together, score: descending(*score), id }
        }));
        order.sort_unstable();
        let first = to_u32(self.arena.groups.len());
        for same in order.chunk_by(|a, b| a.together == b.together) {
            let at = to_u32(self.arena.rows.len());
            self.arena.rows.extend(same.iter().map(|place| place.id));
            let Key { cover, end, mode, blocks, path, .. } = self.arena.hyps.get(same[0].id).key;
            self.arena.groups.push(Group {
                rows: (at, to_u32(self.arena.rows.len())),
                cover,
                end,
                top: self.arena.stacks.top(blocks),
                mode,
                path,
            });
        }
        self.arena.order = order;
        first..to_u32(self.arena.groups.len())
    }
}
