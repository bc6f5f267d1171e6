//! Small models, and a decoder that tries everything: slow and obvious.
//!
//! Nothing of the search is used here: spaces are decided on complete orders where the
//! definition is about complete orders, and features are written out as the definitions have them.

use std::collections::BTreeMap;
use wayword::align::Link;
use wayword::corpus::WordId;
use wayword::decode::{ModelSet, OovPolicy, SearchSettings};
use wayword::feature::{
    Coverage, FeatureWeights, LanguageModel, LmState, OptionAlignment, OptionId, PathFeature,
    PathScorer, PhraseDetails, PhraseEntry, PhraseModel, ReorderingState, SourceSentence, Span,
};
use wayword::orientation::{Classes, Model, Orientation};
use wayword::reorder::orientation::NextTest;
use wayword::reorder::{Distortion, Prune, Space};

/// A phrase pair.
#[derive(Debug, Clone)]
pub struct Pair {
    pub tgt: Vec<WordId>,
    pub tm: Vec<f32>,
    pub orientation: Vec<f32>,
    pub links: Vec<Link>,
}

/// A phrase table in memory; source words are their own numbers.
#[derive(Debug, Default)]
pub struct Table {
    pub pairs: BTreeMap<Vec<WordId>, Vec<Pair>>,
    pub words: Vec<String>,
    pub tm: usize,
}

impl PhraseModel for Table {
    fn source_id(&self, word: &str) -> Option<WordId> {
        word.strip_prefix('s')?.parse().ok()
    }

    fn target_word(&self, id: WordId) -> &str {
        &self.words[id as usize]
    }

    fn longest(&self) -> usize {
        self.pairs.keys().map(Vec::len).max().unwrap_or(0)
    }

    fn tm_scores(&self) -> usize {
        self.tm
    }

    fn find(&self, src: &[WordId], each: &mut dyn FnMut(PhraseEntry<'_>)) -> wayword::Result<()> {
        for (place, Pair { tgt, tm, .. }) in (0..).zip(self.pairs.get(src).into_iter().flatten()) {
            each(PhraseEntry { tgt, tm, place });
        }
        Ok(())
    }

    fn details(
        &self,
        src: &[WordId],
        place: u64,
        details: &mut PhraseDetails,
    ) -> wayword::Result<()> {
        let Pair { orientation, links, .. } = &self.pairs[src][place as usize];
        *details = PhraseDetails { orientation: orientation.clone(), links: links.clone() };
        Ok(())
    }
}

/// The score of a word after a history.
type Score = dyn Fn(&[u32], u32) -> f32 + Sync;

/// A language model over word numbers `w<n>` that forgets all but the last `order` - 1 words.
pub struct Grams {
    pub order: usize,
    pub score: Box<Score>,
}

pub const START: u32 = 1000;
pub const END: u32 = 1001;
pub const UNKNOWN: u32 = 1002;

impl LanguageModel for Grams {
    fn word(&self, word: &str) -> u32 {
        word.strip_prefix('w').and_then(|number| number.parse().ok()).unwrap_or(UNKNOWN)
    }

    fn start(&self) -> LmState {
        let mut state = LmState::EMPTY;
        state.cells[0] = START;
        state.used = 1.min(self.order as u32 - 1);
        state
    }

    fn score(&self, state: &LmState, word: u32, next: &mut LmState) -> f32 {
        let mut history = state.key().to_vec();
        let score = (self.score)(&history, word);
        history.push(word);
        let kept = &history[history.len().saturating_sub(self.order - 1)..];
        *next = LmState::EMPTY;
        next.cells[..kept.len()].copy_from_slice(kept);
        next.used = kept.len() as u32;
        score
    }

    fn end(&self, state: &LmState) -> f32 {
        (self.score)(state.key(), END)
    }
}

/// A number from 0 to 1 that looks random.
pub fn noise(seed: u32, values: &[u32]) -> f32 {
    let mut hash = seed.wrapping_mul(0x9e37_79b9) ^ 0x85eb_ca6b;
    for value in values {
        hash = (hash ^ value).wrapping_mul(0x01b3_5e4d).rotate_left(13);
        hash ^= hash >> 15;
        hash = hash.wrapping_mul(0x2c1b_3c6d);
    }
    (hash >> 8) as f32 / (1 << 24) as f32
}

/// A model of the next word (definitions b.5, b.7 and c): scores by position from 1.
pub struct After {
    pub scores: Vec<f32>,
    pub length: usize,
    pub prune: Option<Prune>,
    /// What each bit brings each word; empty: nobody looks around.
    pub around: Vec<[f32; 8]>,
    /// One of the words so near is chosen; none: scores are log probabilities.
    pub window: Option<u32>,
}

impl After {
    /// Random scores for a sentence, some of them equal.
    pub fn random(seed: u32, length: usize) -> Self {
        let cells = 0..((length + 1) * length) as u32;
        let score = |cell: u32| -((1.0 + 8.0 * noise(seed, &[cell, 77])).round() / 3.0);
        let scores = cells.map(score).collect();
        After { scores, length, prune: None, around: Vec::new(), window: None }
    }

