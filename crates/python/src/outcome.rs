//! What a search returns, as frozen objects with named fields.

use pyo3::prelude::*;
use wayword::decode;

/// Everything that is known about a sentence after the search.
#[pyclass(frozen, get_all, module = "wayword._core")]
pub struct Outcome {
    /// The best translations, best first; never empty.
    best: Vec<Py<Translation>>,
    /// What the search did.
    statistics: Py<Statistics>,
    /// All ways that lead to a complete translation, if asked for.
    graph: Vec<Py<GraphArc>>,
    /// The best hypotheses by number of translated words, if asked for.
    stacks: Vec<Py<ShownStack>>,
}

/// The hypotheses that translate so many words.
#[pyclass(frozen, get_all, module = "wayword._core")]
pub struct ShownStack {
    kept: u32,
    recombined: u32,
    abandoned: u32,
    best: Vec<Py<ShownHyp>>,
}

/// A hypothesis of a stack.
#[pyclass(frozen, get_all, module = "wayword._core")]
pub struct ShownHyp {
    number: u32,
    back: u32,
    src: (u32, u32),
    words: Vec<String>,
    covered: Vec<u32>,
    score: f64,
    total: f64,
    recombined: u32,
    is_alive: bool,
}

/// One way to translate a sentence.
#[pyclass(frozen, module = "wayword._core")]
pub struct Translation {
    inner: decode::Translation,
}

/// A phrase of a translation: source words, and the target words they became; half-open.
#[pyclass(frozen, get_all, module = "wayword._core")]
pub struct Step {
    src: (u32, u32),
    tgt: (u32, u32),
}

/// What a search did.
#[pyclass(frozen, get_all, module = "wayword._core")]
pub struct Statistics {
    scored: u64,
    made: u64,
    recombined: u64,
    pruned: u64,
    narrowed: u64,
    jumps: Vec<u32>,
}

/// One way from a partial translation to a longer one.
#[pyclass(frozen, get_all, name = "Arc", module = "wayword._core")]
pub struct GraphArc {
    start: u32,
    end: u32,
    src: (u32, u32),
    words: Vec<String>,
    score: f64,
}

impl Outcome {
    /// The outcome for Python.
    pub fn new(py: Python<'_>, outcome: decode::TranslationResult) -> PyResult<Self> {
        let decode::TranslationResult { best, stats, graph, stacks } = outcome;
        let best = best.into_iter().map(|translation| Py::new(py, Translation::from(translation)));
        let graph = graph.into_iter().map(|arc| Py::new(py, GraphArc::from(arc)));
        Ok(Outcome {
            best: best.collect::<PyResult<_>>()?,
            statistics: Py::new(py, Statistics::from(stats))?,
            graph: graph.collect::<PyResult<_>>()?,
            stacks: stacks
                .into_iter()
                .map(|stack| Py::new(py, ShownStack::new(py, stack)?))
                .collect::<PyResult<_>>()?,
        })
    }
}

impl ShownStack {
    fn new(py: Python<'_>, stack: decode::StackSnapshot) -> PyResult<Self> {
        let decode::StackSnapshot { kept, recombined, abandoned, best } = stack;
        let best = best.into_iter().map(|hyp| Py::new(py, ShownHyp::from(hyp)));
        Ok(ShownStack { kept, recombined, abandoned, best: best.collect::<PyResult<_>>()? })
    }
}

impl From<decode::HypothesisSnapshot> for ShownHyp {
    fn from(hyp: decode::HypothesisSnapshot) -> Self {
        let decode::HypothesisSnapshot { number, back, src, words, covered, .. } = hyp;
        let decode::HypothesisSnapshot { score, total, recombined, is_alive, .. } = hyp;
        let src = (src.start, src.end);
        ShownHyp { number, back, src, words, covered, score, total, recombined, is_alive }
    }
}

impl From<decode::Translation> for Translation {
    fn from(inner: decode::Translation) -> Self {
        Translation { inner }
    }
}

impl From<decode::SearchStats> for Statistics {
    fn from(stats: decode::SearchStats) -> Self {
        let decode::SearchStats {
            scored,
            created: made,
            recombined,
            pruned,
            pruned_early: narrowed,
            jumps,
        } = stats;
        Statistics { scored, made, recombined, pruned, narrowed, jumps }
    }
}

impl From<decode::GraphArc> for GraphArc {
    fn from(arc: decode::GraphArc) -> Self {
        let decode::GraphArc { from, to, src, words, score } = arc;
        GraphArc { start: from, end: to, src: (src.start, src.end), words, score }
    }
}

#[pymethods]
impl Translation {
    /// Target words.
    #[getter]
    fn words(&self) -> &[String] {
        &self.inner.words
    }

    /// Target words with spaces between.
    #[getter]
    fn text(&self) -> String {
        self.inner.words.join(" ")
    }

    /// Weighted sum of the features.
    #[getter]
    fn score(&self) -> f64 {
        self.inner.score
    }

    /// Value of each feature, in the order of the weights.
    #[getter]
    fn features(&self) -> &[f64] {
        &self.inner.features
    }

    /// Phrases in target order.
    #[getter]
    fn steps(&self) -> Vec<Step> {
        let step = |step: &decode::DerivationStep| Step {
            src: (step.src.start, step.src.end),
            tgt: (step.tgt.start.0, step.tgt.end.0),
        };
        self.inner.steps.iter().map(step).collect()
    }

    /// Links from source to target words.
    #[getter]
    fn links(&self) -> Vec<(u32, u32)> {
        self.inner.links.iter().map(|link| (link.src.0, link.tgt.0)).collect()
    }

    /// Source words without a translation.
    #[getter]
    fn unknown(&self) -> Vec<u32> {
        self.inner.unknown.iter().map(|word| word.0).collect()
    }
}
