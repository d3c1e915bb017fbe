//! Design studies with many cases: `sweep`, `tolerance`, `optimize`.

pub(crate) mod optimize;
pub(crate) mod progress;
pub mod sweep;
pub(crate) mod synthesize;
pub(crate) mod tolerance;

use crate::args::StudyArgs;
use crate::input::{Input, load_with};
use crate::reply::Stop;
use crate::run::settings;
use crate::screen::Screen;
use fourbar::formulation::dca;
use fourbar::inputs::Course;
use fourbar::study::Study;
use fourbar::trajectory::{Column, WantedColumns, columns as all_columns};
use fourbar::{Diagnostic, Error, Model, Trajectory};
use fourbar_design::sweep::{Build, Parameters, Sweep};
use fourbar_io::Variations;
use fourbar_io::results::columns;
use fourbar_io::studies::measure;
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

/// A mechanism that is run for many values of its parameters, with the measures of each run.
#[derive(Debug)]
pub struct Subject {
    /// The file with its own parameters.
    pub(crate) input: Input,
    /// The file for building with other parameters.
    pub file: Variations,
    /// Settings of every run, without inputs.
    args: StudyArgs,
    inputs: Vec<(String, Course)>,
    /// Name and text of each measure.
    pub measures: Vec<(String, String)>,
    /// SI units of the measures, empty if unknown.
    pub units: Vec<String>,
    /// Indices of the columns that are kept of a run.
    pub kept: Vec<usize>,
    /// Columns that are kept.
    pub columns: Vec<Column>,
    /// Whether cases run together in batches.
    pub(crate) together: bool,
    /// Flag that ends running cases.
    stop: &'static AtomicBool,
}

impl Subject {
    /// Reads a file, its measures and the settings of its runs; columns matching `patterns` are kept in addition to those used by measures.
    pub(crate) fn new(
        screen: &Screen,
        file: &str,
        set: &[(String, String)],
        large: bool,
        args: &StudyArgs,
        measures: impl FnOnce(&Input) -> Vec<(String, String)>,
        patterns: Option<&[String]>,
    ) -> Result<Self, Stop> {
        let input = load_with(file, set, large)?;
        let varied = Variations::new(&input.loaded, input.path.as_deref(), set, large).map_err(|e| input.stop(e.cause()))?;
        let study = settings::study(&input.model, args).map_err(|d| input.stop(&d))?;
        // An unknown method would fail for every case.
        if let Err(d) = study.method(&input.model)
            && d.code.0.starts_with('U')
        {
            return Err(input.stop(&d));
        }
        let inputs = study.inputs;
        if !screen.is_silent() {
            // The cases share the cores. A calling program, unlike the command, may need more threads later.
            dca::use_threads(1);
        }
        let measures = measures(&input);
        let all = all_columns(&input.model);
        let mut kept: BTreeSet<usize> = BTreeSet::from([0]);
        let mut units = Vec::new();
        for (k, (name, text)) in measures.iter().enumerate() {
            named(name, &measures[..k])?;
            let m = measure(text, &all, &input.model.curves, varied.parameters()).map_err(|d| input.stop(&d))?;
            units.push(m.unit());
            kept.extend(m.reads());
        }
        if let Some(patterns) = patterns {
            kept.extend(columns::choose(&all, patterns)?);
        }
        let kept: Vec<usize> = kept.into_iter().collect();
        let columns = kept.iter().map(|&k| all[k].clone()).collect();
        let args = StudyArgs { input: Vec::new(), ..args.clone() };
        Ok(Self { input, file: varied, args, inputs, measures, units, kept, columns, together: false, stop: screen.stop })
    }

    /// The settings of a run of a mechanism built from the file.
    pub fn settings(&self, model: &Model) -> Result<Study, Diagnostic> {
        let mut study = settings::study(model, &self.args)?;
        study.inputs.clone_from(&self.inputs);
        Ok(study)
    }

    /// The measures of a run, or the reason why a measure has no value.
    pub fn take(&self, model: &Model, parameters: &Parameters, run: &Trajectory) -> Vec<Result<f64, Diagnostic>> {
        let value = |text: &str| Ok(measure(text, &run.columns, &model.curves, parameters)?.of(run)?.value);
        self.measures.iter().map(|(_, text)| value(text)).collect()
    }

