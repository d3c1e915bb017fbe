//! Inverse dynamics over time: a motion is prescribed by the path of a point or by the drives of the file; the angles, speeds, efforts and
//! powers of the motors that cause it are computed.
//!
//! The path adds rows `e . r_P = c(t)` to those of the joints; kinematics then gives positions, velocities and accelerations. Along the
//! free motions `N` of the joints alone,
//! ```text
//! N^T B u = N^T (M a + h - Q)
//! ```
//! gives the efforts `u` of the motors with columns `B`: unique if there are as many motors as free motions, shared if there are more
//! (least weighted squares, within limits), and impossible if a residual remains, which is reported with the motion that lacks a motor.
//! Finally the efforts are applied in a forward evaluation: reactions are those with motors, not with the prescribed path, and the
//! accelerations must equal those of the path, which serves as a check.

mod check;
mod prescribe;

pub use check::{Jump, forward};
pub use prescribe::{Chosen, Motor, chosen};

use crate::operator::Space;
use crate::words;
use fourbar::constraint::ConstraintSet;
use fourbar::diagnostic::number;
use fourbar::evaluate::{Sharing, by_body, dense_rows, stacked};
use fourbar::motion::Instant;
use fourbar::spec::ModelSpec;
use fourbar::state::{Configuration, Twist};
use fourbar::study::{Analysis, Study};
use fourbar::trajectory::{Column, Recorder, Trajectory, WantedColumns, columns, rates};
use fourbar::{Diagnostic, Error, Evaluation, Model, Simulation, stop};
use nalgebra::DMatrix;
use std::sync::Arc;

/// Share of the largest singular value below which a position counts as nearly singular.
const NEAR: f64 = 0.02;

/// The requested analysis.
#[derive(Clone, Debug)]
pub struct Request {
    /// The path by name; `None` selects the first one of the file, or its drives if it has none.
    pub path: Option<String>,
    /// Motors by name, or joints, drives and actuators used as motors; if empty, all motors of the file.
    pub motors: Vec<String>,
    /// Weights of efforts by motor, in place of those of the file.
    pub weights: Vec<(String, f64)>,
    /// Study with end, output times and assembly mode.
    pub study: Study,
}

/// The closest approach to a singular position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// The smallest singular value over the largest.
    pub share: f64,
    /// Time, s.
    pub t: f64,
}

/// The result of an inverse analysis.
#[derive(Clone, Debug)]
pub struct Inverse {
    /// The mechanism with its motors as actuators whose efforts are inputs.
    pub model: Model,
    /// Name of the path; empty if the drives prescribe the motion.
    pub path: String,
    /// The motors.
    pub motors: Vec<Motor>,
    /// All columns of a run of the mechanism with its motors, followed by `MOTOR.angle` or `MOTOR.distance`, `MOTOR.speed`,
    /// `MOTOR.acceleration`.
    pub run: Trajectory,
    /// Degrees of freedom of the mechanism without its motors.
    pub freedom: usize,
    /// Whether each effort is unique all along the path.
    pub unique: Vec<bool>,
    /// Where a small motion of the point needs the largest motion of joints: speeds grow near zero.
    pub reach: Option<Nearest>,
    /// Where the motors act least on the free motions: efforts grow near zero.
    pub grip: Nearest,
    /// Largest difference between the accelerations caused by the efforts and those of the path, relative to the largest acceleration.
    pub error: f64,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
}

impl Inverse {
    /// A column of a motor.
    pub fn of(&self, motor: usize, what: &str) -> &[f64] {
        self.run.column(&format!("{}.{what}", self.motors[motor].name)).unwrap_or(&[])
    }
}

/// The state of the mechanism with motors, from a state without them and the efforts.
fn with_efforts(model: &Model, plain: &Configuration, own: usize, efforts: &[f64]) -> Configuration {
    let mut state = plain.clone();
    state.z = vec![0.0; model.auxiliaries()];
    let all = model.inputs.len();
    state.z[..own].copy_from_slice(&plain.z[..own]);
    state.z[own..own + efforts.len()].copy_from_slice(efforts);
    state.z[all..all + own].copy_from_slice(&plain.z[own..2 * own]);
    state.z[2 * all..].copy_from_slice(&plain.z[2 * own..]);
    state
}

/// All rows at a state, and which of them prescribe the motion.
struct Rows {
    set: ConstraintSet,
    prescribed: Vec<bool>,
}

impl Rows {
    fn new(model: &Model, c: &Chosen, t: f64) -> Self {
        let mut set = ConstraintSet::new(model.all_constraints(), |_| false);
        set.choose(t);
        let prescribed = (0..set.list.len())
            .flat_map(|k| std::iter::repeat_n(c.rows.contains(&set.list[k].name), set.row_start[k + 1] - set.row_start[k]))
            .collect();
        Self { set, prescribed }
    }

