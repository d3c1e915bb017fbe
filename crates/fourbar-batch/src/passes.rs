//! Passes over a tree of bodies in all lanes at once: places and velocities outward, articulated or composite inertias inward, accelerations
//! outward again.
//!
//! A pass is a loop over the lanes around plain arithmetic on one node. Compilers turn such a loop into vector instructions of the width that
//! the processor has; what a lane holds never meets what another holds, and no product is fused with a sum, so that a lane has the same
//! bits whatever the width and whatever its neighbours. Twists are (linear, angular) in world axes about one point near the mechanism.

use fourbar_math::trig;

/// Mechanisms that are advanced together.
pub const LANES: usize = 8;
/// A number of every lane.
pub type Row = [f64; LANES];
pub type V = [f64; 3];

/// Numbers of a node: frame of its joint in the frame it hangs on (rotation by rows, origin), then centre, mass and central inertia (xx, xy,
/// xz, yy, yz, zz) in its own frame.
pub type Shape = [Row; 22];
/// A node in motion: see the offsets.
pub type Moving = [Row; 45];
/// Articulated inertia in blocks (linear 6, mixed 9, angular 6) and the wrench, gathered from the nodes outside.
pub type Gathered = [Row; 27];
/// What a column leaves for the last pass: its momentum, the inverse of its inertia, its effort.
pub type Column = [Row; 8];
/// A six-vector.
pub type Sixes = [Row; 6];
/// Composite inertia about the common point: mass, first moments, second moments; then the wrench.
pub type Composite = [Row; 16];

/// Offsets in a node that moves: own frame, origin, centre, velocity, acceleration where no unknown speed changes (that of gravity included),
/// column, second moments, wrench less what inertia asks for.
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

/// What a joint of a tree lets its node do: turn about z or slide along z of the node's frame, along or against it, or nothing.
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
#[inline(always)]
pub fn add(a: &V, b: &V) -> V {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}
#[inline(always)]
pub fn sub(a: &V, b: &V) -> V {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}
#[inline(always)]
pub fn scale(a: &V, k: f64) -> V {
    [a[0] * k, a[1] * k, a[2] * k]
}
#[inline(always)]
pub fn dot(a: &V, b: &V) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
#[inline(always)]
pub fn cross(a: &V, b: &V) -> V {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
/// Matrix by rows times a vector.
#[inline(always)]
pub fn times(E: &[f64; 9], x: &V) -> V {
    [E[0] * x[0] + E[1] * x[1] + E[2] * x[2], E[3] * x[0] + E[4] * x[1] + E[5] * x[2], E[6] * x[0] + E[7] * x[1] + E[8] * x[2]]
}
#[inline(always)]
fn column(E: &[f64; 9], k: usize) -> V {
    [E[k], E[3 + k], E[6 + k]]
}
#[inline(always)]
fn of_columns(x: &V, y: &V, z: &V) -> [f64; 9] {
    [x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]]
}
#[inline(always)]
fn symmetric(m: &[f64; 6], x: &V) -> V {
    [m[0] * x[0] + m[1] * x[1] + m[2] * x[2], m[1] * x[0] + m[3] * x[1] + m[4] * x[2], m[2] * x[0] + m[4] * x[1] + m[5] * x[2]]
}
/// `E m E^T` of a symmetric matrix.
#[inline(always)]
fn turned(E: &[f64; 9], m: &[f64; 6]) -> [f64; 6] {
    let (x, y, z) = (times(E, &[m[0], m[1], m[2]]), times(E, &[m[1], m[3], m[4]]), times(E, &[m[2], m[4], m[5]]));
    let of = |i: usize, j: usize| x[i] * E[3 * j] + y[i] * E[3 * j + 1] + z[i] * E[3 * j + 2];
    [of(0, 0), of(0, 1), of(0, 2), of(1, 1), of(1, 2), of(2, 2)]
}
/// Linear and angular part of a six-vector.
#[inline(always)]
pub fn six<const M: usize>(from: &[Row; M], first: usize, i: usize) -> (V, V) {
    (take(from, first, i), take(from, first + 3, i))
}
#[inline(always)]
pub fn dot_six(a: &(V, V), b: &(V, V)) -> f64 {
    dot(&a.0, &b.0) + dot(&a.1, &b.1)
}

/// Own frame, origin and column of a node, by its coordinate.
#[inline(always)]
fn placed<const JOINT: u8>(shape: &Shape, parent: &Moving, q: f64, i: usize) -> ([f64; 9], V, (V, V)) {
    let E: [f64; 9] = take(parent, at::E, i);
    let R: [f64; 9] = take(shape, 0, i);
    let x = add(&take(parent, at::X, i), &times(&E, &take(shape, 9, i)));
    let (nx, ny, z) = (times(&E, &column(&R, 0)), times(&E, &column(&R, 1)), times(&E, &column(&R, 2)));
    match JOINT {
        HINGE => {
            let [s, c] = trig::near(q);
            let E = of_columns(&add(&scale(&nx, c), &scale(&ny, s)), &sub(&scale(&ny, c), &scale(&nx, s)), &z);
            (E, x, (cross(&x, &z), z))
        }
        SLIDE => (of_columns(&nx, &ny, &z), add(&x, &scale(&z, q)), (z, [0.0; 3])),
        SLIDE_BACK => (of_columns(&nx, &ny, &z), sub(&x, &scale(&z, q)), (scale(&z, -1.0), [0.0; 3])),
        _ => (of_columns(&nx, &ny, &z), x, ([0.0; 3], [0.0; 3])),
    }
}

