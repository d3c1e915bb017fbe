//! `auto`: which formulation and integrator a study gets when it names none, and why, in a line.
//!
//! An integrator that is named decides for a formulation that has it. A tight tolerance without stiff forces is for the
//! explicit method of order 8 on Lie groups, which takes every element of the file; a second-order method would need
//! thousands of times its steps. Everything else is for rA: implicit, so stiff forces pass, and fixed steps mean what they say.

use crate::force::{Force, Law};
use crate::model::Model;
use crate::study::{FORMULATIONS, Study};

/// Tolerances up to this are tight: a second-order method pays for them.
const TIGHT: f64 = 1e-7;
/// Rates of springs and dampers above this, times the length of the study, make it stiff for an explicit method.
const STIFF: f64 = 3e4;

/// A choice with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Formulation.
    pub formulation: &'static str,
    /// Integrator.
    pub integrator: &'static str,
    /// Why.
    pub why: String,
}

/// Fastest rate of linear springs, dampers and bushings against the lighter body they act on, 1/s.
pub fn fastest_rate(model: &Model) -> f64 {
    let lighter = |bodies: [usize; 2]| {
        let masses = bodies.iter().filter(|b| **b > 0).map(|b| model.bodies[*b].mass);
        masses.fold(f64::INFINITY, f64::min)
    };
    let rate = |k: f64, c: f64, m: f64| if m.is_finite() && m > 0.0 { (k.abs() / m).sqrt().max(c.abs() / m) } else { 0.0 };
    model
        .forces
        .iter()
        .map(|(_, f)| match f {
            Force::Spring { between, law: Law::Linear { stiffness, damping, .. }, .. } => {
                rate(*stiffness, *damping, lighter([between[0].body.index(), between[1].body.index()]))
            }
            Force::Bushing { between, stiffness, damping, .. } => {
                let m = lighter([between[0].body.index(), between[1].body.index()]);
                (0..3).fold(0.0_f64, |r, k| r.max(rate(stiffness[k], damping[k], m)))
            }
            _ => 0.0,
        })
        .fold(0.0, f64::max)
}

/// Chooses for a mechanism and a study.
pub fn choose(model: &Model, study: &Study) -> Choice {
    let first = &FORMULATIONS[0];
    if let Some(wanted) = &study.integrator {
        for f in FORMULATIONS {
            if let Some(i) = f.integrators.iter().find(|i| i.eq_ignore_ascii_case(wanted)) {
                return Choice { formulation: f.name, integrator: i, why: format!("it goes with {i}") };
            }
        }
    }
    let stiff = fastest_rate(model) * study.t_end > STIFF;
    match study.tol {
        Some(tol) if tol <= TIGHT && study.step.is_none() && !stiff => Choice {
            formulation: "lie",
            integrator: "dop853",
            why: format!("a tolerance of {tol:.0e} without stiff forces asks for high order"),
        },
        _ => {
            let why = if stiff { "implicit, because forces are stiff" } else { "implicit, passes stiff forces and singular positions" };
            Choice { formulation: first.name, integrator: first.integrators[0], why: why.into() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{At, BodySpec, ForceSpec, ModelSpec, Place, SpringLaw};

    fn study(integrator: Option<&str>, tol: Option<f64>) -> Study {
        Study {
            analysis: None,
            formulation: None,
            integrator: integrator.map(String::from),
            t_end: 10.0,
            output_step: 0.1,
            step: None,
            tol,
            options: Vec::new(),
        }
    }

    fn model(stiffness: f64) -> Model {
        let bodies = vec![("ball".into(), BodySpec { at: [0.0, 0.0, 1.0], ..BodySpec::default() })];
        let mut spec = ModelSpec { bodies, ..ModelSpec::default() };
        let place = |body: &str| Place { body: body.into(), at: At::Body([0.0; 3]) };
        let law = SpringLaw::Linear { stiffness, rest: 1.0, damping: 0.0 };
        spec.forces = vec![("spring".into(), ForceSpec::Spring { between: [place("ground"), place("ball")], law, mass: 0.0 })];
        spec.study.t_end = 10.0;
        spec.build().unwrap_or_else(|d| panic!("{}", d[0].message))
    }

    #[test]
    fn integrator_tolerance_and_stiffness_decide() {
        let (soft, hard) = (model(10.0), model(1e8));
        assert_eq!(choose(&soft, &study(None, None)).formulation, "ra");
        assert_eq!(choose(&soft, &study(None, Some(1e-9))).formulation, "lie");
        assert_eq!(choose(&hard, &study(None, Some(1e-9))).formulation, "ra");
        assert_eq!(choose(&soft, &study(Some("bdf2"), Some(1e-9))).integrator, "bdf2");
        assert_eq!(choose(&soft, &study(Some("Taylor"), None)).formulation, "natural");
        let rate = fastest_rate(&model(400.0));
        assert!((rate - 20.0).abs() < 1e-12, "{rate}");
    }
}
