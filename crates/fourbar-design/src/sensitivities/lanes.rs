//! Rates of a tree together with several tangents.

use super::around::Around;
use crate::tree::kernel::cross;
use crate::tree::linear::{Changes, Displaced, Going, Lane, Lanes, Linear};
use crate::tree::{Jet, Rates, Tree, Values};
use fourbar::Model;
use fourbar::coordinate::PoseOf;
use fourbar::force::eval::{Given, Plain, States, VelocityOf};
use fourbar::state::{Pose, Twist};
use nalgebra::{Matrix3, Vector3};

/// Forces whose data differ in perturbed mechanisms: index of the tangent, mechanisms, forces.
pub(super) type Data<'a> = (usize, &'a Around, &'a [usize]);

/// A tree with tangents, to be integrated by [`crate::tree::Moved`].
pub(super) struct Tangents<'a, const N: usize> {
    pub values: Values<'a>,
    linear: Linear,
    changes: Changes<N>,
    work: Vec<Going<N>>,
    /// Displacements of nodes, as seen in the world and from the node. Written by `displace`.
    out: Vec<Displaced<N>>,
    seen: Vec<Displaced<N>>,
    q: Vec<f64>,
    u: Vec<f64>,
    du: Vec<f64>,
    /// Bodies that forces depend on, and their states. Written by `look`.
    bodies: Vec<usize>,
    states: Vec<State<N>>,
    data: Vec<Data<'a>>,
    plain: Room,
    /// Changes of forces on nodes. Written by `load`.
    pushed: Vec<(usize, Lanes<N>, Lanes<N>)>,
    loads: Vec<(usize, Vector3<Jet<N>>, Vector3<Jet<N>>)>,
}

/// Workspace for a state in plain numbers.
pub(super) struct Room {
    pub poses: Vec<Pose>,
    pub velocities: Vec<Twist>,
    pub counted: Vec<(f64, f64)>,
}

impl Room {
    pub fn new(tree: &Tree) -> Self {
        let n = tree.of_body.len();
        let still = Pose { r: Vector3::zeros(), A: Matrix3::identity() };
        Self { poses: vec![still; n], velocities: vec![Twist::zero(); n], counted: vec![(0.0, 0.0); tree.counted.len()] }
    }

    /// The state at which a kernel was swept.
    pub fn fill(&mut self, values: &Values<'_>, t: f64, q: &[f64], u: &[f64]) {
        let seen = values.seen(t, q, u);
        for b in 1..self.poses.len() {
            let (pose, v) = (States::<f64>::pose(&seen, b), States::<f64>::velocity(&seen, b));
            self.poses[b] = Pose { r: pose.r, A: pose.A };
            self.velocities[b] = Twist { v: v.v, w: v.w };
        }
        self.counted.iter_mut().zip(&values.tree.counted).for_each(|(a, c)| *a = (q[*c], u[*c]));
    }

    /// The state as read by forces.
    pub fn given(&self, t: f64) -> Given<'_> {
        let plain = Plain { t, q: &self.poses, v: &self.velocities, turns: &[], loads: &[], z: &[] };
        Given { plain, load: Some(0.0), counted: Some(&self.counted) }
    }
}

type State<const N: usize> = (PoseOf<Jet<N>>, VelocityOf<Jet<N>>);

/// The state as read by forces, with derivatives.
struct Varied<'a, const N: usize> {
    t: f64,
    tree: &'a Tree,
    bodies: &'a [usize],
    states: &'a [State<N>],
    q: &'a [Jet<N>],
    u: &'a [Jet<N>],
}

impl<const N: usize> Varied<'_, N> {
    fn of(&self, b: usize) -> Option<&State<N>> {
        self.bodies.binary_search(&b).ok().map(|k| &self.states[k])
    }
}

