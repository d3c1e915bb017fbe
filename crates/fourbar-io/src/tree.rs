//! The text of a file as a tree of values with their locations, before it is interpreted.
//!
//! YAML events become nodes without recursion. Depth, number of values and expansion of aliases are limited, so that a small hostile file
//! cannot become a large tree. JSON is read by the same parser. Texts in the form of large files are read by the faster parser [`quick`],
//! which gives the same tree.

mod quick;

use crate::file::{Limits, larger};
use crate::places::Span;
use fourbar::Diagnostic;
use granit_parser::{ErrorKind, Event, Parser, ScanError, StructureStyle};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Deepest nesting of flow collections, and of block collections.
pub(crate) const MAX_DEPTH: usize = 64;
/// Largest number of keys and values that anchors and aliases may copy.
pub(crate) const MAX_COPIES: usize = 100_000;

/// A scalar: usually a piece of the source, sometimes a separate text (escapes, folded lines).
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub span: Span,
    // Boxed twice because it is rare, and its size counts in every scalar of a large file.
    own: Option<Box<Box<str>>>,
    /// Written without quotes.
    pub plain: bool,
}

impl Text {
    pub fn get<'a>(&'a self, source: &'a str) -> &'a str {
        match &self.own {
            Some(own) => own,
            None => source.get(self.span.range()).unwrap_or(""),
        }
    }

    /// A piece of the source.
    pub fn verbatim(span: Span, plain: bool) -> Self {
        Self { span, own: None, plain }
    }

    /// An empty text that only has a location.
    pub fn marker(at: usize) -> Self {
        Self { span: Span::new(at, at + 1), own: Some(Box::new("".into())), plain: false }
    }

    /// Whether positions in the text correspond to positions in the source.
    pub fn is_verbatim(&self) -> bool {
        self.own.is_none()
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Content {
    Scalar(Text),
    List(Box<[Node]>),
    Map(Box<[(Text, Node)]>),
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub content: Content,
    pub span: Span,
}

impl Node {
    /// Kind of the value, for messages.
    pub fn what(&self, source: &str) -> &'static str {
        match &self.content {
            Content::Scalar(text) if is_null(text, source) => "nothing",
            Content::Scalar(_) => "a single value",
            Content::List(_) => "a list",
            Content::Map(_) => "a group of keys",
        }
    }

    /// Takes the value of a key out of a group and leaves an empty group in its place.
    pub fn take_section(&mut self, name: &str, source: &str) -> Option<(Text, Node)> {
        let Content::Map(entries) = &mut self.content else { return None };
        let (key, node) = entries.iter_mut().find(|(k, _)| k.get(source) == name)?;
        let content = std::mem::replace(&mut node.content, Content::Map(Box::new([])));
        Some((key.clone(), Node { content, span: node.span }))
    }

    /// A key of a group with its value.
    pub fn section(&self, name: &str, source: &str) -> Option<&(Text, Node)> {
        let Content::Map(entries) = &self.content else { return None };
        entries.iter().find(|(k, _)| k.get(source) == name)
    }

    /// The element that an empty group of a sketch stands for.
    pub fn later(&self, source: &str) -> Option<Self> {
        match &self.content {
            Content::Map(none) if none.is_empty() => quick::element(source, self.span.start()),
            _ => None,
        }
    }

    /// Number of keys and values in the node.
    fn size(&self) -> usize {
        let mut size = 0;
        let mut open = vec![self];
        while let Some(node) = open.pop() {
            size += 1;
            match &node.content {
                Content::Scalar(_) => {}
                Content::List(items) => open.extend(items.iter()),
                Content::Map(entries) => {
                    size += entries.len();
                    open.extend(entries.iter().map(|(_, v)| v));
                }
            }
        }
        size
    }
}

/// Whether a scalar is null.
pub(crate) fn is_null(text: &Text, source: &str) -> bool {
    text.plain && matches!(text.get(source), "" | "~" | "null" | "Null" | "NULL")
}

/// A file as a tree.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub source: Arc<str>,
    pub root: Node,
}

