//! What taggers and classes promise, on small text.

use super::exchange::n_log_n;
use super::form::{Form, Scratch, shape_of};
use super::*;
use crate::corpus::{Text, Vocab};
use crate::error::{Error, Place};
use crate::job::Job;
use proptest::collection::vec;
use proptest::prelude::*;

fn place() -> Place {
    Place { file: "tagger".into(), line: None }
}

const OPTIONS: FitOptions = FitOptions { epochs: 4, parts: 2, seed: 1 };

/// Sentences of a language where the tag is the ending and chunks are runs of `d` and `n`.
fn treebank(sentences: &[Vec<u8>], with_chunks: bool) -> Treebank {
    let mut treebank = Treebank::default();
    for sentence in sentences {
        let words: Vec<String> = sentence.iter().map(|&word| word_of(word)).collect();
        let tags: Vec<&str> = sentence.iter().map(|&word| tag_of(word)).collect();
        let labels: Vec<&str> = (0..tags.len())
            .map(|at| match (at.checked_sub(1).map(|before| tags[before]), tags[at]) {
                (_, "V") => "O",
                (Some("D"), "N") => "I-NP*",
                (_, "D") => "B-NP",
                _ => "B-NP*",
            })
            .collect();
        let words = words.iter().map(String::as_str);
        let labels = with_chunks.then(|| labels.iter().copied());
        treebank.push(words, tags.iter().copied(), labels).unwrap();
    }
    treebank
}

fn word_of(word: u8) -> String {
    format!("w{}{}", word / 3, ["de", "ne", "ve"][usize::from(word % 3)])
}

fn tag_of(word: u8) -> &'static str {
    ["D", "N", "V"][usize::from(word % 3)]
}

/// Twenty sentences of three words in a fixed order.
fn grammar() -> Vec<Vec<u8>> {
    (0..20).map(|number| vec![number * 3, number * 3 + 1, (number * 3 + 2) % 60]).collect()
}

fn tag_words<'a>(tagger: &'a Tagger, words: &[&str]) -> Vec<&'a str> {
    let layers = tagger.tag(words.iter().copied(), &mut Worker::default());
    layers.tags.iter().map(|&tag| tagger.tag_names()[usize::from(tag)].as_str()).collect()
}

#[test]
fn an_ending_tells_the_tag_of_a_new_word() {
    let tagger = Tagger::fit(&treebank(&grammar(), false), OPTIONS, &Job::default()).unwrap();
    assert_eq!(tag_words(&tagger, &["xyde", "xyne", "xyve"]), ["D", "N", "V"]);
    assert_eq!(tagger.chunk_names(), None);
}

#[test]
fn chunks_and_their_heads_are_learned() {
    let tagger = Tagger::fit(&treebank(&grammar(), true), OPTIONS, &Job::default()).unwrap();
    let layers = tagger.tag(["xyde", "xyne", "xyve"].into_iter(), &mut Worker::default());
    let names = tagger.chunk_names().unwrap();
    let labels: Vec<&str> =
        layers.chunks.unwrap().iter().map(|&label| names[usize::from(label)].as_str()).collect();
    assert_eq!(labels, ["B-NP", "I-NP*", "O"]);
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let treebank = treebank(&grammar(), true);
    let alone = Tagger::fit(&treebank, OPTIONS, &Job::new(1)).unwrap();
    let shared = Tagger::fit(&treebank, OPTIONS, &Job::new(3)).unwrap();
    assert_eq!(alone.to_bytes(), shared.to_bytes());
}

#[test]
fn a_saved_tagger_is_the_same_and_a_damaged_one_is_refused() {
    let tagger = Tagger::fit(&treebank(&grammar(), true), OPTIONS, &Job::default()).unwrap();
    let bytes = tagger.to_bytes();
    assert_eq!(Tagger::from_bytes(&bytes, &place()).unwrap().to_bytes(), bytes);
    for at in (0..bytes.len()).step_by(bytes.len() / 50 + 1) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        assert!(Tagger::from_bytes(&damaged, &place()).is_err(), "byte {at}");
        assert!(Tagger::from_bytes(&bytes[..at], &place()).is_err(), "first {at} bytes");
    }
    let error = Tagger::from_bytes(b"WAYALIGN and more than twenty-eight bytes", &place());
    assert_eq!(
        error.unwrap_err().to_string(),
        "tagger: something else; expected a tagger in version 2 of its \
         format; copy the file again, or fit the tagger again"
    );
}

