//! The chart against brute force over all separable permutations, and against exact search.

use super::*;
use crate::Job;
use crate::align::Link;
use crate::corpus::annotated::Sentence as AnnotatedSentence;
use crate::reorder::Corpus;
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

// --- bracketings ---------------------------------------------------------------------------------

const GOLD: [u32; 6] = [3, 4, 2, 5, 0, 1];

fn agreeing(ranks: &[Option<u32>]) -> Contradictions {
    let mut wrong = Contradictions::default();
    wrong.fill(ranks.len(), |left, right| f64::from(opinion(ranks[left], ranks[right])));
    wrong
}

fn ranks_of(order: &[u32]) -> Vec<Option<u32>> {
    crate::reorder::order::inverse(order).unwrap().into_iter().map(Some).collect()
}

#[test]
fn sums_over_bracketings_are_those_of_the_worked_example() {
    let nodes = Nodes::of_pairs(&example());
    let wrong = agreeing(&ranks_of(&GOLD));
    let mut inside = Inside::default();
    let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found}");
    for (strictness, expected) in [(1.0, 15.7627676701), (2.0, 15.2964886885), (1e6, 15.0)] {
        let (all, agreeing) = inside.fill(&nodes, &Nothing, &wrong, strictness);
        close(all, 16.8961933576);
        close(agreeing, expected);
    }
    close((15.0_f64 - 16.8961933576).exp(), 0.1501390585);
    let mut turned = Turned::default();
    turned.clear(6);
    inside.expect(Which::All, &nodes, &Free, 0.0, &mut turned);
    let mut found = [[0.0; 6]; 6];
    turned.pairs(|left, right, share| found[left][right] = share);
    close(found[0][1], 0.2546151322);
    close(found[0][5], 0.9040319570);
    close(found[2][5], 0.5098507852);
    close(found[3][4], 0.1656872074);
    let (score, order) = BestTree::default().order(&nodes, &Nothing);
    assert_eq!((score, order.as_slice()), (15.0, GOLD.as_slice()));
}

/// A bracketing: the order it gives, its inner nodes, and how many there are.
#[derive(Clone)]
struct Tree {
    order: Vec<u32>,
    nodes: Vec<(usize, usize, usize, usize)>,
}

fn trees(start: usize, end: usize) -> Vec<Tree> {
    if end - start == 1 {
        return vec![Tree { order: vec![start as u32], nodes: Vec::new() }];
    }
    let mut found = Vec::new();
    for split in start + 1..end {
        for left in trees(start, split) {
            for right in trees(split, end) {
                for label in 0..2 {
                    let orders = [&left.order, &right.order];
                    let order = [orders[label].clone(), orders[1 - label].clone()].concat();
                    let own = vec![(start, split, end, label)];
                    let nodes = [own, left.nodes.clone(), right.nodes.clone()].concat();
                    found.push(Tree { order, nodes });
                }
            }
        }
    }
    found
}

#[test]
fn there_are_as_many_bracketings_as_the_formula_says() {
    let counts: Vec<usize> = (1..=6).map(|length| trees(0, length).len()).collect();
    assert_eq!(counts, [1, 2, 8, 40, 224, 1344]);
    let zero = Nodes::of_pairs(&Pairs::new(6));
    let (all, _) = Inside::default().fill(&zero, &Nothing, &Free, 0.0);
    assert!((all - 1344_f64.ln()).abs() < 1e-12);
}

#[test]
fn an_order_that_no_bracketing_gives_has_trees_of_least_cost() {
    let wrong = agreeing(&ranks_of(&[1, 3, 0, 2]));
    let cost = |tree: &Tree| -> f64 {
        tree.nodes.iter().map(|&(i, j, k, label)| wrong.cost(i, j, k)[label]).sum()
    };
    let all = trees(0, 4);
    let least = all.iter().map(cost).fold(f64::INFINITY, f64::min);
    let best: BTreeSet<Vec<u32>> =
        all.iter().filter(|tree| cost(tree) == least).map(|tree| tree.order.clone()).collect();
    assert_eq!(least, 1.0);
    assert_eq!(best, BTreeSet::from([vec![1, 0, 3, 2], vec![1, 3, 2, 0], vec![3, 1, 0, 2]]));
    let zero = Nodes::of_pairs(&Pairs::new(4));
    let (_, agreeing) = Inside::default().fill(&zero, &Nothing, &wrong, 1e3);
    let many = all.iter().filter(|tree| cost(tree) == least).count() as f64;
    assert!((agreeing - (many.ln() - 1e3)).abs() < 1e-9);
}