    /// The same model, but it chooses among words and looks around.
    pub fn choosing(seed: u32, length: usize) -> Self {
        let gain = |word: usize, bit: usize| {
            let dice = noise(seed, &[word as u32, bit as u32, 78]);
            (dice * 16.0).round() / 8.0 - 1.0
        };
        let around = (0..length).map(|word| std::array::from_fn(|bit| gain(word, bit))).collect();
        let window = Some((noise(seed, &[79]) * 4.0) as u32);
        After { around, window, ..After::random(seed, length) }
    }

    /// What words are ranked by; `covered` is by position from 0.
    fn score(&self, last: usize, word: usize, covered: &[bool]) -> f32 {
        let score = self.scores[last * self.length + word - 1];
        let Some(gains) = self.around.get(word - 1) else { return score };
        let open_before = covered[..word - 1].iter().filter(|is| !**is).count();
        let before = word == 1 || covered[word - 2];
        let after = covered.get(word).copied().unwrap_or(false);
        let is_last = covered[word..].iter().all(|is| *is);
        let bits = [
            before,
            after,
            before && after,
            open_before == 0,
            is_last,
            (1..=2).contains(&open_before),
            (3..=6).contains(&open_before),
            open_before > 6,
        ];
        score + gains.iter().zip(bits).filter(|(_, bit)| *bit).map(|(gain, _)| gain).sum::<f32>()
    }

    fn log_prob(&self, last: usize, word: usize, covered: &[bool]) -> f64 {
        let score = |word: usize| f64::from(self.score(last, word, covered));
        let Some(window) = self.window else { return score(word) };
        let is_near = |other: usize| other.abs_diff(last + 1) <= window as usize;
        let rivals = (1..=self.length)
            .filter(|&other| !covered[other - 1] && (is_near(other) || other == word));
        score(word) - rivals.map(|other| score(other).exp()).sum::<f64>().ln()
    }

    /// The order of the words of an option, from 1: by the mean of their target positions.
    fn order(option: &Option_) -> Vec<usize> {
        let words = 0..option.span.len();
        let own = |word: u32| option.links.iter().filter(move |link| link.src.0 == word);
        let mean = |word: u32| {
            let sum: f64 = own(word).map(|link| f64::from(link.tgt.0)).sum();
            (own(word).count() > 0).then(|| sum / own(word).count() as f64)
        };
        let key = |word: u32| {
            let left = (0..word).rev().find_map(mean);
            let right = (word..option.span.len()).find_map(mean);
            match (mean(word), left, right) {
                (Some(own), _, _) => own,
                (None, Some(left), Some(right)) => (left + right) / 2.0,
                (None, left, right) => left.or(right).unwrap_or(0.0),
            }
        };
        let mut order: Vec<u32> = words.collect();
        order.sort_by(|&a, &b| key(a).total_cmp(&key(b)));
        order.into_iter().map(|word| (option.span.start + word + 1) as usize).collect()
    }

    /// One factor a source word.
    fn total(&self, path: &[&Option_]) -> f64 {
        let mut last = 0;
        let mut total = 0.0;
        let mut covered = vec![false; self.length];
        for word in path.iter().flat_map(|option| After::order(option)) {
            total += self.log_prob(last, word, &covered);
            covered[word - 1] = true;
            last = word;
        }
        total
    }

