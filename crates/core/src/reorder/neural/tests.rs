//! The network against a slow twin, its gradient against differences, its file against damage.

use super::net::{Input, Net};
use super::*;
use crate::Job;
use crate::align::Link;
use crate::corpus::annotated::Sentence;
use crate::error::Result;
use crate::reorder::Corpus;
use crate::reorder::jump::{BITS, Judge, evaluate};
use crate::reorder::lop;
use proptest::prelude::*;

fn sizes(coverage: bool) -> Sizes {
    Sizes { rows: 7, embedding: 5, hidden: 6, key: 4, coverage }
}

/// Numbers from -1 to 1 that only look random.
fn noise(seed: u32, at: usize) -> f32 {
    let mut mixed = (at as u32 ^ seed.rotate_left(16)).wrapping_mul(2_654_435_761);
    mixed = (mixed ^ mixed >> 15).wrapping_mul(2_246_822_519);
    (mixed >> 8) as f32 / (1 << 23) as f32 - 1.0
}

fn values(shape: &Shape) -> Vec<f32> {
    (0..shape.parameters()).map(|at| 0.8 * noise(3, at)).collect()
}

const SENTENCES: [&[u32]; 3] = [&[1, 5, 2, 6, 0, 5], &[3, 6, 1, 5], &[4, 5]];

fn inputs() -> Vec<Input<'static>> {
    SENTENCES.iter().map(|rows| Input { rows, layers: 2 }).collect()
}

/// The network as definitions b.8 writes it, number by number.
fn slow(shape: &Shape, values: &[f32], rows: &[u32]) -> Vec<f64> {
    let at = |block: Block, row: usize, column: usize| {
        f64::from(values[block.range().start + row * block.columns + column])
    };
    let Sizes { embedding, hidden, key, .. } = shape.sizes;
    let words: Vec<Vec<f64>> = rows
        .chunks(2)
        .map(|word| {
            let sum = |c| word.iter().map(|&row| at(shape.embedding, row as usize, c)).sum();
            (0..embedding).map(sum).collect()
        })
        .collect();
    let length = words.len();
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let mut contexts = vec![vec![0.0; 2 * hidden]; length];
    for (number, way) in shape.ways.iter().enumerate() {
        let mut memory = vec![0.0; hidden];
        for step in 0..length {
            let word = if number == 0 { step } else { length - 1 - step };
            let gate = |g: usize, h: usize| -> (f64, f64) {
                let column = g * hidden + h;
                let of_word: f64 =
                    (0..embedding).map(|e| words[word][e] * at(way.input, e, column)).sum();
                let of_memory: f64 =
                    (0..hidden).map(|m| memory[m] * at(way.recurrent, m, column)).sum();
                (of_word + at(way.bias, 0, column), of_memory)
            };
            let next: Vec<f64> = (0..hidden)
                .map(|h| {
                    let [z, r, c] = [0, 1, 2].map(|g| gate(g, h));
                    let (update, reset) = (sigmoid(z.0 + z.1), sigmoid(r.0 + r.1));
                    let fresh = (c.0 + reset * (c.1 + at(way.inner_bias, 0, h))).tanh();
                    (1.0 - update) * fresh + update * memory[h]
                })
                .collect();
            contexts[word][number * hidden..][..hidden].copy_from_slice(&next);
            memory = next;
        }
    }
    let project = |context: &[f64], block: Block, bias: Block| -> Vec<f64> {
        let column = |k| (0..2 * hidden).map(|h| context[h] * at(block, h, k)).sum::<f64>();
        (0..block.columns).map(|k| column(k) + at(bias, 0, k)).collect()
    };
    let mut queries = vec![(0..key).map(|k| at(shape.start, 0, k)).collect::<Vec<f64>>()];
    queries.extend(contexts.iter().map(|c| project(c, shape.query, shape.query_bias)));
    let keys: Vec<Vec<f64>> =
        contexts.iter().map(|c| project(c, shape.key, shape.key_bias)).collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let row = |block: Block, d: usize| (0..key).map(|k| at(block, d, k)).collect::<Vec<f64>>();
    let mut all = Vec::new();
    for (from, query) in queries.iter().enumerate() {
        for (to, key_of) in keys.iter().enumerate() {
            let d = ((to as i64 + 1 - from as i64).clamp(-19, 19) + 19) as usize;
            all.push(
                dot(query, key_of) / (key as f64).sqrt()
                    + dot(query, &row(shape.far_query, d))
                    + dot(key_of, &row(shape.far_key, d))
                    + at(shape.far_bias, 0, d),
            );
        }
    }
    if shape.sizes.coverage {
        all.extend(contexts.iter().flat_map(|c| project(c, shape.around, shape.around_bias)));
    }
    all
}

