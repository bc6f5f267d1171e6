//! Python's view of `wayword::reorder::lop`.

use crate::annotated::{Layers, LinkedText, sentence};
use crate::border::{call, enter};
use crate::corpus::IDS;
use crate::view::View;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use wayword::corpus::annotated::Sentence;
use wayword::error::Error;
use wayword::narrow::{to_f32, to_u32};
use wayword::parallel;
use wayword::reorder::Corpus;
use wayword::reorder::lop::{
    self, Chart, Choice, Field, FieldOptions, Kind, LONGEST, Model, Orderer, Pairs, Perceptron,
    PerceptronOptions, Recipe, Reference, Slots, Weights, Wishes,
};
use wayword::reorder::neural::{self, Head, Lesson, Trainer, Wish};
use wayword::reorder::order::inverse;

/// The type of cells, as numpy names it.
const CELLS: &str = if cfg!(target_endian = "little") { "<f8" } else { ">f8" };
/// Sentences that a thread orders at a time.
const BLOCK: usize = 64;

/// Sentences with more words are not learned from: the time of one grows with the cube.
const LONGEST_LEARNED: usize = 80;

/// Of a network: share of words hidden, numbers for a word, remembered, compared, rarest and most
/// words.
type Sizes = (f32, u32, u32, u32, u32, u32);

enum Learner {
    Lop(Perceptron),
    Joint(Field),
    Neural(Box<Trainer>),
}

/// A model that is being learned; see `wayword.reorder.lop.fit`.
#[pyclass(frozen, module = "wayword._core")]
pub struct LopTrainer {
    learner: Mutex<Learner>,
    corpus: Arc<Corpus>,
    recipe: Recipe,
    /// How much words without links count.
    unlinked: f64,
}

#[pymethods]
impl LopTrainer {
    #[new]
    #[pyo3(signature = (corpus, *, model, reference, unlinked, passes, bits, batch, min_count, strictness,
                        rate, prior, network, seed, threads, progress))]
    #[expect(clippy::too_many_arguments, reason = "keyword-only; the Python side explains them")]
    fn new(
        py: Python<'_>,
        corpus: &LinkedText,
        model: &str,
        reference: &str,
        unlinked: f64,
        passes: u32,
        bits: u32,
        batch: usize,
        min_count: u32,
        strictness: f64,
        rate: f64,
        prior: f64,
        network: Sizes,
        seed: u64,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let corpus = Arc::clone(&corpus.inner);
        let recipe = call(py, || {
            let kind = Kind::named(model)?;
            Ok(Recipe {
                kind,
                slots: Slots::new(bits)?,
                tags: corpus.text().annotation().tags,
                reference: Reference::named(reference)?,
                passes: 0,
                sentences: corpus.len() as u64,
                strictness: if kind == Kind::Joint { strictness } else { 0.0 },
            })
        })?;
        let Recipe { slots, reference, tags, .. } = recipe;
        let longest = LONGEST_LEARNED;
        let learner = enter(py, threads, progress, |job| match recipe.kind {
            Kind::Lop => {
                let options =
                    PerceptronOptions { slots, reference, min_count, batch, tags, longest };
                Ok(Learner::Lop(Perceptron::new(&corpus, options, job)?))
            }
            Kind::Joint => Ok(Learner::Joint(Field::new(FieldOptions {
                slots,
                reference,
                unlinked,
                strictness,
                rate,
                prior,
                batch,
                tags,
                longest,
                seed,
            }))),
            Kind::Neural => {
                let (dropout, embedding, hidden, key, min_count, vocabulary) = network;
                let options = neural::Options {
                    epochs: passes,
                    batch: to_u32(batch.min(u32::MAX as usize)),
                    rate: to_f32(rate),
                    dropout,
                    embedding,
                    hidden,
                    key,
                    window: 1,
                    coverage: false,
                    tags,
                    min_count,
                    vocabulary,
                    seed,
                };
                Ok(Learner::Neural(Box::new(Trainer::new(&corpus, &options)?)))
            }
        })?;
        Ok(LopTrainer { learner: Mutex::new(learner), corpus, recipe, unlinked })
    }

    /// One pass over the text, from number 1: pairs of words that came out wrong, or the mean
    /// objective.
    #[pyo3(signature = (number, *, threads, progress))]
    fn train(
        &self,
        py: Python<'_>,
        number: u32,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<f64> {
        enter(py, threads, progress, |job| match &mut *self.learner()? {
            Learner::Lop(perceptron) => Ok(perceptron.pass(&self.corpus, job)? as f64),
            Learner::Joint(field) => field.pass(&self.corpus, job),
            Learner::Neural(trainer) => {
                let lesson = Lesson::Pairs(&|number| self.wishes(number));
                job.begin(trainer.sentences() as u64);
                let passed = trainer.pass(number.saturating_sub(1), &lesson, job)?;
                Ok(passed.value / trainer.sentences().max(1) as f64)
            }
        })
    }

    /// The model as it is after so many passes.
    fn model(&self, py: Python<'_>, passes: u64) -> PyResult<LopModel> {
        enter(py, 1, None, |_| {
            let recipe = Recipe { passes, ..self.recipe };
            match &*self.learner()? {
                Learner::Lop(perceptron) => Model::build(&recipe, &perceptron.average()),
                Learner::Joint(field) => Model::build(&recipe, &field.average()),
                Learner::Neural(trainer) => {
                    let known = Reference::ALL.iter();
                    let place = known.zip(0..).find(|((_, one), _)| *one == recipe.reference);
                    let head = Head::Pairs(place.map_or(0, |(_, place)| place));
                    Model::from_copy(trainer.model(head, to_u32(passes))?.bytes())
                }
            }
        })
        .map(LopModel::new)
    }
}

