//! `modelDescription.xml`: the variables of a unit with their units of measure.

use crate::unit::{Variable, variables};
use fourbar::model::Model;
use fourbar_io::Loaded;
use std::fmt::Write;

/// The name of the shared library inside a unit, without its ending.
pub fn identifier() -> &'static str {
    "fourbar_fmi"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The description of a unit. `name` is what the model is called.
pub fn description(loaded: &Loaded, model: &Model, name: &str) -> String {
    let list = variables(loaded, model);
    let mut units: Vec<String> = Vec::new();
    let (mut entries, mut structure) = (String::new(), String::new());
    let mut unit = |word: &str| {
        if !units.iter().any(|u| u == word) {
            units.push(word.into());
        }
        format!(" unit=\"{}\"", escaped(word))
    };
    // Writing to a `String` cannot fail.
    for (k, v) in list.iter().enumerate() {
        let _ = match v {
            Variable::Time => {
                writeln!(
                    entries,
                    "    <Float64 name=\"time\" valueReference=\"0\" causality=\"independent\" variability=\"continuous\"{}/>",
                    unit("s")
                )
            }
            Variable::Parameter(name, x) => writeln!(
                entries,
                "    <Float64 name=\"parameters.{}\" valueReference=\"{k}\" causality=\"parameter\" variability=\"fixed\" initial=\"exact\" start=\"{x:?}\"/>",
                escaped(name)
            ),
            Variable::Input(name, u, x) => writeln!(
                entries,
                "    <Float64 name=\"{}\" valueReference=\"{k}\" causality=\"input\" variability=\"continuous\" start=\"{x:?}\"{}/>",
                escaped(name),
                unit(u)
            ),
            Variable::Output(name, u, _) => {
                let _ = writeln!(structure, "    <Output valueReference=\"{k}\"/>");
                writeln!(
                    entries,
                    "    <Float64 name=\"{}\" valueReference=\"{k}\" causality=\"output\" variability=\"continuous\" initial=\"calculated\"{}/>",
                    escaped(name),
                    unit(u)
                )
            }
        };
    }
    for (k, v) in list.iter().enumerate() {
        if matches!(v, Variable::Output(..)) {
            let _ = writeln!(structure, "    <InitialUnknown valueReference=\"{k}\"/>");
        }
    }
    let units: String = units.iter().map(|u| format!("    <Unit name=\"{}\"/>\n", escaped(u))).collect();
    let end = model.study.t_end;
    let step = model.study.output_step.unwrap_or(end / 100.0);
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription fmiVersion=\"3.0\" modelName=\"{}\" instantiationToken=\"{}\" generationTool=\"fourbar {}\">\n  <CoSimulation modelIdentifier=\"{}\" canHandleVariableCommunicationStepSize=\"true\" canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\"/>\n  <UnitDefinitions>\n{units}  </UnitDefinitions>\n  <DefaultExperiment startTime=\"0\" stopTime=\"{end:?}\" stepSize=\"{step:?}\"/>\n  <ModelVariables>\n{entries}  </ModelVariables>\n  <ModelStructure>\n{structure}  </ModelStructure>\n</fmiModelDescription>\n",
        escaped(name),
        loaded.hash,
        env!("CARGO_PKG_VERSION"),
        identifier(),
    )
}
