//! Forces and drives of a sketch: springs, dampers, bushings, forces, actuators with expressions, friction, and drives.

use super::sketch::{Sketch, V, three};
use fourbar::expr::{Expr, Symbol};
use fourbar::spec::*;

/// Adds random forces and drives.
pub fn add(s: &mut Sketch) {
    drives(s);
    let force = s.mass * s.pace;
    if s.draw.once_in(2) {
        spring(s, force);
    }
    if s.draw.once_in(8) {
        bushing(s, force);
    }
    if s.draw.once_in(5) {
        let on = any_place(s);
        let frame = s.draw.pick(&[ForceFrame::World, ForceFrame::Body]);
        let force = [0; 3].map(|_| {
            let f = s.draw.between(-force, force);
            time(&format!("{f} * cos({} * t)", s.draw.between(0.0, 5.0)))
        });
        s.spec.forces.push(("push".into(), ForceSpec::Force(PointForceSpec { on, force, frame })));
    }
    if s.draw.once_in(10) {
        let body = s.draw.below(s.bodies()) + 1;
        let torque = [0; 3].map(|_| StateExpr::constant(s.draw.between(-0.3, 0.3) * force * s.size));
        let body = s.name(body).to_string();
        s.spec.forces.push(("twist".into(), ForceSpec::Torque(TorqueSpec { body, torque, frame: ForceFrame::Body })));
    }
    on_joints(s, force);
}

fn time(text: &str) -> StateExpr {
    // The texts are generated here, so they parse.
    StateExpr { expr: Expr::time(text).unwrap_or_else(|_| Expr::constant(0.0)), variables: vec![StateVariable::Time] }
}

fn any_place(s: &mut Sketch) -> Place {
    let body = s.draw.below(s.bodies()) + 1;
    let at = At::Body(three(&(s.draw.vector() * (0.3 * s.size))));
    Place { body: s.name(body).to_string(), at }
}

/// A place on the ground, or on another body.
fn two_places(s: &mut Sketch) -> [Place; 2] {
    let second = any_place(s);
    let mut first = any_place(s);
    if first.body == second.body || s.draw.once_in(2) {
        // Away from the mechanism: a spring of zero length has no direction.
        let at = s.draw.unit() * 2.5;
        first = s.place(0, &at);
    }
    [first, second]
}

fn spring(s: &mut Sketch, force: f64) {
    let stiffness = force / s.size * s.draw.decades(-1.0, 1.0);
    let rest = s.draw.between(0.3, 1.5) * s.size;
    let damping = if s.draw.once_in(2) { 0.0 } else { stiffness * (s.size / s.pace).sqrt() * s.draw.between(0.02, 0.3) };
    let law = if s.draw.once_in(4) {
        let mut resolve = |name: &str| match name {
            "x" => Some(Symbol::Variable(0)),
            "v" => Some(Symbol::Variable(1)),
            _ => None,
        };
        let text = format!("{stiffness} * (x - {rest}) * (1 + ((x - {rest}) / {})^2) + {damping} * v", s.size);
        let expr = Expr::parse(&text, &mut resolve).unwrap_or_else(|_| Expr::constant(0.0));
        SpringLaw::Expression(StateExpr { expr, variables: vec![StateVariable::Length, StateVariable::Rate] })
    } else {
        SpringLaw::Linear { stiffness, rest, damping }
    };
    let mass = if s.draw.once_in(8) { 0.05 * s.mass } else { 0.0 };
    let between = two_places(s);
    s.spec.forces.push(("spring".into(), ForceSpec::Spring(SpringSpec { between, law, mass })));
}

fn bushing(s: &mut Sketch, force: f64) {
    // Soft and unequal in its directions.
    let along = force / s.size;
    let stiffness = std::array::from_fn(|k| along * s.draw.between(0.5, 5.0) * if k < 3 { 1.0 } else { s.size * s.size });
    let share = if s.draw.once_in(3) { 0.0 } else { 0.1 * (s.size / s.pace).sqrt() };
    let damping = stiffness.map(|k| k * share);
    let second = any_place(s);
    let body = s.names_index(&second.body);
    let At::Body(at) = second.at else { return };
    // Both places coincide as drawn.
    let world = s.world(body, &V::from(at));
    let first = Place { body: "ground".into(), at: At::World(three(&world)) };
    let axis = three(&s.draw.unit());
    let frame = Orientation::AxisAngle { axis, angle: s.draw.between(0.0, 1.0) };
    s.spec.forces.push(("bushing".into(), ForceSpec::Bushing(BushingSpec { between: [first, second], frame, stiffness, damping })));
}

