//! Python's view of `wayword::align`.

use crate::border::{call, enter};
use crate::corpus::{Bitext, FLOATS, IDS, OFFSETS};
use crate::view::View;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;
use wayword::align::{self, Choice, FitOptions, Heuristic, Link, Method};
use wayword::error::{Error, named};

/// The name of the choice that is no heuristic.
const THRESHOLD: &str = "threshold";

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

/// A trained aligner; see `wayword.align.Aligner`.
#[pyclass(frozen, module = "wayword._core")]
pub struct Aligner {
    inner: align::Aligner,
}

#[pymethods]
impl Aligner {
    /// Learns from a bitext.
    #[staticmethod]
    #[pyo3(signature = (bitext, *, model, lexical_iterations, order_iterations, threads, progress))]
    fn fit(
        py: Python<'_>,
        bitext: &Bitext,
        model: &str,
        lexical_iterations: Option<usize>,
        order_iterations: Option<usize>,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let method = call(py, || named_method(model))?;
        let default = FitOptions::default();
        let options = FitOptions {
            method,
            lexical_iterations: lexical_iterations.unwrap_or(default.lexical_iterations),
            order_iterations: order_iterations.unwrap_or(default.order_iterations),
            ..default
        };
        let bitext = bitext.inner.clone();
        enter(py, threads, progress, |job| align::Aligner::fit(&bitext, &options, job))
            .map(|inner| Aligner { inner })
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        enter(py, 1, None, |_| align::Aligner::load(&path)).map(|inner| Aligner { inner })
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        enter(py, 1, None, |_| self.inner.save(&path))
    }

    /// Pairs, blank pairs, pairs too long, pairs of words; none after loading.
    #[getter]
    fn summary(&self) -> Option<(usize, usize, usize, usize)> {
        let seen = self.inner.summary()?;
        Some((seen.pairs, seen.blank, seen.too_long, seen.lexicon))
    }

    /// How often the words of a bitext's vocabulary are linked, on each side.
    fn link_rates(&self, py: Python<'_>, bitext: &Bitext) -> PyResult<(View, View)> {
        let bitext = bitext.inner.clone();
        let [src, tgt] = enter(py, 1, None, |_| Ok(self.inner.link_rates(bitext.vocab())))?;
        let view = |rates| View::of(Arc::new(rates), FLOATS, |rates: &Vec<f32>| rates.as_slice());
        Ok((view(src), view(tgt)))
    }

    /// Links and their posteriors.
    #[pyo3(signature = (bitext, *, symmetrise, threshold, threads, progress))]
    fn align(
        &self,
        py: Python<'_>,
        bitext: &Bitext,
        symmetrise: &str,
        threshold: Option<f32>,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Links, View)> {
        let choice = call(py, || named_choice(symmetrise, threshold))?;
        let bitext = bitext.inner.clone();
        let (links, posteriors) = enter(py, threads, progress, |job| {
            self.inner.decoder(bitext.vocab()).align(&bitext, choice, job)
        })?;
        let view = View::of(Arc::new(posteriors), FLOATS, |posteriors| posteriors.as_slice());
        Ok((Links::new(links), view))
    }
}

fn named_method(name: &str) -> wayword::Result<Method> {
    named("model", name, &[("hmm", Method::Hmm), ("diagonal", Method::Diagonal)])
}

fn named_choice(name: &str, threshold: Option<f32>) -> wayword::Result<Choice> {
    if name == THRESHOLD {
        return Ok(threshold.map_or_else(Choice::default, Choice::Threshold));
    }
    let heuristic = named_heuristic(name)?;
    match threshold {
        None => Ok(Choice::Heuristic(heuristic)),
        Some(value) => Err(Error::Argument {
            name: "threshold".into(),
            found: value.to_string(),
            expected: format!("none, as `{name}` has no threshold"),
        }),
    }
}

fn named_heuristic(name: &str) -> wayword::Result<Heuristic> {
    Heuristic::named(name).ok_or_else(|| Error::Argument {
        name: "symmetrise".into(),
        found: format!("`{name}`"),
        expected: symmetrisations().join(", "),
    })
}

/// Names of the ways to choose links, the default first.
#[pyfunction]
pub fn symmetrisations() -> Vec<&'static str> {
    std::iter::once(THRESHOLD).chain(Heuristic::ALL.map(|(name, _)| name)).collect()
}

/// Joins the links of two directions.
#[pyfunction]
pub fn symmetrise(
    py: Python<'_>,
    forward: &Links,
    reverse: &Links,
    bitext: &Bitext,
    heuristic: &str,
) -> PyResult<Links> {
    let heuristic = call(py, || named_heuristic(heuristic))?;
    let (forward, reverse, bitext) = (&forward.inner, &reverse.inner, &bitext.inner);
    enter(py, 1, None, |job| align::symmetrise_all(forward, reverse, bitext, heuristic, job))
        .map(Links::new)
}
