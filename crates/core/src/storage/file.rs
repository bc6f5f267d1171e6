//! Files that are there whole or not at all.
//!
//! In: bytes. Out: the file under its name, once `finish` was called; before that they stand
//! beside it under a temporary name, which is removed when the writer is dropped unfinished.

use crate::error::{Error, Result};
use std::fs::{self, File};
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A file in the making.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    temporary: PathBuf,
    writer: Option<BufWriter<File>>,
}

impl NewFile {
    /// Begins a file; nothing is seen under `path` until `finish`.
    pub fn create(path: &Path) -> Result<Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let temporary = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
        let file = File::create(&temporary).map_err(|source| Error::io(path, source))?;
        let writer = Some(BufWriter::with_capacity(1 << 17, file));
        Ok(NewFile { path: path.into(), temporary, writer })
    }

    /// Writes a file of these bytes.
    pub fn save(path: &Path, bytes: &[u8]) -> Result<()> {
        let mut file = NewFile::create(path)?;
        file.write(bytes)?;
        file.finish()
    }

    /// Adds bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let writer = self.writer.as_mut().expect("a file is written before it is finished");
        writer.write_all(bytes).map_err(|source| Error::io(&self.path, source))
    }

    /// Writes over the first bytes, of which there must be as many already.
    pub(super) fn write_start(&mut self, bytes: &[u8]) -> Result<()> {
        let writer = self.writer.as_mut().expect("a file is written before it is finished");
        let done = writer.seek(SeekFrom::Start(0)).and_then(|_| writer.write_all(bytes));
        done.map_err(|source| Error::io(&self.path, source))
    }

    /// Brings all bytes to the disk and gives the file its name.
    pub fn finish(mut self) -> Result<()> {
        let writer = self.writer.take().expect("a file is finished once");
        let done = writer.into_inner().map_err(|error| error.into_error()).and_then(|file| {
            file.sync_all()?;
            fs::rename(&self.temporary, &self.path)
        });
        done.map_err(|source| Error::io(&self.path, source))
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // After `finish` the temporary name is gone and this does nothing.
        let _ = fs::remove_file(&self.temporary);
    }
}
