//! Settings of a run, as used by a formulation and its integrator: analysis, tolerance, options.

mod changes;

pub use changes::Changes;

use crate::diagnostic::Diagnostic;
use crate::inputs::Course;
use crate::model::Model;
use serde::{Deserialize, Serialize};

/// Kind of analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Analysis {
    /// Prescribed motion by the drives.
    Kinematics,
    /// Motion from forces and inertia.
    Dynamics,
}

/// Settings of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Study {
    /// Analysis; `None` selects kinematics if the drives leave no freedom, else dynamics.
    pub analysis: Option<Analysis>,
    /// Formulation; `None` or `auto` selects one automatically.
    pub formulation: Option<String>,
    /// Integrator; `None` selects the formulation's default.
    pub integrator: Option<String>,
    /// End of the run.
    pub t_end: f64,
    /// Distance of output times.
    pub output_step: f64,
    /// Fixed step; `None` means adaptive.
    pub step: Option<f64>,
    /// Tolerance of adaptive runs.
    pub tol: Option<f64>,
    /// Options of formulation and integrator.
    pub options: Vec<(String, String)>,
    /// Inputs by name, if they differ from their defaults at some time.
    pub inputs: Vec<(String, Course)>,
    /// Assembly mode to start in, numbered from 1 as listed by `fourbar check`; `None` selects the drawn one.
    pub mode: Option<u16>,
}

impl Study {
    /// The study in the model's file.
    pub fn of(model: &Model) -> Self {
        let s = &model.study;
        let analysis = match s.analysis.as_deref() {
            Some("kinematics") => Some(Analysis::Kinematics),
            Some("dynamics") => Some(Analysis::Dynamics),
            _ => None,
        };
        Self {
            analysis,
            formulation: s.formulation.clone(),
            integrator: s.integrator.clone(),
            t_end: s.t_end,
            output_step: s.output_step.unwrap_or(s.t_end / 200.0),
            step: s.step,
            tol: s.tol,
            options: s.options.clone(),
            inputs: Vec::new(),
            mode: None,
        }
    }

    /// Whether the formulation is chosen automatically.
    pub fn is_auto(&self) -> bool {
        self.formulation.as_deref().is_none_or(|f| f.eq_ignore_ascii_case("auto"))
    }

    /// Number of fixed steps between two output times, so that steps have at most the requested size.
    pub fn steps_per_output(&self) -> Option<f64> {
        self.step.map(|h| (self.output_step / h - 1e-9).ceil().max(1.0))
    }

    /// The fixed step that divides the output step.
    pub fn fixed_step(&self) -> Option<f64> {
        self.steps_per_output().map(|n| self.output_step / n)
    }

    /// A warning about options without effect for `who`, whose options are `taken`.
    pub fn idle_options(&self, who: &str, taken: &[&str]) -> Option<Diagnostic> {
        let idle: Vec<String> = self.options.iter().filter(|(k, _)| !taken.contains(&k.as_str())).map(|(k, _)| format!("`{k}`")).collect();
        let has = if idle.len() == 1 { "has" } else { "have" };
        let help = match taken {
            [] => "leave it out, or let a formulation move the mechanism: `--analysis dynamics`".to_string(),
            _ => format!("it takes {}", taken.iter().map(|o| format!("`{o}`")).collect::<Vec<_>>().join(", ")),
        };
        (!idle.is_empty()).then(|| Diagnostic::new("W302", format!("{} {has} no effect on {who}", idle.join(", "))).help(help))
    }

    /// Output times, from zero to the end, which is exactly `t_end`; none is beyond it.
    pub fn output_times(&self) -> impl Iterator<Item = f64> + '_ {
        let multiple = Multiples::of(self.output_step);
        // Output times closer to the end than this fraction of the output step are replaced by the end itself.
        let near = 1e-9 * self.output_step;
        let n = (self.t_end / self.output_step * (1.0 + 1e-12)).floor() as usize;
        (0..=n).map(move |k| multiple.at(k)).filter(move |t| *t == 0.0 || *t < self.t_end - near).chain(std::iter::once(self.t_end))
    }
}

/// Multiples of a step. Multiples of a short decimal number are short too: 3 x 0.1 is 0.3, not 0.30000000000000004.
#[derive(Clone, Copy, Debug)]
struct Multiples {
    /// The step is `part / whole`.
    part: f64,
    whole: f64,
}

impl Multiples {
    fn of(step: f64) -> Self {
        (0..=15)
            .map(|digits| {
                let whole = 10f64.powi(digits);
                Self { part: (step * whole).round(), whole }
            })
            .find(|m| m.part / m.whole == step && m.part < 1e6)
            .unwrap_or(Self { part: step, whole: 1.0 })
    }

