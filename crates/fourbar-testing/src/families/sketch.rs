//! A mechanism under construction: drawn near the origin in units of its size, then placed anywhere in the world.

use crate::mechanism::matrix;
use fourbar::random::Random;
use fourbar::spec::*;
use fourbar_math::so3;
use nalgebra::{Matrix3, Vector3};

pub type V = Vector3<f64>;

/// Ends and output steps: for most of them a multiple of the step exceeds the end by rounding, or no multiple equals it.
const TIMES: [(f64, f64); 14] = [
    (0.03, 0.01),
    (0.06, 0.02),
    (0.07, 0.01),
    (0.12, 0.05),
    (0.14, 0.02),
    (0.15, 0.05),
    (0.3, 0.05),
    (0.3, 0.1),
    (0.35, 0.07),
    (0.6, 0.1),
    (0.7, 0.1),
    (0.9, 0.25),
    (1.1, 0.1),
    (1.4, 0.2),
];

/// Random generator with the distributions needed here.
pub struct Draw(Random);

impl Draw {
    /// The numbers of a seed.
    pub fn new(seed: u64) -> Self {
        let mut r = Random((seed ^ 0xfa31_11e5_0000_0000).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        // The first numbers of neighbouring seeds are similar, so they are discarded.
        for _ in 0..12 {
            r.number();
        }
        Self(r)
    }
    /// Between two numbers, uniformly.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.0.number() + 1.0) * 0.5
    }
    /// Between two powers of ten, uniformly in the exponent.
    pub fn decades(&mut self, low: f64, high: f64) -> f64 {
        10f64.powf(self.between(low, high))
    }
    /// An integer below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.between(0.0, n as f64) as usize).min(n - 1)
    }
    /// True once in `n` draws.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
    /// One of a list.
    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
    /// A vector with components between minus one and one.
    pub fn vector(&mut self) -> V {
        self.0.vector()
    }
    /// A vector of length one.
    pub fn unit(&mut self) -> V {
        loop {
            let v = self.0.vector();
            let n = v.norm();
            if n > 0.1 && n < 1.0 {
                return v / n;
            }
        }
    }
    /// A direction perpendicular to `d`.
    pub fn across(&mut self, d: &V) -> V {
        loop {
            let v = d.cross(&self.unit());
            if v.norm() > 0.3 {
                return v.normalize();
            }
        }
    }
    /// A point of the plane z = 0 near another.
    pub fn near(&mut self, x: f64, y: f64, far: f64) -> V {
        V::new(x + self.between(-far, far), y + self.between(-far, far), 0.0)
    }
}

pub fn three(v: &V) -> V3 {
    [v.x, v.y, v.z]
}

/// A joint of the sketch, for elements added to it later.
#[derive(Clone, Debug)]
pub struct Joined {
    pub name: String,
    pub kind: PairKind,
}

/// The sketch. Body 0 is the ground; positions and axes given to its functions are in units of [`Sketch::size`].
pub struct Sketch {
    pub draw: Draw,
    pub spec: ModelSpec,
    /// One unit of the sketch, metres.
    pub size: f64,
    /// Typical mass, kilograms.
    pub mass: f64,
    /// Typical acceleration, m/s^2.
    pub pace: f64,
    /// Whether bodies may be drawn inexactly: not with couplings, whose zero is as drawn.
    pub may_be_rough: bool,
    /// Joints that may be driven without locking the mechanism, at least for a while.
    pub driveable: Vec<String>,
    /// Joints between two bodies so far.
    pub joints: Vec<Joined>,
    turn: Matrix3<f64>,
    shift: V,
    /// Pose of each body frame in the world, the ground first.
    poses: Vec<(V, Matrix3<f64>)>,
    names: Vec<String>,
}

