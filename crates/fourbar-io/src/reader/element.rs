//! Builds joints, constraints and forces from their values.

use super::Reader;
use super::record::{LooseFrame, LoosePlace, Record};
use crate::places::Span;
use fourbar::Diagnostic;
use fourbar::force::{Given, Kind};
use fourbar::joint::PairForm;
use fourbar::spec::{
    At, ConstraintSpec, ForceSpec, FrameSpec, JointSpec, Orientation, PairKind, Place, Placement, PlaneSpec, StateExpr, V3,
};

/// Default axis of joints.
const Z: V3 = [0.0, 0.0, 1.0];

impl Reader<'_> {
    fn complain(&mut self, code: &'static str, message: String, help: &str, key: &str, span: Span, x: &Record) {
        let at = if key.is_empty() { x.path.clone() } else { format!("{}.{key}", x.path) };
        self.problem(Diagnostic::new(code, message).help(help).at(at), span);
    }

    /// Reports that one of several keys is needed, unless the record is already broken.
    fn needs(&mut self, x: &Record, what: &str, help: &str) {
        if !x.broken {
            self.complain("M013", format!("`{}`, {}, lacks {what}", x.name, x.title), help, "", x.span, x);
        }
    }

    /// Rejects keys that exclude each other.
    fn excludes(&mut self, x: &Record, key: &str, others: &[&str]) -> bool {
        let Some(other) = others.iter().find(|o| x.has(o)) else { return false };
        if x.has(key) {
            let message = format!("`{}`, {}, has both `{key}` and `{other}`", x.name, x.title);
            self.complain("M014", message, "keep one of them", other, x.span_of(other), x);
            return true;
        }
        false
    }

    /// A place with its body, or with a body from the list of the joint.
    pub(crate) fn settle(&mut self, x: &Record, key: &str, place: LoosePlace, body: Option<&String>) -> Option<Place> {
        match (place.body, body) {
            (Some(own), Some(other)) if own != *other => {
                let message = format!("`{key}` is on `{own}`, but `bodies` says `{other}`");
                self.complain("M014", message, "leave `bodies` out, or make them agree", key, place.span, x);
                None
            }
            (Some(body), _) => Some(Place { body, at: place.at.unwrap_or(At::Body([0.0; 3])) }),
            (None, Some(body)) => Some(Place { body: body.clone(), at: place.at.unwrap_or(At::Body([0.0; 3])) }),
            (None, None) => {
                let message = format!("`{key}` of `{}` does not name its body", x.name);
                self.complain(
                    "M013",
                    message,
                    "write `{body: NAME, at: [x, y, z]}` or `{body: NAME, world: [x, y, z]}`",
                    key,
                    place.span,
                    x,
                );
                None
            }
        }
    }

    fn two_places(&mut self, x: &Record, key: &str) -> Option<[Place; 2]> {
        let [a, b]: [LoosePlace; 2] = x.places(key)?.try_into().ok()?;
        Some([self.settle(x, key, a, None)?, self.settle(x, key, b, None)?])
    }

    fn one_place(&mut self, x: &Record, key: &str) -> Option<Place> {
        self.settle(x, key, x.place(key)?, None)
    }

    /// A direction is required: the origin is not a direction.
    fn direction(&mut self, x: &Record, key: &str, place: &LoosePlace) -> Option<At> {
        if place.at.is_none() {
            let message = format!("`{key}` of `{}` gives no direction", x.name);
            self.complain("M013", message, "write `at: [x, y, z]` in the body frame or `world: [x, y, z]`", key, place.span, x);
        }
        match place.at {
            // A direction given by three numbers alone is in the axes of its body.
            Some(At::World(x)) if place.bare => Some(At::Body(x)),
            at => at,
        }
    }

    /// The place given by `on` or by its synonym `place`.
    fn on(&mut self, x: &Record) -> Option<Place> {
        if self.excludes(x, "on", &["place"]) {
            return None;
        }
        match ["on", "place"].into_iter().find(|k| x.has(k)) {
            Some(key) => self.one_place(x, key),
            None => {
                self.needs(x, "`on`", "give its place: `on: {body: NAME, at: [x, y, z]}`");
                None
            }
        }
    }

    fn frame(&mut self, x: &Record, frames: &[LooseFrame], body: &str, needs_axis: bool) -> Option<FrameSpec> {
        let Some(frame) = frames.iter().find(|f| f.body == body) else {
            let message = format!("`frames` of `{}` has no frame on `{body}`", x.name);
            self.complain("M042", message, "give one frame for each of the joint's `bodies`", "frames", x.span_of("frames"), x);
            return None;
        };
        if needs_axis && frame.axis.is_none() {
            let message = format!("the frame of `{}` on `{body}` lacks `axis`", x.name);
            self.complain("M013", message, "give the joint's axis in the body frame", "frames", frame.span, x);
            return None;
        }
        Some(FrameSpec { at: frame.at, axis: frame.axis.unwrap_or(Z), x: frame.x })
    }

    /// Frames on both bodies, if the joint is given by frames.
    fn framed(&mut self, x: &Record, bodies: &[String; 2], needs_axis: bool) -> Option<Placement> {
        let frames = x.frames("frames")?;
        if let Some(extra) = frames.iter().find(|f| !bodies.contains(&f.body)) {
            let message = format!("`frames` of `{}` names `{}`, which is not one of its bodies", x.name, extra.body);
            self.complain("M042", message, "give one frame for each of the joint's `bodies`", "frames", extra.span, x);
            return None;
        }
        let base = self.frame(x, &frames, &bodies[0], needs_axis)?;
        let moving = self.frame(x, &frames, &bodies[1], needs_axis)?;
        Some(Placement::Frames { base, moving })
    }
}

