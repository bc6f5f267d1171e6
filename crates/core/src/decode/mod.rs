//! Search: the best translation of a sentence under all models.
//!
//! In: source words, models behind the traits of `feature`, weights and settings.
//! Out: the n best translations with the exact value of each feature, traces, statistics and the
//! search graph. How: phrases are put down from left to right in the target while a coverage
//! keeps track of the source (Koehn, Och and Marcu, 2003); cube pruning by default.
//! Cost: about `pop_limit` hypotheses a source word; memory is kept in a worker per thread.
//! Not: any concrete model; reading or writing files.

mod choosing;
mod context;
mod covers;
mod cube;
mod future;
mod graph;
mod group;
mod hyp;
mod markup;
mod model;
mod nbest;
mod options;
mod paths;
mod pricing;
mod replay;
mod search;
mod settings;
mod stack;
mod states;
mod stock;
mod translation;

pub use markup::{Given, Marked, Markup, MarkupMode};
pub use model::{Layout, Models};
pub use settings::{Oov, Search, Settings};
pub use translation::{GraphArc, Outcome, Statistics, Step, Translation, Wanted};

use crate::corpus::word_of;
use crate::error::{Error, Result};
use crate::feature::{PathScorer, Source, Span, Weights};
use crate::job::Job;
use crate::orientation::Model;
use crate::reorder::Fences;
use crate::reorder::distortion::distance;
use context::{Contexts, Weighted};
use cube::Cube;
use graph::graph;
use hashbrown::HashSet;
use hyp::HypId;
use nbest::Paths;
use options::Options;
use paths::Seated;
use pricing::Pricing;
use replay::Replay;
use search::{Arena, Searcher};
use std::borrow::Cow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use stock::Stock;

/// Paths looked at for each place in a list of distinct translations.
const DISTINCT_EFFORT: usize = 200;

/// A system ready to translate: models, weights, settings. Shared by all threads.
pub struct Decoder<'a> {
    models: Models<'a>,
    layout: Layout,
    weights: Weights,
    settings: Settings,
    /// What threads learned in earlier calls.
    idle: Mutex<Vec<Memory>>,
}

/// One thread at work; it remembers much from sentence to sentence, but nothing that would change
/// a result.
pub struct Worker<'d> {
    decoder: &'d Decoder<'d>,
    memory: Memory,
}

/// What one thread remembers; it fits decoders of equal models, weights and settings only.
#[derive(Default)]
pub struct Memory {
    contexts: Contexts,
    stock: Stock,
    options: Options,
    arena: Arena,
    cube: Cube,
}

impl<'a> Decoder<'a> {
    /// A decoder with these models; `weights` must have the names of `Models::weights`.
    pub fn new(models: Models<'a>, weights: Weights, settings: Settings) -> Result<Self> {
        settings.check()?;
        let expected = models.weights()?;
        if weights.names() != expected.names() {
            return Err(Error::Argument {
                name: "weights".into(),
                found: weights.names().join(", "),
                expected: expected.names().join(", "),
            });
        }
        let layout = models.layout();
        Ok(Decoder { models, layout, weights, settings, idle: Mutex::default() })
    }

    /// Starts from what an equal decoder has remembered.
    pub fn remember(self, memory: Vec<Memory>) -> Self {
        Decoder { idle: Mutex::new(memory), ..self }
    }

    /// What the threads of all calls so far remember.
    pub fn into_memory(self) -> Vec<Memory> {
        self.idle.into_inner().unwrap_or_default()
    }