impl Sketch {
    pub fn new(seed: u64, family: &str) -> Self {
        let mut draw = Draw::new(seed);
        let size = draw.decades(-1.3, 0.7);
        let turn = if draw.once_in(6) { Matrix3::identity() } else { so3::exp(&(draw.unit() * draw.between(0.0, 3.1))) };
        let far = draw.pick(&[0.0, 1.0, 5.0, 30.0]);
        let shift = draw.vector() * (far * size);
        let gravity = draw.pick(&[9.81, 9.81, 9.81, 1.62, 0.0]);
        let mut spec = ModelSpec { title: format!("{family}, seed {seed}"), ..ModelSpec::default() };
        let down = if draw.once_in(3) { V::new(0.0, 0.0, -1.0) } else { draw.unit() };
        spec.gravity = Some(three(&(down * gravity)));
        let pace = if gravity > 0.0 { gravity } else { 5.0 };
        let natural = (size / pace).sqrt();
        let fit: Vec<_> = TIMES.iter().copied().filter(|t| t.0 > 0.7 * natural && t.0 < 3.0 * natural).collect();
        let (t_end, step) = if fit.is_empty() { (0.7, 0.1) } else { draw.pick(&fit) };
        spec.study = StudySpec { analysis: Some("dynamics".into()), t_end, output_step: Some(step), ..StudySpec::default() };
        let mass = draw.decades(-1.0, 1.0);
        Self {
            draw,
            spec,
            size,
            mass,
            pace,
            may_be_rough: true,
            driveable: Vec::new(),
            joints: Vec::new(),
            turn,
            shift,
            poses: vec![(V::zeros(), Matrix3::identity())],
            names: vec!["ground".into()],
        }
    }

    /// A point of the sketch in the world.
    pub fn point(&self, p: &V) -> V {
        self.turn * (p * self.size) + self.shift
    }
    /// A direction of the sketch in the world.
    pub fn direction(&self, d: &V) -> V {
        self.turn * d
    }
    /// A point of the sketch as a place on a body.
    pub fn place(&self, body: usize, p: &V) -> Place {
        let (at, A) = &self.poses[body];
        Place { body: self.names[body].clone(), at: At::Body(three(&A.tr_mul(&(self.point(p) - at)))) }
    }
    pub fn name(&self, body: usize) -> &str {
        &self.names[body]
    }
    /// Index of a body by name.
    pub fn names_index(&self, name: &str) -> usize {
        self.names.iter().position(|n| n == name).unwrap_or(0)
    }
    /// A point of a body's frame in the world, as drawn.
    pub fn world(&self, body: usize, p: &V) -> V {
        self.poses[body].0 + self.poses[body].1 * p
    }
    /// Moving bodies.
    pub fn bodies(&self) -> usize {
        self.names.len() - 1
    }

    /// Adds a body between points of the sketch.
    pub fn body(&mut self, points: &[V]) -> usize {
        let mean = points.iter().sum::<V>() / points.len() as f64;
        let extent = points.iter().fold(0.1_f64, |m, p| m.max((p - mean).norm())) * self.size;
        let d = &mut self.draw;
        let factor = match d.below(12) {
            0 => d.decades(-3.5, -2.0),
            1 => d.decades(1.0, 2.0),
            _ => d.between(0.3, 3.0),
        };
        let mass = self.mass * factor;
        // Principal values of any three positive second moments satisfy the triangle inequality.
        let [x, y, z] = std::array::from_fn(|_| mass * extent * extent * d.between(0.03, 0.4));
        let R = so3::exp(&d.vector());
        let J = R * Matrix3::from_diagonal(&V::new(y + z, z + x, x + y)) * R.transpose();
        let A = so3::exp(&(d.unit() * d.between(0.0, 3.0)));
        let off = d.vector() * (0.2 * extent);
        let com = d.vector() * (0.2 * extent);
        let speed = if d.once_in(4) { 0.0 } else { (self.pace * self.size).sqrt() * 0.5 };
        let (velocity, omega) = (d.vector() * speed, d.vector() * (speed / self.size));
        let at = self.point(&mean) + off;
        let body = BodySpec {
            mass,
            inertia: Inertia::Tensor([J[(0, 0)], J[(1, 1)], J[(2, 2)], J[(0, 1)], J[(0, 2)], J[(1, 2)]]),
            at: three(&at),
            orientation: matrix(&A),
            com: three(&A.tr_mul(&(com - off))),
            velocity: three(&velocity),
            omega: three(&omega),
            shapes: Vec::new(),
        };
        let k = self.names.len();
        self.names.push(format!("link{k}"));
        self.poses.push((at, A));
        self.spec.bodies.push((self.names[k].clone(), body));
        k
    }

