//! Parses measures: finds the reductions in a text, and passes the expressions inside and outside of them to the expression parser.

use super::reduce::{GAPS, MOST};
use super::{DISTANCE, Gap, Measure, Part, REDUCTIONS, Reduction};
use fourbar::Diagnostic;
use fourbar::diagnostic::nearest;
use fourbar::expr::{Dimension, Expr, ExprError, ExprErrorKind, Kind, Names, Symbol, Table};
use fourbar::model::CurveOn;
use fourbar::trajectory::Column;
use std::ops::Range;

/// A name lookup without further names or units.
pub(super) struct Nothing;

impl Names for Nothing {
    fn symbol(&mut self, _name: &str) -> Option<Symbol> {
        None
    }
}

/// The dimension of a column with a unit, if known.
pub fn kind_of_unit(unit: &str) -> Kind {
    const UNITS: &[(&str, Dimension)] = &[
        ("1", Dimension::NONE),
        ("rad", Dimension::NONE),
        ("m", Dimension::LENGTH),
        ("s", Dimension::TIME),
        ("m/s", Dimension::SPEED),
        ("m/s^2", Dimension::ACCELERATION),
        ("rad/s", Dimension::RATE),
        ("rad/s^2", Dimension::of(0, 0, -2)),
        ("N", Dimension::FORCE),
        ("N*m", Dimension::TORQUE),
        ("J", Dimension::TORQUE),
        ("W", Dimension::of(2, 1, -3)),
        ("A", Dimension::CURRENT),
        ("V", Dimension::VOLTAGE),
    ];
    UNITS.iter().find(|(u, _)| *u == unit).map_or(Kind::Unknown, |(_, d)| Kind::Quantity(*d))
}

/// A name lookup for units only.
struct Units<'a>(&'a mut dyn Names);

impl Names for Units<'_> {
    fn symbol(&mut self, _name: &str) -> Option<Symbol> {
        None
    }
    fn unit(&mut self, name: &str) -> Option<(f64, Dimension)> {
        self.0.unit(name)
    }
}

/// The SI factor of the unit of a column, and its dimension. User-defined outputs may have any unit: `mm`, `deg`, `1/min`.
fn size_of_unit(unit: &str, names: &mut dyn Names) -> (f64, Kind) {
    let known = kind_of_unit(unit);
    if known != Kind::Unknown || unit.is_empty() {
        return (1.0, known);
    }
    let quantity = unit.strip_prefix("1/").map_or_else(|| format!("1 {unit}"), |below| format!("1 rad/{below}"));
    match Expr::parse_quantity(&quantity, &mut Units(names)) {
        Ok((e, kind @ Kind::Quantity(_))) => e.constant_value().filter(|x| x.is_finite() && *x > 0.0).map_or((1.0, known), |x| (x, kind)),
        _ => (1.0, known),
    }
}

/// Name lookup inside reductions: placeholders of distances, then columns, then names of the caller.
struct Inside<'a> {
    /// Placeholders, by distance.
    marks: &'a [String],
    columns: &'a [Column],
    /// Columns that are read, by variable.
    reads: &'a mut Vec<usize>,
    others: &'a mut dyn Names,
}

impl Names for Inside<'_> {
    fn symbol(&mut self, name: &str) -> Option<Symbol> {
        if let Some(k) = self.marks.iter().position(|m| m == name) {
            let variable = Expr::parse("x", &mut |_| Some(Symbol::Variable((MOST + k) as u32))).ok()?;
            return Some(Symbol::Function(variable, Kind::Quantity(Dimension::LENGTH)));
        }
        let Some(place) = self.columns.iter().position(|c| c.name == name) else { return self.others.symbol(name) };
        let k = self.reads.iter().position(|r| *r == place).unwrap_or_else(|| {
            self.reads.push(place);
            self.reads.len() - 1
        });
        let (size, kind) = size_of_unit(&self.columns[place].unit, self.others);
        let text = if size == 1.0 { "x".to_string() } else { format!("x*{size:e}") };
        let variable = Expr::parse(&text, &mut |_| Some(Symbol::Variable(k as u32))).ok()?;
        Some(Symbol::Function(variable, kind))
    }
    fn unit(&mut self, name: &str) -> Option<(f64, Dimension)> {
        self.others.unit(name)
    }
    fn table(&mut self, name: &str) -> Option<Table> {
        self.others.table(name)
    }
}

