//! Recursions over a tree of bodies in all lanes at once: outward for positions and velocities, inward for articulated or composite
//! inertias, outward again for accelerations.
//!
//! The arithmetic of a node is written once, for numbers of one lane or for as many lanes as a processor register holds ([`Pack`]); numbers
//! of different lanes are never combined, and no product is fused with a sum, so that a lane has the same bits for any register width and
//! any neighbours. Twists are (linear, angular) in world axes about one point near the mechanism.

use fourbar_math::trig;
use pulp::Simd;
use std::ops::{Add, Mul, Sub};

/// Mechanisms that are advanced together.
pub const LANES: usize = 8;
/// One number for every lane.
pub type Row = [f64; LANES];
pub type V<T = f64> = [T; 3];

/// Data of a node: joint frame in the frame of the parent (rotation by rows, origin), then centre, mass and central inertia (xx, xy, xz,
/// yy, yz, zz) in the node frame.
pub type Shape = [Row; 22];
/// A node in motion, see the offsets.
pub type Moving = [Row; 45];
/// Articulated inertia in blocks (linear 6, mixed 9, angular 6) and the wrench, accumulated from the outer nodes.
pub type Gathered = [Row; 27];
/// Results of the inward pass for one column: its momentum, the inverse of its inertia, its effort.
pub type Column = [Row; 8];
/// A six-vector.
pub type Sixes = [Row; 6];
/// Composite inertia about the common reference point: mass, first moments, second moments; then the wrench.
pub type Composite = [Row; 16];

/// Offsets in a moving node: node frame, origin, centre, velocity, acceleration with unknown rates zero (including that of gravity), joint
/// column, second moments, applied less inertial wrench.
pub mod at {
    pub const E: usize = 0;
    pub const X: usize = 9;
    pub const C: usize = 12;
    pub const V: usize = 15;
    pub const A: usize = 21;
    pub const S: usize = 27;
    pub const J: usize = 33;
    pub const F: usize = 39;
}

pub const ZERO: Row = [0.0; LANES];

/// Motion that a joint of a tree allows its node: rotation about z or translation along z of the node frame, in its direction or against
/// it, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joint {
    Hinge,
    Slide,
    SlideBack,
    Weld,
}

#[inline(always)]
pub fn take<const K: usize, const M: usize>(from: &[Row; M], first: usize, i: usize) -> [f64; K] {
    let mut x = [0.0; K];
    let mut k = 0;
    while k < K {
        x[k] = from[first + k][i];
        k += 1;
    }
    x
}
#[inline(always)]
pub fn put<const K: usize, const M: usize>(to: &mut [Row; M], first: usize, i: usize, x: &[f64; K]) {
    let mut k = 0;
    while k < K {
        to[first + k][i] = x[k];
        k += 1;
    }
}
/// Types used in the arithmetic of a node.
pub trait Number: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {}
impl Number for f64 {}

/// Numbers of neighbouring lanes in a register.
#[derive(Clone, Copy)]
pub struct Pack<S: Simd> {
    simd: S,
    x: S::f64s,
}

impl<S: Simd> Number for Pack<S> {}

impl<S: Simd> Add for Pack<S> {
    type Output = Self;
    #[inline(always)]
    fn add(self, y: Self) -> Self {
        Self { simd: self.simd, x: self.simd.add_f64s(self.x, y.x) }
    }
}

impl<S: Simd> Sub for Pack<S> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, y: Self) -> Self {
        Self { simd: self.simd, x: self.simd.sub_f64s(self.x, y.x) }
    }
}

impl<S: Simd> Mul for Pack<S> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, y: Self) -> Self {
        Self { simd: self.simd, x: self.simd.mul_f64s(self.x, y.x) }
    }
}

impl<S: Simd> Pack<S> {
    /// Number of registers for a row.
    pub const PARTS: usize = LANES / S::F64_LANES;

    /// The same number in all lanes.
    #[inline(always)]
    pub fn all(simd: S, x: f64) -> Self {
        Self { simd, x: simd.splat_f64s(x) }
    }

