//! The state-space form of rA, `so3xr3` with `constraints=independent`: independent velocities by a null-space basis of the constraint
//! Jacobian, against references, other formulations, and its stated properties.

use fourbar::random::Random;
use fourbar::study::{Analysis, Study};
use fourbar::{Diagnostic, Model, Trajectory};
use fourbar_testing::common::{assert_resumes, model, parse, reference, run, worst};

fn study(model: &Model, integrator: &str, tol: f64, t_end: f64) -> Study {
    Study {
        analysis: Some(Analysis::Dynamics),
        formulation: Some("so3xr3".into()),
        integrator: Some(integrator.into()),
        step: None,
        tol: Some(tol),
        t_end,
        options: vec![("constraints".into(), "independent".into())],
        ..Study::of(model)
    }
}

fn refused(model: &Model, study: &Study) -> Diagnostic {
    *fourbar::study::run(model, study, &mut Trajectory::default()).map(|_| ()).expect_err("refused").diagnostic
}

fn positions(c: &str) -> bool {
    matches!(c.rsplit_once('.').map(|x| x.1), Some("x" | "y" | "z" | "e0" | "e1" | "e2" | "e3"))
}

/// Open, closed, over-constrained and spatial mechanisms against their independent references; errors fall with the tolerance.
#[test]
fn references_are_reached() {
    for (name, freedoms, until) in [
        ("ra_double_pendulum", 2, 2.0),
        ("a01_simple_pendulum", 1, 10.0),
        ("a02_n_fourbar_N2", 1, 4.0),
        ("dca_five_bar", 2, 5.0),
        ("grcr_five_bar", 2, 2.0),
        ("dca_double_loop", 4, 2.0),
        ("nc_rscr", 1, 2.0),
        ("lie_closed_3bar", 3, 1.0),
        ("lie_heavy_top", 3, 0.5),
        ("nc_free_top", 3, 2.0),
        ("lie_two_floating_bodies", 9, 2.0),
        ("a04_bricard", 1, 3.0),
    ] {
        let model = model(name);
        let error = |integrator: &str, tol: f64| {
            let (t, report) = run(&model, &study(&model, integrator, tol, until));
            let told = report.notes.iter().find_map(|n| n.strip_prefix("state space: ")).unwrap_or_else(|| panic!("{name}"));
            assert_eq!(told.split(' ').next(), Some(freedoms.to_string().as_str()), "{name}");
            let (d, count) = worst(&t, &reference(name), until, positions);
            assert!(count > 10, "{name}: {count}");
            d
        };
        let (coarse, fine) = (error("dopri5", 1e-6), error("dop853", 1e-10));
        assert!(coarse < 2e-4 && fine < 2e-7, "{name}: {coarse:.1e} {fine:.1e}");
        assert!(fine < coarse, "{name}");
    }
}

/// Forty four-bars, 605 rows of rank 485, through the position in which all links are in line.
#[test]
fn a_long_ladder_passes_its_singular_position() {
    let model = model("a02_n_fourbar_N40");
    let (t, _) = run(&model, &study(&model, "dopri5", 1e-7, 2.0));
    let (d, count) = worst(&t, &reference("a02_n_fourbar_N40"), 2.0, positions);
    assert!(count > 4 && d < 2e-5, "{count} {d:e}");
}

/// Positions, velocities and accelerations satisfy the constraints at every output: no drift is possible.
#[test]
fn constraints_hold_to_rounding_over_a_long_run() {
    let model = model("dca_five_bar");
    let (t, _) = run(&model, &study(&model, "dopri5", 1e-5, 30.0));
    for (column, most) in [("error.position", 1e-12), ("error.velocity", 1e-11), ("error.acceleration", 1e-9)] {
        let worst = t.column(column).unwrap_or_else(|| panic!("{column}")).iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        assert!(worst < most, "{column}: {worst:e}");
    }
}

/// Chains with hinges and ball joints, drawn at random, hanging free or closed to a loop by a spring: the same motion as with projections.
#[test]
fn drawn_mechanisms_agree_with_projections() {
    let seed = 20_26;
    println!("seed {seed}");
    let mut random = Random(seed);
    for case in 0..6 {
        let mut text = String::from("fourbar: 1\ngravity: [0.3, 0.1, -9.81]\nbodies:\n");
        let links = 2 + case % 3;
        let mut joints = String::from("joints:\n");
        for k in 0..links {
            let (m, i) = (1.0 + 0.5 * random.number(), 0.05 + 0.02 * random.number().abs());
            text += &format!("  l{k}: {{mass: {m}, inertia: [{i}, {}, {}], at: [{}, 0, 0]}}\n", 1.2 * i, 0.9 * i, k as f64 + 0.5);
            let other = if k == 0 { "ground".to_string() } else { format!("l{}", k - 1) };
            let axis: nalgebra::Vector3<f64> = random.vector();
            let kind = if (k + case) % 2 == 0 {
                format!("type: revolute, axis: [{}, {}, {}]", axis.x, axis.y, axis.z)
            } else {
                "type: spherical".into()
            };
            joints += &format!("  j{k}: {{{kind}, bodies: [{other}, l{k}], at: [{k}, 0, 0]}}\n");
        }
        text += &joints;
        text += &format!(
            "forces: {{s: {{type: spring, between: [{{body: ground, at: [0.5, 0.5, 1]}}, {{body: l{}, at: [0.3, 0, 0]}}], stiffness: 20, damping: 1, length: 0.5}}}}\n",
            links - 1
        );
        text += "study: {t_end: 1, output_step: 0.05, analysis: dynamics}\n";
        let model = parse(&text);
        let own = study(&model, "dop853", 1e-9, 1.0);
        let (a, _) = run(&model, &own);
        let (b, _) = run(&model, &Study { options: Vec::new(), ..own });
        for (k, c) in a.columns.iter().enumerate().filter(|(_, c)| !c.name.starts_with("error.")) {
            let size = b.values[k].iter().fold(1.0_f64, |m, x| m.max(x.abs()));
            let d = a.values[k].iter().zip(&b.values[k]).fold(0.0_f64, |m, (x, y)| m.max((x - y).abs()));
            assert!(d < 1e-5 * size, "case {case} {}: {d:e} of {size:e}\n{text}", c.name);
        }
    }
}

