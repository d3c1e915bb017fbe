//! Tables, which expressions call, and user-defined result columns.

use super::Builder;
use crate::diagnostic::Diagnostic;
use crate::expr::FUNCTIONS;
use crate::model::*;
use crate::spec::*;
use fourbar_math::piecewise::SplineError;

/// Errors of the points of a table; `place` describes the point in terms of its source.
pub fn table_problem(name: &str, error: SplineError, place: impl Fn(usize) -> String) -> Diagnostic {
    let d = match error {
        SplineError::TooFew(least) => Diagnostic::new("M620", format!("the table `{name}` has fewer than {least} points"))
            .help("a spline needs three points, one that repeats four, the last being the first one again"),
        SplineError::NotRising(k) => Diagnostic::new(
            "M621",
            format!("the x values of table `{name}` do not increase: {} is not larger than the previous one", place(k)),
        )
        .help("sort the points by x and remove repeated ones"),
        SplineError::NotFinite(k) => Diagnostic::new("M622", format!("the table `{name}` has no finite value: {}", place(k)))
            .help("every x and y must be a finite number"),
        SplineError::NotClosed => Diagnostic::new("M623", format!("the table `{name}` repeats, but its last value is not its first one"))
            .help("end it with the first value again, at the x where the period ends; or choose other `ends`"),
    };
    d.at(format!("tables.{name}")).name(name)
}

impl Builder<'_> {
    pub(super) fn tables(&mut self) {
        let spec = self.spec;
        for (name, table) in &spec.tables {
            if FUNCTIONS.iter().any(|f| f.name == name) {
                self.error(table_name_taken(name));
            }
            if let Err(e) = table.function() {
                let place = |k: usize| format!("point {}", k + 1);
                self.error(table_problem(name, e, place));
            }
        }
    }

    pub(super) fn outputs(&mut self, model: &mut Model) {
        let spec = self.spec;
        for (name, output) in &spec.outputs {
            let path = format!("outputs.{name}");
            let (unit, size) = output.unit.clone().unwrap_or((String::new(), 1.0));
            if !(size.is_finite() && size > 0.0) {
                self.error(Diagnostic::new("M104", format!("the unit of output `{name}` has no size")).at(path).name(name));
                continue;
            }
            if output.value.variables.iter().any(|v| matches!(v, StateVariable::Length | StateVariable::Rate)) {
                let d = Diagnostic::new("M021", format!("output `{name}` has no length or rate"));
                self.error(d.at(path).name(name).help("`length`, `angle` and `rate` belong to the law of a spring"));
                continue;
            }
            if let Some(law) = self.law(model, &path, &output.value) {
                model.outputs.push(Output { name: name.clone(), law, unit, size });
            }
        }
    }
}

/// A table must not hide a built-in function of expressions.
pub fn table_name_taken(name: &str) -> Diagnostic {
    Diagnostic::new("M624", format!("the table `{name}` has the name of a function"))
        .at(format!("tables.{name}"))
        .name(name)
        .help("choose another name: `fourbar list` prints the functions")
}
