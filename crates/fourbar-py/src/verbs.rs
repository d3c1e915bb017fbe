//! Verbs of the command for mechanisms in memory: takes the words of a command line, returns text and fields.

use crate::errors::{objects, raised};
use crate::guard::interruptible;
use crate::model::Core;
use fourbar_cli::hand::{self, Handed};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

/// A command line for a mechanism: the verb, the mechanism, the parameters set to other values, then the rest.
pub fn words_about(core: &Core, handed: &Handed, verb: &str, rest: Vec<String>) -> Vec<String> {
    let mut words = vec![verb.to_string(), handed.word().to_string()];
    words.extend(core.set().iter().map(|(k, v)| format!("--set={k}={v}")));
    if core.is_large() {
        words.push("--large".into());
    }
    words.extend(rest);
    words
}

/// Registers a mechanism for use by verbs in place of a file.
pub fn handed(core: &Core) -> Handed {
    Handed::new(core.name(), core.loaded.places.source(), core.path())
}

/// Text, fields as JSON and warnings of a verb; its errors are raised.
#[pyfunction]
#[pyo3(signature = (core, verb, rest))]
pub fn answer<'py>(
    py: Python<'py>,
    core: Option<&Core>,
    verb: String,
    rest: Vec<String>,
) -> PyResult<(String, String, Bound<'py, PyList>)> {
    let given = core.map(handed);
    let words = match (core, &given) {
        (Some(core), Some(handed)) => words_about(core, handed, &verb, rest),
        _ => std::iter::once(verb).chain(rest).collect(),
    };
    let done = interruptible(py, move |stop| {
        // Keeps the mechanism registered during the computation.
        let _given = given;
        hand::answer(&words, stop)
    })?;
    let answer = done.map_err(PyValueError::new_err)?;
    let (warnings, errors): (Vec<_>, Vec<_>) = answer.diagnostics.into_iter().partition(|d| d.is_warning());
    if !errors.is_empty() {
        return Err(raised(py, &errors, &answer.name));
    }
    let fields = serde_json::Value::Object(answer.fields).to_string();
    Ok((answer.text, fields, objects(py, &warnings, &answer.name)?))
}
