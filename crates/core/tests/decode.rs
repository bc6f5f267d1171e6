//! The decoder against the definitions' examples and against a twin that tries everything.

// Helpers of tests may fail as loudly as the tests themselves.
#![allow(clippy::unwrap_used)]
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)]

mod twin;

use proptest::prelude::*;
use std::sync::{Arc, OnceLock};
use twin::{After, Ahead, Demands, Grams, Pair, Table, Twin, Way, noise};
use wayword::Job;
use wayword::align::Link;
use wayword::corpus::annotated::{Annotation, Sentence as Annotated};
use wayword::decode::{
    Decoder, DerivationStep, MarkedSentence, MarkupMode, ModelSet, OovPolicy, OutputOptions,
    SearchAlgorithm, SearchSettings, Translation, TranslationRequest, TranslationResult,
};
use wayword::error::Place;
use wayword::feature::{
    Coverage, FeatureWeights, LanguageModel, NamedMatrix, SourceSentence, Span,
};
use wayword::orientation::Orientation;
use wayword::reorder::jump::{self, Judge, Jumps, Matrix, Rater, Scores, Window};
use wayword::reorder::orientation::NextTest;
use wayword::reorder::waw::{Anchor, Model, Objective, Options, Templates, Trainer};
use wayword::reorder::{Corpus, Distortion, Prune, Pruning, Space};

const EVERYTHING: OutputOptions =
    OutputOptions { nbest: usize::MAX, distinct: false, graph: false, stacks: 0 };

fn unlimited() -> SearchSettings {
    SearchSettings {
        pop_limit: 0,
        stack_size: 0,
        threshold: 0.0,
        options_per_span: 0,
        ..SearchSettings::default()
    }
}

// ---- definitions g.4 ----

fn toy_table() -> Table {
    let words = ["the", "that", "house", "is", "small", "little"].map(String::from).to_vec();
    let mut table = Table { words, tm: 1, ..Table::default() };
    let mut add = |src: &[u32], tgt: &[u32], score: f32| {
        let links = (0..tgt.len() as u32).map(|at| Link::new(at, at)).collect();
        let pair = Pair { tgt: tgt.to_vec(), tm: vec![score], orientation: Vec::new(), links };
        table.pairs.entry(src.to_vec()).or_default().push(pair);
    };
    add(&[0], &[0], -0.4);
    add(&[0], &[1], -1.2);
    add(&[1], &[2], -0.2);
    add(&[2], &[3], -0.1);
    add(&[3], &[4], -0.3);
    add(&[3], &[5], -1.0);
    add(&[0, 1], &[0, 2], -0.5);
    table
}

/// The toy's bigrams, by its words.
struct ToyLm(Grams);

impl LanguageModel for ToyLm {
    fn word(&self, word: &str) -> u32 {
        let words = ["the", "that", "house", "is", "small", "little"];
        words.iter().position(|known| *known == word).map_or(twin::UNKNOWN, |at| at as u32)
    }

    fn start(&self) -> wayword::feature::LmState {
        self.0.start()
    }

    fn score(
        &self,
        state: &wayword::feature::LmState,
        word: u32,
        next: &mut wayword::feature::LmState,
    ) -> f32 {
        self.0.score(state, word, next)
    }

    fn end(&self, state: &wayword::feature::LmState) -> f32 {
        self.0.end(state)
    }
}

fn toy_lm() -> ToyLm {
    let score = |history: &[u32], word: u32| match (history.last(), word) {
        (None, _) => -1.0,
        (Some(&twin::START), 0) => -0.3,
        (Some(&twin::START), 1) => -0.7,
        (Some(&twin::START), 3) => -0.9,
        (Some(0), 2) => -0.2,
        (Some(1), 2) => -0.8,
        (Some(2), 3) => -0.1,
        (Some(3), 4) => -0.2,
        (Some(3), 0) => -0.5,
        (Some(3), 5) => -0.6,
        (Some(4), twin::END) => -0.1,
        (Some(5), twin::END) => -0.2,
        (Some(2), 4) => -0.9,
        _ => -2.0,
    };
    ToyLm(Grams { order: 2, score: Box::new(score) })
}

/// The phrases of a translation as `u-v=s-t`, inclusive, in target order.
fn trace(translation: &Translation) -> String {
    let shown = |step: &DerivationStep| {
        format!("{}={}", step.src, Span::new(step.tgt.start.0, step.tgt.end.0))
    };
    translation.steps.iter().map(shown).collect::<Vec<_>>().join(" ")
}

fn toy_outcome(settings: SearchSettings) -> TranslationResult {
    let (table, lm) = (toy_table(), toy_lm());
    let models = ModelSet { phrases: &table, lms: vec![&lm], orientation: None, paths: Vec::new() };
    let mut weights = models.weights().unwrap();
    for (name, value) in [("lm", 1.0), ("tm0", 1.0), ("d", 0.3), ("wp", -0.5)] {
        weights.set(name, value).unwrap();
    }
    let decoder = Decoder::new(models, weights, settings).unwrap();
    let request = TranslationRequest::of(&["s0", "s1", "s2", "s3"]);
    decoder.worker().translate(&request, EVERYTHING, &Job::new(1)).unwrap()
}

