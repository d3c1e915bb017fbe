//! Random parallel robots for tests of assembly: closed by construction, then displaced by a fraction of their size.
//!
//! Their legs have several assembly modes, also with elbows near the stretched position, so that the first pose found by a search need not
//! be the nearest. Frames are exact on the bodies; a drive, if any, holds the original pose of the robot. The same seed gives the same
//! robot.

use crate::mechanism::matrix;
use fourbar::analysis::assembly::{Bound, Metric, Options, assemble_from, pull};
use fourbar::expr::Expr;
use fourbar::random::Random;
use fourbar::spec::*;
use fourbar::state::Configuration;
use fourbar_math::so3;
use nalgebra::{Matrix3, Vector3};
use std::f64::consts::PI;
use std::time::Instant;

type V = Vector3<f64>;

/// Names of the families, in the order of the seeds.
pub const FAMILIES: [&str; 7] = ["3-RRR", "3-RPR", "five-bar", "6-SPS", "6-UPS", "delta", "3-RPS"];

/// A robot under construction.
struct Built {
    spec: ModelSpec,
    /// Pose of every body in the closed robot, the ground first.
    poses: Vec<(V, Matrix3<f64>)>,
}

fn three(v: &V) -> V3 {
    [v.x, v.y, v.z]
}

fn between(r: &mut Random, low: f64, high: f64) -> f64 {
    low + (high - low) * (r.number() + 1.0) * 0.5
}

fn any(r: &mut Random) -> V {
    loop {
        let v = r.vector();
        if (0.1..1.0).contains(&v.norm()) {
            return v.normalize();
        }
    }
}

fn across(d: &V) -> V {
    let other = if d.x.abs() < 0.6 { V::x() } else { V::y() };
    d.cross(&other).normalize()
}

impl Built {
    fn new() -> Self {
        let spec = ModelSpec { gravity: Some([0.0, 0.0, -9.81]), ..ModelSpec::default() };
        Self { spec, poses: vec![(V::zeros(), Matrix3::identity())] }
    }

    fn name(k: usize) -> String {
        if k == 0 { "ground".into() } else { format!("b{k}") }
    }

    /// A rod between two points, or a plate of that width; its centre is in the middle.
    fn body(&mut self, r: &mut Random, a: &V, b: &V, plate: bool) -> usize {
        let length = (b - a).norm();
        // From 0.1 to 10.
        let mass = 10f64.powf(r.number());
        let along = mass * length * length / 12.0;
        // The body x axis lies along its length.
        let inertia = if plate { [along, along, 2.0 * along] } else { [0.05 * along, along, along] };
        let x = (b - a).normalize();
        let z = if x.z.abs() < 0.9 { (V::z() - x * x.z).normalize() } else { across(&x) };
        let A = if plate { Matrix3::identity() } else { Matrix3::from_columns(&[x, z.cross(&x), z]) };
        self.poses.push(((a + b) * 0.5, A));
        let body = BodySpec { mass, inertia: Inertia::Principal(inertia), ..BodySpec::default() };
        let k = self.poses.len() - 1;
        self.spec.bodies.push((Self::name(k), body));
        k
    }

    /// A joint at a position of the closed robot, in which its coordinates are zero.
    fn joint(&mut self, kind: PairKind, bodies: [usize; 2], at: &V, axes: [&V; 2]) -> String {
        let x = across(axes[0]);
        let frame = |side: usize| {
            let (o, A) = &self.poses[bodies[side]];
            let x = (kind != PairKind::Universal).then(|| three(&A.tr_mul(&x)));
            FrameSpec { at: three(&A.tr_mul(&(at - o))), axis: three(&A.tr_mul(axes[side])), x }
        };
        let placement = Placement::Frames { base: frame(0), moving: frame(1) };
        let name = format!("j{}", self.spec.joints.len() + 1);
        self.spec.joints.push((name.clone(), JointSpec::Pair { kind, bodies: bodies.map(Self::name), placement }));
        name
    }

