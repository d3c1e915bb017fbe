//! The sections of a file, in the order of their dependencies.

use super::expression::Scope;
use super::geometry::together;
use super::record::Record;
use super::{Path, Reader};
use crate::keys::forces;
use crate::keys::{BODY, CONSTRAINTS, DRIVE, JOINTS, PLACE, RESULTS, STUDY, TOP, VIEW};
use crate::reader::element::force as build_force;
use crate::tree::{Content, Node, Text, shorten};
use fourbar::Diagnostic;
use fourbar::expr::Dimension;
use fourbar::joint::JointKind;
use fourbar::spec::{At, BodySpec, DriveQuantity, DriveSpec, JointSpec, ModelSpec, Place, StateExpr, StateVariable, StudySpec};
use std::borrow::Cow;

impl<'a> Reader<'a> {
    /// Reads the whole file; its bodies have been taken out of the root.
    pub(crate) fn file(&mut self, root: &'a Node, bodies: Option<Cow<'_, (Text, Node)>>, set: &[(String, String)]) -> Option<ModelSpec> {
        let Content::Map(entries) = &root.content else {
            let d = Diagnostic::new("M011", format!("a mechanism file is a group of keys, not {}", root.what(self.source)))
                .help("it starts with `fourbar: 1`; `fourbar new FILE` writes one to start from");
            let span = self.one_line(root);
            self.problem(d, span);
            return None;
        };
        let source = self.source;
        let find = |name: &str| entries.iter().find(|(k, _)| k.get(source) == name);
        self.version(entries);
        self.joints = names_of(find("joints"), source);
        self.points = names_of(find("points"), source);
        self.inputs = names_of(find("inputs"), source);
        self.states = names_of(find("states"), source);
        self.read_parameters(find("parameters").map(|(_, node)| node), set);
        let mut tables = Vec::new();
        self.elements(
            find("tables"),
            |r, key, node, path| {
                r.tables.insert(key.get(source).to_string(), None);
                r.table(key, node, path)
            },
            &mut tables,
        );
        self.read_functions(find("functions").map(|(_, node)| node));
        let top = self.top(entries);
        let mut spec = ModelSpec { title: top.text("title").unwrap_or_default(), gravity: top.vector("gravity"), ..Default::default() };
        spec.tables = tables;
        spec.hold = top.names("hold").unwrap_or_default();
        self.elements(bodies.as_deref(), |r, key, node, path| r.body(key, node, path), &mut spec.bodies);
        // Only these sections use the names of bodies.
        if ["events", "outputs", "states", "forces"].iter().any(|s| find(s).is_some()) {
            self.bodies.extend(spec.bodies.iter().map(|(name, _)| name.clone()));
        }
        drop(bodies);
        // Only forces use the centres of mass.
        if find("forces").is_some() {
            self.centres.extend(spec.bodies.iter().map(|(name, body)| (name.clone(), body.com)));
        }
        self.elements(find("curves"), |r, key, node, path| r.curve(key, node, path), &mut spec.curves);
        let mut limits = Vec::new();
        self.elements(
            find("joints"),
            |r, key, node, path| {
                let joint = r.typed("joint", &JOINTS, |t| &t.table, key, node, path)?;
                let record = r.record(&joint.table, key, node, path, &[])?;
                if record.has("limits") {
                    let limited = r.limits(joint.table.kind.unwrap_or_default(), node, path);
                    limits.extend(limited.map(|l| (key.get(source).to_string(), l)));
                }
                (joint.build)(r, &record, joint.table.kind.unwrap_or_default()).filter(|_| !record.broken)
            },
            &mut spec.joints,
        );
        self.elements(
            find("constraints"),
            |r, key, node, path| {
                let constraint = r.typed("constraint", CONSTRAINTS, |t| &t.table, key, node, path)?;
                let record = r.record(&constraint.table, key, node, path, &[])?;
                (constraint.build)(r, &record).filter(|_| !record.broken)
            },
            &mut spec.constraints,
        );
        let joints = &spec.joints;
        self.elements(find("drives"), |r, key, node, path| r.drive(key, node, path, joints), &mut spec.drives);
        self.elements(
            find("forces"),
            |r, key, node, path| {
                let force = r.typed("force", forces(), |t| &t.table, key, node, path)?;
                let record = r.record(&force.table, key, node, path, force.kind.words.own)?;
                build_force(r, &record, force.kind).filter(|_| !record.broken)
            },
            &mut spec.forces,
        );
        self.elements(find("contacts"), |r, key, node, path| r.contact(key, node, path), &mut spec.contacts);
        self.elements(find("points"), |r, key, node, path| r.point(key, node, path), &mut spec.points);
        self.elements(find("inputs"), |r, key, node, path| r.input(key, node, path), &mut spec.inputs);
        self.elements(find("states"), |r, key, node, path| r.own_state(key, node, path), &mut spec.states);
        spec.limits = limits;
        self.elements(find("outputs"), |r, key, node, path| r.output(key, node, path), &mut spec.outputs);
        self.elements(find("events"), |r, key, node, path| r.event(key, node, path), &mut spec.events);
        (spec.start, spec.settle) = find("start").map(|(_, node)| self.start(node)).unwrap_or_default();
        spec.study = find("study").and_then(|(key, node)| self.study(key, node)).unwrap_or_default();
        let t_end = spec.study.t_end;
        self.elements(find("paths"), |r, key, node, path| r.path(key, node, path, t_end), &mut spec.paths);
        self.elements(find("motors"), |r, key, node, path| r.motor(key, node, path), &mut spec.motors);
        if let Some((key, node)) = find("view") {
            self.view(key, node, &mut spec);
        }
        spec.columns = find("results").and_then(|(key, node)| self.results(key, node)).unwrap_or_default();
        self.read_studies(find("study"), find("tolerances"));
        self.warn_of_unused();
        Some(spec)
    }

