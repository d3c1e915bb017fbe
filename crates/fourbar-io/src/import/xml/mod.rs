//! XML for the importers: a tree of elements with their locations and a mark of whether they were read.
//!
//! The tree contains indices: the location of a value in its text, its name, its child elements. Text is copied only for names, once each,
//! and for the few values that differ from the text of the file (references such as `&lt;`, line breaks). Elements of included files are
//! part of the same tree. Every element and attribute is marked when an importer reads it: the others are listed as not converted.

mod parse;

use super::reading::{Reading, Spot};
use crate::places::Span;
use fourbar::Diagnostic;
pub(crate) use parse::{MAX_DEPTH, too_deep};
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

/// No element, or no text.
const NONE: u32 = u32::MAX;

/// The elements of a file and of those that it includes.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// Texts by number of the source.
    texts: Vec<Arc<str>>,
    /// Names of elements and attributes, each once.
    names: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u32>,
    nodes: Vec<Node>,
    values: Vec<Value>,
    /// Values that differ from the text of the file.
    decoded: Vec<Box<str>>,
}

#[derive(Debug)]
struct Node {
    /// Number of the name.
    tag: u32,
    /// First and last index of the attributes.
    values: [u32; 2],
    /// The first child element, and the next sibling.
    first: u32,
    next: u32,
    text: Piece,
    /// Location of the tag.
    start: u32,
    file: u16,
    seen: Cell<bool>,
}

#[derive(Debug)]
struct Value {
    /// Number of the name.
    name: u32,
    piece: Piece,
    file: u16,
    seen: Cell<bool>,
}

/// A part of a text, or its replacement.
#[derive(Clone, Copy, Debug)]
struct Piece {
    span: Span,
    /// Index among the values that differ from the text of the file.
    decoded: u32,
}

impl Piece {
    const EMPTY: Self = Self { span: Span::EMPTY, decoded: NONE };
}

/// An element.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Element<'t> {
    tree: &'t Tree,
    at: u32,
}

/// An attribute.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attribute<'t> {
    /// Name.
    pub name: &'t str,
    /// Value without surrounding blanks.
    pub value: &'t str,
    /// Location of the value.
    pub spot: Spot,
}

impl Tree {
    /// Reads the text of a file, within limits.
    pub fn parse(reading: &Reading<'_>, text: &Arc<str>) -> Result<Self, Diagnostic> {
        let mut tree = Self::default();
        tree.add(reading, 0, text)?;
        Ok(tree)
    }

    /// Reads the text of source number `file` into the tree; returns its outermost element.
    pub fn add(&mut self, reading: &Reading<'_>, file: u16, text: &Arc<str>) -> Result<u32, Diagnostic> {
        let from = self.nodes.len() as u32;
        self.texts.resize(self.texts.len().max(usize::from(file) + 1), Arc::from(""));
        self.texts[usize::from(file)] = text.clone();
        parse::parse(self, file, text, reading.options.large)
            .map_err(|(d, at)| reading.placed(d, Spot { file, span: Span::new(at, (at + 1).min(text.len())) }))?;
        Ok(from)
    }

    /// The outermost element of the file itself.
    pub fn root(&self) -> Element<'_> {
        self.element(0)
    }

    /// An element by its number.
    pub fn element(&self, at: u32) -> Element<'_> {
        Element { tree: self, at }
    }

    /// Whether an element or an attribute has this name.
    pub fn knows(&self, name: &str) -> bool {
        self.numbers.contains_key(name)
    }

    /// Numbers of the child elements.
    pub fn inside(&self, at: u32) -> Vec<u32> {
        self.element(at).children().map(|c| c.at).collect()
    }

    /// Replaces the child elements.
    pub fn put_inside(&mut self, at: u32, list: &[u32]) {
        self.nodes[at as usize].first = list.first().copied().unwrap_or(NONE);
        for (k, n) in list.iter().enumerate() {
            self.nodes[*n as usize].next = list.get(k + 1).copied().unwrap_or(NONE);
        }
    }

    /// The number of a name.
    fn number(&mut self, name: &str) -> u32 {
        if let Some(k) = self.numbers.get(name) {
            return *k;
        }
        let (k, name): (u32, Arc<str>) = (self.names.len() as u32, name.into());
        self.names.push(name.clone());
        self.numbers.insert(name, k);
        k
    }

    /// A value without surrounding blanks.
    fn word(&self, file: u16, piece: Piece) -> &str {
        let text = match self.decoded.get(piece.decoded as usize) {
            Some(text) => text,
            None => self.texts[usize::from(file)].get(piece.span.range()).unwrap_or(""),
        };
        text.trim()
    }
}

