//! Accelerations of a tree of bodies over any scalar: one outward pass for positions and velocities, one inward for articulated inertias,
//! one outward for rates. Twists are (linear, angular) in world axes about the world origin.
//!
//! The engine's recursion in joint coordinates uses plain numbers and covers every joint; here the data of the mechanism are scalars too,
//! so that they may carry derivatives or belong to several mechanisms at once, and joints are revolute, prismatic or fixed.

use fourbar_math::Scalar;

pub type V<T> = [T; 3];

/// Motion of a node relative to its parent: rotation about or translation along z of the joint frame, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joint {
    Hinge,
    Slide,
    Weld,
}

/// A body in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    pub parent: usize,
    pub joint: Joint,
    /// Index of its coordinate and speed; for a weld, that of the next node.
    pub column: usize,
    /// Body of the model.
    pub body: usize,
}

/// Data of a node: joint frame in the frame of the parent, centre, mass, central inertia (xx, xy, xz, yy, yz, zz) and body axes in the node
/// frame.
#[derive(Clone, Copy, Debug)]
pub struct Shape<T> {
    pub R: [T; 9],
    pub s: V<T>,
    pub c: V<T>,
    pub m: T,
    pub J: [T; 6],
    pub axes: [T; 9],
}

/// A twist, acceleration or wrench.
#[derive(Clone, Copy, Debug)]
pub struct Six<T> {
    pub l: V<T>,
    pub a: V<T>,
}

