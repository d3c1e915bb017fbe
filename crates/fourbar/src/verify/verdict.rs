//! The verdict: consensus, outliers, the horizon of meaningful comparison, and words for all of it.

use super::sample::{QUANTITIES, Quantity, Unique, difference, middle, scales};
use super::{NewtonEuler, Outcome, Row, Settings, Verification, energy_error};
use crate::diagnostic::Diagnostic;
use crate::model::Model;
use crate::motion::Instant;
use crate::study::{FormulationInfo, count};
use serde::Serialize;

/// Differences may be this many times the expected errors.
const ALLOWED: f64 = 10.0;
/// Rounding that every formulation brings in, relative; it grows as a disturbance does.
const ROUNDING: f64 = 1e-13;
/// What counts as equal at all, relative: position, angle, velocity, reaction.
const FLOOR: [f64; 4] = [1e-9, 1e-9, 1e-8, 1e-7];
/// The comparison ends where the expected error of the consensus, relative, has grown to this.
const LOST: f64 = 1e-3;
/// Results that fail Newton's and Euler's equations by more than this are wrong whatever others say.
const UNBALANCED: f64 = 1e-6;

/// A formulation that disagrees.
#[derive(Clone, Debug, Serialize)]
pub struct Outlier {
    /// Formulation.
    pub formulation: &'static str,
    /// First time of disagreement; where laws are broken, the time when they are most.
    pub time: f64,
    /// Body, or joint for reactions.
    pub place: String,
    /// Quantity.
    pub quantity: Quantity,
    /// Difference there.
    pub difference: f64,
    /// What would have been allowed.
    pub allowed: f64,
}

/// The verdict.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// Whether at least two formulations ran, and all that ran agree beyond the start.
    pub agree: bool,
    /// Formulations that disagree.
    pub outliers: Vec<Outlier>,
    /// Time until which comparison means something, where that is before the end.
    pub horizon: Option<f64>,
    /// Growth of a small disturbance of the start until the end, or until the horizon.
    pub growth: Option<f64>,
    /// In words, a sentence each.
    pub words: Vec<String>,
}

