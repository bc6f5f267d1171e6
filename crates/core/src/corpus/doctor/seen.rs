//! Which pairs repeat an earlier one, in a text of any size.
//!
//! In: the pairs in order, and a budget of memory. Out: for each pair whether it was seen before.
//! How: fingerprints of pairs are kept in a set as long as it has room. When it has none, the rest
//! of the text is read ahead: fingerprints that are not in the set are sorted by value, on disk
//! where they go beyond the budget, which brings equal ones together; and the lines that repeat an
//! earlier one, sorted again, tell what the set told before. The answers never depend on the budget.
//! Cost: 20 to 50 bytes a pair in memory; beyond the budget 24 bytes on disk and another reading.

use super::inspect::{self, TextPair};
use super::piece::Listed;
use super::{DoctorOptions, tidied};
use crate::Job;
use crate::corpus::LineReader;
use crate::error::Result;
use crate::storage::{Sorted, Sorter, TempFolder, left_of};
use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;
use std::path::Path;
use xxhash_rust::xxh3::Xxh3;

/// Lines between two looks at the job.
const BLOCK: u64 = 1 << 12;

/// The pairs seen so far.
pub enum Seen {
    /// Their fingerprints.
    Known(Known),
    /// The lines yet to come that repeat an earlier one, and the next of them.
    Listed(Repeated, Option<u64>),
}

/// Lines that repeat an earlier one, in ascending order.
pub enum Repeated {
    /// As they were found here.
    Here(Sorted<u64, ()>),
    /// As they were found in all pieces of a text.
    Anywhere(Listed),
}

impl Repeated {
    fn next(&mut self) -> Result<Option<u64>> {
        match self {
            Repeated::Here(lines) => Ok(lines.next().transpose()?.map(|(line, ())| line)),
            Repeated::Anywhere(lines) => lines.next(),
        }
    }
}

/// A set of fingerprints that does not outgrow its budget.
pub struct Known {
    set: HashSet<u128, FxBuildHasher>,
    budget: usize,
}

impl Known {
    fn has_room(&self) -> bool {
        // A set that grows is copied into one of twice its size.
        self.set.len() < self.set.capacity() || 3 * self.set.allocation_size() <= self.budget
    }
}

impl Seen {
    /// No pair was seen, and `memory` is that of the whole process.
    pub fn new(memory: usize) -> Self {
        Seen::Known(Known { set: HashSet::default(), budget: left_of(memory) })
    }

    /// These lines repeat an earlier one.
    pub fn listed(lines: Listed) -> Result<Self> {
        Seen::following(Repeated::Anywhere(lines))
    }

    fn following(mut lines: Repeated) -> Result<Self> {
        let next = lines.next()?;
        Ok(Seen::Listed(lines, next))
    }

    /// Whether another pair can be remembered; if not, the text has to be read ahead.
    pub fn has_room(&self) -> bool {
        match self {
            Seen::Known(known) => known.has_room(),
            Seen::Listed(..) => true,
        }
    }

    /// Whether the pair of this line, which comes after all others asked for, was seen before.
    pub fn repeats(&mut self, line: u64, pair: &TextPair<'_>) -> Result<bool> {
        match self {
            Seen::Known(known) => Ok(!known.set.insert(fingerprint(pair))),
            Seen::Listed(lines, next) => {
                let repeats = *next == Some(line);
                if repeats {
                    *next = lines.next()?;
                }
                Ok(repeats)
            }
        }
    }

    /// Looks for the repetitions among the pairs after `line`, up to which all were asked for.
    pub fn read_ahead(
        self,
        files: [&Path; 2],
        line: u64,
        options: &DoctorOptions,
        job: &Job,
    ) -> Result<Self> {
        let Seen::Known(Known { set, budget }) = self else { return Ok(self) };
        let room = budget.saturating_sub(set.allocation_size());
        let (mut unknown, mut repeated) = sorters(options, room);
        let mut ahead = Ahead::open(files, line, options)?;
        while let Some(fingerprint) = ahead.next()? {
            match fingerprint {
                Some(known) if set.contains(&known) => repeated.push(ahead.line, ())?,
                Some(new) => unknown.push(new, ahead.line)?,
                None => {}
            }
            if ahead.line.is_multiple_of(BLOCK) {
                job.check()?;
            }
        }
        drop(set);
        list_repeated(unknown.finish()?, &mut repeated, job)?;
        Seen::following(Repeated::Here(repeated.finish()?))
    }
}