#[test]
fn the_toy_of_the_specification_comes_out_exactly() {
    for search in [SearchAlgorithm::Cube, SearchAlgorithm::Stack] {
        for (_, distortion) in Distortion::ALL {
            for (limit, derivations) in [(0, 6), (2, 24), (6, 108)] {
                let space = Space::Dl(Some(limit));
                let settings = SearchSettings { space, search, distortion, ..unlimited() };
                let best = toy_outcome(settings).best;
                assert_eq!(best.len(), derivations);
                assert_eq!(best[0].words.join(" "), "the house is small");
                assert!((best[0].score - 0.2).abs() < 1e-6);
                assert_eq!(trace(&best[0]), "0-1=0-1 2-2=2-2 3-3=3-3");
                assert_eq!(best[1].words, best[0].words);
                assert!((best[1].score - 0.1).abs() < 1e-6);
                assert_eq!(best[2].words.join(" "), "the house is little");
                assert!((best[2].score + 1.0).abs() < 1e-6);
            }
        }
    }
}

// ---- random small problems ----

/// A random table over source words s0…, some of which have no translation of their own.
fn random_table(seed: u32, orientation: Option<Orientation>) -> Table {
    let words = (0..6).map(|number| format!("w{number}")).collect();
    let mut table = Table { words, tm: 2, ..Table::default() };
    let width = orientation.map_or(0, |o| o.names().len());
    let mut keys: Vec<Vec<u32>> = (0..4).map(|a| vec![a]).collect();
    keys.extend((0..4).flat_map(|a| (0..4).map(move |b| vec![a, b])));
    keys.extend((0..4).flat_map(|a| (0..4).map(move |b| vec![a, b, (a + b) % 4])));
    for key in keys {
        let dice = |what: u32| noise(seed, &[&key[..], &[99, what]].concat());
        let count = (dice(0) * 2.6) as u32;
        for number in 0..count {
            let length = 1 + (dice(10 + number) * 2.9) as u32;
            let word = |at: u32| (dice(20 + number * 7 + at) * 6.0) as u32;
            let log = |at: u32| -3.0 * dice(60 + number * 20 + at);
            let pair = Pair {
                tgt: (0..length).map(word).collect(),
                tm: (0..2).map(log).collect(),
                orientation: match dice(50 + number) < 0.9 {
                    true => (2..2 + width as u32).map(log).collect(),
                    false => Vec::new(),
                },
                links: (0..key.len() as u32)
                    .filter(|&at| dice(90 + number * 5 + at) < 0.7)
                    .map(|at| Link::new(at, (dice(110 + number * 5 + at) * length as f32) as u32))
                    .collect(),
            };
            let known = table.pairs.entry(key.clone()).or_default();
            if known.iter().all(|other| other.tgt != pair.tgt) {
                known.push(pair);
            }
        }
    }
    table
}

/// A weight for each feature, some negative.
fn random_weights(models: &ModelSet<'_>, seed: u32) -> FeatureWeights {
    let mut weights = models.weights().unwrap();
    for (number, name) in weights.names().to_vec().into_iter().enumerate() {
        let value = f64::from(noise(seed, &[number as u32, 7])) - 0.2;
        weights.set(&name, value).unwrap();
    }
    weights
}

struct Problem {
    table: Table,
    trigrams: Grams,
    unigrams: Grams,
    ahead: Ahead,
    orientation: Option<Orientation>,
}

fn problem(seed: u32, orientation: Option<&str>) -> Problem {
    let orientation = orientation.map(|name| Orientation::named(name).unwrap());
    let trigrams =
        move |history: &[u32], word: u32| -3.0 * noise(seed, &[history, &[word]].concat());
    let unigrams = move |_: &[u32], word: u32| -2.0 * noise(seed, &[word, 31]);
    Problem {
        table: random_table(seed, orientation),
        trigrams: Grams { order: 3, score: Box::new(trigrams) },
        unigrams: Grams { order: 1, score: Box::new(unigrams) },
        ahead: Ahead { seed },
        orientation,
    }
}

impl Problem {
    fn models<'a>(&'a self, waw: Option<&'a Jumps>) -> ModelSet<'a> {
        ModelSet {
            phrases: &self.table,
            lms: vec![&self.trigrams, &self.unigrams],
            orientation: self.orientation,
            paths: match waw {
                Some(waw) => vec![waw, &self.ahead],
                None => Vec::new(),
            },
        }
    }
}

/// The feature `waw`, whose numbers come with the sentences.
fn given() -> Jumps {
    Jumps::new("waw", Scores::Given).unwrap()
}

fn matrix(cells: &[f32]) -> NamedMatrix<'_> {
    NamedMatrix { feature: "waw", cells }
}