    /// The weights, with the names of the features.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Translates many sentences with as many threads as the job allows; results come in the
    /// order of the sentences and do not depend on the number of threads.
    pub fn translate_all(
        &self,
        sentences: &[Vec<&str>],
        wanted: Wanted,
        job: &Job,
    ) -> Result<Vec<Outcome>> {
        let translate = |worker: &mut Worker<'_>, number: usize, tokens: &Vec<&str>| {
            worker.search(Asked { number, tokens, markup: None }, wanted, job)
        };
        self.all(sentences, translate, job)
    }

    /// The same for sentences with markup.
    pub fn translate_all_marked(
        &self,
        sentences: &[Marked],
        wanted: Wanted,
        job: &Job,
    ) -> Result<Vec<Outcome>> {
        let translate = |worker: &mut Worker<'_>, number: usize, sentence: &Marked| {
            worker.translate_marked_of(number, sentence, wanted, job)
        };
        self.all(sentences, translate, job)
    }

    fn all<S: Sync>(
        &self,
        sentences: &[S],
        translate: impl Fn(&mut Worker<'_>, usize, &S) -> Result<Outcome> + Sync,
        job: &Job,
    ) -> Result<Vec<Outcome>> {
        let next = AtomicUsize::new(0);
        let results: Mutex<Vec<Option<Result<Outcome>>>> =
            Mutex::new(sentences.iter().map(|_| None).collect());
        let work = || {
            let mut worker = self.worker();
            loop {
                let number = next.fetch_add(1, Relaxed);
                let Some(sentence) = sentences.get(number) else { break self.rest(worker) };
                let outcome = translate(&mut worker, number, sentence);
                let failed = outcome.is_err();
                if let Ok(mut results) = results.lock() {
                    results[number] = Some(outcome);
                }
                if failed {
                    break;
                }
                job.advance(1);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..job.threads().min(sentences.len()) {
                scope.spawn(work);
            }
            work();
        });
        let results = results.into_inner().map_err(|_| Error::Interrupted)?;
        results.into_iter().map(|result| result.unwrap_or(Err(Error::Interrupted))).collect()
    }

    /// Scores a translation given as phrases; see `Worker::score`.
    pub fn score(
        &self,
        src: &[&str],
        phrases: &[(Span, Vec<&str>)],
    ) -> Result<Option<Translation>> {
        let mut worker = self.worker();
        let found = worker.score(src, phrases)?;
        self.rest(worker);
        Ok(found)
    }

    /// A worker for one thread.
    pub fn worker(&self) -> Worker<'_> {
        let memory = self.idle.lock().ok().and_then(|mut idle| idle.pop());
        Worker { decoder: self, memory: memory.unwrap_or_default() }
    }

    /// Keeps what a worker remembers for the next one.
    fn rest(&self, worker: Worker<'_>) {
        if let Ok(mut idle) = self.idle.lock() {
            idle.push(worker.memory);
        }
    }

    /// Finds the options of a sentence, up to `limit` a span, and hands them to `run`.
    fn with_options<T>(
        &self,
        asked: Asked<'_>,
        limit: usize,
        memory: &mut Memory,
        run: impl FnOnce(Scene<'_>) -> Result<T>,
    ) -> Result<T> {
        let Asked { number, tokens, markup } = asked;
        let factored = self.models.paths.iter().any(|path| path.reads_factors());
        let texts: Vec<Cow<'_, str>> =
            if factored { tokens.iter().map(|token| word_of(token)).collect() } else { Vec::new() };
        let words: Vec<&str> = texts.iter().map(|text| &**text).collect();
        let src = if factored { &words } else { tokens };
        let Memory { contexts, stock, options, arena, cube } = memory;
        let values = self.weights.values();
        let lms = Weighted { lms: &self.models.lms, weights: &values[self.layout.lm.clone()] };
        let Decoder { models, layout, settings, .. } = self;
        let pricing = Pricing { models, layout, weights: values, lms, oov: settings.oov, limit };
        stock.make_room(contexts, limit);
        options.find(stock, contexts, &pricing, src, markup)?;
        let mut paths = Vec::new();
        if !self.models.paths.is_empty() {
            let phrases = options.phrases(stock);
            let source = Source { words: src, tokens, number };
            for path in &self.models.paths {
                paths.push(path.sentence(&source, &phrases)?);
            }
        }
        let seated = Seated { scorers: &paths, weights: &values[layout.path.clone()] };
        options.rank(stock, seated, self.narrower().is_some());
        let (pricing, paths) = (&pricing, &paths[..]);
        let fences = markup.map(Markup::fences).filter(|fences| !fences.is_empty());
        run(Scene { src, fences, pricing, paths, options, stock, contexts, arena, cube })
    }

    /// The path feature that narrows down what comes next.
    fn narrower(&self) -> Option<usize> {
        self.models.paths.iter().position(|path| path.narrows())
    }

    /// A search on a sentence, and the memory of its queue.
    fn searcher<'s>(
        &'s self,
        scene: Scene<'s>,
        keep_arcs: bool,
        job: &'s Job,
    ) -> (Searcher<'s>, &'s mut Cube) {
        let orientation = self.models.orientation;
        let hier = orientation.is_some_and(|o| o.model == Model::Hierarchical);
        let values = self.weights.values();
        let searcher = Searcher {
            settings: &self.settings,
            models: &self.models,
            pricing: scene.pricing,
            options: scene.options,
            fences: scene.fences,
            stock: scene.stock,
            contexts: scene.contexts,
            arena: scene.arena,
            paths: scene.paths,
            stats: Statistics::default(),
            job,
            length: scene.src.len() as u32,
            keep_arcs,
            jump_weight: values[self.layout.d],
            path_weights: &values[self.layout.path.clone()],
            keeps_blocks: self.settings.space.needs_blocks()
                || hier && orientation.is_some_and(|o| o.prev),
            keeps_start: orientation.is_some_and(|o| o.next || !hier),
            narrower: self.narrower(),
        };
        (searcher, scene.cube)
    }

    fn replay<'s>(
        &'s self,
        src: &'s [&'s str],
        options: &'s Options,
        stock: &'s Stock,
        paths: &'s [Box<dyn PathScorer + 's>],
    ) -> Replay<'s> {
        Replay {
            models: &self.models,
            layout: &self.layout,
            weights: &self.weights,
            settings: &self.settings,
            src,
            options,
            stock,
            paths,
        }
    }

    fn list(
        &self,
        replay: &Replay<'_>,
        arena: &Arena,
        last: HypId,
        wanted: Wanted,
    ) -> Vec<Translation> {
        if replay.src.is_empty() {
            let features = vec![0.0; self.layout.len()];
            let (words, steps, links) = (Vec::new(), Vec::new(), Vec::new());
            return vec![Translation { words, score: 0.0, features, steps, links }];
        }
        let count = wanted.nbest.max(1);
        let paths = Paths::new(arena.hyps.all(), last);
        if !wanted.distinct {
            return paths.take(count).map(|path| replay.translation(&path)).collect();
        }
        let mut seen: HashSet<Vec<String>, rustc_hash::FxBuildHasher> = HashSet::default();
        paths
            .take(count.saturating_mul(DISTINCT_EFFORT))
            .map(|path| replay.translation(&path))
            .filter(|translation| seen.insert(translation.words.clone()))
            .take(count)
            .collect()
    }
}

