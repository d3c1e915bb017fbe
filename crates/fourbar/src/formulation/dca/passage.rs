//! Singular positions on the way, and redundancy that depends on the geometry.
//!
//! Where rows become dependent, `det K` falls steeply: with the singular values `s` of the weighed rows it is the product of all
//! `1 + s^2`, and its logarithm, the sum over the pivots of all fronts, falls as that of the distance. After every step it is
//! known at no cost; a smallest value among three steps is looked at more closely between them. Permanently redundant rows and
//! free motions do not show, and the size of the mechanism does not matter.

use super::solver::Solver;
use crate::analysis::rank::rank;
use crate::analysis::singular::Singular;
use crate::constraint::ConstraintSet;
use crate::model::Model;
use crate::motion::numbers;
use crate::random::Random;
use crate::state::{Configuration, Pose, Velocity};
use crate::topology::{Topology, is_forest};
use nalgebra::{Matrix3, Vector3};
use serde_json::{Value, json};

/// Up to this many rows redundancy that depends on the geometry is looked for.
pub const ROWS: usize = 300;
/// A fall of half the logarithm below both neighbours by this much is a singular position: seven times nearer than they are.
const DEPTH: f64 = 2.0;
/// Or a fall by this much, 55 times nearer, below the largest value of the last steps: the neighbours themselves may be near,
/// where the step control went down to small steps.
const FALL: f64 = 4.0;
const LAST: usize = 16;
/// A smooth smallest value falls by less than this in the first looks and is left alone; a singular position falls by twice that.
const EARLY: f64 = 1.0;
/// Looks at a suspicious place, first and at most. Each takes 0.62 of the interval.
const LOOKS: [usize; 2] = [6, 18];
/// At most this many are reported.
const MOST: usize = 200;

/// A step that was accepted.
#[derive(Clone, Debug)]
struct Step {
    t: f64,
    q: Vec<Pose>,
    v: Vec<Velocity>,
    /// Half the logarithm of `det K`; not a number where it is not known.
    size: f64,
}

/// Watches the steps of a run.
pub struct Passage {
    /// Positions found.
    pub found: Vec<Singular>,
    /// Whether rows can become dependent at all.
    watches: bool,
    /// The last two steps, the older one first.
    steps: [Step; 2],
    /// Half the logarithms of the last steps, the oldest first.
    sizes: [f64; LAST],
    /// The level that must be left before another position is reported: the last one is still near.
    near: f64,
    between: Vec<Pose>,
}

/// A pose a share `s` of the way between two steps, from positions and velocities at both: a cubic.
fn pose(from: (&Pose, &Velocity), to: (&Pose, &Velocity), h: f64, s: f64) -> Pose {
    let d = from.0.increment_to(to.0);
    let (s2, s3) = (s * s, s * s * s);
    let part = d.scaled(3.0 * s2 - 2.0 * s3).plus(&from.1.scaled(h * (s - 2.0 * s2 + s3))).plus(&to.1.scaled(h * (s3 - s2)));
    from.0.moved(&part)
}

impl Passage {
    /// A watch from the start of a run.
    pub fn new(model: &Model, start: &Configuration) -> Self {
        let step = Step { t: start.t, q: start.q.clone(), v: start.v.clone(), size: f64::NAN };
        Self {
            found: Vec::new(),
            watches: !is_forest(model),
            steps: [step.clone(), step],
            sizes: [f64::NAN; LAST],
            near: f64::NAN,
            between: start.q.clone(),
        }
    }

    /// Half the logarithm of `det K` at a time between the older of two steps and the new one.
    fn look<const B: usize>(&mut self, solver: &mut Solver<'_, B>, new: (f64, &[Pose], &[Velocity]), t: f64) -> f64 {
        let [old, mid] = &self.steps;
        let (from, to) = if t < mid.t {
            ((old.t, &old.q[..], &old.v[..]), (mid.t, &mid.q[..], &mid.v[..]))
        } else {
            ((mid.t, &mid.q[..], &mid.v[..]), new)
        };
        let h = to.0 - from.0;
        for (k, q) in self.between.iter_mut().enumerate() {
            *q = pose((&from.1[k], &from.2[k]), (&to.1[k], &to.2[k]), h, (t - from.0) / h);
        }
        solver.half_log_det(t, &self.between)
    }

