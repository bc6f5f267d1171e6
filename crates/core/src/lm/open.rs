//! Opens a model of any form, told by its first bytes.

use super::image::write_image_in_memory;
use super::model::{Model, is_image};
use super::read_arpa;
use crate::Job;
use crate::error::{Error, Place, Result};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The start of files that KenLM wrote for itself.
const KENLM: &[u8] = b"mmap lm http://kheafield.com/code";
/// Bytes that sorting may use while an ARPA file is laid out.
const MEMORY: usize = 1 << 30;

/// How a model is opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// Check every byte and not only the header.
    pub verify: bool,
    /// Read all of it into memory instead of mapping it.
    pub in_memory: bool,
}

/// Maps a file of wayword's, or reads an ARPA file (plain or compressed) into memory.
pub fn load(path: &Path, options: LoadOptions, job: &Job) -> Result<Model> {
    let mut start = Vec::new();
    let file = File::open(path).map_err(|source| Error::io(path, source))?;
    file.take(64).read_to_end(&mut start).map_err(|source| Error::io(path, source))?;
    if is_image(&start) {
        let model = Model::open(path, options.verify)?;
        return if options.in_memory { model.into_memory() } else { Ok(model) };
    }
    if start.starts_with(KENLM) {
        return Err(kenlm(path));
    }
    write_image_in_memory(&read_arpa(path, job)?, MEMORY, job)
}

fn kenlm(path: &Path) -> Error {
    Error::Format {
        place: Place::file(path),
        found: "a binary file of KenLM".into(),
        expected: "an ARPA file or a model of wayword".into(),
        advice: "such files depend on KenLM's version; \
                 give the ARPA file it was made from, which wayword reads as it is"
            .into(),
    }
}