/// What sorts fingerprints, and the lines that repeat an earlier one, in so much memory.
pub fn sorters(options: &DoctorOptions, room: usize) -> (Sorter<u128, u64>, Sorter<u64, ()>) {
    let folder = TempFolder::new(options.temp_dir.as_deref());
    // A quarter is left for what the allocator keeps of blocks that grew.
    (Sorter::new(&folder, room / 2, None), Sorter::new(&folder, room / 4, None))
}

/// Adds every line but the first of those with equal fingerprints, which come in any order.
pub fn list_repeated(
    fingerprints: Sorted<u128, u64>,
    repeated: &mut Sorter<u64, ()>,
    job: &Job,
) -> Result<()> {
    let mut last: Option<(u128, u64)> = None;
    for (number, record) in fingerprints.enumerate() {
        let (fingerprint, line) = record?;
        let first = match last {
            Some((same, first)) if same == fingerprint => {
                repeated.push(first.max(line), ())?;
                first.min(line)
            }
            _ => line,
        };
        last = Some((fingerprint, first));
        if (number as u64).is_multiple_of(BLOCK) {
            job.check()?;
        }
    }
    Ok(())
}

/// The fingerprints of the pairs after a line.
pub struct Ahead<'a> {
    src: LineReader,
    tgt: LineReader,
    line: u64,
    options: &'a DoctorOptions,
}

impl<'a> Ahead<'a> {
    fn open([src, tgt]: [&Path; 2], after: u64, options: &'a DoctorOptions) -> Result<Self> {
        let (mut src, mut tgt) = (LineReader::open(src)?, LineReader::open(tgt)?);
        for _ in 0..after {
            src.next_line()?;
            tgt.next_line()?;
        }
        Ok(Ahead::new([src, tgt], after, options))
    }

    /// Those of the pairs that are read next, with so many lines before them.
    pub fn new([src, tgt]: [LineReader; 2], before: u64, options: &'a DoctorOptions) -> Self {
        Ahead { src, tgt, line: before, options }
    }

    /// The line last read.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// The fingerprint of the next pair, or none where it is no text; nothing after the last pair.
    pub fn next(&mut self) -> Result<Option<Option<u128>>> {
        let (Some(src), Some(tgt)) = (self.src.next_line()?, self.tgt.next_line()?) else {
            return Ok(None);
        };
        self.line += 1;
        let Ok(pair) = inspect::decode(src, tgt) else { return Ok(Some(None)) };
        let [(src, _), (tgt, _)] = [pair.src, pair.tgt].map(|line| tidied(line, self.options));
        Ok(Some(Some(fingerprint(&TextPair { src: &src, tgt: &tgt }))))
    }
}

fn fingerprint(pair: &TextPair<'_>) -> u128 {
    let mut hash = Xxh3::new();
    hash.update(&(pair.src.len() as u64).to_le_bytes());
    hash.update(pair.src.as_bytes());
    hash.update(pair.tgt.as_bytes());
    hash.digest128()
}

#[cfg(test)]
mod tests {
    use super::super::{CleanFiles, examine};
    use super::*;
    use crate::storage::NewFile;
    use proptest::prelude::*;

    /// The report and the files that the doctor makes of a pair of files in a folder.
    fn examined(folder: &Path, memory: usize) -> (String, [Vec<u8>; 3]) {
        let [src, tgt, kept_src, kept_tgt, quarantine] =
            ["a", "b", "a.clean", "b.clean", "bad"].map(|name| folder.join(name));
        let out = CleanFiles { src: kept_src, tgt: kept_tgt, quarantine };
        let options = DoctorOptions { memory, nfc: true, ..DoctorOptions::default() };
        let report = examine(&src, &tgt, &options, Some(&out), &Job::default()).unwrap();
        let files = [out.src, out.tgt, out.quarantine].map(|path| std::fs::read(path).unwrap());
        (format!("{report:?}"), files)
    }

    proptest! {
        #[test]
        fn duplicates_are_the_same_for_any_memory(
            src in proptest::collection::vec("[ab]|e\u{301}|\u{e9}|\u{200e}a|", 0..120),
            tgt in proptest::collection::vec("[ab]|", 0..120),
            bad in 0_usize..60,
            memory in 0_usize..40_000,
        ) {
            let folder = TempFolder::new(None);
            let folder = (folder.path().unwrap(), folder);
            for (name, lines) in [("a", &src), ("b", &tgt)] {
                let mut bytes = lines.join("\n").into_bytes();
                if let Some(byte) = bytes.get_mut(bad) {
                    *byte = 0xff;
                }
                NewFile::save(&folder.0.join(name), &bytes).unwrap();
            }
            prop_assert_eq!(examined(&folder.0, memory), examined(&folder.0, 1 << 40));
        }
    }
}
