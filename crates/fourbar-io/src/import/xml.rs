//! XML as the importers read it: a tree of owned elements that know their place, and whether they were looked at.
//!
//! The tree outlives the parser, so that the elements of included files stand beside those of the file that includes them. Every
//! element and attribute remembers whether an importer asked for it: what nobody asked for is listed as not carried over.

use super::reading::{Reading, Spot};
use crate::places::Span;
use fourbar::Diagnostic;
use roxmltree::{Document, Node, ParsingOptions};
use std::borrow::Cow;
use std::cell::Cell;

/// Prefixes of tags that need not be declared.
const MOST_PREFIXES: usize = 6;
/// Most elements, comments and texts of a file, and of a large one.
const MOST_NODES: [u32; 2] = [600_000, 3_000_000];
/// Most attributes of an element: whether one stands there twice is looked up among all of them.
const MOST_ATTRIBUTES: usize = 500;
/// Deepest nesting of elements; robots of a hundred links in a row stay far below it.
pub(crate) const MAX_DEPTH: usize = 500;

/// An element.
#[derive(Debug)]
pub(crate) struct Element {
    /// Its tag; a prefix stands before it with `_`.
    pub tag: String,
    /// Its attributes in order.
    pub attributes: Vec<Attribute>,
    /// Elements inside it.
    pub children: Vec<Element>,
    /// Text directly inside it, without blanks around it.
    pub text: String,
    /// Where its tag stands.
    pub spot: Spot,
    seen: Cell<bool>,
}

/// An attribute.
#[derive(Debug)]
pub(crate) struct Attribute {
    /// Its name.
    pub name: String,
    /// Its value without blanks around it.
    pub value: String,
    /// Where its value stands.
    pub spot: Spot,
    seen: Cell<bool>,
}

impl Element {
    /// The value of an attribute.
    pub fn get(&self, name: &str) -> Option<&Attribute> {
        self.saw();
        let found = self.attributes.iter().find(|a| a.name == name)?;
        found.seen.set(true);
        Some(found)
    }

    /// The value of an attribute as a word.
    pub fn word(&self, name: &str) -> Option<&str> {
        self.get(name).map(|a| a.value.as_str())
    }

    /// Takes note that somebody looked at it.
    pub fn saw(&self) {
        self.seen.set(true);
    }

    /// Takes note that somebody dealt with it and all that it holds.
    pub fn done(&self) {
        self.saw();
        self.attributes.iter().for_each(|a| a.seen.set(true));
        self.children.iter().for_each(Element::done);
    }

    /// Takes note that attributes mean nothing for the mechanism.
    pub fn ignore(&self, names: &[&str]) {
        for a in self.attributes.iter().filter(|a| names.contains(&a.name.as_str())) {
            a.seen.set(true);
        }
    }

    /// The first element inside with this tag.
    pub fn child(&self, tag: &str) -> Option<&Element> {
        self.saw();
        let found = self.children.iter().find(|c| c.tag == tag)?;
        found.saw();
        Some(found)
    }

    /// The elements inside with this tag.
    pub fn all<'a>(&'a self, tag: &'a str) -> impl Iterator<Item = &'a Element> {
        self.saw();
        self.children.iter().filter(move |c| c.tag == tag).inspect(|c| c.saw())
    }

    /// The text of the first element inside with this tag, as a value with its place.
    pub fn text_of(&self, tag: &str) -> Option<Attribute> {
        let c = self.child(tag)?;
        Some(Attribute { name: tag.into(), value: c.text.clone(), spot: c.spot, seen: Cell::new(true) })
    }