    /// Calls a function with the sweep over the varied parameters given by name.
    pub fn with_sweep<T>(&self, names: &[&str], f: impl FnOnce(&Sweep<'_>) -> T) -> T {
        self.with_build(&|values: &[f64]| self.build(names, values), f)
    }

    /// The mechanism with some parameter values.
    pub fn build(&self, names: &[&str], values: &[f64]) -> Result<(Model, Parameters), Error> {
        let given: Vec<(&str, f64)> = names.iter().copied().zip(values.iter().copied()).collect();
        self.file.build(&given)
    }

    /// Calls a function with a sweep whose mechanisms are built by `build`.
    pub fn with_build<T>(&self, build: &Build<'_>, f: impl FnOnce(&Sweep<'_>) -> T) -> T {
        let wanted = WantedColumns::of(&self.columns);
        let take = |model: &Model, p: &Parameters, run: &Trajectory| self.take(model, p, run);
        let settings = |m: &Model| self.settings(m);
        f(&Sweep {
            build,
            settings: &settings,
            take: &take,
            measures: self.measures.len(),
            columns: self.kept.clone(),
            wanted,
            together: self.together,
            stop: self.stop,
        })
    }

    /// Title of the mechanism, or the name of its file.
    pub fn title(&self) -> &str {
        if self.input.model.title.is_empty() { &self.input.name } else { &self.input.model.title }
    }
}

/// A condition such as `min(P.y) > 40 mm` as a measure that is nonnegative if it holds: the larger side minus the smaller one.
pub fn margin(text: &str) -> Result<String, Diagnostic> {
    sides(text).map(|(larger, smaller)| format!("({larger}) - ({smaller})"))
}

/// The measure of the magnitude of the sides of a condition: the accuracy of a margin is relative to it.
pub(crate) fn compared(text: &str) -> Result<String, Diagnostic> {
    sides(text).map(|(larger, smaller)| format!("max(abs({larger}), abs({smaller}))"))
}

/// The side of a condition that must be larger, and the other side.
fn sides(text: &str) -> Result<(&str, &str), Diagnostic> {
    let refused = |why: &str| {
        Diagnostic::new("U438", format!("the condition `{text}` {why}"))
            .help("compare a measure with a number or another measure: `min(P.y) > 40 mm`")
    };
    let (mut depth, mut found) = (0, Vec::new());
    for (k, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            '<' | '>' if depth == 0 => found.push((k, c)),
            _ => {}
        }
    }
    let [(k, sign)] = found[..] else {
        return Err(refused(match found.len() {
            0 if text.contains('=') => "is an equation: conditions use `<` or `>`; `--fit NAME=EXPRESSION` makes an expression zero",
            0 => "compares nothing",
            _ => "compares more than two expressions",
        }));
    };
    let (left, right) = (text[..k].trim(), text[k + 1..].trim_start_matches('=').trim());
    if left.is_empty() || right.is_empty() {
        return Err(refused("lacks a side"));
    }
    Ok(if sign == '>' { (left, right) } else { (right, left) })
}

/// Rejects a parameter or joint that is given twice: the first value would have no effect.
pub(crate) fn once<'a>(code: &'static str, names: impl Iterator<Item = &'a str>, what: &str) -> Result<(), Diagnostic> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(Diagnostic::new(code, format!("`{name}` {what} twice")).name(name).help("keep one of them"));
        }
    }
    Ok(())
}

/// Rejects names of measures that are not valid column names.
fn named(name: &str, others: &[(String, String)]) -> Result<(), Diagnostic> {
    let word = name.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_') && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let taken = ["case", "status", "code", "time", "names", "message"].contains(&name) || others.iter().any(|o| o.0 == name);
    match (word, taken) {
        (true, false) => Ok(()),
        (false, _) => Err(Diagnostic::new("U436", format!("`{name}` is not a name for a measure"))
            .help("take letters, digits and `_`, as in `peak=max(abs(motor.effort))`")),
        (true, true) => Err(Diagnostic::new("U436", format!("the name `{name}` of a measure is already used")).help("choose another name")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_become_margins() {
        assert_eq!(margin("min(P.y) > 40 mm").as_deref(), Ok("(min(P.y)) - (40 mm)"));
        assert_eq!(margin("first(t, P.x > 2 mm) <= 0.5 s").as_deref(), Ok("(0.5 s) - (first(t, P.x > 2 mm))"));
        assert_eq!(compared("40 mm < min(P.y)").as_deref(), Ok("max(abs(min(P.y)), abs(40 mm))"));
        assert!(margin("max(P.y) == 3").is_err_and(|d| d.message.contains("conditions use `<` or `>`")));
        for bad in ["max(P.y)", "1 < 2 < 3", "> 3", "max(P.x) <", "first(t, P.x > 2)"] {
            assert_eq!(margin(bad).map_err(|d| d.code.0), Err("U438"), "{bad}");
        }
    }
}
