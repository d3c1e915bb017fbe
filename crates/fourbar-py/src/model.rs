//! A mechanism with the text it was read from.

use crate::errors::{objects, raised};
use crate::guard::detached;
use fourbar::study::FORMULATIONS;
use fourbar::trajectory::{Column, columns};
use fourbar::{Diagnostic, Error, Model, codes};
use fourbar_design::equilibrium::start_settled;
use fourbar_io::examples::{self as shipped, example};
use fourbar_io::results::columns::choose;
use fourbar_io::{Loaded, ReadOptions, did_you_mean, read_model, read_model_file_with, write_model};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Source of a mechanism.
#[derive(Clone, Debug)]
struct Source {
    /// Name in messages.
    name: String,
    /// Path of the file, if it has one; tables and meshes are beside it.
    path: Option<PathBuf>,
    /// Parameters set to other values, as expressions.
    set: Vec<(String, String)>,
    /// Whether large files are permitted.
    large: bool,
}

/// A mechanism that was read, checked and built. The package wraps it as `Model`.
#[pyclass(frozen, module = "fourbar._fourbar")]
pub struct Core {
    source: Source,
    /// The file as read.
    pub loaded: Loaded,
    /// The mechanism, at equilibrium if the file requires it.
    pub model: Arc<Model>,
    /// The mechanism as drawn, if `model` is at an equilibrium.
    settled: Option<Arc<Model>>,
    /// Columns of its results.
    pub columns: Vec<Column>,
}

impl Core {
    /// The mechanism as drawn in its file.
    pub fn drawn(&self) -> &Arc<Model> {
        self.settled.as_ref().unwrap_or(&self.model)
    }

    /// Name of the file.
    pub fn name(&self) -> &str {
        &self.source.name
    }

    /// Parameters set to other values.
    pub fn set(&self) -> &[(String, String)] {
        &self.source.set
    }

    /// Path of the file, if there is one.
    pub fn path(&self) -> Option<PathBuf> {
        self.source.path.clone()
    }

    /// Whether large files are permitted.
    pub fn is_large(&self) -> bool {
        self.source.large
    }

    /// The folder of the file.
    pub fn folder(&self) -> Option<&Path> {
        self.source.path.as_deref().and_then(Path::parent)
    }

    /// Diagnostics with their locations in the file.
    pub fn located<'a>(&self, list: impl IntoIterator<Item = &'a Diagnostic>) -> Vec<Diagnostic> {
        list.into_iter().map(|d| self.loaded.places.locate(d)).collect()
    }

    /// Diagnostics as objects of the package.
    pub fn notes<'py, 'a>(&self, py: Python<'py>, list: impl IntoIterator<Item = &'a Diagnostic>) -> PyResult<Bound<'py, PyList>> {
        objects(py, &self.located(list), self.name())
    }

    /// The exception for diagnostics about this mechanism.
    pub fn failed(&self, py: Python<'_>, error: impl Into<Error>) -> PyErr {
        raised(py, &self.located(&error.into()), self.name())
    }

    fn read(text: Option<&str>, mut source: Source) -> Result<Self, (Vec<Diagnostic>, String)> {
        let options = ReadOptions { path: source.path.as_deref(), set: &source.set, large: source.large, ..ReadOptions::default() };
        let path = PathBuf::from(&source.name);
        let read = match (text, example(&source.name).filter(|_| !path.is_file())) {
            (Some(text), _) => read_model(text, &options),
            (None, Some(e)) => {
                source.name = format!("{}.yaml", e.name);
                read_model(e.text, &options)
            }
            (None, None) => {
                let read = read_model_file_with(&path, &options).map_err(|e| did_you_mean(e, &path));
                source.path = Some(path);
                read
            }
        };
        let loaded = read.map_err(|e| (e.into_diagnostics(), source.name.clone()))?;
        Self::build(loaded, source)
    }

    fn build(mut loaded: Loaded, source: Source) -> Result<Self, (Vec<Diagnostic>, String)> {
        let told = |loaded: &Loaded, list: &[Diagnostic]| (list.iter().map(|d| loaded.places.locate(d)).collect(), source.name.clone());
        let drawn = loaded.spec.build().map_err(|e| {
            let mut list = e.into_diagnostics();
            if loaded.imported.is_some() {
                for d in list.iter_mut().filter(|d| d.code.0 == "M118") {
                    d.message = "nothing in the file moves: all links are welded to the ground, or there are none".into();
                    d.help = "give a link a joint that moves, or free it".into();
                }
            }
            told(&loaded, &list)
        })?;
        let columns = columns(&drawn);
        if !drawn.settle {
            return Ok(Self { source, loaded, model: Arc::new(drawn), settled: None, columns });
        }
        let (model, rest) = start_settled(drawn.clone()).map_err(|d| told(&loaded, &[d]))?;
        loaded.warnings.extend(rest.into_iter().flat_map(|r| r.warnings));
        Ok(Self { source, loaded, model: Arc::new(model), settled: Some(Arc::new(drawn)), columns })
    }
}

/// Reads a mechanism: from a text, otherwise from a file or a shipped model by name.
#[pyfunction]
#[pyo3(signature = (name, text=None, path=None, set=Vec::new(), large=false))]
pub fn load(
    py: Python<'_>,
    name: String,
    text: Option<String>,
    path: Option<PathBuf>,
    set: Vec<(String, String)>,
    large: bool,
) -> PyResult<Core> {
    let source = Source { name, path, set, large };
    detached(py, move || Core::read(text.as_deref(), source))?.map_err(|(list, name)| raised(py, &list, &name))
}

