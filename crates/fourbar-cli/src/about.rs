//! The state about which a mechanism is linearised: its equilibrium, its start, or a time of its motion.

use crate::args::AboutArgs;
use crate::input::Input;
use fourbar::inputs::Course;
use fourbar::simulation::Simulation;
use fourbar::state::Configuration;
use fourbar::study::Study;
use fourbar::{Diagnostic, Model};
use fourbar_design::equilibrium::{Options, rests, settle, start};
use fourbar_design::operator::fits;
use fourbar_io::read_inputs;
use std::sync::Arc;

/// A state with what it is.
pub struct About {
    /// The state.
    pub state: Configuration,
    /// In words.
    pub words: String,
    /// Warnings on the way.
    pub warnings: Vec<Diagnostic>,
}

/// Values of inputs for an analysis at one instant.
pub fn input_values(model: &Model, given: &[(String, String)]) -> Result<Vec<(String, f64)>, Diagnostic> {
    let value = |(name, course): (String, Course)| match course {
        Course::Value(x) => Ok((name, x)),
        Course::Table { .. } => {
            let d = Diagnostic::new("U402", format!("this analysis has one value of input `{name}`, not a table")).name(&name);
            Err(d.help("give a number, as in `--input torque=0.5`"))
        }
    };
    read_inputs(model, given)?.into_iter().map(value).collect()
}

/// Whether anything moves at a state.
fn moves(state: &Configuration) -> bool {
    state.v.iter().any(|v| v.v.norm() + v.w.norm() > 0.0)
}

/// The state that is asked for.
pub fn about(input: &Input, args: &AboutArgs) -> Result<About, Diagnostic> {
    of_model(&input.model, args)
}

/// The same of a mechanism built with other parameters.
pub fn of_model(model: &Model, args: &AboutArgs) -> Result<About, Diagnostic> {
    let inputs = input_values(model, &args.input)?;
    let options = Options { inputs: inputs.clone(), ..Options::default() };
    let assembled = || {
        let mut c = fourbar::analysis::assembly::assemble(model)?.configuration;
        c.z = start(model, &options)?.z;
        Ok::<_, Diagnostic>(c)
    };
    let none = |state: Configuration, words: &str| About { state, words: words.into(), warnings: Vec::new() };
    let rest = || {
        let found = settle(model, &options)?;
        let words = format!("the equilibrium, which is {}", found.stability().word());
        Ok(About { state: found.state, words, warnings: found.warnings })
    };
    match args.about.as_deref() {
        Some("start") => Ok(none(assembled()?, "the start")),
        Some("equilibrium") => rest(),
        None => {
            let first = assembled()?;
            if moves(&first) {
                Ok(none(first, "the motion at the start"))
            } else if fits(model).is_err() || rests(model, &first) {
                // Large mechanisms are not settled; whether they rest is seen later.
                Ok(none(first, "the start, which is an equilibrium"))
            } else {
                rest()
            }
        }
        Some(text) => {
            let t = crate::args::seconds(text).map_err(|why| {
                Diagnostic::new("U001", format!("`--about {text}` is not understood: {why}")).help("write `equilibrium`, `start` or a time")
            })?;
            let mut study = Study::of(model);
            study.inputs = inputs.into_iter().map(|(n, x)| (n, Course::Value(x))).collect();
            let mut s = Simulation::new(&Arc::new(model.clone()), &study)?;
            s.advance(t)?;
            Ok(none(s.state(), &format!("the motion at t = {text} s")))
        }
    }
}
