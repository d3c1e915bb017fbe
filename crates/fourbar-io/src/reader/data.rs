//! Tables and outputs, and their units.

use super::csv::{self, Column};
use super::expression::Scope;
use super::record::{Record, Value};
use super::{Path, Reader};
use crate::disk::read_text_bounded;
use crate::file::text_hash;
use crate::keys::{OUTPUT, TABLE};
use crate::tree::{Content, Node, Text, shorten};
use crate::units::unit;
use fourbar::Diagnostic;
use fourbar::build::{table_name_taken, table_problem};
use fourbar::expr::{Dimension, Expr, FUNCTIONS, Kind, Names, Outside, Symbol};
use fourbar::spec::{OutputSpec, StateExpr, TableEnds, TableSpec};
use std::path::Path as FilePath;

/// A unit as written, with its factor to SI and its dimension.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Written {
    pub text: String,
    pub size: f64,
    pub dimension: Dimension,
}

/// Only units are valid names.
struct Units;

impl Names for Units {
    fn symbol(&mut self, _: &str) -> Option<Symbol> {
        None
    }
    fn unit(&mut self, name: &str) -> Option<(f64, Dimension)> {
        unit(name)
    }
}

/// Largest exponent of a base unit in a unit that is stated alone.
const MAX_POWER: i8 = 8;

/// A unit such as `mm`, `N*m`, `1/s` or `1`.
pub(crate) fn written_unit(text: &str) -> Option<Written> {
    let text = text.trim();
    let mut last = ' ';
    let spelled = text.len() <= 60
        && text.chars().all(|c| {
            let sign = c == '-' && last == '^';
            last = c;
            sign || c.is_alphanumeric() || matches!(c, '°' | '*' | '/' | '^')
        });
    if !spelled {
        return None;
    }
    let quantity = match text.strip_prefix("1/") {
        _ if text == "1" => "1 rad".to_string(),
        Some(below) => format!("1 rad/{below}"),
        None => format!("1 {text}"),
    };
    match Expr::parse_quantity(&quantity, &mut Units) {
        Ok((expr, Kind::Quantity(dimension))) => {
            let small = [dimension.length, dimension.mass, dimension.time].iter().all(|p| p.saturating_abs() <= MAX_POWER);
            let size = expr.constant_value().filter(|x| x.is_finite() && *x > 0.0 && small)?;
            Some(Written { text: text.to_string(), size, dimension })
        }
        _ => None,
    }
}

impl<'a> Reader<'a> {
    /// A unit without a number.
    pub(crate) fn unit_alone(&mut self, node: &Node, path: &Path<'_>) -> Option<Written> {
        let text = self.text(node, path)?;
        let found = written_unit(&text);
        if found.is_none() {
            let d = Diagnostic::new("M030", format!("`{}`: unknown unit `{}`", path.last(), shorten(&text)))
                .help("write it as in `mm`, `deg/s`, `N*m` or `1/s`; `fourbar list` prints the units")
                .at(path.to_string());
            self.problem(d, node.span);
        }
        found
    }

    /// A column by number or by heading.
    pub(crate) fn column(&mut self, node: &Node, path: &Path<'_>) -> Option<Column> {
        let text = self.text(node, path)?;
        // A heading that looks like a number must be quoted.
        let plain = matches!(&node.content, Content::Scalar(t) if t.plain);
        Some(match text.parse::<usize>() {
            Ok(n) if plain => Column::Number(n),
            _ => Column::Heading(text),
        })
    }

