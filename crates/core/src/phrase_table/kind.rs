//! What a text table says about orientation, in Moses' words: `hier-mslr-bidirectional-fe`.
//!
//! In: a model (hier, phrase, wbe), its classes (mslr, msd, and the coarser leftright and
//! monotonicity) and the directions it has. Out: which columns there are, and where each goes
//! in a row of our table. A column of a coarser kind goes to every class it stands for, so that
//! scores come out the same.
//! Not: tables given the source phrase alone (`f`), which have other lines.

use crate::error::{Error, Result};
use crate::extract::{Direction, Model};
use std::ops::Range;

/// Which orientation classes a text table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Classes {
    /// M, S and D.
    Msd,
    /// M, S, DL and DR.
    Mslr,
    /// M and all else.
    Monotonicity,
    /// To the right, to the left.
    LeftRight,
}

impl Classes {
    /// The place of its scores in a row.
    pub fn range(self) -> Range<usize> {
        if self.has_sides() { 0..4 } else { 4..7 }
    }

    /// Whether a row of it tells left from right.
    pub fn has_sides(self) -> bool {
        matches!(self, Classes::Mslr | Classes::LeftRight)
    }

    /// For each column of a text table its places in a row.
    pub fn columns(self) -> &'static [&'static [usize]] {
        match self {
            Classes::Mslr => &[&[0], &[1], &[2], &[3]],
            Classes::LeftRight => &[&[0, 3], &[1, 2]],
            Classes::Msd => &[&[4], &[5], &[6]],
            Classes::Monotonicity => &[&[4], &[5, 6]],
        }
    }
}

/// An orientation model in Moses' words, for example `hier-mslr-bidirectional-fe`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrientationType {
    /// The model.
    pub model: Model,
    /// Its classes.
    pub classes: Classes,
    /// Whether it looks at what comes before.
    pub prev: bool,
    /// Whether it looks at what comes after.
    pub next: bool,
}

impl OrientationType {
    /// Reads Moses' words; `bidirectional` and what follows may be left out.
    pub fn named(name: &str) -> Result<Self> {
        let mut words = name.split('-').peekable();
        let model = match words.next() {
            Some("hier" | "hierarchical") => Some(Model::Hierarchical),
            Some("phrase") => Some(Model::Phrase),
            Some("wbe" | "word") => Some(Model::Word),
            _ => None,
        };
        let classes = match words.next() {
            Some("mslr") => Some(Classes::Mslr),
            Some("msd") => Some(Classes::Msd),
            Some("monotonicity") => Some(Classes::Monotonicity),
            Some("leftright") => Some(Classes::LeftRight),
            _ => None,
        };
        let directions = match words.peek() {
            Some(&("backward" | "prev")) => Some((true, false)),
            Some(&("forward" | "next")) => Some((false, true)),
            Some(&"bidirectional") => Some((true, true)),
            _ => None,
        };
        if directions.is_some() {
            words.next();
        }
        let (prev, next) = directions.unwrap_or((true, true));
        let rest = words.all(|word| matches!(word, "fe" | "allff" | "collapseff"));
        match (model, classes, rest) {
            (Some(model), Some(classes), true) => {
                Ok(OrientationType { model, classes, prev, next })
            }
            _ => Err(Error::Argument {
                name: "orientation".into(),
                found: format!("`{name}`"),
                expected: "a model, its classes and directions, such as \
                           hier-mslr-bidirectional-fe, phrase-msd or word-msd-backward"
                    .into(),
            }),
        }
    }

    /// The directions it has, in the order of its columns.
    pub fn directions(self) -> impl Iterator<Item = Direction> {
        let has = [(Direction::Prev, self.prev), (Direction::Next, self.next)];
        has.into_iter().filter(|one| one.1).map(|one| one.0)
    }

    /// The rows of its directions that `find` has.
    pub fn rows<R>(self, find: impl Fn(Direction) -> Option<R>) -> impl Iterator<Item = R> {
        self.directions().filter_map(find)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orientation_types_take_moses_words() {
        let kind = OrientationType::named("hier-mslr-bidirectional-fe").unwrap();
        assert_eq!((kind.model, kind.classes), (Model::Hierarchical, Classes::Mslr));
        let kind = OrientationType::named("wbe-msd").unwrap();
        assert_eq!((kind.model, kind.classes), (Model::Word, Classes::Msd));
        assert!(kind.prev && kind.next);
        let kind = OrientationType::named("phrase-leftright-forward-fe-collapseff").unwrap();
        assert_eq!((kind.classes, kind.prev, kind.next), (Classes::LeftRight, false, true));
        for wrong in ["hier-mslr-bidirectional-f", "hier", "hier-msd-sideways", "tree-msd", ""] {
            assert_eq!(
                OrientationType::named(wrong).unwrap_err().to_string(),
                format!(
                    "orientation: found `{wrong}`; expected a model, its classes and directions, \
                     such as hier-mslr-bidirectional-fe, phrase-msd or word-msd-backward"
                )
            );
        }
    }

    #[test]
    fn every_class_of_a_row_has_one_column() {
        for classes in [Classes::Msd, Classes::Mslr, Classes::Monotonicity, Classes::LeftRight] {
            let mut places: Vec<usize> = classes.columns().concat();
            places.sort_unstable();
            assert_eq!(places, classes.range().collect::<Vec<_>>());
        }
    }
}
