//! Shared parts of the tests of the analyses.
#![allow(dead_code)]

use fourbar::trajectory::Column;
use fourbar::{Error, Model};
use fourbar_design::measure::Measure;
use fourbar_design::sensitivities::Parameters;
use fourbar_io::{ReadOptions, Variations, read_model};
use std::path::PathBuf;

/// A model of these tests, with parameters.
pub fn model_with(name: &str, set: &[(&str, &str)]) -> Model {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/models").join(format!("{name}.yaml"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let set: Vec<(String, String)> = set.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
    let loaded = read_model(&text, &ReadOptions { set: &set, ..ReadOptions::default() }).unwrap_or_else(|e| panic!("{name}: {e}"));
    loaded.spec.build().unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// The mechanism described by a text.
pub fn of_text(text: &str) -> Model {
    read_model(text, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}")).spec.build().unwrap_or_else(|e| panic!("{e}"))
}

/// A model of these tests.
pub fn model(name: &str) -> Model {
    model_with(name, &[])
}

/// A coordinate of a joint at a state.
pub fn coordinate(model: &Model, state: &fourbar::Configuration, joint: &str, what: &str) -> f64 {
    let j = model.joints.iter().find(|j| j.name == joint).expect("the joint");
    let [a, b] = j.bodies.map(|b| &state.q[b.index()]);
    let y = j.coordinates().find(|(k, _)| *k == what).expect("the coordinate").1;
    y.value(a, b, &state.turns)
}

#[track_caller]
pub fn near(x: f64, y: f64, tolerance: f64) {
    assert!((x - y).abs() <= tolerance * y.abs().max(1.0), "{x} instead of {y}");
}

/// Calls a function with the parameters of a file.
pub fn with<T>(text: &str, f: impl FnOnce(&Parameters<'_>) -> T) -> T {
    let loaded = read_model(text, &ReadOptions::default()).unwrap_or_else(|e| panic!("{text}\n{e}"));
    let file = Variations::new(&loaded, None, &[], false).unwrap_or_else(|e| panic!("{e}"));
    let (names, values): (Vec<String>, Vec<f64>) = loaded.parameters.iter().cloned().unzip();
    let build =
        |p: &[f64]| -> Result<Model, Error> { file.model(&names.iter().map(String::as_str).zip(p.iter().copied()).collect::<Vec<_>>()) };
    f(&Parameters::new(names.clone(), values, &build).with_computed(&loaded.computed_parameters))
}

/// Parses measures that name no parameters.
pub fn reads<'a>(texts: &'a [&'a str]) -> impl Fn(&[Column], &[f64]) -> Result<Vec<Measure>, Error> + 'a {
    |columns, _| Ok(texts.iter().map(|t| Measure::new(t, columns)).collect::<Result<Vec<_>, _>>()?)
}
