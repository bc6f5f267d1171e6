//! Python's view of `wayword::lm`.

use crate::border::{call, enter};
use crate::view::View;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBytes, PyDict};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use wayword::Job;
use wayword::corpus::LineReader;
use wayword::error::{Error, Place};
use wayword::lm::{self, LmLoadOptions, LmTrainOptions, NgramSource, SentenceScore};
use wayword::storage::NewFile;

/// The type of scores, as numpy names it.
const SCORES: &str = if cfg!(target_endian = "little") { "<f8" } else { ">f8" };
/// Lines between two looks at the job.
const BLOCK: usize = 1 << 12;

/// A language model; see `wayword.lm.LanguageModel`.
#[pyclass(frozen, module = "wayword._core")]
pub struct LanguageModel {
    pub inner: Arc<lm::Model>,
}

impl LanguageModel {
    fn new(model: lm::Model) -> Self {
        LanguageModel { inner: Arc::new(model) }
    }
}

#[pymethods]
impl LanguageModel {
    /// Opens a model of any form.
    #[staticmethod]
    #[pyo3(signature = (path, *, verify=false, in_memory=false, progress=None))]
    fn load(
        py: Python<'_>,
        path: PathBuf,
        verify: bool,
        in_memory: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let options = LmLoadOptions { verify, in_memory };
        enter(py, 1, progress, |job| lm::load(&path, options, job)).map(LanguageModel::new)
    }

    /// A model from what `to_bytes` gave.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        call(py, || lm::Model::from_copy(data)).map(LanguageModel::new)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.inner.bytes())
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        enter(py, 1, None, |_| {
            self.inner.verified()?;
            NewFile::save(&path, self.inner.bytes())
        })
    }

    #[pyo3(signature = (path, *, progress=None))]
    fn write_arpa(
        &self,
        py: Python<'_>,
        path: PathBuf,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        enter(py, 1, progress, |job| {
            self.inner.verified()?;
            lm::write_arpa(&*self.inner, &path, job)
        })
    }

    #[getter]
    fn path(&self) -> Option<PathBuf> {
        self.inner.path().map(Into::into)
    }

    #[getter]
    fn digest(&self) -> String {
        format!("{:016x}", self.inner.digest())
    }

    #[getter]
    fn size(&self) -> usize {
        self.inner.bytes().len()
    }

    #[getter]
    fn counts(&self) -> Vec<u64> {
        (1..=self.inner.order()).map(|order| self.inner.count(order)).collect()
    }

    fn knows(&self, word: &str) -> bool {
        self.inner.text_id(word) != lm::UNK
    }

    /// Score, score of known words, words and unknown words of a line.
    fn score_line(
        &self,
        py: Python<'_>,
        line: &str,
        bos: bool,
        eos: bool,
    ) -> PyResult<(f64, f64, u64, u64)> {
        call(py, || self.inner.verified())?;
        let sum = self.inner.score_line(line, (bos, eos));
        Ok((sum.score, sum.known_score, sum.tokens, sum.unknown))
    }

    /// Score, length of the n-gram found and whether it is unknown, of every word.
    fn word_scores(
        &self,
        py: Python<'_>,
        words: Vec<PyBackedStr>,
        bos: bool,
        eos: bool,
    ) -> PyResult<Vec<(f64, u8, bool)>> {
        call(py, || self.inner.verified())?;
        let mut scores = Vec::with_capacity(words.len() + 1);
        let ids = words.iter().map(|word| self.inner.text_id(word));
        self.inner.score_words(ids, (bos, eos), |word| {
            scores.push((f64::from(word.score), word.order, word.is_unknown));
        });
        Ok(scores)
    }

    /// The four numbers of `score_line` for each line, as rows.
    fn score_lines(
        &self,
        py: Python<'_>,
        lines: Vec<PyBackedStr>,
        bos: bool,
        eos: bool,
    ) -> PyResult<View> {
        let rows = enter(py, 1, None, |job| {
            let mut rows = Vec::with_capacity(lines.len());
            for (number, line) in lines.iter().enumerate() {
                rows.push(row(&self.inner.score_line(line, (bos, eos))));
                if number.is_multiple_of(BLOCK) {
                    job.check()?;
                }
            }
            self.inner.verified()?;
            Ok(rows)
        })?;
        Ok(View::of(Arc::new(rows), SCORES, |rows: &Vec<[f64; 4]>| rows).in_columns(4))
    }

    /// The same for the lines of a file.
    #[pyo3(signature = (path, bos, eos, *, progress=None))]
    fn score_file(
        &self,
        py: Python<'_>,
        path: PathBuf,
        bos: bool,
        eos: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<View> {
        let rows = enter(py, 1, progress, |job| {
            let mut lines = LineReader::open(&path)?;
            let mut rows = Vec::new();
            while let Some(line) = lines.next_str()? {
                rows.push(row(&self.inner.score_line(line, (bos, eos))));
                report(rows.len(), job)?;
            }
            self.inner.verified()?;
            Ok(rows)
        })?;
        Ok(View::of(Arc::new(rows), SCORES, |rows: &Vec<[f64; 4]>| rows).in_columns(4))
    }
}