impl LopTrainer {
    fn wishes(&self, number: usize) -> Vec<Wish> {
        let (links, trust) = (self.corpus.links(number), self.corpus.trust(number));
        let wishes = Wishes::new(self.recipe.reference, links, trust, self.unlinked);
        wishes.all().map(|(pair, weight)| Wish { pair, weight: to_f32(weight) }).collect()
    }

    fn learner(&self) -> wayword::Result<std::sync::MutexGuard<'_, Learner>> {
        self.learner.lock().map_err(|_| Error::Argument {
            name: "trainer".into(),
            found: "one whose last pass failed".into(),
            expected: "a new one".into(),
        })
    }
}

/// A trained model; see `wayword.reorder.lop.LopModel`.
#[pyclass(frozen, module = "wayword._core")]
pub struct LopModel {
    pub inner: Arc<Model>,
}

impl LopModel {
    fn new(model: Model) -> Self {
        LopModel { inner: Arc::new(model) }
    }

    /// Refuses a sentence without the layers that the model looks at.
    fn check<'a>(&self, src: Sentence<'a>) -> wayword::Result<Sentence<'a>> {
        if self.inner.recipe().tags && !src.annotation().tags {
            return Err(Error::Argument {
                name: "sentence".into(),
                found: "words without tags".into(),
                expected: "text annotated as the training text was".into(),
            });
        }
        Ok(src)
    }
}

