//! Terminal output: colour only if the output is interactive, tables of at most 100 columns. All text passes through
//! [`fourbar_io::terminal`], which replaces characters that could move the cursor or hide letters.

use crate::stop::{self, INTERRUPTED};
pub use fourbar::diagnostic::number;
pub use fourbar_check::text::{Facts, names, table, wrapped};
use fourbar_io::terminal::{Style, escaped_json, paint, visible};
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Settings of the output.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    /// One JSON object instead of text.
    pub json: bool,
    /// Errors only.
    pub quiet: bool,
    colour_out: bool,
    /// Whether diagnostics are coloured.
    pub colour_err: bool,
    /// Flag that ends the running command.
    pub stop: &'static AtomicBool,
}

impl Screen {
    /// Detects the properties of the terminal and `NO_COLOR`.
    pub fn new(json: bool, quiet: bool) -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()) && std::env::var_os("TERM").is_none_or(|t| t != "dumb");
        let (out, err) = (wanted && std::io::stdout().is_terminal(), wanted && std::io::stderr().is_terminal());
        Self { json, quiet, colour_out: out, colour_err: err, stop: &INTERRUPTED }
    }

    /// For calls from a program: nothing is printed, everything is returned, and the flag ends the run.
    pub fn silent(stop: &'static AtomicBool) -> Self {
        Self { json: true, quiet: true, colour_out: false, colour_err: false, stop }
    }

    /// Whether the caller is a program.
    pub fn is_silent(&self) -> bool {
        !std::ptr::eq(self.stop, &INTERRUPTED)
    }

    /// Handles Ctrl-C, unless the caller does so.
    pub fn listen(&self) {
        if !self.is_silent() {
            stop::listen();
        }
    }

    /// Whether the flag to end is set.
    pub fn interrupted(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Highlighted text.
    pub fn bold(&self, text: &str) -> String {
        self.styled(text, Style::Bold)
    }

    /// Text in the accent colour.
    pub fn accent(&self, text: &str) -> String {
        self.styled(text, Style::Accent)
    }

    fn styled(&self, text: &str, style: Style) -> String {
        if self.colour_out { format!("{}{}{}", style.mark(), visible(text), Style::Off.mark()) } else { text.into() }
    }

    /// Prints to standard output. A closed pipe is not an error; a full disk is.
    pub fn print(&self, text: &str) -> std::io::Result<()> {
        put(&paint(text, self.colour_out))
    }

    /// Prints an object to standard output.
    pub fn print_json(&self, object: &serde_json::Value) -> std::io::Result<()> {
        put(&format!("{}\n", escaped_json(&format!("{object:#}"))))
    }

    /// Prints to standard error.
    pub fn print_error(&self, text: &str) {
        let _ = std::io::stderr().lock().write_all(paint(text, self.colour_err).as_bytes());
    }

    /// Overwrites the last line of a terminal, or clears it.
    pub fn status(&self, text: &str) {
        let _ = std::io::stderr().lock().write_all(format!("\r\x1b[K{}", visible(text)).as_bytes());
    }
}

fn put(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(e),
        _ => Ok(()),
    }
}

/// Prints to standard error, without colours.
pub fn print_error(text: &str) {
    let _ = std::io::stderr().lock().write_all(paint(text, false).as_bytes());
}
