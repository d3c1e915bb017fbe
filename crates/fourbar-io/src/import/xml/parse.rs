//! Parses a text to a [`Tree`]: one pass without recursion, within limits on depth, elements and attributes.
//!
//! Document types are rejected, so that all references are to characters. Prefixes of names need not be declared, and comments may contain
//! double hyphens: other programs write both.

use super::{NONE, Node, Piece, Tree, Value};
use crate::places::Span;
use crate::tree::shorten;
use fourbar::Diagnostic;
use std::borrow::Cow;
use std::cell::Cell;

/// Largest number of elements, comments and texts of a usual file, and of a large one.
const MOST_NODES: [u32; 2] = [600_000, 3_000_000];
/// Largest number of attributes of an element: duplicates are searched for among all of them.
const MOST_ATTRIBUTES: usize = 500;
/// Deepest nesting of elements; a chain of a hundred links stays far below it.
pub(crate) const MAX_DEPTH: usize = 500;

/// A problem and its position.
type Wrong = (Diagnostic, usize);

/// An element that is not yet closed.
struct Open<'x> {
    node: u32,
    /// The last child element so far.
    last: u32,
    /// Name as written.
    name: &'x str,
    /// Number of prefixes declared before it.
    declared: usize,
    text: Text,
}

/// The text directly inside an element.
enum Text {
    None,
    One(Piece),
    /// Several parts joined by blanks.
    Several(String),
}

struct Parser<'t, 'x> {
    tree: &'t mut Tree,
    text: &'x str,
    file: u16,
    /// The current byte.
    at: usize,
    /// Elements, comments and texts so far.
    count: u32,
    open: Vec<Open<'x>>,
    /// Prefixes declared so far.
    declared: Vec<&'x str>,
}

/// Reads a text into the tree.
pub(super) fn parse(tree: &mut Tree, file: u16, text: &str, large: bool) -> Result<(), Wrong> {
    if let Some(at) = text.bytes().position(|b| b < b' ' && !matches!(b, b'\t' | b'\n' | b'\r')) {
        return Err(wrong("there is a control character", at));
    }
    let most = MOST_NODES[usize::from(large)];
    let mut parser = Parser { tree, text, file, at: 0, count: 0, open: Vec::new(), declared: vec!["xml"] };
    let mut ended = false;
    loop {
        parser.characters()?;
        if parser.at == text.len() {
            break;
        }
        let at = parser.at;
        let rest = &text[at..];
        if rest.starts_with("<!--") {
            parser.skip(4, "-->", "a comment")?;
        } else if rest.starts_with("<?") {
            parser.skip(2, "?>", "an instruction")?;
        } else if rest.starts_with("<!") {
            let d = "the file declares a document type, which may define entities that grow without bound";
            return Err((Diagnostic::new("M652", d).help("remove the `<!DOCTYPE ...>` and write the values out"), at));
        } else if rest.starts_with("</") {
            parser.end()?;
        } else {
            if ended && parser.open.is_empty() {
                return Err(wrong("there is a second outermost element", at));
            }
            ended = true;
            parser.start()?;
        }
        if parser.count > most {
            return Err((too_many(most), at));
        }
    }
    match parser.open.last() {
        Some(o) => Err(wrong(format!("`<{}>` is not closed", shorten(o.name)), parser.tree.nodes[o.node as usize].start as usize)),
        None if !ended => Err(wrong("there is no element", 0)),
        None => Ok(()),
    }
}

fn wrong(why: impl std::fmt::Display, at: usize) -> Wrong {
    (Diagnostic::new("M650", format!("the file is not well-formed XML: {why}")).help("correct it at this place"), at)
}

fn too_many(nodes: u32) -> Diagnostic {
    let d = Diagnostic::new("M652", format!("the file has more than {nodes} elements, comments and texts, the most that are read"));
    d.help(if nodes == MOST_NODES[0] { "`--large` reads larger files" } else { "read its parts one by one" })
}

pub(crate) fn too_deep() -> Diagnostic {
    Diagnostic::new("M652", format!("elements are nested deeper than {MAX_DEPTH} levels"))
        .help("the program that wrote the file may be at fault: robots need far fewer")
}

fn is_name(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b':' | b'-' | b'.') || !b.is_ascii()
}

