//! The network: from the words of sentences to the weight of every jump in them.
//!
//! In: parameters, and sentences as rows of the embedding. Out: for each sentence the weights of
//! its jumps and what each word gains by its surroundings (definitions b.8); and back, the
//! gradient of whatever was made of them.
//! How: a word looks for what comes next (its query) and has something to show (its key). The
//! weight of a jump is their product, and what both say about its distance:
//! q_i·k_j/√key + q_i·r_d + k_j·t_d + b_d.
//! Cost: 6 · hidden · (embedding + hidden) + 4 · hidden · key multiplications a word, and key for
//! each pair of words.

use super::encoder::{Back, Unit, part};
use super::numbers::{add_product, add_rows, transpose};
use super::pack::Pack;
use super::shape::{DISTANCES, Shape, distance};
use crate::reorder::jump::BITS;

/// A sentence as the network takes it: for each word its rows of the embedding, as many for each.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The rows, word by word.
    pub rows: &'a [u32],
    /// Rows a word.
    pub layers: usize,
}

impl Input<'_> {
    /// Number of words.
    pub fn len(&self) -> usize {
        self.rows.len() / self.layers
    }
}

/// What the network says of a sentence, or what it should have said more of.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Said {
    /// The weights of jumps: a row for the start and each word, a column for each word.
    pub jumps: Vec<f32>,
    /// What each bit brings each word; empty when nobody looks around.
    pub around: Vec<f32>,
}

/// The network at work on some sentences; its memory is used again.
#[derive(Debug, Default)]
pub struct Net {
    pack: Pack,
    units: [Unit; 2],
    backs: [Back; 2],
    /// Both directions side by side, by row.
    contexts: Vec<f32>,
    queries: Vec<f32>,
    keys: Vec<f32>,
    around: Vec<f32>,
    one: Sentence,
    turned: Vec<f32>,
    of_queries: Vec<f32>,
    of_keys: Vec<f32>,
    of_around: Vec<f32>,
    of_contexts: Vec<f32>,
}

/// Memory of one sentence.
#[derive(Debug, Default)]
struct Sentence {
    /// Of the start, then of each word.
    queries: Vec<f32>,
    keys: Vec<f32>,
    turned: Vec<f32>,
    query_far: Vec<f32>,
    key_far: Vec<f32>,
}

