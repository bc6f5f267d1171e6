//! The BLEU oracle of trees: a chart over spans of phrases.
//!
//! In: phrases as word numbers, the references' n-grams, and the widest inverted node. Out: the
//! best order that a tree with straight and inverted nodes makes (definitions i.4).
//! How: bottom up; two neighbouring strings are joined either way round, and what matches across
//! the junction is looked up by their contexts. A string that is no longer than its context
//! lends its words to the context of the whole. All strings of a span have the same words, so only
//! what may still win is kept (`front`): without a beam the answer is exact.
//! Cost: O(n³) junctions times the strings of both sides.

use super::counts::Counts;
use super::front::{Goal, Partial, Pruning, thin};
use super::grams::{EMPTY, Grams};
use super::layered::Ordered;
use crate::narrow::to_u32;

/// Strings between two clean-ups of a cell.
const CROWD: usize = 512;
/// Strings of a cell that new ones are held against at once.
const GUARDS: usize = 4;

/// A string of a span, and how it was made.
#[derive(Debug, Clone, Copy)]
struct Piece {
    counts: Counts,
    hope: Counts,
    entry: Counts,
    left: u32,
    right: u32,
    /// The two halves as they come, by number; equal for a phrase.
    first: u32,
    second: u32,
}

impl Partial for Piece {
    fn counts(&self) -> Counts {
        self.counts
    }

    fn contexts(&self) -> u64 {
        u64::from(self.left) << 32 | u64::from(self.right)
    }

    fn hope(&self) -> Counts {
        self.hope
    }

    fn entry(&self) -> Counts {
        self.entry
    }
}

/// Memory for charts.
#[derive(Debug, Default)]
pub struct TreeChart {
    pieces: Vec<Piece>,
    /// Where the pieces of each span start and end, by start and end of the span.
    cells: Vec<(u32, u32)>,
    crowd: Vec<Piece>,
    /// Number of words before each phrase, and the most that can end in phrases before it.
    before: Vec<usize>,
    most: Vec<Counts>,
    /// The fourth power of the score to reach.
    floor: f64,
}

/// Pieces that new ones are held against.
#[derive(Debug, Default)]
struct Guards {
    counts: [Counts; GUARDS],
    used: usize,
    next: usize,
}

impl Guards {
    #[inline]
    fn stop(&self, most: Counts) -> bool {
        self.counts[..self.used].iter().any(|counts| counts.covers(most))
    }

    /// Takes the counts in when no guard covers them, in place of one that they cover or the oldest.
    fn consider(&mut self, counts: Counts) {
        if self.stop(counts) {
            return;
        }
        if let Some(weaker) = self.counts[..self.used].iter_mut().find(|own| counts.covers(**own)) {
            *weaker = counts;
        } else if self.used < GUARDS {
            self.counts[self.used] = counts;
            self.used += 1;
        } else {
            self.counts[self.next] = counts;
            self.next = (self.next + 1) % GUARDS;
        }
    }
}

impl TreeChart {
    /// The best order of the phrases, inverted nodes at most so wide; none when it scores below
    /// `floor`.
    pub fn best(
        &mut self,
        widest: u32,
        items: &[Vec<u32>],
        grams: &mut Grams,
        pruning: Pruning,
        floor: f64,
    ) -> Option<Ordered> {
        let n = items.len();
        let ends = items.iter().scan(0, |words, item| {
            *words += item.len();
            Some(*words)
        });
        self.before.clear();
        self.before.push(0);
        self.before.extend(ends);
        self.most.clear();
        self.most.push(Counts::NONE);
        for (at, item) in items.iter().enumerate() {
            self.most.push(self.most[at] + grams.most_in(item));
        }
        self.floor = floor.powi(4);
        self.cells.clear();
        self.cells.resize(n * (n + 1), (0, 0));
        self.pieces.clear();
        for (at, item) in items.iter().enumerate() {
            let (counts, right) = grams.append(EMPTY, item);
            let left = grams.lengthened(EMPTY, item);
            let entry = grams.hope_before(left);
            let hope = entry + grams.hope_after(right);
            let number = to_u32(self.pieces.len());
            self.cells[at * (n + 1) + at + 1] = (number, number + 1);
            let (first, second) = (number, number);
            self.pieces.push(Piece { counts, hope, entry, left, right, first, second });
        }
        let mut is_exact = true;
        for width in 2..=n {
            for start in 0..=n - width {
                is_exact &= self.fill(start, start + width, widest, n, grams, pruning);
            }
        }
        self.read_off(n, is_exact)
    }

