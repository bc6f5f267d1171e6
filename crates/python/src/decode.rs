//! Python's view of `wayword::decode`.

use crate::border::{call, enter};
use crate::extract::PhraseTable;
use crate::lm::LanguageModel;
use crate::view::View;
use crate::waw::WawModel;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyDict;
use std::sync::{Arc, Mutex};
use wayword::Job;
use wayword::decode::{
    self, Marked, MarkupMode, Memory, Models, Oov, Outcome, Search, Settings, Translation, Wanted,
};
use wayword::error::{Error, Place};
use wayword::feature::{LanguageModel as LmSeat, PathFeature, Span, Weights};
use wayword::lm::Model;
use wayword::orientation::Orientation;
use wayword::phrase_table::{self, TableSeat};
use wayword::reorder::waw::{self, Prune, Scores, Waw};
use wayword::reorder::{Distortion, Shaped};

/// The type of scores, as numpy names it.
const SCORES: &str = if cfg!(target_endian = "little") { "<f8" } else { ">f8" };

/// Words, score, features, phrases (source from, to, target from, to), links.
type Shown = (Vec<String>, f64, Vec<f64>, Vec<(u32, u32, u32, u32)>, Vec<(u32, u32)>);
/// Best translations; scored, made, recombined, pruned, narrowed, jumps by length; arcs of the graph.
type ShownOutcome = (Vec<Shown>, ([u64; 5], Vec<u32>), Vec<ShownArc>);
/// From, to, source from, to, target words, score.
type ShownArc = (u32, u32, u32, u32, Vec<String>, f64);
/// A source span, from and to, and the target words it becomes.
type GivenPhrase = (u32, u32, Vec<String>);

/// Models, weights and settings; see `wayword.decode.Decoder`.
#[pyclass(frozen, module = "wayword._core")]
pub struct Decoder {
    models: Arc<Shared>,
    weights: Weights,
    settings: Settings,
    /// How a word-after-word model narrows the search, if it does.
    prune: Option<Prune>,
    /// What threads learned in earlier calls.
    memory: Mutex<Vec<Memory>>,
}

/// The models of a decoder; decoders that differ in weights and settings share them.
struct Shared {
    table: Arc<phrase_table::PhraseTable>,
    lms: Vec<Arc<Model>>,
    orientation: Option<Orientation>,
    after: After,
}

/// Where scores of one source word after another come from.
enum After {
    Nowhere,
    Model(Arc<waw::Model>),
    /// They are given with each call.
    Given,
}

impl Shared {
    /// Runs something with the models in their seats; `matrices` are given scores.
    fn with<T>(
        &self,
        prune: Option<Prune>,
        matrices: &[Vec<f32>],
        run: impl FnOnce(Models<'_>) -> T,
    ) -> T {
        let seat = TableSeat { table: &self.table, orientation: self.orientation };
        let waw = match &self.after {
            After::Nowhere => None,
            After::Model(model) => Some(Waw { scores: Scores::Model(model), prune }),
            After::Given => Some(Waw { scores: Scores::Given(matrices), prune }),
        };
        run(Models {
            phrases: &seat,
            lms: self.lms.iter().map(|lm| &**lm as &dyn LmSeat).collect(),
            orientation: self.orientation,
            paths: waw.iter().map(|waw| waw as &dyn PathFeature).collect(),
        })
    }
}

impl Decoder {
    fn new(
        models: Arc<Shared>,
        given: Vec<(String, f64)>,
        (settings, prune): (Settings, Option<Prune>),
    ) -> wayword::Result<Self> {
        if let Some(prune) = prune.filter(|_| matches!(models.after, After::Nowhere)) {
            return Err(Error::Argument {
                name: "space".into(),
                found: format!("`{}+{prune}`, but no word-after-word model", settings.space),
                expected: format!("a system with one, or `{}`", settings.space),
            });
        }
        let mut weights = models.with(prune, &[], |models| models.weights())?;
        for (name, value) in given {
            weights.set(&name, value)?;
        }
        settings.check()?;
        Ok(Decoder { models, weights, settings, prune, memory: Mutex::default() })
    }

