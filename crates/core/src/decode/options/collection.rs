//! The translation options of one sentence.
//!
//! In: the source words. Out: the options of each span, in option lists. A list holds all options
//! of a span; with early pruning there is also one list per entry word. Each list is sorted once
//! for each orientation class, best first. `find` collects the options, then path features are
//! prepared with them, and `rank` sorts them by the isolated score of all features.
//! Cost: O(n · longest phrase) look-ups; memory is kept between sentences.

use crate::corpus::{SrcPos, WordId};
use crate::decode::ids::{OptionListId, TargetPhraseId};
use crate::decode::input::markup::Markup;
use crate::decode::lm::contexts::LmContextTable;
use crate::decode::options::cache::OptionCache;
use crate::decode::options::future_cost::FutureCosts;
use crate::decode::options::scoring::ScoringConfig;
use crate::error::Result;
use crate::feature::{Coverage, OptionAlignment, OptionId, PathScorer, Span};
use crate::narrow::{to_f32, to_u32};
use crate::orientation::Class;
use std::ops::Range;

/// Share of the orientation upper bound that is added to the future cost. The sum of all upper
/// bounds (1.0) overestimates the reachable score, no share (0.0) underestimates it.
const ORIENTATION_SHARE: f32 = 0.5;

/// Path scorers of a sentence with their weights.
#[derive(Clone, Copy)]
pub struct WeightedPathScorers<'a> {
    pub scorers: &'a [Box<dyn PathScorer + 'a>],
    pub weights: &'a [f64],
}

impl WeightedPathScorers<'_> {
    fn sum(&self, value: impl Fn(f64, &dyn PathScorer) -> f64) -> f32 {
        let each = self.scorers.iter().zip(self.weights);
        to_f32(each.map(|(scorer, &weight)| value(weight, &**scorer)).sum::<f64>())
    }

    /// Return the weighted sum of the isolated scores of an option.
    pub fn isolated_score(&self, phrase: OptionId) -> f32 {
        self.sum(|weight, scorer| weight * f64::from(scorer.isolated_score(phrase)))
    }

    /// Return the weighted sum of the upper bounds of an option. Features with a negative weight
    /// add 0.
    pub fn upper_bound(&self, phrase: OptionId) -> f32 {
        self.sum(|weight, scorer| weight.max(0.0) * f64::from(scorer.upper_bound(phrase)))
    }

    /// Return the weighted loss of a gap that starts at a word; at most 0.
    pub fn gap_loss(&self, word: SrcPos) -> f32 {
        self.sum(|weight, scorer| weight.max(0.0) * f64::from(scorer.gap_loss(word)))
    }
}

/// A translation option: a target phrase on a source span.
#[derive(Debug, Clone, Copy)]
pub struct TranslationOption {
    /// The target phrase.
    pub phrase: TargetPhraseId,
    /// The source words it covers.
    pub span: Span,
}

/// The options of a span, or its options with one entry word.
#[derive(Debug, Clone, Copy)]
pub struct OptionList {
    /// The source words it covers.
    pub span: Span,
    /// The entry word; equal to the start of the span without early pruning.
    pub entry: SrcPos,
    /// For a list of all options of a span with several entry words: the number of lists with
    /// single entry words right before it; else 0.
    pub parts: u32,
    /// Number of options.
    pub count: u32,
    /// Index of the first ranked option; each class has `count` ranked options.
    pub first: u32,
}

/// An option of a sorted list.
#[derive(Debug, Clone, Copy)]
pub struct RankedOption {
    /// Isolated score of all features, with the `prev` score of the orientation class.
    pub score: f32,
    /// Id of the option.
    pub option: OptionId,
    /// Its target phrase.
    pub phrase: TargetPhraseId,
}

