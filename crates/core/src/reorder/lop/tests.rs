//! The chart against brute force over all separable permutations, and against exact search.

use super::*;
use crate::reorder::order::inversions;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// The matrix of definitions h.4; words count from 1 there.
fn example() -> Pairs {
    let cells =
        "12:2 13:-2 14:-1 15:-1 16:-1 23:-2 24:-1 25:-3 26:-1 34:-1 35:-2 36:1 45:2 46:1 56:1";
    let mut pairs = Pairs::new(6);
    for cell in cells.split(' ') {
        let (words, worth) = cell.split_once(':').unwrap();
        let word = |at: usize| words[at..=at].parse::<usize>().unwrap() - 1;
        pairs.set(word(0), word(1), worth.parse().unwrap());
    }
    pairs
}

#[test]
fn the_worked_example_comes_out() {
    let (pairs, mut chart) = (example(), Chart::default());
    let mut order = vec![0, 1, 2, 3, 4, 5];
    assert_eq!(pairs.score(&order), -8.0);
    assert_eq!(chart.step(&pairs, &mut order, 6), 15.0);
    assert_eq!(order, [3, 4, 2, 5, 0, 1]);
    assert_eq!(pairs.score(&order), 7.0);
    assert_eq!(best_order(&pairs).unwrap(), order);
    assert_eq!(chart.step(&pairs, &mut order, 6), 0.0);
    let mut alphabetical = vec![0, 3, 4, 5, 2, 1];
    assert_eq!(pairs.score(&alphabetical), 1.0);
    assert_eq!(chart.step(&pairs, &mut alphabetical, 6), 6.0);
    assert_eq!(alphabetical, order);
}

/// All orders that bracketings of `items` give, with exchanges of at most `widest` words.
fn neighbours(items: &[u32], widest: usize) -> BTreeSet<Vec<u32>> {
    if items.len() < 2 {
        return BTreeSet::from([items.to_vec()]);
    }
    let mut found = BTreeSet::new();
    for split in 1..items.len() {
        let (left, right) = items.split_at(split);
        for first in neighbours(left, widest) {
            for second in neighbours(right, widest) {
                found.insert([first.clone(), second.clone()].concat());
                if items.len() <= widest {
                    found.insert([second, first.clone()].concat());
                }
            }
        }
    }
    found
}

fn matrix(length: usize, cells: &[f64]) -> Pairs {
    let mut pairs = Pairs::new(length);
    for (at, &cell) in cells.iter().take(length * length).enumerate() {
        pairs.set(at / length, at % length, cell);
    }
    pairs
}

proptest! {
    #[test]
    fn a_step_finds_the_best_of_the_neighbourhood(
        cells in proptest::collection::vec(-3.0..3.0, 36),
        start in Just((0_u32..6).collect::<Vec<_>>()).prop_shuffle(),
        length in 2_usize..=6,
        widest in 1_usize..=6,
    ) {
        let start: Vec<u32> = start.into_iter().filter(|&word| (word as usize) < length).collect();
        let pairs = matrix(length, &cells);
        let best = neighbours(&start, widest).into_iter()
            .map(|order| pairs.score(&order))
            .fold(f64::NEG_INFINITY, f64::max);
        let mut order = start.clone();
        let gain = Chart::default().step(&pairs, &mut order, widest);
        // Sums of rounded numbers are exact, so all of these are equal and not merely close.
        prop_assert_eq!(pairs.score(&order), best);
        prop_assert_eq!(pairs.score(&start) + gain, best);
    }

    #[test]
    fn climbing_never_beats_the_exact_order(cells in proptest::collection::vec(-3.0..3.0, 49)) {
        let pairs = matrix(7, &cells);
        let mut order: Vec<u32> = (0..7).collect();
        Chart::default().climb(&pairs, &mut order, 7);
        prop_assert!(pairs.score(&order) <= pairs.score(&best_order(&pairs).unwrap()));
    }

    #[test]
    fn what_is_worth_nothing_stays_as_it_is(length in 0_usize..12) {
        let mut order: Vec<u32> = (0..length as u32).collect();
        prop_assert_eq!(Chart::default().step(&Pairs::new(length), &mut order, length), 0.0);
        prop_assert_eq!(inversions(&order), 0);
    }
}

#[test]
fn a_neighbourhood_has_as_many_orders_as_the_schroeder_numbers_say() {
    let sizes = (1..=7).map(|n| neighbours(&(0..n).collect::<Vec<_>>(), n as usize).len());
    assert_eq!(sizes.collect::<Vec<_>>(), [1, 2, 6, 22, 90, 394, 1806]);
}

#[test]
fn the_exact_order_is_that_of_all_permutations() {
    let cells: Vec<f64> = (0..25).map(|at| f64::from((at * 7919) % 31) - 15.0).collect();
    let pairs = matrix(5, &cells);
    let best = permutations(5).map(|order| pairs.score(&order)).fold(f64::NEG_INFINITY, f64::max);
    assert_eq!(pairs.score(&best_order(&pairs).unwrap()), best);
    assert!(best_order(&Pairs::new(LONGEST_EXACT + 1)).is_err());
}

fn permutations(length: u32) -> impl Iterator<Item = Vec<u32>> {
    let numbers = 0..(1..=length).product::<u32>();
    numbers.map(move |mut number| {
        let mut left: Vec<u32> = (0..length).collect();
        let mut order = Vec::new();
        for size in (1..=length).rev() {
            order.push(left.remove((number % size) as usize));
            number /= size;
        }
        order
    })
}