    fn at(&self, k: usize) -> f64 {
        k as f64 * self.part / self.whole
    }
}

/// An option of a formulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionInfo {
    /// Its name.
    pub key: &'static str,
    /// What it does.
    pub about: &'static str,
    /// The integrators for which it has an effect; empty for all.
    pub only: &'static [&'static str],
}

impl OptionInfo {
    /// An option for every integrator.
    pub const fn new(key: &'static str, about: &'static str) -> Self {
        Self { key, about, only: &[] }
    }

    /// The same for some integrators.
    pub const fn only(self, only: &'static [&'static str]) -> Self {
        Self { only, ..self }
    }
}

/// The weight of velocity errors, for every adaptive method except the Taylor series.
pub const TAU: OptionInfo = OptionInfo::new("tau", "time that weighs velocity errors against position errors, s");
/// The first step, for methods with step size control.
pub const FIRST_STEP: OptionInfo = OptionInfo::new("first-step", "first step of an adaptive run, s");

/// Default tolerance of adaptive runs, relative to the characteristic length.
pub const DEFAULT_TOL: f64 = 1e-6;

/// The smallest tolerance of any method: below it rounding dominates, and steps would shrink indefinitely.
pub const LEAST_TOL: f64 = 1e-15;
/// The smallest tolerances of methods of second and of first order: below these the number of steps becomes too large because of rounding
/// and time.
const LEAST_OF_SECOND_ORDER: f64 = 1e-7;
const LEAST_OF_FIRST_ORDER: f64 = 1e-4;

/// The smallest tolerance that may be requested of an integrator.
pub fn least_tolerance(integrator: &str) -> f64 {
    match integrator {
        "gen-alpha" | "bdf2" => LEAST_OF_SECOND_ORDER,
        "backward-euler" => LEAST_OF_FIRST_ORDER,
        _ => LEAST_TOL,
    }
}

/// Default tolerance of a study: the usual one, or the smallest that may be requested of its integrator if that is larger.
pub fn usual_tolerance(study: &Study) -> f64 {
    study.integrator.as_deref().map_or(DEFAULT_TOL, |i| DEFAULT_TOL.max(least_tolerance(&i.to_lowercase())))
}

/// Tolerance of an adaptive run, relative to the characteristic length; rejected if it is too small for the integrator.
pub fn tolerance(study: &Study, integrator: &str) -> Result<f64, Diagnostic> {
    let least = least_tolerance(integrator);
    match study.tol {
        None => Ok(DEFAULT_TOL.max(least)),
        Some(tol) if tol >= least => Ok(tol),
        Some(tol) => Err(Diagnostic::new("U307", format!("{integrator} keeps tolerances down to {least:e}, not {tol:e}"))
            .help(format!("take `--formulation ra --integrator radau`, give `--tol {least:e}` or more, or a fixed step with `--step`"))),
    }
}

/// A numeric option, if given.
pub fn number(options: &[(String, String)], key: &str) -> Result<Option<f64>, Diagnostic> {
    match options.iter().rev().find(|(k, _)| k == key) {
        None => Ok(None),
        Some((_, text)) => match text.trim().parse::<f64>() {
            Ok(x) if x.is_finite() => Ok(Some(x)),
            _ => Err(Diagnostic::new("U304", format!("option `{key}` is `{text}`, which is not a number"))
                .help(format!("write for instance `--option {key}=0.8`"))),
        },
    }
}

/// A positive numeric option, if given.
pub fn positive(options: &[(String, String)], key: &str) -> Result<Option<f64>, Diagnostic> {
    match number(options, key)? {
        Some(x) if x <= 0.0 => Err(Diagnostic::new("U304", format!("option `{key}` is {x}; it must be positive"))
            .help(format!("leave `{key}` out to take the default"))),
        x => Ok(x),
    }
}

/// An option with one of several words; the first if omitted.
pub fn word<T: Copy>(options: &[(String, String)], key: &str, choices: &[(&str, T)]) -> Result<T, Diagnostic> {
    let text = options.iter().rev().find(|(k, _)| k == key).map_or(choices[0].0, |(_, v)| v.trim());
    choices.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)).map(|(_, x)| *x).ok_or_else(|| {
        let names: Vec<&str> = choices.iter().map(|c| c.0).collect();
        Diagnostic::new("U304", format!("option `{key}` is `{text}`")).help(format!("it is one of {}", names.join(", ")))
    })
}

/// The time that scales errors of velocities relative to those of positions: the option `tau`, else a fiftieth of the run and at most 0.1
/// s.
pub fn tau(study: &Study) -> Result<f64, Diagnostic> {
    Ok(positive(&study.options, "tau")?.unwrap_or((study.t_end / 50.0).min(0.1)))
}

/// `1 motion`, `2 motions`.
pub fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}
