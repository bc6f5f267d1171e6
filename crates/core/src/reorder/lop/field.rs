//! Learns the joint model: a conditional random field over bracketings.
//!
//! In: annotated sentences with links. Out: weights by place, after every pass.
//! How: the trees of a sentence are hidden, its order is what is seen: the objective is the log
//! sum over trees, each with e^(-κ · contradicted pairs), minus the log sum over all trees
//! (definitions o). So sentences that no bracketing can order take part like all others. The
//! gradient comes from expected counts under both sums; AdaGrad takes a step after each batch.
//! Threads: gradients of a batch are found in parallel and added in the order of the text, so that
//! the number of threads changes nothing.
//! Cost: O(n³) a sentence, 2 to 3 ms for text of 25 words on average; 16 bytes a place.

use super::gold::{Reference, Wishes};
use super::hashed::Hashed;
use super::inside::{Contradictions, Expected, Inside, Turned, Which};
use super::pair_features::{PairParts, form};
use super::slots::Slots;
use super::span_features::{Edges, PLACES, labelled, placed};
use super::tree::{Both, Corners, LABELS, Nodes};
use crate::Job;
use crate::error::Result;
use crate::narrow::{to_f32, to_u32};
use crate::parallel::{for_each_block, map};
use crate::reorder::Corpus;
use std::sync::Mutex;

/// Parts of the table that are changed by one thread at a time.
const SHARDS: usize = 8;
/// Gradients smaller than this are left out.
const NEGLIGIBLE: f64 = 5e-4;
/// Keeps the first steps of AdaGrad finite.
const TINY: f32 = 1e-6;

/// What the joint model is learned with.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// The size of the table.
    pub slots: Slots,
    /// Where reference orders come from.
    pub reference: Reference,
    /// How much pairs with a word that has no link count, by `attach`.
    pub unlinked: f64,
    /// κ: what a contradicted pair costs.
    pub strictness: f64,
    /// Size of AdaGrad's steps.
    pub rate: f64,
    /// Pulls weights towards 0; counts for each sentence in which a feature fires.
    pub prior: f64,
    /// Sentences a step.
    pub batch: usize,
    /// Whether tags are looked at.
    pub tags: bool,
    /// Longer sentences are left out.
    pub longest: usize,
    /// Seed of the order in which sentences are looked at.
    pub seed: u64,
}

/// A joint model that is being learned.
#[derive(Debug)]
pub struct Field {
    options: Options,
    weights: Vec<f32>,
    shards: Vec<Mutex<Shard>>,
    batches: u64,
    workers: Mutex<Vec<Worker>>,
    passes: u64,
}

/// What learning keeps for each weight, together in memory because it is used together.
#[derive(Debug, Default, Clone, Copy)]
struct Cell {
    /// The gradient of the present batch.
    sum: f32,
    /// Squared gradients so far.
    squares: f32,
    /// Every change times the number of the batch that made it, for the average.
    late: f32,
}

/// One part of the table.
#[derive(Debug, Default)]
struct Shard {
    cells: Vec<Cell>,
    touched: Vec<u32>,
}

/// A step in the direction of the gradient: place and amount.
type Slope = (u32, f32);

/// The gradient of a sentence by shard, and its objective.
type Slopes = ([Vec<Slope>; SHARDS], f64);

impl Field {
    /// A model without weights.
    pub fn new(options: Options) -> Self {
        let size = options.slots.len();
        let shard = || Shard { cells: vec![Cell::default(); size / SHARDS], touched: Vec::new() };
        Field {
            options,
            weights: vec![0.0; size],
            batches: 0,
            shards: (0..SHARDS).map(|_| Mutex::new(shard())).collect(),
            workers: Mutex::default(),
            passes: 0,
        }
    }

    /// The weights.
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// The average of the weights after each batch so far.
    pub fn average(&self) -> Vec<f32> {
        let steps = self.batches.max(1) as f32;
        let mut average = self.weights.clone();
        let parts = average.chunks_mut(self.options.slots.len() / SHARDS).zip(&self.shards);
        for (weights, shard) in parts {
            let Ok(shard) = shard.lock() else { continue };
            for (weight, cell) in weights.iter_mut().zip(&shard.cells) {
                *weight -= cell.late / steps;
            }
        }
        average
    }

