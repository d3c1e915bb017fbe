//! Tables, functions of time and outputs.

use super::{Mechanism, State, Written, last};
use crate::expr::{Expr, Kind, Names, Symbol, Table};
use crate::spec::{OutputSpec, StateVariable, TableSpec};

/// Tables, and functions of time and inputs, that later expressions use by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Data {
    tables: Vec<(String, Table)>,
    /// With the inputs they read: time is variable 0, the inputs follow.
    functions: Vec<(String, Expr, Vec<String>)>,
}

impl Data {
    /// A function by its name; `number` returns the index of a variable in the calling expression, `None` if it is not allowed there.
    pub(super) fn function(&self, name: &str, mut number: impl FnMut(StateVariable) -> Option<u32>) -> Option<Symbol> {
        let (_, expr, inputs) = self.functions.iter().rev().find(|(n, ..)| n == name)?;
        let mut known = true;
        let expr = expr.renumbered(|k| {
            let variable = if k == 0 { StateVariable::Time } else { StateVariable::Auxiliary(inputs[k as usize - 1].clone()) };
            number(variable).unwrap_or_else(|| {
                known = false;
                0
            })
        });
        known.then_some(Symbol::Function(expr, Kind::Unknown))
    }
}

/// Names of an expression, with the tables that it may call.
pub(super) struct Known<'a, F> {
    pub data: &'a Data,
    pub symbol: F,
}

impl<F: FnMut(&str) -> Option<Symbol>> Names for Known<'_, F> {
    fn symbol(&mut self, name: &str) -> Option<Symbol> {
        (self.symbol)(name)
    }
    fn table(&mut self, name: &str) -> Option<Table> {
        self.data.tables.iter().rev().find(|(n, _)| n == name).map(|(_, t)| t.clone())
    }
}

impl<L> Mechanism<L> {
    /// A function given by points, which later expressions call by name: `lift(x)`.
    ///
    /// ```
    /// use fourbar_model::mechanism::{Body, GROUND, Mechanism};
    /// use fourbar_model::spec::{TableEnds, TableSpec};
    ///
    /// let points = vec![[0.0, 0.0], [1.0, 0.02], [2.0, 0.05], [3.0, 0.02], [4.0, 0.0]];
    /// let model = Mechanism::new()
    ///     .table("lift", TableSpec { ends: TableEnds::Periodic, ..TableSpec::new(points) })
    ///     .function("phase", "3*t")
    ///     .body("slide", Body::new().mass(1.0).inertia([0.1, 0.1, 0.1]))
    ///     .prismatic("guide", GROUND, "slide").at([0.0, 0.0, 0.0]).axis([0.0, 0.0, 1.0])
    ///     .drive("cam", "guide").distance("lift(phase)")
    ///     .output("height", "guide.distance").unit("mm", 1e-3)
    ///     .build()?;
    /// assert_eq!(model.outputs[0].name, "height");
    /// # Ok::<(), fourbar_model::Error>(())
    /// ```
    pub fn table(mut self, name: impl Into<String>, table: TableSpec) -> Mechanism {
        let name = name.into();
        // Errors of its points are reported when the mechanism is built; expressions ignore a missing table.
        if let Ok(made) = table.table(&name) {
            self.state.data.tables.push((name.clone(), made));
        }
        self.stated(|s| s.tables.push((name, table)))
    }

    /// A function of time and inputs, which later expressions use by name.
    pub fn function(mut self, name: impl Into<String>, value: impl Into<Written>) -> Mechanism {
        let name = name.into();
        self.state.begin("functions", &name, "a function", &[]);
        let (expr, inputs) = self.state.time_and_inputs("value", value.into());
        self.state.data.functions.push((name, expr, inputs));
        self.next()
    }

    /// A column of the results: an expression of time and state in SI units.
    pub fn output(mut self, name: impl Into<String>, value: impl Into<Written>) -> Mechanism<last::Output> {
        let name = name.into();
        self.state.begin("outputs", &name, "an output", &[]);
        let value = self.state.law("value", value.into(), &[]);
        self.state.spec.outputs.push((name, OutputSpec { value, unit: None }));
        self.next()
    }
}

impl Mechanism<last::Output> {
    /// Unit of the column, and its size in SI units: `("mm", 1e-3)`.
    pub fn unit(self, unit: impl Into<String>, size: f64) -> Mechanism {
        self.stated(|s| {
            if let Some((_, output)) = s.outputs.last_mut() {
                output.unit = Some((unit.into(), size));
            }
        })
    }
}

impl State {
    /// Parses a text with the tables defined earlier.
    pub(super) fn parse(&self, text: &str, symbol: impl FnMut(&str) -> Option<Symbol>) -> Result<Expr, crate::expr::ExprError> {
        Expr::parse_quantity(text, &mut Known { data: &self.data, symbol }).map(|(expr, _)| expr)
    }
}
