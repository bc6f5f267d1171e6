//! Python's view of `wayword::reorder::neural`.

use crate::annotated::{Layers, LinkedText};
use crate::border::{call, enter};
use crate::corpus::FLOATS;
use crate::view::View;
use crate::waw::{along, matrix};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use wayword::error::Error;
use wayword::reorder::neural::{self, Block, Head, Lesson, Options, Trainer};

/// A trained network; see `wayword.reorder.neural.NeuralModel`.
#[pyclass(frozen, module = "wayword._core")]
pub struct NeuralModel {
    pub inner: Arc<neural::Model>,
}

impl NeuralModel {
    fn new(model: neural::Model) -> Self {
        NeuralModel { inner: Arc::new(model) }
    }
}

/// Name, rows, columns and numbers of a matrix of parameters.
type Parameter = (&'static str, usize, usize, View);

#[pymethods]
impl NeuralModel {
    /// Version of the format of its files.
    #[classattr]
    const VERSION: u32 = neural::VERSION;

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        enter(py, 1, None, |_| neural::Model::open(&path)).map(NeuralModel::new)
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        call(py, || neural::Model::from_bytes(data.to_vec())).map(NeuralModel::new)
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

    /// How it was made.
    #[getter]
    fn recipe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (sizes, recipe) = (self.inner.shape().sizes, self.inner.recipe());
        let dict = PyDict::new(py);
        dict.set_item("coverage", sizes.coverage)?;
        dict.set_item("tags", self.inner.vocabulary().tags().is_some())?;
        dict.set_item("words", self.inner.vocabulary().words().len())?;
        dict.set_item("embedding", sizes.embedding)?;
        dict.set_item("hidden", sizes.hidden)?;
        dict.set_item("key", sizes.key)?;
        dict.set_item("parameters", self.inner.shape().parameters())?;
        dict.set_item("window", recipe.window)?;
        dict.set_item("epochs", recipe.epochs)?;
        dict.set_item("sentences", recipe.sentences)?;
        dict.set_item("seed", recipe.seed)?;
        Ok(dict)
    }

    /// Words and tags that have a row of their own; no tags when it does not look at them.
    #[getter]
    fn vocabulary(&self) -> (Vec<String>, Option<Vec<String>>) {
        let vocabulary = self.inner.vocabulary();
        (vocabulary.words().to_vec(), vocabulary.tags().map(<[String]>::to_vec))
    }

    /// All matrices of parameters, the embedding first.
    fn parameters(&self) -> Vec<Parameter> {
        let shape = self.inner.shape();
        let all = std::iter::once(("embedding", shape.embedding)).chain(shape.dense());
        let view = |block: Block| {
            let numbers = self.inner.values()[block.range()].to_vec();
            View::of(Arc::new(numbers), FLOATS, |numbers: &Vec<f32>| numbers)
        };
        all.map(|(name, block)| (name, block.rows, block.columns, view(block))).collect()
    }

    /// ln P for each word before (the start first) and each word after, row by row, when nothing
    /// is translated yet; minus infinity where both are the same word.
    fn matrix(&self, py: Python<'_>, layers: Layers) -> PyResult<View> {
        matrix(py, &*self.inner, &layers)
    }

    /// What it gives along an order; see `wayword.reorder.waw.WawModel.along`.
    fn along(
        &self,
        py: Python<'_>,
        layers: Layers,
        order: Vec<u32>,
        is_log: bool,
    ) -> PyResult<View> {
        along(py, &*self.inner, &layers, &order, is_log)
    }
}

/// A network that is being learned; see `wayword.reorder.neural.train`.
#[pyclass(frozen, module = "wayword._core")]
pub struct NeuralTrainer {
    trainer: Mutex<Trainer>,
}

#[pymethods]
impl NeuralTrainer {
    #[new]
    #[pyo3(signature = (corpus, *, epochs, batch, rate, dropout, embedding, hidden, key, window,
                        coverage, tags, min_count, vocabulary, seed))]
    #[expect(clippy::too_many_arguments, reason = "keyword-only; the Python side explains them")]
    fn new(
        py: Python<'_>,
        corpus: &LinkedText,
        epochs: u32,
        batch: u32,
        rate: f32,
        dropout: f32,
        embedding: u32,
        hidden: u32,
        key: u32,
        window: u32,
        coverage: bool,
        tags: bool,
        min_count: u32,
        vocabulary: u32,
        seed: u64,
    ) -> PyResult<Self> {
        let corpus = Arc::clone(&corpus.inner);
        let options = Options {
            epochs,
            batch,
            rate,
            dropout,
            embedding,
            hidden,
            key,
            window,
            coverage,
            tags,
            min_count,
            vocabulary,
            seed,
        };
        let trainer = enter(py, 1, None, |_| Trainer::new(&corpus, &options))?;
        Ok(NeuralTrainer { trainer: Mutex::new(trainer) })
    }

    /// One pass over the text, from number 0: its steps, and the sum of ln P of right words.
    #[pyo3(signature = (number, *, threads, progress))]
    fn train(
        &self,
        py: Python<'_>,
        number: u32,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(u64, f64)> {
        let passed = enter(py, threads, progress, |job| {
            let mut trainer = self.trainer()?;
            job.begin(trainer.sentences() as u64);
            trainer.pass(number, &Lesson::Next, job)
        })?;
        Ok((passed.steps, passed.value))
    }

    /// All that passes have changed.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let state = enter(py, 1, None, |_| Ok(self.trainer()?.state()))?;
        Ok(PyBytes::new(py, &state))
    }

    /// Goes on from what `state` gave.
    fn restore(&self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        call(py, || self.trainer()?.restore(state))
    }

    /// The model as it is after so many passes.
    fn model(&self, py: Python<'_>, passes: u32) -> PyResult<NeuralModel> {
        enter(py, 1, None, |_| self.trainer()?.model(Head::Next, passes)).map(NeuralModel::new)
    }
}

impl NeuralTrainer {
    fn trainer(&self) -> wayword::Result<MutexGuard<'_, Trainer>> {
        self.trainer.lock().map_err(|_| Error::Argument {
            name: "trainer".into(),
            found: "one whose last pass failed".into(),
            expected: "a new one".into(),
        })
    }
}
