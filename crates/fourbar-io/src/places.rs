//! Locations in a file: byte spans, lines and columns, and diagnostics attached to them.

use crate::terminal::visible;
use crate::tree::{Content, Node, Text, Tree};
use fourbar::Diagnostic;
use fourbar::diagnostic::{Excerpt, FilePlace};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A range of bytes in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// The empty span at the start of a text.
    pub const EMPTY: Self = Self { start: 0, end: 0 };

    /// Files are at most 200 MB, so offsets fit in 32 bits; larger ones saturate.
    pub fn new(start: usize, end: usize) -> Self {
        let clip = |x: usize| u32::try_from(x).unwrap_or(u32::MAX);
        Self { start: clip(start), end: clip(end.max(start)) }
    }
    pub fn start(self) -> usize {
        self.start as usize
    }
    pub fn end(self) -> usize {
        self.end as usize
    }
    pub fn range(self) -> Range<usize> {
        self.start()..self.end()
    }
}

/// Longest part of a source line that is shown.
const WIDTH: usize = 100;

/// A diagnostic with its place in a text.
pub(crate) fn placed(mut diagnostic: Diagnostic, source: &str, span: Span) -> Diagnostic {
    let (line, column) = line_and_column(source, span.start());
    let text = source.get(span.range()).unwrap_or("");
    let snippet = text.lines().next().unwrap_or("").chars().take(120).collect();
    let excerpt = excerpt(source, column, &span.range());
    diagnostic.place = Some(Box::new(FilePlace { file: None, line, column, span: span.range(), snippet, excerpt }));
    diagnostic
}

/// The line, cut to a window around the place, with the range to be marked.
fn excerpt(source: &str, column: usize, span: &Range<usize>) -> Excerpt {
    let at = span.start.min(source.len());
    let start = source.as_bytes()[..at].iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
    let line = source.get(start..).unwrap_or("").split('\n').next().unwrap_or("");
    let before = column.saturating_sub(1);
    let marked = source.get(span.clone()).map_or(0, |s| s.split('\n').next().unwrap_or("").chars().count());
    // A line that fits is shown in full.
    let cut_left = if line.chars().nth(WIDTH).is_none() { 0 } else { before.saturating_sub(WIDTH / 2) };
    let lead = if cut_left > 0 { "..." } else { "" };
    let mut shown: String = visible(&line.chars().skip(cut_left).take(WIDTH).collect::<String>());
    if line.chars().nth(cut_left + WIDTH).is_some() {
        shown += "...";
    }
    let room = (WIDTH - (before - cut_left)).max(1);
    Excerpt { text: format!("{lead}{shown}"), before: lead.len() + before - cut_left, length: marked.clamp(1, room) }
}

/// Line and column of a byte, both counted from one, the column in characters.
pub(crate) fn line_and_column(source: &str, at: usize) -> (usize, usize) {
    let before = &source.as_bytes()[..at.min(source.len())];
    let line = before.iter().filter(|b| **b == b'\n').count() + 1;
    let start = before.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
    // Continuation bytes of UTF-8 do not start a character.
    let column = before[start..].iter().filter(|b| **b & 0xc0 != 0x80).count() + 1;
    (line, column)
}

/// Finds elements of a mechanism in the source file. The tree of a file is far larger than its text and seldom needed after reading: it is
/// rebuilt at the first request for a place.
#[derive(Clone, Debug)]
pub struct Places {
    source: Arc<str>,
    /// Largest number of keys and values.
    most: usize,
    tree: OnceLock<Option<Tree>>,
    /// Maps paths in the mechanism to paths in the file, for files with other section names.
    aliases: HashMap<String, String>,
    /// Texts and names of included files, with the locations of elements in them: for formats of other programs.
    foreign: Option<Arc<Foreign>>,
}

/// Locations of the elements of a mechanism in files of another format.
#[derive(Debug)]
pub(crate) struct Foreign {
    /// Texts, with their names except for the file itself.
    pub texts: Vec<(Option<String>, Arc<str>)>,
    /// Number of the text and location in it, by section and name.
    pub spots: Spots,
}

/// Locations by path, in little more memory than the paths take.
#[derive(Debug, Default)]
pub(crate) struct Spots {
    /// All paths, concatenated.
    paths: String,
    /// Location of each path in `paths`, and its target; sorted by path once complete.
    list: Vec<(Span, u16, Span)>,
}

impl Spots {
    /// Adds the element with a name in a section.
    pub fn add(&mut self, section: &str, name: &str, file: u16, place: Span) {
        let start = self.paths.len();
        self.paths += section;
        self.paths.push('.');
        self.paths += name;
        self.list.push((Span::new(start, self.paths.len()), file, place));
    }