    /// One pass over the corpus, in an order of its own; the mean objective a sentence.
    pub fn pass(&mut self, corpus: &Corpus, job: &Job) -> Result<f64> {
        job.begin(corpus.len() as u64);
        self.passes += 1;
        let order = shuffled(corpus.len(), self.options.seed ^ (self.passes << 32));
        let (mut sum, mut seen) = (0.0, 0_u64);
        for batch in order.chunks(self.options.batch.max(1)) {
            let make = || self.workers.lock().ok().and_then(|mut w| w.pop()).unwrap_or_default();
            let (slopes, used) = map(batch.len(), 1, job, make, |worker, at| {
                Ok(worker.slopes(corpus, batch[at] as usize, &self.options, &self.weights))
            })?;
            if let Ok(mut workers) = self.workers.lock() {
                workers.extend(used);
            }
            for (_, value) in slopes.iter().flatten() {
                sum += value;
                seen += 1;
            }
            self.step(&slopes, job)?;
            job.advance(batch.len() as u64);
        }
        Ok(sum / seen.max(1) as f64)
    }

    /// Takes a step of AdaGrad.
    fn step(&mut self, slopes: &[Option<Slopes>], job: &Job) -> Result<()> {
        let Options { rate, prior, slots, .. } = self.options;
        let size = slots.len() / SHARDS;
        let time = self.batches as f32;
        self.batches += 1;
        let parts: Vec<_> =
            self.weights.chunks_mut(size).zip(&self.shards).map(Mutex::new).collect();
        for_each_block(
            SHARDS,
            1,
            job,
            || (),
            |(), block| {
                for number in block {
                    let Ok(mut part) = parts[number].lock() else { continue };
                    let (weights, shard) = &mut *part;
                    let Ok(mut shard) = shard.lock() else { continue };
                    shard.collect(slopes, number);
                    let Shard { cells, touched } = &mut *shard;
                    for &place in &*touched {
                        let (cell, weight) =
                            (&mut cells[place as usize], &mut weights[place as usize]);
                        let slope = std::mem::take(&mut cell.sum) - to_f32(prior) * *weight;
                        cell.squares += slope * slope;
                        let change = to_f32(rate) * slope / (cell.squares.sqrt() + TINY);
                        *weight += change;
                        cell.late += change * time;
                    }
                    touched.clear();
                }
                Ok(())
            },
        )?;
        Ok(())
    }

    /// The objective and its gradient for one sentence, by place: for checks.
    pub fn slope(&self, corpus: &Corpus, number: usize) -> (f64, Vec<(u32, f32)>) {
        let found = Worker::default().slopes(corpus, number, &self.options, &self.weights);
        let Some((shards, value)) = found else { return (0.0, Vec::new()) };
        (value, shards.concat())
    }

    /// Changes one weight: for checks.
    pub fn nudge(&mut self, place: usize, by: f32) {
        self.weights[place] += by;
    }
}

impl Shard {
    /// Adds up the slopes of a batch, sentence by sentence.
    fn collect(&mut self, slopes: &[Option<Slopes>], number: usize) {
        let size = to_u32(self.cells.len());
        for (shards, _) in slopes.iter().flatten() {
            for &(place, slope) in &shards[number] {
                let place = place - to_u32(number) * size;
                let sum = &mut self.cells[place as usize].sum;
                // A sum that comes back to 0 is listed twice, which does no harm.
                if *sum == 0.0 {
                    self.touched.push(place);
                }
                *sum += slope;
            }
        }
    }
}

/// One thread's memory.
#[derive(Debug, Default)]
struct Worker {
    src: Hashed,
    parts: PairParts,
    nodes: Nodes,
    inside: Inside,
    wrong: Contradictions,
    found: Differences,
}

/// Expected counts where trees agree with the links, minus those of all trees.
#[derive(Debug, Default)]
struct Differences {
    side: usize,
    sign: f64,
    whole: Vec<Both>,
    left: Vec<Both>,
    right: Vec<Both>,
    split: Vec<Both>,
    places: Vec<[Both; PLACES]>,
    turned: Turned,
    /// By start, end and split.
    nodes: Vec<Both>,
}

impl Differences {
    fn clear(&mut self, length: usize) {
        let side = length + 1;
        self.side = side;
        let zero = [0.0; LABELS];
        for table in [&mut self.whole, &mut self.left, &mut self.right] {
            table.clear();
            table.resize(side * side, zero);
        }
        self.split.clear();
        self.split.resize(side, zero);
        self.places.clear();
        self.places.resize(side * side, [zero; PLACES]);
        self.nodes.clear();
        self.nodes.resize(side * side * side, zero);
        self.turned.clear(length);
    }
}

impl Expected for Differences {
    fn span(&mut self, start: usize, end: usize, place: usize, counts: Both) {
        let own = &mut self.places[start * self.side + end][place];
        for label in 0..LABELS {
            own[label] += self.sign * counts[label];
        }
    }