#[pymethods]
impl LopModel {
    /// Version of the format of its files.
    #[classattr]
    const VERSION: u32 = lop::VERSION;

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        enter(py, 1, None, |_| Model::open(&path)).map(LopModel::new)
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        call(py, || Model::from_copy(data)).map(LopModel::new)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.inner.bytes())
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        enter(py, 1, None, |_| self.inner.save(&path))
    }

    #[getter]
    fn path(&self) -> Option<PathBuf> {
        self.inner.path().map(Into::into)
    }

    #[getter]
    fn digest(&self) -> String {
        format!("{:016x}", self.inner.digest())
    }

    #[getter]
    fn size(&self) -> usize {
        self.inner.bytes().len()
    }

    /// How many places of its table have a weight.
    #[getter]
    fn used(&self) -> usize {
        self.inner.used()
    }

    /// Whether sentences must have tags.
    #[getter]
    fn needs_tags(&self) -> bool {
        self.inner.recipe().tags
    }

    /// How it was made.
    #[getter]
    fn recipe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Recipe { kind, slots, tags, reference, passes, sentences, strictness } =
            *self.inner.recipe();
        let name = |known: &[(&'static str, Reference)]| {
            known.iter().find(|(_, known)| *known == reference).map(|(name, _)| *name)
        };
        let dict = PyDict::new(py);
        let named = Kind::ALL.iter().find(|(_, known)| *known == kind);
        dict.set_item("model", named.map(|(name, _)| *name))?;
        dict.set_item("bits", slots.bits())?;
        dict.set_item("tags", tags)?;
        dict.set_item("reference", name(&Reference::ALL))?;
        dict.set_item("passes", passes)?;
        dict.set_item("sentences", sentences)?;
        dict.set_item("strictness", strictness)?;
        Ok(dict)
    }

    /// The order of each sentence.
    #[pyo3(signature = (sentences, *, choice, threads, progress))]
    fn orders(
        &self,
        py: Python<'_>,
        sentences: Vec<Layers>,
        choice: &str,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Vec<Vec<u32>>> {
        let choice = call(py, || Choice::named(choice))?;
        let model = &*self.inner;
        enter(py, threads, progress, |job| {
            job.begin(sentences.len() as u64);
            let (orders, _) =
                parallel::map(sentences.len(), BLOCK, job, Orderer::default, |orderer, number| {
                    job.advance(1);
                    let src = self.check(sentence(&sentences[number])?)?;
                    Ok(orderer.order(model, &src, choice))
                })?;
            Ok(orders)
        })
    }

    /// The orders of all sentences of a text, one after the other.
    #[pyo3(signature = (text, *, choice, threads, progress))]
    fn text_orders(
        &self,
        py: Python<'_>,
        text: &LinkedText,
        choice: &str,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<View> {
        let choice = call(py, || Choice::named(choice))?;
        let (model, text) = (&*self.inner, text.inner.text());
        let orders = enter(py, threads, progress, |job| {
            job.begin(text.len() as u64);
            let (orders, _) =
                parallel::map(text.len(), BLOCK, job, Orderer::default, |orderer, number| {
                    job.advance(1);
                    let src = self.check(text.sentence(number))?;
                    Ok(orderer.order(model, &src, choice))
                })?;
            Ok(orders.concat())
        })?;
        Ok(View::of(Arc::new(orders), IDS, |orders: &Vec<u32>| orders))
    }

    /// The best orders of a sentence, all different, with their scores.
    fn nbest(&self, py: Python<'_>, layers: Layers, most: usize) -> PyResult<Vec<(f64, Vec<u32>)>> {
        enter(py, 1, None, |_| {
            let src = self.check(sentence(&layers)?)?;
            let ranked = Orderer::default().nbest(&self.inner, &src, most.max(1));
            Ok(ranked.into_iter().map(|ranked| (ranked.score, ranked.order)).collect())
        })
    }

    /// What it is worth to keep each pair of words, row by row; 0 below the diagonal.
    fn matrix(&self, py: Python<'_>, layers: Layers) -> PyResult<View> {
        let cells = enter(py, 1, None, |_| {
            let src = self.check(sentence(&layers)?)?;
            let pairs = Orderer::default().pairs(&self.inner, &src);
            let length = src.len();
            let all = (0..length).flat_map(|left| (0..length).map(move |right| (left, right)));
            Ok(all.map(|(left, right)| pairs.get(left, right)).collect::<Vec<f64>>())
        })?;
        Ok(View::of(Arc::new(cells), CELLS, |cells: &Vec<f64>| cells))
    }

    /// The features of a pair of words with their weights, plain and with the distance; words
    /// count from 1.
    fn explain(
        &self,
        py: Python<'_>,
        layers: Layers,
        left: usize,
        right: usize,
    ) -> PyResult<Vec<(String, f32)>> {
        call(py, || {
            let src = self.check(sentence(&layers)?)?;
            check_pair(&src, left, right)?;
            if self.inner.recipe().kind == Kind::Neural {
                return Err(Error::Argument {
                    name: "model".into(),
                    found: "a network, which has no features with names".into(),
                    expected: "a model of kind lop or joint".into(),
                });
            }
            let Recipe { slots, tags, .. } = *self.inner.recipe();
            let weights = self.inner.weights();
            let suffix = lop::suffix(right - left);
            let mut explained = Vec::new();
            let prints = prints_of(&src, left, right, tags);
            for (text, print) in lop::texts(&src, left, right, tags).into_iter().zip(prints) {
                let with_distance = format!("{text}{suffix}");
                explained.push((text, weights.at(slots.place(print, 0))));
                let form = lop::form(right - left);
                explained.push((with_distance, weights.at(slots.place(print, form))));
            }
            Ok(explained)
        })
    }
}

fn prints_of(src: &Sentence<'_>, left: usize, right: usize, tags: bool) -> Vec<u64> {
    let mut hashed = lop::Hashed::default();
    hashed.fill(src, tags);
    let mut parts = lop::PairParts::default();
    parts.fill(&hashed);
    let mut prints = Vec::new();
    parts.prints(&hashed, left, right, |print| prints.push(print));
    prints
}

fn check_pair(src: &Sentence<'_>, left: usize, right: usize) -> wayword::Result<()> {
    if 0 < left && left < right && right <= src.len() {
        return Ok(());
    }
    Err(Error::Argument {
        name: "pair".into(),
        found: format!("{left} and {right} in a sentence of {} words", src.len()),
        expected: "two positions from 1, the left one first".into(),
    })
}

/// The features of a pair of words as text; words count from 1.
#[pyfunction]
pub fn lop_features(
    py: Python<'_>,
    layers: Layers,
    left: usize,
    right: usize,
) -> PyResult<Vec<String>> {
    call(py, || {
        let src = sentence(&layers)?;
        check_pair(&src, left, right)?;
        let plain = lop::texts(&src, left, right, src.annotation().tags);
        let suffix = lop::suffix(right - left);
        let far = plain.iter().map(|text| format!("{text}{suffix}")).collect::<Vec<_>>();
        Ok([plain, far].concat())
    })
}

fn pairs_of(length: usize, cells: &[f64]) -> wayword::Result<Pairs> {
    if cells.len() != length * length || length > LONGEST {
        return Err(Error::Argument {
            name: "matrix".into(),
            found: format!("{} numbers for {length} words", cells.len()),
            expected: format!("a square matrix of at most {LONGEST} words"),
        });
    }
    let mut pairs = Pairs::new(length);
    for (at, &cell) in cells.iter().enumerate() {
        pairs.set(at / length, at % length, cell);
    }
    Ok(pairs)
}

/// The best order in the neighbourhood of another, and how many steps gained; with `climb` as many
/// steps as gain anything.
#[pyfunction]
pub fn lop_step(
    py: Python<'_>,
    cells: Vec<f64>,
    order: Vec<u32>,
    widest: usize,
    climb: bool,
) -> PyResult<(usize, Vec<u32>)> {
    call(py, || {
        let pairs = pairs_of(order.len(), &cells)?;
        if inverse(&order).is_none() {
            return Err(Error::Argument {
                name: "order".into(),
                found: format!("{} numbers that are not a permutation", order.len()),
                expected: "each number from 0 up exactly once".into(),
            });
        }
        let mut order = order;
        let mut chart = Chart::default();
        let steps = match climb {
            true => chart.climb(&pairs, &mut order, widest),
            false => usize::from(chart.step(&pairs, &mut order, widest) > 0.0),
        };
        Ok((steps, order))
    })
}

/// The best of all orders of a short sentence.
#[pyfunction]
pub fn lop_exact(py: Python<'_>, cells: Vec<f64>, length: usize) -> PyResult<Vec<u32>> {
    enter(py, 1, None, |_| lop::best_order(&pairs_of(length, &cells)?))
}
