//! Orientation: how a phrase lies towards its neighbours, and the name of a model of it.
//!
//! In: a name such as `hier-mslr-bidirectional` or Moses' `wbe-msd-backward-fe`. Out: what counts
//! as a neighbour, which classes there are and towards which neighbours; which columns a text
//! table has and where each goes in a row of ours. A column of coarser classes goes to every
//! class it stands for, so that scores come out the same.
//! Extraction, phrase table, decoder, Moses' files and Python all use these types.
//! Not: tables given the source phrase alone (Moses' `f`), which have other lines.

use crate::error::{Error, Result};
use std::fmt;
use std::ops::Range;

/// Where a phrase lies, seen from the one translated before it: `Dl` and `Dr` are the two halves
/// of "discontinuous", named by the direction of the jump.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Monotone: directly to the right.
    M = 0,
    /// Swap: directly to the left.
    S = 1,
    /// Discontinuous, to the left.
    Dl = 2,
    /// Discontinuous, to the right, or nothing known.
    Dr = 3,
}

impl Class {
    /// All of them, in the order of table columns.
    pub const ALL: [Class; 4] = [Class::M, Class::S, Class::Dl, Class::Dr];
}

/// What a model accepts as a neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Model {
    /// Single links at the corner; in the decoder the last phrase, as no links are known there.
    Word,
    /// Phrases.
    Phrase,
    /// Blocks of any size; in the decoder the largest that the phrases so far form.
    Hierarchical,
}

impl Model {
    /// All of them, in the order of counts and tables.
    pub const ALL: [Model; 3] = [Model::Word, Model::Phrase, Model::Hierarchical];

    /// The word for it in options and files.
    pub fn name(self) -> &'static str {
        ["word", "phrase", "hierarchical"][self as usize]
    }

    fn named(word: &str) -> Option<Model> {
        match word {
            "word" | "wbe" => Some(Model::Word),
            "phrase" => Some(Model::Phrase),
            "hier" | "hierarchical" => Some(Model::Hierarchical),
            _ => None,
        }
    }
}

/// Towards which neighbour a phrase is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// What was translated before it.
    Prev,
    /// What is translated after it.
    Next,
}

impl Direction {
    /// Both, in the order of counts and tables.
    pub const ALL: [Direction; 2] = [Direction::Prev, Direction::Next];

    /// The word for it in options and files.
    pub fn name(self) -> &'static str {
        ["prev", "next"][self as usize]
    }
}

/// Number of (model, direction) rows of an occurrence.
pub const ROWS: usize = Model::ALL.len() * Direction::ALL.len();

/// Which row of counts belongs to a model and direction.
pub fn row_of(model: Model, direction: Direction) -> usize {
    model as usize * Direction::ALL.len() + direction as usize
}

/// Which classes are told apart.
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
    /// All of them.
    pub const ALL: [Classes; 4] =
        [Classes::Msd, Classes::Mslr, Classes::Monotonicity, Classes::LeftRight];

    /// The word for them in options and files.
    pub fn name(self) -> &'static str {
        ["msd", "mslr", "monotonicity", "leftright"][self as usize]
    }

    /// Whether a row of them tells left from right.
    pub fn has_sides(self) -> bool {
        matches!(self, Classes::Mslr | Classes::LeftRight)
    }

    /// The classes our rows have for them.
    pub fn stored(self) -> Classes {
        if self.has_sides() { Classes::Mslr } else { Classes::Msd }
    }

    /// Names of the classes of a row, in the order of the table.
    pub fn names(self) -> &'static [&'static str] {
        if self.has_sides() { &["m", "s", "dl", "dr"] } else { &["m", "s", "d"] }
    }

    /// The place of a class among them.
    pub fn column(self, class: Class) -> usize {
        if self.has_sides() { class as usize } else { (class as usize).min(2) }
    }

    /// The place of their scores in a row of the table, which has room for `mslr` and `msd`.
    pub fn range(self) -> Range<usize> {
        if self.has_sides() { 0..4 } else { 4..7 }
    }

    /// For each column of a text table its places in `range`.
    pub fn columns(self) -> &'static [&'static [usize]] {
        match self {
            Classes::Mslr => &[&[0], &[1], &[2], &[3]],
            Classes::LeftRight => &[&[0, 3], &[1, 2]],
            Classes::Msd => &[&[0], &[1], &[2]],
            Classes::Monotonicity => &[&[0], &[1, 2]],
        }
    }
}

