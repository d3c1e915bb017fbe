//! What happened: named columns with units, one row per output time, in global terms.

pub mod outputs;

use crate::force::{Force, eval};
use crate::model::{JointCoordinate, Model};
use crate::motion::Instant;
use serde::Serialize;
use std::borrow::Cow;

/// A column of a trajectory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Column {
    /// Plain name, such as `crank.r.x`.
    pub name: String,
    /// SI unit, `1` for pure numbers; outputs of the author's own may have any unit, or none that is known (empty).
    pub unit: Cow<'static, str>,
}

impl Column {
    /// Whether it shows a force or a torque.
    pub fn is_load(&self) -> bool {
        matches!(&*self.unit, "N" | "N*m")
    }
}

/// Rows of numbers under named columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trajectory {
    /// The columns.
    pub columns: Vec<Column>,
    /// All rows one after the other.
    pub data: Vec<f64>,
}

impl Trajectory {
    /// Number of rows.
    pub fn len(&self) -> usize {
        if self.columns.is_empty() { 0 } else { self.data.len() / self.columns.len() }
    }
    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }
    /// A row.
    pub fn row(&self, k: usize) -> &[f64] {
        let n = self.columns.len();
        &self.data[k * n..(k + 1) * n]
    }
    /// Place of a column.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name == name)
    }
    /// The values of a column.
    pub fn column(&self, name: &str) -> Option<Vec<f64>> {
        let k = self.find(name)?;
        Some((0..self.len()).map(|i| self.row(i)[k]).collect())
    }
}

const XYZ: [&str; 3] = ["x", "y", "z"];

/// The columns of a model's results, in their order.
pub fn columns(model: &Model) -> Vec<Column> {
    let mut list = vec![Column { name: "t".into(), unit: "s".into() }];
    // Large mechanisms have millions of columns: every name is made in one go.
    let three = |list: &mut Vec<Column>, prefix: [&str; 2], unit: &'static str| {
        list.extend(XYZ.iter().map(|a| Column { name: [prefix[0], prefix[1], ".", a].concat(), unit: unit.into() }));
    };
    for b in model.bodies.iter().skip(1) {
        three(&mut list, [&b.name, ".r"], "m");
        list.extend([".p.0", ".p.1", ".p.2", ".p.3"].map(|key| Column { name: [&b.name, key].concat(), unit: "1".into() }));
        for (key, unit) in [(".v", "m/s"), (".omega", "rad/s"), (".a", "m/s^2"), (".alpha", "rad/s^2")] {
            three(&mut list, [&b.name, key], unit);
        }
    }
    for j in &model.joints {
        for (key, _) in j.coordinates() {
            list.push(Column { name: [&j.name, ".", key].concat(), unit: if key == "angle" { "rad" } else { "m" }.into() });
        }
        three(&mut list, [&j.name, ".force"], "N");
        three(&mut list, [&j.name, ".torque"], "N*m");
    }
    for d in &model.drives {
        let unit = if d.coordinate == JointCoordinate::Angle { "N*m" } else { "N" };
        list.push(Column { name: format!("{}.effort", d.name), unit: unit.into() });
    }
    for (name, f) in &model.forces {
        if matches!(f, Force::Spring { .. }) {
            list.push(Column { name: format!("{name}.length"), unit: "m".into() });
            list.push(Column { name: format!("{name}.tension"), unit: "N".into() });
        }
    }
    for (name, _) in &model.points {
        three(&mut list, [name, ""], "m");
    }
    outputs::columns(model, &mut list);
    list.extend(["kinetic", "potential", "total", "work"].map(|k| Column { name: format!("energy.{k}"), unit: "J".into() }));
    list.extend(
        [("position", "m"), ("velocity", "m/s"), ("acceleration", "m/s^2")]
            .map(|(k, unit)| Column { name: format!("error.{k}"), unit: unit.into() }),
    );
    list
}

/// Kinetic and potential energy.
pub fn energies(model: &Model, s: &Instant) -> (f64, f64) {
    let bodies = model.bodies.iter().zip(&s.v).skip(1);
    let kinetic = bodies.map(|(b, v)| 0.5 * (b.mass * v.v.norm_squared() + v.w.dot(&(b.J_bar * v.w)))).sum();
    (kinetic, eval::potential(model, &eval::Plain { t: s.t, q: &s.q, v: &s.v, turns: &s.turns, loads: &[] }))
}

/// Turns instants into rows; keeps the sign of quaternions continuous.
#[derive(Clone, Debug)]
pub struct Recorder {
    last_p: Vec<[f64; 4]>,
}

impl Recorder {
    /// A recorder for a model.
    pub fn new(model: &Model) -> Self {
        Self { last_p: vec![[0.0; 4]; model.bodies.len()] }
    }

    /// Last quaternions, for a run that is continued later.
    pub fn memory(&self) -> &[[f64; 4]] {
        &self.last_p
    }

    /// Restores the last quaternions from their numbers; `None` where there are not as many.
    pub fn restore_from(&mut self, last: &[f64]) -> Option<()> {
        if last.len() != 4 * self.last_p.len() {
            return None;
        }
        self.last_p.as_flattened_mut().copy_from_slice(last);
        Some(())
    }

    /// Appends the row of an instant.
    pub fn row(&mut self, model: &Model, s: &Instant, out: &mut Vec<f64>) {
        out.push(s.t);
        for b in 1..model.bodies.len() {
            let (q, v, a) = (&s.q[b], &s.v[b], &s.a[b]);
            let mut p = fourbar_math::so3::quaternion(&q.A);
            if p.iter().zip(&self.last_p[b]).map(|(x, y)| x * y).sum::<f64>() < 0.0 {
                p.iter_mut().for_each(|x| *x = -*x);
            }
            self.last_p[b] = p;
            out.extend_from_slice(q.r.as_slice());
            out.extend_from_slice(&p);
            out.extend_from_slice(v.v.as_slice());
            out.extend_from_slice((q.A * v.w).as_slice());
            out.extend_from_slice(a.v.as_slice());
            out.extend_from_slice((q.A * a.w).as_slice());
        }
        for (k, j) in model.joints.iter().enumerate() {
            let [qi, qj] = j.bodies.map(|b| &s.q[b.index()]);
            out.extend(j.coordinates().map(|(_, y)| y.value(qi, qj, &s.turns)));
            let w = &s.reactions[k];
            out.extend_from_slice(w.force.as_slice());
            out.extend_from_slice(w.torque.as_slice());
        }
        out.extend_from_slice(&s.efforts);
        let x = eval::Plain { t: s.t, q: &s.q, v: &s.v, turns: &s.turns, loads: &[] };
        for (_, f) in &model.forces {
            if let Force::Spring { between, law } = f {
                let (length, tension) = eval::spring_tension(model, between, law, &x);
                out.extend([length, tension]);
            }
        }
        for (_, p) in &model.points {
            out.extend_from_slice(s.q[p.body.index()].point(&p.s).as_slice());
        }
        outputs::row(model, &x, out);
        let (kinetic, potential) = energies(model, s);
        out.extend([kinetic, potential, kinetic + potential, s.work]);
        out.extend(s.errors);
    }
}
