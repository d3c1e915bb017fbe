//! The tree of a mechanism in joint coordinates: nodes in order of growth, their frames, coordinates, columns, kinematics.
//!
//! Node 0 is the ground. A node's own frame is the joint frame on its side of the joint to its parent, so that a hinge turns about z of its
//! node. Twists are taken about the reference point of the node's patch: one point for small mechanisms, a new one every few joints of
//! depth in long chains, because digits are lost with the square of the distance from it.

use super::graph::Growth;
use super::joint::Kind;
use super::spatial::{Inertia, Six};
use crate::model::{JointCoordinate, Model};
use crate::state::{Configuration, Pose, Velocity};
use nalgebra::{Matrix3, Vector3};

type V = Vector3<f64>;
type M3 = Matrix3<f64>;

/// Joints of depth after which a new reference point is taken.
const PATCH: usize = 24;

/// A body in the tree.
#[derive(Clone, Debug)]
pub struct Node {
    /// Body of the model.
    pub body: usize,
    /// Node it hangs on.
    pub parent: usize,
    /// Joint of the model; `None` for a free body.
    pub joint: Option<usize>,
    /// Type.
    pub kind: Kind,
    /// Whether the parent is the moving body of the joint.
    pub reversed: bool,
    /// First stored coordinate.
    pub q: usize,
    /// First speed and first column.
    pub u: usize,
    /// Patch of its reference point.
    pub patch: usize,
    /// Whether its patch differs from the parent's.
    pub shift: bool,
    /// Joint frame on the parent's side, in the parent's own frame.
    R_K: M3,
    s_K: V,
    /// Rotation from the own frame to body axes, and the own origin relative to the centre of mass, in body axes.
    R_own: M3,
    s_own: V,
    /// Centre of mass in the own frame, mass, central inertia in the own frame.
    c: V,
    mass: f64,
    J: M3,
}

/// A drive that prescribes a column.
#[derive(Clone, Copy, Debug)]
pub struct Prescribed {
    /// Drive of the model.
    pub drive: usize,
    /// Column.
    pub column: usize,
    /// Node.
    pub node: usize,
    /// Column coordinate per drive coordinate: one, but for the distance of a screw.
    pub factor: f64,
}

/// What the passes need of a node, close together.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// Node it hangs on.
    pub parent: u32,
    /// First column.
    pub u: u32,
    /// Number of columns.
    pub speeds: u32,
    /// Whether its reference point differs from the parent's.
    pub shift: bool,
}

/// The tree with its kinematics.
#[derive(Clone, Debug)]
pub struct Tree {
    /// Nodes; the first is the ground.
    pub nodes: Vec<Node>,
    /// The same in short.
    pub links: Vec<Link>,
    /// Node of each body.
    pub of_body: Vec<usize>,
    /// Stored coordinates in all.
    pub stored: usize,
    /// Speeds in all.
    pub speeds: usize,
    /// Node of each column.
    pub node_of: Vec<u32>,
    /// Nodes that carry a quaternion.
    pub turning: Vec<usize>,
    /// Whether each column is a translation.
    pub slides: Vec<bool>,
    /// Drives that prescribe columns.
    pub prescribed: Vec<Prescribed>,
    /// First node of each patch; its origin is the reference point.
    patches: Vec<usize>,
    /// Reference point of the first patch.
    centre: V,
    /// Acceleration of gravity.
    pub gravity: V,
    /// Own frames, by node. Written by `place`.
    pub E: Vec<M3>,
    /// Own origins, by node. Written by `place`.
    pub x: Vec<V>,
    /// Reference points, by patch. Written by `place`.
    pub O: Vec<V>,
    /// Columns, as motions of the child. Written by `place`.
    pub S: Vec<Six>,
    /// Twists, by node. Written by `speed`.
    pub V: Vec<Six>,
    /// Accelerations at zero unknown rates of speeds, by node. Written by `bias`.
    pub a_t: Vec<Six>,
}

