//! How the parts of a training lie in files between its tasks.
//!
//! In: numbers. Out: a file of them, or the numbers of a file. Little-endian; every list is
//! preceded by its length, and every file by a word that tells its kind.
//! Cost: buffers; lists are read as they are asked for, so that a file may be larger than memory.
//! Not: formats that are kept; these files end with the training they belong to.

use crate::error::{Error, Place, Result};
use crate::storage::NewFile;
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// A kind of file.
pub type Kind = [u8; 8];

/// Bytes read at once.
const BUFFER: usize = 1 << 17;

/// A file in the making.
pub struct Wire(NewFile);

macro_rules! lists {
    ($($write:ident, $read:ident, $number:ty);*) => {
        impl Wire {$(
            /// Writes a list.
            pub fn $write(&mut self, values: &[$number]) -> Result<()> {
                self.0.write(&(values.len() as u64).to_le_bytes())?;
                values.iter().try_for_each(|value| self.0.write(&value.to_le_bytes()))
            }
        )*}
        impl Unwire {$(
            /// Reads a list.
            pub fn $read(&mut self) -> Result<Vec<$number>> {
                let len = self.number()?;
                let mut values = Vec::new();
                for _ in 0..len {
                    values.push(<$number>::from_le_bytes(self.array()?));
                }
                Ok(values)
            }
        )*}
    };
}
lists!(u8s, read_u8s, u8; u32s, read_u32s, u32; u64s, read_u64s, u64; f32s, read_f32s, f32);

impl Wire {
    /// Begins a file.
    pub fn create(path: &Path, kind: Kind) -> Result<Self> {
        let mut file = NewFile::create(path)?;
        file.write(&kind)?;
        Ok(Wire(file))
    }

    /// Writes a number.
    pub fn number(&mut self, value: u64) -> Result<()> {
        self.0.write(&value.to_le_bytes())
    }

    /// Ends the file.
    pub fn finish(self) -> Result<()> {
        self.0.finish()
    }
}

/// A file that is read front to back.
pub struct Unwire {
    path: PathBuf,
    file: BufReader<File>,
}

impl Unwire {
    /// Opens a file of this kind.
    pub fn open(path: &Path, kind: Kind) -> Result<Self> {
        let file = File::open(path).map_err(|source| Error::io(path, source))?;
        let mut wire = Unwire { path: path.into(), file: BufReader::with_capacity(BUFFER, file) };
        match wire.array::<8>()? == kind {
            true => Ok(wire),
            false => Err(wire.wrong("another file")),
        }
    }

    /// The next bytes.
    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.file.read_exact(&mut bytes).map_err(|source| match source.kind() {
            ErrorKind::UnexpectedEof => self.wrong("bytes that end too soon"),
            _ => Error::io(&self.path, source),
        })?;
        Ok(bytes)
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
            expected: "what an earlier task of the same training wrote".into(),
            advice: "run that task again".into(),
        }
    }
}
