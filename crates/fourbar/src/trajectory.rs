//! Trajectories: named columns with units, one row per output time, in global coordinates.

mod elements;
pub mod outputs;

pub use elements::{drive_speed, force_value, rates};

use crate::force::eval;
use crate::model::Model;
use crate::motion::Instant;
use serde::Serialize;
use std::borrow::Cow;

/// A column of a trajectory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Column {
    /// Plain name, such as `crank.r.x`.
    pub name: String,
    /// SI unit, `1` for pure numbers; user-defined outputs may have any unit, or an unknown one (empty).
    pub unit: Cow<'static, str>,
}

impl Column {
    /// Whether it contains a force, a torque or a power.
    pub fn is_load(&self) -> bool {
        matches!(&*self.unit, "N" | "N*m" | "W") && self.name.contains('.')
    }
    /// Whether it contains the rate of a joint coordinate.
    fn is_rate(&self) -> bool {
        let ends = [".speed", ".acceleration"];
        ends.iter().any(|e| self.name.ends_with(e)) && !self.name.starts_with("error.")
    }
    /// Whether it belongs to a force element.
    fn is_element(&self) -> bool {
        let ends = [".length", ".angle", ".rate", ".gap", ".slip", ".state"];
        self.is_load() || ends.iter().any(|e| self.name.ends_with(e))
    }
    /// Whether it contains a component of a reaction.
    fn is_reaction(&self) -> bool {
        let vector = XYZ.iter().find_map(|a| self.name.strip_suffix(a)?.strip_suffix('.'));
        vector.is_some_and(|v| v.ends_with(".force") || v.ends_with(".torque"))
    }
}

/// Which columns are needed: the others are zero and are not computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WantedColumns {
    /// Reactions, and efforts of drives.
    pub loads: bool,
    /// Speeds and accelerations of joints.
    pub rates: bool,
    /// Quantities of force elements.
    pub elements: bool,
    /// Reactions, among the loads.
    pub reactions: bool,
    /// Residuals of the constraints.
    pub errors: bool,
}

impl WantedColumns {
    /// All of them.
    pub const ALL: WantedColumns = WantedColumns { loads: true, rates: true, elements: true, reactions: true, errors: true };

    /// Requirements of some columns.
    pub fn of<'c>(columns: impl IntoIterator<Item = &'c Column>) -> Self {
        let mut wanted = WantedColumns { loads: false, rates: false, elements: false, reactions: false, errors: false };
        for c in columns {
            wanted.loads |= c.is_load();
            wanted.rates |= c.is_rate();
            wanted.elements |= c.is_element();
            wanted.reactions |= c.is_reaction();
            wanted.errors |= c.name.starts_with("error.");
        }
        wanted
    }
}

/// Numbers in named columns, one for every output time.
///
/// ```
/// use fourbar::Trajectory;
/// use fourbar::study::{self, Study};
/// let model = fourbar_io::load("fourbar")?;
/// let mut trajectory = Trajectory::default();
/// study::run(&model, &Study::of(&model), &mut trajectory)?;
/// let angle: &[f64] = trajectory.column("O.angle").expect("the joint is a hinge");
/// assert_eq!(angle.len(), trajectory.len());
/// assert!((angle[200] - 2.0 * std::f64::consts::PI).abs() < 1e-12);
/// # Ok::<(), fourbar::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Trajectory {
    /// The columns.
    pub columns: Vec<Column>,
    /// The numbers of each column, all of one length.
    pub values: Vec<Vec<f64>>,
}

impl Trajectory {
    /// Columns without rows.
    pub fn new(columns: Vec<Column>) -> Self {
        Self { values: vec![Vec::new(); columns.len()], columns }
    }
    /// Appends a row with one number per column; surplus numbers are ignored.
    pub fn push(&mut self, row: &[f64]) {
        self.values.iter_mut().zip(row).for_each(|(column, x)| column.push(*x));
    }
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.values.first().map_or(0, Vec::len)
    }
    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// A row, gathered from all columns.
    pub fn row(&self, k: usize) -> Vec<f64> {
        self.values.iter().map(|column| column[k]).collect()
    }
    /// Place of a column.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name == name)
    }
    /// The values of a column.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        Some(&self.values[self.find(name)?])
    }
}

