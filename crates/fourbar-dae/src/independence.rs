//! How near the constraints are to depending on each other, anywhere in a step: singular positions are found without taking them
//! for steps.

use crate::integrate::Integrator;
use crate::project::Projection;

/// Storage for [`Integrator::smallest_part`].
#[derive(Debug, Clone)]
pub struct Independence {
    projection: Projection,
}

impl Integrator {
    /// Prepares to look at the constraints of this problem; `None` if it has none. `sizes` are the units of the
    /// variables; one of zero, or none, takes a variable as given.
    pub fn independence(&self, sizes: &[f64]) -> Option<Independence> {
        let e = &self.engine;
        let k = e.plan.d_max;
        if k == 0 || !(0..e.weight.len()).any(|i| e.c(i) == k) {
            return None;
        }
        // Pivots stay where they are, so that the result is continuous.
        let mut projection = Projection::new(&e.problem, &e.plan, k, 0, 0.0);
        for (w, &j) in projection.scale.iter_mut().zip(&projection.variables) {
            *w = sizes.get(j as usize).copied().unwrap_or(0.0);
        }
        Some(Independence { projection })
    }

    /// The smallest part of a constraint's gradient that the gradients before it do not have, where all are of length one: 0 where
    /// they depend on each other, growing with the distance from there. At a time of the last step or near it; needs a step.
    pub fn smallest_part(&mut self, t: f64, of: &mut Independence) -> f64 {
        let e = &mut self.engine;
        let k = -(e.plan.d_max as i32);
        let (from, tau) = (e.taylor.t, (t - e.taylor.t) / e.taylor.scale);
        // The values at `t` stand in for those at the start of the step, which are put back afterwards.
        for i in 0..of.projection.variables.len() {
            let j = of.projection.variables[i] as usize;
            of.projection.right[i] = e.series(j)[0];
            let value = crate::roots::value(e.series(j), tau);
            e.put_variable(j, 0, value);
        }
        e.taylor.t = t;
        e.taylor.stage(k);
        e.linearise(k);
        let factored = of.projection.factor(&e.jacobian) > 0.0;
        e.taylor.t = from;
        for i in 0..of.projection.variables.len() {
            e.put_variable(of.projection.variables[i] as usize, 0, of.projection.right[i]);
        }
        e.taylor.stage(k);
        if factored { of.projection.smallest_part() } else { 0.0 }
    }
}
