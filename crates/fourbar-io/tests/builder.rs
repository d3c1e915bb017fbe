//! Mechanisms built in Rust equal those of the files bit for bit, and their errors have the same texts.

use fourbar::mechanism::{Body, GROUND, Mechanism, drawn, on};
use fourbar::spec::*;
use fourbar_io::{ReadOptions, examples::example, read_model};
use std::f64::consts::PI;

fn file(name: &str) -> (ModelSpec, Vec<(String, f64)>) {
    let loaded = read_model(example(name).expect(name).text, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    (loaded.spec, loaded.parameters)
}

/// Looks up values of parameters by name.
fn parameters(list: &[(String, f64)]) -> impl Fn(&str) -> f64 {
    |name| list.iter().find(|(n, _)| n == name).unwrap_or_else(|| panic!("{name}")).1
}

/// Asserts the same specification, and the same model bit for bit.
fn assert_same(built: Mechanism, file: &ModelSpec) {
    let spec = built.clone().spec().unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(&spec, file);
    let (a, b) = (built.build().expect("builds"), file.build().expect("builds"));
    assert_eq!(format!("{a:?}"), format!("{b:?}"));
}

const Z: V3 = [0.0, 0.0, 1.0];

#[test]
fn the_four_bar_is_that_of_its_file() {
    let (spec, list) = file("fourbar");
    let p = parameters(&list);
    let [ax, ay, bx, by, turn, ground, bar, width] = ["Ax", "Ay", "Bx", "By", "turn", "ground_length", "bar", "width"].map(&p);
    let [crank, coupler, rocker, px, py, plate] = ["crank_length", "coupler_length", "rocker_length", "Px", "Py", "plate_mass"].map(&p);
    let [mx, my, wc, wr] = ["Mx", "My", "coupler_turn", "rocker_turn"].map(&p);
    let rod = |length: f64| {
        let across = bar * length.powi(3) / 12.0;
        Body::new().mass(bar * length).inertia([bar * length * width.powi(2) / 12.0, across, across]).com([length / 2.0, 0.0, 0.0])
    };
    let triangle = Shape::Plate { points: vec![[0.0; 3], [coupler, 0.0, 0.0], [px, py, 0.0]], thickness: 5.0 * 1e-3 };
    let plate = Body::new()
        .mass(plate)
        .inertia([
            plate * (py.powi(2) + width.powi(2)) / 18.0,
            plate * (coupler.powi(2) + width.powi(2)) / 18.0,
            plate * (coupler.powi(2) + py.powi(2)) / 18.0,
        ])
        .at([ax, ay, 0.0])
        .turned(Z, p("coupler_angle"))
        .com([(coupler + px) / 3.0, py / 3.0, 0.0])
        .velocity([-turn * ay - wc * my, turn * ax + wc * mx, 0.0])
        .omega([0.0, 0.0, wc])
        .shape(triangle);
    let built = Mechanism::new()
        .title("Four-bar linkage with its coupler curve")
        .gravity([0.0, -9.81, 0.0])
        .parameter("turn", turn)
        .body("crank", rod(crank).turned(Z, p("start")).velocity([-turn * ay / 2.0, turn * ax / 2.0, 0.0]).omega([0.0, 0.0, turn]))
        .body("coupler", plate)
        .body(
            "rocker",
            rod(rocker)
                .at([ground, 0.0, 0.0])
                .turned(Z, p("rocker_angle"))
                .velocity([-wr * by / 2.0, wr * (bx - ground) / 2.0, 0.0])
                .omega([0.0, 0.0, wr]),
        )
        .revolute("O", GROUND, "crank")
        .at([0.0; 3])
        .axis(Z)
        .revolute("A", "crank", "coupler")
        .at([ax, ay, 0.0])
        .axis(Z)
        .revolute("B", "coupler", "rocker")
        .at([bx, by, 0.0])
        .axis(Z)
        .revolute("C", GROUND, "rocker")
        .at([ground, 0.0, 0.0])
        .axis(Z)
        .drive("motor", "O")
        .angle("turn*t")
        .point("P", on("coupler", [px, py, 0.0]))
        .study(StudySpec { analysis: Some("kinematics".into()), t_end: 1.0, output_step: Some(5.0 * 1e-3), ..StudySpec::default() })
        .trace(["P"]);
    assert_same(built, &spec);
}

/// Rebuilds a specification with the builder: every element by its own method.
fn rewritten(spec: &ModelSpec) -> Mechanism {
    let mut m = Mechanism::new().title(spec.title.clone()).study(spec.study.clone()).hold(spec.hold.clone()).trace(spec.trace.clone());
    m = m.columns(spec.columns.clone());
    if let Some(g) = spec.gravity {
        m = m.gravity(g);
    }
    for (name, b) in &spec.bodies {
        let body = Body::new().mass(b.mass).at(b.at).orientation(b.orientation).com(b.com).velocity(b.velocity).omega(b.omega);
        let body = match b.inertia {
            Inertia::Principal(p) => body.inertia(p),
            Inertia::Tensor(t) => body.inertia_tensor(t),
            Inertia::Point => body.point_mass(),
        };
        m = m.body(name, b.shapes.iter().cloned().fold(body, Body::shape));
    }
    for (name, c) in &spec.curves {
        m = m.curve(name, c.clone());
    }
    for (name, j) in &spec.joints {
        m = joint(m, name, j);
    }
    for (name, t) in &spec.tables {
        m = m.table(name, t.clone());
    }
    for (name, c) in &spec.constraints {
        m = constraint(m, name, c);
    }
    for (name, i) in &spec.inputs {
        m = m.input(name, i.clone());
    }
    for (name, s) in &spec.states {
        m = m.own_state(name, &s.unit, s.rate.expr.to_text(|k| s.rate.variables[k as usize].to_string()), s.start);
    }
    for (name, d) in &spec.drives {
        let time = |e: &fourbar::expr::Expr| e.to_text(|k| if k == 0 { "t".into() } else { d.inputs[k as usize - 1].clone() });
        let drive = m.drive(name, &d.joint);
        m = match d.quantity {
            DriveQuantity::Angle => drive.angle(time(&d.value)),
            DriveQuantity::Distance => drive.distance(time(&d.value)),
            DriveQuantity::Speed => drive.speed(time(&d.value)),
            DriveQuantity::Acceleration => drive.acceleration(time(&d.value)),
        };
    }
    for (name, f) in &spec.forces {
        m = force(m, name, f);
    }
    for (name, o) in &spec.outputs {
        let output = m.output(name, o.value.expr.to_text(|k| o.value.variables[k as usize].to_string()));
        m = match &o.unit {
            Some((unit, size)) => output.unit(unit, *size),
            None => output.end(),
        };
    }
    for (name, p) in &spec.points {
        m = m.point(name, p.clone());
    }
    for (joint, l) in &spec.limits {
        m = m.limits(joint, l.clone());
    }
    for (name, e) in &spec.events {
        m = event(m, name, e);
    }
    for (name, c) in &spec.contacts {
        m = m.contact(name, c.clone());
    }
    for (name, p) in &spec.paths {
        m = m.path(name, p.clone());
    }
    for (name, x) in &spec.motors {
        m = m.motor(name, x.clone());
    }
    for p in &spec.plots {
        m = match &p.x {
            Some(x) => m.plot_over(p.y[0].clone(), x.clone()),
            None => m.plot(p.y.clone()),
        };
    }
    if let Some(body) = &spec.follow {
        m = m.follow(body);
    }
    for (variable, value) in &spec.start {
        m = m.start(&variable.to_string(), *value);
    }
    m
}

fn event(m: Mechanism, name: &str, e: &EventSpec) -> Mechanism {
    let text = |x: &StateExpr| x.expr.to_text(|k| x.variables[k as usize].to_string());
    let mut m = m.event(name, text(&e.when));
    m = match e.direction {
        Direction::Any => m,
        Direction::Rising => m.rising(),
        Direction::Falling => m.falling(),
    };
    if let Some(once) = e.once {
        m = m.once(once);
    }
    if let Some(x) = e.rearm {
        m = m.rearm(x);
    }
    if let Some(after) = &e.after {
        m = m.after(after);
    }
    for action in &e.actions {
        m = match action {
            ActionSpec::Enable(n) => m.enable(n),
            ActionSpec::Disable(n) => m.disable(n),
            ActionSpec::Lock(n) => m.lock(n),
            ActionSpec::Release(n) => m.release(n),
            ActionSpec::Remove(n) => m.remove(n),
            ActionSpec::Set(n, x) => m.set(n, text(x)),
            ActionSpec::Stop => m.stop(),
        };
    }
    m.end()
}

fn joint(m: Mechanism, name: &str, j: &JointSpec) -> Mechanism {
    match j {
        JointSpec::Pair { kind, bodies: [a, b], placement } => {
            let axial = match kind {
                PairKind::Revolute => m.revolute(name, a, b),
                PairKind::Prismatic => m.prismatic(name, a, b),
                PairKind::Cylindrical => m.cylindrical(name, a, b),
                PairKind::Planar => m.planar(name, a, b),
                PairKind::Screw { lead } => m.screw(name, a, b, *lead),
                PairKind::PointOnLine => m.point_on_line(name, a, b),
                PairKind::PointOnPlane => m.point_on_plane(name, a, b),
                PairKind::Spherical | PairKind::Fixed => {
                    let pointed = if *kind == PairKind::Fixed { m.fixed(name, a, b) } else { m.spherical(name, a, b) };
                    return match placement {
                        Placement::World { at, .. } => pointed.at(*at),
                        Placement::Frames { base, moving } => pointed.frames(*base, *moving),
                    };
                }
                PairKind::Universal => {
                    let cross = m.universal(name, a, b);
                    return match placement {
                        Placement::World { at, axis, axis_moving } => cross.at(*at).axes(*axis, axis_moving.expect("two axes")).end(),
                        Placement::Frames { base, moving } => cross.frames(*base, *moving),
                    };
                }
            };
            match placement {
                Placement::World { at, axis, .. } => axial.at(*at).axis(*axis).end(),
                Placement::Frames { base, moving } => axial.frames(*base, *moving),
            }
        }
        JointSpec::Curve { bodies: [a, b], curve, at, radius, side: None } if *radius == 0.0 => m.point_on_curve(name, a, b, curve, *at),
        // There are no methods for followers with a radius.
        JointSpec::Curve { .. } => m.joint(name, j.clone()),
        JointSpec::Distance { from, to, length } => {
            let joint = m.distance_joint(name, from.clone(), to.clone());
            match length {
                Some(length) => joint.length(*length),
                None => joint.end(),
            }
        }
        JointSpec::Angle { bodies: [a, b], axes, angle } => {
            let joint = m.angle_joint(name, a, b, *axes);
            match angle {
                Some(angle) => joint.angle(*angle),
                None => joint.end(),
            }
        }
        JointSpec::Gear { joints: [a, b], ratio, carrier } => {
            let gear = m.gear(name, a, b, *ratio);
            match carrier {
                Some(carrier) => gear.carrier(carrier),
                None => gear.end(),
            }
        }
        JointSpec::Rack { joints: [a, b], radius } => m.rack(name, a, b, *radius),
    }
}

fn constraint(m: Mechanism, name: &str, c: &ConstraintSpec) -> Mechanism {
    let time = |e: &fourbar::expr::Expr| e.to_text(|_| "t".into());
    match c.clone() {
        ConstraintSpec::Dp1 { axes, value, other } => {
            let row = m.dp1(name, axes, time(&value));
            match other {
                Some((axis, value)) => row.other(axis, time(&value)),
                None => row.end(),
            }
        }
        ConstraintSpec::Dp2 { axis, from, to, value } => m.dp2(name, axis, from, to, time(&value)),
        ConstraintSpec::D { from, to, value } => m.d(name, from, to, time(&value)),
        ConstraintSpec::Cd { axis, from, to, value } => m.cd(name, axis, from, to, time(&value)),
        ConstraintSpec::KnifeEdge { on, across } => m.knife_edge(name, on, across),
        ConstraintSpec::RollingSphere { on, radius, plane } => m.rolling_sphere(name, on, radius).plane(plane.at, plane.normal),
        ConstraintSpec::RollingDisk { on, axis, radius, plane, contact: true } => {
            m.rolling_disk(name, on, axis, radius).plane(plane.at, plane.normal)
        }
        ConstraintSpec::RollingDisk { on, axis, radius, plane, contact: false } => {
            m.wheel(name, on, axis, radius).plane(plane.at, plane.normal)
        }
    }
}

fn force(m: Mechanism, name: &str, f: &ForceSpec) -> Mechanism {
    let text = |e: &StateExpr, own: &str| {
        e.expr.to_text(|k| match &e.variables[k as usize] {
            StateVariable::Length => own.to_string(),
            v => v.to_string(),
        })
    };
    match f.clone() {
        ForceSpec::Spring(SpringSpec { between: [a, b], law, mass }) => {
            let spring = m.spring(name, a, b);
            let spring = match law {
                SpringLaw::Linear { stiffness, rest, damping } => spring.stiffness(stiffness).length(rest).damping(damping),
                SpringLaw::Expression(e) => spring.tension(text(&e, "length")),
            };
            spring.mass(mass).end()
        }
        ForceSpec::Torsion(TorsionSpec { joint, law }) => {
            let torsion = m.torsion(name, joint);
            match law {
                SpringLaw::Linear { stiffness, rest, damping } => torsion.stiffness(stiffness).angle(rest).damping(damping).end(),
                SpringLaw::Expression(e) => torsion.torque_law(text(&e, "angle")),
            }
        }
        ForceSpec::Force(PointForceSpec { on, force, frame }) => {
            let force = m.force(name, on, force.each_ref().map(|e| text(e, "")));
            if frame == ForceFrame::Body { force.in_body() } else { force.end() }
        }
        ForceSpec::Torque(TorqueSpec { body, torque, frame }) => {
            let torque = m.torque(name, body, torque.each_ref().map(|e| text(e, "")));
            if frame == ForceFrame::Body { torque.in_body() } else { torque.end() }
        }
        ForceSpec::Actuator(ActuatorSpec { joint, effort }) => m.actuator(name, joint, text(&effort, "")),
        ForceSpec::Bushing(BushingSpec { between: [a, b], frame, stiffness, damping }) => {
            m.bushing(name, a, b).frame(frame).stiffness(stiffness).damping(damping).end()
        }
        ForceSpec::Rope(RopeSpec { between: [a, b], via, length, stiffness, damping }) => {
            let rope = m.rope(name, a, b).length(length).stiffness(stiffness).damping(damping);
            via.into_iter().fold(rope, |r, place| r.via(place)).end()
        }
        ForceSpec::Friction(FrictionSpec { joint, coulomb, viscous, radius, speed, stick, static_coefficient, preload, .. }) => {
            let friction = m.friction(name, joint).coulomb(coulomb).viscous(viscous).radius(radius).speed(speed);
            let friction = if preload > 0.0 { friction.preload(preload) } else { friction };
            if stick { friction.stick(static_coefficient).end() } else { friction.end() }
        }
        ForceSpec::Stop(stop) => m.springy_stop(name, stop),
    }
}

#[test]
fn every_shipped_model_and_random_mechanism_can_be_written_in_rust() {
    let shipped = fourbar_io::examples::examples().map(|e| file(e.name).0);
    let random = (0..116).map(|seed| {
        let mut spec = fourbar_testing::families::mechanism(seed);
        // Random joints without an axis that are drawn at a place have one nevertheless, which has no effect.
        for (_, j) in &mut spec.joints {
            if let JointSpec::Pair { kind: PairKind::Spherical | PairKind::Fixed, placement: Placement::World { axis, .. }, .. } = j {
                *axis = Z;
            }
        }
        spec
    });
    let mut count = 0;
    for spec in shipped.chain(random) {
        assert_same(rewritten(&spec), &spec);
        count += 1;
    }
    assert!(count > 150, "{count}");
}

/// Elements that no shipped model has, written both ways.
#[test]
fn rare_elements_are_those_of_the_file() {
    let text = "
fourbar: 1
bodies:
  a: {mass: 1, inertia: [1, 1, 1], at: [0, 0, 1]}
  b: {mass: 2, inertia: 0, at: [1, 0, 1]}
joints:
  slide: {type: point-on-line, bodies: [ground, a], at: [0, 0, 1], axis: [1, 0, 0]}
  plate: {type: point-on-plane, bodies: [ground, b], at: [1, 0, 1], axis: [0, 0, 1]}
  rod: {type: distance, from: {body: a, at: [0, 0, 0]}, to: {body: b, world: [1, 0, 1]}, length: 1}
  tilt: {type: angle, bodies: [ground, a], axes: [[0, 0, 1], [1, 0, 0]], angle: 90 deg}
constraints:
  blade: {type: knife-edge, on: {body: a, at: [0, 0, 0]}, across: [0, 1, 0]}
drives:
  push: {joint: slide, speed: 0.2*cos(t)}
forces:
  rest: {type: bushing, between: [{body: ground, world: [0, 0, 1]}, {body: a, at: [0, 0, 0]}], stiffness: [1, 2, 3, 4, 5, 6]}
  rub: {type: friction, joint: slide, coulomb: 0.1}
  pull: {type: spring, between: [{body: a, at: [0, 0, 0]}, {body: b, at: [0, 0, 0]}], tension: 3*(length - 1) + 0.1*rate + tip.vx}
  motor: {type: actuator, joint: slide, effort: -slide.speed}
points:
  tip: {body: b, at: [0, 0, 0.5]}
start: {slide.distance: 0.1, tip.z: 1.5}
";
    let spec = read_model(text, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}")).spec;
    let built = Mechanism::new()
        .body("a", Body::new().at([0.0, 0.0, 1.0]))
        .body("b", Body::new().mass(2.0).point_mass().at([1.0, 0.0, 1.0]))
        .point_on_line("slide", GROUND, "a")
        .at([0.0, 0.0, 1.0])
        .axis([1.0, 0.0, 0.0])
        .point_on_plane("plate", GROUND, "b")
        .at([1.0, 0.0, 1.0])
        .axis(Z)
        .distance_joint("rod", on("a", [0.0; 3]), drawn("b", [1.0, 0.0, 1.0]))
        .length(1.0)
        .angle_joint("tilt", GROUND, "a", [At::Body(Z), At::Body([1.0, 0.0, 0.0])])
        .angle(90.0 * (PI / 180.0))
        .knife_edge("blade", on("a", [0.0; 3]), At::Body([0.0, 1.0, 0.0]))
        .drive("push", "slide")
        .speed("0.2*cos(t)")
        .bushing("rest", drawn(GROUND, [0.0, 0.0, 1.0]), on("a", [0.0; 3]))
        .stiffness([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
        .friction("rub", "slide")
        .coulomb(0.1)
        .spring("pull", on("a", [0.0; 3]), on("b", [0.0; 3]))
        .tension("3*(length - 1) + 0.1*rate + tip.vx")
        .actuator("motor", "slide", "-slide.speed")
        .point("tip", on("b", [0.0, 0.0, 0.5]))
        .start("slide.distance", 0.1)
        .start("tip.z", 1.5);
    assert_same(built, &spec);
}

#[test]
fn everything_that_is_wrong_is_said_at_once_with_the_codes_of_files() {
    let error = Mechanism::new()
        .body("rod", Body::new().mass(-1.0).inertia([1.0, 1.0, 9.0]))
        .body("rod", Body::new())
        .revolute("pin", GROUND, "rood")
        .at([0.0; 3])
        .prismatic("slide", GROUND, "rod")
        .drive("motor", "pni")
        .angle("2*pi*tt")
        .drive("idle", "slide")
        .spring("pull", on("rod", [0.0; 3]), drawn(GROUND, [0.0; 3]))
        .stiffness(3.0)
        .torque("twist", "rod", ["sin(", "0", "0"])
        .start("slide", 1.0)
        .build()
        .expect_err("nothing is right");
    let codes: Vec<&str> = error.iter().map(|d| d.code.0).collect();
    let expected = ["M013", "M013", "M021", "M013", "M013", "M020", "M113", "M100", "M102", "M103", "M106", "M108"];
    for code in expected {
        let count = |list: &[&str]| list.iter().filter(|c| **c == code).count();
        assert_eq!(count(&codes), count(&expected), "{code} in\n{error}");
    }
    let said = error.to_string();
    for part in [
        "`pin`, a revolute joint, lacks `axis` (at joints.pin)",
        "`slide`, a prismatic joint, lacks `at` and `axis`",
        "`tt`",
        "did you mean `rod`?",
        "`pull`, a spring, lacks `length`",
        "(at drives.motor.angle)",
    ] {
        assert!(said.contains(part), "{part} in\n{said}");
    }
}
