//! A [`ModelSpec`] in the format of this program. Reading the text gives the same specification to the last bit.

use super::yaml::{Group, items, list, quoted};
use fourbar::expr::{Dimension, Expr, Outside, number};
use fourbar::spec::*;

/// The text of a mechanism file; parameters have become numbers.
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
    section(&mut text, "joints", spec.joints.iter().map(|(n, x)| (n, joint(x))));
    section(&mut text, "constraints", spec.constraints.iter().map(|(n, x)| (n, constraint(x))));
    section(&mut text, "drives", spec.drives.iter().map(|(n, x)| (n, drive(x))));
    section(&mut text, "forces", spec.forces.iter().map(|(n, x)| (n, force(x))));
    section(&mut text, "points", spec.points.iter().map(|(n, x)| (n, place_group(x))));
    section(&mut text, "tables", spec.tables.iter().map(|(n, x)| (n, table(x))));
    section(&mut text, "outputs", spec.outputs.iter().map(|(n, x)| (n, output(x))));
    if !spec.hold.is_empty() {
        text += &format!("hold: {}\n", items(spec.hold.iter().cloned()));
    }
    if !spec.start.is_empty() {
        let mut g = Group::default();
        for (variable, x) in &spec.start {
            g.number(&variable.to_string(), *x);
        }
        text += &format!("start: {}\n", g.line());
    }
    let study = study(&spec.study);
    if !study.is_empty() {
        text += &format!("study: {}\n", study.line());
    }
    if !spec.trace.is_empty() {
        text += &format!("view: {{trace: {}}}\n", items(spec.trace.iter().cloned()));
    }
    text
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
        Shape::Mesh { file, scale } => {
            g = Group::new("mesh");
            g.put("file", quoted(file)).number("scale", *scale);
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
            let (word, axial) = match kind {
                PairKind::Revolute => ("revolute", true),
                PairKind::Prismatic => ("prismatic", true),
                PairKind::Cylindrical => ("cylindrical", true),
                PairKind::Spherical => ("spherical", false),
                PairKind::Universal => ("universal", true),
                PairKind::Planar => ("planar", true),
                PairKind::Screw { .. } => ("screw", true),
                PairKind::Fixed => ("fixed", false),
                PairKind::PointOnLine => ("point-on-line", true),
                PairKind::PointOnPlane => ("point-on-plane", true),
            };
            g = Group::new(word);
            g.put("bodies", names(bodies));
            if let PairKind::Screw { lead } = kind {
                g.number("lead", *lead);
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

/// An expression of time, in quotes where it is more than a number.
fn time(e: &Expr) -> String {
    expression(e, &[StateVariable::Time], "length")
}

/// An expression; `own` is the word for the coordinate of the spring it belongs to.
fn expression(e: &Expr, variables: &[StateVariable], own: &str) -> String {
    let name = |v: &StateVariable| if *v == StateVariable::Length { own.to_string() } else { v.to_string() };
    match e.constant_value() {
        // A constant program may still hold several operations.
        Some(x) if *e == Expr::constant(x) => number(x),
        _ => quoted(&e.to_text(|k| variables.get(k as usize).map_or("t".into(), name))),
    }
}

fn state(e: &StateExpr) -> String {
    expression(&e.expr, &e.variables, "length")
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
    };
    g.put("joint", &d.joint).put(key, time(&d.value));
    g
}

fn law(g: &mut Group, law: &SpringLaw, key: &str, rest_key: &str) {
    match law {
        SpringLaw::Linear { stiffness, rest, damping } => {
            g.number("stiffness", *stiffness).number(rest_key, *rest).unless_zero("damping", &[*damping]);
        }
        SpringLaw::Expression(e) => {
            // Springs have a length, torsion springs an angle.
            g.put(key, expression(&e.expr, &e.variables, rest_key));
        }
    }
}

fn force(f: &ForceSpec) -> Group {
    let mut g;
    let frame = |g: &mut Group, frame: &ForceFrame| {
        if *frame == ForceFrame::Body {
            g.put("frame", "body");
        }
    };
    match f {
        ForceSpec::Spring { between, law: l, mass } => {
            g = Group::new("spring");
            g.put("between", items(between.iter().map(place)));
            law(&mut g, l, "tension", "length");
            g.unless_zero("mass", &[*mass]);
        }
        ForceSpec::Torsion { joint, law: l } => {
            g = Group::new("torsion");
            g.put("joint", joint);
            law(&mut g, l, "torque", "angle");
        }
        ForceSpec::Force { on, force, frame: f } => {
            g = Group::new("force");
            g.put("on", place(on)).put("force", items(force.iter().map(state)));
            frame(&mut g, f);
        }
        ForceSpec::Torque { body, torque, frame: f } => {
            g = Group::new("torque");
            g.put("body", body).put("torque", items(torque.iter().map(state)));
            frame(&mut g, f);
        }
        ForceSpec::Actuator { joint, effort } => {
            g = Group::new("actuator");
            g.put("joint", joint).put("effort", state(effort));
        }
        ForceSpec::Bushing { between, frame, stiffness, damping } => {
            g = Group::new("bushing");
            g.put("between", items(between.iter().map(place)));
            if let Some(o) = orientation(frame) {
                g.put("frame", o.line());
            }
            g.list("stiffness", stiffness).unless_zero("damping", damping);
        }
        ForceSpec::Friction { joint, coulomb, viscous, radius, speed } => {
            g = Group::new("friction");
            g.put("joint", joint).number("coulomb", *coulomb).unless_zero("viscous", &[*viscous]).unless_zero("radius", &[*radius]);
            g.number("speed", *speed);
        }
    }
    g
}

/// A table with its points: a written file stands alone.
fn table(t: &TableSpec) -> Group {
    let mut g = Group::default();
    // Numbers are SI, which the units of the dimensions are.
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
    g.put("value", state(&o.value));
    if let Some((unit, _)) = &o.unit {
        g.put("unit", quoted(unit));
    }
    g
}

fn study(s: &StudySpec) -> Group {
    let mut g = Group::default();
    if *s == StudySpec::default() {
        return g;
    }
    for (key, word) in [("analysis", &s.analysis), ("formulation", &s.formulation), ("integrator", &s.integrator)] {
        if let Some(word) = word {
            g.put(key, quoted(word));
        }
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
    g
}
