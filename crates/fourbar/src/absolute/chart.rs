//! Charts: the difference between the formulations with absolute coordinates \[Kissel21\].
//!
//! Equations of motion and constraints are written once, in terms of the twist `(r_dot, omega_bar)`. A chart defines which numbers `x`
//! describe a rotation, and provides its velocity map: `omega_bar = B(x) x_dot`, `omega_bar_dot = B x_ddot + B_dot x_dot`. The integrator
//! moves `x`, `x_dot`, `x_ddot`; Newton solves for body increments `theta_bar`, which the chart converts into increments of its
//! coordinates. From the chart the iteration matrix needs only the two blocks
//!
//! ```text
//! V  = (h / b_v)   d omega_bar / d theta_bar           V' = (h^2 / b_a) d omega_bar_dot / d theta_bar
//! ```
//! at fixed history. For rA both are the inverse tangent operator of the step, and the twist is the rate itself.

use crate::state::Twist;
use fourbar_math::so3;
use nalgebra::{Matrix3, Vector3, Vector4};
use std::fmt::Debug;

/// Rates of one body in a chart: the linear part in world axes, the angular part in terms of the chart.
pub trait Rate: Copy + Debug + PartialEq + 'static {
    /// Numbers that store it.
    const SIZE: usize;
    /// No motion.
    fn zero() -> Self;
    /// Sum.
    fn plus(&self, o: &Self) -> Self;
    /// Multiple.
    fn scaled(&self, k: f64) -> Self;
    /// Linear part.
    fn linear(&self) -> &Vector3<f64>;
    /// Largest entry of the angular part.
    fn angular_size(&self) -> f64;
    /// Appends its numbers.
    fn write(&self, out: &mut Vec<f64>);
    /// Reads the result of [`Rate::write`]; `x` has [`Rate::SIZE`] entries.
    fn read(x: &[f64]) -> Self;
}

impl Rate for Twist {
    const SIZE: usize = 6;
    #[inline]
    fn zero() -> Self {
        Twist::zero()
    }
    #[inline]
    fn plus(&self, o: &Self) -> Self {
        Twist::plus(self, o)
    }
    #[inline]
    fn scaled(&self, k: f64) -> Self {
        Twist::scaled(self, k)
    }
    #[inline]
    fn linear(&self) -> &Vector3<f64> {
        &self.v
    }
    #[inline]
    fn angular_size(&self) -> f64 {
        self.w.amax()
    }
    fn write(&self, out: &mut Vec<f64>) {
        out.extend(self.v.iter().chain(self.w.iter()));
    }
    fn read(x: &[f64]) -> Self {
        Self { v: Vector3::from_column_slice(&x[..3]), w: Vector3::from_column_slice(&x[3..6]) }
    }
}

/// Rates with four angular numbers, those of Euler parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wide {
    /// Linear part, world axes.
    pub v: Vector3<f64>,
    /// Rates of the Euler parameters.
    pub w: Vector4<f64>,
}

impl Rate for Wide {
    const SIZE: usize = 7;
    #[inline]
    fn zero() -> Self {
        Self { v: Vector3::zeros(), w: Vector4::zeros() }
    }
    #[inline]
    fn plus(&self, o: &Self) -> Self {
        Self { v: self.v + o.v, w: self.w + o.w }
    }
    #[inline]
    fn scaled(&self, k: f64) -> Self {
        Self { v: self.v * k, w: self.w * k }
    }
    #[inline]
    fn linear(&self) -> &Vector3<f64> {
        &self.v
    }
    #[inline]
    fn angular_size(&self) -> f64 {
        self.w.amax()
    }
    fn write(&self, out: &mut Vec<f64>) {
        out.extend(self.v.iter().chain(self.w.iter()));
    }
    fn read(x: &[f64]) -> Self {
        Self { v: Vector3::from_column_slice(&x[..3]), w: Vector4::from_column_slice(&x[3..7]) }
    }
}

/// Position and its first three time derivatives.
pub type Jet<R> = [R; 4];

/// Weights of a step in the two blocks of the iteration matrix: `x_dot` moves by `b_v / h` and `x_ddot` by `b_a / h^2` times
/// the increment of `x`.
#[derive(Clone, Copy, Debug)]
pub struct Weights {
    /// Step.
    pub h: f64,
    /// Weight of accelerations.
    pub b_a: f64,
    /// Weight of velocities.
    pub b_v: f64,
}

