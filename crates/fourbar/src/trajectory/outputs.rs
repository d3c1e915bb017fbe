//! User-defined result columns, and diagnostics for tables that are read beyond their points.

use super::Column;
use crate::diagnostic::{Diagnostic, number};
use crate::expr::{Expr, Outside, Table};
use crate::force::eval::{self, Plain};
use crate::force::{Force, Spring, StateLaw, Torsion, Variable};
use crate::model::{JointCoordinate, Model};
use crate::motion::Instant;
use crate::time::TimeFunction;

/// The columns, one per output.
pub(super) fn columns(model: &Model, list: &mut Vec<Column>) {
    list.extend(model.outputs.iter().map(|o| Column { name: o.name.clone(), unit: o.unit.clone().into() }));
}

/// Their values.
pub(super) fn row(model: &Model, x: &Plain<'_>, out: &mut Vec<f64>) {
    out.extend(model.outputs.iter().map(|o| eval::law_value(model, &o.law, x, (0.0, 0.0)) / o.size));
}

/// A table lookup.
struct Reading {
    /// The element of the lookup.
    element: String,
    table: Table,
    /// The argument of the lookup.
    argument: StateLaw,
    /// The force whose own coordinate the argument may use.
    force: Option<usize>,
    /// Whether it was reported already.
    said: bool,
}

/// Monitors, row by row, whether tables are evaluated beyond their points. Tables whose values there are specified are exempt, unless an
/// error is specified.
pub struct Watch {
    readings: Vec<Reading>,
}

impl Watch {
    /// All lookups in tables with a finite range.
    pub fn new(model: &Model) -> Self {
        let mut readings = Vec::new();
        let mut add = |element: &str, expr: &Expr, variables: &[Variable], force: Option<usize>| {
            for (table, argument) in expr.table_calls() {
                if table.function.period().is_none() && matches!(table.outside, None | Some(Outside::Error)) {
                    let argument = StateLaw { expr: argument, variables: variables.to_vec() };
                    readings.push(Reading { element: element.into(), table, argument, force, said: false });
                }
            }
        };
        let drives = model.drives.iter().map(|d| (&d.name, &d.value));
        let bare = model.bare.iter().map(|b| (&b.name, &b.value));
        for (name, f) in drives.chain(bare) {
            add(name, written(f), &[Variable::Time], None);
        }
        for (k, (name, force)) in model.forces.iter().enumerate() {
            force.touches().laws.iter().for_each(|law| add(name, &law.expr, &law.variables, Some(k)));
        }
        model.states.iter().for_each(|s| add(&s.name, &s.rate.expr, &s.rate.variables, None));
        model.outputs.iter().for_each(|o| add(&o.name, &o.law.expr, &o.law.variables, None));
        Self { readings }
    }

    /// Checks a row; returns an error for the first table that must not be evaluated outside its range.
    pub fn look(&mut self, model: &Model, s: &Instant, warnings: &mut Vec<Diagnostic>) -> Result<(), Diagnostic> {
        for r in &mut self.readings {
            if r.said {
                continue;
            }
            let x = s.plain(&[]);
            let own = match r.force.map(|k| &model.forces[k].1) {
                Some(Force::Spring(Spring { between, .. })) => {
                    let (length, rate, _) = eval::spring_state(between, &x);
                    (length, rate)
                }
                Some(Force::Torsion(Torsion { joint, .. })) => eval::coordinate_of(model, *joint, Some(JointCoordinate::Angle), &x),
                _ => (0.0, 0.0),
            };
            let at = eval::law_value(model, &r.argument, &x, own);
            let [first, last] = r.table.function.range();
            // Tolerance for rounding at the last point, such as the end of a run.
            let slack = 1e-9 * (last - first);
            if at >= first - slack && at <= last + slack || at.is_nan() {
                continue;
            }
            r.said = true;
            let message = format!(
                "at t = {} s `{}` reads the table `{}` at {}, beyond its points, which go from {} to {}",
                number(s.t),
                r.element,
                r.table.name,
                number(at),
                number(first),
                number(last)
            );
            let names = [r.element.clone(), r.table.name.to_string()];
            if r.table.outside == Some(Outside::Error) {
                let help = "give it more points, or define its continuation: `outside: linear` or `outside: hold`";
                return Err(Diagnostic::new("S620", message).time(s.t).names(names).help(help));
            }
            let help = "it continues along its last tangent, or with its last value if its ends are flat; set `outside: linear`, `outside: hold` or `outside: error`";
            warnings.push(Diagnostic::new("W621", message).time(s.t).names(names).help(help));
        }
        Ok(())
    }
}

/// The expression in the file: the function itself, or the speed that is integrated.
fn written(f: &TimeFunction) -> &Expr {
    match f {
        TimeFunction::Value(e) => e,
        TimeFunction::Integral(i) => i.rate(),
    }
}
