//! Scores of the nodes of all bracketings of a sentence, and the best bracketing.
//!
//! In: a sentence and weights. Out: ψ of any node (definitions o): its span features, and the
//! pair matrix where its halves are exchanged; the best tree's order.
//! How: everything that looks at two corners is worked out once and kept in tables of O(n²);
//! features of three corners are added when a node is asked for. What a span's place in the node
//! above is worth is added after its best split is known, so a chart with places costs what one
//! without does.
//! Cost: O(n³) time, O(n²) memory that is used again. Exact: no beam.

use super::hashed::Hashed;
use super::pair_features::PairParts;
use super::pairs::Pairs;
use super::slots::{Slots, Weights};
use super::span_features::{Edges, PLACES, labelled, placed};
use crate::narrow::to_u32;

/// Straight, and inverted.
pub const LABELS: usize = 2;
/// The place of a whole sentence; others are those of halves.
pub const ROOT: usize = 0;

/// The place of a half of a node with a label.
#[inline]
pub fn place_of(label: usize, is_right: bool) -> usize {
    1 + 2 * label + usize::from(is_right)
}

/// Two numbers, one a label.
pub type Both = [f64; LABELS];

/// Scores of the nodes of a sentence; corners count from 0 to its length.
#[derive(Debug, Default)]
pub struct Nodes {
    length: usize,
    /// By two corners: features of whole spans, left halves, right halves.
    whole: Vec<Both>,
    left: Vec<Both>,
    right: Vec<Both>,
    /// By corner.
    split: Vec<Both>,
    /// By two corners: what places in the node above are worth, by label.
    places: Vec<[Both; PLACES]>,
    /// `pairs[x][y]`: the sum of the pair matrix over the first x and the first y words.
    pairs: Vec<f64>,
    parts: PairParts,
}

impl Nodes {
    /// Works out what can be known before a node is asked for.
    pub fn fill<W: Weights + ?Sized>(&mut self, src: &Hashed, (slots, weights): (Slots, &W)) {
        let length = src.len();
        self.length = length;
        let side = length + 1;
        let edges = Edges::new(src);
        let zero = [0.0; LABELS];
        for table in [&mut self.whole, &mut self.left, &mut self.right] {
            table.clear();
            table.resize(side * side, zero);
        }
        self.split.clear();
        self.split.resize(side, zero);
        self.places.clear();
        self.places.resize(side * side, [zero; PLACES]);
        let sum = |print: u64, both: &mut Both| {
            for (label, score) in both.iter_mut().enumerate() {
                *score += f64::from(weights.at(slots.place(print, labelled(label))));
            }
        };
        for at in 1..length {
            edges.split(at, |print| sum(print, &mut self.split[at]));
        }
        for start in 0..length {
            for end in start + 1..=length {
                let at = start * side + end;
                if end - start > 1 {
                    edges.whole(start, end, |print| sum(print, &mut self.whole[at]));
                    edges.place(start, end, |print| {
                        for (place, both) in self.places[at].iter_mut().enumerate() {
                            for (label, score) in both.iter_mut().enumerate() {
                                let form = placed(label, place);
                                *score += f64::from(weights.at(slots.place(print, form)));
                            }
                        }
                    });
                }
                if end < length {
                    edges.left(start, end, |print| sum(print, &mut self.left[at]));
                }
                if start > 0 {
                    edges.right(start, end, |print| sum(print, &mut self.right[at]));
                }
            }
        }
        self.sum_pairs(src, (slots, weights));
    }

    fn sum_pairs<W: Weights + ?Sized>(&mut self, src: &Hashed, table: (Slots, &W)) {
        let mut matrix = Pairs::new(self.length);
        self.parts.fill(src);
        self.parts.scores(src, table, |left, right, score| matrix.set(left - 1, right - 1, score));
        self.set_pairs(&matrix);
    }

    /// Nodes with these pairs and no other features.
    pub fn of_pairs(matrix: &Pairs) -> Self {
        let length = matrix.len();
        let side = length + 1;
        let table = || vec![[0.0; LABELS]; side * side];
        let mut nodes = Nodes {
            length,
            whole: table(),
            left: table(),
            right: table(),
            split: vec![[0.0; LABELS]; side],
            places: vec![[[0.0; LABELS]; PLACES]; side * side],
            ..Nodes::default()
        };
        nodes.set_pairs(matrix);
        nodes
    }

    fn set_pairs(&mut self, matrix: &Pairs) {
        let side = self.length + 1;
        self.pairs.clear();
        self.pairs.resize(side * side, 0.0);
        for x in 0..self.length {
            let mut row = 0.0;
            for y in 0..self.length {
                row += if y > x { matrix.get(x, y) - matrix.get(y, x) } else { 0.0 };
                self.pairs[(x + 1) * side + y + 1] = self.pairs[x * side + y + 1] + row;
            }
        }
    }

