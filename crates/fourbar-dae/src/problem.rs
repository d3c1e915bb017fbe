//! A problem: equations recorded once, with names; then compiled and analysed.

use crate::Error;
use crate::program::{Program, Row};
use crate::record::{Id, Kink, Node, Op, Tape, leaves};
use crate::structure::Structure;
use fourbar_math::Scalar;
use std::collections::HashSet;

/// Which sign changes of an event are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    /// Both.
    #[default]
    Any,
    /// From negative to positive as integration proceeds.
    Rising,
    /// From positive to negative as integration proceeds.
    Falling,
}

/// Collects the equations, outputs and events of a problem. Generic in the scalar, so that the function that fills it is written once.
#[derive(Debug, Clone)]
pub struct Equations<S> {
    pub(crate) equations: Vec<(String, S)>,
    pub(crate) outputs: Vec<(String, S)>,
    pub(crate) events: Vec<(String, S, Direction, bool)>,
}

impl<S> Default for Equations<S> {
    fn default() -> Self {
        Self { equations: Vec::new(), outputs: Vec::new(), events: Vec::new() }
    }
}

impl<S: Scalar> Equations<S> {
    /// No equations yet. Needed only to evaluate a problem function outside [`Problem::record`].
    pub fn new() -> Self {
        Self::default()
    }
    /// Adds the equation `expression = 0`.
    pub fn equation(&mut self, name: impl Into<String>, expression: S) {
        self.equations.push((name.into(), expression));
    }
    /// Adds an expression to be evaluated along the solution.
    pub fn output(&mut self, name: impl Into<String>, expression: S) {
        self.outputs.push((name.into(), expression));
    }
    /// Adds an event: every zero of `expression` is located and reported.
    pub fn event(&mut self, name: impl Into<String>, expression: S, direction: Direction) {
        self.events.push((name.into(), expression, direction, false));
    }
    /// Adds an event at which integration stops.
    pub fn terminal(&mut self, name: impl Into<String>, expression: S, direction: Direction) {
        self.events.push((name.into(), expression, direction, true));
    }
    /// Left-hand sides in the order of the equations.
    pub fn residuals(&self) -> impl Iterator<Item = (&str, S)> {
        self.equations.iter().map(|(name, e)| (name.as_str(), *e))
    }
}

#[derive(Debug, Clone)]
pub(crate) struct EventSpec {
    pub name: String,
    pub direction: Direction,
    pub terminal: bool,
}

/// Recorded, compiled and structurally analysed equations. Immutable; any number of integrations may share it.
#[derive(Debug, Clone)]
pub struct Problem {
    pub(crate) program: Program,
    pub(crate) variables: Vec<String>,
    pub(crate) equations: Vec<String>,
    pub(crate) outputs: Vec<String>,
    pub(crate) events: Vec<EventSpec>,
    pub(crate) kinks: Vec<Kink>,
    pub(crate) params: usize,
    pub(crate) structure: Structure,
}

impl Problem {
    /// Records `f(t, x, equations)`. Each variable of `names` becomes one entry of `x`.
    ///
    /// ```
    /// use fourbar_dae::{Equations, Problem, Scalar, diff};
    /// fn pendulum<S: Scalar>(_t: S, x: &[S], eq: &mut Equations<S>) {
    ///     let (u, v, lambda) = (x[0], x[1], x[2]);
    ///     eq.equation("horizontal", diff(u, 2) + lambda * u);
    ///     eq.equation("vertical", diff(v, 2) + lambda * v - 9.81);
    ///     eq.equation("length", u * u + v * v - 100.0);
    /// }
    /// let problem = Problem::record(&["u", "v", "lambda"], pendulum)?;
    /// assert_eq!(problem.structure().index(), 3);
    /// assert_eq!(problem.structure().c(), [0, 0, 2]);
    /// # Ok::<(), fourbar_dae::Error>(())
    /// ```
    pub fn record<N: AsRef<str>>(names: &[N], f: impl FnOnce(Node, &[Node], &mut Equations<Node>)) -> Result<Self, Error> {
        let names: Vec<String> = names.iter().map(|n| n.as_ref().to_string()).collect();
        let (tape, equations) = Tape::record(|| {
            let (time, x) = leaves(names.len());
            let mut equations = Equations::default();
            f(time, &x, &mut equations);
            equations
        });
        Self::finish(tape, names, equations)
    }

