//! Python's view of `wayword::extract` and `wayword::phrase_table`.

use crate::align::Links;
use crate::border::{call, enter};
use crate::corpus::Bitext;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::Arc;
use wayword::error::named;
use wayword::extract::{Counter, Counts, ExtractOptions, Strictness, count_orientations};
use wayword::orientation::{Direction, Model, Orientation, ROWS};
use wayword::parallel::map;
use wayword::phrase_table::{
    self, Condition, Discount, OptionView, TableOptions, TextTables, Threshold,
};

/// Counts of phrase pairs; see `wayword.extract`.
#[pyclass(frozen, module = "wayword._core")]
pub struct PhraseCounts {
    inner: Counts,
}

fn extract_options(
    max_length: usize,
    strictness: &str,
    memory: usize,
    temp_dir: Option<PathBuf>,
) -> wayword::Result<ExtractOptions> {
    let strictness = named("strictness", strictness, &Strictness::ALL)?;
    Ok(ExtractOptions { max_length, strictness, memory, temp_dir })
}

/// How often each orientation occurs, by model and direction, without a table.
#[pyfunction]
#[pyo3(signature = (bitext, links, *, max_length, strictness, threads, progress))]
pub fn orientation_counts(
    py: Python<'_>,
    bitext: &Bitext,
    links: &Links,
    max_length: usize,
    strictness: &str,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<[u64; 4]>> {
    let strictness = call(py, || named("strictness", strictness, &Strictness::ALL))?;
    let (bitext, links) = (&bitext.inner, &links.inner);
    let rows = enter(py, threads, progress, |job| {
        count_orientations(bitext, links, max_length, strictness, job)
    })?;
    Ok(rows.to_vec())
}

#[pymethods]
impl PhraseCounts {
    /// Extracts and counts the phrase pairs of a bitext.
    #[staticmethod]
    #[pyo3(signature = (bitext, links, *, max_length, strictness, memory, temp_dir, threads, progress))]
    #[expect(clippy::too_many_arguments, reason = "keyword-only; Python has the options")]
    fn of(
        py: Python<'_>,
        bitext: &Bitext,
        links: &Links,
        max_length: usize,
        strictness: &str,
        memory: usize,
        temp_dir: Option<PathBuf>,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let options = call(py, || extract_options(max_length, strictness, memory, temp_dir))?;
        let (bitext, links) = (&bitext.inner, &links.inner);
        let inner = enter(py, threads, progress, |job| Counts::of(bitext, links, &options, job))?;
        Ok(PhraseCounts { inner })
    }

    /// The same of two files and their links, which are read piece by piece.
    #[staticmethod]
    #[pyo3(signature = (src, tgt, links, *, max_length, strictness, memory, temp_dir, threads, progress))]
    #[expect(clippy::too_many_arguments, reason = "keyword-only; Python has the options")]
    fn of_files(
        py: Python<'_>,
        src: PathBuf,
        tgt: PathBuf,
        links: PathBuf,
        max_length: usize,
        strictness: &str,
        memory: usize,
        temp_dir: Option<PathBuf>,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let options = call(py, || extract_options(max_length, strictness, memory, temp_dir))?;
        let inner = enter(py, threads, progress, |job| {
            let mut counter = Counter::new(&options)?;
            counter.add_files(&src, &tgt, &links, job)?;
            counter.finish(job)
        })?;
        Ok(PhraseCounts { inner })
    }

    /// Adds up files of counts.
    #[staticmethod]
    #[pyo3(signature = (paths, *, memory, temp_dir, threads, progress))]
    fn merge(
        py: Python<'_>,
        paths: Vec<PathBuf>,
        memory: usize,
        temp_dir: Option<PathBuf>,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let options = ExtractOptions { memory, temp_dir, ..ExtractOptions::default() };
        let inner = enter(py, threads, progress, |job| {
            let open = |(): &mut (), number: usize| Counts::open(&paths[number]);
            let (parts, _) = map(paths.len(), 1, job, || (), open)?;
            Counts::merge(parts, &options, job)
        })?;
        Ok(PhraseCounts { inner })
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        enter(py, 1, None, |_| self.inner.save(&path))
    }

    #[getter]
    fn max_length(&self) -> usize {
        self.inner.max_length
    }

    #[getter]
    fn strictness(&self) -> &'static str {
        self.inner.strictness.name()
    }

    #[getter]
    fn pairs(&self) -> u64 {
        self.inner.run.pairs
    }

    /// Makes a table of the counts.
    #[pyo3(signature = (
        out, corpus, recipe, *, models, condition, smoothing, discount, min_count, top,
        significance, packed, counts, memory, threads, progress
    ))]
    #[expect(clippy::too_many_arguments, reason = "keyword-only; Python has the options")]
    fn build<'py>(
        &self,
        py: Python<'py>,
        out: PathBuf,
        corpus: Option<&Bitext>,
        recipe: &str,
        models: Vec<String>,
        condition: &str,
        smoothing: f64,
        discount: &str,
        min_count: u64,
        top: Option<usize>,
        significance: Option<String>,
        packed: bool,
        counts: bool,
        memory: usize,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let options = call(py, || {
            Ok(TableOptions {
                models: phrase_table::named_models(&models)?,
                condition: named("condition", condition, &Condition::ALL)?,
                smoothing,
                discount: named("discount", discount, &Discount::ALL)?,
                min_count,
                top,
                significance: significance.as_deref().map(Threshold::named).transpose()?,
                packed,
                counts,
                memory,
            })
        })?;
        let corpus = corpus.map(|corpus| corpus.inner.as_ref());
        let summary = enter(py, threads, progress, |job| {
            phrase_table::build(&self.inner, corpus, &options, &out, recipe, job)
        })?;
        let dict = PyDict::new(py);
        dict.set_item("sentences", summary.sentences)?;
        dict.set_item("occurrences", summary.occurrences)?;
        dict.set_item("extracted", summary.extracted)?;
        dict.set_item("pairs", summary.pairs)?;
        dict.set_item("dropped", summary.dropped)?;
        dict.set_item("bytes", summary.bytes)?;
        let rows: [[u64; 4]; ROWS] = summary.orientations;
        dict.set_item("orientations", rows.map(Vec::from).to_vec())?;
        Ok(dict)
    }
}

