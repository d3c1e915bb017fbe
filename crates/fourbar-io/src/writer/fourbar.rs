//! A [`ModelSpec`] in the format of this program. Reading the text gives the same specification, bit for bit.

use super::yaml::{Group, items, list, quoted};
use fourbar::expr::{Dimension, Expr, Outside, number};
use fourbar::force::Spelling;
use fourbar::joint::PairForm;
use fourbar::spec::*;
use std::collections::HashMap;

/// The text of a mechanism file; parameters are replaced by numbers.
pub fn write_model(spec: &ModelSpec) -> String {
    let mut text = String::from("fourbar: 1\n");
    if !spec.title.is_empty() {
        text += &format!("title: {}\n", quoted(&spec.title));
    }
    if let Some(g) = &spec.gravity {
        text += &format!("gravity: {}\n", list(g));
    }
    if !spec.bodies.is_empty() {
        text += "bodies:\n";
        for (name, b) in &spec.bodies {
            text += &format!("  {name}:\n{}", body(b).lines("    "));
        }
    }
    section(&mut text, "curves", spec.curves.iter().map(|(n, x)| (n, curve(x))));
    let mut limits: HashMap<&str, Vec<&LimitSpec>> = HashMap::new();
    spec.limits.iter().for_each(|(n, l)| limits.entry(n).or_default().push(l));
    let limits_of = |n: &String| limits.get(n.as_str()).map_or(&[][..], Vec::as_slice);
    section(&mut text, "joints", spec.joints.iter().map(|(n, x)| (n, limited(limits_of(n), joint(x)))));
    section(&mut text, "constraints", spec.constraints.iter().map(|(n, x)| (n, constraint(x))));
    section(&mut text, "drives", spec.drives.iter().map(|(n, x)| (n, drive(x))));
    section(&mut text, "forces", spec.forces.iter().map(|(n, x)| (n, force(x))));
    section(&mut text, "contacts", spec.contacts.iter().map(|(n, x)| (n, super::contact::contact(x))));
    section(&mut text, "points", spec.points.iter().map(|(n, x)| (n, place_group(x))));
    section(&mut text, "inputs", spec.inputs.iter().map(|(n, x)| (n, input(x))));
    section(&mut text, "states", spec.states.iter().map(|(n, x)| (n, own_state(x))));
    section(&mut text, "tables", spec.tables.iter().map(|(n, x)| (n, table(x))));
    section(&mut text, "outputs", spec.outputs.iter().map(|(n, x)| (n, output(x))));
    section(&mut text, "paths", spec.paths.iter().map(|(n, x)| (n, path(x))));
    section(&mut text, "motors", spec.motors.iter().map(|(n, x)| (n, motor(x))));
    section(&mut text, "events", spec.events.iter().map(|(n, x)| (n, event(x))));
    if !spec.hold.is_empty() {
        text += &format!("hold: {}\n", items(spec.hold.iter().cloned()));
    }
    if !spec.start.is_empty() || spec.settle {
        let mut g = Group::default();
        if spec.settle {
            g.put("from", "equilibrium");
        }
        for (variable, x) in &spec.start {
            g.number(&variable.to_string(), *x);
        }
        text += &format!("start: {}\n", g.line());
    }
    let study = study(&spec.study);
    if !study.is_empty() {
        text += &format!("study: {}\n", study.line());
    }
    if !spec.columns.is_empty() {
        text += &format!("results: {{columns: {}}}\n", items(spec.columns.iter().map(|c| quoted(c))));
    }
    let mut view = Group::default();
    if !spec.trace.is_empty() {
        view.put("trace", items(spec.trace.iter().cloned()));
    }
    if !spec.plots.is_empty() {
        view.put("plots", items(spec.plots.iter().map(plot)));
    }
    if let Some(body) = &spec.follow {
        view.put("follow", body);
    }
    if !view.is_empty() {
        text += &format!("view: {}\n", view.line());
    }
    text
}

fn plot(p: &PlotSpec) -> String {
    let y = items(p.y.iter().cloned());
    p.x.as_ref().map_or_else(|| y.clone(), |x| format!("{{x: {x}, y: {y}}}"))
}

