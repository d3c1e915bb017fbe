//! Diagnostics of the engine as exceptions and as objects of the package.

use crate::words::translated;
use fourbar::Diagnostic;
use fourbar_io::render;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList};

/// The classes, which are defined in Python.
struct Classes {
    diagnostic: Py<PyAny>,
    error: Py<PyAny>,
}

static CLASSES: PyOnceLock<Classes> = PyOnceLock::new();

fn classes(py: Python<'_>) -> PyResult<&Classes> {
    CLASSES.get_or_try_init(py, || {
        let module = py.import("fourbar._errors")?;
        Ok(Classes { diagnostic: module.getattr("Diagnostic")?.unbind(), error: module.getattr("FourbarError")?.unbind() })
    })
}

/// One diagnostic as an object.
fn object<'py>(py: Python<'py>, d: &Diagnostic, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let d = &translated(d);
    let fields = PyDict::new(py);
    fields.set_item("code", d.code.0)?;
    fields.set_item("message", &d.message)?;
    fields.set_item("help", &d.help)?;
    fields.set_item("names", d.names.clone())?;
    fields.set_item("at", d.at.as_deref())?;
    fields.set_item("time", d.time)?;
    let place = d.place.as_deref();
    let file = place.and_then(|p| p.file.as_deref()).or(Some(name).filter(|n| !n.is_empty()));
    fields.set_item("file", file)?;
    fields.set_item("line", place.map(|p| p.line))?;
    fields.set_item("column", place.map(|p| p.column))?;
    fields.set_item("text", render(std::slice::from_ref(d), name, false).trim_end())?;
    classes(py)?.diagnostic.bind(py).call((), Some(&fields))
}

/// Several diagnostics as objects; `name` is the displayed name of their file.
pub fn objects<'py>(py: Python<'py>, list: &[Diagnostic], name: &str) -> PyResult<Bound<'py, PyList>> {
    let list = list.iter().map(|d| object(py, d, name)).collect::<PyResult<Vec<_>>>()?;
    PyList::new(py, list)
}

/// The exception of the package for diagnostics, the first cause first.
pub fn raised(py: Python<'_>, list: &[Diagnostic], name: &str) -> PyErr {
    let made = objects(py, list, name).and_then(|list| classes(py)?.error.bind(py).call1((list,)));
    made.map_or_else(|e| e, PyErr::from_value)
}
