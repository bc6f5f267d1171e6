//! Python's view of path features: features of the decoder that depend on the path taken.

use crate::border::call;
use crate::lop::LopModel;
use crate::neural::NeuralModel;
use crate::waw::WawModel;
use pyo3::prelude::*;
use std::sync::Arc;
use wayword::feature::PathFeature as Seat;
use wayword::reorder::jump::{Jumps, Scores};
use wayword::reorder::lop::Lop;

/// A path feature at its seat; see `wayword.reorder.feature`.
#[pyclass(frozen, module = "wayword._core")]
pub struct PathFeature {
    pub inner: Arc<dyn Seat>,
}

impl PathFeature {
    fn of(py: Python<'_>, name: &str, scores: Scores) -> PyResult<Self> {
        let jumps = call(py, || Jumps::new(name, scores))?;
        Ok(PathFeature { inner: Arc::new(jumps) })
    }
}

#[pymethods]
impl PathFeature {
    /// A word-after-word model.
    #[staticmethod]
    fn waw(py: Python<'_>, name: &str, model: &WawModel) -> PyResult<Self> {
        let model = Arc::clone(&model.inner);
        PathFeature::of(py, name, Scores::Model(model))
    }

    /// A network.
    #[staticmethod]
    fn neural(py: Python<'_>, name: &str, model: &NeuralModel) -> PyResult<Self> {
        let model = Arc::clone(&model.inner);
        PathFeature::of(py, name, Scores::Model(model))
    }

    /// A linear-ordering model.
    #[staticmethod]
    fn lop(py: Python<'_>, name: &str, model: &LopModel) -> PyResult<Self> {
        let lop = call(py, || Lop::new(name, Arc::clone(&model.inner)))?;
        Ok(PathFeature { inner: Arc::new(lop) })
    }

    /// Numbers that come with each sentence.
    #[staticmethod]
    fn given(py: Python<'_>, name: &str) -> PyResult<Self> {
        PathFeature::of(py, name, Scores::Given)
    }

    /// The name its weight goes by.
    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }
}
