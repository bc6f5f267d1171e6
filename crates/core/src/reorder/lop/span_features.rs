//! What the joint model looks at in a node of a bracketing: edges of both halves and of the whole.
//!
//! In: a sentence and a node: the left half (i,j], the right half (j,k]. Out: fingerprints of
//! features, each with a form for either label; features of a whole span also have one for each
//! place it can have in the node above it (definitions o).
//! How: features are grouped by the corners they look at, so that all but the few in `node`
//! are worked out O(n²) times a sentence and not O(n³) times.
//! Without tags words take their place, so that the model works on plain text too.

use super::hashed::Hashed;
use super::slots::mix;

/// Where a span stands in the node above it.
pub const PLACES: usize = 5;

/// The form of a feature with a label: 0 straight, 1 inverted.
#[inline]
pub fn labelled(label: usize) -> u64 {
    label as u64
}

/// The form of a feature with a label and a place in the node above.
#[inline]
pub fn placed(label: usize, place: usize) -> u64 {
    (2 * place + label) as u64
}

/// Words and tags of a sentence by position; 0 is the start.
#[derive(Debug, Clone, Copy)]
pub struct Edges<'a> {
    src: &'a Hashed,
    has_tags: bool,
}

/// Calls `each` with the mix of the template's number and its fields.
macro_rules! fire {
    ($each:ident, $($number:literal: $first:expr $(, $field:expr)*;)+) => {
        $({
            let print = mix($first, $number ^ SALT);
            $(let print = mix(print, $field);)*
            // The lowest bit is free for the label.
            $each(print & !1);
        })+
    };
}

/// Keeps the features of spans away from those of pairs.
const SALT: u64 = 0x5851_f42d_4c95_7f2d;

impl<'a> Edges<'a> {
    /// The edges of a sentence.
    pub fn new(src: &'a Hashed) -> Self {
        Edges { src, has_tags: src.has_tags() }
    }

    #[inline]
    fn word(&self, position: usize) -> u64 {
        self.src.word(position)
    }

    /// The tag, or the word where there are none.
    #[inline]
    fn tag(&self, position: usize) -> u64 {
        if self.has_tags { self.src.tag(position) } else { self.src.word(position) }
    }

    /// Features of a split after word `j`.
    pub fn split(&self, j: usize, mut each: impl FnMut(u64)) {
        let (w, v, t, u) = (self.word(j), self.word(j + 1), self.tag(j), self.tag(j + 1));
        let (before, after) = (self.tag(j - 1), self.tag((j + 2).min(self.src.len() + 1)));
        fire!(each,
            1: w, v; 2: w, u; 3: t, v; 4: t, u; 5: w; 6: v; 7: before, t, u; 8: t, u, after;
            9: before, t, u, after; 10: w, u, after; 11: before, t, v;
        );
    }

    /// Features of a whole span (i,k].
    pub fn whole(&self, i: usize, k: usize, mut each: impl FnMut(u64)) {
        let (w, v, t, u) = (self.word(i + 1), self.word(k), self.tag(i + 1), self.tag(k));
        let (before, after) = (self.tag(i), self.tag(k + 1));
        let size = size(k - i);
        fire!(each,
            20: t, u; 21: w, v; 22: w, u; 23: t, v; 24: before, t, u, after; 25: before, t, u;
            26: t, u, after; 27: before, w; 28: v, after; 29: before, after; 30: t, u, size;
            31: before, after, size; 32: w; 33: v; 34: before, v; 35: w, after;
        );
    }

    /// Features of a whole span that are also looked at with its place in the node above.
    pub fn place(&self, i: usize, k: usize, mut each: impl FnMut(u64)) {
        let (t, u) = (self.tag(i + 1), self.tag(k));
        let (before, after) = (self.tag(i), self.tag(k + 1));
        let size = size(k - i);
        fire!(each, 40: size; 41: t, u; 42: before, after; 43: t, size; 44: u, size;);
    }

    /// Features of the left half (i,j].
    pub fn left(&self, i: usize, j: usize, mut each: impl FnMut(u64)) {
        let (w, v, t, u) = (self.word(i + 1), self.word(j), self.tag(i + 1), self.tag(j));
        let (before, next, next_word) = (self.tag(i), self.tag(j + 1), self.word(j + 1));
        let size = size(j - i);
        fire!(each,
            50: t, u, next; 51: w, next; 52: t, next_word; 53: w, next_word; 54: t, next;
            55: t, u; 56: size; 57: before, t, next; 58: t, u, size; 59: w, u; 60: t, v;
            61: before, t, u, next; 62: w, v; 63: next, size; 64: t, next, size;
        );
    }

    /// Features of the right half (j,k].
    pub fn right(&self, j: usize, k: usize, mut each: impl FnMut(u64)) {
        let (w, v, t, u) = (self.word(j + 1), self.word(k), self.tag(j + 1), self.tag(k));
        let (last, after, last_word) = (self.tag(j), self.tag(k + 1), self.word(j));
        let size = size(k - j);
        fire!(each,
            70: last, t, u; 71: last_word, u; 72: last, v; 73: last_word, v; 74: last, u;
            75: t, u; 76: size; 77: last, u, after; 78: t, u, size; 79: w, u; 80: t, v;
            81: last, t, u, after; 82: w, v; 83: last, size; 84: last, u, size;
        );
    }

    /// Features of a node as a whole: those that need all three corners.
    #[inline]
    pub fn node(&self, i: usize, j: usize, k: usize, mut each: impl FnMut(u64)) {
        let (a, b, c, d) = (self.tag(i + 1), self.tag(j), self.tag(j + 1), self.tag(k));
        let sizes = size(j - i) * 16 + size(k - j);
        fire!(each, 90: a, b, c, d; 91: a, c, d; 92: a, b, d; 93: sizes;);
    }
}

/// A length as a number that features share.
fn size(length: usize) -> u64 {
    match length {
        0..=4 => length as u64,
        5..=6 => 5,
        7..=9 => 6,
        10..=14 => 7,
        15..=24 => 8,
        _ => 9,
    }
}
