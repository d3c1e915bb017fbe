//! Fourbar for Python: the module `fourbar._fourbar`, on which the package `fourbar` is built.
//!
//! There is no mechanics here. `model` holds a mechanism with the text it was read from, `run` runs studies, `simulation` and `state`
//! expose the engine's simulation and evaluation, `analyses` the results of `check`, `verify`, equilibria, modes and linear models, and
//! `export` writes results; `verbs` runs verbs of the command that need no arrays, `sweep` runs cases of a sweep, and `words` translates
//! advice to Python's terms. Numbers become numpy arrays; reports are passed as JSON and become dictionaries in Python.
//!
//! Every lengthy call releases the interpreter's lock and checks for Ctrl-C; a panic becomes an exception of the package.
#![allow(non_snake_case)]

mod analyses;
mod arrays;
mod cases;
mod errors;
mod export;
mod guard;
mod model;
mod run;
mod settings;
mod simulation;
mod snapshot;
mod state;
mod sweep;
mod verbs;
mod words;

use pyo3::prelude::*;

/// The version of the engine.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

#[pymodule]
fn _fourbar(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<model::Core>()?;
    m.add_class::<run::Ran>()?;
    m.add_class::<state::State>()?;
    m.add_class::<simulation::Simulation>()?;
    m.add_class::<simulation::Inputs>()?;
    m.add_class::<snapshot::BodyState>()?;
    m.add_class::<snapshot::JointState>()?;
    m.add_class::<snapshot::DriveState>()?;
    m.add_class::<snapshot::Energy>()?;
    m.add_class::<sweep::Cases>()?;
    m.add_class::<sweep::Folder>()?;
    m.add_class::<cases::CaseTable>()?;
    m.add_function(wrap_pyfunction!(version, m)?)?;
    m.add_function(wrap_pyfunction!(model::load, m)?)?;
    m.add_function(wrap_pyfunction!(model::examples, m)?)?;
    m.add_function(wrap_pyfunction!(model::explain, m)?)?;
    m.add_function(wrap_pyfunction!(model::formulations, m)?)?;
    m.add_function(wrap_pyfunction!(state::restored_state, m)?)?;
    m.add_function(wrap_pyfunction!(simulation::restored_simulation, m)?)?;
    m.add_function(wrap_pyfunction!(run::loop_of_runs, m)?)?;
    m.add_function(wrap_pyfunction!(simulation::loop_of_steps, m)?)?;
    m.add_function(wrap_pyfunction!(export::arrow_stream, m)?)?;
    m.add_function(wrap_pyfunction!(export::parquet_file, m)?)?;
    m.add_function(wrap_pyfunction!(verbs::answer, m)?)?;
    m.add_function(wrap_pyfunction!(guard::panics, m)?)?;
    Ok(())
}
