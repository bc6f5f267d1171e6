//! A cache of the best target phrases of source phrases, kept between sentences.
//!
//! In: source word ids. Out: at most `limit` target phrases, best isolated score first, with all
//! fields that do not depend on the sentence (definitions g.2).
//! How: on a miss, the entries of the phrase table are scored, cut to the limit and stored. A
//! source word without a translation is copied or dropped. A full cache is cleared between two
//! sentences.
//! Cost: one query of the phrase table and the language models per distinct source phrase.

use crate::align::Link;
use crate::corpus::{Vocab, WordId};
use crate::decode::ids::TargetPhraseId;
use crate::decode::input::markup::MarkupTranslation;
use crate::decode::lm::contexts::{LmContextTable, LmPhrase, PhraseWord};
use crate::decode::models::{FeatureLayout, ModelSet};
use crate::decode::options::scoring::{
    COPY_SOURCE_WORD, CandidateBuffer, PhraseCandidate, PhraseOrigin, ScoringConfig, find_entry,
    weigh_orientation,
};
use crate::error::Result;
use crate::feature::PhraseDetails;
use crate::narrow::to_u32;
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;
use std::ops::Range;

/// First id of the target words that the markup of the current sentence contains.
const FIRST_MARKUP_WORD: WordId = 1 << 31;

/// First id of the source words that are not in the phrase table.
const FIRST_UNKNOWN_WORD: WordId = 1 << 31;

/// Number of source phrases above which the cache is cleared between two sentences.
const MAX_SOURCES: usize = 1 << 18;

/// A translation of a source phrase, with its scores.
#[derive(Debug, Clone, Copy)]
pub struct TargetPhrase {
    /// Weighted score without context: translation scores, penalties and language models.
    pub isolated_score: f32,
    /// Weighted language model score without context; part of `isolated_score`.
    lm: f32,
    /// WeightedLms `prev` score of each orientation class.
    pub prev: [f32; 4],
    /// Upper bound of the weighted orientation scores, `prev` and `next` group_key.
    pub orientation_bound: f32,
    /// Index of the weighted `next` scores in `OptionCache::next_scores`.
    pub next: u32,
    /// Offset of the first aligned source word in target order.
    pub entry: u32,
    words: (u32, u32),
    links: (u32, u32),
    /// Minus the number of unknown words.
    pub oov: f32,
}

#[derive(Debug, Clone, Copy)]
struct CachedSource {
    key: (u32, u32),
    phrases: (u32, u32),
}

/// Target phrases of all source phrases met so far.
#[derive(Debug, Default)]
pub struct OptionCache {
    phrases: Vec<TargetPhrase>,
    words: Vec<WordId>,
    phrase_words: Vec<PhraseWord>,
    links: Vec<Link>,
    tm: Vec<f32>,
    orientation: Vec<f32>,
    /// Distinct rows of weighted `next` scores; row 0 is all zero.
    next_scores: Vec<[f32; 4]>,
    next_score_ids: HashTable<u32>,
    keys: Vec<WordId>,
    known: Vec<CachedSource>,
    index: HashTable<u32>,
    unknown: Vocab,
    scratch: CandidateBuffer,
    /// By target word id: the id in the LM context table, or `UNRESOLVED`.
    lm_ids: Vec<u32>,
    /// Maximum number of target phrases per source phrase; 0: no limit.
    limit: usize,
    /// Target words of the markup of the current sentence.
    given: Vec<String>,
    /// Sizes before the first markup translation of the sentence was added.
    sizes_before_markup: Option<CacheSizes>,
}

/// Lengths of the arrays of the cache.
#[derive(Debug, Clone, Copy)]
struct CacheSizes {
    phrases: usize,
    words: usize,
    links: usize,
    tm: usize,
    orientation: usize,
}

const UNRESOLVED: u32 = u32::MAX;

fn range((start, end): (u32, u32)) -> Range<usize> {
    start as usize..end as usize
}