/// A joint with its limits.
fn limited(limits: &[&LimitSpec], mut g: Group) -> Group {
    for l in limits {
        let mut own = Group::default();
        if let Some(of) = l.of {
            own.put("of", if of == LimitOf::Angle { "angle" } else { "distance" });
        }
        let numbers = [
            ("min", l.min),
            ("max", l.max),
            ("speed_min", l.speed_min),
            ("speed_max", l.speed_max),
            ("restitution", l.restitution),
            ("stiffness", l.stiffness),
            ("damping", l.damping),
            ("exponent", l.exponent),
            ("speed", l.speed),
        ];
        for (key, x) in numbers {
            if let Some(x) = x {
                own.number(key, x);
            }
        }
        g.put("limits", own.line());
    }
    g
}

fn event(e: &EventSpec) -> Group {
    let mut g = Group::default();
    g.put("when", expression(&e.when.expr, &e.when.variables, "length"));
    match e.direction {
        Direction::Any => {}
        Direction::Rising => drop(g.put("direction", "rising")),
        Direction::Falling => drop(g.put("direction", "falling")),
    }
    if let Some(once) = e.once {
        g.put("once", if once { "true" } else { "false" });
    }
    if let Some(x) = e.rearm {
        g.number("rearm", x);
    }
    if let Some(after) = &e.after {
        g.put("after", after);
    }
    let action = |a: &ActionSpec| {
        let mut g = Group::default();
        match a {
            ActionSpec::Enable(n) => g.put("enable", n),
            ActionSpec::Disable(n) => g.put("disable", n),
            ActionSpec::Lock(n) => g.put("lock", n),
            ActionSpec::Release(n) => g.put("release", n),
            ActionSpec::Remove(n) => g.put("remove", n),
            ActionSpec::Set(n, e) => g.put("set", format!("{{{n}: {}}}", expression(&e.expr, &e.variables, "length"))),
            ActionSpec::Stop => g.put("stop", "true"),
        };
        g.line()
    };
    g.put("do", items(e.actions.iter().map(action)));
    g
}

fn section<'a>(text: &mut String, key: &str, elements: impl Iterator<Item = (&'a String, Group)>) {
    for (k, (name, group)) in elements.enumerate() {
        if k == 0 {
            *text += &format!("{key}:\n");
        }
        *text += &format!("  {name}: {}\n", group.line());
    }
}

fn body(b: &BodySpec) -> Group {
    let mut g = Group::default();
    g.number("mass", b.mass);
    match &b.inertia {
        Inertia::Principal(x) => g.list("inertia", x),
        Inertia::Tensor(x) => g.list("inertia", x),
        Inertia::Point => g.put("inertia", "0"),
    };
    g.unless_zero("at", &b.at);
    if let Some(o) = orientation(&b.orientation) {
        g.put("orientation", o.line());
    }
    g.unless_zero("com", &b.com).unless_zero("velocity", &b.velocity).unless_zero("omega", &b.omega);
    if !b.shapes.is_empty() {
        g.put("shape", items(b.shapes.iter().map(|s| shape(s).line())));
    }
    g
}

fn orientation(o: &Orientation) -> Option<Group> {
    let mut g = Group::default();
    match o {
        Orientation::World => return None,
        Orientation::AxisAngle { axis, angle } => g.list("axis", axis).number("angle", *angle),
        Orientation::Quaternion(p) => g.list("quaternion", p),
        Orientation::Matrix(rows) => g.put("matrix", items(rows.iter().map(|r| list(r)))),
        Orientation::Axes { x, y } => g.list("x", x).list("y", y),
        Orientation::Zxz(x) => g.list("zxz", x),
    };
    Some(g)
}

fn shape(s: &Shape) -> Group {
    let mut g;
    match s {
        Shape::Box { size, at } => {
            g = Group::new("box");
            g.list("size", size).unless_zero("at", at);
        }
        Shape::Cylinder { from, to, radius } => {
            g = Group::new("cylinder");
            g.list("from", from).list("to", to).number("radius", *radius);
        }
        Shape::Sphere { at, radius } => {
            g = Group::new("sphere");
            g.unless_zero("at", at).number("radius", *radius);
        }
        Shape::Rod { from, to, radius } => {
            g = Group::new("rod");
            g.list("from", from).list("to", to).number("radius", *radius);
        }
        Shape::Plate { points, thickness } => {
            g = Group::new("plate");
            g.put("points", items(points.iter().map(|p| list(p)))).number("thickness", *thickness);
        }
        Shape::Mesh { file, scale, at, orientation: o } => {
            g = Group::new("mesh");
            g.put("file", quoted(file)).number("scale", *scale).unless_zero("at", at);
            if let Some(o) = orientation(o) {
                g.put("orientation", o.line());
            }
        }
    }
    g
}