    /// Takes note of an accepted step, whose factors the solver holds.
    pub fn observe<const B: usize>(&mut self, solver: &mut Solver<'_, B>, t: f64, q: &[Pose], v: &[Velocity]) {
        if !self.watches {
            return;
        }
        let size = solver.half_log_det(t, q);
        let (left, mid) = (self.steps[0].size, self.steps[1].size);
        if size > self.near {
            self.near = f64::NAN;
        }
        if mid < left && mid <= size && self.near.is_nan() && self.found.len() < MOST {
            // Not a number is no maximum.
            let high = self.sizes.iter().fold(f64::NEG_INFINITY, |m, x| m.max(*x));
            let level = left.min(size).max(high - FALL + DEPTH);
            let (mut a, mut b) = (self.steps[0].t, t);
            let (mut m, mut least) = (self.steps[1].t, mid);
            for k in 1..=LOOKS[1] {
                // The larger side is divided in the golden section.
                let golden = 0.5 * (3.0 - 5f64.sqrt());
                let x = if b - m > m - a { m + golden * (b - m) } else { m - golden * (m - a) };
                let f = self.look(solver, (t, q, v), x);
                let (lower, higher) = if f < least { (x, m) } else { (m, x) };
                if higher > lower {
                    b = higher;
                } else {
                    a = higher;
                }
                (m, least) = (lower, least.min(f));
                if k == LOOKS[0] && least > level - EARLY {
                    break;
                }
            }
            if least < level - DEPTH {
                self.look(solver, (t, q, v), m);
                let joints = solver.dependent();
                self.near = least + DEPTH;
                self.found.push(Singular { time: m, pivot: (2.0 * (least - level)).exp(), joints });
            }
        }
        self.sizes.rotate_left(1);
        self.sizes[LAST - 1] = size;
        self.steps.swap(0, 1);
        let last = &mut self.steps[1];
        (last.t, last.size) = (t, size);
        last.q.copy_from_slice(q);
        last.v.copy_from_slice(v);
    }

    /// The last two steps, to be saved.
    pub fn save(&self) -> Value {
        let step = |s: &Step| {
            let q: Vec<f64> = s.q.iter().flat_map(|q| q.r.iter().chain(q.A.iter()).copied().collect::<Vec<_>>()).collect();
            let v: Vec<f64> = s.v.iter().flat_map(|v| v.v.iter().chain(v.w.iter()).copied().collect::<Vec<_>>()).collect();
            json!({ "t": s.t, "q": q, "v": v, "size": s.size })
        };
        if self.watches { json!([step(&self.steps[0]), step(&self.steps[1]), self.sizes, self.near]) } else { Value::Null }
    }

    /// Continues from saved steps.
    pub fn restore(&mut self, saved: &Value) {
        for (k, step) in self.steps.iter_mut().enumerate() {
            let (q, v) = (numbers(&saved[k]["q"]), numbers(&saved[k]["v"]));
            if q.len() != 12 * step.q.len() || v.len() != 6 * step.v.len() {
                continue;
            }
            let vector = |x: &[f64]| Vector3::new(x[0], x[1], x[2]);
            for (to, q) in step.q.iter_mut().zip(q.chunks_exact(12)) {
                *to = Pose { r: vector(q), A: Matrix3::from_column_slice(&q[3..]) };
            }
            for (to, v) in step.v.iter_mut().zip(v.chunks_exact(6)) {
                *to = Velocity { v: vector(v), w: vector(&v[3..]) };
            }
            step.t = saved[k]["t"].as_f64().unwrap_or(step.t);
            step.size = saved[k]["size"].as_f64().unwrap_or(f64::NAN);
        }
        for (k, size) in self.sizes.iter_mut().enumerate() {
            *size = saved[2][k].as_f64().unwrap_or(f64::NAN);
        }
        self.near = saved[3].as_f64().unwrap_or(f64::NAN);
    }
}

/// Whether rows are redundant on the constraints only: their rank is higher at a pose beside. Drives are left out: they may take all the
/// freedom there is, and then no rank is higher. In planar mechanisms drift stays in the plane, and so does the pose that is looked at.
/// `None` where the mechanism is too large to be asked.
pub fn geometric(model: &Model, start: &Configuration) -> Option<bool> {
    let mut list = model.constraints(false);
    list.extend(model.velocity_constraints());
    let set = &ConstraintSet::new(list, |_| false);
    if set.rows() > ROWS {
        return None;
    }
    let here = rank(model, set, &start.q);
    if here.redundant() == 0 {
        return Some(false);
    }
    let mut random = Random(0x5eed_0dca);
    let mut beside = start.q.clone();
    let normal = Topology::new(model).planar;
    for q in &mut beside[1..] {
        let mut d = Velocity { v: random.vector() * (1e-3 * model.length), w: random.vector() * 1e-3 };
        if let Some(n) = normal {
            d.v -= n * n.dot(&d.v);
            let axis = q.A.tr_mul(&n);
            d.w = axis * axis.dot(&d.w);
        }
        *q = q.moved(&d);
    }
    Some(rank(model, set, &beside).rank > here.rank)
}
