//! Parameters: named numbers in any order, each an expression of others.

use super::chain::{self, Chain};
use super::expression::{Scope, inside};
use super::{Path, Reader};
use crate::places::Span;
use crate::tree::{Content, Node, Text, shorten};
use crate::units::unit;
use fourbar::Diagnostic;
use fourbar::diagnostic::nearest;
use fourbar::expr::{Dimension, Expr, Kind, Names, Symbol};
use std::cell::RefCell;
use std::collections::HashMap;

/// Source of the value of a parameter.
enum Written {
    File(Text),
    Option(String),
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Open,
    Done(f64, Option<Dimension>),
    /// Rejected and reported: everything that uses it is dropped without a further report.
    Failed,
}

struct Parameter {
    name: String,
    written: Written,
    state: State,
    /// Whether its expression uses other parameters.
    computed: bool,
}

/// The parameters of a file.
#[derive(Default)]
pub(crate) struct Parameters {
    list: Vec<Parameter>,
    index: HashMap<String, usize>,
    used: RefCell<Vec<bool>>,
}

/// Looks up parameters while one expression is parsed.
pub(crate) struct Lookup<'r> {
    parameters: &'r Parameters,
    /// Set if a rejected parameter is used.
    pub poisoned: bool,
    /// A parameter that must be computed first.
    open: Option<usize>,
    /// Whether any parameter is used.
    reads: bool,
    /// A parameter whose name was taken as a unit.
    pub shadowed: Option<String>,
}

impl Lookup<'_> {
    /// Whether this word continues a compound unit, also if a parameter has the same name.
    pub fn further_unit(&mut self, name: &str) -> bool {
        let is_unit = unit(name).is_some();
        if is_unit && self.parameters.index.contains_key(name) {
            self.shadowed = Some(name.to_string());
        }
        is_unit
    }

    pub fn get(&mut self, name: &str) -> Option<Symbol> {
        let k = *self.parameters.index.get(name)?;
        self.reads = true;
        if let Some(used) = self.parameters.used.borrow_mut().get_mut(k) {
            *used = true;
        }
        Some(match self.parameters.list[k].state {
            State::Done(x, Some(d)) => Symbol::Quantity(x, d),
            State::Done(x, None) => Symbol::Value(x),
            State::Failed => {
                self.poisoned = true;
                Symbol::Value(1.0)
            }
            State::Open => {
                self.open = self.open.or(Some(k));
                Symbol::Value(1.0)
            }
        })
    }
}

impl Names for Lookup<'_> {
    fn symbol(&mut self, name: &str) -> Option<Symbol> {
        self.get(name)
    }
    fn unit(&mut self, name: &str) -> Option<(f64, Dimension)> {
        unit(name)
    }
    fn further_unit(&mut self, name: &str) -> bool {
        Lookup::further_unit(self, name)
    }
}

impl Parameters {
    pub fn lookup(&self) -> Lookup<'_> {
        Lookup { parameters: self, poisoned: false, open: None, reads: false, shadowed: None }
    }
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.list.iter().map(|p| p.name.as_str())
    }
    /// Names and SI values, in the order of the file.
    pub fn values(&self) -> Vec<(String, f64)> {
        let value = |p: &Parameter| match p.state {
            State::Done(x, _) => Some((p.name.clone(), x)),
            _ => None,
        };
        self.list.iter().filter_map(value).collect()
    }
    /// As above, with dimensions where known.
    pub fn with_dimensions(&self) -> Vec<super::Fixed> {
        let value = |p: &Parameter| match p.state {
            State::Done(x, d) => Some((p.name.clone(), x, d)),
            _ => None,
        };
        self.list.iter().filter_map(value).collect()
    }
    /// Names of parameters that are computed from others.
    pub fn computed(&self) -> Vec<String> {
        self.list.iter().filter(|p| p.computed).map(|p| p.name.clone()).collect()
    }
    /// The dimension of a parameter, if it has one.
    pub fn dimension(&self, name: &str) -> Option<Dimension> {
        self.with_dimensions().into_iter().find(|p| p.0 == name)?.2
    }
    /// Names of unused parameters.
    pub fn unused(&self) -> Vec<String> {
        self.list.iter().zip(self.used.borrow().iter()).filter(|(_, used)| !**used).map(|(p, _)| p.name.clone()).collect()
    }
}