fn with_matrices<'a>(
    words: &'a [&'a str],
    matrices: &'a [NamedMatrix<'a>],
) -> TranslationRequest<'a> {
    TranslationRequest {
        source: SourceSentence { matrices, ..SourceSentence::of(words) },
        markup: None,
    }
}

fn by_waw(rules: Prune) -> Pruning {
    Pruning { feature: "waw".into(), rules }
}

/// A model that looks at words and tags, learned from sentences of the random problems.
fn tagged_model() -> Arc<Model> {
    static MODEL: OnceLock<Arc<Model>> = OnceLock::new();
    Arc::clone(MODEL.get_or_init(|| {
        let mut corpus = Corpus::default();
        for seed in 0..20 {
            let words = sentence(seed, 5);
            let line: Vec<String> = (0..)
                .zip(&words)
                .map(|(at, word)| format!("{word}|{}", if (at + seed) % 3 > 0 { "N" } else { "V" }))
                .collect();
            let src = Annotated::of_factors(line.iter().map(String::as_str), 2).unwrap();
            let links: Vec<Link> = (0..5).map(|at| Link::new(at, (at * 3 + seed) % 5)).collect();
            corpus.push(&src, &links).unwrap();
        }
        let options = Options {
            templates: Templates::named("WP").unwrap(),
            anchor: Anchor::Target,
            window: Window::default(),
            min_count: 1,
            objective: Objective::Each,
            coverage: false,
        };
        let job = Job::new(1);
        let trainer = Trainer::new(&corpus, options, 1 << 20, None, &job).unwrap();
        let weights = trainer.adagrad(3, 0.2, 1.0, &job).unwrap();
        Arc::new(trainer.model(&corpus, &weights, 1.0, &job).unwrap())
    }))
}

/// What a model says of each pair of words.
fn scores_of(model: &Model, words: &[&str], tags: &[&str]) -> Vec<f32> {
    let texts = |layer: &[&str]| layer.iter().map(|text| text.to_string().into()).collect();
    let none = || Vec::new();
    let src = Annotated::of_layers(texts(words), texts(tags), vec![], none(), none()).unwrap();
    let rater = model.rater(&src);
    let length = words.len() as u32;
    let nothing = vec![0; Coverage::blocks_for(length)];
    let cov = Coverage::new(&nothing, length);
    let pairs = (0..=length).flat_map(|from| (1..=length).map(move |to| (from, to)));
    pairs.map(|(from, to)| if from == to { 0.0 } else { rater.score(cov, from, to) }).collect()
}

/// The twin's model as the decoder knows it.
struct Choosing(After);

impl Judge for Choosing {
    fn needs(&self) -> Annotation {
        Annotation::default()
    }

    fn window(&self) -> Window {
        Window { width: self.0.window.unwrap(), inclusive: true }
    }

    fn rater<'a>(&'a self, _: &Annotated<'_>) -> Rater<'a> {
        let matrix = Matrix::given(self.0.length, &self.0.scores);
        Rater::new(matrix, &self.0.around, jump::Link::Choice(self.window()))
    }
}

const SPACES: [&str; 9] = ["mono", "dl:0", "dl:2", "dl:3", "dl:-1", "ibm:2", "mj1", "mj2", "itg"];
const ORIENTATIONS: [Option<&str>; 5] = [
    None,
    Some("hier-mslr-bidirectional"),
    Some("hier-msd-prev"),
    Some("phrase-msd-bidirectional"),
    Some("hier-mslr-next"),
];

fn sentence(seed: u32, length: usize) -> Vec<String> {
    let id = |at: usize| (noise(seed, &[at as u32, 3]) * 5.0) as u32;
    // s4 has no entry at all; `what` is not even in the table's vocabulary.
    (0..length)
        .map(|at| match id(at) {
            4 if seed.is_multiple_of(2) => "what".to_owned(),
            id => format!("s{id}"),
        })
        .collect()
}

fn search(is_cube: bool) -> SearchAlgorithm {
    if is_cube { SearchAlgorithm::Cube } else { SearchAlgorithm::Stack }
}

/// A seed, an orientation, and settings that leave out nothing that a space allows.
fn complete() -> impl Strategy<Value = (u32, Option<&'static str>, SearchSettings)> {
    (0u32..1_000_000, 0..ORIENTATIONS.len(), 0..SPACES.len(), any::<bool>()).prop_map(
        |(seed, orientation, space, is_cube)| {
            let space = Space::named(SPACES[space]).unwrap();
            let settings = SearchSettings { space, search: search(is_cube), ..unlimited() };
            (seed, ORIENTATIONS[orientation], settings)
        },
    )
}

/// A seed, and settings that prune hard.
fn pruned() -> impl Strategy<Value = (u32, SearchSettings)> {
    (0u32..1_000_000, 0..SPACES.len(), any::<bool>()).prop_map(|(seed, space, is_cube)| {
        let settings = SearchSettings {
            space: Space::named(SPACES[space]).unwrap(),
            pruning: seed.is_multiple_of(2).then(|| by_waw(Prune::default())),
            search: search(is_cube),
            pop_limit: 7,
            stack_size: 5,
            ..SearchSettings::default()
        };
        (seed, settings)
    })
}