impl Tree {
    /// The tree of a growth, around an assembled configuration.
    pub fn new(model: &Model, growth: &Growth, start: &Configuration) -> Self {
        let n = model.bodies.len();
        let mut of_body = vec![0; n];
        let ground = Node {
            body: 0,
            parent: 0,
            joint: None,
            kind: Kind::Fixed,
            reversed: false,
            q: 0,
            u: 0,
            patch: 0,
            shift: false,
            R_K: M3::identity(),
            s_K: V::zeros(),
            R_own: M3::identity(),
            s_own: V::zeros(),
            c: V::zeros(),
            mass: 0.0,
            J: M3::zeros(),
        };
        let mut nodes = vec![ground];
        let (mut q, mut u) = (0, 0);
        let mut patches = vec![0];
        let mut depth = vec![0_usize; n];
        for &(body, on, joint) in &growth.steps {
            let k = nodes.len();
            let parent = of_body[on];
            of_body[body] = k;
            let (kind, reversed, near, own) = match joint {
                Some(j) => {
                    let x = &model.joints[j];
                    let reversed = x.bodies[1].index() == on;
                    let (near, own) = if reversed { (x.M, x.F) } else { (x.F, x.M) };
                    // Joints that cannot stand in a tree are no edges of the graph.
                    (Kind::of(&x.kind).unwrap_or(Kind::Free), reversed, (near.R, near.s), (own.R, own.s))
                }
                None => (Kind::Free, false, (M3::identity(), V::zeros()), (M3::identity(), V::zeros())),
            };
            let p: &Node = &nodes[parent];
            // From body axes to the parent's own frame.
            let (R_K, s_K) = (p.R_own.tr_mul(&near.0), p.R_own.tr_mul(&(near.1 - p.s_own)));
            let b = &model.bodies[body];
            depth[k] = depth[parent] + 1;
            let shift = depth[k].is_multiple_of(PATCH);
            let patch = if shift {
                patches.push(k);
                patches.len() - 1
            } else {
                p.patch
            };
            nodes.push(Node {
                body,
                parent,
                joint,
                kind,
                reversed,
                q,
                u,
                patch,
                shift,
                R_K,
                s_K,
                R_own: own.0,
                s_own: own.1,
                c: own.0.tr_mul(&-own.1),
                mass: b.mass,
                J: own.0.tr_mul(&b.J_bar) * own.0,
            });
            q += kind.stored();
            u += kind.speeds();
        }
        let node_of = nodes.iter().enumerate().flat_map(|(k, n)| std::iter::repeat_n(k as u32, n.kind.speeds())).collect();
        let turning = (1..nodes.len()).filter(|&k| nodes[k].kind.quaternion().is_some()).collect();
        let slides = nodes.iter().flat_map(|n| (0..n.kind.speeds()).map(|k| n.kind.slides(k))).collect();
        let centre = start.q.iter().skip(1).fold(V::zeros(), |s, q| s + q.r) / (n.max(2) - 1) as f64;
        // Reach of a long chain must not spoil the first patch: its bodies are near the ground's joint.
        let centre = if patches.len() > 1 { growth.steps.first().map_or(centre, |s| start.q[s.0].r) } else { centre };
        let short = |n: &Node| Link { parent: n.parent as u32, u: n.u as u32, speeds: n.kind.speeds() as u32, shift: n.shift };
        let mut tree = Self {
            links: nodes.iter().map(short).collect(),
            E: vec![M3::identity(); n],
            x: vec![V::zeros(); n],
            O: vec![centre; patches.len()],
            S: vec![Six::default(); u],
            V: vec![Six::default(); n],
            a_t: vec![Six::default(); n],
            nodes,
            of_body,
            stored: q,
            speeds: u,
            node_of,
            turning,
            slides,
            prescribed: Vec::new(),
            patches,
            centre,
            gravity: model.gravity,
        };
        tree.prescribe(model);
        tree
    }

    /// Drives on tree columns prescribe them; a second drive of one column stays a constraint.
    fn prescribe(&mut self, model: &Model) {
        let mut taken = vec![false; self.speeds];
        for (drive, d) in model.drives.iter().enumerate() {
            let Some(node) = (1..self.nodes.len()).find(|&k| self.nodes[k].joint == Some(d.joint)) else { continue };
            let n = &self.nodes[node];
            let (k, factor) = match (n.kind, d.coordinate) {
                (Kind::Revolute, JointCoordinate::Angle)
                | (Kind::Screw(_), JointCoordinate::Angle)
                | (Kind::Prismatic, JointCoordinate::Distance)
                | (Kind::Cylindrical, JointCoordinate::Distance) => (0, 1.0),
                (Kind::Cylindrical, JointCoordinate::Angle) => (1, 1.0),
                (Kind::Planar, JointCoordinate::Angle) => (2, 1.0),
                (Kind::Screw(h), JointCoordinate::Distance) if h != 0.0 => (0, 1.0 / h),
                _ => continue,
            };
            let column = n.u + k;
            if !taken[column] {
                taken[column] = true;
                self.prescribed.push(Prescribed { drive, column, node, factor });
            }
        }
    }

