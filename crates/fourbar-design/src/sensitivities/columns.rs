//! Rows of results and their derivatives along tangents.
//!
//! Each perturbed mechanism is moved along the tangent, closed, and evaluated. Any smooth curve with the right tangent gives the right
//! derivative, so that columns of any kind are covered.

use super::Parameters;
use super::around::{Around, SHARES};
use super::state::{Spaces, Tangent};
use crate::manifold::{Manifold, stepped};
use crate::operator::lengths;
use fourbar::constraint::ConstraintSet;
use fourbar::evaluate::{by_body, dense_rows, stacked};
use fourbar::state::{Configuration, Twist};
use fourbar::trajectory::{Column, Recorder, Trajectory, WantedColumns, columns};
use fourbar::{Diagnostic, Error, Evaluation, Model};
use nalgebra::DVector;

/// Largest motion along a tangent, as a share of the size of the mechanism, for the widest parameter step.
const FAR: f64 = 0.02;
/// Maximum number of corrections of velocities.
const CORRECTIONS: usize = 20;

/// A row of a result at a state, and its derivatives.
pub(super) struct Row<'m> {
    pub model: &'m Model,
    parameters: &'m Parameters<'m>,
    which: &'m [usize],
    around: &'m [Around],
    /// Perturbed mechanisms with smaller steps, for large tangents.
    nearer: Vec<Option<(usize, Around)>>,
    recorder: Recorder,
}

impl<'m> Row<'m> {
    pub fn new(model: &'m Model, parameters: &'m Parameters<'m>, which: &'m [usize], around: &'m [Around]) -> Self {
        let nearer = which.iter().map(|_| None).collect();
        Self { model, parameters, which, around, nearer, recorder: Recorder::new(model, WantedColumns::ALL) }
    }

    /// A result without rows, with all columns.
    pub fn empty(&self) -> Trajectory {
        Trajectory::new(self.columns())
    }

    fn columns(&self) -> Vec<Column> {
        columns(self.model)
    }

    /// The row itself.
    pub fn value(&mut self, at: &Configuration) -> Result<Vec<f64>, Error> {
        let now = Evaluation::new(self.model, at)?;
        let mut out = Vec::new();
        self.recorder.row(self.model, now.instant(), &mut out);
        Ok(out)
    }

    /// Its derivative with respect to a parameter, along a tangent.
    pub fn slope(&mut self, k: usize, at: &Configuration, spaces: &Spaces, x: &Tangent) -> Result<Vec<f64>, Error> {
        self.come_near(k, x)?;
        let around = match &self.nearer[k] {
            Some((_, a)) => a,
            None => &self.around[k],
        };
        let mut sum: Vec<f64> = Vec::new();
        for (change, weight, model) in around.each() {
            let state = followed(model, at, spaces, x, change)?;
            let now = Evaluation::new(model, &state)?;
            let mut row = Vec::new();
            // Signs of quaternions follow those of the unperturbed row.
            self.recorder.clone().row(model, now.instant(), &mut row);
            sum.resize(row.len(), 0.0);
            sum.iter_mut().zip(&row).for_each(|(s, x)| *s += weight * x);
        }
        Ok(sum)
    }

    /// Builds perturbed mechanisms with smaller steps if the present ones would move far along the tangent.
    fn come_near(&mut self, k: usize, x: &Tangent) -> Result<(), Error> {
        let size = x.q.component_mul(&lengths(self.model)).amax() / self.model.length;
        let wide = self.around[k].h;
        let fits = |h: f64| 3.0 * h * size <= FAR;
        if fits(wide) {
            self.nearer[k] = None;
            return Ok(());
        }
        let own = self.which[k];
        let level = (0..SHARES.len()).find(|&l| fits(self.parameters.step(own, SHARES[l]))).unwrap_or(SHARES.len() - 1);
        if self.parameters.step(own, SHARES[level]) < wide && self.nearer[k].as_ref().is_none_or(|(l, _)| *l != level) {
            self.nearer[k] = Some((level, self.parameters.around_by(own, self.model, SHARES[level])?));
        }
        Ok(())
    }
}

/// A state of a perturbed mechanism along a tangent, with all joints closed and consistent velocities.
fn followed(model: &Model, at: &Configuration, spaces: &Spaces, x: &Tangent, change: f64) -> Result<Configuration, Error> {
    let mut s = stepped(at, &(&x.q * change));
    let open = || {
        let d = Diagnostic::new("S432", "the mechanism cannot be closed for values of a parameter near its own");
        Error::from(d.time(at.t).help("it is near a position that it cannot leave; ask for other parameters or another time"))
    };
    if !Manifold::new(model, at).close(&mut s, &spaces.positions) {
        return Err(open());
    }
    let mut set = ConstraintSet::new(model.all_constraints(), |_| false);
    set.choose(at.t);
    let G = dense_rows(model, &set, &s.q);
    let mut nu = DVector::zeros(set.rows());
    set.nu(s.t, nu.as_mut_slice());
    let mut v = stacked(&at.v) + &x.v * change;
    let mut last = f64::INFINITY;
    for _ in 0..CORRECTIONS {
        let d = spaces.all.increment(&(&G * &v - &nu));
        let size = d.norm();
        v -= d;
        if size <= 1e-15 * v.norm() || size >= 0.5 * last {
            break;
        }
        last = size;
    }
    s.v = by_body(&v);
    debug_assert_eq!(s.v.len(), at.v.len());
    s.v[0] = Twist::zero();
    Ok(s)
}
