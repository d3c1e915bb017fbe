//! User-defined Runge-Kutta methods: reading, writing, errors, reported and achieved order, on groups and in joint coordinates.

use fourbar::random::Random;
use fourbar::study::Study;
use fourbar::{Model, Trajectory};
use fourbar_io::{ReadOptions, read_model, write_model};
use fourbar_testing::common::*;

const CLASSICAL: &str = "{a: [[1/2], [0, 1/2], [0, 0, 1]], b: [1/6, 1/3, 1/3, 1/6], c: [0, 1/2, 1/2, 1]}";

/// A spherical pendulum with a user-defined method.
fn pendulum(integrator: &str, more: &str) -> String {
    format!(
        "fourbar: 1
gravity: [0, 0, -9.81]
bodies:
  rod: {{mass: 2, inertia: [0.3, 0.2, 0.1], at: [0.4, 0.1, -0.3], velocity: [0, 0.5, 0], omega: [1, 0.6, 0.2]}}
joints:
  ball: {{type: spherical, bodies: [ground, rod], at: [0, 0, 0]}}
study: {{integrator: {integrator}, t_end: 1, output_step: 0.1{more}}}
"
    )
}

fn own(tableau: &str, more: &str) -> Model {
    let text = pendulum(&format!("{{tableau: {tableau}}}"), more);
    parse(&text)
}

fn ran(m: &Model, formulation: &str, integrator: &str, step: Option<f64>) -> (Trajectory, Vec<String>) {
    let study = Study { formulation: Some(formulation.into()), integrator: Some(integrator.into()), step, ..Study::of(m) };
    let (t, report) = run(m, &study);
    (t, report.notes)
}

fn last_places(t: &Trajectory) -> Vec<f64> {
    let row = t.row(t.len() - 1);
    (0..row.len()).filter(|k| t.columns[*k].name.contains(".r.") || t.columns[*k].name.contains(".p.")).map(|k| row[k]).collect()
}

#[test]
fn the_classical_method_written_out_gives_the_same_bits() {
    let m = own(CLASSICAL, ", step: 0.01");
    for formulation in ["se3", "so3xr3", "lie", "grcr"] {
        let (mine, notes) = ran(&m, formulation, "tableau", Some(0.01));
        let (theirs, _) = ran(&m, formulation, "rk4", Some(0.01));
        assert_eq!(last_places(&mine), last_places(&theirs), "{formulation}");
        let told = notes.iter().find(|n| n.contains("tableau")).unwrap_or_else(|| panic!("{notes:?}"));
        assert!(told.contains("4 stages, order 4 (its 8 conditions hold"), "{told}");
    }
    // The study uses the tableau of the file by default.
    assert_eq!(Study::of(&m).integrator.as_deref(), Some("tableau"));
}

