//! Orientation of a phrase in the decoder, towards what was translated before and what may come
//! after it (definitions e.6, e.7).
//!
//! In: source spans in target order. Out: for each a class: M (follows on the right), S (swaps to
//! the left), DL or DR (apart, on that side); in `msd` models the last two count as one.
//! How: `prev` by a stack of blocks that is reduced as blocks become contiguous (Galley and
//! Manning, 2008), or against the last phrase alone; `next` by what the coverage leaves possible.
//! Cost: one hash look-up per phrase for the stack; `next` is two comparisons.

use crate::feature::{Coverage, Span};
use crate::narrow::to_u32;
use crate::numbering::{Numbering, mix};
use crate::orientation::{Class, Model};

/// How blocks on the stack join.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reduce {
    /// Any number of top blocks that together are contiguous.
    #[default]
    Kary,
    /// Two at a time.
    Binary,
}

/// How `next` is M or S towards a phrase that does not touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NextTest {
    /// When every word between is still untranslated.
    #[default]
    Gap,
    /// When the word beside the phrase is still untranslated; Moses' way.
    Beside,
}

/// Class of `span` towards the block before it; the empty span 0..0 stands for the start.
pub fn prev_class(before: Span, span: Span) -> Class {
    if span.start == before.end {
        Class::M
    } else if span.end == before.start {
        Class::S
    } else if span.start > before.end {
        Class::Dr
    } else {
        Class::Dl
    }
}

/// The spans that would be M or S after a phrase, worked out once per hypothesis.
///
/// A later span is M when it starts before `right`, and S when it ends at `left` or after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Outlook {
    last: Span,
    left: u32,
    right: u32,
}

impl Outlook {
    /// The outlook from phrase `last` with the coverage that includes it.
    #[inline]
    pub fn new(model: Model, test: NextTest, cov: Coverage<'_>, last: Span) -> Self {
        let free = |at: u32| at < cov.length() && !cov.has(at);
        let (left, right) = match (model, test) {
            (Model::Phrase | Model::Word, _) => (last.start, last.end + 1),
            (Model::Hierarchical, NextTest::Gap) => {
                (cov.free_run_start(last.start), cov.next_covered(last.end))
            }
            (Model::Hierarchical, NextTest::Beside) => {
                let left = if last.start > 0 && free(last.start - 1) { 0 } else { last.start };
                let right = if free(last.end) { cov.length() } else { last.end };
                (left, right)
            }
        };
        Outlook { last, left, right }
    }

    /// Class of the phrase that follows.
    pub fn class(self, span: Span) -> Class {
        if span.start >= self.last.end {
            if span.start < self.right { Class::M } else { Class::Dr }
        } else if span.end >= self.left {
            Class::S
        } else {
            Class::Dl
        }
    }
}

/// Number of a stack in `Stacks`.
pub type StackId = u32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Node {
    top: Span,
    below: StackId,
}

/// All stacks of blocks met in a sentence; equal stacks have equal numbers.
#[derive(Debug, Clone)]
pub struct Stacks {
    nodes: Vec<Node>,
    ids: Numbering,
}

/// The stack without blocks.
pub const NO_BLOCKS: StackId = 0;

impl Default for Stacks {
    fn default() -> Self {
        let bottom = Node { top: Span::new(0, 0), below: NO_BLOCKS };
        Stacks { nodes: vec![bottom], ids: Numbering::default() }
    }
}

impl Stacks {
    /// Forgets all stacks but keeps the memory.
    pub fn clear(&mut self) {
        self.nodes.truncate(1);
        self.ids.clear();
    }

    /// The block on top; 0..0 when there is none.
    pub fn top(&self, stack: StackId) -> Span {
        self.nodes[stack as usize].top
    }

