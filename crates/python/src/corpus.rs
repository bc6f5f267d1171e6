//! Python's view of `wayword::corpus`.

use crate::border::{call, enter};
use crate::view::View;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use std::borrow::Cow;
use std::io::Read;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use wayword::corpus::doctor::Piece;
use wayword::corpus::{self, CleanFiles, DoctorOptions, Layout, Problem, ReadOptions, Side};
use wayword::error::Error;

/// The types of word ids, offsets and scores, as numpy names them.
pub const IDS: &str = if cfg!(target_endian = "little") { "<u4" } else { ">u4" };
pub const FLOATS: &str = if cfg!(target_endian = "little") { "<f4" } else { ">f4" };
pub const OFFSETS: &str = if cfg!(target_endian = "little") { "<u8" } else { ">u8" };

/// Sentence pairs as word ids; see `wayword.corpus.Bitext`.
#[pyclass(frozen, module = "wayword._core")]
pub struct Bitext {
    pub inner: Arc<corpus::Bitext>,
}

impl Bitext {
    fn new(bitext: corpus::Bitext) -> Self {
        Bitext { inner: Arc::new(bitext) }
    }

    fn words(&self, text: &corpus::Text, number: usize) -> PyResult<Vec<&str>> {
        if number >= text.len() {
            return Err(PyIndexError::new_err("no such sentence pair"));
        }
        Ok(text.sentence(number).iter().map(|&id| self.inner.vocab().word(id)).collect())
    }
}

#[pymethods]
impl Bitext {
    /// Reads two line-aligned files.
    #[staticmethod]
    #[pyo3(signature = (src, tgt, *, nfc=false, progress=None))]
    fn read_files(
        py: Python<'_>,
        src: PathBuf,
        tgt: PathBuf,
        nfc: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let layout = Layout::Files(src, tgt);
        enter(py, 1, progress, |job| corpus::Bitext::read(&layout, ReadOptions { nfc }, job))
            .map(Bitext::new)
    }

    /// Reads one file with both sides on each line.
    #[staticmethod]
    #[pyo3(signature = (path, separator, *, nfc=false, progress=None))]
    fn read_columns(
        py: Python<'_>,
        path: PathBuf,
        separator: String,
        nfc: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let layout = Layout::Columns(path, separator);
        enter(py, 1, progress, |job| corpus::Bitext::read(&layout, ReadOptions { nfc }, job))
            .map(Bitext::new)
    }

    fn __len__(&self) -> usize {
        self.inner.len()
    }

    fn src_words(&self, number: usize) -> PyResult<Vec<&str>> {
        self.words(self.inner.src(), number)
    }

    fn tgt_words(&self, number: usize) -> PyResult<Vec<&str>> {
        self.words(self.inner.tgt(), number)
    }

    #[getter]
    fn src_ids(&self) -> View {
        View::of(self.inner.clone(), IDS, |bitext| bitext.src().ids())
    }

    #[getter]
    fn tgt_ids(&self) -> View {
        View::of(self.inner.clone(), IDS, |bitext| bitext.tgt().ids())
    }

    #[getter]
    fn src_offsets(&self) -> View {
        View::of(self.inner.clone(), OFFSETS, |bitext| bitext.src().offsets())
    }

    #[getter]
    fn tgt_offsets(&self) -> View {
        View::of(self.inner.clone(), OFFSETS, |bitext| bitext.tgt().offsets())
    }

    #[getter]
    fn vocab_size(&self) -> usize {
        self.inner.vocab().len()
    }

    fn word(&self, id: u32) -> PyResult<&str> {
        if id as usize >= self.inner.vocab().len() {
            return Err(PyIndexError::new_err("no such word id"));
        }
        Ok(self.inner.vocab().word(id))
    }

    fn id(&self, word: &str) -> Option<u32> {
        self.inner.vocab().id(word)
    }
}

/// Collects sentence pairs that Python reads.
#[pyclass(frozen, module = "wayword._core")]
pub struct BitextBuilder {
    inner: Mutex<corpus::Bitext>,
    options: ReadOptions,
}

