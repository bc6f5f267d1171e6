//! Python's view of `wayword::tune`.

use crate::border::{call, lend};
use crate::view::View;
use pyo3::prelude::*;
use std::sync::Arc;
use wayword::Job;
use wayword::error::Error;
use wayword::tune::{Point, Pool, Rows, Statistics};

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
        lend(py, || Ok(self.inner.best().to_vec())).map(candidates)
    }

    /// Moves along a direction.
    fn step(&mut self, py: Python<'_>, direction: Vec<f64>, step: f64) -> PyResult<()> {
        lend(py, || self.inner.step(&direction, step))
    }

    /// The step of each change along a direction; and for each number of the statistics, one after
    /// the other, the sums between the changes.
    fn search(
        &self,
        py: Python<'_>,
        direction: Vec<f64>,
        gap: f64,
        statistics: &CandidateStatistics,
    ) -> PyResult<(View, View)> {
        let (steps, sums) = lend(py, || {
            let crossings = self.inner.search(&direction, gap, &Job::default())?;
            let steps: Vec<f64> = crossings.changes.iter().map(|change| change.step).collect();
            Ok((steps, statistics.inner.sums(&crossings)?))
        })?;
        let view = |numbers: Vec<f64>| View::of(Arc::new(numbers), STEPS, |own: &Vec<f64>| own);
        Ok((view(steps), view(sums)))
    }
}

/// The statistics of all candidates; see `wayword.tune.pool`.
#[pyclass(frozen, module = "wayword._core")]
pub struct CandidateStatistics {
    inner: Statistics,
}

#[pymethods]
impl CandidateStatistics {
    /// From the bytes of two arrays: rows of `width` numbers of `size` bytes each (2 and 4: whole
    /// ones, 8: float64), and for each candidate the uint32 number of its row.
    #[new]
    fn new(
        py: Python<'_>,
        rows: &[u8],
        size: usize,
        width: usize,
        places: &[u8],
    ) -> PyResult<Self> {
        let statistics = call(py, || {
            let rows = match size {
                2 => Rows::Short(numbers(rows, u16::from_ne_bytes)),
                4 => Rows::Long(numbers(rows, u32::from_ne_bytes)),
                8 => Rows::Real(numbers(rows, f64::from_ne_bytes)),
                _ => {
                    return Err(Error::Argument {
                        name: "size".into(),
                        found: size.to_string(),
                        expected: "2, 4 or 8 bytes a number".into(),
                    });
                }
            };
            Statistics::new(rows, width, numbers(places, u32::from_ne_bytes))
        })?;
        Ok(CandidateStatistics { inner: statistics })
    }
}

/// Numbers from their bytes.
fn numbers<const N: usize, T>(bytes: &[u8], number: fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks::<N>().0.iter().map(|&bytes| number(bytes)).collect()
}

fn candidates(numbers: Vec<u32>) -> View {
    View::of(Arc::new(numbers), CANDIDATES, |own: &Vec<u32>| own)
}
