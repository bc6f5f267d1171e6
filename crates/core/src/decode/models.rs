//! The models of a system side by side, and which weight belongs to which.

use crate::error::{Error, Result};
use crate::feature::{LanguageModel, PathFeature, PhraseModel, Weights};
use crate::orientation::Orientation;
use std::ops::Range;

/// The models a decoder works with; all are shared and never change.
#[derive(Clone)]
pub struct Models<'a> {
    /// Phrase pairs with their scores.
    pub phrases: &'a dyn PhraseModel,
    /// Language models, one or more, or none.
    pub lms: Vec<&'a dyn LanguageModel>,
    /// What the orientation scores of `phrases` mean; none when it has none.
    pub orientation: Option<Orientation>,
    /// Further features with a state.
    pub paths: Vec<&'a dyn PathFeature>,
}

/// Where the features of each model stand in the row of all features (definitions g.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
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

impl Layout {
    /// Number of features.
    pub fn len(&self) -> usize {
        self.oov + 1
    }

    /// Never: a layout always has its fixed features.
    pub fn is_empty(&self) -> bool {
        false
    }
}

impl Models<'_> {
    /// Where each feature stands.
    pub fn layout(&self) -> Layout {
        let lm = 0..self.lms.len();
        let tm = lm.end + 2..lm.end + 2 + self.phrases.tm_scores();
        let lr = tm.end + 1..tm.end + 1 + self.orientation.map_or(0, |o| o.names().len());
        let path = lr.end..lr.end + self.paths.len();
        Layout { wp: lm.end, pp: lm.end + 1, d: tm.end, oov: path.end, lm, tm, lr, path }
    }

    /// Whether the weight of each feature is at least 0 by definition: a language model, a
    /// translation score, orientation and a path feature are scores of which the higher is better,
    /// and distortion is minus a cost. Word penalty, phrase penalty and unknown words are counts,
    /// whose weights may have either sign.
    pub fn nonnegative(&self) -> Vec<bool> {
        let Layout { wp, pp, oov, .. } = self.layout();
        (0..self.layout().len()).map(|feature| ![wp, pp, oov].contains(&feature)).collect()
    }

    /// All features by name with weight 0, but unknown words with 100.
    pub fn weights(&self) -> Result<Weights> {
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
        let mut weights = Weights::zero(names);
        weights.set("oov", 100.0)?;
        Ok(weights)
    }
}

/// Refuses two features of one name.
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
