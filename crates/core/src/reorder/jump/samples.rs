//! Training samples, by walking through a sentence as the decoder would (definitions b.2).
//!
//! In: the order in which the source words are translated. Out: for each step the right next word
//! and the wrong ones within a window. Positions count from 1 here; 0 is the sentence's start.
//! Cost: O(n · window) a sentence, no allocation once the memory has grown.

use super::around::Around;
use crate::feature::{Coverage, Span};
use crate::narrow::to_u32;

/// A jump from one source word to another, and whether it is the right one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// The word translated last, from 1; 0 at the start.
    pub from: u32,
    /// The word that may come next, from 1.
    pub to: u32,
    /// Whether it does.
    pub is_next: bool,
    /// What is translated around it.
    pub around: Around,
}

/// How far from the last word untranslated words are taken as wrong answers (definitions b.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The distance.
    pub width: u32,
    /// Whether a word at just this distance is taken too.
    pub inclusive: bool,
}

impl Default for Window {
    fn default() -> Self {
        Window { width: 10, inclusive: false }
    }
}

impl Window {
    /// The positions that lie within the window of a word, from 1 to `length`.
    pub fn around(self, from: u32, length: u32) -> std::ops::RangeInclusive<u32> {
        let reach = self.width.saturating_add(u32::from(self.inclusive));
        let first = (from + 2).saturating_sub(reach).max(1);
        first..=from.saturating_add(reach).min(length)
    }
}

/// Memory of a walk, reused from sentence to sentence.
#[derive(Debug, Default)]
pub struct Walk {
    covered: Vec<u64>,
}

impl Walk {
    /// Calls `each` for every sample of a sentence: at each step the right one first.
    /// `order` counts from 0.
    pub fn samples(&mut self, order: &[u32], window: Window, mut each: impl FnMut(Sample)) {
        self.steps(order, |from, next, cov| {
            let sample = |to: u32| {
                let around = Around::of(cov, to - 1);
                Sample { from, to, is_next: to == next, around }
            };
            each(sample(next));
            for to in window.around(from, to_u32(order.len())) {
                if to != next && !cov.has(to - 1) {
                    each(sample(to));
                }
            }
        });
    }

    /// Calls `each` for every step: where it starts, where it goes, both from 1, and what is
    /// translated before it.
    pub fn steps(&mut self, order: &[u32], mut each: impl FnMut(u32, u32, Coverage<'_>)) {
        let length = to_u32(order.len());
        self.covered.clear();
        self.covered.resize(Coverage::blocks_for(length), 0);
        let mut from = 0;
        for &next in order {
            each(from, next + 1, Coverage::new(&self.covered, length));
            from = next + 1;
            Coverage::mark(&mut self.covered, Span::new(next, from));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Samples as the definitions write them: `from→positive {negatives}`.
    fn shown(order: &[u32], width: u32, inclusive: bool) -> String {
        let order: Vec<u32> = order.iter().map(|at| at - 1).collect();
        let mut steps: Vec<(u32, u32, Vec<String>)> = Vec::new();
        Walk::default().samples(&order, Window { width, inclusive }, |sample| {
            if sample.is_next {
                steps.push((sample.from, sample.to, Vec::new()));
            } else {
                steps.last_mut().unwrap().2.push(sample.to.to_string());
            }
        });
        let step = |(from, to, wrong): &(u32, u32, Vec<String>)| {
            format!("{from}→{to}{{{}}}", wrong.join(","))
        };
        steps.iter().map(step).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_samples_are_those_of_the_specification() {
        let order = [2, 3, 1, 4, 6, 5];
        assert_eq!(shown(&order, 2, false), "0→2{1} 2→3{4} 3→1{4,5} 1→4{} 4→6{5} 6→5{}");
        assert_eq!(shown(&order, 3, false), "0→2{1,3} 2→3{1,4,5} 3→1{4,5,6} 1→4{} 4→6{5} 6→5{}");
        let all = "0→2{1,3,4,5,6} 2→3{1,4,5,6} 3→1{4,5,6} 1→4{5,6} 4→6{5} 6→5{}";
        assert_eq!(shown(&order, 10, false), all);
        assert_eq!(shown(&order, 2, true), "0→2{1,3} 2→3{1,4,5} 3→1{4,5,6} 1→4{} 4→6{5} 6→5{}");
    }

    fn count(order: &[u32], window: Window) -> usize {
        let mut count = 0;
        Walk::default().samples(order, window, |_| count += 1);
        count
    }

    #[test]
    fn the_number_of_samples_of_a_long_sentence_is_that_of_the_specification() {
        for (length, total) in [(12, 75), (31, 265)] {
            let order: Vec<u32> = (0..length).collect();
            assert_eq!(count(&order, Window::default()), total);
        }
    }

    proptest! {
        #[test]
        fn the_number_of_samples_does_not_depend_on_the_order(
            length in 1u32..30,
            width in 1u32..12,
            swaps in proptest::collection::vec((0usize..30, 1usize..10), 0..40),
        ) {
            // Swaps of neighbours keep pairs at distance `width` - 1 and more in order, as long
            // as no word goes far; otherwise the invariant does not apply.
            let mut order: Vec<u32> = (0..length).collect();
            for (at, _) in swaps {
                if at + 1 < order.len() {
                    order.swap(at, at + 1);
                }
            }
            let window = Window { width, inclusive: false };
            let mut from = 0;
            let mut inside = true;
            for &next in &order {
                inside &= window.around(from, length).contains(&(next + 1));
                from = next + 1;
            }
            for (at, &left) in order.iter().enumerate() {
                inside &= order[at..].iter().all(|&right| left < right + width.max(1) - 1 || left <= right);
            }
            prop_assume!(inside);
            let expected: u32 = (0..length).map(|step| width.min(length - step)).sum();
            prop_assert_eq!(count(&order, window), expected as usize);
        }
    }
}
