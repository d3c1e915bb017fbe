//! The tree of a mechanism in joint coordinates: nodes in order of growth, their frames, coordinates, columns, kinematics.
//!
//! Node 0 is the ground. A node's own frame is the joint frame on its side of the joint to its parent, so that a hinge turns about z of its
//! node. Twists are taken about the reference point of the node's patch: one point for small mechanisms, a new one every few joints of
//! depth in long chains, because the loss of digits grows with the square of the distance from it.

use super::graph::Growth;
use super::hinge::Body;
use super::joint::Kind;
use super::spatial::{Six, Symmetric, times};
use crate::model::{JointCoordinate, Model};
use crate::state::{Configuration, Pose, Twist};
use nalgebra::{Matrix3, Vector3};
use std::ops::Range;

type V = Vector3<f64>;
type M3 = Matrix3<f64>;

/// Joints of depth after which a new reference point is taken.
const PATCH: usize = 24;

/// A body in the tree.
#[derive(Clone, Debug)]
pub struct Node {
    /// Body of the model.
    pub body: usize,
    /// Parent node.
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
    /// Rotation from the own frame to body axes, and the own origin relative to the centre of mass, in body axes.
    pub R_own: M3,
    /// See `R_own`.
    pub s_own: V,
}

/// Constants of a node for the passes.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Joint frame on the parent's side, in the parent's own frame.
    pub R: M3,
    /// Its origin.
    pub s: V,
    /// Centre of mass in the own frame.
    pub c: V,
    /// Mass.
    pub mass: f64,
    /// Central inertia in the own frame.
    pub J: Symmetric,
}

/// Position and motion of a node, about its reference point.
#[derive(Clone, Copy, Debug)]
pub struct Moving {
    /// Own frame. Written by `place`.
    pub E: M3,
    /// Own origin. Written by `place`.
    pub x: V,
    /// Velocity. Written by `speed` and `sweep`.
    pub V: Six,
    /// Acceleration at zero unknown rates of speeds. Written by `sweep`.
    pub a_t: Six,
}

/// Consecutive nodes for one kernel.
#[derive(Clone, Debug)]
struct Run {
    nodes: Range<usize>,
    /// Free hinges, each attached to the preceding one; else a single node.
    hinges: bool,
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
    /// Column coordinate per drive coordinate: one, except for the distance of a screw.
    pub factor: f64,
}

