//! What training a word-after-word model can be told, and the sets of features by name.

use crate::corpus::annotated::Annotation;
use crate::error::{Error, Result, named};
use crate::reorder::jump::Window;
use std::fmt;

/// Which templates of definitions b.3 are used: bit `t` stands for template `t`, 1 to 21.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Templates(u32);

const fn between(first: u32, last: u32) -> u32 {
    (2 << last) - (1 << first)
}

impl Templates {
    /// Words, tags, both, and both with chunks.
    pub const SETS: [(&'static str, Templates); 4] = [
        ("W", Templates(between(1, 7))),
        ("P", Templates(between(8, 15))),
        ("WP", Templates(between(1, 17))),
        ("WPC", Templates(between(1, 21))),
    ];

    /// Templates that need tags.
    const TAGS: u32 = between(8, 17);
    /// Templates that need chunks.
    const CHUNKS: u32 = between(18, 21);

    /// The set of this name: `W`, `P`, `WP` or `WPC`.
    pub fn named(name: &str) -> Result<Templates> {
        named("templates", name, &Templates::SETS)
    }

    /// The largest set that text annotated like this allows.
    pub fn for_text(annotation: Annotation) -> Templates {
        let Annotation { tags, chunks } = annotation;
        Templates::SETS[if tags && chunks { 3 } else { 2 * usize::from(tags) }].1
    }

    /// The set of these bits; none when there is no such template.
    pub fn from_bits(bits: u32) -> Option<Templates> {
        (bits != 0 && bits & !between(1, 21) == 0).then_some(Templates(bits))
    }

    /// The bits.
    pub fn bits(self) -> u32 {
        self.0
    }

    /// Whether a template is in the set.
    pub fn has(self, template: u8) -> bool {
        self.0 >> template & 1 == 1
    }

    /// What some template looks at.
    pub fn needs(self) -> Annotation {
        let looks_at = |templates: u32| self.0 & templates != 0;
        Annotation { tags: looks_at(Templates::TAGS), chunks: looks_at(Templates::CHUNKS) }
    }
}

impl fmt::Display for Templates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Templates::SETS.into_iter().find(|(_, set)| set == self) {
            Some((name, _)) => f.write_str(name),
            None => write!(f, "{:#x}", self.0),
        }
    }
}

/// Which words stand beside those between the two ends of a jump (definitions Q-06).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Anchor {
    /// The word jumped to and the one before it, as printed in the paper.
    #[default]
    Target,
    /// Both ends of the jump.
    Ends,
}

impl Anchor {
    /// All kinds with the names used in options.
    pub const ALL: [(&'static str, Anchor); 2] = [("j", Anchor::Target), ("ij", Anchor::Ends)];

    /// The kind of this name.
    pub fn named(name: &str) -> Result<Anchor> {
        named("between_anchor", name, &Anchor::ALL)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Anchor::ALL[self as usize].0
    }
}

/// What a model learns to tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Objective {
    /// Of each word in the window, whether it comes next, as in the paper.
    #[default]
    Each,
    /// Which of the words in the window comes next.
    Choice,
}

impl Objective {
    /// All kinds with the names used in options.
    pub const ALL: [(&'static str, Objective); 2] =
        [("each", Objective::Each), ("choice", Objective::Choice)];

    /// The kind of this name.
    pub fn named(name: &str) -> Result<Objective> {
        named("objective", name, &Objective::ALL)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Objective::ALL[self as usize].0
    }
}

/// What the features of a model are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// The templates.
    pub templates: Templates,
    /// What stands beside the words between.
    pub anchor: Anchor,
    /// Where wrong answers are taken from.
    pub window: Window,
    /// Features that fire in fewer samples are dropped.
    pub min_count: u32,
    /// What is learned.
    pub objective: Objective,
    /// Whether features look at what is translated around a word.
    pub coverage: bool,
}

impl Options {
    /// Refuses values that cannot be meant.
    pub fn check(&self) -> Result<()> {
        let refuse = |name: &str, found: u32, expected: &str| {
            Err(Error::Argument {
                name: name.into(),
                found: found.to_string(),
                expected: expected.into(),
            })
        };
        match self {
            Options { window: Window { width, .. }, .. } if !(1..=1000).contains(width) => {
                refuse("window", *width, "a number of words from 1 to 1000")
            }
            Options { min_count: 0, .. } => refuse("min_count", 0, "1 or more"),
            _ => Ok(()),
        }
    }
}
