//! Numbers as bytes, in memory or in mapped files.
//!
//! In: small numbers, mostly. Out: seven bits a byte, low bits first, the top bit says that more
//! follow; `Blob`, which stays in memory while it is small and moves to a file when it is not.
//! Reading never goes past the end: a cut or damaged file gives `None`, never a panic.

use crate::error::{Error, Result};
use memmap2::Mmap;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Adds a number to the end of `out`.
pub fn write_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads numbers and bytes one after the other.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    /// A cursor at the start of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Cursor { rest: bytes }
    }

    /// What has not been read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Whether all has been read.
    pub fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next number.
    #[inline]
    pub fn number(&mut self) -> Option<u64> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        if first < 0x80 {
            return Some(u64::from(first));
        }
        let mut number = u64::from(first & 0x7f);
        for shift in (7..64).step_by(7) {
            let (&byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// The next number, when it is below 2³².
    #[inline]
    pub fn small(&mut self) -> Option<u32> {
        self.number()?.try_into().ok()
    }

    /// The next `count` bytes.
    #[inline]
    pub fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(bytes)
    }

    /// The next `N` bytes.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }
}

/// Maps a file into memory.
pub fn map(path: &Path) -> Result<Mmap> {
    let file = File::open(path).map_err(|source| Error::io(path, source))?;
    map_open(&file).map_err(|source| Error::io(path, source))
}

#[expect(unsafe_code, reason = "a mapped file is the one way to open gigabytes in milliseconds")]
fn map_open(file: &File) -> std::io::Result<Mmap> {
    // SAFETY: the bytes are only ever read, and every reader checks its bounds and takes any
    // bytes. Our files are written aside and renamed, so none is cut while it is mapped by us.
    unsafe { Mmap::map(file) }
}

/// A folder for files that are not kept.
#[derive(Debug)]
pub struct Workshop {
    folder: PathBuf,
    files: AtomicU64,
}

impl Workshop {
    /// A new folder inside `parent`, or where the system keeps such things.
    pub fn new(parent: Option<&Path>) -> Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let parent = parent.map_or_else(std::env::temp_dir, Path::to_path_buf);
        let name =
            format!("wayword-extract.{}.{}", std::process::id(), NUMBER.fetch_add(1, Relaxed));
        let folder = parent.join(name);
        fs::create_dir_all(&folder).map_err(|source| Error::io(&folder, source))?;
        Ok(Workshop { folder, files: AtomicU64::new(0) })
    }

    fn path(&self) -> PathBuf {
        self.folder.join(self.files.fetch_add(1, Relaxed).to_string())
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Bytes in memory or in a file.
#[derive(Debug, Clone)]
pub enum Blob {
    /// In memory.
    Memory(Vec<u8>),
    /// A part of a mapped file.
    Mapped(Arc<Mmap>, Range<usize>),
}

impl Blob {
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Blob::Memory(bytes) => bytes,
            Blob::Mapped(map, range) => &map[range.clone()],
        }
    }
}

/// A blob in the making: beyond `limit` bytes it goes to a file of the workshop.
#[derive(Debug)]
pub struct BlobWriter<'w> {
    /// Where new bytes are put; call `settle` now and then.
    pub buffer: Vec<u8>,
    limit: usize,
    workshop: &'w Workshop,
    file: Option<(PathBuf, BufWriter<File>)>,
}

impl<'w> BlobWriter<'w> {
    /// An empty one.
    pub fn new(limit: usize, workshop: &'w Workshop) -> Self {
        BlobWriter { buffer: Vec::new(), limit, workshop, file: None }
    }

    /// Moves bytes to the file when there are too many.
    pub fn settle(&mut self) -> Result<()> {
        if self.buffer.len() <= self.limit { Ok(()) } else { self.spill() }
    }

    /// Moves all bytes to the file.
    pub fn spill(&mut self) -> Result<()> {
        if self.file.is_none() {
            let path = self.workshop.path();
            let file = File::create(&path).map_err(|source| Error::io(&path, source))?;
            self.file = Some((path, BufWriter::new(file)));
        }
        if let Some((path, file)) = &mut self.file {
            file.write_all(&self.buffer).map_err(|source| Error::io(path, source))?;
            self.buffer.clear();
        }
        Ok(())
    }

    /// The blob.
    pub fn finish(mut self) -> Result<Blob> {
        if self.file.is_some() {
            self.spill()?;
        }
        let Some((path, file)) = self.file else {
            self.buffer.shrink_to_fit();
            return Ok(Blob::Memory(self.buffer));
        };
        let done = file.into_inner().map_err(|error| error.into_error());
        drop(done.map_err(|source| Error::io(&path, source))?);
        let map = map(&path)?;
        let length = map.len();
        Ok(Blob::Mapped(Arc::new(map), 0..length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back(numbers in proptest::collection::vec(any::<u64>(), 0..20)) {
            let mut bytes = Vec::new();
            numbers.iter().for_each(|&number| write_number(&mut bytes, number));
            let mut cursor = Cursor::new(&bytes);
            for number in numbers {
                prop_assert_eq!(cursor.number(), Some(number));
            }
            prop_assert!(cursor.is_at_end());
        }

        #[test]
        fn any_bytes_are_numbers_or_nothing(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let mut cursor = Cursor::new(&bytes);
            while cursor.number().is_some() {}
        }
    }

    #[test]
    fn a_blob_is_the_same_in_memory_and_in_a_file() {
        let workshop = Workshop::new(None).unwrap();
        for limit in [0, 10, 1000] {
            let mut writer = BlobWriter::new(limit, &workshop);
            for byte in 0..100 {
                writer.buffer.push(byte);
                writer.settle().unwrap();
            }
            let blob = writer.finish().unwrap();
            assert_eq!(blob.bytes(), (0..100).collect::<Vec<u8>>());
            assert_eq!(matches!(blob, Blob::Mapped(..)), limit < 100);
        }
    }
}
