//! Python's view of `wayword::annotate`.

use crate::border::{call, enter};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBytes, PyDict};
use std::path::PathBuf;
use std::sync::Arc;
use wayword::annotate::{self, ClassOptions, FitOptions, Layers, Treebank, Worker};
use wayword::error::{Error, Place};
use wayword::parallel;

/// Sentences that a thread takes at once.
const BLOCK: usize = 32;

/// Words, tags and chunk labels of a sentence.
type Example = (Vec<PyBackedStr>, Vec<PyBackedStr>, Option<Vec<PyBackedStr>>);

/// Numbers of tags and of chunk labels.
type Found = (Vec<u16>, Option<Vec<u16>>);

/// A trained tagger; see `wayword.corpus.annotate.Tagger`.
#[pyclass(frozen, module = "wayword._core")]
pub struct Tagger {
    inner: Arc<annotate::Tagger>,
}

impl Tagger {
    fn new(tagger: annotate::Tagger) -> Self {
        Tagger { inner: Arc::new(tagger) }
    }
}

fn texts(list: &[PyBackedStr]) -> impl Iterator<Item = &str> {
    list.iter().map(|text| &**text)
}

#[pymethods]
impl Tagger {
    /// Learns from sentences, all with chunk labels or all without.
    #[staticmethod]
    #[pyo3(signature = (sentences, *, epochs, parts, seed, threads, progress))]
    fn fit(
        py: Python<'_>,
        sentences: Vec<Example>,
        epochs: usize,
        parts: usize,
        seed: u64,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let options = FitOptions { epochs, parts, seed };
        enter(py, threads, progress, |job| {
            let mut treebank = Treebank::default();
            for (words, tags, chunks) in &sentences {
                treebank.push(texts(words), texts(tags), chunks.as_deref().map(texts))?;
            }
            annotate::Tagger::fit(&treebank, options, job)
        })
        .map(Tagger::new)
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        enter(py, 1, None, |_| annotate::Tagger::load(&path)).map(Tagger::new)
    }

    /// A tagger from what `to_bytes` gave.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        let place = Place { file: "tagger".into(), line: None };
        call(py, || annotate::Tagger::from_bytes(data, &place)).map(Tagger::new)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.inner.to_bytes())
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        enter(py, 1, None, |_| self.inner.save(&path))
    }

    #[getter]
    fn tags(&self) -> Vec<String> {
        self.inner.tag_names().to_vec()
    }

    #[getter]
    fn chunks(&self) -> Option<Vec<String>> {
        self.inner.chunk_names().map(<[String]>::to_vec)
    }

    #[getter]
    fn features(&self) -> usize {
        self.inner.features()
    }

    /// Numbers of tags and of chunk labels, for each sentence.
    fn tag(
        &self,
        py: Python<'_>,
        sentences: Vec<Vec<PyBackedStr>>,
        threads: usize,
    ) -> PyResult<Vec<Found>> {
        let (layers, _) = enter(py, threads, None, |job| {
            let tag = |worker: &mut Worker, number: usize| {
                Ok(self.inner.tag(texts(&sentences[number]), worker))
            };
            parallel::map(sentences.len(), BLOCK, job, Worker::default, tag)
        })?;
        Ok(layers.into_iter().map(|Layers { tags, chunks }| (tags, chunks)).collect())
    }
}

/// A class for every word; see `wayword.corpus.annotate.Classes`.
#[pyclass(frozen, module = "wayword._core")]
pub struct WordClasses {
    inner: annotate::Classes,
}

#[pymethods]
impl WordClasses {
    /// Clusters the words of a file; the classes, and what came of it.
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "keyword-only; Python has the options")]
    #[pyo3(signature = (path, *, classes, min_count, rounds, seed, threads, progress))]
    fn fit<'py>(
        py: Python<'py>,
        path: PathBuf,
        classes: usize,
        min_count: u64,
        rounds: usize,
        seed: u64,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(WordClasses, Bound<'py, PyDict>)> {
        let options = ClassOptions { classes, min_count, rounds, seed };
        let (inner, summary) =
            enter(py, threads, progress, |job| annotate::Classes::fit(&path, options, job))?;
        let dict = PyDict::new(py);
        dict.set_item("words", summary.words)?;
        dict.set_item("units", summary.units)?;
        dict.set_item("moved", summary.moved)?;
        dict.set_item("likelihood", summary.likelihood)?;
        dict.set_item("random", summary.random)?;
        dict.set_item("by_frequency", summary.by_frequency)?;
        Ok((WordClasses { inner }, dict))
    }

    /// Classes from what `entries` gave.
    #[staticmethod]
    fn from_entries(py: Python<'_>, entries: Vec<(PyBackedStr, u32)>) -> PyResult<Self> {
        let classes = entries.iter().map(|(name, class)| (&**name, *class));
        let inner = call(py, || {
            annotate::Classes::from_entries(classes).map_err(|number| Error::Argument {
                name: "entries".into(),
                found: format!("`{}` twice", &*entries[number].0),
                expected: "every word once".into(),
            })
        })?;
        Ok(WordClasses { inner })
    }

    fn entries(&self) -> Vec<(&str, u32)> {
        self.inner.entries().collect()
    }

    /// The class of each word of each sentence.
    fn classify(&self, sentences: Vec<Vec<PyBackedStr>>) -> Vec<Vec<u32>> {
        let classes =
            |words: &Vec<PyBackedStr>| texts(words).map(|word| self.inner.class_of(word)).collect();
        sentences.iter().map(classes).collect()
    }
}
