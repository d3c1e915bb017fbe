//! Derivatives of the accelerations of a tree with respect to coordinates, speeds and the data of the mechanism, by hand-differentiated
//! passes.
//!
//! Every node is displaced by a small twist `d`. A derivative is the one seen by an observer fixed to the node, so that a quantity carried
//! along with the node does not change: `dX = X' + d x X`. Joint columns are then constant, and with the classical acceleration
//! `alpha = A_l + w x V_l` of the body point at the world origin the rest is
//! ```text
//! w'     = w'_p + (V_p x S)_a dq + S_a du
//! b'     = b'_p + w'_p x S_a u + (A_p x S + u (V_p x S) x S)_a dq + (V_p x S)_a du                      of the angular acceleration
//! alpha' = alpha'_p + 2 w'_p x S_l u + (...) dq + (V_p x S + S_a x V + w x S)_l du
//! F' = m alpha' + b' x h + (w h^T + w.h - 2 h w^T) w',     N' = h x alpha' + J b' + (w~ J - (J w)~) w'
//! ```
//! and the rates of the speeds follow from the factorisation left by the plain passes. Coefficients are plain numbers: several tangents are
//! propagated side by side ([`Linear::tangents`]), or one covector backwards, which gives the derivatives with respect to everything at
//! once ([`Linear::adjoint`]).

use super::kernel::{Joint, Kernel, Node, Six, V, cross, dot, scale, symmetric, times};

/// Data of a node: position and rotation of its joint frame in the parent frame, mass, centre, inertia, rotation of the body axes.
pub const OWN: usize = 19;

/// Coefficients of the derivatives at one node.
#[derive(Clone, Copy, Debug)]
pub struct Coefficients {
    /// Joint column, articulated inertia times column, and the inverse of the articulated inertia along the column.
    S: Six<f64>,
    U: Six<f64>,
    inverse: f64,
    /// `V_p x S`.
    X: Six<f64>,
    /// Derivatives of `b'` and `alpha'` with respect to the coordinate, and of `alpha'` with respect to the speed.
    b_q: V<f64>,
    a_q: V<f64>,
    a_u: V<f64>,
    /// Vectors with which the angular velocity change of the parent is crossed.
    b_w: V<f64>,
    a_w: V<f64>,
    /// `S x* Phi`: derivative of the wrench transmitted by the joint with respect to its coordinate.
    P: Six<f64>,
    /// Mass, first moment, second moment about the origin, and the matrices of `w'`.
    m: f64,
    h: V<f64>,
    J: [f64; 6],
    F_w: [f64; 9],
    N_w: [f64; 9],
    /// For derivatives with respect to the data: frame, origin of the joint frame and centre, velocity, acceleration, and the wrench at the
    /// joint.
    E: [f64; 9],
    o: V<f64>,
    c: V<f64>,
    V: Six<f64>,
    A: Six<f64>,
    Phi: Six<f64>,
}

const NONE: Six<f64> = Six { l: [0.0; 3], a: [0.0; 3] };

impl Default for Coefficients {
    fn default() -> Self {
        let z = [0.0; 3];
        let (S, U, X, P, V, A, Phi) = (NONE, NONE, NONE, NONE, NONE, NONE, NONE);
        let E = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        Self {
            S,
            U,
            inverse: 0.0,
            X,
            b_q: z,
            a_q: z,
            a_u: z,
            b_w: z,
            a_w: z,
            P,
            m: 0.0,
            h: z,
            J: [0.0; 6],
            F_w: [0.0; 9],
            N_w: [0.0; 9],
            E,
            o: z,
            c: z,
            V,
            A,
            Phi,
        }
    }
}

/// One number for each of several tangents, and vectors of these.
pub type Lane<const N: usize> = [f64; N];
pub type Lanes<const N: usize> = [Lane<N>; 3];

