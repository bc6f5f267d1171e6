//! Partial strings of the same words side by side: those that may still win.
//!
//! In: partial strings with their matches and contexts. Out: those of them that no other makes
//! needless. How: of the same words one string is never better than another that matches as much
//! now as the first can by the end: what it matches already and all that its contexts may bring
//! (`Grams::hope_after`); nor can one win that falls short of a known score even if all other phrases
//! match as well as they ever can. That costs no answer. A beam (Dreyer's) may leave out more: strings whose score
//! is so many times below the best.
//! Cost: O(k · kept) for k strings.

use super::counts::Counts;
use std::cmp::Reverse;

/// What is left out beyond what others make needless.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pruning {
    /// A string whose score is below so much of the best is left out; 0 for none.
    pub beam: f64,
    /// The most strings of the same words that go on; 0 for any number.
    pub keep: usize,
}

/// A partial string.
pub trait Partial: Copy {
    /// What matches so far.
    fn counts(&self) -> Counts;
    /// Its contexts, as one number.
    fn contexts(&self) -> u64;
    /// What its contexts may bring.
    fn hope(&self) -> Counts;
    /// What the context of its beginning may bring.
    fn entry(&self) -> Counts;
}

/// What a complete string must score to win, and what may still be added to a partial one.
#[derive(Debug, Clone, Copy)]
pub struct Goal {
    /// The fourth power of the score to reach.
    pub floor: f64,
    /// Words of the complete string.
    pub words: usize,
    /// The most that other phrases can add.
    pub others: Counts,
}

impl Goal {
    /// Whether a string that matches so much by itself may reach the goal.
    fn is_near(&self, counts: Counts) -> bool {
        self.floor <= 0.0 || (counts + self.others).product(self.words) >= self.floor
    }
}

/// Sorts partial strings of `words` words, best first, and keeps those that may win; whether any of
/// the others might have.
pub fn thin<P: Partial>(
    partials: &mut Vec<P>,
    words: usize,
    pruning: Pruning,
    goal: &Goal,
) -> bool {
    partials.retain(|partial| goal.is_near(partial.counts() + partial.entry()));
    let rank = |partial: &P| {
        let counts = partial.counts();
        // The score grows with each count, so more of everything comes first; ties by contexts.
        (counts.get(2) + counts.get(3) + counts.get(4), counts, u64::MAX - partial.contexts())
    };
    partials.sort_by_key(|partial| Reverse(rank(partial)));
    let mut kept: Vec<P> = Vec::with_capacity(partials.len().min(64));
    for partial in partials.iter() {
        let (counts, contexts, hope) = (partial.counts(), partial.contexts(), partial.hope());
        let needless = kept.iter().any(|other| {
            other.counts().covers(counts + hope)
                || other.contexts() == contexts && other.counts().covers(counts)
        });
        if !needless {
            kept.push(*partial);
        }
    }
    let before = kept.len();
    if pruning.beam > 0.0 && kept.len() > 1 {
        let scores: Vec<f64> = kept.iter().map(|partial| partial.counts().score(words)).collect();
        let least = scores.iter().fold(0.0, |most, &score| score.max(most)) * pruning.beam;
        let mut scores = scores.into_iter();
        kept.retain(|_| scores.next().is_some_and(|score| score >= least));
    }
    if pruning.keep > 0 && kept.len() > pruning.keep {
        let score = |partial: &P| partial.counts().score(words);
        kept.sort_by(|a, b| score(b).total_cmp(&score(a)));
        kept.truncate(pruning.keep);
    }
    let is_cut = kept.len() < before;
    *partials = kept;
    is_cut
}
