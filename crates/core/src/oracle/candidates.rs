//! Monotone translations of a sentence from the phrase table, for the BLEU oracle to reorder.
//!
//! In: a phrase table, a sentence, its references. Out: the translations in source order, phrase by
//! phrase, that are nearest to the references among the best by the table alone.
//! How: definitions i.6. A phrase scores ln(m·p(e|f) + (1−m)·p(f|e)) plus a bonus a phrase; the best
//! paths through the lattice of phrases; of equal strings the first; then those with the highest
//! BLEU by themselves. A word that the table cannot translate alone may stay as it is.
//! Ties: phrases in the table's order, paths by their last phrase, then by what is before it.
//! Cost: `paths` heap operations a source word.

use super::clipped::Clipped;
use crate::corpus::WordId;
use crate::error::Result;
use crate::feature::{PhraseModel, Span};
use crate::narrow::to_u32;
use rustc_hash::FxHashSet;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// What is tried.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Monotone {
    /// Source words of a phrase, at most.
    pub longest: usize,
    /// Translations of a source phrase.
    pub options_per_span: usize,
    /// The weight of p(e|f) against p(f|e).
    pub mixture: f64,
    /// What each phrase adds to the score of a path.
    pub phrase_bonus: f64,
    /// Paths that are looked at.
    pub paths: usize,
    /// Candidates that are kept.
    pub keep: usize,
}

/// What a word scores that is not translated.
const UNTRANSLATED: f64 = -20.0;
/// Where the table has p(f|e) and p(e|f).
const PHI_FE: usize = 0;
const PHI_EF: usize = 2;

/// Source words and what they become.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    /// The source words.
    pub span: Span,
    /// The target words.
    pub words: Vec<String>,
}

/// A path to a word: its score, its last phrase, and which of the paths before that.
#[derive(Debug, Clone, Copy)]
struct Path {
    score: f64,
    option: u32,
    before: u32,
}

impl PartialEq for Path {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Path {}

impl PartialOrd for Path {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Path {
    fn cmp(&self, other: &Self) -> Ordering {
        let ties = (other.option, other.before).cmp(&(self.option, self.before));
        self.score.total_cmp(&other.score).then(ties)
    }
}

/// The candidates of a sentence, nearest to the references first.
pub fn candidates(
    table: &dyn PhraseModel,
    words: &[&str],
    refs: &[Vec<&str>],
    wanted: &Monotone,
) -> Result<Vec<Vec<Piece>>> {
    let options = options(table, words, wanted)?;
    let paths = best_paths(&options, words.len(), wanted.paths);
    let mut clipped = Clipped::default();
    clipped.read(refs);
    let mut seen: FxHashSet<Vec<&str>> = FxHashSet::default();
    let mut scored = Vec::new();
    for rank in 0..paths[words.len()].len() {
        let way = way_to(&paths, &options, words.len(), rank);
        let target = |at: &usize| options[*at].0.words.iter().map(String::as_str);
        let string: Vec<&str> = way.iter().flat_map(target).collect();
        if seen.contains(&string) {
            continue;
        }
        scored.push((clipped.score(&string), way));
        seen.insert(string);
    }
    // Stable: of equal scores the better path comes first.
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.truncate(wanted.keep);
    let pieces = |way: Vec<usize>| way.into_iter().map(|at| options[at].0.clone()).collect();
    Ok(scored.into_iter().map(|(_, way)| pieces(way)).collect())
}

/// The phrases of a sentence with their scores.
fn options(
    table: &dyn PhraseModel,
    words: &[&str],
    wanted: &Monotone,
) -> Result<Vec<(Piece, f64)>> {
    let ids: Vec<Option<WordId>> = words.iter().map(|word| table.source_id(word)).collect();
    let mut options = Vec::new();
    for start in 0..words.len() {
        for end in start + 1..=(start + wanted.longest).min(words.len()) {
            let span = Span::new(to_u32(start), to_u32(end));
            let src: Option<Vec<WordId>> = ids[start..end].iter().copied().collect();
            let mut here: Vec<(Piece, f64)> = Vec::new();
            if let Some(src) = src {
                table.find(&src, &mut |entry| {
                    let target = |&id: &WordId| table.target_word(id).to_owned();
                    let words = entry.tgt.iter().map(target).collect();
                    here.push((Piece { span, words }, score(entry.tm, wanted)));
                })?;
            }
            here.sort_by(|a, b| b.1.total_cmp(&a.1));
            here.truncate(wanted.options_per_span);
            if here.is_empty() && end == start + 1 {
                let copied = Piece { span, words: vec![words[start].to_owned()] };
                here.push((copied, UNTRANSLATED));
            }
            options.append(&mut here);
        }
    }
    Ok(options)
}

fn score(tm: &[f32], wanted: &Monotone) -> f64 {
    let chance = |at: usize| tm.get(at).map_or(0.0, |&score| f64::from(score).exp());
    let mixed = wanted.mixture * chance(PHI_EF) + (1.0 - wanted.mixture) * chance(PHI_FE);
    mixed.max(f64::MIN_POSITIVE).ln() + wanted.phrase_bonus
}

/// The best paths to every word, best first.
fn best_paths(options: &[(Piece, f64)], length: usize, most: usize) -> Vec<Vec<Path>> {
    let mut ending: Vec<Vec<u32>> = vec![Vec::new(); length + 1];
    for (number, (piece, _)) in options.iter().enumerate() {
        ending[piece.span.end as usize].push(to_u32(number));
    }
    let mut paths: Vec<Vec<Path>> = vec![vec![Path { score: 0.0, option: 0, before: 0 }]];
    for numbers in &ending[1..] {
        let mut heap = BinaryHeap::new();
        let extended = |option: u32, before: u32, paths: &[Vec<Path>]| {
            let (piece, score) = &options[option as usize];
            let path = paths[piece.span.start as usize].get(before as usize)?;
            Some(Path { score: path.score + score, option, before })
        };
        heap.extend(numbers.iter().filter_map(|&option| extended(option, 0, &paths)));
        let mut here = Vec::new();
        while here.len() < most
            && let Some(path) = heap.pop()
        {
            here.push(path);
            heap.extend(extended(path.option, path.before + 1, &paths));
        }
        paths.push(here);
    }
    paths
}

/// The phrases of a path, by number.
fn way_to(paths: &[Vec<Path>], options: &[(Piece, f64)], end: usize, rank: usize) -> Vec<usize> {
    let mut way = Vec::new();
    let (mut at, mut rank) = (end, rank);
    while at > 0 {
        let path = paths[at][rank];
        way.push(path.option as usize);
        at = options[path.option as usize].0.span.start as usize;
        rank = path.before as usize;
    }
    way.reverse();
    way
}