    /// Points `[[x, y], ...]`; numbers without a unit are in the unit of the table.
    pub(crate) fn pairs(&mut self, node: &Node, path: &Path<'_>) -> Option<Vec<[(f64, Kind); 2]>> {
        let items = self.items(node, None, path)?;
        if items.len() > csv::MAX_POINTS {
            self.wrong_count(node, items.len(), &format!("at most {} points", csv::MAX_POINTS), path);
            return None;
        }
        let mut list = Vec::with_capacity(items.len());
        let mut good = true;
        for (k, item) in items.iter().enumerate() {
            if self.full() {
                return None;
            }
            let path = path.index(k);
            let Some([x, y]) = self.items(item, Some(2), &path).and_then(|pair| <&[Node; 2]>::try_from(pair).ok()) else {
                good = false;
                continue;
            };
            let mut number = |node: &Node, k: usize| {
                let (expr, _, kind) = self.expression_with_kind(node, Scope::Constant, None, &path.index(k))?;
                Some((expr.constant_value()?, kind))
            };
            match (number(x, 0), number(y, 1)) {
                (Some(x), Some(y)) => list.push([x, y]),
                _ => good = false,
            }
        }
        good.then_some(list)
    }

    /// A function given by points.
    pub(crate) fn table(&mut self, key: &Text, node: &Node, path: &Path<'_>) -> Option<TableSpec> {
        let x = self.record(&TABLE, key, node, path, &[])?;
        if x.broken {
            return None;
        }
        let name = key.get(self.source);
        if FUNCTIONS.iter().any(|f| f.name == name) {
            self.problem(table_name_taken(name), key.span);
            return None;
        }
        if self.parameters.names().any(|p| p == name) {
            let d = Diagnostic::new("M624", format!("the table `{name}` has the name of a parameter"));
            self.problem(d.help("choose another name").at(path.to_string()).name(name), key.span);
            return None;
        }
        let exclude = |r: &mut Self, a: &str, b: &str, help: &str| {
            let both = x.has(a) && x.has(b);
            if both {
                r.conflict(format!("table `{}` has both `{a}` and `{b}`", x.name), help, x.span_of(b), path);
            }
            both
        };
        if exclude(self, "points", "file", "keep one of them")
            || exclude(self, "points", "x", "columns belong to a `file`")
            || exclude(self, "points", "y", "columns belong to a `file`")
            || exclude(self, "ends", "slopes", "the slopes already define the ends: keep one of them")
        {
            return None;
        }
        let [x_unit, y_unit] = ["x_unit", "y_unit"].map(|k| x.unit(k));
        let sizes = [&x_unit, &y_unit].map(|u| u.as_ref().map_or(1.0, |u| u.size));
        let (raw, places) = match (x.pairs("points"), x.text("file")) {
            (Some(pairs), _) => (self.inline(&pairs, [&x_unit, &y_unit], &x, path)?, None),
            (None, Some(file)) => {
                let rows = self.rows(&file, &x, path)?;
                let lines: Vec<usize> = rows.iter().map(|r| r.line).collect();
                self.warn_of_rounding(name, &rows.iter().map(|r| r.point).collect::<Vec<_>>(), path);
                (rows.iter().map(|r| [r.point[0] * sizes[0], r.point[1] * sizes[1]]).collect(), Some((file, lines)))
            }
            (None, None) => {
                let d = Diagnostic::new("M013", format!("table `{}` has no points", x.name))
                    .help("give `points: [[x, y], ...]`, or a `file` with its columns `x` and `y`")
                    .at(path.to_string());
                self.problem(d, x.span);
                return None;
            }
        };
        let ends = match (x.text("ends").as_deref(), x.numbers("slopes").as_deref()) {
            (_, Some(&[a, b])) => TableEnds::Slopes(a, b),
            (Some("flat"), _) => TableEnds::Flat,
            (Some("periodic"), _) => TableEnds::Periodic,
            _ => TableEnds::Natural,
        };
        let outside = match x.text("outside").as_deref() {
            Some("hold") => Some(Outside::Hold),
            Some("error") => Some(Outside::Error),
            Some(_) => Some(Outside::Linear),
            None => None,
        };
        if ends == TableEnds::Periodic && outside.is_some() {
            self.conflict(format!("table `{}` repeats and has no outside", x.name), "remove `outside`", x.span_of("outside"), path);
            return None;
        }
        let dimension = |u: Option<super::data::Written>| u.map(|u| u.dimension);
        let spec = TableSpec { points: raw, ends, outside, x_dimension: dimension(x_unit), y_dimension: dimension(y_unit) };
        match spec.table(name) {
            Ok(table) => {
                self.tables.insert(name.to_string(), Some(table));
                Some(spec)
            }
            Err(e) => {
                let place = |k: usize| match &places {
                    Some((file, lines)) => format!("line {} of `{file}`", lines.get(k).copied().unwrap_or(0)),
                    None => format!("point {}", k + 1),
                };
                let span = x.span_of(if places.is_some() { "file" } else { "points" });
                self.problem(table_problem(name, e, place).at(path.to_string()), span);
                None
            }
        }
    }

