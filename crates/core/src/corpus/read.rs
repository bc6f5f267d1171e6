//! Files as bytes and as lines, whatever they are compressed with.
//!
//! In: a path. Out: its bytes with gzip, xz or zstd undone (told by the first bytes, not by
//! the name), or its lines.
//! A line ends at `\n` only: `\r` before it is dropped, a byte-order mark at the start as
//! well, and a last line without `\n` counts. So line numbers are those of any editor.
//! Cost: one buffer of the longest line; a line over `MAX_LINE` is refused.

use crate::error::{Error, Place, Result};
use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError::SkipFrame};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Longest line that is read, in bytes.
pub const MAX_LINE: usize = 256 << 20;

const BUFFER: usize = 1 << 17;
const GZIP: &[u8] = &[0x1f, 0x8b];
const XZ: &[u8] = &[0xfd, b'7', b'z', b'X', b'Z', 0];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// What follows the first byte, 0x50 to 0x5f, of a frame of zstd that is to be skipped.
const SKIPPABLE: &[u8] = &[0x2a, 0x4d, 0x18];
const BYTE_ORDER_MARK: &[u8] = &[0xef, 0xbb, 0xbf];

/// The bytes of a file, decompressed.
pub type Source = BufReader<Box<dyn Read + Send>>;

/// Opens a file for reading and undoes its compression.
pub fn open(path: &Path) -> Result<Source> {
    let file = File::open(path).map_err(|source| Error::io(path, source))?;
    let mut plain = BufReader::with_capacity(BUFFER, file);
    let start = plain.fill_buf().map_err(|source| Error::io(path, source))?;
    let bytes: Box<dyn Read + Send> = if start.starts_with(GZIP) {
        Box::new(MultiGzDecoder::new(plain))
    } else if start.starts_with(XZ) {
        Box::new(XzReader::new(plain, true))
    } else if is_zstd(start) {
        Box::new(ZstdFrames::new(plain))
    } else {
        Box::new(plain)
    };
    Ok(BufReader::with_capacity(BUFFER, bytes))
}

/// The frames of a zstd file, one after the other. Their checksums are compared, and frames that
/// hold something else than data are skipped.
struct ZstdFrames {
    rest: BufReader<File>,
    decoder: FrameDecoder,
    is_in_frame: bool,
}

impl ZstdFrames {
    fn new(rest: BufReader<File>) -> Self {
        ZstdFrames { rest, decoder: FrameDecoder::new(), is_in_frame: false }
    }

    /// Whether the next frame begins here; not after the last.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.rest.fill_buf()?.is_empty() {
            self.decoder = FrameDecoder::new();
            match self.decoder.init(&mut self.rest) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(SkipFrame { length, .. })) => {
                    let length = u64::from(length);
                    let skipped = io::copy(&mut (&mut self.rest).take(length), &mut io::sink())?;
                    if skipped < length {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(wrong) => return Err(io::Error::other(wrong)),
            }
        }
        Ok(false)
    }

    /// Compares the checksum of a frame, if it has one, with that of what was read.
    fn check(&self) -> io::Result<()> {
        let noted = self.decoder.get_checksum_from_data();
        match noted.is_none() || noted == self.decoder.get_calculated_checksum() {
            true => Ok(()),
            false => Err(io::Error::other("a frame does not fit its checksum")),
        }
    }
}

impl Read for ZstdFrames {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        loop {
            if !self.is_in_frame && !self.begin()? {
                return Ok(0);
            }
            self.is_in_frame = true;
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.rest, one).map_err(io::Error::other)?;
            }
            let count = self.decoder.read(out)?;
            if count > 0 {
                return Ok(count);
            }
            self.check()?;
            self.is_in_frame = false;
        }
    }
}

/// Whether a file begins with a frame of zstd, of data or to be skipped.
fn is_zstd(start: &[u8]) -> bool {
    let skipped = start.first().is_some_and(|byte| byte & 0xf0 == 0x50)
        && start.get(1..).is_some_and(|rest| rest.starts_with(SKIPPABLE));
    start.starts_with(ZSTD) || skipped
}

/// Reads a file line by line.
pub struct LineReader {
    path: PathBuf,
    source: Source,
    buffer: Vec<u8>,
    line: u64,
}

impl LineReader {
    /// Opens a file, plain or compressed.
    pub fn open(path: &Path) -> Result<Self> {
        Ok(LineReader { path: path.into(), source: open(path)?, buffer: Vec::new(), line: 0 })
    }

    /// Opens the lines between two places of a plain file, which stand after so many others.
    pub fn open_piece(path: &Path, bytes: &Range<u64>, before: u64) -> Result<Self> {
        let mut file = File::open(path).map_err(|source| Error::io(path, source))?;
        file.seek(SeekFrom::Start(bytes.start)).map_err(|source| Error::io(path, source))?;
        let piece: Box<dyn Read + Send> =
            Box::new(file.take(bytes.end.saturating_sub(bytes.start)));
        let source = BufReader::with_capacity(BUFFER, piece);
        Ok(LineReader { path: path.into(), source, buffer: Vec::new(), line: before })
    }

    /// Where the line last read stands.
    pub fn place(&self) -> Place {
        Place::line(&self.path, self.line)
    }

    /// The file's name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The next line without its end, or none after the last.
    pub fn next_line(&mut self) -> Result<Option<&[u8]>> {
        self.buffer.clear();
        let limit = MAX_LINE as u64 + 1;
        let count = (&mut self.source)
            .take(limit)
            .read_until(b'\n', &mut self.buffer)
            .map_err(|source| broken(&self.path, Some(self.line + 1), source))?;
        if count == 0 {
            return Ok(None);
        }
        self.line += 1;
        if count as u64 == limit {
            let found = "a line that does not end".into();
            let limit = format!("{MAX_LINE} bytes a line");
            return Err(Error::Limit { place: self.place(), found, limit });
        }
        let line = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let first = self.line == 1;
        Ok(Some(line.strip_prefix(BYTE_ORDER_MARK).filter(|_| first).unwrap_or(line)))
    }

    /// The next line, which must be UTF-8.
    pub fn next_str(&mut self) -> Result<Option<&str>> {
        // The borrow checker does not let one method call the other and then say where.
        let place = Place::line(&self.path, self.line + 1);
        let Some(line) = self.next_line()? else { return Ok(None) };
        match std::str::from_utf8(line) {
            Ok(text) => Ok(Some(text)),
            Err(wrong) => Err(not_utf8(place, line, wrong.valid_up_to())),
        }
    }
}

/// The error of a failed read: a decoder's complaint is about what the file holds, not about
/// the system.
pub fn broken(path: &Path, line: Option<u64>, source: io::Error) -> Error {
    if source.raw_os_error().is_some() {
        return Error::io(path, source);
    }
    Error::Format {
        place: Place { line, ..Place::file(path) },
        found: format!("the compressed data is damaged or cut short ({source})"),
        expected: "a whole gzip, xz or zstd file".into(),
        advice: "copy or compress the file again".into(),
    }
}

fn not_utf8(place: Place, line: &[u8], at: usize) -> Error {
    let wide =
        place.line == Some(1) && (line.starts_with(b"\xff\xfe") || line.starts_with(b"\xfe\xff"));
    let found = if wide {
        "UTF-16 text".into()
    } else {
        format!("byte {} (0x{:02x}) is not UTF-8", at + 1, line[at])
    };
    let advice = "convert the file with iconv, or let `wayword doctor` take such lines out".into();
    Error::Format { place, found, expected: "UTF-8 text".into(), advice }
}
