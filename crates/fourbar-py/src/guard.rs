//! Calls of the engine: without the interpreter's lock, with Ctrl-C handled, and with panics turned into exceptions.

use crate::errors::raised;
use fourbar::{Diagnostic, stop};
use pyo3::prelude::*;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time between two checks for Ctrl-C.
const EVERY: Duration = Duration::from_millis(50);
/// Largest time that a call waits for an interrupted computation.
const PATIENCE: Duration = Duration::from_secs(2);
/// Stack size of a computing thread, as large as that of the main thread.
const STACK: usize = 16 << 20;

/// A panic as an exception of the package.
fn broken(py: Python<'_>, why: &(dyn Any + Send)) -> PyErr {
    let text = why.downcast_ref::<&str>().map(|s| (*s).to_string()).or_else(|| why.downcast_ref::<String>().cloned());
    let message = format!("the computation failed: {}", text.unwrap_or_else(|| "nothing more is known".into()));
    raised(py, &[Diagnostic::new("S252", message).help("this is a bug; please report it with the mechanism")], "")
}

/// Computes without the interpreter's lock.
pub fn detached<T: Send>(py: Python<'_>, f: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| catch_unwind(AssertUnwindSafe(f))).map_err(|why| broken(py, why.as_ref()))
}

/// Flags that end computations. Free ones are reused, so that their number is that of concurrent computations.
static FLAGS: Mutex<Vec<&'static AtomicBool>> = Mutex::new(Vec::new());

/// A flag for one computation.
pub struct Flag(pub &'static AtomicBool);

impl Flag {
    /// A flag that is not in use.
    pub fn new() -> Self {
        let free = FLAGS.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let flag = free.unwrap_or_else(|| Box::leak(Box::new(AtomicBool::new(false))));
        flag.store(false, Ordering::Relaxed);
        Self(flag)
    }
}

impl Drop for Flag {
    fn drop(&mut self) {
        FLAGS.lock().unwrap_or_else(PoisonError::into_inner).push(self.0);
    }
}

/// Runs a computation that checks a flag and ends soon after it is set: Ctrl-C sets it, and the call waits for the end. `heard` is called
/// repeatedly with the interpreter's lock; its exception has the same effect.
pub fn stoppable<T: Send + 'static>(
    py: Python<'_>,
    flag: &Flag,
    f: impl FnOnce() -> T + Send + 'static,
    heard: &mut dyn FnMut(Python<'_>) -> PyResult<()>,
) -> PyResult<T> {
    flag.0.store(false, Ordering::Relaxed);
    let mut raised = None;
    let mut look = |py: Python<'_>| {
        if raised.is_none() {
            raised = py.check_signals().and_then(|()| heard(py)).err();
            flag.0.store(raised.is_some(), Ordering::Relaxed);
        }
        Ok(())
    };
    let value = waited(py, f, &mut look)?;
    raised.map_or(Ok(value), Err)
}

/// Runs a computation with a flag in a separate thread: Ctrl-C sets the flag, and the call waits for the end. If that takes longer than
/// [`PATIENCE`], or at a second Ctrl-C, the call ends before the thread does.
pub fn interruptible<T: Send + 'static>(py: Python<'_>, f: impl FnOnce(&'static AtomicBool) -> T + Send + 'static) -> PyResult<T> {
    // The thread also owns the flag, which is reused only when both have released it.
    let flag = Arc::new(Flag::new());
    let own = Arc::clone(&flag);
    let mut heard: Option<(PyErr, Instant)> = None;
    let mut look = |py: Python<'_>| {
        let again = py.check_signals();
        match heard.take() {
            None => heard = again.err().map(|e| (e, Instant::now())),
            Some((e, since)) if again.is_err() || since.elapsed() > PATIENCE => return Err(e),
            waiting => heard = waiting,
        }
        flag.0.store(heard.is_some(), Ordering::Relaxed);
        Ok(())
    };
    let value = waited(py, move || stop::heeding(Some(own.0), || f(own.0)), &mut look)?;
    heard.map_or(Ok(value), |(e, _)| Err(e))
}

/// Runs a computation in a separate thread and calls `look` repeatedly; an error of `look` abandons the thread.
fn waited<T: Send + 'static>(
    py: Python<'_>,
    f: impl FnOnce() -> T + Send + 'static,
    look: &mut dyn FnMut(Python<'_>) -> PyResult<()>,
) -> PyResult<T> {
    let (sender, receiver) = channel();
    let work = move || {
        // The waiting call may have ended.
        let _ = sender.send(catch_unwind(AssertUnwindSafe(f)));
    };
    std::thread::Builder::new().name("fourbar".into()).stack_size(STACK).spawn(work)?;
    // Receivers may move between threads, but not be shared.
    let receiver = std::sync::Mutex::new(receiver);
    loop {
        let next = py.detach(|| receiver.lock().map_or(Err(RecvTimeoutError::Disconnected), |r| r.recv_timeout(EVERY)));
        match next {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(why)) => return Err(broken(py, why.as_ref())),
            Err(RecvTimeoutError::Timeout) => look(py)?,
            Err(RecvTimeoutError::Disconnected) => return Err(broken(py, &"its thread ended")),
        }
    }
}

/// Checks for Ctrl-C when the engine polls whether to continue.
pub struct Listener {
    last: Instant,
    /// Function called repeatedly with the time reached and the end time.
    pub progress: Option<Py<PyAny>>,
    /// The exception that ended the computation.
    pub raised: Option<PyErr>,
}

impl Listener {
    /// Starts the checks.
    pub fn new(progress: Option<Py<PyAny>>) -> Self {
        Self { last: Instant::now(), progress, raised: None }
    }

    /// Whether the computation may continue.
    pub fn go_on(&mut self, t: f64, t_end: f64) -> bool {
        if self.raised.is_some() {
            return false;
        }
        if self.last.elapsed() < EVERY {
            return true;
        }
        self.last = Instant::now();
        let heard = Python::attach(|py| {
            py.check_signals()?;
            self.progress.as_ref().map_or(Ok(()), |f| f.call1(py, (t, t_end)).map(|_| ()))
        });
        self.raised = heard.err();
        self.raised.is_none()
    }

    /// Raises the exception, if there was one.
    pub fn ended(self) -> PyResult<()> {
        self.raised.map_or(Ok(()), Err)
    }
}

/// Panics on purpose, with and without the interpreter's lock: for the tests of this package.
#[pyfunction]
#[pyo3(name = "_panics")]
pub fn panics(py: Python<'_>, elsewhere: bool) -> PyResult<()> {
    let fail = || assert!(std::hint::black_box(false), "a panic on purpose");
    if elsewhere { interruptible(py, move |_| fail()) } else { detached(py, fail) }
}
