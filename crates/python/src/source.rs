//! Python's view of a sentence to be translated: words, layers, markup, given numbers.

use crate::border::call;
use pyo3::prelude::*;
use std::sync::Arc;
use wayword::decode::{MarkedSentence, MarkupMode, TranslationRequest};
use wayword::error::Place;
use wayword::feature::{ChunkAnnotation, NamedMatrix, SourceSentence};

/// Types, heads and starts of the chunks of each word.
type GivenChunks = (Vec<String>, Vec<u32>, Vec<u32>);

/// What tags in a line demand of its translation; see `wayword.decode.markup`.
#[pyclass(frozen, module = "wayword._core")]
pub struct Markup {
    inner: Arc<MarkedSentence>,
    /// What it was read from, for pickles.
    line: String,
    mode: String,
    place: (String, u64),
}

#[pymethods]
impl Markup {
    /// Reads a line; `file` and `number` tell where it comes from.
    #[new]
    fn new(
        py: Python<'_>,
        line: String,
        mode: String,
        file: String,
        number: u64,
    ) -> PyResult<Self> {
        let inner = call(py, || {
            let place = Place { file: file.clone(), line: Some(number) };
            MarkedSentence::parse(&line, MarkupMode::named(&mode)?, &place)
        })?;
        Ok(Markup { inner: Arc::new(inner), line, mode, place: (file, number) })
    }

    /// The words of the line.
    #[getter]
    fn words(&self) -> Vec<String> {
        self.inner.words().to_vec()
    }

    /// Whether it demands nothing.
    #[getter]
    fn is_empty(&self) -> bool {
        let markup = self.inner.markup();
        markup.given().is_empty() && markup.constraints().is_empty()
    }

    fn __len__(&self) -> usize {
        self.inner.words().len()
    }

    fn __getnewargs__(&self) -> (&str, &str, &str, u64) {
        (&self.line, &self.mode, &self.place.0, self.place.1)
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.inner == other.inner
    }

    fn __hash__(&self) -> usize {
        self.inner.words().len()
    }
}

/// A sentence to be translated; see `wayword.corpus.source`.
#[pyclass(frozen, module = "wayword._core")]
pub struct Source {
    held: Arc<Held>,
}

/// The text and the numbers of a sentence.
pub struct Held {
    words: Vec<String>,
    tags: Option<Vec<String>>,
    chunks: Option<GivenChunks>,
    markup: Option<Arc<MarkedSentence>>,
    /// Log probabilities by path feature.
    matrices: Vec<(String, Vec<f32>)>,
}

#[pymethods]
impl Source {
    /// Matrices come by the name of their path feature, as bytes of 32-bit floats.
    #[new]
    #[pyo3(signature = (words, *, tags, chunks, markup, matrices))]
    fn new(
        words: Vec<String>,
        tags: Option<Vec<String>>,
        chunks: Option<GivenChunks>,
        markup: Option<&Markup>,
        matrices: Vec<(String, Vec<u8>)>,
    ) -> Self {
        let markup = markup.map(|markup| Arc::clone(&markup.inner));
        let named = |(name, bytes): (String, Vec<u8>)| (name, floats(&bytes));
        let matrices = matrices.into_iter().map(named).collect();
        Source { held: Arc::new(Held { words, tags, chunks, markup, matrices }) }
    }
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    let (numbers, _) = bytes.as_chunks();
    numbers.iter().map(|number| f32::from_ne_bytes(*number)).collect()
}

/// The sentences that Python holds.
pub fn held(sources: &[PyRef<'_, Source>]) -> Vec<Arc<Held>> {
    sources.iter().map(|source| Arc::clone(&source.held)).collect()
}

/// References to the parts of a sentence.
struct Borrowed<'a> {
    words: Vec<&'a str>,
    tags: Option<Vec<&'a str>>,
    types: Option<Vec<&'a str>>,
    matrices: Vec<NamedMatrix<'a>>,
}

fn texts(layer: &[String]) -> Vec<&str> {
    layer.iter().map(String::as_str).collect()
}

impl Held {
    fn borrowed(&self) -> Borrowed<'_> {
        Borrowed {
            words: texts(&self.words),
            tags: self.tags.as_deref().map(texts),
            types: self.chunks.as_ref().map(|(types, _, _)| texts(types)),
            matrices: self
                .matrices
                .iter()
                .map(|(feature, cells)| NamedMatrix { feature, cells })
                .collect(),
        }
    }
}

/// Runs something with the requests that sentences stand for.
pub fn with_requests<T>(held: &[Arc<Held>], run: impl FnOnce(&[TranslationRequest<'_>]) -> T) -> T {
    let borrowed: Vec<Borrowed<'_>> = held.iter().map(|held| held.borrowed()).collect();
    let requests: Vec<TranslationRequest<'_>> = borrowed
        .iter()
        .zip(held)
        .enumerate()
        .map(|(number, (parts, held))| {
            let chunks = parts.types.as_deref().zip(held.chunks.as_ref());
            let source = SourceSentence {
                words: &parts.words,
                tags: parts.tags.as_deref(),
                chunks: chunks.map(|(types, (_, heads, starts))| ChunkAnnotation {
                    types,
                    heads,
                    starts,
                }),
                matrices: &parts.matrices,
                number,
            };
            TranslationRequest {
                source,
                markup: held.markup.as_deref().map(MarkedSentence::markup),
            }
        })
        .collect();
    run(&requests)
}
