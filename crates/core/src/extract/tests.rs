//! Blocks and orientations against a slow twin, and the examples of the definition.

use super::*;
use crate::Job;
use crate::align::{Link, WordAlignments};
use crate::corpus::{Bitext, ReadOptions, SrcPos, TgtPos};
use crate::orientation::{Class, Classes, Direction, Model, row_of};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::path::Path;

type Sides = (u32, u32, u32, u32);

/// Every block, by trying all of them: source first and last, target first and last.
fn slow_blocks(src: u32, tgt: u32, links: &[Link], max_length: u32) -> BTreeSet<Sides> {
    let mut blocks = BTreeSet::new();
    for u in 0..src {
        for v in u..src.min(u.saturating_add(max_length)) {
            for s in 0..tgt {
                for t in s..tgt.min(s.saturating_add(max_length)) {
                    let inside = |link: &Link| {
                        ((u..=v).contains(&link.src.0), (s..=t).contains(&link.tgt.0))
                    };
                    let some = links.iter().any(|link| inside(link) == (true, true));
                    if some && links.iter().all(|link| inside(link).0 == inside(link).1) {
                        blocks.insert((u, v, s, t));
                    }
                }
            }
        }
    }
    blocks
}

/// The orientation of a block, word by word as it is defined.
fn slow_orientation(
    (u, v, s, t): Sides,
    (src, tgt): (u32, u32),
    links: &[Link],
    blocks: Option<&BTreeSet<Sides>>,
    direction: Direction,
    strictness: Strictness,
) -> Class {
    let prev = direction == Direction::Prev;
    if prev && s == 0 {
        return if u == 0 { Class::M } else { Class::Dr };
    }
    if !prev && t == tgt - 1 {
        return if v == src - 1 { Class::M } else { Class::Dr };
    }
    let row = if prev { s - 1 } else { t + 1 };
    let linked =
        |column: Option<u32>| column.is_some_and(|column| links.contains(&Link::new(column, row)));
    let (near, far) =
        if prev { (u.checked_sub(1), Some(v + 1)) } else { (Some(v + 1), u.checked_sub(1)) };
    let by_link = (linked(near) && !linked(far), linked(far) && !linked(near));
    let (monotone, swap, left) = match blocks {
        None => {
            let own: Vec<u32> =
                links.iter().filter(|link| link.tgt.0 == row).map(|link| link.src.0).collect();
            let right_of = own.iter().any(|&column| column > v);
            let left_of = own.iter().any(|&column| column < u);
            let left = if prev { right_of && !left_of } else { left_of && !right_of };
            (by_link.0, by_link.1, left)
        }
        Some(blocks) => {
            let loose = strictness == Strictness::Moses;
            // Moses asks for blocks that end in the row, in both directions.
            let at = |block: &&Sides| if prev || loose { block.3 == row } else { block.2 == row };
            let own: Vec<_> = blocks.iter().filter(at).collect();
            let behind = own.iter().any(|block| block.0 == v + 1);
            let before = own.iter().any(|block| block.1 + 1 == u);
            let (monotone, swap) = if prev { (before, behind) } else { (behind, before) };
            let left = own.iter().any(|block| {
                // Nor does Moses look at the last column for a jump from there.
                if prev {
                    block.0 > v + 1 && !(loose && block.0 == src - 1)
                } else {
                    block.1 + 1 < u
                }
            });
            assert!(loose || !(monotone && swap), "blocks at one row overlap in the source");
            (monotone || loose && by_link.0, swap || loose && by_link.1, left)
        }
    };
    match (monotone, swap, left) {
        (true, ..) => Class::M,
        (_, true, _) => Class::S,
        (_, _, true) => Class::Dl,
        _ => Class::Dr,
    }
}

fn fast(
    src: u32,
    tgt: u32,
    links: &[Link],
    max_length: usize,
    strictness: Strictness,
) -> Vec<(Sides, Vec<Link>, Orientations)> {
    let mut found = Vec::new();
    let lengths = (src as usize, tgt as usize);
    Grid::default().extract(lengths, links, max_length, strictness, |block, own, seen| {
        let Block { src: Span { first: SrcPos(u), last: SrcPos(v) }, tgt } = block;
        let Span { first: TgtPos(s), last: TgtPos(t) } = tgt;
        found.push(((u, v, s, t), own.to_vec(), seen));
    });
    found
}

