//! Scores of a derivation, computed from the start, feature by feature.
//!
//! In: options in target order. Out: a `Translation` with the exact value of each feature.
//! How: directly from the definitions, without cached values of the search, so that a test can
//! compare both.

use crate::align::Link;
use crate::corpus::{SrcPos, TgtPos};
use crate::decode::ids::TargetPhraseId;
use crate::decode::models::{FeatureLayout, ModelSet};
use crate::decode::options::cache::OptionCache;
use crate::decode::options::collection::{OptionCollection, TranslationOption};
use crate::decode::output::translation::{DerivationStep, TgtSpan, Translation};
use crate::decode::settings::SearchSettings;
use crate::feature::{
    Coverage, FeatureWeights, LmState, OptionId, PathScorer, ReorderingState, Span,
};
use crate::narrow::to_u32;
use crate::orientation::{Class, Model};
use crate::reorder::orientation::{NO_BLOCKS, Outlook, Stacks, prev_class};

/// A sentence with its options, for scoring derivations.
pub struct DerivationScorer<'a> {
    pub models: &'a ModelSet<'a>,
    pub layout: &'a FeatureLayout,
    pub weights: &'a FeatureWeights,
    pub settings: &'a SearchSettings,
    pub src: &'a [&'a str],
    pub options: &'a OptionCollection,
    pub option_cache: &'a OptionCache,
    pub paths: &'a [Box<dyn PathScorer + 'a>],
}

impl DerivationScorer<'_> {
    /// Return the target words of an option.
    pub fn words(&self, option: OptionId) -> impl Iterator<Item = &str> {
        let TranslationOption { phrase, span } = self.options.option(option);
        let src = self.src[span.start as usize];
        self.option_cache
            .words(phrase)
            .iter()
            .map(move |&word| self.option_cache.text(self.models, word, src))
    }

    /// Return the translation with these options in target order.
    pub fn translation(&self, options: &[OptionId]) -> Translation {
        let mut words: Vec<String> = Vec::new();
        let mut steps = Vec::new();
        let mut links = Vec::new();
        let mut unknown = Vec::new();
        for &option in options {
            let TranslationOption { phrase, span } = self.options.option(option);
            let first = to_u32(words.len());
            words.extend(self.words(option).map(str::to_owned));
            let tgt = TgtSpan { start: TgtPos(first), end: TgtPos(to_u32(words.len())) };
            steps.push(DerivationStep { src: span, tgt });
            let inside = self.option_cache.links(phrase).iter();
            links.extend(inside.map(|l| Link::new(l.src.0 + span.start, l.tgt.0 + first)));
            if self.option_cache.phrase(phrase).oov != 0.0 {
                unknown.push(SrcPos(span.start));
            }
        }
        unknown.sort_unstable();
        let mut features = vec![0.0; self.layout.len()];
        self.phrase_features(options, &mut features);
        self.lm_features(&words, &mut features);
        self.order_features(options, &mut features);
        self.path_features(options, &mut features);
        let score = self.weights.total(&features);
        Translation { words, score, features, steps, links, unknown }
    }

    fn phrase_features(&self, options: &[OptionId], features: &mut [f64]) {
        for &option in options {
            let phrase = self.options.option(option).phrase;
            features[self.layout.wp] -= self.option_cache.words(phrase).len() as f64;
            features[self.layout.pp] += 1.0;
            features[self.layout.oov] += f64::from(self.option_cache.phrase(phrase).oov);
            let tm = self.option_cache.tm(phrase, self.layout);
            for (sum, value) in features[self.layout.tm.clone()].iter_mut().zip(tm) {
                *sum += f64::from(*value);
            }
        }
    }

    fn lm_features(&self, words: &[String], features: &mut [f64]) {
        for (sum, lm) in features[self.layout.lm.clone()].iter_mut().zip(&self.models.lms) {
            let mut state = lm.start();
            let mut next = LmState::EMPTY;
            for word in words {
                *sum += f64::from(lm.score(&state, lm.word(word), &mut next));
                state = next;
            }
            *sum += f64::from(lm.end(&state));
        }
    }

    /// Add distortion and orientation.
    fn order_features(&self, options: &[OptionId], features: &mut [f64]) {
        let length = to_u32(self.src.len());
        let mut blocks = vec![0; Coverage::blocks_for(length)];
        let mut stacks = Stacks::default();
        let mut stack = NO_BLOCKS;
        let mut last: Option<(Span, TargetPhraseId)> = None;
        for &option in options {
            let TranslationOption { phrase, span } = self.options.option(option);
            let cov = Coverage::new(&blocks, length);
            let end = last.map_or(0, |(span, _)| span.end);
            let cost = self.settings.distortion.cost(cov.first_gap(), end, span);
            features[self.layout.d] -= f64::from(cost);
            if let Some(orientation) = self.models.orientation {
                let before = match orientation.model {
                    Model::Hierarchical => stacks.top(stack),
                    Model::Phrase | Model::Word => last.map_or(Span::default(), |(span, _)| span),
                };
                self.add_orientation(true, phrase, prev_class(before, span), features);
                if let Some((before, phrase)) = last {
                    let test = self.settings.next_test;
                    let outlook = Outlook::new(orientation.model, test, cov, before);
                    self.add_orientation(false, phrase, outlook.class(span), features);
                }
                stack = stacks.push(stack, span, self.settings.reduce);
            }
            Coverage::mark(&mut blocks, span);
            last = Some((span, phrase));
        }
        let Some((span, phrase)) = last else { return };
        if self.settings.final_jump {
            features[self.layout.d] -= f64::from(self.settings.distortion.last(span.end, length));
        }
        if self.settings.final_next {
            let class = if span.end == length { Class::M } else { Class::Dr };
            self.add_orientation(false, phrase, class, features);
        }
    }

    fn add_orientation(
        &self,
        prev: bool,
        phrase: TargetPhraseId,
        class: Class,
        features: &mut [f64],
    ) {
        let Some(orientation) = self.models.orientation else { return };
        if !(if prev { orientation.prev } else { orientation.next }) {
            return;
        }
        let skipped = if prev || !orientation.prev { 0 } else { orientation.classes.names().len() };
        let column = skipped + orientation.classes.column(class);
        let value = self.option_cache.orientation(phrase, self.layout)[column];
        features[self.layout.lr.start + column] += f64::from(value);
    }

    fn path_features(&self, options: &[OptionId], features: &mut [f64]) {
        let length = to_u32(self.src.len());
        for (sum, path) in features[self.layout.path.clone()].iter_mut().zip(self.paths) {
            let mut blocks = vec![0; Coverage::blocks_for(length)];
            let (mut state, mut end) = (path.start(), 0);
            for &option in options {
                let span = self.options.option(option).span;
                let cov = Coverage::new(&blocks, length);
                let reordering = ReorderingState {
                    cov,
                    gap: cov.first_gap(),
                    end,
                    top: Span::default(),
                    mode: 0,
                };
                let (value, after) = path.extend(state, &reordering, option);
                *sum += f64::from(value + path.isolated_score(option));
                state = after;
                end = span.end;
                Coverage::mark(&mut blocks, span);
            }
            if !options.is_empty() {
                *sum += f64::from(path.finish(state));
            }
        }
    }
}
