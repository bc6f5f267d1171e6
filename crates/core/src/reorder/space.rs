//! Reordering spaces: which spans may come next.
//!
//! In: where a partial translation stands (`Here`) and the spans that have options.
//! Out: yes or no for each span, and what to remember. As long as every single word has an
//! option of its own, some span is always allowed until all words are translated.
//! How: definitions d.1 for the distortion limit, i.1 for the others with phrases as the items.
//! Cost: O(1) a span, besides a scan of the coverage.

use crate::error::{Error, Result};
use crate::feature::{ReorderingState, Span};
use crate::reorder::distortion::distance;
use crate::reorder::prune::Pruning;
use std::fmt;

/// Which orders of phrases the decoder may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Space {
    /// Source order only.
    Mono,
    /// Jumps of at most so many words, none for no limit; the first gap stays within reach.
    Dl(Option<u32>),
    /// The next phrase starts at one of the first so many untranslated words.
    Ibm(u32),
    /// Neighbouring phrases may change places.
    Mj1,
    /// Three neighbouring phrases may come in any order.
    Mj2,
    /// Whatever a binary tree with straight and inverted nodes can reach.
    Itg,
}

/// A space, and how a path feature shapes it: `dl:18+waw(top=3,threshold=0.1,zone=5)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Shaped {
    /// What is allowed.
    pub space: Space,
    /// What is worth trying; none when everything is.
    pub pruning: Option<Pruning>,
}

impl Shaped {
    /// Reads a space by name, with or without `+FEATURE(…)`.
    pub fn named(name: &str) -> Result<Shaped> {
        let (space, pruning) = match name.split_once('+') {
            Some((space, pruning)) => (space, Some(Pruning::named(pruning)?)),
            None => (name, None),
        };
        Ok(Shaped { space: Space::named(space)?, pruning })
    }
}

impl fmt::Display for Shaped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.space)?;
        self.pruning.as_ref().map_or(Ok(()), |pruning| write!(f, "+{pruning}"))
    }
}

/// One phrase has jumped ahead.
const AHEAD: u8 = 1;
/// The first gap is to be filled by one phrase.
const FILL: u8 = 2;

/// Nothing pending.
const SETTLED: u8 = Space::SETTLED;

impl Space {
    /// The mode in which nothing is pending: in `mj1` and `mj2` all words up to the first gap are
    /// translated, and none after it.
    pub const SETTLED: u8 = 0;

    /// The space of this name: `mono`, `dl:K` (-1 for no limit), `ibm:K`, `mj1`, `mj2`, `itg`.
    pub fn named(name: &str) -> Result<Space> {
        let parsed = match name.split_once(':') {
            None => match name {
                "mono" => Some(Space::Mono),
                "mj1" => Some(Space::Mj1),
                "mj2" => Some(Space::Mj2),
                "itg" => Some(Space::Itg),
                _ => None,
            },
            Some(("dl", "-1")) => Some(Space::Dl(None)),
            Some(("dl", limit)) => limit.parse().ok().map(|limit| Space::Dl(Some(limit))),
            Some(("ibm", words)) => words.parse().ok().filter(|&words| words > 0).map(Space::Ibm),
            Some(_) => None,
        };
        parsed.ok_or_else(|| Error::Argument {
            name: "space".into(),
            found: format!("`{name}`"),
            expected: "`mono`, `dl:K` (-1: no limit), `ibm:K` (K > 0), `mj1`, `mj2` or `itg`"
                .into(),
        })
    }

    /// Whether `Here::top` must be kept.
    pub fn needs_blocks(self) -> bool {
        self == Space::Itg
    }

    /// Whether `Here::mode` must be kept.
    pub fn remembers(self) -> bool {
        matches!(self, Space::Mj1 | Space::Mj2)
    }

