//! A mechanism with its variables, from the resources of a unit.

use fourbar::diagnostic::Diagnostic;
use fourbar::inputs::{Course, no_impact};
use fourbar::model::Model;
use fourbar::study::Study;
use fourbar::trajectory::columns;
use fourbar_design::equilibrium::start_settled;
use fourbar_io::results::columns::choose;
use fourbar_io::{Loaded, ReadOptions, Variations, read_model_file_with};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::path::Path;

/// The file in the resources of a unit with its settings.
pub(crate) const SETTINGS: &str = "fourbar.json";
/// The folder of the model among the resources, with the files it uses.
pub(crate) const FOLDER: &str = "model";
/// Version of the settings; a library reads its own version only.
const VERSION: u32 = 1;

/// Model and settings of a unit, stored in its resources.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Source {
    version: u32,
    /// Title of the mechanism.
    pub title: String,
    /// Name of the model file, in the folder of the model.
    pub file: String,
    /// Parameters set to other values, as expressions.
    pub set: Vec<(String, String)>,
    /// Formulation, integrator, tolerance; the end time is that of the default experiment.
    pub study: Study,
    /// Patterns of the columns that are outputs; all columns if empty.
    pub columns: Vec<String>,
    /// Whether the model may be large.
    pub large: bool,
    /// Identifies matching library settings and description.
    pub token: String,
}

impl Source {
    /// Settings of a unit; the token is set by [`crate::package`](fn@crate::package).
    pub fn new(title: String, file: String, set: Vec<(String, String)>, study: Study, columns: Vec<String>, large: bool) -> Self {
        Self { version: VERSION, title, file, set, study, columns, large, token: String::new() }
    }

    fn read(resources: &Path) -> Result<Self, Diagnostic> {
        let path = resources.join(SETTINGS);
        let broken = |why: String| {
            Diagnostic::new("U502", format!("the resources of the unit cannot be read: {why}"))
                .help("write the unit again with `fourbar fmu`; its library must be of the same version as the command")
        };
        let text = fourbar_io::disk::read_text_bounded(&path, 16 << 20).map_err(|e| broken(format!("`{SETTINGS}`: {e}")))?;
        let source: Self = serde_json::from_str(&text).map_err(|e| broken(format!("`{SETTINGS}`: {e}")))?;
        if source.version != VERSION {
            return Err(broken(format!("`{SETTINGS}` has version {}, this library reads {VERSION}", source.version)));
        }
        Ok(source)
    }
}

/// Role of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Causality {
    /// The time.
    Independent,
    /// A parameter of the file, by its index; set before the start.
    Parameter(usize),
    /// An input that is fixed after initialisation, because a drive uses it as a speed.
    Fixed(usize),
    /// An input, by its index in the model.
    Input(usize),
    /// A column of the results.
    Output(usize),
}

/// A variable of a unit; its value reference is its index.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Name.
    pub name: String,
    /// SI unit; empty if unknown, `1` for pure numbers.
    pub unit: String,
    /// Role.
    pub causality: Causality,
    /// Start value; none for computed variables.
    pub start: Option<f64>,
    /// Smallest and largest value.
    pub range: [f64; 2],
}

/// A mechanism that can be simulated with different parameters, and its variables.
#[derive(Clone, Debug)]
pub struct Unit {
    /// Model and settings.
    pub source: Source,
    /// All variables, in the order of their value references.
    pub variables: Vec<Variable>,
    file: Variations,
    /// Names of all columns, to detect parameters that change the structure of the mechanism.
    names: Vec<String>,
    /// Default values of the inputs.
    inputs: Vec<f64>,
}

impl Unit {
    /// Reads the resources of a unit.
    pub fn open(resources: &Path) -> Result<Self, Diagnostic> {
        let source = Source::read(resources)?;
        let path = resources.join(FOLDER).join(&source.file);
        let options = ReadOptions { path: Some(&path), set: &source.set, large: source.large, ..ReadOptions::default() };
        let loaded = read_model_file_with(&path, &options).map_err(|e| e.cause().clone())?;
        Self::new(source, &loaded, Some(&path))
    }

