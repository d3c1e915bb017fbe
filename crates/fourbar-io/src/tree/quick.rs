//! A fast parser for files in the form in which large ones are written, without YAML events.
//!
//! Accepted are blocks of `key: value` on separate lines, flow lists and groups that end on their line, plain words of letters, digits and
//! `_ . + -`, and quoted texts without escapes. Everything else, including every error, is left to the YAML parser: this parser gives
//! exactly the tree of [`Tree::events`](super::Tree::events), or nothing.

use super::{Content, Node, Text};
use crate::places::Span;
use std::collections::HashSet;

/// Deeper nesting is left to the YAML parser, which rejects it at some depth.
const DEEPEST: usize = 32;
/// Longer words are left to the YAML parser, which has limits for keys.
const LONGEST: usize = 200;

/// Sections whose elements can be read one by one.
const SECTIONS: [&[u8]; 5] = [b"bodies", b"joints", b"constraints", b"forces", b"points"];

struct Quick<'a> {
    text: &'a [u8],
    at: usize,
    /// Whether elements of sections are left as empty groups, and whether the current section is one of these.
    sketch: bool,
    section: bool,
    /// Keys and values that may still follow.
    left: usize,
    /// Items and entries of the open lists and groups, innermost last.
    items: Vec<Node>,
    entries: Vec<(Text, Node)>,
}

/// The root of a text of at most `most` keys and values; `None` if the text is not of this form.
pub(super) fn parse(source: &str, most: usize) -> Option<Node> {
    Quick::new(source, most, false).root()
}

/// As above, with empty groups for the elements of large sections, which [`element`] reads later. The whole text is scanned, so that every
/// element is known to have this form.
pub(super) fn sketch(source: &str, most: usize) -> Option<Node> {
    Quick::new(source, most, true).root()
}

/// The element of a section that starts at a given byte.
pub(super) fn element(source: &str, start: usize) -> Option<Node> {
    let mut quick = Quick { at: start, ..Quick::new(source, usize::MAX, false) };
    match quick.peek()? {
        b'{' => quick.value(2),
        _ => {
            let before = quick.text[..start].iter().rev();
            let indent = before.take_while(|b| **b == b' ').count();
            quick.block(indent, 2)
        }
    }
}

impl<'a> Quick<'a> {
    fn new(source: &'a str, most: usize, sketch: bool) -> Self {
        Self { text: source.as_bytes(), at: 0, sketch, section: false, left: most, items: Vec::new(), entries: Vec::new() }
    }

    fn root(mut self) -> Option<Node> {
        let root = self.block(0, 0)?;
        (self.at == self.text.len()).then_some(root)
    }
}