    /// A massless rod between two points.
    fn rod(&mut self, bodies: [usize; 2], ends: [&V; 2]) {
        let place = |side: usize| {
            let (o, A) = &self.poses[bodies[side]];
            Place { body: Self::name(bodies[side]), at: At::Body(three(&A.tr_mul(&(ends[side] - o)))) }
        };
        let name = format!("rod{}", self.spec.joints.len() + 1);
        let joint = JointSpec::Distance { from: place(0), to: place(1), length: Some((ends[1] - ends[0]).norm()) };
        self.spec.joints.push((name, joint));
    }

    fn drive(&mut self, joint: String, quantity: DriveQuantity) {
        let name = format!("drive_{joint}");
        self.spec.drives.push((name, DriveSpec { joint, quantity, value: Expr::constant(0.0), inputs: Vec::new() }));
    }

    /// A leg of two links with pins about z; the elbow deviates from the line by a fraction of half the reach.
    fn elbow(&mut self, r: &mut Random, foot: &V, tip: &V) -> V {
        let half = (tip - foot) * 0.5;
        let side = V::z().cross(&half) * if r.number() < 0.0 { -1.0 } else { 1.0 };
        // Half of the elbows are near the stretched position, where both bent poses are near.
        let bend = if r.number() < 0.0 { between(r, 0.02, 0.3) } else { between(r, 0.1, 0.9) };
        foot + half * between(r, 0.6, 1.4) + side * bend
    }
}

