//! File format of a trained aligner.
//!
//! In: an `Aligner`, or bytes. Out: bytes, or an `Aligner` that gives the same links, or the flaw
//! of the bytes.
//! How: a sealed body of little-endian numbers and UTF-8 words.
//! A row of the lexicon is its length, its target words in ascending order, and their weights.
//! Cost: 8 bytes per word pair; one pass over the bytes.
//! Not: compression, or earlier versions.

use super::aligner::{Aligner, MAX_CALIBRATION, PositionModel};
use super::jump::{DISTANCES, EDGE_DISTANCES, JumpWeights};
use super::lexicon::{LexiconEntry, SideScale, TranslationLexicon};
use super::word_numbering::MAX_WORDS;
use crate::corpus::Vocab;
use crate::error::{Error, Place, Result};
use crate::narrow::to_u32;
use crate::storage::{Body, Checked, Flaw, NewFile, Seal};
use std::fs;
use std::path::Path;

pub(crate) const SEAL: Seal = Seal {
    magic: *b"WAYALIGN",
    version: 2,
    numbers: 0,
    what: "an aligner",
    advice: "copy the file again, or train and save the aligner again",
};

const DIAGONAL: u32 = 0;
const HMM: u32 = 1;

impl Aligner {
    /// Write the aligner to a file.
    pub fn save(&self, path: &Path) -> Result<()> {
        NewFile::save(path, &self.to_bytes())
    }

    /// Load a saved aligner.
    pub fn load(path: &Path) -> Result<Aligner> {
        let bytes = fs::read(path).map_err(|source| Error::io(path, source))?;
        Aligner::from_bytes(&bytes).map_err(|flaw| SEAL.error(Place::file(path), flaw))
    }

    /// Encode the aligner as the content of a file.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut body = AlignerWriter(Vec::new());
        body.f32s(&[self.null_prob]);
        body.order(&self.position_model);
        body.names(&self.src_names);
        body.names(&self.tgt_names);
        body.lexicon(&self.lexicon);
        if !self.calibration.is_empty() {
            body.u32(to_u32(self.calibration.len()));
            body.f32s(&self.calibration);
        }
        SEAL.seal(&[], &body.0)
    }

    /// Decode the output of `to_bytes`; every byte is checked.
    pub(super) fn from_bytes(bytes: &[u8]) -> Checked<Aligner> {
        let mut body = AlignerReader(SEAL.open(bytes)?.read()?);
        let null_prob = body.probability()?;
        let order = body.order()?;
        let src_names = body.names()?;
        let tgt_names = body.names()?;
        let lexicon = body.lexicon(src_names.len(), tgt_names.len())?;
        let mut aligner = Aligner::new([src_names, tgt_names], lexicon, order, null_prob);
        aligner.calibration = body.calibration()?;
        body.0.end()?;
        Ok(aligner)
    }
}

struct AlignerWriter(Vec<u8>);

impl AlignerWriter {
    fn u32(&mut self, value: u32) {
        self.0.extend(value.to_le_bytes());
    }

    fn f32s(&mut self, values: &[f32]) {
        values.iter().for_each(|value| self.0.extend(value.to_le_bytes()));
    }

    fn order(&mut self, order: &PositionModel) {
        match order {
            PositionModel::Diagonal { tension } => {
                self.u32(DIAGONAL);
                self.f32s(&[*tension]);
            }
            PositionModel::Hmm(directions) => {
                self.u32(HMM);
                for jumps in directions.iter() {
                    self.f32s(&jumps.step);
                    self.f32s(&jumps.first);
                    self.f32s(&jumps.last);
                }
            }
        }
    }

    fn names(&mut self, names: &Vocab) {
        self.u32(to_u32(names.len()));
        for name in (0..to_u32(names.len())).map(|number| names.word(number)) {
            self.u32(to_u32(name.len()));
            self.0.extend(name.as_bytes());
        }
    }

    fn lexicon(&mut self, lexicon: &TranslationLexicon) {
        for side in [&lexicon.src, &lexicon.tgt] {
            self.f32s(&side.given);
            self.f32s(&side.null);
        }
        for src in 0..lexicon.src_len() {
            let entries = lexicon.entries(src);
            self.u32(to_u32(entries.len()));
            entries.iter().for_each(|entry| self.u32(entry.tgt));
            entries.iter().for_each(|entry| self.f32s(&[entry.weight]));
        }
    }
}

