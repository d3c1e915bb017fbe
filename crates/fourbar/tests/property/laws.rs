//! The laws.

use crate::run::{Base, Gap, Trouble, gap, larger, reactions, worst};
use crate::twin;
use fourbar::motion::Instant;
use fourbar::spec::*;
use fourbar::{Configuration, Pose, Twist};
use nalgebra::{Matrix3, Vector3};

/// A law: `Ok(false)` if it does not apply to a mechanism, `Err` with the reason if it is violated.
pub struct Law {
    pub name: &'static str,
    pub judge: fn(&Base) -> Result<bool, String>,
}

/// All laws of a single formulation.
pub const LAWS: &[Law] = &[
    Law { name: "rigid motion", judge: rigid_motion },
    Law { name: "units", judge: units },
    Law { name: "order", judge: order },
    Law { name: "base and moving", judge: base_and_moving },
    Law { name: "doubled joints", judge: doubled_joints },
    Law { name: "weld", judge: weld },
    Law { name: "time reversal", judge: time_reversal },
    Law { name: "momentum", judge: momentum },
];

/// The mechanism runs at all, which is checked before the others.
pub const RUNS: Law = Law { name: "it runs", judge: |_| Ok(true) };
/// The law for pairs, which is checked separately.
pub const AGREEMENT: Law = Law { name: "agreement", judge: |_| Ok(false) };

fn within(found: Gap, allowed: Gap) -> Result<bool, String> {
    let names = ["m", "rad", "m/s"];
    match (0..3).find(|&k| found[k].is_nan() || found[k] > allowed[k]) {
        Some(k) => Err(format!("differs by {:.1e} {}, {:.1e} are allowed", found[k], names[k], allowed[k])),
        None => Ok(true),
    }
}

/// Runs a twin and compares it, mapped back by `back`, with the mechanism itself.
fn same(
    base: &Base,
    twin: &ModelSpec,
    time: f64,
    forth: impl Fn(&Pose, &Twist) -> (Pose, Twist),
    back: impl Fn(&Pose, &Twist) -> (Pose, Twist),
) -> Result<bool, String> {
    let model = twin.build().map_err(|e| format!("the twin cannot be built: {e:?}"))?;
    let start = twin::start(&base.model, &base.start, &model, forth);
    let sample = match base.again(&model, &start, time) {
        Err(Trouble::Slow(_)) => return Ok(false),
        other => other.map_err(|why| format!("the twin does not run: {why}"))?,
    };
    let mut found = if sample.len() == base.sample.len() { [0.0; 3] } else { [f64::INFINITY; 3] };
    for (own, other) in base.sample.iter().zip(&sample) {
        for (k, body) in model.bodies.iter().enumerate().skip(1) {
            let b = base.model.bodies.iter().position(|x| x.name == body.name.trim_end_matches("_half")).expect("the same bodies");
            let (q, v) = back(&other.q[k], &other.v[k]);
            found = larger(found, gap(base.model.length, (&own.q[b], &own.v[b]), (&q, &v)));
        }
    }
    within(found, base.allowed())
}

fn same_bodies(base: &Base, twin: &ModelSpec) -> Result<bool, String> {
    same(base, twin, 1.0, |q, v| (*q, *v), |q, v| (*q, *v))
}

/// Rotated and moved as a whole, including gravity, it has the same motion.
fn rigid_motion(base: &Base) -> Result<bool, String> {
    let (R, p) = twin::somewhere(0xfeed_beef);
    let apply =
        |R: &Matrix3<f64>, p: &Vector3<f64>, q: &Pose, v: &Twist| (Pose { r: R * q.r + p, A: R * q.A }, Twist { v: R * v.v, w: v.w });
    let (Rt, pt) = (R.transpose(), -(R.transpose() * p));
    same(base, &twin::moved(&base.spec, &R, &p), 1.0, |q, v| apply(&R, &p, q, v), |q, v| apply(&Rt, &pt, q, v))
}

/// In other units it has the same motion.
fn units(base: &Base) -> Result<bool, String> {
    // Powers of two: the numbers of the twin have the same digits.
    let (length, mass, time) = (2.0, 0.25, 0.5);
    let apply = |l: f64, t: f64, q: &Pose, v: &Twist| (Pose { r: q.r * l, A: q.A }, Twist { v: v.v * (l / t), w: v.w / t });
    let twin = twin::scaled(&base.spec, length, mass, time);
    same(base, &twin, time, |q, v| apply(length, time, q, v), |q, v| apply(1.0 / length, 1.0 / time, q, v))
}

fn order(base: &Base) -> Result<bool, String> {
    same_bodies(base, &twin::reordered(&base.spec))
}

fn base_and_moving(base: &Base) -> Result<bool, String> {
    same_bodies(base, &twin::swapped(&base.spec))
}

