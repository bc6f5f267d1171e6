//! The BLEU oracle of spaces with a lattice: layer by layer through the states.
//!
//! In: the lattice of a space for so many phrases, the phrases as word numbers, the references'
//! n-grams. Out: the order of the phrases that the lattice has a path for and whose string scores
//! best (definitions i.3).
//! How: a state of the lattice fixes which phrases are used, so all partial strings in it have the
//! same words; of those that end in equal contexts, and of others, only what may still win goes on
//! (`front`). Without a beam the answer is exact, where the paper keeps the best partial score of
//! each context and may miss it.
//! Cost: arcs of the lattice times the few strings a state holds.

use super::counts::Counts;
use super::front::{Goal, Partial, Pruning, thin};
use super::grams::{EMPTY, Grams};
use super::lattice::Lattice;
use crate::narrow::to_u32;

/// A string in a state of the lattice, and how it was made.
#[derive(Debug, Clone, Copy)]
struct Prefix {
    counts: Counts,
    hope: Counts,
    context: u32,
    before: u32,
    item: u32,
}

impl Partial for Prefix {
    fn counts(&self) -> Counts {
        self.counts
    }

    fn contexts(&self) -> u64 {
        u64::from(self.context)
    }

    fn hope(&self) -> Counts {
        self.hope
    }

    fn entry(&self) -> Counts {
        Counts::NONE
    }
}

/// An order of phrases, what its string matches, and whether no order can score more.
#[derive(Debug, Clone, PartialEq)]
pub struct Ordered {
    /// The phrases as they come.
    pub order: Vec<u32>,
    /// Matches of orders 1 to 4.
    pub counts: Counts,
    /// Whether nothing that might have won was left out.
    pub is_exact: bool,
}

/// Memory for walks through lattices.
#[derive(Debug, Default)]
pub struct Layered {
    /// Strings of finished layers, by number.
    done: Vec<Prefix>,
    /// Strings of the states of the next layer.
    next: Vec<Vec<Prefix>>,
    current: Vec<Vec<Prefix>>,
    /// Words taken in each state of the layer at hand, and the most that other phrases can add.
    lengths: Vec<usize>,
    others: Vec<Counts>,
    /// What each phrase adds after each context, once it was asked for.
    added: Vec<Option<(Counts, u32)>>,
}

impl Layered {
    /// The best order of phrases that the lattice has; none when it scores below `floor`.
    pub fn best(
        &mut self,
        lattice: &Lattice,
        items: &[Vec<u32>],
        grams: &Grams,
        pruning: Pruning,
        floor: f64,
    ) -> Option<Ordered> {
        let most: Vec<Counts> = items.iter().map(|item| grams.most_in(item)).collect();
        let words = items.iter().map(Vec::len).sum();
        self.others.clear();
        self.others.push(most.iter().fold(Counts::NONE, |sum, &own| sum + own));
        self.added.clear();
        self.added.resize(grams.len() * items.len(), None);
        self.done.clear();
        let start =
            Prefix { counts: Counts::NONE, hope: Counts::NONE, context: EMPTY, before: 0, item: 0 };
        self.done.push(start);
        self.current.clear();
        self.current.push(vec![start]);
        self.lengths.clear();
        self.lengths.push(0);
        let mut is_exact = true;
        let mut first = 0;
        let mut arcs = lattice.arcs.as_slice();
        for layer in lattice.layers.windows(2) {
            let states = layer[1] as usize;
            self.next.iter_mut().for_each(Vec::clear);
            self.next.resize_with(states, Vec::new);
            let mut lengths = vec![0; states];
            let mut others = vec![Counts::NONE; states];
            let here = arcs.partition_point(|arc| arc.from < first + layer[0]);
            let numbers = self.numbers(layer[0] as usize);
            for arc in &arcs[..here] {
                let (from, to) =
                    ((arc.from - first) as usize, (arc.to - first - layer[0]) as usize);
                lengths[to] = self.lengths[from] + items[arc.word as usize].len();
                others[to] = self.others[from].less(most[arc.word as usize]);
                self.follow(from, to, arc.word, numbers[from], items, grams);
            }
            arcs = &arcs[here..];
            for (state, strings) in self.next[..states].iter_mut().enumerate() {
                let goal = Goal { floor: floor.powi(4), words, others: others[state] };
                is_exact &= !thin(strings, lengths[state], pruning, &goal);
                self.done.extend_from_slice(strings);
            }
            std::mem::swap(&mut self.current, &mut self.next);
            self.lengths = lengths;
            self.others = others;
            first += layer[0];
        }
        self.read_off(items.len(), self.lengths[0], is_exact)
    }

    /// The number of the first string of each state of the layer at hand.
    fn numbers(&self, states: usize) -> Vec<u32> {
        let held: usize = self.current[..states].iter().map(Vec::len).sum();
        let mut number = self.done.len() - held;
        let start = |strings: &Vec<Prefix>| {
            let start = to_u32(number);
            number += strings.len();
            start
        };
        self.current[..states].iter().map(start).collect()
    }

    /// Adds a phrase to all strings of a state.
    fn follow(
        &mut self,
        from: usize,
        to: usize,
        item: u32,
        number: u32,
        items: &[Vec<u32>],
        grams: &Grams,
    ) {
        for (before, string) in (number..).zip(&self.current[from]) {
            let at = string.context as usize * items.len() + item as usize;
            let (added, context) = *self.added[at]
                .get_or_insert_with(|| grams.append(string.context, &items[item as usize]));
            let counts = string.counts + added;
            let hope = grams.hope_after(context);
            self.next[to].push(Prefix { counts, hope, context, before, item });
        }
    }

    fn read_off(&self, items: usize, words: usize, is_exact: bool) -> Option<Ordered> {
        let score = |prefix: &Prefix| prefix.counts.score(words);
        let held = self.current[0].len();
        if held == 0 {
            return None;
        }
        let first = self.done.len() - held;
        let mut best = first;
        for number in first + 1..self.done.len() {
            if score(&self.done[number]) > score(&self.done[best]) {
                best = number;
            }
        }
        let counts = self.done[best].counts;
        let mut order = Vec::with_capacity(items);
        let mut at = best;
        for _ in 0..items {
            order.push(self.done[at].item);
            at = self.done[at].before as usize;
        }
        order.reverse();
        Some(Ordered { order, counts, is_exact })
    }
}
