//! The state about which a mechanism is linearised: its equilibrium, its start, or a time of its motion.

use crate::equilibrium::{Leaning, Options, leans_at, rests, settle, start};
use crate::operator::fits;
use fourbar::analysis::assembly;
use fourbar::inputs::Course;
use fourbar::simulation::Simulation;
use fourbar::state::Configuration;
use fourbar::study::Study;
use fourbar::{Diagnostic, Model};
use std::sync::Arc;

/// Which state is requested.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Where {
    /// The start if it moves or is an equilibrium, otherwise the equilibrium.
    #[default]
    Fitting,
    /// The assembled start.
    Start,
    /// The equilibrium.
    Equilibrium,
    /// The state of the motion at a time, s.
    Time(f64),
}

/// A state with its description.
#[derive(Clone, Debug)]
pub struct About {
    /// The state.
    pub state: Configuration,
    /// Its description.
    pub words: String,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
}

/// Whether anything moves at a state.
fn moves(state: &Configuration) -> bool {
    state.v.iter().any(|v| v.v.norm() + v.w.norm() > 0.0)
}

/// Active limits, in words.
fn on(leans: &[Leaning]) -> String {
    let list: Vec<String> = leans.iter().map(|l| format!("`{}`", l.name)).collect();
    if list.is_empty() { String::new() } else { format!(", with {} closed", list.join(", ")) }
}

/// The requested state, with values of inputs by name.
pub fn about(model: &Model, at: Where, inputs: &[(String, f64)]) -> Result<About, Diagnostic> {
    let options = Options { inputs: inputs.to_vec(), ..Options::default() };
    let assembled = || {
        let mut c = assembly::assemble(model)?.configuration;
        c.z = start(model, &options)?.z;
        Ok::<_, Diagnostic>(c)
    };
    let none = |state: Configuration, words: &str| {
        let leans = if moves(&state) { Vec::new() } else { leans_at(model, &state) };
        About { words: format!("{words}{}", on(&leans)), state, warnings: Vec::new() }
    };
    let rest = || {
        let found = settle(model, &options)?;
        let words = format!("the equilibrium, which is {}{}", found.stability().word(), on(&found.leans));
        Ok(About { state: found.state, words, warnings: found.warnings })
    };
    match at {
        Where::Start => Ok(none(assembled()?, "the start")),
        Where::Equilibrium => rest(),
        Where::Fitting => {
            let first = assembled()?;
            if moves(&first) {
                Ok(none(first, "the motion at the start"))
            } else if fits(model).is_err() || rests(model, &first) {
                // Large mechanisms are not settled; whether the state is an equilibrium is tested later.
                Ok(none(first, "the start, which is an equilibrium"))
            } else {
                rest()
            }
        }
        Where::Time(t) => {
            let mut study = Study::of(model);
            study.inputs = inputs.iter().map(|(n, x)| (n.clone(), Course::Value(*x))).collect();
            let mut s = Simulation::new(&Arc::new(model.clone()), &study)?;
            s.advance(t)?;
            Ok(none(s.state(), &format!("the motion at t = {t} s")))
        }
    }
}
