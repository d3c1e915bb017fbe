//! Work and precision: accuracy and time of a formulation over a range of tolerances or steps.

use fourbar::analysis::assembly::assemble;

use fourbar::diagnostic::Diagnostic;
use fourbar::motion::{Event, Instant, Outcome, drive};
use fourbar::study::{FORMULATIONS, FormulationInfo, Study};
use fourbar::trajectory::energies;
use fourbar::{Configuration, Model};
use fourbar_bench::cpu_clock;
use fourbar_check::verify::apart;
use std::time::{Duration, Instant as Clock};

/// One run.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// Largest error of a position relative to the length, or of an angle.
    pub error: f64,
    /// Tolerance, if there is one.
    pub tol: f64,
    /// Shortest processor time of the runs, seconds, including set-up and output.
    pub seconds: f64,
    /// The part before the first step.
    pub setup: f64,
    /// Numbers of steps, and of evaluations of the equations if counted.
    pub counts: [f64; 2],
    /// Largest error of energy minus work, joules.
    pub energy: f64,
}

/// A formulation with one of its integrators, over its settings.
pub struct Line {
    /// Formulation.
    pub formulation: &'static str,
    /// Integrator.
    pub integrator: &'static str,
    /// Runs, coarsest first.
    pub points: Vec<Point>,
    /// Reason for missing points.
    pub failure: Option<String>,
}

impl Line {
    /// Time to reach an accuracy, by logarithmic interpolation between runs; at most that of the fastest more accurate run.
    pub fn time_for(&self, error: f64) -> Option<f64> {
        let better = self.points.iter().filter(|p| p.error <= error).map(|p| p.seconds).reduce(f64::min)?;
        let between = self.points.windows(2).filter(|w| w[0].error > error && w[1].error <= error).map(|w| {
            let share = (w[0].error / error).ln() / (w[0].error / w[1].error.max(1e-16)).ln();
            w[0].seconds * (w[1].seconds / w[0].seconds).powf(share)
        });
        Some(between.fold(better, f64::min))
    }
}

/// A timed run.
struct Timed {
    sample: Vec<Instant>,
    outcome: Outcome,
    setup: f64,
    seconds: f64,
}

impl Timed {
    /// One run, with its processor time before the first step and in total.
    fn new(
        patience: f64,
        model: &Model,
        from: &Configuration,
        info: &FormulationInfo,
        integrator: &'static str,
        study: &Study,
    ) -> Result<Self, Diagnostic> {
        let (begin, longest) = (Clock::now(), Duration::from_secs_f64(patience));
        let start = cpu_clock();
        let mut motion = (info.start)(&fourbar::Structure::new(model, from), study, integrator, from)?;
        let setup = cpu_clock() - start;
        let mut now = Instant::new(model, from);
        let rows = study.output_times().count();
        let mut sample = Vec::with_capacity(rows);
        let done = drive(motion.as_mut(), study.output_times().enumerate(), &mut now, &mut |event| {
            if let Event::At(_, now, _) = event {
                sample.push(now.clone());
            }
            // Other programs use the machine too: wall time, which is cheaper to query, may be several times the processor time.
            begin.elapsed() < longest || cpu_clock() - start < patience
        })?;
        let seconds = cpu_clock() - start;
        if !done && sample.len() < rows {
            return Err(Diagnostic::new("S251", "patience ended"));
        }
        let mut outcome = Outcome::default();
        motion.report(&mut outcome);
        Ok(Timed { sample, outcome, setup, seconds })
    }
}

/// A mechanism with its consistent start and a reference motion, far more accurate than the runs.
pub struct Case {
    /// The mechanism.
    pub model: Model,
    /// The consistent start.
    pub start: Configuration,
    /// Settings with the output times.
    pub study: Study,
    /// The reference motion.
    pub truth: Vec<Instant>,
    /// The formulation of the reference motion.
    pub by: &'static str,
    /// Distance between the two best results.
    pub doubt: f64,
    /// Whether runs are timed once at first, and later repeated by [`Case::time_again`].
    pub once: bool,
}

/// Tolerances of adaptive methods.
const TOLERANCES: &[f64] = &[1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11];
/// Tolerances of the reference motion.
const TRUE_TOLERANCES: &[f64] = &[1e-12, 1e-10];
/// Two results closer than this determine the reference motion.
const CERTAIN: f64 = 1e-10;
/// A fixed step, or a tolerance.
type Setting = (Option<f64>, Option<f64>);

fn is_second_order(integrator: &str) -> bool {
    matches!(integrator, "gen-alpha" | "bdf2" | "backward-euler")
}

impl Case {
    /// Assembles and computes the reference: of the accurate formulations, the one nearest to another. A formulation that takes too long at
    /// the tightest tolerance is run with the next one.
    pub fn new(model: Model, study: Study) -> Result<Self, String> {
        Self::within(10.0, TRUE_TOLERANCES, CERTAIN, model, study)
    }

