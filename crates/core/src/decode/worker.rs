//! A worker: one thread that translates sentence by sentence.
//!
//! In: a request. Out: the best translations, or the score of a given one.
//! How: collect the options of the sentence, prepare the path features, search, and score the
//! result again from the start.
//! Cost: memory is kept between sentences.

use crate::decode::config::DecoderConfig;
use crate::decode::ids::HypId;
use crate::decode::input::markup::Markup;
use crate::decode::input::request::{OutputOptions, TranslationRequest};
use crate::decode::lm::contexts::{LmContextTable, WeightedLms};
use crate::decode::models::FeatureLayout;
use crate::decode::options::cache::OptionCache;
use crate::decode::options::collection::OptionCollection;
use crate::decode::options::collection::WeightedPathScorers;
use crate::decode::options::scoring::ScoringConfig;
use crate::decode::output::derivation::DerivationScorer;
use crate::decode::output::nbest::NbestPaths;
use crate::decode::output::search_graph::search_graph;
use crate::decode::output::suggest::{Suggestion, TypedPrefix, suggest};
use crate::decode::output::translation::{Translation, TranslationResult};
use crate::decode::search::arena::SearchArena;
use crate::decode::search::cube::{self, CubeQueue};
use crate::decode::search::hypothesis::Hypothesis;
use crate::decode::search::sentence_search::{SearchStats, SentenceSearch};
use crate::decode::search::stack;
use crate::decode::settings::SearchAlgorithm;
use crate::error::{Error, Place, Result};
use crate::feature::{OptionId, PathScorer, Span};
use crate::job::Job;
use crate::narrow::to_u32;
use crate::orientation::Model;
use crate::reorder::ReorderingConstraints;
use crate::reorder::distortion::distance;
use crate::reorder::prune::Chooser;
use hashbrown::HashSet;

/// Number of paths examined per entry of an n-best list of distinct translations.
const DISTINCT_EFFORT: usize = 200;

/// Maximum distance of an extension to the best score of its stack, for a largest weight of 1 among
/// the language and translation models. With 14 a few best translations change, with 18 none.
const SLACK: f64 = 16.0;

/// Maximum number of words of a sentence. Memory that grows with the square reaches some hundred
/// MB.
pub const MAX_WORDS: usize = 2000;

/// A worker of a decoder; its memory never changes a result.
pub struct DecoderWorker<'d> {
    pub(super) config: &'d DecoderConfig<'d>,
    pub(super) memory: WorkerMemory,
}

/// Memory of a worker; valid for decoders with equal models, weights and settings.
#[derive(Default)]
pub struct WorkerMemory {
    contexts: LmContextTable,
    option_cache: OptionCache,
    options: OptionCollection,
    arena: SearchArena,
    cube: CubeQueue,
}