/// A mapped phrase table; see `wayword.extract.PhraseTable`.
#[pyclass(frozen, module = "wayword._core")]
pub struct PhraseTable {
    pub inner: Arc<phrase_table::PhraseTable>,
}

/// Target words, links, scores, counts, and rows of orientation scores.
type Option_ = (Vec<String>, Vec<(u32, u32)>, [f32; 4], Option<(u64, u64)>, Vec<Option<[f32; 7]>>);

#[pymethods]
impl PhraseTable {
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let inner = call(py, || phrase_table::PhraseTable::open(&path))?;
        Ok(PhraseTable { inner: Arc::new(inner) })
    }

    /// The options of a source phrase and how often it was extracted.
    fn options(&self, py: Python<'_>, words: Vec<String>) -> PyResult<(u64, Vec<Option_>)> {
        call(py, || {
            self.inner.verified()?;
            let known = self.inner.src_words();
            let ids: Option<Vec<u32>> = words.iter().map(|word| known.id(word)).collect();
            let Some(ids) = ids else { return Ok((0, Vec::new())) };
            let options = self.inner.options(&ids)?;
            let count = options.src_count();
            let shown: wayword::Result<_> =
                options.map(|option| option.map(|option| self.show(&option))).collect();
            Ok((count, shown?))
        })
    }

    /// Source phrases in order, `count` of them after the first `skip`.
    fn phrases(&self, py: Python<'_>, skip: usize, count: usize) -> PyResult<Vec<String>> {
        call(py, || {
            let text = |words: phrase_table::WordIter<'_>| {
                let words = words.map(|id| self.inner.src_words().word(id).unwrap_or_default());
                words.collect::<Vec<_>>().join(" ")
            };
            let blocks = self.inner.blocks().skip(skip).take(count);
            blocks.map(|block| block.map(|(words, _)| text(words))).collect()
        })
    }

    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        enter(py, 1, None, |_| self.inner.verify())
    }

    /// Writes text tables.
    #[pyo3(signature = (phrase_table, reordering, *, progress))]
    fn export(
        &self,
        py: Python<'_>,
        phrase_table: PathBuf,
        reordering: Option<(PathBuf, String)>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<u64> {
        enter(py, 1, progress, |job| {
            let reordering = match &reordering {
                Some((path, kind)) => Some((path.as_path(), Orientation::named(kind)?)),
                None => None,
            };
            phrase_table::export(&self.inner, &phrase_table, reordering, job)
        })
    }

    #[getter]
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let table = &self.inner;
        let contents = table.contents();
        let models = Model::ALL.into_iter().filter(|&model| contents.models[model as usize]);
        let dict = PyDict::new(py);
        dict.set_item("src_phrases", table.src_phrases())?;
        dict.set_item("pairs", table.pairs())?;
        dict.set_item("sentences", table.sentences())?;
        dict.set_item("max_length", table.max_length())?;
        dict.set_item("bytes", table.bytes())?;
        dict.set_item("models", models.map(Model::name).collect::<Vec<_>>())?;
        dict.set_item("msd", contents.msd)?;
        dict.set_item("mslr", contents.mslr)?;
        dict.set_item("packed", contents.packed)?;
        dict.set_item("counts", contents.counts)?;
        dict.set_item("recipe", table.recipe())?;
        dict.set_item("digest", format!("{:016x}", table.digest()))?;
        Ok(dict)
    }
}

impl PhraseTable {
    fn show(&self, option: &OptionView<'_>) -> Option_ {
        let word = |id| self.inner.tgt_words().word(id).unwrap_or_default().to_owned();
        let rows = Model::ALL.into_iter().flat_map(|model| {
            Direction::ALL.map(|direction| option.orientation(model, direction).copied())
        });
        (
            option.tgt().map(word).collect(),
            option.links().map(|link| (link.src.0, link.tgt.0)).collect(),
            option.scores,
            option.counts,
            rows.collect(),
        )
    }
}

/// Makes a table of text tables; the number of its pairs and bytes.
#[pyfunction]
#[pyo3(signature = (phrase_table, reordering, out, *, columns, packed, progress))]
pub fn import_text_table(
    py: Python<'_>,
    phrase_table: PathBuf,
    reordering: Option<(PathBuf, String)>,
    out: PathBuf,
    columns: Vec<String>,
    packed: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<(u64, u64)> {
    enter(py, 1, progress, |job| {
        let reordering = match reordering {
            Some((path, kind)) => Some((path, Orientation::named(&kind)?)),
            None => None,
        };
        let tables = TextTables { phrase_table, columns, reordering };
        phrase_table::import(&tables, packed, &out, job)
    })
}
