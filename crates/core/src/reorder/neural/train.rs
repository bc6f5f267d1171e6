//! Learns a network from the orders of a bitext.
//!
//! In: annotated sentences with their orders, or with wishes of pairs of words. Out: a `Model`.
//! How: at each step of an order the right word is one of the untranslated words in the window, and
//! its share is raised; or each pair of words that should be kept or turned round is made likelier
//! to be. By Adam (Kingma and Ba, 2015), whose steps grow at first and then shrink to nothing. Sentences of like length go together. A batch is cut into the same parts whatever the
//! number of threads, and their gradients are added in order, so that neither threads nor the
//! machine change a bit of the model.
//! Cost: about three times what `net` says for each word and pass; 12 bytes a parameter.
//! Not: a dev set; the steps say when to stop.

use super::dice::Dice;
use super::model::{Head, Model, Recipe};
use super::net::{Input, Net, Said};
use super::numbers::{exp, sigmoid};
use super::shape::{Shape, Sizes};
use super::vocabulary::Vocabulary;
use crate::Job;
use crate::error::{Error, Result};
use crate::narrow::to_u32;
use crate::parallel::map;
use crate::reorder::Corpus;
use crate::reorder::jump::{Around, BITS, Walk, Window};

/// How a network is trained.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Passes over the text.
    pub epochs: u32,
    /// Sentences between two steps.
    pub batch: u32,
    /// The longest step.
    pub rate: f32,
    /// Share of words that are hidden from the network while it learns.
    pub dropout: f32,
    /// Numbers that stand for a word.
    pub embedding: u32,
    /// Numbers that each direction remembers.
    pub hidden: u32,
    /// Numbers by which the ends of a jump are compared.
    pub key: u32,
    /// How far away wrong answers are.
    pub window: u32,
    /// Whether it looks at what is translated around a word.
    pub coverage: bool,
    /// Whether it looks at tags.
    pub tags: bool,
    /// Rarer words have no row of their own.
    pub min_count: u32,
    /// Words that have one at most.
    pub vocabulary: u32,
    /// Of the random numbers.
    pub seed: u64,
}

/// Sentences of a part of a batch.
const PART: usize = 8;
/// Batches that are sorted by length together.
const POOL: usize = 50;
/// Share of all steps while their length grows.
const WARM: f32 = 0.05;
/// A gradient longer than this is shortened.
const LONGEST: f32 = 1.0;

/// What a pass over the text came to.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Passed {
    /// Steps of all orders.
    pub steps: u64,
    /// Sum of ln P of the right words, or of what pairs should be, a word's share of them.
    pub value: f64,
}

/// What should become of two words, the left one first: above 0 they keep their order, below they
/// are turned round, by as much as it counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wish {
    /// Places from 0.
    pub pair: (u32, u32),
    /// How much.
    pub weight: f32,
}

/// What is learned.
pub enum Lesson<'a> {
    /// Which word comes next.
    Next,
    /// Which of two words comes first, from the wishes of a sentence of the corpus.
    Pairs(&'a (dyn Fn(usize) -> Vec<Wish> + Sync)),
}

/// A sentence to learn from.
struct Text {
    /// Which one of the corpus.
    number: usize,
    rows: Vec<u32>,
    order: Vec<u32>,
}

/// A network that is being learned.
pub struct Trainer {
    options: Options,
    vocabulary: Vocabulary,
    shape: Shape,
    texts: Vec<Text>,
    adam: Adam,
}

impl Trainer {
    /// Everything there is to learn from, and a network that knows nothing.
    pub fn new(corpus: &Corpus, options: &Options) -> Result<Self> {
        if options.tags && !corpus.text().annotation().tags {
            return Err(Error::Argument {
                name: "tags".into(),
                found: "true, but the text has none".into(),
                expected: "text with tags, or false".into(),
            });
        }
        let most = options.vocabulary as usize;
        let vocabulary = Vocabulary::of(corpus, options.min_count, most, options.tags);
        let shape = Shape::new(Sizes {
            rows: vocabulary.rows(),
            embedding: options.embedding as usize,
            hidden: options.hidden as usize,
            key: options.key as usize,
            coverage: options.coverage,
        });
        let mut texts = Vec::new();
        for number in 0..corpus.len() {
            let mut rows = Vec::new();
            vocabulary.push_rows(&corpus.text().sentence(number), &mut rows);
            if !rows.is_empty() {
                texts.push(Text { number, rows, order: corpus.order(number) });
            }
        }
        let adam = Adam::new(&shape, options);
        Ok(Trainer { options: *options, vocabulary, shape, texts, adam })
    }

