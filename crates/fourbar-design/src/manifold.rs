//! Motion on the constraint manifold: a step along free motions, followed by a projection that closes all joints.

use crate::operator::Space;
use fourbar::Model;
use fourbar::analysis::assembly::{flipped_joint, update_turns};
use fourbar::constraint::ConstraintSet;
use fourbar::evaluate::{by_body, dense_rows, stacked};
use fourbar::state::{Configuration, Twist};
use nalgebra::DVector;

/// Maximum number of corrections with one Jacobian before a new one is formed.
const CHORD: usize = 8;
/// Maximum number of new Jacobians.
const FRESH: usize = 8;
/// Gaps below this share of the characteristic length, or of the coordinates, are closed.
const CLOSED: f64 = 1e-14;
/// Gaps below this share that no longer decrease are rounding errors.
const ROUNDING: f64 = 1e-11;
/// If a correction reduces the gaps by less than this factor, a new Jacobian is formed.
const SLOW: f64 = 0.3;

/// The constraints on positions of a mechanism.
pub struct Manifold<'m> {
    /// The mechanism.
    pub model: &'m Model,
    set: ConstraintSet,
    size: f64,
}

impl<'m> Manifold<'m> {
    /// Set up with drives fixed at their values at the time of a configuration.
    pub fn new(model: &'m Model, at: &Configuration) -> Self {
        let mut set = ConstraintSet::new(model.constraints(true), |_| false);
        set.choose(at.t);
        let reach = at.q.iter().fold(model.length, |s, q| s.max(q.r.amax()));
        Self { model, set, size: reach }
    }

    /// Largest open gap, m.
    pub fn gap(&self, c: &Configuration) -> f64 {
        self.residual(c).amax()
    }

    fn residual(&self, c: &Configuration) -> DVector<f64> {
        let mut Phi = DVector::zeros(self.set.rows());
        self.set.residual(&c.q, &c.turns, c.t, Phi.as_mut_slice());
        Phi
    }

    /// The tangent space at a configuration.
    pub fn space(&self, c: &Configuration) -> Space {
        Space::new(self.model, &dense_rows(self.model, &self.set, &c.q))
    }

    /// Moves by an increment and closes all joints; `None` if they do not close nearby.
    pub fn moved(&self, c: &Configuration, space: &Space, dq: &DVector<f64>) -> Option<Configuration> {
        let mut x = stepped(c, dq);
        self.close(&mut x, space).then_some(x)
    }

    /// Closes all joints by the smallest corrections; `false` on failure.
    pub fn close(&self, x: &mut Configuration, space: &Space) -> bool {
        let mut own: Option<Space> = None;
        let mut last = f64::INFINITY;
        for _ in 0..FRESH {
            for _ in 0..CHORD {
                update_turns(self.model, &x.q, &mut x.turns);
                let Phi = self.residual(x);
                let size = Phi.amax();
                if !size.is_finite() || size > 1e3 * self.size {
                    return false;
                }
                if settled(size, last, self.size) {
                    return flipped_joint(self.model, &x.q).is_none();
                }
                let slow = size > SLOW * last;
                last = size;
                let d = -own.as_ref().unwrap_or(space).increment(&Phi);
                *x = stepped(x, &d);
                if slow {
                    break;
                }
            }
            own = Some(self.space(x));
            last = f64::INFINITY;
        }
        false
    }

    /// The increment that leads from one configuration to another.
    pub fn between(from: &Configuration, to: &Configuration) -> DVector<f64> {
        let list: Vec<Twist> = from.q.iter().zip(&to.q).map(|(a, b)| a.increment_to(b)).collect();
        stacked(&list)
    }
}

/// Whether a gap counts as closed in a mechanism of some extent, where the previous correction left `last`.
pub fn settled(gap: f64, last: f64, extent: f64) -> bool {
    gap <= CLOSED * extent || (gap <= ROUNDING * extent && gap >= 0.5 * last)
}

/// The configuration with its poses moved by an increment.
pub fn stepped(c: &Configuration, dq: &DVector<f64>) -> Configuration {
    let mut x = c.clone();
    for (q, d) in x.q.iter_mut().zip(&by_body(dq)) {
        *q = q.moved(d);
    }
    x
}