    /// The entry words worth trying after a path, from 0.
    fn kept(&self, prune: Prune, path: &[&Option_], mut entries: Vec<u32>) -> Vec<u32> {
        let last = path.last().map_or(0, |option| *After::order(option).last().unwrap());
        let end = path.last().map_or(0, |option| option.span.end);
        let mut covered = vec![false; self.length];
        for option in path {
            covered[option.span.start as usize..option.span.end as usize].fill(true);
        }
        let score = |entry: u32| self.score(last, entry as usize + 1, &covered);
        let key = |entry: u32| (end.abs_diff(entry), entry);
        entries.sort_by(|&a, &b| score(b).total_cmp(&score(a)).then(key(a).cmp(&key(b))));
        entries.dedup();
        let best = entries.first().map_or(0.0, |&entry| score(entry));
        if prune.top > 0 {
            entries.truncate(prune.top as usize);
        }
        if prune.threshold > 0.0 {
            entries.retain(|&entry| score(entry) >= best + prune.threshold.ln() as f32);
        }
        entries
    }
}

/// A path feature at work.
type Seated<'a> = wayword::Result<Box<dyn PathScorer + 'a>>;

/// In the manner of a linear-ordering model: no state, only what is left uncovered.
pub struct Ahead {
    pub seed: u32,
}

impl PathFeature for Ahead {
    fn name(&self) -> &str {
        "lop"
    }

    fn prepare<'a>(
        &'a self,
        _: &SourceSentence<'a>,
        phrases: &[OptionAlignment<'a>],
    ) -> Seated<'a> {
        let spans = phrases.iter().map(|phrase| phrase.span).collect();
        Ok(Box::new(AheadScorer { seed: self.seed, spans }))
    }
}

struct AheadScorer {
    seed: u32,
    spans: Vec<Span>,
}

impl PathScorer for AheadScorer {
    fn extend(&self, _: u32, here: &ReorderingState<'_>, phrase: OptionId) -> (f32, u32) {
        let span = self.spans[phrase.index()];
        let mut sum = 0.0;
        for left in span.start..span.end {
            for right in left + 1..here.cov.length() {
                let inside = right < span.end;
                if inside || !here.cov.has(right) {
                    sum += noise(self.seed, &[left, right, 5]) - 0.5;
                }
            }
        }
        (sum, 0)
    }
}

/// An option of the twin.
#[derive(Debug, Clone)]
struct Option_ {
    span: Span,
    words: Vec<String>,
    tm: Vec<f32>,
    orientation: Vec<f32>,
    oov: bool,
    entry: u32,
    links: Vec<Link>,
}

/// A complete way to translate.
#[derive(Debug, Clone)]
pub struct Way {
    pub words: Vec<String>,
    pub spans: Vec<Span>,
    pub features: Vec<f64>,
    pub score: f64,
}

/// The decoder that tries everything.
pub struct Twin<'a> {
    pub models: &'a ModelSet<'a>,
    pub table: &'a Table,
    pub weights: &'a FeatureWeights,
    pub settings: &'a SearchSettings,
    pub src: &'a [&'a str],
    /// What the feature `waw` scores by, if it is there; it may prune early.
    pub after: Option<&'a After>,
    /// What the markup demands.
    pub demands: &'a Demands,
}

/// Markup as the twin sees it.
#[derive(Debug, Default)]
pub struct Demands {
    pub is_exclusive: bool,
    pub given: Vec<(Span, Vec<String>, f64)>,
    pub zones: Vec<Span>,
    /// Each wall with the zone it holds for.
    pub walls: Vec<(u32, Span)>,
}

fn meets(a: Span, b: Span) -> bool {
    a.start < b.end && b.start < a.end
}

impl Demands {
    fn reserve(&self, span: Span) -> bool {
        self.is_exclusive && self.given.iter().any(|(given, ..)| meets(*given, span))
    }

    /// Whether a complete order keeps all walls and zones.
    fn are_met(&self, spans: &[Span]) -> bool {
        let zones = self.zones.iter().all(|&zone| {
            let own: Vec<usize> = (0..spans.len()).filter(|&at| meets(spans[at], zone)).collect();
            let (Some(&first), Some(&last)) = (own.first(), own.last()) else { return true };
            // All but the last phrase of a zone lie within it, one after another.
            let inside = |span: &Span| zone.start <= span.start && span.end <= zone.end;
            spans[first..last].iter().all(inside)
        });
        let walls = self.walls.iter().all(|&(wall, zone)| {
            let time = |word: u32| spans.iter().position(|s| s.start <= word && word < s.end);
            let before = (zone.start..wall).filter_map(time).max();
            let after = (wall..zone.end).filter_map(time).min();
            before.is_none() || after.is_none() || before <= after
        });
        zones && walls
    }
}

