//! Word alignments of many sentence pairs, and the Pharaoh format.
//!
//! In: lines such as `0-0 1-2`, source first, positions from 0. Out: `WordAlignments`, a flat list
//! with offsets; the links of a sentence are distinct and sorted by source, then target.
//! A link outside its sentence is an error with the line number.
//! Cost: 8 bytes per link and 8 per sentence.

use crate::Job;
use crate::corpus::{Bitext, LineReader, SrcPos, TgtPos};
use crate::error::{Error, Place, Result};
use crate::narrow::{to_u32, to_usize};
use std::fmt::Write;
use std::path::Path;

/// Number of lines between two checks for cancellation.
const CHECK_INTERVAL: usize = 1 << 12;

/// An alignment link: a source word and a target word that translate each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(C)]
pub struct Link {
    /// Position of the source word.
    pub src: SrcPos,
    /// Position of the target word.
    pub tgt: TgtPos,
}

impl Link {
    /// Create a link from two positions.
    pub fn new(src: u32, tgt: u32) -> Self {
        Link { src: SrcPos(src), tgt: TgtPos(tgt) }
    }

    /// Create a link from the indices of two words.
    pub fn at(src: usize, tgt: usize) -> Self {
        Link::new(to_u32(src), to_u32(tgt))
    }
}

/// The word alignments of many sentence pairs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordAlignments {
    links: Vec<Link>,
    offsets: Vec<u64>,
}

impl Default for WordAlignments {
    fn default() -> Self {
        WordAlignments { links: Vec::new(), offsets: vec![0] }
    }
}

impl WordAlignments {
    /// Return the number of sentence pairs.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Return whether there are no sentence pairs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Return the sorted links of a sentence pair; panic if the pair does not exist.
    pub fn sentence(&self, number: usize) -> &[Link] {
        &self.links[to_usize(self.offsets[number])..to_usize(self.offsets[number + 1])]
    }

    /// Return the links of all sentence pairs, concatenated.
    pub fn flat(&self) -> &[Link] {
        &self.links
    }

    /// Return the start of each pair's links in `flat`, and the end of the last.
    pub fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    /// Append the links of the next sentence pair, in any order.
    pub fn push(&mut self, links: impl IntoIterator<Item = Link>) {
        let start = self.links.len();
        self.links.extend(links);
        self.links[start..].sort_unstable();
        let mut kept = start;
        for next in start..self.links.len() {
            if next == start || self.links[next] != self.links[kept - 1] {
                self.links[kept] = self.links[next];
                kept += 1;
            }
        }
        self.links.truncate(kept);
        self.offsets.push(kept as u64);
    }

    /// Read a file in Pharaoh format that belongs to a bitext.
    pub fn read(path: &Path, bitext: &Bitext, job: &Job) -> Result<Self> {
        let mut lines = LineReader::open(path)?;
        let mut links = WordAlignments::default();
        let mut links_of_line = Vec::new();
        while let Some(line) = lines.next_str()? {
            let number = links.len();
            links_of_line.clear();
            WordAlignments::parse_line(
                line,
                Place::line(path, number as u64 + 1),
                &mut links_of_line,
            )?;
            if number == bitext.len() {
                return Err(line_count_error(path, number, bitext.len(), "more"));
            }
            let lengths =
                (bitext.src().sentence(number).len(), bitext.tgt().sentence(number).len());
            WordAlignments::check_inside(
                &links_of_line,
                lengths,
                Place::line(path, number as u64 + 1),
            )?;
            links.push(links_of_line.iter().copied());
            if links.len().is_multiple_of(CHECK_INTERVAL) {
                job.check()?;
            }
        }
        if links.len() < bitext.len() {
            return Err(line_count_error(path, links.len(), bitext.len(), "only"));
        }
        Ok(links)
    }

    /// Parse a line in Pharaoh format and append its links; `place` locates an error.
    pub fn parse_line(line: &str, place: Place, links: &mut Vec<Link>) -> Result<()> {
        parse_links(line, links).map_err(|found| format_error(place, found))
    }

