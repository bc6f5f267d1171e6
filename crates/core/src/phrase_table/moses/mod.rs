//! Moses' text tables, in and out.
//!
//! In and out: `source ||| target ||| scores ||| links ||| counts`, and for orientation
//! `source ||| target ||| probabilities`, plain or gzip. Lines are sorted as `LC_ALL=C sort` does;
//! both files are read side by side, so memory does not grow with them.
//! Scores are probabilities in the text and natural logarithms in the table.

mod export;
mod import;

pub use export::{check_orientation, export};
pub use import::{TextTables, import};

/// Lines between two looks at the job.
const BLOCK: u64 = 1 << 12;

/// Names of the four scores, in the order of Moses' columns.
pub const COLUMNS: [&str; 4] = ["phi_fe", "lex_fe", "phi_ef", "lex_ef"];
/// The name of a column that is not used.
pub const SKIPPED: &str = "-";