impl DecoderWorker<'_> {
    /// Translate a sentence under its markup.
    pub fn translate(
        &mut self,
        request: &TranslationRequest<'_>,
        output: OutputOptions,
        job: &Job,
    ) -> Result<TranslationResult> {
        let DecoderWorker { config, memory } = self;
        let limit = config.settings.options_per_span;
        config.with_options(*request, limit, memory, |prepared| {
            let scorer = config.scorer(
                prepared.src,
                prepared.options,
                prepared.option_cache,
                prepared.paths,
            );
            let keep_arcs = output.nbest > 1 || output.graph || output.stacks > 0;
            let (mut search, cube) = config.search(prepared, keep_arcs, job);
            let last = config.run(&mut search, cube)?;
            let stacks = match output.stacks {
                0 => Vec::new(),
                most => search.stacks(&scorer, last, most),
            };
            let SentenceSearch { arena, mut stats, .. } = search;
            let best = config.list(&scorer, arena, last, output, job)?;
            stats.jumps = jumps(&best[0]);
            let graph = if output.graph { search_graph(&scorer, arena, last) } else { Vec::new() };
            Ok(TranslationResult { best, stats, graph, stacks })
        })
    }

    /// Search, and complete a typed prefix; see `suggest`.
    pub fn suggest(
        &mut self,
        request: &TranslationRequest<'_>,
        typed: TypedPrefix<'_>,
        job: &Job,
    ) -> Result<Option<Suggestion>> {
        let DecoderWorker { config, memory } = self;
        let limit = config.settings.options_per_span;
        config.with_options(*request, limit, memory, |prepared| {
            let scorer = config.scorer(
                prepared.src,
                prepared.options,
                prepared.option_cache,
                prepared.paths,
            );
            let (mut search, cube) = config.search(prepared, true, job);
            let last = config.run(&mut search, cube)?;
            Ok(suggest(&scorer, search.arena, last, typed))
        })
    }

    /// Score a translation given as phrases (source span, target words) in target order. None if
    /// the table lacks a phrase, or the phrases do not cover each word exactly once.
    pub fn score(
        &mut self,
        request: &TranslationRequest<'_>,
        phrases: &[(Span, Vec<&str>)],
    ) -> Result<Option<Translation>> {
        let mut covered = vec![false; request.source.words.len()];
        for position in phrases.iter().flat_map(|(span, _)| span.start..span.end) {
            match covered.get_mut(position as usize) {
                Some(seen) if !*seen => *seen = true,
                _ => return Ok(None),
            }
        }
        if covered.contains(&false) {
            return Ok(None);
        }
        let DecoderWorker { config, memory } = self;
        config.with_options(*request, 0, memory, |prepared| {
            let scorer = config.scorer(
                prepared.src,
                prepared.options,
                prepared.option_cache,
                prepared.paths,
            );
            let find = |(span, words): &(Span, Vec<&str>)| {
                prepared
                    .options
                    .options_of(*span)
                    .find(|&option| scorer.words(option).eq(words.iter().copied()))
            };
            let options: Option<Vec<OptionId>> = phrases.iter().map(find).collect();
            let translation = options.map(|options| scorer.translation(&options));
            translation.iter().try_for_each(|translation| check_score(translation.score))?;
            Ok(translation)
        })
    }
}

