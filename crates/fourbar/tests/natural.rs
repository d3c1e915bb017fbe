//! Natural coordinates: sizes as published, every reference, every shipped model, other coordinates and other formulations.

use fourbar::Trajectory;
use fourbar::analysis::assembly::assemble;
use fourbar::formulation::natural::{Choice, System, describe};
use fourbar::model::Model;
use fourbar::study::{Analysis, FORMULATIONS, Study};
use fourbar_testing::common::*;

fn natural(model: &Model, tol: f64) -> Study {
    Study {
        formulation: Some("natural".into()),
        integrator: None,
        analysis: Some(Analysis::Dynamics),
        tol: Some(tol),
        step: None,
        options: Vec::new(),
        ..Study::of(model)
    }
}

fn with(study: Study, key: &str, value: &str) -> Study {
    Study { options: vec![(key.to_string(), value.to_string())], ..study }
}

fn system(model: &Model, choice: Choice) -> System {
    let start = assemble(model).expect("assembles").configuration;
    System::new(model, &start, choice).unwrap_or_else(|d| panic!("{d}"))
}

const UNASSIGNED: Choice = Choice { assign: false, parallelograms: false, twelve: false, file: false };
const PARALLELOGRAMS: Choice = Choice { assign: true, parallelograms: true, twelve: false, file: false };
const TWELVE: Choice = Choice { assign: true, parallelograms: false, twelve: true, file: false };

/// [Pryce20, Table 4]: coordinates and constraints of both models in both kinds of natural coordinates. The robot without the assumption of
/// a parallelogram has the 16 rows of the paper, two for each of its eight parts. Its hinges share one vector, so one row follows from the
/// others: with six degrees of freedom 15 rows remain for seven vectors, 21 coordinates. The paper's 22 are the sum of its 16 rows and 6
/// freedoms, not a multiple of three.
#[test]
fn sizes_are_those_of_the_paper() {
    let (rscr, robot) = (model("nc_rscr"), model("nc_closed_chain_robot"));
    assert_eq!(system(&rscr, Choice::default()).size(), (7, 6));
    assert_eq!(system(&rscr, UNASSIGNED).size(), (13, 12));
    assert_eq!(system(&robot, Choice::default()).size(), (21, 15));
    assert_eq!(system(&robot, Choice::default()).dropped().count() + 15, 16);
    assert_eq!(system(&robot, PARALLELOGRAMS).size(), (18, 12));
    assert_eq!(system(&robot, UNASSIGNED).size(), (30, 24));
    assert_eq!(system(&rscr, TWELVE).size(), (36, 35));
    assert_eq!(system(&model("andrews"), Choice::default()).size(), (8, 7));
    assert_eq!(system(&model("a02_n_fourbar_N40"), PARALLELOGRAMS).size(), (2, 1));
}

#[test]
fn the_table_names_what_is_brought_in_assigned_and_left_out() {
    let robot = model("nc_closed_chain_robot");
    let start = assemble(&robot).expect("assembles").configuration;
    let lines = describe(&robot, &start, Choice::default()).expect("applies");
    assert!(lines[0].contains("21 coordinates, 15 constraints, size 36 (57 in first order)"), "{}", lines[0]);
    assert!(lines[1].contains("part2: brings in u(A); assigns A, B;") && lines[1].ends_with("+3 -2 -> 1"), "{}", lines[1]);
    assert!(lines.iter().any(|l| l.starts_with("omitted as dependent: ")), "{lines:?}");
    assert!(lines.last().expect("lines").ends_with("-> 6"), "{lines:?}");
    let rscr = model("nc_rscr");
    let start = assemble(&rscr).expect("assembles").configuration;
    let lines = describe(&rscr, &start, UNASSIGNED).expect("applies");
    assert!(lines[0].contains("size 25 (38 in first order)"), "{}", lines[0]);
}

