//! A run with perturbed initial velocities: the growth of the perturbation measures the growth of errors.

use super::sample::{self, Unique, difference, scales};
use super::{Member, Settings, sampled};
use fourbar::absolute::equations::Equations;
use fourbar::analysis::assembly::Assembled;
use fourbar::analysis::rank;
use fourbar::diagnostic::Diagnostic;
use fourbar::model::Model;
use fourbar::motion::Instant;
use fourbar::random::Random;
use fourbar::state::{Configuration, Twist};

/// Disturbance of velocities, as a share of the largest one.
const DISTURBANCE: f64 = 1e-7;

/// A disturbed start.
pub struct Twin {
    /// The disturbed start, consistent with the constraints.
    pub start: Configuration,
    /// Largest change of a velocity, relative to the largest one of the motion.
    pub size: f64,
}

impl Twin {
    /// Disturbs a start, from which the motion of `sample` begins. `None` if the start cannot be disturbed.
    pub fn of(model: &Model, from: &Configuration, sample: &[Instant]) -> Option<Self> {
        if rank::mobility(model, from, true).generic.mobility() == 0 {
            return None;
        }
        let [L, _, speed, ..] = scales(model, sample);
        let mut start = from.clone();
        let mut random = Random(0x2545_f491_4f6c_dd1d);
        for v in start.v.iter_mut().skip(1) {
            *v = v.plus(&Twist { v: random.vector() * (DISTURBANCE * speed), w: random.vector() * (DISTURBANCE * speed / L) });
        }
        let mut e = Equations::new(model, &start);
        e.jacobian(&start.q);
        e.factor(1.0);
        e.project_velocity(start.t, &mut start.v);
        drop(e);
        let moved = start.v.iter().zip(&from.v);
        let size = moved.fold(0.0_f64, |s, (a, b)| s.max((a.v - b.v).norm()).max(L * (a.w - b.w).norm())) / speed;
        (size >= 1e-3 * DISTURBANCE).then_some(Self { start, size })
    }
}

/// Effect of a small disturbance of the start, by grid time.
pub(super) struct Disturbed {
    /// Its size in positions and angles, relative to the disturbance, non-decreasing.
    pub growth: Vec<f64>,
    /// Change of reactions, newtons, over the relative change of positions, angles and velocities at that time or its neighbours: in a long
    /// chain, reactions that accelerate its mass change with the state far more than their magnitude suggests.
    pub reaction: Vec<f64>,
}

/// Repeats the fastest accurate run with disturbed initial velocities. `None` if the start cannot be disturbed.
pub(super) fn disturbed(
    model: &Model,
    settings: &Settings,
    assembled: &Assembled,
    results: &[Result<Member, Diagnostic>],
    unique: &Unique,
) -> Option<Disturbed> {
    let accurate = results.iter().flatten().filter(|r| !r.second_order);
    let base = accurate.min_by(|a, b| (b.sample.len().cmp(&a.sample.len())).then(a.seconds.total_cmp(&b.seconds)))?;
    let twin = Twin::of(model, &assembled.configuration, &base.sample)?;
    let (scales, size) = (scales(model, &base.sample), twin.size);
    let L = scales[0];
    let mut study = settings.study.clone();
    study.tol = Some(settings.tol);
    let twin = sampled(settings.patience * 4, model, &study, base.info, base.integrator, &twin.start).ok()?.sample;
    let mut worst = 0.0_f64;
    let states = sample::state_sizes(model, base.sample.iter());
    let (growth, local): (Vec<f64>, Vec<f64>) = twin
        .iter()
        .zip(&base.sample)
        .map(|(a, b)| {
            let d = difference(model, unique, &states, a, b).size;
            worst = worst.max((d[0] / L).max(d[1]) / size);
            // A state difference that is small by chance must not inflate the ratio.
            (worst, d[3] / (0..3).fold(size, |m, q| m.max(d[q] / scales[q])))
        })
        .unzip();
    let around = |k: usize| local[k.saturating_sub(2)..(k + 3).min(local.len())].iter().fold(0.0_f64, |m, x| m.max(*x));
    Some(Disturbed { growth, reaction: (0..local.len()).map(around).collect() })
}
