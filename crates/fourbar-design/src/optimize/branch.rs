//! Whether a case is put together as the file is: a mechanism that snaps into its other assembly mode while its lengths change is another
//! mechanism, and a wall of the search.

use fourbar::constraint::ConstraintSet;
use fourbar::evaluate::dense_rows;
use fourbar::joint::JointKind;
use fourbar::state::Configuration;
use fourbar::{Diagnostic, Model};
use nalgebra::DMatrix;

/// Most columns of the matrix whose sign is examined.
const MOST: usize = 600;

/// The branch of a mechanism whose drives prescribe everything: the sign of the determinant of independent rows, which vanishes only at the
/// singular positions between two assembly modes.
#[derive(Clone, Debug)]
pub struct Branch {
    rows: Vec<usize>,
    sign: f64,
}

/// The Jacobian of all rows; `None` where it would be large.
fn jacobian(model: &Model, at: &Configuration) -> Option<DMatrix<f64>> {
    if 6 * model.moving() > MOST {
        return None;
    }
    let mut set = ConstraintSet::new(model.all_constraints(), |_| false);
    set.choose(at.t);
    Some(dense_rows(model, &set, &at.q))
}

/// Whether all hinges have parallel axes, and all slides go across them.
fn planar(model: &Model, at: &Configuration) -> bool {
    let axis = |j: &fourbar::model::Joint| at.q[j.bodies[0].index()].A * j.F.axis(2);
    let mut hinges = model.joints.iter().filter(|j| matches!(j.kind, JointKind::Revolute(_))).map(axis);
    let Some(normal) = hinges.next() else { return false };
    model.joints.iter().all(|j| match j.kind {
        JointKind::Revolute(_) => axis(j).cross(&normal).norm() < 1e-6,
        JointKind::Prismatic(_) => axis(j).dot(&normal).abs() < 1e-6,
        JointKind::Fixed(_) => true,
        _ => false,
    })
}

/// Sign of the determinant of some rows; `None` where they are not as many as columns.
fn sign(G: &DMatrix<f64>, rows: &[usize]) -> Option<f64> {
    if rows.len() != G.ncols() || rows.iter().any(|&r| r >= G.nrows()) {
        return None;
    }
    let lu = G.select_rows(rows).lu();
    let d = lu.u().diagonal();
    let turned: f64 = lu.p().determinant();
    Some(d.iter().fold(turned, |s, x| s * x.signum()))
}

/// Independent rows: one after the other those that are farthest from the ones before.
fn independent(G: &DMatrix<f64>) -> Vec<usize> {
    let mut left = G.clone();
    for mut r in left.row_iter_mut() {
        let size = r.norm();
        if size > 0.0 {
            r /= size;
        }
    }
    let mut rows = Vec::new();
    while rows.len() < G.ncols() {
        let sizes: Vec<f64> = left.row_iter().map(|r| r.norm()).collect();
        let Some((k, size)) = sizes.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1)) else { break };
        if size < 1e-6 {
            break;
        }
        let q = left.row(k) / size;
        for mut r in left.row_iter_mut() {
            let along = r.dot(&q);
            r -= &q * along;
        }
        rows.push(k);
    }
    rows.sort_unstable();
    rows
}

impl Branch {
    /// Of a mechanism at its assembled start; `None` where drives do not prescribe everything. Of spatial mechanisms with redundant rows too:
    /// which rows depend on others changes with the position there, and the sign of some of them says nothing.
    pub fn of(model: &Model, start: &Configuration) -> Option<Self> {
        let G = jacobian(model, start)?;
        let rows = independent(&G);
        if rows.len() < G.nrows() && !planar(model, start) {
            return None;
        }
        let sign = sign(&G, &rows)?;
        Some(Self { rows, sign })
    }

    /// Why another mechanism is none of these: it is put together in another way.
    pub fn left(&self, model: &Model, start: &Configuration) -> Option<Diagnostic> {
        let other = sign(&jacobian(model, start)?, &self.rows)?;
        (other != self.sign).then(|| Diagnostic::new("W441", "the mechanism is assembled in another assembly mode"))
    }
}