const HINGE: u8 = 0;
const SLIDE: u8 = 1;
const SLIDE_BACK: u8 = 2;
const WELD: u8 = 3;

/// Places a node.
#[inline(always)]
pub fn place(joint: Joint, shape: &Shape, parent: &Moving, q: &Row, out: &mut Moving) {
    match joint {
        Joint::Hinge => place_as::<HINGE>(shape, parent, q, out),
        Joint::Slide => place_as::<SLIDE>(shape, parent, q, out),
        Joint::SlideBack => place_as::<SLIDE_BACK>(shape, parent, q, out),
        Joint::Weld => place_as::<WELD>(shape, parent, q, out),
    }
}

#[inline(always)]
fn place_as<const JOINT: u8>(shape: &Shape, parent: &Moving, q: &Row, out: &mut Moving) {
    for i in 0..LANES {
        let (E, x, S) = placed::<JOINT>(shape, parent, q[i], i);
        put(out, at::E, i, &E);
        put(out, at::X, i, &x);
        put(out, at::S, i, &S.0);
        put(out, at::S + 3, i, &S.1);
    }
}

/// Velocity of a node that is placed.
#[inline(always)]
pub fn speed(parent: &Moving, u: &Row, out: &mut Moving) {
    for i in 0..LANES {
        for k in 0..6 {
            out[at::V + k][i] = parent[at::V + k][i] + out[at::S + k][i] * u[i];
        }
    }
}

/// Places a node and gives it velocity, acceleration and the wrench of inertia; `rate` is the known rate of its speed.
#[inline(always)]
pub fn outward(joint: Joint, shape: &Shape, parent: &Moving, q: &Row, u: &Row, rate: &Row, out: &mut Moving) {
    match joint {
        Joint::Hinge => outward_as::<HINGE>(shape, parent, q, u, rate, out),
        Joint::Slide => outward_as::<SLIDE>(shape, parent, q, u, rate, out),
        Joint::SlideBack => outward_as::<SLIDE_BACK>(shape, parent, q, u, rate, out),
        Joint::Weld => outward_as::<WELD>(shape, parent, q, u, rate, out),
    }
}

#[inline(always)]
fn outward_as<const JOINT: u8>(shape: &Shape, parent: &Moving, q: &Row, u: &Row, rate: &Row, out: &mut Moving) {
    for i in 0..LANES {
        let (E, x, S) = placed::<JOINT>(shape, parent, q[i], i);
        let (mut V, mut a) = (six(parent, at::V, i), six(parent, at::A, i));
        if JOINT != WELD {
            let own = (scale(&S.0, u[i]), scale(&S.1, u[i]));
            // The own motion is carried along by that of the parent.
            let carried = (add(&cross(&V.1, &own.0), &cross(&V.0, &own.1)), cross(&V.1, &own.1));
            a = (add(&add(&a.0, &carried.0), &scale(&S.0, rate[i])), add(&add(&a.1, &carried.1), &scale(&S.1, rate[i])));
            V = (add(&V.0, &own.0), add(&V.1, &own.1));
        }
        let m = shape[15][i];
        let c = add(&x, &times(&E, &take(shape, 12, i)));
        let h = scale(&c, m);
        let J = turned(&E, &take(shape, 16, i));
        let w = &V.1;
        let v = add(&V.0, &cross(w, &c));
        let F = scale(&add(&add(&a.0, &cross(&a.1, &c)), &cross(w, &v)), -m);
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
        put(out, at::E, i, &E);
        put(out, at::X, i, &x);
        put(out, at::C, i, &c);
        put(out, at::V, i, &V.0);
        put(out, at::V + 3, i, &V.1);
        put(out, at::A, i, &a.0);
        put(out, at::A + 3, i, &a.1);
        put(out, at::S, i, &S.0);
        put(out, at::S + 3, i, &S.1);
        put(out, at::J, i, &J);
        put(out, at::F, i, &F);
        put(out, at::F + 3, i, &sub(&cross(&c, &F), &torque));
    }
}

