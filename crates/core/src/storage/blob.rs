//! Bytes that stay in memory while they are few and move to a file when they are not.
//!
//! In: bytes in order. Out: one run of bytes, in memory or mapped.
//! Cost: one copy when they move.

use super::mapped::map;
use super::temp::{TempFolder, TempWriter};
use crate::error::Result;
use memmap2::Mmap;
use std::ops::Range;
use std::sync::Arc;

/// Bytes in memory or in a file.
#[derive(Debug, Clone)]
pub enum Blob {
    /// In memory.
    Memory(Vec<u8>),
    /// A part of a mapped file.
    Mapped(Arc<Mmap>, Range<usize>),
}

impl Blob {
    /// All of a mapped file.
    pub fn of_file(map: Mmap) -> Self {
        let length = map.len();
        Blob::Mapped(Arc::new(map), 0..length)
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Blob::Memory(bytes) => bytes,
            Blob::Mapped(map, range) => &map[range.clone()],
        }
    }
}

/// A blob in the making: beyond `limit` bytes it goes to a temporary file.
#[derive(Debug)]
pub struct BlobWriter<'f> {
    /// Where new bytes are put; call `settle` now and then.
    pub buffer: Vec<u8>,
    limit: usize,
    folder: &'f TempFolder,
    file: Option<TempWriter>,
}

impl<'f> BlobWriter<'f> {
    /// An empty one.
    pub fn new(limit: usize, folder: &'f TempFolder) -> Self {
        BlobWriter { buffer: Vec::new(), limit, folder, file: None }
    }

    /// Moves bytes to the file when there are too many.
    pub fn settle(&mut self) -> Result<()> {
        if self.buffer.len() <= self.limit { Ok(()) } else { self.spill() }
    }

    /// Moves all bytes to the file.
    fn spill(&mut self) -> Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(TempWriter::create(self.folder)?),
        };
        file.write(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// The blob.
    pub fn finish(mut self) -> Result<Blob> {
        if self.file.is_some() {
            self.spill()?;
        }
        let Some(mut file) = self.file else {
            self.buffer.shrink_to_fit();
            return Ok(Blob::Memory(self.buffer));
        };
        file.flush()?;
        Ok(Blob::of_file(map(file.path())?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blob_is_the_same_in_memory_and_in_a_file() {
        let folder = TempFolder::new(None);
        for limit in [0, 10, 1000] {
            let mut writer = BlobWriter::new(limit, &folder);
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
