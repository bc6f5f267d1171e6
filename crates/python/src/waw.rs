//! Python's view of `wayword::reorder::waw`.

use crate::annotated::{Layers, LinkedText, sentence};
use crate::border::{call, enter};
use crate::corpus::FLOATS;
use crate::neural::NeuralModel;
use crate::view::View;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::PathBuf;
use std::sync::Arc;
use wayword::corpus::SrcPos;
use wayword::error::Error;
use wayword::feature::{Coverage, ReorderingState, Span};
use wayword::narrow::to_u32;
use wayword::reorder::jump::{self, Judge, Walk, Window};
use wayword::reorder::prune::Chooser;
use wayword::reorder::waw::{self, Anchor, Ends, Objective, Options, Prepared, Shapes, Templates};
use wayword::reorder::{Corpus, Shaped};

/// The type of weights, as numpy names it.
const WEIGHTS: &str = if cfg!(target_endian = "little") { "<f8" } else { ">f8" };

/// Decisions, and how often the right word came first and among the first three.
type Places = (u64, u64, u64);
/// All decisions, those beyond the limit, long jumps back and forward.
type Ranked = (Places, u64, Places, Places);
/// Found, missed, wrong, refused.
type Decided = (u64, u64, u64, u64);
/// A model, plain distance, and squares of the gain.
type Compared = (Ranked, Ranked, (u64, u64));

/// Steps, and those whose right word may come next.
type Kept = (u64, u64);
/// All steps, candidates, long jumps back and forward, sentences, whole orders.
type Reached = (Kept, u64, Kept, Kept, u64, u64);

/// Any model of the next word.
#[derive(FromPyObject)]
pub enum AnyModel<'py> {
    /// A logistic regression.
    Waw(PyRef<'py, WawModel>),
    /// A network.
    Neural(PyRef<'py, NeuralModel>),
}

impl AnyModel<'_> {
    fn judge(&self) -> &dyn Judge {
        match self {
            AnyModel::Waw(model) => &*model.inner,
            AnyModel::Neural(model) => &*model.inner,
        }
    }
}

/// Samples ready for an optimiser; see `wayword.reorder.waw.train`.
#[pyclass(frozen, module = "wayword._core")]
pub struct WawTrainer {
    inner: waw::Trainer,
    corpus: Arc<Corpus>,
}

/// What the features of a model are, as Python's keywords.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Chosen {
    templates: Option<String>,
    window: u32,
    inclusive: bool,
    between_anchor: String,
    min_count: u32,
    objective: String,
    coverage: bool,
}

impl Chosen {
    fn options(&self, corpus: &Corpus) -> wayword::Result<Options> {
        Ok(Options {
            templates: match &self.templates {
                Some(name) => Templates::named(name)?,
                None => Templates::for_text(corpus.text().annotation()),
            },
            anchor: Anchor::named(&self.between_anchor)?,
            window: Window { width: self.window, inclusive: self.inclusive },
            min_count: self.min_count,
            objective: Objective::named(&self.objective)?,
            coverage: self.coverage,
        })
    }
}

/// Where rows go: bytes in memory, and a folder for what is beyond.
type Room = (usize, Option<PathBuf>);

/// Writes the features of one of so many shards that may be kept.
#[pyfunction]
#[pyo3(signature = (corpus, options, shards, out, *, threads))]
pub fn waw_candidates(
    py: Python<'_>,
    corpus: &LinkedText,
    options: Chosen,
    shards: u32,
    out: PathBuf,
    threads: usize,
) -> PyResult<()> {
    let corpus = Arc::clone(&corpus.inner);
    enter(py, threads, None, |job| {
        waw::find_candidates(&corpus, &options.options(&corpus)?, shards, &out, job)
    })
}

/// Writes the samples of a shard with the features that all shards found.
#[pyfunction]
#[pyo3(signature = (corpus, options, found, out, *, room, threads))]
pub fn waw_write_samples(
    py: Python<'_>,
    corpus: &LinkedText,
    options: Chosen,
    found: Vec<PathBuf>,
    out: PathBuf,
    room: Room,
    threads: usize,
) -> PyResult<()> {
    let corpus = Arc::clone(&corpus.inner);
    enter(py, threads, None, |job| {
        let room = (room.0, room.1.as_deref());
        waw::write_samples(&corpus, &options.options(&corpus)?, &found, room, &out, job)
    })
}

fn floats(bytes: &[u8]) -> Vec<f64> {
    let number = |chunk: &[u8]| chunk.first_chunk().map_or(f64::NAN, |c| f64::from_ne_bytes(*c));
    bytes.chunks_exact(8).map(number).collect()
}

fn view(numbers: Vec<f64>) -> View {
    View::of(Arc::new(numbers), WEIGHTS, |numbers: &Vec<f64>| numbers)
}

