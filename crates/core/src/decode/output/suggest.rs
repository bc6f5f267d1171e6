//! Completion of a typed prefix, from the search graph of the sentence.
//!
//! In: a finished search with all arcs, and the target words typed so far; the last word may be
//! incomplete. Out: the translation with the smallest edit distance between its beginning and the
//! prefix, the best score on ties, and the position where the prefix ends.
//! How: each node keeps, for each number of matched typed words, the fewest edits and the best
//! score (Och, Zens and Ney, 2003; Barrachina et al., 2009). A substitution costs the share of
//! different letters, as in Koehn, Tsoukala and Saint-Amand (2014).
//! Cost: O(arcs · typed words), a few milliseconds for thirty words.
//! Not: a new search; words that are not in the graph count as edits.

use crate::decode::ids::HypId;
use crate::decode::output::derivation::DerivationScorer;
use crate::decode::search::arena::SearchArena;
use crate::feature::OptionId;
use crate::narrow::to_u32;
use rustc_hash::FxHashMap;

/// Cost of an insertion or a deletion, and maximum cost of a substitution.
const EDIT: f32 = 1.0;

/// The words typed so far.
#[derive(Debug, Clone, Copy)]
pub struct TypedPrefix<'a> {
    /// Target words.
    pub words: &'a [&'a str],
    /// Whether the last word may be incomplete.
    pub is_open: bool,
}

/// A translation that continues a typed prefix.
#[derive(Debug, Clone, PartialEq)]
pub struct Suggestion {
    /// All words of the translation.
    pub words: Vec<String>,
    /// Number of words that correspond to the typed prefix.
    pub typed: usize,
    /// Edit distance between these words and the typed prefix.
    pub edits: f32,
    /// Weighted score of the translation.
    pub score: f64,
}

/// An arc of the search graph.
struct LatticeArc {
    from: u32,
    to: u32,
    option: OptionId,
    score: f64,
}

/// The best partial translation of a node for a number of matched typed words.
#[derive(Debug, Clone, Copy)]
struct PrefixCell {
    edits: f32,
    score: f64,
    /// Index of the last arc; `u32::MAX` for the empty translation.
    arc: u32,
    /// Number of typed words matched before the arc.
    before: u32,
    /// Number of words of the arc up to the end of the typed prefix, if the arc contains that end.
    crossing: u32,
}

const UNREACHED: PrefixCell = PrefixCell {
    edits: f32::INFINITY,
    score: f64::NEG_INFINITY,
    arc: u32::MAX,
    before: 0,
    crossing: 0,
};

impl PrefixCell {
    fn is_better(&self, other: &PrefixCell) -> bool {
        self.edits < other.edits || self.edits == other.edits && self.score > other.score
    }

    fn with(self, edits: f32) -> PrefixCell {
        PrefixCell { edits: self.edits + edits, ..self }
    }
}

/// Return the best completion of a typed prefix; none for an empty sentence.
pub fn suggest(
    scorer: &DerivationScorer<'_>,
    arena: &SearchArena,
    last: HypId,
    typed: TypedPrefix<'_>,
) -> Option<Suggestion> {
    if scorer.src.is_empty() {
        return None;
    }
    let (arcs, nodes) = collect_arcs(scorer, arena, last);
    let width = typed.words.len() + 1;
    let mut costs = EditCosts { typed, known: FxHashMap::default() };
    let mut rows = vec![UNREACHED; nodes * width];
    rows[0] = PrefixCell { edits: 0.0, score: 0.0, ..UNREACHED };
    skip(&mut rows[..width]);
    let (mut now, mut next) = (Vec::new(), Vec::new());
    for (number, arc) in arcs.iter().enumerate() {
        let start = arc.from as usize * width;
        now.clear();
        now.extend(rows[start..start + width].iter().enumerate().map(|(before, cell)| {
            PrefixCell {
                score: cell.score + arc.score,
                arc: to_u32(number),
                before: to_u32(before),
                crossing: 0,
                ..*cell
            }
        }));
        for (at, word) in scorer.words(arc.option).enumerate() {
            advance(&now, &mut next, costs.of(word), to_u32(at) + 1);
            std::mem::swap(&mut now, &mut next);
        }
        let end = arc.to as usize * width;
        for (cell, new) in rows[end..end + width].iter_mut().zip(&now) {
            if new.is_better(cell) {
                *cell = *new;
            }
        }
    }
    Some(trace_back(scorer, &arcs, &rows, width, nodes - 1))
}