const XYZ: [&str; 3] = ["x", "y", "z"];

/// The columns of a model's results, in their order.
pub fn columns(model: &Model) -> Vec<Column> {
    let mut list = vec![Column { name: "t".into(), unit: "s".into() }];
    // Large mechanisms have millions of columns: every name is created in a single allocation.
    let three = elements::vector;
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
        elements::rate_columns(j, &mut list);
        three(&mut list, [&j.name, ".force"], "N");
        three(&mut list, [&j.name, ".torque"], "N*m");
    }
    elements::drive_columns(model, &mut list);
    elements::constraint_columns(model, &mut list);
    elements::force_columns(model, &mut list);
    elements::limit_columns(model, &mut list);
    elements::contact_columns(model, &mut list);
    for (name, _) in &model.points {
        three(&mut list, [name, ""], "m");
    }
    list.extend(model.inputs.iter().map(|i| Column { name: i.name.clone(), unit: i.unit.into() }));
    list.extend(model.states.iter().map(|s| Column { name: s.name.clone(), unit: s.unit.into() }));
    outputs::columns(model, &mut list);
    list.extend(["kinetic", "potential", "total", "work"].map(|k| Column { name: format!("energy.{k}"), unit: "J".into() }));
    if model.has_events() {
        list.push(Column { name: "energy.lost".into(), unit: "J".into() });
    }
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
    let acts = |k: usize| s.switched.as_ref().is_none_or(|x| x.acting.get(k).copied().unwrap_or(true));
    (kinetic, eval::potential_of(model, &s.plain(&[]), acts))
}

/// Converts instants into rows; keeps the sign of quaternions continuous.
#[derive(Clone, Debug)]
pub struct Recorder {
    last_p: Vec<[f64; 4]>,
    wanted: WantedColumns,
    /// Storage for the loads of joints.
    loads: Vec<f64>,
    /// Joints with limits, and their limits.
    limited: Vec<(usize, Vec<usize>)>,
}

impl Recorder {
    /// A recorder for the wanted columns of a model.
    pub fn new(model: &Model, wanted: WantedColumns) -> Self {
        let limited = elements::limited(model);
        Self { last_p: vec![[0.0; 4]; model.bodies.len()], wanted, loads: vec![0.0; model.joints.len()], limited }
    }

    /// Last quaternions, for continuing a run.
    pub fn memory(&self) -> &[[f64; 4]] {
        &self.last_p
    }

    /// Restores the last quaternions from their numbers; `None` if their number differs.
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
            j.coordinates().for_each(|(_, y)| out.extend(if self.wanted.rates { elements::rates(j, &y, s) } else { [0.0; 2] }));
            let w = &s.reactions[k];
            out.extend_from_slice(w.force.as_slice());
            out.extend_from_slice(w.torque.as_slice());
        }
        elements::drive_values(model, s, self.wanted.loads, out);
        elements::constraint_values(model, s, out);
        elements::force_values(model, s, self.wanted.elements, &mut self.loads, out);
        elements::limit_values(model, s, &self.limited, self.wanted.elements, out);
        s.contacts.iter().for_each(|c| out.extend(c.numbers()));
        for (_, p) in &model.points {
            out.extend_from_slice(s.q[p.body.index()].point(&p.s).as_slice());
        }
        out.extend_from_slice(&s.z[..model.inputs.len()]);
        out.extend_from_slice(&s.z[model.first_state()..]);
        outputs::row(model, &s.plain(&[]), out);
        let (kinetic, potential) = energies(model, s);
        out.extend([kinetic, potential, kinetic + potential, s.work]);
        if model.has_events() {
            out.push(s.switched.as_ref().map_or(0.0, |x| x.lost));
        }
        out.extend(s.errors);
    }
}