    /// All that passes have changed, for `restore`.
    pub fn state(&self) -> Vec<u8> {
        let Adam { values, means, squares, steps } = &self.adam;
        let numbers = [values, means, squares].into_iter().flatten();
        let numbers = numbers.flat_map(|number| number.to_le_bytes());
        steps.to_le_bytes().into_iter().chain(numbers).collect()
    }

    /// Goes on from what `state` gave.
    pub fn restore(&mut self, state: &[u8]) -> Result<()> {
        let size = self.adam.values.len();
        let (words, rest) = state.as_chunks::<4>();
        if words.len() != 1 + 3 * size || !rest.is_empty() {
            return Err(Error::Argument {
                name: "state".into(),
                found: format!("{} bytes", state.len()),
                expected: format!("{} of a network of these sizes", 4 + 12 * size),
            });
        }
        let numbers = |part: usize| {
            let words = words[1 + part * size..][..size].iter();
            words.map(|&bytes| f32::from_le_bytes(bytes)).collect::<Vec<f32>>()
        };
        let [values, means, squares] = [0, 1, 2].map(numbers);
        self.adam = Adam { values, means, squares, steps: i32::from_le_bytes(words[0]) };
        Ok(())
    }

    /// Sentences that it learns from.
    pub fn sentences(&self) -> usize {
        self.texts.len()
    }

    /// The model as it is after some passes.
    pub fn model(&self, head: Head, epochs: u32) -> Result<Model> {
        let recipe = Recipe {
            window: self.options.window,
            epochs,
            sentences: self.texts.len() as u64,
            seed: self.options.seed,
            head,
        };
        Model::build(self.shape.sizes, &self.vocabulary, recipe, &self.adam.values)
    }

    /// One pass over all sentences.
    pub fn pass(&mut self, epoch: u32, lesson: &Lesson<'_>, job: &Job) -> Result<Passed> {
        let batches = self.batches(epoch);
        let all = (batches.len() * self.options.epochs as usize) as f32;
        let mut passed = Passed::default();
        for (number, batch) in batches.iter().enumerate() {
            let done = (batches.len() * epoch as usize + number) as f32 / all;
            let rate = self.options.rate * (done / WARM).min((1.0 - done) / (1.0 - WARM)).min(1.0);
            let of_batch = self.learn(batch, epoch, lesson, rate, job)?;
            passed.steps += of_batch.steps;
            passed.value += of_batch.value;
            job.advance(batch.len() as u64);
        }
        Ok(passed)
    }

    /// The sentences of each batch, longest first: in random order, but those of like length
    /// together.
    fn batches(&self, epoch: u32) -> Vec<Vec<usize>> {
        let mut dice = Dice::new(self.options.seed, u64::from(epoch) << 32 | 1);
        let mut order: Vec<usize> = (0..self.texts.len()).collect();
        dice.shuffle(&mut order);
        let size = self.options.batch as usize;
        let mut batches: Vec<Vec<usize>> = Vec::new();
        for pool in order.chunks_mut(size * POOL) {
            pool.sort_by_key(|&number| std::cmp::Reverse(self.texts[number].order.len()));
            batches.extend(pool.chunks(size).map(<[usize]>::to_vec));
        }
        dice.shuffle(&mut batches);
        batches
    }

    fn learn(
        &mut self,
        batch: &[usize],
        epoch: u32,
        lesson: &Lesson<'_>,
        rate: f32,
        job: &Job,
    ) -> Result<Passed> {
        let steps: usize = batch.iter().map(|&number| self.texts[number].order.len()).sum();
        let parts: Vec<&[usize]> = batch.chunks(PART).collect();
        let (slopes, _) = map(parts.len(), 1, job, Worker::default, |worker, part| {
            let seed = Dice::new(self.options.seed, u64::from(epoch) << 32 | 2);
            Ok(worker.slope(self, lesson, parts[part], seed, 1.0 / steps as f32))
        })?;
        let mut passed = Passed::default();
        let mut sum: Option<Slope> = None;
        for slope in slopes {
            passed.steps += slope.passed.steps;
            passed.value += slope.passed.value;
            match &mut sum {
                None => sum = Some(slope),
                Some(sum) => sum.join(slope),
            }
        }
        if let Some(sum) = sum {
            self.adam.step(&self.shape, &sum, rate);
        }
        Ok(passed)
    }
}

/// The gradient of a part of a batch.
struct Slope {
    /// Of all parameters but the embedding.
    dense: Vec<f32>,
    /// Rows of the embedding, and the gradient of each, one after the other; a row may come twice.
    rows: Vec<u32>,
    of_rows: Vec<f32>,
    passed: Passed,
}

