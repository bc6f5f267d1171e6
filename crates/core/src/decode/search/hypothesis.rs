//! Hypotheses: partial translations, and which of them cannot be told apart.
//!
//! A hypothesis is the phrase it added, the hypothesis it added it to, and a key of small numbers.
//! Hypotheses with equal keys have the same future: the better one lives on, the other stays as
//! an arc for n-best lists (definitions g.4). Cost: one probe a hypothesis, no allocation.

use crate::decode::ids::{CoverId, HypId, LmContextId};
use crate::feature::OptionId;
use crate::narrow::{to_u32, to_usize};
use crate::numbering::{Numbering, mix};
use crate::reorder::orientation::StackId;

/// All that the future of a hypothesis depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Key {
    /// Words translated.
    pub cover: CoverId,
    /// What the language models remember.
    pub context: LmContextId,
    /// The orientation stack, where it matters.
    pub blocks: StackId,
    /// The row of `next` scores of the last phrase.
    pub next: u32,
    /// States of the path features.
    pub path: u32,
    /// Where the last phrase started, while that can matter.
    pub start: u32,
    /// The word after the last phrase.
    pub end: u32,
    /// What the reordering space remembers.
    pub mode: u8,
}

/// A partial translation.
#[derive(Debug, Clone, Copy)]
pub struct Hyp {
    pub key: Key,
    /// WeightedLms score so far.
    pub score: f64,
    /// The hypothesis that was extended.
    pub back: HypId,
    /// The option that was added; none for the empty hypothesis.
    pub option: OptionId,
    /// Another hypothesis with the same key and no better score.
    pub arc: HypId,
}

/// All hypotheses of a sentence.
#[derive(Debug, Default)]
pub struct Hyps {
    all: Vec<Hyp>,
    /// Those that a new one may be recombined with.
    open: Numbering,
    /// Numbers that are free again.
    spare: Vec<HypId>,
}

#[inline]
fn hash(key: &Key) -> u64 {
    let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
    let place = mix(pair(key.end, key.start), pair(u32::from(key.mode), key.cover.0));
    mix(mix(place, pair(key.path, key.context)), pair(key.blocks, key.next))
}

impl Hyps {
    /// Forgets everything but the empty hypothesis, which becomes number 0.
    pub fn restart(&mut self, empty: Hyp) {
        self.all.clear();
        self.open.clear();
        self.spare.clear();
        self.all.push(empty);
    }

    /// Nothing is recombined with the hypotheses so far: their stack is complete.
    pub fn close(&mut self) {
        self.open.forget_below(to_u32(self.all.len()));
    }

    /// All of them, by number.
    pub fn all(&self) -> &[Hyp] {
        &self.all
    }

    /// Those that were given up: their numbers are free again.
    pub fn given_up(&self) -> &[HypId] {
        &self.spare
    }

    /// The hypothesis of this number.
    pub fn get(&self, id: HypId) -> &Hyp {
        &self.all[id.index()]
    }

    /// The open hypothesis with the key of this one, or else this one, added; and whether it was.
    #[inline]
    pub fn enter(&mut self, hyp: &Hyp) -> (HypId, bool) {
        let Hyps { all, open, spare } = self;
        let next = spare.last().map_or(to_u32(all.len()), |spare| spare.0);
        let is_own = |id: u32| all[id as usize].key == hyp.key;
        let (id, is_new) = open.number(hash(&hyp.key), next, is_own);
        if is_new {
            match spare.pop() {
                Some(id) => all[id.index()] = *hyp,
                None => all.push(*hyp),
            }
        }
        (HypId(id), is_new)
    }

    /// Of two hypotheses with one key the better takes the number, of equal ones the older; the
    /// other becomes an arc or is forgotten.
    pub fn recombine(&mut self, twin: HypId, mut hyp: Hyp, keep_arc: bool) {
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

    /// Gives up hypotheses that nobody has extended, with their arcs.
    pub fn give_up(&mut self, unused: &[HypId]) {
        for &id in unused {
            let key = self.get(id).key;
            self.open.remove(hash(&key), id.0);
            let mut at = id;
            while at != HypId::NONE {
                self.spare.push(at);
                at = self.get(at).arc;
            }
        }
    }
}

/// What decides about the hypothesis that an extension makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extension {
    /// The group that is extended.
    pub group: u32,
    /// The option it is extended by.
    pub option: OptionId,
    /// The context after it.
    pub context: LmContextId,
    /// The states of path features after it.
    pub path: u32,
    /// The orientation stack before it.
    pub blocks: StackId,
}

/// Stands where nothing is noted.
const NOTHING: Extension =
    Extension { group: 0, option: OptionId::NONE, context: 0, path: 0, blocks: 0 };

/// Slots of the cache, a power of two.
const RECENT_SLOTS: usize = 1 << 11;

/// The last extensions of a stack, and what they made.
#[derive(Debug, Default)]
pub struct Recent {
    /// Hypothesis 0, which no extension makes, where there is nothing.
    places: Vec<(Extension, HypId)>,
    /// The first hypothesis of the present stack, not 0: older ones do not count.
    first: u32,
}

impl Recent {
    /// Begins a stack whose hypotheses have numbers from `first` on.
    pub fn restart(&mut self, first: u32) {
        self.first = first.max(1);
        if first <= 1 {
            self.places.clear();
            self.places.resize(RECENT_SLOTS, (NOTHING, HypId(0)));
        }
    }

    /// The hypothesis that an equal extension has made.
    #[inline]
    pub fn get(&self, place: RecombinationSlot, extension: &Extension) -> Option<HypId> {
        let (known, hyp) = self.places.get(place.0)?;
        (hyp.0 >= self.first && known == extension).then_some(*hyp)
    }

    /// Notes what an extension has made.
    #[inline]
    pub fn note(&mut self, place: RecombinationSlot, extension: Extension, hyp: HypId) {
        if let Some(slot) = self.places.get_mut(place.0) {
            *slot = (extension, hyp);
        }
    }
}

/// Where an extension is noted.
#[derive(Debug, Clone, Copy)]
pub struct RecombinationSlot(usize);

impl Extension {
    /// Its place.
    #[inline]
    pub fn place(&self) -> RecombinationSlot {
        let Extension { group, option, context, path, blocks } = *self;
        let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        let mixed = pair(context, option.0).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ pair(group, blocks ^ path).wrapping_mul(0xd6e8_feb8_6659_fd93);
        RecombinationSlot(to_usize(mixed >> (64 - RECENT_SLOTS.trailing_zeros())))
    }
}
