//! Options of the formulation: treatment of constraint drift, penalties, tolerances.

use super::solver::Settings;
use crate::diagnostic::Diagnostic;
use crate::settings::{FIRST_STEP, OptionInfo, Study, TAU};
use crate::settings::{positive, tau, word};

/// The available options, each with its effect.
pub const KEYS: &[OptionInfo] = &[
    OptionInfo::new("projection", "step, stabilised or none"),
    OptionInfo::new("stages", "auto, project or plain: whether stages of a step are projected"),
    OptionInfo::new("Omega", "rate of `stabilised`, 1/s"),
    OptionInfo::new("mu", "damping of `stabilised`"),
    OptionInfo::new("alpha", "one penalty for all rows"),
    OptionInfo::new("iterations", "most iterations, 1 to 100"),
    OptionInfo::new("eps", "end of iterations of accelerations"),
    OptionInfo::new("eps-p", "end of iterations of positions"),
    OptionInfo::new("eps-v", "end of iterations of velocities"),
    OptionInfo::new("coordinates", "6, or 7 with Euler parameters"),
    OptionInfo::new("parallel", "yes or no"),
    FIRST_STEP,
    TAU,
];

/// Treatment of constraint drift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Projection {
    /// None.
    None,
    /// Baumgarte terms `2 Omega mu Phi_dot + Omega^2 Phi` in the rows.
    Stabilised,
    /// Positions and velocities are projected after every step.
    Step,
}

/// Whether the stages of a step are projected too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stages {
    /// If redundancy depends on the geometry.
    Auto,
    /// Always.
    Project,
    /// Never.
    Plain,
}

/// All options.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Settings of the solver.
    pub settings: Settings,
    /// Drift.
    pub projection: Projection,
    /// Stages.
    pub stages: Stages,
    /// Coordinates per body.
    pub seven: bool,
    /// Time that scales velocity errors relative to position errors.
    pub tau: f64,
}

impl Options {
    /// Reads the options of a study.
    pub fn new(study: &Study) -> Result<Self, Diagnostic> {
        let options = &study.options[..];
        let mut settings = Settings { alpha: positive(options, "alpha")?, ..Settings::default() };
        if let Some(n) = positive(options, "iterations")? {
            settings.iterations = n.clamp(1.0, 100.0) as usize;
        }
        for (key, target) in [("eps", &mut settings.eps_a), ("eps-p", &mut settings.eps_p), ("eps-v", &mut settings.eps_v)] {
            if let Some(x) = positive(options, key)? {
                *target = x;
            }
        }
        settings.parallel = word(options, "parallel", &[("yes", true), ("no", false)])?;
        let projection =
            word(options, "projection", &[("step", Projection::Step), ("none", Projection::None), ("stabilised", Projection::Stabilised)])?;
        // [Malczyk12, section 4.1]: the default of both is one.
        let (Omega, mu) = (positive(options, "Omega")?.unwrap_or(1.0), positive(options, "mu")?.unwrap_or(1.0));
        if projection == Projection::Stabilised {
            settings.stabilise = [2.0 * Omega * mu, Omega * Omega];
        }
        Ok(Self {
            settings,
            projection,
            stages: word(options, "stages", &[("auto", Stages::Auto), ("project", Stages::Project), ("plain", Stages::Plain)])?,
            seven: word(options, "coordinates", &[("6", false), ("7", true)])?,
            tau: tau(study)?,
        })
    }
}
