//! Tables against the counts they come from, and damaged tables.

use super::*;
use crate::Job;
use crate::align::{Link, WordAlignments};
use crate::corpus::{Bitext, WordId};
use crate::error::Place;
use crate::extract::tests::{corpus, random_corpus};
use crate::extract::{Counts, ExtractOptions, Strictness};
use crate::orientation::{Direction, Model};
use crate::storage::Blob;
use std::fs;
use std::path::PathBuf;

fn path(name: &str) -> PathBuf {
    let id = std::thread::current().id();
    std::env::temp_dir().join(format!("wayword-table.{}.{id:?}.{name}", std::process::id()))
}

fn counts(lines: &[(&str, &str, &str)], max_length: usize) -> (Bitext, Counts) {
    let (bitext, links) = corpus(lines);
    let options = ExtractOptions { max_length, ..ExtractOptions::default() };
    let counts = Counts::of(&bitext, &links, &options, &Job::default()).unwrap();
    (bitext, counts)
}

const TOY: [(&str, &str, &str); 3] = [
    ("das haus ist klein", "the house is small", "0-0 1-1 2-2 3-3"),
    ("das ist ein buch", "this is a book", "0-0 1-1 2-2 3-3"),
    ("das buch war da", "the book is there", "0-0 1-1 2-2 3-3"),
];

fn make(name: &str, lines: &[(&str, &str, &str)], options: &TableOptions) -> PathBuf {
    let (bitext, counts) = counts(lines, 7);
    let path = path(name);
    build(&counts, Some(&bitext), options, &path, "test", &Job::default()).unwrap();
    path
}

/// An option as text and numbers.
type Shown = (String, String, [f32; 4], Option<(u64, u64)>, Vec<RowScores>);

fn look(table: &PhraseTable, phrase: &str) -> crate::Result<Vec<Shown>> {
    let ids: Option<Vec<WordId>> =
        phrase.split(' ').map(|word| table.src_words().id(word)).collect();
    let Some(ids) = ids else { return Ok(Vec::new()) };
    let show = |option: OptionView<'_>| {
        let words: Vec<_> = option.tgt().map(|id| table.tgt_words().word(id).unwrap()).collect();
        let links: Vec<Link> = option.links().collect();
        let mut text = String::new();
        WordAlignments::write_sentence(&links, &mut text);
        let rows = Model::ALL
            .into_iter()
            .flat_map(|model| Direction::ALL.into_iter().map(move |direction| (model, direction)));
        let rows = rows.filter_map(|(model, direction)| option.orientation(model, direction));
        (words.join(" "), text, option.scores, option.counts, rows.copied().collect())
    };
    table.options(&ids)?.map(|option| option.map(show)).collect()
}

#[test]
fn orientation_counts_become_smoothed_probabilities() {
    let p = |row: RowScores| row.map(f32::exp);
    let close = |found: &[f32], expected: &[f32]| {
        assert_eq!(found.len(), expected.len());
        found.iter().zip(expected).for_each(|(a, b)| assert!((a - b).abs() < 1e-6, "{a} {b}"));
    };
    let row = p(row_scores(&[2, 0, 3, 2], 0.5));
    close(&row[..4], &[0.277778, 0.055556, 0.388889, 0.277778]);
    close(&row[4..], &[0.294118, 0.058824, 0.647059]);
}

/// Large enough for many stretches, ranges and pieces where memory is little.
#[test]
fn any_threads_and_memory_give_the_same_table() {
    let (bitext, links) = random_corpus(5, 20_000);
    let counts_of = |memory, threads| {
        let options = ExtractOptions { memory, ..ExtractOptions::default() };
        Counts::of(&bitext, &links, &options, &Job::new(threads)).unwrap()
    };
    let plain = TableOptions::default();
    let kinds = [
        plain.clone(),
        TableOptions {
            discount: Discount::KneserNey,
            condition: Condition::Source,
            ..plain.clone()
        },
        TableOptions { significance: Some(Threshold::AlphaMinus), top: Some(2), ..plain },
    ];
    let (whole, pieces) = (counts_of(1 << 30, 1), counts_of(1 << 20, 3));
    let file = path("counts");
    pieces.save(&file).unwrap();
    let opened = Counts::open(&file).unwrap();
    assert!(opened.run.stretches(1 << 16).len() > 2);
    for options in kinds {
        let table = |counts: &Counts, memory, threads| {
            let (path, options) = (path("any"), TableOptions { memory, ..options.clone() });
            let job = Job::new(threads);
            let summary = build(counts, Some(&bitext), &options, &path, "test", &job).unwrap();
            let bytes = fs::read(&path).unwrap();
            fs::remove_file(path).unwrap();
            (summary, bytes)
        };
        let expected = table(&whole, 1 << 30, 1);
        assert!(expected == table(&pieces, 1 << 30, 3));
        assert!(expected == table(&opened, 1 << 20, 2));
    }
    fs::remove_file(file).unwrap();
}

