//! A bitext in the numbers of a model.
//!
//! In: a bitext, and the numbering of each side. Out: which sentence pairs can have links.
//! Cost: none; it borrows.
//! Not: the look-ups in the lexicon, which `pair` makes.

use super::words::Numbering;
use crate::corpus::{Bitext, Text};

/// Longest sentence that is aligned; longer ones are seldom sentences, and cost grows with the
/// square.
pub const MAX_WORDS: usize = 1000;

/// A bitext and how a model numbers its words.
#[derive(Debug, Clone, Copy)]
pub struct Numbered<'a> {
    /// The source side.
    pub src: &'a Text,
    /// The target side.
    pub tgt: &'a Text,
    /// Numbers of source words.
    pub src_numbers: &'a Numbering,
    /// Numbers of target words.
    pub tgt_numbers: &'a Numbering,
}

impl<'a> Numbered<'a> {
    /// A bitext with the numberings of its two sides.
    pub fn new(bitext: &'a Bitext, [src_numbers, tgt_numbers]: [&'a Numbering; 2]) -> Self {
        Numbered { src: bitext.src(), tgt: bitext.tgt(), src_numbers, tgt_numbers }
    }

    /// Number of sentence pairs.
    pub fn len(&self) -> usize {
        self.src.len()
    }

    /// Whether pair `k` can have links: no side is blank or over `MAX_WORDS` words.
    pub fn has_links(&self, k: usize) -> bool {
        let fits = |side: &[u32]| (1..=MAX_WORDS).contains(&side.len());
        fits(self.src.sentence(k)) && fits(self.tgt.sentence(k))
    }
}
