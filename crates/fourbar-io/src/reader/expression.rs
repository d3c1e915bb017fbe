//! Scalars of the file as numbers and expressions: resolves names, units and dimensions.

use super::functions::{Found, Functions};
use super::parameters::{Lookup, shadow_warning};
use super::problem::suggest;
use super::{Path, Reader};
use crate::places::Span;
use crate::tree::{Content, Node, Text, is_null, shorten};
use crate::units::{UNITS, unit};
use fourbar::Diagnostic;
use fourbar::diagnostic::nearest;
use fourbar::expr::{Dimension, Expr, ExprError, ExprErrorKind, FUNCTIONS, Kind, Names, Symbol, Table};
use fourbar::spec::{StateExpr, StateVariable, TableSpec};
use std::collections::{HashMap, HashSet};

/// Units by other common spellings.
const OTHER_UNITS: &[(&str, &str)] = &[
    ("sec", "s"),
    ("secs", "s"),
    ("second", "s"),
    ("seconds", "s"),
    ("msec", "ms"),
    ("minute", "min"),
    ("minutes", "min"),
    ("hour", "h"),
    ("hours", "h"),
    ("hr", "h"),
    ("meter", "m"),
    ("meters", "m"),
    ("metre", "m"),
    ("metres", "m"),
    ("micron", "um"),
    ("inch", "in"),
    ("inches", "in"),
    ("foot", "ft"),
    ("feet", "ft"),
    ("degree", "deg"),
    ("degrees", "deg"),
    ("radian", "rad"),
    ("radians", "rad"),
    ("turns", "turn"),
    ("revolutions", "rev"),
    ("newton", "N"),
    ("newtons", "N"),
    ("kilogram", "kg"),
    ("kilograms", "kg"),
    ("kgs", "kg"),
    ("gram", "g"),
    ("grams", "g"),
    ("pound", "lb"),
    ("pounds", "lb"),
    ("lbs", "lb"),
    ("joule", "J"),
    ("watt", "W"),
    ("watts", "W"),
    ("volt", "V"),
    ("volts", "V"),
    ("amp", "A"),
    ("amps", "A"),
];

/// Names that an expression may use besides parameters.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Scope {
    /// Nothing.
    Constant,
    /// The time, as variable 0.
    Time,
    /// Time, as variable 0, and inputs.
    Drive,
    /// Time, the variables of the force itself, joints and points.
    State(&'static [&'static str]),
}

/// Resolves names while one expression is parsed.
struct Resolver<'r, 'a> {
    lookup: Lookup<'r>,
    scope: Scope,
    joints: &'r HashSet<&'a str>,
    points: &'r HashSet<&'a str>,
    bodies: &'r HashSet<String>,
    short_coordinates: bool,
    inputs: &'r HashSet<&'a str>,
    states: &'r HashSet<&'a str>,
    variables: Vec<StateVariable>,
    /// Whether time is treated as a plain number, which does not change the dimension of a quantity it multiplies.
    plain_time: bool,
    /// Tables by name; `None` if a table was rejected.
    tables: &'r HashMap<String, Option<Table>>,
    functions: &'r Functions,
    /// A function that must be read first.
    open: Option<usize>,
    /// Set if a rejected function is used.
    refused: bool,
}

/// A parsed expression.
pub(super) struct Parsed {
    pub result: Result<(Expr, Kind), ExprError>,
    /// Meaning of its variables; in a function of time the time only.
    pub variables: Vec<StateVariable>,
    /// Whether it depends on something that was rejected and reported.
    pub poisoned: bool,
    /// A parameter whose name was taken as a unit.
    pub shadowed: Option<String>,
    /// A function that must be read first.
    pub open: Option<usize>,
}

impl Resolver<'_, '_> {
    /// The number of a variable.
    fn place(&mut self, variable: StateVariable) -> u32 {
        let k = self.variables.iter().position(|v| *v == variable).unwrap_or_else(|| {
            self.variables.push(variable);
            self.variables.len() - 1
        });
        k as u32
    }

