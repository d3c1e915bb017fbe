//! The state about which a mechanism is linearised, from the command line.

use crate::args::AboutArgs;
use crate::input::Input;
use fourbar::inputs::Course;
use fourbar::{Diagnostic, Model};
use fourbar_design::about::{About, Where, about as state_of};
use fourbar_io::read_inputs;

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

/// The requested state.
pub fn about(input: &Input, args: &AboutArgs) -> Result<About, Diagnostic> {
    of_model(&input.model, args)
}

/// The same for a mechanism built with other parameters.
pub fn of_model(model: &Model, args: &AboutArgs) -> Result<About, Diagnostic> {
    let inputs = input_values(model, &args.input)?;
    let at = match args.about.as_deref() {
        Some("start") => Where::Start,
        Some("equilibrium") => Where::Equilibrium,
        None => Where::Fitting,
        Some(text) => Where::Time(crate::args::seconds(text).map_err(|why| {
            Diagnostic::new("U001", format!("`--about {text}` is not understood: {why}")).help("write `equilibrium`, `start` or a time")
        })?),
    };
    state_of(model, at, &inputs)
}