struct AlignerReader<'a>(Body<'a>);

impl AlignerReader<'_> {
    /// Read finite values that are not negative.
    fn f32s(&mut self, len: usize) -> Checked<Vec<f32>> {
        let values: Vec<f32> = self.0.groups(len)?.map(f32::from_le_bytes).collect();
        if values.iter().all(|value| value.is_finite() && *value >= 0.0) {
            return Ok(values);
        }
        Err(Flaw::new("a weight is negative or not a number"))
    }

    fn positive_f32s(&mut self, len: usize) -> Checked<Vec<f32>> {
        let values = self.f32s(len)?;
        if values.iter().all(|&value| value > 0.0) {
            return Ok(values);
        }
        Err(Flaw::new("a weight is zero that cannot be"))
    }

    fn probability(&mut self) -> Checked<f32> {
        let value = self.positive_f32s(1)?[0];
        if value < 1.0 {
            return Ok(value);
        }
        Err(Flaw::new("a probability is over 1"))
    }

    fn order(&mut self) -> Checked<PositionModel> {
        match self.0.u32()? {
            DIAGONAL => match self.f32s(1)?[0] {
                tension if tension <= MAX_WORDS as f32 => Ok(PositionModel::Diagonal { tension }),
                _ => Err(Flaw::new("the tension is too high")),
            },
            HMM => Ok(PositionModel::Hmm(Box::new([self.jumps()?, self.jumps()?]))),
            _ => Err(Flaw::new("an unknown model of order")),
        }
    }

    fn jumps(&mut self) -> Checked<JumpWeights> {
        Ok(JumpWeights {
            step: self.positive_f32s(DISTANCES)?,
            first: self.positive_f32s(EDGE_DISTANCES)?,
            last: self.positive_f32s(EDGE_DISTANCES)?,
        })
    }

    fn names(&mut self) -> Checked<Vocab> {
        let count = self.0.u32()?;
        let mut names = Vocab::default();
        for number in 0..count {
            let len = self.0.u32()? as usize;
            if names.intern(self.0.text(len, "a word")?) != number {
                return Err(Flaw::new("a word stands in it twice"));
            }
        }
        Ok(names)
    }

    /// Read the optional calibration after the lexicon.
    fn calibration(&mut self) -> Checked<Vec<f32>> {
        if self.0.is_at_end() {
            return Ok(Vec::new());
        }
        let len = self.0.u32()? as usize;
        if !(1..=MAX_CALIBRATION).contains(&len) {
            return Err(Flaw::new("a calibration of no or too many numbers"));
        }
        let values: Vec<f32> = self.0.groups(len)?.map(f32::from_le_bytes).collect();
        if values.iter().all(|value| value.is_finite()) {
            return Ok(values);
        }
        Err(Flaw::new("a calibration that is not a number"))
    }

    fn side(&mut self, len: usize) -> Checked<SideScale> {
        Ok(SideScale { given: self.f32s(len)?, null: self.f32s(len)? })
    }

    fn lexicon(&mut self, src_len: usize, tgt_len: usize) -> Checked<TranslationLexicon> {
        let mut lexicon = TranslationLexicon::new();
        lexicon.src = self.side(src_len)?;
        lexicon.tgt = self.side(tgt_len)?;
        for _ in 0..src_len {
            let row = self.row(tgt_len)?;
            lexicon.push_row(&row).map_err(|_| Flaw::new("too many pairs of words"))?;
        }
        Ok(lexicon)
    }

    fn row(&mut self, tgt_len: usize) -> Checked<Vec<LexiconEntry>> {
        let len = self.0.u32()? as usize;
        let tgt: Vec<u32> = self.0.groups(len)?.map(u32::from_le_bytes).collect();
        let is_ascending = tgt.windows(2).all(|pair| pair[0] < pair[1]);
        if !is_ascending || tgt.last().is_some_and(|&last| last as usize >= tgt_len) {
            return Err(Flaw::new("a row of the lexicon is out of order"));
        }
        let weights = self.f32s(len)?;
        Ok(tgt.into_iter().zip(weights).map(|(tgt, weight)| LexiconEntry { tgt, weight }).collect())
    }
}