    fn part(&self, G: &DMatrix<f64>, prescribed: bool) -> DMatrix<f64> {
        let list: Vec<usize> = (0..G.nrows()).filter(|&k| self.prescribed[k] == prescribed).collect();
        DMatrix::from_fn(list.len(), G.ncols(), |i, j| G[(list[i], j)])
    }
}

/// Conditioning of some rows on some motions: the smallest singular value over the largest, one if there are none.
fn sees(A: &DMatrix<f64>) -> f64 {
    if A.is_empty() {
        return 1.0;
    }
    let s = A.singular_values();
    s.min() / s.max().max(f64::MIN_POSITIVE)
}

/// Angles, speeds, efforts and powers of motors for a prescribed motion.
pub fn inverse(spec: &ModelSpec, request: &Request) -> Result<Inverse, Error> {
    let c = chosen(spec, request)?;
    crate::operator::fits(&c.path_model)?;
    let path_model = Arc::new(c.path_model.clone());
    let model = &c.model;
    let mut study = request.study.clone();
    study.analysis = Some(Analysis::Kinematics);
    study.inputs.clear();
    let mut warnings: Vec<Diagnostic> = check::jumps(&c, study.t_end, study.output_step).map(|j| j.warning(&c)).into_iter().collect();
    let start = study.assemble(&path_model).map_err(|d| not_reached(&c, d, 0.0))?.configuration;
    let mut rows = Rows::new(&path_model, &c, 0.0);
    let freedom = determined(&c, &path_model, &rows, &start)?;
    let mut simulation = Simulation::new(&path_model, &study).map_err(|d| not_reached(&c, d, 0.0))?;
    let own = path_model.inputs.len();
    let names: Vec<&str> = c.motors.iter().map(|m| m.name.as_str()).collect();
    let weights: Vec<f64> = c.motors.iter().map(Motor::weight).collect::<Option<_>>().unwrap_or_default();
    let limits: Vec<f64> = c.motors.iter().map(|m| m.spec.limit.unwrap_or(f64::INFINITY)).collect();
    let limits = if limits.iter().any(|l| l.is_finite()) { limits } else { Vec::new() };
    let sharing = Sharing { weights: &weights, limits: &limits };
    let mut list = columns(model);
    let first_own = list.len();
    for m in &c.motors {
        let (key, unit) = if m.angular { ("angle", "rad") } else { ("distance", "m") };
        for (key, unit) in [(key, unit.to_string()), ("speed", format!("{unit}/s")), ("acceleration", format!("{unit}/s^2"))] {
            list.push(Column { name: format!("{}.{key}", m.name), unit: unit.into() });
        }
    }
    let mut run = Trajectory::new(list);
    let mut recorder = Recorder::new(model, WantedColumns::ALL);
    let mut out = Inverse {
        model: c.model.clone(),
        path: c.path.clone(),
        motors: c.motors.clone(),
        run: Trajectory::default(),
        freedom,
        unique: vec![true; c.motors.len()],
        reach: None,
        grip: Nearest { share: f64::INFINITY, t: 0.0 },
        error: 0.0,
        warnings: Vec::new(),
    };
    let (mut largest, mut off, mut beyond) = (0.0_f64, 0.0_f64, None);
    let (mut work, mut last) = (0.0, None::<(f64, f64)>);
    let times: Vec<f64> = study.output_times().collect();
    for &t in &times {
        stop::check()?;
        simulation.advance(t).map_err(|d| {
            let at = d.time.unwrap_or(t);
            not_reached(&c, d, at)
        })?;
        let state = simulation.state();
        let a = Evaluation::new(&path_model, &state)?.accelerations().to_vec();
        let free = Evaluation::new(model, &with_efforts(model, &state, own, &vec![0.0; names.len()]))?;
        let found = free.shared_efforts(&a, &names, &sharing)?;
        if !found.cause() {
            return Err(undriven(&c, model, &state, &found.motion, found.missing, t).into());
        }
        if !found.within && beyond.is_none() {
            beyond = Some(t);
        }
        out.unique.iter_mut().zip(&found.efforts.unique).for_each(|(all, now)| *all &= now);
        if found.grip < out.grip.share {
            out.grip = Nearest { share: found.grip, t };
        }
        rows.set.choose(t);
        let G = dense_rows(&path_model, &rows.set, &state.q);
        let N = Space::new(&path_model, &rows.part(&G, false)).N;
        let reach = sees(&(rows.part(&G, true) * N));
        if !c.path.is_empty() && out.reach.is_none_or(|r| reach < r.share) {
            out.reach = Some(Nearest { share: reach, t });
        }
        // Forward evaluation: the efforts must cause the prescribed accelerations.
        let acting = Evaluation::new(model, &with_efforts(model, &state, own, &found.efforts.values))?;
        let L = model.length;
        let size = |a: &[Twist]| a.iter().fold(0.0_f64, |s, a| s.max(a.v.norm()).max(L * a.w.norm()));
        let differ = by_body(&(stacked(acting.accelerations()) - stacked(&a)));
        largest = largest.max(size(&a));
        off = off.max(size(&differ));
        let mut instant = acting.instant().clone();
        let power: f64 = c.motors.iter().zip(&found.efforts.values).map(|(m, u)| u * coordinate(model, m, &instant)[1]).sum();
        if let Some((before, then)) = last {
            work += 0.5 * (t - before) * (power + then);
        }
        last = Some((t, power));
        instant.work = work;
        let mut row = Vec::with_capacity(run.columns.len());
        recorder.row(model, &instant, &mut row);
        debug_assert_eq!(row.len(), first_own);
        c.motors.iter().for_each(|m| row.extend(coordinate(model, m, &instant)));
        run.push(&row);
    }
    out.error = off / largest.max(f64::MIN_POSITIVE);
    out.run = run;
    if let Some(r) = out.reach.filter(|r| r.share < NEAR) {
        warnings.push(near(&c, &r, "the point hardly moves though joints do, so that they must be fast", model));
    }
    if out.grip.share < NEAR && c.motors.len() <= freedom {
        warnings.push(near(&c, &out.grip, "the motors hardly act on a free motion, so that efforts are large", model));
    }
    if let Some(t) = beyond {
        let message = format!("from t = {} s on no sharing of the load keeps every motor within its `limit`", number(t));
        warnings.push(Diagnostic::new("W422", message).time(t).help("the efforts of least squares are given there; take larger motors"));
    }
    out.warnings = warnings;
    Ok(out)
}