/// The source words of a translation, sorted.
fn covered(translation: &Translation) -> Vec<u32> {
    let words = |step: &DerivationStep| step.src.start..step.src.end;
    let mut covered: Vec<u32> = translation.steps.iter().flat_map(words).collect();
    covered.sort_unstable();
    covered
}

/// All ways that the twin knows are found, with their scores.
fn assert_all(best: &[Translation], ways: &[Way]) {
    assert_eq!(best.len(), ways.len());
    for (translation, way) in best.iter().zip(ways) {
        let (score, expected) = (translation.score, way.score);
        assert!((score - expected).abs() < 1e-4, "{score} {expected}");
    }
    // Equal scores may change places, so features are compared where the score stands alone.
    if ways.len() == 1 || ways[0].score - ways[1].score > 1e-3 {
        assert_eq!(best[0].words, ways[0].words);
        let spans: Vec<Span> = best[0].steps.iter().map(|step| step.src).collect();
        assert_eq!(spans, ways[0].spans);
        for (value, expected) in best[0].features.iter().zip(&ways[0].features) {
            assert!((value - expected).abs() < 1e-5);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() })]

    #[test]
    fn without_pruning_every_way_is_found_with_its_score(
        (seed, orientation, settings) in complete(),
        length in 1usize..5,
        paths in any::<bool>(),
        early in any::<bool>(),
        ends in any::<bool>(),
        beside in any::<bool>(),
        prune in any::<bool>(),
        chooses in any::<bool>(),
    ) {
        let problem = problem(seed, orientation);
        let mut after =
            if chooses { After::choosing(seed, length) } else { After::random(seed, length) };
        // The twin knows these three spaces step by step, as early pruning needs it.
        if prune && matches!(settings.space, Space::Mono | Space::Dl(_) | Space::Ibm(_)) {
            let top = (noise(seed, &[1]) * 4.0) as u32;
            let threshold = f64::from((noise(seed, &[3]) * 5.0) as u32) / 10.0;
            let zone = ((noise(seed, &[2]) * 4.0) as u32).checked_sub(1);
            after.prune = Some(Prune { top, threshold, zone, saves: false });
        }
        let mut waw = given();
        if chooses {
            let model = Choosing(After::choosing(seed, length));
            waw = Jumps::new("waw", Scores::Model(Arc::new(model))).unwrap();
        }
        let models = problem.models(paths.then_some(&waw));
        let weights = random_weights(&models, seed);
        let settings = SearchSettings {
            pruning: after.prune.filter(|_| paths).map(by_waw),
            distortion: match (early, seed % 2) {
                (true, _) => Distortion::Early,
                (false, 0) => Distortion::Distance,
                (false, _) => Distortion::Foreseen,
            },
            final_jump: ends,
            final_next: ends,
            next_test: if beside { NextTest::Beside } else { NextTest::Gap },
            ..settings
        };
        let words = sentence(seed, length);
        let src: Vec<&str> = words.iter().map(String::as_str).collect();
        let ways = Twin {
            models: &models, table: &problem.table, weights: &weights, settings: &settings, src: &src,
            after: paths.then_some(&after), demands: &Demands::default(),
        }.all();
        let decoder = Decoder::new(models.clone(), weights.clone(), settings).unwrap();
        let matrices = [matrix(&after.scores)];
        let request = with_matrices(&src, &matrices);
        let outcome = decoder.worker().translate(&request, EVERYTHING, &Job::new(1)).unwrap();
        assert_all(&outcome.best, &ways);
        for translation in &outcome.best {
            let total = weights.total(&translation.features);
            prop_assert!((total - translation.score).abs() < 1e-9);
        }
        // One result without a list is the first of the list.
        let alone = decoder.worker().translate(&request, OutputOptions::default(), &Job::new(1)).unwrap();
        prop_assert_eq!(&alone.best[0], &outcome.best[0]);
    }

    #[test]
    fn pruned_searches_cover_each_word_once_in_the_space(
        (seed, settings) in pruned(),
        length in 1usize..12,
    ) {
        let problem = problem(seed, ORIENTATIONS[1]);
        let after = After::random(seed, length);
        let waw = given();
        let models = problem.models(Some(&waw));
        let weights = random_weights(&models, seed);
        let words = sentence(seed, length);
        let src: Vec<&str> = words.iter().map(String::as_str).collect();
        let decoder = Decoder::new(models, weights.clone(), settings).unwrap();
        let mut worker = decoder.worker();
        let wanted = OutputOptions { nbest: 10, distinct: true, graph: true, stacks: 3 };
        let matrices = [matrix(&after.scores)];
        let request = with_matrices(&src, &matrices);
        let outcome = worker.translate(&request, wanted, &Job::new(1)).unwrap();
        for (place, translation) in outcome.best.iter().enumerate() {
            prop_assert!(covered(translation).into_iter().eq(0..length as u32));
            prop_assert!(outcome.best[..place].iter().all(|other| other.words != translation.words));
            let phrases: Vec<(Span, Vec<&str>)> = translation.steps.iter().map(|step| {
                let tgt = step.tgt.range();
                (step.src, translation.words[tgt].iter().map(String::as_str).collect())
            }).collect();
            let again = decoder.worker().score(&request, &phrases).unwrap().unwrap();
            prop_assert!((again.score - translation.score).abs() < 1e-6);
        }
        prop_assert!(!outcome.graph.is_empty());
        let jumps: u32 = outcome.stats.jumps.iter().sum();
        prop_assert_eq!(jumps as usize, outcome.best[0].steps.len());
        // What a worker remembers changes nothing.
        let again = worker.translate(&request, wanted, &Job::new(1)).unwrap();
        prop_assert_eq!(again, outcome);
    }
}

