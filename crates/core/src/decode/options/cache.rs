//! The best translations of source phrases, kept from sentence to sentence.
//!
//! In: source words as numbers. Out: up to so many translations, best isolated score first, with
//! everything about them that does not depend on the sentence (definitions g.2).
//! How: a look-up in the table is scored, cut and remembered; a word without a translation of
//! its own is passed through. Memory is bounded: a full stock is emptied between sentences.
//! Cost: the table and the language models are asked once per source phrase.

use crate::align::Link;
use crate::corpus::{Vocab, WordId};
use crate::decode::ids::ItemId;
use crate::decode::input::markup::Given;
use crate::decode::lm::contexts::{Contexts, Inner, Line};
use crate::decode::models::{Layout, Models};
use crate::decode::options::scoring::{
    COPY, Origin, Pricing, Row, Scratch, entry_of, weigh_orientation,
};
use crate::error::Result;
use crate::feature::PhraseDetails;
use crate::narrow::to_u32;
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;
use std::ops::Range;

/// Numbers of target words that the present sentence brought along start here.
const GIVEN: WordId = 1 << 31;

/// Numbers of source words that the table does not know start here.
const UNKNOWN: WordId = 1 << 31;

/// Source phrases kept before everything is forgotten between two sentences.
const FULL: usize = 1 << 18;

/// A translation of a source phrase.
#[derive(Debug, Clone, Copy)]
pub struct Item {
    /// Weighted score without context: translation, penalties and language models.
    pub alone: f32,
    /// The language models' share of it.
    lm: f32,
    /// Weighted `prev` score of each class.
    pub prev: [f32; 4],
    /// The best that orientation may say of it, towards both sides.
    pub turn: f32,
    /// Number of its row of weighted `next` scores.
    pub next: u32,
    /// The first aligned word to be translated, counted from the phrase's start.
    pub entry: u32,
    words: (u32, u32),
    links: (u32, u32),
    /// Minus the number of unknown words.
    pub oov: f32,
}

#[derive(Debug, Clone, Copy)]
struct Known {
    key: (u32, u32),
    items: (u32, u32),
}

/// Translations met so far.
#[derive(Debug, Default)]
pub struct Stock {
    items: Vec<Item>,
    words: Vec<WordId>,
    inner: Vec<Inner>,
    links: Vec<Link>,
    tm: Vec<f32>,
    orientation: Vec<f32>,
    /// Weighted `next` scores; row 0 is zero.
    rows: Vec<[f32; 4]>,
    row_ids: HashTable<u32>,
    keys: Vec<WordId>,
    known: Vec<Known>,
    index: HashTable<u32>,
    unknown: Vocab,
    scratch: Scratch,
    /// The number of each target word among the contexts, where it was asked for.
    lm_ids: Vec<u32>,
    /// Translations kept per source phrase; 0 for all.
    limit: usize,
    /// Target words of the translations given with the present sentence.
    given: Vec<String>,
    /// How much there was before these translations.
    before_given: Option<Sizes>,
}

/// How much of everything there is.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    items: usize,
    words: usize,
    links: usize,
    tm: usize,
    orientation: usize,
}

const NOT_ASKED: u32 = u32::MAX;

fn range((start, end): (u32, u32)) -> Range<usize> {
    start as usize..end as usize
}

fn as_offsets(start: usize, end: usize) -> (u32, u32) {
    (to_u32(start), to_u32(end))
}

/// The best rows, no more than `limit`; equal ones in the table's order.
fn best(rows: &[Row], limit: usize) -> Vec<usize> {
    let better = |&a: &usize, &b: &usize| rows[b].alone.total_cmp(&rows[a].alone).then(a.cmp(&b));
    let mut order: Vec<usize> = (0..rows.len()).collect();
    if order.len() > limit {
        order.select_nth_unstable_by(limit, better);
        order.truncate(limit);
    }
    order.sort_unstable_by(better);
    order
}

impl Stock {
    /// Empties a stock that is full or was made with another limit, and the contexts with it; to
    /// be called between sentences.
    pub fn make_room(&mut self, contexts: &mut Contexts, limit: usize) {
        contexts.next_sentence();
        self.take_back();
        let full = self.known.len() > FULL || contexts.is_full();
        if full || self.limit != limit || self.rows.is_empty() {
            contexts.clear();
            let lm_ids = std::mem::take(&mut self.lm_ids);
            *self = Stock { rows: vec![[0.0; 4]], lm_ids, limit, ..Stock::default() };
        }
    }

