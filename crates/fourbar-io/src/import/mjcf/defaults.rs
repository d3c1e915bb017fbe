//! Classes of default values. A class inherits from the one it stands in; the outermost holds everywhere.

use super::super::reading::Reading;
use super::super::xml::{Attribute, Element};
use std::collections::HashMap;

/// A class.
struct Class<'x> {
    parent: Option<usize>,
    elements: Vec<Element<'x>>,
}

/// All classes of a file; the first is the outermost.
pub(super) struct Defaults<'x> {
    classes: Vec<Class<'x>>,
    names: HashMap<&'x str, usize>,
}

/// Actuators of every kind share their defaults.
const ACTUATORS: [&str; 9] = ["general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle", "adhesion"];

impl<'x> Defaults<'x> {
    pub fn new(reading: &Reading<'_>, root: Element<'x>) -> Self {
        let mut d = Self { classes: vec![Class { parent: None, elements: Vec::new() }], names: HashMap::new() };
        d.names.insert("main", 0);
        for e in root.all("default") {
            // There is one outermost class, whatever it is called.
            if let Some(name) = e.word("class") {
                d.names.insert(name, 0);
            }
            d.collect(reading, e, 0);
        }
        d
    }

    fn collect(&mut self, reading: &Reading<'_>, e: Element<'x>, class: usize) {
        for c in e.children() {
            if c.tag() != "default" {
                self.classes[class].elements.push(c);
                // What a default says is listed where it is not carried over, not that it is there.
                c.saw();
                continue;
            }
            c.saw();
            let Some(name) = reading.need(c, "class") else { continue };
            // A class may be opened again, as files are included.
            let k = match self.names.get(name.value) {
                Some(k) => *k,
                None => {
                    self.classes.push(Class { parent: Some(class), elements: Vec::new() });
                    self.names.insert(name.value, self.classes.len() - 1);
                    self.classes.len() - 1
                }
            };
            self.collect(reading, c, k);
        }
    }

    /// The class of an element: its own, or the one that is inherited.
    pub fn class_of(&self, reading: &Reading<'_>, e: Element<'_>, inherited: usize) -> usize {
        self.named(reading, e.get("class"), inherited)
    }

    /// The class that the elements inside a body inherit.
    pub fn class_inside(&self, reading: &Reading<'_>, e: Element<'_>, inherited: usize) -> usize {
        self.named(reading, e.get("childclass"), inherited)
    }

    fn named(&self, reading: &Reading<'_>, a: Option<Attribute<'_>>, inherited: usize) -> usize {
        let Some(a) = a else { return inherited };
        let found = self.names.get(a.value).copied();
        if found.is_none() {
            reading.unknown("class", a.value, self.names.keys().copied(), a.spot);
        }
        found.unwrap_or(inherited)
    }

    /// Elements that hold values for an element with one of these tags: itself, then its class and those around it.
    pub fn chain(&self, e: Element<'x>, class: usize, tags: &[&str]) -> impl Iterator<Item = Element<'x>> {
        let around = std::iter::successors(Some(class), |k| self.classes[*k].parent);
        let given = around.flat_map(|k| self.classes[k].elements.iter().rev().copied()).filter(|d| tags.contains(&d.tag()));
        std::iter::once(e).chain(given)
    }

    /// The value of an attribute, from the element or its defaults.
    pub fn attribute(&self, e: Element<'x>, class: usize, tags: &[&str], name: &str) -> Option<Attribute<'x>> {
        self.chain(e, class, tags).find_map(|d| d.get(name))
    }

    /// Tags of the defaults of an actuator.
    pub fn actuator_tags(tag: &str) -> Vec<&'static str> {
        ACTUATORS.iter().copied().filter(|t| *t == tag || *t == "general").collect()
    }
}