/// One lane of a vector.
#[inline(always)]
fn take<const N: usize>(a: &Lanes<N>, l: usize) -> V<f64> {
    [a[0][l], a[1][l], a[2][l]]
}
#[inline(always)]
fn set<const N: usize>(o: &mut Lanes<N>, l: usize, a: &V<f64>) {
    for i in 0..3 {
        o[i][l] = a[i];
    }
}
#[inline(always)]
fn put<const N: usize>(o: &mut Lanes<N>, l: usize, a: &V<f64>) {
    for i in 0..3 {
        o[i][l] += a[i];
    }
}
#[inline(always)]
fn add_to(o: &mut V<f64>, a: &V<f64>) {
    for i in 0..3 {
        o[i] += a[i];
    }
}
#[inline(always)]
fn add_scaled(o: &mut V<f64>, a: &V<f64>, k: f64) {
    for i in 0..3 {
        o[i] += a[i] * k;
    }
}
/// Transposed row-major matrix times vector.
#[inline(always)]
fn back(E: &[f64; 9], x: &V<f64>) -> V<f64> {
    [E[0] * x[0] + E[3] * x[1] + E[6] * x[2], E[1] * x[0] + E[4] * x[1] + E[7] * x[2], E[2] * x[0] + E[5] * x[1] + E[8] * x[2]]
}

/// A change of the data of a node: position and rotation of its joint frame, mass, centre and inertia, in the frames in which they are
/// given.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    pub node: usize,
    pub by: [f64; OWN],
}

/// Changes of the data of a mechanism along several tangents.
#[derive(Clone, Debug)]
pub struct Changes<const N: usize> {
    gravity: Lanes<N>,
    /// Sorted by node; the entries of node `k` lie between `first[k]` and `first[k + 1]`.
    list: Vec<Entry>,
    first: Vec<u32>,
}

/// A change of one node along one tangent.
#[derive(Clone, Copy, Debug)]
struct Entry {
    lane: usize,
    by: [f64; OWN],
    /// Whether its joint frame is shifted, and whether mass, centre or inertia change.
    shifted: bool,
    heavier: bool,
}

impl<const N: usize> Changes<N> {
    /// Changes of gravity and of the nodes for each tangent, in a tree with `nodes` nodes.
    pub fn new(nodes: usize, tangents: impl Iterator<Item = (V<f64>, Vec<Change>)>) -> Self {
        let mut gravity = [[0.0; N]; 3];
        let mut all: Vec<(usize, Entry)> = Vec::new();
        for (lane, (g, list)) in tangents.take(N).enumerate() {
            put(&mut gravity, lane, &g);
            for c in list {
                let some = |range: std::ops::Range<usize>| c.by[range].iter().any(|x| *x != 0.0);
                all.push((c.node, Entry { lane, by: c.by, shifted: some(0..6), heavier: some(6..16) }));
            }
        }
        all.sort_by_key(|(node, e)| (*node, e.lane));
        let first = (0..=nodes).map(|k| all.partition_point(|(node, _)| *node < k) as u32).collect();
        Self { gravity, list: all.into_iter().map(|(_, e)| e).collect(), first }
    }

    /// Rotation of the body axes relative to the node, in body axes.
    pub fn axes(&self, node: usize) -> impl Iterator<Item = (usize, V<f64>)> + '_ {
        self.of(node).iter().map(|e| (e.lane, [e.by[16], e.by[17], e.by[18]])).filter(|(_, turn)| *turn != [0.0; 3])
    }

    #[inline(always)]
    fn of(&self, node: usize) -> &[Entry] {
        &self.list[self.first[node] as usize..self.first[node + 1] as usize]
    }
    #[inline(always)]
    fn shifts(&self, node: usize) -> impl Iterator<Item = &Entry> {
        self.of(node).iter().filter(|e| e.shifted)
    }
}

/// Derivatives of the motion of a node along several tangents.
#[derive(Clone, Copy, Debug)]
pub struct Going<const N: usize> {
    w: Lanes<N>,
    b: Lanes<N>,
    a: Lanes<N>,
    /// Wrench of the subtree on the node, corrected for the motion of its joint columns.
    F: Lanes<N>,
    T: Lanes<N>,
    /// Change of the joint rate with the parent fixed, later the rate itself.
    k: Lane<N>,
    /// Acceleration caused by the rates.
    l: Lanes<N>,
    r: Lanes<N>,
}

/// Displacement of a node and change of its velocity along several tangents, as twists in world axes.
#[derive(Clone, Copy, Debug)]
pub struct Displaced<const N: usize> {
    pub l: Lanes<N>,
    pub a: Lanes<N>,
    pub v: Lanes<N>,
    pub w: Lanes<N>,
    /// Displacement of the centre.
    pub c: Lanes<N>,
}

impl<const N: usize> Default for Going<N> {
    fn default() -> Self {
        let z = [[0.0; N]; 3];
        Self { w: z, b: z, a: z, F: z, T: z, k: [0.0; N], l: z, r: z }
    }
}

