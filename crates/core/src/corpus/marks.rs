//! Marks that nobody sees, taken out of a line without harm to its words.
//!
//! In: a line. Out: the same line without direction marks, soft hyphens, byte-order marks and the
//! like; spaces without width and separators of lines become spaces. Joiners stay where they are
//! spelling: in Arabic and Indic writings and in emoji.
//! How: the doctor and the preparation of text both ask here, so that they cannot disagree.
//! Cost: one pass; a line without such marks is not copied.
//! Not: control characters, which are a sign of broken text.

use super::family_of;
use std::borrow::Cow;

const JOINERS: [char; 2] = ['\u{200c}', '\u{200d}'];

/// What becomes of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Kept,
    Dropped,
    Space,
}

/// The line without marks that nobody sees, and the first of them if there was one.
pub fn without_marks(line: &str) -> (Cow<'_, str>, Option<char>) {
    if line.is_ascii() {
        return (line.into(), None);
    }
    let Some((place, first)) = first_mark(line) else { return (line.into(), None) };
    let mut clean = String::with_capacity(line.len());
    clean.push_str(&line[..place]);
    let mut previous = line[..place].chars().next_back().unwrap_or(' ');
    for letter in line[place..].chars() {
        match fate_of(letter, previous) {
            Fate::Kept => clean.push(letter),
            Fate::Space => clean.push(' '),
            Fate::Dropped => continue, // what it stood after is still the letter before
        }
        previous = letter;
    }
    (clean.into(), Some(first))
}

fn first_mark(line: &str) -> Option<(usize, char)> {
    let mut previous = ' ';
    for (place, letter) in line.char_indices() {
        if fate_of(letter, previous) != Fate::Kept {
            return Some((place, letter));
        }
        previous = letter;
    }
    None
}

fn fate_of(letter: char, previous: char) -> Fate {
    if JOINERS.contains(&letter) {
        let joins = family_of(previous).map_or(!previous.is_ascii(), |family| family.has_joiners());
        return if joins { Fate::Kept } else { Fate::Dropped };
    }
    match letter {
        '\u{200b}' | '\u{2028}' | '\u{2029}' => Fate::Space,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200e}' | '\u{200f}' | '\u{feff}' => Fate::Dropped,
        '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}' => {
            Fate::Dropped
        }
        _ => Fate::Kept,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joiners_stay_where_they_are_spelling() {
        for line in ["می\u{200c}خواهم", "क्\u{200d}ष", "👩\u{200d}🔬", "ein Wort"]
        {
            assert_eq!(without_marks(line), (line.into(), None));
        }
        assert_eq!(without_marks("ein\u{200c}s"), ("eins".into(), Some('\u{200c}')));
        assert_eq!(without_marks("\u{200d}ja"), ("ja".into(), Some('\u{200d}')));
    }

    #[test]
    fn marks_are_dropped_and_spaces_stay_spaces() {
        let line = "\u{200f}كتاب\u{200e} so\u{ad}fort\u{200b}da\u{2028}hin";
        assert_eq!(without_marks(line).0, "كتاب sofort da hin");
    }

    #[test]
    fn a_line_without_marks_is_clean_for_good() {
        let line = "a\u{200e}\u{200d}b म\u{200e}\u{200d}";
        let (clean, _) = without_marks(line);
        assert_eq!(clean, "ab म\u{200d}");
        assert_eq!(without_marks(&clean).1, None);
    }
}
