//! Writes a tagger to bytes and reads it back.
//!
//! In: a `Tagger`, or bytes. Out: bytes, or a `Tagger` that tags exactly the same, or what is
//! wrong with them.
//! How: a sealed body of little-endian numbers. A pass is its labels, the words whose tags it
//! knows, and its features by ascending key with their weights.
//! Cost: 12 bytes per feature and 6 per weight; one pass over the bytes.
//! Not: compression, or versions before this one.

use super::labeller::{Labeller, Weight};
use super::tagger::{MAX_LABELS, MAX_PASSES, Tagger};
use crate::error::{Error, Place, Result};
use crate::narrow::{low_u64, to_u32};
use crate::storage::{Body, Checked, Flaw, NewFile, Seal};
use std::fs;
use std::path::Path;

pub(crate) const SEAL: Seal = Seal {
    magic: *b"WAYTAGGR",
    version: 2,
    numbers: 0,
    what: "a tagger",
    advice: "copy the file again, or fit the tagger again",
};

impl Tagger {
    /// Writes the tagger to a file.
    pub fn save(&self, path: &Path) -> Result<()> {
        NewFile::save(path, &self.to_bytes())
    }

    /// Opens a saved tagger.
    pub fn load(path: &Path) -> Result<Tagger> {
        let bytes = fs::read(path).map_err(|source| Error::io(path, source))?;
        Tagger::from_bytes(&bytes, &Place::file(path))
    }

    /// The tagger as the bytes of a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut body = Vec::new();
        put(&mut body, self.passes.len());
        for pass in &self.passes {
            put(&mut body, pass.labels.len());
            for label in &pass.labels {
                put(&mut body, label.len());
                body.extend(label.as_bytes());
            }
            put(&mut body, pass.lexicon.len());
            for &(word, tags) in &pass.lexicon {
                body.extend(word.to_le_bytes());
                body.extend(tags.to_le_bytes());
            }
            put(&mut body, pass.keys.len());
            pass.keys.iter().for_each(|key| body.extend(key.to_le_bytes()));
            pass.ends.iter().for_each(|end| body.extend(end.to_le_bytes()));
            for weight in &pass.weights {
                body.extend(weight.label.to_le_bytes());
                body.extend(weight.weight.to_le_bytes());
            }
        }
        SEAL.seal(&[], &body)
    }

    /// Reads what `to_bytes` wrote; every byte is checked. `place` is named in complaints.
    pub fn from_bytes(bytes: &[u8], place: &Place) -> Result<Tagger> {
        read(bytes).map_err(|flaw| SEAL.error(place.clone(), flaw))
    }
}

fn put(body: &mut Vec<u8>, count: usize) {
    body.extend(to_u32(count).to_le_bytes());
}

fn read(bytes: &[u8]) -> Checked<Tagger> {
    let mut body = Reader(SEAL.open(bytes)?.read()?);
    let count = body.count()?;
    if !(1..=MAX_PASSES).contains(&count) {
        return Err(Flaw::new("an impossible number of passes"));
    }
    let passes = (0..count).map(|_| body.pass()).collect::<Checked<Vec<_>>>()?;
    body.0.end()?;
    Ok(Tagger { passes })
}

struct Reader<'a>(Body<'a>);

impl Reader<'_> {
    fn count(&mut self) -> Checked<usize> {
        Ok(self.0.u32()? as usize)
    }

    fn pass(&mut self) -> Checked<Labeller> {
        let labels = self.labels()?;
        let words = self.count()?;
        let lexicon: Vec<_> = self.0.groups::<16>(words)?.map(word_and_tags).collect();
        let count = self.count()?;
        let keys: Vec<u64> = self.0.groups(count)?.map(u64::from_le_bytes).collect();
        let ends: Vec<u32> = self.0.groups(count)?.map(u32::from_le_bytes).collect();
        let is_sorted = keys.is_sorted_by(|left, right| left < right)
            && lexicon.is_sorted_by(|left, right| left.0 < right.0);
        if !is_sorted || !ends.is_sorted() {
            return Err(Flaw::new("features out of order"));
        }
        let total = ends.last().map_or(0, |&end| end as usize);
        let weights: Vec<Weight> = self.0.groups::<6>(total)?.map(weight_of).collect();
        if weights
            .iter()
            .any(|weight| usize::from(weight.label) >= labels.len() || !weight.weight.is_finite())
        {
            return Err(Flaw::new("a weight of no label, or no number"));
        }
        Ok(Labeller::new(labels, lexicon, keys, ends, weights))
    }

    fn labels(&mut self) -> Checked<Vec<String>> {
        let count = self.count()?;
        if !(1..=MAX_LABELS).contains(&count) {
            return Err(Flaw::new("an impossible number of labels"));
        }
        let mut labels: Vec<String> = Vec::new();
        for _ in 0..count {
            let len = self.count()?;
            labels.push(self.0.text(len, "a label")?.to_owned());
        }
        Ok(labels)
    }
}

fn word_and_tags(bytes: [u8; 16]) -> (u64, u64) {
    let both = u128::from_le_bytes(bytes);
    (low_u64(both), (both >> 64) as u64)
}

fn weight_of(bytes: [u8; 6]) -> Weight {
    let [low, high, rest @ ..] = bytes;
    Weight { label: u16::from_le_bytes([low, high]), weight: f32::from_le_bytes(rest) }
}
