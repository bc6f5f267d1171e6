//! The one error type of the core.
//!
//! In: causes, as fields. Out: one sentence that says where, what was found, what was
//! expected and what to try; lower case, no full stop.
//! Not: printing, exit codes; the command line alone does that.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Result of everything in the core that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// A file, and a line in it when the trouble has one (counted from 1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file's name as the user gave it.
    pub file: String,
    /// Line number, from 1; none when the whole file is meant.
    pub line: Option<u64>,
}

impl Place {
    /// The whole file.
    pub fn file(path: &Path) -> Self {
        Place { file: path.display().to_string(), line: None }
    }

    /// One line of the file, counted from 1.
    pub fn line(path: &Path, line: u64) -> Self {
        Place { file: path.display().to_string(), line: Some(line) }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.file),
            None => f.write_str(&self.file),
        }
    }
}

/// The value that a name stands for in an option; `all` are the names with their values.
pub fn named<T: Copy>(option: &str, name: &str, all: &[(&str, T)]) -> Result<T> {
    let value = all.iter().find(|(known, _)| *known == name).map(|&(_, value)| value);
    value.ok_or_else(|| {
        let quoted: Vec<String> = all.iter().map(|(known, _)| format!("`{known}`")).collect();
        let expected = match quoted.split_last() {
            Some((last, others)) if !others.is_empty() => {
                format!("{} or {last}", others.join(", "))
            }
            _ => quoted.concat(),
        };
        Error::Argument { name: option.into(), found: format!("`{name}`"), expected }
    })
}

/// What went wrong: one variant per kind of cause.
#[derive(Debug)]
pub enum Error {
    /// The system refused: missing file, full disk, no permission.
    Io {
        /// The file concerned.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file does not hold what its format asks for.
    Format {
        /// Where.
        place: Place,
        /// What stands there.
        found: String,
        /// What should stand there.
        expected: String,
        /// What to try.
        advice: String,
    },
    /// An option or argument has a value that cannot be used.
    Argument {
        /// The option's name.
        name: String,
        /// The value given.
        found: String,
        /// The values that can be used.
        expected: String,
    },
    /// Two inputs that belong together do not fit each other.
    Mismatch {
        /// Where it shows.
        place: Place,
        /// What was found.
        found: String,
        /// What to try.
        advice: String,
    },
    /// Something is larger than this program takes.
    Limit {
        /// Where.
        place: Place,
        /// What was found.
        found: String,
        /// The limit.
        limit: String,
    },
    /// The user asked to stop.
    Interrupted,
}

impl Error {
    /// The error of a system call on `path`.
    pub fn io(path: &Path, source: io::Error) -> Self {
        Error::Io { path: path.to_path_buf(), source }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io { path, source } => write!(f, "{}: {source}", path.display()),
            Error::Format { place, found, expected, advice } => {
                write!(f, "{place}: {found}; expected {expected}; {advice}")
            }
            Error::Argument { name, found, expected } => {
                write!(f, "{name}: found {found}; expected {expected}")
            }
            Error::Mismatch { place, found, advice } => write!(f, "{place}: {found}; {advice}"),
            Error::Limit { place, found, limit } => {
                write!(f, "{place}: {found}; the limit is {limit}")
            }
            Error::Interrupted => f.write_str("stopped on request"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_says_where_what_and_what_to_try() {
        let error = Error::Format {
            place: Place::line(Path::new("train.de"), 812),
            found: "byte 7 (0xff) is not UTF-8".into(),
            expected: "UTF-8 text".into(),
            advice: "try `wayword doctor`".into(),
        };
        assert_eq!(
            error.to_string(),
            "train.de:812: byte 7 (0xff) is not UTF-8; expected UTF-8 text; try `wayword doctor`"
        );
    }
}
