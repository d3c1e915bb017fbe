//! Ctrl-C: a flag that all lengthy operations check.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Set by Ctrl-C.
pub static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// Exit code of an interrupted command.
pub const EXIT: u8 = 130;
/// Time that a run may take to end after Ctrl-C; then the program is aborted.
const GRACE: Duration = Duration::from_millis(600);

fn say(text: &str) {
    // Errors are ignored, as standard error may be closed.
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// The first Ctrl-C ends the run cleanly, the second one at once; a step that takes too long is also aborted.
pub fn listen() {
    let heard = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(EXIT));
        }
        say("\ninterrupted: finishing the current output step (press Ctrl-C again to stop at once)\n");
        std::thread::spawn(|| {
            std::thread::sleep(GRACE);
            say("the run did not stop in time and was aborted; rows written so far are kept\n");
            std::process::exit(i32::from(EXIT));
        });
    });
    // Without a handler Ctrl-C ends the program as usual; rows are on disk within a second in both cases.
    let _ = heard;
}
