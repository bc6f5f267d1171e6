//! A system ready to translate, and how threads share its work.

use super::model::{Layout, Models};
use super::request::{Request, Wanted};
use super::settings::Settings;
use super::suggest::{Suggestion, Typed};
use super::translation::{Outcome, Translation};
use super::worker::{Memory, Worker};
use crate::error::{Error, Result};
use crate::feature::{Span, Weights};
use crate::job::Job;
use crate::parallel;
use crate::reorder::{Prune, Pruning, Shaped};
use std::sync::Mutex;

/// Longest list of translations of a sentence, which is kept in memory.
const MAX_NBEST: usize = 100_000;

/// A system ready to translate: models, weights, settings. Shared by all threads.
pub struct Decoder<'a> {
    pub(super) models: Models<'a>,
    pub(super) layout: Layout,
    pub(super) weights: Weights,
    pub(super) settings: Settings,
    /// The place of the path feature that the search is pruned by, and how much is pruned.
    pub(super) pruning: Option<(usize, Prune)>,
    /// What threads learned in earlier calls.
    idle: Mutex<Vec<Memory>>,
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
        let pruning = match &settings.pruning {
            Some(pruning) => Some((pruned_by(&models, &settings, pruning)?, pruning.rules)),
            None => None,
        };
        let layout = models.layout();
        Ok(Decoder { models, layout, weights, settings, pruning, idle: Mutex::default() })
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
        requests: &[Request<'_>],
        wanted: Wanted,
        job: &Job,
    ) -> Result<Vec<Outcome>> {
        if wanted.nbest > MAX_NBEST {
            return Err(Error::Argument {
                name: "nbest".into(),
                found: wanted.nbest.to_string(),
                expected: format!("at most {MAX_NBEST}"),
            });
        }
        let translate = |worker: &mut Worker<'_>, number: usize| {
            let outcome = worker.translate(&requests[number], wanted, job)?;
            job.advance(1);
            Ok(outcome)
        };
        let (outcomes, workers) =
            parallel::map(requests.len(), 1, job, || self.worker(), translate)?;
        workers.into_iter().for_each(|worker| self.rest(worker));
        Ok(outcomes)
    }

    /// Goes on from what a user has typed; see `Worker::suggest`.
    pub fn suggest(
        &self,
        request: &Request<'_>,
        typed: Typed<'_>,
        job: &Job,
    ) -> Result<Option<Suggestion>> {
        let mut worker = self.worker();
        let suggestion = worker.suggest(request, typed, job)?;
        self.rest(worker);
        Ok(suggestion)
    }

    /// Scores a translation given as phrases; see `Worker::score`.
    pub fn score(
        &self,
        request: &Request<'_>,
        phrases: &[(Span, Vec<&str>)],
    ) -> Result<Option<Translation>> {
        let mut worker = self.worker();
        let translation = worker.score(request, phrases)?;
        self.rest(worker);
        Ok(translation)
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
}

/// The place of the path feature that a search is to be pruned by.
fn pruned_by(models: &Models<'_>, settings: &Settings, pruning: &Pruning) -> Result<usize> {
    let named = |name: &str| models.paths.iter().position(|path| path.name() == name);
    if let Some(place) = named(&pruning.feature).filter(|&place| models.paths[place].rates()) {
        return Ok(place);
    }
    let space = settings.space;
    let names = models.paths.iter().filter(|path| path.rates()).map(|path| path.name());
    let expected = match names.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => format!("a system with one, or `{space}`"),
        names => format!("one of {names}, or `{space}`"),
    };
    let shaped = Shaped { space, pruning: Some(pruning.clone()) };
    Err(Error::Argument {
        name: "space".into(),
        found: format!("`{shaped}`, but no feature `{}` that rates words", pruning.feature),
        expected,
    })
}
