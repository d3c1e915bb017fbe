//! Joints, gears and racks.

use super::{Builder, v3};
use crate::coordinate::Coordinate;
use crate::curve::{Measure, Path};
use crate::diagnostic::{Diagnostic, number};
use crate::joint::{self, Frame, JointKind, PairForm};
use crate::model::*;
use crate::spec::*;
use fourbar_math::so3;
use nalgebra::{Matrix3, Vector3};

impl Builder<'_> {
    pub(super) fn two_bodies(&mut self, path: &str, name: &str, bodies: &[String; 2]) -> Option<[BodyId; 2]> {
        let path = format!("{path}.bodies");
        let (a, b) = (self.find_body(&path, &bodies[0]), self.find_body(&path, &bodies[1]));
        let (a, b) = (a?, b?);
        if a == b {
            self.error(
                Diagnostic::new("M107", format!("joint `{name}` joins `{}` with itself", bodies[0]))
                    .at(path)
                    .name(name)
                    .help("a joint needs two different bodies, `bodies: [base, moving]`"),
            );
            return None;
        }
        Some([a, b])
    }

    pub(super) fn pairs(&mut self, model: &mut Model) {
        let spec = self.spec;
        for (name, joint) in &spec.joints {
            let path = format!("joints.{name}");
            let made = match joint {
                JointSpec::Pair { kind, bodies, placement } => self.pair(model, &path, name, kind, bodies, placement),
                JointSpec::Distance { from, to, length } => self.distance(model, &path, name, from, to, *length),
                JointSpec::Angle { bodies, axes, angle } => self.constant_angle(model, &path, name, bodies, axes, *angle),
                JointSpec::Curve { bodies, curve, at, radius, side } => {
                    self.on_curve(model, &path, name, bodies, curve, at, (*radius, *side))
                }
                JointSpec::Gear { .. } | JointSpec::Rack { .. } => None,
            };
            if let Some((kind, bodies, F, M)) = made {
                let mut joint = Joint { name: name.clone(), kind, bodies, F, M, memory: Some(model.angles.len()), open: false };
                let counted = joint.coordinates().map(|(_, y)| y).find(|y| y.period().is_some());
                match counted {
                    Some(angle) => model.angles.push(CountedAngle { bodies, angle }),
                    None => joint.memory = None,
                }
                self.joints.insert(name, model.joints.len());
                model.joints.push(joint);
            }
        }
    }

    #[allow(clippy::type_complexity)]
    pub(super) fn pair(
        &mut self,
        model: &Model,
        path: &str,
        name: &str,
        kind: &PairKind,
        bodies: &[String; 2],
        placement: &Placement,
    ) -> Option<(JointKind, [BodyId; 2], Frame, Frame)> {
        let ids = self.two_bodies(path, name, bodies)?;
        for (key, x) in kind.numbers() {
            self.finite(&format!("{path}.{key}"), &[x]);
        }
        let universal = kind.form() == PairForm::Crossed;
        let kind = JointKind::from(*kind);
        let [bi, bj] = ids.map(|b| &model.bodies[b.index()]);
        let (F, M) = match placement {
            Placement::World { at, axis, axis_moving } => {
                let key = if axis_moving.is_some() { "axes" } else { "axis" };
                let axis_path = format!("{path}.{key}");
                if !self.finite(&format!("{path}.at"), at) {
                    return None;
                }
                let z = self.direction(&axis_path, axis)?;
                let z_m = match axis_moving {
                    Some(a) => self.direction(&axis_path, a)?,
                    None => z,
                };
                let on = |b: &Body, R: &Matrix3<f64>| Frame { s: b.A.transpose() * (v3(at) - b.r), R: b.A.transpose() * R };
                if universal {
                    self.crossed(&axis_path, name, &z, &z_m)?;
                    (on(bi, &so3::frame_from_z(&z)), on(bj, &so3::frame_from_z(&z_m)))
                } else {
                    let R = so3::frame_from_z(&z);
                    (on(bi, &R), on(bj, &R))
                }
            }
            Placement::Frames { base, moving } => {
                let frames = format!("{path}.frames");
                let paths = [format!("{frames}.{}", bodies[0]), format!("{frames}.{}", bodies[1])];
                if !(self.finite(&paths[0], &base.at) && self.finite(&paths[1], &moving.at)) {
                    return None;
                }
                let z_f = self.direction(&format!("{}.axis", paths[0]), &base.axis)?;
                let z_m = self.direction(&format!("{}.axis", paths[1]), &moving.axis)?;
                let mut R_f = so3::frame_from_z(&z_f);
                if let Some(x) = &base.x {
                    R_f = self.frame_with_x(&paths[0], &z_f, x)?;
                }
                let R_m = match &moving.x {
                    Some(x) => self.frame_with_x(&paths[1], &z_m, x)?,
                    // Zero as drawn: the shortest rotation turns the drawn x of F onto the moving axis.
                    None => {
                        let x = bj.A.transpose() * bi.A * R_f.column(0);
                        let x = x - z_m * z_m.dot(&x);
                        if x.norm() > 1e-3 && !universal {
                            let x = x.normalize();
                            Matrix3::from_columns(&[x, z_m.cross(&x), z_m])
                        } else {
                            so3::frame_from_z(&z_m)
                        }
                    }
                };
                (Frame { s: v3(&base.at) - bi.com, R: R_f }, Frame { s: v3(&moving.at) - bj.com, R: R_m })
            }
        };
        Some((kind, ids, F, M))
    }

    pub(super) fn crossed(&mut self, path: &str, name: &str, a: &Vector3<f64>, b: &Vector3<f64>) -> Option<()> {
        if a.cross(b).norm() < 1e-6 {
            self.error(
                Diagnostic::new("M115", format!("the two axes of universal joint `{name}` are parallel"))
                    .at(path)
                    .name(name)
                    .help("the arms of a cross are perpendicular: the first is fixed in the base, the second in the moving body"),
            );
            return None;
        }
        Some(())
    }

    pub(super) fn frame_with_x(&mut self, path: &str, z: &Vector3<f64>, x: &V3) -> Option<Matrix3<f64>> {
        let x = self.direction(&format!("{path}.x"), x)?;
        let x = x - z * z.dot(&x);
        if x.norm() < 1e-6 {
            self.error(
                Diagnostic::new("M112", "the `x` direction is parallel to the axis")
                    .at(format!("{path}.x"))
                    .help("give a direction across the axis"),
            );
            return None;
        }
        let x = x.normalize();
        Some(Matrix3::from_columns(&[x, z.cross(&x), *z]))
    }

    #[allow(clippy::type_complexity)]
    pub(super) fn distance(
        &mut self,
        model: &Model,
        path: &str,
        name: &str,
        from: &Place,
        to: &Place,
        length: Option<f64>,
    ) -> Option<(JointKind, [BodyId; 2], Frame, Frame)> {
        let a = self.place(model, &format!("{path}.from"), from);
        let b = self.place(model, &format!("{path}.to"), to);
        let (a, b) = (a?, b?);
        if a.body == b.body {
            self.error(
                Diagnostic::new("M107", format!("joint `{name}` joins `{}` with itself", from.body))
                    .at(path)
                    .name(name)
                    .help("the two points must be on different bodies"),
            );
            return None;
        }
        let world = |p: &PointOn| model.bodies[p.body.index()].r + model.bodies[p.body.index()].A * p.s;
        let drawn = (world(&b) - world(&a)).norm();
        let length = length.unwrap_or(drawn);
        if !self.finite(&format!("{path}.length"), &[length]) {
            return None;
        }
        if length < 0.0 {
            self.error(
                Diagnostic::new("M116", format!("the length of `{name}` is negative"))
                    .at(format!("{path}.length"))
                    .name(name)
                    .help("give a positive length, or omit it to keep the drawn length"),
            );
            return None;
        }
        let F = Frame { s: a.s, R: Matrix3::identity() };
        let M = Frame { s: b.s, R: Matrix3::identity() };
        // A rod of length zero is a ball: its single row would have no gradient.
        let kind = if length < 1e-12 { JointKind::Spherical(joint::Spherical) } else { JointKind::Distance(joint::Distance { length }) };
        Some((kind, [a.body, b.body], F, M))
    }

    #[allow(clippy::type_complexity)]
    pub(super) fn constant_angle(
        &mut self,
        model: &Model,
        path: &str,
        name: &str,
        bodies: &[String; 2],
        axes: &[At; 2],
        angle: Option<f64>,
    ) -> Option<(JointKind, [BodyId; 2], Frame, Frame)> {
        let ids = self.two_bodies(path, name, bodies)?;
        let key = format!("{path}.axes");
        let a = self.direction_on(model, &key, ids[0], &axes[0])?;
        let mut b = self.direction_on(model, &key, ids[1], &axes[1])?;
        let drawn = (model.bodies[ids[0].index()].A * a).angle(&(model.bodies[ids[1].index()].A * b));
        let mut angle = angle.unwrap_or(drawn);
        if !self.finite(&format!("{path}.angle"), &[angle]) {
            return None;
        }
        if !(0.0..=std::f64::consts::PI + 1e-12).contains(&angle) {
            self.error(
                Diagnostic::new("M116", format!("the angle of `{name}` is {angle:.4} rad"))
                    .at(format!("{path}.angle"))
                    .name(name)
                    .help("an angle between two directions lies between 0 and pi"),
            );
            return None;
        }
        // Near 0 and pi one row loses its gradient: parallel directions are two rows instead.
        if angle > std::f64::consts::PI - 1e-6 {
            b = -b;
            angle = 0.0;
        } else if angle < 1e-6 {
            angle = 0.0;
        }
        let frame = |a: &Vector3<f64>| Frame { s: Vector3::zeros(), R: so3::frame_from_z(a) };
        Some((JointKind::Angle(joint::ConstantAngle { angle }), ids, frame(&a), frame(&b)))
    }

    /// A point of the moving body on a curve of the base, at the radius of a follower from it.
    #[allow(clippy::type_complexity, clippy::too_many_arguments)]
    fn on_curve(
        &mut self,
        model: &Model,
        path: &str,
        name: &str,
        bodies: &[String; 2],
        curve: &str,
        at: &At,
        (radius, side): (f64, Option<Side>),
    ) -> Option<(JointKind, [BodyId; 2], Frame, Frame)> {
        let ids = self.two_bodies(path, name, bodies)?;
        let on = self.find_curve(model, &format!("{path}.curve"), curve);
        let point = self.place(model, &format!("{path}.at"), &Place { body: bodies[1].clone(), at: *at });
        if !self.finite(&format!("{path}.radius"), &[radius]) {
            return None;
        }
        if radius < 0.0 {
            self.error(
                Diagnostic::new("M116", format!("the radius of `{name}` is negative"))
                    .at(format!("{path}.radius"))
                    .name(name)
                    .help("give the radius of the follower, or omit it for a point; `side` selects its side"),
            );
            return None;
        }
        let (on, point) = (on?, point?);
        let [bi, bj] = ids.map(|b| &model.bodies[b.index()]);
        let F = Frame { s: on.at - bi.com, R: on.R };
        let M = Frame { s: point.s, R: bj.A.transpose() * bi.A * on.R };
        // As drawn: the position of the point in the plane.
        let drawn = F.R.tr_mul(&(bi.A.tr_mul(&(bj.r + bj.A * M.s - bi.r)) - F.s)).xy();
        let left = match side {
            Some(side) => side == Side::Left,
            None => {
                let d = Path { curve: on.curve.clone(), offset: 0.0 }.measure(Measure::Offset, &drawn).0;
                if radius > 0.0 && d.abs() < 1e-3 * radius {
                    self.error(
                        Diagnostic::new("M646", format!("the follower of `{name}` is drawn on the curve itself, so its side is not known"))
                            .at(path)
                            .name(name)
                            .help("write `side: left` or `side: right`, or draw the follower off the curve"),
                    );
                    return None;
                }
                d > 0.0
            }
        };
        let follower = Path { curve: on.curve.clone(), offset: if left { radius } else { -radius } };
        if let Some(u) = follower.undercut() {
            let place = format!("at arc length {} m, near [{:.6}, {:.6}]", number(u.s), u.at.x, u.at.y);
            let why = match u.radius {
                Some(r) => format!("the curve bends there with radius {} m", number(r)),
                None => "it would meet another part of the curve".to_string(),
            };
            self.error(
                Diagnostic::new(
                    "M645",
                    format!("the follower of `{name}` with radius {} m does not fit `{curve}` {place}: {why}", number(radius)),
                )
                .at(format!("{path}.radius"))
                .names([name.to_string(), curve.to_string()])
                .help("choose a smaller follower, the other side, or a smoother curve: a cam cut for this follower would be undercut"),
            );
            return None;
        }
        Some((JointKind::PointOnCurve(joint::PointOnCurve { path: follower }), ids, F, M))
    }

    pub(super) fn couplings(&mut self, model: &mut Model) {
        let spec = self.spec;
        for (name, joint) in &spec.joints {
            let path = format!("joints.{name}");
            let (kind, names, ratio, carrier) = match joint {
                JointSpec::Gear { joints, ratio, carrier } => ("gear", joints, *ratio, carrier.as_ref()),
                JointSpec::Rack { joints, radius } => ("rack", joints, *radius, None),
                _ => continue,
            };
            let key = if kind == "gear" { "ratio" } else { "radius" };
            if !self.finite(&format!("{path}.{key}"), &[ratio]) {
                continue;
            }
            if ratio == 0.0 {
                self.error(
                    Diagnostic::new("M116", format!("the {key} of `{name}` is zero"))
                        .at(format!("{path}.{key}"))
                        .name(name)
                        .help("a coupling of ratio zero moves nothing"),
                );
                continue;
            }
            let joints_path = format!("{path}.joints");
            let (a, b) = (self.find_joint(&joints_path, &names[0]), self.find_joint(&joints_path, &names[1]));
            let (Some(a), Some(b)) = (a, b) else { continue };
            if a == b {
                self.error(
                    Diagnostic::new("M107", format!("`{name}` couples joint `{}` with itself", names[0]))
                        .at(joints_path)
                        .name(name)
                        .help("give two different joints"),
                );
                continue;
            }
            let carrier = match carrier {
                Some(c) => match self.find_body(&format!("{path}.carrier"), c) {
                    Some(id) => Some(id),
                    None => continue,
                },
                None => None,
            };
            let want = |k: usize| {
                if kind == "rack" && k == 1 {
                    Some(JointCoordinate::Distance)
                } else if kind == "rack" {
                    Some(JointCoordinate::Angle)
                } else {
                    None
                }
            };
            let sides =
                [(a, want(0), 0), (b, want(1), 2)].map(|(j, want, slot)| self.side(model, &joints_path, name, j, want, carrier, slot));
            if let [Some(first), Some(second)] = sides {
                model.couplings.push(Coupling { name: name.clone(), kind, joints: [a, b], ratio, sides: [first, second] });
            }
        }
    }

    /// The coordinate of a joint as one side of a coupling, measured against the carrier if there is one.
    pub(super) fn side(
        &mut self,
        model: &mut Model,
        path: &str,
        name: &str,
        j: usize,
        want: Option<JointCoordinate>,
        carrier: Option<BodyId>,
        slot: usize,
    ) -> Option<(JointCoordinate, [BodyId; 2], Coordinate)> {
        let joint = &model.joints[j];
        let which = want.unwrap_or(if joint.kind.has_angle() { JointCoordinate::Angle } else { JointCoordinate::Distance });
        let has = match which {
            JointCoordinate::Angle => joint.kind.has_angle(),
            JointCoordinate::Distance => joint.kind.has_distance(),
        };
        if !has {
            let word = if which == JointCoordinate::Angle { "angle" } else { "distance" };
            self.error(
                Diagnostic::new(
                    "M111",
                    format!("`{name}` cannot couple joint `{}`: a {} joint has no {word}", joint.name, joint.kind.name()),
                )
                .at(path)
                .names([name.to_string(), joint.name.clone()])
                .help("gears couple revolute, prismatic, cylindrical or screw joints; a rack couples a revolute with a prismatic one"),
            );
            return None;
        }
        let ij = [slot, slot + 1];
        let (mut bodies, mut F) = (joint.bodies, joint.F);
        let mut memory = joint.memory;
        if let Some(c) = carrier.filter(|&c| c != joint.bodies[0]) {
            if c == joint.bodies[1] {
                self.error(
                    Diagnostic::new("M111", format!("the carrier of `{name}` is the moving body of joint `{}`", joint.name))
                        .at(path)
                        .name(name)
                        .help("the carrier supports the axes of both wheels and is neither of them"),
                );
                return None;
            }
            // The frame of the base, converted to the carrier as drawn.
            let (base, body) = (&model.bodies[bodies[0].index()], &model.bodies[c.index()]);
            F = Frame { s: body.A.transpose() * (base.r + base.A * F.s - body.r), R: body.A.transpose() * base.A * F.R };
            bodies = [c, bodies[1]];
            memory = Some(model.angles.len());
        }
        // The same joint with the carrier as its base.
        let joint = &model.joints[j];
        let seen = Joint { name: String::new(), kind: joint.kind.clone(), bodies, F, M: joint.M, memory, open: false };
        let y = seen.coordinate(which)?;
        if memory == Some(model.angles.len()) && y.period().is_some() {
            model.angles.push(CountedAngle { bodies, angle: y.clone() });
        }
        Some((which, bodies, y.at_slots(ij)))
    }
}