impl Worker<'_> {
    /// Translates one sentence.
    pub fn translate(&mut self, src: &[&str], wanted: Wanted, job: &Job) -> Result<Outcome> {
        self.search(Asked { number: 0, tokens: src, markup: None }, wanted, job)
    }

    /// Translates one sentence as its markup demands.
    pub fn translate_marked(
        &mut self,
        sentence: &Marked,
        wanted: Wanted,
        job: &Job,
    ) -> Result<Outcome> {
        self.translate_marked_of(0, sentence, wanted, job)
    }

    fn translate_marked_of(
        &mut self,
        number: usize,
        sentence: &Marked,
        wanted: Wanted,
        job: &Job,
    ) -> Result<Outcome> {
        let tokens: Vec<&str> = sentence.words().iter().map(String::as_str).collect();
        let markup = Some(sentence.markup());
        self.search(Asked { number, tokens: &tokens, markup }, wanted, job)
    }

    fn search(&mut self, asked: Asked<'_>, wanted: Wanted, job: &Job) -> Result<Outcome> {
        let Worker { decoder, memory } = self;
        let settings = &decoder.settings;
        decoder.with_options(asked, settings.options_per_span, memory, |scene| {
            let replay = decoder.replay(scene.src, scene.options, scene.stock, scene.paths);
            let keep_arcs = wanted.nbest > 1 || wanted.graph;
            let (mut searcher, cube) = decoder.searcher(scene, keep_arcs, job);
            searcher.start();
            let last = match settings.search {
                Search::Cube => cube::run(&mut searcher, cube)?,
                Search::Stack => stack::run(&mut searcher)?,
            };
            let Searcher { arena, mut stats, .. } = searcher;
            let best = decoder.list(&replay, arena, last, wanted);
            stats.jumps = jumps(&best[0]);
            let graph = if wanted.graph { graph(&replay, arena, last) } else { Vec::new() };
            Ok(Outcome { best, stats, graph })
        })
    }

    /// Scores a translation given as phrases, source span and target words in target order.
    /// None when the table has no such phrase, or the phrases do not cover each word once.
    pub fn score(
        &mut self,
        src: &[&str],
        phrases: &[(Span, Vec<&str>)],
    ) -> Result<Option<Translation>> {
        let mut covered = vec![false; src.len()];
        for position in phrases.iter().flat_map(|(span, _)| span.start..span.end) {
            match covered.get_mut(position as usize) {
                Some(seen) if !*seen => *seen = true,
                _ => return Ok(None),
            }
        }
        if covered.contains(&false) {
            return Ok(None);
        }
        let Worker { decoder, memory } = self;
        let asked = Asked { number: 0, tokens: src, markup: None };
        decoder.with_options(asked, 0, memory, |scene| {
            let replay = decoder.replay(scene.src, scene.options, scene.stock, scene.paths);
            let find = |(span, words): &(Span, Vec<&str>)| {
                scene
                    .options
                    .choices_of(*span)
                    .find(|&choice| replay.words(choice).eq(words.iter().copied()))
            };
            let choices: Option<Vec<u32>> = phrases.iter().map(find).collect();
            Ok(choices.map(|choices| replay.translation(&choices)))
        })
    }
}

/// A sentence to be translated.
#[derive(Clone, Copy)]
struct Asked<'a> {
    /// Its place among the sentences given together.
    number: usize,
    /// Words, with factors where path features read them.
    tokens: &'a [&'a str],
    markup: Option<&'a Markup>,
}

/// A sentence whose options are found, and the memory to search in.
struct Scene<'a> {
    src: &'a [&'a str],
    fences: Option<&'a Fences>,
    pricing: &'a Pricing<'a>,
    paths: &'a [Box<dyn PathScorer + 'a>],
    options: &'a Options,
    stock: &'a Stock,
    contexts: &'a mut Contexts,
    arena: &'a mut Arena,
    cube: &'a mut Cube,
}

/// How many phrases of a translation stand how far from the one before.
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
