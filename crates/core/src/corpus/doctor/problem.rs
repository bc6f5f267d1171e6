//! The kinds of trouble a line can have, in one table that the command and the docs read.

/// What is wrong with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Problem {
    /// The other file has no such line.
    Unpaired,
    /// Bytes that are not UTF-8.
    Encoding,
    /// The mark that an earlier conversion left for what it could not read.
    Replacement,
    /// No word on a side.
    Empty,
    /// Control characters.
    Control,
    /// Zero-width and direction characters that nobody sees; the line stays without them.
    Invisible,
    /// The column separator of phrase tables.
    Separator,
    /// A word without the right number of factors.
    Factors,
    /// A side longer than the limit.
    Long,
    /// One side much longer than the other.
    Ratio,
    /// Most letters of a side in another writing than the side's own.
    Script,
    /// Both sides the same.
    Identical,
    /// The same pair as an earlier line.
    Duplicate,
}

impl Problem {
    /// All kinds, the gravest first.
    pub const ALL: [Problem; 13] = [
        Problem::Unpaired,
        Problem::Encoding,
        Problem::Replacement,
        Problem::Empty,
        Problem::Control,
        Problem::Invisible,
        Problem::Separator,
        Problem::Factors,
        Problem::Long,
        Problem::Ratio,
        Problem::Script,
        Problem::Identical,
        Problem::Duplicate,
    ];

    /// The name used in options and files.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// One line for people.
    pub fn meaning(self) -> &'static str {
        self.row().1
    }

    /// The kind with this name.
    pub fn named(name: &str) -> Option<Problem> {
        Problem::ALL.into_iter().find(|problem| problem.name() == name)
    }

    fn row(self) -> (&'static str, &'static str) {
        match self {
            Problem::Unpaired => ("unpaired", "the other file has no such line"),
            Problem::Encoding => ("encoding", "bytes that are not UTF-8"),
            Problem::Replacement => ("replacement", "U+FFFD, left by a broken conversion"),
            Problem::Empty => ("empty", "no word on a side"),
            Problem::Control => ("control", "control characters"),
            Problem::Invisible => ("invisible", "marks that nobody sees; kept without them"),
            Problem::Separator => ("separator", "`|||`, the separator of phrase tables"),
            Problem::Factors => ("factors", "a word without the right number of `|` factors"),
            Problem::Long => ("long", "a side longer than the limit"),
            Problem::Ratio => ("ratio", "one side much longer than the other"),
            Problem::Script => ("script", "most of a side in another writing"),
            Problem::Identical => ("identical", "both sides the same"),
            Problem::Duplicate => ("duplicate", "the same pair as an earlier line"),
        }
    }
}