    /// Runs something with the decoder of the core, and keeps what its threads remember.
    fn with<T>(
        &self,
        matrices: &[Vec<f32>],
        run: impl FnOnce(&decode::Decoder<'_>) -> wayword::Result<T>,
    ) -> wayword::Result<T> {
        self.models.with(self.prune, matrices, |models| {
            let decoder =
                decode::Decoder::new(models, self.weights.clone(), self.settings.clone())?;
            let memory = self.memory.lock().map(|mut memory| std::mem::take(&mut *memory));
            let decoder = decoder.remember(memory.unwrap_or_default());
            let result = run(&decoder)?;
            if let Ok(mut memory) = self.memory.lock() {
                *memory = decoder.into_memory();
            }
            Ok(result)
        })
    }

    fn outcomes(
        &self,
        sentences: &[PyBackedStr],
        matrices: &[Vec<f32>],
        wanted: Wanted,
        job: &Job,
    ) -> wayword::Result<Vec<Outcome>> {
        job.begin(sentences.len() as u64);
        let words: Vec<Vec<&str>> =
            sentences.iter().map(|sentence| sentence.split_whitespace().collect()).collect();
        self.with(matrices, |decoder| decoder.translate_all(&words, wanted, job))
    }
}

/// A sentence with markup; see `wayword.decode.markup`.
#[pyclass(frozen, module = "wayword._core")]
pub struct MarkedSentence {
    inner: Marked,
}

#[pymethods]
impl MarkedSentence {
    /// Reads a line; `file` and `number` tell where it comes from.
    #[new]
    #[pyo3(signature = (line, *, mode, file, number))]
    fn new(
        py: Python<'_>,
        line: PyBackedStr,
        mode: &str,
        file: String,
        number: u64,
    ) -> PyResult<Self> {
        call(py, || {
            let mode = MarkupMode::named(mode)?;
            let place = Place { file, line: Some(number) };
            Ok(MarkedSentence { inner: Marked::parse(&line, mode, &place)? })
        })
    }

    /// The words to be translated.
    #[getter]
    fn words(&self) -> Vec<String> {
        self.inner.words().to_vec()
    }
}

#[pymethods]
impl Decoder {
    #[new]
    #[pyo3(signature = (table, lms, *, orientation, waw, given_waw, weights, settings))]
    #[expect(clippy::too_many_arguments, reason = "keyword-only; Python has the options")]
    fn py_new(
        py: Python<'_>,
        table: &PhraseTable,
        lms: Vec<PyRef<'_, LanguageModel>>,
        orientation: Option<String>,
        waw: Option<&WawModel>,
        given_waw: bool,
        weights: Vec<(String, f64)>,
        settings: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let settings = read_settings(py, settings)?;
        call(py, || {
            let orientation = orientation.as_deref().map(Orientation::named).transpose()?;
            if let Some(orientation) = orientation {
                phrase_table::check_orientation(&table.inner, orientation)?;
            }
            let lms = lms.iter().map(|lm| Arc::clone(&lm.inner)).collect();
            let after = match waw {
                Some(model) => After::Model(Arc::clone(&model.inner)),
                None if given_waw => After::Given,
                None => After::Nowhere,
            };
            let models = Shared { table: Arc::clone(&table.inner), lms, orientation, after };
            Decoder::new(Arc::new(models), weights, settings)
        })
    }

    /// The same models with other weights and settings.
    #[pyo3(signature = (*, weights, settings))]
    fn changed(
        &self,
        py: Python<'_>,
        weights: Vec<(String, f64)>,
        settings: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let settings = read_settings(py, settings)?;
        call(py, || Decoder::new(Arc::clone(&self.models), weights, settings))
    }

    /// All weights by name, in the order of the features.
    #[getter]
    fn weights(&self) -> Vec<(String, f64)> {
        let names = self.weights.names().iter().cloned();
        names.zip(self.weights.values().iter().copied()).collect()
    }

    /// Whether sentences come as `word|POS|chunk`.
    #[getter]
    fn factored(&self) -> bool {
        let read = |models: Models<'_>| models.paths.iter().any(|path| path.reads_factors());
        self.models.with(None, &[], read)
    }