// ---- definitions b.5 ----

#[test]
fn the_sum_of_the_word_after_word_model_does_not_depend_on_the_segmentation() {
    let words = ["w0", "w1", "w2", "w3"].map(String::from).to_vec();
    let mut table = Table { words, tm: 0, ..Table::default() };
    // Links 1-3 2-1 3-2 4-4, from 1; phrases with the links inside them.
    let links = [(0, 2), (1, 0), (2, 1), (3, 3)];
    for (start, end) in [(0, 3), (3, 4), (1, 3), (0, 1), (0, 4), (1, 2), (2, 3)] {
        let mut inside: Vec<(u32, u32)> = links[start..end].to_vec();
        inside.sort_by_key(|&(_, tgt)| tgt);
        let first = inside[0].1;
        let tgt: Vec<u32> = inside.iter().map(|&(_, tgt)| tgt).collect();
        let links =
            inside.iter().map(|&(src, tgt)| Link::new(src - start as u32, tgt - first)).collect();
        let pair = Pair { tgt, tm: Vec::new(), orientation: Vec::new(), links };
        table.pairs.insert((start as u32..end as u32).collect(), vec![pair]);
    }
    let score = |from: u32, to: u32| (0.1 + 0.08 * f64::from((3 * from + 5 * to) % 10)).ln() as f32;
    let cells: Vec<f32> = (0..5).flat_map(|from| (1..5).map(move |to| score(from, to))).collect();
    let waw = given();
    let models =
        ModelSet { phrases: &table, lms: Vec::new(), orientation: None, paths: vec![&waw] };
    let weights = models.weights().unwrap();
    let at = weights.index("waw").unwrap();
    let decoder = Decoder::new(models, weights, unlimited()).unwrap();
    let src = ["s0", "s1", "s2", "s3"];
    let matrices = [matrix(&cells)];
    let request = with_matrices(&src, &matrices);
    let ways: [&[(u32, u32)]; 4] = [
        &[(0, 3), (3, 4)],
        &[(1, 3), (0, 1), (3, 4)],
        &[(0, 4)],
        &[(1, 2), (2, 3), (0, 1), (3, 4)],
    ];
    for way in ways {
        let phrase = |&(start, end): &(u32, u32)| {
            let pair = &table.pairs[&(start..end).collect::<Vec<u32>>()][0];
            let words = pair.tgt.iter().map(|&id| table.words[id as usize].as_str()).collect();
            (Span::new(start, end), words)
        };
        let phrases: Vec<(Span, Vec<&str>)> = way.iter().map(phrase).collect();
        let scored = decoder.worker().score(&request, &phrases).unwrap().unwrap();
        assert!((scored.features[at] + 5.963_693_750_162_625_5).abs() < 1e-6, "{way:?}");
    }
}

#[test]
fn a_matrix_of_another_size_is_told() {
    let problem = problem(1, None);
    let waw = given();
    let models = problem.models(Some(&waw));
    let weights = models.weights().unwrap();
    let decoder = Decoder::new(models, weights, SearchSettings::default()).unwrap();
    let matrices = [matrix(&[0.0; 6])];
    let request = with_matrices(&["s0", "s1", "s2"], &matrices);
    let error =
        decoder.worker().translate(&request, OutputOptions::default(), &Job::new(1)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "matrix:1: 6 numbers for 3 words; give 4 rows of 3, the start first"
    );
}

// ---- markup ----

