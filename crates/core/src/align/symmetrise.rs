//! Makes one set of links from the links of two directional models.
//!
//! In: `by_src`, where each source word has at most one link, and `by_tgt`, where each target word
//! has at most one.
//! Out: links in ascending (source, target) order.
//! How: grow-diag and its finals as in Koehn et al. (2005); order of visits as in definitions f.1, equal
//! to Moses' symal.
//! Cost: O(cells) memory, a few passes over the links of the sentence.
//! Not: the posterior threshold, which needs no directional links (see `decode`).

use super::links::{Link, Links};
use crate::Job;
use crate::corpus::Bitext;
use crate::error::Result;

/// Sentence pairs between two looks at the job.
const CHECK_EVERY: usize = 1 << 12;

/// How two directional alignments become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heuristic {
    /// Links both models have.
    Intersect,
    /// Links either model has.
    Union,
    /// The intersection, grown over side neighbours in the union.
    Grow,
    /// As `Grow`, with diagonal neighbours.
    GrowDiag,
    /// As `GrowDiag`, then links of a word that has none yet.
    GrowDiagFinal,
    /// As `GrowDiag`, then links between two words that have none yet.
    GrowDiagFinalAnd,
}

impl Heuristic {
    /// All heuristics with the names used in options.
    pub const ALL: [(&'static str, Heuristic); 6] = [
        ("intersect", Heuristic::Intersect),
        ("union", Heuristic::Union),
        ("grow", Heuristic::Grow),
        ("grow-diag", Heuristic::GrowDiag),
        ("grow-diag-final", Heuristic::GrowDiagFinal),
        ("grow-diag-final-and", Heuristic::GrowDiagFinalAnd),
    ];

    /// The heuristic of this name.
    pub fn named(name: &str) -> Option<Heuristic> {
        Heuristic::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, heuristic)| heuristic)
    }
}

/// Offsets of (target, source) in the order they are tried; the first four are the sides.
const NEIGHBOURS: [(isize, isize); 8] =
    [(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)];

/// Joins the links of two directional models of a whole text: `by_src` gives each source word at
/// most one target word, `by_tgt` each target word at most one source word.
pub fn symmetrise_all(
    by_src: &Links,
    by_tgt: &Links,
    bitext: &Bitext,
    heuristic: Heuristic,
    job: &Job,
) -> Result<Links> {
    let mut joined = Links::default();
    for k in 0..bitext.len() {
        if k.is_multiple_of(CHECK_EVERY) {
            job.check()?;
        }
        let lens = (bitext.src().sentence(k).len(), bitext.tgt().sentence(k).len());
        joined.push(symmetrise(by_src.sentence(k), by_tgt.sentence(k), lens, heuristic));
    }
    Ok(joined)
}

/// Joins the links of two directional models of a sentence with `src_len` and `tgt_len` words.
pub fn symmetrise(
    by_src: &[Link],
    by_tgt: &[Link],
    (src_len, tgt_len): (usize, usize),
    heuristic: Heuristic,
) -> Vec<Link> {
    let mut grid = Grid::new(by_src, by_tgt, src_len, tgt_len);
    match heuristic {
        Heuristic::Intersect => {}
        Heuristic::Union => grid.keep_all(),
        Heuristic::Grow => grid.grow(&NEIGHBOURS[..4]),
        Heuristic::GrowDiag => grid.grow(&NEIGHBOURS),
        Heuristic::GrowDiagFinal => {
            grid.grow(&NEIGHBOURS);
            grid.finish(|src_free, tgt_free| src_free || tgt_free);
        }
        Heuristic::GrowDiagFinalAnd => {
            grid.grow(&NEIGHBOURS);
            grid.finish(|src_free, tgt_free| src_free && tgt_free);
        }
    }
    grid.links()
}

const BY_SRC: u8 = 1;
const BY_TGT: u8 = 2;
const KEPT: u8 = 4;

/// The cells of a sentence, target by target; each holds which models have the link and whether it
/// is kept.
struct Grid {
    cells: Vec<u8>,
    src_covered: Vec<bool>,
    tgt_covered: Vec<bool>,
}

impl Grid {
    fn new(by_src: &[Link], by_tgt: &[Link], src_len: usize, tgt_len: usize) -> Self {
        let mut grid = Grid {
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

    /// Adds neighbours of kept links until a pass adds nothing.
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
            let Some(near) = self.neighbour(cell, offset) else { continue };
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

    fn neighbour(&self, cell: usize, (tgt_step, src_step): (isize, isize)) -> Option<usize> {
        let src = self.src_of(cell).checked_add_signed(src_step)?;
        let tgt = self.tgt_of(cell).checked_add_signed(tgt_step)?;
        (src < self.src_covered.len() && tgt < self.tgt_covered.len())
            .then(|| tgt * self.src_covered.len() + src)
    }

    /// Adds links only one model has, those of `by_tgt` first, where `allows(src is free, tgt is
    /// free)`.
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

    /// Links from pairs of digits, source first: `"00 21"`.
    fn links(text: &str) -> Vec<Link> {
        let digit = |byte: u8| usize::from(byte - b'0');
        text.split_whitespace()
            .map(|pair| pair.as_bytes())
            .map(|pair| Link::at(digit(pair[0]), digit(pair[1])))
            .collect()
    }

    fn joined(by_src: &str, by_tgt: &str, heuristic: Heuristic) -> Vec<Link> {
        symmetrise(&links(by_src), &links(by_tgt), (5, 5), heuristic)
    }

    #[test]
    fn first_example_of_the_specification() {
        let join = |heuristic| joined("00 11 21 33", "00 11 22 33 44", heuristic);
        assert_eq!(join(Heuristic::Intersect), links("00 11 33"));
        assert_eq!(join(Heuristic::Union), links("00 11 21 22 33 44"));
        assert_eq!(join(Heuristic::Grow), links("00 11 21 22 33"));
        for heuristic in
            [Heuristic::GrowDiag, Heuristic::GrowDiagFinal, Heuristic::GrowDiagFinalAnd]
        {
            assert_eq!(join(heuristic), links("00 11 21 22 33 44"));
        }
    }

    #[test]
    fn second_example_of_the_specification() {
        let join = |heuristic| joined("00 12 33 41", "00 21 22 33 44", heuristic);
        assert_eq!(join(Heuristic::Intersect), links("00 33"));
        assert_eq!(join(Heuristic::Grow), links("00 33"));
        for heuristic in
            [Heuristic::GrowDiag, Heuristic::GrowDiagFinal, Heuristic::GrowDiagFinalAnd]
        {
            assert_eq!(join(heuristic), links("00 12 21 22 33 44"));
        }
    }

    #[test]
    fn final_and_asks_more_than_final() {
        // 02 is on its own for by_src; 40 for by_tgt: row 0 of the source and column 0 of the
        // target are covered by 00
        let join = |heuristic| joined("00 42", "00 40", heuristic);
        assert_eq!(join(Heuristic::GrowDiag), links("00"));
        assert_eq!(join(Heuristic::GrowDiagFinal), links("00 40 42"));
        assert_eq!(join(Heuristic::GrowDiagFinalAnd), links("00 42"));
    }

    #[test]
    fn empty_sentences_have_no_links() {
        assert_eq!(symmetrise(&[], &[], (0, 3), Heuristic::GrowDiagFinal), vec![]);
        assert_eq!(symmetrise(&[], &[], (0, 0), Heuristic::Union), vec![]);
    }
}
