//! The definitions' examples of the word-after-word model, and training against slow twins.

use super::*;
use crate::Job;
use crate::align::Link;
use crate::corpus::annotated::Sentence;
use crate::feature::Coverage;
use crate::reorder::Corpus;
use crate::reorder::jump::{Judge, Walk, Window};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

fn options(templates: &str) -> Options {
    Options {
        templates: Templates::named(templates).unwrap(),
        anchor: Anchor::Target,
        window: Window::default(),
        min_count: 1,
        objective: Objective::Each,
        coverage: false,
    }
}

/// The definitions' sentence. Its heads differ from what tags alone would tell, so they are given.
fn example() -> Sentence<'static> {
    let texts = |line: &'static str| line.split(' ').map(Into::into).collect();
    let words = texts("ywASl sfyr lbnAn tHrk -h");
    let (tags, types) = (texts("V N NP N PRP"), texts("VP NP NP NP NP"));
    Sentence::of_layers(words, tags, types, vec![0, 1, 1, 3, 3], vec![0, 1, 1, 3, 3]).unwrap()
}

fn texts(src: &Sentence<'_>, options: &Options, from: u32, to: u32) -> Vec<String> {
    let shapes = Shapes::new(options);
    let mut prepared = Prepared::default();
    prepared.fill_from(src);
    let (mut ends, mut texts) = (Ends::default(), Vec::new());
    ends.fill(&shapes, &prepared);
    shapes.firings(&prepared, &ends, from, to, |firing| {
        let text = shapes.text(src, from, to, firing);
        assert_eq!(shapes.fingerprint_of(&text), Some(firing.fingerprint), "{text}");
        texts.push(text);
    });
    texts
}

#[test]
fn the_features_are_those_of_the_specification() {
    let src = example();
    let of = |from, to| texts(&src, &options("WPC"), from, to);
    let expected = "01|ywASl|tHrk 02|<s>|ywASl|tHrk 03|<s>|<s>|ywASl|tHrk 04|<s>|ywASl|tHrk|-h \
        05|ywASl|sfyr|lbnAn|tHrk 06|F|sfyr|lbnAn|tHrk 06|F|lbnAn|lbnAn|tHrk \
        07|F|sfyr_lbnAn|lbnAn|tHrk 08|V|N 09|<s>|V|N 10|<s>|<s>|V|N 11|<s>|V|N|PRP \
        12|V|N|NP|N 13|<s>|V|N|NP|N|PRP 14|F|N|NP|N 14|F|NP|NP|N 15|F|N_NP|NP|N 16|ywASl|N \
        17|V|tHrk 18|VP|NP 19|<s>|VP|NP|NP|NP|NP 20|ywASl|tHrk 21|0";
    assert_eq!(of(1, 4), expected.split_whitespace().collect::<Vec<_>>());
    let includes =
        |found: &[String], some: &str| some.split(' ').all(|text| found.contains(&text.to_owned()));
    let back = of(3, 1);
    assert_eq!(back.len(), 21);
    assert!(includes(&back, "05|lbnAn|tHrk|<s>|ywASl 06|B|sfyr|<s>|ywASl 15|B|N|<s>|V 21|0"));
    let start = of(0, 2);
    assert_eq!(start.len(), 21);
    assert!(includes(&start, "03|<s>|<s>|<s>|sfyr 06|F|ywASl|ywASl|sfyr 20|<s>|sfyr 21|0"));
    let beside = of(2, 3);
    assert_eq!(beside.len(), 17);
    assert!(beside.contains(&"21|1".to_owned()));
    assert!(beside.iter().all(|text| !["06", "07", "14", "15"].contains(&&text[..2])));
    let sets = [("W", 8), ("P", 9), ("WP", 19), ("WPC", 23)];
    for (name, count) in sets {
        assert_eq!(texts(&src, &options(name), 1, 4).len(), count, "{name}");
    }
}

