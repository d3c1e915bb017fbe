//! Results of `check`, `verify`, equilibria, modes and linear models.

use crate::arrays::matrix;
use crate::guard::interruptible;
use crate::model::Core;
use crate::settings::{self, get, input_values};
use crate::state::{State, fitting};
use fourbar::analysis::assembly::{self, assemble_from};
use fourbar::state::Configuration;
use fourbar::{Diagnostic, Error};
use fourbar_check::report;
use fourbar_check::verify::{Settings, Word, verify};
use fourbar_design::about::{Where, about};
use fourbar_design::equilibrium::{Equilibrium, Found, Kind, Options, search, settle};
use fourbar_design::linear::{Request, linearize};
use fourbar_design::modes::{Mode, lowest, modes};
use fourbar_design::operator::fits;
use numpy::{Complex64, IntoPyArray, PyArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyComplex, PyDict, PyList};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// The state about which a mechanism is linearised, as given in Python.
enum Asked {
    Found(Where),
    Given(Configuration),
}

fn asked(py: Python<'_>, core: &Core, at: Option<&Bound<'_, PyAny>>) -> PyResult<Asked> {
    let Some(at) = at.filter(|x| !x.is_none()) else { return Ok(Asked::Found(Where::Fitting)) };
    if let Ok(state) = at.cast::<State>() {
        return Ok(Asked::Given(fitting(py, core, state.get())?.clone()));
    }
    if let Ok(word) = at.extract::<String>() {
        return match word.as_str() {
            "start" => Ok(Asked::Found(Where::Start)),
            "equilibrium" => Ok(Asked::Found(Where::Equilibrium)),
            _ => Err(PyValueError::new_err(format!("about is 'start', 'equilibrium', a time or a State, not {word:?}"))),
        };
    }
    match at.extract::<f64>() {
        Ok(t) if t.is_finite() => Ok(Asked::Found(Where::Time(t))),
        _ => Err(PyTypeError::new_err(format!("about is 'start', 'equilibrium', a time or a State, not {at}"))),
    }
}

/// A state with its description and the warnings of its computation.
type At = (Configuration, String, Vec<Diagnostic>);

fn state_of(model: &fourbar::Model, asked: Asked, inputs: &[(String, f64)]) -> Result<At, Error> {
    match asked {
        Asked::Given(c) => Ok((c, "the given state".into(), Vec::new())),
        Asked::Found(at) => {
            let a = about(model, at, inputs)?;
            Ok((a.state, a.words, a.warnings))
        }
    }
}

fn with_more(mut list: Vec<Diagnostic>, more: &[Diagnostic]) -> Vec<Diagnostic> {
    for d in more {
        if !list.contains(d) {
            list.push(d.clone());
        }
    }
    list
}

impl Core {
    fn rest<'py>(&self, py: Python<'py>, core: &Py<Core>, e: &Equilibrium) -> PyResult<Bound<'py, PyDict>> {
        let d = PyDict::new(py);
        let v = &e.verdict;
        d.set_item("state", State::of_file(py, core, self.drawn(), e.state.clone()))?;
        d.set_item("stability", e.stability().word())?;
        d.set_item("omega2", v.omega2.clone().into_pyarray(py))?;
        d.set_item("softest", &v.softest)?;
        d.set_item("energy", e.energy)?;
        d.set_item("residual", e.residual)?;
        d.set_item("iterations", e.iterations)?;
        d.set_item("method", e.method)?;
        d.set_item("freedom", e.freedom)?;
        d.set_item("redundant", e.redundant)?;
        d.set_item("warnings", self.notes(py, &e.warnings)?)?;
        Ok(d)
    }
}

/// Equilibria, starts, hits, whether the search was complete, and warnings.
type Rests<'py> = (Bound<'py, PyList>, usize, usize, bool, Bound<'py, PyList>);