impl<const N: usize> States<Jet<N>> for Varied<'_, N> {
    fn time(&self) -> f64 {
        self.t
    }
    fn pose(&self, b: usize) -> PoseOf<Jet<N>> {
        self.of(b).map_or_else(|| PoseOf { r: Vector3::zeros(), A: Matrix3::identity() }, |s| s.0)
    }
    fn velocity(&self, b: usize) -> VelocityOf<Jet<N>> {
        self.of(b).map_or_else(|| VelocityOf { v: Vector3::zeros(), w: Vector3::zeros() }, |s| s.1)
    }
    fn turn(&self, memory: usize) -> f64 {
        self.q[self.tree.counted[memory]].x
    }
    fn load(&self, _joint: usize) -> Jet<N> {
        Jet::default()
    }
    fn auxiliary(&self, _k: usize) -> Jet<N> {
        Jet::default()
    }
    fn counted(&self, memory: usize) -> Option<(Jet<N>, Jet<N>)> {
        let c = self.tree.counted[memory];
        Some((self.q[c], self.u[c]))
    }
}

fn jets<const N: usize>(x: &[f64; 3], d: &Lanes<N>) -> Vector3<Jet<N>> {
    Vector3::from_fn(|i, _| Jet { x: x[i], d: d[i] })
}

fn lifted<const N: usize>(x: &[f64; 3]) -> Vector3<Jet<N>> {
    Vector3::from_fn(|i, _| Jet { x: x[i], d: [0.0; N] })
}

impl<'a, const N: usize> Tangents<'a, N> {
    /// A tree with changes of its data along the tangents.
    pub fn new(tree: &'a Tree, model: &'a Model, changes: Changes<N>, data: Vec<Data<'a>>) -> Self {
        let n = tree.nodes.len();
        let mut bodies: Vec<usize> = model.forces.iter().flat_map(|(_, f)| f.bodies(model)).collect();
        bodies.sort_unstable();
        bodies.dedup();
        let none = (PoseOf { r: Vector3::zeros(), A: Matrix3::identity() }, VelocityOf { v: Vector3::zeros(), w: Vector3::zeros() });
        Self {
            values: Values::new(tree, model),
            linear: Linear::new(&tree.nodes),
            changes,
            work: vec![Going::default(); n],
            out: vec![Displaced::default(); n],
            seen: vec![Displaced::default(); n],
            q: vec![0.0; tree.size],
            u: vec![0.0; tree.size],
            du: vec![0.0; tree.size],
            states: vec![none; bodies.len()],
            bodies,
            data,
            plain: Room::new(tree),
            pushed: Vec::new(),
            loads: Vec::new(),
        }
    }

    /// Sweeps all nodes at a state and computes their displacements along the tangents.
    pub fn place(&mut self, q: &[Jet<N>], u: &[Jet<N>]) {
        self.q.iter_mut().zip(q).for_each(|(a, b)| *a = b.x);
        self.u.iter_mut().zip(u).for_each(|(a, b)| *a = b.x);
        self.values.kernel.sweep(&self.q, &self.u);
        self.displace(q, u);
    }

    fn displace(&mut self, q: &[Jet<N>], u: &[Jet<N>]) {
        self.linear.place(&self.values.kernel);
        self.linear.displace(&|c| (q[c].d, u[c].d), &self.changes, &mut self.out, &mut self.seen);
    }

    /// Pose and velocity of a body with their derivatives, after `place`.
    pub fn state(&self, b: usize) -> State<N> {
        let k = self.values.tree.of_body[b];
        let (at, d) = (&self.values.kernel.at[k], &self.out[k]);
        let c = jets(&at.c, &d.c);
        // Rotation of the body: that of its node, and that of its axes relative to the node.
        let A = self.values.kernel.axes(k);
        let turn = jets(&[0.0; 3], &d.a);
        let columns: [Vector3<Jet<N>>; 3] = std::array::from_fn(|j| {
            let axis = lifted(&[A[j], A[3 + j], A[6 + j]]);
            axis + turn.cross(&axis)
        });
        let mut axes = Matrix3::from_columns(&columns);
        for (lane, turn) in self.changes.axes(k) {
            let by = Matrix3::from_row_slice(&A) * Vector3::from(turn).cross_matrix();
            axes.iter_mut().zip(by.iter()).for_each(|(a, d)| a.d[lane] += d);
        }
        let (v, w) = (jets(&at.V.l, &d.v), jets(&at.V.a, &d.w));
        (PoseOf { r: c, A: axes }, VelocityOf { v: v + w.cross(&c), w: axes.tr_mul(&w) })
    }

