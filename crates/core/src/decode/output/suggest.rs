//! Completes what a user has begun to type, from the search graph of the sentence.
//!
//! In: a finished search with all its arcs, and the target words typed so far, the last of which may
//! be half a word. Out: the translation whose beginning is nearest to these words, of equally near
//! ones the best, and where in it the typed words end.
//! How: every partial translation keeps, for each number of typed words that its own words stand
//! for, the least edits and the best score (Och, Zens and Ney, 2003; Barrachina et al., 2009); a
//! word for another costs by how many letters differ, as in Koehn, Tsoukala and Saint-Amand (2014).
//! Cost: O(arcs · typed words), a few milliseconds for thirty words.
//! Not: a new search. What no hypothesis of the graph has is an edit.

use crate::decode::ids::HypId;
use crate::decode::output::derivation::Replay;
use crate::decode::search::arena::Arena;
use crate::feature::OptionId;
use crate::narrow::to_u32;
use rustc_hash::FxHashMap;

/// What a word too many or too few costs, and at most one for another.
const EDIT: f32 = 1.0;

/// What the user has typed.
#[derive(Debug, Clone, Copy)]
pub struct Typed<'a> {
    /// Target words.
    pub words: &'a [&'a str],
    /// Whether the last of them may go on.
    pub is_open: bool,
}

/// A translation that goes on from what was typed.
#[derive(Debug, Clone, PartialEq)]
pub struct Suggestion {
    /// All its words, from the first.
    pub words: Vec<String>,
    /// How many of them stand for the typed ones.
    pub typed: usize,
    /// Edits between these and the typed ones.
    pub edits: f32,
    /// Its weighted score.
    pub score: f64,
}

/// An arc of the graph.
struct Arc {
    from: u32,
    to: u32,
    option: OptionId,
    score: f64,
}

/// How far a partial translation has come.
#[derive(Debug, Clone, Copy)]
struct Cell {
    edits: f32,
    score: f64,
    /// The arc that led here; none for the empty translation.
    arc: u32,
    /// How many typed words there were before the arc.
    before: u32,
    /// Words of the arc up to the end of the typed ones, if that lies in it.
    crossing: u32,
}

const NOWHERE: Cell =
    Cell { edits: f32::INFINITY, score: f64::NEG_INFINITY, arc: u32::MAX, before: 0, crossing: 0 };

impl Cell {
    fn is_better(&self, other: &Cell) -> bool {
        self.edits < other.edits || self.edits == other.edits && self.score > other.score
    }

    fn with(self, edits: f32) -> Cell {
        Cell { edits: self.edits + edits, ..self }
    }
}

/// The best way on from the typed words; none for a sentence without words.
pub fn suggest(
    replay: &Replay<'_>,
    arena: &Arena,
    last: HypId,
    typed: Typed<'_>,
) -> Option<Suggestion> {
    if replay.src.is_empty() {
        return None;
    }
    let (arcs, nodes) = graph(replay, arena, last);
    let width = typed.words.len() + 1;
    let mut prices = Prices { typed, known: FxHashMap::default() };
    let mut rows = vec![NOWHERE; nodes * width];
    rows[0] = Cell { edits: 0.0, score: 0.0, ..NOWHERE };
    skip(&mut rows[..width]);
    let (mut now, mut next) = (Vec::new(), Vec::new());
    for (number, arc) in arcs.iter().enumerate() {
        let start = arc.from as usize * width;
        now.clear();
        now.extend(rows[start..start + width].iter().enumerate().map(|(before, cell)| Cell {
            score: cell.score + arc.score,
            arc: to_u32(number),
            before: to_u32(before),
            crossing: 0,
            ..*cell
        }));
        for (at, word) in replay.words(arc.option).enumerate() {
            advance(&now, &mut next, prices.of(word), to_u32(at) + 1);
            std::mem::swap(&mut now, &mut next);
        }
        let end = arc.to as usize * width;
        for (cell, new) in rows[end..end + width].iter_mut().zip(&now) {
            if new.is_better(cell) {
                *cell = *new;
            }
        }
    }
    Some(follow(replay, &arcs, &rows, width, nodes - 1))
}

/// Typed words that no word of the translation stands for.
fn skip(row: &mut [Cell]) {
    for at in 1..row.len() {
        let skipped = row[at - 1].with(EDIT);
        if skipped.is_better(&row[at]) {
            row[at] = skipped;
        }
    }
}

/// One word further: `prices` tell what it costs to stand for each typed word.
fn advance(now: &[Cell], next: &mut Vec<Cell>, prices: &[f32], words: u32) {
    let last = now.len() - 1;
    next.clear();
    for (at, cell) in now.iter().enumerate() {
        // Behind the typed words any word may follow.
        let mut best = if at == last { *cell } else { cell.with(EDIT) };
        if at > 0 {
            let mut matched = now[at - 1].with(prices[at - 1]);
            if at == last {
                matched.crossing = words;
            }
            if matched.is_better(&best) {
                best = matched;
            }
        }
        next.push(best);
    }
    skip_to_end(next, words);
}