/// Compares the results and writes the table.
pub(super) fn compare(
    model: &Model,
    settings: &Settings,
    chosen: &[&'static FormulationInfo],
    results: Vec<Result<Outcome, Diagnostic>>,
    growth: Option<Vec<f64>>,
    unique: &Unique,
) -> Verification {
    let ran: Vec<&Outcome> = results.iter().flatten().collect();
    let scales = ran.iter().find(|r| !r.second_order).or(ran.first()).map_or([1.0; 4], |r| scales(model, &r.sample));
    let times: Vec<f64> = ran.first().map_or(Vec::new(), |r| r.sample.iter().map(|s| s.t).collect());
    let end = horizon(&ran, growth.as_deref(), &scales, times.len());
    let singular: Vec<bool> = times.iter().map(|t| near_singular(&ran, *t, settings.study.output_step)).collect();
    let consensus = consensus(model, unique, &ran, &scales, growth.as_deref(), end);
    let mut outliers = Vec::new();
    let mut rows = Vec::new();
    for (info, result) in chosen.iter().zip(&results) {
        match result {
            Ok(r) => {
                let (row, outlier) = judge(model, unique, r, &consensus, &singular, &scales, growth.as_deref(), end);
                outliers.extend(outlier);
                rows.push(row);
            }
            Err(d) => rows.push(failed(info, d)),
        }
    }
    let grown = growth.as_ref().and_then(|g| g.get(end.saturating_sub(1)).copied());
    let stopped = end < times.len();
    let horizon = (stopped && end > 0).then(|| times[end - 1]);
    // With a single time nothing but the start was compared, which all have in common.
    let compared = end > 1;
    let agree = ran.len() >= 2 && compared && outliers.is_empty();
    let mut words = words(&rows, &outliers, compared, horizon, grown, settings.study.t_end, &scales);
    let passed = singular.iter().take(end).filter(|s| **s).count();
    if passed > 0 {
        words.push(format!(
            "Singular positions are passed; reactions have no definite value there and are not compared at {}.",
            count(passed, "output time")
        ));
    }
    Verification { t_end: settings.study.t_end, rows, scales, verdict: Verdict { agree, outliers, horizon, growth: grown, words } }
}

/// Whether some formulation met a singular position within an output step of a time.
fn near_singular(ran: &[&Outcome], t: f64, step: f64) -> bool {
    ran.iter().any(|r| r.told.singular.iter().any(|s| (s.time - t).abs() <= step))
}

/// Number of grid times that can be compared: until the error expected of the better half has grown too large.
fn horizon(ran: &[&Outcome], growth: Option<&[f64]>, scales: &[f64; 4], n: usize) -> usize {
    (0..n)
        .find(|&k| {
            let mut relative: Vec<f64> = ran.iter().map(|r| (r.expected[k][0] / scales[0]).max(r.expected[k][1])).collect();
            relative.sort_by(f64::total_cmp);
            let typical = relative.get((relative.len().saturating_sub(1)) / 2).copied().unwrap_or(0.0);
            typical > LOST || growth.is_some_and(|g| g[k] * ROUNDING * 10.0 > LOST)
        })
        .unwrap_or(n)
}

/// Rounding at a time of the grid, by quantity.
fn rounding(growth: Option<&[f64]>, k: usize, scales: &[f64; 4]) -> [f64; 4] {
    let g = growth.map_or(1.0, |g| g[k].max(1.0));
    std::array::from_fn(|q| (FLOOR[q] + ROUNDING * g) * scales[q])
}

/// The mean of those that agree with the one nearest to all others, with its expected error by time.
fn consensus(
    model: &Model,
    unique: &Unique,
    ran: &[&Outcome],
    scales: &[f64; 4],
    growth: Option<&[f64]>,
    end: usize,
) -> Vec<(Instant, [f64; 4])> {
    if ran.is_empty() || end == 0 {
        return Vec::new();
    }
    let apart = |a: &Outcome, b: &Outcome| {
        // Times are thinned: this is only to find the middle.
        (0..end).step_by((end / 20).max(1)).fold(0.0_f64, |m, k| {
            let d = difference(model, unique, &a.sample[k], &b.sample[k]);
            (0..3).fold(m, |m, q| m.max(d.size[q] / scales[q]))
        })
    };
    let nearest = ran
        .iter()
        .map(|a| {
            let mut d: Vec<f64> = ran.iter().map(|b| apart(a, b)).collect();
            d.sort_by(f64::total_cmp);
            (d[d.len() / 2], a.second_order, *a)
        })
        .min_by(|x, y| (x.1, x.0).partial_cmp(&(y.1, y.0)).unwrap_or(std::cmp::Ordering::Equal))
        .map_or(ran[0], |x| x.2);
    let agrees = |r: &Outcome| {
        (0..end).all(|k| {
            let d = difference(model, unique, &r.sample[k], &nearest.sample[k]);
            let floor = rounding(growth, k, scales);
            (0..3).all(|q| d.size[q] <= ALLOWED * (r.expected[k][q] + nearest.expected[k][q]) + floor[q])
        })
    };
    let mut members: Vec<&Outcome> = ran.iter().copied().filter(|r| r.second_order == nearest.second_order && agrees(r)).collect();
    // The nearest to all comes first: rotations are averaged around it.
    members.sort_by_key(|r| !std::ptr::eq(*r, nearest));
    (0..end)
        .map(|k| {
            let list: Vec<&Instant> = members.iter().map(|r| &r.sample[k]).collect();
            let expected = std::array::from_fn(|q| members.iter().fold(0.0_f64, |m, r| m.max(r.expected[k][q])));
            (middle(&list), expected)
        })
        .collect()
}

#[allow(clippy::too_many_arguments)]
fn judge(
    model: &Model,
    unique: &Unique,
    r: &Outcome,
    consensus: &[(Instant, [f64; 4])],
    singular: &[bool],
    scales: &[f64; 4],
    growth: Option<&[f64]>,
    end: usize,
) -> (Row, Option<Outlier>) {
    let mut worst = [0.0_f64; 4];
    let mut outlier: Option<Outlier> = None;
    for (k, (middle, expected)) in consensus.iter().enumerate() {
        let d = difference(model, unique, &r.sample[k], middle);
        let floor = rounding(growth, k, scales);
        // Reactions are not defined at a singular position.
        for q in 0..if singular[k] { 3 } else { 4 } {
            worst[q] = worst[q].max(d.size[q]);
            let allowed = ALLOWED * (r.expected[k][q] + expected[q]) + floor[q];
            if outlier.is_none() && d.size[q] > allowed {
                let place = if q == 3 { &model.joints[d.place[q]].name } else { &model.bodies[d.place[q]].name };
                outlier = Some(Outlier {
                    formulation: r.info.name,
                    time: middle.t,
                    place: place.clone(),
                    quantity: QUANTITIES[q],
                    difference: d.size[q],
                    allowed,
                });
            }
        }
    }
    let mut laws = NewtonEuler::new(model);
    let (mut residual, mut force) = ((0.0_f64, 0, 0.0), 0.0_f64);
    for (s, _) in r.computed.as_ref().unwrap_or(&r.sample).iter().take(end).zip(singular).filter(|(_, singular)| !**singular) {
        let (x, body, f) = laws.residual(s);
        if x > residual.0 {
            residual = (x, body, s.t);
        }
        force = force.max(f);
    }
    let (missing, body, time) = residual;
    let newton_euler = if force > 0.0 { missing / force } else { 0.0 };
    if outlier.is_none() && newton_euler > UNBALANCED {
        outlier = Some(Outlier {
            formulation: r.info.name,
            time,
            place: model.bodies[body].name.clone(),
            quantity: Quantity::Laws,
            difference: missing,
            allowed: UNBALANCED * force,
        });
    }
    let constraints = r.sample.iter().fold([0.0_f64; 3], |m, s| std::array::from_fn(|k| m[k].max(s.errors[k])));
    let row = Row {
        formulation: r.info.name,
        integrator: r.integrator,
        second_order: r.second_order,
        setting: r.setting,
        difference: worst,
        expected: if end > 0 { r.expected[end - 1] } else { [0.0; 4] },
        constraints,
        energy: energy_error(model, &r.sample),
        newton_euler,
        work: r.told.work.clone(),
        seconds: r.seconds,
        failure: None,
    };
    (row, outlier)
}

fn failed(info: &FormulationInfo, d: &Diagnostic) -> Row {
    Row {
        formulation: info.name,
        integrator: info.integrators[0],
        second_order: false,
        setting: 0.0,
        difference: [0.0; 4],
        expected: [0.0; 4],
        constraints: [0.0; 3],
        energy: 0.0,
        newton_euler: 0.0,
        work: Vec::new(),
        seconds: 0.0,
        failure: Some(d.clone()),
    }
}

fn words(
    rows: &[Row],
    outliers: &[Outlier],
    compared: bool,
    horizon: Option<f64>,
    growth: Option<f64>,
    t_end: f64,
    scales: &[f64; 4],
) -> Vec<String> {
    let mut list = Vec::new();
    let ran: Vec<&Row> = rows.iter().filter(|r| r.failure.is_none()).collect();
    let until = horizon.unwrap_or(t_end);
    if let Some(t) = horizon {
        list.push(match growth {
            Some(g) => format!(
                "Neighbouring motions separate by a factor {g:.0e}; after t = {t} s a comparison of single trajectories means nothing, so it ends there."
            ),
            None => format!("After t = {t} s the expected errors are too large for a comparison, so it ends there."),
        });
    }
    let group = |second: bool| {
        ran.iter()
            .filter(|r| r.second_order == second && !outliers.iter().any(|o| o.formulation == r.formulation))
            .copied()
            .collect::<Vec<_>>()
    };
    let worst = |g: &[&Row]| g.iter().fold(0.0_f64, |m, r| m.max(r.difference[0] / scales[0]).max(r.difference[1]));
    let (high, second) = (group(false), group(true));
    match (ran.len(), high.len(), second.len()) {
        (0, ..) => list.push("No formulation could run this mechanism; nothing is verified.".into()),
        (1, ..) => list.push(format!("Only `{}` ran; one formulation cannot be verified against itself.", ran[0].formulation)),
        _ if !compared => list.push("Nothing but the start could be compared; nothing is verified.".into()),
        (_, h, s) => {
            let mut parts = Vec::new();
            if h > 0 {
                parts.push(format!("{} {} to {:.0e}", count(h, "high-order formulation"), agree(h), worst(&high)));
            }
            if s > 0 {
                let expected = second.iter().fold(0.0_f64, |m, r| m.max(r.expected[0] / scales[0]).max(r.expected[1]));
                parts.push(format!("{} to {:.0e} (expected {expected:.0e})", count(s, "second-order one"), worst(&second)));
            }
            list.push(format!("{} until t = {until} s, relative to the size of the mechanism.", parts.join(", ")));
        }
    }
    if let Some(best) = high.iter().min_by(|a, b| a.seconds.total_cmp(&b.seconds)) {
        list.push(format!("`{}` is the fastest at this accuracy ({:.2} s).", best.formulation, best.seconds));
    }
    for o in outliers {
        if o.quantity == Quantity::Laws {
            list.push(format!(
                "`{}` breaks Newton's and Euler's equations: {:.1e} N are missing on `{}` at t = {:.4} s, {:.1e} would be allowed.",
                o.formulation, o.difference, o.place, o.time, o.allowed
            ));
            continue;
        }
        list.push(format!(
            "`{}` disagrees: {} of `{}` differs by {:.1e} {} from t = {:.4} s on, {:.1e} would be allowed.",
            o.formulation,
            o.quantity.name(),
            o.place,
            o.difference,
            o.quantity.unit(),
            o.time,
            o.allowed
        ));
    }
    for r in rows {
        if let Some(d) = &r.failure {
            list.push(format!("`{}` has no result: {}.", r.formulation, d.message.trim_end_matches('.')));
        }
    }
    list
}

fn agree(n: usize) -> &'static str {
    if n == 1 { "agrees with the rest" } else { "agree" }
}
