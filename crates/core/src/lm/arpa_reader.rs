//! Reads ARPA files, the common text format of n-gram models (definitions l.2).
//!
//! In: `\data\`, a count per order, a section per order with lines of probability, n-gram and
//! backoff (both logarithms to base 10), `\end\`. Out: `NgramLists`.
//! Reading is strict: the first malformed line is an error. Prefixes and suffixes that are missing,
//! as some tools leave them after pruning, are added with the score that backing off gives, so no
//! score of the model changes.
//! Cost: one pass; 24 to 56 bytes per n-gram in memory while reading.

use super::arpa_completion::{ArpaEntry, complete};
use super::ngram::NO_EXTENSION;
use super::ngram_key::{NgramKey, bits_for};
use super::ngram_lists::{NgramLists, ScoredSpool, UnigramScores};
use super::{BOS, EOS, MAX_ORDER, RESERVED, UNK};
use crate::Job;
use crate::corpus::{LineReader, Vocab};
use crate::error::{Error, Place, Result};
use crate::narrow::{to_f32, to_u32};
use crate::storage::{Spool, TempFolder};
use std::f64::consts::LN_10;
use std::path::Path;

/// Number of lines between two checks for cancellation.
const CHECK_INTERVAL: u64 = 1 << 14;
/// Base-10 log probability of an unknown word if the file has no `<unk>`.
const NO_UNK: f64 = -100.0;

/// Read an ARPA file, plain or compressed.
pub fn read_arpa(path: &Path, job: &Job) -> Result<NgramLists> {
    let mut reader =
        ArpaReader { lines: LineReader::open(path)?, text: String::new(), line: 0, job };
    let claimed = reader.read_counts()?;
    let (vocab, words) = reader.read_words(claimed[0], claimed.len())?;
    match (to_u32(claimed.len()) * bits_for(vocab.len())).div_ceil(64) {
        1 => reader.read_higher::<1>(vocab, words, &claimed),
        2 => reader.read_higher::<2>(vocab, words, &claimed),
        3 => reader.read_higher::<3>(vocab, words, &claimed),
        _ => reader.read_higher::<4>(vocab, words, &claimed),
    }
}

/// The `found` and `expected` parts of an error message; the reader adds the place.
type LineFault = (String, String);

struct ArpaReader<'a> {
    lines: LineReader,
    text: String,
    line: u64,
    job: &'a Job,
}

