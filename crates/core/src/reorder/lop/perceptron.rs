//! Learns the pair model: log-odds to start with, then an averaged perceptron.
//!
//! In: annotated sentences with links. Out: weights by place, after every pass.
//! How: a feature starts with the log-odds of being seen where the reference keeps and where it
//! turns round. Then each sentence is ordered by iterated search with the weights of the moment,
//! and every pair that came out wrong moves its features by one (Tromble and Eisner, 2009;
//! definitions h.5). Weights are averaged over all sentences, the start included, lazily.
//! Threads: the sentences of a batch are ordered with the weights at its beginning, in parallel;
//! then their updates are made one sentence after the other in the order of the text. So the
//! number of threads changes nothing, and a batch of 1 is the plain perceptron.
//! Cost: some 40 look-ups a pair of words and pass; 16 bytes a place of the table.

use super::chart::{Chart, LONGEST};
use super::gold::{Reference, opinion};
use super::hashed::Hashed;
use super::pair_features::{PairParts, form};
use super::pairs::Pairs;
use super::slots::Slots;
use crate::Job;
use crate::error::Result;
use crate::narrow::{to_f32, to_u32};
use crate::parallel::{BLOCK, for_each_block, map};
use crate::reorder::Corpus;
use crate::reorder::order::inverse;

/// What the pair model is learned with.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// The size of the table.
    pub slots: Slots,
    /// Where reference orders come from.
    pub reference: Reference,
    /// Features that fire for fewer pairs have no weight.
    pub min_count: u32,
    /// Sentences that are ordered with the same weights.
    pub batch: usize,
    /// Whether tags are looked at.
    pub tags: bool,
    /// Longer sentences are left out.
    pub longest: usize,
}

/// A pair model that is being learned.
#[derive(Debug)]
pub struct Perceptron {
    options: Options,
    weights: Vec<f32>,
    /// Every change times the number of the sentence that made it.
    late: Vec<f64>,
    /// Whether a place has a weight; empty: all have.
    is_alive: Vec<bool>,
    sentences: u64,
}

/// One thread's memory.
#[derive(Debug, Default)]
struct Worker {
    src: Hashed,
    parts: PairParts,
    pairs: Pairs,
    chart: Chart,
}

/// How often the features of a place fire where the reference keeps, and where it turns round.
#[derive(Debug, Default)]
struct Counts {
    worker: Worker,
    kept: Vec<u32>,
    turned: Vec<u32>,
}

/// A pair that came out wrong: its words from 1, and which way its features move.
type Mistake = (u32, u32, f32);

impl Perceptron {
    /// Counts a corpus; the weights are log-odds.
    pub fn new(corpus: &Corpus, options: Options, job: &Job) -> Result<Self> {
        let size = options.slots.len();
        job.begin(corpus.len() as u64);
        let make = || Counts { kept: vec![0; size], turned: vec![0; size], ..Counts::default() };
        let counts = for_each_block(corpus.len(), BLOCK, job, make, |counts, block| {
            block.for_each(|number| counts.count(corpus, number, &options));
            Ok(())
        })?;
        let sum = |place: usize, of: fn(&Counts) -> &[u32]| {
            counts.iter().map(|counts| u64::from(of(counts)[place])).sum::<u64>()
        };
        let mut weights = Vec::with_capacity(size);
        let mut is_alive = Vec::new();
        for place in 0..size {
            let (kept, turned) = (sum(place, |c| &c.kept), sum(place, |c| &c.turned));
            let is_known = kept + turned >= u64::from(options.min_count);
            weights.push(if is_known { log_odds(kept, turned) } else { 0.0 });
            if options.min_count > 1 {
                is_alive.push(is_known);
            }
        }
        Ok(Perceptron { options, weights, late: vec![0.0; size], is_alive, sentences: 0 })
    }