impl<const N: usize> Default for Displaced<N> {
    fn default() -> Self {
        let z = [[0.0; N]; 3];
        Self { l: z, a: z, v: z, w: z, c: z }
    }
}

/// Covectors of a node in the backward pass.
#[derive(Clone, Copy, Debug, Default)]
struct Backward {
    l: V<f64>,
    r: V<f64>,
    k: f64,
    F: V<f64>,
    N: V<f64>,
    w: V<f64>,
    b: V<f64>,
    a: V<f64>,
}

/// The coefficients of all nodes at one evaluation.
#[derive(Clone, Debug)]
pub struct Linear {
    nodes: Vec<Node>,
    at: Vec<Coefficients>,
}

/// Workspace for covectors.
#[derive(Clone, Debug)]
pub struct Covectors(Vec<Backward>);

impl Covectors {
    pub fn new(nodes: usize) -> Self {
        Self(vec![Backward::default(); nodes])
    }

    /// Covectors of a force on a node and of its moment about the origin, both as seen from the node.
    pub fn of_wrench(&self, k: usize) -> (V<f64>, V<f64>) {
        (self.0[k].F, self.0[k].N)
    }
}

impl Linear {
    /// Zero coefficients for the nodes of a tree.
    pub fn new(nodes: &[Node]) -> Self {
        Self { nodes: nodes.to_vec(), at: vec![Coefficients::default(); nodes.len()] }
    }

    /// Coefficients that [`Linear::displace`] needs, for a kernel that has just been swept.
    pub fn place(&mut self, kernel: &Kernel<f64>) {
        for k in 1..self.nodes.len() {
            let parent = self.nodes[k].parent;
            let (body, p) = (&kernel.at[k], &kernel.at[parent]);
            let c = &mut self.at[k];
            (c.S, c.V, c.E, c.c, c.X) = (body.S, body.V, body.E, body.c, p.V.crossed(&body.S));
            c.o = origin(kernel, k, parent);
        }
    }

    /// Coefficients for a kernel that has just been solved.
    #[inline(always)]
    pub fn form(&mut self, kernel: &Kernel<f64>, u: &[f64]) {
        let n = self.nodes.len();
        let ground = &mut self.at[0];
        ground.A = kernel.at[0].a;
        ground.Phi = NONE;
        for k in 1..n {
            let node = self.nodes[k];
            let (m, Phi) = {
                let (body, x) = (&kernel.at[k], &kernel.rates[k]);
                let m = kernel.shapes[k].m;
                let h = scale(&body.c, m);
                let [l, a] = [scale(&x.l, m), cross(&h, &x.l)];
                let [turn, J] = [cross(&x.a, &h), symmetric(&body.J, &x.a)];
                let f = &body.f;
                let l = std::array::from_fn(|i| l[i] + turn[i] - f.l[i]);
                (m, Six { l, a: std::array::from_fn(|i| a[i] + J[i] - f.a[i]) })
            };
            let (body, x) = (&kernel.at[k], &kernel.rates[k]);
            let (V_p, A_p) = (self.at[node.parent].V, self.at[node.parent].A);
            let (S, V) = (body.S, body.V);
            let A = Six { l: std::array::from_fn(|i| body.a.l[i] + x.l[i]), a: std::array::from_fn(|i| body.a.a[i] + x.a[i]) };
            let h = scale(&body.c, m);
            let J = body.J;
            let w = &V.a;
            let (wh, L) = (dot(w, &h), symmetric(&J, w));
            let mut F_w = [0.0; 9];
            for i in 0..3 {
                for j in 0..3 {
                    F_w[3 * i + j] = w[i] * h[j] - 2.0 * h[i] * w[j];
                }
                F_w[4 * i] += wh;
            }
            let M = [J[0], J[1], J[2], J[1], J[3], J[4], J[2], J[4], J[5]];
            let columns: [V<f64>; 3] = std::array::from_fn(|j| cross(w, &[M[j], M[3 + j], M[6 + j]]));
            let mut N_w = [0.0; 9];
            for i in 0..3 {
                for j in 0..3 {
                    N_w[3 * i + j] = columns[j][i];
                }
            }
            // Subtracts the cross matrix of `J w`.
            N_w[1] += L[2];
            N_w[2] -= L[1];
            N_w[3] -= L[2];
            N_w[5] += L[0];
            N_w[6] += L[1];
            N_w[7] -= L[0];
            let c = &mut self.at[k];
            (c.S, c.m, c.h, c.J, c.F_w, c.N_w) = (S, m, h, J, F_w, N_w);
            (c.E, c.c, c.V, c.A, c.Phi) = (body.E, body.c, V, A, Phi);
            c.o = origin(kernel, k, node.parent);
            if node.joint != Joint::Weld {
                let column = &kernel.columns[k];
                let rate = u[node.column];
                let (wp, vp) = (&V_p.a, &V_p.l);
                let X = V_p.crossed(&S);
                let Y = A_p.crossed(&S);
                let turning = cross(&X.a, &S.a);
                let (t1, t2, t3) = (cross(&X.a, vp), cross(wp, &X.l), cross(&X.a, &S.l));
                let (s1, s2) = (cross(&S.a, &V.l), cross(&V.a, &S.l));
                c.U = column.U;
                c.inverse = column.inverse;
                c.X = X;
                c.b_w = scale(&S.a, rate);
                c.a_w = scale(&S.l, 2.0 * rate);
                c.b_q = std::array::from_fn(|i| Y.a[i] + rate * turning[i]);
                c.a_q = std::array::from_fn(|i| Y.l[i] + t1[i] + t2[i] + 2.0 * rate * t3[i]);
                c.a_u = std::array::from_fn(|i| X.l[i] + s1[i] + s2[i]);
            }
        }
        for k in (1..n).rev() {
            let Phi = self.at[k].Phi;
            let S = self.at[k].S;
            self.at[k].P = S.crossed_wrench(&Phi);
            let parent = &mut self.at[self.nodes[k].parent];
            parent.Phi = parent.Phi.plus(&Phi);
        }
    }

