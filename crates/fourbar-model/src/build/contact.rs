//! Contacts: bodies by name or pattern, shapes on them, and the supported pairs.

use super::{Builder, v3};
use crate::contact::*;
use crate::coordinate::PoseOf;
use crate::diagnostic::{Diagnostic, number};
use crate::force::{Contact, Force};
use crate::model::{BodyId, CurveOn, Model, RigidContact};
use crate::spec::{Side, V3};
use fourbar_math::so3;
use nalgebra::{Matrix3, Vector2, Vector3};

/// Speed below which friction of compliant contacts is smoothed, m/s.
const FRICTION_SPEED: f64 = 1e-3;
/// Exponent of the overlap for round bodies.
const EXPONENT: f64 = 1.5;
/// Default restitution of compliant contacts.
const RESTITUTION: f64 = 0.3;
/// The least restitution of a compliant contact.
const LEAST_RESTITUTION: f64 = 0.01;
/// Largest number of spots of one contact; for more, use `among`.
const MOST_SPOTS: usize = 200_000;
/// Approach speed, m/s, if the drawn position does not determine one.
const SPEED: f64 = 1.0;

/// A side on one body.
type Placed<'s> = (BodyId, &'s SideForm);

impl Builder<'_> {
    pub(super) fn contacts(&mut self, model: &mut Model) {
        let spec = self.spec;
        for (name, contact) in &spec.contacts {
            let path = format!("contacts.{name}");
            let before = self.errors.len();
            let spots = self.spots(model, &path, contact);
            let law = self.contact_law(&path, contact);
            let (Some(spots), Some(law)) = (spots, law) else { continue };
            if self.errors.len() > before {
                continue;
            }
            let restitution = contact.restitution;
            let Some(stiffness) = contact.stiffness else {
                let restitution = restitution.unwrap_or(0.0);
                model.contacts.push(RigidContact { name: name.clone(), spots, restitution, friction: law });
                continue;
            };
            let e = restitution.unwrap_or(RESTITUTION);
            let speed = contact.speed.unwrap_or_else(|| drawn_speed(model, &spots));
            let chi = damping_factor(contact.law.unwrap_or_default(), e) / speed;
            let law = Compliant { K: stiffness, n: contact.exponent.unwrap_or(EXPONENT), chi, friction: law };
            model.forces.push((name.clone(), Force::Contact(Contact::new(model, spots, law, speed))));
        }
    }

    /// Bodies that match names and patterns.
    fn meant(&mut self, path: &str, patterns: &[String]) -> Option<Vec<BodyId>> {
        let mut list = Vec::new();
        for pattern in patterns {
            if !pattern.contains('*') {
                list.push(self.find_body(path, pattern)?);
                continue;
            }
            let bodies = self.spec.bodies.iter().enumerate().filter(|(_, (name, _))| matches(pattern, name));
            let found: Vec<BodyId> = bodies.map(|(k, _)| BodyId(k as u32 + 1)).collect();
            if found.is_empty() {
                let d = Diagnostic::new("M151", format!("no body has a name like `{pattern}`"));
                self.error(d.at(path).name(pattern).help("`*` matches any characters; bodies are declared under `bodies:`"));
                return None;
            }
            list.extend(found);
        }
        let mut seen = std::collections::HashSet::new();
        list.retain(|b| seen.insert(*b));
        if list.is_empty() {
            let d = Diagnostic::new("M151", "the contact names no body").at(path);
            self.error(d.help("name bodies, or give a pattern such as `ball*`"));
            return None;
        }
        Some(list)
    }

    fn spots(&mut self, model: &Model, path: &str, contact: &ContactSpec) -> Option<Spots> {
        match &contact.partners {
            Partners::Among { bodies, at, radius } => {
                let bodies = self.meant(&format!("{path}.among"), bodies)?;
                if !self.finite(path, &[at[0], at[1], at[2], *radius]) {
                    return None;
                }
                if *radius <= 0.0 {
                    self.error(bad_number(path, "radius", *radius, "balls that touch each other must have a positive radius, in metres"));
                    return None;
                }
                let ball = |b: &BodyId| Ball { body: b.index(), s: v3(at) - model.bodies[b.index()].com, radius: *radius };
                let balls: Vec<Ball> = bodies.iter().filter(|b| **b != BodyId::GROUND).map(ball).collect();
                if balls.len() < 2 {
                    let d = Diagnostic::new("M151", "`among` needs at least two balls").at(format!("{path}.among"));
                    self.error(d.help("name more bodies, or use `between`"));
                    return None;
                }
                Some(Spots::Among(Among::new(balls, joined(model))))
            }
            Partners::Between(sides) => {
                let [a, b] = &**sides;
                let [at_a, at_b] = [0, 1].map(|k| format!("{path}.between[{k}]"));
                let (bodies_a, bodies_b) = (self.meant(&at_a, &a.bodies), self.meant(&at_b, &b.bodies));
                let good = self.side_numbers(&at_a, &a.form) & self.side_numbers(&at_b, &b.form);
                let (bodies_a, bodies_b) = (bodies_a?, bodies_b?);
                if !good {
                    return None;
                }
                let mut spots = Vec::new();
                for i in &bodies_a {
                    for j in bodies_b.iter().filter(|j| *j != i) {
                        spots.extend(self.touching(model, path, (*i, &a.form), (*j, &b.form))?);
                        if spots.len() > MOST_SPOTS {
                            let d = Diagnostic::new("M152", format!("the contact has more than {MOST_SPOTS} places to watch")).at(path);
                            self.error(d.help("name fewer bodies; for many balls among each other use `among`"));
                            return None;
                        }
                    }
                }
                if spots.is_empty() {
                    let d = Diagnostic::new("M107", "both sides of the contact are on the same body").at(format!("{path}.between"));
                    self.error(d.help("a contact must be between two different bodies"));
                    return None;
                }
                Some(Spots::Listed(spots))
            }
        }
    }

    /// Checks the numbers of a shape.
    fn side_numbers(&mut self, path: &str, form: &SideForm) -> bool {
        let (numbers, radius): (Vec<f64>, Option<f64>) = match form {
            SideForm::Ball { at, radius, .. } => (at.to_vec(), Some(*radius)),
            SideForm::Rim { at, axis, radius } => ([*at, *axis].concat(), Some(*radius)),
            SideForm::Corners { points, radius } => (points.concat(), Some(*radius)),
            SideForm::Box { at, size, .. } => ([*at, *size].concat(), None),
            SideForm::Polygon { points } => (points.concat(), None),
            SideForm::Plane { at, normal } => ([*at, *normal].concat(), None),
            SideForm::Curve { depth, .. } => (depth.iter().copied().collect(), None),
        };
        if !self.finite(path, &numbers) || !self.finite(path, &radius.into_iter().collect::<Vec<_>>()) {
            return false;
        }
        let strictly = matches!(form, SideForm::Rim { .. } | SideForm::Ball { inside: true, .. });
        if let Some(r) = radius.filter(|r| *r < 0.0 || (strictly && *r == 0.0)) {
            self.error(bad_number(path, "radius", r, "give a positive radius in metres; a point has radius 0"));
            return false;
        }
        if let SideForm::Box { size, .. } = form
            && let Some(edge) = size.iter().find(|x| **x <= 0.0)
        {
            self.error(bad_number(path, "box", *edge, "give the three edge lengths of the box in metres"));
            return false;
        }
        match form {
            SideForm::Rim { axis, .. } => self.direction(&format!("{path}.axis"), axis).is_some(),
            SideForm::Plane { normal, .. } => self.direction(&format!("{path}.plane.normal"), normal).is_some(),
            SideForm::Polygon { points } => self.polygon(path, Vector3::zeros(), points).is_some(),
            _ => true,
        }
    }

    /// Spots between shapes on two bodies.
    fn touching(&mut self, model: &Model, path: &str, a: Placed<'_>, b: Placed<'_>) -> Option<Vec<Spot>> {
        use SideForm as F;
        let solid = |f: &F| matches!(f, F::Ball { inside: false, .. });
        let hollow = |f: &F| matches!(f, F::Ball { inside: true, .. } | F::Box { inside: true, .. });
        let cornered = |f: &F| matches!(f, F::Corners { .. } | F::Box { inside: false, .. });
        let polygon = |f: &F| matches!(f, F::Polygon { .. });
        let plane = |f: &F| matches!(f, F::Plane { .. });
        let curve = |f: &F| matches!(f, F::Curve { .. });
        let rim = |f: &F| matches!(f, F::Rim { .. });
        let box_in = |f: &F| matches!(f, F::Box { inside: true, .. });
        // Whether the first may be the rounded part and the second the surface.
        let fits = |a: &F, b: &F| {
            (solid(a) && (plane(b) || solid(b) || hollow(b) || curve(b) || polygon(b)))
                || (cornered(a) && (plane(b) || curve(b) || polygon(b) || hollow(b)))
                || (polygon(a) && (plane(b) || hollow(b)))
                || (rim(a) && (plane(b) || box_in(b)))
                || (curve(a) && (plane(b) || curve(b) || box_in(b)))
        };
        if polygon(a.1) && polygon(b.1) {
            let mut spots = self.spots_of(model, path, a, b, false)?;
            spots.extend(self.spots_of(model, path, b, a, true)?);
            return Some(spots);
        }
        if fits(a.1, b.1) {
            return self.spots_of(model, path, a, b, false);
        }
        if fits(b.1, a.1) {
            return self.spots_of(model, path, b, a, true);
        }
        let d = Diagnostic::new("M150", format!("contact between {} and {} is not supported", a.1.name(), b.1.name()))
            .at(format!("{path}.between"));
        // An edge could penetrate the curve between its corners.
        let help = if (polygon(a.1) && curve(b.1)) || (curve(a.1) && polygon(b.1)) {
            "use `plane` for a flat edge, `corners` where corners alone touch, or a `curve` for the whole outline"
        } else {
            "the supported pairs are: balls and points on planes, balls, hollow balls, curves and polygons; corners and boxes on planes, curves and polygons; polygons on planes and polygons; rims on planes; curves on planes and curves; all but planes inside a hollow box"
        };
        self.error(d.help(help));
        None
    }

    fn spots_of(&mut self, model: &Model, path: &str, a: Placed<'_>, b: Placed<'_>, swapped: bool) -> Option<Vec<Spot>> {
        let com = |id: BodyId| model.bodies[id.index()].com;
        let corner = |p: &V3, radius: f64| First::Ball { s: v3(p) - com(a.0), radius };
        // Point of the first body that determines on which side of a curve it is drawn.
        let firsts: Vec<First> = match a.1 {
            SideForm::Ball { at, radius, .. } => vec![corner(at, *radius)],
            SideForm::Corners { points, radius } => points.iter().map(|p| corner(p, *radius)).collect(),
            SideForm::Polygon { points } => points.iter().map(|p| corner(p, 0.0)).collect(),
            SideForm::Box { at, size, .. } => box_corners(at, size).iter().map(|p| corner(p, 0.0)).collect(),
            SideForm::Rim { at, axis, radius } => {
                vec![First::Rim { s: v3(at) - com(a.0), e: self.direction(path, axis)?, radius: *radius }]
            }
            SideForm::Curve { curve, depth, .. } => {
                let on = self.find_curve(model, &format!("{path}.between"), curve)?;
                vec![First::Curve(Box::new(outline(on, com(a.0), 1.0, depth.unwrap_or(f64::INFINITY))))]
            }
            SideForm::Plane { .. } => return None,
        };
        let drawn = |id: BodyId, s: &Vector3<f64>| model.bodies[id.index()].r + model.bodies[id.index()].A * s;
        let middle = firsts.iter().map(|f| drawn(a.0, &place(f))).sum::<Vector3<f64>>() / firsts.len() as f64;
        let largest = firsts.iter().fold(0.0_f64, |m, f| m.max(if let First::Ball { radius, .. } = f { *radius } else { 0.0 }));
        let seconds: Vec<Second> = match b.1 {
            SideForm::Plane { at, normal } => vec![Second::Plane { s: v3(at) - com(b.0), n: self.direction(path, normal)? }],
            SideForm::Ball { at, radius, inside } => {
                if *inside && largest >= *radius {
                    let d = Diagnostic::new(
                        "M152",
                        format!("a ball of radius {} m is not inside one of {} m", number(largest), number(*radius)),
                    );
                    self.error(d.at(format!("{path}.between")).help("the hollow needs the larger radius"));
                    return None;
                }
                vec![Second::Ball { s: v3(at) - com(b.0), radius: *radius, hollow: *inside }]
            }
            SideForm::Box { at, size, .. } => (0..6).map(|k| wall(at, size, com(b.0), k)).collect(),
            SideForm::Polygon { points } => vec![Second::Polygon(Box::new(self.polygon(path, com(b.0), points)?))],
            SideForm::Curve { curve, side, depth } => {
                let on = self.find_curve(model, &format!("{path}.between"), curve)?;
                let depth = depth.unwrap_or(if on.curve.closed() { f64::INFINITY } else { largest.max(0.05 * on.curve.length()) });
                let mut o = outline(on, com(b.0), 1.0, depth);
                let body = &model.bodies[b.0.index()];
                let seen = o.R.tr_mul(&(body.A.tr_mul(&(middle - body.r)) - o.s)).xy();
                o.sign = match side {
                    Some(Side::Left) => 1.0,
                    Some(Side::Right) => -1.0,
                    None => {
                        if o.curve.near(&seen).d >= 0.0 {
                            1.0
                        } else {
                            -1.0
                        }
                    }
                };
                vec![Second::Curve(Box::new(o))]
            }
            SideForm::Corners { .. } | SideForm::Rim { .. } => return None,
        };
        let bodies = [a.0.index(), b.0.index()];
        let mut spots = Vec::with_capacity(firsts.len() * seconds.len());
        for first in &firsts {
            spots.extend(seconds.iter().map(|second| Spot { bodies, first: first.clone(), second: second.clone(), swapped }));
        }
        Some(spots)
    }

    /// A polygon in its plane, corners counter-clockwise.
    fn polygon(&mut self, path: &str, com: Vector3<f64>, points: &[V3]) -> Option<Polygon> {
        let bad = |b: &mut Self, what: &str| {
            let d = Diagnostic::new("M153", format!("the polygon {what}")).at(format!("{path}.polygon"));
            b.error(d.help("give at least three corners of a convex polygon in one plane, in order"));
            None
        };
        if points.len() < 3 {
            return bad(self, &format!("has {} corners", points.len()));
        }
        let points: Vec<Vector3<f64>> = points.iter().map(v3).collect();
        let middle = points.iter().sum::<Vector3<f64>>() / points.len() as f64;
        let size = points.iter().fold(0.0_f64, |m, p| m.max((p - middle).norm()));
        let next = |k: usize| points[(k + 1) % points.len()];
        let area: Vector3<f64> = (0..points.len()).map(|k| (points[k] - middle).cross(&(next(k) - middle))).sum();
        if area.norm() < 1e-9 * size * size {
            return bad(self, "has no area");
        }
        let R = so3::frame_from_z(&area.normalize());
        if points.iter().any(|p| R.column(2).dot(&(p - middle)).abs() > 1e-6 * size) {
            return bad(self, "does not lie in one plane");
        }
        let flat: Vec<Vector2<f64>> = points.iter().map(|p| R.tr_mul(&(p - middle)).xy()).collect();
        let turn = |k: usize| {
            let [a, b, c] = [0, 1, 2].map(|j| flat[(k + j) % flat.len()]);
            (b - a).perp(&(c - b)) / (b - a).norm().max(1e-300) / (c - b).norm().max(1e-300)
        };
        if (0..flat.len()).any(|k| (flat[k] - flat[(k + 1) % flat.len()]).norm() < 1e-9 * size) {
            return bad(self, "has two coincident corners");
        }
        if (0..flat.len()).any(|k| turn(k) < -1e-9) {
            return bad(self, "is not convex");
        }
        Some(Polygon { s: middle - com, R, points: flat })
    }

    /// Checks the numbers of the law and returns the friction.
    fn contact_law(&mut self, path: &str, c: &ContactSpec) -> Option<Friction> {
        let before = self.errors.len();
        let given = [("restitution", c.restitution), ("stiffness", c.stiffness), ("exponent", c.exponent), ("speed", c.speed)];
        for (key, x) in given.iter().filter_map(|(k, x)| x.map(|x| (*k, x))) {
            let at = format!("{path}.{key}");
            if self.finite(&at, &[x]) && key != "restitution" && x <= 0.0 {
                self.error(bad_number(path, key, x, "give a positive number"));
            }
        }
        if let Some(e) = c.restitution.filter(|e| !(0.0..=1.0).contains(e)) {
            self.error(bad_number(path, "restitution", e, "bodies separate with 0 to 1 times their approach speed"));
        } else if let (Some(e), Some(_)) = (c.restitution.filter(|e| *e < LEAST_RESTITUTION), c.stiffness) {
            let help = "the restitution of a compliant contact must be at least 0.01; omit `stiffness` for a rigid contact";
            self.error(bad_number(path, "restitution", e, help));
        }
        if let Some(n) = c.exponent.filter(|n| *n < 1.0 || *n > 10.0) {
            self.error(bad_number(path, "exponent", n, "1 for flat, 1.5 for round bodies; up to 10"));
        }
        if c.stiffness.is_none() {
            let slip = c.friction.is_some_and(|f| f.speed.is_some());
            let unused =
                [("exponent", c.exponent.is_some()), ("law", c.law.is_some()), ("speed", c.speed.is_some()), ("friction.speed", slip)];
            for (key, _) in unused.iter().filter(|u| u.1) {
                let d = Diagnostic::new("M154", format!("`{key}` belongs to a compliant contact, and this one is rigid"));
                self.error(d.at(format!("{path}.{key}")).help("give a `stiffness` in N/m^exponent, or omit the key"));
            }
        }
        let f = c.friction.unwrap_or(FrictionSpec { coulomb: 0.0, fixed: None, speed: None });
        let numbers = [("coulomb", Some(f.coulomb)), ("static", f.fixed), ("speed", f.speed)];
        for (key, x) in numbers.iter().filter_map(|(k, x)| x.map(|x| (*k, x))) {
            let at = format!("{path}.friction.{key}");
            if self.finite(&at, &[x]) && (x < 0.0 || (key == "speed" && x == 0.0)) {
                self.error(bad_number(
                    &format!("{path}.friction"),
                    key,
                    x,
                    "coefficients must not be negative, and the speed must be positive",
                ));
            }
        }
        if let Some(fixed) = f.fixed.filter(|x| *x < f.coulomb) {
            let help = "static friction is at least sliding friction";
            self.error(bad_number(&format!("{path}.friction"), "static", fixed, help));
        }
        (self.errors.len() == before).then(|| Friction {
            mu: f.coulomb,
            fixed: f.fixed.unwrap_or(f.coulomb),
            speed: f.speed.unwrap_or(FRICTION_SPEED),
        })
    }
}