fn on_joints(s: &mut Sketch, force: f64) {
    let torque = force * s.size;
    for joined in s.joints.clone() {
        let turns = joined.kind == PairKind::Revolute;
        let slides = joined.kind == PairKind::Prismatic;
        if !turns && !slides {
            continue;
        }
        let effort = if turns { torque } else { force };
        let joint = joined.name;
        match s.draw.below(12) {
            0 if turns => {
                let stiffness = effort * s.draw.between(0.1, 2.0);
                let damping = stiffness * s.draw.between(0.0, 0.1);
                let law = SpringLaw::Linear { stiffness, rest: s.draw.between(-0.5, 0.5), damping };
                s.spec.forces.push((format!("torsion_{joint}"), ForceSpec::Torsion(TorsionSpec { joint, law })));
            }
            1 => {
                let (a, w, d) = (effort * s.draw.between(-0.5, 0.5), s.draw.between(1.0, 8.0), effort * 0.05);
                let mut resolve = |name: &str| match name {
                    "t" => Some(Symbol::Variable(0)),
                    "speed" => Some(Symbol::Variable(1)),
                    _ => None,
                };
                let text = format!("{a} * sin({w} * t) - {d} * speed");
                let expr = Expr::parse(&text, &mut resolve).unwrap_or_else(|_| Expr::constant(0.0));
                let effort = StateExpr { expr, variables: vec![StateVariable::Time, StateVariable::JointSpeed(joint.clone())] };
                s.spec.forces.push((format!("motor_{joint}"), ForceSpec::Actuator(ActuatorSpec { joint, effort })));
            }
            2 => {
                let viscous = effort * (if turns { 1.0 } else { 1.0 / s.size }) * s.draw.between(0.0, 0.1);
                let coulomb = if s.draw.once_in(3) { 0.0 } else { s.draw.between(0.02, 0.3) };
                let radius = if turns { s.size * s.draw.between(0.02, 0.1) } else { 0.0 };
                let speed = (s.pace * s.size).sqrt() * s.draw.between(0.05, 0.3) / if turns { s.size } else { 1.0 };
                s.spec.forces.push((
                    format!("friction_{joint}"),
                    ForceSpec::Friction(FrictionSpec { joint, coulomb, viscous, radius, speed, ..Default::default() }),
                ));
            }
            _ => {}
        }
    }
}

/// One drive, or several if the family allows; all start at the drawn position.
fn drives(s: &mut Sketch) {
    if s.driveable.is_empty() || !s.draw.once_in(3) {
        return;
    }
    let w = (s.pace / s.size).sqrt();
    let list = s.driveable.clone();
    let n = if s.draw.once_in(2) { 1 } else { list.len() };
    for (k, joint) in list.into_iter().take(n).enumerate() {
        let turns = s.joints.iter().any(|j| j.name == joint && j.kind != PairKind::Prismatic);
        let amount = if turns { 1.0 } else { 0.25 * s.size };
        let (rate, swing, beat) = (w * s.draw.between(-1.0, 1.0), s.draw.between(0.0, 0.3), w * s.draw.between(0.5, 3.0));
        let (quantity, text) = if s.draw.once_in(3) {
            (DriveQuantity::Speed, format!("{} + {} * sin({beat} * t)", amount * rate, amount * rate * swing))
        } else {
            let quantity = if turns { DriveQuantity::Angle } else { DriveQuantity::Distance };
            (quantity, format!("{} * t + {} * sin({beat} * t)", amount * rate, amount * swing))
        };
        let value = Expr::time(&text).unwrap_or_else(|_| Expr::constant(0.0));
        s.spec.drives.push((format!("drive{}", k + 1), DriveSpec { joint, quantity, value, inputs: Vec::new() }));
    }
}