/// As `skip`; where the last typed word is skipped, the translation goes on right here.
fn skip_to_end(row: &mut [Cell], words: u32) {
    let last = row.len() - 1;
    for at in 1..row.len() {
        let mut skipped = row[at - 1].with(EDIT);
        if at == last {
            skipped.crossing = words;
        }
        if skipped.is_better(&row[at]) {
            row[at] = skipped;
        }
    }
}

/// What each word costs for each typed one.
struct Prices<'a> {
    typed: Typed<'a>,
    known: FxHashMap<String, Vec<f32>>,
}

impl Prices<'_> {
    fn of(&mut self, word: &str) -> &[f32] {
        if !self.known.contains_key(word) {
            let typed = self.typed;
            let last = typed.words.len().saturating_sub(1);
            let price = |(at, other): (usize, &&str)| {
                let is_begun = typed.is_open && at == last && word.starts_with(other);
                if is_begun { 0.0 } else { EDIT * distance(word, other) }
            };
            let prices = typed.words.iter().enumerate().map(price).collect();
            self.known.insert(word.to_owned(), prices);
        }
        &self.known[word]
    }
}

/// Share of the letters that differ, 0 to 1.
fn distance(one: &str, other: &str) -> f32 {
    if one == other {
        return 0.0;
    }
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.iter().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], at + 1);
        for (column, with) in other.iter().enumerate() {
            let replaced = corner + usize::from(letter != with);
            corner = row[column + 1];
            row[column + 1] = replaced.min(corner + 1).min(row[column] + 1);
        }
    }
    row[other.len()] as f32 / one.len().max(other.len()).max(1) as f32
}

/// All arcs on some way to the end, those of shorter translations first, between nodes that are
/// numbered anew: 0 is the empty translation, the last one the whole.
fn graph(replay: &Replay<'_>, arena: &Arena, last: HypId) -> (Vec<Arc>, usize) {
    let hyps = arena.hyps.all();
    let covered = |hyp: HypId| arena.covers.covered(hyps[hyp.index()].key.cover);
    let mut is_reached = vec![false; hyps.len()];
    let mut reached = vec![last];
    is_reached[last.index()] = true;
    let mut at = 0;
    while at < reached.len() {
        let mut arc = reached[at];
        while arc != HypId::NONE && hyps[arc.index()].option != OptionId::NONE {
            let back = hyps[arc.index()].back;
            if !std::mem::replace(&mut is_reached[back.index()], true) {
                reached.push(back);
            }
            arc = hyps[arc.index()].arc;
        }
        at += 1;
    }
    reached.sort_by_key(|&hyp| (covered(hyp), hyp));
    let mut numbers = vec![0; hyps.len()];
    for (number, hyp) in reached.iter().enumerate() {
        numbers[hyp.index()] = to_u32(number);
    }
    let mut arcs = Vec::with_capacity(reached.len());
    for &to in &reached {
        let mut arc = to;
        while arc != HypId::NONE && hyps[arc.index()].option != OptionId::NONE {
            let hyp = &hyps[arc.index()];
            arcs.push(Arc {
                from: numbers[hyp.back.index()],
                to: numbers[to.index()],
                option: hyp.option,
                score: hyp.score - hyps[hyp.back.index()].score,
            });
            arc = hyp.arc;
        }
    }
    debug_assert!(arcs.iter().all(|arc| arc.from < arc.to), "{} words", replay.src.len());
    (arcs, reached.len())
}

/// The translation that the best way to the end spells.
fn follow(
    replay: &Replay<'_>,
    arcs: &[Arc],
    rows: &[Cell],
    width: usize,
    end: usize,
) -> Suggestion {
    let whole = rows[end * width + width - 1];
    let mut way = Vec::new();
    let (mut node, mut at) = (end, width - 1);
    loop {
        let cell = rows[node * width + at];
        let Some(arc) = arcs.get(cell.arc as usize) else { break };
        let is_crossing = at == width - 1 && cell.before as usize != at;
        way.push((arc.option, is_crossing.then_some(cell.crossing)));
        (node, at) = (arc.from as usize, cell.before as usize);
    }
    let (mut words, mut typed) = (Vec::new(), 0);
    for (option, crossing) in way.into_iter().rev() {
        if let Some(crossing) = crossing {
            typed = words.len() + crossing as usize;
        }
        words.extend(replay.words(option).map(str::to_owned));
    }
    Suggestion { words, typed, edits: whole.edits, score: whole.score }
}
