//! Maximum-entropy training: the likelihood of the samples and its gradient (definitions b.4).
//!
//! In: annotated sentences with their orders. Out: what an optimiser asks for, the likelihood and
//! its gradient at any weights; or weights from passes of AdaGrad; and then the model.
//! How: features are counted, rare ones dropped, samples written down once as short rows; a pass
//! over the rows is all that a step of the optimiser costs. Gradients are summed as integers and
//! likelihoods block by block, so that the number of threads changes nothing.
//! Cost: about 100 ns a sample and pass and thread; 8 bytes a feature and thread.
//! Not: the optimiser, which is Python's.

use super::count::{BLOCK, Features, Walker, count};
use super::model::{Model, Recipe};
use super::objective::{Learner, Pass};
use super::options::Options;
use super::prepared::Prepared;
use super::rows::{self, Rows};
use super::template::Shapes;
use crate::Job;
use crate::error::{Error, Result};
use crate::narrow::{rounded, to_f32};
use crate::parallel::for_each_block;
use crate::reorder::Corpus;
use crate::reorder::jump::Walk;
use std::path::Path;

/// Bits after the point of a summed gradient, at most.
const MOST_BITS: u32 = 40;

/// Samples as rows, ready for an optimiser.
#[derive(Debug)]
pub struct Trainer {
    pub(super) options: Options,
    pub(super) features: Features,
    pub(super) rows: Rows,
    pub(super) samples: u64,
}

/// Likelihood and gradient at some weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Slope {
    /// The log likelihood with its prior.
    pub value: f64,
    /// Its derivative by each weight; the last is that of the bias.
    pub gradient: Vec<f64>,
}

/// Memory of one thread that fills rows.
#[derive(Default)]
struct Filler {
    walker: Walker,
    numbers: Vec<u32>,
    samples: u64,
}

/// Memory of one thread that sums gradients.
#[derive(Default)]
struct Summer {
    gradient: Vec<i64>,
    /// Sum of each block, by its number.
    values: Vec<(usize, f64)>,
    pass: Pass,
    buffer: Vec<u8>,
}

impl Trainer {
    /// Counts the features of a corpus and writes its samples down. Rows beyond `memory` bytes
    /// go to a file in `folder`.
    pub fn new(
        corpus: &Corpus,
        options: Options,
        memory: usize,
        folder: Option<&Path>,
        job: &Job,
    ) -> Result<Self> {
        check(corpus, &options)?;
        let shapes = Shapes::new(&options);
        let features = count(corpus, &shapes, &options, job)?;
        let (rows, samples) = fill(corpus, &shapes, &options, &features, memory, folder, job)?;
        Ok(Trainer { options, features, rows, samples })
    }

    /// A trainer of ready rows, for tests.
    #[cfg(test)]
    pub fn of_rows(options: Options, bytes: Vec<u8>, counts: Vec<u32>, samples: u64) -> Self {
        let rows = Rows::new(1, usize::MAX, None);
        rows.put(0, bytes).expect("memory takes them");
        let mut features = Features::default();
        features.fingerprints.extend(0..counts.len() as u64);
        features.counts = counts;
        Trainer { options, features, rows, samples }
    }

    /// Number of features kept.
    pub fn features(&self) -> usize {
        self.features.len()
    }

    /// Number of samples.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Bytes of rows in memory and on disk.
    pub fn bytes(&self) -> (u64, u64) {
        self.rows.bytes()
    }

    fn check_weights(&self, weights: &[f64]) -> Result<()> {
        if weights.len() == self.features() + 1 && weights.iter().all(|w| w.is_finite()) {
            return Ok(());
        }
        Err(Error::Argument {
            name: "weights".into(),
            found: format!("{} numbers", weights.len()),
            expected: format!("{} finite ones, the bias last", self.features() + 1),
        })
    }

