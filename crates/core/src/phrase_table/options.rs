//! How a table is made of counts.

use super::discount::Discount;
use super::significance::Threshold;
use crate::error::{Error, Result};
use crate::orientation::Model;

/// What an orientation probability is conditioned on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Condition {
    /// The phrase pair.
    #[default]
    Pair,
    /// The source phrase alone.
    Source,
}

impl Condition {
    /// Names and values.
    pub const ALL: [(&'static str, Condition); 2] =
        [("fe", Condition::Pair), ("f", Condition::Source)];

    /// The word for it in options.
    pub fn name(self) -> &'static str {
        Condition::ALL[self as usize].0
    }
}

/// How to make a table of counts.
#[derive(Debug, Clone, PartialEq)]
pub struct TableOptions {
    /// Orientation models to keep, by their place in `Model::ALL`.
    pub models: [bool; 3],
    /// What their probabilities are conditioned on.
    pub condition: Condition,
    /// Added to every orientation count.
    pub smoothing: f64,
    /// How phrase counts become probabilities.
    pub discount: Discount,
    /// Least count of a pair that is kept.
    pub min_count: u64,
    /// Most pairs of a source phrase that are kept.
    pub top: Option<usize>,
    /// Least significance of a pair that is kept.
    pub significance: Option<Threshold>,
    /// Scores take 16 bits instead of 32.
    pub packed: bool,
    /// Keep the counts, as text tables have them.
    pub counts: bool,
    /// Bytes of memory that the process keeps to, as far as it can: what goes beyond is on disk.
    pub memory: usize,
}

impl Default for TableOptions {
    fn default() -> Self {
        TableOptions {
            models: [true; 3],
            condition: Condition::Pair,
            smoothing: 0.5,
            discount: Discount::None,
            min_count: 1,
            top: None,
            significance: None,
            packed: false,
            counts: true,
            memory: 1 << 30,
        }
    }
}

impl TableOptions {
    /// Refuses values that make no table.
    pub(super) fn check(&self) -> Result<()> {
        let wrong = |name: &str, found: String, expected: &str| {
            Err(Error::Argument { name: name.into(), found, expected: expected.into() })
        };
        let smoothing = self.smoothing;
        if !(smoothing.is_finite() && smoothing > 0.0) {
            return wrong("smoothing", smoothing.to_string(), "a number above 0");
        }
        if self.top == Some(0) {
            return wrong("top", "0".into(), "at least 1 pair");
        }
        Ok(())
    }
}

/// The models whose names are given.
pub fn named_models(names: &[String]) -> Result<[bool; 3]> {
    let mut models = [false; 3];
    for name in names {
        let model = Model::ALL.into_iter().find(|model| model.name() == name);
        let Some(model) = model else {
            return Err(Error::Argument {
                name: "models".into(),
                found: format!("`{name}`"),
                expected: Model::ALL.map(Model::name).join(", "),
            });
        };
        models[model as usize] = true;
    }
    Ok(models)
}
