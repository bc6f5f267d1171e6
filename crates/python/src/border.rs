//! The one way into the core and out of it again.
//!
//! `enter` runs long work on a thread of its own with the GIL released. The calling thread
//! keeps listening: for Ctrl-C, which stops the job at its next check, and for progress, which
//! it hands to a Python callable `progress(done, total)`. A panic becomes `InternalError`.
//! `call` does the same for short work, without the thread, and `lend` for work of milliseconds that
//! other Python threads need not wait for.

use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError};
use pyo3::prelude::*;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;
use wayword::{Error, Job};

/// Time between two looks at signals and progress.
const LISTEN: Duration = Duration::from_millis(50);

thread_local! {
    /// Where this thread last panicked, kept by the hook for the message.
    static PANIC_PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps a panic from printing: it is reported as an exception instead.
pub fn silence_panics() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        PANIC_PLACE.with_borrow_mut(|known| *known = place);
    }));
}

/// Runs long work with the GIL released, listening for Ctrl-C and reporting progress.
pub fn enter<T: Send>(
    py: Python<'_>,
    threads: usize,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&Job) -> wayword::Result<T> + Send,
) -> PyResult<T> {
    let job = Job::new(threads);
    let (outcome, refusal) = py.detach(|| {
        let (done, result) = channel();
        thread::scope(|scope| {
            let job = &job;
            scope.spawn(move || done.send(guarded(|| work(job))));
            let mut refusal = None;
            loop {
                match result.recv_timeout(LISTEN) {
                    Ok(outcome) => return (outcome, refusal),
                    Err(RecvTimeoutError::Disconnected) => {
                        return (Err("the worker ended without a result".into()), refusal);
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                }
                if refusal.is_none()
                    && let Err(error) = listen(job, progress.as_ref())
                {
                    job.stop();
                    refusal = Some(error);
                }
            }
        })
    });
    if let Some(error) = refusal {
        return Err(error);
    }
    if let Some(callback) = &progress {
        callback.call1(py, job.progress())?;
    }
    finish(py, outcome)
}

/// Runs short work as it is, with the GIL held.
pub fn call<T>(py: Python<'_>, work: impl FnOnce() -> wayword::Result<T>) -> PyResult<T> {
    finish(py, guarded(work))
}

/// Runs short work as it is, with the GIL released.
pub fn lend<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> wayword::Result<T> + Send,
) -> PyResult<T> {
    let outcome = py.detach(|| guarded(work));
    finish(py, outcome)
}

fn guarded<T>(work: impl FnOnce() -> wayword::Result<T>) -> Result<wayword::Result<T>, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("panic");
        PANIC_PLACE.with_borrow(|place| format!("{text} ({place})"))
    })
}

fn listen(job: &Job, progress: Option<&Py<PyAny>>) -> PyResult<()> {
    Python::attach(|py| {
        py.check_signals()?;
        progress.map_or(Ok(()), |callback| callback.call1(py, job.progress()).map(|_| ()))
    })
}

fn finish<T>(py: Python<'_>, outcome: Result<wayword::Result<T>, String>) -> PyResult<T> {
    match outcome {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(raise(py, error)),
        Err(panic) => {
            Err(named(py, "InternalError", format!("internal error, please report it: {panic}")))
        }
    }
}

/// The Python exception of a core error.
fn raise(py: Python<'_>, error: Error) -> PyErr {
    let message = error.to_string();
    match error {
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        Error::Io { path, source } => match source.raw_os_error() {
            // With its number the exception becomes FileNotFoundError and so on by itself.
            Some(code) => {
                let text = source.to_string();
                let text = text.split(" (os error").next().unwrap_or_default().to_owned();
                PyOSError::new_err((code, text, path.display().to_string()))
            }
            None => PyOSError::new_err(message),
        },
        Error::Format { .. } => named(py, "FormatError", message),
        Error::Argument { .. } => named(py, "ArgumentError", message),
        Error::Mismatch { .. } => named(py, "MismatchError", message),
        Error::Limit { .. } => named(py, "LimitError", message),
    }
}

fn named(py: Python<'_>, class: &str, message: String) -> PyErr {
    let created =
        py.import("wayword.errors").and_then(|errors| errors.getattr(class)?.call1((message,)));
    created.map_or_else(|error| error, PyErr::from_value)
}
