//! What the user chooses about the search.

use crate::error::{Error, Result, named};
use crate::reorder::orientation::{NextTest, Reduce};
use crate::reorder::{Distortion, Pruning, Space};

/// How hypotheses are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    /// Best first, up to `pop_limit` hypotheses for each number of translated words.
    Cube,
    /// Every extension of the best `stack_size` hypotheses.
    Stack,
}

impl Search {
    /// The search of this name.
    pub fn named(name: &str) -> Result<Search> {
        named("search", name, &[("cube", Search::Cube), ("stack", Search::Stack)])
    }
}

/// What becomes of a word that has no translation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Oov {
    /// It is its own translation.
    Copy,
    /// It is left out.
    Drop,
}

impl Oov {
    /// The kind of this name.
    pub fn named(name: &str) -> Result<Oov> {
        named("oov", name, &[("copy", Oov::Copy), ("drop", Oov::Drop)])
    }
}

/// Everything about a search but the model and its weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Which orders of phrases are allowed.
    pub space: Space,
    /// Which of them are worth trying; none when all are.
    pub pruning: Option<Pruning>,
    /// How hypotheses are made.
    pub search: Search,
    /// Hypotheses made per stack in cube pruning; 0 for all.
    pub pop_limit: usize,
    /// Hypotheses kept per stack in stack search; 0 for all.
    pub stack_size: usize,
    /// A hypothesis this many times less likely than the best of its stack is dropped; 0: none.
    pub threshold: f64,
    /// Translations tried per span; 0 for all.
    pub options_per_span: usize,
    /// When the cost of a jump is charged.
    pub distortion: Distortion,
    /// Whether the jump from the last phrase to the sentence's end counts.
    pub final_jump: bool,
    /// Whether the last phrase scores `next` towards the sentence's end.
    pub final_next: bool,
    /// How `next` orientation is told.
    pub next_test: NextTest,
    /// How blocks of the orientation stack join.
    pub reduce: Reduce,
    /// What becomes of a word that has no translation.
    pub oov: Oov,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            space: Space::Dl(Some(6)),
            pruning: None,
            search: Search::Cube,
            pop_limit: 1000,
            stack_size: 200,
            threshold: 1e-5,
            options_per_span: 20,
            distortion: Distortion::Distance,
            final_jump: true,
            final_next: true,
            next_test: NextTest::Gap,
            reduce: Reduce::Kary,
            oov: Oov::Copy,
        }
    }
}

impl Settings {
    /// The same, with Moses' ways where they differ from ours (definitions ).
    pub fn like_moses(self) -> Self {
        Settings {
            final_jump: false,
            final_next: false,
            next_test: NextTest::Beside,
            reduce: Reduce::Binary,
            ..self
        }
    }

    /// Refuses values that cannot be meant.
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

    /// What may lie between a hypothesis and the best of its stack, as a log.
    pub(super) fn beam(&self) -> f64 {
        if self.threshold > 0.0 { self.threshold.ln() } else { f64::NEG_INFINITY }
    }
}
