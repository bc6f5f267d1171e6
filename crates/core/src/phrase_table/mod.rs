//! Scores by phrase pair: from counts to a mapped table, and text tables in and out.
//!
//! In: `extract::Counts`, or Moses' text tables. Out: `PhraseTable`, opened in milliseconds and
//! shared between processes: all options of a source phrase with both relative frequencies,
//! both lexical weights, links and orientation scores.
//! How: `build` scores and prunes, with `lexical`, `discount` and `significance`; `format` says
//! what the file looks like and writes it, `table` reads it, `moses` speaks text.
//! Not: choosing among options by weights; that is the decoder's.

mod build;
mod discount;
mod format;
mod lexical;
mod moses;
mod seat;
mod significance;
mod table;

pub use build::{Condition, Summary, TableOptions, build, named_models, row_scores};
pub use discount::Discount;
pub use format::{Contents, NewOption, NewWords, RowScores, TableWriter};
pub use moses::{COLUMNS, SKIPPED, TextTables, check_orientation, export, import};
pub use seat::TableSeat;
pub use significance::{Fisher, Threshold};
pub use table::{Blocks, LinkIter, OptionView, Options, PhraseTable, WordIter, Words};

#[cfg(test)]
mod tests;
