//! Sets of orders against the decoder's own steps, and against all permutations.

use super::steps::Steps;
use super::*;
use crate::Job;
use crate::feature::Span;
use crate::reorder::order::{inverse, inversions};
use crate::reorder::walk::walk;
use crate::reorder::{ReorderingConstraints, Space};
use proptest::prelude::*;

/// All permutations of so many items, in lexicographic order.
pub fn permutations(length: u32) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new()];
    for _ in 0..length {
        all = all
            .into_iter()
            .flat_map(|head: Vec<u32>| {
                let free: Vec<u32> = (0..length).filter(|word| !head.contains(word)).collect();
                free.into_iter().map(move |word| [head.as_slice(), &[word]].concat())
            })
            .collect();
    }
    all
}

fn orders(name: &str) -> Orders {
    Orders::named(name).unwrap()
}

/// The orders that a lattice spells, sorted.
fn spelled(lattice: &Lattice) -> Vec<Vec<u32>> {
    let last = lattice.states() - 1;
    let mut done = Vec::new();
    let mut open = vec![(0, Vec::new())];
    while let Some((state, order)) = open.pop() {
        if state == last {
            done.push(order);
            continue;
        }
        for arc in lattice.arcs.iter().filter(|arc| arc.from == state) {
            open.push((arc.to, [order.as_slice(), &[arc.word]].concat()));
        }
    }
    done.sort();
    done
}

const NAMES: [&str; 16] = [
    "mono", "mj1", "mj2", "ibm:1", "ibm:2", "ibm:3", "ibm:4", "itg", "itg:0", "itg:2", "itg:3",
    "itg:4", "dl:2", "dl:3", "dl:4", "dl:-1",
];

#[test]
fn lattice_membership_and_the_decoders_walk_agree() {
    for name in NAMES {
        for length in 1..=6 {
            let set = orders(name);
            let members: Vec<Vec<u32>> = permutations(length)
                .into_iter()
                .filter(|order| set.contain(order).unwrap())
                .collect();
            let lattice = Lattice::of(set, length as usize, 1 << 20).unwrap();
            assert_eq!(spelled(&lattice), members, "{name}, {length}");
            if name.starts_with("itg:") {
                continue;
            }
            let space = Space::named(name).unwrap();
            let single = |span: Span| span.len() == 1;
            let (walked, _) = walk(space, &ReorderingConstraints::default(), length, &single);
            let mut walked: Vec<Vec<u32>> =
                walked.iter().map(|order| order.iter().map(|span| span.start).collect()).collect();
            walked.sort();
            assert_eq!(walked, members, "{name}, {length}");
        }
    }
}

#[test]
fn lattices_of_six_items_have_the_papers_states() {
    for (name, states) in [("mj1", 12), ("mj2", 23), ("ibm:2", 22), ("ibm:4", 57)] {
        assert_eq!(Lattice::of(orders(name), 6, 1000).unwrap().states(), states, "{name}");
    }
}

#[test]
fn a_lattice_that_grows_too_large_is_refused() {
    let error = Lattice::of(orders("ibm:4"), 30, 1000).unwrap_err();
    assert_eq!(
        error.to_string(),
        "space ibm:4: a lattice of 30 items has more than 1000 states; the limit is that; take \
         fewer items or a smaller space"
    );
}

#[test]
fn names_are_read_and_shown() {
    for name in NAMES {
        assert_eq!(orders(name).to_string(), name);
    }
    assert_eq!(
        Orders::named("itg:x").unwrap_err().to_string(),
        "space: found `itg:x`; expected `mono`, `mj1`, `mj2`, `ibm:K` (K > 0), `itg`, `itg:K` or \
         `dl:K` (-1: no limit)"
    );
}

proptest! {
    #[test]
    fn nearest_orders_are_those_of_brute_force(
        gold in (1u32..=7).prop_flat_map(|n| Just((0..n).collect::<Vec<_>>()).prop_shuffle()),
    ) {
        let ranks = inverse(&gold).unwrap();
        let wrong = |order: &[u32]| {
            inversions(&order.iter().map(|&word| ranks[word as usize]).collect::<Vec<_>>())
        };
        let all = permutations(gold.len() as u32);
        let mut nearest = Nearest::default();
        for name in NAMES {
            let set = orders(name);
            let least = all
                .iter()
                .filter(|order| set.contain(order).unwrap())
                .map(|order| wrong(order))
                .min();
            let found = nearest.find(set, &gold, 1 << 20).unwrap().unwrap();
            prop_assert!(set.contain(&found).unwrap(), "{}: {:?}", name, found);
            prop_assert_eq!(Some(wrong(&found)), least, "{}", name);
            let distance = Nearest::distance(&gold, &found).unwrap();
            prop_assert_eq!(Some(distance.wrong), least);
        }
    }
}

proptest! {
    #[test]
    fn machines_and_insertion_agree_with_the_search_over_places(
        gold in (2u32..=12).prop_flat_map(|n| Just((0..n).collect::<Vec<_>>()).prop_shuffle()),
    ) {
        let ranks = inverse(&gold).unwrap();
        let wrong = |order: &[u32]| Nearest::distance(&gold, order).unwrap().wrong;
        let mut nearest = Nearest::default();
        for name in ["mj1", "mj2", "dl:3", "dl:5", "ibm:2", "ibm:3", "ibm:5"] {
            let set = orders(name);
            let fast = nearest.find(set, &gold, 1 << 20).unwrap().unwrap();
            let slow = nearest.by_search(Steps::new(set, gold.len()).unwrap(), &ranks, 1 << 22);
            prop_assert!(set.contain(&fast).unwrap(), "{}: {:?}", name, fast);
            prop_assert_eq!(wrong(&fast), wrong(&slow.unwrap()), "{}", name);
        }
    }
}

