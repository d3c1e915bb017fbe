//! Contacts in the format of this program.

use super::yaml::{Group, items, list, quoted};
use fourbar::spec::{ContactSpec, Partners, Side, SideForm, SideSpec};

/// A contact.
pub(super) fn contact(c: &ContactSpec) -> Group {
    let mut g = Group::default();
    match &c.partners {
        Partners::Between(sides) => {
            g.put("between", items(sides.iter().map(|s| side(s).line())));
        }
        Partners::Among { bodies, at, radius } => {
            g.put("among", items(bodies.iter().map(|b| quoted(b)))).unless_zero("at", at).number("radius", *radius);
        }
    }
    let numbers = [("restitution", c.restitution), ("stiffness", c.stiffness), ("exponent", c.exponent), ("speed", c.speed)];
    for (key, x) in numbers.into_iter().filter_map(|(k, x)| x.map(|x| (k, x))) {
        g.number(key, x);
    }
    if let Some(law) = c.law {
        g.put("law", law.word());
    }
    if let Some(f) = &c.friction {
        let mut inner = Group::default();
        inner.number("coulomb", f.coulomb);
        f.fixed.into_iter().for_each(|x| {
            inner.number("static", x);
        });
        f.speed.into_iter().for_each(|x| {
            inner.number("speed", x);
        });
        g.put("friction", inner.line());
    }
    g
}

fn side(s: &SideSpec) -> Group {
    let mut g = Group::default();
    match s.bodies.as_slice() {
        [one] => g.put("body", quoted(one)),
        several => g.put("bodies", items(several.iter().map(|b| quoted(b)))),
    };
    match &s.form {
        SideForm::Ball { at, radius, inside } => {
            g.unless_zero("at", at).number("radius", *radius);
            flag(&mut g, *inside);
        }
        SideForm::Rim { at, axis, radius } => {
            g.unless_zero("at", at).list("axis", axis).number("radius", *radius);
        }
        SideForm::Corners { points, radius } => {
            g.put("corners", items(points.iter().map(|p| list(p)))).unless_zero("radius", &[*radius]);
        }
        SideForm::Box { at, size, inside } => {
            g.unless_zero("at", at).list("box", size);
            flag(&mut g, *inside);
        }
        SideForm::Polygon { points } => {
            g.put("polygon", items(points.iter().map(|p| list(p))));
        }
        SideForm::Plane { at, normal } => {
            let mut plane = Group::default();
            plane.unless_zero("at", at).list("normal", normal);
            g.put("plane", plane.line());
        }
        SideForm::Curve { curve, side, depth } => {
            g.put("curve", quoted(curve));
            if let Some(side) = side {
                g.put("side", if *side == Side::Left { "left" } else { "right" });
            }
            depth.iter().for_each(|d| {
                g.number("depth", *d);
            });
        }
    }
    g
}

fn flag(g: &mut Group, inside: bool) {
    if inside {
        g.put("inside", "true");
    }
}