#[test]
fn both_ends_of_a_jump_may_stand_beside_what_lies_between() {
    let options = Options { anchor: Anchor::Ends, ..options("W") };
    let found = texts(&example(), &options, 4, 1);
    let between: Vec<&str> = found.iter().map(|text| &**text).filter(|t| *t > "06").collect();
    assert_eq!(
        between,
        ["06|B|tHrk|sfyr|ywASl", "06|B|tHrk|lbnAn|ywASl", "07|B|tHrk|sfyr_lbnAn|ywASl"]
    );
}

#[test]
fn special_letters_in_words_are_escaped() {
    let src = Sentence::of_words(["a|b", "50%", "_", "%5F", "_"]);
    let found = texts(&src, &options("W"), 1, 5);
    assert!(found.contains(&"07|F|50%25_%5F_%255F|%255F|%5F".to_owned()), "{found:?}");
}

// ---- training ----

/// A corpus of random sentences over few words.
fn corpus(seed: u64, sentences: usize) -> Corpus {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut dice = move |sides: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) % sides
    };
    let mut corpus = Corpus::default();
    for _ in 0..sentences {
        let length = dice(9) as u32;
        let line: Vec<String> = (0..length)
            .map(|_| {
                format!("w{}|T{}|{}", dice(5), dice(3), ["O", "B-NP", "B-VP"][dice(3) as usize])
            })
            .collect();
        let links: Vec<Link> = (0..length)
            .map(|src| Link::new(src, dice(12) as u32))
            .filter(|link| link.tgt.0 < 9)
            .collect();
        let tokens = line.iter().map(String::as_str);
        corpus.push(&Sentence::of_factors(tokens, 3).unwrap(), &links).unwrap();
    }
    corpus
}

/// Samples and features without any of the machinery.
fn slow_samples(corpus: &Corpus, options: &Options) -> Vec<(bool, BTreeSet<String>)> {
    let mut samples = Vec::new();
    for number in 0..corpus.len() {
        let src = corpus.text().sentence(number);
        Walk::default().samples(&corpus.order(number), options.window, |sample| {
            let own = texts(&src, options, sample.from, sample.to);
            samples.push((sample.is_next, own.into_iter().collect()));
        });
    }
    samples
}

fn slow_likelihood(
    samples: &[(bool, BTreeSet<String>)],
    weights: &BTreeMap<String, f64>,
    bias: f64,
    prior: f64,
) -> f64 {
    let mut value = 0.0;
    for (is_next, own) in samples {
        let margin = bias + own.iter().filter_map(|name| weights.get(name)).sum::<f64>();
        let p = 1.0 / (1.0 + (-margin).exp());
        value += if *is_next { p.ln() } else { (1.0 - p).ln() };
    }
    value - prior / 2.0 * (bias * bias + weights.values().map(|w| w * w).sum::<f64>())
}

/// Text of each feature, in the trainer's order.
fn names(trainer: &Trainer, corpus: &Corpus) -> Vec<String> {
    let count = trainer.features();
    // Weights that tell features apart.
    let weights: Vec<f64> = (0..=count).map(|at| (at + 1) as f64).collect();
    let model = trainer.model(corpus, &weights, 1.0, &Job::new(1)).unwrap();
    let path = scratch("names");
    model.write_text(&path).unwrap();
    let mut names = vec![String::new(); count];
    for line in std::fs::read_to_string(&path).unwrap().lines().skip(2) {
        let (name, weight) = line.split_once('\t').unwrap();
        names[weight.parse::<usize>().unwrap() - 1] = name.to_owned();
    }
    std::fs::remove_file(path).unwrap();
    names
}

fn scratch(name: &str) -> PathBuf {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Relaxed);
    std::env::temp_dir().join(format!("wayword-waw-{name}-{}-{number}", std::process::id()))
}