#[pymethods]
impl BitextBuilder {
    #[new]
    #[pyo3(signature = (*, nfc=false))]
    fn new(nfc: bool) -> Self {
        BitextBuilder { inner: Mutex::default(), options: ReadOptions { nfc } }
    }

    /// Adds a batch of pairs.
    fn extend(&self, py: Python<'_>, pairs: Vec<(String, String)>) -> PyResult<()> {
        call(py, || {
            let mut bitext = self.inner.lock().expect("no panic while the lock is held");
            for (src, tgt) in &pairs {
                bitext.push(src, tgt, self.options);
            }
            Ok(())
        })
    }

    /// The pairs collected so far; the builder is empty afterwards.
    fn finish(&self, py: Python<'_>) -> PyResult<Bitext> {
        call(py, || Ok(std::mem::take(&mut *self.inner.lock().expect("no panic while locked"))))
            .map(Bitext::new)
    }
}

/// The bytes of a file with its compression undone.
#[pyclass(frozen, module = "wayword._core")]
pub struct Reader {
    path: PathBuf,
    source: Mutex<corpus::Source>,
}

#[pymethods]
impl Reader {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let source = call(py, || corpus::open(&path))?;
        Ok(Reader { path, source: Mutex::new(source) })
    }

    /// Up to `size` bytes; none at the end.
    fn read<'py>(&self, py: Python<'py>, size: usize) -> PyResult<Bound<'py, PyBytes>> {
        let mut buffer = vec![0; size];
        let count = call(py, || {
            let mut source = self.source.lock().expect("no panic while the lock is held");
            source.read(&mut buffer).map_err(|cause| corpus::broken(&self.path, None, cause))
        })?;
        Ok(PyBytes::new(py, &buffer[..count]))
    }
}

/// A line without marks that nobody sees.
#[pyfunction]
pub fn without_marks(line: &str) -> Cow<'_, str> {
    corpus::without_marks(line).0
}

/// Name and meaning of every kind of problem the doctor knows.
#[pyfunction]
pub fn doctor_problems() -> Vec<(&'static str, &'static str)> {
    Problem::ALL.iter().map(|problem| (problem.name(), problem.meaning())).collect()
}

/// Examines a pair of files; see `wayword.corpus.doctor`.
#[pyfunction]
#[pyo3(signature = (src, tgt, out, *, max_length, max_ratio, factors, nfc, allow, examples, memory, temp_dir, progress))]
#[expect(
    clippy::too_many_arguments,
    reason = "keyword-only; the Python side has one options object"
)]
pub fn doctor<'py>(
    py: Python<'py>,
    src: PathBuf,
    tgt: PathBuf,
    out: Option<(PathBuf, PathBuf, PathBuf)>,
    max_length: usize,
    max_ratio: f64,
    factors: Option<usize>,
    nfc: bool,
    allow: Vec<String>,
    examples: usize,
    memory: usize,
    temp_dir: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let allowed = call(py, || allow.iter().map(|name| named_problem(name)).collect())?;
    let options =
        DoctorOptions { max_length, max_ratio, factors, nfc, allowed, examples, memory, temp_dir };
    let out = out.map(|(src, tgt, quarantine)| CleanFiles { src, tgt, quarantine });
    let report =
        enter(py, 1, progress, |job| corpus::examine(&src, &tgt, &options, out.as_ref(), job))?;
    report_as_dict(py, &report)
}

/// Where lines begin and end in each file, in bytes, and how many are before them.
type PlainPiece = ((u64, u64), (u64, u64), u64);

fn piece_of(src: PathBuf, tgt: PathBuf, piece: PlainPiece) -> Piece {
    let (src_bytes, tgt_bytes, before) = piece;
    let bytes = [src_bytes, tgt_bytes].map(|(start, end)| start..end);
    Piece { files: [src, tgt], bytes, before }
}

/// The writing of each side of a text.
#[pyfunction]
pub fn doctor_scripts(
    py: Python<'_>,
    src: PathBuf,
    tgt: PathBuf,
) -> PyResult<(Option<&'static str>, Option<&'static str>)> {
    let [src, tgt] = call(py, || corpus::doctor::scripts(&src, &tgt))?;
    Ok((src, tgt))
}

