//! Applied forces of a MechSpec: gravity, forces and torques, actuators, Rayleigh damping.

use super::joints::{Joined, Made, place_of};
use super::parts::is_point;
use super::{GROUND, Parts, entry, is_nothing, tokens};
use crate::places::Span;
use crate::reader::expression::Scope;
use crate::reader::{Path, Reader};
use crate::tree::{Content, Node, shorten};
use fourbar::Diagnostic;
use fourbar::expr::{Dimension, Expr, Symbol};
use fourbar::spec::*;

/// Acceleration of gravity if the file gives no value.
const GRAVITY: f64 = 9.81;
/// Keys of the section.
const APPLIED: [&str; 4] = ["Gravity", "Forces", "Actuators", "Rayleigh"];

impl<'a> Reader<'a> {
    /// Reads the section; returns whether any value depends on time.
    pub(super) fn applied(
        &mut self,
        parts: &Parts<'a>,
        joined: &Joined,
        node: &'a Node,
        spec: &mut ModelSpec,
        aliases: &mut Vec<(String, String)>,
    ) -> bool {
        let top = Path::top("AppliedForces");
        if self.known_keys(node, &APPLIED, "`AppliedForces`", Some(&top)).is_none() {
            return false;
        }
        let source = self.source;
        if let Some(n) = entry(node, "Gravity", source) {
            spec.gravity = self.gravity(parts.dimension, n, &top.key("Gravity")).or(spec.gravity);
        }
        let mut timed = false;
        let path = top.key("Forces");
        for (name, n, span) in self.group(entry(node, "Forces", source), &path) {
            aliases.push((format!("forces.{name}"), format!("AppliedForces.Forces.{name}")));
            timed |= self.applied_force(parts, name, n, span, &path.key(name), spec);
        }
        let path = top.key("Actuators");
        for (name, n, span) in self.group(entry(node, "Actuators", source), &path) {
            for section in ["drives", "constraints"] {
                aliases.push((format!("{section}.{name}"), format!("AppliedForces.Actuators.{name}")));
            }
            timed |= self.part_actuator(parts, joined, name, n, span, &path.key(name), spec);
        }
        if let Some(n) = entry(node, "Rayleigh", source).filter(|n| !is_nothing(n, source)) {
            self.rayleigh(parts, joined, n, &top.key("Rayleigh"), spec, aliases);
        }
        timed
    }

    /// No value: the default, downwards; a number: the magnitude, downwards; a list: the vector.
    fn gravity(&mut self, dimension: usize, node: &Node, path: &Path<'_>) -> Option<V3> {
        let unit = Some(Dimension::ACCELERATION);
        let size = match &node.content {
            Content::List(_) => return self.padded(node, dimension, unit, path),
            _ if is_nothing(node, self.source) => GRAVITY,
            _ => self.number(node, unit, path)?,
        };
        let mut g = [0.0; 3];
        g[dimension - 1] = -size;
        Some(g)
    }

    /// An expression of the state, padded to three components.
    fn components(&mut self, node: &Node, dimension: usize, unit: Dimension, path: &Path<'_>) -> Option<[StateExpr; 3]> {
        let Content::List(items) = &node.content else {
            self.wrong_kind(node, &format!("a list of at most {dimension} expressions"), path);
            return None;
        };
        if items.is_empty() || items.len() > dimension {
            self.wrong_count(node, items.len(), &format!("1 to {dimension} entries"), path);
            return None;
        }
        let mut list = [0, 1, 2].map(|_| StateExpr::constant(0.0));
        for (k, item) in items.iter().enumerate() {
            list[k] = self.state(item, &[], Some(unit), &path.index(k))?;
        }
        Some(list)
    }