fn place_group(p: &Place) -> Group {
    let mut g = Group::default();
    g.put("body", &p.body);
    at(&mut g, &p.at);
    g
}

fn at(g: &mut Group, x: &At) {
    match x {
        At::Body(x) => g.list("at", x),
        At::World(x) => g.list("world", x),
    };
}

fn place(p: &Place) -> String {
    place_group(p).line()
}

fn direction(x: &At) -> String {
    let mut g = Group::default();
    at(&mut g, x);
    g.line()
}

fn names(x: &[String]) -> String {
    items(x.iter().cloned())
}

fn joint(j: &JointSpec) -> Group {
    let mut g;
    match j {
        JointSpec::Pair { kind, bodies, placement } => {
            let axial = kind.form() != PairForm::Pointed;
            g = Group::new(kind.name());
            g.put("bodies", names(bodies));
            for (key, x) in kind.numbers() {
                g.number(key, x);
            }
            match placement {
                Placement::World { at, axis, axis_moving } => {
                    g.list("at", at);
                    match axis_moving {
                        Some(moving) => drop(g.put("axes", items([list(axis), list(moving)]))),
                        None if axial => drop(g.list("axis", axis)),
                        None => {}
                    }
                }
                Placement::Frames { base, moving } => {
                    let frame = |f: &FrameSpec| {
                        let mut g = Group::default();
                        g.list("at", &f.at).list("axis", &f.axis);
                        if let Some(x) = &f.x {
                            g.list("x", x);
                        }
                        g.line()
                    };
                    g.put("frames", format!("{{{}: {}, {}: {}}}", bodies[0], frame(base), bodies[1], frame(moving)));
                }
            }
        }
        JointSpec::Distance { from, to, length } => {
            g = Group::new("distance");
            g.put("from", place(from)).put("to", place(to));
            if let Some(x) = length {
                g.number("length", *x);
            }
        }
        JointSpec::Angle { bodies, axes, angle } => {
            g = Group::new("angle");
            g.put("bodies", names(bodies)).put("axes", items(axes.iter().map(direction)));
            if let Some(x) = angle {
                g.number("angle", *x);
            }
        }
        JointSpec::Curve { bodies, curve, at: on, radius, side } => {
            g = Group::new("point-on-curve");
            g.put("bodies", names(bodies)).put("curve", curve).put("at", direction(on)).unless_zero("radius", &[*radius]);
            if let Some(side) = side {
                g.put("side", if *side == Side::Left { "left" } else { "right" });
            }
        }
        JointSpec::Gear { joints, ratio, carrier } => {
            g = Group::new("gear");
            g.put("joints", names(joints)).number("ratio", *ratio);
            if let Some(c) = carrier {
                g.put("carrier", c);
            }
        }
        JointSpec::Rack { joints, radius } => {
            g = Group::new("rack");
            g.put("joints", names(joints)).number("radius", *radius);
        }
    }
    g
}

fn curve(c: &CurveSpec) -> Group {
    let mut g = Group::default();
    match &c.points {
        CurvePoints::Plane { points, at, normal, x } => {
            g.put("points", items(points.iter().map(|p| list(p))));
            let mut plane = Group::default();
            plane.unless_zero("at", at).list("normal", normal);
            if let Some(x) = x {
                plane.list("x", x);
            }
            g.put("plane", plane.line());
        }
        CurvePoints::Space(points) => {
            g.put("points", items(points.iter().map(|p| list(p))));
        }
    }
    if c.closed {
        g.put("closed", "true");
    }
    g
}

/// An expression of time, quoted unless it is a number.
fn time(e: &Expr) -> String {
    expression(e, &[StateVariable::Time], "length")
}

/// An expression; `own` is the name of the coordinate of the spring it belongs to.
fn expression(e: &Expr, variables: &[StateVariable], own: &str) -> String {
    let name = |v: &StateVariable| if *v == StateVariable::Length { own.to_string() } else { v.to_string() };
    match e.constant_value() {
        // A constant expression may still hold several operations.
        Some(x) if *e == Expr::constant(x) => number(x),
        _ => quoted(&e.to_text(|k| variables.get(k as usize).map_or("t".into(), name))),
    }
}

