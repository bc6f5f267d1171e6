//! Lexical weights: how well the words of a phrase pair translate each other.
//!
//! In: how often words are linked. Out: lex(e|f) and lex(f|e) of a phrase pair with its links:
//! every word's probability given the words it is linked to (the mean), or given no word, and
//! their product (Koehn, Och and Marcu, 2003).
//! Cost: one look-up a link.

use crate::extract::{Counts, Entry, LinkCount, MAX_LENGTH, Strictness};
use rustc_hash::FxHashMap;

/// Probability of a pair of words that is not in the counts.
const MISSING: f64 = 1e-7;

/// Translation probabilities of words, both ways. Words are numbered as in `LinkCount`.
#[derive(Debug)]
pub struct Lexicon {
    counts: FxHashMap<(u32, u32), u64>,
    src_totals: Vec<u64>,
    tgt_totals: Vec<u64>,
    rounded: bool,
}

impl Lexicon {
    /// The probabilities that the links of a corpus give.
    pub fn new(counts: &Counts) -> Self {
        let mut lexicon = Lexicon {
            counts: FxHashMap::default(),
            src_totals: vec![0; counts.src_words.len() + 1],
            tgt_totals: vec![0; counts.tgt_words.len() + 1],
            rounded: counts.strictness == Strictness::Moses,
        };
        lexicon.counts.reserve(counts.links.len());
        for &LinkCount { src, tgt, count } in &counts.links {
            lexicon.counts.insert((src, tgt), count);
            lexicon.src_totals[src as usize] += count;
            lexicon.tgt_totals[tgt as usize] += count;
        }
        lexicon
    }

    /// w(e|f) and w(f|e).
    pub fn both(&self, src: u32, tgt: u32) -> (f64, f64) {
        let Some(&count) = self.counts.get(&(src, tgt)) else { return (MISSING, MISSING) };
        let share = |total: u64| {
            let share = count as f64 / total as f64;
            // Moses reads them from a file with seven decimals.
            if self.rounded { (share * 1e7).round() / 1e7 } else { share }
        };
        (share(self.src_totals[src as usize]), share(self.tgt_totals[tgt as usize]))
    }

    /// lex(e|f) and lex(f|e) of a phrase pair; links are two bytes each.
    pub fn weights(&self, src: &[u32], tgt: &[u32], links: &[u8]) -> (f64, f64) {
        weights(src, tgt, links, |src, tgt| self.both(src, tgt))
    }
}

/// lex(e|f) and lex(f|e) of a phrase pair by a table of w(e|f) and w(f|e), where word 0 is no word.
fn weights(
    src: &[u32],
    tgt: &[u32],
    links: &[u8],
    both: impl Fn(u32, u32) -> (f64, f64),
) -> (f64, f64) {
    let mut by_src = [(0.0, 0u32); MAX_LENGTH];
    let mut by_tgt = [(0.0, 0u32); MAX_LENGTH];
    for link in links.chunks_exact(2) {
        let (i, j) = (usize::from(link[0]), usize::from(link[1]));
        let (forth, back) = both(src[i], tgt[j]);
        by_tgt[j] = (by_tgt[j].0 + forth, by_tgt[j].1 + 1);
        by_src[i] = (by_src[i].0 + back, by_src[i].1 + 1);
    }
    let mut product = (1.0, 1.0);
    for (&word, &(sum, links)) in tgt.iter().zip(&by_tgt) {
        product.0 *= if links == 0 { both(0, word).0 } else { sum / f64::from(links) };
    }
    for (&word, &(sum, links)) in src.iter().zip(&by_src) {
        product.1 *= if links == 0 { both(word, 0).1 } else { sum / f64::from(links) };
    }
    product
}

/// The links of a pair that its lexical weights use.
pub(super) struct BestLinks<'e> {
    /// For lex(e|f), and for the table.
    pub forth: &'e [u8],
    /// For lex(f|e): the same, but for Moses' ties.
    pub back: &'e [u8],
}

/// The most frequent links; of equally frequent ones the smallest. Moses takes the largest,
/// compared word by word of the side whose weight it is.
pub(super) fn best_links(entry: &Entry, strictness: Strictness) -> BestLinks<'_> {
    let most = entry.patterns().map(|(_, count)| count).max().unwrap_or_default();
    let best = || entry.patterns().filter(|&(_, count)| count == most).map(|(links, _)| links);
    let first = best().next().unwrap_or_default();
    match strictness {
        Strictness::Strict => BestLinks { forth: first, back: first },
        Strictness::Moses => BestLinks {
            forth: best().max_by_key(|links| by_word(links, 1)).unwrap_or_default(),
            back: best().max_by_key(|links| by_word(links, 0)).unwrap_or_default(),
        },
    }
}

/// The links of each word of one side (0: source, 1: target) to the other side.
fn by_word(links: &[u8], side: usize) -> Vec<Vec<u8>> {
    let mut words: Vec<Vec<u8>> = Vec::new();
    for link in links.chunks_exact(2) {
        let word = usize::from(link[side]);
        words.resize(words.len().max(word + 1), Vec::new());
        words[word].push(link[1 - side]);
        words[word].sort_unstable();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worked_example() {
        // w(x|a) = .5, w(x|b) = .25, w(y|no word) = .1, w(z|b) = .8; a b / x y z, 0-0 1-0 1-2
        let forth = |src, tgt| match (src, tgt) {
            (1, 1) => 0.5,
            (2, 1) => 0.25,
            (0, 2) => 0.1,
            (2, 3) => 0.8,
            _ => MISSING,
        };
        let links = [0, 0, 1, 0, 1, 2];
        let (weight, _) = weights(&[1, 2], &[1, 2, 3], &links, |src, tgt| (forth(src, tgt), 0.0));
        assert!((weight - 0.03).abs() < 1e-15); // .375 · .1 · .8
        let (_, weight) =
            weights(&[1, 2, 3], &[1, 2], &[0, 0, 0, 1, 2, 1], |src, tgt| (0.0, forth(tgt, src)));
        assert!((weight - 0.03).abs() < 1e-15);
    }
}