    /// Displacements and velocity changes of all nodes along tangents of coordinates and speeds.
    pub fn displace<const N: usize>(
        &self,
        tangent: &impl Fn(usize) -> (Lane<N>, Lane<N>),
        changes: &Changes<N>,
        out: &mut [Displaced<N>],
        seen: &mut [Displaced<N>],
    ) {
        for k in 1..self.nodes.len() {
            let (node, c) = (self.nodes[k], &self.at[k]);
            let mut d = out[node.parent];
            // Velocity changes as seen from the node.
            let mut s = seen[node.parent];
            if node.joint != Joint::Weld {
                let (dq, du) = tangent(node.column);
                for l in 0..N {
                    put(&mut d.l, l, &scale(&c.S.l, dq[l]));
                    put(&mut d.a, l, &scale(&c.S.a, dq[l]));
                    for i in 0..3 {
                        s.v[i][l] += c.X.l[i] * dq[l] + c.S.l[i] * du[l];
                        s.w[i][l] += c.X.a[i] * dq[l] + c.S.a[i] * du[l];
                    }
                }
            }
            for e in changes.shifts(k) {
                let p = &self.at[node.parent];
                let shift = shift(p, c, &e.by);
                let met = p.V.crossed(&shift);
                put(&mut d.l, e.lane, &shift.l);
                put(&mut d.a, e.lane, &shift.a);
                put(&mut s.v, e.lane, &met.l);
                put(&mut s.w, e.lane, &met.a);
            }
            seen[k] = s;
            // Velocity changes as seen from the world.
            for l in 0..N {
                let (shift, turn) = (take(&d.l, l), take(&d.a, l));
                let (v, w, c1, v1) = (cross(&turn, &c.V.l), cross(&turn, &c.V.a), cross(&turn, &c.c), cross(&shift, &c.V.a));
                for i in 0..3 {
                    d.v[i][l] = s.v[i][l] + v[i] + v1[i];
                    d.w[i][l] = s.w[i][l] + w[i];
                    d.c[i][l] = shift[i] + c1[i];
                }
            }
            for e in changes.of(k).iter().filter(|e| e.heavier) {
                put(&mut d.c, e.lane, &times(&c.E, &[e.by[7], e.by[8], e.by[9]]));
            }
            out[k] = d;
        }
    }