/// Skip typed words without a word of the translation.
fn skip(row: &mut [PrefixCell]) {
    for at in 1..row.len() {
        let skipped = row[at - 1].with(EDIT);
        if skipped.is_better(&row[at]) {
            row[at] = skipped;
        }
    }
}

/// Add a word of the translation; `costs` has its substitution cost for each typed word.
fn advance(now: &[PrefixCell], next: &mut Vec<PrefixCell>, costs: &[f32], words: u32) {
    let last = now.len() - 1;
    next.clear();
    for (at, cell) in now.iter().enumerate() {
        // After the typed words, additional words cost nothing.
        let mut best = if at == last { *cell } else { cell.with(EDIT) };
        if at > 0 {
            let mut matched = now[at - 1].with(costs[at - 1]);
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

/// Skip typed words as in `skip`, and note where the typed prefix ends.
fn skip_to_end(row: &mut [PrefixCell], words: u32) {
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

/// Cached substitution costs of each word for each typed word.
struct EditCosts<'a> {
    typed: TypedPrefix<'a>,
    known: FxHashMap<String, Vec<f32>>,
}

impl EditCosts<'_> {
    fn of(&mut self, word: &str) -> &[f32] {
        if !self.known.contains_key(word) {
            let typed = self.typed;
            let last = typed.words.len().saturating_sub(1);
            let cost = |(at, other): (usize, &&str)| {
                let is_begun = typed.is_open && at == last && word.starts_with(other);
                if is_begun { 0.0 } else { EDIT * letter_distance(word, other) }
            };
            let costs = typed.words.iter().enumerate().map(cost).collect();
            self.known.insert(word.to_owned(), costs);
        }
        &self.known[word]
    }
}

/// Return the edit distance of two words divided by the longer length, 0 to 1.
fn letter_distance(word: &str, other: &str) -> f32 {
    if word == other {
        return 0.0;
    }
    let (word, other): (Vec<char>, Vec<char>) = (word.chars().collect(), other.chars().collect());
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in word.iter().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], at + 1);
        for (column, with) in other.iter().enumerate() {
            let replaced = corner + usize::from(letter != with);
            corner = row[column + 1];
            row[column + 1] = replaced.min(corner + 1).min(row[column] + 1);
        }
    }
    row[other.len()] as f32 / word.len().max(other.len()).max(1) as f32
}

/// Return all arcs on a path to the end, sorted by covered words, and the number of nodes. Node 0
/// is the empty translation, the last node the complete one.
fn collect_arcs(
    scorer: &DerivationScorer<'_>,
    arena: &SearchArena,
    last: HypId,
) -> (Vec<LatticeArc>, usize) {
    let hyps = arena.hyps.all();
    let covered = |hyp: HypId| arena.coverages.covered(hyps[hyp.index()].key.coverage);
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
            arcs.push(LatticeArc {
                from: numbers[hyp.back.index()],
                to: numbers[to.index()],
                option: hyp.option,
                score: hyp.score - hyps[hyp.back.index()].score,
            });
            arc = hyp.arc;
        }
    }
    debug_assert!(arcs.iter().all(|arc| arc.from < arc.to), "{} words", scorer.src.len());
    (arcs, reached.len())
}

/// Return the translation of the best path to the end.
fn trace_back(
    scorer: &DerivationScorer<'_>,
    arcs: &[LatticeArc],
    rows: &[PrefixCell],
    width: usize,
    end: usize,
) -> Suggestion {
    let whole = rows[end * width + width - 1];
    let mut path = Vec::new();
    let (mut node, mut at) = (end, width - 1);
    loop {
        let cell = rows[node * width + at];
        let Some(arc) = arcs.get(cell.arc as usize) else { break };
        let is_crossing = at == width - 1 && cell.before as usize != at;
        path.push((arc.option, is_crossing.then_some(cell.crossing)));
        (node, at) = (arc.from as usize, cell.before as usize);
    }
    let (mut words, mut typed) = (Vec::new(), 0);
    for (option, crossing) in path.into_iter().rev() {
        if let Some(crossing) = crossing {
            typed = words.len() + crossing as usize;
        }
        words.extend(scorer.words(option).map(str::to_owned));
    }
    Suggestion { words, typed, edits: whole.edits, score: whole.score }
}