    fn variable(&mut self, variable: StateVariable) -> Symbol {
        Symbol::Variable(self.place(variable))
    }

    /// Substitutes a function for its name.
    fn function(&mut self, name: &str) -> Option<Symbol> {
        match self.functions.get(name)? {
            Found::Function(expr, kind, read) => match self.scope {
                // Only functions independent of time are constants.
                Scope::Constant => expr.constant_value().map(|_| Symbol::Function(expr, kind)),
                Scope::Time if self.functions.input(name).is_some() => None,
                Scope::Time => Some(Symbol::Function(expr.renumbered(|_| 0), kind)),
                Scope::Drive | Scope::State(_) => Some(Symbol::Function(expr.renumbered(|k| self.place(read[k as usize].clone())), kind)),
            },
            Found::Open(k) => {
                self.open = self.open.or(Some(k));
                Some(Symbol::Value(1.0))
            }
            Found::Refused => {
                self.refused = true;
                Some(Symbol::Value(1.0))
            }
        }
    }
}

impl Names for Resolver<'_, '_> {
    fn symbol(&mut self, name: &str) -> Option<Symbol> {
        if name == "t" {
            return match self.scope {
                Scope::Constant => None,
                Scope::Time | Scope::Drive if self.plain_time => Expr::time("t").ok().map(|t| Symbol::Function(t, Kind::Number)),
                Scope::Time => Some(Symbol::Variable(0)),
                Scope::Drive | Scope::State(_) => Some(self.variable(StateVariable::Time)),
            };
        }
        if self.scope == Scope::Drive && self.inputs.contains(name) {
            return Some(self.variable(StateVariable::Auxiliary(name.to_string())));
        }
        if let Scope::State(own) = self.scope {
            if own.contains(&name) {
                let variable = if name == "rate" { StateVariable::Rate } else { StateVariable::Length };
                return Some(self.variable(variable));
            }
            if let Some(variable) = dotted(name, self.joints, self.points) {
                return Some(self.variable(variable));
            }
            if let Some((element, _)) = name.rsplit_once('.')
                && self.bodies.contains(element)
                && let Some(variable) = dotted(name, &HashSet::new(), &HashSet::from([element]))
            {
                return Some(self.variable(variable));
            }
            if self.inputs.contains(name) || self.states.contains(name) {
                return Some(self.variable(StateVariable::Auxiliary(name.to_string())));
            }
        }
        if let Some(symbol) = self.function(name) {
            return Some(symbol);
        }
        let found = self.lookup.get(name);
        if found.is_none() && self.short_coordinates && matches!(self.scope, Scope::State(_)) {
            let (element, axis) = name.split_at_checked(name.len().saturating_sub(1))?;
            let variable = dotted(&format!("{element}.{axis}"), self.joints, self.points)?;
            return Some(self.variable(variable));
        }
        found
    }

    fn unit(&mut self, name: &str) -> Option<(f64, Dimension)> {
        unit(name)
    }

    fn table(&mut self, name: &str) -> Option<Table> {
        let found = self.tables.get(name);
        // A rejected table has already been reported.
        self.refused |= matches!(found, Some(None));
        found?.clone().or_else(|| TableSpec::new(vec![[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]]).table(name).ok())
    }

    fn further_unit(&mut self, name: &str) -> bool {
        self.lookup.further_unit(name)
    }
}

/// `NAME.quantity` of a joint or a point.
fn dotted(name: &str, joints: &HashSet<&str>, points: &HashSet<&str>) -> Option<StateVariable> {
    let (element, quantity) = name.rsplit_once('.')?;
    let owned = element.to_string();
    if joints.contains(element) {
        return Some(match quantity {
            "angle" => StateVariable::JointAngle(owned),
            "distance" => StateVariable::JointDistance(owned),
            "speed" => StateVariable::JointSpeed(owned),
            _ => return None,
        });
    }
    if points.contains(element) {
        let axis = |c: &str| ["x", "y", "z"].iter().position(|a| *a == c);
        return match quantity.strip_prefix('v') {
            Some(rest) => axis(rest).map(|k| StateVariable::PointVelocity(owned, k)),
            None => axis(quantity).map(|k| StateVariable::PointPosition(owned, k)),
        };
    }
    None
}