    /// Applies the forces at a state to the nodes and computes their changes.
    fn load(&mut self, t: f64, q: &[Jet<N>], u: &[Jet<N>]) {
        self.displace(q, u);
        for i in 0..self.bodies.len() {
            self.states[i] = self.state(self.bodies[i]);
        }
        let Self { values, bodies, states, loads, pushed, out, data, plain, .. } = self;
        let (tree, model) = (values.tree, values.model);
        loads.clear();
        pushed.clear();
        let varied = Varied { t, tree, bodies, states, q, u };
        for (_, force) in &model.forces {
            force.wrench(model, &varied, &mut |b, F, torque| {
                if b != 0 {
                    loads.push((tree.of_body[b], F, varied.pose(b).A * torque));
                }
            });
        }
        for (k, F, torque) in loads.iter() {
            let (k, d) = (*k, &out[*k]);
            let c = jets(&values.kernel.at[k].c, &d.c);
            let moment = torque + c.cross(F);
            // As seen from the node.
            let (turn, shift) = (jets(&[0.0; 3], &d.a), jets(&[0.0; 3], &d.l));
            let (force, moment) = (F - turn.cross(F), moment - turn.cross(&moment) - shift.cross(F));
            let slopes = |x: &Vector3<Jet<N>>| -> Lanes<N> { [x[0].d, x[1].d, x[2].d] };
            pushed.push((k, slopes(&force), slopes(&moment)));
            values.kernel.load(k, &[F[0].x, F[1].x, F[2].x], &[torque[0].x, torque[1].x, torque[2].x]);
        }
        if data.is_empty() {
            return;
        }
        plain.fill(values, t, &self.q, &self.u);
        let given = plain.given(t);
        for (slot, own, forces) in data.iter() {
            for (_, weight, m) in own.each() {
                for &f in *forces {
                    m.forces[f].1.wrench(m, &given, &mut |b, F: Vector3<f64>, torque: Vector3<f64>| {
                        if b != 0 {
                            let k = tree.of_body[b];
                            let F: [f64; 3] = (F * weight).into();
                            let torque: [f64; 3] = (given.plain.q[b].A * torque * weight).into();
                            let moment = cross(&values.kernel.at[k].c, &F);
                            let one = |x: f64| -> Lane<N> {
                                let mut d = [0.0; N];
                                d[*slot] = x;
                                d
                            };
                            pushed.push((k, F.map(one), std::array::from_fn(|i| one(torque[i] + moment[i]))));
                        }
                    });
                }
            }
        }
    }
}

impl<const N: usize> Rates<Jet<N>> for Tangents<'_, N> {
    #[inline(always)]
    fn rates(&mut self, t: f64, q: &[Jet<N>], u: &[Jet<N>], du: &mut [Jet<N>]) {
        self.q.iter_mut().zip(q).for_each(|(a, b)| *a = b.x);
        self.u.iter_mut().zip(u).for_each(|(a, b)| *a = b.x);
        self.values.kernel.sweep(&self.q, &self.u);
        if !self.values.model.forces.is_empty() {
            self.load(t, q, u);
        }
        self.values.kernel.solve(&mut self.du);
        self.linear.form(&self.values.kernel, &self.u);
        let Self { linear, changes, pushed, work, .. } = self;
        linear.tangents(&|c| (q[c].d, u[c].d), changes, pushed, work, &mut |c, d| du[c].d = *d);
        du.iter_mut().zip(&self.du).for_each(|(a, b)| a.x = *b);
    }
}
