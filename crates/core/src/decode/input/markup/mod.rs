//! Markup: tags with translations and reordering constraints for a sentence.
//!
//! In: a line such as `das <n translation="dwelling||home" prob="0.8||0.2">haus</n> <wall/> …`.
//! Out: its words, and a `Markup`: translations of spans, walls and zones.
//! How: one pass over the line. Tags stand between words; `<zone>…</zone>` and `<wall/>` constrain
//! the order, any other tag must have a translation. In words and attributes `&lt; &gt; &amp;
//! &quot; &apos;` and `&#…;` are character entities.
//! Cost: linear in the line.
//! Not: Moses' `constraint` mode, its `span` attribute and its other tags.

mod tag;
#[cfg(test)]
mod tests;

use crate::error::{Error, Place, Result};
use crate::feature::Span;
use crate::narrow::{to_f32, to_u32};
use crate::reorder::ReorderingConstraints;
use tag::{MarkupTag, TagError, TagKind, unescape};

/// Separator of translations and of probabilities in an attribute.
const OR: &str = "||";

/// Use of markup translations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MarkupMode {
    /// Only markup translations are used for the words they cover.
    #[default]
    Exclusive,
    /// Markup translations compete with those of the phrase table.
    Inclusive,
    /// Markup translations are ignored; walls and zones apply.
    Ignore,
}

impl MarkupMode {
    /// Return the mode with a name, as in Moses.
    pub fn named(name: &str) -> Result<MarkupMode> {
        match name {
            "exclusive" => Ok(MarkupMode::Exclusive),
            "inclusive" => Ok(MarkupMode::Inclusive),
            "ignore" => Ok(MarkupMode::Ignore),
            _ => Err(Error::Argument {
                name: "markup".into(),
                found: format!("`{name}`"),
                expected: "`exclusive`, `inclusive` or `ignore`; leave it away for text without \
                           markup"
                    .into(),
            }),
        }
    }
}

/// A translation of a span in the markup.
#[derive(Debug, Clone, PartialEq)]
pub struct MarkupTranslation {
    /// The source words it covers.
    pub span: Span,
    /// Target words; empty to drop the span.
    pub words: Vec<String>,
    /// Natural log of its probability.
    pub log_prob: f32,
}

/// The markup of one sentence.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Markup {
    /// Translations from left to right; two spans are equal or disjoint.
    pub(in crate::decode) given: Vec<MarkupTranslation>,
    /// Whether only markup translations may cover the words of these spans.
    pub(in crate::decode) is_exclusive: bool,
    /// Walls and zones; they never cross the span of a markup translation.
    pub(in crate::decode) constraints: ReorderingConstraints,
}

/// A sentence with its markup.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MarkedSentence {
    words: Vec<String>,
    markup: Markup,
}

impl Markup {
    /// Return the translations from left to right; two spans are equal or disjoint.
    pub fn given(&self) -> &[MarkupTranslation] {
        &self.given
    }

    /// Return the walls and zones.
    pub fn constraints(&self) -> &ReorderingConstraints {
        &self.constraints
    }

    /// Return the length of the longest span with a markup translation.
    pub(in crate::decode) fn longest(&self) -> u32 {
        self.given.iter().map(|given| given.span.len()).max().unwrap_or(0)
    }

    /// Return whether a span contains words that only markup translations may cover.
    pub(in crate::decode) fn reserves(&self, span: Span) -> bool {
        let meets =
            |given: &MarkupTranslation| given.span.start < span.end && span.start < given.span.end;
        self.is_exclusive && self.given.iter().any(meets)
    }
}

impl MarkedSentence {
    /// Return the source words.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Return the markup.
    pub fn markup(&self) -> &Markup {
        &self.markup
    }

    /// Parse a marked-up line; `place` is its position for error messages.
    pub fn parse(line: &str, mode: MarkupMode, place: &Place) -> Result<MarkedSentence> {
        let mut reader =
            MarkupParser { line, place, words: Vec::new(), given: Vec::new(), open: vec![] };
        let (mut zones, mut walls) = (Vec::new(), Vec::new());
        let mut at = 0;
        while let Some(length) = line[at..].find('<') {
            reader.read_words(&line[at..at + length]);
            let tag = MarkupTag::read(line, at + length).map_err(|fault| reader.fault(fault))?;
            at = tag.end;
            match tag.kind {
                TagKind::Close => zones.extend(reader.close(&tag)?),
                _ if tag.name == "wall" => walls.push(reader.wall(&tag)?),
                _ => reader.open(tag)?,
            }
        }
        reader.read_words(&line[at..]);
        if let Some(tag) = reader.open.pop() {
            let expected = format!("`</{}>` before the end of the line", tag.name);
            return Err(reader.wrong(&tag, "is never closed", expected));
        }
        let MarkupParser { words, mut given, .. } = reader;
        if mode == MarkupMode::Ignore {
            given.clear();
        }
        let constraints = ReorderingConstraints::new(to_u32(words.len()), &zones, &walls);
        let is_exclusive = mode == MarkupMode::Exclusive;
        Ok(MarkedSentence { words, markup: Markup { given, is_exclusive, constraints } })
    }
}