#[pymethods]
impl Core {
    /// Full analysis of the mechanism: headline, text, detailed text, fields as JSON, warnings, error of assembly.
    fn check<'py>(&self, py: Python<'py>) -> PyResult<(String, String, String, String, Bound<'py, PyList>)> {
        let (model, warnings) = (Arc::clone(&self.model), self.loaded.warnings.clone());
        let found = interruptible(py, move |_| {
            let f = report::examine(&model, &warnings);
            let texts = (report::headline(&model, &f), report::words(&model, &f, false), report::words(&model, &f, true));
            (texts, report::fields(&model, &f), f.warnings.iter().chain(f.assembled.as_ref().err()).cloned().collect::<Vec<_>>())
        })?;
        let ((headline, brief, whole), mut fields, notes) = found;
        fields["file"] = self.name().into();
        fields["hash"] = self.loaded.hash.clone().into();
        fields["unused_parameters"] = self.loaded.unused_parameters.clone().into();
        Ok((headline, brief, whole, fields.to_string(), self.notes(py, &notes)?))
    }

    /// The consistent start, or the consistent state nearest to another one.
    #[pyo3(signature = (state=None, mode=None))]
    fn assemble(slf: Py<Self>, py: Python<'_>, state: Option<&State>, mode: Option<u16>) -> PyResult<State> {
        let core = slf.get();
        let from = state.map(|s| fitting(py, core, s).cloned()).transpose()?;
        let model = Arc::clone(&core.model);
        let done = interruptible(py, move |_| match from {
            None => assembly::modes::assemble_in(&model, mode),
            Some(from) => {
                // Conditions of the start in the file do not apply to other states.
                let mut free = fourbar::Model::clone(&model);
                free.hold.clear();
                free.start.clear();
                assemble_from(&free, &from, assembly::Options::default())
            }
        })?;
        let assembled = done.map_err(|d| core.failed(py, d))?;
        Ok(State::of_file(py, &slf, &core.model, assembled.configuration))
    }

    /// Compares all formulations: verdict, whether they agree, reasons, the table as text, everything as JSON.
    fn verify(&self, py: Python<'_>, settings: &Bound<'_, PyDict>) -> PyResult<(String, bool, Vec<String>, String, String)> {
        let mut s = Settings::of(&self.model);
        let own = settings::study(&self.model, self.name(), settings)?;
        if let Some(t_end) = get::<f64>(settings, "t_end")? {
            s.study.t_end = t_end;
            s.study.output_step = s.study.output_step.min(t_end / 20.0).max(t_end / 100.0);
        }
        s.study.output_step = get(settings, "output_step")?.unwrap_or(s.study.output_step);
        s.tol = get(settings, "tol")?.unwrap_or(s.tol);
        (s.study.mode, s.study.inputs) = (own.mode, own.inputs);
        s.formulations = get(settings, "formulations")?.unwrap_or_default();
        if let Some(x) = get::<f64>(settings, "patience")? {
            let refused = |_| PyValueError::new_err(format!("patience must be a finite number of seconds, not negative; it is {x}"));
            s.patience = Duration::try_from_secs_f64(x).map_err(refused)?;
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        s.threads = get::<usize>(settings, "threads")?.unwrap_or(cores).max(1);
        let (model, states) = (Arc::clone(&self.model), !self.model.states.is_empty());
        let done = interruptible(py, move |_| verify(&model, &s, &|_| {}))?.map_err(|d| self.failed(py, d))?;
        let agreed = done.verdict.word == Word::Agreed;
        let (word, words, table) = (done.verdict.word.to_string(), done.verdict.words.clone(), done.table(states));
        let mut fields = json!(done);
        fields["agree"] = json!(done.verdict.agree);
        fields["word"] = json!(done.verdict.word);
        Ok((word, agreed, words, table, fields.to_string()))
    }

    /// Equilibria as a list of dictionaries, and for a search starts, hits and whether it is complete.
    #[pyo3(signature = (kind, t, inputs, all, starts))]
    fn equilibrium<'py>(
        slf: Py<Self>,
        py: Python<'py>,
        kind: &str,
        t: f64,
        inputs: Option<&Bound<'py, PyDict>>,
        all: bool,
        starts: usize,
    ) -> PyResult<Rests<'py>> {
        let core = slf.get();
        let kind = match kind {
            "stable" => Kind::Stable,
            "any" => Kind::Any,
            other => return Err(PyValueError::new_err(format!("kind is 'stable' or 'any', not {other:?}"))),
        };
        if !t.is_finite() {
            return Err(PyValueError::new_err(format!("t cannot be {t}")));
        }
        let options = Options { kind, t, inputs: input_values(core, inputs)?, starts };
        let model = Arc::clone(core.drawn());
        let found = interruptible(py, move |_| match all {
            true => search(&model, &options),
            false => {
                settle(&model, &options).map(|one| Found { list: vec![one], starts: 0, hits: 1, complete: false, warnings: Vec::new() })
            }
        })?
        .map_err(|d| core.failed(py, d))?;
        let list = found.list.iter().map(|e| core.rest(py, &slf, e)).collect::<PyResult<Vec<_>>>()?;
        let warnings = core.notes(py, core.loaded.warnings.iter().chain(&found.warnings))?;
        Ok((PyList::new(py, list)?, found.starts, found.hits, found.complete, warnings))
    }

    /// Vibrations about a state.
    #[pyo3(signature = (about, inputs, frozen, count))]
    fn modes<'py>(
        slf: Py<Self>,
        py: Python<'py>,
        about: Option<&Bound<'py, PyAny>>,
        inputs: Option<&Bound<'py, PyDict>>,
        frozen: bool,
        count: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        let core = slf.get();
        let (at, inputs) = (asked(py, core, about)?, input_values(core, inputs)?);
        let model = Arc::clone(&core.model);
        let done = interruptible(py, move |_| {
            let (state, words, warnings) = state_of(&model, at, &inputs)?;
            let found = if fits(&model).is_ok() {
                let request = Request { inputs: Some(Vec::new()), outputs: Some(Vec::new()), frozen };
                modes(&model, linearize(&model, &state, &request)?)?
            } else {
                lowest(&model, &state, count)?
            };
            Ok::<_, Error>((found, words, warnings))
        })?;
        let (found, words, warnings) = done.map_err(|e| core.failed(py, e))?;
        let d = PyDict::new(py);
        let list = found.list.iter().map(|m| mode(py, m)).collect::<PyResult<Vec<_>>>()?;
        d.set_item("modes", PyList::new(py, list)?)?;
        d.set_item("about", words)?;
        d.set_item("state", State::of_file(py, &slf, &core.model, found.state.clone()))?;
        d.set_item("states", found.states)?;
        d.set_item("freedom", found.freedom.map(|f| (f[0], f[1])))?;
        d.set_item("rigid", found.rigid)?;
        d.set_item("rigid_motions", &found.rigid_motions)?;
        d.set_item("idle", found.idle)?;
        d.set_item("stable", found.growing().is_none())?;
        d.set_item("warnings", core.notes(py, &with_more(warnings, &found.warnings))?)?;
        Ok(d)
    }

    /// The linear model about a state.
    #[pyo3(signature = (about, inputs, outputs, values, frozen))]
    fn linearize<'py>(
        slf: Py<Self>,
        py: Python<'py>,
        about: Option<&Bound<'py, PyAny>>,
        inputs: Option<Vec<String>>,
        outputs: Option<Vec<String>>,
        values: Option<&Bound<'py, PyDict>>,
        frozen: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let core = slf.get();
        let (at, values) = (asked(py, core, about)?, input_values(core, values)?);
        let model = Arc::clone(&core.model);
        let done = interruptible(py, move |_| {
            let (state, words, warnings) = state_of(&model, at, &values)?;
            let l = linearize(&model, &state, &Request { inputs, outputs, frozen })?;
            Ok::<_, Error>((l, words, warnings))
        })?;
        let (l, words, warnings) = done.map_err(|e| core.failed(py, e))?;
        let d = PyDict::new(py);
        for (name, m) in [("A", &l.A), ("B", &l.B), ("C", &l.C), ("D", &l.D)] {
            d.set_item(name, matrix(py, m)?)?;
        }
        d.set_item("states", &l.states)?;
        d.set_item("inputs", &l.inputs)?;
        d.set_item("outputs", &l.outputs)?;
        d.set_item("about", words)?;
        d.set_item("state", State::of_file(py, &slf, &core.model, l.state.clone()))?;
        d.set_item("warnings", core.notes(py, &with_more(warnings, &l.warnings))?)?;
        Ok(d)
    }
}

fn mode<'py>(py: Python<'py>, m: &Mode) -> PyResult<Bound<'py, PyDict>> {
    let d = PyDict::new(py);
    d.set_item("eigenvalue", PyComplex::from_doubles(py, m.s.re, m.s.im))?;
    d.set_item("omega", m.omega)?;
    d.set_item("frequency", m.frequency)?;
    d.set_item("damping", m.damping)?;
    d.set_item("condition", m.condition)?;
    d.set_item("words", &m.words)?;
    d.set_item("energy", m.energy.clone())?;
    let motion: Vec<Complex64> = m.motion.iter().map(|x| Complex64::new(x.re, x.im)).collect();
    let bodies = motion.len() / 6;
    d.set_item("motion", motion.into_pyarray(py).reshape([bodies, 6])?)?;
    Ok(d)
}
