//! Words in context: gated recurrent units from left to right and from right to left.
//!
//! In: numbers that stand for words. Out: numbers that stand for each word in its sentence, those
//! of both directions side by side; and back, what each parameter and word should have been more
//! of.
//! How: Cho and others (2014), with the reset gate after the recurrent product, so that one
//! product a step serves all gates. Sentences go through together (`Pack`).
//! Cost: 6 · hidden · (embedding + hidden) multiplications a word, and twice as many back.

use super::numbers::{add_product, add_rows, sigmoid, tanh, transpose};
use super::pack::Pack;
use super::shape::Way;

/// One direction at work; its memory is used again.
#[derive(Debug, Default)]
pub struct Unit {
    /// What goes into each row, embedded.
    pub inputs: Vec<f32>,
    /// Gates of each row: update, reset, candidate.
    gates: Vec<f32>,
    /// What was remembered of each row before the reset gate.
    inner: Vec<f32>,
    /// What is remembered after each row.
    pub outputs: Vec<f32>,
    /// The recurrent products of a step.
    products: Vec<f32>,
}

/// What a direction should have been more of.
#[derive(Debug, Default)]
pub struct Back {
    /// By row: outputs, in; what goes into them, out.
    pub outputs: Vec<f32>,
    /// By row.
    pub inputs: Vec<f32>,
    gates: Vec<f32>,
    products: Vec<f32>,
    before: Vec<f32>,
    turned: Vec<f32>,
}

/// The parameters of a direction, and room for their gradient.
pub fn part(values: &[f32], block: super::shape::Block) -> &[f32] {
    &values[block.range()]
}

impl Unit {
    /// Walks through all sentences of a pack, whose inputs are there.
    pub fn run(&mut self, values: &[f32], way: &Way, pack: &Pack) {
        let (rows, hidden) = (pack.rows(), way.inner_bias.columns);
        let Unit { inputs, gates, inner, outputs, products } = self;
        gates.clear();
        for _ in 0..rows {
            gates.extend_from_slice(part(values, way.bias));
        }
        add_product(inputs, part(values, way.input), gates, way.input.rows, 3 * hidden);
        inner.resize(rows * hidden, 0.0);
        outputs.resize(rows * hidden, 0.0);
        for step in 0..pack.steps() {
            let now = pack.at(step);
            let last = step.checked_sub(1).map(|step| pack.at(step).start);
            products.clear();
            products.resize(now.len() * 3 * hidden, 0.0);
            if let Some(last) = last {
                let before = &outputs[last * hidden..][..now.len() * hidden];
                add_product(before, part(values, way.recurrent), products, hidden, 3 * hidden);
            }
            for (place, row) in now.enumerate() {
                let (done, rest) = outputs.split_at_mut(row * hidden);
                let before = last.map(|last| &done[(last + place) * hidden..][..hidden]);
                let cell = Cell {
                    gates: &mut gates[row * 3 * hidden..][..3 * hidden],
                    products: &products[place * 3 * hidden..][..3 * hidden],
                    inner: &mut inner[row * hidden..][..hidden],
                    bias: part(values, way.inner_bias),
                };
                cell.run(before, &mut rest[..hidden]);
            }
        }
    }

