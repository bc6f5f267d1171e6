//! What can be seen of one word by itself, in any script.
//!
//! In: a word. Out: a `Form` of hashes: the word, its lower case, its first and last letters and
//! its shape.
//! How: Unicode's own properties of characters; `Xx` for *Haus*, `d.d` for *3,5*, `h` for Han.
//! Cost: one pass over the letters and fourteen short hashes.

use unicode_script::{Script, UnicodeScript};
use xxhash_rust::xxh3::xxh3_64;

/// Longest beginning that is looked at, in characters.
pub(super) const PREFIXES: usize = 4;
/// Longest ending that is looked at, in characters.
pub(super) const SUFFIXES: usize = 5;

/// A word as features see it; 0 stands for what is not there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Form {
    pub word: u64,
    pub lower: u64,
    pub shape: u64,
    /// Beginnings of 1, 2, … characters, in lower case.
    pub prefixes: [u64; PREFIXES],
    /// Endings of 1, 2, … characters, in lower case.
    pub suffixes: [u64; SUFFIXES],
}

/// Memory that is used again for every word.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    lower: String,
    shape: String,
}

impl Form {
    /// Looks at a word.
    pub fn of(word: &str, scratch: &mut Scratch) -> Form {
        scratch.lower.clear();
        scratch.lower.extend(word.chars().flat_map(char::to_lowercase));
        write_shape(word, &mut scratch.shape);
        let lower = scratch.lower.as_str();
        let mut form = Form {
            word: hash(word),
            lower: hash(lower),
            shape: hash(&scratch.shape),
            ..Form::default()
        };
        let ends = lower.char_indices().map(|(at, letter)| at + letter.len_utf8());
        for (prefix, end) in form.prefixes.iter_mut().zip(ends) {
            *prefix = hash(&lower[..end]);
        }
        let starts = lower.char_indices().rev().map(|(at, _)| at);
        for (suffix, start) in form.suffixes.iter_mut().zip(starts) {
            *suffix = hash(&lower[start..]);
        }
        form
    }
}

fn hash(text: &str) -> u64 {
    xxh3_64(text.as_bytes())
}

/// The shape of a word: a letter for each run of characters of one kind.
pub fn shape_of(word: &str) -> String {
    let mut shape = String::new();
    write_shape(word, &mut shape);
    shape
}

fn write_shape(word: &str, shape: &mut String) {
    shape.clear();
    let mut last = '\0';
    for letter in word.chars() {
        let kind = kind_of(letter);
        if kind != last {
            shape.push(kind);
            last = kind;
        }
    }
}

/// What kind of character it is; punctuation stands for itself.
fn kind_of(letter: char) -> char {
    if letter.is_numeric() {
        return 'd';
    }
    if letter.is_uppercase() {
        return 'X';
    }
    if letter.is_lowercase() {
        return 'x';
    }
    if !letter.is_alphabetic() {
        return if letter.is_ascii() { letter } else { '.' };
    }
    match letter.script() {
        Script::Han => 'h',
        Script::Hiragana => 'i',
        Script::Katakana => 'k',
        _ => 'a',
    }
}