#[pymethods]
impl WawTrainer {
    /// Sentences of a block; shards of a corpus begin with one.
    #[classattr]
    const BLOCK: usize = waw::BLOCK;

    #[new]
    #[pyo3(signature = (corpus, options, *, room, threads, progress))]
    fn new(
        py: Python<'_>,
        corpus: &LinkedText,
        options: Chosen,
        room: Room,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let corpus = Arc::clone(&corpus.inner);
        let options = call(py, || options.options(&corpus))?;
        let inner = enter(py, threads, progress, |job| {
            waw::Trainer::new(&corpus, options, room.0, room.1.as_deref(), job)
        })?;
        Ok(WawTrainer { inner, corpus })
    }

    /// The samples that tasks over the shards of the corpus wrote.
    #[staticmethod]
    #[pyo3(signature = (corpus, options, found, samples, *, room))]
    fn of_shards(
        py: Python<'_>,
        corpus: &LinkedText,
        options: Chosen,
        found: Vec<PathBuf>,
        samples: Vec<PathBuf>,
        room: Room,
    ) -> PyResult<Self> {
        let corpus = Arc::clone(&corpus.inner);
        let options = call(py, || options.options(&corpus))?;
        let inner = enter(py, 1, None, |job| {
            let room = (room.0, room.1.as_deref());
            waw::read_samples(options, corpus.len(), &found, &samples, room, job)
        })?;
        Ok(WawTrainer { inner, corpus })
    }

    #[getter]
    fn features(&self) -> usize {
        self.inner.features()
    }

    #[getter]
    fn samples(&self) -> u64 {
        self.inner.samples()
    }

    /// Bytes of rows in memory and on disk.
    #[getter]
    fn bytes(&self) -> (u64, u64) {
        self.inner.bytes()
    }

    /// Log likelihood and gradient at weights given as bytes; the bias is the last.
    #[pyo3(signature = (weights, *, prior, threads))]
    fn slope(
        &self,
        py: Python<'_>,
        weights: &[u8],
        prior: f64,
        threads: usize,
    ) -> PyResult<(f64, View)> {
        let weights = floats(weights);
        let slope = enter(py, threads, None, |job| self.inner.slope(&weights, prior, job))?;
        Ok((slope.value, view(slope.gradient)))
    }

    /// Weights after passes of AdaGrad.
    #[pyo3(signature = (*, passes, rate, prior, progress))]
    fn adagrad(
        &self,
        py: Python<'_>,
        passes: usize,
        rate: f64,
        prior: f64,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<View> {
        enter(py, 1, progress, |job| self.inner.adagrad(passes, rate, prior, job)).map(view)
    }

    #[pyo3(signature = (weights, *, prior))]
    fn model(&self, py: Python<'_>, weights: &[u8], prior: f64) -> PyResult<WawModel> {
        let weights = floats(weights);
        enter(py, 1, None, |job| self.inner.model(&self.corpus, &weights, prior, job))
            .map(WawModel::new)
    }
}

/// A trained model; see `wayword.reorder.waw.WawModel`.
#[pyclass(frozen, module = "wayword._core")]
pub struct WawModel {
    pub inner: Arc<waw::Model>,
}

impl WawModel {
    fn new(model: waw::Model) -> Self {
        WawModel { inner: Arc::new(model) }
    }
}

#[pymethods]
impl WawModel {
    /// Version of the format of its files.
    #[classattr]
    const VERSION: u32 = waw::VERSION;

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        enter(py, 1, None, |_| waw::Model::open(&path)).map(WawModel::new)
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        call(py, || waw::Model::from_copy(data)).map(WawModel::new)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.inner.bytes())
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        enter(py, 1, None, |_| self.inner.save(&path))
    }

    #[staticmethod]
    fn read_text(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        enter(py, 1, None, |_| waw::Model::read_text(&path)).map(WawModel::new)
    }

    fn write_text(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        enter(py, 1, None, |_| self.inner.write_text(&path))
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
    fn features(&self) -> u64 {
        self.inner.features()
    }

    /// How it was made.
    #[getter]
    fn recipe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let waw::Recipe { options, prior, bias, samples } = self.inner.recipe();
        let dict = PyDict::new(py);
        dict.set_item("templates", options.templates.to_string())?;
        dict.set_item("window", options.window.width)?;
        dict.set_item("inclusive", options.window.inclusive)?;
        dict.set_item("between_anchor", options.anchor.name())?;
        dict.set_item("min_count", options.min_count)?;
        dict.set_item("objective", options.objective.name())?;
        dict.set_item("coverage", options.coverage)?;
        dict.set_item("prior", prior)?;
        dict.set_item("bias", bias)?;
        dict.set_item("samples", samples)?;
        Ok(dict)
    }

    /// Whether sentences must have tags, and chunks.
    #[getter]
    fn needs(&self) -> (bool, bool) {
        let needs = self.inner.recipe().options.templates.needs();
        (needs.tags, needs.chunks)
    }

    /// ln P for each word before (the start first) and each word after, row by row, when nothing
    /// is translated yet; minus infinity where both are the same word.
    fn matrix(&self, py: Python<'_>, layers: Layers) -> PyResult<View> {
        matrix(py, &*self.inner, &layers)
    }

    /// What it gives along an order; see `wayword.reorder.waw.WawModel.along`.
    fn along(
        &self,
        py: Python<'_>,
        layers: Layers,
        order: Vec<u32>,
        is_log: bool,
    ) -> PyResult<View> {
        along(py, &*self.inner, &layers, &order, is_log)
    }
}