#[test]
fn a_toy_corpus_has_the_scores_that_can_be_counted_on_fingers() {
    let path = make("toy", &TOY, &TableOptions::default());
    let table = PhraseTable::open(&path).unwrap();
    let score = |src: &str, tgt: &str| {
        let options = look(&table, src).unwrap();
        options.into_iter().find(|option| option.0 == tgt).unwrap().2.map(f32::exp)
    };
    let close = |found: f32, expected: f32| assert!((found - expected).abs() < 1e-6, "{found}");
    let [phi_fe, lex_fe, phi_ef, lex_ef] = score("das", "the");
    close(phi_fe, 1.0);
    close(lex_fe, 1.0);
    close(phi_ef, 2.0 / 3.0);
    close(lex_ef, 2.0 / 3.0);
    let [phi_fe, _, phi_ef, _] = score("ist", "is");
    close(phi_ef, 1.0);
    close(phi_fe, 2.0 / 3.0);
    close(score("das haus", "the house")[3], 2.0 / 3.0);
    let options = look(&table, "das").unwrap();
    let found: Vec<_> = options.iter().map(|one| (one.0.as_str(), one.3)).collect();
    assert_eq!(found, [("the", Some((2, 2))), ("this", Some((1, 1)))]);
    assert_eq!(look(&table, "haus das").unwrap(), []);
    assert_eq!(look(&table, "unbekannt").unwrap(), []);
    table.verify().unwrap();
    fs::remove_file(path).unwrap();
}

#[test]
fn little_memory_gives_the_same_table() {
    let (bitext, links) = crate::extract::tests::random_corpus(5, 4000);
    let counts = Counts::of(&bitext, &links, &ExtractOptions::default(), &Job::default()).unwrap();
    for discount in [Discount::None, Discount::KneserNey] {
        let of = |memory| {
            let options = TableOptions { memory, discount, ..TableOptions::default() };
            let path = path("memory");
            build(&counts, None, &options, &path, "", &Job::default()).unwrap();
            let bytes = std::fs::read(&path).unwrap();
            std::fs::remove_file(&path).unwrap();
            bytes
        };
        assert!(of(1 << 12) == of(1 << 40));
    }
}

#[test]
fn blocks_are_sorted_as_text_is() {
    let lines = [("a b", "x", "0-0 1-0"), ("a", "~ |", "0-0 0-1"), ("a ~", "}", "0-0 1-0")];
    let path = make("sorted", &lines, &TableOptions::default());
    let table = PhraseTable::open(&path).unwrap();
    let text = |words: WordIter<'_>| {
        let words: Vec<_> = words.map(|id| table.src_words().word(id).unwrap()).collect();
        words.join(" ") + " |||"
    };
    let found: Vec<String> = table.blocks().map(|block| text(block.unwrap().0)).collect();
    assert_eq!(found, ["a b |||", "a |||", "a ~ |||"]);
    assert!(found.is_sorted());
    fs::remove_file(path).unwrap();
}

#[test]
fn packed_scores_are_near() {
    let exact = make("exact", &TOY, &TableOptions::default());
    let packed = make("packed", &TOY, &TableOptions { packed: true, ..TableOptions::default() });
    let tables = (PhraseTable::open(&exact).unwrap(), PhraseTable::open(&packed).unwrap());
    for phrase in ["das", "ist", "das haus", "buch war da"] {
        let (exact, packed) = (look(&tables.0, phrase).unwrap(), look(&tables.1, phrase).unwrap());
        for (exact, packed) in exact.iter().zip(&packed) {
            assert_eq!((&exact.0, &exact.1, &exact.4), (&packed.0, &packed.1, &packed.4));
            let near = |(a, b): (f32, f32)| (a - b).abs() <= 0.5 / 512.0 + 1e-6;
            assert!(exact.2.into_iter().zip(packed.2).all(near));
        }
    }
    assert!(tables.1.bytes() < tables.0.bytes());
    fs::remove_file(exact).unwrap();
    fs::remove_file(packed).unwrap();
}

#[test]
fn long_phrases_keep_their_links() {
    let words: Vec<String> = (0..40).map(|at| format!("w{at}")).collect();
    let (line, links): (String, Vec<String>) =
        (words.join(" "), (0..40).map(|at| format!("{at}-{}", 39 - at)).collect());
    let links = links.join(" ");
    let (_, counts) = counts(&[(&line, &line, &links)], 40);
    let path = path("long");
    build(&counts, None, &TableOptions::default(), &path, "", &Job::default()).unwrap();
    let table = PhraseTable::open(&path).unwrap();
    let found = look(&table, &line).unwrap();
    assert_eq!((found.len(), found[0].1.as_str()), (1, links.as_str()));
    fs::remove_file(path).unwrap();
}

