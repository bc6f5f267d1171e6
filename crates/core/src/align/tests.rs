//! Properties of all aligners: links are inside the sentence, and the same for any number of
//! threads and after saving.

use super::*;
use crate::Job;
use crate::corpus::{Bitext, ReadOptions};
use crate::error::Error;
use proptest::prelude::*;

/// Return a small bitext with reordering, blank lines, one-word lines and a line that is too long.
fn toy() -> Bitext {
    let mut bitext = Bitext::default();
    let mut push = |src: &str, tgt: &str| bitext.push(src, tgt, ReadOptions::default());
    let mut seed = 12345u32;
    for k in 0..700 {
        let words: Vec<u32> = (0..1 + k % 7).map(|_| next(&mut seed) % 40).collect();
        let line = |mark: &str, words: &[u32]| {
            words.iter().map(|w| format!("{mark}{w}")).collect::<Vec<_>>().join(" ")
        };
        let mut moved = words.clone();
        moved.rotate_left(k % 2 % words.len());
        push(&line("s", &words), &line("t", &moved));
    }
    for (src_line, tgt_line) in [("", ""), ("s1", ""), ("", "t1"), ("s1", "t1")] {
        push(src_line, tgt_line);
    }
    push(&"s1 ".repeat(MAX_WORDS + 1), "t1");
    bitext
}

fn next(seed: &mut u32) -> u32 {
    *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    *seed >> 16
}

fn options(method: AlignmentModel) -> AlignerOptions {
    AlignerOptions { method, ..AlignerOptions::default() }
}

fn fitted(method: AlignmentModel, threads: usize) -> Aligner {
    Aligner::fit(&toy(), &options(method), &Job::new(threads)).unwrap()
}

fn aligned(aligner: &Aligner, choice: LinkSelection, threads: usize) -> (WordAlignments, Vec<f32>) {
    aligned_text(aligner, &toy(), choice, threads)
}

fn aligned_text(
    aligner: &Aligner,
    bitext: &Bitext,
    choice: LinkSelection,
    threads: usize,
) -> (WordAlignments, Vec<f32>) {
    let decoder = aligner.text_aligner(bitext.vocab());
    let aligned = decoder.align(bitext, choice, true, &Job::new(threads)).unwrap();
    (aligned.links, aligned.posteriors)
}

const METHODS: [AlignmentModel; 2] = [AlignmentModel::Hmm, AlignmentModel::Diagonal];

const CHOICES: [LinkSelection; 3] = [
    LinkSelection::Threshold(0.3),
    LinkSelection::Heuristic(SymmetrizationHeuristic::GrowDiagFinalAnd),
    LinkSelection::Heuristic(SymmetrizationHeuristic::Union),
];

#[test]
fn threads_do_not_change_the_model_or_the_links() {
    for method in METHODS {
        let one = fitted(method, 1);
        for threads in [2, 5] {
            assert_eq!(one.to_bytes(), fitted(method, threads).to_bytes());
            assert_eq!(aligned(&one, CHOICES[0], 1), aligned(&one, CHOICES[0], threads));
        }
    }
}

#[test]
fn a_saved_aligner_gives_the_same_links() {
    for method in METHODS {
        let aligner = fitted(method, 1);
        let bytes = aligner.to_bytes();
        let read = Aligner::from_bytes(&bytes).unwrap();
        assert_eq!(read.to_bytes(), bytes);
        for choice in CHOICES {
            assert_eq!(aligned(&aligner, choice, 1), aligned(&read, choice, 2));
        }
    }
}

#[test]
fn the_hmm_finds_words_that_were_moved() {
    let aligner = fitted(AlignmentModel::Hmm, 1);
    let bitext = toy();
    let (links, _) = aligned(&aligner, LinkSelection::default(), 1);
    let number = |id: u32| &bitext.vocab().word(id)[1..]; // "s7" and "t7" translate each other
    let is_right = |k: usize, link: &Link| {
        let src = bitext.src().sentence(k)[link.src.index()];
        number(src) == number(bitext.tgt().sentence(k)[link.tgt.index()])
    };
    let right: usize = (0..bitext.len())
        .map(|k| links.sentence(k).iter().filter(|link| is_right(k, link)).count())
        .sum();
    let all = links.flat().len();
    assert!(right * 100 >= all * 95 && all > 2000, "{right} of {all}");
}