impl<'x> Parser<'_, 'x> {
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The text up to the next tag, comment or instruction.
    fn characters(&mut self) -> Result<(), Wrong> {
        const CDATA: &str = "<![CDATA[";
        let from = self.at;
        let mut joined: Option<String> = None;
        loop {
            let start = self.at;
            self.at = self.text[start..].find('<').map_or(self.text.len(), |n| start + n);
            let plain = &self.text[start..self.at];
            self.count += u32::from(!plain.is_empty());
            if let Some(n) = plain.find("]]>") {
                return Err(wrong("`]]>` occurs in a text", start + n));
            }
            let quoted = self.text[self.at..].starts_with(CDATA);
            if let (false, None) = (quoted, &joined) {
                break;
            }
            let all = joined.get_or_insert_default();
            *all += &decoded(plain, start, false)?;
            if !quoted {
                break;
            }
            let inside = self.at + CDATA.len();
            self.skip(CDATA.len(), "]]>", "a quoted text")?;
            *all += &self.text[inside..self.at - 3];
        }
        if joined.as_deref().unwrap_or(&self.text[from..self.at]).trim().is_empty() {
            return Ok(());
        }
        let (piece, word) = match joined {
            Some(all) => (self.decode(from, Cow::Owned(all)), from),
            None => {
                let blanks = self.text[from..self.at].len() - self.text[from..self.at].trim_start().len();
                (self.decode(from, decoded(&self.text[from..self.at], from, false)?), from + blanks)
            }
        };
        let Some(open) = self.open.last_mut() else { return Err(wrong("there is text outside the outermost element", word)) };
        open.text = match std::mem::replace(&mut open.text, Text::None) {
            Text::None => Text::One(piece),
            Text::One(first) => Text::Several(format!("{} {}", self.tree.word(self.file, first), self.tree.word(self.file, piece))),
            Text::Several(all) => Text::Several(all + " " + self.tree.word(self.file, piece)),
        };
        Ok(())
    }

    /// The text between `from` and here, with its replacement.
    fn decode(&mut self, from: usize, value: Cow<'_, str>) -> Piece {
        let span = Span::new(from, self.at);
        let Cow::Owned(value) = value else { return Piece { span, decoded: NONE } };
        self.tree.decoded.push(value.into());
        Piece { span, decoded: self.tree.decoded.len() as u32 - 1 }
    }

    /// Skips to the end of a construct that starts here.
    fn skip(&mut self, length: usize, end: &str, what: &str) -> Result<(), Wrong> {
        let inside = self.at + length;
        let Some(n) = self.text[inside..].find(end) else { return Err(wrong(format!("{what} is not closed"), self.at)) };
        self.count += 1;
        self.at = inside + n + end.len();
        Ok(())
    }

    fn blanks(&mut self) -> bool {
        let from = self.at;
        while self.byte().is_some_and(|b| b.is_ascii_whitespace()) {
            self.at += 1;
        }
        self.at > from
    }

    fn name(&mut self, what: &str) -> Result<&'x str, Wrong> {
        let from = self.at;
        while self.byte().is_some_and(is_name) {
            self.at += 1;
        }
        let name = &self.text[from..self.at];
        match name.bytes().next() {
            None => Err(wrong(format!("{what} is expected here"), from)),
            Some(b) if b.is_ascii_digit() || matches!(b, b'-' | b'.') => {
                Err(wrong(format!("`{}` cannot be a name: it starts with `{}`", shorten(name), char::from(b)), from))
            }
            Some(_) => Ok(name),
        }
    }

    /// Skips a required character.
    fn sign(&mut self, sign: u8, of: &str) -> Result<(), Wrong> {
        if self.byte() != Some(sign) {
            return Err(wrong(format!("`{}` is expected here, {of}", char::from(sign)), self.at));
        }
        self.at += 1;
        Ok(())
    }

    /// The tag that closes an element.
    fn end(&mut self) -> Result<(), Wrong> {
        let at = self.at;
        self.at += 2;
        let name = self.name("the name of an element")?;
        self.blanks();
        self.sign(b'>', "at the end of the tag")?;
        match self.open.pop() {
            Some(open) if open.name == name => {
                self.close(open);
                Ok(())
            }
            Some(open) => Err(wrong(format!("found `</{}>` where `</{}>` is expected", shorten(name), shorten(open.name)), at)),
            None => Err(wrong(format!("`</{}>` does not close anything", shorten(name)), at)),
        }
    }

    fn close(&mut self, open: Open<'x>) {
        self.declared.truncate(open.declared);
        self.tree.nodes[open.node as usize].text = match open.text {
            Text::None => Piece::EMPTY,
            Text::One(piece) => piece,
            Text::Several(all) => self.decode(self.at, Cow::Owned(all)),
        };
    }

    /// The tag that opens an element.
    fn start(&mut self) -> Result<(), Wrong> {
        let start = self.at;
        self.at += 1;
        let name = self.name("the name of an element")?;
        self.count += 1;
        let declared = self.declared.len();
        let from = self.tree.values.len();
        let empty = self.attributes(start)?;
        self.resolve(from);
        for (k, v) in self.tree.values[from..].iter().enumerate() {
            if self.tree.values[from..from + k].iter().any(|other| other.name == v.name) {
                let name = &self.tree.names[v.name as usize];
                return Err(wrong(format!("the attribute `{}` is given twice", shorten(name)), v.piece.span.start()));
            }
        }
        let node = self.tree.nodes.len() as u32;
        let tag = self.tree.number(&joined_name(name));
        let values = [from as u32, self.tree.values.len() as u32];
        let (file, seen) = (self.file, Cell::new(false));
        self.tree.nodes.push(Node { tag, values, first: NONE, next: NONE, text: Piece::EMPTY, start: start as u32, file, seen });
        if let Some(around) = self.open.last_mut() {
            match std::mem::replace(&mut around.last, node) {
                NONE => self.tree.nodes[around.node as usize].first = node,
                last => self.tree.nodes[last as usize].next = node,
            }
        }
        if empty {
            self.declared.truncate(declared);
            return Ok(());
        }
        self.open.push(Open { node, last: NONE, name, declared, text: Text::None });
        if self.open.len() > MAX_DEPTH { Err((too_deep(), start)) } else { Ok(()) }
    }

    /// Attributes up to the end of a tag, and whether the tag also ends the element.
    fn attributes(&mut self, start: usize) -> Result<bool, Wrong> {
        for count in 0.. {
            let apart = self.blanks();
            match self.byte() {
                Some(b'>') => {
                    self.at += 1;
                    return Ok(false);
                }
                Some(b'/') => {
                    self.at += 1;
                    return self.sign(b'>', "at the end of the tag").map(|()| true);
                }
                Some(b'<') | None => return Err(wrong("a tag is not closed", start)),
                Some(_) if !apart => return Err(wrong("a blank is expected here", self.at)),
                Some(_) => {}
            }
            if count == MOST_ATTRIBUTES {
                let d = Diagnostic::new("M652", format!("an element has more than {MOST_ATTRIBUTES} attributes, the most that are read"));
                return Err((d.help("the program that wrote the file may be at fault: robots need far fewer"), start));
            }
            let name = self.name("the name of an attribute")?;
            self.blanks();
            self.sign(b'=', "after the name of an attribute")?;
            self.blanks();
            let quote = self.byte().filter(|b| matches!(b, b'"' | b'\''));
            let Some(quote) = quote else { return Err(wrong("the value of an attribute stands in quotes", self.at)) };
            let from = self.at + 1;
            let Some(n) = self.text[from..].find(char::from(quote)) else { return Err(wrong("a value is not closed", self.at)) };
            let raw = &self.text[from..from + n];
            if let Some(k) = raw.find('<') {
                return Err(wrong("`<` stands in a value: write `&lt;`", from + k));
            }
            self.at = from + n;
            let value = decoded(raw, from, true)?;
            let piece = self.decode(from, value);
            self.at += 1;
            if let Some(prefix) = name.strip_prefix("xmlns:") {
                self.declared.push(prefix);
            } else if name != "xmlns" {
                let name = self.tree.number(name);
                self.tree.values.push(Value { name, piece, file: self.file, seen: Cell::new(false) });
            }
        }
        Ok(false)
    }

    /// Attributes with a declared prefix are named without it; others keep the prefix, joined by `_`.
    fn resolve(&mut self, from: usize) {
        for k in from..self.tree.values.len() {
            let name = self.tree.names[self.tree.values[k].name as usize].clone();
            if let Some((prefix, local)) = name.split_once(':') {
                let name = if self.declared.contains(&prefix) { Cow::Borrowed(local) } else { joined_name(&name) };
                self.tree.values[k].name = self.tree.number(&name);
            }
        }
    }
}

