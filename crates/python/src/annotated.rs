//! Python's view of annotated text with links, which models of word order learn from.

use crate::border::{call, enter};
use crate::view::View;
use pyo3::prelude::*;
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use wayword::align::Link;
use wayword::corpus::annotated::{Layer, Sentence};
use wayword::error::Error;
use wayword::narrow::{to_i32, to_i64};
use wayword::reorder::Corpus;
use wayword::reorder::lop::Reference;

/// The type of ranks, as numpy names it.
const RANKS: &str = if cfg!(target_endian = "little") { "<i4" } else { ">i4" };

/// Types, heads and starts of the chunks of each word.
type Chunks = (Vec<String>, Vec<u32>, Vec<u32>);
/// Words, tags, chunks.
pub type Layers = (Vec<String>, Option<Vec<String>>, Option<Chunks>);
/// Layers and links.
type Linked = (Layers, Vec<(u32, u32)>);
/// The annotated sentence of layers.
pub fn sentence((words, tags, chunks): &Layers) -> wayword::Result<Sentence<'_>> {
    let texts = |layer: &[String]| -> Vec<String> { layer.to_vec() };
    let owned = |layer: &[String]| texts(layer).into_iter().map(Cow::Owned).collect();
    let tags = tags.as_deref().map(owned).unwrap_or_default();
    let (types, heads, groups) = match chunks {
        Some((types, heads, groups)) => (owned(types), heads.clone(), groups.clone()),
        None => Default::default(),
    };
    Sentence::of_layers(owned(words), tags, types, heads, groups).ok_or_else(|| Error::Argument {
        name: "sentence".into(),
        found: format!("layers that do not fit {} words", words.len()),
        expected: "a tag, a chunk type, a head and a start for each word".into(),
    })
}

/// Annotated sentences with their links; see `wayword.reorder.corpus`.
#[pyclass(frozen, module = "wayword._core")]
pub struct LinkedText {
    pub inner: Arc<Corpus>,
}

#[pymethods]
impl LinkedText {
    /// Reads factored source text, target text and links.
    #[staticmethod]
    #[pyo3(signature = (src, tgt, links, *, progress=None))]
    fn read(
        py: Python<'_>,
        src: PathBuf,
        tgt: PathBuf,
        links: PathBuf,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        enter(py, 1, progress, |job| Corpus::read(&src, &tgt, &links, job))
            .map(|corpus| LinkedText { inner: Arc::new(corpus) })
    }

    #[staticmethod]
    fn from_lists(py: Python<'_>, sentences: Vec<Linked>) -> PyResult<Self> {
        call(py, || {
            let mut corpus = Corpus::default();
            for (layers, links) in &sentences {
                let links: Vec<Link> =
                    links.iter().map(|&(src, tgt)| Link::new(src, tgt)).collect();
                corpus.push(&sentence(layers)?, &links)?;
            }
            Ok(LinkedText { inner: Arc::new(corpus) })
        })
    }

    fn __len__(&self) -> usize {
        self.inner.len()
    }

    #[getter]
    fn words(&self) -> usize {
        self.inner.text().words()
    }

    #[getter]
    fn has_tags(&self) -> bool {
        self.inner.text().annotation().tags
    }

    #[getter]
    fn has_chunks(&self) -> bool {
        self.inner.text().annotation().chunks
    }

    /// Numbers of words, sentence by sentence.
    #[getter]
    fn lengths(&self) -> Vec<usize> {
        (0..self.inner.len()).map(|number| self.inner.text().range(number).len()).collect()
    }

    /// The sentences from one number up to another.
    fn part(&self, py: Python<'_>, start: usize, end: usize) -> PyResult<Self> {
        enter(py, 1, None, |_| self.inner.part(start..end))
            .map(|corpus| LinkedText { inner: Arc::new(corpus) })
    }

    /// The words of every sentence.
    fn sentences(&self) -> Vec<Vec<String>> {
        let words = |number| {
            let sentence = self.inner.text().sentence(number);
            let positions = 1..=to_i64(sentence.len());
            positions.map(|at| sentence.at(Layer::Word, at).to_owned()).collect()
        };
        (0..self.inner.len()).map(words).collect()
    }

    /// The rank of each word by its links, sentence after sentence; -1 for a word without one.
    fn ranks(&self, py: Python<'_>, reference: &str) -> PyResult<View> {
        let ranks = call(py, || {
            let reference = Reference::named(reference)?;
            let text = self.inner.text();
            let of_sentence = |number: usize| {
                let ranks = reference.ranks(text.range(number).len(), self.inner.links(number));
                ranks.into_iter().map(|rank| rank.map_or(-1, to_i32))
            };
            Ok((0..self.inner.len()).flat_map(of_sentence).collect::<Vec<i32>>())
        })?;
        Ok(View::of(Arc::new(ranks), RANKS, |ranks: &Vec<i32>| ranks))
    }
}