/// A joint at a point of two bodies.
pub(crate) fn pair(r: &mut Reader<'_>, x: &Record, kind: &'static str) -> Option<JointSpec> {
    let kind = PairKind::read(kind, |key| x.number(key))?;
    match kind.form() {
        PairForm::Axial => axial(r, x, kind),
        PairForm::Pointed => pointed(r, x, kind),
        PairForm::Crossed => crossed(r, x, kind),
    }
}

/// A joint with a place and an axis.
fn axial(r: &mut Reader<'_>, x: &Record, kind: PairKind) -> Option<JointSpec> {
    let bodies = x.pair("bodies")?;
    if r.excludes(x, "frames", &["at", "axis"]) {
        return None;
    }
    let placement = if x.has("frames") {
        r.framed(x, &bodies, true)?
    } else {
        let (Some(at), Some(axis)) = (x.vector("at"), x.vector("axis")) else {
            let lacking = if !x.has("at") && !x.has("axis") {
                "`at` and `axis`"
            } else if x.has("at") {
                "`axis`"
            } else {
                "`at`"
            };
            r.needs(x, lacking, "give place and axis in the world as drawn, or `frames` in the bodies");
            return None;
        };
        Placement::World { at, axis, axis_moving: None }
    };
    Some(JointSpec::Pair { kind, bodies, placement })
}

/// A joint with a place only.
fn pointed(r: &mut Reader<'_>, x: &Record, kind: PairKind) -> Option<JointSpec> {
    let bodies = x.pair("bodies")?;
    if r.excludes(x, "frames", &["at"]) {
        return None;
    }
    let placement = if x.has("frames") {
        r.framed(x, &bodies, false)?
    } else {
        let Some(at) = x.vector("at") else {
            r.needs(x, "`at`", "give its place in the world as drawn, or `frames` in the bodies");
            return None;
        };
        Placement::World { at, axis: Z, axis_moving: None }
    };
    Some(JointSpec::Pair { kind, bodies, placement })
}

/// A joint with a place and an axis on each body.
fn crossed(r: &mut Reader<'_>, x: &Record, kind: PairKind) -> Option<JointSpec> {
    let bodies = x.pair("bodies")?;
    if r.excludes(x, "frames", &["at", "axes"]) {
        return None;
    }
    let placement = if x.has("frames") {
        r.framed(x, &bodies, true)?
    } else {
        let (Some(at), Some(axes)) = (x.vector("at"), x.points("axes")) else {
            r.needs(
                x,
                if x.has("at") { "`axes`" } else { "`at`" },
                "give place and both axes in the world as drawn, or `frames` in the bodies",
            );
            return None;
        };
        let [axis, moving]: [V3; 2] = axes.try_into().ok()?;
        Placement::World { at, axis, axis_moving: Some(moving) }
    };
    Some(JointSpec::Pair { kind, bodies, placement })
}

pub(crate) fn distance(r: &mut Reader<'_>, x: &Record, _: &'static str) -> Option<JointSpec> {
    let bodies = x.pair("bodies");
    let from = r.settle(x, "from", x.place("from")?, bodies.as_ref().map(|b| &b[0]))?;
    let to = r.settle(x, "to", x.place("to")?, bodies.as_ref().map(|b| &b[1]))?;
    Some(JointSpec::Distance { from, to, length: x.number("length") })
}