    /// The same for sentences with markup.
    #[pyo3(signature = (sentences, *, matrices, nbest, distinct, graph, threads, progress))]
    #[expect(clippy::too_many_arguments, reason = "keyword-only; Python has the options")]
    fn translate_marked(
        &self,
        py: Python<'_>,
        sentences: Vec<PyRef<'_, MarkedSentence>>,
        matrices: Vec<Vec<f32>>,
        nbest: usize,
        distinct: bool,
        graph: bool,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Vec<ShownOutcome>> {
        let wanted = Wanted { nbest, distinct, graph };
        let marked: Vec<Marked> = sentences.iter().map(|one| one.inner.clone()).collect();
        let found = enter(py, threads, progress, |job| {
            job.begin(marked.len() as u64);
            self.with(&matrices, |decoder| decoder.translate_all_marked(&marked, wanted, job))
        })?;
        Ok(found.into_iter().map(show_outcome).collect())
    }

    #[pyo3(signature = (sentences, *, matrices, nbest, distinct, graph, threads, progress))]
    #[expect(clippy::too_many_arguments, reason = "keyword-only; Python has the options")]
    fn translate(
        &self,
        py: Python<'_>,
        sentences: Vec<PyBackedStr>,
        matrices: Vec<Vec<f32>>,
        nbest: usize,
        distinct: bool,
        graph: bool,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Vec<ShownOutcome>> {
        let wanted = Wanted { nbest, distinct, graph };
        let found =
            enter(py, threads, progress, |job| self.outcomes(&sentences, &matrices, wanted, job))?;
        Ok(found.into_iter().map(show_outcome).collect())
    }

    /// For tuning: the words of the best translations of each sentence, and the features of all
    /// of them in rows.
    #[pyo3(signature = (sentences, *, matrices, size, distinct, threads, progress))]
    #[expect(clippy::too_many_arguments, reason = "keyword-only; Python has the options")]
    fn nbest(
        &self,
        py: Python<'_>,
        sentences: Vec<PyBackedStr>,
        matrices: Vec<Vec<f32>>,
        size: usize,
        distinct: bool,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Vec<Vec<String>>, View)> {
        let wanted = Wanted { nbest: size, distinct, graph: false };
        let (texts, rows) = enter(py, threads, progress, |job| {
            let found = self.outcomes(&sentences, &matrices, wanted, job)?;
            let rows: Vec<f64> = found
                .iter()
                .flat_map(|outcome| outcome.best.iter().flat_map(|one| &one.features))
                .copied()
                .collect();
            let text = |outcome: &Outcome| -> Vec<String> {
                outcome.best.iter().map(|one| one.words.join(" ")).collect()
            };
            Ok((found.iter().map(text).collect(), rows))
        })?;
        Ok((texts, View::of(Arc::new(rows), SCORES, |rows: &Vec<f64>| rows)))
    }

    /// A translation given by its phrases; none when the table has no such phrases.
    fn score(
        &self,
        py: Python<'_>,
        sentence: PyBackedStr,
        phrases: Vec<GivenPhrase>,
        matrices: Vec<Vec<f32>>,
    ) -> PyResult<Option<Shown>> {
        call(py, || {
            let words: Vec<&str> = sentence.split_whitespace().collect();
            let mut given = Vec::with_capacity(phrases.len());
            for (start, end, tgt) in &phrases {
                if start >= end || *end as usize > words.len() {
                    return Err(Error::Argument {
                        name: "phrases".into(),
                        found: format!("words {start} to {end}"),
                        expected: format!("a span inside the {} source words", words.len()),
                    });
                }
                given.push((Span::new(*start, *end), tgt.iter().map(String::as_str).collect()));
            }
            self.with(&matrices, |decoder| decoder.score(&words, &given))
        })
        .map(|found| found.map(show))
    }
}

fn show(translation: Translation) -> Shown {
    let Translation { words, score, features, steps, links } = translation;
    let steps = steps
        .iter()
        .map(|step| (step.src.start, step.src.end, step.tgt.start, step.tgt.end))
        .collect();
    let links = links.iter().map(|link| (link.src.0, link.tgt.0)).collect();
    (words, score, features, steps, links)
}

fn show_outcome(outcome: Outcome) -> ShownOutcome {
    let stats = outcome.stats;
    let arcs = outcome.graph.into_iter();
    (
        outcome.best.into_iter().map(show).collect(),
        ([stats.scored, stats.made, stats.recombined, stats.pruned, stats.narrowed], stats.jumps),
        arcs.map(|arc| (arc.from, arc.to, arc.src.start, arc.src.end, arc.words, arc.score))
            .collect(),
    )
}

/// Settings from a dictionary that holds all of them.
fn read_settings(py: Python<'_>, given: &Bound<'_, PyDict>) -> PyResult<(Settings, Option<Prune>)> {
    let text = |name: &str| -> PyResult<String> { given.as_any().get_item(name)?.extract() };
    let number = |name: &str| -> PyResult<usize> { given.as_any().get_item(name)?.extract() };
    let (space, search) = (text("space")?, text("search")?);
    let (distortion, compat, oov) = (text("distortion")?, text("compat")?, text("oov")?);
    let (pop_limit, stack_size) = (number("pop_limit")?, number("stack_size")?);
    let options_per_span = number("options_per_span")?;
    let threshold = given.as_any().get_item("threshold")?.extract()?;
    call(py, || {
        let Shaped { space, prune } = Shaped::named(&space)?;
        let settings = Settings {
            space,
            search: Search::named(&search)?,
            pop_limit,
            stack_size,
            threshold,
            options_per_span,
            distortion: Distortion::named(&distortion)?,
            oov: Oov::named(&oov)?,
            ..Settings::default()
        };
        match compat.as_str() {
            "none" => Ok((settings, prune)),
            "moses" => Ok((settings.like_moses(), prune)),
            _ => Err(Error::Argument {
                name: "compat".into(),
                found: format!("`{compat}`"),
                expected: "`none` or `moses`".into(),
            }),
        }
    })
}