    /// The version is checked first, so that a file of another format is not reported with fifty other problems.
    fn version(&mut self, entries: &[(Text, Node)]) {
        if let Some((_, node)) = entries.iter().find(|(k, _)| k.get(self.source) == "fourbar") {
            let path = Path::top("fourbar");
            if let Some(text) = self.text(node, &path)
                && text.trim() != "1"
            {
                let d = Diagnostic::new("M018", format!("format version `{}` is not known", crate::tree::shorten(&text)))
                    .help("this program reads `fourbar: 1`")
                    .at("fourbar");
                self.problem(d, node.span);
            }
        }
    }

    /// Top-level keys: unknown keys are rejected, simple values read, sections checked to be groups.
    fn top(&mut self, entries: &'a [(Text, Node)]) -> Record {
        let mut record = Record {
            path: String::new(),
            name: String::new(),
            title: TOP.title,
            span: crate::places::Span::new(0, 0),
            values: Vec::new(),
            unknown: Vec::new(),
            broken: false,
        };
        let mut missing = Vec::new();
        for known in TOP.keys.iter().filter(|k| k.required) {
            if !entries.iter().any(|(k, _)| k.get(self.source) == known.name) {
                missing.push(known.name);
            }
        }
        if let (Some((first, _)), false) = (entries.first(), missing.is_empty()) {
            let span = first.span;
            self.missing_keys(&TOP, &missing, span, &Path::top(""));
        }
        for (key, node) in entries {
            if self.full() {
                break;
            }
            let name = key.get(self.source);
            let path = Path::top(name);
            match name {
                "title" => record.values.extend(self.text(node, &path).map(|t| ("title", super::Value::Text(t), node.span))),
                "gravity" => {
                    let g = self.vector(node, Some(fourbar::expr::Dimension::ACCELERATION), &path);
                    record.values.extend(g.map(|g| ("gravity", super::Value::Vector(g), node.span)));
                }
                "hold" => record.values.extend(self.names(node, None, &path).map(|n| ("hold", super::Value::Names(n), node.span))),
                _ if TOP.keys.iter().any(|k| k.name == name) => {}
                _ => self.unknown_key(&TOP, name, key.span, &path),
            }
        }
        record
    }

