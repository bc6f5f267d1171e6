//! Symmetrization of the links of two directional models.
//!
//! In: `by_src` with at most one link per source word, and `by_tgt` with at most one per target
//! word.
//! Out: links in ascending (source, target) order.
//! How: grow-diag and its final steps as in Koehn et al. (2005); visiting order as in definitions
//! f.1, equal to Moses' symal.
//! Cost: O(cells) memory, a few passes over the links of the sentence.
//! Not: the posterior threshold, which needs no directional links (see `text_aligner`).

use super::word_alignments::{Link, WordAlignments};
use crate::Job;
use crate::corpus::Bitext;
use crate::error::Result;

/// Number of sentence pairs between two checks for cancellation.
const CHECK_INTERVAL: usize = 1 << 12;

/// A symmetrization heuristic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SymmetrizationHeuristic {
    /// Links of both models.
    Intersect,
    /// Links of either model.
    Union,
    /// The intersection, extended by horizontal and vertical neighbors in the union.
    Grow,
    /// As `Grow`, with diagonal neighbors.
    GrowDiag,
    /// As `GrowDiag`, then links of words that are still unlinked on one side.
    GrowDiagFinal,
    /// As `GrowDiag`, then links of words that are unlinked on both sides.
    GrowDiagFinalAnd,
}

impl SymmetrizationHeuristic {
    /// All heuristics with their option names.
    pub const ALL: [(&'static str, SymmetrizationHeuristic); 6] = [
        ("intersect", SymmetrizationHeuristic::Intersect),
        ("union", SymmetrizationHeuristic::Union),
        ("grow", SymmetrizationHeuristic::Grow),
        ("grow-diag", SymmetrizationHeuristic::GrowDiag),
        ("grow-diag-final", SymmetrizationHeuristic::GrowDiagFinal),
        ("grow-diag-final-and", SymmetrizationHeuristic::GrowDiagFinalAnd),
    ];

    /// Return the heuristic with this option name.
    pub fn named(name: &str) -> Option<SymmetrizationHeuristic> {
        SymmetrizationHeuristic::ALL
            .into_iter()
            .find(|(known, _)| *known == name)
            .map(|(_, heuristic)| heuristic)
    }
}

/// Offsets (target, source) of the neighbors in visiting order; the first four share a row or
/// column.
const NEIGHBORS: [(isize, isize); 8] =
    [(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)];

/// Symmetrize the links of a whole text: `by_src` has at most one link per source word, `by_tgt` at
/// most one per target word.
pub fn symmetrize_all(
    by_src: &WordAlignments,
    by_tgt: &WordAlignments,
    bitext: &Bitext,
    heuristic: SymmetrizationHeuristic,
    job: &Job,
) -> Result<WordAlignments> {
    let mut symmetrized = WordAlignments::default();
    for k in 0..bitext.len() {
        if k.is_multiple_of(CHECK_INTERVAL) {
            job.check()?;
        }
        let lens = (bitext.src().sentence(k).len(), bitext.tgt().sentence(k).len());
        symmetrized.push(symmetrize(by_src.sentence(k), by_tgt.sentence(k), lens, heuristic));
    }
    Ok(symmetrized)
}

/// Symmetrize the links of a sentence pair with `src_len` and `tgt_len` words.
pub fn symmetrize(
    by_src: &[Link],
    by_tgt: &[Link],
    (src_len, tgt_len): (usize, usize),
    heuristic: SymmetrizationHeuristic,
) -> Vec<Link> {
    let mut grid = LinkGrid::new(by_src, by_tgt, src_len, tgt_len);
    match heuristic {
        SymmetrizationHeuristic::Intersect => {}
        SymmetrizationHeuristic::Union => grid.keep_all(),
        SymmetrizationHeuristic::Grow => grid.grow(&NEIGHBORS[..4]),
        SymmetrizationHeuristic::GrowDiag => grid.grow(&NEIGHBORS),
        SymmetrizationHeuristic::GrowDiagFinal => {
            grid.grow(&NEIGHBORS);
            grid.finish(|src_free, tgt_free| src_free || tgt_free);
        }
        SymmetrizationHeuristic::GrowDiagFinalAnd => {
            grid.grow(&NEIGHBORS);
            grid.finish(|src_free, tgt_free| src_free && tgt_free);
        }
    }
    grid.links()
}

const BY_SRC: u8 = 1;
const BY_TGT: u8 = 2;
const KEPT: u8 = 4;

/// Cells of a sentence pair by target, then source position, with flags of the models that have the
/// link and of kept links.
struct LinkGrid {
    cells: Vec<u8>,
    src_covered: Vec<bool>,
    tgt_covered: Vec<bool>,
}

impl LinkGrid {
    fn new(by_src: &[Link], by_tgt: &[Link], src_len: usize, tgt_len: usize) -> Self {
        let mut grid = LinkGrid {
            cells: vec![0; src_len * tgt_len],
            src_covered: vec![false; src_len],
            tgt_covered: vec![false; tgt_len],
        };
        for (links, mark) in [(by_src, BY_SRC), (by_tgt, BY_TGT)] {
            for link in links {
                grid.cells[link.tgt.index() * src_len + link.src.index()] |= mark;
            }
        }
        for cell in 0..grid.cells.len() {
            if grid.cells[cell] == BY_SRC | BY_TGT {
                grid.keep(cell);
            }
        }
        grid
    }

    fn src_of(&self, cell: usize) -> usize {
        cell % self.src_covered.len()
    }

    fn tgt_of(&self, cell: usize) -> usize {
        cell / self.src_covered.len()
    }