/// An orientation model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Orientation {
    /// What counts as a neighbour.
    pub model: Model,
    /// Its classes.
    pub classes: Classes,
    /// Whether it looks at what comes before.
    pub prev: bool,
    /// Whether it looks at what comes after.
    pub next: bool,
    /// Whether Moses has one weight for all classes of a direction.
    pub collapsed: bool,
}

impl Orientation {
    /// The model of this name, in our words or in Moses'; they come in any order. As in Moses,
    /// it is the word model when no other is named, and bidirectional without a direction.
    pub fn named(name: &str) -> Result<Self> {
        let wrong = || Error::Argument {
            name: "orientation".into(),
            found: format!("`{name}`"),
            expected: "such as `hier-mslr-bidirectional`: hier, phrase or word; msd, mslr, \
                       monotonicity or leftright; prev, next or bidirectional; given the phrase \
                       pair (`fe`), not the source alone (`f`)"
                .into(),
        };
        let (mut model, mut classes, mut directions) = (None, None, None);
        let mut collapsed = false;
        for word in name.split('-') {
            let is_news = if let Some(named) = Model::named(word) {
                model.replace(named).is_none()
            } else if let Some(named) = Classes::ALL.into_iter().find(|all| all.name() == word) {
                classes.replace(named).is_none()
            } else {
                match word {
                    "prev" | "backward" => directions.replace((true, false)).is_none(),
                    "next" | "forward" => directions.replace((false, true)).is_none(),
                    "bidirectional" => directions.replace((true, true)).is_none(),
                    "collapseff" => !std::mem::replace(&mut collapsed, true),
                    "fe" | "allff" => true,
                    _ => false,
                }
            };
            if !is_news {
                return Err(wrong());
            }
        }
        let classes = classes.ok_or_else(wrong)?;
        let (prev, next) = directions.unwrap_or((true, true));
        Ok(Orientation { model: model.unwrap_or(Model::Word), classes, prev, next, collapsed })
    }

    /// The name of what our tables hold for it.
    pub fn stored(self) -> Self {
        Orientation { classes: self.classes.stored(), collapsed: false, ..self }
    }

    /// Its name in Moses' words, as text tables have it.
    pub fn moses_name(self) -> String {
        let model = ["wbe", "phrase", "hier"][self.model as usize];
        let direction = ["backward", "forward", "bidirectional"][self.direction_word()];
        format!("{model}-{}-{direction}-fe", self.classes.name())
    }

    /// The place of its directions among prev, next and both.
    fn direction_word(self) -> usize {
        match (self.prev, self.next) {
            (true, false) => 0,
            (false, true) => 1,
            _ => 2,
        }
    }

    /// The directions it has, in the order of its columns.
    pub fn directions(self) -> impl Iterator<Item = Direction> {
        let has = [(Direction::Prev, self.prev), (Direction::Next, self.next)];
        has.into_iter().filter(|(_, has)| *has).map(|(direction, _)| direction)
    }

    /// Names of its features, `prev` before `next`.
    pub fn names(self) -> Vec<String> {
        let of = |direction| self.feature_names(direction);
        self.directions().flat_map(of).collect()
    }

    fn feature_names(self, direction: Direction) -> impl Iterator<Item = String> {
        let classes = self.classes.names().iter();
        classes.map(move |class| format!("lr.{}.{class}", direction.name()))
    }

    /// For each of Moses' weights the features it is for.
    pub fn moses_weights(self) -> Vec<Vec<String>> {
        let of = |direction| {
            let names: Vec<String> = self.feature_names(direction).collect();
            if self.collapsed {
                return vec![names];
            }
            let columns = self.classes.columns().iter();
            columns.map(|places| places.iter().map(|&at| names[at].clone()).collect()).collect()
        };
        self.directions().flat_map(of).collect()
    }
}