/// Coordinate, speed and acceleration of a motor's joint.
fn coordinate(model: &Model, m: &Motor, s: &Instant) -> [f64; 3] {
    let j = &model.joints[m.joint];
    let key = if m.angular { "angle" } else { "distance" };
    let Some((_, y)) = j.coordinates().find(|(k, _)| *k == key) else { return [0.0; 3] };
    let [a, b] = j.bodies.map(|b| &s.q[b.index()]);
    let [speed, acceleration] = rates(j, &y, s);
    [y.value(a, b, &s.turns), speed, acceleration]
}

/// Rejects a path that leaves a motion undetermined; returns the degrees of freedom of the joints alone.
fn determined(c: &Chosen, model: &Model, rows: &Rows, start: &Configuration) -> Result<usize, Diagnostic> {
    let G = dense_rows(model, &rows.set, &start.q);
    let all = Space::new(model, &G);
    let freedom = Space::new(model, &rows.part(&G, false)).freedom();
    if all.freedom() == 0 {
        return Ok(freedom);
    }
    let motions: Vec<_> = all.N.column_iter().map(|n| n.into_owned()).collect();
    let free = words::describe(model, &start.q, &motions);
    let list: Vec<String> = free.iter().map(|f| format!("`{f}`")).collect();
    let what = if c.path.is_empty() { "the drives leave".to_string() } else { format!("the path `{}` leaves", c.path) };
    let message = format!("{what} {} open: {}", fourbar::study::count(all.freedom(), "motion"), list.join(", "));
    let help = "prescribe another coordinate of the point, keep a joint with `keep: [joint]` in the path, or give one a drive";
    Err(Diagnostic::new("S422", message).names(free).help(help))
}

fn not_reached(c: &Chosen, d: Diagnostic, t: f64) -> Diagnostic {
    if c.path.is_empty() {
        return d;
    }
    let where_to = if t == 0.0 { "its start".to_string() } else { format!("t = {} s", number(t)) };
    let message = format!("the point `{}` does not reach the path `{}` at {where_to}: {}", c.point, c.path, d.message);
    let help = "shift the path into the reach of the mechanism, or draw the mechanism nearer to its start; `--mode` starts in another assembly mode";
    Diagnostic::new("S420", message).time(t).names(d.names).help(help)
}

fn undriven(c: &Chosen, model: &Model, state: &Configuration, motion: &[Twist], missing: f64, t: f64) -> Diagnostic {
    let what = words::motion(model, &state.q, &stacked(motion));
    let list: Vec<String> = c.motors.iter().map(|m| format!("`{}`", m.name)).collect();
    let message = format!(
        "at t = {} s {} cannot cause the motion: nothing drives {what}, where a force of {} is missing",
        number(t),
        list.join(", "),
        number(missing)
    );
    let names = c.motors.iter().map(|m| m.name.clone());
    Diagnostic::new("S421", message).time(t).names(names).help("add a motor on a joint that takes part in this motion")
}

fn near(c: &Chosen, at: &Nearest, why: &str, model: &Model) -> Diagnostic {
    let joints: Vec<String> = c.motors.iter().map(|m| model.joints[m.joint].name.clone()).collect();
    let message =
        format!("at t = {} s the mechanism is near a singular position ({} of a regular one): {why}", number(at.t), number(at.share));
    Diagnostic::new("W421", message).time(at.t).names(joints).help("shift the path, or start in another assembly mode with `--mode`")
}
