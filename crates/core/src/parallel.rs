//! Shares work between the threads of a job; what comes out does not depend on their number.
//!
//! In: a number of items, a maker of workers (a thread's own memory), and a function of a worker
//! and an item or a block of items. Out: the values in the order of the items (`map`), or the
//! workers, whose sums the caller adds up (`for_each_block`: sums must commute exactly, so they
//! are integers, or the worker keeps them by block).
//! How: threads take blocks from a shared counter, in order. After a failure no new block is
//! begun; as those before it were begun earlier and end as they would have, the error that is
//! returned is that of the first item that fails, whatever the number of threads.
//! Cost: one atomic step a block; with one thread or one block nothing is started.
//! Not: nested use, which would start threads in threads.

use crate::error::{Error, Result};
use crate::job::Job;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread;

/// A block of sentences: long enough to hide the counter, short enough to stop soon after a cancel.
pub const BLOCK: usize = 256;

/// Applies `work` to all blocks of `size` items of `0..items`; the workers, one a thread. Items are
/// counted as done at the job.
pub fn for_each_block<W: Send>(
    items: usize,
    size: usize,
    job: &Job,
    make: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, Range<usize>) -> Result<()> + Sync,
) -> Result<Vec<W>> {
    run(items, size, job, make, |worker, block| {
        let done = block.len() as u64;
        work(worker, block)?;
        job.advance(done);
        Ok(())
    })
}

/// Applies `work` to each of `0..items`, `size` of them at a time; its values in the order of the
/// items, and the workers. What is done is counted by `work` itself, in units of its own.
pub fn map<W: Send, T: Send>(
    items: usize,
    size: usize,
    job: &Job,
    make: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, usize) -> Result<T> + Sync,
) -> Result<(Vec<T>, Vec<W>)> {
    let make = || (make(), Vec::new());
    let threads = run(items, size, job, make, |(worker, blocks), block| {
        let start = block.start;
        let values: Vec<T> = block.map(|item| work(worker, item)).collect::<Result<_>>()?;
        blocks.push((start, values));
        Ok(())
    })?;
    let (mut workers, mut blocks) = (Vec::new(), Vec::new());
    for (worker, of_thread) in threads {
        workers.push(worker);
        blocks.extend(of_thread);
    }
    blocks.sort_unstable_by_key(|(start, _)| *start);
    Ok((blocks.into_iter().flat_map(|(_, values)| values).collect(), workers))
}

/// Applies `work` to each of the pieces, which it may change or take apart; its values in their order.
pub fn each<P: Send, T: Send>(
    pieces: Vec<P>,
    job: &Job,
    work: impl Fn(P) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let pieces: Vec<_> = pieces.into_iter().map(|piece| Mutex::new(Some(piece))).collect();
    let work = |(): &mut (), number: usize| {
        let piece = pieces[number].lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        piece.map(&work).transpose()
    };
    let (values, _) = map(pieces.len(), 1, job, || (), work)?;
    Ok(values.into_iter().flatten().collect())
}

/// The first failure by item, and whether there is one.
#[derive(Default)]
struct Failure {
    is_there: AtomicBool,
    first: Mutex<Option<(usize, Error)>>,
}

impl Failure {
    fn record(&self, item: usize, error: Error) {
        self.is_there.store(true, Relaxed);
        let mut first = self.first.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if first.as_ref().is_none_or(|(known, _)| item < *known) {
            *first = Some((item, error));
        }
    }
}

