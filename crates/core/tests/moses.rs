//! The decoder over our own table and language model, compared with moses2 on the same models.
//!
//! The models and outputs are those of `tests/fixtures`; `tests/test_moses.py` compares larger
//! ones, which are no part of the repository.

// Helpers of tests may fail as loudly as the tests themselves.
#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use wayword::Job;
use wayword::corpus::LineReader;
use wayword::decode::{
    Decoder, ModelSet, OutputOptions, SearchAlgorithm, SearchSettings, Translation,
    TranslationRequest, TranslationResult,
};
use wayword::feature::FeatureWeights;
use wayword::lm::{self, LmLoadOptions};
use wayword::orientation::Orientation;
use wayword::phrase_table::{self, COLUMNS, PhraseTable, TableSeat, TextTables};
use wayword::reorder::{Distortion, Space};

/// Sentences of the test text, and entries of moses2's list for each.
const SENTENCES: usize = 40;
const ENTRIES: usize = 20;
/// Entries of our lists, in which those of moses2 are looked up.
const OWN_ENTRIES: usize = 200;

/// A configuration of moses2 in the fixtures.
struct MosesCase {
    name: &'static str,
    orientation: &'static str,
    limit: u32,
    /// Filled by the first of the tests that compare with it.
    decoded: OnceLock<Decoded>,
}

static HIERARCHICAL: MosesCase = MosesCase {
    name: "hier-mslr.dl6",
    orientation: "hier-mslr-bidirectional-fe",
    limit: 6,
    decoded: OnceLock::new(),
};
static WORD_BASED: MosesCase = MosesCase {
    name: "wbe-msd.dl12",
    orientation: "wbe-msd-bidirectional-fe",
    limit: 12,
    decoded: OnceLock::new(),
};

fn fixture(path: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    root.join("tests").join("fixtures").join(path)
}

fn read_lines(path: &str) -> Vec<String> {
    let mut reader = LineReader::open(&fixture(path)).unwrap();
    let mut lines = Vec::new();
    while let Some(line) = reader.next_str().unwrap() {
        lines.push(line.to_string());
    }
    lines
}

/// Feature names and n-best lists of the test sentences.
struct Decoded {
    names: Vec<String>,
    outcomes: Vec<TranslationResult>,
}

impl MosesCase {
    fn import_table(&self, kind: Orientation) -> PhraseTable {
        let reordering = fixture(&format!("moses/reordering-table.{}.gz", self.orientation));
        let tables = TextTables {
            phrase_table: fixture("moses/phrase-table.gz"),
            columns: COLUMNS.map(String::from).to_vec(),
            reordering: Some((reordering, kind)),
        };
        let path = format!("wayword-{}-{}", self.name, std::process::id());
        let path = std::env::temp_dir().join(path);
        phrase_table::import(&tables, false, &path, &Job::default()).unwrap();
        let table = PhraseTable::open(&path).unwrap();
        // A mapped file stays readable without its name.
        #[cfg(unix)]
        fs::remove_file(path).unwrap();
        table
    }

    fn decode(&self) -> Decoded {
        let kind = Orientation::named(self.orientation).unwrap();
        let table = self.import_table(kind);
        let lm = fixture("lmplz/order5.arpa.gz");
        let lm = lm::load(&lm, LmLoadOptions::default(), &Job::default()).unwrap();
        let seat = TableSeat { table: &table, orientation: Some(kind) };
        let models =
            ModelSet { phrases: &seat, lms: vec![&lm], orientation: Some(kind), paths: vec![] };
        let mut weights = models.weights().unwrap();
        let ini = fixture(&format!("moses2/moses.{}.ini", self.name));
        set_weights(&mut weights, &fs::read_to_string(ini).unwrap());
        let space = Space::Dl(Some(self.limit));
        // As `wayword import-moses` sets it.
        let distortion = Distortion::Foreseen;
        let pop_limit = 1000;
        let settings = SearchSettings {
            space,
            search: SearchAlgorithm::Cube,
            pop_limit,
            distortion,
            ..SearchSettings::default()
        };
        let decoder = Decoder::new(models, weights, settings.like_moses()).unwrap();
        let lines = read_lines("toy/test.de");
        let sentences: Vec<Vec<&str>> =
            lines.iter().map(|line| line.split_whitespace().collect()).collect();
        let requests: Vec<TranslationRequest<'_>> =
            sentences.iter().map(|words| TranslationRequest::of(words)).collect();
        let wanted = OutputOptions { nbest: OWN_ENTRIES, ..OutputOptions::default() };
        let outcomes = decoder.translate_all(&requests, wanted, &Job::new(0)).unwrap();
        assert_eq!(outcomes.len(), SENTENCES);
        Decoded { names: decoder.weights().names().to_vec(), outcomes }
    }

    fn check_best(&self) {
        let decoded = self.decoded.get_or_init(|| self.decode());
        let texts = read_lines(&format!("moses2/{}.cube1000.txt", self.name));
        let totals = read_lines(&format!("moses2/{}.cube1000.totals", self.name));
        assert_eq!((texts.len(), totals.len()), (SENTENCES, SENTENCES));
        for (outcome, (text, total)) in decoded.outcomes.iter().zip(texts.iter().zip(&totals)) {
            assert_eq!(outcome.best[0].words.join(" "), *text);
            let total: f64 = total.parse().unwrap();
            // moses2 prints three decimals.
            assert!((outcome.best[0].score - total).abs() < 1e-3, "{total}: {text}");
        }
    }