    pub(crate) fn finish(mut tape: Tape, variables: Vec<String>, parts: Equations<Node>) -> Result<Self, Error> {
        let parts = Parts::of(&mut tape, parts);
        if let Some(what) = tape.refused().first() {
            return Err(Error::NoSeries(what));
        }
        if variables.is_empty() {
            return Err(Error::Empty);
        }
        unique(variables.iter())?;
        unique(parts.equations.iter().map(|e| &e.0))?;
        unique(parts.outputs.iter().map(|e| &e.0).chain(parts.events.iter().map(|e| &e.0.name)))?;
        if parts.equations.len() != variables.len() {
            return Err(Error::NotSquare { equations: parts.equations.len(), variables: variables.len() });
        }
        let named = parts.equations.iter().chain(&parts.outputs).map(|(n, id)| (n, *id));
        finite_constants(&tape, named.chain(parts.events.iter().map(|(e, id)| (&e.name, *id))))?;
        for (name, id) in &parts.equations {
            if let Some(value) = tape.as_const(*id) {
                return Err(Error::ConstantEquation { equation: name.clone(), value });
            }
        }
        let kinks = std::mem::take(&mut tape.kinks);
        let equations: Vec<Id> = parts.equations.iter().map(|e| e.1).collect();
        let extras: Vec<Id> =
            parts.outputs.iter().map(|e| e.1).chain(parts.events.iter().map(|e| e.1)).chain(kinks.iter().map(Kink::node)).collect();
        let program = Program::compile(&mut tape, &equations, &extras, variables.len());
        let equation_names: Vec<String> = parts.equations.into_iter().map(|e| e.0).collect();
        let structure = Structure::of(&program, &equation_names, &variables)?;
        Ok(Self {
            program,
            variables,
            equations: equation_names,
            outputs: parts.outputs.into_iter().map(|e| e.0).collect(),
            events: parts.events.into_iter().map(|e| e.0).collect(),
            params: tape.params() as usize,
            kinks,
            structure,
        })
    }

    /// Result of the structural analysis.
    pub fn structure(&self) -> &Structure {
        &self.structure
    }
    /// Names of the variables.
    pub fn variables(&self) -> &[String] {
        &self.variables
    }
    /// Names of the equations.
    pub fn equations(&self) -> &[String] {
        &self.equations
    }
    /// Names of the outputs.
    pub fn outputs(&self) -> &[String] {
        &self.outputs
    }
    /// Names of the events.
    pub fn events(&self) -> impl Iterator<Item = &str> {
        self.events.iter().map(|e| e.name.as_str())
    }
    /// A state at time `t` with all values zero, to be filled by the caller. It need not be consistent: see [`Problem::start`].
    pub fn zero_state(&self, t: f64) -> crate::State {
        crate::State::new(self, t)
    }
    /// Number of a variable.
    pub fn variable(&self, name: &str) -> Result<usize, Error> {
        self.variables.iter().position(|n| n == name).ok_or_else(|| Error::UnknownName(name.to_string()))
    }
    /// Number of an output.
    pub fn output(&self, name: &str) -> Result<usize, Error> {
        self.outputs.iter().position(|n| n == name).ok_or_else(|| Error::UnknownName(name.to_string()))
    }
    /// Rows of the compiled tape, products and linear terms in them.
    pub fn size(&self) -> (usize, usize, usize) {
        (self.program.rows.len(), self.program.prod.len(), self.program.lin.len())
    }

