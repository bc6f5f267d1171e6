//! The trained aligner: vocabularies, lexicon and position model.

use super::jump::JumpWeights;
use super::lexicon::TranslationLexicon;
use super::pair_features::LogFrequencies;
use crate::corpus::Vocab;
use crate::error::{Error, Result};
use std::sync::OnceLock;

/// Maximal number of calibration values.
pub const MAX_CALIBRATION: usize = 256;

/// The trained model of link positions.
#[derive(Debug, Clone, PartialEq)]
pub enum PositionModel {
    /// Strength of the diagonal prior.
    Diagonal { tension: f32 },
    /// Jump weights of each direction.
    Hmm(Box<[JumpWeights; 2]>),
}

/// Statistics of training an aligner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AlignerSummary {
    /// Number of sentence pairs in the text.
    pub pairs: usize,
    /// Number of pairs skipped because a side is blank.
    pub blank: usize,
    /// Number of pairs skipped because a side has more than `MAX_WORDS` words.
    pub too_long: usize,
    /// Number of word pairs in the trained lexicon.
    pub lexicon: usize,
    /// Number of co-occurring word pairs dropped by the memory limit.
    pub no_room: u64,
}

/// A trained aligner; immutable and shared by threads.
#[derive(Debug, Clone)]
pub struct Aligner {
    pub(super) src_names: Vocab,
    pub(super) tgt_names: Vocab,
    pub(super) lexicon: TranslationLexicon,
    pub(super) position_model: PositionModel,
    pub(super) null_prob: f32,
    /// Parameters from features to a quality score; empty if not fitted.
    pub(super) calibration: Vec<f32>,
    pub(super) summary: Option<AlignerSummary>,
    pub(super) frequencies: OnceLock<LogFrequencies>,
}

impl Aligner {
    /// Create an aligner without calibration and statistics.
    pub(super) fn new(
        names: [Vocab; 2],
        lexicon: TranslationLexicon,
        position_model: PositionModel,
        null_prob: f32,
    ) -> Aligner {
        let [src_names, tgt_names] = names;
        let (calibration, frequencies) = (Vec::new(), OnceLock::new());
        let summary = None;
        Aligner {
            src_names,
            tgt_names,
            lexicon,
            position_model,
            null_prob,
            calibration,
            summary,
            frequencies,
        }
    }

    /// Return the parameters from features to a quality score; empty if not fitted.
    pub fn calibration(&self) -> &[f32] {
        &self.calibration
    }

    /// Return a copy with another calibration, of up to `MAX_CALIBRATION` finite values.
    pub fn calibrated(&self, calibration: Vec<f32>) -> Result<Aligner> {
        let is_good = calibration.iter().all(|value| value.is_finite());
        if !is_good || calibration.len() > MAX_CALIBRATION {
            return Err(Error::Argument {
                name: "calibration".into(),
                found: format!("{} numbers", calibration.len()),
                expected: format!("up to {MAX_CALIBRATION} finite numbers"),
            });
        }
        Ok(Aligner { calibration, ..self.clone() })
    }

    /// Return the statistics of training; `None` for a loaded aligner.
    pub fn summary(&self) -> Option<AlignerSummary> {
        self.summary
    }
}