    fn check_lists(&self) {
        let decoded = self.decoded.get_or_init(|| self.decode());
        let borrowed = read_borrowed(self.name);
        assert_eq!(borrowed.len(), 15);
        let mut ranks = [0; SENTENCES];
        for line in read_lines(&format!("moses2/{}.cube1000.nbest20.gz", self.name)) {
            let entry = MosesEntry::parse(&line, &decoded.names);
            let rank = &mut ranks[entry.sentence];
            let own_total = borrowed.get(&(entry.sentence, *rank)).copied();
            *rank += 1;
            let best = &decoded.outcomes[entry.sentence].best;
            assert!(best.iter().any(|found| entry.equals(found, own_total)), "{line}");
        }
        assert_eq!(ranks, [ENTRIES; SENTENCES]);
    }
}

/// The right total of entries whose total in moses2's list is wrong, by sentence and rank, and the
/// number of the orientation score that is wrong.
fn read_borrowed(case: &str) -> HashMap<(usize, usize), (f64, usize)> {
    let lines = read_lines("moses2/borrowed.tsv");
    let rows = lines.iter().map(|line| line.split('\t').collect::<Vec<_>>());
    rows.filter(|row| row[0] == case)
        .map(|row| {
            let place = (row[1].parse().unwrap(), row[2].parse().unwrap());
            (place, (row[4].parse().unwrap(), row[5].parse().unwrap()))
        })
        .collect()
}

/// An entry of moses2's list, its features as positions among ours with their values.
struct MosesEntry {
    sentence: usize,
    text: String,
    features: Vec<(usize, f64)>,
    orientation: Vec<usize>,
    total: f64,
}

impl MosesEntry {
    fn parse(line: &str, names: &[String]) -> MosesEntry {
        let [sentence, text, features, total] =
            line.split(" ||| ").collect::<Vec<_>>().try_into().unwrap();
        let position = |name: &String| names.iter().position(|known| known == name).unwrap();
        let (mut known, mut orientation) = (Vec::new(), Vec::new());
        let mut pending = Vec::new().into_iter();
        for word in features.split_whitespace() {
            if let Some(key) = word.strip_suffix('=') {
                let positions: Vec<usize> = features_of(key, names).iter().map(position).collect();
                if key == "LexicalReordering0" {
                    orientation.clone_from(&positions);
                }
                pending = positions.into_iter();
            } else {
                known.push((pending.next().unwrap(), word.parse().unwrap()));
            }
        }
        assert_eq!(known.len() + 1, names.len(), "all but `oov` is printed: {line}");
        MosesEntry {
            sentence: sentence.parse().unwrap(),
            text: text.to_string(),
            features: known,
            orientation,
            total: total.parse().unwrap(),
        }
    }

    /// Compare text, features and total; `own_total` replaces a wrong total and names its cause.
    fn equals(&self, found: &Translation, own_total: Option<(f64, usize)>) -> bool {
        let ignored = own_total.map(|(_, component)| self.orientation[component]);
        // The right total of a wrong entry is a sum of rounded numbers.
        let (total, digits) = own_total.map_or((self.total, 2e-5), |(total, _)| (total, 4e-5));
        found.words.join(" ") == self.text
            && is_close(found.score, total, digits)
            && self
                .features
                .iter()
                .filter(|(at, _)| Some(*at) != ignored)
                .all(|&(at, value)| is_close(found.features[at], value, 2e-5))
    }
}

/// Compare with a number of six printed digits.
fn is_close(found: f64, printed: f64, digits: f64) -> bool {
    (found - printed).abs() <= digits * printed.abs().max(1.0)
}

/// Our names of the features of a Moses feature function.
fn features_of(key: &str, names: &[String]) -> Vec<String> {
    match key {
        "WordPenalty0" => vec!["wp".into()],
        "PhrasePenalty0" => vec!["pp".into()],
        "Distortion0" => vec!["d".into()],
        "LM0" => vec!["lm".into()],
        "TranslationModel0" => (0..4).map(|number| format!("tm{number}")).collect(),
        "LexicalReordering0" => {
            names.iter().filter(|name| name.starts_with("lr.")).cloned().collect()
        }
        _ => vec![],
    }
}

/// Set the weights of a Moses configuration under our names.
fn set_weights(weights: &mut FeatureWeights, ini: &str) {
    for (key, values) in ini.lines().filter_map(|line| line.split_once("= ")) {
        let values = values.split_whitespace().filter_map(|value| value.parse().ok());
        for (name, value) in features_of(key, weights.names()).iter().zip(values) {
            weights.set(name, value).unwrap();
        }
    }
    // Moses subtracts 100 for an unknown word at any weight.
    weights.set("oov", 100.0).unwrap();
}

#[test]
fn best_translations_with_the_hierarchical_model_equal_those_of_moses2() {
    HIERARCHICAL.check_best();
}

#[test]
fn best_translations_with_the_word_based_model_equal_those_of_moses2() {
    WORD_BASED.check_best();
}

#[test]
fn lists_with_the_hierarchical_model_hold_every_entry_of_moses2() {
    HIERARCHICAL.check_lists();
}

#[test]
fn lists_with_the_word_based_model_hold_every_entry_of_moses2() {
    WORD_BASED.check_lists();
}
