//! Builds joints, constraints and forces from their values.

use super::Reader;
use super::record::{LooseFrame, LoosePlace, Record};
use crate::places::Span;
use fourbar::Diagnostic;
use fourbar::joint::PairForm;
use fourbar::spec::{
    At, ConstraintSpec, ForceFrame, ForceSpec, FrameSpec, JointSpec, Orientation, PairKind, Place, Placement, PlaneSpec, SpringLaw, V3,
};

/// Axis of joints that have none.
const Z: V3 = [0.0, 0.0, 1.0];
/// Joint speed below which dry friction is smoothed, where the file does not say.
const FRICTION_SPEED: f64 = 1e-3;

impl Reader<'_> {
    fn complain(&mut self, code: &'static str, message: String, help: &str, key: &str, span: Span, x: &Record) {
        let at = if key.is_empty() { x.path.clone() } else { format!("{}.{key}", x.path) };
        self.problem(Diagnostic::new(code, message).help(help).at(at), span);
    }

    /// Says that one of several keys is needed, unless the record is broken anyway.
    fn needs(&mut self, x: &Record, what: &str, help: &str) {
        if !x.broken {
            self.complain("M013", format!("`{}`, {}, lacks {what}", x.name, x.title), help, "", x.span, x);
        }
    }

    /// Refuses keys that exclude another one.
    fn excludes(&mut self, x: &Record, key: &str, others: &[&str]) -> bool {
        let Some(other) = others.iter().find(|o| x.has(o)) else { return false };
        if x.has(key) {
            let message = format!("`{}`, {}, has both `{key}` and `{other}`", x.name, x.title);
            self.complain("M014", message, "keep one of them", other, x.span_of(other), x);
            return true;
        }
        false
    }

    /// A place with its body; the body may come from the joint's list.
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
                let message = format!("`{key}` of `{}` does not say on which body it is", x.name);
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

    /// A direction must be given: the origin is none.
    fn direction(&mut self, x: &Record, key: &str, place: &LoosePlace) -> Option<At> {
        if place.at.is_none() {
            let message = format!("`{key}` of `{}` gives no direction", x.name);
            self.complain("M013", message, "write `at: [x, y, z]` in the body frame or `world: [x, y, z]`", key, place.span, x);
        }
        match place.at {
            // A direction belongs to its body, and so do its three numbers.
            Some(At::World(x)) if place.bare => Some(At::Body(x)),
            at => at,
        }
    }

    /// The place behind `on`, or behind its other word.
    fn on(&mut self, x: &Record) -> Option<Place> {
        if self.excludes(x, "on", &["place"]) {
            return None;
        }
        match ["on", "place"].into_iter().find(|k| x.has(k)) {
            Some(key) => self.one_place(x, key),
            None => {
                self.needs(x, "`on`", "say where it is: `on: {body: NAME, at: [x, y, z]}`");
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

    /// Frames on both bodies, where the joint is given by them.
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

/// A joint that sits at a point of two bodies.
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

/// The linear law, or the expression behind `key`.
fn law(r: &mut Reader<'_>, x: &Record, key: &str, rest: &str, rest_default: Option<f64>) -> Option<SpringLaw> {
    if let Some(expression) = x.state(key) {
        if r.excludes(x, key, &["stiffness", rest, "damping"]) {
            return None;
        }
        return Some(SpringLaw::Expression(expression));
    }
    let (stiffness, damping) = (x.number("stiffness"), x.number("damping"));
    if stiffness.is_none() && damping.is_none() {
        r.needs(x, &format!("`stiffness` or `damping` or `{key}`"), "say how strong it is");
        return None;
    }
    let rest_value = match (x.number(rest), stiffness, rest_default) {
        (Some(value), ..) | (None, _, Some(value)) => value,
        (None, None, None) => 0.0,
        (None, Some(_), None) => {
            r.needs(x, &format!("`{rest}`"), "give the length at which it is relaxed");
            return None;
        }
    };
    Some(SpringLaw::Linear { stiffness: stiffness.unwrap_or(0.0), rest: rest_value, damping: damping.unwrap_or(0.0) })
}

pub(crate) fn spring(r: &mut Reader<'_>, x: &Record) -> Option<ForceSpec> {
    let between = r.two_places(x, "between")?;
    Some(ForceSpec::Spring { between, law: law(r, x, "tension", "length", None)?, mass: x.number("mass").unwrap_or(0.0) })
}

pub(crate) fn torsion(r: &mut Reader<'_>, x: &Record) -> Option<ForceSpec> {
    Some(ForceSpec::Torsion { joint: x.text("joint")?, law: law(r, x, "torque", "angle", Some(0.0))? })
}

fn force_frame(x: &Record) -> ForceFrame {
    if x.text("frame").as_deref() == Some("body") { ForceFrame::Body } else { ForceFrame::World }
}

pub(crate) fn force(r: &mut Reader<'_>, x: &Record) -> Option<ForceSpec> {
    if r.excludes(x, "body", &["on", "place"]) {
        return None;
    }
    let on = match x.text("body") {
        Some(body) => {
            let centre = r.centres.get(&body).copied().unwrap_or_default();
            Place { body, at: At::Body(centre) }
        }
        None if x.has("on") || x.has("place") => r.on(x)?,
        None => {
            r.needs(x, "`on` or `body`", "say where it acts: `on: {body: NAME, at: [x, y, z]}`, or `body: NAME` for the centre of mass");
            return None;
        }
    };
    Some(ForceSpec::Force { on, force: *x.states("force")?, frame: force_frame(x) })
}

pub(crate) fn torque(r: &mut Reader<'_>, x: &Record) -> Option<ForceSpec> {
    if r.excludes(x, "body", &["on", "place"]) || r.excludes(x, "on", &["place"]) {
        return None;
    }
    let key = if x.has("place") { "place" } else { "on" };
    let body = match (x.place(key), x.text("body")) {
        (Some(place), _) if place.at.is_some() => {
            r.complain("M014", format!("`{}` is a torque, which acts at no point", x.name), "write `body: NAME`", key, place.span, x);
            return None;
        }
        (Some(place), _) => r.settle(x, key, place, None)?.body,
        (None, Some(body)) => body,
        (None, None) => {
            r.needs(x, "`body`", "say on which body it acts");
            return None;
        }
    };
    Some(ForceSpec::Torque { body, torque: *x.states("torque")?, frame: force_frame(x) })
}

pub(crate) fn actuator(_: &mut Reader<'_>, x: &Record) -> Option<ForceSpec> {
    Some(ForceSpec::Actuator { joint: x.text("joint")?, effort: x.state("effort")? })
}

pub(crate) fn bushing(r: &mut Reader<'_>, x: &Record) -> Option<ForceSpec> {
    let six = |key: &str| -> Option<[f64; 6]> { x.numbers(key)?.try_into().ok() };
    Some(ForceSpec::Bushing {
        between: r.two_places(x, "between")?,
        frame: x.orientation("frame").unwrap_or(Orientation::World),
        stiffness: six("stiffness")?,
        damping: six("damping").unwrap_or_default(),
    })
}

pub(crate) fn friction(r: &mut Reader<'_>, x: &Record) -> Option<ForceSpec> {
    if !x.has("coulomb") && !x.has("viscous") {
        r.needs(x, "`coulomb` or `viscous`", "say how strong it is");
        return None;
    }
    Some(ForceSpec::Friction {
        joint: x.text("joint")?,
        coulomb: x.number("coulomb").unwrap_or(0.0),
        viscous: x.number("viscous").unwrap_or(0.0),
        radius: x.number("radius").unwrap_or(0.0),
        speed: x.number("speed").unwrap_or(FRICTION_SPEED),
    })
}
