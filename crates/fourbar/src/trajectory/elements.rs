//! Columns of joints, drives, constraints and forces: their names, and their values at an instant.

use super::{Column, XYZ};
use crate::coordinate::Coordinate;
use crate::event::Bounded;
use crate::force::eval::Plain;
use crate::force::{Contact, Values};
use crate::model::{Bare, Drive, Joint, JointCoordinate, Model};
use crate::motion::Instant;
use crate::state::Twist;
use nalgebra::Vector3;

/// Rate and second rate of a coordinate of a joint.
pub fn rates(joint: &Joint, y: &Coordinate, s: &Instant) -> [f64; 2] {
    let [i, j] = joint.bodies.map(|b| b.index());
    let row = y.row(&s.q[i], &s.q[j]);
    let along = |x: &[Twist]| {
        let part = |k: usize| row.parts[k].power(&x[[i, j][row.ij[k]]]);
        part(0) + part(1)
    };
    [along(&s.v), along(&s.a) + y.bias(&s.q[i], &s.q[j], &s.v[i], &s.v[j])]
}

/// Rate of the coordinate that a drive prescribes.
pub fn drive_speed(model: &Model, d: &Drive, s: &Instant) -> f64 {
    let joint = &model.joints[d.joint];
    joint.coordinate(d.coordinate).map_or(0.0, |y| rates(joint, &y, s)[0])
}

/// Names of the rates of a joint: `speed` and `acceleration`, after the coordinate if the joint has two.
pub(super) fn rate_columns(joint: &Joint, list: &mut Vec<Column>) {
    let two = joint.coordinates().count() > 1;
    for (key, _) in joint.coordinates() {
        let units = if key == "angle" { ["rad/s", "rad/s^2"] } else { ["m/s", "m/s^2"] };
        for (word, unit) in ["speed", "acceleration"].into_iter().zip(units) {
            let name = if two { [&joint.name, ".", key, ".", word].concat() } else { [&joint.name, ".", word].concat() };
            list.push(Column { name, unit: unit.into() });
        }
    }
}

/// Columns of a vector.
pub(super) fn vector(list: &mut Vec<Column>, prefix: [&str; 2], unit: &'static str) {
    list.extend(XYZ.iter().map(|a| Column { name: [prefix[0], prefix[1], ".", a].concat(), unit: unit.into() }));
}

/// Whether a bare constraint acts by a torque: those between directions do, all others act by a force at a point.
fn by_torque(b: &Bare) -> bool {
    matches!(b.coordinate, Coordinate::Dp1 { .. } | Coordinate::Angle(_))
}

pub(super) fn drive_columns(model: &Model, list: &mut Vec<Column>) {
    for d in &model.drives {
        let unit = if d.coordinate == JointCoordinate::Angle { "N*m" } else { "N" };
        list.push(Column { name: format!("{}.effort", d.name), unit: unit.into() });
        list.push(Column { name: format!("{}.power", d.name), unit: "W".into() });
    }
}

pub(super) fn drive_values(model: &Model, s: &Instant, wanted: bool, out: &mut Vec<f64>) {
    for (d, effort) in model.drives.iter().zip(&s.efforts) {
        out.extend([*effort, if wanted { effort * drive_speed(model, d, s) } else { 0.0 }]);
    }
}

pub(super) fn constraint_columns(model: &Model, list: &mut Vec<Column>) {
    for b in &model.bare {
        let (key, unit) = if by_torque(b) { (".torque", "N*m") } else { (".force", "N") };
        vector(list, [&b.name, key], unit);
    }
    for r in &model.rolling {
        vector(list, [&r.name, ".force"], "N");
    }
}

pub(super) fn constraint_values(model: &Model, s: &Instant, out: &mut Vec<f64>) {
    let mut put = |x: &Vector3<f64>| out.extend_from_slice(x.as_slice());
    let (bare, rolling) = s.constraints.split_at(model.bare.len());
    bare.iter().zip(&model.bare).for_each(|(w, b)| put(if by_torque(b) { &w.torque } else { &w.force }));
    rolling.iter().for_each(|w| put(&w.force));
}

pub(super) fn force_columns(model: &Model, list: &mut Vec<Column>) {
    for (name, f) in &model.forces {
        list.extend(f.quantities(model).into_iter().map(|(key, unit)| Column { name: [name, ".", key].concat(), unit: unit.into() }));
    }
}

