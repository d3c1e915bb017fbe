//! Wrenches of the force elements, written once over any scalar: on `f64` they are the forces, on dual numbers their
//! exact derivatives.

use super::{Force, Law, StateLaw, Variable};
use crate::coordinate::{Coordinate, PoseOf};
use crate::model::{Joint, JointCoordinate, Model, PointOn};
use crate::spec::ForceFrame;
use crate::state::{Pose, Velocity};
use fourbar_math::Scalar;
use nalgebra::{Matrix3, Vector3};
use smallvec::SmallVec;

/// Velocity with any scalar.
#[derive(Clone, Copy, Debug)]
pub struct VelocityOf<S: Scalar> {
    /// Centre of mass, world.
    pub v: Vector3<S>,
    /// Angular velocity, body axes.
    pub w: Vector3<S>,
}

/// The state that forces read.
pub trait States<S: Scalar> {
    /// Time.
    fn time(&self) -> f64;
    /// Pose of a body.
    fn pose(&self, body: usize) -> PoseOf<S>;
    /// Velocity of a body.
    fn velocity(&self, body: usize) -> VelocityOf<S>;
    /// Last value of a counted angle.
    fn turn(&self, memory: usize) -> f64;
    /// Normal load of a joint, for friction.
    fn load(&self, joint: usize) -> S;
    /// Time as a scalar, for states that carry it along.
    fn now(&self) -> S {
        S::of(self.time())
    }
    /// Value and rate of a counted angle, where the state holds it as a coordinate.
    fn counted(&self, _memory: usize) -> Option<(S, S)> {
        None
    }
    /// Position and velocity of a point on a body.
    fn place(&self, on: &PointOn) -> (Vector3<S>, Vector3<S>) {
        let (q, v) = (self.pose(on.body.index()), self.velocity(on.body.index()));
        (point(&q, &on.s), point_velocity(&q, &v, &on.s))
    }
}

/// The plain state.
#[derive(Clone, Copy)]
pub struct Plain<'a> {
    /// Time.
    pub t: f64,
    /// Poses.
    pub q: &'a [Pose],
    /// Velocities.
    pub v: &'a [Velocity],
    /// Counted angles.
    pub turns: &'a [f64],
    /// Normal loads by joint; empty where no friction is asked for.
    pub loads: &'a [f64],
}

impl States<f64> for Plain<'_> {
    fn time(&self) -> f64 {
        self.t
    }
    fn pose(&self, b: usize) -> PoseOf<f64> {
        PoseOf { r: self.q[b].r, A: self.q[b].A }
    }
    fn velocity(&self, b: usize) -> VelocityOf<f64> {
        VelocityOf { v: self.v[b].v, w: self.v[b].w }
    }
    fn turn(&self, memory: usize) -> f64 {
        self.turns[memory]
    }
    fn load(&self, joint: usize) -> f64 {
        self.loads.get(joint).copied().unwrap_or(0.0)
    }
}

fn lift<S: Scalar>(a: &Vector3<f64>) -> Vector3<S> {
    a.map(S::of)
}

fn point<S: Scalar>(q: &PoseOf<S>, s: &Vector3<f64>) -> Vector3<S> {
    q.r + q.A * lift(s)
}

fn point_velocity<S: Scalar>(q: &PoseOf<S>, v: &VelocityOf<S>, s: &Vector3<f64>) -> Vector3<S> {
    v.v + q.A * v.w.cross(&lift(s))
}

/// Value and rate of a joint coordinate.
fn joint_coordinate<S: Scalar>(joint: &Joint, y: &Coordinate, x: &impl States<S>) -> (S, S) {
    if let Coordinate::Angle(a) = y
        && let Some(known) = x.counted(a.memory)
    {
        return known;
    }
    let [i, j] = joint.bodies.map(|b| b.index());
    let (qi, qj, vi, vj) = (x.pose(i), x.pose(j), x.velocity(i), x.velocity(j));
    let z = qi.A * lift::<S>(&joint.F.axis(2));
    match y {
        Coordinate::Angle(a) => {
            let value = y.value_of(&qi, &qj);
            let principal = value.value();
            let last = x.turn(a.memory);
            let turns = ((last - principal) / (2.0 * std::f64::consts::PI)).round();
            let z_m = qj.A * lift::<S>(&joint.M.axis(2));
            let e = (z + z_m) / (S::one() + z.dot(&z_m));
            let rate = e.dot(&(qj.A * vj.w - qi.A * vi.w));
            (value + S::of(2.0 * std::f64::consts::PI * turns), rate)
        }
        Coordinate::Curve(c) => {
            let last = if c.path.period().is_some() { x.turn(c.memory) } else { 0.0 };
            let (value, direction) = c.motion_of(&qi, &qj, last);
            let p = point(&qj, &joint.M.s);
            // Velocity of the point as seen from the base.
            let v = point_velocity(&qj, &vj, &joint.M.s) - vi.v - (qi.A * vi.w).cross(&(p - qi.r));
            (value, direction.dot(&v))
        }
        _ => {
            let d = point(&qj, &joint.M.s) - point(&qi, &joint.F.s);
            let d_dot = point_velocity(&qj, &vj, &joint.M.s) - point_velocity(&qi, &vi, &joint.F.s);
            let z_dot = (qi.A * vi.w).cross(&z);
            (z.dot(&d), z_dot.dot(&d) + z.dot(&d_dot))
        }
    }
}

