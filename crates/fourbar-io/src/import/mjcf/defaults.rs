//! Classes of default values. A class inherits from the enclosing one; the outermost applies everywhere.

use super::super::reading::Reading;
use super::super::xml::{Attribute, Element};
use fourbar::Diagnostic;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

/// A class.
struct Class<'x> {
    parent: Option<usize>,
    elements: Vec<Element<'x>>,
}

/// All classes of a file; the first is the outermost.
pub(super) struct Defaults<'x> {
    classes: Vec<Class<'x>>,
    names: HashMap<&'x str, usize>,
    /// Attributes that were read from elements, by tag of the defaults.
    asked: RefCell<HashMap<String, HashSet<String>>>,
    /// Number of elements of one kind in each class.
    alike: HashMap<(usize, &'x str), usize>,
}

/// Largest number of elements of one kind in a class: more than one come from included files.
const MOST_ALIKE: usize = 50;
/// Attributes for the orientation, in order of precedence.
const TURNS: [&str; 5] = ["quat", "axisangle", "euler", "xyaxes", "zaxis"];

/// Actuators of all kinds share their defaults.
const ACTUATORS: [&str; 9] = ["general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle", "adhesion"];

impl<'x> Defaults<'x> {
    pub fn new(reading: &Reading<'_>, root: Element<'x>) -> Self {
        let mut d = Self {
            classes: vec![Class { parent: None, elements: Vec::new() }],
            names: HashMap::new(),
            asked: RefCell::default(),
            alike: HashMap::new(),
        };
        d.names.insert("main", 0);
        for e in root.all("default") {
            // There is one outermost class, with any name.
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
                let alike = self.alike.entry((class, c.tag())).or_default();
                *alike += 1;
                if *alike > MOST_ALIKE {
                    let message = format!("a class has more than {MOST_ALIKE} defaults for `{}`", c.tag());
                    return reading.problem(Diagnostic::new("M652", message).name(c.tag()).help("put them together"), c.spot());
                }
                self.classes[class].elements.push(c);
                // For a default only its contents are listed if they are not converted.
                c.saw();
                continue;
            }
            c.saw();
            let Some(name) = reading.need(c, "class") else { continue };
            // A class may be reopened, since files are included.
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

    /// The class of an element: given or inherited.
    pub fn class_of(&self, reading: &Reading<'_>, e: Element<'_>, inherited: usize) -> usize {
        self.named(reading, e.get("class"), inherited)
    }

    /// The class inherited by the elements inside a body.
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

    /// Elements with values for an element with one of these tags: the element itself, then its class and the enclosing classes.
    pub fn chain(&self, e: Element<'x>, class: usize, tags: &[&str]) -> impl Iterator<Item = Element<'x>> {
        let around = std::iter::successors(Some(class), |k| self.classes[*k].parent);
        let given = around.flat_map(|k| self.classes[k].elements.iter().rev().copied()).filter(|d| tags.contains(&d.tag()));
        std::iter::once(e).chain(given)
    }

    /// The value of an attribute, from the element or its defaults.
    pub fn attribute(&self, e: Element<'x>, class: usize, tags: &[&str], name: &str) -> Option<Attribute<'x>> {
        let mut asked = self.asked.borrow_mut();
        for tag in tags {
            if asked.get(*tag).is_none_or(|names| !names.contains(name)) {
                asked.entry((*tag).into()).or_default().insert(name.into());
            }
        }
        self.chain(e, class, tags).find_map(|d| d.get(name))
    }

    /// Marks default attributes as read if they were looked up for an element, or if there is no element of their kind.
    pub fn settle(&self) {
        let asked = self.asked.borrow();
        for d in self.classes.iter().flat_map(|c| &c.elements) {
            match asked.get(d.tag()) {
                None => d.done(),
                Some(names) => d.ignore_where(|name| names.contains(name) || TURNS.contains(&name)),
            }
        }
    }

    /// Tags of the defaults of an actuator.
    pub fn actuator_tags(tag: &str) -> Vec<&'static str> {
        ACTUATORS.iter().copied().filter(|t| *t == tag || *t == "general").collect()
    }
}
