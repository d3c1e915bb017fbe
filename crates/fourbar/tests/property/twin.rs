//! Mechanisms that must move like another one: rotated in space, in other units, in another order, with reversed joints, with doubled
//! joints, with a body cut in two.

use fourbar::analysis::assembly::update_turns;
use fourbar::random::Random;
use fourbar::spec::*;
use fourbar::{Configuration, Model, Pose, Twist};
use fourbar_math::so3;
use fourbar_testing::mechanism::matrix;
use nalgebra::{Matrix3, Vector3};

type V = Vector3<f64>;

fn three(v: &V) -> V3 {
    [v.x, v.y, v.z]
}

fn rotation(o: &Orientation) -> Matrix3<f64> {
    match o {
        Orientation::Matrix(rows) => Matrix3::from_fn(|i, j| rows[i][j]),
        // Saved files contain quaternions or matrices.
        Orientation::Quaternion([w, x, y, z]) => {
            nalgebra::UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(*w, *x, *y, *z)).to_rotation_matrix().into_inner()
        }
        Orientation::World => Matrix3::identity(),
        other => panic!("random mechanisms do not use {other:?}"),
    }
}

/// The start of a twin: poses and velocities by name, with recomputed counted angles.
pub fn start(base: &Model, at: &Configuration, twin: &Model, map: impl Fn(&Pose, &Twist) -> (Pose, Twist)) -> Configuration {
    let mut c = Configuration::start(twin);
    for (k, body) in twin.bodies.iter().enumerate().skip(1) {
        let own = body.name.trim_end_matches("_half");
        let b = base.bodies.iter().position(|x| x.name == own).expect("the same bodies");
        (c.q[k], c.v[k]) = map(&at.q[b], &at.v[b]);
    }
    let q = c.q.clone();
    update_turns(twin, &q, &mut c.turns);
    c
}

fn places(spec: &mut ModelSpec) -> impl Iterator<Item = &mut Place> {
    let joints = spec.joints.iter_mut().flat_map(|(_, j)| match j {
        JointSpec::Distance { from, to, .. } => vec![from, to],
        _ => Vec::new(),
    });
    let forces = spec.forces.iter_mut().flat_map(|(_, f)| match f {
        ForceSpec::Spring(SpringSpec { between: [a, b], .. }) => vec![a, b],
        ForceSpec::Force(PointForceSpec { on, .. }) => vec![on],
        _ => Vec::new(),
    });
    joints.chain(forces)
}

/// Everything rotated by `R` and moved by `p`.
pub fn moved(spec: &ModelSpec, R: &Matrix3<f64>, p: &V) -> ModelSpec {
    let mut s = spec.clone();
    let point = |x: &V3| three(&(R * V::from(*x) + p));
    let turn = |x: &V3| three(&(R * V::from(*x)));
    s.gravity = s.gravity.map(|g| turn(&g));
    for (_, b) in &mut s.bodies {
        b.at = point(&b.at);
        b.orientation = matrix(&(R * rotation(&b.orientation)));
        (b.velocity, b.omega) = (turn(&b.velocity), turn(&b.omega));
    }
    for (_, j) in &mut s.joints {
        if let JointSpec::Pair { bodies, placement, .. } = j {
            match placement {
                Placement::World { at, axis, axis_moving } => {
                    (*at, *axis) = (point(at), turn(axis));
                    *axis_moving = axis_moving.map(|a| turn(&a));
                }
                Placement::Frames { base, moving } => {
                    for (f, body) in [base, moving].into_iter().zip(bodies) {
                        if body == "ground" {
                            (f.at, f.axis, f.x) = (point(&f.at), turn(&f.axis), f.x.map(|x| turn(&x)));
                        }
                    }
                }
            }
        }
    }
    for p in places(&mut s) {
        match &mut p.at {
            At::World(x) => *x = point(x),
            At::Body(x) if p.body == "ground" => *x = point(x),
            At::Body(_) => {}
        }
    }
    s
}

/// Other units: lengths, masses and times multiplied.
pub fn scaled(spec: &ModelSpec, length: f64, mass: f64, time: f64) -> ModelSpec {
    let mut s = spec.clone();
    let by = |x: &V3, k: f64| x.map(|x| x * k);
    let (force, torque) = (mass * length / (time * time), mass * length * length / (time * time));
    s.gravity = s.gravity.map(|g| by(&g, length / (time * time)));
    for (_, b) in &mut s.bodies {
        b.mass *= mass;
        b.inertia = match b.inertia {
            Inertia::Tensor(x) => Inertia::Tensor(x.map(|x| x * mass * length * length)),
            Inertia::Principal(x) => Inertia::Principal(by(&x, mass * length * length)),
            Inertia::Point => Inertia::Point,
        };
        (b.at, b.com) = (by(&b.at, length), by(&b.com, length));
        (b.velocity, b.omega) = (by(&b.velocity, length / time), by(&b.omega, 1.0 / time));
    }
    for (_, j) in &mut s.joints {
        match j {
            JointSpec::Pair { placement: Placement::World { at, .. }, .. } => *at = by(at, length),
            JointSpec::Pair { placement: Placement::Frames { base, moving }, .. } => {
                (base.at, moving.at) = (by(&base.at, length), by(&moving.at, length));
            }
            JointSpec::Distance { length: own, .. } => *own = own.map(|x| x * length),
            _ => {}
        }
    }
    for p in places(&mut s) {
        p.at = match p.at {
            At::World(x) => At::World(by(&x, length)),
            At::Body(x) => At::Body(by(&x, length)),
        };
    }
    for (_, f) in &mut s.forces {
        match f {
            ForceSpec::Spring(SpringSpec { law: SpringLaw::Linear { stiffness, rest, damping }, .. }) => {
                (*stiffness, *rest, *damping) = (*stiffness * force / length, *rest * length, *damping * force * time / length);
            }
            ForceSpec::Torsion(TorsionSpec { law: SpringLaw::Linear { stiffness, damping, .. }, .. }) => {
                (*stiffness, *damping) = (*stiffness * torque, *damping * torque * time);
            }
            ForceSpec::Force(PointForceSpec { force: parts, .. }) => {
                // Random mechanisms have constant forces only.
                for p in parts {
                    *p = StateExpr::constant(p.expr.eval::<f64>(&[]) * force);
                }
            }
            _ => {}
        }
    }
    s
}

