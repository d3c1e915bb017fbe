//! Runs of studies.

use crate::guard::{Listener, detached};
use crate::model::Core;
use crate::settings;
use fourbar::study::{self, Failed, Observer, Report, Study};
use fourbar::trajectory::{Column, Trajectory, WantedColumns};
use fourbar::{Diagnostic, Model};
use fourbar_io::results::{Totals, Watched};
use numpy::PyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use serde_json::json;
use std::time::Instant;

/// The report of a run.
#[pyclass(frozen, module = "fourbar._fourbar")]
pub struct Ran {
    /// Settings.
    pub study: Study,
    /// The report, if the run got that far.
    pub report: Option<Report>,
    /// Totals over the rows.
    pub totals: Totals,
    /// Computing time, seconds.
    pub wall_time: f64,
    /// Reason of an early end.
    pub error: Option<Diagnostic>,
    /// Whether it was interrupted.
    pub interrupted: bool,
}

#[pymethods]
impl Ran {
    /// All contents as JSON.
    fn json(&self) -> String {
        json!({
            "study": self.study, "report": self.report, "totals": self.totals, "wall_time": self.wall_time,
            "error": self.error, "interrupted": self.interrupted,
        })
        .to_string()
    }

    /// Restores it from JSON.
    #[staticmethod]
    fn restored(text: &str) -> PyResult<Self> {
        let bad = |e: serde_json::Error| PyValueError::new_err(format!("this is not a stored run: {e}"));
        let v: serde_json::Value = serde_json::from_str(text).map_err(bad)?;
        Ok(Self {
            study: serde_json::from_value(v["study"].clone()).map_err(bad)?,
            report: serde_json::from_value(v["report"].clone()).map_err(bad)?,
            totals: serde_json::from_value(v["totals"].clone()).map_err(bad)?,
            wall_time: v["wall_time"].as_f64().unwrap_or(0.0),
            error: serde_json::from_value(v["error"].clone()).map_err(bad)?,
            interrupted: v["interrupted"] == true,
        })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let py = slf.py();
        Ok((py.get_type::<Self>().getattr("restored")?, (slf.get().json(),).into_pyobject(py)?))
    }

    /// Warnings, those of the file first.
    fn warnings<'py>(&self, py: Python<'py>, core: &Core) -> PyResult<Bound<'py, PyList>> {
        core.notes(py, core.loaded.warnings.iter().chain(self.report.iter().flat_map(|r| &r.warnings)))
    }
}

/// Keeps the rows of a run.
struct Rows<'a> {
    chosen: &'a [usize],
    wanted: WantedColumns,
    /// Values by column.
    values: Vec<Vec<f64>>,
    watched: Watched,
    totals: Totals,
    listener: Listener,
}

impl<'a> Rows<'a> {
    fn new(columns: &[Column], chosen: &'a [usize], rows: usize, listener: Listener) -> Self {
        Self {
            wanted: WantedColumns::of(chosen.iter().map(|&k| &columns[k])),
            values: chosen.iter().map(|_| Vec::with_capacity(rows)).collect(),
            chosen,
            watched: Watched::of(columns),
            totals: Totals::default(),
            listener,
        }
    }
}

impl Observer for Rows<'_> {
    fn begin(&mut self, _: &[Column]) {}

    fn wants(&self) -> WantedColumns {
        self.wanted
    }

    fn row(&mut self, row: &[f64]) {
        self.values.iter_mut().zip(self.chosen).for_each(|(column, &k)| column.push(row[k]));
        self.totals.add(&self.watched, row);
    }

    fn go_on(&mut self, t: f64, t_end: f64) -> bool {
        self.listener.go_on(t, t_end)
    }
}

/// Largest number of rows for which memory is reserved in advance.
const ROOM: f64 = 1e5;

type Outcome<'py> = (Bound<'py, PyArray2<f64>>, Ran, Option<Py<PyAny>>);

#[pymethods]
impl Core {
    /// Runs a study. Returns the numbers of the chosen columns, one row per column; the report; and the exception that ended it early.
    #[pyo3(signature = (settings, chosen, progress=None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        settings: &Bound<'py, PyDict>,
        chosen: Vec<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Outcome<'py>> {
        let study = settings::study(&self.model, self.name(), settings)?;
        if let Some(k) = chosen.iter().find(|&&k| k >= self.columns.len()) {
            return Err(PyValueError::new_err(format!("there is no column number {k}")));
        }
        let rows = (study.t_end / study.output_step + 2.0).clamp(0.0, ROOM) as usize;
        let mut observer = Rows::new(&self.columns, &chosen, rows, Listener::new(progress));
        let started = Instant::now();
        let outcome = detached(py, || study::run(&self.model, &study, &mut observer))?;
        let wall_time = started.elapsed().as_secs_f64();
        let (report, error) = match outcome {
            Ok(report) => (Some(report), None),
            Err(Failed { diagnostic, report }) => (report.map(|r| *r), Some(*diagnostic)),
        };
        let Rows { values, totals, listener, .. } = observer;
        let interrupted = listener.raised.is_some();
        let exception = match (listener.raised, &error) {
            (Some(e), _) => Some(e.into_value(py).into_any()),
            (None, Some(d)) => Some(self.failed(py, d.clone()).into_value(py).into_any()),
            (None, None) => None,
        };
        let shape = [values.len(), values.first().map_or(0, Vec::len)];
        let array = crate::arrays::matrix_of(py, values.concat(), shape)?;
        Ok((array, Ran { study, report, totals, wall_time, error, interrupted }, exception))
    }
}

/// Runs the study of the file `count` times in a Rust loop and returns the seconds, for comparison with a Python loop.
#[pyfunction]
#[pyo3(name = "_loop_of_runs")]
pub fn loop_of_runs(py: Python<'_>, core: &Core, count: usize) -> PyResult<f64> {
    let once = |model: &Model| {
        let mut trajectory = Trajectory::default();
        study::run(model, &Study::of(model), &mut trajectory).map_err(|f| *f.diagnostic)
    };
    let started = Instant::now();
    let done: Result<(), Diagnostic> = detached(py, || (0..count).try_for_each(|_| once(&core.model).map(|_| ())))?;
    done.map_err(|d| core.failed(py, d))?;
    Ok(started.elapsed().as_secs_f64())
}
