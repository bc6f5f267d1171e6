//! Which writing a character belongs to, in families coarse enough to tell languages' texts.
//!
//! Chinese and Japanese share a family, because Japanese text mixes Han characters and kana.
//! Digits, punctuation, symbols and combining marks belong to no family.

use unicode_script::{Script, UnicodeScript};

/// A writing system, with kana and bopomofo counted as Han.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Family(Script);

impl Family {
    /// The family's English name, such as `Latin` or `Arabic`.
    pub fn name(self) -> &'static str {
        self.0.full_name()
    }

    /// The family of this name.
    pub fn named(name: &str) -> Option<Self> {
        Script::from_full_name(name).map(Family)
    }

    /// Whether text in it has no spaces between words.
    pub fn is_unspaced(self) -> bool {
        matches!(self.0, Script::Han | Script::Thai | Script::Lao | Script::Khmer | Script::Myanmar)
    }

    /// Whether its letters join, so that joiners and non-joiners are part of its spelling.
    pub fn has_joiners(self) -> bool {
        use Script::{Cyrillic, Greek, Han, Hangul, Latin};
        !matches!(self.0, Latin | Greek | Cyrillic | Han | Hangul)
    }
}

/// The family of a letter; none for anything that many writings share.
pub fn family_of(letter: char) -> Option<Family> {
    if letter.is_ascii() {
        return letter.is_ascii_alphabetic().then_some(Family(Script::Latin));
    }
    match letter.script() {
        Script::Common | Script::Inherited | Script::Unknown => None,
        Script::Hiragana | Script::Katakana | Script::Bopomofo => Some(Family(Script::Han)),
        script => Some(Family(script)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn japanese_is_one_family_and_digits_are_none() {
        let names =
            |text: &str| text.chars().map(|c| family_of(c).map(Family::name)).collect::<Vec<_>>();
        assert_eq!(names("漢かカ"), [Some("Han"); 3]);
        assert_eq!(names("7。ー"), [None; 3]);
        assert_eq!(names("aßж"), [Some("Latin"), Some("Latin"), Some("Cyrillic")]);
    }
}
