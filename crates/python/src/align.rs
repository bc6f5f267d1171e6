//! Python's view of `wayword::align`.

use crate::border::{call, enter};
use crate::corpus::{Bitext, IDS, OFFSETS};
use crate::view::View;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;
use wayword::align::{self, Link};

/// The links of many sentence pairs; see `wayword.align.Links`.
#[pyclass(frozen, module = "wayword._core")]
pub struct Links {
    pub inner: Arc<align::Links>,
}

impl Links {
    pub fn new(links: align::Links) -> Self {
        Links { inner: Arc::new(links) }
    }
}

#[pymethods]
impl Links {
    /// Reads Pharaoh lines that belong to a bitext.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf, bitext: &Bitext) -> PyResult<Self> {
        let bitext = bitext.inner.clone();
        enter(py, 1, None, |job| align::Links::read(&path, &bitext, job)).map(Links::new)
    }

    #[staticmethod]
    fn from_lists(py: Python<'_>, sentences: Vec<Vec<(u32, u32)>>) -> PyResult<Self> {
        call(py, || {
            let mut links = align::Links::default();
            for sentence in sentences {
                links.push(sentence.into_iter().map(|(src, tgt)| Link::new(src, tgt)));
            }
            Ok(Links::new(links))
        })
    }

    fn __len__(&self) -> usize {
        self.inner.len()
    }

    #[getter]
    fn flat(&self) -> View {
        View::of(self.inner.clone(), IDS, |links| links.flat()).in_columns(2)
    }

    #[getter]
    fn offsets(&self) -> View {
        View::of(self.inner.clone(), OFFSETS, |links| links.offsets())
    }

    /// Pharaoh lines of the sentences `start..end`.
    fn lines(&self, py: Python<'_>, start: usize, end: usize) -> PyResult<Vec<String>> {
        let line = |number| {
            let mut line = String::new();
            align::Links::write_sentence(self.inner.sentence(number), &mut line);
            line
        };
        call(py, || Ok((start..end.min(self.inner.len())).map(line).collect()))
    }
}
