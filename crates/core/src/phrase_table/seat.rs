//! The phrase table in its seat at the decoder.
//!
//! In: the decoder's questions by word and by source phrase. Out: the table's options, with the
//! orientation scores of one model of those it holds.
//! Cost: words and scores of each option, the rest only of those that are chosen; the decoder asks
//! once for each source phrase and remembers.

use super::PhraseTable;
use crate::corpus::WordId;
use crate::error::Result;
use crate::feature::{PhraseDetails, PhraseEntry, PhraseModel};
use crate::orientation::Orientation;

/// A table, and which of its orientation models the decoder uses.
#[derive(Debug, Clone, Copy)]
pub struct TableSeat<'t> {
    /// The table.
    pub table: &'t PhraseTable,
    /// The orientation model; none when the decoder uses none.
    pub orientation: Option<Orientation>,
}

impl PhraseModel for TableSeat<'_> {
    fn source_id(&self, word: &str) -> Option<WordId> {
        self.table.src_words().id(word)
    }

    fn target_word(&self, id: WordId) -> &str {
        // Opening the table checked all its words, and options hold no others.
        self.table.tgt_words().word(id).unwrap_or_default()
    }

    fn longest(&self) -> usize {
        self.table.max_length()
    }

    fn tm_scores(&self) -> usize {
        4
    }

    fn find(&self, src: &[WordId], each: &mut dyn FnMut(PhraseEntry<'_>)) -> Result<()> {
        let mut tgt = Vec::new();
        let mut options = self.table.options(src)?;
        loop {
            let place = options.place();
            let Some(scores) = options.next_scored(&mut tgt) else { return Ok(()) };
            each(PhraseEntry { tgt: &tgt, tm: &scores?, place });
        }
    }

    fn details(&self, src: &[WordId], place: u64, details: &mut PhraseDetails) -> Result<()> {
        let option = self.table.option_at(src.len(), place)?;
        details.links.clear();
        details.links.extend(option.links());
        details.orientation.clear();
        if let Some(model) = self.orientation {
            for row in option.rows(model) {
                details.orientation.extend_from_slice(row);
            }
        }
        Ok(())
    }
}