/// Drives: a motor on one of two freedoms, and one that leaves none; work and efforts as with radau on index 3.
#[test]
fn driven_mechanisms_agree_with_the_index_3_form() {
    let double = parse(
        "
fourbar: 1
gravity: [0, 0, -9.81]
bodies:
  a: {mass: 2, inertia: [0.2, 0.2, 0.02], at: [0.5, 0, 0]}
  b: {mass: 1, inertia: [0.1, 0.1, 0.01], at: [1.5, 0, 0]}
joints:
  p: {type: revolute, bodies: [ground, a], at: [0, 0, 0], axis: [0, 1, 0]}
  q: {type: spherical, bodies: [a, b], at: [1, 0, 0]}
drives: {m: {joint: p, angle: 0.5*sin(3*t)}}
study: {t_end: 1, output_step: 0.1, analysis: dynamics}
",
    );
    for model in [double, model("ra_slider_crank")] {
        let (a, _) = run(&model, &study(&model, "dop853", 1e-10, 1.0));
        let fine = Study { formulation: Some("ra".into()), options: Vec::new(), ..study(&model, "radau", 1e-10, 1.0) };
        let (b, _) = run(&model, &fine);
        for (k, c) in a.columns.iter().enumerate().filter(|(_, c)| !c.name.starts_with("error.")) {
            let size = b.values[k].iter().fold(1.0_f64, |m, x| m.max(x.abs()));
            let d = a.values[k].iter().zip(&b.values[k]).fold(0.0_f64, |m, (x, y)| m.max((x - y).abs()));
            assert!(d < 2e-6 * size, "{} {}: {d:e} of {size:e}", model.title, c.name);
        }
    }
}

/// Stopped at several rows, with outputs inside steps and across a change of the basis.
#[test]
fn a_stopped_run_goes_on_to_the_bit() {
    for (name, integrator) in
        [("dca_five_bar", "dopri5"), ("lie_closed_3bar", "dop853"), ("a04_bricard", "dopri5"), ("a05_flyball_governor", "rkf45")]
    {
        let model = model(name);
        let s = Study { output_step: 0.02, ..study(&model, integrator, 1e-7, 0.6) };
        for stop in [3, 17] {
            assert_resumes(&model, &s, stop, name);
        }
    }
}

/// Rolling has more position than velocity freedoms; a singular start has more instantaneous motions than freedoms; other groups do not
/// support this form.
#[test]
fn what_has_no_such_form_is_refused() {
    let bicycle = model("bicycle");
    let d = refused(&bicycle, &study(&bicycle, "dopri5", 1e-6, 0.1));
    assert!(d.code.0 == "U304" && d.message.contains("`road_"), "{d}");
    let five = model("dca_five_bar");
    for other in ["se3", "lie"] {
        let d = refused(&five, &Study { formulation: Some(other.into()), ..study(&five, "dopri5", 1e-6, 0.1) });
        assert!(d.code.0 == "U304", "{d}");
    }
    let flat = parse(
        "
fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  a: {mass: 1, inertia: [0.01, 0.1, 0.1], at: [0.5, 0, 0]}
  b: {mass: 1, inertia: [0.01, 0.1, 0.1], at: [1.5, 0, 0]}
  c: {mass: 1, inertia: [0.01, 0.1, 0.1], at: [1.5, 0, 0]}
joints:
  p: {type: revolute, bodies: [ground, a], at: [0, 0, 0], axis: [0, 0, 1]}
  q: {type: revolute, bodies: [a, b], at: [1, 0, 0], axis: [0, 0, 1]}
  r: {type: revolute, bodies: [b, c], at: [2, 0, 0], axis: [0, 0, 1]}
  s: {type: revolute, bodies: [c, ground], at: [1, 0, 0], axis: [0, 0, 1]}
study: {t_end: 0.1, output_step: 0.01, analysis: dynamics}
",
    );
    let d = refused(&flat, &study(&flat, "dopri5", 1e-6, 0.1));
    assert!(d.code.0 == "U304" && d.message.contains("singular position"), "{d}");
}