    /// Part `i` of a row.
    #[inline(always)]
    pub fn of(simd: S, row: &Row, i: usize) -> Self {
        Self { simd, x: S::as_simd_f64s(row).0[i] }
    }

    /// Writes part `i` of a row.
    #[inline(always)]
    pub fn write(self, row: &mut Row, i: usize) {
        S::as_mut_simd_f64s(row).0[i] = self.x;
    }

    #[inline(always)]
    pub fn inverse(self) -> Self {
        Self { simd: self.simd, x: self.simd.div_f64s(self.simd.splat_f64s(1.0), self.x) }
    }
}

/// Part `i` of several rows.
#[inline(always)]
pub fn load<S: Simd, const K: usize, const M: usize>(simd: S, from: &[Row; M], first: usize, i: usize) -> [Pack<S>; K] {
    let mut x = [Pack::of(simd, &from[first], i); K];
    let mut k = 1;
    while k < K {
        x[k] = Pack::of(simd, &from[first + k], i);
        k += 1;
    }
    x
}
/// Writes part `i` of several rows.
#[inline(always)]
pub fn store<S: Simd, const K: usize, const M: usize>(to: &mut [Row; M], first: usize, i: usize, x: &[Pack<S>; K]) {
    let mut k = 0;
    while k < K {
        x[k].write(&mut to[first + k], i);
        k += 1;
    }
}
/// Linear and angular part of a six-vector.
#[inline(always)]
fn load_six<S: Simd, const M: usize>(simd: S, from: &[Row; M], first: usize, i: usize) -> (V<Pack<S>>, V<Pack<S>>) {
    (load(simd, from, first, i), load(simd, from, first + 3, i))
}
#[inline(always)]
fn store_six<S: Simd, const M: usize>(to: &mut [Row; M], first: usize, i: usize, x: &(V<Pack<S>>, V<Pack<S>>)) {
    store(to, first, i, &x.0);
    store(to, first + 3, i, &x.1);
}

