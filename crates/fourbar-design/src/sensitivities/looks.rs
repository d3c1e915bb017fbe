//! Dependence of the columns that measures read on poses and velocities of bodies, and on parameters at fixed states.

use super::around::{Around, PLACES};
use super::groups::Sight;
use fourbar::motion::{Instant, Reaction};
use fourbar::state::{Configuration, Twist};
use fourbar::trajectory::{Recorder, WantedColumns};
use fourbar::{Diagnostic, Error, Model};
use fourbar_math::so3;
use nalgebra::Vector3;

/// Result rows for which only poses and velocities are known.
#[derive(Clone)]
pub(super) struct Rows(Recorder);

impl Rows {
    pub fn new(model: &Model, start: &Configuration) -> Self {
        let mut recorder = Recorder::new(model, WantedColumns::ALL);
        recorder.row(model, &Instant::new(model, start), &mut Vec::new());
        Self(recorder)
    }

    /// The columns that follow from poses and velocities; the rest are NaN.
    pub fn row(&mut self, model: &Model, at: &Configuration) -> Vec<f64> {
        let none = Vector3::repeat(f64::NAN);
        let mut now = Instant::new(model, at);
        now.a.fill(Twist { v: none, w: none });
        now.reactions.fill(Reaction { force: none, torque: none });
        now.efforts.fill(f64::NAN);
        now.work = f64::NAN;
        now.errors = [f64::NAN; 3];
        let mut out = Vec::new();
        self.0.row(model, &now, &mut out);
        out
    }
}

/// Step of differences around a state, as a share of a length or an angle.
const SHARE: f64 = 2e-3;

/// Gradients of measures with respect to columns, and the dependence of these columns on the state.
pub(super) struct Looks<'a> {
    model: &'a Model,
    /// States at the output times, with the signs of quaternions there.
    states: &'a [(Configuration, Rows)],
    /// By measure: row, column, weight.
    weights: Vec<Vec<(usize, usize, f64)>>,
    /// Columns that each measure reads, and the bodies they depend on.
    read: Vec<Vec<usize>>,
    bodies: Vec<Vec<usize>>,
    /// States at which dependence is tested, with their rows.
    shown: Vec<(Configuration, Vec<f64>)>,
}

impl<'a> Looks<'a> {
    pub fn new(model: &'a Model, states: &'a [(Configuration, Rows)], weights: Vec<Vec<(usize, usize, f64)>>) -> Self {
        let columns = |list: &Vec<(usize, usize, f64)>| {
            let mut c: Vec<usize> = list.iter().map(|x| x.1).collect();
            c.sort_unstable();
            c.dedup();
            c
        };
        let read: Vec<Vec<usize>> = weights.iter().map(columns).collect();
        let some = [states.first(), states.get(states.len() / 2), states.last()];
        let mut shown = Vec::new();
        for (k, (s, rows)) in some.into_iter().flatten().enumerate() {
            for state in [s.clone(), stirred(model, s, k as u64)] {
                let row = rows.clone().row(model, &state);
                shown.push((state, row));
            }
        }
        let mut looks = Self { model, states, weights, bodies: vec![Vec::new(); read.len()], read, shown };
        for b in 1..model.bodies.len() {
            let moved = |s: &Configuration| {
                let (mut other, stir) = (s.clone(), stirred(model, s, 7));
                (other.q[b], other.v[b]) = (stir.q[b], stir.v[b]);
                other
            };
            let seen = looks.changed(model, &moved);
            looks.bodies.iter_mut().zip(&seen).filter(|(_, s)| **s).for_each(|(list, _)| list.push(b));
        }
        looks
    }

    /// Whether the columns of each measure change for another mechanism or for modified test states.
    fn changed(&self, model: &Model, state: &dyn Fn(&Configuration) -> Configuration) -> Vec<bool> {
        let mut seen = vec![false; self.read.len()];
        let Some((_, rows)) = self.states.first() else { return seen };
        for (s, own) in &self.shown {
            let row = rows.clone().row(model, &state(s));
            // The sign of a quaternion has no meaning.
            let differs = |c: &usize| row[*c].abs().to_bits() != own[*c].abs().to_bits();
            seen.iter_mut().zip(&self.read).for_each(|(x, read)| *x |= read.iter().any(differs));
        }
        seen
    }