pub(crate) fn angle(r: &mut Reader<'_>, x: &Record, _: &'static str) -> Option<JointSpec> {
    let bodies = x.pair("bodies")?;
    let axes: [LoosePlace; 2] = x.places("axes")?.try_into().ok()?;
    for (axis, body) in axes.iter().zip(&bodies) {
        r.settle(x, "axes", axis.clone(), Some(body))?;
    }
    let axes = [r.direction(x, "axes", &axes[0])?, r.direction(x, "axes", &axes[1])?];
    Some(JointSpec::Angle { bodies, axes, angle: x.number("angle") })
}

pub(crate) fn gear(_: &mut Reader<'_>, x: &Record, _: &'static str) -> Option<JointSpec> {
    Some(JointSpec::Gear { joints: x.pair("joints")?, ratio: x.number("ratio")?, carrier: x.text("carrier") })
}

pub(crate) fn belt(r: &mut Reader<'_>, x: &Record, _: &'static str) -> Option<JointSpec> {
    let [first, second]: [f64; 2] = x.numbers("radii")?.try_into().ok()?;
    if !(first > 0.0 && second > 0.0) {
        let message = format!("a wheel of belt `{}` has no radius", x.name);
        r.complain("M116", message, "give two positive radii, such as `radii: [40 mm, 60 mm]`", "radii", x.span_of("radii"), x);
        return None;
    }
    let sign = if x.flag("crossed") == Some(true) { -1.0 } else { 1.0 };
    Some(JointSpec::Gear { joints: x.pair("joints")?, ratio: sign * first / second, carrier: x.text("carrier") })
}

pub(crate) fn rack(_: &mut Reader<'_>, x: &Record, _: &'static str) -> Option<JointSpec> {
    Some(JointSpec::Rack { joints: x.pair("joints")?, radius: x.number("radius")? })
}

pub(crate) fn dp1(r: &mut Reader<'_>, x: &Record) -> Option<ConstraintSpec> {
    for axis in x.places("axes")? {
        r.direction(x, "axes", &axis)?;
    }
    let axes = r.two_places(x, "axes")?;
    let other = match (x.has("other_axis"), x.has("other_value")) {
        (false, false) => None,
        (true, true) => Some((direction_on(r, x, "other_axis", &axes[0].body)?, x.function("other_value")?)),
        (axis, _) => {
            let (there, missing) = if axis { ("other_axis", "other_value") } else { ("other_value", "other_axis") };
            let message = format!("`{}` has `{there}` but no `{missing}`", x.name);
            r.complain("M014", message, "the two belong together", there, x.span_of(there), x);
            return None;
        }
    };
    Some(ConstraintSpec::Dp1 { axes, value: x.function("value")?, other })
}

pub(crate) fn dp2(r: &mut Reader<'_>, x: &Record) -> Option<ConstraintSpec> {
    let from = r.one_place(x, "from")?;
    let axis = x.place("axis")?;
    if let Some(body) = axis.body.as_ref().filter(|b| **b != from.body) {
        let message = format!("`axis` of `{}` is on `{body}`, but `from` is on `{}`", x.name, from.body);
        r.complain("M014", message, "the direction belongs to the body of `from`", "axis", axis.span, x);
        return None;
    }
    let axis = r.direction(x, "axis", &axis)?;
    Some(ConstraintSpec::Dp2 { axis, from, to: r.one_place(x, "to")?, value: x.function("value")? })
}

pub(crate) fn d(r: &mut Reader<'_>, x: &Record) -> Option<ConstraintSpec> {
    Some(ConstraintSpec::D { from: r.one_place(x, "from")?, to: r.one_place(x, "to")?, value: x.function("value")? })
}

/// A direction on the body of `on`.
fn direction_on(r: &mut Reader<'_>, x: &Record, key: &str, body: &String) -> Option<At> {
    let axis = x.place(key)?;
    r.settle(x, key, axis.clone(), Some(body))?;
    r.direction(x, key, &axis)
}

fn plane(x: &Record) -> PlaneSpec {
    PlaneSpec { at: x.vector("at").unwrap_or_default(), normal: x.vector("normal").unwrap_or([0.0, 0.0, 1.0]) }
}

pub(crate) fn knife_edge(r: &mut Reader<'_>, x: &Record) -> Option<ConstraintSpec> {
    let on = r.on(x)?;
    let across = direction_on(r, x, "across", &on.body)?;
    Some(ConstraintSpec::KnifeEdge { on, across })
}