/// Coordinates of rotations.
pub trait Chart: Copy + Debug + 'static {
    /// Name of the formulation.
    const NAME: &'static str;
    /// Coordinates of one rotation.
    type Point: Send + Copy + Debug + PartialEq;
    /// Rates.
    type Rate: Send + Rate;
    /// Whether the rates are the twist itself, so that no mapping or second storage is needed.
    const DIRECT: bool = false;
    /// Whether the chart has its own constraint, the norm of Euler parameters.
    const OWN: bool = false;
    /// Whether the chart has singular points and can be exchanged during the motion.
    const SINGULAR: bool = false;

    /// Coordinates of the rotation `A` of a body with angular velocity `w` (body axes).
    fn enter(A: &Matrix3<f64>, w: &Vector3<f64>) -> Self::Point;
    /// Coordinates of the rotation `A` without any choice that [`Chart::enter`] may make.
    fn plain(A: &Matrix3<f64>) -> Self::Point {
        Self::enter(A, &Vector3::zeros())
    }
    /// Coordinates for a body that comes near the singularity of its present ones.
    fn escape(A: &Matrix3<f64>, w: &Vector3<f64>) -> Self::Point {
        Self::enter(A, w)
    }
    /// Moves the point by `d` from `from`, whose rotation is `A`, and returns the new rotation.
    fn place(from: &Self::Point, A: &Matrix3<f64>, d: &Self::Rate, to: &mut Self::Point) -> Matrix3<f64>;
    /// `omega_bar = B x_dot`; linear, so it maps any tangent vector.
    fn twist(x: &Self::Point, x_dot: &Self::Rate) -> Twist;
    /// `omega_bar_dot = B x_ddot + B_dot x_dot`.
    fn twist_dot(x: &Self::Point, x_dot: &Self::Rate, x_ddot: &Self::Rate) -> Twist;
    /// Rates of a twist; they satisfy the chart's own constraint.
    fn rate(x: &Self::Point, twist: &Twist) -> Self::Rate;
    /// Second derivatives for the derivative of the twist, likewise.
    fn second(x: &Self::Point, x_dot: &Self::Rate, twist_dot: &Twist) -> Self::Rate;
    /// Increment of the coordinates for the body increment `dq`; `psi` is the step so far, which is used only on the group.
    fn increment(x: &Self::Point, psi: &Self::Rate, dq: &Twist) -> Self::Rate;
    /// The blocks `V` and `V'` of the header.
    fn slopes(x: &Self::Point, psi: &Self::Rate, x_dot: &Self::Rate, x_ddot: &Self::Rate, w: Weights) -> (Matrix3<f64>, Matrix3<f64>);
    /// Rotation of a step `psi` from `x`, radians, roughly.
    fn turn(x: &Self::Point, psi: &Self::Rate) -> f64;
    /// The twists of all bodies, from the rates or from the stored mapped twists.
    fn twists<'a>(rates: &'a [Self::Rate], mapped: &'a [Twist]) -> &'a [Twist];
    /// The same, mutable.
    fn twists_mut<'a>(rates: &'a mut [Self::Rate], mapped: &'a mut [Twist]) -> &'a mut [Twist];
    /// Numbers that store a point.
    fn write(x: &Self::Point, out: &mut Vec<f64>);
    /// Reads the result of [`Chart::write`]; also returns the number of values read; `None` if there are too few.
    fn read(x: &[f64]) -> Option<(Self::Point, usize)>;

    /// Third-order term of the integration on the group, `omega x omega_dot`; zero in a vector space.
    #[inline]
    fn commutator(_v: &Self::Rate, _a: &Self::Rate) -> Self::Rate {
        Self::Rate::zero()
    }
    /// Closes the chart's own constraint without changing the rotation, and returns the increment.
    #[inline]
    fn own(_x: &mut Self::Point) -> Self::Rate {
        Self::Rate::zero()
    }
    /// The part of a tangent vector across the chart's own constraint.
    #[inline]
    fn across(_x: &Self::Point, _d: &Self::Rate) -> Self::Rate {
        Self::Rate::zero()
    }
    /// Distance of a point from the chart's singularity: one far away, zero at it.
    #[inline]
    fn distance(_x: &Self::Point) -> f64 {
        1.0
    }
    /// A jet of coordinates around `from` in the chart of `to`; its first entry is the difference from `to`.
    fn carry(_from: &Self::Point, _to: &Self::Point, jet: &Jet<Self::Rate>) -> Jet<Self::Rate> {
        *jet
    }
}

/// Rotation matrices, moved on the group [Kissel21, section 3.1].
#[derive(Clone, Copy, Debug)]
pub struct Ra;

impl Chart for Ra {
    const NAME: &'static str = "ra";
    /// The rotation matrix of the pose is sufficient.
    type Point = ();
    type Rate = Twist;
    const DIRECT: bool = true;

    #[inline]
    fn enter(_A: &Matrix3<f64>, _w: &Vector3<f64>) {}
    #[inline]
    fn place(_from: &(), A: &Matrix3<f64>, d: &Twist, _to: &mut ()) -> Matrix3<f64> {
        A * so3::exp(&d.w)
    }
    #[inline]
    fn twist(_x: &(), x_dot: &Twist) -> Twist {
        *x_dot
    }
    #[inline]
    fn twist_dot(_x: &(), _x_dot: &Twist, x_ddot: &Twist) -> Twist {
        *x_ddot
    }
    #[inline]
    fn rate(_x: &(), twist: &Twist) -> Twist {
        *twist
    }
    #[inline]
    fn second(_x: &(), _x_dot: &Twist, twist_dot: &Twist) -> Twist {
        *twist_dot
    }
    #[inline]
    fn increment(_x: &(), psi: &Twist, dq: &Twist) -> Twist {
        Twist { v: dq.v, w: so3::tangent_inv(&psi.w) * dq.w }
    }
    fn slopes(_x: &(), psi: &Twist, _v: &Twist, _a: &Twist, _w: Weights) -> (Matrix3<f64>, Matrix3<f64>) {
        let T = so3::tangent_inv(&psi.w);
        (T, T)
    }
    #[inline]
    fn turn(_x: &(), psi: &Twist) -> f64 {
        psi.w.norm()
    }
    #[inline]
    fn twists<'a>(rates: &'a [Twist], _mapped: &'a [Twist]) -> &'a [Twist] {
        rates
    }
    #[inline]
    fn twists_mut<'a>(rates: &'a mut [Twist], _mapped: &'a mut [Twist]) -> &'a mut [Twist] {
        rates
    }
    fn write(_x: &(), _out: &mut Vec<f64>) {}
    fn read(_x: &[f64]) -> Option<((), usize)> {
        Some(((), 0))
    }
    #[inline]
    fn commutator(v: &Twist, a: &Twist) -> Twist {
        Twist { v: Vector3::zeros(), w: v.w.cross(&a.w) }
    }
}
