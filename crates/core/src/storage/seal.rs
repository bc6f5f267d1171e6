//! The header that all our binary files have, and the reading of what it seals.
//!
//! ```text
//! magic word      8 bytes
//! version         u32, of this kind of file
//! count           u32, of the numbers below
//! length          u64, bytes after the header
//! checksum        u64, of the bytes after the header (XXH3)
//! numbers         u64 each, whatever the kind of file keeps at hand
//! checksum        u64, of the header up to here
//! ```
//!
//! In: numbers and a body, or the bytes of a file. Out: the bytes of a file, or numbers and body,
//! or what is wrong with them. All numbers are little-endian.
//! How: opening checks the header, which says how long the body is, and no more, so that a mapped
//! file of any size opens at once; `Sealed::verify` checks the body. Small files are read through
//! `Body`, which checks every length before anything is made of it.
//! Cost: one pass over the header, and one over the body when it is verified.

use super::bytes::{Cursor, long_at, short_at};
use super::file::NewFile;
use crate::error::{Error, Place, Result};
use crate::narrow::to_u32;
use std::borrow::Cow;
use std::path::Path;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Bytes of the header without numbers.
const FIXED: usize = 8 + 4 + 4 + 8 + 8 + 8;
/// Where the numbers begin.
const NUMBERS: usize = FIXED - 8;

/// What is wrong with the bytes of a file.
#[derive(Debug, PartialEq, Eq)]
pub struct Flaw(pub Cow<'static, str>);

impl Flaw {
    /// A flaw in these words.
    pub fn new(found: impl Into<Cow<'static, str>>) -> Self {
        Flaw(found.into())
    }
}

/// Something read, or what is wrong with it.
pub type Checked<T> = std::result::Result<T, Flaw>;

/// What the files of one kind begin with, and how to speak of them.
#[derive(Debug, Clone, Copy)]
pub struct Seal {
    /// The first bytes.
    pub magic: [u8; 8],
    /// Version of the format.
    pub version: u32,
    /// How many numbers the header keeps.
    pub numbers: usize,
    /// What the file holds, with its article.
    pub what: &'static str,
    /// How to get a whole one.
    pub advice: &'static str,
}

impl Seal {
    /// Bytes of the header.
    pub const fn size(&self) -> usize {
        FIXED + 8 * self.numbers
    }

    fn header(&self, numbers: &[u64], length: u64, checksum: u64) -> Vec<u8> {
        debug_assert_eq!(numbers.len(), self.numbers);
        let mut header = self.magic.to_vec();
        header.extend(self.version.to_le_bytes());
        header.extend(to_u32(numbers.len()).to_le_bytes());
        for number in [length, checksum].iter().chain(numbers) {
            header.extend(number.to_le_bytes());
        }
        header.extend(xxh3_64(&header).to_le_bytes());
        header
    }

    /// A whole file with these numbers and this body.
    pub fn seal(&self, numbers: &[u64], body: &[u8]) -> Vec<u8> {
        [&self.header(numbers, body.len() as u64, xxh3_64(body)), body].concat()
    }

    /// What a file holds, when its header is that of this version and the body is as long as it
    /// says.
    pub fn open<'a>(&self, bytes: &'a [u8]) -> Checked<Sealed<'a>> {
        if !bytes.starts_with(&self.magic) {
            return Err(Flaw::new("something else"));
        }
        match short_at(bytes, 8) {
            Some(version) if version == self.version => {}
            Some(version) => return Err(Flaw(format!("version {version} of the format").into())),
            None => return Err(Flaw::new("bytes that end in the header")),
        }
        let (header, body) =
            bytes.split_at_checked(self.size()).ok_or(Flaw::new("bytes that end in the header"))?;
        let number = |at| long_at(header, at).unwrap_or_default();
        let digest = number(self.size() - 8);
        if digest != xxh3_64(&header[..self.size() - 8])
            || short_at(header, 12) != Some(to_u32(self.numbers))
        {
            return Err(Flaw::new("a header that does not fit its checksum"));
        }
        if number(16) != body.len() as u64 {
            let found = format!("{} bytes of {}", body.len(), number(16));
            return Err(Flaw(format!("{found} after the header").into()));
        }
        let numbers = (0..self.numbers).map(|at| number(NUMBERS + 8 * at)).collect();
        Ok(Sealed { numbers, body, checksum: number(24), digest })
    }

    /// The error of a file with a flaw.
    pub fn error(&self, place: Place, Flaw(found): Flaw) -> Error {
        Error::Format {
            place,
            found: found.into(),
            expected: format!("{} in version {} of its format", self.what, self.version),
            advice: self.advice.into(),
        }
    }
}

