//! Whether a parameter can change alone.
//!
//! Joints stay closed to first order if `G q_p = -Phi_p` has a solution, that is, if `Z^T Phi_p = 0` for every self-stress `Z`. A mechanism
//! that is overconstrained only because of its particular dimensions has no solution for a single parameter; combinations of parameters
//! whose `Z^T Phi_p` cancel are possible.

use super::Parameters;
use super::around::Around;
use super::state::Varied;
use crate::operator::without_dry_friction;
use fourbar::analysis::assembly::assemble;
use fourbar::diagnostic::number;
use fourbar::state::Configuration;
use fourbar::{Diagnostic, Error, Model};
use fourbar_math::dense;
use nalgebra::{DMatrix, DVector};

/// Part of `Phi_p` that no motion closes, as a share of the whole, below which it is rounding.
const OPEN: f64 = 1e-6;
/// Gaps for a change by the whole parameter, in characteristic lengths, that are rounding.
const ROUNDING: f64 = 1e-9;
/// Singular values below this share of the largest are rounding.
const RANK: f64 = 1e-9;

/// The changes of the rows that motions can cause: gaps of points in metres, sines of angles.
pub(super) struct Closed {
    /// Factors that convert rows to metres and sines.
    weights: DVector<f64>,
    /// An orthonormal basis.
    basis: DMatrix<f64>,
}

impl Closed {
    fn new(varied: &Varied<'_>, at: &Configuration) -> Option<Self> {
        let rows = varied.op.set().list.iter().flat_map(|c| &c.rows);
        let each = rows.flat_map(|r| std::iter::repeat_n(if r.is_rotation() { 1.0 / varied.op.model.length } else { 1.0 }, r.count()));
        let weights: Vec<f64> = each.zip(varied.positions()).filter(|(_, position)| **position).map(|(w, _)| w).collect();
        let weights = DVector::from_vec(weights);
        let mut P = varied.spaces(at).P;
        P.row_iter_mut().zip(weights.iter()).for_each(|(mut row, w)| row *= *w);
        let svd = dense::svd(P, true, false)?;
        let (u, s) = (svd.u?, svd.singular_values);
        let counts: Vec<usize> = (0..s.len()).filter(|&k| s[k] > RANK * s.amax()).collect();
        Some(Self { weights, basis: DMatrix::from_fn(u.nrows(), counts.len(), |i, j| u[(i, counts[j])]) })
    }

    /// Derivatives of the rows with respect to a parameter, and the part that no motion closes: the component normal to all changes that
    /// motions can cause.
    fn open_by(&self, varied: &Varied<'_>, k: usize, at: &Configuration) -> [DVector<f64>; 2] {
        let by = varied.gaps_by(k, at).component_mul(&self.weights);
        let rest = &by - &self.basis * self.basis.tr_mul(&by);
        [by, rest]
    }
}

/// Rate at which the joints of a mechanism at its start would open if each parameter changed alone, in metres (and sines of angles) per
/// unit of the parameter: the norm of `Z^T Phi_p` with an orthonormal `Z`. Zero up to rounding for a parameter that can change alone.
pub fn openings(parameters: &Parameters<'_>, which: &[usize]) -> Result<Vec<f64>, Error> {
    let model = without_dry_friction(&parameters.model()?).0;
    let at = assemble(&model)?.configuration;
    let around = which.iter().map(|&k| parameters.around(k, &model)).collect::<Result<Vec<Around>, Error>>()?;
    let mut varied = Varied::new(&model, &around, &at);
    varied.choose(at.t);
    let at = varied.closed(&at);
    let Some(closed) = Closed::new(&varied, &at) else { return Ok(vec![f64::NAN; which.len()]) };
    Ok((0..which.len()).map(|i| closed.open_by(&varied, i, &at)[1].norm()).collect())
}

