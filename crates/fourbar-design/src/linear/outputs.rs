//! Inputs and outputs of a linear model, by name.

use super::Request;
use crate::operator::{Along, Direction};
use fourbar::diagnostic::nearest;
use fourbar::evaluate::by_body;
use fourbar::force::eval::{States, coordinate_of};
use fourbar::model::JointCoordinate;
use fourbar::state::Configuration;
use fourbar::{Diagnostic, Model};
use nalgebra::{DMatrix, DVector};

/// What an output reads.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Reads {
    /// A coordinate of a joint.
    Joint(usize, JointCoordinate),
    /// The rate of the first coordinate of a joint.
    Speed(usize),
    /// A component of a point's position, or of its velocity.
    Point(usize, usize, bool),
    /// A result column of the author's own.
    Output(usize),
    /// A state of the author's own.
    State(usize),
}

/// An output of a linear model.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Its name.
    pub name: String,
    reads: Reads,
}

/// Joint coordinates that are outputs where the file names none, at most.
const COORDINATES: usize = 24;

/// All outputs that a mechanism has.
pub fn known_outputs(model: &Model) -> Vec<Output> {
    let mut list = Vec::new();
    let mut put = |name: String, reads: Reads| list.push(Output { name, reads });
    for (k, o) in model.outputs.iter().enumerate() {
        put(o.name.clone(), Reads::Output(k));
    }
    for (k, j) in model.joints.iter().enumerate() {
        for (what, _) in j.coordinates() {
            let which = if what == "angle" { JointCoordinate::Angle } else { JointCoordinate::Distance };
            put(format!("{}.{what}", j.name), Reads::Joint(k, which));
        }
        if j.coordinates().next().is_some() {
            put(format!("{}.speed", j.name), Reads::Speed(k));
        }
    }
    for (k, (name, _)) in model.points.iter().enumerate() {
        for (i, axis) in ["x", "y", "z"].iter().enumerate() {
            put(format!("{name}.{axis}"), Reads::Point(k, i, false));
            put(format!("{name}.v{axis}"), Reads::Point(k, i, true));
        }
    }
    for (k, s) in model.states.iter().enumerate() {
        put(s.name.clone(), Reads::State(model.first_state() + k));
    }
    list
}

/// The outputs that are asked for.
pub(super) fn wanted(model: &Model, request: &Request) -> Result<Vec<Output>, Diagnostic> {
    let known = known_outputs(model);
    let Some(names) = &request.outputs else {
        let own = known.iter().filter(|o| matches!(o.reads, Reads::Output(_))).cloned().collect::<Vec<_>>();
        let joints = known.iter().filter(|o| matches!(o.reads, Reads::Joint(..))).take(COORDINATES).cloned();
        return Ok(if own.is_empty() { joints.collect() } else { own });
    };
    let find = |name: &String| {
        known.iter().find(|o| o.name == *name).cloned().ok_or_else(|| unknown("output", name, known.iter().map(|o| o.name.as_str())))
    };
    names.iter().map(find).collect()
}

/// Places of the inputs that are asked for.
pub(super) fn inputs(model: &Model, request: &Request) -> Result<Vec<usize>, Diagnostic> {
    let Some(names) = &request.inputs else { return Ok((0..model.inputs.len()).collect()) };
    let find = |name: &String| {
        let place = model.inputs.iter().position(|i| i.name == *name);
        place.ok_or_else(|| unknown("input", name, model.inputs.iter().map(|i| i.name.as_str())))
    };
    names.iter().map(find).collect()
}

fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> Diagnostic {
    let help = match nearest(name, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None if what == "input" => "inputs are declared under `inputs:` and read by expressions of forces".into(),
        None => {
            "outputs are coordinates such as `pin.angle`, `pin.speed`, `tip.x` and `tip.vx`, states, and the names under `outputs:`".into()
        }
    };
    Diagnostic::new("U401", format!("there is no {what} `{name}`")).name(name).help(help)
}

/// Slope of an output along a direction.
fn slope(model: &Model, x: &Along<'_>, o: &Output) -> f64 {
    match o.reads {
        Reads::Joint(k, which) => coordinate_of(model, k, Some(which), x).0.c[1],
        Reads::Speed(k) => coordinate_of(model, k, None, x).1.c[1],
        Reads::Point(k, i, velocity) => {
            let (r, v) = x.place(&model.points[k].1);
            if velocity { v[i].c[1] } else { r[i].c[1] }
        }
        Reads::Output(k) => x.law(model, &model.outputs[k].law).c[1] / model.outputs[k].size,
        Reads::State(k) => x.direction.z.get(k).copied().unwrap_or(0.0),
    }
}

/// `C` and `D`: slopes of the outputs along states and inputs.
pub(super) fn matrices(
    model: &Model,
    state: &Configuration,
    outputs: &[Output],
    Q: &DMatrix<f64>,
    V: &DMatrix<f64>,
    before: usize,
    inputs: &[usize],
) -> (DMatrix<f64>, DMatrix<f64>) {
    let mut C = DMatrix::zeros(outputs.len(), Q.ncols());
    let mut D = DMatrix::zeros(outputs.len(), inputs.len());
    let mut z = vec![0.0; model.auxiliaries()];
    let mut column = |q: &DVector<f64>, v: &DVector<f64>, carried: Option<usize>| -> DVector<f64> {
        z.fill(0.0);
        if let Some(k) = carried {
            z[k] = 1.0;
        }
        let (q, v) = (by_body(q), by_body(v));
        let x = Along { state, direction: Direction { q: &q, v: &v, z: &z } };
        DVector::from_iterator(outputs.len(), outputs.iter().map(|o| slope(model, &x, o)))
    };
    for k in 0..Q.ncols() {
        let carried = (k >= before).then(|| model.first_state() + k - before);
        C.set_column(k, &column(&Q.column(k).into_owned(), &V.column(k).into_owned(), carried));
    }
    let none = DVector::zeros(Q.nrows());
    for (k, &input) in inputs.iter().enumerate() {
        D.set_column(k, &column(&none, &none, Some(input)));
    }
    (C, D)
}
