//! The decoder: translates sentences with several threads.

use crate::decode::config::DecoderConfig;
use crate::decode::input::request::{OutputOptions, TranslationRequest};
use crate::decode::models::ModelSet;
use crate::decode::output::suggest::{Suggestion, TypedPrefix};
use crate::decode::output::translation::{Translation, TranslationResult};
use crate::decode::settings::SearchSettings;
use crate::decode::worker::{DecoderWorker, WorkerMemory};
use crate::error::{Error, Result};
use crate::feature::{FeatureWeights, Span};
use crate::job::Job;
use crate::parallel;
use std::sync::Mutex;

/// Maximum length of an n-best list, which is kept in memory.
const MAX_NBEST: usize = 100_000;

/// A decoder: a configured system and the memory of its idle workers. Shared by all threads.
pub struct Decoder<'a> {
    config: DecoderConfig<'a>,
    /// Memory of workers that are not in use.
    idle: Mutex<Vec<WorkerMemory>>,
}

impl<'a> Decoder<'a> {
    /// Create a decoder; `weights` must have the names of `ModelSet::weights`.
    pub fn new(
        models: ModelSet<'a>,
        weights: FeatureWeights,
        settings: SearchSettings,
    ) -> Result<Self> {
        let config = DecoderConfig::new(models, weights, settings)?;
        Ok(Decoder { config, idle: Mutex::default() })
    }

    /// Reuse the memory of an equal decoder.
    pub fn with_memory(self, memory: Vec<WorkerMemory>) -> Self {
        Decoder { idle: Mutex::new(memory), ..self }
    }

    /// Return the memory of all idle workers.
    pub fn into_memory(self) -> Vec<WorkerMemory> {
        self.idle.into_inner().unwrap_or_default()
    }

    /// Return the weights, with the names of the features.
    pub fn weights(&self) -> &FeatureWeights {
        &self.config.weights
    }

    /// Return the settings.
    pub fn settings(&self) -> &SearchSettings {
        &self.config.settings
    }

    /// Translate sentences with as many threads as the job allows. The results are in the order of
    /// the sentences and do not depend on the number of threads.
    pub fn translate_all(
        &self,
        requests: &[TranslationRequest<'_>],
        output: OutputOptions,
        job: &Job,
    ) -> Result<Vec<TranslationResult>> {
        if output.nbest > MAX_NBEST {
            return Err(Error::Argument {
                name: "nbest".into(),
                found: output.nbest.to_string(),
                expected: format!("at most {MAX_NBEST}"),
            });
        }
        let translate = |worker: &mut DecoderWorker<'_>, number: usize| {
            let outcome = worker.translate(&requests[number], output, job)?;
            job.advance(1);
            Ok(outcome)
        };
        let (outcomes, workers) =
            parallel::map(requests.len(), 1, job, || self.worker(), translate)?;
        workers.into_iter().for_each(|worker| self.recycle(worker));
        Ok(outcomes)
    }

    /// Complete a typed prefix; see `DecoderWorker::suggest`.
    pub fn suggest(
        &self,
        request: &TranslationRequest<'_>,
        typed: TypedPrefix<'_>,
        job: &Job,
    ) -> Result<Option<Suggestion>> {
        let mut worker = self.worker();
        let suggestion = worker.suggest(request, typed, job)?;
        self.recycle(worker);
        Ok(suggestion)
    }

    /// Score a translation given as phrases; see `DecoderWorker::score`.
    pub fn score(
        &self,
        request: &TranslationRequest<'_>,
        phrases: &[(Span, Vec<&str>)],
    ) -> Result<Option<Translation>> {
        let mut worker = self.worker();
        let translation = worker.score(request, phrases)?;
        self.recycle(worker);
        Ok(translation)
    }

    /// Return a worker for one thread.
    pub fn worker(&self) -> DecoderWorker<'_> {
        let memory = self.idle.lock().ok().and_then(|mut idle| idle.pop());
        DecoderWorker { config: &self.config, memory: memory.unwrap_or_default() }
    }

    /// Keep the memory of a worker for the next one.
    fn recycle(&self, worker: DecoderWorker<'_>) {
        if let Ok(mut idle) = self.idle.lock() {
            idle.push(worker.memory);
        }
    }
}