fn doubled_joints(base: &Base) -> Result<bool, String> {
    let twin = twin::doubled(&base.spec);
    if twin.joints.len() == base.spec.joints.len() {
        return Ok(false);
    }
    same_bodies(base, &twin)
}

fn weld(base: &Base) -> Result<bool, String> {
    twin::welded(&base.spec).map_or(Ok(false), |twin| same_bodies(base, &twin))
}

/// Whether energy is conserved: no dampers, no forces except springs.
fn conservative(spec: &ModelSpec) -> bool {
    spec.drives.is_empty()
        && spec.forces.iter().all(|(_, f)| match f {
            ForceSpec::Spring(SpringSpec { law: SpringLaw::Linear { damping, .. }, .. })
            | ForceSpec::Torsion(TorsionSpec { law: SpringLaw::Linear { damping, .. }, .. }) => *damping == 0.0,
            _ => false,
        })
}

/// With reversed velocities it returns to its start.
fn time_reversal(base: &Base) -> Result<bool, String> {
    if !conservative(&base.spec) {
        return Ok(false);
    }
    let Some(end) = base.sample.last() else { return Ok(false) };
    let reversed = |v: &[Twist]| v.iter().map(|v| v.scaled(-1.0)).collect::<Vec<_>>();
    let start = Configuration { t: 0.0, q: end.q.clone(), v: reversed(&end.v), turns: end.turns.clone(), z: end.z.clone() };
    let sample = base.again(&base.model, &start, 1.0).map_err(|why| format!("it does not run back: {why}"))?;
    let back: Vec<Instant> = sample.into_iter().rev().map(|s| Instant { v: reversed(&s.v), ..s }).collect();
    // The return has its own error, in addition to that of the forward motion.
    let allowed = base.allowed().map(|x| 3.0 * x);
    within(worst(&base.model, &back, &base.sample), allowed)
}

/// Without external forces, a floating mechanism conserves momentum and angular momentum.
fn momentum(base: &Base) -> Result<bool, String> {
    let spec = &base.spec;
    let free = |names: &[&String]| names.iter().all(|n| *n != "ground");
    let floating = spec.gravity.is_none_or(|g| g == [0.0; 3])
        && spec.joints.iter().all(|(_, j)| match j {
            JointSpec::Pair { bodies: [a, b], .. } => free(&[a, b]),
            JointSpec::Distance { from, to, .. } => free(&[&from.body, &to.body]),
            _ => false,
        })
        && spec.forces.iter().all(|(_, f)| match f {
            ForceSpec::Spring(SpringSpec { between: [a, b], .. }) => free(&[&a.body, &b.body]),
            ForceSpec::Torsion(_) => true,
            _ => false,
        });
    if !floating {
        return Ok(false);
    }
    let m = &base.model;
    let of = |s: &Instant| {
        let (mut p, mut h) = (Vector3::zeros(), Vector3::zeros());
        for (k, b) in m.bodies.iter().enumerate().skip(1) {
            let (q, v) = (&s.q[k], &s.v[k]);
            p += v.v * b.mass;
            h += q.r.cross(&v.v) * b.mass + q.A * (b.J_bar * v.w);
        }
        (p, h)
    };
    let (p, h) = of(&base.sample[0]);
    let (mass, far) =
        m.bodies.iter().skip(1).zip(&base.sample[0].q[1..]).fold((0.0, m.length), |(s, f), (b, q)| (s + b.mass, f.max(q.r.norm())));
    let [_, _, speed] = base.allowed();
    for s in &base.sample {
        let (pt, ht) = of(s);
        // Velocity errors are multiplied by the masses, and by their distance from the origin.
        if (pt - p).norm() > mass * speed || (ht - h).norm() > 2.0 * mass * speed * (far + m.length) {
            return Err(format!(
                "momentum changes by {:.1e} kg m/s, angular momentum by {:.1e} kg m^2/s",
                (pt - p).norm(),
                (ht - h).norm()
            ));
        }
    }
    Ok(true)
}

/// Two formulations give the same motion and the same unique reactions.
pub fn agree(a: &Base, b: &Base) -> Result<bool, String> {
    let (x, y) = (a.allowed(), b.allowed());
    within(worst(&a.model, &a.sample, &b.sample), std::array::from_fn(|k| x[k] + y[k]))?;
    let found = reactions(&a.model, &a.unique, &a.sample, &b.sample);
    let size = a.sample.iter().flat_map(|s| &s.reactions).fold(1.0_f64, |m, w| m.max(w.force.norm()).max(w.torque.norm() / a.model.length));
    let allowed = 5.0 * (a.reaction_error + b.reaction_error) + 1e-6 * size;
    if found > allowed {
        return Err(format!("reactions differ by {found:.1e} N, {allowed:.1e} are allowed"));
    }
    Ok(true)
}
