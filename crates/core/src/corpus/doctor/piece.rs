//! A text that is examined in pieces, each by itself, anywhere.
//!
//! In: two plain files with as many lines, cut at the same lines. Out: for each piece what
//! `examine` makes of these lines when it has the whole files, byte for byte.
//! How: `scripts` tells the writing of each side; `fingerprints` of every piece → `find_repeated`,
//! which tells each piece the lines that repeat an earlier one of any piece → `examine_piece`.
//! Cost: that of `examine`, another reading of the text, and 24 bytes a pair on disk in between.
//! Not: compressed files, which cannot be cut; lines without a partner.

use super::inspect::Families;
use super::seen::{Ahead, Seen, list_repeated, sorters};
use super::{CleanFiles, DoctorOptions, Report, Ward, check_options, families_of, visit};
use crate::Job;
use crate::corpus::{Family, LineReader};
use crate::error::Result;
use crate::storage::{Unwire, Wire, WireKind, left_of};
use std::ops::Range;
use std::path::{Path, PathBuf};

const PRINTS: WireKind = *b"wwdrprnt";
const LINES: WireKind = *b"wwdrline";

/// Lines between two looks at the job.
const BLOCK: u64 = 1 << 12;

/// The same lines of two files.
#[derive(Debug, Clone)]
pub struct Piece {
    /// The files, the source first.
    pub files: [PathBuf; 2],
    /// Where the lines begin and end in each, in bytes.
    pub bytes: [Range<u64>; 2],
    /// How many lines stand before them.
    pub before: u64,
}

impl Piece {
    fn open(&self) -> Result<[LineReader; 2]> {
        let open =
            |side: usize| LineReader::open_piece(&self.files[side], &self.bytes[side], self.before);
        Ok([open(0)?, open(1)?])
    }
}

/// The writing of each side of a whole text, by name.
pub fn scripts(src: &Path, tgt: &Path) -> Result<[Option<&'static str>; 2]> {
    let families = families_of(src, tgt)?;
    Ok([families.src, families.tgt].map(|family| family.map(Family::name)))
}

/// Writes the fingerprints of the pairs of a piece.
pub fn fingerprints(piece: &Piece, options: &DoctorOptions, out: &Path, job: &Job) -> Result<()> {
    let mut ahead = Ahead::new(piece.open()?, piece.before, options);
    let mut wire = Wire::create(out, PRINTS)?;
    while let Some(fingerprint) = ahead.next()? {
        if ahead.line().is_multiple_of(BLOCK) {
            job.check()?;
        }
        if let Some(print) = fingerprint {
            wire.number(ahead.line())?;
            for &half in print.to_le_bytes().as_chunks().0 {
                wire.number(u64::from_le_bytes(half))?;
            }
        }
    }
    wire.number(0)?; // no line: the end
    wire.number(ahead.line())?;
    wire.finish()
}

/// Writes for each piece, of which these are the fingerprints in the order of the text, the lines
/// that repeat an earlier one.
pub fn find_repeated(
    prints: &[PathBuf],
    outs: &[PathBuf],
    options: &DoctorOptions,
    job: &Job,
) -> Result<()> {
    let (mut unknown, mut repeated) = sorters(options, left_of(options.memory));
    let mut ends = Vec::new();
    for path in prints {
        let mut wire = Unwire::open(path, PRINTS)?;
        loop {
            let line = wire.number()?;
            if line == 0 {
                ends.push(wire.number()?);
                break;
            }
            if line.is_multiple_of(BLOCK) {
                job.check()?;
            }
            let (low, high) = (wire.number()?, wire.number()?);
            unknown.push(u128::from(high) << 64 | u128::from(low), line)?;
        }
    }
    list_repeated(unknown.finish()?, &mut repeated, job)?;
    let mut lines = repeated.finish()?.peekable();
    for (out, end) in outs.iter().zip(ends) {
        let mut wire = Wire::create(out, LINES)?;
        let is_here = |record: &Result<(u64, ())>| !matches!(record, Ok((line, ())) if *line > end);
        while let Some(record) = lines.next_if(is_here) {
            wire.number(record?.0)?;
        }
        wire.number(0)?;
        wire.finish()?;
    }
    Ok(())
}

/// The lines that `find_repeated` wrote, one after the other.
pub struct Listed(Unwire);

impl Listed {
    /// The next line.
    pub fn next(&mut self) -> Result<Option<u64>> {
        Ok(Some(self.0.number()?).filter(|&line| line > 0))
    }
}

/// Examines a piece, as `examine` does with whole files; `repeated` is what `find_repeated` wrote
/// for it, nothing when repeated pairs are allowed.
pub fn examine_piece(
    piece: &Piece,
    scripts: [Option<&str>; 2],
    repeated: Option<&Path>,
    options: &DoctorOptions,
    out: &CleanFiles,
    job: &Job,
) -> Result<Report> {
    check_options(options)?;
    let [src, tgt] = scripts.map(|name| name.and_then(Family::named));
    let mut ward = Ward::new(options, Families { src, tgt }, Some(out))?;
    ward.before = piece.before;
    ward.seen = match repeated {
        Some(path) => Some(Seen::listed(Listed(Unwire::open(path, LINES)?))?),
        None => None,
    };
    visit(piece.open()?, &mut ward, job, |_| Ok(()))?;
    ward.finish()
}

