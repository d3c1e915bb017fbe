//! Trees with every type of joint, fixed to the ground or not, and bodies that roll on a plane.

use super::sketch::{Sketch, V, three};
use fourbar::spec::{At, ConstraintSpec, PairKind, PlaneSpec};

pub fn tree(s: &mut Sketch) {
    let n = 2 + s.draw.below(5);
    let mut tips = vec![V::zeros()];
    for _ in 0..n {
        let parent = s.draw.below(tips.len());
        let from = tips[parent];
        let tip = from + s.draw.unit() * s.draw.between(0.3, 0.8);
        let body = s.body(&[from, tip]);
        let lead = s.draw.pick(&[-1.0, 1.0]) * s.draw.between(0.1, 1.0) * s.size;
        let kind = s.draw.pick(&[
            PairKind::Revolute,
            PairKind::Revolute,
            PairKind::Universal,
            PairKind::Universal,
            PairKind::Planar,
            PairKind::PointOnLine,
            PairKind::PointOnPlane,
            PairKind::Spherical,
            PairKind::Cylindrical,
            PairKind::Prismatic,
            PairKind::Screw { lead },
            PairKind::Fixed,
        ]);
        s.may_be_rough &= !matches!(kind, PairKind::Screw { .. });
        let axis = s.draw.unit();
        let name = s.joint(kind, [parent, body], &from, &axis);
        if matches!(kind, PairKind::Revolute | PairKind::Prismatic | PairKind::Cylindrical | PairKind::Screw { .. }) {
            s.driveable.push(name);
        }
        tips.push(tip);
    }
    // Sometimes a rod closes a loop over at least three bodies.
    if n >= 4 && s.draw.once_in(3) {
        s.rod([0, n], &V::new(1.0, 0.5, 0.3), &tips[n].clone());
    }
}

/// A disk or a ball on a plane, alone or with a pendulum on it.
pub fn rolling(s: &mut Sketch) {
    let radius = s.draw.between(0.3, 0.6);
    let lean = s.draw.between(-0.4, 0.4);
    let disk = s.draw.once_in(2);
    // The lowest point touches the plane z = 0.
    let centre = if disk { V::z() * (radius * lean.cos()) } else { V::z() * radius };
    let axis = V::new(0.0, lean.cos(), lean.sin());
    let wheel = s.body(&[centre, centre + V::x() * radius]);
    let normal = s.direction(&V::z());
    // It is pressed against the plane, but the rolling constraint is bilateral.
    let plane = PlaneSpec { at: three(&s.point(&V::zeros())), normal: three(&normal) };
    let on = s.place(wheel, &centre);
    let radius_m = radius * s.size;
    let constraint = if disk {
        let axis = At::World(three(&s.direction(&axis)));
        ConstraintSpec::RollingDisk { on, axis, radius: radius_m, plane, contact: true }
    } else {
        ConstraintSpec::RollingSphere { on, radius: radius_m, plane }
    };
    s.spec.constraints.push(("roll".into(), constraint));
    if s.draw.once_in(2) {
        let tip = centre + s.draw.unit() * 0.7;
        let bob = s.body(&[centre, tip]);
        if disk {
            s.hinge([wheel, bob], &centre, &axis);
        } else {
            s.ball([wheel, bob], &centre);
        }
    }
}
