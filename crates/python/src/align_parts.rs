//! Python's view of `wayword::align::sharded_training`: the tasks of a training over parts of a text.

use crate::align::{Aligner, FitOptions};
use crate::border::enter;
use pyo3::prelude::*;
use std::path::PathBuf;
use wayword::align::sharded_training;

type Files = Vec<(PathBuf, PathBuf)>;

/// The tasks; see `wayword.align.parts`.
#[pyclass(frozen, module = "wayword._core")]
pub struct AlignTasks;

#[pymethods]
impl AlignTasks {
    /// Counts the words of a part.
    #[staticmethod]
    fn count_words(py: Python<'_>, files: Files, out: PathBuf) -> PyResult<()> {
        enter(py, 1, None, |job| sharded_training::count_words(&files, &out, job))
    }

    /// Numbers the words of all parts.
    #[staticmethod]
    fn number_words(py: Python<'_>, counts: Vec<PathBuf>, out: PathBuf) -> PyResult<()> {
        enter(py, 1, None, |job| sharded_training::number_words(&counts, &out, job))
    }

    /// Writes a part in numbers.
    #[staticmethod]
    fn write_shard(
        py: Python<'_>,
        files: Files,
        names: PathBuf,
        options: &FitOptions,
        out: PathBuf,
    ) -> PyResult<()> {
        enter(py, 1, None, |job| {
            sharded_training::write_shard(&files, &names, &options.inner, &out, job)
        })
    }

    /// Counts which words of a part occur together.
    #[staticmethod]
    fn count_pairs(
        py: Python<'_>,
        shard: PathBuf,
        names: PathBuf,
        options: &FitOptions,
        out: PathBuf,
        threads: usize,
    ) -> PyResult<()> {
        enter(py, threads, None, |job| {
            sharded_training::count_pairs(&shard, &names, &options.inner, &out, job)
        })
    }

    /// Makes the first state.
    #[staticmethod]
    fn start(
        py: Python<'_>,
        pairs: Vec<PathBuf>,
        names: PathBuf,
        options: &FitOptions,
        out: PathBuf,
    ) -> PyResult<()> {
        enter(py, 1, None, |job| sharded_training::start(&pairs, &names, &options.inner, &out, job))
    }

    /// Counts the links of a part.
    #[staticmethod]
    fn expect(
        py: Python<'_>,
        shard: PathBuf,
        state: PathBuf,
        options: &FitOptions,
        out: PathBuf,
        threads: usize,
    ) -> PyResult<()> {
        enter(py, threads, None, |job| {
            sharded_training::expect(&shard, &state, &options.inner, &out, job)
        })
    }

    /// Makes the next state; whether it is the last.
    #[staticmethod]
    fn update(
        py: Python<'_>,
        state: PathBuf,
        counts: Vec<PathBuf>,
        options: &FitOptions,
        out: PathBuf,
    ) -> PyResult<bool> {
        enter(py, 1, None, |job| {
            sharded_training::update(&state, &counts, &options.inner, &out, job)
        })
    }

    /// The aligner of the last state.
    #[staticmethod]
    fn finish(
        py: Python<'_>,
        state: PathBuf,
        names: PathBuf,
        options: &FitOptions,
    ) -> PyResult<Aligner> {
        enter(py, 1, None, |_| sharded_training::finish(&state, &names, &options.inner))
            .map(|inner| Aligner { inner })
    }
}