/// What a model says of each pair of words when nothing is translated yet.
pub fn matrix(py: Python<'_>, model: &dyn Judge, layers: &Layers) -> PyResult<View> {
    let rows = call(py, || {
        let src = sentence(layers)?;
        if !src.annotation().covers(model.needs()) {
            return Err(Error::Argument {
                name: "sentence".into(),
                found: "too few layers for the model".into(),
                expected: "text annotated as the training text was".into(),
            });
        }
        let length = to_u32(src.len());
        let rater = model.rater(&src);
        let nothing = vec![0; Coverage::blocks_for(length)];
        let cov = Coverage::new(&nothing, length);
        let pairs = (0..=length).flat_map(|from| (1..=length).map(move |to| (from, to)));
        let score = |(from, to)| match from == to {
            true => f32::NEG_INFINITY,
            false => rater.log_prob(cov, from, to),
        };
        Ok(pairs.map(score).collect::<Vec<f32>>())
    })?;
    Ok(View::of(Arc::new(rows), FLOATS, |rows: &Vec<f32>| rows))
}

/// What a model gives along an order, which counts from 0: for each step a number for each word,
/// not a number where it is translated; log probabilities, or the scores that words are ranked by.
pub fn along(
    py: Python<'_>,
    model: &dyn Judge,
    layers: &Layers,
    order: &[u32],
    is_log: bool,
) -> PyResult<View> {
    let rows = call(py, || {
        let src = sentence(layers)?;
        let is_order = wayword::reorder::order::inverse(order).is_some();
        if !src.annotation().covers(model.needs()) || order.len() != src.len() || !is_order {
            return Err(Error::Argument {
                name: "order".into(),
                found: format!("{} positions for {} words", order.len(), src.len()),
                expected: "each position once, and the layers that the model looks at".into(),
            });
        }
        let rater = model.rater(&src);
        let mut rows = Vec::with_capacity(order.len() * order.len());
        Walk::default().steps(order, |from, _, cov| {
            let score = |to: u32| match (cov.has(to - 1), is_log) {
                (true, _) => f32::NAN,
                (false, true) => rater.log_prob(cov, from, to),
                (false, false) => rater.score(cov, from, to),
            };
            rows.extend((1..=to_u32(order.len())).map(score));
        });
        Ok(rows)
    })?;
    Ok(View::of(Arc::new(rows), FLOATS, |rows: &Vec<f32>| rows))
}

/// Puts a model to the test: found, missed, wrong, refused; and for each limit all decisions,
/// those beyond the limit, long jumps back and forward, of the model and of plain distance, and
/// squares of the gain.
#[pyfunction]
#[pyo3(signature = (model, corpus, limits, *, threads, progress))]
pub fn waw_evaluate(
    py: Python<'_>,
    model: AnyModel<'_>,
    corpus: &LinkedText,
    limits: Vec<u32>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Decided, Vec<Compared>)> {
    let (model, corpus) = (model.judge(), &*corpus.inner);
    let (decided, compared) =
        enter(py, threads, progress, |job| jump::evaluate(model, corpus, &limits, job))?;
    let jump::Decided { found, missed, wrong, refused } = decided;
    let places = |p: &jump::Places| (p.decisions, p.first, p.among_three);
    let ranked = |r: &jump::Ranked| {
        (places(&r.all), r.beyond, places(&r.long_back), places(&r.long_forward))
    };
    let rows = compared.iter().map(|of_limit| {
        let squares = (of_limit.first_squares, of_limit.among_three_squares);
        (ranked(&of_limit.model), ranked(&of_limit.distance), squares)
    });
    Ok(((found, missed, wrong, refused), rows.collect()))
}

