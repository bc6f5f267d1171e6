//! The decoder over our own table and language model, beside Moses2 on Moses' models.

// Helpers of tests may fail as loudly as the tests themselves.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use wayword::Job;
use wayword::decode::{Decoder, Models, Search, Settings, Wanted};
use wayword::feature::Weights;
use wayword::lm::{self, LoadOptions};
use wayword::phrase_table::{self, COLUMNS, OrientationType, PhraseTable, TableSeat, TextTables};
use wayword::reorder::{Orientation, Space};

const ORIENTATION: &str = "hier-mslr-bidirectional-fe";
/// Sentences of the test set that are translated.
const SENTENCES: usize = 300;

/// A reference model: folder, source language, weights, distortion limit, Moses2's output.
struct Reference {
    folder: PathBuf,
    lang: &'static str,
    ini: &'static str,
    limit: u32,
    output: &'static str,
}

fn reference(pair: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference").join(pair);
    folder.is_dir().then_some(folder)
}

/// The weights of a Moses configuration, under our names.
fn set_weights(weights: &mut Weights, ini: &str) {
    let orientation: Vec<String> =
        weights.names().iter().filter(|name| name.starts_with("lr.")).cloned().collect();
    for (key, values) in ini.lines().filter_map(|line| line.split_once("= ")) {
        let values: Vec<f64> = values.split_whitespace().filter_map(|v| v.parse().ok()).collect();
        let names: Vec<String> = match key {
            "WordPenalty0" => vec!["wp".into()],
            "PhrasePenalty0" => vec!["pp".into()],
            "Distortion0" => vec!["d".into()],
            "LM0" => vec!["lm".into()],
            "TranslationModel0" => (0..4).map(|number| format!("tm{number}")).collect(),
            "LexicalReordering0" => orientation.clone(),
            _ => continue,
        };
        assert_eq!(names.len(), values.len(), "{key}");
        for (name, value) in names.iter().zip(values) {
            weights.set(name, value).unwrap();
        }
    }
    // Moses takes 100 off for an unknown word whatever the weight.
    weights.set("oov", 100.0).unwrap();
}

fn import(model: &Reference, out: &Path) -> PhraseTable {
    let tables = TextTables {
        phrase_table: model.folder.join("phrase-table.test.gz"),
        columns: COLUMNS.map(String::from).to_vec(),
        reordering: Some((
            model.folder.join("reordering-table.hier-mslr.test.gz"),
            OrientationType::named(ORIENTATION).unwrap(),
        )),
    };
    phrase_table::import(&tables, false, out, &Job::default()).unwrap();
    PhraseTable::open(out).unwrap()
}

/// Mean model score of the first sentences: ours, and Moses2's.
fn mean_scores(model: &Reference) -> (f64, f64) {
    let out = std::env::temp_dir().join(format!("wayword-{}-{}", model.lang, std::process::id()));
    let table = import(model, &out);
    let lm = lm::load(&model.folder.join("lm.arpa.gz"), LoadOptions::default(), &Job::default());
    let lm = lm.unwrap();
    let orientation = Some(OrientationType::named(ORIENTATION).unwrap());
    let seat = TableSeat { table: &table, orientation };
    let models = Models {
        phrases: &seat,
        lms: vec![&lm],
        orientation: Some(Orientation::named(ORIENTATION).unwrap()),
        paths: vec![],
    };
    let mut weights = models.weights().unwrap();
    set_weights(&mut weights, &fs::read_to_string(model.folder.join(model.ini)).unwrap());
    let settings = Settings {
        space: Space::named(&format!("dl:{}", model.limit)).unwrap(),
        search: Search::Cube,
        pop_limit: 400,
        ..Settings::default()
    };
    let decoder = Decoder::new(models, weights, settings.like_moses()).unwrap();
    let text = fs::read_to_string(model.folder.join(format!("test.{}", model.lang))).unwrap();
    let src: Vec<Vec<&str>> =
        text.lines().take(SENTENCES).map(|line| line.split_whitespace().collect()).collect();
    let found = decoder.translate_all(&src, Wanted::default(), &Job::new(0)).unwrap();
    let ours: f64 = found.iter().map(|outcome| outcome.best[0].score).sum();
    let lines = fs::read_to_string(model.folder.join("out").join(model.output)).unwrap();
    let scores = lines.lines().take(SENTENCES).map(|line| line.split(' ').next().unwrap());
    let theirs: f64 = scores.map(|score| score.parse::<f64>().unwrap()).sum();
    fs::remove_file(out).unwrap();
    (ours / SENTENCES as f64, theirs / SENTENCES as f64)
}

fn compare(pair: &str, lang: &'static str, ini: &'static str, limit: u32, output: &'static str) {
    let Some(folder) = reference(pair) else {
        // The harness has no way to skip: it must at least be said.
        #[allow(clippy::print_stderr)]
        {
            eprintln!("not compared with Moses2: ../shared/reference/{pair} is not there");
        }
        return;
    };
    let (ours, theirs) = mean_scores(&Reference { folder, lang, ini, limit, output });
    // Moses2 prints three decimals.
    assert!(ours > theirs - 1e-3, "{pair}: ours {ours:.4}, Moses2's {theirs:.4}");
    assert!(ours < theirs + 0.1, "{pair}: ours {ours:.4}, Moses2's {theirs:.4}: another model?");
}

#[test]
fn japanese_is_searched_as_well_as_by_moses2() {
    compare("ja-en", "ja", "moses.hier.dl12.ini", 12, "moses2.cube400.dl12.txt");
}

#[test]
fn german_is_searched_as_well_as_by_moses2() {
    compare("de-en", "de", "moses.hier.dl6.ini", 6, "moses2.cube400.dl6.txt");
}