    /// The number of a source word, known to the table or not.
    pub fn source_id(&mut self, models: &Models<'_>, word: &str) -> WordId {
        models.phrases.source_id(word).unwrap_or_else(|| UNKNOWN | self.unknown.intern(word))
    }

    /// The translations of a source phrase, best first; `text` is its first word.
    pub fn find(
        &mut self,
        pricing: &Pricing<'_>,
        contexts: &mut Contexts,
        src: &[WordId],
        text: &str,
    ) -> Result<Range<u32>> {
        let hash = FxBuildHasher.hash_one(src);
        let (known, keys) = (&self.known, &self.keys);
        let key = |id: u32| &keys[range(known[id as usize].key)];
        if let Some(&id) = self.index.find(hash, |&id| key(id) == src) {
            let (start, end) = self.known[id as usize].items;
            return Ok(start..end);
        }
        let items = self.price(pricing, contexts, src, text)?;
        let key = as_offsets(self.keys.len(), self.keys.len() + src.len());
        self.keys.extend_from_slice(src);
        let id = to_u32(self.known.len());
        self.known.push(Known { key, items: (items.start, items.end) });
        let Stock { known, keys, index, .. } = self;
        index.insert_unique(hash, id, |&id| {
            FxBuildHasher.hash_one(&keys[range(known[id as usize].key)])
        });
        Ok(items)
    }

    /// Takes in a translation for the present sentence alone; nothing may be looked up after it
    /// until the next `make_room`.
    pub fn give(
        &mut self,
        pricing: &Pricing<'_>,
        contexts: &mut Contexts,
        given: &Given,
    ) -> Result<ItemId> {
        self.before_given.get_or_insert(Sizes {
            items: self.items.len(),
            words: self.words.len(),
            links: self.links.len(),
            tm: self.tm.len(),
            orientation: self.orientation.len(),
        });
        let first = GIVEN + to_u32(self.given.len());
        self.given.extend_from_slice(&given.words);
        let words: Vec<WordId> = (first..).take(given.words.len()).collect();
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        scratch.take_given(pricing, &words, given);
        let src = vec![UNKNOWN; given.span.len() as usize];
        self.number_words(pricing, contexts, &mut scratch, "");
        scratch.score(&pricing.lms, contexts, 1);
        self.keep(pricing, contexts, &mut scratch, 0, &src)?;
        self.scratch = scratch;
        Ok(ItemId(to_u32(self.items.len()) - 1))
    }

    /// Forgets the translations given with the last sentence.
    fn take_back(&mut self) {
        let Some(sizes) = self.before_given.take() else { return };
        self.items.truncate(sizes.items);
        self.words.truncate(sizes.words);
        self.inner.truncate(sizes.words);
        self.links.truncate(sizes.links);
        self.tm.truncate(sizes.tm);
        self.orientation.truncate(sizes.orientation);
        self.given.clear();
    }

    /// Looks a phrase up in the table, scores its translations and keeps the best.
    fn price(
        &mut self,
        pricing: &Pricing<'_>,
        contexts: &mut Contexts,
        src: &[WordId],
        text: &str,
    ) -> Result<Range<u32>> {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        if src.iter().all(|&id| id < UNKNOWN) {
            pricing.models.phrases.find(src, &mut |entry| scratch.take(pricing, entry))?;
        }
        let first = to_u32(self.items.len());
        if src.len() == 1 && scratch.rows.is_empty() {
            scratch.pass_through(pricing);
        }
        let limit = if pricing.limit == 0 { usize::MAX } else { pricing.limit };
        self.number_words(pricing, contexts, &mut scratch, text);
        scratch.score(&pricing.lms, contexts, limit);
        for row in best(&scratch.rows, limit) {
            self.keep(pricing, contexts, &mut scratch, row, src)?;
        }
        self.scratch = scratch;
        Ok(first..to_u32(self.items.len()))
    }

