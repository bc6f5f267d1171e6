//! The decoder over our own table and language model, beside Moses and Moses2 on Moses' models.

// Helpers of tests may fail as loudly as the tests themselves.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use wayword::Job;
use wayword::corpus::LineReader;
use wayword::decode::{Decoder, Models, Request, Search, Settings, Wanted};
use wayword::feature::{Span, Weights};
use wayword::lm::{self, LoadOptions, Model};
use wayword::orientation::Orientation;
use wayword::phrase_table::{self, COLUMNS, PhraseTable, TableSeat, TextTables};
use wayword::reorder::Space;

const HIER: &str = "hier-mslr-bidirectional-fe";
const WORD: &str = "wbe-msd-bidirectional-fe";
/// Sentences that Moses2's outputs are compared on when it has to be quick.
const SENTENCES: usize = 300;

/// A Moses model made ours: read once for all tests.
struct Pair {
    folder: PathBuf,
    lang: &'static str,
    orientation: &'static str,
    table: PhraseTable,
    lm: Model,
}

impl Pair {
    /// None, and a word about it, when the reference models are not there.
    fn import(name: &str, lang: &'static str, orientation: &'static str) -> Option<Pair> {
        let beside = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap();
        let folder = beside.join("shared").join("reference").join(name);
        if !folder.is_dir() {
            // The harness has no way to skip: it must at least be said.
            #[allow(clippy::print_stderr)]
            {
                eprintln!("not compared with Moses: {} is not there", folder.display());
            }
            return None;
        }
        let kind = Orientation::named(orientation).unwrap();
        let file = if orientation == HIER { "hier-mslr" } else { "wbe-msd" };
        let tables = TextTables {
            phrase_table: folder.join("phrase-table.test.gz"),
            columns: COLUMNS.map(String::from).to_vec(),
            reordering: Some((folder.join(format!("reordering-table.{file}.test.gz")), kind)),
        };
        let out =
            std::env::temp_dir().join(format!("wayword-{name}-{file}-{}", std::process::id()));
        phrase_table::import(&tables, false, &out, &Job::default()).unwrap();
        let table = PhraseTable::open(&out).unwrap();
        // What is mapped stays mapped.
        #[cfg(unix)]
        fs::remove_file(out).unwrap();
        let lm = lm::load(&folder.join("lm.arpa.gz"), LoadOptions::default(), &Job::default());
        Some(Pair { folder, lang, orientation, table, lm: lm.unwrap() })
    }

    /// Runs something with a decoder that has the weights of a Moses configuration.
    fn with<T>(&self, ini: &str, settings: Settings, run: impl FnOnce(&Decoder<'_>) -> T) -> T {
        let kind = Orientation::named(self.orientation).unwrap();
        let seat = TableSeat { table: &self.table, orientation: Some(kind) };
        let models =
            Models { phrases: &seat, lms: vec![&self.lm], orientation: Some(kind), paths: vec![] };
        let mut weights = models.weights().unwrap();
        set_weights(&mut weights, &fs::read_to_string(self.folder.join(ini)).unwrap());
        run(&Decoder::new(models, weights, settings.like_moses()).unwrap())
    }

    fn test_set(&self) -> String {
        fs::read_to_string(self.folder.join(format!("test.{}", self.lang))).unwrap()
    }

    /// Mean model score of the first sentences.
    fn mean_score(&self, ini: &str, settings: Settings, sentences: usize) -> f64 {
        let text = self.test_set();
        let src: Vec<Vec<&str>> =
            text.lines().take(sentences).map(|line| line.split_whitespace().collect()).collect();
        let found = self.with(ini, settings, |decoder| {
            let requests: Vec<Request<'_>> = src.iter().map(|words| Request::of(words)).collect();
            decoder.translate_all(&requests, Wanted::default(), &Job::new(0)).unwrap()
        });
        found.iter().map(|outcome| outcome.best[0].score).sum::<f64>() / src.len() as f64
    }

    /// Mean of the scores that Moses2 printed.
    fn moses2_score(&self, output: &str, sentences: usize) -> f64 {
        let lines = fs::read_to_string(self.folder.join("out").join(output)).unwrap();
        let scores: Vec<f64> = lines
            .lines()
            .take(sentences)
            .map(|line| line.split(' ').next().unwrap().parse().unwrap())
            .collect();
        scores.iter().sum::<f64>() / scores.len() as f64
    }
}

fn japanese() -> Option<&'static Pair> {
    static PAIR: OnceLock<Option<Pair>> = OnceLock::new();
    PAIR.get_or_init(|| Pair::import("ja-en", "ja", HIER)).as_ref()
}

