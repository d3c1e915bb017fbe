//! A mechanism file redrawn at other poses: all geometry given as drawn is converted to body coordinates, so that only the start changes.

use fourbar::force::{Force, ForceSpec};
use fourbar::joint::JointKind;
use fourbar::model::Body;
use fourbar::spec::{At, BodySpec, ConstraintSpec, FrameSpec, JointSpec, Orientation, Place, Placement, Side};
use fourbar::state::{Configuration, Pose};
use fourbar::{Diagnostic, Model, ModelSpec};
use fourbar_math::so3;
use nalgebra::Vector3;

fn refused(name: &str, why: &str) -> Diagnostic {
    Diagnostic::new("U404", format!("the mechanism cannot be written in its equilibrium position: `{name}` {why}"))
        .name(name)
        .help("use `start: {from: equilibrium}` in the file instead")
}

fn three(x: &Vector3<f64>) -> [f64; 3] {
    [x.x, x.y, x.z]
}

/// The bodies of a model by name, as they were drawn.
struct Drawn<'a>(&'a Model);

impl Drawn<'_> {
    fn body(&self, name: &str) -> Option<&Body> {
        self.0.bodies.iter().find(|b| b.name == name)
    }

    /// A position in the frame of its body.
    fn place(&self, p: &mut Place) {
        let (At::World(w), Some(b)) = (p.at, self.body(&p.body)) else { return };
        p.at = At::Body(three(&(Pose { r: b.r, A: b.A }.A.tr_mul(&(Vector3::from(w) - b.r)) + b.com)));
    }

    /// A direction in the axes of a body.
    fn direction(&self, body: &str, at: &mut At) {
        let (At::World(w), Some(b)) = (*at, self.body(body)) else { return };
        *at = At::Body(three(&b.A.tr_mul(&Vector3::from(w))));
    }

    fn frame(&self, body: usize, frame: &fourbar::joint::Frame) -> FrameSpec {
        let com = self.0.bodies[body].com;
        FrameSpec { at: three(&(frame.s + com)), axis: three(&frame.axis(2)), x: Some(three(&frame.axis(0))) }
    }

    fn joint(&self, name: &str, spec: &mut JointSpec) -> Result<(), Diagnostic> {
        let model = self.0;
        let built = model.joints.iter().find(|j| j.name == name);
        match (spec, built) {
            (JointSpec::Pair { placement, .. }, Some(j)) => {
                let [base, moving] = [(j.bodies[0], &j.F), (j.bodies[1], &j.M)].map(|(b, f)| self.frame(b.index(), f));
                *placement = Placement::Frames { base, moving };
            }
            (JointSpec::Distance { from, to, length }, Some(j)) => {
                if let JointKind::Distance(d) = &j.kind {
                    *length = Some(d.length);
                }
                self.place(from);
                self.place(to);
            }
            (JointSpec::Angle { bodies, axes, angle }, _) => {
                if angle.is_none() {
                    let unit = |k: usize, at: &At| match (at, self.body(&bodies[k])) {
                        (At::Body(x), Some(b)) => (b.A * Vector3::from(*x)).normalize(),
                        (At::World(x) | At::Body(x), _) => Vector3::from(*x).normalize(),
                    };
                    *angle = Some(unit(0, &axes[0]).dot(&unit(1, &axes[1])).clamp(-1.0, 1.0).acos());
                }
                axes.iter_mut().zip(bodies).for_each(|(a, b)| self.direction(b, a));
            }
            (JointSpec::Curve { bodies, at, radius, side, .. }, Some(j)) => {
                if let JointKind::PointOnCurve(c) = &j.kind
                    && side.is_none()
                    && *radius > 0.0
                {
                    *side = Some(if c.path.offset > 0.0 { Side::Left } else { Side::Right });
                }
                let mut place = Place { body: bodies[1].clone(), at: *at };
                self.place(&mut place);
                *at = place.at;
            }
            (JointSpec::Gear { carrier: Some(_), .. }, _) => return Err(refused(name, "is a gear with a carrier, whose zero is as drawn")),
            _ => {}
        }
        Ok(())
    }

    fn constraint(&self, spec: &mut ConstraintSpec) {
        match spec {
            ConstraintSpec::Dp1 { axes, other, .. } => {
                let first = axes[0].body.clone();
                axes.iter_mut().for_each(|a| self.direction(&a.body.clone(), &mut a.at));
                if let Some((at, _)) = other {
                    self.direction(&first, at);
                }
            }
            ConstraintSpec::Dp2 { axis, from, to, .. } => {
                self.direction(&from.body, axis);
                self.place(from);
                self.place(to);
            }
            ConstraintSpec::D { from, to, .. } | ConstraintSpec::Cd { from, to, .. } => {
                self.place(from);
                self.place(to);
            }
            ConstraintSpec::KnifeEdge { on, across } => {
                self.direction(&on.body, across);
                self.place(on);
            }
            ConstraintSpec::RollingSphere { on, .. } => self.place(on),
            ConstraintSpec::RollingDisk { on, axis, .. } => {
                self.direction(&on.body, axis);
                self.place(on);
            }
        }
    }

    fn force(&self, name: &str, spec: &mut ForceSpec) -> Result<(), Diagnostic> {
        match spec {
            ForceSpec::Spring(s) => s.between.iter_mut().for_each(|p| self.place(p)),
            ForceSpec::Rope(s) => s.between.iter_mut().chain(&mut s.via).for_each(|p| self.place(p)),
            ForceSpec::Force(s) => self.place(&mut s.on),
            ForceSpec::Bushing(_) => return Err(refused(name, "is a bushing, whose free position is the drawn one")),
            ForceSpec::Torsion(_) | ForceSpec::Torque(_) | ForceSpec::Actuator(_) | ForceSpec::Friction(_) | ForceSpec::Stop(_) => {}
        }
        Ok(())
    }
}

