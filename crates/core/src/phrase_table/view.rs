//! What a table says about a source phrase: its options, read as they are asked for.
//!
//! In: the bytes of a block. Out: words, links, scores and orientation scores of each option,
//! without allocation; a damaged option gives an error and ends the row.
//! Cost: O(1) an option, and its words and links are checked once.

use super::format::{Part, RowScores, SHORT, STEPS};
use super::table::PhraseTable;
use crate::align::Link;
use crate::corpus::WordId;
use crate::error::Result;
use crate::narrow::{to_u32, to_usize};
use crate::orientation::{Direction, Model, Orientation};
use crate::storage::{Cursor, short_at};

/// The words of a phrase.
#[derive(Debug, Clone, Copy)]
pub struct WordIter<'t> {
    pub(super) cursor: Cursor<'t>,
    pub(super) left: usize,
}

impl Iterator for WordIter<'_> {
    type Item = WordId;

    fn next(&mut self) -> Option<WordId> {
        self.left = self.left.checked_sub(1)?;
        self.cursor.small()
    }
}

/// Goes through the table.
#[derive(Debug)]
pub struct Blocks<'t> {
    pub(super) table: &'t PhraseTable,
    pub(super) at: usize,
    pub(super) left: u64,
}

impl<'t> Iterator for Blocks<'t> {
    type Item = Result<(WordIter<'t>, Options<'t>)>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        match self.table.block(self.at) {
            Ok((words, options, next)) => {
                self.at = next;
                Some(Ok((words, options)))
            }
            Err(error) => {
                self.left = 0;
                Some(Err(error))
            }
        }
    }
}

/// The options of a source phrase, sorted by the spelling of the target phrase.
#[derive(Debug, Clone, Copy)]
pub struct Options<'t> {
    pub(super) table: &'t PhraseTable,
    pub(super) cursor: Cursor<'t>,
    /// Where the options end in the file.
    pub(super) end: usize,
    pub(super) src_len: usize,
    pub(super) count: u64,
    pub(super) left: u64,
}

impl<'t> Options<'t> {
    /// Number of options that are left.
    pub fn len(&self) -> usize {
        to_usize(self.left)
    }

    /// Whether none is left.
    pub fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// How often the source phrase was extracted; 0 when the table does not know.
    pub fn src_count(&self) -> u64 {
        self.count
    }

    /// Those of a phrase that the table does not have.
    pub(super) fn none(table: &'t PhraseTable) -> Self {
        Options { table, cursor: Cursor::new(&[]), end: 0, src_len: 0, count: 0, left: 0 }
    }

    /// Where the next option stands, for `PhraseTable::option_at`.
    pub(super) fn place(&self) -> u64 {
        (self.end - self.cursor.rest().len()) as u64
    }

    /// Reads the words of the next option into `tgt`, and its scores; the rest of it, which is
    /// checked when it is asked for, is passed over.
    pub(super) fn next_scored(&mut self, tgt: &mut Vec<WordId>) -> Option<Result<[f32; 4]>> {
        self.left = self.left.checked_sub(1)?;
        let scored = self.read_scored(tgt);
        Some(self.or_damaged(scored))
    }

    fn read_scored(&mut self, tgt: &mut Vec<WordId>) -> Option<[f32; 4]> {
        let words = to_u32(self.table.tgt_words().len());
        tgt.clear();
        for _ in 0..self.read_length()? {
            let word = self.cursor.small()?;
            (word < words).then_some(())?;
            tgt.push(word);
        }
        self.read_links()?;
        let scores = self.read_scores()?;
        self.read_counts()?;
        self.read_set()?;
        Some(scores)
    }

