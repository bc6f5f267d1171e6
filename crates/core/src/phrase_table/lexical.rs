//! Lexical weights: how well the words of a phrase pair translate each other.
//!
//! In: how often words are linked. Out: lex(e|f) and lex(f|e) of a phrase pair with its links:
//! every word's probability given the words it is linked to (the mean), or given no word, and
//! their product (Koehn, Och and Marcu, 2003).
//! Cost: one look-up a link, mostly among those at hand, else a binary search; 12 bytes a pair of
//! linked words, in memory or on disk.

use crate::error::Result;
use crate::extract::{Counts, Entry, LinkCount, MAX_LENGTH, Strictness};
use crate::narrow::to_usize;
use crate::storage::{Blob, BlobWriter, long_at, short_at};

/// Probability of a pair of words that is not in the counts.
const MISSING: f64 = 1e-7;

/// Bytes of a target word and its count.
const WIDTH: usize = 12;
/// Probabilities that are kept at hand.
const KEPT: usize = 1 << 15;
/// Searches between two moments at which mapped counts are given back.
const SEARCHES: u32 = 1 << 20;

/// Translation probabilities of words, both ways, for all threads. Words are numbered as in `LinkCount`.
pub struct Lexicon {
    /// By source word, where its target words begin in `counts`, and the end.
    starts: Vec<u64>,
    /// Target word (u32) and count (u64), sorted.
    counts: Blob,
    src_totals: Vec<u64>,
    tgt_totals: Vec<u64>,
    rounded: bool,
}

impl Lexicon {
    /// The probabilities that the links of a corpus give; beyond `memory` they are on disk.
    pub fn new(counts: &Counts, memory: usize) -> Result<Self> {
        let mut starts = vec![0; counts.src_words.len() + 2];
        let mut src_totals = vec![0; counts.src_words.len() + 1];
        let mut tgt_totals = vec![0; counts.tgt_words.len() + 1];
        let mut out = BlobWriter::new(memory, counts.folder());
        for (at, LinkCount { src, tgt, count }) in (1..).zip(counts.links.iter()) {
            out.buffer.extend_from_slice(&tgt.to_le_bytes());
            out.buffer.extend_from_slice(&count.to_le_bytes());
            out.settle()?;
            starts[src as usize + 1] = at;
            src_totals[src as usize] += count;
            tgt_totals[tgt as usize] += count;
        }
        for src in 1..starts.len() {
            starts[src] = starts[src].max(starts[src - 1]); // words without links
        }
        Ok(Lexicon {
            starts,
            counts: out.finish()?,
            src_totals,
            tgt_totals,
            rounded: counts.strictness == Strictness::Moses,
        })
    }

    /// w(e|f) and w(f|e).
    fn search(&self, src: u32, tgt: u32) -> (f64, f64) {
        let of_src = to_usize(self.starts[src as usize])..to_usize(self.starts[src as usize + 1]);
        let rows = &self.counts.bytes()[WIDTH * of_src.start..WIDTH * of_src.end];
        let word = |at: usize| short_at(rows, WIDTH * at).unwrap_or_default();
        let (mut low, mut high) = (0, of_src.len());
        while low < high {
            let middle = (low + high) / 2;
            if word(middle) < tgt { low = middle + 1 } else { high = middle }
        }
        if low == of_src.len() || word(low) != tgt {
            return (MISSING, MISSING);
        }
        let count = long_at(rows, WIDTH * low + 4).unwrap_or_default();
        let share = |total: u64| {
            let share = count as f64 / total as f64;
            // Moses reads them from a file with seven decimals.
            if self.rounded { (share * 1e7).round() / 1e7 } else { share }
        };
        (share(self.src_totals[src as usize]), share(self.tgt_totals[tgt as usize]))
    }
}

/// One thread's look-ups in a lexicon.
pub struct Weigher<'l> {
    lexicon: &'l Lexicon,
    /// The last word pairs asked for, by a part of their numbers.
    kept: Vec<(u64, (f64, f64))>,
    searches: u32,
    sums: Sums,
}

impl<'l> Weigher<'l> {
    /// Nothing was looked up yet.
    pub fn new(lexicon: &'l Lexicon) -> Self {
        let kept = vec![(u64::MAX, (0.0, 0.0)); KEPT];
        Weigher { lexicon, kept, searches: 0, sums: Sums::default() }
    }

    /// lex(e|f) and lex(f|e) of a phrase pair; links are two bytes each.
    pub fn weights(&mut self, src: &[u32], tgt: &[u32], links: &[u8]) -> (f64, f64) {
        let Weigher { lexicon, kept, searches, sums } = self;
        sums.weights(src, tgt, links, |src, tgt| {
            let key = u64::from(src) << 32 | u64::from(tgt);
            let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 49; // the upper 15 bits
            let slot = &mut kept[to_usize(hash)];
            if slot.0 != key {
                *searches += 1;
                if *searches == SEARCHES {
                    *searches = 0;
                    lexicon.counts.release(0..lexicon.counts.bytes().len());
                }
                *slot = (key, lexicon.search(src, tgt));
            }
            slot.1
        })
    }
}

/// Scratch memory: by word of either side, the sum over its links and their number.
struct Sums {
    src: [(f64, u32); MAX_LENGTH],
    tgt: [(f64, u32); MAX_LENGTH],
}

impl Default for Sums {
    fn default() -> Self {
        Sums { src: [(0.0, 0); MAX_LENGTH], tgt: [(0.0, 0); MAX_LENGTH] }
    }
}

impl Sums {
    /// lex(e|f) and lex(f|e) of a phrase pair by a table of w(e|f) and w(f|e), where word 0 is no
    /// word.
    fn weights(
        &mut self,
        src: &[u32],
        tgt: &[u32],
        links: &[u8],
        mut both: impl FnMut(u32, u32) -> (f64, f64),
    ) -> (f64, f64) {
        let (by_src, by_tgt) = (&mut self.src[..src.len()], &mut self.tgt[..tgt.len()]);
        by_src.fill((0.0, 0));
        by_tgt.fill((0.0, 0));
        for link in links.chunks_exact(2) {
            let (i, j) = (usize::from(link[0]), usize::from(link[1]));
            let (forth, back) = both(src[i], tgt[j]);
            by_tgt[j] = (by_tgt[j].0 + forth, by_tgt[j].1 + 1);
            by_src[i] = (by_src[i].0 + back, by_src[i].1 + 1);
        }
        let mut product = (1.0, 1.0);
        for (&word, &(sum, links)) in tgt.iter().zip(&*by_tgt) {
            product.0 *= if links == 0 { both(0, word).0 } else { sum / f64::from(links) };
        }
        for (&word, &(sum, links)) in src.iter().zip(&*by_src) {
            product.1 *= if links == 0 { both(word, 0).1 } else { sum / f64::from(links) };
        }
        product
    }
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
        let mut sums = Sums::default();
        let (weight, _) =
            sums.weights(&[1, 2], &[1, 2, 3], &links, |src, tgt| (forth(src, tgt), 0.0));
        assert!((weight - 0.03).abs() < 1e-15); // .375 · .1 · .8
        let links = [0, 0, 0, 1, 2, 1];
        let (_, weight) =
            sums.weights(&[1, 2, 3], &[1, 2], &links, |src, tgt| (0.0, forth(tgt, src)));
        assert!((weight - 0.03).abs() < 1e-15);
    }
}