#[test]
fn long_orders_cross_the_blocks_of_a_machine() {
    let mut gold: Vec<u32> = (0..200).collect();
    for start in (0..190).step_by(7) {
        gold.swap(start, start + 6);
    }
    let mut nearest = Nearest::default();
    for name in ["mj2", "dl:4", "ibm:2"] {
        let set = orders(name);
        let fast = nearest.find(set, &gold, 1 << 20).unwrap().unwrap();
        assert!(set.contain(&fast).unwrap(), "{name}");
        let ranks = inverse(&gold).unwrap();
        let slow = nearest.by_search(Steps::new(set, 200).unwrap(), &ranks, 1 << 22).unwrap();
        let wrong = |order: &[u32]| Nearest::distance(&gold, order).unwrap().wrong;
        assert_eq!(wrong(&fast), wrong(&slow), "{name}");
    }
}

const ALL: Pruning = Pruning { beam: 0.0, keep: 0 };

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn best(name: &str, problem: &Problem, pruning: Pruning) -> Best {
    let oracle = Oracle::new(orders(name), pruning, 1 << 20).unwrap();
    oracle.all(std::slice::from_ref(problem), &Job::new(1)).unwrap().remove(0).unwrap()
}

#[test]
fn the_papers_first_table() {
    let phrases = ["if", "you", "to me", "that", "explain", "could"].map(words).to_vec();
    let problem =
        Problem { refs: vec![words("if you could explain that to me")], candidates: vec![phrases] };
    let (monotone, swapped) = ([0, 1, 2, 3, 4, 5], [0, 1, 3, 2, 5, 4]);
    let (front, right) = ([2, 0, 1, 5, 4, 3], [0, 1, 5, 4, 3, 2]);
    for (name, order, matched) in [
        ("mj1", swapped, [7, 4, 1, 0]),
        ("mj2", front, [7, 5, 3, 2]),
        ("ibm:2", swapped, [7, 4, 1, 0]),
        ("ibm:4", right, [7, 6, 5, 4]),
        ("itg", right, [7, 6, 5, 4]),
        ("itg:6", right, [7, 6, 5, 4]),
        ("itg:4", right, [7, 6, 5, 4]),
        ("itg:3", front, [7, 5, 3, 2]),
        ("itg:2", swapped, [7, 4, 1, 0]),
        ("itg:1", monotone, [7, 2, 0, 0]),
        ("itg:0", monotone, [7, 2, 0, 0]),
        ("mono", monotone, [7, 2, 0, 0]),
    ] {
        let best = best(name, &problem, ALL);
        assert_eq!((best.order.as_slice(), best.matched), (&order[..], matched), "{name}");
        assert!(best.is_exact);
    }
    assert!((best("mj1", &problem, ALL).score - 0.001_910_885_6).abs() < 1e-10);
    assert!((best("mj2", &problem, ALL).score - 0.5f64.sqrt()).abs() < 1e-12);
}

/// Matches of a string by definition: every n-gram that some reference has.
fn matches(string: &[&str], refs: &[Vec<String>]) -> [u32; 4] {
    [1, 2, 3, 4].map(|order| {
        let is_matched =
            |gram: &&[&str]| refs.iter().any(|words| words.windows(order).any(|own| own == *gram));
        string.windows(order).filter(is_matched).count() as u32
    })
}

fn score(matched: [u32; 4], length: usize) -> f64 {
    let precision = |(order, &matched): (usize, &u32)| {
        let possible = length as f64 - order as f64;
        if matched == 0 { 1e-10 } else { f64::from(matched) / possible }.ln()
    };
    (matched.iter().enumerate().map(precision).sum::<f64>() / 4.0).exp()
}

fn text() -> impl Strategy<Value = Vec<String>> {
    let word = prop::sample::select(vec!["a", "b", "c", "d", "e"]);
    proptest::collection::vec(word.prop_map(str::to_owned), 1..10)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn best_orders_are_those_of_brute_force(
        refs in proptest::collection::vec(text(), 1..3),
        phrases in proptest::collection::vec(
            proptest::collection::vec("[a-f]", 1..4), 1..=6),
    ) {
        let problem = Problem { refs, candidates: vec![phrases.clone()] };
        let all = permutations(phrases.len() as u32);
        let length: usize = phrases.iter().map(Vec::len).sum();
        for name in NAMES {
            let set = orders(name);
            let of = |order: &[u32]| {
                let string: Vec<&str> = order
                    .iter()
                    .flat_map(|&item| phrases[item as usize].iter().map(String::as_str))
                    .collect();
                score(matches(&string, &problem.refs), length)
            };
            let most = all
                .iter()
                .filter(|order| set.contain(order).unwrap())
                .map(|order| of(order))
                .fold(0.0, f64::max);
            let best = best(name, &problem, ALL);
            prop_assert!(best.is_exact && set.contain(&best.order).unwrap());
            prop_assert!((best.score - most).abs() < 1e-12, "{}: {} {}", name, best.score, most);
            prop_assert!((of(&best.order) - best.score).abs() < 1e-12);
        }
    }
}
