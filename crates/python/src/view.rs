//! Arrays of the core that numpy reads without a copy.
//!
//! A view owns its data (or shares the owner) and tells numpy where it lies through the array
//! interface; `numpy.asarray(view)` keeps the view alive. The data never changes.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// Something that lends a slice for as long as it lives.
type Lend = Box<dyn Fn() -> (usize, usize) + Send + Sync>;

/// A read-only array of integers, one-dimensional or of pairs.
#[pyclass(frozen, module = "wayword._core")]
pub struct View {
    lend: Lend,
    kind: &'static str,
    columns: usize,
}

impl View {
    /// A view of a slice that `owner` holds; `kind` is the type of a number in it, as numpy
    /// names it.
    pub fn of<O, T>(owner: Arc<O>, kind: &'static str, slice: fn(&O) -> &[T]) -> Self
    where
        O: Send + Sync + 'static,
        T: 'static,
    {
        let lend = move || {
            let slice = slice(&owner);
            (slice.as_ptr() as usize, slice.len())
        };
        View { lend: Box::new(lend), kind, columns: 1 }
    }

    /// The same, where each item is several numbers of one type in a row.
    pub fn in_columns(self, columns: usize) -> Self {
        View { columns, ..self }
    }
}

#[pymethods]
impl View {
    fn __len__(&self) -> usize {
        (self.lend)().1
    }

    /// numpy's array interface, version 3.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (address, length) = (self.lend)();
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("typestr", self.kind)?;
        match self.columns {
            1 => interface.set_item("shape", (length,))?,
            columns => interface.set_item("shape", (length, columns))?,
        }
        interface.set_item("data", (address, true))?;
        Ok(interface)
    }
}
