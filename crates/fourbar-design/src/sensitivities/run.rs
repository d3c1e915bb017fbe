//! Derivatives of whole runs.
//!
//! A driven mechanism is solved for at every output time. In dynamics the tangent `(q_p, v_p)` obeys a linear differential equation along the
//! motion, whose coefficients are exact and whose right-hand sides are one for each parameter; all parameters share one factor. It is
//! integrated by the trapezoidal rule with three step sizes, extrapolated, so that stiff forces do no harm and the error is known.
//! Columns follow from evaluations of the mechanisms around, at the states they are in.
//!
//! Where the equations have kinks, dry friction or numbers of their own that are integrated, runs themselves are compared instead
//! ([`Method::Differences`]).

use super::state::{Row, Tangent, Varied, pairs, start_tangents};
use super::{Derivative, Parameters};
use crate::linear::{Accelerations, motion};
use crate::measure::Measure;
use crate::operator::without_dry_friction;
use fourbar::evaluate::stacked;
use fourbar::force::Force;
use fourbar::state::{Configuration, Twist};
use fourbar::study::{self, Analysis, Study};
use fourbar::trajectory::Trajectory;
use fourbar::{Diagnostic, Error, Model, Simulation, Structure};
use fourbar_math::so3::tilde;
use nalgebra::{DMatrix, DVector};
use std::sync::Arc;
use std::time::Instant;

/// Parts of an output step at which the coefficients of the tangent are taken, multiples of four: more where fewer do not suffice.
const PARTS: [usize; 3] = [4, 16, 64];
/// Differences of the two extrapolations, as a share of the largest increment, that suffice, and beyond which runs are compared instead.
const ENOUGH: f64 = 1e-5;
const TOO_MUCH: f64 = 1e-2;
/// Most evaluations times the cube of their size.
const WORK: f64 = 2e9;
/// Loosest tolerance of a run that is differentiated.
const TIGHT: f64 = 1e-9;
/// Change of a parameter as a share of it where runs are compared.
const APART: f64 = 1e-4;
/// Growth of a tangent beyond which a derivative says nothing about changes of practical size.
const USELESS: f64 = 1e8;

/// How derivatives of a run were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Solved for at every output time: the drives prescribe everything.
    Kinematics,
    /// The tangent of the motion, integrated with it.
    Tangent,
    /// Differences of runs.
    Differences,
}

impl Method {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Kinematics => "solved for at every output time",
            Self::Tangent => "the tangent of the motion, integrated along it",
            Self::Differences => "differences of runs",
        }
    }
}

/// A run and its derivatives.
#[derive(Clone, Debug)]
pub struct OfRun {
    /// The run.
    pub run: Trajectory,
    /// Derivatives of all its columns, by parameter asked for.
    pub slopes: Vec<Trajectory>,
    /// The same found with less effort; the difference tells the error.
    pub rough: Vec<Trajectory>,
    /// How they were found.
    pub method: Method,
    /// Seconds that the run alone took, and the run with its derivatives.
    pub seconds: [f64; 2],
    /// What the reader should know.
    pub warnings: Vec<Diagnostic>,
}

/// Why the equations of a mechanism are not differentiated, if they are not.
fn kinks(model: &Model) -> Option<String> {
    if !model.states.is_empty() {
        return Some("it has states of its own".into());
    }
    for (name, f) in &model.forces {
        match f {
            Force::Friction(f) if f.coulomb != 0.0 => return Some(format!("`{name}` is dry friction")),
            Force::Rope(_) => return Some(format!("`{name}` is a rope, which goes slack")),
            _ => {}
        }
        if f.touches().laws.iter().any(|law| law.expr.has_pieces()) {
            return Some(format!("the law of `{name}` has pieces"));
        }
    }
    None
}

