//! The n-grams of the references of a sentence, and what of a string can still matter to them.
//!
//! In: references, and the words that strings are made of. Out: numbers for words and contexts; how
//! long the longest match is that ends at a word; how many n-grams match across a junction.
//! How: a trie of all n-grams up to 4. The right context of a string is its longest end that some
//! reference goes on from with a word that is there, the left context its longest beginning that
//! some reference has such a word before. Two strings with equal contexts match alike from then on.
//! Cost: a hash look-up a step in the trie; junctions are remembered.

use super::counts::Counts;
use crate::narrow::{to_u8, to_u32};
use rustc_hash::FxHashMap;

/// The longest n-grams that count.
const ORDER: usize = 4;
/// A word that no reference has.
pub const UNKNOWN: u32 = 0;
/// The context of a string that no reference goes on from.
pub const EMPTY: u32 = 0;
/// A junction that was not looked at yet, and the mark of one that was.
const UNSEEN: u8 = 0;
const SEEN: u8 = 0x80;

#[derive(Debug, Clone, Copy, Default)]
struct Node {
    words: [u32; ORDER],
    length: u8,
    /// The n-gram without its first word.
    shorter: u32,
    /// The n-gram without its last word.
    parent: u32,
    /// Whether a word that is there may follow, and stand before.
    is_followed: bool,
    is_preceded: bool,
    /// The most that can match across its end and its beginning.
    hope_after: Counts,
    hope_before: Counts,
}

/// The n-grams of the references of one sentence; memory is used again for the next.
#[derive(Debug, Default)]
pub struct Grams {
    words: FxHashMap<String, u32>,
    nodes: Vec<Node>,
    children: FxHashMap<(u32, u32), u32>,
    /// Matches across the junction of two contexts, two bits an order, by both.
    junctions: Vec<u8>,
}

impl Grams {
    /// Makes it the n-grams of these references; `is_there` tells which words strings may have.
    pub fn read(&mut self, refs: &[Vec<&str>], is_there: impl Fn(&str) -> bool) {
        self.words.clear();
        self.children.clear();
        self.junctions.clear();
        self.nodes.clear();
        self.nodes.push(Node::default());
        let mut there = vec![false];
        for words in refs {
            for word in words {
                if !self.words.contains_key(*word) {
                    self.words.insert((*word).to_owned(), to_u32(there.len()));
                    there.push(is_there(word));
                }
            }
        }
        for words in refs {
            let numbers: Vec<u32> = words.iter().map(|word| self.words[*word]).collect();
            for start in 0..numbers.len() {
                self.add(&numbers[start..(start + ORDER).min(numbers.len())]);
            }
        }
        self.junctions.resize(self.nodes.len() * self.nodes.len(), UNSEEN);
        for number in 1..self.nodes.len() {
            let node = self.nodes[number];
            self.nodes[number].shorter = self.find(&node.words[1..node.length as usize]);
        }
        self.look_around(&there);
    }

    /// Works out what may stand around each n-gram, given which words are there.
    fn look_around(&mut self, there: &[bool]) {
        let mut after = vec![0; self.nodes.len()];
        let mut before = vec![0; self.nodes.len()];
        let by_length = |nodes: &[Node], length: usize| -> Vec<usize> {
            (1..nodes.len()).filter(|&at| nodes[at].length as usize == length).collect()
        };
        for length in (1..=ORDER).rev() {
            for number in by_length(&self.nodes, length) {
                let node = self.nodes[number];
                let (parent, shorter) = (node.parent as usize, node.shorter as usize);
                if there[node.words[length - 1] as usize] {
                    self.nodes[parent].is_followed = true;
                    after[parent] = (1 + after[number]).max(after[parent]);
                }
                if there[node.words[0] as usize] {
                    self.nodes[shorter].is_preceded = true;
                    before[shorter] = (1 + before[number]).max(before[shorter]);
                }
            }
        }
        // One n-gram of each order for the last word, further ones for those before it.
        for length in 1..ORDER {
            for number in by_length(&self.nodes, length) {
                let node = self.nodes[number];
                let reach = |words: usize| Counts::orders(length + 1, (length + words).min(ORDER));
                let shorter = self.nodes[node.shorter as usize].hope_after;
                let parent = self.nodes[node.parent as usize].hope_before;
                self.nodes[number].hope_after = shorter + reach(after[number]);
                self.nodes[number].hope_before = parent + reach(before[number]);
            }
        }
    }

    fn add(&mut self, words: &[u32]) {
        let mut at = EMPTY;
        for (length, &word) in words.iter().enumerate() {
            let next = to_u32(self.nodes.len());
            let child = *self.children.entry((at, word)).or_insert(next);
            if child == next {
                let mut node = Node { length: to_u8(length) + 1, parent: at, ..Node::default() };
                node.words[..=length].copy_from_slice(&words[..=length]);
                self.nodes.push(node);
            }
            at = child;
        }
    }

