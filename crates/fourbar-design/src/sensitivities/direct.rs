//! Derivatives of the equations of motion with respect to a parameter at fixed states, evaluating only what the parameter changes.
//!
//! ```text
//! r = M a + h - f + G^T lambda        s = G a - gamma
//! ```
//! Most parameters change a body or two, the joints at it, or a spring. Masses and inertias enter linearly, so that their derivatives are
//! formed once; only constraints and forces that differ are evaluated in each perturbed mechanism.

use super::trees::changed_forces;
use fourbar::Model;
use fourbar::constraint::{ConstraintSet, Rows};
use fourbar::force::eval::Plain;
use fourbar::model::BodyId;
use fourbar::motion::Loads;
use fourbar::random::Random;
use fourbar::state::{Configuration, Pose, Twist, Wrench};
use nalgebra::{Matrix3, Vector3};

/// A perturbed mechanism, prepared for comparison at fixed states.
pub(super) struct Neighbour {
    /// Change of the parameter.
    pub change: f64,
    /// Its weight in derivatives.
    pub weight: f64,
    pub model: Model,
    pub set: ConstraintSet,
    pub loads: Loads,
}

impl Neighbour {
    /// Scales its rows with the characteristic length of the unperturbed mechanism, so that rows and multipliers are comparable.
    pub fn new(change: f64, weight: f64, around: &Model, model: &Model) -> Self {
        let mut own = around.clone();
        own.length = model.length;
        let set = rows_of(&own);
        Self { change, weight, loads: Loads::new(&own, &set), model: own, set }
    }
}

/// All constraints of a mechanism.
pub(super) fn rows_of(model: &Model) -> ConstraintSet {
    ConstraintSet::new(model.all_constraints(), |_| false)
}

/// States near the start of a run at which differences of constraints show.
pub(super) struct Shown {
    list: Vec<(Configuration, Vec<f64>)>,
    start: Configuration,
    t_end: f64,
}

/// Residual, `gamma` and Jacobian of the constraints at a state, for comparison.
fn look(set: &ConstraintSet, at: &Configuration) -> Vec<f64> {
    let (rows, values) = (set.rows(), set.values);
    let mut out = vec![0.0; 2 * rows + values];
    set.residual(&at.q, &at.turns, at.t, &mut out[..rows]);
    set.gamma(&at.q, &at.v, at.t, &mut out[rows..2 * rows]);
    set.jacobian(&at.q, &mut out[2 * rows..]);
    out
}

impl Shown {
    pub fn new(model: &Model, set: &ConstraintSet, start: &Configuration, t_end: f64) -> Self {
        let mut list = Vec::new();
        for seed in 0..2 {
            let mut random = Random(0x2545_f491_4f6c_dd1d ^ seed);
            let mut s = start.clone();
            for b in 1..s.q.len() {
                let mut three = |size: f64| Vector3::from_fn(|_, _| size * random.number());
                s.q[b] = s.q[b].moved(&Twist { v: three(0.1 * model.length), w: three(0.3) });
                s.v[b] = Twist { v: three(model.length), w: three(1.0) };
            }
            s.t = start.t + (t_end - start.t) * (0.5 + 0.5 * random.number());
            let seen = look(set, &s);
            list.push((s, seen));
        }
        Self { list, start: start.clone(), t_end }
    }

    /// Marks constraints that differ in a perturbed mechanism; time-dependent ones are always marked. `None` if the row structure differs.
    fn changed(&self, set: &ConstraintSet, other: &ConstraintSet, out: &mut [bool]) -> Option<()> {
        if set.row_start != other.row_start || set.values != other.values {
            return None;
        }
        let rows = set.rows();
        for (s, own) in &self.list {
            let seen = look(other, s);
            let differs = |from: usize, to: usize| (from..to).any(|k| own[k].to_bits() != seen[k].to_bits());
            for (c, out) in out.iter_mut().enumerate() {
                let (first, last) = (set.row_start[c], set.row_start[c + 1]);
                let (g, h) = (set.value_start(c), if c + 1 < set.list.len() { set.value_start(c + 1) } else { set.values });
                *out |= differs(first, last) || differs(rows + first, rows + last) || differs(2 * rows + g, 2 * rows + h.max(g));
            }
        }
        let moves = |r: &Rows| matches!(r, Rows::Sum { driven: Some(_), .. });
        set.list.iter().zip(out).for_each(|(c, out)| *out |= c.spare.is_some() || c.rows.iter().any(moves));
        Some(())
    }
}