/// What a sealed file holds.
#[derive(Debug)]
pub struct Sealed<'a> {
    /// The numbers of the header.
    pub numbers: Vec<u64>,
    /// Everything after the header, not checked.
    pub body: &'a [u8],
    /// A number that tells this file from others.
    pub digest: u64,
    /// What `body` is compared with.
    pub checksum: u64,
}

impl<'a> Sealed<'a> {
    /// Checks the body, every byte.
    pub fn verify(&self) -> Checked<()> {
        match xxh3_64(self.body) == self.checksum {
            true => Ok(()),
            false => Err(Flaw::new("bytes that do not fit their checksum")),
        }
    }

    /// The body, checked, to be read bit by bit.
    pub fn read(&self) -> Checked<Body<'a>> {
        self.verify()?;
        Ok(Body { cursor: Cursor::new(self.body) })
    }
}

/// Sums up a body that is written piece by piece.
#[derive(Default)]
pub struct BodySum {
    sum: Xxh3,
    length: u64,
}

impl BodySum {
    /// Takes up the next bytes of the body.
    pub fn update(&mut self, bytes: &[u8]) {
        self.sum.update(bytes);
        self.length += bytes.len() as u64;
    }

    /// The header of the body so far.
    pub fn header(&self, seal: &Seal, numbers: &[u64]) -> Vec<u8> {
        seal.header(numbers, self.length, self.sum.digest())
    }
}

/// A sealed file in the making, for bodies that are not in memory.
pub struct SealedFile {
    seal: Seal,
    file: NewFile,
    sum: BodySum,
}

impl SealedFile {
    /// Begins a file; nothing is seen under `path` until `finish`.
    pub fn create(path: &Path, seal: Seal) -> Result<Self> {
        let mut file = NewFile::create_regular(path)?;
        file.write(&vec![0; seal.size()])?;
        Ok(SealedFile { seal, file, sum: BodySum::default() })
    }

    /// Adds bytes to the body.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.sum.update(bytes);
        self.file.write(bytes)
    }

    /// Bytes so far, with the header.
    pub fn size(&self) -> u64 {
        self.seal.size() as u64 + self.sum.length
    }

    /// Writes the header and gives the file its name.
    pub fn finish(mut self, numbers: &[u64]) -> Result<()> {
        self.file.write_start(&self.sum.header(&self.seal, numbers))?;
        self.file.finish()
    }
}

/// What is still to be read of a body.
#[derive(Debug)]
pub struct Body<'a> {
    cursor: Cursor<'a>,
}