#[test]
fn options_that_cannot_be_used_are_named() {
    let treebank = treebank(&grammar(), false);
    let told = |options| Tagger::fit(&treebank, options, &Job::default()).unwrap_err().to_string();
    assert_eq!(told(FitOptions { epochs: 0, ..OPTIONS }), "epochs: found 0; expected 1 to 1000");
    assert_eq!(told(FitOptions { parts: 1, ..OPTIONS }), "parts: found 1; expected 2 to 100");
    assert_eq!(
        told(FitOptions { parts: 21, ..OPTIONS }),
        "sentences: found 20; expected at least 21"
    );
}

#[test]
fn a_stopped_job_ends_training() {
    let job = Job::default();
    job.stop();
    let stopped = Tagger::fit(&treebank(&grammar(), true), OPTIONS, &job);
    assert!(matches!(stopped, Err(Error::Interrupted)));
}

#[test]
fn shapes_tell_scripts_and_cases() {
    let shapes = ["Haus", "USA", "3,5", "iPhone-7", "日本", "テレビ", "たべる", "कार", "م"];
    let shapes: Vec<String> = shapes.iter().map(|word| shape_of(word)).collect();
    assert_eq!(shapes, ["Xx", "X", "d,d", "xXx-d", "h", "k", "i", "a", "a"]);
}

#[test]
fn endings_are_counted_in_characters() {
    let mut scratch = Scratch::default();
    let [long, short] = ["größe", "e"].map(|word| Form::of(word, &mut scratch));
    assert_eq!(long.suffixes[0], short.suffixes[0]);
    assert_eq!(short.suffixes[1..], [0; 4]);
    assert_eq!(long.suffixes[4], long.lower);
    assert_eq!(Form::of("", &mut scratch).suffixes, [0; 5]);
}

proptest! {
    #[test]
    fn chunk_labels_only_continue_what_is_open(
        sentences in vec(vec(0u8..30, 1..8), 4..12),
        words in vec("[a-c]{1,3}(de|ne|ve)?", 1..10),
    ) {
        let tagger = Tagger::fit(&treebank(&sentences, true), OPTIONS, &Job::default()).unwrap();
        let layers = tagger.tag(words.iter().map(String::as_str), &mut Worker::default());
        let names = tagger.chunk_names().unwrap();
        let labels = layers.chunks.unwrap();
        prop_assert_eq!(labels.len(), words.len());
        let mut is_open = false;
        for &label in &labels {
            let name = &names[usize::from(label)];
            prop_assert!(is_open || !name.starts_with("I-"));
            is_open = name != "O";
        }
    }

    #[test]
    fn any_bytes_are_a_tagger_or_an_error(bytes in vec(any::<u8>(), 0..100)) {
        prop_assert!(Tagger::from_bytes(&bytes, &place()).is_err());
    }
}

// --- classes ---

fn text_of(lines: &[String]) -> (Text, Vocab) {
    let (mut text, mut vocab) = (Text::default(), Vocab::default());
    lines.iter().for_each(|line| text.push_line(line, &mut vocab));
    (text, vocab)
}

const CLASSES: ClassOptions = ClassOptions { classes: 3, min_count: 1, rounds: 20, seed: 1 };

fn cluster(lines: &[String], options: ClassOptions, threads: usize) -> (Classes, ClassSummary) {
    let (text, vocab) = text_of(lines);
    Classes::fit_text(&text, &vocab, options, &Job::new(threads)).unwrap()
}

/// Log likelihood per word, straight from the definition.
fn slow_likelihood(lines: &[String], classes: &Classes) -> f64 {
    use std::collections::BTreeMap;
    let mut tokens: Vec<Vec<(String, i64)>> = Vec::new();
    for line in lines.iter().filter(|line| !line.trim().is_empty()) {
        let words = line.split_whitespace();
        let words = words.map(|word| (word.to_owned(), i64::from(classes.class_of(word))));
        let edge = ("</s>".to_owned(), -1);
        tokens.push(std::iter::once(edge.clone()).chain(words).chain([edge]).collect());
    }
    let (mut pairs, mut firsts) = (BTreeMap::new(), BTreeMap::new());
    let (mut seconds, mut words) = (BTreeMap::new(), BTreeMap::new());
    for line in &tokens {
        for pair in line.windows(2) {
            *pairs.entry((pair[0].1, pair[1].1)).or_insert(0.0) += 1.0;
            *firsts.entry(pair[0].1).or_insert(0.0) += 1.0;
            *seconds.entry(pair[1].1).or_insert(0.0) += 1.0;
            *words.entry(pair[1].clone()).or_insert(0.0) += 1.0;
        }
    }
    let (mut sum, mut count) = (0.0_f64, 0.0);
    for pair in tokens.iter().flat_map(|line| line.windows(2)) {
        let of_class = words[&pair[1]] / seconds[&pair[1].1];
        let of_pair: f64 = pairs[&(pair[0].1, pair[1].1)] / firsts[&pair[0].1];
        sum += f64::ln(of_class) + of_pair.ln();
        count += 1.0;
    }
    if count > 0.0 { sum / count } else { 0.0 }
}