impl<'a> Reader<'a> {
    /// The coordinate of a joint or a point with a name such as `pin.angle`.
    pub(crate) fn coordinate(&self, name: &str) -> Option<StateVariable> {
        dotted(name, &self.joints, &self.points)
    }

    /// Help for a name that is not a coordinate.
    pub(crate) fn coordinate_help(&self, name: &str) -> String {
        if name.contains('.') {
            return self.unknown_name_help(name, Scope::State(&[]));
        }
        "write the element and its coordinate: `pin.angle`, `pin.distance`, `pin.speed`, `tip.x` or `tip.vx`".into()
    }

    /// The text of a scalar; anything else is reported.
    pub(crate) fn scalar<'n>(&mut self, node: &'n Node, expected: &str, path: &Path<'_>) -> Option<&'n Text> {
        match &node.content {
            Content::Scalar(text) if !is_null(text, self.source) => Some(text),
            _ => {
                self.wrong_kind(node, expected, path);
                None
            }
        }
    }

    /// A constant.
    pub(crate) fn number(&mut self, node: &Node, dimension: Option<Dimension>, path: &Path<'_>) -> Option<f64> {
        let (expr, _) = self.expression(node, Scope::Constant, dimension, path)?;
        expr.constant_value()
    }

    /// An expression of time and state.
    pub(crate) fn state(
        &mut self,
        node: &Node,
        own: &'static [&'static str],
        dimension: Option<Dimension>,
        path: &Path<'_>,
    ) -> Option<StateExpr> {
        let (expr, variables) = self.expression(node, Scope::State(own), dimension, path)?;
        Some(StateExpr { expr, variables })
    }

    /// An expression and the meaning of its variables.
    pub(crate) fn expression(
        &mut self,
        node: &Node,
        scope: Scope,
        dimension: Option<Dimension>,
        path: &Path<'_>,
    ) -> Option<(Expr, Vec<StateVariable>)> {
        self.expression_with_kind(node, scope, dimension, path).map(|(expr, variables, _)| (expr, variables))
    }

    /// Parses the text of an expression without reporting problems.
    pub(super) fn parsed(&self, written: &str, scope: Scope) -> Parsed {
        self.parsed_with(written, scope, false)
    }

    fn parsed_with(&self, written: &str, scope: Scope, plain_time: bool) -> Parsed {
        let mut resolver = Resolver {
            lookup: self.parameters.lookup(),
            scope,
            joints: &self.joints,
            points: &self.points,
            bodies: &self.bodies,
            short_coordinates: self.short_coordinates,
            inputs: &self.inputs,
            states: &self.states,
            // Time is always variable 0 of a drive.
            variables: if scope == Scope::Drive { vec![StateVariable::Time] } else { Vec::new() },
            plain_time,
            tables: &self.tables,
            functions: &self.functions,
            open: None,
            refused: false,
        };
        let result = Expr::parse_quantity(written, &mut resolver);
        let Resolver { lookup, variables, open, refused, .. } = resolver;
        Parsed { result, variables, poisoned: lookup.poisoned || refused, shadowed: lookup.shadowed, open }
    }

    /// An expression, the meaning of its variables, and its dimension as far as it is known.
    pub(crate) fn expression_with_kind(
        &mut self,
        node: &Node,
        scope: Scope,
        dimension: Option<Dimension>,
        path: &Path<'_>,
    ) -> Option<(Expr, Vec<StateVariable>, Kind)> {
        let text = self.scalar(node, "a number or an expression", path)?;
        let written = text.get(self.source);
        // Most scalars are plain numbers.
        if written.as_bytes().first().is_some_and(|b| b.is_ascii_digit() || *b == b'-' || *b == b'.')
            && let Ok(x) = written.parse::<f64>()
            && x.is_finite()
        {
            return Some((Expr::constant(x), Vec::new(), Kind::Number));
        }
        let Parsed { result, variables, poisoned, shadowed, .. } = self.parsed(written, scope);
        match result {
            // A rejected parameter has already been reported.
            _ if poisoned => None,
            Ok((expr, kind)) => {
                // A function of time may omit the units of its factors, but units that are given must not contradict the dimension.
                let timed = dimension.filter(|_| kind == Kind::Unknown).and_then(|d| self.foreign_units(written, scope, d));
                if let (Kind::Quantity(found), Some(expected)) = (timed.map_or(kind, Kind::Quantity), dimension)
                    && found != expected
                {
                    let help = match written.contains(['*', '(']) {
                        true => format!(
                            "where units are used every factor needs its own, here in all `{}` or the like; plain numbers are SI",
                            expected.unit()
                        ),
                        false => format!("give it in `{}` or the like, or as a plain SI number", expected.unit()),
                    };
                    let d = Diagnostic::new(
                        "M031",
                        format!("`{}` must be {}, but `{}` is {}", path.last(), expected.a(), shorten(written), found.a()),
                    )
                    .help(help)
                    .at(path.to_string());
                    self.problem(d, text.span);
                    return None;
                }
                // If the dimension is the expected one, the unit was certainly intended.
                if let Some(name) = shadowed.filter(|_| dimension.is_none_or(|d| kind != Kind::Quantity(d))) {
                    self.warn(shadow_warning(&name, written, path));
                }
                Some((expr, variables, kind))
            }
            Err(error) => {
                let d = self.expression_problem(&error, written, scope, path);
                let span = inside(text, &error);
                self.problem(d, span);
                None
            }
        }
    }

    /// The dimension of a function of time by its units, if no power of time makes it the expected dimension.
    fn foreign_units(&self, written: &str, scope: Scope, expected: Dimension) -> Option<Dimension> {
        if !matches!(scope, Scope::Time | Scope::Drive) {
            return None;
        }
        let Ok((_, Kind::Quantity(found))) = self.parsed_with(written, scope, true).result else { return None };
        let any_power = |d: Dimension| Dimension { time: expected.time, ..d };
        let foreign = any_power(found) != expected && any_power(found) != any_power(Dimension::NONE);
        // `3 mm/s*t` is reported as a length, and `3 N*t` as a force.
        let named = if found.mass == 0 && found.current == 0 { any_power(found) } else { found };
        foreign.then_some(named)
    }

    /// Warns of an angle that is probably in degrees: plain numbers are radians.
    pub(super) fn degrees_hint(&mut self, node: &Node, path: &Path<'_>) {
        let Content::Scalar(text) = &node.content else { return };
        let written = text.get(self.source);
        let Some(number) = looks_like_degrees(written) else { return };
        let d = Diagnostic::new(
            "W480",
            format!(
                "`{}: {}`: {number} without a unit is radians, {:.1} turns",
                path.last(),
                shorten(written),
                number / std::f64::consts::TAU
            ),
        )
        .help(format!("for degrees write `{number} deg`; for radians write `{number} rad`"))
        .at(path.to_string());
        self.warn(d);
    }

    /// An error of an expression as a diagnostic, with suggestions.
    pub(crate) fn expression_problem(&self, error: &ExprError, written: &str, scope: Scope, path: &Path<'_>) -> Diagnostic {
        use ExprErrorKind as E;
        let (code, help) = match &error.kind {
            E::Empty | E::Syntax { .. } => (
                "M020",
                "numbers, names, + - * / ^, parentheses and functions form an expression; quote it if it contains a comma or a bracket"
                    .to_string(),
            ),
            E::UnknownName(name) if self.inputs.contains(name.as_str()) || self.states.contains(name.as_str()) => (
                "M602",
                "inputs may be used in `speed` and `acceleration` of drives, inputs and states in forces and in rates of states"
                    .to_string(),
            ),
            E::UnknownName(name) if scope == Scope::Time && self.functions.input(name).is_some() => (
                "M602",
                "functions of inputs may be used in `speed` and `acceleration` of drives, in forces and in rates of states".to_string(),
            ),
            E::UnknownName(name) => ("M021", self.unknown_name_help(name, scope)),
            E::UnknownFunction(name) if self.functions.names().any(|f| f == name) => {
                ("M022", format!("`{name}` is a function of time and inputs: write it without parentheses"))
            }
            E::UnknownFunction(name) => {
                let tables = self.tables.keys().map(String::as_str);
                ("M022", suggest(name, FUNCTIONS.iter().map(|f| f.name).chain(tables), "known functions:"))
            }
            E::Arguments { function, .. } => {
                let doc = FUNCTIONS.iter().find(|f| f.name == *function).map_or("a table, read at one value", |f| f.doc);
                ("M023", format!("{function} is: {doc}"))
            }
            E::DivisionByZero => ("M024", "change the parameters, or guard the division with `if(condition, a, b)`".to_string()),
            E::NotFinite => ("M025", "numbers must be finite, and functions must be used where they are defined".to_string()),
            E::TooDeep => ("M026", "define parts of it as parameters".to_string()),
            E::TooMany => ("M027", "name fewer functions, or write them shorter".to_string()),
            E::TooLong => ("M027", "define parts of it as parameters".to_string()),
            E::UnknownUnit(name) => ("M030", self.unknown_unit_help(name)),
            E::Mismatch(..) | E::NotPlain(..) | E::WrongArgument(..) => ("M032", "check the units".to_string()),
        };
        let message = match &error.kind {
            E::UnknownName(name) if self.inputs.contains(name.as_str()) => format!("`{}` may not read the input `{name}`", path.last()),
            E::UnknownName(name) if self.states.contains(name.as_str()) => format!("`{}` may not read the state `{name}`", path.last()),
            E::UnknownName(name) if scope == Scope::Time && self.functions.input(name).is_some() => {
                let input = self.functions.input(name).unwrap_or_default();
                format!("`{}` may not read the function `{name}`, which reads the input `{input}`", path.last())
            }
            E::UnknownName(name) if name == "t" && scope == Scope::Constant => "the time `t` may not appear in a constant".to_string(),
            E::Syntax { found, .. } | E::UnknownName(found) | E::UnknownFunction(found) | E::UnknownUnit(found) if found.len() > 60 => {
                format!("`{}` cannot be understood", shorten(found))
            }
            E::DivisionByZero | E::NotFinite => {
                format!("`{}`: {} in `{}`", path.last(), error.kind, shorten(written.get(error.range.clone()).unwrap_or(written)))
            }
            kind => format!("`{}`: {kind}", path.last()),
        };
        Diagnostic::new(code, message).help(help).at(path.to_string())
    }

    fn unknown_name_help(&self, name: &str, scope: Scope) -> String {
        if name == "t" {
            return "time functions may be used in drives, constraints and forces".into();
        }
        if let Some(help) = super::words::name(name) {
            return help;
        }
        let base = name.split('.').next().unwrap_or(name);
        if let Scope::State(_) = scope
            && name.contains('.')
        {
            if self.joints.contains(base) {
                return format!("the joint `{base}` has `{base}.angle`, `{base}.distance` and `{base}.speed`");
            }
            if self.points.contains(base) {
                return format!("the point `{base}` has `{base}.x`, `.y`, `.z` and `{base}.vx`, `.vy`, `.vz`");
            }
            let known = self.joints.iter().chain(self.points.iter()).copied();
            return nearest(base, known).map_or_else(|| "no joint or point has this name".into(), |near| format!("did you mean `{near}`?"));
        }
        if name.contains('.') && self.coordinate(name).is_some() {
            return match scope {
                Scope::Constant => "here a constant is needed; coordinates may be used in forces, outputs and rates of states".into(),
                _ => format!(
                    "this must be a function of the time `t` alone; an `actuator` may use `{name}` in its `effort`, and a `gear` couples two joints"
                ),
            };
        }
        if name.contains('.') && scope != Scope::Constant {
            return format!("no joint or point is called `{}`, and this must be a function of the time `t` alone", shorten(base));
        }
        if self.tables.contains_key(name) {
            return format!("`{name}` is a table: give its argument, `{name}(x)`");
        }
        if scope == Scope::Constant && self.functions.names().any(|f| f == name) {
            return format!("the function `{name}` changes with time; here a constant is needed");
        }
        let own: &[&str] = if let Scope::State(own) = scope { own } else { &[] };
        let functions = self.functions.names().filter(|_| scope != Scope::Constant);
        let readable = matches!(scope, Scope::State(_) | Scope::Drive);
        let carried = self.inputs.iter().chain(&self.states).copied().filter(|_| readable);
        let known = self.parameters.names().chain(own.iter().copied()).chain(functions).chain(carried).chain(["pi"]);
        match nearest(name, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None if unit(name).is_some() => format!("a unit must follow a number, and compound units have no spaces: `1 {name}`, `2 kN/m`"),
            None => format!("define it: `{}: {{{}: ...}}`", self.parameters_at, shorten(name)),
        }
    }

    fn unknown_unit_help(&self, name: &str) -> String {
        let is_name = self.parameters.names().any(|p| p == name) || matches!(name, "pi" | "e" | "t");
        if is_name {
            return format!("to multiply, write `*` between the number and `{name}`");
        }
        let other = OTHER_UNITS.iter().find(|(word, _)| name.eq_ignore_ascii_case(word)).map(|(_, unit)| *unit);
        let exact = other.or_else(|| UNITS.iter().map(|u| u.name).find(|u| u.eq_ignore_ascii_case(name)));
        match exact.or_else(|| nearest(name, UNITS.iter().map(|u| u.name))) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "units are written as in `40 mm`, `2 kN/m`, `3 kg*m^2`; `fourbar list` prints them".into(),
        }
    }
}

