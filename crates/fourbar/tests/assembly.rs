//! Assembly: rough starts, nearest solution, held coordinates, impossible mechanisms.
#![allow(non_snake_case)]

use fourbar::analysis::assembly::{Options, assemble, assemble_from, flipped_joint};
use fourbar::constraint::ConstraintSet;
use fourbar::random::Random;
use fourbar::{Configuration, Model};
use fourbar_testing::common::*;

/// Starts per model here; `cargo xtask study assembly` runs a thousand.
const STARTS: usize = 20;

fn residual(model: &Model, c: &Configuration) -> f64 {
    let set = ConstraintSet::new(model.constraints(true), |_| false);
    let mut Phi = vec![0.0; set.rows()];
    set.residual(&c.q, &c.turns, 0.0, &mut Phi);
    Phi.iter().fold(0.0, |s, x| s.max(x.abs()))
}

#[test]
fn rough_starts_of_every_shipped_model_close_or_say_why_not() {
    let mut refused = Vec::new();
    let mut total = 0;
    for name in shipped() {
        let model = model(&name);
        let start = assemble(&model).unwrap_or_else(|d| panic!("{name}: {d}")).configuration;
        let mut random = Random(0xabcdef ^ name.len() as u64);
        let held = vec![false; model.bodies.len()];
        let starts = if model.moving() > 20 { 3 } else { STARTS };
        for k in 0..starts {
            let mut rough = start.clone();
            // Off by up to 20 % of a link's length and 30 degrees.
            random.disturb(&mut rough.q, &held, 0.2 * model.length, 30f64.to_radians());
            total += 1;
            // Only one search without multistart: the choice between several poses has a separate test.
            match assemble_from(&model, &rough, Options { starts: 0, ..Options::default() }) {
                Ok(a) => {
                    let r = residual(&model, &a.configuration);
                    assert!(r < 1e-9 * (1.0 + model.length), "{name} {k}: residual {r:.2e}");
                    assert!(flipped_joint(&model, &a.configuration.q).is_none(), "{name} {k}: flipped");
                }
                Err(d) => {
                    assert!(!d.names.is_empty(), "{name} {k}: {d}");
                    refused.push(format!("{name} {k}: {d}"));
                }
            }
        }
    }
    // Nearly all close; for the few others the message must name the open joints (asserted above).
    assert!(refused.len() * 50 <= total, "{} of {total}:\n{}", refused.len(), refused.join("\n"));
}

#[test]
fn a_consistent_start_is_left_alone_to_the_bit() {
    let model = model("dca_double_loop");
    let a = assemble(&model).expect("assembles");
    assert_eq!(a.iterations, 0);
    assert_eq!(a.configuration.q, Configuration::start(&model).q);
}

#[test]
fn the_nearest_solution_is_found_not_just_any() {
    // A body tied by a rod from its centre to the origin: the nearest closed position lies on the same ray, without rotation.
    let model = parse(
        "
fourbar: 1
gravity: [0, 0, 0]
bodies: {stone: {mass: 2, inertia: [0.1, 0.2, 0.25], at: [0.9, 0.6, -0.5]}}
joints: {rod: {type: distance, from: {body: ground, at: [0, 0, 0]}, to: {body: stone, at: [0, 0, 0]}, length: 1.5}}
",
    );
    let a = assemble(&model).expect("assembles");
    let exact = nalgebra::Vector3::new(0.9, 0.6, -0.5).normalize() * 1.5;
    let got = &a.configuration.q[1];
    assert!((got.r - exact).norm() < 1e-9, "{}", got.r);
    assert!(a.moved[0].angle < 1e-9);
    assert!(a.warning(&model).is_some_and(|w| w.code.0 == "W201" && w.message.contains("rod")));
}