    /// Number of words.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there is no word.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The scores of a node but for its features of three corners, by label.
    #[inline]
    pub fn score(&self, i: usize, j: usize, k: usize) -> Both {
        let side = self.length + 1;
        let (whole, left) = (self.whole[i * side + k], self.left[i * side + j]);
        let (right, split) = (self.right[j * side + k], self.split[j]);
        let sums = &self.pairs;
        let block =
            sums[j * side + k] - sums[i * side + k] - sums[j * side + j] + sums[i * side + j];
        let straight = whole[0] + left[0] + right[0] + split[0];
        [straight, whole[1] + left[1] + right[1] + split[1] - block]
    }

    /// What a place in the node above is worth to a span, by label.
    #[inline]
    pub fn place(&self, i: usize, k: usize, place: usize) -> Both {
        self.places[i * (self.length + 1) + k][place]
    }
}

/// Features of three corners, with weights.
#[derive(Debug)]
pub struct Corners<'a, W: Weights + ?Sized> {
    edges: Edges<'a>,
    slots: Slots,
    weights: &'a W,
}

impl<'a, W: Weights + ?Sized> Corners<'a, W> {
    /// Those of a sentence.
    pub fn new(src: &'a Hashed, (slots, weights): (Slots, &'a W)) -> Self {
        Corners { edges: Edges::new(src), slots, weights }
    }
}

/// Something that can add to the score of a node.
pub trait Extra {
    /// What is added, by label.
    fn extra(&self, i: usize, j: usize, k: usize) -> Both;
}

impl<W: Weights + ?Sized> Extra for Corners<'_, W> {
    #[inline]
    fn extra(&self, i: usize, j: usize, k: usize) -> Both {
        let mut both = [0.0; LABELS];
        self.edges.node(i, j, k, |print| {
            for (label, score) in both.iter_mut().enumerate() {
                *score += f64::from(self.weights.at(self.slots.place(print, labelled(label))));
            }
        });
        both
    }
}

/// Adds nothing.
#[derive(Debug, Clone, Copy)]
pub struct Nothing;

impl Extra for Nothing {
    #[inline]
    fn extra(&self, _: usize, _: usize, _: usize) -> Both {
        [0.0; LABELS]
    }
}

/// Memory for the chart of the best tree.
#[derive(Debug, Default)]
pub struct BestTree {
    /// By two corners: the best score in each place.
    best: Vec<[f64; PLACES]>,
    /// The best label in each place.
    labels: Vec<[u8; PLACES]>,
    /// The best split for each label.
    splits: Vec<[u32; LABELS]>,
}

impl BestTree {
    /// The order of the best tree, and its score. Of equal scores straight wins over inverted, and
    /// then the first split.
    pub fn order(&mut self, nodes: &Nodes, extra: &impl Extra) -> (f64, Vec<u32>) {
        let length = nodes.len();
        if length < 2 {
            return (0.0, (0..to_u32(length)).collect());
        }
        let side = length + 1;
        self.best.clear();
        self.best.resize(side * side, [0.0; PLACES]);
        self.labels.resize(side * side, [0; PLACES]);
        self.splits.resize(side * side, [0; LABELS]);
        for width in 2..=length {
            for start in 0..=length - width {
                self.fill(nodes, extra, start, start + width);
            }
        }
        let mut order = Vec::with_capacity(length);
        self.read_off(side, (0, length, ROOT), &mut order);
        (self.best[length][ROOT], order)
    }

    fn fill(&mut self, nodes: &Nodes, extra: &impl Extra, start: usize, end: usize) {
        let side = nodes.len() + 1;
        let mut best = [f64::NEG_INFINITY; LABELS];
        let mut splits = [0; LABELS];
        for split in start + 1..end {
            let (own, more) = (nodes.score(start, split, end), extra.extra(start, split, end));
            let (left, right) = (&self.best[start * side + split], &self.best[split * side + end]);
            for label in 0..LABELS {
                let halves = left[place_of(label, false)] + right[place_of(label, true)];
                let score = own[label] + more[label] + halves;
                if score > best[label] {
                    (best[label], splits[label]) = (score, to_u32(split));
                }
            }
        }
        let at = start * side + end;
        self.splits[at] = splits;
        for place in 0..PLACES {
            let worth = nodes.place(start, end, place);
            let [straight, inverted] = [best[0] + worth[0], best[1] + worth[1]];
            self.labels[at][place] = u8::from(inverted > straight);
            self.best[at][place] = straight.max(inverted);
        }
    }

    fn read_off(&self, side: usize, whole: (usize, usize, usize), order: &mut Vec<u32>) {
        let mut spans = vec![whole];
        while let Some((start, end, place)) = spans.pop() {
            if end - start == 1 {
                order.push(to_u32(start));
                continue;
            }
            let at = start * side + end;
            let label = usize::from(self.labels[at][place]);
            let split = self.splits[at][label] as usize;
            let left = (start, split, place_of(label, false));
            let right = (split, end, place_of(label, true));
            spans.extend(if label == 1 { [left, right] } else { [right, left] });
        }
    }
}
