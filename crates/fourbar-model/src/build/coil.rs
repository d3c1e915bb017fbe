//! Springs with mass, as uniform stretchable rods [Pryce20, Eq. (30)].
//!
//! The kinetic energy `mu/6 (|A'|^2 + A'.B' + |B'|^2)` and the weight of such a rod are exactly those of three particles: a sixth of the
//! mass at each end and two thirds in the middle (Simpson's rule is exact for the square of a linear velocity). The end particles are
//! welded to the bodies of the spring. The middle one is the origin of a body without rotational inertia, the coil: both ends stay on its x
//! axis, and a gear keeps them at equal distances. So formulations process bodies and joints only.

use super::Builder;
use crate::diagnostic::Diagnostic;
use crate::force::Force;
use crate::joint::{self, Frame, JointKind};
use crate::model::*;
use crate::spec::*;
use crate::topology::Topology;
use nalgebra::{Matrix3, Vector3};

impl Builder<'_> {
    pub(super) fn coils(&mut self, model: &mut Model) {
        let spec = self.spec;
        // In a plane the coil must not turn about its axis; in space that rotation has no effect.
        let mut normal = None;
        for (name, f) in &spec.forces {
            let ForceSpec::Spring(SpringSpec { mass, .. }) = f else { continue };
            let path = format!("forces.{name}.mass");
            if *mass == 0.0 || !self.finite(&path, &[*mass]) {
                continue;
            }
            if *mass < 0.0 {
                let d = Diagnostic::new("M102", format!("spring `{name}` has mass {mass} kg; a mass must not be negative"));
                self.error(d.at(path).name(name).help("give a positive mass, or omit it"));
                continue;
            }
            let spring = model.forces.iter().enumerate().find_map(|(k, (n, f))| match f {
                Force::Spring(s) if n == name => Some((k, s.between)),
                _ => None,
            });
            let Some(spring) = spring else { continue };
            let normal = *normal.get_or_insert_with(|| if self.errors.is_empty() { Topology::new(model).planar } else { None });
            self.coil(model, name, *mass, spring, normal);
        }
    }

    fn coil(&mut self, model: &mut Model, name: &str, mass: f64, (spring, ends): (usize, [PointOn; 2]), normal: Option<Vector3<f64>>) {
        let made = ["end1", "end2", "coil", "weld1", "weld2", "line1", "line2", "middle", "level"].map(|part| format!("{name}-{part}"));
        if let Some(taken) = made.iter().find(|n| self.is_taken(n)) {
            let d = Diagnostic::new("M100", format!("the name `{taken}` is reserved for the mass of spring `{name}`"));
            self.error(d.at(format!("forces.{name}")).name(taken).help("rename the element of that name, or the spring"));
            return;
        }
        let state = |model: &Model, p: &PointOn| {
            let b = &model.bodies[p.body.index()];
            (b.r + b.A * p.s, b.v + b.omega.cross(&(b.A * p.s)), b.A, b.omega)
        };
        let [a, b] = [state(model, &ends[0]), state(model, &ends[1])];
        let along = b.0 - a.0;
        if along.norm() < 1e-9 * model.length {
            let d = Diagnostic::new("M116", format!("the ends of spring `{name}`, which has a mass, coincide at the start"));
            self.error(d.at(format!("forces.{name}")).name(name).help("draw it with a length, or omit its mass"));
            return;
        }
        let [end1, end2, coil, weld1, weld2, line1, line2, middle, level] = made;
        let particle = |name: String, share: f64, r, A, v, omega| Body {
            name,
            mass: mass * share,
            J_bar: Matrix3::zeros(),
            com: Vector3::zeros(),
            r,
            A,
            v,
            omega,
            shapes: Vec::new(),
        };
        for (k, (name, weld)) in [(end1, weld1), (end2, weld2)].into_iter().enumerate() {
            let (r, v, A, omega) = [a, b][k];
            if ends[k].body == BodyId::GROUND {
                continue;
            }
            let id = BodyId(model.bodies.len() as u32);
            model.bodies.push(particle(name, 1.0 / 6.0, r, A, v, omega));
            let (F, M) = (Frame { s: ends[k].s, R: Matrix3::identity() }, Frame { s: Vector3::zeros(), R: Matrix3::identity() });
            let kind = JointKind::Fixed(joint::Fixed);
            model.joints.push(Joint { name: weld, kind, bodies: [ends[k].body, id], F, M, memory: None, open: false });
        }
        // Axes of the coil: x along the spring, y across it, in the plane of motion if there is one.
        let x = along.normalize();
        let in_plane = normal.filter(|n| n.dot(&x).abs() < 1e-6);
        let z = in_plane.unwrap_or_else(|| fourbar_math::so3::frame_from_z(&x).column(0).into());
        let A = Matrix3::from_columns(&[x, z.cross(&x), z]);
        let omega = x.cross(&(b.1 - a.1)) / along.norm();
        let id = BodyId(model.bodies.len() as u32);
        model.bodies.push(particle(coil, 2.0 / 3.0, (a.0 + b.0) / 2.0, A, (a.1 + b.1) / 2.0, omega));
        // The axis of a joint frame is its z.
        let R = fourbar_math::so3::frame_from_z(&Vector3::x());
        let F = Frame { s: Vector3::zeros(), R };
        model.coils.push(Coil { spring, body: id, ends, axis: F.axis(2), spins: in_plane.is_none() });
        let first = model.joints.len();
        for (k, name) in [line1, line2].into_iter().enumerate() {
            let M = Frame { s: ends[k].s, R: model.bodies[ends[k].body.index()].A.transpose() * A * R };
            let kind = JointKind::PointOnLine(joint::PointOnLine);
            model.joints.push(Joint { name, kind, bodies: [id, ends[k].body], F, M, memory: None, open: false });
        }
        let side = |k: usize| {
            let which = JointCoordinate::Distance;
            let j = &model.joints[first + k];
            let y = crate::coordinate::Coordinate::Dp2 { ij: [2 * k, 2 * k + 1], a_i: F.axis(2), s_i: F.s, s_j: j.M.s };
            (which, j.bodies, y)
        };
        let sides = [side(0), side(1)];
        model.couplings.push(Coupling { name: middle, kind: "gear", joints: [first, first + 1], ratio: -1.0, sides });
        if in_plane.is_some() {
            let F = Frame { s: Vector3::zeros(), R: fourbar_math::so3::frame_from_z(&z) };
            let M = Frame { s: Vector3::zeros(), R: fourbar_math::so3::frame_from_z(&Vector3::y()) };
            let kind = JointKind::Angle(joint::ConstantAngle { angle: std::f64::consts::FRAC_PI_2 });
            model.joints.push(Joint { name: level, kind, bodies: [BodyId::GROUND, id], F, M, memory: None, open: false });
        }
    }

    fn is_taken(&self, name: &str) -> bool {
        let spec = self.spec;
        self.bodies.contains_key(name)
            || self.points.contains_key(name)
            || self.auxiliaries.contains_key(name)
            || spec.joints.iter().any(|x| x.0 == name)
            || spec.constraints.iter().any(|x| x.0 == name)
            || spec.drives.iter().any(|x| x.0 == name)
            || spec.forces.iter().any(|x| x.0 == name)
            || spec.tables.iter().any(|x| x.0 == name)
            || spec.outputs.iter().any(|x| x.0 == name)
            || spec.curves.iter().any(|x| x.0 == name)
    }
}