#[test]
fn drawn_methods_have_the_order_that_is_told() {
    let seed = 20261117;
    println!("seed {seed}");
    let mut r = Random(seed);
    for _ in 0..4 {
        // Kutta's family of order three, or of order two if the last weight is changed.
        let (c2, c3) = (0.4 + 0.1 * r.number(), 0.85 + 0.1 * r.number());
        let b3 = (2.0 - 3.0 * c2) / (6.0 * c3 * (c3 - c2));
        let b2 = (2.0 - 3.0 * c3) / (6.0 * c2 * (c2 - c3));
        let a32 = c3 * (c3 - c2) / (c2 * (2.0 - 3.0 * c2));
        for (factor, order) in [(1.0, 3.0), (0.5, 2.0)] {
            let a32 = factor * a32;
            let a = format!("[[{c2:?}], [{:?}, {a32:?}]]", c3 - a32);
            let m = own(&format!("{{a: {a}, b: [{:?}, {b2:?}, {b3:?}]}}", 1.0 - b2 - b3), ", step: 0.01");
            let exact = last_places(&ran(&m, "se3", "dop853", Some(0.005)).0);
            let error = |h: f64| {
                let (t, notes) = ran(&m, "se3", "tableau", Some(h));
                assert!(notes.iter().any(|n| n.contains(&format!("order {order} "))), "{notes:?}");
                last_places(&t).iter().zip(&exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
            };
            let measured = (error(0.01) / error(0.005)).log2();
            assert!((measured - order).abs() < 0.25, "{a}: {measured}");
        }
    }
}

#[test]
fn an_estimate_lets_it_choose_its_steps() {
    // Bogacki and Shampine, whose last stage is evaluated at the result.
    let text = "{a: [[1/2], [0, 3/4], [2/9, 1/3, 4/9]], b: [2/9, 1/3, 4/9, 0], estimate: [7/24, 1/4, 1/3, 1/8]}";
    let m = own(text, "");
    let exact = last_places(&ran(&m, "se3", "dop853", None).0);
    let error = |tol: f64| {
        let study = Study { formulation: Some("se3".into()), tol: Some(tol), ..Study::of(&m) };
        let (t, report) = run(&m, &study);
        assert!(report.notes.iter().any(|n| n.contains("order 3") && n.contains("estimate has order 2")), "{:?}", report.notes);
        last_places(&t).iter().zip(&exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    let (loose, tight) = (error(1e-4), error(1e-6));
    assert!(tight < 1e-4 && tight < 0.1 * loose, "{loose} {tight}");
}

#[test]
fn what_cannot_be_used_is_refused_with_its_place() {
    let refused = |tableau: &str| {
        let text = pendulum(&format!("{{tableau: {tableau}}}"), ", step: 0.01");
        let error = match read_model(&text, &ReadOptions::default()) {
            Ok(loaded) => loaded.spec.build().expect_err(tableau),
            Err(error) => error,
        };
        error[0].clone()
    };
    for (tableau, code, says) in [
        ("{a: [[1/2, 1/2]], b: [0, 1]}", "M117", "stage 2 depends on stage 2: the method is implicit"),
        ("{a: [[1]], b: [1]}", "M117", "the method is implicit"),
        ("{a: [[1/2], [1]], b: [0.5, 0.3, 0.2, 0]}", "M117", "`a` has 2 rows, and `b` has 4 weights"),
        ("{a: [[1/2]], b: []}", "M117", "0 weights"),
        ("{a: [[1/2]], b: [0, 1], c: [0, 1/3]}", "M117", "node 2 is 0.3333, but its row of `a` adds up to 0.5"),
        ("{a: [[1/2]], b: [0, 0.9]}", "M117", "add up to 0.9, not to 1"),
        ("{a: [[1/2]], b: [0, 1], estimate: [0, 1]}", "M117", "the weights of `b`"),
        ("{a: [[1/2]], b: [0, 1], estimate: [1]}", "M117", "`estimate` has 1 numbers, and there are 2 stages"),
        ("{a: [[1/2]]}", "M013", "b"),
        ("{a: [[1/2]], b: [0, 1], d: 3}", "M012", "d"),
        ("{a: 1, b: [0, 1]}", "M015", "a"),
    ] {
        let d = refused(tableau);
        assert!(d.message.contains(says), "{tableau}: {} {}", d.code.0, d.message);
        assert!(d.code.0 == code || code == "M015", "{tableau}: {} {}", d.code.0, d.message);
    }
    // Only fixed steps without an estimate, and a name without a tableau.
    let m = own(CLASSICAL, "");
    let failed = |m: &Model, s: &Study| fourbar::study::run(m, s, &mut Trajectory::default()).expect_err("a refusal").diagnostic.code.0;
    assert_eq!(failed(&m, &Study { formulation: Some("se3".into()), ..Study::of(&m) }), "U305");
    let plain = parse(&pendulum("dopri5", ""));
    let study = Study { formulation: Some("se3".into()), integrator: Some("tableau".into()), step: Some(0.01), ..Study::of(&plain) };
    assert_eq!(failed(&plain, &study), "U309");
}

#[test]
fn a_written_file_has_the_same_method() {
    let m = read_model(&pendulum(&format!("{{tableau: {CLASSICAL}}}"), ", step: 0.01"), &ReadOptions::default()).expect("a model");
    let again = read_model(&write_model(&m.spec), &ReadOptions::default()).expect("the same model");
    assert_eq!(m.spec.study, again.spec.study);
    assert_eq!(m.spec.study.tableau.as_ref().map(|t| t.b.len()), Some(4));
}
