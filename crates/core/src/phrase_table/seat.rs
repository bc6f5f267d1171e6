//! The phrase table in its seat at the decoder.
//!
//! In: the decoder's questions by word and by source phrase. Out: the table's options, with the
//! orientation scores of one model of those it holds.
//! Cost: a few small copies an option; the decoder asks once for each source phrase and remembers.

use super::PhraseTable;
use crate::align::Link;
use crate::corpus::WordId;
use crate::error::Result;
use crate::feature::{PhraseEntry, PhraseModel};
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
        let (mut tgt, mut links, mut orientation) = (Vec::new(), Vec::<Link>::new(), Vec::new());
        for option in self.table.options(src)? {
            let option = option?;
            tgt.clear();
            tgt.extend(option.tgt());
            links.clear();
            links.extend(option.links());
            orientation.clear();
            if let Some(model) = self.orientation {
                for row in option.rows(model) {
                    orientation.extend_from_slice(row);
                }
            }
            each(PhraseEntry {
                tgt: &tgt,
                tm: &option.scores,
                orientation: &orientation,
                links: &links,
            });
        }
        Ok(())
    }
}