#[test]
fn nothing_nearer_satisfies_the_constraints() {
    // First-order optimality: the displacement is orthogonal, in the metric of the masses, to every free motion.
    let model = model("fourbar_3d");
    let start = assemble(&model).expect("assembles").configuration;
    let mut random = Random(77);
    let mut rough = start.clone();
    random.disturb(&mut rough.q, &vec![false; model.bodies.len()], 0.05 * model.length, 0.1);
    let a = assemble_from(&model, &rough, Options { drives: false, restarts: 0, starts: 0 }).expect("closes");
    let set = ConstraintSet::new(model.constraints(false), |_| false);
    let rank = fourbar::analysis::rank::rank(&model, &set, &a.configuration.q);
    let inverse = fourbar::schur::inverse_masses(&model, 0.01);
    let (mut product, mut size) = (vec![0.0; rank.motions.len()], 0.0_f64);
    for b in 1..model.bodies.len() {
        let d = rough.q[b].increment_to(&a.configuration.q[b]);
        let J = inverse[b].J.try_inverse().expect("regular");
        let gradient = fourbar_math::so3::tangent_inv(&d.w).transpose() * (J * d.w);
        size = size.max(d.v.norm() / inverse[b].m).max(gradient.norm());
        for (p, m) in product.iter_mut().zip(&rank.motions) {
            *p += d.v.dot(&m[b].v) / inverse[b].m + gradient.dot(&m[b].w);
        }
    }
    for p in product {
        assert!(p.abs() < 1e-5 * size, "{p:.2e} of {size:.2e}");
    }
}

#[test]
fn held_coordinates_and_bodies_do_not_move() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/ra_four_link.yaml")).expect("shipped");
    let text: String =
        text.lines().filter(|l| !l.trim_start().starts_with("motor:") && !l.starts_with("drives:")).map(|l| format!("{l}\n")).collect();
    for (hold, body) in [("rotor", 1), ("J1", 1)] {
        let model = parse(&format!("{text}\nhold: [{hold}]\n"));
        let mut rough = Configuration::start(&model);
        let mut random = Random(5);
        let mut held = vec![false; model.bodies.len()];
        held[body] = true;
        random.disturb(&mut rough.q, &held, 0.5, 0.3);
        let a = assemble_from(&model, &rough, Options::default()).expect("closes");
        let d = rough.q[body].increment_to(&a.configuration.q[body]);
        assert!(d.v.norm() + d.w.norm() < 1e-9, "{hold}: moved by {:.2e} m, {:.2e} rad", d.v.norm(), d.w.norm());
    }
}

#[test]
fn an_impossible_mechanism_names_the_joints_and_the_gap() {
    // A four-bar whose coupler is half a metre too short to reach.
    let model = parse(
        "
fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  crank: {mass: 1, inertia: [0.01, 0.01, 0.01], at: [0, 0.5, 0]}
  coupler: {mass: 1, inertia: [0.01, 0.1, 0.1], at: [0.5, 1, 0]}
  rocker: {mass: 1, inertia: [0.01, 0.01, 0.01], at: [4, 0.5, 0]}
joints:
  A: {type: revolute, bodies: [ground, crank], at: [0, 0, 0], axis: [0, 0, 1]}
  B: {type: revolute, bodies: [crank, coupler], at: [0, 1, 0], axis: [0, 0, 1]}
  C: {type: revolute, bodies: [coupler, rocker], frames: {coupler: {at: [0.5, 0, 0], axis: [0, 0, 1]}, rocker: {at: [0, 0.5, 0], axis: [0, 0, 1]}}}
  D: {type: revolute, bodies: [ground, rocker], at: [4, 0, 0], axis: [0, 0, 1]}
",
    );
    let d = assemble(&model).expect_err("cannot close: links 1 + 1 + 1 m against a base of 4 m");
    assert_eq!(d.code.0, "S211");
    // The gap of one metre is concentrated on few joints and reported in metres.
    assert!(!d.names.is_empty() && d.names.len() <= 3, "{d}");
    let gap: f64 = d.message.split('(').nth(1).and_then(|s| s.split(' ').next()).and_then(|s| s.parse().ok()).expect("a number");
    assert!((0.3..1.1).contains(&gap), "{d}");
}

/// Angles beyond half a turn, prescribed by drives, start conditions and gears, are counted as prescribed.
#[test]
fn angles_beyond_half_a_turn_are_met() {
    let two = "
fourbar: 1
bodies:
  a: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [0.3, 0, 0]}
  b: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [1.2, 0, 0]}
joints:
  O: {type: revolute, bodies: [ground, a], at: [0, 0, 0], axis: [0, 0, 1]}
  Q: {type: revolute, bodies: [ground, b], at: [1, 0, 0], axis: [0, 0, 1]}
