//! Small files that are read whole: a header that seals a body of bytes.
//!
//! In: a body, or the bytes of a file. Out: the bytes of a file, or a body to be read bit by bit, or
//! what is wrong with it. How: magic word, version, body length and checksum, then little-endian
//! numbers; every length is checked before anything is made of it. Cost: one pass over the bytes.

use xxhash_rust::xxh3::Xxh3;

/// Magic word, version, body length, checksum of all that is not the checksum.
const HEADER: usize = 8 + 4 + 8 + 8;

/// What is wrong with the bytes of a file.
#[derive(Debug, PartialEq, Eq)]
pub struct Flaw(pub &'static str);

/// Something read, or what is wrong with it.
pub type Checked<T> = std::result::Result<T, Flaw>;

/// What the files of one kind begin with.
#[derive(Debug, Clone, Copy)]
pub struct Seal {
    /// The first bytes.
    pub magic: [u8; 8],
    /// Version of the format.
    pub version: u32,
    /// What is said when other bytes come first.
    pub other: &'static str,
}

impl Seal {
    fn header(&self, body: &[u8]) -> [u8; HEADER] {
        let mut header = [0; HEADER];
        header[..8].copy_from_slice(&self.magic);
        header[8..12].copy_from_slice(&self.version.to_le_bytes());
        header[12..20].copy_from_slice(&(body.len() as u64).to_le_bytes());
        let mut sum = Xxh3::new();
        sum.update(&header[..20]);
        sum.update(body);
        header[20..].copy_from_slice(&sum.digest().to_le_bytes());
        header
    }

    /// A whole file with this body.
    pub fn seal(&self, body: &[u8]) -> Vec<u8> {
        [&self.header(body), body].concat()
    }

    /// The body of a file, when its header is that of this version and fits it.
    pub fn open<'a>(&self, bytes: &'a [u8]) -> Checked<Body<'a>> {
        let (found, body) =
            bytes.split_at_checked(HEADER).ok_or(Flaw("shorter than its header"))?;
        if found[..8] != self.magic {
            return Err(Flaw(self.other));
        }
        if found[8..12] != self.version.to_le_bytes() {
            return Err(Flaw("another version of the format"));
        }
        if found != self.header(body) {
            return Err(Flaw("length or checksum does not match"));
        }
        Ok(Body { rest: body })
    }
}

/// What is still to be read of a body.
#[derive(Debug)]
pub struct Body<'a> {
    rest: &'a [u8],
}

impl<'a> Body<'a> {
    /// The next bytes.
    pub fn take(&mut self, len: usize) -> Checked<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(Flaw("it ends too soon"))?;
        self.rest = rest;
        Ok(taken)
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
        let bytes = self.take(len.checked_mul(N).ok_or(Flaw("a length is impossible"))?)?;
        Ok(bytes.as_chunks::<N>().0.iter().copied())
    }

    /// Refuses bytes that nobody asked for.
    pub fn end(self) -> Checked<()> {
        if self.rest.is_empty() { Ok(()) } else { Err(Flaw("bytes after the end")) }
    }
}