/// All translation options of a sentence.
#[derive(Debug, Default)]
pub struct OptionCollection {
    options: Vec<TranslationOption>,
    lists: Vec<OptionList>,
    ranked: Vec<RankedOption>,
    /// By option: the weighted isolated score of the path features; empty without path features.
    isolated_score: Vec<f32>,
    /// For each start and length, the index of the first option; one more for the end.
    starts: Vec<u32>,
    /// For each start and length, the index of the first list; one more for the end.
    list_starts: Vec<u32>,
    longest: u32,
    classes: u32,
    /// Ids of the source words.
    src: Vec<WordId>,
    /// For each start and length, the target phrases from the cache.
    phrases: Vec<Range<u32>>,
    /// By word: whether the word continues a run of unknown words.
    continues_run: Vec<bool>,
    /// The future costs.
    pub future: FutureCosts,
}

impl OptionCollection {
    /// Collect the options of a sentence.
    pub fn find(
        &mut self,
        option_cache: &mut OptionCache,
        contexts: &mut LmContextTable,
        scoring: &ScoringConfig<'_>,
        words: &[&str],
        markup: Option<&Markup>,
    ) -> Result<()> {
        self.options.clear();
        self.starts.clear();
        self.look_up(option_cache, contexts, scoring, words, markup)?;
        let mut given: Vec<(Span, TargetPhraseId)> = Vec::new();
        for translation in markup.map_or(&[][..], |markup| &markup.given) {
            given.push((
                translation.span,
                option_cache.add_markup_translation(scoring, contexts, translation)?,
            ));
        }
        self.classes = if scoring.models.orientation.is_some_and(|o| o.prev) { 4 } else { 1 };
        for start in 0..to_u32(words.len()) {
            for end in start + 1..=start + self.longest {
                self.starts.push(to_u32(self.options.len()));
                self.add(option_cache, Span::new(start, end), &given);
            }
        }
        self.starts.push(to_u32(self.options.len()));
        self.find_runs(option_cache, markup);
        Ok(())
    }

    /// Mark the runs of unknown words: maximal sequences of adjacent words without any option but
    /// their copy, cut at zone boundaries (definitions g.2).
    fn find_runs(&mut self, option_cache: &OptionCache, markup: Option<&Markup>) {
        let mut is_unknown = vec![true; self.src.len()];
        for &TranslationOption { phrase, span } in &self.options {
            if option_cache.phrase(phrase).oov == 0.0 {
                is_unknown[span.start as usize..span.end as usize].fill(false);
            }
        }
        let is_cut = |word| markup.is_some_and(|markup| markup.constraints().has_zone_edge(word));
        self.continues_run.clear();
        self.continues_run.extend((0..is_unknown.len()).map(|word| {
            word > 0 && is_unknown[word - 1] && is_unknown[word] && !is_cut(to_u32(word))
        }));
    }

    /// Return whether a phrase may start at a word: a run of unknown words is translated from left
    /// to right. The first word of a gap is always allowed, so no hypothesis becomes a dead end.
    pub fn may_start(&self, cov: Coverage<'_>, word: u32) -> bool {
        !self.continues_run[word as usize] || cov.has(word - 1)
    }

    /// Sort the options into lists and compute the future costs. `by_entry` adds a list for each
    /// entry word of a span.
    pub fn rank(
        &mut self,
        option_cache: &OptionCache,
        paths: WeightedPathScorers<'_>,
        by_entry: bool,
    ) {
        self.lists.clear();
        self.ranked.clear();
        self.list_starts.clear();
        self.isolated_score.clear();
        if !paths.scorers.is_empty() {
            for option in 0..to_u32(self.options.len()) {
                self.isolated_score.push(paths.isolated_score(OptionId(option)));
            }
        }
        for at in 0..self.phrases.len() {
            self.list_starts.push(to_u32(self.lists.len()));
            self.add_lists(option_cache, at, by_entry);
        }
        self.list_starts.push(to_u32(self.lists.len()));
        let mut future = std::mem::take(&mut self.future);
        let score = |option: OptionId| {
            let orientation_bound =
                option_cache.phrase(self.option(option).phrase).orientation_bound;
            self.isolated_score_of(option_cache, option)
                + paths.upper_bound(option)
                + ORIENTATION_SHARE * orientation_bound
        };
        let best = |span| self.options_of(span).map(score).fold(f32::NEG_INFINITY, f32::max);
        let length = to_u32(self.src.len());
        future.compute(length, self.longest, best, |word| paths.gap_loss(SrcPos(word)));
        self.future = future;
    }

