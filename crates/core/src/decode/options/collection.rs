//! What may be translated how in one sentence.
//!
//! In: the source words. Out: for each span its translations, in lanes: a lane is a span, or,
//! when a path feature narrows the choice, the part of a span entered at one word. In a lane the
//! translations are sorted once for each orientation class, best first. First `find` looks them
//! up, then path features see them, and `rank` sorts them by all that is known of them.
//! Cost: O(n · longest phrase) look-ups; memory is kept between sentences.

use crate::corpus::{SrcPos, WordId};
use crate::decode::ids::{ItemId, LaneId};
use crate::decode::input::markup::Markup;
use crate::decode::lm::contexts::Contexts;
use crate::decode::options::cache::Stock;
use crate::decode::options::future_cost::Future;
use crate::decode::options::scoring::Pricing;
use crate::error::Result;
use crate::feature::{Coverage, OptionId, PathScorer, Phrase, Span};
use crate::narrow::{to_f32, to_u32};
use crate::orientation::Class;
use std::ops::Range;

/// How much of the best that orientation may say of a phrase goes into the future cost: the best
/// class of each phrase at once is too much to hope for, none of it too little.
const TURN: f32 = 0.5;

/// Scorers with their weights.
#[derive(Clone, Copy)]
pub struct Seated<'a> {
    pub scorers: &'a [Box<dyn PathScorer + 'a>],
    pub weights: &'a [f64],
}

impl Seated<'_> {
    fn sum(&self, value: impl Fn(f64, &dyn PathScorer) -> f64) -> f32 {
        let each = self.scorers.iter().zip(self.weights);
        to_f32(each.map(|(scorer, &weight)| value(weight, &**scorer)).sum::<f64>())
    }

    /// What they say of a phrase alone.
    pub fn alone(&self, phrase: OptionId) -> f32 {
        self.sum(|weight, scorer| weight * f64::from(scorer.alone(phrase)))
    }

    /// The most that a step may give for a phrase. With a negative weight the most a feature may
    /// say is the least it is worth, so there is no hope from it.
    pub fn hope(&self, phrase: OptionId) -> f32 {
        self.sum(|weight, scorer| weight.max(0.0) * f64::from(scorer.hope(phrase)))
    }

    /// What a gap loses that starts at a word.
    pub fn loss(&self, word: SrcPos) -> f32 {
        self.sum(|weight, scorer| weight.max(0.0) * f64::from(scorer.loss(word)))
    }
}

/// A translation option: an item of the stock on a span.
#[derive(Debug, Clone, Copy)]
pub struct Choice {
    /// The translation.
    pub item: ItemId,
    /// The words it covers.
    pub span: Span,
}

/// The options of a span, or those of them that enter it at one word.
#[derive(Debug, Clone, Copy)]
pub struct Lane {
    /// The words covered.
    pub span: Span,
    /// The word entered at; only told apart when the choice is narrowed.
    pub entry: SrcPos,
    /// For a lane of all options of a span that is entered at several words: how many lanes of
    /// single entries stand right before it; else 0.
    pub parts: u32,
    /// Number of options.
    pub count: u32,
    /// Where its sorted options start: for each class all of them.
    pub first: u32,
}

/// An option in a sorted lane.
#[derive(Debug, Clone, Copy)]
pub struct Ranked {
    /// Isolated score, with that of path features and the `prev` score of the class.
    pub score: f32,
    /// Number of the option.
    pub choice: OptionId,
    /// Its translation.
    pub item: ItemId,
}

/// The options of a sentence.
#[derive(Debug, Default)]
pub struct Options {
    choices: Vec<Choice>,
    lanes: Vec<Lane>,
    ranked: Vec<Ranked>,
    /// What path features say of each option alone, weighted; empty without such features.
    alone: Vec<f32>,
    /// For each start and length where its options start; a last entry for the end.
    starts: Vec<u32>,
    /// The same for its lanes.
    lane_starts: Vec<u32>,
    longest: u32,
    classes: u32,
    /// Numbers of the source words.
    src: Vec<WordId>,
    /// For each start and length the items of the table.
    items: Vec<Range<u32>>,
    /// By word: whether it continues a run of unknown words.
    continues_run: Vec<bool>,
    /// The future cost.
    pub future: Future,
}

impl Options {
    /// Finds the options of a sentence.
    pub fn find(
        &mut self,
        stock: &mut Stock,
        contexts: &mut Contexts,
        pricing: &Pricing<'_>,
        words: &[&str],
        markup: Option<&Markup>,
    ) -> Result<()> {
        self.choices.clear();
        self.starts.clear();
        self.look_up(stock, contexts, pricing, words, markup)?;
        let mut given: Vec<(Span, ItemId)> = Vec::new();
        for translation in markup.map_or(&[][..], |markup| &markup.given) {
            given.push((translation.span, stock.give(pricing, contexts, translation)?));
        }
        self.classes = if pricing.models.orientation.is_some_and(|o| o.prev) { 4 } else { 1 };
        for start in 0..to_u32(words.len()) {
            for end in start + 1..=start + self.longest {
                self.starts.push(to_u32(self.choices.len()));
                self.add(stock, Span::new(start, end), &given);
            }
        }
        self.starts.push(to_u32(self.choices.len()));
        self.find_runs(stock, markup);
        Ok(())
    }