    /// Points in the model file, in SI.
    fn inline(&mut self, pairs: &[[(f64, Kind); 2]], units: [&Option<Written>; 2], x: &Record, path: &Path<'_>) -> Option<Vec<[f64; 2]>> {
        let mut points = Vec::with_capacity(pairs.len());
        for (k, pair) in pairs.iter().enumerate() {
            let mut point = [0.0; 2];
            for (i, (value, kind)) in pair.iter().enumerate() {
                point[i] = match (kind, units[i]) {
                    (Kind::Number, Some(unit)) => value * unit.size,
                    (Kind::Quantity(d), Some(unit)) if *d != unit.dimension => {
                        let d = Diagnostic::new(
                            "M031",
                            format!(
                                "point {} of table `{}` is given in {}, but `{}_unit` is {}",
                                k + 1,
                                x.name,
                                d.a(),
                                ["x", "y"][i],
                                unit.dimension.a()
                            ),
                        );
                        self.problem(d.help("use one dimension for all points").at(path.to_string()), x.span_of("points"));
                        return None;
                    }
                    _ => *value,
                };
            }
            points.push(point);
        }
        // A quantity determines the dimension of its column, whether or not a unit is stated.
        for i in 0..2 {
            let mut known = pairs.iter().filter_map(|p| if let Kind::Quantity(d) = p[i].1 { Some(d) } else { None });
            if let Some(first) = known.next()
                && known.any(|d| d != first)
            {
                let d = Diagnostic::new("M031", format!("the {} of table `{}` are of several dimensions", ["x", "y"][i], x.name));
                self.problem(d.help("use one dimension for all points").at(path.to_string()), x.span_of("points"));
                return None;
            }
        }
        if units.iter().all(|u| u.is_none()) || pairs.iter().flatten().all(|v| v.1 == Kind::Number) {
            let raw: Vec<[f64; 2]> = pairs.iter().map(|p| [p[0].0, p[1].0]).collect();
            self.warn_of_rounding(&x.name, &raw, path);
        }
        Some(points)
    }

    /// Points from a separate file.
    fn rows(&mut self, file: &str, x: &Record, path: &Path<'_>) -> Option<Vec<csv::Row>> {
        let span = x.span_of("file");
        let at = path.key("file").to_string();
        let Some(folder) = self.folder() else {
            let d = Diagnostic::new("M625", format!("the table file `{}` cannot be found: the mechanism has no folder", shorten(file)))
                .help("read the mechanism from a file, or give the points as `points: [[x, y], ...]`");
            self.problem(d.at(at), span);
            return None;
        };
        let folder = if folder.as_os_str().is_empty() { FilePath::new(".") } else { folder };
        let text = match read_text_bounded(&folder.join(file), csv::MAX_BYTES) {
            Ok(text) => text,
            Err(why) => {
                let d = Diagnostic::new("M625", format!("the table file `{}` cannot be read: {why}", shorten(file)));
                self.problem(d.help("a table is a text file with a line per point").at(at), span);
                return None;
            }
        };
        let column = |key: &str, n: usize| match x.get(key) {
            Some(Value::Column(c)) => c.clone(),
            _ => Column::Number(n),
        };
        match csv::read(&text, &[column("x", 1), column("y", 2)]) {
            Ok(rows) => {
                self.data.push((file.to_string(), text_hash(&text)));
                Some(rows)
            }
            Err(fault) => {
                let place = fault.line.map_or_else(|| format!("`{}`", shorten(file)), |l| format!("`{}`, line {l}", shorten(file)));
                let d = Diagnostic::new("M622", format!("{place}: {}", fault.why)).help(fault.help).at(at);
                self.problem(d, span);
                None
            }
        }
    }

