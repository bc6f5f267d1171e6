//! Finds the lines of a bitext that would do harm, and takes them out.
//!
//! In: two files of any bytes. Out: a `Report`, and on request three files: the clean pair and
//! a quarantine file that says why. Every input line ends in exactly one of the two.
//! How: one short pass to learn the writing of each side, one over all lines.
//! Cost: linear; memory is one line of each file and fingerprints of pairs, to know duplicates, up
//! to a budget; beyond it they are sorted on disk, and the text is read once more (`seen`).
//! Not: repair; the text stays as it is, but for line ends, a byte-order mark, marks that nobody
//! sees and, when asked for, Unicode's composed form.

mod inspect;
mod piece;
mod problem;
mod quarantine;
mod seen;

pub use inspect::{Finding, Side};
pub use piece::{Piece, examine_piece, find_repeated, fingerprints, scripts};
pub use problem::Problem;

use super::{Family, LineReader, family_of, without_marks};
use crate::Job;
use crate::error::{Error, Result};
use crate::storage::NewFile;
use inspect::{Families, TextPair};
use seen::Seen;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use unicode_normalization::{UnicodeNormalization, is_nfc};

/// Lines looked at to learn the writing of a side.
const SAMPLE: u64 = 20_000;
/// A writing is a side's own when it has at least this share of its letters.
const OWN_SHARE: f64 = 0.7;
/// Lines between two looks at the job.
const BLOCK: u64 = 1 << 12;

/// Where the cleaned text goes.
#[derive(Debug, Clone)]
pub struct CleanFiles {
    /// The source lines that are kept.
    pub src: PathBuf,
    /// The target lines that are kept.
    pub tgt: PathBuf,
    /// The lines taken out, with reasons.
    pub quarantine: PathBuf,
}

/// What counts as trouble.
#[derive(Debug, Clone)]
pub struct DoctorOptions {
    /// Longest side, in words (characters for writings without spaces).
    pub max_length: usize,
    /// How many times longer one side may be than the other.
    pub max_ratio: f64,
    /// Number of `|` factors every source word must have; none: plain text.
    pub factors: Option<usize>,
    /// Bring kept lines to Unicode's composed normal form.
    pub nfc: bool,
    /// Kinds that are not looked for.
    pub allowed: Vec<Problem>,
    /// How many findings of each kind the report shows.
    pub examples: usize,
    /// Bytes that the process may use; beyond them, what tells duplicates goes to disk.
    pub memory: usize,
    /// Where it goes; none: the system's place for temporary files.
    pub temp_dir: Option<PathBuf>,
}

impl Default for DoctorOptions {
    fn default() -> Self {
        DoctorOptions {
            max_length: 200,
            max_ratio: 9.0,
            factors: None,
            nfc: false,
            allowed: Vec::new(),
            examples: 5,
            memory: 1 << 30,
            temp_dir: None,
        }
    }
}

/// A finding and the line it is in, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnosis {
    /// The line.
    pub line: u64,
    /// What was found there.
    pub finding: Finding,
}

/// What the doctor saw.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Lines of the source file.
    pub src_lines: u64,
    /// Lines of the target file.
    pub tgt_lines: u64,
    /// Pairs without any problem.
    pub clean: u64,
    /// Lines with a problem; `clean + quarantined` is the longer file's number of lines.
    pub quarantined: u64,
    /// Clean pairs that lost marks nobody sees.
    pub cleaned: u64,
    /// Lines with each kind of problem, in the order of `Problem::ALL`; what was only cleaned is
    /// not among them.
    pub counts: [u64; Problem::ALL.len()],
    /// The first few of each kind, by line.
    pub examples: Vec<Diagnosis>,
    /// The writing of each side, where one has most of its letters.
    pub scripts: [Option<&'static str>; 2],
}

/// Examines a pair of files and, when asked, writes the clean pair and the quarantine.
pub fn examine(
    src: &Path,
    tgt: &Path,
    options: &DoctorOptions,
    out: Option<&CleanFiles>,
    job: &Job,
) -> Result<Report> {
    check_options(options)?;
    let mut ward = Ward::new(options, families_of(src, tgt)?, out)?;
    let lines = [LineReader::open(src)?, LineReader::open(tgt)?];
    visit(lines, &mut ward, job, |ward| ward.make_room([src, tgt], job))?;
    ward.finish()
}

