//! The ground floor: how everything that outlives a run, or does not fit memory, lies on disk.
//!
//! In: bytes and small records. Out: files and folders that are there whole or not at all
//! (`NewFile`, `NewFolder`), with a header that tells what they are (`Seal`), mapped when they are large (`map`, `Blob`) and then
//! compared with their checksums in the background (`Check`), and
//! read without going past their end (`Cursor`, `Body`); temporary files that go when their owner
//! goes (`TempFolder`), and what is spilled to them: bytes (`BlobWriter`, `TempFile`), sequences
//! and sorted records (`Spool`, `Sorter`); what tasks tell each other (`Wire`); how much memory is
//! left for it (`left_of`).
//! Not: what the bytes mean; every format is described where it is written.

mod blob;
mod bytes;
mod check;
mod file;
mod mapped;
mod memory;
mod part;
mod seal;
mod spill;
mod temp;
mod wire;

pub use blob::{Blob, BlobWriter, Pass};
pub use bytes::{Cursor, long_at, short_at, write_number};
pub use check::Check;
pub use file::{NewFile, NewFolder, replaces};
pub use mapped::{in_memory, map, map_open, prefer_large_pages, read_only, release};
pub use memory::{give_back, left_of};
pub use seal::{Body, BodySum, Checked, Flaw, Seal, Sealed, SealedFile};
pub use spill::{Joined, Record, Sorted, Sorter, Spool};
pub use temp::{TempFile, TempFolder};
pub use wire::{Unwire, Wire, WireKind};