    /// The same with a time limit for each accurate run, tolerances of the reference, and the required distance between two results.
    pub fn within(patience: f64, tolerances: &[f64], certain: f64, model: Model, mut study: Study) -> Result<Self, String> {
        let start = assemble(&model).map_err(|d| d.to_string())?.configuration;
        study.step = None;
        let mut best: Vec<(&'static str, Vec<Instant>)> = Vec::new();
        for name in ["natural", "grcr", "lie", "dca"] {
            let Some(info) = FORMULATIONS.iter().find(|f| f.name == name) else { continue };
            let integrator = info.integrators.iter().copied().find(|i| *i == "dop853").unwrap_or(info.integrators[0]);
            let at = |tol: &f64| {
                let study = Study { tol: Some(*tol), ..study.clone() };
                Timed::new(patience, &model, &start, info, integrator, &study).ok()
            };
            best.extend(tolerances.iter().find_map(at).map(|t| (name, t.sample)));
            if best.len() == 3 || best.len() == 2 && apart(&model, &best[0].1, &best[1].1) < certain {
                break;
            }
        }
        let mut pairs = Vec::new();
        for i in 0..best.len() {
            for j in i + 1..best.len() {
                pairs.push((apart(&model, &best[i].1, &best[j].1), i));
            }
        }
        let (doubt, k) = pairs.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).ok_or("fewer than two accurate formulations could run it")?;
        let (by, truth) = best.swap_remove(k);
        Ok(Self { model, start, study, truth, by, doubt, once: false })
    }

    /// One run; if short, the shortest time of several.
    fn point(&self, patience: f64, info: &FormulationInfo, integrator: &'static str, setting: Setting) -> Result<Point, Diagnostic> {
        let mut study = self.study.clone();
        (study.step, study.tol) = setting;
        let run = || Timed::new(patience, &self.model, &self.start, info, integrator, &study);
        let Timed { sample, outcome, mut setup, mut seconds } = run()?;
        let again = match seconds {
            _ if self.once => 0,
            ..0.02 => 5,
            ..0.5 => 1,
            _ => 0,
        };
        for _ in 0..again {
            let t = run()?;
            (setup, seconds) = (setup.min(t.setup), seconds.min(t.seconds));
        }
        let total = |s: &Instant| {
            let (t, v) = energies(&self.model, s);
            t + v - s.work
        };
        let first = sample.first().map_or(0.0, total);
        let energy = sample.iter().fold(0.0_f64, |m, s| m.max((total(s) - first).abs()));
        let count = |names: &[&str]| outcome.work.iter().find(|(name, _)| names.contains(name)).map_or(0.0, |w| w.1);
        let counts = [count(&["steps"]), count(&["evaluations", "expansions", "newton_iterations"])];
        let error = apart(&self.model, &sample, &self.truth);
        Ok(Point { error, tol: setting.1.unwrap_or(0.0), seconds, setup, counts, energy })
    }

    /// Repeats the timing of runs in several rounds and keeps the shortest: on a shared machine, slow periods then affect all of them. Only
    /// runs with a tolerance that take less than `most` seconds.
    pub fn time_again(&self, rounds: usize, most: f64, lines: &mut [Line]) {
        for _ in 0..rounds {
            for line in lines.iter_mut() {
                let Some(info) = FORMULATIONS.iter().find(|f| f.name == line.formulation) else { continue };
                for p in line.points.iter_mut().filter(|p| p.tol > 0.0 && p.seconds < most) {
                    let study = Study { tol: Some(p.tol), ..self.study.clone() };
                    if let Ok(t) = Timed::new(10.0 * most, &self.model, &self.start, info, line.integrator, &study) {
                        (p.setup, p.seconds) = (p.setup.min(t.setup), p.seconds.min(t.seconds));
                    }
                }
            }
        }
    }

    /// All settings of a formulation with an integrator, until the error is below `enough` or the time exceeds `patience`. Methods of
    /// second order take fixed steps if `fixed`, otherwise tolerances like the others.
    pub fn line(&self, info: &'static FormulationInfo, integrator: &'static str, enough: f64, patience: f64, fixed: bool) -> Line {
        let mut line = Line { formulation: info.name, integrator, points: Vec::new(), failure: None };
        let settings: Vec<Setting> = if fixed && is_second_order(integrator) || integrator == "rk4" {
            let coarse = self.study.output_step;
            (0..14).map(|k| (Some(coarse / f64::from(1 << k)), None)).collect()
        } else {
            TOLERANCES.iter().map(|t| (None, Some(*t))).collect()
        };
        for setting in settings {
            match self.point(2.0 * patience, info, integrator, setting) {
                Ok(p) => {
                    line.points.push(p);
                    if p.seconds > patience || p.error < enough.max(10.0 * self.doubt) {
                        break;
                    }
                }
                // A coarse setting may fail where a finer one succeeds.
                Err(d) => {
                    line.failure = Some(d.to_string());
                    if d.code.to_string() == "S251" {
                        break;
                    }
                }
            }
        }
        if !line.points.is_empty() {
            line.failure = None;
        }
        line
    }
}

/// Every formulation with its default integrator, and the additional integrators named.
pub fn all(case: &Case, enough: f64, patience: f64, further: &[&str]) -> Vec<Line> {
    let mut lines = Vec::new();
    for info in FORMULATIONS {
        for &i in info.integrators.iter().enumerate().filter(|(k, i)| *k == 0 || further.contains(i)).map(|(_, i)| i) {
            lines.push(case.line(info, i, enough, patience, true));
        }
    }
    lines
}
