//! References in a more monotone order: as near to the original as a bound on lag allows.
//!
//! In: what each target word needs (`lag::needs`), the source length, and the most average
//! lagging. Out: the order of the target words that keeps the bound and puts the fewest pairs of
//! words differently from the reference.
//! How: definitions p.2. In a best order a word is never written before an earlier word that needs
//! no more than it does, for exchanging the two would lose fewer pairs and wait no longer; so only
//! words that need less than every unwritten word before them may come next, and of those that
//! need nothing new only the first. The word that needs the whole source may come at any time: it
//! ends the sum, and the rest follows as it stands. Partial orders are searched by the pairs they
//! lose; of two with the same words written that with less lag goes on. Those that cannot keep the
//! bound even if all other words came as the source has them are dropped.
//! Cost: exponential at worst, so beyond a number of partial orders the answer is the source's
//! order, brought back towards the reference by exchanging neighbours; `is_exact` tells.

use super::lag::{average_lagging, read_ahead};
use super::steps::{LONGEST, Taken};
use crate::narrow::to_u32;
use crate::reorder::order::inversions;
use rustc_hash::FxHashMap;

/// Room for rounding when lag is compared with its bound.
const SLACK: f64 = 1e-9;

/// A reference in another order.
#[derive(Debug, Clone, PartialEq)]
pub struct Rewrite {
    /// The target words as they are written.
    pub order: Vec<u32>,
    /// Pairs of words that stand differently from the reference.
    pub moved: u64,
    /// Average lagging.
    pub lagging: f64,
    /// Whether the bound is kept; if not, the order is that of the source, which waits least.
    pub is_kept: bool,
    /// Whether no order that keeps the bound is nearer.
    pub is_exact: bool,
}

/// A partial order.
#[derive(Debug, Clone, Copy)]
struct Partial {
    written: Taken,
    count: u32,
    /// The source words read.
    read: u32,
    /// What was read at each word so far, added up.
    sum: u64,
    word: u32,
    before: u32,
    is_done: bool,
}

struct Search<'a> {
    needs: &'a [u32],
    src_len: u32,
    most_lag: f64,
    /// Target words by need, then place.
    by_need: Vec<u32>,
    partials: Vec<Partial>,
    queue: Vec<Vec<u32>>,
    /// The least sum with which these words were written.
    known: FxHashMap<Taken, u64>,
}

/// The nearest order within the bound; at most `most` partial orders are looked at.
pub fn rewrite(needs: &[u32], src_len: usize, most_lag: f64, most: usize) -> Rewrite {
    let mut by_need: Vec<u32> = (0..to_u32(needs.len())).collect();
    let reference = by_need.clone();
    by_need.sort_by_key(|&word| needs[word as usize]);
    let done = |order: Vec<u32>, is_exact: bool| {
        let read = read_ahead(order.iter().map(|&word| needs[word as usize]));
        let lagging = average_lagging(&read, src_len);
        let is_kept = lagging <= most_lag + SLACK;
        Rewrite { moved: inversions(&order), lagging, is_kept, is_exact, order }
    };
    let as_it_is = done(reference, true);
    if as_it_is.is_kept {
        return as_it_is;
    }
    if needs.len() <= LONGEST {
        let mut search = Search {
            needs,
            src_len: to_u32(src_len),
            most_lag,
            by_need: by_need.clone(),
            partials: Vec::new(),
            queue: Vec::new(),
            known: FxHashMap::default(),
        };
        match search.run(most) {
            Some(Some(order)) => return done(order, true),
            Some(None) => return done(by_need, true),
            None => {}
        }
    }
    let monotone = done(by_need, false);
    if !monotone.is_kept {
        return monotone;
    }
    brought_back(monotone, done)
}