fn run<W: Send>(
    items: usize,
    size: usize,
    job: &Job,
    make: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, Range<usize>) -> Result<()> + Sync,
) -> Result<Vec<W>> {
    let size = size.max(1);
    let next = AtomicUsize::new(0);
    let failure = Failure::default();
    let thread = || {
        let mut worker = make();
        while !failure.is_there.load(Relaxed) {
            let start = next.fetch_add(1, Relaxed).saturating_mul(size);
            if start >= items {
                break;
            }
            let block = start..start.saturating_add(size).min(items);
            if let Err(error) = job.check().and_then(|()| work(&mut worker, block)) {
                failure.record(start, error);
            }
        }
        worker
    };
    let threads = job.threads().clamp(1, items.div_ceil(size).max(1));
    let workers = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(thread)).collect();
        let mut workers = vec![thread()];
        let join = |other: thread::ScopedJoinHandle<'_, W>| {
            other.join().unwrap_or_else(|panic| resume_unwind(panic))
        };
        workers.extend(others.into_iter().map(join));
        workers
    });
    match failure.first.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
        Some((_, error)) => Err(error),
        None => Ok(workers),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wrong(item: usize) -> Error {
        let (found, expected) = (item.to_string(), "another".into());
        Error::Argument { name: "item".into(), found, expected }
    }

    proptest! {
        #[test]
        fn values_come_in_order_from_any_number_of_threads(
            items in 0_usize..300, size in 0_usize..20, threads in 1_usize..6,
        ) {
            let job = Job::new(threads);
            let square = |seen: &mut u64, item: usize| {
                *seen += 1;
                Ok(item * item)
            };
            let (values, workers) = map(items, size, &job, || 0, square).unwrap();
            prop_assert_eq!(values, (0..items).map(|item| item * item).collect::<Vec<_>>());
            prop_assert_eq!(workers.iter().sum::<u64>(), items as u64);
            prop_assert!(workers.len() <= threads);
            prop_assert_eq!(job.progress().0, 0);
        }

        #[test]
        fn blocks_are_each_handed_out_once(
            items in 0_usize..300, size in 1_usize..20, threads in 1_usize..6,
        ) {
            let job = Job::new(threads);
            let take = |taken: &mut Vec<usize>, block: Range<usize>| {
                taken.extend(block);
                Ok(())
            };
            let workers = for_each_block(items, size, &job, Vec::new, take).unwrap();
            let mut taken = workers.concat();
            taken.sort_unstable();
            prop_assert_eq!(taken, (0..items).collect::<Vec<_>>());
            prop_assert_eq!(job.progress().0, items as u64);
        }

        #[test]
        fn the_first_item_that_fails_is_told(
            bad in prop::collection::btree_set(0_usize..200, 1..20),
            size in 1_usize..9,
            threads in 1_usize..6,
        ) {
            let check = |(): &mut (), item: usize| match bad.contains(&item) {
                true => Err(wrong(item)),
                false => Ok(item),
            };
            let error = map(200, size, &Job::new(threads), || (), check).unwrap_err();
            let first = *bad.first().unwrap();
            prop_assert_eq!(error.to_string(), wrong(first).to_string());
        }
    }

    #[test]
    fn pieces_are_changed_where_they_are() {
        let mut numbers: Vec<usize> = (0..10).collect();
        let double = |piece: &mut [usize]| {
            piece.iter_mut().for_each(|number| *number *= 2);
            Ok(piece.len())
        };
        let lengths = each(numbers.chunks_mut(4).collect(), &Job::new(3), double).unwrap();
        assert_eq!(lengths, [4, 4, 2]);
        assert_eq!(numbers, (0..10).map(|number| 2 * number).collect::<Vec<_>>());
    }

    #[test]
    fn a_stopped_job_ends_soon() {
        let job = Job::new(3);
        let work = |(): &mut (), item: usize| {
            if item == 10 {
                job.stop();
            }
            Ok(())
        };
        let stopped = map(1_000_000, 1, &job, || (), work);
        assert!(matches!(stopped, Err(Error::Interrupted)));
    }

    #[test]
    #[should_panic(expected = "item 5")]
    fn a_panic_goes_on_to_the_caller() {
        let work = |(): &mut (), item: usize| {
            assert!(item != 5, "item {item}");
            Ok(())
        };
        let _ = map(20, 1, &Job::new(3), || (), work);
    }
}