    /// Rates of the speeds along tangents of coordinates and speeds; `pushed` holds the changes of the forces on nodes and of their moments
    /// about the origin, as seen from the nodes.
    #[inline(always)]
    pub fn tangents<const N: usize>(
        &self,
        tangent: &impl Fn(usize) -> (Lane<N>, Lane<N>),
        changes: &Changes<N>,
        pushed: &[(usize, Lanes<N>, Lanes<N>)],
        work: &mut [Going<N>],
        put_rate: &mut impl FnMut(usize, &Lane<N>),
    ) {
        let n = self.nodes.len();
        let none = [[0.0; N]; 3];
        work[0] = Going { a: changes.gravity.map(|g| g.map(|x| -x)), ..Going::default() };
        for k in 1..n {
            let (node, c) = (self.nodes[k], &self.at[k]);
            let (before, rest) = work.split_at_mut(k);
            let (p, to) = (&before[node.parent], &mut rest[0]);
            if node.joint == Joint::Weld {
                (to.w, to.b, to.a) = (p.w, p.b, p.a);
            } else {
                let (dq, du) = tangent(node.column);
                c.moved(p, &dq, &du, to);
            }
            for e in changes.shifts(k) {
                self.shift_motion(k, e, to);
            }
            c.forced(to);
            for e in changes.of(k).iter().filter(|e| e.heavier) {
                let [f, t] = change_inertia(c, &e.by);
                put(&mut to.F, e.lane, &f);
                put(&mut to.T, e.lane, &t);
            }
        }
        for (k, F, T) in pushed {
            let to = &mut work[*k];
            for i in 0..3 {
                for l in 0..N {
                    to.F[i][l] -= F[i][l];
                    to.T[i][l] -= T[i][l];
                }
            }
        }
        for k in (1..n).rev() {
            let (node, c) = (self.nodes[k], &self.at[k]);
            let (before, rest) = work.split_at_mut(k);
            let (to, own) = (&mut before[node.parent], &mut rest[0]);
            let dq = if node.joint == Joint::Weld { [0.0; N] } else { tangent(node.column).0 };
            c.gathered(own, &dq, to);
            for e in changes.shifts(k) {
                let turned = shift(&self.at[node.parent], c, &e.by).crossed_wrench(&c.Phi);
                put(&mut to.F, e.lane, &turned.l);
                put(&mut to.T, e.lane, &turned.a);
            }
        }
        (work[0].l, work[0].r) = (none, none);
        for k in 1..n {
            let (node, c) = (self.nodes[k], &self.at[k]);
            let (before, rest) = work.split_at_mut(k);
            let (p, own) = (&before[node.parent], &mut rest[0]);
            if node.joint == Joint::Weld {
                (own.l, own.r) = (p.l, p.r);
            } else {
                c.answered(p, own);
                put_rate(node.column, &own.k);
            }
        }
    }

    /// Adds the effect of a shift of the joint frame to the motion of a node.
    fn shift_motion<const N: usize>(&self, k: usize, e: &Entry, to: &mut Going<N>) {
        let c = &self.at[k];
        let p = &self.at[self.nodes[k].parent];
        let shift = shift(p, c, &e.by);
        let (X, Y) = (p.V.crossed(&shift), p.A.crossed(&shift));
        put(&mut to.w, e.lane, &X.a);
        put(&mut to.b, e.lane, &Y.a);
        put(&mut to.b, e.lane, &cross(&X.a, &c.b_w));
        for part in [Y.l, cross(&X.a, &p.V.l), cross(&p.V.a, &X.l), cross(&X.a, &c.a_w)] {
            put(&mut to.a, e.lane, &part);
        }
    }

