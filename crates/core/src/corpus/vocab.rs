//! Words as numbers.
//!
//! In: words. Out: dense ids from 0 in order of first appearance, and back.
//! How: one string holds all words; a hash table holds ids only.
//! Cost: a hash and a comparison per look-up; per word its bytes and about 20 more.

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// Number of a word in its `Vocab`.
pub type WordId = u32;

/// A set of words numbered from 0 in order of first appearance.
#[derive(Debug, Clone, Default)]
pub struct Vocab {
    letters: String,
    /// `ends[id]` is where word `id` stops in `letters`; it starts where the one before stops.
    ends: Vec<usize>,
    ids: HashTable<WordId>,
}

fn hash(word: &str) -> u64 {
    FxBuildHasher.hash_one(word.as_bytes())
}

fn slice<'a>(letters: &'a str, ends: &[usize], id: WordId) -> &'a str {
    let id = id as usize;
    let start = if id == 0 { 0 } else { ends[id - 1] };
    &letters[start..ends[id]]
}

impl Vocab {
    /// Number of words.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no word yet.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// About how many bytes of memory it takes.
    pub fn bytes(&self) -> usize {
        let table = self.ids.capacity() * (size_of::<WordId>() + 1);
        self.letters.len() + self.ends.len() * size_of::<usize>() + table
    }

    /// The word with this id; panics when there is none.
    pub fn word(&self, id: WordId) -> &str {
        slice(&self.letters, &self.ends, id)
    }

    /// The id of a known word.
    pub fn id(&self, word: &str) -> Option<WordId> {
        self.ids.find(hash(word), |&id| self.word(id) == word).copied()
    }

    /// The id of a word, which is added when new.
    pub fn intern(&mut self, word: &str) -> WordId {
        let Vocab { letters, ends, ids } = self;
        let hash_of_word = hash(word);
        let known = ids.find(hash_of_word, |&id| slice(letters, ends, id) == word);
        if let Some(&id) = known {
            return id;
        }
        let id = WordId::try_from(ends.len()).expect("fewer than 2^32 distinct words");
        letters.push_str(word);
        ends.push(letters.len());
        ids.insert_unique(hash_of_word, id, |&id| hash(slice(letters, ends, id)));
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ids_follow_first_appearance(words in proptest::collection::vec("\\PC{0,4}", 0..60)) {
            let mut vocab = Vocab::default();
            let ids: Vec<_> = words.iter().map(|word| vocab.intern(word)).collect();
            let mut first_seen: Vec<&String> = Vec::new();
            for (word, id) in words.iter().zip(ids) {
                if !first_seen.contains(&word) {
                    first_seen.push(word);
                }
                prop_assert_eq!(first_seen[id as usize], word);
                prop_assert_eq!(vocab.word(id), word.as_str());
                prop_assert_eq!(vocab.id(word), Some(id));
            }
            prop_assert_eq!(vocab.len(), first_seen.len());
        }
    }
}