/// A corpus of words and tags, with links.
fn corpus(lines: &[(&str, &[(u32, u32)])]) -> Corpus {
    let mut corpus = Corpus::default();
    for (line, links) in lines {
        let factors = line.split(' ').next().map_or(0, |token| token.split('|').count());
        let sentence = AnnotatedSentence::of_factors(line.split(' '), factors).unwrap();
        let links: Vec<Link> = links.iter().map(|&(src, tgt)| Link::new(src, tgt)).collect();
        corpus.push(&sentence, &links).unwrap();
    }
    corpus
}

const TEA: &str = "er|PRON hat|AUX gern|ADV Tee|NOUN getrunken|VERB";
const TEA_LINKS: &[(u32, u32)] = &[(0, 0), (1, 1), (3, 3), (4, 2)];

fn field(bits: u32, strictness: f64) -> Field {
    batched(bits, strictness, 1)
}

fn batched(bits: u32, strictness: f64, batch: usize) -> Field {
    Field::new(FieldOptions {
        slots: Slots::new(bits).unwrap(),
        reference: Reference::Linked,
        unlinked: 0.5,
        strictness,
        rate: 0.3,
        prior: 0.0,
        batch,
        tags: true,
        longest: 60,
        seed: 1,
    })
}

#[test]
fn node_scores_are_features_and_places_summed_over_trees() {
    // A trained model has all kinds of weights; the sum over all trees, one by one, agrees.
    let corpus = corpus(&[(TEA, TEA_LINKS), ("a|X b|Y c|X d|Z", &[(0, 2), (1, 1), (3, 0)])]);
    let mut field = field(14, 2.0);
    for _ in 0..3 {
        field.pass(&corpus, &Job::new(1)).unwrap();
    }
    let mut src = Hashed::default();
    src.fill_from(corpus.text(), 0, true);
    let table = (Slots::new(14).unwrap(), field.weights());
    let mut nodes = Nodes::default();
    nodes.fill(&src, table);
    let corners = Corners::new(&src, table);
    let score = |tree: &Tree| -> f64 {
        let of_node = |&(i, j, k, label): &(usize, usize, usize, usize)| {
            let above = tree.nodes.iter().find_map(|&(a, b, c, label)| {
                let halves = [((a, b), false), ((b, c), true)];
                let (_, is_right) = halves.into_iter().find(|(span, _)| *span == (i, k))?;
                Some(super::tree::place_of(label, is_right))
            });
            let own = nodes.score(i, j, k)[label] + corners.extra(i, j, k)[label];
            own + nodes.place(i, k, above.unwrap_or(super::tree::ROOT))[label]
        };
        tree.nodes.iter().map(of_node).sum()
    };
    let scores: Vec<f64> = trees(0, 5).iter().map(score).collect();
    let slow = scores.iter().map(|score| score.exp()).sum::<f64>().ln();
    let (fast, _) = Inside::default().fill(&nodes, &corners, &Free, 0.0);
    assert!((slow - fast).abs() < 1e-9, "{slow} {fast}");
    let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    assert!((BestTree::default().order(&nodes, &corners).0 - best).abs() < 1e-9);
}

#[test]
fn the_gradient_is_that_of_finite_differences() {
    let corpus = corpus(&[(TEA, TEA_LINKS)]);
    let mut field = field(16, 1.5);
    for place in 0..1 << 16 {
        field.nudge(place, ((place * 7919) % 101) as f32 / 500.0 - 0.1);
    }
    let (_, slopes) = field.slope(&corpus, 0);
    let mut by_place = std::collections::BTreeMap::new();
    for (place, slope) in slopes {
        *by_place.entry(place as usize).or_insert(0.0) += f64::from(slope);
    }
    assert!(by_place.len() > 300, "{}", by_place.len());
    let step = 1.0 / 64.0;
    for (&place, &slope) in &by_place {
        field.nudge(place, step);
        let (up, _) = field.slope(&corpus, 0);
        field.nudge(place, -2.0 * step);
        let (down, _) = field.slope(&corpus, 0);
        field.nudge(place, step);
        let expected = (up - down) / f64::from(2.0 * step);
        // Steps are large because weights are 32 bits; the third derivative is what is left over.
        assert!((slope - expected).abs() < 2e-3, "{place}: {slope} {expected}");
    }
}

