//! A table from Moses' text.
//!
//! In: a phrase table and perhaps a reordering table, sorted. Out: a mapped table. How: a first walk
//! learns the words and checks every line, a second one writes. Cost: two walks; memory for words.

use super::super::blocks::NewBlocks;
use super::super::format::{Contents, NewOption, NewWords, RowScores, TableWriter};
use super::{BLOCK, COLUMNS, SKIPPED};
use crate::Job;
use crate::corpus::{LineReader, Vocab};
use crate::error::{Error, Place, Result};
use crate::extract::{MAX_LENGTH, SEPARATOR};
use crate::narrow::{to_f32, to_u32, whole};
use crate::orientation::{Orientation, ROWS};
use crate::storage::TempFolder;
use std::cmp::Ordering;
use std::path::{Path, PathBuf};

/// ln of a probability of zero.
const FLOOR: f64 = -100.0;

/// Options that are written at a time.
const FULL: usize = 1 << 12;

/// Bytes of memory for the index of the table.
const MEMORY: usize = 1 << 30;

/// Text tables to read.
#[derive(Debug, Clone)]
pub struct TextTables {
    /// The phrase table.
    pub phrase_table: PathBuf,
    /// What each score column is: one of `COLUMNS`, or `SKIPPED`.
    pub columns: Vec<String>,
    /// The reordering table and what it holds.
    pub reordering: Option<(PathBuf, Orientation)>,
}

