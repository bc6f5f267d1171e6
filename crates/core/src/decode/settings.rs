//! Settings of the search.

use crate::error::{Error, Result, named};
use crate::reorder::orientation::{NextTest, Reduce};
use crate::reorder::{Distortion, Pruning, Space};

/// The search algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchAlgorithm {
    /// Cube pruning: the best `pop_limit` extensions of each stack.
    Cube,
    /// Stack search: every extension of the best `stack_size` hypotheses.
    Stack,
}

impl SearchAlgorithm {
    /// Return the algorithm with a name.
    pub fn named(name: &str) -> Result<SearchAlgorithm> {
        named("search", name, &[("cube", SearchAlgorithm::Cube), ("stack", SearchAlgorithm::Stack)])
    }
}

/// Treatment of words without a translation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OovPolicy {
    /// Copy the word.
    Copy,
    /// Drop the word.
    Drop,
}

impl OovPolicy {
    /// Return the policy with a name.
    pub fn named(name: &str) -> Result<OovPolicy> {
        named("oov", name, &[("copy", OovPolicy::Copy), ("drop", OovPolicy::Drop)])
    }
}

/// All settings of a search, except models and weights.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchSettings {
    /// The reordering space.
    pub space: Space,
    /// Early pruning; none to try all options.
    pub pruning: Option<Pruning>,
    /// The search algorithm.
    pub search: SearchAlgorithm,
    /// Maximum number of hypotheses created per stack in cube pruning; 0: no limit.
    pub pop_limit: usize,
    /// Maximum number of hypotheses kept per stack in stack search; 0: no limit.
    pub stack_size: usize,
    /// Threshold pruning: minimum probability relative to the best of the stack; 0: off.
    pub threshold: f64,
    /// Maximum number of translation options per span; 0: no limit.
    pub options_per_span: usize,
    /// The distortion cost.
    pub distortion: Distortion,
    /// Whether the jump from the last phrase to the end of the sentence counts.
    pub final_jump: bool,
    /// Whether the last phrase has a `next` score towards the end of the sentence.
    pub final_next: bool,
    /// The test for `next` orientation.
    pub next_test: NextTest,
    /// The reductions of the orientation stack.
    pub reduce: Reduce,
    /// Treatment of words without a translation.
    pub oov: OovPolicy,
}

impl Default for SearchSettings {
    fn default() -> Self {
        SearchSettings {
            space: Space::Dl(Some(6)),
            pruning: None,
            search: SearchAlgorithm::Cube,
            pop_limit: 1000,
            stack_size: 200,
            threshold: 1e-5,
            options_per_span: 20,
            distortion: Distortion::Distance,
            final_jump: true,
            final_next: true,
            next_test: NextTest::Gap,
            reduce: Reduce::Kary,
            oov: OovPolicy::Copy,
        }
    }
}

impl SearchSettings {
    /// Return the settings with the choices of Moses where they differ (definitions,
    ///
    pub fn like_moses(self) -> Self {
        SearchSettings {
            final_jump: false,
            final_next: false,
            next_test: NextTest::Beside,
            reduce: Reduce::Binary,
            ..self
        }
    }

    /// Validate the settings.
    pub fn check(&self) -> Result<()> {
        if (0.0..=1.0).contains(&self.threshold) {
            return Ok(());
        }
        Err(Error::Argument {
            name: "threshold".into(),
            found: self.threshold.to_string(),
            expected: "a number from 0 (off) to 1".into(),
        })
    }

    /// Return the log of the pruning threshold.
    pub(super) fn beam(&self) -> f64 {
        if self.threshold > 0.0 { self.threshold.ln() } else { f64::NEG_INFINITY }
    }
}