#[test]
fn words_in_the_same_places_share_a_class() {
    let mut lines = Vec::new();
    for article in ["the", "a"] {
        for noun in ["cat", "dog", "cow"] {
            for verb in ["sleeps", "eats"] {
                lines.push(format!("{article} {noun} {verb}"));
            }
        }
    }
    let (classes, summary) = cluster(&lines, CLASSES, 1);
    let class = |word| classes.class_of(word);
    assert_eq!(class("the"), class("a"));
    assert_eq!(class("cat"), class("cow"));
    assert_eq!(class("sleeps"), class("eats"));
    assert_ne!(class("the"), class("cat"));
    assert_ne!(class("cat"), class("eats"));
    // All that is left open is which of 2, 3 and 2 words stands in its place, over 4 tokens.
    let expected = -(2.0_f64.ln() + 3.0_f64.ln() + 2.0_f64.ln()) / 4.0;
    assert!((summary.likelihood - expected).abs() < 1e-9);
}

#[test]
fn a_new_word_has_the_class_of_words_that_look_like_it() {
    let mut lines: Vec<String> = Vec::new();
    for number in 0..20 {
        let (ing, ed) = (number, number + 100);
        lines.push(format!("is ab{}ing", letters(ing)));
        lines.push(format!("has cd{}ed", letters(ed)));
    }
    let (classes, _) = cluster(&lines, ClassOptions { classes: 4, min_count: 2, ..CLASSES }, 1);
    assert_eq!(classes.class_of("sleeping"), classes.class_of("jumping"));
    assert_ne!(classes.class_of("sleeping"), classes.class_of("jumped"));
}

fn letters(number: usize) -> String {
    number.to_string().chars().map(|digit| char::from(digit as u8 - b'0' + b'f')).collect()
}

#[test]
fn wrong_numbers_of_classes_are_refused() {
    let (text, vocab) = text_of(&[]);
    let told = |options| {
        Classes::fit_text(&text, &vocab, options, &Job::default()).unwrap_err().to_string()
    };
    assert_eq!(
        told(ClassOptions { classes: 1, ..CLASSES }),
        "classes: found 1; expected 2 to 10000"
    );
    assert_eq!(
        told(ClassOptions { min_count: 0, ..CLASSES }),
        "min_count: found 0; expected at least 1"
    );
    assert_eq!(told(ClassOptions { rounds: 0, ..CLASSES }), "rounds: found 0; expected 1 to 1000");
}

#[test]
fn nothing_has_classes_too() {
    let (classes, summary) = cluster(&[], CLASSES, 2);
    assert_eq!((classes.class_of("word"), summary.words, summary.units), (0, 0, 0));
    assert_eq!(n_log_n(0), 0.0);
}

proptest! {
    #[test]
    fn the_likelihood_is_that_of_the_definition_and_threads_change_nothing(
        lines in vec("([a-h] ){0,8}", 1..20),
        classes in 2usize..5,
    ) {
        let options = ClassOptions { classes, ..CLASSES };
        let (found, summary) = cluster(&lines, options, 1);
        let slow = slow_likelihood(&lines, &found);
        prop_assert!((summary.likelihood - slow).abs() < 1e-9, "{} {slow}", summary.likelihood);
        let (shared, same) = cluster(&lines, options, 3);
        prop_assert_eq!(found.entries().collect::<Vec<_>>(), shared.entries().collect::<Vec<_>>());
        prop_assert_eq!(summary, same);
    }

    #[test]
    fn no_single_move_gains_once_nothing_moves(lines in vec("([a-f] ){1,6}", 2..12)) {
        let options = ClassOptions { rounds: 100, ..CLASSES };
        let (found, summary) = cluster(&lines, options, 1);
        prop_assume!(summary.moved.last() == Some(&0));
        let entries: Vec<(String, u32)> =
            found.entries().map(|(word, class)| (word.to_owned(), class)).collect();
        for at in 0..entries.len() {
            for class in 0..3 {
                let mut other = entries.clone();
                other[at].1 = class;
                let pairs = other.iter().map(|(word, class)| (word.as_str(), *class));
                let moved = slow_likelihood(&lines, &Classes::from_entries(pairs).unwrap());
                prop_assert!(moved <= summary.likelihood + 1e-6);
            }
        }
    }
}
