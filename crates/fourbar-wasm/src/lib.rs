//! The engine for pages. A [`Live`] takes requests as JSON and returns replies as JSON; numbers of the current instant are provided as a
//! row in the order of the columns. [`border`] passes both through WebAssembly memory; everything else is plain Rust that also runs, and is
//! tested, natively.
//!
//! There is no access to clocks, files or threads, and no intended panic: errors are replies with diagnostics.
#![allow(non_snake_case)]

pub mod border;
mod dynamics;
mod hand;
mod motors;
mod requests;
mod session;
mod words;

pub use requests::{Hand, Request};
use serde_json::{Value, json};
use session::Session;

/// The engine of a page, with at most one mechanism.
#[derive(Default)]
pub struct Live {
    session: Option<Session>,
    row: Vec<f64>,
}

impl Live {
    /// An engine without a mechanism.
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers a request, both as JSON. An unreadable request is answered with an error.
    pub fn answer(&mut self, request: &str) -> String {
        let reply = match serde_json::from_str::<Request>(request) {
            Ok(request) => self.reply(request),
            Err(e) => words::refused(&[fourbar::Diagnostic::new("U471", format!("unknown request of the page: {e}"))
                .help("this is a bug in the page; please report it with the file")]),
        };
        reply.to_string()
    }

    /// Numbers of the current instant, in the order of the columns returned by `load`.
    pub fn row(&self) -> &[f64] {
        &self.row
    }

    fn reply(&mut self, request: Request) -> Value {
        if let Request::Load { text, set, study } = request {
            return match Session::load(text.clone(), set, &study) {
                Ok(session) => {
                    let reply = session.described();
                    session.row(&mut self.row);
                    self.session = Some(session);
                    reply
                }
                // The previous mechanism is kept: a half-typed file does not empty the scene.
                Err(list) => words::refused_in(&list, &text),
            };
        }
        let Some(session) = &mut self.session else {
            return words::refused(&[fourbar::Diagnostic::new("U470", "there is no mechanism yet").help("load a file first")]);
        };
        let reply = session.answer(request);
        session.row(&mut self.row);
        reply.unwrap_or_else(|list| session.refused(&list))
    }
}

/// A reply without contents.
fn done() -> Value {
    json!({"ok": true})
}
