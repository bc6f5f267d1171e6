//! The models of a system and the columns of their features.

use crate::error::{Error, Result};
use crate::feature::{FeatureWeights, LanguageModel, PathFeature, PhraseModel};
use crate::orientation::Orientation;
use std::ops::Range;

/// The models of a decoder; shared and immutable.
#[derive(Clone)]
pub struct ModelSet<'a> {
    /// The phrase table.
    pub phrases: &'a dyn PhraseModel,
    /// Language models; may be empty.
    pub lms: Vec<&'a dyn LanguageModel>,
    /// Type of the orientation scores of `phrases`; none without such scores.
    pub orientation: Option<Orientation>,
    /// Path features.
    pub paths: Vec<&'a dyn PathFeature>,
}

/// The columns of each model in a row of feature values (definitions g.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureLayout {
    /// Language models.
    pub lm: Range<usize>,
    /// Word penalty: minus the number of target words.
    pub wp: usize,
    /// Phrase penalty: the number of phrases.
    pub pp: usize,
    /// Translation scores.
    pub tm: Range<usize>,
    /// Distortion.
    pub d: usize,
    /// Orientation, `prev` before `next`.
    pub lr: Range<usize>,
    /// Path features.
    pub path: Range<usize>,
    /// Unknown words: minus their number.
    pub oov: usize,
}

impl FeatureLayout {
    /// Return the number of features.
    pub fn len(&self) -> usize {
        self.oov + 1
    }

    /// Return false: the layout always has its fixed features.
    pub fn is_empty(&self) -> bool {
        false
    }
}

impl ModelSet<'_> {
    /// Return the columns of all features.
    pub fn layout(&self) -> FeatureLayout {
        let lm = 0..self.lms.len();
        let tm = lm.end + 2..lm.end + 2 + self.phrases.tm_scores();
        let lr = tm.end + 1..tm.end + 1 + self.orientation.map_or(0, |o| o.names().len());
        let path = lr.end..lr.end + self.paths.len();
        FeatureLayout { wp: lm.end, pp: lm.end + 1, d: tm.end, oov: path.end, lm, tm, lr, path }
    }

    /// Return for each feature whether its weight is at least 0 by definition. Language models,
    /// translation scores, orientation and path features are scores (higher is better), and
    /// distortion is a negative cost. Word penalty, phrase penalty and unknown words are counts;
    /// their weights may have either sign.
    pub fn nonnegative(&self) -> Vec<bool> {
        let FeatureLayout { wp, pp, oov, .. } = self.layout();
        (0..self.layout().len()).map(|feature| ![wp, pp, oov].contains(&feature)).collect()
    }

    /// Return the names of all features with weight 0, except 100 for unknown words.
    pub fn weights(&self) -> Result<FeatureWeights> {
        let numbered = |name: &str, count: usize| -> Vec<String> {
            (0..count).map(|number| format!("{name}{number}")).collect()
        };
        let mut names = match self.lms.len() {
            1 => vec!["lm".into()],
            count => numbered("lm", count),
        };
        names.extend(["wp".into(), "pp".into()]);
        names.extend(numbered("tm", self.phrases.tm_scores()));
        names.push("d".into());
        names.extend(self.orientation.map_or(Vec::new(), Orientation::names));
        names.extend(self.paths.iter().map(|path| path.name().to_owned()));
        names.push("oov".into());
        check_distinct(&names)?;
        let mut weights = FeatureWeights::zero(names);
        weights.set("oov", 100.0)?;
        Ok(weights)
    }
}

/// Return an error if two features have the same name.
fn check_distinct(names: &[String]) -> Result<()> {
    match names.iter().enumerate().find(|&(at, name)| names[..at].contains(name)) {
        Some((_, name)) => Err(Error::Argument {
            name: "features".into(),
            found: format!("two called `{name}`"),
            expected: format!("a name for each; taken are {}", names.join(", ")),
        }),
        None => Ok(()),
    }
}