#[inline(always)]
fn add<T: Scalar>(a: &V<T>, b: &V<T>) -> V<T> {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}
#[inline(always)]
fn sub<T: Scalar>(a: &V<T>, b: &V<T>) -> V<T> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}
#[inline(always)]
pub(super) fn scale<T: Scalar>(a: &V<T>, k: T) -> V<T> {
    [a[0] * k, a[1] * k, a[2] * k]
}
#[inline(always)]
pub fn dot<T: Scalar>(a: &V<T>, b: &V<T>) -> T {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
#[inline(always)]
pub fn cross<T: Scalar>(a: &V<T>, b: &V<T>) -> V<T> {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
/// Row-major matrix times vector.
#[inline(always)]
pub fn times<T: Scalar>(E: &[T; 9], x: &V<T>) -> V<T> {
    [E[0] * x[0] + E[1] * x[1] + E[2] * x[2], E[3] * x[0] + E[4] * x[1] + E[5] * x[2], E[6] * x[0] + E[7] * x[1] + E[8] * x[2]]
}
#[inline(always)]
fn column<T: Scalar>(E: &[T; 9], k: usize) -> V<T> {
    [E[k], E[3 + k], E[6 + k]]
}
#[inline(always)]
fn of_columns<T: Scalar>(x: &V<T>, y: &V<T>, z: &V<T>) -> [T; 9] {
    [x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]]
}
/// Product of row-major matrices.
#[inline(always)]
pub fn product<T: Scalar>(A: &[T; 9], B: &[T; 9]) -> [T; 9] {
    of_columns(&times(A, &column(B, 0)), &times(A, &column(B, 1)), &times(A, &column(B, 2)))
}
#[inline(always)]
pub(super) fn symmetric<T: Scalar>(m: &[T; 6], x: &V<T>) -> V<T> {
    [m[0] * x[0] + m[1] * x[1] + m[2] * x[2], m[1] * x[0] + m[3] * x[1] + m[4] * x[2], m[2] * x[0] + m[4] * x[1] + m[5] * x[2]]
}
/// `E J E^T` of a symmetric matrix.
#[inline(always)]
fn turned<T: Scalar>(E: &[T; 9], m: &[T; 6]) -> [T; 6] {
    let (x, y, z) = (times(E, &[m[0], m[1], m[2]]), times(E, &[m[1], m[3], m[4]]), times(E, &[m[2], m[4], m[5]]));
    let row = |i: usize| [x[i], y[i], z[i]];
    let of = |r: &V<T>, j: usize| r[0] * E[3 * j] + r[1] * E[3 * j + 1] + r[2] * E[3 * j + 2];
    let (a, b, c) = (row(0), row(1), row(2));
    [of(&a, 0), of(&a, 1), of(&a, 2), of(&b, 1), of(&b, 2), of(&c, 2)]
}

impl<T: Scalar> Six<T> {
    #[inline(always)]
    pub fn zero() -> Self {
        Self { l: [T::zero(); 3], a: [T::zero(); 3] }
    }
    #[inline(always)]
    pub(super) fn plus(&self, o: &Self) -> Self {
        Self { l: add(&self.l, &o.l), a: add(&self.a, &o.a) }
    }
    #[inline(always)]
    fn minus(&self, o: &Self) -> Self {
        Self { l: sub(&self.l, &o.l), a: sub(&self.a, &o.a) }
    }
    #[inline(always)]
    fn by(&self, k: T) -> Self {
        Self { l: scale(&self.l, k), a: scale(&self.a, k) }
    }
    #[inline(always)]
    fn dot(&self, o: &Self) -> T {
        dot(&self.l, &o.l) + dot(&self.a, &o.a)
    }
    /// Rate of a motion vector that is carried along with this motion.
    #[inline(always)]
    pub(super) fn crossed(&self, o: &Self) -> Self {
        Self { l: add(&cross(&self.a, &o.l), &cross(&self.l, &o.a)), a: cross(&self.a, &o.a) }
    }
    /// Rate of a wrench that is carried along with this motion.
    #[inline(always)]
    pub(super) fn crossed_wrench(&self, o: &Self) -> Self {
        Self { l: cross(&self.a, &o.l), a: add(&cross(&self.a, &o.a), &cross(&self.l, &o.l)) }
    }
}

/// A symmetric 6 x 6 matrix in blocks (linear, angular).
#[derive(Clone, Copy, Debug)]
struct Articulated<T> {
    ll: [T; 6],
    la: [T; 9],
    aa: [T; 6],
}

impl<T: Scalar> Articulated<T> {
    #[inline(always)]
    fn zero() -> Self {
        Self { ll: [T::zero(); 6], la: [T::zero(); 9], aa: [T::zero(); 6] }
    }
    #[inline(always)]
    fn add(&mut self, o: &Self) {
        for i in 0..6 {
            self.ll[i] += o.ll[i];
            self.aa[i] += o.aa[i];
        }
        for i in 0..9 {
            self.la[i] += o.la[i];
        }
    }
    /// Adds a rigid body: mass, first and second moments about the origin.
    #[inline(always)]
    fn add_rigid(&mut self, m: T, h: &V<T>, J: &[T; 6]) {
        for i in [0, 3, 5] {
            self.ll[i] += m;
        }
        self.la[1] += h[2];
        self.la[2] -= h[1];
        self.la[3] -= h[2];
        self.la[5] += h[0];
        self.la[6] += h[1];
        self.la[7] -= h[0];
        for i in 0..6 {
            self.aa[i] += J[i];
        }
    }
    #[inline(always)]
    fn apply(&self, s: &Six<T>) -> Six<T> {
        let b = &self.la;
        let (l, a) = (&s.l, &s.a);
        let across = times(b, a);
        let down =
            [b[0] * l[0] + b[3] * l[1] + b[6] * l[2], b[1] * l[0] + b[4] * l[1] + b[7] * l[2], b[2] * l[0] + b[5] * l[1] + b[8] * l[2]];
        Six { l: add(&symmetric(&self.ll, l), &across), a: add(&down, &symmetric(&self.aa, a)) }
    }
    /// `self -= k U U^T`.
    #[inline(always)]
    fn subtract_square(&mut self, U: &Six<T>, k: T) {
        let (l, a) = (&U.l, &U.a);
        let (kl, ka) = (scale(l, k), scale(a, k));
        let mut i = 0;
        for r in 0..3 {
            for c in r..3 {
                self.ll[i] -= kl[r] * l[c];
                self.aa[i] -= ka[r] * a[c];
                i += 1;
            }
            for c in 0..3 {
                self.la[3 * r + c] -= kl[r] * a[c];
            }
        }
    }
}

/// Position and motion of a node.
#[derive(Clone, Copy, Debug)]
pub struct Moving<T> {
    /// Node frame, its origin, the centre of mass.
    pub E: [T; 9],
    pub x: V<T>,
    pub c: V<T>,
    /// Velocity, and acceleration with all rates of the speeds zero.
    pub V: Six<T>,
    pub(super) a: Six<T>,
    /// Joint column.
    pub(super) S: Six<T>,
    /// Second moment about the origin.
    pub(super) J: [T; 6],
    /// Applied wrench less the inertial wrench.
    pub f: Six<T>,
}

/// Results of the inward pass for one column, used by the last pass.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column<T> {
    pub(super) U: Six<T>,
    pub(super) inverse: T,
    phi: T,
}

/// A tree with its data and its workspace.
#[derive(Clone, Debug)]
pub struct Kernel<T> {
    pub nodes: Vec<Node>,
    pub shapes: Vec<Shape<T>>,
    pub gravity: V<T>,
    /// By node, the ground first.
    pub at: Vec<Moving<T>>,
    pub(super) columns: Vec<Column<T>>,
    gathered: Vec<(Articulated<T>, Six<T>)>,
    pub(super) rates: Vec<Six<T>>,
}