/// Derivatives of a run by some parameters.
pub fn of_run(parameters: &Parameters<'_>, study: &Study, which: &[usize]) -> Result<OfRun, Error> {
    let model = parameters.model()?;
    let mut study = study.clone();
    if study.step.is_none() {
        study.tol = Some(study.tol.unwrap_or(TIGHT).min(TIGHT));
    }
    let fits = crate::operator::fits(&model).is_ok();
    let why = if fits { kinks(&model) } else { Some("it is too large for dense matrices".into()) };
    let start = study.assemble(&model)?.configuration;
    let analysis = study.analysis_of(&Structure::new(&model, &start));
    match (analysis, why) {
        (_, Some(why)) => {
            let message = format!("derivatives are differences of runs, because {why}");
            let warning = Diagnostic::new("W424", message).help("the error that is given comes from two sizes of the change");
            differences(parameters, &study, which, vec![warning])
        }
        (Analysis::Kinematics, None) => driven(parameters, &study, which),
        (Analysis::Dynamics, None) => {
            let evaluations = |parts: usize| parts as f64 * study.t_end / study.output_step * (6.0 * model.moving() as f64).powi(3);
            let mut best: Option<(OfRun, f64)> = None;
            for parts in PARTS {
                if best.is_some() && evaluations(parts) > WORK {
                    break;
                }
                let now = moved(parameters, &study, which, parts)?;
                let enough = now.1 <= ENOUGH;
                best = Some(now);
                if enough {
                    break;
                }
            }
            match best {
                Some((run, share)) if share <= TOO_MUCH => Ok(run),
                _ => {
                    let message = "derivatives are differences of runs, because the tangent of the motion would need very small steps";
                    let warning = Diagnostic::new("W424", message).help("the error that is given comes from two sizes of the change");
                    differences(parameters, &study, which, vec![warning])
                }
            }
        }
    }
}

/// The start of a study.
fn begin(study: &Study) -> impl Fn(&Model) -> Result<Configuration, Error> + '_ {
    |m: &Model| Ok(study.assemble(m)?.configuration)
}

fn empty(row: &Row<'_>, count: usize) -> Vec<Trajectory> {
    vec![Trajectory::new(row.columns()); count]
}

fn driven(parameters: &Parameters<'_>, study: &Study, which: &[usize]) -> Result<OfRun, Error> {
    let clock = Instant::now();
    let model = Arc::new(parameters.model()?);
    let pairs = pairs(parameters, &model, which)?;
    let mut study = study.clone();
    study.analysis = Some(Analysis::Kinematics);
    let times: Vec<f64> = study.output_times().collect();
    let mut simulation = Simulation::new(&model, &study)?;
    let mut states = Vec::with_capacity(times.len());
    for t in &times {
        simulation.advance(*t)?;
        states.push(simulation.state());
    }
    let plain = clock.elapsed().as_secs_f64();
    let mut varied = Varied::new(&model, &pairs, &states[0]);
    let mut row = Row::new(&model, &pairs);
    let (mut run, mut slopes) = (Trajectory::new(row.columns()), empty(&row, which.len()));
    let size = 6 * model.moving();
    let still = vec![Twist::zero(); model.bodies.len()];
    for state in &states {
        varied.choose(state.t);
        let spaces = varied.spaces(state);
        super::alone::check(parameters, &varied, state, &spaces[0], which)?;
        let rates = varied.op.row_derivatives(state, &still).rates;
        run.push(&row.value(state)?);
        for (k, slope) in slopes.iter_mut().enumerate() {
            let none = Tangent { q: DVector::zeros(size), v: DVector::zeros(size) };
            let x = varied.corrected(k, state, &spaces, &none, &rates);
            slope.push(&row.slope(k, state, &x)?);
        }
    }
    let seconds = [plain, clock.elapsed().as_secs_f64()];
    Ok(OfRun { run, rough: slopes.clone(), slopes, method: Method::Kinematics, seconds, warnings: Vec::new() })
}

/// The coefficients of the tangent at an instant: `x' = A x + b`, a column of `b` for each parameter.
struct Coefficients {
    A: DMatrix<f64>,
    b: DMatrix<f64>,
}

fn coefficients(varied: &mut Varied<'_>, state: &Configuration, count: usize) -> Result<Coefficients, Error> {
    varied.choose(state.t);
    let model = varied.op.model;
    let n = 6 * model.moving();
    let all = varied.spaces(state)[1].clone();
    let M = varied.op.mass();
    let (a, lambda) = motion(&varied.op, state, &all, &M)?;
    let rows = varied.op.row_derivatives(state, &a);
    let (K, D) = varied.op.stiffness(state, &lambda);
    let solve = Accelerations::new(model, &all, &M, &all.N);
    let mut A = DMatrix::zeros(2 * n, 2 * n);
    for (k, v) in state.v.iter().skip(1).enumerate() {
        A.fixed_view_mut::<3, 3>(6 * k + 3, 6 * k + 3).copy_from(&(-tilde(&v.w)));
    }
    A.view_mut((0, n), (n, n)).fill_with_identity();
    A.view_mut((n, 0), (n, n)).copy_from(&solve.of(&(-K), &(&rows.gamma_q - &rows.accelerations)));
    A.view_mut((n, n), (n, n)).copy_from(&solve.of(&(-D), &rows.gamma_v));
    let a = stacked(&a);
    let (mut forces, mut asked) = (DMatrix::zeros(n, count), DMatrix::zeros(rows.rates.nrows(), count));
    for k in 0..count {
        forces.set_column(k, &-varied.imbalance_by(k, state, &a, &lambda));
        asked.set_column(k, &-varied.bends_by(k, state, &a));
    }
    let mut b = DMatrix::zeros(2 * n, count);
    b.rows_mut(n, n).copy_from(&solve.of(&forces, &asked));
    Ok(Coefficients { A, b })
}