/// Name lookup outside reductions: placeholders of reductions, then names of the caller; a column is an error here.
struct Outside<'a> {
    marks: Vec<(String, Kind)>,
    others: &'a mut dyn Names,
}

impl Names for Outside<'_> {
    fn symbol(&mut self, name: &str) -> Option<Symbol> {
        let Some(k) = self.marks.iter().position(|(m, _)| m == name) else { return self.others.symbol(name) };
        let variable = Expr::parse("x", &mut |_| Some(Symbol::Variable(k as u32))).ok()?;
        Some(Symbol::Function(variable, self.marks[k].1))
    }
    fn unit(&mut self, name: &str) -> Option<(f64, Dimension)> {
        self.others.unit(name)
    }
    fn table(&mut self, name: &str) -> Option<Table> {
        self.others.table(name)
    }
}

/// A call in the text: the byte ranges of the whole, and of its arguments.
struct Call {
    whole: Range<usize>,
    arguments: Vec<Range<usize>>,
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.'
}

/// The call whose name starts at a byte, if the word there is followed by a matching pair of parentheses.
fn call(text: &str, start: usize) -> Option<(&str, Call)> {
    let rest = &text[start..];
    let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
    let open = start + end + (rest[end..].len() - rest[end..].trim_start().len());
    if end == 0 || !text[open..].starts_with('(') {
        return None;
    }
    let (mut depth, mut from, mut arguments) = (0, open + 1, Vec::new());
    for (k, c) in text[open..].char_indices() {
        match c {
            '(' => depth += 1,
            ')' => {
                depth -= 1;
                if depth == 0 {
                    arguments.push(from..open + k);
                    return Some((&text[start..start + end], Call { whole: start..open + k + 1, arguments }));
                }
            }
            ',' if depth == 1 => {
                arguments.push(from..open + k);
                from = open + k + 1;
            }
            _ => {}
        }
    }
    None
}

/// The outermost calls of a text whose name and arguments `wanted` accepts.
fn calls<'t, T>(text: &'t str, wanted: impl Fn(&'t str, &Call) -> Option<T>) -> Vec<(T, Call)> {
    let (mut list, mut at, mut inside_word) = (Vec::new(), 0, false);
    while let Some(c) = text[at..].chars().next() {
        if !inside_word
            && let Some((name, found)) = call(text, at)
            && let Some(what) = wanted(name, &found)
        {
            at = found.whole.end;
            list.push((what, found));
            continue;
        }
        inside_word = is_word(c);
        at += c.len_utf8();
    }
    list
}