impl DecoderConfig<'_> {
    /// Collect the options of a sentence, at most `limit` per span, and call `run` with them.
    fn with_options<T>(
        &self,
        request: TranslationRequest<'_>,
        limit: usize,
        memory: &mut WorkerMemory,
        run: impl FnOnce(PreparedSentence<'_>) -> Result<T>,
    ) -> Result<T> {
        let TranslationRequest { source, markup } = request;
        let src = source.words;
        if src.len() > MAX_WORDS {
            return Err(Error::Limit {
                place: Place { file: "sentence".into(), line: None },
                found: format!("{} words", src.len()),
                limit: format!("{MAX_WORDS} words a sentence; split it"),
            });
        }
        let WorkerMemory { contexts, option_cache, options, arena, cube } = memory;
        let values = self.weights.values();
        let lms = WeightedLms::new(&self.models.lms, &values[self.layout.lm.clone()]);
        let DecoderConfig { models, layout, settings, .. } = self;
        let scoring =
            ScoringConfig { models, layout, weights: values, lms, oov: settings.oov, limit };
        option_cache.start_sentence(contexts, limit);
        options.find(option_cache, contexts, &scoring, src, markup)?;
        let mut paths = Vec::new();
        if !self.models.paths.is_empty() {
            let phrases = options.alignments(option_cache);
            for path in &self.models.paths {
                paths.push(path.prepare(&source, &phrases)?);
            }
        }
        let seated = WeightedPathScorers { scorers: &paths, weights: &values[layout.path.clone()] };
        options.rank(option_cache, seated, self.pruning.is_some());
        let (scoring, paths) = (&scoring, &paths[..]);
        let constraints =
            markup.map(Markup::constraints).filter(|constraints| !constraints.is_empty());
        run(PreparedSentence {
            src,
            constraints,
            scoring,
            paths,
            options,
            option_cache,
            contexts,
            arena,
            cube,
        })
    }

    /// Run the search; return the complete hypothesis. A score that is not finite is an error,
    /// because the search cannot compare it.
    fn run(&self, search: &mut SentenceSearch<'_>, cube: &mut CubeQueue) -> Result<HypId> {
        search.start();
        let last = match self.settings.search {
            SearchAlgorithm::Cube => cube::run(search, cube)?,
            SearchAlgorithm::Stack => stack::run(search)?,
        };
        let Hypothesis { score, option, .. } = search.arena.hyps.get(last);
        let is_complete = *option != OptionId::NONE || search.length == 0;
        check_score(if is_complete { *score } else { f64::NAN })?;
        Ok(last)
    }

    /// Return a search on a sentence, and the memory of its queue.
    fn search<'s>(
        &'s self,
        prepared: PreparedSentence<'s>,
        keep_arcs: bool,
        job: &'s Job,
    ) -> (SentenceSearch<'s>, &'s mut CubeQueue) {
        let orientation = self.models.orientation;
        let hier = orientation.is_some_and(|o| o.model == Model::Hierarchical);
        let values = self.weights.values();
        let search = SentenceSearch {
            settings: &self.settings,
            models: &self.models,
            scoring: prepared.scoring,
            options: prepared.options,
            constraints: prepared.constraints,
            option_cache: prepared.option_cache,
            contexts: prepared.contexts,
            arena: prepared.arena,
            paths: prepared.paths,
            stats: SearchStats::default(),
            job,
            length: to_u32(prepared.src.len()),
            keep_arcs,
            slack: self.slack(),
            jump_weight: values[self.layout.d],
            path_weights: &values[self.layout.path.clone()],
            keeps_blocks: self.settings.space.needs_blocks()
                || hier && orientation.is_some_and(|o| o.prev),
            keeps_start: orientation.is_some_and(|o| o.next || !hier),
            pruning: self.pruning.map(|(place, rules)| (place, Chooser::new(rules))),
        };
        (search, prepared.cube)
    }

    /// Return the maximum distance of an extension to the best score of its stack.
    fn slack(&self) -> f64 {
        if self.settings.pop_limit == 0 {
            return f64::INFINITY;
        }
        let values = self.weights.values();
        let FeatureLayout { lm, tm, .. } = &self.layout;
        let weights = values[lm.clone()].iter().chain(&values[tm.clone()]);
        SLACK * weights.fold(0.0, |most: f64, weight| most.max(weight.abs()))
    }

    fn scorer<'s>(
        &'s self,
        src: &'s [&'s str],
        options: &'s OptionCollection,
        option_cache: &'s OptionCache,
        paths: &'s [Box<dyn PathScorer + 's>],
    ) -> DerivationScorer<'s> {
        DerivationScorer {
            models: &self.models,
            layout: &self.layout,
            weights: &self.weights,
            settings: &self.settings,
            src,
            options,
            option_cache,
            paths,
        }
    }

    fn list(
        &self,
        scorer: &DerivationScorer<'_>,
        arena: &SearchArena,
        last: HypId,
        output: OutputOptions,
        job: &Job,
    ) -> Result<Vec<Translation>> {
        if scorer.src.is_empty() {
            let features = vec![0.0; self.layout.len()];
            return Ok(vec![Translation { features, ..Translation::default() }]);
        }
        let count = output.nbest.max(1);
        let effort = if output.distinct { count.saturating_mul(DISTINCT_EFFORT) } else { count };
        let mut seen: HashSet<Vec<String>, rustc_hash::FxBuildHasher> = HashSet::default();
        let mut best = Vec::new();
        for path in NbestPaths::new(arena.hyps.all(), last).take(effort) {
            job.check()?;
            let translation = scorer.translation(&path);
            check_score(translation.score)?;
            if !output.distinct || seen.insert(translation.words.clone()) {
                best.push(translation);
            }
            if best.len() == count {
                break;
            }
        }
        Ok(best)
    }
}

/// A sentence with its options, and the memory of the search.
struct PreparedSentence<'a> {
    src: &'a [&'a str],
    constraints: Option<&'a ReorderingConstraints>,
    scoring: &'a ScoringConfig<'a>,
    paths: &'a [Box<dyn PathScorer + 'a>],
    options: &'a OptionCollection,
    option_cache: &'a OptionCache,
    contexts: &'a mut LmContextTable,
    arena: &'a mut SearchArena,
    cube: &'a mut CubeQueue,
}

/// Return an error unless a total score is finite.
fn check_score(score: f64) -> Result<()> {
    if score.is_finite() {
        return Ok(());
    }
    Err(Error::Argument {
        name: "weights and models".into(),
        found: format!("a translation with score {score}"),
        expected: "finite scores; try smaller weights, or look for infinite values in the models"
            .into(),
    })
}

/// Count the phrases of a translation by their distance from the phrase before.
fn jumps(translation: &Translation) -> Vec<u32> {
    let mut counts = Vec::new();
    let mut end = 0;
    for step in &translation.steps {
        let jump = distance(end, step.src.start) as usize;
        if counts.len() <= jump {
            counts.resize(jump + 1, 0);
        }
        counts[jump] += 1;
        end = step.src.end;
    }
    counts
}
