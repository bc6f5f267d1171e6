//! Phrases as numbers, and lists of phrases on disk.
//!
//! `PhraseSet` numbers phrases by first appearance while sentences go by. Once sorted they are a
//! list: every phrase as the number of words it shares with the one before, its other words,
//! and how often it was extracted.

use super::words::compare;
use crate::narrow::to_u32;
use crate::storage::{Blob, Pass, write_number};
use hashbrown::HashTable;
use rustc_hash::FxHasher;
use std::hash::Hasher;
use std::ops::Range;

/// Phrases numbered by first appearance, with counts.
#[derive(Debug, Default)]
pub struct PhraseSet {
    words: Vec<u32>,
    ends: Vec<u32>,
    counts: Vec<u64>,
    numbers: HashTable<u32>,
}

#[inline]
fn hash(phrase: &[u32]) -> u64 {
    let mut hasher = FxHasher::default();
    for &word in phrase {
        hasher.write_u32(word);
    }
    hasher.finish()
}

#[inline]
fn slice<'a>(words: &'a [u32], ends: &[u32], number: u32) -> &'a [u32] {
    let number = number as usize;
    let start = if number == 0 { 0 } else { ends[number - 1] };
    &words[start as usize..ends[number] as usize]
}

impl PhraseSet {
    /// Number of phrases.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no phrase.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The words of a phrase.
    pub fn phrase(&self, number: u32) -> &[u32] {
        slice(&self.words, &self.ends, number)
    }

    /// Counts an occurrence of a phrase.
    #[inline]
    pub fn count(&mut self, number: u32) {
        self.counts[number as usize] += 1;
    }

    /// The number of a phrase that is there.
    pub fn find(&self, phrase: &[u32]) -> Option<u32> {
        self.numbers.find(hash(phrase), |&number| self.phrase(number) == phrase).copied()
    }

    /// The number of a phrase, which is added when new.
    pub fn intern(&mut self, phrase: &[u32]) -> u32 {
        let PhraseSet { words, ends, counts, numbers } = self;
        let hashed = hash(phrase);
        if let Some(&number) = numbers.find(hashed, |&number| slice(words, ends, number) == phrase)
        {
            return number;
        }
        let number = to_u32(ends.len());
        words.extend_from_slice(phrase);
        ends.push(to_u32(words.len()));
        counts.push(0);
        numbers.insert_unique(hashed, number, |&number| hash(slice(words, ends, number)));
        number
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        4 * self.words.len() + 12 * self.ends.len() + 6 * self.numbers.capacity()
    }

    /// Forgets all phrases, keeps the memory.
    pub fn clear(&mut self) {
        self.words.clear();
        self.ends.clear();
        self.counts.clear();
        self.numbers.clear();
    }

    /// The phrases in order: their numbers, and the place of each number in that order.
    pub fn sorted(&self, end: u32) -> (Vec<u32>, Vec<u32>) {
        // Two words in one number settle most comparisons without a look at the phrase.
        let key = |number: u32| {
            let phrase = self.phrase(number);
            let second = phrase.get(1).copied().unwrap_or(end);
            u64::from(phrase[0]) << 32 | u64::from(second)
        };
        let mut keyed: Vec<(u64, u32)> =
            (0..to_u32(self.len())).map(|number| (key(number), number)).collect();
        keyed.sort_unstable_by(|first, second| {
            first
                .0
                .cmp(&second.0)
                .then_with(|| compare(self.phrase(first.1), self.phrase(second.1), end))
        });
        let mut places = vec![0; keyed.len()];
        for (place, &(_, number)) in keyed.iter().enumerate() {
            places[number as usize] = to_u32(place);
        }
        (keyed.into_iter().map(|(_, number)| number).collect(), places)
    }

    /// How often a phrase was counted.
    pub fn frequency(&self, number: u32) -> u64 {
        self.counts[number as usize]
    }
}

/// Writes a sorted list of phrases.
#[derive(Debug, Default)]
pub struct ListWriter {
    last: Vec<u32>,
}

impl ListWriter {
    /// A writer that goes on behind a phrase.
    pub fn after(phrase: &[u32]) -> Self {
        ListWriter { last: phrase.to_vec() }
    }