/// Admits line after line; `prepare` is called before each.
fn visit<'a>(
    [mut src_lines, mut tgt_lines]: [LineReader; 2],
    ward: &mut Ward<'a>,
    job: &Job,
    prepare: impl Fn(&mut Ward<'a>) -> Result<()>,
) -> Result<()> {
    loop {
        let (src_line, tgt_line) = (src_lines.next_line()?, tgt_lines.next_line()?);
        if src_line.is_none() && tgt_line.is_none() {
            return Ok(());
        }
        prepare(ward)?;
        ward.admit(src_line, tgt_line)?;
        if ward.line().is_multiple_of(BLOCK) {
            job.check()?;
            job.advance(BLOCK);
        }
    }
}

fn check_options(options: &DoctorOptions) -> Result<()> {
    let wrong = |name: &str, found: String, expected: &str| {
        Err(Error::Argument { name: name.into(), found, expected: expected.into() })
    };
    if options.max_length == 0 {
        return wrong("max_length", "0".into(), "at least 1 word");
    }
    if options.max_ratio.is_nan() || options.max_ratio < 1.0 {
        return wrong("max_ratio", options.max_ratio.to_string(), "a number of at least 1");
    }
    if options.factors == Some(0) {
        return wrong("factors", "0".into(), "at least 1 factor");
    }
    Ok(())
}

fn families_of(src: &Path, tgt: &Path) -> Result<Families> {
    Ok(Families { src: family_of_file(src)?, tgt: family_of_file(tgt)? })
}

/// The writing that most letters of a file's first lines are in.
fn family_of_file(path: &Path) -> Result<Option<Family>> {
    let mut lines = LineReader::open(path)?;
    let mut counts: Vec<(Family, u64)> = Vec::new();
    for _ in 0..SAMPLE {
        let Some(line) = lines.next_line()? else { break };
        let Ok(line) = std::str::from_utf8(line) else { continue };
        for family in line.chars().filter_map(family_of) {
            match counts.iter_mut().find(|(known, _)| *known == family) {
                Some((_, count)) => *count += 1,
                None => counts.push((family, 1)),
            }
        }
    }
    let total: u64 = counts.iter().map(|(_, count)| count).sum();
    let is_own = |count: u64| count as f64 >= OWN_SHARE * total as f64;
    Ok(counts.into_iter().find(|&(_, count)| is_own(count)).map(|(family, _)| family))
}

/// The files in the making.
struct Outputs {
    src: NewFile,
    tgt: NewFile,
    quarantine: NewFile,
}

/// Everything known after the lines read so far.
struct Ward<'a> {
    options: &'a DoctorOptions,
    families: Families,
    /// Nothing when repeated pairs are allowed.
    seen: Option<Seen>,
    report: Report,
    /// Lines of the text that others look at.
    before: u64,
    outputs: Option<Outputs>,
    entry: Vec<u8>,
}

impl<'a> Ward<'a> {
    fn new(
        options: &'a DoctorOptions,
        families: Families,
        out: Option<&CleanFiles>,
    ) -> Result<Self> {
        let create = |files: &CleanFiles| -> Result<Outputs> {
            Ok(Outputs {
                src: NewFile::create(&files.src)?,
                tgt: NewFile::create(&files.tgt)?,
                quarantine: NewFile::create(&files.quarantine)?,
            })
        };
        let scripts = [families.src.map(Family::name), families.tgt.map(Family::name)];
        Ok(Ward {
            options,
            families,
            seen: (!options.allowed.contains(&Problem::Duplicate))
                .then(|| Seen::new(options.memory)),
            report: Report { scripts, ..Report::default() },
            before: 0,
            outputs: out.map(create).transpose()?,
            entry: Vec::new(),
        })
    }

    /// Number of the line last admitted.
    fn line(&self) -> u64 {
        self.before + self.report.clean + self.report.quarantined
    }

    /// Reads on by another way where the pairs seen so far fill the memory.
    fn make_room(&mut self, files: [&Path; 2], job: &Job) -> Result<()> {
        if let Some(seen) = self.seen.take_if(|seen| !seen.has_room()) {
            self.seen = Some(seen.read_ahead(files, self.line(), self.options, job)?);
        }
        Ok(())
    }

