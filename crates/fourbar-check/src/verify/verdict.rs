//! The verdict: consensus, outliers, witnesses, the time horizon of meaningful comparison.

use super::rounding::{self, Rounding};
use super::sample::{QUANTITIES, Quantity, Unique, difference, middle, scales, state_sizes};
use super::twin::Disturbed;
use super::{Family, Member, NewtonEuler, Row, Settings, Verification, energy_errors, uniqueness, words};
use fourbar::diagnostic::Diagnostic;
use fourbar::engine::warnings::friction_warning;
use fourbar::model::Model;
use fourbar::motion::Instant;
use fourbar::state::Configuration;
use fourbar::study::FormulationInfo;
use serde::Serialize;
use std::collections::BTreeSet;

/// Allowed ratio of differences to expected errors.
const ALLOWED: f64 = 10.0;
/// Relative rounding error of every formulation; it grows like a disturbance.
const ROUNDING: f64 = 1e-13;
/// Relative differences that are always allowed: position, angle, velocity, reaction, state.
const FLOOR: [f64; 5] = [1e-9, 1e-9, 1e-8, 1e-7, 1e-8];
/// The comparison ends where the relative expected error of the consensus has grown to this.
const LOST: f64 = 1e-3;
/// Residual of the Newton-Euler equations, relative to the largest force, above which a result is wrong regardless of agreement.
const UNBALANCED: f64 = 1e-6;
/// Largest joint gap of a witness, as a share of the characteristic length.
const GAP: f64 = 1e-6;
/// Largest error of energy minus work of a witness, relative to the energy exchanged; more if its expected errors allow it, but at most
/// [`WORST_ENERGY`].
const ENERGY: f64 = 1e-6;
const WORST_ENERGY: f64 = 1e-2;

/// The verdict in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Word {
    /// At least two families agree over the whole time, and no other result disagrees.
    #[serde(rename = "AGREED")]
    Agreed,
    /// The same, but not until the end.
    #[serde(rename = "PARTLY")]
    Partly,
    /// Fewer than two families have a valid result beyond the start, or the model does not determine the motion.
    #[serde(rename = "NOT SHOWN")]
    NotShown,
    /// Results contradict each other, or the laws of mechanics.
    #[serde(rename = "NOT AGREED")]
    NotAgreed,
}

impl std::fmt::Display for Word {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Agreed => "AGREED",
            Self::Partly => "PARTLY",
            Self::NotShown => "NOT SHOWN",
            Self::NotAgreed => "NOT AGREED",
        })
    }
}

/// A formulation that disagrees.
#[derive(Clone, Debug, Serialize)]
pub struct Outlier {
    /// Formulation.
    pub formulation: &'static str,
    /// First time of disagreement; for violated laws, the time of the largest residual.
    pub time: f64,
    /// Body, or joint for reactions.
    pub place: String,
    /// Quantity.
    pub quantity: Quantity,
    /// Difference there.
    pub difference: f64,
    /// Allowed difference.
    pub allowed: f64,
}

/// A result that does not count as a witness, even if it agrees.
#[derive(Clone, Debug, Serialize)]
pub struct Unsound {
    /// Formulation.
    pub formulation: &'static str,
    /// First time.
    pub time: f64,
    /// Gap of the joints at that time, metres.
    pub gap: f64,
    /// Error of energy minus work at that time, relative to the energy exchanged.
    pub energy: f64,
}

/// The verdict.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// In a word.
    pub word: Word,
    /// Whether the word is [`Word::Agreed`].
    pub agree: bool,
    /// Time until which two families agree; `None` if they do not agree beyond the start.
    pub until: Option<f64>,
    /// Witnesses: formulations with a valid result until that time that agrees with the others, each with its family.
    pub witnesses: Vec<(Family, &'static str)>,
    /// Formulations without a result.
    pub without_result: Vec<&'static str>,
    /// Formulations that disagree.
    pub outliers: Vec<Outlier>,
    /// Formulations whose joints open, or whose energy drifts.
    pub unsound: Vec<Unsound>,
    /// Time until which comparison is meaningful, if before the end.
    pub horizon: Option<f64>,
    /// Growth of a small disturbance of the start until the end, or until the horizon.
    pub growth: Option<f64>,
    /// Sentences.
    pub words: Vec<String>,
}