impl ArpaReader<'_> {
    /// Read the next line that is not blank; fail at the end of the file.
    fn advance(&mut self, expected: impl Fn() -> String) -> Result<()> {
        loop {
            self.line += 1;
            if self.line.is_multiple_of(CHECK_INTERVAL) {
                self.job.check()?;
                self.job.advance(CHECK_INTERVAL);
            }
            match self.lines.next_str()? {
                None => return Err(self.error(("the end of the file".into(), expected()))),
                Some(line) if line.trim().is_empty() => {}
                Some(line) => {
                    self.text.clear();
                    self.text.push_str(line);
                    return Ok(());
                }
            }
        }
    }

    fn error(&self, (found, expected): LineFault) -> Error {
        let place = Place::line(self.lines.path(), self.line);
        let advice = "is the file whole, and is it an ARPA language model?".into();
        Error::Format { place, found, expected, advice }
    }

    /// Read the header and return the number of n-grams of each order.
    fn read_counts(&mut self) -> Result<Vec<u64>> {
        self.advance(|| r"`\data\`".into())?;
        if self.text.trim() != r"\data\" {
            return Err(self.error((quote(&self.text), r"`\data\`".into())));
        }
        let mut counts = Vec::new();
        loop {
            let order = counts.len() + 1;
            let expected = || format!("`ngram {order}=` and a number");
            self.advance(expected)?;
            if order > 1 && self.text.trim() == r"\1-grams:" {
                return Ok(counts);
            }
            let count = parse_count(&self.text, order);
            let count = count.ok_or_else(|| self.error((quote(&self.text), expected())))?;
            if order > MAX_ORDER {
                let found = format!("a model of order {order} or more");
                let limit = format!("order {MAX_ORDER}");
                let place = Place::line(self.lines.path(), self.line);
                return Err(Error::Limit { place, found, limit });
            }
            counts.push(count);
        }
    }

    /// Read a section up to the heading of the next section.
    fn read_section(
        &mut self,
        order: usize,
        claimed: &[u64],
        mut each: impl FnMut(&str, u64) -> std::result::Result<(), LineFault>,
    ) -> Result<()> {
        let heading = if order == claimed.len() {
            r"\end\".to_owned()
        } else {
            format!(r"\{}-grams:", order + 1)
        };
        let claimed = claimed[order - 1];
        let mut count = 0;
        loop {
            self.advance(|| format!("`{heading}`"))?;
            if self.text.starts_with('\\') {
                break;
            }
            if count == claimed {
                let found = format!("more than {claimed} {order}-grams");
                return Err(self.error((found, format!("`{heading}`"))));
            }
            count += 1;
            each(&self.text, self.line).map_err(|wrong| self.error(wrong))?;
        }
        if self.text.trim() != heading {
            return Err(self.error((quote(&self.text), format!("`{heading}`"))));
        }
        if count != claimed {
            let found = format!("{count} {order}-grams");
            return Err(self.error((found, format!("the {claimed} that the header says"))));
        }
        Ok(())
    }

    /// Read the unigrams. The reserved words come first in the result.
    fn read_words(&mut self, claimed: u64, orders: usize) -> Result<(Vocab, UnigramScores)> {
        let mut vocab = Vocab::default();
        for word in RESERVED {
            vocab.intern(word);
        }
        let mut scores = vec![None; RESERVED.len()];
        let mut sections = vec![0; orders];
        sections[0] = claimed;
        self.read_section(1, &sections, |line, _| {
            let mut fields = ArpaFields::parse(line, 1)?;
            let word = match fields.word()? {
                "<UNK>" => RESERVED[UNK as usize],
                word => word,
            };
            let id = vocab.intern(word) as usize;
            scores.resize(vocab.len(), None);
            let pair = (fields.prob, fields.backoff()?);
            match scores[id].replace(pair) {
                None => Ok(()),
                Some(_) => Err((format!("{} a second time", quote(word)), "new words".into())),
            }
        })?;
        let no_unk = (to_f32(NO_UNK * LN_10), NO_EXTENSION);
        scores[UNK as usize].get_or_insert(no_unk);
        for id in [BOS, EOS] {
            if scores[id as usize].is_none() {
                let found = format!("1-grams without `{}`", RESERVED[id as usize]);
                return Err(self.error((found, "both sentence marks among the 1-grams".into())));
            }
        }
        if orders == 1 {
            self.read_end()?;
        }
        Ok((vocab, scores.into_iter().flatten().collect()))
    }

    fn read_higher<const W: usize>(
        &mut self,
        vocab: Vocab,
        mut words: UnigramScores,
        claimed: &[u64],
    ) -> Result<NgramLists> {
        let bits = bits_for(vocab.len());
        let mut orders: Vec<Vec<ArpaEntry<W>>> = Vec::new();
        for order in 2..=claimed.len() {
            let mut entries = Vec::new();
            self.read_section(order, claimed, |line, number| {
                entries.push(parse_entry(line, order, number, &vocab, bits)?);
                Ok(())
            })?;
            entries.sort_unstable_by_key(|entry| (entry.key, entry.line));
            if let Some(pair) = entries.windows(2).find(|pair| pair[0].key == pair[1].key) {
                self.line = pair[1].line;
                let words = pair[0].key.words(order, bits);
                let words: Vec<_> = words[..order].iter().rev().map(|&id| vocab.word(id)).collect();
                let found = format!("{} a second time", quote(&words.join(" ")));
                return Err(self.error((found, "new n-grams".into())));
            }
            orders.push(entries);
        }
        if claimed.len() > 1 {
            self.read_end()?;
        }
        complete(&mut words, &mut orders, bits);
        let folder = TempFolder::new(None);
        let mut higher: Vec<ScoredSpool<W>> = Vec::new();
        for entries in orders {
            let mut list = Spool::new(&folder, usize::MAX);
            for entry in entries {
                list.push((entry.key, (entry.prob, entry.backoff)))?;
            }
            higher.push(list);
        }
        let higher = higher.into_iter().map(|list| vec![list]).collect();
        Ok(NgramLists::new(vocab, words, higher, bits))
    }

    /// Fail if text follows `\end\`.
    fn read_end(&mut self) -> Result<()> {
        while let Some(line) = self.lines.next_str()? {
            self.line += 1;
            if !line.trim().is_empty() {
                let found = quote(line);
                return Err(self.error((found, r"nothing after `\end\`".into())));
            }
        }
        Ok(())
    }
}

