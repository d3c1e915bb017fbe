//! Moving axes in which positions and velocities of a step are polynomials of time.
//!
//! Collocation takes what it interpolates as polynomials. In world axes every point of a mechanism that spins runs on a circle, and steps
//! resolve these circles although nothing happens in the mechanism. In axes that take part in the motion, with a constant spin about a fixed
//! axis and a constant speed along it during the step, points that spin with the mechanism rest:
//! ```text
//! r = p + u s + exp(s spin) (x - p),    r_dot = exp(s spin) y,    x_dot = y - u - spin x (x - p),    r_ddot = exp(s spin) (y_dot + spin x y)
//! ```
//! with `s` the time since the start of the step, where `x = r` and `y = r_dot`. Connected bodies share these axes. They are taken where they
//! explain most of the accelerations of these bodies; elsewhere the axes are those of the world.

use crate::model::Model;
use crate::motion::numbers;
use crate::state::{Pose, Twist};
use fourbar_math::so3;
use nalgebra::{Matrix3, Vector3};
use serde_json::{Value, json};

/// The axes move where they leave at most this share of the squared accelerations that points have in world axes.
const LEFT: f64 = 0.25;
/// The axis is at most so many characteristic lengths away.
const FAR: f64 = 30.0;

/// Axes of one group of bodies in a step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frame {
    /// Spin, a point of its axis, and the speed along it.
    spin: Vector3<f64>,
    p: Vector3<f64>,
    u: Vector3<f64>,
}

/// Sums over the bodies of a group, by mass.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    mass: f64,
    r: Vector3<f64>,
    v: Vector3<f64>,
    spin: Vector3<f64>,
    world: f64,
    moving: f64,
}

/// Axes of all groups in a step, with their turns at its stages.
#[derive(Clone, Debug)]
pub(super) struct Frames {
    /// Size of the step.
    h: f64,
    of: Vec<Frame>,
    turns: [Vec<Matrix3<f64>>; 3],
    c: [f64; 3],
    sums: Vec<Sums>,
}

impl Frame {
    fn moves(&self) -> bool {
        self.spin != Vector3::zeros()
    }

    fn turn(&self, s: f64) -> Matrix3<f64> {
        so3::exp(&(self.spin * s))
    }

    /// Position in the world a time `s` after the start of the step, with the turn until then.
    pub fn position(&self, turn: &Matrix3<f64>, s: f64, x: &Vector3<f64>) -> Vector3<f64> {
        self.p + self.u * s + turn * (x - self.p)
    }

    /// The inverse of [`Frame::position`].
    pub fn inside(&self, turn: &Matrix3<f64>, s: f64, r: &Vector3<f64>) -> Vector3<f64> {
        self.p + turn.tr_mul(&(r - self.p - self.u * s))
    }

    /// Rate of the position in these axes, where the velocity is `y` in them.
    pub fn rate(&self, x: &Vector3<f64>, y: &Vector3<f64>) -> Vector3<f64> {
        y - self.u - self.spin.cross(&(x - self.p))
    }

    /// Acceleration in these axes.
    pub fn acceleration(&self, y: &Vector3<f64>, y_dot: &Vector3<f64>) -> Vector3<f64> {
        y_dot + self.spin.cross(y)
    }

    /// Rate of the velocity in these axes where they coincide with those of the world.
    pub fn slope(&self, y: &Vector3<f64>, a: &Vector3<f64>) -> Vector3<f64> {
        a - self.spin.cross(y)
    }
}

impl Frames {
    /// World axes, for so many groups.
    pub fn new(groups: usize, c: [f64; 3]) -> Self {
        let still = vec![Matrix3::identity(); groups];
        Self {
            h: 0.0,
            of: vec![Frame::default(); groups],
            turns: [still.clone(), still.clone(), still],
            c,
            sums: vec![Sums::default(); groups],
        }
    }

    /// Axes of the group of a body where they move.
    pub fn of(&self, group: usize) -> Option<&Frame> {
        self.of.get(group).filter(|f| f.moves())
    }

