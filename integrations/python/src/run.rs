//! Long work: on a thread of its own, while this one looks for signals and tells of progress.

use crate::error::{Failure, raised};
use bigint_host::Error;
use pyo3::prelude::*;
use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

/// How often signals are looked for.
const POLL: Duration = Duration::from_millis(50);

/// Limbs of work that is too short for a thread of its own.
pub const SHORT: usize = 1 << 12;

/// What the thread that works and the one that waits know of each other.
#[derive(Default)]
pub struct Pace {
    is_stopped: AtomicBool,
    done: AtomicUsize,
}

impl Pace {
    /// Whether nobody waits for the result any more.
    pub fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Tells how many rows are done.
    pub fn reach(&self, done: usize) {
        self.done.store(done, Ordering::Relaxed);
    }
}

/// Stops the work when whoever waits for it no longer does.
struct Stop(Arc<Pace>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.is_stopped.store(true, Ordering::Relaxed);
    }
}

/// Short work, done at once. Other Python threads run meanwhile.
pub fn at_once<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, Error> + Send,
) -> PyResult<T> {
    whole(py, work)?.map_err(|error| raised(Failure::Engine(error)))
}

/// Short work, done at once, which may panic. Other Python threads run meanwhile.
pub fn whole<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    // What the work was making is lost with it, and nobody else has it.
    let done = py.detach(|| catch_unwind(AssertUnwindSafe(work)));
    done.map_err(|panic| raised(failure(panic)))
}

/// Work of so many rows that may be long. Other Python threads run meanwhile. An exception of a
/// signal's handler (`KeyboardInterrupt`) or of the progress callback ends the wait; the work goes
/// on until it looks at its [`Pace`].
pub fn in_background<T: Send + 'static>(
    py: Python<'_>,
    rows: usize,
    work: impl FnOnce(&Pace) -> Result<T, Error> + Send + 'static,
) -> PyResult<T> {
    let pace = Arc::new(Pace::default());
    let (sender, mut receiver) = sync_channel(1);
    let of_worker = Arc::clone(&pace);
    // What it holds is not Python's, so that it may outlive the wait.
    thread::Builder::new()
        .name("bigint-engine".to_owned())
        .spawn(move || drop(sender.send(guarded(|| work(&of_worker)))))?;
    let _stop = Stop(Arc::clone(&pace));
    let callback = CALLBACKS.with_borrow(|callbacks| callbacks.last().map(|x| x.clone_ref(py)));
    let mut told = 0;
    loop {
        let waiting = &mut receiver;
        let waited = py.detach(move || waiting.recv_timeout(POLL));
        let done = match &waited {
            Ok(_) => rows,
            Err(_) => pace.done.load(Ordering::Relaxed),
        };
        if let Some(callback) = callback.as_ref().filter(|_| done > told) {
            callback.call1(py, (done, rows))?;
            told = done;
        }
        match waited {
            Ok(result) => return result.map_err(raised),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(raised(Failure::Defect("the worker is gone".to_owned())));
            }
        }
    }
}

/// What `work` answers; what it panics with is an error.
fn guarded<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Failure> {
    // What the work was making is lost with it, and nobody else has it.
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result.map_err(Failure::Engine),
        Err(panic) => Err(failure(panic)),
    }
}

fn failure(panic: Box<dyn Any + Send>) -> Failure {
    let panic = match panic.downcast::<bigint_cpu::Error>() {
        Ok(error) => return Failure::Engine(Error::from(*error)),
        Err(panic) => panic,
    };
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    Failure::Defect(text.unwrap_or("a panic without a message").to_owned())
}

thread_local! {
    /// The callbacks of this thread's `with bi.progress(...)` blocks, the innermost last.
    static CALLBACKS: RefCell<Vec<Py<PyAny>>> = const { RefCell::new(Vec::new()) };
}

/// Tells `callback(done, total)` how many rows of long computations are done.
///
/// For use in `with`: it holds for computations of this thread within the block. It is told about
/// 20 times a second, and at the end of each computation. An exception of the callback stops the
/// computation.
#[pyclass(name = "progress", module = "bigint_engine", frozen)]
pub struct Progress {
    callback: Py<PyAny>,
}

#[pymethods]
impl Progress {
    #[new]
    fn new(callback: Py<PyAny>) -> Self {
        Progress { callback }
    }

    fn __enter__(slf: Py<Self>, py: Python<'_>) -> Py<Self> {
        let callback = slf.get().callback.clone_ref(py);
        CALLBACKS.with_borrow_mut(|callbacks| callbacks.push(callback));
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, pyo3::types::PyTuple>) {
        let innermost = CALLBACKS.with_borrow_mut(Vec::pop);
        drop(innermost);
    }
}