    /// The log likelihood and its gradient; the bias is the last weight.
    pub fn slope(&self, weights: &[f64], prior: f64, job: &Job) -> Result<Slope> {
        self.check_weights(weights)?;
        // Each sample adds at most 1 to a sum.
        let bits = (62 - (self.samples + 1).ilog2()).min(MOST_BITS);
        let scale = (1_u64 << bits) as f64;
        let objective = self.options.objective;
        job.begin(0);
        let mut summers =
            for_each_block(self.rows.blocks(), 1, job, Summer::default, |summer, block| {
                summer.gradient.resize(weights.len(), 0);
                let Summer { gradient, values, pass, buffer } = summer;
                let value = self.rows.with(block.start, buffer, |bytes| {
                    pass.run(bytes, objective, &mut Ascent { weights, scale, gradient })
                })?;
                values.push((block.start, value));
                Ok(())
            })?;
        let mut values: Vec<(usize, f64)> =
            summers.iter_mut().flat_map(|summer| std::mem::take(&mut summer.values)).collect();
        values.sort_unstable_by_key(|&(block, _)| block);
        let norm: f64 = weights.iter().map(|weight| weight * weight).sum();
        let value = values.iter().map(|&(_, value)| value).sum::<f64>() - prior / 2.0 * norm;
        let mut sums = summers.pop().map_or_else(Vec::new, |summer| summer.gradient);
        sums.resize(weights.len(), 0);
        for other in summers {
            sums.iter_mut().zip(other.gradient).for_each(|(sum, more)| *sum += more);
        }
        let gradient =
            sums.iter().zip(weights).map(|(&sum, w)| sum as f64 / scale - prior * w).collect();
        Ok(Slope { value, gradient })
    }

    /// Weights after some passes of AdaGrad (Duchi, Hazan and Singer, 2011) over the samples, in
    /// the order of the text. The prior of a feature is spread over the samples it fires in.
    pub fn adagrad(&self, passes: usize, rate: f64, prior: f64, job: &Job) -> Result<Vec<f64>> {
        let count = self.features() + 1;
        let counts = self.features.counts.iter().map(|&count| f64::from(count));
        let mut online = Online {
            weights: vec![0.0; count],
            squares: vec![1e-8; count],
            pull: counts.chain([self.samples.max(1) as f64]).map(|count| prior / count).collect(),
            rate,
        };
        let (mut pass, mut buffer) = (Pass::default(), Vec::new());
        job.begin((passes * self.rows.blocks()) as u64);
        for block in (0..passes).flat_map(|_| 0..self.rows.blocks()) {
            job.check()?;
            self.rows.with(block, &mut buffer, |bytes| {
                pass.run(bytes, self.options.objective, &mut online);
            })?;
            job.advance(1);
        }
        Ok(online.weights)
    }

    /// The model with these weights; the bias is the last.
    pub fn model(&self, corpus: &Corpus, weights: &[f64], prior: f64, job: &Job) -> Result<Model> {
        self.check_weights(weights)?;
        let (bias, own) = weights.split_last().map_or((0.0, weights), |(bias, own)| (*bias, own));
        let names = self.names(corpus, own, job)?;
        let recipe = Recipe { options: self.options, prior, bias, samples: self.samples };
        let entries = self.features.fingerprints.iter().copied();
        let entries = entries.zip(own.iter().map(|&weight| to_f32(weight)));
        Model::build(&recipe, entries.filter(|(_, weight)| *weight != 0.0).collect(), &names)
    }

    /// The texts of all features with a weight, sorted, each with a line end.
    fn names(&self, corpus: &Corpus, weights: &[f64], job: &Job) -> Result<String> {
        let shapes = Shapes::new(&self.options);
        let mut wanted: Vec<bool> = weights.iter().map(|&w| to_f32(w) != 0.0).collect();
        let mut names: Vec<String> = Vec::new();
        let mut walk = Walk::default();
        let mut prepared = Prepared::default();
        let mut ends = super::template::Ends::default();
        let mut missing = wanted.iter().filter(|is| **is).count();
        for number in 0..corpus.len() {
            if missing == 0 {
                break;
            }
            if number.is_multiple_of(BLOCK) {
                job.check()?;
            }
            prepared.fill_from_text(corpus.text(), number);
            ends.fill(&shapes, &prepared);
            let mut text = None;
            walk.samples(&corpus.order(number), self.options.window, |sample| {
                shapes.firings(&prepared, &ends, sample.from, sample.to, |firing| {
                    let Some(at) = self.features.number(firing.fingerprint) else { return };
                    if std::mem::take(&mut wanted[at as usize]) {
                        missing -= 1;
                        let text = text.get_or_insert_with(|| corpus.text().sentence(number));
                        names.push(shapes.text(text, sample.from, sample.to, firing));
                    }
                });
                shapes.looks().firings(sample.around, |look| {
                    let print = shapes.looks().fingerprint(&prepared, sample.to, look);
                    let Some(at) = self.features.number(print) else { return };
                    if std::mem::take(&mut wanted[at as usize]) {
                        missing -= 1;
                        let text = text.get_or_insert_with(|| corpus.text().sentence(number));
                        names.push(shapes.looks().text(text, sample.to, look));
                    }
                });
            });
        }
        names.sort_unstable();
        let mut all = String::with_capacity(names.iter().map(|name| name.len() + 1).sum());
        for name in names {
            all.push_str(&name);
            all.push('\n');
        }
        Ok(all)
    }
}