/// Exchanges neighbours back to reference order as long as the bound is kept.
fn brought_back(start: Rewrite, done: impl Fn(Vec<u32>, bool) -> Rewrite) -> Rewrite {
    let mut best = start;
    let mut at = 0;
    while at + 1 < best.order.len() {
        if best.order[at] > best.order[at + 1] {
            let mut order = best.order.clone();
            order.swap(at, at + 1);
            let tried = done(order, false);
            if tried.is_kept {
                best = tried;
                at = at.saturating_sub(1);
                continue;
            }
        }
        at += 1;
    }
    best
}

impl Search<'_> {
    /// The order; none inside when no order keeps the bound, none outside when it takes too long.
    fn run(&mut self, most: usize) -> Option<Option<Vec<u32>>> {
        let (written, before) = (Taken::default(), 0);
        let start = Partial { written, count: 0, read: 0, sum: 0, word: 0, before, is_done: false };
        self.push(start, 0);
        let mut lost = 0;
        while lost < self.queue.len() {
            let Some(number) = self.queue[lost].pop() else {
                lost += 1;
                continue;
            };
            let partial = self.partials[number as usize];
            if partial.is_done {
                return Some(Some(self.order(number)));
            }
            // Those that came before lost no more; with as little lag they went on instead.
            if self.known.get(&partial.written).is_some_and(|&sum| sum <= partial.sum) {
                continue;
            }
            self.known.insert(partial.written, partial.sum);
            if self.partials.len() > most {
                return None;
            }
            self.extend(number, to_u32(lost));
        }
        Some(None)
    }

    fn extend(&mut self, number: u32, lost: u32) {
        let partial = self.partials[number as usize];
        let mut least = self.src_len;
        let mut passed = 0;
        let mut is_last_seen = false;
        for word in 0..to_u32(self.needs.len()) {
            if has(&partial.written, word) {
                continue;
            }
            let need = self.needs[word as usize];
            if need == self.src_len && !is_last_seen {
                // The first word that needs everything ends the sum, wherever it comes.
                is_last_seen = true;
                self.write(number, word, lost + passed, true);
            } else if need < least {
                least = need;
                self.write(number, word, lost + passed, false);
            }
            if least <= partial.read && (is_last_seen || !self.is_last_ahead(&partial, word)) {
                break;
            }
            passed += 1;
        }
    }

    /// Whether a word that needs the whole source is unwritten after this one.
    fn is_last_ahead(&self, partial: &Partial, word: u32) -> bool {
        let later = &self.needs[word as usize + 1..];
        (word + 1..)
            .zip(later)
            .any(|(at, &need)| need == self.src_len && !has(&partial.written, at))
    }

    fn write(&mut self, number: u32, word: u32, lost: u32, ends: bool) {
        let before = self.partials[number as usize];
        let need = self.needs[word as usize];
        if !ends && need <= before.read && self.is_skipping(&before, word) {
            return;
        }
        let mut written = before.written;
        written[word as usize / 64] |= 1 << (word % 64);
        let read = before.read.max(need);
        let partial = Partial {
            written,
            count: before.count + 1,
            read,
            sum: before.sum + u64::from(read),
            word,
            before: number,
            is_done: ends || before.count as usize + 1 == self.needs.len(),
        };
        self.push(partial, lost);
    }

    /// Whether an unwritten word before this one needs nothing new either.
    fn is_skipping(&self, partial: &Partial, word: u32) -> bool {
        (0..word).any(|at| !has(&partial.written, at) && self.needs[at as usize] <= partial.read)
    }

    fn push(&mut self, partial: Partial, lost: u32) {
        if !self.can_keep(&partial) {
            return;
        }
        let lost = lost as usize;
        if self.queue.len() <= lost {
            self.queue.resize_with(lost + 1, Vec::new);
        }
        self.queue[lost].push(to_u32(self.partials.len()));
        self.partials.push(partial);
    }

    /// Whether the bound can be kept if the other words come as the source has them.
    fn can_keep(&self, partial: &Partial) -> bool {
        let mut sum = partial.sum;
        let mut count = partial.count;
        if partial.is_done {
            return self.keeps(sum, count);
        }
        let needs_all = self.by_need.last().map(|&word| self.needs[word as usize]);
        let has_last = needs_all == Some(self.src_len);
        let mut read = partial.read;
        for &word in &self.by_need {
            if has(&partial.written, word) {
                continue;
            }
            if has_last && self.keeps(sum + u64::from(self.src_len), count + 1) {
                return true;
            }
            let need = self.needs[word as usize];
            if need == self.src_len {
                return false;
            }
            read = read.max(need);
            sum += u64::from(read);
            count += 1;
        }
        !has_last && self.keeps(sum, count)
    }

    /// Whether average lagging over so many words that read so much together is in the bound.
    fn keeps(&self, sum: u64, count: u32) -> bool {
        let pace = f64::from(self.src_len) / self.needs.len() as f64;
        let count = f64::from(count);
        let ideal = pace * count * (count - 1.0) / 2.0;
        (sum as f64 - ideal) / count <= self.most_lag + SLACK
    }

    fn order(&self, number: u32) -> Vec<u32> {
        let last = &self.partials[number as usize];
        let mut order = Vec::with_capacity(self.needs.len());
        let mut partial = last;
        while partial.count > 0 {
            order.push(partial.word);
            partial = &self.partials[partial.before as usize];
        }
        order.reverse();
        order.extend((0..to_u32(self.needs.len())).filter(|&word| !has(&last.written, word)));
        order
    }
}