/// A problem with its location.
pub(crate) type Located = (Diagnostic, Option<Span>);

enum Frame {
    List { items: Vec<Node>, start: Span, anchor: usize },
    Map { entries: Vec<(Text, Node)>, key: Option<Text>, start: Span, anchor: usize },
}

struct Builder<'a> {
    source: &'a str,
    frames: Vec<Frame>,
    root: Option<Node>,
    anchors: HashMap<usize, Node>,
    values: usize,
    most: usize,
    copies: usize,
    problems: Vec<Located>,
}

impl Tree {
    /// Reads a text of at most `most` keys and values; the first syntax error ends the reading, duplicate keys are collected.
    pub fn parse(source: &Arc<str>, most: usize) -> Result<Self, Vec<Located>> {
        match quick::parse(source, most) {
            Some(root) => Ok(Self { source: source.clone(), root }),
            None => Self::events(source, most),
        }
    }

    /// The same, except that elements of large sections are read later with [`Node::later`]: the tree of a large file takes many times the
    /// memory of its text.
    pub fn sketch(source: &Arc<str>, most: usize) -> Result<Self, Vec<Located>> {
        match quick::sketch(source, most) {
            Some(root) => Ok(Self { source: source.clone(), root }),
            None => Self::parse(source, most),
        }
    }

    /// The same with the YAML parser, whatever the form of the text.
    pub(crate) fn events(source: &Arc<str>, most: usize) -> Result<Self, Vec<Located>> {
        let mut options = granit_parser::options! { flow_nesting_limit: MAX_DEPTH, block_nesting_limit: MAX_DEPTH };
        options.set_emit_comments(false);
        let mut builder =
            Builder { source, frames: Vec::new(), root: None, anchors: HashMap::new(), values: 0, most, copies: 0, problems: Vec::new() };
        for event in Parser::new_from_str_with_options(source, options) {
            let step = match event {
                Ok((event, span)) => {
                    let range = span.byte_range().unwrap_or(0..0);
                    builder.event(event, Span::new(range.start, range.end))
                }
                Err(error) => Err(builder.syntax(&error)),
            };
            if let Err(problem) = step {
                builder.problems.push(*problem);
                return Err(builder.problems);
            }
        }
        match builder.root {
            _ if !builder.problems.is_empty() => Err(builder.problems),
            Some(root) if !matches!(&root.content, Content::Scalar(text) if is_null(text, source)) => {
                Ok(Self { source: source.clone(), root })
            }
            _ => Err(vec![(empty(), None)]),
        }
    }
}

/// The error for an empty file.
pub(crate) fn empty() -> Diagnostic {
    Diagnostic::new("M002", "the file is empty").help("`fourbar new FILE` writes a commented file to start from")
}

type Step = Result<(), Box<Located>>;

fn fail<T>(code: &'static str, message: impl Into<String>, help: &str, span: Span) -> Result<T, Box<Located>> {
    Err(Box::new((Diagnostic::new(code, message).help(help), Some(span))))
}