/// A robot of a family, displaced by `off` times its size (about one metre): the mechanism and its title.
pub fn robot(family: usize, seed: u64, off: f64) -> ModelSpec {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let r = &mut random;
    (0..8).for_each(|_| {
        r.number();
    });
    let mut b = Built::new();
    let planar = family < 3;
    let feet = |n: usize, r: &mut Random, radius: f64, shift: f64| -> Vec<V> {
        let angle = |k: usize| 2.0 * PI * k as f64 / n as f64 + shift;
        (0..n).map(|k| (angle(k) + 0.3 * r.number(), radius)).map(|(a, d)| V::new(d * a.cos(), d * a.sin(), 0.0)).collect()
    };
    let driven = r.number() > 0.0;
    let z = V::z();
    match family {
        0 | 1 => {
            let base = feet(3, r, 1.0, 0.0);
            let (turn, centre) = (0.4 * r.number(), V::new(0.3 * r.number(), 0.3 * r.number(), 0.0));
            let size = between(r, 0.2, 0.5);
            let tips: Vec<V> = feet(3, r, size, turn).iter().map(|p| p + centre).collect();
            let platform = b.body(r, &(centre - V::x() * size), &(centre + V::x() * size), true);
            for (foot, tip) in base.iter().zip(&tips) {
                if family == 0 {
                    let knee = b.elbow(r, foot, tip);
                    let (upper, lower) = (b.body(r, foot, &knee, false), b.body(r, &knee, tip, false));
                    let motor = b.joint(PairKind::Revolute, [0, upper], foot, [&z, &z]);
                    b.joint(PairKind::Revolute, [upper, lower], &knee, [&z, &z]);
                    b.joint(PairKind::Revolute, [lower, platform], tip, [&z, &z]);
                    if driven {
                        b.drive(motor, DriveQuantity::Angle);
                    }
                } else {
                    let middle = (foot + tip) * 0.5;
                    let along = (tip - foot).normalize();
                    let (tube, piston) = (b.body(r, foot, &middle, false), b.body(r, &middle, tip, false));
                    b.joint(PairKind::Revolute, [0, tube], foot, [&z, &z]);
                    let motor = b.joint(PairKind::Prismatic, [tube, piston], &middle, [&along, &along]);
                    b.joint(PairKind::Revolute, [piston, platform], tip, [&z, &z]);
                    if driven {
                        b.drive(motor, DriveQuantity::Distance);
                    }
                }
            }
        }
        2 => {
            let [left, right] = [V::new(-0.5, 0.0, 0.0), V::new(0.5, 0.0, 0.0)];
            let tool = V::new(0.4 * r.number(), between(r, 0.4, 1.2), 0.0);
            let mut lowers = Vec::new();
            for foot in [&left, &right] {
                let knee = b.elbow(r, foot, &tool);
                let (upper, lower) = (b.body(r, foot, &knee, false), b.body(r, &knee, &tool, false));
                let motor = b.joint(PairKind::Revolute, [0, upper], foot, [&z, &z]);
                b.joint(PairKind::Revolute, [upper, lower], &knee, [&z, &z]);
                if driven {
                    b.drive(motor, DriveQuantity::Angle);
                }
                lowers.push(lower);
            }
            b.joint(PairKind::Revolute, [lowers[0], lowers[1]], &tool, [&z, &z]);
        }
        _ => {
            let n = if matches!(family, 5 | 6) { 3 } else { 6 };
            let base = feet(n, r, 1.0, 0.0);
            let centre = V::new(0.2 * r.number(), 0.2 * r.number(), between(r, 0.6, 1.1));
            let size = between(r, 0.3, 0.6);
            let tilt = if matches!(family, 5 | 6) { Matrix3::identity() } else { so3::exp(&(r.vector() * 0.3)) };
            let turn = 0.2 * r.number();
            let tips: Vec<V> = feet(n, r, size, turn).iter().map(|p| tilt * p + centre).collect();
            let platform = b.body(r, &(centre - V::x() * size), &(centre + V::x() * size), true);
            for (foot, tip) in base.iter().zip(&tips) {
                let along = (tip - foot).normalize();
                let tangent = z.cross(foot).normalize();
                if family == 5 {
                    // An arm in the vertical plane of its foot, and two equal rods side by side to the platform.
                    let out = foot.normalize();
                    let knee = foot + out * between(r, -0.1, 0.3) + z * between(r, 0.2, 0.6);
                    let arm = b.body(r, foot, &knee, false);
                    let motor = b.joint(PairKind::Revolute, [0, arm], foot, [&tangent, &tangent]);
                    for side in [-0.12, 0.12] {
                        b.rod([arm, platform], [&(knee + tangent * side), &(tip + tangent * side)]);
                    }
                    if driven {
                        b.drive(motor, DriveQuantity::Angle);
                    }
                    continue;
                }
                let middle = (foot + tip) * 0.5;
                let (tube, piston) = (b.body(r, foot, &middle, false), b.body(r, &middle, tip, false));
                let cross = along.cross(&tangent).normalize();
                match family {
                    3 => b.joint(PairKind::Spherical, [0, tube], foot, [&z, &z]),
                    4 => b.joint(PairKind::Universal, [0, tube], foot, [&tangent, &cross]),
                    _ => b.joint(PairKind::Revolute, [0, tube], foot, [&tangent, &tangent]),
                };
                let motor = b.joint(PairKind::Prismatic, [tube, piston], &middle, [&along, &along]);
                b.joint(PairKind::Spherical, [piston, platform], tip, [&z, &z]);
                if driven {
                    b.drive(motor, DriveQuantity::Distance);
                }
            }
        }
    }
    // Drawn off: planar robots mostly in their plane.
    let flat = planar && r.number() < 0.5;
    let poses = std::mem::take(&mut b.poses);
    for ((_, body), (at, A)) in b.spec.bodies.iter_mut().zip(&poses[1..]) {
        let (mut shift, mut turn) = (any(r) * off * between(r, 0.2, 1.0), any(r) * off * between(r, 0.2, 1.5));
        if flat {
            (shift.z, turn.x, turn.y) = (0.0, 0.0, 0.0);
        }
        body.at = three(&(at + shift));
        body.orientation = matrix(&(so3::exp(&turn) * A));
    }
    b.spec.title = format!("{} robot {seed}, drawn off by {off:.3}{}", FAMILIES[family.min(6)], if driven { ", driven" } else { "" });
    b.spec.study.t_end = 0.1;
    b.spec
}

