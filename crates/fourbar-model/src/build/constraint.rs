//! Bare constraints, rolling elements and drives.

use super::{Builder, v3};
use crate::coordinate::Coordinate;
use crate::diagnostic::Diagnostic;
use crate::model::*;
use crate::rolling::{Rolling, RollingKind};
use crate::spec::*;
use crate::time::TimeFunction;
use fourbar_math::so3;
use nalgebra::Vector3;

impl Builder<'_> {
    pub(super) fn bare(&mut self, model: &mut Model) {
        let spec = self.spec;
        for (name, c) in &spec.constraints {
            let path = format!("constraints.{name}");
            let points = |b: &mut Self, from: &Place, to: &Place| {
                let a = b.place(model, &format!("{path}.from"), from);
                let c = b.place(model, &format!("{path}.to"), to);
                a.zip(c)
            };
            let L = model.length;
            let mut second = None;
            let made = match c {
                ConstraintSpec::Dp1 { axes, value, other } => {
                    let key = format!("{path}.axes");
                    let ids = [self.find_body(&key, &axes[0].body), self.find_body(&key, &axes[1].body)];
                    let [Some(i), Some(j)] = ids else { continue };
                    let a = self.direction_on(model, &key, i, &axes[0].at);
                    let b = self.direction_on(model, &key, j, &axes[1].at);
                    let (Some(a_i), Some(a_j)) = (a, b) else { continue };
                    if let Some((axis, value)) = other {
                        let Some(a_i) = self.direction_on(model, &format!("{path}.other_axis"), i, axis) else { continue };
                        second = Some((Coordinate::Dp1 { ij: [0, 1], a_i, a_j }, TimeFunction::Value(value.clone())));
                    }
                    ("dp1", [i, j], L, Coordinate::Dp1 { ij: [0, 1], a_i, a_j }, value)
                }
                ConstraintSpec::Dp2 { axis, from, to, value } => {
                    let Some((p, q)) = points(self, from, to) else { continue };
                    let Some(a_i) = self.direction_on(model, &format!("{path}.axis"), p.body, axis) else { continue };
                    ("dp2", [p.body, q.body], 1.0, Coordinate::Dp2 { ij: [0, 1], a_i, s_i: p.s, s_j: q.s }, value)
                }
                ConstraintSpec::D { from, to, value } => {
                    let Some((p, q)) = points(self, from, to) else { continue };
                    let start = value.time_derivatives(0.0)[0];
                    if !(self.finite(&format!("{path}.value"), &[start]) && start > 0.0) {
                        self.error(Diagnostic::new("M116", format!("the squared distance of `{name}` starts at {start}")).at(format!("{path}.value")).name(name).help("`value` of a `d` constraint is the squared distance and must be positive; points that coincide are a spherical joint"));
                        continue;
                    }
                    ("d", [p.body, q.body], 0.5 / start.sqrt(), Coordinate::D { ij: [0, 1], s_i: p.s, s_j: q.s }, value)
                }
                ConstraintSpec::KnifeEdge { .. } | ConstraintSpec::RollingSphere { .. } | ConstraintSpec::RollingDisk { .. } => {
                    if let Some(r) = self.rolling(model, &path, name, c) {
                        model.rolling.push(r);
                    }
                    continue;
                }
                ConstraintSpec::Cd { axis, from, to, value } => {
                    let Some((p, q)) = points(self, from, to) else { continue };
                    let Some(c) = self.direction(&format!("{path}.axis"), axis) else { continue };
                    ("cd", [p.body, q.body], 1.0, Coordinate::Cd { ij: [0, 1], c, s_i: p.s, s_j: q.s }, value)
                }
            };
            let (kind, bodies, scale, coordinate, value) = made;
            if bodies[0] == bodies[1] {
                self.error(
                    Diagnostic::new("M107", format!("constraint `{name}` joins `{}` with itself", model.body_name(bodies[0])))
                        .at(path)
                        .name(name)
                        .help("a constraint needs two different bodies"),
                );
                continue;
            }
            let value = TimeFunction::Value(value.clone());
            model.bare.push(Bare { name: name.clone(), kind, bodies, scale, coordinate, value, other: second });
        }
    }

    pub(super) fn rolling(&mut self, model: &Model, path: &str, name: &str, c: &ConstraintSpec) -> Option<RollingElement> {
        let up = PlaneSpec { at: [0.0; 3], normal: [0.0, 0.0, 1.0] };
        let (kind, on, plane, radius) = match c {
            ConstraintSpec::KnifeEdge { on, .. } => ("knife-edge", on, &up, 1.0),
            ConstraintSpec::RollingSphere { on, radius, plane } => ("rolling-sphere", on, plane, *radius),
            ConstraintSpec::RollingDisk { on, radius, plane, contact, .. } => {
                (if *contact { "rolling-disk" } else { "wheel" }, on, plane, *radius)
            }
            _ => return None,
        };
        let place = self.place(model, &format!("{path}.on"), on)?;
        if place.body == BodyId::GROUND {
            self.error(
                Diagnostic::new("M107", format!("`{name}` lets the ground roll on itself"))
                    .at(format!("{path}.on"))
                    .name(name)
                    .help("name the body that rolls"),
            );
            return None;
        }
        if !self.finite(&format!("{path}.radius"), &[radius]) {
            return None;
        }
        if radius <= 0.0 {
            self.error(
                Diagnostic::new("M116", format!("the radius of `{name}` is {radius}"))
                    .at(format!("{path}.radius"))
                    .name(name)
                    .help("give a positive radius"),
            );
            return None;
        }
        self.finite(&format!("{path}.at"), &plane.at);
        let n = self.direction(&format!("{path}.normal"), &plane.normal)?;
        let R = so3::frame_from_z(&n);
        let level = n.dot(&v3(&plane.at));
        let (kind_data, contact) = match c {
            ConstraintSpec::KnifeEdge { across, .. } => {
                let across = self.direction_on(model, &format!("{path}.across"), place.body, across)?;
                (RollingKind::KnifeEdge { across }, None)
            }
            ConstraintSpec::RollingDisk { axis, contact, .. } => {
                let axis = self.direction_on(model, &format!("{path}.axis"), place.body, axis)?;
                if (model.bodies[place.body.index()].A * axis).cross(&n).norm() < 1e-6 {
                    self.error(
                        Diagnostic::new("M115", format!("the disk `{name}` lies flat on its plane"))
                            .at(format!("{path}.axis"))
                            .name(name)
                            .help("`axis` is the axis that the disk turns about, in the frame of its body; it may not be the normal of the plane"),
                    );
                    return None;
                }
                let y = Coordinate::Touch { ij: [0, 1], n, s_j: place.s, e_j: axis, radius };
                (RollingKind::Disk { axis, radius }, contact.then_some((y, level)))
            }
            _ => {
                let y = Coordinate::Cd { ij: [0, 1], c: n, s_i: Vector3::zeros(), s_j: place.s };
                (RollingKind::Sphere { radius }, Some((y, level + radius)))
            }
        };
        let rolling = Rolling { s: place.s, n, t: [R.column(0).into(), R.column(1).into()], kind: kind_data };
        Some(RollingElement { name: name.to_string(), kind, bodies: [BodyId::GROUND, place.body], rolling, contact })
    }

    pub(super) fn drives(&mut self, model: &mut Model) {
        let spec = self.spec;
        for (name, d) in &spec.drives {
            let path = format!("drives.{name}");
            let Some(joint) = self.find_joint(&format!("{path}.joint"), &d.joint) else { continue };
            let j = &model.joints[joint];
            let coordinate = match d.quantity {
                DriveQuantity::Angle => JointCoordinate::Angle,
                DriveQuantity::Distance => JointCoordinate::Distance,
                DriveQuantity::Speed | DriveQuantity::Acceleration if j.kind.has_angle() => JointCoordinate::Angle,
                DriveQuantity::Speed | DriveQuantity::Acceleration => JointCoordinate::Distance,
            };
            if j.coordinate(coordinate).is_none() {
                let (angle, distance) = (j.kind.has_angle(), j.kind.has_distance());
                let help = match (angle, distance) {
                    (false, false) => {
                        format!("a {} joint has no coordinate to drive; use a bare constraint under `constraints:`", j.kind.name())
                    }
                    (true, false) => "use `angle:` or `speed:`".to_string(),
                    _ => "use `distance:` or `speed:`".to_string(),
                };
                let word = if d.quantity == DriveQuantity::Angle { "angle" } else { "distance" };
                self.error(
                    Diagnostic::new(
                        "M109",
                        format!("drive `{name}` prescribes the {word} of `{}`, a {} joint, which has none", j.name, j.kind.name()),
                    )
                    .at(&path)
                    .name(name)
                    .help(help),
                );
                continue;
            }
            if let Some(other) = model.drives.iter().find(|o| o.joint == joint && o.coordinate == coordinate) {
                self.error(
                    Diagnostic::new(
                        "M110",
                        format!("drives `{}` and `{name}` prescribe the same coordinate of joint `{}`", other.name, j.name),
                    )
                    .at(&path)
                    .names([other.name.clone(), name.clone(), j.name.clone()])
                    .help("remove one of them"),
                );
                continue;
            }
            let Some(value) = self.drive_value(&path, d) else { continue };
            let plain = d.inputs.is_empty() && d.quantity != DriveQuantity::Acceleration;
            let derivatives = if plain { d.value.time_derivatives(0.0) } else { value.at(0.0) };
            if derivatives.iter().any(|x| !x.is_finite()) {
                self.error(
                    Diagnostic::new("M104", format!("drive `{name}` is not smooth at t = 0: value and derivatives {derivatives:?}"))
                        .at(&path)
                        .name(name)
                        .help("give a function with two finite derivatives"),
                );
                continue;
            }
            model.drives.push(Drive { name: name.clone(), joint, coordinate, value });
        }
    }
}