#[test]
fn blank_and_long_lines_are_counted_and_have_no_links() {
    for method in METHODS {
        let aligner = fitted(method, 1);
        let summary = aligner.summary().unwrap();
        assert_eq!((summary.pairs, summary.blank, summary.too_long), (705, 3, 1));
        let (links, _) =
            aligned(&aligner, LinkSelection::Heuristic(SymmetrizationHeuristic::Union), 1);
        assert_eq!(links.len(), 705);
        assert!([700, 701, 702, 704].iter().all(|&k| links.sentence(k).is_empty()));
        assert_eq!(links.sentence(703).len(), 1); // the pair of one word each
    }
}

#[test]
fn an_empty_text_gives_an_aligner_that_works() {
    for method in METHODS {
        let aligner = Aligner::fit(&Bitext::default(), &options(method), &Job::new(2)).unwrap();
        let read = Aligner::from_bytes(&aligner.to_bytes()).unwrap();
        let (_, posteriors) = aligned(&read, CHOICES[0], 1);
        assert!(posteriors.iter().all(|posterior| posterior.is_finite()));
    }
}

#[test]
fn unknown_words_are_aligned_by_place_and_by_form() {
    let aligner = fitted(AlignmentModel::Hmm, 1);
    let mut bitext = Bitext::default();
    bitext.push("s1 s2 blue s3 Zanzibar s4", "t1 t2 Zanzibar t3 blau t4", ReadOptions::default());
    let choice = LinkSelection::Heuristic(SymmetrizationHeuristic::GrowDiagFinalAnd);
    let (links, _) = aligned_text(&aligner, &bitext, choice, 1);
    let has = |src, tgt| links.flat().contains(&Link::at(src, tgt));
    assert!(has(4, 2), "{links:?}");
    assert!(has(0, 0) && has(1, 1) && has(5, 5));
}

#[test]
fn mistakes_of_the_caller_are_errors() {
    let bad = AlignerOptions { null_prob: f32::NAN, ..AlignerOptions::default() };
    let error = Aligner::fit(&toy(), &bad, &Job::default()).unwrap_err();
    assert_eq!(error.to_string(), "null_prob: found NaN; expected 0.0001 to 0.99");
    let job = Job::default();
    job.stop();
    let stopped = Aligner::fit(&toy(), &AlignerOptions::default(), &job);
    assert!(matches!(stopped, Err(Error::Interrupted)));
}

#[test]
fn every_damaged_byte_and_every_cut_is_noticed() {
    for method in METHODS {
        let bytes = fitted(method, 1).to_bytes();
        for at in (0..bytes.len()).step_by(37).chain(0..64) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x41;
            assert!(Aligner::from_bytes(&damaged).is_err(), "byte {at}");
            assert!(Aligner::from_bytes(&bytes[..at]).is_err(), "cut at {at}");
        }
    }
}

#[test]
fn link_rates_are_shares_and_unknown_words_have_none() {
    let text = toy();
    for method in METHODS {
        let aligner = fitted(method, 1);
        let [src, tgt] = aligner.link_rates(text.vocab());
        assert_eq!(src.len(), text.vocab().len());
        assert!(src.iter().chain(&tgt).all(|rate| (0.0..1.0).contains(rate)));
        let (of_src, of_tgt) = (text.vocab().id("s1").unwrap(), text.vocab().id("t1").unwrap());
        assert!(src[of_src as usize] > 0.5 && tgt[of_tgt as usize] > 0.5);
        assert_eq!((src[of_tgt as usize], tgt[of_src as usize]), (0.0, 0.0));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// A body with a valid checksum may contain anything; decoding returns a value or an error.
    #[test]
    fn random_bodies_never_panic(
        at in 0usize..4000,
        value: u8,
        tail in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        let bytes = file_of_toy();
        let mut body = bytes[model_file::SEAL.size()..].to_vec();
        let at = at % body.len();
        body[at] = value;
        body.truncate(body.len().saturating_sub(tail.len() % 3));
        body.extend(&tail[..tail.len() % 5]);
        if let Ok(aligner) = Aligner::from_bytes(&model_file::SEAL.seal(&[], &body)) {
            let (_, posteriors) = aligned(&aligner, CHOICES[0], 1);
            prop_assert!(posteriors.iter().all(|posterior| posterior.is_finite()));
        }
    }
}

fn file_of_toy() -> &'static [u8] {
    static BYTES: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
    BYTES.get_or_init(|| fitted(AlignmentModel::Hmm, 1).to_bytes())
}
