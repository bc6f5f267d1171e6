//! The words of one side in the order of their spelling.
//!
//! A word's `code` is its place in that order, with one place left free where `|||` would stand:
//! the end of a phrase sorts there. So phrases compare as the lines of a text table do under
//! `LC_ALL=C sort`, whatever the corpus, and shards agree on the order of their phrases.

use crate::corpus::{Bitext, Text, WordId};
use crate::error::{Error, Place, Result};
use crate::narrow::to_u32;
use crate::storage::{Cursor, write_number};
use std::cmp::Ordering;

/// What stands between the fields of a text table; no word may look like it.
pub const SEPARATOR: &str = "|||";

/// Words sorted by their bytes, with their frequencies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words {
    letters: String,
    ends: Vec<usize>,
    frequencies: Vec<u64>,
    /// Number of words before the separator: the code of the end of a phrase.
    end: u32,
}

impl Words {
    /// Number of words.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no word.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The word at a place in the order of spelling.
    pub fn word(&self, place: usize) -> &str {
        let start = if place == 0 { 0 } else { self.ends[place - 1] };
        &self.letters[start..self.ends[place]]
    }

    /// How often the word occurs.
    pub fn frequency(&self, place: usize) -> u64 {
        self.frequencies[place]
    }

    /// The code that the end of a phrase has when phrases are compared.
    pub fn end_code(&self) -> u32 {
        self.end
    }

    /// The place of a code; none for the end of a phrase and beyond.
    pub fn place(&self, code: u32) -> Option<usize> {
        let place = code.checked_sub(u32::from(code > self.end))? as usize;
        (code != self.end && place < self.len()).then_some(place)
    }

    /// The code of a place.
    pub fn code(&self, place: usize) -> u32 {
        to_u32(place) + u32::from(to_u32(place) >= self.end)
    }

    /// Adds the next word; the caller keeps the order.
    pub fn push(&mut self, word: &str, frequency: u64) {
        self.letters.push_str(word);
        self.ends.push(self.letters.len());
        self.frequencies.push(frequency);
        if word < SEPARATOR {
            self.end = to_u32(self.ends.len());
        }
    }

    /// The words of a text, and the code of each word id of the bitext's vocabulary.
    pub fn of(text: &Text, bitext: &Bitext, side: &str) -> Result<(Self, Vec<u32>)> {
        let mut frequencies = vec![0u64; bitext.vocab().len()];
        for &id in text.ids() {
            frequencies[id as usize] += 1;
        }
        let mut ids: Vec<WordId> =
            (0..to_u32(frequencies.len())).filter(|&id| frequencies[id as usize] > 0).collect();
        ids.sort_unstable_by_key(|&id| bitext.vocab().word(id));
        let mut words = Words::default();
        for &id in &ids {
            let word = bitext.vocab().word(id);
            if word == SEPARATOR {
                return Err(separator_found(text, id, side));
            }
            words.push(word, frequencies[id as usize]);
        }
        let mut codes = vec![0; frequencies.len()];
        for (place, &id) in ids.iter().enumerate() {
            codes[id as usize] = words.code(place);
        }
        Ok((words, codes))
    }

    /// The words of several lists together, and for each list the new code of each old code.
    pub fn union(lists: &[&Words]) -> (Self, Vec<Vec<u32>>) {
        let mut places = vec![0; lists.len()];
        let mut union = Words::default();
        let mut at: Vec<Vec<usize>> = vec![Vec::new(); lists.len()];
        loop {
            let heads = lists.iter().zip(&places);
            let smallest = heads.filter(|(list, place)| **place < list.len());
            let Some(word) = smallest.map(|(list, place)| list.word(*place)).min() else { break };
            let mut frequency = 0;
            for ((list, place), at) in lists.iter().zip(&mut places).zip(&mut at) {
                if *place < list.len() && list.word(*place) == word {
                    frequency += list.frequency(*place);
                    at.push(union.len());
                    *place += 1;
                }
            }
            union.push(word, frequency);
        }
        let codes = lists.iter().zip(&at).map(|(list, at)| {
            let mut codes = vec![union.end_code(); list.len() + 1];
            for (place, &new) in at.iter().enumerate() {
                codes[list.code(place) as usize] = union.code(new);
            }
            codes
        });
        let codes = codes.collect();
        (union, codes)
    }

    /// Writes them to the end of `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        write_number(out, self.len() as u64);
        for place in 0..self.len() {
            let word = self.word(place);
            write_number(out, word.len() as u64);
            out.extend_from_slice(word.as_bytes());
            write_number(out, self.frequency(place));
        }
    }

    /// Reads what `write` wrote.
    pub fn read(cursor: &mut Cursor<'_>) -> Option<Self> {
        let mut words = Words::default();
        for place in 0..cursor.small()? {
            let length = cursor.small()? as usize;
            let word = std::str::from_utf8(cursor.bytes(length)?).ok()?;
            let in_order = place == 0 || words.word(place as usize - 1) < word;
            let is_word =
                !word.is_empty() && word != SEPARATOR && !word.contains(char::is_whitespace);
            if !in_order || !is_word {
                return None;
            }
            words.push(word, cursor.number()?);
        }
        Some(words)
    }
}

/// Compares phrases given as codes; `end` is the code of the end of a phrase.
#[inline]
pub fn compare(first: &[u32], second: &[u32], end: u32) -> Ordering {
    let shared = first.len().min(second.len());
    match first[..shared].cmp(&second[..shared]) {
        Ordering::Equal => {
            let next = |phrase: &[u32]| phrase.get(shared).copied().unwrap_or(end);
            next(first).cmp(&next(second))
        }
        order => order,
    }
}

fn separator_found(text: &Text, id: WordId, side: &str) -> Error {
    let number = text.sentences().position(|words| words.contains(&id)).unwrap_or_default();
    Error::Format {
        place: Place { file: format!("{side} text"), line: Some(number as u64 + 1) },
        found: format!("the word `{SEPARATOR}`"),
        expected: "words that do not look like the separator of phrase tables".into(),
        advice: "let `wayword doctor` take such lines out".into(),
    }
}