/// Parse `ngram 3=812`; return `None` if the order differs.
fn parse_count(line: &str, order: usize) -> Option<u64> {
    let (given, count) = line.trim().strip_prefix("ngram ")?.split_once('=')?;
    (given.trim().parse() == Ok(order)).then(|| count.trim().parse().ok())?
}

/// Quote up to 40 characters of a line for a message.
fn quote(text: &str) -> String {
    let shown: String = text.chars().take(40).collect();
    let dots = if shown.len() < text.len() { "…" } else { "" };
    format!("`{shown}{dots}`")
}

/// The fields of a line: log probability, words, backoff.
struct ArpaFields<'a, I> {
    prob: f32,
    fields: I,
    line: &'a str,
    order: usize,
}

impl<'a> ArpaFields<'a, ()> {
    fn parse(
        line: &'a str,
        order: usize,
    ) -> std::result::Result<ArpaFields<'a, impl Iterator<Item = &'a str>>, LineFault> {
        let mut fields = line.split(['\t', ' ']).filter(|field| !field.is_empty());
        let prob = parse_number(fields.next().unwrap_or_default())?;
        if prob > 0.0 {
            let found = format!("the log probability {prob}");
            return Err((found, "a number that is not above 0".into()));
        }
        // Adding 0 turns -0 into +0; the sign is a flag elsewhere.
        let prob = to_f32(prob * LN_10) + 0.0;
        Ok(ArpaFields { prob, fields, line, order })
    }
}

impl<'a, I: Iterator<Item = &'a str>> ArpaFields<'a, I> {
    fn word(&mut self) -> std::result::Result<&'a str, LineFault> {
        self.fields.next().ok_or_else(|| self.field_fault())
    }

    fn backoff(mut self) -> std::result::Result<f32, LineFault> {
        let backoff = self.fields.next().map_or(Ok(0.0), parse_number)?;
        if self.fields.next().is_some() {
            return Err(self.field_fault());
        }
        let backoff = to_f32(backoff * LN_10);
        Ok(if backoff == 0.0 { NO_EXTENSION } else { backoff })
    }

    fn field_fault(&self) -> LineFault {
        let words = if self.order == 1 { "a word" } else { "words" };
        let expected = match self.order {
            1 => format!("a log probability, {words} and perhaps a backoff"),
            order => format!("a log probability, {order} {words} and perhaps a backoff"),
        };
        (quote(self.line), expected)
    }
}

fn parse_number(text: &str) -> std::result::Result<f64, LineFault> {
    match text.parse::<f64>() {
        Ok(number) if to_f32(number * LN_10).is_finite() => Ok(number),
        _ => Err((quote(text), "a finite number".into())),
    }
}

fn parse_entry<const W: usize>(
    line: &str,
    order: usize,
    number: u64,
    vocab: &Vocab,
    bits: u32,
) -> std::result::Result<ArpaEntry<W>, LineFault> {
    let mut fields = ArpaFields::parse(line, order)?;
    let mut key = NgramKey::EMPTY;
    for index in (0..order).rev() {
        let word = fields.word()?;
        let word = if word == "<UNK>" { RESERVED[UNK as usize] } else { word };
        let id = vocab.id(word).ok_or_else(|| {
            let found = format!("the word {}", quote(word));
            (found, "words that are among the 1-grams".into())
        })?;
        key.set(index, id, bits);
    }
    let prob = fields.prob;
    Ok(ArpaEntry { key, prob, backoff: fields.backoff()?, line: number })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_only_for_their_order() {
        assert_eq!(parse_count("ngram 2=17", 2), Some(17));
        assert_eq!(parse_count("ngram 2 = 17 ", 2), Some(17));
        assert_eq!(parse_count("ngram 3=17", 2), None);
        assert_eq!(parse_count("ngram 2=-1", 2), None);
    }
}
