//! Phrase pairs that agree with a word alignment, counted with their orientations.
//!
//! In: `Bitext`, `WordAlignments`. Out: `Counts` of phrase pairs, of the links inside them and of their
//! orientation by the word, phrase and hierarchical model, towards both neighbours.
//! How: `grid` finds the blocks of a sentence pair and `orientation` looks at their corners (one
//! pass for all models); `count` takes the corpus piece by piece, `run` sorts occurrences until
//! memory is short, `linked` counts linked words, `merge` adds up runs and shards, and `counts` is
//! what comes out. `phrase_table` makes scores of the counts.
//! Cost: O(target²) a sentence for blocks; 16 bytes an occurrence, or the disk.
//! Not: gaps, hierarchical rules.

mod count;
mod counts;
mod entry;
mod grid;
mod heads;
mod linked;
mod marks;
mod merge;
mod orientation;
mod phrases;
mod run;
mod shares;
mod words;

pub use count::Counter;
use count::Piece;
pub(crate) use counts::SEAL;
pub use counts::{Counts, ExtractOptions, MAX_LENGTH, MIN_MEMORY};
pub use entry::{Entry, Row};
pub use grid::{Block, Grid, Span};
pub use linked::{LinkCount, LinkCounts};
pub use marks::{Mark, Stretch};
pub use merge::damaged;
pub use orientation::{Orientations, Strictness};
pub use phrases::{ListReader, PhraseSet};
pub use run::{EntryReader, Run};
pub use shares::count_orientations;
pub use words::{SEPARATOR, Words, compare};

#[cfg(test)]
pub(crate) mod tests;