impl<T: Scalar> Kernel<T> {
    pub fn new(nodes: Vec<Node>, shapes: Vec<Shape<T>>, gravity: V<T>) -> Self {
        let (z, o) = (T::zero(), T::one());
        let none = Six::zero();
        let still = Moving { E: [o, z, z, z, o, z, z, z, o], x: [z; 3], c: [z; 3], V: none, a: none, S: none, J: [z; 6], f: none };
        let n = nodes.len();
        let mut at = vec![still; n];
        // Gravity as an acceleration of the ground, so that no other term is needed.
        at[0].a.l = scale(&gravity, -o);
        Self {
            columns: vec![Column { U: none, inverse: z, phi: z }; n],
            gathered: vec![(Articulated::zero(), none); n],
            rates: vec![none; n],
            at,
            nodes,
            shapes,
            gravity,
        }
    }

    /// Positions, velocities and inertial wrenches from coordinates and speeds.
    #[inline(always)]
    pub fn sweep(&mut self, q: &[T], u: &[T]) {
        for k in 1..self.nodes.len() {
            let n = self.nodes[k];
            let shape = &self.shapes[k];
            let p = &self.at[n.parent];
            let mut x = add(&p.x, &times(&p.E, &shape.s));
            let near = product(&p.E, &shape.R);
            let z = column(&near, 2);
            let (mut V, mut a) = (p.V, p.a);
            let (E, S) = match n.joint {
                Joint::Hinge => {
                    let (s, c) = q[n.column].sin_cos();
                    let (nx, ny) = (column(&near, 0), column(&near, 1));
                    let E = of_columns(&add(&scale(&nx, c), &scale(&ny, s)), &sub(&scale(&ny, c), &scale(&nx, s)), &z);
                    (E, Six { l: cross(&x, &z), a: z })
                }
                Joint::Slide => {
                    x = add(&x, &scale(&z, q[n.column]));
                    (near, Six { l: z, a: [T::zero(); 3] })
                }
                Joint::Weld => (near, Six::zero()),
            };
            if n.joint != Joint::Weld {
                let own = S.by(u[n.column]);
                // The relative motion is carried along by that of the parent.
                a = a.plus(&V.crossed(&own));
                V = V.plus(&own);
            }
            let c = add(&x, &times(&E, &shape.c));
            let h = scale(&c, shape.m);
            let J = turned(&E, &shape.J);
            let w = &V.a;
            let v = add(&V.l, &cross(w, &c));
            let F = scale(&add(&add(&a.l, &cross(&a.a, &c)), &cross(w, &v)), -shape.m);
            let torque = add(&symmetric(&J, &a.a), &cross(w, &symmetric(&J, w)));
            let f = Six { l: F, a: sub(&cross(&c, &F), &torque) };
            let hc = dot(&h, &c);
            let J = [
                J[0] + (hc - h[0] * c[0]),
                J[1] - h[0] * c[1],
                J[2] - h[0] * c[2],
                J[3] + (hc - h[1] * c[1]),
                J[4] - h[1] * c[2],
                J[5] + (hc - h[2] * c[2]),
            ];
            self.at[k] = Moving { E, x, c, V, a, S, J, f };
        }
    }

    /// Adds a wrench on a node: force at its centre and torque, in world axes.
    #[inline(always)]
    pub fn load(&mut self, k: usize, F: &V<T>, torque: &V<T>) {
        let at = &mut self.at[k];
        let moment = add(torque, &cross(&at.c, F));
        at.f = at.f.plus(&Six { l: *F, a: moment });
    }

    /// Rates of the speeds.
    #[inline(always)]
    pub fn solve(&mut self, udot: &mut [T]) {
        let zero = (Articulated::zero(), Six::zero());
        self.gathered.iter_mut().for_each(|g| *g = zero);
        for k in (1..self.nodes.len()).rev() {
            let n = self.nodes[k];
            let at = &self.at[k];
            let (mut I, mut f) = self.gathered[k];
            let m = self.shapes[k].m;
            I.add_rigid(m, &scale(&at.c, m), &at.J);
            f = f.plus(&at.f);
            if n.joint != Joint::Weld {
                let U = I.apply(&at.S);
                let phi = at.S.dot(&f);
                let inverse = T::one() / at.S.dot(&U);
                I.subtract_square(&U, inverse);
                f = f.minus(&U.by(phi * inverse));
                self.columns[k] = Column { U, inverse, phi };
            }
            let (Ip, fp) = &mut self.gathered[n.parent];
            Ip.add(&I);
            *fp = fp.plus(&f);
        }
        for k in 1..self.nodes.len() {
            let n = self.nodes[k];
            let mut x = self.rates[n.parent];
            if n.joint != Joint::Weld {
                let c = &self.columns[k];
                let rate = (c.phi - c.U.dot(&x)) * c.inverse;
                udot[n.column] = rate;
                x = x.plus(&self.at[k].S.by(rate));
            }
            self.rates[k] = x;
        }
    }

    /// Body axes of a node in the world.
    pub fn axes(&self, k: usize) -> [T; 9] {
        product(&self.at[k].E, &self.shapes[k].axes)
    }
}