    /// Adds the derivatives of a weighted sum of rates with respect to coordinates, speeds and data.
    pub fn adjoint(
        &self,
        weights: &[f64],
        work: &mut Covectors,
        [by_q, by_u]: [&mut [f64]; 2],
        gravity: &mut V<f64>,
        numbers: &mut [[f64; OWN]],
    ) {
        let (n, work) = (self.nodes.len(), &mut work.0);
        work.iter_mut().for_each(|x| *x = Backward::default());
        for k in (1..n).rev() {
            let (node, c) = (self.nodes[k], &self.at[k]);
            let (l, r) = (work[k].l, work[k].r);
            let (mut up_l, mut up_r) = (l, r);
            if node.joint != Joint::Weld {
                let rate = weights[node.column] + dot(&c.S.l, &l) + dot(&c.S.a, &r);
                add_scaled(&mut up_l, &c.U.l, -c.inverse * rate);
                add_scaled(&mut up_r, &c.U.a, -c.inverse * rate);
                work[k].k = rate;
            }
            let to = &mut work[node.parent];
            add_to(&mut to.l, &up_l);
            add_to(&mut to.r, &up_r);
        }
        for k in 1..n {
            let (node, c) = (self.nodes[k], &self.at[k]);
            let (mut F, mut T) = (work[node.parent].F, work[node.parent].N);
            if node.joint != Joint::Weld {
                by_q[node.column] += dot(&c.P.l, &F) + dot(&c.P.a, &T);
                let give = work[k].k + dot(&c.U.l, &F) + dot(&c.U.a, &T);
                add_scaled(&mut F, &c.S.l, -c.inverse * give);
                add_scaled(&mut T, &c.S.a, -c.inverse * give);
            }
            let to = &mut work[k];
            (to.F, to.N) = (F, T);
            // Covectors of the wrench of the node itself.
            let (Th, hF) = (cross(&T, &c.h), cross(&c.h, &F));
            let JT = symmetric(&c.J, &T);
            let (Fw, Tw) = (back(&c.F_w, &F), back(&c.N_w, &T));
            to.a = std::array::from_fn(|i| c.m * F[i] + Th[i]);
            to.b = std::array::from_fn(|i| hF[i] + JT[i]);
            to.w = std::array::from_fn(|i| Fw[i] + Tw[i]);
        }
        for k in (1..n).rev() {
            let (node, c) = (self.nodes[k], &self.at[k]);
            let at = work[k];
            let p = &self.at[node.parent];
            let (Fp, Np) = (work[node.parent].F, work[node.parent].N);
            let (turn_b, turn_a) = (cross(&c.b_w, &at.b), cross(&c.a_w, &at.a));
            if node.joint != Joint::Weld {
                by_q[node.column] += dot(&c.X.a, &at.w) + dot(&c.b_q, &at.b) + dot(&c.a_q, &at.a);
                by_u[node.column] += dot(&c.S.a, &at.w) + dot(&c.X.a, &at.b) + dot(&c.a_u, &at.a);
            }
            let to = &mut work[node.parent];
            for i in 0..3 {
                to.w[i] += at.w[i] + turn_b[i] + turn_a[i];
            }
            add_to(&mut to.b, &at.b);
            add_to(&mut to.a, &at.a);
            // Covector of the shift of the joint frame.
            let va = cross(&p.V.l, &at.a);
            let met_a: V<f64> = std::array::from_fn(|i| at.w[i] + turn_b[i] + turn_a[i] + va[i]);
            let met_l = cross(&at.a, &p.V.a);
            let mut shift = Six { l: cross(&met_l, &p.V.a), a: cross(&met_a, &p.V.a) };
            add_to(&mut shift.a, &cross(&met_l, &p.V.l));
            add_to(&mut shift.a, &cross(&at.b, &p.A.a));
            add_to(&mut shift.a, &cross(&at.a, &p.A.l));
            add_to(&mut shift.l, &cross(&at.a, &p.A.a));
            add_to(&mut shift.a, &cross(&c.Phi.l, &Fp));
            add_to(&mut shift.a, &cross(&c.Phi.a, &Np));
            add_to(&mut shift.l, &cross(&c.Phi.l, &Np));
            put_shift(p, c, &shift, &mut numbers[k]);
            change_back(c, &at.F, &at.N, &mut numbers[k]);
        }
        add_scaled(gravity, &work[0].a, -1.0);
    }
}

/// Loops over lanes of plain arithmetic, which compilers turn into vector instructions.
impl Coefficients {
    /// Motion of the node from that of its parent.
    #[inline(always)]
    fn moved<const N: usize>(&self, p: &Going<N>, dq: &Lane<N>, du: &Lane<N>, to: &mut Going<N>) {
        for l in 0..N {
            let (q, u) = (dq[l], du[l]);
            let (w, b, a) = (take(&p.w, l), take(&p.b, l), take(&p.a, l));
            let (b1, a1) = (cross(&w, &self.b_w), cross(&w, &self.a_w));
            for i in 0..3 {
                to.w[i][l] = w[i] + self.X.a[i] * q + self.S.a[i] * u;
                to.b[i][l] = b[i] + b1[i] + self.b_q[i] * q + self.X.a[i] * u;
                to.a[i][l] = a[i] + a1[i] + self.a_q[i] * q + self.a_u[i] * u;
            }
        }
    }

    /// Inertial wrench of the motion.
    #[inline(always)]
    fn forced<const N: usize>(&self, to: &mut Going<N>) {
        for l in 0..N {
            let (w, b, a) = (take(&to.w, l), take(&to.b, l), take(&to.a, l));
            let (bh, ha) = (cross(&b, &self.h), cross(&self.h, &a));
            let (Fw, Tw, Jb) = (times(&self.F_w, &w), times(&self.N_w, &w), symmetric(&self.J, &b));
            for i in 0..3 {
                to.F[i][l] = self.m * a[i] + bh[i] + Fw[i];
                to.T[i][l] = ha[i] + Jb[i] + Tw[i];
            }
        }
    }