#[test]
fn the_network_is_that_of_the_definitions() {
    for coverage in [false, true] {
        let shape = Shape::new(sizes(coverage));
        let values = values(&shape);
        let said = Net::default().run(&shape, &values, &inputs());
        for (said, rows) in said.iter().zip(SENTENCES) {
            let all: Vec<f32> = said.jumps.iter().chain(&said.around).copied().collect();
            let expected = slow(&shape, &values, rows);
            assert_eq!(all.len(), expected.len());
            for (&found, expected) in all.iter().zip(expected) {
                assert!((f64::from(found) - expected).abs() < 1e-5, "{found} {expected}");
            }
        }
        // Sentences do not know of each other.
        for (number, input) in inputs().into_iter().enumerate() {
            let alone = Net::default().run(&shape, &values, &[input]);
            assert_eq!(alone[0], said[number]);
        }
    }
}

#[test]
fn the_gradient_is_that_of_differences() {
    let shape = Shape::new(sizes(true));
    let mut values = values(&shape);
    let mut net = Net::default();
    let said = net.run(&shape, &values, &inputs());
    // What is asked for: the sum of all that is said, each with a weight of its own.
    let weigh = |seed: u32, numbers: &[f32]| -> Vec<f32> {
        (0..numbers.len()).map(|at| noise(seed, at)).collect()
    };
    let more: Vec<Said> = (0..)
        .zip(&said)
        .map(|(number, said)| Said {
            jumps: weigh(number, &said.jumps),
            around: weigh(number + 9, &said.around),
        })
        .collect();
    let mut gradient = vec![0.0; shape.parameters()];
    let of_words = net.run_back(&shape, &values, &more, &mut gradient).map(<[f32]>::to_vec);
    let width = shape.sizes.embedding;
    for (sentence, word, places) in net.places() {
        for &row in &SENTENCES[sentence][word * 2..][..2] {
            for column in 0..width {
                let sum = &mut gradient[row as usize * width + column];
                *sum += of_words[0][places[0] * width + column];
                *sum += of_words[1][places[1] * width + column];
            }
        }
    }
    let total = |values: &[f32]| -> f64 {
        let weighed = |(rows, more): (&&[u32], &Said)| -> f64 {
            let weights = more.jumps.iter().chain(&more.around);
            let said = slow(&shape, values, rows);
            said.iter().zip(weights).map(|(said, &weight)| said * f64::from(weight)).sum()
        };
        SENTENCES.iter().zip(&more).map(weighed).sum()
    };
    for at in 0..shape.parameters() {
        let kept = values[at];
        values[at] = kept + 1e-3;
        let (up, high) = (total(&values), f64::from(values[at]));
        values[at] = kept - 1e-3;
        let expected = (up - total(&values)) / (high - f64::from(values[at]));
        values[at] = kept;
        assert!((f64::from(gradient[at]) - expected).abs() < 2e-3, "{at} {expected}");
    }
}

/// Verbs (`v…`) come before nouns (`n…`), whose order they keep.
fn corpus(sentences: usize) -> Corpus {
    let mut corpus = Corpus::default();
    for number in 0..sentences {
        let length = 2 + number % 7;
        let is_verb = |at: usize| noise(number as u32, at) > 0.0;
        let word = |at: usize| {
            let kind = if is_verb(at) { 'v' } else { 'n' };
            format!("{kind}{}|{}", (number + at * 3) % 5, kind.to_ascii_uppercase())
        };
        let line: Vec<String> = (0..length).map(word).collect();
        let verbs = (0..length).filter(|&at| is_verb(at));
        let order = verbs.chain((0..length).filter(|&at| !is_verb(at)));
        let links: Vec<Link> =
            order.zip(0..).map(|(at, rank)| Link::new(at as u32, rank)).collect();
        let src = Sentence::of_factors(line.iter().map(String::as_str), 2).unwrap();
        corpus.push(&src, &links).unwrap();
    }
    corpus
}