/// Bodies, joints and forces in reverse order.
pub fn reordered(spec: &ModelSpec) -> ModelSpec {
    let mut s = spec.clone();
    s.bodies.reverse();
    s.joints.reverse();
    s.forces.reverse();
    s
}

/// Joints and springs reversed, if base and moving body are interchangeable.
pub fn swapped(spec: &ModelSpec) -> ModelSpec {
    let mut s = spec.clone();
    for (_, j) in &mut s.joints {
        match j {
            JointSpec::Pair { kind, bodies, placement } if !matches!(kind, PairKind::PointOnLine | PairKind::PointOnPlane) => {
                bodies.swap(0, 1);
                match placement {
                    Placement::World { axis, axis_moving: Some(other), .. } => std::mem::swap(axis, other),
                    Placement::World { .. } => {}
                    Placement::Frames { base, moving } => std::mem::swap(base, moving),
                }
            }
            JointSpec::Distance { from, to, .. } => std::mem::swap(from, to),
            _ => {}
        }
    }
    for (_, f) in &mut s.forces {
        if let ForceSpec::Spring(SpringSpec { between, .. }) = f {
            between.swap(0, 1);
        }
    }
    s
}

/// Some joints doubled, hinges and slides at another point of their axis.
pub fn doubled(spec: &ModelSpec) -> ModelSpec {
    let mut s = spec.clone();
    let along = |at: &V3, axis: &V3| three(&(V::from(*at) + V::from(*axis).normalize() * 0.3));
    for (k, (name, j)) in spec.joints.iter().enumerate() {
        let JointSpec::Pair { kind, bodies, placement } = j else { continue };
        if k > 0 && k % 2 == 0 {
            continue;
        }
        let mut placement = placement.clone();
        if matches!(kind, PairKind::Revolute | PairKind::Cylindrical | PairKind::Prismatic) {
            match &mut placement {
                Placement::World { at, axis, .. } => *at = along(at, axis),
                Placement::Frames { base, moving } => {
                    (base.at, moving.at) = (along(&base.at, &base.axis), along(&moving.at, &moving.axis));
                }
            }
        }
        s.joints.push((format!("{name}_copy"), JointSpec::Pair { kind: *kind, bodies: bodies.clone(), placement }));
    }
    s
}

/// The last body cut into two halves that are welded: each half the mass and the inertia, every second joint on the other.
pub fn welded(spec: &ModelSpec) -> Option<ModelSpec> {
    let mut s = spec.clone();
    let (name, body) = s.bodies.last_mut()?;
    let (name, half) = (name.clone(), format!("{name}_half"));
    body.mass *= 0.5;
    body.inertia = match body.inertia {
        Inertia::Tensor(x) => Inertia::Tensor(x.map(|x| x * 0.5)),
        Inertia::Principal(x) => Inertia::Principal(x.map(|x| x * 0.5)),
        Inertia::Point => Inertia::Point,
    };
    let other = body.clone();
    let com = body.at;
    let frame = FrameSpec { at: body.com, axis: [0.0, 0.0, 1.0], x: Some([1.0, 0.0, 0.0]) };
    s.bodies.push((half.clone(), other));
    let mut every = 0;
    for (_, j) in &mut s.joints {
        let ends: Vec<&mut String> = match j {
            JointSpec::Pair { bodies, .. } => bodies.iter_mut().collect(),
            JointSpec::Distance { from, to, .. } => vec![&mut from.body, &mut to.body],
            _ => Vec::new(),
        };
        for end in ends {
            if *end == name {
                every += 1;
                if every % 2 == 0 {
                    *end = half.clone();
                }
            }
        }
    }
    // Inexact drawings give the frames, exact ones the position.
    let exact = s.joints.iter().all(|(_, j)| !matches!(j, JointSpec::Pair { placement: Placement::Frames { .. }, .. }));
    let placement = if exact {
        Placement::World { at: com, axis: [0.0, 0.0, 1.0], axis_moving: None }
    } else {
        Placement::Frames { base: frame, moving: frame }
    };
    s.joints.push(("weld".into(), JointSpec::Pair { kind: PairKind::Fixed, bodies: [name, half], placement }));
    Some(s)
}

/// A rotation and a translation by seed.
pub fn somewhere(seed: u64) -> (Matrix3<f64>, V) {
    let mut r = Random(seed | 1);
    r.number();
    (so3::exp(&(r.vector() * 2.0)), r.vector() * 3.0)
}
