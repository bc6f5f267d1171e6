//! Shares items between threads and keeps their order.
//!
//! In: a number of items, a function of an item and a thread's own memory. Out: its values, in the
//! order of the items, whatever the number of threads.
//! Cost: one atomic step per block.

use crate::error::Result;
use crate::job::Job;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Applies `work` to each of `0..items`; every thread has a worker made by `Default`.
pub fn in_order<W, T, F>(items: usize, block: usize, job: &Job, work: F) -> Result<Vec<T>>
where
    W: Default,
    T: Send,
    F: Fn(usize, &mut W) -> T + Sync,
{
    let next = AtomicUsize::new(0);
    let run = || {
        let mut worker = W::default();
        let mut blocks = Vec::new();
        loop {
            let number = next.fetch_add(1, Relaxed);
            let start = number.saturating_mul(block);
            if start >= items {
                return Ok(blocks);
            }
            job.check()?;
            let end = (start + block).min(items);
            let values: Vec<T> = (start..end).map(|item| work(item, &mut worker)).collect();
            blocks.push((number, values));
        }
    };
    let threads = job.threads().clamp(1, items.div_ceil(block).max(1));
    let mut blocks = if threads == 1 {
        run()?
    } else {
        std::thread::scope(|scope| {
            let handles: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
            let done: Result<Vec<Vec<_>>> = handles
                .into_iter()
                .map(|handle| {
                    handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                })
                .collect();
            done.map(|lists| lists.into_iter().flatten().collect::<Vec<_>>())
        })?
    };
    blocks.sort_unstable_by_key(|(number, _)| *number);
    Ok(blocks.into_iter().flat_map(|(_, values)| values).collect())
}
