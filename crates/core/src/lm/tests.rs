//! Tests that span several files of the module: from text to scores.

use super::binary_layout::{BinaryHeader, BinaryLayout, SEAL};
use super::ngram::has_extension;
use super::ngram_source::NgramSource;
use super::*;
use crate::Job;
use crate::corpus::WordId;
use crate::error::{Place, Result};
use crate::storage::TempFolder;
use proptest::prelude::*;

const TOY: [&str; 9] =
    ["a b c a b", "a b d", "c a b c", "b a", "d d a b c", "a c b d", "b c a", "e a b", "f"];

fn corpus<'a>(lines: impl IntoIterator<Item = &'a str>, memory: usize) -> LmCorpus {
    let mut corpus = LmCorpus::new(memory, None);
    for line in lines {
        corpus.push(line, || Place { file: "text".into(), line: None }).unwrap();
    }
    corpus
}

pub(crate) fn model<'a>(
    lines: impl IntoIterator<Item = &'a str>,
    order: usize,
    memory: usize,
) -> Model {
    model_by(lines, order, memory, 1)
}

fn model_by<'a>(
    lines: impl IntoIterator<Item = &'a str>,
    order: usize,
    memory: usize,
    threads: usize,
) -> Model {
    let options = LmTrainOptions { order, prune: vec![], memory };
    let estimate = estimate(corpus(lines, memory), &options, &Job::new(threads)).unwrap();
    build_model(&estimate, memory, &Job::new(threads)).unwrap()
}

#[test]
fn threads_share_a_long_text_without_a_trace() {
    let mut drawn = 1_u32;
    let mut word = |_| {
        drawn = drawn.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        format!("longer-word-{}", (drawn >> 16) % 120)
    };
    let mut line = |_| (0..4).map(&mut word).collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = (0..30_000).map(&mut line).collect();
    let folder = TempFolder::new(None);
    let path = folder.new_path().unwrap();
    std::fs::write(&path, lines.join("\n")).unwrap();
    let written = |corpus, memory, threads| {
        let (job, arpa) = (Job::new(threads), folder.new_path().unwrap());
        let options = LmTrainOptions { order: 3, prune: vec![], memory };
        let estimate = estimate(corpus, &options, &job).unwrap();
        assert_eq!(estimate.trie().is_some(), memory > 1 << 20);
        write_arpa(&estimate, &arpa, &job).unwrap();
        let image = build_model(&estimate, memory, &job).unwrap();
        (std::fs::read(arpa).unwrap(), image.bytes().to_vec())
    };
    let expected = written(corpus(lines.iter().map(String::as_str), 1 << 20), 1 << 20, 1);
    for (memory, threads) in [(1 << 26, 1), (1 << 26, 3), (1 << 20, 2)] {
        let mut text = LmCorpus::new(memory, None);
        text.read(&path, &Job::new(threads)).unwrap();
        assert!(written(text, memory, threads) == expected, "{memory} {threads}");
    }
}

/// Return a state with all words of the history, relevant or not.
fn full_state(model: &Model, newest_first: &[WordId]) -> NgramState {
    let mut state = NgramState::EMPTY;
    for (index, &word) in newest_first.iter().take(model.order() - 1).enumerate() {
        state.words[index] = word;
        state.len += 1;
        let found = model.find_ngram(&newest_first[..=index]);
        state.backoffs[index] = found.map_or(0.0, |(_, backoff)| backoff);
    }
    state
}

fn sentences() -> impl Strategy<Value = Vec<String>> {
    let line = proptest::collection::vec(0_u8..6, 0..9).prop_map(|words| {
        words.iter().map(|word| format!("w{word}")).collect::<Vec<_>>().join(" ")
    });
    proptest::collection::vec(line, 1..12)
}