#[inline(always)]
pub fn add<T: Number>(a: &V<T>, b: &V<T>) -> V<T> {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}
#[inline(always)]
pub fn sub<T: Number>(a: &V<T>, b: &V<T>) -> V<T> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}
#[inline(always)]
pub fn scale<T: Number>(a: &V<T>, k: T) -> V<T> {
    [a[0] * k, a[1] * k, a[2] * k]
}
#[inline(always)]
pub fn dot<T: Number>(a: &V<T>, b: &V<T>) -> T {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
#[inline(always)]
pub fn cross<T: Number>(a: &V<T>, b: &V<T>) -> V<T> {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
/// Matrix by rows times a vector.
#[inline(always)]
pub fn times<T: Number>(E: &[T; 9], x: &V<T>) -> V<T> {
    [E[0] * x[0] + E[1] * x[1] + E[2] * x[2], E[3] * x[0] + E[4] * x[1] + E[5] * x[2], E[6] * x[0] + E[7] * x[1] + E[8] * x[2]]
}
#[inline(always)]
fn column<T: Number>(E: &[T; 9], k: usize) -> V<T> {
    [E[k], E[3 + k], E[6 + k]]
}
#[inline(always)]
fn of_columns<T: Number>(x: &V<T>, y: &V<T>, z: &V<T>) -> [T; 9] {
    [x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]]
}
#[inline(always)]
fn symmetric<T: Number>(m: &[T; 6], x: &V<T>) -> V<T> {
    [m[0] * x[0] + m[1] * x[1] + m[2] * x[2], m[1] * x[0] + m[3] * x[1] + m[4] * x[2], m[2] * x[0] + m[4] * x[1] + m[5] * x[2]]
}
/// `E m E^T` of a symmetric matrix.
#[inline(always)]
fn turned<T: Number>(E: &[T; 9], m: &[T; 6]) -> [T; 6] {
    let (x, y, z) = (times(E, &[m[0], m[1], m[2]]), times(E, &[m[1], m[3], m[4]]), times(E, &[m[2], m[4], m[5]]));
    let row = |j: usize| [E[3 * j], E[3 * j + 1], E[3 * j + 2]];
    let (first, second, third) = (row(0), row(1), row(2));
    let (r0, r1, r2) = ([x[0], y[0], z[0]], [x[1], y[1], z[1]], [x[2], y[2], z[2]]);
    [dot(&r0, &first), dot(&r0, &second), dot(&r0, &third), dot(&r1, &second), dot(&r1, &third), dot(&r2, &third)]
}
/// Linear and angular part of a six-vector.
#[inline(always)]
pub fn six<const M: usize>(from: &[Row; M], first: usize, i: usize) -> (V, V) {
    (take(from, first, i), take(from, first + 3, i))
}
#[inline(always)]
pub fn dot_six<T: Number>(a: &(V<T>, V<T>), b: &(V<T>, V<T>)) -> T {
    dot(&a.0, &b.0) + dot(&a.1, &b.1)
}

/// Node frame, origin and joint column.
type Placed<T> = ([T; 9], V<T>, (V<T>, V<T>));

/// Node frame, origin and joint column, from the coordinate.
#[inline(always)]
fn placed<S: Simd, const JOINT: u8>(simd: S, shape: &Shape, parent: &Moving, [q, sine, cosine]: [&Row; 3], i: usize) -> Placed<Pack<S>> {
    let E: [Pack<S>; 9] = load(simd, parent, at::E, i);
    let R: [Pack<S>; 9] = load(simd, shape, 0, i);
    let q = Pack::of(simd, q, i);
    let (s, c) = (Pack::of(simd, sine, i), Pack::of(simd, cosine, i));
    let zero = Pack::all(simd, 0.0);
    let x = add(&load(simd, parent, at::X, i), &times(&E, &load(simd, shape, 9, i)));
    let (nx, ny, z) = (times(&E, &column(&R, 0)), times(&E, &column(&R, 1)), times(&E, &column(&R, 2)));
    match JOINT {
        HINGE => {
            let E = of_columns(&add(&scale(&nx, c), &scale(&ny, s)), &sub(&scale(&ny, c), &scale(&nx, s)), &z);
            (E, x, (cross(&x, &z), z))
        }
        SLIDE => (of_columns(&nx, &ny, &z), add(&x, &scale(&z, q)), (z, [zero; 3])),
        SLIDE_BACK => (of_columns(&nx, &ny, &z), sub(&x, &scale(&z, q)), (scale(&z, Pack::all(simd, -1.0)), [zero; 3])),
        _ => (of_columns(&nx, &ny, &z), x, ([zero; 3], [zero; 3])),
    }
}

const HINGE: u8 = 0;
const SLIDE: u8 = 1;
const SLIDE_BACK: u8 = 2;
const WELD: u8 = 3;

/// Sine and cosine of the angle of a hinge.
#[inline(always)]
fn circle<const JOINT: u8>(q: &Row) -> [Row; 2] {
    let (mut s, mut c) = (ZERO, ZERO);
    if JOINT == HINGE {
        for i in 0..LANES {
            [s[i], c[i]] = trig::near(q[i]);
        }
    }
    [s, c]
}

/// Computes frame, origin and column of a node.
#[inline(always)]
pub fn place<S: Simd>(simd: S, joint: Joint, shape: &Shape, parent: &Moving, q: &Row, out: &mut Moving) {
    match joint {
        Joint::Hinge => place_as::<S, HINGE>(simd, shape, parent, q, out),
        Joint::Slide => place_as::<S, SLIDE>(simd, shape, parent, q, out),
        Joint::SlideBack => place_as::<S, SLIDE_BACK>(simd, shape, parent, q, out),
        Joint::Weld => place_as::<S, WELD>(simd, shape, parent, q, out),
    }
}

#[inline(always)]
fn place_as<S: Simd, const JOINT: u8>(simd: S, shape: &Shape, parent: &Moving, q: &Row, out: &mut Moving) {
    let [s, c] = circle::<JOINT>(q);
    for i in 0..Pack::<S>::PARTS {
        let (E, x, column) = placed::<S, JOINT>(simd, shape, parent, [q, &s, &c], i);
        store(out, at::E, i, &E);
        store(out, at::X, i, &x);
        store_six(out, at::S, i, &column);
    }
}

/// Velocity of a node with known frame and column.
#[inline(always)]
pub fn speed(parent: &Moving, u: &Row, out: &mut Moving) {
    for k in 0..6 {
        for i in 0..LANES {
            out[at::V + k][i] = parent[at::V + k][i] + out[at::S + k][i] * u[i];
        }
    }
}

/// Computes frame, velocity, acceleration and inertial wrench of a node; `rate` is the known rate of its speed.
#[inline(always)]
pub fn outward<S: Simd>(simd: S, joint: Joint, shape: &Shape, parent: &Moving, [q, u, rate]: [&Row; 3], out: &mut Moving) {
    match joint {
        Joint::Hinge => outward_as::<S, HINGE>(simd, shape, parent, [q, u, rate], out),
        Joint::Slide => outward_as::<S, SLIDE>(simd, shape, parent, [q, u, rate], out),
        Joint::SlideBack => outward_as::<S, SLIDE_BACK>(simd, shape, parent, [q, u, rate], out),
        Joint::Weld => outward_as::<S, WELD>(simd, shape, parent, [q, u, rate], out),
    }
}

#[inline(always)]
fn outward_as<S: Simd, const JOINT: u8>(simd: S, shape: &Shape, parent: &Moving, [q, u, rate]: [&Row; 3], out: &mut Moving) {
    let [s, c] = circle::<JOINT>(q);
    for i in 0..Pack::<S>::PARTS {
        let (E, x, S) = placed::<S, JOINT>(simd, shape, parent, [q, &s, &c], i);
        let (mut V, mut a) = (load_six(simd, parent, at::V, i), load_six(simd, parent, at::A, i));
        if JOINT != WELD {
            let (u, rate) = (Pack::of(simd, u, i), Pack::of(simd, rate, i));
            let own = (scale(&S.0, u), scale(&S.1, u));
            // The relative motion is carried along by that of the parent.
            let carried = (add(&cross(&V.1, &own.0), &cross(&V.0, &own.1)), cross(&V.1, &own.1));
            a = (add(&add(&a.0, &carried.0), &scale(&S.0, rate)), add(&add(&a.1, &carried.1), &scale(&S.1, rate)));
            V = (add(&V.0, &own.0), add(&V.1, &own.1));
        }
        let m = Pack::of(simd, &shape[15], i);
        let c = add(&x, &times(&E, &load(simd, shape, 12, i)));
        let h = scale(&c, m);
        let J = turned(&E, &load(simd, shape, 16, i));
        let w = &V.1;
        let v = add(&V.0, &cross(w, &c));
        let F = scale(&add(&add(&a.0, &cross(&a.1, &c)), &cross(w, &v)), m * Pack::all(simd, -1.0));
        let torque = add(&symmetric(&J, &a.1), &cross(w, &symmetric(&J, w)));
        let hc = dot(&h, &c);
        let J = [
            J[0] + (hc - h[0] * c[0]),
            J[1] - h[0] * c[1],
            J[2] - h[0] * c[2],
            J[3] + (hc - h[1] * c[1]),
            J[4] - h[1] * c[2],
            J[5] + (hc - h[2] * c[2]),
        ];
        store(out, at::E, i, &E);
        store(out, at::X, i, &x);
        store(out, at::C, i, &c);
        store_six(out, at::V, i, &V);
        store_six(out, at::A, i, &a);
        store_six(out, at::S, i, &S);
        store(out, at::J, i, &J);
        store_six(out, at::F, i, &(F, sub(&cross(&c, &F), &torque)));
    }
}

/// An articulated inertia in blocks, and a wrench.
type Articulated<T> = ([T; 6], [T; 9], [T; 6], (V<T>, V<T>));

/// Adds the rigid body of a node to the accumulated inertia.
#[inline(always)]
fn with_body<S: Simd>(simd: S, m: &Row, node: &Moving, g: &Gathered, i: usize) -> Articulated<Pack<S>> {
    let mut ll: [Pack<S>; 6] = load(simd, g, 0, i);
    let mut la: [Pack<S>; 9] = load(simd, g, 6, i);
    let mut aa: [Pack<S>; 6] = load(simd, g, 15, i);
    let (c, J): (V<Pack<S>>, [Pack<S>; 6]) = (load(simd, node, at::C, i), load(simd, node, at::J, i));
    let m = Pack::of(simd, m, i);
    let h = scale(&c, m);
    for k in [0, 3, 5] {
        ll[k] = ll[k] + m;
    }
    la[1] = la[1] + h[2];
    la[2] = la[2] - h[1];
    la[3] = la[3] - h[2];
    la[5] = la[5] + h[0];
    la[6] = la[6] + h[1];
    la[7] = la[7] - h[0];
    for k in 0..6 {
        aa[k] = aa[k] + J[k];
    }
    let (f, own) = (load_six(simd, g, 21, i), load_six(simd, node, at::F, i));
    (ll, la, aa, (add(&f.0, &own.0), add(&f.1, &own.1)))
}

#[inline(always)]
fn times_articulated<T: Number>(ll: &[T; 6], la: &[T; 9], aa: &[T; 6], s: &(V<T>, V<T>)) -> (V<T>, V<T>) {
    let (l, a) = s;
    let down = [
        la[0] * l[0] + la[3] * l[1] + la[6] * l[2],
        la[1] * l[0] + la[4] * l[1] + la[7] * l[2],
        la[2] * l[0] + la[5] * l[1] + la[8] * l[2],
    ];
    (add(&symmetric(ll, l), &times(la, a)), add(&down, &symmetric(aa, a)))
}

#[inline(always)]
fn hand_over<S: Simd>(simd: S, to: &mut Gathered, i: usize, (ll, la, aa, f): &Articulated<Pack<S>>) {
    more(simd, to, 0, i, ll);
    more(simd, to, 6, i, la);
    more(simd, to, 15, i, aa);
    more(simd, to, 21, i, &f.0);
    more(simd, to, 24, i, &f.1);
}

/// Adds to part `i` of several rows.
#[inline(always)]
fn more<S: Simd, const K: usize>(simd: S, to: &mut Gathered, first: usize, i: usize, x: &[Pack<S>; K]) {
    for k in 0..K {
        let row = &mut to[first + k];
        (Pack::of(simd, row, i) + x[k]).write(row, i);
    }
}

/// Eliminates the column of a node and adds its inertia to that of the parent.
#[inline(always)]
pub fn inward<S: Simd>(simd: S, m: &Row, node: &Moving, own: &Gathered, parent: &mut Gathered, left: &mut Column) {
    for i in 0..Pack::<S>::PARTS {
        let (mut ll, mut la, mut aa, f) = with_body(simd, m, node, own, i);
        let S = load_six(simd, node, at::S, i);
        let U = times_articulated(&ll, &la, &aa, &S);
        let phi = dot_six(&S, &f);
        let inverse = dot_six(&S, &U).inverse();
        let (kl, ka) = (scale(&U.0, inverse), scale(&U.1, inverse));
        let mut n = 0;
        for r in 0..3 {
            for c in r..3 {
                ll[n] = ll[n] - kl[r] * U.0[c];
                aa[n] = aa[n] - ka[r] * U.1[c];
                n += 1;
            }
            for c in 0..3 {
                la[3 * r + c] = la[3 * r + c] - kl[r] * U.1[c];
            }
        }
        let k = phi * inverse;
        let f = (sub(&f.0, &scale(&U.0, k)), sub(&f.1, &scale(&U.1, k)));
        store_six(left, 0, i, &U);
        inverse.write(&mut left[6], i);
        phi.write(&mut left[7], i);
        hand_over(simd, parent, i, &(ll, la, aa, f));
    }
}

/// The same for a node that is fixed or has a known speed; the accumulated inertia stays with the node, for the effort.
#[inline(always)]
pub fn inward_held<S: Simd>(simd: S, m: &Row, node: &Moving, own: &mut Gathered, parent: &mut Gathered) {
    for i in 0..Pack::<S>::PARTS {
        let all = with_body(simd, m, node, own, i);
        store(own, 0, i, &all.0);
        store(own, 6, i, &all.1);
        store(own, 15, i, &all.2);
        store_six(own, 21, i, &all.3);
        hand_over(simd, parent, i, &all);
    }
}

/// Rate of the speed of a node, and the contribution of such rates to its acceleration.
#[inline(always)]
pub fn last<S: Simd>(simd: S, node: &Moving, left: &Column, parent: &Sixes, out: &mut Sixes, udot: &mut Row) {
    for i in 0..Pack::<S>::PARTS {
        let (x, U, S) = (load_six(simd, parent, 0, i), load_six(simd, left, 0, i), load_six(simd, node, at::S, i));
        let rate = (Pack::of(simd, &left[7], i) - dot_six(&U, &x)) * Pack::of(simd, &left[6], i);
        rate.write(udot, i);
        store_six(out, 0, i, &(add(&x.0, &scale(&S.0, rate)), add(&x.1, &scale(&S.1, rate))));
    }
}

/// Effort of a node with known speed.
#[inline(always)]
pub fn effort(node: &Moving, own: &Gathered, rates: &Sixes, out: &mut Row) {
    for i in 0..LANES {
        let W = times_articulated(&take(own, 0, i), &take(own, 6, i), &take(own, 15, i), &six(rates, 0, i));
        let f = six(own, 21, i);
        out[i] = dot_six(&six(node, at::S, i), &(sub(&W.0, &f.0), sub(&W.1, &f.1)));
    }
}

/// Adds the body of a node to its composite inertia, and the sum to that of the parent.
#[inline(always)]
pub fn compose(m: &Row, node: &Moving, own: &mut Composite, parent: &mut Composite) {
    for i in 0..LANES {
        own[0][i] += m[i];
        for k in 0..3 {
            own[1 + k][i] += node[at::C + k][i] * m[i];
        }
        for k in 0..6 {
            own[4 + k][i] += node[at::J + k][i];
            own[10 + k][i] += node[at::F + k][i];
        }
    }
    for k in 0..16 {
        for i in 0..LANES {
            parent[k][i] += own[k][i];
        }
    }
}

/// Momentum of a column with its composite inertia.
#[inline(always)]
pub fn momentum(node: &Moving, own: &Composite, out: &mut Sixes) {
    for i in 0..LANES {
        let (l, a) = six(node, at::S, i);
        let (m, h, J): (f64, V, [f64; 6]) = (own[0][i], take(own, 1, i), take(own, 4, i));
        put(out, 0, i, &add(&scale(&l, m), &cross(&a, &h)));
        put(out, 3, i, &add(&cross(&h, &l), &symmetric(&J, &a)));
    }
}

/// Product of a column and a six-vector.
#[inline(always)]
pub fn along<const M: usize>(node: &Moving, x: &[Row; M], first: usize, out: &mut Row) {
    for i in 0..LANES {
        out[i] = dot_six(&six(node, at::S, i), &six(x, first, i));
    }
}

/// `out = parent + S rate`.
#[inline(always)]
pub fn carry(node: &Moving, parent: &Sixes, rate: &Row, out: &mut Sixes) {
    for k in 0..6 {
        for i in 0..LANES {
            out[k][i] = parent[k][i] + node[at::S + k][i] * rate[i];
        }
    }
}
