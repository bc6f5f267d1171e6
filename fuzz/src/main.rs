//! One target a reader: any bytes give a value or an error, never a panic, a hang or much memory.
//!
//! In: bytes from the engine; `WAYWORD_FUZZ` names the target. Out: nothing, or an abort that the
//! engine reports with the bytes.
//! How: the bytes become a file in memory, which the reader opens as it opens a user's. Files of
//! ours are sealed again first, so that changed bytes reach the parsers behind the checksums.

#![no_main]

mod reseal;
mod targets;

use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;
use targets::{Target, target};

static TARGET: OnceLock<Target> = OnceLock::new();

fuzz_target!(|data: &[u8]| {
    TARGET.get_or_init(target).run(data);
});