/// Refuses options that cannot be meant, or that the text has too few layers for.
pub(super) fn check(corpus: &Corpus, options: &Options) -> Result<()> {
    options.check()?;
    let lacks = |layer: &str| Error::Argument {
        name: "templates".into(),
        found: format!("`{}`, but the text has no {layer}", options.templates),
        expected: "text with them, or fewer templates".into(),
    };
    let (needs, has) = (options.templates.needs(), corpus.text().annotation());
    if needs.tags && !has.tags {
        return Err(lacks("tags"));
    }
    if needs.chunks && !has.chunks {
        return Err(lacks("chunks"));
    }
    Ok(())
}

/// Writes the samples of a corpus down; also how many there are.
pub(super) fn fill(
    corpus: &Corpus,
    shapes: &Shapes,
    options: &Options,
    features: &Features,
    memory: usize,
    folder: Option<&Path>,
    job: &Job,
) -> Result<(Rows, u64)> {
    let rows = Rows::new(corpus.len().div_ceil(BLOCK), memory, folder);
    job.begin(corpus.len() as u64);
    let fillers = for_each_block(corpus.len(), BLOCK, job, Filler::default, |filler, block| {
        let number = block.start / BLOCK;
        let bytes = filler.fill(corpus, shapes, options, features, block);
        rows.put(number, bytes)
    })?;
    Ok((rows, fillers.iter().map(|filler| filler.samples).sum()))
}

impl Filler {
    fn fill(
        &mut self,
        corpus: &Corpus,
        shapes: &Shapes,
        options: &Options,
        features: &Features,
        block: std::ops::Range<usize>,
    ) -> Vec<u8> {
        let mut bytes = Vec::new();
        let Filler { walker, numbers, samples } = self;
        walker.samples(corpus, shapes, options, block, |sample, fingerprints| {
            numbers.clear();
            numbers.extend(fingerprints.iter().filter_map(|&print| features.number(print)));
            rows::push(&mut bytes, sample.is_next, numbers);
            *samples += 1;
        });
        bytes
    }
}

/// Sums the gradient of a block as integers.
struct Ascent<'a> {
    weights: &'a [f64],
    scale: f64,
    gradient: &'a mut [i64],
}

impl Learner for Ascent<'_> {
    fn margin(&self, numbers: &[u32]) -> f64 {
        let bias = self.weights.last().copied().unwrap_or_default();
        bias + numbers.iter().map(|&at| self.weights[at as usize]).sum::<f64>()
    }

    fn learn(&mut self, numbers: &[u32], missing: f64) {
        let step = rounded(missing * self.scale);
        for &at in numbers {
            self.gradient[at as usize] += step;
        }
        if let Some(bias) = self.gradient.last_mut() {
            *bias += step;
        }
    }
}

/// Changes weights row by row.
struct Online {
    weights: Vec<f64>,
    /// Sums of squared slopes.
    squares: Vec<f64>,
    /// The share of the prior of each weight, a row.
    pull: Vec<f64>,
    rate: f64,
}

impl Online {
    fn step(&mut self, at: usize, missing: f64) {
        let slope = missing - self.pull[at] * self.weights[at];
        self.squares[at] += slope * slope;
        self.weights[at] += self.rate * slope / self.squares[at].sqrt();
    }
}

impl Learner for Online {
    fn margin(&self, numbers: &[u32]) -> f64 {
        let sum: f64 = numbers.iter().map(|&at| self.weights[at as usize]).sum();
        sum + self.weights.last().copied().unwrap_or_default()
    }

    fn learn(&mut self, numbers: &[u32], missing: f64) {
        numbers.iter().for_each(|&at| self.step(at as usize, missing));
        self.step(self.weights.len() - 1, missing);
    }
}
