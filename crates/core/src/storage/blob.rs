//! Bytes that stay in memory while they are few and move to a file when they are not.
//!
//! In: bytes in order. Out: one run of bytes, in memory or mapped, and a way to read it front to
//! back (`Pass`) that gives pages back behind itself: a file of any size is read in a few MB.
//! Cost: one copy when they move.

use super::bytes::Cursor;
use super::mapped::{map, release};
use super::temp::{TempFolder, TempWriter};
use crate::error::Result;
use memmap2::Mmap;
use std::ops::Range;
use std::sync::Arc;

/// Bytes that a pass leaves behind before it gives their pages back, unless told.
const WINDOW: usize = 1 << 22;
/// The least such number: giving back costs a call to the system.
const LEAST_WINDOW: usize = 1 << 16;

/// Bytes in memory or in a file.
#[derive(Debug, Clone)]
pub enum Blob {
    /// In memory.
    Memory(Vec<u8>),
    /// A part of a mapped file.
    Mapped(Arc<Mmap>, Range<usize>),
}

impl Default for Blob {
    fn default() -> Self {
        Blob::Memory(Vec::new())
    }
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

    /// Bytes that it holds in memory, whoever reads it.
    pub fn memory(&self) -> usize {
        match self {
            Blob::Memory(bytes) => bytes.len(),
            Blob::Mapped(..) => 0,
        }
    }

    /// Gives the pages of some of its bytes back to the system; they are read again when needed.
    pub fn release(&self, bytes: Range<usize>) {
        if let Blob::Mapped(map, range) = self {
            release(map, range.start + bytes.start..range.start + bytes.end);
        }
    }

    /// Hands all bytes to `take`, a few MB at a time, and keeps none of them resident.
    pub fn pieces(&self, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let bytes = self.bytes();
        for start in (0..bytes.len()).step_by(WINDOW) {
            let end = bytes.len().min(start + WINDOW);
            take(&bytes[start..end])?;
            self.release(start..end);
        }
        Ok(())
    }
}

/// One reading of a blob, front to back.
#[derive(Debug)]
pub struct Pass<'b> {
    /// What reads.
    pub cursor: Cursor<'b>,
    blob: &'b Blob,
    window: usize,
    /// Where the pages begin that were not given back.
    start: usize,
    /// Where the pass ends.
    end: usize,
    /// How many bytes are left when the next pages go.
    next: usize,
}

impl<'b> Pass<'b> {
    /// A pass that keeps a few MB resident.
    pub fn new(blob: &'b Blob) -> Self {
        Pass::within(blob, WINDOW)
    }

    /// A pass that keeps about so many bytes resident, when that is not too little.
    pub fn within(blob: &'b Blob, memory: usize) -> Self {
        Pass::between(blob, 0..blob.bytes().len(), memory)
    }

    /// The same for some of the bytes.
    pub fn between(blob: &'b Blob, bytes: Range<usize>, memory: usize) -> Self {
        let window = memory.clamp(LEAST_WINDOW, WINDOW);
        let Range { start, end } = bytes;
        let next = (end - start).saturating_sub(window);
        Pass { cursor: Cursor::new(&blob.bytes()[start..end]), blob, window, start, end, next }
    }

    /// How many bytes of the blob are before what is read next.
    pub fn place(&self) -> usize {
        self.end - self.cursor.rest().len()
    }

    /// To be called after each record: lets go of pages that have been read.
    #[inline]
    pub fn settle(&mut self) {
        if self.cursor.rest().len() < self.next {
            self.let_go();
        }
    }

    #[cold]
    fn let_go(&mut self) {
        let left = self.cursor.rest().len();
        let end = self.place();
        self.blob.release(self.start..end);
        self.start = end;
        self.next = left.saturating_sub(self.window);
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        self.let_go();
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
    /// Bytes that were moved to the file.
    moved: usize,
}

impl<'f> BlobWriter<'f> {
    /// An empty one.
    pub fn new(limit: usize, folder: &'f TempFolder) -> Self {
        BlobWriter { buffer: Vec::new(), limit, folder, file: None, moved: 0 }
    }

    /// Bytes so far.
    pub fn size(&self) -> usize {
        self.moved + self.buffer.len()
    }

    /// Moves bytes to the file when there are too many.
    #[inline]
    pub fn settle(&mut self) -> Result<()> {
        if self.buffer.len() <= self.limit { Ok(()) } else { self.spill() }
    }

    /// Moves all bytes to the file; from now on only a few are gathered first.
    fn spill(&mut self) -> Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(TempWriter::create(self.folder)?),
        };
        file.write(&self.buffer)?;
        self.moved += self.buffer.len();
        self.buffer.clear();
        if self.limit > GATHERED {
            self.limit = GATHERED;
            self.buffer = Vec::with_capacity(2 * GATHERED);
        }
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
        let blob = Blob::of_file(map(file.path())?);
        // Where a file may lose its name while it is read, its room is free as soon as it is read.
        #[cfg(unix)]
        file.remove()?;
        Ok(blob)
    }
}

/// Bytes that are gathered once a blob has a file.
const GATHERED: usize = 1 << 18;

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

    #[test]
    fn what_a_pass_lets_go_is_read_again() {
        let folder = TempFolder::new(None);
        let mut writer = BlobWriter::new(0, &folder);
        for number in 0..400_000_u64 {
            super::super::write_number(&mut writer.buffer, number);
            writer.settle().unwrap();
        }
        let blob = writer.finish().unwrap();
        for _ in 0..2 {
            let mut pass = Pass::within(&blob, 0);
            for number in 0..400_000 {
                assert_eq!(pass.cursor.number(), Some(number));
                pass.settle();
            }
            assert!(pass.cursor.is_at_end());
        }
        let mut joined = Vec::new();
        let take = |bytes: &[u8]| {
            joined.extend_from_slice(bytes);
            Ok(())
        };
        blob.pieces(take).unwrap();
        assert_eq!(joined, blob.bytes());
    }
}
