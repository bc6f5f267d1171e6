//! Python's view of `wayword::decode`: models, weights and settings.

use crate::border::{call, enter};
use crate::extract::PhraseTable;
use crate::feature::PathFeature;
use crate::lm::LanguageModel;
use crate::outcome::{Outcome, Translation};
use crate::source::{Source, held, with_requests};
use crate::view::View;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::{Arc, Mutex};
use wayword::decode::{self, Memory, Models, Oov, Search, Settings, Wanted};
use wayword::error::Error;
use wayword::feature::{LanguageModel as LmSeat, PathFeature as PathSeat, Span, Weights};
use wayword::lm::Model;
use wayword::orientation::Orientation;
use wayword::phrase_table::{self, TableSeat};
use wayword::reorder::{Distortion, Shaped};

/// The type of scores, as numpy names it.
const SCORES: &str = if cfg!(target_endian = "little") { "<f8" } else { ">f8" };

/// A source span, from and to, and the target words it becomes.
type GivenPhrase = (u32, u32, Vec<String>);

/// Models, weights and settings; see `wayword.decode.Decoder`.
#[pyclass(frozen, module = "wayword._core")]
pub struct Decoder {
    models: Arc<Shared>,
    weights: Weights,
    settings: Settings,
    /// What threads learned in earlier calls.
    memory: Mutex<Vec<Memory>>,
}

/// The models of a decoder; decoders that differ in weights and settings share them.
struct Shared {
    table: Arc<phrase_table::PhraseTable>,
    lms: Vec<Arc<Model>>,
    orientation: Option<Orientation>,
    features: Vec<Arc<dyn PathSeat>>,
}

impl Shared {
    /// Refuses damaged models: to be asked before anything that was made with them goes out.
    fn verified(&self) -> wayword::Result<()> {
        self.table.verified()?;
        self.lms.iter().try_for_each(|lm| lm.verified())
    }

