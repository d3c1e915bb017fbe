//! Inputs and outputs of a linear model, by name.

use super::Request;
use crate::operator::{Along, Direction};
use fourbar::diagnostic::nearest;
use fourbar::evaluate::by_body;
use fourbar::expr::Expr;
use fourbar::force::eval::{States, coordinate_of};
use fourbar::model::JointCoordinate;
use fourbar::state::Configuration;
use fourbar::time::TimeFunction;
use fourbar::trajectory::{Recorder, WantedColumns, columns};
use fourbar::{Diagnostic, Evaluation, Model, stop};
use nalgebra::{DMatrix, DVector};

/// The quantity of an output.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Reads {
    /// A coordinate of a joint.
    Joint(usize, JointCoordinate),
    /// The rate of the first coordinate of a joint.
    Speed(usize),
    /// A component of a point's position, or of its velocity.
    Point(usize, usize, bool),
    /// A user-defined output column.
    Output(usize),
    /// A user-defined state.
    State(usize),
    /// Any other column of a result: accelerations, reactions, efforts, tensions.
    Column(usize),
}

/// An output of a linear model.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Its name.
    pub name: String,
    reads: Reads,
}

/// Maximum number of joint coordinates used as outputs if the file names none.
const COORDINATES: usize = 24;

/// All possible outputs of a mechanism.
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

/// The requested outputs.
pub(super) fn wanted(model: &Model, request: &Request) -> Result<Vec<Output>, Diagnostic> {
    let known = known_outputs(model);
    let Some(names) = &request.outputs else {
        let own = known.iter().filter(|o| matches!(o.reads, Reads::Output(_))).cloned().collect::<Vec<_>>();
        let joints = known.iter().filter(|o| matches!(o.reads, Reads::Joint(..))).take(COORDINATES).cloned();
        return Ok(if own.is_empty() { joints.collect() } else { own });
    };
    let all = columns(model);
    let find = |name: &String| {
        let column = || all.iter().position(|c| c.name == *name).map(|k| Output { name: name.clone(), reads: Reads::Column(k) });
        let near = || unknown("output", name, known.iter().map(|o| o.name.as_str()).chain(all.iter().map(|c| c.name.as_str())));
        known.iter().find(|o| o.name == *name).cloned().or_else(column).ok_or_else(near)
    };
    names.iter().map(find).collect()
}

/// An input of a linear model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum In {
    /// An input of the mechanism.
    Input(usize),
    /// The acceleration of a drive.
    Drive(usize),
}

impl In {
    /// The name of the input.
    pub fn name(self, model: &Model) -> String {
        match self {
            Self::Input(k) => model.inputs[k].name.clone(),
            Self::Drive(k) => format!("{}''", model.drives[k].name),
        }
    }
}

/// The requested inputs.
pub(super) fn inputs(model: &Model, request: &Request) -> Result<Vec<In>, Diagnostic> {
    let Some(names) = &request.inputs else { return Ok((0..model.inputs.len()).map(In::Input).collect()) };
    let find = |name: &String| {
        let input = model.inputs.iter().position(|i| i.name == *name).map(In::Input);
        let drive = || model.drives.iter().position(|d| d.name == *name).map(In::Drive);
        let known = model.inputs.iter().map(|i| i.name.as_str()).chain(model.drives.iter().map(|d| d.name.as_str()));
        input.or_else(drive).ok_or_else(|| unknown("input", name, known))
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

/// Derivative of an output along a direction.
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
        // Columns follow from the accelerations and are filled in afterwards.
        Reads::Column(_) => 0.0,
    }
}

/// Step of states for outputs that follow from accelerations, relative to their scale.
const APART: f64 = 1e-6;

/// Fills in the derivatives of outputs that follow from accelerations, by differences around the state: accurate to some nine digits.
pub(super) fn of_columns(
    model: &Model,
    state: &Configuration,
    outputs: &[Output],
    directions: [&DMatrix<f64>; 3],
    C: &mut DMatrix<f64>,
) -> Result<(), fourbar::Error> {
    let wanted: Vec<(usize, usize)> =
        outputs.iter().enumerate().filter_map(|(i, o)| if let Reads::Column(k) = o.reads { Some((i, k)) } else { None }).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let [Q, V, Z] = directions;
    let row = |h: f64, k: usize| -> Result<Vec<f64>, fourbar::Error> {
        let mut s = crate::manifold::stepped(state, &(Q.column(k) * h));
        for (v, d) in s.v.iter_mut().zip(&by_body(&(V.column(k) * h))) {
            v.v += d.v;
            v.w += d.w;
        }
        s.z.iter_mut().zip(Z.column(k).iter()).for_each(|(z, d)| *z += h * d);
        let now = Evaluation::new(model, &s)?;
        let mut out = Vec::new();
        Recorder::new(model, WantedColumns::ALL).row(model, now.instant(), &mut out);
        Ok(out)
    };
    for k in 0..Q.ncols() {
        stop::check()?;
        let size = Q.column(k).amax().max(V.column(k).amax()).max(Z.column(k).amax()).max(f64::MIN_POSITIVE);
        let h = APART / size;
        let (less, more) = (row(-h, k)?, row(h, k)?);
        for &(i, column) in &wanted {
            C[(i, k)] = (more[column] - less[column]) / (2.0 * h);
        }
    }
    Ok(())
}

