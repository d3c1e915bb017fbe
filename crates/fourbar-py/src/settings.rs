//! Settings of a run from Python.

use crate::errors::raised;
use crate::model::Core;
use fourbar::inputs::{Between, Course, allowed, find};
use fourbar::study::{Analysis, Changes, Study};
use fourbar::{Diagnostic, Model};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A setting, if it is given.
pub fn get<'py, T: for<'a> FromPyObject<'a, 'py>>(settings: &Bound<'py, PyDict>, key: &str) -> PyResult<Option<T>> {
    match settings.get_item(key)? {
        Some(x) if !x.is_none() => {
            let kind = x.get_type().name()?.to_string();
            let shown = x.repr().map_or_else(|_| kind.clone(), |r| r.to_string());
            x.extract().map(Some).map_err(|_| PyTypeError::new_err(format!("{key} cannot be {shown}, of type {kind}")))
        }
        _ => Ok(None),
    }
}

/// The study of the model's file with the given settings.
pub fn study(model: &Model, name: &str, settings: &Bound<'_, PyDict>) -> PyResult<Study> {
    let analysis = match get::<String>(settings, "analysis")?.as_deref() {
        None => None,
        Some("kinematics") => Some(Analysis::Kinematics),
        Some("dynamics") => Some(Analysis::Dynamics),
        Some(other) => return Err(PyValueError::new_err(format!("analysis is 'dynamics' or 'kinematics', not {other:?}"))),
    };
    let mut options = Vec::new();
    if let Some(given) = get::<Bound<'_, PyDict>>(settings, "options")? {
        for (key, value) in given.iter() {
            options.push((key.extract::<String>()?.replace('_', "-"), value.str()?.to_string()));
        }
    }
    let changes = Changes {
        analysis,
        formulation: get(settings, "formulation")?,
        integrator: get(settings, "integrator")?,
        t_end: get(settings, "t_end")?,
        output_step: get(settings, "output_step")?,
        step: get(settings, "step")?,
        tol: get(settings, "tol")?,
        options,
        mode: get(settings, "mode")?,
    };
    let mut study = Study::with(model, &changes);
    if let Some(given) = get::<Bound<'_, PyDict>>(settings, "inputs")? {
        study.inputs = inputs(model, name, &given)?;
    }
    Ok(study)
}

/// Inputs by name: numbers, texts with units, or tables as pairs of times and values, followed by `"linear"` for linear interpolation.
fn inputs(model: &Model, file: &str, given: &Bound<'_, PyDict>) -> PyResult<Vec<(String, Course)>> {
    let py = given.py();
    let told = |d: Diagnostic| raised(py, &[d], file);
    let mut list = Vec::new();
    for (key, value) in given.iter() {
        let name: String = key.extract()?;
        find(model, &name).map_err(told)?;
        let course = if let Ok(x) = value.extract::<f64>() {
            Course::Value(x)
        } else if let Ok(text) = value.extract::<String>() {
            let read = fourbar_io::read_inputs(model, &[(name.clone(), text)]).map_err(told)?;
            read.into_iter().next().map_or(Course::Value(f64::NAN), |(_, c)| c)
        } else {
            table(&name, &value)?.map_err(told)?
        };
        list.push((name, course));
    }
    Ok(list)
}

fn table(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Result<Course, Diagnostic>> {
    let refused =
        || PyTypeError::new_err(format!("input {name:?} is a number, a text, (times, values) or (times, values, 'linear'), not {value}"));
    let parts: Vec<Bound<'_, PyAny>> = value.try_iter().map_err(|_| refused())?.collect::<PyResult<_>>()?;
    let (t, x, between) = match parts.as_slice() {
        [t, x] => (t, x, Between::Hold),
        [t, x, how] => match how.extract::<String>().map_err(|_| refused())?.as_str() {
            "hold" => (t, x, Between::Hold),
            "linear" => (t, x, Between::Linear),
            _ => return Err(refused()),
        },
        _ => return Err(refused()),
    };
    let list = |x: &Bound<'_, PyAny>| x.extract::<Vec<f64>>().map_err(|_| refused());
    let named = |d: Diagnostic| Diagnostic { message: format!("input `{name}`: {}", d.message), ..d }.name(name);
    Ok(Course::table(list(t)?, list(x)?, between).map_err(named))
}

/// Values of inputs for an analysis at one instant, inside their ranges.
pub fn input_values(core: &Core, given: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<(String, f64)>> {
    let Some(given) = given else { return Ok(Vec::new()) };
    let list = numbers_by_name("input", given)?;
    for (name, x) in &list {
        let fits = find(&core.model, name).and_then(|k| allowed(&core.model, k, *x));
        fits.map_err(|d| core.failed(given.py(), d))?;
    }
    Ok(list)
}

/// Finite numbers by name; `what` describes them in messages.
pub fn numbers_by_name(what: &str, given: &Bound<'_, PyDict>) -> PyResult<Vec<(String, f64)>> {
    let mut list = Vec::new();
    for (key, value) in given.iter() {
        let name: String = key.extract()?;
        let x = value.extract::<f64>().map_err(|_| PyTypeError::new_err(format!("{what} {name:?} must be a number here, not {value}")))?;
        if !x.is_finite() {
            return Err(PyValueError::new_err(format!("{what} {name:?} cannot be {x}")));
        }
        list.push((name, x));
    }
    Ok(list)
}