    /// Finds the runs of unknown words: maximal sequences of adjacent words that no option but
    /// their own copy covers, cut at the edges of zones (definitions g.2).
    fn find_runs(&mut self, stock: &Stock, markup: Option<&Markup>) {
        let mut is_unknown = vec![true; self.src.len()];
        for &Choice { item, span } in &self.choices {
            if stock.item(item).oov == 0.0 {
                is_unknown[span.start as usize..span.end as usize].fill(false);
            }
        }
        let is_cut = |word| markup.is_some_and(|markup| markup.fences().has_zone_edge(word));
        self.continues_run.clear();
        self.continues_run.extend((0..is_unknown.len()).map(|word| {
            word > 0 && is_unknown[word - 1] && is_unknown[word] && !is_cut(to_u32(word))
        }));
    }

    /// Whether a phrase may start at a word: a run of unknown words is translated from left to
    /// right. The first word of a gap may always be started at, so this never makes a dead end.
    pub fn may_start(&self, cov: Coverage<'_>, word: u32) -> bool {
        !self.continues_run[word as usize] || cov.has(word - 1)
    }

    /// Sorts the options into lanes and works out the future cost; `paths` are the path features
    /// at work and their weights, `by_entry` splits spans by the word they are entered at.
    pub fn rank(&mut self, stock: &Stock, paths: Seated<'_>, by_entry: bool) {
        self.lanes.clear();
        self.ranked.clear();
        self.lane_starts.clear();
        self.alone.clear();
        if !paths.scorers.is_empty() {
            for choice in 0..to_u32(self.choices.len()) {
                self.alone.push(paths.alone(OptionId(choice)));
            }
        }
        for at in 0..self.items.len() {
            self.lane_starts.push(to_u32(self.lanes.len()));
            self.add_lanes(stock, at, by_entry);
        }
        self.lane_starts.push(to_u32(self.lanes.len()));
        let mut future = std::mem::take(&mut self.future);
        let score = |choice: OptionId| {
            let turn = stock.item(self.choice(choice).item).turn;
            self.alone_of(stock, choice) + paths.hope(choice) + TURN * turn
        };
        let best = |span| self.choices_of(span).map(score).fold(f32::NEG_INFINITY, f32::max);
        let length = to_u32(self.src.len());
        future.fill(length, self.longest, best, |word| paths.loss(SrcPos(word)));
        self.future = future;
    }

    /// The isolated score of an option, with that of path features.
    fn alone_of(&self, stock: &Stock, choice: OptionId) -> f32 {
        let by_paths = self.alone.get(choice.index()).copied().unwrap_or_default();
        stock.item(self.choice(choice).item).alone + by_paths
    }

    /// Looks all spans up in the table, but for those that the markup reserves.
    fn look_up(
        &mut self,
        stock: &mut Stock,
        contexts: &mut Contexts,
        pricing: &Pricing<'_>,
        words: &[&str],
        markup: Option<&Markup>,
    ) -> Result<()> {
        self.src.clear();
        self.src.extend(words.iter().map(|word| stock.source_id(pricing.models, word)));
        self.items.clear();
        let length = to_u32(words.len());
        let in_table =
            to_u32(pricing.models.phrases.longest().min(u32::MAX as usize)).clamp(1, length.max(1));
        let given = markup.map_or(0, Markup::longest);
        self.longest = in_table.max(given);
        for start in 0..length {
            for end in start + 1..=start + self.longest {
                let span = Span::new(start, end);
                let is_open = end <= length
                    && span.len() <= in_table
                    && markup.is_none_or(|markup| !markup.reserves(span));
                self.items.push(if is_open {
                    let src = &self.src[start as usize..end as usize];
                    stock.find(pricing, contexts, src, words[start as usize])?
                } else {
                    0..0
                });
            }
        }
        Ok(())
    }

    /// Adds the options of a span.
    fn add(&mut self, stock: &Stock, span: Span, given: &[(Span, ItemId)]) {
        let first = self.choices.len();
        let at = (span.start * self.longest + span.len() - 1) as usize;
        let items = self.items[at].clone();
        self.choices.extend(items.map(|item| Choice { item: ItemId(item), span }));
        let here = given.iter().filter(|(place, _)| *place == span);
        self.choices.extend(here.map(|&(span, item)| Choice { item, span }));
        if !given.is_empty() {
            let alone = |choice: &Choice| stock.item(choice.item).alone;
            self.choices[first..].sort_by(|a, b| alone(b).total_cmp(&alone(a)));
        }
    }