/// Names, titles and descriptions of the shipped models.
#[pyfunction]
pub fn examples() -> Vec<(&'static str, &'static str, String)> {
    shipped::examples().map(|e| (e.name, e.title(), e.about())).collect()
}

/// Title and text of the page of a code, if there is one.
#[pyfunction]
pub fn explain(code: &str) -> Option<(&'static str, &'static str)> {
    codes::page(code.trim_matches(['[', ']', '`'])).map(|p| (p.title, p.text))
}

/// Names of the formulations with descriptions and integrators, the default first.
#[pyfunction]
pub fn formulations() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    FORMULATIONS.iter().map(|f| (f.name, f.summary, f.integrators.to_vec())).collect()
}

#[pymethods]
impl Core {
    /// Data for reading it again: name, text, path, parameters, whether large files are permitted.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let s = &self.source;
        (&s.name, self.loaded.places.source(), s.path.clone(), s.set.clone(), s.large).into_pyobject(py)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let py = slf.py();
        Ok((py.import("fourbar._fourbar")?.getattr("load")?, slf.get().parts(py)?))
    }

    /// The same mechanism with other parameters, as expressions.
    fn replace(&self, py: Python<'_>, set: Vec<(String, String)>) -> PyResult<Self> {
        let mut all = self.source.set.clone();
        for (key, value) in set {
            match all.iter_mut().find(|(k, _)| *k == key) {
                Some((_, v)) => *v = value,
                None => all.push((key, value)),
            }
        }
        let source = Source { set: all, ..self.source.clone() };
        let text = self.loaded.places.source();
        detached(py, || Self::read(Some(text), source))?.map_err(|(list, name)| raised(py, &list, &name))
    }

    #[getter]
    fn title(&self) -> &str {
        &self.model.title
    }

    #[getter(name)]
    fn py_name(&self) -> &str {
        self.name()
    }

    #[getter]
    fn text(&self) -> &str {
        self.loaded.places.source()
    }

    /// The mechanism as a file of this program, with the values of parameters.
    fn written(&self) -> String {
        write_model(&self.loaded.spec)
    }

    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let d = PyDict::new(py);
        self.loaded.parameters.iter().try_for_each(|(k, v)| d.set_item(k, v))?;
        Ok(d)
    }

    /// Warnings of the file.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.notes(py, &self.loaded.warnings)
    }

    /// Names of the elements of a section.
    fn elements(&self, section: &str) -> Vec<&str> {
        let m = &self.model;
        match section {
            "bodies" => m.bodies.iter().skip(1).map(|x| x.name.as_str()).collect(),
            "joints" => m.joints.iter().map(|x| x.name.as_str()).collect(),
            "couplings" => m.couplings.iter().map(|x| x.name.as_str()).collect(),
            "constraints" => m.bare.iter().map(|x| x.name.as_str()).collect(),
            "rolling" => m.rolling.iter().map(|x| x.name.as_str()).collect(),
            "drives" => m.drives.iter().map(|x| x.name.as_str()).collect(),
            "forces" => m.forces.iter().map(|x| x.0.as_str()).collect(),
            "points" => m.points.iter().map(|x| x.0.as_str()).collect(),
            "states" => m.states.iter().map(|x| x.name.as_str()).collect(),
            "outputs" => m.outputs.iter().map(|x| x.name.as_str()).collect(),
            "events" => m.events.iter().map(|x| x.name.as_str()).collect(),
            // The built mechanism stores rigid and compliant contacts separately: the specification has both in order.
            "contacts" => self.loaded.spec.contacts.iter().map(|x| x.0.as_str()).collect(),
            _ => Vec::new(),
        }
    }

    /// Kinds of the joints with their base and moving bodies.
    fn joint_kinds(&self) -> Vec<(&str, &'static str, &str, &str)> {
        let body = |j: &fourbar::model::Joint, k: usize| self.model.body_name(j.bodies[k]);
        self.model.joints.iter().map(|j| (j.name.as_str(), j.kind.name(), body(j, 0), body(j, 1))).collect()
    }

    /// Inputs: name, unit, default, smallest and largest value.
    fn inputs(&self) -> Vec<(&str, &'static str, f64, f64, f64)> {
        self.model.inputs.iter().map(|i| (i.name.as_str(), i.unit, i.default, i.range[0], i.range[1])).collect()
    }

    /// End time and output step of the study in the file.
    fn study(&self) -> (f64, f64) {
        let s = fourbar::study::Study::of(&self.model);
        (s.t_end, s.output_step)
    }

    /// Names and units of the columns.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyTuple>)> {
        let names = PyTuple::new(py, self.columns.iter().map(|c| c.name.as_str()))?;
        Ok((names, PyTuple::new(py, self.columns.iter().map(|c| &*c.unit))?))
    }

    /// Indices of the columns that match patterns.
    fn choose(&self, py: Python<'_>, patterns: Vec<String>) -> PyResult<Vec<usize>> {
        choose(&self.columns, &patterns).map_err(|d| raised(py, &[d], ""))
    }
}