fn sorted_links(pairs: &[(u32, u32)]) -> Vec<Link> {
    let links: BTreeSet<Link> = pairs.iter().map(|&(src, tgt)| Link::new(src, tgt)).collect();
    links.into_iter().collect()
}

prop_compose! {
    fn sentence()(src in 1u32..9, tgt in 1u32..9)(
        links in proptest::collection::vec((0..src, 0..tgt), 0..14),
        src in Just(src),
        tgt in Just(tgt),
    ) -> (u32, u32, Vec<Link>) {
        (src, tgt, sorted_links(&links))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn blocks_and_orientations_equal_the_slow_twin(
        (src, tgt, links) in sentence(),
        max_length in 1usize..9,
        loose in any::<bool>(),
    ) {
        let strictness = if loose { Strictness::Moses } else { Strictness::Strict };
        let small = slow_blocks(src, tgt, &links, max_length as u32);
        let all = slow_blocks(src, tgt, &links, u32::MAX);
        let found = fast(src, tgt, &links, max_length, strictness);
        let blocks: BTreeSet<Sides> = found.iter().map(|one| one.0).collect();
        prop_assert_eq!(found.len(), blocks.len());
        prop_assert_eq!(&blocks, &small);
        for (sides, own, seen) in found {
            let inside: Vec<Link> =
                links.iter().copied().filter(|l| (sides.0..=sides.1).contains(&l.src.0)).collect();
            prop_assert_eq!(own, inside);
            for model in Model::ALL {
                let known = match model {
                    Model::Word => None,
                    Model::Phrase => Some(&small),
                    Model::Hierarchical => Some(&all),
                };
                for direction in Direction::ALL {
                    let slow = slow_orientation(
                        sides, (src, tgt), &links, known, direction, strictness);
                    prop_assert_eq!(
                        seen.get(row_of(model, direction)), slow, "{:?} {:?}", model, direction);
                }
            }
        }
    }
}

#[test]
fn a_long_sentence_crosses_the_words_of_the_bit_rows() {
    let links: Vec<Link> = (0..150).map(|at| Link::new(at, 149 - at)).collect();
    let found = fast(150, 150, &links, 1, Strictness::Strict);
    assert_eq!(found.len(), 150);
    for (sides, _, seen) in found {
        let expected = if sides.2 == 0 { Class::Dr } else { Class::S };
        assert_eq!(seen.get(row_of(Model::Word, Direction::Prev)), expected);
        assert_eq!(seen.get(row_of(Model::Hierarchical, Direction::Prev)), expected);
    }
}

#[test]
fn the_worked_example_of_the_three_models() {
    let links = sorted_links(&[(0, 0), (3, 1), (4, 2), (1, 3), (2, 4), (5, 5)]);
    let found = fast(6, 6, &links, 1, Strictness::Strict);
    let shown = |seen: Orientations, model| {
        let prev = seen.get(row_of(model, Direction::Prev));
        let next = seen.get(row_of(model, Direction::Next));
        let msd = |class: Class| ["M", "S", "D"][Classes::Msd.column(class)];
        let mslr = |class: Class| ["M", "S", "DL", "DR"][Classes::Mslr.column(class)];
        format!("{}/{}/{}", msd(prev), mslr(prev), msd(next))
    };
    let expected = [
        ((0, 0), ["M/M/D", "M/M/D", "M/M/M"]),
        ((1, 3), ["D/DR/M"; 3]),
        ((2, 4), ["M/M/D"; 3]),
        ((3, 1), ["D/DL/M"; 3]),
        ((4, 2), ["M/M/D"; 3]),
        ((5, 5), ["D/DR/M", "D/DR/M", "M/M/M"]),
    ];
    assert_eq!(found.len(), 6);
    for ((t, s), classes) in expected {
        let block = found.iter().find(|one| one.0 == (s, s, t, t)).unwrap();
        assert_eq!(Model::ALL.map(|model| shown(block.2, model)), classes, "block {t},{s}");
    }
    for (max_length, blocks) in [(1, 6), (2, 8), (7, 12)] {
        assert_eq!(fast(6, 6, &links, max_length, Strictness::Strict).len(), blocks);
    }
    // Target [3,4] and source [1,2], with the corners of blocks of one word.
    let sides = (1, 2, 3, 4);
    let (small, all) = (slow_blocks(6, 6, &links, 1), slow_blocks(6, 6, &links, u32::MAX));
    let class = |blocks| {
        slow_orientation(sides, (6, 6), &links, blocks, Direction::Prev, Strictness::Strict)
    };
    assert_eq!(class(None), Class::Dl);
    assert_eq!(class(Some(&small)), Class::Dl);
    assert_eq!(class(Some(&all)), Class::S);
    let found = fast(6, 6, &links, 2, Strictness::Strict);
    let block = found.iter().find(|one| one.0 == sides).unwrap();
    assert_eq!(block.2.get(row_of(Model::Hierarchical, Direction::Prev)), Class::S);
}

#[test]
fn a_small_house_has_fourteen_phrase_pairs() {
    let links = sorted_links(&[(0, 0), (1, 1), (2, 2), (4, 3)]);
    for (max_length, blocks) in [(1, 4), (2, 8), (3, 11), (7, 14)] {
        assert_eq!(fast(5, 4, &links, max_length, Strictness::Strict).len(), blocks);
    }
}

/// A bitext with its links, of source, target and links as text.
pub(crate) fn corpus(lines: &[(&str, &str, &str)]) -> (Bitext, WordAlignments) {
    let (mut bitext, mut links) = (Bitext::default(), WordAlignments::default());
    for (src, tgt, of_pair) in lines {
        bitext.push(src, tgt, ReadOptions::default());
        links.push(of_pair.split_whitespace().map(|link| {
            let (src, tgt) = link.split_once('-').unwrap();
            Link::new(src.parse().unwrap(), tgt.parse().unwrap())
        }));
    }
    (bitext, links)
}

pub(crate) fn random_corpus(seed: u64, sentences: usize) -> (Bitext, WordAlignments) {
    let mut state = seed.wrapping_mul(2) + 1;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    let (mut bitext, mut links) = (Bitext::default(), WordAlignments::default());
    for _ in 0..sentences {
        let lengths = (draw(7) + 1, draw(7) + 1);
        let mut line = |length, prefix: &str| {
            let words: Vec<String> =
                (0..length).map(|_| format!("{prefix}{}", draw(6) * draw(4))).collect();
            words.join(" ")
        };
        let (src, tgt) = (line(lengths.0, "s"), line(lengths.1, "}t"));
        bitext.push(&src, &tgt, ReadOptions::default());
        let own: Vec<Link> = (0..draw(8))
            .map(|_| Link::new(draw(lengths.0) as u32, draw(lengths.1) as u32))
            .collect();
        links.push(own);
    }
    (bitext, links)
}

fn part(
    bitext: &Bitext,
    links: &WordAlignments,
    range: std::ops::Range<usize>,
) -> (Bitext, WordAlignments) {
    let (mut some, mut own) = (Bitext::default(), WordAlignments::default());
    for number in range {
        let text = |ids: &[u32]| {
            ids.iter().map(|&id| bitext.vocab().word(id)).collect::<Vec<_>>().join(" ")
        };
        let (src, tgt) = (bitext.src().sentence(number), bitext.tgt().sentence(number));
        some.push(&text(src), &text(tgt), ReadOptions::default());
        own.push(links.sentence(number).iter().copied());
    }
    (some, own)
}

fn bytes_of(counts: &Counts) -> Vec<u8> {
    let mut all = Vec::new();
    let write = |bytes: &[u8]| {
        all.extend_from_slice(bytes);
        Ok(())
    };
    counts.write(write).unwrap();
    super::counts::SEAL.seal(&[], &all)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn shards_and_threads_give_the_same_counts(seed in any::<u64>(), cut in 0usize..=60) {
        let (bitext, links) = random_corpus(seed, 60);
        let options = ExtractOptions::default();
        let count = |(bitext, links): (Bitext, WordAlignments), threads| {
            Counts::of(&bitext, &links, &options, &Job::new(threads)).unwrap()
        };
        let whole = bytes_of(&count((bitext.clone(), links.clone()), 1));
        let shards = [part(&bitext, &links, cut..60), part(&bitext, &links, 0..cut)];
        let shards = shards.into_iter().map(|shard| count(shard, 2)).collect();
        let merged = Counts::merge(shards, &options, &Job::default()).unwrap();
        prop_assert_eq!(bytes_of(&merged), whole);
    }
}

#[test]
fn little_memory_and_many_threads_give_the_same_counts() {
    let (bitext, links) = random_corpus(7, 3000);
    let of = |memory, threads| {
        let options = ExtractOptions { memory, ..ExtractOptions::default() };
        bytes_of(&Counts::of(&bitext, &links, &options, &Job::new(threads)).unwrap())
    };
    let whole = of(1 << 30, 1);
    assert!(of(1 << 20, 1) == whole);
    assert!(of(1 << 20, 3) == whole);
    assert!(of(1 << 30, 2) == whole);
}

#[test]
fn pieces_of_files_give_the_counts_of_the_whole() {
    let (bitext, links) = random_corpus(11, 1500);
    let folder = crate::storage::TempFolder::new(None);
    let paths = [(); 3].map(|()| folder.new_path().unwrap());
    let text = |ids: &[u32]| -> String {
        ids.iter().map(|&id| bitext.vocab().word(id)).collect::<Vec<_>>().join(" ") + "\n"
    };
    let (mut src, mut tgt, mut linked) = (String::new(), String::new(), String::new());
    for number in 0..bitext.len() {
        src += &text(bitext.src().sentence(number));
        tgt += &text(bitext.tgt().sentence(number));
        WordAlignments::write_sentence(links.sentence(number), &mut linked);
        linked.push('\n');
    }
    for (path, text) in paths.iter().zip([&src, &tgt, &linked]) {
        std::fs::write(path, text).unwrap();
    }
    let count = |memory| {
        let options = ExtractOptions { memory, ..ExtractOptions::default() };
        let mut counter = Counter::new(&options)?;
        counter.add_files(&paths[0], &paths[1], &paths[2], &Job::new(2))?;
        counter.finish(&Job::default()).map(|counts| bytes_of(&counts))
    };
    let options = ExtractOptions::default();
    let whole = bytes_of(&Counts::of(&bitext, &links, &options, &Job::default()).unwrap());
    assert!(count(1 << 30).unwrap() == whole);
    assert!(count(1 << 20).unwrap() == whole); // an eighth of it holds fewer pairs
    std::fs::write(&paths[1], format!("{tgt}more\n")).unwrap();
    let message = count(1 << 30).unwrap_err().to_string();
    assert!(message.contains(":1501: ") && message.contains(" has only 1500 lines"), "{message}");
}

#[test]
fn a_damaged_file_of_counts_is_refused() {
    let (bitext, links) = corpus(&[("a b", "x y", "0-0 1-1"), ("a", "x", "0-0")]);
    let options = ExtractOptions::default();
    let counts = Counts::of(&bitext, &links, &options, &Job::default()).unwrap();
    let whole = bytes_of(&counts);
    let path = std::env::temp_dir().join(format!("wayword-damaged.{}", std::process::id()));
    let open = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        Counts::open(&path)
    };
    assert_eq!(bytes_of(&open(&whole).unwrap()), whole);
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        assert!(open(&bytes).is_err(), "byte {at}");
        assert!(open(&whole[..at]).is_err());
    }
    std::fs::remove_file(&path).unwrap();
    let missing = Counts::open(Path::new("no-such-file")).unwrap_err();
    assert!(missing.to_string().starts_with("no-such-file: "));
}
