//! How what one task tells another lies in files between them.
//!
//! In: numbers. Out: a file of them, or the numbers of a file. Little-endian; every list is
//! preceded by its length, and every file by a word that tells its kind. Of a list that is mostly
//! empty, what is not is written: 64 places as a word of bits, and then their numbers.
//! Cost: buffers; lists are read as they are asked for, so that a file may be larger than memory.
//! Not: formats that are kept; these files end with the stage whose tasks they belong to.

use super::NewFile;
use crate::error::{Error, Place, Result};
use crate::narrow::to_usize;
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// A kind of file.
pub type WireKind = [u8; 8];

/// Bytes read at once.
const BUFFER: usize = 1 << 17;

/// A file in the making.
pub struct Wire {
    file: NewFile,
    /// Scratch memory.
    bytes: Vec<u8>,
}

/// Numbers that are written or read at once.
const CHUNK: usize = 1 << 12;

/// Places that share a word of bits.
const GROUP: usize = 64;

macro_rules! lists {
    ($($write:ident, $read:ident, $number:ty);*) => {
        impl Wire {$(
            /// Writes a list.
            pub fn $write(&mut self, values: &[$number]) -> Result<()> {
                self.number(values.len() as u64)?;
                for chunk in values.chunks(CHUNK) {
                    self.bytes.clear();
                    self.bytes.extend(chunk.iter().flat_map(|value| value.to_le_bytes()));
                    self.file.write(&self.bytes)?;
                }
                Ok(())
            }
        )*}
        impl Unwire {$(
            /// Reads a list.
            pub fn $read(&mut self) -> Result<Vec<$number>> {
                const SIZE: usize = size_of::<$number>();
                let mut left = to_usize(self.number()?);
                let mut values = Vec::with_capacity(left.min(CHUNK));
                while left > 0 {
                    let count = left.min(CHUNK);
                    let bytes = self.take(count * SIZE)?;
                    let (numbers, _) = bytes.as_chunks::<SIZE>();
                    values.extend(numbers.iter().map(|&number| <$number>::from_le_bytes(number)));
                    left -= count;
                }
                Ok(values)
            }
        )*}
    };
}
lists!(u8s, read_u8s, u8; u32s, read_u32s, u32; u64s, read_u64s, u64; f32s, read_f32s, f32);

impl Wire {
    /// Begins a file.
    pub fn create(path: &Path, kind: WireKind) -> Result<Self> {
        let mut file = NewFile::create(path)?;
        file.write(&kind)?;
        Ok(Wire { file, bytes: Vec::new() })
    }

    /// Writes a number.
    pub fn number(&mut self, value: u64) -> Result<()> {
        self.file.write(&value.to_le_bytes())
    }

    /// Writes a list of which many places are empty.
    pub fn sparse(&mut self, places: impl ExactSizeIterator<Item = Option<u64>>) -> Result<()> {
        self.number(places.len() as u64)?;
        let mut places = places.peekable();
        while places.peek().is_some() {
            let mut mask = 0_u64;
            self.bytes.clear();
            self.bytes.extend([0; size_of::<u64>()]);
            for (place, value) in places.by_ref().take(GROUP).enumerate() {
                if let Some(value) = value {
                    mask |= 1 << place;
                    self.bytes.extend(value.to_le_bytes());
                }
            }
            self.bytes[..size_of::<u64>()].copy_from_slice(&mask.to_le_bytes());
            self.file.write(&self.bytes)?;
        }
        Ok(())
    }

    /// Ends the file.
    pub fn finish(self) -> Result<()> {
        self.file.finish()
    }
}

/// A file that is read front to back.
pub struct Unwire {
    path: PathBuf,
    file: BufReader<File>,
    /// Scratch memory.
    bytes: Vec<u8>,
    /// Places that a list may have in a file of this size.
    most_places: usize,
}

impl Unwire {
    /// Opens a file of this kind.
    pub fn open(path: &Path, kind: WireKind) -> Result<Self> {
        let file = File::open(path).map_err(|source| Error::io(path, source))?;
        let size = file.metadata().map_err(|source| Error::io(path, source))?.len();
        let file = BufReader::with_capacity(BUFFER, file);
        let most_places = to_usize(size).saturating_mul(8);
        let mut wire = Unwire { path: path.into(), file, bytes: Vec::new(), most_places };
        match wire.array::<8>()? == kind {
            true => Ok(wire),
            false => Err(wire.wrong("another file")),
        }
    }