    /// No span that starts outside this one is allowed; a quick bound for loops over spans.
    pub fn window(self, here: &ReorderingState<'_>) -> Span {
        let length = here.cov.length();
        match self {
            Space::Mono => Span::new(here.gap, (here.gap + 1).min(length)),
            Space::Dl(None) | Space::Mj1 | Space::Mj2 => Span::new(here.gap, length),
            Space::Dl(Some(limit)) => {
                let last = here.end.saturating_add(limit).saturating_add(1);
                Span::new(here.end.saturating_sub(limit).max(here.gap), last.min(length))
            }
            Space::Ibm(words) => {
                let mut position = here.gap;
                for _ in 1..words {
                    if position >= length {
                        break;
                    }
                    position = here.cov.next_free(position + 1);
                }
                Span::new(here.gap, (position + 1).min(length))
            }
            Space::Itg => {
                let start = here.cov.free_run_start(here.top.start);
                let top_end = if here.top.is_empty() { 0 } else { here.top.end };
                Span::new(start, here.cov.next_covered(top_end))
            }
        }
    }

    /// No span that starts at a word of the window and ends later is allowed. For spaces that
    /// remember nothing this and the window are all there is to say.
    pub fn last_end(self, here: &ReorderingState<'_>, start: u32) -> u32 {
        match self {
            Space::Dl(Some(limit)) if start != here.gap => here.gap.saturating_add(limit),
            _ => here.cov.length(),
        }
    }

    /// Whether an untranslated span inside the window may come next; `has` tells which spans
    /// have an option.
    pub fn admits(
        self,
        here: &ReorderingState<'_>,
        span: Span,
        has: impl Fn(Span) -> bool,
    ) -> bool {
        match self {
            Space::Mono => span.start == here.gap,
            Space::Dl(None) | Space::Ibm(_) | Space::Itg => true,
            Space::Dl(Some(limit)) => {
                distance(here.end, span.start) <= limit
                    && (span.start == here.gap || distance(span.end, here.gap) <= limit)
            }
            Space::Mj1 | Space::Mj2 => self.settles(here, span, has).is_some(),
        }
    }

    /// What to remember after an admitted span.
    pub fn after(self, here: &ReorderingState<'_>, span: Span) -> u8 {
        match self {
            Space::Mj1 | Space::Mj2 => self.settles(here, span, |_| true).unwrap_or(SETTLED),
            _ => SETTLED,
        }
    }