";
    let angle = |model: &Model, name: &str| {
        let c = assemble(model).unwrap_or_else(|d| panic!("{d}")).configuration;
        let j = model.joints.iter().find(|j| j.name == name).expect("there");
        let [x, y] = j.bodies.map(|b| &c.q[b.index()]);
        j.coordinate(fourbar::model::JointCoordinate::Angle).expect("an angle").value(x, y, &c.turns).to_degrees()
    };
    for degrees in [170.0, 190.0, 270.0, 360.0, 400.0, -200.0, -725.0] {
        let drive = parse(&format!("{two}drives: {{motor: {{joint: O, angle: {degrees} deg + 60 rpm*t}}}}\n"));
        let start = parse(&format!("{two}start: {{O.angle: {degrees} deg}}\n"));
        for model in [&drive, &start] {
            assert!((angle(model, "O") - degrees).abs() < 1e-9, "{degrees}: {}", angle(model, "O"));
        }
        let text = two.replace("  Q: {", "  G: {type: gear, joints: [O, Q], ratio: -3}\n  Q: {");
        let geared = parse(&format!("{text}drives: {{motor: {{joint: O, angle: {degrees} deg + 60 rpm*t}}}}\n"));
        assert!((angle(&geared, "Q") + 3.0 * degrees).abs() < 1e-8, "{degrees}: {}", angle(&geared, "Q"));
    }
}

/// Nuts start many turns along their threads, from drives, start conditions, racks and their drawn position.
#[test]
fn screws_begin_beyond_half_a_turn() {
    let nut = |at: f64, rest: &str| {
        parse(&format!(
            "fourbar: 1\nbodies: {{nut: {{mass: 1, inertia: [0.1, 0.1, 0.1], at: [0, 0, {at}]}}, wheel: {{mass: 1, inertia: [1, 1, 1], at: [1, 0, 0]}}}}\n\
             joints:\n  S: {{type: screw, bodies: [ground, nut], lead: -10 mm, frames: {{ground: {{at: [0, 0, 0], axis: [0, 0, 1]}}, nut: {{at: [0, 0, 0], axis: [0, 0, 1]}}}}}}\n  \
             W: {{type: revolute, bodies: [ground, wheel], at: [1, 0, 0], axis: [0, 0, 1]}}\n{rest}\n"
        ))
    };
    let reading = |model: &Model, name: &str, which| {
        let c = assemble(model).unwrap_or_else(|d| panic!("{d}")).configuration;
        let j = model.joints.iter().find(|j| j.name == name).expect("there");
        let [x, y] = j.bodies.map(|b| &c.q[b.index()]);
        j.coordinate(which).expect("a coordinate").value(x, y, &c.turns)
    };
    use fourbar::model::JointCoordinate::{Angle, Distance};
    for mm in [3.0, 6.0, 35.0, -128.0] {
        let turned = -mm / 10.0 * std::f64::consts::TAU;
        let asked = [
            nut(0.0, &format!("drives: {{d: {{joint: S, distance: {mm} mm + 0.01*t}}}}")),
            nut(0.0, &format!("drives: {{d: {{joint: S, angle: {turned} + t}}}}")),
            nut(0.0, &format!("start: {{S.distance: {mm} mm}}")),
        ];
        for (k, model) in asked.iter().enumerate() {
            let (angle, distance) = (reading(model, "S", Angle), reading(model, "S", Distance));
            assert!((distance - mm / 1000.0).abs() < 1e-9, "{mm} mm, way {k}: {distance}");
            assert!((angle - turned).abs() < 1e-8, "{mm} mm, way {k}: turned by {angle} for {turned}");
        }
        let rack = "  R: {type: rack, joints: [W, S], radius: 5 mm}\n";
        let geared = nut(0.0, &format!("{rack}start: {{S.distance: {mm} mm}}"));
        let wheel = reading(&geared, "W", Angle);
        assert!((wheel - mm / 5.0).abs() < 1e-8, "{mm} mm: the wheel stands at {wheel}");
    }
    // Drawn several turns away.
    for mm in [10.0, 40.0, -130.0] {
        let model = nut(mm / 1000.0, "");
        let (angle, distance) = (reading(&model, "S", Angle), reading(&model, "S", Distance));
        assert!((distance - mm / 1000.0).abs() < 1e-9, "{mm} mm: {distance}");
        assert!((angle + mm / 10.0 * std::f64::consts::TAU).abs() < 1e-8, "{mm} mm: turned by {angle}");
    }
}

