//! Python's view of `wayword::tune`.

use crate::border::{call, enter};
use crate::view::View;
use pyo3::prelude::*;
use std::sync::Arc;
use wayword::error::Error;
use wayword::tune::{Crossings, Point, Pool};

/// The types of steps and of candidates, as numpy names them.
const STEPS: &str = if cfg!(target_endian = "little") { "<f8" } else { ">f8" };
const CANDIDATES: &str = if cfg!(target_endian = "little") { "<u4" } else { ">u4" };

/// Candidates as numbers; see `wayword.tune.pool`.
#[pyclass(frozen, module = "wayword._core")]
pub struct CandidatePool {
    inner: Arc<Pool>,
}

#[pymethods]
impl CandidatePool {
    /// A pool from the bytes of two arrays: float64 values, one feature after the other, and
    /// uint32 offsets.
    #[new]
    #[pyo3(signature = (features, width, offsets, *, threads=1))]
    fn new(
        py: Python<'_>,
        features: &[u8],
        width: usize,
        offsets: &[u8],
        threads: usize,
    ) -> PyResult<Self> {
        let pool = enter(py, threads, None, |job| {
            let (values, rest) = features.as_chunks::<8>();
            let (places, rest_of_places) = offsets.as_chunks::<4>();
            if width == 0
                || values.len() % width != 0
                || !rest.is_empty()
                || !rest_of_places.is_empty()
            {
                return Err(Error::Argument {
                    name: "features".into(),
                    found: format!("{} bytes", features.len()),
                    expected: format!("float64 values of {width} features"),
                });
            }
            let values: Vec<f64> = values.iter().map(|&bytes| f64::from_ne_bytes(bytes)).collect();
            let count = (values.len() / width).max(1);
            let columns = values.chunks(count).map(<[f64]>::to_vec).collect();
            let offsets = places.iter().map(|&bytes| u32::from_ne_bytes(bytes)).collect();
            Pool::new(columns, offsets, job)
        })?;
        Ok(CandidatePool { inner: Arc::new(pool) })
    }

    fn __len__(&self) -> usize {
        self.inner.len()
    }

    /// The point of these weights.
    fn point(&self, py: Python<'_>, weights: Vec<f64>) -> PyResult<WeightPoint> {
        let point = enter(py, 1, None, |_| Point::new(Arc::clone(&self.inner), weights))?;
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
        enter(py, 1, None, |_| Ok(self.inner.best())).map(candidates)
    }

    /// Moves along a direction.
    fn step(&mut self, py: Python<'_>, direction: Vec<f64>, step: f64) -> PyResult<()> {
        call(py, || self.inner.step(&direction, step))
    }

    /// The first best candidates; then step, candidate before and candidate after each change.
    fn search(
        &self,
        py: Python<'_>,
        direction: Vec<f64>,
        gap: f64,
    ) -> PyResult<(View, View, View, View)> {
        let Crossings { first, changes } =
            enter(py, 1, None, |job| self.inner.search(&direction, gap, job))?;
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
