//! Names for what is in the making, and the removal of what a killed process left behind.
//!
//! In: a folder, and what the names begin and end with. Out: a new file or folder whose name
//! nobody can guess, and a lock on it that lasts as long as its owner lives.
//! How: it is made only where nothing stands yet, so that no link that somebody planted is
//! followed. Before that, what has such a name and no lock is removed: its owner was killed. A
//! lock is of the system's kind and ends with the process, however that ends.
//! Cost: one look through the folder.
//! Not: sweeping where the system has no such locks; what is left over stays there.

use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};

/// Hex digits of a name that are drawn.
const DIGITS: usize = 16;
/// How often a name is drawn before something must be wrong with the folder.
const TRIES: usize = 16;

/// Something in the making: removed when its owner is gone, whatever became of it.
#[derive(Debug)]
pub(super) struct Part {
    /// Where it is until it is whole.
    pub path: PathBuf,
    /// Open, and locked where the system has locks.
    pub file: File,
}

impl Part {
    /// Makes a file in `folder`.
    pub fn file(folder: &Path, start: &str, end: &str) -> io::Result<Self> {
        Self::new(folder, start, end, |path| {
            File::options().read(true).write(true).create_new(true).open(path)
        })
    }

    /// Makes a folder in `folder` that nobody else can look into.
    pub fn folder(folder: &Path, start: &str, end: &str) -> io::Result<Self> {
        Self::new(folder, start, end, |path| {
            let mut builder = fs::DirBuilder::new();
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            builder.create(path)?;
            // Until it is locked another process may take it for left over; then another is made.
            open_folder(path).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => io::ErrorKind::AlreadyExists.into(),
                _ => error,
            })
        })
    }

    fn new(
        folder: &Path,
        start: &str,
        end: &str,
        create: impl Fn(&Path) -> io::Result<File>,
    ) -> io::Result<Self> {
        sweep(folder, start, end);
        for _ in 0..TRIES {
            let path = folder.join(format!("{start}{:016x}{end}", secret()));
            let file = match create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                created => created?,
            };
            // A system without locks is no reason to stop; nothing is swept there.
            let _ = file.lock();
            // Between the two lines above another process may have swept it.
            if is_at(&file, &path) {
                return Ok(Part { path, file });
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

/// A number that nobody can guess.
fn secret() -> u64 {
    // The keys of a `RandomState` come from the system's source of chance.
    RandomState::new().build_hasher().finish()
}

/// Removes what a killed process left in a folder under names of this kind.
fn sweep(folder: &Path, start: &str, end: &str) {
    let Ok(entries) =
        fs::read_dir(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
    else {
        return; // whoever makes the file will hear why
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if name.to_str().is_some_and(|name| is_drawn(name, start, end)) {
            let _ = remove_if_left(&entry.path());
        }
    }
}

fn is_drawn(name: &str, start: &str, end: &str) -> bool {
    let digits = name.strip_prefix(start).and_then(|rest| rest.strip_suffix(end));
    digits.is_some_and(|digits| {
        digits.len() == DIGITS && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
    })
}

/// Removes a file or folder that no living process has locked.
fn remove_if_left(path: &Path) -> io::Result<()> {
    let kind = fs::symlink_metadata(path)?.file_type();
    let file = match (kind.is_file(), kind.is_dir()) {
        (true, _) => File::open(path)?,
        (_, true) => open_folder(path)?,
        _ => return Ok(()), // nothing that we make
    };
    if !takes_lock(&file) || !is_at(&file, path) {
        return Ok(());
    }
    if kind.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

/// A folder as a file that can be locked.
fn open_folder(path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    return File::open(path);
    // Elsewhere folders are not opened: any file does, since nothing is locked there.
    #[cfg(not(unix))]
    return File::options().write(true).create_new(true).open(path.join("lock"));
}

#[cfg(unix)]
fn takes_lock(file: &File) -> bool {
    file.try_lock().is_ok()
}

#[cfg(not(unix))]
fn takes_lock(_file: &File) -> bool {
    false
}

/// Whether a path still leads to an open file.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(open), Ok(there)) = (file.metadata(), fs::symlink_metadata(path)) else {
        return false;
    };
    (open.dev(), open.ino()) == (there.dev(), there.ino())
}

#[cfg(not(unix))]
fn is_at(_file: &File, _path: &Path) -> bool {
    true
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    fn new_folder() -> Part {
        Part::folder(&std::env::temp_dir(), "wayword-part-", "").unwrap()
    }

    #[test]
    fn what_a_dead_owner_left_is_swept_and_the_rest_stays() {
        let room = new_folder();
        let alive = Part::file(&room.path, ".a.", ".part").unwrap();
        let left = room.path.join(".a.0123456789abcdef.part");
        let folder_left = room.path.join(".a.fedcba9876543210.part");
        let others = [".a.part", ".a.123.part", ".b.0123456789abcdef.part", "a"];
        fs::write(&left, b"half").unwrap();
        fs::create_dir(&folder_left).unwrap();
        fs::write(folder_left.join("inside"), b"half").unwrap();
        for name in others {
            fs::write(room.path.join(name), b"").unwrap();
        }
        let second = Part::file(&room.path, ".a.", ".part").unwrap();
        assert!(!left.exists() && !folder_left.exists());
        assert!(alive.path.exists() && second.path.exists() && alive.path != second.path);
        assert!(others.iter().all(|name| room.path.join(name).exists()));
        fs::remove_dir_all(&room.path).unwrap();
    }

    #[test]
    fn folders_can_be_made_at_the_same_time() {
        let room = new_folder();
        let make = || (0..200).map(|_| Part::folder(&room.path, "a-", "").map(|_| ()));
        std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..4).map(|_| scope.spawn(|| make().collect::<io::Result<Vec<_>>>())).collect();
            for thread in threads {
                thread.join().unwrap().unwrap();
            }
        });
        fs::remove_dir_all(&room.path).unwrap();
    }

    #[test]
    fn a_planted_link_is_neither_followed_nor_removed() {
        let room = new_folder();
        let target = room.path.join("target");
        fs::write(&target, b"precious").unwrap();
        let link = room.path.join(".a.0123456789abcdef.part");
        std::os::unix::fs::symlink(&target, &link).unwrap();
        Part::file(&room.path, ".a.", ".part").unwrap();
        assert_eq!(fs::read(&link).unwrap(), b"precious");
        fs::remove_dir_all(&room.path).unwrap();
    }
}