/// The state of the parser.
struct MarkupParser<'a> {
    line: &'a str,
    place: &'a Place,
    words: Vec<String>,
    given: Vec<MarkupTranslation>,
    open: Vec<MarkupTag<'a>>,
}

impl<'a> MarkupParser<'a> {
    fn read_words(&mut self, text: &str) {
        self.words.extend(text.split_whitespace().map(unescape));
    }

    fn wall(&self, tag: &MarkupTag<'a>) -> Result<u32> {
        self.allow_inside(tag)?;
        if tag.kind != TagKind::SelfClosing || !tag.attributes.is_empty() {
            return Err(self.wrong(tag, "is not a wall", "`<wall/>`".into()));
        }
        Ok(to_u32(self.words.len()))
    }

    fn open(&mut self, mut tag: MarkupTag<'a>) -> Result<()> {
        self.allow_inside(&tag)?;
        if tag.name == "zone" {
            if tag.kind == TagKind::SelfClosing || !tag.attributes.is_empty() {
                return Err(self.wrong(&tag, "is not a zone", "`<zone>` … `</zone>`".into()));
            }
        } else {
            self.check_given(&tag)?;
        }
        tag.first_word = self.words.len();
        self.open.push(tag);
        Ok(())
    }

    /// Close the innermost open tag; return its span if it is a zone.
    fn close(&mut self, tag: &MarkupTag<'a>) -> Result<Option<Span>> {
        let Some(opened) = self.open.pop() else {
            let expected = format!("`<{}>` before it", tag.name);
            return Err(self.wrong(tag, "closes nothing", expected));
        };
        if opened.name != tag.name {
            let what = format!(
                "stands inside `{}` of character {}",
                opened.shown(self.line),
                self.column(opened.start)
            );
            return Err(self.wrong(tag, &what, format!("`</{}>` first", opened.name)));
        }
        let span = Span::new(to_u32(opened.first_word), to_u32(self.words.len()));
        if opened.name == "zone" {
            return Ok(Some(span));
        }
        if span.is_empty() {
            return Err(self.wrong(&opened, "has no word", "the words to be translated".into()));
        }
        let (texts, logs) = self.check_given(&opened)?;
        self.given.extend(texts.into_iter().zip(logs).map(|(text, log_prob)| MarkupTranslation {
            span,
            words: text.split_whitespace().map(unescape).collect(),
            log_prob,
        }));
        Ok(None)
    }

    /// Return the translations and log probabilities of a tag.
    fn check_given(&self, tag: &MarkupTag<'a>) -> Result<(Vec<&'a str>, Vec<f32>)> {
        let (mut translation, mut prob) = (None, None);
        for &(name, value) in &tag.attributes {
            let slot = match name {
                "translation" | "english" => &mut translation,
                "prob" => &mut prob,
                _ => {
                    let what = format!("has an attribute `{name}`");
                    return Err(self.wrong(tag, &what, "`translation` and `prob`".into()));
                }
            };
            if slot.replace(value).is_some() {
                let what = format!("has two attributes `{name}`");
                return Err(self.wrong(tag, &what, "one of each".into()));
            }
        }
        let Some(translation) = translation else {
            let expected = "`<zone>`, `<wall/>` or a tag with translation=\"…\"".into();
            return Err(self.wrong(tag, "has no translation", expected));
        };
        let texts: Vec<&str> = translation.split(OR).collect();
        let Some(prob) = prob else {
            // Without `prob` all translations are equally likely.
            let log = -(texts.len() as f32).ln();
            return Ok((texts.clone(), vec![log; texts.len()]));
        };
        let logs: Option<Vec<f32>> = prob.split(OR).map(log_of).collect();
        match logs.filter(|logs| logs.len() == texts.len()) {
            Some(logs) => Ok((texts, logs)),
            None => {
                let what = format!("has prob=\"{prob}\" for {} translations", texts.len());
                let expected = "a number above 0 and up to 1 for each, with || between".into();
                Err(self.wrong(tag, &what, expected))
            }
        }
    }

    /// Return an error if a tag is inside a tag with a translation.
    fn allow_inside(&self, tag: &MarkupTag<'a>) -> Result<()> {
        match self.open.last() {
            Some(outer) if outer.name != "zone" => {
                let what = format!("stands inside `{}`", outer.shown(self.line));
                let expected = "only words where a translation is given".into();
                Err(self.wrong(tag, &what, expected))
            }
            _ => Ok(()),
        }
    }

    /// Return the column of a byte offset, in characters from 1.
    fn column(&self, at: usize) -> usize {
        self.line[..at].chars().count() + 1
    }

    fn wrong(&self, tag: &MarkupTag<'_>, what: &str, expected: String) -> Error {
        let shown = tag.shown(self.line);
        self.error(format!("`{shown}` at character {} {what}", self.column(tag.start)), expected)
    }

    fn fault(&self, TagError { at, what, expected }: TagError) -> Error {
        self.error(format!("{what} at character {}", self.column(at)), expected.into())
    }

    fn error(&self, found: String, expected: String) -> Error {
        let advice = "write &lt; where no tag is meant".into();
        Error::Format { place: self.place.clone(), found, expected, advice }
    }
}

fn log_of(prob: &str) -> Option<f32> {
    let value: f64 = prob.trim().parse().ok()?;
    (value > 0.0 && value <= 1.0).then(|| to_f32(value.ln()))
}
