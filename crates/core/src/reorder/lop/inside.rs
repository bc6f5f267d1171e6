//! Sums over all bracketings of a sentence, and how likely each node and each turned pair is.
//!
//! In: scores of nodes, and what nodes cost where they contradict the links. Out: ln Z, the log
//! sum over all trees; ln N, the same with the costs; expected counts of nodes under either; how
//! likely each pair of words is to be turned round (definitions o).
//! How: both charts are filled in one walk; expected counts then flow from the top down: a node
//! has the count of its span times its share of the span's sum. Spans of next to no count are
//! skipped, which makes the way down cheap once a model is sure of itself.
//! Cost: O(n³) time; 16 bytes a node while it lasts.

use super::span_features::PLACES;
use super::tree::{Both, Extra, LABELS, Nodes, ROOT, place_of};
use crate::narrow::to_u32;

/// Expected counts below this are left out.
const NEGLIGIBLE: f64 = 1e-7;

/// What a node costs, by label: pairs of words that it puts against their ranks.
pub trait Cost {
    /// The costs of a straight and of an inverted node.
    fn cost(&self, i: usize, j: usize, k: usize) -> Both;
}

/// No costs: the sum over all trees.
#[derive(Debug, Clone, Copy)]
pub struct Free;

impl Cost for Free {
    #[inline]
    fn cost(&self, _: usize, _: usize, _: usize) -> Both {
        [0.0; LABELS]
    }
}

/// Pairs of words that ranks have an opinion of, as sums over rectangles.
#[derive(Debug, Default)]
pub struct Contradictions {
    side: usize,
    /// What it costs to have a pair of words straight, and to have it turned round.
    sums: [Vec<f64>; LABELS],
}

impl Contradictions {
    /// Takes up opinions: `weigh(l, r)` is above 0 where a pair, l left of r, should be kept, and
    /// below where it should be turned round; costs are its size.
    pub fn fill(&mut self, length: usize, weigh: impl Fn(usize, usize) -> f64) {
        let side = length + 1;
        self.side = side;
        for (label, sums) in self.sums.iter_mut().enumerate() {
            sums.clear();
            sums.resize(side * side, 0.0);
            for x in 0..length {
                let mut row = 0.0;
                for y in 0..length {
                    let weight = if y > x { weigh(x, y) } else { 0.0 };
                    row += if label == 0 { (-weight).max(0.0) } else { weight.max(0.0) };
                    sums[(x + 1) * side + y + 1] = sums[x * side + y + 1] + row;
                }
            }
        }
    }
}

impl Cost for Contradictions {
    #[inline]
    fn cost(&self, i: usize, j: usize, k: usize) -> Both {
        let block = |sums: &[f64]| {
            sums[j * self.side + k] - sums[i * self.side + k] - sums[j * self.side + j]
                + sums[i * self.side + j]
        };
        [block(&self.sums[0]), block(&self.sums[1])]
    }
}

/// Sums of trees by span: for each label of the top node, and for each place in the node above.
#[derive(Debug, Default)]
struct Sums {
    by_label: Vec<Both>,
    by_place: Vec<[f64; PLACES]>,
}

/// Memory for the charts of a sentence.
#[derive(Debug, Default)]
pub struct Inside {
    length: usize,
    all: Sums,
    agreeing: Sums,
    /// Scores of all nodes, span by span, as `place` counts them.
    scores: Vec<Both>,
    /// Where the nodes of a span begin.
    first: Vec<u32>,
    terms: [Vec<Both>; 2],
    counts: Vec<[f64; PLACES]>,
}

/// One of the two sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// Over all trees.
    All,
    /// With the costs.
    Agreeing,
}

impl Inside {
    /// Fills both charts; ln Z and ln N.
    pub fn fill(
        &mut self,
        nodes: &Nodes,
        extra: &impl Extra,
        cost: &impl Cost,
        strictness: f64,
    ) -> (f64, f64) {
        let length = nodes.len();
        self.length = length;
        let side = length + 1;
        for sums in [&mut self.all, &mut self.agreeing] {
            sums.by_label.clear();
            sums.by_label.resize(side * side, [0.0; LABELS]);
            sums.by_place.clear();
            sums.by_place.resize(side * side, [0.0; PLACES]);
        }
        self.scores.clear();
        self.first.resize(side * side, 0);
        for width in 2..=length {
            for start in 0..=length - width {
                self.fill_span(nodes, extra, cost, strictness, (start, start + width));
            }
        }
        if length < 2 {
            return (0.0, 0.0);
        }
        (self.all.by_place[length][ROOT], self.agreeing.by_place[length][ROOT])
    }

    fn fill_span(
        &mut self,
        nodes: &Nodes,
        extra: &impl Extra,
        cost: &impl Cost,
        strictness: f64,
        (start, end): (usize, usize),
    ) {
        let side = self.length + 1;
        let at = start * side + end;
        self.first[at] = to_u32(self.scores.len());
        let [all, agreeing] = &mut self.terms;
        all.clear();
        agreeing.clear();
        for split in start + 1..end {
            let (own, more) = (nodes.score(start, split, end), extra.extra(start, split, end));
            let costs = cost.cost(start, split, end);
            let score = [own[0] + more[0], own[1] + more[1]];
            self.scores.push(score);
            let halves = |sums: &Sums, label: usize| {
                sums.by_place[start * side + split][place_of(label, false)]
                    + sums.by_place[split * side + end][place_of(label, true)]
            };
            all.push([score[0] + halves(&self.all, 0), score[1] + halves(&self.all, 1)]);
            let agreeing_score = |label: usize| {
                score[label] - strictness * costs[label] + halves(&self.agreeing, label)
            };
            agreeing.push([agreeing_score(0), agreeing_score(1)]);
        }
        for (sums, terms) in [(&mut self.all, &*all), (&mut self.agreeing, &*agreeing)] {
            let by_label = [log_sum(terms, 0), log_sum(terms, 1)];
            sums.by_label[at] = by_label;
            for place in 0..PLACES {
                let worth = nodes.place(start, end, place);
                sums.by_place[at][place] = log_add(by_label[0] + worth[0], by_label[1] + worth[1]);
            }
        }
    }