    fn applied_force(
        &mut self,
        parts: &Parts<'a>,
        name: &'a str,
        node: &'a Node,
        span: Span,
        path: &Path<'_>,
        spec: &mut ModelSpec,
    ) -> bool {
        let source = self.source;
        let known = ["At", "Force", "On", "Torque", "Against", "Frame"];
        if !self.good_name(name, span, path) || self.known_keys(node, &known, "an applied force", Some(path)).is_none() {
            return false;
        }
        let frame = match entry(node, "Frame", source).map(|n| (self.text(n, &path.key("Frame")), n.span)) {
            None => ForceFrame::World,
            Some((Some(word), _)) if word == "world" => ForceFrame::World,
            Some((Some(word), _)) if word == "body" => ForceFrame::Body,
            Some((word, at)) => {
                self.unknown_type("Frame", &word.unwrap_or_default(), ["world", "body"].into_iter(), at, path);
                return false;
            }
        };
        let timed = |e: &[StateExpr; 3]| e.iter().any(|e| e.variables.contains(&StateVariable::Time));
        match (entry(node, "Force", source), entry(node, "Torque", source)) {
            (Some(f), None) => {
                let Some(at) = entry(node, "At", source) else {
                    self.lacks(name, "`At`, the point where it acts", span, path);
                    return false;
                };
                let force = self.components(f, parts.dimension, Dimension::FORCE, &path.key("Force"));
                let at = self.moving_point(parts, at, &path.key("At"));
                let (Some(force), Some(point)) = (force, at) else { return false };
                let timed = timed(&force);
                spec.forces.push((name.into(), ForceSpec::Force(PointForceSpec { on: place_of(parts, point), force, frame })));
                timed
            }
            (None, Some(t)) => {
                let key = path.key("Torque");
                let torque = match (parts.dimension, &t.content) {
                    // In the plane a torque is a single number.
                    (2, Content::Scalar(_)) => {
                        let e = self.state(t, &[], Some(Dimension::TORQUE), &key);
                        e.map(|e| [StateExpr::constant(0.0), StateExpr::constant(0.0), e])
                    }
                    (2, _) => {
                        self.wrong_kind(t, "a single expression: the torque about the normal of the plane", &key);
                        None
                    }
                    _ => self.components(t, 3, Dimension::TORQUE, &key),
                };
                let on = entry(node, "On", source).and_then(|n| self.part_of(parts, n, &path.key("On")));
                if entry(node, "On", source).is_none() {
                    self.lacks(name, "`On`, the part it turns", span, path);
                }
                let against = entry(node, "Against", source).map(|n| self.part_of(parts, n, &path.key("Against")));
                let (Some(torque), Some(on)) = (torque, on) else { return false };
                let timed = timed(&torque);
                if let Some(Some(other)) = against.filter(|o| *o != Some(GROUND)) {
                    let opposite = torque.clone().map(|e| StateExpr { expr: negative(&e.expr), variables: e.variables });
                    let body = parts.parts[other].label.clone();
                    spec.forces.push((format!("{name}_reaction"), ForceSpec::Torque(TorqueSpec { body, torque: opposite, frame })));
                }
                spec.forces.push((name.into(), ForceSpec::Torque(TorqueSpec { body: parts.parts[on].label.clone(), torque, frame })));
                timed
            }
            _ => {
                self.lacks(name, "one of `Force` and `Torque`", span, path);
                false
            }
        }
    }

    fn lacks(&mut self, name: &str, what: &str, span: Span, path: &Path<'_>) {
        let d = Diagnostic::new("M013", format!("`{}` lacks {what}", shorten(name)));
        let help = "a force is `{At: B, Force: [x, y]}`, a torque `{On: OA, Torque: ...}`, an actuator `{Length: AB, Value: ...}`, `{Angle: O, Value: ...}` or `{Slide: C1vC, Value: ...}`";
        self.problem(d.help(help).at(path.to_string()), span);
    }

    fn part_of(&mut self, parts: &Parts<'_>, node: &Node, path: &Path<'_>) -> Option<usize> {
        let name = self.text(node, path)?;
        let found = parts.part(&name);
        if found.is_none() {
            let known: Vec<&str> = parts.parts.iter().map(|p| p.key).collect();
            let help = crate::reader::problem::suggest(&name, known.iter().copied(), "the file has");
            let d = Diagnostic::new("M062", format!("`{}` is not a part of this mechanism", shorten(&name))).help(help);
            self.problem(d.at(path.to_string()), node.span);
        }
        found
    }

    fn moving_point(&mut self, parts: &Parts<'_>, node: &Node, path: &Path<'_>) -> Option<usize> {
        let name = self.text(node, path)?;
        let found = parts.find(&name).filter(|k| !parts.items[*k].vector);
        match found {
            Some(k) if parts.local(k, GROUND).is_some() => {
                let d = Diagnostic::new("M062", format!("`{name}` is fixed: a force on it has no effect")).help("name a point that moves");
                self.problem(d.at(path.to_string()), node.span);
                None
            }
            None => {
                self.unknown_item(parts, &name, "a point", node.span, path);
                None
            }
            found => found,
        }
    }