/// Value of an expression; `own` is the element's coordinate and rate.
pub fn law_value<S: Scalar>(model: &Model, law: &StateLaw, x: &impl States<S>, own: (S, S)) -> S {
    let mut values: SmallVec<[S; 8]> = SmallVec::new();
    for v in &law.variables {
        values.push(match *v {
            Variable::Time => x.now(),
            Variable::Length => own.0,
            Variable::Rate => own.1,
            Variable::JointAngle(j) => coordinate_of(model, j, Some(JointCoordinate::Angle), x).0,
            Variable::JointDistance(j) => coordinate_of(model, j, Some(JointCoordinate::Distance), x).0,
            Variable::JointSpeed(j) => coordinate_of(model, j, None, x).1,
            Variable::PointPosition(p, k) => x.place(&model.points[p].1).0[k],
            Variable::PointVelocity(p, k) => x.place(&model.points[p].1).1[k],
        });
    }
    law.expr.eval(&values)
}

/// Value and rate of a coordinate of a joint; `None` takes its first.
pub fn coordinate_of<S: Scalar>(model: &Model, joint: usize, which: Option<JointCoordinate>, x: &impl States<S>) -> (S, S) {
    let j = &model.joints[joint];
    let y = match which {
        Some(w) => j.coordinate(w),
        None => j.coordinates().next().map(|(_, y)| y),
    };
    y.map_or((S::zero(), S::zero()), |y| joint_coordinate(j, &y, x))
}

impl Law {
    /// Its value with the element's own coordinate and rate.
    pub fn value<S: Scalar>(&self, model: &Model, x: &impl States<S>, own: (S, S)) -> S {
        match self {
            Law::Linear { stiffness, rest, damping } => (own.0 - S::of(*rest)) * S::of(*stiffness) + own.1 * S::of(*damping),
            Law::Expression(e) => law_value(model, e, x, own),
        }
    }
}

/// Length, rate and direction (from first to second) of a spring.
pub fn spring_state<S: Scalar>(between: &[PointOn; 2], x: &impl States<S>) -> (S, S, Vector3<S>) {
    let [a, b] = between.map(|p| x.place(&p));
    let d = b.0 - a.0;
    let length = d.dot(&d).sqrt();
    // A spring of zero length has no direction and pulls nowhere.
    let e = if length.value() > 0.0 { d / length } else { Vector3::zeros() };
    (length, e.dot(&(b.1 - a.1)), e)
}

/// Tension of a spring.
pub fn spring_tension(model: &Model, between: &[PointOn; 2], law: &Law, x: &Plain<'_>) -> (f64, f64) {
    let (length, rate, _) = spring_state(between, x);
    (length, law.value(model, x, (length, rate)))
}

/// How often the angle of a rotation is halved before its series are summed: the 32nd part of half a turn is 0.1.
const HALVINGS: usize = 5;

/// Rotation vector of a rotation by less than half a turn.
struct Turned<S> {
    /// The rotation vector.
    theta: Vector3<S>,
    /// `(1 - (p/2) cot(p/2)) / p^2` with the angle p, a factor of the inverse tangent map.
    bend: S,
}

