//! Groups: hypotheses of a stack after which the same spans may come.
//!
//! In: a stack as it was filled. Out: its survivors, by group and from best to worst.
//! How: a stack comes nearly sorted, as a queue gave it; so hypotheses are dealt out to their
//! groups in that order, and what little is out of place in a group is moved.
//! Cost: one probe a hypothesis, one sort of the groups.

use crate::decode::ids::{CoverId, HypId};
use crate::feature::Span;
use crate::narrow::to_u32;
use crate::numbering::{Numbering, mix};

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
pub struct Together(pub u64, pub u64, pub u8);

/// A group in the making: where its hypotheses are dealt to.
#[derive(Debug, Clone, Copy)]
pub struct Pile {
    pub together: Together,
    count: usize,
    pub start: usize,
    /// Where the next one goes.
    pub end: usize,
}

/// Memory of the dealing, kept between sentences.
#[derive(Debug, Default)]
pub struct Dealing {
    pub piles: Vec<Pile>,
    ids: Numbering,
    /// By place in the stack the number of the pile, the score and the number of a hypothesis.
    counted: Vec<(u32, f64, HypId)>,
    /// Numbers of piles in the order of groups.
    pub order: Vec<u32>,
    /// Score and number of all hypotheses, group by group.
    pub dealt: Vec<(f64, HypId)>,
}

impl Dealing {
    /// Starts a stack.
    pub fn clear(&mut self) {
        self.piles.clear();
        self.ids.clear();
        self.counted.clear();
        self.order.clear();
    }

    /// Counts a hypothesis in.
    pub fn count(&mut self, together: Together, score: f64, hyp: HypId) {
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
    pub fn deal(&mut self) {
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
