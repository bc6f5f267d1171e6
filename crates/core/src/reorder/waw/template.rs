//! The 21 feature templates (definitions b.3), as text and as fingerprints.
//!
//! In: a prepared sentence and a jump. Out: the features that fire, each once: 64-bit fingerprints
//! for training and look-ups, strings for people and the text form of a model.
//! How: one table says what each template is made of; fingerprint and text both follow it. A
//! fingerprint is made of what its parts at the word jumped from come to, what those at the word
//! jumped to come to, and what those between do. The ends are worked out once a sentence.
//! Cost: two or three multiplications a feature, however many parts it has; lists of words
//! between are differences of running sums.

use super::around::Looks;
use super::options::{Anchor, Options};
use super::prepared::{Prepared, list_of};
use crate::corpus::annotated::{Layer, Sentence, hash_of};
use crate::narrow::to_u32;
use crate::reorder::names::{escape, plain};

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
    /// Those that look around the word jumped to.
    looks: Looks,
    /// Places of those with a feature for each word between.
    each: Vec<usize>,
    /// Hashes of `B` and `F`.
    way: [u64; 2],
    /// Hashes of `0` and `1`.
    same: [u64; 2],
}

#[derive(Debug, Clone, Copy)]
struct Shape {
    id: u8,
    parts: &'static [Part],
    middle: Middle,
}

/// What a template looks at beside the two ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Middle {
    Nothing,
    /// The way, and what stands between: one feature for each.
    Each(Layer),
    /// The way, and all that stands between.
    List(Layer),
    /// Whether both ends are in one chunk.
    Same,
}

impl Shape {
    fn new((id, parts): Template) -> Self {
        let middle = parts.iter().find_map(|part| match *part {
            Each(layer) => Some(Middle::Each(layer)),
            List(layer) => Some(Middle::List(layer)),
            Same => Some(Middle::Same),
            From(..) | To(..) | Way => None,
        });
        Shape { id, parts, middle: middle.unwrap_or(Middle::Nothing) }
    }

    /// What its parts at the word jumped from come to.
    fn head(&self, src: &Prepared, from: u32) -> u64 {
        self.parts.iter().fold(first(self.id), |sum, part| match *part {
            From(layer, offset) => fold(sum, src.at(layer, from, offset)),
            _ => sum,
        })
    }

    /// What its parts at the word jumped to come to.
    fn tail(&self, src: &Prepared, to: u32) -> u64 {
        self.parts.iter().fold(0, |sum, part| match *part {
            To(layer, offset) => fold(sum, src.at(layer, to, offset)),
            _ => sum,
        })
    }
}

/// What the features of jumps have at their ends, for all words of a sentence; the memory is
/// reused.
#[derive(Debug, Default)]
pub struct Ends {
    /// By position, from 0: one number a template.
    heads: Vec<u64>,
    /// By position, from 1.
    tails: Vec<u64>,
}

impl Ends {
    /// Takes up a sentence.
    pub fn fill(&mut self, shapes: &Shapes, src: &Prepared) {
        self.heads.clear();
        self.tails.clear();
        let length = to_u32(src.len());
        for position in 0..=length {
            self.heads.extend(shapes.chosen.iter().map(|shape| shape.head(src, position)));
        }
        for position in 1..=length {
            self.tails.extend(shapes.chosen.iter().map(|shape| shape.tail(src, position)));
        }
    }