    fn warn_of_rounding(&mut self, name: &str, points: &[[f64; 2]], path: &Path<'_>) {
        if let Some(share) = csv::rounded(points) {
            let d = Diagnostic::new(
                "W620",
                format!(
                    "the table `{name}` is rounded too coarsely for points so close together: some {:.0} % of its second derivative, and so of accelerations and forces, are rounding",
                    (100.0 * share).clamp(1.0, 100.0)
                ),
            )
            .help("write more digits, or keep fewer points: every second or fourth one")
            .at(path.to_string())
            .name(name);
            self.warn(d);
        }
    }

    /// An output: an expression, or a group with a unit.
    pub(crate) fn output(&mut self, key: &Text, node: &Node, path: &Path<'_>) -> Option<OutputSpec> {
        let (node, unit, at) = match &node.content {
            Content::Map(entries) => {
                let x = self.record(&OUTPUT, key, node, path, &[])?;
                if x.broken {
                    return None;
                }
                let value = entries.iter().find(|(k, _)| k.get(self.source) == "value").map(|(_, v)| v)?;
                (value, x.unit("unit"), path.key("value"))
            }
            _ => (node, None, *path),
        };
        let dimension = unit.as_ref().map(|u| u.dimension);
        let (expr, variables, kind) = self.expression_with_kind(node, Scope::State(&[]), dimension, &at)?;
        let unit = match (unit, kind) {
            (Some(u), _) => Some((u.text, u.size)),
            (None, Kind::Quantity(d)) => Some((d.unit(), 1.0)),
            (None, Kind::Number) => Some(("1".to_string(), 1.0)),
            (None, Kind::Unknown) => None,
        };
        Some(OutputSpec { value: StateExpr { expr, variables }, unit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_that_stand_alone() {
        for (text, size, dimension) in [
            ("mm", 1e-3, Dimension::LENGTH),
            ("N*m", 1.0, Dimension::TORQUE),
            ("1", 1.0, Dimension::NONE),
            ("1/ms", 1e3, Dimension::RATE),
            ("kg*m^2", 1.0, Dimension::INERTIA),
            ("s^-1", 1.0, Dimension::RATE),
            ("mm^2", 1e-6, Dimension::AREA),
        ] {
            let u = written_unit(text).unwrap_or_else(|| panic!("{text}"));
            assert!((u.size / size - 1.0).abs() < 1e-12 && u.dimension == dimension, "{text}: {u:?}");
        }
        for text in ["", "furlong", "mm + mm", "mm-3", "2 mm", "(mm)", "m^9", "m^8*m^8", "1*", "mm;mm", "t", "1/0"] {
            assert!(written_unit(text).is_none(), "{text}");
        }
        // For any dimension, the printed unit reads back.
        for d in [(1, 0, 0), (0, 0, -1), (-2, 0, 0), (2, 1, -1), (-1, -1, 3), (0, 0, 0)] {
            let d = Dimension::of(d.0, d.1, d.2);
            let u = written_unit(&d.unit()).unwrap_or_else(|| panic!("{}", d.unit()));
            assert!(u.dimension == d && u.size == 1.0, "{}: {u:?}", d.unit());
        }
    }
}