impl Net {
    /// What the network says of sentences, longest first.
    pub fn run(&mut self, shape: &Shape, values: &[f32], inputs: &[Input<'_>]) -> Vec<Said> {
        self.encode(shape, values, inputs);
        (0..inputs.len()).map(|number| self.said(shape, values, number)).collect()
    }

    fn encode(&mut self, shape: &Shape, values: &[f32], inputs: &[Input<'_>]) {
        let Net { pack, units, contexts, .. } = self;
        pack.fill(inputs.iter().map(Input::len));
        let (hidden, width) = (shape.sizes.hidden, shape.sizes.embedding);
        for (unit, is_back) in units.iter_mut().zip([false, true]) {
            unit.inputs.clear();
            unit.inputs.resize(pack.rows() * width, 0.0);
            for (number, input) in inputs.iter().enumerate() {
                for (word, rows) in input.rows.chunks_exact(input.layers).enumerate() {
                    let row =
                        if is_back { pack.row_back(number, word) } else { pack.row(number, word) };
                    let sum = &mut unit.inputs[row * width..][..width];
                    for &of_layer in rows {
                        add_rows(&values[of_layer as usize * width..][..width], sum);
                    }
                }
            }
        }
        for (unit, way) in units.iter_mut().zip(&shape.ways) {
            unit.run(values, way, pack);
        }
        contexts.clear();
        contexts.resize(pack.rows() * 2 * hidden, 0.0);
        let [forth, back] = units;
        for (number, &length) in pack.lengths().iter().enumerate() {
            for word in 0..length {
                let (row, from) = (pack.row(number, word), pack.row_back(number, word));
                let context = &mut contexts[row * 2 * hidden..][..2 * hidden];
                context[..hidden].copy_from_slice(&forth.outputs[row * hidden..][..hidden]);
                context[hidden..].copy_from_slice(&back.outputs[from * hidden..][..hidden]);
            }
        }
        let rows = self.pack.rows();
        for (block, bias, out) in [
            (shape.query, shape.query_bias, &mut self.queries),
            (shape.key, shape.key_bias, &mut self.keys),
            (shape.around, shape.around_bias, &mut self.around),
        ] {
            out.clear();
            (0..rows).for_each(|_| out.extend_from_slice(part(values, bias)));
            add_product(&self.contexts, part(values, block), out, 2 * hidden, block.columns);
        }
    }

    /// What is said of a sentence, once all are encoded.
    fn said(&mut self, shape: &Shape, values: &[f32], number: usize) -> Said {
        let (length, key) = (self.pack.lengths()[number], shape.sizes.key);
        self.gather(shape, values, number);
        let Sentence { queries, keys, turned, query_far, key_far } = &mut self.one;
        transpose(keys, key, turned);
        let mut jumps = vec![0.0; (length + 1) * length];
        add_product(queries, turned, &mut jumps, key, length);
        transpose(part(values, shape.far_query), key, turned);
        query_far.clear();
        query_far.resize((length + 1) * DISTANCES, 0.0);
        add_product(queries, turned, query_far, key, DISTANCES);
        transpose(part(values, shape.far_key), key, turned);
        key_far.clear();
        key_far.resize(length * DISTANCES, 0.0);
        add_product(keys, turned, key_far, key, DISTANCES);
        let bias = part(values, shape.far_bias);
        let scale = scale(shape);
        for (cell, from, to) in cells(&mut jumps, length) {
            let far = distance(from, to);
            let of_query = query_far[from as usize * DISTANCES + far];
            let of_key = key_far[(to as usize - 1) * DISTANCES + far];
            *cell = *cell * scale + of_query + of_key + bias[far];
        }
        let mut around = Vec::new();
        if shape.sizes.coverage {
            for word in 0..length {
                let row = self.pack.row(number, word);
                around.extend_from_slice(&self.around[row * BITS..][..BITS]);
            }
        }
        Said { jumps, around }
    }

    /// Puts the queries and keys of a sentence side by side.
    fn gather(&mut self, shape: &Shape, values: &[f32], number: usize) {
        let key = shape.sizes.key;
        let Sentence { queries, keys, .. } = &mut self.one;
        queries.clear();
        queries.extend_from_slice(part(values, shape.start));
        keys.clear();
        for word in 0..self.pack.lengths()[number] {
            let row = self.pack.row(number, word);
            queries.extend_from_slice(&self.queries[row * key..][..key]);
            keys.extend_from_slice(&self.keys[row * key..][..key]);
        }
    }

    /// Adds to the gradient of all parameters but the embedding, and returns by row what the
    /// embedded words should have been more of: left to right, right to left. `more` is what
    /// should have been said more, sentence by sentence, of those of the last run.
    pub fn run_back(
        &mut self,
        shape: &Shape,
        values: &[f32],
        more: &[Said],
        gradient: &mut [f32],
    ) -> [&[f32]; 2] {
        let (rows, key) = (self.pack.rows(), shape.sizes.key);
        for (room, width) in [
            (&mut self.of_queries, key),
            (&mut self.of_keys, key),
            (&mut self.of_around, shape.around.columns),
        ] {
            room.clear();
            room.resize(rows * width, 0.0);
        }
        for (number, more) in more.iter().enumerate() {
            self.jumps_back(shape, values, number, more, gradient);
        }
        let hidden = shape.sizes.hidden;
        self.of_contexts.clear();
        self.of_contexts.resize(rows * 2 * hidden, 0.0);
        let mut contexts_turned = std::mem::take(&mut self.one.turned);
        transpose(&self.contexts, 2 * hidden, &mut contexts_turned);
        for (block, bias, of) in [
            (shape.query, shape.query_bias, &self.of_queries),
            (shape.key, shape.key_bias, &self.of_keys),
            (shape.around, shape.around_bias, &self.of_around),
        ] {
            if block.columns == 0 {
                continue;
            }
            add_rows(of, &mut gradient[bias.range()]);
            add_product(&contexts_turned, of, &mut gradient[block.range()], rows, block.columns);
            transpose(part(values, block), block.columns, &mut self.turned);
            add_product(of, &self.turned, &mut self.of_contexts, block.columns, 2 * hidden);
        }
        self.one.turned = contexts_turned;
        for (at, back) in self.backs.iter_mut().enumerate() {
            back.outputs.clear();
            back.outputs.resize(rows * hidden, 0.0);
            for (number, &length) in self.pack.lengths().iter().enumerate() {
                for word in 0..length {
                    let row = self.pack.row(number, word);
                    let to = if at == 0 { row } else { self.pack.row_back(number, word) };
                    let from = &self.of_contexts[row * 2 * hidden + at * hidden..][..hidden];
                    back.outputs[to * hidden..][..hidden].copy_from_slice(from);
                }
            }
            self.units[at].run_back(values, &shape.ways[at], &self.pack, gradient, back);
        }
        let [forth, back] = &self.backs;
        [&forth.inputs, &back.inputs]
    }

    /// From the weights of a sentence's jumps back to queries, keys and distances.
    fn jumps_back(
        &mut self,
        shape: &Shape,
        values: &[f32],
        number: usize,
        more: &Said,
        gradient: &mut [f32],
    ) {
        let (length, key) = (self.pack.lengths()[number], shape.sizes.key);
        self.gather(shape, values, number);
        let Sentence { queries, keys, turned, query_far, key_far } = &mut self.one;
        let mut jumps = more.jumps.clone();
        for far in [&mut *query_far, &mut *key_far] {
            far.clear();
            far.resize((length + 1) * DISTANCES, 0.0);
        }
        let of_bias = &mut gradient[shape.far_bias.range()];
        let scale = scale(shape);
        for (cell, from, to) in cells(&mut jumps, length) {
            let far = distance(from, to);
            query_far[from as usize * DISTANCES + far] += *cell;
            key_far[(to as usize - 1) * DISTANCES + far] += *cell;
            of_bias[far] += *cell;
            *cell *= scale;
        }
        key_far.truncate(length * DISTANCES);
        let mut of_queries = vec![0.0; (length + 1) * key];
        add_product(&jumps, keys, &mut of_queries, length, key);
        add_product(query_far, part(values, shape.far_query), &mut of_queries, DISTANCES, key);
        let mut of_keys = vec![0.0; length * key];
        transpose(&jumps, length, turned);
        add_product(turned, queries, &mut of_keys, length + 1, key);
        add_product(key_far, part(values, shape.far_key), &mut of_keys, DISTANCES, key);
        transpose(query_far, DISTANCES, turned);
        add_product(turned, queries, &mut gradient[shape.far_query.range()], length + 1, key);
        transpose(key_far, DISTANCES, turned);
        add_product(turned, keys, &mut gradient[shape.far_key.range()], length, key);
        add_rows(&of_queries[..key], &mut gradient[shape.start.range()]);
        for word in 0..length {
            let row = self.pack.row(number, word);
            let query = &of_queries[(word + 1) * key..][..key];
            self.of_queries[row * key..][..key].copy_from_slice(query);
            self.of_keys[row * key..][..key].copy_from_slice(&of_keys[word * key..][..key]);
            if shape.sizes.coverage {
                let around = &more.around[word * BITS..][..BITS];
                self.of_around[row * BITS..][..BITS].copy_from_slice(around);
            }
        }
    }

    /// Where the words of the last run stand among what `run_back` returns: sentence, word, and
    /// the rows left to right and right to left.
    pub fn places(&self) -> impl Iterator<Item = (usize, usize, [usize; 2])> + '_ {
        let lengths = self.pack.lengths().iter().enumerate();
        lengths.flat_map(move |(number, &length)| {
            (0..length).map(move |word| {
                (number, word, [self.pack.row(number, word), self.pack.row_back(number, word)])
            })
        })
    }
}

fn scale(shape: &Shape) -> f32 {
    1.0 / (shape.sizes.key as f32).sqrt()
}

/// The cells of a matrix of jumps with their two words: from 0 or 1, and from 1.
fn cells(jumps: &mut [f32], length: usize) -> impl Iterator<Item = (&mut f32, u32, u32)> {
    let rows = jumps.chunks_exact_mut(length.max(1)).zip(0..);
    rows.flat_map(|(row, from)| row.iter_mut().zip(1..).map(move |(cell, to)| (cell, from, to)))
}