    fn node(&mut self, start: usize, split: usize, end: usize, counts: Both) {
        let side = self.side;
        for (label, count) in counts.iter().enumerate() {
            let count = self.sign * count;
            self.whole[start * side + end][label] += count;
            self.left[start * side + split][label] += count;
            self.right[split * side + end][label] += count;
            self.split[split][label] += count;
            self.nodes[(start * side + end) * side + split][label] += count;
        }
        self.turned.add(start, split, end, self.sign * counts[1]);
    }
}

impl Worker {
    /// The gradient of a sentence; none where its links have no opinion or it is too long.
    fn slopes(
        &mut self,
        corpus: &Corpus,
        number: usize,
        options: &Options,
        weights: &[f32],
    ) -> Option<Slopes> {
        let length = corpus.text().range(number).len();
        if !(2..=options.longest).contains(&length) {
            return None;
        }
        let (links, trust) = (corpus.links(number), corpus.trust(number));
        let wishes = Wishes::new(options.reference, links, trust, options.unlinked);
        if wishes.is_empty() {
            return None;
        }
        let Worker { src, nodes, inside, wrong, found, .. } = self;
        src.fill_from(corpus.text(), number, options.tags);
        let table = (options.slots, weights);
        nodes.fill(src, table);
        wrong.fill(length, |left, right| wishes.weigh(left, right));
        let corners = Corners::new(src, table);
        let (all, agreeing) = inside.fill(nodes, &corners, wrong, options.strictness);
        found.clear(length);
        for (which, sign) in [(Which::Agreeing, 1.0), (Which::All, -1.0)] {
            found.sign = sign;
            inside.expect(which, nodes, wrong, options.strictness, found);
        }
        Some((self.emit(options.slots), agreeing - all))
    }

    /// Expected counts as changes of weights.
    fn emit(&mut self, slots: Slots) -> [Vec<Slope>; SHARDS] {
        let Worker { src, parts, found, .. } = self;
        let (length, side) = (found.side - 1, found.side);
        let mut slopes: [Vec<Slope>; SHARDS] = Default::default();
        let size = slots.len() / SHARDS;
        let mut push = |place: usize, amount: f64| {
            slopes[place / size].push((to_u32(place), to_f32(amount)));
        };
        let edges = Edges::new(src);
        let matters = |both: &Both| both[0].abs().max(both[1].abs()) >= NEGLIGIBLE;
        macro_rules! each_label {
            ($counts:expr, $visit:expr) => {
                if matters(&$counts) {
                    let counts = $counts;
                    $visit(&mut |print: u64| {
                        for (label, &count) in counts.iter().enumerate() {
                            push(slots.place(print, labelled(label)), count);
                        }
                    });
                }
            };
        }
        for at in 1..length {
            each_label!(found.split[at], |each: &mut dyn FnMut(u64)| edges.split(at, each));
        }
        for i in 0..length {
            for k in i + 1..=length {
                let at = i * side + k;
                each_label!(found.whole[at], |each: &mut dyn FnMut(u64)| edges.whole(i, k, each));
                each_label!(found.left[at], |each: &mut dyn FnMut(u64)| edges.left(i, k, each));
                each_label!(found.right[at], |each: &mut dyn FnMut(u64)| edges.right(i, k, each));
                for split in i + 1..k {
                    let counts = found.nodes[at * side + split];
                    each_label!(counts, |each: &mut dyn FnMut(u64)| edges.node(i, split, k, each));
                }
            }
        }
        for i in 0..length {
            for k in i + 2..=length {
                let counts = &found.places[i * side + k];
                if !counts.iter().any(matters) {
                    continue;
                }
                edges.place(i, k, |print| {
                    for (place, both) in counts.iter().enumerate().filter(|(_, b)| matters(b)) {
                        for (label, &count) in both.iter().enumerate() {
                            push(slots.place(print, placed(label, place)), count);
                        }
                    }
                });
            }
        }
        parts.fill(src);
        found.turned.pairs(|left, right, count| {
            if count.abs() >= NEGLIGIBLE {
                parts.prints(src, left + 1, right + 1, |print| {
                    // A weight is for keeping the pair.
                    push(slots.place(print, 0), -count);
                    push(slots.place(print, form(right - left)), -count);
                });
            }
        });
        slopes
    }
}

/// Numbers from 0 in an order that a seed decides.
fn shuffled(length: usize, seed: u64) -> Vec<u32> {
    let mut keyed: Vec<(u64, u32)> =
        (0..to_u32(length)).map(|at| (super::slots::mix(seed, u64::from(at)), at)).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, at)| at).collect()
}