fn constraint(c: &ConstraintSpec) -> Group {
    let mut g;
    let plane = |g: &mut Group, p: &PlaneSpec| {
        g.unless_zero("at", &p.at).list("normal", &p.normal);
    };
    match c {
        ConstraintSpec::Dp1 { axes, value, other } => {
            g = Group::new("dp1");
            g.put("axes", items(axes.iter().map(place))).put("value", time(value));
            if let Some((axis, value)) = other {
                g.put("other_axis", direction(axis)).put("other_value", time(value));
            }
        }
        ConstraintSpec::Dp2 { axis, from, to, value } => {
            g = Group::new("dp2");
            g.put("axis", direction(axis)).put("from", place(from)).put("to", place(to)).put("value", time(value));
        }
        ConstraintSpec::D { from, to, value } => {
            g = Group::new("d");
            g.put("from", place(from)).put("to", place(to)).put("value", time(value));
        }
        ConstraintSpec::Cd { axis, from, to, value } => {
            g = Group::new("cd");
            g.list("axis", axis).put("from", place(from)).put("to", place(to)).put("value", time(value));
        }
        ConstraintSpec::KnifeEdge { on, across } => {
            g = Group::new("knife-edge");
            g.put("on", place(on)).put("across", direction(across));
        }
        ConstraintSpec::RollingSphere { on, radius, plane: p } => {
            g = Group::new("rolling-sphere");
            g.put("on", place(on)).number("radius", *radius);
            plane(&mut g, p);
        }
        ConstraintSpec::RollingDisk { on, axis, radius, plane: p, contact } => {
            g = Group::new(if *contact { "rolling-disk" } else { "wheel" });
            g.put("on", place(on)).put("axis", direction(axis)).number("radius", *radius);
            plane(&mut g, p);
        }
    }
    g
}

fn drive(d: &DriveSpec) -> Group {
    let mut g = Group::default();
    let key = match d.quantity {
        DriveQuantity::Angle => "angle",
        DriveQuantity::Distance => "distance",
        DriveQuantity::Speed => "speed",
        DriveQuantity::Acceleration => "acceleration",
    };
    let inputs = d.inputs.iter().cloned().map(StateVariable::Auxiliary);
    let variables: Vec<StateVariable> = std::iter::once(StateVariable::Time).chain(inputs).collect();
    g.put("joint", &d.joint).put(key, expression(&d.value, &variables, "length"));
    g
}

fn input(i: &InputSpec) -> Group {
    let mut g = Group::default();
    g.put("unit", quoted(&i.unit)).number("default", i.default);
    if i.range.iter().all(|x| x.is_finite()) {
        g.list("range", &i.range);
    }
    g
}

fn own_state(s: &StateSpec) -> Group {
    let mut g = Group::default();
    g.put("unit", quoted(&s.unit)).put("rate", expression(&s.rate.expr, &s.rate.variables, "length")).number("start", s.start);
    g
}

impl Spelling for Group {
    fn number(&mut self, key: &str, x: f64) {
        Group::number(self, key, x);
    }
    fn unless_zero(&mut self, key: &str, x: &[f64]) {
        Group::unless_zero(self, key, x);
    }
    fn numbers(&mut self, key: &str, x: &[f64]) {
        self.list(key, x);
    }
    fn word(&mut self, key: &str, word: &str) {
        self.put(key, word);
    }
    fn places(&mut self, key: &str, places: &[Place; 2]) {
        self.put(key, items(places.iter().map(place)));
    }
    fn path(&mut self, key: &str, places: &[Place]) {
        if !places.is_empty() {
            self.put(key, items(places.iter().map(place)));
        }
    }
    fn place(&mut self, key: &str, at: &Place) {
        self.put(key, place(at));
    }
    fn orientation(&mut self, key: &str, o: &Orientation) {
        if let Some(o) = orientation(o) {
            self.put(key, o.line());
        }
    }
    fn expression(&mut self, key: &str, e: &StateExpr, own: &str) {
        self.put(key, expression(&e.expr, &e.variables, own));
    }
    fn expressions(&mut self, key: &str, e: &[StateExpr; 3]) {
        self.put(key, items(e.iter().map(|e| expression(&e.expr, &e.variables, "length"))));
    }
}