    fn keep(&mut self, cell: usize) {
        let (src, tgt) = (self.src_of(cell), self.tgt_of(cell));
        self.cells[cell] |= KEPT;
        self.src_covered[src] = true;
        self.tgt_covered[tgt] = true;
    }

    fn keep_all(&mut self) {
        for cell in 0..self.cells.len() {
            if self.cells[cell] != 0 {
                self.keep(cell);
            }
        }
    }

    /// Add neighbors of kept links until a pass adds none.
    fn grow(&mut self, offsets: &[(isize, isize)]) {
        let mut added = true;
        while added {
            added = false;
            for cell in 0..self.cells.len() {
                if self.cells[cell] & KEPT != 0 {
                    added |= self.grow_from(cell, offsets);
                }
            }
        }
    }

    fn grow_from(&mut self, cell: usize, offsets: &[(isize, isize)]) -> bool {
        let mut added = false;
        for &offset in offsets {
            let Some(near) = self.neighbor(cell, offset) else { continue };
            let is_candidate = self.cells[near] != 0 && self.cells[near] & KEPT == 0;
            if is_candidate
                && (!self.src_covered[self.src_of(near)] || !self.tgt_covered[self.tgt_of(near)])
            {
                self.keep(near);
                added = true;
            }
        }
        added
    }

    fn neighbor(&self, cell: usize, (tgt_step, src_step): (isize, isize)) -> Option<usize> {
        let src = self.src_of(cell).checked_add_signed(src_step)?;
        let tgt = self.tgt_of(cell).checked_add_signed(tgt_step)?;
        (src < self.src_covered.len() && tgt < self.tgt_covered.len())
            .then(|| tgt * self.src_covered.len() + src)
    }

    /// Add links of a single model, first `by_tgt`, then `by_src`, if `allows` accepts the pair
    /// (source word unlinked, target word unlinked).
    fn finish(&mut self, allows: fn(bool, bool) -> bool) {
        for only in [BY_TGT, BY_SRC] {
            for cell in 0..self.cells.len() {
                let src_free = !self.src_covered[self.src_of(cell)];
                let tgt_free = !self.tgt_covered[self.tgt_of(cell)];
                if self.cells[cell] == only && allows(src_free, tgt_free) {
                    self.keep(cell);
                }
            }
        }
    }

    fn links(&self) -> Vec<Link> {
        let kept = (0..self.cells.len()).filter(|&cell| self.cells[cell] & KEPT != 0);
        let mut links: Vec<Link> =
            kept.map(|cell| Link::at(self.src_of(cell), self.tgt_of(cell))).collect();
        links.sort_unstable();
        links
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parse links from pairs of digits, source first: `"00 21"`.
    fn links(text: &str) -> Vec<Link> {
        let digit = |byte: u8| usize::from(byte - b'0');
        text.split_whitespace()
            .map(|pair| pair.as_bytes())
            .map(|pair| Link::at(digit(pair[0]), digit(pair[1])))
            .collect()
    }

    fn symmetrized(by_src: &str, by_tgt: &str, heuristic: SymmetrizationHeuristic) -> Vec<Link> {
        symmetrize(&links(by_src), &links(by_tgt), (5, 5), heuristic)
    }

    #[test]
    fn first_example_of_the_specification() {
        let join = |heuristic| symmetrized("00 11 21 33", "00 11 22 33 44", heuristic);
        assert_eq!(join(SymmetrizationHeuristic::Intersect), links("00 11 33"));
        assert_eq!(join(SymmetrizationHeuristic::Union), links("00 11 21 22 33 44"));
        assert_eq!(join(SymmetrizationHeuristic::Grow), links("00 11 21 22 33"));
        for heuristic in [
            SymmetrizationHeuristic::GrowDiag,
            SymmetrizationHeuristic::GrowDiagFinal,
            SymmetrizationHeuristic::GrowDiagFinalAnd,
        ] {
            assert_eq!(join(heuristic), links("00 11 21 22 33 44"));
        }
    }

    #[test]
    fn second_example_of_the_specification() {
        let join = |heuristic| symmetrized("00 12 33 41", "00 21 22 33 44", heuristic);
        assert_eq!(join(SymmetrizationHeuristic::Intersect), links("00 33"));
        assert_eq!(join(SymmetrizationHeuristic::Grow), links("00 33"));
        for heuristic in [
            SymmetrizationHeuristic::GrowDiag,
            SymmetrizationHeuristic::GrowDiagFinal,
            SymmetrizationHeuristic::GrowDiagFinalAnd,
        ] {
            assert_eq!(join(heuristic), links("00 12 21 22 33 44"));
        }
    }

    #[test]
    fn final_and_asks_more_than_final() {
        // 02 is on its own for by_src; 40 for by_tgt: row 0 of the source and column 0 of the
        // target are covered by 00
        let join = |heuristic| symmetrized("00 42", "00 40", heuristic);
        assert_eq!(join(SymmetrizationHeuristic::GrowDiag), links("00"));
        assert_eq!(join(SymmetrizationHeuristic::GrowDiagFinal), links("00 40 42"));
        assert_eq!(join(SymmetrizationHeuristic::GrowDiagFinalAnd), links("00 42"));
    }

    #[test]
    fn empty_sentences_have_no_links() {
        assert_eq!(symmetrize(&[], &[], (0, 3), SymmetrizationHeuristic::GrowDiagFinal), vec![]);
        assert_eq!(symmetrize(&[], &[], (0, 0), SymmetrizationHeuristic::Union), vec![]);
    }
}