    /// Makes the pieces of a span; whether none was left out that might have won.
    fn fill(
        &mut self,
        start: usize,
        end: usize,
        widest: u32,
        n: usize,
        grams: &mut Grams,
        pruning: Pruning,
    ) -> bool {
        self.crowd.clear();
        let mut guards = Guards::default();
        let words = self.before[end] - self.before[start];
        let of_span = self.most[end].less(self.most[start]);
        let (all_words, most) = (self.before[n], self.most[n]);
        let goal = Goal { floor: self.floor, words: all_words, others: most.less(of_span) };
        let may_turn = to_u32(end - start) <= widest;
        let mut is_exact = true;
        let mut crowded = CROWD;
        for split in start + 1..end {
            let left = self.cells[start * (n + 1) + split];
            let right = self.cells[split * (n + 1) + end];
            let lengths =
                (self.before[split] - self.before[start], self.before[end] - self.before[split]);
            for x in left.0..left.1 {
                for y in right.0..right.1 {
                    self.join((x, y), lengths, grams, &mut guards);
                    if may_turn {
                        self.join((y, x), (lengths.1, lengths.0), grams, &mut guards);
                    }
                }
            }
            if self.crowd.len() > crowded {
                let exact = Pruning { beam: 0.0, keep: 0 };
                thin(&mut self.crowd, words, exact, &goal);
                crowded = 2 * self.crowd.len() + CROWD;
            }
        }
        is_exact &= !thin(&mut self.crowd, words, pruning, &goal);
        let first = to_u32(self.pieces.len());
        self.pieces.extend_from_slice(&self.crowd);
        self.cells[start * (n + 1) + end] = (first, to_u32(self.pieces.len()));
        is_exact
    }

    /// Puts two pieces together, unless the whole cannot win.
    #[inline]
    fn join(
        &mut self,
        (first, second): (u32, u32),
        (first_words, second_words): (usize, usize),
        grams: &mut Grams,
        guards: &mut Guards,
    ) {
        let (x, y) = (self.pieces[first as usize], self.pieces[second as usize]);
        let counts = x.counts + y.counts + grams.junction(x.right, y.left);
        // What is left of the halves' hopes at least covers that of the whole, but for halves that
        // lend their words to it; those are few and short.
        let is_short = first_words < 3 || second_words < 3;
        let outside = grams.hope_before(x.left) + grams.hope_after(y.right);
        if !is_short && guards.stop(counts + outside) {
            return;
        }
        let left = if grams.length(x.left) == first_words {
            grams.lengthened(x.left, grams.words_of(y.left))
        } else {
            x.left
        };
        let right = if grams.length(y.right) == second_words {
            grams.append(x.right, grams.words_of(y.right)).1
        } else {
            y.right
        };
        let entry = grams.hope_before(left);
        let hope = entry + grams.hope_after(right);
        if is_short && guards.stop(counts + hope) {
            return;
        }
        guards.consider(counts);
        self.crowd.push(Piece { counts, hope, entry, left, right, first, second });
    }

    fn read_off(&self, n: usize, is_exact: bool) -> Option<Ordered> {
        let Some(&(from, to)) = self.cells.get(n) else {
            return Some(Ordered { order: Vec::new(), counts: Counts::NONE, is_exact });
        };
        let words = self.before[n];
        let score = |number: u32| self.pieces[number as usize].counts.score(words);
        let best =
            (from..to).reduce(|best, next| if score(next) > score(best) { next } else { best });
        let best = best?;
        let mut order = Vec::with_capacity(n);
        let mut open = vec![best];
        while let Some(number) = open.pop() {
            let piece = self.pieces[number as usize];
            if piece.first == piece.second {
                order.push(number);
            } else {
                open.extend([piece.second, piece.first]);
            }
        }
        Some(Ordered { order, counts: self.pieces[best as usize].counts, is_exact })
    }
}
