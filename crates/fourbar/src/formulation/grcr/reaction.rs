//! Reactions of all joints at an output time: closing joints from their multipliers, tree joints by an inward sum of wrenches.
//!
//! Where closings are redundant the reactions are those of minimum norm (torques divided by the characteristic length): every self-stress
//! of the closings is distributed over the joints by the same inward sum, and the combination of self-stresses that minimises the reactions
//! is added.

use super::loop_rows::Closings;
use super::mechanism::Mechanism;
use super::spatial::Six;
use crate::constraint::Owner;
use crate::model::JointCoordinate;
use crate::motion::{Instant, Loads, Reaction};
use nalgebra::{DMatrix, DVector};

/// Up to this many self-stresses are combined by a dense factor, more of them by conjugate gradients.
const DENSE: usize = 300;
/// Loads below this fraction of a self-stress are rounding.
const NOTHING: f64 = 1e-15;

/// Fills reactions and efforts of an instant whose poses are those of the mechanism.
pub fn fill(m: &Mechanism<'_>, loads: &Loads, out: &mut Instant) {
    let mut multipliers = vec![0.0; m.closings.set.rows()];
    m.closings.unfold(&m.poses, &m.lambda, &mut multipliers);
    let inertia: Vec<Six> = (0..m.tree.nodes.len())
        .map(|k| {
            if k == 0 {
                return Six::default();
            }
            let (I, V) = (&m.fronts.bodies[k].I, &m.tree.at[k].V);
            let mut a = m.node_acceleration(k);
            a.l -= m.model.gravity;
            I.apply(&a) + V.cross_force(&I.apply(V)) - m.applied[k]
        })
        .collect();
    spread(m, loads, &m.closings, &multipliers, inertia, out);
    if m.selection.redundant > 0 {
        smallest(m, loads, &multipliers, out);
    }
}

/// Reactions and efforts from the multipliers of the closings and the wrenches required by the nodes.
fn spread(m: &Mechanism<'_>, loads: &Loads, closings: &Closings, multipliers: &[f64], mut W: Vec<Six>, out: &mut Instant) {
    let tree = &m.tree;
    loads.fill(m.model, &closings.set, multipliers, out);
    for (c, closing) in closings.list.iter().enumerate() {
        let constraint = &closings.set.list[c];
        let x = &multipliers[closing.first..closing.first + closing.rows];
        if x.iter().all(|x| *x == 0.0) {
            continue;
        }
        for (slot, b) in constraint.bodies.iter().enumerate() {
            let b = b.index();
            if b == 0 {
                continue;
            }
            let g = closings.set.generalized(c, slot, &m.poses, x);
            let k = tree.of_body[b];
            let rho = m.poses[b].r - tree.O[tree.nodes[k].patch];
            // The wrench on the body is -g; the joint to the parent must balance it.
            W[k] += Six::new(g.F, m.poses[b].A * g.T + rho.cross(&g.F));
        }
    }
    for k in (1..tree.nodes.len()).rev() {
        let n = &tree.nodes[k];
        if n.parent != 0 {
            let w = if n.shift { W[k].wrench_at(&-tree.offset(k)) } else { W[k] };
            W[n.parent] += w;
        }
        if let Some(j) = n.joint {
            let joint = &m.model.joints[j];
            let p = m.poses[joint.bodies[1].index()].point(&joint.M.s) - tree.O[n.patch];
            let w = W[k].wrench_at(&p) * if n.reversed { -1.0 } else { 1.0 };
            out.reactions[j] = Reaction { force: w.l, torque: w.a };
        }
    }
    for p in &tree.prescribed {
        let effort = tree.S[p.column].dot(&W[p.node]) * p.factor;
        out.efforts[p.drive] = effort;
        // The drive is a separate element: its part is not a reaction of the joint.
        let d = &m.model.drives[p.drive];
        let joint = &m.model.joints[d.joint];
        let z = m.poses[joint.bodies[0].index()].A * joint.F.axis(2);
        match d.coordinate {
            JointCoordinate::Angle => out.reactions[d.joint].torque -= z * effort,
            JointCoordinate::Distance => out.reactions[d.joint].force -= z * effort,
        }
    }
}

/// Loads due to a unit self-stress. They involve only the few bodies of its loop, whatever the size of the mechanism.
struct Stressed {
    reactions: Vec<(usize, Reaction)>,
    constraints: Vec<(usize, Reaction)>,
    efforts: Vec<(usize, f64)>,
}

impl Stressed {
    fn new(part: &Instant, L: f64, k: f64) -> Self {
        let felt = |w: &Reaction| w.force.amax().max(w.torque.amax() / L) * k > NOTHING;
        let listed = |list: &[Reaction]| {
            let scaled = |(j, w): (usize, &Reaction)| (j, Reaction { force: w.force * k, torque: w.torque * k });
            list.iter().enumerate().filter(|(_, w)| felt(w)).map(scaled).collect()
        };
        let efforts = part.efforts.iter().enumerate().filter(|(_, e)| e.abs().max(e.abs() / L) * k > NOTHING);
        Self {
            reactions: listed(&part.reactions),
            constraints: listed(&part.constraints),
            efforts: efforts.map(|(d, e)| (d, e * k)).collect(),
        }
    }

