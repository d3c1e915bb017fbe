//! MechSpec files: the same mechanisms as in the other format, the same motion, and conversion in both directions.

use fourbar::analysis::assembly::assemble;
use fourbar::spec::{JointSpec, ModelSpec, PairKind};
use fourbar::study::Study;
use fourbar::{Error, Model, Trajectory};
use fourbar_io::{ReadOptions, read_model, write_mechspec, write_model};
use fourbar_testing::common::*;
use std::path::PathBuf;

fn mechspec(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/mechspec").join(format!("{name}.yaml"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn spec(text: &str) -> ModelSpec {
    read_model(text, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e:#?}\n{text}")).spec
}

fn built(spec: &ModelSpec) -> Model {
    spec.build().unwrap_or_else(|e| panic!("{e:#?}"))
}

fn refused(text: &str) -> Error {
    read_model(text, &ReadOptions::default()).expect_err(text)
}

/// Largest difference between two trajectories over pairs of columns.
fn difference(a: &Trajectory, b: &Trajectory, columns: &[(String, String)]) -> f64 {
    assert_eq!(a.len(), b.len());
    let pairs: Vec<(usize, usize)> = columns.iter().map(|(x, y)| (a.find(x).expect(x), b.find(y).expect(y))).collect();
    (0..a.len())
        .flat_map(|k| pairs.iter().map(move |(i, j)| (k, *i, *j)))
        .map(|(k, i, j)| (a.row(k)[i] - b.row(k)[j]).abs())
        .fold(0.0, f64::max)
}

/// Columns of the centres of mass.
fn centres(names: &[(&str, &str)]) -> Vec<(String, String)> {
    let axis = |q: &str, (a, b): &(&str, &str)| ["x", "y", "z"].map(|x| (format!("{a}.{q}.{x}"), format!("{b}.{q}.{x}")));
    names.iter().flat_map(|n| axis("r", n).into_iter().chain(axis("v", n))).collect()
}

/// Runs two models with the same step, so that their errors are the same, and returns the largest difference.
fn alike(a: &Model, b: &Model, t_end: f64, step: f64, columns: &[(String, String)]) -> f64 {
    let study = Study { t_end, step: Some(step), output_step: t_end / 10.0, ..Study::of(a) };
    difference(&run(a, &study).0, &run(b, &study).0, columns)
}

/// Positions and velocities agree with the reference of Mechanism0, whose spring has a mass.
#[test]
fn mechanism0_with_its_heavy_spring_reaches_the_reference() {
    let model = parse(&mechspec("mechanism0"));
    let reference = reference("nc_mechanism0");
    // Extrapolated errors are of order h^4 omega^5 with omega up to 130 1/s of the spring: 1e-6 at the finer step.
    let mut study = Study { t_end: 2.0, step: Some(2e-4), output_step: 0.25, ..Study::of(&model) };
    let (coarse, _) = run(&model, &study);
    study.step = Some(1e-4);
    let (fine, _) = run(&model, &study);
    let positions = |c: &str| ["A.x", "A.y", "B.x", "B.y"].contains(&c);
    let (d, count) = worst(&extrapolate(&coarse, &fine), &reference, 2.0, positions);
    assert!(count == 36 && d < 1e-6, "{d:.2e} over {count}");
    let energy = fine.find("energy.total").expect("energy");
    let e = reference.columns.iter().position(|c| c == "E").expect("energy of the reference");
    assert!((fine.row(0)[energy] - reference.rows[0][e]).abs() < 1e-12, "{}", fine.row(0)[energy]);
}

#[test]
fn rscr_andrews_and_the_robot_move_as_their_models_of_bodies_and_joints() {
    let rscr = parse(&mechspec("rscr"));
    let columns = centres(&[("ABu", "part1"), ("CBv", "part2"), ("DC1wv", "part3")]);
    // The shipped model gives the rods a small inertia about their own axis, which has no effect; without it the iterations of a step end
    // at slightly different points within their tolerance.
    let d = alike(&rscr, &model("nc_rscr"), 1.0, 1e-3, &columns);
    assert!(d < 1e-8, "RSCR: {d:.2e}");

    let names = ["K1", "K2", "K3", "K4", "K5", "K6", "K7"];
    let columns = centres(&names.map(|n| (n, n)));
    // Velocities reach 40 m/s in a hundredth of a second, which amplifies the last digits of the start.
    let d = alike(&parse(&mechspec("andrews")), &model("andrews"), 0.01, 1e-5, &columns);
    assert!(d < 1e-8, "Andrews: {d:.2e}");

    let names = ["part2", "part3", "part4", "part5", "part6", "part7", "part8", "part9"];
    let columns = centres(&names.map(|n| (n, n)));
    let d = alike(&parse(&mechspec("robot")), &model("nc_closed_chain_robot"), 0.3, 1e-3, &columns);
    assert!(d < 1e-9, "robot: {d:.2e}");
}

#[test]
fn joints_come_from_what_parts_share() {
    let kinds = |text: &str| -> Vec<String> {
        let word = |j: &JointSpec| match j {
            JointSpec::Pair { kind, bodies, .. } => format!("{kind:?} {}-{}", bodies[0], bodies[1]),
            JointSpec::Angle { bodies, .. } => format!("Angle {}-{}", bodies[0], bodies[1]),
            other => format!("{other:?}"),
        };
        spec(text).joints.iter().map(|(n, j)| format!("{n}: {}", word(j))).collect()
    };
    assert_eq!(
        kinds(&mechspec("rscr")),
        ["J_D: Revolute ground-DC1wv", "J_A: Revolute ground-ABu", "J_B: Spherical ABu-CBv", "J_C1vC: Cylindrical DC1wv-CBv"]
    );
    // In the plane: a pin, a weld by a vector, a slide, a pin in a slot, a free part, a particle on a part.
    let plane = "Dimension: 2\nPartData:\n  Fixed: {O: [0, 0], x: [1, 0], S: [3, 0]}\n  Rigids:\n    OA: {Geom: [[1]], Dyna: [[0.5], 1, 0.1]}\n    ABv: {Geom: [[1], [0, 1]], Dyna: [[0.5], 1, 0.1]}\n    BvC: {Geom: [[0, 1], [2]], Dyna: [[0.5], 1, 0.1]}\n    Dx: {Geom: [[1]], Dyna: [[0], 1, 0.1]}\n    EF: {Geom: [[1]], Dyna: [[0.5], 1, 0.1]}\n    G: {Dyna: [[0], 1, 0.1]}\n  Particles: {C: 0.2}\n  Collinears: {SxD, BvE}\n";
    assert_eq!(
        kinds(plane),
        [
            "J_O: Revolute ground-OA",
            "J_A: Revolute OA-ABv",
            "J_B: Fixed ABv-BvC",
            "J_C: Fixed BvC-particle_C",
            "J_SxD: Prismatic ground-Dx",
            "J_BvE: PointOnPlane ABv-EF",
            "J_plane_EF: Planar ground-EF",
            "J_plane_G: Planar ground-part_G"
        ]
    );
    // In space: a weld by two vectors, a slide by two, a point on a line, parallel parts.
    let space = "Dimension: 3\nPartData:\n  Fixed: {O: [0, 0, 0], u: [1], v: [0, 1], w: [0, 0, 5]}\n  Rigids:\n    Auv: {Geom: [[1], [0, 1]], Dyna: [[0], 1, [1, 1, 1]]}\n    Bw: {Geom: [[1]], Dyna: [[0], 1, [1, 1, 1]]}\n    Ouv: {Geom: [[1], [0, 1]], Dyna: [[0], 1, [1, 1, 1]]}\n    C: {Dyna: [[0], 1, [1, 1, 1]]}\n  Collinears: [OuA, OuC]\n";
    assert_eq!(
        kinds(space),
        ["J_O: Fixed ground-Ouv", "J_OuA: Prismatic ground-Auv", "J_OuC: PointOnLine ground-part_C", "J_w: Angle ground-Bw"]
    );
    assert!(matches!(spec(space).joints[1].1, JointSpec::Pair { kind: PairKind::Prismatic, .. }));
}

#[test]
fn two_shared_points_are_refused_by_name() {
    let text = "Dimension: 3\nPartData:\n  Rigids:\n    ABC: {Geom: [[1], [0, 1]], Dyna: [[0], 1, [1, 1, 1]]}\n    ABD: {Geom: [[1], [0, 1]], Dyna: [[0], 1, [1, 1, 1]]}\n";
    let list = refused(text);
    assert_eq!((list.len(), list[0].code.0, list[0].line()), (1, "M061", 5));
    assert_eq!(list[0].names, ["A", "B"]);
    // Two fixed points of one part are two points shared with the ground.
    let text = text.replace("PartData:\n", "PartData:\n  Fixed: {A: [0], D: [1]}\n").replace("    ABC", "    EFC");
    assert_eq!(refused(&text)[0].code.0, "M061");
}

/// Fixed positions are kept while others change; the same for velocities.
#[test]
fn fixed_positions_and_velocities_are_held_in_assembly() {
    let text = mechspec("mechanism0").replace("A: [0, -L]", "A: [1.2, -1.5]").replace("velocities: {Ax: 1,", "velocities: {A: [1, 0.3],")
        + "  fixedvelocities: {Ax}\n";
    let model = parse(&text);
    let a = assemble(&model).unwrap_or_else(|d| panic!("{d}"));
    let (_, on) = model.points.iter().find(|p| p.0 == "A").expect("the point");
    let (q, v) = (&a.configuration.q[on.body.index()], &a.configuration.v[on.body.index()]);
    let (x, rate) = (q.point(&on.s), v.of_point(q, &on.s));
    // Ax is held at 1.2, so Ay must be -1.6; the velocity across the rod with Ax' = 1 is (1, 0.75).
    assert!((x.x - 1.2).abs() < 1e-12 && (x.y + 1.6).abs() < 1e-12, "{x}");
    assert!((rate.x - 1.0).abs() < 1e-12 && (rate.y - 0.75).abs() < 1e-12, "{rate}");
    let (_, on) = model.points.iter().find(|p| p.0 == "B").expect("the particle");
    let b = a.configuration.q[on.body.index()].point(&on.s);
    assert!(b.x.abs() < 1e-12 && (b.y + 3.0).abs() < 1e-12, "{b}");
    // Without this condition, assembly takes the nearest point of the circle: both coordinates change.
    let free = parse(&text.replace("{Ax, B}", "{B}"));
    let a = assemble(&free).unwrap_or_else(|d| panic!("{d}"));
    let (_, on) = free.points.iter().find(|p| p.0 == "A").expect("the point");
    let x = a.configuration.q[on.body.index()].point(&on.s);
    assert!((x.x - 1.2).abs() > 1e-3 && (x.norm() - 2.0).abs() < 1e-12, "{x}");
}

/// Gravity, forces, torques, actuators and damping have the specified effect.
#[test]
fn applied_forces_actuators_and_damping() {
    let rod = |applied: &str, problem: &str| {
        parse(&format!(
            "PhysicalParams: {{g: 5, c: 0.4}}\nDimension: 2\nPartData:\n  Fixed: {{O: [0, 0], Q: [0, 3]}}\n  Rigids:\n    OA: {{Geom: [[2]], Dyna: [[1], 3, 1]}}\nAppliedForces: {applied}\nProblemData: {{tend: 1, positions: {{A: [2, 0]}}{problem}}}\n"
        ))
    };
    let last = |m: &Model, column: &str| {
        let (t, _) = run(m, &Study { step: Some(1e-4), ..Study::of(m) });
        t.row(0)[t.find(column).expect(column)]
    };
    // About O the rod has inertia 1 + 3 = 4; its weight acts at 1 m, forces at A at 2 m.
    assert_eq!(rod("{Gravity: }", "").gravity.y, -9.81);
    assert_eq!(rod("{Gravity: [1, -2]}", "").gravity.as_slice(), [1.0, -2.0, 0.0]);
    let cases = [
        ("{Gravity: g}", "", -3.0 * 5.0 / 4.0),
        ("{Forces: {f: {At: A, Force: [0, 8]}}}", "", 4.0),
        ("{Forces: {f: {At: A, Force: [0, '8 + Ax + A.vy'], Frame: body}}}", "", 5.0),
        ("{Forces: {f: {On: OA, Torque: '6*cos(t)'}}}", "", 1.5),
        ("{Rayleigh: {Points: {A: c}}}", ", velocities: {A: [0, 2]}", -0.4 * 2.0 * 2.0 / 4.0),
        ("{Rayleigh: {Angles: {O: c}}}", ", velocities: {A: [0, 2]}", -0.4 / 4.0),
        // The rate of the distance from Q is -3/sqrt(13) times the velocity of A; the lever arm of the force has the same factor.
        ("{Rayleigh: {Lengths: {QA: c}}}", ", velocities: {A: [0, 2]}", -0.4 * 2.0 * 2.0 * (9.0 / 13.0) / 4.0),
    ];
    for (applied, problem, alpha) in cases {
        let got = last(&rod(applied, problem), "OA.alpha.z");
        assert!((got - alpha).abs() < 1e-9, "{applied}: {got} instead of {alpha}");
    }
    // Prescribed angle and length.
    let driven = rod("{Actuators: {motor: {Angle: O, Value: 'pi*t'}}}", "");
    let (t, _) = run(&driven, &Study::of(&driven));
    let end = t.row(t.len() - 1);
    assert!(
        (end[t.find("A.x").expect("A")] + 2.0).abs() < 1e-9
            && (end[t.find("J_O.angle").expect("angle")] - std::f64::consts::PI).abs() < 1e-9
    );
    let driven = rod("{Actuators: {ram: {Length: QA, Value: 'sqrt(13) + 0.5*t'}}}", "");
    let (t, _) = run(&driven, &Study::of(&driven));
    let end = t.row(t.len() - 1);
    let (x, y) = (end[t.find("A.x").expect("A")], end[t.find("A.y").expect("A")]);
    assert!((f64::hypot(x, y - 3.0) - (13f64.sqrt() + 0.5)).abs() < 1e-9, "{x} {y}");
}

/// A converted mechanism has the same motion, in both directions and after a round trip.
#[test]
fn converted_mechanisms_move_alike() {
    for (name, t_end, step) in [("mechanism0", 0.2, 1e-3), ("rscr", 0.5, 1e-3), ("andrews", 0.005, 1e-5), ("robot", 0.2, 1e-3)] {
        let first = spec(&mechspec(name));
        let same = spec(&write_model(&first));
        // The other format does not define parts by points and vectors.
        assert_eq!(same, ModelSpec { basis: Vec::new(), ..first.clone() }, "{name}");
        let (text, _) = write_mechspec(&first).unwrap_or_else(|e| panic!("{name}: {e:#?}"));
        let again = spec(&text);
        let bodies: Vec<String> = first.bodies.iter().map(|b| b.0.clone()).collect();
        let names: Vec<(&str, &str)> = bodies.iter().map(|n| (n.as_str(), n.as_str())).collect();
        let d = alike(&built(&first), &built(&again), t_end, step, &centres(&names));
        // Rounding errors of the start grow with the velocities of the mechanism, 40 m/s for Andrews.
        assert!(d < 1e-9, "{name}: {d:.2e}\n{text}");
    }
    // Shipped models with all kinds of joints that MechSpec can express.
    for (name, t_end, step) in [
        ("fourbar", 0.2, 1e-3),
        ("nc_rscr", 0.2, 1e-3),
        ("andrews", 0.005, 1e-5),
        ("grcr_five_bar", 0.2, 1e-3),
        ("lie_closed_3bar", 0.1, 1e-3),
        ("slider_crank_engine", 0.02, 1e-4),
    ] {
        let first = spec(fourbar_io::examples::example(name).expect(name).text);
        let (text, _) = write_mechspec(&first).unwrap_or_else(|e| panic!("{name}: {e:#?}"));
        let again = spec(&text);
        let names: Vec<(&str, &str)> = first.bodies.iter().map(|(n, _)| (n.as_str(), n.as_str())).collect();
        let d = alike(&built(&first), &built(&again), t_end, step, &centres(&names));
        assert!(d < 1e-8, "{name}: {d:.2e}\n{text}");
    }
}

#[test]
fn what_mechspec_cannot_say_is_refused_by_name() {
    for (model, names) in
        [("planetary_gear", "gear"), ("screw_jack", "screw"), ("universal_joint_shaft", "universal"), ("rack_and_pinion", "rack")]
    {
        let list = write_mechspec(&spec(fourbar_io::examples::example(model).expect(model).text)).expect_err(model);
        assert!(list.iter().all(|d| d.code.0 == "M065") && list.iter().any(|d| d.message.contains(names)), "{model}: {list:#?}");
    }
}

#[test]
fn mistakes_are_told_with_their_places() {
    let base = "Dimension: 2\nPartData:\n  Fixed: {O: [0, 0]}\n  Rigids:\n    OA: {Geom: [[1]], Dyna: [[0.5], 1, 0.1]}\n";
    for (change, code) in [
        ("Dimension: 4", "M017"),
        ("Dimension: 2\nTitel: x", "M012"),
        ("Dimension: 2\nAppliedForces: {Gravty: }", "M012"),
        ("Dimension: 2\nAppliedForces: {Forces: {f: {At: B, Force: [1, 0]}}}", "M062"),
        ("Dimension: 2\nAppliedForces: {Forces: {f: {At: O, Force: [1, 0]}}}", "M062"),
        ("Dimension: 2\nAppliedForces: {Actuators: {m: {Angle: A, Value: t}}}", "M063"),
        ("Dimension: 2\nProblemData: {positions: {C: [1, 0]}}", "M062"),
        ("Dimension: 2\nProblemData: {fixedpositions: {A}}", "M064"),
        ("Dimension: 2\nProblemData: {t0: 2, tend: 1}", "M114"),
        ("Dimension: 2\nProblemData: {t0: 1, tend: 2}\nAppliedForces: {Actuators: {m: {Angle: O, Value: t}}}", "M063"),
    ] {
        let text = base.replace("Dimension: 2", change);
        let list = refused(&text);
        assert!(list.iter().any(|d| d.code.0 == code && d.line() > 0), "{change}: {list:#?}");
    }
    for (from, to, code) in [
        ("OA:", "1A:", "M060"),
        ("OA:", "uA:", "M060"),
        ("OA:", "OO:", "M060"),
        ("[[1]]", "[[1], [2]]", "M017"),
        ("[[1]]", "[[1, 2, 3]]", "M017"),
        ("[0.5], 1, 0.1", "[0.5], 1", "M017"),
        ("O: [0, 0]", "O: [0, 0], u: [0]", "M105"),
        ("1, 0.1]", "1, 0.1*q]", "M021"),
    ] {
        let list = refused(&base.replace(from, to));
        assert!(list.iter().any(|d| d.code.0 == code && d.line() > 0), "{to}: {list:#?}");
    }
    // Problems found by the engine also have a location in the file.
    let loaded = read_model(&base.replace("1, 0.1", "-1, 0.1"), &ReadOptions::default()).expect("read");
    let errors = loaded.spec.build().expect_err("negative mass");
    assert_eq!(loaded.places.locate(&errors[0]).line(), 5);
}