/// Random starts that the pose taken is compared with.
pub const STARTS: usize = 50;

/// What [`compare`] measured; distances from the drawn pose, in characteristic lengths.
#[derive(Clone, Copy, Debug)]
pub struct Compared {
    /// Of the pose that the plain walk reaches.
    pub plain: f64,
    /// Of the pose that assembly takes.
    pub taken: f64,
    /// Of the nearest that the random starts lead to; infinite if none closes.
    pub best: f64,
    /// Starts that assembly looked from; 0 where its first walk was short.
    pub starts: usize,
    /// Whether it names another pose close by.
    pub other: bool,
    /// Time of the plain walk, and of all that assembly does beyond it, seconds.
    pub seconds: [f64; 2],
}

/// Assembles the robot of a seed, drawn off by 1 to 30 % of its size, with the options given, and compares it with the best of [`STARTS`]
/// random starts about the drawing, each assembled by the plain walk. `None` if nothing closes it.
pub fn compare(seed: u64, options: Options) -> Result<Option<Compared>, String> {
    let spec = {
        let step = (seed / FAMILIES.len() as u64 % 7) as f64 / 6.0;
        robot(seed as usize % FAMILIES.len(), seed, 0.01 * 30f64.powf(step))
    };
    let what = format!("seed {seed}: {}", spec.title);
    let model = spec.build().map_err(|e| format!("{what}: {e:?}"))?;
    let L = model.length;
    let sketch = Configuration::start(&model);
    let metric = Metric::new(&model);
    let timed = |options: Options| {
        let clock = Instant::now();
        (assemble_from(&model, &sketch, options), clock.elapsed().as_secs_f64())
    };
    let (plain, plain_seconds) = timed(Options { starts: 0, ..options });
    let (taken, seconds) = timed(options);
    let bound = Bound::new(&model, &sketch, true);
    let mut random = Random(0xfeed_5eed_0000_0001 ^ (seed << 8));
    let mut best = f64::INFINITY;
    for k in 0..STARTS {
        let mut from = sketch.q.clone();
        let size = 0.1 * (1 + k % 3) as f64;
        random.disturb(&mut from, &bound.held, size * L, 3.0 * size);
        let pulled = pull(&model, &bound.rows, &bound.held, &from, &sketch);
        if pulled.closed {
            best = best.min(metric.distance(&sketch.q, &pulled.q) / L);
        }
    }
    let (plain, a) = match (plain, taken) {
        (Ok(plain), Ok(a)) => (plain, a),
        (Err(_), Err(_)) if best.is_infinite() => return Ok(None),
        (_, Err(d)) | (Err(d), _) => return Err(format!("{what}: {d}; the best of the random starts is {best:.4} L away")),
    };
    let distance = metric.distance(&sketch.q, &a.configuration.q);
    if (distance - a.distance).abs() > 1e-12 * L {
        return Err(format!("{what}: the distance told is {} for {distance}", a.distance));
    }
    // The residual counts drives and whatever else binds the start.
    if a.residual_after > 1e-9 * L.max(1.0) {
        return Err(format!("{what}: a residual of {:.2e}", a.residual_after));
    }
    if timed(options).0.is_ok_and(|b| b.configuration.q != a.configuration.q) {
        return Err(format!("{what}: a second time gives other bits"));
    }
    let branch = a.branch.as_ref();
    Ok(Some(Compared {
        plain: plain.distance / L,
        taken: distance / L,
        best,
        starts: branch.map_or(0, |b| b.starts),
        other: branch.is_some_and(|b| b.other.is_some()),
        seconds: [plain_seconds, (seconds - plain_seconds).max(0.0)],
    }))
}
