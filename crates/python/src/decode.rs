//! Python's view of `wayword::decode`: models, weights and settings.

use crate::border::{call, enter, lend};
use crate::extract::PhraseTable;
use crate::feature::PathFeature;
use crate::lm::LanguageModel;
use crate::outcome::{Outcome, Translation};
use crate::source::{Source, held, with_requests};
use crate::view::View;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::{Arc, Mutex};
use wayword::align::Link;
use wayword::decode::{
    self, ModelSet, OovPolicy, OutputOptions, SearchAlgorithm, SearchSettings, Suggestion,
    TypedPrefix, WorkerMemory,
};
use wayword::error::Error;
use wayword::feature::{FeatureWeights, LanguageModel as LmSeat, PathFeature as PathSeat, Span};
use wayword::learned::{Overlay, Pair};
use wayword::lm::Model;
use wayword::orientation::Orientation;
use wayword::phrase_table::{self, TableSeat};
use wayword::reorder::{Distortion, Shaped};

/// The type of scores, as numpy names it.
const SCORES: &str = if cfg!(target_endian = "little") { "<f8" } else { ">f8" };

/// A source span, from and to, and the target words it becomes.
type GivenPhrase = (u32, u32, Vec<String>);

/// Source words, target words, and which translate each other.
type LearnedPair = (Vec<String>, Vec<String>, Vec<(u32, u32)>);

/// Words, how many of them were typed, edits, score.
type Suggested = (Vec<String>, usize, f32, f64);

/// Models, weights and settings; see `wayword.decode.Decoder`.
#[pyclass(frozen, module = "wayword._core")]
pub struct Decoder {
    models: Arc<Shared>,
    weights: FeatureWeights,
    settings: SearchSettings,
    /// What threads learned in earlier calls.
    memory: Mutex<Vec<WorkerMemory>>,
}

/// The models of a decoder; decoders that differ in weights and settings share them.
struct Shared {
    table: Arc<phrase_table::PhraseTable>,
    lms: Vec<Arc<Model>>,
    orientation: Option<Orientation>,
    features: Vec<Arc<dyn PathSeat>>,
    /// What was learned since.
    overlay: Option<Arc<Overlay>>,
}

impl Shared {
    /// Refuses damaged models: to be asked before anything that was made with them goes out.
    fn verified(&self) -> wayword::Result<()> {
        self.table.verified()?;
        self.lms.iter().try_for_each(|lm| lm.verified())
    }

    /// Runs something with the models in their seats.
    fn with<T>(&self, run: impl FnOnce(ModelSet<'_>) -> T) -> T {
        let orientation = self.orientation;
        let paths = self.features.iter().map(|feature| &**feature).collect();
        let plain = self.lms.iter().map(|lm| &**lm as &dyn LmSeat);
        let Some(overlay) = &self.overlay else {
            let seat = TableSeat { table: &self.table, orientation };
            return run(ModelSet { phrases: &seat, lms: plain.collect(), orientation, paths });
        };
        let seat = overlay.table(&self.table, orientation);
        let mixed = self.lms.iter().enumerate().map(|(at, lm)| overlay.language_model(at, lm));
        let mixed: Vec<_> = mixed.collect();
        let lms = mixed.iter().zip(plain).map(|(mixed, plain)| match mixed {
            Some(mixed) => mixed as &dyn LmSeat,
            None => plain,
        });
        run(ModelSet { phrases: &seat, lms: lms.collect(), orientation, paths })
    }
}

impl Decoder {
    /// The phrase table.
    pub fn table(&self) -> &phrase_table::PhraseTable {
        &self.models.table
    }

    /// The settings.
    pub fn settings(&self) -> &SearchSettings {
        &self.settings
    }