    fn add(&self, z: f64, out: &mut Instant) {
        for (list, to) in [(&self.reactions, &mut out.reactions), (&self.constraints, &mut out.constraints)] {
            for (j, w) in list {
                to[*j].force += w.force * z;
                to[*j].torque += w.torque * z;
            }
        }
        for (d, effort) in &self.efforts {
            out.efforts[*d] += effort * z;
        }
    }
}

/// Adds the combination of self-stresses that minimises the reactions.
fn smallest(m: &Mechanism<'_>, loads: &Loads, multipliers: &[f64], out: &mut Instant) {
    let (all, stresses) = m.self_stresses();
    let mut part = out.clone();
    let mut own = vec![0.0; all.set.rows()];
    let (columns, N): (Vec<Stressed>, Vec<Vec<(usize, f64)>>) = stresses
        .iter()
        .map(|s| {
            own.fill(0.0);
            for (c, y) in s {
                let closing = &all.list[*c];
                let x = &mut own[closing.first..closing.first + closing.rows];
                x.copy_from_slice(y);
                all.unfold_rows(closing, &m.poses, x);
            }
            spread(m, loads, &all, &own, vec![Six::default(); m.tree.nodes.len()], &mut part);
            let x = measured(m, &all, &own, &part);
            let size = x.iter().map(|x| x * x).sum::<f64>().sqrt();
            let k = if size > 0.0 { 1.0 / size } else { 0.0 };
            let column = x.iter().map(|x| x * k).enumerate().filter(|(_, x)| x.abs() > NOTHING).collect();
            (Stressed::new(&part, m.model.length, k), column)
        })
        .unzip();
    let z = minimise(&N, measured(m, &all, multipliers, out));
    columns.iter().zip(z).for_each(|(column, z)| column.add(z, out));
}

/// Quantities to minimise: forces and torques over the characteristic length of joints and drives, then the multipliers of couplings, bare
/// rows and rolling. A self-stress may load the latter alone: planets can brace each other by their teeth without a load on any bearing.
fn measured(m: &Mechanism<'_>, closings: &Closings, multipliers: &[f64], i: &Instant) -> Vec<f64> {
    let L = m.model.length;
    let mut x: Vec<f64> = i.reactions.iter().flat_map(|w| w.force.iter().copied().chain(w.torque.iter().map(move |x| x / L))).collect();
    x.extend(i.efforts.iter().zip(&m.model.drives).map(|(effort, d)| match d.coordinate {
        JointCoordinate::Angle => effort / L,
        JointCoordinate::Distance => *effort,
    }));
    for c in closings.list.iter().filter(|c| !matches!(c.owner, Owner::Joint(_) | Owner::Drive(_))) {
        x.extend_from_slice(&multipliers[c.first..c.first + c.rows]);
    }
    x
}

/// `z` that minimises `w + N z`; columns of `N` are sparse and of unit length.
fn minimise(N: &[Vec<(usize, f64)>], mut w: Vec<f64>) -> Vec<f64> {
    let k = N.len();
    let dot = |n: &[(usize, f64)], w: &[f64]| n.iter().map(|(r, x)| x * w[*r]).sum::<f64>();
    let mut z = vec![0.0; k];
    if k <= DENSE {
        let mut A = DMatrix::zeros(k, k);
        let mut dense = vec![0.0; w.len()];
        for i in 0..k {
            N[i].iter().for_each(|(r, x)| dense[*r] = *x);
            for j in 0..=i {
                let x = dot(&N[j], &dense);
                A[(i, j)] = x;
                A[(j, i)] = x;
            }
            N[i].iter().for_each(|(r, _)| dense[*r] = 0.0);
            // Self-stresses are independent; the shift only guards against rounding.
            A[(i, i)] += 1e-14;
        }
        let Some(factor) = A.cholesky() else { return z };
        for _ in 0..2 {
            let d = factor.solve(&DVector::from_fn(k, |i, _| -dot(&N[i], &w)));
            for i in 0..k {
                z[i] += d[i];
                N[i].iter().for_each(|(r, x)| w[*r] += x * d[i]);
            }
        }
        return z;
    }
    // Conjugate gradients on the normal equations.
    let mut s: Vec<f64> = N.iter().map(|n| -dot(n, &w)).collect();
    let mut p = s.clone();
    let mut size: f64 = s.iter().map(|x| x * x).sum();
    let first = size;
    for _ in 0..2 * k {
        if size <= 1e-26 * first {
            break;
        }
        let mut t = vec![0.0; w.len()];
        for (n, p) in N.iter().zip(&p) {
            n.iter().for_each(|(r, x)| t[*r] += x * p);
        }
        let alpha = size / t.iter().map(|x| x * x).sum::<f64>();
        for i in 0..k {
            z[i] += alpha * p[i];
        }
        w.iter_mut().zip(&t).for_each(|(w, t)| *w += alpha * t);
        s = N.iter().map(|n| -dot(n, &w)).collect();
        let new: f64 = s.iter().map(|x| x * x).sum();
        let beta = new / size;
        p.iter_mut().zip(&s).for_each(|(p, s)| *p = s + beta * *p);
        size = new;
    }
    z
}