/// `C` and `D`: derivatives of the outputs with respect to states and inputs.
pub(super) fn matrices(
    model: &Model,
    state: &Configuration,
    outputs: &[Output],
    (Q, V): (&DMatrix<f64>, &DMatrix<f64>),
    before: usize,
    inputs: &[In],
) -> Result<(DMatrix<f64>, DMatrix<f64>), fourbar::Error> {
    let mut C = DMatrix::zeros(outputs.len(), Q.ncols());
    let mut D = DMatrix::zeros(outputs.len(), inputs.len());
    let (mut by_state, mut by_input) = (DMatrix::zeros(model.auxiliaries(), Q.ncols()), DMatrix::zeros(model.auxiliaries(), inputs.len()));
    (0..model.states.len()).for_each(|k| by_state[(model.first_state() + k, before + k)] = 1.0);
    for (k, input) in inputs.iter().enumerate() {
        if let In::Input(i) = input {
            by_input[(*i, k)] = 1.0;
        }
    }
    let column = |q: &DVector<f64>, v: &DVector<f64>, z: &DVector<f64>| -> DVector<f64> {
        let (q, v) = (by_body(q), by_body(v));
        let x = Along { state, direction: Direction { q: &q, v: &v, z: z.as_slice() } };
        DVector::from_iterator(outputs.len(), outputs.iter().map(|o| slope(model, &x, o)))
    };
    for k in 0..Q.ncols() {
        stop::check()?;
        C.set_column(k, &column(&Q.column(k).into_owned(), &V.column(k).into_owned(), &by_state.column(k).into_owned()));
    }
    let none = DVector::zeros(Q.nrows());
    for k in 0..inputs.len() {
        D.set_column(k, &column(&none, &none, &by_input.column(k).into_owned()));
    }
    let still = DMatrix::zeros(Q.nrows(), inputs.len());
    of_columns(model, state, outputs, [Q, V, &by_state], &mut C)?;
    of_columns(model, state, outputs, [&still, &still, &by_input], &mut D)?;
    for (k, input) in inputs.iter().enumerate() {
        if let In::Drive(d) = input {
            by_acceleration(model, state, outputs, *d, k, &mut D)?;
        }
    }
    Ok((C, D))
}

/// Derivatives of outputs that follow from accelerations with respect to the acceleration of a drive: evaluations with a modified function
/// of time that has the same value and speed at the instant.
fn by_acceleration(
    model: &Model,
    state: &Configuration,
    outputs: &[Output],
    drive: usize,
    k: usize,
    D: &mut DMatrix<f64>,
) -> Result<(), fourbar::Error> {
    if !outputs.iter().any(|o| matches!(o.reads, Reads::Column(_))) {
        return Ok(());
    }
    let [f, speed, acceleration] = model.drives[drive].value.at(state.t);
    let h = 1e-3 * (1.0 + acceleration.abs());
    let row = |h: f64| -> Result<Vec<f64>, fourbar::Error> {
        let mut other = model.clone();
        let t = format!("(t - ({:e}))", state.t);
        let text = format!("({f:e}) + ({speed:e})*{t} + ({:e})*{t}^2", 0.5 * (acceleration + h));
        let refused = |e: fourbar::expr::ExprError| Diagnostic::new("U401", e.to_string());
        other.drives[drive].value = TimeFunction::Value(Expr::time(&text).map_err(refused)?);
        let now = Evaluation::new(&other, state)?;
        let mut out = Vec::new();
        Recorder::new(&other, WantedColumns::ALL).row(&other, now.instant(), &mut out);
        Ok(out)
    };
    let (less, more) = (row(-h)?, row(h)?);
    for (i, o) in outputs.iter().enumerate() {
        if let Reads::Column(c) = o.reads {
            D[(i, k)] = (more[c] - less[c]) / (2.0 * h);
        }
    }
    Ok(())
}