    /// Parse a line with posteriors (`0-1:0.98`; 1 for a plain link) and append both.
    pub fn parse_scored(
        line: &str,
        place: Place,
        links: &mut Vec<Link>,
        posteriors: &mut Vec<f32>,
    ) -> Result<()> {
        for word in line.split_whitespace() {
            let (link, posterior) = match word.split_once(':') {
                Some((link, posterior)) => (link, posterior.parse().unwrap_or(f32::NAN)),
                None => (word, 1.0),
            };
            if !(0.0..=1.0).contains(&posterior) {
                return Err(format_error(place, word.chars().take(40).collect()));
            }
            parse_links(link, links).map_err(|found| format_error(place.clone(), found))?;
            posteriors.push(posterior);
        }
        Ok(())
    }

    /// Return an error if a link is outside a sentence pair of these lengths.
    pub fn check_inside(links: &[Link], lengths: (usize, usize), place: Place) -> Result<()> {
        let found = links.iter().find_map(|link| outside(*link, lengths));
        found.map_or(Ok(()), |found| Err(mismatch_error(place, found)))
    }

    /// Append the links of a sentence pair in Pharaoh format to `out`.
    pub fn write_sentence(links: &[Link], out: &mut String) {
        for (number, link) in links.iter().enumerate() {
            let space = if number == 0 { "" } else { " " };
            write!(out, "{space}{}-{}", link.src.0, link.tgt.0).expect("a string takes any text");
        }
    }
}

/// Append the links of a line, or return the malformed word.
fn parse_links(line: &str, links: &mut Vec<Link>) -> std::result::Result<(), String> {
    for word in line.split_whitespace() {
        let link = word
            .split_once('-')
            .and_then(|(src, tgt)| Some(Link::new(src.parse().ok()?, tgt.parse().ok()?)));
        links.push(link.ok_or_else(|| word.chars().take(40).collect::<String>())?);
    }
    Ok(())
}

/// Return the message for a link outside a sentence pair of these lengths.
pub fn outside(link: Link, (src, tgt): (usize, usize)) -> Option<String> {
    let (side, length) = if link.src.index() >= src {
        ("source", src)
    } else if link.tgt.index() >= tgt {
        ("target", tgt)
    } else {
        return None;
    };
    let Link { src: SrcPos(i), tgt: TgtPos(j) } = link;
    Some(format!("link {i}-{j} is outside the sentence ({side} has {length} words)"))
}

fn mismatch_error(place: Place, found: String) -> Error {
    let advice = "do both files come from the same corpus?".into();
    Error::Mismatch { place, found, advice }
}

fn format_error(place: Place, word: String) -> Error {
    Error::Format {
        place,
        found: format!("`{word}`"),
        expected: "links such as `0-0 1-2`".into(),
        advice: "positions count from 0, the source comes first".into(),
    }
}

fn line_count_error(path: &Path, lines: usize, pairs: usize, than: &str) -> Error {
    let found = match than {
        "more" => format!("more lines than the text, which has {pairs}"),
        _ => format!("only {lines} lines, but the text has {pairs}"),
    };
    mismatch_error(Place::file(path), found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_sorted_and_unique() {
        let mut links = WordAlignments::default();
        links.push([Link::new(1, 0), Link::new(0, 2), Link::new(1, 0)]);
        links.push([]);
        links.push([Link::new(3, 3)]);
        assert_eq!(links.sentence(0), [Link::new(0, 2), Link::new(1, 0)]);
        assert_eq!(links.sentence(1), []);
        assert_eq!(links.offsets(), [0, 2, 2, 3]);
    }

    #[test]
    fn what_is_written_is_read_again() {
        let mut links = Vec::new();
        parse_links(" 0-0  7-12\t1-3 ", &mut links).unwrap();
        let mut line = String::new();
        WordAlignments::write_sentence(&links, &mut line);
        assert_eq!(line, "0-0 7-12 1-3");
        assert_eq!(parse_links("0-0 1:2", &mut links).unwrap_err(), "1:2");
        assert_eq!(parse_links("0--1", &mut links).unwrap_err(), "0--1");
    }
}