    fn admit(&mut self, src: Option<&[u8]>, tgt: Option<&[u8]>) -> Result<()> {
        self.report.src_lines += u64::from(src.is_some());
        self.report.tgt_lines += u64::from(tgt.is_some());
        let (Some(src), Some(tgt)) = (src, tgt) else {
            let side = if src.is_some() { Side::Src } else { Side::Tgt };
            let detail = "no line on the other side".into();
            let finding = Finding { problem: Problem::Unpaired, side, detail };
            // An unpaired line is no pair whatever the user allows.
            return self.quarantine(&[finding], src.unwrap_or_default(), tgt.unwrap_or_default());
        };
        let pair = match inspect::decode(src, tgt) {
            Ok(pair) => pair,
            // What is not text cannot be kept either: no later stage could read it.
            Err(findings) => return self.quarantine(&findings, src, tgt),
        };
        let [(kept_src, src_mark), (kept_tgt, tgt_mark)] =
            [pair.src, pair.tgt].map(|line| tidied(line, self.options));
        let pair = TextPair { src: &kept_src, tgt: &kept_tgt };
        let mut findings = inspect::inspect(&pair, self.options, self.families);
        let line = self.line() + 1;
        if let Some(seen) = &mut self.seen
            && seen.repeats(line, &pair)?
        {
            let detail = "seen before".into();
            findings.push(Finding { problem: Problem::Duplicate, side: Side::Both, detail });
        }
        findings.retain(|finding| !self.options.allowed.contains(&finding.problem));
        findings.sort_by_key(|finding| finding.problem);
        if !findings.is_empty() {
            return self.quarantine(&findings, src, tgt);
        }
        self.keep(&pair)?;
        self.note_marks([(Side::Src, src_mark), (Side::Tgt, tgt_mark)]);
        Ok(())
    }

    /// Counts and shows a pair that was kept without its marks.
    fn note_marks(&mut self, marks: [(Side, Option<char>); 2]) {
        let line = self.line();
        let marked = marks.into_iter().filter_map(|(side, mark)| Some((side, mark?)));
        let findings: Vec<_> = marked
            .map(|(side, mark)| Finding {
                problem: Problem::Invisible,
                side,
                detail: inspect::name_of(mark),
            })
            .collect();
        if findings.is_empty() {
            return;
        }
        self.report.cleaned += 1;
        if self.report.cleaned <= self.options.examples as u64 {
            let shown = findings.into_iter().map(|finding| Diagnosis { line, finding });
            self.report.examples.extend(shown);
        }
    }

    fn keep(&mut self, pair: &TextPair<'_>) -> Result<()> {
        self.report.clean += 1;
        let Some(outputs) = &mut self.outputs else { return Ok(()) };
        for (file, line) in [(&mut outputs.src, pair.src), (&mut outputs.tgt, pair.tgt)] {
            file.write(line.as_bytes())?;
            file.write(b"\n")?;
        }
        Ok(())
    }

    fn quarantine(&mut self, findings: &[Finding], src: &[u8], tgt: &[u8]) -> Result<()> {
        self.report.quarantined += 1;
        let line = self.line();
        let mut problems: Vec<Problem> = findings.iter().map(|finding| finding.problem).collect();
        problems.dedup();
        for &problem in &problems {
            let count = &mut self.report.counts[problem as usize];
            *count += 1;
            if *count <= self.options.examples as u64 {
                let of_kind = findings.iter().filter(|finding| finding.problem == problem);
                self.report
                    .examples
                    .extend(of_kind.map(|finding| Diagnosis { line, finding: finding.clone() }));
            }
        }
        let Some(outputs) = &mut self.outputs else { return Ok(()) };
        self.entry.clear();
        quarantine::write_entry(&mut self.entry, line, &problems, src, tgt);
        outputs.quarantine.write(&self.entry)
    }

    fn finish(self) -> Result<Report> {
        if let Some(outputs) = self.outputs {
            outputs.src.finish()?;
            outputs.tgt.finish()?;
            outputs.quarantine.finish()?;
        }
        Ok(self.report)
    }
}

/// The line as it is kept, and the first mark that nobody sees and that it lost.
fn tidied<'a>(line: &'a str, options: &DoctorOptions) -> (Cow<'a, str>, Option<char>) {
    let (visible, mark) = match options.allowed.contains(&Problem::Invisible) {
        true => (line.into(), None),
        false => without_marks(line),
    };
    match options.nfc && !is_nfc(&visible) {
        true => (visible.nfc().collect::<String>().into(), mark),
        false => (visible, mark),
    }
}
