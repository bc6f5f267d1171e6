//! Groups: hypotheses of a stack after which the same spans may come.
//!
//! In: a stack as it was filled. Out: its survivors, by group and from best to worst.
//! How: a stack comes nearly sorted, as a queue gave it; so hypotheses are dealt out to their
//! groups in that order, and what little is out of place in a group is moved.
//! Cost: one probe a hypothesis, one sort of the groups.

use super::hyp::{Hyp, Key};
use super::id::{CoverId, HypId};
use super::search::{Row, Searcher};
use crate::feature::Span;
use crate::narrow::to_u32;
use crate::numbering::{Numbering, mix};
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

/// What hypotheses of one group have in common, as numbers that compare fast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Together(u64, u64, u8);

/// A group in the making: where its hypotheses are dealt to.
#[derive(Debug, Clone, Copy)]
struct Pile {
    together: Together,
    count: usize,
    start: usize,
    /// Where the next one goes.
    end: usize,
}

/// Memory of the dealing, kept between sentences.
#[derive(Debug, Default)]
pub struct Dealing {
    piles: Vec<Pile>,
    ids: Numbering,
    /// By place in the stack the number of the pile, the score and the number of a hypothesis.
    counted: Vec<(u32, f64, HypId)>,
    /// Numbers of piles in the order of groups.
    order: Vec<u32>,
    /// Score and number of all hypotheses, group by group.
    dealt: Vec<(f64, HypId)>,
}

impl Dealing {
    /// Starts a stack.
    fn clear(&mut self) {
        self.piles.clear();
        self.ids.clear();
        self.counted.clear();
        self.order.clear();
    }

    /// Counts a hypothesis in.
    fn count(&mut self, together: Together, score: f64, hyp: HypId) {
        let Dealing { piles, ids, counted, .. } = self;
        let Together(place, states, mode) = together;
        let hash = mix(states ^ u64::from(mode), place);
        let is_own = |pile: u32| piles[pile as usize].together == together;
        let (number, is_new) = ids.number(hash, to_u32(piles.len()), is_own);
        if is_new {
            piles.push(Pile { together, count: 0, start: 0, end: 0 });
        }
        piles[number as usize].count += 1;
        counted.push((number, score, hyp));
    }

    /// Deals all hypotheses out: by group, then from best to worst, then by age.
    fn deal(&mut self) {
        let Dealing { piles, counted, order, dealt, .. } = self;
        order.extend(0..to_u32(piles.len()));
        order.sort_unstable_by_key(|&pile| piles[pile as usize].together);
        let mut start = 0;
        for &number in &*order {
            let pile = &mut piles[number as usize];
            (pile.start, pile.end) = (start, start);
            start += pile.count;
        }
        dealt.clear();
        dealt.resize(start, (0.0, HypId::NONE));
        for &(number, score, hyp) in &*counted {
            let new = (score, hyp);
            let Pile { start, end, .. } = &mut piles[number as usize];
            let mut at = *end;
            *end += 1;
            while at > *start && is_before(new, dealt[at - 1]) {
                dealt[at] = dealt[at - 1];
                at -= 1;
            }
            dealt[at] = new;
        }
    }
}

/// Whether a hypothesis stands before another in its group.
fn is_before(one: (f64, HypId), other: (f64, HypId)) -> bool {
    one.0 > other.0 || one.0 == other.0 && one.1 < other.1
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