    /// Return the isolated score of an option, including the path features.
    fn isolated_score_of(&self, option_cache: &OptionCache, option: OptionId) -> f32 {
        let by_paths = self.isolated_score.get(option.index()).copied().unwrap_or_default();
        option_cache.phrase(self.option(option).phrase).isolated_score + by_paths
    }

    /// Look up all spans in the cache, except those that exclusive markup covers.
    fn look_up(
        &mut self,
        option_cache: &mut OptionCache,
        contexts: &mut LmContextTable,
        scoring: &ScoringConfig<'_>,
        words: &[&str],
        markup: Option<&Markup>,
    ) -> Result<()> {
        self.src.clear();
        self.src.extend(words.iter().map(|word| option_cache.source_id(scoring.models, word)));
        self.phrases.clear();
        let length = to_u32(words.len());
        let in_table =
            to_u32(scoring.models.phrases.longest().min(u32::MAX as usize)).clamp(1, length.max(1));
        let given = markup.map_or(0, Markup::longest);
        self.longest = in_table.max(given);
        for start in 0..length {
            for end in start + 1..=start + self.longest {
                let span = Span::new(start, end);
                let is_open = end <= length
                    && span.len() <= in_table
                    && markup.is_none_or(|markup| !markup.reserves(span));
                self.phrases.push(if is_open {
                    let src = &self.src[start as usize..end as usize];
                    option_cache.find(scoring, contexts, src, words[start as usize])?
                } else {
                    0..0
                });
            }
        }
        Ok(())
    }

    /// Add the options of a span.
    fn add(&mut self, option_cache: &OptionCache, span: Span, given: &[(Span, TargetPhraseId)]) {
        let first = self.options.len();
        let at = (span.start * self.longest + span.len() - 1) as usize;
        let phrases = self.phrases[at].clone();
        self.options.extend(
            phrases.map(|phrase| TranslationOption { phrase: TargetPhraseId(phrase), span }),
        );
        let reordering = given.iter().filter(|(place, _)| *place == span);
        self.options.extend(reordering.map(|&(span, phrase)| TranslationOption { phrase, span }));
        if !given.is_empty() {
            let isolated_score =
                |option: &TranslationOption| option_cache.phrase(option.phrase).isolated_score;
            self.options[first..].sort_by(|a, b| isolated_score(b).total_cmp(&isolated_score(a)));
        }
    }

    /// Add the lists of the span with index `at`.
    fn add_lists(&mut self, option_cache: &OptionCache, at: usize, by_entry: bool) {
        let options = self.starts[at]..self.starts[at + 1];
        if options.is_empty() {
            return;
        }
        let span = self.option(OptionId(options.start)).span;
        let entry = |option: u32| option_cache.phrase(self.option(OptionId(option)).phrase).entry;
        let first = entry(options.start);
        let is_split = by_entry && options.clone().any(|option| entry(option) != first);
        let all = self.rank_all(option_cache, options);
        let before = self.lists.len();
        if is_split {
            for offset in 0..span.len() {
                self.add_entry_list(option_cache, span, all, offset);
            }
        }
        let parts = to_u32(self.lists.len() - before);
        let entry = SrcPos(if by_entry { span.start + first } else { span.start });
        self.lists.push(OptionList { span, entry, parts, count: all.1, first: all.0 });
    }