    /// Named elements of a section.
    pub(super) fn elements<T>(
        &mut self,
        section: Option<&(Text, Node)>,
        mut read: impl FnMut(&mut Self, &Text, &Node, &Path<'_>) -> Option<T>,
        out: &mut Vec<(String, T)>,
    ) {
        let Some((key, node)) = section else { return };
        let path = Path::top(key.get(self.source));
        match &node.content {
            Content::Map(entries) => {
                for (key, node) in entries {
                    if self.full() {
                        return;
                    }
                    let name = key.get(self.source);
                    let path = path.key(name);
                    self.good_name(name, key.span, &path);
                    let whole = node.later(self.source);
                    out.extend(read(self, key, whole.as_ref().unwrap_or(node), &path).map(|element| (name.to_string(), element)));
                }
            }
            _ => self.wrong_kind(node, "a group of names, each with its keys", &path),
        }
    }

    fn body(&mut self, key: &Text, node: &Node, path: &Path<'_>) -> Option<BodySpec> {
        let x = self.record(&BODY, key, node, path, &[])?;
        let solid = x.solid("solid");
        let given = |k: &str| crate::tree::has_key(node, k, self.source);
        if given("solid") {
            for other in ["mass", "inertia", "com"] {
                if given(other) {
                    let span = x.span_of(other);
                    self.conflict(
                        format!("body `{}` has both `solid` and `{other}`", x.name),
                        "the solid gives mass, centre of mass and inertia: keep one of them",
                        span,
                        path,
                    );
                    return None;
                }
            }
        } else {
            for (key, code, help) in [
                ("mass", "M043", "give `mass` in kg, or a `solid` with density"),
                (
                    "inertia",
                    "M044",
                    "give principal values `[xx, yy, zz]` about the centre of mass, `0` for a point mass, or a `solid` with density",
                ),
            ] {
                if !given(key) && !x.misspells(key) {
                    let d = Diagnostic::new(code, format!("body `{}` has no {key}", x.name))
                        .help(help)
                        .at(path.to_string())
                        .name(x.name.clone());
                    self.problem(d, x.span);
                }
            }
        }
        let mut shapes = x.shapes("shape").unwrap_or_default();
        let (mass, com, inertia) = match solid {
            Some(solids) => {
                if !x.has("shape") {
                    shapes = solids.iter().map(|s| s.shape.clone()).collect();
                }
                together(&solids)
            }
            None => (x.number("mass")?, x.vector("com").unwrap_or_default(), x.inertia("inertia")?),
        };
        if x.broken {
            return None;
        }
        Some(BodySpec {
            mass,
            inertia,
            com,
            shapes,
            at: x.vector("at").unwrap_or_default(),
            orientation: x.orientation("orientation").unwrap_or_default(),
            velocity: x.vector("velocity").unwrap_or_default(),
            omega: x.vector("omega").unwrap_or_default(),
        })
    }

    fn drive(&mut self, key: &Text, node: &Node, path: &Path<'_>, joints: &[(String, JointSpec)]) -> Option<DriveSpec> {
        let x = self.record(&DRIVE, key, node, path, &[])?;
        if x.broken {
            return None;
        }
        if let Some(angle) = self.behind(node, "angle") {
            self.degrees_hint(angle, &path.key("angle"));
        }
        // The unit of a rate follows from the coordinate of the joint: its angle, or its distance if it has no angle.
        let turns = x.text("joint").and_then(|name| has_angle(joints, &name));
        for (rate, power) in [("speed", 1), ("acceleration", 2)] {
            if let (Some(value), Some(turns)) = (self.behind(node, rate), turns) {
                let of = if turns { Dimension::NONE } else { Dimension::LENGTH };
                self.expression(value, Scope::Drive, Some(of.times(Dimension::RATE.power(power))), &path.key(rate))?;
            }
        }
        let quantities = [
            ("angle", DriveQuantity::Angle),
            ("distance", DriveQuantity::Distance),
            ("speed", DriveQuantity::Speed),
            ("acceleration", DriveQuantity::Acceleration),
        ];
        let given: Vec<_> = quantities.iter().filter(|(k, _)| x.has(k)).collect();
        match given.as_slice() {
            [(key, quantity @ (DriveQuantity::Speed | DriveQuantity::Acceleration))] => {
                let StateExpr { expr: value, variables } = x.state(key)?;
                // The first variable is the time, the others are inputs.
                let inputs = variables.iter().skip(1).map(StateVariable::to_string).collect();
                Some(DriveSpec { joint: x.text("joint")?, quantity: *quantity, value, inputs })
            }
            [(key, quantity)] => {
                Some(DriveSpec { joint: x.text("joint")?, quantity: *quantity, value: x.function(key)?, inputs: Vec::new() })
            }
            [] => {
                let d = Diagnostic::new("M013", format!("drive `{}` does not name what it drives", x.name))
                    .help("give `angle`, `distance`, `speed` or `acceleration` as a function of `t`")
                    .at(path.to_string());
                self.problem(d, x.span);
                None
            }
            [_, (second, _), ..] => {
                let span = x.span_of(second);
                self.conflict(
                    format!("drive `{}` prescribes more than one quantity", x.name),
                    "keep one of `angle`, `distance`, `speed`, `acceleration`",
                    span,
                    path,
                );
                None
            }
        }
    }

    fn point(&mut self, key: &Text, node: &Node, path: &Path<'_>) -> Option<Place> {
        let x = self.record(&PLACE, key, node, path, &[])?;
        if x.broken {
            return None;
        }
        let at = match (x.vector("at"), x.vector("world")) {
            (Some(_), Some(_)) => {
                let span = x.span_of("world");
                self.conflict(
                    format!("point `{}` has both `at` and `world`", x.name),
                    "`at` is in the body frame, `world` as drawn: keep one",
                    span,
                    path,
                );
                return None;
            }
            (Some(at), None) => At::Body(at),
            (None, Some(world)) => At::World(world),
            (None, None) => At::Body([0.0; 3]),
        };
        match x.text("body") {
            Some(body) => Some(Place { body, at }),
            None => {
                self.missing_keys(&PLACE, &["body"], x.span, path);
                None
            }
        }
    }

    /// Initial coordinates of joints and points that assembly must meet, and whether the start is an equilibrium.
    fn start(&mut self, node: &Node) -> (Vec<(StateVariable, f64)>, bool) {
        let top = Path::top("start");
        let Content::Map(entries) = &node.content else {
            self.wrong_kind(node, "a group of coordinates with values", &top);
            return (Vec::new(), false);
        };
        let (mut list, mut settle) = (Vec::new(), false);
        for (key, node) in entries {
            if self.full() {
                break;
            }
            let name = key.get(self.source);
            let path = top.key(name);
            if name == "from" {
                settle = self.starts_settled(node, &path);
                continue;
            }
            let Some(variable) = self.coordinate(name) else {
                let help = self.coordinate_help(name);
                let d = Diagnostic::new("M113", format!("`{}` is not a coordinate of the start", shorten(name))).help(help);
                self.problem(d.at(path.to_string()), key.span);
                continue;
            };
            let dimension = match &variable {
                StateVariable::JointAngle(_) => Some(Dimension::NONE),
                StateVariable::JointDistance(_) | StateVariable::PointPosition(..) => Some(Dimension::LENGTH),
                StateVariable::PointVelocity(..) => Some(Dimension::SPEED),
                _ => None,
            };
            if dimension == Some(Dimension::NONE) {
                self.degrees_hint(node, &path);
            }
            list.extend(self.number(node, dimension, &path).map(|x| (variable, x)));
        }
        (list, settle)
    }

    /// Whether a start is from equilibrium, the only permitted word.
    fn starts_settled(&mut self, node: &Node, path: &Path<'_>) -> bool {
        let text = if let Content::Scalar(text) = &node.content { text.get(self.source).trim() } else { "" };
        if text != "equilibrium" {
            let d = Diagnostic::new("M113", "`from` of a start can only be `equilibrium`");
            self.problem(d.at(path.to_string()).help("write `start: {from: equilibrium}`, or leave it out"), node.span);
        }
        text == "equilibrium"
    }

    fn study(&mut self, key: &Text, node: &Node) -> Option<StudySpec> {
        let x = self.record(&STUDY, key, node, &Path::top("study"), &[])?;
        self.studies.measures = x.options("measures").unwrap_or_default();
        let default = StudySpec::default();
        Some(StudySpec {
            analysis: x.text("analysis"),
            formulation: x.text("formulation"),
            integrator: if x.tableau("integrator").is_some() { Some("tableau".into()) } else { x.text("integrator") },
            tableau: x.tableau("integrator"),
            t_end: x.number("t_end").unwrap_or(default.t_end),
            output_step: x.number("output_step"),
            step: x.number("step"),
            tol: x.number("tol"),
            options: x.options("options").unwrap_or_default(),
            events: self.study_events(node, &Path::top("study")),
        })
    }

    fn results(&mut self, key: &Text, node: &Node) -> Option<Vec<String>> {
        self.record(&RESULTS, key, node, &Path::top("results"), &[])?.names("columns")
    }

    fn view(&mut self, key: &Text, node: &Node, spec: &mut ModelSpec) {
        let path = Path::top("view");
        let Some(x) = self.record(&VIEW, key, node, &path, &[]) else { return };
        spec.trace = x.names("trace").unwrap_or_default();
        spec.plots = x.plots("plots").unwrap_or_default();
        spec.follow = x.text("follow");
    }
}

/// Whether a joint of a file has an angle; `None` if it has no coordinate or does not exist.
fn has_angle(joints: &[(String, JointSpec)], name: &str) -> Option<bool> {
    let (_, joint) = joints.iter().find(|(n, _)| n == name)?;
    let JointSpec::Pair { kind, .. } = joint else { return None };
    let (_, angle, distance) = JointKind::ALL.iter().find(|(n, ..)| *n == kind.name())?;
    (*angle || *distance).then_some(*angle)
}

/// Names of the elements of a section.
fn names_of<'a>(section: Option<&'a (Text, Node)>, source: &'a str) -> std::collections::HashSet<&'a str> {
    match section.map(|(_, node)| &node.content) {
        Some(Content::Map(entries)) => entries.iter().map(|(k, _)| k.get(source)).collect(),
        _ => Default::default(),
    }
}
