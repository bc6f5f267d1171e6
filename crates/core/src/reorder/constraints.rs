//! Walls and zones: what the writer of a sentence demands of its order.
//!
//! In: walls and zones of one sentence, and where a partial translation stands.
//! Out: yes or no for each span, beside the answer of the `Space`; never no to all of them.
//! How: a wall stands between two words, and all words before it are translated before any after
//! it. A zone, once begun, is finished before anything outside it; a wall inside a zone holds
//! within that zone alone. A phrase may reach over a wall or the edge of a zone when it leaves
//! nothing undone: no word before the wall, no word of the zone.
//! Cost: O(zones + words skipped) a span; sentences without walls and zones never come here.

use super::Space;
use super::distortion::distance;
use crate::feature::{Coverage, ReorderingState, Span};

/// The walls and zones of a sentence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReorderingConstraints {
    /// Zones in any order; two of them are apart, equal or one inside the other.
    zones: Vec<Span>,
    /// Each wall with the words it holds for: the innermost zone around it, or the sentence.
    walls: Vec<(u32, Span)>,
}

impl ReorderingConstraints {
    /// Create the constraints of a sentence of `length` words; a wall stands before the word with its index.
    ///
    /// A zone with fewer than two words and a wall at the edge of what it holds for demand
    /// nothing, and are left out.
    pub fn new(length: u32, zones: &[Span], walls: &[u32]) -> Self {
        let zones: Vec<Span> = zones.iter().copied().filter(|zone| zone.len() > 1).collect();
        let around = |wall: u32| {
            let inside = zones.iter().copied().filter(|zone| zone.start < wall && wall < zone.end);
            inside.min_by_key(|zone| zone.len()).unwrap_or(Span::new(0, length))
        };
        let mut walls: Vec<(u32, Span)> = walls
            .iter()
            .filter(|&&wall| 0 < wall && wall < length)
            .map(|&wall| (wall, around(wall)))
            .collect();
        walls.sort_unstable();
        walls.dedup();
        ReorderingConstraints { zones, walls }
    }

    /// Whether nothing is demanded.
    pub fn is_empty(&self) -> bool {
        self.zones.is_empty() && self.walls.is_empty()
    }

    /// Whether a zone starts or ends before this word.
    pub fn has_zone_edge(&self, word: u32) -> bool {
        self.zones.iter().any(|zone| zone.start == word || zone.end == word)
    }

    /// Whether a span that `space` admits may come next; `has` tells which spans have an option.
    ///
    /// As long as every word is in some span with an option that reaches over no wall and no edge
    /// of a zone, and such spans do not overlap, there is always a span that may come next.
    pub fn admit(
        &self,
        space: Space,
        here: &ReorderingState<'_>,
        span: Span,
        has: &impl Fn(Span) -> bool,
    ) -> bool {
        if !self.keep(here.cov, span) {
            return false;
        }
        match space {
            // A zone is left only when it is finished, so all of it has to be within reach.
            Space::Dl(Some(limit)) => !self
                .entered(here.cov, span)
                .any(|zone| here.gap < zone.start && distance(zone.end, here.gap) > limit),
            // A jump is a promise of what comes after it.
            Space::Mj1 | Space::Mj2 => self.can_settle(space, here, span, has),
            Space::Mono | Space::Dl(None) | Space::Ibm(_) | Space::Itg => true,
        }
    }

    /// Whether a span respects all walls and zones.
    fn keep(&self, cov: Coverage<'_>, span: Span) -> bool {
        let walls = self.walls.iter().all(|&(wall, holds)| {
            let after = span.end > wall && span.start < holds.end;
            !after || !leaves(cov, span, Span::new(holds.start, wall))
        });
        walls
            && self.zones.iter().all(|&zone| {
                if span.end <= zone.start || zone.end <= span.start {
                    return cov.is_free(zone) || cov.next_free(zone.start) >= zone.end;
                }
                is_inside(span, zone) || !leaves(cov, span, zone)
            })
    }

    /// The zones that would be open after a span.
    fn entered(&self, cov: Coverage<'_>, span: Span) -> impl Iterator<Item = Span> {
        let open = move |zone: &Span| is_inside(span, *zone) && leaves(cov, span, *zone);
        self.zones.iter().copied().filter(open)
    }

    /// Whether some way leads from an admitted span to a place where nothing is pending.
    fn can_settle(
        &self,
        space: Space,
        here: &ReorderingState<'_>,
        span: Span,
        has: &impl Fn(Span) -> bool,
    ) -> bool {
        let mode = space.after(here, span);
        if mode == Space::SETTLED {
            return true;
        }
        let mut blocks = here.cov.blocks().to_vec();
        Coverage::mark(&mut blocks, span);
        let cov = Coverage::new(&blocks, here.cov.length());
        let here = ReorderingState { cov, gap: cov.first_gap(), end: span.end, mode, ..*here };
        let hole = Span::new(here.gap, cov.next_covered(here.gap));
        let beyond = cov.next_free(hole.end);
        (hole.start..hole.end).chain([beyond]).any(|start| {
            let free = cov.next_covered(start);
            (start + 1..=free).map(|end| Span::new(start, end)).any(|next| {
                has(next)
                    && space.admits(&here, next, has)
                    && self.keep(cov, next)
                    && self.can_settle(space, &here, next, has)
            })
        })
    }
}