impl fmt::Display for Orientation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = ["word", "phrase", "hier"][self.model as usize];
        let direction = ["prev", "next", "bidirectional"][self.direction_word()];
        write!(f, "{model}-{}-{direction}", self.classes.name())?;
        if self.collapsed { f.write_str("-collapseff") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_understood_in_both_tongues() {
        let ours = Orientation::named("hier-mslr-bidirectional").unwrap();
        assert_eq!((ours.model, ours.classes), (Model::Hierarchical, Classes::Mslr));
        assert_eq!(Orientation::named("hier-mslr-bidirectional-fe-allff").unwrap(), ours);
        assert_eq!(Orientation::named("mslr-hierarchical").unwrap(), ours);
        assert_eq!(ours.names()[3], "lr.prev.dr");
        let moses = Orientation::named("wbe-msd-backward").unwrap();
        assert_eq!((moses.model, moses.prev, moses.next), (Model::Word, true, false));
        assert_eq!(moses.names(), ["lr.prev.m", "lr.prev.s", "lr.prev.d"]);
        assert_eq!(moses.to_string(), "word-msd-prev");
        assert_eq!(moses.moses_name(), "wbe-msd-backward-fe");
        assert_eq!(Orientation::named("msd-backward-fe").unwrap(), moses);
    }

    #[test]
    fn other_names_are_refused() {
        for wrong in [
            "hier-mslr-bidirectional-f",
            "hier",
            "hier-msd-sideways",
            "tree-msd",
            "",
            "hier-phrase-msd",
            "msd-mslr",
        ] {
            assert_eq!(
                Orientation::named(wrong).unwrap_err().to_string(),
                format!(
                    "orientation: found `{wrong}`; expected such as `hier-mslr-bidirectional`: \
                     hier, phrase or word; msd, mslr, monotonicity or leftright; prev, next or \
                     bidirectional; given the phrase pair (`fe`), not the source alone (`f`)"
                )
            );
        }
    }

    #[test]
    fn coarser_classes_share_weights() {
        let coarse = Orientation::named("phrase-leftright-forward-fe").unwrap();
        let expected = [["lr.next.m", "lr.next.dr"], ["lr.next.s", "lr.next.dl"]];
        assert_eq!(coarse.moses_weights(), expected);
        assert_eq!(coarse.stored().to_string(), "phrase-mslr-next");
        let one = Orientation::named("hier-msd-bidirectional-fe-collapseff").unwrap();
        assert_eq!(one.moses_weights()[1], ["lr.next.m", "lr.next.s", "lr.next.d"]);
        assert_eq!(one.stored().to_string(), "hier-msd-bidirectional");
    }

    #[test]
    fn every_class_of_a_row_has_one_column() {
        for classes in Classes::ALL {
            let mut places: Vec<usize> = classes.columns().concat();
            places.sort_unstable();
            assert_eq!(places, (0..classes.range().len()).collect::<Vec<_>>());
            assert_eq!(places.len(), classes.names().len());
        }
    }

    proptest! {
        #[test]
        fn a_name_is_read_as_it_was_written(
            model in 0..3_usize, classes in 0..4_usize, both in 0..3_usize, collapsed: bool,
        ) {
            let (prev, next) = [(true, false), (false, true), (true, true)][both];
            let (model, classes) = (Model::ALL[model], Classes::ALL[classes]);
            let orientation = Orientation { model, classes, prev, next, collapsed };
            prop_assert_eq!(Orientation::named(&orientation.to_string()).unwrap(), orientation);
            let plain = Orientation { collapsed: false, ..orientation };
            prop_assert_eq!(Orientation::named(&orientation.moses_name()).unwrap(), plain);
        }

        #[test]
        fn any_text_is_a_name_or_an_error(name in "[a-z-]{0,30}") {
            let _ = Orientation::named(&name);
        }
    }
}