    /// Stored coordinate of a column that is not part of a quaternion.
    pub fn coordinate_of(&self, column: usize) -> usize {
        let n = &self.nodes[self.node_of[column] as usize];
        n.q + (column - n.u)
    }

    /// Coordinates and speeds of a configuration.
    pub fn enter(&self, model: &Model, at: &Configuration, q: &mut [f64], u: &mut [f64]) {
        for n in self.nodes.iter().skip(1) {
            let parent = self.nodes[n.parent].body;
            let (base, moving) = if n.reversed { (n.body, parent) } else { (parent, n.body) };
            let (F, M) = match n.joint {
                Some(j) => (model.joints[j].F, model.joints[j].M),
                None => {
                    let whole = crate::joint::Frame { s: V::zeros(), R: M3::identity() };
                    (whole, whole)
                }
            };
            let (qb, qm, vb, vm) = (&at.q[base], &at.q[moving], &at.v[base], &at.v[moving]);
            let (A_F, A_M) = (qb.A * F.R, qm.A * M.R);
            let (p_F, p_M) = (qb.point(&F.s), qm.point(&M.s));
            let d = p_M - p_F;
            let angle = n.joint.and_then(|j| model.joints[j].memory).map_or(0.0, |m| at.turns[m]);
            let k = n.kind;
            k.coordinates(&A_F.tr_mul(&A_M), &A_F.tr_mul(&d), angle, &mut q[n.q..n.q + k.stored()]);
            let w_b = qb.A * vb.w;
            let v = vm.of_point(qm, &M.s) - vb.of_point(qb, &F.s) - w_b.cross(&d);
            k.speeds_of(&A_F, &A_M, &v, &(qm.A * vm.w - w_b), &mut u[n.u..n.u + k.speeds()]);
        }
    }

    /// Sets the prescribed coordinates and speeds of a time; gives their second derivatives to `put`.
    pub fn drive(&self, model: &Model, t: f64, q: &mut [f64], u: &mut [f64], mut put: impl FnMut(usize, f64)) {
        for p in &self.prescribed {
            let f = model.drives[p.drive].value.at(t);
            q[self.coordinate_of(p.column)] = f[0] * p.factor;
            u[p.column] = f[1] * p.factor;
            put(p.column, f[2] * p.factor);
        }
    }

    /// Places all nodes: own frames, reference points, columns.
    pub fn place(&mut self, q: &[f64]) {
        self.centre();
        for k in 1..self.nodes.len() {
            self.place_node(k, q);
        }
    }

    /// Puts the first reference point in place.
    pub fn centre(&mut self) {
        self.O[0] = self.centre;
    }

    /// Places a node whose parent is placed.
    #[inline(always)]
    pub fn place_node(&mut self, k: usize, q: &[f64]) {
        let n = &self.nodes[k];
        let (E_p, x_p) = (&self.E[n.parent], &self.x[n.parent]);
        let near = E_p * n.R_K;
        let p_near = x_p + E_p * n.s_K;
        if n.kind == Kind::Revolute {
            // The hinge: z stays, x and y turn.
            let (s, c) = q[n.q].sin_cos();
            let (sign, s) = if n.reversed { (-1.0, -s) } else { (1.0, s) };
            let m = &near;
            let E = M3::new(
                m[(0, 0)] * c + m[(0, 1)] * s,
                m[(0, 1)] * c - m[(0, 0)] * s,
                m[(0, 2)],
                m[(1, 0)] * c + m[(1, 1)] * s,
                m[(1, 1)] * c - m[(1, 0)] * s,
                m[(1, 2)],
                m[(2, 0)] * c + m[(2, 1)] * s,
                m[(2, 1)] * c - m[(2, 0)] * s,
                m[(2, 2)],
            );
            if n.shift {
                self.O[n.patch] = p_near;
            }
            let a = V::new(m[(0, 2)], m[(1, 2)], m[(2, 2)]) * sign;
            self.S[n.u] = Six::turn(a, &(p_near - self.O[n.patch]));
            self.E[k] = E;
            self.x[k] = p_near;
            return;
        }
        let (E, x);
        let (R, p) = n.kind.relative(&q[n.q..n.q + n.kind.stored()]);
        if n.reversed {
            E = near * R.transpose();
            x = p_near - E * p;
        } else {
            E = near * R;
            x = p_near + near * p;
        }
        if n.shift {
            self.O[n.patch] = x;
        }
        let out = &mut self.S[n.u..n.u + n.kind.speeds()];
        let O = &self.O[n.patch];
        if n.reversed {
            n.kind.columns(&E, &near, &(p_near - O), out);
            out.iter_mut().for_each(|s| *s = -*s);
        } else {
            n.kind.columns(&near, &E, &(x - O), out);
        }
        self.E[k] = E;
        self.x[k] = x;
    }

