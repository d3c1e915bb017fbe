//! The engine for pages. A [`Live`] takes requests as JSON and gives replies as JSON; numbers of the current instant are provided as a
//! row in the order of the columns. [`border`] hands both through WebAssembly memory; everything else is plain Rust and works
//! natively too, which is how it is tested.
//!
//! Nothing here reads a clock, a file or a thread, and nothing panics on purpose: what goes wrong is a reply with diagnostics.
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

/// The engine of a page: at most one mechanism at a time.
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

    /// Answers a request; the text is JSON both ways. A request that cannot be read is answered with an error too.
    pub fn answer(&mut self, request: &str) -> String {
        let reply = match serde_json::from_str::<Request>(request) {
            Ok(request) => self.reply(request),
            Err(e) => words::refused(&[fourbar::Diagnostic::new("U471", format!("unknown request of the page: {e}"))
                .help("this is a bug in the page; please report it with the file")]),
        };
        reply.to_string()
    }

    /// Numbers of the present instant, in the order of the columns that `load` gave.
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
                // The mechanism that was there stays: a half-typed file does not empty the scene.
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

/// A reply without more to say.
fn done() -> Value {
    json!({"ok": true})
}
