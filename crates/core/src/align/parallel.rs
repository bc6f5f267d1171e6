//! Runs work over blocks of sentences on several threads.
//!
//! In: a number of items and a function of (worker, range). Out: the workers, whose integer sums
//! the caller adds up.
//! How: threads take fixed blocks from a shared counter; which thread takes which block must not
//! matter to the result.
//! Cost: one atomic step per block.
//! Not: ordered results; the function writes into its own places or into sums that commute.

use crate::error::Result;
use crate::job::Job;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Sentences per block: long enough to hide the counter, short enough to stop soon after a cancel.
const BLOCK: usize = 256;

/// Applies `work` to all blocks of `0..items`; every thread has a worker made by `Default`.
pub fn for_each_block<W, F>(items: usize, job: &Job, work: F) -> Result<Vec<W>>
where
    W: Default + Send,
    F: Fn(&mut W, Range<usize>) + Sync,
{
    for_each_block_of(BLOCK, items, job, |worker, block| {
        work(worker, block);
        Ok(())
    })
}

/// The same with blocks of another size, and work that may fail; the first failure ends it.
pub fn for_each_block_of<W, F>(size: usize, items: usize, job: &Job, work: F) -> Result<Vec<W>>
where
    W: Default + Send,
    F: Fn(&mut W, Range<usize>) -> Result<()> + Sync,
{
    let next = AtomicUsize::new(0);
    let run = || {
        let mut worker = W::default();
        loop {
            let start = next.fetch_add(size, Relaxed);
            if start >= items {
                return Ok(worker);
            }
            job.check()?;
            let block = start..(start + size).min(items);
            let done = block.len() as u64;
            work(&mut worker, block)?;
            job.advance(done);
        }
    };
    let threads = job.threads().clamp(1, items.div_ceil(size).max(1));
    if threads == 1 {
        return run().map(|worker| vec![worker]);
    }
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        handles
            .into_iter()
            .map(|handle| handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}