impl<S: Scalar> Turned<S> {
    /// From a rotation matrix. Everything is a power series in what is finite and smooth for all angles below half a turn, zero
    /// included, so that a scalar that records it needs no branch and meets no quotient 0/0, and a Taylor series exists everywhere.
    fn new(R: &Matrix3<S>) -> Self {
        let half = S::of(0.5);
        let v = Vector3::new(R[(2, 1)] - R[(1, 2)], R[(0, 2)] - R[(2, 0)], R[(1, 0)] - R[(0, 1)]) * half;
        let c = (R[(0, 0)] + R[(1, 1)] + R[(2, 2)] - S::one()) * half;
        // Cosines of the half, the quarter and so on; the sine of the last part is that of the whole over twice all of them.
        let mut cosine = [c; HALVINGS + 1];
        let mut product = S::one();
        for k in 1..=HALVINGS {
            cosine[k] = ((S::one() + cosine[k - 1]) * half).sqrt();
            product *= cosine[k];
        }
        let parts = f64::from(1 << HALVINGS);
        let s2 = v.dot(&v) / (product * product) * S::of(1.0 / (parts * parts));
        // asin(s)/s in powers of s^2 < 0.01: coefficient n is that of n - 1 times (2n - 1)^2 / (2n (2n + 1)).
        let mut ratio = S::one();
        for n in (1..=7).rev() {
            let n = f64::from(n);
            ratio = S::one() + ratio * s2 * S::of((2.0 * n - 1.0).powi(2) / (2.0 * n * (2.0 * n + 1.0)));
        }
        // With g(x) = (1 - x cot x)/x^2: g(x) = (g(x/2) + tan(x/2)/(x/2))/4; the last part in powers of x^2.
        let x2 = s2 * ratio * ratio;
        let mut g = S::of(1382.0 / 638_512_875.0);
        for a in [2.0 / 93_555.0, 1.0 / 4_725.0, 2.0 / 945.0, 1.0 / 45.0, 1.0 / 3.0] {
            g = S::of(a) + g * x2;
        }
        let mut sinc = S::one() / ratio;
        for k in (2..=HALVINGS).rev() {
            g = (g + sinc / cosine[k]) * S::of(0.25);
            sinc *= cosine[k];
        }
        Self { theta: v * (ratio / product), bend: g * S::of(0.25) }
    }
}

/// Adds the wrench of one element: `add(body, force in the world at the centre of mass, torque in body axes)`.
pub fn wrench<S: Scalar>(model: &Model, force: &Force, x: &impl States<S>, add: &mut impl FnMut(usize, Vector3<S>, Vector3<S>)) {
    // A force F in the world at a point of a body.
    let at = |p: &PointOn, F: Vector3<S>, x: &dyn Fn(usize) -> PoseOf<S>, add: &mut dyn FnMut(usize, Vector3<S>, Vector3<S>)| {
        let q = x(p.body.index());
        add(p.body.index(), F, lift::<S>(&p.s).cross(&q.A.tr_mul(&F)));
    };
    let pose = |b: usize| x.pose(b);
    match force {
        Force::Spring { between, law } => {
            let (length, rate, e) = spring_state(between, x);
            let tension = law.value(model, x, (length, rate));
            at(&between[0], e * tension, &pose, add);
            at(&between[1], e * -tension, &pose, add);
        }
        Force::Torsion { joint, law } => {
            let own = coordinate_of(model, *joint, Some(JointCoordinate::Angle), x);
            let torque = law.value(model, x, own);
            joint_effort(&model.joints[*joint], JointCoordinate::Angle, -torque, x, add);
        }
        Force::Point { on, force, frame } => {
            let own = (S::zero(), S::zero());
            let mut F = Vector3::from_fn(|k, _| law_value(model, &force[k], x, own));
            if *frame == ForceFrame::Body {
                F = x.pose(on.body.index()).A * F;
            }
            at(on, F, &pose, add);
        }
        Force::Torque { body, torque, frame } => {
            let own = (S::zero(), S::zero());
            let mut T = Vector3::from_fn(|k, _| law_value(model, &torque[k], x, own));
            if *frame == ForceFrame::World {
                T = x.pose(body.index()).A.tr_mul(&T);
            }
            add(body.index(), Vector3::zeros(), T);
        }
        Force::Actuator { joint, effort } => {
            let e = law_value(model, effort, x, (S::zero(), S::zero()));
            let j = &model.joints[*joint];
            let which = if j.kind.has_angle() { JointCoordinate::Angle } else { JointCoordinate::Distance };
            joint_effort(j, which, e, x, add);
        }
        Force::Bushing { between, R_i, R_j, stiffness, damping } => {
            let [(qi, vi), (qj, vj)] = between.map(|p| (x.pose(p.body.index()), x.velocity(p.body.index())));
            let axes = qi.A * R_i.map(S::of);
            let w_i = qi.A * vi.w;
            // Components in the bushing axes, which turn with the first body.
            let d = point(&qj, &between[1].s) - point(&qi, &between[0].s);
            let d_dot = point_velocity(&qj, &vj, &between[1].s) - point_velocity(&qi, &vi, &between[0].s) - w_i.cross(&d);
            let (y, y_dot) = (axes.tr_mul(&d), axes.tr_mul(&d_dot));
            let F = axes * Vector3::from_fn(|k, _| -(y[k] * S::of(stiffness[k]) + y_dot[k] * S::of(damping[k])));
            let relative = axes.tr_mul(&(qj.A * R_j.map(S::of)));
            let Turned { theta, bend } = Turned::new(&relative);
            let omega = axes.tr_mul(&(qj.A * vj.w - w_i));
            // The elastic torque is the gradient of theta K theta / 2; with d/dt theta = T^-1 of the rate in the moving axes.
            let elastic = Vector3::from_fn(|k, _| theta[k] * S::of(stiffness[3 + k]));
            let T = -inverse_tangent(&theta, bend, &elastic) - Vector3::from_fn(|k, _| omega[k] * S::of(damping[3 + k]));
            let T = axes * T;
            // Acting at the moving point on the second body; the first takes the opposite at the same world point.
            let p = point(&qj, &between[1].s);
            let (a, b) = (between[0].body.index(), between[1].body.index());
            add(b, F, lift::<S>(&between[1].s).cross(&qj.A.tr_mul(&F)) + qj.A.tr_mul(&T));
            add(a, -F, -(qi.A.tr_mul(&((p - qi.r).cross(&F) + T))));
        }
        Force::Friction { joint, coulomb, viscous, radius, speed } => {
            let j = &model.joints[*joint];
            let (which, lever) = if j.kind.has_angle() { (JointCoordinate::Angle, *radius) } else { (JointCoordinate::Distance, 1.0) };
            let (_, rate) = coordinate_of(model, *joint, Some(which), x);
            let smooth = (rate * S::of(lever / *speed)).tanh();
            let e = -(smooth * x.load(*joint) * S::of(*coulomb * lever)) - rate * S::of(*viscous);
            joint_effort(j, which, e, x, add);
        }
    }
}