/// Accelerations by body and multipliers of all rows.
#[derive(Clone, Copy)]
pub(super) struct Moving<'a> {
    pub a: &'a [Twist],
    pub lambda: &'a [f64],
}

/// The derivative of the equations of motion with respect to one parameter.
pub(super) struct Direct {
    gravity: Vector3<f64>,
    /// Bodies that differ, with the derivatives of mass and inertia.
    bodies: Vec<(usize, f64, Matrix3<f64>)>,
    /// Constraints that differ: range of their rows among all.
    places: Vec<(usize, usize)>,
    /// These constraints in each perturbed mechanism, with its weight.
    sets: Vec<(f64, ConstraintSet)>,
    /// Forces that differ, and the mechanisms that they belong to.
    forces: Vec<usize>,
    models: Vec<(f64, Model)>,
    G: Vec<f64>,
    y: Vec<f64>,
    z: Vec<f64>,
}

impl Direct {
    /// Set up from perturbed mechanisms; `None` if their row structure differs.
    pub fn new(model: &Model, set: &ConstraintSet, around: &[Neighbour], shown: &Shown) -> Option<Self> {
        let mut gravity = Vector3::zeros();
        let mut bodies = Vec::new();
        // Differences to the unchanged value: identical values give exactly zero.
        for n in around {
            gravity += (n.model.gravity - model.gravity) * n.weight;
        }
        for (b, own) in model.bodies.iter().enumerate().skip(1) {
            let (mut mass, mut J) = (0.0, Matrix3::zeros());
            for n in around {
                mass += n.weight * (n.model.bodies[b].mass - own.mass);
                J += (n.model.bodies[b].J_bar - own.J_bar) * n.weight;
            }
            if mass != 0.0 || J != Matrix3::zeros() {
                bodies.push((b, mass, J));
            }
        }
        let mut changed = vec![false; set.list.len()];
        for n in around {
            shown.changed(set, &n.set, &mut changed)?;
        }
        let list: Vec<usize> = (0..changed.len()).filter(|&c| changed[c]).collect();
        let places = list.iter().map(|&c| (set.row_start[c], set.row_start[c + 1])).collect();
        let held = |_: BodyId| false;
        let part = |s: &ConstraintSet| ConstraintSet::new(list.iter().map(|&c| s.list[c].clone()).collect(), held);
        let sets: Vec<(f64, ConstraintSet)> =
            if list.is_empty() { Vec::new() } else { around.iter().map(|n| (n.weight, part(&n.set))).collect() };
        let models: Vec<&Model> = around.iter().map(|n| &n.model).collect();
        let forces = changed_forces(model, &models, &shown.start, shown.t_end, false);
        let models = if forces.is_empty() { Vec::new() } else { around.iter().map(|n| (n.weight, n.model.clone())).collect() };
        let (rows, values) = sets.first().map_or((0, 0), |(_, s)| (s.rows(), s.values));
        Some(Self { gravity, bodies, places, sets, forces, models, G: vec![0.0; values], y: vec![0.0; rows], z: vec![0.0; rows] })
    }

    /// Selects the rows that are active at a time, for elements with two equivalent sets of rows.
    pub fn choose(&mut self, t: f64) {
        self.sets.iter_mut().for_each(|(_, s)| {
            s.choose(t);
        });
    }

    /// Adds `Phi_p`.
    pub fn add_gaps(&mut self, at: &Plain<'_>, out: &mut [f64]) {
        for (weight, s) in &self.sets {
            s.residual(at.q, at.turns, at.t, &mut self.y);
            scatter(&self.places, *weight, &self.y, out);
        }
    }