    /// A prescribed length, angle or slide; returns whether it depends on time.
    fn part_actuator(
        &mut self,
        parts: &Parts<'a>,
        joined: &Joined,
        name: &'a str,
        node: &'a Node,
        span: Span,
        path: &Path<'_>,
        spec: &mut ModelSpec,
    ) -> bool {
        let source = self.source;
        let known = ["Length", "Angle", "Slide", "Parts", "Value"];
        if !self.good_name(name, span, path) || self.known_keys(node, &known, "an actuator", Some(path)).is_none() {
            return false;
        }
        let Some(value) = entry(node, "Value", source) else {
            self.lacks(name, "`Value`, a function of `t`", span, path);
            return false;
        };
        let unit = if entry(node, "Angle", source).is_some() { Dimension::NONE } else { Dimension::LENGTH };
        let Some((value, _)) = self.expression(value, Scope::Time, Some(unit), &path.key("Value")) else { return false };
        let timed = !value.is_constant();
        let mut text = |key: &str| entry(node, key, source).and_then(|n| Some((self.text(n, &path.key(key))?, n.span)));
        match (text("Length"), text("Angle"), text("Slide")) {
            (Some((points, at)), None, None) => {
                let Some(ends) = self.two_points(parts, &points, at, &path.key("Length")) else { return false };
                let [from, to] = ends.map(|k| place_of(parts, k));
                spec.constraints.push((name.into(), ConstraintSpec::D { from, to, value: square(&value) }));
            }
            (None, Some((point, at)), None) => {
                let pair = entry(node, "Parts", source).map(|n| self.part_pair(parts, n, &path.key("Parts")));
                let Some((joint, turned)) = self.hinge_at(joined, &point, pair, at, &path.key("Angle")) else { return false };
                let value = if turned { negative(&value) } else { value };
                spec.drives.push((name.into(), DriveSpec { joint, quantity: DriveQuantity::Angle, value, inputs: Vec::new() }));
            }
            (None, None, Some((triple, at))) => {
                let Some(made) = joined.get(triple.as_str()).and_then(|l| l.first()).filter(|m| m.slide) else {
                    let d = Diagnostic::new("M063", format!("`{}` is not a slide that can be driven", shorten(&triple)));
                    let help = "name one of the `Collinears` whose vector both parts have; a pin in a slot of the plane has no coordinate to drive: prescribe an angle or a length";
                    self.problem(d.help(help).at(path.to_string()), at);
                    return false;
                };
                spec.drives.push((
                    name.into(),
                    DriveSpec { joint: made.name.clone(), quantity: DriveQuantity::Distance, value, inputs: Vec::new() },
                ));
            }
            _ => self.lacks(name, "one of `Length`, `Angle` and `Slide`", span, path),
        }
        timed
    }

    fn part_pair(&mut self, parts: &Parts<'_>, node: &Node, path: &Path<'_>) -> Option<[usize; 2]> {
        let items = self.items(node, Some(2), path)?;
        Some([self.part_of(parts, &items[0], &path.index(0))?, self.part_of(parts, &items[1], &path.index(1))?])
    }

    /// The hinge at a point, and whether its angle is counted from the second part of `pair` to the first.
    fn hinge_at(
        &mut self,
        joined: &Joined,
        point: &str,
        pair: Option<Option<[usize; 2]>>,
        span: Span,
        path: &Path<'_>,
    ) -> Option<(String, bool)> {
        let hinges: Vec<&Made> = joined.get(point).into_iter().flatten().filter(|m| m.hinge).collect();
        let (message, help) = match (pair, hinges.as_slice()) {
            // A pair that could not be read has already been reported.
            (Some(None), _) => return None,
            (None, [only]) => return Some((only.name.clone(), false)),
            (Some(Some([a, b])), list) => {
                let found = list.iter().find_map(|m| match m.parts {
                    [x, y] if [x, y] == [a, b] => Some((m.name.clone(), false)),
                    [x, y] if [x, y] == [b, a] => Some((m.name.clone(), true)),
                    _ => None,
                });
                if found.is_some() {
                    return found;
                }
                (format!("these two parts are not hinged to each other at `{}`", shorten(point)), "name two parts that meet there directly")
            }
            (None, []) => (
                format!("there is no hinge at `{}`", shorten(point)),
                "a hinge is a point shared by two parts in the plane; in space they share a vector along the hinge too",
            ),
            (None, _) => {
                (format!("several hinges meet at `{}`", shorten(point)), "select two: `Parts: [OA, AB]`; the fixed points are `ground`")
            }
        };
        self.problem(Diagnostic::new("M063", message).help(help).at(path.to_string()), span);
        None
    }