/// `T^-T y` in the base axes: the torque on the moving body, in the base frame, of a potential in `theta`.
fn inverse_tangent<S: Scalar>(theta: &Vector3<S>, bend: S, y: &Vector3<S>) -> Vector3<S> {
    // theta rate = T^-1 omega(moving axes) and omega(base axes) = R omega(moving): power = y . T^-1 R^T omega_base, so the
    // torque in base axes is R T^-T y = T^-1 y, because R T^-T = T^-1 for the tangent of the same vector.
    let cross = theta.cross(y);
    y + cross * S::of(0.5) + theta.cross(&cross) * bend
}

/// A force or torque `e` along a joint coordinate: on the moving body, reaction on the base.
fn joint_effort<S: Scalar>(
    joint: &Joint,
    which: JointCoordinate,
    e: S,
    x: &impl States<S>,
    add: &mut impl FnMut(usize, Vector3<S>, Vector3<S>),
) {
    let [i, j] = joint.bodies.map(|b| b.index());
    let (qi, qj) = (x.pose(i), x.pose(j));
    let z = qi.A * lift::<S>(&joint.F.axis(2));
    match which {
        JointCoordinate::Angle => {
            let z_m = qj.A * lift::<S>(&joint.M.axis(2));
            let axis = (z + z_m) / (S::one() + z.dot(&z_m));
            add(j, Vector3::zeros(), qj.A.tr_mul(&axis) * e);
            add(i, Vector3::zeros(), -(qi.A.tr_mul(&axis) * e));
        }
        JointCoordinate::Distance => {
            let direction = match joint.coordinate(which) {
                Some(Coordinate::Curve(c)) => c.motion_of(&qi, &qj, 0.0).1,
                _ => z,
            };
            let F = direction * e;
            let p = point(&qj, &joint.M.s);
            add(j, F, lift::<S>(&joint.M.s).cross(&qj.A.tr_mul(&F)));
            add(i, -F, -(qi.A.tr_mul(&(p - qi.r).cross(&F))));
        }
    }
}

/// All applied forces, gravity included, without the gyroscopic torque.
pub fn applied(model: &Model, x: &Plain<'_>, f: &mut [Velocity]) {
    for (f, b) in f.iter_mut().zip(&model.bodies) {
        *f = Velocity { v: model.gravity * b.mass, w: Vector3::zeros() };
    }
    for (_, force) in &model.forces {
        wrench(model, force, x, &mut |b, F, T| {
            f[b].v += F;
            f[b].w += T;
        });
    }
}

/// Power of the forces that have no potential: dampers, friction, actuators, applied forces and expressions.
pub fn power(model: &Model, x: &Plain<'_>) -> f64 {
    model.forces.iter().map(|(_, force)| power_of(model, force, x)).sum()
}