    /// Both ends of a jump, template by template.
    #[inline]
    fn of(&self, jump: &Jump, templates: usize) -> impl Iterator<Item = u64> {
        let heads = &self.heads[jump.from as usize * templates..][..templates];
        let tails = &self.tails[(jump.to as usize - 1) * templates..][..templates];
        heads.iter().zip(tails).map(|(&head, &tail)| fold(head, tail))
    }
}

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
pub(super) fn fold(fingerprint: u64, part: u64) -> u64 {
    (fingerprint.rotate_left(25) ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Spreads what multiplication has moved up, and keeps the mark of an empty place free.
pub(super) fn spread(fingerprint: u64) -> u64 {
    let mixed = (fingerprint ^ fingerprint >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    (mixed ^ mixed >> 29).min(u64::MAX - 1)
}

/// What the fingerprints of a template begin with.
pub(super) fn first(template: u8) -> u64 {
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
        let chosen: Vec<Shape> =
            chosen.map(|given| Shape::new(other(given.0).unwrap_or(given))).collect();
        let is_each = |&at: &usize| matches!(chosen[at].middle, Middle::Each(_));
        Shapes {
            each: (0..chosen.len()).filter(is_each).collect(),
            looks: Looks::new(options),
            chosen,
            way: ["B", "F"].map(hash_of),
            same: ["0", "1"].map(hash_of),
        }
    }

    /// The templates that look around the word jumped to.
    pub fn looks(&self) -> &Looks {
        &self.looks
    }

    /// Calls `each` for every feature of a jump but those that look around; positions count from 1, `from` may be 0.
    #[inline]
    pub fn firings(
        &self,
        src: &Prepared,
        ends: &Ends,
        from: u32,
        to: u32,
        mut each: impl FnMut(Firing),
    ) {
        let jump = Jump::new(from, to);
        let both = ends.of(&jump, self.chosen.len());
        for (number, (shape, ends)) in self.chosen.iter().zip(both).enumerate() {
            let shape_number = to_u32(number);
            if let Middle::Each(layer) = shape.middle {
                let is_first = |at: &u32| src.is_first(layer, *at as usize, jump.low as usize);
                for between in jump.inside().filter(is_first) {
                    let fingerprint = self.of_word(ends, src, layer, between, &jump);
                    each(Firing { fingerprint, shape: shape_number, between });
                }
            } else if let Some(fingerprint) = self.of_jump(shape.middle, ends, src, &jump) {
                each(Firing { fingerprint, shape: shape_number, between: 0 });
            }
        }
    }

    /// Calls `each` for every feature of a jump but those that are one for each word between.
    #[inline]
    pub fn whole(
        &self,
        src: &Prepared,
        ends: &Ends,
        (from, to): (u32, u32),
        each: impl FnMut(u64),
    ) {
        let jump = Jump::new(from, to);
        let both = self.chosen.iter().zip(ends.of(&jump, self.chosen.len()));
        both.filter_map(|(shape, ends)| self.of_jump(shape.middle, ends, src, &jump))
            .for_each(each);
    }

    /// Calls `each` for the features that a word between brings to a jump, unless the same stands
    /// between it and the word jumped to.
    #[inline]
    pub fn word_between(
        &self,
        src: &Prepared,
        ends: &Ends,
        (from, to): (u32, u32),
        between: u32,
        mut each: impl FnMut(u64),
    ) {
        let jump = Jump::new(from, to);
        for &number in &self.each {
            let Middle::Each(layer) = self.chosen[number].middle else { continue };
            let (at, to) = (between as usize, to as usize);
            let is_new = match jump.is_forward() {
                true => src.is_last(layer, at, to),
                false => src.is_first(layer, at, to),
            };
            if is_new {
                let templates = self.chosen.len();
                let head = ends.heads[from as usize * templates + number];
                let ends = fold(head, ends.tails[(to - 1) * templates + number]);
                each(self.of_word(ends, src, layer, between, &jump));
            }
        }
    }

    /// Whether the features of a word between depend on the word jumped from.
    pub fn between_needs_from(&self) -> bool {
        let parts = self.each.iter().flat_map(|&number| self.chosen[number].parts);
        parts.into_iter().any(|part| matches!(part, From(..)))
    }

    /// The feature of a jump, if its template has one.
    #[inline]
    fn of_jump(&self, middle: Middle, ends: u64, src: &Prepared, jump: &Jump) -> Option<u64> {
        match middle {
            Middle::Nothing => Some(spread(ends)),
            Middle::Same => {
                let same = self.same[usize::from(src.same_chunk(jump.from, jump.to))];
                Some(spread(fold(ends, fold(0, same))))
            }
            Middle::List(layer) if !jump.inside().is_empty() => {
                let list = src.list(layer, jump.low as usize, jump.high as usize);
                Some(spread(fold(ends, self.towards(jump, list))))
            }
            Middle::List(_) | Middle::Each(_) => None,
        }
    }

    /// The feature of a word between.
    #[inline]
    fn of_word(&self, ends: u64, src: &Prepared, layer: Layer, between: u32, jump: &Jump) -> u64 {
        spread(fold(ends, self.towards(jump, src.at(layer, between, 0))))
    }

    /// What stands between, with the way.
    #[inline]
    fn towards(&self, jump: &Jump, between: u64) -> u64 {
        fold(fold(0, self.way[usize::from(jump.is_forward())]), between)
    }

    /// The fingerprint of a feature given as text; none when no template has such a text.
    pub fn fingerprint_of(&self, text: &str) -> Option<u64> {
        let mut fields = text.split('|');
        let id = fields.next().filter(|id| id.len() == 2)?.parse::<u8>().ok()?;
        let Some(shape) = self.chosen.iter().find(|shape| shape.id == id) else {
            return self.looks.fingerprint_of(text);
        };
        let (mut head, mut tail, mut middle) = (first(id), 0, 0);
        for part in shape.parts {
            // A field without `_` is a list of one, whose hash is that of the one.
            let value = list_of(fields.next()?.split('_').map(|word| hash_of(&plain(word))));
            match part {
                From(..) => head = fold(head, value),
                To(..) => tail = fold(tail, value),
                Way | Each(_) | List(_) | Same => middle = fold(middle, value),
            }
        }
        let ends = fold(head, tail);
        let whole = if shape.middle == Middle::Nothing { ends } else { fold(ends, middle) };
        fields.next().is_none().then(|| spread(whole))
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
