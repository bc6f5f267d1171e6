//! Every kind of binary file that this version writes and reads.
//!
//! In: nothing. Out: what each kind holds and the version of its format, in the order of the
//! pipeline. How: each module keeps the seal of its own files; here they stand side by side, for
//! `wayword --version` and for tests that open files of earlier releases.
//! Cost: none. Not: text formats, which have no versions.

use crate::reorder::{lop, neural, waw};
use crate::storage::Seal;
use crate::{align, annotate, extract, lm, phrase_table};

/// The seals of all kinds of files.
const SEALS: [Seal; 8] = [
    annotate::SEAL,
    align::SEAL,
    extract::SEAL,
    phrase_table::SEAL,
    lm::SEAL,
    waw::SEAL,
    neural::SEAL,
    lop::SEAL,
];

/// What each kind of file holds, without its article, and the version that is read and written.
pub fn formats() -> impl Iterator<Item = (&'static str, u32)> {
    SEALS.iter().map(|seal| {
        let (_article, what) = seal.what.split_once(' ').unwrap_or(("", seal.what));
        (what, seal.version)
    })
}
