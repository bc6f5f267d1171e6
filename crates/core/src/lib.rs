//! The hot loops of wayword, in the order of the pipeline.
//!
//! Everything here is plain Rust and knows nothing of Python: the border crate converts.
//! A module uses only modules above it (a test watches that); `error`, `job`, `parallel` and
//! `storage` are the ground floor, which knows nothing of translation.

// Tests make numbers of their own.
#![cfg_attr(
    test,
    allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)
)]

/// What can go wrong, as fields and not prose.
pub mod error;
/// One running task: cancellation, progress, number of threads.
pub mod job;
/// Numbers made smaller.
pub mod narrow;
/// Numbers for equal things.
pub mod numbering;

// Threads: the same results for any number of them.
/// Values made by threads, taken in order.
pub mod ordered;
pub mod parallel;

// Files: whole or not at all, sealed, mapped, temporary; sorting what does not fit memory.
pub mod storage;

// Text: files, words as numbers, sentence pairs, and what is wrong with them.
pub mod corpus;

// Tags for words: taggers learned from treebanks, classes learned from text.
pub mod annotate;

// Links between the words of a sentence pair.
pub mod align;

// How phrases lie towards their neighbours, and the names of models of it.
pub mod orientation;

// What a translation is scored by: weights, and the seats of the models.
pub mod feature;

// Phrase pairs that agree with the links, counted with their orientations.
pub mod extract;

// Scores by phrase pair: from counts to the mapped table.
pub mod phrase_table;

// How likely a word is after the words before it.
pub mod lm;

// What was learned after training, one pair at a time.
pub mod learned;

// Word order: permutations of the source words, and models of them.
pub mod reorder;

// Search: the best translation under all models.
pub mod decode;

// Weights from data: candidates, and how the best of them change with the weights.
pub mod tune;

// How near a translation is to a reference: pairs of words and their order.
pub mod evaluate;

// The best that a space of orders allows, whatever the models say.
pub mod oracle;

// Every kind of file that is written here, and its version.
pub mod formats;

pub use error::{Error, Result};
pub use job::Job;