/// One step of the trapezoidal rule for all parameters.
fn step(x: &DMatrix<f64>, h: f64, from: &Coefficients, to: &Coefficients) -> Option<DMatrix<f64>> {
    let right = x + (&from.A * x + &from.b + &to.b) * (0.5 * h);
    let left = DMatrix::identity(x.nrows(), x.nrows()) - &to.A * (0.5 * h);
    left.lu().solve(&right)
}

/// Derivatives along the motion, and by which share of the largest increments of poses two extrapolations differ.
fn moved(parameters: &Parameters<'_>, study: &Study, which: &[usize], parts: usize) -> Result<(OfRun, f64), Error> {
    let clock = Instant::now();
    let model = Arc::new(parameters.model()?);
    let smooth = without_dry_friction(&model).0;
    let pairs = pairs(parameters, &model, which)?;
    let times: Vec<f64> = study.output_times().collect();
    let mut simulation = Simulation::new(&model, study)?;
    simulation.run_ahead(study.t_end);
    // States between the output times as well, where the coefficients of the tangent are taken.
    let mut states = vec![simulation.state()];
    for w in times.windows(2) {
        for part in 1..=parts {
            let t = if part == parts { w[1] } else { w[0] + (w[1] - w[0]) * part as f64 / parts as f64 };
            simulation.advance(t)?;
            states.push(simulation.state());
        }
    }
    let plain = clock.elapsed().as_secs_f64();
    let mut varied = Varied::new(&smooth, &pairs, &states[0]);
    let first = start_tangents(parameters, &mut varied, &states[0], which, &begin(study))?;
    let n = 6 * model.moving();
    let count = which.len();
    let mut x0 = DMatrix::zeros(2 * n, count);
    for (k, x) in first.iter().enumerate() {
        x0.view_mut((0, k), (n, 1)).copy_from(&x.q);
        x0.view_mut((n, k), (n, 1)).copy_from(&x.v);
    }
    let mut row = Row::new(&smooth, &pairs);
    let (mut run, mut slopes, mut rough) = (Trajectory::new(row.columns()), empty(&row, count), empty(&row, count));
    // Three passes side by side: every state, every second, every fourth.
    let mut x = [x0.clone(), x0.clone(), x0.clone()];
    let mut window: Vec<Coefficients> = vec![coefficients(&mut varied, &states[0], count)?];
    let mut warnings = Vec::new();
    let begun = x0.amax().max(1e-6);
    let (mut largest, mut apart) = (f64::MIN_POSITIVE, 0.0_f64);
    let failed = |t: f64| {
        let message = format!("at t = {} s the tangent of the motion cannot be solved for", fourbar::diagnostic::number(t));
        Error::from(Diagnostic::new("S432", message).time(t).help("the mechanism may be at a singular position there"))
    };
    for (i, t) in times.iter().enumerate() {
        let state = &states[i * parts];
        if i > 0 {
            for k in 1..=parts {
                window.push(coefficients(&mut varied, &states[(i - 1) * parts + k], count)?);
            }
            for (pass, x) in x.iter_mut().enumerate() {
                let stride = 1 << pass;
                for k in (0..parts).step_by(stride) {
                    let h = states[(i - 1) * parts + k + stride].t - states[(i - 1) * parts + k].t;
                    *x = step(x, h, &window[k], &window[k + stride]).ok_or_else(|| failed(*t))?;
                }
            }
            window.drain(..parts);
        }
        varied.choose(*t);
        let spaces = varied.spaces(state);
        super::alone::check(parameters, &varied, state, &spaces[0], which)?;
        let rates = varied.op.row_derivatives(state, &vec![Twist::zero(); model.bodies.len()]).rates;
        let fine = (&x[0] * 4.0 - &x[1]) / 3.0;
        let coarse = (&x[1] * 4.0 - &x[2]) / 3.0;
        largest = largest.max(fine.rows(0, n).amax());
        apart = apart.max((&fine - &coarse).rows(0, n).amax());
        run.push(&row.value(state)?);
        for k in 0..count {
            for (of, into) in [(&fine, &mut slopes[k]), (&coarse, &mut rough[k])] {
                let column = of.column(k);
                let tangent = Tangent { q: column.rows(0, n).into_owned(), v: column.rows(n, n).into_owned() };
                let tangent = varied.corrected(k, state, &spaces, &tangent, &rates);
                into.push(&row.slope(k, state, &tangent)?);
            }
        }
        if warnings.is_empty() && fine.amax() > USELESS * begun {
            let message =
                format!("from t = {} s on the motion is so sensitive that derivatives are of no use", fourbar::diagnostic::number(*t));
            warnings.push(Diagnostic::new("W425", message).time(*t).help("ask for them at an earlier time"));
        }
    }
    let seconds = [plain, clock.elapsed().as_secs_f64()];
    Ok((OfRun { run, slopes, rough, method: Method::Tangent, seconds, warnings }, apart / largest))
}