    /// Adds the lanes of a span, given by its place.
    fn add_lanes(&mut self, stock: &Stock, at: usize, by_entry: bool) {
        let choices = self.starts[at]..self.starts[at + 1];
        if choices.is_empty() {
            return;
        }
        let span = self.choice(OptionId(choices.start)).span;
        let entry = |choice: u32| stock.item(self.choice(OptionId(choice)).item).entry;
        let first = entry(choices.start);
        let is_split = by_entry && choices.clone().any(|choice| entry(choice) != first);
        let all = self.rank_all(stock, choices);
        let before = self.lanes.len();
        if is_split {
            for offset in 0..span.len() {
                self.add_part(stock, span, all, offset);
            }
        }
        let parts = to_u32(self.lanes.len() - before);
        let entry = SrcPos(if by_entry { span.start + first } else { span.start });
        self.lanes.push(Lane { span, entry, parts, count: all.1, first: all.0 });
    }

    /// Ranks options for each class; returns where they are and how many.
    fn rank_all(&mut self, stock: &Stock, choices: Range<u32>) -> (u32, u32) {
        let start = self.ranked.len();
        for class in 0..self.classes as usize {
            let from = self.ranked.len();
            for choice in choices.clone().map(OptionId) {
                let item = self.choice(choice).item;
                let score = self.alone_of(stock, choice) + stock.item(item).prev[class];
                self.ranked.push(Ranked { score, choice, item });
            }
            // Stable: equal scores stay in the order of the isolated scores.
            self.ranked[from..].sort_by(|a, b| b.score.total_cmp(&a.score));
        }
        (to_u32(start), to_u32(choices.len()))
    }

    /// Adds a lane of those ranked options that enter their span at this word of it, if any.
    fn add_part(&mut self, stock: &Stock, span: Span, (all, count): (u32, u32), offset: u32) {
        let start = self.ranked.len();
        for at in all..all + self.classes * count {
            let ranked = self.ranked[at as usize];
            if stock.item(ranked.item).entry == offset {
                self.ranked.push(ranked);
            }
        }
        let count = to_u32(self.ranked.len() - start) / self.classes;
        if count > 0 {
            let entry = SrcPos(span.start + offset);
            self.lanes.push(Lane { span, entry, parts: 0, count, first: to_u32(start) });
        }
    }

    /// Whether a span has an option.
    pub fn has(&self, span: Span) -> bool {
        !self.lane_numbers(span).is_empty()
    }

    /// The numbers of the lanes of a span.
    pub fn lane_numbers(&self, span: Span) -> Range<u32> {
        self.place(span).map_or(0..0, |at| self.lane_starts[at]..self.lane_starts[at + 1])
    }

    /// The numbers of the lanes that start at a word and end at another or before it, shorter
    /// spans first.
    pub fn lanes_within(&self, start: u32, end: u32) -> Range<u32> {
        let at = (start * self.longest) as usize;
        let lengths = self.longest.min(end.saturating_sub(start)) as usize;
        self.lane_starts[at]..self.lane_starts[at + lengths]
    }

    /// The numbers of the options of a span, best isolated score first.
    pub fn choices_of(&self, span: Span) -> impl Iterator<Item = OptionId> {
        let numbers = self.place(span).map_or(0..0, |at| self.starts[at]..self.starts[at + 1]);
        numbers.map(OptionId)
    }

    fn place(&self, span: Span) -> Option<usize> {
        let fits = span.start < span.end && span.len() <= self.longest;
        fits.then(|| (span.start * self.longest + span.len() - 1) as usize)
    }

    /// All lanes, by number: by start, then length.
    pub fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    /// A lane.
    pub fn lane(&self, lane: LaneId) -> &Lane {
        &self.lanes[lane.index()]
    }

    /// How far from the start of a lane of so many options those are that are sorted for a class.
    #[inline]
    pub fn class_start(&self, class: Class, count: u32) -> u32 {
        if self.classes == 1 { 0 } else { class as u32 * count }
    }

    /// A sorted option, by its place among those of all lanes.
    #[inline]
    pub fn ranked(&self, place: u32) -> Ranked {
        self.ranked[place as usize]
    }

    /// An option.
    pub fn choice(&self, choice: OptionId) -> Choice {
        self.choices[choice.index()]
    }

    /// All options as path features see them.
    pub fn phrases<'a>(&self, stock: &'a Stock) -> Vec<Phrase<'a>> {
        let phrase = |&Choice { item, span }: &Choice| Phrase { span, links: stock.links(item) };
        self.choices.iter().map(phrase).collect()
    }
}