/// What spaces leave of the right orders: for each, steps and those whose right word may come
/// next, candidates over all steps, the same two counts for long jumps back and forward,
/// sentences, and those whose whole order is left.
#[pyfunction]
#[pyo3(signature = (model, corpus, spaces, *, threads, progress))]
pub fn waw_reach(
    py: Python<'_>,
    model: AnyModel<'_>,
    corpus: &LinkedText,
    spaces: Vec<String>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<Reached>> {
    let (model, corpus) = (model.judge(), &*corpus.inner);
    let reached = enter(py, threads, progress, |job| {
        let spaces: Vec<Shaped> =
            spaces.iter().map(|name| Shaped::named(name)).collect::<wayword::Result<_>>()?;
        jump::reach(model, corpus, &spaces, job)
    })?;
    let kept = |k: jump::Kept| (k.steps, k.kept);
    let row = |r: jump::Reached| {
        let long = (kept(r.long_back), kept(r.long_forward));
        (kept(r.all), r.candidates, long.0, long.1, r.sentences, r.whole)
    };
    Ok(reached.into_iter().map(row).collect())
}

/// The samples of an order: from, to, whether it is right; positions from 1, 0 is the start.
#[pyfunction]
pub fn waw_samples(order: Vec<u32>, window: u32, inclusive: bool) -> Vec<(u32, u32, bool)> {
    let mut samples = Vec::new();
    if wayword::reorder::order::inverse(&order).is_some() {
        Walk::default().samples(&order, Window { width: window, inclusive }, |sample| {
            samples.push((sample.from, sample.to, sample.is_next));
        });
    }
    samples
}

/// The features of a jump as text; positions from 1, 0 is the start.
#[pyfunction]
pub fn waw_features(
    py: Python<'_>,
    layers: Layers,
    from_: u32,
    to: u32,
    between_anchor: &str,
) -> PyResult<Vec<String>> {
    let from = from_;
    call(py, || {
        let src = sentence(&layers)?;
        let length = to_u32(src.len());
        if from > length || to == 0 || to > length || from == to {
            return Err(Error::Argument {
                name: "jump".into(),
                found: format!("{from} to {to} in a sentence of {length} words"),
                expected: "two different positions, from 1; 0 is the start".into(),
            });
        }
        let shapes = Shapes::new(&Options {
            templates: Templates::for_text(src.annotation()),
            anchor: Anchor::named(between_anchor)?,
            window: Window::default(),
            min_count: 1,
            objective: Objective::Each,
            coverage: false,
        });
        let mut prepared = Prepared::default();
        prepared.fill_from(&src);
        let (mut ends, mut texts) = (Ends::default(), Vec::new());
        ends.fill(&shapes, &prepared);
        shapes.firings(&prepared, &ends, from, to, |firing| {
            texts.push(shapes.text(&src, from, to, firing));
        });
        Ok(texts)
    })
}

/// What may come next, word by word, in a space: `.` translated, `-` out of reach, `x` not worth
/// trying, `o` worth trying. `end` is the word after the last one; `scores` are logs by word.
#[pyfunction]
pub fn waw_options(
    py: Python<'_>,
    space: &str,
    covered: Vec<bool>,
    end: u32,
    scores: Vec<f32>,
) -> PyResult<String> {
    call(py, || {
        let Shaped { space, pruning } = Shaped::named(space)?;
        let length = to_u32(covered.len());
        if scores.len() != covered.len() || end > length {
            return Err(Error::Argument {
                name: "scores".into(),
                found: format!("{} for {length} words", scores.len()),
                expected: "one a word".into(),
            });
        }
        let mut blocks = vec![0; Coverage::blocks_for(length)];
        let word = |at: u32| Span::new(at, at + 1);
        for at in (0..length).filter(|&at| covered[at as usize]) {
            Coverage::mark(&mut blocks, word(at));
        }
        let cov = Coverage::new(&blocks, length);
        let top = if end == 0 { Span::default() } else { word(end - 1) };
        let here = ReorderingState { cov, gap: cov.first_gap(), end, top, mode: 0 };
        let window = space.window(&here);
        let mut shown: Vec<char> =
            (0..length).map(|at| if cov.has(at) { '.' } else { '-' }).collect();
        let admits =
            |at: &u32| !cov.has(*at) && window.has(*at) && space.admits(&here, word(*at), |_| true);
        let reached: Vec<u32> = (0..length).filter(admits).collect();
        let mut kept: Vec<SrcPos> = reached.iter().copied().map(SrcPos).collect();
        let mut spared = Span::default();
        if let Some(pruning) = pruning {
            let logs: Vec<f32> = kept.iter().map(|at| scores[at.index()]).collect();
            spared = Chooser::new(pruning.rules).choose(end, &mut kept, &logs);
        }
        for at in reached {
            let stays = kept.contains(&SrcPos(at)) || spared.has(at);
            shown[at as usize] = if stays { 'o' } else { 'x' };
        }
        Ok(shown.into_iter().collect())
    })
}
