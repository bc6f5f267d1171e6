//! What is wrong with one pair of lines, taken by itself.
//!
//! In: two lines of any bytes. Out: findings, the gravest kind first.
//! Cost: a few passes over the characters; ASCII is quick.
//! Not: duplicates, which need the lines before.

use super::{DoctorOptions, Problem};
use crate::corpus::{Family, family_of, length_of};

const REPLACEMENT: char = '\u{fffd}';

/// The side of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The source side.
    Src,
    /// The target side.
    Tgt,
    /// The pair as a whole.
    Both,
}

/// One thing found in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Its kind.
    pub problem: Problem,
    /// Where.
    pub side: Side,
    /// What exactly, for people: the byte, the character, the numbers.
    pub detail: String,
}

/// The writing of each side, where it has one.
#[derive(Debug, Clone, Copy, Default)]
pub struct Families {
    /// The source's.
    pub src: Option<Family>,
    /// The target's.
    pub tgt: Option<Family>,
}

/// Two lines that are text.
pub struct TextPair<'a> {
    pub src: &'a str,
    pub tgt: &'a str,
}

/// Both lines as text, or what is wrong with their bytes.
pub fn decode<'a>(src: &'a [u8], tgt: &'a [u8]) -> Result<TextPair<'a>, Vec<Finding>> {
    match (std::str::from_utf8(src), std::str::from_utf8(tgt)) {
        (Ok(src), Ok(tgt)) => Ok(TextPair { src, tgt }),
        (src_result, tgt_result) => {
            let sides = [(Side::Src, src, src_result), (Side::Tgt, tgt, tgt_result)];
            let wrong = sides.into_iter().filter_map(|(side, line, result)| {
                let at = result.err()?.valid_up_to();
                let detail = format!("byte {} (0x{:02x})", at + 1, line[at]);
                Some(Finding { problem: Problem::Encoding, side, detail })
            });
            Err(wrong.collect())
        }
    }
}

/// Everything wrong with a pair of text lines, as far as one can tell from the pair alone.
pub fn inspect(pair: &TextPair<'_>, options: &DoctorOptions, families: Families) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut add = |problem, side, detail| findings.push(Finding { problem, side, detail });
    let sides = [(Side::Src, pair.src, families.src), (Side::Tgt, pair.tgt, families.tgt)];
    for (side, line, family) in sides {
        if !line.is_ascii() {
            check_characters(line, |problem, detail| add(problem, side, detail));
        } else if let Some(found) = line.chars().find(|&c| is_control(c)) {
            add(Problem::Control, side, name_of(found));
        }
        if line.contains("|||") {
            add(Problem::Separator, side, "`|||`".into());
        }
        if let Some(detail) = family.and_then(|family| wrong_script(line, family)) {
            add(Problem::Script, side, detail);
        }
    }
    if let Some(detail) = options.factors.and_then(|count| wrong_factors(pair.src, count)) {
        add(Problem::Factors, Side::Src, detail);
    }
    check_lengths(pair, options, &mut add);
    findings
}

fn check_characters(line: &str, mut add: impl FnMut(Problem, String)) {
    if let Some(found) = line.chars().find(|&c| is_control(c)) {
        add(Problem::Control, name_of(found));
    }
    if line.contains(REPLACEMENT) {
        add(Problem::Replacement, name_of(REPLACEMENT));
    }
}

/// Control characters other than the tab, which separates words like a space.
fn is_control(letter: char) -> bool {
    letter.is_control() && letter != '\t'
}

/// A character by its number.
pub fn name_of(letter: char) -> String {
    format!("U+{:04X}", letter as u32)
}

fn wrong_script(line: &str, own: Family) -> Option<String> {
    let (mut letters, mut foreign, mut example) = (0, 0, None);
    for family in line.chars().filter_map(family_of) {
        letters += 1;
        if family != own {
            foreign += 1;
            example = example.or(Some(family));
        }
    }
    let other = example?;
    (2 * foreign > letters).then(|| {
        format!("{foreign} of {letters} letters are not {}, but {}", own.name(), other.name())
    })
}

fn wrong_factors(line: &str, count: usize) -> Option<String> {
    let good =
        |word: &&str| word.split('|').count() == count && !word.split('|').any(str::is_empty);
    let word = line.split_whitespace().find(|word| !good(word))?;
    let shown: String = word.chars().take(40).collect();
    Some(format!("`{shown}` does not have {count} factors"))
}

fn check_lengths(
    pair: &TextPair<'_>,
    options: &DoctorOptions,
    add: &mut impl FnMut(Problem, Side, String),
) {
    let lengths = [(Side::Src, length_of(pair.src)), (Side::Tgt, length_of(pair.tgt))];
    for (side, length) in lengths {
        if length == 0 {
            add(Problem::Empty, side, "no word".into());
        } else if length > options.max_length {
            add(Problem::Long, side, format!("{length} words"));
        }
    }
    let [(_, src), (_, tgt)] = lengths;
    let (short, long) = (src.min(tgt), src.max(tgt));
    if short > 0 && long as f64 > options.max_ratio * short as f64 {
        add(Problem::Ratio, Side::Both, format!("{src} to {tgt} words"));
    }
    if short > 0 && pair.src == pair.tgt {
        add(Problem::Identical, Side::Both, "source = target".into());
    }
}