/// Columns of rigid contacts, the same as for compliant ones.
pub(super) fn contact_columns(model: &Model, list: &mut Vec<Column>) {
    for c in &model.contacts {
        list.extend(Contact::quantities().into_iter().map(|(key, unit)| Column { name: [&c.name, ".", key].concat(), unit: unit.into() }));
    }
}

/// `loads` is storage for the loads of all joints.
pub(super) fn force_values(model: &Model, s: &Instant, wanted: bool, loads: &mut [f64], out: &mut Vec<f64>) {
    if !wanted {
        let count: usize = model.forces.iter().map(|(_, f)| f.quantities(model).len()).sum();
        out.extend(std::iter::repeat_n(0.0, count));
        return;
    }
    s.loads(model, loads);
    let x = s.plain(loads);
    for k in 0..model.forces.len() {
        out.extend_from_slice(&force_value(model, s, &x, k));
    }
}

/// Values of a force element at an instant, in the order of its columns; `x` is the state of the instant for the force laws.
pub fn force_value(model: &Model, s: &Instant, x: &Plain<'_>, k: usize) -> Values {
    let f = &model.forces[k].1;
    let mut values = f.values(model, x);
    let Some(switched) = &s.switched else { return values };
    if !switched.acting.get(k).copied().unwrap_or(true) {
        // An inactive element still has its length or angle, but no forces.
        for (value, (_, unit)) in values.iter_mut().zip(f.quantities(model)) {
            *value = if matches!(unit, "N" | "N*m" | "W") { 0.0 } else { *value };
        }
    }
    if let Some((_, effort, _)) = switched.frictions.iter().find(|x| x.0 == k) {
        let rate = f.sticks().map_or(0.0, |f| crate::force::eval::coordinate_of(model, f.joint, Some(f.coordinate(model)), x).1);
        values[..2].copy_from_slice(&[*effort, effort * rate]);
    }
    values
}

/// Joints with rigid limits, each once, with the places of their limits.
pub(super) fn limited(model: &Model) -> Vec<(usize, Vec<usize>)> {
    let mut list: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut places: Vec<Option<usize>> = vec![None; if model.limits.is_empty() { 0 } else { model.joints.len() }];
    for (k, l) in model.limits.iter().enumerate() {
        match places[l.joint] {
            Some(place) => list[place].1.push(k),
            None => {
                places[l.joint] = Some(list.len());
                list.push((l.joint, vec![k]));
            }
        }
    }
    list
}

pub(super) fn limit_columns(model: &Model, list: &mut Vec<Column>) {
    for (joint, own) in limited(model) {
        let name = &model.joints[joint].name;
        let angle = matches!(model.limits[own[0]].of, Bounded::Position(JointCoordinate::Angle) | Bounded::Rate(JointCoordinate::Angle));
        let rate = own.iter().all(|k| matches!(model.limits[*k].of, Bounded::Rate(_)));
        let unit = match (angle, rate) {
            (true, false) => "rad",
            (false, false) => "m",
            (true, true) => "rad/s",
            (false, true) => "m/s",
        };
        list.push(Column { name: [name, ".limit.gap"].concat(), unit: unit.into() });
        list.push(Column { name: [name, ".limit.effort"].concat(), unit: if angle { "N*m" } else { "N" }.into() });
    }
}

/// The distance to the nearer limit, and the effort of the limits on the coordinate, by joint as [`limited`] lists them.
pub(super) fn limit_values(model: &Model, s: &Instant, limited: &[(usize, Vec<usize>)], wanted: bool, out: &mut Vec<f64>) {
    if !wanted {
        out.extend(std::iter::repeat_n(0.0, 2 * limited.len()));
        return;
    }
    for (_, own) in limited {
        let rates = own.iter().all(|k| matches!(model.limits[*k].of, Bounded::Rate(_)));
        let counted = own.iter().filter(|k| rates || !matches!(model.limits[**k].of, Bounded::Rate(_)));
        let gap = counted.map(|k| model.limits[*k].gap(model, &s.q, &s.v, &s.turns)).fold(f64::INFINITY, f64::min);
        let effort = |k: &usize| s.switched.as_ref().map_or(0.0, |x| x.limits.get(*k).copied().unwrap_or(0.0));
        out.extend([gap, own.iter().map(effort).sum()]);
    }
}