    /// Calls `each_span` with the expected count of every span in every place, by label, and
    /// `each_node` with that of every node, by label.
    pub fn expect(
        &mut self,
        which: Which,
        nodes: &Nodes,
        cost: &impl Cost,
        strictness: f64,
        each: &mut impl Expected,
    ) {
        let length = self.length;
        if length < 2 {
            return;
        }
        let side = length + 1;
        let sums = if which == Which::All { &self.all } else { &self.agreeing };
        let strictness = if which == Which::All { 0.0 } else { strictness };
        self.counts.clear();
        self.counts.resize(side * side, [0.0; PLACES]);
        self.counts[length][ROOT] = 1.0;
        for width in (2..=length).rev() {
            for start in 0..=length - width {
                let end = start + width;
                let at = start * side + end;
                let mut by_label = [0.0; LABELS];
                for place in 0..PLACES {
                    let count = self.counts[at][place];
                    if count < NEGLIGIBLE {
                        continue;
                    }
                    let worth = nodes.place(start, end, place);
                    let share = |label: usize| {
                        let ln = sums.by_label[at][label] + worth[label] - sums.by_place[at][place];
                        count * ln.exp()
                    };
                    let both = [share(0), share(1)];
                    each.span(start, end, place, both);
                    by_label = [by_label[0] + both[0], by_label[1] + both[1]];
                }
                if by_label[0] + by_label[1] < NEGLIGIBLE {
                    continue;
                }
                let scores = &self.scores[self.first[at] as usize..];
                for split in start + 1..end {
                    let costs = cost.cost(start, split, end);
                    let mut both = [0.0; LABELS];
                    for label in 0..LABELS {
                        if by_label[label] < NEGLIGIBLE {
                            continue;
                        }
                        let ln = scores[split - start - 1][label] - strictness * costs[label]
                            + sums.by_place[start * side + split][place_of(label, false)]
                            + sums.by_place[split * side + end][place_of(label, true)]
                            - sums.by_label[at][label];
                        both[label] = by_label[label] * ln.exp();
                        self.counts[start * side + split][place_of(label, false)] += both[label];
                        self.counts[split * side + end][place_of(label, true)] += both[label];
                    }
                    if both[0] + both[1] >= NEGLIGIBLE {
                        each.node(start, split, end, both);
                    }
                }
            }
        }
    }
}

/// Takes expected counts.
pub trait Expected {
    /// A span in a place, by label.
    fn span(&mut self, start: usize, end: usize, place: usize, counts: Both);

    /// A node, by label.
    fn node(&mut self, start: usize, split: usize, end: usize, counts: Both);
}

/// How likely each pair of words is to be turned round, from expected counts of inverted nodes.
#[derive(Debug, Default)]
pub struct Turned {
    length: usize,
    /// By split: counts of inverted nodes by start and end.
    nodes: Vec<f64>,
}

impl Turned {
    /// Forgets the last sentence.
    pub fn clear(&mut self, length: usize) {
        self.length = length;
        self.nodes.clear();
        self.nodes.resize(length * (length + 1) * (length + 1), 0.0);
    }

    /// Counts an inverted node.
    #[inline]
    pub fn add(&mut self, start: usize, split: usize, end: usize, count: f64) {
        let side = self.length + 1;
        self.nodes[(split * side + start) * side + end] += count;
    }

    /// Calls `each` with every pair of words, from 0, and how likely it is turned round.
    pub fn pairs(&mut self, mut each: impl FnMut(usize, usize, f64)) {
        let (length, side) = (self.length, self.length + 1);
        let mut turned = vec![0.0; length * length];
        for split in 1..length {
            let nodes = &mut self.nodes[split * side * side..][..side * side];
            // From counts of nodes to counts of all nodes that start no later and end no earlier.
            for start in 0..split {
                for end in (split + 1..=length).rev() {
                    let mut sum = nodes[start * side + end];
                    if start > 0 {
                        sum += nodes[(start - 1) * side + end];
                    }
                    if end < length {
                        sum += nodes[start * side + end + 1];
                        if start > 0 {
                            sum -= nodes[(start - 1) * side + end + 1];
                        }
                    }
                    nodes[start * side + end] = sum;
                    turned[start * length + end - 1] += sum;
                }
            }
        }
        for left in 0..length {
            for right in left + 1..length {
                each(left, right, turned[left * length + right]);
            }
        }
    }
}

impl Expected for Turned {
    fn span(&mut self, _: usize, _: usize, _: usize, _: Both) {}

    fn node(&mut self, start: usize, split: usize, end: usize, counts: Both) {
        self.add(start, split, end, counts[1]);
    }
}

fn log_sum(terms: &[Both], label: usize) -> f64 {
    let most = terms.iter().map(|both| both[label]).fold(f64::NEG_INFINITY, f64::max);
    if most == f64::NEG_INFINITY {
        return most;
    }
    most + terms.iter().map(|both| (both[label] - most).exp()).sum::<f64>().ln()
}

fn log_add(first: f64, second: f64) -> f64 {
    let (most, least) = if first > second { (first, second) } else { (second, first) };
    if most == f64::NEG_INFINITY { most } else { most + (least - most).exp().ln_1p() }
}
