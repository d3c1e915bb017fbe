//! A run sampled on a grid, differences of two samples, and their extrapolation.

use fourbar::model::Model;
use fourbar::motion::Instant;
use fourbar::state::{Pose, Twist};
use fourbar_math::so3;
use nalgebra::Vector3;
use serde::Serialize;
use std::collections::HashMap;

/// The compared quantities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Quantity {
    /// Centres of mass, metres.
    Position,
    /// Orientation, radians.
    Angle,
    /// Velocities, metres per second; angular ones times the characteristic length.
    Velocity,
    /// Unique components of reactions, newtons; torques divided by the characteristic length.
    Reaction,
    /// User-defined states, relative to the largest magnitude of each.
    State,
    /// Residual forces in the Newton-Euler equations of a body, newtons; not a difference of two results.
    Laws,
}

/// The compared quantities, in the order of the arrays here.
pub const QUANTITIES: [Quantity; 5] = [Quantity::Position, Quantity::Angle, Quantity::Velocity, Quantity::Reaction, Quantity::State];

impl Quantity {
    /// Its name in a sentence.
    pub fn name(self) -> &'static str {
        match self {
            Quantity::Position => "position",
            Quantity::Angle => "angle",
            Quantity::Velocity => "velocity",
            Quantity::Reaction => "reaction",
            Quantity::State => "value",
            Quantity::Laws => "balance of forces",
        }
    }
    /// Its unit.
    pub fn unit(self) -> &'static str {
        ["m", "rad", "m/s", "N", "of its size", "N"][self as usize]
    }
}

/// Differences of two instants by quantity, each with the body, joint or state where it is largest.
#[derive(Clone, Copy, Debug, Default)]
pub struct Difference {
    /// Sizes, in the order of [`QUANTITIES`].
    pub size: [f64; 5],
    /// Body, joint or state of each.
    pub place: [usize; 5],
}

/// Which reaction components are unique: force and torque, three each, by joint.
pub type Unique = Vec<[bool; 6]>;

/// Unique components from the list of non-unique ones.
pub fn unique(model: &Model, not_unique: &[(String, Vec<String>)]) -> Unique {
    const NAMES: [&str; 6] = ["force.x", "force.y", "force.z", "torque.x", "torque.y", "torque.z"];
    let open: HashMap<&str, &[String]> = not_unique.iter().map(|(joint, parts)| (joint.as_str(), parts.as_slice())).collect();
    let parts = |joint: &str| open.get(joint).copied().unwrap_or_default();
    model.joints.iter().map(|j| NAMES.map(|name| !parts(&j.name).iter().any(|p| p == name))).collect()
}

/// Whether the rotation of a body is part of the motion: a particle, such as the middle of a spring with mass, has no inertia, and its
/// rotation is undetermined.
pub fn turns(model: &Model, body: usize) -> bool {
    model.bodies[body].J_bar.iter().any(|x| *x != 0.0)
}

/// Largest magnitude of each state in some samples.
pub fn state_sizes<'a>(model: &Model, samples: impl Iterator<Item = &'a Instant>) -> Vec<f64> {
    let mut sizes = vec![0.0_f64; model.states.len()];
    for s in samples {
        sizes.iter_mut().zip(&s.z[model.first_state()..]).for_each(|(m, z)| *m = m.max(z.abs()));
    }
    sizes
}

/// Difference of two instants; `states` are the magnitudes of the states.
pub fn difference(model: &Model, unique: &Unique, states: &[f64], a: &Instant, b: &Instant) -> Difference {
    let mut d = Difference::default();
    let L = model.length;
    let mut note = |k: usize, place: usize, x: f64| {
        // NaN counts as an infinite difference.
        let x = if x.is_nan() { f64::INFINITY } else { x };
        if x > d.size[k] {
            (d.size[k], d.place[k]) = (x, place);
        }
    };
    for body in 1..model.bodies.len() {
        let step = a.q[body].increment_to(&b.q[body]);
        note(0, body, step.v.norm());
        note(2, body, (a.v[body].v - b.v[body].v).norm());
        if !turns(model, body) {
            continue;
        }
        note(1, body, step.w.norm());
        // Angular velocities in world axes, since the body axes differ slightly.
        let dw = a.q[body].A * a.v[body].w - b.q[body].A * b.v[body].w;
        note(2, body, L * dw.norm());
    }
    for joint in 0..model.joints.len() {
        let (x, y) = (&a.reactions[joint], &b.reactions[joint]);
        for k in 0..3 {
            if unique[joint][k] {
                note(3, joint, (x.force[k] - y.force[k]).abs());
            }
            if unique[joint][3 + k] {
                note(3, joint, (x.torque[k] - y.torque[k]).abs() / L);
            }
        }
    }
    let first = model.first_state();
    for (k, size) in states.iter().enumerate() {
        let apart = (a.z[first + k] - b.z[first + k]).abs();
        note(4, k, if apart == 0.0 { 0.0 } else { apart / size });
    }
    d
}

