//! Opens a model file of any format, detected by its first bytes.

use super::arpa_reader::read_arpa;
use super::binary_writer::build_model;
use super::model::{Model, is_binary_model};
use crate::Job;
use crate::error::{Error, Place, Result};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Magic bytes of KenLM's binary files.
const KENLM_MAGIC: &[u8] = b"mmap lm http://kheafield.com/code";
/// Memory limit in bytes for sorting while an ARPA file is converted.
const CONVERT_MEMORY: usize = 1 << 30;

/// Options of opening a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LmLoadOptions {
    /// Compare the whole file with its checksum, not only the header.
    pub verify: bool,
    /// Copy the file into memory instead of mapping it.
    pub in_memory: bool,
}

/// Map a binary model, or convert an ARPA file (plain or compressed) in memory.
pub fn load(path: &Path, options: LmLoadOptions, job: &Job) -> Result<Model> {
    let mut start = Vec::new();
    let file = File::open(path).map_err(|source| Error::io(path, source))?;
    file.take(64).read_to_end(&mut start).map_err(|source| Error::io(path, source))?;
    if is_binary_model(&start) {
        let model = Model::open(path, options.verify)?;
        return if options.in_memory { model.into_memory() } else { Ok(model) };
    }
    if start.starts_with(KENLM_MAGIC) {
        return Err(kenlm_error(path));
    }
    build_model(&read_arpa(path, job)?, CONVERT_MEMORY, job)
}

fn kenlm_error(path: &Path) -> Error {
    Error::Format {
        place: Place::file(path),
        found: "a binary file of KenLM".into(),
        expected: "an ARPA file or a model of wayword".into(),
        advice: "such files depend on KenLM's version; \
                 give the ARPA file it was made from, which wayword reads as it is"
            .into(),
    }
}