impl Twin<'_> {
    /// All ways, best first.
    pub fn all(&self) -> Vec<Way> {
        let options = self.options();
        let mut ways = Vec::new();
        let mut free = vec![true; self.src.len()];
        self.grow(&options, &mut free, &mut Vec::new(), &mut ways);
        ways.sort_by(|a, b| b.score.total_cmp(&a.score));
        ways
    }

    fn options(&self) -> Vec<Option_> {
        let ids: Vec<Option<WordId>> =
            self.src.iter().map(|word| self.table.source_id(word)).collect();
        let mut options = Vec::new();
        for start in 0..ids.len() {
            for end in start + 1..=ids.len() {
                let span = Span::new(start as u32, end as u32);
                let key: Option<Vec<WordId>> = ids[start..end].iter().copied().collect();
                for (_, words, prob) in self.demands.given.iter().filter(|(at, ..)| *at == span) {
                    let share = prob.ln() as f32 / self.table.tm as f32;
                    options.push(Option_ {
                        span,
                        words: words.clone(),
                        tm: vec![share; self.table.tm],
                        orientation: Vec::new(),
                        oov: false,
                        entry: span.start,
                        links: (0..span.len())
                            .flat_map(|src| (0..words.len() as u32).map(move |tgt| (src, tgt)))
                            .map(|(src, tgt)| Link::new(src, tgt))
                            .collect(),
                    });
                }
                if self.demands.reserve(span) {
                    continue;
                }
                let found = key.and_then(|key| self.table.pairs.get(&key));
                for pair in found.into_iter().flatten() {
                    options.push(Option_ {
                        span,
                        words: pair
                            .tgt
                            .iter()
                            .map(|&w| self.table.words[w as usize].clone())
                            .collect(),
                        tm: pair.tm.clone(),
                        orientation: pair.orientation.clone(),
                        oov: false,
                        entry: entry(span, &pair.links),
                        links: pair.links.clone(),
                    });
                }
                if found.is_none() && span.len() == 1 {
                    options.push(Option_ {
                        span,
                        words: match self.settings.oov {
                            OovPolicy::Copy => vec![self.src[start].to_owned()],
                            OovPolicy::Drop => vec![],
                        },
                        tm: vec![0.0; self.table.tm],
                        orientation: Vec::new(),
                        oov: true,
                        entry: span.start,
                        links: vec![Link::new(0, 0)],
                    });
                }
            }
        }
        options
    }

    fn grow<'o>(
        &self,
        options: &'o [Option_],
        free: &mut Vec<bool>,
        path: &mut Vec<&'o Option_>,
        ways: &mut Vec<Way>,
    ) {
        if !free.contains(&true) {
            if self.is_allowed(path) {
                ways.push(self.score(path));
            }
            return;
        }
        let range = |option: &Option_| option.span.start as usize..option.span.end as usize;
        let admissible: Vec<&Option_> = options
            .iter()
            .filter(|option| !free[range(option)].contains(&false))
            .filter(|option| self.may_follow(free, path, option.span))
            .filter(|option| !self.is_out_of_turn(options, free, option.span.start))
            .collect();
        for option in self.worth_trying(path, admissible) {
            free[range(option)].fill(false);
            path.push(option);
            self.grow(options, free, path, ways);
            path.pop();
            free[range(option)].fill(true);
        }
    }

    /// Definitions c, over all admissible options of one hypothesis.
    fn worth_trying<'o>(&self, path: &[&Option_], options: Vec<&'o Option_>) -> Vec<&'o Option_> {
        let Some((after, prune)) = self.after.and_then(|after| Some((after, after.prune?))) else {
            return options;
        };
        let end = path.last().map_or(0, |option| option.span.end);
        let kept = after.kept(prune, path, options.iter().map(|option| option.entry).collect());
        let near = |option: &Option_| {
            prune.zone.is_some_and(|zone| option.span.start.abs_diff(end) <= zone)
        };
        options.into_iter().filter(|o| near(o) || kept.contains(&o.entry)).collect()
    }

    /// Definitions g.2: whether a run of unknown words has an untranslated word right before this.
    fn is_out_of_turn(&self, options: &[Option_], free: &[bool], word: u32) -> bool {
        let is_unknown =
            |word: u32| options.iter().all(|o| o.oov || word < o.span.start || o.span.end <= word);
        let zones = self.demands.zones.iter().filter(|zone| zone.len() > 1);
        let is_cut = zones.into_iter().any(|zone| zone.start == word || zone.end == word);
        word > 0 && free[word as usize - 1] && is_unknown(word - 1) && is_unknown(word) && !is_cut
    }

    /// Limits that the definitions state step by step.
    fn may_follow(&self, free: &[bool], path: &[&Option_], span: Span) -> bool {
        let gap = free.iter().position(|is| *is).unwrap() as i64;
        let end = path.last().map_or(0, |option| i64::from(option.span.end));
        let start = i64::from(span.start);
        match self.settings.space {
            Space::Mono => start == gap,
            Space::Dl(None) => true,
            Space::Dl(Some(limit)) => {
                let limit = i64::from(limit);
                (start - end).abs() <= limit
                    && (start == gap || (gap - i64::from(span.end)).abs() <= limit)
            }
            Space::Ibm(words) => {
                let before = free[..span.start as usize].iter().filter(|is| **is).count();
                before < words as usize
            }
            Space::Mj1 | Space::Mj2 | Space::Itg => true,
        }
    }

    /// Sets of complete orders.
    fn is_allowed(&self, path: &[&Option_]) -> bool {
        let spans: Vec<Span> = path.iter().map(|option| option.span).collect();
        if !self.demands.are_met(&spans) {
            return false;
        }
        let mut starts: Vec<u32> = path.iter().map(|option| option.span.start).collect();
        let order: Vec<usize> = {
            let mut sorted = starts.clone();
            sorted.sort_unstable();
            starts.drain(..).map(|start| sorted.binary_search(&start).unwrap()).collect()
        };
        match self.settings.space {
            Space::Mj1 => in_blocks(&order, 2),
            Space::Mj2 => in_blocks(&order, 3),
            Space::Itg => is_separable(&order),
            _ => true,
        }
    }

    fn score(&self, path: &[&Option_]) -> Way {
        let words: Vec<String> = path.iter().flat_map(|option| option.words.clone()).collect();
        let spans: Vec<Span> = path.iter().map(|option| option.span).collect();
        let mut features = Vec::new();
        for lm in &self.models.lms {
            let mut state = lm.start();
            let mut sum = 0.0;
            for word in &words {
                let mut next = LmState::EMPTY;
                sum += f64::from(lm.score(&state, lm.word(word), &mut next));
                state = next;
            }
            features.push(sum + f64::from(lm.end(&state)));
        }
        features.push(-(words.len() as f64));
        features.push(path.len() as f64);
        for column in 0..self.table.tm {
            features.push(path.iter().map(|option| f64::from(option.tm[column])).sum());
        }
        features.push(-self.distortion(&spans));
        if let Some(orientation) = self.models.orientation {
            features.extend(self.orientation(orientation, path, &spans));
        }
        features.extend(self.after.map(|after| after.total(path)));
        for feature in self.models.paths.iter().filter(|feature| feature.name() != "waw") {
            let source = SourceSentence::of(self.src);
            let phrases: Vec<OptionAlignment<'_>> =
                spans.iter().map(|&span| OptionAlignment { span, links: &[] }).collect();
            let scorer = feature.prepare(&source, &phrases).unwrap();
            let mut state = scorer.start();
            let mut bits = vec![0; Coverage::blocks_for(self.src.len() as u32)];
            let mut sum = 0.0;
            for (number, &span) in (0..).zip(&spans) {
                let cov = Coverage::new(&bits, self.src.len() as u32);
                let here = ReorderingState { cov, gap: 0, end: 0, top: Span::default(), mode: 0 };
                let (value, after) = scorer.extend(state, &here, OptionId(number));
                sum += f64::from(value);
                state = after;
                Coverage::mark(&mut bits, span);
            }
            features.push(sum);
        }
        features.push(-(path.iter().filter(|option| option.oov).count() as f64));
        Way { words, score: self.weights.total(&features), spans, features }
    }

    /// Definitions d.2 and d.3.
    fn distortion(&self, spans: &[Span]) -> f64 {
        let length = self.src.len() as i64;
        let mut free = vec![true; self.src.len()];
        let (mut end, mut cost) = (0, 0);
        for span in spans {
            let (s, t) = (i64::from(span.start), i64::from(span.end));
            let p = free.iter().position(|is| *is).unwrap() as i64;
            cost += match self.settings.distortion {
                Distortion::Distance | Distortion::Foreseen => (s - end).abs(),
                Distortion::Early if s == p => 0,
                Distortion::Early if t < end => 2 * (t - s),
                Distortion::Early if end <= p => 2 * (t - p),
                Distortion::Early => 2 * (t - end),
            };
            free[s as usize..t as usize].fill(false);
            end = t;
        }
        if self.settings.final_jump && self.settings.distortion != Distortion::Early {
            cost += length - end;
        }
        cost as f64
    }

    /// Definitions e.6 and e.7, with the training-time definition of the hierarchical model.
    fn orientation(&self, o: Orientation, path: &[&Option_], spans: &[Span]) -> Vec<f64> {
        let width = if o.classes == Classes::Msd { 3 } else { 4 };
        let mut sums = vec![0.0; width * (usize::from(o.prev) + usize::from(o.next))];
        let mut add = |option: &Option_, is_next: bool, class: usize| {
            let has = if is_next { o.next } else { o.prev };
            if has && !option.orientation.is_empty() {
                let skip = if is_next && o.prev { width } else { 0 };
                let column = skip + class.min(width - 1);
                sums[column] += f64::from(option.orientation[column]);
            }
        };
        for (at, span) in spans.iter().enumerate() {
            let class = if at == 0 {
                if span.start == 0 { 0 } else { 3 }
            } else {
                let most = if o.model == Model::Hierarchical { at } else { 1 };
                let blocks = (1..=most).filter_map(|count| union(&spans[at - count..at]));
                let mut class = if span.start >= spans[at - 1].end { 3 } else { 2 };
                for block in blocks {
                    if block.end == span.start {
                        class = 0;
                    } else if block.start == span.end {
                        class = 1;
                    }
                }
                class
            };
            add(path[at], false, class);
            if at > 0 {
                add(path[at - 1], true, self.next_class(o, &spans[..at], *span));
            }
        }
        if self.settings.final_next
            && let (Some(option), Some(span)) = (path.last(), spans.last())
        {
            add(option, true, if span.end as usize == self.src.len() { 0 } else { 3 });
        }
        sums
    }

    fn next_class(&self, o: Orientation, before: &[Span], new: Span) -> usize {
        let last = *before.last().unwrap();
        let covered = |at: u32| before.iter().any(|span| span.has(at));
        let right = new.start >= last.end;
        let mut between = if right { last.end..new.start } else { new.end..last.start };
        let beside = if right { last.end } else { last.start - 1 };
        let joins = match (o.model, self.settings.next_test) {
            (Model::Phrase | Model::Word, _) => between.is_empty(),
            (Model::Hierarchical, NextTest::Gap) => !between.any(covered),
            (Model::Hierarchical, NextTest::Beside) => between.is_empty() || !covered(beside),
        };
        match (joins, right) {
            (true, true) => 0,
            (true, false) => 1,
            (false, false) => 2,
            (false, true) => 3,
        }
    }
}