    /// For `mj1` and `mj2`, the mode after `span`, none when the span is not allowed.
    ///
    /// Every order of three items is one after another of a, ba, bca, cab and cba.
    fn settles(
        self,
        here: &ReorderingState<'_>,
        span: Span,
        has: impl Fn(Span) -> bool,
    ) -> Option<u8> {
        let gap = here.gap;
        if here.mode == SETTLED {
            if span.start == gap {
                return Some(SETTLED);
            }
            let skipped = Span::new(gap, span.start);
            if self == Space::Mj1 {
                return has(skipped).then_some(FILL);
            }
            let in_two = || {
                (gap + 1..span.start)
                    .any(|at| has(Span::new(gap, at)) && has(Span::new(at, span.start)))
            };
            return (has(skipped) || in_two()).then_some(AHEAD);
        }
        let hole = Span::new(gap, here.cov.next_covered(gap));
        if span == hole {
            // In mode AHEAD the hole may have been meant for two phrases; one will do.
            return Some(SETTLED);
        }
        if here.mode == FILL {
            return None;
        }
        let left = if span.start == gap && span.end < hole.end {
            Span::new(span.end, hole.end)
        } else if span.end == hole.end {
            Span::new(gap, span.start)
        } else if span.start == here.cov.next_free(hole.end) {
            hole
        } else {
            return None;
        };
        has(left).then_some(FILL)
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Space::Mono => f.write_str("mono"),
            Space::Dl(None) => f.write_str("dl:-1"),
            Space::Dl(Some(limit)) => write!(f, "dl:{limit}"),
            Space::Ibm(words) => write!(f, "ibm:{words}"),
            Space::Mj1 => f.write_str("mj1"),
            Space::Mj2 => f.write_str("mj2"),
            Space::Itg => f.write_str("itg"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reorder::ReorderingConstraints;
    use crate::reorder::walk::walk;

    /// Number of complete orders, and of dead ends on the way.
    fn count(name: &str, length: u32, has: &dyn Fn(Span) -> bool) -> (usize, usize) {
        let space = Space::named(name).unwrap();
        let (orders, dead_ends) = walk(space, &ReorderingConstraints::default(), length, has);
        (orders.len(), dead_ends)
    }

    #[test]
    fn the_number_of_orders_is_that_of_the_specification() {
        let cases: [(&str, [usize; 8]); 15] = [
            ("mono", [1; 8]),
            ("dl:0", [1; 8]),
            ("dl:1", [1; 8]),
            ("dl:2", [1, 2, 3, 5, 8, 13, 21, 34]),
            ("dl:3", [1, 2, 6, 12, 25, 53, 112, 239]),
            ("dl:4", [1, 2, 6, 24, 60, 150, 375, 989]),
            ("dl:5", [1, 2, 6, 24, 120, 360, 1050, 3024]),
            ("dl:6", [1, 2, 6, 24, 120, 720, 2520, 8400]),
            ("dl:-1", [1, 2, 6, 24, 120, 720, 5040, 40320]),
            ("mj1", [1, 2, 3, 5, 8, 13, 21, 34]),
            ("mj2", [1, 2, 6, 11, 23, 52, 108, 229]),
            ("ibm:2", [1, 2, 4, 8, 16, 32, 64, 128]),
            ("ibm:3", [1, 2, 6, 18, 54, 162, 486, 1458]),
            ("ibm:4", [1, 2, 6, 24, 96, 384, 1536, 6144]),
            ("itg", [1, 2, 6, 22, 90, 394, 1806, 8558]),
        ];
        for (name, counts) in cases {
            for (length, orders) in (1..).zip(counts) {
                let counted = count(name, length, &|span| span.len() == 1);
                assert_eq!(counted, (orders, 0), "{name}, {length} words");
            }
        }
    }

    #[test]
    fn no_space_runs_into_a_dead_end() {
        // Longer phrases exist for some spans only; single words always do.
        for seed in 0..4u32 {
            let has = |span: Span| {
                let odd = (span.start * 7 + span.end * 5 + seed * 3).is_multiple_of(3);
                span.len() == 1 || span.len() <= 3 && odd
            };
            for name in ["mono", "dl:1", "dl:2", "dl:3", "dl:4", "mj1", "mj2", "ibm:2", "itg"] {
                let (orders, dead_ends) = count(name, 7, &has);
                assert!(orders > 0);
                assert_eq!(dead_ends, 0, "{name}, seed {seed}");
            }
        }
    }

    #[test]
    fn shaped_spaces_are_read_and_shown() {
        for name in ["dl:18+waw(top=3,threshold=0.1,zone=5)", "itg+lop(top=1,threshold=0,zone=-1)"]
        {
            assert_eq!(Shaped::named(name).unwrap().to_string(), name);
        }
        assert_eq!(Shaped::named("dl:6").unwrap().to_string(), "dl:6");
        assert!(Shaped::named("dl:6+").is_err());
        assert!(Shaped::named("what+waw").is_err());
    }

    #[test]
    fn names_are_read_and_shown() {
        for name in ["mono", "dl:0", "dl:12", "dl:-1", "ibm:4", "mj1", "mj2", "itg"] {
            assert_eq!(Space::named(name).unwrap().to_string(), name);
        }
        for name in ["", "dl", "dl:x", "dl:-2", "ibm:0", "mj3", "itg:5"] {
            assert_eq!(
                Space::named(name).unwrap_err().to_string(),
                format!(
                    "space: found `{name}`; expected `mono`, `dl:K` (-1: no limit), `ibm:K` \
                     (K > 0), `mj1`, `mj2` or `itg`"
                )
            );
        }
    }
}
