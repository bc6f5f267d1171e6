//! Early pruning against the definition and against all states of small problems.

use super::*;
use crate::feature::{Coverage, ReorderingState};
use crate::reorder::Space;
use std::collections::BTreeSet;

fn chosen(prune: Prune, scores: &[(u32, f32)]) -> Vec<u32> {
    // The definitions' positions count from 1: e = last = 4 is the word after position 4, from 0.
    let all = scores.iter().map(|&(at, _)| at - 1);
    let score = |word: u32| scores.iter().find(|(at, _)| *at == word + 1).unwrap().1.ln();
    let mut kept: Vec<SrcPos> = all.clone().map(SrcPos).collect();
    let logs: Vec<f32> = kept.iter().map(|word| score(word.0)).collect();
    let spared = Chooser::new(prune).choose(4, &mut kept, &logs);
    let stays = |word: &u32| kept.contains(&SrcPos(*word)) || spared.has(*word);
    all.filter(stays).map(|word| word + 1).collect()
}

#[test]
fn the_words_kept_are_those_of_the_specification() {
    let scores = [
        (1, 0.01),
        (5, 0.30),
        (6, 0.20),
        (7, 0.02),
        (9, 0.25),
        (12, 0.06),
        (14, 0.028),
        (15, 0.05),
    ];
    let with = |top, zone| chosen(Prune { top, threshold: 0.1, zone, saves: false }, &scores);
    let zone = Some(2);
    assert_eq!(with(1, zone), [5, 6, 7]);
    assert_eq!(with(2, zone), [5, 6, 7, 9]);
    assert_eq!(with(3, zone), [5, 6, 7, 9]);
    assert_eq!(with(4, zone), [5, 6, 7, 9, 12]);
    assert_eq!(with(5, zone), [5, 6, 7, 9, 12, 15]);
    let zone = Some(0);
    assert_eq!(with(1, zone), [5]);
    assert_eq!(with(2, zone), [5, 9]);
    assert_eq!(with(3, zone), [5, 6, 9]);
    assert_eq!(with(4, zone), [5, 6, 9, 12]);
    assert_eq!(with(5, zone), [5, 6, 9, 12, 15]);
    assert_eq!(with(1, None), [5]);
    let off = Prune { top: 0, threshold: 0.0, zone: None, saves: false };
    assert_eq!(chosen(off, &scores).len(), 8);
    // Of equal words the nearest stays, of equally near ones the left.
    let same = [(1, 0.5), (4, 0.5), (6, 0.5), (9, 0.5)];
    assert_eq!(chosen(Prune { top: 1, threshold: 0.0, zone: None, saves: false }, &same), [4]);
}

/// All states (coverage, last word) that phrases of up to three words reach, with and without
/// pruning; words inside a phrase stay in order.
struct Exploration {
    scores: Vec<f32>,
    prune: Option<Prune>,
    /// Whether candidates are chosen before the space has its say, which is wrong.
    too_early: bool,
    seen: BTreeSet<(u64, u32)>,
    expansions: usize,
    dead_ends: usize,
}

const LENGTH: u32 = 9;
const LIMIT: u32 = 5;

impl Exploration {
    fn go(&mut self, blocks: u64, end: u32) {
        if !self.seen.insert((blocks, end)) || blocks.count_ones() == LENGTH {
            return;
        }
        let bits = [blocks];
        let cov = Coverage::new(&bits, LENGTH);
        let here =
            ReorderingState { cov, gap: cov.first_gap(), end, top: Span::default(), mode: 0 };
        let near = |span: Span| span.start.abs_diff(end) <= LIMIT;
        let admits = |span: Span| Space::Dl(Some(LIMIT)).admits(&here, span, |_| true);
        let spans =
            (0..LENGTH).flat_map(|at| (at + 1..=LENGTH.min(at + 3)).map(move |to| (at, to)));
        let mut spans: Vec<Span> = spans
            .map(|(start, end)| Span::new(start, end))
            .filter(|&span| {
                cov.is_free(span) && if self.too_early { near(span) } else { admits(span) }
            })
            .collect();
        if let Some(prune) = self.prune {
            let score = |to: u32| self.scores[(end * LENGTH + to) as usize];
            let words: BTreeSet<u32> = spans.iter().map(|span| span.start).collect();
            let mut kept: Vec<SrcPos> = words.into_iter().map(SrcPos).collect();
            let scores: Vec<f32> = kept.iter().map(|to| score(to.0)).collect();
            let spared = Chooser::new(prune).choose(end, &mut kept, &scores);
            spans.retain(|Span { start, .. }| kept.contains(&SrcPos(*start)) || spared.has(*start));
        }
        spans.retain(|&span| admits(span));
        self.dead_ends += usize::from(spans.is_empty());
        self.expansions += spans.len();
        for span in spans {
            let mut after = [blocks];
            Coverage::mark(&mut after, span);
            self.go(after[0], span.end);
        }
    }
}

