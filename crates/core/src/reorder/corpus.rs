//! Annotated source sentences with the links to their translations.
//!
//! In: factored source text, the target text and the links between them, line by line, perhaps
//! with their posteriors.
//! Out: annotated text, links, and the orders that they imply (definitions a), for any model of
//! word order to learn from.
//! Cost: one pass; 8 bytes a link and 4 a word besides the text; orders are worked out when asked for.

use super::order::{Heuristic, check_source, order_of_links};
use crate::Job;
use crate::align::{Link, WordAlignments};
use crate::corpus::LineReader;
use crate::corpus::annotated::{AnnotatedText, BadToken, Sentence};
use crate::error::{Error, Place, Result};
use std::path::Path;

/// Lines between two looks at the job.
const BLOCK: usize = 1 << 12;

/// Sentences and their links.
#[derive(Debug, Clone, Default)]
pub struct Corpus {
    text: AnnotatedText,
    /// The links of all sentences, one after the other, sorted within each.
    links: Vec<Link>,
    /// Where those of each sentence end.
    link_ends: Vec<usize>,
    /// The posterior of each word's best link, 1 for words without any, word after word.
    trust: Vec<f32>,
}

impl Corpus {
    /// Reads factored source text (`word`, `word|POS` or `word|POS|chunk`), target text and links.
    pub fn read(src: &Path, tgt: &Path, links: &Path, job: &Job) -> Result<Self> {
        let mut corpus = Corpus::default();
        let mut files = [LineReader::open(src)?, LineReader::open(tgt)?, LineReader::open(links)?];
        let mut factors = 0;
        let (mut sentence_links, mut posteriors) = (Vec::new(), Vec::new());
        loop {
            let [src_lines, tgt_lines, link_lines] = &mut files;
            let number = corpus.len() as u64 + 1;
            let (src_line, tgt_line, link_line) =
                (src_lines.next_str()?, tgt_lines.next_str()?, link_lines.next_str()?);
            let (Some(src_line), Some(tgt_line), Some(link_line)) = (src_line, tgt_line, link_line)
            else {
                let lines = [(src, src_line), (tgt, tgt_line), (links, link_line)];
                uneven(&lines.map(|(path, line)| (path, line.is_some())), number - 1)?;
                return Ok(corpus);
            };
            if factors == 0 {
                let first = src_line.split_whitespace().next();
                factors = first.map_or(0, |token| token.split('|').count());
            }
            let sentence = Sentence::of_factors(src_line.split_whitespace(), factors)
                .map_err(|bad| bad_token(Place::line(src, number), src_line, bad))?;
            sentence_links.clear();
            posteriors.clear();
            let place = Place::line(links, number);
            WordAlignments::parse_scored(link_line, place, &mut sentence_links, &mut posteriors)?;
            let lengths = (sentence.len(), tgt_line.split_whitespace().count());
            WordAlignments::check_inside(&sentence_links, lengths, Place::line(links, number))?;
            corpus.push_scored(&sentence, &sentence_links, &posteriors)?;
            if corpus.len().is_multiple_of(BLOCK) {
                job.check()?;
                job.advance(BLOCK as u64);
            }
        }
    }

    /// Adds a sentence; all with words must have the same layers.
    pub fn push(&mut self, sentence: &Sentence<'_>, links: &[Link]) -> Result<()> {
        self.push_trusted(sentence, links, &vec![1.0; sentence.len()])
    }

    /// Adds a sentence whose links have posteriors.
    pub fn push_scored(
        &mut self,
        sentence: &Sentence<'_>,
        links: &[Link],
        posteriors: &[f32],
    ) -> Result<()> {
        check_source(sentence.len(), links)?;
        let mut best = vec![None; sentence.len()];
        for (link, &posterior) in links.iter().zip(posteriors) {
            let of_word: &mut Option<f32> = &mut best[link.src.index()];
            *of_word = Some(of_word.map_or(posterior, |other| other.max(posterior)));
        }
        let trust: Vec<f32> = best.into_iter().map(|best| best.unwrap_or(1.0)).collect();
        self.push_trusted(sentence, links, &trust)
    }

    fn push_trusted(
        &mut self,
        sentence: &Sentence<'_>,
        links: &[Link],
        trust: &[f32],
    ) -> Result<()> {
        check_source(sentence.len(), links)?;
        self.text.push(sentence)?;
        self.trust.extend_from_slice(trust);
        let first = self.links.len();
        self.links.extend_from_slice(links);
        self.links[first..].sort_unstable();
        self.link_ends.push(self.links.len());
        Ok(())
    }

    /// Some of its sentences as a corpus of their own; numbers beyond its end are left out.
    pub fn part(&self, numbers: std::ops::Range<usize>) -> Result<Self> {
        let mut part = Corpus::default();
        for number in numbers.start..numbers.end.min(self.len()) {
            part.push_trusted(&self.text.sentence(number), self.links(number), self.trust(number))?;
        }
        Ok(part)
    }

    /// The sentences themselves.
    pub fn text(&self) -> &AnnotatedText {
        &self.text
    }

    /// Number of sentences.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// Whether there is no sentence.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The links of a sentence, sorted.
    pub fn links(&self, number: usize) -> &[Link] {
        let start = if number == 0 { 0 } else { self.link_ends[number - 1] };
        &self.links[start..self.link_ends[number]]
    }

    /// The posterior of the best link of each word of a sentence, 1 for words without any.
    pub fn trust(&self, number: usize) -> &[f32] {
        &self.trust[self.text.range(number)]
    }

    /// The order of a sentence, from 0, by the mean of target positions.
    pub fn order(&self, number: usize) -> Vec<u32> {
        self.order_by(number, Heuristic::Mean)
    }

    /// The order of a sentence, from 0, by any heuristic.
    pub fn order_by(&self, number: usize, heuristic: Heuristic) -> Vec<u32> {
        order_of_links(self.text.range(number).len(), self.links(number), heuristic)
    }
}

/// What to say about a bad token of a factored line.
fn bad_token(place: Place, line: &str, bad: BadToken) -> Error {
    let token = line.split_whitespace().nth(bad.at).unwrap_or_default();
    let token: String = token.chars().take(40).collect();
    Error::Format {
        place,
        found: format!("token {} (`{token}`): {}", bad.at + 1, bad.found),
        expected: bad.expected,
        advice: "write a `|` inside a word as `&#124;`".into(),
    }
}

/// Complains when some files go on where others have ended.
fn uneven(files: &[(&Path, bool)], lines: u64) -> Result<()> {
    let longer = files.iter().find(|(_, goes_on)| *goes_on);
    let shorter = files.iter().find(|(_, goes_on)| !goes_on);
    match (longer, shorter) {
        (Some((longer, _)), Some((shorter, _))) => Err(Error::Mismatch {
            place: Place::line(longer, lines + 1),
            found: format!("{} has only {lines} lines", shorter.display()),
            advice: "do all files come from the same corpus?".into(),
        }),
        _ => Ok(()),
    }
}