fn row(sum: &SentenceScore) -> [f64; 4] {
    [sum.score, sum.known_score, sum.tokens as f64, sum.unknown as f64]
}

fn report(lines: usize, job: &Job) -> wayword::Result<()> {
    if lines.is_multiple_of(BLOCK) {
        job.check()?;
        job.advance(BLOCK as u64);
    }
    Ok(())
}

/// Collects the text of a model; see `wayword.lm.train`.
#[pyclass(frozen, module = "wayword._core")]
pub struct LanguageModelTrainer {
    corpus: Mutex<Option<lm::LmCorpus>>,
    memory: usize,
}

impl LanguageModelTrainer {
    /// Runs something with the corpus, which is there until the estimation.
    fn with<T>(
        &self,
        work: impl FnOnce(&mut lm::LmCorpus) -> wayword::Result<T>,
    ) -> wayword::Result<T> {
        let mut corpus = self.corpus.lock().expect("no panic while the lock is held");
        work(corpus.as_mut().ok_or_else(used)?)
    }
}

fn used() -> Error {
    Error::Argument {
        name: "text".into(),
        found: "a trainer that has made its model".into(),
        expected: "a new one".into(),
    }
}

#[pymethods]
impl LanguageModelTrainer {
    #[new]
    #[pyo3(signature = (*, memory, temp_dir=None))]
    fn new(memory: usize, temp_dir: Option<PathBuf>) -> Self {
        let corpus = lm::LmCorpus::new(memory, temp_dir.as_deref());
        LanguageModelTrainer { corpus: Mutex::new(Some(corpus)), memory }
    }

    /// Adds a batch of lines.
    fn extend(&self, py: Python<'_>, lines: Vec<PyBackedStr>) -> PyResult<()> {
        call(py, || {
            self.with(|corpus| {
                lines.iter().try_for_each(|line| {
                    let number = corpus.sentences() + 1;
                    corpus.push(line, || Place { file: "text".into(), line: Some(number) })
                })
            })
        })
    }

    /// Adds the lines of a file.
    #[pyo3(signature = (path, *, threads, progress=None))]
    fn read(
        &self,
        py: Python<'_>,
        path: PathBuf,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        enter(py, threads, progress, |job| self.with(|corpus| corpus.read(&path, job)))
    }

    /// Estimates the model; with `out` it is written there, as ARPA if asked for. An ARPA file
    /// is not opened again, so then there is a summary only.
    #[pyo3(signature = (*, order, prune, out, arpa, threads, progress))]
    #[expect(clippy::too_many_arguments, reason = "keyword-only; Python has the options")]
    fn finish<'py>(
        &self,
        py: Python<'py>,
        order: usize,
        prune: Vec<u64>,
        out: Option<PathBuf>,
        arpa: bool,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Option<LanguageModel>, Bound<'py, PyDict>)> {
        let options = LmTrainOptions { order, prune, memory: self.memory };
        let memory = self.memory;
        let (model, summary) = enter(py, threads, progress, |job| {
            let corpus = self.corpus.lock().expect("no panic while the lock is held").take();
            let estimate = lm::estimate(corpus.ok_or_else(used)?, &options, job)?;
            let summary = estimate.summary().clone();
            Ok((written(&estimate, out.as_deref(), arpa, memory, job)?, summary))
        })?;
        Ok((model.map(LanguageModel::new), summary_as_dict(py, &summary)?))
    }

    /// Counts n-grams of up to `order` words and writes them for `estimate_language_model`; gives
    /// the number of sentences.
    fn write_counts(&self, py: Python<'_>, path: PathBuf, order: usize) -> PyResult<u64> {
        let options = LmTrainOptions { order, prune: Vec::new(), memory: self.memory };
        enter(py, 1, None, |job| {
            let corpus = self.corpus.lock().expect("no panic while the lock is held").take();
            let corpus = corpus.ok_or_else(used)?;
            let sentences = corpus.sentences();
            lm::write_count_shard(corpus, &options, &path, job)?;
            Ok(sentences)
        })
    }
}