/// Makes a table of text; the number of its pairs and bytes.
pub fn import(tables: &TextTables, packed: bool, out: &Path, job: &Job) -> Result<(u64, u64)> {
    let columns = columns(&tables.columns)?;
    let survey = survey(&tables.phrase_table, &columns, job)?;
    let orientation = tables.reordering.as_ref().map(|(_, orientation)| *orientation);
    let mut models = [false; 3];
    if let Some(orientation) = orientation {
        models[orientation.model as usize] = true;
    }
    let has = |sides| orientation.is_some_and(|named| named.classes.has_sides() == sides);
    let contents =
        Contents { packed, counts: survey.has_counts, models, msd: has(false), mslr: has(true) };
    let words = |side: &Side| {
        let all = (0..side.vocab.len()).map(|id| (side.vocab.word(to_u32(id)), side.counts[id]));
        NewWords::new(all)
    };
    let ((src_words, src_ids), (tgt_words, tgt_ids)) = (words(&survey.src), words(&survey.tgt));
    let mut writer =
        TableWriter::create(out, contents, (survey.max_length, 0), MEMORY, &TempFolder::new(None))?;
    let mut blocks = NewBlocks::new(contents, survey.max_length);
    let mut rows = LineReader::open(&tables.phrase_table)?;
    let mut orientation_rows = match &tables.reordering {
        Some((path, orientation)) => Some(OrientationRows::open(path, *orientation)?),
        None => None,
    };
    let (mut row, mut src, mut option) = (TextRow::default(), Vec::new(), NewOption::default());
    let (mut last, mut src_count) = (String::new(), 0);
    while row.next(&mut rows, &columns)? {
        if row.src() != last {
            blocks.end_block(&src, src_count);
            if blocks.pairs() >= FULL {
                writer.write(&blocks)?;
                blocks.clear();
            }
            last.clear();
            last.push_str(row.src());
            src.clear();
            for word in row.src().split(' ') {
                src.extend(survey.src.vocab.id(word).map(|id| src_ids[id as usize]));
            }
        }
        option.tgt.clear();
        for word in row.tgt().split(' ') {
            option.tgt.extend(survey.tgt.vocab.id(word).map(|id| tgt_ids[id as usize]));
        }
        if option.tgt.is_empty() || src.is_empty() {
            return Err(changed(&rows));
        }
        option.links.clone_from(&row.links);
        option.scores = row.scores;
        let [tgt_count, own, both] = row.counts.unwrap_or_default();
        src_count = own;
        option.counts = (both, tgt_count);
        option.set = match &mut orientation_rows {
            Some(rows) => rows.find(&row.key)?.map(|rows| blocks.add_set(&rows)),
            None => None,
        };
        blocks.push(&option);
    }
    blocks.end_block(&src, src_count);
    writer.write(&blocks)?;
    let name = |path: &Path| {
        path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let recipe = format!("text:{}", name(&tables.phrase_table));
    let (bytes, pairs) = writer.finish(&src_words, &tgt_words, &recipe, job)?;
    Ok((pairs, bytes))
}

/// For each score where its column is.
fn columns(names: &[String]) -> Result<Columns> {
    let place = |name: &str| {
        let mut places = names.iter().enumerate().filter(|(_, other)| *other == name);
        match (places.next(), places.next()) {
            (Some((at, _)), None) => Some(at),
            _ => None,
        }
    };
    let known = |name: &String| COLUMNS.contains(&name.as_str()) || name == SKIPPED;
    let places = COLUMNS.map(place);
    match places {
        [Some(a), Some(b), Some(c), Some(d)] if names.iter().all(known) => {
            Ok(Columns { places: [a, b, c, d], width: names.len() })
        }
        _ => Err(Error::Argument {
            name: "columns".into(),
            found: names.join(","),
            expected: format!(
                "each of {} once, and `{SKIPPED}` for columns not used",
                COLUMNS.join(", ")
            ),
        }),
    }
}

struct Columns {
    places: [usize; 4],
    width: usize,
}

#[derive(Default)]
struct Side {
    vocab: Vocab,
    counts: Vec<u64>,
}

impl Side {
    fn add(&mut self, phrase: &str) {
        for word in phrase.split(' ') {
            let id = self.vocab.intern(word) as usize;
            self.counts.resize(self.vocab.len(), 0);
            self.counts[id] += 1;
        }
    }
}

/// What a first look at a text table finds.
struct Survey {
    src: Side,
    tgt: Side,
    max_length: usize,
    has_counts: bool,
}

fn survey(path: &Path, columns: &Columns, job: &Job) -> Result<Survey> {
    let mut survey =
        Survey { src: Side::default(), tgt: Side::default(), max_length: 1, has_counts: true };
    let mut rows = LineReader::open(path)?;
    let mut row = TextRow::default();
    let mut lines = 0u64;
    while row.next(&mut rows, columns)? {
        survey.src.add(row.src());
        survey.tgt.add(row.tgt());
        for phrase in [row.src(), row.tgt()] {
            survey.max_length = survey.max_length.max(phrase.split(' ').count());
        }
        survey.has_counts &= row.counts.is_some();
        lines += 1;
        if lines.is_multiple_of(BLOCK) {
            job.check()?;
        }
    }
    survey.has_counts &= lines > 0;
    Ok(survey)
}

/// One line of a phrase table.
#[derive(Default)]
struct TextRow {
    /// `source ||| target |||`, spaces made single.
    key: String,
    before: String,
    src_end: usize,
    scores: [f32; 4],
    links: Vec<u8>,
    counts: Option<[u64; 3]>,
}

impl TextRow {
    fn src(&self) -> &str {
        &self.key[..self.src_end]
    }

    fn tgt(&self) -> &str {
        &self.key[self.src_end + 5..self.key.len() - 4]
    }

    /// Reads the next line that has a source phrase; false at the end.
    fn next(&mut self, lines: &mut LineReader, columns: &Columns) -> Result<bool> {
        loop {
            // The reader lends the line, so the place is made of what is known before.
            let path = lines.path().to_path_buf();
            let number = lines.place().line.unwrap_or_default() + 1;
            let place = || Place::line(&path, number);
            let Some(line) = lines.next_str()? else { return Ok(false) };
            let mut fields = line.split(SEPARATOR);
            std::mem::swap(&mut self.key, &mut self.before);
            self.key.clear();
            let (src, tgt) = (fields.next().unwrap_or_default(), fields.next());
            push_phrase(&mut self.key, src);
            self.src_end = self.key.len();
            if self.src_end == 0 && tgt.is_some() {
                std::mem::swap(&mut self.key, &mut self.before);
                continue;
            }
            self.key.push_str(" ||| ");
            push_phrase(&mut self.key, tgt.unwrap_or_default());
            let is_empty = self.key.len() == self.src_end + 5;
            self.key.push_str(" |||");
            let Some(scores) = fields.next() else {
                return Err(bad_row(place(), "fewer than 3 fields"));
            };
            if is_empty {
                return Err(bad_row(place(), "no target phrase"));
            }
            self.read_scores(scores, columns).map_err(|found| bad_row(place(), &found))?;
            self.read_links(fields.next().unwrap_or_default())
                .map_err(|found| bad_row(place(), &found))?;
            self.counts = counts(fields.next().unwrap_or_default());
            if self.before.as_bytes().cmp(self.key.as_bytes()) != Ordering::Less {
                return Err(unsorted(place()));
            }
            return Ok(true);
        }
    }

    fn read_scores(&mut self, field: &str, columns: &Columns) -> std::result::Result<(), String> {
        let found = field.split_whitespace().count();
        if found != columns.width {
            return Err(format!("{found} scores, but {} columns were named", columns.width));
        }
        for (score, &at) in self.scores.iter_mut().zip(&columns.places) {
            let word = field.split_whitespace().nth(at).unwrap_or_default();
            *score = to_f32(ln(word)?);
        }
        Ok(())
    }

    fn read_links(&mut self, field: &str) -> std::result::Result<(), String> {
        let words = |phrase: &str| phrase.split(' ').count();
        let (src, tgt) = (words(self.src()), words(self.tgt()));
        if src.max(tgt) > MAX_LENGTH {
            return Err(format!("a phrase of {} words", src.max(tgt)));
        }
        self.links.clear();
        for word in field.split_whitespace() {
            let link = word.split_once('-');
            let link = link.and_then(|(i, j)| Some((i.parse().ok()?, j.parse().ok()?)));
            match link {
                Some((i, j)) if usize::from(i) < src && usize::from(j) < tgt => {
                    self.links.extend_from_slice(&[i, j]);
                }
                _ => {
                    let shown: String = word.chars().take(40).collect();
                    return Err(format!("link `{shown}` in a pair of {src} and {tgt} words"));
                }
            }
        }
        Ok(())
    }
}

fn push_phrase(out: &mut String, field: &str) {
    let start = out.len();
    for word in field.split_whitespace() {
        if out.len() > start {
            out.push(' ');
        }
        out.push_str(word);
    }
}

/// The natural logarithm of a probability in a text table.
fn ln(word: &str) -> std::result::Result<f64, String> {
    let value: Option<f64> = word.parse().ok();
    let value = value.filter(|value| value.is_finite() && *value >= 0.0);
    let value =
        value.ok_or_else(|| format!("score `{}`", word.chars().take(40).collect::<String>()))?;
    Ok(value.ln().max(FLOOR))
}

/// Counts of target phrase, source phrase and pair; they may be written as decimals.
fn counts(field: &str) -> Option<[u64; 3]> {
    let mut counts = [0; 3];
    let mut words = field.split_whitespace();
    for count in &mut counts {
        let value: f64 = words.next()?.parse().ok()?;
        *count = (value.is_finite() && value >= 0.0).then_some(whole(value.round()))?;
    }
    Some(counts)
}

/// A reordering table, read beside the phrase table.
struct OrientationRows {
    lines: LineReader,
    orientation: Orientation,
    key: String,
    before: String,
    rows: [RowScores; ROWS],
    is_at_end: bool,
}

impl OrientationRows {
    fn open(path: &Path, orientation: Orientation) -> Result<Self> {
        let mut rows = OrientationRows {
            lines: LineReader::open(path)?,
            orientation,
            key: String::new(),
            before: String::new(),
            rows: [[0.0; 7]; ROWS],
            is_at_end: false,
        };
        rows.advance()?;
        Ok(rows)
    }

    fn advance(&mut self) -> Result<()> {
        let path = self.lines.path().to_path_buf();
        let number = self.lines.place().line.unwrap_or_default() + 1;
        let place = || Place::line(&path, number);
        let Some(line) = self.lines.next_str()? else {
            self.is_at_end = true;
            return Ok(());
        };
        let mut fields = line.split(SEPARATOR);
        let (src, tgt, scores) = (fields.next(), fields.next(), fields.next());
        let (Some(src), Some(tgt), Some(scores)) = (src, tgt, scores) else {
            return Err(bad_row(place(), "fewer than 3 fields"));
        };
        std::mem::swap(&mut self.key, &mut self.before);
        self.key.clear();
        push_phrase(&mut self.key, src);
        self.key.push_str(" ||| ");
        push_phrase(&mut self.key, tgt);
        self.key.push_str(" |||");
        if self.before.as_bytes().cmp(self.key.as_bytes()) != Ordering::Less {
            return Err(unsorted(place()));
        }
        let (columns, first) =
            (self.orientation.classes.columns(), self.orientation.classes.range().start);
        let expected = columns.len() * self.orientation.directions().count();
        let found = scores.split_whitespace().count();
        if found != expected {
            let found = format!("{found} scores instead of {expected}");
            return Err(bad_row(place(), &found));
        }
        let mut words = scores.split_whitespace();
        for direction in self.orientation.directions() {
            for &places in columns {
                let word = words.next().unwrap_or_default();
                let score = to_f32(ln(word).map_err(|found| bad_row(place(), &found))?);
                for &at in places {
                    self.rows[direction as usize][first + at] = score;
                }
            }
        }
        Ok(())
    }

    /// The scores of a pair, if the table has it; pairs are asked for in order.
    fn find(&mut self, key: &str) -> Result<Option<[RowScores; ROWS]>> {
        while !self.is_at_end && self.key.as_bytes() < key.as_bytes() {
            self.advance()?;
        }
        Ok((!self.is_at_end && self.key == key).then_some(self.rows))
    }
}

fn bad_row(place: Place, found: &str) -> Error {
    Error::Format {
        place,
        found: found.into(),
        expected: "`source ||| target ||| probabilities ||| 0-0 1-2 …`".into(),
        advice: "is it a text table of Moses, and are its columns named?".into(),
    }
}

fn unsorted(place: Place) -> Error {
    Error::Format {
        place,
        found: "a pair that does not come after the one before".into(),
        expected: "sorted lines, each pair once".into(),
        advice: "sort the file with `LC_ALL=C sort`".into(),
    }
}

fn changed(lines: &LineReader) -> Error {
    Error::Mismatch {
        place: lines.place(),
        found: "a word that was not there a moment ago".into(),
        advice: "the file changed while it was read; try again".into(),
    }
}
