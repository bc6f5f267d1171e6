//! A walk through all orders that a space and reordering constraints allow, step by step, for tests.

use super::orientation::{NO_BLOCKS, Reduce, StackId, Stacks};
use super::{ReorderingConstraints, Space};
use crate::feature::{Coverage, ReorderingState, Span};

struct Walk<'a> {
    space: Space,
    constraints: &'a ReorderingConstraints,
    length: u32,
    has: &'a dyn Fn(Span) -> bool,
    stacks: Stacks,
    path: Vec<Span>,
    orders: Vec<Vec<Span>>,
    dead_ends: usize,
}

/// All complete orders, and the number of dead ends on the way; `has` tells which spans have an
/// option.
pub fn walk(
    space: Space,
    constraints: &ReorderingConstraints,
    length: u32,
    has: &dyn Fn(Span) -> bool,
) -> (Vec<Vec<Span>>, usize) {
    let (stacks, path, orders) = (Stacks::default(), Vec::new(), Vec::new());
    let mut walk = Walk { space, constraints, length, has, stacks, path, orders, dead_ends: 0 };
    walk.go(0, 0, NO_BLOCKS, Space::SETTLED);
    (walk.orders, walk.dead_ends)
}

impl Walk<'_> {
    fn go(&mut self, blocks: u64, end: u32, stack: StackId, mode: u8) {
        let bits = [blocks];
        let cov = Coverage::new(&bits, self.length);
        let gap = cov.first_gap();
        if gap == self.length {
            self.orders.push(self.path.clone());
            return;
        }
        let here = ReorderingState { cov, gap, end, top: self.stacks.top(stack), mode };
        let length = self.length;
        let ends = |start: u32| (start + 1..=length).map(move |end| Span::new(start, end));
        let mut steps = 0;
        for span in (0..length).flat_map(ends) {
            if !cov.is_free(span) || !(self.has)(span) || !self.admits(&here, span) {
                continue;
            }
            steps += 1;
            let mut after = [blocks];
            Coverage::mark(&mut after, span);
            let stack = self.stacks.push(stack, span, Reduce::Binary);
            let mode = self.space.after(&here, span);
            self.path.push(span);
            self.go(after[0], span.end, stack, mode);
            self.path.pop();
        }
        self.dead_ends += usize::from(steps == 0);
    }

    /// Whether a span may come next; the window and the last end of the space promise no less.
    fn admits(&self, here: &ReorderingState<'_>, span: Span) -> bool {
        let has = |span: Span| (self.has)(span);
        let inside = self.space.window(here).has(span.start);
        let bound = inside && span.end <= self.space.last_end(here, span.start);
        let admits = inside && self.space.admits(here, span, has);
        assert!(bound || !admits);
        assert!(admits == bound || self.space.remembers());
        admits
            && (self.constraints.is_empty() || self.constraints.admit(self.space, here, span, &has))
    }
}
