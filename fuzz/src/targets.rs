//! The readers, by name, and what is done with what they read.

use crate::reseal::reseal;
use std::path::{Path, PathBuf};
use wayword::align::{self, Aligner, WordAlignments};
use wayword::annotate::{Tagger, Worker};
use wayword::corpus::annotated::Sentence;
use wayword::corpus::{Bitext, DoctorOptions, Layout, LineReader, ReadOptions, doctor};
use wayword::extract::{Counts, ExtractOptions};
use wayword::feature::Coverage;
use wayword::lm::{self, LmLoadOptions};
use wayword::phrase_table::{COLUMNS, PhraseTable, TextTables, import};
use wayword::reorder::jump::{Judge, Window};
use wayword::reorder::{lop, neural, waw};
use wayword::{Job, Result};

/// A reader and the file that it is given.
pub struct Target {
    read: fn(&Path, &Path) -> Result<()>,
    kind: Kind,
    path: PathBuf,
    out: PathBuf,
    /// Whether a file that is not read is a failure: seeds have to be whole.
    is_strict: bool,
}

/// What models are tried on.
const WORDS: [&str; 4] = ["das", "haus", "ist", "klein"];

/// What the bytes are made into before they are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// As they are.
    Text,
    /// With checksums that fit.
    Sealed,
    /// The same, for the parts of a phrase table too.
    Table,
}

const TARGETS: &[(&str, Kind, fn(&Path, &Path) -> Result<()>)] = &[
    ("text", Kind::Text, text),
    ("links", Kind::Text, links),
    ("factored", Kind::Text, factored),
    ("arpa", Kind::Text, arpa),
    ("moses", Kind::Text, moses),
    ("waw-text", Kind::Text, waw_text),
    ("lm", Kind::Sealed, language_model),
    ("ngrams", Kind::Sealed, counted_ngrams),
    ("table", Kind::Table, table),
    ("counts", Kind::Sealed, counts),
    ("aligner", Kind::Sealed, aligner),
    ("tagger", Kind::Sealed, tagger),
    ("waw", Kind::Sealed, waw_model),
    ("lop", Kind::Sealed, lop_model),
    ("neural", Kind::Sealed, neural_model),
    ("words", Kind::Text, words),
    ("passes", Kind::Text, passes),
    ("fingerprints", Kind::Text, fingerprints),
    ("samples", Kind::Text, samples),
];

/// The target that `WAYWORD_FUZZ` names.
pub fn target() -> Target {
    let wanted = std::env::var("WAYWORD_FUZZ").unwrap_or_default();
    let Some(&(name, kind, read)) = TARGETS.iter().find(|(name, ..)| *name == wanted) else {
        let names: Vec<&str> = TARGETS.iter().map(|(name, ..)| *name).collect();
        panic!("WAYWORD_FUZZ: found `{wanted}`; expected one of {}", names.join(", "));
    };
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { memory.into() } else { std::env::temp_dir() };
    let path = folder.join(format!("wayword-fuzz-{name}-{}", std::process::id()));
    let out = path.with_extension("out");
    let is_strict = std::env::var_os("WAYWORD_FUZZ_STRICT").is_some();
    Target { read, kind, path, out, is_strict }
}

impl Target {
    /// Reads the bytes; an error is as good as a value.
    pub fn run(&self, data: &[u8]) {
        let mut bytes = data.to_vec();
        if self.kind != Kind::Text {
            reseal(&mut bytes, self.kind == Kind::Table);
        }
        std::fs::write(&self.path, &bytes).expect("room in memory");
        let read = (self.read)(&self.path, &self.out);
        let _ = std::fs::remove_file(&self.path);
        let _ = std::fs::remove_file(&self.out);
        if let (true, Err(error)) = (self.is_strict, read) {
            panic!("a seed is not read: {error}");
        }
    }
}

fn layout(path: &Path) -> Layout {
    Layout::Columns(path.into(), " ||| ".into())
}

fn text(path: &Path, _: &Path) -> Result<()> {
    let mut lines = LineReader::open(path)?;
    while lines.next_line()?.is_some() {}
    Bitext::read(&layout(path), ReadOptions::default(), &Job::default()).map(|_| ())
}

/// How many lines a file has, up to forty: more text would only cost time.
fn lines(path: &Path) -> usize {
    let bytes = std::fs::read(path).unwrap_or_default();
    bytes.split_inclusive(|&byte| byte == b'\n').count().min(40)
}

/// Writes the same line again and again.
fn fill(path: &Path, lines: usize, line: &str) {
    std::fs::write(path, line.repeat(lines)).expect("room in memory");
}

/// The text has as many lines as the links, each long enough for most of them.
fn links(path: &Path, out: &Path) -> Result<()> {
    let side = "a ".repeat(60);
    fill(out, lines(path), &format!("{side}||| {side}\n"));
    let bitext = Bitext::read(&layout(out), ReadOptions::default(), &Job::default())?;
    WordAlignments::read(path, &bitext, &Job::default()).map(|_| ())
}

fn factored(path: &Path, out: &Path) -> Result<()> {
    let links = out.with_extension("links");
    fill(out, lines(path), "a b\n");
    fill(&links, lines(path), "0-0\n");
    let read = wayword::reorder::Corpus::read(path, out, &links, &Job::default()).map(|_| ());
    let _ = std::fs::remove_file(&links);
    read
}

fn arpa(path: &Path, _: &Path) -> Result<()> {
    let model = lm::load(path, LmLoadOptions::default(), &Job::default())?;
    model.score_line("das haus ist klein", (true, true));
    Ok(())
}