/// Rejects parameters that cannot change alone.
pub(super) fn check(parameters: &Parameters<'_>, varied: &Varied<'_>, at: &Configuration, which: &[usize]) -> Result<(), Error> {
    if varied.spaces(at).positions.redundant() == 0 {
        return Ok(());
    }
    let at = varied.closed(at);
    let Some(closed) = Closed::new(varied, &at) else { return Ok(()) };
    let sizes = parameters.values_of(which);
    for (i, &k) in which.iter().enumerate() {
        let [by, rest] = closed.open_by(varied, i, &at);
        if rest.norm() > OPEN * by.norm() && rest.norm() * sizes[i] > ROUNDING * varied.op.model.length {
            return Err(refusal(parameters, varied, &at, &closed, k, &rest).into());
        }
    }
    Ok(())
}

/// Diagnostic for a parameter that cannot change alone, with those that may change with it.
fn refusal(
    parameters: &Parameters<'_>,
    varied: &Varied<'_>,
    at: &Configuration,
    closed: &Closed,
    k: usize,
    rest: &DVector<f64>,
) -> Diagnostic {
    let name = &parameters.names[k];
    let partners = partners(parameters, varied.op.model, at, closed, k);
    let set = varied.op.set();
    let rows = varied.positions().iter().enumerate().filter(|(_, p)| **p).map(|(r, _)| r);
    let mut joints: Vec<String> = Vec::new();
    for (_, r) in rest.iter().zip(rows).filter(|(x, _)| x.abs() > 0.05 * rest.amax()) {
        let joint = set.list[set.constraint_of_row(r)].name.clone();
        if !joints.contains(&joint) {
            joints.push(joint);
        }
    }
    let list: Vec<String> = joints.iter().take(6).map(|j| format!("`{j}`")).collect();
    let message = format!(
        "`{name}` cannot change alone: the loop of {} would open by {} m for each unit of it",
        list.join(", "),
        number(rest.norm())
    );
    let help = match partners {
        Some(ratios) if ratios.len() > 1 => {
            let names: Vec<String> = ratios.iter().map(|(n, _)| format!("`{n}`")).collect();
            let numbers: Vec<String> = ratios.iter().map(|(_, x)| number(*x)).collect();
            format!("{} may change together in the ratio {}", names.join(", "), numbers.join(" : "))
        }
        _ => "no other parameter of the file can make up for it".into(),
    };
    Diagnostic::new("S430", message).names(std::iter::once(name.clone()).chain(joints)).help(help)
}

/// The parameters that must change with one, with their changes per unit of it; `None` where there are none.
fn partners(parameters: &Parameters<'_>, model: &Model, at: &Configuration, closed: &Closed, k: usize) -> Option<Vec<(String, f64)>> {
    // Parameters that cannot be varied at all are not candidates.
    let (all, around): (Vec<usize>, Vec<Around>) =
        (0..parameters.names.len()).filter_map(|i| parameters.around(i, model).ok().map(|a| (i, a))).unzip();
    let varied = Varied::new(model, &around, at);
    let columns: Vec<DVector<f64>> = (0..all.len()).map(|i| closed.open_by(&varied, i, at)).map(|[_, rest]| rest).collect();
    let own = all.iter().position(|i| *i == k)?;
    let size = columns[own].norm();
    let helping: Vec<usize> = (0..all.len()).filter(|&i| i != own && columns[i].norm() > OPEN * size).collect();
    if helping.is_empty() {
        return None;
    }
    let A = DMatrix::from_fn(columns[own].len(), helping.len(), |r, c| columns[helping[c]][r]);
    let svd = dense::svd(A.clone(), true, true)?;
    let x = svd.solve(&(-&columns[own]), 1e-9 * svd.singular_values.amax()).ok()?;
    if (&A * &x + &columns[own]).norm() > 1e-4 * size {
        return None;
    }
    let mut list = vec![(parameters.names[k].clone(), 1.0)];
    list.extend(helping.iter().zip(x.iter()).filter(|(_, x)| x.abs() > 1e-6).map(|(i, x)| (parameters.names[all[*i]].clone(), *x)));
    Some(list)
}