/// Adds the rigid body of a node to what was gathered.
#[inline(always)]
fn with_body(m: &Row, node: &Moving, g: &Gathered, i: usize) -> ([f64; 6], [f64; 9], [f64; 6], (V, V)) {
    let (mut ll, mut la, mut aa): ([f64; 6], [f64; 9], [f64; 6]) = (take(g, 0, i), take(g, 6, i), take(g, 15, i));
    let (c, J): (V, [f64; 6]) = (take(node, at::C, i), take(node, at::J, i));
    let h = scale(&c, m[i]);
    for k in [0, 3, 5] {
        ll[k] += m[i];
    }
    la[1] += h[2];
    la[2] -= h[1];
    la[3] -= h[2];
    la[5] += h[0];
    la[6] += h[1];
    la[7] -= h[0];
    for k in 0..6 {
        aa[k] += J[k];
    }
    let (f, own) = (six(g, 21, i), six(node, at::F, i));
    (ll, la, aa, (add(&f.0, &own.0), add(&f.1, &own.1)))
}

#[inline(always)]
fn times_articulated(ll: &[f64; 6], la: &[f64; 9], aa: &[f64; 6], s: &(V, V)) -> (V, V) {
    let (l, a) = s;
    let down = [
        la[0] * l[0] + la[3] * l[1] + la[6] * l[2],
        la[1] * l[0] + la[4] * l[1] + la[7] * l[2],
        la[2] * l[0] + la[5] * l[1] + la[8] * l[2],
    ];
    (add(&symmetric(ll, l), &times(la, a)), add(&down, &symmetric(aa, a)))
}

#[inline(always)]
fn hand_over(to: &mut Gathered, i: usize, ll: &[f64; 6], la: &[f64; 9], aa: &[f64; 6], f: &(V, V)) {
    for k in 0..6 {
        to[k][i] += ll[k];
        to[15 + k][i] += aa[k];
    }
    for k in 0..9 {
        to[6 + k][i] += la[k];
    }
    for k in 0..3 {
        to[21 + k][i] += f.0[k];
        to[24 + k][i] += f.1[k];
    }
}

/// Eliminates the column of a node and hands its inertia to the parent.
#[inline(always)]
pub fn inward(m: &Row, node: &Moving, own: &Gathered, parent: &mut Gathered, left: &mut Column) {
    for i in 0..LANES {
        let (mut ll, mut la, mut aa, f) = with_body(m, node, own, i);
        let S = six(node, at::S, i);
        let U = times_articulated(&ll, &la, &aa, &S);
        let phi = dot_six(&S, &f);
        let inverse = 1.0 / dot_six(&S, &U);
        let (kl, ka) = (scale(&U.0, inverse), scale(&U.1, inverse));
        let mut n = 0;
        for r in 0..3 {
            for c in r..3 {
                ll[n] -= kl[r] * U.0[c];
                aa[n] -= ka[r] * U.1[c];
                n += 1;
            }
            for c in 0..3 {
                la[3 * r + c] -= kl[r] * U.1[c];
            }
        }
        let k = phi * inverse;
        let f = (sub(&f.0, &scale(&U.0, k)), sub(&f.1, &scale(&U.1, k)));
        put(left, 0, i, &U.0);
        put(left, 3, i, &U.1);
        left[6][i] = inverse;
        left[7][i] = phi;
        hand_over(parent, i, &ll, &la, &aa, &f);
    }
}

/// The same for a node that is held or whose speed is known; what was gathered stays with the node, for the effort.
#[inline(always)]
pub fn inward_held(m: &Row, node: &Moving, own: &mut Gathered, parent: &mut Gathered) {
    for i in 0..LANES {
        let (ll, la, aa, f) = with_body(m, node, own, i);
        put(own, 0, i, &ll);
        put(own, 6, i, &la);
        put(own, 15, i, &aa);
        put(own, 21, i, &f.0);
        put(own, 24, i, &f.1);
        hand_over(parent, i, &ll, &la, &aa, &f);
    }
}

/// Rate of the speed of a node, and the part of its acceleration that such rates make.
#[inline(always)]
pub fn last(node: &Moving, left: &Column, parent: &Sixes, out: &mut Sixes, udot: &mut Row) {
    for i in 0..LANES {
        let (x, U, S) = (six(parent, 0, i), six(left, 0, i), six(node, at::S, i));
        let rate = (left[7][i] - dot_six(&U, &x)) * left[6][i];
        udot[i] = rate;
        put(out, 0, i, &add(&x.0, &scale(&S.0, rate)));
        put(out, 3, i, &add(&x.1, &scale(&S.1, rate)));
    }
}

/// Effort of a node whose speed is known.
#[inline(always)]
pub fn effort(node: &Moving, own: &Gathered, rates: &Sixes, out: &mut Row) {
    for i in 0..LANES {
        let W = times_articulated(&take(own, 0, i), &take(own, 6, i), &take(own, 15, i), &six(rates, 0, i));
        let f = six(own, 21, i);
        out[i] = dot_six(&six(node, at::S, i), &(sub(&W.0, &f.0), sub(&W.1, &f.1)));
    }
}

/// Adds the body of a node to its composite inertia and hands that to the parent.
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
