//! The tangent of a motion, integrated by the trapezoidal rule with several step sizes and extrapolation.

use super::Parameters;
use super::around::{Around, around};
use super::followed::Growth;
use super::rows::{Asked, Source, Way};
use super::run::{Method, OfRun, begin};
use super::state::{Spaces, Tangent, Varied, start_tangents};
use crate::operator::without_dry_friction;
use crate::tangent::{Coefficients, Passes, coefficients};
use fourbar::state::{Configuration, Twist};
use fourbar::study::Study;
use fourbar::{Diagnostic, Error, Model, Simulation, stop};
use nalgebra::DMatrix;
use std::sync::Arc;
use std::time::Instant;

/// Share of the largest effect of a parameter below which the effect of another counts as small.
const LITTLE: f64 = 1e-3;

/// The coefficients of the tangent equations at a state, with a right-hand side for each parameter.
fn coefficients_of(varied: &mut Varied<'_>, state: &Configuration, count: usize) -> Result<Coefficients, Error> {
    stop::check()?;
    varied.choose(state.t);
    let all = varied.spaces(state).all;
    let (op, disturbed) = varied.by_parameters(state, count);
    coefficients(op, state, &all, &disturbed)
}

/// A motion with the tangents along it.
pub(super) struct Carried {
    smooth: Model,
    around: Vec<Around>,
    /// At the output times.
    states: Vec<Configuration>,
    /// The extrapolated limit and that of one extrapolation less, a column for each parameter.
    tangents: Vec<[DMatrix<f64>; 2]>,
    /// Difference of the two as a share of the largest increments of poses, or of velocities, due to the same parameter.
    pub apart: f64,
    growth: Growth,
    clock: Instant,
    plain: f64,
}

/// The tangents along a motion, with coefficients at `parts` intervals of each output step.
pub(super) fn carried(parameters: &Parameters<'_>, study: &Study, which: &[usize], parts: usize) -> Result<Carried, Error> {
    let clock = Instant::now();
    let model = Arc::new(parameters.model()?);
    let smooth = without_dry_friction(&model).0;
    let around = around(parameters, &smooth, which)?;
    let times: Vec<f64> = study.output_times().collect();
    let mut simulation = Simulation::new(&model, study)?;
    simulation.run_ahead(study.t_end);
    // Includes states between the output times, at which the coefficients of the tangent are evaluated.
    let mut states = vec![simulation.state()];
    for w in times.windows(2) {
        for part in 1..=parts {
            let t = if part == parts { w[1] } else { w[0] + (w[1] - w[0]) * part as f64 / parts as f64 };
            simulation.advance(t)?;
            states.push(simulation.state());
        }
    }
    let plain = clock.elapsed().as_secs_f64();
    let (n, count) = (6 * model.moving(), which.len());
    let mut tangents = Vec::new();
    let mut growth = Growth::default();
    // For poses and for velocities, by parameter.
    let (mut largest, mut apart) = (vec![[0.0_f64; 2]; count], vec![[0.0_f64; 2]; count]);
    {
        let mut varied = Varied::new(&smooth, &around, &states[0]);
        let first = start_tangents(parameters, &mut varied, &states[0], which, &begin(study))?;
        let mut x0 = DMatrix::zeros(2 * n, count);
        for (k, x) in first.iter().enumerate() {
            x0.view_mut((0, k), (n, 1)).copy_from(&x.q);
            x0.view_mut((n, k), (n, 1)).copy_from(&x.v);
        }
        let mut passes = Passes::new(&x0, parts);
        let mut window: Vec<Coefficients> = vec![coefficients_of(&mut varied, &states[0], count)?];
        for (i, t) in times.iter().enumerate() {
            if i > 0 {
                for k in 1..=parts {
                    window.push(coefficients_of(&mut varied, &states[(i - 1) * parts + k], count)?);
                }
                let ends: Vec<f64> = states[(i - 1) * parts..=i * parts].iter().map(|s| s.t).collect();
                passes.advance(&ends, &window).ok_or_else(|| {
                    let message = format!("at t = {} s the tangent of the motion cannot be solved for", fourbar::diagnostic::number(*t));
                    Diagnostic::new("S432", message).time(*t).help("the mechanism may be at a singular position there")
                })?;
                window.drain(..parts);
            }
            let both = passes.limit();
            let differ = &both[0] - &both[1];
            for (k, part) in (0..count).flat_map(|k| [(k, 0), (k, 1)]) {
                largest[k][part] = largest[k][part].max(both[0].view((part * n, k), (n, 1)).amax());
                apart[k][part] = apart[k][part].max(differ.view((part * n, k), (n, 1)).amax());
            }
            growth.look(*t, both[0].amax());
            tangents.push(both);
        }
    }
    let states = states.into_iter().step_by(parts).collect();
    // Parameters with little effect are compared with the effect of the others.
    let sizes = parameters.values_of(which);
    let effect = |part: usize| (0..count).fold(f64::MIN_POSITIVE, |m, k| m.max(largest[k][part] * sizes[k]));
    let effects = [effect(0), effect(1)];
    let share = |k: usize, part: usize| apart[k][part] * sizes[k] / (largest[k][part] * sizes[k]).max(LITTLE * effects[part]);
    let apart = (0..count).fold(0.0_f64, |m, k| m.max(share(k, 0)).max(share(k, 1)));
    Ok(Carried { smooth, around, states, tangents, apart, growth, clock, plain })
}

impl Carried {
    /// The run with its derivatives.
    pub fn run(self, parameters: &Parameters<'_>, which: &[usize], needed: &Asked<'_>) -> Result<OfRun, Error> {
        let Self { smooth, around, states, tangents, growth, clock, plain, .. } = self;
        let n = 6 * smooth.moving();
        let still = vec![Twist::zero(); smooth.bodies.len()];
        let way = Way { parameters, which, model: &smooth, around: &around, needed };
        let mut solve = |varied: &Varied<'_>, i: usize, spaces: &Spaces| {
            let rates = varied.op.row_derivatives(&states[i], &still).rates;
            let corrected = |x: &DMatrix<f64>, k: usize| {
                let own = Tangent { q: x.view((0, k), (n, 1)).column(0).into_owned(), v: x.view((n, k), (n, 1)).column(0).into_owned() };
                varied.corrected(k, &states[i], spaces, &own, &rates)
            };
            tangents[i].iter().map(|x| (0..which.len()).map(|k| corrected(x, k)).collect()).collect()
        };
        let (run, mut sets) = way.rows(&states, Source::Solved(&mut solve))?;
        let rough = sets.pop().unwrap_or_default();
        let slopes = sets.pop().unwrap_or_default();
        let seconds = [plain, clock.elapsed().as_secs_f64()];
        Ok(OfRun {
            run,
            slopes,
            rough,
            beside: Vec::new(),
            sizes: parameters.values_of(which),
            method: Method::Tangent,
            seconds,
            warnings: growth.warnings,
        })
    }
}
