//! Expressions of time and state, written as numbers or texts.

use super::State;
use crate::diagnostic::Diagnostic;
use crate::expr::{Expr, ExprError, ExprErrorKind, Symbol};
use crate::spec::{StateExpr, StateVariable};

/// A number, or an expression as text.
#[derive(Clone, Debug, PartialEq)]
pub enum Written {
    /// A number in SI units.
    Number(f64),
    /// An expression.
    Text(String),
}

impl From<f64> for Written {
    fn from(x: f64) -> Self {
        Written::Number(x)
    }
}

impl From<&str> for Written {
    fn from(text: &str) -> Self {
        Written::Text(text.into())
    }
}

impl From<String> for Written {
    fn from(text: String) -> Self {
        Written::Text(text)
    }
}

/// The coordinate of a joint or point named, for example, `pin.angle` or `tip.vx`.
pub(super) fn coordinate(name: &str) -> Option<StateVariable> {
    let (element, quantity) = name.rsplit_once('.')?;
    let element = element.to_string();
    let axis = |c: &str| ["x", "y", "z"].iter().position(|a| *a == c);
    match quantity {
        "angle" => Some(StateVariable::JointAngle(element)),
        "distance" => Some(StateVariable::JointDistance(element)),
        "speed" => Some(StateVariable::JointSpeed(element)),
        _ => match quantity.strip_prefix('v') {
            Some(rest) => axis(rest).map(|k| StateVariable::PointVelocity(element, k)),
            None => axis(quantity).map(|k| StateVariable::PointPosition(element, k)),
        },
    }
}

impl State {
    /// A function of time; zero if the text is not an expression, which is reported as an error.
    pub(super) fn time(&mut self, key: &str, value: Written) -> Expr {
        let parameters = &self.parameters;
        let parsed = match &value {
            Written::Number(x) => Ok(Expr::constant(*x)),
            Written::Text(text) => self.parse(text, |name| match name {
                "t" => Some(Symbol::Variable(0)),
                _ => self.data.function(name, |v| (v == StateVariable::Time).then_some(0)).or_else(|| parameter(parameters, name)),
            }),
        };
        self.parsed(key, value, parsed)
    }

    /// A function of time and of the inputs defined earlier, with the names of those it reads: time is variable 0, the inputs follow.
    pub(super) fn time_and_inputs(&mut self, key: &str, value: Written) -> (Expr, Vec<String>) {
        let (parameters, inputs) = (&self.parameters, &self.spec.inputs);
        let mut read: Vec<String> = Vec::new();
        let mut number = |input: &str| {
            let k = read.iter().position(|n| n == input).unwrap_or_else(|| {
                read.push(input.into());
                read.len() - 1
            });
            1 + k as u32
        };
        let parsed = match &value {
            Written::Number(x) => Ok(Expr::constant(*x)),
            Written::Text(text) => self.parse(text, |name| {
                if name == "t" {
                    return Some(Symbol::Variable(0));
                }
                if inputs.iter().any(|i| i.0 == name) {
                    return Some(Symbol::Variable(number(name)));
                }
                let function = self.data.function(name, |v| match v {
                    StateVariable::Auxiliary(input) => Some(number(&input)),
                    _ => Some(0),
                });
                function.or_else(|| parameter(parameters, name))
            }),
        };
        (self.parsed(key, value, parsed), read)
    }

    /// A function of time and state; `own` are the names of the element's own coordinate and rate.
    pub(super) fn law(&mut self, key: &str, value: Written, own: &[&str]) -> StateExpr {
        let parameters = &self.parameters;
        let carries = |name: &str| self.carries(name);
        let mut variables: Vec<StateVariable> = Vec::new();
        let mut number = |variable: StateVariable| {
            let k = variables.iter().position(|v| *v == variable).unwrap_or_else(|| {
                variables.push(variable);
                variables.len() - 1
            });
            k as u32
        };
        let parsed = match &value {
            Written::Number(x) => Ok(Expr::constant(*x)),
            Written::Text(text) => self.parse(text, |name| {
                let variable = match name {
                    "t" => StateVariable::Time,
                    "rate" if own.contains(&name) => StateVariable::Rate,
                    _ if own.contains(&name) => StateVariable::Length,
                    _ if carries(name) => StateVariable::Auxiliary(name.into()),
                    _ => match coordinate(name) {
                        Some(variable) => variable,
                        None => {
                            return self.data.function(name, |v| Some(number(v))).or_else(|| parameter(parameters, name));
                        }
                    },
                };
                Some(Symbol::Variable(number(variable)))
            }),
        };
        let expr = self.parsed(key, value, parsed);
        StateExpr { expr, variables }
    }

    fn parsed(&mut self, key: &str, value: Written, parsed: Result<Expr, ExprError>) -> Expr {
        parsed.unwrap_or_else(|e| {
            let text = if let Written::Text(text) = value { text } else { String::new() };
            let at = format!("{}.{key}", self.element.0);
            self.errors.push(problem(&e, key, &text).at(at));
            Expr::constant(0.0)
        })
    }
}

fn parameter(parameters: &[(String, f64)], name: &str) -> Option<Symbol> {
    parameters.iter().rev().find(|(n, _)| n == name).map(|(_, x)| Symbol::Value(*x))
}

/// The error for a text that is not an expression, with the same code as in files.
fn problem(e: &ExprError, key: &str, text: &str) -> Diagnostic {
    use ExprErrorKind as E;
    let (code, help) = match &e.kind {
        E::Empty | E::Syntax { .. } => ("M020", "numbers, names, + - * / ^, parentheses and functions make an expression"),
        E::UnknownName(_) => {
            ("M021", "expressions may use `t`, `pi`, parameters defined before, and in forces coordinates such as `pin.angle` and `tip.vx`")
        }
        E::UnknownFunction(_) => ("M022", "`fourbar list` prints the functions"),
        E::Arguments { .. } => ("M023", "`fourbar list` prints the functions with their arguments"),
        E::DivisionByZero => ("M024", "guard the division with `if(condition, a, b)`"),
        E::NotFinite => ("M025", "numbers must be finite, and functions must be used where they are defined"),
        E::TooDeep => ("M026", "define parts of it as parameters"),
        E::TooLong | E::TooMany => ("M027", "define parts of it as parameters"),
        E::UnknownUnit(_) => ("M030", "numbers are in SI units here; convert them first"),
        E::Mismatch(..) | E::NotPlain(..) | E::WrongArgument(..) => ("M032", "check the units"),
    };
    Diagnostic::new(code, format!("`{key}`: {} in `{text}`", e.kind)).help(help)
}