fn german() -> Option<&'static Pair> {
    static PAIR: OnceLock<Option<Pair>> = OnceLock::new();
    PAIR.get_or_init(|| Pair::import("de-en", "de", HIER)).as_ref()
}

/// Moses' name of each model, and our names of its features.
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

/// The weights of a Moses configuration, under our names.
fn set_weights(weights: &mut Weights, ini: &str) {
    for (key, values) in ini.lines().filter_map(|line| line.split_once("= ")) {
        let values = values.split_whitespace().filter_map(|value| value.parse().ok());
        for (name, value) in features_of(key, weights.names()).iter().zip(values) {
            weights.set(name, value).unwrap();
        }
    }
    // Moses takes 100 off for an unknown word whatever the weight.
    weights.set("oov", 100.0).unwrap();
}

fn cube(limit: u32, pop_limit: usize) -> Settings {
    let space = Space::Dl(Some(limit));
    Settings { space, search: Search::Cube, pop_limit, ..Settings::default() }
}

fn compare(pair: Option<&Pair>, ini: &str, limit: u32, output: &str) {
    let Some(pair) = pair else { return };
    let ours = pair.mean_score(ini, cube(limit, 400), SENTENCES);
    let theirs = pair.moses2_score(output, SENTENCES);
    // Moses2 prints three decimals.
    assert!(ours > theirs - 1e-3, "{output}: ours {ours:.4}, Moses2's {theirs:.4}");
    assert!(ours < theirs + 0.1, "{output}: ours {ours:.4}, Moses2's {theirs:.4}: another model?");
}

#[test]
fn japanese_is_searched_as_well_as_by_moses2() {
    compare(japanese(), "moses.hier.dl12.ini", 12, "moses2.cube400.dl12.txt");
}

#[test]
fn german_is_searched_as_well_as_by_moses2() {
    compare(german(), "moses.hier.dl6.ini", 6, "moses2.cube400.dl6.txt");
}

// ---- Moses' own derivations ----

/// `a-b`, inclusive, or one position.
fn span_of(text: &str) -> Span {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Span::new(first.parse().unwrap(), last.parse::<u32>().unwrap() + 1)
}

/// Scores each derivation of an n-best list of Moses' anew; returns how many there were.
fn check_derivations(pair: &Pair, ini: &str, list: &str) -> usize {
    let text = pair.test_set();
    let sentences: Vec<Vec<&str>> =
        text.lines().map(|line| line.split_whitespace().collect()).collect();
    let mut lines = LineReader::open(&pair.folder.join(list)).unwrap();
    let mut count = 0;
    pair.with(ini, Settings::default(), |decoder| {
        let names = decoder.weights().names();
        let mut worker = decoder.worker();
        while let Some(line) = lines.next_str().unwrap() {
            let fields: Vec<&str> = line.split(" ||| ").collect();
            let src = &sentences[fields[0].parse::<usize>().unwrap()];
            let tgt: Vec<&str> = fields[1].split_whitespace().collect();
            let phrases: Vec<(Span, Vec<&str>)> = fields[4]
                .split_whitespace()
                .map(|step| step.split_once('=').unwrap())
                .map(|(from, to)| (span_of(from), span_of(to)))
                .map(|(from, to)| (from, tgt[to.start as usize..to.end as usize].to_vec()))
                .collect();
            let found = worker.score(&Request::of(src), &phrases).unwrap();
            let found = found.expect("a phrase of Moses' is in its table");
            let mut expected: Vec<(String, f64)> = Vec::new();
            let mut key = "";
            for word in fields[2].split_whitespace() {
                match word.strip_suffix('=') {
                    Some(name) => key = name,
                    None => {
                        let own = features_of(key, names);
                        let seen = expected.iter().filter(|(name, _)| own.contains(name)).count();
                        expected.push((own[seen].clone(), word.parse().unwrap()));
                    }
                }
            }
            assert_eq!(expected.len() + 1, names.len(), "all but `oov` is printed: {line}");
            for (name, theirs) in expected {
                let at = names.iter().position(|known| *known == name).unwrap();
                let ours = found.features[at];
                assert!((ours - theirs).abs() < 1e-3, "{name}: {ours}, Moses {theirs}: {line}");
            }
            // Moses prints six figures.
            let theirs: f64 = fields[3].parse().unwrap();
            assert!((found.score - theirs).abs() < 2e-3, "total {}: {line}", found.score);
            count += 1;
        }
    });
    count
}