impl Slope {
    fn join(&mut self, other: Slope) {
        self.dense.iter_mut().zip(&other.dense).for_each(|(sum, value)| *sum += value);
        self.rows.extend(other.rows);
        self.of_rows.extend(other.of_rows);
    }
}

/// Memory of one thread.
#[derive(Default)]
struct Worker {
    net: Net,
    walk: Walk,
    gradient: Vec<f32>,
    shares: Vec<(u32, f32, Around)>,
}

impl Worker {
    /// The gradient of some sentences, each step counted as `weight`.
    fn slope(
        &mut self,
        trainer: &Trainer,
        lesson: &Lesson<'_>,
        part: &[usize],
        dice: Dice,
        weight: f32,
    ) -> Slope {
        let Trainer { shape, adam, texts, vocabulary, options, .. } = trainer;
        let layers = vocabulary.layers();
        let hidden = |&number: &usize| hide(&texts[number].rows, layers, options, dice, number);
        let rows: Vec<Vec<u32>> = part.iter().map(hidden).collect();
        let inputs: Vec<Input<'_>> = rows.iter().map(|rows| Input { rows, layers }).collect();
        let said = self.net.run(shape, &adam.values, &inputs);
        let window = Window { width: options.window, inclusive: true };
        let mut passed = Passed::default();
        let mut more = Vec::with_capacity(said.len());
        for (said, &number) in said.iter().zip(part) {
            let order = &texts[number].order;
            passed.steps += order.len() as u64;
            let (of_sentence, value) = match lesson {
                Lesson::Next => self.missing(said, order, window, weight),
                Lesson::Pairs(wishes) => {
                    unsettled(said, order.len(), &wishes(texts[number].number), weight)
                }
            };
            passed.value += value;
            more.push(of_sentence);
        }
        self.gradient.clear();
        self.gradient.resize(shape.parameters(), 0.0);
        let of_words = self.net.run_back(shape, &adam.values, &more, &mut self.gradient);
        let of_words = of_words.map(<[f32]>::to_vec);
        let width = shape.sizes.embedding;
        let (mut touched, mut of_rows) = (Vec::new(), Vec::new());
        for (sentence, word, places) in self.net.places() {
            for &row in &rows[sentence][word * layers..][..layers] {
                touched.push(row);
                let [forth, back] =
                    [0, 1].map(|way| &of_words[way][places[way] * width..][..width]);
                of_rows.extend(forth.iter().zip(back).map(|(a, b)| a + b));
            }
        }
        let dense = self.gradient[shape.embedded()..].to_vec();
        Slope { dense, rows: touched, of_rows, passed }
    }

    /// What should have been said more of a sentence, and ln P of its order.
    fn missing(&mut self, said: &Said, order: &[u32], window: Window, weight: f32) -> (Said, f64) {
        let length = order.len();
        let mut more =
            Said { jumps: vec![0.0; said.jumps.len()], around: vec![0.0; said.around.len()] };
        let mut value = 0.0;
        let shares = &mut self.shares;
        self.walk.samples(order, window, |sample| {
            if sample.is_next {
                value += settle(shares, &mut more, length, weight);
            }
            let mut score = said.jumps[sample.from as usize * length + sample.to as usize - 1];
            if !said.around.is_empty() {
                let gains = &said.around[(sample.to as usize - 1) * BITS..][..BITS];
                score += sample.around.bits().map(|bit| gains[bit]).sum::<f32>();
            }
            let cell = sample.from * to_u32(length) + sample.to - 1;
            shares.push((cell, score, sample.around));
        });
        value += settle(shares, &mut more, length, weight);
        (more, value)
    }
}

/// What should have been said more of the pairs of a sentence, and ln P of what they should be. Each
/// word counts alike, in however many pairs it stands.
pub fn unsettled(said: &Said, length: usize, wishes: &[Wish], weight: f32) -> (Said, f64) {
    let mut more = Said { jumps: vec![0.0; said.jumps.len()], around: Vec::new() };
    let mut value = 0.0;
    for wish in wishes {
        let (left, right) = (wish.pair.0 as usize, wish.pair.1 as usize);
        let cell = (left + 1) * length + right;
        let sign = wish.weight.signum();
        let counts = wish.weight.abs() / length as f32;
        let wrong = sigmoid(-sign * said.jumps[cell]);
        more.jumps[cell] += sign * wrong * counts * weight;
        value += f64::from(counts) * f64::from(1.0 - wrong).max(1e-30).ln();
    }
    (more, value)
}

