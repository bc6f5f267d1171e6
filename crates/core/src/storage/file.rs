//! Files and folders that are there whole or not at all.
//!
//! In: bytes. Out: the file under its name, once `finish` was called; before that they stand
//! beside it under a name that nobody can guess, which is removed when the writer is dropped
//! unfinished, and by the next writer of the same file when the process was killed.
//! How: only a regular file is ever replaced. A device or a pipe cannot be: bytes go through to
//! it as they come. A link, a folder or a disk is refused.

use super::part::Part;
use crate::error::{Error, Result};
use std::fs::{self, File, FileType};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Bytes that are gathered before they are written.
const BUFFER: usize = 1 << 17;
/// What a name in the making ends with.
const END: &str = ".part";
/// How much of a name goes into the temporary one: file systems allow 255 bytes.
const LONGEST: usize = 64;
/// How long a pipe may have no reader.
const PATIENCE: Duration = Duration::from_secs(10);

/// A file in the making.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    /// None when bytes go through to a device or pipe.
    temporary: Option<PathBuf>,
    writer: Option<BufWriter<File>>,
}

impl NewFile {
    /// Begins a file; nothing is seen under `path` until `finish`, unless it is a device or pipe.
    pub fn create(path: &Path) -> Result<Self> {
        if is_replaced(path)? {
            return NewFile::replacing(path);
        }
        let file = open_through(path)?;
        let writer = Some(BufWriter::with_capacity(BUFFER, file));
        Ok(NewFile { path: path.into(), temporary: None, writer })
    }

    /// Begins a file that takes the place of a regular one; refuses devices and pipes, which
    /// cannot be written out of order.
    pub fn create_regular(path: &Path) -> Result<Self> {
        if is_replaced(path)? {
            return NewFile::replacing(path);
        }
        Err(refusal(path, "a device or pipe", "write a file and copy it there"))
    }

    fn replacing(path: &Path) -> Result<Self> {
        let part = Part::file(folder_of(path), &beginning(path), END)
            .map_err(|source| Error::io(path, source))?;
        let writer = Some(BufWriter::with_capacity(BUFFER, part.file));
        Ok(NewFile { path: path.into(), temporary: Some(part.path), writer })
    }

    /// Writes a file of these bytes.
    pub fn save(path: &Path, bytes: &[u8]) -> Result<()> {
        let mut file = NewFile::create(path)?;
        file.write(bytes)?;
        file.finish()
    }

    /// Where the bytes are until the file is whole; none when they go through to a device.
    pub fn temporary(&self) -> Option<&Path> {
        self.temporary.as_deref()
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
            let Some(temporary) = &self.temporary else {
                return Ok(());
            };
            file.sync_all()?;
            // The lock is held until the file has its name, so that nobody sweeps it before.
            fs::rename(temporary, &self.path)
        });
        done.map_err(|source| Error::io(&self.path, source))?;
        self.temporary = None;
        Ok(())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let _ = fs::remove_file(temporary);
        }
    }
}

/// A folder in the making.
#[derive(Debug)]
pub struct NewFolder {
    path: PathBuf,
    part: Option<Part>,
}

impl NewFolder {
    /// Begins a folder where nothing stands yet; nothing is seen there until `finish`.
    pub fn create(path: &Path) -> Result<Self> {
        if path.symlink_metadata().is_ok() {
            return Err(refusal(
                path,
                "something there already",
                "choose another name or remove it",
            ));
        }
        let part = Part::folder(folder_of(path), &beginning(path), END)
            .map_err(|source| Error::io(path, source))?;
        Ok(NewFolder { path: path.into(), part: Some(part) })
    }

    /// Where its files go until it is whole.
    pub fn temporary(&self) -> &Path {
        self.part.as_ref().map_or(&self.path, |part| &part.path)
    }

    /// Gives the folder its name, and lets others look into it.
    pub fn finish(mut self) -> Result<()> {
        let part = self.part.take().expect("a folder is finished once");
        let named = open_to_others(&part.path).and_then(|()| fs::rename(&part.path, &self.path));
        named.map_err(|source| {
            let _ = fs::remove_dir_all(&part.path);
            Error::io(&self.path, source)
        })
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        if let Some(part) = &self.part {
            let _ = fs::remove_dir_all(&part.path);
        }
    }
}

#[cfg(unix)]
fn open_to_others(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o755))
}