    /// Dissipation function: half the sum of `c rate^2` over rates of points, lengths and hinge angles. The force is minus its gradient.
    fn rayleigh(
        &mut self,
        parts: &Parts<'a>,
        joined: &Joined,
        node: &'a Node,
        path: &Path<'_>,
        spec: &mut ModelSpec,
        aliases: &mut Vec<(String, String)>,
    ) {
        if self.known_keys(node, &["Points", "Lengths", "Angles"], "`Rayleigh`", Some(path)).is_none() {
            return;
        }
        let source = self.source;
        for section in ["Points", "Lengths", "Angles"] {
            let group = path.key(section);
            for (key, n, span) in self.group(entry(node, section, source), &group) {
                let at = group.key(key);
                let unit = if section == "Angles" { Dimension::ROTARY_DAMPING } else { Dimension::DAMPING };
                let Some(c) = self.number(n, Some(unit), &at) else { continue };
                if c < 0.0 {
                    let d =
                        Diagnostic::new("M116", format!("the damping of `{}` is {c}", shorten(key))).help("damping must not be negative");
                    self.problem(d.at(at.to_string()), n.span);
                    continue;
                }
                let name = format!("damping_{key}");
                let law = SpringLaw::Linear { stiffness: 0.0, rest: 0.0, damping: c };
                let force = match section {
                    "Points" => {
                        let Some(point) = parts.find(key).filter(|k| is_point(key) && parts.local(*k, GROUND).is_none()) else {
                            self.unknown_item(parts, key, "a moving point", span, &at);
                            continue;
                        };
                        let force = [0, 1, 2].map(|axis| viscous(c, key, axis, parts.dimension));
                        ForceSpec::Force(PointForceSpec { on: place_of(parts, point), force, frame: ForceFrame::World })
                    }
                    "Lengths" => {
                        let Some(ends) = self.two_points(parts, key, span, &at) else { continue };
                        ForceSpec::Spring(SpringSpec { between: ends.map(|k| place_of(parts, k)), law, mass: 0.0 })
                    }
                    _ => {
                        if !matches!(tokens(key).as_deref(), Some([_])) {
                            self.bad_name(key, "a point", span, &at);
                            continue;
                        }
                        let Some((joint, _)) = self.hinge_at(joined, key, None, span, &at) else { continue };
                        ForceSpec::Torsion(TorsionSpec { joint, law })
                    }
                };
                aliases.push((format!("forces.{name}"), at.to_string()));
                spec.forces.push((name, force));
            }
        }
    }
}

/// An expression rewritten by `text`, its variables unchanged.
fn wrapped(e: &Expr, text: impl Fn(&str) -> String) -> Expr {
    let body = e.to_text(|k| format!("v{k}"));
    let parsed = Expr::parse(&text(&body), &mut |name| name.strip_prefix('v')?.parse().ok().map(Symbol::Variable));
    // The added parentheses may exceed the limit of the parser: the engine rejects NaN with the name of the element.
    parsed.unwrap_or_else(|_| Expr::constant(f64::NAN))
}

fn negative(e: &Expr) -> Expr {
    wrapped(e, |x| format!("-({x})"))
}

fn square(e: &Expr) -> Expr {
    wrapped(e, |x| format!("({x})^2"))
}

/// One component of `-c v` of a point.
fn viscous(c: f64, point: &str, axis: usize, dimension: usize) -> StateExpr {
    if axis >= dimension {
        return StateExpr::constant(0.0);
    }
    let expr = wrapped(&Expr::constant(c), |c| format!("-{c}*v0"));
    StateExpr { expr, variables: vec![StateVariable::PointVelocity(point.into(), axis)] }
}