    /// Rank options for each orientation class; return the first index and the number of options.
    fn rank_all(&mut self, option_cache: &OptionCache, options: Range<u32>) -> (u32, u32) {
        let start = self.ranked.len();
        for class in 0..self.classes as usize {
            let from = self.ranked.len();
            for option in options.clone().map(OptionId) {
                let phrase = self.option(option).phrase;
                let score = self.isolated_score_of(option_cache, option)
                    + option_cache.phrase(phrase).prev[class];
                self.ranked.push(RankedOption { score, option, phrase });
            }
            // Stable: equal scores stay in the order of the isolated scores.
            self.ranked[from..].sort_by(|a, b| b.score.total_cmp(&a.score));
        }
        (to_u32(start), to_u32(options.len()))
    }

    /// Add a list of the ranked options whose entry word has this offset, if there are any.
    fn add_entry_list(
        &mut self,
        option_cache: &OptionCache,
        span: Span,
        (all, count): (u32, u32),
        offset: u32,
    ) {
        let start = self.ranked.len();
        for at in all..all + self.classes * count {
            let ranked = self.ranked[at as usize];
            if option_cache.phrase(ranked.phrase).entry == offset {
                self.ranked.push(ranked);
            }
        }
        let count = to_u32(self.ranked.len() - start) / self.classes;
        if count > 0 {
            let entry = SrcPos(span.start + offset);
            self.lists.push(OptionList { span, entry, parts: 0, count, first: to_u32(start) });
        }
    }

    /// Return whether a span has an option.
    pub fn has(&self, span: Span) -> bool {
        !self.list_ids(span).is_empty()
    }

    /// Return the ids of the lists of a span.
    pub fn list_ids(&self, span: Span) -> Range<u32> {
        self.place(span).map_or(0..0, |at| self.list_starts[at]..self.list_starts[at + 1])
    }

    /// Return the ids of the lists that start at `start` and end at `end` or before, shorter spans
    /// first.
    pub fn lists_within(&self, start: u32, end: u32) -> Range<u32> {
        let at = (start * self.longest) as usize;
        let lengths = self.longest.min(end.saturating_sub(start)) as usize;
        self.list_starts[at]..self.list_starts[at + lengths]
    }

    /// Iterate over the ids of the options of a span, best isolated score first.
    pub fn options_of(&self, span: Span) -> impl Iterator<Item = OptionId> {
        let numbers = self.place(span).map_or(0..0, |at| self.starts[at]..self.starts[at + 1]);
        numbers.map(OptionId)
    }

    fn place(&self, span: Span) -> Option<usize> {
        let fits = span.start < span.end && span.len() <= self.longest;
        fits.then(|| (span.start * self.longest + span.len() - 1) as usize)
    }

    /// Return all lists, sorted by start, then length.
    pub fn lists(&self) -> &[OptionList] {
        &self.lists
    }

    /// Return a list.
    pub fn list(&self, list: OptionListId) -> &OptionList {
        &self.lists[list.index()]
    }

    /// Return the offset of the options that are ranked for a class in a list of `count` options.
    #[inline]
    pub fn class_start(&self, class: Class, count: u32) -> u32 {
        if self.classes == 1 { 0 } else { class as u32 * count }
    }

    /// Return a ranked option by its index in all lists.
    #[inline]
    pub fn ranked(&self, place: u32) -> RankedOption {
        self.ranked[place as usize]
    }

    /// Return an option.
    pub fn option(&self, option: OptionId) -> TranslationOption {
        self.options[option.index()]
    }

    /// Return span and alignment of all options, for the path features.
    pub fn alignments<'a>(&self, option_cache: &'a OptionCache) -> Vec<OptionAlignment<'a>> {
        let phrase = |&TranslationOption { phrase, span }: &TranslationOption| OptionAlignment {
            span,
            links: option_cache.links(phrase),
        };
        self.options.iter().map(phrase).collect()
    }
}