impl Reader<'_> {
    /// Reads the section, applies overrides and computes all values.
    pub(crate) fn read_parameters(&mut self, node: Option<&Node>, set: &[(String, String)]) {
        let top = Path::top(self.parameters_at);
        let entries: &[(Text, Node)] = match node.map(|n| (n, &n.content)) {
            Some((_, Content::Map(entries))) => entries,
            Some((node, _)) => {
                self.wrong_kind(node, "a group of names with values", &top);
                &[]
            }
            None => &[],
        };
        for (key, value) in entries {
            if self.full() {
                return;
            }
            let name = key.get(self.source).to_string();
            let path = top.key(&name);
            let mut state = State::Open;
            if name == "pi" {
                self.problem(Diagnostic::new("M016", "the name `pi` is taken").help("choose another name").at(path.to_string()), key.span);
                state = State::Failed;
            } else if !self.good_name(&name, key.span, &path) {
                state = State::Failed;
            }
            let Some(text) = self.scalar(value, "a number, a quantity or an expression", &path) else {
                self.add(name, Written::Option(String::new()), State::Failed);
                continue;
            };
            self.add(name, Written::File(text.clone()), state);
        }
        self.overrides(set);
        for (name, value, dimension) in self.fixed {
            if let Some(&k) = self.parameters.index.get(name) {
                self.parameters.list[k].state = State::Done(*value, *dimension);
            }
        }
        *self.parameters.used.borrow_mut() = vec![false; self.parameters.list.len()];
        for k in 0..self.parameters.list.len() {
            chain::settle(&mut Dependent(self), k);
        }
    }

    /// Warns of unused parameters.
    pub(crate) fn warn_of_unused(&mut self) {
        for name in self.parameters.unused() {
            let d = Diagnostic::new("W050", format!("nothing uses the parameter `{name}`"))
                .help("remove it, or check the spelling where it should be used")
                .at(format!("{}.{name}", self.parameters_at))
                .name(name);
            self.warn(d);
        }
    }

    fn add(&mut self, name: String, written: Written, state: State) {
        self.parameters.index.insert(name.clone(), self.parameters.list.len());
        self.parameters.list.push(Parameter { name, written, state, computed: false });
    }

    fn overrides(&mut self, set: &[(String, String)]) {
        for (name, text) in set {
            match self.parameters.index.get(name) {
                Some(&k) => {
                    self.parameters.list[k].written = Written::Option(text.clone());
                    self.parameters.list[k].state = State::Open;
                }
                None => {
                    let help = match nearest(name, self.parameters.names()) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => {
                            let some: Vec<String> = self.parameters.names().take(12).map(|n| format!("`{n}`")).collect();
                            if some.is_empty() { "it has none".into() } else { format!("it has {}", some.join(", ")) }
                        }
                    };
                    self.problems
                        .push((Diagnostic::new("M034", format!("the file has no parameter `{}`", shorten(name))).help(help), None));
                }
            }
        }
    }

    /// The value, or the parameter that must be computed first.
    fn evaluate(&mut self, k: usize) -> Result<State, usize> {
        let parameter = &self.parameters.list[k];
        let (written, text) = match &parameter.written {
            Written::File(text) => (text.get(self.source), Some(text)),
            Written::Option(text) => (text.as_str(), None),
        };
        let mut lookup = self.parameters.lookup();
        let parsed = Expr::parse_quantity(written, &mut lookup);
        let computed = lookup.reads;
        let error = match parsed {
            _ if lookup.open.is_some() => return Err(lookup.open.unwrap_or(k)),
            _ if lookup.poisoned => return Ok(State::Failed),
            Ok((expr, kind)) => {
                if let Some(name) = lookup.shadowed {
                    let d = shadow_warning(&name, written, &Path::top(self.parameters_at).key(&parameter.name));
                    self.warn(d);
                }
                self.parameters.list[k].computed = computed;
                let dimension = if let Kind::Quantity(d) = kind { Some(d) } else { None };
                return Ok(expr.constant_value().map_or(State::Failed, |x| State::Done(x, dimension)));
            }
            Err(error) => error,
        };
        let top = Path::top(self.parameters_at);
        let d = self.expression_problem(&error, written, Scope::Constant, &top.key(&parameter.name));
        let span = text.map(|text| inside(text, &error));
        if !self.full() {
            self.problems.push((d, span));
        }
        Ok(State::Failed)
    }
}

/// The parameters of a file with their dependencies.
struct Dependent<'a, 'r>(&'a mut Reader<'r>);

impl Chain for Dependent<'_, '_> {
    fn settled(&self, k: usize) -> bool {
        self.0.parameters.list[k].state != State::Open
    }

    fn settle(&mut self, k: usize) -> Result<(), usize> {
        self.0.parameters.list[k].state = self.0.evaluate(k)?;
        Ok(())
    }

    fn refuse_circle(&mut self, circle: &[usize]) {
        let list = &mut self.0.parameters.list;
        let names: Vec<String> = circle.iter().map(|k| list[*k].name.clone()).collect();
        circle.iter().for_each(|k| list[*k].state = State::Failed);
        let span = match &list[circle[0]].written {
            Written::File(text) => text.span,
            Written::Option(_) => Span::new(0, 0),
        };
        let d = Diagnostic::new("M033", format!("parameters depend on each other in a circle: {}", chain::circle(&names)))
            .help("give one of them a value that does not depend on the others")
            .at(format!("{}.{}", self.0.parameters_at, names[0]))
            .names(names);
        self.0.problem(d, span);
    }
}

/// Warning: in a compound unit a word is read as a unit, even if a parameter has the same name.
pub(crate) fn shadow_warning(name: &str, written: &str, path: &Path<'_>) -> Diagnostic {
    Diagnostic::new("W051", format!("in `{}` the `{name}` is the unit, not the parameter", shorten(written)))
        .help("to multiply or divide by the parameter, put spaces around the operator; to be clear, rename the parameter")
        .at(path.to_string())
        .name(name)
}