/// The position of a floating mechanism does not count as an assembly mode: a four-bar in space has two.
#[test]
fn a_floating_mechanism_has_the_modes_of_a_fixed_one() {
    let text = |first: &str| {
        format!(
            "
fourbar: 1
bodies:
  frame: {{mass: 1, inertia: [0.1, 0.1, 0.1]}}
  crank: {{mass: 1, inertia: [0.01, 0.01, 0.01], at: [0, 0.1, 0]}}
  coupler: {{mass: 1, inertia: [0.01, 0.01, 0.01], at: [0.2, 0.3, 0]}}
  rocker: {{mass: 1, inertia: [0.01, 0.01, 0.01], at: [0.4, 0.2, 0]}}
joints:
  A: {{type: revolute, bodies: [frame, crank], at: [0, 0, 0], axis: [0, 0, 1]}}
  B: {{type: revolute, bodies: [crank, coupler], at: [0, 0.2, 0], axis: [0, 0, 1]}}
  C: {{type: revolute, bodies: [coupler, rocker], at: [0.4, 0.4, 0], axis: [0, 0, 1]}}
  D: {{type: revolute, bodies: [frame, rocker], at: [0.45, 0, 0], axis: [0, 0, 1]}}
{first}"
        )
    };
    let count = |text: &str| {
        let model = parse(&format!("{text}hold: [A]\n"));
        let at = assemble(&model).unwrap_or_else(|d| panic!("{d}")).configuration;
        let topology = fourbar::topology::Topology::new(&model);
        fourbar::analysis::assembly::modes::modes(&model, &topology, &at, &[], 40).len()
    };
    assert_eq!(count(&text("  F: {type: fixed, bodies: [ground, frame], at: [0, 0, 0]}\n")), 2);
    assert_eq!(count(&text("")), 2);
}

#[test]
fn masses_of_any_ratio_start_with_the_velocities_of_their_drive() {
    let four_bar = |mass: f64, reach: f64| {
        // A crank of arbitrary mass and inertia; the motion of a driven mechanism does not depend on it.
        let inertia = mass * reach * reach;
        parse(&format!(
            "fourbar: 1\nbodies:\n  crank: {{mass: {mass}, inertia: [{inertia}, {inertia}, {inertia}], at: [0, 0, 0.05]}}\n  coupler: {{mass: 0.45, inertia: [0.003, 0.003, 1.4e-5], at: [0.13, 0, 0.14]}}\n  rocker: {{mass: 0.31, inertia: [0.001, 0.001, 1e-5], at: [0.28, 0, 0.09]}}\njoints:\n  O: {{type: revolute, bodies: [ground, crank], at: [0, 0, 0], axis: [0, 1, 0]}}\n  A: {{type: revolute, bodies: [crank, coupler], at: [0, 0, 0.1], axis: [0, 1, 0]}}\n  B: {{type: revolute, bodies: [coupler, rocker], at: [0.26, 0, 0.18], axis: [0, 1, 0]}}\n  C: {{type: revolute, bodies: [ground, rocker], at: [0.3, 0, 0], axis: [0, 1, 0]}}\ndrives: {{motor: {{joint: O, angle: 60 rpm*t}}}}\n"
        ))
    };
    let speeds = |mass: f64, reach: f64| {
        let start = assemble(&four_bar(mass, reach)).unwrap_or_else(|d| panic!("{mass} kg, {reach} m: {d}")).configuration;
        start.v.iter().flat_map(|v| [v.v.x, v.v.z, v.w.y]).collect::<Vec<f64>>()
    };
    let usual = speeds(0.16, 0.03);
    for (mass, reach) in [(1e3, 0.3), (1.6e5, 4.0), (1e7, 10.0), (1e-6, 1e-3)] {
        for (x, y) in speeds(mass, reach).iter().zip(&usual) {
            assert!((x - y).abs() < 1e-9, "{mass} kg, {reach} m: {x} for {y}");
        }
    }
}