    /// What inputs and parameters should have been more of; `back.outputs` says it of the
    /// outputs, and is used up.
    pub fn run_back(
        &self,
        values: &[f32],
        way: &Way,
        pack: &Pack,
        gradient: &mut [f32],
        back: &mut Back,
    ) {
        let (rows, hidden) = (pack.rows(), way.inner_bias.columns);
        let Back { outputs: of_outputs, inputs, gates: of_gates, products, before, turned } = back;
        of_gates.clear();
        of_gates.resize(rows * 3 * hidden, 0.0);
        products.clear();
        products.resize(rows * 3 * hidden, 0.0);
        before.clear();
        before.resize(rows * hidden, 0.0);
        transpose(part(values, way.recurrent), 3 * hidden, turned);
        for step in (0..pack.steps()).rev() {
            let now = pack.at(step);
            let last = step.checked_sub(1).map(|step| pack.at(step).start);
            for (place, row) in now.clone().enumerate() {
                let (earlier, later) = of_outputs.split_at_mut(row * hidden);
                if let Some(last) = last {
                    let output = &self.outputs[(last + place) * hidden..][..hidden];
                    before[row * hidden..][..hidden].copy_from_slice(output);
                }
                let slope = Slope {
                    gates: &self.gates[row * 3 * hidden..][..3 * hidden],
                    inner: &self.inner[row * hidden..][..hidden],
                    before: &before[row * hidden..][..hidden],
                    output: &later[..hidden],
                };
                let kept = last.map(|last| &mut earlier[(last + place) * hidden..][..hidden]);
                slope.run(
                    &mut of_gates[row * 3 * hidden..][..3 * hidden],
                    &mut products[row * 3 * hidden..][..3 * hidden],
                    kept,
                );
            }
            if let Some(last) = last {
                let of_step = &products[now.start * 3 * hidden..now.end * 3 * hidden];
                let of_before = &mut of_outputs[last * hidden..][..now.len() * hidden];
                add_product(of_step, turned, of_before, 3 * hidden, hidden);
            }
        }
        let width = way.input.rows;
        add_rows(of_gates, &mut gradient[way.bias.range()]);
        let of_inner = &mut gradient[way.inner_bias.range()];
        for row in products.chunks_exact(3 * hidden) {
            of_inner.iter_mut().zip(&row[2 * hidden..]).for_each(|(sum, value)| *sum += value);
        }
        transpose(before, hidden, turned);
        add_product(turned, products, &mut gradient[way.recurrent.range()], rows, 3 * hidden);
        transpose(&self.inputs, width, turned);
        add_product(turned, of_gates, &mut gradient[way.input.range()], rows, 3 * hidden);
        transpose(part(values, way.input), 3 * hidden, turned);
        inputs.clear();
        inputs.resize(rows * width, 0.0);
        add_product(of_gates, turned, inputs, 3 * hidden, width);
    }
}

/// One row of a step.
struct Cell<'a> {
    gates: &'a mut [f32],
    products: &'a [f32],
    inner: &'a mut [f32],
    bias: &'a [f32],
}

impl Cell<'_> {
    fn run(self, before: Option<&[f32]>, output: &mut [f32]) {
        let hidden = output.len();
        let (update, rest) = self.gates.split_at_mut(hidden);
        let (reset, candidate) = rest.split_at_mut(hidden);
        let (of_update, rest) = self.products.split_at(hidden);
        let (of_reset, of_candidate) = rest.split_at(hidden);
        for at in 0..hidden {
            update[at] = sigmoid(update[at] + of_update[at]);
            reset[at] = sigmoid(reset[at] + of_reset[at]);
            self.inner[at] = of_candidate[at] + self.bias[at];
            candidate[at] = tanh(candidate[at] + reset[at] * self.inner[at]);
            output[at] = (1.0 - update[at]) * candidate[at];
        }
        if let Some(before) = before {
            let kept = update.iter().zip(before);
            output.iter_mut().zip(kept).for_each(|(out, (keep, old))| *out += keep * old);
        }
    }
}

/// One row of a step, backward.
struct Slope<'a> {
    gates: &'a [f32],
    inner: &'a [f32],
    before: &'a [f32],
    output: &'a [f32],
}

impl Slope<'_> {
    fn run(self, of_gates: &mut [f32], of_products: &mut [f32], of_before: Option<&mut [f32]>) {
        let hidden = self.output.len();
        let (update, rest) = self.gates.split_at(hidden);
        let (reset, candidate) = rest.split_at(hidden);
        let (of_update, rest) = of_gates.split_at_mut(hidden);
        let (of_reset, of_candidate) = rest.split_at_mut(hidden);
        for at in 0..hidden {
            let output = self.output[at];
            let keep = output * (self.before[at] - candidate[at]);
            of_update[at] = keep * update[at] * (1.0 - update[at]);
            let fresh = output * (1.0 - update[at]) * (1.0 - candidate[at] * candidate[at]);
            of_candidate[at] = fresh;
            of_reset[at] = fresh * self.inner[at] * reset[at] * (1.0 - reset[at]);
            of_products[2 * hidden + at] = fresh * reset[at];
        }
        of_products[..hidden].copy_from_slice(of_update);
        of_products[hidden..2 * hidden].copy_from_slice(of_reset);
        if let Some(of_before) = of_before {
            let kept = self.output.iter().zip(update);
            of_before.iter_mut().zip(kept).for_each(|(sum, (out, keep))| *sum += out * keep);
        }
    }
}