#[test]
fn pruning_after_the_space_never_runs_into_a_dead_end() {
    let explore = |prune: Option<Prune>, too_early: bool| {
        let (mut expansions, mut dead_ends) = (0, 0);
        for table in 0..40_u64 {
            let noise = |cell: u64| (table << 32 | cell).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
            let mut exploration = Exploration {
                scores: (0..90)
                    .map(|cell| ((noise(cell * 7 + 1) + 1) as f32 / (1 << 24) as f32).ln())
                    .collect(),
                prune,
                too_early,
                seen: BTreeSet::new(),
                expansions: 0,
                dead_ends: 0,
            };
            exploration.go(0, 0);
            expansions += exploration.expansions;
            dead_ends += exploration.dead_ends;
        }
        (expansions, dead_ends)
    };
    assert_eq!(explore(None, false), (42_160, 0));
    let mut last = 0;
    for zone in [None, Some(0), Some(2)] {
        let prune = Some(Prune { top: 2, threshold: 0.1, zone, saves: false });
        let (expansions, dead_ends) = explore(prune, false);
        assert_eq!(dead_ends, 0);
        assert!(last < expansions && expansions < 42_160);
        last = expansions;
        assert!(explore(prune, true).1 > 0, "the wrong way would dead-end");
    }
}

#[test]
fn pops_follow_what_pruning_leaves() {
    let plain = Prune::default();
    let saving = Prune { saves: true, ..plain };
    assert_eq!(plain.pops(400, 10, 30), 400);
    assert_eq!(saving.pops(400, 10, 30), 100);
    assert_eq!(saving.pops(400, 10, 0), 400);
    // Some are made anyway, but never more than the limit; and no limit stays none.
    assert_eq!(saving.pops(400, 1, 1_000), 20);
    assert_eq!(saving.pops(5, 1, 1_000), 5);
    assert_eq!(saving.pops(0, 1, 1_000), 0);
}

#[test]
fn pruning_is_read_and_shown() {
    for text in [
        "waw(top=3,threshold=0.1,zone=5)",
        "neural.2(top=0,threshold=0,zone=-1)",
        "neural(top=3,threshold=0.1,zone=5,pops=kept)",
    ] {
        assert_eq!(Pruning::named(text).unwrap().to_string(), text);
    }
    let named =
        |text: &str| Pruning::named(text).map(|Pruning { feature, rules }| (feature, rules));
    assert_eq!(named("waw").unwrap(), ("waw".into(), Prune::default()));
    let near = Prune { zone: Some(2), ..Prune::default() };
    assert_eq!(named("lop(zone=2)").unwrap(), ("lop".into(), near));
    for text in [
        "",
        "(top=1)",
        "waw(",
        "waw()",
        "waw(top=-1)",
        "waw(threshold=2)",
        "a+b",
        "9",
        "waw(pops=2)",
    ] {
        assert_eq!(
            named(text).unwrap_err().to_string(),
            format!(
                "space: found `+{text}`; expected `+FEATURE(top=N,threshold=T,zone=Z)` with \
                 N >= 0, T from 0 to 1, Z >= -1, or also pops=kept"
            )
        );
    }
}