    fn read(&mut self) -> Option<OptionView<'t>> {
        let words = to_u32(self.table.tgt_words().len());
        let tgt_len = self.read_length()?;
        let tgt = WordIter { cursor: self.cursor, left: tgt_len };
        for _ in 0..tgt_len {
            (self.cursor.small()? < words).then_some(())?;
        }
        let links = self.read_links()?;
        let inside = |link: Link| link.src.index() < self.src_len && link.tgt.index() < tgt_len;
        links.clone().all(inside).then_some(())?;
        let scores = self.read_scores()?;
        let counts = self.read_counts()?;
        let set = match self.read_set()?.checked_sub(1) {
            Some(set) => {
                let length = self.table.contents().rows() * 4;
                let start = (set as usize).checked_mul(length)?;
                Some(self.table.part(Part::Sets).get(start..start.checked_add(length)?)?)
            }
            None => None,
        };
        Some(OptionView { table: self.table, tgt, links, scores, counts, set })
    }

    /// Number of target words.
    fn read_length(&mut self) -> Option<usize> {
        let length = self.cursor.small()? as usize;
        (1..=self.table.max_length()).contains(&length).then_some(length)
    }

    fn read_links(&mut self) -> Option<LinkIter<'t>> {
        let is_short = self.table.max_length() <= SHORT;
        let links = self.cursor.small()? as usize;
        let bytes = self.cursor.bytes(links.checked_mul(if is_short { 1 } else { 2 })?)?;
        Some(LinkIter { bytes, is_short })
    }

    fn read_scores(&mut self) -> Option<[f32; 4]> {
        let mut scores = [0.0; 4];
        for score in &mut scores {
            *score = if self.table.contents().packed {
                -f32::from(u16::from_le_bytes(self.cursor.array()?)) / STEPS
            } else {
                f32::from_le_bytes(self.cursor.array()?)
            };
            score.is_finite().then_some(())?;
        }
        Some(scores)
    }

    /// How often the pair and the target phrase were extracted, in a table that knows.
    fn read_counts(&mut self) -> Option<Option<(u64, u64)>> {
        let has = self.table.contents().counts;
        Some(if has { Some((self.cursor.number()?, self.cursor.number()?)) } else { None })
    }

    /// The number of the set of orientation scores, from 1; 0 for none.
    fn read_set(&mut self) -> Option<u32> {
        if self.table.contents().rows() > 0 { self.cursor.small() } else { Some(0) }
    }

    /// What was read; an error ends the row.
    fn or_damaged<T>(&mut self, read: Option<T>) -> Result<T> {
        read.ok_or_else(|| {
            self.left = 0;
            self.table.damaged()
        })
    }
}

impl<'t> Iterator for Options<'t> {
    type Item = Result<OptionView<'t>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let option = self.read();
        Some(self.or_damaged(option))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(to_usize(self.left)))
    }
}

/// The links inside a phrase pair.
#[derive(Debug, Clone)]
pub struct LinkIter<'t> {
    bytes: &'t [u8],
    is_short: bool,
}

impl Iterator for LinkIter<'_> {
    type Item = Link;

    fn next(&mut self) -> Option<Link> {
        if self.is_short {
            let (&both, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            return Some(Link::new(u32::from(both >> 4), u32::from(both & 15)));
        }
        let ([src, tgt], rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(Link::new(u32::from(*src), u32::from(*tgt)))
    }
}

/// One translation of a source phrase.
#[derive(Debug, Clone)]
pub struct OptionView<'t> {
    table: &'t PhraseTable,
    tgt: WordIter<'t>,
    links: LinkIter<'t>,
    /// ln φ(f|e), ln lex(f|e), ln φ(e|f), ln lex(e|f).
    pub scores: [f32; 4],
    /// How often the pair and the target phrase were extracted, if the table knows.
    pub counts: Option<(u64, u64)>,
    set: Option<&'t [u8]>,
}

impl<'t> OptionView<'t> {
    /// The target words.
    pub fn tgt(&self) -> impl Iterator<Item = WordId> + use<'t> {
        self.tgt
    }

    /// The links inside the pair, sorted.
    pub fn links(&self) -> impl Iterator<Item = Link> + use<'t> {
        self.links.clone()
    }

    /// ln p of M, S, DL, DR, then of M, S, D by one model towards one neighbour; none when the
    /// table does not have the model, or the pair no scores of it.
    pub fn orientation(&self, model: Model, direction: Direction) -> Option<&'t RowScores> {
        let at = self.table.contents().row_of(model)? + direction as usize;
        let number = short_at(self.set?, 4 * at)?;
        self.table.row(number)
    }

    /// The scores of an orientation model, direction by direction, those that are there.
    pub fn rows(&self, orientation: Orientation) -> impl Iterator<Item = &'t [f32]> {
        let row = move |direction| self.orientation(orientation.model, direction);
        orientation.directions().filter_map(row).map(move |row| &row[orientation.classes.range()])
    }
}