/// A plain number in an angle that is probably in degrees: a single one beyond two turns, or a factor that is a multiple of a right angle.
fn looks_like_degrees(written: &str) -> Option<f64> {
    if let Ok(x) = written.trim().parse::<f64>() {
        return (x.is_finite() && x.abs() > 2.0 * std::f64::consts::TAU).then_some(x);
    }
    let bytes = written.as_bytes();
    let part = |b: u8| b.is_ascii_digit() || b == b'.';
    let mut k = 0;
    while k < bytes.len() {
        if !part(bytes[k]) {
            k += 1;
            continue;
        }
        let start = k;
        while k < bytes.len() && part(bytes[k]) {
            k += 1;
        }
        let before = written[..start].trim_end().bytes().last();
        let after = written[k..].trim_start().bytes().next();
        let in_name = start > 0 && (bytes[start - 1].is_ascii_alphanumeric() || bytes[start - 1] == b'_');
        let divides = before == Some(b'/') || before == Some(b'^');
        let has_unit = after.is_some_and(|b| b.is_ascii_alphabetic() || !b.is_ascii());
        if let Ok(x) = written[start..k].parse::<f64>()
            && !in_name
            && !divides
            && !has_unit
            && x >= 90.0
            && x % 90.0 == 0.0
            && !written.contains("/180")
            && !written.contains("/ 180")
        {
            return Some(x);
        }
    }
    None
}

/// The location of an error inside a scalar.
pub(crate) fn inside(text: &Text, error: &ExprError) -> Span {
    if text.is_verbatim() {
        let start = text.span.start() + error.range.start;
        return Span::new(start, (text.span.start() + error.range.end).max(start));
    }
    text.span
}
