//! Live pages: pages that also contain the engine and the mechanism file.

use super::{Page, Shown, data, filled};
use crate::examples::{Example, grouped};
use crate::pack;
use fourbar::Diagnostic;
use fourbar::model::Model;
use fourbar::study::Study;
use serde_json::{Value, json};
use std::path::Path;

/// The engine as WebAssembly, compressed by gzip; empty if the program was built without it.
static ENGINE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/engine.wasm.gz"));

/// The mechanism file of a live page.
#[derive(Clone, Copy, Debug)]
pub struct LiveFile<'a> {
    /// Displayed name of the file.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Parameters set to other values.
    pub set: &'a [(String, String)],
    /// The study of the page: settings that differ from the file stay in force in the page.
    pub study: &'a Study,
    /// Whether the shipped models can be chosen in the page.
    pub playground: bool,
}

/// Whether this program includes the engine of live pages.
pub fn has_engine() -> bool {
    !ENGINE.is_empty()
}

/// Settings of a study that differ from those of the file, by name.
fn settings(model: &Model, study: &Study) -> Value {
    let (Ok(Value::Object(own)), Ok(file)) = (serde_json::to_value(study), serde_json::to_value(Study::of(model))) else {
        return json!({});
    };
    Value::Object(own.into_iter().filter(|(name, x)| *x != file[name]).collect())
}

/// Creates a live page, which shows a result until the user moves the mechanism. See [`super::page`].
pub fn live_page(model: &Model, folder: Option<&Path>, results: &[Shown<'_>], live: &LiveFile<'_>) -> Result<Page, Diagnostic> {
    if !has_engine() {
        return Err(Diagnostic::new("U474", "this program was built without the engine of live pages")
            .help("build it with `cargo xtask wasm` and build the program again; `fourbar view` without `--live` needs none"));
    }
    let (mut value, warnings) = data(model, folder, results)?;
    value["live"] = json!({"file": live.name, "text": live.text, "set": live.set, "study": settings(model, live.study)});
    if live.playground {
        let entry = |group: &str, e: Example| json!({"name": e.listed(), "group": group, "title": e.title(), "purpose": e.purpose(), "text": e.text});
        let gallery = grouped().into_iter().flat_map(|(group, list)| list.into_iter().map(move |e| entry(group, e)));
        value["live"]["gallery"] = gallery.collect::<Vec<Value>>().into();
    }
    let html = filled(&value, &pack::base64(ENGINE));
    // WebAssembly is compiled from bytes in the page: this is the only kind of evaluation that the policy allows. Studies run in a worker,
    // which the script of the page creates from its own text.
    let html = html.replacen("script-src ", "worker-src blob:; script-src 'wasm-unsafe-eval' ", 1);
    Ok(Page { html, warnings })
}
