//! Vibrations about a periodic motion: the tangent of the motion over one period, and its eigenvalues.
//!
//! Initial deviations span those that joints and rolling allow; their values after a period, in the same basis, form the monodromy matrix.
//! Its eigenvalues `mu` are the factors by which deviations grow in a period, and `ln(mu)/T` the exponents; their imaginary parts are known
//! up to multiples of `2 pi/T`. The motion may be periodic up to a rotation and a translation of the whole mechanism, as for a precessing
//! top and a rolling wheel.

use super::{C, Modes, eigen, finished};
use crate::linear::steady::Steady;
use crate::linear::{Request, linearize};
use crate::operator::{Operator, Space, lengths, without_dry_friction};
use crate::tangent::{Coefficients, Passes, coefficients};
use crate::words;
use fourbar::diagnostic::number;
use fourbar::evaluate::Evaluation;
use fourbar::inputs::Course;
use fourbar::simulation::Simulation;
use fourbar::state::Configuration;
use fourbar::study::{Analysis, Study};
use fourbar::{Diagnostic, Error, Model};
use nalgebra::{DMatrix, DVector, Matrix3, Vector3};
use std::sync::Arc;

/// Numbers of intervals in a period, and parts of an interval.
const INTERVALS: [usize; 3] = [16, 64, 256];
const PARTS: usize = 8;
/// Sufficient difference of two extrapolations, as a share of the largest entry.
const ENOUGH: f64 = 1e-8;
/// Tolerance of the motion.
const TOLERANCE: f64 = 1e-11;
/// Relative differences of the state after a period below which the motion is periodic.
const REPEATS: f64 = 1e-5;
/// Factors this close to one belong to rigid motions, without restoring forces.
const RIGID: f64 = 1e-4;

/// Exponents of the motion that starts at a state and has a period in s. Inputs have the values of the state.
pub fn floquet(model: &Model, state: &Configuration, period: f64) -> Result<Modes, Error> {
    crate::operator::fits(model)?;
    if !(period > 0.0 && period.is_finite()) {
        return Err(Diagnostic::new("S412", format!("{} s is not a period", number(period))).help("give a positive time").into());
    }
    let (own, rubbing) = without_dry_friction(model);
    if !own.states.is_empty() {
        let d = Diagnostic::new("S412", "the tangent of a motion with `states:` is not computed");
        return Err(d.help("replace them by their values in a steady motion").into());
    }
    let request = Request { inputs: Some(Vec::new()), outputs: Some(Vec::new()), frozen: true };
    let linear = linearize(&own, state, &request)?;
    let n = 6 * own.moving();
    let mut start = DMatrix::zeros(2 * n, linear.poses.ncols());
    start.rows_mut(0, n).copy_from(&linear.poses);
    start.rows_mut(n, n).copy_from(&linear.velocities);
    let mut best: Option<(DMatrix<f64>, Configuration)> = None;
    for intervals in INTERVALS {
        let (end, last, apart) = carried(&own, state, period, intervals, &start)?;
        best = Some((end, last));
        if apart <= ENOUGH {
            break;
        }
    }
    let Some((mut end, last)) = best else { return Err(Diagnostic::new("S411", "the tangent of the motion was not found").into()) };
    let turn = repeats(&own, state, &last, period)?;
    for row in (0..2 * n).step_by(3).filter(|r| r % 6 == 0) {
        let back = turn.transpose() * end.rows(row, 3);
        end.rows_mut(row, 3).copy_from(&back);
    }
    let map = reader(&own, &start) * end;
    let roots = eigen::roots(&map, &map.abs())
        .ok_or_else(|| Diagnostic::new("S411", "the eigenvalues of the motion over a period were not found"))?;
    let mut warnings: Vec<Diagnostic> = linear.warnings.iter().chain(&crate::refusals::friction(&rubbing)).cloned().collect();
    warnings.dedup();
    let (mut list, mut rigid, mut motions) = (Vec::new(), 0, Vec::new());
    for r in roots.list {
        let complex = |M: &DMatrix<f64>| M.map(|a| C::new(a, 0.0)) * &r.vector;
        let motion = complex(&linear.poses);
        if (r.s - C::new(1.0, 0.0)).norm() < RIGID {
            rigid += 1;
            motions.push(motion.map(|x| x.re));
            continue;
        }
        let s = r.s.ln() / period;
        if s.im >= 0.0 {
            list.push(finished(&own, &state.q, s, r.condition, motion, &complex(&linear.velocities)));
        }
    }
    list.sort_by(|a, b| a.omega.total_cmp(&b.omega).then(a.s.re.total_cmp(&b.s.re)));
    let rigid_motions = words::describe(&own, &state.q, &motions);
    let (states, freedom, idle) = (map.nrows(), Some(linear.freedom), linear.idle);
    Ok(Modes { list, rigid, rigid_motions, states, state: state.clone(), steady: Steady::none(&own), freedom, idle, warnings })
}