    /// Adds `r_p` and `s_p`.
    pub fn add(&mut self, model: &Model, at: &Plain<'_>, moving: Moving<'_>, r: &mut [Wrench], s: &mut [f64]) {
        let Moving { a, lambda } = moving;
        if self.gravity != Vector3::zeros() {
            r.iter_mut().zip(&model.bodies).skip(1).for_each(|(r, b)| r.F -= self.gravity * b.mass);
        }
        for (b, mass, J) in &self.bodies {
            r[*b].F += (a[*b].v - model.gravity) * *mass;
            let w = &at.v[*b].w;
            r[*b].T += J * a[*b].w + w.cross(&(J * w));
        }
        for (weight, set) in &self.sets {
            set.jacobian(at.q, &mut self.G);
            gather(&self.places, lambda, &mut self.z);
            set.add_transposed(&self.G, &self.z, *weight, r);
            set.multiply(&self.G, a, &mut self.y);
            scatter(&self.places, *weight, &self.y, s);
            set.gamma(at.q, at.v, at.t, &mut self.y);
            scatter(&self.places, -weight, &self.y, s);
        }
        for (weight, m) in &self.models {
            for &f in &self.forces {
                m.forces[f].1.wrench(m, at, &mut |b, F: Vector3<f64>, T: Vector3<f64>| {
                    r[b].F -= F * *weight;
                    r[b].T -= T * *weight;
                });
            }
        }
        r[0] = Wrench::zero();
    }
}

/// Adds values of some rows to their positions among all rows.
fn scatter(places: &[(usize, usize)], weight: f64, from: &[f64], to: &mut [f64]) {
    let mut k = 0;
    for &(first, last) in places {
        to[first..last].iter_mut().zip(&from[k..]).for_each(|(y, x)| *y += weight * x);
        k += last - first;
    }
}

/// Reads values of some rows from their positions among all rows.
fn gather(places: &[(usize, usize)], from: &[f64], to: &mut [f64]) {
    let mut k = 0;
    for &(first, last) in places {
        to[k..k + last - first].copy_from_slice(&from[first..last]);
        k += last - first;
    }
}

/// The equations of motion at a state with given accelerations and multipliers: `r` and `s`.
pub(super) struct Residual {
    pub r: Vec<Wrench>,
    pub s: Vec<f64>,
    G: Vec<f64>,
    gamma: Vec<f64>,
}

impl Residual {
    pub fn new(model: &Model, set: &ConstraintSet) -> Self {
        let rows = vec![0.0; set.rows()];
        Self { r: vec![Wrench::zero(); model.bodies.len()], s: rows.clone(), G: vec![0.0; set.values], gamma: rows }
    }

    pub fn form(&mut self, model: &Model, set: &ConstraintSet, at: &Plain<'_>, moving: Moving<'_>) {
        let Self { r, s, G, gamma } = self;
        let Moving { a, lambda } = moving;
        fourbar::force::eval::applied(model, at, r);
        for (b, r) in r.iter_mut().enumerate() {
            let (body, w) = (&model.bodies[b], &at.v[b].w);
            r.F = a[b].v * body.mass - r.F;
            r.T = body.J_bar * a[b].w + w.cross(&(body.J_bar * w)) - r.T;
        }
        set.jacobian(at.q, G);
        set.add_transposed(G, lambda, 1.0, r);
        r[0] = Wrench::zero();
        set.multiply(G, a, s);
        set.gamma(at.q, at.v, at.t, gamma);
        s.iter_mut().zip(gamma).for_each(|(s, g)| *s -= *g);
    }
}

/// Poses moved by a multiple of an increment, ground first; the increment has six numbers for each moving body.
pub(super) fn moved(q: &[Pose], by: &[f64], factor: f64, out: &mut [Pose]) {
    for (b, d) in by.chunks_exact(6).enumerate() {
        let d = Twist { v: Vector3::new(d[0], d[1], d[2]) * factor, w: Vector3::new(d[3], d[4], d[5]) * factor };
        out[b + 1] = q[b + 1].moved(&d);
    }
}

/// Velocities changed by a multiple of an increment.
pub(super) fn changed(v: &[Twist], by: &[f64], factor: f64, out: &mut [Twist]) {
    for (b, d) in by.chunks_exact(6).enumerate() {
        let x = &v[b + 1];
        out[b + 1] = Twist { v: x.v + Vector3::new(d[0], d[1], d[2]) * factor, w: x.w + Vector3::new(d[3], d[4], d[5]) * factor };
    }
}
