//! Shares work between the threads of a job whose values are taken in order, while others are made.
//!
//! In: a number of items, a maker of workers (a thread's own memory), a function of a worker and an
//! item, and one that takes the values: the parts of a file, say. Out: every value taken once, in
//! the order of the items, by one thread at a time; and the workers.
//! How: threads begin items in order. Who has made a value takes all that are due, unless another
//! thread is at it, and goes on. The first error by item is returned; nothing behind it was taken.
//! Cost: a lock a value; a few values a thread wait at most, so that memory is limited.
//! Not: items without a value worth keeping in order; see `parallel`.

use crate::error::{Error, Result};
use crate::job::Job;
use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::thread;

/// Values of a thread that may wait or be in the making.
pub const WAITING: usize = 4;

/// Applies `work` to each of `0..items` and hands the values to `take`, in the order of the items.
pub fn in_order<W: Send, T: Send>(
    items: usize,
    job: &Job,
    make: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, usize) -> Result<T> + Sync,
    take: impl FnMut(T) -> Result<()> + Send,
) -> Result<Vec<W>> {
    in_order_within(WAITING * job.threads(), items, job, make, work, take)
}

/// The same with at most so many values in the making or waiting, for values that are large.
pub fn in_order_within<W: Send, T: Send>(
    most: usize,
    items: usize,
    job: &Job,
    make: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, usize) -> Result<T> + Sync,
    mut take: impl FnMut(T) -> Result<()> + Send,
) -> Result<Vec<W>> {
    let threads = job.threads().clamp(1, items.max(1));
    if threads == 1 {
        let mut worker = make();
        for item in 0..items {
            job.check()?;
            take(work(&mut worker, item)?)?;
        }
        return Ok(vec![worker]);
    }
    let line = Line {
        state: Mutex::new(State {
            begun: 0,
            taken: 0,
            made: BTreeMap::new(),
            take: Some(take),
            has_ended: items == 0,
            error: None,
        }),
        changed: Condvar::new(),
        items,
        most: most.max(1),
    };
    let thread = || {
        let _alarm = Alarm(&line);
        let mut worker = make();
        while let Some(item) = line.begin() {
            let value = job.check().and_then(|()| work(&mut worker, item));
            line.end(item, value);
        }
        worker
    };
    let workers = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(thread)).collect();
        let mut workers = vec![thread()];
        let join = |other: thread::ScopedJoinHandle<'_, W>| {
            other.join().unwrap_or_else(|panic| resume_unwind(panic))
        };
        workers.extend(others.into_iter().map(join));
        workers
    });
    match line.lock().error.take() {
        Some(error) => Err(error),
        None => Ok(workers),
    }
}

/// Items on their way.
struct Line<T, F> {
    state: Mutex<State<T, F>>,
    changed: Condvar,
    items: usize,
    /// How many may be begun and not taken.
    most: usize,
}

struct State<T, F> {
    /// How many items were begun.
    begun: usize,
    /// How many values were taken.
    taken: usize,
    /// Values that wait, and failures.
    made: BTreeMap<usize, Result<T>>,
    /// What takes them; not there while a thread takes one.
    take: Option<F>,
    /// Whether nothing is left to be begun: all was taken, or something failed.
    has_ended: bool,
    error: Option<Error>,
}

impl<T, F: FnMut(T) -> Result<()>> Line<T, F> {
    /// The next item to begin, once there is room for its value.
    fn begin(&self) -> Option<usize> {
        let mut state = self.lock();
        loop {
            if state.has_ended || state.begun == self.items {
                return None;
            }
            if state.begun < state.taken + self.most {
                state.begun += 1;
                return Some(state.begun - 1);
            }
            state = self.changed.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }

    /// Puts a value where it belongs, and takes all that are due.
    fn end(&self, item: usize, value: Result<T>) {
        let mut state = self.lock();
        state.made.insert(item, value);
        while !state.has_ended {
            let due = state.taken;
            let Some(mut take) = state.take.take() else { return };
            let Some(value) = state.made.remove(&due) else {
                state.take = Some(take);
                return;
            };
            drop(state);
            let done = value.and_then(&mut take);
            state = self.lock();
            state.take = Some(take);
            state.taken += 1;
            if let Err(error) = done {
                state.error = Some(error);
                state.has_ended = true;
            }
            self.changed.notify_all();
        }
    }
}

impl<T, F> Line<T, F> {
    fn lock(&self) -> MutexGuard<'_, State<T, F>> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Lets no thread wait for one that panicked.
struct Alarm<'a, T, F>(&'a Line<T, F>);

impl<T, F> Drop for Alarm<'_, T, F> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.lock().has_ended = true;
            self.0.changed.notify_all();
        }
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
        fn values_are_taken_in_order(items in 0_usize..300, threads in 1_usize..6) {
            let mut taken = Vec::new();
            let square = |seen: &mut usize, item: usize| {
                *seen += 1;
                if item.is_multiple_of(7) {
                    thread::yield_now();
                }
                Ok(item * item)
            };
            let take = |value| {
                taken.push(value);
                Ok(())
            };
            let workers = in_order(items, &Job::new(threads), || 0, square, take).unwrap();
            prop_assert_eq!(taken, (0..items).map(|item| item * item).collect::<Vec<_>>());
            prop_assert_eq!(workers.iter().sum::<usize>(), items);
        }

        #[test]
        fn the_first_failure_is_told_and_nothing_behind_it_is_taken(
            bad in prop::collection::btree_set(0_usize..200, 1..9),
            refused in 0_usize..200,
            threads in 1_usize..6,
        ) {
            let mut taken = Vec::new();
            let check = |(): &mut (), item: usize| match bad.contains(&item) {
                true => Err(wrong(item)),
                false => Ok(item),
            };
            let take = |item| {
                taken.push(item);
                if item == refused { Err(wrong(item)) } else { Ok(()) }
            };
            let error = in_order(200, &Job::new(threads), || (), check, take).unwrap_err();
            let first = refused.min(*bad.first().unwrap());
            prop_assert_eq!(error.to_string(), wrong(first).to_string());
            prop_assert!(taken.len() <= first + 1);
        }
    }

    #[test]
    fn a_stopped_job_ends() {
        let job = Job::new(3);
        let work = |(): &mut (), item: usize| {
            if item == 10 {
                job.stop();
            }
            Ok(())
        };
        let stopped = in_order(1_000_000, &job, || (), work, |()| Ok(()));
        assert!(matches!(stopped, Err(Error::Interrupted)));
    }

    #[test]
    #[should_panic(expected = "item 5")]
    fn a_panic_goes_on_to_the_caller() {
        let work = |(): &mut (), item: usize| {
            assert!(item != 5, "item {item}");
            Ok(())
        };
        let _ = in_order(1000, &Job::new(3), || (), work, |()| Ok(()));
    }
}