/// Derivatives as differences of runs, with two sizes of the change.
pub(super) fn differences(parameters: &Parameters<'_>, study: &Study, which: &[usize], warnings: Vec<Diagnostic>) -> Result<OfRun, Error> {
    let clock = Instant::now();
    let run_of = |m: &Model| -> Result<Trajectory, Error> {
        let mut out = Trajectory::default();
        study::run(m, study, &mut out)?;
        Ok(out)
    };
    let run = run_of(&parameters.model()?)?;
    let plain = clock.elapsed().as_secs_f64();
    let (mut slopes, mut rough) = (Vec::new(), Vec::new());
    for &k in which {
        let by = |share: f64| -> Result<Trajectory, Error> {
            let h = parameters.step(k, share);
            let (less, more) = (run_of(&parameters.varied(k, -h)?)?, run_of(&parameters.varied(k, h)?)?);
            let mut out = less.clone();
            for (c, column) in out.values.iter_mut().enumerate() {
                column.iter_mut().zip(&more.values[c]).for_each(|(a, b)| *a = (b - *a) / (2.0 * h));
            }
            Ok(out)
        };
        slopes.push(by(APART)?);
        rough.push(by(2.0 * APART)?);
    }
    let seconds = [plain, clock.elapsed().as_secs_f64()];
    Ok(OfRun { run, slopes, rough, method: Method::Differences, seconds, warnings })
}

/// The derivatives of a measure of a run: at the instants of its extremes, and by the slopes of what crosses where it asks for a time.
pub fn of_measure(measure: &Measure, of: &OfRun) -> Result<Derivative, Diagnostic> {
    let work = of.run.find("energy.work");
    if of.method != Method::Differences && measure.reads().any(|c| Some(c) == work) {
        let d = Diagnostic::new("U412", format!("`{}` reads `energy.work`, whose derivative is not computed", measure.text));
        return Err(d.help("integrate the power instead: `integral(motor.power)`"));
    }
    let value = measure.of(&of.run)?;
    let (mut slopes, mut errors) = (Vec::new(), Vec::new());
    for (fine, rough) in of.slopes.iter().zip(&of.rough) {
        let slope = measure.along(&of.run, fine)?.value.c[1];
        let other = measure.along(&of.run, rough)?.value.c[1];
        slopes.push(slope);
        // Evaluations of the mechanisms around are good to some nine digits.
        errors.push((slope - other).abs() + 1e-8 * slope.abs());
    }
    Ok(Derivative { of: measure.text.clone(), value: value.value, unit: measure.unit(), slopes, errors })
}

/// Extremes of a measure that are reached at several instants with derivatives that differ.
pub fn ties(measure: &Measure, of: &OfRun) -> Option<Diagnostic> {
    let value = measure.of(&of.run).ok()?;
    let tied = value.extremes.iter().find(|e| !e.ties.is_empty())?;
    // Where the other instants have the same derivative it does not matter which is taken.
    let t = of.run.column("t")?;
    let differs = of.slopes.iter().any(|s| {
        let at = |row: usize| -> Option<f64> {
            let one =
                |tr: &Trajectory| Trajectory { columns: tr.columns.clone(), values: tr.values.iter().map(|c| vec![c[row]]).collect() };
            Some(measure.along(&one(&of.run), &one(s)).ok()?.value.c[1])
        };
        let first = at(tied.row);
        tied.ties.iter().any(|row| match (first, at(*row)) {
            (Some(a), Some(b)) => (a - b).abs() > 1e-3 * a.abs().max(b.abs()).max(1e-300),
            _ => true,
        })
    });
    let times: Vec<String> = tied.ties.iter().take(4).map(|k| fourbar::diagnostic::number(t[*k])).collect();
    let message = format!(
        "`{}` is reached at t = {} s and as well at {} s, with other derivatives",
        tied.of,
        fourbar::diagnostic::number(tied.t),
        times.join(", ")
    );
    differs.then(|| {
        Diagnostic::new("W423", message)
            .time(tied.t)
            .help("the derivative is that of the first; on one side of the value another instant decides")
    })
}