#[cfg(test)]
mod tests {
    use super::super::{Problem, examine};
    use super::*;
    use crate::storage::{NewFile, TempFolder};
    use proptest::prelude::*;

    fn outputs(folder: &Path, name: &str) -> CleanFiles {
        let [src, tgt, quarantine] =
            ["src", "tgt", "bad"].map(|kind| folder.join(format!("{name}.{kind}")));
        CleanFiles { src, tgt, quarantine }
    }

    fn read(files: &CleanFiles) -> [Vec<u8>; 3] {
        [&files.src, &files.tgt, &files.quarantine].map(|path| std::fs::read(path).unwrap())
    }

    /// Where each line begins, and where the last one ends.
    fn starts(text: &[u8]) -> Vec<u64> {
        let ends = text.split_inclusive(|&byte| byte == b'\n').scan(0, |at, line| {
            *at += line.len() as u64;
            Some(*at)
        });
        [0].into_iter().chain(ends).collect()
    }

    proptest! {
        #[test]
        fn pieces_give_what_the_whole_gives(
            pairs in prop::collection::vec(
                ("[ab]|e\u{301}|\u{e9}|\u{200e}a|\u{feff}a|ж|\r", "[ab]|a b c d|"),
                1..60,
            ),
            cuts in prop::collection::vec(0_usize..60, 0..4),
            bad in 0_usize..90,
            memory in 0_usize..20_000,
            is_allowed in any::<bool>(),
        ) {
            let folder = TempFolder::new(None);
            let room = folder.path().unwrap();
            let files = [room.join("a"), room.join("b")];
            let sides = [0, 1].map(|side| {
                let lines: Vec<&str> =
                    pairs.iter().map(|pair| [&pair.0, &pair.1][side].as_str()).collect();
                // The last line of one side has no end, unless it would be no line then.
                let end = if side == 0 || lines[lines.len() - 1].is_empty() { "\n" } else { "" };
                let mut bytes = format!("{}{end}", lines.join("\n")).into_bytes();
                if let Some(byte) = bytes.get_mut(bad).filter(|byte| **byte != b'\n') {
                    *byte = 0xff;
                }
                NewFile::save(&files[side], &bytes).unwrap();
                starts(&bytes)
            });
            let allowed = if is_allowed { vec![Problem::Duplicate] } else { Vec::new() };
            let options =
                DoctorOptions { memory, allowed, max_ratio: 3.0, ..DoctorOptions::default() };
            let (whole, job) = (outputs(&room, "whole"), Job::default());
            let report = examine(&files[0], &files[1], &options, Some(&whole), &job).unwrap();

            let mut lines: Vec<usize> = cuts.iter().map(|&cut| cut.min(pairs.len())).collect();
            lines.extend([0, pairs.len()]);
            lines.sort_unstable();
            let pieces: Vec<Piece> = lines.windows(2).map(|cut| Piece {
                files: files.clone(),
                bytes: [0, 1].map(|side| sides[side][cut[0]]..sides[side][cut[1]]),
                before: cut[0] as u64,
            }).collect();
            let scripts = scripts(&files[0], &files[1]).unwrap();
            let of_pieces = |name: &str| -> Vec<PathBuf> {
                (0..pieces.len()).map(|number| room.join(format!("{name}{number}"))).collect()
            };
            let (prints, repeated) = (of_pieces("prints"), of_pieces("repeated"));
            for (piece, out) in pieces.iter().zip(&prints) {
                fingerprints(piece, &options, out, &job).unwrap();
            }
            find_repeated(&prints, &repeated, &options, &job).unwrap();
            let (mut joined, mut counts) = ([Vec::new(), Vec::new(), Vec::new()], [0; 13]);
            let (mut clean, mut cleaned) = (0, 0);
            for (number, (piece, repeated)) in pieces.iter().zip(&repeated).enumerate() {
                let out = outputs(&room, &number.to_string());
                let repeated = (!is_allowed).then_some(repeated.as_path());
                let part =
                    examine_piece(piece, scripts, repeated, &options, &out, &job).unwrap();
                joined.iter_mut().zip(read(&out)).for_each(|(all, more)| all.extend(more));
                counts.iter_mut().zip(part.counts).for_each(|(sum, more)| *sum += more);
                clean += part.clean;
                cleaned += part.cleaned;
            }
            prop_assert_eq!(joined, read(&whole));
            prop_assert_eq!(
                (counts, clean, cleaned),
                (report.counts, report.clean, report.cleaned)
            );
        }
    }
}