    fn new(
        models: Arc<Shared>,
        given: Vec<(String, f64)>,
        settings: SearchSettings,
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
            let decoder = decoder.with_memory(memory.unwrap_or_default());
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
        wanted: OutputOptions,
        (threads, progress): (usize, Option<Py<PyAny>>),
        turn: impl FnOnce(Vec<decode::TranslationResult>) -> T + Send,
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
            let table = Arc::clone(&table.inner);
            let models = Shared { table, lms, orientation, features, overlay: None };
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

    /// The same with all of these pairs learned: source words, target words, links; and how many
    /// phrase pairs that makes.
    fn learned(&self, py: Python<'_>, pairs: Vec<LearnedPair>) -> PyResult<(Self, usize)> {
        lend(py, || {
            let links: Vec<Vec<Link>> = pairs.iter().map(|(_, _, links)| sorted(links)).collect();
            let each = pairs.iter().zip(&links);
            let given: Vec<Pair<'_>> =
                each.map(|((src, tgt, _), links)| Pair { src, tgt, links }).collect();
            let lms: Vec<&Model> = self.models.lms.iter().map(|lm| &**lm).collect();
            self.models.verified()?;
            let overlay = Overlay::new(&self.models.table, &lms, &given)?;
            let phrases = overlay.phrases();
            let models = Shared {
                table: Arc::clone(&self.models.table),
                lms: self.models.lms.clone(),
                features: self.models.features.clone(),
                orientation: self.models.orientation,
                overlay: (!pairs.is_empty()).then(|| Arc::new(overlay)),
            };
            let weights = self.weights();
            Ok((Decoder::new(Arc::new(models), weights, self.settings.clone())?, phrases))
        })
    }

    /// All weights by name, in the order of the features.
    #[getter]
    fn weights(&self) -> Vec<(String, f64)> {
        let names = self.weights.names().iter().cloned();
        names.zip(self.weights.values().iter().copied()).collect()
    }

    /// The largest size of a weight.
    #[classattr]
    const MAX_WEIGHT: f64 = FeatureWeights::MAX;

    /// The names of the features whose weight is at least 0 by definition.
    #[getter]
    fn nonnegative(&self) -> Vec<String> {
        let bounded = self.models.with(|models| models.nonnegative());
        let names = self.weights.names().iter().zip(bounded);
        names.filter(|(_, is_bounded)| *is_bounded).map(|(name, _)| name.clone()).collect()
    }

    #[pyo3(signature = (sources, *, nbest, distinct, graph, stacks, threads, progress))]
    #[expect(clippy::too_many_arguments, reason = "keyword-only; Python has the options")]
    fn translate(
        &self,
        py: Python<'_>,
        sources: Vec<PyRef<'_, Source>>,
        nbest: usize,
        distinct: bool,
        graph: bool,
        stacks: usize,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Vec<Outcome>> {
        let wanted = OutputOptions { nbest, distinct, graph, stacks };
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
        let wanted = OutputOptions { nbest: size, distinct, graph: false, stacks: 0 };
        let (texts, rows) =
            self.translated(py, &sources, wanted, (threads, progress), texts_and_rows)?;
        Ok((texts, View::of(Arc::new(rows), SCORES, |rows: &Vec<f64>| rows)))
    }

    /// A translation that goes on from typed words, how many of its words stand for them, the edits
    /// between these, and its score; none for a sentence without words.
    #[pyo3(signature = (source, typed, *, is_open, progress))]
    fn suggest(
        &self,
        py: Python<'_>,
        source: PyRef<'_, Source>,
        typed: Vec<String>,
        is_open: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Option<Suggested>> {
        let held = held(&[source]);
        let suggestion = enter(py, 1, progress, |job| {
            let words: Vec<&str> = typed.iter().map(String::as_str).collect();
            let typed = TypedPrefix { words: &words, is_open };
            let suggestion = with_requests(&held, |requests| {
                self.with(|decoder| decoder.suggest(&requests[0], typed, job))
            })?;
            self.models.verified()?;
            Ok(suggestion)
        })?;
        Ok(suggestion.map(|Suggestion { words, typed, edits, score }| (words, typed, edits, score)))
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

/// Links from first to last.
fn sorted(links: &[(u32, u32)]) -> Vec<Link> {
    let mut sorted: Vec<Link> = links.iter().map(|&(src, tgt)| Link::new(src, tgt)).collect();
    sorted.sort_unstable();
    sorted
}

/// Texts by sentence, and all feature rows one after another.
fn texts_and_rows(outcomes: Vec<decode::TranslationResult>) -> (Vec<Vec<String>>, Vec<f64>) {
    let every = outcomes.iter().flat_map(|outcome| &outcome.best);
    let rows = every.flat_map(|translation| &translation.features).copied().collect();
    let texts = |outcome: &decode::TranslationResult| -> Vec<String> {
        outcome.best.iter().map(|translation| translation.words.join(" ")).collect()
    };
    (outcomes.iter().map(texts).collect(), rows)
}

/// Settings from a dictionary that holds all of them.
fn read_settings(py: Python<'_>, given: &Bound<'_, PyDict>) -> PyResult<SearchSettings> {
    let text = |name: &str| -> PyResult<String> { given.as_any().get_item(name)?.extract() };
    let number = |name: &str| -> PyResult<usize> { given.as_any().get_item(name)?.extract() };
    let (space, search) = (text("space")?, text("search")?);
    let (distortion, compat, oov) = (text("distortion")?, text("compat")?, text("oov")?);
    let (pop_limit, stack_size) = (number("pop_limit")?, number("stack_size")?);
    let options_per_span = number("options_per_span")?;
    let threshold = given.as_any().get_item("threshold")?.extract()?;
    call(py, || {
        let Shaped { space, pruning } = Shaped::named(&space)?;
        let settings = SearchSettings {
            space,
            pruning,
            search: SearchAlgorithm::named(&search)?,
            pop_limit,
            stack_size,
            threshold,
            options_per_span,
            distortion: Distortion::named(&distortion)?,
            oov: OovPolicy::named(&oov)?,
            ..SearchSettings::default()
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
