//! A mechanism with one formulation at two accuracies: the finer result, and its difference from the coarser one.

use fourbar::analysis::assembly::assemble;

use fourbar::analysis::uniqueness::not_unique;
use fourbar::motion::{Event, Instant, drive};
use fourbar::spec::ModelSpec;
use fourbar::study::{FormulationInfo, Study};
use fourbar::{Configuration, Model, Pose, Twist};
use fourbar_math::so3;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant as Clock};

/// Steps of second-order methods, and tolerances of the others.
const STEPS: [f64; 2] = [400.0, 800.0];
const TOLERANCES: [f64; 2] = [1e-7, 1e-9];

/// A run of this length takes milliseconds; one that has not ended by then is abandoned.
const PATIENCE: Duration = Duration::from_secs(10);

/// Position in metres, angle in radians, velocity in m/s (turns times the characteristic length).
pub type Gap = [f64; 3];

/// A run that others are compared with.
pub struct Base {
    pub spec: ModelSpec,
    pub model: Model,
    pub info: &'static FormulationInfo,
    pub start: Configuration,
    pub sample: Vec<Instant>,
    /// Largest difference of the two accuracies, and of the unique reactions.
    pub error: Gap,
    pub reaction_error: f64,
    /// Wall time of the finer run.
    pub seconds: f64,
    /// Reaction components that are unique, by joint.
    pub unique: Vec<[bool; 6]>,
}

/// The reason for a missing result.
pub enum Trouble {
    /// The formulation rejects the mechanism before the run.
    Refused(String),
    /// It failed during the run, or panicked.
    Broke(String),
    /// It was still running after a long time: stiff for this formulation, which violates no law.
    Slow(String),
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Trouble::Refused(why) => write!(f, "refused: {why}"),
            Trouble::Broke(why) => write!(f, "broke: {why}"),
            Trouble::Slow(why) => write!(f, "slow: {why}"),
        }
    }
}

impl Base {
    /// Runs a mechanism; `Ok(None)` if it cannot be built or assembled.
    pub fn new(spec: &ModelSpec, info: &'static FormulationInfo) -> Result<Option<Self>, Trouble> {
        let Ok(model) = spec.build() else { return Ok(None) };
        let Ok(assembled) = assemble(&model) else { return Ok(None) };
        let start = assembled.configuration;
        let coarse = sample(info, &model, &start, 0, 1.0)?;
        let clock = Clock::now();
        let fine = sample(info, &model, &start, 1, 1.0)?;
        let seconds = clock.elapsed().as_secs_f64();
        let open = not_unique(&model, &start);
        let parts = ["force.x", "force.y", "force.z", "torque.x", "torque.y", "torque.z"];
        let is_unique = |joint: &str, k: usize| !open.iter().any(|(j, c)| j == joint && c.iter().any(|c| c == parts[k]));
        let unique: Vec<[bool; 6]> = model.joints.iter().map(|j| std::array::from_fn(|k| is_unique(&j.name, k))).collect();
        let error = worst(&model, &coarse, &fine);
        let reaction_error = reactions(&model, &unique, &coarse, &fine);
        Ok(Some(Self { spec: spec.clone(), model, info, start, sample: fine, error, reaction_error, seconds, unique }))
    }

    /// Allowed difference of two results of this accuracy: a few times the error, and rounding amplified by the run.
    pub fn allowed(&self) -> Gap {
        let L = self.model.length;
        let speed = self.sample.iter().flat_map(|s| &s.v).fold(L, |m, v| m.max(v.v.norm()).max(L * v.w.norm()));
        [5.0 * self.error[0] + 1e-8 * L, 5.0 * self.error[1] + 1e-8, 5.0 * self.error[2] + 1e-8 * speed]
    }

    /// Runs another mechanism with the finer setting; times are scaled.
    pub fn again(&self, model: &Model, start: &Configuration, time: f64) -> Result<Vec<Instant>, Trouble> {
        sample(self.info, model, start, 1, time)
    }
}

/// A run with one of the two settings.
fn sample(info: &FormulationInfo, model: &Model, start: &Configuration, setting: usize, time: f64) -> Result<Vec<Instant>, Trouble> {
    let integrator = info.integrators[0];
    let mut study = Study::of(model);
    study.t_end *= time;
    study.output_step *= time;
    if integrator == "gen-alpha" {
        study.step = Some(study.t_end / STEPS[setting]);
    } else {
        study.tol = Some(TOLERANCES[setting]);
    }
    let told = |d: fourbar::Diagnostic| format!("{}: {}", d.code, d.message);
    let clock = Clock::now();
    let run = || {
        let mut motion =
            (info.start)(&fourbar::Structure::new(model, start), &study, integrator, start).map_err(|d| Trouble::Refused(told(d)))?;
        let mut now = Instant::new(model, start);
        let mut sample = Vec::new();
        let outputs = study.output_times().enumerate();
        let done = drive(motion.as_mut(), outputs, &mut now, &mut |event| {
            if let Event::At(_, now, _) = event {
                sample.push(now.clone());
            }
            clock.elapsed() < PATIENCE
        });
        match done {
            Ok(true) => Ok(sample),
            Ok(false) => Err(Trouble::Slow(format!("it had reached t = {:.3} s", motion.t()))),
            Err(d) => Err(Trouble::Broke(told(d))),
        }
    };
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|p| {
        let what = p.downcast_ref::<String>().cloned().or_else(|| p.downcast_ref::<&str>().map(|s| (*s).to_string()));
        Err(Trouble::Broke(format!("panic: {}", what.unwrap_or_default())))
    })
}

/// Differences of two bodies.
pub fn gap(L: f64, a: (&Pose, &Twist), b: (&Pose, &Twist)) -> Gap {
    let turned = so3::log(&(a.0.A.transpose() * b.0.A)).norm();
    // Angular velocities in the world, because body axes may differ by the error of the pose.
    let spin = (a.0.A * a.1.w - b.0.A * b.1.w).norm();
    [(a.0.r - b.0.r).norm(), turned, (a.1.v - b.1.v).norm().max(L * spin)]
}

/// The larger value of each entry.
pub fn larger(a: Gap, b: Gap) -> Gap {
    std::array::from_fn(|k| if b[k].is_nan() { f64::INFINITY } else { a[k].max(b[k]) })
}

/// Largest differences of two samples of one mechanism.
pub fn worst(model: &Model, a: &[Instant], b: &[Instant]) -> Gap {
    let mut w = if a.len() == b.len() { [0.0; 3] } else { [f64::INFINITY; 3] };
    for (a, b) in a.iter().zip(b) {
        for k in 1..model.bodies.len() {
            w = larger(w, gap(model.length, (&a.q[k], &a.v[k]), (&b.q[k], &b.v[k])));
        }
    }
    w
}

/// Largest difference of unique reaction components, torques divided by the characteristic length.
pub fn reactions(model: &Model, unique: &[[bool; 6]], a: &[Instant], b: &[Instant]) -> f64 {
    let mut w = 0.0_f64;
    for (a, b) in a.iter().zip(b) {
        for (j, unique) in unique.iter().enumerate() {
            let (x, y) = (&a.reactions[j], &b.reactions[j]);
            for k in 0..3 {
                if unique[k] {
                    w = w.max((x.force[k] - y.force[k]).abs());
                }
                if unique[3 + k] {
                    w = w.max((x.torque[k] - y.torque[k]).abs() / model.length);
                }
            }
        }
    }
    w
}