/// Name, end of the comparison, limit and tolerance of the run. The limit is ten times the stated agreement of the reference for positions
/// and rotations, if any, but at least ten times the tolerance.
const REFERENCES: &[(&str, f64, f64, f64)] = &[
    ("ra_double_pendulum", 5.0, 3e-12, 1e-13),
    ("ra_double_pendulum_exact_inertia", 5.0, 1e-12, 1e-13),
    ("a01_simple_pendulum", 10.0, 1.8e-12, 1e-13),
    // Beyond the singular positions, where rounding is amplified, the limit follows from the run.
    ("a02_n_fourbar_N2", 10.0, 1e-9, 1e-11),
    ("a02_n_fourbar_N40", 10.0, 1e-8, 1e-10),
    // The reference was checked to 3e-15 m until 0.02 s.
    ("andrews", 0.05, 1e-12, 1e-13),
    ("a03_andrews_beta0_m0p0620", 0.05, 1e-12, 1e-13),
    ("a04_bricard", 10.0, 1e-12, 1e-13),
    ("a04_bricard_thin", 10.0, 9e-10, 1e-12),
    ("dca_five_bar", 10.0, 5e-10, 1e-12),
    ("dca_double_loop", 10.0, 2e-10, 1e-12),
    ("grcr_five_bar", 2.0, 1.3e-12, 1e-13),
    ("lie_heavy_top", 1.0, 5e-12, 1e-13),
    // Chaotic: compared to 0.8 s, where its two sources agree to 5e-10 in rotations.
    ("lie_spherical_double_pendulum", 0.8, 5e-9, 1e-13),
    ("lie_two_floating_bodies", 5.0, 3e-10, 1e-12),
    ("lie_closed_3bar", 2.0, 1.3e-10, 1e-12),
    ("nc_free_top", 10.0, 8e-11, 1e-13),
    ("nc_rscr", 3.0, 1e-12, 1e-13),
    ("nc_closed_chain_robot", 0.6, 2e-12, 1e-12),
    ("ra_single_pendulum", 3.0, 1e-12, 1e-13),
    ("ra_four_link", 3.0, 3e-12, 1e-13),
    ("ra_slider_crank", 3.0, 3e-12, 1e-13),
];

fn positions(c: &str) -> bool {
    matches!(c.rsplit_once('.').map(|x| x.1), Some("x" | "y" | "z" | "e0" | "e1" | "e2" | "e3"))
}

#[test]
fn every_reference_is_reached() {
    let mut bad = Vec::new();
    for &(name, until, limit, tol) in REFERENCES {
        let (model, reference) = (model(name), reference(name));
        let output_step = reference.rows[1][0] - reference.rows[0][0];
        let study = Study { t_end: until, output_step, ..natural(&model, tol) };
        let (trajectory, _) = run(&model, &study);
        let (d, count) = worst(&trajectory, &reference, until, positions);
        if !(count > 30 && d < limit) {
            bad.push(format!("{name}: {d:.1e} over {count} values, {limit:.1e} allowed"));
        }
    }
    // The governor is stiff and is compared in its own coordinates, over the part that takes seconds with other methods.
    let (model, reference) = (model("a05_flyball_governor"), reference("a05_flyball_governor"));
    let (trajectory, _) = run(&model, &Study { t_end: 1.0, output_step: 0.25, ..natural(&model, 1e-11) });
    let (d, count) = worst(&trajectory, &reference, 1.0, |_| true);
    assert!(count > 3 && d < 1.2e-11, "governor: {d:.1e} over {count}");
    assert!(bad.is_empty(), "{bad:#?}");
}

/// Drive torques are exact too: they come from the motion, not from multipliers of this form.
#[test]
fn drive_torques_are_those_of_the_references() {
    for name in ["ra_single_pendulum", "ra_four_link", "ra_slider_crank"] {
        let model = model(name);
        let study = Study { t_end: 3.0, output_step: 0.01, ..natural(&model, 1e-12) };
        let (trajectory, _) = run(&model, &study);
        let (d, count) = worst(&trajectory, &reference(name), 3.0, |c| c == "tau_driver");
        // The torque of the reference is accurate to its linear algebra, about 1e-12 of its size (1e3 N m).
        assert!(count > 30 && d < 1e-8, "{name}: {d:.1e} over {count}");
    }
}

/// Largest difference of the columns of a kind, relative to their largest value.
fn apart(a: &Trajectory, b: &Trajectory, kind: impl Fn(&str) -> bool) -> f64 {
    let (mut d, mut size) = (0.0_f64, 0.0_f64);
    for (k, c) in a.columns.iter().enumerate().filter(|(_, c)| kind(&c.name)) {
        assert_eq!(c.name, b.columns[k].name);
        for i in 0..a.len() {
            d = d.max((a.row(i)[k] - b.row(i)[k]).abs());
            size = size.max(b.row(i)[k].abs());
        }
    }
    d / size.max(1.0)
}