/// Data shared by the comparisons of one mechanism.
struct Comparison<'a> {
    model: &'a Model,
    unique: &'a Unique,
    /// Largest magnitude of each user-defined state.
    states: Vec<f64>,
    ran: Vec<&'a Member>,
    /// Number of valid times of each of `ran`, from the start.
    sound: Vec<usize>,
    disturbed: Option<&'a Disturbed>,
    scales: [f64; 5],
    rounding: Rounding,
    /// Tolerance of the adaptive runs, relative.
    tol: f64,
    /// Number of grid times that can be compared.
    end: usize,
}

/// Compares the results and writes the table.
pub(super) fn compare(
    model: &Model,
    settings: &Settings,
    start: &Configuration,
    chosen: &[&'static FormulationInfo],
    results: &[Result<Member, Diagnostic>],
    disturbed: Option<&Disturbed>,
    unique: &Unique,
) -> Verification {
    let study = &settings.study;
    let times: Vec<f64> = study.output_times().collect();
    let ran: Vec<&Member> = results.iter().flatten().collect();
    let best = ran.iter().min_by_key(|r| (r.stopped.is_some(), r.second_order));
    let rounding = best.map_or(Rounding::default(), |r| rounding::measure(model, start, &r.sample, study.t_end, study.output_step));
    let mut scales = best.map_or([1.0; 5], |r| scales(model, &r.sample));
    scales[3] = scales[3].max(rounding.largest);
    let states = state_sizes(model, best.iter().flat_map(|r| &r.sample));
    let mut c = Comparison { model, unique, states, ran, sound: Vec::new(), disturbed, scales, rounding, tol: settings.tol, end: 0 };
    c.end = c.horizon(times.len());
    let mut unsound = Vec::new();
    for r in c.ran.clone() {
        let (n, why) = c.soundness(r);
        c.sound.push(n);
        unsound.extend(why);
    }
    let singular: Vec<bool> = times.iter().map(|t| near_singular(&c.ran, *t, study.output_step)).collect();
    let consensus = c.consensus();
    let mut outliers = Vec::new();
    let mut rows = Vec::new();
    for (info, result) in chosen.iter().zip(results) {
        match result {
            Ok(r) => {
                let (row, outlier) = c.judge(r, &consensus, &singular);
                outliers.extend(outlier);
                rows.push(row);
            }
            Err(d) => rows.push(failed(info, d)),
        }
    }
    let (shown, witnesses) = c.witnesses(&consensus, &outliers);
    let until = shown.map(|k| times[k]);
    // If the motion depends on loads that are not unique, the model does not determine it: different results are not errors.
    let friction = friction_warning(model, &uniqueness::not_unique(model, start));
    let mut undetermined: Vec<String> = friction.into_iter().map(|d| d.message).collect();
    undetermined.extend(shared_places(model, &c.ran));
    undetermined.extend(rounding.double_root.map(words::double_root));
    let word = match shown {
        _ if !outliers.is_empty() && undetermined.is_empty() => Word::NotAgreed,
        _ if !outliers.is_empty() => Word::NotShown,
        None => Word::NotShown,
        Some(k) if k + 1 < times.len() => Word::Partly,
        Some(_) => Word::Agreed,
    };
    let grown = disturbed.and_then(|d| d.growth.get(c.end.saturating_sub(1)).or(d.growth.last()).copied());
    let reached = c.ran.iter().map(|r| r.sample.len()).max().unwrap_or(0);
    // An early end of the results themselves is reported with the formulations.
    let horizon = (c.end < reached && c.end > 0).then(|| times[c.end - 1]);
    let without_result = rows.iter().filter(|r| r.until.is_none()).map(|r| r.formulation).collect();
    let mut verdict = Verdict {
        word,
        agree: word == Word::Agreed,
        until,
        witnesses,
        without_result,
        outliers,
        unsound,
        horizon,
        growth: grown,
        words: Vec::new(),
    };
    let passed = singular.iter().take(consensus.len()).filter(|s| **s).count();
    verdict.words =
        words::all(&words::Findings { verdict: &verdict, rows: &rows, scales: &scales, t_end: study.t_end, passed, undetermined });
    Verification { t_end: study.t_end, rows, scales, verdict }
}

/// Warning from a run that normal forces with sliding friction are not unique: then their distribution determines the motion.
fn shared_places(model: &Model, ran: &[&Member]) -> Option<String> {
    let rough = |name: &String| model.contacts.iter().any(|c| c.name == *name && c.friction.mu > 0.0);
    let warnings = ran.iter().flat_map(|r| &r.outcome.warnings);
    let found = warnings.filter(|w| w.code.0 == "W323").find(|w| w.names.iter().any(rough))?;
    Some(format!("{}, and sliding friction follows each of them", found.message))
}

/// Whether some formulation encountered a singular position within an output step of a time.
fn near_singular(ran: &[&Member], t: f64, step: f64) -> bool {
    ran.iter().any(|r| r.outcome.singular.iter().any(|s| (s.time - t).abs() <= step))
}

impl Comparison<'_> {
    /// Growth of a disturbance until a grid time, at least one.
    fn grown(&self, k: usize) -> f64 {
        self.disturbed.and_then(|d| d.growth.get(k).or(d.growth.last())).map_or(1.0, |g| g.max(1.0))
    }

    /// Errors of energy minus work by time.
    fn energy(&self, r: &Member) -> Vec<f64> {
        energy_errors(self.model, &r.sample, ALLOWED * self.rounding.speed)
    }

    /// Expected errors of a result, relative to the scales of positions and angles.
    fn relative(&self, r: &Member, k: usize) -> f64 {
        (r.expected[k][0] / self.scales[0]).max(r.expected[k][1])
    }

    /// Number of grid times that can be compared: until the expected error of the better half has grown too large.
    fn horizon(&self, n: usize) -> usize {
        (0..n)
            .find(|&k| {
                let mut relative: Vec<f64> = self.ran.iter().filter(|r| r.sample.len() > k).map(|r| self.relative(r, k)).collect();
                relative.sort_by(f64::total_cmp);
                let typical = relative.get(relative.len().saturating_sub(1) / 2).copied().unwrap_or(f64::INFINITY);
                typical > LOST || self.grown(k) * ROUNDING * 10.0 > LOST
            })
            .unwrap_or(n)
    }

    /// Rounding and tolerance at a grid time, by quantity: differences that cannot be distinguished from zero.
    fn floor(&self, k: usize) -> [f64; 5] {
        let g = self.grown(k);
        let rounding = [g * self.rounding.position, g * self.rounding.angle, self.rounding.speed, self.rounding.force, 0.0];
        // Every step of an adaptive run may add an error of its tolerance, which then grows. Two runs at two tolerances may not show it: if
        // output times or the start limit the steps, both take the same ones.
        let tol = if self.ran.iter().any(|r| !r.second_order) { ALLOWED * self.tol } else { 0.0 };
        std::array::from_fn(|q| (FLOOR[q] + (ROUNDING + tol) * g) * self.scales[q] + ALLOWED * rounding[q])
    }

    fn allowed(&self, k: usize, a: &[f64; 5], b: &[f64; 5]) -> [f64; 5] {
        let floor = self.floor(k);
        let mut allowed: [f64; 5] = std::array::from_fn(|q| ALLOWED * (a[q] + b[q]) + floor[q]);
        // Reactions may differ by the effect of the allowed difference of the states.
        let state = (0..3).fold(0.0_f64, |m, q| m.max(allowed[q] / self.scales[q]));
        allowed[3] += state * self.disturbed.and_then(|d| d.reaction.get(k).or(d.reaction.last())).copied().unwrap_or(0.0);
        allowed
    }

    /// Number of times from the start at which joints are closed and energy minus work is conserved, and the first violation.
    fn soundness(&self, r: &Member) -> (usize, Option<Unsound>) {
        let energy = self.energy(r);
        let L = self.model.length;
        let bad = (0..r.sample.len()).find(|&k| {
            let gap = r.sample[k].errors[0];
            let expected = self.relative(r, k).max(r.expected[k][2] / self.scales[2]);
            let allowed = ENERGY.max(1e3 * self.tol * self.grown(k)).max(100.0 * expected).min(WORST_ENERGY);
            // The condition is negated so that NaN fails.
            !(gap <= GAP * L && energy[k] <= allowed)
        });
        match bad {
            Some(k) => {
                let s = &r.sample[k];
                (k, Some(Unsound { formulation: r.info.name, time: s.t, gap: s.errors[0], energy: energy[k] }))
            }
            None => (r.sample.len(), None),
        }
    }

    /// The mean of the results that agree with the most central one, with its expected error by time.
    fn consensus(&self) -> Vec<(Instant, [f64; 5])> {
        let all = || self.ran.iter().copied().zip(self.sound.iter().copied());
        // Results whose joints open are used only if there are no others.
        let any_sound = self.sound.iter().any(|n| *n > 1);
        let list: Vec<(&Member, usize)> =
            all().map(|(r, n)| (r, if any_sound { n } else { r.sample.len() }.min(self.end))).filter(|(_, n)| *n > 0).collect();
        let apart = |a: &(&Member, usize), b: &(&Member, usize)| {
            let n = a.1.min(b.1);
            // A subset of the times suffices to find the most central result.
            (0..n).step_by((n / 20).max(1)).fold(0.0_f64, |m, k| {
                let d = difference(self.model, self.unique, &self.states, &a.0.sample[k], &b.0.sample[k]);
                (0..3).fold(m, |m, q| m.max(d.size[q] / self.scales[q]))
            })
        };
        let nearest = list
            .iter()
            .map(|a| {
                let mut d: Vec<f64> = list.iter().map(|b| apart(a, b)).collect();
                d.sort_by(f64::total_cmp);
                // High order first, then those that reached furthest.
                ((a.0.second_order, self.end - a.1), d[d.len() / 2], a)
            })
            .min_by(|x, y| x.0.cmp(&y.0).then(x.1.total_cmp(&y.1)))
            .map(|x| x.2);
        let Some(&(nearest, _)) = nearest else { return Vec::new() };
        let agrees = |(r, n): &(&Member, usize)| {
            (0..(*n).min(nearest.sample.len())).all(|k| {
                let d = difference(self.model, self.unique, &self.states, &r.sample[k], &nearest.sample[k]);
                let allowed = self.allowed(k, &r.expected[k], &nearest.expected[k]);
                (0..3).all(|q| d.size[q] <= allowed[q])
            })
        };
        let mut members: Vec<(&Member, usize)> =
            list.iter().copied().filter(|m| m.0.second_order == nearest.second_order && agrees(m)).collect();
        // The most central result comes first: rotations are averaged around it.
        members.sort_by_key(|(r, _)| !std::ptr::eq(*r, nearest));
        (0..self.end)
            .map_while(|k| {
                let now: Vec<&Member> = members.iter().filter(|(_, n)| *n > k).map(|(r, _)| *r).collect();
                if now.is_empty() {
                    return None;
                }
                let list: Vec<&Instant> = now.iter().map(|r| &r.sample[k]).collect();
                let expected = std::array::from_fn(|q| now.iter().fold(0.0_f64, |m, r| m.max(r.expected[k][q])));
                Some((middle(&list), expected))
            })
            .collect()
    }

    /// Last grid time, beyond the start, until which at least two families have a valid result that agrees; and the witnesses.
    fn witnesses(&self, consensus: &[(Instant, [f64; 5])], outliers: &[Outlier]) -> (Option<usize>, Vec<(Family, &'static str)>) {
        let mut list: Vec<(Family, &'static str, usize)> = Vec::new();
        for (r, n) in self.ran.iter().zip(&self.sound) {
            let Some(family) = Family::of(r.info.name).filter(|_| !outliers.iter().any(|o| o.formulation == r.info.name)) else {
                continue;
            };
            // A result with a very large expected error agrees with everything.
            let meant = (0..*n).take_while(|&k| self.relative(r, k) <= LOST).count();
            list.push((family, r.info.name, meant.min(consensus.len())));
        }
        let enough = |k: usize| list.iter().filter(|w| w.2 > k).map(|w| w.0).collect::<BTreeSet<_>>().len() >= 2;
        let shown = (1..consensus.len()).take_while(|&k| enough(k)).last();
        let least = shown.map_or(2, |k| k + 1);
        (shown, list.into_iter().filter(|w| w.2 >= least).map(|w| (w.0, w.1)).collect())
    }

    fn judge(&self, r: &Member, consensus: &[(Instant, [f64; 5])], singular: &[bool]) -> (Row, Option<Outlier>) {
        let model = self.model;
        let mut worst = [0.0_f64; 5];
        let mut outlier: Option<Outlier> = None;
        for (k, (middle, expected)) in consensus.iter().enumerate().take(r.sample.len()) {
            let d = difference(model, self.unique, &self.states, &r.sample[k], middle);
            let allowed = self.allowed(k, &r.expected[k], expected);
            // Reactions are not defined at a singular position.
            for q in (0..5).filter(|q| *q != 3 || !singular[k]) {
                worst[q] = worst[q].max(d.size[q]);
                if outlier.is_none() && d.size[q] > allowed[q] {
                    let place = match QUANTITIES[q] {
                        Quantity::Reaction => &model.joints[d.place[q]].name,
                        Quantity::State => &model.states[d.place[q]].name,
                        _ => &model.bodies[d.place[q]].name,
                    };
                    outlier = Some(Outlier {
                        formulation: r.info.name,
                        time: middle.t,
                        place: place.clone(),
                        quantity: QUANTITIES[q],
                        difference: d.size[q],
                        allowed: allowed[q],
                    });
                }
            }
        }
        let mut laws = NewtonEuler::new(model);
        let (mut residual, mut force) = ((0.0_f64, 0, 0.0), 0.0_f64);
        let states = r.computed.as_ref().unwrap_or(&r.sample).iter().take(consensus.len());
        for (s, _) in states.zip(singular).filter(|(_, singular)| !**singular) {
            let (x, body, f) = laws.residual(s);
            if x > residual.0 {
                residual = (x, body, s.t);
            }
            force = force.max(f);
        }
        let (missing, body, time) = residual;
        let force = force.max(self.rounding.largest);
        let newton_euler = if force > 0.0 { missing / force } else { 0.0 };
        // The balance of forces and accelerations is no more accurate than the reactions.
        let expected = r.expected[..consensus.len().min(r.expected.len())].last().copied().unwrap_or([0.0; 5]);
        let balanced = UNBALANCED * force + expected[3];
        if outlier.is_none() && missing > balanced {
            outlier = Some(Outlier {
                formulation: r.info.name,
                time,
                place: model.bodies[body].name.clone(),
                quantity: Quantity::Laws,
                difference: missing,
                allowed: balanced,
            });
        }
        let constraints = r.sample.iter().fold([0.0_f64; 3], |m, s| std::array::from_fn(|k| m[k].max(s.errors[k])));
        let row = Row {
            formulation: r.info.name,
            integrator: r.integrator,
            second_order: r.second_order,
            setting: r.setting,
            difference: worst,
            expected,
            constraints,
            energy: self.energy(r).last().copied().unwrap_or(0.0),
            newton_euler,
            work: r.outcome.work.clone(),
            seconds: r.seconds,
            until: r.sample.last().map(|s| s.t),
            failure: r.stopped.clone(),
        };
        (row, outlier)
    }
}

fn failed(info: &FormulationInfo, d: &Diagnostic) -> Row {
    Row {
        formulation: info.name,
        integrator: info.integrators[0],
        second_order: false,
        setting: 0.0,
        difference: [0.0; 5],
        expected: [0.0; 5],
        constraints: [0.0; 3],
        energy: 0.0,
        newton_euler: 0.0,
        work: Vec::new(),
        seconds: 0.0,
        until: None,
        failure: Some(d.clone()),
    }
}
