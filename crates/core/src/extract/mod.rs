//! Phrase pairs that agree with a word alignment, counted with their orientations.
//!
//! In: `Bitext`, `Links`. Out: `Counts` of phrase pairs, of the links inside them and of their
//! orientation by the word, phrase and hierarchical model, towards both neighbours.
//! How: `grid` finds the blocks of a sentence pair and `orientation` looks at their corners (one
//! pass for all models); `run` sorts occurrences until memory is short, `merge` adds up runs
//! and shards, and `counts` puts it together. `phrase_table` makes scores of the counts.
//! Cost: O(target²) a sentence for blocks; 16 bytes an occurrence, or the disk.
//! Not: gaps, hierarchical rules.

mod counts;
mod entry;
mod grid;
mod merge;
mod orientation;
mod phrases;
mod run;
mod shares;
mod words;

pub(crate) use counts::SEAL;
pub use counts::{Counts, ExtractOptions, MAX_LENGTH, MIN_MEMORY};
pub use entry::{Entry, Row};
pub use grid::{Block, Grid, Span};
pub use merge::damaged;
pub use orientation::{Orientations, Strictness};
pub use phrases::{ListReader, PhraseSet};
pub use run::{EntryReader, Run};
pub use shares::count_orientations;
pub use words::{LinkCount, SEPARATOR, Words, compare};

#[cfg(test)]
pub(crate) mod tests;
