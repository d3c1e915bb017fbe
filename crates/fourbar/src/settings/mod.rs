//! Settings of a run, as a formulation and its integrator read them: what to compute, to which tolerance, with which options.

mod changes;

pub use changes::Changes;

use crate::diagnostic::Diagnostic;
use crate::inputs::Course;
use crate::model::Model;
use serde::{Deserialize, Serialize};

/// Which analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Analysis {
    /// The drives prescribe everything.
    Kinematics,
    /// Forces and inertia decide.
    Dynamics,
}

/// Settings of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Study {
    /// Analysis; `None` takes kinematics where the drives leave no freedom, else dynamics.
    pub analysis: Option<Analysis>,
    /// Formulation; `None` or `auto` chooses.
    pub formulation: Option<String>,
    /// Integrator; `None` takes the formulation's default.
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
    /// Inputs by name, where they are not at their defaults all the time.
    pub inputs: Vec<(String, Course)>,
    /// Assembly mode to start in, counted from 1 as `fourbar check` lists them; `None` is the drawn one.
    pub mode: Option<u16>,
}

impl Study {
    /// The study of the model's author.
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

    /// Whether the formulation is to be chosen.
    pub fn is_auto(&self) -> bool {
        self.formulation.as_deref().is_none_or(|f| f.eq_ignore_ascii_case("auto"))
    }

    /// Fixed steps between two output times: as many as are needed for steps of at most the size requested.
    pub fn steps_per_output(&self) -> Option<f64> {
        self.step.map(|h| (self.output_step / h - 1e-9).ceil().max(1.0))
    }

    /// The fixed step that lands on output times.
    pub fn fixed_step(&self) -> Option<f64> {
        self.steps_per_output().map(|n| self.output_step / n)
    }

    /// A warning where options are given that mean nothing to `who`, who takes those of `taken`.
    pub fn idle_options(&self, who: &str, taken: &[&str]) -> Option<Diagnostic> {
        let idle: Vec<String> = self.options.iter().filter(|(k, _)| !taken.contains(&k.as_str())).map(|(k, _)| format!("`{k}`")).collect();
        let has = if idle.len() == 1 { "has" } else { "have" };
        let help = match taken {
            [] => "leave it out, or let a formulation move the mechanism: `--analysis dynamics`".to_string(),
            _ => format!("it takes {}", taken.iter().map(|o| format!("`{o}`")).collect::<Vec<_>>().join(", ")),
        };
        (!idle.is_empty()).then(|| Diagnostic::new("W302", format!("{} {has} no effect on {who}", idle.join(", "))).help(help))
    }

    /// Output times, from zero to the end, which is `t_end` to the bit; none lies beyond it.
    pub fn output_times(&self) -> impl Iterator<Item = f64> + '_ {
        let multiple = Multiples::of(self.output_step);
        // Output times nearer to the end than this share of the output step give way to the end itself.
        let near = 1e-9 * self.output_step;
        let n = (self.t_end / self.output_step * (1.0 + 1e-12)).floor() as usize;
        (0..=n).map(move |k| multiple.at(k)).filter(move |t| *t == 0.0 || *t < self.t_end - near).chain(std::iter::once(self.t_end))
    }
}

/// Multiples of a step. Steps that are short decimal numbers keep their multiples so: 3 x 0.1 is 0.3, not 0.30000000000000004.
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
    /// The integrators that it means something to; empty where all of them take it.
    pub only: &'static [&'static str],
}

impl OptionInfo {
    /// One for every integrator.
    pub const fn new(key: &'static str, about: &'static str) -> Self {
        Self { key, about, only: &[] }
    }

    /// The same for some integrators.
    pub const fn only(self, only: &'static [&'static str]) -> Self {
        Self { only, ..self }
    }
}

/// The weight of velocity errors, of every adaptive method but the Taylor series.
pub const TAU: OptionInfo = OptionInfo::new("tau", "time that weighs velocity errors against position errors, s");
/// The first step, of methods that choose their own.
pub const FIRST_STEP: OptionInfo = OptionInfo::new("first-step", "first step of an adaptive run, s");

/// Tolerance of adaptive runs where none is given, relative to the characteristic length.
pub const DEFAULT_TOL: f64 = 1e-6;

/// The least tolerance of any method: below, rounding decides, and steps would shrink indefinitely.
pub const LEAST_TOL: f64 = 1e-15;
/// The least tolerances of methods of second and of first order: below, steps become so many that rounding and time forbid them.
const LEAST_OF_SECOND_ORDER: f64 = 1e-7;
const LEAST_OF_FIRST_ORDER: f64 = 1e-4;

/// The least tolerance that an integrator can be requested.
pub fn least_tolerance(integrator: &str) -> f64 {
    match integrator {
        "gen-alpha" | "bdf2" => LEAST_OF_SECOND_ORDER,
        "backward-euler" => LEAST_OF_FIRST_ORDER,
        _ => LEAST_TOL,
    }
}

/// Tolerance of a study that gives none: the usual one, or the least that the integrator it names can be requested.
pub fn usual_tolerance(study: &Study) -> f64 {
    study.integrator.as_deref().map_or(DEFAULT_TOL, |i| DEFAULT_TOL.max(least_tolerance(&i.to_lowercase())))
}

/// Tolerance of an adaptive run, relative to the characteristic length; rejected where the integrator cannot keep it.
pub fn tolerance(study: &Study, integrator: &str) -> Result<f64, Diagnostic> {
    let least = least_tolerance(integrator);
    match study.tol {
        None => Ok(DEFAULT_TOL.max(least)),
        Some(tol) if tol >= least => Ok(tol),
        Some(tol) => Err(Diagnostic::new("U307", format!("{integrator} keeps tolerances down to {least:e}, not {tol:e}"))
            .help(format!("take `--formulation ra --integrator radau`, give `--tol {least:e}` or more, or a fixed step with `--step`"))),
    }
}

/// A numeric option, where given.
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

/// A numeric option that must be above zero, where given.
pub fn positive(options: &[(String, String)], key: &str) -> Result<Option<f64>, Diagnostic> {
    match number(options, key)? {
        Some(x) if x <= 0.0 => Err(Diagnostic::new("U304", format!("option `{key}` is {x}; it must be positive"))
            .help(format!("leave `{key}` out to take the default"))),
        x => Ok(x),
    }
}

/// An option that is one of some words, the first where it is omitted.
pub fn word<T: Copy>(options: &[(String, String)], key: &str, choices: &[(&str, T)]) -> Result<T, Diagnostic> {
    let text = options.iter().rev().find(|(k, _)| k == key).map_or(choices[0].0, |(_, v)| v.trim());
    choices.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)).map(|(_, x)| *x).ok_or_else(|| {
        let names: Vec<&str> = choices.iter().map(|c| c.0).collect();
        Diagnostic::new("U304", format!("option `{key}` is `{text}`")).help(format!("it is one of {}", names.join(", ")))
    })
}

/// The time that weighs errors of velocities against those of positions: the option `tau`, else a fiftieth of the run and at most 0.1 s.
pub fn tau(study: &Study) -> Result<f64, Diagnostic> {
    Ok(positive(&study.options, "tau")?.unwrap_or((study.t_end / 50.0).min(0.1)))
}

/// `1 motion`, `2 motions`.
pub fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}