fn bad_number(path: &str, key: &str, x: f64, help: &str) -> Diagnostic {
    Diagnostic::new("M152", format!("{key} is {}, which is not allowed for a contact", number(x))).at(format!("{path}.{key}")).help(help)
}

/// Whether a name matches a pattern, in which `*` represents any characters.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(k) => rest = &rest[k + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Pairs of bodies that a joint connects, each in order.
fn joined(model: &Model) -> Vec<[usize; 2]> {
    let mut list: Vec<[usize; 2]> = model.joints.iter().map(|j| j.bodies.map(|b| b.index())).map(|[a, b]| [a.min(b), a.max(b)]).collect();
    list.sort_unstable();
    list.dedup();
    list
}

fn box_corners(at: &V3, size: &V3) -> [V3; 8] {
    std::array::from_fn(|k| std::array::from_fn(|i| at[i] + size[i] * if k >> i & 1 == 1 { 0.5 } else { -0.5 }))
}

/// A wall of a hollow box, seen from inside.
fn wall(at: &V3, size: &V3, com: Vector3<f64>, k: usize) -> Second {
    let (axis, sign) = (k / 2, if k.is_multiple_of(2) { 1.0 } else { -1.0 });
    let (mut s, mut n) = (v3(at) - com, Vector3::zeros());
    s[axis] -= 0.5 * sign * size[axis];
    n[axis] = sign;
    Second::Plane { s, n }
}

