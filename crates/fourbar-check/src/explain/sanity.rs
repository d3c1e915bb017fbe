//! Data that are possible but implausible: a pin of two kilograms, an inertia in other units, millimetres for metres.
//!
//! A body is compared with its geometry: its joints, forces, named points and shapes, as seen from the centre of mass.

use fourbar::diagnostic::{Diagnostic, number};
use fourbar::event::Bounded;
use fourbar::force::{Force, bodies_read};
use fourbar::model::{BodyId, Model};
use fourbar::spec::Shape;
use nalgebra::Vector3;

/// Density above that of osmium, kg/m^3.
const DENSEST: f64 = 23_000.0;
/// Least mean density in the enclosing ball, kg/m^3.
const THINNEST: f64 = 1e-4;
/// Ratio of radius of gyration to reach of the body: outside these limits the inertia is implausible.
const WIDE: f64 = 8.0;
const NARROW: f64 = 1.0 / 40.0;
/// A reach below this share of the characteristic length is zero.
const ROUNDING: f64 = 1e-9;

/// Reach of each body from its centre of mass, and the volume of its solid shapes.
fn reaches(model: &Model) -> Vec<(f64, f64)> {
    let mut list = vec![(0.0_f64, 0.0_f64); model.bodies.len()];
    let mut touch = |b: BodyId, s: &Vector3<f64>| list[b.index()].0 = list[b.index()].0.max(s.norm());
    for j in &model.joints {
        touch(j.bodies[0], &j.F.s);
        touch(j.bodies[1], &j.M.s);
    }
    for (_, f) in &model.forces {
        f.touches().places.iter().for_each(|p| touch(p.body, &p.s));
    }
    for (_, p) in &model.points {
        touch(p.body, &p.s);
    }
    for (b, body) in model.bodies.iter().enumerate() {
        for shape in &body.shapes {
            let (points, radius, volume) = extent(shape);
            for p in points {
                list[b].0 = list[b].0.max((p - body.com).norm() + radius);
            }
            list[b].1 += volume;
        }
    }
    list
}

/// Outermost points of a shape, how far it extends beyond them, and its volume.
fn extent(shape: &Shape) -> (Vec<Vector3<f64>>, f64, f64) {
    use std::f64::consts::PI;
    let v = |p: &[f64; 3]| Vector3::from(*p);
    match shape {
        Shape::Box { size, at } => {
            let half = v(size) / 2.0;
            let corner = |k: usize| v(at) + Vector3::from_fn(|i, _| if k >> i & 1 == 1 { half[i] } else { -half[i] });
            ((0..8).map(corner).collect(), 0.0, size.iter().product())
        }
        Shape::Cylinder { from, to, radius } | Shape::Rod { from, to, radius } => {
            let length = (v(to) - v(from)).norm();
            (vec![v(from), v(to)], *radius, PI * radius * radius * length)
        }
        Shape::Sphere { at, radius } => (vec![v(at)], *radius, 4.0 / 3.0 * PI * radius.powi(3)),
        Shape::Plate { points, thickness } => {
            let first = points.first().map_or(Vector3::zeros(), v);
            let area = points.windows(2).fold(Vector3::zeros(), |a, w| a + (v(&w[0]) - first).cross(&(v(&w[1]) - first)));
            (points.iter().map(v).collect(), 0.0, 0.5 * area.norm() * thickness)
        }
        Shape::Mesh { .. } => (Vec::new(), 0.0, 0.0),
    }
}

/// Warnings about implausible data of a mechanism.
pub fn sanity(model: &Model) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    for (b, (reach, volume)) in reaches(model).into_iter().enumerate().skip(1) {
        // Positions that coincide with the centre of mass up to rounding give no reach.
        let reach = if reach < ROUNDING * model.length { 0.0 } else { reach };
        let body = &model.bodies[b];
        let J = body.J_bar.symmetric_eigenvalues().max().max(0.0);
        let gyration = (J / body.mass).sqrt();
        mass(&mut out, &body.name, body.mass, reach.max(1.3 * gyration), reach, volume);
        inertia(&mut out, &body.name, body.mass, J, gyration, reach);
    }
    out.extend(gravity(model));
    out.extend(passed_limits(model));
    out.extend(one_sided(model));
    out
}