    /// The blocks, top first.
    pub fn blocks(&self, stack: StackId) -> impl Iterator<Item = Span> + '_ {
        let mut at = stack;
        std::iter::from_fn(move || {
            let node = self.nodes[at as usize];
            at = node.below;
            (!node.top.is_empty()).then_some(node.top)
        })
    }

    /// The stack after a phrase is put on it and everything contiguous has joined.
    pub fn push(&mut self, stack: StackId, span: Span, reduce: Reduce) -> StackId {
        let (mut top, mut below) = (span, stack);
        while let Some((joined, rest)) = self.join(top, below, reduce) {
            (top, below) = (joined, rest);
        }
        self.intern(Node { top, below })
    }

    /// The smallest group of top blocks that is contiguous, joined, and what lies below it.
    fn join(&self, top: Span, below: StackId, reduce: Reduce) -> Option<(Span, StackId)> {
        let (mut hull, mut words, mut at) = (top, top.len(), below);
        while at != NO_BLOCKS {
            let node = self.nodes[at as usize];
            hull = hull.hull(node.top);
            words += node.top.len();
            at = node.below;
            if hull.len() == words {
                return Some((hull, at));
            }
            if reduce == Reduce::Binary {
                return None;
            }
        }
        None
    }

    fn intern(&mut self, node: Node) -> StackId {
        let Stacks { nodes, ids } = self;
        let top = u64::from(node.top.start) << 32 | u64::from(node.top.end);
        let hash = mix(mix(0, top), node.below.into());
        let (id, is_new) = ids.number(hash, to_u32(nodes.len()), |id| nodes[id as usize] == node);
        if is_new {
            nodes.push(node);
        }
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Classes and stacks (bottom first) of inclusive spans in target order.
    fn run(reduce: Reduce, phrases: &[(u32, u32)]) -> (String, Vec<String>) {
        let mut stacks = Stacks::default();
        let mut stack = NO_BLOCKS;
        let (mut classes, mut shown) = (String::new(), Vec::new());
        for &(first, last) in phrases {
            let span = Span::new(first, last + 1);
            let class = prev_class(stacks.top(stack), span);
            classes.push(['M', 'S', 'D', 'D'][class as usize]);
            stack = stacks.push(stack, span, reduce);
            let mut blocks: Vec<String> = stacks.blocks(stack).map(|b| b.to_string()).collect();
            blocks.reverse();
            shown.push(blocks.join(","));
        }
        (classes, shown)
    }

    #[test]
    fn stacks_and_classes_are_those_of_the_specification() {
        let (classes, stacks) = run(Reduce::Kary, &[(2, 2), (3, 3), (0, 1), (4, 4)]);
        assert_eq!(classes, "DMSM");
        assert_eq!(stacks, ["2-2", "2-3", "0-3", "0-4"]);
        let (classes, stacks) = run(Reduce::Kary, &[(0, 0), (3, 4), (1, 2), (5, 5)]);
        assert_eq!(classes, "MDSM");
        assert_eq!(stacks, ["0-0", "0-0,3-4", "0-4", "0-5"]);
        let winding = [(1, 1), (3, 3), (0, 0), (2, 2), (4, 4)];
        assert_eq!(run(Reduce::Kary, &winding).0, "DDDDM");
        assert_eq!(run(Reduce::Binary, &winding).0, "DDDDD");
    }

    #[test]
    fn the_phrase_model_looks_at_the_last_phrase_alone() {
        let phrases = [(2, 2), (3, 3), (0, 1), (4, 4)].map(|(a, b)| Span::new(a, b + 1));
        let mut before = Span::default();
        let mut classes = String::new();
        for span in phrases {
            classes.push(['M', 'S', 'D', 'D'][prev_class(before, span) as usize]);
            before = span;
        }
        assert_eq!(classes, "DMDD");
    }

    #[test]
    fn next_is_apart_only_when_that_is_certain() {
        let mut blocks = [0];
        for at in [2, 4] {
            Coverage::mark(&mut blocks, Span::new(at, at + 1));
        }
        let cov = Coverage::new(&blocks, 8);
        let next = |model, test, at| {
            Outlook::new(model, test, cov, Span::new(2, 3)).class(Span::new(at, at + 1))
        };
        // The example of e.7: word 4 lies between, word 3 beside the phrase is free.
        assert_eq!(next(Model::Hierarchical, NextTest::Gap, 6), Class::Dr);
        assert_eq!(next(Model::Hierarchical, NextTest::Beside, 6), Class::M);
        assert_eq!(next(Model::Hierarchical, NextTest::Gap, 3), Class::M);
        assert_eq!(next(Model::Hierarchical, NextTest::Gap, 0), Class::S);
        assert_eq!(next(Model::Phrase, NextTest::Gap, 0), Class::Dl);
        assert_eq!(next(Model::Phrase, NextTest::Gap, 1), Class::S);
        assert_eq!(next(Model::Phrase, NextTest::Gap, 3), Class::M);
        assert_eq!(next(Model::Phrase, NextTest::Gap, 5), Class::Dr);
    }
}
