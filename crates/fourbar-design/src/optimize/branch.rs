//! Whether a case has the assembly mode of the file: a mechanism that changes its assembly mode while its lengths vary is a different
//! mechanism, and a barrier of the search.

use fourbar::constraint::ConstraintSet;
use fourbar::evaluate::dense_rows;
use fourbar::joint::JointKind;
use fourbar::state::Configuration;
use fourbar::{Diagnostic, Model};
use nalgebra::DMatrix;

/// Maximum number of columns of the matrix whose sign is determined.
const MOST: usize = 600;

/// The branch of a mechanism whose motion is fully driven: the sign of the determinant of independent rows, which vanishes only at the
/// singular positions between two assembly modes.
#[derive(Clone, Debug)]
pub struct Branch {
    rows: Vec<usize>,
    sign: f64,
}

/// The Jacobian of all rows; `None` if it would be large.
fn jacobian(model: &Model, at: &Configuration) -> Option<DMatrix<f64>> {
    if 6 * model.moving() > MOST {
        return None;
    }
    let mut set = ConstraintSet::new(model.all_constraints(), |_| false);
    set.choose(at.t);
    Some(dense_rows(model, &set, &at.q))
}

/// Whether all hinges have parallel axes, and all slides are perpendicular to them.
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

/// Sign of the determinant of some rows; `None` if the matrix is not square.
fn sign(G: &DMatrix<f64>, rows: &[usize]) -> Option<f64> {
    if rows.len() != G.ncols() || rows.iter().any(|&r| r >= G.nrows()) {
        return None;
    }
    let lu = G.select_rows(rows).lu();
    let d = lu.u().diagonal();
    let turned: f64 = lu.p().determinant();
    Some(d.iter().fold(turned, |s, x| s * x.signum()))
}

/// Independent rows: successively those farthest from the span of the previous ones.
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
    /// The branch at an assembled start; `None` if drives do not prescribe all motion, and for spatial mechanisms with redundant rows:
    /// there the dependent rows change with the position, so that the sign for a fixed selection has no meaning.
    pub fn of(model: &Model, start: &Configuration) -> Option<Self> {
        let G = jacobian(model, start)?;
        let rows = independent(&G);
        if rows.len() < G.nrows() && !planar(model, start) {
            return None;
        }
        let sign = sign(&G, &rows)?;
        Some(Self { rows, sign })
    }

    /// The diagnostic for a mechanism in a different assembly mode, if it is.
    pub fn left(&self, model: &Model, start: &Configuration) -> Option<Diagnostic> {
        let other = sign(&jacobian(model, start)?, &self.rows)?;
        (other != self.sign).then(|| Diagnostic::new("W441", "the mechanism is assembled in another assembly mode"))
    }
}