#[cfg(not(unix))]
fn open_to_others(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// The folder that a file is in.
fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// What the temporary names of a file begin with.
fn beginning(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let cut = name.char_indices().map(|(at, _)| at).find(|&at| at > LONGEST);
    format!(".{}.", &name[..cut.unwrap_or(name.len())])
}

fn refusal(path: &Path, found: &str, advice: &str) -> Error {
    Error::Argument {
        name: path.display().to_string(),
        found: found.into(),
        expected: format!("the name of a file to write; {advice}"),
    }
}

/// Whether a file is put in the place of what stands there; otherwise bytes go through to it.
fn is_replaced(path: &Path) -> Result<bool> {
    let known = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        known => known.map_err(|source| Error::io(path, source))?.file_type(),
    };
    if known.is_file() {
        return Ok(true);
    }
    if !known.is_symlink() {
        return goes_through(path, known);
    }
    // `/dev/stdout` leads to whatever standard output is, also to a file.
    if ["/dev", "/proc"].iter().any(|system| path.starts_with(system)) {
        return Ok(false);
    }
    match fs::metadata(path).map(|target| target.file_type()) {
        Ok(target) if !target.is_file() => goes_through(path, target),
        _ => Err(refusal(path, "a link", "name the file that it leads to")),
    }
}

/// `false` for a device or pipe; an error for what is not to be written at all.
fn goes_through(path: &Path, kind: FileType) -> Result<bool> {
    if kind.is_dir() {
        return Err(Error::io(path, is_directory()));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_char_device() || kind.is_fifo() {
            return Ok(false);
        }
    }
    Err(refusal(path, "no regular file", "choose another name"))
}

/// What the system says of a folder where a file is wanted.
fn is_directory() -> io::Error {
    #[cfg(unix)]
    return io::Error::from_raw_os_error(libc::EISDIR);
    #[cfg(not(unix))]
    return io::ErrorKind::IsADirectory.into();
}

/// Opens a device or pipe. A pipe that nobody reads would hold the program for ever.
#[cfg(unix)]
fn open_through(path: &Path) -> Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut at_once = File::options();
    at_once.append(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    let begun = Instant::now();
    let probe = loop {
        match at_once.open(path) {
            Err(error) if error.raw_os_error() == Some(libc::ENXIO) => {
                if begun.elapsed() > PATIENCE {
                    let advice = "start the reader first";
                    return Err(refusal(path, "a pipe that no process reads", advice));
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            opened => break opened.map_err(|source| Error::io(path, source))?,
        }
    };
    // While the probe is open there is a reader, so that this does not wait.
    let file = File::options().append(true).custom_flags(libc::O_NOCTTY).open(path);
    drop(probe);
    file.map_err(|source| Error::io(path, source))
}

#[cfg(not(unix))]
fn open_through(path: &Path) -> Result<File> {
    File::options().append(true).open(path).map_err(|source| Error::io(path, source))
}

/// What `NewFile::create` would say of a path, and whether it would replace a file there; nothing
/// is opened or made.
pub fn replaces(path: &Path) -> Result<bool> {
    is_replaced(path)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::TempFolder;

    fn said<T: std::fmt::Debug>(result: Result<T>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn a_file_is_there_whole_or_not_at_all() {
        let room = TempFolder::new(None);
        let path = room.new_path().unwrap();
        let count = || fs::read_dir(path.parent().unwrap()).unwrap().count();
        let mut file = NewFile::create(&path).unwrap();
        file.write(b"some").unwrap();
        assert!(!path.exists() && count() == 1);
        drop(file);
        assert_eq!(count(), 0);
        NewFile::save(&path, b"whole").unwrap();
        assert_eq!((fs::read(&path).unwrap().as_slice(), count()), (&b"whole"[..], 1));
    }

    #[test]
    fn only_regular_files_are_replaced() {
        let room = TempFolder::new(None);
        let (file, link) = (room.new_path().unwrap(), room.new_path().unwrap());
        NewFile::save(&file, b"kept").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let advice = "expected the name of a file to write; name the file that it leads to";
        assert!(said(NewFile::create(&link)).ends_with(&format!("found a link; {advice}")));
        assert_eq!(fs::read(&file).unwrap(), b"kept");
        let folder = file.parent().unwrap();
        assert!(said(NewFile::create(folder)).contains("directory"));
        NewFile::save(Path::new("/dev/null"), b"gone").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        let found = said(NewFile::create_regular(Path::new("/dev/null")));
        assert!(found.starts_with("/dev/null: found a device or pipe; expected"), "{found}");
    }

    #[test]
    fn a_folder_is_there_whole_or_not_at_all() {
        let room = TempFolder::new(None);
        let path = room.new_path().unwrap();
        let folder = NewFolder::create(&path).unwrap();
        let temporary = folder.temporary().to_path_buf();
        fs::write(temporary.join("a"), b"b").unwrap();
        assert!(!path.exists());
        folder.finish().unwrap();
        assert!(path.join("a").exists() && !temporary.exists());
        assert!(said(NewFolder::create(&path)).contains("something there already"));
        let other = room.new_path().unwrap();
        let dropped = NewFolder::create(&other).unwrap().temporary().to_path_buf();
        assert!(!dropped.exists() && !other.exists());
    }

    #[test]
    fn long_names_are_cut_between_letters() {
        let name = format!("{}.lm", "ü".repeat(120));
        assert_eq!(beginning(Path::new(&name)), format!(".{}.", "ü".repeat(33)));
    }
}
