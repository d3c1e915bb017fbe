//! A state varied along one direction of poses, velocities and auxiliary variables, from which forces and rates are differentiated.

use fourbar::Model;
use fourbar::coordinate::PoseOf;
use fourbar::evaluate::stacked;
use fourbar::force::Force;
use fourbar::force::eval::{States, VelocityOf, law_value};
use fourbar::state::{Configuration, Twist, Wrench};
use fourbar_math::so3::tilde;
use fourbar_math::{Dual, Taylor};
use nalgebra::{DVector, Matrix3, Vector3};

/// A direction of the state, by body with ground first, and of the auxiliary variables; empty parts do not vary.
#[derive(Clone, Copy, Debug, Default)]
pub struct Direction<'a> {
    /// Of poses.
    pub q: &'a [Twist],
    /// Of velocities.
    pub v: &'a [Twist],
    /// Of inputs, their slopes, and states.
    pub z: &'a [f64],
}

/// The state with derivatives along a direction.
#[derive(Clone, Copy, Debug)]
pub struct Along<'a> {
    /// The state.
    pub state: &'a Configuration,
    /// Direction of the variation.
    pub direction: Direction<'a>,
}

impl States<Dual> for Along<'_> {
    fn time(&self) -> f64 {
        self.state.t
    }
    fn pose(&self, b: usize) -> PoseOf<Dual> {
        let q = &self.state.q[b];
        let d = self.direction.q.get(b).copied().unwrap_or_default();
        let dA = q.A * tilde(&d.w);
        PoseOf {
            r: Vector3::from_fn(|i, _| Taylor::with_slope(q.r[i], d.v[i])),
            A: Matrix3::from_fn(|i, j| Taylor::with_slope(q.A[(i, j)], dA[(i, j)])),
        }
    }
    fn velocity(&self, b: usize) -> VelocityOf<Dual> {
        let v = &self.state.v[b];
        let d = self.direction.v.get(b).copied().unwrap_or_default();
        VelocityOf {
            v: Vector3::from_fn(|i, _| Taylor::with_slope(v.v[i], d.v[i])),
            w: Vector3::from_fn(|i, _| Taylor::with_slope(v.w[i], d.w[i])),
        }
    }
    fn turn(&self, memory: usize) -> f64 {
        self.state.turns[memory]
    }
    fn load(&self, _joint: usize) -> Dual {
        Taylor::with_slope(0.0, 0.0)
    }
    fn auxiliary(&self, k: usize) -> Dual {
        Taylor::with_slope(self.state.z[k], self.direction.z.get(k).copied().unwrap_or(0.0))
    }
}

impl Along<'_> {
    /// Change of the wrench of a force element.
    pub fn force(&self, model: &Model, force: &Force) -> DVector<f64> {
        let mut out = vec![Wrench::zero(); model.bodies.len()];
        force.wrench(model, self, &mut |b, F, T| {
            for k in 0..3 {
                out[b].F[k] += F[k].c[1];
                out[b].T[k] += T[k].c[1];
            }
        });
        stacked(&out)
    }

    /// Work of the change of the wrench of a force element along a motion, by body with ground first.
    pub fn work(&self, model: &Model, force: &Force, motion: &[Twist]) -> f64 {
        let mut sum = 0.0;
        force.wrench(model, self, &mut |b, F, T| {
            (0..3).for_each(|k| sum += F[k].c[1] * motion[b].v[k] + T[k].c[1] * motion[b].w[k]);
        });
        sum
    }

    /// Change of all forces.
    pub fn forces(&self, model: &Model) -> DVector<f64> {
        model.forces.iter().fold(DVector::zeros(6 * model.moving()), |sum, (_, f)| sum + self.force(model, f))
    }

    /// Changes of the rates of inputs and states.
    pub fn rates(&self, model: &Model) -> DVector<f64> {
        let mut out = vec![Taylor::with_slope(0.0, 0.0); model.auxiliaries()];
        model.auxiliary_rates(self, &mut out);
        DVector::from_iterator(out.len(), out.iter().map(|x| x.c[1]))
    }

    /// Value and derivative of a law used by outputs or forces.
    pub fn law(&self, model: &Model, law: &fourbar::force::StateLaw) -> Dual {
        law_value(model, law, self, (Taylor::with_slope(0.0, 0.0), Taylor::with_slope(0.0, 0.0)))
    }
}
