//! Projection onto the constraints: positions, then velocities, each by the smallest correction in the metric of the masses.
//!
//! The factor of the last stage serves as the matrix of a simplified Newton iteration: that stage is close to the end of the step, so that
//! one or two corrections are sufficient. If not, the matrix is factored again.

use super::Lie;
use crate::diagnostic::Diagnostic;
use crate::projector::largest;
use crate::state::Twist;

/// Position residuals below this fraction of the extent are rounding, and velocity residuals below this fraction of the speed.
const CLOSED: f64 = 1e-13;
/// Maximum number of corrections in one step.
const CORRECTIONS: usize = 12;
/// A correction that leaves more than this fraction of the residual requires a new matrix.
const SLOW: f64 = 0.1;
/// A step may not be corrected by more than this fraction of the characteristic length.
const FARTHEST: f64 = 0.1;

impl Lie<'_> {
    /// Projects the state in `q`, `v`; returns whether it was changed.
    pub(super) fn project(&mut self, t: f64) -> Result<bool, Box<Diagnostic>> {
        let moved = self.project_positions(t)?;
        if !moved {
            self.equations.jacobian(&self.q);
        }
        Ok(self.project_velocities(t) || moved)
    }

    /// A new matrix at the pose in `q`, with the small compliance of outputs: the compliance of redundant rows in the stages would slow
    /// down the corrections where the others are nearly dependent.
    fn refactor(&mut self) {
        self.equations.jacobian(&self.q);
        std::mem::swap(&mut self.equations.eps, &mut self.yielding.even);
        self.equations.factor(1.0);
        std::mem::swap(&mut self.equations.eps, &mut self.yielding.even);
    }

    /// Corrects positions; leaves the Jacobian of the new ones in the equations.
    fn project_positions(&mut self, t: f64) -> Result<bool, Box<Diagnostic>> {
        let e = &mut self.equations;
        let L = e.model.length;
        let extent = self.q[1..].iter().fold(L, |m, q| m.max(q.r.amax()));
        let (mut last, mut fresh) = (f64::INFINITY, false);
        for n in 0..CORRECTIONS {
            let e = &mut self.equations;
            e.constraints(&self.q, &self.turns, t);
            let error = largest(&e.Phi);
            let good = error <= CLOSED * extent;
            // Rounding errors do not decrease: a stagnating residual far below any tolerance counts as closed.
            let still = n > 1 && error > 0.5 * last && error <= 1e3 * CLOSED * extent;
            if good || still {
                if n > 0 {
                    e.jacobian(&self.q);
                }
                return Ok(n > 0);
            }
            if !error.is_finite() || error > FARTHEST * L || (fresh && error > 0.9 * last) {
                break;
            }
            if error > SLOW * last && !fresh {
                self.refactor();
                fresh = true;
            }
            last = error;
            let e = &mut self.equations;
            e.p.x.copy_from_slice(&e.Phi);
            e.normal_part();
            for b in 1..self.q.len() {
                let d = e.p.dq[b].scaled(-1.0);
                self.q[b] = self.space.corrected(b, &self.q[b], &d);
            }
        }
        Err(Box::new(
            Diagnostic::new("S233", format!("the constraints cannot be closed again after the step to t = {t:.6} s"))
                .time(t)
                .help("a smaller step or tolerance may help; a singular position may be near"),
        ))
    }

    /// Corrects velocities with the Jacobian at `q` in the equations; returns whether they were changed.
    fn project_velocities(&mut self, t: f64) -> bool {
        let L = self.equations.model.length;
        let speed = self.v.iter().fold(1e-3 * L / self.tau, |m, v| m.max(v.v.amax()).max(L * v.w.amax()));
        let (mut last, mut fresh) = (f64::INFINITY, false);
        for n in 0..CORRECTIONS {
            let error = self.equations.velocity_residual(t, &self.v);
            if error <= CLOSED * speed || (n > 1 && error > 0.5 * last) || !error.is_finite() {
                return n > 0;
            }
            if error > SLOW * last && !fresh {
                self.refactor();
                fresh = true;
                self.equations.velocity_residual(t, &self.v);
            }
            last = error;
            self.equations.normal_part();
            for (v, d) in self.v.iter_mut().zip(&self.equations.p.dq) {
                *v = Twist { v: v.v - d.v, w: v.w - d.w };
            }
        }
        true
    }
}