/// Deviations after a period, the state then, and the difference of two extrapolations as a share of the largest.
fn carried(
    model: &Model,
    state: &Configuration,
    period: f64,
    intervals: usize,
    start: &DMatrix<f64>,
) -> Result<(DMatrix<f64>, Configuration, f64), Error> {
    let mut study = Study { t_end: state.t + period, output_step: period, analysis: Some(Analysis::Dynamics), ..Study::of(model) };
    study.inputs = model.inputs.iter().zip(&state.z).map(|(i, x)| (i.name.clone(), Course::Value(*x))).collect();
    (study.formulation, study.integrator, study.step, study.tol) = (None, None, None, Some(TOLERANCE));
    let mut simulation = Simulation::new(&Arc::new(model.clone()), &study)?;
    simulation.set_state(state)?;
    let mut op = Operator::new(model, state);
    let none = |rows: usize| move |a: &DVector<f64>, _: &DVector<f64>| (DMatrix::zeros(a.len(), 0), DMatrix::zeros(rows, 0));
    let mut at = |now: &Configuration| -> Result<Coefficients, Error> {
        op.choose(now.t);
        let all = Space::new(model, &op.jacobian(now));
        let rows = op.set().rows();
        coefficients(&mut op, now, &all, &none(rows))
    };
    let mut passes = Passes::new(start, PARTS);
    let mut window = vec![at(state)?];
    let mut times = vec![state.t];
    let count = intervals * PARTS;
    for k in 1..=count {
        let t = state.t + period * k as f64 / count as f64;
        simulation.advance(t)?;
        window.push(at(&simulation.state())?);
        times.push(t);
        if k % PARTS == 0 {
            let failed = || Diagnostic::new("S411", format!("at t = {} s the tangent of the motion cannot be solved for", number(t)));
            passes.advance(&times, &window).ok_or_else(failed)?;
            window.drain(..PARTS);
            times.drain(..PARTS);
        }
    }
    let [fine, coarse] = passes.limit();
    let apart = (&fine - coarse).amax() / fine.amax().max(f64::MIN_POSITIVE);
    Ok((fine, simulation.state(), apart))
}

/// The rotation of the whole mechanism after a period; rejects a motion that is not periodic.
fn repeats(model: &Model, first: &Configuration, last: &Configuration, period: f64) -> Result<Matrix3<f64>, Error> {
    let L = model.length;
    let turn = if first.q.len() > 1 { last.q[1].A * first.q[1].A.transpose() } else { Matrix3::identity() };
    let shift = if first.q.len() > 1 { last.q[1].r - turn * first.q[1].r } else { Vector3::zeros() };
    // The velocity may be zero at the start.
    let speed = first.v.iter().fold(L / period, |s, v| s.max(v.v.norm()).max(L * v.w.norm()));
    let [now, then] = [last, first].map(|s| Evaluation::new(model, s).map(|e| e.accelerations().to_vec()));
    let (now, then) = (now?, then?);
    let size = then.iter().fold(model.gravity.norm(), |s, a| s.max(a.v.norm()).max(L * a.w.norm()));
    for (b, body) in model.bodies.iter().enumerate().skip(1) {
        let place = (last.q[b].r - turn * first.q[b].r - shift).norm() / L + (last.q[b].A - turn * first.q[b].A).norm();
        let motion = ((last.v[b].v - turn * first.v[b].v).norm() + L * (last.v[b].w - first.v[b].w).norm()) / speed;
        let forces = ((now[b].v - turn * then[b].v).norm() + L * (now[b].w - then[b].w).norm()) / size.max(f64::MIN_POSITIVE);
        let worst = place.max(motion).max(0.1 * forces);
        if worst > REPEATS {
            let message = format!(
                "after {} s the motion does not begin again: `{}` is off by {} of the size of the mechanism and {} of its speed",
                number(period),
                body.name,
                number(place),
                number(motion)
            );
            let d = Diagnostic::new("S412", message).name(&body.name);
            return Err(d.help("give the period with more digits, or start at a state of the periodic motion").into());
        }
    }
    Ok(turn)
}

/// The matrix that extracts the components of a deviation in the basis at the start.
fn reader(model: &Model, start: &DMatrix<f64>) -> DMatrix<f64> {
    let own = lengths(model);
    let weights = DVector::from_fn(start.nrows(), |k, _| own[k % own.len()].powi(2));
    let mut T = start.transpose();
    T.column_iter_mut().zip(weights.iter()).for_each(|(mut c, w)| c *= *w);
    let square = &T * start;
    square.try_inverse().map(|i| i * &T).unwrap_or(T)
}