    /// The entries of a row that a measure reads.
    fn of_row(&self, measure: usize, row: usize) -> &[(usize, usize, f64)] {
        let list = &self.weights[measure];
        let first = list.partition_point(|x| x.0 < row);
        &list[first..first + list[first..].partition_point(|x| x.0 == row)]
    }

    /// The weighted sum of the entries of a row that a measure reads, at a state near that of the row.
    fn sum(&self, own: &[(usize, usize, f64)], row: usize, model: &Model, at: &Configuration) -> f64 {
        let values = self.states[row].1.clone().row(model, at);
        own.iter().map(|(_, c, weight)| weight * values[*c]).sum()
    }

    /// Gradient of a measure with respect to the state at an output time: calls `add` with each body that its columns depend on and the
    /// derivatives with respect to displacement, rotation, velocity and angular velocity of the body, all in world axes.
    pub fn each(&self, measure: usize, row: usize, mut add: impl FnMut(usize, [[f64; 3]; 4])) {
        let own = self.of_row(measure, row);
        if own.is_empty() {
            return;
        }
        let state = &self.states[row].0;
        for &b in &self.bodies[measure] {
            add(b, self.by_body(b, state, &mut |s| self.sum(own, row, self.model, s)));
        }
    }

    /// Diagnostic for a measure without a derivative at an output time.
    pub fn refusal(&self, row: usize) -> Error {
        let d = Diagnostic::new("S432", "what a measure reads has no derivative at an output time");
        d.time(self.states[row].0.t).help("take another measure, or other output times").into()
    }

    /// Derivatives with respect to displacement, rotation, velocity and angular velocity of a body, all in world axes.
    fn by_body(&self, b: usize, state: &Configuration, sum: &mut dyn FnMut(&Configuration) -> f64) -> [[f64; 3]; 4] {
        let L = self.model.length;
        let mut by = [[0.0; 3]; 4];
        let (pose, v) = (state.q[b], state.v[b]);
        let w = pose.A * v.w;
        let rate = 1.0 + v.v.norm() / L + w.norm();
        let sizes = [SHARE * L, SHARE, SHARE * L * rate, SHARE * rate];
        for (kind, size) in sizes.into_iter().enumerate() {
            for i in 0..3 {
                for (place, weight) in PLACES {
                    let mut e = Vector3::zeros();
                    e[i] = place * size;
                    let mut s = state.clone();
                    match kind {
                        0 => s.q[b].r += e,
                        1 => {
                            s.q[b].A = so3::exp(&e) * pose.A;
                            s.v[b].w = s.q[b].A.tr_mul(&w);
                        }
                        2 => s.v[b].v += e,
                        _ => s.v[b].w = pose.A.tr_mul(&(w + e)),
                    }
                    by[kind][i] += weight / size * sum(&s);
                }
            }
        }
        by
    }
}

impl Sight for Looks<'_> {
    fn differs(&self, model: &Model) -> bool {
        self.changed(model, &|s| s.clone()).contains(&true)
    }

    fn derivatives(&self, around: &Around) -> Vec<f64> {
        let one = |measure: usize| {
            let mut sum = 0.0;
            for (row, (state, _)) in self.states.iter().enumerate() {
                let own = self.of_row(measure, row);
                if !own.is_empty() {
                    sum += around.each().map(|(_, weight, m)| weight * self.sum(own, row, m, state)).sum::<f64>();
                }
            }
            sum
        };
        (0..self.count()).map(one).collect()
    }

    fn count(&self) -> usize {
        self.read.len()
    }
}

/// A random state near another.
fn stirred(model: &Model, at: &Configuration, seed: u64) -> Configuration {
    let mut random = fourbar::random::Random(0x9e37_79b9_7f4a_7c15 ^ seed);
    let mut state = at.clone();
    for b in 1..state.q.len() {
        let mut three = |size: f64| Vector3::from_fn(|_, _| size * random.number());
        let d = Twist { v: three(0.1 * model.length), w: three(0.3) };
        state.q[b] = state.q[b].moved(&d);
        state.v[b] = Twist { v: three(model.length), w: three(1.0) };
    }
    state
}