/// The outermost reductions of a text.
fn reductions(text: &str) -> Result<Vec<(Reduction, Call)>, Diagnostic> {
    let known = |name: &str, found: &Call| {
        // With several arguments these two are functions of numbers.
        let plain = matches!(name, "min" | "max") && found.arguments.len() > 1;
        REDUCTIONS.iter().find(|r| r.0 == name && !plain)
    };
    let checked = |((name, reduction, needed, example), found): (&(&str, Reduction, usize, &'static str), Call)| {
        if found.arguments.len() != *needed {
            let message = format!("`{name}` takes {needed} argument{}", if *needed == 1 { "" } else { "s" });
            return Err(bad(text, &message).help(*example));
        }
        Ok((*reduction, found))
    };
    calls(text, known).into_iter().map(checked).collect()
}

fn bad(text: &str, why: &str) -> Diagnostic {
    Diagnostic::new("U410", format!("the measure `{text}` is not understood: {why}"))
}

/// Calls of `distance` in a text.
fn distances(text: &str) -> Vec<Call> {
    calls(text, |name, _| (name == DISTANCE.0).then_some(())).into_iter().map(|((), found)| found).collect()
}

/// The diagnostic for an expression error, with the nearest name.
fn refused(text: &str, e: &ExprError, columns: &[Column], outside: bool) -> Diagnostic {
    let d = bad(text, &e.kind.to_string());
    let ExprErrorKind::UnknownName(name) = &e.kind else { return d.help("`fourbar plot RESULT` lists the columns of a result") };
    if outside && columns.iter().any(|c| c.name == *name) {
        let message = format!("`{name}` is a column with a value for every time");
        return bad(text, &message).name(name).help(format!("reduce it to a number: `max({name})`, `mean({name})`, `last({name})`"));
    }
    // Expressions of the file can read the velocity of a point, but results have no such column.
    let velocity = name.rsplit_once('.').filter(|(point, what)| {
        ["vx", "vy", "vz"].contains(what) && columns.iter().any(|c| c.name.strip_suffix(".x").is_some_and(|p| p == *point))
    });
    let help = match (velocity, nearest(name, columns.iter().map(|c| c.name.as_str()))) {
        (Some(_), _) => {
            format!("results have no columns for velocities of points: add `outputs: {{speed: {name}}}` to the file and read `speed`")
        }
        (None, Some(near)) => format!("did you mean `{near}`?"),
        (None, None) => "`fourbar plot RESULT` lists the columns of a result".into(),
    };
    d.name(name).help(help)
}

/// The single comparison at the top level of a condition: its two sides, and whether the first must be larger.
fn comparison(text: &str) -> Option<(&str, &str, bool)> {
    let (mut depth, mut found) = (0, None);
    for (k, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            '<' | '>' if depth == 0 => {
                if found.is_some() {
                    return None;
                }
                found = Some((k, c == '>'));
            }
            _ => {}
        }
    }
    let (k, greater) = found?;
    let after = text[k + 1..].strip_prefix('=').unwrap_or(&text[k + 1..]);
    Some((&text[..k], after, greater))
}

/// Data collected while the reductions of a text are parsed.
struct Reading<'a> {
    text: &'a str,
    columns: &'a [Column],
    curves: &'a [CurveOn],
    names: &'a mut dyn Names,
    /// Columns that are read, by variable.
    reads: Vec<usize>,
    gaps: Vec<Gap>,
    /// Placeholders of the distances.
    marks: Vec<String>,
}

impl Reading<'_> {
    /// Parses an expression inside a reduction, without distances.
    fn plain(&mut self, piece: &str) -> Result<(Expr, Kind), Diagnostic> {
        let mut inside = Inside { marks: &self.marks, columns: self.columns, reads: &mut self.reads, others: &mut *self.names };
        Expr::parse_quantity(piece, &mut inside).map_err(|e| refused(self.text, &e, self.columns, false))
    }

    fn read(&mut self, piece: &str) -> Result<(Expr, Kind), Diagnostic> {
        if let Some((_, inner)) = reductions(piece)?.first() {
            let inner = &piece[inner.whole.clone()];
            let message = format!("reductions cannot be nested, and `{inner}` is one number inside another reduction");
            return Err(
                bad(self.text, &message).help("the argument of a reduction is evaluated at every time; combine numbers outside of it")
            );
        }
        let mut rest = piece.to_string();
        for found in distances(piece) {
            // A placeholder of the same length replaces the call, so that positions in the text are preserved.
            let mark = format!("_d{:0width$}", self.gaps.len(), width = found.whole.len() - 2);
            let gap = self.gap(piece, &found)?;
            self.gaps.push(gap);
            rest.replace_range(found.whole, &mark);
            self.marks.push(mark);
        }
        if self.gaps.len() > GAPS {
            return Err(bad(self.text, &format!("it reads {} distances, at most {GAPS} are possible", self.gaps.len())));
        }
        self.plain(&rest)
    }

    fn gap(&mut self, piece: &str, found: &Call) -> Result<Gap, Diagnostic> {
        let [point, curve] = &found.arguments[..] else {
            return Err(bad(self.text, "`distance` takes a point and a curve").help(DISTANCE.1));
        };
        let (point, name) = (piece[point.clone()].trim(), piece[curve.clone()].trim());
        let Some(curve) = self.curves.iter().find(|c| c.name == name).cloned() else {
            let help = nearest(name, self.curves.iter().map(|c| c.name.as_str()))
                .map_or_else(|| "curves are declared under `curves:`".to_string(), |n| format!("did you mean `{n}`?"));
            return Err(bad(self.text, &format!("there is no curve `{name}`")).name(name).help(help));
        };
        let [x, y, z] = ["x", "y", "z"].map(|axis| {
            let help = "`distance` takes the name of a point and that of a curve: `distance(tip, track)`";
            self.plain(&format!("{point}.{axis}")).map(|(e, _)| e).map_err(|d| d.help(help))
        });
        Ok(Gap { point: [x?, y?, z?], curve })
    }
}