fn is_inside(span: Span, zone: Span) -> bool {
    zone.start <= span.start && span.end <= zone.end
}

/// Whether a word of `within` is untranslated when `span` is translated too.
fn leaves(cov: Coverage<'_>, span: Span, within: Span) -> bool {
    let mut word = cov.next_free(within.start);
    if span.has(word) {
        word = cov.next_free(span.end);
    }
    word < within.end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reorder::walk::walk;
    use proptest::prelude::*;

    fn touches(span: Span, zone: Span) -> bool {
        (span.start..span.end).any(|word| zone.has(word))
    }

    /// What walls and zones mean for a complete order.
    fn is_kept(order: &[Span], constraints: &ReorderingConstraints) -> bool {
        let zones = constraints.zones.iter().all(|&zone| {
            let mut inside = (0..order.len()).filter(|&at| touches(order[at], zone));
            let first = inside.next().unwrap();
            let last = inside.next_back().unwrap_or(first);
            order[first..last].iter().all(|&span| is_inside(span, zone))
        });
        zones
            && constraints.walls.iter().all(|&(wall, holds)| {
                (0..order.len()).all(|at| {
                    let done =
                        |word: u32| order[..=at].iter().any(|s| s.start <= word && word < s.end);
                    !touches(order[at], Span::new(wall, holds.end)) || (holds.start..wall).all(done)
                })
            })
    }

    /// A sentence with zones, walls and pieces that have one option for the whole of them.
    fn fenced() -> impl Strategy<Value = (u32, Vec<Span>, Vec<u32>, Vec<Span>)> {
        let span = (0u32..7, 1u32..5).prop_map(|(start, long)| Span::new(start, start + long));
        let spans = proptest::collection::vec(span, 0..4);
        let walls = proptest::collection::vec(0u32..8, 0..3);
        (1u32..8, spans.clone(), walls, spans).prop_map(|(length, zones, walls, pieces)| {
            let apart = |a: Span, b: Span| !touches(a, b) || is_inside(a, b) || is_inside(b, a);
            let mut kept: Vec<Span> = Vec::new();
            for zone in zones.into_iter().filter(|zone| zone.end <= length) {
                if kept.iter().all(|&other| apart(zone, other)) {
                    kept.push(zone);
                }
            }
            let mut whole: Vec<Span> = Vec::new();
            for piece in pieces.into_iter().filter(|piece| piece.end <= length) {
                let clear = !walls.iter().any(|&wall| piece.start < wall && wall < piece.end)
                    && kept.iter().all(|&zone| !touches(piece, zone) || is_inside(piece, zone))
                    && !whole.iter().any(|&other| touches(piece, other));
                if clear {
                    whole.push(piece);
                }
            }
            (length, kept, walls, whole)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..Default::default() })]

        #[test]
        fn exactly_the_orders_that_keep_all_constraints_are_found_without_a_dead_end(
            (length, zones, walls, pieces) in fenced(),
            seed in 0u32..9,
        ) {
            let constraints = ReorderingConstraints::new(length, &zones, &walls);
            let has = |span: Span| match pieces.iter().find(|&&piece| touches(piece, span)) {
                Some(&piece) => piece == span,
                None => {
                    let odd = (span.start * 7 + span.end * 5 + seed * 3).is_multiple_of(3);
                    span.len() == 1 || span.len() <= 3 && odd
                }
            };
            for name in [
                "mono", "dl:1", "dl:2", "dl:3", "dl:4", "dl:6", "mj1", "mj2", "ibm:2", "ibm:3", "itg",
            ] {
                let space = Space::named(name).unwrap();
                let (orders, dead_ends) = walk(space, &constraints, length, &has);
                prop_assert_eq!(dead_ends, 0, "{}", name);
                prop_assert!(!orders.is_empty());
                let (all, _) = walk(space, &ReorderingConstraints::default(), length, &has);
                let kept: Vec<Vec<Span>> =
                    all.into_iter().filter(|order| is_kept(order, &constraints)).collect();
                prop_assert_eq!(orders, kept, "{}", name);
            }
        }
    }

    fn words(order: &[Span]) -> Vec<u32> {
        order.iter().map(|span| span.start).collect()
    }

    #[test]
    fn a_wall_a_zone_and_a_wall_in_a_zone_leave_these_orders() {
        let single = |span: Span| span.len() == 1;
        let space = Space::Dl(None);
        let orders = |zones: &[Span], walls: &[u32]| -> Vec<Vec<u32>> {
            let (orders, _) = walk(space, &ReorderingConstraints::new(4, zones, walls), 4, &single);
            orders.iter().map(|order| words(order)).collect()
        };
        assert_eq!(orders(&[], &[2]), [[0, 1, 2, 3], [0, 1, 3, 2], [1, 0, 2, 3], [1, 0, 3, 2]]);
        assert_eq!(orders(&[Span::new(1, 4)], &[2]).len(), 4, "0 first or last, 2 and 3 after 1");
        assert_eq!(orders(&[Span::new(1, 3)], &[]).len(), 12, "three things, one of them two ways");
        assert_eq!(orders(&[], &[1, 2, 3]), [[0, 1, 2, 3]]);
    }
}