/// The specification of a mechanism, drawn at a state.
pub fn redrawn(spec: &ModelSpec, model: &Model, state: &Configuration) -> Result<ModelSpec, Diagnostic> {
    let mut out = spec.clone();
    let drawn = Drawn(model);
    for j in model.joints.iter().filter(|j| j.memory.is_some()) {
        let turns = j.memory.map_or(0.0, |m| state.turns[m]);
        let counted = j.coordinates().any(|(what, _)| what == "angle");
        if counted && turns.abs() > std::f64::consts::PI && reads_angle(model, &j.name) {
            return Err(refused(&j.name, "has turned by more than half a turn, and a force or coupling counts its turns"));
        }
    }
    for (name, joint) in &mut out.joints {
        drawn.joint(name, joint)?;
    }
    out.constraints.iter_mut().for_each(|(_, c)| drawn.constraint(c));
    for (name, force) in &mut out.forces {
        drawn.force(name, force)?;
    }
    out.points.iter_mut().for_each(|(_, p)| drawn.place(p));
    for (name, b) in &mut out.bodies {
        if let Some(k) = model.bodies.iter().position(|x| x.name == *name) {
            place_body(b, &model.bodies[k], &state.q[k], &(state.q[k].A * state.v[k].w), &state.v[k].v);
        }
    }
    for (k, (_, s)) in out.states.iter_mut().enumerate() {
        s.start = state.z[model.first_state() + k];
    }
    out.hold.clear();
    out.start.clear();
    out.settle = false;
    Ok(out)
}

fn place_body(spec: &mut BodySpec, body: &Body, q: &Pose, omega: &Vector3<f64>, v: &Vector3<f64>) {
    spec.at = three(&(q.r - q.A * body.com));
    spec.orientation = Orientation::Quaternion(so3::quaternion(&q.A));
    spec.com = three(&body.com);
    spec.velocity = three(v);
    spec.omega = three(omega);
}

/// Whether a force, a coupling or a drive reads the angle of a joint.
fn reads_angle(model: &Model, joint: &str) -> bool {
    let Some(k) = model.joints.iter().position(|j| j.name == joint) else { return false };
    let forces = model.forces.iter().any(|(_, f)| f.touches().joint == Some(k) && matches!(f, Force::Torsion(_)));
    forces || model.couplings.iter().any(|c| c.joints.contains(&k)) || model.drives.iter().any(|d| d.joint == k)
}