pub(super) fn parse(text: &str, columns: &[Column], curves: &[CurveOn], names: &mut dyn Names) -> Result<Measure, Diagnostic> {
    let calls = reductions(text)?;
    let (mut parts, mut marks) = (Vec::new(), Vec::new());
    let mut reading = Reading { text, columns, curves, names: &mut *names, reads: Vec::new(), gaps: Vec::new(), marks: Vec::new() };
    let mut outer = text.to_string();
    for (k, (reduction, c)) in calls.iter().enumerate() {
        let mut read = |piece: &str| reading.read(piece);
        let first = text[c.arguments[0].clone()].trim();
        let (mut inner, mut condition, mut time) = (Vec::new(), None, 0.0);
        let kind = if *reduction == Reduction::Length {
            for axis in ["x", "y", "z"] {
                let (e, _) = read(&format!("{first}.{axis}")).map_err(|d| d.help("`length` takes the name of a point: `length(tip)`"))?;
                inner.push(e);
            }
            Kind::Quantity(Dimension::LENGTH)
        } else {
            let (e, k) = read(first)?;
            inner.push(e);
            match (reduction, k) {
                (Reduction::Integral, Kind::Quantity(d)) => Kind::Quantity(d.times(Dimension::TIME)),
                (Reduction::Integral, Kind::Number) => Kind::Quantity(Dimension::TIME),
                (_, k) => k,
            }
        };
        if let Some(second) = c.arguments.get(1).map(|r| text[r.clone()].trim()) {
            if *reduction == Reduction::At {
                let (e, k) = read(second)?;
                let fits = matches!(k, Kind::Quantity(d) if d == Dimension::TIME) || !matches!(k, Kind::Quantity(_));
                time = e.constant_value().filter(|_| fits).ok_or_else(|| bad(text, &format!("`{second}` is not a time")))?;
            } else {
                condition = Some(match comparison(second) {
                    Some((a, b, greater)) => {
                        let (a, b) = if greater { (a, b) } else { (b, a) };
                        (read(&format!("({a}) - ({b})"))?.0, true)
                    }
                    None => (read(second)?.0, false),
                });
            }
        }
        // A placeholder of the same length replaces the reduction, so that positions in the text are preserved.
        let mark = format!("_{k:0width$}", width = c.whole.len() - 1);
        outer.replace_range(c.whole.clone(), &mark);
        marks.push((mark, kind));
        parts.push(Part { reduction: *reduction, text: text[c.whole.clone()].to_string(), inner, condition, time });
    }
    let Reading { reads, gaps, .. } = reading;
    if reads.len() > MOST {
        return Err(bad(text, &format!("it reads {} columns, at most {MOST} are possible", reads.len())));
    }
    if let Some(found) = distances(&outer).first() {
        let call = &outer[found.whole.clone()];
        let help = format!("reduce it to a number: `max({call})`, `rms({call})`, `last({call})`");
        return Err(bad(text, &format!("`{call}` has a value for every time")).help(help));
    }
    let mut outside = Outside { marks, others: names };
    let (outer, kind) = Expr::parse_quantity(&outer, &mut outside).map_err(|e| refused(text, &e, columns, true))?;
    if parts.is_empty() {
        return Err(bad(text, "it reads no column").help("a measure reduces columns over time: `max(abs(motor.effort))`"));
    }
    let time = columns.iter().position(|c| c.name == "t");
    let energy = reads.iter().any(|&c| matches!(&*columns[c].unit, "J" | "W"));
    Ok(Measure { text: text.to_string(), outer, parts, gaps, reads, time, kind, energy })
}