/// Data of a node for the passes, stored compactly.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// Parent node.
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
    /// The same in compact form.
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
    /// Reference point of the first patch.
    pub centre: V,
    /// Acceleration of gravity.
    pub gravity: V,
    /// Motion of the nodes.
    pub at: Vec<Moving>,
    /// Constants of the nodes.
    pub shapes: Vec<Shape>,
    runs: Vec<Run>,
    /// Sine and cosine of hinges, by column. Written by `place`.
    pub(super) turned: Vec<[f64; 2]>,
    /// Reference points, by patch. Written by `place`.
    pub O: Vec<V>,
    /// Columns, as motions of the child. Written by `place`.
    pub S: Vec<Six>,
    /// Derivative of the first column of each node with respect to its coordinate, world; empty if no column bends.
    bends: Vec<V>,
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
            kind: Kind::fixed(),
            reversed: false,
            q: 0,
            u: 0,
            patch: 0,
            shift: false,
            R_own: M3::identity(),
            s_own: V::zeros(),
        };
        let still = Shape { R: M3::identity(), s: V::zeros(), c: V::zeros(), mass: 0.0, J: Symmetric::default() };
        let mut shapes = vec![still];
        let mut nodes = vec![ground];
        let (mut q, mut u) = (0, 0);
        let mut patches = 1;
        let mut depth = vec![0_usize; n];
        for &(body, on, joint) in &growth.steps {
            let k = nodes.len();
            let parent = of_body[on];
            of_body[body] = k;
            let (kind, reversed, mut near, mut own) = match joint {
                Some(j) => {
                    let x = &model.joints[j];
                    let reversed = x.bodies[1].index() == on;
                    let (near, own) = if reversed { (x.M, x.F) } else { (x.F, x.M) };
                    // Joints that have no tree form are not edges of the graph.
                    (Kind::of(&x.kind).unwrap_or_else(Kind::free), reversed, (near.R, near.s), (own.R, own.s))
                }
                None => (Kind::free(), false, (M3::identity(), V::zeros()), (M3::identity(), V::zeros())),
            };
            if reversed && kind.is_hinge() {
                // Half a turn about x, so that z is the column and the angle is counted from the parent.
                let flip = M3::from_diagonal(&V::new(1.0, -1.0, -1.0));
                (near.0, own.0) = (near.0 * flip, own.0 * flip);
            }
            let p: &Node = &nodes[parent];
            // From body axes to the parent's own frame.
            let b = &model.bodies[body];
            shapes.push(Shape {
                R: p.R_own.tr_mul(&near.0),
                s: p.R_own.tr_mul(&(near.1 - p.s_own)),
                c: own.0.tr_mul(&-own.1),
                mass: b.mass,
                J: Symmetric::of(&(own.0.tr_mul(&b.J_bar) * own.0)),
            });
            depth[k] = depth[parent] + 1;
            let shift = depth[k].is_multiple_of(PATCH);
            let patch = if shift {
                patches += 1;
                patches - 1
            } else {
                p.patch
            };
            let (coordinates, speeds) = (kind.stored(), kind.speeds());
            nodes.push(Node { body, parent, joint, kind, reversed, q, u, patch, shift, R_own: own.0, s_own: own.1 });
            q += coordinates;
            u += speeds;
        }
        let node_of = nodes.iter().enumerate().flat_map(|(k, n)| std::iter::repeat_n(k as u32, n.kind.speeds())).collect();
        let turning = (1..nodes.len()).filter(|&k| nodes[k].kind.quaternion().is_some()).collect();
        let slides = nodes.iter().flat_map(|n| (0..n.kind.speeds()).map(|k| n.kind.slides(k))).collect();
        let centre = start.q.iter().skip(1).fold(V::zeros(), |s, q| s + q.r) / (n.max(2) - 1) as f64;
        // The extent of a long chain must not affect the first patch: its bodies are near the ground's joint.
        let centre = if patches > 1 { growth.steps.first().map_or(centre, |s| start.q[s.0].r) } else { centre };
        let short = |n: &Node| Link { parent: n.parent as u32, u: n.u as u32, speeds: n.kind.speeds() as u32, shift: n.shift };
        let mut tree = Self {
            links: nodes.iter().map(short).collect(),
            at: vec![Moving { E: M3::identity(), x: V::zeros(), V: Six::default(), a_t: Six::default() }; n],
            shapes,
            runs: Vec::new(),
            turned: vec![[0.0; 2]; u],
            O: vec![centre; patches],
            S: vec![Six::default(); u],
            bends: if nodes.iter().any(|n| n.kind.bends()) { vec![V::zeros(); nodes.len()] } else { Vec::new() },
            nodes,
            of_body,
            stored: q,
            speeds: u,
            node_of,
            turning,
            slides,
            prescribed: Vec::new(),
            centre,
            gravity: model.gravity,
        };
        tree.prescribe(model);
        tree.gather_runs();
        tree
    }

    fn gather_runs(&mut self) {
        let mut driven = vec![false; self.nodes.len()];
        self.prescribed.iter().for_each(|p| driven[p.node] = true);
        for (k, n) in self.nodes.iter().enumerate().skip(1) {
            let hinges = n.kind.is_hinge() && !driven[k];
            match self.runs.last_mut() {
                Some(run) if run.hinges && hinges && n.parent + 1 == k && !n.shift => run.nodes.end += 1,
                _ => self.runs.push(Run { nodes: k..k + 1, hinges }),
            }
        }
    }

    /// Drives on tree columns prescribe them; a second drive of the same column remains a constraint.
    fn prescribe(&mut self, model: &Model) {
        let mut taken = vec![false; self.speeds];
        for (drive, d) in model.drives.iter().enumerate() {
            let Some(node) = (1..self.nodes.len()).find(|&k| self.nodes[k].joint == Some(d.joint)) else { continue };
            let n = &self.nodes[node];
            let Some((k, factor)) = n.kind.driven(d.coordinate) else { continue };
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
            let k = &n.kind;
            k.coordinates(&A_F.tr_mul(&A_M), &A_F.tr_mul(&d), angle, &mut q[n.q..n.q + k.stored()]);
            let w_b = qb.A * vb.w;
            let v = vm.of_point(qm, &M.s) - vb.of_point(qb, &F.s) - w_b.cross(&d);
            k.speeds_of(&q[n.q..n.q + k.stored()], &A_F, &A_M, &v, &(qm.A * vm.w - w_b), &mut u[n.u..n.u + k.speeds()]);
        }
    }

    /// Sets the prescribed coordinates and speeds at a time; passes their second derivatives to `put`.
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
        self.O[0] = self.centre;
        self.place_from(1, q);
    }

    /// The same from a given node on; the preceding ones are already placed.
    pub fn place_from(&mut self, first: usize, q: &[f64]) {
        for i in 0..self.runs.len() {
            let run = &self.runs[i];
            if run.nodes.end <= first {
                continue;
            }
            let nodes = run.nodes.start.max(first)..run.nodes.end;
            if run.hinges { self.place_hinges(nodes, q) } else { self.place_node(nodes.start, q) }
        }
    }

    /// Places a node whose parent is already placed.
    fn place_node(&mut self, k: usize, q: &[f64]) {
        let n = &self.nodes[k];
        if n.kind.is_hinge() {
            self.place_hinges(k..k + 1, q);
            return;
        }
        let (parent, shape) = (&self.at[n.parent], &self.shapes[k]);
        let near = parent.E * shape.R;
        let p_near = parent.x + parent.E * shape.s;
        let (E, x);
        let own = &q[n.q..n.q + n.kind.stored()];
        let (R, p) = n.kind.relative(own);
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
            n.kind.columns(own, &E, &near, &(p_near - O), out);
            out.iter_mut().for_each(|s| *s = -*s);
        } else {
            n.kind.columns(own, &near, &E, &(x - O), out);
        }
        if let Some(bend) = n.kind.bend(own) {
            // In the frame of the base; relative to the moving body the column is reversed.
            self.bends[k] = if n.reversed { -(E * bend) } else { near * bend };
        }
        (self.at[k].E, self.at[k].x) = (E, x);
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
        for run in &self.runs {
            let n = &self.nodes[run.nodes.start];
            let mut V = self.from_parent(run.nodes.start, &self.at[n.parent].V);
            if run.hinges {
                let columns = n.u..n.u + run.nodes.len();
                for ((at, S), u) in self.at[run.nodes.clone()].iter_mut().zip(&self.S[columns.clone()]).zip(&u[columns]) {
                    V += *S * *u;
                    at.V = V;
                }
                continue;
            }
            for c in n.u..n.u + n.kind.speeds() {
                V += self.S[c] * u[c];
            }
            self.at[run.nodes.start].V = V;
        }
    }

    /// Twists, accelerations at zero unknown rates, and contributions of the bodies to the recursion; places the nodes first if `PLACE`.
    /// `udot` contains the rates of prescribed columns and is zero elsewhere.
    pub fn sweep<const PLACE: bool>(&mut self, q: &[f64], u: &[f64], udot: &[f64], bodies: &mut [Body]) {
        if PLACE {
            self.O[0] = self.centre;
        }
        for i in 0..self.runs.len() {
            let Run { nodes, hinges } = self.runs[i].clone();
            if hinges {
                self.sweep_hinges::<PLACE>(nodes, q, u, bodies);
                continue;
            }
            let k = nodes.start;
            if PLACE {
                self.place_node(k, q);
            }
            self.bias_node(k, u, udot);
            bodies[k] = Body::moving(&self.shapes[k], &self.at[k], &self.O[self.nodes[k].patch], &self.gravity);
        }
    }

    /// Velocity and bias of a node whose parent's values are known.
    fn bias_node(&mut self, k: usize, u: &[f64], udot: &[f64]) {
        let driven = !self.prescribed.is_empty();
        let n = &self.nodes[k];
        let mut V = self.from_parent(k, &self.at[n.parent].V);
        let mut a = self.from_parent(k, &self.at[n.parent].a_t);
        let groups = n.kind.groups();
        let mut c = if n.reversed { n.u + n.kind.speeds() } else { n.u };
        for g in 0..groups.len() {
            let size = if n.reversed { groups[groups.len() - 1 - g] } else { groups[g] };
            if n.reversed {
                c -= size;
            }
            let x = (c..c + size).fold(Six::default(), |x, i| x + self.S[i] * u[i]);
            a += V.cross_motion(&x);
            if n.kind.bends() && c == n.u {
                a.l += self.bends[k] * (u[c] * u[c]);
            }
            V += x;
            if driven {
                a = (c..c + size).fold(a, |a, i| a + self.S[i] * udot[i]);
            }
            if !n.reversed {
                c += size;
            }
        }
        (self.at[k].V, self.at[k].a_t) = (V, a);
    }

    /// Own joint point of a node from its reference point.
    #[inline]
    pub fn own_point(&self, k: usize) -> V {
        self.at[k].x - self.O[self.nodes[k].patch]
    }

    /// Pose of the body of a node.
    #[inline]
    pub fn pose(&self, k: usize) -> Pose {
        let n = &self.nodes[k];
        let at = &self.at[k];
        Pose { r: at.x + times(&at.E, &self.shapes[k].c), A: at.E * n.R_own.transpose() }
    }

    /// Velocity of the body of a node at a pose.
    #[inline]
    pub fn velocity(&self, k: usize, pose: &Pose) -> Twist {
        let V = &self.at[k].V;
        let rho = pose.r - self.O[self.nodes[k].patch];
        Twist { v: V.l + V.a.cross(&rho), w: pose.A.tr_mul(&V.a) }
    }

    /// Columns that are counted angles about an axis, and those along closed curves, with the factor that makes a revolution a whole turn.
    pub fn counted_columns<'a>(&'a self, model: &'a Model) -> impl Iterator<Item = (usize, f64)> + 'a {
        let plain = self.nodes.iter().filter(|n| n.kind.quaternion().is_none());
        let hinged = plain.flat_map(|n| (0..n.kind.speeds()).filter(|c| !n.kind.slides(*c)).map(|c| (n.u + c, 1.0)));
        let round = |n: &Node| {
            let y = model.joints[n.joint?].coordinate(JointCoordinate::Distance)?;
            Some((n.u, std::f64::consts::TAU / y.period()?))
        };
        hinged.chain(self.nodes.iter().filter(|n| n.kind.bends()).filter_map(round))
    }

    /// Acceleration of the body of a node whose acceleration about its reference point is `a`.
    pub fn acceleration(&self, k: usize, pose: &Pose, a: &Six) -> Twist {
        let V = &self.at[k].V;
        let rho = pose.r - self.O[self.nodes[k].patch];
        let v = V.l + V.a.cross(&rho);
        Twist { v: a.l + a.a.cross(&rho) + V.a.cross(&v), w: pose.A.tr_mul(&a.a) }
    }
}