fn is_position(c: &str) -> bool {
    c.contains(".r.") || c.ends_with(".angle") || c.ends_with(".distance")
}

fn is_acceleration(c: &str) -> bool {
    c.contains(".a.") || c.contains(".alpha.")
}

fn is_load(c: &str) -> bool {
    c.contains(".force.") || c.contains(".torque.") || c.ends_with(".effort")
}

/// Driven mechanisms against kinematics, which solves for every position separately; free ones against an explicit method of order eight in
/// absolute coordinates. Reactions are compared where they are unique.
#[test]
fn every_shipped_model_agrees_with_absolute_coordinates() {
    let mut bad = Vec::new();
    for name in shipped() {
        let model = model(&name);
        if name == "cam_roller" {
            // A spline has no Taylor series across its points.
            assert_eq!((FORMULATIONS.iter().find(|f| f.name == "natural").unwrap().applies)(&model).unwrap_err().code.to_string(), "S291");
            continue;
        }
        if !model.rolling.is_empty() {
            // Rolling constrains velocities, which natural coordinates do not support.
            assert_eq!((FORMULATIONS.iter().find(|f| f.name == "natural").unwrap().applies)(&model).unwrap_err().code.to_string(), "S280");
            continue;
        }
        let author = Study::of(&model);
        let driven = !model.drives.is_empty() && author.analysis != Some(Analysis::Dynamics);
        // Output times away from the reversal points of the drives; for free motion a span that is not chaotic.
        let t_end = if driven { author.t_end } else { author.t_end.min(0.2) };
        let study = Study { t_end, output_step: t_end / 11.3, ..natural(&model, 1e-10) };
        let (a, report) = run(&model, &study);
        let other = if driven {
            Study { analysis: Some(Analysis::Kinematics), formulation: None, step: Some(t_end / 2000.0), ..study.clone() }
        } else {
            Study { formulation: Some("so3xr3".into()), integrator: Some("dop853".into()), tol: Some(1e-11), ..study.clone() }
        };
        let (b, _) = run(&model, &other);
        let unique = |c: &str| is_load(c) && !report.not_unique.iter().any(|(j, _)| c.starts_with(&format!("{j}.")));
        // Ten times the tolerance for positions. Accelerations and loads of the other method contain its error divided by its step; loads
        // of kinematics come from an iteration that stops at 1e-6.
        for (what, d, limit) in [
            ("positions", apart(&a, &b, is_position), 1e-9),
            ("accelerations", apart(&a, &b, is_acceleration), 1e-6),
            ("loads", apart(&a, &b, unique), 1e-5),
        ] {
            if d.is_nan() || d > limit {
                bad.push(format!("{name}: {what} {d:.1e}"));
            }
        }
    }
    assert!(bad.is_empty(), "{bad:#?}");
}

/// All kinds of natural coordinates give the same motion.
#[test]
fn all_choices_of_coordinates_give_the_same_motion() {
    for name in ["nc_rscr", "nc_closed_chain_robot", "watt_governor", "screw_jack", "planetary_gear", "stewart_platform", "oldham_coupling"]
    {
        let model = model(name);
        let t_end = Study::of(&model).t_end.min(0.4);
        let study = Study { t_end, output_step: t_end / 10.0, ..natural(&model, 1e-11) };
        let (a, _) = run(&model, &study);
        for (key, value) in [("coordinates", "unassigned"), ("coordinates", "twelve"), ("parallelograms", "assign")] {
            let (b, _) = run(&model, &with(study.clone(), key, value));
            let d = apart(&a, &b, is_position);
            // A hundred times the tolerance: two runs with independent errors over the span.
            assert!(d < 1e-9, "{name} {value}: {d:.1e}");
        }
    }
}

/// Every dead point of the ladder is passed on the parallelogram's branch, at all tolerances, and reported.
#[test]
fn dead_points_are_passed_on_the_right_branch() {
    let (model, reference) = (model("a02_n_fourbar_N2"), reference("a02_n_fourbar_N2"));
    for tol in [1e-6, 1e-8, 1e-10, 1e-12] {
        let study = Study { t_end: 10.0, output_step: 0.025, ..natural(&model, tol) };
        let (trajectory, report) = run(&model, &study);
        let (d, _) = worst(&trajectory, &reference, 10.0, |_| true);
        // Near the dead points errors grow by up to three digits.
        assert!(d < (1e3 * tol).max(1e-8), "{tol:.0e}: {d:.1e}");
        dead_points_are_told(&report.singular, Some(0.714_355));
    }
    // If the fourth corners are assigned, there are no dead points.
    let study = with(Study { t_end: 10.0, output_step: 0.25, ..natural(&model, 1e-12) }, "parallelograms", "assign");
    let (trajectory, _) = run(&model, &study);
    let (d, _) = worst(&trajectory, &reference, 10.0, |_| true);
    assert!(d < 1e-10, "{d:.1e}");
}