pub(crate) fn rolling_sphere(r: &mut Reader<'_>, x: &Record) -> Option<ConstraintSpec> {
    Some(ConstraintSpec::RollingSphere { on: r.on(x)?, radius: x.number("radius")?, plane: plane(x) })
}

fn disk(r: &mut Reader<'_>, x: &Record, contact: bool) -> Option<ConstraintSpec> {
    let on = r.on(x)?;
    let axis = direction_on(r, x, "axis", &on.body)?;
    Some(ConstraintSpec::RollingDisk { on, axis, radius: x.number("radius")?, plane: plane(x), contact })
}

pub(crate) fn rolling_disk(r: &mut Reader<'_>, x: &Record) -> Option<ConstraintSpec> {
    disk(r, x, true)
}

pub(crate) fn wheel(r: &mut Reader<'_>, x: &Record) -> Option<ConstraintSpec> {
    disk(r, x, false)
}

pub(crate) fn cd(r: &mut Reader<'_>, x: &Record) -> Option<ConstraintSpec> {
    Some(ConstraintSpec::Cd {
        axis: x.vector("axis")?,
        from: r.one_place(x, "from")?,
        to: r.one_place(x, "to")?,
        value: x.function("value")?,
    })
}

/// The values of a force, with the reader that collects problems.
struct Values<'a, 'r> {
    reader: &'a mut Reader<'r>,
    record: &'a Record,
}

/// Builds a force of a kind from its values.
pub(crate) fn force(r: &mut Reader<'_>, x: &Record, kind: &Kind) -> Option<ForceSpec> {
    (kind.read)(&mut Values { reader: r, record: x })
}

impl Given for Values<'_, '_> {
    fn has(&self, key: &str) -> bool {
        self.record.has(key)
    }
    fn number(&self, key: &str) -> Option<f64> {
        self.record.number(key)
    }
    fn six(&self, key: &str) -> Option<[f64; 6]> {
        self.record.numbers(key)?.try_into().ok()
    }
    fn text(&self, key: &str) -> Option<String> {
        self.record.text(key)
    }
    fn flag(&self, key: &str) -> Option<bool> {
        self.record.flag(key)
    }
    fn expression(&self, key: &str) -> Option<StateExpr> {
        self.record.state(key)
    }
    fn expressions(&self, key: &str) -> Option<[StateExpr; 3]> {
        self.record.states(key).map(|e| *e)
    }
    fn orientation(&self, key: &str) -> Option<Orientation> {
        self.record.orientation(key)
    }
    fn places(&mut self, key: &str) -> Option<[Place; 2]> {
        self.reader.two_places(self.record, key)
    }
    fn path(&mut self, key: &str) -> Option<Vec<Place>> {
        let (r, x) = (&mut *self.reader, self.record);
        let places = x.places(key)?;
        places.into_iter().map(|p| r.settle(x, key, p, None)).collect()
    }
    fn acting_place(&mut self) -> Option<Place> {
        let (r, x) = (&mut *self.reader, self.record);
        if r.excludes(x, "body", &["on", "place"]) {
            return None;
        }
        match x.text("body") {
            Some(body) => {
                let centre = r.centres.get(&body).copied().unwrap_or_default();
                Some(Place { body, at: At::Body(centre) })
            }
            None if x.has("on") || x.has("place") => r.on(x),
            None => {
                r.needs(
                    x,
                    "`on` or `body`",
                    "give the point of action: `on: {body: NAME, at: [x, y, z]}`, or `body: NAME` for the centre of mass",
                );
                None
            }
        }
    }
    fn acting_body(&mut self) -> Option<String> {
        let (r, x) = (&mut *self.reader, self.record);
        if r.excludes(x, "body", &["on", "place"]) || r.excludes(x, "on", &["place"]) {
            return None;
        }
        let key = if x.has("place") { "place" } else { "on" };
        match (x.place(key), x.text("body")) {
            (Some(place), _) if place.at.is_some() => {
                r.complain("M014", format!("`{}` is a torque, which acts at no point", x.name), "write `body: NAME`", key, place.span, x);
                None
            }
            (Some(place), _) => r.settle(x, key, place, None).map(|p| p.body),
            (None, Some(body)) => Some(body),
            (None, None) => {
                r.needs(x, "`body`", "name the body on which it acts");
                None
            }
        }
    }
    fn needs(&mut self, what: &str, help: &str) {
        self.reader.needs(self.record, what, help);
    }
    fn excludes(&mut self, key: &str, others: &[&str]) -> bool {
        self.reader.excludes(self.record, key, others)
    }
}