fn outline(on: &CurveOn, com: Vector3<f64>, sign: f64, depth: f64) -> Outline {
    Outline::new(on.curve.clone(), on.at - com, on.R, sign, depth)
}

/// A point that represents the first side, body axes from the centre of mass.
fn place(first: &First) -> Vector3<f64> {
    match first {
        First::Ball { s, .. } | First::Rim { s, .. } => *s,
        First::Curve(o) => {
            let middle = o.curve.points().iter().sum::<Vector2<f64>>() / o.curve.points().len() as f64;
            o.s + o.R * Vector3::new(middle.x, middle.y, 0.0)
        }
    }
}

/// Largest speed at which the gap of a spot closes in free fall from the drawn position and velocities.
fn drawn_speed(model: &Model, spots: &Spots) -> f64 {
    let Spots::Listed(list) = spots else { return SPEED };
    let mut fastest = 0.0_f64;
    for s in list {
        let [a, b] = s.bodies.map(|k| &model.bodies[k]);
        let pose = |b: &crate::model::Body| PoseOf { r: b.r, A: Matrix3::from(b.A) };
        let touch = s.touch(&pose(a), &pose(b));
        if touch.gap < 0.0 || touch.n == Vector3::zeros() {
            continue;
        }
        let at = |b: &crate::model::Body| b.v + b.omega.cross(&(touch.p - b.r));
        let fall = |b: &crate::model::Body| if b.mass > 0.0 { touch.n.dot(&model.gravity) } else { 0.0 };
        let (rate, pull) = (touch.n.dot(&(at(a) - at(b))), fall(a) - fall(b));
        let square = rate * rate - 2.0 * pull * touch.gap;
        if square > 0.0 && (pull < 0.0 || rate < 0.0) {
            fastest = fastest.max(square.sqrt());
        }
    }
    if fastest > 1e-3 { fastest } else { SPEED }
}

#[cfg(test)]
mod tests {
    #[test]
    fn patterns_stand_for_any_letters() {
        for (pattern, name, like) in [
            ("ball*", "ball12", true),
            ("ball*", "ball", true),
            ("ball*", "a_ball", false),
            ("*ball", "a_ball", true),
            ("l*k", "link", true),
            ("l*k", "links", false),
            ("a*b*c", "a_b_b_c", true),
            ("a*b*c", "acb", false),
            ("*", "x", true),
        ] {
            assert_eq!(super::matches(pattern, name), like, "{pattern} {name}");
        }
    }
}