/// Estimates the model of a text from the counts of its parts; see `wayword.lm.merge`.
#[pyfunction]
#[pyo3(signature = (counts, *, prune, memory, out, threads, temp_dir=None, progress=None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub fn estimate_language_model<'py>(
    py: Python<'py>,
    counts: Vec<PathBuf>,
    prune: Vec<u64>,
    memory: usize,
    out: Option<PathBuf>,
    threads: usize,
    temp_dir: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(LanguageModel, Bound<'py, PyDict>)> {
    let (model, summary) = enter(py, threads, progress, |job| {
        let parts = lm::CountShards::open(&counts, temp_dir.as_deref())?;
        let options = LmTrainOptions { order: parts.order().max(1), prune, memory };
        let estimate = lm::estimate_from_shards(parts, &options, job)?;
        let summary = estimate.summary().clone();
        let model = match out.as_deref() {
            Some(path) => {
                lm::write_binary(&estimate, path, memory, job)?;
                lm::Model::open(path, false)?
            }
            None => lm::build_model(&estimate, memory, job)?,
        };
        Ok((model, summary))
    })?;
    Ok((LanguageModel::new(model), summary_as_dict(py, &summary)?))
}

/// Mixes models by weights; see `wayword.lm.mix`. With `out` the mixture is written there, as ARPA
/// if asked for; an ARPA file is not opened again.
#[pyfunction]
#[pyo3(signature = (models, weights, *, memory, out, arpa, temp_dir=None, progress=None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub fn mix_language_models(
    py: Python<'_>,
    models: Vec<Py<LanguageModel>>,
    weights: Vec<f64>,
    memory: usize,
    out: Option<PathBuf>,
    arpa: bool,
    temp_dir: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Option<LanguageModel>> {
    let models: Vec<_> = models.iter().map(|model| Arc::clone(&model.get().inner)).collect();
    let mixed = enter(py, 1, progress, |job| {
        let models: Vec<_> = models.iter().map(AsRef::as_ref).collect();
        let lists = lm::mix_models(&models, &weights, memory, temp_dir.as_deref(), job)?;
        written(&lists, out.as_deref(), arpa, memory, job)
    })?;
    Ok(mixed.map(LanguageModel::new))
}

/// Writes n-grams as a file of the kind that is wanted, or as a model in memory.
fn written(
    grams: &dyn NgramSource,
    out: Option<&Path>,
    arpa: bool,
    memory: usize,
    job: &Job,
) -> wayword::Result<Option<lm::Model>> {
    Ok(match out {
        Some(path) if arpa => {
            lm::write_arpa(grams, path, job)?;
            None
        }
        Some(path) => {
            lm::write_binary(grams, path, memory, job)?;
            Some(lm::Model::open(path, false)?)
        }
        None => Some(lm::build_model(grams, memory, job)?),
    })
}

fn summary_as_dict<'py>(
    py: Python<'py>,
    summary: &lm::LmTrainSummary,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let discounts: Vec<_> = summary.discounts.iter().map(|discount| discount.amounts).collect();
    dict.set_item("order", summary.counts.len())?;
    dict.set_item("sentences", summary.sentences)?;
    dict.set_item("words", summary.words)?;
    dict.set_item("counts", &summary.counts)?;
    dict.set_item("pruned", &summary.pruned)?;
    dict.set_item("discounts", discounts)?;
    dict.set_item("notes", &summary.notes)?;
    Ok(dict)
}