impl<'a> Body<'a> {
    /// The next bytes.
    pub fn take(&mut self, len: usize) -> Checked<&'a [u8]> {
        self.cursor.bytes(len).ok_or(Flaw::new("it ends too soon"))
    }

    /// The next number.
    pub fn u32(&mut self) -> Checked<u32> {
        Ok(self.groups::<4>(1)?.next().map_or(0, u32::from_le_bytes))
    }

    /// The next groups of `N` bytes.
    pub fn groups<const N: usize>(
        &mut self,
        len: usize,
    ) -> Checked<impl ExactSizeIterator<Item = [u8; N]> + 'a> {
        let bytes = self.take(len.checked_mul(N).ok_or(Flaw::new("a length is impossible"))?)?;
        Ok(bytes.as_chunks::<N>().0.iter().copied())
    }

    /// The next bytes as text; `what` it is goes into the complaint.
    pub fn text(&mut self, len: usize, what: &str) -> Checked<&'a str> {
        str::from_utf8(self.take(len)?).map_err(|_| Flaw(format!("{what} is not UTF-8").into()))
    }

    /// Whether nothing follows.
    pub fn is_at_end(&self) -> bool {
        self.cursor.is_at_end()
    }

    /// Refuses bytes that nobody asked for.
    pub fn end(self) -> Checked<()> {
        match self.cursor.is_at_end() {
            true => Ok(()),
            false => Err(Flaw::new("bytes after the end")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    const SEAL: Seal = Seal {
        magic: *b"wwtester",
        version: 3,
        numbers: 2,
        what: "a test",
        advice: "run it again",
    };

    fn found(bytes: &[u8]) -> String {
        SEAL.open(bytes).and_then(|sealed| sealed.verify()).unwrap_err().0.into()
    }

    #[test]
    fn flaws_are_named() {
        let file = SEAL.seal(&[1, 2], b"body");
        assert_eq!(file.len(), SEAL.size() + 4);
        assert_eq!(found(b"anything at all"), "something else");
        assert_eq!(found(&file[..10]), "bytes that end in the header");
        assert_eq!(found(&file[..30]), "bytes that end in the header");
        let old = Seal { version: 2, ..SEAL }.seal(&[1, 2], b"body");
        assert_eq!(found(&old), "version 2 of the format");
        assert_eq!(found(&file[..file.len() - 1]), "3 bytes of 4 after the header");
        let mut other = file.clone();
        other[33] ^= 1;
        assert_eq!(found(&other), "a header that does not fit its checksum");
        other = file.clone();
        other[file.len() - 1] ^= 1;
        assert!(SEAL.open(&other).is_ok());
        assert_eq!(found(&other), "bytes that do not fit their checksum");
        let flaw = SEAL.open(&old).unwrap_err();
        assert_eq!(
            SEAL.error(Place::file(Path::new("old")), flaw).to_string(),
            "old: version 2 of the format; expected a test in version 3 of its format; run it again"
        );
    }

    #[test]
    fn a_file_written_piece_by_piece_is_the_same() {
        let path = std::env::temp_dir().join(format!("wayword-seal.{}", std::process::id()));
        let mut file = SealedFile::create(&path, SEAL).unwrap();
        for piece in ["some", "", "thing"] {
            file.write(piece.as_bytes()).unwrap();
        }
        assert_eq!(file.size(), SEAL.size() as u64 + 9);
        file.finish(&[7, 8]).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), SEAL.seal(&[7, 8], b"something"));
        std::fs::remove_file(&path).unwrap();
    }

    proptest! {
        #[test]
        fn what_is_sealed_comes_back(numbers: [u64; 2], body in vec(any::<u8>(), 0..100)) {
            let file = SEAL.seal(&numbers, &body);
            let sealed = SEAL.open(&file).unwrap();
            prop_assert_eq!(&sealed.numbers, &numbers);
            prop_assert_eq!(sealed.read().unwrap().take(body.len()).unwrap(), body);
        }

        #[test]
        fn any_change_is_noticed(
            body in vec(any::<u8>(), 0..60),
            at: prop::sample::Index,
            change in 1_u8..,
            cut: Option<prop::sample::Index>,
        ) {
            let whole = SEAL.seal(&[5, 6], &body);
            let mut file = whole.clone();
            match cut {
                Some(cut) => file.truncate(cut.index(whole.len())),
                None => *at.get_mut(&mut file) ^= change,
            }
            prop_assert!(SEAL.open(&file).and_then(|sealed| sealed.verify()).is_err());
        }

        #[test]
        fn any_bytes_are_a_file_or_a_flaw(
            mut bytes in vec(any::<u8>(), 0..120),
            with_magic: bool,
            lengths in vec(0_usize..70, 0..6),
        ) {
            if with_magic && bytes.len() >= 12 {
                bytes[..8].copy_from_slice(&SEAL.magic);
                bytes[8..12].copy_from_slice(&SEAL.version.to_le_bytes());
            }
            prop_assert!(SEAL.open(&bytes).is_err());
            let mut body = Body { cursor: Cursor::new(&bytes) };
            for length in lengths {
                let _ = body.groups::<3>(length).map(|groups| groups.count());
                let _ = body.text(length, "a word");
            }
            prop_assert!(body.groups::<4>(usize::MAX).is_err());
        }
    }
}