fn has(written: &Taken, word: u32) -> bool {
    written[word as usize / 64] >> (word % 64) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::super::tests::permutations;
    use super::*;
    use proptest::prelude::*;

    fn lagging(order: &[u32], needs: &[u32], src_len: usize) -> f64 {
        let read = read_ahead(order.iter().map(|&word| needs[word as usize]));
        average_lagging(&read, src_len)
    }

    #[test]
    fn the_verb_moves_back_as_far_as_it_must() {
        let needs = [1, 2, 5, 3, 4]; // he has drunk the tea
        let within = |most_lag| rewrite(&needs, 5, most_lag, 1000);
        assert_eq!(within(2.0).order, [0, 1, 2, 3, 4]);
        assert_eq!(within(1.5).order, [0, 1, 3, 2, 4]); // (1 + 1 + 1 + 2) / 4
        assert_eq!(within(1.0).order, [0, 1, 3, 4, 2]);
        assert_eq!((within(1.0).moved, within(1.0).lagging), (2, 1.0));
        let none = within(0.5);
        assert!(!none.is_kept && none.is_exact);
    }

    proptest! {
        #[test]
        fn rewrites_are_those_of_brute_force(
            (src_len, needs) in (1u32..=7).prop_flat_map(|src_len| {
                (Just(src_len as usize), proptest::collection::vec(0..=src_len, 1..=7))
            }),
            share in 0.0f64..1.0,
        ) {
            let all = permutations(needs.len() as u32);
            let lags = all.iter().map(|order| lagging(order, &needs, src_len));
            let (least, most) = lags.fold((f64::MAX, f64::MIN), |(least, most), lag| {
                (least.min(lag), most.max(lag))
            });
            let bound = least + share * (most - least) - 0.05;
            let fewest = all
                .iter()
                .filter(|order| lagging(order, &needs, src_len) <= bound + SLACK)
                .map(|order| inversions(order))
                .min();
            let found = rewrite(&needs, src_len, bound, 1 << 20);
            prop_assert!(found.is_exact);
            prop_assert_eq!(found.is_kept, fewest.is_some());
            if let Some(fewest) = fewest {
                prop_assert_eq!(found.moved, fewest);
                prop_assert!((found.lagging - lagging(&found.order, &needs, src_len)).abs() < 1e-12);
            }
            let quick = rewrite(&needs, src_len, bound, 0);
            prop_assert!(!quick.is_kept || quick.lagging <= bound + SLACK);
        }
    }
}
