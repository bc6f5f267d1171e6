//! Python's view of `wayword::align`.

use crate::border::{call, enter};
use crate::corpus::{Bitext, FLOATS, IDS, OFFSETS};
use crate::view::View;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;
use wayword::align::{
    self, AlignmentModel, FeatureRow, Link, LinkSelection, SymmetrizationHeuristic,
};
use wayword::error::{Error, named};

/// The name of the choice that is no heuristic.
const THRESHOLD: &str = "threshold";

/// The links of many sentence pairs; see `wayword.align.Links`.
#[pyclass(frozen, module = "wayword._core")]
pub struct Links {
    pub inner: Arc<align::WordAlignments>,
}

impl Links {
    pub fn new(links: align::WordAlignments) -> Self {
        Links { inner: Arc::new(links) }
    }
}

#[pymethods]
impl Links {
    /// Reads Pharaoh lines that belong to a bitext.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf, bitext: &Bitext) -> PyResult<Self> {
        let bitext = bitext.inner.clone();
        enter(py, 1, None, |job| align::WordAlignments::read(&path, &bitext, job)).map(Links::new)
    }

    #[staticmethod]
    fn from_lists(py: Python<'_>, sentences: Vec<Vec<(u32, u32)>>) -> PyResult<Self> {
        call(py, || {
            let mut links = align::WordAlignments::default();
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
            align::WordAlignments::write_sentence(self.inner.sentence(number), &mut line);
            line
        };
        call(py, || Ok((start..end.min(self.inner.len())).map(line).collect()))
    }
}

/// How an aligner is trained.
#[pyclass(frozen, module = "wayword._core")]
pub struct FitOptions {
    pub inner: align::AlignerOptions,
}

#[pymethods]
impl FitOptions {
    #[new]
    #[pyo3(signature = (*, model, lexical_iterations, order_iterations, memory, temp_dir))]
    fn new(
        py: Python<'_>,
        model: &str,
        lexical_iterations: Option<usize>,
        order_iterations: Option<usize>,
        memory: usize,
        temp_dir: Option<PathBuf>,
    ) -> PyResult<Self> {
        let method = call(py, || named_method(model))?;
        let default = align::AlignerOptions::default();
        let inner = align::AlignerOptions {
            method,
            lexical_iterations: lexical_iterations.unwrap_or(default.lexical_iterations),
            order_iterations: order_iterations.unwrap_or(default.order_iterations),
            memory,
            temp_dir,
            ..default
        };
        Ok(FitOptions { inner })
    }
}

/// A trained aligner; see `wayword.align.Aligner`.
#[pyclass(frozen, module = "wayword._core")]
pub struct Aligner {
    pub inner: align::Aligner,
}

#[pymethods]
impl Aligner {
    /// Learns from a bitext.
    #[staticmethod]
    #[pyo3(signature = (bitext, options, *, threads, progress))]
    fn fit(
        py: Python<'_>,
        bitext: &Bitext,
        options: &FitOptions,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let bitext = bitext.inner.clone();
        enter(py, threads, progress, |job| align::Aligner::fit(&bitext, &options.inner, job))
            .map(|inner| Aligner { inner })
    }

    /// Learns from pairs of files of lines, which are never held whole.
    #[staticmethod]
    #[pyo3(signature = (files, options, *, threads, progress))]
    fn fit_files(
        py: Python<'_>,
        files: Vec<(PathBuf, PathBuf)>,
        options: &FitOptions,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        enter(py, threads, progress, |job| align::Aligner::fit_files(&files, &options.inner, job))
            .map(|inner| Aligner { inner })
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        enter(py, 1, None, |_| align::Aligner::load(&path)).map(|inner| Aligner { inner })
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        enter(py, 1, None, |_| self.inner.save(&path))
    }

    /// Pairs, blank pairs, pairs too long, pairs of words, those without room; none after loading.
    #[getter]
    fn summary(&self) -> Option<(usize, usize, usize, usize, u64)> {
        let seen = self.inner.summary()?;
        Some((seen.pairs, seen.blank, seen.too_long, seen.lexicon, seen.no_room))
    }

    /// How often the words of a bitext's vocabulary are linked, on each side.
    fn link_rates(&self, py: Python<'_>, bitext: &Bitext) -> PyResult<(View, View)> {
        let bitext = bitext.inner.clone();
        let [src, tgt] = enter(py, 1, None, |_| Ok(self.inner.link_rates(bitext.vocab())))?;
        let view = |rates| View::of(Arc::new(rates), FLOATS, |rates: &Vec<f32>| rates.as_slice());
        Ok((view(src), view(tgt)))
    }

    /// How features make a score; empty as long as nothing was fitted.
    #[getter]
    fn calibration(&self) -> Vec<f32> {
        self.inner.calibration().to_vec()
    }

    /// The same aligner with another calibration.
    fn calibrated(&self, py: Python<'_>, calibration: Vec<f32>) -> PyResult<Self> {
        call(py, || self.inner.calibrated(calibration)).map(|inner| Aligner { inner })
    }

    /// Links, their posteriors, and a row of features for each pair if `features`.
    #[pyo3(signature = (bitext, *, symmetrise, threshold, features, threads, progress))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn align(
        &self,
        py: Python<'_>,
        bitext: &Bitext,
        symmetrise: &str,
        threshold: Option<f32>,
        features: bool,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Links, View, View)> {
        let choice = call(py, || named_choice(symmetrise, threshold))?;
        let bitext = bitext.inner.clone();
        let aligned = enter(py, threads, progress, |job| {
            self.inner.text_aligner(bitext.vocab()).align(&bitext, choice, features, job)
        })?;
        let floats = |values: Vec<f32>| {
            View::of(Arc::new(values), FLOATS, |values: &Vec<f32>| values.as_slice())
        };
        let rows = View::of(Arc::new(aligned.features), FLOATS, |rows: &Vec<FeatureRow>| &rows[..])
            .in_columns(align::FEATURES);
        Ok((Links::new(aligned.links), floats(aligned.posteriors), rows))
    }
}

fn named_method(name: &str) -> wayword::Result<AlignmentModel> {
    named("model", name, &[("hmm", AlignmentModel::Hmm), ("diagonal", AlignmentModel::Diagonal)])
}

fn named_choice(name: &str, threshold: Option<f32>) -> wayword::Result<LinkSelection> {
    if name == THRESHOLD {
        return Ok(threshold.map_or_else(LinkSelection::default, LinkSelection::Threshold));
    }
    let heuristic = named_heuristic(name)?;
    match threshold {
        None => Ok(LinkSelection::Heuristic(heuristic)),
        Some(value) => Err(Error::Argument {
            name: "threshold".into(),
            found: value.to_string(),
            expected: format!("none, as `{name}` has no threshold"),
        }),
    }
}

fn named_heuristic(name: &str) -> wayword::Result<SymmetrizationHeuristic> {
    SymmetrizationHeuristic::named(name).ok_or_else(|| Error::Argument {
        name: "symmetrise".into(),
        found: format!("`{name}`"),
        expected: symmetrisations().join(", "),
    })
}

/// Names of the ways to choose links, the default first.
#[pyfunction]
pub fn symmetrisations() -> Vec<&'static str> {
    std::iter::once(THRESHOLD).chain(SymmetrizationHeuristic::ALL.map(|(name, _)| name)).collect()
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
    enter(py, 1, None, |job| align::symmetrize_all(forward, reverse, bitext, heuristic, job))
        .map(Links::new)
}