/// All ten dead points of ten seconds, with the hinges that take part.
fn dead_points_are_told(singular: &[fourbar::singular::Singular], first: Option<f64>) {
    let times: Vec<f64> = singular.iter().map(|s| s.time).collect();
    assert_eq!(times.len(), 10, "{times:?}");
    // To the last known digit.
    assert!(first.is_none_or(|t| (times[0] - t).abs() < 2e-6), "{times:?}");
    assert!(times.windows(2).all(|t| t[1] - t[0] > 0.3), "{times:?}");
    assert!(singular.iter().all(|s| s.joints.len() > 1), "{singular:?}");
}

/// Dead points are reported even without output near them, also for a long ladder.
#[test]
fn dead_points_between_outputs_are_told() {
    for (name, first) in [("a02_n_fourbar_N2", Some(0.714_355)), ("a02_n_fourbar_N40", None)] {
        let model = model(name);
        let (_, report) = run(&model, &Study { t_end: 10.0, output_step: 10.0, ..natural(&model, 1e-9) });
        dead_points_are_told(&report.singular, first);
    }
}

/// Bricard's linkage: a fixed choice of rows fails during the run, another one is chosen and reported.
#[test]
fn rows_are_chosen_anew_where_a_fixed_choice_fails() {
    let model = model("a04_bricard");
    let study = Study { t_end: 10.0, output_step: 0.25, ..natural(&model, 1e-10) };
    let (trajectory, report) = run(&model, &study);
    let (d, _) = worst(&trajectory, &reference("a04_bricard"), 10.0, positions);
    assert!(d < 1e-8, "{d:.1e}");
    assert!(report.notes.iter().any(|n| n.contains("omitted as dependent")), "{:?}", report.notes);
    assert!(report.notes.iter().any(|n| n.contains("other rows were omitted")), "{:?}", report.notes);
}

/// Example 1 of \[Pryce20\]: a rod, a spring with a mass of its own, a particle; from its file, in two dimensions.
#[test]
fn mechanism0_follows_its_reference() {
    let folder = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(folder.join("../../models/mechspec/mechanism0.yaml")).expect("shipped");
    let model = parse(&text);
    let system = system(&model, Choice::default());
    assert_eq!((system.size(), system.planar), ((4, 1), true));
    let study = Study { t_end: 10.0, output_step: 0.1, ..natural(&model, 1e-12) };
    let (t, _) = run(&model, &study);
    let last = t.row(t.len() - 1);
    let at = |name: &str| last[t.find(name).unwrap_or_else(|| panic!("{name}"))];
    // Last row of the reference of this mechanism, whose two sources agree to 2.4e-12.
    let (x, y) = (at("B.x"), at("B.y"));
    assert!((x - 3.110863518155724e-01).abs() < 1e-9 && (y - -2.963489268687614e+00).abs() < 1e-9, "{x:.15} {y:.15}");
}

#[test]
fn energy_and_work_balance() {
    for name in ["andrews", "slider_crank_engine", "double_wishbone", "universal_joint_shaft"] {
        let model = model(name);
        let study = natural(&model, 1e-10);
        let (t, _) = run(&model, &study);
        let column = |n: &str| t.find(n).unwrap_or_else(|| panic!("{n}"));
        let (kinetic, potential, work) = (column("energy.kinetic"), column("energy.potential"), column("energy.work"));
        let balance = |k: usize| t.row(k)[kinetic] + t.row(k)[potential] - t.row(k)[work];
        let size = (0..t.len()).map(|k| t.row(k)[kinetic].abs() + t.row(k)[work].abs()).fold(1e-12, f64::max);
        let worst = (0..t.len()).map(|k| (balance(k) - balance(0)).abs()).fold(0.0, f64::max);
        // Ten times the tolerance: the work is integrated with the motion.
        assert!(worst < 1e-9 * size, "{name}: {:.1e}", worst / size);
    }
}