#[test]
fn a_wish_weighs_as_much_as_both_words_are_trusted() {
    let mut corpus = Corpus::default();
    let words = ["a", "b", "c", "d"];
    let sentence = AnnotatedSentence::of_factors(words, 1).unwrap();
    let links = [Link::new(0, 2), Link::new(0, 3), Link::new(1, 0), Link::new(3, 1)];
    corpus.push_scored(&sentence, &links, &[0.5, 0.25, 1.0, 0.75]).unwrap();
    assert_eq!(corpus.trust(0), [0.5, 1.0, 1.0, 0.75]);
    let part = corpus.part(0..1).unwrap();
    assert_eq!(part.trust(0), corpus.trust(0));
    let wishes = |reference| Wishes::new(reference, corpus.links(0), corpus.trust(0), 0.1);
    let linked = wishes(Reference::Linked);
    assert_eq!([linked.weigh(0, 1), linked.weigh(1, 3), linked.weigh(0, 3)], [-0.5, 0.75, -0.375]);
    assert_eq!(linked.weigh(1, 2), 0.0);
    let attached = wishes(Reference::Attach);
    assert_eq!([attached.weigh(0, 3), attached.weigh(1, 2)], [-0.375, 0.1]);
}

#[test]
fn threads_change_no_weight_of_either_model() {
    let lines: Vec<(&str, &[(u32, u32)])> = (0..40)
        .map(|at| {
            if at % 3 == 0 { (TEA, TEA_LINKS) } else { ("a|X b|Y c|X d|Z", &[(0, 1), (3, 0)][..]) }
        })
        .collect();
    let corpus = corpus(&lines);
    let learned = |threads: usize| {
        let job = Job::new(threads);
        let mut field = batched(12, 2.0, 8);
        field.pass(&corpus, &job).unwrap();
        let mut pairs = Perceptron::new(&corpus, perceptron_options(8), &job).unwrap();
        pairs.pass(&corpus, &job).unwrap();
        (field.weights().to_vec(), pairs.average())
    };
    assert_eq!(learned(1), learned(3));
}

// --- pairs ---------------------------------------------------------------------------------------

fn perceptron_options(batch: usize) -> PerceptronOptions {
    PerceptronOptions {
        slots: Slots::new(16).unwrap(),
        reference: Reference::Leftmost,
        min_count: 1,
        batch,
        tags: true,
        longest: 100,
    }
}

#[test]
fn log_odds_are_those_of_the_worked_example() {
    assert_eq!(log_odds(0, 0), 0.0);
    assert!((log_odds(9, 0) - 2.944439).abs() < 1e-6);
    assert!((log_odds(3, 7) + 0.762140).abs() < 1e-6);
}

