//! Reads contacts.

use super::{Path, Reader};
use crate::keys::{CONTACT, CONTACT_FRICTION, SIDE, SIDE_PLANE};
use crate::tree::{Content, Node, Text};
use fourbar::Diagnostic;
use fourbar::expr::Dimension;
use fourbar::spec::{ContactFriction, ContactSpec, LawName, Partners, Side, SideForm, SideSpec, V3};

/// Body, point and normal of a plane as written.
pub(crate) type SidePlane = (Option<String>, V3, V3);

impl Reader<'_> {
    /// A contact of the section `contacts`.
    pub(crate) fn contact(&mut self, key: &Text, node: &Node, path: &Path<'_>) -> Option<ContactSpec> {
        let x = self.record(&CONTACT, key, node, path, &[])?;
        if x.broken {
            return None;
        }
        let partners = match (x.sides("between"), x.names("among")) {
            (Some(_), Some(_)) => {
                let span = x.span_of("among");
                let message = format!("contact `{}` has both `between` and `among`", x.name);
                self.conflict(message, "`among` is for balls that touch each other: keep one", span, path);
                return None;
            }
            (Some(sides), None) => {
                for key in ["at", "radius"] {
                    if x.has(key) {
                        let message = format!("contact `{}` has both `between` and `{key}`", x.name);
                        self.conflict(
                            message,
                            &format!("`{key}` belongs in a side: `between: [{{body: B, {key}: ...}}, ...]`"),
                            x.span_of(key),
                            path,
                        );
                        return None;
                    }
                }
                Partners::Between(sides)
            }
            (None, Some(bodies)) => {
                let Some(radius) = x.number("radius") else {
                    self.missing_keys(&CONTACT, &["radius"], x.span, path);
                    return None;
                };
                Partners::Among { bodies, at: x.vector("at").unwrap_or_default(), radius }
            }
            (None, None) => {
                if !x.misspells("between") && !x.misspells("among") {
                    let d = Diagnostic::new("M013", format!("contact `{}` does not define its two sides", x.name))
                        .help(
                            "give `between: [{body: A, radius: 10 mm}, {plane: {normal: [0, 0, 1]}}]`, or `among: [ball*]` with a `radius`",
                        )
                        .at(path.to_string());
                    self.problem(d, x.span);
                }
                return None;
            }
        };
        Some(ContactSpec {
            partners,
            restitution: x.number("restitution"),
            friction: x.friction("friction"),
            stiffness: x.number("stiffness"),
            exponent: x.number("exponent"),
            law: x.text("law").as_deref().and_then(LawName::of),
            speed: x.number("speed"),
        })
    }

    /// The two sides of a contact.
    pub(crate) fn sides(&mut self, node: &Node, key: &Text, path: &Path<'_>) -> Option<Box<[SideSpec; 2]>> {
        let items = self.items(node, Some(2), path)?;
        let sides: Vec<_> = items.iter().enumerate().map(|(i, n)| self.side(n, key, &path.index(i))).collect();
        let sides: Option<Vec<_>> = sides.into_iter().collect();
        Some(Box::new(sides?.try_into().ok()?))
    }

    fn side(&mut self, node: &Node, key: &Text, path: &Path<'_>) -> Option<SideSpec> {
        let span = self.one_line(node);
        let x = self.record(&SIDE, key, node, path, &[])?;
        if x.broken {
            return None;
        }
        // The keys that define the shape: at most one of these.
        let shapes: Vec<&str> = ["axis", "corners", "box", "polygon", "plane", "curve"].into_iter().filter(|k| x.has(k)).collect();
        if let [first, second, ..] = shapes.as_slice() {
            self.conflict(
                format!("a side of a contact has both `{first}` and `{second}`"),
                "give each shape a separate contact",
                span,
                path,
            );
            return None;
        }
        let plane = x.side_plane("plane");
        let mut bodies = x.names("bodies").unwrap_or_default();
        bodies.extend(x.text("body"));
        bodies.extend(plane.as_ref().and_then(|p| p.0.clone()));
        let given = [x.has("bodies"), x.has("body"), plane.as_ref().is_some_and(|p| p.0.is_some())].iter().filter(|g| **g).count();
        if given > 1 {
            self.conflict("a side of a contact names its body twice".into(), "give `body` or `bodies` once", span, path);
            return None;
        }
        if given == 0 {
            if plane.is_none() {
                self.missing_keys(&SIDE, &["body"], span, path);
                return None;
            }
            bodies.push("ground".into());
        }
        let (at, radius) = (x.vector("at").unwrap_or_default(), x.number("radius"));
        let inside = x.flag("inside").unwrap_or(false);
        let shape = shapes.first().copied().unwrap_or("radius");
        let used: &[&str] = match shape {
            "axis" => &["at", "radius"],
            "corners" => &["radius"],
            "box" => &["at", "inside"],
            "curve" => &["side", "depth"],
            "polygon" | "plane" => &[],
            _ => &["at", "radius", "inside"],
        };
        for idle in ["at", "radius", "inside", "side", "depth"] {
            if x.has(idle) && !used.contains(&idle) {
                let message = format!("`{idle}` has no effect on a side with `{shape}`");
                self.conflict(message, "leave it out", x.span_of(idle), path);
                return None;
            }
        }
        let form = match shape {
            "axis" => {
                let Some(radius) = radius else {
                    self.missing_keys(&SIDE, &["radius"], span, path);
                    return None;
                };
                SideForm::Rim { at, axis: x.vector("axis")?, radius }
            }
            "corners" => SideForm::Corners { points: x.points("corners")?, radius: radius.unwrap_or(0.0) },
            "box" => SideForm::Box { at, size: x.vector("box")?, inside },
            "polygon" => SideForm::Polygon { points: x.points("polygon")? },
            "plane" => plane.map(|(_, at, normal)| SideForm::Plane { at, normal })?,
            "curve" => SideForm::Curve {
                curve: x.text("curve")?,
                side: x.text("side").map(|s| if s == "left" { Side::Left } else { Side::Right }),
                depth: x.number("depth"),
            },
            _ => SideForm::Ball { at, radius: radius.unwrap_or(0.0), inside },
        };
        Some(SideSpec { bodies, form })
    }

    /// The plane of a side.
    pub(crate) fn side_plane(&mut self, node: &Node, key: &Text, path: &Path<'_>) -> Option<SidePlane> {
        let x = self.record(&SIDE_PLANE, key, node, path, &[])?;
        let plane = (x.text("body"), x.vector("at").unwrap_or_default(), x.vector("normal").unwrap_or([0.0, 0.0, 1.0]));
        (!x.broken).then_some(plane)
    }

    /// Friction: a coefficient, or a group.
    pub(crate) fn contact_friction(&mut self, node: &Node, key: &Text, path: &Path<'_>) -> Option<ContactFriction> {
        if !matches!(node.content, Content::Map(_)) {
            let coulomb = self.number(node, Some(Dimension::NONE), path)?;
            return Some(ContactFriction { coulomb, fixed: None, speed: None });
        }
        let x = self.record(&CONTACT_FRICTION, key, node, path, &[])?;
        if x.broken {
            return None;
        }
        let (fixed, speed) = (x.number("static"), x.number("speed"));
        // A coefficient of static friction alone also applies to sliding.
        Some(ContactFriction { coulomb: x.number("coulomb").or(fixed).unwrap_or(0.0), fixed, speed })
    }
}