    /// The unit of a mechanism that has been read.
    pub fn new(source: Source, loaded: &Loaded, path: Option<&Path>) -> Result<Self, Diagnostic> {
        let file = Variations::new(loaded, path, &source.set, source.large).map_err(|e| e.cause().clone())?;
        let model = file.model(&[]).map_err(|e| e.cause().clone())?;
        let all = columns(&model);
        let chosen = choose(&all, &source.columns)?;
        let mut variables = vec![Variable {
            name: "time".into(),
            unit: "s".into(),
            causality: Causality::Independent,
            start: None,
            range: [f64::NEG_INFINITY, f64::INFINITY],
        }];
        let mut inputs: Vec<f64> = model.inputs.iter().map(|i| i.default).collect();
        for (name, course) in &source.study.inputs {
            let k = fourbar::inputs::find(&model, name)?;
            let Course::Value(x) = course else { return Err(no_table(name)) };
            inputs[k] = *x;
        }
        for (k, i) in model.inputs.iter().enumerate() {
            let causality = if no_impact(&model, k).is_ok() { Causality::Input(k) } else { Causality::Fixed(k) };
            variables.push(Variable { name: i.name.clone(), unit: i.unit.into(), causality, start: Some(inputs[k]), range: i.range });
        }
        // Inputs have columns of the same name; each variable occurs only once.
        let outputs = chosen.into_iter().filter(|k| *k > 0 && !model.inputs.iter().any(|i| i.name == all[*k].name));
        for k in outputs {
            let (name, unit) = (all[k].name.clone(), all[k].unit.to_string());
            variables.push(Variable {
                name,
                unit,
                causality: Causality::Output(k),
                start: None,
                range: [f64::NEG_INFINITY, f64::INFINITY],
            });
        }
        let taken: HashSet<String> = variables.iter().map(|v| v.name.clone()).collect();
        for (k, (name, value, dimension)) in file.parameters().iter().enumerate() {
            let name = if taken.contains(name) { format!("parameters.{name}") } else { name.clone() };
            variables.push(Variable {
                name,
                unit: dimension.map_or(String::new(), |d| d.unit()),
                causality: Causality::Parameter(k),
                start: Some(*value),
                range: [f64::NEG_INFINITY, f64::INFINITY],
            });
        }
        let names = all.into_iter().map(|c| c.name).collect();
        Ok(Self { source, variables, file, names, inputs })
    }

    /// SI values of the parameters, in the order of the file.
    pub fn parameters(&self) -> Vec<f64> {
        self.file.parameters().iter().map(|p| p.1).collect()
    }

    /// Values of the inputs at the start.
    pub fn inputs(&self) -> Vec<f64> {
        self.inputs.clone()
    }

    /// The mechanism with these parameter values, at equilibrium if its file requires it, and the resulting values of all parameters.
    pub(crate) fn model(&self, parameters: &[f64]) -> Result<(Model, Vec<f64>), Diagnostic> {
        let own = self.file.parameters();
        // Unchanged values are not set, so that dependent parameters are recomputed.
        let changed: Vec<(&str, f64)> =
            own.iter().zip(parameters).filter(|(p, x)| p.1.to_bits() != x.to_bits()).map(|(p, x)| (p.0.as_str(), *x)).collect();
        let (model, all) = self.file.build(&changed).map_err(|e| e.cause().clone())?;
        if !columns(&model).iter().map(|c| &c.name).eq(&self.names) {
            let d = Diagnostic::new("U503", "with these parameters the mechanism has other elements, and the unit other variables");
            return Err(d.names(changed.iter().map(|c| c.0.to_string())).help("write a separate unit with `--set`"));
        }
        let (model, _) = start_settled(model)?;
        Ok((model, all.into_iter().map(|p| p.1).collect()))
    }

    /// The study with these values of the inputs.
    pub(crate) fn study(&self, inputs: &[f64], tolerance: Option<f64>, model: &Model) -> Study {
        let mut study = self.source.study.clone();
        study.inputs = model.inputs.iter().zip(inputs).map(|(i, x)| (i.name.clone(), Course::Value(*x))).collect();
        if study.step.is_none() {
            study.tol = tolerance.or(study.tol);
        }
        study
    }
}

fn no_table(name: &str) -> Diagnostic {
    Diagnostic::new("U324", format!("input `{name}` has a table over time, which a unit cannot contain"))
        .name(name)
        .help("omit it: the program that simulates the unit sets its inputs")
}