    /// All numbers in the equations: constants, coefficients and exponents, in a fixed internal order.
    pub fn constants(&self) -> Vec<f64> {
        let mut list = Vec::new();
        self.program.clone().each_number(|x| list.push(*x));
        list
    }

    /// Whether two problems differ only in their numbers.
    pub fn is_like(&self, other: &Self) -> bool {
        self.variables == other.variables
            && self.equations == other.equations
            && self.kinks.is_empty()
            && other.kinks.is_empty()
            && self.program.is_like(&other.program)
    }

    /// The same equations with other numbers, prepared for derivatives with respect to them ([`Tangents`](crate::Tangents)).
    pub fn with_constants(&self, constants: &[f64]) -> Self {
        let mut out = self.clone();
        out.program = self.program.with_numbers(constants);
        out.program.keep = true;
        out
    }

    /// Name of a kink: its kind and the first equation that contains it.
    pub(crate) fn kink_name(&self, k: usize) -> String {
        let holds = |row: &Row| match (*row, &self.kinks[k]) {
            (Row::Switch(n, ..), Kink::Sign { .. }) => n as usize == k,
            (Row::Param(n), Kink::Table { param, .. }) => (*param..*param + 5).contains(&n),
            _ => false,
        };
        let contains = |i: usize| {
            let root = self.program.equations[i] as usize;
            let mut used = vec![false; root + 1];
            used[root] = true;
            (0..=root).rev().any(|v| {
                if used[v] {
                    self.program.each_arg(v, |a, _| used[a] = true);
                }
                used[v] && holds(&self.program.rows[v])
            })
        };
        let kind = if matches!(self.kinks[k], Kink::Sign { .. }) { "switch" } else { "table" };
        match (0..self.equations.len()).find(|&i| contains(i)) {
            Some(i) => format!("{kind} in {}", self.equations[i]),
            None => format!("{kind} {}", k + 1),
        }
    }
}

/// Named nodes, by tape index.
struct Parts {
    equations: Vec<(String, Id)>,
    outputs: Vec<(String, Id)>,
    events: Vec<(EventSpec, Id)>,
}

impl Parts {
    fn of(tape: &mut Tape, eq: Equations<Node>) -> Self {
        let mut named = |list: Vec<(String, Node)>| list.into_iter().map(|(name, n)| (name, n.id_on(tape))).collect();
        let (equations, outputs) = (named(eq.equations), named(eq.outputs));
        let event =
            |(name, n, direction, terminal): (String, Node, Direction, bool)| (EventSpec { name, direction, terminal }, n.id_on(tape));
        Self { equations, outputs, events: eq.events.into_iter().map(event).collect() }
    }
}

fn unique<'a>(names: impl Iterator<Item = &'a String>) -> Result<(), Error> {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(Error::DuplicateName(name.clone()));
        }
    }
    Ok(())
}

/// Rejects infinite or undefined constants and names the place that uses them.
fn finite_constants<'a>(tape: &Tape, roots: impl Iterator<Item = (&'a String, Id)>) -> Result<(), Error> {
    let bad = |op: &Op| match *op {
        Op::Const(c) | Op::Scale(c, _) | Op::Pow(_, c) => !c.is_finite(),
        _ => false,
    };
    if !tape.ops.iter().any(bad) {
        return Ok(());
    }
    for (name, root) in roots {
        let mut used = vec![false; root as usize + 1];
        used[root as usize] = true;
        for id in (0..=root as usize).rev().filter(|&i| tape.ops.len() > i) {
            if used[id] {
                if bad(&tape.ops[id]) {
                    return Err(Error::NonFiniteConstant { place: name.clone() });
                }
                let (args, n) = Tape::args(&tape.ops[id]);
                args[..n].iter().for_each(|&a| used[a as usize] = true);
            }
        }
    }
    Ok(())
}