    /// Adds a joint at a point of the sketch, and returns its name.
    pub fn joint(&mut self, kind: PairKind, bodies: [usize; 2], at: &V, axis: &V) -> String {
        let z = axis.normalize();
        let axis_moving = (kind == PairKind::Universal).then(|| {
            let across = self.draw.across(&z);
            three(&self.direction(&across))
        });
        let name = format!("j{}", self.spec.joints.len() + 1);
        let placement = Placement::World { at: three(&self.point(at)), axis: three(&self.direction(&z)), axis_moving };
        self.spec.joints.push((name.clone(), JointSpec::Pair { kind, bodies: bodies.map(|b| self.names[b].clone()), placement }));
        self.joints.push(Joined { name: name.clone(), kind });
        name
    }
    /// A hinge.
    pub fn hinge(&mut self, bodies: [usize; 2], at: &V, axis: &V) -> String {
        self.joint(PairKind::Revolute, bodies, at, axis)
    }
    /// A hinge of a mechanism in the plane z = 0; some are displaced from the plane, which does not affect the motion.
    pub fn pin(&mut self, bodies: [usize; 2], at: &V) -> String {
        let lift = if self.draw.once_in(3) { self.draw.between(-0.3, 0.3) } else { 0.0 };
        self.hinge(bodies, &(at + V::z() * lift), &V::z())
    }
    /// A ball.
    pub fn ball(&mut self, bodies: [usize; 2], at: &V) -> String {
        let axis = self.draw.unit();
        self.joint(PairKind::Spherical, bodies, at, &axis)
    }
    /// A massless rod between points of two bodies.
    pub fn rod(&mut self, bodies: [usize; 2], from: &V, to: &V) {
        let name = format!("j{}", self.spec.joints.len() + 1);
        let length = Some((to - from).norm() * self.size);
        self.spec.joints.push((name, JointSpec::Distance { from: self.place(bodies[0], from), to: self.place(bodies[1], to), length }));
    }
    /// A coupling.
    pub fn couple(&mut self, joint: JointSpec) {
        self.may_be_rough = false;
        let name = format!("c{}", self.spec.joints.len() + 1);
        self.spec.joints.push((name, joint));
    }

    /// The finished mechanism, in some cases drawn inexactly.
    pub fn finish(mut self) -> ModelSpec {
        if self.may_be_rough && self.spec.constraints.is_empty() && self.draw.once_in(4) {
            self.rough();
        }
        self.spec
    }

    /// Replaces world positions by exact frames on the bodies, then displaces the drawn bodies slightly.
    fn rough(&mut self) {
        let index = |names: &[String], n: &str| names.iter().position(|x| x == n).unwrap_or(0);
        for (_, joint) in &mut self.spec.joints {
            let JointSpec::Pair { bodies: ends, placement, .. } = joint else { continue };
            let Placement::World { at, axis, axis_moving } = placement.clone() else { continue };
            let z = [V::from(axis), axis_moving.map_or(V::from(axis), V::from)];
            let x = self.draw.across(&z[0]);
            let frame = |side: usize| {
                let (p, A) = &self.poses[index(&self.names, &ends[side])];
                // A universal joint has no angle coordinate, so its frames need no common x axis.
                let x = if axis_moving.is_some() { None } else { Some(three(&A.tr_mul(&x))) };
                FrameSpec { at: three(&A.tr_mul(&(V::from(at) - p))), axis: three(&A.tr_mul(&z[side])), x }
            };
            *placement = Placement::Frames { base: frame(0), moving: frame(1) };
        }
        for (k, (_, b)) in self.spec.bodies.iter_mut().enumerate() {
            let (at, A) = &self.poses[k + 1];
            b.at = three(&(at + self.draw.vector() * (0.01 * self.size)));
            b.orientation = matrix(&(so3::exp(&(self.draw.vector() * 0.02)) * A));
        }
    }
}