/// Forces on one body that depend on the motions of that body and of another one, on which no reaction acts: a cam or a contact modelled by
/// a `force` would move the follower without a reaction.
fn one_sided(model: &Model) -> Vec<Diagnostic> {
    // Each force on a single body with the bodies that it depends on.
    let on_one = |f: &Force| match f {
        Force::Point(p) => Some(p.on.body.index()),
        Force::Torque(t) => Some(t.body.index()),
        _ => None,
    };
    let read = |f: &Force| bodies_read(model, f.touches().laws.iter().copied());
    let singles: Vec<(&str, usize, Vec<usize>)> =
        model.forces.iter().filter_map(|(name, f)| Some((name.as_str(), on_one(f)?, read(f)))).collect();
    let mut out = Vec::new();
    for (name, body, reads) in &singles {
        let answered = |other: usize| singles.iter().any(|(_, b, r)| *b == other && r.contains(body));
        let Some(&other) = reads.iter().find(|&&o| o != *body && reads.contains(body) && !answered(o)) else { continue };
        let [body, other] = [*body, other].map(|b| &model.bodies[b].name);
        let message = format!(
            "force `{name}` acts on `{body}` and follows the motion of `{body}` and `{other}`, but nothing acts on `{other}` in return"
        );
        out.push(Diagnostic::new("W311", message).at(format!("forces.{name}")).names([name.to_string(), body.clone(), other.clone()]).help(
            "the other body feels no reaction: a `spring` with `tension:` or a contact under `contacts:` acts on both; or add a force on the other body",
        ));
    }
    out
}

/// Drives that move their joint beyond one of its rigid limits within the study.
fn passed_limits(model: &Model) -> Vec<Diagnostic> {
    const LOOKS: u32 = 400;
    let mut out = Vec::new();
    for d in &model.drives {
        for l in model.limits.iter().filter(|l| l.joint == d.joint && l.of == Bounded::Position(d.coordinate)) {
            let t = |k: u32| model.study.t_end * f64::from(k) / f64::from(LOOKS);
            let beyond = |k: &u32| l.side * (d.value.at(t(*k))[0] - l.bound) < -1e-9;
            if let Some(k) = (0..=LOOKS).find(beyond) {
                let message = format!("drive `{}` leads joint `{}` through its limit `{}`", d.name, model.joints[l.joint].name, l.name);
                out.push(
                    Diagnostic::new("W310", format!("{message} by t = {} s", number(t(k))))
                        .names([d.name.clone(), l.name.clone()])
                        .help("a run stops there: keep the drive inside, or give the limit a `stiffness`"),
                );
            }
        }
    }
    out
}

fn mass(out: &mut Vec<Diagnostic>, name: &str, mass: f64, radius: f64, reach: f64, volume: f64) {
    if reach <= 0.0 {
        return;
    }
    // Drawn shapes are often thinner than the body: only the enclosing ball is certain.
    let ball = 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3);
    let density = mass / ball.max(volume);
    let (what, help) = if density > DENSEST {
        ("heavier than any metal", "check the unit of `mass` (kg, `g` must be written) and the unit of the lengths")
    } else if density < THINNEST {
        (
            "its mean density in the enclosing ball is below that of air",
            "check the unit of the lengths (m, `mm` must be written) and of `mass`",
        )
    } else {
        return;
    };
    let message = format!(
        "`{name}` has a mass of {} kg and reaches {} m from its centre of mass: {what}, at least {density:.1e} kg/m^3",
        number(mass),
        number(reach)
    );
    let message = if density < THINNEST { message.replace("at least ", "") } else { message };
    out.push(Diagnostic::new("W251", message).at(format!("bodies.{name}.mass")).name(name).help(help));
}

fn inertia(out: &mut Vec<Diagnostic>, name: &str, mass: f64, J: f64, gyration: f64, reach: f64) {
    if reach <= 0.0 || J == 0.0 {
        return;
    }
    let ratio = gyration / reach;
    if (NARROW..=WIDE).contains(&ratio) {
        return;
    }
    let rod = mass * reach * reach / 3.0;
    let factor = J / rod;
    let (how, times) = if factor > 1.0 { ("more", factor) } else { ("less", 1.0 / factor) };
    let message = format!(
        "the inertia of `{name}`, {} kg m^2, is {} times {how} than that of a rod of its mass and reach ({} m)",
        number(J),
        if times < 1e5 { format!("{times:.0}") } else { format!("{times:.0e}") },
        number(reach)
    );
    let help = if factor > 1.0 {
        "check its unit (kg m^2); a flywheel whose joints are near its centre may be intended: add a `shape` to suppress this warning"
    } else {
        "check its unit (kg m^2); a small heavy part on a long light arm may be intended"
    };
    out.push(Diagnostic::new("W252", message).at(format!("bodies.{name}.inertia")).name(name).help(help));
}

fn gravity(model: &Model) -> Option<Diagnostic> {
    let g = model.gravity.norm();
    (g > 0.0 && !(0.1..=30.0).contains(&g)).then(|| {
        Diagnostic::new("W253", format!("gravity is {} m/s^2, far from that of any planet", number(g)))
            .at("gravity")
            .help("on Earth it is 9.81 m/s^2; lengths are in metres unless a unit is written")
    })
}