fn moses(path: &Path, out: &Path) -> Result<()> {
    let columns = COLUMNS.iter().map(ToString::to_string).collect();
    let tables = TextTables { phrase_table: path.into(), columns, reordering: None };
    import(&tables, false, out, &Job::default()).map(|_| ())
}

fn waw_text(path: &Path, _: &Path) -> Result<()> {
    waw::Model::read_text(path).map(|_| ())
}

fn language_model(path: &Path, _: &Path) -> Result<()> {
    let options = LmLoadOptions { verify: true, in_memory: false };
    let model = lm::load(path, options, &Job::default())?;
    model.score_line("das haus ist klein", (true, true));
    model.score_line("the house of the man is small .", (true, true));
    Ok(())
}

fn table(path: &Path, _: &Path) -> Result<()> {
    let table = PhraseTable::open(path)?;
    table.verified()?;
    for block in table.blocks().take(1000) {
        for option in block?.1.take(100) {
            let option = option?;
            let _ = (option.tgt().count(), option.links().count());
        }
    }
    for id in 0..40 {
        for option in table.options(&[id])?.take(100) {
            option?;
        }
    }
    Ok(())
}

fn counted_ngrams(path: &Path, _: &Path) -> Result<()> {
    let parts = lm::CountShards::open(&[path], None)?;
    let options = lm::LmTrainOptions { order: parts.order(), prune: vec![0], memory: 1 << 20 };
    lm::estimate_from_shards(parts, &options, &Job::default()).map(|_| ())
}

fn counts(path: &Path, _: &Path) -> Result<()> {
    let parts = vec![Counts::open(path)?];
    Counts::merge(parts, &ExtractOptions::default(), &Job::default()).map(|_| ())
}

fn aligner(path: &Path, out: &Path) -> Result<()> {
    let aligner = Aligner::load(path)?;
    std::fs::write(out, "das haus ist klein ||| the house is small\n").expect("room in memory");
    let bitext = Bitext::read(&layout(out), ReadOptions::default(), &Job::default())?;
    let choice = align::LinkSelection::Threshold(0.5);
    aligner.text_aligner(bitext.vocab()).align(&bitext, choice, true, &Job::default()).map(|_| ())
}

fn tagger(path: &Path, _: &Path) -> Result<()> {
    let tagger = Tagger::load(path)?;
    tagger.tag(WORDS.into_iter(), &mut Worker::default());
    Ok(())
}

fn waw_model(path: &Path, _: &Path) -> Result<()> {
    rate(&waw::Model::open(path)?);
    Ok(())
}

fn neural_model(path: &Path, _: &Path) -> Result<()> {
    rate(&neural::Model::open(path)?);
    Ok(())
}

/// Asks for all jumps of a sentence; the word jumped from is translated, and the second one.
fn rate(model: &dyn Judge) {
    let rater = model.rater(&sentence());
    let length = WORDS.len() as u32;
    for from in 0..=length {
        let blocks = [0b010 | (1 << from) >> 1];
        let cov = Coverage::new(&blocks, length);
        for to in (1..=length).filter(|&to| !cov.has(to - 1)) {
            rater.log_prob(cov, from, to);
        }
    }
}

fn lop_model(path: &Path, _: &Path) -> Result<()> {
    let (model, mut orderer) = (lop::Model::open(path)?, lop::Orderer::default());
    orderer.order(&model, &sentence(), lop::Choice::Best);
    orderer.nbest(&model, &sentence(), 3);
    Ok(())
}

/// The words of a part of a text that tasks align.
fn words(path: &Path, out: &Path) -> Result<()> {
    align::sharded_training::number_words(&[path.into()], out, &Job::default())
}

/// A part of such a text in numbers, then the state that its links are counted with.
fn passes(path: &Path, out: &Path) -> Result<()> {
    let options = align::AlignerOptions::default();
    with_two(path, |shard, state| {
        align::sharded_training::expect(shard, state, &options, out, &Job::default())
    })
}

/// What tells repeated pairs in a piece of a text.
fn fingerprints(path: &Path, out: &Path) -> Result<()> {
    let options = DoctorOptions { memory: 1 << 20, ..DoctorOptions::default() };
    doctor::find_repeated(&[path.into()], &[out.into()], &options, &Job::default())
}

/// The features that a shard found, then its samples.
fn samples(path: &Path, _: &Path) -> Result<()> {
    let options = waw::Options {
        templates: waw::Templates::named("P")?,
        anchor: waw::Anchor::default(),
        window: Window::default(),
        min_count: 1,
        objective: waw::Objective::default(),
        coverage: false,
    };
    with_two(path, |found, samples| {
        let (found, samples) = (&[found.into()], &[samples.into()]);
        waw::read_samples(options, 16, found, samples, (1 << 20, None), &Job::default()).map(|_| ())
    })
}

/// Two files out of one, which begins with the length of the first.
fn with_two(path: &Path, read: impl FnOnce(&Path, &Path) -> Result<()>) -> Result<()> {
    let bytes = std::fs::read(path).expect("was just written");
    let (length, rest) = bytes.split_first_chunk().unwrap_or((&[0; 4], &[]));
    let (first, second) = rest.split_at(rest.len().min(u32::from_le_bytes(*length) as usize));
    let paths = ["first", "second"].map(|end| path.with_extension(end));
    for (path, bytes) in paths.iter().zip([first, second]) {
        std::fs::write(path, bytes).expect("room in memory");
    }
    let done = read(&paths[0], &paths[1]);
    paths.iter().for_each(|path| drop(std::fs::remove_file(path)));
    done
}

/// An annotated sentence.
fn sentence() -> Sentence<'static> {
    let tokens = ["das|DET|B-NP", "haus|NOUN|I-NP", "ist|VERB|O", "klein|ADJ|O"];
    Sentence::of_factors(tokens, 3).expect("well formed")
}
