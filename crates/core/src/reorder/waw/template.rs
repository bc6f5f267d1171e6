//! The 21 feature templates (SPEC b.3), as text and as fingerprints.
//!
//! In: a prepared sentence and a jump. Out: the features that fire, each once: 64-bit fingerprints
//! for training and look-ups, strings for people and the text form of a model.
//! How: one table says what each template is made of; fingerprint and text both follow it.
//! Cost: a few multiplications a feature; words between the ends cost nothing extra in lists,
//! because lists are differences of running sums.

use super::options::{Anchor, Options};
use super::sentence::{Layer, Prepared, Sentence, hash_of, list_of};

/// A part of a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// What stands so far from the word jumped from.
    From(Layer, i8),
    /// What stands so far from the word jumped to.
    To(Layer, i8),
    /// Forward or backward.
    Way,
    /// What stands between, one feature for each.
    Each(Layer),
    /// All that stands between, in source order.
    List(Layer),
    /// Whether both ends are in one chunk.
    Same,
}

use Layer::{Chunk, Head, Tag, Word};
use Part::{Each, From, List, Same, To, Way};

type Template = (u8, &'static [Part]);

/// Templates as the paper has them.
const TEMPLATES: [Template; 21] = [
    (1, &[From(Word, 0), To(Word, 0)]),
    (2, &[From(Word, -1), From(Word, 0), To(Word, 0)]),
    (3, &[From(Word, -2), From(Word, -1), From(Word, 0), To(Word, 0)]),
    (4, &[From(Word, -1), From(Word, 0), To(Word, 0), To(Word, 1)]),
    (5, &[From(Word, 0), From(Word, 1), To(Word, -1), To(Word, 0)]),
    (6, &[Way, Each(Word), To(Word, -1), To(Word, 0)]),
    (7, &[Way, List(Word), To(Word, -1), To(Word, 0)]),
    (8, &[From(Tag, 0), To(Tag, 0)]),
    (9, &[From(Tag, -1), From(Tag, 0), To(Tag, 0)]),
    (10, &[From(Tag, -2), From(Tag, -1), From(Tag, 0), To(Tag, 0)]),
    (11, &[From(Tag, -1), From(Tag, 0), To(Tag, 0), To(Tag, 1)]),
    (12, &[From(Tag, 0), From(Tag, 1), To(Tag, -1), To(Tag, 0)]),
    (13, &[From(Tag, -1), From(Tag, 0), From(Tag, 1), To(Tag, -1), To(Tag, 0), To(Tag, 1)]),
    (14, &[Way, Each(Tag), To(Tag, -1), To(Tag, 0)]),
    (15, &[Way, List(Tag), To(Tag, -1), To(Tag, 0)]),
    (16, &[From(Word, 0), To(Tag, 0)]),
    (17, &[From(Tag, 0), To(Word, 0)]),
    (18, &[From(Chunk, 0), To(Chunk, 0)]),
    (
        19,
        &[
            From(Chunk, -1),
            From(Chunk, 0),
            From(Chunk, 1),
            To(Chunk, -1),
            To(Chunk, 0),
            To(Chunk, 1),
        ],
    ),
    (20, &[From(Head, 0), To(Head, 0)]),
    (21, &[Same]),
];

/// Templates 6, 7, 14 and 15 with both ends of the jump beside what lies between.
const WITH_ENDS: [Template; 4] = [
    (6, &[Way, From(Word, 0), Each(Word), To(Word, 0)]),
    (7, &[Way, From(Word, 0), List(Word), To(Word, 0)]),
    (14, &[Way, From(Tag, 0), Each(Tag), To(Tag, 0)]),
    (15, &[Way, From(Tag, 0), List(Tag), To(Tag, 0)]),
];

/// The templates of a model, ready for use.
#[derive(Debug, Clone)]
pub struct Shapes {
    chosen: Vec<Shape>,
    /// Hashes of `B` and `F`.
    way: [u64; 2],
    /// Hashes of `0` and `1`.
    same: [u64; 2],
}

#[derive(Debug, Clone, Copy)]
struct Shape {
    id: u8,
    parts: &'static [Part],
    /// The layer of its `Each` part.
    each: Option<Layer>,
    /// Whether something must lie between the two ends.
    needs_between: bool,
    /// How many parts it begins with are about the word jumped from.
    lead: usize,
}

impl Shape {
    fn new((id, parts): Template) -> Self {
        let layer = |part: &Part| if let Each(layer) = part { Some(*layer) } else { None };
        let each = parts.iter().find_map(layer);
        let has_list = parts.iter().any(|part| matches!(part, List(_)));
        let lead = parts.iter().take_while(|part| matches!(part, From(..))).count();
        Shape { id, parts, each, needs_between: each.is_some() || has_list, lead }
    }
}

/// What the features of all jumps from one word begin with, one number a template.
pub type Heads = [u64; TEMPLATES.len()];

/// A feature that fires, and how to find its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Firing {
    /// What the feature is looked up by.
    pub fingerprint: u64,
    /// Place of its template among those chosen.
    shape: u32,
    /// Position of its `Each` part, 0 without one.
    between: u32,
}

