//! One running task, seen from the outside: stop it, watch it.
//!
//! In: a long loop that calls `check` and `advance` about once per block of work.
//! Out: `Error::Interrupted` soon after somebody called `stop`; counters for a progress bar.
//! Cost: one relaxed atomic operation a call, so call it per block and not per word.

use crate::error::{Error, Result};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Cancellation, progress and thread count of one task, shared by its threads.
#[derive(Debug)]
pub struct Job {
    threads: usize,
    stopped: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
}

impl Default for Job {
    fn default() -> Self {
        Job::new(1)
    }
}

impl Job {
    /// A job that may use this many threads; 0 means all there are.
    pub fn new(threads: usize) -> Self {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        Job {
            threads: if threads == 0 { all() } else { threads },
            stopped: AtomicBool::new(false),
            done: AtomicU64::new(0),
            total: AtomicU64::new(0),
        }
    }

    /// How many threads the job may use, at least 1.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Asks the job to stop at its next `check`.
    pub fn stop(&self) {
        self.stopped.store(true, Relaxed);
    }

    /// Fails with `Error::Interrupted` once `stop` was called.
    pub fn check(&self) -> Result<()> {
        if self.stopped.load(Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Starts a new bar of `total` units; 0 when the size is not known.
    pub fn begin(&self, total: u64) {
        self.done.store(0, Relaxed);
        self.total.store(total, Relaxed);
    }

    /// Counts `units` of work as done.
    pub fn advance(&self, units: u64) {
        self.done.fetch_add(units, Relaxed);
    }

    /// Units done, and units in all (0: not known).
    pub fn progress(&self) -> (u64, u64) {
        (self.done.load(Relaxed), self.total.load(Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stopped_job_fails_its_next_check() {
        let job = Job::new(2);
        assert!(job.check().is_ok());
        job.stop();
        assert!(matches!(job.check(), Err(Error::Interrupted)));
    }

    #[test]
    fn zero_threads_means_all_of_them() {
        assert!(Job::new(0).threads() >= 1);
    }
}
