//! Named functions of time and inputs, in any order, each an expression of `t`, parameters, inputs, tables and other functions.

use super::chain::{self, Chain};
use super::expression::{Scope, inside};
use super::{Path, Reader};
use crate::tree::{Content, Node, Text};
use fourbar::Diagnostic;
use fourbar::expr::{Expr, Kind};
use fourbar::spec::StateVariable;
use std::collections::HashMap;

/// State of a function.
#[derive(Clone, PartialEq)]
enum State {
    Open,
    /// Expression, dimension and variables: the time and inputs.
    Done(Expr, Kind, Vec<StateVariable>),
    /// Rejected and reported: everything that uses it is dropped without a further report.
    Failed,
}

struct Function {
    name: String,
    text: Text,
    state: State,
}

/// The functions of a file.
#[derive(Default)]
pub(crate) struct Functions {
    list: Vec<Function>,
    index: HashMap<String, usize>,
}

/// Result of the search for a function by name.
pub(crate) enum Found {
    Function(Expr, Kind, Vec<StateVariable>),
    /// Must be read first.
    Open(usize),
    Refused,
}

impl Functions {
    pub fn get(&self, name: &str) -> Option<Found> {
        let k = *self.index.get(name)?;
        Some(match &self.list[k].state {
            State::Done(expr, kind, variables) => Found::Function(expr.clone(), *kind, variables.clone()),
            State::Failed => Found::Refused,
            State::Open => Found::Open(k),
        })
    }
    /// An input that a function reads.
    pub fn input(&self, name: &str) -> Option<&str> {
        let State::Done(expr, _, variables) = &self.list[*self.index.get(name)?].state else { return None };
        let mut read = None;
        expr.renumbered(|k| {
            if let StateVariable::Auxiliary(input) = &variables[k as usize] {
                read = Some(input.as_str());
            }
            k
        });
        read
    }
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.list.iter().map(|f| f.name.as_str())
    }
}

const SECTION: &str = "functions";

impl Reader<'_> {
    /// Reads the section and resolves references between functions.
    pub(crate) fn read_functions(&mut self, node: Option<&Node>) {
        let top = Path::top(SECTION);
        let entries: &[(Text, Node)] = match node.map(|n| (n, &n.content)) {
            Some((_, Content::Map(entries))) => entries,
            Some((node, _)) => {
                self.wrong_kind(node, "a group of names with expressions", &top);
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
            let taken = match name.as_str() {
                "pi" => Some("`pi` is a predefined constant"),
                _ if self.parameters.names().any(|p| p == name) => Some("a parameter has this name"),
                _ if self.tables.contains_key(name.as_str()) => Some("a table has this name"),
                _ => None,
            };
            if let Some(why) = taken {
                let d = Diagnostic::new("M626", format!("the function `{name}` cannot have this name: {why}")).name(name.clone());
                self.problem(d.help("choose another name").at(path.to_string()), key.span);
                state = State::Failed;
            } else if !self.good_name(&name, key.span, &path) {
                state = State::Failed;
            }
            let (text, state) = match self.scalar(value, "a number or an expression", &path) {
                Some(text) => (text.clone(), state),
                None => (key.clone(), State::Failed),
            };
            self.functions.index.insert(name.clone(), self.functions.list.len());
            self.functions.list.push(Function { name, text, state });
        }
        for k in 0..self.functions.list.len() {
            chain::settle(&mut Named(self), k);
        }
    }

    /// The function, or the function that must be read first.
    fn parse_function(&mut self, k: usize) -> Result<State, usize> {
        let Function { name, text, .. } = &self.functions.list[k];
        let (name, text) = (name.clone(), text.clone());
        let written = text.get(self.source).to_string();
        let top = Path::top(SECTION);
        let path = top.key(&name);
        let parsed = self.parsed(&written, Scope::Drive);
        if let Some(needed) = parsed.open {
            return Err(needed);
        }
        if parsed.poisoned {
            return Ok(State::Failed);
        }
        Ok(match parsed.result {
            Ok((expr, kind)) => State::Done(expr, kind, parsed.variables),
            Err(error) => {
                let d = self.expression_problem(&error, &written, Scope::Drive, &path);
                self.problem(d, inside(&text, &error));
                State::Failed
            }
        })
    }
}

/// The functions of a file with their references to each other.
struct Named<'a, 'r>(&'a mut Reader<'r>);

impl Chain for Named<'_, '_> {
    fn settled(&self, k: usize) -> bool {
        self.0.functions.list[k].state != State::Open
    }

    fn settle(&mut self, k: usize) -> Result<(), usize> {
        self.0.functions.list[k].state = self.0.parse_function(k)?;
        Ok(())
    }

    fn refuse_circle(&mut self, circle: &[usize]) {
        let list = &mut self.0.functions.list;
        let names: Vec<String> = circle.iter().map(|k| list[*k].name.clone()).collect();
        circle.iter().for_each(|k| list[*k].state = State::Failed);
        let span = list[circle[0]].text.span;
        let d = Diagnostic::new("M627", format!("functions name each other in a circle: {}", chain::circle(&names)))
            .help("write one of them without the others")
            .at(format!("{SECTION}.{}", names[0]))
            .names(names);
        self.0.problem(d, span);
    }
}