    /// Moves a row of the scratch into the stock.
    fn keep(
        &mut self,
        pricing: &Pricing<'_>,
        contexts: &mut Contexts,
        scratch: &mut Scratch,
        row: usize,
        src: &[WordId],
    ) -> Result<()> {
        scratch.detail(pricing, row, src)?;
        let Row { alone, lm, words, origin } = scratch.rows[row].clone();
        contexts.walk(&pricing.lms, &scratch.lm_words[words.clone()], &mut scratch.walk);
        contexts.inner(&pricing.lms, &scratch.walk, &mut self.inner);
        let words = &scratch.words[words];
        let PhraseDetails { orientation, links } = &scratch.details;
        let (tm, lr) = (pricing.layout.tm.len(), pricing.layout.lr.len());
        let (prev, next) = weigh_orientation(pricing, orientation);
        let best = |classes: &[f32; 4]| classes.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let item = Item {
            alone,
            lm,
            prev,
            turn: best(&prev) + best(&next),
            next: self.row_id(next),
            entry: entry_of(src.len(), links),
            words: as_offsets(self.words.len(), self.words.len() + words.len()),
            links: as_offsets(self.links.len(), self.links.len() + links.len()),
            oov: if origin == Origin::Unknown { -1.0 } else { 0.0 },
        };
        self.words.extend_from_slice(words);
        self.links.extend_from_slice(links);
        self.tm.extend_from_slice(&scratch.tm[row * tm..(row + 1) * tm]);
        self.orientation.extend_from_slice(orientation);
        self.orientation.resize((self.items.len() + 1) * lr, 0.0);
        self.items.push(item);
        Ok(())
    }

    /// Gives all words of the scratch their numbers among the contexts; `text` is the source
    /// word that may be copied.
    fn number_words(
        &mut self,
        pricing: &Pricing<'_>,
        contexts: &mut Contexts,
        scratch: &mut Scratch,
        text: &str,
    ) {
        let Scratch { words, lm_words, .. } = scratch;
        for &word in &words[lm_words.len()..] {
            lm_words.push(match word {
                COPY => contexts.word(&pricing.lms, text),
                GIVEN.. => contexts.word(&pricing.lms, &self.given[(word - GIVEN) as usize]),
                _ => self.known_number(pricing, contexts, word),
            });
        }
    }

    /// The number of a word of the table.
    fn known_number(
        &mut self,
        pricing: &Pricing<'_>,
        contexts: &mut Contexts,
        word: WordId,
    ) -> u32 {
        let at = word as usize;
        if self.lm_ids.len() <= at {
            self.lm_ids.resize(at + 1, NOT_ASKED);
        }
        if self.lm_ids[at] == NOT_ASKED {
            let text = pricing.models.phrases.target_word(word);
            self.lm_ids[at] = contexts.word(&pricing.lms, text);
        }
        self.lm_ids[at]
    }

    fn row_id(&mut self, row: [f32; 4]) -> u32 {
        let Stock { rows, row_ids, .. } = self;
        let bits = |row: &[f32; 4]| row.map(f32::to_bits);
        if row == [0.0; 4] {
            return 0;
        }
        let hash = |row: &[f32; 4]| FxBuildHasher.hash_one(bits(row));
        if let Some(&id) = row_ids.find(hash(&row), |&id| bits(&rows[id as usize]) == bits(&row)) {
            return id;
        }
        let id = to_u32(rows.len());
        rows.push(row);
        row_ids.insert_unique(hash(&row), id, |&id| hash(&rows[id as usize]));
        id
    }

    /// A translation.
    pub fn item(&self, item: ItemId) -> &Item {
        &self.items[item.index()]
    }

    /// A row of weighted `next` scores.
    pub fn next_row(&self, row: u32) -> &[f32; 4] {
        &self.rows[row as usize]
    }

    /// Target words of a translation.
    pub fn words(&self, item: ItemId) -> &[WordId] {
        &self.words[range(self.item(item).words)]
    }

    /// The text of a target word of an option whose first source word is `src`.
    pub fn text<'a>(&'a self, models: &'a Models<'_>, word: WordId, src: &'a str) -> &'a str {
        match word {
            COPY => src,
            GIVEN.. => &self.given[(word - GIVEN) as usize],
            _ => models.phrases.target_word(word),
        }
    }

    /// Links of a translation.
    pub fn links(&self, item: ItemId) -> &[Link] {
        &self.links[range(self.item(item).links)]
    }

    /// Translation scores.
    pub fn tm(&self, item: ItemId, layout: &Layout) -> &[f32] {
        let width = layout.tm.len();
        &self.tm[item.index() * width..(item.index() + 1) * width]
    }

    /// Orientation scores; zeros for a pair that has none.
    pub fn orientation(&self, item: ItemId, layout: &Layout) -> &[f32] {
        let width = layout.lr.len();
        &self.orientation[item.index() * width..(item.index() + 1) * width]
    }

    /// A translation as the language models see it.
    pub fn line(&self, item: ItemId) -> Line<'_> {
        let Item { lm, words, .. } = *self.item(item);
        Line { inner: &self.inner[range(words)], alone: lm }
    }
}
