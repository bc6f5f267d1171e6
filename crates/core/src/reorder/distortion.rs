//! How far the decoder jumps in the source, and what that costs (definitions d.2, d.3).
//!
//! In: where the last phrase ended, the next span, the first gap. Out: a cost in words, >= 0;
//! the feature `d` is minus its sum.
//! How: the plain distance, or the same charged as soon as it is certain (Moore and Quirk, 2007).
//! Over a complete translation both add up to the same, if the jump to the sentence's end counts.

use crate::error::{Result, named};
use crate::feature::Span;

/// When the cost of a jump is charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Distortion {
    /// As the jump is made.
    #[default]
    Distance,
    /// As soon as it is certain to come.
    Early,
    /// As the jump is made, and the future cost counts what is certain to come.
    Foreseen,
}

/// Words jumped over between a phrase that ended before `end` and a word at `start`.
pub fn distance(end: u32, start: u32) -> u32 {
    end.abs_diff(start)
}

impl Distortion {
    /// All kinds with the names used in options.
    pub const ALL: [(&'static str, Distortion); 3] = [
        ("distance", Distortion::Distance),
        ("early", Distortion::Early),
        ("foreseen", Distortion::Foreseen),
    ];

    /// The kind of this name.
    pub fn named(name: &str) -> Result<Distortion> {
        named("distortion", name, &Distortion::ALL)
    }

    /// Cost of adding `span` when the last phrase ended before `end` and `gap` is the first
    /// untranslated word.
    pub fn cost(self, gap: u32, end: u32, span: Span) -> u32 {
        match self {
            Distortion::Distance | Distortion::Foreseen => distance(end, span.start),
            Distortion::Early => early(gap, end, span),
        }
    }

    /// Cost of stopping after a phrase that ended before `end`.
    pub fn last(self, end: u32, length: u32) -> u32 {
        match self {
            Distortion::Distance | Distortion::Foreseen => distance(end, length),
            Distortion::Early => 0,
        }
    }

    /// What the future cost counts of jumps when `covered` words are translated: back to the gap,
    /// and then over all that is translated behind it. Together with the distance so far that is
    /// what `Early` has charged.
    pub fn ahead(self, gap: u32, end: u32, covered: u32) -> u32 {
        match self {
            Distortion::Distance | Distortion::Early => 0,
            Distortion::Foreseen => distance(end, gap) + covered - gap,
        }
    }
}

fn early(gap: u32, end: u32, span: Span) -> u32 {
    if span.start == gap {
        0
    } else if span.end < end {
        2 * span.len()
    } else {
        2 * (span.start - end.max(gap) + span.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::Coverage;

    /// Costs of the phrases, inclusive spans in target order, then of the end.
    fn costs(kind: Distortion, phrases: &[(u32, u32)], length: u32) -> Vec<u32> {
        let mut blocks = vec![0; Coverage::blocks_for(length)];
        let mut end = 0;
        let mut costs = Vec::new();
        for &(first, last) in phrases {
            let span = Span::new(first, last + 1);
            costs.push(kind.cost(Coverage::new(&blocks, length).first_gap(), end, span));
            Coverage::mark(&mut blocks, span);
            end = span.end;
        }
        costs.push(kind.last(end, length));
        costs
    }

    #[test]
    fn the_steps_are_those_of_the_specification() {
        type Case = (&'static [(u32, u32)], u32, &'static [u32], &'static [u32]);
        let cases: [Case; 4] = [
            (&[(3, 4), (1, 2), (0, 0), (5, 5)], 6, &[3, 4, 3, 4, 0], &[10, 4, 0, 0, 0]),
            (&[(1, 3), (0, 0), (4, 5)], 6, &[1, 4, 3, 0], &[8, 0, 0, 0]),
            (&[(0, 0), (4, 5), (1, 1), (2, 3)], 6, &[0, 3, 5, 0, 2], &[0, 10, 0, 0, 0]),
            (&[(2, 3), (0, 1), (4, 4)], 5, &[2, 4, 2, 0], &[8, 0, 0, 0]),
        ];
        for (phrases, length, plain, early) in cases {
            assert_eq!(costs(Distortion::Distance, phrases, length), plain);
            assert_eq!(costs(Distortion::Early, phrases, length), early);
        }
    }

    #[test]
    fn what_is_foreseen_makes_up_for_charging_late() {
        for length in 1..=6 {
            all(length, &mut |phrases| {
                let kinds = [Distortion::Early, Distortion::Foreseen];
                let [early, late] = kinds.map(|kind| costs(kind, phrases, length));
                let mut blocks = vec![0; Coverage::blocks_for(length)];
                let mut covered = 0;
                for (at, &(first, last)) in phrases.iter().enumerate() {
                    Coverage::mark(&mut blocks, Span::new(first, last + 1));
                    covered += last + 1 - first;
                    let gap = Coverage::new(&blocks, length).first_gap();
                    let ahead = Distortion::Foreseen.ahead(gap, last + 1, covered);
                    let sum = |costs: &[u32]| costs[..=at].iter().sum::<u32>();
                    assert_eq!(sum(&early), sum(&late) + ahead, "{phrases:?} {at}");
                }
            });
        }
    }

    type Each<'a> = &'a mut dyn FnMut(&[(u32, u32)]);

    /// Calls `each` with every segmentation of `length` words in every order; returns how many.
    fn all(length: u32, each: Each<'_>) -> usize {
        fn grow(free: &mut Vec<bool>, path: &mut Vec<(u32, u32)>, each: Each<'_>) -> usize {
            if !free.contains(&true) {
                each(path);
                return 1;
            }
            let mut count = 0;
            for start in 0..free.len() {
                for last in (start..free.len()).take_while(|&at| free[at]).collect::<Vec<_>>() {
                    free[start..=last].fill(false);
                    path.push((start as u32, last as u32));
                    count += grow(free, path, each);
                    path.pop();
                    free[start..=last].fill(true);
                }
            }
            count
        }
        grow(&mut vec![true; length as usize], &mut Vec::new(), each)
    }

    #[test]
    fn early_cost_sums_to_the_distance_with_the_final_jump() {
        let mut seen = 0;
        for length in 1..=6 {
            seen += all(length, &mut |phrases| {
                let sum = |kind| costs(kind, phrases, length).iter().sum::<u32>();
                assert_eq!(sum(Distortion::Early), sum(Distortion::Distance), "{phrases:?}");
            });
        }
        assert_eq!(seen, 1 + 3 + 11 + 49 + 261 + 1631);
    }
}
