//! Scores by phrase pair: from counts to a mapped table, and text tables in and out.
//!
//! In: `extract::Counts`, or Moses' text tables. Out: `PhraseTable`, opened in milliseconds and
//! shared between processes: all options of a source phrase with both relative frequencies,
//! both lexical weights, links and orientation scores.
//! How: `build` scores and prunes, with `score`, `lexical`, `discount` and `significance`; `format`
//! says what the file looks like and writes `blocks` and `index`, `table`, `view` and `words` read it, `moses` speaks text.
//! Not: choosing among options by weights; that is the decoder's.

mod blocks;
mod build;
mod discount;
mod format;
mod index;
mod lexical;
mod moses;
mod options;
mod score;
mod seat;
mod significance;
mod table;
mod targets;
mod view;
mod words;

pub use blocks::NewBlocks;
pub use build::{Summary, build, row_scores};
pub use discount::Discount;
pub(crate) use format::SEAL;
pub use format::{Contents, NewOption, NewWords, RowScores, TableWriter};
pub use moses::{COLUMNS, SKIPPED, TextTables, check_orientation, export, import};
pub use options::{Condition, TableOptions, named_models};
pub use seat::TableSeat;
pub use significance::{Fisher, Threshold};
pub use table::PhraseTable;
pub use view::{Blocks, LinkIter, OptionView, Options, WordIter};
pub use words::Words;

#[cfg(test)]
mod tests;
