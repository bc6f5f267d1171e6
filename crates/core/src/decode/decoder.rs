//! A system ready to translate, and how threads share its work.

use crate::decode::config::DecoderConfig;
use crate::decode::input::request::{Request, Wanted};
use crate::decode::models::Models;
use crate::decode::output::suggest::{Suggestion, TypedPrefix};
use crate::decode::output::translation::{Translation, TranslationResult};
use crate::decode::settings::Settings;
use crate::decode::worker::{Memory, Worker};
use crate::error::{Error, Result};
use crate::feature::{Span, Weights};
use crate::job::Job;
use crate::parallel;
use std::sync::Mutex;

/// Longest list of translations of a sentence, which is kept in memory.
const MAX_NBEST: usize = 100_000;

/// A decoder: a configured system and the memory of its idle workers. Shared by all threads.
pub struct Decoder<'a> {
    config: DecoderConfig<'a>,
    /// Memory of workers that are not in use.
    idle: Mutex<Vec<Memory>>,
}

impl<'a> Decoder<'a> {
    /// Create a decoder; `weights` must have the names of `Models::weights`.
    pub fn new(models: Models<'a>, weights: Weights, settings: Settings) -> Result<Self> {
        let config = DecoderConfig::new(models, weights, settings)?;
        Ok(Decoder { config, idle: Mutex::default() })
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
        &self.config.weights
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.config.settings
    }

    /// Translates many sentences with as many threads as the job allows; results come in the
    /// order of the sentences and do not depend on the number of threads.
    pub fn translate_all(
        &self,
        requests: &[Request<'_>],
        wanted: Wanted,
        job: &Job,
    ) -> Result<Vec<TranslationResult>> {
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
        typed: TypedPrefix<'_>,
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
        Worker { config: &self.config, memory: memory.unwrap_or_default() }
    }

    /// Keeps what a worker remembers for the next one.
    fn rest(&self, worker: Worker<'_>) {
        if let Ok(mut idle) = self.idle.lock() {
            idle.push(worker.memory);
        }
    }
}