#[test]
fn likelihood_and_gradient_are_those_of_the_definition() {
    let corpus = corpus(7, 60);
    for (set, min_count, prior) in [("WPC", 5, 1.0), ("W", 3, 0.0), ("P", 1, 0.3)] {
        let options = Options { min_count, ..options(set) };
        let job = Job::new(2);
        let trainer = Trainer::new(&corpus, options, 1000, None, &job).unwrap();
        assert!(trainer.bytes().1 > 0, "rows go to disk beyond a thousand bytes");
        let samples = slow_samples(&corpus, &options);
        assert_eq!(trainer.samples() as usize, samples.len());
        assert_eq!(samples.iter().filter(|sample| sample.0).count(), corpus.text().words());
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        for name in samples.iter().flat_map(|(_, own)| own) {
            *counts.entry(name).or_default() += 1;
        }
        counts.retain(|_, count| *count >= min_count);
        let names = names(&trainer, &corpus);
        assert_eq!(
            names.iter().map(String::as_str).collect::<BTreeSet<_>>(),
            counts.keys().copied().collect()
        );
        let zero = vec![0.0; names.len() + 1];
        let nothing = trainer.slope(&zero, prior, &job).unwrap();
        assert!((nothing.value + samples.len() as f64 * 2_f64.ln()).abs() < 1e-9);
        let mut weights: Vec<f64> =
            (0..=names.len()).map(|at| ((at * 37 % 19) as f64 - 9.0) / 20.0).collect();
        let slope = trainer.slope(&weights, prior, &job).unwrap();
        let value = |weights: &[f64]| {
            let by_name = names.iter().cloned().zip(weights.iter().copied()).collect();
            slow_likelihood(&samples, &by_name, weights[names.len()], prior)
        };
        assert!((slope.value - value(&weights)).abs() < 1e-8);
        for at in (0..=names.len()).step_by(names.len() / 23 + 1).chain([names.len()]) {
            let (kept, step) = (weights[at], 1e-5);
            weights[at] = kept + step;
            let up = value(&weights);
            weights[at] = kept - step;
            let down = value(&weights);
            weights[at] = kept;
            let expected = (up - down) / (2.0 * step);
            assert!((slope.gradient[at] - expected).abs() < 1e-5, "{at}");
        }
    }
}

#[test]
fn the_optimum_is_that_of_the_specification() {
    // Three right jumps and one wrong one, all with one feature: rows made by hand.
    let mut bytes = Vec::new();
    for label in [true, true, true, false] {
        super::rows::push(&mut bytes, label, &mut [0]);
    }
    let trainer = super::train::Trainer::of_rows(options("W"), bytes, vec![4], 4);
    let job = Job::new(1);
    let mut weight: f64 = 0.0;
    for _ in 0..50 {
        // Newton's step, with the bias kept at 0.
        let slope = trainer.slope(&[weight, 0.0], 1.0, &job).unwrap();
        let p = 1.0 / (1.0 + (-weight).exp());
        weight += slope.gradient[0] / (4.0 * p * (1.0 - p) + 1.0);
    }
    assert!((weight - 0.5052400863).abs() < 1e-9, "{weight}");
    let slope = trainer.slope(&[weight, 0.0], 1.0, &job).unwrap();
    assert!((slope.value + 2.5212813128).abs() < 1e-9);
    assert!((1.0 / (1.0 + (-weight).exp()) - 0.6236899784).abs() < 1e-9);
}

#[test]
fn any_number_of_threads_gives_the_same_numbers() {
    let corpus = corpus(3, 700);
    let run = |threads, memory| {
        let job = Job::new(threads);
        let options = Options { min_count: 8, ..options("WPC") };
        let trainer = Trainer::new(&corpus, options, memory, None, &job).unwrap();
        let weights: Vec<f64> =
            (0..=trainer.features()).map(|at| (at % 7) as f64 / 10.0 - 0.3).collect();
        let slope = trainer.slope(&weights, 1.0, &job).unwrap();
        let online = trainer.adagrad(2, 0.2, 1.0, &job).unwrap();
        let model = trainer.model(&corpus, &online, 1.0, &job).unwrap();
        (slope, online, model.bytes().to_vec())
    };
    let one = run(1, usize::MAX);
    assert_eq!(run(2, usize::MAX), one);
    assert_eq!(run(3, 5000), one);
}

