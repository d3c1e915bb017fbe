//! Motions with derivatives along the way: driven ones, solved at every output time, and those of trees and of mechanisms with loops, along
//! the steps of the motion itself.

use super::Parameters;
use super::around::{Around, around};
use super::rows::{Asked, Source, Way};
use super::run::{Method, OfRun, USELESS, begin};
use super::state::{Spaces, Tangent, Varied};
use super::{loops, trees};
use crate::manifold::Manifold;
use crate::operator::{lengths, without_dry_friction};
use crate::tree::Tree;
use fourbar::state::{Configuration, Twist};
use fourbar::study::{Analysis, Study};
use fourbar::{Diagnostic, Error, Model, Simulation};
use std::sync::Arc;
use std::time::Instant;

/// Difference of two motions at the end, in characteristic lengths, below which they are the same.
const SAME: f64 = 1e-5;

/// Derivatives of a driven mechanism, solved at every output time.
pub(super) fn driven(parameters: &Parameters<'_>, study: &Study, which: &[usize], needed: &Asked<'_>) -> Result<OfRun, Error> {
    let clock = Instant::now();
    let model = Arc::new(parameters.model()?);
    let mut study = study.clone();
    study.analysis = Some(Analysis::Kinematics);
    let mut simulation = Simulation::new(&model, &study)?;
    let mut states = Vec::new();
    for t in study.output_times() {
        simulation.advance(t)?;
        states.push(simulation.state());
    }
    let plain = clock.elapsed().as_secs_f64();
    let around = around(parameters, &model, which)?;
    let still = vec![Twist::zero(); model.bodies.len()];
    let way = Way { parameters, which, model: &model, around: &around, needed };
    let mut solve = |varied: &Varied<'_>, i: usize, spaces: &Spaces| {
        let rates = varied.op.row_derivatives(&states[i], &still).rates;
        vec![(0..which.len()).map(|k| varied.corrected(k, &states[i], spaces, &Tangent::none(&model), &rates)).collect()]
    };
    let (run, mut sets) = way.rows(&states, Source::Solved(&mut solve))?;
    let slopes = sets.pop().unwrap_or_default();
    let seconds = [plain, clock.elapsed().as_secs_f64()];
    Ok(OfRun {
        run,
        rough: slopes.clone(),
        slopes,
        beside: Vec::new(),
        sizes: parameters.values_of(which),
        method: Method::Kinematics,
        seconds,
        warnings: Vec::new(),
    })
}

/// States of the engine's own run at the output times.
pub(super) fn of_engine(model: &Arc<Model>, study: &Study) -> Result<Vec<Configuration>, Error> {
    let mut simulation = Simulation::new(model, study)?;
    simulation.run_ahead(study.t_end);
    let mut states = Vec::new();
    for t in study.output_times() {
        simulation.advance(t)?;
        states.push(simulation.state());
    }
    Ok(states)
}

/// Whether two states are the same up to integration errors.
pub(super) fn same(model: &Model, a: &Configuration, b: &Configuration) -> bool {
    Manifold::between(a, b).component_mul(&lengths(model)).amax() <= SAME * model.length
}

/// Derivatives along the motion of a tree; `None` if the mechanism is not a tree, or the engine computes a different motion.
pub(super) fn along_tree(parameters: &Parameters<'_>, study: &Study, which: &[usize], needed: &Asked<'_>) -> Result<Option<OfRun>, Error> {
    let clock = Instant::now();
    let model = Arc::new(parameters.model()?);
    let smooth = without_dry_friction(&model).0;
    let start = begin(study)(&model)?;
    if Tree::new(&smooth, &start).is_none() {
        return Ok(None);
    }
    let states = of_engine(&model, study)?;
    let plain = clock.elapsed().as_secs_f64();
    let around = around(parameters, &smooth, which)?;
    let Some(samples) = trees::samples(&smooth, &around, &start, study, &begin(study)) else { return Ok(None) };
    if !samples.last().zip(states.last()).is_some_and(|(s, end)| same(&model, end, &s.state)) {
        return Ok(None);
    }
    let followed = Followed { parameters, which, needed, model: smooth, around, samples };
    followed.run(Method::Jets, clock, plain).map(Some)
}

/// Derivatives along the motion of a mechanism with loops; `None` if the motion in natural coordinates differs from that of the engine.
pub(super) fn along_loops(parameters: &Parameters<'_>, study: &Study, which: &[usize], needed: &Asked<'_>) -> Result<Option<OfRun>, Error> {
    let clock = Instant::now();
    let model = Arc::new(parameters.model()?);
    let smooth = without_dry_friction(&model).0;
    let start = begin(study)(&model)?;
    let states = of_engine(&model, study)?;
    let plain = clock.elapsed().as_secs_f64();
    let Some(mut samples) = loops::samples(parameters, &smooth, which, &start, study, &begin(study)) else { return Ok(None) };
    if samples.len() != states.len() {
        return Ok(None);
    }
    for (sample, state) in samples.iter_mut().zip(states) {
        if !same(&model, &state, &sample.state) {
            return Ok(None);
        }
        // Counted angles and work are those of the engine.
        sample.state = state;
    }
    let around = around(parameters, &smooth, which)?;
    let followed = Followed { parameters, which, needed, model: smooth, around, samples };
    followed.run(Method::Series, clock, plain).map(Some)
}

/// A motion with its derivatives.
struct Followed<'a> {
    parameters: &'a Parameters<'a>,
    which: &'a [usize],
    needed: &'a Asked<'a>,
    model: Model,
    around: Vec<Around>,
    samples: Vec<trees::Sample>,
}

impl Followed<'_> {
    /// The run with its derivatives.
    fn run(self, method: Method, clock: Instant, plain: f64) -> Result<OfRun, Error> {
        let Self { parameters, which, needed, model, around, samples } = self;
        let mut growth = Growth::default();
        for s in &samples {
            growth.look(s.state.t, s.tangents.iter().fold(0.0_f64, |m, x| m.max(x.q.amax()).max(x.v.amax())));
        }
        let (states, tangents): (Vec<Configuration>, Vec<Vec<Tangent>>) = samples.into_iter().map(|s| (s.state, s.tangents)).unzip();
        let way = Way { parameters, which, model: &model, around: &around, needed };
        let (run, mut sets) = way.rows(&states, Source::Known(&tangents))?;
        let slopes = sets.pop().unwrap_or_default();
        let seconds = [plain, clock.elapsed().as_secs_f64()];
        Ok(OfRun {
            run,
            rough: slopes.clone(),
            slopes,
            beside: Vec::new(),
            sizes: parameters.values_of(which),
            method,
            seconds,
            warnings: growth.warnings,
        })
    }
}

/// Growth of deviations, and the time from which derivatives do not predict the effect of changes of practical size.
#[derive(Default)]
pub(super) struct Growth {
    begun: Option<f64>,
    pub warnings: Vec<Diagnostic>,
}

impl Growth {
    pub fn look(&mut self, t: f64, size: f64) {
        let begun = *self.begun.get_or_insert(size.max(1e-6));
        if self.warnings.is_empty() && size > USELESS * begun {
            let message =
                format!("from t = {} s on the motion is so sensitive that derivatives are of no use", fourbar::diagnostic::number(t));
            self.warnings.push(Diagnostic::new("W425", message).time(t).help("ask for them at an earlier time"));
        }
    }
}
