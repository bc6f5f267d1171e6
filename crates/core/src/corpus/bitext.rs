//! Sentence pairs as word ids.
//!
//! In: two line-aligned files, or one file with both sides in every line.
//! Out: two `Text`s over one `Vocab`; ids number the words by first appearance, the source
//! line before its target line, so the same files always give the same ids.
//! Cost: one pass, one line of each file in memory besides the result.
//! Not: JSON lines, TMX, PO and Parquet; Python reads those and calls `push`.

use super::{LineReader, Text, Vocab};
use crate::Job;
use crate::error::{Error, Place, Result};
use std::path::{Path, PathBuf};
use unicode_normalization::{UnicodeNormalization, is_nfc};

/// Lines between two looks at the job: often enough for Ctrl-C, rare enough to cost nothing.
const BLOCK: u64 = 1 << 12;

/// How the two sides of a pair are laid out in files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layout {
    /// Two files, line by line.
    Files(PathBuf, PathBuf),
    /// One file, source and target on each line with this separator between them.
    Columns(PathBuf, String),
}

/// What to do with the text while it is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Bring every line to Unicode's composed normal form.
    pub nfc: bool,
}

/// Two line-aligned texts with one vocabulary.
#[derive(Debug, Clone, Default)]
pub struct Bitext {
    vocab: Vocab,
    src: Text,
    tgt: Text,
}

impl Bitext {
    /// Reads sentence pairs and stops at the first line that is no good.
    pub fn read(layout: &Layout, options: ReadOptions, job: &Job) -> Result<Self> {
        let mut bitext = Bitext::default();
        match layout {
            Layout::Files(src, tgt) => bitext.read_files(src, tgt, options, job)?,
            Layout::Columns(path, separator) => {
                bitext.read_columns(path, separator, options, job)?;
            }
        }
        bitext.src.shrink();
        bitext.tgt.shrink();
        Ok(bitext)
    }

    /// Hands each pair of lines of two files to `visit`, one after the other, and keeps none.
    pub fn visit_files(
        src: &Path,
        tgt: &Path,
        job: &Job,
        mut visit: impl FnMut(&str, &str) -> Result<()>,
    ) -> Result<()> {
        let mut src_lines = LineReader::open(src)?;
        let mut tgt_lines = LineReader::open(tgt)?;
        for line in 0u64.. {
            match (src_lines.next_str()?, tgt_lines.next_str()?) {
                (Some(src_line), Some(tgt_line)) => visit(src_line, tgt_line)?,
                (None, None) => break,
                (left, _) => {
                    let (longer, shorter) = if left.is_some() { (src, tgt) } else { (tgt, src) };
                    return Err(uneven(longer, shorter, line));
                }
            }
            report(line + 1, job)?;
        }
        Ok(())
    }

    /// The words of both sides.
    pub fn vocab(&self) -> &Vocab {
        &self.vocab
    }

    /// The source sentences.
    pub fn src(&self) -> &Text {
        &self.src
    }

    /// The target sentences.
    pub fn tgt(&self) -> &Text {
        &self.tgt
    }

    /// Number of sentence pairs.
    pub fn len(&self) -> usize {
        self.src.len()
    }

    /// Whether there is no pair.
    pub fn is_empty(&self) -> bool {
        self.src.is_empty()
    }

    /// Adds one pair of whitespace-separated sentences.
    pub fn push(&mut self, src: &str, tgt: &str, options: ReadOptions) {
        push_line(&mut self.src, &mut self.vocab, src, options);
        push_line(&mut self.tgt, &mut self.vocab, tgt, options);
    }

    fn read_files(
        &mut self,
        src: &Path,
        tgt: &Path,
        options: ReadOptions,
        job: &Job,
    ) -> Result<()> {
        Bitext::visit_files(src, tgt, job, |src_line, tgt_line| {
            self.push(src_line, tgt_line, options);
            Ok(())
        })
    }

    fn read_columns(
        &mut self,
        path: &Path,
        separator: &str,
        options: ReadOptions,
        job: &Job,
    ) -> Result<()> {
        let mut lines = LineReader::open(path)?;
        while let Some(line) = lines.next_str()? {
            let mut sides = line.split(separator);
            match (sides.next(), sides.next(), sides.next()) {
                (Some(src), Some(tgt), None) => self.push(src, tgt, options),
                _ => {
                    let count = line.split(separator).count();
                    return Err(wrong_columns(lines.place(), count, separator));
                }
            }
            report(self.len() as u64, job)?;
        }
        Ok(())
    }
}

fn push_line(text: &mut Text, vocab: &mut Vocab, line: &str, options: ReadOptions) {
    if options.nfc && !is_nfc(line) {
        text.push_line(&line.nfc().collect::<String>(), vocab);
    } else {
        text.push_line(line, vocab);
    }
}

fn report(lines: u64, job: &Job) -> Result<()> {
    if lines.is_multiple_of(BLOCK) {
        job.check()?;
        job.advance(BLOCK);
    }
    Ok(())
}

fn uneven(longer: &Path, shorter: &Path, lines: u64) -> Error {
    Error::Mismatch {
        place: Place::line(longer, lines + 1),
        found: format!("{} has only {lines} lines", shorter.display()),
        advice: "are both files of the same corpus? `wayword doctor` shows what does not pair"
            .into(),
    }
}

fn wrong_columns(place: Place, count: usize, separator: &str) -> Error {
    let (name, advice) = match separator {
        "\t" => ("a tab", "take other columns out, for example with cut -f1,2"),
        _ => ("`|||`", "is every line `source ||| target`?"),
    };
    Error::Format {
        place,
        found: format!("{count} column{}", if count == 1 { "" } else { "s" }),
        expected: format!("2 columns with {name} between them"),
        advice: advice.into(),
    }
}