/// Makes shares of the scores of a step, whose first is the right one, and forgets them.
fn settle(
    scores: &mut Vec<(u32, f32, Around)>,
    more: &mut Said,
    length: usize,
    weight: f32,
) -> f64 {
    let best = scores.iter().map(|step| step.1).fold(f32::NEG_INFINITY, f32::max);
    let sum: f32 = scores.iter().map(|step| exp(step.1 - best)).sum();
    let value = scores.first().map_or(0.0, |right| f64::from(right.1 - best) - f64::from(sum).ln());
    for (place, &(cell, score, around)) in scores.iter().enumerate() {
        let right = if place == 0 { 1.0 } else { 0.0 };
        let missing = weight * (right - exp(score - best) / sum);
        more.jumps[cell as usize] += missing;
        if !more.around.is_empty() {
            let gains = &mut more.around[(cell as usize % length) * BITS..][..BITS];
            around.bits().for_each(|bit| gains[bit] += missing);
        }
    }
    scores.clear();
    value
}

/// The rows of a sentence, with some words hidden: row 0 stands for them.
fn hide(rows: &[u32], layers: usize, options: &Options, dice: Dice, number: usize) -> Vec<u32> {
    let mut dice = dice.apart(number as u64);
    let mut hidden = rows.to_vec();
    if options.dropout > 0.0 {
        for word in hidden.chunks_exact_mut(layers) {
            if dice.share() < options.dropout {
                word[0] = 0;
            }
        }
    }
    hidden
}

/// Adam, with rows of the embedding changed only when they are met.
struct Adam {
    values: Vec<f32>,
    means: Vec<f32>,
    squares: Vec<f32>,
    steps: i32,
}

impl Adam {
    fn new(shape: &Shape, options: &Options) -> Self {
        let mut values = vec![0.0; shape.parameters()];
        let mut dice = Dice::new(options.seed, 0);
        let mut fill = |range: std::ops::Range<usize>, most: f32| {
            for value in &mut values[range] {
                *value = (2.0 * dice.share() - 1.0) * most;
            }
        };
        fill(shape.embedding.range(), 0.2);
        for (name, block) in shape.dense() {
            let inputs =
                if block.rows == 1 || name.starts_with("far") { block.columns } else { block.rows };
            // Biases and distances begin at nothing, but the start of the sentence looks for something.
            if block.rows > 1 && !name.starts_with("far") || name == "start" {
                fill(block.range(), 1.0 / (inputs.max(1) as f32).sqrt());
            }
        }
        let zeros = vec![0.0; values.len()];
        Adam { values, means: zeros.clone(), squares: zeros, steps: 0 }
    }

    fn step(&mut self, shape: &Shape, slope: &Slope, rate: f32) {
        let width = shape.sizes.embedding;
        // Rows that were met, each once, with the sum of what was said of them.
        let mut met: Vec<(u32, u32)> = slope.rows.iter().copied().zip(0..).collect();
        met.sort_unstable();
        let mut rows: Vec<(u32, Vec<f32>)> = Vec::new();
        for (row, place) in met {
            let part = &slope.of_rows[place as usize * width..][..width];
            match rows.last_mut().filter(|(last, _)| *last == row) {
                Some((_, sum)) => sum.iter_mut().zip(part).for_each(|(sum, value)| *sum += value),
                None => rows.push((row, part.to_vec())),
            }
        }
        let of_rows = rows.iter().flat_map(|(_, sum)| sum);
        let square: f32 = slope.dense.iter().chain(of_rows).map(|value| value * value).sum();
        let shorten = (LONGEST / square.sqrt()).min(1.0);
        self.steps += 1;
        let fade = |share: f32| 1.0 - share.powi(self.steps);
        let step = Step { rate, shorten, mean: fade(MEAN), square: fade(SQUARE) };
        self.change(shape.embedded(), &slope.dense, &step);
        for (row, sum) in &rows {
            self.change(*row as usize * width, sum, &step);
        }
    }

    fn change(&mut self, from: usize, slope: &[f32], step: &Step) {
        let values = &mut self.values[from..][..slope.len()];
        let means = &mut self.means[from..][..slope.len()];
        let squares = &mut self.squares[from..][..slope.len()];
        for (((value, mean), square), &slope) in
            values.iter_mut().zip(means).zip(squares).zip(slope)
        {
            let slope = slope * step.shorten;
            *mean = MEAN * *mean + (1.0 - MEAN) * slope;
            *square = SQUARE * *square + (1.0 - SQUARE) * slope * slope;
            *value += step.rate * (*mean / step.mean) / ((*square / step.square).sqrt() + 1e-8);
        }
    }
}

/// What is kept of the mean and of the square at each step.
const MEAN: f32 = 0.9;
const SQUARE: f32 = 0.999;

/// A step of Adam.
struct Step {
    rate: f32,
    shorten: f32,
    mean: f32,
    square: f32,
}
