//! Hypotheses and their recombination.
//!
//! A hypothesis is an option, the hypothesis before it, and a recombination key. Hypotheses with
//! equal keys have the same future score: the better one survives, the other is kept as an arc for
//! n-best lists (definitions g.4). `RecombinationCache` finds most recombinations without building
//! a key: the rows of an edge mostly differ in words that are outside the language model context
//! after the next phrase. Cost: one probe per hypothesis, no allocation.

use crate::decode::ids::{CoverageId, HypId, LmContextId};
use crate::feature::OptionId;
use crate::narrow::{to_u32, to_usize};
use crate::numbering::{Numbering, mix};
use crate::reorder::orientation::StackId;

/// All fields that the future score of a hypothesis depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RecombinationKey {
    /// The translated words.
    pub coverage: CoverageId,
    /// The language model context.
    pub context: LmContextId,
    /// The orientation stack; constant if no model needs it.
    pub blocks: StackId,
    /// Index of the `next` scores of the last phrase.
    pub next: u32,
    /// Id of the states of the path features.
    pub path: u32,
    /// Start of the last phrase; 0 if the orientation of later phrases cannot depend on it.
    pub start: u32,
    /// The word after the last phrase.
    pub end: u32,
    /// State of the reordering space.
    pub mode: u8,
}

/// A partial translation.
#[derive(Debug, Clone, Copy)]
pub struct Hypothesis {
    pub key: RecombinationKey,
    /// Weighted score without the future cost.
    pub score: f64,
    /// The hypothesis before the option.
    pub back: HypId,
    /// The last option; `NONE` for the empty hypothesis.
    pub option: OptionId,
    /// Another hypothesis with the same key and no better score.
    pub arc: HypId,
}

/// All hypotheses of a sentence.
#[derive(Debug, Default)]
pub struct HypothesisStore {
    all: Vec<Hypothesis>,
    /// Hypotheses that may still be recombined, by key.
    open: Numbering,
    /// Ids of discarded hypotheses.
    free_ids: Vec<HypId>,
}

#[inline]
fn hash(key: &RecombinationKey) -> u64 {
    let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
    let place = mix(pair(key.end, key.start), pair(u32::from(key.mode), key.coverage.0));
    mix(mix(place, pair(key.path, key.context)), pair(key.blocks, key.next))
}

impl HypothesisStore {
    /// Remove all hypotheses and add the empty one with id 0.
    pub fn restart(&mut self, empty: Hypothesis) {
        self.all.clear();
        self.open.clear();
        self.free_ids.clear();
        self.all.push(empty);
    }

    /// End the recombination with the hypotheses so far.
    pub fn close(&mut self) {
        self.open.forget_below(to_u32(self.all.len()));
    }

    /// Return all hypotheses, by id.
    pub fn all(&self) -> &[Hypothesis] {
        &self.all
    }

    /// Return the ids of discarded hypotheses.
    pub fn discarded(&self) -> &[HypId] {
        &self.free_ids
    }

    /// Return a hypothesis.
    pub fn get(&self, id: HypId) -> &Hypothesis {
        &self.all[id.index()]
    }

    /// Return the open hypothesis with the same key; if there is none, add `hyp`. The flag tells
    /// whether it was added.
    #[inline]
    pub fn find_or_insert(&mut self, hyp: &Hypothesis) -> (HypId, bool) {
        let HypothesisStore { all, open, free_ids } = self;
        let next = free_ids.last().map_or(to_u32(all.len()), |id| id.0);
        let has_key = |id: u32| all[id as usize].key == hyp.key;
        let (id, is_new) = open.number(hash(&hyp.key), next, has_key);
        if is_new {
            match free_ids.pop() {
                Some(id) => all[id.index()] = *hyp,
                None => all.push(*hyp),
            }
        }
        (HypId(id), is_new)
    }

    /// Recombine: the better hypothesis takes the id, the older one on ties; the other becomes an
    /// arc if `keep_arc`, else it is dropped.
    pub fn recombine(&mut self, twin: HypId, mut hyp: Hypothesis, keep_arc: bool) {
        let new = HypId(to_u32(self.all.len()));
        let known = &mut self.all[twin.index()];
        let arcs = known.arc;
        if hyp.score > known.score {
            std::mem::swap(known, &mut hyp);
        }
        known.arc = if keep_arc { new } else { arcs };
        if keep_arc {
            hyp.arc = arcs;
            self.all.push(hyp);
        }
    }

    /// Discard hypotheses without extensions, with their arcs.
    pub fn discard(&mut self, unused: &[HypId]) {
        for &id in unused {
            let key = self.get(id).key;
            self.open.remove(hash(&key), id.0);
            let mut at = id;
            while at != HypId::NONE {
                self.free_ids.push(at);
                at = self.get(at).arc;
            }
        }
    }
}

/// The fields of an extension that determine its recombination key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtensionKey {
    /// The extended group.
    pub group: u32,
    /// The option.
    pub option: OptionId,
    /// The language model context after it.
    pub context: LmContextId,
    /// The states of the path features after it.
    pub path: u32,
    /// The orientation stack before it.
    pub blocks: StackId,
}

/// Marks an empty slot.
const EMPTY_KEY: ExtensionKey =
    ExtensionKey { group: 0, option: OptionId::NONE, context: 0, path: 0, blocks: 0 };

/// Number of slots of the cache, a power of two.
const RECOMBINATION_SLOTS: usize = 1 << 11;

/// Recent extensions of a stack, with the hypotheses they created or joined.
#[derive(Debug, Default)]
pub struct RecombinationCache {
    /// Slots; hypothesis 0, which is never an extension, marks an empty one.
    slots: Vec<(ExtensionKey, HypId)>,
    /// The first hypothesis of the current stack, at least 1; smaller ids are outdated.
    first: u32,
}

impl RecombinationCache {
    /// Start a stack whose hypotheses have ids from `first` on.
    pub fn restart(&mut self, first: u32) {
        self.first = first.max(1);
        if first <= 1 {
            self.slots.clear();
            self.slots.resize(RECOMBINATION_SLOTS, (EMPTY_KEY, HypId(0)));
        }
    }

    /// Return the hypothesis of an equal extension.
    #[inline]
    pub fn get(&self, slot: RecombinationSlot, extension: &ExtensionKey) -> Option<HypId> {
        let (known, hyp) = self.slots.get(slot.0)?;
        (hyp.0 >= self.first && known == extension).then_some(*hyp)
    }

    /// Store the hypothesis of an extension, and overwrite the one in its slot.
    #[inline]
    pub fn put(&mut self, slot: RecombinationSlot, extension: ExtensionKey, hyp: HypId) {
        if let Some(entry) = self.slots.get_mut(slot.0) {
            *entry = (extension, hyp);
        }
    }
}

/// Index of a slot of the recombination cache.
#[derive(Debug, Clone, Copy)]
pub struct RecombinationSlot(usize);

impl ExtensionKey {
    /// Return the slot of the extension.
    #[inline]
    pub fn slot(&self) -> RecombinationSlot {
        let ExtensionKey { group, option, context, path, blocks } = *self;
        let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        let mixed = pair(context, option.0).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ pair(group, blocks ^ path).wrapping_mul(0xd6e8_feb8_6659_fd93);
        RecombinationSlot(to_usize(mixed >> (64 - RECOMBINATION_SLOTS.trailing_zeros())))
    }
}