fn force(f: &ForceSpec) -> Group {
    let mut g = Group::new(f.words().kind);
    f.write(&mut g);
    g
}

/// A table with its points, so that the written file is self-contained.
fn table(t: &TableSpec) -> Group {
    let mut g = Group::default();
    // Numbers are in SI, as are the units of the dimensions.
    let mut unit = |key: &str, d: Option<Dimension>| {
        if let Some(d) = d {
            g.put(key, quoted(&d.unit()));
        }
    };
    unit("x_unit", t.x_dimension);
    unit("y_unit", t.y_dimension);
    match t.ends {
        TableEnds::Natural => {}
        TableEnds::Flat => drop(g.put("ends", "flat")),
        TableEnds::Periodic => drop(g.put("ends", "periodic")),
        TableEnds::Slopes(a, b) => drop(g.list("slopes", &[a, b])),
    }
    if let Some(outside) = t.outside {
        let word = match outside {
            Outside::Linear => "linear",
            Outside::Hold => "hold",
            Outside::Error => "error",
        };
        g.put("outside", word);
    }
    g.put("points", items(t.points.iter().map(|p| list(p))));
    g
}

fn output(o: &OutputSpec) -> Group {
    let mut g = Group::default();
    g.put("value", expression(&o.value.expr, &o.value.variables, "length"));
    if let Some((unit, _)) = &o.unit {
        g.put("unit", quoted(unit));
    }
    g
}

fn path(p: &PathSpec) -> Group {
    let mut g = Group::default();
    g.put("point", &p.point);
    for (key, value) in ["x", "y", "z"].iter().zip(&p.coordinates) {
        if let Some(value) = value {
            g.put(key, expression(value, &[StateVariable::Time], "length"));
        }
    }
    if let Some(t) = &p.through {
        g.put("through", items(t.points.iter().map(|p| list(p))));
        if t.closed {
            g.put("closed", "true");
        }
        g.put("profile", t.profile.name()).number("start", t.start).number("duration", t.duration);
    }
    if !p.keep.is_empty() {
        g.put("keep", items(p.keep.iter().cloned()));
    }
    g
}

fn motor(m: &MotorSpec) -> Group {
    let mut g = Group::default();
    g.put("joint", &m.joint);
    for (key, x) in [("rated", m.rated), ("limit", m.limit), ("weight", m.weight)] {
        if let Some(x) = x {
            g.number(key, x);
        }
    }
    g.number("inertia", m.inertia).number("ratio", m.ratio).number("efficiency", m.efficiency);
    g
}

fn listed(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

fn study(s: &StudySpec) -> Group {
    let mut g = Group::default();
    if *s == StudySpec::default() {
        return g;
    }
    for (key, word) in [("analysis", &s.analysis), ("formulation", &s.formulation)] {
        if let Some(word) = word {
            g.put(key, quoted(word));
        }
    }
    match (&s.tableau, &s.integrator) {
        (Some(t), _) => {
            let mut keys = Group::default();
            keys.put("a", listed(t.a.iter().map(|row| listed(row.iter().map(f64::to_string)))));
            for (key, list) in [("b", Some(&t.b)), ("c", t.c.as_ref()), ("estimate", t.estimate.as_ref())] {
                if let Some(list) = list {
                    keys.put(key, listed(list.iter().map(f64::to_string)));
                }
            }
            let mut integrator = Group::default();
            integrator.put("tableau", keys.line());
            g.put("integrator", integrator.line());
        }
        (None, Some(word)) => {
            g.put("integrator", quoted(word));
        }
        (None, None) => {}
    }
    g.number("t_end", s.t_end);
    for (key, x) in [("output_step", s.output_step), ("step", s.step), ("tol", s.tol)] {
        if let Some(x) = x {
            g.number(key, x);
        }
    }
    if !s.options.is_empty() {
        let mut options = Group::default();
        for (key, value) in &s.options {
            options.put(&quoted(key), quoted(value));
        }
        g.put("options", options.line());
    }
    if s.events != EventSettings::default() {
        let mut events = Group::default();
        events.number("rest_time", s.events.rest_time).number("most_per_second", s.events.most_per_second);
        g.put("events", events.line());
    }
    g
}