impl<'t> Element<'t> {
    fn node(self) -> &'t Node {
        &self.tree.nodes[self.at as usize]
    }

    /// The tag; a namespace prefix is joined to it by `_`.
    pub fn tag(self) -> &'t str {
        &self.tree.names[self.node().tag as usize]
    }

    /// Location of the tag.
    pub fn spot(self) -> Spot {
        let start = self.node().start as usize;
        Spot { file: self.node().file, span: Span::new(start, start + 1 + self.tag().len()) }
    }

    /// Text directly inside the element, without surrounding blanks.
    fn text(self) -> &'t str {
        self.tree.word(self.node().file, self.node().text)
    }

    /// The child elements.
    pub fn children(self) -> impl Iterator<Item = Element<'t>> + Clone {
        let beside = move |at: u32| (at != NONE).then_some(self.tree.element(at));
        std::iter::successors(beside(self.node().first), move |e| beside(e.node().next))
    }

    fn values(self) -> &'t [Value] {
        let [from, to] = self.node().values;
        &self.tree.values[from as usize..to as usize]
    }

    fn attribute(self, v: &'t Value) -> Attribute<'t> {
        Attribute { name: self.name(v), value: self.tree.word(v.file, v.piece), spot: Spot { file: v.file, span: v.piece.span } }
    }

    fn name(self, v: &Value) -> &'t str {
        &self.tree.names[v.name as usize]
    }

    /// The value of an attribute.
    pub fn get(self, name: &str) -> Option<Attribute<'t>> {
        self.saw();
        let found = self.values().iter().find(|v| self.name(v) == name)?;
        found.seen.set(true);
        Some(self.attribute(found))
    }

    /// The value of an attribute as a word.
    pub fn word(self, name: &str) -> Option<&'t str> {
        self.get(name).map(|a| a.value)
    }

    /// Marks the element as read.
    pub fn saw(self) {
        self.node().seen.set(true);
    }

    /// Marks the element and all its contents as read.
    pub fn done(self) {
        self.saw();
        self.values().iter().for_each(|v| v.seen.set(true));
        self.children().for_each(Element::done);
    }

    /// Marks attributes as read that do not affect the mechanism.
    pub fn ignore(self, names: &[&str]) {
        self.ignore_where(|name| names.contains(&name));
    }

    /// Marks the attributes as read whose name meets a condition.
    pub fn ignore_where(self, dealt_with: impl Fn(&str) -> bool) {
        for v in self.values().iter().filter(|v| dealt_with(self.name(v))) {
            v.seen.set(true);
        }
    }

    /// The first child element with this tag.
    pub fn child(self, tag: &str) -> Option<Element<'t>> {
        self.saw();
        let found = self.children().find(|c| c.tag() == tag)?;
        found.saw();
        Some(found)
    }

    /// The child elements with this tag.
    pub fn all(self, tag: &str) -> impl Iterator<Item = Element<'t>> {
        self.saw();
        self.children().filter(move |c| c.tag() == tag).inspect(|c| c.saw())
    }

    /// The text of the first child element with this tag, as a value with its location.
    pub fn text_of(self, tag: &str) -> Option<Attribute<'t>> {
        Some(self.child(tag)?.as_value())
    }

    /// The text of the element as a value with its location.
    pub fn as_value(self) -> Attribute<'t> {
        Attribute { name: self.tag(), value: self.text(), spot: self.spot() }
    }

    /// Content that was not read: tags, and attributes of elements that were read, with their locations.
    pub fn unseen(self, found: &mut impl FnMut(&'t str, Option<&'t str>, Spot)) {
        if !self.node().seen.get() {
            return found(self.tag(), None, self.spot());
        }
        for v in self.values().iter().filter(|v| !v.seen.get()) {
            let a = self.attribute(v);
            found(self.tag(), Some(a.name), a.spot);
        }
        for c in self.children() {
            c.unseen(found);
        }
    }
}

/// Whether a text looks like XML.
pub(crate) fn looks_like_xml(text: &str) -> bool {
    text.trim_start().starts_with('<')
}

/// The tag of the root element, found without parsing the rest.
pub(crate) fn root_tag(text: &str) -> Option<&str> {
    let mut rest = text.trim_start();
    loop {
        rest = rest.strip_prefix('<')?;
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = comment.split_once("-->")?.1.trim_start();
        } else if rest.starts_with('?') || rest.starts_with('!') {
            rest = rest.split_once('>')?.1.trim_start();
        } else {
            let end = rest.find(|c: char| c.is_whitespace() || c == '>' || c == '/')?;
            let tag = &rest[..end];
            return Some(tag.rsplit_once(':').map_or(tag, |(_, t)| t));
        }
    }
}