    /// Sorts the list by path for [`Self::find`].
    pub fn sorted(mut self) -> Self {
        let paths = &self.paths;
        self.list.sort_by(|a, b| paths[a.0.range()].cmp(&paths[b.0.range()]));
        self.paths.shrink_to_fit();
        self.list.shrink_to_fit();
        self
    }

    /// Number of the text and location in it.
    pub fn find(&self, path: &str) -> Option<(u16, Span)> {
        let k = self.list.binary_search_by(|(span, ..)| self.paths[span.range()].cmp(path)).ok()?;
        let (_, file, place) = self.list[k];
        Some((file, place))
    }
}

impl Places {
    pub(crate) fn new(source: Arc<str>, most: usize, aliases: Vec<(String, String)>) -> Self {
        Self { source, most, tree: OnceLock::new(), aliases: aliases.into_iter().collect(), foreign: None }
    }

    /// Locations in files of another format; `source` is the same mechanism in the format of this program.
    pub(crate) fn foreign(source: Arc<str>, foreign: Foreign) -> Self {
        Self { foreign: Some(Arc::new(foreign)), ..Self::new(source, 0, Vec::new()) }
    }

    /// The name, text and location of the element at a path, in files of another format.
    fn foreign_spot(&self, path: &str) -> Option<(&Option<String>, &Arc<str>, Span)> {
        let foreign = self.foreign.as_ref()?;
        let element = path.match_indices('.').nth(1).map_or(path, |(end, _)| &path[..end]);
        let (file, span) = foreign.spots.find(element)?;
        let (name, text) = foreign.texts.get(usize::from(file))?;
        Some((name, text, span))
    }

    /// The text of the file; for a file of another format, the same mechanism in the format of this program.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Line and column (from one) and bytes of an element: `joints.pin.axis`, `hold.0` or `hold[0]`.
    ///
    /// Where the path goes further than the file, the location of the nearest element above it is given.
    pub fn find(&self, path: &str) -> Option<(usize, usize, Range<usize>)> {
        if let Some((_, text, span)) = self.foreign_spot(path) {
            let (line, column) = line_and_column(text, span.start());
            return Some((line, column, span.range()));
        }
        let span = self.span(path)?;
        let (line, column) = line_and_column(&self.source, span.start());
        Some((line, column, span.range()))
    }

    /// Attaches the location of its element to a diagnostic.
    pub fn locate(&self, diagnostic: &Diagnostic) -> Diagnostic {
        if let Some((name, text, span)) = diagnostic.at.as_deref().and_then(|path| self.foreign_spot(path)) {
            let mut d = placed(diagnostic.clone(), text, span);
            if let Some(place) = &mut d.place {
                place.file.clone_from(name);
            }
            return d;
        }
        match diagnostic.at.as_deref().and_then(|path| self.span(path)) {
            Some(span) => placed(diagnostic.clone(), &self.source, span),
            None => diagnostic.clone(),
        }
    }

    fn span(&self, path: &str) -> Option<Span> {
        let (key, node, complete) = self.node(path)?;
        key.map(|key| pointer(&self.source, key, node, complete))
    }

    /// Byte range of the value at a path; `None` if the file has no such path.
    pub fn value(&self, path: &str) -> Option<Range<usize>> {
        self.node(path).filter(|(_, _, complete)| *complete).map(|(_, node, _)| node.span.range())
    }

    /// The last key and the value that a path leads to, and whether it was followed to its end.
    fn node(&self, path: &str) -> Option<(Option<&Text>, &Node, bool)> {
        if self.foreign.is_some() {
            return None;
        }
        // An alias replaces the section and the name of an element.
        let element = path.match_indices('.').nth(1).map_or(path, |(end, _)| &path[..end]);
        let path = self.aliases.get(element).map_or(path, String::as_str);
        // The text parsed without errors before, so it does again.
        let tree = self.tree.get_or_init(|| Tree::parse(&self.source, self.most).ok()).as_ref()?;
        let mut node = &tree.root;
        let mut key = None;
        for part in path.split(['.', '[', ']']).filter(|p| !p.is_empty()) {
            let next = match &node.content {
                Content::Map(entries) => entries.iter().find(|(k, _)| k.get(&self.source) == part).map(|(k, v)| (Some(k), v)),
                Content::List(items) => part.parse().ok().and_then(|i: usize| items.get(i)).map(|v| (None, v)),
                Content::Scalar(_) => None,
            };
            match next {
                Some((k, v)) => (key, node) = (k.or(key), v),
                None => return Some((key, node, false)),
            }
        }
        Some((key, node, true))
    }
}

/// The value if it is on one line, otherwise its key; also the key if the path continues below the value.
pub(crate) fn pointer(source: &str, key: &Text, node: &Node, complete: bool) -> Span {
    let one_line = source.get(node.span.range()).is_some_and(|text| !text.is_empty() && !text.contains('\n'));
    if complete && one_line { node.span } else { key.span }
}