impl Builder<'_> {
    fn event(&mut self, event: Event<'_>, span: Span) -> Step {
        if event.tag().is_some() {
            return fail("M009", "tags (`!name`) are not used in mechanism files", "leave the tag out", span);
        }
        match event {
            Event::Scalar(value, style, anchor, _) => {
                let plain = style == granit_parser::ScalarStyle::Plain;
                let text = self.text(&value, span, plain);
                self.keep(anchor, Node { span: text.span, content: Content::Scalar(text) })
            }
            Event::SequenceStart(_, anchor, _) => {
                self.frames.push(Frame::List { items: Vec::new(), start: span, anchor });
                Ok(())
            }
            Event::MappingStart(style, anchor, _) => {
                // The start of a block mapping is the place of its first key, which may be an empty span.
                let start = if style == StructureStyle::Block { Span::new(span.start(), span.start()) } else { span };
                self.frames.push(Frame::Map { entries: Vec::new(), key: None, start, anchor });
                Ok(())
            }
            Event::SequenceEnd | Event::MappingEnd => match self.frames.pop() {
                Some(Frame::List { items, start, anchor }) => {
                    let end = items.last().map_or(span.end(), |n| n.span.end()).max(span.end());
                    self.keep(anchor, Node { span: Span::new(start.start(), end), content: Content::List(items.into()) })
                }
                Some(Frame::Map { entries, start, anchor, .. }) => {
                    let end = entries.last().map_or(span.end(), |(_, n)| n.span.end()).max(span.end());
                    self.duplicates(&entries);
                    let entries = self.merge(entries);
                    self.keep(anchor, Node { span: Span::new(start.start(), end), content: Content::Map(entries.into()) })
                }
                None => Ok(()),
            },
            Event::Alias(id) => {
                let Some(node) = self.anchors.get(&id) else {
                    return fail("M006", "the alias is inside the value that it refers to", "write the value out", span);
                };
                let (size, node) = (node.size(), node.clone());
                self.copy(size, span)?;
                self.keep(0, node)
            }
            Event::DocumentStart(..) if self.root.is_some() => {
                fail("M009", "the file contains more than one document", "keep one mechanism per file; remove `---`", span)
            }
            _ => Ok(()),
        }
    }

    /// The text of a scalar, borrowed from the source if possible.
    fn text(&self, value: &str, span: Span, plain: bool) -> Text {
        let source = |span: Span| self.source.get(span.range());
        if source(span) == Some(value) {
            return Text { span, own: None, plain };
        }
        let inner = Span::new(span.start() + 1, span.end().max(span.start() + 2) - 1);
        if !plain && source(inner) == Some(value) {
            return Text { span: inner, own: None, plain };
        }
        Text { span, own: Some(Box::new(value.into())), plain }
    }

    fn copy(&mut self, size: usize, span: Span) -> Step {
        self.copies += size;
        if self.copies > MAX_COPIES {
            let message = format!("anchors and aliases copy more than {MAX_COPIES} values");
            return fail("M006", message, "write the values out, or build large models through the library", span);
        }
        Ok(())
    }

    /// Adds a finished node to its parent.
    fn keep(&mut self, anchor: usize, node: Node) -> Step {
        if anchor != 0 {
            self.copy(node.size(), node.span)?;
            self.anchors.insert(anchor, node.clone());
        }
        self.values += 1;
        if self.values > self.most {
            let help = larger(self.most == Limits::USUAL.values);
            return fail("M007", format!("the file contains more than {} values", self.most), help, node.span);
        }
        match self.frames.last_mut() {
            None => self.root = Some(node),
            Some(Frame::List { items, .. }) => items.push(node),
            Some(Frame::Map { entries, key, .. }) => match (key.take(), node) {
                (Some(key), node) => entries.push((key, node)),
                (None, Node { content: Content::Scalar(text), .. }) => *key = Some(text),
                (None, node) => return fail("M009", "a key must be a single word", "put the value after `key:`", node.span),
            },
        }
        Ok(())
    }

    /// Adds the keys of `<<: *anchor` that the group does not define itself.
    fn merge(&self, entries: Vec<(Text, Node)>) -> Vec<(Text, Node)> {
        let is_merge = |(key, value): &(Text, Node)| key.plain && key.get(self.source) == "<<" && matches!(value.content, Content::Map(_));
        if !entries.iter().any(is_merge) {
            return entries;
        }
        let (merged, mut own): (Vec<_>, Vec<_>) = entries.into_iter().partition(is_merge);
        let given: HashSet<String> = own.iter().map(|(key, _)| key.get(self.source).to_string()).collect();
        for (_, value) in merged {
            if let Content::Map(inherited) = value.content {
                own.extend(inherited.into_iter().filter(|(key, _)| !given.contains(key.get(self.source))));
            }
        }
        own
    }

    fn duplicates(&mut self, entries: &[(Text, Node)]) {
        // Most groups are small: there, comparing is faster than hashing.
        const SMALL: usize = 12;
        let mut seen = HashSet::new();
        for (i, (key, _)) in entries.iter().enumerate() {
            let name = key.get(self.source);
            let new =
                if entries.len() <= SMALL { !entries[..i].iter().any(|(k, _)| k.get(self.source) == name) } else { seen.insert(name) };
            if !new && self.problems.len() < 100 {
                let problem = Diagnostic::new("M008", format!("the key `{}` is given twice", shorten(name)))
                    .help("keep one of the two, or give the second another name")
                    .name(shorten(name));
                self.problems.push((problem, Some(key.span)));
            }
        }
    }

    /// Help for text that is not YAML, for the most frequent mistakes.
    fn syntax_help(&self, info: &str, at: usize) -> String {
        let begin = self.source.get(..at).and_then(|t| t.rfind('\n')).map_or(0, |k| k + 1);
        let line = self.source.get(begin..).and_then(|t| t.lines().next()).unwrap_or_default().trim();
        let word = shorten(line);
        let quoted = |(key, value): (&str, &str)| {
            format!("a value that contains a colon must be quoted: `{}: '{}'`", shorten(key), shorten(value.trim()))
        };
        match info {
            i if i.contains("tab") => "indent with spaces: there is a tab".into(),
            i if i.contains("expected ':'") => match line.split_once(':') {
                Some((key, value)) if !value.starts_with(' ') && !key.is_empty() => {
                    format!("a space must follow the colon: `{}: {}`", shorten(key), shorten(value))
                }
                _ if !line.is_empty() && !line.contains([' ', ':', '{', '[', '"', '\'']) => format!("a key ends with a colon: `{word}:`"),
                _ => MALFORMED.into(),
            },
            i if i.contains("mapping values are not allowed") => match line.split_once(": ") {
                Some(parts) if !parts.1.contains(['{', '[', '"', '\'']) && parts.1.contains(':') => quoted(parts),
                _ => MALFORMED.into(),
            },
            i if i.contains("flow") => {
                "a bracket or brace is not closed before this place, or a comma is missing; units stand at each number: `[0, 0, 100 mm]`"
                    .into()
            }
            _ => MALFORMED.into(),
        }
    }

    fn syntax(&self, error: &ScanError) -> Box<Located> {
        let at = error.marker().byte_offset().unwrap_or(0).min(self.source.len());
        let span = Span::new(at, at);
        let diagnostic = match error.kind() {
            ErrorKind::RecursionLimitExceeded => Diagnostic::new("M005", format!("the file is nested more than {MAX_DEPTH} deep"))
                .help("a mechanism file needs fewer than ten levels"),
            ErrorKind::UnknownAnchor => Diagnostic::new("M006", "the alias refers to an anchor that does not exist before it")
                .help("name the value with `&name` first; an expression may not start with `*`"),
            _ => Diagnostic::new("M001", format!("this is not YAML: {}", error.info())).help(self.syntax_help(&error.info(), at)),
        };
        Box::new((diagnostic, Some(span)))
    }
}

/// Help for text that is not YAML if the cause is unknown.
const MALFORMED: &str = "check indentation, brackets and quotes near this place; tabs may not indent";

/// Largest number of characters of a word in a message.
pub(crate) const SHORT: usize = 60;

/// A word of the file, shortened for a message.
pub(crate) fn shorten(word: &str) -> String {
    match word.char_indices().nth(SHORT) {
        Some((end, _)) => format!("{}...", &word[..end]),
        None => word.to_string(),
    }
}

/// Whether a group has a key, valid or not.
pub(crate) fn has_key(node: &Node, key: &str, source: &str) -> bool {
    matches!(&node.content, Content::Map(entries) if entries.iter().any(|(k, _)| k.get(source) == key))
}