    /// Offset from the reference point of the parent to that of node `k`.
    #[inline(always)]
    pub fn offset(&self, k: usize) -> V {
        let n = &self.nodes[k];
        self.O[n.patch] - self.O[self.nodes[n.parent].patch]
    }

    /// A motion of the parent of node `k`, about the reference point of `k`.
    #[inline(always)]
    pub fn from_parent(&self, k: usize, motion: &Six) -> Six {
        if self.links[k].shift { motion.motion_at(&self.offset(k)) } else { *motion }
    }

    /// Twists of all nodes.
    pub fn speed(&mut self, u: &[f64]) {
        for k in 1..self.nodes.len() {
            let n = &self.nodes[k];
            let mut V = self.from_parent(k, &self.V[n.parent]);
            for c in n.u..n.u + n.kind.speeds() {
                V += self.S[c] * u[c];
            }
            self.V[k] = V;
        }
    }

    /// Twists, and accelerations at zero unknown rates; `udot` holds the rates of prescribed columns and is zero elsewhere.
    pub fn bias(&mut self, u: &[f64], udot: &[f64]) {
        for k in 1..self.nodes.len() {
            self.bias_node(k, u, udot);
        }
    }

    /// Twist and bias of a node whose parent's are known.
    #[inline(always)]
    pub fn bias_node(&mut self, k: usize, u: &[f64], udot: &[f64]) {
        let driven = !self.prescribed.is_empty();
        let n = &self.nodes[k];
        let mut V = self.from_parent(k, &self.V[n.parent]);
        let mut a = self.from_parent(k, &self.a_t[n.parent]);
        if n.kind.speeds() == 1 {
            let x = self.S[n.u] * u[n.u];
            a += V.cross_motion(&x);
            V += x;
            if driven {
                a += self.S[n.u] * udot[n.u];
            }
        } else {
            let groups = n.kind.groups();
            let mut c = if n.reversed { n.u + n.kind.speeds() } else { n.u };
            for g in 0..groups.len() {
                let size = if n.reversed { groups[groups.len() - 1 - g] } else { groups[g] };
                if n.reversed {
                    c -= size;
                }
                let x = (c..c + size).fold(Six::default(), |x, i| x + self.S[i] * u[i]);
                a += V.cross_motion(&x);
                V += x;
                if driven {
                    a = (c..c + size).fold(a, |a, i| a + self.S[i] * udot[i]);
                }
                if !n.reversed {
                    c += size;
                }
            }
        }
        self.V[k] = V;
        self.a_t[k] = a;
    }

    /// Inertia of a node about its reference point.
    #[inline(always)]
    pub fn inertia(&self, k: usize) -> Inertia {
        let n = &self.nodes[k];
        let E = &self.E[k];
        let c = self.x[k] - self.O[n.patch] + E * n.c;
        Inertia::new(n.mass, &c, E, &n.J)
    }

    /// Own joint point of a node from its reference point.
    #[inline]
    pub fn own_point(&self, k: usize) -> V {
        self.x[k] - self.O[self.nodes[k].patch]
    }

    /// Pose of the body of a node.
    #[inline]
    pub fn pose(&self, k: usize) -> Pose {
        let n = &self.nodes[k];
        let A = self.E[k] * n.R_own.transpose();
        Pose { r: self.x[k] + self.E[k] * n.c, A }
    }

    /// Velocity of the body of a node at a pose.
    #[inline]
    pub fn velocity(&self, k: usize, pose: &Pose) -> Velocity {
        let V = &self.V[k];
        let rho = pose.r - self.O[self.nodes[k].patch];
        Velocity { v: V.l + V.a.cross(&rho), w: pose.A.tr_mul(&V.a) }
    }

    /// Acceleration of the body of a node whose acceleration about its reference point is `a`.
    pub fn acceleration(&self, k: usize, pose: &Pose, a: &Six) -> Velocity {
        let V = &self.V[k];
        let rho = pose.r - self.O[self.nodes[k].patch];
        let v = V.l + V.a.cross(&rho);
        Velocity { v: a.l + a.a.cross(&rho) + V.a.cross(&v), w: pose.A.tr_mul(&a.a) }
    }

    /// Number of patches.
    pub fn patch_count(&self) -> usize {
        self.patches.len()
    }
}