#[test]
fn the_toy_sentence_has_its_score() {
    let model = model(TOY, 3, 1 << 20);
    let score = model.score_line("a b c", (true, true)).score / std::f64::consts::LN_10;
    assert!((score + 2.155_887_5).abs() < 1e-6, "{score}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_minimal_state_scores_as_the_full_history_does(
        lines in sentences(),
        order in 1_usize..=8,
        words in proptest::collection::vec(0_u8..8, 0..30),
    ) {
        let model = model(lines.iter().map(String::as_str), order, 1 << 20);
        let (mut state, mut next) = (model.bos_state(), NgramState::EMPTY);
        let mut history = vec![BOS];
        for word in words {
            let id = model.id(&format!("w{word}"));
            let minimal = model.score(&state, id, &mut next);
            let full = model.score(&full_state(&model, &history), id, &mut NgramState::EMPTY.clone());
            prop_assert!((minimal - full).abs() < 1e-5, "{} {}", minimal, full);
            history.insert(0, id);
            state = next;
            // The state is minimal: its longest context has an extension.
            let kept = state.words();
            prop_assert_eq!(kept, &history[..kept.len()]);
            if !kept.is_empty() {
                prop_assert!(model.find_ngram(kept).is_some_and(|(_, backoff)| has_extension(backoff)));
            }
        }
    }

    #[test]
    fn many_look_ups_at_once_answer_as_one_by_one(
        lines in sentences(),
        words in proptest::collection::vec(0_u8..8, 0..60),
    ) {
        let model = model(lines.iter().map(String::as_str), 4, 1 << 20);
        let mut queries = Vec::new();
        let mut state = model.bos_state();
        let mut expected = Vec::new();
        for word in words {
            let id = model.id(&format!("w{word}"));
            queries.push((state, id));
            let mut next = NgramState::EMPTY;
            expected.push((model.look_up(&state, id, &mut next), next));
            state = next;
        }
        let mut next = vec![NgramState::EMPTY; queries.len()];
        let mut answers = Vec::new();
        model.look_up_all(&queries, &mut next, |answer| answers.push(answer));
        let found: Vec<_> = answers.into_iter().zip(next).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn memory_and_threads_change_no_byte(
        lines in sentences(), order in 1_usize..6, memory in 1_usize..2000, threads in 1_usize..5,
    ) {
        let texts = || lines.iter().map(String::as_str);
        let ample = model(texts(), order, 1 << 20);
        for memory in [memory, 1 << 20] {
            let other = model_by(texts(), order, memory, threads);
            prop_assert!(ample.bytes() == other.bytes());
        }
    }

    #[test]
    fn parts_give_the_bytes_of_the_whole_text(
        lines in sentences(),
        order in 1_usize..6,
        cuts in proptest::collection::vec(0_usize..12, 0..4),
        memory in 1_usize..2000,
        threads in 1_usize..5,
    ) {
        let texts: Vec<_> = lines.iter().map(String::as_str).collect();
        let mut ends: Vec<_> = cuts.into_iter().map(|cut| cut.min(texts.len())).collect();
        ends.extend([0, texts.len()]);
        ends.sort_unstable();
        let folder = TempFolder::new(None);
        let options = LmTrainOptions { order, prune: vec![], memory };
        let mut paths = Vec::new();
        for (number, piece) in ends.windows(2).enumerate() {
            paths.push(folder.new_path().unwrap());
            let part = corpus(texts[piece[0]..piece[1]].iter().copied(), memory);
            write_count_shard(part, &options, &paths[number], &Job::default()).unwrap();
        }
        let parts = CountShards::open(&paths, None).unwrap();
        prop_assert_eq!(parts.order(), order);
        let job = Job::new(threads);
        let joined = estimate_from_shards(parts, &options, &job).unwrap();
        let whole = estimate(corpus(texts, 1 << 20), &options, &Job::default()).unwrap();
        prop_assert_eq!(joined.summary(), whole.summary());
        let image = |estimate| build_model(estimate, 1 << 20, &Job::default()).unwrap();
        prop_assert!(image(&joined).bytes() == image(&whole).bytes());
    }

    #[test]
    fn any_bytes_are_counts_or_an_error(
        body in proptest::collection::vec(prop_oneof![0_u8..6, any::<u8>()], 0..80),
    ) {
        let folder = TempFolder::new(None);
        let path = folder.new_path().unwrap();
        std::fs::write(&path, count_shards::SEAL.seal(&[], &body)).unwrap();
        if let Ok(read) = CountShards::open(&[&path], None) {
            let options = LmTrainOptions { order: read.order(), prune: vec![], memory: 4096 };
            let _ = estimate_from_shards(read, &options, &Job::default());
        }
    }

    #[test]
    fn a_model_lists_the_n_grams_it_was_made_from(lines in sentences(), order in 1_usize..6) {
        let options = LmTrainOptions { order, prune: vec![0, 0, 1][..order.min(3)].into(), memory: 4096 };
        let texts = lines.iter().map(String::as_str);
        let estimate = estimate(corpus(texts, 4096), &options, &Job::default()).unwrap();
        let model = build_model(&estimate, 4096, &Job::default()).unwrap();
        for order in 1..=NgramSource::order(&model) {
            let list = |ngrams: &dyn NgramSource| -> Vec<_> {
                let found = ngrams.ngrams(order).unwrap().collect::<Result<Vec<_>>>().unwrap();
                found.iter().map(|g| (g.words, g.prob.abs(), g.backoff.to_bits())).collect()
            };
            prop_assert_eq!(list(&model), list(&estimate));
        }
    }

    #[test]
    fn no_header_makes_the_layout_panic(
        order in 1_usize..=8,
        seed: u64,
        counts in proptest::array::uniform8(prop_oneof![0_u64..9, Just(u64::MAX), any::<u64>()]),
        letters in prop_oneof![0_u64..99, any::<u64>()],
    ) {
        let header = BinaryHeader { order, seed, counts, letters };
        let numbers = header.to_numbers();
        if let Ok(read) = BinaryHeader::from_numbers(&numbers) {
            prop_assert_eq!(&read, &header);
            let _ = BinaryLayout::new(&read);
        }
        prop_assert!(Model::from_copy(&SEAL.seal(&numbers, &[])).is_err());
    }
}

#[test]
fn another_version_is_refused_with_its_number() {
    let bytes = model(TOY, 2, 1 << 20).bytes().to_vec();
    let mut later = bytes.clone();
    later[8..12].copy_from_slice(&(SEAL.version + 1).to_le_bytes());
    let error = Model::from_copy(&later).unwrap_err().to_string();
    assert!(error.starts_with("model: version 3 of the format; expected"), "{error}");
    assert!(Model::from_copy(&bytes).is_ok());
    assert!(Model::from_copy(&[]).is_err());
}