    /// Wrench passed to the parent, corrected for the motion of the joint column.
    #[inline(always)]
    fn gathered<const N: usize>(&self, own: &mut Going<N>, dq: &Lane<N>, to: &mut Going<N>) {
        for l in 0..N {
            let (F, T, q) = (take(&own.F, l), take(&own.T, l), dq[l]);
            let give = -(dot(&self.S.l, &F) + dot(&self.S.a, &T)) * self.inverse;
            own.k[l] = give;
            for i in 0..3 {
                to.F[i][l] += F[i] + self.U.l[i] * give + self.P.l[i] * q;
                to.T[i][l] += T[i] + self.U.a[i] * give + self.P.a[i] * q;
            }
        }
    }

    /// Rate of the speed, which replaces the rate for a fixed parent, and acceleration of the node.
    #[inline(always)]
    fn answered<const N: usize>(&self, p: &Going<N>, own: &mut Going<N>) {
        for l in 0..N {
            let (x, r) = (take(&p.l, l), take(&p.r, l));
            let rate = own.k[l] - (dot(&self.U.l, &x) + dot(&self.U.a, &r)) * self.inverse;
            own.k[l] = rate;
            set(&mut own.l, l, &std::array::from_fn(|i| x[i] + self.S.l[i] * rate));
            set(&mut own.r, l, &std::array::from_fn(|i| r[i] + self.S.a[i] * rate));
        }
    }
}

/// Covectors of the displacement of a node and of the change of its velocity, dual to twists in world axes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Placed {
    pub l: V<f64>,
    pub a: V<f64>,
    pub v: V<f64>,
    pub w: V<f64>,
}

impl Linear {
    /// Adds the derivatives with respect to coordinates, speeds and joint frames, given the covectors of the displacements and velocities
    /// of nodes, which are overwritten.
    pub fn displace_back(&self, placed: &mut [Placed], [by_q, by_u]: [&mut [f64]; 2], numbers: &mut [[f64; OWN]]) {
        // Velocities as seen from the nodes.
        for (x, c) in placed.iter_mut().zip(&self.at).skip(1) {
            add_to(&mut x.a, &cross(&c.V.l, &x.v));
            add_to(&mut x.a, &cross(&c.V.a, &x.w));
            add_to(&mut x.l, &cross(&c.V.a, &x.v));
        }
        for k in (1..self.nodes.len()).rev() {
            let (node, c, x) = (self.nodes[k], &self.at[k], placed[k]);
            if node.joint != Joint::Weld {
                by_q[node.column] += dot(&c.S.l, &x.l) + dot(&c.S.a, &x.a) + dot(&c.X.l, &x.v) + dot(&c.X.a, &x.w);
                by_u[node.column] += dot(&c.S.l, &x.v) + dot(&c.S.a, &x.w);
            }
            let p = &self.at[node.parent];
            let mut shift = Six { l: x.l, a: x.a };
            add_to(&mut shift.l, &cross(&x.v, &p.V.a));
            add_to(&mut shift.a, &cross(&x.v, &p.V.l));
            add_to(&mut shift.a, &cross(&x.w, &p.V.a));
            put_shift(p, c, &shift, &mut numbers[k]);
            let to = &mut placed[node.parent];
            add_to(&mut to.l, &x.l);
            add_to(&mut to.a, &x.a);
            add_to(&mut to.v, &x.v);
            add_to(&mut to.w, &x.w);
        }
        placed.iter_mut().for_each(|x| *x = Placed::default());
    }

    /// Adds the covectors of the pose and velocity of a body: displacement of its centre, rotation of its axes, velocity of its centre and
    /// angular velocity, all in world axes; `axes` are the body axes.
    pub fn of_body(&self, k: usize, axes: &[f64; 9], [shift, turn, v, w]: [V<f64>; 4], placed: &mut Placed, numbers: &mut [f64; OWN]) {
        let c = &self.at[k];
        let mut centre = shift;
        add_to(&mut centre, &cross(&v, &c.V.a));
        add_to(&mut placed.l, &centre);
        add_to(&mut placed.a, &cross(&c.c, &centre));
        add_to(&mut placed.a, &turn);
        add_to(&mut placed.v, &v);
        add_to(&mut placed.w, &w);
        add_to(&mut placed.w, &cross(&c.c, &v));
        let (own, turned) = (back(&c.E, &centre), back(axes, &turn));
        for i in 0..3 {
            numbers[7 + i] += own[i];
            numbers[16 + i] += turned[i];
        }
    }
}

