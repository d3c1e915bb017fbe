//! Bounds of rounding errors if the motion itself gives no scale, as for loops that hardly move.

use super::NewtonEuler;
use fourbar::analysis::rank;
use fourbar::constraint::ConstraintSet;
use fourbar::model::Model;
use fourbar::motion::Instant;
use fourbar::state::Configuration;
use fourbar::topology::Topology;

/// Number of moving bodies above which the condition is not computed but assumed as [`USUAL`].
const DENSE: usize = 40;
/// Assumed condition of the constraints if it is not computed.
const USUAL: f64 = 1e3;
/// Number of poses along the motion at which forces are examined.
const POSES: usize = 8;

/// Bounds, in the order of [`super::QUANTITIES`], of the errors that rounding can cause within the study.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounding {
    /// Gap of a start at a double root of the constraints, metres: the error of the start is as large as its distance from rank deficiency,
    /// so that branches of motion cross within it.
    pub double_root: Option<f64>,
    /// Error at the end of the longest chain of joints, metres: one unit in the last place of the angle of every joint.
    pub position: f64,
    /// The corresponding rotation of a body that closes a loop there, radians.
    pub angle: f64,
    /// Velocity that rounded forces may cause in a body until the end, metres per second.
    pub speed: f64,
    /// Force error due to rounded positions and forces, newtons.
    pub force: f64,
    /// Largest force of the motion, part of the scale of reactions: they are differences of such forces.
    pub largest: f64,
}

/// Determines the bounds at the start and along one of the results.
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
    // Without forces there is still the force that moves the masses by a rounded position within a step.
    largest = largest.max(10.0 * f64::EPSILON * total * far / (step * step));
    let set = ConstraintSet::new(model.all_constraints(), |_| false);
    let condition =
        if model.moving() <= DENSE { rank::rank(model, &set, &start.q).smallest.map_or(USUAL, |s| 1.0 / s.max(1e-8)) } else { USUAL };
    // Accelerations come from a system with the squared condition of the constraints.
    let relative = 10.0 * f64::EPSILON * condition * condition;
    // At most what counts as equal, as if all forces moved all masses freely.
    let free = largest / total * t_end;
    let shaken = 10.0 * f64::EPSILON * condition * far / step;
    let speed = (relative * largest / lightest.max(1e-6 * total) * t_end + shaken).min(1e-8 * (free + model.length / t_end));
    let mut Phi = vec![0.0; set.rows()];
    set.residual(&start.q, &start.turns, start.t, &mut Phi);
    let gap = Phi.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let double_root = (condition * condition * gap > model.length).then_some(gap);
    let position = f64::EPSILON * longest_chain(model) as f64 * far;
    Rounding { double_root, position, angle: position / model.length, speed, force: relative.min(1e-7) * largest, largest }
}

/// Upper bound of the number of joints in the longest chain: twice those between the ground and the most distant body.
fn longest_chain(model: &Model) -> usize {
    let graph = Topology::new(model);
    let mut depth = vec![0; model.bodies.len()];
    // Within a component, bodies come after their parents.
    for b in graph.components.iter().flatten().map(|b| b.index()) {
        depth[b] = graph.parent[b].map_or(0, |p| depth[p.index()] + 1);
    }
    2 * depth.into_iter().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourbar::spec::{BodySpec, JointSpec, ModelSpec, PairKind, Placement};

    #[test]
    fn rounding_adds_up_along_a_chain() {
        // A hundred links of one metre in a row, and a short one beside them.
        let mut spec = ModelSpec::default();
        let mut join = |name: String, to: String, x: f64| {
            spec.bodies.push((name.clone(), BodySpec { mass: 1.0, at: [x, 0.0, 0.0], ..BodySpec::default() }));
            let placement = Placement::World { at: [x - 0.5, 0.0, 0.0], axis: [0.0, 0.0, 1.0], axis_moving: None };
            spec.joints.push((format!("J{name}"), JointSpec::Pair { kind: PairKind::Revolute, bodies: [to, name], placement }));
        };
        for k in 0..100 {
            join(format!("link{k}"), if k == 0 { "ground".into() } else { format!("link{}", k - 1) }, k as f64 + 0.5);
        }
        join("beside".into(), "ground".into(), 0.5);
        let model = spec.build().unwrap_or_else(|d| panic!("{}", d[0]));
        assert_eq!(longest_chain(&model), 200);
        let start = Configuration::start(&model);
        let r = measure(&model, &start, &[Instant::new(&model, &start)], 1.0, 0.01);
        assert!((r.position - 200.0 * 99.5 * f64::EPSILON).abs() < 1e-3 * r.position);
        assert!((r.angle - r.position / model.length).abs() < 1e-9 * r.angle);
    }
}
