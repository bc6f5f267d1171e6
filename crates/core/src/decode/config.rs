//! The configuration of a decoder: models, weights and settings, checked against each other.

use crate::decode::models::{FeatureLayout, ModelSet};
use crate::decode::settings::SearchSettings;
use crate::error::{Error, Result};
use crate::feature::FeatureWeights;
use crate::reorder::{Prune, Pruning, Shaped};

/// Models, weights and settings of a system; immutable and shared by all workers.
pub struct DecoderConfig<'a> {
    /// The models.
    pub models: ModelSet<'a>,
    /// Columns of the features.
    pub layout: FeatureLayout,
    /// The weight of each feature.
    pub weights: FeatureWeights,
    /// Settings of the search.
    pub settings: SearchSettings,
    /// Index of the path feature that early pruning uses, and the pruning rules.
    pub pruning: Option<(usize, Prune)>,
}

impl<'a> DecoderConfig<'a> {
    /// Validate the settings, the names of the weights and the feature for early pruning.
    pub fn new(
        models: ModelSet<'a>,
        weights: FeatureWeights,
        settings: SearchSettings,
    ) -> Result<Self> {
        settings.check()?;
        let expected = models.weights()?;
        if weights.names() != expected.names() {
            return Err(Error::Argument {
                name: "weights".into(),
                found: weights.names().join(", "),
                expected: expected.names().join(", "),
            });
        }
        let pruning = match &settings.pruning {
            Some(pruning) => Some((pruned_by(&models, &settings, pruning)?, pruning.rules)),
            None => None,
        };
        let layout = models.layout();
        Ok(DecoderConfig { models, layout, weights, settings, pruning })
    }
}

/// Return the index of the path feature for early pruning.
fn pruned_by(models: &ModelSet<'_>, settings: &SearchSettings, pruning: &Pruning) -> Result<usize> {
    let named = |name: &str| models.paths.iter().position(|path| path.name() == name);
    if let Some(place) =
        named(&pruning.feature).filter(|&place| models.paths[place].has_next_word_scores())
    {
        return Ok(place);
    }
    let space = settings.space;
    let names =
        models.paths.iter().filter(|path| path.has_next_word_scores()).map(|path| path.name());
    let expected = match names.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => format!("a system with one, or `{space}`"),
        names => format!("one of {names}, or `{space}`"),
    };
    let shaped = Shaped { space, pruning: Some(pruning.clone()) };
    Err(Error::Argument {
        name: "space".into(),
        found: format!("`{shaped}`, but no feature `{}` that rates words", pruning.feature),
        expected,
    })
}