/// Takes one more part into a fingerprint.
fn fold(fingerprint: u64, part: u64) -> u64 {
    (fingerprint.rotate_left(25) ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Spreads what multiplication has moved up, and keeps the mark of an empty place free.
fn spread(fingerprint: u64) -> u64 {
    let mixed = (fingerprint ^ fingerprint >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    (mixed ^ mixed >> 29).min(u64::MAX - 1)
}

fn first(template: u8) -> u64 {
    u64::from(template).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

impl Shapes {
    /// The templates that these options choose.
    pub fn new(options: &Options) -> Self {
        let other = |id: u8| match options.anchor {
            Anchor::Target => None,
            Anchor::Ends => WITH_ENDS.into_iter().find(|(known, _)| *known == id),
        };
        let chosen = TEMPLATES.into_iter().filter(|(id, _)| options.templates.has(*id));
        Shapes {
            chosen: chosen.map(|given| Shape::new(other(given.0).unwrap_or(given))).collect(),
            way: ["B", "F"].map(hash_of),
            same: ["0", "1"].map(hash_of),
        }
    }

    /// Calls `each` for every feature of a jump; positions count from 1, `from` may be 0.
    #[inline]
    pub fn firings(&self, src: &Prepared, from: u32, to: u32, mut each: impl FnMut(Firing)) {
        let jump = Jump::new(from, to);
        for (number, shape) in self.chosen.iter().enumerate() {
            if shape.needs_between && jump.inside().is_empty() {
                continue;
            }
            let mut fire = |between: u32| {
                let fingerprint = self.fingerprint(shape, src, &jump, between);
                each(Firing { fingerprint, shape: number as u32, between });
            };
            match shape.each {
                None => fire(0),
                Some(layer) => jump
                    .inside()
                    .filter(|&between| src.is_first(layer, between as usize, jump.low as usize))
                    .for_each(fire),
            }
        }
    }

    /// What the features of jumps from a word, from 1 or 0, begin with.
    pub fn heads(&self, src: &Prepared, from: u32) -> Heads {
        let mut heads = Heads::default();
        let jump = Jump::new(from, from);
        for (head, shape) in heads.iter_mut().zip(&self.chosen) {
            *head = self.follow(first(shape.id), &shape.parts[..shape.lead], src, &jump, 0);
        }
        heads
    }

    /// Calls `each` for every feature of a jump but those that are one for each word between;
    /// `heads` are those of its start.
    #[inline]
    pub fn whole(
        &self,
        src: &Prepared,
        heads: &Heads,
        from: u32,
        to: u32,
        mut each: impl FnMut(u64),
    ) {
        let jump = Jump::new(from, to);
        for (shape, &head) in self.chosen.iter().zip(heads) {
            let is_there = !(shape.needs_between && jump.inside().is_empty());
            if is_there && shape.each.is_none() {
                each(spread(self.follow(head, &shape.parts[shape.lead..], src, &jump, 0)));
            }
        }
    }

    /// Calls `each` for every feature of a jump that stands for one word between: the number of
    /// its template among such templates, the word, and a way to its fingerprint.
    #[inline]
    pub fn between<'s>(
        &'s self,
        src: &'s Prepared,
        from: u32,
        to: u32,
        mut each: impl FnMut(usize, u32, &dyn Fn() -> u64),
    ) {
        let jump = Jump::new(from, to);
        let shapes = self.chosen.iter().filter_map(|shape| Some((shape, shape.each?)));
        for (number, (shape, layer)) in shapes.enumerate() {
            for between in jump.inside() {
                if src.is_first(layer, between as usize, jump.low as usize) {
                    let print = || self.fingerprint(shape, src, &jump, between);
                    each(number, between, &print);
                }
            }
        }
    }

    /// How many templates give a feature for each word between, if such a feature depends on
    /// that word and the word jumped to alone; else none.
    pub fn apart(&self) -> Option<usize> {
        let mut own = self.chosen.iter().filter(|shape| shape.each.is_some());
        let depends = |shape: &Shape| shape.parts.iter().any(|part| matches!(part, From(..)));
        let count = own.clone().count();
        (!own.any(depends)).then_some(count)
    }

    #[inline]
    fn fingerprint(&self, shape: &Shape, src: &Prepared, jump: &Jump, between: u32) -> u64 {
        spread(self.follow(first(shape.id), shape.parts, src, jump, between))
    }

    /// Takes further parts into what a fingerprint begins with.
    #[inline]
    fn follow(&self, head: u64, parts: &[Part], src: &Prepared, jump: &Jump, between: u32) -> u64 {
        let value = |part: &Part| match *part {
            From(layer, offset) => src.at(layer, jump.from, offset),
            To(layer, offset) => src.at(layer, jump.to, offset),
            Way => self.way[usize::from(jump.is_forward())],
            Each(layer) => src.at(layer, between, 0),
            List(layer) => src.list(layer, jump.low as usize, jump.high as usize),
            Same => self.same[usize::from(src.same_chunk(jump.from, jump.to))],
        };
        parts.iter().fold(head, |sum, part| fold(sum, value(part)))
    }

    /// The text of a feature that fired.
    pub fn text(&self, src: &Sentence<'_>, from: u32, to: u32, firing: Firing) -> String {
        let Shape { id, parts, .. } = self.chosen[firing.shape as usize];
        let jump = Jump::new(from, to);
        let mut text = format!("{id:02}");
        let add = |layer: Layer, position: u32, offset: i8, text: &mut String| {
            escape(src.at(layer, i64::from(position) + i64::from(offset)), text);
        };
        for part in parts {
            text.push('|');
            match *part {
                From(layer, offset) => add(layer, from, offset, &mut text),
                To(layer, offset) => add(layer, to, offset, &mut text),
                Way => text.push(if jump.is_forward() { 'F' } else { 'B' }),
                Each(layer) => add(layer, firing.between, 0, &mut text),
                List(layer) => {
                    for between in jump.inside() {
                        if between > jump.low + 1 {
                            text.push('_');
                        }
                        add(layer, between, 0, &mut text);
                    }
                }
                Same => text.push(if src.same_chunk(from, to) { '1' } else { '0' }),
            }
        }
        text
    }
}

/// The two ends of a jump.
struct Jump {
    from: u32,
    to: u32,
    low: u32,
    high: u32,
}

impl Jump {
    fn new(from: u32, to: u32) -> Self {
        Jump { from, to, low: from.min(to), high: from.max(to) }
    }

    fn is_forward(&self) -> bool {
        self.to > self.from
    }

    /// The positions between them.
    fn inside(&self) -> std::ops::Range<u32> {
        self.low + 1..self.high
    }
}

/// The fingerprint of a feature given as text; none when no template has such a text.
pub fn fingerprint_of(text: &str) -> Option<u64> {
    let mut fields = text.split('|');
    let id = fields.next().filter(|id| id.len() == 2)?.parse::<u8>().ok()?;
    let (_, parts) = TEMPLATES.into_iter().find(|(known, _)| *known == id)?;
    // A field without `_` is a list of one, whose hash is that of the one.
    let values = fields.map(|field| list_of(field.split('_').map(|word| hash_of(&plain(word)))));
    let (mut sum, mut count) = (first(id), 0);
    for value in values {
        sum = fold(sum, value);
        count += 1;
    }
    (count == parts.len()).then(|| spread(sum))
}

const ESCAPES: [(char, &str); 4] = [('%', "%25"), ('|', "%7C"), ('_', "%5F"), (' ', "%20")];

fn escape(field: &str, text: &mut String) {
    for letter in field.chars() {
        match ESCAPES.iter().find(|(special, _)| *special == letter) {
            Some((_, escaped)) => text.push_str(escaped),
            None => text.push(letter),
        }
    }
}

/// A field without its escapes; what is none is left alone.
fn plain(field: &str) -> std::borrow::Cow<'_, str> {
    if !field.contains('%') {
        return field.into();
    }
    let mut text = String::with_capacity(field.len());
    let mut rest = field;
    while let Some(at) = rest.find('%') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let known = ESCAPES.iter().find(|(_, escaped)| rest.starts_with(escaped));
        text.push(known.map_or('%', |(special, _)| *special));
        rest = &rest[known.map_or(1, |(_, escaped)| escaped.len())..];
    }
    text.push_str(rest);
    text.into()
}
