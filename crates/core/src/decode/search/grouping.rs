//! Groups: hypotheses of a stack that the same spans may follow.
//!
//! In: the hypotheses of a stack. Out: the hypotheses by group, from best to worst.
//! How: a bucket sort by group key. A stack is nearly sorted by score, so an insertion sort within
//! each bucket moves few hypotheses.
//! Cost: one hash probe per hypothesis, and a sort of the groups.

use crate::decode::ids::{CoverageId, HypId};
use crate::feature::Span;
use crate::narrow::to_u32;
use crate::numbering::{Numbering, mix};

/// Hypotheses that the same spans may follow.
#[derive(Debug, Clone, Copy)]
pub struct HypothesisGroup {
    /// Range of its hypotheses in the rows of the arena.
    pub rows: (u32, u32),
    pub coverage: CoverageId,
    pub end: u32,
    pub top: Span,
    pub mode: u8,
    pub path: u32,
}

/// The common fields of a group: coverage and end, orientation stack and path states, mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupKey(pub u64, pub u64, pub u8);

/// The hypotheses of a group while they are sorted.
#[derive(Debug, Clone, Copy)]
pub struct Bucket {
    pub group_key: GroupKey,
    count: usize,
    pub start: usize,
    /// Index for the next hypothesis.
    pub end: usize,
}

/// Memory of the bucket sort, kept between sentences.
#[derive(Debug, Default)]
pub struct HypothesisGrouping {
    pub buckets: Vec<Bucket>,
    ids: Numbering,
    /// By position in the stack: bucket, score and id of a hypothesis.
    counted: Vec<(u32, f64, HypId)>,
    /// Buckets in the order of their group keys.
    pub order: Vec<u32>,
    /// Score and id of all hypotheses, group by group.
    pub sorted: Vec<(f64, HypId)>,
}

impl HypothesisGrouping {
    /// Start a stack.
    pub fn clear(&mut self) {
        self.buckets.clear();
        self.ids.clear();
        self.counted.clear();
        self.order.clear();
    }

    /// Add a hypothesis and count it in its bucket.
    pub fn count(&mut self, group_key: GroupKey, score: f64, hyp: HypId) {
        let HypothesisGrouping { buckets, ids, counted, .. } = self;
        let GroupKey(place, states, mode) = group_key;
        let hash = mix(states ^ u64::from(mode), place);
        let has_key = |bucket: u32| buckets[bucket as usize].group_key == group_key;
        let (number, is_new) = ids.number(hash, to_u32(buckets.len()), has_key);
        if is_new {
            buckets.push(Bucket { group_key, count: 0, start: 0, end: 0 });
        }
        buckets[number as usize].count += 1;
        counted.push((number, score, hyp));
    }

    /// Sort all hypotheses by group, then from best to worst, then by age.
    pub fn sort(&mut self) {
        let HypothesisGrouping { buckets, counted, order, sorted, .. } = self;
        order.extend(0..to_u32(buckets.len()));
        order.sort_unstable_by_key(|&bucket| buckets[bucket as usize].group_key);
        let mut start = 0;
        for &number in &*order {
            let bucket = &mut buckets[number as usize];
            (bucket.start, bucket.end) = (start, start);
            start += bucket.count;
        }
        sorted.clear();
        sorted.resize(start, (0.0, HypId::NONE));
        for &(number, score, hyp) in &*counted {
            let new = (score, hyp);
            let Bucket { start, end, .. } = &mut buckets[number as usize];
            let mut at = *end;
            *end += 1;
            while at > *start && ranks_before(new, sorted[at - 1]) {
                sorted[at] = sorted[at - 1];
                at -= 1;
            }
            sorted[at] = new;
        }
    }
}

/// Return whether a hypothesis stands before another in its group.
fn ranks_before(hyp: (f64, HypId), other: (f64, HypId)) -> bool {
    hyp.0 > other.0 || hyp.0 == other.0 && hyp.1 < other.1
}