fn as_offsets(start: usize, end: usize) -> (u32, u32) {
    (to_u32(start), to_u32(end))
}

/// Return the indices of the best candidates, at most `limit`; ties keep the order of the table.
fn select_best(candidates: &[PhraseCandidate], limit: usize) -> Vec<usize> {
    let better = |&a: &usize, &b: &usize| {
        candidates[b].isolated_score.total_cmp(&candidates[a].isolated_score).then(a.cmp(&b))
    };
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    if order.len() > limit {
        order.select_nth_unstable_by(limit, better);
        order.truncate(limit);
    }
    order.sort_unstable_by(better);
    order
}

impl OptionCache {
    /// Remove the markup translations of the last sentence. Clear the cache and the contexts if
    /// they are full or the limit has changed.
    pub fn start_sentence(&mut self, contexts: &mut LmContextTable, limit: usize) {
        contexts.start_sentence();
        self.remove_markup_translations();
        let full = self.known.len() > MAX_SOURCES || contexts.is_full();
        if full || self.limit != limit || self.next_scores.is_empty() {
            contexts.clear();
            let lm_ids = std::mem::take(&mut self.lm_ids);
            *self = OptionCache {
                next_scores: vec![[0.0; 4]],
                lm_ids,
                limit,
                ..OptionCache::default()
            };
        }
    }

    /// Return the id of a source word; words that are not in the table get new ids.
    pub fn source_id(&mut self, models: &ModelSet<'_>, word: &str) -> WordId {
        models
            .phrases
            .source_id(word)
            .unwrap_or_else(|| FIRST_UNKNOWN_WORD | self.unknown.intern(word))
    }

    /// Return the target phrases of a source phrase, best first; `text` is its first word.
    pub fn find(
        &mut self,
        scoring: &ScoringConfig<'_>,
        contexts: &mut LmContextTable,
        src: &[WordId],
        text: &str,
    ) -> Result<Range<u32>> {
        let hash = FxBuildHasher.hash_one(src);
        let (known, keys) = (&self.known, &self.keys);
        let key = |id: u32| &keys[range(known[id as usize].key)];
        if let Some(&id) = self.index.find(hash, |&id| key(id) == src) {
            let (start, end) = self.known[id as usize].phrases;
            return Ok(start..end);
        }
        let phrases = self.look_up(scoring, contexts, src, text)?;
        let key = as_offsets(self.keys.len(), self.keys.len() + src.len());
        self.keys.extend_from_slice(src);
        let id = to_u32(self.known.len());
        self.known.push(CachedSource { key, phrases: (phrases.start, phrases.end) });
        let OptionCache { known, keys, index, .. } = self;
        index.insert_unique(hash, id, |&id| {
            FxBuildHasher.hash_one(&keys[range(known[id as usize].key)])
        });
        Ok(phrases)
    }

    /// Add a markup translation for the current sentence. Do not call `find` between this call and
    /// the next `start_sentence`.
    pub fn add_markup_translation(
        &mut self,
        scoring: &ScoringConfig<'_>,
        contexts: &mut LmContextTable,
        given: &MarkupTranslation,
    ) -> Result<TargetPhraseId> {
        self.sizes_before_markup.get_or_insert(CacheSizes {
            phrases: self.phrases.len(),
            words: self.words.len(),
            links: self.links.len(),
            tm: self.tm.len(),
            orientation: self.orientation.len(),
        });
        let first = FIRST_MARKUP_WORD + to_u32(self.given.len());
        self.given.extend_from_slice(&given.words);
        let words: Vec<WordId> = (first..).take(given.words.len()).collect();
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        scratch.add_markup_translation(scoring, &words, given);
        let src = vec![FIRST_UNKNOWN_WORD; given.span.len() as usize];
        self.resolve_words(scoring, contexts, &mut scratch, "");
        scratch.add_lm_scores(&scoring.lms, contexts, 1);
        self.store(scoring, contexts, &mut scratch, 0, &src)?;
        self.scratch = scratch;
        Ok(TargetPhraseId(to_u32(self.phrases.len()) - 1))
    }