    /// Turn of a group until a stage.
    pub fn turn(&self, stage: usize, group: usize) -> &Matrix3<f64> {
        &self.turns[stage][group]
    }

    /// Time from the start of the step to a stage.
    pub fn until(&self, stage: usize) -> f64 {
        self.c[stage] * self.h
    }

    /// Chooses the axes of a step of size `h` from the state and the accelerations at its start.
    pub fn choose(&mut self, model: &Model, group: &[usize], (q, v, a): (&[Pose], &[Twist], &[Twist]), h: f64) {
        let Self { of, sums, .. } = self;
        sums.fill(Sums::default());
        for b in 1..q.len() {
            let (m, s) = (model.bodies[b].mass, &mut sums[group[b]]);
            s.mass += m;
            s.r += q[b].r * m;
            s.v += v[b].v * m;
            s.spin += q[b].A * v[b].w * m;
        }
        for (f, s) in of.iter_mut().zip(sums.iter()) {
            *f = Frame::default();
            let n2 = s.spin.norm_squared() / (s.mass * s.mass);
            if !(s.mass > 0.0 && n2 > 0.0) {
                continue;
            }
            let (spin, r, v) = (s.spin / s.mass, s.r / s.mass, s.v / s.mass);
            let arm = spin.cross(&v) / n2;
            if arm.norm() <= FAR * model.length {
                *f = Frame { spin, p: r + arm, u: spin * (spin.dot(&v) / n2) };
            }
        }
        for b in 1..q.len() {
            let (f, s) = (&of[group[b]], &mut sums[group[b]]);
            if f.moves() {
                let (m, y) = (model.bodies[b].mass, &v[b].v);
                let y_dot = f.slope(y, &a[b].v);
                s.world += 2.0 * m * a[b].v.norm_squared();
                s.moving += m * (y_dot.norm_squared() + (y_dot - f.spin.cross(&f.rate(&q[b].r, y))).norm_squared());
            }
        }
        for (f, s) in of.iter_mut().zip(sums.iter()) {
            if s.moving >= LEFT * s.world || s.moving.is_nan() {
                *f = Frame::default();
            }
        }
        self.begin(h);
    }

    /// Turns at the stages of a step.
    fn begin(&mut self, h: f64) {
        self.h = h;
        for (turns, c) in self.turns.iter_mut().zip(self.c) {
            for (turn, f) in turns.iter_mut().zip(&self.of).filter(|(_, f)| f.moves()) {
                *turn = f.turn(c * h);
            }
        }
    }

    /// Brings positions and velocities in these axes, a share `x` of the step after its start, into the world.
    pub fn bring(&self, group: &[usize], x: f64, q: &mut [Pose], v: &mut [Twist]) {
        let (s, mut last) = (x * self.h, (usize::MAX, Matrix3::identity()));
        for b in 1..q.len() {
            let Some(f) = self.of(group[b]) else { continue };
            if last.0 != group[b] {
                last = (group[b], f.turn(s));
            }
            q[b].r = f.position(&last.1, s, &q[b].r);
            v[b].v = last.1 * v[b].v;
        }
    }

    /// For checkpoints.
    pub fn save(&self) -> Value {
        json!({"h": self.h, "of": self.of.iter().flat_map(|f| f.spin.iter().chain(&f.p).chain(&f.u).copied()).collect::<Vec<_>>()})
    }

    /// Reads what [`Frames::save`] wrote; `None` where it does not fit.
    pub fn restore(&mut self, v: &Value) -> Option<()> {
        let (x, h) = (numbers(&v["of"]), v["h"].as_f64()?);
        if x.len() != 9 * self.of.len() {
            return None;
        }
        for (f, x) in self.of.iter_mut().zip(x.chunks_exact(9)) {
            let three = |k: usize| Vector3::new(x[k], x[k + 1], x[k + 2]);
            *f = Frame { spin: three(0), p: three(3), u: three(6) };
        }
        self.begin(h);
        Some(())
    }
}