#[test]
fn online_training_comes_near_the_optimum() {
    let corpus = corpus(5, 400);
    let job = Job::new(1);
    let options = Options { min_count: 5, ..options("P") };
    let trainer = Trainer::new(&corpus, options, usize::MAX, None, &job).unwrap();
    // Plain ascent with small steps: slow, and sure to arrive.
    let mut best = vec![0.0; trainer.features() + 1];
    for _ in 0..1500 {
        let slope = trainer.slope(&best, 1.0, &job).unwrap();
        best.iter_mut().zip(&slope.gradient).for_each(|(w, g)| *w += 4e-4 * g);
    }
    let likelihood = |weights: &[f64]| trainer.slope(weights, 1.0, &job).unwrap().value;
    let start = likelihood(&vec![0.0; best.len()]);
    let online = likelihood(&trainer.adagrad(10, 0.2, 1.0, &job).unwrap());
    let share = (online - start) / (likelihood(&best) - start);
    assert!(share > 0.97, "{share}");
}

fn small_model() -> Model {
    model_with(Anchor::Target)
}

fn model_with(anchor: Anchor) -> Model {
    let corpus = corpus(11, 200);
    let job = Job::new(1);
    let options = Options { min_count: 4, anchor, ..options("WPC") };
    let trainer = Trainer::new(&corpus, options, usize::MAX, None, &job).unwrap();
    let weights = trainer.adagrad(3, 0.2, 1.0, &job).unwrap();
    trainer.model(&corpus, &weights, 1.0, &job).unwrap()
}

#[test]
fn a_saved_model_and_its_text_give_the_same_model() {
    let model = small_model();
    let (binary, text) = (scratch("binary"), scratch("text"));
    model.save(&binary).unwrap();
    assert_eq!(Model::open(&binary).unwrap().bytes(), model.bytes());
    model.write_text(&text).unwrap();
    let lines = std::fs::read_to_string(&text).unwrap();
    let first = lines.lines().next().unwrap();
    assert_eq!(
        first.rsplit_once(' ').unwrap().0,
        "# wayword waw templates=WPC delta=10 lambda=1 cutoff=4 between_anchor=j window=strict \
         objective=each coverage=false"
    );
    let features: Vec<&str> = lines.lines().skip(1).collect();
    assert!(features.is_sorted());
    assert_eq!(features.len() as u64, model.features() + 1);
    assert_eq!(Model::read_text(&text).unwrap().bytes(), model.bytes());
    for wrong in ["", "# wayword waw\n", "templates=W\n"] {
        std::fs::write(&text, wrong).unwrap();
        let found = wrong.trim_end();
        assert_eq!(
            Model::read_text(&text).unwrap_err().to_string(),
            format!(
                "{}:1: `{found}`; expected `# wayword waw templates=… delta=… …`; \
                 is this the text form of a word-after-word model?",
                text.display()
            )
        );
    }
    std::fs::write(&text, format!("{first}\n01|a|b\tx\n")).unwrap();
    assert_eq!(
        Model::read_text(&text).unwrap_err().to_string(),
        format!(
            "{}:2: `01|a|b\tx`; expected a feature, a tab and a number; \
             is this the text form of a word-after-word model?",
            text.display()
        )
    );
    std::fs::remove_file(text).unwrap();
    std::fs::remove_file(binary).unwrap();
}

#[test]
fn a_score_is_the_log_probability_of_the_definition() {
    for anchor in [Anchor::Target, Anchor::Ends] {
        scores_as_defined(&model_with(anchor));
    }
}