    /// Remove the markup translations of the last sentence.
    fn remove_markup_translations(&mut self) {
        let Some(sizes) = self.sizes_before_markup.take() else { return };
        self.phrases.truncate(sizes.phrases);
        self.words.truncate(sizes.words);
        self.phrase_words.truncate(sizes.words);
        self.links.truncate(sizes.links);
        self.tm.truncate(sizes.tm);
        self.orientation.truncate(sizes.orientation);
        self.given.clear();
    }

    /// Look a source phrase up in the table, score its translations and store the best.
    fn look_up(
        &mut self,
        scoring: &ScoringConfig<'_>,
        contexts: &mut LmContextTable,
        src: &[WordId],
        text: &str,
    ) -> Result<Range<u32>> {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        if src.iter().all(|&id| id < FIRST_UNKNOWN_WORD) {
            scoring.models.phrases.find(src, &mut |entry| scratch.add_entry(scoring, entry))?;
        }
        let first = to_u32(self.phrases.len());
        if src.len() == 1 && scratch.candidates.is_empty() {
            scratch.add_unknown_word(scoring);
        }
        let limit = if scoring.limit == 0 { usize::MAX } else { scoring.limit };
        self.resolve_words(scoring, contexts, &mut scratch, text);
        scratch.add_lm_scores(&scoring.lms, contexts, limit);
        for candidate in select_best(&scratch.candidates, limit) {
            self.store(scoring, contexts, &mut scratch, candidate, src)?;
        }
        self.scratch = scratch;
        Ok(first..to_u32(self.phrases.len()))
    }

    /// Move a candidate into the cache.
    fn store(
        &mut self,
        scoring: &ScoringConfig<'_>,
        contexts: &mut LmContextTable,
        scratch: &mut CandidateBuffer,
        candidate: usize,
        src: &[WordId],
    ) -> Result<()> {
        scratch.load_details(scoring, candidate, src)?;
        let PhraseCandidate { isolated_score, lm, words, origin } =
            scratch.candidates[candidate].clone();
        contexts.score_isolated(
            &scoring.lms,
            &scratch.lm_words[words.clone()],
            &mut scratch.prefix,
        );
        contexts.add_phrase_words(&scoring.lms, &scratch.prefix, &mut self.phrase_words);
        let words = &scratch.words[words];
        let PhraseDetails { orientation, links } = &scratch.details;
        let (tm, lr) = (scoring.layout.tm.len(), scoring.layout.lr.len());
        let (prev, next) = weigh_orientation(scoring, orientation);
        let best = |classes: &[f32; 4]| classes.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let phrase = TargetPhrase {
            isolated_score,
            lm,
            prev,
            orientation_bound: best(&prev) + best(&next),
            next: self.intern_next_scores(next),
            entry: find_entry(src.len(), links),
            words: as_offsets(self.words.len(), self.words.len() + words.len()),
            links: as_offsets(self.links.len(), self.links.len() + links.len()),
            oov: if origin == PhraseOrigin::Unknown { -1.0 } else { 0.0 },
        };
        self.words.extend_from_slice(words);
        self.links.extend_from_slice(links);
        self.tm.extend_from_slice(&scratch.tm[candidate * tm..(candidate + 1) * tm]);
        self.orientation.extend_from_slice(orientation);
        self.orientation.resize((self.phrases.len() + 1) * lr, 0.0);
        self.phrases.push(phrase);
        Ok(())
    }

