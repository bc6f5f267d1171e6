//! Temporary files that go when their owner goes.
//!
//! In: a folder to work in, or none for the system's. Out: files inside a folder of our own,
//! which is made with the first of them and removed with the value. What a killed process left
//! is removed when the next such folder is made.
//! Cost: nothing until the first file.

use super::part::Part;
use crate::error::{Error, Result};
use std::fs::{self, File};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// Bytes that are gathered before they are written.
pub(super) const BUFFER: usize = 1 << 16;
/// What the names of our folders begin with.
const NAME: &str = "wayword-";

/// A folder for files that are not kept.
#[derive(Debug)]
pub struct TempFolder {
    parent: PathBuf,
    folder: Mutex<Option<Part>>,
    files: AtomicU64,
}

impl TempFolder {
    /// A folder to be made inside `parent`, or in the system's place for temporary files.
    pub fn new(parent: Option<&Path>) -> Arc<Self> {
        let parent = parent.map_or_else(std::env::temp_dir, Path::to_path_buf);
        Arc::new(TempFolder { parent, folder: Mutex::new(None), files: AtomicU64::new(0) })
    }

    /// The path of a file that is not there yet.
    pub fn new_path(&self) -> Result<PathBuf> {
        Ok(self.path()?.join(self.files.fetch_add(1, Relaxed).to_string()))
    }

    /// Where it is; it is made now if it was not before.
    pub fn path(&self) -> Result<PathBuf> {
        let mut folder = self.folder.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(folder) = &*folder {
            return Ok(folder.path.clone());
        }
        let made = fs::create_dir_all(&self.parent)
            .and_then(|()| Part::folder(&self.parent, NAME, ""))
            .map_err(|source| Error::io(&self.parent, source))?;
        Ok(folder.insert(made).path.clone())
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        let folder = self.folder.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(folder) = folder {
            let _ = fs::remove_dir_all(&folder.path);
        }
    }
}

/// A temporary file that is written front to back.
#[derive(Debug)]
pub(super) struct TempWriter {
    path: PathBuf,
    file: BufWriter<File>,
}

impl TempWriter {
    pub fn create(folder: &TempFolder) -> Result<Self> {
        let path = folder.new_path()?;
        let file = File::create(&path).map_err(|source| Error::io(&path, source))?;
        Ok(TempWriter { path, file: BufWriter::with_capacity(BUFFER, file) })
    }

    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|source| Error::io(&self.path, source))
    }

    /// Hands all bytes to the system, so that they can be read under `path`.
    pub fn flush(&mut self) -> Result<()> {
        self.file.flush().map_err(|source| Error::io(&self.path, source))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes the name away; whoever has opened or mapped the file goes on reading it.
    #[cfg(unix)]
    pub fn remove(self) -> Result<()> {
        fs::remove_file(&self.path).map_err(|source| Error::io(&self.path, source))
    }
}

/// A temporary file to which threads add, and from which they read at any place.
#[derive(Debug)]
pub struct TempFile {
    folder: Arc<TempFolder>,
    file: Mutex<Option<Opened>>,
}

#[derive(Debug)]
struct Opened {
    file: File,
    path: PathBuf,
    length: u64,
}

impl TempFile {
    /// A file that is made with the first bytes.
    pub fn new(folder: Arc<TempFolder>) -> Self {
        TempFile { folder, file: Mutex::new(None) }
    }

    /// Number of bytes in it.
    pub fn len(&self) -> u64 {
        self.with(|file| file.as_ref().map_or(0, |file| file.length))
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn with<T>(&self, run: impl FnOnce(&mut Option<Opened>) -> T) -> T {
        run(&mut self.file.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }

    /// Adds bytes at the end; where they begin.
    pub fn push(&self, bytes: &[u8]) -> Result<u64> {
        self.with(|opened| {
            let Opened { file, path, length } = match opened {
                Some(opened) => opened,
                none => {
                    let path = self.folder.new_path()?;
                    let options = File::options().read(true).write(true).create_new(true).clone();
                    let file = options.open(&path).map_err(|source| Error::io(&path, source))?;
                    none.insert(Opened { file, path, length: 0 })
                }
            };
            let start = *length;
            file.seek(SeekFrom::Start(start))
                .and_then(|_| file.write_all(bytes))
                .map_err(|source| Error::io(path, source))?;
            *length += bytes.len() as u64;
            Ok(start)
        })
    }

    /// Fills `bytes` with what begins at a place.
    pub fn read(&self, start: u64, bytes: &mut [u8]) -> Result<()> {
        self.with(|opened| {
            let Some(Opened { file, path, .. }) = opened else {
                let source = std::io::ErrorKind::UnexpectedEof.into();
                return Err(Error::io(Path::new("temporary file"), source));
            };
            file.seek(SeekFrom::Start(start))
                .and_then(|_| file.read_exact(bytes))
                .map_err(|source| Error::io(path, source))
        })
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        // Closed before the folder goes: some systems remove no open file.
        self.with(|file| *file = None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_gone_afterwards() {
        let folder = TempFolder::new(None);
        assert!(folder.folder.lock().unwrap().is_none());
        let file = TempFile::new(folder.clone());
        assert_eq!(file.push(b"some").unwrap(), 0);
        assert_eq!(file.push(b"more").unwrap(), 4);
        let mut bytes = [0; 3];
        file.read(3, &mut bytes).unwrap();
        assert_eq!((&bytes, file.len()), (b"emo", 8));
        assert!(file.read(6, &mut bytes).is_err());
        let path = folder.path().unwrap();
        assert!(path.exists());
        drop((folder, file));
        assert!(!path.exists());
    }
}
