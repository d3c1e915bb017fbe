//! Reads the value of a key as specified in its table.

use super::expression::Scope;
use super::problem::{comma_inside, example};
use super::record::{LooseFrame, LoosePlace, Record, Value};
use super::{Path, Reader};
use crate::keys::{Expect, FRAME, INTEGRATOR, PLACE, TABLEAU, Table};
use crate::places::pointer;
use crate::tree::{Content, Node, Text, is_null, shorten};
use fourbar::Diagnostic;
use fourbar::expr::Dimension;
use fourbar::spec::{At, Inertia, PlotSpec, StateExpr, TableauSpec, V3};
use std::path::{Component, Path as FilePath};

const PLAIN: Option<Dimension> = Some(Dimension::NONE);

impl Reader<'_> {
    /// Reads a group of keys; invalid values are reported and omitted.
    pub(crate) fn record(
        &mut self,
        table: &'static Table,
        key: &Text,
        node: &Node,
        path: &Path<'_>,
        own: &'static [&'static str],
    ) -> Option<Record> {
        let Content::Map(entries) = &node.content else {
            match table.section {
                "place" => self.wrong_place(node, path),
                _ => self.wrong_kind(node, "a group of keys", path),
            }
            return None;
        };
        let before = self.problems.len();
        let mut values = Vec::with_capacity(entries.len());
        let mut seen: Vec<&str> = Vec::with_capacity(entries.len());
        let mut unknown = Vec::new();
        let mut lost = false;
        let mut cut = 0;
        for (place, (k, v)) in entries.iter().enumerate() {
            if self.full() {
                return None;
            }
            let name = k.get(self.source);
            let at = path.key(name);
            if cut > 0 {
                // The rest of an expression that was reported.
                cut -= 1;
                continue;
            }
            if let Some(parts) = self.comma_in_braces(v, &entries[place + 1..], &at) {
                seen.extend(table.keys.iter().map(|known| known.name).filter(|known| *known == name));
                (cut, lost) = (parts, true);
                continue;
            }
            match table.keys.iter().find(|known| known.name == name) {
                Some(known) => {
                    seen.push(known.name);
                    match self.value(&known.expect, v, k, &at, own) {
                        Some(value) => values.push((known.name, value, pointer(self.source, k, v, true))),
                        None => lost = true,
                    }
                }
                None if name == "type" && table.kind.is_some() => {}
                None => {
                    self.unknown_key(table, name, k.span, &at);
                    unknown.push(name.to_string());
                }
            }
        }
        let mut record =
            Record { path: path.to_string(), name: path.last(), title: table.title, span: key.span, values, unknown, broken: false };
        let lacks = |name: &&str| !seen.contains(name) && !record.misspells(name);
        let missing: Vec<&str> = table.keys.iter().filter(|k| k.required).map(|k| k.name).filter(lacks).collect();
        if !missing.is_empty() {
            self.missing_keys(table, &missing, key.span, path);
        }
        // A value that depends on a rejected parameter is dropped without a further report.
        record.broken = self.problems.len() > before || lost && !self.problems.is_empty();
        Some(record)
    }

    fn value(&mut self, expect: &Expect, node: &Node, key: &Text, path: &Path<'_>, own: &'static [&'static str]) -> Option<Value> {
        Some(match expect {
            Expect::Number(d) => {
                if *d == PLAIN && path.last() == "angle" {
                    self.degrees_hint(node, path);
                }
                Value::Number(self.number(node, *d, path)?)
            }
            Expect::Vector(d) => Value::Vector(self.vector(node, *d, path)?),
            Expect::Axis => Value::Vector(self.vector(node, None, path)?),
            Expect::Four => Value::Numbers(self.numbers(node, &[PLAIN; 4], path)?.into()),
            Expect::Six(a, b) => {
                Value::Numbers(self.numbers(node, &[Some(*a), Some(*a), Some(*a), Some(*b), Some(*b), Some(*b)], path)?.into())
            }
            Expect::Matrix => Value::Points(self.vectors(node, PLAIN, Some(3), path)?),
            Expect::PointList => {
                let points = self.vectors(node, Some(Dimension::LENGTH), None, path)?;
                if points.len() < 3 {
                    self.wrong_count(node, points.len(), "at least 3 points", path);
                    return None;
                }
                Value::Points(points)
            }
            Expect::CurvePoints => Value::Rows(self.curve_points(node, path)?),
            Expect::Plane => Value::Plane(self.plane(node, key, path)?),
            Expect::Flag => Value::Flag(self.flag(node, path)?),
            Expect::Inertia => Value::Inertia(self.inertia(node, path)?),
            Expect::TimeFunction(d) => Value::Function(self.expression(node, Scope::Time, *d, path)?.0),
            Expect::InputFunction(d) => {
                let (expr, variables) = self.expression(node, Scope::Drive, *d, path)?;
                Value::State(StateExpr { expr, variables })
            }
            Expect::Range => Value::Numbers(self.numbers(node, &[None; 2], path)?.into()),
            Expect::StateFunction(d) => Value::State(self.state(node, own, *d, path)?),
            Expect::StateVector(d) => {
                let items = self.items(node, Some(3), path)?;
                let components: Vec<_> = items.iter().enumerate().map(|(i, n)| self.state(n, own, Some(*d), &path.index(i))).collect();
                let components: Option<Vec<_>> = components.into_iter().collect();
                Value::States(Box::new(components?.try_into().ok()?))
            }
            Expect::Text | Expect::Version | Expect::Name(_) => Value::Text(self.text(node, path)?),
            Expect::Choice(words) => {
                let word = self.text(node, path)?;
                if !words.contains(&word.as_str()) {
                    self.unknown_type(&path.last(), &word, words.iter().copied(), node.span, path);
                    return None;
                }
                Value::Text(word)
            }
            Expect::TwoNames(_) => Value::Names(self.names(node, Some(2), path)?),
            Expect::Names(_) => Value::Names(self.names(node, None, path)?),
            Expect::File => Value::Text(self.file_name(node, path)?),
            Expect::Place | Expect::Direction => Value::Places(vec![self.place(node, key, path)?]),
            Expect::TwoPlaces | Expect::TwoDirections | Expect::Places => {
                let items = self.items(node, (*expect != Expect::Places).then_some(2), path)?;
                let places: Vec<_> = items.iter().enumerate().map(|(i, n)| self.place(n, key, &path.index(i))).collect();
                Value::Places(places.into_iter().collect::<Option<_>>()?)
            }
            Expect::TwoAxes => Value::Points(self.vectors(node, None, Some(2), path)?),
            Expect::Frames => Value::Frames(self.frames(node, path)?),
            Expect::Orientation => Value::Orientation(self.orientation(node, key, path)?),
            Expect::Shapes => Value::Shapes(self.shapes(node, path)?),
            Expect::Solid => Value::Solid(self.solids(node, key, path)?),
            Expect::Options => Value::Options(self.options(node, path)?),
            Expect::Unit => Value::Unit(self.unit_alone(node, path)?),
            Expect::Column => Value::Column(self.column(node, path)?),
            Expect::Pairs => Value::Pairs(self.pairs(node, path)?),
            Expect::TwoNumbers => Value::Numbers(self.numbers(node, &[None; 2], path)?.into()),
            Expect::Plots => Value::Plots(self.plots(node, path)?),
            Expect::Points => {
                let points = self.vectors(node, Some(Dimension::LENGTH), None, path)?;
                if points.is_empty() {
                    self.wrong_count(node, 0, "at least 1 point", path);
                    return None;
                }
                Value::Points(points)
            }
            Expect::Sides => Value::Sides(self.sides(node, key, path)?),
            Expect::SidePlane => Value::SidePlane(self.side_plane(node, key, path)?),
            Expect::Friction => Value::Friction(self.contact_friction(node, key, path)?),
            Expect::Functions | Expect::Actions => Value::Elsewhere,
            Expect::Integrator if matches!(node.content, Content::Map(_)) => Value::Tableau(self.own_integrator(node, key, path)?),
            Expect::Integrator => Value::Text(self.text(node, path)?),
            Expect::NumberList => Value::Numbers(self.number_list(node, path)?),
            Expect::NumberRows => Value::Rows(self.number_rows(node, path)?),
            Expect::Group(_) | Expect::Section(_) | Expect::Parameters | Expect::Coordinates => Value::Elsewhere,
        })
    }

    /// The items of a list, of the required number.
    pub(crate) fn items<'n>(&mut self, node: &'n Node, count: Option<usize>, path: &Path<'_>) -> Option<&'n [Node]> {
        match &node.content {
            Content::List(items) if count.is_none_or(|n| n == items.len()) => Some(items),
            Content::List(items) => {
                self.wrong_count(node, items.len(), &format!("{} entries", count.unwrap_or(0)), path);
                None
            }
            _ => {
                self.wrong_kind(node, &count.map_or("a list".to_string(), |n| format!("a list of {n}")), path);
                None
            }
        }
    }

    /// Reports a place without a body, or with a body only.
    fn wrong_place(&mut self, node: &Node, path: &Path<'_>) {
        let body = match &node.content {
            Content::Scalar(text) if !is_null(text, self.source) => shorten(text.get(self.source)),
            _ => "NAME".into(),
        };
        let at = match &node.content {
            Content::List(_) => self.source.get(node.span.range()).filter(|t| t.len() < 40 && !t.contains('\n')).unwrap_or("[x, y, z]"),
            _ => "[x, y, z]",
        };
        let help = format!("a place names its body: `{{body: {body}, at: {at}}}` in the body frame, or `world:` as drawn");
        self.wrong_kind_with(node, "a place on a body", &help, path);
    }

    pub(crate) fn wrong_count(&mut self, node: &Node, found: usize, expected: &str, path: &Path<'_>) {
        let help = match &node.content {
            // An example helps if there are too few items.
            Content::List(items) => comma_inside(items, self.source)
                .or_else(|| example(&path.last(), node, self.source).filter(|_| items.len() < 3))
                .unwrap_or_default(),
            _ => String::new(),
        };
        let d = Diagnostic::new("M017", format!("`{}` needs {expected}, not {found}", path.last())).help(help).at(path.to_string());
        let span = self.one_line(node);
        self.problem(d, span);
    }

    pub(crate) fn numbers<const N: usize>(
        &mut self,
        node: &Node,
        dimensions: &[Option<Dimension>; N],
        path: &Path<'_>,
    ) -> Option<[f64; N]> {
        let items = self.items(node, Some(N), path)?;
        let (mut numbers, mut complete) = ([0.0; N], true);
        for (i, (x, d)) in numbers.iter_mut().zip(dimensions).enumerate() {
            match self.number(&items[i], *d, &path.index(i)) {
                Some(number) => *x = number,
                // The other items are read too, to report their problems.
                None => complete = false,
            }
        }
        complete.then_some(numbers)
    }

    /// A list of plain numbers of any length.
    fn number_list(&mut self, node: &Node, path: &Path<'_>) -> Option<Vec<f64>> {
        let items = self.items(node, None, path)?;
        let numbers: Vec<_> = items.iter().enumerate().map(|(i, n)| self.number(n, PLAIN, &path.index(i))).collect();
        numbers.into_iter().collect()
    }

    fn number_rows(&mut self, node: &Node, path: &Path<'_>) -> Option<Vec<Vec<f64>>> {
        let items = self.items(node, None, path)?;
        let rows: Vec<_> = items.iter().enumerate().map(|(i, n)| self.number_list(n, &path.index(i))).collect();
        rows.into_iter().collect()
    }

    /// A user-defined integration method.
    fn own_integrator(&mut self, node: &Node, key: &Text, path: &Path<'_>) -> Option<TableauSpec> {
        let Content::Map(entries) = &node.content else { return None };
        self.record(&INTEGRATOR, key, node, path, &[])?;
        let (key, group) = entries.iter().find(|(k, _)| k.get(self.source) == "tableau")?;
        let x = self.record(&TABLEAU, key, group, &path.key("tableau"), &[])?;
        let spec = TableauSpec { a: x.rows("a")?, b: x.numbers("b")?, c: x.numbers("c"), estimate: x.numbers("estimate") };
        (!x.broken).then_some(spec)
    }

    pub(crate) fn vector(&mut self, node: &Node, dimension: Option<Dimension>, path: &Path<'_>) -> Option<V3> {
        self.numbers(node, &[dimension; 3], path)
    }

    fn vectors(&mut self, node: &Node, dimension: Option<Dimension>, count: Option<usize>, path: &Path<'_>) -> Option<Vec<V3>> {
        let items = self.items(node, count, path)?;
        let vectors: Vec<_> = items.iter().enumerate().map(|(i, n)| self.vector(n, dimension, &path.index(i))).collect();
        vectors.into_iter().collect()
    }

    fn inertia(&mut self, node: &Node, path: &Path<'_>) -> Option<Inertia> {
        let dimension = Some(Dimension::INERTIA);
        match &node.content {
            Content::List(items) if items.len() == 6 => Some(Inertia::Tensor(self.numbers(node, &[dimension; 6], path)?)),
            Content::List(items) if items.len() == 3 => Some(Inertia::Principal(self.vector(node, dimension, path)?)),
            Content::List(items) => {
                self.wrong_count(node, items.len(), "3 or 6 entries, or a single 0", path);
                None
            }
            Content::Map(_) => {
                self.wrong_kind(node, "a list of 3 or 6 numbers, or 0", path);
                None
            }
            Content::Scalar(_) => {
                let x = self.number(node, dimension, path)?;
                if x != 0.0 {
                    let d = Diagnostic::new("M017", "`inertia` needs 3 or 6 entries; a single value can only be 0, for a point mass")
                        .help(format!("for a ball write [{x}, {x}, {x}]"))
                        .at(path.to_string());
                    self.problem(d, node.span);
                    return None;
                }
                Some(Inertia::Point)
            }
        }
    }

    pub(crate) fn text(&mut self, node: &Node, path: &Path<'_>) -> Option<String> {
        Some(self.scalar(node, "a text", path)?.get(self.source).to_string())
    }

    pub(crate) fn names(&mut self, node: &Node, count: Option<usize>, path: &Path<'_>) -> Option<Vec<String>> {
        let items = self.items(node, count, path)?;
        let names: Vec<_> = items.iter().enumerate().map(|(i, n)| self.text(n, &path.index(i))).collect();
        names.into_iter().collect()
    }

    /// Plots of pages: names of columns, lists of them, or groups with an abscissa.
    fn plots(&mut self, node: &Node, path: &Path<'_>) -> Option<Vec<PlotSpec>> {
        let items = self.items(node, None, path)?;
        let plots: Vec<_> = items.iter().enumerate().map(|(i, n)| self.plot(n, &path.index(i))).collect();
        plots.into_iter().collect()
    }

    fn plot(&mut self, node: &Node, path: &Path<'_>) -> Option<PlotSpec> {
        let Content::Map(entries) = &node.content else { return Some(PlotSpec { y: self.columns(node, path)?, x: None }) };
        let (mut x, mut y) = (None, None);
        for (key, value) in entries {
            let name = key.get(self.source);
            let at = path.key(name);
            match name {
                "x" => x = Some(self.text(value, &at)?),
                "y" => y = Some(self.columns(value, &at)?),
                _ => {
                    let message = format!("unknown key `{}` in a plot", shorten(name));
                    self.problem(Diagnostic::new("M012", message).help("known keys: `x`, `y`").at(at.to_string()), key.span);
                    return None;
                }
            }
        }
        if y.is_none() {
            let d = Diagnostic::new("M013", "a plot needs `y`: the columns to draw").at(path.to_string());
            let span = self.one_line(node);
            self.problem(d.help("write `{x: tip.x, y: tip.y}`"), span);
        }
        Some(PlotSpec { y: y?, x })
    }

    /// One name, or a non-empty list of names.
    fn columns(&mut self, node: &Node, path: &Path<'_>) -> Option<Vec<String>> {
        match &node.content {
            Content::List(items) if items.is_empty() => {
                self.wrong_count(node, 0, "at least 1 column", path);
                None
            }
            Content::List(_) => self.names(node, None, path),
            _ => Some(vec![self.text(node, path)?]),
        }
    }

    /// A place or direction: three numbers, or a group.
    fn place(&mut self, node: &Node, key: &Text, path: &Path<'_>) -> Option<LoosePlace> {
        let span = self.one_line(node);
        if let Content::List(_) = node.content {
            let world = self.vector(node, Some(Dimension::LENGTH), path)?;
            return Some(LoosePlace { body: None, at: Some(At::World(world)), bare: true, span });
        }
        let record = self.record(&PLACE, key, node, path, &[])?;
        let at = match (record.vector("at"), record.vector("world")) {
            (Some(_), Some(_)) => {
                self.conflict(
                    format!("`{}` has both `at` and `world`", path.last()),
                    "`at` is in the body frame, `world` as drawn: keep one",
                    span,
                    path,
                );
                return None;
            }
            (Some(at), None) => Some(At::Body(at)),
            (None, Some(world)) => Some(At::World(world)),
            (None, None) => None,
        };
        if record.broken { None } else { Some(LoosePlace { body: record.text("body"), at, bare: false, span }) }
    }

    fn frames(&mut self, node: &Node, path: &Path<'_>) -> Option<Vec<LooseFrame>> {
        let Content::Map(entries) = &node.content else {
            self.wrong_kind(node, "a group: each body with its frame", path);
            return None;
        };
        let mut frames = Vec::new();
        for (key, value) in entries {
            if self.full() {
                return None;
            }
            let body = key.get(self.source).to_string();
            let record = self.record(&FRAME, key, value, &path.key(&body), &[])?;
            if record.broken {
                return None;
            }
            frames.push(LooseFrame {
                body: body.clone(),
                at: record.vector("at")?,
                axis: record.vector("axis"),
                x: record.vector("x"),
                span: key.span,
            });
        }
        Some(frames)
    }

    fn options(&mut self, node: &Node, path: &Path<'_>) -> Option<Vec<(String, String)>> {
        let Content::Map(entries) = &node.content else {
            self.wrong_kind(node, "a group of keys with values", path);
            return None;
        };
        let mut options = Vec::new();
        for (key, value) in entries {
            let name = key.get(self.source).to_string();
            let text = self.text(value, &path.key(&name))?;
            options.push((name, text));
        }
        Some(options)
    }

    /// A file in the model's folder or below it.
    fn file_name(&mut self, node: &Node, path: &Path<'_>) -> Option<String> {
        let name = self.text(node, path)?;
        let relative = FilePath::new(&name);
        let plain = !name.is_empty() && relative.components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir));
        let portable = !name.contains(['\\', ':', '\0']);
        let outside = |why: &str| {
            Diagnostic::new("M040", format!("the path `{}` {why}", shorten(&name)))
                .help("keep the file in the folder of the model or below it, and give its path from there with `/`")
                .at(path.to_string())
        };
        if !plain || !portable {
            let d = outside("leaves the folder of the model");
            self.problem(d, node.span);
            return None;
        }
        if let Some(folder) = self.folder() {
            let folder = if folder.as_os_str().is_empty() { FilePath::new(".") } else { folder };
            let target = folder.join(relative);
            let problem = match (folder.canonicalize(), target.canonicalize()) {
                // A link may lead elsewhere.
                (Ok(folder), Ok(target)) if !target.starts_with(&folder) => Some(outside("leads outside the folder of the model")),
                (Ok(_), Ok(target)) if target.is_file() => None,
                _ => Some(
                    Diagnostic::new("M041", format!("there is no file `{}` in the folder of the model", shorten(&name)))
                        .at(path.to_string()),
                ),
            };
            if let Some(d) = problem {
                self.problem(d, node.span);
                return None;
            }
        }
        Some(name)
    }
}