    /// Map the words of all candidates to ids of the LM context table; `text` is the source word to
    /// copy.
    fn resolve_words(
        &mut self,
        scoring: &ScoringConfig<'_>,
        contexts: &mut LmContextTable,
        scratch: &mut CandidateBuffer,
        text: &str,
    ) {
        let CandidateBuffer { words, lm_words, .. } = scratch;
        for &word in &words[lm_words.len()..] {
            lm_words.push(match word {
                COPY_SOURCE_WORD => contexts.intern_word(&scoring.lms, text),
                FIRST_MARKUP_WORD.. => contexts
                    .intern_word(&scoring.lms, &self.given[(word - FIRST_MARKUP_WORD) as usize]),
                _ => self.resolve_table_word(scoring, contexts, word),
            });
        }
    }

    /// Return the id of a word of the phrase table in the LM context table.
    fn resolve_table_word(
        &mut self,
        scoring: &ScoringConfig<'_>,
        contexts: &mut LmContextTable,
        word: WordId,
    ) -> u32 {
        let at = word as usize;
        if self.lm_ids.len() <= at {
            self.lm_ids.resize(at + 1, UNRESOLVED);
        }
        if self.lm_ids[at] == UNRESOLVED {
            let text = scoring.models.phrases.target_word(word);
            self.lm_ids[at] = contexts.intern_word(&scoring.lms, text);
        }
        self.lm_ids[at]
    }

    fn intern_next_scores(&mut self, scores: [f32; 4]) -> u32 {
        let OptionCache { next_scores, next_score_ids, .. } = self;
        let bits = |scores: &[f32; 4]| scores.map(f32::to_bits);
        if scores == [0.0; 4] {
            return 0;
        }
        let hash = |scores: &[f32; 4]| FxBuildHasher.hash_one(bits(scores));
        if let Some(&id) = next_score_ids
            .find(hash(&scores), |&id| bits(&next_scores[id as usize]) == bits(&scores))
        {
            return id;
        }
        let id = to_u32(next_scores.len());
        next_scores.push(scores);
        next_score_ids.insert_unique(hash(&scores), id, |&id| hash(&next_scores[id as usize]));
        id
    }

    /// Return a target phrase.
    pub fn phrase(&self, phrase: TargetPhraseId) -> &TargetPhrase {
        &self.phrases[phrase.index()]
    }

    /// Return a row of weighted `next` scores.
    pub fn next_scores(&self, row: u32) -> &[f32; 4] {
        &self.next_scores[row as usize]
    }

    /// Return the target words of a phrase.
    pub fn words(&self, phrase: TargetPhraseId) -> &[WordId] {
        &self.words[range(self.phrase(phrase).words)]
    }

    /// Return the text of a target word; `src` is the first source word of the phrase.
    pub fn text<'a>(&'a self, models: &'a ModelSet<'_>, word: WordId, src: &'a str) -> &'a str {
        match word {
            COPY_SOURCE_WORD => src,
            FIRST_MARKUP_WORD.. => &self.given[(word - FIRST_MARKUP_WORD) as usize],
            _ => models.phrases.target_word(word),
        }
    }

    /// Return the alignment links inside a phrase pair.
    pub fn links(&self, phrase: TargetPhraseId) -> &[Link] {
        &self.links[range(self.phrase(phrase).links)]
    }

    /// Return the translation scores of a phrase.
    pub fn tm(&self, phrase: TargetPhraseId, layout: &FeatureLayout) -> &[f32] {
        let width = layout.tm.len();
        &self.tm[phrase.index() * width..(phrase.index() + 1) * width]
    }

    /// Return the orientation scores of a phrase; zeros if the pair has none.
    pub fn orientation(&self, phrase: TargetPhraseId, layout: &FeatureLayout) -> &[f32] {
        let width = layout.lr.len();
        &self.orientation[phrase.index() * width..(phrase.index() + 1) * width]
    }

    /// Return the words and the isolated score of a phrase for the language models.
    pub fn lm_phrase(&self, phrase: TargetPhraseId) -> LmPhrase<'_> {
        let TargetPhrase { lm, words, .. } = *self.phrase(phrase);
        LmPhrase { words: &self.phrase_words[range(words)], isolated_score: lm }
    }
}
