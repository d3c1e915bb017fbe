//! Newton-Euler equations of every body, evaluated from poses, velocities, accelerations, reactions and efforts alone, without the matrices
//! of any formulation.
//!
//! Forces of couplings have no columns, and those of bare constraints and rolling do not describe their complete effect on the other body;
//! in mechanisms with such elements the part of the residual that they can balance is removed by least squares, and the remainder is
//! reported.

use fourbar::constraint::{ConstraintSet, Owner};
use fourbar::force::eval;
use fourbar::model::{JointCoordinate, Model};
use fourbar::motion::Instant;
use fourbar::state::Wrench;
use nalgebra::{DMatrix, DVector};

/// Number of moving bodies above which the least squares are omitted and only bodies without such constraints are examined.
const DENSE: usize = 200;

/// Evaluates the residual; keeps the constraints without columns.
pub struct NewtonEuler<'m> {
    model: &'m Model,
    /// Couplings, bare constraints, rolling.
    others: ConstraintSet,
    drives: ConstraintSet,
    drive_of: Vec<usize>,
}

impl<'m> NewtonEuler<'m> {
    /// Set up for a model.
    pub fn new(model: &'m Model) -> Self {
        let (mut others, mut drives, mut drive_of) = (Vec::new(), Vec::new(), Vec::new());
        for c in model.all_constraints() {
            match c.owner {
                Owner::Joint(_) => {}
                Owner::Drive(k) => {
                    drive_of.push(k);
                    drives.push(c);
                }
                _ => others.push(c),
            }
        }
        let set = |list| ConstraintSet::new(list, |_| false);
        Self { model, others: set(others), drives: set(drives), drive_of }
    }

    /// Largest residual in newtons (torques divided by the characteristic length) with its body, and the largest force in the balance.
    pub fn residual(&mut self, s: &Instant) -> (f64, usize, f64) {
        let model = self.model;
        let n = model.bodies.len();
        self.others.choose(s.t);
        let mut loads = vec![0.0; model.joints.len()];
        s.loads(model, &mut loads);
        let mut applied = vec![Wrench::zero(); n];
        match &s.switched {
            None => eval::applied(model, &s.plain(&loads), &mut applied),
            Some(switched) => switched.applied(model, &s.plain(&loads), &mut applied),
        }
        let L = model.length;
        let mut size = 0.0_f64;
        let mut r = vec![Wrench::zero(); n];
        for b in 1..n {
            let (body, v, a) = (&model.bodies[b], &s.v[b], &s.a[b]);
            let inertia = Wrench { F: a.v * body.mass, T: body.J_bar * a.w + v.w.cross(&(body.J_bar * v.w)) };
            size = size.max(inertia.F.norm()).max(inertia.T.norm() / L).max(applied[b].F.norm()).max(applied[b].T.norm() / L);
            // A free body has no forces for comparison: the rates of its momenta are used instead.
            size = size.max((body.J_bar * v.w).norm() * v.w.norm() / L);
            r[b] = inertia.plus(&applied[b].scaled(-1.0));
        }
        for (k, joint) in model.joints.iter().enumerate() {
            let w = &s.reactions[k];
            size = size.max(w.force.norm()).max(w.torque.norm() / L);
            let [i, j] = joint.bodies.map(|b| b.index());
            // The wrench acts at the joint point of the moving body, and its opposite at the same point on the other body.
            let at = s.q[j].point(&joint.M.s);
            for (b, sign) in [(i, 1.0), (j, -1.0)] {
                let torque = w.torque + (at - s.q[b].r).cross(&w.force);
                r[b].F += w.force * sign;
                r[b].T += s.q[b].A.tr_mul(&torque) * sign;
            }
        }
        let mut G = vec![0.0; self.drives.values];
        self.drives.jacobian(&s.q, &mut G);
        let lambda: Vec<f64> = self
            .drive_of
            .iter()
            .map(|&k| -s.efforts[k] / if model.drives[k].coordinate == JointCoordinate::Angle { L } else { 1.0 })
            .collect();
        self.drives.add_transposed(&G, &lambda, 1.0, &mut r);
        let skip = self.take_out_others(s, &mut r);
        let (worst, body) = (1..n).filter(|&b| !skip[b]).fold((0.0_f64, 0), |m, b| {
            let x = r[b].F.norm().max(r[b].T.norm() / L);
            let x = if x.is_nan() { f64::INFINITY } else { x };
            if x > m.0 { (x, b) } else { m }
        });
        (worst, body, size)
    }

    /// Removes what constraints without columns can balance; returns which bodies could not be treated.
    fn take_out_others(&self, s: &Instant, r: &mut [Wrench]) -> Vec<bool> {
        let (set, n) = (&self.others, r.len());
        let mut skip = vec![false; n];
        if set.rows() == 0 {
            return skip;
        }
        if n > DENSE {
            for c in 0..set.list.len() {
                for b in set.blocks_of(c) {
                    skip[b.body] = true;
                }
            }
            return skip;
        }
        let L = self.model.length;
        let mut G = vec![0.0; set.values];
        set.jacobian(&s.q, &mut G);
        let mut A = DMatrix::zeros(6 * n, set.rows());
        for c in 0..set.list.len() {
            for b in set.blocks_of(c) {
                for (k, row) in G[b.start..].chunks_exact(6).take(set.row_start[c + 1] - set.row_start[c]).enumerate() {
                    for l in 0..6 {
                        A[(6 * b.body + l, set.row_start[c] + k)] = if l < 3 { row[l] } else { row[l] / L };
                    }
                }
            }
        }
        let flat = DVector::from_iterator(6 * n, r.iter().flat_map(|x| [x.F.x, x.F.y, x.F.z, x.T.x / L, x.T.y / L, x.T.z / L]));
        // The balance of the ground is not examined.
        for k in 0..6 {
            A.row_mut(k).fill(0.0);
        }
        let Some(svd) = fourbar_math::dense::svd(A.clone(), true, true) else { return skip };
        // Singular vectors of equal singular values may have errors above rounding: the remainder is fitted again.
        let mut rest = flat;
        for _ in 0..3 {
            let Ok(fit) = svd.solve(&rest, 1e-10) else { return skip };
            rest -= &A * fit;
        }
        for b in 1..n {
            for k in 0..3 {
                r[b].F[k] = rest[6 * b + k];
                r[b].T[k] = rest[6 * b + 3 + k] * L;
            }
        }
        skip[0] = true;
        skip
    }
}