/// Puts random tags around the words from `at` to `end`.
fn mark(line: &mut String, demands: &mut Demands, words: &[String], zone: Span, seed: u32) {
    let mut at = zone.start;
    let depth = demands.zones.len() as u32;
    while at < zone.end {
        let dice = |what: u32| noise(seed, &[at, depth, what, 41]);
        let upto = |most: u32, what: u32| 1 + (dice(what) * most.min(zone.end - at) as f32) as u32;
        if at > zone.start && dice(0) < 0.2 {
            line.push_str("<wall/>");
            demands.walls.push((at, zone));
        }
        let kind = dice(1);
        if kind < 0.2 && depth < 3 {
            let inner = Span::new(at, at + upto(4, 2));
            line.push_str("<zone>");
            demands.zones.push(inner);
            mark(line, demands, words, inner, seed);
            line.push_str("</zone> ");
            at = inner.end;
        } else if kind < 0.4 {
            let span = Span::new(at, at + upto(2, 3));
            let text = words[span.start as usize..span.end as usize].join(" ");
            line.push_str(&format!("<x translation='w1 w7||new' prob='0.5||0.125'>{text}</x>"));
            let given = |tgt: &[&str]| tgt.iter().map(|&word| word.to_owned()).collect();
            demands.given.push((span, given(&["w1", "w7"]), 0.5));
            demands.given.push((span, given(&["new"]), 0.125));
            at = span.end;
        } else {
            line.push_str(&words[at as usize]);
            line.push(' ');
            at += 1;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn every_way_that_meets_the_markup_is_found_with_its_score(
        (seed, orientation, settings) in complete(),
        length in 1usize..6,
        is_exclusive in any::<bool>(),
        drop in any::<bool>(),
        trained in any::<bool>(),
    ) {
        let problem = problem(seed, orientation);
        let words = sentence(seed, length);
        let src: Vec<&str> = words.iter().map(String::as_str).collect();
        let tags: Vec<&str> = (0..length as u32)
            .map(|at| if noise(seed, &[at, 13]) < 0.5 { "N" } else { "V" })
            .collect();
        let mut after = After::random(seed, length);
        let mut waw = given();
        if trained {
            let model = tagged_model();
            after.scores = scores_of(&model, &src, &tags);
            waw = Jumps::new("waw", Scores::Model(model)).unwrap();
        }
        let models = problem.models(Some(&waw));
        let weights = random_weights(&models, seed);
        let settings = SearchSettings { oov: if drop { OovPolicy::Drop } else { OovPolicy::Copy }, ..settings };
        let mut demands = Demands { is_exclusive, ..Demands::default() };
        let mut line = String::new();
        mark(&mut line, &mut demands, &words, Span::new(0, length as u32), seed);
        let mode = if is_exclusive { MarkupMode::Exclusive } else { MarkupMode::Inclusive };
        let marked = MarkedSentence::parse(&line, mode, &here()).unwrap();
        prop_assert_eq!(marked.words(), &words[..]);
        let ways = Twin {
            models: &models, table: &problem.table, weights: &weights, settings: &settings,
            src: &src, after: Some(&after), demands: &demands,
        }.all();
        let decoder = Decoder::new(models.clone(), weights, settings).unwrap();
        let mut worker = decoder.worker();
        let matrices = [matrix(&after.scores)];
        let source = SourceSentence { tags: Some(&tags), ..with_matrices(&src, &matrices).source };
        let request = TranslationRequest { source, markup: None };
        let plain = worker.translate(&request, EVERYTHING, &Job::new(1)).unwrap();
        let request = TranslationRequest { source, markup: Some(marked.markup()) };
        let outcome = worker.translate(&request, EVERYTHING, &Job::new(1)).unwrap();
        prop_assert!(!ways.is_empty());
        assert_all(&outcome.best, &ways);
        // Nothing of the markup stays behind.
        let request = TranslationRequest { source, markup: None };
        prop_assert_eq!(worker.translate(&request, EVERYTHING, &Job::new(1)).unwrap(), plain);
    }

    #[test]
    fn pruned_searches_of_long_marked_sentences_cover_each_word_once(
        (seed, settings) in pruned(),
        length in 6usize..40,
    ) {
        let problem = problem(seed, ORIENTATIONS[1]);
        let after = After::random(seed, length);
        let waw = given();
        let models = problem.models(Some(&waw));
        let weights = random_weights(&models, seed);
        let words = sentence(seed, length);
        let mut line = String::new();
        mark(&mut line, &mut Demands::default(), &words, Span::new(0, length as u32), seed);
        let marked = MarkedSentence::parse(&line, MarkupMode::Exclusive, &here()).unwrap();
        let decoder = Decoder::new(models, weights, settings).unwrap();
        let src: Vec<&str> = words.iter().map(String::as_str).collect();
        let matrices = [matrix(&after.scores)];
        let markup = Some(marked.markup());
        let request = TranslationRequest { markup, ..with_matrices(&src, &matrices) };
        let outcome = decoder.translate_all(&[request], OutputOptions::default(), &Job::new(1));
        let best = &outcome.unwrap()[0].best[0];
        prop_assert!(covered(best).into_iter().eq(0..length as u32), "{}", line);
    }
}

fn translate_marked(decoder: &Decoder<'_>, marked: &MarkedSentence) -> TranslationResult {
    let words: Vec<&str> = marked.words().iter().map(String::as_str).collect();
    let request =
        TranslationRequest { markup: Some(marked.markup()), ..TranslationRequest::of(&words) };
    decoder.worker().translate(&request, OutputOptions::default(), &Job::new(1)).unwrap()
}

fn here() -> Place {
    Place { file: "text".into(), line: Some(3) }
}

#[test]
fn a_given_translation_is_used_and_its_probability_shared_among_the_scores() {
    with_decoder(SearchSettings::default(), |decoder| {
        let line = "s0 <n translation=\"dwelling place\" prob=\"0.25\">s1 s2</n>";
        let marked = MarkedSentence::parse(line, MarkupMode::Exclusive, &here()).unwrap();
        let outcome = translate_marked(decoder, &marked);
        let best = &outcome.best[0];
        let step = best.steps.iter().find(|step| step.src == Span::new(1, 3)).unwrap();
        let tgt = step.tgt.range();
        assert_eq!(best.words[tgt], ["dwelling", "place"]);
        let first = step.tgt.start.0;
        for link in [(1, first), (1, first + 1), (2, first), (2, first + 1)] {
            assert!(best.links.contains(&Link::new(link.0, link.1)));
        }
    });
    // tm0 and tm1 of one given phrase: ln 0.25 / 2 each.
    with_decoder(SearchSettings::default(), |decoder| {
        let line = "<n translation='x' prob='0.25'>s1</n>";
        let marked = MarkedSentence::parse(line, MarkupMode::Exclusive, &here()).unwrap();
        let outcome = translate_marked(decoder, &marked);
        let best = &outcome.best[0];
        let value = |name: &str| {
            let at = decoder.weights().names().iter().position(|known| known == name).unwrap();
            best.features[at]
        };
        assert_eq!(best.words, ["x"]);
        assert!((value("tm0") - 0.25f64.ln() / 2.0).abs() < 1e-6);
        assert!((value("tm1") - 0.25f64.ln() / 2.0).abs() < 1e-6);
        assert_eq!((value("oov"), value("pp"), value("wp")), (0.0, 1.0, -1.0));
    });
}

// ---- edges ----

fn with_decoder<T>(settings: SearchSettings, run: impl FnOnce(&Decoder<'_>) -> T) -> T {
    let problem = problem(11, ORIENTATIONS[1]);
    let models = problem.models(None);
    let mut weights = random_weights(&models, 11);
    weights.set("oov", 100.0).unwrap();
    run(&Decoder::new(models, weights, settings).unwrap())
}

#[test]
fn an_empty_sentence_has_an_empty_translation() {
    for search in [SearchAlgorithm::Cube, SearchAlgorithm::Stack] {
        let settings = SearchSettings { search, ..SearchSettings::default() };
        with_decoder(settings, |decoder| {
            let wanted = OutputOptions { nbest: 5, distinct: true, graph: true, stacks: 3 };
            let outcome = decoder
                .worker()
                .translate(&TranslationRequest::of(&[]), wanted, &Job::new(1))
                .unwrap();
            assert_eq!(outcome.best.len(), 1);
            assert!(outcome.best[0].words.is_empty());
            assert_eq!(outcome.best[0].score, 0.0);
        });
    }
}

#[test]
fn unknown_words_pass_through_with_a_link() {
    with_decoder(SearchSettings { space: Space::Mono, ..SearchSettings::default() }, |decoder| {
        let src = ["x", "y\0", "x"];
        let request = TranslationRequest::of(&src);
        let outcome =
            decoder.worker().translate(&request, OutputOptions::default(), &Job::new(1)).unwrap();
        let best = &outcome.best[0];
        assert_eq!(best.words, src);
        assert_eq!(best.links, [Link::new(0, 0), Link::new(1, 1), Link::new(2, 2)]);
        assert_eq!(best.features.last(), Some(&-3.0));
    });
}

#[test]
fn runs_of_unknown_words_stay_in_order_under_any_weights_and_in_any_space() {
    let src = ["x", "s0", "y", "z", "v", "s1", "u", "t"];
    for space in SPACES {
        for (search, jump) in [SearchAlgorithm::Cube, SearchAlgorithm::Stack]
            .into_iter()
            .flat_map(|search| [-2.0, -0.018, 0.0, 1.0].map(|jump| (search, jump)))
        {
            let problem = problem(11, ORIENTATIONS[1]);
            let models = problem.models(None);
            let mut weights = random_weights(&models, 11);
            weights.set("d", jump).unwrap();
            let settings = SearchSettings {
                space: Space::named(space).unwrap(),
                search,
                ..SearchSettings::default()
            };
            let decoder = Decoder::new(models, weights, settings).unwrap();
            let wanted = OutputOptions { nbest: 50, ..OutputOptions::default() };
            let outcome =
                decoder.worker().translate(&TranslationRequest::of(&src), wanted, &Job::new(1));
            for translation in outcome.unwrap().best {
                let place = |word: &str| translation.words.iter().position(|own| own == word);
                for run in [&["y", "z", "v"][..], &["u", "t"]] {
                    assert!(run.is_sorted_by_key(|word| place(word)), "{space}: {translation:?}");
                }
            }
        }
    }
}

#[test]
fn a_score_that_is_not_finite_is_an_error_and_no_empty_translation() {
    for value in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
        for search in [SearchAlgorithm::Cube, SearchAlgorithm::Stack] {
            let table = toy_table();
            let lm = Grams { order: 2, score: Box::new(move |_, _| value) };
            let models =
                ModelSet { phrases: &table, lms: vec![&lm], orientation: None, paths: Vec::new() };
            let mut weights = models.weights().unwrap();
            weights.set("lm", 1.0).unwrap();
            let settings = SearchSettings { search, ..SearchSettings::default() };
            let decoder = Decoder::new(models, weights, settings).unwrap();
            let request = TranslationRequest::of(&["s0", "s1"]);
            let outcome =
                decoder.worker().translate(&request, OutputOptions::default(), &Job::new(1));
            let message = outcome.unwrap_err().to_string();
            assert!(message.starts_with("weights and models: found a translation with score "));
            assert!(message.contains("; expected finite scores; try smaller weights"));
        }
    }
}

#[test]
fn unknown_words_are_left_out_when_asked_and_still_cost() {
    for search in [SearchAlgorithm::Cube, SearchAlgorithm::Stack] {
        let settings = SearchSettings { oov: OovPolicy::Drop, search, ..SearchSettings::default() };
        with_decoder(settings, |decoder| {
            let src = ["x", "y"];
            let request = TranslationRequest::of(&src);
            let outcome =
                decoder.worker().translate(&request, OutputOptions::default(), &Job::new(1));
            let best = &outcome.unwrap().best[0];
            assert!(best.words.is_empty() && best.links.is_empty());
            assert_eq!(best.features.last(), Some(&-2.0));
            assert_eq!(trace(best), "0-0=- 1-1=-");
        });
    }
}

#[test]
fn a_thousand_words_are_translated_in_every_space() {
    let words: Vec<String> = sentence(4, 1000);
    let src: Vec<&str> = words.iter().map(String::as_str).collect();
    for space in ["mono", "dl:6", "ibm:4", "mj1", "mj2", "itg"] {
        let space = Space::named(space).unwrap();
        let settings = SearchSettings { space, pop_limit: 10, ..SearchSettings::default() };
        with_decoder(settings, |decoder| {
            let request = TranslationRequest::of(&src);
            let outcome = decoder
                .worker()
                .translate(&request, OutputOptions::default(), &Job::new(1))
                .unwrap();
            let covered: u32 = outcome.best[0].steps.iter().map(|step| step.src.len()).sum();
            assert_eq!(covered, 1000);
        });
    }
}

#[test]
fn any_number_of_threads_gives_the_same_result() {
    let words: Vec<Vec<String>> = (0..40).map(|seed| sentence(seed, seed as usize % 9)).collect();
    let src: Vec<Vec<&str>> =
        words.iter().map(|words| words.iter().map(String::as_str).collect()).collect();
    let src: Vec<TranslationRequest<'_>> =
        src.iter().map(|words| TranslationRequest::of(words)).collect();
    with_decoder(SearchSettings { pop_limit: 20, ..SearchSettings::default() }, |decoder| {
        let wanted = OutputOptions { nbest: 5, distinct: false, graph: true, stacks: 3 };
        let run = |threads| decoder.translate_all(&src, wanted, &Job::new(threads)).unwrap();
        let alone = run(1);
        assert_eq!(alone.len(), 40);
        assert_eq!(run(2), alone);
        assert_eq!(run(4), alone);
    });
}

#[test]
fn a_stopped_job_stops_the_search() {
    with_decoder(SearchSettings::default(), |decoder| {
        let job = Job::new(2);
        job.stop();
        let result = decoder.translate_all(
            &[TranslationRequest::of(&["s0"]); 2],
            OutputOptions::default(),
            &job,
        );
        assert!(matches!(result, Err(wayword::Error::Interrupted)));
    });
}

#[test]
fn wrong_weights_and_settings_are_told() {
    let problem = problem(1, None);
    let waw = given();
    let models = problem.models(Some(&waw));
    let weights = models.weights().unwrap();
    assert_eq!(weights.names(), ["lm0", "lm1", "wp", "pp", "tm0", "tm1", "d", "waw", "lop", "oov"]);
    let of_either_sign = weights.names().iter().zip(models.nonnegative());
    let of_either_sign = of_either_sign.filter(|(_, is_bounded)| !is_bounded);
    assert!(of_either_sign.map(|(name, _)| name).eq(["wp", "pp", "oov"]));
    let settings = SearchSettings { threshold: 2.0, ..SearchSettings::default() };
    let error = Decoder::new(models.clone(), weights, settings).err().unwrap();
    assert_eq!(error.to_string(), "threshold: found 2; expected a number from 0 (off) to 1");
    let other = FeatureWeights::zero(vec!["lm".into()]);
    let error = Decoder::new(models, other, SearchSettings::default()).err().unwrap();
    assert_eq!(
        error.to_string(),
        "weights: found lm; expected lm0, lm1, wp, pp, tm0, tm1, d, waw, lop, oov"
    );
}
