//! Text: reading files, words as numbers, sentence pairs, and what is wrong with them.
//!
//! In: files of any bytes, plain or compressed. Out: `Bitext` (flat arrays of word ids with
//! offsets and one vocabulary for both sides), or a `Report` of the lines that are no good.
//! Cost: one pass; memory is 4 bytes a word, 8 a sentence and side, and the vocabulary.
//! Not: tokenisation and the richer file formats, which Python does with its libraries.

pub mod annotated;
mod bitext;
pub mod doctor;
mod factor;
mod length;
mod marks;
mod position;
mod read;
mod script;
mod text;
mod vocab;

pub use bitext::{Bitext, Layout, ReadOptions};
pub use doctor::{CleanFiles, Diagnosis, DoctorOptions, Finding, Problem, Report, Side, examine};
pub use factor::unescape_bars;
pub use length::length_of;
pub use marks::without_marks;
pub use position::{SrcPos, TgtPos};
pub use read::{LineReader, Source, broken, open};
pub use script::{Family, family_of};
pub use text::Text;
pub use vocab::{Vocab, WordId};