/// The shift of a joint frame, as a twist in the world.
#[inline(always)]
fn shift(p: &Coefficients, c: &Coefficients, by: &[f64; OWN]) -> Six<f64> {
    let turn = times(&p.E, &[by[3], by[4], by[5]]);
    let mut place = times(&p.E, &[by[0], by[1], by[2]]);
    add_to(&mut place, &cross(&c.o, &turn));
    Six { l: place, a: turn }
}

/// Origin of the joint frame on the parent's side; a slide moves its node away from there.
#[inline(always)]
fn origin(kernel: &Kernel<f64>, k: usize, parent: usize) -> V<f64> {
    let p = &kernel.at[parent];
    let arm = times(&p.E, &kernel.shapes[k].s);
    std::array::from_fn(|i| p.x[i] + arm[i])
}

fn put_shift(p: &Coefficients, c: &Coefficients, shift: &Six<f64>, out: &mut [f64; OWN]) {
    let mut turn = shift.a;
    add_to(&mut turn, &cross(&shift.l, &c.o));
    let (place, turn) = (back(&p.E, &shift.l), back(&p.E, &turn));
    for i in 0..3 {
        out[i] += place[i];
        out[3 + i] += turn[i];
    }
}

/// The acceleration of the centre of mass.
#[inline(always)]
fn of_centre(c: &Coefficients) -> V<f64> {
    let (w, v) = (&c.V.a, &c.V.l);
    let about = cross(w, &c.c);
    let point: V<f64> = std::array::from_fn(|i| v[i] + about[i]);
    let (turn, round) = (cross(&c.A.a, &c.c), cross(w, &point));
    std::array::from_fn(|i| c.A.l[i] + turn[i] + round[i])
}

/// Changes of the wrench of a node due to changes of mass, centre and inertia.
fn change_inertia(c: &Coefficients, by: &[f64; OWN]) -> [V<f64>; 2] {
    let (w, A) = (&c.V.a, &c.A.a);
    let g = of_centre(c);
    let force = scale(&g, c.m);
    // In node axes, in which the inertia is given.
    let (w_own, A_own) = (back(&c.E, w), back(&c.E, A));
    let centre = times(&c.E, &[by[7], by[8], by[9]]);
    let swung = cross(w, &cross(w, &centre));
    let turned = cross(A, &centre);
    let f: V<f64> = std::array::from_fn(|i| by[6] * g[i] + c.m * (turned[i] + swung[i]));
    let J: [f64; 6] = std::array::from_fn(|i| by[10 + i]);
    let mut torque = symmetric(&J, &A_own);
    add_to(&mut torque, &cross(&w_own, &symmetric(&J, &w_own)));
    let mut t = times(&c.E, &torque);
    add_to(&mut t, &cross(&centre, &force));
    add_to(&mut t, &cross(&c.c, &f));
    [f, t]
}

/// Derivatives with respect to mass, centre and inertia from the covector of the wrench of a node.
fn change_back(c: &Coefficients, F: &V<f64>, T: &V<f64>, out: &mut [f64; OWN]) {
    let (w, A) = (&c.V.a, &c.A.a);
    let g = of_centre(c);
    let about = cross(T, &c.c);
    let Q: V<f64> = std::array::from_fn(|i| F[i] + about[i]);
    out[6] += dot(&g, &Q);
    let (QA, Qw, ww, gT) = (cross(&Q, A), dot(&Q, w), dot(w, w), cross(&g, T));
    let centre: V<f64> = std::array::from_fn(|i| c.m * (QA[i] + Qw * w[i] - ww * Q[i] + gT[i]));
    let centre = back(&c.E, &centre);
    let (T_own, A_own, w_own) = (back(&c.E, T), back(&c.E, A), back(&c.E, w));
    let Tw = cross(&T_own, &w_own);
    let pair = |i: usize, j: usize| T_own[i] * A_own[j] + Tw[i] * w_own[j];
    for i in 0..3 {
        out[7 + i] += centre[i];
    }
    for (slot, (i, j)) in [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)].into_iter().enumerate() {
        out[10 + slot] += if i == j { pair(i, j) } else { pair(i, j) + pair(j, i) };
    }
}