    /// What nobody looked at: tags, and attributes of elements that were looked at, with their places.
    pub fn unseen<'a>(&'a self, found: &mut Vec<(&'a str, Option<&'a str>, Spot)>) {
        if !self.seen.get() {
            found.push((&self.tag, None, self.spot));
            return;
        }
        for a in self.attributes.iter().filter(|a| !a.seen.get()) {
            found.push((&self.tag, Some(&a.name), a.spot));
        }
        for c in &self.children {
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

/// Reads the text of source number `file`, within limits.
pub(crate) fn parse(reading: &Reading<'_>, file: u16, text: &str) -> Result<Element, Diagnostic> {
    let nodes = MOST_NODES[usize::from(reading.options.large)];
    measure(text, nodes).map_err(|(d, at)| reading.placed(d, Spot { file, span: Span::new(at, at + 1) }))?;
    // Prefixes that nobody declares are part of the name; places stay as they are.
    let mut plain = plain_comments(text);
    for _ in 0..MOST_PREFIXES {
        let prefix = match Document::parse_with_options(&plain, options(nodes)) {
            Ok(document) => return Ok(element(document.root_element(), file)),
            Err(roxmltree::Error::UnknownNamespace(prefix, _)) => prefix,
            Err(e) => return Err(refused(reading, file, text, &e)),
        };
        plain = Cow::Owned(plain.replace(&format!("{prefix}:"), &format!("{prefix}_")));
    }
    let d = Diagnostic::new("M650", format!("more than {MOST_PREFIXES} prefixes of tags are not declared"));
    Err(reading.placed(d.help("declare them with `xmlns:`"), Spot { file, span: Span::EMPTY }))
}

/// The text with blanks for strokes inside of comments: the standard forbids two of them in a row there, other programs do not.
fn plain_comments(text: &str) -> Cow<'_, str> {
    let mut plain = Cow::Borrowed(text);
    let mut k = 0;
    while let Some(n) = text[k..].find("<!--") {
        let from = k + n + 4;
        let Some(length) = text[from..].find("-->") else { break };
        let inside = &text[from..from + length];
        if inside.contains("--") || inside.ends_with('-') {
            // A stroke is one byte, and so is a blank: places stay as they are.
            plain.to_mut().replace_range(from..from + length, &inside.replace('-', " "));
        }
        k = from + length + 3;
    }
    plain
}

/// No entities, and so many elements.
fn options<'i>(nodes: u32) -> ParsingOptions<'i> {
    ParsingOptions { allow_dtd: false, nodes_limit: nodes, ..ParsingOptions::default() }
}

fn refused(reading: &Reading<'_>, file: u16, text: &str, e: &roxmltree::Error) -> Diagnostic {
    let d = match e {
        roxmltree::Error::NodesLimitReached => too_many(MOST_NODES[usize::from(reading.options.large)]),
        roxmltree::Error::DtdDetected => no_entities(),
        other => Diagnostic::new("M650", format!("the file is not well-formed XML: {other}")).help("correct it at this place"),
    };
    let pos = e.pos();
    let start: usize = text.split_inclusive('\n').take((pos.row as usize).saturating_sub(1)).map(str::len).sum();
    let line = text.get(start..).unwrap_or("");
    let at = start + line.char_indices().nth((pos.col as usize).saturating_sub(1)).map_or(0, |(k, _)| k);
    reading.placed(d, Spot { file, span: Span::new(at, (at + 1).min(text.len())) })
}

fn no_entities() -> Diagnostic {
    Diagnostic::new("M652", "the file declares a document type, which may define entities that grow without bound")
        .help("remove the `<!DOCTYPE ...>` and write the values out")
}

fn too_many(nodes: u32) -> Diagnostic {
    let d = Diagnostic::new("M652", format!("the file has more than {nodes} elements, comments and texts, the most that are read"));
    d.help(if nodes == MOST_NODES[0] { "`--large` reads larger files" } else { "read its parts one by one" })
}

pub(crate) fn too_deep() -> Diagnostic {
    Diagnostic::new("M652", format!("elements are nested deeper than {MAX_DEPTH} levels"))
        .help("a file written by a program may be at fault: robots need far fewer")
}

/// Walks over the tags without building anything: a file beyond measure is refused before it costs anything.
fn measure(text: &str, nodes: u32) -> Result<(), (Diagnostic, usize)> {
    let bytes = text.as_bytes();
    let (mut k, mut open, mut count) = (0, 0usize, 0u32);
    let skip = |from: usize, end: &str| text[from..].find(end).map_or(bytes.len(), |n| from + n + end.len());
    while let Some(n) = text[k..].find('<') {
        let at = k + n;
        let rest = &text[at..];
        // What stands before the tag is a text of its own.
        count += u32::from(n > 0);
        if rest.starts_with("<!--") {
            count += 1;
            k = skip(at + 4, "-->");
        } else if rest.starts_with("<![CDATA[") {
            count += 1;
            k = skip(at + 9, "]]>");
        } else if rest.starts_with("<!") {
            return Err((no_entities(), at));
        } else if rest.starts_with("<?") {
            count += 1;
            k = skip(at + 2, "?>");
        } else {
            let closing = rest.starts_with("</");
            // The end of the tag, outside of quotes.
            let (mut quote, mut end, mut attributes) = (0u8, at + 1, 0);
            while end < bytes.len() && (quote != 0 || bytes[end] != b'>') {
                match bytes[end] {
                    b'"' | b'\'' if quote == 0 => quote = bytes[end],
                    b if b == quote => {
                        quote = 0;
                        attributes += 1;
                    }
                    _ => {}
                }
                if attributes > MOST_ATTRIBUTES {
                    let d = Diagnostic::new("M652", format!("an element has more than {MOST_ATTRIBUTES} attributes, the most that are read"));
                    return Err((d.help("a file written by a program may be at fault: robots need far fewer"), at));
                }
                end += 1;
            }
            if closing {
                open = open.saturating_sub(1);
            } else {
                count += 1;
                open += usize::from(end == 0 || bytes.get(end - 1) != Some(&b'/'));
            }
            if open > MAX_DEPTH {
                return Err((too_deep(), at));
            }
            k = (end + 1).min(bytes.len());
        }
        if count > nodes {
            return Err((too_many(nodes), at));
        }
    }
    Ok(())
}

fn element(node: Node<'_, '_>, file: u16) -> Element {
    let range = node.range();
    let name = node.tag_name().name();
    let prefix = node.tag_name().namespace().and_then(|uri| node.lookup_prefix(uri));
    let spot = |start: usize, end: usize| Spot { file, span: Span::new(start, end) };
    let attributes = node
        .attributes()
        .map(|a| {
            let r = a.range_value();
            Attribute { name: a.name().into(), value: a.value().trim().into(), spot: spot(r.start, r.end), seen: Cell::new(false) }
        })
        .collect();
    let text: String = node.children().filter(|c| c.is_text()).filter_map(|c| c.text()).collect::<Vec<_>>().join(" ");
    Element {
        tag: prefix.map_or(name.into(), |p| format!("{p}_{name}")),
        attributes,
        children: node.children().filter(Node::is_element).map(|c| element(c, file)).collect(),
        text: text.trim().into(),
        spot: spot(range.start, range.start + 1 + name.len()),
        seen: Cell::new(false),
    }
}