/// Power of what has no potential in one element.
pub fn power_of<S: Scalar>(model: &Model, force: &Force, x: &impl States<S>) -> S {
    match force {
        Force::Spring { between, law: Law::Linear { damping, .. } } => {
            let (_, rate, _) = spring_state(between, x);
            -(rate * rate * S::of(*damping))
        }
        Force::Torsion { joint, law: Law::Linear { damping, .. } } => {
            let (_, rate) = coordinate_of(model, *joint, Some(JointCoordinate::Angle), x);
            -(rate * rate * S::of(*damping))
        }
        Force::Bushing { between, R_i, damping, .. } => {
            let [(qi, vi), (qj, vj)] = between.map(|p| (x.pose(p.body.index()), x.velocity(p.body.index())));
            let axes = qi.A * R_i.map(S::of);
            let w_i = qi.A * vi.w;
            let d = point(&qj, &between[1].s) - point(&qi, &between[0].s);
            let rate = point_velocity(&qj, &vj, &between[1].s) - point_velocity(&qi, &vi, &between[0].s) - w_i.cross(&d);
            let (y, omega) = (axes.tr_mul(&rate), axes.tr_mul(&(qj.A * vj.w - w_i)));
            (0..3).fold(S::zero(), |sum, k| sum - y[k] * y[k] * S::of(damping[k]) - omega[k] * omega[k] * S::of(damping[3 + k]))
        }
        _ => {
            let mut sum = S::zero();
            wrench(model, force, x, &mut |b, F, T| {
                let v = x.velocity(b);
                sum += F.dot(&v.v) + T.dot(&v.w);
            });
            sum
        }
    }
}

/// Potential energy of gravity and of linear springs and bushings; elements without a potential count nothing.
pub fn potential(model: &Model, x: &Plain<'_>) -> f64 {
    let mut e: f64 = model.bodies.iter().zip(x.q).map(|(b, q)| -b.mass * model.gravity.dot(&q.r)).sum();
    for (_, force) in &model.forces {
        e += match force {
            Force::Spring { between, law: Law::Linear { stiffness, rest, .. } } => {
                let (length, ..) = spring_state(between, x);
                0.5 * stiffness * (length - rest).powi(2)
            }
            Force::Torsion { joint, law: Law::Linear { stiffness, rest, .. } } => {
                let (angle, _) = coordinate_of(model, *joint, Some(JointCoordinate::Angle), x);
                0.5 * stiffness * (angle - rest).powi(2)
            }
            Force::Bushing { between, R_i, R_j, stiffness, .. } => {
                let [qi, qj] = between.map(|p| x.pose(p.body.index()));
                let axes = qi.A * R_i;
                let y = axes.tr_mul(&(point(&qj, &between[1].s) - point(&qi, &between[0].s)));
                let theta = Turned::new(&axes.tr_mul(&(qj.A * R_j))).theta;
                (0..3).map(|k| 0.5 * (stiffness[k] * y[k] * y[k] + stiffness[3 + k] * theta[k] * theta[k])).sum()
            }
            _ => 0.0,
        };
    }
    e
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourbar_math::so3;

    #[test]
    fn rotation_vectors_and_their_tangent_factor_are_right_for_all_angles_below_half_a_turn() {
        let axis = Vector3::new(0.3, -0.5, 0.8).normalize();
        for k in 0..=310 {
            let p = 0.01 * f64::from(k);
            let turned = Turned::new(&so3::exp(&(axis * p)));
            let error = (turned.theta - axis * p).norm();
            // Near half a turn the matrix holds the axis in small differences.
            assert!(error < 2e-13 / (std::f64::consts::PI - p).powi(2).min(1.0), "angle {p}: {error:.1e}");
            let half = 0.5 * p;
            // Far from zero the closed form loses nothing.
            if p > 0.5 {
                let bend = (1.0 - half * half.cos() / half.sin()) / (p * p);
                assert!((turned.bend - bend).abs() < 1e-13 / (std::f64::consts::PI - p).powi(2).min(1.0), "angle {p}: {}", turned.bend);
            } else {
                // The next term of the series is p^8 / 47900160.
                let bend = 1.0 / 12.0 + p * p / 720.0 + p.powi(4) / 30_240.0 + p.powi(6) / 1_209_600.0;
                assert!((turned.bend - bend).abs() < 2.2e-8 * p.powi(8) + 1e-15, "angle {p}: {} {bend}", turned.bend);
            }
        }
    }
}