    /// One pass over the corpus; how many pairs came out wrong.
    pub fn pass(&mut self, corpus: &Corpus, job: &Job) -> Result<u64> {
        job.begin(corpus.len() as u64);
        let batch = self.options.batch.max(1);
        let (mut wrong, mut worker) = (0, Worker::default());
        let mut workers: Vec<Worker> = Vec::new();
        for first in (0..corpus.len()).step_by(batch) {
            let items = batch.min(corpus.len() - first);
            let all = if items == 1 {
                job.check()?;
                vec![self.mistakes(corpus, first, &mut worker)]
            } else {
                let pool = std::sync::Mutex::new(std::mem::take(&mut workers));
                let make = || pool.lock().ok().and_then(|mut pool| pool.pop()).unwrap_or_default();
                let (all, used) = map(items, 1, job, make, |worker, at| {
                    Ok(self.mistakes(corpus, first + at, worker))
                })?;
                workers = used;
                all
            };
            for (at, mistakes) in all.iter().enumerate() {
                self.sentences += 1;
                wrong += mistakes.len() as u64;
                self.learn(corpus, first + at, mistakes, &mut worker);
            }
            job.advance(items as u64);
        }
        Ok(wrong)
    }

    /// The average of the weights after each sentence so far, and before the first.
    pub fn average(&self) -> Vec<f32> {
        let steps = (self.sentences + 1) as f64;
        let average = |(&weight, &late): (&f32, &f64)| to_f32(f64::from(weight) - late / steps);
        self.weights.iter().zip(&self.late).map(average).collect()
    }

    fn mistakes(&self, corpus: &Corpus, number: usize, worker: &mut Worker) -> Vec<Mistake> {
        let length = corpus.text().range(number).len();
        if length > self.options.longest.min(LONGEST) {
            return Vec::new();
        }
        let Worker { src, parts, pairs, chart } = worker;
        src.fill_from(corpus.text(), number, self.options.tags);
        parts.fill(src);
        pairs.clear(length);
        parts.scores(src, (self.options.slots, self.weights.as_slice()), |left, right, score| {
            pairs.set(left - 1, right - 1, score);
        });
        let mut order: Vec<u32> = (0..to_u32(length)).collect();
        chart.climb(pairs, &mut order, length);
        let found = inverse(&order).unwrap_or_default();
        let ranks = self.options.reference.ranks(length, corpus.links(number));
        let mut mistakes = Vec::new();
        for left in 0..length {
            for right in left + 1..length {
                let wanted = opinion(ranks[left], ranks[right]);
                let is_kept = found[left] < found[right];
                if (wanted > 0 && !is_kept) || (wanted < 0 && is_kept) {
                    mistakes.push((to_u32(left) + 1, to_u32(right) + 1, f32::from(wanted)));
                }
            }
        }
        mistakes
    }

    fn learn(&mut self, corpus: &Corpus, number: usize, mistakes: &[Mistake], worker: &mut Worker) {
        if mistakes.is_empty() {
            return;
        }
        let Worker { src, parts, .. } = worker;
        src.fill_from(corpus.text(), number, self.options.tags);
        parts.fill(src);
        let time = self.sentences as f64;
        let Perceptron { weights, late, is_alive, options, .. } = self;
        for &(left, right, change) in mistakes {
            let (left, right) = (left as usize, right as usize);
            parts.prints(src, left, right, |print| {
                for form in [0, form(right - left)] {
                    let place = options.slots.place(print, form);
                    if is_alive.get(place).copied().unwrap_or(true) {
                        weights[place] += change;
                        late[place] += f64::from(change) * time;
                    }
                }
            });
        }
    }
}

impl Counts {
    fn count(&mut self, corpus: &Corpus, number: usize, options: &Options) {
        let length = corpus.text().range(number).len();
        if length > options.longest {
            return;
        }
        let Counts { worker: Worker { src, parts, .. }, kept, turned } = self;
        src.fill_from(corpus.text(), number, options.tags);
        parts.fill(src);
        let ranks = options.reference.ranks(length, corpus.links(number));
        for left in 0..length {
            for right in left + 1..length {
                let counts: &mut [u32] = match opinion(ranks[left], ranks[right]) {
                    0 => continue,
                    1.. => kept,
                    _ => turned,
                };
                parts.prints(src, left + 1, right + 1, |print| {
                    for form in [0, form(right - left)] {
                        let count = &mut counts[options.slots.place(print, form)];
                        *count = count.saturating_add(1);
                    }
                });
            }
        }
    }
}

/// ln((k + ½) / (r + ½)).
pub fn log_odds(kept: u64, turned: u64) -> f32 {
    to_f32((kept as f64 + 0.5).ln() - (turned as f64 + 0.5).ln())
}
