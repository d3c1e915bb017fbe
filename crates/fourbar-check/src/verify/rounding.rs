//! What rounding alone can produce, where the motion itself gives no scale: loops that do not move, or hardly.

use super::NewtonEuler;
use fourbar::analysis::rank;
use fourbar::constraint::ConstraintSet;
use fourbar::model::Model;
use fourbar::motion::Instant;
use fourbar::state::Configuration;

/// Above this many moving bodies the condition is not computed but taken as [`USUAL`].
const DENSE: usize = 40;
/// Condition of the constraints where it is not computed.
const USUAL: f64 = 1e3;
/// Poses along the motion at which forces are looked at.
const POSES: usize = 8;

/// Absolute sizes, in the order of [`super::QUANTITIES`], of what rounding can produce within the study.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounding {
    /// Gap of a start that is a double root of the constraints, metres: what it is off by is as large as its distance from dependence, so
    /// that branches of motion cross within it.
    pub double_root: Option<f64>,
    /// Twist that rounded forces may give a body until the end, metres per second.
    pub speed: f64,
    /// Force that rounded positions and forces may show up as, newtons.
    pub force: f64,
    /// Largest force of the motion, which belongs to the scale of reactions: they are differences of such forces.
    pub largest: f64,
}

/// Measures it at the start and along one of the results.
pub(super) fn measure(model: &Model, start: &Configuration, sample: &[Instant], t_end: f64, step: f64) -> Rounding {
    let mut laws = NewtonEuler::new(model);
    let every = (sample.len() / POSES).max(1);
    let mut largest = sample.iter().step_by(every).fold(0.0_f64, |m, s| m.max(laws.residual(s).2));
    if !largest.is_finite() {
        largest = 0.0;
    }
    let far = sample.iter().step_by(every).flat_map(|s| &s.q).fold(model.length, |m, q| m.max(q.r.norm()));
    let masses = || model.bodies.iter().skip(1).map(|b| b.mass);
    let (lightest, total) = (masses().fold(f64::INFINITY, f64::min), masses().sum::<f64>());
    if total <= 0.0 || !lightest.is_finite() {
        return Rounding::default();
    }
    // Where nothing acts there is still the force that moves the masses by a rounded position in the time of a step.
    largest = largest.max(10.0 * f64::EPSILON * total * far / (step * step));
    let set = ConstraintSet::new(model.all_constraints(), |_| false);
    let condition =
        if model.moving() <= DENSE { rank::rank(model, &set, &start.q).smallest.map_or(USUAL, |s| 1.0 / s.max(1e-8)) } else { USUAL };
    // Accelerations come from a system whose condition is the square of that of the constraints.
    let relative = 10.0 * f64::EPSILON * condition * condition;
    // Never more than what counts as equal, as if all forces moved all masses freely.
    let free = largest / total * t_end;
    let shaken = 10.0 * f64::EPSILON * condition * far / step;
    let speed = (relative * largest / lightest.max(1e-6 * total) * t_end + shaken).min(1e-8 * (free + model.length / t_end));
    let mut Phi = vec![0.0; set.rows()];
    set.residual(&start.q, &start.turns, start.t, &mut Phi);
    let gap = Phi.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let double_root = (condition * condition * gap > model.length).then_some(gap);
    Rounding { double_root, speed, force: relative.min(1e-7) * largest, largest }
}