fn scores_as_defined(model: &Model) {
    let corpus = corpus(12, 30);
    let path = scratch("weights");
    model.write_text(&path).unwrap();
    let lines = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    let weights: BTreeMap<&str, f64> = lines
        .lines()
        .skip(1)
        .map(|line| line.split_once('\t').unwrap())
        .map(|(name, weight)| (name, weight.parse().unwrap()))
        .collect();
    for number in 0..corpus.len() {
        let src = corpus.text().sentence(number);
        let rater = model.rater(&src);
        let nothing = vec![0; Coverage::blocks_for(src.len() as u32)];
        let cov = Coverage::new(&nothing, src.len() as u32);
        for (from, to) in
            (0..=src.len() as u32).flat_map(|f| (1..=src.len() as u32).map(move |t| (f, t)))
        {
            if from == to {
                continue;
            }
            let fired = texts(&src, &model.recipe().options, from, to);
            let margin: f64 = weights["**BIAS**"]
                + fired.iter().filter_map(|name| weights.get(&**name)).sum::<f64>();
            let expected = -(1.0 + (-margin).exp()).ln();
            assert!((f64::from(rater.log_prob(cov, from, to)) - expected).abs() < 1e-5);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn damaged_models_are_refused(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<Option<prop::sample::Index>>(),
    ) {
        let whole = model_bytes();
        let mut bytes = whole.clone();
        for (place, byte) in changes {
            *place.get_mut(&mut bytes) = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        prop_assert_eq!(Model::from_copy(&bytes).is_ok(), bytes == *whole);
    }

    #[test]
    fn any_bytes_are_a_model_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(Model::from_copy(&bytes).is_err());
    }
}

fn model_bytes() -> &'static Vec<u8> {
    static BYTES: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
    BYTES.get_or_init(|| small_model().bytes().to_vec())
}

#[test]
fn the_message_of_a_wrong_file_says_what_to_do() {
    assert_eq!(
        Model::from_copy(b"what").unwrap_err().to_string(),
        "model: something else; expected a word-after-word model in version 3 of its format; \
         make it again with `wayword waw train`"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn shards_give_the_trainer_of_the_whole(
        sentences in prop::collection::vec(
            (prop::collection::vec("[abc]", 0..6), prop::collection::vec(0_u32..6, 0..6)),
            1..300,
        ),
        cuts in prop::collection::btree_set(1_usize..4, 0..4),
        min_count in 1_u32..12,
        memory in 0_usize..4000,
    ) {
        let mut corpus = Corpus::default();
        for (words, targets) in &sentences {
            let links: Vec<Link> =
                (0..).zip(targets).take(words.len()).map(|(src, &tgt)| Link::new(src, tgt)).collect();
            corpus.push(&Sentence::of_words(words.iter().map(String::as_str)), &links).unwrap();
        }
        let job = Job::new(2);
        let options = Options { min_count, ..options("W") };
        let whole = Trainer::new(&corpus, options, usize::MAX, None, &job).unwrap();
        let mut ends: Vec<usize> = cuts.iter().map(|cut| cut * BLOCK).collect();
        ends.retain(|&end| end < corpus.len());
        ends.insert(0, 0);
        ends.push(corpus.len());
        let shards: Vec<Corpus> =
            ends.windows(2).map(|cut| corpus.part(cut[0]..cut[1]).unwrap()).collect();
        let folder = crate::storage::TempFolder::new(None);
        let room = folder.path().unwrap();
        let paths = |name: &str| -> Vec<PathBuf> {
            (0..shards.len()).map(|number| room.join(format!("{name}{number}"))).collect()
        };
        let (found, samples) = (paths("found"), paths("samples"));
        let count = u32::try_from(shards.len()).unwrap();
        for (shard, out) in shards.iter().zip(&found) {
            find_candidates(shard, &options, count, out, &job).unwrap();
        }
        for (shard, out) in shards.iter().zip(&samples) {
            write_samples(shard, &options, &found, (memory, None), out, &job).unwrap();
        }
        let room = (memory, None);
        let joined = read_samples(options, corpus.len(), &found, &samples, room, &job).unwrap();
        prop_assert_eq!(joined.samples(), whole.samples());
        prop_assert_eq!(joined.features(), whole.features());
        let [own, others] =
            [&whole, &joined].map(|trainer| trainer.adagrad(2, 0.2, 1.0, &job).unwrap());
        prop_assert_eq!(&own, &others);
        let slopes = [&whole, &joined].map(|trainer| trainer.slope(&own, 1.0, &job).unwrap());
        prop_assert_eq!(&slopes[0], &slopes[1]);
        let models =
            [&whole, &joined].map(|trainer| trainer.model(&corpus, &own, 1.0, &job).unwrap());
        prop_assert_eq!(models[0].bytes(), models[1].bytes());
    }
}