impl Quick<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn spaces(&mut self) -> usize {
        let n = self.text[self.at..].iter().take_while(|b| **b == b' ').count();
        self.at += n;
        n
    }

    fn count(&mut self) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        Some(())
    }

    /// Consumes a line end or the end of the text.
    fn line_end(&mut self) -> Option<()> {
        match self.peek() {
            None => Some(()),
            Some(b'\n') => self.take(b'\n'),
            Some(_) => None,
        }
    }

    /// A word or a quoted text.
    fn scalar(&mut self) -> Option<Text> {
        self.count()?;
        let quoted = self.peek()? == b'"';
        self.at += usize::from(quoted);
        let rest = &self.text[self.at..];
        let inside = |b: &&u8| match quoted {
            true => matches!(**b, b' '..=b'~') && **b != b'"' && **b != b'\\',
            false => b.is_ascii_alphanumeric() || matches!(**b, b'_' | b'.' | b'+' | b'-'),
        };
        let n = rest.iter().take(LONGEST + 1).take_while(inside).count();
        // A word of dashes and dots alone may mean a list or the end of a document.
        let word = n > 0 && n <= LONGEST && (quoted || rest[..n].iter().any(|b| !matches!(b, b'-' | b'.')));
        if !word {
            return None;
        }
        let span = Span::new(self.at, self.at + n);
        self.at += n;
        if quoted {
            self.take(b'"')?;
        }
        Some(Text::verbatim(span, !quoted))
    }

    /// A key with its colon.
    fn key(&mut self) -> Option<Text> {
        let key = self.scalar()?;
        self.take(b':')?;
        Some(key)
    }

    /// A block of keys whose first line is indented by `indent` characters.
    fn block(&mut self, indent: usize, depth: usize) -> Option<Node> {
        if depth > DEEPEST {
            return None;
        }
        let (start, first) = (self.at, self.entries.len());
        // The YAML parser places the end of a block at the next word.
        let end = loop {
            let key = self.key()?;
            let value = match self.peek()? {
                b' ' => {
                    self.at += 1;
                    let value = self.value(depth + 1)?;
                    self.line_end()?;
                    value
                }
                b'\n' => {
                    self.at += 1;
                    let deeper = self.spaces();
                    if deeper <= indent {
                        return None;
                    }
                    if depth == 0 {
                        self.section = self.sketch && SECTIONS.contains(&&self.text[key.span.range()]);
                    }
                    self.block(deeper, depth + 1)?
                }
                _ => return None,
            };
            let value = match value {
                Node { content: Content::Map(_), span } if self.section && depth == 1 => Node { content: Content::Map(Box::new([])), span },
                // An element that is not a group is an error, which the whole tree explains.
                _ if self.section && depth == 1 => return None,
                value => value,
            };
            self.entries.push((key, value));
            // The next line belongs to this block or to an outer one.
            let line = self.at;
            let next = self.spaces();
            if self.at == self.text.len() {
                // Spaces at the end would be a separate line.
                if next > 0 {
                    return None;
                }
                break self.at;
            }
            if next < indent {
                let word = self.at;
                self.at = line;
                break word;
            }
            if next > indent {
                return None;
            }
        };
        self.group(start, end, first)
    }

    /// The value after a key or in a list, on one line.
    fn value(&mut self, depth: usize) -> Option<Node> {
        let start = self.at;
        if depth > DEEPEST {
            return None;
        }
        match self.peek()? {
            b'[' => {
                self.at += 1;
                let first = self.items.len();
                loop {
                    self.spaces();
                    let item = self.value(depth + 1)?;
                    self.items.push(item);
                    self.spaces();
                    if self.take(b',').is_none() {
                        break;
                    }
                }
                self.take(b']')?;
                self.count()?;
                let items = self.items.drain(first..).collect();
                Some(Node { span: Span::new(start, self.at), content: Content::List(items) })
            }
            b'{' => {
                self.at += 1;
                let first = self.entries.len();
                loop {
                    self.spaces();
                    let key = self.key()?;
                    self.take(b' ')?;
                    self.spaces();
                    let value = self.value(depth + 1)?;
                    self.entries.push((key, value));
                    self.spaces();
                    if self.take(b',').is_none() {
                        break;
                    }
                }
                self.take(b'}')?;
                self.group(start, self.at, first)
            }
            _ => {
                let text = self.scalar()?;
                Some(Node { span: text.span, content: Content::Scalar(text) })
            }
        }
    }

    /// The entries from `first` on as a group, unless a key occurs twice.
    fn group(&mut self, start: usize, end: usize, first: usize) -> Option<Node> {
        self.count()?;
        let name = |text: &Text| &self.text[text.span.range()];
        let own = &self.entries[first..];
        let unique = if own.len() <= 12 {
            own.iter().enumerate().all(|(i, (key, _))| !own[..i].iter().any(|(k, _)| name(k) == name(key)))
        } else {
            let mut seen = HashSet::with_capacity(own.len());
            own.iter().all(|(key, _)| seen.insert(name(key)))
        };
        if !unique {
            return None;
        }
        Some(Node { span: Span::new(start, end), content: Content::Map(self.entries.drain(first..).collect()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;
    use std::sync::Arc;

    const MOST: usize = 1_000_000;

    /// Both trees of a text, printed; the second only if this parser gives one.
    fn both(text: &str) -> (String, Option<String>) {
        let full = match Tree::events(&Arc::from(text), MOST) {
            Ok(tree) => format!("{:?}", tree.root),
            Err(problems) => format!("{problems:?}"),
        };
        (full, parse(text, MOST).map(|root| format!("{root:?}")))
    }

    const PIECES: &str = "fourbar: 1\ntitle: \"a chain, of: rods\"\ngravity: [0, 0, -9.81]\nbodies:\n  link1:\n    mass: 1\n    inertia: \
        [0.01, 0.09, 1e-3]\n    shape:\n      box: {size: [1, 2,3], at: [ 0 , 0, 1 ], colour: \"red\"}\n  link-2:\n    mass: .5\njoints:\n  \
        J1: {type: revolute, bodies: [ground, link1], at: [0, 0, 0]}\n  J2:\n     type: fixed\nstudy:\n  t_end: 1\n";

    #[test]
    fn the_usual_form_gives_the_same_tree_as_the_parser() {
        for text in [PIECES, PIECES.trim_end(), "a: b", "a: [1]\n", "a:\n b:\n  c: 1\n d: 2\ne: 3", "a:\n  b: 1\n"] {
            let (full, quick) = both(text);
            assert_eq!(quick.as_ref(), Some(&full), "{text}");
        }
    }

    /// Every text that differs by one change is read as by the YAML parser, or left to it.
    #[test]
    fn no_changed_text_gives_another_tree() {
        let changes = [
            "", " ", "\n", "#", ":", ": ", "-", "- ", "\"", "'", "[", "]", "{", "}", ",", "a", "&x ", "*x", "!", "~", "\t", "<<", "?", "|",
            "é", "---\n", "\r",
        ];
        let (mut quick_ones, mut tried) = (0, 0);
        for at in 0..=PIECES.len() {
            for change in changes {
                for cut in [0, 1, 2, 7] {
                    let Some(rest) = PIECES.get(at + cut..) else { continue };
                    let text = format!("{}{change}{rest}", &PIECES[..at]);
                    let (full, quick) = both(&text);
                    tried += 1;
                    if let Some(quick) = quick {
                        quick_ones += 1;
                        assert_eq!(quick, full, "{text}");
                    }
                }
            }
        }
        assert!(quick_ones > tried / 10, "{quick_ones} of {tried}");
    }

    #[test]
    fn elements_of_a_sketch_are_those_of_the_tree() {
        let text = "fourbar: 1\nbodies:\n  a:\n    mass: 1\n    at: [1, 2, 3]\n  b: {mass: 2, com: [0, 0, 1]}\njoints:\n  j:\n      type: x\n  \
                    k: {type: y}\nhold: [a]\n";
        let (whole, sketch) = (parse(text, MOST).expect("whole"), sketch(text, MOST).expect("sketch"));
        let shown = |node: &Node| format!("{node:?}");
        let (Content::Map(whole), Content::Map(sketch)) = (&whole.content, &sketch.content) else { panic!("groups") };
        let mut elements = 0;
        for ((_, a), (_, b)) in whole.iter().zip(sketch) {
            assert_eq!(a.span, b.span);
            let (Content::Map(a), Content::Map(b)) = (&a.content, &b.content) else {
                assert_eq!(shown(a), shown(b));
                continue;
            };
            for ((k, a), (l, b)) in a.iter().zip(b) {
                assert!(k.span == l.span && matches!(&b.content, Content::Map(none) if none.is_empty()));
                assert_eq!(shown(a), shown(&b.later(text).expect("element")));
                elements += 1;
            }
        }
        assert_eq!(elements, 4);
        // An element that is not a group is left to the whole tree, where it is kept.
        assert!(super::sketch("bodies:\n  a: 1\n", MOST).is_none() && parse("bodies:\n  a: 1\n", MOST).is_some());
        assert!(parse(text, MOST).is_some_and(|root| root.later(text).is_none()));
    }

    #[test]
    fn what_is_counted_and_refused_by_the_parser_is_left_to_it() {
        assert!(parse("a: 1\na: 2\n", MOST).is_none());
        assert!(parse("a: {b: 1, b: 2}\n", MOST).is_none());
        assert!(parse(PIECES, 20).is_none());
        assert!(parse(&format!("a: {}1{}\n", "[".repeat(70), "]".repeat(70)), MOST).is_none());
    }
}