    /// The n-gram of these words; all of it is in the trie.
    fn find(&self, words: &[u32]) -> u32 {
        words.iter().fold(EMPTY, |at, &word| self.children.get(&(at, word)).copied().unwrap_or(at))
    }

    /// The number of a word.
    pub fn word(&self, word: &str) -> u32 {
        self.words.get(word).copied().unwrap_or(UNKNOWN)
    }

    /// Number of words of a context.
    pub fn length(&self, context: u32) -> usize {
        self.nodes[context as usize].length as usize
    }

    /// The longest n-gram that a word completes after an n-gram or context.
    pub fn step(&self, context: u32, word: u32) -> u32 {
        let mut at = if self.length(context) == ORDER { self.shorter(context) } else { context };
        loop {
            if let Some(&child) = self.children.get(&(at, word)) {
                return child;
            }
            if at == EMPTY {
                return EMPTY;
            }
            at = self.shorter(at);
        }
    }

    /// An n-gram without its first word.
    pub fn shorter(&self, gram: u32) -> u32 {
        self.nodes[gram as usize].shorter
    }

    /// Adds words to a string that ends in a context: what matches, and its context then.
    pub fn append(&self, context: u32, words: &[u32]) -> (Counts, u32) {
        let mut counts = Counts::NONE;
        let mut at = context;
        for &word in words {
            let gram = self.step(at, word);
            counts = counts + Counts::orders(1, self.length(gram));
            at = self.followed(gram);
        }
        (counts, at)
    }

    /// The longest end of an n-gram that something may follow.
    pub fn followed(&self, gram: u32) -> u32 {
        let mut at = gram;
        while at != EMPTY && !self.nodes[at as usize].is_followed {
            at = self.shorter(at);
        }
        at
    }

    /// The longest beginning of an n-gram that something may stand before.
    fn preceded(&self, gram: u32) -> u32 {
        let mut at = gram;
        while at != EMPTY && !(self.nodes[at as usize].is_preceded && self.length(at) < ORDER) {
            at = self.nodes[at as usize].parent;
        }
        at
    }

    /// The left context of a string, given that of its first part and the words that follow if the
    /// part is no longer than its context.
    pub fn lengthened(&self, context: u32, words: &[u32]) -> u32 {
        let mut at = context;
        for &word in words {
            match self.children.get(&(at, word)) {
                Some(&child) if self.length(child) < ORDER => at = child,
                _ => break,
            }
        }
        self.preceded(at)
    }

    /// The words of a context.
    pub fn words_of(&self, context: u32) -> &[u32] {
        let node = &self.nodes[context as usize];
        &node.words[..node.length as usize]
    }

    /// What matches across the junction of two strings, by the right context of the first and the
    /// left context of the second.
    #[inline]
    pub fn junction(&mut self, right: u32, left: u32) -> Counts {
        if right == EMPTY || left == EMPTY {
            return Counts::NONE;
        }
        let at = right as usize * self.nodes.len() + left as usize;
        if self.junctions[at] == UNSEEN {
            let counts = self.across(right, left);
            let code = counts.get(2) << 4 | counts.get(3) << 2 | counts.get(4);
            self.junctions[at] = SEEN | to_u8(code);
        }
        let code = self.junctions[at];
        Counts::of(0, u64::from(code >> 4 & 1), u64::from(code >> 2 & 3), u64::from(code & 3))
    }

    fn across(&self, right: u32, left: u32) -> Counts {
        let mut counts = Counts::NONE;
        let mut at = right;
        for (inside, &word) in (1..).zip(self.words_of(left)) {
            let gram = self.step(at, word);
            counts = counts + Counts::orders(inside + 1, self.length(gram));
            if self.length(gram) <= inside {
                break;
            }
            at = gram;
        }
        counts
    }

    /// The most that can match across the end of a string with this right context.
    #[inline]
    pub fn hope_after(&self, context: u32) -> Counts {
        self.nodes[context as usize].hope_after
    }

    /// The most that can match across the beginning of a string with this left context.
    #[inline]
    pub fn hope_before(&self, context: u32) -> Counts {
        self.nodes[context as usize].hope_before
    }

    /// The most n-grams that can end in a phrase, whatever stands before it.
    pub fn most_in(&self, words: &[u32]) -> Counts {
        let mut at = EMPTY;
        for word in words {
            match self.children.get(&(at, *word)) {
                Some(&child) if self.length(child) < ORDER => at = child,
                _ => break,
            }
        }
        self.append(EMPTY, words).0 + self.hope_before(at)
    }

    /// Number of n-grams; contexts are numbered below it.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }
}