    /// The phrase written last.
    pub fn last(&self) -> &[u32] {
        &self.last
    }

    /// Adds the next phrase to the end of `out`.
    pub fn push(&mut self, out: &mut Vec<u8>, phrase: &[u32], count: u64) {
        let shared = self.last.iter().zip(phrase).take_while(|(old, new)| old == new).count();
        write_number(out, shared as u64);
        write_number(out, (phrase.len() - shared) as u64);
        phrase[shared..].iter().for_each(|&word| write_number(out, u64::from(word)));
        write_number(out, count);
        self.last.truncate(shared);
        self.last.extend_from_slice(&phrase[shared..]);
    }
}

/// Reads a sorted list of phrases.
#[derive(Debug)]
pub struct ListReader<'a> {
    pass: Pass<'a>,
    /// The phrase last read.
    pub phrase: Vec<u32>,
    /// How often it was extracted.
    pub count: u64,
}

impl<'a> ListReader<'a> {
    /// A reader before the first phrase.
    pub fn new(list: &'a Blob) -> Self {
        ListReader { pass: Pass::new(list), phrase: Vec::new(), count: 0 }
    }

    /// The same, with about so many bytes of the list resident.
    pub fn within(list: &'a Blob, memory: usize) -> Self {
        ListReader { pass: Pass::within(list, memory), phrase: Vec::new(), count: 0 }
    }

    /// A reader of a part of a list, behind the phrase before it.
    pub fn between(list: &'a Blob, bytes: Range<usize>, before: &[u32], memory: usize) -> Self {
        let pass = Pass::between(list, bytes, memory);
        ListReader { pass, phrase: before.to_vec(), count: 0 }
    }

    /// Where the reader is in the whole list.
    pub fn place(&self) -> usize {
        self.pass.place()
    }

    /// Whether the phrase last read was the last.
    pub fn is_at_end(&self) -> bool {
        self.pass.cursor.is_at_end()
    }

    /// Goes to the next phrase; none when the list is damaged.
    pub fn advance(&mut self) -> Option<()> {
        self.pass.settle();
        let cursor = &mut self.pass.cursor;
        let shared = cursor.small()? as usize;
        let more = cursor.small()?;
        if shared > self.phrase.len() || shared + more as usize == 0 {
            return None;
        }
        self.phrase.truncate(shared);
        for _ in 0..more {
            self.phrase.push(cursor.small()?);
        }
        self.count = cursor.number()?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_sorted_list_comes_back(
            phrases in proptest::collection::vec(proptest::collection::vec(0u32..6, 1..5), 0..40),
        ) {
            // Code 3 is the end of a phrase and so no word.
            let phrases: Vec<Vec<u32>> = phrases.into_iter()
                .map(|phrase| phrase.into_iter().map(|word| word + u32::from(word >= 3)).collect())
                .collect();
            let mut set = PhraseSet::default();
            for phrase in &phrases {
                let number = set.intern(phrase);
                set.count(number);
                prop_assert_eq!(set.find(phrase), Some(number));
            }
            let (order, places) = set.sorted(3);
            let (mut bytes, mut writer) = (Vec::new(), ListWriter::default());
            for &number in &order {
                writer.push(&mut bytes, set.phrase(number), set.frequency(number));
            }
            let text = |phrase: &[u32]| {
                let mut text: Vec<u32> = phrase.to_vec();
                text.push(3);
                text
            };
            let mut expected: Vec<_> = phrases.iter().map(|phrase| text(phrase)).collect();
            expected.sort();
            expected.dedup();
            let list = Blob::Memory(bytes);
            let mut reader = ListReader::new(&list);
            for (place, phrase) in expected.iter().enumerate() {
                reader.advance().unwrap();
                prop_assert_eq!(&text(&reader.phrase), phrase);
                prop_assert_eq!(places[order[place] as usize], place as u32);
                let count = phrases.iter().filter(|other| **other == reader.phrase).count();
                prop_assert_eq!(reader.count, count as u64);
            }
            prop_assert!(reader.is_at_end());
        }
    }
}