#[test]
fn the_largest_links_win_a_tie_in_moses_way_only() {
    let lines = [("a b", "x", "0-0"), ("a b", "x", "1-0")];
    let (bitext, _) = counts(&lines, 7);
    let mut links = WordAlignments::default();
    links.push([Link::new(0, 0)]);
    links.push([Link::new(1, 0)]);
    for (strictness, expected) in [(Strictness::Strict, "0-0"), (Strictness::Moses, "1-0")] {
        let options = ExtractOptions { strictness, ..ExtractOptions::default() };
        let counts = Counts::of(&bitext, &links, &options, &Job::default()).unwrap();
        let path = path("tie");
        build(&counts, None, &TableOptions::default(), &path, "", &Job::default()).unwrap();
        let table = PhraseTable::open(&path).unwrap();
        assert_eq!(look(&table, "a b").unwrap()[0].1, expected);
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn a_damaged_table_gives_an_error_or_what_was_written() {
    for packed in [false, true] {
        let path = make("whole", &TOY, &TableOptions { packed, ..TableOptions::default() });
        let whole = fs::read(&path).unwrap();
        let table = PhraseTable::open(&path).unwrap();
        let phrases = ["das", "das haus", "ist", "ist klein", "buch", "haus das", "da", "war da"];
        let expected: Vec<_> = phrases.map(|phrase| look(&table, phrase).unwrap()).into();
        drop(table);
        let open = |bytes| PhraseTable::from_blob(Blob::Memory(bytes), Place::file(&path));
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 8);
            let Ok(table) = open(bytes) else { continue };
            for (phrase, expected) in phrases.iter().zip(&expected) {
                // A broken slot of the index may hide a phrase, but never invents one.
                let found = look(&table, phrase);
                assert!(
                    found.is_err() || found.is_ok_and(|one| one.is_empty() || one == *expected)
                );
            }
            let scan: crate::Result<Vec<_>> = table.blocks().collect();
            assert!(table.verify().is_err() || scan.is_ok());
        }
        for length in 0..whole.len() {
            assert!(open(whole[..length].to_vec()).is_err());
        }
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn a_file_that_is_no_table_is_told_so() {
    let path = path("text");
    fs::write(&path, "haus ||| house ||| 1 1 1 1\n").unwrap();
    let error = PhraseTable::open(&path).unwrap_err().to_string();
    let place = path.display();
    assert_eq!(
        error,
        format!(
            "{place}: something else; expected a phrase table in version 2 of its format; \
             copy the file again, or make it again with `wayword extract`"
        )
    );
    fs::remove_file(path).unwrap();
}

proptest::proptest! {
    #[test]
    fn any_bytes_give_an_error_or_options(
        flips in proptest::collection::vec((0usize..1 << 20, 0u8..), 0..20),
        resealed in proptest::prelude::any::<bool>(),
    ) {
        use std::sync::OnceLock;
        static WHOLE: OnceLock<Vec<u8>> = OnceLock::new();
        let whole = WHOLE.get_or_init(|| {
            let path = make("fuzz", &TOY, &TableOptions::default());
            let bytes = fs::read(&path).unwrap();
            fs::remove_file(path).unwrap();
            bytes
        });
        let mut bytes = whole.clone();
        for (at, value) in flips {
            let at = at % bytes.len();
            bytes[at] = value;
        }
        if resealed {
            reseal(&mut bytes);
        }
        let blob = Blob::Memory(bytes);
        let place = Place { file: "fuzz".into(), line: None };
        if let Ok(table) = PhraseTable::from_blob(blob, place) {
            for phrase in ["das", "ist klein", "buch war da"] {
                let _ = look(&table, phrase);
            }
            for block in table.blocks().take(100) {
                let Ok((words, options)) = block else { break };
                words.for_each(|id| assert!(table.src_words().word(id).is_some()));
                for option in options.take(1000) {
                    let Ok(option) = option else { break };
                    option.tgt().for_each(|id| assert!(table.tgt_words().word(id).is_some()));
                    assert!(option.scores.iter().all(|score| score.is_finite()));
                }
            }
        }
    }
}

/// Makes the checksums of a damaged table right again, as somebody with bad intent would.
fn reseal(bytes: &mut Vec<u8>) {
    use super::format::{SEAL, START};
    use crate::storage::long_at;
    use xxhash_rust::xxh3::xxh3_64;
    let mut numbers: Vec<u64> =
        (0..SEAL.numbers).map(|at| long_at(bytes, 32 + 8 * at).unwrap()).collect();
    for part in numbers[4..].chunks_exact_mut(3) {
        let end = part[0].saturating_add(part[1]) as usize;
        if let Some(part_bytes) = bytes.get(part[0] as usize..end) {
            part[2] = xxh3_64(part_bytes);
        }
    }
    *bytes = SEAL.seal(&numbers, &bytes[START..]);
}