#[test]
fn all_features_of_moses_japanese_derivations_are_the_same() {
    let Some(pair) = japanese() else { return };
    let list = "moses.cube1000.dl12.nbest20.first100.txt.xz";
    assert_eq!(check_derivations(pair, "moses.hier.dl12.ini", list), 2000);
}

#[test]
fn all_features_of_moses_german_derivations_are_the_same() {
    let Some(pair) = german() else { return };
    let list = "moses.cube1000.dl6.nbest20.first100.txt.xz";
    assert_eq!(check_derivations(pair, "moses.hier.dl6.ini", list), 2000);
}

// ---- every setting, which takes minutes ----

/// Configuration, distortion limit, pop limit (0: stack search), Moses2's mean score over the
/// whole test set.
type Setting = (&'static str, u32, usize, f64);

fn compare_all(pair: Option<&Pair>, settings: &[Setting]) {
    let Some(pair) = pair else { return };
    let mut worse = Vec::new();
    for &(ini, limit, pop_limit, theirs) in settings {
        let search = if pop_limit == 0 { Search::Stack } else { Search::Cube };
        let settings = Settings { search, ..cube(limit, pop_limit) };
        let ours = pair.mean_score(ini, settings, usize::MAX);
        // Neither search is exact: a mean may lie a hair below at one setting, above at the next.
        if ours < theirs - 1e-3 {
            worse.push(format!("{ini} dl:{limit} pop {pop_limit}: {ours:.5}, Moses2 {theirs}"));
        }
    }
    assert!(worse.is_empty(), "{worse:#?}");
}

#[test]
#[ignore = "slow"]
fn japanese_is_searched_as_well_as_by_moses2_at_every_setting() {
    let (dl12, dl6) = ("moses.hier.dl12.ini", "moses.hier.dl6.ini");
    let settings = [
        (dl12, 12, 400, -11.0609),
        (dl12, 12, 1000, -11.0508),
        (dl12, 12, 5000, -11.0378),
        (dl12, 12, 0, -11.0415),
        (dl12, 6, 1000, -11.3106),
        (dl12, 10, 1000, -11.0843),
        (dl12, 18, 1000, -11.0296),
        (dl6, 6, 400, -10.7217),
        (dl6, 10, 400, -10.2903),
        (dl6, 18, 400, -10.1506),
        (dl6, 6, 1000, -10.7004),
        (dl6, 10, 1000, -10.2441),
        (dl6, 18, 1000, -10.0989),
    ];
    compare_all(japanese(), &settings);
}

#[test]
#[ignore = "slow"]
fn german_is_searched_as_well_as_by_moses2_at_every_setting() {
    let dl6 = "moses.hier.dl6.ini";
    let settings = [
        (dl6, 6, 400, -37.7607),
        (dl6, 10, 400, -37.7617),
        (dl6, 18, 400, -37.7716),
        (dl6, 6, 1000, -37.7586),
        (dl6, 10, 1000, -37.7585),
        (dl6, 18, 1000, -37.7615),
        (dl6, 6, 0, -37.75824),
    ];
    compare_all(german(), &settings);
}

#[test]
#[ignore = "slow"]
fn the_word_model_is_searched_and_reaches_a_score_that_grows_with_the_limit() {
    // Moses2's mean score is not known for this model: see the bench for BLEU.
    let Some(pair) = Pair::import("ja-en", "ja", WORD) else { return };
    let score = |limit| pair.mean_score("moses.word-msd.dl12.ini", cube(limit, 1000), usize::MAX);
    let (near, far) = (score(12), score(18));
    assert!(far > near, "{near} {far}");
}