    /// Runs something with the models in their seats.
    fn with<T>(&self, run: impl FnOnce(Models<'_>) -> T) -> T {
        let seat = TableSeat { table: &self.table, orientation: self.orientation };
        run(Models {
            phrases: &seat,
            lms: self.lms.iter().map(|lm| &**lm as &dyn LmSeat).collect(),
            orientation: self.orientation,
            paths: self.features.iter().map(|feature| &**feature).collect(),
        })
    }
}

impl Decoder {
    /// The phrase table.
    pub fn table(&self) -> &phrase_table::PhraseTable {
        &self.models.table
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    fn new(
        models: Arc<Shared>,
        given: Vec<(String, f64)>,
        settings: Settings,
    ) -> wayword::Result<Self> {
        let mut weights = models.with(|models| models.weights())?;
        for (name, value) in given {
            weights.set(&name, value)?;
        }
        let decoder = Decoder { models, weights, settings, memory: Mutex::default() };
        decoder.with(|_| Ok(()))?;
        Ok(decoder)
    }

    /// Runs something with the decoder of the core, and keeps what its threads remember.
    fn with<T>(
        &self,
        run: impl FnOnce(&decode::Decoder<'_>) -> wayword::Result<T>,
    ) -> wayword::Result<T> {
        self.models.with(|models| {
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

    /// Translates sentences, and turns what comes out into something else.
    fn translated<T: Send>(
        &self,
        py: Python<'_>,
        sources: &[PyRef<'_, Source>],
        wanted: Wanted,
        (threads, progress): (usize, Option<Py<PyAny>>),
        turn: impl FnOnce(Vec<decode::Outcome>) -> T + Send,
    ) -> PyResult<T> {
        let held = held(sources);
        enter(py, threads, progress, |job| {
            job.begin(held.len() as u64);
            let outcomes = with_requests(&held, |requests| {
                self.with(|decoder| decoder.translate_all(requests, wanted, job))
            })?;
            self.models.verified()?;
            Ok(turn(outcomes))
        })
    }
}

#[pymethods]
impl Decoder {
    #[new]
    #[pyo3(signature = (table, lms, *, orientation, features, weights, settings))]
    fn py_new(
        py: Python<'_>,
        table: &PhraseTable,
        lms: Vec<PyRef<'_, LanguageModel>>,
        orientation: Option<String>,
        features: Vec<PyRef<'_, PathFeature>>,
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
            let features = features.iter().map(|feature| Arc::clone(&feature.inner)).collect();
            let models = Shared { table: Arc::clone(&table.inner), lms, orientation, features };
            Decoder::new(Arc::new(models), weights, settings)
        })
    }

    /// Refuses settings that cannot be meant; the path feature that their space prunes by.
    #[staticmethod]
    fn check_settings(py: Python<'_>, settings: &Bound<'_, PyDict>) -> PyResult<Option<String>> {
        let settings = read_settings(py, settings)?;
        call(py, || settings.check())?;
        Ok(settings.pruning.map(|pruning| pruning.feature))
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

    #[pyo3(signature = (sources, *, nbest, distinct, graph, threads, progress))]
    #[expect(clippy::too_many_arguments, reason = "keyword-only; Python has the options")]
    fn translate(
        &self,
        py: Python<'_>,
        sources: Vec<PyRef<'_, Source>>,
        nbest: usize,
        distinct: bool,
        graph: bool,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Vec<Outcome>> {
        let wanted = Wanted { nbest, distinct, graph };
        let outcomes = self.translated(py, &sources, wanted, (threads, progress), |all| all)?;
        outcomes.into_iter().map(|outcome| Outcome::new(py, outcome)).collect()
    }

    /// For tuning: the words of the best translations of each sentence, and the features of all
    /// of them in rows.
    #[pyo3(signature = (sources, *, size, distinct, threads, progress))]
    fn nbest(
        &self,
        py: Python<'_>,
        sources: Vec<PyRef<'_, Source>>,
        size: usize,
        distinct: bool,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Vec<Vec<String>>, View)> {
        let wanted = Wanted { nbest: size, distinct, graph: false };
        let (texts, rows) =
            self.translated(py, &sources, wanted, (threads, progress), texts_and_rows)?;
        Ok((texts, View::of(Arc::new(rows), SCORES, |rows: &Vec<f64>| rows)))
    }

    /// A translation given by its phrases; none when the table has no such phrases.
    fn score(
        &self,
        py: Python<'_>,
        source: PyRef<'_, Source>,
        phrases: Vec<GivenPhrase>,
    ) -> PyResult<Option<Translation>> {
        let scored = call(py, || {
            with_requests(&held(&[source]), |requests| {
                let words = requests[0].source.words.len();
                let mut given = Vec::with_capacity(phrases.len());
                for (start, end, tgt) in &phrases {
                    if start >= end || *end as usize > words {
                        return Err(Error::Argument {
                            name: "phrases".into(),
                            found: format!("words {start} to {end}"),
                            expected: format!("a span inside the {words} source words"),
                        });
                    }
                    given.push((Span::new(*start, *end), tgt.iter().map(String::as_str).collect()));
                }
                self.models.verified()?;
                self.with(|decoder| decoder.score(&requests[0], &given))
            })
        })?;
        Ok(scored.map(Translation::from))
    }
}

/// Texts by sentence, and all feature rows one after another.
fn texts_and_rows(outcomes: Vec<decode::Outcome>) -> (Vec<Vec<String>>, Vec<f64>) {
    let every = outcomes.iter().flat_map(|outcome| &outcome.best);
    let rows = every.flat_map(|translation| &translation.features).copied().collect();
    let texts = |outcome: &decode::Outcome| -> Vec<String> {
        outcome.best.iter().map(|translation| translation.words.join(" ")).collect()
    };
    (outcomes.iter().map(texts).collect(), rows)
}

/// Settings from a dictionary that holds all of them.
fn read_settings(py: Python<'_>, given: &Bound<'_, PyDict>) -> PyResult<Settings> {
    let text = |name: &str| -> PyResult<String> { given.as_any().get_item(name)?.extract() };
    let number = |name: &str| -> PyResult<usize> { given.as_any().get_item(name)?.extract() };
    let (space, search) = (text("space")?, text("search")?);
    let (distortion, compat, oov) = (text("distortion")?, text("compat")?, text("oov")?);
    let (pop_limit, stack_size) = (number("pop_limit")?, number("stack_size")?);
    let options_per_span = number("options_per_span")?;
    let threshold = given.as_any().get_item("threshold")?.extract()?;
    call(py, || {
        let Shaped { space, pruning } = Shaped::named(&space)?;
        let settings = Settings {
            space,
            pruning,
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
            "none" => Ok(settings),
            "moses" => Ok(settings.like_moses()),
            _ => Err(Error::Argument {
                name: "compat".into(),
                found: format!("`{compat}`"),
                expected: "`none` or `moses`".into(),
            }),
        }
    })
}
