//! Inputs and states: the numbers of each have the dimension of its unit.

use super::{Path, Reader};
use crate::keys::{INPUT, STATE};
use crate::tree::{Content, Node, Text, shorten};
use crate::units::dimension_of;
use fourbar::Diagnostic;
use fourbar::expr::Dimension;
use fourbar::spec::{InputSpec, StateSpec};

impl Reader<'_> {
    /// The value of a key of a group.
    pub(super) fn behind<'n>(&self, node: &'n Node, key: &str) -> Option<&'n Node> {
        match &node.content {
            Content::Map(entries) => entries.iter().find(|(k, _)| k.get(self.source) == key).map(|(_, v)| v),
            _ => None,
        }
    }

    /// The unit of an element with its dimension.
    fn carried_unit(&mut self, node: &Node, path: &Path<'_>) -> Option<(String, Dimension)> {
        let Some(behind) = self.behind(node, "unit") else { return Some(("1".into(), Dimension::NONE)) };
        let path = path.key("unit");
        let text = self.text(behind, &path)?;
        match dimension_of(text.trim()) {
            Some(d) => Some((text.trim().to_string(), d)),
            None => {
                let d = Diagnostic::new("M603", format!("`{}` is not an SI unit", shorten(&text)))
                    .help("results are in SI units: write `N*m`, `rad`, `m/s`, `A` or the like, or `1`; values may have any unit")
                    .at(path.to_string());
                self.problem(d, behind.span);
                None
            }
        }
    }

    /// A number of dimension `d`, or without a unit; zero if the key is missing.
    fn carried_number(&mut self, node: &Node, key: &str, d: Dimension, path: &Path<'_>) -> Option<f64> {
        match self.behind(node, key) {
            Some(behind) => self.number(behind, Some(d), &path.key(key)),
            None => Some(0.0),
        }
    }

    /// Rejects a name that a parameter already has.
    fn not_a_parameter(&mut self, key: &Text, path: &Path<'_>) {
        let name = key.get(self.source);
        if self.parameters.names().any(|p| p == name) {
            let d = Diagnostic::new("M100", format!("the name `{name}` is used under `{}` already", self.parameters_at))
                .help("names are shared by all sections: rename one of them")
                .name(name)
                .at(path.to_string());
            self.problem(d, key.span);
        }
    }

    pub(super) fn input(&mut self, key: &Text, node: &Node, path: &Path<'_>) -> Option<InputSpec> {
        self.not_a_parameter(key, path);
        let x = self.record(&INPUT, key, node, path, &[])?;
        let (unit, d) = self.carried_unit(node, path).filter(|_| !x.broken)?;
        let default = self.carried_number(node, "default", d, path)?;
        let range = match self.behind(node, "range") {
            Some(behind) => self.numbers(behind, &[Some(d); 2], &path.key("range"))?,
            None => InputSpec::default().range,
        };
        Some(InputSpec { unit, default, range })
    }

    pub(super) fn own_state(&mut self, key: &Text, node: &Node, path: &Path<'_>) -> Option<StateSpec> {
        self.not_a_parameter(key, path);
        let x = self.record(&STATE, key, node, path, &[])?;
        let (unit, d) = self.carried_unit(node, path).filter(|_| !x.broken)?;
        let start = self.carried_number(node, "start", d, path)?;
        let rate = self.state(self.behind(node, "rate")?, &[], Some(d.times(Dimension::RATE)), &path.key("rate"))?;
        Some(StateSpec { unit, rate, start })
    }
}