/// All passes, one after the other.
fn train(corpus: &Corpus, options: &Options, job: &Job) -> Result<(Model, Vec<Passed>)> {
    let mut trainer = Trainer::new(corpus, options)?;
    let passes = (0..options.epochs).map(|epoch| trainer.pass(epoch, &Lesson::Next, job));
    let passed = passes.collect::<Result<Vec<Passed>>>()?;
    Ok((trainer.model(Head::Next, options.epochs)?, passed))
}

#[test]
fn training_goes_on_from_any_pass() {
    let (corpus, options, job) = (corpus(60), options(), Job::new(1));
    let mut trainer = Trainer::new(&corpus, &options).unwrap();
    trainer.pass(0, &Lesson::Next, &job).unwrap();
    let state = trainer.state();
    let mut other = Trainer::new(&corpus, &options).unwrap();
    other.restore(&state).unwrap();
    for trainer in [&mut trainer, &mut other] {
        trainer.pass(1, &Lesson::Next, &job).unwrap();
    }
    assert_eq!(trainer.state(), other.state());
    assert_ne!(trainer.state(), state);
    for damaged in [&state[..state.len() - 1], &state[4..], &[]] {
        assert!(other.restore(damaged).is_err());
    }
}

fn options() -> Options {
    Options {
        epochs: 12,
        batch: 16,
        rate: 0.02,
        dropout: 0.0,
        embedding: 8,
        hidden: 8,
        key: 8,
        window: 18,
        coverage: true,
        tags: false,
        min_count: 1,
        vocabulary: 100,
        seed: 1,
    }
}

#[test]
fn it_learns_an_order_that_depends_on_what_stands_far_away() {
    let (model, passed) = train(&corpus(400), &options(), &Job::new(2)).unwrap();
    assert!(passed[11].value > 0.2 * passed[0].value, "{passed:?}");
    let (_, compared) = evaluate(&model, &corpus(100), &[18], &Job::new(1)).unwrap();
    let (right, steps) = (compared[0].model.all.first, compared[0].model.all.decisions);
    assert!(right * 20 > steps * 19, "{right} of {steps}");
    assert!(compared[0].distance.all.first * 10 < steps * 8);
}

#[test]
fn threads_change_no_bit_and_seeds_do() {
    let corpus = corpus(60);
    let run = |threads, seed, dropout| {
        let options = Options { epochs: 2, tags: true, seed, dropout, ..options() };
        train(&corpus, &options, &Job::new(threads)).unwrap().0.bytes().to_vec()
    };
    let one = run(1, 1, 0.1);
    assert_eq!(run(2, 1, 0.1), one);
    assert_eq!(run(3, 1, 0.1), one);
    assert_ne!(run(1, 2, 0.1), one);
    assert_ne!(run(1, 1, 0.0), one);
}

fn small() -> Model {
    let options = Options { epochs: 1, tags: true, ..options() };
    train(&corpus(20), &options, &Job::new(1)).unwrap().0
}

#[test]
fn a_model_comes_back_from_its_file() {
    let model = small();
    let path = std::env::temp_dir().join(format!("wayword-neural.{}", std::process::id()));
    model.save(&path).unwrap();
    let again = Model::open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!((again.bytes(), again.digest()), (model.bytes(), model.digest()));
    assert_eq!(again.recipe(), model.recipe());
    assert_eq!(again.vocabulary().tags().unwrap(), ["N", "V"]);
    let src = Sentence::of_factors(["n1|N", "never|X", "v2|V"], 2).unwrap();
    assert_eq!(again.said(&src), model.said(&src));
    assert_eq!(again.said(&src).around.len(), 3 * BITS);
    assert!(model.needs().tags);
    assert!(model.said(&Sentence::of_words([])).jumps.is_empty());
    assert_eq!(
        Model::from_bytes(b"what".to_vec()).unwrap_err().to_string(),
        "model: something else; expected a network of word order in version 1 of its format; \
         make it again with `wayword neural train`"
    );
    let plain = Corpus::default();
    let error = train(&plain, &Options { tags: true, ..options() }, &Job::new(1)).err();
    assert!(error.is_none() || error.unwrap().to_string().starts_with("tags: found true"));
}

