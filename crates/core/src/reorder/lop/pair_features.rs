//! What is looked at to tell which of two words should come first.
//!
//! In: a sentence and two of its words, l left of r. Out: the fingerprints of the features that
//! fire, or their texts. How: fifteen templates (McDonald et al.'s for dependency parsing, as
//! Tromble and Eisner, 2009, took them over; definitions h.2). Each feature comes twice, plain and
//! with the distance of the two words; the two forms share a line of the table.
//! Cost: one multiplication a feature, from parts that are worked out once a word.
//! Positions count from 1.

use super::hashed::Hashed;
use super::slots::{Slots, Weights, mix};
use crate::corpus::annotated::{Layer, Sentence};
use crate::narrow::{to_i64, to_usize};
use crate::reorder::names::escape;

/// What a template takes of one of the two words: fields as (layer, offset).
type Part = &'static [(Layer, i64)];

const W: Part = &[(Layer::Word, 0)];
const T: Part = &[(Layer::Tag, 0)];
const WT: Part = &[(Layer::Word, 0), (Layer::Tag, 0)];
/// The tag and the one after it.
const TN: Part = &[(Layer::Tag, 0), (Layer::Tag, 1)];
/// The tag and the one before it.
const PT: Part = &[(Layer::Tag, -1), (Layer::Tag, 0)];
/// All parts; a template names two of them by their places here.
const PARTS: [Part; 5] = [W, T, WT, TN, PT];

/// The number of a template in texts, and its parts of the left and the right word.
const TEMPLATES: [(u8, usize, usize); 14] = [
    (1, 2, 2),
    (2, 2, 0),
    (3, 0, 2),
    (4, 2, 1),
    (5, 1, 2),
    (6, 0, 0),
    (7, 0, 1),
    (8, 1, 0),
    (10, 3, 4),
    (11, 3, 3),
    (12, 4, 3),
    (13, 4, 1),
    (14, 4, 4),
    (15, 1, 4),
];
/// The template of tags between.
const BETWEEN: u8 = 9;
/// The only one that needs no tags.
const WORDS_ALONE: (u8, usize, usize) = (6, 0, 0);
/// Distances from 1, as texts name them: each has a form of its own, beside the plain one.
const BINS: [&str; 7] = ["1", "2", "3", "4", "5", ">5", ">10"];

/// The form of features at a distance; 0 is the plain form.
#[inline]
pub fn form(distance: usize) -> u64 {
    let bin = match distance {
        0..=5 => distance.saturating_sub(1),
        6..=10 => 5,
        _ => 6,
    };
    1 + 2 * bin as u64
}

/// The parts of every word of a sentence, ready to be mixed.
#[derive(Debug, Default, Clone)]
pub struct PairParts {
    /// By position, from 1: one hash a part.
    parts: Vec<[u64; PARTS.len()]>,
    between: Vec<u64>,
}

impl PairParts {
    /// Works out the parts of a sentence.
    pub fn fill(&mut self, src: &Hashed) {
        self.parts.clear();
        self.parts.push([0; PARTS.len()]);
        for at in 1..=src.len() {
            let (word, tag) = (src.word(at), src.tag(at));
            let next = mix(tag, src.tag(at + 1));
            let before = mix(src.tag(at - 1), tag);
            self.parts.push([word, tag, mix(word, tag), next, before]);
        }
    }

    /// Calls `each` with the fingerprint of every feature of a pair.
    #[inline]
    pub fn prints(&mut self, src: &Hashed, left: usize, right: usize, each: impl FnMut(u64)) {
        let mut between = std::mem::take(&mut self.between);
        between.clear();
        if src.has_tags() {
            let inside = (left + 1..right).filter(|&at| src.is_first(at, left));
            between.extend(inside.map(|at| src.tag(at)));
        }
        self.prints_with(src, (left, right), &between, each);
        self.between = between;
    }

    #[inline]
    fn prints_with(
        &self,
        src: &Hashed,
        (left, right): (usize, usize),
        between: &[u64],
        mut each: impl FnMut(u64),
    ) {
        let (from, to) = (&self.parts[left], &self.parts[right]);
        if !src.has_tags() {
            let (number, first, second) = WORDS_ALONE;
            return each(mix(from[first], to[second] ^ seed(number)));
        }
        for (number, first, second) in TEMPLATES {
            each(mix(from[first], to[second] ^ seed(number)));
        }
        let ends = mix(src.tag(left), src.tag(right) ^ seed(BETWEEN));
        for &tag in between {
            each(mix(ends, tag));
        }
    }

    /// Calls `each` with every pair of words and what weights make of it.
    pub fn scores<W: Weights + ?Sized>(
        &mut self,
        src: &Hashed,
        (slots, weights): (Slots, &W),
        mut each: impl FnMut(usize, usize, f64),
    ) {
        let mut between = std::mem::take(&mut self.between);
        for left in 1..src.len() {
            between.clear();
            for right in left + 1..=src.len() {
                let inner = right - 1;
                if inner > left && src.has_tags() && src.is_first(inner, left) {
                    between.push(src.tag(inner));
                }
                let form = form(right - left);
                let mut sum = 0.0;
                self.prints_with(src, (left, right), &between, |print| {
                    let plain = weights.at(slots.place(print, 0));
                    sum += f64::from(plain) + f64::from(weights.at(slots.place(print, form)));
                });
                each(left, right, sum);
            }
        }
        self.between = between;
    }
}

#[inline]
fn seed(template: u8) -> u64 {
    u64::from(template).wrapping_mul(0xa076_1d64_78bd_642f)
}

/// The features of a pair as texts, in the order of their fingerprints: the plain form of each,
/// then `suffix` gives the one with the distance.
pub fn texts(src: &Sentence<'_>, left: usize, right: usize, has_tags: bool) -> Vec<String> {
    let fields = |text: &mut String, part: Part, at: usize| {
        for &(layer, offset) in part {
            text.push('|');
            escape(src.at(layer, to_i64(at) + offset), text);
        }
    };
    let named = |number: u8| format!("{number:02}");
    let templates: &[_] = if has_tags { &TEMPLATES } else { &[WORDS_ALONE] };
    let mut texts = Vec::new();
    for &(number, first, second) in templates {
        let mut text = named(number);
        fields(&mut text, PARTS[first], left);
        fields(&mut text, PARTS[second], right);
        texts.push(text);
    }
    let mut seen: Vec<&str> = Vec::new();
    for at in (left + 1..right).filter(|_| has_tags) {
        let tag = src.at(Layer::Tag, to_i64(at));
        if !seen.contains(&tag) {
            seen.push(tag);
            let mut text = named(BETWEEN);
            for position in [left, at, right] {
                fields(&mut text, T, position);
            }
            texts.push(text);
        }
    }
    texts
}

/// What texts of features with a distance end with.
pub fn suffix(distance: usize) -> String {
    format!("|d={}", BINS[(to_usize(form(distance)) - 1) / 2])
}
