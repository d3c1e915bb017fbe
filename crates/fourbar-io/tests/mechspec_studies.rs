//! MechSpec files with their own settings: every shipped one runs its own study, its points and vectors serve as coordinates, positions are
//! fixed individually, forces rotate with their part, springs have masses.

use fourbar::analysis::assembly::assemble;
use fourbar::formulation::natural::{Choice, System};
use fourbar::study::Study;
use fourbar::{Model, Trajectory};
use fourbar_testing::common::*;
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/mechspec")
}

fn mechspec(name: &str) -> String {
    let path = folder().join(format!("{name}.yaml"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

const FILE: Choice = Choice { assign: true, parallelograms: false, twelve: false, file: true };

fn in_file_coordinates(m: &Model) -> System {
    let start = assemble(m).unwrap_or_else(|d| panic!("{d}")).configuration;
    System::new(m, &start, FILE).unwrap_or_else(|d| panic!("{d}"))
}

fn points(c: &str) -> bool {
    c.ends_with(".x") || c.ends_with(".y") || c.ends_with(".z")
}

fn apart(a: &Trajectory, b: &Trajectory) -> f64 {
    let columns: Vec<usize> = (0..a.columns.len()).filter(|k| points(&a.columns[*k].name) && a.columns[*k].name.contains(".r.")).collect();
    assert!(!columns.is_empty() && a.len() == b.len());
    (0..a.len()).flat_map(|i| columns.iter().map(move |k| (i, *k))).map(|(i, k)| (a.row(i)[k] - b.row(i)[k]).abs()).fold(0.0, f64::max)
}

/// Every shipped file with its own study, in natural coordinates, both chosen automatically and as in the file.
#[test]
fn every_shipped_file_runs_its_own_study() {
    let mut names: Vec<String> = std::fs::read_dir(folder())
        .expect("the folder")
        .filter_map(|e| e.ok()?.file_name().to_str()?.strip_suffix(".yaml").map(String::from))
        .collect();
    names.sort();
    assert!(names.len() >= 4, "{names:?}");
    for name in names {
        let m = parse(&mechspec(&name));
        let (own, report) = run(&m, &Study::of(&m));
        assert_eq!(report.t, m.study.t_end, "{name}");
        let natural = |coordinates: &str| {
            let options = vec![("coordinates".to_string(), coordinates.to_string())];
            let study = Study { formulation: Some("natural".into()), integrator: None, tol: Some(1e-11), options, ..Study::of(&m) };
            run(&m, &study).0
        };
        let (chosen, file) = (natural("assigned"), natural("file"));
        let d = apart(&chosen, &file);
        assert!(d < 1e-8, "{name}: coordinates of the file lead elsewhere by {d:.1e}");
        assert!(apart(&own, &file) < 1e-4, "{name}: {:.1e}", apart(&own, &file));
    }
}

/// The coordinates are those of the paper: Mechanism0 (A, B), RSCR (C1, B, mu) [Pryce20, section 4.1 and Eq. (36)].
#[test]
fn points_and_vectors_of_the_file_are_coordinates() {
    let m = parse(&mechspec("mechanism0"));
    let s = in_file_coordinates(&m);
    assert_eq!(s.names, ["A.x", "A.y", "B.x", "B.y"]);
    assert_eq!(s.size(), (4, 1));
    let m = parse(&mechspec("rscr"));
    let s = in_file_coordinates(&m);
    let mut names: Vec<&str> = s.names.iter().map(|n| n.split('.').next().unwrap_or_default()).collect();
    names.sort_unstable();
    names.dedup();
    assert!(names.contains(&"B") && names.contains(&"C1") && names.len() == 3, "{:?}", s.names);
    assert_eq!(s.size(), (7, 6));
    let m = parse(&mechspec("robot"));
    let s = in_file_coordinates(&m);
    assert!(s.names.contains(&"C.x".to_string()) && s.names.contains(&"u3.x".to_string()), "{:?}", s.names);
    // Files that do not describe bodies by points have no such coordinates.
    let m = model("nc_rscr");
    let start = assemble(&m).unwrap_or_else(|d| panic!("{d}")).configuration;
    assert_eq!(System::new(&m, &start, FILE).err().map(|d| d.code.0), Some("U304"));
}

/// Each point and component fixed alone, while the others change.
#[test]
fn fixed_positions_one_by_one() {
    // The rod is drawn too long: 2.5 instead of 2.
    let text = |fixed: &str| {
        mechspec("mechanism0").replace("A: [0, -L]", "A: [1.5, -2]").replace("fixedpositions: {Ax, B}", &format!("fixedpositions: {fixed}"))
    };
    let at = |fixed: &str| {
        let m = parse(&text(fixed));
        let c = assemble(&m).unwrap_or_else(|d| panic!("{fixed}: {d}")).configuration;
        ["A", "B"].map(|name| {
            let (_, on) = m.points.iter().find(|p| p.0 == name).expect("the point");
            c.q[on.body.index()].point(&on.s)
        })
    };
    let near = |a: f64, b: f64| (a - b).abs() < 1e-10;
    for (fixed, held) in [
        ("{Ax}", [Some(1.5), None, None, None]),
        ("{Ay}", [None, Some(-2.0), None, None]),
        ("{B}", [None, None, Some(0.0), Some(-3.0)]),
        ("{Bx}", [None, None, Some(0.0), None]),
        ("{By}", [None, None, None, Some(-3.0)]),
    ] {
        // A is on its circle whatever is fixed.
        let [a, b] = at(fixed);
        assert!(near(a.norm(), 2.0), "{fixed}: {a}");
        for (x, held) in [a.x, a.y, b.x, b.y].into_iter().zip(held) {
            assert!(held.is_none_or(|h| near(x, h)), "{fixed}: {a} {b}");
        }
    }
    // Fixing both components of A contradicts the length of the rod.
    let m = parse(&text("{A}"));
    let d = assemble(&m).expect_err("a refusal");
    assert!(d.message.contains("cannot be assembled"), "{}", d.message);
}

fn rod(applied: &str, more: &str, problem: &str) -> Model {
    parse(&format!(
        "Dimension: 2\nPartData:\n  Fixed: {{O: [0, 0]}}\n  Rigids:\n    OA: {{Geom: [[2]], Dyna: [[1], 3, 1]}}\n{more}AppliedForces: {applied}\nProblemData: {{tend: 1, positions: {{A: [0, 2]{problem}}}, velocities: {{A: [-1, 0]}}}}\n"
    ))
}

/// A force that rotates with its part does constant work per angle, unlike a force fixed in the world.
#[test]
fn forces_in_the_frame_of_their_body_turn_with_it() {
    let angle = |frame: &str| {
        let m = rod(&format!("{{Forces: {{f: {{At: A, Force: [0, 8], Frame: {frame}}}}}}}"), "", "");
        let study = Study { formulation: Some("natural".into()), tol: Some(1e-12), output_step: 0.1, ..Study::of(&m) };
        let (t, _) = run(&m, &study);
        let row = t.row(t.len() - 1);
        row[t.find("J_O.angle").expect("the angle")] - t.row(0)[t.find("J_O.angle").expect("the angle")]
    };
    // About O the inertia is 4 and the lever 2: the angle grows by 0.5 t + 2 t^2 in the frame of the body.
    let turned = angle("body");
    assert!((turned - 2.5).abs() < 1e-9, "{turned}");
    // Fixed in the world, the same force points away from O at the start and holds the rod back.
    let held = angle("world");
    assert!(held.abs() < 1.0, "{held}");
    let text = "{Forces: {f: {At: A, Force: [0, 8], Frame: part}}}";
    let refused = fourbar_io::read_model(
        &format!(
            "Dimension: 2\nPartData:\n  Fixed: {{O: [0, 0]}}\n  Rigids:\n    OA: {{Geom: [[2]], Dyna: [[1], 3, 1]}}\nAppliedForces: {text}\nProblemData: {{tend: 1, positions: {{A: [2, 0]}}}}\n"
        ),
        &fourbar_io::ReadOptions::default(),
    );
    assert!(refused.is_err());
}

/// A particle on a heavy spring oscillates with the frequency of `m + mu/3`; `check` counts the degrees of freedom of moving parts.
#[test]
fn a_sprung_mass_swings_with_a_third_of_the_spring() {
    let text = "Dimension: 2\nPartData:\n  Fixed: {O: [0, 0]}\n  Springs: {OB: [100, 1, 0.6]}\n  Particles: {B: 0.8}\nProblemData: {tend: 1, positions: {B: [1.1, 0]}}\n";
    let m = parse(text);
    let study = Study { formulation: Some("natural".into()), tol: Some(1e-12), output_step: 0.05, ..Study::of(&m) };
    let (t, _) = run(&m, &study);
    let (time, x) = (t.column("t").expect("t"), t.column("B.x").expect("B"));
    for (t, x) in time.iter().zip(x) {
        let expected = 1.0 + 0.1 * (10.0 * t).cos();
        assert!((x - expected).abs() < 1e-9, "{t}: {x} {expected}");
    }
}

/// Mechanism0 has three degrees of freedom: the angle of the rod and the position of the particle, but not its rotation.
#[test]
fn freedoms_are_those_of_what_moves() {
    for (name, freedoms, idle) in [("mechanism0", 3, 1), ("rscr", 1, 0), ("andrews", 1, 0), ("robot", 6, 0)] {
        let m = parse(&mechspec(name));
        let start = assemble(&m).unwrap_or_else(|d| panic!("{d}")).configuration;
        let found = fourbar::analysis::rank::mobility(&m, &start, false);
        assert_eq!((found.generic.mobility() - found.generic.idle(&m), found.generic.idle(&m)), (freedoms, idle), "{name}");
    }
}