fn small_bytes() -> &'static Vec<u8> {
    static BYTES: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
    BYTES.get_or_init(|| small().bytes().to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn damaged_models_are_refused(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<Option<prop::sample::Index>>(),
    ) {
        let whole = small_bytes();
        let mut bytes = whole.clone();
        for (place, byte) in changes {
            *place.get_mut(&mut bytes) = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let is_whole = bytes == *whole;
        prop_assert_eq!(Model::from_bytes(bytes).is_ok(), is_whole);
    }

    #[test]
    fn sealed_nonsense_is_refused(
        numbers in proptest::collection::vec(0u64..40, 10),
        body in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        prop_assert!(Model::from_sealed(&numbers, &body).is_err());
    }
}

/// The wishes of the links of `corpus`.
fn wishes(corpus: &Corpus, number: usize) -> Vec<Wish> {
    let wishes =
        lop::Wishes::new(lop::Reference::Linked, corpus.links(number), corpus.trust(number), 0.0);
    wishes.all().map(|(pair, weight)| Wish { pair, weight: weight as f32 }).collect()
}

#[test]
fn pairs_are_learned_ordered_and_kept_apart_from_the_next_word() {
    let corpus = corpus(300);
    let learned = |threads: usize| {
        let mut trainer = Trainer::new(&corpus, &Options { coverage: false, ..options() }).unwrap();
        let lesson = Lesson::Pairs(&|number| wishes(&corpus, number));
        let job = Job::new(threads);
        let passed: Vec<f64> =
            (0..12).map(|epoch| trainer.pass(epoch, &lesson, &job).unwrap().value).collect();
        assert!(passed[11] > 0.2 * passed[0], "{passed:?}");
        trainer.model(Head::Pairs(2), 12).unwrap()
    };
    let network = learned(1);
    assert_eq!(network.bytes(), learned(3).bytes());

    let model = lop::Model::from_copy(network.bytes()).unwrap();
    assert_eq!(model.recipe().kind, lop::Kind::Neural);
    assert_eq!(model.recipe().reference, lop::Reference::Linked);
    let mut orderer = lop::Orderer::default();
    // Some of these orders can't be reached by exchanging neighbours; their pairs are known.
    let (mut right, mut all) = (0, 0);
    for number in 0..corpus.len() {
        let pairs = orderer.pairs(&model, &corpus.text().sentence(number));
        for Wish { pair: (left, later), weight } in wishes(&corpus, number) {
            let worth = pairs.get(left as usize, later as usize);
            right += usize::from((worth > 0.0) == (weight > 0.0));
            all += 1;
        }
    }
    assert!(right * 50 > all * 49, "{right} {all}");
    let src = corpus.text().sentence(6);
    let best = orderer.nbest(&model, &src, 3);
    assert_eq!(best[0].order, orderer.order(&model, &src, lop::Choice::Best));
    let pairs = orderer.pairs(&model, &src);
    let said = network.said(&src).jumps;
    assert_eq!(
        pairs.get(0, 2),
        (f64::from(said[src.len() + 2]) * 1073741824.0).round() / 1073741824.0
    );

    let found = Model::from_bytes(network.bytes().to_vec()).unwrap_err().to_string();
    assert!(found.contains("a network that orders pairs"), "{found}");
    let (next, _) = train(&corpus, &options(), &Job::new(1)).unwrap();
    let found = lop::Model::from_copy(next.bytes()).unwrap_err().to_string();
    assert!(found.contains("a network of the next word"), "{found}");
}

#[test]
fn the_slope_of_pairs_is_that_of_differences() {
    let corpus = corpus(4);
    let network = Trainer::new(&corpus, &Options { coverage: false, ..options() }).unwrap();
    let src = corpus.text().sentence(3);
    let said = network.model(Head::Pairs(0), 0).unwrap().said(&src);
    let wishes = wishes(&corpus, 3);
    let (more, _) = train::unsettled(&said, src.len(), &wishes, 1.0);
    for at in 0..said.jumps.len() {
        let value = |step: f32| {
            let mut moved = said.clone();
            moved.jumps[at] += step;
            train::unsettled(&moved, src.len(), &wishes, 1.0).1
        };
        let expected = (value(1e-2) - value(-1e-2)) / 2e-2;
        assert!((f64::from(more.jumps[at]) - expected).abs() < 1e-3, "{at}");
    }
}