/// Writes what tells the repeated pairs of a piece of a text.
#[pyfunction]
#[pyo3(signature = (src, tgt, out, *, piece, nfc, allow))]
pub fn doctor_fingerprints(
    py: Python<'_>,
    src: PathBuf,
    tgt: PathBuf,
    out: PathBuf,
    piece: PlainPiece,
    nfc: bool,
    allow: Vec<String>,
) -> PyResult<()> {
    let allowed = call(py, || allow.iter().map(|name| named_problem(name)).collect())?;
    let options = DoctorOptions { nfc, allowed, ..DoctorOptions::default() };
    let piece = piece_of(src, tgt, piece);
    enter(py, 1, None, |job| corpus::doctor::fingerprints(&piece, &options, &out, job))
}

/// Writes for each piece of a text the lines that repeat an earlier one.
#[pyfunction]
#[pyo3(signature = (prints, outs, *, memory, temp_dir))]
pub fn doctor_repeated(
    py: Python<'_>,
    prints: Vec<PathBuf>,
    outs: Vec<PathBuf>,
    memory: usize,
    temp_dir: Option<PathBuf>,
) -> PyResult<()> {
    let options = DoctorOptions { memory, temp_dir, ..DoctorOptions::default() };
    enter(py, 1, None, |job| corpus::doctor::find_repeated(&prints, &outs, &options, job))
}

/// Examines a piece of a text.
#[pyfunction]
#[pyo3(signature = (src, tgt, out, *, piece, scripts, repeated, max_length, max_ratio, factors, nfc, allow, examples))]
#[expect(
    clippy::too_many_arguments,
    reason = "keyword-only; the Python side has one options object"
)]
pub fn doctor_piece<'py>(
    py: Python<'py>,
    src: PathBuf,
    tgt: PathBuf,
    out: (PathBuf, PathBuf, PathBuf),
    piece: PlainPiece,
    scripts: (Option<String>, Option<String>),
    repeated: Option<PathBuf>,
    max_length: usize,
    max_ratio: f64,
    factors: Option<usize>,
    nfc: bool,
    allow: Vec<String>,
    examples: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let allowed = call(py, || allow.iter().map(|name| named_problem(name)).collect())?;
    let chosen = DoctorOptions { max_length, max_ratio, factors, nfc, ..DoctorOptions::default() };
    let options = DoctorOptions { allowed, examples, ..chosen };
    let out = CleanFiles { src: out.0, tgt: out.1, quarantine: out.2 };
    let piece = piece_of(src, tgt, piece);
    let scripts = [scripts.0.as_deref(), scripts.1.as_deref()];
    let report = enter(py, 1, None, |job| {
        corpus::doctor::examine_piece(&piece, scripts, repeated.as_deref(), &options, &out, job)
    })?;
    report_as_dict(py, &report)
}

fn named_problem(name: &str) -> wayword::Result<Problem> {
    Problem::named(name).ok_or_else(|| Error::Argument {
        name: "allow".into(),
        found: format!("`{name}`"),
        expected: Problem::ALL.map(Problem::name).join(", "),
    })
}

fn report_as_dict<'py>(py: Python<'py>, report: &corpus::Report) -> PyResult<Bound<'py, PyDict>> {
    let counts = PyDict::new(py);
    for problem in Problem::ALL {
        counts.set_item(problem.name(), report.counts[problem as usize])?;
    }
    let examples = PyList::empty(py);
    for diagnosis in &report.examples {
        let finding = &diagnosis.finding;
        let side = match finding.side {
            Side::Src => "src",
            Side::Tgt => "tgt",
            Side::Both => "both",
        };
        examples.append((diagnosis.line, finding.problem.name(), side, &finding.detail))?;
    }
    let dict = PyDict::new(py);
    dict.set_item("src_lines", report.src_lines)?;
    dict.set_item("tgt_lines", report.tgt_lines)?;
    dict.set_item("clean", report.clean)?;
    dict.set_item("quarantined", report.quarantined)?;
    dict.set_item("cleaned", report.cleaned)?;
    dict.set_item("src_script", report.scripts[0])?;
    dict.set_item("tgt_script", report.scripts[1])?;
    dict.set_item("counts", counts)?;
    dict.set_item("examples", examples)?;
    Ok(dict)
}
