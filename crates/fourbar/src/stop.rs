//! Computations that can be stopped: the caller passes a flag ([`heeding`]), and long loops of the engine check it ([`check`], [`told`]).
//! Without a flag nothing is stopped.

use crate::diagnostic::Diagnostic;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    static FLAG: Cell<Option<&'static AtomicBool>> = const { Cell::new(None) };
}

/// The previous flag of a thread; restored at the end, also after a panic.
struct Before(Option<&'static AtomicBool>);

impl Drop for Before {
    fn drop(&mut self) {
        FLAG.set(self.0);
    }
}

/// Computes on this thread with a stop flag. Results computed after the flag was set are invalid.
pub fn heeding<T>(flag: Option<&'static AtomicBool>, f: impl FnOnce() -> T) -> T {
    let _before = Before(FLAG.replace(flag));
    f()
}

/// The stop flag of this thread, for its worker threads.
pub fn flag() -> Option<&'static AtomicBool> {
    FLAG.get()
}

/// Whether this thread has been stopped.
pub fn told() -> bool {
    FLAG.get().is_some_and(|f| f.load(Ordering::Relaxed))
}

/// An error if this thread has been stopped.
pub fn check() -> Result<(), Diagnostic> {
    if told() {
        return Err(Diagnostic::new("S255", "the computation was stopped").help("start it again and let it finish"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_is_heeded_by_its_own_thread_until_the_end() {
        static STOP: AtomicBool = AtomicBool::new(false);
        let found = heeding(Some(&STOP), || {
            let before = check().is_ok();
            STOP.store(true, Ordering::Relaxed);
            let elsewhere = std::thread::spawn(told).join().expect("joined");
            let handed = flag();
            let helper = std::thread::spawn(move || heeding(handed, told)).join().expect("joined");
            (before, told(), check().map_err(|d| d.code.0), elsewhere, helper)
        });
        assert_eq!(found, (true, true, Err("S255"), false, true));
        assert!(!told() && flag().is_none());
        let _ = std::panic::catch_unwind(|| heeding(Some(&STOP), || std::panic::resume_unwind(Box::new(()))));
        assert!(!told(), "the flag outlived a panic");
    }
}
