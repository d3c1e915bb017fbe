//! The state that forces read, for any scalar, and the components of their laws: on `f64` they give the forces, on dual numbers
//! their exact derivatives.

use super::{Law, StateLaw, Variable};
use crate::coordinate::{Coordinate, PoseOf};
use crate::model::{Joint, JointCoordinate, Model, PointOn};
use crate::state::{Pose, Twist, Wrench};
use fourbar_math::Scalar;
use nalgebra::Vector3;
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
    /// An auxiliary value: an input, the slope of one, or a state; see [`crate::auxiliary`].
    fn auxiliary(&self, k: usize) -> S;
    /// Time as a scalar, for states with derivatives by time.
    fn now(&self) -> S {
        S::of(self.time())
    }
    /// Value and rate of a counted angle, if the state contains it as a coordinate.
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
    pub v: &'a [Twist],
    /// Counted angles.
    pub turns: &'a [f64],
    /// Normal loads by joint; empty if no friction is requested.
    pub loads: &'a [f64],
    /// Inputs, their slopes, and states.
    pub z: &'a [f64],
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
    fn auxiliary(&self, k: usize) -> f64 {
        self.z[k]
    }
}

/// A plain state with some values replaced.
#[derive(Clone, Copy)]
pub struct Given<'a> {
    /// The state.
    pub plain: Plain<'a>,
    /// The normal load of every joint.
    pub load: Option<f64>,
    /// Values and rates of counted angles as coordinates, so that forces do not compute them from the joint frames.
    pub counted: Option<&'a [(f64, f64)]>,
}

impl States<f64> for Given<'_> {
    fn time(&self) -> f64 {
        self.plain.t
    }
    fn pose(&self, b: usize) -> PoseOf<f64> {
        self.plain.pose(b)
    }
    fn velocity(&self, b: usize) -> VelocityOf<f64> {
        self.plain.velocity(b)
    }
    fn turn(&self, memory: usize) -> f64 {
        self.counted.map_or_else(|| self.plain.turn(memory), |c| c[memory].0)
    }
    fn load(&self, joint: usize) -> f64 {
        self.load.unwrap_or_else(|| self.plain.load(joint))
    }
    fn auxiliary(&self, k: usize) -> f64 {
        self.plain.auxiliary(k)
    }
    fn counted(&self, memory: usize) -> Option<(f64, f64)> {
        self.counted.map(|c| c[memory])
    }
}

pub(super) fn lift<S: Scalar>(a: &Vector3<f64>) -> Vector3<S> {
    a.map(S::of)
}

pub(super) fn point<S: Scalar>(q: &PoseOf<S>, s: &Vector3<f64>) -> Vector3<S> {
    q.r + q.A * lift(s)
}

pub(super) fn point_velocity<S: Scalar>(q: &PoseOf<S>, v: &VelocityOf<S>, s: &Vector3<f64>) -> Vector3<S> {
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
            // Velocity of the point relative to the base.
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
    law.expr.eval(&law_variables(model, law, x, own))
}

/// Values of the variables of an expression.
pub fn law_variables<S: Scalar>(model: &Model, law: &StateLaw, x: &impl States<S>, own: (S, S)) -> SmallVec<[S; 8]> {
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
            Variable::Auxiliary(k) => x.auxiliary(k),
            Variable::BodyPosition(b, k) => x.pose(b).r[k],
            Variable::BodyVelocity(b, k) => x.velocity(b).v[k],
        });
    }
    values
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
    // A spring of zero length has no direction and exerts no force.
    let e = if length.value() > 0.0 { d / length } else { Vector3::zeros() };
    (length, e.dot(&(b.1 - a.1)), e)
}

/// A force in the world at a point of a body.
pub(super) fn push_at<S: Scalar>(p: &PointOn, F: Vector3<S>, x: &impl States<S>, add: &mut impl FnMut(usize, Vector3<S>, Vector3<S>)) {
    let q = x.pose(p.body.index());
    add(p.body.index(), F, lift::<S>(&p.s).cross(&q.A.tr_mul(&F)));
}

/// A tension between two points, `e` the direction from first to second.
pub(super) fn pull<S: Scalar>(
    between: &[PointOn; 2],
    e: Vector3<S>,
    tension: S,
    x: &impl States<S>,
    add: &mut impl FnMut(usize, Vector3<S>, Vector3<S>),
) {
    push_at(&between[0], e * tension, x, add);
    push_at(&between[1], e * -tension, x, add);
}

/// The coordinate along which efforts in a joint act: its angle, if it has one.
pub fn acted_on(joint: &Joint) -> JointCoordinate {
    if joint.kind.has_angle() { JointCoordinate::Angle } else { JointCoordinate::Distance }
}

/// A force or torque `e` along a joint coordinate: on the moving body, reaction on the base.
pub(super) fn joint_effort<S: Scalar>(
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
pub fn applied(model: &Model, x: &Plain<'_>, f: &mut [Wrench]) {
    for (f, b) in f.iter_mut().zip(&model.bodies) {
        *f = Wrench { F: model.gravity * b.mass, T: Vector3::zeros() };
    }
    for (_, force) in &model.forces {
        force.wrench(model, x, &mut |b, F, T| {
            f[b].F += F;
            f[b].T += T;
        });
    }
}

/// Power of the forces that have no potential: dampers, friction, actuators, applied forces and expressions.
pub fn power(model: &Model, x: &Plain<'_>) -> f64 {
    model.forces.iter().map(|(_, force)| force.power(model, x)).sum()
}

/// Potential energy of gravity and of linear springs and bushings; elements without a potential contribute nothing.
pub fn potential(model: &Model, x: &Plain<'_>) -> f64 {
    potential_of(model, x, |_| true)
}

/// The same for some forces only.
pub fn potential_of(model: &Model, x: &Plain<'_>, acts: impl Fn(usize) -> bool) -> f64 {
    let mut e: f64 = model.bodies.iter().zip(x.q).map(|(b, q)| -b.mass * model.gravity.dot(&q.r)).sum();
    for (_, (_, force)) in model.forces.iter().enumerate().filter(|(k, _)| acts(*k)) {
        e += force.potential(model, x);
    }
    e
}
