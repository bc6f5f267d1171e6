//! A table as Moses' text.
//!
//! In: a table and the names of the files. Out: sorted lines; the orientation file has a line for
//! each line of the phrase file. Cost: one walk through the table.

use super::super::table::PhraseTable;
use super::BLOCK;
use crate::Job;
use crate::error::{Error, Result};
use crate::extract::SEPARATOR;
use crate::narrow::to_usize;
use crate::orientation::{Model, Orientation};
use crate::storage::NewFile;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

/// Bytes of compressed text that are kept before they are written.
const CHUNK: usize = 1 << 16;

/// Text that is compressed when the file's name ends in `.gz`.
enum TextFile {
    Plain(NewFile),
    Gzip(NewFile, Box<GzEncoder<Vec<u8>>>),
}

impl TextFile {
    fn create(path: &Path) -> Result<Self> {
        let file = NewFile::create(path)?;
        let is_gzip = path.extension().is_some_and(|end| end == "gz");
        Ok(if is_gzip {
            // Without a name and time inside, equal text gives equal files.
            let encoder = GzEncoder::new(Vec::new(), Compression::default());
            TextFile::Gzip(file, Box::new(encoder))
        } else {
            TextFile::Plain(file)
        })
    }

    fn write(&mut self, text: &str) -> Result<()> {
        match self {
            TextFile::Plain(file) => file.write(text.as_bytes()),
            TextFile::Gzip(file, encoder) => {
                encoder.write_all(text.as_bytes()).map_err(in_memory)?;
                if encoder.get_ref().len() > CHUNK {
                    file.write(encoder.get_ref())?;
                    encoder.get_mut().clear();
                }
                Ok(())
            }
        }
    }

    fn finish(self) -> Result<()> {
        match self {
            TextFile::Plain(file) => file.finish(),
            TextFile::Gzip(mut file, encoder) => {
                file.write(&encoder.finish().map_err(in_memory)?)?;
                file.finish()
            }
        }
    }
}

fn in_memory(source: std::io::Error) -> Error {
    Error::io(Path::new("gzip"), source)
}

/// Adds a number with six significant digits, as C's `%g` does.
fn write_general(out: &mut String, number: f64) {
    let short = format!("{number:.5e}");
    let (digits, exponent) = short.split_once('e').unwrap_or((&short, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let trim = |text: &str| -> usize {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').len()
        } else {
            text.len()
        }
    };
    if (-4..6).contains(&exponent) {
        let start = out.len();
        let decimals = to_usize(5 - exponent);
        let _ = write!(out, "{number:.decimals$}");
        let kept = trim(&out[start..]);
        out.truncate(start + kept);
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        let _ = write!(out, "{}e{sign}{:02}", &digits[..trim(digits)], exponent.abs());
    }
}

/// Writes a table as text: phrase pairs with scores, and orientation when a type is given.
pub fn export(
    table: &PhraseTable,
    phrase_table: &Path,
    reordering: Option<(&Path, Orientation)>,
    job: &Job,
) -> Result<u64> {
    if let Some((_, orientation)) = reordering {
        check_orientation(table, orientation)?;
    }
    let mut scores = TextFile::create(phrase_table)?;
    let mut orientation_file = match reordering {
        Some((path, orientation)) => Some((TextFile::create(path)?, orientation)),
        None => None,
    };
    let (mut src, mut pair, mut line) = (String::new(), String::new(), String::new());
    let (mut links, mut lines) = (Vec::new(), 0);
    job.begin(table.pairs());
    for block in table.blocks() {
        let (words, options) = block?;
        src.clear();
        words.for_each(|id| push_word(&mut src, table.src_words().word(id)));
        let count = options.src_count();
        for option in options {
            let option = option?;
            pair.clear();
            let _ = write!(pair, "{src}{SEPARATOR} ");
            option.tgt().for_each(|id| push_word(&mut pair, table.tgt_words().word(id)));
            let _ = write!(pair, "{SEPARATOR} ");
            line.clear();
            line.push_str(&pair);
            for score in option.scores {
                write_general(&mut line, f64::from(score).exp());
                line.push(' ');
            }
            let _ = write!(line, "{SEPARATOR} ");
            links.clear();
            links.extend(option.links());
            links.sort_unstable_by_key(|link| (link.tgt, link.src));
            for link in &links {
                let _ = write!(line, "{}-{} ", link.src.0, link.tgt.0);
            }
            line.push_str(SEPARATOR);
            if let Some((both, tgt)) = option.counts {
                let _ = write!(line, " {tgt} {count} {both}");
            }
            let _ = writeln!(line, " {SEPARATOR} {SEPARATOR}");
            scores.write(&line)?;
            if let Some((file, orientation)) = &mut orientation_file {
                line.clear();
                line.push_str(&pair);
                for score in option.rows(*orientation).flatten() {
                    write_general(&mut line, f64::from(*score).exp());
                    line.push(' ');
                }
                if line.len() > pair.len() {
                    line.pop();
                    line.push('\n');
                    file.write(&line)?;
                }
            }
            lines += 1;
            if lines % BLOCK == 0 {
                job.check()?;
                job.advance(BLOCK);
            }
        }
    }
    scores.finish()?;
    if let Some((file, _)) = orientation_file {
        file.finish()?;
    }
    Ok(lines)
}

fn push_word(out: &mut String, word: Option<&str>) {
    out.push_str(word.unwrap_or_default());
    out.push(' ');
}

/// Refuses an orientation model that the table does not hold.
pub fn check_orientation(table: &PhraseTable, orientation: Orientation) -> Result<()> {
    let contents = table.contents();
    let has_classes = if orientation.classes.has_sides() { contents.mslr } else { contents.msd };
    if has_classes && contents.models[orientation.model as usize] {
        return Ok(());
    }
    let known: Vec<_> = Model::ALL
        .into_iter()
        .filter(|&model| contents.models[model as usize])
        .flat_map(|model| {
            let classes = [(contents.msd, "msd"), (contents.mslr, "mslr")];
            classes.into_iter().filter(|one| one.0).map(move |one| (model.name(), one.1))
        })
        .map(|(model, classes)| format!("{model}-{classes}"))
        .collect();
    let known = if known.is_empty() { "a table with orientation".into() } else { known.join(", ") };
    Err(Error::Argument {
        name: "orientation".into(),
        found: format!("{}-{}", orientation.model.name(), orientation.classes.name()),
        expected: known,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_look_as_moses_prints_them() {
        let shown = |number| {
            let mut text = String::new();
            write_general(&mut text, number);
            text
        };
        let expected = [
            (1.0, "1"),
            (0.5, "0.5"),
            (1.0 / 3.0, "0.333333"),
            (8.76255e-05, "8.76255e-05"),
            (0.0001, "0.0001"),
            (0.00999999999, "0.01"),
            (4.57046e-08, "4.57046e-08"),
            (1e-12, "1e-12"),
            (123456.0, "123456"),
            (1234567.0, "1.23457e+06"),
            (0.0, "0"),
        ];
        for (number, text) in expected {
            assert_eq!(shown(number), text);
        }
    }
}
