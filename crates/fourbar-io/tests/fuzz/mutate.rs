//! Mutations of texts: of bytes, lines, words and numbers, and combinations of two texts.

use crate::random::Random;

/// Words with a meaning for one of the readers, or likely to break it.
const WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ": ",
    ", ",
    "\n",
    "\n  ",
    "- ",
    "&a ",
    "*a",
    "<<: ",
    "!!x ",
    "---\n",
    "\"",
    "'",
    "#",
    "|\n",
    "t",
    "pi",
    "ground",
    "null",
    "~",
    ".inf",
    ".nan",
    "1e308",
    "-1e308",
    "1e-320",
    "1e400",
    "0",
    "-1",
    "1/0",
    "sqrt(-1)",
    "t^t",
    "1 mm",
    "2 kN/m",
    "9 parsec",
    "if(t, 1, 2)",
    "type: revolute",
    "type: gear",
    "type: spring",
    "fourbar: 1",
    "bodies:",
    "joints:",
    "PartData:",
    "Rigids:",
    "Fixed:",
    "Dimension: 2",
    "Dimension: 3",
    "Collinears: {C1vC}",
    "Gravity:",
    "Ax",
    "B.vx",
    "**",
    "^",
    "(",
    ")",
    "mass: 0",
    "inertia: 0",
    "mass: -1",
    "\u{feff}",
    "é",
    "\t",
];

/// Extreme numbers.
const NUMBERS: &[&str] =
    &["0", "-0", "1", "-1", "1e9", "-1e9", "1e100", "1e200", "1e308", "1e-9", "1e-200", "1e-320", "0.3333", "2", "1e16", "pi", "-7.5"];

/// A text of the corpus with some mutations.
pub fn text(r: &mut Random, corpus: &[String]) -> String {
    let mut text = r.pick(corpus).clone();
    for _ in 0..1 + r.below(6) {
        text = match r.below(8) {
            0 => bytes(r, &text),
            1 => lines(r, &text),
            2 => splice(r, &text, r_other(corpus, &text)),
            3 => word(r, &text),
            4 => repeat(r, &text),
            _ => number(r, &text),
        };
    }
    text
}

fn r_other<'a>(corpus: &'a [String], text: &str) -> &'a str {
    &corpus[text.len() % corpus.len()]
}

/// A text of the corpus with only its numbers changed.
pub fn numbers(r: &mut Random, corpus: &[String]) -> String {
    let mut text = r.pick(corpus).clone();
    for _ in 0..1 + r.below(8) {
        text = number(r, &text);
    }
    text
}

/// A position between two characters.
fn place(r: &mut Random, text: &str) -> usize {
    let mut at = r.below(text.len() + 1);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn range(r: &mut Random, text: &str, longest: usize) -> (usize, usize) {
    let start = place(r, text);
    let mut end = (start + r.below(longest)).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    (start, end.max(start))
}

/// Removes, repeats or changes some characters.
pub fn bytes(r: &mut Random, text: &str) -> String {
    let (start, end) = range(r, text, 20);
    let inside = match r.below(4) {
        0 => String::new(),
        1 => text[start..end].repeat(2 + r.below(3)),
        2 => text[start..end].chars().rev().collect(),
        _ => (0..r.below(8)).map(|_| char::from(32 + r.below(95) as u8)).collect(),
    };
    format!("{}{inside}{}", &text[..start], &text[end..])
}

fn word(r: &mut Random, text: &str) -> String {
    let (start, end) = range(r, text, 6);
    format!("{}{}{}", &text[..start], r.pick(WORDS), &text[end..])
}

/// Removes, doubles, moves or indents a line.
fn lines(r: &mut Random, text: &str) -> String {
    let mut list: Vec<String> = text.lines().map(String::from).collect();
    if list.is_empty() {
        return text.to_string();
    }
    let k = r.below(list.len());
    match r.below(4) {
        0 => drop(list.remove(k)),
        1 => list.insert(k, list[k].clone()),
        2 => {
            let other = r.below(list.len());
            list.swap(k, other);
        }
        _ => list[k] = format!("{}{}", " ".repeat(r.below(6)), list[k]),
    }
    list.join("\n")
}

/// The beginning of one text and the end of another.
fn splice(r: &mut Random, a: &str, b: &str) -> String {
    let (x, y) = (place(r, a), place(r, b));
    format!("{}{}", &a[..x], &b[y..])
}

/// Repeats a piece many times: tests depth and counts.
fn repeat(r: &mut Random, text: &str) -> String {
    let at = place(r, text);
    let piece = *r.pick(&["[", "{a: ", "(", "- ", "1+", "-", "\n  x: {mass: 1, inertia: 0}", "{", "A1", "t^", "sin("]);
    format!("{}{}{}", &text[..at], piece.repeat(1 << r.below(13)), &text[at..])
}

/// Replaces one of the numbers.
fn number(r: &mut Random, text: &str) -> String {
    let bytes = text.as_bytes();
    let starts: Vec<usize> = (0..bytes.len())
        .filter(|&i| bytes[i].is_ascii_digit() && (i == 0 || !(bytes[i - 1].is_ascii_alphanumeric() || b"._".contains(&bytes[i - 1]))))
        .collect();
    if starts.is_empty() {
        return text.to_string();
    }
    let start = *r.pick(&starts);
    let end = bytes[start..].iter().position(|b| !(b.is_ascii_alphanumeric() || *b == b'.')).map_or(bytes.len(), |n| start + n);
    let new = match r.below(3) {
        0 => r.pick(NUMBERS).to_string(),
        1 => format!("{:.3}", 10.0 * r.number()),
        _ => format!("({}*{})", &text[start..end], 1.0 + 0.3 * r.number()),
    };
    // Files state their version and dimension as plain numbers.
    format!("{}{new}{}", &text[..start], &text[end..])
}
