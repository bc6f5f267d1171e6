//! Python's view of `wayword::tune`.

use crate::border::{call, lend};
use crate::view::View;
use pyo3::prelude::*;
use std::sync::Arc;
use wayword::Job;
use wayword::error::Error;
use wayword::tune::{Crossings, Point, Pool};

/// The types of values, of steps and of candidates, as numpy names them.
const VALUES: &str = if cfg!(target_endian = "little") { "<f4" } else { ">f4" };
const STEPS: &str = if cfg!(target_endian = "little") { "<f8" } else { ">f8" };
const CANDIDATES: &str = if cfg!(target_endian = "little") { "<u4" } else { ">u4" };

/// Candidates as numbers; see `wayword.tune.pool`.
#[pyclass(module = "wayword._core")]
pub struct CandidatePool {
    inner: Arc<Pool>,
}

#[pymethods]
impl CandidatePool {
    /// A pool of so many features, still without candidates.
    #[new]
    fn new(width: usize) -> Self {
        CandidatePool { inner: Arc::new(Pool::new(width)) }
    }

    /// Adds candidates from the bytes of two arrays: float32 values, one feature after the other,
    /// and the uint32 number of candidates that each sentence gets.
    fn add(&mut self, py: Python<'_>, features: &[u8], counts: &[u8]) -> PyResult<()> {
        let pool = Arc::make_mut(&mut self.inner);
        call(py, || {
            let (values, rest) = features.as_chunks::<4>();
            let (numbers, rest_of_numbers) = counts.as_chunks::<4>();
            if !rest.is_empty() || !rest_of_numbers.is_empty() {
                return Err(Error::Argument {
                    name: "features".into(),
                    found: format!("{} and {} bytes", features.len(), counts.len()),
                    expected: "float32 values and uint32 numbers".into(),
                });
            }
            let values: Vec<f32> = values.iter().map(|&bytes| f32::from_ne_bytes(bytes)).collect();
            let counts: Vec<u32> = numbers.iter().map(|&bytes| u32::from_ne_bytes(bytes)).collect();
            pool.add(&values, &counts)
        })
    }

    /// The values of a feature.
    fn column(&self, py: Python<'_>, feature: usize) -> PyResult<View> {
        let column = call(py, || {
            self.inner.column(feature).ok_or_else(|| Error::Argument {
                name: "feature".into(),
                found: feature.to_string(),
                expected: format!("less than {}", self.inner.width()),
            })
        })?;
        Ok(View::of(column, VALUES, |column: &Vec<f32>| column))
    }

    /// Where the candidates of each sentence begin, and the end.
    #[getter]
    fn offsets(&self) -> View {
        View::of(self.inner.offsets(), CANDIDATES, |offsets: &Vec<u32>| offsets)
    }

    fn __len__(&self) -> usize {
        self.inner.len()
    }

    /// The point of these weights.
    fn point(&self, py: Python<'_>, weights: Vec<f64>) -> PyResult<WeightPoint> {
        let point = lend(py, || Point::new(Arc::clone(&self.inner), weights))?;
        Ok(WeightPoint { inner: point })
    }
}

/// A place in the space of weights; see `wayword.tune.pool`.
#[pyclass(module = "wayword._core")]
pub struct WeightPoint {
    inner: Point,
}

#[pymethods]
impl WeightPoint {
    #[getter]
    fn weights(&self) -> Vec<f64> {
        self.inner.weights().to_vec()
    }

    /// The best candidate of each sentence.
    fn best(&self, py: Python<'_>) -> PyResult<View> {
        lend(py, || Ok(self.inner.best())).map(candidates)
    }

    /// Moves along a direction.
    fn step(&mut self, py: Python<'_>, direction: Vec<f64>, step: f64) -> PyResult<()> {
        lend(py, || self.inner.step(&direction, step))
    }

    /// The first best candidates; then step, candidate before and candidate after each change.
    fn search(
        &self,
        py: Python<'_>,
        direction: Vec<f64>,
        gap: f64,
    ) -> PyResult<(View, View, View, View)> {
        let Crossings { first, changes } =
            lend(py, || self.inner.search(&direction, gap, &Job::default()))?;
        let steps = changes.iter().map(|change| change.step).collect();
        let from = changes.iter().map(|change| change.from).collect();
        let to = changes.iter().map(|change| change.to).collect();
        let steps: Arc<Vec<f64>> = Arc::new(steps);
        Ok((candidates(first), View::of(steps, STEPS, |own| own), candidates(from), candidates(to)))
    }
}

fn candidates(numbers: Vec<u32>) -> View {
    View::of(Arc::new(numbers), CANDIDATES, |own: &Vec<u32>| own)
}