#[test]
fn pairs_have_the_features_of_the_worked_example() {
    let line = "die|ART Katze|NN hat|VAFIN die|ART Frau|NN gekauft|VVPP";
    let src = AnnotatedSentence::of_factors(line.split(' '), 2).unwrap();
    let mut found = texts(&src, 1, 6, true);
    found.sort();
    let expected = "01|die|ART|gekauft|VVPP 02|die|ART|gekauft 03|die|gekauft|VVPP 04|die|ART|VVPP \
        05|ART|gekauft|VVPP 06|die|gekauft 07|die|VVPP 08|ART|gekauft 09|ART|ART|VVPP 09|ART|NN|VVPP \
        09|ART|VAFIN|VVPP 10|ART|NN|NN|VVPP 11|ART|NN|VVPP|</s> 12|<s>|ART|VVPP|</s> 13|<s>|ART|VVPP \
        14|<s>|ART|NN|VVPP 15|ART|NN|VVPP";
    assert_eq!(found, expected.split_whitespace().collect::<Vec<_>>());
    assert_eq!(suffix(5), "|d=5");
    assert_eq!(
        (suffix(6), suffix(10), suffix(11)),
        ("|d=>5".into(), "|d=>5".into(), "|d=>10".into())
    );
    let near = texts(&src, 2, 3, true);
    assert_eq!(near.len() * 2, 28);
    assert!(near.contains(&"10|NN|VAFIN|NN|VAFIN".to_owned()));
    // A text and its fingerprint come in one order.
    let mut hashed = Hashed::default();
    hashed.fill(&src, true);
    let mut parts = PairParts::default();
    parts.fill(&hashed);
    for (left, right) in [(1, 6), (2, 3), (1, 5)] {
        let mut prints = BTreeSet::new();
        let mut count = 0;
        parts.prints(&hashed, left, right, |print| {
            prints.insert(print);
            count += 1;
        });
        assert_eq!((prints.len(), count), (count, texts(&src, left, right, true).len()));
    }
}

#[test]
fn a_perceptron_of_batch_one_is_the_textbook() {
    // The same words in other orders, so that no weights are right about all of them.
    let corpus = corpus(&[
        (TEA, &[(0, 0), (1, 1), (2, 3), (3, 4), (4, 2)]),
        (TEA, &[(0, 4), (1, 3), (2, 0), (3, 1), (4, 2)]),
        (TEA, &[(0, 0), (1, 1), (2, 2), (3, 3), (4, 4)]),
    ]);
    let options = perceptron_options(1);
    let mut fast = Perceptron::new(&corpus, options, &Job::new(1)).unwrap();
    let mut twin = Twin::new(&fast.average());
    for _ in 0..3 {
        fast.pass(&corpus, &Job::new(1)).unwrap();
        twin.pass(&corpus);
        for (fast, slow) in fast.average().into_iter().zip(twin.average()) {
            assert!((f64::from(fast) - slow).abs() < 1e-5);
        }
    }
    assert!(twin.updates > 0);
}

/// The averaged perceptron without any cleverness: all weights are summed after every sentence.
struct Twin {
    weights: Vec<f64>,
    sums: Vec<f64>,
    steps: f64,
    updates: usize,
}

impl Twin {
    fn new(start: &[f32]) -> Self {
        let weights: Vec<f64> = start.iter().map(|&weight| f64::from(weight)).collect();
        Twin { sums: weights.clone(), weights, steps: 1.0, updates: 0 }
    }

    fn pass(&mut self, corpus: &Corpus) {
        let slots = Slots::new(16).unwrap();
        for number in 0..corpus.len() {
            let mut src = Hashed::default();
            src.fill_from(corpus.text(), number, true);
            let mut parts = PairParts::default();
            parts.fill(&src);
            let length = src.len();
            let mut pairs = Pairs::new(length);
            let mut places = Vec::new();
            for left in 1..=length {
                for right in left + 1..=length {
                    let mut own = Vec::new();
                    parts.prints(&src, left, right, |print| {
                        own.push(slots.place(print, 0));
                        own.push(slots.place(print, super::pair_features::form(right - left)));
                    });
                    pairs.set(left - 1, right - 1, own.iter().map(|&at| self.weights[at]).sum());
                    places.push((left - 1, right - 1, own));
                }
            }
            let mut order: Vec<u32> = (0..length as u32).collect();
            Chart::default().climb(&pairs, &mut order, length);
            let found = crate::reorder::order::inverse(&order).unwrap();
            let gold = Reference::Leftmost.ranks(length, corpus.links(number));
            for (left, right, own) in places {
                let keeps = f64::from(u8::from(gold[left] < gold[right]));
                let kept = f64::from(u8::from(found[left] < found[right]));
                self.updates += usize::from(keeps != kept);
                for at in own {
                    self.weights[at] += keeps - kept;
                }
            }
            self.steps += 1.0;
            for (sum, weight) in self.sums.iter_mut().zip(&self.weights) {
                *sum += weight;
            }
        }
    }

    fn average(&self) -> Vec<f64> {
        self.sums.iter().map(|sum| sum / self.steps).collect()
    }
}