/// The aligned word that comes first by the mean of its target positions, else the first word.
fn entry(span: Span, links: &[Link]) -> u32 {
    let mean = |word: u32| {
        let own: Vec<u32> = links.iter().filter(|l| l.src.0 == word).map(|l| l.tgt.0).collect();
        (!own.is_empty()).then(|| f64::from(own.iter().sum::<u32>()) / own.len() as f64)
    };
    let aligned = (0..span.len()).filter_map(|word| Some((mean(word)?, word)));
    let first = aligned.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    span.start + first.map_or(0, |(_, word)| word)
}

/// The spans together, when they are contiguous.
fn union(spans: &[Span]) -> Option<Span> {
    let hull = spans.iter().copied().reduce(Span::hull)?;
    (spans.iter().map(|span| span.len()).sum::<u32>() == hull.len()).then_some(hull)
}

/// Whether an order is made of blocks of neighbours, each of at most `most` items.
fn in_blocks(order: &[usize], most: usize) -> bool {
    let mut from = 0;
    while from < order.len() {
        let whole = |size: &usize| {
            let mut block = order[from..from + size].to_vec();
            block.sort_unstable();
            block.iter().copied().eq(from..from + size)
        };
        match (1..=most.min(order.len() - from)).find(whole) {
            Some(size) => from += size,
            None => return false,
        }
    }
    true
}

/// Whether an order has neither of the patterns 2413 and 3142.
fn is_separable(order: &[usize]) -> bool {
    let n = order.len();
    for a in 0..n {
        for b in a + 1..n {
            for c in b + 1..n {
                for d in c + 1..n {
                    let [w, x, y, z] = [order[a], order[b], order[c], order[d]];
                    if y < w && w < z && z < x || x < z && z < w && w < y {
                        return false;
                    }
                }
            }
        }
    }
    true
}