/// Largest difference of two samples over all times: positions over the characteristic length, angles in radians.
pub fn apart(model: &Model, a: &[Instant], b: &[Instant]) -> f64 {
    let unique = vec![[false; 6]; model.joints.len()];
    let pairs = a.iter().zip(b).map(|(a, b)| difference(model, &unique, &[], a, b).size);
    pairs.fold(0.0, |m, d| m.max(d[0] / model.length).max(d[1]))
}

/// Scales that make differences comparable: length, one radian, largest speed, largest reaction, one for states.
pub fn scales(model: &Model, sample: &[Instant]) -> [f64; 5] {
    let L = model.length;
    let (mut v, mut f) = (0.0_f64, 0.0_f64);
    for s in sample {
        for (body, x) in s.v.iter().enumerate().skip(1) {
            v = v.max(x.v.norm()).max(if turns(model, body) { L * x.w.norm() } else { 0.0 });
        }
        for w in &s.reactions {
            f = f.max(w.force.norm()).max(w.torque.norm() / L);
        }
    }
    [L, 1.0, v.max(1e-9 * L), f.max(1e-12), 1.0]
}

/// `fine + weight (fine - coarse)`, on the rotation group for orientations.
pub fn extrapolate(coarse: &Instant, fine: &Instant, weight: f64) -> Instant {
    let mut out = fine.clone();
    let push = |a: &Twist, b: &Twist| b.plus(&b.plus(&a.scaled(-1.0)).scaled(weight));
    for b in 1..out.q.len() {
        let back = fine.q[b].increment_to(&coarse.q[b]);
        out.q[b] = fine.q[b].moved(&back.scaled(-weight));
        // Angular parts are extrapolated in world axes and rotated into those of the new pose.
        let world = |s: &Instant, x: &[Twist]| Twist { v: x[b].v, w: s.q[b].A * x[b].w };
        let v = push(&world(coarse, &coarse.v), &world(fine, &fine.v));
        let a = push(&world(coarse, &coarse.a), &world(fine, &fine.a));
        let into = |x: Twist, q: &Pose| Twist { v: x.v, w: q.A.tr_mul(&x.w) };
        out.v[b] = into(v, &out.q[b]);
        out.a[b] = into(a, &out.q[b]);
    }
    let mix = |a: &Vector3<f64>, b: &Vector3<f64>| b + (b - a) * weight;
    for (o, (c, f)) in out.reactions.iter_mut().zip(coarse.reactions.iter().zip(&fine.reactions)) {
        o.force = mix(&c.force, &f.force);
        o.torque = mix(&c.torque, &f.torque);
    }
    for (o, (c, f)) in out.constraints.iter_mut().zip(coarse.constraints.iter().zip(&fine.constraints)) {
        o.force = mix(&c.force, &f.force);
        o.torque = mix(&c.torque, &f.torque);
    }
    for (o, (c, f)) in out.efforts.iter_mut().zip(coarse.efforts.iter().zip(&fine.efforts)) {
        *o = f + (f - c) * weight;
    }
    for (o, (c, f)) in out.z.iter_mut().zip(coarse.z.iter().zip(&fine.z)) {
        *o = f + (f - c) * weight;
    }
    out.work = fine.work + (fine.work - coarse.work) * weight;
    out
}

/// The middle of several instants: the mean of poses and velocities around the first, the median of reactions, which a single wrong value
/// does not affect.
pub fn middle(list: &[&Instant]) -> Instant {
    let first = list[0];
    let share = 1.0 / list.len() as f64;
    let mut out = first.clone();
    for b in 1..out.q.len() {
        let mut step = Twist::zero();
        let (mut v, mut w) = (Vector3::zeros(), Vector3::zeros());
        for s in list {
            step = step.plus(&first.q[b].increment_to(&s.q[b]).scaled(share));
            v += s.v[b].v * share;
            w += s.q[b].A * s.v[b].w * share;
        }
        out.q[b] = first.q[b].moved(&step);
        out.q[b].A = so3::orthonormalise(&out.q[b].A);
        out.v[b] = Twist { v, w: out.q[b].A.tr_mul(&w) };
    }
    let mut values = Vec::with_capacity(list.len());
    let mut median = |get: &dyn Fn(&Instant) -> f64| {
        values.clear();
        values.extend(list.iter().map(|s| get(s)));
        values.sort_by(f64::total_cmp);
        0.5 * (values[(values.len() - 1) / 2] + values[values.len() / 2])
    };
    for (k, o) in out.reactions.iter_mut().enumerate() {
        for i in 0..3 {
            o.force[i] = median(&|s| s.reactions[k].force[i]);
            o.torque[i] = median(&|s| s.reactions[k].torque[i]);
        }
    }
    for (k, o) in out.z.iter_mut().enumerate() {
        *o = median(&|s| s.z[k]);
    }
    out
}