/// A name with its prefix joined by `_`.
fn joined_name(name: &str) -> Cow<'_, str> {
    if name.contains(':') { Cow::Owned(name.replace(':', "_")) } else { Cow::Borrowed(name) }
}

/// A part of the text with references and line breaks replaced. `from` is its start.
fn decoded(raw: &str, from: usize, attribute: bool) -> Result<Cow<'_, str>, Wrong> {
    let special = |c: char| c == '&' || c == '\r' || attribute && matches!(c, '\n' | '\t');
    if !raw.contains(special) {
        return Ok(Cow::Borrowed(raw));
    }
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(n) = rest.find(special) {
        out += &rest[..n];
        rest = &rest[n..];
        let Some(reference) = rest.strip_prefix('&') else {
            let length = if rest.starts_with("\r\n") { 2 } else { 1 };
            out.push(if attribute { ' ' } else { '\n' });
            rest = &rest[length..];
            continue;
        };
        let at = from + raw.len() - rest.len();
        let Some(end) = reference.find(';') else { return Err(wrong("`&` stands alone: write `&amp;`", at)) };
        let name = &reference[..end];
        let code = match name.strip_prefix('#') {
            Some(x) => x.strip_prefix('x').map_or_else(|| x.parse().ok(), |x| u32::from_str_radix(x, 16).ok()).and_then(char::from_u32),
            None => match name {
                "lt" => Some('<'),
                "gt" => Some('>'),
                "amp" => Some('&'),
                "apos" => Some('\''),
                "quot" => Some('"'),
                _ => None,
            },
        };
        match code {
            Some(c) if c >= ' ' || c.is_ascii_whitespace() => out.push(c),
            _ => return Err(wrong(format!("`&{};` is not defined", shorten(name)), at)),
        }
        rest = &reference[end + 1..];
    }
    out += rest;
    Ok(Cow::Owned(out))
}