    /// The next bytes.
    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.file.read_exact(&mut bytes).map_err(|source| self.failed(source))?;
        Ok(bytes)
    }

    /// So many of the next bytes.
    fn take(&mut self, count: usize) -> Result<&[u8]> {
        self.bytes.resize(count, 0);
        match self.file.read_exact(&mut self.bytes) {
            Ok(()) => Ok(&self.bytes),
            Err(source) => Err(self.failed(source)),
        }
    }

    fn failed(&self, source: std::io::Error) -> Error {
        match source.kind() {
            ErrorKind::UnexpectedEof => self.wrong("bytes that end too soon"),
            _ => Error::io(&self.path, source),
        }
    }

    /// Reads a list of which many places are empty: `take` changes those that are not. A list that
    /// is not there yet is made of `empty` places.
    pub fn read_sparse<T>(
        &mut self,
        places: &mut Vec<T>,
        empty: impl FnMut() -> T,
        mut take: impl FnMut(&mut T, u64),
    ) -> Result<()> {
        let len = to_usize(self.number()?);
        if places.is_empty() && len <= self.most_places {
            places.resize_with(len, empty);
        }
        if places.len() != len {
            return Err(self.wrong("a list of another length"));
        }
        for group in places.chunks_mut(GROUP) {
            let mut mask = self.number()?;
            if group.len() < GROUP && mask >> group.len() != 0 {
                return Err(self.wrong("places after the last"));
            }
            let bytes = self.take(mask.count_ones() as usize * size_of::<u64>())?;
            for &value in bytes.as_chunks().0 {
                take(&mut group[mask.trailing_zeros() as usize], u64::from_le_bytes(value));
                mask &= mask - 1;
            }
        }
        Ok(())
    }

    /// Reads a number.
    pub fn number(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// The error of a file that does not hold what it should.
    pub fn wrong(&self, found: &str) -> Error {
        Error::Format {
            place: Place::file(&self.path),
            found: found.into(),
            expected: "what an earlier task wrote".into(),
            advice: "run that task again".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::TempFolder;
    use proptest::prelude::*;

    const KIND: WireKind = *b"wwtested";

    proptest! {
        #[test]
        fn lists_come_back_and_add_up(
            words in prop::collection::vec(any::<u32>(), 0..9000),
            places in prop::collection::vec(prop::option::weighted(0.2, 1_u64..9), 0..300),
        ) {
            let folder = TempFolder::new(None);
            let path = folder.path().unwrap().join("wire");
            let mut wire = Wire::create(&path, KIND).unwrap();
            wire.u32s(&words).unwrap();
            wire.sparse(places.iter().copied()).unwrap();
            wire.sparse(places.iter().copied()).unwrap();
            wire.finish().unwrap();
            let mut wire = Unwire::open(&path, KIND).unwrap();
            prop_assert_eq!(wire.read_u32s().unwrap(), words);
            let mut sums = Vec::new();
            for _ in 0..2 {
                wire.read_sparse(&mut sums, || 0, |sum, more| *sum += more).unwrap();
            }
            let expected: Vec<u64> = places.iter().map(|place| 2 * place.unwrap_or(0)).collect();
            prop_assert_eq!(sums, expected);
        }

        #[test]
        fn broken_files_are_errors(
            mut bytes in prop::collection::vec(any::<u8>(), 0..200),
            len in 0_u8..200,
        ) {
            let folder = TempFolder::new(None);
            let path = folder.path().unwrap().join("wire");
            // A length that may be meant, then anything.
            bytes.splice(0..0, KIND.into_iter().chain([len, 0, 0, 0, 0, 0, 0, 0]));
            NewFile::save(&path, &bytes).unwrap();
            let mut places: Vec<u64> = Vec::new();
            let mut wire = Unwire::open(&path, KIND).unwrap();
            let is_read = wire.read_sparse(&mut places, || 0, |place, value| *place = value);
            prop_assert!(is_read.is_err() || places.len() == usize::from(len));
            let mut wire = Unwire::open(&path, KIND).unwrap();
            let list = wire.read_u32s();
            prop_assert_eq!(list.is_ok(), 4 * usize::from(len) <= bytes.len() - 16);
        }
    }
}
